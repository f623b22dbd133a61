"""Semi-inverse gait in time: the angles of the legs are functions of the time, the body follows.

A foot that stands leaves the ground where its normal force ends, "take-off"; then the body flies. A start where the
ground would have to pull is refused. Feet that fly are where the program leads them, which may be below the ground:
see the output `feet`. Feet that stand do not slip: what friction that takes is in the output `reactions`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.derivative import independent, jacobian
from cayley.compiler.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.errors import SignatureError
from cayley.mechanisms.walking import biped_equations as equations
from cayley.mechanisms.walking.leg_programs import Gait, in_flight, on_one_foot
from cayley.systems.layout import State
from cayley.systems.ports import Block
from cayley.systems.record import Record
from cayley.systems.system import System
from cayley.systems.transitions import Transition

if TYPE_CHECKING:
    from cayley.mechanisms.walking.planar_biped import PlanarBiped

Legs = Callable[[Scalar], Array]
PHASES = ("flight", "first support", "second support")


class Motion(NamedTuple):
    """Angles (4) of the legs, their rates and accelerations."""

    angles: Array
    rates: Array
    accelerations: Array


def programmed_gait(biped: PlanarBiped, legs: Legs) -> System:
    """State `body` (x, z, theta) with its velocity `rates`, and the mode `phase`."""
    def coordinates(t: Scalar, x: State) -> tuple[Array, Array, Array]:
        program = motion(legs, t)
        return (np.concatenate([x.body, program.angles]), np.concatenate([x.rates, program.rates]),
                program.accelerations)

    def gait(t: Scalar, x: State) -> Gait:
        q, qd, legs_dd = coordinates(t, x)
        ways = [on_one_foot(biped, q, qd, legs_dd, foot) for foot in range(2)]
        found = in_flight(biped, q, qd, legs_dd)
        for phase, way in zip(PHASES[1:], ways, strict=True):
            here = x.is_in("phase", phase)
            found = Gait(*[where(here, a, b) for a, b in zip(way, found, strict=True)])
        return found

    def output(t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        q, qd, _ = coordinates(t, x)
        found = gait(t, x)
        return {"q": q, "qd": qd, "torques": found.torques, "reactions": found.reactions,
                "feet": equations.feet(biped, q, equations.posture_of_angles(q))}

    def power(t: Scalar, x: State, u: Record, p: Record) -> Scalar:
        return gait(t, x).torques @ (equations.DRIVES.T @ coordinates(t, x)[1])

    def slip(t: Scalar, x: State) -> Array:
        """The velocity (2) of the foot that stands."""
        q, qd, _ = coordinates(t, x)
        feet = equations.feet_jacobian(biped, equations.posture_of_angles(q)) @ qd
        second = where(x.is_in("phase", PHASES[2]), feet[2:], 0.0)
        return where(x.is_in("phase", PHASES[1]), feet[:2], second)

    def project(t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        return {"rates": x.rates - np.concatenate([slip(t, x), np.zeros(1)])}

    def pulling(t: Scalar, x: State, u: Record, p: Record) -> Array:
        normal = gait(t, x).reactions[1::2]
        return where(normal < 0.0, normal, 0.0)

    return System(
        "gait", state={"body": Block((3,), velocity="rates"), "rates": Block((3,))}, modes={"phase": PHASES},
        outputs={"q": 7, "qd": 7, "torques": (4, "N m"), "reactions": (4, "N"), "feet": (4, "m")}, output=output,
        derivative=lambda t, x, u, p: gait(t, x).qdd[:3], power=power, project=project,
        constraints={"foot that stands": lambda t, x, u, p: slip(t, x), "ground that would have to pull": pulling},
        energy=lambda t, x, u, p: equations.energy(biped, *coordinates(t, x)[:2]),
        transitions=[Transition(f"take-off of foot{foot + 1}",
                                lambda t, x, u, p, row=2 * foot + 1: gait(t, x).reactions[row],
                                during={"phase": PHASES[1 + foot]}, to={"phase": "flight"}) for foot in range(2)])


def motion(legs: Legs, t: Scalar) -> Motion:
    """A program with its derivatives, which are found in its text."""
    now = independent(t)
    angles = np.stack(list(legs(now)))
    if angles.shape != (4,):
        raise SignatureError(f"legs(t) gives four angles, alpha1, beta1, alpha2, beta2, not the shape {angles.shape}")
    rates = jacobian(angles, np.stack([now]))[:, 0]
    return Motion(angles, rates, jacobian(rates, np.stack([now]))[:, 0])
