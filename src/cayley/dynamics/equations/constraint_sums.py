"""Constraints as exact sums of sines and cosines: residuals of rows, and their derivatives by the coordinates.

Where link i has a frame, and carries no other link, it is at l_i, as the next link would be; of several the second,
third, ... frame is at l_i_b, l_i_c. Directions of frames are numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.equations.readable_sums import leading_sign
from cayley.dynamics.equations.symbolic_links import ModelNumber, Scalars, way_to_root
from cayley.dynamics.equations.trigonometric_sums import Ring, RingSum
from cayley.dynamics.rigid_links.links import ROOT, Links
from cayley.errors import UnsupportedError
from cayley.geometry.pose import frame_with_z
from cayley.model.constraint_kinds import Constraint
from cayley.model.constraints import constraints_of
from cayley.model.elementary_motions import elementary_motions
from cayley.model.joint_kinds import FrameMotion, Row
from cayley.model.tree import Tree


class End(NamedTuple):
    """A frame: the link that carries it (or ROOT), where it is there, and its directions (3, 3)."""

    link: int
    origin: tuple[ModelNumber, ...]
    rotation: Array


def ends_of(tree: Tree, links: Links, frames: Sequence[str]) -> dict[str, End]:
    """The places of frames on links. Of a link that carries no other the first is at l_i, as the next link would be."""
    size = max([np.abs(link.placement[:3, 3]).max() for link in links.links], default=0.0)
    found: dict[str, End] = {}
    letters: dict[int, Any] = {}
    for frame in dict.fromkeys(frames):
        number, pose = links.place(tree, frame)
        alone = not (links.children[number] if number != ROOT else links.links)
        names = letters.setdefault(number, count(0 if alone else 1))
        place = str(number + 1)
        if np.abs(pose[:3, 3]).max() > _ROUNDING * size:
            which = next(names)
            place = f"{place}_{chr(ord('a') + which)}" if which else place
        values = [value if abs(value) > _ROUNDING * size else 0.0 for value in pose[:3, 3]]
        origin = tuple(ModelNumber("l", place, axis, float(value)) for axis,
                       value in zip("xyz", values, strict=True))
        found[frame] = End(number, origin, np.where(np.abs(pose[:3, :3]) < _ROUNDING, 0.0, pose[:3, :3]))
    return found


def frame_motion(links: Links, end: End, stop: int, q: Array, scalars: Scalars) -> FrameMotion:
    """The pose of a frame, at rest, seen from a link inwards."""
    x: Any = np.array([scalars.number(p) if p.value else 0.0 for p in end.origin])
    R: Any = end.rotation
    number = end.link
    while number != stop:
        link = links.links[number]
        x = link.offset(q) + link.inwards(x, q)
        R = np.stack([link.inwards(R[:, k], q) for k in range(3)], axis=1)
        number = link.parent
    return FrameMotion(R, x, _REST, _REST, _REST, _REST)


_ROUNDING = 1e-14
_REST = np.zeros(3)


class Cramer(NamedTuple):
    """Equations A_o x = y in the columns of dependent coordinates: x = adjugate y / determinant; `numerators` (h, m)
    are those of y = -A_p, the columns of independent ones."""

    determinant: RingSum
    adjugate: list[list[RingSum]]
    numerators: list[list[RingSum]]


class Rows(NamedTuple):
    """Residuals (h), derivatives (h, n), and second derivatives by (row, j, k) with j <= k, where they are not zero."""

    residual: list[RingSum]
    jacobian: list[list[RingSum]]
    hessian: dict[tuple[int, int, int], RingSum]
    solved: Cramer | None = None


class Ties:
    """The constraints of a mechanism, to be written with its links; `rows` are the places of those that count. With
    `independent` coordinates they are solved for the others."""

    def __init__(self, tree: Tree, links: Links, rows: Sequence[int], independent: Sequence[int] | None = None) -> None:
        self.tree = tree
        self.independent = independent
        self.rows = list(rows)
        self.constraints = constraints_of(tree)
        for each in self.constraints:
            if each.timed or each.positions < len(each.row_names):
                raise UnsupportedError(
                    f"{each.sentence}: equations are written for constraints on positions that do not depend on time; "
                    "`constraint_jacobian.equations()` has its formulas")
        self.ends = ends_of(tree, links, [frame for each in self.constraints for frame in each.frames])

    @property
    def parameters(self) -> dict[str, ModelNumber]:
        """The numbers of the frames that are not zero, by name."""
        return {p.name: p for end in self.ends.values() for p in end.origin if p.value}

    @property
    def coordinates(self) -> set[int]:
        """The coordinates that occur outside sines and cosines."""
        return {self._place(name) for each in self.constraints for name in each.coordinates}

    def sums(self, links: Links, q: Array, scalars: Scalars, ring: Ring) -> Rows:
        """On links with exact scalars."""
        zero = ring.number(0)
        found = [zero + row.value for each in self.constraints for row in self._rows(each, links, q, scalars)]
        residual = [found[k] for k in self.rows]
        slopes = [[by.rate_of(row) for by in q] for row in residual]
        hessian = {(i, j, k): q[k].rate_of(slopes[i][j])
                   for i in range(len(residual)) for j in range(len(q)) for k in range(j, len(q))}
        solved = None if self.independent is None else _cramer(slopes, self.independent, zero)
        return Rows(residual, slopes, {place: value for place, value in hessian.items() if value.terms}, solved)

    def _rows(self, constraint: Constraint, links: Links, q: Array, scalars: Scalars) -> list[Row]:
        ends = [self.ends[frame] for frame in constraint.frames]
        ways = [way_to_root(links, end.link) for end in ends]
        shared = next((k for k in (ways[0] if ways else []) if k in ways[1]), ROOT)
        motions = [self._as_in_kernels(shared, frame_motion(links, end, shared, q, scalars)) for end in ends]
        try:
            return constraint.rows(motions, [Row(q[self._place(name)], 0.0, 0.0) for name in constraint.coordinates])
        except TypeError:  # a function that such sums do not have
            raise UnsupportedError(
                f"{constraint.sentence}: it has no formulas in sines and cosines of the coordinates; "
                "`constraint_jacobian.equations()` has its own") from None

    def _as_in_kernels(self, shared: int, seen: FrameMotion) -> FrameMotion:
        """The sum in the axes of the body from which both frames hang, where the axis of its joint need not be z."""
        screw = None if shared == ROOT else elementary_motions(self.tree).motions[shared].motion.screw
        if screw is None:
            return seen
        C = frame_with_z(screw.axis)
        turned = np.where(np.abs(C) < _ROUNDING, 0.0, C)
        return seen._replace(R=turned @ seen.R, p=turned @ seen.p)

    def _place(self, joint: str) -> int:
        return self.tree.q_slices[self.tree.joint_number(joint)].start


def _cramer(A: list[list[RingSum]], independent: Sequence[int], zero: RingSum) -> Cramer:
    others = [k for k in range(len(A[0]) if A else 0) if k not in independent]
    square = [[row[k] for k in others] for row in A]
    adjugate = [[_minor(square, j, i, zero) for j in range(len(square))] for i in range(len(square))]
    if not square:
        return Cramer(zero + 1, [], [])
    determinant = sum((square[0][k] * adjugate[k][0] for k in range(len(square))), zero)
    sign = leading_sign(determinant) if determinant.terms else 1
    upright = [[entry * sign for entry in row] for row in adjugate]
    numerators = [[sum((-(entry * A[k][j]) for k, entry in enumerate(row)), zero) for j in independent]
                  for row in upright]
    return Cramer(determinant * sign, upright, numerators)


def _minor(A: list[list[RingSum]], row: int, column: int, zero: RingSum) -> RingSum:
    """A determinant with one row and one column left out, and the sign of its place."""
    rest = [[entry for j, entry in enumerate(line) if j != column] for i, line in enumerate(A) if i != row]
    return _determinant(rest, zero) * (-1) ** (row + column)


def _determinant(A: list[list[RingSum]], zero: RingSum) -> RingSum:
    if not A:
        return zero + 1
    return sum((A[0][j] * _minor(A, 0, j, zero) for j in range(len(A)) if A[0][j].terms), zero)
