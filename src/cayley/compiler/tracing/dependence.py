"""Dependence of the results of a function on its arguments, by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from cayley.compiler.array_parts import as_vector, joined
from cayley.compiler.signature import Signature, spell
from cayley.compiler.tracing.graph import ancestors
from cayley.compiler.tracing.trace import trace
from cayley.compiler.typing import Array, Scalar


def dependence(text: Callable[[dict[str, Array]], Mapping[str, Array]], shapes: Mapping[str, tuple[int, ...]],
               name: str) -> dict[str, set[str]]:
    """For each result of a function of arrays by name, of these shapes, the names of those on which it depends."""
    found: dict[str, Array] = {}

    def all_in_one(*arguments: Scalar) -> Array:
        returned = text(dict(zip(shapes, arguments, strict=True)))
        found.update({label: as_vector(value) for label, value in returned.items()})
        return joined([*found.values()])

    signature = Signature.parse(f"{','.join(map(spell, shapes.values()))}->(results)")
    program = trace(all_in_one, signature, {}, name=name, inputs=list(shapes))
    owner = {node.index: variable.name for variable in program.inputs for node in variable.nodes}
    ends = np.cumsum([0, *map(len, found.values())])
    return {label: {owner[node.index] for node in ancestors(program.outputs[0].nodes[a:b]) if node.index in owner}
            for label, a, b in zip(found, ends[:-1], ends[1:], strict=True)}
