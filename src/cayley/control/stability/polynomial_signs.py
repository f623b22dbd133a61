"""The sign of a polynomial over all real numbers, where its form shows it.

    a quadratic form                              Sylvester's minors
    even powers with coefficients of one sign     each term has that sign
    both together, with the same sign             each part has it
    a product                                     squares are not negative, the other factors have signs of their own
Anything else stays undecided: that is no proof of either sign. Where a sign is semidefinite, the polynomials that are
zero together where the whole is zero are known besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from cayley.control.stability.definiteness import Sign, definiteness

if TYPE_CHECKING:
    from sympy import Expr, Symbol


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


def _of_terms(p: object) -> PolynomialSign:
    import sympy
    assert isinstance(p, sympy.Poly)
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
    own = {i for i in range(n) if quadratic[i, i] and _is_definite(quadratic, used)}
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


def _is_definite(quadratic: object, rows: list[int]) -> bool:
    import sympy
    assert isinstance(quadratic, sympy.MatrixBase)
    part = definiteness(quadratic.extract(rows, rows).tolist()).word
    return part in ("positive definite", "negative definite")


def _of_factors(p: object) -> PolynomialSign:
    import sympy
    assert isinstance(p, sympy.Poly)
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
    import sympy
    constant = sympy.Poly(factor, *d).coeff_monomial(1)
    rest = polynomial_sign(factor - constant, d) if factor - constant != 0 else PolynomialSign("zero", "")
    way = {"positive": 1, "negative": -1}.get(rest.word.split()[0], 0)
    if rest.word in ("undecided", "indefinite") or (constant and way and int(sympy.sign(constant)) != way):
        return None
    return _Strict(way or int(sympy.sign(constant)), not constant)
