"""The sensitivity matrices of open chains by Algorithm 7.1 as it is published, equation by equation, completed for
prismatic joints.

    U, dU, E, L     first moment of links i to n, its rate, their inertia tensor and rate tensor, about the origin of
                    link i
    f, fh, fb       force that a unit motion of joint i asks for, and minus its derivatives by velocity (half of it) and
                    coordinate
    B, C, H, G      what joint i's moment feels of motions before it, and what the joints before it feel of joint i
w, Om, sdd, Udd, eta, u, K, Kh as in Algorithm 5.7 (`inverse.augmented_links`), which must have run. B and C are
columns; the source's row f . s~ is the column -s~ f. `sensitivities` is the same algorithm with fewer operations, for
trees. Source: Balafoutis & Patel (7.3.18), (7.3.19), dots restored as in spec E-19, prismatic joints as in spec R8.5.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.inverse.augmented_links import LinkState, Sum, passes
from cayley.dynamics.inverse.passes import FREE, STILL, across_z
from cayley.dynamics.linearised.closed_form_for_trees import Sensitivities
from cayley.dynamics.rigid_links.links import Link, Links
from cayley.geometry.tensors.cross import skew

_NONE = np.zeros(3)
_NO_TENSOR = np.zeros((3, 3))


class OuterLinks(NamedTuple):
    """Links i to n."""

    U: Array
    dU: Array
    E: Array
    L: Array


class InwardColumn(NamedTuple):
    """The quantities that are carried inwards for one joint."""

    f: Array
    fh: Array
    fb: Array
    B: Array
    C: Array
    H: Array
    G: Array


def sensitivities(links: Links, q: Array, qd: Array, qdd: Array) -> Sensitivities:
    """D, V and P (n, n) of an open chain of revolute and prismatic joints."""
    augmented, states, sums = passes(links, q, qd, qdd, STILL, FREE, None)
    bodies = augmented.links
    n = len(states)
    D, V, P = ([[0.0] * n for _ in range(n)] for _ in range(3))
    body = OuterLinks(_NONE, _NONE, _NO_TENSOR, _NO_TENSOR)
    for i in reversed(range(n)):
        body = _body(bodies, states, i, body, q, qd)
        column = _own_column(bodies[i], states[i], sums[i], body)
        D[i][i], V[i][i], P[i][i] = _own_entries(bodies[i], states[i], column)
        for j in reversed(range(i)):
            column = _carried(bodies[j + 1], states[j], column, q, qd)
            D[i][j], V[i][j], P[i][j], V[j][i], P[j][i] = _entries(bodies[j], states[j], column)
            D[j][i] = D[i][j]  # (7.3.19i)
    return Sensitivities(*[np.array(matrix).reshape(n, n) for matrix in (D, V, P)])


def _body(links: tuple[Link, ...], states: list[LinkState], i: int, after: OuterLinks, q: Array,
          qd: Array) -> OuterLinks:
    """Step 1: the moments of links i to n."""
    link = links[i]
    w = states[i].w
    _, u, Kh = link.moments
    K = link.moments.inertia
    if i + 1 == len(links):
        return OuterLinks(u, np.cross(w, u), K, skew(w) @ Kh)  # (7.3.18d)
    outer = links[i + 1]
    s = outer.offset(q)
    beyond = outer.inwards(after.U, q)  # (7.3.18a)
    ds = np.cross(w, s)  # (7.3.18d)
    dbeyond = outer.inwards(after.dU, q)  # (7.3.18b)
    crossed = skew(s) @ skew(beyond)  # (7.3.18c)
    L = skew(w) @ Kh + (skew(s) @ skew(dbeyond) + skew(beyond) @ skew(ds)) + _turned(outer, after.L, q)  # (7.3.18d)
    if outer.is_prismatic:
        slide = outer.placement[:3, 2] * qd[outer.columns][0]
        pulled = outer.moments.mass * slide
        L = L + skew(s) @ skew(pulled) + skew(beyond) @ skew(slide)  # (7.3.18d)
        dbeyond = dbeyond + pulled  # (7.3.18b)
    return OuterLinks(u + beyond,  # (7.3.18a)
                np.cross(w, u) + dbeyond,  # (7.3.18b)
                K - (crossed + crossed.T) + outer.inwards_both(after.E, q), L)  # (7.3.18c)


def _turned(link: Link, T: Array, q: Array) -> Array:
    half = np.stack([link.inwards(column, q) for column in T.T], axis=1)
    return np.stack([link.inwards(row, q) for row in half])


def _own_column(link: Link, state: LinkState, own: Sum, body: OuterLinks) -> InwardColumn:
    U, dU, E, L = body
    dz = across_z(state.w)
    ddz = state.Om[:, 2]
    if link.is_prismatic:
        m = link.moments.mass
        F = m * state.sdd + own.Udd
        return InwardColumn(np.array([0.0, 0.0, m]), -m * dz, -m * ddz, across_z(U), -across_z(dU), np.cross(U, dz),
                      np.cross(U, ddz) - across_z(F))
    twice_dU = dU + dU  # (7.3.18g)
    twice_L = L + L  # (7.3.18k)
    return InwardColumn(-across_z(U),  # (7.3.18e)
                  np.cross(U, dz) + across_z(dU),  # (7.3.18f)
                  np.cross(U, ddz) + np.cross(twice_dU, dz) + across_z(own.Udd),  # (7.3.18g)
                  E[:, 2],  # (7.3.18h)
                  L[2],  # (7.3.18i)
                  E @ dz - L[:, 2],  # (7.3.18j)
                  E @ ddz - twice_L @ dz + np.cross(U, across_z(state.sdd)) - across_z(own.eta))  # (7.3.18k)


def _carried(link: Link, before: LinkState, column: InwardColumn, q: Array, qd: Array) -> InwardColumn:
    """Step 2: about the origin of the link before, in its axes."""
    s = link.offset(q)
    ds = np.cross(before.w, s)  # (7.3.18d)
    if link.is_prismatic:
        ds = ds + link.placement[:3, 2] * qd[link.columns][0]
    f = link.inwards(column.f, q)  # (7.3.19a)
    fh = link.inwards(column.fh, q)  # (7.3.19b)
    fb = link.inwards(column.fb, q)  # (7.3.19c)
    return InwardColumn(f, fh, fb,
                  link.inwards(column.B, q) + np.cross(s, f),  # (7.3.19d)
                  link.inwards(column.C, q) - np.cross(ds, f),  # (7.3.19e)
                  link.inwards(column.H, q) - np.cross(s, fh),  # (7.3.19f)
                  link.inwards(column.G, q) - np.cross(s, fb))  # (7.3.19g)


def _own_entries(link: Link, state: LinkState, column: InwardColumn) -> tuple[Any, Any, Any]:
    dz = across_z(state.w)
    ddz = state.Om[:, 2]
    if link.is_prismatic:
        return column.f[2], _twice(column.f @ dz), column.f @ ddz
    v = _twice(column.B @ dz - column.C[2])  # (7.3.18m)
    p = column.B @ ddz - _twice(column.C @ dz) + column.f @ across_z(state.sdd)  # (7.3.18n)
    return column.B[2], v, p


def _entries(link: Link, state: LinkState, column: InwardColumn) -> tuple[Any, Any, Any, Any, Any]:
    dz = across_z(state.w)
    ddz = state.Om[:, 2]
    if link.is_prismatic:
        return column.f[2], _twice(column.f @ dz), column.f @ ddz, -_twice(column.fh[2]), -column.fb[2]
    v = _twice(column.B @ dz - column.C[2])  # (7.3.19j)
    p = column.B @ ddz - _twice(column.C @ dz) + column.f @ across_z(state.sdd)  # (7.3.19l)
    return column.B[2], v, p, _twice(column.H[2]), column.G[2]  # (7.3.19k)


def _twice(x: Scalar) -> Scalar:
    return x + x
