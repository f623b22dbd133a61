"""Data of the 3-D view of a page: solids, frames, a floor and sliders as plain data for JSON, and the code that moves
them as JavaScript.

Poses are 12 numbers, the rows of (R | p). Points are in the frames of the bodies that carry them, so they stay right
when joints move.

    poses(q)                 of all bodies, the root first: 12 numbers each, the rows of (R | p)
    placed(q, values)        the configuration with these values of its sliders, and of what follows them
    between(start, end, x)   from one configuration to another, 0 <= x <= 1
and of a mechanism that is to stay closed
    opening(q)               what is open of its constraints
    follow(1, 1, 4, q, good, size, sign, d, stages)   `kinematics.loops.following_inputs`: the others follow the sliders
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cayley.compiler.backends.javascript import iteration_text, javascript_text
from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.drawing.canvas import round_number
from cayley.drawing.skeleton import (
    JointMark,
    Skeleton,
    largest_mark,
    resting,
    roams,
    skeleton,
    slides_and_rods,
    stands_on_legs,
)
from cayley.drawing.solids import Skins, plate
from cayley.drawing.views import view_of
from cayley.geometry.pose import Pose
from cayley.geometry.rotations import quaternion_from_roll_pitch_yaw
from cayley.kinematics.constraints.inputs import Inputs
from cayley.kinematics.constraints.rows import hold_positions, machine_size, residual
from cayley.kinematics.forward import body_poses
from cayley.kinematics.loops.following_inputs import following_step
from cayley.model.tree import Tree
from cayley.shapes.seen import seen_shapes
from cayley.studio.sliders import Slider, keeps_closed, moved_alone, sliders

_DIGITS = 6  # of points [m]; poses of joints and frames are exact
# radius of a rod beside a joint's, room around the figure
_ROD = 0.5
_MARGIN = 1.2
_BASE = 2.0  # depth of the base's foot below the root's origin, beside the size of a joint
# of the eye, seen from the robot [rad]
_ARM = 5  # joints of an arm that is drawn stout
_STOUT = 1.45  # its joints beside those of others,
_LINK = 0.8  # and its links beside its joints
_AZIMUTH = -0.95
_ELEVATION = 0.36
_TRIANGLES = 16000  # of all shapes: what a page draws thirty times a second without a graphics card
_SHAPE_DIGITS = 5
_MISSING = 12  # shapes that could not be had and are named
_PASSED = 16  # configurations of a way that are looked at


def main_frame(tree: Tree) -> str:
    """The frame that a page is about: "tool", or the body that most joints move, the farthest along the links of these.

    >>> main_frame(cy.load("ur5").tree)
    'tool'
    """
    if any(frame.name == "tool" for frame in tree.frames):
        return "tool"
    return tree.bodies[max(range(len(tree.bodies)), key=lambda body: (*_remoteness(tree, body), -body))].name


def _remoteness(tree: Tree, body: int) -> tuple[int, float]:
    path = [tree.joints[number] for number in tree.path(body)]
    lengths = [float(np.linalg.norm(np.asarray(joint.placement)[:3, 3])) for joint in path]
    return sum(joint.motion.nv for joint in path), round(sum(lengths), 9)


def scene_parts(tree: Tree, *, reach: Array | None = None, way: Array | None = None) -> dict[str, str]:
    """The texts of a page that are about the mechanism: its scene, and the functions that move it."""
    data = scene(tree, reach=reach, way=way)
    rest = np.array(data["q"])
    closed = moved_alone(tree, rest) if data["closing"] else None
    return {"scene": embedded(data), "program": motion_text(tree, data["sliders"], closed)}


def embedded(data: object) -> str:
    """Data as JSON that can stand inside a <script>."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("</", "<\\/").replace("<!", "<\\u0021")


def scene(tree: Tree, *, reach: Array | None = None, way: Array | None = None) -> dict[str, Any]:
    """The mechanism at rest. `reach` (n, 3): points of its workspace, in the root's frame;
    `way` (k, nq): configurations under which there is a floor, too."""
    rest = resting(tree) if way is None else way[0]
    figure = skeleton(tree, rest)
    passed = [skeleton(tree, q).points for q in way[::max(1, len(way) // _PASSED)]] if way is not None else []
    stout = _STOUT if _is_spatial_arm(tree) else 1.0
    mark = stout * float(np.median([one.size for one in figure.marks] or [largest_mark(tree) * figure.size]))
    moved = sliders(tree, rest)
    skin = Skins([figure], seen_shapes(tree).surfaces(_TRIANGLES))
    outline = skin.points if skin.surfaces.parts else np.zeros((0, 3))
    ground = floor(figure, 0.0 if len(outline) else mark, np.concatenate([figure.points, outline, *passed]))
    base = [] if len(outline) else _base(figure, mark, ground["height"])
    marks = [one._replace(size=stout * one.size) for one in figure.marks]
    solids = [*base, *[part for one in marks for part in _mark(figure, one)]]
    return {
        "name": tree.name, "q": rest.tolist(), "links": [*_links(figure), *_column(base, mark)],
        "slides": [{"body": rod.bodies[0], "point": _rounded(rod.ends[0]), "child": rod.bodies[1],
                    "end": _rounded(rod.ends[1])} for rod in slides_and_rods(tree)],
        "marks": solids, "frames": _frames(tree), "rod": (_LINK if stout > 1.0 else _ROD) * mark, "mark": mark,
        "floor": ground,
        **_shapes(tree, skin),
        "plates": _plates(figure, mark), "reach": [] if reach is None else _rounded(reach),
        "sliders": moved, "closing": {"size": machine_size(tree)} if moved and keeps_closed(tree) else None,
        **camera(figure, np.concatenate([figure.points, outline, *[[plate["center"]] for plate in base]]))}


def _is_spatial_arm(tree: Tree) -> bool:
    """True for an arm in space, whose links are drawn as thick as those of real arms where it has no shapes."""
    moving = sum(joint.motion.nv > 0 for joint in tree.joints)
    path = tree.path(tree.body_number(tree.frame(main_frame(tree)).body))
    on_the_way = sum(tree.joints[number].motion.nv > 0 for number in path)
    return moving == on_the_way >= _ARM and not tree.is_constrained and not view_of(tree).flat


def _links(figure: Skeleton) -> list[dict[str, Any]]:
    found = []
    for line in figure.lines:
        body = figure.tree.body_number(line.body)
        found.append({
            "body": body, "points": _seen_from(figure.poses[body], line.points), "carries": bool(line.carries)})
    return found


def _mark(figure: Skeleton, mark: JointMark) -> list[dict[str, Any]]:
    """The solids of a joint, each on the side of the joint to which its axis is fixed."""
    found = []
    for (_, on_parent), axis in zip(mark.mark.axes, mark.axes, strict=True):
        body = mark.bodies[0 if on_parent else 1]
        pose = figure.poses[body]
        found.append({
            "body": body, "shape": mark.mark.shape, "center": _seen_from(pose, mark.center),
            "axis": _rounded(pose.R.T @ axis), "size": mark.size})
    return found


def _base(figure: Skeleton, size: float, ground: float) -> list[dict[str, Any]]:
    """A plate below the root of what stands on it: on the floor if the robot stands there, and does not hang."""
    if stands_on_legs(figure.tree) or figure.plates or view_of(figure.tree).flat:
        return []
    foot = ground if figure.points[:, 2].mean() > 0.0 else -_BASE * size
    return [{
        "body": 0, "shape": "base", "center": [0.0, 0.0, foot + 0.3 * size], "axis": [0.0, 0.0, 1.0], "size": size}]


def _column(base: list[dict[str, Any]], size: float) -> list[dict[str, Any]]:
    """The column from a plate on a floor that is farther below the root than the foot of a base."""
    return [{"body": 0, "points": [[0.0, 0.0, 0.0], plate["center"]], "carries": True}
            for plate in base if plate["center"][2] < -_BASE * size]


def _frames(tree: Tree) -> list[dict[str, Any]]:
    """The main frame, and those of the bodies that joints move."""
    main = tree.frame(main_frame(tree))
    others = [tree.frame(joint.child) for joint in tree.joints if joint.motion.nv]
    return [{
        "name": frame.name, "body": tree.body_number(frame.body), "pose": rows_of(frame.pose), "main": frame is main}
            for frame in (main, *[frame for frame in others if frame.name != main.name])]


def _plates(figure: Skeleton, size: float) -> list[dict[str, Any]]:
    return [{"body": body, "faces": [_seen_from(figure.poses[body], face) for face in plate(corners, 3 * size)]}
            for body, corners in figure.plates.items()]


def floor(figure: Skeleton, size: float, points: Array) -> dict[str, Any]:
    """A grid below where the robot gets to (n, 3): its base, feet or wheels; `size` is that of a joint's mark."""
    on_root = [joint for joint in figure.tree.joints if joint.parent == figure.tree.bodies[0].name]
    base = 0.0 if figure.plates or any(roams(joint) for joint in on_root) else _BASE * size
    height = float(points[:, 2].min()) if stands_on_legs(figure.tree) else float(min(-base, points[:, 2].min()))
    size = float(np.ptp(points, axis=0).max()) or figure.size
    step = round_number(size / 4)
    middle = step * np.round(0.5 * (points.min(axis=0) + points.max(axis=0))[:2] / step)
    reach = step * 4
    ticks = np.arange(-4, 5) * step
    lines = [[[middle[0] + t, middle[1] - reach, height], [middle[0] + t, middle[1] + reach, height]] for t in ticks]
    lines += [[[middle[0] - reach, middle[1] + t, height], [middle[0] + reach, middle[1] + t, height]] for t in ticks]
    return {"height": height, "step": step, "lines": _rounded(np.array(lines))}


def _shapes(tree: Tree, skin: Skins) -> dict[str, Any]:
    """Surfaces in the frames of their bodies, bodies without shapes, which stay sticks, and what is missing."""
    parts = [{"body": tree.body_number(shape.body), "points": _rounded(surface.points.ravel(), _SHAPE_DIGITS),
              "triangles": surface.triangles.ravel().tolist(), "closed": surface.closed,
              "color": None if shape.color is None else [round(255 * x) for x in shape.color]}
             for shape, surface in skin.surfaces.parts]
    missing = skin.surfaces.missing
    more = [f"and {len(missing) - _MISSING} more"] if len(missing) > _MISSING else []
    return {"shapes": parts, "bare": sorted(tree.body_number(name) for name in skin.surfaces.bare),
            "missing": [*missing[:_MISSING], *more]}


def camera(figure: Skeleton, points: Array) -> dict[str, Any]:
    """The view that shows points (n, 3); along the normal of a planar mechanism, from a little aside."""
    low = points.min(axis=0)
    high = points.max(axis=0)
    size = max(float(np.linalg.norm(high - low)), figure.size) * _MARGIN
    view = view_of(figure.tree)
    azimuth = _AZIMUTH
    elevation = _ELEVATION
    if view.flat:
        normal = view.normal
        elevation = float(np.clip(np.arcsin(np.clip(normal[2], -1, 1)), 0.0, 1.2)) or 0.15
        azimuth = float(np.arctan2(normal[1], normal[0])) + 0.25 if np.hypot(*normal[:2]) > 1e-6 else -np.pi / 2
    return {"center": _rounded(0.5 * (low + high)), "size": size,
            "camera": {"azimuth": azimuth, "elevation": elevation}}


def rows_of(pose: ArrayLike) -> list[float]:
    """The 12 numbers of a pose (4, 4)."""
    return [float(x) for x in np.asarray(pose)[:3].ravel()]


def _seen_from(pose: Pose, points: Array) -> ArrayLike:
    """Points (..., 3) of the root's frame in that of a body."""
    return _rounded((points - pose.p) @ pose.R)


def _rounded(points: Array, digits: int = _DIGITS) -> list[Any]:
    return (np.round(points, digits) + 0.0).tolist()


def motion_text(tree: Tree, sliders: Sequence[Slider], closed: Sequence[int] | None) -> str:
    """One object, `Motion`, of these functions. `closed`: joints with a slider, of a mechanism that stays closed."""
    texts = [_poses(tree), _placed(tree, sliders), _between(tree)]
    names = ["poses", "placed", "between"]
    if closed is not None:
        texts += _closing(tree, closed)
        names += ["opening", "follow"]
    return "\n".join(["const Motion = (() => {", *texts, f"return {{ {', '.join(names)} }};", "})();"])


def _poses(tree: Tree) -> str:
    def poses(q: Array) -> Array:
        return np.stack([np.concatenate([np.asarray(pose.R), np.reshape(pose.p, (3, 1))], axis=1)
                         for pose in body_poses(tree, q)])

    made = kernel(f"({tree.nq})->({len(tree.bodies)},3,4)", name="poses", inputs=("q",))(poses)
    return javascript_text(made.program(), "poses")


def _placed(tree: Tree, sliders: Sequence[Slider]) -> str:
    """Three turns of an attitude are yaw, pitch and roll; mimic joints follow their leaders."""
    def placed(q: Array, values: Array) -> Array:
        found = list(q)
        turns: dict[int, dict[int, Scalar]] = {}
        for slider, value in zip(sliders, values, strict=True):
            if slider["attitude"] is None:
                found[slider["place"]] = value
            else:
                turns.setdefault(slider["place"], {})[slider["attitude"]] = value
        for place, angles in turns.items():
            found[place:place + 4] = quaternion_from_roll_pitch_yaw(np.stack([angles[k] for k in (2, 1, 0)]))
        for joint, at in zip(tree.joints, tree.q_slices, strict=True):
            if joint.mimic is not None:
                leader = found[tree.q_slices[tree.joint_number(joint.mimic.joint)].start]
                found[at.start] = joint.mimic.multiplier * leader + joint.mimic.offset
        return np.stack(found) if found else np.zeros(0)

    made = kernel(f"({tree.nq}),({len(sliders)})->({tree.nq})", name="placed", inputs=("q", "values"))(placed)
    return javascript_text(made.program(), "placed")


def _between(tree: Tree) -> str:
    """Evenly from coordinate to coordinate; quaternions, of which two are one attitude, the shorter way and unit."""
    attitudes = [slice(place.start + joint.motion.attitude.q.start, place.start + joint.motion.attitude.q.stop)
                 for joint, place in zip(tree.joints, tree.q_slices, strict=True) if joint.motion.attitude is not None]

    def between(start: Array, end: Array, x: Scalar) -> Array:
        found = start + x * (end - start)
        for at in attitudes:
            near = where(start[at] @ end[at] < 0.0, -1.0, 1.0) * end[at]
            mixed = start[at] + x * (near - start[at])
            found[at] = mixed / np.sqrt(mixed @ mixed)
        return found

    made = kernel(f"({tree.nq}),({tree.nq}),()->({tree.nq})", name="between", inputs=("start", "end", "x"))(between)
    return javascript_text(made.program(), "between")


def _closing(tree: Tree, driven: Sequence[int]) -> list[str]:
    """The lines of text of the constraints on positions: what wheels forbid does not hold a slider."""
    held = replace(tree, constraints=tuple(each for each in tree.constraints if each.positions))
    rows = np.flatnonzero(hold_positions(held))
    opening = kernel(f"({tree.nq})->({len(rows)})", name="opening", inputs=("q",))(lambda q: residual(held, q)[rows])
    step = following_step(Inputs(held, tuple(driven)), machine_size(held))
    return [javascript_text(opening.program(), "opening"), iteration_text(step.iteration(), "follow")]
