"""A system as a controller runs it, once a period: what it gives out now, and the state for the next time.

    y = output(t, x, u)        x+ = x + h derivative(t, x, u)
The steps are Euler's, as sampled controllers take them: the integral of an error is exact to the period. Parameters are
constants of the code. In C, a system with a memory has its struct, a function that begins and one for each period:

    law_state arm;  law_init(&arm);        every period:  law_step(&arm, q, qd, target, target_qd, 1e-3f, tau);
A block of the state that has no value to begin with is an argument of `law_init`. The caller has the struct.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cayley.compiler.c.c_expressions import helper_names
from cayley.compiler.c.c_source import CNames, CSource, c_dialect, c_source, declared, parameter_names, spelled
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.precision import PRECISION, dtype_name
from cayley.compiler.signature import spell
from cayley.compiler.tracing.names import FOR_PARAMETERS, identifier, unique
from cayley.compiler.tracing.program import Program
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import DTypeLike, Scalar
from cayley.errors import UnsupportedError
from cayley.systems.dependence import outputs_depend_on_time
from cayley.systems.ports import Block
from cayley.systems.system import System


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
    shapes: dict[str, tuple[int, ...]] = {
        **({"t": ()} if timed else {}), **({"x": (system.layout.size,)} if remembers else {}),
        **{name: port.shape for name, port in system.ports.items()}, **({"h": ()} if remembers else {})}
    results = {name: port.shape for name, port in system.output_ports.items()}
    taken = [name for name in ("t", "x", "h") if name in system.ports or name in results]
    if taken:
        raise UnsupportedError(f"{system.name} has a port {taken[0]!r}, which is a word of the step: rename it")

    def text(*arguments: Scalar) -> Any:  # noqa: ANN401 (an array, or a tuple of them)
        given = dict(zip(shapes, arguments, strict=True))
        t = given.get("t", 0.0)
        x = system.layout.state(given["x"]) if remembers else system.layout.state(np.zeros(0))
        u = system.input_record({name: given[name] for name in system.ports})
        p = system.parameter_record({})
        found = tuple(system.values(t, x, u, p).values())
        if remembers:
            rates = system.tangents(t, x, u, p)
            h = where(np.isfinite(given["h"]), given["h"], 0.0)  # a period that is no number must not spoil the memory
            moved = system.layout.stepped(x, {name: h * rate for name, rate in rates.items()})
            found = (*found, system.layout.vector(x.replaced(moved)))
        return found if len(found) > 1 else found[0]

    every = [*results.values(), *([(system.layout.size,)] if remembers else [])]
    signature = f"{','.join(map(spell, shapes.values()))}->{','.join(map(spell, every))}"
    text.__doc__ = "\n".join(filter(None, (system.about, _parameters(system))))
    units = {name: port.unit for name, port in (*system.ports.items(), *system.output_ports.items())}
    return kernel(signature, name="step", inputs=list(shapes), outputs=(*results, *(["x"] if remembers else [])),
                  units={"t": "s", "h": "s, the period", **units})(text)


def _parameters(system: System) -> str:
    """The constants of the code, with comments."""
    shown = [f"{name} = {' '.join(np.array2string(np.asarray(value), separator=', ', threshold=20).split())}"
             for name, value in system.parameters.items()]
    return f"With {'; '.join(shown)}." if shown else ""


def controller_source(system: System, name: str, dtype: DTypeLike) -> CSource:
    """The step of a system in C; of one with a state, with its struct and the functions that keep it."""
    real = PRECISION[dtype_name(dtype)]
    program = digital_step(system).program()
    function = c_source(program, name=name, precision=real)
    if not system.blocks:
        return function
    kept = _KeptState(system, program, function.name, real)
    return function.extended(kept.header, kept.source)


@dataclass(frozen=True)
class _KeptState:
    """The C text for a state that is kept between periods."""

    system: System
    program: Program
    called: str
    real: str

    @cached_property
    def names(self) -> CNames:
        return parameter_names(self.program, taken=helper_names(self.called))

    @cached_property
    def place(self) -> int:
        """The number of the input that is the state."""
        return [variable.name for variable in self.program.inputs].index("x")

    @cached_property
    def state(self) -> str:
        return unique("state", [*self.names.inputs, *self.names.outputs, *helper_names(self.called)])

    @cached_property
    def index(self) -> str:
        return unique("i", [*self.names.inputs, *self.names.outputs, *self.fields.values(), self.state])

    @cached_property
    def fields(self) -> dict[str, str]:
        """The blocks as members of the struct, and as arguments of the function that begins."""
        made: dict[str, str] = {}
        for name in self.system.blocks:
            made[name] = identifier(name, FOR_PARAMETERS, [*made.values(), self.state])
        return made

    @property
    def begin(self) -> str:
        """The prototype of the function that begins."""
        given = [f"const {self.real} {self.fields[name]}[{block.size}]" if block.shape
                 else f"{self.real} {self.fields[name]}" for name, block in self.system.blocks.items()
                 if block.default is None]
        return declared(f"{self.called}_init", [f"{self.called}_state *{self.state}", *given])

    @property
    def step(self) -> str:
        """The prototype of the function for each period."""
        each = spelled(self.program, self.names, self.real)
        return declared(f"{self.called}_step", [f"{self.called}_state *{self.state}", *each.inputs[:self.place],
                                                *each.inputs[self.place + 1:], *each.outputs[:-1]])

    @property
    def header(self) -> str:
        members = [f"    {self.real} {self.fields[name]}{f'[{block.size}]' if block.shape else ''};"
                   for name, block in self.system.blocks.items()]
        return "\n".join([
            f"/* The memory of one {self.called}, which the caller keeps. */", "typedef struct {", *members,
            f"}} {self.called}_state;", "", "/* Before the first period. */", f"{self.begin};", "",
            f"/* Once a period: {self.called}, with the state that it left the last time. */",
            f"{self.step};", ""])

    @property
    def source(self) -> str:
        blocks = self.system.blocks
        places = self.system.layout.places
        vector = self.names.inputs[self.place]
        first = []
        into = []
        back = []
        for name, block in blocks.items():
            kept = f"{self.state}->{self.fields[name]}"
            start = self.fields[name] if block.default is None else c_dialect(self.real).number(block.default)
            first.append(self._assigned(block, kept, start, constant=block.default is not None))
            into.append(self._assigned(block, f"{vector}", kept, to=places[name].start))
            back.append(self._assigned(block, kept, f"{vector}", start=places[name].start))
        call = f"{self.called}({', '.join([*self.names.inputs, *self.names.outputs[:-1], vector])});"
        room = f"{self.real} {vector}[{self.system.layout.size}];"
        return f"{_function(self.begin, first)}\n{_function(self.step, [room, *into, call, *back])}"

    def _assigned(self, block: Block, left: str, right: str, *, to: int | None = None, start: int | None = None,
                  constant: bool = False) -> str:
        """One number, or each of a block; `to` and `start` are where the block begins in the vector of the state."""
        counted = self.index if block.shape else ""
        target = _entry(left, counted, to)
        source = right if constant else _entry(right, counted, start)
        one = f"{target} = {source};"
        return f"for (int {self.index} = 0; {self.index} < {block.size}; ++{self.index}) {one}" if counted else one


def _entry(array: str, counted: str, offset: int | None) -> str:
    """An entry of an array that begins at an offset, or a number that stands alone."""
    parts = [part for part in (str(offset) if offset or (offset is not None and not counted) else "", counted) if part]
    return f"{array}[{' + '.join(parts)}]" if parts else array


def _function(prototype: str, lines: Sequence[str]) -> str:
    inside = "".join(f"    {line}\n" for line in lines)
    return f"{prototype}\n{{\n{inside}}}\n"
