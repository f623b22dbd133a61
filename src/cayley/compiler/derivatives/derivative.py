"""Differentiation on the graph, forward and reverse, each in one sweep over the nodes between variables and outputs.

A derivative is made of nodes like everything else, so it is shared with the function, simplified as it is built, and
can be differentiated again. A zero that follows from the structure is the constant 0.

A branch selects its derivative, it never multiplies it by 0 or 1: what the branch not taken would give (NaN, infinity)
cannot leak. Going forward, `where(c, da, db)` is enough. Going backward, an adjoint below a branch has a meaning only
while the branch is taken; it carries the conditions of that, its guard, and 0 is put in its place only when it meets an
adjoint that holds elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, replace
from functools import cache, partial, reduce
from typing import Any

import numpy as np

from cayley.compiler.algebras.counts import Operations, count
from cayley.compiler.operations import OPERATIONS, Operation
from cayley.compiler.tracing.composed import evaluated
from cayley.compiler.tracing.graph import RULES, Graph, Node, ancestors, is_constant, rule_of
from cayley.compiler.tracing.implied_values import build_marked, followed, released
from cayley.compiler.tracing.program import Program, Variable, rebuild
from cayley.compiler.tracing.symbols import Symbols
from cayley.compiler.typing import Array, Scalar
from cayley.errors import SignatureError, UnsupportedError
from cayley.explained_calls import explained

_WEIGHTS = Operations(multiplications=1, additions=1, divisions=4, square_roots=5, trigonometric=15, other_functions=15,
                      selections=1)
_MOST_WORK = 500_000  # derivatives of nodes; beyond this only one mode is built

Guard = dict[int, Node]  # conditions that hold together, by their index
_ALWAYS: Guard = {}
Adjoint = tuple[Guard, Node]


@explained
def jacobian(outputs: Scalar, variables: Scalar) -> Array:
    """The derivatives of symbols by symbols, inside a traced function: shape `outputs.shape + variables.shape`.

    The variables are inputs of the function, or values declared with `independent` before they were used.

    >>> from cayley.compiler.tracing.symbols import input_symbols
    >>> q = input_symbols(Graph(), "q", (2,))
    >>> jacobian(np.stack([q[0] * q[1], np.sin(q[0])]), q)
    Symbols([[q[1], q[0]],
             [cos(q[0]), 0.0]], dtype=object)
    """
    results = np.asarray(outputs, dtype=object)
    places = np.asarray(variables, dtype=object)
    nodes = _checked_variables(places)
    graph = _graph_of([*nodes, *[r for r in results.flat if isinstance(r, Node)]])
    matrix = jacobian_nodes([graph.lift(r) for r in results.flat], nodes).reshape(results.shape + places.shape)
    return matrix.item() if matrix.shape == () else matrix.view(Symbols)


def slope_along(outputs: Array, variables: Array, direction: Array) -> Array:
    """The derivatives of symbols along one direction of the variables, as `jacobian(outputs, variables) @ direction`
    for vectors, and less work.

    >>> from cayley.compiler.tracing.symbols import input_symbols
    >>> q = input_symbols(Graph(), "q", (2,))
    >>> slope_along(np.stack([q[0] * q[1], np.sin(q[0])]), q, np.array([0.0, 2.0]))
    Symbols([multiply(2.0, q[0]), 0.0], dtype=object)
    """
    nodes = _checked_variables(np.asarray(variables, dtype=object))
    graph = _graph_of(nodes)
    results = [graph.lift(r) for r in np.asarray(outputs, dtype=object).flat]
    found = forward(results, nodes, [graph.lift(d) for d in np.asarray(direction, dtype=object).flat])
    return _array(found, np.shape(outputs)).view(Symbols)


@explained
def independent(values: Scalar) -> Scalar:
    """The same values, as variables that `jacobian` can differentiate by.

    Expressions are simplified as they are written, so a value met on the way may no longer occur in what was computed
    from it (`sin(q)**2 + cos(q)**2` is 1): only what was declared before its use can be differentiated by afterwards.
    """
    array = np.asarray(values, dtype=object)
    graph = _graph_of([v for v in array.flat if isinstance(v, Node)])
    nodes = [_declared(graph.lift(v)) for v in array.flat]
    return nodes[0] if array.shape == () else _array(nodes, array.shape).view(Symbols)


def jacobian_program(program: Program, of: str, variable: str) -> Program:
    """The program of the derivatives of the output `of` by the input `variable`: shape of the output, then of the
    input."""
    _check_name(of, [v.name for v in program.outputs], "output", program.name)
    _check_name(variable, [v.name for v in program.inputs], "input", program.name)
    own = rebuild(program, build_marked)
    result = next(v for v in own.outputs if v.name == of)
    place = own.input(variable)
    matrix = jacobian_nodes(result.nodes, place.nodes)
    label = f"{of}_by_{variable}"
    made = Variable(label, result.shape + place.shape, tuple(matrix.flat), _ratio(result.unit, place.unit))
    meaning = f"Derivatives of {of} by {variable} of {program.name}."
    return replace(own, name=f"{program.name}_{label}", outputs=(made,),
                   description=f"{meaning}\n{program.description}".strip())


def jacobian_nodes(outputs: Sequence[Node], variables: Sequence[Node]) -> Array:
    """d outputs[i] / d variables[j], by forward or by reverse mode, whichever needs fewer operations together with the
    outputs.

    The variables may be any nodes; a path from an output ends at the first of them."""
    between = _between(outputs, variables)
    modes: list[Callable[..., np.ndarray]] = [_by_columns, _by_rows]
    if len(between) * (len(outputs) + len(variables)) > _MOST_WORK:
        modes = [_by_columns if len(variables) <= len(outputs) else _by_rows]
    found = min((mode(outputs, variables, between) for mode in modes),
                key=lambda matrix: _cost([*outputs, *matrix.flat]))
    return _array(released(list(found.flat), between), found.shape)


def forward(outputs: Sequence[Node], variables: Sequence[Node], tangents: Sequence[Any]) -> list[Node]:
    """The change of the outputs when the variables change along `tangents`: J t."""
    seeds: dict[int, dict[int, Node]] = {}
    for place, tangent in zip(variables, tangents, strict=True):
        old = seeds[place.index][0] if place.index in seeds else 0.0
        seeds[place.index] = {0: place.graph.lift(tangent) + old}
    between = _between(outputs, variables)
    found = _tangents(between, seeds, outputs)
    return released([found[o.index].get(0, o.graph.constant(0.0)) for o in outputs], between)


def reverse(outputs: Sequence[Node], variables: Sequence[Node], weights: Sequence[Any]) -> list[Node]:
    """The derivatives of the weighted sum of the outputs: w J."""
    seeds: dict[int, dict[int, Node]] = {}
    for output, weight in zip(outputs, weights, strict=True):
        old = seeds[output.index][0] if output.index in seeds else 0.0
        seeds[output.index] = {0: output.graph.lift(weight) + old}
    between = _between(outputs, variables)
    found = _adjoints(between, seeds, variables)
    return released([found[v.index].get(0, v.graph.constant(0.0)) for v in variables], between)


def _by_columns(outputs: Sequence[Node], variables: Sequence[Node], between: list[Node]) -> Array:
    found = _tangents(between, _unit_seeds(variables), outputs)
    return _array([found[o.index].get(j, o.graph.constant(0.0)) for o in outputs for j in range(len(variables))],
                  (len(outputs), len(variables)))


def _by_rows(outputs: Sequence[Node], variables: Sequence[Node], between: list[Node]) -> Array:
    found = _adjoints(between, _unit_seeds(outputs), variables)
    return _array([found[v.index].get(i, v.graph.constant(0.0)) for i in range(len(outputs)) for v in variables],
                  (len(outputs), len(variables)))


def _unit_seeds(nodes: Sequence[Node]) -> dict[int, dict[int, Node]]:
    seeds: dict[int, dict[int, Node]] = {}
    for k, node in enumerate(nodes):
        seeds.setdefault(node.index, {})[k] = node.graph.constant(1.0)
    return seeds


def _between(outputs: Sequence[Node], variables: Sequence[Node]) -> list[Node]:
    """The nodes through which outputs depend on variables, without the variables, in topological order."""
    ends = {v.index for v in variables}
    dependent = set(ends)
    between = []
    for node in ancestors(outputs):
        if node.index not in ends and any(a.index in dependent for a in _sources(node)):
            dependent.add(node.index)
            between.append(node)
    return between


def _sources(node: Node) -> tuple[Node, ...]:
    """The operands on which the value depends smoothly."""
    if node.op == "implied":
        return (followed(node),)
    if OPERATIONS[node.op].is_flat:
        return ()
    return node.args[1:] if node.op == "where" else node.args


@cache
def _slopes(operation: Operation) -> tuple[Callable[..., Any], ...]:
    """The derivatives by each operand; those of the text, if the operation does not say them."""
    if operation.slopes is not None:
        return operation.slopes
    if operation.text is None:
        raise UnsupportedError(f"the operation {operation.name!r} has no derivative")
    return tuple(partial(_slope_of_text, operation, place) for place in range(operation.arity))


def _slope_of_text(operation: Operation, place: int, _: Node, *operands: Node) -> Node:
    places = [operand.graph.node("independent", operand) for operand in operands]
    result = evaluated(operation, places, rule_of, operands[0].graph.constant)
    return jacobian_nodes([result], [places[place]])[0, 0]


def _tangents(between: list[Node], seeds: dict[int, dict[int, Node]],
              outputs: Sequence[Node]) -> dict[int, dict[int, Node]]:
    """Forward sweep: for each output, by index, its derivatives by column. A tangent is dropped after its last use."""
    kept = {o.index for o in outputs}
    last = {a.index: node.index for node in between for a in node.args}
    known: dict[int, dict[int, Any]] = dict(seeds)  # of a call, those of all its results together
    for node in between:
        known[node.index] = _tangent(node, known)
        for operand in node.args:
            if last[operand.index] == node.index and operand.index not in kept:
                known.pop(operand.index, None)
    return {i: known.get(i, {}) for i in kept}


def _tangent(node: Node, known: dict[int, dict[int, Any]]) -> dict[int, Any]:
    if node.op == "implied":
        return known.get(followed(node).index, {})
    if node.op == "call":
        return _called_tangents(node, known)
    if node.op == "result":
        return {column: results[node.value] for column, results in known[node.args[0].index].items()
                if not is_constant(results[node.value], 0.0)}
    operation = OPERATIONS[node.op]
    if operation.branches is not None:
        return _chosen_tangent(node, operation.branches, known)
    total: dict[int, Node] = {}
    for operand, slope_of in zip(node.args, _slopes(operation), strict=True):
        if tangent := known.get(operand.index):
            slope = slope_of(node, *node.args)
            for column, derivative in tangent.items():
                term = _times(derivative, slope)
                total[column] = total[column] + term if column in total else term
    return {column: derivative for column, derivative in total.items() if not is_constant(derivative, 0.0)}


def _chosen_tangent(node: Node, branches: Callable[..., tuple[Node, Node, Node]],
                    known: dict[int, dict[int, Node]]) -> dict[int, Node]:
    condition, a, b = branches(*node.args)
    of_a = known.get(a.index, {})
    of_b = known.get(b.index, {})
    zero = node.graph.constant(0.0)
    return {
        column: RULES["where"](condition, of_a.get(column, zero), of_b.get(column, zero))
        for column in {**of_a, **of_b}}


def _called_tangents(node: Node, known: dict[int, dict[int, Any]]) -> dict[int, Any]:
    """The derivatives of all results of a call, for each column."""
    tangents = [known.get(operand.index, {}) for operand in node.args]
    zero = node.graph.constant(0.0)
    columns = list({column: None for tangent in tangents for column in tangent})
    given = [[tangent.get(column, zero) for tangent in tangents] for column in columns]
    return dict(zip(columns, node.value.tangents(node.args, given), strict=True))


def _adjoints(between: list[Node], seeds: dict[int, dict[int, Node]],
              variables: Sequence[Node]) -> dict[int, dict[int, Node]]:
    """Reverse sweep: for each variable, by index, the derivatives of the seeded nodes by row."""
    wanted = {n.index for n in between} | {v.index for v in variables}
    known: dict[int, dict[int, Adjoint]] = {i: {} for i in wanted}
    for index in wanted & seeds.keys():
        known[index] = {row: (_ALWAYS, weight) for row, weight in seeds[index].items()}
    for node in reversed(between):
        adjoints = known.pop(node.index)
        for operand, contribution in _contributions(node, adjoints, wanted):
            old = known[operand.index]
            for row, adjoint in contribution.items():
                old[row] = _joined(old[row], adjoint) if row in old else adjoint
    return {v.index: {row: _selected(*adjoint) for row, adjoint in known[v.index].items()} for v in variables}


def _contributions(node: Node, adjoints: dict[int, Adjoint],
                   wanted: set[int]) -> Iterable[tuple[Node, dict[int, Adjoint]]]:
    """Contributions of a node's adjoints to each of its operands."""
    operation = OPERATIONS[node.op]
    if operation.branches is not None:
        condition, a, b = operation.branches(*node.args)
        for branch, taken in ((a, condition), (b, RULES["not"](condition))):
            if branch.index in wanted:
                yield branch, {row: (guard | {taken.index: taken}, weight) for row, (guard, weight) in adjoints.items()}
        return
    if node.op == "implied":
        yield followed(node), adjoints
        return
    if node.op == "result":
        yield node.args[0], {(row, node.value): adjoint for row, adjoint in adjoints.items()}  # type: ignore[misc]
        return
    if node.op == "call":
        yield from _called_contributions(node, adjoints, wanted)
        return
    for operand, slope_of in zip(node.args, _slopes(operation), strict=True):
        if operand.index in wanted:
            slope = slope_of(node, *node.args)
            yield operand, {row: (guard, _times(weight, slope)) for row, (guard, weight) in adjoints.items()}


def _called_contributions(node: Node, adjoints: dict[Any, Adjoint],
                          wanted: set[int]) -> Iterable[tuple[Node, dict[int, Adjoint]]]:
    """Contributions of the adjoints of a call's results to its arguments."""
    is_wanted = tuple(operand.index in wanted for operand in node.args)
    operands = [operand for operand, asked in zip(node.args, is_wanted, strict=True) if asked]
    zero = node.graph.constant(0.0)
    guards = {}
    weights = {}
    for row in {row: None for row, _ in adjoints}:
        own = {place: adjoint for (other, place), adjoint in adjoints.items() if other == row}
        guards[row] = guard = reduce(_joined, own.values())[0]
        weights[row] = [
            _selected({i: c for i, c in own[k][0].items() if i not in guard}, own[k][1]) if k in own else zero
            for k in range(node.value.count)]
    for row, slopes in zip(weights, node.value.adjoints(node.args, is_wanted, list(weights.values())), strict=True):
        for operand, slope in zip(operands, slopes, strict=True):
            yield operand, {row: (guards[row], slope)}


def _times(derivative: Node, slope: Node | float) -> Node:
    if isinstance(slope, float) and abs(slope) == 1.0:
        return derivative if slope > 0.0 else -derivative
    return derivative * slope


def _joined(first: Adjoint, second: Adjoint) -> Adjoint:
    """The sum of two adjoints, valid where one of them is."""
    g, a = first
    h, b = second
    if g.keys() == h.keys():
        return g, a + b
    both = {i: g[i] for i in g if i in h}
    only_g, only_h = ({i: guard[i] for i in guard if i not in both} for guard in (g, h))
    if len(only_g) == len(only_h) == 1 and RULES["not"](next(iter(only_g.values()))) is next(iter(only_h.values())):
        return both, RULES["where"](next(iter(only_g.values())), a, b)
    total = _selected(only_g, a) + _selected(only_h, b)
    if not (only_g and only_h):
        return both, total
    either = RULES["or"](_all(only_g), _all(only_h))
    return both | {either.index: either}, total


def _selected(guard: Guard, weight: Node) -> Node:
    return RULES["where"](_all(guard), weight, weight.graph.constant(0.0)) if guard else weight


def _all(guard: Guard) -> Node:
    return reduce(RULES["and"], [guard[i] for i in sorted(guard)])


def _cost(nodes: Sequence[Node]) -> int:
    found = count(Program("", (), (Variable("", (len(nodes),), tuple(nodes)),)))
    return sum(weight * number for weight, number in zip(astuple(_WEIGHTS), astuple(found), strict=True))


def _array(nodes: Sequence[Node], shape: tuple[int, ...]) -> Array:
    array = np.empty(len(nodes), dtype=object)
    array[:] = nodes
    return array.reshape(shape)


def _declared(node: Node) -> Node:
    return node if node.op in ("input", "independent") else node.graph.node("independent", node)


def _graph_of(nodes: Sequence[Node]) -> Graph:
    if not nodes:
        raise UnsupportedError(
            "only symbols can be differentiated: call this inside a traced function, with its arguments as variables")
    return nodes[0].graph


def _checked_variables(variables: Array) -> list[Node]:
    for v in variables.flat:
        if not isinstance(v, Node):
            raise UnsupportedError(
                f"{v!r} is a number: differentiate by arguments of the traced function, or by values declared with "
                "cy.independent")
        if v.op not in ("input", "independent"):
            raise UnsupportedError(
                f"{v!r} is computed, and may have been simplified away in what was computed from it: "
                "write p = cy.independent(p) before using p, then differentiate by p")
    return list(variables.flat)


def _check_name(name: str, known: Sequence[str], kind: str, program: str) -> None:
    if name not in known:
        raise SignatureError(f"{program} has no {kind} {name!r}; it has {', '.join(known)}")


def _ratio(unit: str, by: str) -> str:
    return f"{unit}/{by if by.isalnum() else f'({by})'}" if unit and by and unit != by else ""
