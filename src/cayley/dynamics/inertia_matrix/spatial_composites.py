"""The inertia matrix of trees with joints of every kind by composite bodies in spatial vectors (Featherstone).

Spatial vectors are pairs about the origin of a link, in its axes: motions (w; v), forces (n; f).

    I     inertia (6, 6) of a link and all that it carries
    h     directions (6, k) of a joint: (z; 0) or (0; z) in a chain
    phi   transition operator from a link to its parent: forces go inwards by it, motions outwards by its transpose
    F     what unit accelerations of a joint need, carried inwards
Source: Featherstone 1987; Balafoutis & Patel, section 6.2 and (5.2.31)-(5.2.32), in the order of (5.2.31); spec R4.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.inverse.rodriguez import spatial_inertia, transition
from cayley.dynamics.rigid_links.links import ROOT, Link, Links
from cayley.geometry.spatial import swapped


def inertia_matrix(links: Links, q: Array) -> Array:
    """The inertia matrix (nv, nv) at the configuration `q`."""
    phi = transitions(links, q)
    I = composites(links, phi)
    rows: list[list[Any]] = [[0.0] * links.nv for _ in range(links.nv)]
    for number, link in enumerate(links.links):
        _fill(rows, links, phi, number, I[number] @ directions(link, q), q)
    return np.array(rows).reshape(links.nv, links.nv)


def transitions(links: Links, q: Array) -> list[Any]:
    """phi (6, 6) of each link, to its parent."""
    return [transition(link.rotation(q), link.offset(q)) for link in links.links]


def composites(links: Links, phi: list[Any]) -> list[Any]:
    """The spatial inertia (6, 6) of each link and all that it carries."""
    I = [spatial_inertia(link) for link in links.links]
    for number in reversed(range(len(I))):
        parent = links.links[number].parent
        if parent != ROOT:
            I[parent] = I[parent] + phi[number] @ I[number] @ phi[number].T
    return I


def directions(link: Link, q: Array) -> Array:
    """h (6, k): the directions of the joint, the turning first."""
    return swapped(link.subspace(q))


def _fill(rows: list[list[Any]], links: Links, phi: list[Any], number: int, F: Array, q: Array) -> None:
    """The columns of a joint, and their mirror images, from the diagonal inwards."""
    columns = links.links[number].columns
    at = number
    while at != ROOT:
        link = links.links[at]
        block = directions(link, q).T @ F
        for i, row in zip(range(link.columns.start, link.columns.stop), block, strict=True):
            for j, entry in zip(range(columns.start, columns.stop), row, strict=True):
                rows[i][j] = rows[j][i] = entry
        F = phi[at] @ F
        at = link.parent
