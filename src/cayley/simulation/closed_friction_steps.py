"""Dry friction in steps of mechanisms with constraints: semi-implicit Euler, with impulses of friction in each step.

    v' = v + h a + W r         a without dry friction;  W = M^-1 within the constraints
    |r_k| <= h coulomb_k       as large as it must be to stop joint k, and against its motion where it is not enough
Joints that constraints tie together share what stops them; v' is unique. The impulses are found in rounds, joint after
joint, each as if it were the last (projected Gauss-Seidel); for one freedom the first round is exact. Positions move
with v': what friction holds does not creep. Order 1. Sources: Moreau 1988; Jean 1999.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.constrained_mechanics import ConstrainedMechanics
from cayley.simulation.held_flow import acting
from cayley.systems.fixed_steps.protocol import FixedStep, Point, Stage, Table, largest
from cayley.systems.layout import Layout

_ROUNDS = 30


def closed_friction_step(mechanics: ConstrainedMechanics, coulomb: Array) -> FixedStep:
    """The method for a mechanism with constraints and dry friction (nv); its system has none."""
    rubbing = np.flatnonzero(coulomb)

    def text(stage: Stage, point: Point, carried: Array) -> tuple[Point, Array]:
        flow, h, _ = stage
        x = point.x
        u = flow.inputs(x)
        here = mechanics.at(flow.t)
        M, _ = here.balance(x.q, x.qd, *acting(u))
        W = np.stack([here.yielding(x.q, M, unit) for unit in np.eye(len(coulomb))[rubbing]])
        free = x.qd + h * flow.tangents(x, u)["qd"]
        sliding = here.yielding(x.q, M, M @ free)  # without what turns the velocity with the constraints
        impulses, last = _impulses(W[:, rubbing], sliding[rubbing], h * coulomb[rubbing])
        after = free + impulses @ W
        halfway = x.replaced({"qd": (x.qd + after) / 2})
        work = point.work + h * flow.power(halfway, u) + impulses @ halfway.qd[rubbing]
        moved = flow.layout.stepped(x, {"q": h * after})
        return Point(flow.constrained(x.replaced({**moved, "qd": after}), h), work,
                     np.maximum(point.defect, last)), carried

    return FixedStep(1, Table(first=[True], last=[True], time=[0.0]), _nothing, text)


def _impulses(W: Array, v: Array, most: Array) -> tuple[Array, Scalar]:
    """The impulses (k), and by how much the last round has changed velocities."""
    r: list[Scalar] = [0.0] * len(v)
    last: Scalar = 0.0
    for _ in range(_ROUNDS):
        before = list(r)
        for k in range(len(r)):
            left = v[k] + sum(W[k][j] * r[j] for j in range(len(r)))
            r[k] = np.minimum(np.maximum(r[k] - left / W[k][k], -most[k]), most[k])
        last = largest(np.array([np.abs((a - b) * W[k][k]) for k, (a, b) in enumerate(zip(r, before, strict=True))]))
    return np.stack(r), last


def _nothing(points: Array, layout: Layout) -> Array:
    return points[..., :0]
