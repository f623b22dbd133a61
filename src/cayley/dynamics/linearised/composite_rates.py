"""How the moments of a link with all that it carries change in time: what the derivatives of inverse dynamics by
velocities consist of.

    dU, dJ   rates of the first and second moments, as vectors and tensors in space, seen in the link's axes
    h        angular momentum of what is carried, relative to the link's origin
The rate tensor of the source is L with 2 L = dJ - tr(dJ) 1 + h~: the symmetric part turns like J and the skew part like
a vector, which is cheaper than to turn L. Source: Balafoutis & Patel, section 7.3, Lemmas C-1 to C-12 (spec S1-87).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.inverse.newton_euler import Movement
from cayley.dynamics.rigid_links.links import ROOT, Link, Links
from cayley.dynamics.rigid_links.moments import Moments


class Rates(NamedTuple):
    """Rates of the moments of a link with all that it carries, as vectors in space, and its angular momentum relative
    to the origin.
    """

    dU: Array
    dJ: Array
    h: Array

    def plus(self, other: Rates) -> Rates:
        return Rates(*[a + b for a, b in zip(self, other, strict=True)])

    def twice_L(self, x: Array, sign: int = 1) -> Array:
        """2 L x, or 2 L^T x with the sign -1."""
        return self.dJ @ x - np.trace(self.dJ) * x + sign * np.cross(self.h, x)


def composite_rates(links: Links, q: Array, qd: Array, moved: list[Movement], bodies: list[Moments]) -> list[Rates]:
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


def _own_rates(moments: Moments, w: Array) -> Rates:
    _, u, J = moments
    turning = _cross_columns(w, J)
    return Rates(np.cross(w, u), turning + turning.T, np.trace(J) * w - J @ w)


def _shifted(link: Link, rates: Rates, body: Moments, s: Array, ds: Array, q: Array) -> Rates:
    """Rates about the parent's origin, in the parent's axes."""
    U = link.inwards(body.first, q)
    dU = link.inwards(rates.dU, q)
    crossed = np.outer(U + body.mass * s, ds) + np.outer(dU, s)
    return Rates(dU + body.mass * ds, link.inwards_both(rates.dJ, q) + crossed + crossed.T,
                 link.inwards(rates.h, q) + np.cross(s, dU + body.mass * ds) + np.cross(U, ds))


def _cross_columns(w: Array, T: Array) -> Array:
    """w~ T."""
    return np.stack([np.cross(w, column) for column in T.T], axis=1)
