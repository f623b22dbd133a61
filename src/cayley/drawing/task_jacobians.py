"""Jacobians for pictures: of the position or the orientation of a frame, in the plane of a planar mechanism only what
can change there.

The task "position" of a planar mechanism is two rows, to the right and up; "orientation" is one, about the normal;
"pose" is both. Elements of different units are refused unless a characteristic length is given: see
`cayley.kinematics.singular.uniform_units`.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array
from cayley.drawing.views import view_of
from cayley.errors import ConventionError
from cayley.kinematics.singular.uniform_units import ROW_UNITS, made_uniform, uniform_jacobian, velocity_units
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
    """The Jacobian (m, n) of a task in the root's axes, by the velocities of the joints on the way to the frame."""
    rows, units = task_rows(tree, task)
    columns = list(velocity_units(tree, frame).values())
    whole = uniform_jacobian(tree, q, frame, task="pose", axes="world", characteristic_length=1.0)
    return made_uniform(rows @ whole, rows=units, columns=columns, characteristic_length=characteristic_length)


def task_jacobian_kernel(tree: Tree, frame: str, task: str, characteristic_length: float | None) -> Kernel:
    """The same, compiled, for many configurations at once."""
    rows = len(task_rows(tree, task)[0])
    n = len(velocity_units(tree, frame))
    made_uniform(np.zeros((rows, n)), rows=task_rows(tree, task)[1], columns=list(velocity_units(tree, frame).values()),
                 characteristic_length=characteristic_length)
    return kernel(f"({tree.nq})->({rows},{n})", name="task_jacobian")(
        lambda q: task_jacobian(tree, q, frame, task, characteristic_length))
