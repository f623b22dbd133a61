"""The equations of motion of a planar biped, as texts of the sines, cosines and rates of its five angles.

    q = (x, z, theta, alpha1, beta1, alpha2, beta2)      hip; trunk; thigh and shank of each leg, clockwise
    H qdd + h + G = B tau + J^T R,    tau = (u1, u2, q1, q2) of knees and hips,    R = (R1x, R1z, R2x, R2z) on the feet
Each angle j has one static moment k_j, (kr, -ka, -kb, -ka, -kb), with which it occurs in the equations of the hip:
    x: M xdd + sum k_j (c_j phidd_j - s_j phid_j^2) = Rx,    z: M zdd - sum k_j (s_j phidd_j + c_j phid_j^2) + M g = Rz
Source: Mladenova 10.2 (398), (399), with the sign of spec E-73."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar

if TYPE_CHECKING:
    from cayley.machines.walking.planar_biped import PlanarBiped


# Work of the torques of both knees and both hips on the seven coordinates
DRIVES = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, -1, -1],
                   [-1, 0, 1, 0], [1, 0, 0, 0], [0, -1, 0, 1], [0, 1, 0, 0]], dtype=float)
LEGS = slice(3, 7)
_LEG = np.eye(5)[[0, 2, 1, 4, 3]] - np.diag([1.0, 0, 0, 0, 0])  # 1 where two angles are those of a thigh and its shank


class BipedPosture(NamedTuple):
    """Sines and cosines (5) of trunk, first thigh, first shank, second thigh and second shank."""

    s: Array
    c: Array


class BipedRates(NamedTuple):
    """Angles' rates (5), and their accelerations as far as the coordinates' velocities give them."""

    w: Array
    drift: Array


def posture_of_angles(q: Array) -> BipedPosture:
    return BipedPosture(np.sin(q[2:]), np.cos(q[2:]))


def posture_of_tangents(y: Array) -> BipedPosture:
    """The posture of half-angle tangents: sin = 2 c / (1 + c^2), cos = (1 - c^2) / (1 + c^2)."""
    c = y[2:]
    return BipedPosture(2 * c / (1 + c * c), (1 - c * c) / (1 + c * c))


def rates_of_tangents(y: Array, yd: Array) -> BipedRates:
    """phid = 2 cd / (1 + c^2), phidd = 2 cdd / (1 + c^2) - 4 c cd^2 / (1 + c^2)^2."""
    c = y[2:]
    w = 2 * yd[2:] / (1 + c * c)
    return BipedRates(w, -c * w * w)


def inertia(biped: PlanarBiped, at: BipedPosture) -> Array:
    """H (7, 7)."""
    k = np.array(biped.moments)
    to_hip = np.stack([k * at.c, -k * at.s])
    angles = np.diag(biped.own_inertias) + biped.coupling * _LEG * (np.outer(at.c, at.c) + np.outer(at.s, at.s))
    return np.block([[biped.mass * np.eye(2), to_hip], [to_hip.T, angles]])


def bias(biped: PlanarBiped, at: BipedPosture, w: Array) -> Array:
    """h + G (7): what velocities and gravity ask of forces without acceleration."""
    k = np.array(biped.moments)
    squares = w * w
    sines = biped.coupling * _LEG * (np.outer(at.s, at.c) - np.outer(at.c, at.s))
    hip = np.stack([-(k * at.s) @ squares, biped.gravity * biped.mass - (k * at.c) @ squares])
    return np.concatenate([hip, sines @ squares - biped.gravity * k * at.s])


def feet(biped: PlanarBiped, hip: Array, at: BipedPosture) -> Array:
    """Positions (4): x1, z1, x2, z2."""
    return np.stack([hip[axis] + lengths @ way for lengths in _legs(biped) for axis, way in enumerate(at)])


def feet_jacobian(biped: PlanarBiped, at: BipedPosture) -> Array:
    """J (4, 7)."""
    turning = np.stack([row for lengths in _legs(biped) for row in (lengths * at.c, -lengths * at.s)])
    return np.concatenate([np.tile(np.eye(2), (2, 1)), turning], axis=1)


def feet_drift(biped: PlanarBiped, at: BipedPosture, w: Array) -> Array:
    """Accelerations (4) of the feet without those of the coordinates."""
    return np.stack([-(lengths * way) @ (w * w) for lengths in _legs(biped) for way in at])


def energy(biped: PlanarBiped, q: Array, qd: Array) -> Scalar:
    """Kinetic energy, and potential energy above z = 0 [J]."""
    at = posture_of_angles(q)
    height = biped.mass * q[1] + np.array(biped.moments) @ at.c
    return qd @ (inertia(biped, at) @ qd) / 2 + biped.gravity * height


def _legs(biped: PlanarBiped) -> Array:
    """The lengths (2, 5) by which the links of each leg lead down."""
    return -2 * np.kron(np.eye(2), [biped.half_thigh, biped.half_shank]) @ np.eye(5)[1:]
