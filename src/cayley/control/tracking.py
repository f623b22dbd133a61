"""Tracking of a nominal motion: its forces go ahead, a linear law on the state errors, designed on the linearised
model, brings back.

    tau = tau0(t) - K(t) (x - x0(t))         x = (q, qd)
K is designed at points of the nominal motion, each as if the model stood still there, and interpolated between them: by
weights of state and force (the linear-quadratic regulator) or by poles; or, with a weight of the end, for the whole
motion. Source: Balafoutis & Patel 7.1, spec R8.9."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, solve_continuous_are, solve_discrete_are

from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.control.arms import numbers_of
from cayley.dynamics.linearised.state_space import LinearisedMechanism, StateSpace
from cayley.dynamics.open_tree import TreeMechanics, tree_system
from cayley.errors import SignatureError, SingularityError, shown
from cayley.kinematics.constraints.structure import constraint_structure
from cayley.kinematics.frame_kernels import difference_kernel
from cayley.model.configuration_space import configuration_difference
from cayley.model.constraints import check_independent
from cayley.model.tree import Tree
from cayley.ordinary_equations import IntegrationError, integrate
from cayley.showing import brief
from cayley.systems import Record, System
from cayley.systems.trajectory import Trajectory

Reference = Callable[[float], tuple[Any, Any, Any]]
Law = Callable[[float, np.ndarray, np.ndarray], Any]


class Weights(NamedTuple):
    """The cost that a regulator minimises: the integral of x^T state x + u^T force u, plus x^T final x at the end.
    Numbers, diagonals or matrices.

    Without `final`, each gain is that of a model that stands still, for ever; with it, of the whole motion to its last
    point."""

    state: Array
    force: Array
    final: Scalar = None


@dataclass(frozen=True, eq=False)
class Tracking:
    """`tracking(t, q, qd)`: the forces (nv). Made by `tracking_control`. Of a mechanism with constraints the state is
    that of its independent joints, of which the others follow."""

    model: LinearisedMechanism
    reference: Reference
    times: Array
    gains: Array  # (points, nv, 2 nv), or (points, nv, 2 m) for a mobility of m
    driven: Array  # (nv) whether there is a drive

    __repr__ = brief

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        return self.nominal_forces(t) - self.gain(t) @ self.error(t, q, qd)

    def nominal_forces(self, t: float) -> Array:
        """tau0 (nv): what the model says the motion needs, of those that are driven."""
        needed = self.model.inverse_dynamics(*[np.ascontiguousarray(x, dtype=float) for x in self.reference(t)])
        return np.where(self.driven, needed, 0.0)

    def error(self, t: float, q: Array, qd: Array) -> Array:
        """x - x0 (2 nv); of configurations, the velocity that leads from one to the other in unit time."""
        nominal, rate, _ = self.reference(t)
        away = self._difference(np.asarray(nominal, dtype=float), q)
        return np.concatenate([away[self._leading], (qd - rate)[self._leading]])

    def gain(self, t: float) -> Array:
        """K (nv, 2 nv)."""
        place = float(np.interp(t, self.times, np.arange(len(self.times))))
        share = place - int(place)
        return self.gains[int(place)] if not share else (1 - share) * self.gains[int(place)] + (
            share * self.gains[int(place) + 1])

    def system(self) -> System:
        """The law as a system: forces `tau` of `q` and `qd`, and of the nominal motion, which `nominal_inputs` gives.
        """
        tree, leading = self.model.tree, self._leading

        def forces(t: Scalar, x: Record, u: Record, p: Record) -> Array:
            away = configuration_difference(tree, u.nominal_q, u.q)
            return u.nominal_tau - u.gain @ np.concatenate([away[leading], (u.qd - u.nominal_qd)[leading]])

        return System("tracking", inputs={"q": tree.nq, "qd": tree.nv, "nominal_q": tree.nq, "nominal_qd": tree.nv,
                                          "nominal_tau": tree.nv, "gain": self.gains.shape[1:]},
                      outputs={"tau": tree.nv}, output=forces, acts=True)

    def nominal_inputs(self, *, feedback: bool = True) -> dict[str, Callable[..., ArrayLike]]:
        """The nominal motion and the gain as inputs of `system`, functions of the time. Without `feedback` the gain is
        zero."""
        @lru_cache(maxsize=1)
        def at(t: float) -> dict[str, ArrayLike]:
            q, qd, _ = self.reference(t)
            return {"nominal_q": q, "nominal_qd": qd, "nominal_tau": self.nominal_forces(t),
                    "gain": self.gain(t) * float(feedback)}

        return {name: lambda t, *_, name=name: at(t)[name]
                for name in ("nominal_q", "nominal_qd", "nominal_tau", "gain")}

    @cached_property
    def _leading(self) -> list[int]:
        """The velocities from which the others follow."""
        tree = self.model.tree
        return list(constraint_structure(tree).independent if tree.is_constrained else range(tree.nv))

    @cached_property
    def _difference(self) -> Kernel:
        return difference_kernel(self.model.tree)


def tracking_control(tree: Tree, reference: Reference, times: ArrayLike, *, weights: Weights | None = None,
                     poles: Sequence[complex] | None = None, driven: Sequence[int] | None = None) -> Tracking:
    """The law for a nominal motion, `reference(t) -> (q, qd, qdd)`, with gains at the times (points) [s].

    Give `weights`, or the 2 nv `poles` [1/s] that the closed loop is to have. `driven`: the velocities that have a
    drive, if not all do; the nominal motion must be one that needs no force at the others. A mechanism with constraints
    is driven at its actuated joints, and has 2 m poles for a mobility of m; the nominal motion must keep them. One with
    elastic drives is driven at its motors: `motor_motion` gives nominal motions of it.

    >>> from cayley.model.catalogue import load_robot
    >>> upright = tracking_control(load_robot("s1_g1"),
    ...                            lambda t: (np.array([np.pi / 2, 0.0]), np.zeros(2), np.zeros(2)),
    ...                            [0.0],
    ...                            poles=[-3.0, -4.0, -5.0, -6.0])
    >>> linear = upright.model.at([np.pi / 2, 0.0])
    >>> np.sort(np.linalg.eigvals(linear.A - linear.B @ upright.gains[0]).real).round(6)
    array([-6., -5., -4., -3.])
    """
    if not callable(reference):
        raise SignatureError(f"a nominal motion is a function of the time, t -> (q, qd, qdd), not {shown(reference)}")
    model = LinearisedMechanism(tree)
    instants = np.atleast_1d(np.asarray(times, dtype=float))
    if instants.ndim != 1 or not len(instants) or not np.isfinite(instants).all() or (np.diff(instants) <= 0).any():
        raise SignatureError(f"the times of gains are finite numbers that increase, at least one, not {instants}")
    for t in instants:
        if not all(np.isfinite(np.asarray(x, dtype=float)).all() for x in reference(t)):
            raise SignatureError(f"the nominal motion of {tree.name} is not finite at t = {t:g}")
    every = tree.actuated_velocities if tree.is_constrained or tree.motors else range(tree.nv)
    columns = list(every if driven is None else driven)

    def model_at(t: float) -> StateSpace:
        return linear_at(model, *reference(t)).driven_by(columns)

    models = [model_at(t) for t in instants]
    gains = np.zeros((len(instants), tree.nv, models[0].A.shape[-1]))
    if poles is not None and weights is None:
        gains[:, columns] = [_placed(there, poles) for there in models]
    elif poles is not None or weights is None:
        raise SignatureError("give the weights of a regulator, or the poles of the closed loop")
    elif weights.final is None:
        gains[:, columns] = [regulator_gain(there, weights) for there in models]
    else:
        gains[:, columns] = horizon_gains(model_at, instants, weights)
    return Tracking(model, reference, instants, gains, np.isin(np.arange(tree.nv), columns))


def linear_at(model: LinearisedMechanism, q: Array, qd: Array, qdd: Array) -> StateSpace:
    """Under the forces that the motion needs, of a mechanism with constraints those of its drives."""
    if not model.tree.is_constrained:
        return model.at(q, qd, qdd)
    return model.at_forces(q, qd, model.inverse_dynamics(q, qd, qdd))


def horizon_gains(model_at: Callable[[float], StateSpace], times: Array, weights: Weights) -> Array:
    """K (points, m, states) = R^-1 B^T S at the times for a model that changes along a motion, from its end backwards:

        -dS/dt = Q + A^T S + S A - S B R^-1 B^T S        S = final at the last of the times
    the Riccati differential equation, whose gains minimise the integral itself, however few the times are."""
    first = model_at(times[-1])
    Q = weight_matrix(weights.state, first.B.shape[0], "state")
    R = weight_matrix(weights.force, first.B.shape[1], "force")
    S = weight_matrix(weights.final, len(Q), "the end")
    if len(times) < 2:
        raise SignatureError(
            "a motion with an end takes two points or more; leave `final` out for one that stands still")
    if not (np.linalg.eigvalsh(R + R.T) > 0.0).all():
        raise SignatureError("every force has a positive weight, or it would be without bound")
    model_once = lru_cache(maxsize=1)(model_at)

    def slope(t: float, given: Array) -> Array:
        there = model_once(t)
        S = given.reshape(Q.shape)
        K = np.linalg.solve(R, there.B.T @ S)
        rate = there.A.T @ S
        return (S @ there.B @ K - Q - rate - rate.T).ravel()

    scale = max(np.abs(S).max(), np.abs(Q).max())
    found = integrate(slope, S.ravel(), times[::-1], rtol=1e-9, atol=1e-11 * scale, method="LSODA")
    values = found.checked("the Riccati equation of the weights").states.reshape(-1, *Q.shape)[::-1]
    return np.stack([np.linalg.solve(R, model_at(t).B.T @ (value + value.T) / 2.0)
                     for t, value in zip(times, values, strict=True)])


def regulator_gain(model: StateSpace, weights: Weights) -> Array:
    """K (m, states) of u = -K x, from the algebraic Riccati equation; of a discrete model the sum is over steps."""
    Q = weight_matrix(weights.state, model.B.shape[0], "state")
    R = weight_matrix(weights.force, model.B.shape[1], "force")
    try:
        if model.dt is not None:
            X = solve_discrete_are(model.A, model.B, Q, R)
            return np.linalg.solve(R + model.B.T @ X @ model.B, model.B.T @ X @ model.A)
        X = solve_continuous_are(model.A, model.B, Q, R)
    except LinAlgError as error:
        raise SingularityError(
            "the regulator has no solution: some mode is out of reach of the forces, or has no weight "
            f"(margins {np.array2string(model.margins, precision=1)})") from error
    return np.linalg.solve(R, model.B.T @ X)


def _placed(model: StateSpace, poles: Sequence[complex]) -> Array:
    if np.shape(poles) != model.A.shape[-1:]:
        raise SignatureError(f"the closed loop has {model.A.shape[-1]} poles, not {np.size(poles)}")
    if not model.controllable:
        raise SingularityError("the poles cannot be placed: some mode is out of reach of the forces "
                               f"(margins {np.array2string(model.margins, precision=1)})")
    from scipy.signal import place_poles
    return place_poles(model.A, model.B, np.asarray(poles)).gain_matrix


def weight_matrix(weight: ArrayLike, size: int, what: str) -> Array:
    """The symmetric matrix (size, size) of weights of `what`: a number, a diagonal or a matrix."""
    given = numbers_of(weight, f"the weights of {what}")
    if given.shape not in ((), (size,), (size, size)) or not np.isfinite(given).all():
        raise SignatureError(f"the weights of {what} are a number, a diagonal ({size}) or a matrix ({size}, {size}), "
                             f"not {shown(weight)}")
    return (given + given.T) / 2 if given.ndim == 2 else np.diag(np.broadcast_to(given, (size,)))


def simulate_law(tree: Tree, law: Law, q: Array, qd: Array, times: ArrayLike, *,
                 tolerance: float = 1e-9) -> Trajectory:
    """The motion under a law `law(t, q, qd) -> tau`, adaptive, at increasing times (k), the first of them the start."""
    check_independent(tree, "the motion under a law")
    found = tree_system(TreeMechanics(tree)).simulate({"q": q, "qd": qd}, times=times, inputs={"tau": law},
                                                      rtol=tolerance, atol=tolerance, progress=False)
    if not found.finished:
        raise IntegrationError(f"the motion of {tree.name} under the law ended at t = {found.t[-1]:.6g}: "
                               f"{found.message}")
    return found


def followed(name: str, slope: Callable[[float, Array], Array], start: Array, times: ArrayLike,
             tolerance: float) -> tuple[Array, Array]:
    """The times (k) and the states (k, size) of x' = slope(t, x) there, from the start at the first of them."""
    instants = np.atleast_1d(np.asarray(times, dtype=float))
    if len(instants) < 2:
        return instants, start[None]
    found = integrate(slope, start, instants, rtol=tolerance, atol=tolerance).checked(f"the motion of {name}")
    return found.times, found.states
