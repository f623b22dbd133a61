"""Link frames and Denavit-Hartenberg tables from the lines of the joint axes, in both conventions, all degenerate pairs
included.

Both conventions are read from the same string of common normals: N_i leads from its foot on axis i to its foot on axis
i+1, along x_i. Frame i is at the first foot with z along axis i (modified), or at the second with z along axis i+1
(standard). Where two axes do not fix their normal, it is chosen: parallel axes, the one through the foot before (so
that d_i = 0); coincident axes, x as before (so that theta_i = 0); meeting axes, the sense of z_i x z_(i+1). Every
choice is reported. Sources: Balafoutis & Patel 2.3.2-2.3.3; Ruggiu 2.2, steps 1-7; Yamamoto 1.6, steps 1-12, with the
rules of spec E3-06."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ConventionError, ModelError
from cayley.geometry.motions.homogeneous import relative_pose
from cayley.geometry.pose import Pose
from cayley.model.chains import chain_to
from cayley.model.denavit_hartenberg.table import Convention, DHRow, DHTable, Kind, check_convention, dh_frames
from cayley.model.joint_kinds import plane_across
from cayley.model.parts import Friction, Limits, Rotor, frozen, frozen_pose
from cayley.model.spring_kinds import SpringKind
from cayley.model.tree import Tree
from cayley.showing import brief

PairKind = Literal["skew", "intersecting", "parallel", "antiparallel", "coincident", "anticoincident"]
Sense = Literal["feet", "cross"]

_SAME_PLACE = 1e-13  # distances below this times the size of the arm are rounding
_MEETING = 1e-12
_UNIT = 1e-9
ROUNDING = 1e-15  # sines and lengths below this are zero


@dataclass(frozen=True, eq=False)
class AxisLine:
    """The axis of a joint at the zero of its coordinate: any `point` of it [m], and the unit `direction` in which q
    grows."""

    point: Array
    direction: Array
    kind: Kind = "revolute"
    joint: str = ""
    body: str = ""
    limits: Limits = field(default_factory=Limits)
    friction: Friction = field(default_factory=Friction)
    rotor: Rotor = field(default_factory=Rotor)
    spring: SpringKind | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ModelError(f"an axis must be revolute or prismatic, not {self.kind!r}")
        name = f" of joint {self.joint!r}" if self.joint else ""
        object.__setattr__(self, "point", frozen(self.point, (3,), f"the point on the axis{name}"))
        direction = frozen(self.direction, (3,), f"the direction of the axis{name}")
        size = float(np.linalg.norm(direction))
        if abs(size - 1) > _UNIT:
            advice = "it must be of length one" if size > 0 else "it must not be zero"
            raise ModelError(f"the direction of the axis{name} has the length {size:.9g}: {advice}")
        object.__setattr__(self, "direction", frozen(direction / size, (3,), "the direction"))


@dataclass(frozen=True)
class AxisPair:
    """Relation of neighbouring axes: `angle` from 0 to pi, `distance`, and the `choice` that the pair leaves open."""

    first: str
    second: str
    kind: PairKind
    angle: float
    distance: float
    choice: str

    def __str__(self) -> str:
        return (f"{self.first}, {self.second}: {self.kind}, angle {self.angle:.6g} rad, distance {self.distance:.6g} "
                f"m. {self.choice}")


@dataclass(frozen=True, eq=False)
class FrameAssignment:
    """Result of assigning Denavit-Hartenberg frames: the `table`, the `frames` 0 to n at zero in the given base (n + 1,
    4, 4), the `pairs` of neighbouring axes, and `residual`, the largest difference between the frames of the table and
    these, lengths in metres."""

    table: DHTable
    frames: Array
    pairs: tuple[AxisPair, ...]
    residual: float

    __repr__ = brief

    def report(self) -> str:
        """The table, and how each pair of axes was treated."""
        return "\n".join([str(self.table), *map(str, self.pairs), f"residual {self.residual:.2g}"])


@dataclass(frozen=True)
class _Normal:
    """A common normal: its foot on the axis before, its direction, its foot on the axis after."""

    start: Array
    x: Array
    end: Array


def assign_frames(lines: Iterable[AxisLine], *, convention: Convention, base: ArrayLike | None = None,
                  base_x: ArrayLike | None = None, tool: ArrayLike | None = None, sense: Sense = "feet",
                  x_hints: Sequence[Any] | None = None, tolerance: float | None = None) -> FrameAssignment:
    """Frames and Denavit-Hartenberg parameters from joint-axis lines at zero, in the frame of the user's base.

    Frame 0 is `base` (4, 4) if given; otherwise it lies on axis 1, with its x along `base_x` and its origin at the
    given point of axis 1, or, without `base_x`, on frame 1 (modified) or with theta_1 = d_1 = 0 (standard). `tool` (4,
    4) is the pose of the tool at zero. `sense` says where x_i points for axes that are not parallel: "feet", from axis
    i to axis i+1, so that a >= 0; "cross", along z_i x z_(i+1), so that 0 < alpha < pi and `a` may be negative
    (Yamamoto, step 4). `x_hints`, one vector or None for each x_1 to x_(n-1), overrule it in sign, and choose x for
    coincident axes. Axes count as parallel if they are so nearly parallel that rounding would move the feet of
    their common normal too far, or if their sine is at most `tolerance`. `residual` is the error that this makes.

    >>> elbow = [AxisLine([0, 0, 0], [0, 0, 1]), AxisLine([0, 0, 0.4], [0, -1, 0]), AxisLine([0.5, 0, 0.4], [0, -1, 0])]
    >>> print(assign_frames(elbow, convention="modified", base=np.eye(4)).report())
      i joint         theta [rad]        d [m]        a [m]    alpha [rad]   modified
      1 revolute               q1          0.4            0              0
      2 revolute               q2            0            0           pi/2
      3 revolute               q3            0          0.5              0
    axis 1, axis 2: intersecting, angle 1.5708 rad, distance 0 m. The sign of x was free: z x z'. axis 2, axis 3:
    parallel, angle 0 rad, distance 0.5 m. The place of the normal was free: through the foot before (d = 0). residual
    ...
    """
    check_convention(convention)
    lines = tuple(lines)
    hints = list(x_hints) if x_hints is not None else []
    _check(lines, sense, x_hints)
    tool = None if tool is None else frozen_pose(tool, "the tool")
    base = None if base is None else frozen_pose(base, "the base")
    size = max(1e-3, float(np.abs([line.point for line in lines]).max()))
    start = _start(lines[0], convention, base, base_x, size)
    normals: list[_Normal] = []
    pairs = []
    for i, (one, other) in enumerate(pairwise(lines)):
        before = normals[-1] if normals else start
        normal, pair = _between(one, other, before, sense, hints[i] if hints else None, tolerance, size)
        normals.append(normal)
        pairs.append(AxisPair(_name(lines, i), _name(lines, i + 1), *pair))
    first = start or _first(lines[0], normals)
    last, z_last = _end(lines[-1], normals[-1] if normals else first, convention, tool, size)
    z = [base[:3, 2] if base is not None else lines[0].direction, *[line.direction for line in lines], z_last]
    return _assignment(lines, z, [first, *normals, last], convention, tool, tuple(pairs))


def _check(lines: Sequence[AxisLine], sense: str, x_hints: Sequence[Any] | None) -> None:
    if not lines:
        raise ModelError("no axes: a chain needs at least one")
    if sense not in get_args(Sense):
        raise ConventionError(
            f"sense must be 'feet' (x from one axis to the next) or 'cross' (x along z x z'), not {sense!r}")
    if x_hints is not None and len(x_hints) != len(lines) - 1:
        raise ModelError(f"{len(lines)} axes have {len(lines) - 1} common normals: x_hints must have as many entries, "
                         f"not {len(x_hints)}")


def _name(lines: Sequence[AxisLine], i: int) -> str:
    return lines[i].joint or f"axis {i + 1}"


# Common normals


def _between(one: AxisLine, other: AxisLine, before: _Normal | None, sense: str, hint: Array | None,
             tolerance: float | None, size: float) -> tuple[_Normal, tuple[PairKind, float, float, str]]:
    """The common normal of two axes, and (kind, angle, distance, choice)."""
    cross = np.cross(one.direction, other.direction)
    sine = float(np.linalg.norm(cross))
    angle = float(np.arctan2(sine, one.direction @ other.direction))
    if _as_parallel(one, other, cross, sine, tolerance, size):
        normal, kind, choice = _parallel(one, other, before, hint, size)
        if sine > ROUNDING:
            choice += f" They are {sine:.2g} rad from parallel, and were taken as parallel."
    else:
        normal, kind, choice = _crossing(one, other, cross, sense, hint, size)
    return normal, (kind, angle, float(np.linalg.norm(normal.end - normal.start)), choice)


def _as_parallel(one: AxisLine, other: AxisLine, cross: Array, sine: float, tolerance: float | None,
                 size: float) -> bool:
    """True if taking two axes as parallel costs less accuracy than taking them as crossing far away."""
    if sine <= (ROUNDING if tolerance is None else tolerance):
        return True
    foot = abs(float(np.cross(other.point - one.point, other.direction) @ cross)) / sine**2
    return tolerance is None and foot * float(np.finfo(float).eps) > sine * size


def _crossing(one: AxisLine, other: AxisLine, cross: Array, sense: str, hint: Array | None,
              size: float) -> tuple[_Normal, PairKind, str]:
    """Skew and meeting axes: P + s z + a u = P' + t z', with u along z x z'."""
    apart = other.point - one.point
    start = one.point + (np.cross(apart, other.direction) @ cross / (cross @ cross)) * one.direction
    x = _normal_part(cross, one.direction, "x")
    a = apart @ x
    meeting = bool(abs(a) <= _MEETING * size)
    choice = "The sign of x was free: z x z'." if meeting else ""
    if hint is not None:
        x = _towards(x, hint)
        choice = "The sign of x is that of the hint."
    elif sense == "feet" and a < 0 and not meeting:
        x = -x
    return _Normal(start, x, start + (apart @ x) * x), "intersecting" if meeting else "skew", choice


def _parallel(one: AxisLine, other: AxisLine, before: _Normal | None, hint: Array | None,
              size: float) -> tuple[_Normal, PairKind, str]:
    """Parallel and coincident axes, of the same or of opposite sense: the normal may slide along them."""
    opposite = one.direction @ other.direction < 0
    start = before.end if before is not None else one.point
    end = other.point + ((start - other.point) @ other.direction) * other.direction
    gap = _across(end - start, one.direction)
    distance = float(np.linalg.norm(gap))
    where = "through the foot before (d = 0)" if before is not None else "through the given point of the first axis"
    if distance > _SAME_PLACE * size:
        x = gap / distance
        choice = f"The place of the normal was free: {where}."
        return _Normal(start, x if hint is None else _towards(x, hint),
                       end), "antiparallel" if opposite else "parallel", choice
    x, how = _free_direction(one, before, hint)
    choice = f"Place and direction of the normal were free: {where}, {how}."
    return _Normal(start, x, start), "anticoincident" if opposite else "coincident", choice


def _free_direction(line: AxisLine, before: _Normal | None, hint: Array | None) -> tuple[Array, str]:
    if hint is not None:
        return _normal_part(hint, line.direction, "the hint for x"), "x towards the hint"
    if before is not None:
        return _normal_part(before.x, line.direction, "x"), "x as before (theta = 0)"
    return plane_across(line.direction)[0], "x across the axis"


def _towards(x: Array, hint: Array | None) -> Array:
    return -x if x @ np.asarray(hint, dtype=np.float64) < 0 else x


def _across(v: Array, z: Array) -> Array:
    return v - (v @ z) * z


def _normal_part(v: ArrayLike, z: Array, what: str) -> Array:
    part = _across(np.asarray(v, dtype=np.float64), z)
    size = float(np.linalg.norm(part))
    if not size > 1e-6 * float(np.linalg.norm(v)):
        raise ModelError(f"{what} {np.asarray(v).tolist()} is parallel to the axis {z.tolist()}: a direction across "
                         "the axis is needed")
    return part / size


# The two ends of the chain


def _first(line: AxisLine, normals: Sequence[_Normal]) -> _Normal:
    """Default frame 0: at the first common normal, or anywhere on a single axis."""
    if normals:
        return _Normal(normals[0].start, normals[0].x, normals[0].start)
    return _Normal(line.point, plane_across(line.direction)[0], line.point)


def _start(line: AxisLine, convention: str, base: Array | None, base_x: ArrayLike | None,
           size: float) -> _Normal | None:
    """Normal from frame 0 to axis 1, if the user has chosen frame 0."""
    if base is None:
        return None if base_x is None else _Normal(line.point, _normal_part(base_x, line.direction, "base_x"),
                                                   line.point)
    if base_x is not None:
        raise ConventionError("base fixes the x of frame 0 as well: give base or base_x, not both")
    origin = base[:3, 3]
    x = base[:3, 0]
    z = base[:3, 2]
    off_axis = float(np.linalg.norm(np.cross(line.point - origin, line.direction)))
    if convention == "standard":
        if np.abs(z - line.direction).max() > _MEETING or off_axis > _MEETING * size:
            raise ConventionError("in the standard convention the z axis of frame 0 is the first joint axis; the base "
                                  "given is not there: leave base out, and put the table's own base behind yours")
        return _Normal(origin, x, origin)
    end = origin + ((line.point - origin) @ x) * x
    missed = float(np.linalg.norm(np.cross(line.point - end, line.direction)))
    if abs(x @ line.direction) > _MEETING or missed > _MEETING * size:
        raise ConventionError("in the modified convention the x axis of frame 0 crosses the first joint axis at a "
                              f"right angle; that of the base given misses it by {missed:.2g} m and "
                              f"{abs(x @ line.direction):.2g} rad: leave base out, and put the table's own base behind "
                              "yours")
    return _Normal(origin, x, end)


def _end(line: AxisLine, before: _Normal, convention: str, tool: Array | None, size: float) -> tuple[_Normal, Array]:
    """The last normal and the z after it.

    Standard frames take in as much of the tool as they can, modified ones end on the last axis."""
    z = line.direction
    if convention == "modified" or tool is None:
        return _Normal(before.end, before.x, before.end), z
    place = tool[:3, 3]
    x_tool = tool[:3, 0]
    z_tool = tool[:3, 2]
    foot = line.point + ((place - line.point) @ z) * z
    distance = float(np.linalg.norm(place - foot))
    if distance > _SAME_PLACE * size:
        x = _across(place - foot, z) / distance
        x = -x if x @ x_tool < _MEETING - 1 else x
        return _Normal(foot, x, place), _normal_part(z_tool, x, "z") if abs(x @ z_tool) <= _MEETING else z
    x = _normal_part(x_tool if abs(x_tool @ z) <= _MEETING else np.cross(z, z_tool), z, "x")
    return _Normal(place, x, place), _normal_part(z_tool, x, "z")


# Numbers from normals


def _assignment(lines: Sequence[AxisLine], z: Sequence[Array], normals: Sequence[_Normal], convention: Convention,
                tool: Array | None, pairs: tuple[AxisPair, ...]) -> FrameAssignment:
    """Rows from the string of normals 0 to n and the axes z_0 to z_(n+1)."""
    n = len(lines)
    theta = [_angle(normals[i - 1].x, normals[i].x, z[i]) for i in range(1, n + 1)]
    d = [tidy(float((normals[i].start - normals[i - 1].end) @ z[i])) for i in range(1, n + 1)]
    a = [tidy(float((normal.end - normal.start) @ normal.x)) for normal in normals]
    alpha = [_angle(z[i], z[i + 1], normals[i].x) for i in range(n + 1)]
    shift = 1 if convention == "standard" else 0
    if convention == "standard":
        frames = np.stack([_frame(normals[i].x, z[i + 1], normals[i].end) for i in range(n + 1)])
    else:
        frames = np.stack([_frame(normals[i].x, z[i], normals[i].start) for i in range(n + 1)])
    rows = tuple(
        DHRow(theta[i], d[i], a[i + shift], alpha[i + shift], line.kind, line.joint, line.body, line.limits,
              line.friction, line.rotor, line.spring) for i, line in enumerate(lines))
    table = DHTable(rows, convention, frames[0], None if tool is None else relative_pose.unchecked(frames[n], tool))
    return FrameAssignment(table, frames, pairs, _residual(table, frames, lines))


def _angle(one: Array, other: Array, about: Array) -> float:
    angle = turn_angle(float(about @ np.cross(one, other)), float(one @ other))
    return float(np.pi) if angle == -np.pi else angle


def turn_angle(sine: float, cosine: float, rounding: float = ROUNDING) -> float:
    """The angle from -pi to pi; right angles, to `rounding`, exactly."""
    angle = float(np.arctan2(sine, cosine))
    quarter = round(angle / (np.pi / 2)) * (np.pi / 2)
    return quarter if abs(angle - quarter) < rounding else angle


def tidy(length: float, rounding: float = ROUNDING) -> float:
    """A length, zero if it is rounding."""
    return 0.0 if abs(length) < rounding else length


def _frame(x: Array, z: Array, origin: Array) -> Array:
    y = np.cross(z, x)
    y = y / np.linalg.norm(y)
    return frozen_pose(Pose(np.stack([np.cross(y, z), y, z], axis=1), origin).matrix, "a frame")


def _residual(table: DHTable, frames: Array, lines: Sequence[AxisLine]) -> float:
    rebuilt = dh_frames(table, np.zeros(len(lines)))
    worst = float(np.abs(rebuilt - frames).max())
    on_axis = rebuilt[:-1] if table.convention == "standard" else rebuilt[1:]
    for frame, line in zip(on_axis, lines, strict=True):
        off_line = np.cross(line.point - frame[:3, 3], frame[:3, 2])
        worst = max(worst, float(np.abs(frame[:3, 2] - line.direction).max()), float(np.abs(off_line).max()))
    return worst


# From a mechanism


def lines_from_tree(tree: Tree, frame: str | None = None) -> tuple[AxisLine, ...]:
    """The axes of the revolute and prismatic joints on the way to a frame, at zero, in the root's frame.

    Joints of other kinds have no single axis line, and raise an error that names them. Of rotors the spin is kept, as
    the frames of a table, in which their places would be, are not those of the bodies here."""
    lines = []
    chain = chain_to(tree, frame)
    for joint, home in zip(chain.joints, chain.homes, strict=True):
        screw = joint.motion.screw
        if screw is None or (screw.turn and screw.slide):
            raise ModelError(f"joint {joint.name!r} is {joint.motion.word}: only revolute and prismatic joints are "
                             "given by an axis line")
        kind: Kind = "revolute" if screw.turn else "prismatic"
        lines.append(
            AxisLine(home[:3, 3], home[:3, :3] @ np.asarray(screw.axis), kind, joint.name, joint.child, joint.limits,
                     joint.friction, joint.rotor.spin_alone, joint.spring))
    return tuple(lines)
