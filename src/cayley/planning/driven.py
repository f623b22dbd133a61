"""Motions of all joints of a mechanism: how they follow from those of its independent joints, and from configurations.

    q      what the actuated joints give, the others by Newton's method from a guess: A x = -phi, S x = 0
    qd     R qd_a;  qdd, qddd: `cayley.kinematics.constraints.actuated_motion`
Where wheels roll, q is not a function of the actuated joints: it is integrated from the start of the motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from cayley.compiler.kernel import Kernel
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import GeometryError, PlanningError, SignatureError, UnsupportedError
from cayley.geometry.batch import numbers
from cayley.geometry.motions.homogeneous import pose_from_quaternion
from cayley.kinematics.constraints.actuated_motion import (
    actuated_acceleration_kernel,
    actuated_jerk_kernel,
    actuated_motion_kernel,
    closing_kernel,
)
from cayley.kinematics.constraints.closure_checks import ALONE, check_closed_state
from cayley.kinematics.constraints.rows import hold_positions
from cayley.kinematics.constraints.space import actuation
from cayley.kinematics.constraints.structure import constraint_structure
from cayley.kinematics.frame_kernels import rate_kernel
from cayley.kinematics.loops.following_inputs import follow_inputs
from cayley.model.configuration_space import moving_joints
from cayley.model.configurations import normalized, quaternion_places
from cayley.model.parts import Joint
from cayley.model.tree import Tree
from cayley.ordinary_equations import integrate
from cayley.planning.motion import Derivatives, Motion, its
from cayley.planning.poses.rotation_splines import pose_spline, rotation_spline
from cayley.planning.sequence import Standing, Together
from cayley.planning.splines.polynomials import Polynomials
from cayley.planning.splines.splines import cubic_spline
from cayley.planning.timing.limits import DrivenMechanism, MotionLimits, allowed_speed

_KNOTS = 513
_NEWTON = 3
_ROUNDING = 1e-12
_ARRIVES = 1e-6
_ROLLING = 1e-12  # relative and absolute tolerance of the way of wheels


@dataclass(frozen=True, eq=False, repr=False)
class DrivenMotion(Motion):
    """The motion of all joints of a mechanism with constraints whose actuated joints move as `drives` say; `guess` are
    polynomials near the coordinates of all joints. `driven_motion` makes one."""

    tree: Tree
    drives: Motion
    guess: Polynomials

    start = its("drives.start")
    end = its("drives.end")
    breaks = its("drives.breaks")
    nq = its("tree.nq")

    @cached_property
    def attitudes(self) -> tuple[int, ...]:
        return tuple(place.start for _, place in quaternion_places(self.tree))

    def _text(self, t: Scalar) -> Derivatives:
        return self._derivatives(self.guess._text(t)[0], self.drives._text(t))

    def _values(self, t: Array) -> Derivatives:
        return self._derivatives(self.guess._positions(t), self.drives._values(t))

    def _positions(self, t: Array) -> Array:
        return self._closed(self.guess._positions(t), self.drives._positions(t))

    def _derivatives(self, guess: Array, drives: Derivatives) -> Derivatives:
        q = self._closed(guess, drives[0])
        _, qd, qdd, qddd = drives
        return (q, self._rates[0](q, qd), self._rates[1](q, qd, qdd), self._rates[2](q, qd, qdd, qddd))

    @property
    def _rates(self) -> tuple[Kernel, ...]:
        return kept(self.tree, "rates of a driven motion", lambda: tuple(
            make(self.tree).unchecked
            for make in (actuated_motion_kernel, actuated_acceleration_kernel, actuated_jerk_kernel)))

    def _closed(self, guess: Array, drives: Array) -> Array:
        """The closed configurations near guesses (..., nq) with the actuated joints where they should be."""
        q = np.array(guess)
        q[..., list(coordinates(self.tree))] = drives
        for place in self.attitudes:
            turn = q[..., place:place + 4]
            q[..., place:place + 4] = turn / np.sqrt((turn * turn).sum(axis=-1))[..., None]
        if hold_positions(self.tree).any():
            step = kept(self.tree, "closing", lambda: closing_kernel(self.tree).unchecked)
            for _ in range(_NEWTON):
                q = step(q)
        return q


def coordinates(tree: Tree) -> tuple[int, ...]:
    """The places in q of the coordinates of the actuated joints, or an error that names one that has an orientation."""
    driven = set(tree.actuated_joints)
    turning = [joint.name for joint, _ in quaternion_places(tree) if joint.name in driven]
    if turning:
        raise UnsupportedError(f"joint {turning[0]!r} of {tree.name} is driven and has an orientation among its "
                               "coordinates: its way is a curve of rotations; name other joints with "
                               "`variants.with_actuated(...)`")
    return tuple(place for joint, own, _ in moving_joints(tree) if joint.name in driven
                 for place in range(own.start, own.stop))


def driving_tree(tree: Tree) -> Tree:
    """The tree with as many actuated joints as it has freedoms: itself if it is fully actuated; with joints from which
    all others follow, if it has more or fewer drives than that."""
    if not tree.is_constrained or actuation(tree).kind == "fully actuated":
        return tree
    independent = set(constraint_structure(tree).independent)
    chosen = []
    for joint, _, own in moving_joints(tree):
        places = set(range(own.start, own.stop))
        if places & independent and not places <= independent:
            raise UnsupportedError(f"the motion of {tree.name} does not follow from whole joints: {actuation(tree)}. "
                                   "Name as many joints as it has freedoms with `variants.with_actuated(...)`")
        chosen += [joint.name] if places & independent else []
    return tree.with_actuated(*chosen)


def driven_motion(machine: DrivenMechanism, drives: Motion, start: ArrayLike) -> Motion:
    """The motion of all joints of a mechanism whose actuated joints move as `drives` say, in the order of
    `machine.actuated_joints`: loops stay closed, mimic joints follow, wheels roll. The others begin as they are in the
    configuration `start` (nq), on whose branch the mechanism stays; an error says where the branch ends.

    >>> import cayley as cy
    >>> from cayley.planning import point_to_point
    >>> machine = cy.load("four_bar")
    >>> turn = driven_motion(machine, point_to_point([0.0], [2.0], duration=1.0), machine.neutral)
    >>> turn.nq, bool(abs(machine.loops.residual(turn(0.3).q)).max() < 1e-12)
    (3, True)
    """
    return driven(machine.tree, drives, start)


def driven(mechanism: Tree, drives: Motion, start: ArrayLike) -> Motion:
    """See `driven_motion`."""
    tree = driving_tree(mechanism)
    places = list(coordinates(tree))
    if drives.nq != len(places) or drives.attitudes:
        raise SignatureError(f"the motion has {drives.nq} coordinates; the joints from which the motion of {tree.name} "
                             f"follows, {', '.join(tree.actuated_joints)}, have {len(places)}")
    if not tree.is_constrained:
        raise UnsupportedError(f"no constraint ties joints of {tree.name} together: a motion of some joints says "
                               "nothing of the others; plan all of them")
    at = np.array(start, dtype=float)
    if at.shape != (tree.nq,):
        raise SignatureError(f"the configuration to start from must be ({tree.nq}), not {at.shape}")
    each = max(5, -(-_KNOTS // (len(drives.breaks) - 1)))
    guesses = []
    for a, b in pairwise(drives.breaks):
        t = np.linspace(a, b, each)
        q = (_followed if hold_positions(tree).all() else _rolled)(tree, drives, t, at)
        at = q[-1]
        inside = np.clip(t, a + drives.aside, b - drives.aside)
        guesses.append(_near(tree, t, q, drives.velocity(inside)))
    return DrivenMotion(tree, drives, joined(guesses))


def joined(pieces: Sequence[Polynomials]) -> Polynomials:
    """Polynomials, each of which begins when the one before ends, as one."""
    return Polynomials(np.concatenate([pieces[0].breaks, *[each.breaks[1:] for each in pieces[1:]]]),
                       np.concatenate([each.coefficients for each in pieces]))


def _near(tree: Tree, t: Array, q: Array, rates: Array) -> Polynomials:
    """Cubic polynomials through configurations (k, nq), with the rates that the actuated joints give them."""
    qd = kept(tree, "actuated_motion_kernel", lambda: actuated_motion_kernel(tree).unchecked)(q, rates)
    slopes = kept(tree, "rate", lambda: rate_kernel(tree))(q, qd)
    return Polynomials.of_scipy(CubicHermiteSpline(t, q, slopes))


def _followed(tree: Tree, drives: Motion, t: Array, at: Array) -> Array:
    """The closed configurations (k, nq) at times (k), on the branch of the first."""
    given = drives._positions(t)
    first = 0
    inputs = {}
    for name in tree.actuated_joints:
        count = tree.joints[tree.joint_number(name)].motion.nq
        inputs[name] = given[:, first] if count == 1 else given[:, first:first + count]
        first += count
    found = follow_inputs(tree, inputs, at)
    if found.status != "followed":
        where = f"at t = {t[found.reached]:.6g} s" if found.reached < len(t) else ""
        by = f" of {', '.join(map(repr, found.stopped_by))}" if found.stopped_by else ""
        raise PlanningError(f"{tree.name} does not follow its drives beyond {where}: {found.status}{by}; move the "
                            "motion away from there, or begin on another branch")
    return found.configuration


def _rolled(tree: Tree, drives: Motion, t: Array, at: Array) -> Array:
    """The configurations (k, nq) of a mechanism whose wheels roll, from the first on."""
    move = kept(tree, "actuated_motion_kernel", lambda: actuated_motion_kernel(tree).unchecked)
    rate = kept(tree, "rate", lambda: rate_kernel(tree))
    begin = at.copy()
    begin[list(coordinates(tree))] = drives._positions(t)[0]
    found = integrate(lambda s, q: rate(q, move(q, drives._at(min(max(s, t[0]), t[-1]))[1])), begin, t, rtol=_ROLLING,
                      atol=_ROLLING)
    if found.status == "failed":
        raise PlanningError(f"the wheels of {tree.name} do not follow the drives: {found.reason}")
    return normalized(tree, found.states)


def driven_between(first: ArrayLike, last: ArrayLike, limits: MotionLimits, duration: float | None,
                   plan: Callable[[Array, Array, MotionLimits], Motion]) -> Motion:
    """The motion of a mechanism with constraints between closed configurations (nq), whose actuated joints move by a
    plan; as much slower as the limits of the other joints and of the efforts ask, or an error if a duration is given.
    """
    machine = limits.machine
    assert machine is not None
    a, b = checked_waypoints(machine, [numbers(each, "a configuration") for each in (first, last)])
    places = list(coordinates(driving_tree(machine.tree)))
    drives = plan(a[places], b[places], limits.of_velocities(driving_tree(machine.tree).actuated_velocities))
    if not drives.duration:
        return Standing(a)
    motion = driven_motion(machine, drives, a)
    gap = np.abs(motion.position(motion.end) - b)
    if gap.max() > _ARRIVES * (1.0 + np.abs(b).max()):
        raise PlanningError(f"the drives lead {machine.tree.name} to another configuration than the last, coordinate "
                            f"{int(gap.argmax())} is {gap.max():.6g} off: it is on another branch, or turned around")
    worst = allowed_speed(motion, limits)
    if duration is not None and worst.speed < 1.0 - _ROUNDING:
        raise PlanningError(f"{duration:g} s are too short: joint {worst.joint} needs {duration / worst.speed:.9g} s "
                            f"for its limit of {worst.limit}")
    return motion if worst.speed >= 1.0 else motion.scaled(duration=motion.duration / worst.speed)


def through_configurations(tree: Tree, times: Array, q: Array, cuts: Sequence[int]) -> Motion:
    """The motion through configurations (k, nq) at times (k), smooth between those numbered `cuts`: cubic splines, of
    the actuated joints if others follow from them, and curves of rotations."""
    own = driving_tree(tree)
    if own.is_constrained:
        places = list(coordinates(own))
        drives = _splined(times, q[:, places], cuts)
        sides = [np.clip(times[a:b + 1], times[a] + drives.aside, times[b] - drives.aside) for a, b in pairwise(cuts)]
        guess = [_near(own, times[a:b + 1], q[a:b + 1], drives.velocity(t))
                 for (a, b), t in zip(pairwise(cuts), sides, strict=True)]
        return DrivenMotion(own, drives, joined(guess))
    if tree.nq == tree.nv:
        return _splined(times, q, cuts)
    sections = [Together(tuple(_curve(joint, times[a:b + 1], q[a:b + 1, place])
                               for joint, place, _ in moving_joints(tree))) for a, b in pairwise(cuts)]
    return sections[0].then(*sections[1:]) if len(sections) > 1 else sections[0]


def _splined(times: Array, points: Array, cuts: Sequence[int]) -> Polynomials:
    return joined([cubic_spline(times[a:b + 1], points[a:b + 1], "not-a-knot").raised(3) for a, b in pairwise(cuts)])


def _curve(joint: Joint, times: Array, q: Array) -> Motion:
    if joint.motion.attitude is None:
        return cubic_spline(times, q, "not-a-knot")
    if q.shape[1] == 4:
        return rotation_spline(times, q, "not-a-knot")
    if q.shape[1] == 7:
        return pose_spline(times, pose_from_quaternion(q[:, 3:], q[:, :3]), "not-a-knot")
    raise UnsupportedError(f"no curve is known for the coordinates of joint {joint.name!r}, which is "
                           f"{joint.motion.word}")


def checked_waypoints(machine: DrivenMechanism, points: ArrayLike) -> Array:
    """Closed configurations (k, nq) of a mechanism with constraints, or an error that names what is open."""
    tree = machine.tree
    q = np.asarray(points, dtype=float)
    if q.ndim != 2 or q.shape[1] != tree.nq:
        raise SignatureError(f"configurations of {tree.name} must be (k, {tree.nq}), not {q.shape}")
    check_closed_state(tree, q, np.zeros((len(q), tree.nv)), 0.0, ALONE)
    return q


def check_keeps_constraints(tree: Tree, motion: Motion) -> None:
    """Raise unless a motion has the coordinates of a mechanism and keeps its constraints."""
    if motion.nq != tree.nq:
        driving = len(tree.actuated_velocities)
        cure = (": of a motion of its actuated joints `driven_motion(machine, motion, start)` makes one of all"
                if tree.is_constrained and motion.nq == driving else "")
        raise SignatureError(f"the motion has {motion.nq} coordinates, {tree.name} has {tree.nq}{cure}")
    if not tree.is_constrained:
        return
    t = np.linspace(motion.start + motion.aside, motion.end - motion.aside, 33)
    q, qd, *_ = motion._values(t)
    try:
        check_closed_state(tree, q, qd, 0.0, ALONE)
    except GeometryError as error:
        raise PlanningError(f"the motion does not keep the constraints of {tree.name}: {error}. `driven_motion` makes "
                            "the motion of all joints from that of the actuated ones") from error
