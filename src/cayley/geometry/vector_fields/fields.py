"""Fields and brackets of them, together as columns: evaluated at states, and which of them are independent there.

Numbers have ranks by singular values: columns scaled to length one are independent as far as their singular values are
above `tolerance` times the largest. A field is zero where it is below `tolerance` times what it is at the other states
given, a bracket where it is below `tolerance` times the two terms that it is the difference of. SymPy's symbols have
the exact rank, that of all states but special ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cayley.compiler.algebras.interpret import NUMPY, SYMPY, interpret
from cayley.compiler.kernel import Kernel
from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.signature import Signature
from cayley.compiler.solving.rounding import least_singular, relative_rank
from cayley.compiler.tracing.simplify import simplify
from cayley.compiler.tracing.trace import trace
from cayley.compiler.typing import Array, ArrayLike, Text
from cayley.errors import SignatureError, shown
from cayley.extras import optional_imports
from cayley.geometry.vector_fields.brackets import bracket_terms, vector_field

if TYPE_CHECKING:
    import sympy

TOLERANCE = least_singular(4)  # as of all functions, of about so many fields
_SIMPLE = 10**6  # denominators of fractions that are taken for what is meant
_ROUNDING = 1e-15  # relative
_SPREAD = 0.7  # of states that have nothing special about them, about those given
Bracket = tuple[int, int]  # of two fields, by their places


class Columns(NamedTuple):
    """Values of fields (..., n, m), and lengths (..., m) of which a part is rounding. Of symbols, a matrix alone."""

    values: Any
    scales: Any

    def finite(self) -> Columns:
        """The states (k) at which all are numbers."""
        there = np.isfinite(self.values).all(axis=(-2, -1))
        return Columns(self.values[there], self.scales[there])

    def ranks(self, tolerance: float, chosen: Sequence[int] | None = None) -> Array:
        """The ranks of the chosen columns, at each state (...); of symbols a number."""
        if not 0 <= tolerance < 1:
            raise SignatureError(f"the tolerance of a rank is {shown(tolerance)}: it must be from 0 to less than 1")
        columns = range(self.values.shape[-1]) if chosen is None else chosen
        if self.scales is None:
            return np.asarray(exact_rank(self.values[:, list(columns)]))
        values = self.values[..., list(columns)]
        scales = self.scales[..., list(columns)]
        found = np.zeros(values.shape[:-2], dtype=int)
        for place in np.ndindex(found.shape):
            found[place] = sampled_rank(values[place], scales[place], tolerance)
        return found


def sampled_rank(columns: Array, scales: Array, tolerance: float) -> int:
    """The rank of columns (n, m), of which those not above `tolerance` times their scales (m) are zero."""
    sizes = np.linalg.norm(columns, axis=0)
    seen = columns[:, sizes > tolerance * scales] / sizes[sizes > tolerance * scales]
    return int(relative_rank(seen, tolerance=tolerance))


def exact_rank(columns: sympy.Matrix) -> int:
    """The rank of a matrix of expressions; decimal numbers are taken for the fractions that they round."""
    with optional_imports():
        import sympy
    fractions = columns.applyfunc(lambda entry: entry.xreplace({x: _fraction(x) for x in entry.atoms(sympy.Float)}))
    return int(sympy.Matrix(fractions).rank(simplify=True))


def _fraction(value: sympy.Float) -> sympy.Rational:
    """0.1 + 0.2 is 3/10: the simple fraction of which a number is the rounded value, or else the number itself."""
    with optional_imports():
        import sympy
    exact = Fraction(float(value))
    scale = Fraction(10) ** round(np.log10(abs(float(value)))) if value else Fraction(1)
    simple = (exact / scale).limit_denominator(_SIMPLE) * scale
    found = simple if abs(simple - exact) <= _ROUNDING * abs(exact) else exact
    return sympy.Rational(found.numerator, found.denominator)


@dataclass(frozen=True, eq=False)
class Fields(HoldsFunctions):
    """Fields on configurations (nq): the columns (nv, count) of `text(q, *p)`, and brackets of those before them.
    `rate` is how configurations move by velocities, `turning` how changes of a motion turn with it, where velocities
    are not the rates of configurations; `parameters` is the number of p, None without."""

    nq: int
    nv: int
    text: Callable[..., Array]
    count: int
    rate: Callable[[Array, Array], Array] | None = None
    turning: Callable[[Array], Array] | None = None
    parameters: int | None = None

    def columns(self, brackets: Sequence[Bracket], at: ArrayLike, *p: ArrayLike) -> Columns:
        """The fields and then the brackets, at states (..., nq) or symbols (nq)."""
        def text(q: Array, *p: Array) -> tuple[Array, Array, Array]:
            own = list(np.transpose(self.text(q, *p)))
            terms = []
            for first, second in brackets:
                terms.append(bracket_terms(q, own[first], own[second], self.rate, self.turning))
                own.append(terms[-1].value)
            together = np.stack(own, axis=1) if own else np.zeros((self.nv, 0))
            return (together, np.stack([zero, *[term.forth for term in terms]], axis=1),
                    np.stack([zero, *[term.back for term in terms]], axis=1))

        zero = np.zeros(self.nv)
        size = f"({self.nv},{len(brackets) + 1})"
        inputs = f"({self.nq})" + ("" if self.parameters is None else f",({self.parameters})")
        signature = Signature.parse(f"{inputs}->({self.nv},{self.count + len(brackets)}),{size},{size}")
        program = simplify(trace(text, signature, {}, name="fields", inputs=["q", "p"][:len(signature.inputs)]))
        symbolic = any(is_symbolic(x) for x in (at, *p))
        # once: compiling would take longer
        values, forth, back = interpret(program, SYMPY if symbolic else NUMPY, at, *p)
        return Columns(values, None) if symbolic else Columns(values, self._scales(values, forth, back))

    def _scales(self, values: Array, forth: Array, back: Array) -> Array:
        """(..., m): of fields, how long they are anywhere; of brackets, their terms, or the shortest field if that is
        longer."""
        sizes = np.linalg.norm(values[..., :self.count], axis=-2)
        longest = sizes.max(axis=tuple(range(sizes.ndim - 1)), initial=0.0)
        floor = min(longest[longest > 0], default=0.0)
        terms = (np.linalg.norm(forth, axis=-2) + np.linalg.norm(back, axis=-2))[..., 1:]
        return np.concatenate([np.broadcast_to(longest, sizes.shape), np.maximum(terms, floor)], axis=-1)


def joined(texts: Sequence[Text], n: int, parameters: ArrayLike | None) -> Fields:
    """Fields of the state (n), given one by one."""
    fields = [vector_field(text) for text in texts]

    def columns(x: Array, *p: Array) -> Array:
        return np.stack([_placed(field, x, p) for field in fields], axis=1) if fields else np.zeros((n, 0))

    return Fields(n, n, columns, len(fields), parameters=None if parameters is None else len(np.atleast_1d(parameters)))


def _placed(field: Kernel, x: Array, p: Sequence[Array]) -> Array:
    if len(field.inputs) > 1 + len(p):
        raise SignatureError(f"{field.__name__} takes parameters: give parameters=...")
    return field(x, *p[:len(field.inputs) - 1])


def nearby(at: Array, count: int) -> Array:
    """At least `count` states (k, n) about those given (..., n), which have nothing special about them: what holds near
    a special state, at which a field or a bracket happens to be zero, is seen there."""
    given = at.reshape(-1, at.shape[-1])
    around = np.repeat(given, -(-count // max(len(given), 1)), axis=0)
    return np.asarray(around + _SPREAD * np.maximum(1.0, np.abs(around)) * np.random.default_rng(0).normal(
        size=around.shape))


def is_symbolic(values: ArrayLike) -> bool:
    """True if some of the values are SymPy's."""
    return any(hasattr(entry, "free_symbols") for entry in np.asarray(values, dtype=object).flat)


def states(at: ArrayLike) -> Array:
    """The states at which questions are asked: numbers (..., n), or symbols (n)."""
    if is_symbolic(at):
        found = np.asarray(at, dtype=object).reshape(-1)
    else:
        found = np.asarray(at, dtype=float)
        if found.ndim == 0 or not np.isfinite(found).all():
            raise SignatureError(f"states must be given as finite numbers (..., n), not {at!r}")
    return found
