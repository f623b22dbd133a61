"""Whether a motion in fixed steps has kept the constraints of its mechanism, and what was in its way."""

from __future__ import annotations

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array
from cayley.geometry.batch import place, tolerance_of
from cayley.kinematics.constraint_structure import constraint_structure, dependent_rows
from cayley.kinematics.constraints import jacobian_kernel, residual_kernel, row_names
from cayley.model.tree import Tree

_NEAR = 0.1  # of the largest singular value: constraints that nearly depend on each other


def closed_outcome(tree: Tree, t: Array, q: Array, status: str, message: str) -> tuple[str, str]:
    """The word and the sentence for trajectories q (..., samples, nq) at the times t (..., samples), given those by the
    numbers alone: "open" if a constraint is, and where branches of motions meet if a trajectory ended there.
    """
    if status == "not finite":
        last = _last_number(q)
        return status, message + _meeting(tree, np.broadcast_to(t, q.shape[:-1])[last], q[last])
    if status not in ("finished", "not converged") or not q.size:
        return status, message
    left = np.abs(kept(tree, "constraint residual", lambda: residual_kernel(tree))(q, *_time(tree, t)))
    wide = np.argwhere(left.max(-1, initial=0.0) > tolerance_of(q))
    if not len(wide):
        return status, message
    first = tuple(wide[0])
    row = row_names(tree)[int(np.argmax(left[first]))]
    at = np.broadcast_to(t, q.shape[:-1])[first]
    return "open", (
        f"the constraint {row.constraint!r} of {tree.name} is open by {left[first].max():.3g} ({row.holds}) at t = "
        f"{at:.6g}{place(first[:-1])}: the step is too large{_meeting(tree, at, q[first])}")


def _last_number(q: Array) -> tuple[int, ...]:
    """The last sample that is a number, of the first trajectory that left them."""
    fine = np.asarray(np.isfinite(q).all(-1))
    trajectory = tuple(np.argwhere(~fine.all(-1))[0])
    return (*trajectory, max(int(np.argmin(fine[trajectory])) - 1, 0))


def _meeting(tree: Tree, t: Array, q: Array) -> str:
    """Which constraints nearly depend on each other at a configuration (nq), in words."""
    structure = constraint_structure(tree)
    A = np.asarray(kept(tree, "constraint Jacobian", lambda: jacobian_kernel(tree))(q, *_time(tree, t)))
    rows = A[list(structure.leading)]
    values = np.linalg.svd(rows, compute_uv=False)
    if not structure.by_structure or values.min(initial=np.inf) > _NEAR * values.max(initial=0.0):
        return ""
    near = dependent_rows(rows, _NEAR)
    names = dict.fromkeys(structure.rows[k].constraint for k, one in zip(structure.leading, near, strict=True) if one)
    return (f"; near t = {float(t):.6g} the constraints {', '.join(map(repr, names))} depend on each other, and "
            "branches of motions meet: smaller steps pass there")


def _time(tree: Tree, t: Array) -> tuple[Array, ...]:
    return (t,) if tree.is_timed else ()
