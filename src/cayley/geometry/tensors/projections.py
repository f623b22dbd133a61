"""Projections of vectors on an axis and on the plane across it, oblique projections, and symmetric tensors as sums of
projections.

A projection is idempotent, P P = P; it is orthogonal if it is symmetric too, and oblique otherwise. Source: Balafoutis
& Patel, section 3.3.2, equations (3.3.10)-(3.3.17).

>>> plane_projection([0.6, 0.8]) @ [5.0, 0.0]
array([ 3.2, -2.4])
>>> perpendicular_part([0.6, 0.8], [5.0, 0.0])
array([ 3.2, -2.4])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError
from cayley.geometry.batch import above_rounding, float_array, least_exact, tolerance_of
from cayley.geometry.formula import formula
from cayley.geometry.tensors.checks import check_orthogonal, check_symmetric, check_unit_vector, refuse_where


def check_direction(e: Array, *_: object) -> None:
    check_unit_vector(e)


plane_projection = formula(
    "plane_projection", "(n)->(n,n)", lambda e: np.eye(len(e)) - np.outer(e, e),
    "P^e = 1 - e (x) e, the orthogonal projection on the plane across the unit vector e, (3.3.12).", check_direction)
perpendicular_part = formula("perpendicular_part", "(n),(n)->(n)", lambda e, v: v - e * (e @ v),
                             "The part of v across the unit vector e, (3.3.14).", check_direction)


def oblique_projection(onto: ArrayLike, along: ArrayLike) -> Array:
    """The projection P (..., n, n) on the space of the columns of `onto` (..., n, k) along that of the columns of
    `along` (..., n, n - k): P onto = onto, P along = 0. `perpendicular_part` is the case of two spaces at right angles.

    The two spaces must have nothing in common but zero, and make up the whole space together; others are refused.

    >>> oblique_projection([[1.0], [0.0]], [[1.0], [1.0]]) @ [0.0, 1.0]
    array([-1.,  0.])
    """
    given = onto, along
    onto = np.asarray(onto, dtype=float)
    along = np.asarray(along, dtype=float)
    if onto.ndim < 2 or along.ndim < 2 or not onto.shape[-2] == along.shape[-2] == onto.shape[-1] + along.shape[-1] > 0:
        raise GeometryError("an oblique projection has k columns to project on and n - k to project along, "
                            f"(..., n, k) and (..., n, n - k): not shapes {onto.shape} and {along.shape}")
    k = onto.shape[-1]
    batch = np.broadcast_shapes(onto.shape[:-2], along.shape[:-2])
    basis = np.concatenate([np.broadcast_to(part, (*batch, *part.shape[-2:])) for part in (onto, along)], axis=-1)
    lengths = np.linalg.norm(basis, axis=-2, keepdims=True)
    unit = basis / np.where(lengths > 0, lengths, 1.0)
    unknown = np.asarray(~np.isfinite(unit).all(axis=(-2, -1)))
    refuse_where(unknown, "a space to project on or along has components that are NaN or infinite{element}", unknown)
    smallest = np.linalg.svd(unit, compute_uv=False)[..., -1]
    touching = least_exact(unit.shape[-1], *given)
    refuse_where(~(smallest > touching), "the spaces to project on and along do not make up the whole space{element}: "
                 "some direction is in both, or in neither, or columns depend on each other (smallest singular value "
                 "{defect:.3g})", smallest)
    return unit[..., :k] @ np.linalg.inv(unit)[..., :k, :]


def fixed_space(Q: ArrayLike, *, tolerance: float | None = None) -> Eigenspace:
    """The vectors that an orthogonal tensor (n, n) leaves as they are, Q v = v: how many are independent,
    `multiplicity`, and the orthogonal `projection` on them. In space that is the axis of a rotation.

    For a rotation n - multiplicity is even, so that for odd n there is always an axis and for even n in general none;
    for a reflection it is odd. Angles below `tolerance` [rad], by default that of their precision, count as none.

    >>> quarter = np.kron(np.eye(2), [[0.0, -1.0], [1.0, 0.0]])  # a rotation in four dimensions
    >>> fixed_space(quarter).multiplicity, fixed_space(np.diag([1.0, 1.0, -1.0])).multiplicity
    (0, 2)
    """
    check_orthogonal(Q)
    small = tolerance_of(Q, tolerance)
    Q = np.asarray(Q, dtype=float)
    if Q.ndim != 2:
        raise GeometryError(f"a fixed space is that of one tensor, (n, n), not of shape {Q.shape}")
    _, values, directions = np.linalg.svd(Q - np.eye(len(Q)))
    fixed = directions[values <= small]
    return Eigenspace(1.0, len(fixed), fixed.T @ fixed)


@dataclass(frozen=True)
class SpectralDecomposition:
    """T = sum of values[k] projections[k], (3.3.17). Leading axes are a batch."""

    values: Array
    """The eigenvalues in ascending order, (..., n), each as often as it is repeated."""
    vectors: Array
    """Unit eigenvectors as columns, (..., n, n), right-handed."""

    @property
    def projections(self) -> Array:
        """The projections on the eigenvectors (..., n, n, n); of a repeated eigenvalue only their sum has a meaning."""
        return np.einsum("...ik,...jk->...kij", self.vectors, self.vectors)


@dataclass(frozen=True)
class Eigenspace:
    """All eigenvectors of one eigenvalue."""

    value: float
    multiplicity: int
    projection: Array
    """The orthogonal projection on the space, (n, n): unique, also where the eigenvectors are not."""


def spectral_decomposition(T: ArrayLike) -> SpectralDecomposition:
    """Eigenvalues and eigenvectors of symmetric tensors (..., n, n), by the symmetric eigensolver of LAPACK.

    >>> spectral_decomposition([[2.0, 1.0], [1.0, 2.0]]).values
    array([1., 3.])
    """
    check_symmetric(T)
    values, vectors = np.linalg.eigh(float_array(T))
    vectors[..., -1] *= np.sign(np.linalg.det(vectors))[..., None]
    return SpectralDecomposition(values, vectors)


def eigenspaces(T: ArrayLike, *, tolerance: float | None = None) -> tuple[Eigenspace, ...]:
    """The distinct eigenvalues of one symmetric tensor, ascending, with their spaces. Eigenvalues closer than
    `tolerance` times the largest, by default 1e-9 and in float32 2e-6, are one, repeated. T is the sum of value times
    projection over the spaces.

    >>> [(space.value, space.multiplicity) for space in eigenspaces(np.diag([2.0, 5.0, 2.0]))]
    [(2.0, 2), (5.0, 1)]
    """
    found = spectral_decomposition(T)
    tolerance = above_rounding(1e-9, T) if tolerance is None else tolerance
    breaks = np.flatnonzero(np.diff(found.values) > tolerance * np.abs(found.values).max()) + 1
    groups = np.split(np.arange(len(found.values)), breaks)
    return tuple(
        Eigenspace(float(found.values[g].mean()), len(g), found.vectors[:, g] @ found.vectors[:, g].T) for g in groups)
