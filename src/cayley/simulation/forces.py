"""Everything that acts on a mechanism in a simulation, as the right-hand side of its state equation."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.dynamics.rigid_links.drives import without_dry_friction
from cayley.errors import ConventionError, SignatureError
from cayley.kinematics.frame_kernels import sized
from cayley.model.tree import Tree
from cayley.simulation.controllers import Controller, Law, checked_forces
from cayley.simulation.state_equation import StateEquation

Wrench = Any  # numbers (6), or a function of (t, q, qd)


@lru_cache(maxsize=16)
def derivative_kernel(tree: Tree, wrenches: tuple[str, ...], axes: str) -> Kernel:
    """`derivative(q, v, tau, *wrenches)`: that of (q, v, work)."""
    equation = StateEquation(tree, wrenches, axes)
    signature = f"(q),(v),(v){',(6)' * len(wrenches)}->({tree.nq + tree.nv + 1})"
    return kernel(sized(tree, signature), name="derivative", inputs=["q", "v", "tau",
                                                                     *equation.more])(equation.derivative)


class Forces:
    """Everything that acts, as the arguments of the compiled state equation."""

    def __init__(self, tree: Tree, tau: Any, controller: Controller | None, parameters: dict[str, Any],
                 wrenches: dict[str, Wrench], axes: str, period: float | None, start: float):
        self.tree = tree
        self._law = None if controller is None else Law(controller, tree)
        self._tau = np.zeros(tree.nv) if tau is None else checked_forces(tau, tree, "tau")
        wanted = self._law.parameters if self._law else {}
        if parameters.keys() != wanted.keys():
            raise SignatureError(f"the controller takes the parameters {', '.join(wanted) or 'none'}; given were "
                                 f"{', '.join(parameters) or 'none'}")
        self._parameters = {k: np.asarray(v, dtype=float) for k, v in parameters.items()}
        self._wrenches = wrenches
        if period is not None and not (period > 0 and self._law is not None):
            raise ConventionError("control_period is a positive time, and goes with a controller")
        self.period = period
        self._origin = start
        self._held = np.full(tree.nv, np.nan)
        self.looks: list[tuple[float, np.ndarray]] = []  # of a digital controller: when, and the forces it then held
        self.derivative = derivative_kernel(without_dry_friction(tree), tuple(wrenches), axes)

    def tau(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if self._law is None:
            return self._tau
        if self.period is not None:
            return self._held
        return checked_forces(self._law(t, q, v, self._parameters), self.tree)

    def next_tick(self, t: float, q: np.ndarray, v: np.ndarray) -> float:
        """Look at the state, as a digital controller does, and say until when the forces are held."""
        if self.period is None:
            return np.inf
        done = np.floor((t - self._origin) / self.period + 1e-9)
        if t - (self._origin + done * self.period) < 1e-9 * self.period or np.isnan(self._held).any():
            self._held = checked_forces(self._law(t, q, v, self._parameters), self.tree).copy()  # type: ignore[misc]
            self.looks.append((t, self._held))
        return self._origin + (done + 1) * self.period

    def along(self, t: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The joint forces (samples, nv) along a trajectory; those of a digital controller are the held ones."""
        if self.period is None or not self.looks:
            return np.array([self.tau(*state) for state in zip(t, q, v, strict=True)])
        when = np.array([look for look, _ in self.looks])
        which = np.searchsorted(when, t + 1e-9 * self.period, side="right") - 1
        return np.array([self.looks[max(k, 0)][1] for k in which])

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray, straight: np.ndarray,
                 friction: np.ndarray) -> np.ndarray:
        """dy/dt with the dry `friction` (nv) of what slides, without what holds joints at rest."""
        more = [np.asarray(w(t, straight, v) if callable(w) else w, dtype=float) for w in self._wrenches.values()]
        return self.derivative(q, v, self.tau(t, straight, v) - friction, *more)
