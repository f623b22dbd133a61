"""A crank whose pin slides in a straight slot of a lever: the four-bar whose coupler and one link are infinitely long.

    crank of length r about its pivot; the slot is at right angles to the lever's direction e(angle), at the distance p
    from the lever's pivot:   (pin - pivot of the lever) . e(angle) = p
With the lever as the output and p = 0 it is the crank and slotted lever of quick-return machines (shapers). The input's
pivot is at (0, 0), the output's at (d, 0). Source: the limits k2 = 0 and k3 = 0 of Ruggiu (4.60).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ModelError, UnreachableError
from cayley.machines.linkages.trees import DOWN
from cayley.machines.parallel.two_bar_leg import check_lengths
from cayley.machines.rods import Masses, check_masses, mass_of, names_of, place, rod
from cayley.model.joint_kinds import Prismatic, Revolute
from cayley.model.parts import Body, Frame, Joint, Loop
from cayley.model.tree import Tree


@dataclass(frozen=True)
class SlottedLever:
    """A crank and a slotted lever by their lengths [m]; `slot_on` says which of input and output is the lever.

    >>> shaper = SlottedLever(crank=0.1, ground=0.2)
    >>> np.degrees(shaper.configuration(np.pi / 3, np.radians(30.0)))[:2].round(6)
    array([60., 30.])
    """

    crank: float
    ground: float
    offset: float = 0.0
    slot_on: Literal["input", "output"] = "output"

    def __post_init__(self) -> None:
        check_lengths("slotted lever", crank=np.array(self.crank), ground=np.array(self.ground))
        if self.slot_on not in ("input", "output"):
            raise ModelError(f'the slot is on the "input" or on the "output", not on {self.slot_on!r}')
        if abs(self.offset) >= self.crank + self.ground:
            raise UnreachableError(
                f"the slot passes the lever's pivot at {abs(self.offset):.6g} m, and the pin of the crank comes no "
                f"farther from it than {self.crank + self.ground:.6g} m")

    def tree(self, *, masses: Masses | None = None, gravity: ArrayLike = DOWN) -> Tree:
        """The machine as a tree with a loop, `cy.Mechanism(lever.tree(...))`; joints "input" (psi), "output" (phi),
        "block" (along the slot); masses [kg] of "crank", "lever", "block"."""
        crank = "output" if self.slot_on == "input" else "input"
        bodies = [Body("base"), rod("crank", self.crank, masses), Body("lever", mass_of("lever", masses)),
                  Body("block", mass_of("block", masses))]
        check_masses(masses, names_of(bodies))
        at = {"input": 0.0, "output": self.ground}
        joints = [Joint(crank, "base", "crank", Revolute(), place(at[crank])),
                  Joint(self.slot_on, "base", "lever", Revolute(), place(at[self.slot_on])),
                  Joint("block", "lever", "block", Prismatic((0.0, 1.0, 0.0)), place(self.offset))]
        joints.sort(key=lambda joint: joint.name != "input")
        return Tree.of("slotted lever", bodies, joints, frames=[Frame("pin", "crank", place(self.crank))],
                       gravity=gravity, loops=[Loop("pin", "pin", "block", Revolute())], actuated=["input"])

    def along_slot(self, psi: ArrayLike, phi: ArrayLike) -> Array:
        """How far (...) [m] the block is along the slot, from its point nearest to the lever's pivot."""
        inputs, outputs = np.broadcast_arrays(np.asarray(psi, dtype=float), np.asarray(phi, dtype=float))
        if self.slot_on == "input":
            return self.crank * np.sin(outputs - inputs) - self.ground * np.sin(inputs)
        return self.crank * np.sin(inputs - outputs) + self.ground * np.sin(outputs)

    def configuration(self, psi: ArrayLike, phi: ArrayLike) -> Array:
        """The coordinates (..., 3) of `tree`, in the order of its joints, of angles (...) that close it."""
        block = self.along_slot(psi, phi)
        parts = (psi, block, phi) if self.slot_on == "input" else (psi, phi, block)  # the block is behind its lever
        return np.stack(np.broadcast_arrays(*[np.asarray(part, dtype=float) for part in parts]), axis=-1)
