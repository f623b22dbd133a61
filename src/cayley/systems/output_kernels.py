"""Kernels of what a system says besides its derivative, over (t, x, inputs, parameters)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.signature import spell
from cayley.compiler.typing import Array, Scalar
from cayley.systems.system import System


def output_kernel(system: System) -> Kernel:
    """All outputs."""
    shapes = [port.shape for port in system.output_ports.values()]
    return kept(system, "outputs", lambda: text_kernel(
        system, lambda *given: tuple(system.values(*given).values()), shapes, "outputs"))


def without_value(system: System, t: float, x: Array, inputs: Mapping[str, Array],
                  parameters: Mapping[str, Array]) -> str:
    """The outputs that are no numbers at a state (n), in words; nothing if all are, or if the state itself is none."""
    if not system.outputs or not np.isfinite(x).all():
        return ""
    own = [parameters.get(n, value) for n, value in system.parameters.items()]
    found = output_kernel(system)(t, x, *[inputs[n] for n in system.inputs], *own)
    values = dict(zip(system.outputs, found if len(system.outputs) > 1 else [found], strict=True))
    names = [n for n, value in values.items() if not np.isfinite(value).all()]
    loop = "; if they depend on each other directly, that algebraic loop has no solution that Newton's method finds"
    return f"the {'outputs' if names[1:] else 'output'} {', '.join(names)} {'have' if names[1:] else 'has'} no value " \
           f"there{loop}" if names else ""


def energy_kernel(system: System) -> Kernel:
    """The stored energy [J]."""
    energy = system.energy
    assert energy is not None
    return kept(system, "energy", lambda: text_kernel(system, lambda *given: (energy(*given),), [()], "energy"))


def text_kernel(system: System, text: Callable[..., tuple[Any, ...]], results: list[tuple[int, ...]],
                name: str) -> Kernel:
    """The kernel of a text (t, x, u, p), called with (t, x, *inputs, *parameters)."""
    shapes = {"t": (), "x": (system.layout.size,), **{f"u.{n}": port.shape for n, port in system.ports.items()},
              **{f"p.{n}": np.shape(value) for n, value in system.parameters.items()}}

    def flat(*arguments: Scalar) -> Scalar:
        given = dict(zip(shapes, arguments, strict=True))
        u = system.input_record({n: given[f"u.{n}"] for n in system.inputs})
        p = system.parameter_record({n: given[f"p.{n}"] for n in system.parameters})
        found = text(given["t"], system.layout.state(given["x"]), u, p)
        return found if len(found) > 1 else found[0]

    signature = f"{','.join(map(spell, shapes.values()))}->{','.join(map(spell, results))}"
    return kernel(signature, name=name, inputs=list(shapes))(flat)
