"""Wheels that roll on a plane without slip, upright, leaning (a disc) or with rollers on the rim, and points that do
not slip sideways: a knife edge, the middle of a steered axle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar, is_finite_number
from cayley.errors import ModelError, shown
from cayley.model.constraint_kinds.constraint import ANGLE, AXIS, NUMBER, WORD, Constraint
from cayley.model.joint_kinds.held import FrameMotion, Row
from cayley.model.joint_kinds.motion import Axis, plane_across

FLAT = 1e-3  # rad: what leans so far lies flat
_LEFT_BY_STEPS = 0.1  # of the velocity of the rim: more is not what a step leaves open
_UP = np.array([0.0, 0.0, 1.0])
_UNIT = 1e-9
_CORNERS = 32


def checked_axis(given: Axis, whose: str) -> Axis:
    """A unit vector as numbers; raises an error that names its owner otherwise."""
    try:
        axis = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"{whose} is {shown(given)}: it must be a unit vector (3)") from None
    if axis.shape != (3,) or not abs(float(axis @ axis) - 1) < _UNIT:
        raise ModelError(f"{whose} is {shown(given)}: it must be a unit vector (3)")
    x, y, z = axis.tolist()
    return x, y, z


def check_radius(word: str, name: str, radius: float) -> None:
    """Raise an error that names a wheel or ball whose radius is not a positive number."""
    if not is_finite_number(radius) or radius <= 0:
        raise ModelError(f"the {word} {name!r} has the radius {shown(radius)}: it must be positive and finite")


def slip(along: Array, along_rate: Array, v: Array, dv: Array) -> Row:
    """The row of a velocity that has no part along a direction; both have their rates."""
    return Row(0.0, along @ v, along @ dv + along_rate @ v)


def circle(axis: Axis, radius: float) -> Array:
    """A closed line (k, 3) about an axis."""
    angles = np.linspace(0.0, 2 * np.pi, _CORNERS + 1)
    return radius * np.stack([np.cos(angles), np.sin(angles)], axis=1) @ plane_across(axis)


def seen_from(first: FrameMotion, second: FrameMotion) -> FrameMotion:
    """The motion of the second frame relative to the first, in the axes of the first, which may turn."""
    R = first.R.T
    d = second.p - first.p
    u = second.u - first.u - np.cross(first.w, d)
    w = second.w - first.w
    du = (second.du - first.du - np.cross(first.dw, d) - np.cross(first.w, np.cross(first.w, d))
          - 2 * np.cross(first.w, u))
    dw = second.dw - first.dw - np.cross(first.w, w)
    return FrameMotion(R @ second.R, R @ d, R @ u, R @ w, R @ du, R @ dw)


class WheelContact(NamedTuple):
    """The contact of a wheel with the ground, in the ground's axes: the velocity of its point there and its rate, the
    directions ahead and aside with theirs, and the cosine by which the wheel is less high than its radius."""

    v: Array
    dv: Array
    ahead: Array
    ahead_rate: Array
    aside: Array
    aside_rate: Array
    upright: Scalar


@dataclass(frozen=True)
class Wheel(Constraint):
    """A thin wheel of `radius` [m] about `axis`, a unit vector in the axes of the frame `wheel`, whose origin is its
    centre. It rolls on the plane x, y of the frame `ground`, whose z is up: the lowest point has no velocity along the
    wheel (slip), nor across it (side slip). The mechanism must keep it on the ground: a `Disc` is kept there by itself.

    A wheel that lies flat, to a thousandth of a radian, touches everywhere: there its rows are not numbers."""

    ground: str = field(metadata=WORD)
    wheel: str = field(metadata=WORD)
    radius: float = field(metadata=NUMBER)
    axis: Axis = field(default=(0.0, 1.0, 0.0), metadata=AXIS)
    word = "wheel"
    of_frames = ("ground", "wheel")
    row_names: ClassVar[tuple[str, ...]] = ("slip", "side slip")
    positions = 0
    says = "{0.word} {0.name!r} rolls on {0.ground!r}"

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", checked_axis(self.axis, f"the axis of the {self.word} {self.name!r}"))
        check_radius(self.word, self.name, self.radius)

    @property
    def rim(self) -> Array | None:
        return circle(self.axis, self.radius)

    def rows(self, frames: Sequence[FrameMotion], coordinates: Sequence[Row]) -> list[Row]:
        at = self.contact(seen_from(*frames))
        return [slip(at.ahead, at.ahead_rate, at.v, at.dv), slip(at.aside, at.aside_rate, at.v, at.dv)]

    def contact(self, wheel: FrameMotion) -> WheelContact:
        """At the lowest point, of the wheel's motion on the ground. With c the height of the axis' tip and s = sqrt(1 -
        c^2), that point is - radius (up - c axis) / s from the centre."""
        axis = wheel.R @ np.asarray(self.axis)
        turned = np.cross(wheel.w, axis)
        c = axis[2]
        dc = turned[2]
        upright = np.sqrt(where(c * c < 0.5, 1 - c * c, axis[0] * axis[0] + axis[1] * axis[1]))
        s = where(upright > FLAT, upright, np.nan)
        ds = -c * dc / s
        arm = -self.radius * (_UP - c * axis) / s
        arm_rate = (self.radius * (dc * axis + c * turned) - arm * ds) / s
        v = wheel.u + np.cross(wheel.w, arm)
        dv = wheel.du + np.cross(wheel.dw, arm) + np.cross(wheel.w, arm_rate)
        ahead = np.cross(axis, _UP) / s
        ahead_rate = (np.cross(turned, _UP) - ahead * ds) / s
        return WheelContact(v, dv, ahead, ahead_rate, np.cross(_UP, ahead), np.cross(_UP, ahead_rate), upright)

    def margin(self, frames: Sequence[FrameMotion]) -> Scalar | None:
        axis = seen_from(*frames).R @ np.asarray(self.axis)
        return np.hypot(axis[0], axis[1]) - FLAT

    @property
    def where_lost(self) -> str:
        return f"{self.word} {self.name!r} lies flat, and touches everywhere"


@dataclass(frozen=True)
class Disc(Wheel):
    """A wheel that touches the plane x, y of the ground with its edge, however it leans: a coin, a hoop, the wheel of a
    bicycle. Its first row holds the height of its centre. It may not leave the ground, and may pull at it."""

    word = "disc"
    presses = True
    row_names = ("contact", *Wheel.row_names)
    positions = 1

    def rows(self, frames: Sequence[FrameMotion], coordinates: Sequence[Row]) -> list[Row]:
        disc = seen_from(*frames)
        at = self.contact(disc)
        return [Row(disc.p[2] - self.radius * at.upright, at.v[2], at.dv[2]), *super().rows(frames, coordinates)]

    def passed(self, frames: Sequence[FrameMotion]) -> Scalar | None:
        """True if a step has led to the other side: the centre falls though it should rise, by more than the error of a
        step."""
        disc = seen_from(*frames)
        axis = disc.R @ np.asarray(self.axis)
        at = self.contact(disc)
        rise = -axis[2] * np.cross(disc.w, axis)[2] / at.upright
        rounding = _LEFT_BY_STEPS**2 * (disc.w @ disc.w)
        return (at.v[2] * rise < 0.0) & (at.v[2] * at.v[2] > self.radius**2 * (rise * rise + rounding))


@dataclass(frozen=True)
class RollerWheel(Wheel):
    """A wheel that touches the ground with rollers, which roll by themselves: only along their axes it does not slip.
    At the ground that axis is turned by `angle` [rad] from the wheel's axis towards where the wheel rolls: pi/2 is an
    omni wheel, pi/4 and -pi/4 are the mecanum wheels of the two hands."""

    angle: float = field(default=np.pi / 2, metadata=ANGLE)
    word = "roller wheel"
    row_names = ("slip along its rollers",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_finite_number(self.angle):
            raise ModelError(f"the roller wheel {self.name!r} has rollers at the angle {shown(self.angle)}: it must be "
                             "finite")

    def rows(self, frames: Sequence[FrameMotion], coordinates: Sequence[Row]) -> list[Row]:
        at = self.contact(seen_from(*frames))
        c = np.cos(self.angle)
        s = np.sin(self.angle)
        return [slip(c * at.aside + s * at.ahead, c * at.aside_rate + s * at.ahead_rate, at.v, at.dv)]


@dataclass(frozen=True)
class KnifeEdge(Constraint):
    """A blade on the ground: the origin of the frame `blade` has no velocity, seen from the frame `ground`, along
    `across`, a unit vector in the axes of the blade."""

    ground: str = field(metadata=WORD)
    blade: str = field(metadata=WORD)
    across: Axis = field(default=(0.0, 1.0, 0.0), metadata=AXIS)
    word = "knife edge"
    of_frames = ("ground", "blade")
    row_names = ("side slip",)
    positions = 0
    says = "knife edge {0.name!r} lets {0.blade!r} not slip sideways on {0.ground!r}"

    def __post_init__(self) -> None:
        object.__setattr__(self, "across", checked_axis(self.across, f"across of the knife edge {self.name!r}"))

    def rows(self, frames: Sequence[FrameMotion], coordinates: Sequence[Row]) -> list[Row]:
        blade = seen_from(*frames)
        a = blade.R @ np.asarray(self.across)
        return [slip(a, np.cross(blade.w, a), blade.u, blade.du)]


@dataclass(frozen=True)
class SteeredAxle(Constraint):
    """The middle of a steered axle does not slip sideways on the ground: the origin of the frame `axle`, whose x is
    ahead and z up, has no velocity across the direction ahead turned about z by the coordinate of the joint `steering`.
    """

    ground: str = field(metadata=WORD)
    axle: str = field(metadata=WORD)
    steering: str = field(metadata=WORD)
    word = "steered axle"
    of_frames = ("ground", "axle")
    of_coordinates = ("steering",)
    row_names = ("side slip",)
    positions = 0
    says = "steered axle {0.name!r} lets {0.axle!r} not slip sideways on {0.ground!r}"

    def rows(self, frames: Sequence[FrameMotion], coordinates: Sequence[Row]) -> list[Row]:
        axle = seen_from(*frames)
        steering, = coordinates
        c = np.cos(steering.value)
        s = np.sin(steering.value)
        across = axle.R @ np.stack([-s, c, 0.0 * s])
        ahead = axle.R @ np.stack([c, s, 0.0 * s])
        return [slip(across, np.cross(axle.w, across) - steering.rate * ahead, axle.u, axle.du)]
