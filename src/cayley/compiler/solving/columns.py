"""Products and solves with many columns: the program of one column, called for each.

Columns with zeros at the same places are computed by the same code, so that a large matrix takes the code of one of its
columns and not that of all. Small ones are written out."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from cayley.compiler.rules.common import number
from cayley.compiler.signature import Signature
from cayley.compiler.tracing.calls import Callee
from cayley.compiler.tracing.graph import Graph, Node, is_constant
from cayley.compiler.tracing.trace import trace
from cayley.compiler.typing import Array, ArrayLike, Scalar

MANY_PRODUCTS = 8000
"""Products of all columns together from which they are computed by calls."""


def graph_of_many(products: int, right: ArrayLike) -> Graph | None:
    """The graph of the symbols in some columns, if they are multiplied so often that calls pay. Columns of numbers have
    zeros of their own each, and would share no code."""
    if products < MANY_PRODUCTS:
        return None
    return next((x.graph for x in np.asarray(right, dtype=object).flat
                 if isinstance(x, Node) and x.op != "constant" and not x.graph.strict), None)


def substituted(graph: Graph, L: Sequence[Sequence[Any]], pivots: Sequence[Any], right: Array) -> Array:
    """The x of L D L^T x = b for each column b of `right` (n, k), by calls."""
    return _each_column(graph, _substitution(len(pivots)), _factors(L, pivots), right)


def _factors(L: Sequence[Sequence[Any]], pivots: Sequence[Any]) -> list[Any]:
    return [*[entry for row in L for entry in row], *[1.0 / pivot for pivot in pivots]]


def product(left: Array, right: Array) -> Array:
    """The product of two matrices of objects: by calls if it is large, and no part of it is known to be simpler."""
    graph = graph_of_many(left.size * right.shape[1], right)
    if graph is None or left.shape[1] != len(right) or _products_of(left, right) < MANY_PRODUCTS or _folds(left, right):
        return np.matmul(left, right)
    return _each_column(graph, _product(*left.shape), list(left.flat), right)


def _each_column(graph: Graph, callee: Callee, same: list[Any], right: Array) -> Array:
    """The results of calls with the same first arguments."""
    nodes = [number(graph.lift(x)) for x in same]
    common = [x for x in nodes if not is_constant(x, 0.0)]
    own = callee.without((*[is_constant(x, 0.0) for x in nodes], *[False] * len(right)))
    columns = [[number(graph.lift(x)) for x in column] for column in right.T]
    found = np.empty((len(columns), len(callee.program.results)), dtype=object)
    for k, (column, pattern) in enumerate(zip(columns, patterns(columns), strict=True)):
        zeros = (*[False] * len(common), *[i not in pattern for i in range(len(column))])
        found[k] = own.without(zeros).called_with([*common, *[column[i] for i in sorted(pattern)]])
    return found.T


def patterns(columns: Sequence[Sequence[Node]]) -> list[frozenset[int]]:
    """For each column the places that its program takes: those of its entries, and some where it has zeros, so that
    columns share a program with others that have nearly the same zeros. A column of numbers takes any that has room."""
    entries = [frozenset(i for i, x in enumerate(column) if not is_constant(x, 0.0)) for column in columns]
    is_symbolic = [any(x.op != "constant" for x in column) for column in columns]
    kept: list[frozenset[int]] = []
    for own in sorted({e for e, asked in zip(entries, is_symbolic, strict=True) if asked}, key=_size, reverse=True):
        if not any(own <= other and len(other) - len(own) <= len(other) // 4 for other in kept):
            kept.append(own)
    return [min((other for other in kept if own <= other and (not asked or len(other) - len(own) <= len(other) // 4)),
                key=_size, default=own) for own, asked in zip(entries, is_symbolic, strict=True)]


def _size(pattern: frozenset[int]) -> tuple[int, list[int]]:
    return len(pattern), sorted(pattern)


@lru_cache(maxsize=16)
def _substitution(n: int) -> Callee:
    def text(factors: Scalar, inverses: Scalar, b: Scalar) -> Any:  # noqa: ANN401 (an array, or a tuple of them)
        place = iter(factors)
        L = [[next(place) for _ in range(i)] for i in range(n)]
        x = [b[i] for i in range(n)]
        for i in range(n):
            for k in range(i):
                x[i] = x[i] - L[i][k] * x[k]
        x = [x[i] * inverses[i] for i in range(n)]
        for i in reversed(range(n)):
            for k in reversed(range(i + 1, n)):  # what was found last is needed last: nothing waits for a whole row
                x[i] = x[i] - L[k][i] * x[k]
        return np.stack(x)

    return _traced(text, f"({n * (n - 1) // 2}),({n}),({n})->({n})", "substituted", ["factors", "inverses", "b"])


@lru_cache(maxsize=16)
def _product(m: int, n: int) -> Callee:
    return _traced(lambda A, b: A @ b, f"({m},{n}),({n})->({m})", "multiplied", ["A", "b"])


def _traced(text: Callable[..., Any], signature: str, name: str, inputs: list[str]) -> Callee:
    return Callee(trace(text, Signature.parse(signature), {}, name=name, inputs=inputs))


def _products_of(left: Array, right: Array) -> int:
    """The number of products of entries that are not zero that a matrix product takes."""
    return int(sum(map(operator.mul, _entries(left.T), _entries(right))))


def _folds(left: Array, right: Array) -> bool:
    """True if products share more than zeros: there are numbers in a matrix, or it is the transpose of the other."""
    numbers = (x.value if isinstance(x, Node) else x for a in (left, right) for x in a.flat
               if not isinstance(x, Node) or x.op == "constant")
    is_transpose = left.shape == right.T.shape and all(x is y for x, y in zip(left.flat, right.T.flat, strict=True))
    return is_transpose or any(number != 0 for number in numbers)


def _entries(rows: Array) -> list[int]:
    return [sum(not (is_constant(x, 0.0) if isinstance(x, Node) else x == 0) for x in row) for row in rows]
