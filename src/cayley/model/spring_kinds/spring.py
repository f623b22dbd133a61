"""Base class of all kinds of springs: the interface that a kind implements.

A spring is between a joint, at q, and the output of the gear that drives it, at theta = qm / gear with the motor at qm.
It turns (or pushes) the joint with P, and the gear's output with -P, so that the motor feels -P / gear. The text is
scalar-agnostic: it runs on floats and on symbols.
Source: spec S0-49 (269), S0-69, errata E-45: P / gear at the motor, which follows from virtual work."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from numbers import Real
from typing import Any, ClassVar, NamedTuple

from cayley.compiler.tracing.nominal_values import is_symbolic
from cayley.compiler.typing import Scalar
from cayley.errors import ModelError, UnsupportedError, shown
from cayley.model.finite import LARGEST

NUMBER = {"form": "number"}  # metadata of fields that are kept in files: a number, which must be said,
OPTIONAL = {"form": "number or default"}  # one that need not be said


class SpringState(NamedTuple):
    """The joint's coordinate and velocity, and those of the gear's output: theta = qm / gear and its rate."""

    q: Scalar
    qd: Scalar
    theta: Scalar
    thetad: Scalar


class SpringSlopes(NamedTuple):
    """The derivatives of P by the numbers of a `SpringState`, in their order."""

    by_q: Scalar
    by_qd: Scalar
    by_theta: Scalar
    by_thetad: Scalar


@dataclass(frozen=True)
class SpringKind(ABC):
    """A spring and damper between gear and joint; the kinds are made from it."""

    word: ClassVar[str] = ""
    linear_numbers: ClassVar[tuple[str, ...]] = ()  # the fields in which P is linear: those that can be identified

    @abstractmethod
    def torque(self, at: SpringState) -> Scalar:
        """P [N m, N], upon the joint, and -P upon the gear's output."""

    @abstractmethod
    def energy(self, at: SpringState) -> Scalar:
        """Stored energy [J]. Power of P that does not come from it is dissipated or supplied from outside."""

    @abstractmethod
    def stored_torque(self, at: SpringState) -> Scalar:
        """The part of P that comes from the stored energy."""

    @abstractmethod
    def slopes(self, at: SpringState) -> SpringSlopes:
        """The derivatives of P."""

    @property
    def rest_angle(self) -> Scalar:
        """Angle of the joint ahead of the gear's output where the spring is relaxed."""
        return 0.0

    def theta_that_pulls(self, q: Scalar, torque: Scalar) -> Scalar:
        """The gear's output where P is a given torque at the joint's q. `UnsupportedError`: it does not follow."""
        raise UnsupportedError(f"the deflection of a {self.word} spring does not follow from its torque")

    @property
    def numbers(self) -> tuple[str, ...]:
        """Names of the numeric fields."""
        return ()

    def torque_by(self, number: str, at: SpringState) -> Scalar:
        """The derivative of P by one of its `linear_numbers`."""
        raise UnsupportedError(f"a {self.word} spring has no number {number!r} in which its torque is linear")

    def energy_by(self, number: str, at: SpringState) -> Scalar:
        """The derivative of the energy by one of its `linear_numbers`."""
        raise UnsupportedError(f"a {self.word} spring has no number {number!r} in which its energy is linear")

    @property
    def said(self) -> dict[str, Any]:
        """Fields that differ from their defaults."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)
                if getattr(self, entry.name) != entry.default}

    @property
    def keys(self) -> dict[str, Any]:
        """Fields as they are written in files, without those at their defaults."""
        for key, value in self.said.items():
            if callable(value):
                raise UnsupportedError(f"{key} of a spring is a function in Python, which no file can hold: write it "
                                       "as a formula")
        return self.said


@dataclass(frozen=True)
class DeflectedSpring(SpringKind):
    """A spring with P = f(deflection) + damping times its rate, of deflection = theta - (q - rest): relaxed where the
    joint is at `rest` with its motor at zero."""

    stiffness: Scalar = field(metadata=NUMBER)  # [N m/rad, N/m]
    damping: Scalar = field(default=0.0, metadata=OPTIONAL)  # [N m s/rad, N s/m]
    rest: Scalar = field(default=0.0, metadata=OPTIONAL)  # [rad, m]
    linear_numbers: ClassVar[tuple[str, ...]] = ("stiffness", "damping")

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            if is_symbolic(value):
                continue
            if isinstance(value, bool) or not isinstance(value, Real) or not abs(float(value)) <= LARGEST:
                raise ModelError(f"the {entry.name} of a {self.word} spring is {shown(value)}: it must be a finite "
                                 "number that is not absurdly large")
            if value < 0 and entry.name != "rest":
                raise ModelError(f"the {entry.name} of a {self.word} spring is {value}: it cannot be negative")
            object.__setattr__(self, entry.name, float(value))
        if not is_symbolic(self.stiffness) and self.stiffness == 0.0:
            raise ModelError(f"the stiffness of a {self.word} spring is 0: a motor behind it would not drive its joint")

    @abstractmethod
    def pull(self, deflection: Scalar) -> Scalar:
        """P of a deflection that does not change."""

    @abstractmethod
    def pull_slope(self, deflection: Scalar) -> Scalar:
        """Stiffness: derivative of the pull."""

    @abstractmethod
    def stored(self, deflection: Scalar) -> Scalar:
        """The energy of a deflection, whose derivative is the pull."""

    @property
    def rest_angle(self) -> Scalar:
        return self.rest

    def deflection_that_pulls(self, pull: Scalar) -> Scalar:
        """The deflection of a pull, the inverse of `pull`, of kinds that say it."""
        raise UnsupportedError(f"a {self.word} spring does not define its deflection for a given torque")

    def theta_that_pulls(self, q: Scalar, torque: Scalar) -> Scalar:
        if is_symbolic(self.damping) or self.damping:
            raise UnsupportedError(f"a {self.word} spring has a damper beside it: its deflection does not follow from "
                                   "its torque alone")
        return q - self.rest + self.deflection_that_pulls(torque)

    @property
    def numbers(self) -> tuple[str, ...]:
        return tuple(entry.name for entry in fields(self))

    def torque_by(self, number: str, at: SpringState) -> Scalar:
        return self._by(number, lambda spring: spring.torque(at))

    def energy_by(self, number: str, at: SpringState) -> Scalar:
        return self._by(number, lambda spring: spring.energy(at))

    def _by(self, number: str, quantity: Callable[[DeflectedSpring], Scalar]) -> Scalar:
        """The derivative of what is linear in the `linear_numbers` by one of them; no spring is without stiffness."""
        alone = replace(self, **dict.fromkeys(self.linear_numbers, 0.0) | {"stiffness": 1.0})
        if number == "stiffness":
            return quantity(alone)
        return quantity(replace(alone, **{number: 1.0})) - quantity(alone)

    def damping_at(self, deflection: Scalar) -> Scalar:
        """The damping of a deflection."""
        return self.damping

    def deflection(self, at: SpringState) -> Scalar:
        """Angle of the gear's output ahead of the joint."""
        return at.theta - at.q + self.rest

    def torque(self, at: SpringState) -> Scalar:
        deflection = self.deflection(at)
        return self.pull(deflection) + self.damping_at(deflection) * (at.thetad - at.qd)

    def energy(self, at: SpringState) -> Scalar:
        return self.stored(self.deflection(at))

    def stored_torque(self, at: SpringState) -> Scalar:
        return self.pull(self.deflection(at))

    def slopes(self, at: SpringState) -> SpringSlopes:
        deflection = self.deflection(at)
        stiffness = self.pull_slope(deflection)
        damping = self.damping_at(deflection)
        return SpringSlopes(-stiffness, -damping, stiffness, damping)
