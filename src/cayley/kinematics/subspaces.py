"""The four subspaces of a Jacobian J = U S V^T: what it can produce and what not, which velocities count and which do
nothing.

    U   velocities of the task (m, m);   S   singular values, largest first;   V   velocities of the joints (n, n)
The first `rank` columns of U span the range, the others the lost directions; the last n - rank columns of V span the
null space. Matrices of a batch may have different ranks. Source: Ruggiu 2.3.4, 2.3.5, (2.64)-(2.67)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.solving.rounding import least_singular, significant
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import GeometryError, SignatureError
from cayley.geometry.batch import above_rounding, first_failure, least_exact, place
from cayley.showing import brief

_AGREEMENT = 1e-10  # of what is asked for, and 1000 times that


@dataclass(frozen=True, eq=False)
class Subspaces:
    """The singular value decomposition of Jacobians (..., m, n), and their ranks (...)."""

    U: Array
    singular_values: Array
    V: Array
    rank: Scalar

    __repr__ = brief

    @property
    def singular(self) -> Scalar:
        """True where the rank is less than the smaller of m and n (...)."""
        return self.rank < self.singular_values.shape[-1]

    @property
    def smallest(self) -> Array:
        """The smallest singular value (...)."""
        return self.singular_values[..., -1]

    @property
    def redundancy(self) -> Scalar:
        """The dimension n - rank of the null space (...)."""
        return self.V.shape[-1] - self.rank

    @property
    def range(self) -> Array:
        """An orthonormal basis of the velocities that can be produced, as columns (m, rank)."""
        return self._one().U[:, :self.rank]

    @property
    def lost(self) -> Array:
        """An orthonormal basis of the velocities that cannot be produced at all, as columns (m, m - rank)."""
        return self._one().U[:, self.rank:]

    @property
    def null_space(self) -> Array:
        """An orthonormal basis of the joint velocities that the task does not feel, as columns (n, n - rank)."""
        return self._one().V[:, self.rank:]

    @cached_property
    def pseudo_inverse(self) -> Array:
        """J^+ (..., n, m); singular values that count as zero are left out."""
        k = self.singular_values.shape[-1]
        kept = np.arange(k) < np.asarray(self.rank)[..., None]
        inverse = np.where(kept, 1 / np.where(kept, self.singular_values, 1.0), 0.0)
        return (self.V[..., :k] * inverse[..., None, :]) @ np.swapaxes(self.U[..., :k], -2, -1)

    @cached_property
    def null_projector(self) -> Array:
        """1 - J^+ J (..., n, n): the part of joint velocities that the task does not feel."""
        kept = np.arange(self.V.shape[-1]) >= np.asarray(self.rank)[..., None]
        return (self.V * kept[..., None, :]) @ np.swapaxes(self.V, -2, -1)

    def _one(self) -> Subspaces:
        if np.ndim(self.rank):
            raise SignatureError(
                "a batch has no common basis, as its ranks may differ: take one Jacobian, or use U, V and rank")
        return self


def subspaces(J: ArrayLike, *, tolerance: float | None = None) -> Subspaces:
    """The subspaces of Jacobians (..., m, n). `tolerance`: the part of the largest singular value below which one
    counts as zero, by default that of all functions, 2e-7 for six joints, and 2e-5 for float32.

    >>> found = subspaces([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    >>> int(found.rank), bool(found.singular), int(found.redundancy)
    (1, True, 2)
    """
    given = J
    J = np.asarray(J, dtype=np.float64)
    if J.ndim < 2:
        raise SignatureError(f"a Jacobian must have shape (..., m, n), not {J.shape}")
    bad = first_failure(np.isfinite(J).all(axis=(-2, -1)))
    if bad is not None:
        raise GeometryError(f"the Jacobian{place(bad)} is not finite")
    if 0 in J.shape[-2:]:
        return _empty(J)
    U, s, Vt = np.linalg.svd(J)
    least = rank_tolerance(tolerance, J.shape[-1], given)
    rank = np.count_nonzero(significant(s, J.shape[-1], tolerance=least), axis=-1)
    return Subspaces(U, s, np.swapaxes(Vt, -2, -1), rank)


def rank_tolerance(tolerance: float | None, n: int, *data: ArrayLike) -> float:
    """The asked tolerance of Jacobians of n columns, or what the coarsest of the numbers deserve."""
    return max(least_singular(n), least_exact(n, *data)) if tolerance is None else tolerance


def agreement(tolerance: float | None, *data: ArrayLike) -> float:
    """Tolerance for the agreement of an answer with its data: a thousand times the tolerance of ranks, or of the
    coarsest numbers."""
    return 1e3 * (above_rounding(_AGREEMENT, *data) if tolerance is None else tolerance)


def _empty(J: Array) -> Subspaces:
    *batch, m, n = J.shape
    U, V = (np.broadcast_to(np.eye(k), (*batch, k, k)) for k in (m, n))
    return Subspaces(U, np.zeros((*batch, 0)), V, np.zeros(batch, dtype=int)[()])
