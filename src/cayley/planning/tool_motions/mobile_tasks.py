"""A platform on wheels that carries an arm: a program along segments and arcs with fixed steering to the hand-over
pose, and there the arm's task, as one motion of one mechanism.

    xd = v cos(theta),   yd = v sin(theta),   thetad = v tan(phi) / L        the program: v and phi in time
    A qd = 0                                  what all other joints of the platform do, wheels and castors
    O(t), p(t)                                the tool: cubics in vector-parameters from knot to knot, polynomials
    (v; w) = J qd                             what the arm's joints do
Source: Mladenova 9.1, 9.2.3, completed as in spec R-65."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.solving.rounding import least_singular
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ConventionError, ModelError, PlanningError, SingularityError, UnreachableError, shown
from cayley.geometry.pose import Pose
from cayley.kinematics.constraints.rows import constraint_jacobian, drift_kernel, row_names
from cayley.kinematics.frame_kernels import pose_matrix
from cayley.machines.rolling.steered_path import SteeredProgram
from cayley.model.joint_kinds import JointKind as Fixed
from cayley.model.parts import Limits
from cayley.model.tree import Tree
from cayley.ordinary_equations import integrate
from cayley.planning.motion import Motion
from cayley.planning.splines.polynomials import through_knots
from cayley.planning.timing.gripper_limits import GripperLimits, GripperTiming, Load, gripper_timing
from cayley.planning.timing.limits import DrivenMechanism, tree_of
from cayley.planning.tool_motions.two_poses import follow_tool

_KNOTS = 48  # of a phase of the program
_ALLOWED = 1e-9  # of the velocities: what constraints may be off
_ROLLED = 1e-10  # relative and absolute tolerance of the way of wheels


@dataclass(frozen=True, eq=False)
class PlatformTask:
    """The task of a mechanism `tree`: the platform's `program`, and the motion of the joints `arm_joints`, which begins
    when the platform has arrived. `motion` is that of all coordinates; `hand_over` when the arm takes over [s]."""

    tree: Tree
    program: SteeredProgram
    arm: Motion | None
    arm_joints: tuple[str, ...]
    start: Array
    base: str
    steering: str | None
    timing: GripperTiming | None = None  # what limits the arm's speed, of a task `within` limits

    @property
    def hand_over(self) -> float:
        return self.program.duration

    @property
    def duration(self) -> float:
        return self.hand_over if self.arm is None else self.arm.end

    @property
    def hand_over_pose(self) -> Array:
        """x, y and heading of the platform where the arm takes over."""
        return self.program.path.end

    @property
    def arm_places(self) -> Array:
        """The places of the arm's joints in q, and in qd."""
        return np.array([self.tree.q_slices[self.tree.joint_number(name)].start for name in self.arm_joints], dtype=int)

    @cached_property
    def drive(self) -> Motion:
        """The motion of all coordinates until the hand-over."""
        return _driven(self.tree, self.program, self.start, self.base, self.steering)

    @cached_property
    def motion(self) -> Motion:
        """The motion of all coordinates, from the start to the end of the arm's task."""
        if self.arm is None:
            return self.drive
        t = self.arm.breaks
        whole = np.zeros((3, len(t), self.tree.nv))
        whole[0] = self.drive(self.hand_over).q
        whole[:, :, self.arm_places] = self.arm(t)
        return self.drive.then(through_knots(t, *whole))

    def within(self, limits: GripperLimits, *, frame: str = "tool", load: Load | None = None) -> PlatformTask:
        """The same task with the arm as fast as the limits of its gripper allow, or as slow as they ask."""
        if self.arm is None:
            raise ConventionError(f"the arm of {self.tree.name} has no task whose speed could be limited")
        standing = standing_arm(self.tree, self.drive(self.hand_over).q, self.arm_joints)
        timing = gripper_timing(standing, self.arm, frame, limits, load=load)
        return replace(self, arm=timing.motion, timing=timing)


def platform_task(mechanism: DrivenMechanism | Tree, program: SteeredProgram, *, start: ArrayLike | None = None,
                  poses: ArrayLike | None = None, times: ArrayLike | None = None, frame: str = "tool",
                  relative_to: str = "world", arm: Sequence[str] | None = None, base: str = "base",
                  steering: str | None = "steering") -> PlatformTask:
    """The task of a platform with an arm: first the program, then the tool through poses.

    program      where the platform drives, and when; its path must start where the platform is in `start` (nq)
    poses        (k, 4, 4) of the tool, after that at the hand-over, at `times` (k) [s] after it, at rest at its ends;
                 in the root's frame, or `relative_to` another, as the platform's own
    arm          the joints that the arm moves with, and that are held while it drives; left out: those between the
                 platform and the `frame`
    base         the planar joint of the platform, whose x is ahead; `steering`: the joint of its steered wheel, None if
                 it has none, as a cart that steers with two driven wheels

    `UnreachableError` where the arm does not reach a pose, `PlanningError` where the wheels do not allow the program.
    """
    tree = tree_of(mechanism)
    q = tree.neutral if start is None else np.array(start, dtype=float)
    if q.shape != (tree.nq,) or not np.isfinite(q).all():
        raise ConventionError(f"a platform task of {tree.name} starts from one configuration of {tree.nq} finite "
                              f"numbers, not {shown(start)}")
    _check_start(tree, program, q, base, steering)
    names = tuple(arm) if arm is not None else _between(tree, base, frame)
    for name in names:
        if tree.joints[tree.joint_number(name)].motion.nq != 1:
            raise ModelError(f"joint {name!r} of the arm of {tree.name} has more than one coordinate, or none")
    task = PlatformTask(tree, program, None, names, q, base, steering)
    if poses is None:
        return task
    if not names:
        raise ModelError(f"no joints of {tree.name} are between its platform and {frame!r}: say which the arm has")
    there = task.drive(program.duration).q
    return replace(task, arm=_arm_motion(tree, there, names, poses, times, frame, relative_to, program.duration))


# The platform


def _check_start(tree: Tree, program: SteeredProgram, q: Array, base: str, steering: str | None) -> None:
    joint = tree.joints[tree.joint_number(base)]
    if joint.motion.word != "planar":
        raise ConventionError(f"the platform of {tree.name} moves by a planar joint, and {base!r} is "
                              f"{joint.motion.word}")
    place = tree.q_slices[tree.joint_number(base)]
    off = q[place] - np.asarray(program.path.start)
    if np.abs(off).max() > _ALLOWED:
        raise PlanningError(f"the path starts at {program.path.start}, and {base!r} of {tree.name} at "
                            f"{np.round(q[place], 6).tolist()}: begin the path there")
    if steering is not None:
        at = tree.q_slices[tree.joint_number(steering)]
        if abs(q[at.start] - program.path.pieces[0][1]) > _ALLOWED:
            raise PlanningError(f"the path starts with {steering!r} at {program.path.pieces[0][1]:.6g} rad, and it is "
                                f"at {q[at.start]:.6g} rad: start from there")
        limits = tree.joints[tree.joint_number(steering)].limits
        for number, (_, angle) in enumerate(program.path.pieces):
            if not limits.lower[0] <= angle <= limits.upper[0]:
                raise UnreachableError(f"piece {number} of the path holds {steering!r} at {angle:.6g} rad, beyond its "
                                       f"limits {limits.lower[0]:.6g} and {limits.upper[0]:.6g}")


def _driven(tree: Tree, program: SteeredProgram, start: Array, base: str, steering: str | None) -> Motion:
    """The motion of all coordinates along the program: base and steering as it says, wheels and castors as they roll,
    integrated, and all that no wheel needs at rest."""
    if tree.nq != tree.nv:
        raise ModelError(f"{tree.name} has joints with quaternions, which polynomials cannot interpolate")
    rolling = _Rolling(tree, program, base, steering)
    t, q = [0.0], [start]
    for a, b in pairwise(program.phase_times):
        knots = np.linspace(a, b, _KNOTS + 1)
        found = integrate(lambda s, x: rolling.motion(s, rolling.placed(s, x))[0], q[-1], knots, rtol=_ROLLED,
                          atol=_ROLLED).checked(f"the wheels of {tree.name}")
        t += knots[1:].tolist()
        q += [rolling.placed(*each) for each in zip(knots[1:], found.states[1:], strict=True)]
    rates = [np.array(part) for part in zip(*map(rolling.motion, t, q), strict=True)]
    return through_knots(np.array(t), np.array(q), *rates)


@dataclass(frozen=True, eq=False)
class _Rolling:
    """The rates of all joints while the platform follows its program."""

    tree: Tree
    program: SteeredProgram
    base: str
    steering: str | None

    @cached_property
    def _places(self) -> list[int]:
        named = [self.tree.joint_number(name) for name in (self.base, self.steering) if name is not None]
        return [k for number in named for k in range(self.tree.nq)[self.tree.q_slices[number]]]

    def placed(self, t: float, q: Array) -> Array:
        """The configuration with base and steering where the program has them."""
        placed = q.copy()
        placed[self._places] = [*self.program.pose(t), self.program(t).steering][:len(self._places)]
        return placed

    def motion(self, t: float, q: Array) -> tuple[Array, Array]:
        """Velocities and accelerations (nv)."""
        told = self.program(t)
        heading = q[self._places[2]]
        bend = np.tan(told.steering) / self.program.path.wheelbase
        along = np.array([np.cos(heading), np.sin(heading), bend])
        across = np.array([-np.sin(heading), np.cos(heading), 0.0])
        turned = told.roll_acceleration * along + told.roll_rate**2 * bend * across
        A = constraint_jacobian(self.tree, q)
        qd = self._followed(A, [*(told.roll_rate * along), told.steering_rate], np.zeros(len(A)), t)
        drift = np.asarray(kept(self.tree, "constraint drift", lambda: drift_kernel(self.tree))(q, qd))
        return qd, self._followed(A, [*turned, told.steering_acceleration], drift, t)

    def _followed(self, A: Array, given: list[Scalar], drift: Array, t: float) -> Array:
        """x (nv) of A x + drift = 0 with what is given of base and steering, the others as small as they can be."""
        x = np.zeros(self.tree.nv)
        x[self._places] = given[:len(self._places)]
        free = np.delete(np.arange(len(x)), self._places)
        size = np.abs(x).max() + np.abs(drift).max(initial=0.0)
        x[free] = np.linalg.lstsq(A[:, free], -A @ x - drift, rcond=least_singular(len(x)))[0]
        left = np.abs(A @ x + drift)
        if left.max(initial=0.0) > _ALLOWED * (1.0 + size):
            row = row_names(self.tree)[int(np.argmax(left))]
            raise PlanningError(f"{row.constraint!r} of {self.tree.name} does not allow the program at t = {t:.6g} s "
                                f"({row.holds}): the wheelbase of the path, {self.program.path.wheelbase:g} m, or the "
                                "axes of the platform are other ones")
        return x


# The arm


def _between(tree: Tree, base: str, frame: str) -> tuple[str, ...]:
    """The moving joints from the platform to a frame; none if there is no such frame, or it is on the platform."""
    if frame not in (*tree.frame_names, *[body.name for body in tree.bodies]):
        return ()
    platform = tree.body_number(tree.joints[tree.joint_number(base)].child)
    path = [tree.joints[number] for number in tree.path(tree.body_number(tree.frame(frame).body))]
    if platform not in [tree.body_number(joint.child) for joint in path]:
        return ()
    return tuple(joint.name for joint in path if joint.motion.nv and joint.name != base)


def standing_arm(tree: Tree, q: Array, joints: Sequence[str]) -> Tree:
    """The arm on the platform where it stands: all other joints fixed where they are in q (nq), no constraints."""
    fixed = []
    for number, joint in enumerate(tree.joints):
        if joint.name not in joints and joint.motion.nv:
            pose = Pose(*joint.motion.pose(q[tree.q_slices[number]])).matrix
            joint = replace(joint, motion=Fixed(), limits=Limits(), mimic=None, placement=joint.placement @ pose)
        fixed.append(joint)
    return replace(tree.spanning_tree(), joints=tuple(fixed))


def _arm_motion(tree: Tree, q: Array, joints: tuple[str, ...], poses: ArrayLike, times: ArrayLike | None, frame: str,
                relative_to: str, hand_over: float) -> Motion:
    standing = standing_arm(tree, q, joints)
    places = [tree.q_slices[tree.joint_number(name)] for name in joints]
    own = np.concatenate([q[place] for place in places])
    goals = np.asarray(poses, dtype=float)
    after = np.asarray([] if times is None else times, dtype=float)
    if goals.ndim != 3 or goals.shape[1:] != (4, 4) or after.shape != goals.shape[:1] or not len(goals):
        raise ConventionError(f"the arm's task must have poses (k, 4, 4) and as many times (k) after the hand-over, "
                              f"not {goals.shape} and {after.shape}")
    if relative_to != "world":
        goals = np.asarray(pose_matrix(standing, own, relative_to, relative_to="world"), dtype=float) @ goals
    if not (after > 0).all():
        raise PlanningError(f"the arm's poses are after the hand-over: their times are positive, not {after.tolist()}")
    try:
        return follow_tool(standing, goals, np.concatenate([[0.0], after]), frame, own).shifted(hand_over)
    except (UnreachableError, SingularityError) as error:
        raise type(error)(f"after the hand-over at {np.round(q[:3], 4).tolist()}: {error}") from error
