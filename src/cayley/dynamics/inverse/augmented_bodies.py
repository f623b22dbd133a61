"""Augmented links of an open chain: their moments, and how a load that is taken up or put down changes them.

Augmented link i is link i with the mass of all links after it as a particle at the origin of link i+1; the last one may
carry a payload. About the origin of link i, in its axes:

    mb       its mass                              Kh, K    its Euler tensor and inertia tensor
    u        its first moment                      s        from the origin of link i to that of link i+1
It is rigid, and its moments are constants of the robot, if joint i+1 turns; if that slides by d they are polynomials of
d with constant coefficients. All of it is off-line: a controller that runs Algorithm 5.7 gets other constants for a few
additions when its robot grasps something. Source: Balafoutis & Patel (5.3.9)-(5.3.36), (5.3.44), Lemmas 5.1 and 5.2 as
in spec E-18, and spec R-38 to R-40."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.dynamics.rigid_links.links import ROOT, Link, Links, serial_chain
from cayley.dynamics.rigid_links.moments import NOTHING, LinkMoments
from cayley.errors import ModelError, SignatureError
from cayley.model.parts import Body
from cayley.model.tree import Tree
from cayley.showing import brief


class LinkPayload(NamedTuple):
    """A load fixed to a link: mass [kg], centre of mass (3) [m] in the link's axes, and the inertia tensor (3, 3)
    about it, none of a particle."""

    mass: Scalar
    at: Array
    inertia: Array = np.zeros((3, 3))

    @property
    def moments(self) -> LinkMoments:
        at = np.asarray(self.at)
        own = np.trace(self.inertia) / 2 * np.eye(3) - self.inertia
        return LinkMoments(self.mass, self.mass * at, own + self.mass * np.outer(at, at))


class AugmentedLink(NamedTuple):
    """The constants of an augmented link: coefficients of 1, d and d^2, where d is the coordinate of the next joint if
    that slides.

    >>> from cayley.dynamics.rigid_links.links import serial_chain
    >>> from cayley.model.catalogue import load_robot
    >>> first, *_ = augmented_constants(serial_chain(load_robot("s1_f4")))
    >>> first.is_rigid, round(first.mass, 12), first.first[0].round(12)
    (True, 33.45, array([0.    , 3.5175, 1.    ]))
    """

    mass: Scalar  # mb
    first: tuple[Any, ...]  # of u
    second: tuple[Any, ...]  # of Kh

    @property
    def is_rigid(self) -> bool:
        return len(self.first) == 1

    @property
    def inertia(self) -> tuple[Any, ...]:
        """The coefficients of K, the inertia tensor about the origin."""
        return tuple(np.trace(J) * np.eye(3) - J for J in self.second)

    def plus(self, other: AugmentedLink) -> AugmentedLink:
        """The link with the mass of another: coefficients of the same powers add up."""
        return AugmentedLink(
            self.mass + other.mass, tuple(a + b for a, b in zip_longest(self.first, other.first, fillvalue=0.0)),
            tuple(a + b for a, b in zip_longest(self.second, other.second, fillvalue=0.0)))

    def moments(self, d: Scalar = None) -> LinkMoments:
        """mb, u and Kh, on-line: at the coordinate `d` of the next joint, which a rigid one does not need."""
        if self.is_rigid:
            return LinkMoments(self.mass, self.first[0], self.second[0])
        (u0, u1) = self.first
        (K0, K1, K2) = self.second
        return LinkMoments(self.mass, u0 + d * u1, K0 + d * K1 + (d * d) * K2)


def augmented_constants(links: Links, payload: LinkPayload | None = None) -> list[AugmentedLink]:
    """The off-line constants of the augmented links: Step 1 of Algorithm 5.7."""
    found: list[AugmentedLink] = []
    beyond: Any = 0.0
    for link, after in zip(reversed(links.links), (None, *reversed(links.links)), strict=False):
        found.append(_augmented(link.moments, beyond, after))
        beyond = found[-1].mass
    return found[::-1] if payload is None else attached(links, found[::-1], payload, len(found) - 1)


def attached(links: Links, constants: Sequence[AugmentedLink], payload: LinkPayload,
             number: int) -> list[AugmentedLink]:
    """The constants when a payload is fixed to a link, by increments: the link itself is merged with it, those before
    it have its mass at the next origin, dm = m_p, du = m_p s, dK = -m_p s~ s~. With a negative payload it is gone."""
    whole = payload.moments
    more = [_augmented(NOTHING, payload.mass, after) for after in links.links[1:number + 1]]
    merged = constants[number].plus(AugmentedLink(whole.mass, (whole.first,), (whole.second,)))
    return [*[own.plus(added) for own, added in zip(constants, more, strict=False)], merged, *constants[number + 1:]]


def _augmented(own: LinkMoments, beyond: Scalar, after: Link | None) -> AugmentedLink:
    """A link and a particle `beyond` at the origin of the link after it, s = place + d slide."""
    if after is None:
        return AugmentedLink(own.mass, (own.first,), (own.second,))
    place = after.placement[:3, 3]
    mass = own.mass + beyond  # (5.3.44a)
    u0 = own.first + beyond * place  # (5.3.44b)
    K0 = own.second + beyond * np.outer(place, place)  # (5.3.44c) (5.3.44d)
    if not after.is_prismatic:
        return AugmentedLink(mass, (u0,), (K0,))
    slide = after.placement[:3, 2]
    crossed = np.outer(place, slide)
    return AugmentedLink(mass, (u0, beyond * slide), (K0, beyond *
                                                      (crossed + crossed.T), beyond * np.outer(slide, slide)))


def augmented_links(links: Links, q: Array, payload: LinkPayload | None = None) -> Links:
    """The chain of augmented links: `link.moments` are mb, u and Kh, numbers where they are constants."""
    constants = augmented_constants(links, payload)
    slides = [q[link.coordinates][0] if link.is_prismatic else None for link in links.links[1:]]
    return links.with_moments([constant.moments(d) for constant, d in zip_longest(constants, slides)])


class AugmentedMoments(NamedTuple):
    """The moments of each link with all after it as a particle at the next joint: mass (..., n) [kg], first moment
    (..., n, 3) [kg m] and inertia tensor (..., n, 3, 3) [kg m^2], about the link's origin, in axes whose z is the
    joint's."""

    mass: Array
    first: Array
    inertia: Array


@dataclass(frozen=True, eq=False)
class AugmentedChain:
    """The constants (n) of the augmented links of a chain: of each its mass with that of all links after it, first
    moment and Euler tensor about its origin, in axes whose z is the joint's; polynomials of the next coordinate if the
    next joint is prismatic.

    >>> import cayley as cy
    >>> links = cy.load("s1_f2").formulations.augmented_links
    >>> heavy = links.attached("tool", 2.0)
    >>> (heavy.constants[0].first[0] - links.constants[0].first[0]).round(9)  # 2 kg at the second joint
    array([1., 0., 0.])
    """

    tree: Tree
    links: Links
    constants: tuple[AugmentedLink, ...]

    __repr__ = brief

    @property
    def mass(self) -> Array:
        """(n) [kg]: of each link and all after it."""
        return np.array([own.mass for own in self.constants])

    def moments(self, q: ArrayLike) -> AugmentedMoments:
        """Mass, first moment and inertia tensor of each augmented link about its origin, at configurations (..., nq):
        constants, except where the next joint slides. (6.3.1), (6.3.2).

        >>> import cayley as cy
        >>> cy.load("s1_f2").formulations.augmented_links.moments([0.3, -0.7]).first[0]
        array([1.25, 0.  , 0.  ])
        """
        q = np.asarray(q, dtype=float)
        if q.shape[-1:] != (self.tree.nq,):
            raise SignatureError(f"configurations of {self.tree.name} must be (..., {self.tree.nq}), not {q.shape}")
        batch = q.shape[:-1]
        slides = [q[..., link.coordinates] for link in self.links.links[1:]]
        found = [(_at(own.first, d, batch), _at(own.second, d, batch))
                 for own, d in zip(self.constants, [*slides, np.zeros((*batch, 1))], strict=True)]
        n = len(found)
        u = np.stack([first for first, _ in found], axis=-2) if n else np.zeros((*batch, 0, 3))
        K = np.stack([second for _, second in found], axis=-3) if n else np.zeros((*batch, 0, 3, 3))
        trace = np.trace(K, axis1=-2, axis2=-1)[..., None, None]
        return AugmentedMoments(np.broadcast_to(self.mass, (*batch, n)), u, trace * np.eye(3) - K)

    def attached(self, frame: str, mass: float, *, center: ArrayLike = (0.0, 0.0, 0.0),
                 inertia: ArrayLike | None = None) -> AugmentedChain:
        """The same arm with a load or a tool, given as in `with_payload`, fixed to a frame: by increments."""
        return self._changed(frame, Body("payload", mass, center, np.zeros((3, 3)) if inertia is None else inertia), 1)

    def detached(self, frame: str, mass: float, *, center: ArrayLike = (0.0, 0.0, 0.0),
                 inertia: ArrayLike | None = None) -> AugmentedChain:
        """The same arm without a load or a tool that was fixed to a frame."""
        return self._changed(frame, Body("payload", mass, center, np.zeros((3, 3)) if inertia is None else inertia), -1)

    def _changed(self, frame: str, body: Body, sign: int) -> AugmentedChain:
        number, pose = self.links.place(self.tree, frame)
        if number == ROOT:
            return self
        R = pose[:3, :3]
        if sign < 0 and body.moments[0] > self.mass[number] * (1 + 1e-12):
            raise ModelError(f"{self.tree.name} cannot put down {body.moments[0]} kg at {frame!r}: with all that "
                             f"follows its link has {self.mass[number]:.6g} kg")
        load = LinkPayload(sign * body.moments[0], R @ body.center + pose[:3, 3], sign * R @ body.inertia @ R.T)
        return replace(self, constants=tuple(attached(self.links, self.constants, load, number)))


def _at(coefficients: tuple[Array, ...], d: Array, batch: tuple[int, ...]) -> Array:
    """A polynomial with coefficients of some shape, at places (..., 1)."""
    shape = np.shape(coefficients[0])
    d = d.reshape(*batch, *(1,) * len(shape))
    return np.broadcast_to(sum(c * d**k for k, c in enumerate(coefficients)), (*batch, *shape))


def augmented_chain(tree: Tree) -> AugmentedChain:
    """Supports open chains of revolute and prismatic joints; other mechanisms raise an error."""
    links = serial_chain(tree)
    return AugmentedChain(tree, links, tuple(augmented_constants(links)))
