"""A prismatic joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.model.joint_kinds.held import ATTITUDE, Held, on_line
from cayley.model.joint_kinds.motion import Axis, Mark, Screw, SharedMoments, plane_across
from cayley.model.joint_kinds.single_axis import SingleAxis


@dataclass(frozen=True)
class Prismatic(SingleAxis):
    """A prismatic joint: a slide along an axis."""

    nq = 1
    nv = 1
    word = "prismatic"

    def pose(self, q: Array) -> tuple[Any, Any]:
        return np.eye(3), np.asarray(self.axis) * q[0]

    def subspace(self, q: Array) -> Array:
        return np.array([[*self.axis, 0.0, 0.0, 0.0]]).T

    @property
    def screw(self) -> Screw:
        return self._screw(0.0, 1.0)

    @property
    def held(self) -> tuple[Held, ...]:
        return (*on_line(plane_across(self.axis)), *ATTITUDE)

    @property
    def samples(self) -> list[Array]:
        return [np.array([q]) for q in (0.0, 1.0, -1.0)]

    @property
    def shared_moments(self) -> SharedMoments:
        return SharedMoments(0.0, np.zeros(3), np.ones((3, 3)))

    @property
    def urdf(self) -> str:
        return "prismatic"

    @property
    def mjcf(self) -> tuple[tuple[str, Axis | None], ...]:
        return (("slide", self.axis),)

    @property
    def mark(self) -> Mark:
        return Mark("sleeve", "slide", self._along_axis(on_parent=True))
