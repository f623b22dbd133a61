"""Projections of vectors on an axis and on the plane across it, and symmetric tensors as sums of projections.

Source: Balafoutis & Patel, section 3.3.2, equations (3.3.10)-(3.3.17).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.geometry.batch import float_array
from cayley.geometry.tensors.checks import check_symmetric, check_unit_vector


def _check_direction(e: Array, *_: object) -> None:
    check_unit_vector(e)


@kernel("(n)->(n,n)", check=_check_direction)
def axis_projection(e: Array) -> Array:
    """P_e = e (x) e, the orthogonal projection on the direction of the unit vector e, (3.3.11).

    >>> axis_projection([0.6, 0.8]) @ [5.0, 0.0]
    array([1.8, 2.4])
    """
    return np.outer(e, e)


@kernel("(n)->(n,n)", check=_check_direction)
def plane_projection(e: Array) -> Array:
    """P^e = 1 - e (x) e, the orthogonal projection on the plane across the unit vector e, (3.3.12).

    >>> plane_projection([0.6, 0.8]) @ [5.0, 0.0]
    array([ 3.2, -2.4])
    """
    return np.eye(len(e)) - np.outer(e, e)


@kernel("(n),(n)->(n)", check=_check_direction)
def parallel_part(e: Array, v: Array) -> Array:
    """The part of v along the unit vector e, (3.3.13).

    >>> parallel_part([0.6, 0.8], [5.0, 0.0])
    array([1.8, 2.4])
    """
    return e * (e @ v)


@kernel("(n),(n)->(n)", check=_check_direction)
def perpendicular_part(e: Array, v: Array) -> Array:
    """The part of v across the unit vector e, (3.3.14).

    >>> perpendicular_part([0.6, 0.8], [5.0, 0.0])
    array([ 3.2, -2.4])
    """
    return v - e * (e @ v)


@dataclass(frozen=True)
class SpectralDecomposition:
    """T = sum of values[k] projections[k], (3.3.17). Leading axes are a batch."""

    values: Array
    """The eigenvalues in ascending order, (..., n), each as often as it is repeated."""
    vectors: Array
    """Unit eigenvectors as columns, (..., n, n), right-handed."""

    @property
    def projections(self) -> Array:
        """The projections on the eigenvectors, (..., n, n, n); for a repeated eigenvalue only their sum means anything.
        """
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


def eigenspaces(T: ArrayLike, *, tolerance: float = 1e-9) -> tuple[Eigenspace, ...]:
    """The distinct eigenvalues of one symmetric tensor, ascending, with their spaces. Eigenvalues closer than
    `tolerance` times the largest are one, repeated. T is the sum of value times projection over the spaces.

    >>> [(space.value, space.multiplicity) for space in eigenspaces(np.diag([2.0, 5.0, 2.0]))]
    [(2.0, 2), (5.0, 1)]
    """
    found = spectral_decomposition(T)
    breaks = np.flatnonzero(np.diff(found.values) > tolerance * np.abs(found.values).max()) + 1
    groups = np.split(np.arange(len(found.values)), breaks)
    return tuple(
        Eigenspace(float(found.values[g].mean()), len(g), found.vectors[:, g] @ found.vectors[:, g].T) for g in groups)
