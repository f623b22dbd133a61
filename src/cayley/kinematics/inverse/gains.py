"""The gain of a closed loop, edot = -G e: a number, a diagonal, or a symmetric positive definite matrix.

With steps of dt the error is multiplied by 1 - G dt: it decays if every eigenvalue of G dt is below 2. Source: Ruggiu
(5.15).
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError

_SYMMETRIC = 1e-12


def gain_matrix(gain: ArrayLike, size: int) -> Array:
    """G (size, size) [1/s] of a number (0 for an open loop), a diagonal (size) or a matrix.

    >>> gain_matrix([1.0, 2.0], 2)
    array([[1., 0.],
           [0., 2.]])
    >>> gain_matrix([[1.0, 3.0], [3.0, 1.0]], 2)
    Traceback (most recent call last):
    cayley.errors.SignatureError: the gain is not positive definite: its eigenvalues are -2 to 4, and errors would grow
    """
    G = np.asarray(gain, dtype=float)
    if not np.isfinite(G).all():
        raise SignatureError("a gain is of finite numbers")
    if G.ndim == 0:
        if G < 0:
            raise SignatureError(f"the gain is not negative: {float(G):g} would let errors grow")
        return float(G) * np.eye(size)
    if G.shape not in ((size,), (size, size)):
        raise SignatureError(f"a gain is a number, a diagonal ({size}) or a matrix ({size}, {size}) for the {size} "
                             f"rows of this task, not {G.shape}")
    full = np.diag(G) if G.ndim == 1 else G
    if np.abs(full - full.T).max() > _SYMMETRIC * np.abs(full).max():
        raise SignatureError("the gain is not symmetric: give (G + G^T)/2, or a diagonal")
    values = np.linalg.eigvalsh(full)
    if values[0] <= 0:
        raise SignatureError(f"the gain is not positive definite: its eigenvalues are {values[0]:.6g} to "
                             f"{values[-1]:.6g}, and errors would grow")
    return full
