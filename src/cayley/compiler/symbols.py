"""Arrays of nodes that NumPy's own functions accept.

`Symbols` is an object array that answers NumPy's two protocols, so that `np.sin(q)`, `a @ b`, `np.where(q > 0, a, b)` or
`np.linalg.norm(p)` build graphs. What cannot be traced is refused with the name of what to write instead.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cayley.compiler import rules  # noqa: F401  (fills the table of rules)
from cayley.compiler.graph import Graph, Node, apply
from cayley.errors import UnsupportedError


class Symbols(np.ndarray):
    """An object array whose elements are nodes, or numbers that become constants when they meet one."""

    __array_priority__ = 100.0

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return apply_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function, types, args, options):
        return apply_function(function, args, options)


def symbols(values: Any) -> Symbols:
    """An array of nodes and numbers as `Symbols`."""
    return np.asarray(values, dtype=object).view(Symbols)


def _plain(value: Any) -> Any:
    if isinstance(value, Symbols):
        return value.view(np.ndarray)
    if isinstance(value, Node):
        box = np.empty((), dtype=object)
        box[()] = value
        return box
    return value


def _wrapped(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)(_wrapped(v) for v in value)
    if isinstance(value, np.ndarray) and value.dtype == object:
        return value.item() if value.shape == () else value.view(Symbols)
    return value


def _scalar(op: str, numeric: Callable[..., float]) -> Callable[..., Any]:
    """`op` on one set of elements: a graph operation when one of them is a node, plain arithmetic otherwise."""
    def on_elements(*args):
        return apply(op, *args) if any(isinstance(a, Node) for a in args) else numeric(*args)
    return on_elements


def _inverted(a):
    return not a if isinstance(a, bool) else operator.invert(a)  # Python's ~True is -2


def _ceil(x):
    return -_ELEMENTWISE["floor"](-x)


def _trunc(x):
    floor, sign, absolute = _ELEMENTWISE["floor"], _ELEMENTWISE["sign"], _ELEMENTWISE["absolute"]
    return sign(x) * floor(absolute(x))


_ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": _scalar("divide", np.divide),
    "negative": operator.neg, "positive": operator.pos, "power": _scalar("power", np.float_power),
    "float_power": _scalar("power", np.float_power), "remainder": _scalar("remainder", np.remainder),
    "floor_divide": _scalar("floor_divide", np.floor_divide), "reciprocal": lambda x: _ELEMENTWISE["divide"](1.0, x),
    "square": lambda x: x * x, "conjugate": operator.pos,
    "clip": lambda x, low, high: _ELEMENTWISE["minimum"](_ELEMENTWISE["maximum"](x, low), high),
    "deg2rad": lambda x: x * (np.pi / 180.0), "radians": lambda x: x * (np.pi / 180.0),
    "rad2deg": lambda x: x * (180.0 / np.pi), "degrees": lambda x: x * (180.0 / np.pi),
    "ceil": _ceil, "trunc": _trunc,
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
    "equal": _scalar("equal", operator.eq), "not_equal": _scalar("not_equal", operator.ne),
    "logical_and": _scalar("and", lambda a, b: bool(a) and bool(b)), "logical_or": _scalar("or", lambda a, b: bool(a) or bool(b)),
    "logical_not": _scalar("not", operator.not_),
    "bitwise_and": operator.and_, "bitwise_or": operator.or_, "invert": _inverted,
    "fabs": _scalar("absolute", abs), "fmin": _scalar("minimum", np.minimum), "fmax": _scalar("maximum", np.maximum),
    **{op: _scalar(op, getattr(np, op)) for op in ("sqrt", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "exp", "log",
                                                   "absolute", "sign", "floor", "minimum", "maximum", "hypot")},
}
_INSTEAD = {
    "sinh": "(np.exp(x) - np.exp(-x)) / 2", "cosh": "(np.exp(x) + np.exp(-x)) / 2", "tanh": "1 - 2 / (np.exp(2 * x) + 1)",
    "rint": "np.floor(x + 0.5)", "log10": "np.log(x) / np.log(10)", "log2": "np.log(x) / np.log(2)", "cbrt": "np.exp(np.log(x) / 3)",
    "exp2": "np.exp(x * np.log(2))", "expm1": "np.exp(x) - 1", "log1p": "np.log(1 + x)", "fmod": "x - y * np.trunc(x / y)",
    "logical_xor": "(a | b) & ~(a & b)", "copysign": "np.abs(a) * np.sign(b)", "isnan": "x != x",
    "heaviside": "cy.where(x < 0, 0, 1)",
}


_CONTRACTIONS = ("matmul", "vecdot", "matvec", "vecmat")


def apply_ufunc(ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """A NumPy ufunc, or one of its methods, on arrays of nodes."""
    options = {key: value for key, value in options.items() if key not in ("dtype", "casting", "subok", "order")}
    target = options.pop("out", (None,))
    if any(t is not None and t.dtype != object for t in target):
        raise UnsupportedError("symbols cannot be written into an array of floats: make it with dtype=object")
    if method == "__call__" and options.pop("where", True) is not True:
        raise UnsupportedError(f"np.{ufunc.__name__} with where= cannot be traced: use cy.where(condition, a, b)")
    plain = [_plain(x) for x in inputs]
    if ufunc.__name__ in _CONTRACTIONS and method == "__call__":
        result = _contraction(ufunc, *plain)
    else:
        name = ufunc.__name__
        if name not in _ELEMENTWISE:
            instead = f": write {_INSTEAD[name]}" if name in _INSTEAD else ""
            raise UnsupportedError(f"np.{name} cannot be traced{instead}")
        function = np.frompyfunc(_ELEMENTWISE[name], ufunc.nin, 1, identity=ufunc.identity)
        result = getattr(function, method)(*plain, **options)
    if target[0] is not None:
        target[0][...] = result
        return target[0]
    return _wrapped(np.asarray(result, dtype=object))


def _contraction(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    a, b = np.asarray(a, dtype=object), np.asarray(b, dtype=object)
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("a matrix product needs vectors or matrices: use * for scalars")
    if a.shape[-1] == 0:
        return ufunc(np.zeros(a.shape), np.zeros(b.shape)).astype(object)
    return ufunc(a, b)


def where(condition: Any, a: Any, b: Any) -> Any:
    """`a` where the condition holds, `b` elsewhere; both are evaluated. The branch of traced functions.

    >>> where(np.array([True, False]), 1.0, 2.0)
    array([1., 2.])
    """
    if not any(isinstance(x, (Node, Symbols)) or getattr(x, "dtype", None) == np.dtype(object) for x in (condition, a, b)):
        return np.where(condition, a, b)
    choose = np.frompyfunc(lambda c, x, y: apply("where", c, x, y) if isinstance(c, Node) else (x if c else y), 3, 1)
    return _wrapped(np.asarray(choose(_plain(condition), _plain(a), _plain(b)), dtype=object))


def _numpy_where(condition, *branches):
    if not branches:
        raise UnsupportedError("np.where of a condition alone cannot be traced, as shapes must not depend on values: "
                               "use cy.where(condition, a, b)")
    return where(condition, *branches)


def _norm(x, ord=None, axis=None, keepdims=False):
    if ord not in (None, 2, "fro"):
        raise UnsupportedError(f"np.linalg.norm with ord={ord!r} cannot be traced: write it as a sum")
    if ord == 2 and (np.ndim(x) if axis is None else np.size(axis)) == 2:
        raise UnsupportedError("the 2-norm of a matrix cannot be traced: the Frobenius norm is np.linalg.norm(x)")
    return np.sqrt(np.sum(np.square(x), axis=axis, keepdims=keepdims))


def _determinant(a):
    """By Laplace expansion along the first row, minors shared."""
    n = len(a)
    if np.shape(a) != (n, n):
        raise UnsupportedError(f"np.linalg.det can be traced for one square matrix, not for shape {np.shape(a)}")
    minors: dict[tuple[int, ...], Any] = {(): 1.0}
    for row in reversed(range(n)):
        size = n - row
        minors = {columns: sum((-1) ** k * a[row, c] * minors[columns[:k] + columns[k + 1:]] for k, c in enumerate(columns))
                  for columns in _subsets(n, size)}
    return minors[tuple(range(n))]


def _subsets(n: int, size: int):
    from itertools import combinations
    return combinations(range(n), size)


def _clip(a, a_min=None, a_max=None, **options):
    low, high = options.get("min", a_min), options.get("max", a_max)
    a = a if low is None else np.maximum(a, low)
    return a if high is None else np.minimum(a, high)


def _same_everywhere(function):
    def reduce(a, axis=None, **options):
        return function.reduce(symbols(a), axis=axis, **options)
    return reduce


def _mean(a, axis=None, **options):
    count = np.size(a) if axis is None else np.prod([np.shape(a)[i] for i in np.atleast_1d(axis)])
    return np.sum(a, axis=axis, **options) / float(count)


_REPLACED: dict[Callable, Callable] = {
    np.where: _numpy_where, np.linalg.norm: _norm, np.linalg.det: _determinant, np.clip: _clip, np.mean: _mean,
    np.max: _same_everywhere(np.maximum), np.amax: _same_everywhere(np.maximum),
    np.min: _same_everywhere(np.minimum), np.amin: _same_everywhere(np.minimum),
    np.all: _same_everywhere(np.logical_and), np.any: _same_everywhere(np.logical_or),
}
_REFUSED = {
    "inv": "solve the equations instead: Cramer's rule with np.linalg.det, or an elimination written out",
    "solve": "write the elimination out (without pivoting: a traced function has no branches)",
    "sort": "compare and select with np.minimum and np.maximum", "argsort": "compare and select with cy.where",
    "argmax": "compare and select with cy.where", "argmin": "compare and select with cy.where",
    "nonzero": "shapes must not depend on values: use cy.where(condition, a, b)",
    "allclose": "a traced function must not ask for values", "isclose": "write np.abs(a - b) <= tolerance",
    "array_equal": "a traced function must not ask for values", "round": "write np.floor(x + 0.5)", "around": "write np.floor(x + 0.5)",
}


def apply_function(function: Callable, args: Sequence[Any], options: dict[str, Any]) -> Any:
    """A NumPy function that is not a ufunc, on arrays of nodes."""
    if function in _REPLACED:
        return _REPLACED[function](*args, **options)
    name = function.__name__
    if name in _REFUSED or function.__module__ in ("numpy.linalg", "numpy.fft"):
        hint = _REFUSED.get(name, f"use np.{name}" if name in ("cross", "matmul", "outer", "trace", "diagonal", "vecdot", "tensordot") else
                            "write it out in terms of + - * / and np.sqrt")
        raise UnsupportedError(f"{function.__module__}.{name} cannot be traced: {hint}")
    try:
        return _wrapped(function._implementation(*_unwrap_all(args), **_unwrap_all(options)))  # type: ignore[attr-defined]
    except TypeError as error:
        raise UnsupportedError(f"{function.__module__}.{name} cannot be traced: {error}") from error


def _unwrap_all(value: Any) -> Any:
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_unwrap_all(v) for v in value)
    if isinstance(value, dict):
        return {key: _unwrap_all(v) for key, v in value.items()}
    return _plain(value)


def input_symbols(graph: Graph, name: str, shape: tuple[int, ...]) -> Any:
    """An array of fresh inputs `name[i, j]`; a scalar input is a bare node."""
    if shape == ():
        return graph.input(name)
    array = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        array[index] = graph.input(f"{name}[{', '.join(map(str, index))}]")
    return array.view(Symbols)
