"""Elements of a circuit: its edges, and one law for each of them.

An edge goes from a node to another; its across variable a is the difference of the two (voltage, angular velocity,
velocity), its through variable t goes from the first to the second (current, torque, force): a t is the power that the
element takes. A law is one linear equation between the variables of its edges, equal to zero, a source or a state:

    storage of across variables     a = s,   C s' = t        capacitor, inertia, mass
    storage of through variables    t = s,   L s' = a        inductor, spring (L = 1/k)
Mechanics and electricity are in the analogy in which across variables are measured between two points.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from cayley.errors import ModelError
from cayley.wording import shown

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


@dataclass(frozen=True)
class Element(ABC):
    """An element with a name; the kinds say their `ends`, `domains` and `laws`."""

    name: str

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
        """As many laws as edges."""

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

    def check_positive(self, **numbers: float) -> None:
        for word, value in numbers.items():
            if not (isinstance(value, Real) and np.isfinite(float(value)) and value > 0):
                raise ModelError(
                    f"the {word} of {self.name!r} is {shown(value)}: it must be a number, positive and finite")
            object.__setattr__(self, word, float(value))  # NumPy's, too, in double precision


@dataclass(frozen=True)
class OnePort(Element):
    """An element of one edge, from `first` to `second`; `number` names its field that must be positive."""

    first: str
    second: str = field(default=GROUND, kw_only=True)
    domain: ClassVar[Domain] = "electric"
    number: ClassVar[str] = ""

    def __post_init__(self) -> None:
        if self.number:
            self.check_positive(**{self.number: self.value})

    @property
    def value(self) -> float:
        found: float = getattr(self, self.number)
        return found

    @property
    def ends(self) -> tuple[tuple[str, str], ...]:
        return ((self.first, self.second),)

    @property
    def domains(self) -> tuple[Domain, ...]:
        return (self.domain,)


@dataclass(frozen=True)
class Dissipator(OnePort):
    """t = g a: takes power always."""

    def conductance(self) -> float:
        """g of its law."""
        return self.value

    @property
    def laws(self) -> tuple[EdgeEquation, ...]:
        return (EdgeEquation({0: self.conductance()}, {0: -1.0}),)


@dataclass(frozen=True)
class AcrossStorage(OnePort):
    """C a' = t."""

    def capacity(self) -> float:
        """C of its law."""
        return self.value

    @property
    def laws(self) -> tuple[EdgeEquation, ...]:
        return (EdgeEquation({0: 1.0}, state=self.name),)

    @property
    def storages(self) -> tuple[Storage, ...]:
        return (Storage(self.name, UNITS[self.domain][0], 0, True, self.capacity()),)


@dataclass(frozen=True)
class ThroughStorage(OnePort):
    """L t' = a."""

    def inertance(self) -> float:
        """L of its law."""
        return self.value

    @property
    def laws(self) -> tuple[EdgeEquation, ...]:
        return (EdgeEquation({}, {0: 1.0}, state=self.name),)

    @property
    def storages(self) -> tuple[Storage, ...]:
        return (Storage(self.name, UNITS[self.domain][1], 0, False, self.inertance()),)


@dataclass(frozen=True)
class AcrossSource(OnePort):
    """Holds its second end lower than the first by an input of its name."""

    @property
    def laws(self) -> tuple[EdgeEquation, ...]:
        return (EdgeEquation({0: 1.0}, source=self.name),)


@dataclass(frozen=True)
class ThroughSource(OnePort):
    """Drives an input of its name from its second end to the first, out of it into the circuit."""

    @property
    def laws(self) -> tuple[EdgeEquation, ...]:
        return (EdgeEquation({}, {0: -1.0}, source=self.name),)


@dataclass(frozen=True)
class AcrossSensor(OnePort):
    """Measures a difference, and takes nothing."""

    @property
    def laws(self) -> tuple[EdgeEquation, ...]:
        return (EdgeEquation({}, {0: 1.0}),)

    @property
    def sensor(self) -> tuple[str, int]:
        return "across", 0


@dataclass(frozen=True)
class ThroughSensor(OnePort):
    """Measures what goes through it, and has no difference across it."""

    @property
    def laws(self) -> tuple[EdgeEquation, ...]:
        return (EdgeEquation({0: 1.0}),)

    @property
    def sensor(self) -> tuple[str, int]:
        return "through", 0
