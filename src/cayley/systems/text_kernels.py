"""Kernels of the texts of a system, over (t, x, inputs, parameters)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept_with_owner
from cayley.compiler.signature import spell
from cayley.compiler.typing import Array, Scalar
from cayley.systems.layout import State
from cayley.systems.record import Record
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

    def flat(*arguments: Scalar) -> Scalar:
        given = dict(zip(shapes, arguments, strict=True))
        found = text(*text_arguments(system, given), *[given[n] for n in others])
        return found if len(found) > 1 else found[0]

    signature = f"{','.join(map(spell, shapes.values()))}->{','.join(map(spell, results))}"
    return kernel(signature, name=name, inputs=list(shapes))(flat)


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
