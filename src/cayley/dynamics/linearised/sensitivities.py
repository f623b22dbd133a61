"""The sensitivity matrices of inverse dynamics, D = dtau/dqdd, V = dtau/dqd, P = dtau/dq, for trees of turning and sliding joints.

Of link i with all that it carries, about its origin and in its axes:
    m, U, J       mass, first and second moments          E    inertia tensor, tr(J) 1 - J
    dU, dJ, h     their rates, and the angular momentum that the carried links have relative to the origin
    a, W, F, n    acceleration of the origin, acceleration tensor, force and moment at the joint: those of inverse dynamics
The unit motion of joint i asks for the force f and the moment B, its rates for f^, f-, C, H, G; carried inwards they are what the joints
before it feel. f^, C and H are twice those of the source, which saves a product by 2 for each entry. Its rate tensor is 2 L = dJ -
tr(dJ) 1 + h~: the symmetric part turns like J and the skew part like a vector, which is cheaper.
Source: Balafoutis & Patel, Algorithm 7.1, completed for sliding joints (spec R8.3, R8.5).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cayley.dynamics.inertia_matrix.composite_bodies import composite_bodies
from cayley.dynamics.inverse.newton_euler import Load, Movement, loads, movements
from cayley.dynamics.links import ROOT, Link, Links
from cayley.dynamics.moments import Moments

_Z = np.array([0.0, 0.0, 1.0])


class Sensitivities(NamedTuple):
    """dtau = D dqdd + V dqd + P dq, each (nv, nv)."""

    D: Any
    V: Any
    P: Any


class Rates(NamedTuple):
    """Rates of the moments of a link with all that it carries, as vectors in space, and its angular momentum relative to the origin."""

    dU: Any
    dJ: Any
    h: Any

    def plus(self, other: Rates) -> Rates:
        return Rates(*[a + b for a, b in zip(self, other, strict=True)])


class Asked(NamedTuple):
    """What a unit motion of a joint asks for (f, B), and the parts of its derivatives by velocity and by coordinate."""

    f: Any
    f_velocity: Any
    f_coordinate: Any
    B: Any
    C: Any
    H: Any
    G: Any


def sensitivities(links: Links, q: Any, v: Any, vd: Any) -> Sensitivities:
    """D, V and P (nv, nv) at a state and an acceleration."""
    moved = movements(links, q, v, vd)
    found, bodies = loads(links, q, moved), composite_bodies(links, q)
    rates = composite_rates(links, q, v, moved, bodies)
    D, V, P = ([[0.0] * links.nv for _ in range(links.nv)] for _ in range(3))
    for number, link in enumerate(links.links):
        i = link.columns.start
        asked = _asked(link, moved[number], found[number], bodies[number], rates[number])
        own = number
        while own != ROOT:
            at, j = links.links[own], links.links[own].columns.start
            D[i][j], V[i][j], P[i][j] = _by_earlier(at, moved[own], asked)
            if own != number:
                D[j][i], V[j][i], P[j][i] = D[i][j], *_by_later(at, asked)
            if at.parent != ROOT:
                asked = _carried(at, asked, moved[at.parent], v, q)
            own = at.parent
    return Sensitivities(*[np.array(matrix).reshape(links.nv, links.nv) for matrix in (D, V, P)])


def composite_rates(links: Links, q: Any, v: Any, moved: list[Movement], bodies: list[Moments]) -> list[Rates]:
    """The rates of each link with all that it carries."""
    found = [_own_rates(link.moments, movement.w) for link, movement in zip(links.links, moved, strict=True)]
    for number in reversed(range(len(found))):
        link = links.links[number]
        if link.parent != ROOT:
            s, ds = link.offset(q), offset_rate(link, moved[link.parent].w, q, v)
            found[link.parent] = found[link.parent].plus(_shifted(link, found[number], bodies[number], s, ds, q))
    return found


def offset_rate(link: Link, w: Any, q: Any, v: Any) -> Any:
    """The rate of the way from the parent's origin to the link's, in the parent's axes."""
    slide = link.placement[:3, :3] @ (link.subspace[:3] @ v[link.columns])
    return np.cross(w, link.offset(q)) + slide


def _own_rates(moments: Moments, w: Any) -> Rates:
    _, u, J = moments
    turning = _cross_columns(w, J)
    return Rates(np.cross(w, u), turning + turning.T, np.trace(J) * w - J @ w)


def _shifted(link: Link, rates: Rates, body: Moments, s: Any, ds: Any, q: Any) -> Rates:
    """Rates about the parent's origin, in the parent's axes."""
    U, dU = link.inwards(body.first, q), link.inwards(rates.dU, q)
    crossed = np.outer(U + body.mass * s, ds) + np.outer(dU, s)
    return Rates(dU + body.mass * ds, link.inwards_both(rates.dJ, q) + crossed + crossed.T,
                 link.inwards(rates.h, q) + np.cross(s, dU + body.mass * ds) + np.cross(U, ds))


def _cross_columns(w: Any, T: Any) -> Any:
    """w~ T."""
    return np.stack([np.cross(w, column) for column in T.T], axis=1)


def _asked(link: Link, moved: Movement, load: Load, body: Moments, rates: Rates) -> Asked:
    (m, U, J), z = body, _axis(link)
    dz, twice_dz, ddz = _axis_rates(link, moved)
    twice_dU = rates.dU + rates.dU
    if link.is_prismatic:
        return Asked(m * z, -m * twice_dz, -m * ddz, np.cross(U, z), -np.cross(twice_dU, z), np.cross(U, twice_dz),
                     np.cross(U, ddz) + np.cross(z, load.f))
    return Asked(np.cross(z, U), np.cross(U, twice_dz) + np.cross(twice_dU, z),
                 np.cross(U, ddz) + np.cross(twice_dU, dz) + np.cross(load.f - m * moved.a, z),
                 _times_E(J, z), _times_twice_L(rates, z, -1), _times_E(J, twice_dz) - _times_twice_L(rates, z, 1),
                 _times_E(J, ddz) - _times_twice_L(rates, dz, 1) + np.cross(U, np.cross(moved.a, z)) - np.cross(load.n, z))


def _axis(link: Link) -> Any:
    """The direction of a joint, in the axes of its link."""
    return link.subspace[:3, 0] if link.is_prismatic else _Z


def _axis_rates(link: Link, moved: Movement) -> tuple[Any, Any, Any]:
    """The rate of that direction, twice it, and its second rate."""
    dz = np.cross(moved.w, _axis(link))
    return dz, dz + dz, moved.W @ _axis(link)


def _times_E(J: Any, x: Any) -> Any:
    return np.trace(J) * x - J @ x


def _times_twice_L(rates: Rates, x: Any, sign: int) -> Any:
    """2 L x, or 2 L^T x with the sign -1."""
    return rates.dJ @ x - np.trace(rates.dJ) * x + sign * np.cross(rates.h, x)


def _carried(link: Link, asked: Asked, parent: Movement, v: Any, q: Any) -> Asked:
    """The same about the origin of the parent, in the parent's axes."""
    s, ds = link.offset(q), offset_rate(link, parent.w, q, v)
    f, f_velocity, f_coordinate, B, C, H, G = (link.inwards(x, q) for x in asked)
    return Asked(f, f_velocity, f_coordinate, B + np.cross(s, f), C - np.cross(ds + ds, f), H - np.cross(s, f_velocity),
                 G - np.cross(s, f_coordinate))


def _by_earlier(at: Link, moved: Movement, asked: Asked) -> tuple[Any, Any, Any]:
    """The derivatives of the joint's force by what a joint before it, or it itself, does."""
    z, (dz, twice_dz, ddz) = _axis(at), _axis_rates(at, moved)
    if at.is_prismatic:
        return asked.f @ z, asked.f @ twice_dz, asked.f @ ddz
    return asked.B @ z, asked.B @ twice_dz - asked.C @ z, asked.B @ ddz - asked.C @ dz + asked.f @ np.cross(moved.a, z)


def _by_later(at: Link, asked: Asked) -> tuple[Any, Any]:
    """The derivatives of the force of a joint by the velocity and the coordinate of one that it carries."""
    z = _axis(at)
    return (-(z @ asked.f_velocity), -(z @ asked.f_coordinate)) if at.is_prismatic else (z @ asked.H, z @ asked.G)
