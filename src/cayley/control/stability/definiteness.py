"""Definiteness of symmetric matrices: by exact minors where its entries are exact, by eigenvalues otherwise.

Sylvester: a matrix is positive definite if all its leading minors are positive; it is not negative in any direction if
all its principal minors, not just the leading ones, are not negative. Integers, fractions, and symbols of SymPy whose
assumptions decide the signs are exact; floats have eigenvalues, of which those within rounding of zero count as zero.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError
from cayley.showing import brief
from cayley.wording import shown

Sign: TypeAlias = Literal["positive definite", "positive semidefinite", "zero", "negative semidefinite",
                          "negative definite", "indefinite", "undecided"]
_MOST_MINORS = 10  # rows: 2^n principal minors


class Definiteness(NamedTuple):
    """The word; whether it is exact; and the minors or eigenvalues that say so."""

    word: Sign
    exact: bool
    numbers: tuple[Any, ...]

    def __repr__(self) -> str:
        return brief(self)

    @property
    def is_definite(self) -> bool:
        return self.word == "positive definite"

    @property
    def is_semidefinite(self) -> bool:
        """True if the form is not negative in any direction."""
        return self.word in ("positive definite", "positive semidefinite", "zero")

    @property
    def how(self) -> str:
        what = "minors" if self.exact else "eigenvalues"
        listed = ", ".join(str(x) if self.exact else f"{x:.4g}" for x in self.numbers[:6])
        return f"{what} {listed}{', ...' if len(self.numbers) > 6 else ''}"


def definiteness(matrix: ArrayLike, *, rounding: float = 0.0) -> Definiteness:
    """The definiteness of a symmetric matrix (n, n). `rounding`: how large eigenvalues of floats may be that are zero,
    where it is more than that of the matrix as it stands.

    >>> from fractions import Fraction
    >>> definiteness([[2, 1], [1, Fraction(1, 2)]])
    Definiteness(word='positive semidefinite', exact=True, numbers=(2, 1/2, 0))
    >>> definiteness([[2.0, 1.0], [1.0, 0.5]]).word
    'positive semidefinite'
    """
    given = _entries(matrix)
    return _by_minors(given) if given.dtype == object else _by_eigenvalues(given, rounding)


def _entries(matrix: ArrayLike) -> Array:
    given = np.array(matrix.tolist() if hasattr(matrix, "tolist") else matrix)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or not given.size:
        raise SignatureError(f"definiteness is that of a square matrix, not of {shown(matrix)}")
    if given.dtype.kind in "iu":
        given = given.astype(object)
    if given.dtype == object and any(isinstance(x, (float, np.floating)) for x in given.flat):
        given = given.astype(float)
    if given.dtype != object and (given.dtype.kind != "f" or not np.isfinite(given).all()):
        raise SignatureError(f"definiteness is that of real, finite numbers, not of {shown(matrix)}")
    uneven = given - given.T
    same = not uneven.any() if given.dtype == object else np.abs(uneven).max() <= 1e-12 * np.abs(given).max()
    if not same:
        raise SignatureError(f"definiteness is that of a symmetric matrix, not of {shown(matrix)}: of x^T M x it is "
                             "that of (M + M^T) / 2")
    return given


def _by_eigenvalues(matrix: Array, rounding: float = 0.0) -> Definiteness:
    values = np.linalg.eigvalsh((matrix + matrix.T) / 2)
    small = max(rounding, 64 * np.finfo(float).eps * len(matrix) * np.abs(values).max())
    return Definiteness(_word((values > small).sum(), (values < -small).sum(), len(values)), False,
                        tuple(values.tolist()))


def _word(positive: int, negative: int, size: int) -> Sign:
    if positive and negative:
        return "indefinite"
    if not positive and not negative:
        return "zero"
    if positive:
        return "positive definite" if positive == size else "positive semidefinite"
    return "negative definite" if negative == size else "negative semidefinite"


def _by_minors(matrix: Array) -> Definiteness:
    import sympy
    M = sympy.Matrix([[sympy.Rational(x.numerator, x.denominator) if isinstance(x, Fraction) else sympy.sympify(x)
                       for x in row] for row in matrix])
    n = M.rows
    leading = tuple(_minor(M, range(k + 1)) for k in range(n))
    signs = [_sign(minor) for minor in leading]
    if all(s == 1 for s in signs):
        return Definiteness("positive definite", True, leading)
    if all(s == (-1) ** (k + 1) for k, s in enumerate(signs)):
        return Definiteness("negative definite", True, leading)
    if n > _MOST_MINORS:
        return _by_eigenvalues(np.array(M.tolist(), dtype=float)) if not M.free_symbols else Definiteness(
            "undecided", True, leading)
    chosen = [rows for k in range(1, n + 1) for rows in combinations(range(n), k)]
    minors = tuple(_minor(M, rows) for rows in chosen)
    found = [_sign(minor) for minor in minors]
    if None in found:
        return Definiteness("undecided", True, minors)
    if M.is_zero_matrix:
        return Definiteness("zero", True, minors)
    if all(s >= 0 for s in found):  # type: ignore[operator]
        return Definiteness("positive semidefinite", True, minors)
    if all(s * (-1) ** len(rows) >= 0 for s, rows in zip(found, chosen, strict=True)):
        return Definiteness("negative semidefinite", True, minors)
    return Definiteness("indefinite", True, minors)


def _minor(M: Any, rows: Any) -> Any:  # noqa: ANN401 (of SymPy)
    import sympy
    return sympy.simplify(M.extract(list(rows), list(rows)).det(method="berkowitz"))


def _sign(expression: Any) -> int | None:  # noqa: ANN401 (of SymPy)
    if expression.is_zero:
        return 0
    return 1 if expression.is_positive else -1 if expression.is_negative else None
