"""Electrical elements: voltages across, currents through."""

from __future__ import annotations

from dataclasses import dataclass, field

from cayley.machines.networks.elements.element import (
    AcrossSensor,
    AcrossSource,
    AcrossStorage,
    Dissipator,
    ThroughSensor,
    ThroughSource,
    ThroughStorage,
)


@dataclass(frozen=True)
class Resistor(Dissipator):
    """A resistance [ohm]."""

    resistance: float = field(kw_only=True)

    def __post_init__(self) -> None:
        self.check_positive(resistance=self.resistance)

    def conductance(self) -> float:
        return 1.0 / self.resistance


@dataclass(frozen=True)
class Capacitor(AcrossStorage):
    """A capacitance [F], its state the voltage."""

    capacitance: float = field(kw_only=True)

    def __post_init__(self) -> None:
        self.check_positive(capacitance=self.capacitance)

    def capacity(self) -> float:
        return self.capacitance


@dataclass(frozen=True)
class Inductor(ThroughStorage):
    """An inductance [H], its state the current."""

    inductance: float = field(kw_only=True)

    def __post_init__(self) -> None:
        self.check_positive(inductance=self.inductance)

    def inertance(self) -> float:
        return self.inductance


class VoltageSource(AcrossSource):
    """A voltage [V], the input of its name."""


class CurrentSource(ThroughSource):
    """A current [A], the input of its name, which comes out at its first end."""


class Voltmeter(AcrossSensor):
    """The voltage between two nodes as an output."""


class Ammeter(ThroughSensor):
    """The current through it as an output."""
