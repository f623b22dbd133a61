"""Dry friction in steps of fixed length: any method, and after it a stage that settles which joints stand still.

During a step the friction of a joint has the direction of its velocity at the start, and a joint that was at rest there
is held, so that the method sees smooth forces and keeps its order. At the end friction gets its due, an impulse r (nv):

    M v' = M v + r    v the velocity that the method gave, v' the one that is kept; M at the end of the step
    held              r in h [-coulomb, coulomb] less h times the reaction that held it: none, unless that was too large
    turned round      r in [0, 2 s h coulomb] against it, s the share of the step since it turned: so did the friction
    all others        r = 0
and a joint that has r between its bounds stands still, exactly. That is the problem of `dynamics.forward.dry_friction`
for velocities, solved in `ROUNDS` rounds from the guess that all of them stand still; what is not decided then is in
the next step. Each standstill, turn or slip costs an error of h^2: the order of a motion that has some is 2, or that of
the method if it is less. A joint at rest does not creep. Source: Moreau 1988 and Jean 1999 for impulses in steps; the
share s is new here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cayley.compiler.symbols import where
from cayley.dynamics.forward.dry_friction import corrected, held_solve
from cayley.simulation.fixed_step_protocol import FIRST, TIME, FixedStep, Stage, State
from cayley.simulation.state_equation import StateEquation

ROUNDS = 3


@dataclass(frozen=True, eq=False)
class HeldEquation(StateEquation):
    """The state equation with some joints held: where `going` (nv) is zero."""

    going: Any = 1.0

    def acceleration(self, q: Any, v: Any, tau: Any, *more: Any) -> Any:
        return held_solve(*self.balance(q, v, tau, *more), self.going)

    def solved(self, M: Any, forces: Any) -> Any:
        return held_solve(M, forces, self.going)


def with_dry_friction(method: FixedStep, coulomb: np.ndarray) -> FixedStep:
    """A method with dry friction (nv); its state equation has none."""
    nv = len(coulomb)
    settling = np.zeros((1, method.table.shape[1] + 1))
    settling[0, TIME] = 1.0
    settling[0, -1] = 1.0
    table = np.concatenate([np.pad(method.table, ((0, 0), (0, 1))), settling])

    def carried(x: Any, nq: int) -> Any:
        return np.concatenate([method.carried(x, nq), x[..., nq:-2]], axis=-1)

    def text(stage: Stage, state: State, before: Any) -> tuple[State, Any]:
        started = where(stage.row[FIRST] > 0.5, state.v, before[-nv:])
        going = where(coulomb > 0, np.sign(started), 1.0)
        found, own = method.text(_frozen(stage, coulomb, going), state, before[:-nv])
        settled = _settled(stage, state, coulomb, going, started)
        now = stage.row[-1] > 0.5
        after = State.of(where(now, settled.x, found.x), len(state.q))
        return after, np.concatenate([where(now, method.carried(settled.x, len(state.q)), own), started])

    return FixedStep(min(method.order, 2), table, carried, text)


def _frozen(stage: Stage, coulomb: np.ndarray, going: Any) -> Stage:
    equation = stage.equation
    held = HeldEquation(equation.tree, equation.wrenches, equation.axes, equation.inertias, going)

    def force(q: Any, v: Any) -> tuple[Any, ...]:
        tau, *more = stage.force(q, v)
        return (tau - coulomb * going, *more)

    return Stage(held, force, stage.h, stage.row[:-1])


def _settled(stage: Stage, state: State, coulomb: np.ndarray, going: Any, started: Any) -> State:
    q, v, work, defect = state
    M, forces = stage.equation.balance(q, v, *_with_friction(stage, q, v, coulomb * going))
    reaction = stage.h * (M @ held_solve(M, forces, going) - forces)
    most = stage.h * coulomb
    turned = going * v < 0
    since = 2 * most * where(turned, v / where(turned, v - started, 1.0), 0.0)
    lower, upper = (where(coulomb > 0, where(going == 0, side * most - reaction,
                                             where(side * going > 0, side * since, 0.0)), 0.0) for side in (-1.0, 1.0))
    guess = where(coulomb > 0, where(going == 0, 0.0, where(turned, 0.0, 1.0)), 1.0)
    momentum = M @ v
    after = v
    for _ in range(ROUNDS):
        after, guess = corrected(M, momentum, lower, upper, guess)
    return State(q, after, work + (after @ (M @ after) - v @ momentum) / 2, defect)


def _with_friction(stage: Stage, q: Any, v: Any, friction: Any) -> tuple[Any, ...]:
    tau, *more = stage.force(q, v)
    return (tau - friction, *more)
