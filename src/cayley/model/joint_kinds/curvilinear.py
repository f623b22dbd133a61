"""A slide along a curve: a carriage on a bent rail that keeps its attitude."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.errors import ModelError, UnsupportedError
from cayley.model.joint_kinds.held import ATTITUDE, HeldDirection, OnCurve, derived, value_of
from cayley.model.joint_kinds.motion import LIST, JointKind, Mark, MarkAxis, SharedMoments, Z

_LONGEST = 32  # coefficients of a coordinate


@dataclass(frozen=True)
class Curvilinear(JointKind):
    """A slide without a turn along the curve whose coordinates are polynomials of q [m]: `x` = (a, b, c) is a + b q + c
    q^2 [m].

    Where the tangent is the unit vector of one coordinate, as with `x` = (0, 1), q is that coordinate."""

    x: tuple[float, ...] = field(default=(0.0, 1.0), metadata=LIST)
    y: tuple[float, ...] = field(default=(), metadata=LIST)
    z: tuple[float, ...] = field(default=(), metadata=LIST)
    nq = nv = 1
    word = "curvilinear"
    constant_subspace = False
    slides = True
    turns = False
    shared_moments = SharedMoments(0.0, np.zeros(3), np.ones((3, 3)))

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("x", "y", "z"):
            given = np.asarray(getattr(self, name), dtype=float)
            if given.ndim != 1 or len(given) > _LONGEST or not np.isfinite(given).all():
                raise ModelError(f"the curve of a curvilinear joint has as {name} the finite coefficients of a "
                                 f"polynomial, constant first, at most {_LONGEST}: not {getattr(self, name)}")
            object.__setattr__(self, name, tuple(given.tolist()))
        if not any(any(polynomial[1:]) for polynomial in self._curve):
            raise ModelError("the curve of a curvilinear joint is a point: give x, y or z a coefficient of q")

    @property
    def _curve(self) -> tuple[tuple[float, ...], ...]:
        return self.x, self.y, self.z

    def _derived(self, times: int) -> list[tuple[float, ...]]:
        """The polynomials of a derivative of the curve."""
        return [derived(polynomial, times) for polynomial in self._curve]

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
    def length(self) -> float:
        return max(abs(c) for polynomial in self._curve for c in polynomial[:1] or (0.0,))

    @property
    def samples(self) -> list[Array]:
        return [np.array([q]) for q in (0.0, *np.linspace(-1.3, 1.5, 2 * max(map(len, self._curve)) + 2))]

    @property
    def held(self) -> tuple[HeldDirection, ...]:
        """The directions that are held: where one coordinate of the curve is linear in q, the others are
        polynomials of it."""
        straight = [k for k, (_, slope, *bends) in enumerate((*c, 0.0, 0.0) for c in self._curve)
                    if slope and not any(bends)]
        if not straight:
            raise UnsupportedError(
                "a curvilinear joint closes a loop only if a coordinate of its curve, x, y or z, is linear in q, so "
                "that the others are functions of it. Make it a joint of the tree, and close the loop with another")
        along = straight[0]
        start, slope, *_ = self._curve[along]
        inverse = np.polynomial.Polynomial([-start / slope, 1 / slope])
        axes = np.eye(3)
        across = [OnCurve(f"curve along {'xyz'[k]}", axes[k], axes[along],
                          tuple(np.polynomial.Polynomial(self._curve[k] or (0.0,))(inverse).coef.tolist()))
                  for k in range(3) if k != along]
        return (*across, *ATTITUDE)

    @property
    def mark(self) -> Mark:
        tangent = np.array(_values(self._derived(1), 0.0), dtype=float)
        size = float(np.linalg.norm(tangent))
        return Mark("sleeve", "slide", (MarkAxis(tuple((tangent / size).tolist()) if size else Z, True),))


def _values(curve: list[tuple[float, ...]], q: Scalar) -> Array:
    return np.array([value_of(polynomial, q) for polynomial in curve])
