"""Maps of the workspace of any mechanism with loops in a plane, on one branch: its singular curves, and the inverse
condition number in between.

A point of a curve is a closed configuration with the held rows kept and a determinant of zero, D_d (direct) or D_i
(inverse) of `map_fields`, or with a joint at its limit. It is found by Newton's method in all joints, for which the
fold where a branch ends is nothing special, and moved along the curve to where that is nearest to a place of the grid.
Direct curves are followed to the end of the branch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike
from cayley.drawing.map_fields import MapFields, MapGrid
from cayley.drawing.views import free_base, view_of
from cayley.errors import ConventionError
from cayley.extras import optional_imports
from cayley.kinematics.constraints.structure import constraint_structure
from cayley.kinematics.continuation import Corrected, corrected, follow
from cayley.kinematics.inverse.goal import Task
from cayley.kinematics.loops.closing import is_within_limits
from cayley.kinematics.singular.indices import ROW_UNITS, made_uniform
from cayley.machines.workspace_maps import WorkspaceMap, grid_of
from cayley.model.constraints import constraints_on, tied_joints
from cayley.model.coordinate_labels import velocity_labels
from cayley.model.locking import locked
from cayley.model.tree import Tree
from cayley.progress import working

with optional_imports():
    from contourpy import contour_generator

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
_AXES = {"x": 0, "y": 1, "z": 2}


def workspace_map_of(tree: Tree, frame: str, *, start: ArrayLike, box: ArrayLike, plane: str | None = None,
                     task: str | Sequence[bool] | None = None, characteristic_length: float | None = None,
                     resolution: int = 80) -> WorkspaceMap:
    """The map of a frame's origin over a box ((left, bottom), (right, top)) [m] of a plane, on the branch of a start.

    start    a closed configuration (nq), or one near it; what the map does not move stays as it is there, with the base
             of a mechanism afloat or on wheels
    plane    two axes of the root, "xy"; by default that of a planar mechanism
    task     as many rows as there are degrees of freedom, those of the plane among them; by default the plane alone,
             with the turn in it, the position, or the pose, whichever has as many

    >>> from cayley.machines import FiveBar
    >>> linkage = FiveBar([(0.0, 0.0), (0.5, 0.0)], cranks=[0.3, 0.3], rods=[0.4, 0.4])
    >>> start = linkage.configuration([0.25, 0.5], linkage.inverse_position([0.25, 0.5])[1])
    >>> workspace_map_of(linkage.tree(), "point", start=start, box=((-0.2, 0.3), (0.7, 0.7)), resolution=30)
    <five-bar: point: area 0.18... m^2, 1 inverse and 0 direct singular curves, ...>
    """
    tree, start = _on_held_base(tree, frame, start)
    rows, flat = _rows(tree, plane, task)
    names = [f"{letter} [m]" for letter in _AXES]
    with working() as say:
        say(f"{tree.name}: the places that {frame} reaches")
        fields = kept(tree, ("map", frame, rows, flat), lambda: MapFields(tree, frame, rows, flat))
        grid = MapGrid(fields, start, *grid_of(box, resolution))
        q = grid.reached()
        say(f"{tree.name}: the singular curves of {frame}")
        curves = MapCurves(grid, q)
        return WorkspaceMap(f"{tree.name}: {frame}", (names[flat[0]], names[flat[1]]), grid.horizontal, grid.vertical,
                            _index(fields, q, characteristic_length), tuple(curves.inverse()), tuple(curves.direct()),
                            tuple(curves.limits()))


def _on_held_base(tree: Tree, frame: str, start: ArrayLike) -> tuple[Tree, ArrayLike]:
    """The mechanism with a free base, and the wheels under it, locked where they are at the start."""
    base = free_base(tree, frame)
    q = np.asarray(start, dtype=float)
    if base is None or q.shape != (tree.nq,):
        return tree, start
    wheels = constraints_on(tree, [base])
    still = sorted(frozenset({base}).union(*[tied_joints(tree, each) for each in wheels]))
    free = tree.without_constraints(*[each.name for each in wheels])
    names = [tree.joints[k].name for k in still if tree.joints[k].motion.nq]
    return locked(free, names, q), np.delete(q, np.concatenate([np.r_[tree.q_slices[k]] for k in still]).astype(int))


def _rows(tree: Tree, plane: str | None, task: str | Sequence[bool] | None) -> tuple[tuple[bool, ...], tuple[int, int]]:
    """The rows of the task, and the places of the two in the plane."""
    if plane is not None and (len(plane) != 2 or plane[0] == plane[1] or not set(plane) <= set(_AXES)):
        raise ConventionError(f'a plane must be two axes of the root, as "xy", not {plane!r}')
    view = view_of(tree)
    if plane is None and not (view.flat and np.allclose(np.abs(view.rows).max(axis=1), 1.0)):
        raise ConventionError(f'{tree.name} does not move in a plane of its axes: name one, plane="xy"')
    flat = tuple(int(np.abs(row).argmax()) for row in view.rows) if plane is None else tuple(_AXES[a] for a in plane)
    freedoms = constraint_structure(tree).mobility
    turn = 3 + ({0, 1, 2} - set(flat)).pop()
    usual = {2: flat, 3: (*flat, turn) if view.flat else (0, 1, 2), 6: tuple(range(6))}
    if task is None and freedoms not in usual:
        raise ConventionError(f"{tree.name} has {freedoms} degrees of freedom: say which rows of the frame's motion "
                              "they are, task=(...)")
    rows = tuple(k in usual[freedoms] for k in range(6)) if task is None else Task.of(tree, task, "world").rows
    if sum(rows) != freedoms or not all(rows[k] for k in flat):
        raise ConventionError(
            f"the task of a map has the two rows of its plane, and as many as {tree.name} has degrees of freedom, "
            f"{freedoms}; not {rows}")
    return rows, (flat[0], flat[1])


def _index(fields: MapFields, q: Array, characteristic_length: float | None) -> Array:
    """The inverse condition number (k, l)."""
    labels = velocity_labels(fields.tree)
    drives = [labels[k][1] for k in fields.drives]
    rows = [ROW_UNITS[k] for k in fields.chosen]
    scale = made_uniform(np.ones((len(rows), len(drives))), rows=rows, columns=drives,
                         characteristic_length=characteristic_length)  # of the Jacobian, which `rates` inverts
    values = np.full(q.shape[:2], np.nan)
    fine = np.asarray(np.isfinite(q).all(axis=-1))
    K = fields.rates(q[fine]) / scale.T
    good = np.isfinite(K).all(axis=(-2, -1))
    K[~good] = np.eye(len(rows))
    s = np.linalg.svd(K, compute_uv=False)
    values[fine] = np.where(good, s[:, -1] / s[:, 0], 0.0)
    return values


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
    """The distance of a coordinate from its limit, with the gradient by the velocities."""
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
