"""The relative degrees of outputs y = h(x) of x' = f(x) + g1(x) u1 + ..., and the law that makes each a chain of
integrators.

    yi^(ri) = L_f^ri hi + sum_j A_ij uj,   A_ij = L_gj L_f^(ri-1) hi,   ri the first order at which an input shows
    u = A^-1 (v - L_f^r h)        then  yi^(ri) = vi
If the degrees add up to n, nothing is left beside the chains: outputs of this kind are those that Theorem 7 says exist.
Source: Mladenova 7.5, appendix; Isidori 1995, 4.1 and 5.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
from cayley.geometry.vector_fields.brackets import checked_inputs, function_of_state, vector_field
from cayley.geometry.vector_fields.fields import TOLERANCE, is_symbolic, states


@dataclass(frozen=True, eq=False)
class RelativeDegrees:
    """Of the outputs (m) at some states; those that no input reaches within n derivatives have the degree 0."""

    n: int
    degrees: tuple[int, ...]
    decoupling: Scalar
    """A (..., m, inputs) at the states, or SymPy's matrix."""

    @property
    def is_complete(self) -> bool:
        """Whether the chains are the whole system."""
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
        """L_g L_f^order h of an output (..., inputs), and the products (..., inputs) of absolute values that it is the
        sum of."""
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
