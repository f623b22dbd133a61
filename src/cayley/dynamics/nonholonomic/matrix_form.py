"""The equations in pseudo-velocities as matrices, from those of Lagrange.

    A = (A1; A2), B = A^-1 = (B1, B2)                 qd = B1 pid
    qdd = B1 pidd - (B1 A1' + B2 A2') B1 pid
    pidd = (B1^T H B1)^-1 B1^T (H (B1 A1' + B2 A2') B1 pid + Q - h)
    Lambda = B2^T (H qdd + h - Q),  D = A2^T Lambda   multipliers, and the reactions of the constraints
Source: Mladenova (237)-(250), corrected as in spec E-41d.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cayley.compiler.kernel import Kernel
from cayley.compiler.solving.definite import is_definite, only_where
from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.typing import Array

if TYPE_CHECKING:
    from cayley.dynamics.nonholonomic.system import NonholonomicSystem


class MatrixForm(NamedTuple):
    """Rates of the pseudo-velocities (m), accelerations (n), multipliers (r), and reactions (n) as joint forces."""

    pidd: Array
    qdd: Array
    Lambda: Array
    reactions: Array


def matrix_form(H: Array, f: Array, B1: Array, B2: Array, A2: Array, drift: Array) -> MatrixForm:
    """Of f = Q - h (n), all forces but the reactions, and drift = A' qd (n), pseudo-velocities first."""
    carried = B1 @ drift[:B1.shape[1]] + B2 @ drift[B1.shape[1]:]
    inertia = B1.T @ H @ B1
    pidd = only_where(is_definite(inertia), ldl_solve(inertia, B1.T @ (H @ carried + f)))
    qdd = B1 @ pidd - carried
    Lambda = B2.T @ (H @ qdd - f)
    return MatrixForm(pidd, qdd, Lambda, A2.T @ Lambda)


def matrix_form_kernel(system: NonholonomicSystem) -> Kernel[MatrixForm]:
    """`(q, pid, tau)` -> `MatrixForm`."""
    def text(q: Array, pid: Array, tau: Array) -> MatrixForm:
        B = system.frame.inverse(q)
        m = len(pid)
        qd = B[:, :m] @ pid
        M, bias = system.terms_at(q, qd)
        return matrix_form(M, tau - bias, B[:, :m], B[:, m:], system.constraint_rows(q), system.drifts(q, qd))

    return system.kernel("(n),(m),(n)->(m),(n),(r),(n)", text, "matrix_form", ("q", "pid", "tau"), MatrixForm._fields)
