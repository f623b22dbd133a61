"""Legs of parallel machines: legs of a crank and a rod, assembly modes, singular postures.

A leg of two bars in a plane is a crank about a pivot, and a rod from its end to a point:
    d^2 = x^2 + y^2,   k^2 = (2 a d sin)^2     by the factors of `elbow_discriminant`
    theta = atan2(y, x) +- atan2(k, a^2 + d^2 - b^2)
With + the rod turns to the right after the crank (a x b < 0), with - to the left.

Rates xd (k) of the platform and thetad (m) of the actuators, with a row for each leg: Jx xd = Jq thetad. Singular are:

inverse     Jq is singular: a leg is straight or folded, and stops the platform along its row of Jx
direct      Jx is singular: the platform can move along its null vectors with all actuators held, and no actuator
            holds a force along them
combined    both

For lengths and angles together, `lengths` says how many metres a unit of each coordinate is worth.
Source: Ruggiu (4.1)-(4.7), (4.14), 4.2.3, 4.4.4, by angles in place of tangents; Gosselin & Angeles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from cayley.compiler.solving.definite import only_where
from cayley.compiler.solving.null_space import row_space
from cayley.compiler.solving.rounding import beyond_rounding, significant
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ModelError, SingularityError
from cayley.kinematics.inverse.analytic.planar import elbow_discriminant
from cayley.showing import brief


class LegJacobians(NamedTuple):
    """Jx (m, k) and the diagonal Jq (m) of Jx xd = Jq thetad, one row and one entry a leg [m]."""

    Jx: Array
    Jq: Array


@dataclass(frozen=True, eq=False)
class ParallelSingularity:
    """The motions that a singular posture loses and gains. `lost` (l, k) are rates that the platform cannot have, and
    `gained` (g, k) rates that it has with the actuators held. No actuator resists a wrench with power along a gained
    motion. `legs` are those that are straight or folded, counted from 1."""

    kind: Literal["regular", "inverse", "direct", "combined"]
    lost: Array
    gained: Array
    legs: tuple[int, ...]
    singular_values: Array  # of Jx, rows of unit length, in metres

    __repr__ = brief

    @property
    def unbalanced(self) -> Array:
        """Wrenches (g, k) on the platform, one for each gained motion, that no force of the actuators balances."""
        return self.gained


def parallel_singularity(Jx: ArrayLike, Jq: ArrayLike, *, lengths: ArrayLike = 1.0,
                         tolerance: float | None = None) -> ParallelSingularity:
    """The class of one posture, by Jx (m, k) and the diagonal Jq (m), both in metres a unit.

    `tolerance`: how small, beside the largest, is zero; without it about 2e-7, as of all functions.

    >>> parallel_singularity([[1.0, 0.0], [1.0, 0.0]], [1.0, 1.0]).gained.round(12) + 0.0
    array([[0., 1.]])
    """
    rows = np.asarray(Jx, dtype=float)
    drives = np.asarray(Jq, dtype=float)
    worth = np.broadcast_to(np.asarray(lengths, dtype=float), rows.shape[1:])
    scaled = rows / worth
    _, values, V = np.linalg.svd(scaled)
    rank = int(significant(values, rows.shape[1], tolerance=tolerance).sum())
    gained = V[rank:] / worth
    stuck = _stuck(scaled, drives, tolerance)
    lost = row_space(scaled[stuck], tolerance) / worth
    inverse = bool(stuck.any())
    direct = len(gained) > 0
    kind: Literal["regular", "inverse", "direct", "combined"] = (
        "combined" if inverse and direct else "inverse" if inverse else "direct" if direct else "regular")
    legs = tuple(int(k) + 1 for k in np.flatnonzero(stuck))
    return ParallelSingularity(kind, _normal(lost), _normal(gained), legs, values)


def held_solution(J: Array, right: Array, machine: str, *, lengths: ArrayLike = 1.0, forces: bool = False) -> Array:
    """x (..., k) with J x = right, the rates of a platform, or with J^T x = right, the `forces` of its actuators. Where
    J (..., k, k) is singular, as `parallel_singularity` decides, there are none: NaN, and `SingularityError` for one
    posture."""
    batch = np.broadcast_shapes(J.shape[:-2], right.shape[:-1])
    rows = np.broadcast_to(J, (*batch, *J.shape[-2:])).reshape(-1, *J.shape[-2:])
    known = np.broadcast_to(right, (*batch, right.shape[-1])).reshape(-1, right.shape[-1])
    found = np.full(known.shape, np.nan)
    finite = np.isfinite(rows).all((-2, -1))
    values = np.linalg.svd(rows[finite] / np.asarray(lengths, dtype=float), compute_uv=False)
    held = finite.copy()
    held[finite] = significant(values, J.shape[-1]).all(axis=-1)
    own = np.swapaxes(rows[held], -1, -2) if forces else rows[held]
    found[held] = np.linalg.solve(own, known[held][..., None])[..., 0]
    if not batch and finite.all() and not held.all():
        what = "no forces of them balance every wrench" if forces else "its motion does not follow from theirs"
        raise SingularityError(f"the actuators of the {machine} do not hold its platform at this posture: {what}; "
                               "`singularity` has the motions that it gains")
    return found.reshape(*batch, right.shape[-1])


def actuator_rates(Jx: Array, Jq: Array, rates: Array, machine: str, *, worth: ArrayLike = 1.0, lengths: ArrayLike = 1.0
                   ) -> Array:
    """thetad (..., m) with Jq thetad = Jx xd for rates xd (..., k) of a platform. A leg that is straight or folded, as
    `parallel_singularity` decides with Jq / worth, has none: NaN, and `SingularityError` for one posture."""
    stuck = _stuck(Jx / np.asarray(lengths, dtype=float), Jq / np.asarray(worth, dtype=float))
    found = np.einsum("...ij,...j->...i", Jx, rates) / np.where(stuck, np.nan, Jq)
    if found.ndim == 1 and stuck.any():
        legs = ", ".join(str(k + 1) for k in np.flatnonzero(stuck))
        raise SingularityError(f"leg {legs} of the {machine} is straight or folded: no rate of its crank moves the "
                               "platform so; `singularity` has the motions that are lost")
    return found


def _stuck(Jx: Array, Jq: Array, tolerance: float | None = None) -> Array:
    largest = np.broadcast_to(np.abs(Jx).max(axis=(-2, -1), initial=0.0)[..., None], (*Jq.shape[:-1], 1))
    return ~significant(np.concatenate([np.abs(Jq), largest], axis=-1), Jx.shape[-1], tolerance=tolerance)[..., :-1]


def _normal(rows: Array) -> Array:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class LegActuation(NamedTuple):
    """The kind of actuation of `freedoms` by `actuators`: with more of them forces are a choice, with fewer some motion
    is left."""

    kind: Literal["fully actuated", "redundantly actuated", "under-actuated"]
    actuators: int
    freedoms: int

    @property
    def surplus(self) -> int:
        """The number of forces that are free to choose; negative: how many motions no actuator controls."""
        return self.actuators - self.freedoms


def actuation(*, actuators: int, freedoms: int) -> LegActuation:
    """The class of a machine by its numbers of actuators and of degrees of freedom.

    >>> actuation(actuators=4, freedoms=3)
    LegActuation(kind='redundantly actuated', actuators=4, freedoms=3)
    """
    if actuators < 0 or freedoms < 0:
        raise ModelError(f"a machine cannot have {actuators} actuators and {freedoms} degrees of freedom")
    if actuators == freedoms:
        return LegActuation("fully actuated", actuators, freedoms)
    return LegActuation("redundantly actuated" if actuators > freedoms else "under-actuated", actuators, freedoms)


def crank_angles(x: Scalar, y: Scalar, crank: Scalar, rod: Scalar) -> Array:
    """The two angles of the crank whose rod ends at the point (x, y) from the pivot; NaN if it cannot be reached.

    >>> np.degrees(crank_angles(-1.0, 1.0, 1.0, 1.0)).round(9)
    array([180.,  90.])
    """
    k = root_of_reach(elbow_discriminant(x, y, crank, rod), (crank + rod)**4)
    inner = np.arctan2(k, crank**2 + x**2 + y**2 - rod**2)
    return np.array([wrapped(np.arctan2(y, x) + inner), wrapped(np.arctan2(y, x) - inner)])


def root_of_reach(margin: Scalar, whole: Scalar) -> Scalar:
    """The root of what is left of a reach; at its end, where rounding decides whether that is negative, zero. Beyond it
    NaN. `whole` is what the margin is a difference of.

    >>> [float(root_of_reach(margin, 1.0)) for margin in (0.04, -1e-16, -1e-6)]
    [0.2, 0.0, nan]
    """
    return only_where(np.logical_not(beyond_rounding(-margin, whole, 1)), np.sqrt(np.maximum(margin, 0.0)))


def crank_angle(direction: Scalar, square: Scalar, crank: Scalar, rod_square: Scalar, side: float) -> Scalar:
    """One angle of a crank by the direction of the rod's end and the square of its distance, in the mode `side`: 1 if
    the rod turns to the right, -1 to the left. Out of reach it is as if the leg were straight or folded."""
    bend = np.sqrt(np.maximum(reach_margin(square, crank, rod_square), 0.0))
    return direction + side * np.arctan2(bend, crank**2 + square - rod_square)


def reach_margin(square: Scalar, crank: Scalar, rod_square: Scalar) -> Scalar:
    """4 a^2 d^2 - (a^2 + d^2 - b^2)^2 = (2 a b sin)^2 of the bend: negative where a leg does not reach."""
    return 4 * crank**2 * square - (crank**2 + square - rod_square)**2


def wrapped(angle: Scalar) -> Scalar:
    """The same angle in (-pi, pi]."""
    return np.arctan2(np.sin(angle), np.cos(angle))


def check_lengths(machine: str, **lengths: Array) -> None:
    """Raise an error that names the bars of no length."""
    for name, values in lengths.items():
        for number, value in enumerate(np.atleast_1d(values), start=1):
            if not (np.isfinite(value) and value > 0):
                raise ModelError(
                    f"{machine}: {name} {number} has the length {value:.6g} m: it must be positive")


@dataclass(frozen=True, eq=False)
class Assemblies:
    """Poses (..., m, k) of the platform, those that exist first, NaN for the others; `count` (...) of them exist.

    `residual` (..., m) is how far the rods are from their lengths [m], computed anew from the poses."""

    poses: Array
    residual: Array

    @property
    def count(self) -> Array:
        """The number of ways to put the machine together (...)."""
        return np.isfinite(self.poses).all(axis=-1).sum(axis=-1)

    @property
    def status(self) -> str:
        """"assembled", or "cannot be assembled" if that is so for one of the given actuator positions."""
        return "assembled" if (self.count > 0).all() else "cannot be assembled"

    def __repr__(self) -> str:
        if not self.count.size:
            return "<assemblies of no machine>"
        if self.poses.ndim > 2:
            return (f"<assemblies of {self.count.size} machines: {self.status}, {self.count.min()} to "
                    f"{self.count.max()} each>")
        rows = "".join(f"\n  {np.array2string(pose, precision=9)}" for pose in self.poses[:self.count])
        return f"<{self.status}: {self.count} assembly modes>{rows}"


def arranged(poses: Array, residual: Array, *, tolerance: float, apart: float) -> Assemblies:
    """Sorted assemblies of candidates (..., m, k): those that close, less those that another has `apart` from it."""
    closes = np.isfinite(poses).all(axis=-1) & (residual <= tolerance)
    gaps = np.abs(poses[..., :, None, :] - poses[..., None, :, :]).max(axis=-1)
    earlier = np.tril(np.ones((poses.shape[-2],) * 2, dtype=bool), -1)
    again = ((gaps <= apart) & earlier & closes[..., None, :]).any(axis=-1)
    kept = closes & ~again
    order = np.argsort(np.where(kept, poses[..., -1], np.inf), axis=-1, kind="stable")
    shown = np.where(kept[..., None], poses, np.nan)
    sizes = np.where(kept, residual, np.nan)
    return Assemblies(np.take_along_axis(shown, order[..., None], -2), np.take_along_axis(sizes, order, -1))
