"""The compiled texts of a system as a simulation calls them, one state at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.signature import spell
from cayley.compiler.typing import Array, Scalar
from cayley.systems.layout import Blocks, State, as_vector, joined
from cayley.systems.output_kernels import energy_kernel, text_kernel, without_value
from cayley.systems.projection import check_constraints, on_constraints
from cayley.systems.record import Record
from cayley.systems.standstill import matrices_kernel
from cayley.systems.system import System
from cayley.systems.transitions import Transition


class RunningKernels:
    """The kernels of a system, with values for its parameters."""

    def __init__(self, system: System, parameters: Mapping[str, Array]) -> None:
        self.system = system
        self._parameters = [np.asarray(parameters.get(n, value), dtype=float) for n, value in system.parameters.items()]
        self._timed = system.is_timed
        self._rubs = _rubs(system)
        self._slope = kept(system, "slope", lambda: _slope(system))

    def slope(self, t: float, x: Blocks, modes: Array, inputs: Mapping[str, Array],
              friction: Array | None = None) -> Array:
        """The slope of (coordinates, work), with the forces (n) of dry friction, none if left out."""
        time = [t] if self._timed else []
        rubbing = [np.zeros(self._rubs) if friction is None else friction] if self._rubs else []
        return self._slope(*time, *x.values(), *modes, *inputs.values(), *self._parameters, *rubbing)

    def matrices(self, t: float, x: Array, inputs: Mapping[str, Array]) -> tuple[Array, Array]:
        """The inertia M (n, n) of the velocities that may be held, and the rows A (m, n) of their constraints."""
        found = kept(self.system, "matrices", lambda: matrices_kernel(self.system))(
            t, x, *inputs.values(), *self._parameters)
        return found if isinstance(found, tuple) else (found, np.zeros((0, len(found))))

    def guards(self, t: float, x: Array, inputs: Mapping[str, Array]) -> Array:
        return kept(self.system, "guards", lambda: _guards(self.system))(t, x, *inputs.values(), *self._parameters)

    def energy(self, t: float, x: Array, inputs: Mapping[str, Array]) -> float:
        return float(energy_kernel(self.system)(t, x, *inputs.values(), *self._parameters))

    def constrained(self, t: float, x: Array, inputs: Mapping[str, Array]) -> Array:
        constrained = kept(self.system, "constrained", lambda: _constrained(self.system))
        return constrained(t, x, *inputs.values(), *self._parameters)

    def without_value(self, t: float, x: Array, inputs: Mapping[str, Array]) -> str:
        """The outputs that are no numbers, in words."""
        own = dict(zip(self.system.parameters, self._parameters, strict=True))
        return without_value(self.system, t, x, inputs, own)

    def check_constraints(self, t: float, x: Array, inputs: Mapping[str, Array], when: str) -> None:
        own = dict(zip(self.system.parameters, self._parameters, strict=True))
        check_constraints(self.system, t, x, inputs.values(), own, when)

    def jumped(self, transition: Transition, t: float, x: Array, inputs: Mapping[str, Array]) -> Array:
        """The state after a transition."""
        u = self.system.input_record(inputs)
        p = self.system.parameter_record({n: value[()] for n, value in zip(self.system.parameters, self._parameters,
                                                                          strict=True)})
        after = self.system.jumped(transition, t, self.system.layout.state(x), u, p)
        return np.asarray(self.system.layout.vector(after), dtype=float)


def _guards(system: System) -> Kernel:
    guards = [transition.guard for transition in system.transitions]
    return text_kernel(system, lambda *given: (np.stack([guard(*given) for guard in guards]),), [(len(guards),)],
                       "guards")


def _constrained(system: System) -> Kernel:
    def text(t: Scalar, x: State, u: Record, p: Record) -> tuple[Any]:
        return (system.layout.vector(on_constraints(system, t, x, u, p)),)

    return text_kernel(system, text, [(system.layout.size,)], "constrained")


def _rubs(system: System) -> int:
    """How many velocities may be held, if any of them has dry friction; 0 if none has."""
    return sum(len(part.names) for part in system.holds) if any(part.friction.any() for part in system.holds) else 0


def _slope(system: System) -> Kernel:
    """The slope of (coordinates, work). The derivative is that at the nearest point on manifolds and constraints, so
    that no drift away from them adds up; rates are those of the coordinates as they are."""
    layout = system.layout
    shapes: dict[str, tuple[int, ...]] = {
        **({"t": ()} if system.is_timed else {}), **{f"x.{n}": block.shape for n, block in system.blocks.items()},
        **{f"x.{n}": () for n in layout.modes}, **{f"u.{n}": port.shape for n, port in system.ports.items()},
        **{f"p.{n}": np.shape(value) for n, value in system.parameters.items()},
        **({"friction": (_rubs(system),)} if _rubs(system) else {})}

    def text(*arguments: Scalar) -> Any:  # noqa: ANN401 (an array, or a tuple of them)
        given = dict(zip(shapes, arguments, strict=True))
        t = given.get("t", 0.0)
        values = {n: given[f"x.{n}"] for n in (*system.blocks, *layout.modes)}
        x = State(f"states of {system.name}", values, layout.modes)
        u = system.input_record({n: given[f"u.{n}"] for n in system.inputs})
        p = system.parameter_record({n: given[f"p.{n}"] for n in system.parameters})
        straight = layout.projected(x)
        straight = on_constraints(system, t, straight, u, p) if system.constraints else straight
        power = system.power(t, straight, u, p) if system.power is not None else 0.0
        slopes = system.tangents(t, straight, u, p)
        start = 0
        for part in system.holds if "friction" in given else ():
            forces = given["friction"][start:start + len(part.names)]
            start += len(part.names)
            change = part.accelerations(t, straight, u, p, forces)
            slopes[part.velocity] = slopes[part.velocity] + change.reshape(np.shape(slopes[part.velocity]))
            power = power + as_vector(straight[part.velocity]) @ forces
        return joined([layout.rate(x, slopes), np.stack([power])])

    signature = f"{','.join(map(spell, shapes.values()))}->({layout.smooth + 1})"
    return kernel(signature, name="derivative", inputs=list(shapes))(text)
