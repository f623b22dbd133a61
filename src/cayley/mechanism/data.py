"""Data of a mechanism: its bodies, joints and frames."""

from __future__ import annotations

from dataclasses import dataclass

from cayley.compiler.typing import Array
from cayley.errors import ModelError, shown
from cayley.model.parts import Body, Frame, Joint
from cayley.model.tree import Tree
from cayley.showing import Pictured


@dataclass(frozen=True, eq=False, repr=False)
class Data(Pictured):
    """Data of a mechanism: its bodies, joints and frames."""

    tree: Tree

    def __post_init__(self) -> None:
        if not isinstance(self.tree, Tree):
            raise ModelError(f"a mechanism has a tree, not {shown(self.tree)}: `cy.load` makes one of a name or file, "
                             "`Mechanism.from_dh` and `Mechanism.of` make one of its parts")

    @property
    def name(self) -> str:
        """The name of the mechanism."""
        return self.tree.name

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies, parents first; the first is the root."""
        return self.tree.bodies

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The joints, in the order of their coordinates; body k + 1 is the child of joint k."""
        return self.tree.joints

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The named frames on the bodies."""
        return self.tree.frames

    @property
    def gravity(self) -> Array:
        """The acceleration of free fall (3) in the axes of the root [m/s^2]."""
        return self.tree.gravity

    @property
    def nq(self) -> int:
        """The number of coordinates: one for a revolute or prismatic joint, seven for a floating base."""
        return self.tree.nq

    @property
    def nv(self) -> int:
        """The number of velocities, and of joint torques and forces."""
        return self.tree.nv

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints that move, in the order of their coordinates."""
        return self.tree.joint_names

    @property
    def actuated_joints(self) -> tuple[str, ...]:
        """The joints that have a drive; where nothing was said, all that move but mimic and floating ones."""
        return self.tree.actuated_joints

    @property
    def frame_names(self) -> tuple[str, ...]:
        """The names of all frames; bodies are frames, too."""
        return self.tree.frame_names

    @property
    def neutral(self) -> Array:
        """The configuration (nq) in which every joint is at its zero, whatever its limits: the zero of the
        configuration space, as Pinocchio's `neutral`. `configurations.neutral_within_limits` is within them."""
        return self.tree.neutral

    @property
    def lower(self) -> Array:
        """The lower limits of the coordinates (nq) [rad, m]."""
        return self.tree.lower

    @property
    def upper(self) -> Array:
        """The upper limits of the coordinates (nq) [rad, m]."""
        return self.tree.upper

    def __getstate__(self) -> dict[str, Tree]:
        """Pickled data: the tree alone. Kernels are made anew where it arrives; their code comes from the cache."""
        return {"tree": self.tree}

    def __repr__(self) -> str:
        return repr(self.tree)

    def _repr_html_(self) -> str:
        from cayley.model.report import report
        tables = "".join(table._repr_html_() for table in report(self.tree).tables)
        return f"{super()._repr_html_()}<details><summary>parts</summary>{tables}</details>"
