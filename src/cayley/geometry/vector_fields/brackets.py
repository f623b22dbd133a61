"""Brackets of vector fields and derivatives of functions along them, as kernels.

    [f, g] = Dg f - Df g        L_f^k g = [f, L_f^(k-1) g]        L_f h = Dh f
They are made by differentiation on the graph, so brackets of brackets are as exact as the fields, can be compiled, and
give SymPy's expressions by `equations`. On configurations q that move by velocities, q' = rate(q, v), and velocities
whose axes turn with the motion, [x, y] = Dy x - Dx y - N(x) y. Source: Mladenova 7.5, spec R-56.

Lie groups and their algebras:
    group:    (a b) c = a (b c),   a e = e a = a,   a a^-1 = a^-1 a = e
    algebra:  [Ei, Ej] = sum_k c_ijk Ek,   c_ijk = -c_jik,   [[a, b], c] + [[b, c], a] + [[c, a], b] = 0
The algebra of a group is that of its left-invariant fields, c_ijk = d2 (a b)_k / da_i db_j - d2 (a b)_k / da_j db_i at
the identity. Source: Mladenova 7.5, appendix, spec S0-56."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import NamedTuple

import numpy as np

from cayley.compiler.derivatives.derivative import independent, slope_along
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.solving.rounding import relative_rank
from cayley.compiler.tracing.symbols import symbols
from cayley.compiler.typing import Array, ArrayLike, FieldArray, Text
from cayley.errors import ModelError, SignatureError, shown

_INPUTS = ("x", "p")
_SHAPES = ("(n)", "(n),(p)")


class BracketTerms(NamedTuple):
    """[x, y] = forth - back: the change of y along x, and of x along y."""

    forth: Array
    back: Array

    @property
    def value(self) -> Array:
        """The bracket (n)."""
        return self.forth - self.back


def bracket_terms(q: Array, x: Array, y: Array, rate: Callable[[Array, Array], Array] | None = None,
                  turning: Callable[[Array], Array] | None = None) -> BracketTerms:
    """The terms of the bracket of fields whose values x and y (n) were computed from the symbols q: how q moves by
    velocities, and the matrix of how changes of a motion turn with it, if velocities are not the rates of q."""
    def along(values: Array, velocity: Array) -> Array:
        return slope_along(values, q, velocity if rate is None else rate(q, velocity))

    back = along(x, y)
    return BracketTerms(along(y, x), back if turning is None else back + turning(x) @ y)


def vector_field(text: Text) -> Kernel:
    """A text `f(x)` or `f(x, p)` of the state (n) and parameters (p), as a kernel; a kernel stays what it is.

    >>> import numpy as np
    >>> vector_field(lambda x: [x[1], -np.sin(x[0])])([0.0, 2.0])
    array([ 2., -0.])
    """
    return _function(text, "(n)")


def function_of_state(text: Text) -> Kernel:
    """A text `h(x)` or `h(x, p)`, of a number or of several, as a kernel that gives a vector."""
    if isinstance(text, Kernel) and [len(core) for core in text.signature.outputs] == [1]:
        return _function(text, "(m)")
    arguments = len(text.inputs) if isinstance(text, Kernel) else len(_needed(text))

    def as_vector(*state: Array) -> Array:
        found = text(*state)
        return symbols([found]) if np.ndim(found) == 0 else found

    return _of_state(as_vector, _checked(arguments), "(m)", str(getattr(text, "__name__", "function")))


def lie_bracket(f: Text, g: Text) -> Kernel:
    """[f, g] = Dg f - Df g, the field (n) of two fields.

    >>> import numpy as np
    >>> drive = lambda x: [np.cos(x[2]), np.sin(x[2]), 0.0]
    >>> turn = lambda x: [0.0, 0.0, 1.0]
    >>> sideways = lie_bracket(drive, turn)
    >>> sideways([0.0, 0.0, np.pi / 2]).round(12) + 0.0
    array([1., 0., 0.])
    >>> print(sideways.equations(n=3))
    out_1 = sin(x_3)
    out_2 = -cos(x_3)
    out_3 = 0
    """
    first, second = vector_field(f), vector_field(g)
    inputs = max(first.inputs, second.inputs, key=len)

    def bracket(x: Array, *p: Array) -> Array:
        here = independent(x)
        moved, other = (field(here, *p[:len(field.inputs) - 1]) for field in (first, second))
        return bracket_terms(here, moved, other).value

    return _of_state(bracket, len(inputs), "(n)", "bracket")


def iterated_bracket(f: Text, g: Text, order: int) -> Kernel:
    """L_f^k g = [f, [f, ... [f, g]]], with f `order` times.

    >>> import numpy as np
    >>> pendulum = lambda x: [x[1], -np.sin(x[0])]
    >>> iterated_bracket(pendulum, lambda x: [0.0, 1.0], 1)([0.3, 0.0])
    array([-1., 0.])
    """
    _check_order(order)
    field = vector_field(g)
    for _ in range(order):
        field = lie_bracket(f, field)
    return field


def lie_derivative(h: Text, f: Text, order: int = 1) -> Kernel:
    """L_f^k h: the rate (m) of a function h(x), of m numbers or of one, along the field f, `order` times.

    >>> import numpy as np
    >>> acceleration = lie_derivative(lambda x: x[:1], lambda x: [x[1], -9.81 * np.sin(x[0])], 2)
    >>> acceleration([np.pi / 2, 3.0])
    array([-9.81])
    """
    _check_order(order)
    function = function_of_state(h)
    field = vector_field(f)
    inputs = max(function.inputs, field.inputs, key=len)

    def derivative(x: Array, *p: Array) -> Array:
        here = independent(x)
        value = function(here, *p[:len(function.inputs) - 1])
        direction = field(here, *p[:len(field.inputs) - 1])
        for _ in range(order):
            value = slope_along(value, here, direction)
        return value

    return _of_state(derivative, len(inputs), "(m)", "derivative")


def _function(text: Text, result: str) -> Kernel:
    if isinstance(text, Kernel):
        if not 1 <= len(text.signature.inputs) <= 2 or [len(core) for core in text.signature.outputs] != [1]:
            raise SignatureError(
                f"{text.__name__} {text.signature} is not a function of a state: it must take a vector, or a vector "
                "and one of parameters, and give a vector")
        return text
    return _of_state(text, _checked(len(_needed(text))), result, str(getattr(text, "__name__", "field")))


def checked_inputs(inputs: Sequence[Text]) -> Sequence[Text]:
    """The fields of inputs, which are given as a list even where there is one."""
    if callable(inputs):
        raise SignatureError("the fields of inputs are given as a list, [g] where there is one, not as a function")
    return inputs


def _needed(text: Text) -> list[inspect.Parameter]:
    if not callable(text):
        raise SignatureError(f"a field must be a function of the state, not {shown(text)}")
    return [p for p in inspect.signature(text).parameters.values()
            if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def _checked(arguments: int) -> int:
    if not 1 <= arguments <= 2:
        raise SignatureError(
            f"a field is a function of the state, or of the state and parameters, not of {arguments} arguments")
    return arguments


def _of_state(text: Text, arguments: int, result: str, name: str) -> Kernel:
    label = name if name.isidentifier() else "field"
    return kernel(f"{_SHAPES[arguments - 1]}->{result}", inputs=_INPUTS[:arguments], name=label)(text)


def _check_order(order: int) -> None:
    if not isinstance(order, Integral) or order < 0:
        raise SignatureError(f"brackets and derivatives must be taken 0 times or more, not {shown(order)} times")


_CLOSED = 1e-9


@dataclass(frozen=True, eq=False)
class LieGroup(HoldsFunctions):
    """A group of coordinates (n) with the law `product(a, b)`, the `identity` (n) and the law `inverse(a)`.

    >>> affine = LieGroup(lambda a, b: [a[0] * b[0], a[0] * b[1] + a[1]], [1.0, 0.0],
    ...                   lambda a: [1 / a[0], -a[1] / a[0]])
    >>> affine.axioms([[2.0, 0.3], [0.5, 1.0], [1.5, -2.0]]).max() < 1e-15
    np.True_
    >>> affine.structure_constants[0, 1]
    array([0., 1.])
    """

    product: Text
    identity: FieldArray
    inverse: Text

    def __post_init__(self) -> None:
        object.__setattr__(self, "identity", np.asarray(self.identity, dtype=float))
        if self.identity.ndim != 1:
            raise SignatureError(f"the identity of a group has n coordinates, not the shape {self.identity.shape}")

    @cached_property
    def compose(self) -> Kernel:
        """`compose(a, b)`: the product (..., n)."""
        return kernel("(n),(n)->(n)", inputs=("a", "b"), name="product")(self.product)

    @cached_property
    def invert(self) -> Kernel:
        """`invert(a)`: the inverse (..., n)."""
        return kernel("(n)->(n)", inputs=("a",), name="inverse")(self.inverse)

    def axioms(self, elements: ArrayLike) -> Array:
        """The errors (3) by which elements (k, n) fail the axioms, in all their orders: associativity, identity,
        inverse; not a number if a product is not there."""
        each = np.asarray(elements, dtype=float).reshape(-1, len(self.identity))
        e = self.identity
        a, b, c = each[:, None, None], each[None, :, None], each[None, None, :]
        product = self.compose
        inverse = self.invert(each)
        return np.array([
            _largest(product(product(a, b), c) - product(a, product(b, c))),
            _largest(product(each, e) - each, product(e, each) - each),
            _largest(product(each, inverse) - e, product(inverse, each) - e)])

    @cached_property
    def structure_constants(self) -> Array:
        """c (n, n, n) of the algebra of the group: [Ei, Ej] = sum_k c_ijk Ek."""
        mixed = self.compose.jacobian("b").jacobian("a")(self.identity, self.identity)  # (k, j, i)
        second = np.transpose(mixed, (2, 1, 0))
        return np.asarray(second - np.transpose(second, (1, 0, 2)))


def structure_constants(basis: ArrayLike) -> Array:
    """c (m, m, m) of matrices (m, k, k) with the commutator as bracket. `ModelError` if they are dependent, or if a
    commutator is no combination of them: they are the basis of no algebra.

    >>> turns = np.cross(np.eye(3)[:, None], np.eye(3)[None]).transpose(0, 2, 1)
    >>> structure_constants(turns)[0, 1]
    array([0., 0., 1.])
    """
    E = np.asarray(basis, dtype=float)
    if E.ndim != 3 or E.shape[1] != E.shape[2] or not np.isfinite(E).all():
        raise SignatureError(f"a basis of matrices must have the shape (m, k, k), not {E.shape}")
    columns = E.reshape(len(E), -1).T
    if relative_rank(columns, exact=True) < len(E):
        raise ModelError("the matrices are dependent: they are the basis of no algebra")
    brackets = E[:, None] @ E[None] - E[None] @ E[:, None]
    flat = brackets.reshape(len(E) ** 2, -1).T
    found = np.linalg.lstsq(columns, flat, rcond=None)[0]
    left = np.abs(columns @ found - flat).max(axis=0, initial=0.0).reshape(len(E), len(E))
    if (left > _CLOSED * max(1.0, float(np.abs(flat).max(initial=0.0)))).any():
        i, j = np.unravel_index(int(left.argmax()), left.shape)
        raise ModelError(f"the commutator of matrices {i} and {j} is not a combination of the "
                         "basis: the matrices span no Lie algebra")
    return np.round(found.T.reshape(len(E), len(E), len(E)), 15) + 0.0


def algebra_axioms(c: ArrayLike) -> Array:
    """The errors (2) by which structure constants (n, n, n) fail the axioms: antisymmetry, Jacobi's identity.

    >>> algebra_axioms(2 * np.cross(np.eye(3)[:, None], np.eye(3)[None]))
    array([0., 0.])
    """
    given = np.asarray(c, dtype=float)
    nested = np.einsum("ijl,lkm->ijkm", given, given)
    jacobi = nested + np.transpose(nested, (1, 2, 0, 3)) + np.transpose(nested, (2, 0, 1, 3))
    return np.array([_largest(given + np.transpose(given, (1, 0, 2))), _largest(jacobi)])


def _largest(*differences: Array) -> float:
    return max(float(np.abs(difference).max(initial=0.0)) for difference in differences)
