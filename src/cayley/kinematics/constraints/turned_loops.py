"""Loops on a shared body, seen in its axes or in those of a leg: the same constraints with fewer operations. A loop
that holds a point holds three components of it, along any axes. Where several loops hold one body (the plate of a
Stewart platform), that body couples their forces: along its axes the coupling is the same wherever it is. Along the
axes of a leg the joints of that leg feel few of the components."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cayley.compiler.solving.linear import is_zero
from cayley.compiler.typing import Array
from cayley.kinematics.elementary import Step, steps_of, way_to, ways_between
from cayley.kinematics.jacobians.general_jacobian import columns_of_steps
from cayley.kinematics.jacobians.velocity import in_own_axes
from cayley.model.constraint_kinds import Constraint
from cayley.model.constraints import constraints_of
from cayley.model.joint_kinds import FrameMotion
from cayley.model.tree import Tree

_REST = np.zeros(3)


class ConstraintRows(NamedTuple):
    """Rows of constraints at a state: A (rows, nv), residual, rates and drift (rows)."""

    A: Array
    residual: Array
    rates: Array
    drift: Array


class TurnedLoop(NamedTuple):
    """A loop seen from one of its frames: its rows, the first three of which are along the axes R (3, 3) of that frame
    and not along those of the body from which both hang."""

    rows: slice
    held: ConstraintRows
    R: Array


class _End(NamedTuple):
    """A frame of a loop in its own axes: its motion, and the twists (6) that unit velocities give it by their place."""

    motion: FrameMotion
    R: Array  # of these axes, in those of the body from which both hang
    columns: dict[int, Array]


def turned_loops(tree: Tree, rows: Sequence[int], q: Array, qd: Array, *, by_legs: bool = False) -> list[TurnedLoop]:
    """The loops that are seen from a body that they share with others, or from the other one, their leg; `rows` are
    those that count."""
    found = []
    holds = Counter(_mover(tree, frame) for each in constraints_of(tree) if each.turns for frame in each.frames)
    first_row = 0
    for each in constraints_of(tree):
        counts = [holds[_mover(tree, frame)] for frame in each.frames] if each.turns else []
        if len(set(counts)) == 2:
            side = int((counts[1] < counts[0]) is by_legs)
            ends = [_end(steps_of(*way, q), qd) for way in ways_between(tree, *each.frames)]
            if ends[side].columns and _turns_among(ends[side].R, [first_row + k in rows for k in range(3)]):
                found.append(_turned(tree, each, first_row, ends, side))
        first_row += len(each.row_names)
    return found


def _turns_among(R: Array, counts: list[bool]) -> bool:
    return all(is_zero(R[i, j]) for i in range(3) for j in range(3) if counts[i] != counts[j])


def _mover(tree: Tree, frame: str) -> str:
    """The last joint before a frame, with which it moves, or none."""
    links, _ = way_to(tree, frame)
    return links[-1].joint if links else ""


def _turned(tree: Tree, loop: Constraint, first_row: int, ends: list[_End], side: int) -> TurnedLoop:
    R = ends[side].R
    turns = [np.eye(3) if k == side else R.T @ end.R for k, end in enumerate(ends)]
    moving = [_turned_motion(turn, end.motion) for turn, end in zip(turns, ends, strict=True)]
    at_rest = [motion._replace(u=_REST, w=_REST, du=_REST, dw=_REST) for motion in moving]
    columns = [np.zeros(len(loop.row_names))] * tree.nv
    for k, (turn, end) in enumerate(zip(turns, ends, strict=True)):
        for place, twist in end.columns.items():
            moved = at_rest.copy()
            moved[k] = moved[k]._replace(u=turn @ twist[:3], w=turn @ twist[3:])
            columns[place] = np.stack([row.rate for row in loop.rows(moved, [])])
    rows = slice(first_row, first_row + len(loop.row_names))
    found = [np.stack(each) for each in zip(*loop.rows(moving, []), strict=True)]
    return TurnedLoop(rows, ConstraintRows(np.stack(columns, axis=1), *found), R)


def _end(steps: list[Step], qd: Array) -> _End:
    R = np.eye(3)
    p = _REST  # from the body from which both hang, in the frame's own axes
    for step in steps:
        R = R @ step.pose.R
        p = step.pose.R.T @ (p + step.pose.p)
    found = in_own_axes(steps, qd, np.zeros(len(qd)))
    columns = {first + k: column for first, matrix in columns_of_steps(steps, _REST)
               for k, column in enumerate(matrix.T)}
    return _End(FrameMotion(np.eye(3), p, *found), R, columns)


def _turned_motion(turn: Array, motion: FrameMotion) -> FrameMotion:
    return FrameMotion(*[turn @ each for each in motion])
