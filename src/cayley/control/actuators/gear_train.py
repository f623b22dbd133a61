"""Gears between motors and joints: angles one way, forces the other, by virtual work.

    q_M = Gamma q        tau = Gamma^T tau_M        as tau_M . dq_M = tau . dq for every dq
The gear ratio is the turns of the motor for one of the joint; the reduction ratio is its inverse. One motor a joint
makes Gamma diagonal; wrists whose motors turn several joints have one that is not.
Source: Yamamoto (6.5)-(6.10), spec S3-39, E3-26.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.control.arms import ArmLike, tree_for
from cayley.errors import SignatureError
from cayley.showing import brief
from cayley.wording import shown


@dataclass(frozen=True, eq=False)
class GearTrain:
    """Gears with a matrix Gamma (n, n), or ratios (n) if it is diagonal. All maps broadcast over leading axes.

    >>> gears = GearTrain([100.0, 80.0])
    >>> gears.motor_angles([0.1, 0.2]), gears.joint_forces([0.5, 0.25]), gears.reduction_ratios
    (array([10., 16.]), array([50., 20.]), array([0.01 , 0.0125]))
    """

    matrix: Array

    __repr__ = brief

    def __init__(self, ratios: ArrayLike) -> None:
        given = np.asarray(ratios, dtype=float)
        matrix = np.diag(given) if given.ndim == 1 else given
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
            raise SignatureError(f"gears are ratios (n) or a matrix (n, n) of finite numbers, not {shown(ratios)}")
        if matrix.size and np.linalg.matrix_rank(matrix) < len(matrix):
            raise SignatureError(f"gears {shown(ratios)} leave a joint that no motor turns: the matrix is singular")
        object.__setattr__(self, "matrix", matrix)

    @classmethod
    def from_reduction(cls, ratios: ArrayLike) -> GearTrain:
        """Of reduction ratios (n), turns of a joint for one of its motor.

        >>> GearTrain.from_reduction([0.01]).matrix
        array([[100.]])
        """
        given = np.asarray(ratios, dtype=float)
        if given.ndim != 1 or not (np.isfinite(given) & (given != 0)).all():
            raise SignatureError(f"reduction ratios (n) are finite and not 0, not {shown(ratios)}")
        return cls(1 / given)

    @classmethod
    def of(cls, arm: ArmLike) -> GearTrain:
        """The gears of the drives of an arm."""
        tree = tree_for(arm, "a gear train", rigid=False, single=True, driven=False)
        return cls([joint.rotor.gear for joint in tree.joints if joint.motion.nv])

    @property
    def reduction_ratios(self) -> Array:
        """1 / ratios (n), of a train with one motor a joint."""
        if (self.matrix != np.diag(np.diagonal(self.matrix))).any():
            raise SignatureError("a train whose motors turn several joints each has no reduction ratios: see `matrix`")
        return 1 / np.diagonal(self.matrix)

    def motor_angles(self, q: ArrayLike) -> Array:
        """q_M (..., n); of velocities and accelerations likewise."""
        return np.asarray(q, dtype=float) @ self.matrix.T

    def joint_angles(self, motors: ArrayLike) -> Array:
        """q (..., n); of velocities and accelerations likewise."""
        return np.linalg.solve(self.matrix, np.asarray(motors, dtype=float)[..., None])[..., 0]

    def joint_forces(self, motors: ArrayLike) -> Array:
        """tau (..., n) of the torques of the motors."""
        return np.asarray(motors, dtype=float) @ self.matrix

    def motor_forces(self, tau: ArrayLike) -> Array:
        """tau_M (..., n) of the forces at the joints."""
        return np.linalg.solve(self.matrix.T, np.asarray(tau, dtype=float)[..., None])[..., 0]

    def joint_inertia(self, rotors: ArrayLike) -> Array:
        """Gamma^T J Gamma (n, n): what the joints feel of the inertias (n) of rotors."""
        return self.matrix.T @ (np.asarray(rotors, dtype=float)[:, None] * self.matrix)
