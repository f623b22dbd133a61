"""Electric elements, and elements of two edges, which take no power: what goes in at one comes out at the other.

    transformer    a_1 = n a_2,   t_2 = - n t_1        gear, rack and pinion, electrical transformer, motor
    gyrator        a_1 = - r t_2,   a_2 = r t_1        across and through variables change places
A motor makes a voltage of a speed, across of across: here it is a transformer between two domains. Where voltages are
likened to torques, it is called a gyrator.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import ClassVar

import numpy as np

from cayley.errors import ModelError
from cayley.machines.networks.elements.element import (
    GROUND,
    AcrossSensor,
    AcrossSource,
    AcrossStorage,
    Dissipator,
    Domain,
    EdgeEquation,
    Element,
    ThroughSensor,
    ThroughSource,
    ThroughStorage,
)
from cayley.wording import shown


@dataclass(frozen=True)
class TwoPort(Element):
    """An element of two edges: from `first` to `first_ground`, and from `second` to `second_ground`."""

    first: str
    second: str
    first_ground: str = field(default=GROUND, kw_only=True)
    second_ground: str = field(default=GROUND, kw_only=True)
    first_domain: ClassVar[Domain] = "rotation"
    second_domain: ClassVar[Domain] = "rotation"

    @property
    def ends(self) -> tuple[tuple[str, str], ...]:
        return (self.first, self.first_ground), (self.second, self.second_ground)

    @property
    def domains(self) -> tuple[Domain, ...]:
        return self.first_domain, self.second_domain

    def check_ratio(self, word: str, value: float) -> None:
        if not (isinstance(value, Real) and np.isfinite(float(value)) and value != 0):
            raise ModelError(
                f"the {word} of {self.name!r} is {shown(value)}: it must be a number, finite and not zero")
        object.__setattr__(self, word, float(value))


@dataclass(frozen=True)
class Gear(TwoPort):
    """The first shaft makes `ratio` turns for one of the second; a negative ratio turns it round."""

    ratio: float = field(kw_only=True)

    def __post_init__(self) -> None:
        self.check_ratio("ratio", self.ratio)

    @property
    def laws(self) -> tuple[EdgeEquation, ...]:
        return EdgeEquation({0: 1.0, 1: -self.ratio}), EdgeEquation({}, {0: self.ratio, 1: 1.0})


class Transformer(Gear):
    """An electrical transformer: the first winding has `ratio` times the turns of the second."""

    first_domain: ClassVar[Domain] = "electric"
    second_domain: ClassVar[Domain] = "electric"


class RackAndPinion(Gear):
    """A pinion, first, on a rack, second: `ratio` radians a metre."""

    second_domain: ClassVar[Domain] = "translation"


@dataclass(frozen=True)
class Motor(TwoPort):
    """A motor without losses: its winding, first, has the voltage `constant` times the speed of its shaft, second, and
    the torque upon that is `constant` times the current [V s/rad, N m/A]."""

    constant: float = field(kw_only=True)
    first_domain: ClassVar[Domain] = "electric"

    def __post_init__(self) -> None:
        self.check_ratio("constant", self.constant)

    @property
    def laws(self) -> tuple[EdgeEquation, ...]:
        return EdgeEquation({0: 1.0, 1: -self.constant}), EdgeEquation({}, {0: self.constant, 1: 1.0})


@dataclass(frozen=True)
class Gyrator(TwoPort):
    """a_1 = `ratio` t_2 out of it, a_2 = `ratio` t_1 into it: across and through variables change places, as between a
    gyroscope's two axes."""

    ratio: float = field(kw_only=True)

    def __post_init__(self) -> None:
        self.check_ratio("ratio", self.ratio)

    @property
    def laws(self) -> tuple[EdgeEquation, ...]:
        return EdgeEquation({0: 1.0}, {1: self.ratio}), EdgeEquation({1: 1.0}, {0: -self.ratio})


@dataclass(frozen=True)
class Resistor(Dissipator):
    """A resistance [ohm]."""

    resistance: float = field(kw_only=True)
    number: ClassVar[str] = "resistance"

    def conductance(self) -> float:
        return 1.0 / self.resistance


@dataclass(frozen=True)
class Capacitor(AcrossStorage):
    """A capacitance [F], its state the voltage."""

    capacitance: float = field(kw_only=True)
    number: ClassVar[str] = "capacitance"


@dataclass(frozen=True)
class Inductor(ThroughStorage):
    """An inductance [H], its state the current."""

    inductance: float = field(kw_only=True)
    number: ClassVar[str] = "inductance"


class VoltageSource(AcrossSource):
    """A voltage [V], the input of its name."""


class CurrentSource(ThroughSource):
    """A current [A], the input of its name, which comes out at its first end."""


class Voltmeter(AcrossSensor):
    """The voltage between two nodes as an output."""


class Ammeter(ThroughSensor):
    """The current through it as an output."""
