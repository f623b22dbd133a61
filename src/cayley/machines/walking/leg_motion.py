"""Legs that move by a program: their angles in time, and the motion, torques and reactions that follow.

A leg from the hip to its foot is d = hip - foot = A (sin alpha, cos alpha) + B (sin beta, cos beta), A and B the
lengths of thigh and shank: a triangle, whose knee is in front of the line from hip to foot or behind it.

    flight            xdd, zdd, thetadd, u1, u2, q1, q2            7 linear equations, 7 unknowns
    single support    thetadd, u1, u2, q1, q2, Rx, Rz              7 and 7; the hip follows from the foot that stands
    double support    the same and the reaction of the other foot  7 and 9: how the feet share the load is free
In double support up to two relations, rows of E (thetadd, u1, u2, q1, q2, R1x, R1z, R2x, R2z) = e, functions of the
time and of q and qd, say what the equations do not; of what they leave open, the torques with the least sum of squares
are taken. The angular acceleration of the trunk and the share of the vertical load are tied by the moments: one of them
may be given, and a horizontal force besides. At a touch-down the same equations hold of impulses and of changes of
velocities, without what velocities and gravity ask for; the rates of the legs remain those of the program. With legs
that have neither mass nor inertia, the body gives the reactions and statics the torques.
Source: Mladenova 10.1, 10.2, spec E-74."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from cayley.compiler.derivatives.derivative import independent, jacobian
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.solving.definite import only_where
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar, is_finite_number
from cayley.errors import ModelError, SignatureError, shown
from cayley.machines.walking.biped_equations import (
    DRIVES,
    LEGS,
    BipedPosture,
    bias,
    feet_drift,
    feet_jacobian,
    inertia,
    posture_of_angles,
)

if TYPE_CHECKING:
    from cayley.machines.walking.planar_biped import PlanarBiped


Legs = Callable[[Scalar], Array]
KNEES = {"forward": 1.0, "backward": -1.0}


class LegMotion(NamedTuple):
    """Angles (4) of the legs, their rates and accelerations."""

    angles: Array
    rates: Array
    accelerations: Array


def leg_motion(legs: Legs) -> Kernel[tuple[Array, ...]]:
    """The kernel from `t` to the `LegMotion` of a program. The program is a function that returns alpha1, beta1,
    alpha2, beta2 and is differentiated, a motion of these four, or a motion of four orientations (unit quaternions
    about y) such as a spline of rotations."""
    if not callable(legs):
        raise SignatureError(f"the program of the legs must be a function of the time or a motion, not {shown(legs)}")

    def text(t: Scalar) -> LegMotion:
        now = independent(t)
        found = legs(now)
        given = [np.stack(list(part)) if np.ndim(part) else part for part in (found if np.iterable(found) else [found])]
        shapes = [np.shape(part) for part in given]
        if shapes == [(4,)] * 3:
            return LegMotion(*given)
        if shapes == [(16,), (12,), (12,)]:
            return _of_rotations(*given)
        if len(given) != 4 or any(np.ndim(part) for part in given):
            raise SignatureError("legs(t) gives four angles, alpha1, beta1, alpha2, beta2, or a motion of these or of "
                                 f"four orientations, not values of the shapes {', '.join(map(str, shapes))}")
        return LegMotion(*_with_rates([angle + 0.0 * now for angle in given], now))

    made = kernel("()->(4),(4),(4)", name="legs", inputs=("t",), outputs=LegMotion._fields)(text)
    made.traced()  # what is no program is refused at once
    return made


def _with_rates(values: list[Scalar], t: Scalar) -> tuple[Array, Array, Array]:
    """Functions of the time with their two derivatives."""
    found = np.stack(values)
    rates = jacobian(found, np.stack([t]))[:, 0]
    return found, rates, jacobian(rates, np.stack([t]))[:, 0]


def _of_rotations(q: Array, qd: Array, qdd: Array) -> LegMotion:
    """The leg motion of unit quaternions with their angular velocities and accelerations. Rotations out of the plane
    are no program: not finite."""
    quaternions = q.reshape(4, 4)
    tilt = sum(quaternions[:, 1]**2 + quaternions[:, 3]**2)
    angles = 2 * np.arctan2(quaternions[:, 2], quaternions[:, 0])
    return LegMotion(where(tilt < 1e-16, angles, np.nan), qd[1::3], qdd[1::3])


def leg_angles(biped: PlanarBiped, hip: Array, feet: Array, knees: str) -> Array:
    """alpha1, beta1, alpha2, beta2 with the hip (2) and both feet (4) where they are given; not finite where a foot is
    out of reach."""
    A = 2 * biped.half_thigh
    B = 2 * biped.half_shank
    angles = []
    for foot in range(2):
        x = hip[0] - feet[2 * foot]
        z = hip[1] - feet[2 * foot + 1]
        square = x * x + z * z
        length = np.sqrt(square)
        way = np.arctan2(x, z)
        at_hip = np.arccos((A * A + square - B * B) / (2 * A * length))
        at_foot = np.arccos((B * B + square - A * A) / (2 * B * length))
        angles += [way - KNEES[knees] * at_hip, way + KNEES[knees] * at_foot]
    return np.stack(angles)


Relation: TypeAlias = Callable[[Scalar, Array, Array], tuple[Array, Scalar]]
Given: TypeAlias = Callable[[Scalar], Scalar] | float
UNKNOWNS = ("thetadd", "u1", "u2", "q1", "q2", "R1x", "R1z", "R2x", "R2z")


def led_trunk(angle: Given, stiffness: float = 200.0, damping: float = 28.0) -> Relation:
    """The trunk is led to an angle [rad], which may be a function of the time:
    thetadd = angledd + stiffness (angle - theta) + damping (angled - thetad)."""
    _check_number("the angle of a trunk", angle)
    for word, value in (("stiffness", stiffness), ("damping", damping)):
        if not is_finite_number(value) or value < 0:
            raise ModelError(f"a trunk is led by a finite {word}, not negative, not by {shown(value)}")

    def text(t: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        now = independent(t)
        wanted, rate, second = _with_rates([_at(angle, now) + 0.0 * now], now)
        return wanted[0], rate[0], second[0]

    trunk = kernel("()->(),(),()", name="trunk", inputs=("t",))(text)

    def relation(t: Scalar, q: Array, qd: Array) -> tuple[Array, Scalar]:
        wanted, rate, second = trunk(t)
        return _row(thetadd=1.0), second + stiffness * (wanted - q[2]) + damping * (rate - qd[2])

    return relation


def shared_load(share: Given) -> Relation:
    """The first foot bears this share of the vertical load, which may be a function of the time."""
    return _shared("the share of a load", share, "R1z", "R2z")


def shared_thrust(share: Given) -> Relation:
    """The first foot bears this share of the horizontal force, which may be a function of the time."""
    return _shared("the share of a thrust", share, "R1x", "R2x")


def _shared(what: str, share: Given, first: str, second: str) -> Relation:
    _check_number(what, share)
    return lambda t, q, qd: (_row(**{first: 1.0 - _at(share, t), second: -_at(share, t)}), 0.0)


def _at(given: Given, t: Scalar) -> Scalar:
    return given(t) if callable(given) else given


def _check_number(what: str, given: Given) -> None:
    if not callable(given) and not is_finite_number(given):
        raise ModelError(f"{what} must be a finite number or a function of the time, not {shown(given)}")


def _row(**entries: Scalar) -> Array:
    return np.stack([entries.get(name, 0.0) for name in UNKNOWNS])


_TRUNK = np.eye(7)[:, 2:3]
_APART = 1e-9  # rad: relations that are no more apart say the same


class Gait(NamedTuple):
    """The motion that follows from the program of the legs: accelerations (7), torques (4) and reactions (4); of a
    touch-down the changes of velocities, and impulses of torques and of the ground."""

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
    """Double support by a program that allows it; rows (0 to 2, 9) of relations with their values."""
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
    def of(cls, biped: PlanarBiped, at: BipedPosture, foot: int, hip: Array, legs: Array, load: Array) -> _Standing:
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
        """The gait with rows (0 to 2, 9) of relations and their values; `foot` is the first here."""
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
        """The gait with this reaction (2) of the other foot."""
        whole = self.found + self.by_other @ other
        bears = 0.0 * whole[5:] + other
        reactions = (whole[5:], bears) if self.foot == 0 else (bears, whole[5:])
        return Gait(np.concatenate([self.hip, whole[:1], self.legs]), whole[1:5], np.concatenate(reactions))
