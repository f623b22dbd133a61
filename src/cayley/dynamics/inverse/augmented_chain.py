"""The augmented links of a mechanism, and what a load that is taken up or put down changes of them.

All of it is off-line: a controller that runs Algorithm 5.7 gets other constants for a few additions when its robot
grasps something, and the ones before when it lets go. Source: Balafoutis & Patel (5.3.9)-(5.3.11), (5.3.44), spec R-39.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.inverse.augmented_bodies import (
    AugmentedLink,
    Payload,
    attached,
    augmented_constants,
)
from cayley.dynamics.rigid_links.links import ROOT, Links, serial_chain
from cayley.errors import ModelError
from cayley.model.parts import Body
from cayley.model.tree import Tree
from cayley.showing import brief


@dataclass(frozen=True, eq=False)
class AugmentedChain:
    """The constants (n) of the augmented links of a chain: of each its mass with that of all links after it, first
    moment and Euler tensor about its origin, in axes whose z is the joint's; polynomials of the next coordinate if the
    next joint is prismatic.

    >>> import cayley as cy
    >>> arm = cy.load("s1_f2")
    >>> heavy = arm.augmented_links.attached("tool", 2.0)
    >>> (heavy.constants[0].first[0] - arm.augmented_links.constants[0].first[0]).round(9)  # 2 kg at the second joint
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


def augmented_chain(tree: Tree) -> AugmentedChain:
    """Of an open chain of revolute and prismatic joints; other mechanisms are refused by name."""
    links = serial_chain(tree)
    return AugmentedChain(tree, links, tuple(augmented_constants(links)))
