"""The actuation of a mechanism: whether its actuated joints drive all that its constraints leave free, at closed
configurations that have nothing special about them.

    N      a basis of the velocities that the constraints allow (nv, mobility)
    N_a    its rows of the actuated velocities: their rank is how many motions the drives command
The mechanism is under-actuated if that is less than the mobility: some motions are left while all drives stand still.
Drives beyond the rank are redundant: their forces can work against each other. Source: Ruggiu 4.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cayley.compiler.made_once import kept
from cayley.kinematics.constraints.space import free_with_held
from cayley.kinematics.constraints.structure import constraint_structure, generic_configurations
from cayley.model.tree import Tree

_LISTED = 6  # more joints than these are counted in the words


@dataclass(frozen=True)
class Actuation:
    """The actuation of a mechanism: how many of its free motions the drives command."""

    kind: Literal["fully actuated", "redundantly actuated", "under-actuated"]
    joints: tuple[str, ...]
    """The actuated joints."""
    actuators: int
    """How many velocities they have."""
    mobility: int
    rank: int
    """How many motions the drives command: the mobility, unless it is under-actuated."""
    undriven: tuple[str, ...]
    """The velocities that are left some motion while all drives stand still."""

    @property
    def surplus(self) -> int:
        """How many forces of the drives are free to choose: they do nothing to the motion."""
        return self.actuators - self.rank

    def __str__(self) -> str:
        spare = f", {self.surplus} of {self.actuators} forces free to choose" if self.surplus else ""
        left = f", not driven: {', '.join(self.undriven)}" if self.undriven else ""
        drives = ", ".join(self.joints) or "no joint" if len(self.joints) <= _LISTED else f"{len(self.joints)} joints"
        return f"{self.kind} by {drives}{spare}{left}"


def actuation(tree: Tree) -> Actuation:
    """The actuation, found once for a mechanism; `UnreachableError` if its constraints can not be kept.

    >>> from cayley.model.catalogue import load_robot
    >>> print(actuation(load_robot("four_bar").with_actuated("crank", "rocker")))
    redundantly actuated by crank, rocker, 1 of 2 forces free to choose
    """
    return kept(tree, "actuation", lambda: _actuation(tree))


def _actuation(tree: Tree) -> Actuation:
    structure = constraint_structure(tree)
    places = tree.actuated_velocities
    rank, undriven = max((free_with_held(tree, structure, each.A) for each in generic_configurations(tree)),
                         key=lambda found: found[0])
    kind: Literal["fully actuated", "redundantly actuated", "under-actuated"] = (
        "under-actuated" if rank < structure.mobility else
        "redundantly actuated" if rank < len(places) else "fully actuated")
    return Actuation(kind, tree.actuated_joints, len(places), structure.mobility, rank, undriven)
