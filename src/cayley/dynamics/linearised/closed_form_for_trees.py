"""The sensitivity matrices of trees with joints of every kind, in closed form: Algorithm 7.1 written for the directions
of a joint.

A unit of one velocity of a joint, slide s and turn t in the axes of its link, changes the movement of the link and of
all it carries:
    w        angular velocity of the link         b    acceleration of its origin if the joint stood still
    (dw, e, da)    change of w; change of its rate plus w x dw; change of the acceleration of the origin a, all in the
                   link's axes
             by acceleration   0,        t,                     s
             by velocity       t,        (wp + w) x t,          (wp + w) x s + t x u
             by coordinate     wp x t,   ddwp + w x (wp x t),   Wp s - t x b + 2 (wp x t) x u
with the parent's wp, its rate and its tensor Wp seen from the link, and the link's own slide u. They ask for
    f = m da + e x U + 2 dw x dU                  n = E e - 2 L dw + U x da
of the link with all it carries, whose moments are m, U, E and whose rates dU, L; 2 L = dJ - tr(dJ) 1 + h~ with the rate
dJ of the second moments and the angular momentum h about the link's origin, which is cheaper than to turn L. Carried
inwards they are what the joints before it feel. Source: Balafoutis & Patel, Algorithm 7.1, completed for prismatic
joints (spec R8.3, R8.5), Lemmas C-1 to C-12; equation (L-5) of docs/developers/theory/linearised.md."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import composite_bodies
from cayley.dynamics.inverse.newton_euler import JointLoad, Movement, at_rest, joint_loads, movements
from cayley.dynamics.rigid_links.links import ROOT, Link, Links
from cayley.dynamics.rigid_links.moments import LinkMoments
from cayley.errors import UnsupportedError
from cayley.showing import shown_briefly

_NONE = np.zeros(3)
_NOT_ASKED = JointLoad(_NONE, _NONE)


@shown_briefly
class Sensitivities(NamedTuple):
    """dtau = D dqdd + V dqd + P dq, each (nv, nv)."""

    D: Array
    V: Array
    P: Array


class Change(NamedTuple):
    """The changes of the motion of a link: dw, e and da."""

    w: Array
    e: Array
    a: Array


class JointDirection(NamedTuple):
    """One velocity of a joint: its slide and turn, and what a unit of acceleration, velocity and coordinate changes."""

    slide: Array
    turn: Array
    by_acceleration: Change
    by_velocity: Change
    by_coordinate: Change


class Projected(NamedTuple):
    """The force of one velocity by changes of acceleration (f), of e (B) and of dw (C), and its own changes."""

    f: Array
    B: Array
    C: Array
    by_velocity: JointLoad
    by_coordinate: JointLoad


def sensitivities(links: Links, q: Array, qd: Array, qdd: Array, *, asked: str = "DVP") -> Sensitivities:
    """D, V and P (nv, nv) at a state and an acceleration; P along the velocities, where coordinates are more than
    these. Those that are not `asked` for are zero."""
    _check_directions(links)
    moved = movements(links, q, qd, qdd)
    found = joint_loads(links, q, moved)
    bodies = composite_bodies(links, q)
    rates = composite_rates(links, q, qd, moved, bodies)
    ways = [_directions(links, number, moved, q, qd) for number in range(len(links.links))]
    entries: list[list[list[Scalar]]] = [[[0.0] * links.nv for _ in range(links.nv)] for _ in range(3)]
    D, V, P = entries
    for number, link in enumerate(links.links):
        for way, i in zip(ways[number], range(links.nv)[link.columns], strict=True):
            projected = _projected(way, found[number], bodies[number], rates[number], asked)
            at = number
            while at != ROOT:
                here = links.links[at]
                for other, j in zip(ways[at], range(links.nv)[here.columns], strict=True):
                    for name, matrix, change in zip("DVP", entries, other[2:], strict=True):
                        if name in asked:
                            matrix[i][j] = _by_change(projected, change)
                    if at == number:
                        continue
                    D[j][i] = D[i][j]
                    if "V" in asked:
                        V[j][i] = _along(other, projected.by_velocity)
                    if "P" in asked:
                        P[j][i] = _along(other, projected.by_coordinate)
                if here.parent != ROOT:
                    projected = _in_parent(here, projected, moved[here.parent], q, qd)
                at = here.parent
    return Sensitivities(*[np.array(matrix).reshape(links.nv, links.nv) for matrix in (D, V, P)])


def _check_directions(links: Links) -> None:
    for link in links.links:
        if not link.motion.constant_subspace:
            raise UnsupportedError(
                f"joint {link.name!r} of {links.name} is {link.motion.word}, and its directions change in the axes of "
                'what it moves: the closed form does not have that. Use the method "differentiation"')


def _directions(links: Links, number: int, moved: list[Movement], q: Array, qd: Array) -> list[JointDirection]:
    link = links.links[number]
    parent = at_rest(links) if link.parent == ROOT else moved[link.parent]
    if link.is_revolute or link.is_prismatic:
        return [_single(link, moved[number], q)]
    return [_one_of_several(link, column, moved[number], parent, q, qd) for column in link.subspace(q).T]


def _single(link: Link, moved: Movement, q: Array) -> JointDirection:
    """A revolute or prismatic joint: its axis is fixed in the parent, so the link's own movement suffices."""
    s = link.subspace(q)[:3, 0]
    t = link.subspace(q)[3:, 0]
    dt = np.cross(moved.w, t)
    ds = np.cross(moved.w, s)
    return JointDirection(s, t, Change(_NONE, t, s), Change(t, dt + dt, ds + ds),
                     Change(dt, moved.W @ t, moved.W @ s + np.cross(moved.a, t)))


def _one_of_several(link: Link, column: Array, moved: Movement, parent: Movement, q: Array,
                    qd: Array) -> JointDirection:
    s = column[:3]
    t = column[3:]
    u, turning = np.split(link.twist(q, qd[link.columns]), 2)
    wp, dwp, b = (link.outwards(x, q) for x in (parent.w, parent.dw, parent.a + parent.W @ link.offset(q)))
    dw = np.cross(wp, t)
    twice = wp + moved.w
    e = np.cross(dwp, t) + np.cross(dw, turning) + np.cross(moved.w, dw)
    Wps = np.cross(dwp, s) + np.cross(wp, np.cross(wp, s))
    return JointDirection(s, t, Change(_NONE, t, s), Change(t, np.cross(twice, t), np.cross(twice, s) + np.cross(t, u)),
                     Change(dw, e, Wps + np.cross(b, t) + 2 * np.cross(dw, u)))


def _projected(way: JointDirection, load: JointLoad, body: LinkMoments, rates: MomentRates, asked: str) -> Projected:
    (m, U, J) = body
    s = way.slide
    t = way.turn
    twice_dU = rates.dU + rates.dU
    by_velocity = _needed(way.by_velocity, body, rates) if "V" in asked else _NOT_ASKED
    by_coordinate = _NOT_ASKED
    if "P" in asked:
        change = _needed(way.by_coordinate, body, rates)
        by_coordinate = JointLoad(change.f + np.cross(t, load.f), change.n + np.cross(t, load.n) + np.cross(s, load.f))
    return Projected(
        m * s + np.cross(t, U),
        np.trace(J) * t - J @ t + np.cross(U, s),
        np.cross(twice_dU, s) - rates.twice_L(t, -1), by_velocity, by_coordinate)


def _needed(change: Change, body: LinkMoments, rates: MomentRates) -> JointLoad:
    (m, U, J) = body
    dw, e, da = change
    return JointLoad(m * da + np.cross(e, U) + np.cross(dw, rates.dU + rates.dU),
                np.trace(J) * e - J @ e - rates.twice_L(dw) + np.cross(U, da))


def _by_change(projected: Projected, change: Change) -> Array:
    return projected.f @ change.a + projected.B @ change.e + projected.C @ change.w


def _along(way: JointDirection, load: JointLoad) -> Scalar:
    return way.slide @ load.f + way.turn @ load.n


def _in_parent(link: Link, projected: Projected, parent: Movement, q: Array, qd: Array) -> Projected:
    """The same about the origin of the parent, in the parent's axes."""
    s = link.offset(q)
    ds = offset_rate(link, parent.w, q, qd)
    f = link.inwards(projected.f, q)
    B = link.inwards(projected.B, q) + np.cross(s, f)
    C = link.inwards(projected.C, q) + np.cross(ds + ds, f)
    return Projected(f, B, C, _load_in_parent(link, projected.by_velocity, s, q),
                     _load_in_parent(link, projected.by_coordinate, s, q))


def _load_in_parent(link: Link, load: JointLoad, s: Array, q: Array) -> JointLoad:
    if load is _NOT_ASKED:
        return load
    f = link.inwards(load.f, q)
    return JointLoad(f, link.inwards(load.n, q) + np.cross(s, f))


class MomentRates(NamedTuple):
    """Rates of the moments of a link with all that it carries, and its angular momentum about its origin."""

    dU: Array
    dJ: Array
    h: Array

    def plus(self, other: MomentRates) -> MomentRates:
        return MomentRates(*[a + b for a, b in zip(self, other, strict=True)])

    def twice_L(self, x: Array, sign: int = 1) -> Array:
        """2 L x, or 2 L^T x with the sign -1."""
        return self.dJ @ x - np.trace(self.dJ) * x + sign * np.cross(self.h, x)


def composite_rates(links: Links, q: Array, qd: Array, moved: list[Movement],
                    bodies: list[LinkMoments]) -> list[MomentRates]:
    """The rates of each link with all that it carries."""
    found = [_own_rates(link.moments, movement.w) for link, movement in zip(links.links, moved, strict=True)]
    for number in reversed(range(len(found))):
        link = links.links[number]
        if link.parent != ROOT:
            s = link.offset(q)
            ds = offset_rate(link, moved[link.parent].w, q, qd)
            found[link.parent] = found[link.parent].plus(_shifted(link, found[number], bodies[number], s, ds, q))
    return found


def offset_rate(link: Link, w: Array, q: Array, qd: Array) -> Array:
    """The rate of the way from the parent's origin to the link's, in the parent's axes."""
    return np.cross(w, link.offset(q)) + link.inwards(link.subspace(q)[:3] @ qd[link.columns], q)


def _own_rates(moments: LinkMoments, w: Array) -> MomentRates:
    _, u, J = moments
    turning = np.stack([np.cross(w, column) for column in J.T], axis=1)
    return MomentRates(np.cross(w, u), turning + turning.T, np.trace(J) * w - J @ w)


def _shifted(link: Link, rates: MomentRates, body: LinkMoments, s: Array, ds: Array, q: Array) -> MomentRates:
    U = link.inwards(body.first, q)
    dU = link.inwards(rates.dU, q)
    crossed = np.outer(U + body.mass * s, ds) + np.outer(dU, s)
    return MomentRates(dU + body.mass * ds, link.inwards_both(rates.dJ, q) + crossed + crossed.T,
                 link.inwards(rates.h, q) + np.cross(s, dU + body.mass * ds) + np.cross(U, ds))
