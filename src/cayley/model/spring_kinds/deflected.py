"""Springs of a deflection: linear, hardening, and behind teeth with play."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cayley.compiler.tracing.nominal_values import is_present
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Scalar
from cayley.errors import UnsupportedError
from cayley.model.spring_kinds.spring import OPTIONAL, DeflectedSpring


@dataclass(frozen=True)
class LinearSpring(DeflectedSpring):
    """P = stiffness d + damping d', of the deflection d = qm / gear - q + rest.

    >>> from cayley.model.spring_kinds.spring import SpringState
    >>> LinearSpring(200.0, damping=3.0).torque(SpringState(0.1, 0.0, 0.2, 1.0))
    23.0
    """

    word = "linear"

    def pull(self, deflection: Scalar) -> Scalar:
        return self.stiffness * deflection

    def pull_slope(self, deflection: Scalar) -> Scalar:
        return self.stiffness

    def deflection_that_pulls(self, pull: Scalar) -> Scalar:
        return pull / self.stiffness

    def stored(self, deflection: Scalar) -> Scalar:
        return self.stiffness * deflection * deflection / 2


@dataclass(frozen=True)
class HardeningSpring(DeflectedSpring):
    """A spring that becomes stiffer as it is deflected, as harmonic drives do: P = stiffness d + cubic d^3
    + damping d', of the deflection d = qm / gear - q + rest.

    >>> HardeningSpring(200.0, cubic=1000.0).pull(0.1)
    21.0
    """

    cubic: Scalar = field(default=0.0, metadata=OPTIONAL)  # [N m/rad^3, N/m^3]
    word = "hardening"
    linear_numbers = ("stiffness", "damping", "cubic")

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


@dataclass(frozen=True)
class BacklashSpring(HardeningSpring):
    """A spring, maybe with a cubic term, that is deflected only by what goes beyond the play of the teeth: nothing
    holds the joint within `backlash`, from -backlash/2 to backlash/2. The damper acts while teeth touch; as it is
    linear, they may pull for a moment as they part.

    >>> [float(BacklashSpring(200.0, backlash=0.02).pull(d)) for d in (0.05, -0.009, -0.02)]
    [8.0, 0.0, -2.0]
    """

    backlash: Scalar = field(default=0.0, metadata=OPTIONAL)  # the whole play, at the joint [rad, m]
    word = "backlash"

    def pull(self, deflection: Scalar) -> Scalar:
        return super().pull(self._beyond(deflection))

    def pull_slope(self, deflection: Scalar) -> Scalar:
        return where(self._touches(deflection), super().pull_slope(self._beyond(deflection)), 0.0)

    def deflection_that_pulls(self, pull: Scalar) -> Scalar:
        if is_present(self.backlash):
            raise UnsupportedError("a spring with backlash may be anywhere in its play while it pulls nothing: its "
                                   "deflection does not follow from its torque")
        return super().deflection_that_pulls(pull)

    def stored(self, deflection: Scalar) -> Scalar:
        return super().stored(self._beyond(deflection))

    def damping_at(self, deflection: Scalar) -> Scalar:
        return where(self._touches(deflection), self.damping, 0.0)

    def _beyond(self, deflection: Scalar) -> Scalar:
        half = self.backlash / 2
        return where(deflection > half, deflection - half, where(deflection < -half, deflection + half, 0.0))

    def _touches(self, deflection: Scalar) -> Scalar:
        return abs(deflection) >= self.backlash / 2
