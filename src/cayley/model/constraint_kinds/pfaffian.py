"""A constraint on velocities that is written down: coefficients times rates of coordinates."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from cayley.compiler.derivatives.derivative import jacobian
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, Scalar
from cayley.errors import ModelError
from cayley.model.constraint_kinds.constraint import FORMULAS, OPTIONAL_FORMULA, WORDS, Constraint
from cayley.model.constraint_kinds.formula import as_formula, formula
from cayley.model.joint_kinds.held import FrameMotion, Row


@dataclass(frozen=True)
class Pfaffian(HoldsFunctions, Constraint):
    """A row on velocities: the sum of `coefficients` times the rates of coordinates, and `offset`, is zero.

    Coefficients are numbers, or formulas of the coordinates, by the names of their joints (letters, digits and _ of
    them), and of the time t: `Pfaffian("skate", ("x", "y", "turn"), ("sin(turn)", "-cos(turn)", 0))`. A coordinate of a
    joint that has several is called "cart.angle", and cart_angle in formulas."""

    joints: tuple[str, ...] = field(metadata=WORDS)
    coefficients: tuple[str, ...] = field(metadata=FORMULAS)
    offset: str = field(default="0", metadata=OPTIONAL_FORMULA)
    word = "pfaffian"
    row_names = ("rates",)
    positions = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", tuple(self.joints))
        object.__setattr__(self, "coefficients", tuple(map(as_formula, self.coefficients)))
        object.__setattr__(self, "offset", as_formula(self.offset))
        if not self.joints or len(self.coefficients) != len(self.joints) or len(set(self._names)) < len(self.joints):
            raise ModelError(f"the pfaffian {self.name!r} needs one coefficient for each of its joints, whose names "
                             f"differ: {self.joints}, {self.coefficients}")
        _ = self._formulas
        self._check_words()

    def _check_words(self) -> None:
        text = " ".join((*self.coefficients, self.offset))
        for word, meaning in (("t", "the time"), ("pi", "the number")):
            if word in self._names and re.search(rf"\b{word}\b", text):
                raise ModelError(f"in the formulas of the pfaffian {self.name!r} {word} would be both the coordinate "
                                 f"of a joint and {meaning}: give the joint another name")

    @property
    def _names(self) -> list[str]:
        return [re.sub(r"\W", "_", joint) for joint in self.joints]

    @property
    def _formulas(self) -> list[Callable[..., Scalar]]:
        """Coefficients and offset as functions of the coordinates and the time."""
        whose = f"a coefficient of {self.name!r}"
        return [*[formula(each, [*self._names, "t"], whose) for each in self.coefficients],
                formula(self.offset, [*self._names, "t"], f"the offset of {self.name!r}")]

    @property
    def timed(self) -> bool:
        return self.offset.strip() not in ("0", "0.0") or any(re.search(r"\bt\b", each) for each in self.coefficients)

    @property
    def coordinates(self) -> tuple[str, ...]:
        return self.joints

    def rows(self, frames: Sequence[FrameMotion], coordinates: Sequence[Row]) -> list[Row]:
        given = coordinates if self.timed else [*coordinates, Row(0.0, 0.0, 0.0)]
        value, rate, second = (np.stack([row[k] for row in given]) for k in range(3))
        row, row_rate = self._row(value, rate)
        return [Row(0.0, row @ rate, row @ second + row_rate @ rate)]

    @property
    def _row(self) -> Kernel[tuple[Array, Array]]:
        """Coefficients, offset and their rates as functions of the coordinates, the time and their rates."""
        n = len(self.joints) + 1
        return kept(self, "row", lambda: kernel(f"({n}),({n})->({n}),({n})", name="row")(self._text))

    def _text(self, x: Array, rate: Array) -> tuple[Array, Array]:
        row = np.stack([each(*x) for each in self._formulas])
        return row, jacobian(row, x) @ rate

    @property
    def sentence(self) -> str:
        return f"pfaffian {self.name!r} ties the rates of {', '.join(map(repr, self.joints))}"
