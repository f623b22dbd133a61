"""A program as part of another graph: what happens when a kernel is called while another one is traced."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayley.compiler.graph import Graph, Node
from cayley.compiler.implied import build_marked
from cayley.compiler.program import Program
from cayley.compiler.signature import joined_batch
from cayley.compiler.symbols import symbols


def inline(program: Program, arguments: Sequence[np.ndarray], cores: Sequence[int]) -> list[np.ndarray]:
    """The outputs of `program` on arrays of nodes.

    Axes before the last `cores[k]` of an argument are a batch, and broadcast.
    """
    arrays = [np.asarray(a, dtype=object).view(np.ndarray) for a in arguments]
    graph = next(x.graph for a in arrays for x in a.flat if isinstance(x, Node))
    batches = [a.shape[:a.ndim - core] for a, core in zip(arrays, cores, strict=True)]
    batch = joined_batch(batches, [v.name for v in program.inputs])
    arrays = [np.broadcast_to(a, batch + a.shape[a.ndim - core:]) for a, core in zip(arrays, cores, strict=True)]
    results = [np.empty(batch + v.shape, dtype=object) for v in program.outputs]
    for state in np.ndindex(batch):
        for result, value in zip(results, _one(program, graph, [a[state] for a in arrays]), strict=True):
            result[state] = value if value.shape else value.item()
    return [symbols(r) if r.shape else r.item() for r in results]


def _one(program: Program, graph: Graph, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
    made: dict[int, Node] = {}
    for v, argument in zip(program.inputs, arguments, strict=True):
        made.update((node.index, graph.lift(x))
                    for node, x in zip(v.nodes,
                                       np.asarray(argument, dtype=object).flat, strict=True))
    for node in program.nodes:
        if node.op == "constant":
            made[node.index] = graph.constant(node.value)
        elif node.op != "input":
            made[node.index] = build_marked(node, [made[a.index] for a in node.args])
    results = []
    for v in program.outputs:
        array = np.empty(len(v.nodes), dtype=object)
        array[:] = [made[node.index] for node in v.nodes]
        results.append(array.reshape(v.shape))
    return results
