"""The rotations that diagonalize a symmetric 3x3 matrix: one, the nearest to the identity, or all twenty-four.

The two levels compose, c'' = <(x, 0, z), (u, 0, 0)>, in homogeneous form, so that x u = 1, a half-turn, is a rotation
like any other. Where eigenvalues are distinct there are 24 rotations, one from the other by the rotation group of the
cube; where they coincide there are more, and 24 of them are given. Source: Mladenova 5.4, (189), (190), Theorem 4; spec
R-38.

The rotation in the plane of the last two axes: u solves u^4 - 2 a u^3 - 6 u^2 + 2 a u + 1 = 0 with a = (b33 - b22)/b23.
Its four roots are tan(t), tan(t + pi/4), tan(t - pi/4) and tan(t + pi/2): rotations a quarter turn apart. Computed from
the angle they keep their digits for every a, where the radicals lose all of them, and the fourth may be a half-turn.
Source: Mladenova 5.4, (182)-(188), evaluated as in spec R-38, E-37."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike
from cayley.geometry.principal_axes.dialytic import ROUNDING, first_level
from cayley.geometry.rotations.homogeneous import compose_homogeneous, matrix_from_homogeneous, normalize_homogeneous
from cayley.showing import brief


def _cube_rotations() -> Array:
    """The 24 rotations of the cube as unit [w : v], one sign of each."""
    half = np.sqrt(0.5)
    third = 0.5
    rows = [tuple(row) for row in np.eye(4)]
    rows += [
        tuple(half * (np.eye(4)[i] + sign * np.eye(4)[j])) for i in range(4) for j in range(i + 1, 4)
        for sign in (1, -1)]
    rows += [(third, a * third, b * third, c * third) for a, b, c in product((1, -1), repeat=3)]
    return np.array(rows)


CUBE_ROTATIONS = _cube_rotations()
CUBE_ROTATIONS.flags.writeable = False


@dataclass(frozen=True)
class Diagonalization:
    """O^T A O = diag(values) for the rotation O of [w : v]; with k leading where there are several."""

    homogeneous: Array
    """Unit [w : v] with w >= 0, (4) or (k, 4)."""
    values: Array
    """The eigenvalues in the order in which this rotation puts them, (3) or (k, 3)."""
    residual: float
    """The largest off-diagonal entry, relative to the largest entry of A."""
    distinct: int
    """How many eigenvalues are distinct: with fewer than 3 there are infinitely many more rotations."""

    __repr__ = brief

    @property
    def matrix(self) -> Array:
        """The rotation matrices, (3, 3) or (k, 3, 3): eigenvectors are their columns."""
        return matrix_from_homogeneous(self.homogeneous)

    @property
    def vector_parameter(self) -> Array:
        """c'' = v / w; infinite for a half-turn."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.homogeneous[..., 1:] / self.homogeneous[..., :1]


def diagonalize(A: ArrayLike) -> Diagonalization:
    """The rotation of smallest angle that diagonalizes a symmetric matrix (3, 3).

    >>> diagonalize([[2.0, 1.0, 3.0], [1.0, -1.0, 2.0], [3.0, 2.0, 4.0]]).vector_parameter.round(9)   # WE-08
    array([-0.17259839,  0.29822673, -0.06441772])
    """
    every = diagonalizing_rotations(A)
    return Diagonalization(every.homogeneous[0], every.values[0], every.residual, every.distinct)


def diagonalizing_rotations(A: ArrayLike) -> Diagonalization:
    """All 24 rotations that diagonalize a symmetric matrix, by ascending angle; with equal eigenvalues, 24 of many.

    >>> diagonalizing_rotations(np.diag([1.0, 2.0, 3.0])).homogeneous.shape
    (24, 4)
    """
    candidates = rotations_by_elimination(A)
    A = np.asarray(A, dtype=float)
    base = _swept(A, candidates[np.argmin([_off_diagonal(_rotated(A, h)) for h in candidates])])
    forms = compose_homogeneous(base, CUBE_ROTATIONS)
    forms = forms * np.where(_first_sign(forms) < 0, -1.0, 1.0)[:, None]
    forms = forms[np.lexsort((*forms[:, ::-1].T[:3], -np.round(forms[:, 0], 12)))]
    values = np.stack([_rotated(A, h).diagonal() for h in forms])
    size = np.abs(A).max()
    residual = max(_off_diagonal(_rotated(A, h)) for h in forms) / size if size else 0.0
    gaps = np.diff(np.sort(values[0])) > 1e-12 * size
    return Diagonalization(forms, values, float(residual), 1 + int(gaps.sum()))


def rotations_by_elimination(A: ArrayLike) -> Array:
    """The rotations of the two levels as they come: four for each (x, z) of `first_level`, unit [w : v], (4 k, 4).

    >>> len(rotations_by_elimination([[2.0, 1.0, 3.0], [1.0, -1.0, 2.0], [3.0, 2.0, 4.0]]))
    24
    """
    levels = first_level(A)
    A = np.asarray(A, dtype=float)
    found = []
    for x, z in levels.pairs:
        first = normalize_homogeneous(np.array([1.0, x, 0.0, z]))
        found.append(compose_homogeneous(first, second_level_rotations(_rotated(A, first))))
    return np.concatenate(found)


def _rotated(A: Array, h: Array) -> Array:
    O = matrix_from_homogeneous(h)
    return O.T @ A @ O


def _off_diagonal(B: Array) -> float:
    return max(abs(B[0, 1]), abs(B[0, 2]), abs(B[1, 2]))


def _swept(A: Array, h: Array) -> Array:
    """The rotation with what nearly equal eigenvalues left of the off-diagonal removed by plane rotations (Jacobi)."""
    size = np.abs(A).max()
    for _ in range(12):
        B = _rotated(A, h)
        axis = int(np.argmax([abs(B[1, 2]), abs(B[0, 2]), abs(B[0, 1])]))
        p, q = (axis + 1) % 3, (axis + 2) % 3
        if abs(B[p, q]) <= ROUNDING * size:
            break
        angle = np.arctan(-2 * B[p, q] / (B[q, q] - B[p, p])) / 2 if B[p, p] != B[q, q] else np.pi / 4
        turn = np.zeros(4)
        turn[0] = np.cos(angle / 2)
        turn[1 + axis] = np.sin(angle / 2)
        h = normalize_homogeneous(compose_homogeneous(h, turn))
    return h


def _first_sign(forms: Array) -> Array:
    """The sign of the first component that is not zero."""
    place = np.argmax(np.abs(forms) > 1e-15, axis=1)
    return np.take_along_axis(forms, place[:, None], axis=1)[:, 0]


def _half_angles(B: Array) -> Array:
    t = np.arctan2(-2 * B[1, 2], B[2, 2] - B[1, 1]) / 4
    # the root in (-1, 0]: zero, not -1, for b23 = 0
    t = where(t > 0, t - np.pi / 4, where(t <= -np.pi / 4, t + np.pi / 4, t))
    return np.stack([t, t + np.pi / 4, t - np.pi / 4, t + np.pi / 2])


@kernel("(3,3)->(4,4)")
def second_level_rotations(B: Array) -> Array:
    """The four rotations [w : v] about the first axis that make b23 zero; for b23 = 0 the first is the identity.

    >>> second_level_rotations(np.diag([1.0, 3.0, 2.0]))[0]
    array([1., 0., 0., 0.])
    """
    t = _half_angles(B)
    zero = 0 * t
    return np.stack([np.cos(t), np.sin(t), zero, zero], axis=1)


@kernel("(3,3)->(4)")
def second_level_roots(B: Array) -> Array:
    """The roots u1..u4 of (184), (185)-(188): in (-1, 0], (0, 1], (-inf, -1], (1, inf], infinite for b23 = 0.

    >>> second_level_roots([[0.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]).round(9)
    array([-0.41421356,  0.41421356, -2.41421356,  2.41421356])
    """
    t = _half_angles(B)[0]
    sin, cos = np.sin(t), np.cos(t)
    # sin <= 0, of either zero
    return np.stack([sin / cos, (cos + sin) / (cos - sin), (sin - cos) / (cos + sin), cos / np.abs(sin)])
