"""Everything that acts on a mechanism in a simulation: what drives its system."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.inverse.external_loads import base_inputs
from cayley.errors import ConventionError, SignatureError
from cayley.model.tree import Tree
from cayley.simulation.controllers import Function, Law, checked_forces
from cayley.simulation.fixed_steps import mechanism_system
from cayley.systems.driving import Driving
from cayley.systems.layout import Blocks

Wrench: TypeAlias = ArrayLike | Callable[[float, np.ndarray, np.ndarray], ArrayLike]  # (6), or a function of (t, q, qd)


BaseMotion: TypeAlias = Callable[[float], Sequence[ArrayLike]]  # of the root at a time: pose (7), twist (6), its rate


def _of_the_root(tree: Tree, base: BaseMotion, t: float) -> tuple[Array, Array]:
    """Turning and acceleration of the root at a time."""
    given = base(t)
    if len(given) != 3 or not all(np.isfinite(np.asarray(x, dtype=float)).all() for x in given):
        raise SignatureError(f"the base of {tree.name} moves by three arrays of finite numbers at t = {t:g}, its pose "
                             f"(7), its twist (6) and the derivative of that, not by {given}")
    return base_inputs(tree, *given)


def base_inputs_of(tree: Tree, base: BaseMotion | None) -> dict[str, Wrench]:
    """The inputs of a mechanism whose root is moved, as functions of (t, q, qd); none if it is not."""
    return {} if base is None else {
        "base_turning": lambda t, q, qd: _of_the_root(tree, base, t)[0],
        "base_acceleration": lambda t, q, qd: _of_the_root(tree, base, t)[1]}


class Forces(Driving):
    """Joint forces, constant or by a control law, continuous or sampled; and wrenches."""

    derivatives = "accelerations"

    def __init__(self, tree: Tree, tau: ArrayLike | None, controller: Function | None, parameters: dict[str, Any],
                 wrenches: Mapping[str, Wrench], axes: str, period: float | None, start: float,
                 base: BaseMotion | None = None, limits: str | float = "ignore") -> None:
        self.tree = tree
        self._law = None if controller is None else Law(controller, tree)
        constant = np.zeros(tree.nv) if tau is None else checked_forces(tau, tree, "tau")
        wanted = self._law.parameters if self._law else {}
        if parameters.keys() != wanted.keys():
            raise SignatureError(f"the controller takes the parameters {', '.join(wanted) or 'none'}; given were "
                                 f"{', '.join(parameters) or 'none'}")
        self._parameters = {k: np.asarray(v, dtype=float) for k, v in parameters.items()}
        if period is not None and not (period > 0 and self._law is not None):
            raise ConventionError("control_period is a positive time, and goes with a controller")
        self.period = period
        self._origin = start
        self._held = np.full(tree.nv, np.nan)
        self.looks: list[tuple[float, np.ndarray]] = []  # of a digital controller: when, and the forces it then held
        system = mechanism_system(tree, tuple(wrenches), axes, base_motion=base is not None, limits=limits)
        driven = constant if self._law is None else self._tau
        super().__init__(system, {"tau": driven, **{f"wrench_{frame}": w for frame, w in wrenches.items()},
                                  **base_inputs_of(tree, base)})

    def _tau(self, t: float, q: Array, qd: Array) -> Array:
        if self.period is not None:
            return self._held
        return checked_forces(self._law(t, q, qd, self._parameters), self.tree)  # type: ignore[misc]

    def next_tick(self, t: float, x: Blocks) -> float:
        """Look at the state, as a digital controller does, and say until when the forces are held."""
        if self.period is None:
            return np.inf
        done = np.floor((t - self._origin) / self.period + 1e-9)
        if t - (self._origin + done * self.period) < 1e-9 * self.period or np.isnan(self._held).any():
            held = self._law(t, x["q"], x["qd"], self._parameters)  # type: ignore[misc]
            self._held = checked_forces(held, self.tree).copy()
            self.looks.append((t, self._held))
        return self._origin + (done + 1) * self.period

    def along(self, t: Array, x: Array) -> dict[str, Array]:
        """The joint forces (samples, nv) along a trajectory; those of a digital controller are the held ones."""
        if self.period is None or not self.looks:
            found = [self.value("tau", float(now), self._blocks(state)) for now, state in zip(t, x, strict=True)]
            return {"tau": np.array(found)}
        when = np.array([look for look, _ in self.looks])
        which = np.searchsorted(when, t + 1e-9 * self.period, side="right") - 1
        return {"tau": np.array([self.looks[max(k, 0)][1] for k in which])}

    def called(self, name: str) -> str:
        return "the joint forces" if name == "tau" else super().called(name)
