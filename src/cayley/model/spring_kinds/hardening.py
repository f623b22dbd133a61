"""A spring that becomes stiffer as it is deflected, as harmonic drives do."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cayley.compiler.tracing.nominal_values import is_present
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

    @property
    def linear_numbers(self) -> tuple[str, ...]:
        return "stiffness", "damping", "cubic"

    def pull(self, deflection: Scalar) -> Scalar:
        return (self.stiffness + self.cubic * deflection * deflection) * deflection

    def pull_slope(self, deflection: Scalar) -> Scalar:
        return self.stiffness + 3.0 * self.cubic * deflection * deflection

    def deflection_that_pulls(self, pull: Scalar) -> Scalar:
        """The real root of k d + c d^3 = P, d = 2 sqrt(k/3c) sinh(asinh(1.5 P/k sqrt(3c/k))/3)."""
        if not is_present(self.cubic):
            return pull / self.stiffness
        scale = np.sqrt(3.0 * self.cubic / self.stiffness)
        return 2.0 / scale * np.sinh(np.arcsinh(1.5 * scale * pull / self.stiffness) / 3.0)

    def stored(self, deflection: Scalar) -> Scalar:
        square = deflection * deflection
        return (self.stiffness + self.cubic * square / 2) * square / 2
