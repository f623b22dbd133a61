"""Maps of the workspace of any mechanism with loops in a plane, with its singular curves, on one branch.

    A qd = 0, T J qd = xd      as many rows of the task as there are degrees of freedom: two lie in the plane of the
                               map, the others are held
    D_i = det (A; T J)         zero where the frame loses a motion (inverse): the branch of the map ends there
    D_d = det (A; S)           zero where the frame moves although the actuated joints S qd are held (direct)
From a start the places of a grid are reached one after the other by Newton's method from a neighbour, on the side of
D_i = 0 where the start is. A point of a singular curve is a closed configuration with the held rows kept and a
determinant of zero, found by Newton's method in all joints, for which the fold of the branch is nothing special.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from contourpy import contour_generator

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.symbols import wrapped
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.drawing.views import view_of
from cayley.errors import ConventionError, UnreachableError, UnsupportedError
from cayley.kinematics import constraints
from cayley.kinematics.actuated_motion import check_untimed
from cayley.kinematics.actuation import actuation
from cayley.kinematics.closing import close, is_within_limits
from cayley.kinematics.configuration_kernels import integrate_kernel, rate_kernel
from cayley.kinematics.constraint_structure import constraint_structure
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.inverse.task import Task, task_error, task_jacobian
from cayley.kinematics.uniform_units import ROW_UNITS, made_uniform
from cayley.mechanisms.workspace_maps import WorkspaceMap, grid_of
from cayley.model.coordinate_labels import velocity_labels
from cayley.model.tree import Tree

_NEWTON = 8
_REACHED = 1e-9  # [m, rad]
_FARTHEST = 1.0  # [rad, m]: a neighbour is not farther in any joint
_NEAR = 2.0  # cells: how far from the grid's place a point of a curve may be
_SLIDE = 0.2  # [rad, m]
_MOST_STEPS = 400
_STILL = 1e-11
_SHORTEST = 1e-4  # of a cell
_AXES = {"x": 0, "y": 1, "z": 2}


def workspace_map_of(tree: Tree, frame: str, *, start: ArrayLike, box: ArrayLike, plane: str | None = None,
                     task: str | Sequence[bool] | None = None, characteristic_length: float | None = None,
                     resolution: int = 80) -> WorkspaceMap:
    """The map of a frame's origin over a box ((left, bottom), (right, top)) [m] of a plane, on the branch of a start.

    start    a closed configuration (nq), or one near it; what the map does not move stays as it is there
    plane    two axes of the root, "xy"; by default that of a planar mechanism
    task     as many rows as there are degrees of freedom, those of the plane among them; by default the plane alone,
             with the turn in it, the position, or the pose, whichever has as many

    >>> from cayley.mechanisms import FiveBar
    >>> linkage = FiveBar([(0.0, 0.0), (0.5, 0.0)], cranks=[0.3, 0.3], rods=[0.4, 0.4])
    >>> start = linkage.configuration([0.25, 0.5], linkage.inverse_position([0.25, 0.5])[1])
    >>> workspace_map_of(linkage.tree(), "point", start=start, box=((-0.2, 0.3), (0.7, 0.7)), resolution=30)
    <five-bar: point: area 0.18... m^2, 1 inverse and 0 direct singular curves, ...>
    """
    rows, flat = _rows(tree, plane, task)
    fields = kept(tree, ("map", frame, rows, flat), lambda: _Fields(tree, frame, rows, flat))
    return _Map(fields, start, *grid_of(box, resolution)).drawn(characteristic_length)


def _rows(tree: Tree, plane: str | None, task: str | Sequence[bool] | None) -> tuple[tuple[bool, ...], tuple[int, int]]:
    """The rows of the task, and the places of the two in the plane."""
    if plane is not None and (len(plane) != 2 or plane[0] == plane[1] or not set(plane) <= set(_AXES)):
        raise ConventionError(f'a plane is two axes of the root, as "xy", not {plane!r}')
    view = view_of(tree)
    if plane is None and not (view.flat and np.allclose(np.abs(view.rows).max(axis=1), 1.0)):
        raise ConventionError(f'{tree.name} does not move in a plane of its axes: say which one is meant, plane="xy"')
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


class _Fields:
    """What is compiled for a mechanism, a frame and a task."""

    def __init__(self, tree: Tree, frame: str, rows: tuple[bool, ...], flat: tuple[int, int]) -> None:
        check_untimed(tree)
        structure = constraint_structure(tree)
        if actuation(tree).kind != "fully actuated" or not structure.by_structure:
            raise UnsupportedError(
                f"a map with singular curves is of a mechanism with as many drives as degrees of freedom, whose "
                f"redundant constraints are the same everywhere: {tree.name} is {actuation(tree)}")
        self.tree = tree
        self.frame = frame
        self.task = Task(rows, "world")
        self.flat = flat
        self.chosen = [k for k, asked in enumerate(rows) if asked]
        self.leading = list(structure.leading)
        self.drives = list(tree.actuated_velocities)
        self.in_plane = [len(self.leading) + self.chosen.index(k) for k in flat]
        self.integrate = kept(tree, "integrate", lambda: integrate_kernel(tree))

    def _equations(self, q: Array, target: Array) -> tuple[Array, Array]:
        """The rows (nv, nv) of constraints and task, and what is missing (nv)."""
        missing = np.concatenate(task_error(self.tree, q, self.frame, target, self.task))
        rows = task_jacobian(self.tree, q, self.frame, target, self.task)
        A = constraints.jacobian(self.tree, q)[self.leading]
        left = constraints.residual(self.tree, q)[self.leading]
        return wrapped(np.concatenate([A, rows])), np.concatenate([-left, missing])

    @cached_property
    def equations(self) -> Kernel[tuple[Array, Array]]:
        n = self.tree.nv
        return kernel(f"({self.tree.nq}),(4,4)->({n},{n}),({n})", name="equations", outputs=("rows", "missing"))(
            self._equations)

    @cached_property
    def step(self) -> Kernel[tuple[Array, Array, Array]]:
        """One step of Newton's method (nv), what is missing (nv), and D_i."""
        def step(q: Array, target: Array) -> tuple[Array, Array, Scalar]:
            rows, missing = self._equations(q, target)
            return np.linalg.solve(rows, missing), missing, np.linalg.det(rows)

        n = self.tree.nv
        return kernel(f"({self.tree.nq}),(4,4)->({n}),({n}),()", outputs=("step", "missing", "D"))(step)

    @cached_property
    def place(self) -> Kernel:
        return kernel(f"({self.tree.nq})->(4,4)", name="place")(
            lambda q: frame_pose(self.tree, q, self.frame).matrix)

    @cached_property
    def rates(self) -> Kernel:
        """The velocities of the actuated joints by those of the task, (m, m)."""
        m = len(self.chosen)

        def rates(q: Array) -> Array:
            rows, _ = self._equations(q, frame_pose(self.tree, q, self.frame).matrix)
            right = np.concatenate([np.zeros((len(self.leading), m)), np.eye(m)])
            return np.linalg.solve(rows, right)[self.drives]

        return kernel(f"({self.tree.nq})->({m},{m})", name="rates")(rates)

    def _determinant(self, q: Array, direct: bool) -> Scalar:
        if direct:
            A = constraints.jacobian(self.tree, q)[self.leading]
            others = [k for k in range(self.tree.nv) if k not in self.drives]
            return np.linalg.det(wrapped(A)[:, others])
        return np.linalg.det(self._equations(q, frame_pose(self.tree, q, self.frame).matrix)[0])

    def determinant(self, direct: bool) -> Kernel:
        """D_d or D_i with its gradient by the velocities, (1 + nv)."""
        def make() -> Kernel:
            n = self.tree.nq
            value = kernel(f"({n})->()", name="determinant", inputs=("q",))(lambda q: self._determinant(q, direct))
            slope = value.jacobian("q")
            by_velocity = rate_kernel(self.tree).jacobian("qd")

            def determinant(q: Array) -> Array:
                return np.concatenate([np.stack([value(q)]), slope(q) @ by_velocity(q, np.zeros(self.tree.nv))])

            return kernel(f"({n})->({1 + self.tree.nv})", inputs=("q",))(determinant)

        return kept(self, ("determinant", direct), make)


@dataclass(frozen=True, eq=False)
class _Map:
    """One map: the fields, the start, and the grid."""

    fields: _Fields
    start: ArrayLike
    horizontal: Array
    vertical: Array

    def drawn(self, characteristic_length: float | None) -> WorkspaceMap:
        q = self._reached()
        names = [f"{letter} [m]" for letter, k in _AXES.items()]
        fields = self.fields
        title = f"{fields.tree.name}: {fields.frame}"
        values = self._index(q, characteristic_length)
        direct = self._direct_curves(q)
        inverse = self._inverse_curves(q)
        return WorkspaceMap(title, (names[fields.flat[0]], names[fields.flat[1]]), self.horizontal, self.vertical,
                            values, tuple(inverse), tuple(direct), ())

    # The grid

    @cached_property
    def _begun(self) -> Array:
        tree = self.fields.tree
        closed = close(tree, np.asarray(self.start, dtype=float))
        if closed.configuration.shape != (tree.nq,) or closed.status == "open":
            raise UnreachableError(f"a map starts at one closed configuration ({tree.nq}) of {tree.name}: none was "
                                   "found near the start")
        return closed.configuration

    @cached_property
    def _cell(self) -> float:
        return float(max(self.horizontal[1] - self.horizontal[0], self.vertical[1] - self.vertical[0]))

    def _target(self, places: Array) -> Array:
        """Poses (..., 4, 4) of the frame at places (..., 2) of the plane, otherwise as at the start."""
        target = np.broadcast_to(self.fields.place(self._begun), (*places.shape[:-1], 4, 4)).copy()
        for k, axis in enumerate(self.fields.flat):
            target[..., axis, 3] = places[..., k]
        return target

    def _reached(self) -> Array:
        """Configurations (k, l, nq), NaN where the branch does not get to."""
        here = self.fields.place(self._begun)[list(self.fields.flat), 3]
        first = np.array([np.abs(self.vertical - here[1]).argmin(), np.abs(self.horizontal - here[0]).argmin()])
        goal = np.array([self.horizontal[first[1]], self.vertical[first[0]]])
        q = self._begun
        for part in np.linspace(0, 1, 2 + int(np.linalg.norm(goal - here) / self._cell))[1:]:
            q, fine = self._moved(q[None], (here + part * (goal - here))[None])
            q = q[0]
            if not fine[0]:
                raise UnreachableError(
                    f"the frame is at {here.round(6).tolist()} at the start, and does not get into the box from there")
        found = np.full((len(self.vertical), len(self.horizontal), self.fields.tree.nq), np.nan)
        found[tuple(first)] = q
        front = first[None]
        while len(front):
            front = self._spread(found, front)
        return found

    def _spread(self, found: Array, front: Array) -> Array:
        """The neighbours (n, 2) of the front that were reached."""
        steps = np.array([(1, 0), (-1, 0), (0, 1), (0, -1)])
        pairs = np.concatenate([np.stack([front, front + step], axis=1) for step in steps])
        inside = ((pairs[:, 1] >= 0) & (pairs[:, 1] < found.shape[:2])).all(axis=1)
        pairs = pairs[inside]
        pairs = pairs[np.isnan(found[tuple(pairs[:, 1].T)]).any(axis=-1)]
        if not len(pairs):
            return pairs[:, 1]
        places = np.stack([self.horizontal[pairs[:, 1, 1]], self.vertical[pairs[:, 1, 0]]], axis=1)
        q, fine = self._moved(found[tuple(pairs[:, 0].T)], places)
        found[tuple(pairs[fine, 1].T)] = q[fine]
        return np.unique(pairs[fine, 1], axis=0)

    @cached_property
    def _side(self) -> float:
        return float(np.sign(self.fields.step(self._begun, self.fields.place(self._begun))[2]))

    def _moved(self, starts: Array, places: Array) -> tuple[Array, Array]:
        """Configurations (n, nq) at places (n, 2) from others nearby, and which of them are on the branch."""
        targets = self._target(places)
        q = starts.copy()
        fine = np.ones(len(q), dtype=bool)
        for _ in range(_NEWTON):
            step, missing, _ = self.fields.step(q, targets)
            fine &= np.isfinite(step).all(axis=-1)
            step = np.where(fine[:, None], step, 0.0)
            fine &= np.abs(step).max(axis=-1) < _FARTHEST
            q = self.fields.integrate(q, np.where(fine[:, None], step, 0.0))
            if not fine.any() or np.abs(missing[fine]).max() < 1e-13:
                break
        _, missing, D = self.fields.step(q, targets)
        near = np.abs(q - starts).max(axis=-1) < _FARTHEST
        fine &= (np.abs(missing).max(axis=-1) < _REACHED) & (np.sign(D) == self._side) & near
        return q, fine & is_within_limits(self.fields.tree, q)

    def _index(self, q: Array, characteristic_length: float | None) -> Array:
        """The inverse condition number (k, l)."""
        fields = self.fields
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

    # Curves

    def _onto(self, q: Array, points: Array, direct: bool, *, sliding: bool = True) -> tuple[Array, Array]:
        """Configurations (n, nq) moved to a zero of a determinant, the held rows kept, and with `sliding` along the
        curve to where it is nearest to points (n, 2) of the plane; and which of them got there."""
        fields = self.fields
        at = q.copy()
        fine = np.ones(len(q), dtype=bool)
        left = np.zeros(len(q))
        for _ in range(2 * _NEWTON):
            M, right, in_plane, missing = self._curve_equations(at, points, direct)
            fine = fine & np.isfinite(M).all(axis=(1, 2)) & np.isfinite(right).all(axis=1)
            M[~fine] = np.eye(*M.shape[1:])
            right[~fine] = 0.0
            U, values, V = np.linalg.svd(M)
            side = np.einsum("nij,ni->nj", U, right)
            back = np.einsum("nij,ni->nj", V[:, :-1], side / np.maximum(values, 1e-12 * values[:, :1]))
            along = np.einsum("nij,nj->ni", in_plane, V[:, -1])
            slide = (along * missing).sum(axis=1) / np.maximum((along**2).sum(axis=1), 1e-300) if sliding else 0 * left
            left = np.abs(back).max(axis=-1)
            if (left[fine] < _STILL).all() and (np.abs(slide[fine]) < _REACHED).all():
                break
            step = back + np.clip(np.where(left < 0.1, slide, 0.0), -_SLIDE, _SLIDE)[:, None] * V[:, -1]
            at = fields.integrate(at, step / np.maximum(1.0, 5.0 * np.abs(step).max(axis=-1))[:, None])
        at = np.where(fine[:, None], at, q)
        near = np.linalg.norm(self._places(at) - points, axis=1) < _NEAR * self._cell
        return at, fine & near & (left < _REACHED) & is_within_limits(fields.tree, at)

    def _curve_equations(self, q: Array, points: Array, direct: bool) -> tuple[Array, Array, Array, Array]:
        """Rows (n, nv - 1, nv) of a curve and what they miss, and the two rows of the plane with what those miss."""
        fields = self.fields
        kept_rows = [k for k in range(fields.tree.nv) if k not in fields.in_plane]
        rows, missing = fields.equations(q, self._target(points))
        D = fields.determinant(direct)(q)
        size = np.linalg.norm(D[:, 1:], axis=1, keepdims=True)
        with np.errstate(all="ignore"):
            M = np.concatenate([rows[:, kept_rows], D[:, None, 1:] / size[..., None]], axis=1)
            right = np.concatenate([missing[:, kept_rows], -D[:, :1] / size], axis=1)
        return M, right, rows[:, fields.in_plane], missing[:, fields.in_plane]

    def _places(self, q: Array) -> Array:
        return self.fields.place(q)[..., list(self.fields.flat), 3]

    def _direct_curves(self, q: Array) -> list[Array]:
        fine = np.asarray(np.isfinite(q).all(axis=-1))
        values = np.full(fine.shape, np.nan)
        values[fine] = self.fields.determinant(direct=True)(q[fine])[:, 0]
        pieces = []
        for line in contour_generator(self.horizontal, self.vertical, np.ma.masked_invalid(values)).lines(0.0):
            points = np.asarray(line)
            at, there = self._onto(q[self._nearest(points, fine)], points, direct=True)
            if there.sum() > 1:
                pieces.append((at[there], bool((points[0] == points[-1]).all())))
        places = [self._places(at) for at, _ in pieces]
        curves = []
        for number, (at, closes) in enumerate(pieces):
            others = np.concatenate([np.zeros((0, 2)), *places[:number], *places[number + 1:]])
            ends = [] if closes else [self._followed(at[1], at[0], others)[::-1],
                                      self._followed(at[-2], at[-1], others)]
            curves.append(self._places(np.concatenate([*ends[:1], at, *ends[1:]])))
        return curves

    def _followed(self, before: Array, q: Array, others: Array) -> Array:
        """Configurations (n, nq) that go on a direct curve after q, which came after `before`, to the end of the
        branch or of the box, or to others (m, 2) that are known."""
        fields = self.fields
        found: list[Array] = []
        heading = self._places(q) - self._places(before)
        size = self._cell
        for _ in range(_MOST_STEPS):
            M, _, in_plane, _ = self._curve_equations(q[None], self._places(q)[None], True)
            tangent = np.linalg.svd(M[0])[2][-1]
            along = in_plane[0] @ tangent
            pace = np.linalg.norm(along)
            if not pace > 0:
                break
            step = size / pace * np.sign(along @ heading) * tangent
            trial = fields.integrate(q, step / max(1.0, 5.0 * float(np.abs(step).max())))
            at, there = self._onto(trial[None], self._places(trial)[None], direct=True, sliding=False)
            place = self._places(at[0])
            on_branch = np.sign(fields.step(at[0], fields.place(at[0]))[2]) == self._side
            if there[0] and on_branch:
                heading = place - self._places(q)
                q = at[0]
                found.append(q)
                met = np.linalg.norm(others - place, axis=1).min(initial=np.inf) < self._cell
                if met or not self._is_inside(place):
                    break
            else:
                size /= 2
                if size < _SHORTEST * self._cell:
                    break
        return np.array(found).reshape(-1, fields.tree.nq)

    def _is_inside(self, place: Array) -> bool:
        return bool(self.horizontal[0] <= place[0] <= self.horizontal[-1]
                    and self.vertical[0] <= place[1] <= self.vertical[-1])

    def _nearest(self, points: Array, fine: Array) -> tuple[Array, Array]:
        """The places on the grid that were reached and are nearest to points (n, 2)."""
        known = np.argwhere(fine)
        places = np.stack([self.horizontal[known[:, 1]], self.vertical[known[:, 0]]], axis=1)
        best = known[((points[:, None] - places) ** 2).sum(axis=-1).argmin(axis=1)]
        return best[:, 0], best[:, 1]

    def _inverse_curves(self, q: Array) -> list[Array]:
        fine = np.asarray(np.isfinite(q).all(axis=-1))
        padded = np.pad(fine, 1, constant_values=True)  # the edge of the box is no boundary
        around = padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
        edge = fine & ~around
        if not edge.any():
            return []
        at, there = self._onto(q[edge], self._places(q[edge]), direct=False)
        return _chained(self._places(at[there]), 3 * self._cell)


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
