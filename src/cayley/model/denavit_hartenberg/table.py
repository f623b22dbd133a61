"""Denavit-Hartenberg tables: four numbers a joint, in the "standard" or the "modified" convention.

    standard (distal):           A_i = Rot(z, theta_i) Tran(z, d_i) Tran(x, a_i) Rot(x, alpha_i);  z_i lies on axis i+1
    modified (proximal, Craig):  A_i = Tran(x, a_i) Rot(x, alpha_i) Tran(z, d_i) Rot(z, theta_i);  z_i lies on axis i

In both, row i carries the index i on all four numbers; Craig writes a_(i-1), alpha_(i-1) for the modified row's a_i,
alpha_i. A revolute joint adds its coordinate to theta, a prismatic one to d. `base` is the pose of frame 0 in the frame
of the user's base, `tool` the pose of the tool in frame n. Sources: Ruggiu 2.2, (2.38)-(2.41), standard; Balafoutis &
Patel (2.3.1)-(2.3.4) and Yamamoto (1.17), modified."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike, FieldArray, Scalar
from cayley.errors import ConventionError, ModelError, shown
from cayley.geometry.rotations.euler import roll_pitch_yaw_from_matrix
from cayley.model.angle_texts import ANGLES, angle_of
from cayley.model.joint_kinds import KINDS
from cayley.model.parts import LARGEST, Friction, Limits, Rotor, frozen_pose
from cayley.model.spring_kinds import SpringKind
from cayley.showing import escape, html_table

Convention = Literal["standard", "modified"]
Kind = Literal["revolute", "prismatic"]

_MOVING = re.compile(r"\s*(?:(?P<before>[^q]+?)\s*\+\s*)?[qθ]_?(?P<number>\d*)\*?\s*"
                     r"(?:(?P<sign>[+-])\s*(?P<after>[^q]+))?")
_COLUMNS = ("theta", "d", "a", "alpha")


def check_convention(convention: str) -> None:
    """Raise `ConventionError` unless the convention is one of the two that are known."""
    if convention not in get_args(Convention):
        raise ConventionError("the Denavit-Hartenberg convention must be named: 'standard' (distal: z of frame i on "
                              f"axis i+1) or 'modified' (proximal, Craig: z of frame i on axis i), not {convention!r}")


# The transform of one row


@kernel("(),(),(),()->(4,4)")
def standard_dh_pose(theta: Scalar, d: Scalar, a: Scalar, alpha: Scalar) -> Array:
    """A_i = Rot(z, theta) Tran(z, d) Tran(x, a) Rot(x, alpha): pose of frame i in frame i-1. Ruggiu (2.38).

    >>> standard_dh_pose(np.pi / 2, 0.3, 0.2, 0.0)[:3, 3].round(15)
    array([0. , 0.2, 0.3])
    """
    ct = np.cos(theta)
    st = np.sin(theta)
    ca = np.cos(alpha)
    sa = np.sin(alpha)
    return np.array([[ct, -ca * st, sa * st, a * ct],
                     [st, ca * ct, -sa * ct, a * st],
                     [0.0, sa, ca, d],
                     [0.0, 0.0, 0.0, 1.0]])


@kernel("(),(),(),()->(4,4)")
def modified_dh_pose(theta: Scalar, d: Scalar, a: Scalar, alpha: Scalar) -> Array:
    """A_i = Tran(x, a) Rot(x, alpha) Tran(z, d) Rot(z, theta): pose of frame i in frame i-1. Balafoutis & Patel
    (2.3.1), Yamamoto (1.17).

    The last column is s_(i-1,i) = (a, -d sin(alpha), d cos(alpha)), (2.3.4).

    >>> modified_dh_pose(0.0, 0.3, 0.2, np.pi / 2)[:3, 3].round(15)
    array([ 0.2, -0.3,  0. ])
    """
    ct = np.cos(theta)
    st = np.sin(theta)
    ca = np.cos(alpha)
    sa = np.sin(alpha)
    return np.array([[ct, -st, 0.0, a],
                     [ca * st, ca * ct, -sa, -d * sa],
                     [sa * st, sa * ct, ca, d * ca],
                     [0.0, 0.0, 0.0, 1.0]])


ROW_POSES = {"standard": standard_dh_pose, "modified": modified_dh_pose}


def along_x(a: float, alpha: float) -> Array:
    """Tran(x, a) Rot(x, alpha): the half of a row that belongs to the link (4, 4)."""
    return modified_dh_pose.reference(0.0, 0.0, a, alpha)


# Rows and tables


@dataclass(frozen=True)
class DHRow:
    """One row [rad, m]; of the moving number (theta, or d if prismatic) it gives the offset.

    Also what else is known of the joint."""

    theta: float = 0.0
    d: float = 0.0
    a: float = 0.0
    alpha: float = 0.0
    kind: Kind = "revolute"
    joint: str = ""
    body: str = ""
    limits: Limits = field(default_factory=Limits)
    friction: Friction = field(default_factory=Friction)
    rotor: Rotor = field(default_factory=Rotor)
    spring: SpringKind | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ModelError(f"a Denavit-Hartenberg row must be revolute or prismatic, not {self.kind!r}; other "
                             f"joints are not rows of a table")
        if not all(
                isinstance(value, int | float | np.number) and -LARGEST <= value <= LARGEST for value in self.numbers):
            raise ModelError(
                f"theta, d, a, alpha must be finite numbers that are not absurdly large, not {shown(self.numbers)}")
        if self.joint in KINDS:
            raise ModelError(f"the joint of a Denavit-Hartenberg row is its name, and {self.joint!r} is a kind: write "
                             f"kind={self.joint!r}")

    @property
    def numbers(self) -> tuple[float, float, float, float]:
        return self.theta, self.d, self.a, self.alpha


_HEADINGS = ("i", "joint", "theta [rad]", "d [m]", "a [m]", "alpha [rad]")


@dataclass(frozen=True, eq=False, repr=False)
class DHTable:
    """Rows in one named convention, between a base and a tool."""

    rows: tuple[DHRow, ...]
    convention: Convention
    base: FieldArray = None  # pose of frame 0 in the user's base, (4, 4)
    tool: FieldArray = None  # pose of the tool in frame n, (4, 4)

    def __post_init__(self) -> None:
        check_convention(self.convention)
        object.__setattr__(self, "rows", tuple(self.rows))
        object.__setattr__(self, "base", frozen_pose(self.base, "the base of the Denavit-Hartenberg table"))
        object.__setattr__(self, "tool", frozen_pose(self.tool, "the tool of the Denavit-Hartenberg table"))
        if not self.rows:
            raise ModelError("a Denavit-Hartenberg table needs at least one row")

    @property
    def ends(self) -> dict[str, str]:
        """The poses "base" and "tool" in words, if they are not the identity: position [m], and roll, pitch and yaw
        [rad]."""
        poses = {"base": self.base, "tool": self.tool}
        return {name: _pose_in_words(pose) for name, pose in poses.items() if not np.array_equal(pose, np.eye(4))}

    @property
    def words(self) -> list[tuple[str, str, str, str, str, str]]:
        """Number, kind of joint, theta, d, a and alpha of each row."""
        found: list[tuple[str, str, str, str, str, str]] = []
        for i, row in enumerate(self.rows, 1):
            theta = angle_in_words(row.theta)
            d = length_in_words(row.d)
            if row.kind == "revolute":
                theta = moving_number(i, row.theta, angle_in_words)
            else:
                d = moving_number(i, row.d, length_in_words)
            found.append((str(i), row.kind, theta, d, length_in_words(row.a), angle_in_words(row.alpha)))
        return found

    def __str__(self) -> str:
        lines = [f"{i:>3} {kind:<10} {theta:>14} {d:>12} {a:>12} {alpha:>14}"
                 for i, kind, theta, d, a, alpha in [_HEADINGS, *self.words]]
        ends = self.ends
        first, last = ([f"{name}: {ends[name]}"] if name in ends else [] for name in ("base", "tool"))
        return "\n".join([f"{lines[0]}   {self.convention}", *first, *lines[1:], *last])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        ends = "".join(f"<p>{escape(name)}: {escape(pose)}</p>" for name, pose in self.ends.items())
        return html_table(f"Denavit-Hartenberg, {self.convention}", _HEADINGS, self.words) + ends


def angle_in_words(angle: float) -> str:
    """A simple part of pi by its name, other angles in radians.

    >>> [angle_in_words(x) for x in (-np.pi / 2, 3 * np.pi / 4, np.pi, 0.0, 0.3)]
    ['-pi/2', '3 pi/4', 'pi', '0', '0.3']
    """
    part = Fraction(angle / np.pi).limit_denominator(12)
    if not part or abs(angle - float(part) * np.pi) > 1e-12 * abs(angle):
        return f"{angle + 0.0:.6g}"
    whole = {1: "", -1: "-"}.get(part.numerator, f"{part.numerator} ")
    return f"{whole}pi" + (f"/{part.denominator}" if part.denominator > 1 else "")


def length_in_words(length: float) -> str:
    """Six digits."""
    return f"{length + 0.0:.6g}"


def moving_number(i: int, offset: float, words: Callable[[float], str]) -> str:
    """The coordinate of joint i, and what is added to it: "q2 - pi/2"."""
    return f"q{i} {'+' if offset > 0 else '-'} {words(abs(offset))}" if offset else f"q{i}"


def _pose_in_words(pose: Array) -> str:
    position = ", ".join(map(length_in_words, pose[:3, 3]))
    angles = roll_pitch_yaw_from_matrix(pose[:3, :3]).angles
    turns = np.where(angles == -np.pi, np.pi, angles)
    turned = f", roll, pitch, yaw = {', '.join(map(angle_in_words, turns))} rad" if np.any(
        pose[:3, :3] != np.eye(3)) else ""
    return f"x, y, z = {position} m{turned}"


def rows_from_numbers(numbers: Iterable[Iterable[Any]], *, order: str = "theta d a alpha") -> tuple[DHRow, ...]:
    """Rows from numbers, and texts as a book has them, in the order of a printed table: ("q1 + pi/2", 0.3, 0, "pi/2").
    `order` names the columns, `kind` among them if the table has it; a row may also have its kind after them.

    >>> rows_from_numbers([(0.0, 0.0, 0.4), (0.5, 0.0, 0.0, "prismatic")], order="a alpha d kind")[1]
    DHRow(theta=0.0, d=0.0, a=0.5, alpha=0.0, kind='prismatic', ...)
    """
    columns = order.split()
    known = {"theta", "d", "a", "alpha", "kind"}
    if not set(columns) <= known or len(set(columns)) != len(columns):
        raise ConventionError(f"the columns of a table must be some of theta, d, a, alpha, kind, not {order!r}")
    return tuple(_row_from_numbers(row, columns, place) for place, row in enumerate(numbers, start=1))


def _row_from_numbers(row: Any, columns: list[str], place: int) -> DHRow:  # noqa: ANN401 (it is told what is wrong)
    values = (row,) if isinstance(row, str) or not np.ndim(row) else tuple(row)
    asked = [*columns, "kind"] if "kind" not in columns and len(values) == len(columns) + 1 else columns
    if len(values) != len(asked) and not (asked[-1] == "kind" and len(values) == len(asked) - 1):
        raise ModelError(f"row {place} of the table has {len(values)} entries, {values}; it needs {' '.join(columns)}, "
                         "and may have a kind after them: \"prismatic\"")
    return DHRow(**_numbers_of_row(dict(zip(asked, values, strict=False)), place))  # type: ignore[arg-type]  # by name


def _numbers_of_row(values: dict[str, float | str], place: int) -> dict[str, float | str]:
    """A row of numbers and texts, by column, as numbers and its kind; the coordinate of its joint, q1 in row 1, stands
    in theta or in d.

    >>> _numbers_of_row({"theta": "pi", "d": "q2 + 0.1", "a": 0.5, "alpha": "0 deg"}, 2)
    {'theta': 3.141592653589793, 'd': 0.1, 'a': 0.5, 'alpha': 0.0, 'kind': 'prismatic'}
    """
    moving = [key for key in ("theta", "d") if _is_moving(values.get(key))]
    if any(_is_moving(values.get(key)) for key in ("a", "alpha")) or len(moving) > 1:
        raise ModelError(
            f"row {place} of the table: the coordinate must be in theta (revolute) or in d (prismatic), once")
    kind = values.get("kind", "prismatic" if moving == ["d"] else "revolute")
    if moving and moving != [{"revolute": "theta", "prismatic": "d"}.get(str(kind))]:
        raise ModelError(f"row {place} of the table is {kind}, and its coordinate stands in {moving[0]}")
    return {key: _number_of(values[key], key, place) for key in _COLUMNS if key in values} | {"kind": kind}


def _is_moving(value: float | str | None) -> bool:
    return isinstance(value, str) and ("q" in value or "θ" in value)


def _number_of(value: float | str, key: str, place: int) -> float:
    """A number of a row; of the coordinate its offset."""
    if not isinstance(value, str):
        return value
    if not _is_moving(value):
        return _constant(value, key, place)
    match = _MOVING.fullmatch(value)
    if match is None or (match["before"] and match["after"]):
        raise ModelError(
            f"row {place} of the table: {key} is {shown(value)}; write \"q{place}\" or \"q{place} + pi/2\"")
    if match["number"] and int(match["number"]) != place:
        raise ModelError(f"row {place} of the table has {shown(value)}: the rows are in the order of the joints, and "
                         f"its coordinate is q{place}")
    offset = match["before"] or match["after"]
    sign = -1.0 if match["sign"] == "-" else 1.0
    return sign * _constant(offset, key, place) if offset else 0.0


def _constant(text: str, key: str, place: int) -> float:
    try:
        return angle_of(text) if key in ("theta", "alpha") and ("pi" in text or "deg" in text) else float(text)
    except ValueError:
        angle = f", or {ANGLES}" if key in ("theta", "alpha") else ""
        raise ModelError(f"row {place} of the table: {key} is {shown(text)}, which is not a number{angle}; rows have "
                         'numbers, and `equations(parameters="symbols")` has letters') from None


# Positions


def moving_numbers(table: DHTable, q: ArrayLike) -> tuple[Array, Array]:
    """theta and d (..., n) of the rows at the joint coordinates `q` (..., n)."""
    q = np.asarray(q, dtype=np.float64)
    if q.ndim == 0 or q.shape[-1] != len(table.rows):
        raise ModelError(
            f"the table has {len(table.rows)} joints: q must have the shape (..., {len(table.rows)}), not {q.shape}")
    turns = np.array([row.kind == "revolute" for row in table.rows])
    theta, d = (np.array([getattr(row, key) for row in table.rows]) for key in ("theta", "d"))
    return theta + np.where(turns, q, 0.0), d + np.where(turns, 0.0, q)


def dh_row_poses(table: DHTable, q: ArrayLike) -> Array:
    """A_1 to A_n at `q` (..., n): the pose of each frame in the one before, (..., n, 4, 4)."""
    theta, d = moving_numbers(table, q)
    a, alpha = (np.array([getattr(row, key) for row in table.rows]) for key in ("a", "alpha"))
    return ROW_POSES[table.convention](theta, d, a, alpha)


def dh_row_poses_at_zero(table: DHTable) -> list[Array]:
    """The same at q = 0, by the texts themselves: reading a table compiles nothing."""
    return [ROW_POSES[table.convention].reference(row.theta, row.d, row.a, row.alpha) for row in table.rows]


def dh_frames(table: DHTable, q: ArrayLike) -> Array:
    """The poses of frames 0 to n at `q` (..., n) in the frame of the user's base, (..., n + 1, 4, 4): base A_1 ... A_i.
    Ruggiu (2.39).

    >>> arm = DHTable(rows_from_numbers([(0, 0, 0.5, 0), (0, 0, 0.4, 0)]), "standard")   # a planar 2R arm
    >>> dh_frames(arm, [0.0, np.pi / 2])[2, :2, 3].round(15)
    array([0.5, 0.4])
    """
    steps = dh_row_poses(table, q)
    frames = [np.broadcast_to(table.base, (*steps.shape[:-3], 4, 4))]
    for i in range(len(table.rows)):
        frames.append(frames[-1] @ steps[..., i, :, :])
    return np.stack(frames, axis=-3)


def dh_tool_pose(table: DHTable, q: ArrayLike) -> Array:
    """The pose of the tool at `q` (..., n) in the frame of the user's base, (..., 4, 4): base A_1 ...

    A_n tool. Ruggiu (2.39)-(2.41)."""
    return dh_frames(table, q)[..., -1, :, :] @ table.tool


# From one convention to the other


def convert_dh(table: DHTable, *, convention: Convention) -> DHTable:
    """The same chain in the named convention. Every pose is kept: the two differ in where one row ends and the next
    begins.

    Both strings of transforms are Z_1 X_1 Z_2 X_2 ... with Z = Rot(z) Tran(z), X = Tran(x) Rot(x). Standard rows are
    Z_i X_i, modified ones X_(i-1) Z_i; what is left over at an end goes into the tool (to modified) or into the base
    (to standard), where a constant is free. A tool that is such an X is the end of the last standard row: there and
    back again is the same table.

    >>> arm = DHTable(rows_from_numbers([(0, 0.1, 0.5, 1.0), (0, 0, 0.4, 0)]), "standard")
    >>> print(convert_dh(arm, convention="modified"))
      i joint         theta [rad]        d [m]        a [m]    alpha [rad]   modified
      1 revolute               q1          0.1            0              0
      2 revolute               q2            0          0.5              1
    tool: x, y, z = 0.4, 0, 0 m
    """
    check_convention(convention)
    if convention == table.convention:
        return table
    links = [(row.a, row.alpha) for row in table.rows]
    if convention == "modified":
        shifted = [(0.0, 0.0), *links[:-1]]
        ends = {"base": table.base, "tool": along_x(*links[-1]) @ table.tool}
    else:
        a = float(table.tool[0, 3])
        alpha = float(np.arctan2(table.tool[2, 1], table.tool[2, 2]))
        last = (a, alpha) if np.allclose(along_x(a, alpha), table.tool, rtol=0, atol=1e-15) else (0.0, 0.0)
        shifted = [*links[1:], last]
        ends = {"base": table.base @ along_x(*links[0]), "tool": None if any(last) else table.tool}
    rows = tuple(replace(row, a=a, alpha=alpha) for row, (a, alpha) in zip(table.rows, shifted, strict=True))
    return DHTable(rows, convention, **ends)
