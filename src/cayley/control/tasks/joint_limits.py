"""Limits of joints for one period: of velocities, or of accelerations that keep positions and velocities in theirs.

    velocities      k (lower - q) <= v <= k (upper - q),   |v| <= v_max,   |v - qd| <= a_max h
    accelerations   -k^2 (q - lower) - 2 k qd <= a <= k^2 (upper - q) - 2 k qd
                    -k (v_max + qd) <= a <= k (v_max - qd),   |a| <= a_max
A limit of position is approached at the rate k [1/s], so that it is reached and never passed: with d = upper - q it is
d' + k d >= 0, and d'' + 2 k d' + k^2 d >= 0 for accelerations. With a limit of acceleration a joint also keeps to the
velocity from which it can stop in time, v^2 <= 2 a_max d. Where these contradict each other, as beyond a limit, that of
acceleration holds, then that of velocity, and the way back is as fast as they allow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.errors import UnsupportedError, warn_user
from cayley.model.coordinate_labels import velocity_labels
from cayley.model.tree import Tree
from cayley.planning.timing.limits import MotionLimits


@dataclass(frozen=True, eq=False)
class JointLimits:
    """Numbers of all velocities (nv), infinite where there is no limit, and their names; made by `of`."""

    names: tuple[str, ...]
    coordinates: tuple[int | None, ...]  # of each velocity, the place of its coordinate, if it is one number
    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    effort: Array

    @classmethod
    def of(cls, tree: Tree, limits: MotionLimits) -> JointLimits:
        """The limits of the mechanism's positions and the given ones. An error names a limited joint of several
        coordinates, for which there is no such rule."""
        found = limits.resized(tree.nv)
        places: list[int | None] = [None] * tree.nv
        for joint, qs, vs in zip(tree.joints, tree.q_slices, tree.v_slices, strict=True):
            if joint.motion.nq == joint.motion.nv:
                for k in range(joint.motion.nv):
                    places[vs.start + k] = qs.start + k
            elif joint.motion.nv and np.isfinite([*joint.limits.lower, *joint.limits.upper]).any():
                raise UnsupportedError(f"the limits of joint {joint.name!r} of {tree.name} are those of an orientation "
                                       "(w, x, y, z), which tasks cannot keep: leave them out of the model")

        def of_velocity(values: Array, none: float) -> Array:
            return np.array([none if place is None else values[place] for place in places])

        return cls(tuple(name for name, _ in velocity_labels(tree)), tuple(places),
                   of_velocity(tree.lower, -np.inf), of_velocity(tree.upper, np.inf),
                   np.array(found.velocity), np.array(found.acceleration), np.array(found.effort))

    def velocity_bounds(self, k: int, q: Array, qd: Scalar, rate: Scalar, period: float) -> tuple[Scalar, Scalar]:
        """The least and the greatest velocity of joint k; numbers where it has no limits. A text."""
        v, a = self.velocity[k], self.acceleration[k]
        up, down = (self._way(k, q, rate, side) for side in (1.0, -1.0))
        low, high = _within(-down, up, -v, v)
        return (low, high) if np.isinf(a) else _within(low, high, qd - a * period, qd + a * period)

    def acceleration_bounds(self, k: int, q: Array, qd: Scalar, rate: Scalar) -> tuple[Scalar, Scalar]:
        """The least and the greatest acceleration of joint k. A text."""
        v, a = self.velocity[k], self.acceleration[k]
        down, up = (_least(rate**2 * self._left(k, q, side) - 2.0 * rate * side * qd if self._is_limited(k, side)
                           else np.inf, rate * (v - side * qd), self._braking(k, q, side * qd, rate, side))
                    for side in (-1.0, 1.0))
        return _within(-down, up, -a, a)

    def is_limited(self, k: int) -> bool:
        """True if joint k has any limit on its motion."""
        return bool(np.isfinite([self.lower[k], self.upper[k], self.velocity[k], self.acceleration[k]]).any())

    def _is_limited(self, k: int, side: float) -> bool:
        return bool(np.isfinite(self.upper[k] if side > 0 else self.lower[k]))

    def _left(self, k: int, q: Array, side: float) -> Scalar:
        """The distance to the limit above (1) or below (-1)."""
        return self.upper[k] - q[self.coordinates[k]] if side > 0 else q[self.coordinates[k]] - self.lower[k]

    def _way(self, k: int, q: Array, rate: Scalar, side: float) -> Scalar:
        """The greatest velocity towards that limit."""
        if not self._is_limited(k, side):
            return np.inf
        left, a = self._left(k, q, side), self.acceleration[k]
        return rate * left if np.isinf(a) else np.minimum(rate * left, np.sqrt(2.0 * a * np.maximum(left, 0.0)))

    def _braking(self, k: int, q: Array, towards: Scalar, rate: Scalar, side: float) -> Scalar:
        """The greatest acceleration towards that limit from which a joint can still stop."""
        if np.isinf(self.acceleration[k]) or not self._is_limited(k, side):
            return np.inf
        return rate * (np.sqrt(2.0 * self.acceleration[k] * np.maximum(self._left(k, q, side), 0.0)) - towards)


def warn_of_missing(tree: Tree, limits: JointLimits, kinds: dict[str, str]) -> None:
    """Say which actuated joints have no limit of the given kinds, by their words."""
    for kind, words in kinds.items():
        open_ = [limits.names[k] for k in tree.actuated_velocities if np.isinf(getattr(limits, kind)[k])]
        if open_:
            warn_user(f"{tree.name} has no limit of {words} for {', '.join(map(repr, open_[:4]))}"
                      f"{' and others' if len(open_) > 4 else ''}: the tasks may ask for any. "
                      f"`limits=cayley.planning.MotionLimits.of(arm, {kind}=...)` gives them")


def _least(*values: Scalar) -> Scalar:
    """The least of numbers and texts, infinite numbers left out."""
    finite = [x for x in values if not (isinstance(x, float) and np.isinf(x))]
    found: Scalar = np.inf
    for x in finite:
        found = x if isinstance(found, float) and np.isinf(found) else np.minimum(found, x)
    return found


def _within(low: Scalar, high: Scalar, least: Scalar, most: Scalar) -> tuple[Scalar, Scalar]:
    """The part of low <= x <= high within least <= x <= most, or what of that is nearest to it."""
    if isinstance(most, float) and np.isinf(most):
        return low, high
    def clipped(x: Scalar, none: Scalar) -> Scalar:
        return none if isinstance(x, float) and np.isinf(x) else np.maximum(least, np.minimum(x, most))
    return clipped(low, least), clipped(high, most)
