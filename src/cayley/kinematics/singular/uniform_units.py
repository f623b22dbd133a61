"""Jacobians all of whose elements have one unit: what singular values, condition numbers and ellipsoids can be taken
of.

Rows are metres or radians a second, columns are of revolute or prismatic joints. The elements have one unit if the rows
do and the columns do; otherwise a singular value adds metres to radians, and its size depends on the unit of length.
Such a Jacobian is refused, unless a characteristic length L says how many metres are worth a radian: then lengths are
divided by L, in the rows and in the columns. Source: Ruggiu 2.3.5; spec S2-40, A-09.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ConventionError
from cayley.kinematics.constraints.actuated_motion import actuated_jacobian
from cayley.kinematics.elementary import way_to
from cayley.kinematics.inverse.task import Task
from cayley.kinematics.jacobians.general_jacobian import general_jacobian
from cayley.model.constraints import check_independent, is_tied
from cayley.model.coordinate_labels import velocity_labels
from cayley.model.tree import Tree

ROW_UNITS = ("m", "m", "m", "rad", "rad", "rad")


def velocity_units(tree: Tree, frame: str) -> dict[int, str]:
    """For each velocity on the way to a frame, by its place: "m" if it is one of length, "rad" if it is a turn."""
    check_independent(tree, "the Jacobian of a task", frame)
    units: dict[int, str] = {}
    for link in way_to(tree, frame)[0]:
        units.update(zip(range(link.columns.start, link.columns.stop), link.motion.velocity_units, strict=True))
    return units


def column_units(tree: Tree, frame: str) -> list[str]:
    """The units of the columns of `uniform_jacobian`, "m" or "rad"."""
    if not is_tied(tree, frame):
        return list(velocity_units(tree, frame).values())
    return [velocity_labels(tree)[k][1] for k in tree.actuated_velocities]


def made_uniform(J: Array, *, rows: Sequence[str], columns: Sequence[str],
                 characteristic_length: float | None = None) -> Array:
    """Jacobians (..., m, n) with elements of one unit. `rows` and `columns` are "m" or "rad", one for each.

    Without a characteristic length [m], `ConventionError` if the units differ; with one, the result has no unit.

    >>> made_uniform(np.eye(2), rows=["m", "rad"], columns=["rad", "rad"])
    Traceback (most recent call last):
    cayley.errors.ConventionError: the elements of this Jacobian have different units (rows in m and rad, columns ...
    """
    for word, units, size in (("row", rows, J.shape[-2]), ("column", columns, J.shape[-1])):
        if len(units) != size or not set(units) <= {"m", "rad"}:
            raise ConventionError(
                f'say of each {word} of the Jacobian whether it is "m" or "rad": {size} words, not {list(units)}')
    if characteristic_length is None:
        if len(set(rows)) > 1 or len(set(columns)) > 1:
            raise ConventionError(
                f"the elements of this Jacobian have different units (rows in {_words(rows)}, columns for "
                f"{_words(columns)}): no index of it has a meaning. Take positions and orientations apart, or give "
                "characteristic_length=, how many metres are worth a radian")
        return J
    if not 0 < characteristic_length < np.inf:
        raise ConventionError(f"the characteristic length must be positive and finite, not {characteristic_length}")
    lengths = {"m": float(characteristic_length), "rad": 1.0}
    scale = np.array([[lengths[c] / lengths[r] for c in columns] for r in rows])
    return J * scale


def uniform_jacobian(tree: Tree, q: Array, frame: str, *, task: str | Sequence[bool], axes: str,
                     characteristic_length: float | None = None) -> Array:
    """The rows of a frame's Jacobian that a task asks for, by the joints on the way to the frame, with elements of one
    unit: (m, n). If constraints tie these together, by the actuated joints of the mechanism.

    `task`: "pose", "position", "orientation", or six truth values for (x, y, z; x, y, z), linear first, along the axes.
    """
    chosen = [k for k, asked in enumerate(Task.of(tree, task, axes).rows) if asked]
    J = actuated_jacobian(tree, q, frame, axes=axes)[chosen] if is_tied(tree, frame) else general_jacobian(
        tree, q, frame, axes=axes)[chosen][:, list(velocity_units(tree, frame))]
    return made_uniform(J, rows=[ROW_UNITS[k] for k in chosen], columns=column_units(tree, frame),
                        characteristic_length=characteristic_length)


def _words(units: Sequence[str]) -> str:
    return " and ".join(sorted(set(units)))
