"""Semi-inverse gait: the legs move by a program; the body's motion, the torques and the reactions follow.

    flight            xdd, zdd, thetadd, u1, u2, q1, q2            7 linear equations, 7 unknowns
    single support    thetadd, u1, u2, q1, q2, Rx, Rz              7 and 7; the hip follows from the foot that stands
    double support    the same and the reaction of the other foot  7 and 9: how the feet share the load is free
In double support two relations, rows of E (thetadd, u1, u2, q1, q2, R1x, R1z, R2x, R2z) = e, say what the equations do
not, or the torques with the least sum of squares are taken. Neither mass nor inertia of the legs is needed to be
positive: with none, the body gives the reactions and statics the torques. Source: Mladenova 10.1, 10.2, spec E-74.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.mechanisms.walking.biped_equations import (
    DRIVES,
    LEGS,
    bias,
    feet_drift,
    feet_jacobian,
    inertia,
    posture_of_angles,
)

if TYPE_CHECKING:
    from cayley.mechanisms.walking.planar_biped import PlanarBiped

_TRUNK = np.eye(7)[:, 2:3]


class Gait(NamedTuple):
    """What follows from the program of the legs."""

    qdd: Array
    torques: Array
    reactions: Array


Program = Callable[[Array, Array, Array], Gait]


def in_flight(biped: PlanarBiped, q: Array, qd: Array, legs: Array) -> Gait:
    """No foot stands; `legs` are the accelerations (4) of their angles."""
    at = posture_of_angles(q)
    H = inertia(biped, at)
    left = np.concatenate([H[:, :3], -DRIVES], axis=1)
    found = np.linalg.solve(left, -bias(biped, at, qd[2:]) - H[:, LEGS] @ legs)
    return Gait(np.concatenate([found[:3], legs]), found[3:], 0.0 * found[:4])


def on_one_foot(biped: PlanarBiped, q: Array, qd: Array, legs: Array, foot: int) -> Gait:
    """The foot of this index, 0 or 1, stands."""
    found, hip, _ = _standing(biped, q, qd, legs, foot)
    none = 0.0 * found[5:]
    reactions = (found[5:], none) if foot == 0 else (none, found[5:])
    return Gait(np.concatenate([hip, found[:1], legs]), found[1:5], np.concatenate(reactions))


def on_both_feet(biped: PlanarBiped, q: Array, qd: Array, legs: Array, relations: Array, values: Array) -> Gait:
    """Both feet stand, by a program that lets them; two rows (2, 9) of relations with their values (2)."""
    found, hip, by_second = _standing(biped, q, qd, legs, 0)
    own = relations[:, :7] @ by_second + relations[:, 7:]
    second = np.linalg.solve(own, values - relations[:, :7] @ found)
    return _shared(found, hip, by_second, second, legs)


def with_least_torques(biped: PlanarBiped, q: Array, qd: Array, legs: Array) -> Gait:
    """Both feet stand; of all ways to share the load the one with the least sum of squares of the torques."""
    found, hip, by_second = _standing(biped, q, qd, legs, 0)
    of_torques = by_second[1:5]
    second = np.linalg.solve(of_torques.T @ of_torques, -(of_torques.T @ found[1:5]))
    return _shared(found, hip, by_second, second, legs)


def opening_rates(biped: PlanarBiped, q: Array, qd: Array, legs: Array) -> Array:
    """Velocity and acceleration (4) of the second foot relative to the first, zero where both stand."""
    at = posture_of_angles(q)
    J = feet_jacobian(biped, at)
    drift = feet_drift(biped, at, qd[2:])
    between = J[2:, LEGS] - J[:2, LEGS]
    return np.concatenate([between @ qd[LEGS], between @ legs + drift[2:] - drift[:2]])


def _shared(found: Array, hip: Array, by_second: Array, second: Array, legs: Array) -> Gait:
    whole = found + by_second @ second
    return Gait(np.concatenate([hip, whole[:1], legs]), whole[1:5], np.concatenate([whole[5:], second]))


def _standing(biped: PlanarBiped, q: Array, qd: Array, legs: Array, foot: int) -> tuple[Array, Array, Array]:
    """thetadd, torques and own reaction (7) where the other foot bears nothing, the acceleration (2) of the hip, and
    what a reaction (2) of the other foot changes in the seven."""
    at = posture_of_angles(q)
    own = slice(2 * foot, 2 * foot + 2)
    other = slice(2 - 2 * foot, 4 - 2 * foot)
    J = feet_jacobian(biped, at)
    H = inertia(biped, at)
    hip = -feet_drift(biped, at, qd[2:])[own] - J[own, LEGS] @ legs
    known = bias(biped, at, qd[2:]) + H[:, :2] @ hip + H[:, LEGS] @ legs
    left = np.concatenate([H @ _TRUNK, -DRIVES, -J[own].T], axis=1)
    right = np.concatenate([-known[:, None], J[other].T], axis=1)
    found = np.linalg.solve(left, right)
    return found[:, 0], hip, found[:, 1:]
