"""The compiled texts of a system as a simulation calls them, one state at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.made_once import kept_with_owner
from cayley.compiler.typing import Array, Scalar
from cayley.systems.adaptive.standstill import matrices_kernel
from cayley.systems.layout import State, as_vector, joined
from cayley.systems.projection import check_constraints, on_constraints
from cayley.systems.record import Record
from cayley.systems.system import System
from cayley.systems.text_kernels import energy_kernel, output_kernel, text_kernel
from cayley.systems.transitions import Transition


class RunningKernels:
    """The kernels of a system, with values for its parameters. States x (size) are vectors, modes included."""

    def __init__(self, system: System, parameters: Mapping[str, Array]) -> None:
        self.system = system
        self._own = {n: np.asarray(parameters.get(n, value), dtype=float) for n, value in system.parameters.items()}
        self._timed = system.is_timed
        self._rubs = _rubs(system)
        self._slope = _slope(system)

    def slope(self, t: float, x: Array, inputs: Mapping[str, Array], friction: Array | None = None) -> Array:
        """The slope of (coordinates, work), with the forces (n) of dry friction, none if left out."""
        rubbing = [np.zeros(self._rubs) if friction is None else friction] if self._rubs else []
        return self._slope(*([t] if self._timed else []), x, *inputs.values(), *self._own.values(), *rubbing)

    def _called(self, kernel: Kernel, t: float, x: Array, inputs: Mapping[str, Array]) -> Any:  # noqa: ANN401
        return kernel(t, x, *inputs.values(), *self._own.values())

    def matrices(self, t: float, x: Array, inputs: Mapping[str, Array]) -> tuple[Array, Array]:
        """The inertia M (n, n) of the velocities that may be held, and the rows A (m, n) of their constraints."""
        found = self._called(matrices_kernel(self.system), t, x, inputs)
        return found if isinstance(found, tuple) else (found, np.zeros((0, len(found))))

    def guards(self, t: float, x: Array, inputs: Mapping[str, Array]) -> Array:
        return self._called(_guards(self.system), t, x, inputs)

    def energy(self, t: float, x: Array, inputs: Mapping[str, Array]) -> float:
        return float(self._called(energy_kernel(self.system), t, x, inputs))

    def constrained(self, t: float, x: Array, inputs: Mapping[str, Array]) -> Array:
        return self._called(_constrained(self.system), t, x, inputs)

    def without_value(self, t: float, x: Array, inputs: Mapping[str, Array]) -> str:
        """The outputs that are no numbers, in words; nothing if all are, or if the state itself is none."""
        if not self.system.outputs or not np.isfinite(x).all():
            return ""
        found = self._called(output_kernel(self.system), t, x, inputs)
        values = dict(zip(self.system.outputs, found if len(self.system.outputs) > 1 else [found], strict=True))
        names = [n for n, value in values.items() if not np.isfinite(value).all()]
        loop = "; if they depend on each other directly, that algebraic loop has no solution that Newton's method finds"
        return f"the {'outputs' if names[1:] else 'output'} {', '.join(names)} {'have' if names[1:] else 'has'} no " \
               f"value there{loop}" if names else ""

    def check_constraints(self, t: float, x: Array, inputs: Mapping[str, Array], when: str) -> None:
        check_constraints(self.system, t, x, inputs.values(), self._own, when)

    def jumped(self, transition: Transition, t: float, x: Array, inputs: Mapping[str, Array]) -> Array:
        """The state after a transition."""
        layout = self.system.layout
        p = self.system.parameter_record({n: value[()] for n, value in self._own.items()})
        after = self.system.jumped(transition, t, layout.state(x), self.system.input_record(inputs), p)
        return np.asarray(layout.vector(after), dtype=float)


@kept_with_owner
def _guards(system: System) -> Kernel:
    guards = [transition.guard for transition in system.transitions]
    return text_kernel(system, lambda *given: (np.stack([guard(*given) for guard in guards]),), [(len(guards),)],
                       "guards")


@kept_with_owner
def _constrained(system: System) -> Kernel:
    return text_kernel(system, lambda *given: (system.layout.vector(on_constraints(system, *given)),),
                       [(system.layout.size,)], "constrained")


def _rubs(system: System) -> int:
    """How many velocities may be held, if any of them has dry friction; 0 if none has."""
    return sum(len(part.names) for part in system.holds) if any(part.friction.any() for part in system.holds) else 0


@kept_with_owner
def _slope(system: System) -> Kernel:
    """The slope of (coordinates, work). The derivative is that at the nearest point on manifolds and constraints, so
    that no drift away from them adds up; rates are those of the coordinates as they are."""
    layout = system.layout

    def text(t: Scalar, x: State, u: Record, p: Record, friction: Array | None = None) -> tuple[Array]:
        straight = layout.projected(x)
        straight = on_constraints(system, t, straight, u, p) if system.constraints else straight
        power = system.power(t, straight, u, p) if system.power is not None else 0.0
        slopes = system.tangents(t, straight, u, p)
        start = 0
        for part in system.holds if friction is not None else ():
            forces = friction[start:start + len(part.names)]  # type: ignore[index]
            start += len(part.names)
            change = part.accelerations(t, straight, u, p, forces)
            slopes[part.velocity] = slopes[part.velocity] + change.reshape(np.shape(slopes[part.velocity]))
            power = power + as_vector(straight[part.velocity]) @ forces
        return (joined([layout.rate(x, slopes), np.stack([power])]),)

    return text_kernel(system, text, [(layout.smooth + 1,)], "derivative",
                       {"friction": (_rubs(system),)} if _rubs(system) else None, timed=system.is_timed)
