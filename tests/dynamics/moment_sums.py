"""The tensors of links i to n as sums over augmented links, which the proof of Lemma C-12 is made of: what the
recursions (6.3.6) and (C.15) add up to.

    E_i = sum over k >= i of K_k - u_k~ s_ik~ - s_k,k+1~ U_k+1~         (C.16)
    U_i = sum over k >= i of u_k                                        (C.17), for the dual tensors
    L_i = sum over k >= i of L^_k + u_k~ s_ik'~ + s_k,k+1~ U_k+1'~      after (C.17), its index as in L^_k = w_k~ K^_k
All are in the axes of link i. Where joint k+1 is prismatic its speed is in s' and U', and L_i gains m s_k,k+1~ z_k+1~
times it, with the mass m of links k+1 to n (spec R8.5): a mass that slides along in link k is no part of w_k~ K^_k.
Source: Balafoutis & Patel, Appendix C; spec S1-119.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.linearised.nominal import Nominal, nominal
from cayley.dynamics.rigid_links.links import Links
from cayley.geometry.tensors.cross import skew


class MomentSums(NamedTuple):
    """Of links i to n about the origin of link i: inertia tensor, first moment and rate tensor, in its axes."""

    E: Array
    U: Array
    L: Array


def moment_sums(links: Links, q: Array, qd: Array) -> tuple[MomentSums, ...]:
    """E_i, U_i and L_i of every link of an open chain (`serial_chain`) by their sums.
    """
    motion = nominal(links, q, qd, np.zeros(links.nv))
    return tuple(_sums(motion, i) for i in range(len(motion.links)))


def _sums(motion: Nominal, i: int) -> MomentSums:
    E = np.zeros((3, 3))
    U = np.zeros(3)
    L = np.zeros((3, 3))
    for k, link in enumerate(motion.links[i:], i):
        u = link.augmented.first
        s, ds = motion.between(i, k)
        E = E + link.augmented.inertia - skew(u) @ skew(s)
        U = U + u
        L = L + skew(link.w) @ link.augmented.second + skew(u) @ skew(ds)
        if k + 1 < len(motion.links):
            later = motion.carried[k + 1]
            way, rate = motion.between(k, k + 1)
            E = E - skew(way) @ skew(later.U)
            L = L + skew(way) @ skew(later.dU + later.m * (rate - np.cross(link.w, way)))
    R = motion.links[i].R
    return MomentSums(R.T @ E @ R, R.T @ U, R.T @ L @ R)
