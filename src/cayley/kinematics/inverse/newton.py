"""Newton's iteration for r = f(q) with a gain, as in the textbook: q <- q + k J^-1(q) (r - f(q)), 0 < k <= 1.

Near a solution the residual falls by the factor 1 - k in each step, and quadratically for k = 1. From far away it may
wander off: that is what `inverse_kinematics` is for. Source: Yamamoto 1.9, steps 1 to 5, (1.22).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError
from cayley.kinematics.inverse.rates import resolved_rates
from cayley.showing import brief


@dataclass(frozen=True, eq=False)
class NewtonResult:
    """`q` (n), whether it is `solved`, the `residuals` |r - f(q)| of the start and after every step, and the `reason`
    for the end: "within tolerance", "singular Jacobian", "iteration limit" or "diverged"."""

    q: Array
    solved: bool
    residuals: Array
    reason: str

    __repr__ = brief

    @property
    def residual(self) -> float:
        return float(self.residuals[-1])

    @property
    def iterations(self) -> int:
        return len(self.residuals) - 1

    @property
    def status(self) -> str:
        return "solved" if self.solved else "not found"


def newton_iteration(f: Kernel, target: ArrayLike, start: ArrayLike, *, gain: float = 1.0, tolerance: float = 1e-12,
                     iterations: int = 100, angles: Sequence[int] = ()) -> NewtonResult:
    """A solution of f(q) = target (m) near `start` (n), with `f` a kernel of one argument.

    `angles` are the rows of f that are angles: their residuals are wrapped to between -pi and pi. The text has as many
    equations as unknowns; with more unknowns the step is the shortest, with fewer the one of least squares. It stops at
    a singular Jacobian.

    >>> import cayley as cy
    >>> square = cy.kernel("(1)->(1)")(lambda q: q * q)
    >>> newton_iteration(square, [2.0], [1.0]).q
    array([1.41421356])
    """
    if not 0.0 < gain <= 1.0:
        raise SignatureError(f"the gain of Newton's iteration is above 0 and at most 1, not {gain}")
    if len(f.inputs) != 1:
        raise SignatureError(f"{f.__name__} has {len(f.inputs)} inputs; Newton's iteration is for functions of one")
    q = np.array(start, dtype=float)
    r = np.asarray(target, dtype=float)
    for name, given in (("start", q), ("target", r)):
        if not np.isfinite(given).all():
            raise SignatureError(f"the {name} of Newton's iteration is {given}: it has to be finite")
    slopes = f.jacobian(f.inputs[0])
    missing = _wrapped(r - f(q), angles)
    residuals = [float(np.linalg.norm(missing))]
    reason = "iteration limit" if np.isfinite(residuals[0]) else "diverged"
    while residuals[-1] > tolerance and len(residuals) <= iterations:
        rates = resolved_rates(slopes(q), missing)
        if not rates.regular:
            reason = "singular Jacobian"
            break
        q = q + gain * rates.velocity
        missing = _wrapped(r - f(q), angles)
        residuals.append(float(np.linalg.norm(missing)))
        if not np.isfinite(residuals[-1]):
            reason = "diverged"
            break
    solved = residuals[-1] <= tolerance
    return NewtonResult(q, solved, np.array(residuals), "within tolerance" if solved else reason)


def _wrapped(missing: Array, angles: Sequence[int]) -> Array:
    chosen = np.isin(np.arange(len(missing)), list(angles))
    return np.where(chosen, missing - 2 * np.pi * np.round(missing / (2 * np.pi)), missing)
