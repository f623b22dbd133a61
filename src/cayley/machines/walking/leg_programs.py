"""Semi-inverse gait: the legs move by a program; the body's motion, the torques and the reactions follow.

    flight            xdd, zdd, thetadd, u1, u2, q1, q2            7 linear equations, 7 unknowns
    single support    thetadd, u1, u2, q1, q2, Rx, Rz              7 and 7; the hip follows from the foot that stands
    double support    the same and the reaction of the other foot  7 and 9: how the feet share the load is free
In double support up to two relations, rows of E (thetadd, u1, u2, q1, q2, R1x, R1z, R2x, R2z) = e, say what the
equations do not; of what they leave open, the torques with the least sum of squares are taken. At a touch-down the same
equations hold of impulses and of changes of velocities, without what velocities and gravity ask for; the rates of the
legs remain those of the program. Neither mass nor inertia of the legs is needed to be positive: with none, the body
gives the reactions and statics the torques. Source: Mladenova 10.1, 10.2, spec E-74.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.solving.definite import only_where
from cayley.compiler.typing import Array
from cayley.machines.walking.biped_equations import (
    DRIVES,
    LEGS,
    Posture,
    bias,
    feet_drift,
    feet_jacobian,
    inertia,
    posture_of_angles,
)

if TYPE_CHECKING:
    from cayley.machines.walking.planar_biped import PlanarBiped

_TRUNK = np.eye(7)[:, 2:3]
_APART = 1e-9  # rad: relations that are no more apart say the same


class Gait(NamedTuple):
    """What follows from the program of the legs: accelerations (7), torques (4) and reactions (4); of a touch-down the
    changes of velocities, and impulses of torques and of the ground."""

    qdd: Array
    torques: Array
    reactions: Array


Program = Callable[[Array, Array, Array], Gait]


def in_flight(biped: PlanarBiped, q: Array, qd: Array, legs: Array, carried: Array | None = None) -> Gait:
    """No foot stands; `legs` are the accelerations (4) of their angles. `carried`: generalised forces (7) from
    outside, if there are any."""
    at = posture_of_angles(q)
    H = inertia(biped, at)
    load = bias(biped, at, qd[2:]) if carried is None else bias(biped, at, qd[2:]) - carried
    left = np.concatenate([H[:, :3], -DRIVES], axis=1)
    found = np.linalg.solve(left, -load - H[:, LEGS] @ legs)
    return Gait(np.concatenate([found[:3], legs]), found[3:], 0.0 * found[:4])


def on_one_foot(biped: PlanarBiped, q: Array, qd: Array, legs: Array, foot: int) -> Gait:
    """The foot of this index, 0 or 1, stands."""
    return _Standing.moving(biped, q, qd, legs, foot).alone()


def on_both_feet(biped: PlanarBiped, q: Array, qd: Array, legs: Array, relations: Array, values: Array) -> Gait:
    """Both feet stand, by a program that lets them; rows (0 to 2, 9) of relations with their values."""
    return _Standing.moving(biped, q, qd, legs, 0).shared(relations, values)


def touch_down(biped: PlanarBiped, q: Array, qd: Array, foot: int | None) -> Gait:
    """A foot comes to rest, or both at once (None), by a program that lets them: changes of velocities, and impulses;
    both share them with the least sum of squares of the torques' impulses."""
    first = 0 if foot is None else foot
    at = posture_of_angles(q)
    slip = (feet_jacobian(biped, at) @ qd)[2 * first:2 * first + 2]
    standing = _Standing.of(biped, at, first, -slip, 0.0 * qd[LEGS], 0.0 * qd)
    return standing.shared(np.zeros((0, 9)), np.zeros(0)) if foot is None else standing.alone()


def opening_rates(biped: PlanarBiped, q: Array, qd: Array, legs: Array) -> Array:
    """Velocity and acceleration (4) of the second foot relative to the first, zero where both stand."""
    at = posture_of_angles(q)
    J = feet_jacobian(biped, at)
    drift = feet_drift(biped, at, qd[2:])
    between = J[2:, LEGS] - J[:2, LEGS]
    return np.concatenate([between @ qd[LEGS], between @ legs + drift[2:] - drift[:2]])


class _Standing(NamedTuple):
    """A biped on one foot: thetadd, torques and own reaction (7) where the other foot bears nothing, what a reaction of
    the other foot changes in them (7, 2), and the accelerations of hip (2) and legs (4)."""

    foot: int
    found: Array
    by_other: Array
    hip: Array
    legs: Array

    @classmethod
    def moving(cls, biped: PlanarBiped, q: Array, qd: Array, legs: Array, foot: int) -> _Standing:
        at = posture_of_angles(q)
        own = slice(2 * foot, 2 * foot + 2)
        hip = -feet_drift(biped, at, qd[2:])[own] - feet_jacobian(biped, at)[own, LEGS] @ legs
        return cls.of(biped, at, foot, hip, legs, bias(biped, at, qd[2:]))

    @classmethod
    def of(cls, biped: PlanarBiped, at: Posture, foot: int, hip: Array, legs: Array, load: Array) -> _Standing:
        J = feet_jacobian(biped, at)
        H = inertia(biped, at)
        own = slice(2 * foot, 2 * foot + 2)
        other = slice(2 - 2 * foot, 4 - 2 * foot)
        known = load + H[:, :2] @ hip + H[:, LEGS] @ legs
        left = np.concatenate([H @ _TRUNK, -DRIVES, -J[own].T], axis=1)
        found = np.linalg.solve(left, np.concatenate([-known[:, None], J[other].T], axis=1))
        return cls(foot, found[:, 0], found[:, 1:], hip, legs)

    def alone(self) -> Gait:
        return self._with(np.zeros(2))

    def shared(self, relations: Array, values: Array) -> Gait:
        """With rows (0 to 2, 9) of relations and their values; `foot` is the first here."""
        rows = relations[:, :7] @ self.by_other + relations[:, 7:]
        rest = values - relations[:, :7] @ self.found
        if len(rows) == 2:
            turned = rows[0, 0] * rows[1, 1] - rows[0, 1] * rows[1, 0]
            is_said = turned * turned > _APART**2 * (rows[0] @ rows[0]) * (rows[1] @ rows[1])
            return self._with(only_where(is_said, np.linalg.solve(rows, rest)))
        torques = self.found[1:5]
        by_other = self.by_other[1:5]
        if len(rows) == 0:
            return self._with(np.linalg.solve(by_other.T @ by_other, -(by_other.T @ torques)))
        kept = rows[0] * rest[0] / (rows[0] @ rows[0])
        free = np.stack([-rows[0, 1], rows[0, 0]])
        along = by_other @ free
        return self._with(kept - free * (along @ (torques + by_other @ kept)) / (along @ along))

    def _with(self, other: Array) -> Gait:
        """With this reaction (2) of the other foot."""
        whole = self.found + self.by_other @ other
        bears = 0.0 * whole[5:] + other
        reactions = (whole[5:], bears) if self.foot == 0 else (bears, whole[5:])
        return Gait(np.concatenate([self.hip, whole[:1], self.legs]), whole[1:5], np.concatenate(reactions))
