"""Elements of a circuit: its edges, and one law for each of them. A new kind is one class.

An edge goes from a node to another; its across variable a is the difference of the two (voltage, angular velocity,
velocity), its through variable t goes from the first to the second (current, torque, force): a t is the power that the
element takes. A law is one linear equation between the variables of its edges, equal to zero, a source or a state:

    storage of across variables     a = s,   C s' = t                 capacitor, inertia, mass
    storage of through variables    t = s,   L s' = a                 inductor, spring (L = 1/k)
    transformer                     a_1 = n a_2,   t_2 = - n t_1      gear, rack, electrical transformer, motor
    gyrator                         a_1 = - r t_2,   a_2 = r t_1      across and through variables change places
Mechanics and electricity are in the analogy in which across variables are measured between two points."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import ClassVar, Literal, NamedTuple, dataclass_transform

from cayley.compiler.typing import is_finite_number
from cayley.errors import ModelError, shown

Domain = Literal["electric", "rotation", "translation"]
UNITS: dict[str, tuple[str, str]] = {"electric": ("V", "A"), "rotation": ("rad/s", "N m"), "translation": ("m/s", "N")}
GROUND = "ground"


class EdgeEquation(NamedTuple):
    """sum across[k] a_k + sum through[k] t_k = the source or the state that is named, or 0; by numbers of edges."""

    across: Mapping[int, float] = {}
    through: Mapping[int, float] = {}
    source: str = ""
    state: str = ""


class Storage(NamedTuple):
    """A state, its unit, its edge, whether it is the across variable of it, and the C or L of its law."""

    name: str
    unit: str
    edge: int
    is_across: bool
    coefficient: float


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
class _Declared:
    """A base whose subclasses are frozen data classes with keywords."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)


class Element(_Declared, ABC):
    """An element with a name; the kinds say their `ends`, `domains` and `laws`. Their numbers are positive, or `signed`
    and not zero."""

    name: str = field(kw_only=False)
    signed: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for word in (each.name for each in fields(self) if each.type == "float"):
            value = getattr(self, word)
            if not (is_finite_number(value) and (value != 0 if self.signed else value > 0)):
                must = "finite and not zero" if self.signed else "positive and finite"
                raise ModelError(f"the {word} of {self.name!r} is {shown(value)}: it must be a number, {must}")
            object.__setattr__(self, word, float(value))  # NumPy's, too, in double precision

    @property
    def number(self) -> float:
        """The value of its last field."""
        return getattr(self, fields(self)[-1].name)

    @property
    @abstractmethod
    def ends(self) -> tuple[tuple[str, str], ...]:
        """The nodes of its edges."""

    @property
    @abstractmethod
    def domains(self) -> tuple[Domain, ...]:
        """The domains of its edges."""

    @property
    @abstractmethod
    def laws(self) -> tuple[EdgeEquation, ...]:
        """The laws, as many as edges."""

    @property
    def storages(self) -> tuple[Storage, ...]:
        return ()

    @property
    def sensor(self) -> tuple[str, int] | None:
        """The variable, "across" or "through", of which edge is an output of its name."""
        return None

    @property
    def joint(self) -> str:
        """The joint whose speed its source is, and whose force its through variable; none for most."""
        return ""


class OnePort(Element):
    """An element of one edge, from `first` to `second`, whose law has the factors `across` and `through`; its `role` is
    the state, the source or the sensor of its name. `inverse`: the coefficient is one over the number."""

    first: str = field(kw_only=False)
    second: str = GROUND
    domain: ClassVar[Domain] = "electric"
    across: ClassVar[float] = 0.0
    through: ClassVar[float] = 0.0
    role: ClassVar[str] = ""
    inverse: ClassVar[bool] = False

    def __init_subclass__(cls, domain: Domain | None = None, across: float | None = None, through: float | None = None,
                          role: str | None = None, inverse: bool | None = None) -> None:
        given = {"domain": domain, "across": across, "through": through, "role": role, "inverse": inverse}
        for word, value in given.items():
            if value is not None:
                setattr(cls, word, value)
        super().__init_subclass__()

    @property
    def ends(self) -> tuple[tuple[str, str], ...]:
        return ((self.first, self.second),)

    @property
    def domains(self) -> tuple[Domain, ...]:
        return (self.domain,)

    @property
    def coefficient(self) -> float:
        return 1.0 / self.number if self.inverse else self.number

    @property
    def laws(self) -> tuple[EdgeEquation, ...]:
        named = {self.role: self.name} if self.role in ("state", "source") else {}
        return (EdgeEquation({0: self.across} if self.across else {}, {0: self.through} if self.through else {},
                             **named),)

    @property
    def storages(self) -> tuple[Storage, ...]:
        if self.role != "state":
            return ()
        is_across = self.across != 0.0
        return (Storage(self.name, UNITS[self.domain][0 if is_across else 1], 0, is_across, self.coefficient),)

    @property
    def sensor(self) -> tuple[str, int] | None:
        return ("through" if self.across else "across", 0) if self.role == "sensor" else None


class Dissipator(OnePort):
    """t = g a: takes power always."""

    @property
    def laws(self) -> tuple[EdgeEquation, ...]:
        return (EdgeEquation({0: self.coefficient}, {0: -1.0}),)


class AcrossStorage(OnePort, across=1.0, role="state"):
    """C a' = t."""


class ThroughStorage(OnePort, through=1.0, role="state"):
    """L t' = a."""


class AcrossSource(OnePort, across=1.0, role="source"):
    """Holds its second end lower than the first by an input of its name."""


class ThroughSource(OnePort, through=-1.0, role="source"):
    """Drives an input of its name from its second end to the first, out of it into the circuit."""


class AcrossSensor(OnePort, through=1.0, role="sensor"):
    """Measures a difference, and takes nothing."""


class ThroughSensor(OnePort, across=1.0, role="sensor"):
    """Measures what goes through it, and has no difference across it."""


# Electric elements


class Resistor(Dissipator, inverse=True):
    """A resistance [ohm]."""

    resistance: float


class Capacitor(AcrossStorage):
    """A capacitance [F], its state the voltage."""

    capacitance: float


class Inductor(ThroughStorage):
    """An inductance [H], its state the current."""

    inductance: float


class VoltageSource(AcrossSource):
    """A voltage [V], the input of its name."""


class CurrentSource(ThroughSource):
    """A current [A], the input of its name, which comes out at its first end."""


class Voltmeter(AcrossSensor):
    """The voltage between two nodes as an output."""


class Ammeter(ThroughSensor):
    """The current through it as an output."""


# Shafts, with speeds across and torques through


class Inertia(AcrossStorage, domain="rotation"):
    """A moment of inertia about the shaft [kg m^2], its state the speed."""

    inertia: float


class ShaftSpring(ThroughStorage, domain="rotation", inverse=True):
    """A stiffness [N m/rad] between two shafts, its state the torque."""

    stiffness: float


class ShaftDamper(Dissipator, domain="rotation"):
    """Viscous friction [N m s/rad] between two shafts, or a shaft and its housing."""

    damping: float


class TorqueSource(ThroughSource, domain="rotation"):
    """A torque [N m], the input of its name, upon its first shaft."""


class SpeedSource(AcrossSource, domain="rotation"):
    """An angular velocity [rad/s], the input of its name."""


class Tachometer(AcrossSensor, domain="rotation"):
    """The angular velocity of a shaft as an output."""


class TorqueSensor(ThroughSensor, domain="rotation"):
    """The torque through a shaft as an output."""


class JointShaft(OnePort, domain="rotation"):
    """The shaft of a revolute joint of a mechanism: it turns as the joint does, and its torque drives the joint."""

    of: str

    @property
    def laws(self) -> tuple[EdgeEquation, ...]:
        return (EdgeEquation({0: 1.0}, source=f"speed of {self.of}"),)

    @property
    def joint(self) -> str:
        return self.of


# Slides, with velocities across and forces through


class Mass(AcrossStorage, domain="translation"):
    """A mass on a slide [kg], its state the velocity."""

    mass: float


class Spring(ThroughStorage, domain="translation", inverse=True):
    """A stiffness [N/m] between two slides, its state the force."""

    stiffness: float


class Damper(Dissipator, domain="translation"):
    """Viscous friction [N s/m] between two slides, or a slide and its rail."""

    damping: float


class ForceSource(ThroughSource, domain="translation"):
    """A force [N], the input of its name, upon its first slide."""


class VelocitySource(AcrossSource, domain="translation"):
    """A velocity [m/s], the input of its name."""


class VelocitySensor(AcrossSensor, domain="translation"):
    """The velocity of a slide as an output."""


class ForceSensor(ThroughSensor, domain="translation"):
    """The force through a slide as an output."""


class JointSlide(JointShaft, domain="translation"):
    """The slide of a prismatic joint of a mechanism."""


# Elements of two edges, which take no power: what goes in at one comes out at the other


class TwoPort(Element):
    """A transformer of two edges: from `first` to `first_ground`, and from `second` to `second_ground`."""

    first: str = field(kw_only=False)
    second: str = field(kw_only=False)
    first_ground: str = GROUND
    second_ground: str = GROUND
    signed: ClassVar[bool] = True
    domains: ClassVar[tuple[Domain, ...]] = ("rotation", "rotation")

    @property
    def ends(self) -> tuple[tuple[str, str], ...]:
        return (self.first, self.first_ground), (self.second, self.second_ground)

    @property
    def laws(self) -> tuple[EdgeEquation, ...]:
        return EdgeEquation({0: 1.0, 1: -self.number}), EdgeEquation({}, {0: self.number, 1: 1.0})


class Gear(TwoPort):
    """The first shaft makes `ratio` turns for one of the second; a negative ratio turns it round."""

    ratio: float


class Transformer(Gear):
    """An electrical transformer: the first winding has `ratio` times the turns of the second."""

    domains: ClassVar[tuple[Domain, ...]] = ("electric", "electric")


class RackAndPinion(Gear):
    """A pinion, first, on a rack, second: `ratio` radians a metre."""

    domains: ClassVar[tuple[Domain, ...]] = ("rotation", "translation")


class Motor(TwoPort):
    """A motor without losses: its winding, first, has the voltage `constant` times the speed of its shaft, second, and
    the torque upon that is `constant` times the current [V s/rad, N m/A]. A transformer between two domains here, where
    across is voltage; where voltages are likened to torques, it is called a gyrator."""

    constant: float
    domains: ClassVar[tuple[Domain, ...]] = ("electric", "rotation")


class Gyrator(TwoPort):
    """a_1 = `ratio` t_2 out of it, a_2 = `ratio` t_1 into it: across and through variables change places, as between a
    gyroscope's two axes."""

    ratio: float

    @property
    def laws(self) -> tuple[EdgeEquation, ...]:
        return EdgeEquation({0: 1.0}, {1: self.ratio}), EdgeEquation({1: 1.0}, {0: -self.ratio})
