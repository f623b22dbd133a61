"""A variational integrator on the group of the configurations: symplectic, symmetric in time, order 2, momenta exactly
kept.

The action of a step is h L at its midpoint, and the steps make the sum of the actions stationary. Turns are Cayley maps
of their velocities, so that all of it is rational but for one square root:

    cay(x)     the turn with the vector-parameter x / 2: quaternion (1, x / 2) / s,  s = sqrt(1 + x.x / 4)
    dcay(x) y = (y + x x y / 2) / (1 + x.x / 4)        dcay^-1(x) y = y - x x y / 2 + (x.y) x / 4
    nu         the velocities of a step: those of the joints, but a floating body's origin moves in the axes of its
               parent
    p, f       dL/dnu and dL/dq (moved with the body) at the midpoint
    P          the momentum dL/dnu between steps;  P0 + h/2 tau = dcay^-1(-x) u - h R f,  P1 = dcay^-1(x) u + h/2 tau,
                                                   x = h w
               with u = p + h B dcay(2g) f;  half the turn, R, is cay(2g), 2g = x / (1 + s), and B is its derivative by
               x
For coordinates that just add up this is p - h/2 f and p + h/2 f, the midpoint rule of Hamilton's equations. The first
stage makes the momentum of the velocity, the last the velocity of the momentum, those between solve for nu.

Constraints act with forces A^T z at both ends of a step: at its start such that phi = 0 at its end, and at its end such
that A qd = 0 there (RATTLE). What the iteration leaves of phi is projected out. Sources: Marsden & West 2001; Andersen
1983; Leimkuhler & Skeel 1994; Kobilarov & Marsden 2011 (dcay); Mladenova's vector-parameter for the map."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.complementarity import held_solve
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar, Text
from cayley.dynamics.constrained_mechanics import ConstrainedMechanics
from cayley.dynamics.open_tree import TreeMechanics
from cayley.errors import UnsupportedError
from cayley.geometry.rotations.quaternion import matrix_from_quaternion, quaternion_product
from cayley.model.tree import Tree
from cayley.systems.fixed_steps.protocol import FixedStep, Point, Stage, StageTable, largest
from cayley.systems.fixed_steps.standstill import HeldFlow
from cayley.systems.layout import Layout


class CayleyTurn(NamedTuple):
    """A Cayley map cay(x), with what half of it is."""

    x: Scalar

    @property
    def s(self) -> Scalar:
        return np.sqrt(1 + self.x @ self.x / 4)

    @property
    def quaternion(self) -> Array:
        return np.concatenate([np.stack([1 / self.s]), self.x / (2 * self.s)])

    @property
    def half(self) -> CayleyTurn:
        return CayleyTurn(self.x / (1 + self.s))

    def dcay(self, y: Array) -> Array:
        return (y + np.cross(self.x, y) / 2) / (1 + self.x @ self.x / 4)

    def inverse_dcay(self, y: Array) -> Array:
        return y - np.cross(self.x, y) / 2 + (self.x @ y) * self.x / 4

    def half_derivative(self, y: Array) -> Array:
        """B y, where half.x changes by B when x changes."""
        return y / (1 + self.s) - self.x * (self.x @ y) / (4 * self.s * (1 + self.s) ** 2)


class Parts(NamedTuple):
    """The places of a mechanism's turning parts: attitudes in q and angular velocities in v; and positions of floating
    bodies."""

    turns: list[tuple[slice, slice]]
    floats: list[tuple[slice, slice, slice]]  # position in q and velocity in v, attitude in q

    @staticmethod
    def of(tree: Tree) -> Parts:
        turns = []
        floats = []
        for joint, a, b in zip(tree.joints, tree.q_slices, tree.v_slices, strict=True):
            attitude = joint.motion.attitude
            if attitude is not None:
                turn = _within(a, attitude.q)
                turns.append((turn, _within(b, attitude.v)))
                if attitude.position is not None:
                    floats.append((_within(a, attitude.position), _within(b, attitude.position), turn))
        return Parts(turns, floats)

    def changed(self, y: Array, change: Text) -> Array:
        """A vector (nv) with its turning parts changed: `change(k, part)`."""
        return replaced(y, [(own, change(k, y[own])) for k, (_, own) in enumerate(self.turns)])

    def in_body(self, q: Array, y: Array) -> Array:
        """Velocities or forces of floating bodies' origins from the parent's axes into the body's."""
        return replaced(y,
                        [(own, matrix_from_quaternion.unchecked(q[turn]).T @ y[own]) for _, own, turn in self.floats])

    def in_parent(self, q: Array, y: Array) -> Array:
        return replaced(y, [(own, matrix_from_quaternion.unchecked(q[turn]) @ y[own]) for _, own, turn in self.floats])


def _within(whole: slice, part: slice) -> slice:
    """A part of a slice, counted from its start."""
    return slice(whole.start + part.start, whole.start + part.stop)


def replaced(y: Array, parts: list[tuple[slice, Any]]) -> Array:
    """A vector with some of its parts, in order, replaced."""
    pieces = []
    last = 0
    for own, value in sorted(parts, key=lambda part: part[0].start):
        pieces += [y[last:own.start], value]
        last = own.stop
    return np.concatenate([*pieces, y[last:]]) if parts else y


def _moved(tree: Tree, parts: Parts, q: Array, nu: Array, turns: list[CayleyTurn], share: float) -> Array:
    """The configuration after a share of the displacement `nu`, turning by `turns`."""
    new = []
    attitudes = {a.start: k for k, (a, _) in enumerate(parts.turns)}
    for joint, a, b in zip(tree.joints, tree.q_slices, tree.v_slices, strict=True):
        size = joint.motion.nq
        if joint.motion.attitude is not None:
            new.append(q[a.start:a.stop - 4] + share * nu[b.start:b.stop - 3])
            new.append(quaternion_product.unchecked(q[a.stop - 4:a.stop], turns[attitudes[a.stop - 4]].quaternion))
        elif size:
            new.append(q[a] + share * nu[b])
    return np.concatenate(new)


def _stage(mechanics: TreeMechanics, stage: Stage, point: Point, carried: Array) -> tuple[Point, Array]:
    """One look: at the start for the momentum, at the midpoint for velocities, at the end for the velocity there."""
    flow, h, row = stage
    q = point.x.q
    tree = mechanics.tree
    nv = tree.nv
    parts = Parts.of(tree)
    P = carried[nv:2 * nv]
    end = carried[2 * nv:]
    nu = where(row.first, parts.in_parent(q, point.x.qd), carried[:nv])
    turns = [CayleyTurn(h * nu[own]) for _, own in parts.turns]
    halfway = _moved(tree, parts, q, h * nu, [turn.half for turn in turns], 0.5)
    here = where(row.first, q, where(row.last, end, halfway))
    velocity = parts.in_body(here, nu)
    looked = point.x.replaced({"q": here, "qd": velocity})
    u = flow.inputs(looked)
    tau, *more = (u[name] for name in u)
    M = mechanics.inertia(here, *more)
    p = parts.in_parent(here, M @ velocity)
    f = mechanics.slope_of_lagrangian(here, velocity, *more)
    generalized = mechanics.generalized_forces(here, velocity, tau, *more)
    going = None
    if isinstance(flow, HeldFlow):
        going = flow.going["qd"]
        generalized = generalized - flow.friction(flow.system.holds[0])
    power = flow.power(looked, u) if mechanics.is_timed else velocity @ generalized  # prescribed motions do work
    force = parts.in_parent(here, generalized)
    before, after = _momenta(parts, turns, h, p, f)
    wanted = where(row.last, P, P + h / 2 * force - before)
    arriving = _moved(tree, parts, q, h * nu, turns, 1.0)
    forces = parts.in_body(here, wanted)
    if isinstance(mechanics, ConstrainedMechanics):
        mechanics = mechanics.at(flow.t + (1 - row.time) * h)
        at_end = where(row.last, end, arriving)
        found = parts.in_parent(here, _kept(mechanics, parts, stage, q, at_end, here, M, forces))
        arriving, _ = mechanics.projected(arriving, found)
    else:
        solved = mechanics.solved(M, forces) if going is None else held_solve(M, forces, going)
        found = parts.in_parent(here, solved)
    x = point.x.replaced({"q": where(row.last, end, q),
                          "qd": where(row.last, parts.in_body(here, found), point.x.qd)})
    arrived = Point(x, where(row.closing, point.work + h * power, point.work),
                    where(row.closing, np.maximum(point.defect, largest(np.abs(found))), point.defect))
    next_nu = where(row.first, nu, where(row.closing, nu, nu + found))
    next_P = where(row.first, p, where(row.closing, after + h / 2 * force, P))
    next_end = where(row.closing, arriving, end)
    return arrived, np.concatenate([next_nu, next_P, next_end])


def _kept(mechanics: ConstrainedMechanics, parts: Parts, stage: Stage, q: Array, end: Array, here: Array, M: Array,
          forces: Array) -> Array:
    """The change of the velocities, in the axes of bodies `here`, under the forces of constraints: those act at the
    start of the step so that they are kept at its end, and at its end so that the velocity there keeps them."""
    _, h, row = stage
    pushed, seen = (np.stack([parts.in_body(here, parts.in_parent(place, line)) for line in mechanics.jacobian(place)])
                    for place in (where(row.last, end, q), end))
    rates = where(row.last, -mechanics.rates(end, np.zeros(mechanics.tree.nv)), -mechanics.residual(end) / h)
    return mechanics.solved_between(pushed, seen, M, forces, rates)


def _momenta(parts: Parts, turns: list[CayleyTurn], h: Scalar, p: Array, f: Array) -> tuple[Array, Array]:
    """The momenta before and after the step that its midpoint asks for, without the forces."""
    u = replaced(p + h / 2 * f, [(own, p[own] + h * turn.half_derivative(turn.half.dcay(f[own])))
                                 for turn, (_, own) in zip(turns, parts.turns, strict=True)])
    before = parts.changed(u, lambda k, y: CayleyTurn(-turns[k].x).inverse_dcay(y)) - h * parts.changed(
        f, lambda k, y: _turned(turns[k].half, y))
    return before, parts.changed(u, lambda k, y: turns[k].inverse_dcay(y))


def _turned(turn: CayleyTurn, y: Array) -> Array:
    return matrix_from_quaternion.unchecked(turn.quaternion) @ y


def _start(points: Array, layout: Layout) -> Array:
    q, qd = (points[..., layout.places[name]] for name in ("q", "qd"))
    return np.concatenate([qd, qd, q], axis=-1)


def variational(mechanics: TreeMechanics, iterations: int = 6) -> FixedStep:
    """The method for a mechanism; `closing` is the last look at the midpoint."""
    if isinstance(mechanics, ConstrainedMechanics) and mechanics.holds_velocities:
        raise UnsupportedError(f"{mechanics.tree.name} has constraints on velocities: its steps do not follow from an "
                               "action alone; use another method")
    stages = range(iterations + 2)
    table = StageTable(first=[k == 0 for k in stages], last=[k == iterations + 1 for k in stages],
                  time=[0.0, *[0.5] * iterations, 1.0], closing=[k == iterations for k in stages])
    return FixedStep(2, table, _start, partial(_stage, mechanics))
