"""A spring that becomes stiffer as it is deflected, as harmonic drives do."""

from __future__ import annotations

from dataclasses import dataclass, field

from cayley.compiler.typing import Scalar
from cayley.model.spring_kinds.spring import OPTIONAL, DeflectedSpring


@dataclass(frozen=True)
class HardeningSpring(DeflectedSpring):
    """P = stiffness d + cubic d^3 + damping d', of the deflection d = qm / gear - q + rest.

    >>> HardeningSpring(200.0, cubic=1000.0).pull(0.1)
    21.0
    """

    cubic: Scalar = field(default=0.0, metadata=OPTIONAL)  # [N m/rad^3, N/m^3]
    word = "hardening"

    def pull(self, deflection: Scalar) -> Scalar:
        return (self.stiffness + self.cubic * deflection * deflection) * deflection

    def pull_slope(self, deflection: Scalar) -> Scalar:
        return self.stiffness + 3.0 * self.cubic * deflection * deflection

    def stored(self, deflection: Scalar) -> Scalar:
        square = deflection * deflection
        return (self.stiffness + self.cubic * square / 2) * square / 2
