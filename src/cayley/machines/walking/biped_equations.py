"""The equations of motion of a planar biped, as texts of the sines, cosines and rates of its five angles.

    q = (x, z, theta, alpha1, beta1, alpha2, beta2)      hip; trunk; thigh and shank of each leg, clockwise
    H qdd + h + G = B tau + J^T R,    tau = (u1, u2, q1, q2) of knees and hips,    R = (R1x, R1z, R2x, R2z) on the feet
Each angle j has one static moment k_j, (kr, -ka, -kb, -ka, -kb), with which it occurs in the equations of the hip:
    x: M xdd + sum k_j (c_j phidd_j - s_j phid_j^2) = Rx,    z: M zdd - sum k_j (s_j phidd_j + c_j phid_j^2) + M g = Rz
Source: Mladenova 10.2 (398), (399), with the sign of spec E-73.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar, is_finite_number
from cayley.errors import ModelError
from cayley.model.joint_kinds import Planar, Revolute
from cayley.model.parts import Body, Frame, Joint, Loop
from cayley.model.tree import Tree
from cayley.wording import shown

if TYPE_CHECKING:
    from cayley.machines.walking.planar_biped import PlanarBiped


# Work of the torques of both knees and both hips on the seven coordinates
DRIVES = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, -1, -1],
                   [-1, 0, 1, 0], [1, 0, 0, 0], [0, -1, 0, 1], [0, 1, 0, 0]], dtype=float)
LEGS = slice(3, 7)


class Posture(NamedTuple):
    """Sines and cosines (5) of trunk, first thigh, first shank, second thigh and second shank."""

    s: Array
    c: Array


class Rates(NamedTuple):
    """Angles' rates (5), and their accelerations as far as the coordinates' velocities give them."""

    w: Array
    drift: Array


def posture_of_angles(q: Array) -> Posture:
    return Posture(np.sin(q[2:]), np.cos(q[2:]))


def posture_of_tangents(y: Array) -> Posture:
    """Of half-angle tangents: sin = 2 c / (1 + c^2), cos = (1 - c^2) / (1 + c^2)."""
    c = y[2:]
    return Posture(2 * c / (1 + c * c), (1 - c * c) / (1 + c * c))


def rates_of_tangents(y: Array, yd: Array) -> Rates:
    """phid = 2 cd / (1 + c^2), phidd = 2 cdd / (1 + c^2) - 4 c cd^2 / (1 + c^2)^2."""
    c = y[2:]
    w = 2 * yd[2:] / (1 + c * c)
    return Rates(w, -c * w * w)


def inertia(biped: PlanarBiped, at: Posture) -> Array:
    """H (7, 7)."""
    k = biped.moments
    coupling = [biped.coupling * (at.c[j] * at.c[j + 1] + at.s[j] * at.s[j + 1]) for j in (1, 3)]
    angles = [[0.0] * 5 for _ in range(5)]
    for j, moment in enumerate(biped.own_inertias):
        angles[j][j] = moment
    for j, each in zip((1, 3), coupling, strict=True):
        angles[j][j + 1] = each
        angles[j + 1][j] = each
    along = [k[j] * at.c[j] for j in range(5)]
    up = [-k[j] * at.s[j] for j in range(5)]
    rows = [[biped.mass, 0.0, *along], [0.0, biped.mass, *up],
            *[[along[j], up[j], *angles[j]] for j in range(5)]]
    return np.stack([np.stack([entry + 0.0 * at.s[0] for entry in row]) for row in rows])


def bias(biped: PlanarBiped, at: Posture, w: Array) -> Array:
    """h + G (7): what velocities and gravity ask of forces without acceleration."""
    k = biped.moments
    x = -sum(k[j] * at.s[j] * w[j] * w[j] for j in range(5))
    z = biped.gravity * biped.mass - sum(k[j] * at.c[j] * w[j] * w[j] for j in range(5))
    turning = [-biped.gravity * k[j] * at.s[j] for j in range(5)]
    for j in (1, 3):
        sine = biped.coupling * (at.s[j] * at.c[j + 1] - at.c[j] * at.s[j + 1])
        turning[j] = turning[j] + sine * w[j + 1] * w[j + 1]
        turning[j + 1] = turning[j + 1] - sine * w[j] * w[j]
    return np.stack([x, z, *turning])


def feet(biped: PlanarBiped, hip: Array, at: Posture) -> Array:
    """Positions (4): x1, z1, x2, z2."""
    return np.stack([hip[axis] + sum(length * way[j] for j, length in _leg(biped, foot))
                     for foot in range(2) for axis, way in enumerate((at.s, at.c))])


def feet_jacobian(biped: PlanarBiped, at: Posture) -> Array:
    """J (4, 7)."""
    zero = 0.0 * at.s[0]
    rows = []
    for foot in range(2):
        along = [zero] * 5
        up = [zero] * 5
        for j, length in _leg(biped, foot):
            along[j] = length * at.c[j]
            up[j] = -length * at.s[j]
        rows += [np.stack([1.0 + zero, zero, *along]), np.stack([zero, 1.0 + zero, *up])]
    return np.stack(rows)


def feet_drift(biped: PlanarBiped, at: Posture, w: Array) -> Array:
    """Accelerations (4) of the feet without those of the coordinates."""
    return np.stack([-sum(length * way[j] * w[j] * w[j] for j, length in _leg(biped, foot))
                     for foot in range(2) for way in (at.s, at.c)])


def energy(biped: PlanarBiped, q: Array, qd: Array) -> Scalar:
    """Kinetic energy, and potential energy above z = 0 [J]."""
    at = posture_of_angles(q)
    height = biped.mass * q[1] + sum(biped.moments[j] * at.c[j] for j in range(5))
    return qd @ (inertia(biped, at) @ qd) / 2 + biped.gravity * height


def _leg(biped: PlanarBiped, foot: int) -> tuple[tuple[int, float], tuple[int, float]]:
    """The two angles of a leg with the lengths by which their links lead down."""
    return (1 + 2 * foot, -2 * biped.half_thigh), (2 + 2 * foot, -2 * biped.half_shank)


_ACROSS = (0.0, 1.0, 0.0)  # about which clockwise turns, seen with x to the right and z up, are positive


def biped_tree(biped: PlanarBiped, standing: Mapping[int, float]) -> Tree:
    """Bodies "ground", "trunk", "thigh1", "shank1", "thigh2", "shank2"; frames "head", "foot1" and "foot2"."""
    if not isinstance(standing, Mapping):
        raise ModelError("the feet of a biped that stand are given with their x, as {1: 0.0}, not as "
                         f"{shown(standing)}")
    a = biped.half_thigh
    b = biped.half_shank
    upper = biped.hip_mass + biped.trunk_mass
    center = biped.trunk_mass * biped.trunk_center / upper if upper else 0.0
    trunk = _link("trunk", upper, center, biped.trunk_inertia)
    bodies = [Body("ground"), trunk]
    joints = [Joint("hip", "ground", "trunk", Planar(_ACROSS))]
    frames = [Frame("head", "trunk", _at(0.0, 2 * biped.trunk_center))]
    for leg in (1, 2):
        bodies += [_link(f"thigh{leg}", biped.thigh_mass, -a, biped.thigh_inertia),
                   _link(f"shank{leg}", biped.shank_mass, -b, biped.shank_inertia)]
        joints += [Joint(f"hip{leg}", "trunk", f"thigh{leg}", Revolute(_ACROSS)),
                   Joint(f"knee{leg}", f"thigh{leg}", f"shank{leg}", Revolute(_ACROSS), _at(0.0, -2 * a))]
        frames.append(Frame(f"foot{leg}", f"shank{leg}", _at(0.0, -2 * b)))
    loops = []
    for foot, x in standing.items():
        if foot not in (1, 2):
            raise ModelError(f"a biped stands on foot 1, 2 or both, not on {foot!r}")
        if not is_finite_number(x):
            raise ModelError(f"foot{foot} of a biped stands at a finite x, not at {shown(x)}")
        frames.append(Frame(f"place{foot}", "ground", _at(x, 0.0)))
        loops.append(Loop(f"contact{foot}", f"place{foot}", f"foot{foot}", Revolute(_ACROSS)))
    return Tree.of("planar_biped", bodies, joints, frames=frames, gravity=(0.0, 0.0, -biped.gravity), loops=loops,
                   actuated=["hip1", "knee1", "hip2", "knee2"])


def _link(name: str, mass: float, center: float, inertia: float) -> Body:
    """A link whose moment of inertia across the plane is given about its upper joint; those about other axes, which do
    not matter, are the same."""
    own = inertia - mass * center**2
    return Body(name, mass, [0.0, 0.0, center], own * np.eye(3))


def _at(x: float, z: float) -> Array:
    pose = np.eye(4)
    pose[0, 3] = x
    pose[2, 3] = z
    return pose
