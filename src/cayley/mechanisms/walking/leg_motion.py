"""How the legs move in time: a program, with its rates and accelerations; and the angles of legs whose feet are given.

A leg from the hip to its foot is d = hip - foot = A (sin alpha, cos alpha) + B (sin beta, cos beta), A and B the
lengths of thigh and shank: a triangle, whose knee is in front of the line from hip to foot or behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.derivative import independent, jacobian
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, Scalar
from cayley.errors import SignatureError

if TYPE_CHECKING:
    from cayley.mechanisms.walking.planar_biped import PlanarBiped

Legs = Callable[[Scalar], Array]
KNEES = {"forward": 1.0, "backward": -1.0}


class LegMotion(NamedTuple):
    """Angles (4) of the legs, their rates and accelerations."""

    angles: Array
    rates: Array
    accelerations: Array


def leg_motion(legs: Legs) -> Kernel[tuple[Array, ...]]:
    """The kernel `t` to `LegMotion` of a program: a function that gives alpha1, beta1, alpha2, beta2, whose derivatives
    are found in its text, or a motion that gives these four with their rates and accelerations."""
    def text(t: Scalar) -> LegMotion:
        now = independent(t)
        given = [np.stack(list(part)) if np.ndim(part) else part for part in legs(now)]
        if len(given) == 3 and all(np.shape(part) == (4,) for part in given):
            return LegMotion(*given)
        if len(given) != 4 or any(np.ndim(part) for part in given):
            shapes = ", ".join(str(np.shape(part)) for part in given)
            raise SignatureError("legs(t) gives four angles, alpha1, beta1, alpha2, beta2, or these with their rates "
                                 f"and accelerations, not values of the shapes {shapes}")
        angles = np.stack([angle + 0.0 * now for angle in given])
        rates = jacobian(angles, np.stack([now]))[:, 0]
        return LegMotion(angles, rates, jacobian(rates, np.stack([now]))[:, 0])

    made = kernel("()->(4),(4),(4)", name="legs", inputs=("t",), outputs=LegMotion._fields)(text)
    made.traced()  # what is no program is refused at once
    return made


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
