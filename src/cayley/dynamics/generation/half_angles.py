"""Angles by the tangents of their halves: sines and cosines are rational, and so are the equations of motion.

    t = tan(q/2)        cos q = (1 - t^2)/(1 + t^2)        sin q = 2 t/(1 + t^2)
NumPy asks objects for their own `cos` and `sin`, so that every text for links runs on these as it is. A half-turn has
no t. A motor behind a gear makes many turns, and its spring counts them, which t does not: motors keep their angles, on
which B, C and G do not depend if the rotor is balanced and round. Source: Mladenova 1.2; spec R-52, R-62, E-49.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.rigid_links.links import Links
from cayley.dynamics.rigid_links.minimal_links import without_unseen_turns


@dataclass(frozen=True)
class RationalAngle:
    """An angle of which the cosine and the sine are known."""

    cosine: Scalar
    sine: Scalar

    @staticmethod
    def of_tangent(t: Scalar) -> RationalAngle:
        """The angle whose half has the tangent t."""
        share = 1 / (1 + t * t)
        return RationalAngle((1 - t * t) * share, 2 * t * share)

    def cos(self) -> Scalar:
        return self.cosine

    def sin(self) -> Scalar:
        return self.sine

    def __add__(self, angle: float) -> RationalAngle:
        c = np.cos(angle)
        s = np.sin(angle)
        return RationalAngle(c * self.cosine - s * self.sine, s * self.cosine + c * self.sine)


def with_rational_angles(links: Links, motors: Container[int], t: Array) -> Array:
    """Coordinates (nq) for texts of links: the angles of revolute joints by the tangents of their halves, except of
    those that are `motors`, places in q; round rotors look the same at every angle."""
    found = np.empty(len(t), dtype=object)
    found[:] = [t[k] for k in range(len(t))]
    for link in without_unseen_turns(links).links:
        k = link.coordinates.start
        if link.is_revolute and k not in motors:
            found[k] = RationalAngle.of_tangent(t[k])
        elif link.turns_unseen:
            found[k] = RationalAngle(1.0, 0.0)
    return found


def angles(links: Links, motors: Container[int], t: Array) -> Array:
    """The coordinates q themselves, with angles between -pi and pi where there are tangents."""
    turning = {link.coordinates.start for link in links.links if link.is_revolute}
    return np.stack([2 * np.arctan(t[k]) if k in turning and k not in motors else t[k] for k in range(len(t))])
