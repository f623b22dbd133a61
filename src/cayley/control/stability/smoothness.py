"""Test of whether a function has the derivative at the origin that its formulas give: not where one of its pieces ends
there.

Comparisons, signs and roundings have no derivative of their own, and formulas are those of the piece that the origin
counts to. Other pieces begin there if one of these operations has another value close by. Each combination of the
values that are seen around the origin is a piece that may begin there: if value and derivatives at the origin are the
same for all of them, they are those of the function; otherwise it has a kink there, or jumps.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from cayley.compiler.algebras.packages import NUMPY
from cayley.compiler.kernel import Kernel
from cayley.compiler.operations import CALLS, OPERATIONS
from cayley.compiler.tracing.program import Program
from cayley.compiler.typing import Array

_Place: TypeAlias = tuple[int, ...]  # the number of a node, after those of the calls around it

_NEARBY = 1e-9
_LOOKS = 64
_MOST_PIECES = 512
_SAME = 1e-6  # relative: what differs by more over so short a way has jumped
_BRANCHED = frozenset({"arctan2"})  # continuous in its table, but for its cut


def jumps_anywhere(program: Program) -> bool:
    """True if any operation of a program is not continuous in its operands."""
    return any(node.op in _BRANCHED or OPERATIONS[node.op].jumps or (
        node.op == "call" and jumps_anywhere(node.value.program)) for node in program.nodes)


def is_smooth(function: Kernel) -> bool:
    """True if a kernel of one vector has its derivative at the origin.

    >>> import cayley as cy
    >>> is_smooth(cy.kernel("(1)->(1)", inputs=("d",))(lambda d: d * abs(d)))
    True
    >>> is_smooth(cy.kernel("(1)->(1)", inputs=("d",))(lambda d: d + abs(d)))
    False
    """
    return all(_is_one_piece(made.program()) for made in (function, function.jacobian(function.inputs[0])))


def _is_one_piece(program: Program) -> bool:
    """True if the results of a program are the same at the origin by all pieces that may begin there."""
    n = len(program.inputs[0].nodes)
    ways = np.random.default_rng(0).normal(size=(_LOOKS, n))
    around = np.concatenate([np.zeros((1, n)), np.eye(n), -np.eye(n), ways, -ways])
    seen: dict[_Place, Array] = {}
    with np.errstate(all="ignore"):
        _results(program, list(_NEARBY * around.T), {}, seen)
        ends = {place: np.unique(values) for place, values in seen.items() if _differ(values)}
        if not ends:
            return True
        if np.prod([float(len(values)) for values in ends.values()]) > _MOST_PIECES:
            return False
        pieces = np.array(list(product(*ends.values())), dtype=float)
        chosen = dict(zip(ends, pieces.T, strict=True))
        found = _results(program, [np.zeros(len(pieces))] * n, chosen, {})
    return not any(_differ(np.atleast_1d(np.asarray(result, dtype=float))) for result in found)


def _differ(values: Array) -> bool:
    return not bool(np.ptp(values) <= _SAME * max(1.0, float(np.abs(values).max())))


def _results(program: Program, inputs: list[Any], chosen: Mapping[_Place, Array], seen: dict[_Place, Array],
             within: _Place = ()) -> list[Any]:
    """The results of a program; of operations that jump the values are those that are chosen, and told."""
    table = {op: NUMPY.function(op) for op in {node.op for node in program.nodes} - {"input", "constant"} - CALLS}
    values = dict(zip((node.index for v in program.inputs for node in v.nodes), inputs, strict=True))
    for node in program.nodes[len(values):]:
        operands = [values[a.index] for a in node.args]
        place = (*within, node.index)
        if node.op == "constant":
            values[node.index] = np.float64(node.value)
        elif node.op == "call":
            values[node.index] = _results(node.value.program, operands, chosen, seen, place)
        elif node.op == "result":
            values[node.index] = operands[0][node.value]
        else:
            values[node.index] = table[node.op](*operands)
            if node.op in _BRANCHED or OPERATIONS[node.op].jumps:
                if place in chosen:
                    values[node.index] = chosen[place] > 0.5 if OPERATIONS[node.op].is_truth else chosen[place]
                seen[place] = np.atleast_1d(np.asarray(values[node.index], dtype=float))
    return [values[node.index] for node in program.results]
