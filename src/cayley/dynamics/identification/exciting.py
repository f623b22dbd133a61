"""Trajectories that excite: finite Fourier series within limits, at rest at both ends, by which base parameters can be
told apart best.

    q_i(t) = center_i + sum over l of  a_il sin(l w t) / (l w) - b_il cos(l w t) / (l w)          w = 2 pi / period
Coefficients are projected on those that are at rest at t = 0 (sum a = 0 and sum l b = 0, so v = vd = 0 there, and a
period later), then every joint's series is scaled and shifted into its limits: whatever the optimiser tries is a
trajectory that the robot can run. The measure is the condition number of the base parameters' regressor, or the
determinant of their covariance. Source: Swevers, Ganseman, Tukel, De Schutter & Van Brussel 1997; the ends at rest as
in Park 2006."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.optimize

from cayley.compiler.derivatives.derivative import jacobian
from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.identification.base_parameters import BaseParameters
from cayley.errors import ModelError, SignatureError, UnsupportedError
from cayley.model.constraints import check_independent
from cayley.model.tree import Tree
from cayley.progress import counted
from cayley.showing import brief

_MARGIN = 0.995  # of the limits: what may happen between the instants at which they are looked at
_SMALLEST = 1e-14  # square of a singular value, beside the largest, so that a dead trajectory has a measure too
_STEP = 1e-6
_BLUR = 0.05  # of the largest velocity: where friction changes its sign, for the optimiser
_INSTANTS = 40  # for each period of the fastest harmonic, at which limits are looked at


@dataclass(frozen=True)
class ExcitationLimits:
    """Positions from `lower` to `upper`, speeds and accelerations up to `velocity` and `acceleration`, each (n)."""

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array

    __repr__ = brief


@dataclass(frozen=True, eq=False)
class FourierTrajectory:
    """`a`, `b` (n, harmonics) [rad/s or m/s], `center` (n), period [s]; at rest at t = 0 and after each period."""

    a: Array
    b: Array
    center: Array
    period: float

    __repr__ = brief

    def at(self, times: ArrayLike) -> tuple[Array, Array, Array]:
        """Configurations, velocities and accelerations (..., n) at times (...)."""
        w = 2 * np.pi / self.period * np.arange(1, self.a.shape[1] + 1)
        angle = np.asarray(times, dtype=float)[..., None] * w
        s = np.sin(angle)
        c = np.cos(angle)
        return (self.center + s @ (self.a / w).T - c @ (self.b / w).T, c @ self.a.T + s @ self.b.T,
                c @ (self.b * w).T - s @ (self.a * w).T)

    def sampled(self, samples: int) -> tuple[Array, Array, Array]:
        """At evenly spaced instants of one period."""
        return self.at(np.linspace(0.0, self.period, samples, endpoint=False))


@dataclass(frozen=True, eq=False)
class ExcitingTrajectory:
    """A trajectory that excites the base parameters; `start` is the best random one, which it improves."""

    trajectory: FourierTrajectory
    start: FourierTrajectory
    base: BaseParameters
    limits: ExcitationLimits
    samples: int
    evaluations: int

    __repr__ = brief

    @cached_property
    def condition(self) -> float:
        """The condition number of the stacked regressor of the base parameters."""
        return condition_of(self.base, self.trajectory, self.samples)

    @cached_property
    def start_condition(self) -> float:
        return condition_of(self.base, self.start, self.samples)


def condition_of(base: BaseParameters, trajectory: FourierTrajectory, samples: int = 200) -> float:
    """The condition number of the base parameters' regressor along a trajectory."""
    return float(np.linalg.cond(base.regressor(*trajectory.sampled(samples)).reshape(-1, base.size)))


def exciting_trajectory(base: BaseParameters, *, period: float = 10.0, harmonics: int = 5,
                        position: tuple[ArrayLike, ArrayLike] | None = None, velocity: float | None = None,
                        acceleration: float | None = None, measure: str = "condition", samples: int = 100,
                        tries: int = 20, steps: int = 100, seed: int = 0, progress: bool = False) -> ExcitingTrajectory:
    """The best of `tries` random trajectories, improved by `steps` of a quasi-Newton method. The same seed gives the
    same trajectory.

    `position` (lower, upper) and `velocity` are those of the mechanism, if not given; `acceleration` must be given: a
    mechanism has none. Each is one number or (n). A limit that is missing is an error that names the joint. `measure`:
    what is made small, the "condition" number of the stacked regressor, or the "determinant" of the covariance.
    `progress` shows a bar.

    >>> from cayley.dynamics.identification import base_parameters, linear_model
    >>> base = base_parameters(linear_model(cy.load("planar2r").tree))
    >>> drive = exciting_trajectory(base, position=(-3, 3), velocity=2, acceleration=5, steps=20)
    >>> drive.condition < drive.start_condition, all(bool(abs(x).max() < 1e-12) for x in drive.trajectory.at(0.0)[1:])
    (True, True)
    """
    if harmonics < 2 or not period > 0 or samples < 2 or tries < 1:
        raise SignatureError(
            "an exciting trajectory needs a positive period, at least 2 harmonics, 2 samples and 1 try")
    if measure not in MEASURES:
        raise SignatureError(f"there is no measure {measure!r}; there are {', '.join(MEASURES)}")
    check_independent(base.model.tree, "an exciting trajectory")
    limits = motion_limits(base.model.tree, position=position, velocity=velocity, acceleration=acceleration)
    series = _Series(limits, period, harmonics)
    dullness = _Dullness(base, series, samples, MEASURES[measure])
    starts = np.random.default_rng(seed).normal(size=(tries, series.size))
    with counted("exciting trajectory", tries + steps, shown=progress) as advance:
        def looked_at(x: Array) -> float:
            advance()
            return dullness(x)[0]

        best = min(starts, key=looked_at)
        found = scipy.optimize.minimize(dullness, best, jac=True, method="L-BFGS-B", options={"maxiter": steps},
                                        callback=lambda _: advance())
    better = min((best, found.x), key=lambda x: dullness(x)[0])
    return ExcitingTrajectory(series.trajectory(better), series.trajectory(best), base, limits, samples,
                              tries + int(found.nfev))


def log_condition(W: Array) -> tuple[float, Array]:
    """The logarithm of the condition number, and its derivative by the entries of W."""
    squares, axes = _squares(W)
    slope = np.outer(W @ axes[:, -1], axes[:, -1]) / squares[-1] - np.outer(W @ axes[:, 0], axes[:, 0]) / squares[0]
    return float(np.log(squares[-1] / squares[0]) / 2), slope


def log_uncertainty(W: Array) -> tuple[float, Array]:
    """The logarithm of the determinant of the covariance (D-optimal), and its derivative; units do not matter."""
    squares, axes = _squares(W)
    return -float(np.log(squares).sum()), -2 * W @ ((axes / squares) @ axes.T)


def _squares(W: Array) -> tuple[Array, Array]:
    """The squares of the singular values, rising, and their directions, to ten digits."""
    squares, axes = np.linalg.eigh(W.T @ W)
    return np.maximum(squares, _SMALLEST * max(squares[-1], _SMALLEST)), axes


MEASURES = {"condition": log_condition, "determinant": log_uncertainty}


class _Dullness:
    """The measure of a trajectory of a series, and its derivative by the numbers x."""

    def __init__(self, base: BaseParameters, series: _Series, samples: int,
                 measure: Callable[[Array], tuple[float, Array]]) -> None:
        self.base = base
        self.series = series
        self.samples = samples
        self.measure = measure
        n = base.model.links.nv
        self.blur = _BLUR * series.limits.velocity
        self.regressor = kernel(f"({n}),({n}),({n})->({n},{base.size})", name="smooth_regressor")(self._text)
        self.slope = kernel(f"({n}),({n}),({n}),({n},{base.size})->(3,{n})", name="slope_of_regressor")(self._slope)

    def _text(self, q: Array, qd: Array, qdd: Array) -> Array:
        """The columns of the base parameters, with a Coulomb friction that does not jump: slopes are followed."""
        return self.base.model.text(q, qd, qdd, sign=lambda qd: qd / np.sqrt(qd * qd + self.blur**2))[:, self.base.kept]

    def _slope(self, q: Array, qd: Array, qdd: Array, weights: Array) -> Array:
        """The derivative of the weighted sum of the regressor's entries by position, velocity and acceleration."""
        total = np.sum(weights * self._text(q, qd, qdd))
        return np.stack([jacobian(total, x) for x in (q, qd, qdd)])

    def __call__(self, x: Array) -> tuple[float, Array]:
        moved = self.series.trajectory(x).sampled(self.samples)
        W = self.regressor(*moved)
        value, weights = self.measure(W.reshape(-1, self.base.size))
        slope = np.moveaxis(self.slope(*moved, weights.reshape(W.shape)), -2, 0)
        return value, self._through(x, np.array(moved), slope)

    def _through(self, x: Array, moved: Array, slope: Array) -> Array:
        """From samples to x, by differences: a joint moves by its own numbers only, so all change at once."""
        numbers = x.reshape(self.series.joints, -1)
        gradient = np.empty_like(numbers)
        for k in range(numbers.shape[1]):
            changed = numbers.copy()
            changed[:, k] += _STEP
            after = np.array(self.series.trajectory(changed.ravel()).sampled(self.samples))
            gradient[:, k] = np.sum(slope * (after - moved), axis=(0, 1)) / _STEP
        return gradient.ravel()


def random_trajectory(limits: ExcitationLimits, *, period: float = 10.0, harmonics: int = 5,
                      seed: int = 0) -> FourierTrajectory:
    """A random series within limits: what an exciting one is compared with."""
    series = _Series(limits, period, harmonics)
    return series.trajectory(np.random.default_rng((seed, 2)).normal(size=series.size))


def motion_limits(tree: Tree, *, position: tuple[ArrayLike, ArrayLike] | None = None, velocity: float | None = None,
                  acceleration: float | None = None) -> ExcitationLimits:
    """The limits of a mechanism, or those given in their place; `ModelError` names what is missing."""
    for joint in tree.joints:
        if joint.motion.nq != joint.motion.nv:
            raise UnsupportedError(
                f"joint {joint.name!r} of {tree.name} is {joint.motion.word}: its attitude cannot be a Fourier series")
    lower, upper = (tree.lower, tree.upper) if position is None else position
    known = np.concatenate([np.array(joint.limits.velocity, dtype=float) for joint in tree.joints] or [np.zeros(0)])
    limits = [
        np.broadcast_to(np.asarray(x, dtype=float), (tree.nv,))
        for x in (lower, upper, known if velocity is None else velocity,
                  np.inf if acceleration is None else acceleration)]
    names = [joint.name for joint in tree.joints for _ in range(joint.motion.nv)]
    options = ("position=(lower, upper)", "position=(lower, upper)", "velocity=", "acceleration=")
    for word, option, values in zip(("lower position", "upper position", "velocity", "acceleration"), options, limits,
                                    strict=True):
        missing = [name for name, value in zip(names, values, strict=True) if not np.isfinite(value)]
        if missing:
            raise ModelError(f"{tree.name} has no {word} limit for {', '.join(map(repr, missing))}: give {option}")
        if "position" not in word and not (values > 0).all():
            raise ModelError(f"the {word} limits of {tree.name} must be positive, not {values.tolist()}")
    if not (limits[0] < limits[1]).all():
        raise ModelError(
            f"{tree.name} cannot move {names[int(np.argmin(limits[0] < limits[1]))]!r}: its limits leave no room")
    return ExcitationLimits(*limits)


class _Series:
    """Numbers x (size) -> a trajectory within limits, at rest at its ends: coefficients, and where it lies."""

    def __init__(self, limits: ExcitationLimits, period: float, harmonics: int) -> None:
        self.limits = limits
        self.period = period
        self.harmonics = harmonics
        self.joints = len(limits.lower)
        self.size = self.joints * (2 * harmonics + 1)
        order = np.arange(1, harmonics + 1)
        self.even = np.ones(harmonics) / np.sqrt(harmonics)
        self.rising = order / np.linalg.norm(order)
        self.times = np.linspace(0.0, period, _INSTANTS * harmonics, endpoint=False)

    def trajectory(self, x: Array) -> FourierTrajectory:
        x = x.reshape(self.joints, -1)
        a = x[:, :self.harmonics]
        b = x[:, self.harmonics:-1]
        a = a - np.outer(a @ self.even, self.even)
        b = b - np.outer(b @ self.rising, self.rising)
        q, v, vd = FourierTrajectory(a, b, np.zeros(self.joints), self.period).at(self.times)
        room = self.limits.upper - self.limits.lower
        low = q.min(axis=0)
        high = q.max(axis=0)
        used = np.max([(high - low) / room, np.abs(v).max(axis=0) / self.limits.velocity,
                       np.abs(vd).max(axis=0) / self.limits.acceleration], axis=0)
        scale = _MARGIN / np.where(used > 0, used, 1.0)
        spare = room - scale * (high - low)
        place = _MARGIN * np.tanh(x[:, -1]) / 2  # from -1/2 to 1/2 of the spare room
        center = (self.limits.lower + self.limits.upper - scale * (high + low)) / 2 + place * spare
        return FourierTrajectory(a * scale[:, None], b * scale[:, None], center, self.period)
