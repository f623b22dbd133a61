"""Outcome of a motion with constraints: whether it has kept them, and why it ended early."""

from __future__ import annotations

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.solving.null_space import null_basis
from cayley.compiler.typing import Array
from cayley.dynamics.inertia_matrix.kernels import inertia_matrix_kernel
from cayley.geometry.batch import place, tolerance_of
from cayley.kinematics.constraints.rows import jacobian_kernel, residual_kernel, row_names
from cayley.kinematics.constraints.structure import constraint_structure, dependent_rows
from cayley.model.tree import Tree

_NEAR = 0.1  # of the largest singular value: constraints that nearly depend on each other
_LIGHT = 1e-3  # of the largest inertia: next to none
_LOOKED_AT = 50  # samples before the end
_BROKEN = ("not finite", "step too small")


def closed_outcome(tree: Tree, t: Array, q: Array, status: str, message: str) -> tuple[str, str]:
    """The word and the sentence for trajectories q (..., samples, nq) at the times t (..., samples), given those by the
    numbers alone: "open" if a constraint is, and what is special about the configuration where a trajectory broke off.
    """
    if not q.size:
        return status, message
    times = np.broadcast_to(t, q.shape[:-1])
    if status in _BROKEN:
        *trajectory, last = _last_number(q)
        before = [(*trajectory, k) for k in range(last, max(last - _LOOKED_AT, -1), -1)]
        return status, message + next(filter(None, (_special(tree, times[at], q[at]) for at in before)), "")
    if status not in ("finished", "not converged"):
        return status, message
    left = np.abs(kept(tree, "constraint residual", lambda: residual_kernel(tree))(q, *_time(tree, t)))
    wide = np.argwhere(left.max(-1, initial=0.0) > tolerance_of(q))
    if not len(wide):
        return status, message
    first = tuple(wide[0])
    row = row_names(tree)[int(np.argmax(left[first]))]
    return "open", (
        f"the constraint {row.constraint!r} of {tree.name} is open by {left[first].max():.3g} ({row.holds}) at t = "
        f"{times[first]:.6g}{place(first[:-1])}: the step is too large{_special(tree, times[first], q[first])}")


def _last_number(q: Array) -> tuple[int, ...]:
    """The last sample that is a number, of the first trajectory that left them, or of the first."""
    fine = np.asarray(np.isfinite(q).all(-1))
    broken = np.argwhere(~fine.all(-1))
    if not len(broken):
        return (*[0] * (q.ndim - 2), q.shape[-2] - 1)
    trajectory = tuple(broken[0])
    return (*trajectory, max(int(np.argmin(fine[trajectory])) - 1, 0))


def _special(tree: Tree, t: Array, q: Array) -> str:
    """The special feature of a configuration (nq), in words, if it has one."""
    structure = constraint_structure(tree)
    A = np.asarray(kept(tree, "constraint Jacobian", lambda: jacobian_kernel(tree))(q, *_time(tree, t)))
    rows = A[list(structure.leading)]
    values = np.linalg.svd(rows, compute_uv=False)
    if structure.by_structure and values.min(initial=np.inf) <= _NEAR * values.max(initial=0.0):
        near = dependent_rows(rows, _NEAR)
        names = dict.fromkeys(structure.rows[k].constraint for k, one in zip(structure.leading, near, strict=True)
                              if one)
        return (f"; near t = {float(t):.6g} the constraints {', '.join(map(repr, names))} depend on each other, and "
                "branches of motions meet: smaller steps pass there")
    N = np.array(structure.lengths)[:, None] * null_basis(structure.scaled(A))
    M = inertia_matrix_kernel(tree.spanning_tree())(q)
    inertias, motions = np.linalg.eigh(N.T @ M @ N)
    if inertias.size and inertias[0] <= _LIGHT * np.abs(M).max():
        shares = np.abs(N @ motions[:, 0])
        moved = [name for name, share in zip(structure.velocities, shares, strict=True) if share > 0.1 * shares.max()]
        return (f"; near t = {float(t):.6g} the motion of {', '.join(moved)} that the constraints allow moves next to "
                "no mass")
    return ""


def _time(tree: Tree, t: Array) -> tuple[Array, ...]:
    return (t,) if tree.is_timed else ()
