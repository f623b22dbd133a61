"""A spring behind teeth with play."""

from __future__ import annotations

from dataclasses import dataclass, field

from cayley.compiler.tracing.nominal_values import is_present
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Scalar
from cayley.errors import UnsupportedError
from cayley.model.spring_kinds.hardening import HardeningSpring
from cayley.model.spring_kinds.spring import OPTIONAL


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
