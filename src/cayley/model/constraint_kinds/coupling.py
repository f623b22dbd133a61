"""Couplings of coordinates: linear ones (gears, racks, differentials, mimic joints) and polynomials (cams)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cayley.errors import ModelError
from cayley.model.constraint_kinds.constraint import LIST, OFFSET, WORD, WORDS, Constraint, Tendon
from cayley.model.joint_kinds.held import FrameMotion, Row, derived, value_of


@dataclass(frozen=True)
class Coupling(Constraint):
    """Joints of one coordinate each that move together: sum of `coefficients` times coordinates = `value`.

    Gears of ratio 3 are `Coupling("gears", ("wheel", "pinion"), (3.0, 1.0))`; a rack is the same with a prismatic
    joint, the coefficient of the wheel being minus its radius [m]."""

    joints: tuple[str, ...] = field(metadata=WORDS)
    coefficients: tuple[float, ...] = field(metadata=LIST)
    value: float = field(default=0.0, metadata=OFFSET)
    word = "coupling"
    row_names = ("coordinates",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", tuple(self.joints))
        numbers = np.asarray(self.coefficients, dtype=float)
        if len(self.joints) < 1 or numbers.shape != (len(self.joints),
                                                     ) or not np.isfinite([*numbers, self.value]).all():
            raise ModelError(
                f"the coupling {self.name!r} needs one finite coefficient for each of its joints, and a finite value: "
                f"{len(self.joints)} joints, coefficients {self.coefficients}, value {self.value}")
        if len(set(self.joints)) < len(self.joints) or not numbers.all():
            raise ModelError(f"the coupling {self.name!r} names a joint twice, or with the coefficient 0: "
                             f"{self.joints}, {self.coefficients}")
        object.__setattr__(self, "coefficients", tuple(numbers.tolist()))

    @property
    def coordinates(self) -> tuple[str, ...]:
        return self.joints

    def rows(self, frames: Sequence[FrameMotion], coordinates: Sequence[Row]) -> list[Row]:
        value, rate, second = (sum(c * entry for c, entry in zip(self.coefficients, entries, strict=True))
                               for entries in zip(*coordinates, strict=True))
        return [Row(value - self.value, rate, second)]

    @property
    def mjcf_tendon(self) -> Tendon:
        return Tendon("fixed", tuple(zip(self.joints, self.coefficients, strict=True)), self.value)

    @property
    def sentence(self) -> str:
        return f"coupling {self.name!r} ties joints {', '.join(map(repr, self.joints))}"


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
