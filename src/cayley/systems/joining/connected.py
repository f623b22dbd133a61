"""The texts of connected systems: each system is given its own part of the state, and what drives its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from cayley.compiler.array_parts import as_vector, joined, split
from cayley.compiler.made_once import kept
from cayley.compiler.solving.roots import newton
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.systems.joining.wiring import PortPlace, Wiring
from cayley.systems.layout import Record, State
from cayley.systems.system import System
from cayley.systems.text_kernels import outputs_depend_on_time
from cayley.systems.transitions import Transition

_ITERATIONS = 12
_UNITS = 2.0**14  # of rounding: what may be left of an algebraic loop


class Connected:
    """Systems with their wiring, as one system."""

    def __init__(self, wiring: Wiring) -> None:
        self.parts = wiring.parts
        self.wiring = wiring

    def whole(self, name: str) -> System:
        """The system that they make."""
        parts = self.parts
        return System(
            name, state={n: b for part in parts for n, b in part.blocks.items()}, inputs=self.wiring.inputs,
            outputs={n: port for part in parts for n, port in part.output_ports.items()},
            parameters={n: value for part in parts for n, value in part.parameters.items()},
            derivative=self._derivative if any(part.state for part in parts) else None,
            output=self._output if any(part.outputs for part in parts) else None, power=self._sum("power"),
            energy=self._sum("energy"), modes={n: words for part in parts for n, words in part.modes.items()},
            constraints={f"{part.name}.{n}": self._text(k, phi)
                         for k, part in enumerate(parts) for n, phi in part.constraints.items()},
            project=self._project if all(part.project for part in parts if part.constraints) else None,
            transitions=[self._transition(k, transition)
                         for k, part in enumerate(parts) for transition in part.transitions],
            holds=[held.within(partial(self._arguments, k)) for k, part in enumerate(parts) for held in part.holds],
            explain=self._explain,
            timed=any(part.is_timed or outputs_depend_on_time(part) for part in parts))

    def _own(self, k: int, x: State, p: Record) -> tuple[State, Record]:
        part = self.parts[k]
        state = State(f"states of {part.name}", {n: x[n] for n in (*part.state, *part.modes)}, part.layout.modes)
        return state, part.parameter_record({n: p[n] for n in part.parameters})

    def _evaluated(self, t: Scalar, x: State, u: Record, p: Record) -> dict[PortPlace, Array]:
        """All outputs."""
        known: dict[PortPlace, Array] = {}
        for group in self.wiring.order:
            if group in self.wiring.loops:
                known |= self._solved(group, t, x, u, p, known)
            elif group[0] not in known:
                known |= self._ready(group[0].system, t, x, u, p, known)
        return known

    def _ready(self, k: int, t: Scalar, x: State, u: Record, p: Record,
               known: Mapping[PortPlace, Array]) -> dict[PortPlace, Array]:
        """The outputs of a system whose direct inputs are known; what stands for the others does not reach them."""
        part = self.parts[k]
        state, parameters = self._own(k, x, p)
        given = {n: self._input(PortPlace(k, n), u, known) for n in part.inputs}
        missing = [n for n, value in given.items() if value is None]
        stand_ins = {n: np.ones(part.ports[n].shape)[()] for n in missing}
        values = part.values(t, state, part.input_record(given | stand_ins), parameters)
        return {PortPlace(k, n): value for n, value in values.items() if not set(part.feedthrough[n]) & set(missing)}

    def _input(self, place: PortPlace, u: Record, known: Mapping[PortPlace, Array]) -> Scalar:
        return known.get(self.wiring.driven_by[place]) if place in self.wiring.driven_by else u[place.port]

    def _solved(self, group: list[PortPlace], t: Scalar, x: State, u: Record, p: Record,
                known: Mapping[PortPlace, Array]) -> dict[PortPlace, Array]:
        """The outputs of an algebraic loop; NaN where Newton's method finds no solution."""
        shapes = {place: self.wiring.port(place, "output").shape for place in group}

        def residual(z: Array) -> Array:
            guess = split(z, shapes)
            found = {place: self._ready(place.system, t, x, u, p, {**known, **guess})[place] for place in group}
            return z - joined([as_vector(found[place]) for place in group])

        nought = np.zeros(sum(map(prod, shapes.values())))
        root = newton(residual, nought, iterations=_ITERATIONS)
        scale = 1.0 + np.max(np.abs(root.x)) + np.max(np.abs(residual(nought)))
        is_solved = np.max(np.abs(root.residual)) <= _UNITS * _rounding(scale)
        return split(where(is_solved, root.x, np.nan), shapes)

    def _arguments(self, k: int, t: Scalar, x: State, u: Record, p: Record) -> tuple[Scalar, State, Record, Record]:
        """The arguments of the texts of one part, made once for a state of the whole. The other arguments are kept with
        them, so that their identities, which are the key, stay theirs."""
        key = ("arguments", id(self), id(t), id(u), id(p))
        if not isinstance(x, State):
            return self._given(t, x, u, p)[k]
        return kept(x, key, lambda: (self._given(t, x, u, p), t, u, p))[0][k]

    def _given(self, t: Scalar, x: State, u: Record, p: Record) -> list[tuple[Scalar, State, Record, Record]]:
        known = self._evaluated(t, x, u, p)
        found = []
        for k, part in enumerate(self.parts):
            state, parameters = self._own(k, x, p)
            inputs = {n: self._input(PortPlace(k, n), u, known) for n in part.inputs}
            found.append((t, state, part.input_record(inputs), parameters))
        return found

    def _text(self, k: int, of: Any) -> Scalar:  # noqa: ANN401 (a text of a system)
        return lambda *given: of(*self._arguments(k, *given))

    def _project(self, *given: Any) -> dict[str, Array]:  # noqa: ANN401 (t, x, u, p)
        """Each part with constraints, by its own way back onto them."""
        ways = [part.project(*self._arguments(k, *given)) for k, part in enumerate(self.parts) if part.project]
        return {n: value for found in ways for n, value in found.items()}

    def _derivative(self, *given: Any) -> dict[str, Array]:  # noqa: ANN401 (t, x, u, p)
        slopes = [part.written(*self._arguments(k, *given)) for k, part in enumerate(self.parts) if part.state]
        return {n: slope for found in slopes for n, slope in found.items()}

    def _output(self, t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        known = self._evaluated(t, x, u, p)
        return {n: known[PortPlace(k, n)] for k, part in enumerate(self.parts) for n in part.outputs}

    def _sum(self, what: str) -> Scalar:
        texts = [(k, getattr(part, what)) for k, part in enumerate(self.parts) if getattr(part, what) is not None]
        return (lambda *given: sum(of(*self._arguments(k, *given)) for k, of in texts)) if texts else None

    def _transition(self, k: int, transition: Transition) -> Transition:
        part = self.parts[k]
        name = transition.name if sum(other.name == transition.name for one in self.parts
                                      for other in one.transitions) == 1 else f"{part.name}, {transition.name}"
        return replace(transition, name=name, guard=self._text(k, transition.guard),
                       jump=self._text(k, partial(part.blocks_after, transition)) if transition.jump else None)

    def _explain(self, x: State) -> str | None:
        found = (part.explain(self._own(k, x, Record("", part.parameters))[0])
                 for k, part in enumerate(self.parts) if part.explain is not None)
        return next((reason for reason in found if reason), None)


def _rounding(scale: Scalar) -> Scalar:
    """One unit of rounding of a number, in the precision in which it is computed."""
    is_double = scale * (1.0 + 2.0**-40) > scale
    return scale * where(is_double, float(np.finfo(np.float64).eps), float(np.finfo(np.float32).eps))
