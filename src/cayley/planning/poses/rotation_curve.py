"""Curves of rotations whose quaternions are polynomials, but for their length: rational, without trigonometry.

    q = P/|P|      w = 2 vec(P* P')/N      w' = (2 vec(P* P'') - N' w)/N      N = P.P
with P polynomials between breaks, P* the conjugate, and w the angular velocity in body axes. A half-turn is as good as
any other rotation. Curves in vector-parameters, P = q0 (1, c(t)), are of this kind, and so are splines of quaternions.

P + e D, e^2 = 0      position 2 vec(D P*)/N      twist w + e v, by the formulas of w in dual numbers
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, Scalar
from cayley.errors import SignatureError
from cayley.geometry.motions.dual import Dual, dual_cross
from cayley.planning.motion import Derivatives
from cayley.planning.splines.polynomials import PolynomialPieces, polynomial


def cross(a: Scalar, b: Scalar) -> Scalar:
    return dual_cross(a, b) if isinstance(a, Dual) or isinstance(b, Dual) else np.cross(a, b)


def _conjugate_times(p: Scalar, q: Scalar) -> Scalar:
    """The vector part of p* q."""
    return p[0] * q[1:] - q[0] * p[1:] - cross(p[1:], q[1:])


def body_rates(P: Scalar, P1: Scalar, P2: Scalar, P3: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """Angular velocity in body axes and its first two derivatives, of a quaternion of any length and its derivatives;
    of dual quaternions, the twists."""
    N = P @ P
    N1 = 2.0 * (P @ P1)
    N2 = 2.0 * (P1 @ P1 + P @ P2)
    w = 2.0 * _conjugate_times(P, P1) / N
    dw = (2.0 * _conjugate_times(P, P2) - N1 * w) / N
    ddw = (2.0 * (_conjugate_times(P, P3) + _conjugate_times(P1, P2)) - 2.0 * N1 * dw - N2 * w) / N
    return w, dw, ddw


def rotation(tau: Scalar, coefficients: Array) -> Derivatives:
    """Quaternion (4), angular velocity (3) in body axes and its first two derivatives, at a time of a piece."""
    P, *rates = polynomial(tau, coefficients)
    return (P / np.sqrt(P @ P), *body_rates(P, *rates))


@cache
def _rotation_kernel(terms: int) -> Kernel[Derivatives]:
    return kernel(f"(),({terms},4)->(4),(3),(3),(3)", outputs=("q", "qd", "qdd", "qddd"))(rotation)


@dataclass(frozen=True, eq=False, repr=False)
class RotationCurve(PolynomialPieces):
    """Rotations in time, as a motion of a spherical joint: q is a unit quaternion (w, x, y, z), qd the angular velocity
    in body axes, qdd its derivative. Between the `breaks` (p + 1) the quaternion is the direction of polynomials with
    the `coefficients` (p, degree + 1, 4). `rotation_spline` and others make one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.coefficients.shape[2] != 4:
            raise SignatureError(f"the polynomials of rotations are quaternions (4), not {self.coefficients.shape[2]}")

    nq = 4
    attitudes = (0,)

    @property
    def _piece(self) -> Kernel[Derivatives]:
        return _rotation_kernel(self.coefficients.shape[1])


def pose(tau: Scalar, coefficients: Array) -> Derivatives:
    """Position and quaternion (7), twist (v; w) (6) in body axes and its first two derivatives, in a piece."""
    both = [Dual(part[:4], part[4:]) for part in polynomial(tau, coefficients)]
    P = both[0].real
    D = both[0].dual
    N = P @ P
    position = 2.0 * (P[0] * D[1:] - D[0] * P[1:] - np.cross(D[1:], P[1:])) / N
    twists = [np.concatenate([rate.dual, rate.real]) for rate in body_rates(*both)]
    return (np.concatenate([position, P / np.sqrt(N)]), *twists)  # type: ignore[return-value]


@cache
def _pose_kernel(terms: int) -> Kernel[Derivatives]:
    return kernel(f"(),({terms},8)->(7),(6),(6),(6)", outputs=("q", "qd", "qdd", "qddd"))(pose)


@dataclass(frozen=True, eq=False, repr=False)
class PoseCurve(PolynomialPieces):
    """Poses in time, as a motion of a floating base: q is the position and a unit quaternion, qd the twist (v; w) in
    body axes, qdd its derivative. Between the `breaks` (p + 1) the dual quaternion is the direction of polynomials with
    the `coefficients` (p, degree + 1, 8), real part first. `pose_spline` and others make one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.coefficients.shape[2] != 8:
            raise SignatureError(f"the polynomials of poses are dual quaternions (8), not {self.coefficients.shape[2]}")

    nq = 7
    attitudes = (3,)

    @property
    def _piece(self) -> Kernel[Derivatives]:
        return _pose_kernel(self.coefficients.shape[1])
