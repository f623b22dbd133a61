"""The parts of a stick figure as points in the root's frame: lines for links, marks for joints. No graphics here.

A link goes from the axis of its own joint to that of the next along their common normal, so that offsets along an axis
and across it are seen apart; straight where this would be a long way round. In mechanisms with loops a body that others
hold at three points of a plane, or more, has an outline as well: the plate of a platform. The chassis of what rolls is
the body that carries the wheels, drawn as a plate between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import ConvexHull

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError, SignatureError
from cayley.geometry.pose import Pose
from cayley.kinematics.forward import body_poses, joint_pose
from cayley.kinematics.loops.closing import close
from cayley.model.configurations import with_mimic_joints
from cayley.model.joint_kinds import Mark
from cayley.model.named_configurations import ready_pose
from cayley.model.parts import Frame, Joint, Loop
from cayley.model.tree import Tree

_DETOUR = 1.75  # of a path over the common normal; three equal legs at right angles make 1.73
_SAME = 1e-9  # [m]
_FLAT = 1e-6  # of the size of a body: points that are so near to a line or plane are on it
_SMALLEST = 0.010  # size of a mark, as a part of the figure's
_EDGE = 0.6  # of the largest radius: how far a plate goes beyond the axles,
_BELOW = 0.2  # and how far below them it is


def largest_mark(tree: Tree) -> float:
    """The size of a mark as a part of the figure's: smaller where there are many."""
    return 0.032 if sum(joint.motion.nv > 0 for joint in tree.joints) < 10 else 0.021


class LinkLine(NamedTuple):
    """A polyline (k, 3) on a body; `carries`: it leads to another moving joint or to the end of a moving chain."""

    body: str
    points: Array
    carries: bool


class SlideLine(NamedTuple):
    """Line (2, 3) from a prismatic joint's frame to its child's, or a rod between two frames."""

    joint: str
    points: Array


class JointMark(NamedTuple):
    """A joint, of the tree or in a loop: how it is drawn, where it is, the directions (k, 3) of its axes, how large to
    draw it [m], and the bodies that it joins."""

    joint: str
    mark: Mark
    center: Array
    axes: Array
    size: float
    bodies: tuple[int, int]


@dataclass(frozen=True, eq=False)
class Skeleton:
    """The stick figure of one configuration."""

    tree: Tree
    poses: list[Pose]
    lines: tuple[LinkLine, ...]
    slides: tuple[SlideLine, ...]

    @cached_property
    def plates(self) -> dict[int, Array]:
        """The outlines (k, 3) of chassis, by the numbers of their bodies."""
        return {body: self.poses[body].p + corners @ self.poses[body].R.T
                for body, corners in chassis_plates(self.tree).items()}

    @property
    def paths(self) -> list[Array]:
        """The points of each line."""
        return [line.points for line in self.lines] + [slide.points for slide in self.slides]

    @cached_property
    def points(self) -> Array:
        """All points of the lines, and the root's origin unless the mechanism floats, (n, 3)."""
        origins = np.stack([pose.p for pose in self.poses[1 if floats(self.tree) else 0:]])
        return np.concatenate([*self.paths, *self.plates.values(), origins])

    @cached_property
    def size(self) -> float:
        """The longest edge of the box around the figure [m]; 1 if it is a point."""
        return float(np.ptp(self.points, axis=0).max()) or 1.0

    @cached_property
    def marks(self) -> tuple[JointMark, ...]:
        found = []
        for number, joint in enumerate(self.tree.joints):
            mark = joint.motion.mark
            hidden = mark is None or virtual(self.tree, number) or (mark.on_child and number + 1 in self.plates)
            if mark is not None and not hidden:
                child = self.poses[number + 1]
                parent = self.poses[self.tree.parents[number]]
                before = parent.then(Pose.of(joint.placement))
                size = self._mark_size(number)
                center = child.p if mark.on_child else before.p
                if mark.shape == "sleeve" and np.linalg.norm(before.p - parent.p) < 2 * size:
                    center = before.p + _beside(child.p - before.p, 3 * size)
                axes = np.array([
                    (before if axis.on_parent else child).R @ np.asarray(axis.direction) for axis in mark.axes])
                found.append(JointMark(joint.name, mark, center, axes, size, (self.tree.parents[number], number + 1)))
        usual = float(np.median([mark.size for mark in found] or [largest_mark(self.tree) * self.size]))
        return (*found, *[self._loop_mark(loop, mark, usual) for loop in self.tree.loops
                          if (mark := loop.motion.mark) is not None])

    def _loop_mark(self, loop: Loop, mark: Mark, size: float) -> JointMark:
        ends = [self.tree.frame(name) for name in loop.frames]
        first, second = (self.frame_pose(end) for end in ends)
        axes = np.array([(first if axis.on_parent else second).R @ np.asarray(axis.direction) for axis in mark.axes])
        numbers = [self.tree.body_number(end.body) for end in ends]
        # a sleeve is the second frame, which slides along the first: the block on a rocker
        center = second.p if mark.on_child or mark.shape == "sleeve" else first.p
        return JointMark(loop.name, mark, center, axes, size, (numbers[0], numbers[1]))

    def _mark_size(self, number: int) -> float:
        """A third of the longest link at the joint, within bounds."""
        joint = self.tree.joints[number]
        near = [path_length(line.points) for line in self.lines if line.body in (joint.parent, joint.child)]
        near += [path_length(slide.points) for slide in self.slides if slide.joint == joint.name]
        return float(np.clip(0.3 * max(near, default=0.0), _SMALLEST * self.size, largest_mark(self.tree) * self.size))

    def frame_pose(self, frame: Frame) -> Pose:
        return self.poses[self.tree.body_number(frame.body)].then(Pose.of(frame.pose))


def skeleton(tree: Tree, q: Array) -> Skeleton:
    """The stick figure of a mechanism at a configuration (nq)."""
    poses = body_poses(tree, q)
    lines = [*_motor_lines(tree, poses)]
    slides = []
    carrying = _carrying(tree)
    plates = chassis_plates(tree)
    for number, joint in enumerate(tree.bare_joints):
        body = tree.parents[number]
        if joint.motion.free:
            continue
        start = poses[body].then(Pose.of(joint.placement))
        end = poses[body].then(joint_pose(tree, number, q))
        path = link_path(poses[body].p, _own_axis(tree, poses, body), start.p, _axis(joint.motion.mark, start))
        if path_length(path) > _SAME and not (body == 0 and (roams(joint) or number + 1 in plates)):
            lines.append(LinkLine(joint.parent, path, carrying[number + 1]))
        on_child = joint.motion.mark is not None and joint.motion.mark.on_child
        if np.linalg.norm(end.p - start.p) > _SAME and not on_child and not virtual(tree, number):
            slides.append(SlideLine(joint.name, np.stack([start.p, end.p])))
    for frame in _end_frames(tree):
        body = tree.body_number(frame.body)
        end = poses[body].then(Pose.of(frame.pose))
        line = LinkLine(frame.body, link_path(poses[body].p, _own_axis(tree, poses, body), end.p, None), carrying[body])
        if path_length(line.points) > _SAME and not any(_same(line, other) for other in lines):
            lines.append(line)
    lines += [LinkLine(body.name, poses[number].p + corners @ poses[number].R.T, number > 0 and carrying[number])
              for number, body in enumerate(tree.bodies) if (corners := _outline(tree, number)) is not None]
    for constraint in tree.constraints:
        if constraint.rim is not None:  # of a wheel
            frame = tree.frame(constraint.frames[1])
            place = poses[tree.body_number(frame.body)].then(Pose.of(frame.pose))
            lines.append(LinkLine(frame.body, place.p + constraint.rim @ place.R.T,
                                  carrying[tree.body_number(frame.body)]))
    slides += [SlideLine(rod.name, np.stack([poses[body].p + poses[body].R @ end
                                             for body, end in zip(rod.bodies, rod.ends, strict=True)]))
               for rod in rods(tree)]
    return Skeleton(tree, poses, tuple(lines), tuple(slides))


def _motor_lines(tree: Tree, poses: list[Pose]) -> Iterator[LinkLine]:
    """From the joints that motors drive, or, where another body carries a motor, from there, to the motors."""
    for driven, motor in tree.motors.items():
        body = tree.parents[motor]
        start = poses[body]
        if body == tree.parents[driven]:
            start = start.then(Pose.of(tree.joints[driven].placement))
        points = np.stack([start.p, poses[motor + 1].p])
        if path_length(points) > _SAME:
            yield LinkLine(tree.bodies[body].name, points, carries=False)


class DrawnRod(NamedTuple):
    """Drawn line from a point (3) on one body to a point on another: slides and rods, which are not bodies."""

    name: str
    bodies: tuple[int, int]
    ends: tuple[Array, Array]


def rods(tree: Tree) -> list[DrawnRod]:
    """Rods between two frames."""
    found = []
    for constraint in tree.constraints:
        if constraint.straight:
            first, second = (tree.frame(name) for name in constraint.frames)
            found.append(DrawnRod(constraint.name, (tree.body_number(first.body), tree.body_number(second.body)),
                             (first.pose[:3, 3], second.pose[:3, 3])))
    return found


def slides_and_rods(tree: Tree) -> list[DrawnRod]:
    """Lines from joints to the bodies that slide away from them, and between frames that a rod joins."""
    return [DrawnRod(joint.name, (tree.parents[k], k + 1), (np.asarray(joint.placement)[:3, 3], np.zeros(3)))
            for k, joint in enumerate(tree.joints)
            if joint.motion.slides and joint.motion.mark is not None and not joint.motion.mark.on_child
            and not virtual(tree, k)] + rods(tree)


def virtual(tree: Tree, number: int) -> bool:
    """True if a slide moves or carries a body without mass: a coordinate of a platform, of which no part is seen."""
    bodies = {tree.parents[number], number + 1} - {0}
    return tree.joints[number].motion.nv == 1 and tree.joints[number].motion.slides and any(
        tree.bodies[body].mass == 0.0 for body in bodies)


def configurations(tree: Tree, q: ArrayLike | None) -> Array:
    """Configurations (k, nq) from one (nq) or several (k, nq); the resting one if there is none."""
    if q is None:
        return resting(tree)[None]
    try:
        given = np.atleast_2d(np.asarray(q, dtype=float))
    except (TypeError, ValueError) as error:
        raise SignatureError(f"a configuration of {tree.name} must be {tree.nq} numbers, not {q!r}") from error
    if given.ndim != 2 or given.shape[1] != tree.nq or not len(given):
        raise SignatureError(
            f"{tree.name} has configurations ({tree.nq},), or several as ({tree.nq} columns): not {np.shape(q)}")
    if not np.isfinite(given).all():
        raise GeometryError(
            f"configuration {int(np.argmin(np.isfinite(given).all(axis=1)))} of {tree.name} is not finite")
    return given


def resting(tree: Tree) -> Array:
    """Configuration at rest: the ready pose where the mechanism has one, otherwise every joint at zero, or mid-range
    where zero is outside its limits; with the loops closed nearby, at time 0 if motions are prescribed."""
    rest = ready_pose(tree)
    closing = tree.loops or tree.constraints
    return (close(tree, rest, 0.0 if tree.is_timed else None).configuration if closing
            else with_mimic_joints(tree, rest))


def without_repetitions(figures: Sequence[Skeleton]) -> list[tuple[list[LinkLine], list[SlideLine], list[JointMark]]]:
    """The parts of each figure that no later one has at the same place."""
    def kept(parts: Iterable[Part], later: Iterable[Part]) -> list[Any]:
        return [part for part in parts if not any(_same(part, other) for other in later)]

    return [(kept(figure.lines, [x for f in figures[k + 1:] for x in f.lines]),
             kept(figure.slides, [x for f in figures[k + 1:] for x in f.slides]),
             kept(figure.marks, [x for f in figures[k + 1:] for x in f.marks])) for k, figure in enumerate(figures)]


Part = LinkLine | SlideLine | JointMark


def _same(one: Part, other: Part) -> bool:
    """True if two lines, or two marks, of the same part are at the same place."""
    pairs = [(a, b) for a, b in zip(one[1:], other[1:], strict=True) if isinstance(a, np.ndarray)
             and isinstance(b, np.ndarray)]
    return one[0] == other[0] and all(a.shape == b.shape and np.allclose(a, b, atol=_SAME) for a, b in pairs)


def floats(tree: Tree) -> bool:
    """True if a floating joint carries all that moves."""
    moving = [joint for joint in tree.joints if joint.motion.nv]
    return bool(moving) and moving[0].motion.free


def roams(joint: Joint) -> bool:
    """True if a joint lets its child move and turn freely in a plane."""
    return joint.motion.nv > 2 and joint.motion.mark is not None and joint.motion.mark.on_child


def pivots(tree: Tree) -> Array:
    """Positions (k, 3) of the moving joints on the root."""
    places = [joint.placement[:3, 3] for joint, parent in zip(tree.joints, tree.parents, strict=True)
              if parent == 0 and joint.motion.nv]
    return np.unique(np.round(places, 9).reshape(-1, 3), axis=0)


def stands_on_legs(tree: Tree) -> bool:
    """True if the lowest point, not the root, is on the floor: it floats, or several chains leave the root."""
    fast = {tree.bodies[0].name}
    for joint in tree.joints:
        if joint.parent in fast and not joint.motion.nv:
            fast.add(joint.child)
    return floats(tree) or sum(joint.parent in fast and joint.motion.nv > 0 for joint in tree.joints) > 1


def link_path(start: Array, start_axis: Array | None, end: Array, end_axis: Array | None) -> Array:
    """From a point on an axis to a point on another, over the feet of their common normal: (k, 3), k from 2 to 4."""
    way = end - start
    if start_axis is None and end_axis is None:
        between: list[np.ndarray] = []
    elif end_axis is None:
        between = [start + (way @ start_axis) * start_axis]
    elif start_axis is None or np.linalg.norm(np.cross(start_axis, end_axis)) < 1e-6:
        between = [end - (way @ end_axis) * end_axis]
    else:
        (s, t), *_ = np.linalg.lstsq(np.stack([start_axis, -end_axis], axis=1), way, rcond=None)
        between = [start + s * start_axis, end + t * end_axis]
    path = _distinct([start, *between, end])
    return path if path_length(path) <= _DETOUR * np.linalg.norm(way) else np.stack([start, end])


def path_length(points: Array) -> float:
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def _distinct(points: Sequence[Array]) -> Array:
    kept = [points[0], *[b for a, b in pairwise(points) if np.linalg.norm(b - a) > _SAME]]
    return np.stack(kept)


def _beside(slide: Array, distance: float) -> Array:
    """A little along a slide, so that its sleeve does not sit inside the joint before it."""
    length = float(np.linalg.norm(slide))
    return slide * min(distance / length, 0.5) if length > 0 else slide


def _axis(mark: Mark | None, joint: Pose) -> Array | None:
    """The axis that a link ends on; links meet a joint of several axes where these cross."""
    return joint.R @ np.asarray(mark.lines[0].direction) if mark is not None and len(mark.lines) == 1 else None


def _own_axis(tree: Tree, poses: Sequence[Pose], body: int) -> Array | None:
    """The axis of the joint that carries a body, if it has one."""
    return _axis(tree.joints[body - 1].motion.mark if body else None, poses[body])


def _carrying(tree: Tree) -> list[bool]:
    """Per body, True if a moving joint is beyond it or it ends a chain, and False for fixed branches."""
    beyond = [False] * len(tree.bodies)
    moved = [False] * len(tree.bodies)
    for number in reversed(range(len(tree.joints))):
        joint = tree.joints[number]
        beyond[tree.parents[number]] |= joint.motion.nv > 0 or beyond[number + 1]
    for number, joint in enumerate(tree.joints):
        parent = tree.parents[number]
        moved[number + 1] = joint.motion.nv > 0 or (moved[parent] and not beyond[parent])
    return [a or b for a, b in zip(beyond, moved, strict=True)]


def _end_frames(tree: Tree) -> list[Frame]:
    """Named frames at the ends of chains, where several joints have one place, and where loops close and rods end."""
    inner = {joint.parent for joint in tree.bare_joints}
    for body in tree.bodies[1:]:
        carried = [joint for joint in tree.bare_joints if joint.parent == body.name and joint.motion.nv]
        if len(carried) > 1 and all(np.linalg.norm(joint.placement[:3, 3]) < _SAME for joint in carried):
            inner.discard(body.name)
    held = held_frames(tree)
    return [frame for frame in tree.frames if frame.body not in inner or frame.name in held]


def _outline(tree: Tree, body: int) -> Array | None:
    """Closed outline (k, 3), in its own frame, of a body that is held at three or more points of a plane, or None."""
    held = held_frames(tree)
    if not held:
        return None
    moving = [joint.motion.nv > 0 and not joint.motion.free for joint in tree.joints]
    carried = [joint.placement[:3, 3] for joint, parent, moves in zip(tree.joints, tree.parents, moving, strict=True)
               if parent == body and moves]
    carrier = [np.zeros(3)] if body and moving[body - 1] else []
    ends = [frame.pose[:3, 3] for frame in tree.frames if frame.name in held and frame.body == tree.bodies[body].name]
    points = np.unique(np.round([*carried, *carrier, *ends], 9).reshape(-1, 3), axis=0)
    if len(points) < 3:
        return None
    _, sizes, axes = np.linalg.svd(points - points.mean(axis=0))
    if sizes[1] < _FLAT * sizes[0] or (len(points) > 3 and sizes[2] > _FLAT * sizes[0]):
        return None
    around = ConvexHull((points - points.mean(axis=0)) @ axes[:2].T).vertices
    return points[[*around, around[0]]]


def held_frames(tree: Tree) -> set[str]:
    """The names of the frames where loops are closed and rods end."""
    rods = [constraint for constraint in tree.constraints if constraint.straight]
    return {name for constraint in (*tree.loops, *rods) for name in constraint.frames}


def chassis_plates(tree: Tree) -> dict[int, Array]:
    """The outlines (k, 3), open, of the bodies that carry wheels, in their own frames, by their numbers.

    A plate is across the axis that points up, a little below the body's origin. It spans the places of the body's
    joints, and goes a part of a wheel's radius farther to the front and back; to the sides, too, where all is in line.
    """
    up: dict[int, tuple[Array, float]] = {}
    poses = body_poses(tree, tree.neutral)
    for constraint in tree.constraints:
        if constraint.rim is None:
            continue
        ground, wheel = (tree.frame(name) for name in constraint.frames)
        number = tree.body_number(wheel.body)
        carrier = _carrier(tree, number)
        if carrier is None or tree.body_number(ground.body) == carrier:
            continue
        radius = float(np.linalg.norm(constraint.rim, axis=1).max())
        normal = poses[carrier].R.T @ poses[tree.body_number(ground.body)].R @ ground.pose[:3, 2]
        known = up.get(carrier)
        up[carrier] = (normal, max(radius, known[1] if known else 0.0))
    return {body: _plate(tree, body, normal, radius) for body, (normal, radius) in up.items()}


def _carrier(tree: Tree, body: int) -> int | None:
    """The body, before a wheel, that slides or floats over the ground; none for a wheel that does so itself."""
    joints = [tree.joints[number] for number in tree.path(body)]
    moving = [joint for joint in joints if joint.motion.nv]
    if len(moving) < 2 or moving[0].motion.nv < 3:
        return None
    return tree.body_number(moving[0].child)


def _plate(tree: Tree, body: int, normal: Array, radius: float) -> Array:
    places = [joint.placement[:3, 3] for joint, parent in zip(tree.joints, tree.parents, strict=True)
              if parent == body and joint.motion.nv]
    frames = [frame.pose[:3, 3] for constraint in tree.constraints for name in constraint.frames
              if (frame := tree.frame(name)).body == tree.bodies[body].name]
    ahead, aside = _directions(tree, body, normal)
    flat = np.array([np.zeros(3), *places, *frames]) @ np.stack([ahead, aside], axis=1)
    edge = _EDGE * radius
    wide = edge if np.ptp(flat[:, 1]) < 2 * edge else 0.0
    corners = np.concatenate([flat + np.array([edge * a, wide * b]) for a in (-1, 1) for b in (-1, 1)])
    return corners[ConvexHull(corners).vertices] @ np.stack([ahead, aside]) - _BELOW * radius * normal


def _directions(tree: Tree, body: int, normal: Array) -> tuple[Array, Array]:
    """Ahead and aside on a body, by the axle of the first wheel that it carries itself; any where none does."""
    for constraint in tree.constraints:
        if constraint.rim is not None:
            joint = tree.joints[tree.body_number(tree.frame(constraint.frames[1]).body) - 1]
            if joint.parent == tree.bodies[body].name and joint.motion.screw is not None:
                aside = joint.placement[:3, :3] @ np.asarray(joint.motion.screw.axis)
                aside = aside - (aside @ normal) * normal
                if np.linalg.norm(aside) > 0.5:
                    aside = aside / np.linalg.norm(aside)
                    return np.cross(aside, normal), aside
    aside = np.linalg.svd(normal[None])[2][1]
    return np.cross(aside, normal), aside
