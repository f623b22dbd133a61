"""Cycloidal motion: an acceleration that is one wave of a sine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, FieldArray, Scalar
from cayley.errors import PlanningError
from cayley.planning.motion import Derivatives
from cayley.planning.splines.pieces import InPieces


@kernel("(),(n),(n),()->(n),(n),(n),(n)", outputs=("q", "qd", "qdd", "qddd"))
def cycloid(t: Scalar, first: Array, last: Array, duration: Scalar) -> Derivatives:
    """s = x - sin(2 pi x) / (2 pi), x = t / T (Ruggiu 5.3)."""
    w = 2.0 * np.pi / duration
    sine, cosine = np.sin(w * t), np.cos(w * t)
    way = last - first
    return (first + way * (t / duration - sine / (2.0 * np.pi)), way * ((1.0 - cosine) / duration),
            way * (w / duration * sine), way * (w * w / duration * cosine))


@dataclass(frozen=True, eq=False, repr=False)
class Cycloid(InPieces):
    """From rest at one configuration (n) to rest at another.

    >>> Cycloid([0.0], [1.0], 2.0)(0.5).q.round(8)
    array([0.09084506])
    """

    first: FieldArray
    last: FieldArray
    seconds: float

    def __post_init__(self) -> None:
        if not 0.0 < self.seconds < np.inf:
            raise PlanningError(f"a motion takes a time > 0; asked was for {self.seconds:g} s")
        object.__setattr__(self, "first", np.atleast_1d(np.asarray(self.first, dtype=float)))
        object.__setattr__(self, "last", np.atleast_1d(np.asarray(self.last, dtype=float)))

    @property
    def breaks(self) -> Array:
        return np.array([0.0, self.seconds])

    @property
    def nq(self) -> int:
        return len(self.first)

    @property
    def _piece(self) -> Kernel[Derivatives]:
        return cycloid

    @property
    def _tables(self) -> tuple[Array, ...]:
        return self.first[None], self.last[None], np.array([float(self.seconds)])
