"""Performance indices of a configuration for a task: condition number, isotropy, manipulability, ellipsoids.

    k = |J| |J^+|, k2 = s_max/s_min, c2 = 1/k2        w = sqrt(det(J J^T)), the product of the singular values
    velocities of the joints that give a unit velocity of the task    qd.(J^T J) qd = 1    axes V, semi-axes 1/s
    forces that unit torques of the joints can exert                  f.(J J^T) f = 1      axes U, semi-axes 1/s
    velocities of the task from unit velocities of the joints         axes U, semi-axes s, reciprocal to the forces
At a singular value of zero the first two ellipsoids are endless cylinders. The elements of J must have one unit:
otherwise an error, unless a characteristic length L says how many metres are worth a radian; then lengths in rows and
columns are divided by L. Source: Ruggiu (2.59)-(2.63), 2.3.5, (2.76), (3.62)-(3.65); spec S2-40, A-09."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ConventionError, SignatureError
from cayley.kinematics.constraints.actuated_motion import actuated_jacobian
from cayley.kinematics.elementary import way_to
from cayley.kinematics.inverse.goal import Task
from cayley.kinematics.jacobians.general_jacobian import general_jacobian
from cayley.kinematics.subspaces import Subspaces, subspaces
from cayley.model.constraints import check_independent, is_tied
from cayley.model.coordinate_labels import velocity_labels
from cayley.model.tree import Tree
from cayley.showing import brief

Norm = Literal["2", "frobenius", "1", "inf"]
NORMS = ("2", "frobenius", "1", "inf")


@dataclass(frozen=True, eq=False, repr=False)
class Indices:
    """Indices of Jacobians (..., m, n): each field (...)."""

    condition_number: Array  # k2, from 1 to infinity
    inverse_condition_number: Array  # c2: 0 where singular, 1 where isotropic
    manipulability: Array  # sqrt(det(J J^T)); zero if there are fewer joints than rows
    smallest_singular_value: Array
    isotropic: Array  # c2 is 1 but for rounding
    decomposition: Subspaces

    def __repr__(self) -> str:
        if np.ndim(self.condition_number):
            return f"<indices of {np.size(self.condition_number)} Jacobians: manipulability, condition_number, ...>"
        return (
            f"<manipulability {float(self.manipulability):.4g}, condition number {float(self.condition_number):.4g}, "
            f"smallest singular value {float(self.smallest_singular_value):.4g}>")


@dataclass(frozen=True, eq=False)
class JacobianEllipsoid:
    """Principal `axes` as columns (..., k, k) and semi-axes `lengths` (..., k), infinite along a cylinder."""

    axes: Array
    lengths: Array

    __repr__ = brief


def indices(J: ArrayLike, *, tolerance: float | None = None) -> Indices:
    """The indices of Jacobians with elements of one unit; singular values below `tolerance` of the largest count as
    zero.

    >>> found = indices([[-1.0, -1.0], [1.0, 0.0]])
    >>> round(float(found.condition_number), 6), round(float(found.manipulability), 6)
    (2.618034, 1.0)
    """
    parts = subspaces(J, tolerance=tolerance)
    s = parts.singular_values
    if not s.shape[-1]:
        raise SignatureError(
            f"a Jacobian of the shape {np.shape(J)} has no indices: there is no row or no column in it")
    c2 = np.where(parts.singular, 0.0, s[..., -1] / np.where(s[..., 0] > 0, s[..., 0], 1.0))[()]
    with np.errstate(divide="ignore"):
        k2 = 1 / c2
    wide = parts.U.shape[-1] <= parts.V.shape[-1]
    w = np.prod(s, axis=-1) if wide else np.zeros(s.shape[:-1])[()]
    return Indices(k2, c2, w, parts.smallest, c2 > 1 - 1e-9, parts)


def condition_number(J: Array, *, norm: Norm, tolerance: float | None = None) -> Array:
    """|J| |J^+| (...) in a norm of matrices; infinite where J is singular. Ruggiu (2.59). "2" and "frobenius" do not
    depend on the axes; "1" (the largest sum of a column) and "inf" (of a row) do, and bound the others to a factor of
    the size of J.

    >>> [round(float(condition_number([[-1.0, -1.0], [1.0, 0.0]], norm=norm)), 6) for norm in NORMS]
    [2.618034, 3.0, 4.0, 4.0]
    """
    if norm not in NORMS:
        raise ConventionError(f"the norm of a condition number must be one of {', '.join(map(repr, NORMS))}, not "
                              f"{norm!r}")
    found = indices(J, tolerance=tolerance)
    if norm == "2":
        return found.condition_number
    order: Any = {"frobenius": "fro", "1": 1, "inf": np.inf}[norm]
    inverse = found.decomposition.pseudo_inverse
    k = np.linalg.norm(J, order, axis=(-2, -1)) * np.linalg.norm(inverse, order, axis=(-2, -1))
    return np.where(found.decomposition.singular, np.inf, k)[()]


def joint_velocity_ellipsoid(J: ArrayLike, *, tolerance: float | None = None) -> JacobianEllipsoid:
    """The joint velocities (..., n) that give velocities of the task of length one."""
    parts = subspaces(J, tolerance=tolerance)
    return JacobianEllipsoid(parts.V, _reciprocals(parts, parts.V.shape[-1]))


def force_ellipsoid(J: ArrayLike, *, tolerance: float | None = None) -> JacobianEllipsoid:
    """The forces (..., m) that joint torques of length one exert."""
    parts = subspaces(J, tolerance=tolerance)
    return JacobianEllipsoid(parts.U, _reciprocals(parts, parts.U.shape[-1]))


def velocity_ellipsoid(J: ArrayLike, *, tolerance: float | None = None) -> JacobianEllipsoid:
    """The velocities of the task (..., m) that joint velocities of length one give; flat where J is singular."""
    parts = subspaces(J, tolerance=tolerance)
    k = parts.singular_values.shape[-1]
    lengths = np.where(np.arange(k) < np.asarray(parts.rank)[..., None], parts.singular_values, 0.0)
    return JacobianEllipsoid(parts.U, _filled(lengths, parts.U.shape[-1], 0.0))


def manipulability(tree: Tree, q: Array, frame: str, *, task: str | Sequence[bool], axes: str,
                   characteristic_length: float | None = None) -> Scalar:
    """sqrt(det(J J^T)) of the task's Jacobian as a text that can be traced, compiled and differentiated. Ruggiu (2.76).
    The Jacobian is that of `uniform_jacobian`. Its derivatives do not exist where it is zero."""
    J = uniform_jacobian(tree, q, frame, task=task, axes=axes, characteristic_length=characteristic_length)
    m, n = J.shape
    if m > n:
        return 0.0 * np.sum(q)
    if m == n:
        return np.abs(np.linalg.det(J))
    squares = [row @ row for row in orthogonal_rows(J)]  # J J^T would lose half of the digits
    return np.sqrt(reduce(lambda product, square: product * square, squares))


def orthogonal_rows(J: Array, *, passes: int = 1) -> list[Array]:
    """The rows of J (m, n), each less its parts along those before it: their lengths multiply to sqrt(det(J J^T)). Two
    passes make also a short one orthogonal to rounding of its own length."""
    made: list[Array] = []
    for row in J:
        for before in made * passes:
            square = before @ before
            row = row - before * (before @ row / np.where(square > 0.0, square, 1.0))
        made.append(row)
    return made


def _reciprocals(parts: Subspaces, size: int) -> Array:
    k = parts.singular_values.shape[-1]
    kept = np.arange(k) < np.asarray(parts.rank)[..., None]
    return _filled(np.where(kept, 1 / np.where(kept, parts.singular_values, 1.0), np.inf), size, np.inf)


def _filled(lengths: Array, size: int, value: float) -> Array:
    missing = np.full((*lengths.shape[:-1], size - lengths.shape[-1]), value)
    return np.concatenate([lengths, missing], axis=-1)


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
    """Jacobians (..., m, n) with elements of one unit. `rows` and `columns` are "m" or "rad", one for each. Without a
    characteristic length [m], `ConventionError` if the units differ; with one, the result has no unit.

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
    unit: (m, n). If constraints tie these together, by the actuated joints of the mechanism. `task`: "pose",
    "position", "orientation", or six truth values for (x, y, z; x, y, z), linear first, along the axes."""
    chosen = [k for k, asked in enumerate(Task.of(tree, task, axes).rows) if asked]
    J = actuated_jacobian(tree, q, frame, axes=axes)[chosen] if is_tied(tree, frame) else general_jacobian(
        tree, q, frame, axes=axes)[chosen][:, list(velocity_units(tree, frame))]
    return made_uniform(J, rows=[ROW_UNITS[k] for k in chosen], columns=column_units(tree, frame),
                        characteristic_length=characteristic_length)


def _words(units: Sequence[str]) -> str:
    return " and ".join(sorted(set(units)))
