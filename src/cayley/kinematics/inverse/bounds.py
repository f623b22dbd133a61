"""Bounds of the coordinates of a chain: limits, whole turns, and starts for a search inside them.

Limits bind coordinates whose rate is a velocity of the joint: those of every joint but spherical and floating ones. A
limited turn of a full circle or more never blocks a search: what passes the end comes in again a turn away."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.errors import ModelError, UnsupportedError
from cayley.geometry.rotations.quaternion import matrix_from_quaternion
from cayley.model.constraints import constraints_on, tied_joints
from cayley.model.parts import Joint
from cayley.model.tree import Tree

_TURN = 2 * np.pi
_START_OFFSET = 0.1  # of a half-range: the middle itself is often singular (a stretched arm)
_INNER_STARTS = 3  # in the inner half of the ranges, from where more searches succeed; those that do not need the whole
_ROUNDING = 1e-12  # [rad]: limits that lack no more than this of a turn allow a whole one
_TOUCHING = 1e-9  # rad or m


@dataclass(frozen=True, eq=False)
class Bounds:
    """Limits (nq,), infinite where there is none, the coordinates that turn, and the joints that the frame depends on.
    """

    lower: Array
    upper: Array
    turns: Array  # coordinates that come back after a turn, (nq,)
    lengths: Array  # coordinates that are lengths, (nq,)
    velocity: Array  # the place in qd of each coordinate whose rate it is, or -1, (nq,)
    moved: Array  # coordinates of joints on the way to the frame, (nq,)
    quaternions: tuple[slice, ...]  # of those joints
    size: float  # half the length of the chain, or 1 [m]
    free: Array  # velocities of those joints, (nv,)

    @cached_property
    def wraps(self) -> Array:
        """Limited coordinates whose range is a turn or more."""
        return self.turns & np.isfinite(self.upper - self.lower) & (self.upper - self.lower >= _TURN - _ROUNDING)

    @cached_property
    def blocks(self) -> Array:
        """Coordinates that can be held at a limit."""
        return (np.isfinite(self.lower) | np.isfinite(self.upper)) & ~self.wraps

    def kept(self, q: Array) -> Array:
        """The coordinates brought back between their limits; for floats and for symbols."""
        return np.stack([self._kept(k, q[..., k]) for k in range(len(self.lower))], axis=-1) if len(self.lower) else q

    def _kept(self, k: int, x: Array) -> Scalar:
        low = self.lower[k]
        high = self.upper[k]
        if self.wraps[k]:
            inside = where(x > high, x - _TURN * np.ceil((x - high) / _TURN),
                           where(x < low, x + _TURN * np.ceil((low - x) / _TURN), x))
            return np.minimum(np.maximum(inside, low), high)
        x = np.maximum(x, low) if np.isfinite(low) else x
        return np.minimum(x, high) if np.isfinite(high) else x

    def unwound(self, q: Array) -> Array:
        """Unlimited turns of the chain brought to between -pi and pi."""
        if not self._has_endless:
            return q
        return np.where(self._endless & (np.abs(q) > np.pi), q - _TURN * np.round(q / _TURN), q)

    @cached_property
    def _has_endless(self) -> bool:
        return bool(self._endless.any())

    @cached_property
    def _endless(self) -> Array:
        return self.turns & self.moved & np.isinf(self.lower) & np.isinf(self.upper)

    def hit(self, q: Array) -> Array:
        """A mask of the coordinates that are at a limit, to 1e-9, or beyond."""
        return (q <= self.lower + _TOUCHING) | (q >= self.upper - _TOUCHING)

    def contains(self, q: Array) -> Array:
        """A mask (...) of the configurations that have no coordinate beyond a limit, to 1e-9."""
        return np.asarray(((q >= self.lower - _TOUCHING) & (q <= self.upper + _TOUCHING)).all(axis=-1))

    def places(self, q: Array) -> Array:
        """Numbers that tell configurations of the chain apart, whole turns and the sign of a quaternion left out."""
        turning = self.turns & self.moved
        plain = self.moved & ~self.turns & ~self._in_quaternions
        attitudes = [matrix_from_quaternion(q[..., place]).reshape(*q.shape[:-1], 9) for place in self.quaternions]
        return np.concatenate([np.cos(q[..., turning]), np.sin(q[..., turning]), q[..., plain], *attitudes], axis=-1)

    # Starts

    def middle(self, neutral: Array) -> Array:
        """The middle of the ranges, a little off; what the frame does not depend on, and quaternions, as they are in
        `neutral`."""
        low, high = self._ranges()
        q = 0.5 * (low + high) + _START_OFFSET * 0.5 * (high - low)
        return np.where(self.moved & ~self._in_quaternions, q, neutral)

    def scattered(self, count: int, seed: int, neutral: Array) -> Array:
        """Random starts (count, nq), the same for the same seed; a longer list begins with the shorter."""
        low, high = self._ranges()
        spread = np.where(np.arange(count) < _INNER_STARTS, 0.5, 1.0)[:, None]
        random = np.random.default_rng(seed).uniform(-0.5, 0.5, size=(count, len(low)))
        q = np.where(self.moved, 0.5 * (low + high) + spread * random * (high - low), neutral)
        for place in self.quaternions:
            turn = np.random.default_rng([seed, place.start]).normal(size=(count, 4))
            q[:, place] = turn / np.linalg.norm(turn, axis=-1, keepdims=True)
        return q

    @property
    def _in_quaternions(self) -> Array:
        inside = np.zeros(len(self.lower), dtype=bool)
        for place in self.quaternions:
            inside[place] = True
        return inside

    def _ranges(self) -> tuple[Array, Array]:
        """Finite ranges: half a turn either way, or the size of the chain, from whatever limit there is."""
        reach = np.where(self.lengths, self.size, np.pi)
        center = np.where(np.isfinite(self.lower), self.lower + reach,
                          np.where(np.isfinite(self.upper), self.upper - reach, 0.0))
        return np.where(np.isfinite(self.lower), self.lower,
                        center - reach), np.where(np.isfinite(self.upper), self.upper, center + reach)


def bounds_of(tree: Tree, frame: str, *, limits: bool) -> Bounds:
    """The bounds of the coordinates on the way to a frame, and of those that constraints tie to them; `limits=False`
    ignores those of the model."""
    way = tree.path(tree.body_number(tree.frame(frame).body))
    if not any(tree.joints[number].motion.nv for number in way):
        raise ModelError(f"{frame!r} is fixed to the root of {tree.name}: no joint moves it")
    tied = [tied_joints(tree, constraint) for constraint in constraints_on(tree, way)]
    return bounds_of_joints(tree, frozenset(way).union(*tied), 0.5 * chain_size(tree, frame) or 1.0, limits=limits)


def bounds_of_joints(tree: Tree, way: frozenset[int], size: float, *, limits: bool) -> Bounds:
    """The bounds of the coordinates of some joints, for a search that moves these."""
    infinite = np.full(tree.nq, np.inf)
    turns, lengths, moved = (np.zeros(tree.nq, dtype=bool) for _ in range(3))
    free = np.zeros(tree.nv, dtype=bool)
    velocity = np.full(tree.nq, -1)
    quaternions = []
    lower, upper = (tree.lower, tree.upper) if limits else (-infinite, infinite)
    for number, joint in enumerate(tree.joints):
        place = tree.q_slices[number]
        rates = tree.v_slices[number]
        turns[place] = joint.motion.wraps
        moved[place] = number in way
        free[rates] = number in way
        lengths[place] = np.array(joint.motion.coordinate_units) == "m"
        if joint.motion.nq == joint.motion.nv:
            velocity[place] = np.arange(rates.start, rates.stop)
        elif number in way:
            quaternions.append(_quaternion(joint, place))
            if np.isfinite(lower[place]).any() or np.isfinite(upper[place]).any():
                raise UnsupportedError(
                    f"joint {joint.name!r} of {tree.name} is {joint.motion.word} and has limits, to which inverse "
                    "kinematics cannot hold it: pass limits=False and check them yourself")
    return Bounds(lower, upper, turns, lengths, velocity, moved, tuple(quaternions), size, free)


def limits_crossed(tree: Tree, q: Array) -> tuple[tuple[str, int, float], ...]:
    """The limits that configurations (k, nq) cross: the name of the joint, the number of the first configuration where
    it does, and by how much at most."""
    beyond = np.maximum(np.maximum(tree.lower - q, q - tree.upper), 0.0)
    names = [joint.name for joint in tree.joints for _ in range(joint.motion.nq)]
    return tuple((names[k], int(np.argmax(beyond[:, k] > _ROUNDING)), float(beyond[:, k].max()))
                 for k in range(tree.nq) if len(q) and beyond[:, k].max() > _ROUNDING)


def _quaternion(joint: Joint, place: slice) -> slice:
    attitude = joint.motion.attitude
    if attitude is None:
        raise UnsupportedError(
            f"joint {joint.name!r} is {joint.motion.word}: it has more coordinates than velocities, and does not say "
            "where among them a unit quaternion is")
    return slice(place.start + attitude.q.start, place.start + attitude.q.stop)


def chain_size(tree: Tree, frame: str) -> float:
    """The lengths of the links on the way to a frame, one after the other [m]."""
    wanted = tree.frame(frame)
    way = tree.path(tree.body_number(wanted.body))
    links = [tree.joints[k].placement for k in way[1:]] + [wanted.pose]
    return float(sum(np.linalg.norm(p[:3, 3]) for p in links if p is not None))


def reach_from_first_joint(tree: Tree, frame: str, bounds: Bounds) -> float:
    """No configuration takes the frame farther than this from the first joint's origin [m]; infinite for unlimited
    slides."""
    way = tree.path(tree.body_number(tree.frame(frame).body))
    total = chain_size(tree, frame)
    for number in way:
        motion = tree.joints[number].motion
        place = tree.q_slices[number]
        total += motion.reach(bounds.lower[place], bounds.upper[place])
    return total
