"""Arrays of nodes that NumPy's own functions accept.

`Symbols` is an object array that answers NumPy's two protocols, so that `np.sin(q)`, `a @ b`, `np.where(q > 0, a, b)`
or `np.linalg.norm(p)` build graphs. What cannot be traced is refused with the name of what to write instead."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy._core import _multiarray_umath as _umath  # type: ignore[attr-defined]

from cayley.compiler import rules  # noqa: F401  (fills the table of rules)
from cayley.compiler.native.numpy_api import without_buffer
from cayley.compiler.operations import BOOLEAN, OPERATIONS, Operation
from cayley.compiler.tracing.graph import Graph, Node, apply
from cayley.compiler.typing import Array, ArrayLike, DTypeLike, Scalar
from cayley.errors import UnsupportedError
from cayley.explained_calls import explained


class Symbols(np.ndarray):
    """An object array whose elements are nodes, or numbers that become constants when they meet one."""

    __array_priority__ = 100.0

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Scalar, **options: bool | None) -> Scalar:
        return apply_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Callable[..., Any], types: Iterable[type], args: Iterable[Any],
                           options: Any) -> Scalar:  # noqa: ANN401 (handed on)
        from cayley.compiler.tracing.array_functions import apply_function  # which builds upon this module
        return apply_function(function, tuple(args), options)

    def __getitem__(self, place: Any) -> Any:  # noqa: ANN401 (whatever indexes an array)
        return _as_numpy_has_it(super().__getitem__(place))

    def __iter__(self) -> Iterator[Any]:
        return map(_as_numpy_has_it, super().__iter__())

    def __setitem__(self, place: Any, value: Scalar) -> None:  # noqa: ANN401 (whatever indexes an array)
        are_truths = self.size and _is_condition(self.item(0)) and all(map(_is_condition, self.flat))
        if are_truths and not all(map(_is_condition, np.asarray(value, dtype=object).flat)):
            raise UnsupportedError(
                "an array of truth values takes no numbers: write a comparison, or 1.0 * condition before")
        super().__setitem__(place, value)

    def _memory(self, *_: object, **__: object) -> Scalar:
        raise UnsupportedError("the memory of symbols holds no numbers yet: use NumPy's functions on the array itself")

    byteswap = tobytes = tofile = getfield = setfield = __dlpack__ = _memory
    data = ctypes = property(_memory)


without_buffer(Symbols)  # np.frombuffer would read addresses as numbers


def _as_numpy_has_it(value: Scalar) -> Scalar:
    """A number among symbols as an array of floats gives it, whose quotient by zero is no error."""
    return np.float64(value) if type(value) is float or type(value) is int else value


def _is_condition(value: Scalar) -> bool:
    return isinstance(value, (bool, np.bool_)) or (isinstance(value, Node) and value.op in BOOLEAN)


def symbols(values: ArrayLike) -> Symbols:
    """An array of nodes and numbers as `Symbols`."""
    return np.asarray(values, dtype=object).view(Symbols)


def plain_array(value: Scalar) -> Scalar:
    """Symbols as the array that NumPy's own code works on."""
    if isinstance(value, Symbols):
        return value.view(np.ndarray)
    if isinstance(value, Node):
        box = np.empty((), dtype=object)
        box[()] = value
        return box
    return value


def wrapped(value: Scalar) -> Scalar:
    """Arrays of objects as symbols, those without axes as their element."""
    if isinstance(value, (tuple, list)):
        return type(value)(wrapped(v) for v in value)
    if isinstance(value, np.ndarray) and value.dtype == object:
        return _as_numpy_has_it(value.item()) if value.shape == () else value.view(Symbols)
    return np.float64(value) if type(value) is float else value


def _scalar(op: str, numeric: Callable[..., float]) -> Callable[..., Any]:
    """`op` on one set of elements: a graph operation when one of them is a node, plain arithmetic otherwise."""
    def on_elements(*args: Scalar) -> Scalar:
        return apply(op, *args) if any(isinstance(a, Node) for a in args) else numeric(*args)
    return on_elements


def _operator(operation: Callable[..., Any], numeric: Callable[..., float]) -> Callable[..., Any]:
    """The same by Python's operator, which minds truth values."""
    def on_elements(*args: Scalar) -> Scalar:
        return operation(*args) if any(isinstance(a, Node) for a in args) else numeric(*args)
    return on_elements


def _reciprocal(x: Scalar) -> Scalar:
    if _is_condition(x):
        raise UnsupportedError("np.reciprocal of truth values is not the one of numbers in NumPy: write 1.0 / x")
    return _elements("divide")(1.0, x)


def _inverted(a: Scalar) -> Scalar:
    return not a if isinstance(a, bool) else operator.invert(a)  # Python's ~True is -2


def _ceil(x: Scalar) -> Scalar:
    return -_elements("floor")(-x)


def _trunc(x: Scalar) -> Scalar:
    return where(x < 0, _ceil(x), _elements("floor")(x)) if isinstance(x, Node) else np.trunc(x)


def _fmod(a: Scalar, b: Scalar) -> Scalar:
    if _is_condition(a) and _is_condition(b):
        raise UnsupportedError("np.fmod of two truth values is not that of numbers: write 1.0 * condition")
    return _scalar("fmod", np.fmod)(a, b)


def _is_nan(x: Scalar) -> Scalar:
    return x != x if isinstance(x, Node) else bool(np.isnan(x))


def _is_infinite(x: Scalar) -> Scalar:
    return abs(x) == np.inf


def _exclusive_or(a: Scalar, b: Scalar) -> Scalar:
    truths = [_ELEMENTWISE["logical_not"](x) for x in (a, b)]
    return truths[0] != truths[1]


def _heaviside(x: Scalar, at_zero: Scalar) -> Scalar:
    x = at_zero.graph.lift(x) if isinstance(at_zero, Node) else x  # a number is judged in the kernel's precision
    return where(x < 0, 0.0, where(x == 0, at_zero, where(x > 0, 1.0, x)))


_ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": _scalar("divide", np.divide),
    "negative": operator.neg,
    "positive": operator.pos,
    "power": _scalar("power", np.float_power),
    "float_power": _scalar("power", np.float_power),
    "remainder": _operator(operator.mod, np.remainder),
    "floor_divide": _operator(operator.floordiv, np.floor_divide),
    "fmod": _fmod,
    "reciprocal": _reciprocal,
    "square": lambda x: x * x,
    "conjugate": operator.pos,
    "clip": lambda x, low, high: _elements("minimum")(_elements("maximum")(x, low), high),
    "deg2rad": lambda x: x * (np.pi / 180.0),
    "radians": lambda x: x * (np.pi / 180.0),
    "rad2deg": lambda x: x * (180.0 / np.pi),
    "degrees": lambda x: x * (180.0 / np.pi),
    "ceil": _ceil,
    "trunc": _trunc,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": _scalar("equal", operator.eq),
    "not_equal": _scalar("not_equal", operator.ne),
    "logical_and": _scalar("and", lambda a, b: bool(a) and bool(b)),
    "logical_or": _scalar("or", lambda a, b: bool(a) or bool(b)),
    "logical_not": _scalar("not", operator.not_),
    "logical_xor": _exclusive_or,
    "isnan": _is_nan,
    "isinf": _is_infinite,
    "isfinite": lambda x: abs(x) < np.inf,
    "heaviside": _heaviside,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "invert": _inverted,
    "fabs": _scalar("absolute", abs),
}
"""What is done with two numbers, or written with other operations; all else is in the table of operations."""

_INSTEAD = {"fmin": "np.minimum(x, y), which keeps NaN", "fmax": "np.maximum(x, y), which keeps NaN"}


_CONTRACTIONS = ("matmul", "vecdot", "matvec", "vecmat")
_FOLDS = ("add", "subtract", "multiply", "divide", "minimum", "maximum", "hypot", "logical_and", "logical_or",
          "bitwise_and", "bitwise_or")
_WITHOUT_EFFECT = ("casting", "subok", "order")
_OF_PYTHON: dict[np.ufunc, Callable[..., Any]] = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul, np.negative: operator.neg}
"""Of objects, NumPy computes these by Python's operators itself."""
_AS_COMPUTED = (np.dtype(np.float64), np.dtype(object))


def apply_ufunc(ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Scalar:
    """A NumPy ufunc, or one of its methods, on arrays of nodes."""
    if ufunc in _OF_PYTHON and method == "__call__" and not options:
        if all(isinstance(x, (Node, float)) for x in inputs):
            return _OF_PYTHON[ufunc](*[x if isinstance(x, Node) else float(x) for x in inputs])
        return wrapped(np.asarray(ufunc(*[plain_array(x) for x in inputs], dtype=object), dtype=object))
    name = ufunc.__name__
    options = {key: value for key, value in options.items() if key not in _WITHOUT_EFFECT}
    check_type(f"np.{name}", options.pop("dtype", None), also=np.dtype(bool) if name.startswith("logical") else None)
    target, = options.pop("out", (None,))
    if method == "__call__" and options.pop("where", True) is not True:
        raise UnsupportedError(f"np.{name} with where= cannot be traced: use cy.where(condition, a, b)")
    plain = [plain_array(x) for x in inputs]
    if ufunc is getattr(_umath, name, None) and name in _CONTRACTIONS and method == "__call__":
        result = _contraction(ufunc, *plain, **options)
    else:
        function = np.frompyfunc(_on_elements(ufunc, method), ufunc.nin, 1, identity=ufunc.identity)
        if method in ("reduce", "accumulate", "reduceat"):
            plain = [_folded(name, plain[0]), *plain[1:]]
            options.update((key, _folded(name, value).item()) for key, value in options.items() if key == "initial")
        with np.errstate(all="ignore"):  # folding log(0) says nothing about the values to come
            result = getattr(function, method)(*plain, **options)
    if method == "at":
        return None
    return into(target, result, exactly=method != "__call__" or name in _CONTRACTIONS)


def _on_elements(ufunc: np.ufunc, method: str) -> Callable[..., Any]:
    name = ufunc.__name__
    operation = OPERATIONS.get(name)
    is_numpys = ufunc is getattr(_umath, name, None)  # somebody else's may have the name of NumPy's
    if not (is_numpys and name in _ELEMENTWISE) and (operation is None or operation.ufunc is not ufunc):
        raise UnsupportedError(f"np.{name} cannot be traced"
                               + (f": write {_INSTEAD[name]}" if name in _INSTEAD else ""))
    if method in ("reduce", "accumulate", "reduceat") and name not in _FOLDS:
        raise UnsupportedError(f"np.{name}.{method} cannot be traced: write the loop")
    return _elements(name)


def _elements(name: str) -> Callable[..., Any]:
    """The function of elements, which may be nodes or numbers."""
    if name not in _ELEMENTWISE:
        operation = OPERATIONS[name]
        return _scalar(name, on_numbers(operation))
    return _ELEMENTWISE[name]


def on_numbers(operation: Operation) -> Callable[..., Any]:
    """The operation on floats and on arrays of them."""
    found = operation.ufunc or operation.text
    if found is None:
        raise UnsupportedError(f"the operation {operation.name!r} has neither a text nor a ufunc of NumPy")
    return found


def rounding(x: Scalar) -> Scalar:
    """The spacing of numbers near x in the working precision: |x| times 2^-52, or 2^-23 where a kernel computes in
    float32.

    >>> float(rounding(-3.0)) == float(3 * np.finfo(float).eps)
    True
    """
    return elementwise(OPERATIONS["rounding"], x)


def elementwise(operation: Operation, *operands: Scalar) -> Scalar:
    """An operation on numbers, nodes or arrays of them, which broadcast."""
    plain = [plain_array(x) for x in operands]
    with np.errstate(all="ignore"):
        if not any(getattr(x, "dtype", None) == np.dtype(object) for x in plain):
            return on_numbers(operation)(*plain)
        on_elements = np.frompyfunc(_elements(operation.name), operation.arity, 1)
        return wrapped(np.asarray(on_elements(*plain), dtype=object))


def _folded(name: str, values: ArrayLike) -> Array:
    """Operands of a reduction: logic takes truth values, and all else takes a truth value as a number."""
    array = np.asarray(values, dtype=object)
    if name.startswith("logical"):
        return _mapped(lambda x: _ELEMENTWISE["logical_not"](_ELEMENTWISE["logical_not"](x)), array)
    if not name.startswith("bitwise") and any(isinstance(x, Node) and x.op in BOOLEAN for x in array.flat):
        return _mapped(lambda x: 1.0 * x, array)
    return array


def _mapped(function: Callable[[Any], Any], array: Array) -> Array:
    made = np.empty(array.size, dtype=object)
    made[:] = [function(x) for x in array.flat]
    return made.reshape(array.shape)


def check_type(what: str, dtype: DTypeLike, also: np.dtype | None = None) -> None:
    """Symbols have no other type than the kernel's."""
    if dtype is not None and np.dtype(dtype) not in (*_AS_COMPUTED, also):
        raise UnsupportedError(
            f"{what} with dtype={np.dtype(dtype)} cannot be traced: a kernel computes in its own type")


def into(target: Scalar, result: Scalar, *, exactly: bool = False) -> Scalar:
    """The result as symbols, or written into `target`, as NumPy does for `out`."""
    array = np.asarray(result, dtype=object)
    if target is None:
        return wrapped(array)
    if target.dtype != object:
        raise UnsupportedError("symbols cannot be written into an array of floats: make it with dtype=object")
    if exactly and target.shape != array.shape:
        raise ValueError(f"a result of shape {array.shape} cannot be written into an array of shape {target.shape}")
    target[...] = np.broadcast_to(array, target.shape)
    return target


def _contraction(ufunc: np.ufunc, a: ArrayLike, b: ArrayLike, **options: Any) -> Scalar:  # noqa: ANN401 (handed on)
    a = np.asarray(a, dtype=object)
    b = np.asarray(b, dtype=object)
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("a matrix product needs vectors or matrices: use * for scalars")
    if a.shape[-1] == 0:
        return ufunc(np.zeros(a.shape), np.zeros(b.shape), **options).astype(object)
    if ufunc is np.matmul and a.ndim == b.ndim == 2 and not options:
        from cayley.compiler.solving.columns import product  # which traces, and so builds upon this module
        return product(a, b)
    return ufunc(a, b, **options)


@explained
def where(condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    """`a` where the condition holds, `b` elsewhere; both are evaluated. The branch of traced functions.

    >>> where(np.array([True, False]), 1.0, 2.0)
    array([1., 2.])
    """
    if not any(
            isinstance(x, (Node, Symbols)) or getattr(x, "dtype", None) == np.dtype(object) for x in (condition, a, b)):
        return np.where(condition, a, b)
    choose = np.frompyfunc(lambda c, x, y: apply("where", c, x, y) if isinstance(c, Node) else (x if c else y), 3, 1)
    with np.errstate(all="ignore"):  # folding log(0) says nothing about the values to come
        return wrapped(np.asarray(choose(plain_array(condition), plain_array(a), plain_array(b)), dtype=object))


def input_symbols(graph: Graph, name: str, shape: tuple[int, ...]) -> Scalar:
    """An array of fresh inputs `name[i, j]`; a scalar input is a bare node."""
    if shape == ():
        return graph.input(name)
    array = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        array[index] = graph.input(f"{name}[{', '.join(map(str, index))}]")
    return array.view(Symbols)
