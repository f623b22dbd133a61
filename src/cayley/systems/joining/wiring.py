"""Wiring of connected systems: the output that drives each input, and the order in which outputs are evaluated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from cayley.compiler.solving.strongly_connected import strongly_connected
from cayley.errors import ConventionError, SignatureError, did_you_mean, warn_user
from cayley.systems.ports import Port
from cayley.systems.system import System


class PortPlace(NamedTuple):
    """A port: the number of its system, and its name there."""

    system: int
    port: str


class Wiring:
    """The output that drives each input, and the order of evaluation."""

    def __init__(self, parts: Sequence[System], wires: Mapping[str, str], solve_loops: bool) -> None:
        self.parts = parts
        if not parts:
            raise SignatureError("there are no systems to connect")
        _unique([part.name for part in parts], "systems", "give one of them another name with `renamed({}, name)`")
        _unique([n for part in parts for n in (*part.state, *part.modes)], "states", "rename one with `renamed`")
        _unique([n for part in parts for n in part.parameters], "parameters", "rename one with `renamed`")
        _unique([n for part in parts for n in part.outputs],
                "outputs, so that an input of that name would be driven twice", "rename one with `renamed`")
        self.driven_by = self._drivers(wires)
        self.inputs = self._left()
        self._look_for_idle()
        self.order, self.loops = self._order()
        if self.loops and not solve_loops:
            listed = "; ".join(" -> ".join(self.called(place) for place in (*loop, loop[0])) for loop in self.loops)
            raise ConventionError(
                f"an algebraic loop: these outputs depend on each other directly: {listed}. Put a state between them "
                "(a filter, a delay), or ask for it to be solved with solve_loops=True")

    # Who drives whom

    def _drivers(self, wires: Mapping[str, str]) -> dict[PortPlace, PortPlace]:
        outputs = {n: PortPlace(k, n) for k, part in enumerate(self.parts) for n in part.outputs}
        found = {}
        for entry, exit in wires.items():
            place = self._place(entry, "input")
            if place in found:
                raise SignatureError(f"the input {self.called(place)} is driven twice by the wires")
            found[place] = self._place(exit, "output")
        for k, part in enumerate(self.parts):
            for n in part.inputs:
                if n in outputs and outputs[n].system != k and PortPlace(k, n) not in found:
                    found[PortPlace(k, n)] = outputs[n]
        for entry_place, exit_place in found.items():
            self._check(entry_place, self.port(entry_place, "input"), exit_place, self.port(exit_place, "output"))
        return found

    def _place(self, given: str, kind: str) -> PortPlace:
        places = {PortPlace(k, n) for k, part in enumerate(self.parts) for n in self._ports(part, kind)}
        named = {f"{self.parts[place.system].name}.{place.port}": place for place in places}
        found = [named[given]] if given in named else [place for place in places if place.port == given]
        if len(found) == 1:
            return found[0]
        if found:
            raise SignatureError(f"several systems have an {kind} {given!r}: write "
                                 f"{' or '.join(sorted(label for label, place in named.items() if place in found))}")
        listed = f"; there are {', '.join(sorted(named)) or 'none'}"
        raise SignatureError(f"a wire names the {kind} {given!r}, which no system has"
                             f"{did_you_mean(given, named, otherwise=listed)}")

    @staticmethod
    def _ports(part: System, kind: str) -> dict[str, Port]:
        return part.ports if kind == "input" else part.output_ports

    def port(self, place: PortPlace, kind: str) -> Port:
        return self._ports(self.parts[place.system], kind)[place.port]

    def called(self, place: PortPlace) -> str:
        return f"{self.parts[place.system].name}.{place.port}"

    def _check(self, entry: PortPlace, wanted: Port, exit: PortPlace, given: Port) -> None:
        if wanted.shape != given.shape:
            raise SignatureError(f"{self.called(exit)} has the shape {given.shape}, and drives {self.called(entry)}, "
                                 f"which has {wanted.shape}")
        if wanted.unit and given.unit and wanted.unit != given.unit:
            raise SignatureError(f"{self.called(exit)} is in {given.unit}, and drives {self.called(entry)}, which is "
                                 f"in {wanted.unit}: convert between them, or leave one unit out")

    def _left(self) -> dict[str, Port]:
        """The inputs that nothing drives; several systems may take the same."""
        found: dict[str, tuple[PortPlace, Port]] = {}
        for k, part in enumerate(self.parts):
            for n, port in part.ports.items():
                place = PortPlace(k, n)
                if place in self.driven_by:
                    continue
                if n in found:
                    self._check(place, port, *found[n])
                else:
                    found[n] = (place, port)
        return {n: port for n, (_, port) in found.items()}

    def _look_for_idle(self) -> None:
        """Warn of what is there to act, and looks at something that moves, but drives nothing."""
        taken = set(self.driven_by.values())
        waiting = [self.called(PortPlace(k, n)) for k, part in enumerate(self.parts) for n in part.ports
                   if PortPlace(k, n) not in self.driven_by and not part.acts]
        for k, part in enumerate(self.parts):
            ports = [PortPlace(k, n) for n in part.ports]
            looks_at = {self.driven_by[place].system for place in ports if place in self.driven_by}
            if part.acts and not any(PortPlace(k, n) in taken for n in part.outputs) and any(
                    self.parts[other].state for other in looks_at):
                left = f", while nothing drives {', '.join(waiting)}" if waiting else ""
                warn_user(
                    f"nothing takes {' or '.join(self.called(PortPlace(k, n)) for n in part.outputs)}{left}: put what "
                    "turns the one into the other between them (motors take voltages), let the mechanism take it "
                    "(arm.system(wrenches=[frame])), or join them with `wires`")

    # The order of evaluation

    def _order(self) -> tuple[list[list[PortPlace]], list[list[PortPlace]]]:
        """The outputs in groups, each after those that it needs; a group of more than one, or one that needs itself, is
        an algebraic loop."""
        needs = {PortPlace(k, n): [self.driven_by[PortPlace(k, entry)] for entry in part.feedthrough[n]
                               if PortPlace(k, entry) in self.driven_by]
                 for k, part in enumerate(self.parts) for n in part.outputs}
        groups = strongly_connected(needs)
        return groups, [group for group in groups if len(group) > 1 or group[0] in needs[group[0]]]


def _unique(names: Iterable[str], what: str, advice: str) -> None:
    seen = set()
    for name in names:
        if name in seen:
            raise SignatureError(f"{name!r} is the name of two {what}: {advice}")
        seen.add(name)
