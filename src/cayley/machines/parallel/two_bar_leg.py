"""A leg of two bars in a plane: a crank about a pivot, and a rod from its end to a point.

    d^2 = x^2 + y^2,   k^2 = (2 a d sin)^2     by the factors of `elbow_discriminant`
    theta = atan2(y, x) +- atan2(k, a^2 + d^2 - b^2)
This has none of the half-angle's trouble at a half-turn. With + the rod turns to the right after the crank
(a x b < 0), with - to the left. Source: Ruggiu (4.1)-(4.7), by angles in place of tangents.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.solving.definite import only_where
from cayley.compiler.solving.rounding import beyond_rounding
from cayley.compiler.typing import Array, Scalar
from cayley.errors import ModelError
from cayley.kinematics.inverse.analytic.planar import elbow_discriminant


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
    """Refuse bars of no length, by name."""
    for name, values in lengths.items():
        for number, value in enumerate(np.atleast_1d(values), start=1):
            if not (np.isfinite(value) and value > 0):
                raise ModelError(
                    f"{machine}: {name} {number} has the length {value:.6g} m; it must be positive, or its "
                    "leg is no leg of two bars")


@dataclass(frozen=True, eq=False)
class Assemblies:
    """Poses (..., m, k) of the platform, those that exist first, NaN for the others; `count` (...) of them exist.

    `residual` (..., m) is how far the rods are from their lengths [m], computed anew from the poses.
    """

    poses: Array
    residual: Array

    @property
    def count(self) -> Array:
        """How many ways there are to put the machine together (...)."""
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
    """Assemblies of candidates (..., m, k): those that close, without those that another has `apart` from it, sorted.
    """
    closes = np.isfinite(poses).all(axis=-1) & (residual <= tolerance)
    gaps = np.abs(poses[..., :, None, :] - poses[..., None, :, :]).max(axis=-1)
    earlier = np.tril(np.ones((poses.shape[-2],) * 2, dtype=bool), -1)
    again = ((gaps <= apart) & earlier & closes[..., None, :]).any(axis=-1)
    kept = closes & ~again
    order = np.argsort(np.where(kept, poses[..., -1], np.inf), axis=-1, kind="stable")
    shown = np.where(kept[..., None], poses, np.nan)
    sizes = np.where(kept, residual, np.nan)
    return Assemblies(np.take_along_axis(shown, order[..., None], -2), np.take_along_axis(sizes, order, -1))
