"""The guards of transitions as texts: their values, their rates along the motion, and the sides of zero they are on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from cayley.compiler.derivatives.derivative import independent, jacobian
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.systems.fixed_steps.protocol import Flow
from cayley.systems.layout import State, as_vector, joined, mode_number
from cayley.systems.system import System
from cayley.systems.transitions import Transition


@dataclass(frozen=True)
class Guards:
    """The guards of a system, in the order of its transitions."""

    system: System

    def __len__(self) -> int:
        return len(self.system.transitions)

    def values(self, flow: Flow, x: State) -> Array:
        """All of them."""
        u = flow.inputs(x)
        return np.stack([transition.guard(flow.t, x, u, flow.p) for transition in self.system.transitions])

    def values_and_slopes(self, flow: Flow, x: State) -> tuple[Array, Array]:
        """The guards, and their rates along the motion; what they do not depend on is not computed."""
        layout = self.system.layout
        u = flow.inputs(x)
        here = x.replaced({name: independent(x[name]) for name in layout.blocks})
        now = independent(flow.t)
        values = np.stack([transition.guard(now, here, u, flow.p) for transition in self.system.transitions])
        by_place = jacobian(values, joined([np.stack([now]), *[as_vector(here[name]) for name in layout.blocks]]))
        rates = by_place @ joined([np.ones(1), layout.rate(x, flow.tangents(x, u))])
        return self.values(flow, x), rates

    def is_watched(self, transition: Transition, x: State) -> Scalar:
        """True if the modes are those in which a transition may happen."""
        conditions = [x[mode] == float(mode_number(self.system.layout.modes, mode, word))
                      for mode, word in transition.during.items()]
        return reduce(np.logical_and, conditions) if conditions else np.True_

    def crossed(self, x: State, sides: Array, values: Array) -> list[Scalar]:
        """Truth values of the guards that are beyond zero, in the direction that is asked for."""
        found = []
        for k, transition in enumerate(self.system.transitions):
            beyond = sides[k] * values[k] < 0.0
            if transition.sign:
                beyond = np.logical_and(beyond, sides[k] == -float(transition.sign))
            found.append(np.logical_and(beyond, self.is_watched(transition, x)) if transition.during else beyond)
        return found


    def sides_at_start(self, values: Array, slopes: Array) -> Array:
        """The side of zero from which each guard comes at the start: one that is at zero, and moves through it in its
        direction, from the side that it leaves, so that it happens at once. Of both directions, where it comes from is
        not known."""
        signs = np.array([float(transition.sign) for transition in self.system.transitions])
        leaves = np.logical_and(values == 0.0, slopes * signs > 0.0)
        sides = side_of(values, slopes, values == 0.0)
        return where(leaves, -sides, sides)


def side_of(values: Array, slopes: Array, touching: Scalar) -> Array:
    """The side of zero that each guard is on; of those that touch it, the one to which they move."""
    by_value = where(values < 0.0, -1.0, 1.0)
    by_slope = where(slopes > 0.0, 1.0, where(slopes < 0.0, -1.0, by_value))
    return where(touching, by_slope, by_value)
