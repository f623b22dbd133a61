"""Diagonalization of a symmetric 3x3 matrix, first level: a rotation c = (x, 0, z) that annihilates b12 and b13 of B =
O^T A O.

b12 and b13 are quartics in z with coefficients in x. Dialytic elimination of z leaves det U = 256 (1 + x^2)^3 P(x)^2
Q(x) of an 8x8 matrix. The roots of the cubic P are the quotients v3/v2 of the eigenvectors, so they are real; Q is a
sum of squares and adds nothing. The first column of O is the eigenvector itself, which gives two z for each x: six
pairs at most. Source: Mladenova 5.2-5.3, (168)-(181), corrected as in spec R-37, E-34 to E-36."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.geometry.batch import real_array
from cayley.geometry.tensors.checks import check_symmetric

ROUNDING = 2.0**-52


class Quartics(NamedTuple):
    b12: Scalar
    b13: Scalar


@kernel("(3,3),()->(5),(5)")
def elimination_quartics(A: Array, x: Scalar) -> Quartics:
    """Coefficients of b12 and b13 as polynomials of z, times (1 + x^2 + z^2)^2, highest power first: (172), (173).

    >>> elimination_quartics([[2.0, 1.0, 3.0], [1.0, -1.0, 2.0], [3.0, 2.0, 4.0]], 1.0).b12
    array([  1.,   2., -24.,  16.,  12.])
    """
    a11, a22, a33 = A[0, 0], A[1, 1], A[2, 2]
    a12, a13, a23 = A[0, 1], A[0, 2], A[1, 2]
    square = x * x
    cube = square * x
    C = [a12, -2 * a23 * x + 2 * a11 - 2 * a22, -6 * a13 * x - 6 * a12,
         -2 * a23 * cube + (4 * a33 - 2 * a11 - 2 * a22) * square + 6 * a23 * x + 2 * a22 - 2 * a11,
         -a12 * cube * x + 2 * a13 * cube + 2 * a13 * x + a12]
    D = [-a13, (2 * a33 - 2 * a11) * x + 2 * a23, 6 * a13 * square + 6 * a12 * x,
         (2 * a11 - 2 * a33) * cube - 6 * a23 * square + (2 * a11 - 4 * a22 + 2 * a33) * x + 2 * a23,
         -a13 * cube * x - 2 * a12 * cube - 2 * a12 * x + a13]
    return Quartics(np.stack(C), np.stack(D))


@kernel("(3,3),()->(8,8)")
def dialytic_matrix(A: Array, x: Scalar) -> Array:
    """The matrix U of (177), for (z^4, z^3, z^2, z, 1, z^5, z^6, z^7): singular where quartics share a root.

    >>> dialytic_matrix([[2.0, 1.0, 3.0], [1.0, -1.0, 2.0], [3.0, 2.0, 4.0]], 0.5).shape
    (8, 8)
    """
    C, D = elimination_quartics(A, x)
    zero = 0 * x
    places = (4, 3, 2, 1, 0, 5, 6, 7)  # the power of z that each column stands for
    rows = []
    for shift in range(4):
        for quartic in (C, D):
            powers = {shift + 4 - k: quartic[k] for k in range(5)}
            rows.append(np.stack([powers.get(p, zero) for p in places]))
    return np.stack(rows)


@kernel("(3,3)->(4)")
def elimination_cubic(A: Array) -> Array:
    """Coefficients of P(x), highest power first, (179): of degree three in A, zero if two eigenvalues of A coincide.

    >>> elimination_cubic([[2.0, 1.0, 3.0], [1.0, -1.0, 2.0], [3.0, 2.0, 4.0]])   # WE-08
    array([  5., -25.,  26.,  13.])
    """
    a11, a22, a33 = A[0, 0], A[1, 1], A[2, 2]
    a12, a13, a23 = A[0, 1], A[0, 2], A[1, 2]
    p3 = a12 * a23 * (a11 - a33) + a13 * (a23 * a23 - a12 * a12)
    p2 = (a12 * ((a11 - a33) * (a22 - a33) - a12 * a12 - a23 * a23 + 2 * a13 * a13) + a13 * a23 * (2 * a22 - a11 - a33))
    p1 = (a13 * ((a22 - a11) * (a22 - a33) - a13 * a13 - a23 * a23 + 2 * a12 * a12) + a12 * a23 * (2 * a33 - a11 - a22))
    p0 = a13 * a23 * (a11 - a22) + a12 * (a23 * a23 - a13 * a13)
    return np.stack([p3, p2, p1, p0])


@kernel("(3,3)->(5)")
def elimination_quartic(A: Array) -> Array:
    """Q(x), (180), highest power first: [a11 (1+x^2) - a22 - 2 a23 x - a33 x^2]^2 + 4 (1+x^2)(a12 + a13 x)^2.

    >>> elimination_quartic([[2.0, 1.0, 3.0], [1.0, -1.0, 2.0], [3.0, 2.0, 4.0]])   # WE-08
    array([40., 40., 44.,  0., 13.])
    """
    # the first square is (p x^2 + q x + r)^2
    p = A[0, 0] - A[2, 2]
    q = -2 * A[1, 2]
    r = A[0, 0] - A[1, 1]
    a, b = A[0, 1], A[0, 2]
    return np.stack([
        p * p + 4 * b * b, 2 * p * q + 8 * a * b, q * q + 2 * p * r + 4 * (a * a + b * b), 2 * q * r + 8 * a * b,
        r * r + 4 * a * a])


@dataclass(frozen=True)
class FirstLevel:
    """The rotations (x, 0, z) that make the first row and column of a symmetric matrix diagonal."""

    pairs: Array
    """(k, 2): (x, z), by ascending x; k is 6 in general, fewer if an eigenvector has no second component, 2 if x is
    free."""
    residual: float
    """The largest |b12|, |b13| over the pairs, relative to the largest entry of the matrix."""
    skipped: bool
    """The first row is diagonal already: the one pair is (0, 0)."""
    free: bool
    """Two eigenvalues coincide, P vanishes and x may be anything: the pairs are those with x = 0."""


def first_level(A: ArrayLike) -> FirstLevel:
    """All rotations (x, 0, z) for which B = O^T A O has b12 = b13 = 0.

    >>> first_level([[2.0, 1.0, 3.0], [1.0, -1.0, 2.0], [3.0, 2.0, 4.0]]).pairs[0].round(9)   # WE-08
    array([-0.36362009,  1.03980207])
    """
    A = real_array(A, (3, 3), "the matrix to diagonalize")
    check_symmetric(A)
    S = A - np.trace(A) / 3 * np.eye(3)
    size = np.abs(S).max()
    if size <= ROUNDING * np.abs(A).max() or max(abs(S[0, 1]), abs(S[0, 2])) <= ROUNDING * size:
        return FirstLevel(np.zeros((1, 2)), 0.0, True, False)
    S = S / size
    cubic = elimination_cubic(S)
    free = bool(np.abs(cubic).max() <= 32 * ROUNDING)
    vectors = _eigenvectors(S, np.zeros(1) if free else np.roots(cubic).real)
    if not free:
        vectors = _completed(S, vectors)
    pairs = np.array(sorted(p for v in vectors for p in _pairs(v)))
    pairs = pairs[np.lexsort((-pairs[:, 1], pairs[:, 0]))]
    return FirstLevel(pairs, max(_residual(S, x, z) for x, z in pairs), False, free)


def _eigenvectors(S: Array, roots: Array) -> list[Array]:
    """Unit eigenvectors with the quotients v3/v2 = roots, each once, polished."""
    found: list[np.ndarray] = []
    for x in roots:
        for v1 in _first_components(S, x):
            v = _polished(S, np.array([v1, 1.0, x]))
            if all(abs(v @ u) < 0.5 for u in found):
                found.append(v)
    return found or [_polished(S, np.array([0.0, 1.0, 0.0]))]


def _first_components(S: Array, x: float) -> list[float]:
    """v1/v2 of the eigenvectors with v3/v2 = x: one, or two if x is the quotient of two eigenvectors."""
    bottom = S[0, 2] - S[0, 1] * x
    if abs(bottom) > 1e-6 * (1 + abs(x)):
        return [(S[1, 2] * x * x + (S[1, 1] - S[2, 2]) * x - S[1, 2]) / bottom]
    a = S[0, 1]
    b = S[1, 1] + S[1, 2] * x - S[0, 0]
    c = -(S[0, 1] + S[0, 2] * x)
    root = np.sqrt(max(b * b - 4 * a * c, 0.0))
    q = -(b + np.copysign(root, b)) / 2
    return [value for value in ((q / a if a != 0 else np.inf), (c / q if q != 0 else 0.0)) if abs(value) < 1e12]


def _polished(S: Array, v: Array) -> Array:
    """Rayleigh quotient iteration: cubic convergence, and nothing to do where the closed form was exact already."""
    best = v / np.linalg.norm(v)
    least = np.inf
    v = best
    for _ in range(10):
        rayleigh = v @ S @ v
        residual = np.abs(S @ v - rayleigh * v).max()
        if residual < least:
            best = v
            least = residual
        if least <= 2 * ROUNDING:
            break
        try:
            # a step beside the eigenvalue: there the matrix is singular
            v = np.linalg.solve(S - (rayleigh + 1e-13) * np.eye(3), v)
        except np.linalg.LinAlgError:
            break
        v = v / np.linalg.norm(v)
        if not np.isfinite(v).all():
            break
    return best


def _completed(S: Array, vectors: list[Array]) -> list[Array]:
    """The eigenvectors with those that nearly equal eigenvalues may have hidden, from planes across those found."""
    if len(vectors) == 1:
        v = vectors[0]
        across = np.cross(v, np.eye(3)[np.argmin(np.abs(v))])
        across = across / np.linalg.norm(across)
        other = np.cross(v, across)
        angle = np.arctan2(2 * (across @ S @ other), across @ S @ across - other @ S @ other) / 2
        vectors = [v, _polished(S, np.cos(angle) * across + np.sin(angle) * other)]
    if len(vectors) == 2:
        vectors = [*vectors, _polished(S, np.cross(vectors[0], vectors[1]))]
    return vectors


def _pairs(v: Array) -> list[tuple[float, float]]:
    """(x, z) and (x, z') of the rotations whose first column is v and -v; none if v has no second component."""
    if abs(v[1]) < 1e-13:
        return []
    x, v1 = v[2] / v[1], v[0] / v[1]
    far = -v1 - np.copysign(np.sqrt(v1 * v1 + 1 + x * x), v1)
    return [(float(x), float(far)), (float(x), float(-(1 + x * x) / far))]


def _residual(S: Array, x: float, z: float) -> float:
    square = x * x + z * z
    O = ((1 - square) * np.eye(3) + 2 * np.outer([x, 0, z], [x, 0, z])
         + 2 * np.array([[0, -z, 0], [z, 0, -x], [0, x, 0]])) / (1 + square)
    B = O.T @ S @ O
    return float(max(abs(B[0, 1]), abs(B[0, 2])))
