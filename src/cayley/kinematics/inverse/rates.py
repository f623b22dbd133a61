"""From the twist of a frame to the velocities of the joints, by the inverse of the Jacobian or by damped least squares.

    qdot = J^-1 xdot                                                      plain; pseudo-inverse where J is not square
    qdot = (J^T J + k^2 1)^-1 J^T xdot = J^T (J J^T + k^2 1)^-1 xdot      damped: gains s/(s^2 + k^2) <= 1/(2k)
    k^2 = (1 - (s/threshold)^2) largest^2                                 by the smallest singular value s, below it
Newton's iteration with gain k: the residual falls by 1 - k in each step near a solution, quadratically for k = 1.
Sources: Ruggiu (5.16)-(5.18), restored as in spec S2-90; Nakamura and Hanafusa in the form of Chiaverini; Yamamoto 1.9,
steps 1 to 5, (1.22)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import GeometryError, SignatureError, SingularityError
from cayley.geometry.batch import above_rounding, first_failure, place
from cayley.showing import brief

_SINGULAR = 1e-12  # of the largest singular value: less is rounding


def _check_damping(J: ArrayLike, damping: ArrayLike) -> None:
    smallest = above_rounding(_SINGULAR, J)
    J = np.asarray(J, dtype=float)
    k = np.asarray(damping, dtype=float)
    _check_finite(J, k)
    s = np.linalg.svd(J, compute_uv=False)
    bad = first_failure((s[..., -1] > smallest * s[..., 0]) | (k > 0))
    if bad is not None:
        raise SingularityError(
            f"the Jacobian{place(bad)} is singular and not damped: it has no inverse; give a damping above zero")


def _check_finite(J: Array, damping: Array) -> None:
    bad = first_failure(damping >= 0)
    if bad is not None:
        raise SignatureError(f"the damping{place(bad)} is {damping[bad]}: it must not be negative")
    bad = first_failure(np.isfinite(J).all(axis=(-2, -1)))
    if bad is not None:
        raise GeometryError(f"the Jacobian{place(bad)} is not finite")


@kernel("(m,n),()->(n,m)", check=_check_damping)
def damped_inverse(J: Array, damping: Scalar) -> Array:
    """The damped inverse J* (n, m) of a Jacobian (m, n): J* x has the least |J v - x|^2 + damping^2 |v|^2. Ruggiu
    (5.17). By the smaller of the two normal equations. Without damping it is the inverse or pseudo-inverse, which a
    singular J does not have.

    >>> damped_inverse([[2.0, 0.0], [0.0, 0.0]], 0.1).round(6)
    array([[0.498753, 0.      ],
           [0.      , 0.      ]])
    """
    m, n = J.shape
    A = J @ J.T if m <= n else J.T @ J
    A = A + damping * damping * np.eye(len(A))
    return ldl_solve(A, J).T if m <= n else ldl_solve(A, J.T)


@kernel("(),(),()->()")
def damping_from_singular_value(smallest: Scalar, threshold: Scalar, largest_damping: Scalar) -> Scalar:
    """The damping k for a smallest singular value: zero from `threshold` on, `largest_damping` at zero.

    >>> float(damping_from_singular_value(0.0, 0.05, 0.1)), float(damping_from_singular_value(0.05, 0.05, 0.1))
    (0.1, 0.0)
    """
    share = smallest / threshold
    return largest_damping * np.sqrt(where(share < 1.0, 1.0 - share * share, 0.0))


@dataclass(frozen=True, eq=False)
class Rates:
    """`velocity` (..., n), the `singular_values` (..., min(m, n)) of J, and the `damping` (...) that was used."""

    velocity: Array
    singular_values: Array
    damping: Array
    regular: Scalar  # whether the velocity is determined: J has full rank, or is damped (...)

    __repr__ = brief

    @property
    def smallest_singular_value(self) -> Array:
        return self.singular_values[..., -1]


def resolved_rates(J: ArrayLike, twist: ArrayLike, *, damping: float | tuple[float, float] = 0.0) -> Rates:
    """The velocities that give a twist (..., m), for Jacobians (..., m, n). `damping` is a number (0 for the plain
    inverse), or (threshold, largest): then it is chosen from the smallest singular value. Where J is singular and not
    damped, `regular` is false, and what cannot be determined is NaN.

    >>> resolved_rates(np.diag([2.0, 4.0]), [1.0, 1.0]).velocity
    array([0.5 , 0.25])
    """
    smallest = above_rounding(_SINGULAR, J)
    J = np.asarray(J, dtype=float)
    twist = np.asarray(twist, dtype=float)
    if J.ndim < 2 or twist.shape[-1:] != J.shape[-2:-1]:
        raise SignatureError(f"a Jacobian (..., m, n) needs a twist (..., m), not {J.shape} and {twist.shape}")
    _check_finite(J, np.asarray(damping, dtype=float))
    left, s, right = np.linalg.svd(J, full_matrices=False)
    k = damping_from_singular_value(s[..., -1], *damping) if isinstance(damping, tuple) else np.full(
        s.shape[:-1], float(damping))
    with np.errstate(all="ignore"):
        gains = s / (s * s + (k * k)[..., None])
    known = (s > smallest * s[..., :1]) | (k > 0)[..., None]
    gains = np.where(known, gains, np.nan)
    along = gains * (np.swapaxes(left, -1, -2) @ twist[..., None])[..., 0]
    return Rates((np.swapaxes(right, -1, -2) @ along[..., None])[..., 0], s, k[()], np.all(known, axis=-1)[()])


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
    """A solution of f(q) = target (m) near `start` (n), with `f` a kernel of one argument. `angles` are the rows of f
    that are angles: their residuals are wrapped to between -pi and pi. The text has as many equations as unknowns; with
    more unknowns the step is the shortest, with fewer the one of least squares. It stops at a singular Jacobian.

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
