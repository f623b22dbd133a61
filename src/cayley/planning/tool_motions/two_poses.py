"""From one pose to another: both by inverse kinematics on one posture, then from rest to rest in joint coordinates.
Velocities and accelerations of joints and frame are zero at both ends. On one posture the way does not have to pass
through a singular one. Source: Ruggiu 5.1; spec S2-81."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cayley.compiler.solving.rounding import least_singular, significant
from cayley.compiler.typing import Array, ArrayLike, FrameName
from cayley.errors import PlanningError, SignatureError, SingularityError, UnreachableError, UnsupportedError
from cayley.geometry.batch import numbers
from cayley.geometry.rotations.quaternion import matrix_from_quaternion
from cayley.kinematics.frame_kernels import pose_matrix
from cayley.kinematics.inverse import inverse_kinematics
from cayley.kinematics.inverse.analytic import AllSolutions, all_solutions
from cayley.kinematics.inverse.bounds import bounds_of
from cayley.kinematics.jacobians.general_jacobian import general_jacobian
from cayley.kinematics.jacobians.velocity import acceleration
from cayley.model.tree import Tree
from cayley.planning.driven import coordinates, driven, driving_tree
from cayley.planning.motion import Motion, MotionState, positive_seconds
from cayley.planning.poses.vector_parameter_curves import rotation_cubic, rotation_cubics
from cayley.planning.profiles.jerk_limits import checked_states
from cayley.planning.profiles.two_points import point_to_point
from cayley.planning.splines.polynomials import Polynomials, checked_breaks, through_knots
from cayley.planning.splines.splines import At, polynomial_through, quintic_spline
from cayley.planning.timing.limits import DrivenMechanism, MotionLimits, checked_configuration, tree_of


class JointPair(NamedTuple):
    """The configurations (nq) at both poses, and the posture that both are in ("" where it has no name)."""

    first: Array
    last: Array
    posture: str


def pick_and_place(machine: DrivenMechanism, first: ArrayLike, last: ArrayLike, frame: str, *, posture: str = "",
                   start: ArrayLike | None = None, law: str = "3-4-5", duration: float | None = None,
                   limits: MotionLimits | None = None) -> Motion:
    """The motion that brings `frame` from rest at one pose (4, 4) to rest at another; `joint_pair` chooses the
    configurations, and law, duration and limits are as for `point_to_point`. Without limits, those of the model hold.

    >>> import cayley as cy
    >>> arm = cy.load("puma560")
    >>> poses = arm.pose([[0.1, -0.6, 0.4, 0.2, 0.5, -0.3], [0.9, -0.4, 0.1, 0.5, 0.8, 0.0]], "tool")
    >>> move = pick_and_place(arm, *poses, "tool", posture="shoulder back, elbow up", duration=1.2)
    >>> bool(abs(arm.pose(move(1.2).q, "tool") - poses[1]).max() < 1e-12)
    True
    """
    found = joint_pair(machine, first, last, frame, posture=posture, start=start)
    return point_to_point(found.first, found.last, law=law, duration=duration,
                          limits=limits or (None if duration else MotionLimits.of(machine)))


def joint_pair(machine: DrivenMechanism, first: ArrayLike, last: ArrayLike, frame: str, *, posture: str = "",
               start: ArrayLike | None = None) -> JointPair:
    """Configurations within the limits of the joints at two poses (4, 4), on one posture: the one whose name holds the
    words `posture`, or that with the shortest way, which joint by joint is that of the farthest moved. Arms that have
    no closed form are searched from `start` (nq), and then from what was found at the first pose."""
    poses = np.array(first, dtype=float), np.array(last, dtype=float)
    try:
        found = all_solutions(machine.tree, poses[0], frame, reference=start)
    except UnsupportedError:
        if posture:
            raise
        return _searched(machine, poses, frame, start)
    pairs = _on_one_posture(machine, found, poses, frame)
    if not pairs:
        raise UnreachableError(f"no posture of {machine.tree.name} reaches both poses of {frame!r} within the limits "
                               "of its joints")
    words = [word.strip() for word in posture.split(",") if word.strip()]
    chosen = [pair for pair in pairs if all(word in pair.posture.split(", ") for word in words)]
    if not chosen:
        raise PlanningError(f"no posture {posture!r} of {machine.tree.name} reaches both poses within the limits of "
                            f"its joints; these do: {'; '.join(pair.posture for pair in pairs)}")
    return min(chosen, key=lambda pair: np.abs(pair.last - pair.first).max())


def _on_one_posture(machine: DrivenMechanism, found: AllSolutions, poses: tuple[Array, Array],
                    frame: str) -> list[JointPair]:
    pairs = []
    for k in np.flatnonzero(found.found & found.within_limits):
        there = all_solutions(machine.tree, poses[1], frame, reference=found.q[k])
        if there.found[k] and there.within_limits[k]:
            pairs.append(JointPair(found.q[k], there.q[k], found.branches[k]))
    return pairs


def _searched(machine: DrivenMechanism, poses: tuple[Array, Array], frame: str, start: ArrayLike | None) -> JointPair:
    before = start
    both = []
    for place, pose in zip(("first", "last"), poses, strict=True):
        found = inverse_kinematics(machine.tree, pose, frame, start=before)
        if not found.solved:
            raise UnreachableError(f"no configuration of {machine.tree.name} found that brings {frame!r} to the "
                                   f"{place} pose: {found.reason}")
        before = found.q
        both.append(found.q)
    return JointPair(both[0], both[1], "")


_MISSED = 1e-9  # what may be missing of asked rates
_NEAR = 1e-6  # the same, of rates along curves
_KNOTS = 32  # between two poses


def joint_end_state(machine: DrivenMechanism, q: ArrayLike, frame: str, *, velocity: ArrayLike = (0.0,) * 6,
                    acceleration: ArrayLike = (0.0,) * 6) -> MotionState:
    """The state at q (n) in which the frame has the twist (v; w) `velocity` and its rate (v'; w') `acceleration`, (6)
    each, in the root's axes at the origin of the frame. With fewer joints than six they must be possible; with more,
    the joints move as little as they can."""
    at = checked_configuration(q, "the configuration", machine.tree.nq)
    V = _six(velocity, "the velocity")
    A = _six(acceleration, "the acceleration")
    return MotionState(at, *_rates(machine.tree, at, frame, V, A, _MISSED))


def between_states(first: MotionState, last: MotionState, duration: float) -> Polynomials:
    """The polynomial of degree five for each joint with these positions, velocities and accelerations at its ends."""
    T = positive_seconds(duration)
    return through_knots(np.array([0.0, T]), *np.stack(checked_states(first, last), axis=1))


def _six(values: ArrayLike, what: str) -> Array:
    found = numbers(values, what)
    if found.shape != (6,) or not np.isfinite(found).all():
        raise SignatureError(f"{what} of a frame is (v; w), six finite numbers; given was the shape {found.shape}")
    return found


def _rates(tree: Tree, q: Array, frame: str, velocity: Array, rate: Array, slack: float) -> tuple[Array, Array]:
    """The least joint velocities and accelerations (nv) that give a frame its twist and the rate of that."""
    J = np.asarray(general_jacobian(tree, q, frame, axes="world"), dtype=float)
    qd = _solved(tree, J, velocity, frame, "velocity", slack)
    carried = np.asarray(acceleration(tree, q, qd, np.zeros(tree.nv), frame, axes="world"), dtype=float)
    return qd, _solved(tree, J, rate - carried, frame, "acceleration", slack)


def _solved(tree: Tree, J: Array, wanted: Array, frame: str, what: str, slack: float) -> Array:
    found, _, _, values = np.linalg.lstsq(J, wanted, rcond=least_singular(tree.nv))
    missed = np.abs(J @ found - wanted).max()
    if missed > slack * max(1.0, np.abs(wanted).max()):
        why = "it has too few joints" if significant(values, tree.nv).all() else "the posture is singular"
        raise SingularityError(f"no joint {what} of {tree.name} gives {frame!r} the asked one, the nearest misses it "
                               f"by {missed:.3g}: {why}")
    return found


def follow_tool(tree: Tree, poses: Array, times: Array, frame: str, start: Array) -> Motion:
    """The motion of an arm from a configuration (nq), whose tool is then at poses (k, 4, 4) in the root's frame, at
    times (k + 1) [s], the first of them that of the start; at rest at both ends. Its rotations go on cubics in
    vector-parameters, its point on polynomials, and its joints through knots with the rates that the tool has."""
    here = np.asarray(pose_matrix(tree, start, frame, relative_to="world"), dtype=float)
    goals = np.concatenate([here[None], poses])
    t = np.concatenate([*[np.linspace(a, b, _KNOTS, endpoint=False) for a, b in pairwise(times)], times[-1:]])
    R, w, wd = (rotation_cubic if len(goals) == 2 else rotation_cubics)(times, goals[:, :3, :3])(t)
    p, v, vd = quintic_spline(times, goals[:, :3, 3])(t)
    O = np.asarray(matrix_from_quaternion(R))
    between = np.tile(np.eye(4), (len(t), 1, 1))
    between[:, :3, :3], between[:, :3, 3] = O, p
    words = [f"the pose at t = {instant:.6g} s" for instant in t[1:]]
    q = np.concatenate([start[None], _configurations(tree, between[1:], frame, start, 1e-12, words, restarts=0)])
    twists, rates = (np.concatenate([x, np.einsum("kij,kj->ki", O, y)], axis=1) for x, y in ((v, w), (vd, wd)))
    found = [_rates(tree, *each, _NEAR) for each in zip(q, [frame] * len(t), twists, rates, strict=True)]
    return through_knots(t, q, np.array([qd for qd, _ in found]), np.array([qdd for _, qdd in found]))


_TURN = 2.0 * np.pi


def motion_through_poses(mechanism: DrivenMechanism | Tree, poses: ArrayLike, frame: FrameName, times: ArrayLike, *,
                         start: ArrayLike | None = None, tolerance: float = 1e-12) -> Motion:
    """The motion that brings a frame of a mechanism to poses (k, 4, 4) in the root's frame at times (k) [s], at rest at
    both ends: one polynomial of degree k + 3 for each joint, or for each actuated joint of a machine with loops. Each
    pose is solved from the configuration of the one before it, the first from `start` (nq), so that the arm keeps its
    posture; turns go the shorter way where limits allow it.

    >>> import cayley as cy
    >>> arm = cy.load("ur5")
    >>> q = [[0.1, -1.2, 1.0, 0.2, 0.7, 0.0], [0.2, -1.1, 1.0, 0.1, 0.7, 0.1], [0.3, -1.2, 1.1, 0.2, 0.8, 0.0]]
    >>> move = motion_through_poses(arm, arm.pose(q, "tool"), "tool", [0.0, 0.4, 1.0], start=q[0])
    >>> bool(abs(arm.pose(move(0.4).q, "tool") - arm.pose(q[1], "tool")).max() < 1e-12)
    True
    """
    tree = tree_of(mechanism)
    if tree.nq != tree.nv and not tree.is_constrained:
        raise UnsupportedError(f"{tree.name} has joints with quaternions, which polynomials cannot interpolate: plan "
                               f"their rotations with `rotation_spline`")
    goals = np.asarray(poses, dtype=float)
    instants = np.asarray(times, dtype=float)
    if goals.ndim != 3 or goals.shape[1:] != (4, 4) or instants.shape != goals.shape[:1] or len(goals) < 2:
        raise SignatureError(f"two poses or more (k, 4, 4) have as many times (k); given were the shapes {goals.shape} "
                             f"and {instants.shape}")
    q = _configurations(tree, goals, frame, start, tolerance, [f"pose {k}" for k in range(len(goals))])
    at_rest = (0, len(goals) - 1)
    checked_breaks(instants)
    places = list(coordinates(driving_tree(tree))) if tree.is_constrained else list(range(tree.nq))
    found = polynomial_through([At(t, row, 0.0, 0.0) if k in at_rest else At(t, row)
                                for k, (t, row) in enumerate(zip(instants, q[:, places], strict=True))])
    return driven(tree, found, q[0]) if tree.is_constrained else found


def _configurations(tree: Tree, poses: Array, frame: FrameName, start: ArrayLike | None, tolerance: float,
                    names: Sequence[str], restarts: int = 100) -> Array:
    """The configurations (k, nq) for the poses, each found from the one before it, by whole turns next to it."""
    bounds = bounds_of(tree, frame, limits=True)
    before = start
    found: list[Array] = []
    for pose, name in zip(poses, names, strict=True):
        result = inverse_kinematics(tree, pose, frame, start=before, tolerance=tolerance, restarts=restarts)
        if not result.solved:
            raise UnreachableError(f"{name} is not reached by {frame!r} of {tree.name}: {result.reason}, "
                                   f"{result.residual:.2g} away; move it, or begin at another configuration")
        q = result.q
        if before is not None and (found or restarts == 0):
            nearer = np.where(bounds.turns, q - _TURN * np.round((q - before) / _TURN), q)
            q = np.where((nearer >= bounds.lower) & (nearer <= bounds.upper), nearer, q)
        before = q
        found.append(q)
    return np.array(found)
