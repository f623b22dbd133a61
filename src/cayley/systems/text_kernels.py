"""Kernels of the texts of a system, over (t, x, inputs, parameters), and what the results of a text depend on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cayley.compiler.array_parts import as_vector, joined
from cayley.compiler.derivatives.iterated_steps import named_kernel
from cayley.compiler.kernel import Kernel
from cayley.compiler.made_once import kept_with_owner
from cayley.compiler.tracing import dependence as traced
from cayley.compiler.typing import Array, Scalar
from cayley.systems.layout import Record, State
from cayley.systems.system import System

Shapes = Mapping[str, tuple[int, ...]]


def text_shapes(system: System) -> dict[str, tuple[int, ...]]:
    """The shapes of the arguments of a text: "t", "x", "u.<input>", "p.<parameter>"."""
    return {"t": (), "x": (system.layout.size,), **{f"u.{n}": port.shape for n, port in system.ports.items()},
            **{f"p.{n}": np.shape(value) for n, value in system.parameters.items()}}


def text_arguments(system: System, given: Mapping[str, Array]) -> tuple[Scalar, State, Record, Record]:
    """The arguments (t, x, u, p) of a text, from arrays by the names of `text_shapes`; parameters that are not among
    them have their own values."""
    return (given.get("t", 0.0), system.layout.state(given["x"]),
            system.input_record({n: given[f"u.{n}"] for n in system.inputs}),
            system.parameter_record({n: given[f"p.{n}"] for n in system.parameters if f"p.{n}" in given}))


def text_kernel(system: System, text: Callable[..., tuple[Any, ...]], results: list[tuple[int, ...]], name: str,
                more: Shapes | None = None, *, timed: bool = True) -> Kernel[Any]:
    """The kernel of a text (t, x, u, p, *more), called with (t, x, *inputs, *parameters, *more); without the time if it
    is not `timed`."""
    others = more or {}
    shapes = {n: shape for n, shape in {**text_shapes(system), **others}.items() if timed or n != "t"}

    def by_name(given: dict[str, Any]) -> tuple[Any, ...]:
        return text(*text_arguments(system, given), *[given[n] for n in others])

    return named_kernel(by_name, shapes, results, name)


@kept_with_owner
def output_kernel(system: System) -> Kernel:
    """All outputs."""
    shapes = [port.shape for port in system.output_ports.values()]
    return text_kernel(system, lambda *given: tuple(system.values(*given).values()), shapes, "outputs")


@kept_with_owner
def energy_kernel(system: System) -> Kernel:
    """The stored energy [J]."""
    energy = system.energy
    assert energy is not None
    return text_kernel(system, lambda *given: (energy(*given),), [()], "energy")


Texts = Callable[..., dict[str, Array]]


def feedthrough(system: System) -> dict[str, tuple[str, ...]]:
    """For each output the inputs that it depends on directly."""
    return {output: tuple(name for name in system.inputs if f"u.{name}" in on)
            for output, on in _of_outputs(system).items()}


def outputs_depend_on_time(system: System) -> bool:
    """True if an output depends on the time itself."""
    return any("t" in on for on in _of_outputs(system).values())


@kept_with_owner
def _of_outputs(system: System) -> dict[str, set[str]]:
    if system.output is None:
        return {name: {"x"} for name in system.outputs}
    return dependence(system, system.values)


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
    return traced.dependence(lambda given: text(*text_arguments(system, given)), text_shapes(system), system.name)
