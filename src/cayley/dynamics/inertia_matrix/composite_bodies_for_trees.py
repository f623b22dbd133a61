"""The inertia matrix of trees with joints of every kind, by composite bodies: all that a joint carries, frozen
together.

    m, u, J   moments of the composite body of link i about its origin, summed from the tips inwards
    f, n      the force and the moment about the origin that a unit acceleration of one velocity of joint i asks for
Column i of the matrix is what these ask of joint i and of the joints before it; joints on other branches are not
concerned. On minimal links most masses are zero, and so is most of the work. Source: Walker & Orin 1982, method 3;
Balafoutis & Patel, Algorithm 6.1 and (6.3.7), with moments about the origins; equations (F-1)-(F-3) of
docs/developers/theory/inertia_matrix.md."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.rigid_links.links import ROOT, Link, Links
from cayley.dynamics.rigid_links.moments import LinkMoments


def inertia_matrix(links: Links, q: Array) -> Array:
    """The inertia matrix (nv, nv) at a configuration."""
    rows: list[list[Any]] = [[0.0] * links.nv for _ in range(links.nv)]
    composite = composite_bodies(links, q)
    for number, link in enumerate(links.links):
        for place in range(link.columns.stop - link.columns.start):
            column = link.columns.start + place
            for row, entry in _column(links, q, number, composite[number], link.subspace(q)[:, place]):
                rows[row][column] = rows[column][row] = entry
    return np.array(rows) if rows else np.zeros((0, 0))


def diagonal(links: Links, q: Array) -> Array:
    """The diagonal (nv) of the inertia matrix alone: what each velocity feels of all that it moves."""
    found: list[Any] = [0.0] * links.nv
    for number, (link, body) in enumerate(zip(links.links, composite_bodies(links, q), strict=True)):
        for place, column in enumerate(range(link.columns.start, link.columns.stop)):
            found[column] = dict(islice(_column(links, q, number, body,
                                                link.subspace(q)[:, place]), link.motion.nv))[column]
    return np.stack(found) if found else np.zeros(0)


def composite_bodies(links: Links, q: Array) -> list[LinkMoments]:
    """The moments of each link with all that it carries, about its origin and in its axes."""
    found = [link.moments for link in links.links]
    for number in reversed(range(len(found))):
        link = links.links[number]
        if link.parent != ROOT:
            found[link.parent] = found[link.parent].plus(carried(link, found[number], q))
    return found


def carried(link: Link, moments: LinkMoments, q: Array) -> LinkMoments:
    """The moments of what a link carries, about the origin of its parent and in the parent's axes."""
    s = link.offset(q)
    u = link.inwards(moments.first, q)
    crossed = np.outer(u, s)
    return LinkMoments(moments.mass, u + moments.mass * s,
                   link.inwards_both(moments.second, q) + crossed + crossed.T + moments.mass * np.outer(s, s))


def _column(links: Links, q: Array, number: int, body: LinkMoments, direction: Array) -> Iterator[tuple[int, Any]]:
    """The entries of a column on and above the diagonal, from the joint itself inwards."""
    for at, f, n in felt_inwards(links, q, number, *asked_by(body, direction)):
        link = links.links[at]
        yield from zip(range(link.columns.start, link.columns.stop),
                       link.subspace(q).T @ np.concatenate([f, n]), strict=True)


def asked_by(body: LinkMoments, direction: Array) -> tuple[Any, Any]:
    """The force and the moment about the origin (F-2) that a body at rest asks for to accelerate by a twist (6)."""
    slide = direction[:3]
    turn = direction[3:]
    f = body.mass * slide + np.cross(turn, body.first)
    n = np.trace(body.second) * turn - body.second @ turn + np.cross(body.first, slide)
    return f, n


def felt_inwards(links: Links, q: Array, number: int, f: Array, n: Array) -> Iterator[tuple[int, Any, Any]]:
    """A force and a moment at a link, seen there and at the links before it: numbers, forces, moments."""
    while True:
        yield number, f, n
        link = links.links[number]
        if link.parent == ROOT:
            return
        f = link.inwards(f, q)
        n = link.inwards(n, q)
        n = n + np.cross(link.offset(q), f)
        number = link.parent
