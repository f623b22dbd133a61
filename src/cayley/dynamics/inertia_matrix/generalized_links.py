"""The inertia matrix of open chains by augmented and generalized links: Algorithm 6.2.

About the origin of link i, in its axes:

    mb, u, K   mass, first moment and inertia tensor of augmented link i: constants, except where the next joint slides
    U, E       first moment and inertia tensor of generalized link i, links i to n frozen together
    s          from the origin of the link before to that of a link, in the axes of that link
    f, eta     force and moment that a unit acceleration of joint i needs from a joint
Nothing is divided: links without mass are links like any others. Source: Balafoutis & Patel (6.3.28)-(6.3.30), with the
moment S(U) z of a prismatic joint, that the source leaves out, as in spec E-1, and the order of E-2; Lemma 6.1; spec
R5, R6."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.inertia_matrix.counted_products import origin_in_own_axes, similarity, skew_products
from cayley.dynamics.inertia_matrix.solve import from_unit_wrenches
from cayley.dynamics.inverse.augmented_bodies import augmented_links
from cayley.dynamics.inverse.passes import Z, across_z
from cayley.dynamics.rigid_links.links import Link, Links


class Generalized(NamedTuple):
    """First moment (3) and inertia tensor (3, 3) of a generalized link about the origin of its first link."""

    U: Array
    E: Array


def inertia_matrix(links: Links, q: Array) -> Array:
    """The inertia matrix (n, n) at the configuration `q`."""
    augmented = augmented_links(links, q)
    s = origins(links, q)
    bodies = generalized(augmented, s, q)
    return from_unit_wrenches(links, lambda i: unit_wrenches(augmented, s, q, i, bodies[i]))  # (6.3.30c)


def origins(links: Links, q: Array) -> list[Any]:
    """s of every link."""
    return [origin_in_own_axes(link, q) for link in links.links]  # (6.3.29b)


def generalized(augmented: Links, s: list[Any], q: Array) -> list[Generalized]:
    """U and E of every generalized link, by Lemma 6.1."""
    found: list[Generalized] = []
    for i, link in reversed(list(enumerate(augmented.links))):
        found.append(enclosing(link, augmented.links[i + 1], s[i + 1], found[-1], q) if found
                     else Generalized(link.moments.first, link.moments.inertia))
    return found[::-1]


def enclosing(link: Link, successor: Link, s: Array, body: Generalized, q: Array) -> Generalized:
    """The generalized link of an augmented link, from the one of its successor."""
    U = link.moments.first + successor.inwards(body.U, q)  # (6.3.29a)
    E = link.moments.inertia + similarity(successor, body.E - skew_products(s, body.U), q)  # (6.3.29c)
    return Generalized(U, E)


def unit_wrenches(augmented: Links, s: list[Any], q: Array, i: int,
                  body: Generalized) -> Iterator[tuple[int, Any, Any]]:
    """j, f and eta that a unit acceleration of joint i needs from joint j, in the axes of link j, from i inwards."""
    link = augmented.links[i]
    f = -across_z(body.U) if link.is_revolute else link.moments.mass * Z  # (6.3.29d)
    eta = body.E @ Z if link.is_revolute else across_z(body.U)  # (6.3.29e)
    yield i, f, eta
    for j in reversed(range(i)):
        f, eta = felt_before(augmented.links[j + 1], s[j + 1], f, eta, q)
        yield j, f, eta


def felt_before(link: Link, s: Array, f: Array, eta: Array, q: Array) -> tuple[Any, Any]:
    """f and eta at the link before, in its axes."""
    moment = link.inwards(np.cross(s, f) + eta, q)  # (6.3.30b)
    force = link.inwards(f, q)  # (6.3.30a)
    return force, moment
