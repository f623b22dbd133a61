"""Mladenova's recursions of section 8 for the bodies of an arm, links and actuators: oracles of generated equations.
"""

from typing import NamedTuple

import numpy as np

from cayley.compiler.solving.linear import is_zero
from cayley.dynamics.rigid_links.links import ROOT
from cayley.geometry.rotations.homogeneous import compose_homogeneous, matrix_from_homogeneous
from cayley.geometry.rotations.quaternion import quaternion_from_matrix

# Places in vector-parameters
#
#    s = 2i - 1, 2i     actuator i and link i, both carried by link l = 2i - 2; a rigid joint has no actuator
#    c_s                vector-parameter of the turn of body s in body l: <(tan alpha/2, 0, 0), (0, 0, tan theta/2)>
#    g_s = <g_l, c_s>   that of its turn in the base; 0p_s = 0p_l + O(g_l) lp_s
# Turns are homogeneous, [w : v] with c = v / w, so that alpha or theta = pi is a turn like any other. Source: Mladenova
# 8.1-8.2, (309)-(313), corrected as in spec E-53, E-54; spec R-57.

UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


class BodyPlace(NamedTuple):
    """Where a body is: its turn in the body before it and in the base, [w : v] (4), and its origin in both (3)."""

    turn: object
    offset: object
    attitude: object
    position: object

    @property
    def transform(self):
        """0T_s (4, 4)."""
        last = np.array([[0.0, 0.0, 0.0, 1.0]])
        return np.concatenate([np.concatenate([matrix_from_homogeneous.unchecked(self.attitude),
                                               np.stack([self.position], axis=1)], axis=1), last])


def body_places(links, q):
    """The places of all bodies at `q`, by composition of vector-parameters."""
    places = []
    for link in links.links:
        before = places[link.parent] if link.parent != ROOT else BodyPlace(UPRIGHT, np.zeros(3), UPRIGHT, np.zeros(3))
        turn = compose_homogeneous.unchecked(quaternion_from_matrix.unchecked(link.placement[:3, :3]), _joint(link, q))
        offset = link.offset(q)
        places.append(BodyPlace(turn, offset, compose_homogeneous.unchecked(before.attitude, turn),
                                before.position + matrix_from_homogeneous.unchecked(before.attitude) @ offset))
    return places


def _joint(link, q):
    if link.is_prismatic:
        return UPRIGHT
    half = q[link.coordinates.start] / 2
    return np.stack([np.cos(half), 0.0 * half, 0.0 * half, np.sin(half)])


def table_vector_parameter(alpha, theta):
    """c_s (3) of one row of a modified Denavit-Hartenberg table, (312): infinite if alpha or theta is a half-turn."""
    twist = np.tan(alpha / 2)
    turn = np.tan(theta / 2)
    return np.stack([twist, -twist * turn, turn])


# Outward recursion
#
#    delta, tau   the motion that a joint gives, in the axes of its body: (0, 0, 1) and 0 of a revolute joint, 0 and
#                 (0, 0, 1) of a prismatic one
#    lambda       -delta x p + tau: dT/dq = [[delta~, lambda], [0, 0]] T
#    w, u         angular velocity, and the velocity of the point of the body that is at the origin of the base
#    w*', u*'     their rates without accelerations of joints
# Source: Mladenova 8.2, (314)-(347), corrected as in spec E-55 to E-59; spec R-58.

_Z = np.array([0.0, 0.0, 1.0])
_NONE = np.zeros(3)


class BodyMotion(NamedTuple):
    """The motion of a body; p is its origin from that of the base. All (3), in the axes of the base or of the body."""

    p: object
    delta: object
    lam: object
    w: object
    u: object
    v: object  # of its origin
    w_rate: object
    u_rate: object


STILL = BodyMotion(*[_NONE] * 8)


def generators(link):
    """delta and tau of a body, in its own axes: (318), (319)."""
    return (_NONE, _Z) if link.is_prismatic else (_Z, _NONE)


def outward_in_base_axes(links, q, qd):
    """The attitudes 0R_s (3, 3) and the motions of all bodies, in the axes of the base: (324)-(340)."""
    attitudes = []
    motions = []
    for link in links.links:
        R, before = (np.eye(3), STILL) if link.parent == ROOT else (attitudes[link.parent], motions[link.parent])
        rate = qd[link.columns.start]
        delta, tau = (np.array(R @ link.inwards(axis, q)) for axis in generators(link))
        p = before.p + R @ link.offset(q)
        lam = tau - np.cross(delta, p)
        w = before.w + delta * rate
        u = before.u + lam * rate
        motions.append(BodyMotion(
            p, delta, lam, w, u, np.cross(w, p) + u, before.w_rate + np.cross(before.w, delta) * rate,
            before.u_rate + (np.cross(w, lam) + np.cross(u, delta)) * rate))
        attitudes.append(R @ link.rotation(q))
    return attitudes, motions


def outward_in_own_axes(links, q, qd):
    """The motions of all bodies, each in its own axes: (341)-(347)."""
    motions = []
    for link in links.links:
        before = STILL if link.parent == ROOT else motions[link.parent]
        rate = qd[link.columns.start]
        delta, tau = generators(link)
        offset = link.offset(q)
        p = link.outwards(before.p + offset, q)
        lam = tau - np.cross(delta, p)
        turned = link.outwards(before.w, q)
        w = turned + delta * rate
        u = link.outwards(before.u, q) + lam * rate
        v = link.outwards(before.v + np.cross(before.w, offset), q) + tau * rate
        motions.append(BodyMotion(
            p, delta, lam, w, u, v, link.outwards(before.w_rate, q) + np.cross(turned, delta) * rate,
            link.outwards(before.u_rate, q) + (np.cross(w, lam) + np.cross(u, delta)) * rate))
    return motions


# Inward recursion
#
#    K, H, M      of all that a body carries: tensor of inertia and first moment about the origin of the base, mass
#    N, D         the moment and force that its motion needs without accelerations of joints
#    X, Y         K delta + H x lambda and delta x H + M lambda: what a joint's acceleration needs
#    B_kk = delta . X + lambda . Y        C_k = delta . N + lambda . D        G_k = -g . Y
# and B_sk with X and Y turned into the axes of the bodies s that carry k. An actuator carries nothing, a link the next
# actuator and link. Source: Mladenova 8.3, (361)-(388), corrected as in spec E-63 to E-66; spec R-61.


class Carried(NamedTuple):
    """What a body carries, itself included."""

    K: object
    H: object
    M: object
    N: object
    D: object

    def with_next(self, other, link, q):
        """And what a body that it carries does, in the axes of that."""
        return Carried(self.K + link.inwards_both(other.K, q), self.H + link.inwards(other.H, q), self.M + other.M,
                       self.N + link.inwards(other.N, q), self.D + link.inwards(other.D, q))


def inward(links, q, qd):
    """B, C and G of an arm by the recursions; the order is that of the mechanism.
    """
    motions = outward_in_own_axes(links, q, qd)
    carried = [_own(link.moments, motion) for link, motion in zip(links.links, motions, strict=True)]
    n = len(motions)
    for k in reversed(range(n)):
        link = links.links[k]
        if link.parent != ROOT:
            carried[link.parent] = carried[link.parent].with_next(carried[k], link, q)
    gravity = []
    B = [[0.0] * n for _ in range(n)]
    C = []
    G = []
    for k, (link, motion, all_of_it) in enumerate(zip(links.links, motions, carried, strict=True)):
        gravity.append(link.outwards(links.gravity if link.parent == ROOT else gravity[link.parent], q))
        X = all_of_it.K @ motion.delta + np.cross(all_of_it.H, motion.lam)
        Y = np.cross(motion.delta, all_of_it.H) + all_of_it.M * motion.lam
        C.append(motion.delta @ all_of_it.N + motion.lam @ all_of_it.D)
        G.append(-(gravity[k] @ Y))
        s = k
        while s != ROOT:
            B[s][k] = B[k][s] = motions[s].delta @ X + motions[s].lam @ Y
            X = links.links[s].inwards(X, q)
            Y = links.links[s].inwards(Y, q)
            s = links.links[s].parent
    order = np.argsort([link.columns.start for link in links.links])
    return np.array(B)[np.ix_(order, order)], np.array(C)[order], np.array(G)[order]


def _own(moments, motion):
    """What a body itself needs."""
    H = moments.first + moments.mass * motion.p
    center = np.zeros(3) if is_zero(moments.mass) else moments.first / moments.mass
    r = center + motion.p
    centered = moments.second - np.outer(moments.first, center)
    I = np.trace(centered) * np.eye(3) - centered
    w = motion.w
    K = I + (r @ H) * np.eye(3) - np.outer(r, H)
    D = (moments.mass * (motion.u_rate + np.cross(w, motion.u)) + np.cross(motion.w_rate, H)
         + np.cross(w, np.cross(w, H)))
    return Carried(K, H, moments.mass, I @ motion.w_rate + np.cross(w, I @ w) + np.cross(r, D), D)
