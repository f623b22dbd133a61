"""Forward dynamics of trees with joints of every kind by the natural orthogonal complement, the second method of
Angeles & Ma.

The inertia matrix is P^T P (`cayley.dynamics.inertia_matrix.orthogonal_complement`), and is not formed:

    P^T x = tau - b     many unknowns: the x of least norm          P qdd = x     many equations: least squares
With P = Q R, Q orthogonal and R upper triangular, x = Q R^-T (tau - b) and qdd = R^-1 Q^T x. The condition of P is the
root of that of the inertia matrix. If that is singular, R has a zero on its diagonal, and the answer is infinite or
NaN. Source: Angeles & Ma 1988; Balafoutis & Patel (6.2.16), (6.2.17), spec R4.3."""

from __future__ import annotations

from typing import Any

import numpy as np

from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array
from cayley.dynamics.inertia_matrix.orthogonal_complement import square_root
from cayley.dynamics.rigid_links.links import Links
from cayley.dynamics.state_kernels import bias_forces


def forward_dynamics(links: Links, q: Array, qd: Array, tau: Array, *, rotors: float = 0.0) -> Array:
    """The accelerations (nv) that the forces `tau` give at the state (`q`, `qd`).

    `rotors`: inertia (nv) of the drives beside the links'; their roots are more rows of P."""
    P = np.concatenate([square_root(links, q), np.diag(np.sqrt(np.zeros(links.nv) + rotors))])
    Q, R = orthogonal_factors(P)
    y = _forwards(R, tau - bias_forces(links, q, qd))  # (6.2.17a)
    x = sum((a * b for a, b in zip(Q, y, strict=True)), start=np.zeros(len(P)))  # (6.2.17a)
    found = _backwards(R, [a @ x for a in Q])  # (6.2.17b)
    return np.stack(found) if found else np.zeros(0)


def orthogonal_factors(P: Array) -> tuple[list[Any], list[list[Any]]]:
    """The columns of Q, and the columns of R down to its diagonal, of P (m, n) with m >= n: Gram and Schmidt, one
    column at a time, each twice, which keeps the columns orthogonal to the last digit."""
    Q: list[Any] = []
    R: list[list[Any]] = []
    for k in range(P.shape[1]):
        left = P[:, k]
        upper = [0.0] * k
        for _ in range(2):
            for i, a in enumerate(Q):
                along = a @ left
                left = left - along * a
                upper[i] = upper[i] + along
        R.append([*upper, np.sqrt(left @ left)])
        Q.append(left / R[-1][-1])
    return Q, R


def _forwards(R: list[list[Any]], b: Array) -> list[Any]:
    """y of R^T y = b."""
    y: list[Any] = []
    for column, b_i in zip(R, b, strict=True):
        y.append((b_i - sum((r * done for r, done in zip(column[:-1], y, strict=True)), start=0.0)) / column[-1])
    return y


def _backwards(R: list[list[Any]], b: list[Any]) -> list[Any]:
    """y of R y = b; infinite where R, and with it the inertia matrix, is singular."""
    left = list(b)
    for k in reversed(range(len(R))):
        left[k] = where(R[k][-1] <= 0, np.inf, left[k] / R[k][-1])
        for i in range(k):
            left[i] = left[i] - R[k][i] * left[k]
    return left
