"""Chains in vector-parameters: joints by pairs (c, t), limits of the pairs, and joint axes as lines with their dual
Jacobian.

    c       tan(angle/2) e of a joint, in its own axes; t the translation of its slide
    g       composition of what lies between the root and a joint, as [w : v]
    N(c)    2 (1 + hat(c))/(1 + c.c): angular velocity of a joint by the rate of its c (the 2 restored as in spec E-26)
    w^ = sum (t' + mu d') K^      twist at the root's origin; K^ = K + mu K* direction and moment of an axis
Positions, attitude and Jacobians are rational in the pairs, which may come from a table. Each joint must be short of a
half-turn; the chain need not be. The dual Jacobian (6, 2n) has columns (K*; K) of turns, then (K; 0) of slides. Source:
Mladenova (1)-(7), (108)-(125), (157)-(163), (256)-(259); spec R-25, R-26, E-77."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.geometry.pose import HERE, Pose
from cayley.geometry.rotations.homogeneous import compose_homogeneous, normalize_homogeneous
from cayley.geometry.rotations.quaternion import matrix_from_quaternion, quaternion_from_matrix
from cayley.geometry.rotations.vector_parameter import check_not_half_turn, matrix_from_vector_parameter
from cayley.geometry.tensors.cross import hat
from cayley.kinematics.elementary import pairs_to
from cayley.model.joint_kinds import JointKind, Screw
from cayley.model.joint_kinds.motion import Axis, Z
from cayley.model.tree import Tree
from cayley.showing import shown_briefly

_ROUNDING = 1e-14  # of a unit form


class JointPairs(NamedTuple):
    """One row for each elementary joint on the way: c and t, each (n, 3)."""

    c: Array
    t: Array


class ChainPose(NamedTuple):
    """Position (3) [m] and attitude as a homogeneous vector-parameter [w : v] (4) of length one; c' = v/w unless w = 0,
    a half-turn."""

    position: Array
    attitude: Array


def joint_pairs(tree: Tree, q: Array, frame: str) -> JointPairs:
    """The pairs of the joints on the way to a frame; a universal joint is two rows, a planar one three. Infinite at
    half-turns."""
    pairs = [_pair(link.motion, q[link.coordinates]) for link in pairs_to(tree, frame)[0]]
    return JointPairs(np.stack([c for c, _ in pairs]), np.stack([t for _, t in pairs]))


def chain_pose(tree: Tree, c: Array, t: Array, frame: str) -> ChainPose:
    """The pose of a frame from the pairs of the joints on the way: p_i+1 = p_i + O(g_i) s_i, g_i = <c_1, ..., c_i>.
    (108)."""
    poses = _frames(tree, c, t, frame)
    g = np.array([1.0, 0.0, 0.0, 0.0])
    links, end = pairs_to(tree, frame)
    for k, link in enumerate(links):
        g = compose_homogeneous(_then(g, link.placement), np.concatenate([[1.0], c[k]]))
    return ChainPose(poses[-1].p, normalize_homogeneous.unchecked(_then(g, end)))


def vector_parameter_jacobian(tree: Tree, c: Array, t: Array, frame: str) -> Array:
    """J_V = (M_V; N_V), (6, m): the twist of a frame in the root's axes by the rates of the pairs, three columns for
    each part of a pair that moves, c before t. Mladenova (114)-(121)."""
    poses = _frames(tree, c, t, frame)
    links = pairs_to(tree, frame)[0]
    before = HERE
    blocks = []
    for k, link in enumerate(links):
        own = before.then(link.placement).R
        if link.motion.turns:
            N = own @ (2 / (1 + c[k] @ c[k]) * (np.eye(3) + hat(c[k])))
            blocks.append(np.concatenate([-hat(poses[-1].p - poses[k].p) @ N, N]))
        if link.motion.slides:
            blocks.append(np.concatenate([own, np.zeros((3, 3))]))
        before = poses[k]
    return np.concatenate(blocks, axis=1)


def attitude_jacobian(tree: Tree, c: Array, t: Array, frame: str) -> Array:
    """N_CV (3, m): the rate of the chain's own c' by those of the pairs; infinite at a half-turn. Mladenova (124)."""
    O = _frames(tree, c, t, frame)[-1].R
    return (O.T + np.eye(3)) / (1 + np.trace(O)) @ vector_parameter_jacobian(tree, c, t, frame)[3:]


def check_chain(tree: Tree, frame: str) -> Callable[..., None]:
    """A function that raises `SingularityError` for pairs whose composition is a half-turn: the `check` of kernels of
    `attitude_jacobian`."""
    n = len(pairs_to(tree, frame)[0])
    composed = kernel(f"({n},3),({n},3)->(4)", name="attitude")(lambda c, t: chain_pose(tree, c, t, frame).attitude)

    def check(c: ArrayLike, t: Array) -> None:
        h = np.asarray(composed(c, t))
        check_not_half_turn(np.where(np.abs(h) < _ROUNDING, 0.0, h))

    return check


def pair_rate_map(tree: Tree, q: Array, frame: str) -> Array:
    """The rates of the pairs by the velocities, (m, nv): with it J(q) = J_V dc/dq. Mladenova (113)."""
    blocks = []
    for link in pairs_to(tree, frame)[0]:
        own = _pair_rates(link.motion, q[link.coordinates])
        before = np.zeros((len(own), link.columns.start))
        after = np.zeros((len(own), tree.nv - link.columns.stop))
        blocks.append(np.concatenate([before, own, after], axis=1))
    return np.concatenate(blocks)


def _frames(tree: Tree, c: Array, t: Array, frame: str) -> list[Pose]:
    links, end = pairs_to(tree, frame)
    poses = [HERE]
    for k, link in enumerate(links):
        R = matrix_from_vector_parameter(c[k]) if link.motion.turns else np.eye(3)
        poses.append(poses[-1].then(link.placement).then(Pose(R, t[k] if link.motion.slides else np.zeros(3))))
    return [*poses[1:], poses[-1].then(end)]


def _then(g: Array, fixed: Pose) -> Array:
    return compose_homogeneous(g, quaternion_from_matrix.unchecked(fixed.R))


def _pair(motion: JointKind, q: Array) -> tuple[Any, Any]:
    none = np.zeros(3)
    attitude = motion.attitude
    if attitude is not None:
        turn = q[attitude.q]
        return turn[1:] / turn[0], none if attitude.position is None else q[attitude.position]
    t = motion.pose(q)[1] if motion.slides else none
    return np.asarray(_axis(motion)) * np.tan(q[0] / 2) if motion.turns else none, t


def _pair_rates(motion: JointKind, q: Array) -> Array:
    """(3 or 6, nv): the parts that move, c before t."""
    attitude = motion.attitude
    if attitude is not None:
        turn = q[attitude.q]
        c = turn[1:] / turn[0]
        turned = 0.5 * (np.eye(3) + np.outer(c, c) + hat(c))
        if attitude.position is None:
            return turned
        slid = matrix_from_quaternion.unchecked(turn)
        return np.concatenate([
            np.concatenate([np.zeros((3, 3)), turned], axis=1),
            np.concatenate([slid, np.zeros((3, 3))], axis=1)])
    axis = np.asarray(_axis(motion))
    screw = motion.screw
    parts = [axis * ((1 + np.tan(q[0] / 2) ** 2) / 2)] if motion.turns else []
    if motion.slides and screw is not None:
        parts.append(axis * screw.slide)
    return np.stack([np.concatenate(parts)], axis=1)


def _axis(motion: JointKind) -> Axis:
    return Z if motion.screw is None else motion.screw.axis


@dataclass(frozen=True, eq=False)
class PairLimits:
    """The set Q_ct: bounds of c and t, component by component, each (n, 3). Mladenova (109), (256)."""

    lower: JointPairs
    upper: JointPairs

    def contain(self, pairs: JointPairs) -> Array:
        """True where pairs (..., n, 3) are in the set, (...)."""
        inside = [(low <= x) & (x <= high) for low, x, high in zip(self.lower, pairs, self.upper, strict=True)]
        return np.all(inside[0] & inside[1], axis=(-2, -1))


def pair_limits(tree: Tree, frame: str) -> PairLimits:
    """The limits of the joints on the way to a frame as limits of their pairs: infinite where a turn may pass a
    half-turn or has none."""
    bounds = [
        _pair_bounds(link.motion, tree.lower[link.coordinates], tree.upper[link.coordinates])
        for link in pairs_to(tree, frame)[0]]
    low, high = (np.array([b[side] for b in bounds]) for side in (0, 1))
    return PairLimits(JointPairs(low[:, 0], low[:, 1]), JointPairs(high[:, 0], high[:, 1]))


def within_limits(tree: Tree, q: ArrayLike) -> Array:
    """True where configurations (..., nq) are in the set Q of the joint limits, (...). Mladenova (1)."""
    return np.all((tree.lower <= np.asarray(q)) & (np.asarray(q) <= tree.upper), axis=-1)


def _pair_bounds(motion: JointKind, lower: Array, upper: Array) -> tuple[Array, Array]:
    none = np.zeros((2, 3))
    attitude = motion.attitude
    if attitude is not None:
        low, high = none if attitude.position is None else (lower[attitude.position], upper[attitude.position])
        return np.array([np.full(3, -np.inf), low]), np.array([np.full(3, np.inf), high])
    free = lower[0] <= -np.pi or upper[0] >= np.pi
    ends = np.array([[-np.inf], [np.inf]]) if free else np.tan(np.array([lower, upper]) / 2)
    axis, turn, slide = motion.screw or Screw(Z, 0.0, 0.0)
    c = _along(np.asarray(axis), ends) if turn else none
    t = _along(np.asarray(axis) * slide, np.array([lower, upper])) if slide else none
    return np.array([c.min(axis=0), t.min(axis=0)]), np.array([c.max(axis=0), t.max(axis=0)])


def _along(axis: Array, ends: Array) -> Array:
    """The two ends times the axis; zero times infinity is zero."""
    return np.where(axis == 0, 0.0, np.where(axis == 0, 1.0, axis) * ends)


@shown_briefly
class JointLines(NamedTuple):
    """Rows, one for each axis: K and K*, each (n, 3)."""

    directions: Array
    moments: Array


def joint_lines(tree: Tree, q: Array, frame: str) -> JointLines:
    """The axes on the way to a frame; a spherical or a floating joint has three, those of the body that it moves."""
    pose = HERE
    directions = []
    moments = []
    for link in pairs_to(tree, frame)[0]:
        pose = pose.then(link.placement).then(Pose(*link.motion.pose(q[link.coordinates])))
        for axis in _axes(link.motion):
            directions.append(pose.R @ axis)
            moments.append(np.cross(pose.p, directions[-1]))
    return JointLines(np.stack(directions), np.stack(moments)) if directions else JointLines(
        np.zeros((0, 3)), np.zeros((0, 3)))


def dual_jacobian(tree: Tree, q: Array, frame: str) -> Array:
    """The twist (v; w) of a frame's body at the root's origin, in the root's axes, by (t'; d'): (6, 2n). Mladenova
    (163)."""
    K, moments = (rows.T for rows in joint_lines(tree, q, frame))
    return np.concatenate([np.concatenate([moments, K]), np.concatenate([K, np.zeros(K.shape)])], axis=1)


def active_columns(tree: Tree, frame: str) -> Array:
    """The constant matrix (2n, nv) from velocities to (t'; d'): `dual_jacobian @ active_columns` is the Jacobian at the
    root's origin."""
    links = pairs_to(tree, frame)[0]
    n = sum(len(_axes(link.motion)) for link in links)
    chosen = np.zeros((2 * n, tree.nv))
    axis = 0
    for link in links:
        count = len(_axes(link.motion))
        turning, sliding = _shares(link.motion)
        chosen[axis:axis + count, link.columns] = turning
        chosen[n + axis:n + axis + count, link.columns] = sliding
        axis += count
    return chosen


def _axes(motion: JointKind) -> Array:
    return np.eye(3) if motion.screw is None else np.array([motion.screw.axis])


def _shares(motion: JointKind) -> tuple[Any, Any]:
    """The shares of a joint's velocities in the turns about its axes and to the slides along them."""
    if motion.screw is None:
        directions = np.asarray(motion.subspace(motion.neutral))
        return directions[3:], directions[:3]
    return motion.screw.turn, motion.screw.slide
