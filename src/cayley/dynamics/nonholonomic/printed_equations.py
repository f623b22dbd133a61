"""Hamel's equations as they are printed in books, by SymPy: one for each pseudo-velocity, and one for each reaction.

Expressions of angles have one normal form: polynomials in sines and cosines, with squares of sines written by those of
cosines, over polynomials of the same kind. Numbers are taken as the decimal fractions that they were written as.
SymPy's own simplification searches among forms, and takes minutes for what this does in a second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.algebras.interpret import SYMPY
from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Scalar
from cayley.errors import ConventionError
from cayley.extras import optional_imports

with optional_imports():
    import sympy
    from sympy.polys.matrices import DomainMatrix

if TYPE_CHECKING:
    from cayley.dynamics.nonholonomic.system import NonholonomicSystem


_DIGITS = 1e-14  # to which numbers are the fractions that they look like
_DYADIC = 2**10  # denominators, powers of two, up to which a number is printed as a fraction


class NormalForm:
    """The form of expressions with these coordinates; those that only occur in sines and cosines are angles."""

    def __init__(self, coordinates: list[Any]) -> None:
        self.angles = {q: (sympy.Symbol(f"sin_{q}", real=True), sympy.Symbol(f"cos_{q}", real=True))
                       for q in coordinates}
        self.waves = {symbol: f(q) for q, pair in self.angles.items()
                      for f, symbol in zip((sympy.sin, sympy.cos), pair, strict=True)}

    def of(self, expression: Scalar) -> Scalar:
        """The normal form of an exact expression, in sines and cosines again, with numbers as decimals."""
        return self.shown(self.fraction(self.algebraic(expression)))

    def exact(self, expression: Scalar) -> Scalar:
        """An expression whose numbers are fractions, and sines and cosines those of single angles."""
        return sympy.nsimplify(sympy.expand_trig(sympy.sympify(expression)), rational=True, tolerance=_DIGITS)

    def algebraic(self, expression: Scalar) -> Scalar:
        """An exact expression with symbols for sines and cosines."""
        return expression.xreplace({wave: symbol for symbol, wave in self.waves.items()})

    def inverse(self, matrix: Scalar) -> Scalar:
        """The inverse of an algebraic matrix, each entry in its normal form, algebraic."""
        found = DomainMatrix.from_Matrix(matrix).to_field().inv().to_Matrix()
        return found.applyfunc(self.fraction)

    def fraction(self, expression: Scalar) -> Scalar:
        """The normal form of an algebraic expression, algebraic."""
        polynomial = self._polynomial(expression)
        if polynomial is not None:
            return polynomial
        above, below = map(self._polynomial, sympy.fraction(sympy.together(expression)))
        if above is None or below is None:
            return sympy.simplify(expression)  # roots, and functions that are no sines
        return sympy.expand(above / below) if below.is_number else sympy.cancel(above / below)

    def _polynomial(self, expression: Scalar) -> Scalar:
        """A polynomial of at most first degree in sines; None if it is none."""
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

    def in_angles(self, expression: Scalar) -> Scalar:
        """An algebraic expression with its sines and cosines."""
        return expression.xreplace(self.waves)

    def shown(self, expression: Scalar) -> Scalar:
        """An algebraic expression with its sines and cosines, and numbers as decimals."""
        decimals = {number: sympy.Float(number, 15) for number in expression.atoms(sympy.Rational)
                    if not number.is_integer and (number.q & (number.q - 1) or number.q > _DYADIC)}
        return self.in_angles(expression.xreplace(decimals))


def _first_degree(whole: Scalar, polynomial: Scalar, place: int, square: Scalar) -> Scalar:
    """A polynomial of a ring with squares of one generator replaced."""
    found = whole.zero
    for monomial, coefficient in polynomial.terms():
        power = monomial[place]
        rest = (*monomial[:place], power % 2, *monomial[place + 1:])
        found = found + whole.from_dict({rest: coefficient}) * square**(power // 2)
    return found


@dataclass(frozen=True)
class HamelEquations:
    """SymPy's equations B_k = P_k of the motion, and R_k = B_k - P_k of the reactions. `str` and `latex` print them."""

    motion: tuple[Any, ...]
    reactions: tuple[Any, ...]

    def __str__(self) -> str:
        return "\n".join(f"{each.lhs} = {each.rhs}" for each in (*self.motion, *self.reactions))

    def latex(self) -> str:
        """All of them, one to a line, for an `align` environment."""
        return " \\\\\n".join(f"{sympy.latex(each.lhs)} &= {sympy.latex(each.rhs)}"
                              for each in (*self.motion, *self.reactions))


def hamel_equations(system: NonholonomicSystem, coordinates: Sequence[str], rates: Sequence[str]) -> HamelEquations:
    """The equations with names for the coordinates (n) and for the pseudo-velocities (m), whose rates have a dot after
    their name. (224)-(236)."""
    q = sympy.symbols(list(coordinates), real=True)
    n = len(q)
    m = n - system.frame.count(np.zeros(n))
    if len(rates) != m:
        raise ConventionError(f"{system.mechanics.name} has {m} pseudo-velocities, and {len(rates)} names were given: "
                              f"{', '.join(rates)}")
    speeds = sympy.symbols(list(rates), real=True)
    accelerations = sympy.symbols([f"{rate}'" for rate in rates], real=True)
    held = sympy.symbols([f"held{k}" for k in range(n - m)], real=True)
    tau = sympy.Matrix(sympy.symbols([f"tau_{name}" for name in coordinates], real=True))
    form = NormalForm(q)
    A = sympy.Matrix(kernel("(n)->(n,n)", name="forms", inputs=("q",))(system.frame.matrix).evaluate(SYMPY, q))
    A = A.applyfunc(form.exact)
    B = form.inverse(A.applyfunc(form.algebraic)).applyfunc(form.in_angles)
    every = [*speeds, *held]
    velocity = B * sympy.Matrix(every)
    qd = sympy.symbols([f"rate{k}" for k in range(n)], real=True)
    lagrangian = kernel("(n),(n)->()", name="lagrangian", inputs=("q", "qd"))(
        lambda q, qd: system.mechanics.lagrangian(q, qd, None)).evaluate(SYMPY, q, qd)
    put_in = form.exact(lagrangian).xreplace(dict(zip(qd, velocity, strict=True)))
    L = form.in_angles(form.fraction(form.algebraic(put_in)))
    applied = tau + _applied(system, q, list(velocity)).applyfunc(form.exact)
    left = _sides(L, A, B, q, every, [*accelerations, *[0] * len(held)], form)
    right = B.T * applied
    gone = dict.fromkeys(held, sympy.Integer(0))
    sides = [(a.xreplace(gone), b.xreplace(gone)) for a, b in zip(left, right, strict=True)]
    forces = sympy.symbols([f"R{k + 1}" for k in range(n - m)], real=True)
    return HamelEquations(
        tuple(sympy.Eq(sympy.collect(form.of(a), accelerations), form.of(b), evaluate=False) for a, b in sides[:m]),
        tuple(sympy.Eq(force, sympy.collect(form.of(a - b), accelerations), evaluate=False)
              for force, (a, b) in zip(forces, sides[m:], strict=True)))


def _applied(system: NonholonomicSystem, q: Sequence[Any], qd: Sequence[Any]) -> Scalar:
    forces = system.mechanics.forces
    if forces is None:
        return sympy.zeros(len(q), 1)
    made = kernel("(n),(n)->(n)", name="forces", inputs=("q", "qd"))(
        lambda q, qd: np.stack(list(forces(q, qd, None))))
    return sympy.Matrix(made.evaluate(SYMPY, q, qd))


def _sides(L: Scalar, A: Scalar, B: Scalar, q: Sequence[Any], rates: Sequence[Any], accelerations: Sequence[Any],
           form: NormalForm) -> list[Any]:
    n = len(q)
    momenta = [sympy.diff(L, rate) for rate in rates]
    qd = B * sympy.Matrix(rates)
    curls = [sympy.Matrix(n, n, lambda s, l, i=i: sympy.diff(A[i, s], q[l]) - sympy.diff(A[i, l], q[s]))
             for i in range(n)]
    gamma = [(B.T * curl * B).applyfunc(lambda x: form.in_angles(form.fraction(form.algebraic(x))))
             for curl in curls]  # by i: k, j
    found = []
    for k in range(n):
        rate = sum(sympy.diff(momenta[k], q[s]) * qd[s] for s in range(n)) + sum(
            sympy.diff(momenta[k], rates[j]) * accelerations[j] for j in range(n))
        along = sum(B[s, k] * sympy.diff(L, q[s]) for s in range(n))
        turned = sum(gamma[i][k, j] * momenta[i] * rates[j] for i in range(n) for j in range(n))
        found.append(rate - along + turned)
    return found
