"""NumPy's functions that are not ufuncs, on arrays of nodes.

A function is here because it is known to give the same on symbols as on floats. Every other is refused: what NumPy does
with arrays of objects that it knows nothing about may be nothing at all (`np.nan_to_num`), or nonsense."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cayley.compiler.operations import BOOLEAN
from cayley.compiler.tracing.graph import Node
from cayley.compiler.tracing.linear_functions import LINEAR_FUNCTIONS
from cayley.compiler.tracing.symbols import check_type, into, plain_array, symbols, where, wrapped
from cayley.compiler.typing import Array, ArrayLike, Scalar, Text
from cayley.errors import TraceError, UnsupportedError

_KNOWN_NAMES = """
append array2string array_repr array_split array_str atleast_1d atleast_2d atleast_3d average block broadcast_arrays
broadcast_to choose column_stack compress concat concatenate convolve copy copyto correlate cumprod cumsum
cumulative_prod cumulative_sum delete diag diag_indices_from diagflat diagonal diff dot dsplit dstack ediff1d einsum
einsum_path empty_like expand_dims extract fill_diagonal flip fliplr flipud full_like gradient hsplit hstack imag
inner insert iscomplexobj isrealobj kron linspace matrix_transpose meshgrid moveaxis ndim ones_like outer pad
permute_dims poly polyadd polyder polyint polymul polysub polyval prod ptp put put_along_axis putmask ravel real
repeat reshape resize result_type roll rollaxis rot90 row_stack select shape size split squeeze stack std swapaxes
take take_along_axis tensordot tile trace transpose trapezoid tril tril_indices_from triu triu_indices_from unstack
vander var vdot vsplit vstack zeros_like
"""
_KNOWN = {getattr(np, name) for name in _KNOWN_NAMES.split() if hasattr(np, name)}
_KNOWN.add(np.lib.stride_tricks.sliding_window_view)

_NOT_OF_TRUTHS = {np.full_like, np.polyval}  # they make arrays of the type of their argument


def apply_function(function: Callable[..., Any], args: Sequence[Any], options: dict[str, Any]) -> Scalar:
    """A NumPy function that is not a ufunc, on arrays of nodes."""
    name = f"{function.__module__}.{function.__name__}"
    if function not in _KNOWN and function not in _REPLACED:
        hint = _INSTEAD.get(function.__name__, "write it out in terms of + - * / and np.sqrt")
        raise UnsupportedError(f"{name} cannot be traced: {hint}")
    if function in _NOT_OF_TRUTHS and any(isinstance(x, Node) and x.op in BOOLEAN for a in args for x in np.ravel(a)):
        raise UnsupportedError(f"{name} of truth values cannot be traced: make numbers of them with 1.0 * condition")
    try:
        if function in _REPLACED:
            return _REPLACED[function](*args, **options)
        return wrapped(function._implementation(*_unwrapped(args), **_unwrapped(options)))  # type: ignore[attr-defined]
    except (TraceError, UnsupportedError):
        raise
    except TypeError as error:
        raise UnsupportedError(f"{name} cannot be traced: {error}") from error


def _unwrapped(value: Scalar) -> Scalar:
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_unwrapped(v) for v in value)
    if isinstance(value, dict):
        return {key: _unwrapped(v) for key, v in value.items()}
    return plain_array(value)


def _where(condition: Scalar, *branches: Scalar) -> Scalar:
    if not branches:
        raise UnsupportedError("np.where of a condition alone cannot be traced, as shapes must not depend on values: "
                               "use cy.where(condition, a, b)")
    return where(condition, *branches)


def _norm(x: Scalar, ord: Scalar = None, axis: Scalar = None, keepdims: Scalar = False) -> Scalar:
    if ord not in (None, 2, "fro"):
        raise UnsupportedError(f"np.linalg.norm with ord={ord!r} cannot be traced: write it as a sum")
    if ord == 2 and (np.ndim(x) if axis is None else np.size(axis)) == 2:
        raise UnsupportedError("the 2-norm of a matrix cannot be traced: the Frobenius norm is np.linalg.norm(x)")
    return np.sqrt(np.sum(np.square(x), axis=axis, keepdims=keepdims))


def _round(a: Scalar, decimals: Scalar = 0, out: Scalar = None) -> Scalar:
    scale = 10.0**abs(decimals)
    if decimals > 0:
        return into(out, np.rint(symbols(a) * scale) / scale)
    return into(out, np.rint(symbols(a)) if decimals == 0 else np.rint(symbols(a) / scale) * scale)


def _cross(a: ArrayLike, b: ArrayLike, *options: Any, **named: Any) -> Scalar:  # noqa: ANN401 (handed on)
    """The product of two vectors of three in the order in which NumPy computes it, without its detours; other shapes by
    NumPy."""
    if options or named or np.shape(a) != (3,) or np.shape(b) != (3,):
        return wrapped(np.cross._implementation(  # type: ignore[attr-defined]
            *_unwrapped((a, b, *options)), **_unwrapped(named)))
    a0, a1, a2 = np.asarray(a, dtype=object)
    b0, b1, b2 = np.asarray(b, dtype=object)
    found = np.empty(3, dtype=object)
    found[:] = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
    return symbols(found)


def _clip(a: Scalar, a_min: ArrayLike | None = None, a_max: float | None = None, out: Scalar = None, *,
          min: Scalar = None,
          max: Scalar = None) -> Scalar:
    low = min if a_min is None else a_min
    high = max if a_max is None else a_max
    a = a if low is None else np.maximum(a, low)
    a = a if high is None else np.minimum(a, high)
    return into(out, a)


def _reduced(function: np.ufunc) -> Text:
    def reduce(a: Array, axis: Scalar = None, out: Scalar = None, keepdims: bool = False,
               **options: Scalar) -> Scalar:
        return function.reduce(symbols(a), axis=axis, out=out, keepdims=keepdims, **options)
    return reduce


def _sum(a: Scalar, axis: Scalar = None, dtype: Scalar = None, out: Scalar = None, keepdims: Scalar = False,
         **options: Any) -> Scalar:  # noqa: ANN401 (handed on)
    return np.add.reduce(symbols(a), axis=axis, dtype=dtype, out=out, keepdims=keepdims, **options)


def _mean(a: Scalar, axis: Scalar = None, dtype: Scalar = None, out: Scalar = None, keepdims: Scalar = False) -> Scalar:
    check_type("np.mean", dtype)
    count = np.size(a) if axis is None else np.prod([np.shape(a)[i] for i in np.atleast_1d(axis)])
    return into(out, np.sum(a, axis=axis, keepdims=keepdims) / float(count), exactly=True)


_REPLACED: dict[Callable[..., Any], Callable[..., Any]] = {
    **LINEAR_FUNCTIONS,
    np.where: _where, np.cross: _cross, np.linalg.norm: _norm, np.clip: _clip, np.mean: _mean, np.sum: _sum,
    np.round: _round, np.around: _round,
    np.max: _reduced(np.maximum), np.amax: _reduced(np.maximum),
    np.min: _reduced(np.minimum), np.amin: _reduced(np.minimum),
    np.all: _reduced(np.logical_and), np.any: _reduced(np.logical_or),
}
_INSTEAD = {
    **dict.fromkeys(("eig", "eigvals", "eigh", "eigvalsh", "svd", "svdvals", "cond", "matrix_rank"), "it is an "
                                                                                                     "iteration; "
                                                                                                     "np.linalg.solve, "
                                                                                                     "inv, det, "
                                                                                                     "slogdet, "
                                                                                                     "cholesky, pinv "
                                                                                                     "and lstsq can be "
                                                                                                     "traced, and "
                                                                                                     "cy.newton "
                    "finds a solution near a guess, such as an eigenvector"),
    "sort": "compare and select with np.minimum and np.maximum",
    "argsort": "compare and select with cy.where",
    "argmax": "compare and select with cy.where",
    "argmin": "compare and select with cy.where",
    "nonzero": "shapes must not depend on values: use cy.where(condition, a, b)",
    "allclose": "a traced function must not ask for values",
    "isclose": "write np.abs(a - b) <= tolerance",
    "array_equal": "a traced function must not ask for values",
    "nan_to_num": "write cy.where(x == x, x, 0.0)",
    **{name: f"use np.{name}"
       for name in ("cross", "matmul", "outer", "trace", "diagonal", "vecdot", "tensordot")}, }
