"""Revolute, prismatic and helical joints: one coordinate, about or along one axis."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ModelError
from cayley.model.joint_kinds.held import ATTITUDE, POINT, Along, HeldDirection, Screwed, axis_kept, on_line
from cayley.model.joint_kinds.motion import (
    AXIS,
    NUMBER,
    Axis,
    JointKind,
    Mark,
    MarkAxis,
    Screw,
    SharedMoments,
    Z,
    plane_across,
    turn,
)

_ROUNDING = 1e-15  # components of a unit axis this small are zero


@dataclass(frozen=True)
class SingleAxis(JointKind):
    """A motion about and along an axis; it holds its child fast until `screw` says how much."""

    axis: Axis = field(default=Z, metadata=AXIS)

    def turned(self, R: Array) -> SingleAxis:
        turned = R.T @ np.asarray(self.axis)
        turned = np.where(np.abs(turned) < _ROUNDING, 0.0, turned)
        return replace(self, axis=Z if np.abs(turned - Z).max() < _ROUNDING else tuple(turned.tolist()))

    def in_units(self, length: float) -> SingleAxis:
        return self

    def reach(self, lower: Array, upper: Array) -> float:
        slide = 0.0 if self.screw is None else self.screw.slide
        return abs(slide) * float(np.maximum(np.abs(lower), np.abs(upper))[0]) if slide else 0.0


@dataclass(frozen=True)
class Revolute(SingleAxis):
    """A revolute joint: a turn about an axis; `continuous` ones have no limits."""

    continuous: bool = False
    nq = nv = 1
    wraps = (True,)
    letter = "R"
    shared_moments = SharedMoments(1.0, np.array([0.0, 0.0, 1.0]), np.diag([0.0, 0.0, 1.0]))

    @property
    def word(self) -> str:  # type: ignore[override]
        return "continuous" if self.continuous else "revolute"

    def pose(self, q: Array) -> tuple[Any, Any]:
        return turn(self.axis, q[0]), np.zeros(3)

    def subspace(self, q: Array) -> Array:
        return np.array([[0.0, 0.0, 0.0, *self.axis]]).T

    @classmethod
    def from_keys(cls, word: str, **values: Any) -> Self:  # noqa: ANN401 (what a file says, checked by the class)
        return cls(**values, continuous=word == "continuous")

    @property
    def screw(self) -> Screw:
        return Screw(self.axis, 1.0, 0.0)

    @property
    def held(self) -> tuple[HeldDirection, ...]:
        return (*POINT, *axis_kept(np.asarray(self.axis), plane_across(self.axis)))

    @property
    def endless(self) -> bool:
        return self.continuous

    @property
    def samples(self) -> list[Array]:
        return [np.array([2 * np.pi * k / 5]) for k in range(5)]

    @property
    def urdf(self) -> str:
        return self.word

    @property
    def mjcf(self) -> tuple[tuple[str, Axis | None], ...]:
        return (("hinge", self.axis),)

    @property
    def mjcf_loop(self) -> tuple[Axis, ...]:
        return (0.0, 0.0, 0.0), self.axis

    @property
    def mark(self) -> Mark:
        return Mark("cylinder", "turn", (MarkAxis(self.axis, False),))


@dataclass(frozen=True)
class Prismatic(SingleAxis):
    """A prismatic joint: a slide along an axis."""

    nq = nv = 1
    word = "prismatic"
    urdf = "prismatic"
    shared_moments = SharedMoments(0.0, np.zeros(3), np.ones((3, 3)))

    def pose(self, q: Array) -> tuple[Any, Any]:
        return np.eye(3), np.asarray(self.axis) * q[0]

    def subspace(self, q: Array) -> Array:
        return np.array([[*self.axis, 0.0, 0.0, 0.0]]).T

    @property
    def screw(self) -> Screw:
        return Screw(self.axis, 0.0, 1.0)

    @property
    def held(self) -> tuple[HeldDirection, ...]:
        return (*on_line(plane_across(self.axis)), *ATTITUDE)

    @property
    def samples(self) -> list[Array]:
        return [np.array([q]) for q in (0.0, 1.0, -1.0)]

    @property
    def mjcf(self) -> tuple[tuple[str, Axis | None], ...]:
        return (("slide", self.axis),)

    @property
    def mark(self) -> Mark:
        return Mark("sleeve", "slide", (MarkAxis(self.axis, True),))


@dataclass(frozen=True)
class Helical(SingleAxis):
    """A turn about an axis with a slide of `pitch` metres for each radian along it."""

    pitch: float = field(default=0.0, metadata=NUMBER)
    nq = nv = 1
    word = "helical"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not np.isfinite(self.pitch):
            raise ModelError(
                f"the pitch of a helical joint is {self.pitch}: it must be a finite number of metres a radian")

    def pose(self, q: Array) -> tuple[Any, Any]:
        return turn(self.axis, q[0]), np.asarray(self.axis) * (self.pitch * q[0])

    def subspace(self, q: Array) -> Array:
        return np.array([[*(self.pitch * np.asarray(self.axis)), *self.axis]]).T

    @property
    def screw(self) -> Screw:
        return Screw(self.axis, 1.0, self.pitch)

    @property
    def held(self) -> tuple[HeldDirection, ...]:
        axis = np.asarray(self.axis)
        across = plane_across(self.axis)
        along = Screwed("screw", axis, across, self.pitch) if self.pitch else Along("along", axis)
        return (*on_line(across), *axis_kept(axis, across), along)

    def in_units(self, length: float) -> Helical:
        return replace(self, pitch=self.pitch / length)

    @property
    def length(self) -> float:
        return abs(self.pitch)

    @property
    def samples(self) -> list[Array]:
        return [np.array([q]) for q in np.linspace(0.0, 5.0, 16)]

    @property
    def mark(self) -> Mark:
        return Mark("cylinder", "screw", (MarkAxis(self.axis, True),))
