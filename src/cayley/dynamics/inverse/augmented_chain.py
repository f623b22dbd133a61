"""The augmented links of a mechanism, and what a load that is taken up or put down changes of them.

All of it is off-line: a controller that runs Algorithm 5.7 gets other constants for a few additions when its robot
grasps something, and the ones before when it lets go. Source: Balafoutis & Patel (5.3.9)-(5.3.11), (5.3.44), spec R-39.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.inverse.augmented_bodies import (
    AugmentedLink,
    Payload,
    attached,
    augmented_constants,
)
from cayley.dynamics.rigid_links.links import ROOT, Links, serial_chain
from cayley.errors import ModelError, SignatureError
from cayley.model.parts import Body
from cayley.model.tree import Tree
from cayley.showing import brief


class AugmentedMoments(NamedTuple):
    """Of each link with all after it as a particle at the next joint: mass (..., n) [kg], first moment (..., n, 3) [kg
    m] and inertia tensor (..., n, 3, 3) [kg m^2], about the link's origin, in axes whose z is the joint's."""

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
            raise SignatureError(f"configurations of {self.tree.name} are (..., {self.tree.nq}), not {q.shape}")
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
        """With a load or a tool, given as in `with_payload`, fixed to a frame: by increments."""
        return self._changed(frame, Body("payload", mass, center, np.zeros((3, 3)) if inertia is None else inertia), 1)

    def detached(self, frame: str, mass: float, *, center: ArrayLike = (0.0, 0.0, 0.0),
                 inertia: ArrayLike | None = None) -> AugmentedChain:
        """Without a load or a tool that was fixed to a frame."""
        return self._changed(frame, Body("payload", mass, center, np.zeros((3, 3)) if inertia is None else inertia), -1)

    def _changed(self, frame: str, body: Body, sign: int) -> AugmentedChain:
        number, pose = self.links.place(self.tree, frame)
        if number == ROOT:
            return self
        R = pose[:3, :3]
        if sign < 0 and body.moments[0] > self.mass[number] * (1 + 1e-12):
            raise ModelError(f"{self.tree.name} cannot put down {body.moments[0]} kg at {frame!r}: with all that "
                             f"follows its link has {self.mass[number]:.6g} kg")
        load = Payload(sign * body.moments[0], R @ body.center + pose[:3, 3], sign * R @ body.inertia @ R.T)
        return replace(self, constants=tuple(attached(self.links, self.constants, load, number)))


def _at(coefficients: tuple[Array, ...], d: Array, batch: tuple[int, ...]) -> Array:
    """A polynomial with coefficients of some shape, at places (..., 1)."""
    shape = np.shape(coefficients[0])
    d = d.reshape(*batch, *(1,) * len(shape))
    return np.broadcast_to(sum(c * d**k for k, c in enumerate(coefficients)), (*batch, *shape))


def augmented_chain(tree: Tree) -> AugmentedChain:
    """Of an open chain of revolute and prismatic joints; other mechanisms are refused by name."""
    links = serial_chain(tree)
    return AugmentedChain(tree, links, tuple(augmented_constants(links)))
