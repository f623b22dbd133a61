"""The gyroscope: an axisymmetric body about a fixed point, in precession psi, nutation theta and spin phi.

Its axis is z of Rz(psi) Rx(theta); the spin phi about it is left out of the nodal axes (u along the line of nodes, w
along the axis, v = w x u) in which moments are given. I0 is the moment of inertia about every axis across the axis of
symmetry, through the fixed point, I that about it. Angles, rates and accelerations come in the order (psi, theta, phi).
Source: seed 2, (3.30)-(3.33), the first moment corrected as in spec E-02, the steady state as in spec E-03.

>>> nodal_from_fixed([np.pi / 2, np.pi / 2, 0.0], [1.0, 2.0, 3.0]).round(12)
array([2., 3., 1.])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import SingularityError
from cayley.geometry.batch import tolerance_of
from cayley.geometry.formula import formula
from cayley.geometry.tensors.checks import refuse_where


@kernel("(3),(3)->(3)")
def gyroscope_angular_velocity(angles: Array, rates: Array) -> Array:
    """The angular velocity in fixed axes [rad/s], (3.31).

    >>> gyroscope_angular_velocity([0.0, 0.0, 0.0], [1.0, 2.0, 3.0])
    array([2., 0., 4.])
    """
    sin, cos = np.sin(angles), np.cos(angles)
    psd, thd, phd = rates
    return np.stack([thd * cos[0] + phd * sin[0] * sin[1], thd * sin[0] - phd * cos[0] * sin[1], psd + phd * cos[1]])


nodal_from_fixed = formula(
    "nodal_from_fixed", "(3),(3)->(3)", lambda angles, vector: nodal_axes(angles).T @ vector,
    "Components of a vector, a moment say, along the nodal axes u, v, w from those along the fixed ones.")


def nodal_axes(angles: Array) -> Array:
    """u, v, w as columns (3, 3) in fixed axes: Rz(psi) Rx(theta)."""
    sin, cos = np.sin(angles), np.cos(angles)
    return np.array([[cos[0], -sin[0] * cos[1], sin[0] * sin[1]],
                     [sin[0], cos[0] * cos[1], -cos[0] * sin[1]],
                     [0 * sin[0], sin[1], cos[1]]])


@kernel("(),(),(),(3),(3)->(3)")
def gyroscope_moments(I0: Scalar, I: Scalar, theta: Scalar, rates: Array, accelerations: Array) -> Array:
    """The moments [N m] about the nodal axes u, v, w that the motion needs, (3.32) corrected as in spec E-02.

    >>> # a spinning top held level
    >>> gyroscope_moments(0.02, 0.01, np.pi / 2, [1.0, 0.0, 100.0], [0.0, 0.0, 0.0]).round(12) 
    array([1., 0., 0.])
    """
    sin, cos = np.sin(theta), np.cos(theta)
    psd, thd, phd = rates
    psdd, thdd, phdd = accelerations
    spin = psd * cos + phd
    return np.stack([I0 * (thdd - psd * psd * sin * cos) + I * psd * sin * spin,
                     I0 * (psdd * sin + 2 * psd * thd * cos) - I * thd * spin,
                     I * (psdd * cos - psd * thd * sin + phdd)])


def check_moments(I0: ArrayLike, I: ArrayLike) -> None:
    I0, I = np.broadcast_arrays(np.asarray(I0, dtype=float), np.asarray(I, dtype=float))
    refuse_where(~(I0 > 0),
                 "the moment I0 of a gyroscope across its axis is {defect:.6g} kg m^2{element}: it is positive", I0)
    refuse_where(~(I >= 0),
                 "the moment I of a gyroscope about its axis is {defect:.6g} kg m^2{element}: it is not negative", I)
    excess = I - 2 * I0
    refuse_where(
        excess > tolerance_of(I) * I,
        "no body has the moments of a gyroscope{element}: that about the axis exceeds the sum of "
        "the two across it by {defect:.6g} kg m^2", excess)


def _check_tilted(I0: Array, I: ArrayLike, theta: ArrayLike, *_: object) -> None:
    check_moments(I0, I)
    refuse_where(~(np.asarray(I) > 0),
                 "a gyroscope without a moment about its axis{element} leaves its spin undetermined", I,
                 SingularityError)
    sin = np.abs(np.sin(np.asarray(theta, dtype=float)))
    refuse_where(
        ~(sin > 1e-12),
        "the axis of the gyroscope is upright{element} (sin theta = {defect:.3g}): precession and spin turn about "
        "the same axis and cannot be told apart; rotating_body needs no angles", sin, SingularityError)


@kernel("(),(),(),(3),(3)->(3)", check=_check_tilted)
def gyroscope_accelerations(I0: Scalar, I: Scalar, theta: Scalar, rates: Array, moments: Array) -> Array:
    """The accelerations of psi, theta and phi [rad/s^2] under moments about the nodal axes: (3.32) solved. Not at sin
    theta = 0. Moments about fixed axes come through `nodal_from_fixed`; `cayley.machines.gyroscope` is the system.

    >>> gyroscope_accelerations(0.02, 0.01, np.pi / 2, [1.0, 0.0, 100.0], [1.0, 0.0, 2.0]).round(12) + 0.0
    array([  0.,   0., 200.])
    """
    sin, cos = np.sin(theta), np.cos(theta)
    psd, thd, phd = rates
    spin = psd * cos + phd
    thdd = (moments[0] - I * psd * sin * spin) / I0 + psd * psd * sin * cos
    psdd = ((moments[1] + I * thd * spin) / I0 - 2 * psd * thd * cos) / sin
    return np.stack([psdd, thdd, moments[2] / I - psdd * cos + psd * thd * sin])


@dataclass(frozen=True)
class SteadyPrecession:
    """The rates of precession at which an axis keeps its inclination."""

    slow: float | None
    """The rate that a top takes by itself [rad/s]; None if there is no steady precession, or none of finite rate."""
    fast: float | None
    """The other rate [rad/s]; None if there is one only (a level axis, or I = I0), or none."""
    discriminant: float
    """(I phd)^2 + 4 (I - I0) cos(theta) Mt: negative if the spin is too slow to carry the moment."""


def steady_precession(I0: float, I: float, theta: float, spin: float, tilting: float) -> SteadyPrecession:
    """Steady precession under the moment `tilting` sin(theta) [N m] (of a top, its weight) and the spin phd [rad/s].

    The rates solve (I - I0) cos(theta) psd^2 + I phd psd - tilting = 0. The slow root is computed without cancellation.
    With an upright axis (sin theta = 0) the moment vanishes and every rate is steady; the roots are then the limits for
    small inclination.

    >>> steady_precession(0.02, 0.01, np.pi / 6, 200.0, 0.24525).slow   # WE-18; the estimate Mt / (I phd) is 0.122625
    0.122690180...
    """
    check_moments(I0, I)
    a = (I - I0) * np.cos(theta)
    b = I * spin
    if abs(np.cos(theta)) < 1e-15:  # the rounding of a right angle
        a = 0.0
    discriminant = b * b + 4 * a * tilting
    if discriminant < 0:
        return SteadyPrecession(None, None, float(discriminant))
    if a == 0:
        return SteadyPrecession(_quotient(tilting, b), None, float(discriminant))
    larger = -(b + np.copysign(np.sqrt(discriminant), b)) / 2  # a times the fast root
    return SteadyPrecession(_quotient(-tilting, larger), _quotient(larger, a), float(discriminant))


def _quotient(a: float, b: float) -> float | None:
    """a / b, zero for 0 / 0, None if it is infinite."""
    if a == 0:
        return 0.0
    with np.errstate(over="ignore", divide="ignore"):
        value = float(np.float64(a) / np.float64(b))
    return value if np.isfinite(value) else None
