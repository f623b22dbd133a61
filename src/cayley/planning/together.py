"""Motions of several parts at the same time as one: a base and its arm, one joint and another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.errors import PlanningError
from cayley.planning.motion import Derivatives, Motion


@dataclass(frozen=True, eq=False, repr=False)
class Together(Motion):
    """The coordinates of the first motion, then those of the next, and so on; all have the same start and end.

    >>> from cayley.planning.splines.polynomials import line
    >>> Together((line(0.0, 2.0, [0.0], [1.0]), line(0.0, 2.0, [5.0], [3.0])))(1.0).q
    array([0.5, 4. ])
    """

    parts: tuple[Motion, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        for part in self.parts:
            if (part.start, part.end) != (self.start, self.end):
                raise PlanningError(f"motions at the same time are in the same interval; one is in [{self.start:g}, "
                                    f"{self.end:g}], another in [{part.start:g}, {part.end:g}]: use `shifted` and "
                                    "`scaled`")

    @property
    def start(self) -> float:
        return self.parts[0].start

    @property
    def end(self) -> float:
        return self.parts[0].end

    @property
    def nq(self) -> int:
        return sum(part.nq for part in self.parts)

    @property
    def attitudes(self) -> tuple[int, ...]:
        before = np.cumsum([0, *[part.nq for part in self.parts]])
        return tuple(int(first) + place for first, part in zip(before[:-1], self.parts, strict=True)
                     for place in part.attitudes)

    @property
    def breaks(self) -> Array:
        return np.unique(np.concatenate([part.breaks for part in self.parts]))

    def _text(self, t: Scalar) -> Derivatives:
        return _joined([part._text(t) for part in self.parts])

    def _values(self, t: Array) -> Derivatives:
        return _joined([part._values(t) for part in self.parts])


def _joined(found: list[Derivatives]) -> Derivatives:
    return tuple(np.concatenate(same, axis=-1) for same in zip(*found, strict=True))  # type: ignore[return-value]
