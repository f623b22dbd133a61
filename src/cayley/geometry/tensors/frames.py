"""A tensor as a linear map, and its components in one frame or another.

`R_ab` turns components in frame b into components in frame a, so T_a = R_ab T_b R_ab^T. (Balafoutis & Patel print the
same formula, (3.2.2) and (3.3.2), with a rotation that maps the axes: that would be the transpose, spec E-02.) In a
frame that Q leads to, which may be a reflection, a true tensor has the components Q_ia Q_jb .. T_ab.., and an oriented
one (axial vectors, the alternating tensor) det(Q) times those. Source: sections 3.2.1, 3.2.2, 3.3.1, Remark 3.6, which
needs det(Q).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError
from cayley.geometry.batch import digits_of
from cayley.geometry.tensors.checks import check_change_of_frame, check_orthogonal, unit_vectors


@kernel("(n,n),(n,n)->(n,n)", check=check_change_of_frame)
def tensor_in_frame(R_ab: Array, T_b: Array) -> Array:
    """The components in frame a of the tensor with components T_b in frame b: T_a = R_ab T_b R_ab^T, (3.3.2).

    The same for any tensor of order two: inertia, Euler tensor, angular velocity tensor. A reflection is refused.

    >>> tensor_in_frame([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], np.diag([1.0, 2.0, 3.0]))
    array([[2., 0., 0.],
           [0., 1., 0.],
           [0., 0., 3.]])
    """
    return R_ab @ T_b @ R_ab.T


def tensor_of_map(action: Callable[[Array], Array], frame: Array | None = None) -> Array:
    """The components T_ij = e_i . T(e_j) of a linear map of vectors, (3.2.14); a map that is not linear is refused.

    The columns of `frame` are the unit vectors e_i, by default the axes in which `action` takes and gives its vectors.

    >>> tensor_of_map(lambda r: np.cross([0.0, 0.0, 1.0], r))
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  0.]])
    """
    e = unit_vectors(frame)
    images = np.stack([np.asarray(action(e[:, j]), dtype=float) for j in range(3)], axis=1)
    mixture = np.array([0.3, -1.7, 0.6])
    defect = np.abs(action(e @ mixture) - images @ mixture).max()
    if not defect <= 1e-9 * (1 + np.abs(images).max()):
        raise GeometryError(
            f"the map is not linear, so it is no tensor: T(a + b) and T(a) + T(b) differ by {defect:.3g}")
    return e.T @ images


def tensor_rank(T: Array, *, tolerance: float | None = None) -> int | Array:
    """The number of independent directions of a tensor, 0 to 3, (Definition 3.3): what its singular values leave above
    `tolerance` (1e-12, and 5e-4 for float32) times the largest. Leading axes are a batch.

    >>> tensor_rank(np.outer([1.0, 2.0, 3.0], [0.0, 1.0, 0.0]))
    1
    """
    tolerance = digits_of(T, tolerance)
    T = np.asarray(T, dtype=float)
    if T.ndim < 2 or not np.isfinite(T).all():
        raise GeometryError(f"a tensor has finite components, shape (..., n, n): the rank of shape {T.shape}"
                            f"{'' if np.isfinite(T).all() else ' with NaN or infinity'} is not known")
    sizes = np.linalg.svd(T, compute_uv=False)
    found = np.sum(sizes > tolerance * sizes[..., :1], axis=-1)
    return int(found) if found.ndim == 0 else found


def components_in_frame(Q: ArrayLike, T: ArrayLike, *, oriented: bool) -> Array:
    """The components of one tensor of any order (n, n, ...) in the frame that the orthogonal matrix Q (n, n) leads to;
    Q may be a reflection. `oriented`: whether the tensor's components change sign with the handedness of the frame.

    >>> mirror = np.diag([1.0, 1.0, -1.0])
    >>> components_in_frame(mirror, [1.0, 2.0, 3.0], oriented=False)
    array([ 1.,  2., -3.])
    >>> components_in_frame(mirror, [1.0, 2.0, 3.0], oriented=True)
    array([-1., -2.,  3.])
    """
    check_orthogonal(Q)
    Q = np.asarray(Q, dtype=float)
    T = np.asarray(T, dtype=float)
    if Q.ndim != 2 or set(T.shape) - {len(Q)}:
        raise GeometryError(f"one matrix Q (n, n) changes a tensor (n, n, ...): not shapes {Q.shape} and {T.shape}")
    changed = T
    for _ in range(T.ndim):  # each index once: the last is summed over, and comes back as the first
        changed = np.tensordot(Q, changed, axes=(1, T.ndim - 1))
    return changed * (np.sign(np.linalg.det(Q)) if oriented else 1.0)
