"""Mechanisms from Denavit-Hartenberg tables, and back. The convention is always named.

A body's frame in the mechanism sits on its own joint axis: for the modified convention it is the convention's frame; a
standard table is read as the modified one with the same poses (see `convert_dh`), so both give the same bodies. The
convention's own frames are there as named frames: "frame0" on the base, "frame1" to "frame n" on the links, and "tool".
Mass properties are given, as in published tables, in the convention's frame of each link."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ConventionError, ModelError, warn_user
from cayley.geometry.inertia.tensors import inertia_about_center
from cayley.geometry.motions.homogeneous import relative_pose
from cayley.model.chains import chain_pose, chain_to
from cayley.model.denavit_hartenberg.axis_lines import (
    ROUNDING,
    AxisLine,
    AxisPair,
    Sense,
    assign_frames,
    lines_from_tree,
    tidy,
    turn_angle,
)
from cayley.model.denavit_hartenberg.table import (
    Convention,
    DHRow,
    DHTable,
    along_x,
    check_convention,
    convert_dh,
    dh_row_poses_at_zero,
    dh_tool_pose,
)
from cayley.model.findings import Remark
from cayley.model.joint_kinds import Prismatic, Revolute
from cayley.model.masses import IDLE, gravity_is_idle
from cayley.model.parts import Body, Frame, Joint, frozen
from cayley.model.tree import GRAVITY, Tree
from cayley.showing import brief

About = Literal["center", "origin"]

_ROUNDED = 0.01  # [rad], of a turn that is written with two or three figures
_OF_PRODUCTS = 1e-14  # the rounding of poses along a chain, beside its reach


def tree_from_dh(rows: Iterable[DHRow], *, convention: Convention, name: str = "arm", base: ArrayLike | None = None,
                 tool: ArrayLike | None = None, masses: Sequence[float | None] | None = None,
                 centers: ArrayLike | None = None, inertias: ArrayLike | None = None, inertia_about: About = "center",
                 gravity: ArrayLike | None = None, base_body: Body | str = "base", frames: Iterable[Frame] = (),
                 source: str = "") -> Tree:
    """A mechanism from a Denavit-Hartenberg table in the named convention.

    `base` (4, 4) is the pose of frame 0 in the root, `tool` (4, 4) that of the tool in frame n; both are the identity
    if not given. `masses` (n) [kg], `centers` (n, 3) [m] and `inertias` (n, 3, 3) [kg m^2] are in frame i; the inertias
    are about the centre of mass, or about the origin of frame i if `inertia_about` is "origin". A mass of None is
    unknown, one of 0 is a massless link. Joints and bodies are named by the rows, or "joint1", "link1" and so on.
    `frames` are further frames, on the bodies. `gravity` is (0, 0, -9.81) if not given.

    A `ModelWarning`, which stays among the notes of the mechanism, says what was perhaps not meant: angles of more than
    a turn, masses without centres, and gravity that was not given and acts on no joint.

    >>> arm = tree_from_dh([DHRow(a=0.5), DHRow(a=0.4)], convention="standard")
    >>> [f.name for f in arm.frames]
    ['frame0', 'frame1', 'frame2', 'tool']
    """
    check_convention(convention)
    if inertia_about not in ("center", "origin"):
        raise ConventionError(f"inertia_about must be 'center' or 'origin', not {inertia_about!r}")
    table = DHTable(tuple(rows), convention, base, tool)
    bodies = [Body(row.body or f"link{i}") for i, row in enumerate(table.rows, 1)]
    bodies = _with_masses(table, bodies, masses, centers, inertias, inertia_about)
    root = Body(base_body) if isinstance(base_body, str) else base_body
    named = _frames(table, root, bodies)
    made = Tree.of(name, [root, *bodies], _joints(convert_dh(table, convention="modified"), root, bodies),
                   frames=[*named, *frames], gravity=GRAVITY if gravity is None else gravity, source=source)
    doubts = [*_turns_in_degrees(table), *([] if centers is not None else _masses_at_origins(convention, bodies))]
    said = list(map(str, doubts))
    if gravity is None and any(body.mass for body in bodies) and gravity_is_idle(made):
        said.append(f"gravity is (0, 0, -9.81), and acts on no joint: {IDLE}, one that lies flat gravity=(0, 0, -9.81)")
    for sentence in said:
        warn_user(f"{name}: {sentence}")
    return replace(made, notes=tuple(doubts))


def _turns_in_degrees(table: DHTable) -> list[Remark]:
    """Angles of more than a turn."""
    return [Remark("angle in degrees", (row.joint or f"joint{i}",),
                    f"{key} of row {i} is {angle:g} rad, more than a turn: if this is degrees, write \"{angle:g} deg\"")
            for i, row in enumerate(table.rows, 1) for key, angle in (("theta", row.theta), ("alpha", row.alpha))
            if abs(angle) > 2 * np.pi + _ROUNDED]


def _masses_at_origins(convention: str, bodies: Sequence[Body]) -> list[Remark]:
    """Masses for which no centre was given."""
    names = tuple(body.name for body in bodies if body.mass)
    where, middle = {"standard": ("at the far ends of the links", "(-a/2, 0, 0)"),
                     "modified": ("on the axes of their joints", "(a/2, 0, 0)")}[convention]
    return [Remark("centers missing", names,
                    f"masses without `centers` are at the origins of their frames, {where}: the middle of a link is "
                    f"{middle}; `centers=np.zeros(({len(bodies)}, 3))` says that they are there")] if names else []


def _joints(table: DHTable, root: Body, bodies: Sequence[Body]) -> list[Joint]:
    steps = dh_row_poses_at_zero(table)
    steps[0] = table.base @ steps[0]
    names = [root.name, *[body.name for body in bodies]]
    return [
        Joint(row.joint or f"joint{i + 1}", names[i], names[i + 1],
              Revolute() if row.kind == "revolute" else Prismatic(), steps[i], row.limits, row.friction, row.rotor,
              spring=row.spring)
        for i, row in enumerate(table.rows)]


def _frames(table: DHTable, root: Body, bodies: Sequence[Body]) -> list[Frame]:
    own = [_frame_in_body(table, row) for row in table.rows]
    links = [Frame(f"frame{i}", body.name, pose) for i, (body, pose) in enumerate(zip(bodies, own, strict=True), 1)]
    return [Frame("frame0", root.name, table.base), *links, Frame("tool", bodies[-1].name, own[-1] @ table.tool)]


def _frame_in_body(table: DHTable, row: DHRow) -> Array:
    """The pose of the convention's frame in the frame of the body, which is on the joint axis."""
    return along_x(row.a, row.alpha) if table.convention == "standard" else np.eye(4)


def _with_masses(table: DHTable, bodies: Sequence[Body], masses: Sequence[float | None] | Array | None,
                 centers: ArrayLike | None, inertias: ArrayLike | None, about: str) -> list[Body]:
    n = len(bodies)
    if masses is None:
        if centers is not None or inertias is not None:
            raise ModelError("centers or inertias without masses: give the masses as well")
        return list(bodies)
    if len(masses) != n:
        raise ModelError(f"the table has {n} rows, but there are {len(masses)} masses")
    centers = frozen(np.zeros((n, 3)) if centers is None else centers, (n, 3), "centers")
    inertias = frozen(np.zeros((n, 3, 3)) if inertias is None else inertias, (n, 3, 3), "inertias")
    return [_with_mass(body, mass, center, inertia, about, _frame_in_body(table, row))
            for body, mass, center, inertia, row in zip(bodies, masses, centers, inertias, table.rows, strict=True)]


def _with_mass(body: Body, mass: float | None, center: Array, inertia: Array, about: str, frame: Array) -> Body:
    if about == "origin":
        inertia = inertia_about_center.reference(0.0 if mass is None else mass, center, inertia)
    R = frame[:3, :3]
    given = Body(body.name, mass, center, inertia)  # which must be symmetric
    if np.array_equal(frame, np.eye(4)):
        return given
    turned = R @ inertia @ R.T
    return Body(body.name, mass, R @ center + frame[:3, 3], (turned + turned.T) / 2)


# And back


@dataclass(frozen=True, eq=False)
class DHResult:
    """Denavit-Hartenberg `table` from the root to the frame `tip`, its `residual` (largest difference of a pose entry
    between table and mechanism over random coordinates, lengths in metres), and the `pairs` of neighbouring axes with
    the choices made."""

    table: DHTable
    tip: str
    residual: float
    pairs: tuple[AxisPair, ...]

    __repr__ = brief


def dh_from_tree(tree: Tree, *, convention: Convention, frame: str | None = None, base: ArrayLike | None = None,
                 base_x: ArrayLike | None = None, sense: Sense = "feet", x_hints: Sequence[Any] | None = None,
                 tolerance: float = 1e-12) -> DHResult:
    """The Denavit-Hartenberg table of the chain from the root to a frame, in the named convention.

    `frame` may be left out if the mechanism has a frame "tool", or only one end. The table has the coordinates of the
    mechanism; fixed joints are folded into it, and the constants at the ends are its base and tool. The options are
    those of `assign_frames`. A chain with joints that are neither revolute nor prismatic, or with mimic joints, has no
    table: the error names the joint. So is one whose table would miss its poses by more than `tolerance` times its
    reach: neighbouring axes that are nearly, but not quite, parallel have feet far away, where rounding is felt.

    >>> arm = tree_from_dh([DHRow(a=0.5), DHRow(d=0.2, a=0.4)], convention="standard")
    >>> print(dh_from_tree(arm, convention="modified").table)
      i joint         theta [rad]        d [m]        a [m]    alpha [rad]   modified
      1 revolute               q1            0            0              0
      2 revolute               q2            0          0.5              0
    tool: x, y, z = 0.4, 0, 0.2 m
    """
    check_convention(convention)
    lines = lines_from_tree(tree, frame)
    chain = chain_to(tree, frame)
    found = assign_frames(lines, convention=convention, base=base, base_x=base_x, tool=chain.tip, sense=sense,
                          x_hints=x_hints)
    residual = _difference(tree, found.table, chain.tip_name, [joint.name for joint in chain.joints])
    if not residual <= tolerance * max(1.0, chain.reach):
        raise ModelError(f"no Denavit-Hartenberg table of {tree.name} keeps the poses of {chain.tip_name!r} to "
                         f"{tolerance:.2g}: the best is {residual:.2g} off. {_advice(found.pairs)}")
    return DHResult(found.table, chain.tip_name, residual, found.pairs)


def given_table(tree: Tree, *, convention: Convention, frame: str | None = None,
                tolerance: float = 1e-12) -> DHTable | None:
    """The rows that a chain was made of, signs and offsets as they were written, in the named convention; None of a
    mechanism that was not made of a table, or is no longer what its table says.

    They are read from the frames "frame0", "frame1", ... that such a mechanism has; angles are from -pi to pi.

    >>> arm = tree_from_dh([DHRow(d=0.4, alpha=-np.pi / 2), DHRow(theta=np.pi, a=-0.3)], convention="standard")
    >>> print(given_table(arm, convention="standard"))
      i joint         theta [rad]        d [m]        a [m]    alpha [rad]   standard
      1 revolute               q1          0.4            0          -pi/2
      2 revolute          q2 + pi            0         -0.3              0
    """
    check_convention(convention)
    chain = chain_to(tree, frame)
    joints = lines_from_tree(tree, frame)
    names = [f"frame{i}" for i in range(len(joints) + 1)]
    if not {each.name for each in tree.frames}.issuperset(names):
        return None
    frames = [chain_pose(tree, name, tree.neutral) for name in names]
    ends = {"base": frames[0], "tool": relative_pose.unchecked(frames[-1], chain.tip)}
    steps = [relative_pose.unchecked(one, other) for one, other in pairwise(frames)]
    for written in sorted(get_args(Convention), key=lambda each: each != convention):
        rows = [_row_of(step, line, written, _OF_PRODUCTS * chain.reach)
                for step, line in zip(steps, joints, strict=True)]
        table = DHTable(tuple(rows), written, **ends)
        if _difference(tree, table, chain.tip_name,
                       [joint.name for joint in chain.joints]) <= tolerance * max(1.0, chain.reach):
            return convert_dh(table, convention=convention)
    return None


def _row_of(step: Array, line: AxisLine, convention: str, rounding: float) -> DHRow:
    """Row whose pose (4, 4) at zero is `step`, if there is one, with the data of its joint."""
    R = step[:3, :3]
    p = step[:3, 3]
    if convention == "standard":
        theta = turn_angle(R[1, 0], R[0, 0], _OF_PRODUCTS)
        alpha = turn_angle(R[2, 1], R[2, 2], _OF_PRODUCTS)
        d = p[2]
        a = p[0] * np.cos(theta) + p[1] * np.sin(theta)
    else:
        theta = turn_angle(-R[0, 1], R[0, 0], _OF_PRODUCTS)
        alpha = turn_angle(-R[1, 2], R[2, 2], _OF_PRODUCTS)
        d = p[2] * np.cos(alpha) - p[1] * np.sin(alpha)
        a = p[0]
    return DHRow(theta, tidy(float(d), rounding), tidy(float(a), rounding), alpha, line.kind, line.joint,
                 line.body, line.limits, line.friction, line.rotor, line.spring)


def _advice(pairs: Iterable[AxisPair]) -> str:
    """About the axes that are nearest to parallel without being so."""
    apart = {float(np.sin(pair.angle)): pair for pair in pairs if np.sin(pair.angle) > ROUNDING}
    if not apart:
        return "Allow the difference with tolerance="
    sine = min(apart)
    pair = apart[sine]
    return (
        f"The axes of {pair.first} and {pair.second} are {sine:.2g} rad from parallel: make them parallel, or allow "
        "the difference with tolerance=")


def _difference(tree: Tree, table: DHTable, tip: str, joints: Sequence[str]) -> float:
    samples = np.random.default_rng(0).uniform(-2.5, 2.5, (6, len(joints)))
    samples[0] = 0.0
    places = [tree.q_slices[tree.joint_number(name)].start for name in joints]
    worst = 0.0
    for sample, pose in zip(samples, dh_tool_pose(table, samples), strict=True):
        q = tree.neutral
        q[places] = sample
        worst = max(worst, float(np.abs(chain_pose(tree, tip, q) - pose).max()))
    return worst


def tree_from_axis_lines(lines: Iterable[AxisLine], *, convention: Convention, name: str = "arm",
                         base: ArrayLike | None = None, base_x: ArrayLike | None = None, tool: ArrayLike | None = None,
                         sense: Sense = "feet", x_hints: Sequence[Any] | None = None, gravity: ArrayLike = GRAVITY,
                         source: str = "") -> Tree:
    """A mechanism from the lines of its joint axes at zero, with link frames assigned in the named convention; see
    `assign_frames`."""
    found = assign_frames(lines, convention=convention, base=base, base_x=base_x, tool=tool, sense=sense,
                          x_hints=x_hints)
    table = found.table
    return tree_from_dh(table.rows, convention=convention, name=name, base=table.base, tool=table.tool, gravity=gravity,
                        source=source)
