"""Motions that are given by a function of time, differentiated by the compiler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.derivative import independent, jacobian
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, Scalar
from cayley.errors import PlanningError
from cayley.planning.motion import Derivatives, Motion


@dataclass(frozen=True, eq=False, repr=False)
class FunctionOfTime(Motion):
    """The positions `function(t)` (n), written with NumPy for one time, from `start` to `end` [s]. Velocity,
    acceleration and jerk are its derivatives.

    >>> swing = FunctionOfTime(lambda t: np.stack([np.sin(t), np.cos(2.0 * t)]), 0.0, 3.0)
    >>> swing(0.0).qd
    array([ 1., -0.])
    """

    function: Callable[[Scalar], Array]
    start: float = 0.0
    end: float = 1.0

    def __post_init__(self) -> None:
        if not -np.inf < self.start < self.end < np.inf:
            raise PlanningError(f"a motion ends after its start, both finite; given were {self.start:g} and "
                                f"{self.end:g}")

    @property
    def breaks(self) -> Array:
        return np.array([self.start, self.end])

    @cached_property
    def nq(self) -> int:
        return int(np.size(self.function(float(self.start))))

    def _text(self, t: Scalar) -> Derivatives:
        return self._differentiated(t)

    @cached_property
    def _differentiated(self) -> Kernel[Derivatives]:
        n = self.nq

        def text(t: Scalar) -> Derivatives:
            t = independent(t)
            found = [np.reshape(self.function(t), (n,))]
            for _ in range(3):
                found.append(jacobian(found[-1], t))
            return tuple(found)  # type: ignore[return-value]

        return kernel(f"()->({n}),({n}),({n}),({n})", name="motion", inputs=["t"],
                      outputs=["q", "qd", "qdd", "qddd"])(text)

    @property
    def _kernel(self) -> Kernel[Derivatives]:
        return self._differentiated
