"""Tensors as sums of dyads: T = sum of antecedents[k] (x) consequents[k].

In n dimensions n dyads are enough for every tensor. Either the antecedents or the consequents may be chosen, as long as
they are independent; the others then follow. As few dyads as the rank of the tensor are enough, its minimal form, if
the chosen vectors span what the tensor does. Source: Gibbs, as told by Balafoutis & Patel after (3.2.3).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError
from cayley.geometry.batch import above_rounding, digits_of
from cayley.geometry.tensors.checks import check_square
from cayley.geometry.tensors.frames import tensor_rank


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
    tolerance = digits_of(T, tolerance)
    T = _one(T)
    rank = int(tensor_rank(T, tolerance=tolerance))
    U, values, V = np.linalg.svd(T)
    return Dyads(U[:, :rank].T, values[:rank, None] * V[:rank])


def dyads_with_antecedents(T: ArrayLike, antecedents: ArrayLike) -> Dyads:
    """A tensor (n, n) as the sum of dyads whose first vectors (k, n) are chosen: n of them for every tensor, fewer if
    they span all vectors T r. Vectors that depend on each other, or that do not span these, are refused.

    >>> found = dyads_with_antecedents(np.diag([2.0, 3.0]), [[1.0, 1.0], [0.0, 1.0]])
    >>> found.consequents.round(12)
    array([[ 2.,  0.],
           [-2.,  3.]])
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
    dependent = above_rounding(1e-12, vectors)
    chosen = np.asarray(vectors, dtype=float)
    if chosen.ndim != 2 or chosen.shape[1] != n or not np.isfinite(chosen).all():
        raise GeometryError(f"the {called} are finite vectors, shape (k, {n}), not {chosen.shape}")
    sizes = np.linalg.svd(chosen / np.linalg.norm(chosen, axis=1, keepdims=True).clip(np.finfo(float).tiny),
                          compute_uv=False)
    if len(chosen) > n or (len(chosen) and not sizes[-1] > dependent * sizes[0]):
        raise GeometryError(f"the {called} depend on each other: choose at most {n} vectors of which none is a sum of "
                            "multiples of the others")
    return chosen
