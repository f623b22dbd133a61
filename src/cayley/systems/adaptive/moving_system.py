"""A system with its inputs and parameters as a solver follows it: compiled texts, evaluated one state at a time.

The solver's state is y = (coordinates, work, impulse): the impulse of what is held at rest is integrated too, so that
the steps are short enough to see when these reactions reach their bounds, though nothing moves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from cayley.compiler.array_parts import as_vector, joined
from cayley.compiler.kernel import Kernel
from cayley.compiler.made_once import kept_with_owner
from cayley.compiler.typing import Array, Scalar
from cayley.systems.adaptive.contact_rows import ContactState, contact_rows_kernel
from cayley.systems.adaptive.driving import Driving
from cayley.systems.adaptive.standstill import Standstill, matrices_kernel
from cayley.systems.adaptive.touching import Touching
from cayley.systems.layout import Record, State
from cayley.systems.projection import on_constraints
from cayley.systems.system import System
from cayley.systems.text_kernels import energy_kernel, output_kernel, text_kernel
from cayley.systems.transitions import Transition


class MovingSystem:
    """A system, with what drives it and values for its parameters. States x are vectors (smooth) in the present
    `modes`, or (size) in modes of their own; y are those of a solver."""

    def __init__(self, driving: Driving, modes: Array) -> None:
        self.system = driving.system
        self.driving = driving
        self.modes = modes
        self.smooth = self.system.layout.smooth
        self.evaluations = 0
        self.held = _held(self)
        self.parameters = {n: value.astype(float) for n, value in driving.parameters.items()}
        self._timed = self.system.is_timed
        self._rubs = _rubs(self.system)
        self._slope = _slope(self.system)

    def whole(self, x: Array) -> Array:
        """The state (size) with its modes."""
        return x if len(x) == self.system.layout.size else np.concatenate([x, self.modes])

    def _called(self, kernel: Kernel, t: float, x: Array) -> Any:  # noqa: ANN401 (what the kernel gives)
        return kernel(t, self.whole(x), *self.driving.at(t, x).values(), *self.parameters.values())

    # States

    def coordinates(self, t: float, y: Array) -> Array:
        """The coordinates (smooth) of a solver's state, brought back to where they lie."""
        x = self.system.layout.nearest(y[:self.smooth])
        return self._called(_constrained(self.system), t, x)[:self.smooth] if self.system.constraints else x

    def joined(self, x: Array, work: float) -> Array:
        """The state of a solver, before anything is held."""
        return np.concatenate([x, [work], np.zeros(0 if self.held is None else self.held.count)])

    def cleaned(self, t: float, y: Array) -> Array:
        """A state of the solver on its manifolds, with what is held at rest to the last digit."""
        x = self.coordinates(t, y)
        return self.joined(x if self.held is None else self.held.cleaned(t, x), y[self.smooth])

    def shown(self, t: float, y: Array) -> Array:
        """The same state of the solver, in which the forces of contacts are those of here and now."""
        if isinstance(self.held, Touching):
            y = y.copy()
            y[self.held.shown] = self.held.forces_shown(Look(self, t, y))
        return y

    def jumped(self, transition: Transition, t: float, x: Array) -> Array:
        """The state (size) after a transition."""
        layout = self.system.layout
        u = self.system.input_record(self.driving.at(t, x))
        p = self.system.parameter_record({n: value[()] for n, value in self.parameters.items()})
        after = self.system.jumped(transition, t, layout.state(self.whole(x)), u, p)
        return np.asarray(layout.vector(after), dtype=float)

    # Slopes

    def free(self, t: float, y: Array) -> Array:
        """The slope of (coordinates, work) without what is held at rest, with the friction of what slides."""
        self.evaluations += 1
        if not np.isfinite(y).all():
            return np.full(self.smooth + 1, np.nan)
        x = y[:self.smooth]
        inputs = self.driving.at(t, self.system.layout.nearest(x)).values()
        time = [t] if self._timed else []
        rubbing = [np.zeros(self._rubs) if self.held is None else self.held.forces] if self._rubs else []
        return self._slope(*time, self.whole(x), *inputs, *self.parameters.values(), *rubbing)

    def slope(self, t: float, y: Array) -> Array:
        """The slope of a solver's state."""
        slope = self.free(t, y)
        if self.held is None:
            return slope
        reaction = np.zeros(self.held.count)
        if self.held.acts and np.isfinite(slope).all():
            slope, reaction = self.held.resolved(t, self.coordinates(t, y), slope)
        return np.concatenate([slope, reaction])

    def matrices(self, t: float, x: Array) -> tuple[Array, Array]:
        """The inertia M (n, n) of the velocities that may be held, and the rows A (m, n) of their constraints."""
        found = self._called(matrices_kernel(self.system), t, x)
        return found if isinstance(found, tuple) else (found, np.zeros((0, len(found))))

    # What else is asked of a state

    def energy(self, t: float, x: Array) -> float:
        return float(self._called(energy_kernel(self.system), t, x))

    def explained(self, x: Array) -> str | None:
        """The reason why there is no derivative at a state, if the system knows one."""
        explain = self.system.explain
        return explain(self.system.layout.state(self.whole(x))) if explain is not None else None

    def without_value(self, t: float, x: Array) -> str:
        """The outputs that are no numbers, in words; nothing if all are, or if the state itself is none."""
        if not self.system.outputs or not np.isfinite(x).all():
            return ""
        found = self._called(output_kernel(self.system), t, x)
        values = dict(zip(self.system.outputs, found if len(self.system.outputs) > 1 else [found], strict=True))
        names = [n for n, value in values.items() if not np.isfinite(value).all()]
        loop = "; if they depend on each other directly, that algebraic loop has no solution that Newton's method finds"
        return f"the {'outputs' if names[1:] else 'output'} {', '.join(names)} {'have' if names[1:] else 'has'} no " \
               f"value there{loop}" if names else ""


@dataclass(frozen=True, eq=False)
class Look:
    """A solver's state at a time, and what is asked of it, each computed once."""

    moving: MovingSystem
    t: float
    y: Array

    @cached_property
    def x(self) -> Array:
        """The coordinates (smooth)."""
        return self.moving.coordinates(self.t, self.y)

    @cached_property
    def guards(self) -> Array:
        """The guards of all transitions, in their order."""
        return self.moving._called(_guards(self.moving.system), self.t, self.x)

    @cached_property
    def touching(self) -> ContactState:
        """The contacts: gaps, rows, drifts and friction."""
        assert isinstance(self.moving.held, Touching)
        return self.moving.held.at(self.t, self.x)

    @cached_property
    def reaction(self) -> Array:
        """The forces (n) that hold velocities at rest; where they are not unique, those farthest from their bounds."""
        held = self.moving.held
        assert held is not None
        return held.central(self.t, self.x, self.moving.slope(self.t, self.y)[self.moving.smooth + 1:])


def _held(moving: MovingSystem) -> Standstill | None:
    """The velocities that may be held and the contacts, if there are any."""
    system = moving.system
    if any(part.contacts for part in system.holds):
        return Touching(system, moving.matrices, partial(moving._called, contact_rows_kernel(system)))
    return Standstill(system, moving.matrices) if any(part.possible for part in system.holds) else None


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
    """The number of velocities that may be held, if any of them has dry friction; 0 if none has."""
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
