"""Signs: the definiteness of symmetric matrices, and the sign of a polynomial over all real numbers.

Sylvester: a matrix is positive definite if all its leading minors are positive; it is not negative in any direction if
all its principal minors, not just the leading ones, are not negative. Integers, fractions, and symbols of SymPy whose
assumptions decide the signs are exact; floats have eigenvalues, of which those within rounding of zero count as zero.

    a quadratic form                              Sylvester's minors
    even powers with coefficients of one sign     each term has that sign
    both together, with the same sign             each part has it
    a product                                     squares are not negative, the other factors have signs of their own
Other polynomials stay undecided. Where a sign is semidefinite, the polynomials that are zero together where the whole
is zero are known besides."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError, shown
from cayley.extras import optional_imports
from cayley.showing import shown_briefly

if TYPE_CHECKING:
    from sympy import Expr, Poly, Symbol

Sign: TypeAlias = Literal["positive definite", "positive semidefinite", "zero", "negative semidefinite",
                          "negative definite", "indefinite", "undecided"]
_MOST_MINORS = 10  # rows: 2^n principal minors


@shown_briefly
class Definiteness(NamedTuple):
    """The verdict in a word, whether it is exact, and the minors or eigenvalues that prove it."""

    word: Sign
    exact: bool
    numbers: tuple[Any, ...]

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
    with optional_imports():
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
    with optional_imports():
        import sympy
    return sympy.simplify(M.extract(list(rows), list(rows)).det(method="berkowitz"))


def _sign(expression: Any) -> int | None:  # noqa: ANN401 (of SymPy)
    if expression.is_zero:
        return 0
    return 1 if expression.is_positive else -1 if expression.is_negative else None


class PolynomialSign(NamedTuple):
    """The sign away from the origin, how it is known, and what is zero together where the polynomial is. One that is
    definite grows without bound in every direction."""

    word: Sign
    how: str
    zeros: tuple[Expr, ...] = ()


UNDECIDED = PolynomialSign("undecided", "its form does not show its sign")


def polynomial_sign(expression: Expr, d: Sequence[Symbol]) -> PolynomialSign:
    """The sign of an expression in the symbols `d`, all real.

    >>> import sympy as sp
    >>> x, y = sp.symbols("x y", real=True)
    >>> polynomial_sign(-(x**2) + x * y - y**2 - x**4, (x, y)).word
    'negative definite'
    >>> polynomial_sign(-3 * y**2 * (1 + x**2), (x, y))
    PolynomialSign(word='negative semidefinite', how='its quadratic form has ...', zeros=(y, x*y))
    """
    with optional_imports():
        import sympy
    whole = sympy.expand(expression)
    if whole == 0:
        return PolynomialSign("zero", "it vanishes")
    if not whole.is_polynomial(*d) or whole.free_symbols - set(d):
        return UNDECIDED
    p = sympy.Poly(whole, *d)
    found = _of_terms(p)
    return found if found.word != "undecided" else _of_factors(p)


def real_zeros(expression: Expr, d: Sequence[Symbol]) -> tuple[Expr, ...]:
    """Polynomials with the real zeros of one in common, simpler where its form allows: without factors that are zero
    nowhere, without powers, squares in a sum one by one.

    >>> import sympy as sp
    >>> x, y = sp.symbols("x y", real=True)
    >>> real_zeros(x**3 + x, (x, y)), real_zeros(x**4 + y**2, (x, y))
    ((x,), (x, y))
    """
    with optional_imports():
        import sympy
    sign = polynomial_sign(expression, d)
    if sign.word.endswith(" definite"):
        return tuple(d)
    if sign.zeros:
        return sign.zeros
    kept = []
    for factor, _ in sympy.factor_list(expression, *d)[1]:
        found = _strict(factor, d)
        if found is None or found.vanishes:
            kept.append(factor)
    return (sympy.prod(kept),) if kept else (sympy.Integer(1),)


def _of_terms(p: Poly) -> PolynomialSign:
    with optional_imports():
        import sympy
    d = p.gens
    n = len(d)
    quadratic = sympy.zeros(n, n)
    others = []
    for powers, c in p.terms():
        if sum(powers) == 2:
            i, j = [k for k, power in enumerate(powers) for _ in range(power)]
            quadratic[i, j] += c / 2
            quadratic[j, i] += c / 2
        elif any(power % 2 for power in powers) or not sum(powers):
            return UNDECIDED
        else:
            others.append((powers, c))
    signs = {sympy.sign(c) for _, c in others}
    form = definiteness(quadratic.tolist())
    if form.word in ("indefinite", "undecided") or len(signs) > 1:
        return UNDECIDED
    word = "positive" if form.word.startswith("positive") or (form.word == "zero" and signs == {1}) else "negative"
    if signs and signs != {1 if word == "positive" else -1}:
        return UNDECIDED
    used = [i for i in range(n) if any(quadratic[i, :])]
    part = definiteness(quadratic.extract(used, used).tolist()).word if used else ""
    own = {i for i in range(n) if quadratic[i, i] and part.endswith(" definite")}
    own |= {next(i for i, power in enumerate(powers) if power) for powers, _ in others
            if sum(power > 0 for power in powers) == 1}
    zeros = [sympy.expand(row) for row in (quadratic * sympy.Matrix(d)) if row != 0]
    zeros = [sympy.Poly(zero, *d).monic().as_expr() for zero in zeros]
    zeros += [sympy.prod(x for x, power in zip(d, powers, strict=True) if power) for powers, _ in others]
    how = f"its quadratic form has the {form.how}" if form.word != "zero" else "it has even powers of one sign alone"
    how += ", and even powers of the same sign" if form.word != "zero" and others else ""
    definite = len(own) == n or form.word.endswith(" definite")
    return PolynomialSign(f"{word} {'definite' if definite else 'semidefinite'}",  # type: ignore[arg-type]
                          how, () if definite else tuple(dict.fromkeys(zeros)))


def _of_factors(p: Poly) -> PolynomialSign:
    with optional_imports():
        import sympy
    leading, factors = sympy.factor_list(p.as_expr(), *p.gens)
    if len(factors) < 2 and all(power == 1 for _, power in factors):
        return UNDECIDED
    sign = int(sympy.sign(leading))
    zeros = []
    words = []
    for factor, power in factors:
        found = _strict(factor, p.gens)
        if power % 2 and found is None:
            return UNDECIDED
        sign *= found.sign if power % 2 and found is not None else 1
        if found is None or found.vanishes:
            zeros.append(factor)
        words.append(f"({factor})^{power}" if power > 1 else f"({factor})")
    word = "positive" if sign > 0 else "negative"
    return PolynomialSign(f"{word} semidefinite", f"it is a product of {', '.join(words)}",  # type: ignore[arg-type]
                          (sympy.prod(zeros),) if zeros else ())


class _Strict(NamedTuple):
    sign: int
    vanishes: bool


def _strict(factor: Expr, d: Sequence[Symbol]) -> _Strict | None:
    """The sign of a factor, which may have a constant term of its own."""
    with optional_imports():
        import sympy
    constant = sympy.Poly(factor, *d).coeff_monomial(1)
    rest = polynomial_sign(factor - constant, d) if factor - constant != 0 else PolynomialSign("zero", "")
    way = {"positive": 1, "negative": -1}.get(rest.word.split()[0], 0)
    if rest.word in ("undecided", "indefinite") or (constant and way and int(sympy.sign(constant)) != way):
        return None
    return _Strict(way or int(sympy.sign(constant)), not constant)
