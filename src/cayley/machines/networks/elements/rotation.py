"""Elements on shafts: angular velocities across, torques through."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from cayley.machines.networks.elements.element import (
    AcrossSensor,
    AcrossSource,
    AcrossStorage,
    Dissipator,
    Domain,
    Law,
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

    def __post_init__(self) -> None:
        self.check_positive(inertia=self.inertia)

    def capacity(self) -> float:
        return self.inertia


@dataclass(frozen=True)
class ShaftSpring(ThroughStorage):
    """A stiffness [N m/rad] between two shafts, its state the torque."""

    stiffness: float = field(kw_only=True)
    domain: ClassVar[Domain] = "rotation"

    def __post_init__(self) -> None:
        self.check_positive(stiffness=self.stiffness)

    def inertance(self) -> float:
        return 1.0 / self.stiffness


@dataclass(frozen=True)
class ShaftDamper(Dissipator):
    """Viscous friction [N m s/rad] between two shafts, or a shaft and its housing."""

    damping: float = field(kw_only=True)
    domain: ClassVar[Domain] = "rotation"

    def __post_init__(self) -> None:
        self.check_positive(damping=self.damping)

    def conductance(self) -> float:
        return self.damping


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
    def laws(self) -> tuple[Law, ...]:
        return (Law({0: 1.0}, source=f"speed of {self.of}"),)

    @property
    def joint(self) -> str:
        return self.of
