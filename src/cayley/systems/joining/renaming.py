"""Systems under other names: their texts keep their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from cayley.compiler.typing import Scalar, Text
from cayley.errors import SignatureError, check_known
from cayley.systems.friction_and_stops import FrictionAndStops
from cayley.systems.layout import Record, State
from cayley.systems.system import System


def renamed(system: System, names: Mapping[str, str], name: str | None = None) -> System:
    """A system with other names for its blocks, modes, ports and parameters."""
    known = [*system.state, *system.modes, *system.inputs, *system.outputs, *system.parameters]
    check_known(names, known, f"{system.name} has nothing of the name")

    def new(parts: Mapping[str, Any]) -> dict[str, Any]:
        found = {names.get(old, old): value for old, value in parts.items()}
        if len(found) != len(parts):
            raise SignatureError(f"two parts of {system.name} would have the same name: {', '.join(names.values())}")
        return found

    def own_state(x: State) -> State:
        values = {n: x[names.get(n, n)] for n in (*system.state, *system.modes)}
        return State(f"states of {system.name}", values, system.layout.modes)

    def own(t: Scalar, x: State, u: Record, p: Record) -> tuple[Any, State, Record, Record]:
        return (t, own_state(x), system.input_record({n: u[names.get(n, n)] for n in system.inputs}),
                system.parameter_record({n: p[names.get(n, n)] for n in system.parameters}))

    def text(of: Text) -> Text:
        return lambda t, x, u, p: of(*own(t, x, u, p))

    def named(of: Text | None) -> Text | None:
        return None if of is None else lambda *given: new(of(*own(*given)))

    def explained(x: State) -> str | None:
        return system.explain(own_state(x)) if system.explain else None

    def held(part: FrictionAndStops) -> FrictionAndStops:
        return replace(part.within(own), velocity=names.get(part.velocity, part.velocity),
                       position=names.get(part.position, part.position),
                       contacts=part.contacts and part.contacts.renamed(names))

    blocks = {n: replace(block, velocity=names.get(block.velocity, block.velocity)) if block.velocity else block
              for n, block in system.blocks.items()}
    transitions = [replace(transition, guard=text(transition.guard), during=new(transition.during),
                           jump=named(partial(system.blocks_after, transition) if transition.jump else None),
                           to=new(transition.to))
                   for transition in system.transitions]
    return replace(
        system, name=name or system.name, state=new(blocks), inputs=new(system.inputs), outputs=new(system.outputs),
        parameters=new(system.parameters), modes=new(system.modes),
        derivative=named(system.written if system.derivative else None),
        output=named(system.values) if system.outputs else None, power=text(system.power) if system.power else None,
        energy=text(system.energy) if system.energy else None,
        constraints={n: text(phi) for n, phi in system.constraints.items()}, project=named(system.project),
        transitions=transitions, holds=[held(part) for part in system.holds],
        explain=explained, methods={} if names else system.methods)
