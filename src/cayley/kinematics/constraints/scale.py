"""Units in which the constraints of a mechanism are measured, so that a machine of micrometres and one of kilometres
are closed, singular and assembled alike.

Lengths are measured in the size of the machine, to the nearest power of ten, which for machines of some metres is a
metre; angles in radians; rows on coordinates alone (gears, mimic joints) in what a unit of these adds to them. What is
zero is then decided in one place, `cayley.compiler.solving.rounding`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ConventionError
from cayley.geometry.batch import first_failure, place
from cayley.kinematics.constraints.rows import jacobian_kernel, residual_kernel, row_names
from cayley.model.constraints import constraints_of
from cayley.model.tree import Tree

CLOSED = 1e-7  # in the size of the machine, and radians: what is open by more is not closed


def machine_size(tree: Tree) -> float:
    """The largest distance of a joint or frame from its body, or 1 [m]."""
    places = [joint.placement for joint in tree.joints] + [frame.pose for frame in tree.frames]
    return float(max((np.linalg.norm(np.asarray(pose)[:3, 3]) for pose in places if pose is not None), default=0.0)
                 ) or 1.0


def length_unit(tree: Tree) -> float:
    """The size of the machine, to the nearest power of ten [m]."""
    return kept(tree, "unit of length", lambda: float(10.0**round(np.log10(machine_size(tree)))))


def lengths(tree: Tree, size: float) -> Array:
    """The unit of each velocity (nv): `size` for slides, a radian for turns."""
    return np.array([size if unit == "m" else 1.0 for joint in tree.joints for unit in joint.motion.velocity_units])


def row_sizes(tree: Tree) -> Array:
    """The unit of each row (h) of the constraints."""
    return kept(tree, "sizes of rows", lambda: _row_sizes(tree))


def _row_sizes(tree: Tree) -> Array:
    unit = length_unit(tree)
    known = {"m": unit, "rad": 1.0}
    units = [unit for each in constraints_of(tree) for unit in each.row_units]
    A = constraint_jacobian(tree, tree.neutral, *((0.0,) if tree.is_timed else ())) * lengths(tree, unit)
    own = np.linalg.norm(np.where(np.isfinite(A), A, 0.0), axis=-1)
    return np.array([known.get(word, length or 1.0) for word, length in zip(units, own, strict=True)])


def scaled(tree: Tree, A: Array) -> Array:
    """Constraint Jacobians (..., h, nv) without units, their rows about one long."""
    return A * lengths(tree, length_unit(tree)) / row_sizes(tree)[:, None]


def scaled_jacobian(tree: Tree, q: ArrayLike, *time: ArrayLike) -> Array:
    """The constraint Jacobian (..., h, nv) at configurations (..., nq), without units."""
    return scaled(tree, constraint_jacobian(tree, q, *time))


def scaled_opening(tree: Tree, q: ArrayLike, *time: ArrayLike) -> Array:
    """By how much each row (..., h) of the constraints is open, without units."""
    left = np.asarray(kept(tree, "constraint residual", lambda: residual_kernel(tree))(q, *time))
    return np.abs(left) / row_sizes(tree)


def check_closed(tree: Tree, q: Array, time: Sequence[ArrayLike] = (), tolerance: float = CLOSED) -> None:
    """Refuse configurations (..., nq) at which a constraint is open, by its name and by how much."""
    left = scaled_opening(tree, q, *time)
    bad = first_failure(left.max(axis=-1, initial=0.0) <= tolerance)
    if bad is not None:
        row = int(np.argmax(np.where(np.isnan(left[bad]), np.inf, left[bad])))
        name = row_names(tree)[row]
        raise ConventionError(
            f"the constraints of {tree.name} are open by {left[bad][row] * row_sizes(tree)[row]:.3g} ({name}) at this "
            f"configuration{place(bad)}: bring it to one with `close(q)`")


def constraint_jacobian(tree: Tree, q: ArrayLike, *time: ArrayLike) -> Array:
    """The constraint Jacobian (..., h, nv) at configurations (..., nq), and at a time if a constraint depends on it."""
    return np.asarray(kept(tree, "constraint Jacobian", lambda: jacobian_kernel(tree))(q, *time))
