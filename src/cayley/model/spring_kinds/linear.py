"""A linear spring and damper."""

from __future__ import annotations

from dataclasses import dataclass

from cayley.compiler.typing import Scalar
from cayley.model.spring_kinds.spring import DeflectedSpring


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
