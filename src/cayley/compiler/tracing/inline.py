"""A program as part of another graph: what happens when a kernel is called while another one is traced."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cayley.compiler.rules.common import number
from cayley.compiler.signature import joined_batch
from cayley.compiler.tracing.calls import Callee, written_out
from cayley.compiler.tracing.graph import Graph, Node, ancestors
from cayley.compiler.tracing.implied_values import build_marked, is_marked
from cayley.compiler.tracing.program import Program, Variable, variable
from cayley.compiler.tracing.symbols import input_symbols, symbols
from cayley.compiler.typing import Array


def inline(program: Program, arguments: Sequence[Array], cores: Sequence[int], *, shared: bool = False) -> list[Array]:
    """The outputs of `program` on arrays of nodes: its operations written out, or calls of it if it is `shared`.

    Axes before the last `cores[k]` of an argument are a batch, and broadcast."""
    arrays = [np.asarray(a, dtype=object).view(np.ndarray) for a in arguments]
    graph = next(x.graph for a in arrays for x in a.flat if isinstance(x, Node))
    batches = [a.shape[:a.ndim - core] for a, core in zip(arrays, cores, strict=True)]
    batch = joined_batch(batches, [v.name for v in program.inputs])
    arrays = [np.broadcast_to(a, batch + a.shape[a.ndim - core:]) for a, core in zip(arrays, cores, strict=True)]
    results = [np.empty(batch + v.shape, dtype=object) for v in program.outputs]
    callee = Callee(program) if shared and not program.is_strict and not is_marked(program) else None
    for state in np.ndindex(batch):
        for result, value in zip(results, _one(program, graph, [a[state] for a in arrays], callee), strict=True):
            result[state] = value if value.shape else value.item()
    return [symbols(r) if r.shape else r.item() for r in results]


def with_own_variables(text: Callable[..., Array], arrays: Sequence[Array]) -> Array:
    """`text(*arrays)`, computed on variables in the place of the arrays (n), which may be constants or equal to one
    another, and then taken at the arrays. The text itself holds symbols of the trace."""
    graph = next(x.graph for a in arrays for x in np.asarray(a, dtype=object).flat if isinstance(x, Node))
    own = [variable(f"own{k}", input_symbols(graph, f"own variable {graph.size}.{k}", (len(a),)), graph)
           for k, a in enumerate(arrays)]
    result = variable("out", text(*[symbols(v.array) for v in own]), graph)
    variables = {node.index for v in own for node in v.nodes}
    held = [node for node in ancestors(result.nodes) if node.op == "input" and node.index not in variables]
    outer = Variable("held", (len(held),), tuple(held))
    return inline(Program("own", (*own, outer), (result,)), [*arrays, outer.array], [1] * (len(own) + 1))[0]


def _one(program: Program, graph: Graph, arguments: Sequence[Array], callee: Callee | None) -> list[Array]:
    given = [number(graph.lift(x)) for argument in arguments for x in np.asarray(argument, dtype=object).flat]
    found = iter(callee(given) if callee and any(x.op != "constant" for x in given)
                 else written_out(program, given, graph, build_marked))
    results = []
    for v in program.outputs:
        array = np.empty(len(v.nodes), dtype=object)
        array[:] = [next(found) for _ in v.nodes]
        results.append(array.reshape(v.shape))
    return results
