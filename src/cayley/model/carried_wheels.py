"""Wheels as ready-made parts: of a few numbers the bodies, joints and tyre that a cart needs for one of its wheels.

A wheel turns about y of what carries it, so that x is ahead, and rolls on the ground. Behind a pivot it is a castor,
whose bracket turns about z; below its pivot, the wheel of a fork that is steered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, is_finite_number
from cayley.errors import ModelError, shown
from cayley.model.constraint_kinds import Constraint, RollerWheel, Wheel
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Joint

_ACROSS = (0.0, 1.0, 0.0)


class WheelParts(NamedTuple):
    """Bodies, joints and rolling constraint that one wheel adds to a mechanism."""

    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    constraint: Constraint


@dataclass(frozen=True)
class CarriedWheel:
    """A wheel with a `radius` [m] on a body, its axle, or its pivot, at a `position` (3) in that body's frame: a disc
    of a `mass` [kg] that rolls on `ground`.

    pivot     with one, a bracket turns about z at the position, and the wheel is behind it by so much [m]: a castor. 0
              is the fork of a steered wheel
    bracket   the mass [kg] of what turns there: a rod from the pivot to the axle
    rollers   with them, the angle [rad] of their axes from the wheel's axle: pi/2 is an omni wheel, pi/4 and -pi/4 are
              mecanum wheels
    heading   where it rolls [rad], from x towards y

    The body is called "NAME wheel", its joint NAME, its tyre "NAME tyre"; the bracket and its joint "NAME bracket" and
    "NAME pivot".

    >>> [joint.name for joint in CarriedWheel("castor", "chassis", (-0.4, 0, 0), 0.05, pivot=0.03).parts.joints]
    ['castor pivot', 'castor']
    """

    name: str
    on: str
    position: ArrayLike
    radius: float
    mass: float = 0.0
    pivot: float | None = None
    bracket: float = 0.0
    rollers: float | None = None
    ground: str = "floor"
    heading: float = 0.0

    def __post_init__(self) -> None:
        where = list(self.position) if isinstance(self.position, Iterable) else []
        if len(where) != 3 or not all(map(is_finite_number, where)):
            raise ModelError(f"the position of the wheel {self.name!r} must be three finite numbers, not "
                             f"{shown(self.position)}")
        if not is_finite_number(self.heading):
            raise ModelError(f"the heading of the wheel {self.name!r} must be a finite angle, not "
                             f"{shown(self.heading)}")
        for word in ("radius", "mass", "bracket"):
            value = getattr(self, word)
            if not is_finite_number(value) or value < 0 or (word == "radius" and value == 0):
                raise ModelError(f"the wheel {self.name!r} has the {word} {shown(value)}: it must be a finite number "
                                 f"{'above' if word == 'radius' else 'of at least'} 0")
        if self.pivot is None and self.bracket:
            raise ModelError(f"the wheel {self.name!r} has a bracket but no pivot: give `pivot`, or leave the "
                             "bracket out")
        if self.pivot is not None and not (is_finite_number(self.pivot) and self.pivot >= 0):
            raise ModelError(f"the distance `pivot` of the wheel {self.name!r} must be 0 or more, not "
                             f"{shown(self.pivot)}")
        _ = self.parts

    @property
    def parts(self) -> WheelParts:
        """The bodies, joints and tyre."""
        inertia = self.mass * self.radius**2 / 4 * np.diag([1.0, 2.0, 1.0])
        bodies = [Body(f"{self.name} wheel", self.mass, inertia=inertia)]
        place = _at(self.position, self.heading)
        joints = [Joint(self.name, self.on, f"{self.name} wheel", Revolute(_ACROSS), place)]
        if self.pivot is not None:
            trail = self.pivot
            turning = self.bracket * trail**2 / 12 * np.diag([0.0, 1.0, 1.0])
            bodies.insert(0, Body(f"{self.name} bracket", self.bracket, (-trail / 2, 0.0, 0.0), turning))
            joints = [Joint(f"{self.name} pivot", self.on, f"{self.name} bracket", Revolute(), place),
                      Joint(self.name, f"{self.name} bracket", f"{self.name} wheel", Revolute(_ACROSS),
                            _at((-trail, 0.0, 0.0)))]
        ends = f"{self.name} tyre", self.ground, f"{self.name} wheel", self.radius, _ACROSS
        rolls = Wheel(*ends) if self.rollers is None else RollerWheel(*ends, self.rollers)
        return WheelParts(tuple(bodies), tuple(joints), rolls)


def _at(position: ArrayLike, heading: float = 0.0) -> Array:
    pose = np.eye(4)
    c = np.cos(heading)
    s = np.sin(heading)
    pose[:2, :2] = [[c, -s], [s, c]]
    pose[:3, 3] = position
    return pose
