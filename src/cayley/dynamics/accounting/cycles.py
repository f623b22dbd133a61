"""The rules of Table 5.1: the first forward and the first backward cycle are written outside the loops, all others have
their full price.

The full price of a cycle is what one more link costs on a base that moves in every way; the first forward cycle knows
that the base is at rest; the first backward cycle knows that nothing follows. Nothing is left out because it is not
needed later, so the price is taken from the wrenches of all joints, not from their forces. Source: Balafoutis & Patel
5.3.2, spec 4.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from cayley.dynamics.accounting.counted_run import generic_state
from cayley.dynamics.accounting.counting_scalar import Cost, Tape
from cayley.dynamics.accounting.formulas import Figures
from cayley.dynamics.accounting.generic_arms import generic_arm
from cayley.dynamics.inverse.passes import STILL, Base
from cayley.dynamics.rigid_links.links import serial_chain


class Recursion(NamedTuple):
    """A recursive method: the beginnings of the numbers of its equations, forward and backward."""

    module: str
    forward: str
    backward: str


ALGORITHM_53 = Recursion("luh_walker_paul", "5.2.23", "5.2.24")
ALGORITHM_56 = Recursion("tensor_newton_euler", "5.3.7", "5.3.8")
ALGORITHM_57 = Recursion("augmented_links", "5.3.45", "5.3.46")


def table_rules(method: Recursion, twist: float) -> dict[str, Figures]:
    """What each equation costs by the rules of Table 5.1, all twists being equal and all joints revolute."""
    at_rest = _wrenches(method, [twist], moving=False)
    one = _wrenches(method, [twist])
    two = _wrenches(method, [twist, twist])
    figures = {}
    for equation in two:
        cycle = two[equation].minus(one.get(equation, Cost()))
        outside = at_rest if equation.startswith(
            method.forward) else one if equation.startswith(method.backward) else {}
        first = outside.get(equation, Cost())
        figures[equation] = Figures.linear(cycle.multiplications, first.multiplications - cycle.multiplications,
                                           cycle.additions, first.additions - cycle.additions)
    return {
        equation: f
        for equation, f in figures.items() if f.multiplications.coefficients or f.additions.coefficients}


def _wrenches(method: Recursion, twists: Sequence[float], moving: bool = True) -> dict[str, Cost]:
    """Operations by equation for the wrenches of all joints, without those that put a wrench together."""
    tape = Tape()
    chain = serial_chain(generic_arm(twists, gravity=(0.0, 0.0, 0.0 if moving else -9.81)))
    q, qd, qdd = (tape.inputs(x) for x in generic_state(len(twists)))
    base: Any = Base(*[tape.inputs([0.3, -0.8, 0.6]) for _ in range(3)]) if moving else STILL
    found = import_module(f"cayley.dynamics.inverse.{method.module}").reactions(chain, q, qd, qdd, base=base)
    return {e: cost for e, cost in tape.costs(np.asarray(found, dtype=object).reshape(-1)).items() if e != "5.3.38"}
