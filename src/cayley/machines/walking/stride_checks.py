"""Checks of a plan for a stride: its phases, legs that close in double support, feet that are on the ground where
they stand and not below it where they swing, legs that end where the others began.

A stride that ends as it began: the trunk's angle and rate for which it does, by Broyden's method.

The program of the legs says all but the trunk, which falls as an inverted pendulum does while it stands on one foot:
of all starts one comes back. Which errors grow from stride to stride is in the multipliers, the eigenvalues of the map
from one stride to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array, is_finite_number
from cayley.errors import GeometryError, ModelError, SignatureError, UnsupportedError, did_you_mean, shown
from cayley.machines.walking.leg_motion import LegMotion
from cayley.machines.walking.programmed_body import CONTACTS, DOUBLE, FLIGHT
from cayley.showing import brief

if TYPE_CHECKING:
    from cayley.machines.walking.stride import Stride


_SAMPLES = 65  # of each phase
_NEAR = 1e-9  # of the length of a leg
_OTHER_LEG = [2, 3, 0, 1]
_NAMES = ("alpha1", "beta1", "alpha2", "beta2")


@dataclass(frozen=True)
class StrideClosure:
    """The residual of the second foot's motion, seen from the first, in double support: at instants `t` (n) of the
    stride the distance (n, 2) from where it was when the phase began, there at the height of the first foot, its
    velocity (n, 2) and its acceleration (n, 2). All are zero in a plan that closes."""

    t: Array
    position: Array
    velocity: Array
    acceleration: Array

    __repr__ = brief

    @property
    def residual(self) -> float:
        """The largest of them [m, m/s, m/s^2]."""
        return float(max(np.abs(part).max(initial=0.0) for part in (self.position, self.velocity, self.acceleration)))


def check_plan(stride: Stride) -> None:
    _check_phases(stride)
    _check_numbers(stride)
    _check_closed(stride)
    _check_ground(stride)
    if stride.repeats:
        _check_exchange(stride)


def closure(stride: Stride, samples: int) -> StrideClosure:
    parts = [_opening(stride, k, samples) for k, (contact, _) in enumerate(stride.phases) if contact == DOUBLE]
    joined = [np.concatenate([part[k] for part in parts]) if parts else np.zeros((0, 2) if k else 0) for k in range(4)]
    return StrideClosure(*joined)


def _check_phases(stride: Stride) -> None:
    if not stride.phases:
        raise ModelError("a stride has at least one phase")
    for phase in stride.phases:
        if isinstance(phase, str) or np.shape(np.asarray(phase, dtype=object)) != (2,):
            raise SignatureError(f"a phase of a stride must be a contact and its duration, not {shown(phase)}")
        contact, duration = phase
        if contact not in CONTACTS:
            advice = did_you_mean(contact, CONTACTS, otherwise=f"; there are {', '.join(CONTACTS)}")
            raise ModelError(f"a stride has no phase {contact!r}{advice}")
        if not (is_finite_number(duration) and duration > 0):
            raise ModelError(f"the duration of {contact!r} must be a number of seconds above zero, not "
                             f"{shown(duration)}")
    for relation in stride.relations:
        if not callable(relation):
            raise SignatureError("a relation of loads must be a function of (t, q, qd) that gives a row (9) and its "
                                 f"value, not {shown(relation)}")
    if len(stride.relations) > 2:
        raise ModelError(f"two relations say how the feet share the load, not {len(stride.relations)}")


def _check_numbers(stride: Stride) -> None:
    for k in range(len(stride.phases)):
        t, motion = _sampled(stride, k, _SAMPLES)
        fine = np.isfinite(np.concatenate(motion, axis=-1)).all(-1)
        if not fine.all():
            raise GeometryError(f"the program of the legs has no finite angles, rates and accelerations at "
                                f"t = {t[~fine][0]:.6g} s of the stride: a leg may be too short there, or straight")


def _check_closed(stride: Stride) -> None:
    size = 2 * (stride.biped.half_thigh + stride.biped.half_shank)
    for k, (contact, _) in enumerate(stride.phases):
        if contact != DOUBLE:
            continue
        motion = _sampled(stride, k, _SAMPLES)[1]
        speed = 1.0 + np.abs(motion.rates).max()
        hurry = speed**2 + np.abs(motion.accelerations).max()
        t, *left = _opening(stride, k, _SAMPLES)
        for what, unit, value, most in zip(("are off their places", "part", "part"), ("m", "m/s", "m/s^2"), left,
                                           (_NEAR * size, 1e-8 * size * speed, 1e-8 * size * hurry), strict=True):
            far = np.linalg.norm(value, axis=-1)
            if (far > most).any():
                worst = int(far.argmax())
                raise GeometryError(f"the program of the legs does not close: in double support, at t = {t[worst]:.6g} "
                                    f"s of the stride, the feet {what} by {far[worst]:.3g} {unit}")


def _check_ground(stride: Stride) -> None:
    """Feet seen from one that stands, which is on the ground."""
    size = 2 * (stride.biped.half_thigh + stride.biped.half_shank)
    for k, (contact, _) in enumerate(stride.phases):
        stands = CONTACTS[contact]
        before = CONTACTS[stride.phases[k - 1][0]] if k else (False, False)
        if contact == FLIGHT:
            continue
        t, motion = _sampled(stride, k, _SAMPLES)
        opening = _between(stride, motion.angles)[:, 1] * (1.0 if stands[0] else -1.0)
        other = 2 if stands[0] else 1
        if contact != DOUBLE and (opening < -_NEAR * size).any():
            worst = int(opening.argmin())
            raise GeometryError(f"the program of the legs leads the swinging foot {-opening[worst]:.3g} m below the "
                                f"ground at t = {t[worst]:.6g} s of the stride")
        if contact != DOUBLE and before[other - 1] and not before[2 - other] and abs(opening[0]) > _NEAR * size:
            raise GeometryError(f"a foot is to stand from t = {t[0]:.6g} s of the stride in place of the other, and is "
                                f"{abs(opening[0]):.3g} m off the ground there")


def _check_exchange(stride: Stride) -> None:
    """Check that the legs end as the others began, and stand as the next stride allows."""
    last = LegMotion(*stride.motion(stride.duration))
    first = LegMotion(*stride.motion(0.0))
    for word, end, begin in (("angle", last.angles, first.angles), ("rate", last.rates, first.rates)):
        off = np.abs(end[_OTHER_LEG] - begin)
        worst = int(off.argmax())
        if off[worst] > 1e-9 * (1.0 + np.abs(begin).max()):
            raise GeometryError(f"the stride does not repeat with legs exchanged: the {word} of {_NAMES[worst]} begins "
                                f"with {begin[worst]:.6g}, and that of {_NAMES[_OTHER_LEG[worst]]} ends with "
                                f"{end[_OTHER_LEG[worst]]:.6g}")


def _sampled(stride: Stride, phase: int, samples: int) -> tuple[Array, LegMotion]:
    t = np.linspace(stride.starts[phase], stride.ends[phase], samples)
    return t, LegMotion(*stride.motion(t))


def _between(stride: Stride, angles: Array) -> Array:
    """The second foot (n, 2) seen from the first."""
    feet = stride.biped.feet(np.concatenate([np.zeros((len(angles), 3)), angles], axis=-1))
    return feet[:, 2:] - feet[:, :2]


def _opening(stride: Stride, phase: int, samples: int) -> tuple[Array, Array, Array, Array]:
    t, motion = _sampled(stride, phase, samples)
    between = _between(stride, motion.angles)
    body = np.zeros((samples, 3))
    rates = stride.biped.opening_rates(np.concatenate([body, motion.angles], axis=-1),
                                       np.concatenate([body, motion.rates], axis=-1), motion.accelerations)
    return t, between - np.array([between[0, 0], 0.0]), rates[:, :2], rates[:, 2:]


_MOST = 20
_CLOSE = 1e-11  # rad and rad/s
_STEP = 1e-5  # rad and rad/s, of differences


@dataclass(frozen=True)
class RepeatingStride:
    """`status` is "repeats", "not found", or "not held" if a foot, named in `message`, is unloaded or slides. `theta`
    [rad] and `rate` [rad/s] describe the trunk at the start, `residual` is their change over the stride, `multipliers`
    (2, complex) are stable within the unit circle, and `start` is the whole state."""

    status: str
    message: str
    theta: float
    rate: float
    residual: float
    multipliers: Array
    iterations: int
    start: dict[str, Array]

    __repr__ = brief

    @property
    def is_stable(self) -> bool:
        return bool((np.abs(self.multipliers) < 1.0).all())


def repeating_stride(stride: Stride, theta: float, rate: float) -> RepeatingStride:
    if not stride.repeats or stride.phases[0][0] == FLIGHT:
        raise UnsupportedError("a stride that is sought by its trunk repeats, and begins with a foot on the ground")
    guess = np.array([theta, rate])
    step = np.zeros(2)
    slope = np.zeros((2, 2))
    left = np.full(2, np.nan)
    for iteration in range(_MOST):
        left = _after(stride, guess) - guess
        if not np.isfinite(left).all():
            return _result(stride, "not found", "the stride that was tried last has no end", guess, left, iteration)
        if np.abs(left).max() < _CLOSE:
            return _walked(stride, guess, left, iteration)
        # Broyden's: what the last step has left shows how the map bends
        slope = slope + np.outer(left, step) / (step @ step) if iteration else _map(stride, guess) - np.eye(2)
        step = -np.linalg.solve(slope, left)
        guess = guess + step
    return _result(stride, "not found", f"after {_MOST} steps the stride still ends otherwise than it began", guess,
                   left, _MOST)


def _walked(stride: Stride, start: Array, left: Array, iterations: int) -> RepeatingStride:
    """A stride that repeats with feet that are held, tried with feet that are not."""
    try:
        run = stride.system.simulate(stride.start(*start), until=stride.duration, progress=False)
    except GeometryError as error:
        return _result(stride, "not held", str(error), start, left, iterations)
    status = "repeats" if run.finished else "not held"
    return _result(stride, status, "the stride ends as it began" if run.finished else run.message, start, left,
                   iterations)


def _map(stride: Stride, start: Array) -> Array:
    """The derivative (2, 2) of the trunk after a stride by the trunk before."""
    return np.stack([(_after(stride, start + way) - _after(stride, start - way)) / (2 * _STEP)
                     for way in _STEP * np.eye(2)], axis=1)


def _after(stride: Stride, start: Array) -> Array:
    """The trunk's angle and rate after a stride with feet that are held."""
    run = stride.held_system.simulate(stride.start(*start), until=stride.duration, rtol=1e-12, atol=1e-13,
                                      progress=False)
    return np.array([run.end["body"][2], run.end["rates"][2]]) if run.finished else np.full(2, np.nan)


def _result(stride: Stride, status: str, message: str, guess: Array, left: Array, iterations: int) -> RepeatingStride:
    found = np.full(2, np.nan) if status == "not found" else np.linalg.eigvals(_map(stride, guess))
    multipliers = found.astype(complex)  # which NumPy before 2.5 gives only where one is not real
    return RepeatingStride(status, message, float(guess[0]), float(guess[1]), float(np.abs(left).max()), multipliers,
                           iterations, stride.start(*guess))
