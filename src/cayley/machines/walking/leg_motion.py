"""How the legs move in time: a program, with its rates and accelerations; and the angles of legs whose feet are given.

A leg from the hip to its foot is d = hip - foot = A (sin alpha, cos alpha) + B (sin beta, cos beta), A and B the
lengths of thigh and shank: a triangle, whose knee is in front of the line from hip to foot or behind it.

How two feet share a load: relations that a walker in double support needs besides its equations.

Each is a function of the time and of q and qd that gives a row (9) over (thetadd, u1, u2, q1, q2, R1x, R1z, R2x, R2z)
and its value. The angular acceleration of the trunk and the share of the vertical load are tied by the moments: one of
them may be given, and a horizontal force besides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from cayley.compiler.derivatives.derivative import independent, jacobian
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar, is_finite_number
from cayley.errors import ModelError, SignatureError
from cayley.wording import shown

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
    """The kernel `t` to `LegMotion` of a program: a function that gives alpha1, beta1, alpha2, beta2, whose derivatives
    are found in its text; a motion that gives these four with their rates and accelerations; or a motion of four
    orientations, unit quaternions about y, as splines of rotations are."""
    if not callable(legs):
        raise SignatureError(f"the program of the legs is a function of the time or a motion, not {shown(legs)}")

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
        angles = np.stack([angle + 0.0 * now for angle in given])
        rates = jacobian(angles, np.stack([now]))[:, 0]
        return LegMotion(angles, rates, jacobian(rates, np.stack([now]))[:, 0])

    made = kernel("()->(4),(4),(4)", name="legs", inputs=("t",), outputs=LegMotion._fields)(text)
    made.traced()  # what is no program is refused at once
    return made


def _of_rotations(q: Array, qd: Array, qdd: Array) -> LegMotion:
    """Of unit quaternions and their angular velocities and accelerations. Rotations out of the plane are no program:
    not finite."""
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
UNKNOWNS = ("thetadd", "u1", "u2", "q1", "q2", "R1x", "R1z", "R2x", "R2z")


def led_trunk(angle: Callable[[Scalar], Scalar] | float, stiffness: float = 200.0, damping: float = 28.0) -> Relation:
    """The trunk is led to an angle [rad], which may be a function of the time:
    thetadd = angledd + stiffness (angle - theta) + damping (angled - thetad)."""
    _check_number("the angle of a trunk", angle)
    for word, value in (("stiffness", stiffness), ("damping", damping)):
        if not is_finite_number(value) or value < 0:
            raise ModelError(f"a trunk is led by a finite {word}, not negative, not by {shown(value)}")

    def text(t: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        now = independent(t)
        wanted = np.stack([(angle(now) if callable(angle) else angle) + 0.0 * now])
        rate = jacobian(wanted, np.stack([now]))[:, 0]
        return wanted[0], rate[0], jacobian(rate, np.stack([now]))[0, 0]

    trunk = kernel("()->(),(),()", name="trunk", inputs=("t",))(text)

    def relation(t: Scalar, q: Array, qd: Array) -> tuple[Array, Scalar]:
        wanted, rate, second = trunk(t)
        return _row(thetadd=1.0), second + stiffness * (wanted - q[2]) + damping * (rate - qd[2])

    return relation


def shared_load(share: Callable[[Scalar], Scalar] | float) -> Relation:
    """The first foot bears this share of the vertical load, which may be a function of the time."""
    _check_number("the share of a load", share)

    def relation(t: Scalar, q: Array, qd: Array) -> tuple[Array, Scalar]:
        part = share(t) if callable(share) else share
        return _row(R1z=1.0 - part, R2z=-part), 0.0

    return relation


def shared_thrust(share: Callable[[Scalar], Scalar] | float) -> Relation:
    """The first foot bears this share of the horizontal force, which may be a function of the time."""
    _check_number("the share of a thrust", share)

    def relation(t: Scalar, q: Array, qd: Array) -> tuple[Array, Scalar]:
        part = share(t) if callable(share) else share
        return _row(R1x=1.0 - part, R2x=-part), 0.0

    return relation


def _check_number(what: str, given: Callable[[Scalar], Scalar] | float) -> None:
    if not callable(given) and not is_finite_number(given):
        raise ModelError(f"{what} is a finite number or a function of the time, not {shown(given)}")


def _row(**entries: Scalar) -> Array:
    return np.stack([entries.get(name, 0.0) for name in UNKNOWNS])
