"""Tensors as linear maps: components in one frame or another, rotating frames, and sums of dyads.

`R_ab` turns components in frame b into components in frame a, so T_a = R_ab T_b R_ab^T. (Balafoutis & Patel print the
same formula, (3.2.2) and (3.3.2), with a rotation that maps the axes: that would be the transpose, spec E-02.) In a
frame that Q leads to, which may be a reflection, a true tensor has the components Q_ia Q_jb .. T_ab.., and an oriented
one (axial vectors, the alternating tensor) det(Q) times those. Source: sections 3.2.1, 3.2.2, 3.3.1, Remark 3.6, which
needs det(Q).

For an orthogonal tensor Q(t):  Phi = Qd Q^T is skew, Psi = Qdd Q^T = Phid + Phi Phi is neither skew nor symmetric. In
space, Phi = hat(w) and Psi = Omega = hat(wd) + hat(w) hat(w). All components are in the fixed ("world") frame. The
forms with vectors and cross products are in `cayley.geometry.rates`. Source: Balafoutis & Patel, section 4.2, equations
(4.2.1)-(4.2.24).

A tensor is a sum of dyads, T = sum of antecedents[k] (x) consequents[k]. In n dimensions n dyads are enough for every
tensor. Either the antecedents or the consequents may be chosen, as long as they are independent; the others then
follow. As few dyads as the rank of the tensor are enough, its minimal form, if the chosen vectors span what the tensor
does. Source: Gibbs, as told by Balafoutis & Patel after (3.2.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.solving.rounding import relative_rank
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError
from cayley.geometry.batch import least_exact
from cayley.geometry.tensors.checks import (
    check_change_of_frame,
    check_orthogonal,
    check_square,
    is_rounding,
    refuse_where,
    unit_vectors,
)


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
            f"the map is not linear, so it is not a tensor: T(a + b) and T(a) + T(b) differ by {defect:.3g}")
    return e.T @ images


def tensor_rank(T: Array, *, tolerance: float | None = None) -> int | Array:
    """The number of independent directions of a tensor, 0 to 3, (Definition 3.3): of its singular values that are more
    than `tolerance` times the largest, by default the rounding of its numbers. Leading axes are a batch.

    >>> tensor_rank(np.outer([1.0, 2.0, 3.0], [0.0, 1.0, 0.0]))
    1
    """
    given = T
    T = np.asarray(T, dtype=float)
    if T.ndim < 2 or not np.isfinite(T).all():
        raise GeometryError(f"a tensor has finite components, shape (..., n, n): the rank of shape {T.shape}"
                            f"{'' if np.isfinite(T).all() else ' with NaN or infinity'} is not known")
    n = T.shape[-1]
    found = relative_rank(T, tolerance=least_exact(n, given) if tolerance is None else tolerance)
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


def _check_rate(Q: Array, Qd: ArrayLike) -> None:
    check_orthogonal(Q)
    Qd = np.asarray(Qd)
    rate = Qd @ np.swapaxes(Q, -1, -2)
    defect = np.abs(rate + np.swapaxes(rate, -1, -2)).max(axis=(-2, -1))
    size = np.abs(rate).max(axis=(-2, -1))
    refuse_where(
        ~is_rounding(defect, Qd, size),
        "the rate does not keep the matrix orthogonal{element}: Qd Q^T + Q Qd^T reaches "
        "{defect:.3g}, so there is no angular velocity; skew_part(Qd Q^T) is the nearest one", defect)


@kernel("(n,n),(n,n)->(n,n)", check=_check_rate)
def angular_velocity_tensor(Q: Array, Qd: Array) -> Array:
    """Phi = Qd Q^T [rad/s], skew, with Qd = Phi Q, (4.2.3), (4.2.6); n by n.

    In space its vector is `dual_vector` of it; for n other than 3 no vector exists. A matrix that drifted off
    orthogonality, or a rate that would lead it off, is refused with the size of the defect.

    >>> angular_velocity_tensor(np.eye(3), [[0.0, -2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    array([[ 0., -2.,  0.],
           [ 2.,  0.,  0.],
           [ 0.,  0.,  0.]])
    """
    return Qd @ Q.T


@kernel("(3),(3)->(3,3)")
def angular_acceleration_from_vectors(w: Array, wd: Array) -> Array:
    """Omega = hat(wd) + hat(w) hat(w) in space, (4.2.12), by 6 multiplications and 9 additions.

    w is the angular velocity [rad/s], wd its derivative. Both may be in body axes too: then Omega is.

    >>> angular_acceleration_from_vectors([0.0, 0.0, 2.0], [0.0, 0.0, 1.0]) @ [1.0, 0.0, 0.0]
    array([-4.,  1.,  0.])
    """
    xx, yy, zz = w * w
    xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    x, y, z = wd
    return np.array([[-(yy + zz), xy - z, xz + y], [xy + z, -(xx + zz), yz - x], [xz - y, yz + x, -(xx + yy)]])


class Dyads(NamedTuple):
    """A sum of k dyads: the first and the second vector of each, (k, n)."""

    antecedents: Array
    consequents: Array

    @property
    def tensor(self) -> Array:
        """The sum, (n, n)."""
        return self.antecedents.T @ self.consequents


def minimal_dyads(T: ArrayLike, *, tolerance: float | None = None) -> Dyads:
    """A tensor (n, n) as a sum of as few dyads as its rank: none of the zero tensor. The antecedents are unit vectors
    at right angles to each other, and so are the directions of the consequents, the longest first.

    `tolerance`: what counts as zero, beside the largest singular value, as in `tensor_rank`.

    >>> found = minimal_dyads([[0.0, 0.0, 3.0], [0.0, 0.0, 4.0], [0.0, 0.0, 0.0]])
    >>> len(found.antecedents), found.tensor.round(12)[1] + 0.0
    (1, array([0., 0., 4.]))
    """
    U, values, V = np.linalg.svd(_one(T))
    rank = int(tensor_rank(np.asarray(T), tolerance=tolerance))
    return Dyads(U[:, :rank].T, values[:rank, None] * V[:rank])


def dyads_with_antecedents(T: ArrayLike, antecedents: ArrayLike) -> Dyads:
    """A tensor (n, n) as the sum of dyads whose first vectors (k, n) are chosen: n of them for every tensor, fewer if
    they span all vectors T r. Vectors that depend on each other, or that do not span these, are refused.

    >>> found = dyads_with_antecedents(np.diag([2.0, 3.0]), [[1.0, 1.0], [0.0, 1.0]])
    >>> bool(np.allclose(found.consequents, [[2.0, 0.0], [-2.0, 3.0]], atol=1e-12))
    True
    """
    T = _one(T)
    chosen = _independent(antecedents, len(T), "antecedents")
    others = np.linalg.lstsq(chosen.T, T, rcond=None)[0]
    left = np.abs(chosen.T @ others - T).max(initial=0.0)
    if not left <= 1e-10 * np.abs(T).max(initial=0.0):
        raise GeometryError(
            f"{len(chosen)} chosen vectors do not span all that the tensor makes of vectors: {left:.3g} of a component "
            f"is left over; its rank is {tensor_rank(T)}, and {len(T)} independent vectors are enough for every tensor")
    return Dyads(chosen, others)


def dyads_with_consequents(T: ArrayLike, consequents: ArrayLike) -> Dyads:
    """The same with the second vectors (k, n) chosen; they must span all vectors r T.

    >>> dyads_with_consequents([[0.0, 0.0], [6.0, 3.0]], [[2.0, 1.0]]).antecedents.round(12) + 0.0
    array([[0., 3.]])
    """
    return Dyads(*reversed(dyads_with_antecedents(_one(T).T, consequents)))


def _one(T: ArrayLike) -> Array:
    T = check_square(T).astype(float)
    if T.ndim != 2:
        raise GeometryError(f"dyads are those of one tensor, (n, n), not of shape {T.shape}: how many depends on it")
    return T


def _independent(vectors: ArrayLike, n: int, called: str) -> Array:
    """The chosen vectors as an array (k, n)."""
    chosen = np.asarray(vectors, dtype=float)
    if chosen.ndim != 2 or chosen.shape[1] != n or not np.isfinite(chosen).all():
        raise GeometryError(f"the {called} must be finite vectors, shape (k, {n}), not {chosen.shape}")
    unit = chosen / np.linalg.norm(chosen, axis=1, keepdims=True).clip(np.finfo(float).tiny)
    if relative_rank(unit, tolerance=least_exact(n, vectors)) < len(chosen):
        raise GeometryError(f"the {called} depend on each other: choose at most {n} vectors of which none is a sum of "
                            "multiples of the others")
    return chosen
