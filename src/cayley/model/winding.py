"""Winding of a direct-current motor, which turns a voltage into a torque of the rotor."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

from cayley.errors import ModelError, shown
from cayley.model.finite import check_finite


@dataclass(frozen=True)
class Winding:
    """The winding of a direct-current motor:

        voltage = resistance i + inductance di/dt + back_emf (speed of the rotor),   torque = torque_constant i

    with the resistance [ohm], the inductance [H], 0 if it is negligible, the torque constant [N m/A] and the voltage
    that the rotor's speed induces [V s/rad], which in these units is the torque constant of an ideal motor and need not
    be given. Source: Yamamoto (6.1)-(6.4), in N m/A as in spec E3-25.

    >>> Winding(resistance=1.0, torque_constant=0.05).induced
    0.05
    """

    resistance: float
    torque_constant: float
    inductance: float = 0.0
    back_emf: float | None = None

    def __post_init__(self) -> None:
        check_finite(self, "winding")
        for word, value, least in (("resistance", self.resistance, "positive"),
                                   ("torque_constant", self.torque_constant, "positive"),
                                   ("inductance", self.inductance, "zero or positive"),
                                   ("back_emf", self.induced, "zero or positive")):
            if not isinstance(value, Real):
                raise ModelError(f"the {word} of a winding must be a number, not {shown(value)}")
            if value < 0 or (value == 0 and least == "positive"):
                raise ModelError(f"the {word} of a winding is {value}: it must be {least}")

    @property
    def induced(self) -> float:
        """The voltage that the speed of the rotor induces [V s/rad]."""
        return self.torque_constant if self.back_emf is None else self.back_emf
