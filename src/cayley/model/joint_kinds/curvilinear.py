"""A slide along a curve: a carriage on a bent rail that keeps its attitude."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.errors import ModelError
from cayley.model.joint_kinds.motion import LIST, Mark, MarkAxis, Motion, SharedMoments, Z

_LONGEST = 32  # coefficients of a coordinate


@dataclass(frozen=True)
class Curvilinear(Motion):
    """A slide without a turn along the curve whose coordinates are polynomials of q [m]: `x` = (a, b, c) is a + b q + c
    q^2 [m].

    Where the tangent is the unit vector of one coordinate, as with `x` = (0, 1), q is that coordinate.
    """

    x: tuple[float, ...] = field(default=(0.0, 1.0), metadata=LIST)
    y: tuple[float, ...] = field(default=(), metadata=LIST)
    z: tuple[float, ...] = field(default=(), metadata=LIST)
    nq = 1
    nv = 1
    word = "curvilinear"
    constant_subspace = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("x", "y", "z"):
            given = np.asarray(getattr(self, name), dtype=float)
            if given.ndim != 1 or len(given) > _LONGEST or not np.isfinite(given).all():
                raise ModelError(
                    f"the curve of a curvilinear joint has as {name} the finite coefficients of a polynomial, constant "
                    f"first, at most {_LONGEST}: not {getattr(self, name)}")
            object.__setattr__(self, name, tuple(given.tolist()))
        if not any(any(polynomial[1:]) for polynomial in self._curve):
            raise ModelError("the curve of a curvilinear joint is a point: give x, y or z a coefficient of q")

    @property
    def _curve(self) -> tuple[tuple[float, ...], ...]:
        return self.x, self.y, self.z

    def _derived(self, times: int) -> list[tuple[float, ...]]:
        """The polynomials of a derivative of the curve."""
        curve = list(self._curve)
        for _ in range(times):
            curve = [tuple(k * c for k, c in enumerate(polynomial))[1:] for polynomial in curve]
        return curve

    def pose(self, q: Array) -> tuple[Any, Any]:
        return np.eye(3), _values(self._derived(0), q[0])

    def subspace(self, q: Array) -> Array:
        return np.concatenate([_values(self._derived(1), q[0]), np.zeros(3)])[:, None]

    def bias(self, q: Array, qd: Array) -> Array:
        return np.concatenate([_values(self._derived(2), q[0]) * (qd[0] * qd[0]), np.zeros(3)])

    def reach(self, lower: Array, upper: Array) -> float:
        far = float(np.maximum(np.abs(lower), np.abs(upper))[0])
        return float(sum(abs(c) * far**k for polynomial in self._curve for k, c in enumerate(polynomial) if c))

    @property
    def slides(self) -> bool:
        return True

    @property
    def turns(self) -> bool:
        return False

    @property
    def length(self) -> float:
        return max(abs(c) for polynomial in self._curve for c in polynomial[:1] or (0.0,))

    @property
    def samples(self) -> list[Array]:
        return [np.array([q]) for q in (0.0, *np.linspace(-1.3, 1.5, 2 * max(map(len, self._curve)) + 2))]

    @property
    def shared_moments(self) -> SharedMoments:
        return SharedMoments(0.0, np.zeros(3), np.ones((3, 3)))

    @property
    def mark(self) -> Mark:
        tangent = np.array(_values(self._derived(1), 0.0), dtype=float)
        size = float(np.linalg.norm(tangent))
        return Mark("sleeve", "slide", (MarkAxis(tuple((tangent / size).tolist()) if size else Z, True),))


def _values(curve: list[tuple[float, ...]], q: Scalar) -> Array:
    """The polynomials at q, by Horner's rule."""
    found = []
    for polynomial in curve:
        value: Any = None
        for coefficient in reversed(polynomial):
            value = coefficient if value is None else value * q + coefficient
        found.append(0.0 if value is None else value)
    return np.array(found)
