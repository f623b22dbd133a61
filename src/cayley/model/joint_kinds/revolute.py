"""A revolute joint, with limits or continuous."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from cayley.compiler.typing import Array
from cayley.model.joint_kinds.held import POINT, Held, axis_kept
from cayley.model.joint_kinds.motion import Axis, Mark, Screw, SharedMoments, plane_across, turn
from cayley.model.joint_kinds.single_axis import SingleAxis


@dataclass(frozen=True)
class Revolute(SingleAxis):
    """A revolute joint: a turn about an axis; `continuous` ones have no limits."""

    continuous: bool = False
    nq = 1
    nv = 1

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
        return self._screw(1.0, 0.0)

    @property
    def held(self) -> tuple[Held, ...]:
        return (*POINT, *axis_kept(np.asarray(self.axis), plane_across(self.axis)))

    @property
    def endless(self) -> bool:
        return self.continuous

    @property
    def wraps(self) -> tuple[bool, ...]:
        return (True,)

    @property
    def samples(self) -> list[Array]:
        return [np.array([2 * np.pi * k / 5]) for k in range(5)]

    @property
    def shared_moments(self) -> SharedMoments:
        return SharedMoments(1.0, np.array([0.0, 0.0, 1.0]), np.diag([0.0, 0.0, 1.0]))

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
    def letter(self) -> str:
        return "R"

    @property
    def mark(self) -> Mark:
        return Mark("cylinder", "turn", self._along_axis(on_parent=False))
