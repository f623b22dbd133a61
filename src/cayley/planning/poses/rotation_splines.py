"""Twice-differentiable curves through rotations and poses, found at once for all knots: stable for any number of them.

    q = P/|P|      w = 2 vec(P* P')/N      w' = (2 vec(P* P'') - N' w)/N      N = P.P
    P + e D, e^2 = 0      position 2 vec(D P*)/N      twist w + e v, by the formulas of w in dual numbers
P are polynomials between breaks, P* the conjugate, w the angular velocity in body axes: rational, without trigonometry.
A spline joins the quaternions of the knots, each with the sign that is nearer to the one before, by a cubic spline in
four dimensions (of poses: eight), which does not depend on the frames in which it is planned. Half-turns are no
exception. Curves in vector-parameters, P = q0 (1, c(t)), are of this kind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import PlanningError, SignatureError
from cayley.geometry.batch import numbers
from cayley.geometry.motions.dual import Dual, dual_cross
from cayley.geometry.motions.dual_quaternion import dual_quaternion_from_pose
from cayley.geometry.motions.homogeneous import relative_pose
from cayley.geometry.motions.screws import pose_from_twist, twist_from_pose
from cayley.geometry.rotations.quaternion import (
    check_unit_quaternion,
    matrix_from_quaternion,
    quaternion_from_matrix,
    quaternion_product,
)
from cayley.geometry.rotations.rotation_vector import quaternion_from_rotation_vector
from cayley.planning.motion import Derivatives
from cayley.planning.splines.polynomials import InPieces, PolynomialPieces, checked_breaks, checked_vector, polynomial
from cayley.planning.splines.splines import Ends, cubic_pieces

_UNIT = 1e-14  # of the square of a length: what is so near needs no closer look
_HALF_TURN = 1e-12  # of the cosine of half the angle: either way round is as short
_SHORTEST = 0.1  # of a quaternion between knots: below it the curve hardly knows where to turn


def rotation_spline(times: ArrayLike, rotations: ArrayLike, ends: Ends = "natural", *,
                    velocities: tuple[ArrayLike, ArrayLike] = (0.0, 0.0)) -> RotationCurve:
    """The curve through rotations, quaternions (k, 4) or matrices (k, 3, 3), at times (k), with continuous angular
    acceleration.

    `ends` as for `cubic_spline`: "natural" (hardly any angular acceleration), "clamped" (the angular `velocities` (3),
    in body axes, at both ends; at rest if not given), "not-a-knot", "periodic", or one word for each end. From knot to
    knot it turns the shorter way; where both are as long, a half-turn, the way of the velocities given with it, or that
    of the quaternion as it is given.

    >>> turn = rotation_spline([0.0, 2.0], [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]], "clamped")
    >>> turn(1.0).q, turn(1.0).qd
    (array([0.70710678, 0.        , 0.        , 0.70710678]), array([0., 0., 3.]))
    """
    t = checked_breaks(times)
    q = checked_rotations(rotations, len(t))
    return RotationCurve.of_checked(t, _through(t, q, ends, velocities, 3))


def pose_spline(times: ArrayLike, poses: ArrayLike, ends: Ends = "natural", *,
                twists: tuple[ArrayLike, ArrayLike] = (0.0, 0.0)) -> PoseCurve:
    """The curve through poses (k, 4, 4) at times (k), with continuous twist and acceleration. `ends` as for
    `cubic_spline`; clamped ends have the `twists` (v; w) (6) in body axes.

    >>> turned = np.array([[0.0, -1.0, 0.0, 2.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]])
    >>> move = pose_spline([0.0, 1.0], [np.eye(4), turned], "clamped")
    >>> move([0.0, 0.5, 1.0]).q[:, :3].round(6)
    array([[ 0.      ,  0.      ,  0.      ],
           [ 1.      , -0.414214,  0.5     ],
           [ 2.      ,  0.      ,  1.      ]])
    """
    t = checked_breaks(times)
    return PoseCurve.of_checked(t, _through(t, checked_poses(poses, len(t)), ends, twists, 6))


def checked_rotations(rotations: ArrayLike, count: int) -> Array:
    """The unit quaternions (count, 4) of rotations, given so or as matrices."""
    given = numbers(rotations, "rotations")
    if given.shape == (count, 3, 3):
        return quaternion_from_matrix(given)
    if given.shape != (count, 4):
        raise SignatureError(f"{count} times take {count} rotations: quaternions ({count}, 4), or matrices "
                             f"({count}, 3, 3); given was the shape {given.shape}")
    if not (np.abs(np.einsum("ki,ki->k", given, given) - 1.0) <= _UNIT).all():
        check_unit_quaternion(given)
    return given


def checked_poses(poses: ArrayLike, count: int) -> Array:
    """The unit dual quaternions (count, 8) of poses (count, 4, 4)."""
    given = numbers(poses, "poses")
    if given.shape != (count, 4, 4):
        raise SignatureError(f"{count} times take {count} poses ({count}, 4, 4); given was the shape {given.shape}")
    return dual_quaternion_from_pose(given).reshape(-1, 8)


def _through(t: Array, knots: Array, ends: Ends, velocities: tuple[ArrayLike, ArrayLike], size: int) -> Array:
    """The coefficients (k - 1, 4, 4 or 8) of the spline through quaternions, or dual ones, with the angular velocities
    (3), or the twists (6), at its clamped ends."""
    if "clamped" in ends:
        rates = [checked_vector(v, size, "the velocities of ends") for v in velocities]
        P = aligned(knots, rates[0][-3:] + rates[1][-3:])
        c = cubic_pieces(t, P, ends, (quaternion_rate(P[0], rates[0]), quaternion_rate(P[-1], rates[1])))
    elif ends == "periodic":
        c = _around(t, aligned(knots, np.zeros(3)))
    else:
        c = cubic_pieces(t, aligned(knots, np.zeros(3)), ends, (0.0, 0.0))
    lengths = _lengths()(t[1:] - t[:-1], c[:, :, :4])
    if not lengths.min() > _SHORTEST**2:
        worst = int(lengths.argmin())
        raise PlanningError(f"the rotation between the times {t[worst]:g} and {t[worst + 1]:g} is not determined: the "
                            "knots, or the velocities at the ends, turn too much for the time between them; give more "
                            "knots, or slower ends")
    return c


def _around(t: Array, P: Array) -> Array:
    """The pieces of a curve that goes on as it began. After a whole turn the quaternion is the opposite one: it comes
    back after two."""
    if P[0, :4] @ P[-1, :4] >= 0.0:
        return cubic_pieces(t, P, "periodic", (0.0, 0.0))
    twice = cubic_pieces(np.concatenate([t, t[1:] + (t[-1] - t[0])]), np.concatenate([P, -P[1:]]), "periodic",
                         (0.0, 0.0))
    return twice[:len(t) - 1]


@cache
def _lengths() -> np.ufunc:
    return _shortest.ufunc()


@kernel("(),(4,4)->()")
def _shortest(h: Scalar, c: Array) -> Scalar:
    """The least square of the length of a quaternion between knots: where it nearly vanishes, the curve would flip."""
    between = [c[0] + u * (c[1] + u * (c[2] + u * c[3])) for u in (0.25 * h, 0.5 * h, 0.75 * h)]
    first, middle, last = (P @ P for P in between)
    return np.minimum(np.minimum(first, middle), last)


def aligned(knots: Array, direction: Array) -> Array:
    """The same rotations, each with the sign of its quaternion that is nearer to the one before it."""
    real = knots[:, :4]
    cosines = np.einsum("ki,ki->k", real[1:], real[:-1])
    nearest = np.abs(cosines)
    if not nearest.min() > _HALF_TURN:
        for k in np.flatnonzero(nearest <= _HALF_TURN):
            p = real[k]
            q = real[k + 1]
            axis = p[0] * q[1:] - q[0] * p[1:] - np.cross(p[1:], q[1:])
            cosines[k] = 1.0 if axis @ direction >= 0.0 else -1.0
    found = knots.copy()
    found[1:] *= np.copysign(1.0, cosines).cumprod()[:, None]
    return found


def quaternion_rate(knot: Array, rate: Array) -> Array:
    """The derivative (4 or 8) of a unit quaternion, or of a dual one, from the angular velocity (3), or the twist (6),
    in body axes."""
    turn = np.concatenate([[0.0], rate[-3:]])
    slope = 0.5 * quaternion_product(knot[:4], turn)
    if len(knot) == 4:
        return slope
    shift = np.concatenate([[0.0], rate[:3]])
    return np.concatenate([slope, 0.5 * (quaternion_product(knot[:4], shift) + quaternion_product(knot[4:], turn))])


@kernel("(),(7),(6)->(7),(6),(6),(6)", outputs=("q", "qd", "qdd", "qddd"))
def _screw(tau: Scalar, first: Array, twist: Array) -> Derivatives:
    moved = pose_from_twist.unchecked(tau * twist)[:3, 3]
    turned = quaternion_from_rotation_vector.unchecked(tau * twist[3:])
    position = first[:3] + matrix_from_quaternion.unchecked(first[3:]) @ moved
    still = 0.0 * twist
    return np.concatenate([position, quaternion_product(first[3:], turned)]), twist + still, still, still


@dataclass(frozen=True, eq=False, repr=False)
class Screws(InPieces):
    """Poses in time, as a motion of a floating base, with a constant twist between `breaks` (p + 1): from the
    configurations `first` (p, 7), position and unit quaternion, with the `twists` (v; w) (p, 6) in body axes."""

    breaks: Array
    first: Array
    twists: Array

    nq = 7
    attitudes = (3,)

    @property
    def _piece(self) -> Kernel[Derivatives]:
        return _screw

    @property
    def _tables(self) -> tuple[Array, ...]:
        return self.first, self.twists


def screw_motion(times: ArrayLike, poses: ArrayLike) -> Screws:
    """From each of the poses (k, 4, 4) to the next, at times (k), by a turn about one line together with a shift along
    it, at constant speed. `Composed` has it done in other times, as from rest to rest:

    >>> from cayley.planning import At, Composed, polynomial_through
    >>> turned = np.array([[0.0, -1.0, 0.0, 2.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]])
    >>> path = screw_motion([0.0, 1.0], [np.eye(4), turned])
    >>> move = Composed(path, polynomial_through([At(0.0, 0.0, 0.0), At(2.0, 1.0, 0.0)]))
    >>> move(1.0).q[:3].round(6), move(1.0).qd.round(3)
    (array([ 1.      , -0.414214,  0.5     ]), array([ 1.178, -1.178,  0.75 ,  0.   ,  0.   ,  1.178]))
    """
    t = checked_breaks(times)
    quaternions = aligned(checked_poses(poses, len(t)), np.zeros(3))[:, :4]
    goals = numbers(poses, "poses")
    gaps = twist_from_pose(relative_pose(goals[:-1], goals[1:]))
    first = np.concatenate([goals[:-1, :3, 3], quaternions[:-1]], axis=-1)
    return Screws(t, first, gaps / np.diff(t)[:, None])


def cross(a: Scalar, b: Scalar) -> Scalar:
    return dual_cross(a, b) if isinstance(a, Dual) or isinstance(b, Dual) else np.cross(a, b)


def _conjugate_times(p: Scalar, q: Scalar) -> Scalar:
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
    in body axes. Between the `breaks` (p + 1) the quaternion is the direction of polynomials with the `coefficients`
    (p, degree + 1, 4). `rotation_spline` and others make one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.coefficients.shape[2] != 4:
            raise SignatureError(f"the polynomials of rotations must be quaternions (4), not "
                                 f"{self.coefficients.shape[2]}")

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
            raise SignatureError(f"the polynomials of poses must be dual quaternions (8), not "
                                 f"{self.coefficients.shape[2]}")

    nq = 7
    attitudes = (3,)

    @property
    def _piece(self) -> Kernel[Derivatives]:
        return _pose_kernel(self.coefficients.shape[1])
