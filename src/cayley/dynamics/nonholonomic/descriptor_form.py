"""The equations as one implicit system of 2n numbers, for solvers of differential-algebraic equations.

    x = (q, pid, Lambda)
    (1  0     0)          (B1 pid                             )
    (0  H B1  0) x'   =   (A2^T Lambda + Q - h - H B1' pid    ),     B1' pid = - (B1 A1' + B2 A2') B1 pid
The index is one, because (H B1, -A2^T) is regular: Lambda and pidd follow from it at each state. In generalised
velocities the same takes 3n - m numbers. Source: Mladenova (255), corrected as in spec E-41c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import Array

if TYPE_CHECKING:
    from cayley.dynamics.nonholonomic.system import NonholonomicSystem


class Descriptor(NamedTuple):
    """E x' = right for x = (q, pid, Lambda) (2n), and the regular matrix (n, n) that pidd and Lambda follow from:
    pencil (pidd; Lambda) is the lower half of `right` at Lambda = 0."""

    E: Array
    right: Array
    pencil: Array


def descriptor_kernel(system: NonholonomicSystem) -> Kernel[Descriptor]:
    """`(q, pid, Lambda, tau)` -> `Descriptor`."""
    def text(q: Array, pid: Array, Lambda: Array, tau: Array) -> Descriptor:
        n, m = len(q), len(pid)
        B = system.frame.inverse(q)
        B1 = B[:, :m]
        qd = B1 @ pid
        H, h = system.terms_at(q, qd)
        A2 = system.constraint_rows(q)
        carried = B @ system.drifts(q, qd)
        E = np.concatenate([np.eye(n, 2 * n),
                            np.concatenate([np.zeros((n, n)), H @ B1, np.zeros((n, n - m))], axis=1)])
        right = np.concatenate([qd, A2.T @ Lambda + tau - h + H @ carried])
        return Descriptor(E, right, np.concatenate([H @ B1, -A2.T], axis=1))

    return system.kernel("(n),(m),(r),(n)->(k,k),(k),(n,n)", text, "descriptor_form", ("q", "pid", "Lambda", "tau"),
                         Descriptor._fields)
