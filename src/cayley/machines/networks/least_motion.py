"""The motion of the joints that moves the open terminals of a network as it is asked, the least one if there are many.

    x = W^-1 A^T (A W^-1 A^T)^-1 x_e,   A = K' S of six-freedom joints, or K' S N of joints of any kind
Without a weight W the norm adds squares of metres and radians a second, and the answer depends on the units (spec
E4-24). Source: Tokad 2.3.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError
from cayley.kinematics.singular.redundancy import RateSolutions, general_solution
from cayley.kinematics.subspaces import subspaces


def least_motion(A: ArrayLike, x: ArrayLike, weight: ArrayLike | None = None) -> RateSolutions:
    """The motions (n) with A (m, n) times them = x (m) for which their square, weighted by a positive definite matrix
    (n, n) or the numbers on its diagonal (n), is least.

    >>> least_motion([[1.0, 1.0]], [1.0], weight=[1.0, 3.0]).velocities.round(12)
    array([0.75, 0.25])
    """
    A = np.asarray(A, dtype=float)
    if weight is None:
        return general_solution(A, x)
    root = _root(np.asarray(weight, dtype=float), A.shape[-1])
    found = general_solution(np.linalg.solve(root, A.T).T, x)  # in z = root^T velocities the norm is the plain one
    return RateSolutions(np.linalg.solve(root.T, found.velocities), found.residual, found.solved, found.unique,
                         subspaces(A))


def _root(weight: Array, size: int) -> Array:
    """L with L L^T = W."""
    full = np.diag(weight) if weight.ndim == 1 else weight
    if full.shape != (size, size) or not np.allclose(full, full.T):
        raise GeometryError(f"a weight of {size} rates is a symmetric matrix ({size}, {size}) or its diagonal")
    try:
        return np.linalg.cholesky(full)
    except np.linalg.LinAlgError:
        raise GeometryError("a weight must be positive definite") from None
