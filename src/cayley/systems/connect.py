"""Systems joined by the names of their ports are a system.

An output drives every input of its name; `wires` join ports of different names. The inputs that are left, and all
outputs, are those of the whole; inputs of one name are one input. Outputs are evaluated in the order in which they
depend on each other directly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from cayley.compiler.roots import newton
from cayley.compiler.typing import Array, Scalar
from cayley.errors import ConventionError, SignatureError
from cayley.systems.dependence import outputs_depend_on_time
from cayley.systems.layout import State, as_vector, joined
from cayley.systems.ports import Port
from cayley.systems.record import Record
from cayley.systems.system import System
from cayley.systems.transitions import Transition
from cayley.wording import did_you_mean


class HasSystem(Protocol):
    """A mechanism, say: what can be told to be a system."""

    def system(self) -> System: ...


class Place(NamedTuple):
    """A port: the number of its system, and its name there."""

    system: int
    port: str


def connect(*systems: System | HasSystem, name: str | None = None, wires: Mapping[str, str] | None = None,
            solve_loops: bool = False) -> System:
    """The system that some systems make when they are joined by the names of their ports.

    `wires` joins what has different names: {"motor.speed": "arm.qd"}, input by output, each with the name of its
    system, or without where only one has such a port. Shapes and units must agree. Outputs that depend on each other
    directly, all the way round, are an algebraic loop: it is refused, or solved by Newton's method if `solve_loops`.

    >>> plant = System("plant", state={"y": "m"}, inputs={"force": "N"}, derivative=lambda t, x, u, p: u.force)
    >>> law = System("law", inputs={"y": "m", "target": "m"}, outputs={"force": "N"},
    ...              output=lambda t, x, u, p: 3.0 * (u.target - u.y))
    >>> connect(plant, law)
    <system plant + law: state y; inputs target; outputs y, force>
    """
    parts = [part if isinstance(part, System) else part.system() for part in systems]
    return _Connection(parts, dict(wires or {}), solve_loops).whole(name or " + ".join(part.name for part in parts))


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


class _Connection:
    """Which output drives which input, and the order of evaluation."""

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
        self.order, self.loops = self._order()
        if self.loops and not solve_loops:
            listed = "; ".join(" -> ".join(self._called(place) for place in (*loop, loop[0])) for loop in self.loops)
            raise ConventionError(
                f"an algebraic loop: these outputs depend on each other directly: {listed}. Put a state between them "
                "(a filter, a delay), or ask for it to be solved with solve_loops=True")

    # Who drives whom

    def _drivers(self, wires: Mapping[str, str]) -> dict[Place, Place]:
        outputs = {n: Place(k, n) for k, part in enumerate(self.parts) for n in part.outputs}
        found = {}
        for entry, exit in wires.items():
            place = self._place(entry, "input")
            if place in found:
                raise SignatureError(f"the input {self._called(place)} is driven twice by the wires")
            found[place] = self._place(exit, "output")
        for k, part in enumerate(self.parts):
            for n in part.inputs:
                if n in outputs and Place(k, n) not in found:
                    found[Place(k, n)] = outputs[n]
        for entry_place, exit_place in found.items():
            self._check(entry_place, self._port(entry_place, "input"), exit_place, self._port(exit_place, "output"))
        return found

    def _place(self, given: str, kind: str) -> Place:
        places = {Place(k, n) for k, part in enumerate(self.parts) for n in self._ports(part, kind)}
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

    def _port(self, place: Place, kind: str) -> Port:
        return self._ports(self.parts[place.system], kind)[place.port]

    def _called(self, place: Place) -> str:
        return f"{self.parts[place.system].name}.{place.port}"

    def _check(self, entry: Place, wanted: Port, exit: Place, given: Port) -> None:
        if wanted.shape != given.shape:
            raise SignatureError(f"{self._called(exit)} has the shape {given.shape}, and drives {self._called(entry)}, "
                                 f"which has {wanted.shape}")
        if wanted.unit and given.unit and wanted.unit != given.unit:
            raise SignatureError(f"{self._called(exit)} is in {given.unit}, and drives {self._called(entry)}, which is "
                                 f"in {wanted.unit}: convert between them, or leave one unit out")

    def _left(self) -> dict[str, Port]:
        """The inputs that nothing drives; several systems may take the same."""
        found: dict[str, tuple[Place, Port]] = {}
        for k, part in enumerate(self.parts):
            for n, port in part.ports.items():
                place = Place(k, n)
                if place in self.driven_by:
                    continue
                if n in found:
                    self._check(place, port, *found[n])
                else:
                    found[n] = (place, port)
        return {n: port for n, (_, port) in found.items()}

    # The order of evaluation

    def _order(self) -> tuple[list[list[Place]], list[list[Place]]]:
        """The outputs in groups, each after those that it needs; a group of more than one, or one that needs itself, is
        an algebraic loop.
        """
        needs = {Place(k, n): [self.driven_by[Place(k, entry)] for entry in part.feedthrough[n]
                               if Place(k, entry) in self.driven_by]
                 for k, part in enumerate(self.parts) for n in part.outputs}
        groups = strongly_connected(needs)
        return groups, [group for group in groups if len(group) > 1 or group[0] in needs[group[0]]]

    # The texts of the whole

    def whole(self, name: str) -> System:
        parts = self.parts
        return System(
            name, state={n: b for part in parts for n, b in part.blocks.items()}, inputs=self.inputs,
            outputs={n: port for part in parts for n, port in part.output_ports.items()},
            parameters={n: value for part in parts for n, value in part.parameters.items()},
            derivative=self._derivative if any(part.state for part in parts) else None,
            output=self._output if any(part.outputs for part in parts) else None, power=self._sum("power"),
            energy=self._sum("energy"), modes={n: words for part in parts for n, words in part.modes.items()},
            constraints={f"{part.name}.{n}": self._text(k, phi)
                         for k, part in enumerate(parts) for n, phi in part.constraints.items()},
            transitions=[self._transition(k, transition)
                         for k, part in enumerate(parts) for transition in part.transitions],
            explain=self._explain,
            timed=any(part.is_timed or outputs_depend_on_time(part) for part in parts))

    def _own(self, k: int, x: State, p: Record) -> tuple[State, Record]:
        part = self.parts[k]
        state = State(f"states of {part.name}", {n: x[n] for n in (*part.state, *part.modes)}, part.layout.modes)
        return state, part.parameter_record({n: p[n] for n in part.parameters})

    def _evaluated(self, t: Scalar, x: State, u: Record, p: Record) -> dict[Place, Array]:
        """All outputs."""
        known: dict[Place, Array] = {}
        for group in self.order:
            if group in self.loops:
                known |= self._solved(group, t, x, u, p, known)
            elif group[0] not in known:
                known |= self._ready(group[0].system, t, x, u, p, known)
        return known

    def _ready(self, k: int, t: Scalar, x: State, u: Record, p: Record,
               known: Mapping[Place, Array]) -> dict[Place, Array]:
        """The outputs of a system whose direct inputs are known; what stands for the others does not reach them."""
        part = self.parts[k]
        state, parameters = self._own(k, x, p)
        given = {n: self._input(Place(k, n), u, known) for n in part.inputs}
        missing = [n for n, value in given.items() if value is None]
        stand_ins = {n: np.ones(part.ports[n].shape)[()] for n in missing}
        values = part.values(t, state, part.input_record(given | stand_ins), parameters)
        return {Place(k, n): value for n, value in values.items() if not set(part.feedthrough[n]) & set(missing)}

    def _input(self, place: Place, u: Record, known: Mapping[Place, Array]) -> Any:
        return known.get(self.driven_by[place]) if place in self.driven_by else u[place.port]

    def _solved(self, group: list[Place], t: Scalar, x: State, u: Record, p: Record,
                known: Mapping[Place, Array]) -> dict[Place, Array]:
        """The outputs of an algebraic loop."""
        shapes = {place: self._port(place, "output").shape for place in group}
        ends = np.cumsum([0, *[int(np.prod(shape)) for shape in shapes.values()]]).tolist()

        def split(z: Array) -> dict[Place, Array]:
            return {place: z[a] if shape == () else z[a:b].reshape(shape)
                    for (place, shape), a, b in zip(shapes.items(), ends[:-1], ends[1:], strict=True)}

        def residual(z: Array) -> Array:
            guess = split(z)
            found = {place: self._ready(place.system, t, x, u, p, {**known, **guess})[place] for place in group}
            return z - joined([as_vector(found[place]) for place in group])

        return split(newton(residual, np.zeros(ends[-1])).x)

    def _arguments(self, k: int, t: Scalar, x: State, u: Record, p: Record) -> tuple[Scalar, State, Record, Record]:
        """What the texts of one system are given."""
        known = self._evaluated(t, x, u, p)
        part = self.parts[k]
        state, parameters = self._own(k, x, p)
        inputs = {n: self._input(Place(k, n), u, known) for n in part.inputs}
        return t, state, part.input_record(inputs), parameters

    def _text(self, k: int, of: Any) -> Any:
        return lambda *given: of(*self._arguments(k, *given))

    def _derivative(self, t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        known = self._evaluated(t, x, u, p)
        found: dict[str, Array] = {}
        for k, part in enumerate(self.parts):
            if not part.state:
                continue
            state, parameters = self._own(k, x, p)
            inputs = part.input_record({n: self._input(Place(k, n), u, known) for n in part.inputs})
            tangents = part.tangents(t, state, inputs, parameters)
            found |= {n: d for n, d in tangents.items() if part.blocks[n].velocity is None}
        return found

    def _output(self, t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        known = self._evaluated(t, x, u, p)
        return {n: known[Place(k, n)] for k, part in enumerate(self.parts) for n in part.outputs}

    def _sum(self, what: str) -> Any:
        texts = [(k, getattr(part, what)) for k, part in enumerate(self.parts) if getattr(part, what) is not None]
        return (lambda *given: sum(of(*self._arguments(k, *given)) for k, of in texts)) if texts else None

    def _transition(self, k: int, transition: Transition) -> Transition:
        part = self.parts[k]

        def jump(*given: Scalar) -> dict[str, Array]:
            after = part.jumped(transition, *self._arguments(k, *given))
            return {n: after[n] for n in part.state}

        name = transition.name if sum(other.name == transition.name for one in self.parts
                                      for other in one.transitions) == 1 else f"{part.name}, {transition.name}"
        return Transition(name, self._text(k, transition.guard), transition.direction, transition.during,
                          jump if transition.jump is not None else None, transition.to)

    def _explain(self, x: State) -> str | None:
        found = (part.explain(self._own(k, x, Record("", part.parameters))[0])
                 for k, part in enumerate(self.parts) if part.explain is not None)
        return next((reason for reason in found if reason), None)


def strongly_connected(needs: Mapping[Place, Sequence[Place]]) -> list[list[Place]]:
    """Groups of places that need each other, all the way round, each after those that it needs (Tarjan 1972)."""
    number: dict[Place, int] = {}
    lowest: dict[Place, int] = {}
    stack: list[Place] = []
    groups: list[list[Place]] = []

    def visit(place: Place) -> None:
        number[place] = lowest[place] = len(number)
        stack.append(place)
        for other in needs[place]:
            if other not in number:
                visit(other)
                lowest[place] = min(lowest[place], lowest[other])
            elif other in stack:
                lowest[place] = min(lowest[place], number[other])
        if lowest[place] == number[place]:
            cut = stack.index(place)
            groups.append(stack[cut:])
            del stack[cut:]

    for place in needs:
        if place not in number:
            visit(place)
    return groups


def _unique(names: Iterable[str], what: str, advice: str) -> None:
    seen = set()
    for name in names:
        if name in seen:
            raise SignatureError(f"{name!r} is the name of two {what}: {advice}")
        seen.add(name)
