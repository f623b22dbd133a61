"""Joint motions that lead a tool along a path in space without change of posture. Obstacles to it are reported before
anything moves.

    qd = J^+ (G e) + (1 - J^+ J) qd0      qd0 = k grad w for a w that is to grow
The path is solved at places along it (`continuous_posture`), with cubic splines of the joints between them, over its
length s; places are added until the tool is nowhere farther from its path than a tolerance. What comes out is a
`Motion` whose time is s, for `timed` or `time_optimal`. Source: Ruggiu (2.72)-(2.76), corrected as in spec E-31."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError, UnreachableError, UnsupportedError, shown
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.inverse.bounds import bounds_of
from cayley.kinematics.inverse.continuous import PostureResult, continuous_posture
from cayley.kinematics.inverse.goal import Task
from cayley.kinematics.inverse.tracking import follow_path, moment_kernel, resolved_rates
from cayley.kinematics.singular.redundancy import manipulability_gradient
from cayley.model.tree import Tree
from cayley.planning.driven import through_configurations
from cayley.planning.motion import Motion
from cayley.planning.poses.pose_paths import PosePath, pose_path
from cayley.planning.profiles.two_points import point_to_point
from cayley.planning.sequence import Composed
from cayley.planning.splines.splines import cubic_spline
from cayley.planning.timing.limits import DrivenMechanism, checked_configuration
from cayley.showing import brief

_FIRST = 33
_MOST = 4097
_HALVINGS = 24
_SHARP = 1e-5  # of the length: places that had to be so close are about a corner
_SHARE = 0.1  # of the tolerance: where the tool is farther off than this there are more places, if there must be any
_ALMOST = 0.02  # of the largest that the smallest singular value has on the way


@dataclass(frozen=True, eq=False)
class FollowedPath:
    """The motion of joints that lead a tool along a `path`: the `posture` at `places` (k), the deviation of the tool
    between them, metres and radians together, and the tolerance."""

    path: PosePath
    places: Array
    posture: PostureResult
    deviation: float
    tree: Tree
    tolerance: float = np.inf

    __repr__ = brief

    @property
    def status(self) -> str:
        """"followed", "lost" if the posture could not be continued to the end of the path, or "coarse" if the tool is
        farther from it than the tolerance."""
        return "coarse" if self._is_coarse else self.posture.status

    @property
    def _is_coarse(self) -> bool:
        return self.deviation > self.tolerance

    @cached_property
    def joints(self) -> Motion:
        """The joints along the path, over its length s, smooth between its corners; an error if the posture is lost on
        the way. Of a mechanism with constraints it is the motion of all joints that follows from cubic splines of the
        actuated ones: loops stay closed."""
        if self.posture.reason:
            raise UnreachableError(f"the path is not followed to its end: {self.complaints[0]}")
        cuts = np.searchsorted(self.places, self._sections).tolist()
        return through_configurations(self.tree, self.places, self.posture.q, cuts)

    @property
    def _sections(self) -> list[float]:
        return [0.0, *self.path.corners, self.path.length]

    def timed(self, duration: float, law: str = "3-4-5") -> Motion:
        """The motion along the whole path in a duration [s], from rest to rest by a law of `point_to_point`, which at
        each corner of the path comes to rest as well."""
        sections = [point_to_point([a], [b], law=law, duration=duration * (b - a) / self.path.length)
                    for a, b in pairwise(self._sections)]
        return Composed(self.joints, sections[0].then(*sections[1:]) if len(sections) > 1 else sections[0])

    @property
    def complaints(self) -> tuple[str, ...]:
        """The problems of this path, in sentences: a posture that is lost, postures that are almost singular, joints
        beyond their limits. Empty if there are none."""
        reached = self.posture.reached
        said = []
        if self.posture.reason:
            at = self.places[max(reached - 1, 0)]
            said.append(f"from s = {at:.6g} on {self.posture.reason}")
        if self._is_coarse:
            said.append(f"the tool is {self.deviation:.3g} off the path between {len(self.places)} places, more than "
                        f"the tolerance of {self.tolerance:.3g}: if the path has a corner, make it of two with `then`")
        steps = np.diff(self.places)
        if steps.min() < _SHARP * self.path.length:
            said.append(f"at s = {self.places[int(steps.argmin())]:.6g} the joints turn sharply: if the path has a "
                        "corner there, make it of two with `then`, between which the tool stops")
        values = self.posture.smallest_singular_value[:reached]
        if reached and values.min() < _ALMOST * values.max():
            at = self.places[int(np.argmin(values))]
            said.append(f"at s = {at:.6g} the posture is almost singular (smallest singular value {values.min():.3g}, "
                        f"elsewhere up to {values.max():.3g}): joints move {values.max() / values.min():.3g} times as "
                        "far there")
        said += [f"{name} leaves its limits from s = {self.places[first]:.6g} on, by {most:.3g} at most"
                 for name, first, most in self.posture.limits_crossed]
        return tuple(said)


def follow(machine: DrivenMechanism, path: PosePath | Motion, frame: str, start: ArrayLike, *, tolerance: float = 1e-6,
           task: str | Sequence[bool] = "pose", secondary: Callable[[Array], Array] | None = None) -> FollowedPath:
    """Lead a frame along a path without change of posture, from `start` (nq), a configuration near its beginning, with
    deviations within the tolerance, metres and radians together. See `FollowedPath`. Of a motion of poses, as
    `pose_spline` makes, s is the time, and the `joints` are a motion as it is. What a redundant arm has to spare serves
    a `secondary` purpose, as `away_from_limits` and `better_manipulability` make.

    >>> import cayley as cy
    >>> from cayley.planning import straight_line
    >>> arm = cy.load("puma560")
    >>> q = np.array([0.3, -0.9, 0.8, 0.4, 0.9, -0.3])
    >>> first, last = arm.pose(q, "tool"), arm.pose(q, "tool")
    >>> last[1, 3] += 0.1
    >>> found = follow(arm, straight_line(first, last), "tool", q)
    >>> found.status, found.complaints, bool(found.deviation < 1e-6)
    ('followed', (), True)
    >>> move = found.timed(2.0)
    >>> bool(abs(arm.pose(move(1.0).q, "tool")[1, 3] - first[1, 3] - 0.05) < 1e-6)
    True
    """
    tree = machine.tree
    if not isinstance(path, (PosePath, Motion)):
        raise SignatureError(f"`path` must be a path of poses, such as straight_line returns, or a motion of poses, "
                             f"not {shown(path)}")
    way = pose_path(path) if isinstance(path, Motion) else path
    at = checked_configuration(start, "the configuration to begin near", tree.nq)
    if not tolerance > 0:
        raise SignatureError(f"the tolerance of a path must be positive, not {tolerance}")
    places = _places(way, _FIRST)
    for left in reversed(range(_HALVINGS)):
        posture = continuous_posture(tree, way(places), frame, at, task=task, secondary=secondary)
        found = FollowedPath(way, places, posture, np.nan, tree)
        if posture.reason:
            return found
        off = _deviations(tree, found, frame, task)
        if off.max() <= tolerance or len(places) >= _MOST or not left:
            return FollowedPath(way, places, posture, float(off.max()), tree, tolerance)
        places = np.sort(np.concatenate([places, _middles(places)[off > _SHARE * tolerance]]))
    raise AssertionError("there is always a last round")


def _places(path: PosePath, number: int) -> Array:
    """Places along a path, about evenly spaced between its corners, which are included."""
    ends = [0.0, *path.corners, path.length]
    parts = [np.linspace(a, b, max(4, round((number - 1) * (b - a) / path.length)), endpoint=False)
             for a, b in pairwise(ends)]
    return np.concatenate([*parts, [path.length]])


def _deviations(tree: Tree, found: FollowedPath, frame: str, task: str | Sequence[bool]) -> Array:
    wanted = Task.of(tree, task, "world")
    look = kept(tree, ("moment", frame, wanted, "rotation vector"),
                lambda: moment_kernel(tree, frame, wanted, "rotation vector"))
    middles = _middles(found.places)
    here = look(found.joints.position(middles), found.path(middles), np.zeros(6))
    return np.hypot(here.distance, here.angle)


def _middles(places: Array) -> Array:
    return (places[1:] + places[:-1]) / 2


_NEWTON = 4


def better_manipulability(machine: DrivenMechanism, frame: str, gain: float = 1.0, *,
                          task: str | Sequence[bool] = "pose"
                          ) -> Callable[[Array], Array]:
    """The secondary purpose of `follow_path` that makes the manipulability of a task grow: its gradient, times the
    gain; none where it has no gradient, at singular configurations."""
    tree = machine.tree
    slope = kernel(f"({tree.nq})->({tree.nv})", name="manipulability_gradient")(
        lambda q: manipulability_gradient(tree, q, frame, task=task, axes="world"))
    return lambda q: gain * np.nan_to_num(slope(q))


def away_from_limits(machine: DrivenMechanism, frame: str, gain: float = 1.0) -> Callable[[Array], Array]:
    """The secondary purpose of `follow_path` that keeps joints near the middle of their ranges: against the gradient of
    half the sum of ((q - middle)/range)^2."""
    tree = machine.tree
    if tree.nq != tree.nv:
        raise UnsupportedError(f"{tree.name} has joints with quaternions, which have no middle of a range")
    bounds = bounds_of(tree, frame, limits=True)
    bounded = np.isfinite(bounds.lower) & np.isfinite(bounds.upper)
    width = np.where(bounded, bounds.upper - bounds.lower, np.inf)
    middle = np.where(bounded, (np.where(bounded, bounds.upper, 0.0) + np.where(bounded, bounds.lower, 0.0)) / 2, 0.0)
    return lambda q: -gain * (q - middle) / width**2


def self_motion(machine: DrivenMechanism, start: ArrayLike, frame: str, secondary: Callable[[Array], Array], *,
                duration: float, steps: int = 400, task: str | Sequence[bool] = "pose") -> Motion:
    """The motion of a redundant arm from a configuration (nq) for a secondary purpose, its frame held where it is.

    >>> import cayley as cy
    >>> arm = cy.load("planar3r")
    >>> plane = (True, True, False, False, False, False)
    >>> q = np.array([0.3, 1.5, -1.2])
    >>> better = better_manipulability(arm, "tool", task=plane)
    >>> move = self_motion(arm, q, "tool", better, duration=4.0, task=plane)
    >>> off = arm.pose(move(4.0).q, "tool")[:2, 3] - arm.pose(q, "tool")[:2, 3]
    >>> bool(np.abs(off).max() < 1e-6)
    True
    >>> arm.dexterity.manipulability([q, move(4.0).q], "tool", task=plane, axes="world").round(3)
    array([1.041, 1.325])
    """
    tree = machine.tree
    if tree.nq != tree.nv:
        raise UnsupportedError(f"{tree.name} has joints with quaternions, which splines cannot interpolate: use "
                               f"follow_path")
    if not (duration > 0 and steps >= 4):
        raise SignatureError(f"a motion takes a time > 0 in four steps or more, not {duration} s in {steps}")
    q = np.asarray(start, dtype=float)
    step = duration / steps
    hold = frame_pose(tree, q, frame).matrix
    found = follow_path(tree, np.tile(hold, (steps + 1, 1, 1)), frame, q, time_step=step, gain=0.5 / step, task=task,
                        secondary=secondary)
    if found.status != "followed":
        raise UnreachableError(f"the self-motion ends at t = {step * int(np.argmin(found.followed)):.6g} s: "
                               f"{found.status}")
    rows = _onto(tree, found.q, hold, frame, task)
    return cubic_spline(np.linspace(0.0, duration, steps + 1), rows, "not-a-knot")


def _onto(tree: Tree, q: Array, pose: Array, frame: str, task: str | Sequence[bool]) -> Array:
    """Configurations (k, nq) near those given, with the frame exactly there: Newton's method, by the shortest steps."""
    wanted = Task.of(tree, task, "world")
    look = kept(tree, ("moment", frame, wanted, "rotation vector"),
                lambda: moment_kernel(tree, frame, wanted, "rotation vector"))
    for _ in range(_NEWTON):
        here = look(q, pose, np.zeros(6))
        q = q + resolved_rates(here.jacobian, here.error).velocity
    return q
