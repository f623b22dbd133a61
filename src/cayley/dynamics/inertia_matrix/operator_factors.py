"""The inertia matrix of open chains as a product of triangular factors (Rodriguez & Kreutz).

The matrix is the covariance of a signal that runs along the chain; the filter that whitens it, from the tip inwards,
factors it:

    I, h, phi   inertia (6, 6) of a link, axis of its joint, transition to the link before: spatial vectors (w; v), (n;
                f)
    P           inertia of link i with all that follows, joints giving way: the Riccati recursion
    Dh          h.P h, what the joint itself feels of it         G    P h / Dh, the gain of Kalman's filter
    F           1 + H Psi L, unit upper triangular when link 1 is at the base: D = F Dh F^T; its inverse, 1 - H Phi L,
                is from transitions that let the joints give way
A joint that moves no inertia makes Dh zero: it explains nothing, so its gain may be zero, and D has no inverse. Source:
Rodriguez & Kreutz 1990; Balafoutis & Patel (6.2.18), (6.2.19), numbered as in spec E-16 and R4.5."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array
from cayley.dynamics.inverse.featherstone import axis
from cayley.dynamics.inverse.rodriguez import spatial_inertia, transition
from cayley.dynamics.rigid_links.links import Links


class Filter(NamedTuple):
    """The factors of each link: axis h (6), transition phi (6, 6) to the link before, inertia P (6, 6), Dh, and gain G
    (6)."""

    h: list[Any]
    phi: list[Any]
    P: list[Any]
    Dh: list[Any]
    G: list[Any]


def inertia_matrix(links: Links, q: Array, *, regular: bool = False) -> Array:
    """The inertia matrix (n, n) at the configuration `q`: D = F Dh F^T. `regular` spares the question whether a Dh is
    zero."""
    found = kalman_filter(links, q, regular=regular)
    F = factor(found)
    return F * np.array(found.Dh) @ F.T  # (6.2.18)


def kalman_filter(links: Links, q: Array, rotors: float = 0.0, *, regular: bool = True) -> Filter:
    """The Riccati recursion, from the tip inwards. `rotors`: inertia (n) of the drives, added to the diagonal of D:
    noise to the filter.

    Where a Dh is zero the gain is not a number, or zero, if D is not said to be `regular`."""
    h = [axis(link) for link in links.links]
    phi = [transition(link.rotation(q), link.offset(q)) for link in links.links]
    extra = np.zeros(links.nv) + rotors
    P = []
    Dh = []
    G = []
    beyond = np.zeros((6, 6))
    for number in reversed(range(len(h))):
        P.append(spatial_inertia(links.links[number]) + beyond)
        Dh.append(h[number] @ P[-1] @ h[number] + extra[number])
        G.append(P[-1] @ h[number] / (Dh[-1] if regular else where(Dh[-1] == 0, np.inf, Dh[-1])))
        beyond = phi[number] @ (P[-1] - Dh[-1] * np.outer(G[-1], G[-1])) @ phi[number].T
    return Filter(h, phi, P[::-1], Dh[::-1], G[::-1])


def factor(found: Filter) -> Array:
    """F = 1 + H Psi L (n, n): column k is the gain of link k, carried inwards by transitions and seen by the axes."""
    n = len(found.h)
    rows: list[list[Any]] = [[float(i == k) for k in range(n)] for i in range(n)]
    for k in range(1, n):
        carried = found.phi[k] @ found.G[k]
        for i in reversed(range(k)):
            rows[i][k] = found.h[i] @ carried
            carried = found.phi[i] @ carried
    return np.array(rows).reshape(n, n)
