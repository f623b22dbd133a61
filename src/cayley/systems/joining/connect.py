"""Systems joined by the names of their ports are a system.

An output drives every input of its name in other systems; `wires` join ports of different names. The inputs that are
left, and all outputs, are those of the whole; inputs of one name are one input. Outputs are evaluated in the order in
which they depend on each other directly."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Protocol

from cayley.errors import SignatureError
from cayley.explained_calls import explained
from cayley.systems.joining.connected import Connected
from cayley.systems.joining.wiring import Wiring
from cayley.systems.system import System


class HasSystem(Protocol):
    """An object that has a system, such as a mechanism."""

    def system(self) -> System: ...


@explained
def connect(*systems: System | HasSystem, name: str | None = None, wires: Mapping[str, str] | None = None,
            solve_loops: bool = False) -> System:
    """Connect systems by the names of their ports: outputs drive the inputs of the same name.

    `wires` joins what has different names: {"motor.speed": "arm.qd"}, input by output, each with the name of its
    system, or without where only one has such a port. Shapes and units must agree. Outputs that depend on each other
    directly, all the way round, are an algebraic loop: an error, or with `solve_loops` solved by Newton's method.

    >>> plant = System("plant", state={"y": "m"}, inputs={"force": "N"}, derivative=lambda t, x, u, p: u.force)
    >>> law = System("law", inputs={"y": "m", "target": "m"}, outputs={"force": "N"},
    ...              output=lambda t, x, u, p: 3.0 * (u.target - u.y))
    >>> connect(plant, law)
    <system plant + law: state y; inputs target; outputs y, force>
    """
    parts = [part if isinstance(part, System) else part.system() for part in systems]
    wiring = Wiring(parts, dict(wires or {}), solve_loops)
    return Connected(wiring).whole(name or " + ".join(part.name for part in parts))


@explained
def series(*systems: System | HasSystem, name: str | None = None) -> System:
    """Systems one after the other: the outputs of each drive the inputs of the next, in their order.

    >>> lag = System("lag", state={"y": ""}, inputs={"u": ""}, derivative=lambda t, x, u, p: u.u - x.y)
    >>> series(lag, lag.renamed({"y": "z", "u": "v"}, "second"))
    <system lag + second: state y, z; inputs u; outputs y, z>
    """
    parts = [part if isinstance(part, System) else part.system() for part in systems]
    wires: dict[str, str] = {}
    for one, next_one in pairwise(parts):
        if len(one.outputs) != len(next_one.inputs):
            raise SignatureError(f"{one.name} has the outputs {', '.join(one.outputs)}, and {next_one.name} the inputs "
                                 f"{', '.join(next_one.inputs) or 'none'}: in a series these are as many")
        wires |= {f"{next_one.name}.{after}": f"{one.name}.{before}"
                  for before, after in zip(one.outputs, next_one.inputs, strict=True)}
    return connect(*parts, name=name, wires=wires)


@explained
def feedback(forward: System | HasSystem, back: System | HasSystem | None = None, *, sign: int = -1,
             reference: str = "reference", name: str | None = None) -> System:
    """The loop of a system with one input and one output, which is fed back, through another system if one is given,
    and added with the `sign` to the input `reference`.

    >>> lag = System("lag", state={"y": ""}, inputs={"u": ""}, derivative=lambda t, x, u, p: u.u - x.y)
    >>> feedback(lag).linearize({"y": 0.0}, {"reference": 0.0}).A
    array([[-2.]])
    """
    first = forward if isinstance(forward, System) else forward.system()
    parts = [first, *([] if back is None else [back if isinstance(back, System) else back.system()])]
    for part in parts:
        if len(part.inputs) != 1 or len(part.outputs) != 1:
            ports = f"{', '.join(part.inputs) or 'none'} and {', '.join(part.outputs) or 'none'}"
            raise SignatureError("feedback is for systems of one input and one output; "
                                 f"{part.name} has {ports}: use `connect`")
    entry, = first.inputs
    exit, = parts[-1].outputs
    port = first.ports[entry]
    adder = System(f"sum at {entry}", inputs={reference: port, "returned": port}, outputs={"error": port},
                   output=lambda t, x, u, p: u[reference] + sign * u["returned"])
    wires = {f"{first.name}.{entry}": f"{adder.name}.error", f"{adder.name}.returned": f"{parts[-1].name}.{exit}"}
    if back is not None:
        middle, = parts[1].inputs
        wires[f"{parts[1].name}.{middle}"] = f"{first.name}.{next(iter(first.outputs))}"
    return connect(*parts, adder, name=name, wires=wires)
