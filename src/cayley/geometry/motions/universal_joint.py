"""The universal (Cardan, Hooke) joint between two shafts at an angle, and two of them in a row.

The first shaft has turned by theta1, the second by theta2; `bend` is the angle alpha between the shafts, below a
quarter turn (at a quarter turn the joint is locked). tan(theta1) = cos(alpha) tan(theta2): the second shaft runs ahead
and falls behind, twice in a turn. Angles are continuous over any number of turns: what is computed is the lead theta2 -
theta1, which stays within a quarter turn. The rate ratio is d(theta1)/d(theta2), input over output. Source: Ruggiu 1.3,
(1.44)-(1.49), spec 3.2."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import SingularityError
from cayley.geometry.batch import place, refuse, rounding_of

_LOCKED = 1e-12
"""A bend this close to a quarter turn is locked."""


class ShaftMotion(NamedTuple):
    angle: Scalar
    rate: Scalar
    acceleration: Scalar


class RatioRange(NamedTuple):
    lowest: Scalar
    highest: Scalar


class LargestLead(NamedTuple):
    lead: Scalar
    input_angle: Scalar


def check_bend(bend: ArrayLike, *_: object) -> None:
    """Raise `SingularityError` where a joint is bent by a quarter turn or more: it is locked.

    >>> check_bend(np.pi / 2)
    Traceback (most recent call last):
    cayley.errors.SingularityError: the universal joint is locked: the shafts are bent by 1.5708 rad, and below ...
    """
    locked = max(_LOCKED, 2 * rounding_of(bend))
    bend = np.asarray(bend, dtype=np.float64)
    refuse(~np.isnan(bend), lambda bad: f"the bend of the universal joint{place(bad)} is not a number")
    refuse(np.abs(bend) < np.pi / 2 - locked, lambda bad:
           f"the universal joint{place(bad)} is locked: the shafts are bent by {bend[bad]:.6g} rad, "
           "and below pi/2 is needed", SingularityError)


@kernel("(),()->()", check=check_bend)
def universal_joint_angle(bend: Scalar, theta1: Scalar) -> Scalar:
    """The angle theta2 [rad] of the second shaft; every theta1, quarter turns and many turns included. Ruggiu (1.47).

    >>> np.degrees(universal_joint_angle(np.pi / 6, np.radians([90.0, 135.0, 360.0]))).round(10)   # spec WE-04
    array([ 90.        , 130.89339465, 360.        ])
    """
    return theta1 + _lead(bend, theta1)


def _lead(bend: Scalar, theta1: Scalar) -> Scalar:
    """theta2 - theta1 of tan(theta2) = tan(theta1) / cos(bend)."""
    s, c = np.sin(theta1), np.cos(theta1)
    half = np.sin(0.5 * bend)
    return np.arctan2(2 * half * half * s * c, s * s + c * c * np.cos(bend))


def _lag(bend: Scalar, theta2: Scalar) -> Scalar:
    """theta3 - theta2 of tan(theta3) = cos(bend) tan(theta2): the joint run backwards."""
    s, c = np.sin(theta2), np.cos(theta2)
    half = np.sin(0.5 * bend)
    return -np.arctan2(2 * half * half * s * c, c * c + s * s * np.cos(bend))


@kernel("(),()->()", check=check_bend)
def universal_joint_rate_ratio(bend: Scalar, theta1: Scalar) -> Scalar:
    """d(theta1)/d(theta2) = (1 - sin(bend)^2 cos(theta1)^2)/cos(bend): from cos(bend) to 1/cos(bend). Ruggiu (1.48).

    >>> float(universal_joint_rate_ratio(np.pi / 3, 0.0).round(12)), float(universal_joint_rate_ratio(np.pi / 3,
    ...                                                                                               np.pi
    ...                                                                                               / 2).round(12))
    (0.5, 2.0)
    """
    s, c = np.sin(theta1), np.cos(theta1)
    k = np.cos(bend)
    return s * s / k + c * c * k


@kernel("(),(),(),()->(),(),()", check=check_bend)
def universal_joint_motion(bend: Scalar, theta1: Scalar, rate1: Scalar, acceleration1: Scalar) -> ShaftMotion:
    """`angle`, `rate`, `acceleration` of the second shaft from those of the first. Ruggiu (1.47)-(1.48).

    >>> universal_joint_motion(np.pi / 3, 0.0, 1.0, 0.0).rate.round(12)
    np.float64(2.0)
    """
    ratio = universal_joint_rate_ratio.unchecked(bend, theta1)
    rate = rate1 / ratio
    growth = np.sin(2 * theta1) * (1 / np.cos(bend) - np.cos(bend))  # d(ratio)/d(theta1)
    return ShaftMotion(universal_joint_angle.unchecked(bend, theta1), rate,
                       (acceleration1 - rate * growth * rate1) / ratio)


@kernel("()->(),()", check=check_bend)
def universal_joint_ratio_range(bend: Scalar) -> RatioRange:
    """`lowest` rate ratio cos(bend), at theta1 = 0 and pi; `highest` 1/cos(bend), at pi/2. Ruggiu (1.49).

    >>> universal_joint_ratio_range(np.pi / 3).highest.round(12)
    np.float64(2.0)
    """
    k = np.cos(bend)
    return RatioRange(k, 1 / k)


@kernel("()->(),()", check=check_bend)
def universal_joint_largest_lead(bend: Scalar) -> LargestLead:
    """The largest `lead` theta2 - theta1 [rad], and its `input_angle`: tan(theta1) = sqrt(cos(bend)).

    >>> np.degrees(universal_joint_largest_lead(np.pi / 6)).round(10)   # spec WE-04
    array([ 4.11719427, 42.94140286])
    """
    theta1 = np.arctan(np.sqrt(np.cos(bend)))
    return LargestLead(_lead(bend, theta1), theta1)


# Two joints in a row


def _check_two(bend_in: Array, bend_out: Array, *_: object) -> None:
    check_bend(bend_in)
    check_bend(bend_out)


@kernel("(),(),(),()->()", check=_check_two)
def double_universal_joint_angle(bend_in: Scalar, bend_out: Scalar, phase: Scalar, theta1: Scalar) -> Scalar:
    """The angle theta3 [rad] of the last of three shafts; `phase` is the angle of the two forks of the middle one.

    In a plane tan(theta3) = (cos(bend_out)/cos(bend_in)) tan(theta1). Ruggiu 1.3, fig. 1.15.

    >>> double_universal_joint_angle(0.5, 0.5, 0.0, [0.3, 7.0]).round(12)
    array([0.3, 7. ])
    """
    theta2 = universal_joint_angle.unchecked(bend_in, theta1)
    return theta2 + _lag(bend_out, theta2 + phase)


@kernel("(),(),(),()->()", check=_check_two)
def double_universal_joint_rate_ratio(bend_in: Scalar, bend_out: Scalar, phase: Scalar, theta1: Scalar) -> Scalar:
    """d(theta1)/d(theta3) of two joints in a row.

    >>> double_universal_joint_rate_ratio(0.5, 0.5, 0.0, [0.3, 7.0]).round(12)
    array([1., 1.])
    """
    theta2 = universal_joint_angle.unchecked(bend_in, theta1) + phase
    k = np.cos(bend_out)
    s, c = np.sin(theta2), np.cos(theta2)
    return universal_joint_rate_ratio.unchecked(bend_in, theta1) * (c * c / k + s * s * k)


@kernel("(),(),()->(),()", check=_check_two)
def double_universal_joint_ratio_range(bend_in: Scalar, bend_out: Scalar, phase: Scalar) -> RatioRange:
    """The `lowest` and the `highest` rate ratio in a turn; both are 1 for a constant-velocity joint.

    That needs equal bends and forks in one plane; with the forks a quarter turn out of phase the range is cos(a)cos(b)
    to its inverse. The shafts' angles are those of u and M u for a plane vector u and a matrix M of determinant cos(a)
    cos(b), so that the ratio is |M u|^2 / det M: its extremes are the ratios of the singular values of M.

    >>> double_universal_joint_ratio_range(np.pi / 3, np.pi / 3, np.pi / 2).lowest.round(12)
    np.float64(0.25)
    """
    ka = np.cos(bend_in)
    kb = np.cos(bend_out)
    s, c = np.sin(phase), np.cos(phase)
    # M = diag(1, kb) Rot(phase) diag(ka, 1); sum and difference of its singular values from its conformal and
    # anticonformal parts.
    together = np.hypot(c * (ka + kb), s * (1 + ka * kb))
    apart = np.hypot(c * (ka - kb), s * (1 - ka * kb))
    return RatioRange((together - apart) / (together + apart), (together + apart) / (together - apart))


@kernel("(),(),()->()", check=_check_two)
def constant_velocity_defect(bend_in: Scalar, bend_out: Scalar, phase: Scalar) -> Scalar:
    """Half the logarithm of highest over lowest ratio of two joints in a row: 0 if they pass on a constant speed.

    >>> float(constant_velocity_defect(0.5, 0.5, 0.0)), float(constant_velocity_defect(0.5, 0.4, 0.0)) > 0.04
    (0.0, True)
    """
    extremes = double_universal_joint_ratio_range.unchecked(bend_in, bend_out, phase)
    return np.log(extremes.highest)
