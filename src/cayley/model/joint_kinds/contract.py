"""Check of a joint kind against the interface: its properties must agree with how it poses its child."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ModelError
from cayley.model.joint_kinds.motion import JointKind, split, turn

_STEP = 1e-5  # of central differences
_NEAR = 1e-6  # beside the largest number
_TRIES = 3


def check_contract(motion: JointKind) -> None:
    """`ModelError` if a joint contradicts itself at some configurations: its subspace and bias must be the rates of its
    pose, its parts must make it, and so on. Joints of kinds that are not in `KINDS` are looked at whenever one is
    made."""
    random = np.random.default_rng(0)
    for _ in range(_TRIES if motion.nv else 0):
        q = motion.step(motion.neutral, random.uniform(-0.7, 0.7, motion.nv))
        for wrong in _contradictions(motion, np.asarray(q, dtype=float), random.uniform(-1.0, 1.0, motion.nv)):
            raise ModelError(f"the joint kind {type(motion).__name__} contradicts itself: {wrong}, at q = "
                             f"{np.round(q, 3).tolist()} of {motion}")


def _contradictions(motion: JointKind, q: Array, qd: Array) -> Iterator[str]:
    sizes = (len(motion.coordinate_names), len(motion.coordinate_units), len(motion.wraps), len(motion.velocity_names),
             len(motion.velocity_units))
    if sizes != (motion.nq,) * 3 + (motion.nv,) * 2 or np.shape(q) != (motion.nq,):
        yield (f"nq = {motion.nq} and nv = {motion.nv} are not the numbers of its coordinates and velocities, or of "
               f"their names and units")
        return
    R, _ = _pose(motion, q)
    S = np.asarray(motion.subspace(q), dtype=float)
    if not _same(R.T @ R, np.eye(3)) or np.linalg.det(R) < 0:
        yield "its pose has no rotation"
    elif S.shape != (6, motion.nv):
        yield f"its subspace has the shape {S.shape}, not (6, {motion.nv})"
    elif not _same(S @ qd, _twist(motion, q, qd)):
        yield f"its subspace @ qd is {_shown(S @ qd)}, and the rate of its pose is {_shown(_twist(motion, q, qd))}"
    elif motion.constant_subspace and not _same(motion.subspace(np.zeros(motion.nq)), S):
        yield "it says that its subspace is constant, and it is another one at q = 0"
    elif not _same(motion.bias(q, qd), _subspace_change(motion, q, qd)):
        yield (f"its bias is {_shown(motion.bias(q, qd))}, and the rate of its subspace, times qd, "
               f"{_shown(_subspace_change(motion, q, qd))}")
    elif not _same(motion.difference(q, motion.step(q, 0.1 * qd)), 0.1 * qd):
        yield "its difference does not undo its step"
    else:
        yield from _contradicting_parts(motion, q)


def _contradicting_parts(motion: JointKind, q: Array) -> Iterator[str]:
    R, p = _pose(motion, q)
    if motion.elementary != (motion,):
        made = np.eye(3)
        at = np.zeros(3)
        for part, own in zip(motion.elementary, split(motion.elementary, q, "nq"), strict=True):
            r, s = _pose(part, own)
            made, at = made @ r, at + made @ s
        if not (_same(made, R) and _same(at, p)):
            yield "its elementary motions, one after the other, make another pose"
    if motion.screw is not None:
        axis, turns, slides = motion.screw
        if not (_same(turn(axis, turns * q[0]), R) and _same(np.asarray(axis) * (slides * q[0]), p)):
            yield "its screw makes another pose"
    if motion.attitude is None and motion.nq != motion.nv:
        yield "it has more coordinates than velocities, and no attitude says where the unit quaternion is"
    for k in np.flatnonzero(motion.wraps):
        around, there = _pose(motion, q + 2 * np.pi * np.eye(motion.nq)[k])
        if not (_same(around, R) and _same(there, p)):
            yield f"coordinate {k} does not return after a turn, although `wraps` declares it"


def _twist(motion: JointKind, q: Array, qd: Array) -> Array:
    """The twist (6) of the child, by differences of the pose."""
    rate = np.asarray(motion.rate(q, qd), dtype=float)
    (before, p0), (after, p1) = (_pose(motion, q + sign * _STEP * rate) for sign in (-1, 1))
    R, _ = _pose(motion, q)
    W = R.T @ (after - before) / (2 * _STEP)
    return np.array([*(R.T @ (p1 - p0) /
                       (2 * _STEP)), W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / [1, 1, 1, 2, 2, 2]


def _subspace_change(motion: JointKind, q: Array, qd: Array) -> Array:
    rate = np.asarray(motion.rate(q, qd), dtype=float)
    before, after = (np.asarray(motion.subspace(q + sign * _STEP * rate), dtype=float) @ qd for sign in (-1, 1))
    return (after - before) / (2 * _STEP)


def _pose(motion: JointKind, q: Array) -> tuple[Array, Array]:
    R, p = motion.pose(q)
    return np.asarray(R, dtype=float), np.asarray(p, dtype=float)


def _same(one: ArrayLike, other: ArrayLike) -> bool:
    one = np.asarray(one, dtype=float)
    other = np.asarray(other, dtype=float)
    return one.shape == other.shape and bool(
        np.abs(one - other).max(initial=0.0) <= _NEAR * max(1.0,
                                                            np.abs(other).max(initial=0.0)))


def _shown(values: ArrayLike) -> str:
    return str(np.round(np.asarray(values, dtype=float), 6).tolist())
