"""Loops of a text: a step that is repeated, and a walk along the first axis of arrays.

On numbers they are Python's own. On symbols the step is traced once, and emitted code has the loop."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cayley.compiler.rules.common import number
from cayley.compiler.tracing.graph import Graph, Node
from cayley.compiler.tracing.loop_tracing import traced_loop
from cayley.compiler.tracing.symbols import wrapped
from cayley.compiler.typing import Array, Scalar
from cayley.errors import SignatureError
from cayley.explained_calls import explained


@explained
def repeat(step: Callable[..., Any], start: Any, times: int, *data: Any,  # noqa: ANN401 (arrays, or tuples of them)
           until: Callable[..., Any] | None = None) -> Any:  # noqa: ANN401
    """The state after `x = step(x, *data)` has been made a number of times from `start`: an array, a number, or a tuple
    of them, named and nested as the start is.

    `until(x, *data)` is a truth value: a state for which it holds stands still, and a loop ends when all states of a
    block do. Derivatives go through the steps taken; where a solution is meant, `newton` and `fixed_point` have its
    own.

    >>> repeat(lambda x, a: 0.5 * (x + a / x), 1.0, 6, 2.0).round(12)
    np.float64(1.414213562373)
    >>> repeat(lambda x: 2.0 * x, np.array([1.0, 3.0]), 100, until=lambda x: x[1] > 20.0)
    array([ 8., 24.])
    """
    turns = _turns("cy.repeat", times)
    state = _State.of(start, "cy.repeat")
    x = state.values

    def turn(x: Sequence[Any]) -> tuple[list[Any], Any]:
        given = state.tree(x)
        return state.flat(step(given, *data)), None if until is None else _truth(until(given, *data))

    graph = graph_of(*x, *data)
    while turns and graph is None:  # numbers, unless the step itself holds symbols
        if until is not None and (arrived := _truth(until(state.tree(x), *data))) is True:
            break
        after = state.flat(step(state.tree(x), *data))
        graph = graph_of(*after, arrived if until is not None else 0.0)
        x, turns = (x, turns) if graph else (after, turns - 1)
    return state.tree(repeated(graph, x, turns, turn) if graph and x and turns else x)


@explained
def scan(step: Callable[..., Any], start: Any, *arrays: Any, data: Sequence[Any] = (),  # noqa: ANN401 (arrays, or tuples)
         reverse: bool = False) -> tuple[Any, Any]:
    """The walk `x, out = step(x, *entries, *data)` along the first axis of some arrays, from `start`: the state after
    the last entry, and what each step gave beside it, along a first axis of its own. With `reverse` it begins at the
    last entry; what it gives stays in the order of the arrays.

    The state and what is given are arrays, numbers, or tuples of them; what is given may be None.

    >>> total, totals = scan(lambda x, a: (x + a, x + a), 0.0, np.array([1.0, 2.0, 3.0]))
    >>> totals
    array([1., 3., 6.])
    """
    turns = _length(arrays)
    state = _State.of(start, "cy.scan")
    shapes = [np.shape(a)[1:] for a in arrays]
    out: list[_State] = []

    def turn(x: Sequence[Any], entries: Sequence[Sequence[Any]]) -> tuple[list[Any], list[Any]]:
        found = step(state.tree(x), *[_array(each, shape) for each, shape in zip(entries, shapes, strict=True)], *data)
        if not isinstance(found, tuple) or len(found) != 2:
            raise SignatureError("the step of cy.scan must return two things, the state and what is given: return "
                                 "x, None if it gives nothing")
        out.append(_State.of(found[1], "cy.scan"))
        return state.flat(found[0]), out[0].flat(found[1])

    rows = [[_scalars(row) for row in np.asarray(a)] if turns else [] for a in arrays]
    x, kept = state.values, dict[int, list[Any]]()
    graph = graph_of(*x, *arrays, *data)
    order = range(turns) if turns else range(1)  # without entries, a step on zeros says what it would give
    for k in reversed(order) if reverse else order:
        after, kept[k] = turn(x, [row[k] if turns else [0.0] * int(np.prod(shape))
                                  for row, shape in zip(rows, shapes, strict=True)]) if graph is None else ([], [])
        graph = graph or graph_of(*after, *kept[k])
        if graph is not None and turns:
            x, made = _walked(graph, state.values, rows, turn, reverse)
            return state.tree(x), out[0].stacked(made)
        x = after if turns else x
    return state.tree(x), out[0].stacked([kept[k] for k in range(turns)])


def repeated(graph: Graph, start: Sequence[Any], turns: int,
             turn: Callable[[Sequence[Any]], tuple[Sequence[Any], Any]], *, zeros: bool = True) -> list[Node]:
    """The scalars of a state after some turns, each of which gives the next and whether it stops, or None."""
    def without_entries(x: Sequence[Any], _: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any], Scalar]:
        after, stop = turn(x)
        return after, (), stop
    return traced_loop([number(graph.lift(v)) for v in start], [], turns, without_entries, zeros=zeros)[0]


def _walked(graph: Graph, start: Sequence[Any], rows: Sequence[Sequence[Sequence[Any]]], turn: Callable[..., Any],
            reverse: bool) -> tuple[list[Node], list[list[Node]]]:
    entries = [[[number(graph.lift(x)) for x in row] for row in each] for each in rows]
    return traced_loop([number(graph.lift(v)) for v in start], entries, len(rows[0]),
                       lambda x, e: (*turn(x, e), None), backwards=reverse)


def _turns(name: str, times: int) -> int:
    turns = operator.index(times)
    if turns < 0:
        raise SignatureError(f"{name} cannot make {times} turns: times is 0 or more")
    return turns


def _length(arrays: Sequence[Any]) -> int:
    shapes = [np.shape(a) for a in arrays]
    if not shapes or not all(shapes) or len({shape[0] for shape in shapes}) > 1:
        raise SignatureError(f"cy.scan walks along the first axis of arrays, which must be equally long, not of the "
                             f"shapes {', '.join(map(str, shapes)) or '()'}")
    return shapes[0][0]


def _truth(value: Scalar) -> Scalar:
    if np.shape(value) != ():
        raise SignatureError("until of cy.repeat must return one truth value, not an array of shape "
                             f"{np.shape(value)}: use np.all or np.any")
    value = value.item() if isinstance(value, np.ndarray) else value
    return value if isinstance(value, Node) else bool(value)


class _State:
    """The scalars of an array, a number, or a tuple of them, and how these were arranged."""

    def __init__(self, given: Any, name: str) -> None:  # noqa: ANN401
        self.name = name
        self.kind = given
        self.shapes: list[tuple[int, ...]] = []
        self.values: list[Any] = []

    @staticmethod
    def of(given: Any, name: str) -> _State:  # noqa: ANN401
        state = _State(given, name)
        for leaf in _leaves(given):
            state.shapes.append(np.shape(leaf))
            state.values += _scalars(leaf)
        return state

    def flat(self, after: Any) -> list[Any]:  # noqa: ANN401
        """The scalars of another one that is arranged alike."""
        leaves = _leaves(after)
        shapes = [np.shape(leaf) for leaf in leaves]
        if shapes != self.shapes:
            raise SignatureError(f"the step of {self.name} must return what it takes: arrays of the shapes "
                                 f"{', '.join(map(str, self.shapes))}, not {', '.join(map(str, shapes))}")
        return [x for leaf in leaves for x in _scalars(leaf)]

    def tree(self, values: Sequence[Any]) -> Any:  # noqa: ANN401
        """Scalars arranged as these were."""
        place = iter(values)
        return _arranged(self.kind, iter([_array([next(place) for _ in range(int(np.prod(shape)))], shape)
                                          for shape in self.shapes]))

    def stacked(self, rows: Sequence[Sequence[Any]]) -> Any:  # noqa: ANN401
        """The scalars of several, one after the other along a first axis."""
        starts = np.cumsum([0, *[int(np.prod(shape)) for shape in self.shapes]])
        return _arranged(self.kind, iter([
            _array([x for row in rows for x in row[start:end]], (len(rows), *shape))
            for shape, start, end in zip(self.shapes, starts, starts[1:], strict=False)]))


def _leaves(tree: Any) -> list[Any]:  # noqa: ANN401
    if tree is None:
        return []
    return [leaf for part in tree for leaf in _leaves(part)] if isinstance(tree, tuple) else [tree]


def _arranged(tree: Any, leaves: Any) -> Any:  # noqa: ANN401
    if tree is None:
        return None
    if not isinstance(tree, tuple):
        return next(leaves)
    parts = [_arranged(part, leaves) for part in tree]
    return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)


def _scalars(leaf: Any) -> list[Any]:  # noqa: ANN401
    array = np.asarray(leaf)
    return list(array.flat) if array.dtype == object else [float(x) for x in array.flat]


def _array(scalars: Sequence[Any], shape: tuple[int, ...]) -> Scalar:
    if not any(isinstance(x, Node) for x in scalars):
        array: Array = np.array(scalars, dtype=None if scalars else float).reshape(shape)
        return array if shape else array[()]
    array = np.empty(len(scalars), dtype=object)
    array[:] = scalars
    return wrapped(array.reshape(shape))


def graph_of(*values: Any) -> Graph | None:  # noqa: ANN401
    """The graph of the symbols in some values, if there are any."""
    leaves = (leaf for value in values for leaf in _leaves(value))
    scalars = (x for leaf in leaves if isinstance(leaf, Node) or getattr(leaf, "dtype", None) == np.dtype(object) or
               isinstance(leaf, list) for x in np.asarray(leaf, dtype=object).flat)
    return next((x.graph for x in scalars if isinstance(x, Node)), None)
