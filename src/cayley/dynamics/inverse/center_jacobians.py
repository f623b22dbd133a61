"""Closed-form dynamics of a chain from the Jacobians of the links' centres of mass: tau = M q'' + h + g.

    s_i          centre of mass of link i
    Js_i, Jw_i   (3, n) its velocity and the link's angular velocity by q', in the root's axes
    I_i     inertia tensor about it, in the root's axes         z_j   axis of joint j
M = sum m Js^T Js + Jw^T I Jw is differentiated exactly, by the derivatives of the columns: whatever lies beyond a
revolute joint k turns about z_k, so that d(column j)/dq_k is z of the inner of the two joints times the column of the
outer one. Revolute and prismatic joints. Sources: Yamamoto (3.31)-(3.47), corrected as in spec E3-16 to E3-19; Ruggiu
(3.53)-(3.59)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.rigid_links.links import Links

_LEVI_CIVITA = np.cross(np.eye(3)[:, None], np.eye(3))


class LinkJacobians(NamedTuple):
    """The Jacobians of one link, in the root's axes; columns of joints beyond it are zero."""

    mass: Scalar
    I: Array
    Js: Array
    Jw: Array


def link_jacobians(links: Links, q: Array) -> list[LinkJacobians]:
    """The Jacobians of all centres of mass, padded to n columns."""
    R = np.eye(3)
    p = np.zeros(3)
    joints: list[tuple[Any, Any, bool]] = []
    found = []
    for link in links.links:
        p = p + R @ link.offset(q)
        R = R @ link.rotation(q)
        joints.append((R[:, 2], p, link.is_revolute))
        s = p + R @ link.moments.center                                                 # (3.31)
        Js = [np.cross(z, s - origin) if turns else z for z, origin, turns in joints]   # (3.32)
        Jw = [z if turns else np.zeros(3) for z, _, turns in joints]                    # (3.33)
        beyond = [np.zeros(3)] * (len(links.links) - len(joints))
        I = R @ link.moments.inertia_about_center @ R.T                                 # (3.35)
        found.append(LinkJacobians(link.moments.mass, I, np.stack(Js + beyond, axis=1), np.stack(Jw + beyond, axis=1)))
    return found


def inertia_matrix(links: Links, q: Array) -> Array:
    """M (n, n), symmetric; positive definite where every joint moves mass."""
    M = np.zeros((links.nv, links.nv))
    for mass, I, Js, Jw in link_jacobians(links, q):
        M = M + mass * (Js.T @ Js) + Jw.T @ (I @ Jw)                                    # (3.37)
    return M


def inertia_derivatives(links: Links, q: Array) -> Array:
    """dM_ij/dq_k (n, n, n)."""
    n = links.nv
    total = np.zeros((n, n, n))
    for mass, I, Js, Jw in link_jacobians(links, q):
        dJs, dJw = _column_derivatives(Js, Jw)
        turning = np.einsum("abc,bi->iac", _LEVI_CIVITA, Jw)  # of each joint, z~
        dI = turning @ I - I @ turning
        half = mass * np.einsum("aik,aj->ijk", dJs, Js) + np.einsum("aik,aj->ijk", dJw, I @ Jw)
        total = total + half + np.swapaxes(half, 0, 1) + np.einsum("ai,kab,bj->ijk", Jw, dI, Jw)
    return total


def coriolis_matrix(links: Links, q: Array, qd: Array) -> Array:
    """C (n, n) by Christoffel's symbols: h = C q', and M' - 2 C is skew."""
    dM = inertia_derivatives(links, q)
    symbols = (dM + np.swapaxes(dM, 1, 2) - np.moveaxis(dM, 2, 0)) / 2
    return symbols @ qd


def velocity_forces(links: Links, q: Array, qd: Array) -> Array:
    """h (n), the Coriolis and centrifugal forces."""
    dM = inertia_derivatives(links, q)
    return (dM @ qd) @ qd - np.einsum("jki,j,k->i", dM, qd, qd) / 2                     # (3.47)


def gravity_forces(links: Links, q: Array) -> Array:
    """g (n), the derivative of the potential P = - sum m g.s."""
    total = np.zeros(links.nv)
    for mass, _, Js, _ in link_jacobians(links, q):
        total = total - mass * (links.gravity @ Js)                                     # (3.45)
    return total


def inverse_dynamics(links: Links, q: Array, qd: Array, qdd: Array) -> Array:
    """Joint forces (n) [N or N m] that give the accelerations `qdd` at the state (`q`, `qd`)."""
    return inertia_matrix(links, q) @ qdd + velocity_forces(links, q, qd) + gravity_forces(links, q)    # (3.46)


def _column_derivatives(Js: Array, Jw: Array) -> tuple[Any, Any]:
    """dJs[:, j]/dq_k and dJw[:, j]/dq_k, each (3, n, n)."""
    n = Js.shape[1]
    dJs = [[np.cross(Jw[:, min(j, k)], Js[:, max(j, k)]) for k in range(n)] for j in range(n)]
    dJw = [[np.cross(Jw[:, k], Jw[:, j]) if k < j else np.zeros(3) for k in range(n)] for j in range(n)]
    return np.moveaxis(np.array(dJs), 2, 0), np.moveaxis(np.array(dJw), 2, 0)
