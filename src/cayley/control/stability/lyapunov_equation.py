"""The matrix equation of Lyapunov: the quadratic V = x^T P x of a linear system whose rate is -x^T Q x.

    A^T P + P A = -Q        of steps: A^T P A - P = -Q
P is positive definite for one positive definite Q, and then for all, if and only if A is stable. What is computed
proves something about A: with S = A^T P + P A as it comes out, negative definite, P has as many negative eigenvalues as
A has poles with positive real parts, and none of either is zero (inertia theorem of Ostrowski and Schneider; of steps,
Stein: poles outside the unit circle). Source: Yamamoto Appendix H, spec S3-49.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from scipy.linalg import matrix_balance, solve_continuous_lyapunov, solve_discrete_lyapunov

from cayley.compiler.typing import Array, ArrayLike
from cayley.control.stability.signs import definiteness
from cayley.errors import SignatureError, SingularityError
from cayley.wording import shown

_ROUNDING = 64 * np.finfo(float).eps  # of A, relative, by an entry


class PoleCount(NamedTuple):
    """How many poles are on the wrong side, and how far A may be changed, in the norm, without another count; the
    margin is zero if that is not known."""

    unstable: int
    margin: float


def lyapunov_matrix(A: ArrayLike, Q: ArrayLike | None = None, *, discrete: bool = False) -> Array:
    """P (n, n) of A^T P + P A = -Q, or with `discrete` of A^T P A - P = -Q; Q is the identity if it is not given.

    `SingularityError` names the pole of an A that is not stable: its P, if there is one, is not positive definite.

    >>> lyapunov_matrix([[0.0, 1.0], [-2.0, -3.0]]).round(6)
    array([[1.25, 0.25],
           [0.25, 0.25]])
    """
    given = square(A, "A")
    weight = np.eye(len(given)) if Q is None else square(Q, "Q", len(given))
    if not definiteness(weight).is_semidefinite:
        raise SignatureError(f"Q must be symmetric and not negative in any direction: {shown(weight.tolist())}")
    poles = np.linalg.eigvals(given)
    outside = np.abs(poles) >= 1 if discrete else poles.real >= 0
    count = unstable_poles(given, discrete=discrete)
    if outside.any() or count.unstable or not count.margin:
        worst = poles[np.argmax(np.abs(poles) if discrete else poles.real)]
        where = "not inside the unit circle" if discrete else "without a negative real part"
        raise SingularityError(f"A is not stable: it has the pole {_number(worst)}, {where}; no positive definite P "
                               "solves the equation")
    solved = solve_discrete_lyapunov(given.T, weight) if discrete else solve_continuous_lyapunov(given.T, -weight)
    return np.asarray((solved + solved.T) / 2)


def unstable_poles(A: Array, *, discrete: bool = False, unsure: Array | None = None) -> PoleCount:
    """How many poles of A have positive real parts, or lie outside the unit circle, with a margin that proves it, of A
    whose entries may be wrong by as much as `unsure` (n, n); if that is not given, by rounding of each."""
    n = len(A)
    balanced, scales = matrix_balance(A, separate=True, permute=False)
    weights = scales[0]
    doubt = 0.0 if unsure is None else float(np.linalg.norm(unsure / weights[:, None] * weights, 2))
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of poles that are nearly opposite: it is seen below
            P = np.asarray(solve_discrete_lyapunov(balanced.T, np.eye(n)) if discrete else
                           solve_continuous_lyapunov(balanced.T, -np.eye(n)))
    except (np.linalg.LinAlgError, ValueError):
        return PoleCount(0, 0.0)
    if not np.isfinite(P).all():
        return PoleCount(0, 0.0)
    P = (P + P.T) / 2
    rate = balanced.T @ P @ balanced - P if discrete else balanced.T @ P + P @ balanced
    size = float(np.linalg.norm(P, 2))
    length = float(np.linalg.norm(balanced, 2))
    # of sums of n products
    noise = n * _ROUNDING * size * (length**2 + 1 if discrete else length)
    left = -float(np.linalg.eigvalsh((rate + rate.T) / 2)[-1]) - noise
    values = np.linalg.eigvalsh(P)
    if left <= 0 or not (np.abs(values) > n * _ROUNDING * size).all():
        return PoleCount(0, 0.0)
    # a change of A by r changes the rate by 2 r |P|, of steps by (2 |A| r + r^2) |P|
    margin = left / (2 * size) if not discrete else float(np.sqrt(length**2 + left / size)) - length
    enough = margin > max(_ROUNDING * length, doubt)
    return PoleCount(int((values < 0).sum()), margin if enough else 0.0)


def square(matrix: ArrayLike, name: str, size: int | None = None) -> Array:
    """Finite numbers (n, n)."""
    given = np.asarray(matrix)
    given = given.astype(float) if given.dtype.kind in "iufbO" else given
    if given.ndim != 2 or given.shape[0] != given.shape[1] or not len(given) or given.dtype.kind != "f" or (
            not np.isfinite(given).all()) or (size is not None and len(given) != size):
        wanted = f"({size}, {size})" if size is not None else "(n, n)"
        raise SignatureError(f"{name} is a matrix of finite numbers {wanted}, not {shown(matrix)}")
    return given


def _number(pole: complex) -> str:
    return f"{pole.real:.6g}" if abs(pole.imag) == 0 else f"{pole:.6g}"
