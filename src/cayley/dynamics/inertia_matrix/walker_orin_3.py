"""The inertia matrix of open chains by composite rigid bodies about their centres of mass: Algorithm 6.1.

Composite body i is links i to n, frozen together. In the axes of link i:

    mb       its mass                                  R        from the origin of link i to its centre of mass
    Ec       its inertia tensor about that centre      s        from the origin of a link to that of the next
    f, eta   force and moment, about the link's origin, that a unit acceleration of joint i needs from a joint
A composite body without mass has no centre of mass; its origin takes the place, and only its inertia counts. Algorithm
6.2, in `generalized_links`, does not divide at all. Source: Walker & Orin 1982, method 3; Balafoutis & Patel
(6.2.5)-(6.2.9), corrected as in spec E-3, E-4, E-5 and E-33."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.tracing.nominal_values import is_present
from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.inertia_matrix.solve import from_unit_wrenches
from cayley.dynamics.inverse.passes import NONE, Z
from cayley.dynamics.rigid_links.links import Link, Links


class Composite(NamedTuple):
    """Mass, centre of mass (3) and central inertia tensor (3, 3) of a composite body, in the axes of its first link."""

    mb: Scalar
    R: Scalar
    Ec: Scalar


def inertia_matrix(links: Links, q: Array) -> Array:
    """The inertia matrix (n, n) at the configuration `q`."""
    bodies = composites(links, q)
    return from_unit_wrenches(links, lambda i: unit_wrenches(links, q, i, bodies[i]))  # (6.2.9c)


def composites(links: Links, q: Array) -> list[Composite]:
    """The composite bodies of all links."""
    found: list[Composite] = []
    beyond = Composite(0.0, NONE, np.zeros((3, 3)))  # about the origin of the link before, in its axes
    for link in reversed(links.links):
        own = _joined(link, beyond)
        found.append(own)
        R = link.offset(q) + link.inwards(own.R, q)  # (6.2.8b)
        beyond = Composite(own.mb, R, link.inwards_both(own.Ec, q))  # (6.2.8c)
    return found[::-1]


def _joined(link: Link, beyond: Composite) -> Composite:
    """A link and what is frozen to it, both in the link's axes."""
    m = link.moments.mass
    r = link.moments.center
    mb = beyond.mb + m  # (6.2.8a)
    R = (m * r + beyond.mb * beyond.R) / mb if is_present(mb) else NONE  # (6.2.8b)
    inner = _of_particle(m, r - R)  # (6.2.8c)
    outer = _of_particle(beyond.mb, beyond.R - R)  # (6.2.8c)
    Ec = link.moments.inertia_about_center + inner + outer + beyond.Ec  # (6.2.8c)
    return Composite(mb, R, Ec)


def _of_particle(m: Scalar, x: Array) -> Array:
    """The inertia tensor of a mass at x."""
    return m * (x @ x * np.eye(3) - np.outer(x, x))


def unit_wrenches(links: Links, q: Array, i: int, body: Composite) -> Iterator[tuple[int, Any, Any]]:
    """j, f and eta that a unit acceleration of joint i needs from joint j, in the axes of link j, from i inwards."""
    mb, R, Ec = body
    F = np.cross(Z, mb * R) if links.links[i].is_revolute else mb * Z  # (6.2.8d)
    M = Ec @ Z if links.links[i].is_revolute else NONE  # (6.2.8e)
    f = F
    eta = M + np.cross(R, F)  # (6.2.8g)
    yield i, f, eta
    for j in reversed(range(i)):
        f = links.links[j + 1].inwards(f, q)  # (6.2.9a)
        eta = links.links[j + 1].inwards(eta, q) + np.cross(links.links[j + 1].offset(q), f)  # (6.2.9b)
        yield j, f, eta
