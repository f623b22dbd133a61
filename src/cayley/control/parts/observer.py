"""Luenberger's observer of a linear plant, as a system."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import ArrayLike
from cayley.errors import SignatureError
from cayley.systems.system import System


def luenberger_observer(A: ArrayLike, B: ArrayLike, C: ArrayLike, gain: ArrayLike, *, name: str = "observer") -> System:
    """The estimate of the state of dx/dt = A x + B u, y = C x, from `u` (m) and `y` (k): `estimate` (n) is its state
    and its output.

        d estimate / dt = A estimate + B u + gain (y - C estimate)
    The error dies as exp((A - gain C) t). A Kalman-Bucy filter is one with the gain that its Riccati equation gives.

    >>> luenberger_observer([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], [[1.0, 0.0]], [[3.0], [2.0]])
    <system observer: state estimate; inputs u, y; outputs estimate>
    """
    a, b, c, g = (np.asarray(M, dtype=float) for M in (A, B, C, gain))
    n = len(a)
    if a.shape != (n, n) or b.shape[:1] != (n,) or c.shape[1:] != (n,) or g.shape != (n, len(c)) or b.ndim != 2:
        raise SignatureError("A (n, n), B (n, m), C (k, n) and the gain (n, k) do not go together: they have the "
                             f"shapes {a.shape}, {b.shape}, {c.shape} and {g.shape}")
    return System(
        name, state={"estimate": n}, inputs={"u": b.shape[1], "y": len(c)},
        derivative=lambda t, x, u, p: a @ x.estimate + b @ u.u + g @ (u.y - c @ x.estimate))
