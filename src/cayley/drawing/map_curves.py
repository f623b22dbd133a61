"""The singular curves of a mechanism with loops in the plane of a map.

A point of a curve is a closed configuration with the held rows kept and a determinant of zero, D_d (direct) or D_i
(inverse), or with a joint at its limit. It is found by Newton's method in all joints, for which the fold where a branch
ends is nothing special, and moved along the curve to where that is nearest to a place of the grid. Direct curves are
followed to the end of the branch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from contourpy import contour_generator

from cayley.compiler.typing import Array
from cayley.drawing.map_fields import MapGrid
from cayley.kinematics.continuation import Corrected, corrected, follow
from cayley.kinematics.loops.closing import is_within_limits

Field = Callable[[Array], Array]
"""Values and gradients by the velocities, (n, 1 + nv), at configurations (n, nq)."""

_NEWTON = 17
_REACHED = 1e-9  # [m, rad]
_STILL = 1e-11
_NEAR = 2.0  # cells: how far from the grid's place a point of a curve may be
_SLIDE = 0.2  # [rad, m]
_MOST_STEPS = 400
_SHORTEST = 1e-4  # of a cell
_NEAR_A_LIMIT = 0.5  # [rad, m]: those that are farther from a limit on the grid are not next to its curve


@dataclass(frozen=True, eq=False)
class MapCurves:
    """The grid, and the configurations (k, l, nq) that are reached on it."""

    grid: MapGrid
    q: Array

    def _onto(self, q: Array, points: Array, zero: Field, *, sliding: bool = True) -> tuple[Array, Array, Array]:
        """Configurations (n, nq) moved to a zero of a field, the held rows kept, and with `sliding` along the curve to
        where it is nearest to points (n, 2) of the plane; which of them got there, and the tangents (n, nv)."""
        def equations(at: Array) -> tuple[Array, Array]:
            rows, missing = self.grid.fields.equations(at, targets)
            with np.errstate(all="ignore"):
                own = zero(at)
                own = own / np.linalg.norm(own[:, 1:], axis=1, keepdims=True)
            return (np.concatenate([rows[:, kept_rows], own[:, None, 1:]], axis=1),
                    np.concatenate([missing[:, kept_rows], -own[:, :1]], axis=1))

        def slide(found: Corrected) -> Array:
            rows, missing = self.grid.fields.equations(found.points, targets)
            along = np.einsum("nij,nj->ni", rows[:, in_plane], found.tangent)
            size = (along * missing[:, in_plane]).sum(axis=1) / np.maximum((along**2).sum(axis=1), 1e-300)
            return np.clip(np.where(found.is_known & (found.step < 0.1), size, 0.0), -_SLIDE, _SLIDE)

        fields = self.grid.fields
        in_plane = fields.in_plane
        kept_rows = [k for k in range(fields.tree.nv) if k not in in_plane]
        targets = self.grid.target(points)
        found = corrected(equations, fields.integrate, q, iterations=_NEWTON, tolerance=_STILL, longest=0.2,
                          along=slide if sliding else None)
        at = np.where(found.is_known[:, None], found.points, q)
        near = np.linalg.norm(self.grid.places(at) - points, axis=1) < _NEAR * self.grid.cell
        there = found.is_known & near & (found.step < _REACHED) & is_within_limits(fields.tree, at)
        return at, there, found.tangent

    def direct(self) -> list[Array]:
        """Curves (n, 2) on which the frame gains a motion."""
        q = self.q
        direct = self.grid.fields.determinant(direct=True)
        fine = np.asarray(np.isfinite(q).all(axis=-1))
        values = np.full(fine.shape, np.nan)
        values[fine] = direct(q[fine])[:, 0]
        pieces = []
        traced = contour_generator(self.grid.horizontal, self.grid.vertical, np.ma.masked_invalid(values))
        for line in traced.lines(0.0):
            points = np.asarray(line)
            at, there, _ = self._onto(q[self._nearest(points, fine)], points, direct)
            if there.sum() > 1:
                pieces.append((at[there], bool((points[0] == points[-1]).all())))
        places = [self.grid.places(at) for at, _ in pieces]
        curves = []
        for number, (at, closes) in enumerate(pieces):
            others = np.concatenate([np.zeros((0, 2)), *places[:number], *places[number + 1:]])
            ends = [] if closes else [self._followed(at[1], at[0], others)[::-1],
                                      self._followed(at[-2], at[-1], others)]
            curves.append(self.grid.places(np.concatenate([*ends[:1], at, *ends[1:]])))
        return curves

    def _followed(self, before: Array, q: Array, others: Array) -> Array:
        """Configurations (n, nq) that go on a direct curve after q, which came after `before`, to the end of the
        branch or of the box, or to others (m, 2) that are known."""
        fields = self.grid.fields
        direct = fields.determinant(direct=True)

        def tangent(at: Array, ahead: Array, heading: Array) -> Array:
            """The tangent along which the frame goes on as it heads, of such a length that it moves at unit speed."""
            along = fields.equations(at, fields.place(at))[0][fields.in_plane] @ ahead
            with np.errstate(all="ignore"):
                return np.sign(along @ heading) * ahead / np.linalg.norm(along)

        def advance(at: Array, ahead: Array, h: float) -> tuple[Array, Array] | None:
            if not np.isfinite(ahead).all():
                return None
            step = h * ahead
            trial = fields.integrate(at, step / max(1.0, 5.0 * float(np.abs(step).max())))
            moved, there, turned = self._onto(trial[None], self.grid.places(trial)[None], direct, sliding=False)
            if not there[0] or np.sign(fields.step(moved[0], fields.place(moved[0]))[2]) != self.grid.side:
                return None
            return moved[0], tangent(moved[0], turned[0], self.grid.places(moved[0]) - self.grid.places(at))

        def ends(at: Array) -> bool:
            place = self.grid.places(at)
            met = np.linalg.norm(others - place, axis=1).min(initial=np.inf) < self.grid.cell
            return bool(met) or not self.grid.contains(place)

        first = self._onto(q[None], self.grid.places(q)[None], direct, sliding=False)[2][0]
        found = follow(q, tangent(q, first, self.grid.places(q) - self.grid.places(before)), advance,
                       longest=self.grid.cell, shortest=_SHORTEST * self.grid.cell, straight=-np.inf, growth=1.0,
                       most=_MOST_STEPS, ends=ends)
        return found.points[1:]

    def _nearest(self, points: Array, fine: Array) -> tuple[Array, Array]:
        """The places on the grid that were reached and are nearest to points (n, 2)."""
        known = np.argwhere(fine)
        places = np.stack([self.grid.horizontal[known[:, 1]], self.grid.vertical[known[:, 0]]], axis=1)
        best = known[((points[:, None] - places) ** 2).sum(axis=-1).argmin(axis=1)]
        return best[:, 0], best[:, 1]

    def inverse(self) -> list[Array]:
        """Curves (n, 2) on which it loses one: the boundary of the branch."""
        return self._boundary(self._edge, self.grid.fields.determinant(direct=False))

    def limits(self) -> list[Array]:
        """Curves (n, 2) on which a joint of one coordinate is at its limit."""
        tree = self.grid.fields.tree
        curves = []
        for joint, place, velocity in zip(tree.joints, tree.q_slices, tree.v_slices, strict=True):
            if joint.motion.nq == 1:
                for bound in {tree.lower[place][0], tree.upper[place][0]} - {-np.inf, np.inf}:
                    near = np.abs(self._edge[:, place.start] - bound) < _NEAR_A_LIMIT
                    curves += self._boundary(self._edge[near], _coordinate(place.start, velocity.start, bound, tree.nv))
        return curves

    @cached_property
    def _edge(self) -> Array:
        """The configurations (n, nq) on the grid that have a neighbour which is not reached."""
        fine = np.asarray(np.isfinite(self.q).all(axis=-1))
        padded = np.pad(fine, 1, constant_values=True)  # the edge of the box is no boundary
        around = padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
        return self.q[fine & ~around]

    def _boundary(self, edge: Array, zero: Field) -> list[Array]:
        if not len(edge):
            return []
        at, there, _ = self._onto(edge, self.grid.places(edge), zero)
        return _chained(self.grid.places(at[there]), 3 * self.grid.cell)


def _coordinate(place: int, velocity: int, bound: float, size: int) -> Field:
    """How far a coordinate is from its limit, with the gradient by the velocities."""
    unit = np.eye(size)[velocity]
    return lambda q: np.concatenate([q[:, place, None] - bound, np.broadcast_to(unit, (len(q), size))], axis=1)


def _chained(points: Array, gap: float) -> list[Array]:
    """Points (n, 2) of curves as lines, each from point to nearest point, broken where that is farther than a gap."""
    left = list(points)
    lines = []
    while left:
        line = [left.pop()]
        for _ in range(2):
            while left:
                distances = np.linalg.norm(np.array(left) - line[-1], axis=1)
                best = int(distances.argmin())
                if distances[best] > gap:
                    break
                line.append(left.pop(best))
            line.reverse()
        if len(line) > 1:
            closes = len(line) > 8 and np.linalg.norm(line[0] - line[-1]) < gap
            lines.append(np.array([*line, line[0]] if closes else line))
    return lines
