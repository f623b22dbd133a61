"""What a mechanism is: its bodies, joints and frames by name, which are those of its tree."""

from __future__ import annotations

from dataclasses import dataclass

from cayley.compiler.typing import Array
from cayley.model.constraint_kinds import Constraint
from cayley.model.parts import Body, Frame, Joint, Loop
from cayley.model.tree import Follower, Tree
from cayley.showing import Pictured


@dataclass(frozen=True, eq=False, repr=False)
class Data(Pictured):
    """What a mechanism is: its bodies, joints and frames by name, which are those of its tree."""

    tree: Tree

    @property
    def name(self) -> str:
        """What it is called."""
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
    def loops(self) -> tuple[Loop, ...]:
        """What closes loops."""
        return self.tree.loops

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """What ties joints together besides loops and mimic joints: rods, couplings."""
        return self.tree.constraints

    @property
    def source(self) -> str:
        """Where the model comes from."""
        return self.tree.source

    @property
    def notes(self) -> tuple[str, ...]:
        """What was found odd when it was read."""
        return tuple(map(str, self.tree.notes))

    @property
    def included(self) -> frozenset[str]:
        """What of the drives is in the dynamics: "armature", "friction", "elastic drives", ...; see `including`."""
        return self.tree.included

    @property
    def nq(self) -> int:
        """The number of coordinates: one for a revolute or prismatic joint, seven for a floating base."""
        return self.tree.nq

    @property
    def nv(self) -> int:
        """The number of velocities, and of joint torques and forces."""
        return self.tree.nv

    @property
    def parents(self) -> tuple[int, ...]:
        """For each joint the number of its parent body."""
        return self.tree.parents

    @property
    def q_slices(self) -> tuple[slice, ...]:
        """Where in q the coordinates of each joint are."""
        return self.tree.q_slices

    @property
    def v_slices(self) -> tuple[slice, ...]:
        """Where among the velocities those of each joint are."""
        return self.tree.v_slices

    @property
    def mimic_joints(self) -> dict[int, Follower]:
        """By number, the mimic joints, those that follow another."""
        return self.tree.mimic_joints

    @property
    def motors(self) -> dict[int, int]:
        """By the numbers of joints, those of the joints that are their motors, where drives are included as parts."""
        return self.tree.motors

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints that move, in the order of their coordinates."""
        return self.tree.joint_names

    @property
    def actuated_joints(self) -> tuple[str, ...]:
        """The joints that have a drive; where nothing was said, all that move but mimic and floating ones."""
        return self.tree.actuated_joints

    @property
    def body_names(self) -> tuple[str, ...]:
        """The bodies, parents first; the first is the root.

        >>> cy.load("planar2r").body_names
        ('base', 'link1', 'link2')
        """
        return self.tree.body_names

    @property
    def frame_names(self) -> tuple[str, ...]:
        """All that can be named as a frame: the frames, and the bodies."""
        return self.tree.frame_names

    @property
    def neutral(self) -> Array:
        """The configuration (nq) in which every joint is at its zero, whatever its limits: the zero of the
        configuration space, as Pinocchio's `neutral`. One that the robot can take is `neutral_within_limits`."""
        return self.tree.neutral

    @property
    def lower(self) -> Array:
        """The lower limits of the coordinates (nq) [rad, m]."""
        return self.tree.lower

    @property
    def upper(self) -> Array:
        """The upper limits of the coordinates (nq) [rad, m]."""
        return self.tree.upper

    def body_number(self, name: str) -> int:
        """The place of a body in `bodies`, by its name."""
        return self.tree.body_number(name)

    def joint_number(self, name: str) -> int:
        """The place of a joint in `joints`, by its name."""
        return self.tree.joint_number(name)

    def frame(self, name: str) -> Frame:
        """A frame by name; every body answers to its name as well."""
        return self.tree.frame(name)

    def path(self, body: int) -> tuple[int, ...]:
        """The numbers of the joints from the root to a body, outwards."""
        return self.tree.path(body)

    def __getstate__(self) -> dict[str, Tree]:
        """What is pickled: the data. Kernels are made anew where it arrives, and their code comes from the cache."""
        return {"tree": self.tree}

    def __repr__(self) -> str:
        return repr(self.tree)

    def _repr_html_(self) -> str:
        from cayley.model.report import report
        tables = "".join(table._repr_html_() for table in report(self.tree).tables)
        return f"{super()._repr_html_()}<details><summary>parts</summary>{tables}</details>"
