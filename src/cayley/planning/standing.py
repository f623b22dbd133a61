"""Motions that stay where they are: what a way without a length takes, which is no time, or a pause."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array, FieldArray, Scalar
from cayley.planning.checked_numbers import positive_seconds
from cayley.planning.motion import Derivatives, Motion


@dataclass(frozen=True, eq=False, repr=False)
class Standing(Motion):
    """The configuration `q` (n) from `start` to `end` [s], which may be the same: then `then` leaves it out.

    >>> from cayley.planning.splines.polynomials import line
    >>> Standing([1.0, 2.0]).duration, Standing([1.0]).then(line(0.0, 2.0, [1.0], [3.0])).duration
    (0.0, 2.0)
    """

    q: FieldArray
    start: float = 0.0
    end: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "q", np.array(self.q, dtype=float))

    @property
    def nq(self) -> int:
        return len(self.q)

    @property
    def breaks(self) -> Array:
        return np.array([self.start, self.end])

    @property
    def rests(self) -> tuple[bool, bool]:
        return True, True

    def _text(self, t: Scalar) -> Derivatives:
        none = np.zeros(self.nq)
        return np.asarray(self.q), none, none, none

    def _values(self, t: Array) -> Derivatives:
        none = np.zeros((*np.shape(t), self.nq))
        return none + self.q, none, none, none

    def shifted(self, start: float) -> Motion:
        return Standing(self.q, float(start), float(start) + self.duration)

    def scaled(self, *, duration: float) -> Motion:
        return Standing(self.q, self.start, self.start + positive_seconds(duration))

    def reversed(self) -> Motion:
        return self
