"""A cart that is beside its path comes back to it: steering by where it is and where it heads, on each segment or arc.

    e, psi        how far it is to the left of the piece, and how much its heading is turned from it
    z = (1 - k e) tan(psi),   de/ds = z,   dz/ds = u           by the distance s along the piece, k its curvature
    u = - a^2 e - 2 a sign z                                   e dies out as (1 + ...) exp(- a s), ahead and backwards
    tan(phi) = L cos(psi) / (1 - k e) (k + cos(psi)^2 (u / (1 - k e) + k tan(psi)^2))       the steering that does it
exact for any e with k e < 1 and any psi below a right angle. Along the path it hurries to where the program is, with a
speed that is that of the program by (1 - k e) / cos(psi): there is a largest psi, by which this is bounded.
Source: Samson's chained form of a cart; spec S0-83.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, is_finite_number
from cayley.errors import ModelError, SignatureError, UnreachableError
from cayley.machines.rolling.steered_path import SteeredProgram
from cayley.wording import shown


class Steered(NamedTuple):
    """What drives are to do at times (...): the speed ahead [m/s] and the steering [rad]; and how far the cart is from
    its path: to the left [m], in heading [rad], and behind the program along it [m]."""

    speed: Array
    steering: Array
    aside: Array
    turned: Array
    behind: Array


@dataclass(frozen=True)
class PathStabiliser:
    """The law for a program: `rate` [1/m] by which it comes back to the path, `along` [1/s] by which it makes up for
    what it is behind. `steering_limit` [rad]: what the drive can do, by which the angle is cut off. A cart that is
    turned from its path by more than the `heading_limit` [rad] is refused: at 1.4 rad (80 degrees) it goes six times as
    fast as along the path, and without bound towards a right angle.

    >>> from cayley.machines import SteeredPath
    >>> law = PathStabiliser(SteeredPath(0.8, [(2.0, 0.0)]).program(0.5, 1.0), rate=2.0)
    >>> [round(float(x), 4) for x in law(1.0, [0.1, 0.05, 0.0])[1:4]]  # 5 cm to the left: steer to the right
    [-0.1587, 0.05, 0.0]
    """

    program: SteeredProgram
    rate: float = 2.0
    along: float = 1.0
    steering_limit: float = np.pi / 2
    heading_limit: float = 1.4

    def __post_init__(self) -> None:
        for word in ("rate", "along", "steering_limit"):
            value = getattr(self, word)
            if not (is_finite_number(value) and value > 0):
                raise ModelError(f"the {word.replace('_', ' ')} of a path stabiliser is positive, not {shown(value)}")
        if not (is_finite_number(self.heading_limit) and 0 < self.heading_limit < np.pi / 2):
            raise ModelError("the heading limit of a path stabiliser is positive and less than a right angle [rad], "
                             f"not {shown(self.heading_limit)}")

    def __call__(self, t: ArrayLike, pose: ArrayLike) -> Steered:
        """At times, of the pose x, y, heading (..., 3) of the middle of the fixed axle. `UnreachableError` for a cart
        that heads across its path, turned from it beyond the `heading_limit`, or is beyond the centre of an arc."""
        here = np.asarray(pose, dtype=float)
        if here.shape[-1:] != (3,) or not np.isfinite(here).all():
            raise SignatureError(f"the pose of a cart is finite numbers x, y, heading (..., 3), not {shown(pose)}")
        told = self.program(t)
        piece, sign, wanted = self.program.piece_at(t)
        path = self.program.path
        k = path.curvatures[piece]
        s, e, psi = _beside(here, path.corners[piece], k, sign * wanted)
        room = 1 - k * e
        widest = float(np.abs(psi).max(initial=0.0))
        if widest > self.heading_limit or not (room > 0).all():
            raise UnreachableError(f"the cart heads across its path, turned from it by {widest:.4g} rad, more than the "
                                   f"heading limit of {self.heading_limit:.4g}, or is beyond the centre of its arc: it "
                                   "does not come back by steering alone")
        z = room * np.tan(psi)
        u = -self.rate**2 * e - 2 * self.rate * sign * z
        bend = np.cos(psi) / room * (k + np.cos(psi)**2 * (u / room + k * np.tan(psi)**2))
        correction = np.arctan(path.wheelbase * bend) - np.arctan(path.wheelbase * k)
        behind = wanted - sign * s
        speed = (told.roll_rate + self.along * sign * behind) * room / np.cos(psi)
        steering = np.clip(told.steering + correction, -self.steering_limit, self.steering_limit)
        return Steered(speed, steering, e, psi, behind)


def _beside(pose: Array, corner: Array, k: Array, near: Array) -> tuple[Array, Array, Array]:
    """How far along a piece from its corner, signed, how far to its left, and how much turned from it, a pose is; of
    places on a circle, which come back after a turn, the one next to `near` along it."""
    c, sn = np.cos(corner[..., 2]), np.sin(corner[..., 2])
    d = pose[..., :2] - corner[..., :2]
    x = c * d[..., 0] + sn * d[..., 1]
    y = c * d[..., 1] - sn * d[..., 0]
    bent = np.where(k == 0, 1.0, k)
    turn = np.where(k == 0, 0.0, np.arctan2(k * x, 1 - k * y))
    turn = turn + 2 * np.pi * np.round((k * near - turn) / (2 * np.pi))
    s = np.where(k == 0, x, turn / bent)
    radius = np.hypot(k * x, 1 - k * y)
    e = np.where(k == 0, y, (1 - radius) / bent)
    psi = pose[..., 2] - corner[..., 2] - turn
    return s, e, psi - 2 * np.pi * np.round(psi / (2 * np.pi))
