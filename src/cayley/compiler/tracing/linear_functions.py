"""NumPy's linear algebra on symbols, one matrix or stacks of them: `np.linalg.solve` and its like."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cayley.compiler.solving.least_squares import least_squares
from cayley.compiler.solving.linear import cholesky, chosen, determinant, eliminated
from cayley.compiler.tracing.graph import Graph, Node
from cayley.compiler.tracing.implied_values import implied
from cayley.compiler.tracing.symbols import symbols, wrapped
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import SingularityError, UnsupportedError


def solve_equations(A: Array, right: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """For each right-hand side b the x with A x = b; the derivative is that of the equations, dx = A^-1 (db - dA x)."""
    elimination = eliminated(A)
    if not any(isinstance(entry, Node) and entry.op != "constant" for row in A for entry in row):
        return [elimination.solve(b) for b in right]
    graph = next(entry.graph for row in A for entry in row if isinstance(entry, Node))
    return [_implied_solution(graph, A, elimination, b) for b in right]


def _implied_solution(graph: Graph, A: Array, elimination: Scalar, b: Sequence[Any]) -> list[Any]:
    found = [graph.lift(x) for x in elimination.solve(b)]

    def law(x: list[Node], hold: Callable[[Any], Any]) -> list[Any]:
        left = [sum(A[i][j] * x[j] for j in range(len(x))) - b[i] for i in range(len(x))]
        return [place - step for place, step in zip(x, elimination.mapped(hold).solve(left), strict=True)]

    return list(implied(found, law).values)


def solve(a: Array, b: ArrayLike) -> Scalar:
    a = _matrices("solve", a, square=True)
    b = np.asarray(b, dtype=object)
    is_vector = b.ndim == 1
    right = b[:, None] if is_vector else b
    if right.ndim < 2 or right.shape[-2] != a.shape[-1]:
        raise UnsupportedError(f"np.linalg.solve: {a.shape[-1]} equations, and right-hand sides of shape {b.shape}")
    found = _stacked(lambda A, B: np.transpose(_array(solve_equations(A, B.T), B.T.shape)), a, right)
    return wrapped(found[..., 0] if is_vector else found)


def inverse(a: Array) -> Scalar:
    a = _matrices("inv", a, square=True)
    return solve(a, np.broadcast_to(np.eye(a.shape[-1]), a.shape))


def determinants(a: Array) -> Scalar:
    return wrapped(_stacked(determinant, _matrices("det", a, square=True)))


def signs_and_logarithms(a: Scalar) -> Scalar:
    a = _matrices("slogdet", a, square=True)
    signs, logarithms = (np.empty(a.shape[:-2], dtype=object) for _ in range(2))
    for place in np.ndindex(a.shape[:-2]):
        signs[place], logarithms[place] = _sign_and_logarithm(a[place])
    kind = type(np.linalg.slogdet(np.eye(1)))
    return kind(wrapped(signs), wrapped(logarithms))


def _sign_and_logarithm(A: Array) -> tuple[Any, Any]:
    try:
        found = eliminated(A)
    except SingularityError:
        return 0.0, -np.inf
    pivots = symbols(np.array([*found.pivots, 1.0], dtype=object))
    return found.sign * np.prod(np.sign(pivots)), np.sum(np.log(np.abs(pivots)))


def cholesky_factors(a: Scalar, /, *, upper: bool = False) -> Scalar:
    a = _matrices("cholesky", a, square=True)
    found = _stacked(lambda A: _array(cholesky(A), A.shape), np.swapaxes(a, -1, -2) if upper else a)
    return wrapped(np.swapaxes(found, -1, -2) if upper else found)


def matrix_power(a: Scalar, n: int) -> Scalar:
    power = operator.index(n)
    base = _matrices("matrix_power", a, square=True)
    result: Any = symbols(np.broadcast_to(np.eye(base.shape[-1]), base.shape).astype(object))
    base = inverse(base) if power < 0 else symbols(base)
    for digit in f"{abs(power):b}":
        result = result @ result
        result = result @ base if digit == "1" else result
    return result


def pseudo_inverse(a: Array, rcond: Scalar = None, hermitian: bool = False, *, rtol: Scalar = None) -> Scalar:
    a = _matrices("pinv", a)
    a = np.tril(a) + np.swapaxes(np.tril(a, -1), -1, -2) if hermitian else a
    given = rcond if rtol is None or rtol is np._NoValue else rtol
    return wrapped(_stacked(lambda A: _pseudo_inverse(A, _ratio("pinv", given, A.shape)), a))


def _pseudo_inverse(A: Array, rcond: float) -> Array:
    m, n = A.shape
    if not A.size:
        return np.zeros((n, m), dtype=object)
    return _array(least_squares(A, np.eye(m).tolist(), rcond).x, (m, n)).T


class _SingularValues:
    """Stand-in for the other results of `np.linalg.lstsq`, which kernels do not need."""

    def __array__(self, *_: object, **__: object) -> None:
        raise UnsupportedError("the singular values of np.linalg.lstsq cannot be traced: use its other results")

    __getitem__ = __len__ = __iter__ = __array__


def least_squares_solution(a: Scalar, b: Scalar, rcond: Scalar = None) -> tuple[Any, Any, Any, Any]:
    a = np.asarray(a, dtype=object)
    b = np.asarray(b, dtype=object)
    if a.ndim != 2 or b.ndim not in (1, 2) or len(b) != len(a) or not a.size:
        raise UnsupportedError(f"np.linalg.lstsq takes A (m, n), b (m) or (m, k), not shapes {a.shape} and {b.shape}")
    m, n = a.shape
    found = least_squares(a, b.reshape(m, -1).T, _ratio("lstsq", rcond, a.shape))
    x = symbols(_array(found.x, (len(found.x), n)).T.reshape((n, *b.shape[1:])))
    rank = sum(chosen(kept, 1.0, 0.0) for kept in found.kept)
    squares = np.sum(np.square(b - a @ x).reshape(m, -1), axis=0)
    residuals = [chosen(found.kept[-1], s, np.nan) for s in squares] if m > n else []
    return x, symbols(_array([residuals], (len(residuals),))), rank, _SingularValues()


def _ratio(name: str, rcond: Scalar, shape: Sequence[int]) -> float:
    if rcond is None:
        return float(max(shape) * np.finfo(np.float64).eps)
    try:
        return max(float(rcond), 0.0)
    except TypeError:
        raise UnsupportedError(f"rcond of np.linalg.{name} must be one number, known when the kernel is made") from None


def _matrices(name: str, a: ArrayLike, *, square: bool = False) -> Array:
    array = np.asarray(a, dtype=object).view(np.ndarray)
    if array.ndim < 2 or (square and array.shape[-1] != array.shape[-2]):
        wanted = "square matrices (..., n, n)" if square else "matrices (..., m, n)"
        raise UnsupportedError(f"np.linalg.{name} takes {wanted}, not shape {array.shape}")
    return array


def _stacked(function: Callable[..., Any], *arrays: Array) -> Array:
    """A function of matrices for stacks of them."""
    batch = np.broadcast_shapes(*[a.shape[:-2] for a in arrays])
    stacks = [np.broadcast_to(a, batch + a.shape[-2:]) for a in arrays]
    results = [function(*[stack[place] for stack in stacks]) for place in np.ndindex(batch)]
    if not results:
        raise UnsupportedError("a stack of no matrices cannot be traced")
    return _array(results, batch + np.shape(results[0]))


def _array(scalars: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Nested sequences of scalars as an array of objects."""
    made = np.empty(shape, dtype=object)
    made[...] = np.asarray(scalars, dtype=object).reshape(shape)
    return made


LINEAR_FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.linalg.solve: solve, np.linalg.inv: inverse, np.linalg.det: determinants, np.linalg.cholesky: cholesky_factors,
    np.linalg.slogdet: signs_and_logarithms, np.linalg.matrix_power: matrix_power, np.linalg.pinv: pseudo_inverse,
    np.linalg.lstsq: least_squares_solution,
}
