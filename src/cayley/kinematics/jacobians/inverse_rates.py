"""Joint velocities and accelerations that give those of a task, for a square regular Jacobian, geometric or analytic.

    qd = J^-1 r'      qdd = J^-1 (r'' - J' qd)
A singular J has no inverse: `SingularityError` names the velocity that is lost. For other numbers of joints see
`redundancy`. Source: Yamamoto 1.15 with (1.36), (1.37); spec S3-21.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError, SingularityError
from cayley.geometry.batch import first_failure, place
from cayley.kinematics.subspaces import rank_tolerance, subspaces
from cayley.showing import brief


@dataclass(frozen=True, eq=False)
class JointMotion:
    """Joint velocities and accelerations, each (..., n)."""

    velocities: Array
    accelerations: Array

    __repr__ = brief


def joint_velocities(J: ArrayLike, rate: ArrayLike, *, tolerance: float | None = None) -> Array:
    """The joint velocities (..., n) that give the rate (..., n) of a task with the Jacobian J (..., n, n).

    >>> joint_velocities([[0.0, 2.0], [1.0, 0.0]], [4.0, 3.0])
    array([3., 2.])
    """
    return _solved(_checked(J, tolerance), rate)


def joint_motion(J: ArrayLike, J_rate: ArrayLike, rate: Array, second_rate: ArrayLike, *,
                 tolerance: float | None = None) -> JointMotion:
    """The joint velocities and accelerations that give the rate r' and the second rate r'' of a task: (..., n) each.

    `J` and `J_rate` (..., n, n) must be of the same kind as the rates: of the same point, axes and parameters of the
    attitude.
    """
    J = _checked(J, tolerance)
    velocities = _solved(J, rate)
    drift = (np.asarray(J_rate, dtype=np.float64) @ velocities[..., None])[..., 0]
    return JointMotion(velocities, _solved(J, np.asarray(second_rate, dtype=np.float64) - drift))


def _checked(J: ArrayLike, tolerance: float | None) -> Array:
    tolerance = rank_tolerance(tolerance, J)
    J = np.asarray(J, dtype=np.float64)
    if J.ndim < 2 or J.shape[-1] != J.shape[-2]:
        raise SignatureError(f"a Jacobian with an inverse has shape (..., n, n), not {J.shape}: choose rows, or use "
                             "redundancy.general_solution")
    parts = subspaces(J, tolerance=tolerance)
    bad = first_failure(~np.asarray(parts.singular))
    if bad is not None:
        lost = parts.U[bad][:, -1]
        raise SingularityError(
            f"the Jacobian{place(bad)} is singular (singular values from {parts.singular_values[bad][0]:.2g} to "
            f"{parts.smallest[bad]:.0e}): no joint velocities give a rate along {np.round(lost, 6).tolist()}; "
            "redundancy.general_solution gives the nearest ones")
    return J


def _solved(J: Array, right: ArrayLike) -> Array:
    return np.linalg.solve(J, np.asarray(right, dtype=np.float64)[..., None])[..., 0]
