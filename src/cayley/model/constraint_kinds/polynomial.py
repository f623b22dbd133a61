"""A joint that follows another along a polynomial: cams, couplings of anatomical joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cayley.compiler.typing import Scalar
from cayley.errors import ModelError
from cayley.model.constraint_kinds.constraint import LIST, WORD, Constraint
from cayley.model.joint_kinds.held import FrameMotion, Row


@dataclass(frozen=True)
class Polynomial(Constraint):
    """A joint of one coordinate, the follower, whose coordinate is a polynomial of another's, the leader: y = c0 + c1 x
    + c2 x^2 + ..., `coefficients` from the constant on [rad, m]. A straight line is a `Coupling` too."""

    follower: str = field(metadata=WORD)
    leader: str = field(metadata=WORD)
    coefficients: tuple[float, ...] = field(metadata=LIST)
    word = "polynomial"

    def __post_init__(self) -> None:
        numbers = np.asarray(self.coefficients, dtype=float)
        if numbers.ndim != 1 or not len(numbers) or not np.isfinite(numbers).all() or self.follower == self.leader:
            raise ModelError(
                f"the polynomial {self.name!r} needs two different joints and a list of finite coefficients, from the "
                f"constant on: {self.follower!r}, {self.leader!r}, {self.coefficients}")
        object.__setattr__(self, "coefficients", tuple(numbers.tolist()))

    @property
    def coordinates(self) -> tuple[str, ...]:
        return self.follower, self.leader

    @property
    def row_names(self) -> tuple[str, ...]:
        return ("coordinates",)

    def rows(self, frames: Sequence[FrameMotion], coordinates: Sequence[Row]) -> list[Row]:
        y, x = coordinates
        slopes = _derived(self.coefficients)
        slope = _value(slopes, x.value)
        bend = _value(_derived(slopes), x.value)
        return [Row(y.value - _value(self.coefficients, x.value), y.rate - slope * x.rate,
                    y.second - slope * x.second - bend * x.rate * x.rate)]

    @property
    def sentence(self) -> str:
        return f"polynomial {self.name!r} makes joint {self.follower!r} follow {self.leader!r}"

    @property
    def mjcf_polynomial(self) -> tuple[float, ...]:
        return self.coefficients


def _derived(coefficients: Sequence[float]) -> tuple[float, ...]:
    return tuple(k * c for k, c in enumerate(coefficients))[1:]


def _value(coefficients: Sequence[float], x: Scalar) -> Scalar:
    """Horner's rule."""
    total: Scalar = 0.0
    for c in reversed(coefficients):
        total = total * x + c
    return total
