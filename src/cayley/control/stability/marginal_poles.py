"""Poles on the boundary of stability, exactly for the numbers of A as they stand.

The characteristic polynomial p of A is one of rational numbers. Its roots on the imaginary axis are among those that it
shares with p(-s), g = gcd(p, p(-s)), which is a polynomial in s^2 but for a power of s: they are on the axis where s^2
is real and not positive. p / g has none there, and Routh's scheme says whether it has any beyond. The unit circle
becomes the axis by s = (z - 1) / (z + 1), where z = -1 is counted apart. Poles on the boundary have no Jordan blocks if
f(A), f having each of them once, has a kernel as large as they are many.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from cayley.compiler.typing import Array

if TYPE_CHECKING:
    from sympy import Poly

_LARGEST = 24  # rows: beyond, the numbers of the polynomial become long


class MarginalPoles(NamedTuple):
    """How many poles are on the boundary, whether any is beyond it, and whether those on it have no Jordan blocks."""

    on: int
    beyond: bool
    semisimple: bool


def marginal_poles(A: Array, *, discrete: bool = False) -> MarginalPoles | None:
    """The exact count; nothing for matrices that are too large for it.

    >>> import numpy as np
    >>> marginal_poles(np.array([[0.0, 1.0], [-9.81, 0.0]]))
    MarginalPoles(on=2, beyond=False, semisimple=True)
    >>> marginal_poles(np.array([[0.0, 1.0], [0.0, 0.0]]))
    MarginalPoles(on=2, beyond=False, semisimple=False)
    """
    if len(A) > _LARGEST:
        return None
    import sympy
    from sympy.polys.matrices import DomainMatrix
    s = sympy.Symbol("s")
    entries = [[sympy.Rational(*Fraction(float(x)).as_integer_ratio()) for x in row] for row in A]
    M = DomainMatrix.from_list_sympy(len(A), len(A), entries).convert_to(sympy.QQ)
    p = sympy.Poly(M.charpoly(), s, domain="QQ")
    half_turn = sympy.Poly(s + 1, s, domain="QQ")
    opposite = 0
    while discrete and p.rem(half_turn).is_zero:
        p = p.quo(half_turn)
        opposite += 1
    p = _mapped(p, s + 1, 1 - s) if discrete else p
    shared = p.gcd(_mapped(p, -s, 1))
    once = shared.quo(shared.gcd(shared.diff(s))) if shared.degree() > 0 else sympy.Poly(1, s, domain="QQ")
    rest = p.quo(shared)
    beyond = not _all_on_axis(once) or not _is_hurwitz(rest)
    on = shared.degree() + opposite
    boundary = _mapped(once, s - 1, s + 1) * (half_turn if opposite else 1) if discrete else once
    return MarginalPoles(on, beyond, not on or _kernel(M, boundary) == on)


def _mapped(p: Poly, above: Any, below: Any) -> Poly:  # noqa: ANN401 (of SymPy)
    """p(above / below), times the power of `below` that makes it a polynomial."""
    import sympy
    coefficients = p.all_coeffs()[::-1]
    n = len(coefficients) - 1
    return sympy.Poly(sympy.expand(sum(c * above**k * below**(n - k) for k, c in enumerate(coefficients))), p.gen,
                      domain="QQ")


def _all_on_axis(once: Poly) -> bool:
    """Of a polynomial whose roots come as s and -s, each once: in w = -s^2 they are real and not negative."""
    import sympy
    powers = once.all_coeffs()[::-1]
    even = powers[1:] if powers[0] == 0 else powers  # without the root at the origin
    if len(even) == 1:
        return True
    w = sympy.Poly([c * (-1) ** k for k, c in enumerate(even[::2])][::-1], once.gen, domain="QQ")
    return bool(w.count_roots(0, None) == w.degree())


def _is_hurwitz(p: Poly) -> bool:
    """Whether all roots have negative real parts: Routh's first column has one sign."""
    coefficients = [Fraction(int(c.p), int(c.q)) for c in p.all_coeffs()]
    upper = coefficients[::2]
    lower = coefficients[1::2]
    sign = upper[0]
    while lower:
        if lower[0] * sign <= 0:
            return False
        ratio = upper[0] / lower[0]
        after = [a - ratio * b for a, b in zip(upper[1:], lower[1:] + [Fraction(0)] * len(upper), strict=False)]
        upper = lower
        lower = after
    return True


def _kernel(M: Any, f: Poly) -> int:  # noqa: ANN401 (of SymPy)
    """The dimension of the kernel of f(M)."""
    import sympy
    one = type(M).eye(M.shape[0], sympy.QQ)
    value = one * sympy.QQ(0)
    for c in f.all_coeffs():
        value = value * M + one * sympy.QQ(int(c.p), int(c.q))
    return int(M.shape[0] - value.rank())
