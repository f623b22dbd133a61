"""The slider-crank: a crank, a rod, and a slider on a line that may pass beside the crank's pivot.

    r, L, e     lengths of crank and rod, height of the line above the pivot
    theta       angle of the crank;   gamma   of the rod, from the slider to the crank's end;   x   place of the slider
    r sin(theta) = e + L sin(gamma),   x = r cos(theta) - L cos(gamma)
The first mode has the slider beyond the crank's end (cos(gamma) < 0), the second before it. They meet where the rod
stands upright. The slider's dead centres are where crank and rod are in line. Source: Ruggiu 4.3.1.

A crank whose pin slides in a straight slot of a lever: the four-bar whose coupler and one link are infinitely long.

    crank of length r about its pivot; the slot is at right angles to the lever's direction e(angle), at the distance p
    from the lever's pivot:   (pin - pivot of the lever) . e(angle) = p
With the lever as the output and p = 0 it is the crank and slotted lever of quick-return machines (shapers). The input's
pivot is at (0, 0), the output's at (d, 0). Source: the limits k2 = 0 and k3 = 0 of Ruggiu (4.60)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ModelError, UnreachableError
from cayley.machines.arguments import DOWN, Masses, check_masses, compiled, mass_of, names_of, place, rod
from cayley.machines.parallel.legs import check_lengths, crank_angles, root_of_reach
from cayley.model.joint_kinds import Prismatic, Revolute
from cayley.model.parts import Body, Frame, Joint, Loop
from cayley.model.tree import Tree


@dataclass(frozen=True)
class SliderCrank:
    """A slider-crank by its lengths [m].

    >>> machine = SliderCrank(crank=0.1, rod=0.35)
    >>> machine.position(np.radians(50.0))[0].round(6)
    array([2.920937, 0.405793])
    """

    crank: float
    rod: float
    offset: float = 0.0

    def __post_init__(self) -> None:
        check_lengths("slider-crank", crank=np.array(self.crank), rod=np.array(self.rod))
        if abs(self.offset) > self.crank + self.rod:
            raise UnreachableError(
                f"the slider's line is {abs(self.offset):.6g} m from the pivot, and crank and rod together "
                f"are {self.crank + self.rod:.6g} m long")

    @compiled("()->(2,2)", explain="_explain_unreachable")
    def position(self, theta: Scalar) -> Array:
        """`position(theta)`: gamma and x (..., 2, 2) in both modes, by the crank's angle; NaN where it cannot stand."""
        height = self.crank * np.sin(theta) - self.offset
        along = root_of_reach((self.rod - height) * (self.rod + height), (self.crank + self.rod)**2)
        x = self.crank * np.cos(theta)
        return np.array([[np.arctan2(height, -along), x + along], [np.arctan2(height, along), x - along]])

    @compiled("()->(2,2)", explain="_explain_too_far")
    def crank_position(self, x: Scalar) -> Array:
        """`crank_position(x)`: theta and gamma (..., 2, 2) of both ways to hold the slider at x, by the crank's side;
        NaN, and for one place an error, where the slider cannot be."""
        found = []
        for theta in crank_angles(x, self.offset, self.crank, self.rod):
            end = np.array([self.crank * np.cos(theta) - x, self.crank * np.sin(theta) - self.offset])
            found.append([theta, np.arctan2(end[1], end[0])])
        return np.array(found)

    @compiled("(),()->(2)")
    def rates(self, theta: Scalar, gamma: Scalar) -> Array:
        """`rates(theta, gamma)`: rates (..., 2) of gamma and x for a unit rate of the crank; without bound where the
        rod is upright."""
        return np.array([self.crank * np.cos(theta) / (self.rod * np.cos(gamma)),
                         self.crank * np.sin(gamma - theta) / np.cos(gamma)])

    def tree(self, *, masses: Masses | None = None, gravity: ArrayLike = DOWN, base: Array | None = None,
             tool: Array | None = None) -> Tree:
        """The machine as a tree with a loop, `cy.Mechanism(machine.tree(...))`, with the joints "crank" (theta), "rod"
        (gamma + pi - theta) and "slider" (x); masses [kg] of "crank", "rod", "slider". The slider moves along the x
        axis of the pose `base`, and `tool` is the pose of that frame on the rod."""
        bodies = [Body("base"), rod("crank", self.crank, masses), rod("rod", self.rod, masses),
                  Body("slider", mass_of("slider", masses))]
        check_masses(masses, names_of(bodies))
        foot = place() if base is None else base
        joints = [Joint("crank", "base", "crank", Revolute(), foot),
                  Joint("rod", "crank", "rod", Revolute(), place(self.crank)),
                  Joint("slider", "base", "slider", Prismatic((1.0, 0.0, 0.0)), foot @ place(0.0, self.offset))]
        frames = [Frame("end of rod", "rod", place(self.rod)), *([] if tool is None else [Frame("tool", "rod", tool)])]
        return Tree.of("slider-crank", bodies, joints, frames=frames, gravity=gravity,
                       loops=[Loop("pin", "end of rod", "slider", Revolute())], actuated=["crank"])

    def configuration(self, theta: ArrayLike, posture: ArrayLike) -> Array:
        """The coordinates (..., 3) of `tree` for a crank angle (...) and gamma and x (..., 2)."""
        crank = np.asarray(theta, dtype=float)
        gamma, x = np.moveaxis(np.asarray(posture, dtype=float), -1, 0)
        return np.stack(np.broadcast_arrays(crank, gamma + np.pi - crank, x), axis=-1)

    def dead_centres(self) -> Array:
        """The crank's angles (2) at which the slider is farthest and nearest in the first mode, crank and rod in line.

        NaN for one that does not exist, as the nearest of a crank that is longer than its rod."""
        with np.errstate(invalid="ignore"):
            far = np.arcsin(self.offset / (self.crank + self.rod))
            near = np.pi + np.arcsin(self.offset / (self.rod - self.crank)) if self.rod > self.crank else np.nan
        return np.array([far, near])

    def _explain_unreachable(self, theta: ArrayLike) -> None:
        height = abs(self.crank * np.sin(float(np.asarray(theta))) - self.offset)
        raise UnreachableError(
            f"the crank cannot stand at {float(np.asarray(theta)):.6g} rad: its end is {height:.6g} m from the "
            f"slider's line, and the rod is {self.rod:.6g} m long")

    def _explain_too_far(self, x: ArrayLike) -> None:
        distance = float(np.hypot(np.asarray(x, dtype=float), self.offset))
        raise UnreachableError(
            f"the slider cannot be at {float(np.asarray(x)):.6g} m: it is {distance:.6g} m from the pivot there, and "
            f"crank and rod reach from {abs(self.crank - self.rod):.6g} m to {self.crank + self.rod:.6g} m")


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
        """The place (...) [m] of the block along the slot, from its point nearest to the lever's pivot."""
        inputs, outputs = np.broadcast_arrays(np.asarray(psi, dtype=float), np.asarray(phi, dtype=float))
        if self.slot_on == "input":
            return self.crank * np.sin(outputs - inputs) - self.ground * np.sin(inputs)
        return self.crank * np.sin(inputs - outputs) + self.ground * np.sin(outputs)

    def configuration(self, psi: ArrayLike, phi: ArrayLike) -> Array:
        """The coordinates (..., 3) of `tree`, in the order of its joints, of angles (...) that close it."""
        block = self.along_slot(psi, phi)
        parts = (psi, block, phi) if self.slot_on == "input" else (psi, phi, block)  # the block is behind its lever
        return np.stack(np.broadcast_arrays(*[np.asarray(part, dtype=float) for part in parts]), axis=-1)
