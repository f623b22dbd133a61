"""The relative degrees of outputs y = h(x) of x' = f(x) + g1(x) u1 + ..., and the law that makes each a chain of
integrators.

    yi^(ri) = L_f^ri hi + sum_j A_ij uj,   A_ij = L_gj L_f^(ri-1) hi,   ri the first order at which an input shows
    u = A^-1 (v - L_f^r h)        then  yi^(ri) = vi
If the degrees add up to n, nothing is left beside the chains: outputs of this kind are those that Theorem 7 says exist.
Source: Mladenova 7.5, appendix; Isidori 1995, 4.1 and 5.1.

Whether feedback makes the whole state linear, for some outputs:
    Gk = span {L_f^j gi, j <= k};   linear, if G(n-1) has the rank n, and each Gk before is involutive, of constant rank
With one input this is Theorem 7 of Mladenova 7.5 (spec R-56): {g, ..., L_f^(n-1) g} independent, {g, ..., L_f^(n-2) g}
involutive, f(0) = 0. By how much each level adds to the rank the chains of integrators are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from cayley.compiler.algebras.interpret import NUMPY, SYMPY, interpret
from cayley.compiler.derivatives.derivative import independent, slope_along
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.signature import Signature
from cayley.compiler.tracing.simplify import simplify
from cayley.compiler.tracing.symbols import where
from cayley.compiler.tracing.trace import trace
from cayley.compiler.typing import Array, ArrayLike, Scalar, Text
from cayley.errors import SignatureError, SingularityError
from cayley.extras import optional_imports
from cayley.geometry.vector_fields.brackets import checked_inputs, function_of_state, vector_field
from cayley.geometry.vector_fields.fields import TOLERANCE, Bracket, Fields, is_symbolic, joined, states


@dataclass(frozen=True, eq=False)
class RelativeDegrees:
    """The relative degrees of the outputs (m) at some states; those that no input reaches within n derivatives have the
    degree 0."""

    n: int
    degrees: tuple[int, ...]
    decoupling: Scalar
    """A (..., m, inputs) at the states, or SymPy's matrix."""

    @property
    def is_complete(self) -> bool:
        """True if the chains are the whole system."""
        return sum(self.degrees) == self.n and 0 not in self.degrees

    def __str__(self) -> str:
        left = "" if self.is_complete else f", {self.n - sum(self.degrees)} dimensions are left beside them"
        return f"chains of {', '.join(map(str, self.degrees))} integrators{left}"


def relative_degrees(h: Text, f: Text, inputs: Sequence[Text], at: ArrayLike, *, parameters: ArrayLike | None = None,
                     tolerance: float = TOLERANCE) -> RelativeDegrees:
    """The relative degrees of outputs h(x) (m) at states (..., n), at all of which they must be the same, or at SymPy's
    symbols (n), for all states but special ones. A row of A is zero if it is below `tolerance` times the gradient and
    the inputs that it is the product of.

    >>> pendulum = lambda x: [x[1], -np.sin(x[0])]
    >>> print(relative_degrees(lambda x: x[:1], pendulum, [lambda x: [0.0, 1.0]], [0.3, 0.1]))
    chains of 2 integrators
    >>> print(relative_degrees(lambda x: x[1:], pendulum, [lambda x: [0.0, 1.0]], [0.3, 0.1]))
    chains of 1 integrators, 1 dimensions are left beside them
    """
    asked = states(at)
    n = asked.shape[-1]
    p = () if parameters is None else (np.atleast_1d(parameters),)
    rows = _derivatives(h, f, inputs, asked, p)
    found = [_row(rows, asked, p, tolerance, output, n) for output in range(rows.outputs)]
    chosen = [row for _, row in found]
    symbolic = asked.dtype == object or any(map(is_symbolic, p))
    if symbolic:
        with optional_imports():
            import sympy
        return RelativeDegrees(n, tuple(degree for degree, _ in found), sympy.Matrix(chosen))
    return RelativeDegrees(n, tuple(degree for degree, _ in found), np.stack(chosen, axis=-2))


def output_linearising_law(h: Text, f: Text, inputs: Sequence[Text], degrees: Sequence[int]) -> Kernel:
    """`law(x, v)`, or `law(x, p, v)`: the inputs (..., m) under which the derivatives of the outputs h(x) (m), of the
    orders that `relative_degrees` found, are v (..., m). There must be as many inputs as outputs; it is not a number
    where A is singular.

    >>> law = output_linearising_law(lambda x: x[:1], lambda x: [x[1], -np.sin(x[0])], [lambda x: [0.0, 1.0]], [2])
    >>> law([np.pi / 2, 0.0], [0.5])
    array([1.5])
    """
    if len(degrees) != len(checked_inputs(inputs)) or min(degrees, default=1) < 1:
        raise SignatureError(f"a law for {len(inputs)} inputs needs as many outputs, each of a degree of 1 or more, "
                             f"not {tuple(degrees)}")
    output = function_of_state(h)
    fields = [vector_field(each) for each in (f, *checked_inputs(inputs))]
    takes = max(len(each.inputs) for each in (output, *fields))

    def law(x: Array, *others: Array) -> Array:
        *p, v = others
        here = independent(x)
        drift, *driven = (field(here, *p[:len(field.inputs) - 1]) for field in fields)
        y = output(here, *p[:len(output.inputs) - 1])
        rows, own = [], []
        for k, degree in enumerate(degrees):
            value = y[k:k + 1]
            for _ in range(degree - 1):
                value = slope_along(value, here, drift)
            rows.append([slope_along(value, here, g)[0] for g in driven])
            own.append(slope_along(value, here, drift)[0])
        u = np.linalg.solve(np.array(rows), v - np.array(own))
        return where(np.abs(u) < np.inf, u, np.nan)

    m = len(degrees)
    shapes = ["(n)", *["(p)"] * (takes - 1), f"({m})"]
    names = ["x", *["p"] * (takes - 1), "v"]
    return kernel(f"{','.join(shapes)}->({m})", inputs=names, outputs=("u",), explain=_singular)(law)


def _singular(*state: Array) -> None:
    raise SingularityError(f"the inputs do not move the outputs independently at the state {state[0].tolist()}: A is "
                           "singular there")


@dataclass(frozen=True, eq=False)
class _Derivatives:
    """The texts of what the derivatives of outputs are made of."""

    output: Kernel
    fields: list[Kernel]
    n: int
    outputs: int

    def row(self, place: int, order: int, at: Array, p: tuple[Array, ...]) -> tuple[Scalar, Scalar]:
        """L_g L_f^order h of an output (..., inputs), and the sums (..., inputs) of the sizes of its terms."""
        def text(x: Array, *p: Array) -> tuple[Array, Array]:
            drift, *driven = (field(x, *p[:len(field.inputs) - 1]) for field in self.fields)
            value = self.output(x, *p[:len(self.output.inputs) - 1])[place:place + 1]
            for _ in range(order):
                value = slope_along(value, x, drift)
            gradient = [slope_along(value, x, unit)[0] for unit in np.eye(self.n)]
            products = [[slope * g[k] for k, slope in enumerate(gradient)] for g in driven]
            return np.array([sum(terms) for terms in products]), np.array(
                [sum(np.abs(term) for term in terms) for terms in products])

        m = len(self.fields) - 1
        shapes = [f"({self.n})", *[f"({len(own)})" for own in p]]
        signature = Signature.parse(f"{','.join(shapes)}->({m}),({m})")
        program = simplify(trace(text, signature, {}, name="rates", inputs=["x", "p"][:len(shapes)]))
        symbolic = any(is_symbolic(each) for each in (at, *p))
        value, size = interpret(program, SYMPY if symbolic else NUMPY, at, *p)
        return value, size


def _derivatives(h: Text, f: Text, inputs: Sequence[Text], at: Array, p: tuple[Array, ...]) -> _Derivatives:
    output = function_of_state(h)
    sample = np.ones(at.shape[-1])
    outputs = len(output(sample, *[np.ones(len(own)) for own in p][:len(output.inputs) - 1]))
    return _Derivatives(output, [vector_field(each) for each in (f, *checked_inputs(inputs))], at.shape[-1], outputs)


def _row(found: _Derivatives, at: Array, p: tuple[Array, ...], tolerance: float, output: int,
         n: int) -> tuple[int, Scalar]:
    """The degree of an output, and its row of A: zero and zeros if no input reaches it."""
    value: Scalar = None
    for order in range(n):
        value, size = found.row(output, order, at, p)
        if not isinstance(value, np.ndarray):
            entries = [entry.simplify() for entry in value]
            if any(entry != 0 for entry in entries):
                return order + 1, entries
            continue
        shows = (np.abs(value) > tolerance * size).any(axis=-1)
        if shows.all():
            return order + 1, value
        if shows.any():
            raise SingularityError(
                f"output {output} has no relative degree near the states given: inputs show in its derivative "
                f"{order + 1} at {int(shows.sum())} of {shows.size} of them")
    return 0, value * 0 if isinstance(value, np.ndarray) else [0] * len(value)


@dataclass(frozen=True, eq=False)
class Linearisability:
    """The verdict at each state (...); of symbols, at all states but special ones."""

    n: int
    ranks: Array
    """(levels, ...): of G0, G1, ..., to the first whose rank is n everywhere, or to G(n-1)."""
    involutive: Array
    """(levels, ...): whether brackets of each stay in it."""
    rests: bool
    """Whether f is zero at the equilibrium."""

    @property
    def is_controllable(self) -> Array:
        """(...): whether the last level has the rank n."""
        return self.ranks[-1] == self.n

    @property
    def holds(self) -> Array:
        """(...): whether the system can be made linear near the state, as far as ranks at the states given tell."""
        constant = self.ranks == self.ranks.reshape(len(self.ranks), -1).max(axis=1).reshape(
            -1, *[1] * (self.ranks.ndim - 1))
        return self.is_controllable & (self.involutive & constant).all(axis=0)

    @property
    def is_linearisable(self) -> bool:
        """True if the condition holds at all states, and f is zero at the equilibrium."""
        return bool(self.holds.all()) and self.rests

    @property
    def chains(self) -> tuple[int, ...]:
        """The lengths of the chains of integrators, the longest first."""
        steps = np.diff(self.ranks.reshape(len(self.ranks), -1).max(axis=1), prepend=0)
        return tuple(int(np.count_nonzero(steps > k)) for k in range(int(steps[0])))

    def __str__(self) -> str:
        reached = self.ranks[-1].min()
        if reached < self.n:
            return f"not linear by feedback: brackets with the drift reach {reached} of {self.n} dimensions"
        if not self.holds.all():
            level = int(np.argmin(self.involutive.reshape(len(self.involutive), -1).all(axis=1)))
            return f"not linear by feedback: level {level} is not involutive, or of changing rank"
        rest = "" if self.rests else ", once the inputs hold it at the equilibrium, where f is not zero"
        return f"linear by feedback{rest}: chains of {', '.join(map(str, self.chains))} integrators"


def linearisability(f: Text, inputs: Sequence[Text], at: ArrayLike, *, parameters: ArrayLike | None = None,
                    equilibrium: ArrayLike | None = None, tolerance: float = TOLERANCE) -> Linearisability:
    """The verdict on whether feedback makes x' = f(x) + sum gi(x) ui linear near states (..., n), or at SymPy's symbols
    (n). The equilibrium (n) is 0 by default.

    >>> import numpy as np
    >>> print(linearisability(lambda x: [x[1], -np.sin(x[0])], [lambda x: [0.0, 1.0]], [0.3, 0.0]))
    linear by feedback: chains of 2 integrators
    """
    where = states(at)
    n = where.shape[-1]
    p = () if parameters is None else (parameters,)
    fields = joined([f, *checked_inputs(inputs)], n, parameters)
    rest = np.zeros(n) if equilibrium is None else np.asarray(equilibrium)
    chain: list[Bracket] = []
    level = list(range(1, fields.count))
    newest = level
    ranks = [fields.columns([], where, *p).ranks(tolerance, level)]
    involutive = [_stays(fields, chain, level, where, p, tolerance, ranks[-1])]
    while len(ranks) < n and (ranks[-1] < n).any():
        first = fields.count + len(chain)
        chain = [*chain, *[(0, place) for place in newest]]
        newest = list(range(first, first + len(newest)))
        level = [*level, *newest]
        ranks.append(fields.columns(chain, where, *p).ranks(tolerance, level))
        involutive.append(_stays(fields, chain, level, where, p, tolerance, ranks[-1]))
    return Linearisability(n, np.asarray(ranks), np.asarray(involutive), _rests(fields, where, rest, p, tolerance))


def _stays(fields: Fields, chain: Sequence[Bracket], level: Sequence[int], where: Array, p: tuple[ArrayLike, ...],
           tolerance: float, ranks: Array) -> Array:
    """True if the brackets of a level stay in it, at each state; those of the full rank do, whatever they are."""
    if (ranks == fields.nv).all():
        return np.asarray(ranks == fields.nv)
    pairs = list(combinations(level, 2))
    columns = fields.columns([*chain, *pairs], where, *p)
    first = fields.count + len(chain)
    new = columns.ranks(tolerance, [*level, *range(first, first + len(pairs))])
    return np.asarray(new == ranks)


def _rests(fields: Fields, where: Array, equilibrium: Array, p: tuple[ArrayLike, ...], tolerance: float) -> bool:
    there = fields.columns([], equilibrium, *p).values[:, 0]
    if not isinstance(there, np.ndarray):
        return bool(there.applyfunc(lambda entry: entry.simplify()).is_zero_matrix)
    usual = 1.0 if where.dtype == object else np.abs(fields.columns([], where, *p).values[..., 0]).max(initial=1.0)
    return bool((np.abs(there) <= tolerance * usual).all())
