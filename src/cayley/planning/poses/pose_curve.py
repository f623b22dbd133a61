"""Curves of poses whose dual quaternions are polynomials, but for their length: what `rotation_curve` is for rotations,
by the principle of transference.

    P + e D, e^2 = 0      position 2 vec(D P*)/N      twist w + e v, by the formulas of w in dual numbers
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, Scalar
from cayley.errors import SignatureError
from cayley.geometry.motions.dual import Dual
from cayley.planning.motion import Derivatives
from cayley.planning.poses.rotation_curve import body_rates
from cayley.planning.splines.polynomials import PolynomialPieces, polynomial


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
def _kernel(terms: int) -> Kernel[Derivatives]:
    return kernel(f"(),({terms},8)->(7),(6),(6),(6)", outputs=("q", "qd", "qdd", "qddd"))(pose)


@dataclass(frozen=True, eq=False, repr=False)
class PoseCurve(PolynomialPieces):
    """Poses in time, as a motion of a floating base: q is the position and a unit quaternion, qd the twist (v; w) in
    body axes, qdd its derivative. Between the `breaks` (p + 1) the dual quaternion is the direction of polynomials with
    the `coefficients` (p, degree + 1, 8), real part first. `pose_spline` and others make one.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.coefficients.shape[2] != 8:
            raise SignatureError(f"the polynomials of poses are dual quaternions (8), not {self.coefficients.shape[2]}")

    nq = 7
    attitudes = (3,)

    @property
    def _piece(self) -> Kernel[Derivatives]:
        return _kernel(self.coefficients.shape[1])
