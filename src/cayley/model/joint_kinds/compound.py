"""Joints that are sequences of elementary motions: universal, cylindrical and planar ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.model.joint_kinds.held import POINT, Aligned, Along, HeldDirection, axis_kept, on_line
from cayley.model.joint_kinds.motion import AXIS, Axis, JointKind, Mark, MarkAxis, Z, plane_across, split
from cayley.model.joint_kinds.single_axis import Prismatic, Revolute


@dataclass(frozen=True)
class Compound(JointKind):
    """Motions that follow one another, the one nearest to the parent first: `elementary` says which. Velocities are
    rates."""

    def pose(self, q: Array) -> tuple[Any, Any]:
        first, *others = zip(self.elementary, split(self.elementary, q, "nq"), strict=True)
        R, p = first[0].pose(first[1])
        for part, own in others:
            r, s = part.pose(own)
            R, p = R @ r, p + R @ s
        return R, p

    def subspace(self, q: Array) -> Array:
        columns: list[tuple[Any, Any]] = []  # slides and turns of the frame after each part
        given = self.neutral if q is None else q
        for part, own in zip(self.elementary, split(self.elementary, given, "nq"), strict=True):
            r, p = part.pose(own)
            columns = [(r.T @ (slide + np.cross(turn, p)), r.T @ turn) for slide, turn in columns]
            columns += [(column[:3], column[3:]) for column in part.subspace(own).T]
        return np.stack([np.concatenate(column) for column in columns], axis=1)

    def bias(self, q: Array, qd: Array) -> Array:
        u = w = du = dw = np.zeros(3)  # velocities and true accelerations of the frame after each part
        parts = zip(self.elementary, split(self.elementary, q, "nq"), split(self.elementary, qd, "nv"), strict=True)
        for part, own, speed in parts:
            r, p = part.pose(own)
            slide, turn = np.split(part.subspace(own) @ speed, 2)
            dslide, dturn = np.split(part.bias(own, speed), 2)
            before = r.T @ w
            swung = np.cross(w, p)
            du = r.T @ (du + np.cross(dw, p) + np.cross(w, swung)) + np.cross(2 * before + turn, slide) + dslide
            dw = r.T @ dw + np.cross(before, turn) + dturn
            u = r.T @ (u + swung) + slide
            w = before + turn
        return np.concatenate([du - np.cross(w, u), dw])

    @property
    def slides(self) -> bool:
        return any(part.slides for part in self.elementary)

    @property
    def turns(self) -> bool:
        return any(part.turns for part in self.elementary)

    @property
    def wraps(self) -> tuple[bool, ...]:
        return tuple(wraps for part in self.elementary for wraps in part.wraps)

    def reach(self, lower: Array, upper: Array) -> float:
        ends = zip(self.elementary, split(self.elementary, lower, "nq"), split(self.elementary, upper, "nq"),
                   strict=True)
        return sum(part.reach(low, high) for part, low, high in ends)

    @property
    def mjcf(self) -> tuple[tuple[str, Axis | None], ...] | None:
        found: list[tuple[str, Axis | None]] = []
        for part in self.elementary:
            if part.mjcf is None:
                return None
            found += part.mjcf
        return tuple(found)


@dataclass(frozen=True)
class Universal(Compound):
    """A turn about `axis`, then one about `second`, which turns with the first."""

    axis: Axis = field(default=(1.0, 0.0, 0.0), metadata=AXIS)
    second: Axis = field(default=(0.0, 1.0, 0.0), metadata=AXIS)
    nq = nv = 2
    word = "universal"
    constant_subspace = False
    coordinate_names = ("first", "second")

    @property
    def elementary(self) -> tuple[JointKind, ...]:
        return Revolute(self.axis), Revolute(self.second)

    @property
    def held(self) -> tuple[HeldDirection, ...]:
        first = np.asarray(self.axis)
        second = np.asarray(self.second)
        return (*POINT, Aligned("twist", first, second, float(first @ second)))

    @property
    def mark(self) -> Mark:
        return Mark("cylinder", "turn", (MarkAxis(self.axis, True), MarkAxis(self.second, False)))


@dataclass(frozen=True)
class Cylindrical(Compound):
    """A slide along `axis` and a turn about it, each by itself: (slide, angle)."""

    axis: Axis = field(default=Z, metadata=AXIS)
    nq = nv = 2
    word = "cylindrical"
    coordinate_names = ("slide", "angle")

    @property
    def elementary(self) -> tuple[JointKind, ...]:
        return Prismatic(self.axis), Revolute(self.axis)

    @property
    def held(self) -> tuple[HeldDirection, ...]:
        across = plane_across(self.axis)
        return (*on_line(across), *axis_kept(np.asarray(self.axis), across))

    @property
    def mark(self) -> Mark:
        return Mark("cylinder", "slide", (MarkAxis(self.axis, True),))


@dataclass(frozen=True)
class Planar(Compound):
    """A slide in the plane across `axis` and a turn about it: (x, y, angle), x and y along the joint's own axes of the
    plane."""

    axis: Axis = field(default=Z, metadata=AXIS)
    nq = nv = 3
    word = "planar"
    constant_subspace = False
    coordinate_names = ("x", "y", "angle")
    urdf = "planar"

    @property
    def plane(self) -> Array:
        return plane_across(self.axis)

    @property
    def elementary(self) -> tuple[JointKind, ...]:
        x, y = self.plane.tolist()
        return Prismatic(tuple(x)), Prismatic(tuple(y)), Revolute(self.axis)

    @property
    def held(self) -> tuple[HeldDirection, ...]:
        axis = np.asarray(self.axis)
        return (Along("along", axis), *axis_kept(axis, self.plane))

    @property
    def mark(self) -> Mark:
        return Mark("plate", "slide", (MarkAxis(self.axis, False),), on_child=True)
