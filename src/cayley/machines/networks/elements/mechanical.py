"""Mechanical elements: shafts, with speeds across and torques through, and slides, with velocities and forces."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from cayley.machines.networks.elements.element import (
    AcrossSensor,
    AcrossSource,
    AcrossStorage,
    Dissipator,
    Domain,
    EdgeEquation,
    OnePort,
    ThroughSensor,
    ThroughSource,
    ThroughStorage,
)


@dataclass(frozen=True)
class Inertia(AcrossStorage):
    """A moment of inertia about the shaft [kg m^2], its state the speed."""

    inertia: float = field(kw_only=True)
    domain: ClassVar[Domain] = "rotation"
    number: ClassVar[str] = "inertia"


@dataclass(frozen=True)
class ShaftSpring(ThroughStorage):
    """A stiffness [N m/rad] between two shafts, its state the torque."""

    stiffness: float = field(kw_only=True)
    domain: ClassVar[Domain] = "rotation"
    number: ClassVar[str] = "stiffness"

    def inertance(self) -> float:
        return 1.0 / self.stiffness


@dataclass(frozen=True)
class ShaftDamper(Dissipator):
    """Viscous friction [N m s/rad] between two shafts, or a shaft and its housing."""

    damping: float = field(kw_only=True)
    domain: ClassVar[Domain] = "rotation"
    number: ClassVar[str] = "damping"


class TorqueSource(ThroughSource):
    """A torque [N m], the input of its name, upon its first shaft."""

    domain: ClassVar[Domain] = "rotation"


class SpeedSource(AcrossSource):
    """An angular velocity [rad/s], the input of its name."""

    domain: ClassVar[Domain] = "rotation"


class Tachometer(AcrossSensor):
    """The angular velocity of a shaft as an output."""

    domain: ClassVar[Domain] = "rotation"


class TorqueSensor(ThroughSensor):
    """The torque through a shaft as an output."""

    domain: ClassVar[Domain] = "rotation"


@dataclass(frozen=True)
class JointShaft(OnePort):
    """The shaft of a revolute joint of a mechanism: it turns as the joint does, and its torque drives the joint."""

    of: str = field(kw_only=True)
    domain: ClassVar[Domain] = "rotation"

    @property
    def laws(self) -> tuple[EdgeEquation, ...]:
        return (EdgeEquation({0: 1.0}, source=f"speed of {self.of}"),)

    @property
    def joint(self) -> str:
        return self.of


@dataclass(frozen=True)
class Mass(AcrossStorage):
    """A mass on a slide [kg], its state the velocity."""

    mass: float = field(kw_only=True)
    domain: ClassVar[Domain] = "translation"
    number: ClassVar[str] = "mass"


@dataclass(frozen=True)
class Spring(ThroughStorage):
    """A stiffness [N/m] between two slides, its state the force."""

    stiffness: float = field(kw_only=True)
    domain: ClassVar[Domain] = "translation"
    number: ClassVar[str] = "stiffness"

    def inertance(self) -> float:
        return 1.0 / self.stiffness


@dataclass(frozen=True)
class Damper(Dissipator):
    """Viscous friction [N s/m] between two slides, or a slide and its rail."""

    damping: float = field(kw_only=True)
    domain: ClassVar[Domain] = "translation"
    number: ClassVar[str] = "damping"


class ForceSource(ThroughSource):
    """A force [N], the input of its name, upon its first slide."""

    domain: ClassVar[Domain] = "translation"


class VelocitySource(AcrossSource):
    """A velocity [m/s], the input of its name."""

    domain: ClassVar[Domain] = "translation"


class VelocitySensor(AcrossSensor):
    """The velocity of a slide as an output."""

    domain: ClassVar[Domain] = "translation"


class ForceSensor(ThroughSensor):
    """The force through a slide as an output."""

    domain: ClassVar[Domain] = "translation"


@dataclass(frozen=True)
class JointSlide(JointShaft):
    """The slide of a prismatic joint of a mechanism."""

    domain: ClassVar[Domain] = "translation"
