"""The inertia matrix of trees with joints of every kind by composite bodies in spatial vectors (Featherstone).

Operators of links, Phi, M and E, and their frames are those of `cayley.dynamics.rigid_links.spatial_operators`. The
inertia of a link and all that it carries comes inwards; what unit accelerations of a joint need of it is carried on to
the joints before. Source: Featherstone 1987; Balafoutis & Patel, section 6.2 and (5.2.31)-(5.2.32), in the order of
(5.2.31); spec R4.2."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.rigid_links.links import ROOT, Links
from cayley.dynamics.rigid_links.spatial_operators import Operators, operators


def inertia_matrix(links: Links, q: Array) -> Array:
    """The inertia matrix (nv, nv) at the configuration `q`."""
    return composite_matrix([operators(link, q) for link in links.links], range(len(links.links))[::-1], links.nv)


def composites(bodies: Sequence[Operators], inwards: Sequence[int]) -> list[Array]:
    """The spatial inertia (6, 6) of each body and all that it carries; `inwards` are their numbers, carriers last."""
    carried = [body.M for body in bodies]
    for k in inwards:
        body = bodies[k]
        if body.carrier != ROOT:
            carried[body.carrier] = carried[body.carrier] + body.Phi.T @ carried[k] @ body.Phi
    return carried


def composite_matrix(bodies: Sequence[Operators], inwards: Sequence[int], nv: int) -> Array:
    """The inertia matrix (nv, nv) of bodies."""
    found: list[list[Scalar]] = [[0.0] * nv for _ in range(nv)]
    for body, inertia in zip(bodies, composites(bodies, inwards), strict=True):
        needed = inertia @ body.E
        at = body
        while True:
            for (i, j), entry in np.ndenumerate(at.E.T @ needed):
                row, column = at.columns.start + i, body.columns.start + j
                found[row][column] = found[column][row] = entry
            if at.carrier == ROOT:
                break
            needed = at.Phi.T @ needed
            at = bodies[at.carrier]
    return np.array(found).reshape(nv, nv)
