"""The operator and the weights of an open network, block by block: sums over the bodies that two joints both carry.

    P_pq = sum_j [m E, m X_qj;  m X_pj^T, J_Gj + m X_pj^T X_qj]                                          (28), (30)
    Q_pq = sum_j [0, m X_qj';  0, w_j~ J_Gj + m X_pj^T X_qj']                                            (31), (32)
    u_p  = - sum_j (m g;  m X_pj^T g)                                                                    (33), (34)
    X_qj^T = [vector from B_q to G_j x],   j all bodies that p and q are on the way to
Source: Tokad 2.2, corrected as in spec E4-07, E4-11, E4-20.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array
from cayley.geometry.tensors.cross import skew
from cayley.machines.networks.instant import External, Instant
from cayley.machines.networks.rigid_body import Operator

_NONE = np.zeros((3, 3))


def operator_block(network: Instant, p: int, q: int) -> Operator:
    """P_pq and Q_pq (6, 6) of the joints p and q, counted from 0."""
    P = np.zeros((6, 6))
    Q = np.zeros((6, 6))
    for j in _carried(network, p, q):
        m = network.masses[j]
        J = network.J(j)
        X_p = skew(network.arm(p, j).r).T
        from_q = network.arm(q, j)
        X_q = skew(from_q.r).T
        X_q_rate = skew(from_q.rate).T
        P = P + np.block([[m * np.eye(3), m * X_q], [m * X_p.T, J + m * X_p.T @ X_q]])
        Q = Q + np.block([[_NONE, m * X_q_rate], [_NONE, skew(network.turning[j]) @ J + m * X_p.T @ X_q_rate]])
    return Operator(P, Q)


def weight_block(network: Instant, p: int) -> Array:
    """u_p (6)."""
    u = np.zeros(6)
    for j in _carried(network, p, p):
        force = network.masses[j] * network.gravity
        u = u - np.concatenate([force, np.cross(network.arm(p, j).r, force)])
    return u


def tip_block(network: Instant, terminal: External, j: int) -> Array:
    """(6, 6): the part of the velocity of an open terminal that joint j gives, [E, R^T; 0, E] with the vector from B_j
    to the terminal. (36)."""
    if j not in network.path(terminal.body):
        return np.zeros((6, 6))
    arm = network.arm(j, terminal.body).r + terminal.arm.r
    return np.block([[np.eye(3), skew(arm).T], [_NONE, np.eye(3)]])


def _carried(network: Instant, p: int, q: int) -> list[int]:
    """The bodies that both joints are on the way to."""
    return [j for j in range(network.size) if {p, q} <= set(network.path(j))]
