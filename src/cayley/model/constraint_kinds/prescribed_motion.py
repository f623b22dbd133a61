"""A joint whose motion is given as a function of time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from cayley.compiler.derivatives.derivative import jacobian
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, Scalar
from cayley.errors import ModelError, shown
from cayley.model.constraint_kinds.constraint import FORMULA, WORD, Constraint
from cayley.model.constraint_kinds.formula import as_formula, formula
from cayley.model.joint_kinds.held import FrameMotion, Row


@dataclass(frozen=True)
class PrescribedMotion(HoldsFunctions, Constraint):
    """A joint of one coordinate that moves as it is told, whatever force that takes: q = motion(t) [rad, m], with t in
    seconds. Its force is what the drive must give.

    The motion is a formula, "0.3 + 10*t", a number, a planned motion of one coordinate (`cayley.planning.Motion`), or
    a function in Python, of a number or of a symbol, which is traced and differentiated twice."""

    joint: str = field(metadata=WORD)
    motion: str | Callable[[Scalar], Scalar] = field(metadata=FORMULA)
    word = "prescribed motion"
    of_coordinates = ("joint",)
    row_names = ("coordinate",)
    timed = True
    says = "prescribed motion {0.name!r} moves joint {0.joint!r}"

    def __post_init__(self) -> None:
        if not callable(self.motion):
            object.__setattr__(self, "motion", as_formula(self.motion))
            formula(self.motion, ["t"], f"the motion of {self.name!r}")

    def rows(self, frames: Sequence[FrameMotion], coordinates: Sequence[Row]) -> list[Row]:
        joint, time = coordinates
        s, speed, acceleration = self._along(time.value)
        return [Row(joint.value - s, joint.rate - speed * time.rate,
                    joint.second - acceleration * time.rate**2 - speed * time.second)]

    @property
    def _along(self) -> Kernel[tuple[Array, Array, Array]]:
        """The motion and its first two derivatives by t."""
        return kept(self, "along", lambda: kernel("()->(),(),()", name="along")(self._text))

    def _text(self, t: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        motion = self.motion if callable(self.motion) else formula(self.motion, ["t"], self.name)
        s = motion(t)
        if hasattr(s, "qdd") and np.shape(s.q) == (1,):  # of a planned motion, which has its derivatives
            return s.q[0], s.qd[0], s.qdd[0]
        if np.shape(s) != ():
            raise ModelError(f"the motion of {self.name!r} must return one number at a time, not {shown(s)}")
        speed = jacobian(s, t)
        return s, speed, jacobian(speed, t)
