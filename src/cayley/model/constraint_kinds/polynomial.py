"""A joint that follows another along a polynomial: cams, couplings of anatomical joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cayley.errors import ModelError
from cayley.model.constraint_kinds.constraint import LIST, WORD, Constraint
from cayley.model.joint_kinds.held import FrameMotion, Row, derived, value_of


@dataclass(frozen=True)
class Polynomial(Constraint):
    """A joint of one coordinate, the follower, whose coordinate is a polynomial of another's, the leader: y = c0 + c1 x
    + c2 x^2 + ..., `coefficients` from the constant on [rad, m]. A straight line is a `Coupling` too."""

    follower: str = field(metadata=WORD)
    leader: str = field(metadata=WORD)
    coefficients: tuple[float, ...] = field(metadata=LIST)
    word = "polynomial"
    of_coordinates = ("follower", "leader")
    row_names = ("coordinates",)
    says = "polynomial {0.name!r} makes joint {0.follower!r} follow {0.leader!r}"

    def __post_init__(self) -> None:
        numbers = np.asarray(self.coefficients, dtype=float)
        if numbers.ndim != 1 or not len(numbers) or not np.isfinite(numbers).all() or self.follower == self.leader:
            raise ModelError(
                f"the polynomial {self.name!r} needs two different joints and a list of finite coefficients, from the "
                f"constant on: {self.follower!r}, {self.leader!r}, {self.coefficients}")
        object.__setattr__(self, "coefficients", tuple(numbers.tolist()))

    def rows(self, frames: Sequence[FrameMotion], coordinates: Sequence[Row]) -> list[Row]:
        y, x = coordinates
        value, slope, bend = (value_of(derived(self.coefficients, k), x.value) for k in range(3))
        return [Row(y.value - value, y.rate - slope * x.rate, y.second - slope * x.second - bend * x.rate * x.rate)]

    @property
    def mjcf_polynomial(self) -> tuple[float, ...]:
        return self.coefficients
