"""Maps of the workspace of any mechanism with loops in a plane, with its singular curves, on one branch: the grid of
`map_grid`, the curves of `map_curves`, and the inverse condition number in between."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike
from cayley.drawing.map_curves import MapCurves
from cayley.drawing.map_fields import MapFields, MapGrid
from cayley.drawing.views import free_base, view_of
from cayley.errors import ConventionError
from cayley.kinematics.constraints.structure import constraint_structure
from cayley.kinematics.inverse.goal import Task
from cayley.kinematics.singular.indices import ROW_UNITS, made_uniform
from cayley.machines.workspace_maps import WorkspaceMap, grid_of
from cayley.model.constraints import constraints_on, tied_joints
from cayley.model.coordinate_labels import velocity_labels
from cayley.model.locking import locked
from cayley.model.tree import Tree

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
    fields = kept(tree, ("map", frame, rows, flat), lambda: MapFields(tree, frame, rows, flat))
    grid = MapGrid(fields, start, *grid_of(box, resolution))
    q = grid.reached()
    curves = MapCurves(grid, q)
    names = [f"{letter} [m]" for letter in _AXES]
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
