"""A mechanism in units of its own: its largest offset is 1, and so is gravity.

What is rounding beside the moments of an arm of micrometres, or of one whose numbers are millimetres, is then the same
as for any other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.identification.regressor import LinearModel
from cayley.dynamics.rigid_links.inertial_parameters import MOMENT_NAMES
from cayley.dynamics.rigid_links.links import ROOT, Link, Links
from cayley.model.joint_kinds import Motion


class Units(NamedTuple):
    """Of length [m] and of time [s]; that of mass is the kilogram, in which all is linear."""

    length: float
    time: float

    @staticmethod
    def of(links: Links) -> Units:
        offsets = [float(np.linalg.norm(link.placement[:3, 3])) for link in links.links if link.parent != ROOT]
        length = max([*offsets, *[link.motion.length for link in links.links]], default=0.0) or 1.0
        gravity = float(np.linalg.norm(links.gravity))
        return Units(length, np.sqrt(length / gravity) if gravity else 1.0)

    def links(self, links: Links) -> Links:
        """The same links, their lengths and gravity in these units."""
        return replace(links, links=tuple(map(self._link, links.links)), gravity=links.gravity *
                       (self.time**2 / self.length))

    def _link(self, link: Link) -> Link:
        placement = link.placement.copy()
        placement[:3, 3] /= self.length
        return replace(link, placement=placement, motion=link.motion.in_units(self.length))

    def parameters(self, model: LinearModel) -> Array:
        """The unit (size) of each parameter of a linear model."""
        return np.array([self.parameter(model.links.links[number].motion, word) for number, word in model.columns])

    def parameter(self, motion: Motion, word: str) -> float:
        if word in MOMENT_NAMES:
            return self.length ** {"m": 0, "u": 1, "J": 2}[word[0]]
        slides = motion.velocity_units == ("m",)
        force = self.length ** (1 if slides else 2) / self.time**2
        inertia = 1.0 if slides else self.length**2
        own = self.length if slides else 1.0
        return {"rotor": inertia, "viscous": inertia / self.time, "damping": inertia / self.time,
                "stiffness": force / own, "cubic": force / own**3}.get(word, force)

    def coordinates(self, links: Links) -> Array:
        """The unit (nq) of each coordinate."""
        found = np.ones(links.nq)
        for link in links.links:
            found[link.coordinates] = np.where(np.array(link.motion.coordinate_units) == "m", self.length, 1.0)
        return found

    def velocities(self, links: Links) -> Array:
        """The unit (nv) of each velocity, but for the time: a length, or 1 for those that turn."""
        found = np.ones(links.nv)
        for link in links.links:
            found[link.columns] = np.where(np.array(link.motion.velocity_units) == "m", self.length, 1.0)
        return found
