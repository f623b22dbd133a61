"""The arm that is measured: seven revolute joints in the Panda's frames, with general inertias.

The inertias are random and full (seeded), so nothing vanishes that would not vanish for an identified robot; the
lengths and twists are the Panda's modified Denavit-Hartenberg table. `inverse_dynamics` is plain recursive Newton-Euler
in link frames, written for one state; the same text serves Cayley, CasADi and JAX.

    w, wd   angular velocity and acceleration of link i          f, m   force and moment that link i-1 exerts on link i
    a       acceleration of the origin of frame i, gravity included
    R, p    rotation and origin of frame i in frame i-1
    Omega   angular acceleration tensor: Omega @ r is the acceleration of the point r relative to the origin
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

GRAVITY = (0.0, 0.0, -9.81)
QUARTER = np.pi / 2


@dataclass(frozen=True)
class Link:
    """One link, with its frame on the joint axis (modified Denavit-Hartenberg)."""

    length: float  # along x of the previous frame [m]
    sine_of_twist: float
    cosine_of_twist: float
    offset: float  # along the joint axis [m]
    mass: float  # [kg]
    center: np.ndarray  # of mass, in the link's frame [m], (3,)
    inertia: np.ndarray  # about the center of mass, axes of the link's frame [kg m^2], (3, 3)

    def rotation(self, sine, cosine, xp=np):
        s, c, sa, ca = sine, cosine, self.sine_of_twist, self.cosine_of_twist
        return xp.array([[c, -s, 0.0], [s * ca, c * ca, -sa], [s * sa, c * sa, ca]])

    @property
    def origin(self) -> np.ndarray:
        return np.array([self.length, -self.sine_of_twist * self.offset, self.cosine_of_twist * self.offset])

    @property
    def first_moment(self) -> np.ndarray:
        return self.mass * self.center

    @property
    def second_moment(self) -> np.ndarray:
        """Integral of r r^T over the mass, about the frame's origin (Euler's inertia tensor)."""
        return 0.5 * np.trace(self.inertia) * np.eye(3) - self.inertia + self.mass * np.outer(self.center, self.center)


def panda_with_general_inertias(seed: int = 0) -> tuple[Link, ...]:
    random = np.random.default_rng(seed)
    table = [  # length, quarter turns of twist, offset
        (0.0, 0, 0.333),
        (0.0, -1, 0.0),
        (0.0, 1, 0.316),
        (0.0825, 1, 0.0),
        (-0.0825, -1, 0.384),
        (0.0, 1, 0.0),
        (0.088, 1, 0.0), ]  # fmt: skip
    links = []
    for length, quarters, offset in table:
        root = random.normal(size=(3, 3))
        links.append(
            Link(
                length=length,
                sine_of_twist=float(quarters),
                cosine_of_twist=1.0 - abs(quarters),
                offset=offset,
                mass=random.uniform(1.0, 4.0),
                center=0.1 * random.normal(size=3),
                inertia=0.01 * root @ root.T + 0.05 * np.eye(3),
            )
        )
    return tuple(links)


ARM = panda_with_general_inertias()


def arm_torques(q, qd, qdd):
    """Joint torques [N m] of the measured arm."""
    return inverse_dynamics(ARM, q, qd, qdd)


def inverse_dynamics(links, q, qd, qdd, xp=np):
    """Joint torques [N m] that produce the accelerations `qdd` at the state (`q`, `qd`)."""
    motions = list(_outward(links, q, qd, qdd, xp))
    return _inward(links, motions, xp)


def _outward(links, q, qd, qdd, xp):
    w, wd, a, Omega = xp.zeros(3), xp.zeros(3), -xp.array(GRAVITY), xp.zeros((3, 3))
    for link, sine, cosine, qd_i, qdd_i in zip(links, xp.sin(q), xp.cos(q), qd, qdd, strict=True):
        R = link.rotation(sine, cosine, xp)
        a = R.T @ (a + Omega @ link.origin)
        w, wd = R.T @ w, R.T @ wd
        wd = wd + xp.cross(w, along_axis(qd_i, xp)) + along_axis(qdd_i, xp)
        w = w + along_axis(qd_i, xp)
        Omega = tilde(wd, xp) + tilde(w, xp) @ tilde(w, xp)
        yield R, a, Omega


def _inward(links, motions, xp):
    f, m = xp.zeros(3), xp.zeros(3)
    tau = []
    for link, (R, a, Omega) in zip(reversed(links), reversed(motions), strict=True):
        f = f + link.mass * a + Omega @ link.first_moment
        m = m + axial(Omega @ link.second_moment, xp) + xp.cross(link.first_moment, a)
        tau.append(m[2])
        f, m = R @ f, R @ m + xp.cross(link.origin, R @ f)
    return xp.array(tau[::-1])


def along_axis(rate, xp=np):
    """The vector of size `rate` on the joint axis, which is z of every frame."""
    return xp.array([0.0, 0.0, rate])


def tilde(v, xp=np):
    """The matrix of the cross product by `v`."""
    x, y, z = v
    return xp.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def axial(K, xp=np):
    """The vector n whose matrix is K - K^T; for K = Omega @ second_moment, the moment of the inertia forces."""
    return xp.array([K[2, 1] - K[1, 2], K[0, 2] - K[2, 0], K[1, 0] - K[0, 1]])


def random_states(count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, velocities and accelerations, (count, 7) each."""
    random = np.random.default_rng(seed)
    q, qd, qdd = random.normal(size=(3, count, len(ARM)))
    return 2.0 * q, qd, qdd
