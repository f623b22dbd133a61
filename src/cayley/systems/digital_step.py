"""A system as a controller runs it, once a period: what it gives out now, and the state for the next time.

    y = output(t, x, u)        x+ = x + h derivative(t, x, u)
The steps are Euler's, as sampled controllers take them: the integral of an error is exact to the period. Parameters are
constants of the code. In C, a system with a memory has its struct, a function that begins and one for each period
(`compiler.c.c_memory`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from cayley.compiler.c.c_memory import Part, source_with_memory
from cayley.compiler.c.c_source import CSource, c_source
from cayley.compiler.derivatives.iterated_steps import named_kernel
from cayley.compiler.kernel import Kernel
from cayley.compiler.made_once import kept
from cayley.compiler.precision import PRECISION, dtype_name
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import DTypeLike
from cayley.errors import UnsupportedError
from cayley.systems.system import System
from cayley.systems.text_kernels import outputs_depend_on_time, text_arguments


def digital_step(system: System) -> Kernel:
    """`step([t,] [x,] *inputs[, h])`: the outputs, in their order, and the next `x`; the time is an input where the
    system depends on it, the state `x` and the period `h` [s] where it has one."""
    if system.modes or system.transitions or system.constraints:
        raise UnsupportedError(f"{system.name} has modes, transitions or constraints: it is more than one step of a "
                               "controller; `rollout` has C source too")
    return kept(system, "digital step", lambda: _made(system))


def _made(system: System) -> Kernel:
    remembers = bool(system.blocks)
    timed = system.is_timed or outputs_depend_on_time(system)
    memory: dict[str, tuple[int, ...]] = {"x": (system.layout.size,)} if remembers else {}
    shapes = {**({"t": ()} if timed else {}), **memory, **{name: port.shape for name, port in system.ports.items()},
              **({"h": ()} if remembers else {})}
    results = {name: port.shape for name, port in system.output_ports.items()}
    taken = [name for name in ("t", "x", "h") if name in system.ports or name in results]
    if taken:
        raise UnsupportedError(f"{system.name} has a port {taken[0]!r}, which is a word of the step: rename it")

    def text(given: dict[str, Any]) -> tuple[Any, ...]:
        t, x, u, p = text_arguments(system, {"x": np.zeros(0), **given, **{f"u.{n}": given[n] for n in system.ports}})
        found = tuple(system.values(t, x, u, p).values())
        if remembers:
            rates = system.tangents(t, x, u, p)
            h = where(np.isfinite(given["h"]), given["h"], 0.0)  # a period that is no number must not spoil the memory
            moved = system.layout.stepped(x, {name: h * rate for name, rate in rates.items()})
            found = (*found, system.layout.vector(x.replaced(moved)))
        return found

    text.__doc__ = "\n".join(filter(None, (system.about, _parameters(system))))
    units = {name: port.unit for name, port in (*system.ports.items(), *system.output_ports.items())}
    return named_kernel(text, shapes, results | memory, "step", units={"t": "s", "h": "s, the period", **units})


def _parameters(system: System) -> str:
    """The constants of the code, with comments."""
    shown = [f"{name} = {' '.join(np.array2string(np.asarray(value), separator=', ', threshold=20).split())}"
             for name, value in system.parameters.items()]
    return f"With {'; '.join(shown)}." if shown else ""


def controller_source(system: System, name: str, dtype: DTypeLike) -> CSource:
    """The step of a system in C; of one with a state, with its struct and the functions that keep it."""
    real = PRECISION[dtype_name(dtype)]
    program = digital_step(system).program()
    parts = [Part(n, place.start, system.blocks[n].size if system.blocks[n].shape else 0, system.blocks[n].default)
             for n, place in system.layout.places.items()]
    return source_with_memory(program, name, real, "x", parts) if parts else c_source(
        program, name=name, precision=real)
