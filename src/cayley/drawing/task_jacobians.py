"""Jacobians for pictures: of the position or the orientation of a frame, in the plane of a planar mechanism only what
can change there.

The task "position" of a planar mechanism is two rows, to the right and up; "orientation" is one, about the normal;
"pose" is both. Elements of different units are refused unless a characteristic length is given: see
`cayley.kinematics.singular.indices`.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array
from cayley.drawing.views import view_of
from cayley.errors import ConventionError
from cayley.kinematics.singular.indices import ROW_UNITS, column_units, made_uniform, uniform_jacobian
from cayley.model.constraints import constraints_on, is_tied
from cayley.model.tree import Tree

_PARTS = {"position": ("linear",), "orientation": ("angular",), "pose": ("linear", "angular")}


def task_rows(tree: Tree, task: str) -> tuple[Array, list[str]]:
    """The rows (m, 6) that pick a task out of a twist (v; w), and the unit of each, "m" or "rad"."""
    if task not in _PARTS:
        raise ConventionError(f'the task is "position", "orientation" or "pose", not {task!r}')
    view = view_of(tree)
    blocks = {"linear": view.rows, "angular": view.normal[None] if view.flat else view.rows}
    rows = [
        np.concatenate([row, np.zeros(3)] if part == "linear" else [np.zeros(3), row]) for part in _PARTS[task]
        for row in blocks[part]]
    units = [ROW_UNITS[0] if part == "linear" else ROW_UNITS[3] for part in _PARTS[task] for _ in blocks[part]]
    return np.stack(rows), units


def task_jacobian(tree: Tree, q: Array, frame: str, task: str, characteristic_length: float | None) -> Array:
    """The Jacobian (m, n) of a task in the root's axes, by the velocities of `drive_units`."""
    rows, units = task_rows(tree, task)
    columns = drive_units(tree, frame)
    whole = uniform_jacobian(tree, q, frame, task="pose", axes="world", characteristic_length=1.0)
    return made_uniform((rows @ whole)[:, whole.shape[1] - len(columns):], rows=units, columns=columns,
                        characteristic_length=characteristic_length)


def drive_units(tree: Tree, frame: str) -> list[str]:
    """The units, "m" or "rad", of the velocities that a picture's Jacobian is by: of the joints on the way to the
    frame; of the actuated joints, if constraints tie these together. A free base without wheels is held.

    >>> from cayley.model.catalogue import load_robot
    >>> drive_units(load_robot("four_bar"), "rocker")
    ['rad']
    """
    units = column_units(tree, frame)
    base = free_base(tree, frame)
    return units if base is None or is_tied(tree, frame) else units[tree.joints[base].motion.nv:]


def free_base(tree: Tree, frame: str) -> int | None:
    """The number of the joint that lets the whole mechanism move about, as on wheels or afloat: the first on the way to
    a frame, if it has several velocities, no drive, and no constraint that holds positions."""
    way = tree.path(tree.body_number(tree.frame(frame).body))
    if not way or tree.joints[way[0]].motion.nv < 2 or tree.joints[way[0]].name in tree.actuated_joints:
        return None
    return None if any(each.positions for each in constraints_on(tree, way[:1])) else way[0]


def task_jacobian_kernel(tree: Tree, frame: str, task: str, characteristic_length: float | None) -> Kernel:
    """The Jacobian of a task, compiled, for many configurations at once."""
    rows, units = task_rows(tree, task)
    columns = drive_units(tree, frame)
    made_uniform(np.zeros((len(rows), len(columns))), rows=units, columns=columns,
                 characteristic_length=characteristic_length)
    return kernel(f"({tree.nq})->({len(rows)},{len(columns)})", name="task_jacobian")(
        lambda q: task_jacobian(tree, q, frame, task, characteristic_length))
