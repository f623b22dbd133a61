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

import numpy as np

from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array
from cayley.dynamics.forward.dry_friction import corrected, held_solve
from cayley.dynamics.open_tree import TreeMechanics
from cayley.simulation.held_flow import HeldFlow, HeldMechanics, acting
from cayley.systems.fixed_steps.protocol import FixedStep, Point, Stage
from cayley.systems.layout import Layout
from cayley.systems.record import Record

ROUNDS = 3


def with_dry_friction(method: FixedStep, mechanics: TreeMechanics, coulomb: Array) -> FixedStep:
    """A method with dry friction (nv); its system has none."""
    nv = len(coulomb)
    table = method.table.extended(time=1.0, settles=True)

    def carried(points: Array, layout: Layout) -> Array:
        return np.concatenate([method.carried(points, layout), points[..., layout.places["qd"]]], axis=-1)

    def text(stage: Stage, point: Point, before: Array) -> tuple[Point, Array]:
        layout = stage.flow.layout
        started = where(stage.row.first, point.x.qd, before[-nv:])
        going = where(coulomb > 0, np.sign(started), 1.0)
        found, own = method.text(_frozen(stage, mechanics, coulomb, going), point, before[:-nv])
        settled = _settled(stage, point, mechanics, coulomb, going, started)
        after = Point.of(where(stage.row.settles, settled.vector(layout), found.vector(layout)), layout)
        start = method.carried(settled.vector(layout), layout)
        return after, np.concatenate([where(stage.row.settles, start, own), started])

    return FixedStep(min(method.order, 2), table, carried, text)


def _frozen(stage: Stage, mechanics: TreeMechanics, coulomb: Array, going: Array) -> Stage:
    flow = stage.flow
    held = HeldMechanics(mechanics.tree, mechanics.wrenches, mechanics.axes, mechanics.inertias,
                         mechanics.base_motion, going)
    return stage._replace(flow=HeldFlow(flow.system, flow.t, flow.p, lambda t, x: _with_friction(
        flow.driven(t, x), coulomb * going), held))


def _settled(stage: Stage, point: Point, mechanics: TreeMechanics, coulomb: Array, going: Array,
             started: Array) -> Point:
    x, work, defect = point
    v = x.qd
    M, forces = mechanics.balance(x.q, v, *acting(_with_friction(stage.flow.inputs(x), coulomb * going)))
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
    return Point(x.replaced({"qd": after}), work + (after @ (M @ after) - v @ momentum) / 2, defect)


def _with_friction(u: Record, friction: Array) -> Record:
    return u.replaced({"tau": u["tau"] - friction})
