"""Expressions of angles in one form, by SymPy: polynomials in sines and cosines, in which squares of sines are written
by those of cosines, over polynomials of the same kind; what is equal looks equal.

Numbers are taken as the decimal fractions that they were written as, and computed with exactly. SymPy's own
simplification searches among forms, and takes minutes for what this does in a second.
"""

from __future__ import annotations

from typing import Any

_DIGITS = 1e-14  # to which numbers are the fractions that they look like
_DYADIC = 2**10  # denominators, powers of two, up to which a number is printed as a fraction


class NormalForm:
    """The form of expressions with these coordinates; those that only occur in sines and cosines are angles."""

    def __init__(self, coordinates: list[Any]) -> None:
        import sympy
        self.angles = {q: (sympy.Symbol(f"sin_{q}", real=True), sympy.Symbol(f"cos_{q}", real=True))
                       for q in coordinates}

    def of(self, expression: Any) -> Any:  # noqa: ANN401 (SymPy's)
        """The normal form of an exact expression, in sines and cosines again, with numbers as decimals."""
        return self.shown(self.fraction(self.algebraic(expression)))

    def exact(self, expression: Any) -> Any:  # noqa: ANN401 (SymPy's)
        """An expression whose numbers are fractions, and sines and cosines those of single angles."""
        import sympy
        return sympy.nsimplify(sympy.expand_trig(sympy.sympify(expression)), rational=True, tolerance=_DIGITS)

    def algebraic(self, expression: Any) -> Any:  # noqa: ANN401 (SymPy's)
        """An exact expression with symbols for sines and cosines."""
        import sympy
        return expression.xreplace({f(q): symbol for q, pair in self.angles.items()
                                    for f, symbol in zip((sympy.sin, sympy.cos), pair, strict=True)})

    def inverse(self, matrix: Any) -> Any:  # noqa: ANN401 (SymPy's)
        """The inverse of an algebraic matrix, each entry in its normal form, algebraic."""
        from sympy.polys.matrices import DomainMatrix
        found = DomainMatrix.from_Matrix(matrix).to_field().inv().to_Matrix()
        return found.applyfunc(self.fraction)

    def fraction(self, expression: Any) -> Any:  # noqa: ANN401 (SymPy's)
        """The normal form of an algebraic expression, algebraic."""
        import sympy
        polynomial = self._polynomial(expression)
        if polynomial is not None:
            return polynomial
        above, below = map(self._polynomial, sympy.fraction(sympy.together(expression)))
        if above is None or below is None:
            return sympy.simplify(expression)  # roots, and functions that are no sines
        return sympy.expand(above / below) if below.is_number else sympy.cancel(above / below)

    def _polynomial(self, expression: Any) -> Any:  # noqa: ANN401 (SymPy's)
        """A polynomial of at most first degree in sines; None if it is none."""
        import sympy
        beside = {cosine for sine, cosine in self.angles.values() if sine in expression.free_symbols}
        symbols = sorted(expression.free_symbols | beside, key=str)
        if not symbols:
            return sympy.nsimplify(expression)
        whole = sympy.polys.rings.ring(symbols, sympy.QQ)[0]
        try:
            found = whole.from_expr(expression)
        except (ValueError, sympy.polys.polyerrors.CoercionFailed, sympy.polys.polyerrors.GeneratorsError):
            return None
        for sine, cosine in self.angles.values():
            if sine in symbols and found.degree(whole(sine)) > 1:
                found = _first_degree(whole, found, symbols.index(sine), 1 - whole.from_expr(cosine)**2)
        return found.as_expr()

    def in_angles(self, expression: Any) -> Any:  # noqa: ANN401 (SymPy's)
        """An algebraic expression with its sines and cosines."""
        import sympy
        return expression.xreplace({symbol: f(q) for q, pair in self.angles.items()
                                    for f, symbol in zip((sympy.sin, sympy.cos), pair, strict=True)})

    def shown(self, expression: Any) -> Any:  # noqa: ANN401 (SymPy's)
        """An algebraic expression with its sines and cosines, and numbers as decimals."""
        import sympy
        decimals = {number: sympy.Float(number, 15) for number in expression.atoms(sympy.Rational)
                    if not number.is_integer and (number.q & (number.q - 1) or number.q > _DYADIC)}
        return self.in_angles(expression.xreplace(decimals))


def _first_degree(whole: Any, polynomial: Any, place: int, square: Any) -> Any:  # noqa: ANN401 (SymPy's)
    """A polynomial of a ring with squares of one generator replaced."""
    found = whole.zero
    for monomial, coefficient in polynomial.terms():
        power = monomial[place]
        rest = (*monomial[:place], power % 2, *monomial[place + 1:])
        found = found + whole.from_dict({rest: coefficient}) * square**(power // 2)
    return found
