"""Dependence of the results of a text on its arguments, found on the graph of the traced text."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.signature import Signature, spell
from cayley.compiler.tracing.graph import ancestors
from cayley.compiler.tracing.trace import trace
from cayley.compiler.typing import Array, Scalar
from cayley.systems.layout import as_vector, joined
from cayley.systems.system import System
from cayley.systems.text_kernels import text_arguments, text_shapes

Texts = Callable[..., dict[str, Array]]


def feedthrough(system: System) -> dict[str, tuple[str, ...]]:
    """For each output the inputs that it depends on directly."""
    return {output: tuple(name for name in system.inputs if f"u.{name}" in on)
            for output, on in _of_outputs(system).items()}


def outputs_depend_on_time(system: System) -> bool:
    """True if an output depends on the time itself."""
    return any("t" in on for on in _of_outputs(system).values())


def _of_outputs(system: System) -> dict[str, set[str]]:
    if system.output is None:
        return {name: {"x"} for name in system.outputs}
    return kept(system, "dependence of outputs", lambda: dependence(system, system.values))


def depends_on_time(system: System) -> bool:
    """True if derivative, power, constraints or transitions depend on the time itself."""
    def everything(t: Scalar, x: Scalar, u: Scalar, p: Scalar) -> dict[str, Array]:
        parts = [*system.tangents(t, x, u, p).values(), *([system.power(t, x, u, p)] if system.power else [])]
        parts += [phi(t, x, u, p) for phi in system.constraints.values()]
        for transition in system.transitions:
            parts.append(transition.guard(t, x, u, p))
            parts.append(system.layout.vector(system.jumped(transition, t, x, u, p)))
        return {"everything": joined([as_vector(part) for part in parts])}

    return "t" in dependence(system, everything)["everything"]


def dependence(system: System, text: Texts) -> dict[str, set[str]]:
    """For each result of a text (t, x, u, p) the arguments on which it depends: "t", "x", "u.<input>",
    "p.<parameter>"."""
    shapes = text_shapes(system)
    labels: list[str] = []
    sizes: list[int] = []

    def all_in_one(*arguments: Scalar) -> Array:
        returned = text(*text_arguments(system, dict(zip(shapes, arguments, strict=True))))
        found = {name: as_vector(value) for name, value in returned.items()}
        labels.extend(found)
        sizes.extend(len(value) for value in found.values())
        return joined(list(found.values()))

    signature = Signature.parse(f"{','.join(map(spell, shapes.values()))}->(results)")
    program = trace(all_in_one, signature, {}, name=system.name, inputs=list(shapes))
    owner = {node.index: variable.name for variable in program.inputs for node in variable.nodes}
    nodes = program.outputs[0].nodes
    ends = np.cumsum([0, *sizes])
    return {label: {owner[node.index] for node in ancestors(nodes[a:b]) if node.index in owner}
            for label, a, b in zip(labels, ends[:-1], ends[1:], strict=True)}
