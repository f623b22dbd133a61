"""Constraints that a joint imposes: for each direction in which its child cannot move, a function of two frames that is
zero while the joint holds, with its first and second rates.

    d      from the origin of the joint's frame (first) to that of the child's (second)
    a, b   directions fixed to the first and to the second frame
Poses and rates are in the axes of one body, and relative to it. The coordinates of the joint do not occur, so that a
joint that closes a loop brings no unknowns with it. What is zero may be so the wrong way round as well, an axis that
points back: its `sense` is then not 1. The texts are scalar-agnostic."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar


class FrameMotion(NamedTuple):
    """A frame in motion: rotation (3, 3) and origin, velocity, angular velocity, and their rates, each (3)."""

    R: Array
    p: Array
    u: Array
    w: Array
    du: Array
    dw: Array


class Row(NamedTuple):
    """The value of a constraint, its rate, and the rate of that."""

    value: Scalar
    rate: Scalar
    second: Scalar


class HeldDirection(ABC):
    """A direction in which the child cannot move."""

    name: str
    unit: ClassVar[str] = "m"

    @abstractmethod
    def row(self, first: FrameMotion, second: FrameMotion) -> Row:
        """The value that is zero while the joint holds, with its rates."""

    def sense(self, first: FrameMotion, second: FrameMotion) -> Scalar | None:
        """A cosine: 1 where the joint holds as it should, 0 or -1 where it holds the wrong way round; None if it never
        does."""
        return None


@dataclass(frozen=True, eq=False)
class Along(HeldDirection):
    """The child's origin stays where it is along an axis of the joint's frame: a.d = 0 [m]."""

    name: str
    axis: Array

    def row(self, first: FrameMotion, second: FrameMotion) -> Row:
        a = first.R @ self.axis
        d = second.p - first.p
        spun = np.cross(first.w, a)
        value = a @ d
        rate = a @ (second.u - first.u) + spun @ d
        turning = np.cross(first.dw, a) + np.cross(first.w, spun)
        return Row(value, rate, a @ (second.du - first.du) + 2 * (spun @ (second.u - first.u)) + turning @ d)


@dataclass(frozen=True, eq=False)
class Aligned(HeldDirection):
    """An axis of the joint's frame and one of the child keep their angle: a.b = cosine. If the child's axis must be
    towards a direction of the joint's frame besides, that is what it is `facing`."""

    name: str
    fixed: Array
    moving: Array
    cosine: float = 0.0
    facing: Array | None = None
    unit = "rad"

    def row(self, first: FrameMotion, second: FrameMotion) -> Row:
        a = first.R @ self.fixed
        b = second.R @ self.moving
        across = np.cross(b, a)
        spin = second.w - first.w
        across_rate = np.cross(np.cross(second.w, b), a) + np.cross(b, np.cross(first.w, a))
        return Row(a @ b - self.cosine, across @ spin, across @ (second.dw - first.dw) + across_rate @ spin)

    def sense(self, first: FrameMotion, second: FrameMotion) -> Scalar | None:
        return None if self.facing is None else (first.R @ self.facing) @ (second.R @ self.moving)


@dataclass(frozen=True, eq=False)
class Screwed(HeldDirection):
    """The child's origin goes `pitch` metres along an axis for each radian about it, whatever the number of turns: its
    rate is that of a.d - pitch times the angle, which is that of the value while the axes are one line."""

    name: str
    axis: Array
    across: Array
    pitch: float

    def row(self, first: FrameMotion, second: FrameMotion) -> Row:
        along = Along(self.name, self.axis).row(first, second)
        cosine, sine = self._angle(first, second)
        turned = along.value / self.pitch
        a = first.R @ self.axis
        spin = second.w - first.w
        turning = a @ (second.dw - first.dw) + np.cross(first.w, a) @ spin
        return Row(self.pitch * (np.sin(turned) * cosine - np.cos(turned) * sine),
                   along.rate - self.pitch * (a @ spin), along.second - self.pitch * turning)

    def sense(self, first: FrameMotion, second: FrameMotion) -> Scalar | None:
        turned = Along(self.name, self.axis).row(first, second).value / self.pitch
        cosine, sine = self._angle(first, second)
        return np.cos(turned) * cosine + np.sin(turned) * sine

    def _angle(self, first: FrameMotion, second: FrameMotion) -> tuple[Scalar, Scalar]:
        """Cosine and sine of the angle of the child about the axis."""
        x, y = self.across
        R = first.R.T @ second.R
        return (x @ R @ x + y @ R @ y) / 2, (y @ R @ x - x @ R @ y) / 2


@dataclass(frozen=True, eq=False)
class OnCurve(HeldDirection):
    """A condition on the child's origin in the joint's frame: one coordinate is a polynomial of another: a.d = f(b.d)
    [m]."""

    name: str
    axis: Array
    along: Array
    polynomial: tuple[float, ...]  # the coefficients of f, constant first

    def row(self, first: FrameMotion, second: FrameMotion) -> Row:
        own = Along(self.name, self.axis).row(first, second)
        other = Along(self.name, self.along).row(first, second)
        value, slope, bend = (value_of(derived(self.polynomial, k), other.value) for k in range(3))
        return Row(own.value - value, own.rate - slope * other.rate,
                   own.second - slope * other.second - bend * (other.rate * other.rate))


def derived(polynomial: tuple[float, ...], times: int) -> tuple[float, ...]:
    """The coefficients of a derivative of a polynomial, constant first."""
    for _ in range(times):
        polynomial = tuple(k * c for k, c in enumerate(polynomial))[1:]
    return polynomial


def value_of(polynomial: tuple[float, ...], x: Scalar) -> Scalar:
    """A polynomial at x, by Horner's rule."""
    value: Any = None
    for coefficient in reversed(polynomial):
        value = coefficient if value is None else value * x + coefficient
    return 0.0 if value is None else value


_X, _Y, _Z = np.eye(3)
POINT = (Along("x", _X), Along("y", _Y), Along("z", _Z))
ATTITUDE = (Aligned("turn about x", _Y, _Z, facing=_Z), Aligned("turn about y", _Z, _X, facing=_X),
            Aligned("turn about z", _X, _Y, facing=_Y))


def on_line(across: Array) -> tuple[Along, ...]:
    """The child's origin on a line through the joint's, given two axes (2, 3) at right angles to it."""
    return tuple(Along(f"across {k}", direction) for k, direction in enumerate(across, start=1))


def axis_kept(axis: Array, across: Array) -> tuple[Aligned, ...]:
    """An axis that both frames have in common."""
    return tuple(Aligned(f"tilt {k}", direction, axis, facing=axis) for k, direction in enumerate(across, start=1))
