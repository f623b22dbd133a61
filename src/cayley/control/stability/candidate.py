"""A candidate V for a Lyapunov function, and its rate along the dynamics.

    V' = grad V . F        of steps: V(F(d)) - V(d)
Both are kernels of the displacement d from the equilibrium, and formulas where they are short enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.control.stability.error_dynamics import ErrorDynamics, in_symbols, is_smooth
from cayley.control.stability.signs import UNDECIDED, PolynomialSign, polynomial_sign
from cayley.errors import SignatureError
from cayley.wording import shown

if TYPE_CHECKING:
    from sympy import Expr

# A text of the state; an expression in the symbols of equations; or P (n, n) of V = d^T P d
CandidateLike: TypeAlias = "Callable[..., Scalar] | Expr | ArrayLike"

_SMALL = 200  # operations: more make no formulas that could be looked at


@dataclass(frozen=True, eq=False)
class Candidate:
    """V about an equilibrium; made by `candidate`."""

    about: ErrorDynamics
    value: Kernel
    """V(d)."""

    @cached_property
    def slope(self) -> Kernel:
        """The gradient of V (n)."""
        return self.value.jacobian("d")

    @cached_property
    def rate(self) -> Kernel:
        """V'(d)."""
        return self._kernel(lambda d: self._parts(d).sum())

    @cached_property
    def size_of_rate(self) -> Kernel:
        """The sum of the sizes of what V' is made of: what its rounding is measured against."""
        return self._kernel(lambda d: np.abs(self._parts(d)).sum())

    def _parts(self, d: Array) -> Array:
        F = self.about.rate(d)
        return np.stack([self.value(F), -self.value(d)]) if self.about.discrete else self.slope(d) * F

    def _kernel(self, text: Callable[[Array], Scalar]) -> Kernel:
        return kernel(f"({self.about.size})->()", inputs=("d",), name="lyapunov_rate")(text)

    @cached_property
    def is_smooth(self) -> bool:
        """True if second derivatives at the equilibrium describe V nearby."""
        return is_smooth(self.slope) and is_smooth(self.value)

    @cached_property
    def expression(self) -> Expr | None:
        """V in the symbols of the dynamics."""
        known = self.about.expressions
        if known is None or len(self.value.program().nodes) > _SMALL:
            return None
        return _rational(in_symbols(self.value, known[0])[0])

    @cached_property
    def rate_expression(self) -> Expr | None:
        """V' in these symbols."""
        V = self.expression
        known = self.about.expressions
        if V is None or known is None:
            return None
        import sympy
        d, rates = known
        F = [_rational(rate) for rate in rates]
        if self.about.discrete:
            found = V.subs(dict(zip(d, F, strict=True)), simultaneous=True) - V
        else:
            found = sum(sympy.diff(V, x) * f for x, f in zip(d, F, strict=True))
        if found.is_polynomial(*d):
            return sympy.expand(found)
        return sympy.simplify(found) if sympy.count_ops(found) <= _SMALL else None

    @cached_property
    def sign(self) -> PolynomialSign:
        """The definiteness of V, exact over all displacements, if its form shows it."""
        return self._sign(self.expression)

    @cached_property
    def sign_of_rate(self) -> PolynomialSign:
        return self._sign(self.rate_expression)

    def _sign(self, expression: Expr | None) -> PolynomialSign:
        known = self.about.expressions
        return UNDECIDED if expression is None or known is None else polynomial_sign(expression, known[0])


def candidate(about: ErrorDynamics, V: CandidateLike) -> Candidate:
    """A candidate: a text of the state, `lambda x: x.speed**2 + ...`; of equations an expression in their symbols; or a
    symmetric matrix P (n, n), for V = d^T P d."""
    import sympy
    if isinstance(V, (list, tuple, np.ndarray, sympy.MatrixBase)):
        P = np.array(V.tolist() if hasattr(V, "tolist") else V, dtype=float)
        n = about.size
        if P.shape != (n, n) or not np.isfinite(P).all() or not np.allclose(P, P.T, rtol=1e-12, atol=0.0):
            raise SignatureError(f"the matrix of V = d^T P d is symmetric and ({n}, {n}), not {shown(V)}")
        return Candidate(about, kernel(f"({n})->()", inputs=("d",), name="quadratic")(lambda d: d @ (P @ d)))
    if isinstance(V, sympy.Basic) and about.exact is None:
        raise SignatureError("an expression of symbols is a candidate for equations in symbols; of a system give a "
                             "function of its state")
    if not isinstance(V, sympy.Basic) and not callable(V):
        raise SignatureError(f"a candidate is a function of the state, an expression or a matrix, not {shown(V)}")
    return Candidate(about, about.function(V))


def _rational(expression: Expr) -> Expr:
    import sympy
    return sympy.nsimplify(expression, rational=True) if expression.atoms(sympy.Float) else expression
