"""Joint velocities of a task: the general solution of a redundant arm, the shortest one, the one that improves a
criterion, and the only one of a square regular Jacobian.

    qd = J^+ v + (1 - J^+ J) qd0      J^+ = J^T (J J^T)^-1, by singular values, so that a singular J has it too
    qd = J^-1 r'      qdd = J^-1 (r'' - J' qd)      of a square J; `SingularityError` names the velocity that is lost
With qd0 = -k grad w the free part makes the criterion w SMALLER. Where J is singular and v is not in its range, the
answer is the nearest one, and `solved` says so (spec E-29). Source: Ruggiu (2.64)-(2.76), corrected as in spec E-31;
Yamamoto 1.15 with (1.36), (1.37); spec S3-21."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from cayley.compiler.solving.rounding import UNITS
from cayley.compiler.tracing.symbols import rounding
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import SignatureError, SingularityError
from cayley.geometry.batch import first_failure, place
from cayley.kinematics.inverse.goal import Task
from cayley.kinematics.jacobians.general_jacobian import general_jacobian, task_jacobian
from cayley.kinematics.singular.indices import manipulability, orthogonal_rows, uniform_jacobian
from cayley.kinematics.subspaces import Subspaces, agreement, rank_tolerance, subspaces
from cayley.model.constraints import check_independent
from cayley.model.tree import Tree
from cayley.showing import brief


@dataclass(frozen=True, eq=False)
class RateSolutions:
    """Joint velocities (..., n) for velocities of a task, and all the others: every solution is velocities +
    null_projector @ anything."""

    velocities: Array
    residual: Scalar  # |J qd - v| (...)
    solved: Scalar  # whether v is in the range of J (...); otherwise the residual is the least possible
    unique: Array  # whether there is no other solution (...)
    decomposition: Subspaces

    __repr__ = brief

    @property
    def null_projector(self) -> Array:
        return self.decomposition.null_projector

    @property
    def status(self) -> str | Array:
        """"one", "many" or "none": how many velocities do exactly what was asked."""
        words = np.where(self.solved, np.where(self.unique, "one", "many"), "none")
        return str(words) if np.ndim(words) == 0 else words


def general_solution(J: ArrayLike, v: ArrayLike, start: ArrayLike | None = None, *,
                     tolerance: float | None = None) -> RateSolutions:
    """qd = J^+ v + (1 - J^+ J) start (..., n): of all joint velocities that give v (..., m), the one nearest to `start`
    (zero if left out).

    >>> general_solution([[1.0, 1.0]], [2.0], [1.0, 0.0]).velocities.round(12)
    array([1.5, 0.5])
    """
    met = agreement(tolerance, J, v)
    tolerance = rank_tolerance(tolerance, np.shape(J)[-1], J, v)
    J = np.asarray(J, dtype=np.float64)
    v = np.asarray(v, dtype=np.float64)
    parts = subspaces(J, tolerance=tolerance)
    velocities = (parts.pseudo_inverse @ v[..., None])[..., 0]
    if start is not None:
        velocities = velocities + (parts.null_projector @ np.asarray(start, dtype=np.float64)[..., None])[..., 0]
    residual = np.linalg.norm((J @ velocities[..., None])[..., 0] - v, axis=-1)
    solved = residual <= met * np.linalg.norm(v, axis=-1)
    return RateSolutions(velocities, residual, solved,
                         np.broadcast_to(parts.redundancy == 0, np.shape(residual))[()], parts)


def minimum_norm(J: ArrayLike, v: ArrayLike, *, tolerance: float | None = None) -> RateSolutions:
    """The shortest joint velocities (..., n) that give v (..., m): J^+ v. Ruggiu (2.71)."""
    return general_solution(J, v, tolerance=tolerance)


def gradient_projection(J: ArrayLike, v: ArrayLike, gradient: ArrayLike, gain: ArrayLike, *,
                        tolerance: float | None = None) -> RateSolutions:
    """Joint velocities that give v and, with what is free, make a criterion with this gradient (..., n) smaller: Ruggiu
    (2.75). `gain` (...) must not be negative; the gradient is by the velocities, as `manipulability_gradient` gives it.
    """
    if not np.all(np.asarray(gain) >= 0.0):
        raise SignatureError(f"the gain of a criterion that is to become smaller must not be negative, not {gain}: "
                             "to make it grow, negate its gradient")
    push = -np.asarray(gain, dtype=np.float64)[..., None] * np.asarray(gradient, dtype=np.float64)
    return general_solution(J, v, push, tolerance=tolerance)


# Texts that can be traced


def projected_rates(tree: Tree, q: Array, v: Array, start: Array, frame: str, *, task: str | Sequence[bool],
                    axes: str) -> Array:
    """The velocities (nv) nearest to `start` (nv) that give the rows v (m) of a frame's twist that a task asks for. By
    rows made orthogonal, for regular configurations of arms with at least as many joints as rows; NaN where a row
    follows from those before it but for rounding, as at singular ones."""
    check_independent(tree, "rates of redundant joints", frame)
    chosen = [k for k, asked in enumerate(Task.of(tree, task, axes).rows) if asked]
    J = general_jacobian(tree, q, frame, axes=axes)[chosen]
    rates = start
    for row, across, asked in zip(J, orthogonal_rows(J, passes=2), v, strict=True):  # rows before stay as they are
        square = across @ across
        whole = row @ row
        regular = square > (UNITS / 2 * tree.nv) ** 2 * rounding(rounding(whole))
        rates = rates + across * np.where(regular, (asked - row @ rates) / np.where(regular, square, 1.0), np.nan)
    return rates


def manipulability_gradient(tree: Tree, q: Array, frame: str, *, task: str | Sequence[bool], axes: str,
                            characteristic_length: float | None = None) -> Array:
    """The change (nv) of `manipulability` by the velocities; give it with a minus sign to `gradient_projection` to make
    it grow. NaN where the manipulability is zero but for rounding: it has no gradient there."""
    check_independent(tree, "the gradient of an index", frame)

    def index(x: Array) -> Scalar:
        return manipulability(tree, x, frame, task=task, axes=axes, characteristic_length=characteristic_length)

    J = uniform_jacobian(tree, q, frame, task=task, axes=axes, characteristic_length=characteristic_length)
    largest = np.sqrt(reduce(lambda product, square: product * square, [row @ row for row in J]))
    return task_jacobian(tree, q, index) + np.where(index(q) > UNITS * len(J) * rounding(largest), 0.0,
                                                        np.nan)


@dataclass(frozen=True, eq=False)
class JointMotion:
    """Joint velocities and accelerations, each (..., n)."""

    velocities: Array
    accelerations: Array

    __repr__ = brief


def joint_velocities(J: ArrayLike, rate: ArrayLike, *, tolerance: float | None = None) -> Array:
    """The joint velocities (..., n) that give the rate (..., n) of a task with the Jacobian J (..., n, n).

    >>> joint_velocities([[0.0, 2.0], [1.0, 0.0]], [4.0, 3.0])
    array([3., 2.])
    """
    return _solved(_checked(J, tolerance), rate)


def joint_motion(J: ArrayLike, J_rate: ArrayLike, rate: Array, second_rate: ArrayLike, *,
                 tolerance: float | None = None) -> JointMotion:
    """The joint velocities and accelerations that give the rate r' and the second rate r'' of a task: (..., n) each.
    `J` and `J_rate` (..., n, n) must be of the same kind as the rates: of the same point, axes and parameters of the
    attitude."""
    J = _checked(J, tolerance)
    velocities = _solved(J, rate)
    drift = (np.asarray(J_rate, dtype=np.float64) @ velocities[..., None])[..., 0]
    return JointMotion(velocities, _solved(J, np.asarray(second_rate, dtype=np.float64) - drift))


def _checked(J: ArrayLike, tolerance: float | None) -> Array:
    tolerance = rank_tolerance(tolerance, np.shape(J)[-1], J)
    J = np.asarray(J, dtype=np.float64)
    if J.ndim < 2 or J.shape[-1] != J.shape[-2]:
        raise SignatureError(f"a Jacobian with an inverse must have shape (..., n, n), not {J.shape}: choose rows, or "
                             f"use redundancy.general_solution")
    parts = subspaces(J, tolerance=tolerance)
    bad = first_failure(~np.asarray(parts.singular))
    if bad is not None:
        lost = parts.U[bad][:, -1]
        raise SingularityError(
            f"the Jacobian{place(bad)} is singular (singular values from {parts.singular_values[bad][0]:.2g} to "
            f"{parts.smallest[bad]:.0e}): no joint velocities give a rate along {np.round(lost, 6).tolist()}; "
            "redundancy.general_solution gives the nearest ones")
    return J


def _solved(J: Array, right: ArrayLike) -> Array:
    return np.linalg.solve(J, np.asarray(right, dtype=np.float64)[..., None])[..., 0]
