"""`Mechanism`: the one object that a user has of a robot. The data are the tree's; the algorithms come from the layers
below.

What is computed for a named frame is a family of kernels: `arm.jacobian(q, "tool", axes="world")` broadcasts over
leading axes of its arrays, and `arm.jacobian.of("tool", axes="world")` is the kernel itself, with its counts,
equations, derivatives and C.

A method imports what it needs when it is first called, so that whoever reads a robot waits for nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, overload

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.kernel_family import family
from cayley.compiler.made_once import kept, made_once
from cayley.compiler.typing import Array, ArrayLike, FrameName
from cayley.errors import TraceError, UnreachableError, UnsupportedError
from cayley.kinematics.frame_kernels import frame_kernel, pose_matrix
from cayley.model import configurations
from cayley.model.carried_wheels import CarriedWheel
from cayley.model.catalogue import catalogue_names, load_robot
from cayley.model.constraint_kinds import Constraint
from cayley.model.formats import format_of, format_to_write
from cayley.model.parts import Body, Frame, Friction, Joint, Loop
from cayley.model.spring_kinds import Spring
from cayley.model.tree import GRAVITY, Follower, Tree
from cayley.model.winding import Winding
from cayley.showing import Pictured, Player, maker
from cayley.wording import did_you_mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cayley.control.arm_control import ArmControl
    from cayley.control.tracking import Reference, Weights
    from cayley.drawing.played import MotionLike
    from cayley.drawing.sampling import JointLimits
    from cayley.drawing.workspaces import Workspace
    from cayley.dynamics.approximate import DynamicsTable
    from cayley.dynamics.elastic_drives import ReductionError
    from cayley.dynamics.elastic_joints import MotorMotion
    from cayley.dynamics.equations import EquationsOfMotion
    from cayley.dynamics.equations.closed_mechanisms import Formulation
    from cayley.dynamics.euler_lagrange import EulerLagrange
    from cayley.dynamics.force_parts import BiasCoefficients, BiasParts, InertiaParts
    from cayley.dynamics.forward.decoupled_inertia import DecoupledModel
    from cayley.dynamics.forward.kernels import ForwardDynamics
    from cayley.dynamics.forward.singular_inertia import InertiaRegularity
    from cayley.dynamics.generation.model import GeneratedModel
    from cayley.dynamics.identification import LinearModel
    from cayley.dynamics.identification.force_sensitivity import ForceSensitivity
    from cayley.dynamics.inertia_matrix.kinematic_constraints import OrthogonalComplement
    from cayley.dynamics.inertia_matrix.unit_accelerations import CompositeBodies, GeneralizedLinks
    from cayley.dynamics.inverse.augmented_chain import AugmentedChain
    from cayley.dynamics.inverse.body_screws import BodyScrews
    from cayley.dynamics.inverse.compare import Comparison
    from cayley.dynamics.inverse.kernels import InverseDynamics
    from cayley.dynamics.inverse.reactions import Reactions
    from cayley.dynamics.kane_equations import KaneEquations
    from cayley.dynamics.linearised.identified_discrete_model import IdentifiedCoefficients
    from cayley.dynamics.linearised.kernels import ForwardDerivatives, Linearize
    from cayley.dynamics.linearised.partials import PartialDerivatives
    from cayley.dynamics.minimal_dynamics import MinimalDynamics
    from cayley.dynamics.nonholonomic.accessibility import Accessibility
    from cayley.dynamics.nonholonomic.integrable_part import LevelFunctions
    from cayley.dynamics.rigid_links.methods import KernelWithMethods
    from cayley.dynamics.state_kernels import BiasForces
    from cayley.dynamics.switched_constraints import Switch
    from cayley.dynamics.vector_parameter_model import VectorParameterModel
    from cayley.kinematics.actuation import Actuation
    from cayley.kinematics.actuation_singularity import ActuationSingularity
    from cayley.kinematics.assembly_modes import AssemblyModes
    from cayley.kinematics.closing import Closure
    from cayley.kinematics.constraint_structure import ConfigurationSingularity, ConstraintStructure
    from cayley.kinematics.constraints import RowName
    from cayley.kinematics.dead_centres import DeadCentres
    from cayley.kinematics.following_inputs import InputPath
    from cayley.kinematics.formed_jacobian import By
    from cayley.kinematics.indices import Indices
    from cayley.kinematics.input_output import InputOutput
    from cayley.kinematics.inverse import InverseKinematicsResult
    from cayley.kinematics.inverse.analytic import AllSolutions
    from cayley.kinematics.link_motion import LinkMotion
    from cayley.kinematics.singular_loci import SingularLocus
    from cayley.kinematics.singularities import Singularity
    from cayley.mechanisms.rolling.slipping import SlipCheck
    from cayley.mechanisms.workspace_maps import WorkspaceMap
    from cayley.model.denavit_hartenberg.conversion import About
    from cayley.model.denavit_hartenberg.table import Convention, DHRow, DHTable
    from cayley.model.report import Report
    from cayley.scale.points import Points
    from cayley.scale.reductions import Reduction
    from cayley.scale.sweeping import Swept
    from cayley.scale.tasks import Workers
    from cayley.shapes import Shapes
    from cayley.simulation import Event, Rollout, Trajectory
    from cayley.simulation.controllers import Controller
    from cayley.simulation.forces import BaseMotion, Wrench
    from cayley.simulation.tracking_run import ErrorSources, TrackingRun
    from cayley.systems import System

TaskRows = str | Sequence[bool]


def load(name_or_path: str | os.PathLike[str], *, floating_base: bool = False) -> Mechanism:
    """A robot of the catalogue by its name, or a mechanism from a .urdf, .xml (MJCF) or .toml file.

    With `floating_base` its root moves freely in a body `world`: q begins with position and quaternion (w, x, y, z), qd
    with the twist (v; w) in the root's axes. MJCF says itself what floats, with `<freejoint/>`.

    >>> arm = load("puma560")
    >>> arm.nq
    6
    >>> load("puma560", floating_base=True).nq
    13
    """
    from cayley.model.floating_base import on_floating_base
    file = format_of(name_or_path)
    if floating_base and file is not None and file.floats_by:
        raise UnsupportedError(f"{os.fspath(name_or_path)}: {file.floats_by}")
    tree = load_robot(os.fspath(name_or_path)) if file is None else file.read(Path(name_or_path))
    return Mechanism(on_floating_base(tree) if floating_base else tree)


def catalogue() -> tuple[str, ...]:
    """The names of the robot models that `load` knows: arms, and machines with loops, which are closed at q = 0.

    >>> "panda" in catalogue(), "stewart" in catalogue()
    (True, True)
    """
    return tuple(catalogue_names())


class WantsTreeError(TraceError, AttributeError):
    """A function that takes a tree was given a mechanism."""



@dataclass(frozen=True, eq=False, repr=False)
class Mechanism(Pictured):
    """A mechanism: an immutable tree of bodies and joints, with its kinematics and dynamics as compiled kernels.

    It is made by `load`, `Mechanism.from_dh` or `Mechanism.of`. Its data are those of its `tree`: `name`, `bodies`,
    `joints`, `frames`, `gravity`, `loops`, `source`; its sizes `nq` and `nv`. Every body is a frame by its own name;
    the end effector of the robots here is the frame "tool". Functions of the packages below (`cayley.kinematics`,
    `cayley.simulation`, `cayley.drawing` and so on) take the tree.

    What is computed for a frame is asked with its name, `arm.pose(q, "tool")`; the kernel behind it, with its counts,
    equations, derivatives and C, is `arm.pose.of("tool")`. What is not of a frame is a kernel itself:
    `arm.gravity_forces.c_source()`.

    `q` (..., nq) is the configuration, `qd` (..., nv) the velocity, `qdd` (..., nv) the acceleration. Twists are (v;
    w), wrenches (f; m). `axes` are always named: "world" (the root's), "body" (the frame's own), or a frame. The
    reference point is the frame's origin, or `at` a point: coordinates (..., 3) in the frame, or the name of a frame,
    for the point of the body that is there now.

    >>> arm = load("planar2r")
    >>> arm.pose([0.0, 0.0], "tool").shape, arm.jacobian(np.zeros((10, 2)), "tool", axes="world").shape
    ((4, 4), (10, 6, 2))
    """

    tree: Tree

    @staticmethod
    def of(name: str, bodies: Iterable[Body], joints: Iterable[Joint], *, frames: Iterable[Frame] = (),
           gravity: ArrayLike = GRAVITY, loops: Iterable[Loop] = (), constraints: Iterable[Constraint] = (),
           wheels: Iterable[CarriedWheel] = (), actuated: Iterable[str] | None = None, source: str = "",
           notes: Iterable[str] = ()) -> Mechanism:
        """A checked mechanism from its parts, in any order; see `cayley.model.tree.Tree.of`. `wheels` bring bodies,
        joints and constraints of their own.

        >>> from cayley.model.joint_kinds import Prismatic
        >>> Mechanism.of("rail", [Body("ground"), Body("cart", 2.0)], [Joint("slide", "ground", "cart", Prismatic())])
        <rail: 2 bodies, 1 joint, nq = 1, nv = 1>
        """
        return Mechanism(Tree.of(name, bodies, joints, frames=frames, gravity=gravity, loops=loops,
                                 constraints=constraints, wheels=wheels, actuated=actuated, source=source, notes=notes))

    @staticmethod
    def from_dh(rows: Iterable[DHRow | Sequence[float | str]] | Array, *, convention: Convention, name: str = "arm",
                base: ArrayLike | None = None, tool: ArrayLike | None = None,
                masses: Sequence[float | None] | None = None, centers: ArrayLike | None = None,
                inertias: ArrayLike | None = None, inertia_about: About = "center", gravity: ArrayLike = GRAVITY,
                base_body: Body | str = "base", frames: Iterable[Frame] = (), source: str = "") -> Mechanism:
        """A serial chain from a Denavit-Hartenberg table; the convention, "standard" or "modified", must be named.

        Rows are `DHRow`, or numbers (theta, d, a, alpha) [rad, m, m, rad] of revolute joints. `base` and `tool` (4, 4)
        are the poses of frame 0 in the root and of the tool in frame n; `masses` (n) [kg], `centers` (n, 3) [m] and
        `inertias` (n, 3, 3) [kg m^2] those of the links in their frames; see
        `model.denavit_hartenberg.conversion.tree_from_dh`.

        >>> Mechanism.from_dh([(0, 0, 1, 0), (0, 0, 1, 0)], convention="standard", name="two links")
        <two links: 3 bodies, 2 joints, nq = 2, nv = 2>
        """
        from cayley.model.denavit_hartenberg.conversion import tree_from_dh
        from cayley.model.denavit_hartenberg.table import DHRow, rows_from_numbers
        listed = list(rows)
        named = [row for row in listed if isinstance(row, DHRow)]
        table = named if len(named) == len(listed) else rows_from_numbers(listed)
        return Mechanism(tree_from_dh(table, convention=convention, name=name, base=base, tool=tool, masses=masses,
                                      centers=centers, inertias=inertias, inertia_about=inertia_about, gravity=gravity,
                                      base_body=base_body, frames=frames, source=source))

    # The data, which are the tree's

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
        return self.tree.notes

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
    def frame_names(self) -> tuple[str, ...]:
        """All that can be named as a frame: the frames, and the bodies."""
        return self.tree.frame_names

    @property
    def neutral(self) -> Array:
        """The configuration (nq) in which every joint is at its zero, whatever its limits."""
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

    # Changes give a new mechanism

    def with_gravity(self, gravity: ArrayLike) -> Mechanism:
        """The same mechanism with another acceleration of free fall (3), in the axes of the root [m/s^2]."""
        return Mechanism(self.tree.with_gravity(gravity))

    def with_frame(self, name: str, body: str, pose: ArrayLike | None = None) -> Mechanism:
        """The same mechanism with one more named frame."""
        return Mechanism(self.tree.with_frame(name, body, pose))

    def with_payload(self, frame: str, mass: float, *, center: ArrayLike = (0.0, 0.0, 0.0),
                     inertia: ArrayLike | None = None, name: str | None = None) -> Mechanism:
        """The same mechanism with a body of `mass` [kg] fixed to a frame, a load or a tool; `center` and `inertia`
        (about it; none of a point load) are in the frame's axes. Its `name`: "payload1" and so on, if none is given.

        >>> load("planar2r").with_payload("tool", 2.0).without_payload()
        <planar2r: 3 bodies, 2 joints, nq = 2, nv = 2>
        """
        return Mechanism(self.tree.with_payload(frame, mass, center=center, inertia=inertia, name=name))

    def without_payload(self, name: str | None = None) -> Mechanism:
        """The same mechanism without a load that was put down, or a tool that was taken off: the only payload, or the
        body of this name, which must be fixed to another and carry nothing."""
        from cayley.model.payloads import without_payload
        return Mechanism(without_payload(self.tree, name))

    def with_joints(self, *joints: Joint) -> Mechanism:
        """The same mechanism with these joints in the places of those of their names: other limits, friction, armature,
        another kind.
        """
        return Mechanism(self.tree.with_joints(*joints))

    def with_mounted(self, other: Mechanism, on: str, pose: ArrayLike | None = None) -> Mechanism:
        """The same mechanism carrying another, whose root is fixed to the frame or body `on`, at a pose (4, 4) in it:
        an arm on a cart, as one mechanism.

        >>> load("two_wheel_robot").with_mounted(load("scara"), "chassis").nq
        11
        """
        from cayley.model.mounting import mounted
        return Mechanism(mounted(self.tree, other.tree, on, pose))

    def with_constraints(self, *constraints: Constraint) -> Mechanism:
        """The same mechanism with these constraints besides its own, or in the places of those of their names."""
        return Mechanism(self.tree.with_more_constraints(*constraints))

    def without_constraints(self, *names: str) -> Mechanism:
        """The same mechanism without the constraints and loops of these names: a brake that is let go, a wheel in the
        air."""
        return Mechanism(self.tree.without_constraints(*names))

    def with_actuated(self, *joints: str) -> Mechanism:
        """The same mechanism with drives in these joints, and in no others."""
        return Mechanism(self.tree.with_actuated(*joints))

    def with_friction(self, joint: str, *, viscous: float = 0.0, coulomb: float = 0.0) -> Mechanism:
        """The same mechanism with another friction in one joint [N m s/rad, N m; N s/m, N]; dynamics have it
        `including("friction")`.
        """
        return Mechanism(self.tree.with_friction(joint, viscous=viscous, coulomb=coulomb))

    def with_drive(self, joint: str, *, stiffness: float | None = None, damping: float = 0.0, gear: float = 1.0,
                   inertia: float = 0.0, mass: float | None = None, center: ArrayLike = (0.0, 0.0, 0.0),
                   tensor: ArrayLike | None = None, carrier: str | None = None, place: ArrayLike | None = None,
                   spring: Spring | None = None, friction: Friction | None = None,
                   winding: Winding | None = None) -> Mechanism:
        """The same mechanism with another drive of one joint, elastic if it has a `stiffness` [N m/rad, N/m] (and a
        `damping`), or a `spring` of any kind in `cayley.model.spring_kinds`; the rest says what the rotor is, see
        `cayley.model.rotor.Rotor`. Dynamics have it `including("elastic drives")`.
        """
        return Mechanism(self.tree.with_drive(joint, stiffness=stiffness, damping=damping, gear=gear, inertia=inertia,
                                              mass=mass, center=center, tensor=tensor, carrier=carrier, place=place,
                                              spring=spring, friction=friction, winding=winding))

    def with_missing_masses(self, mass: float) -> Mechanism:
        """The same mechanism with this mass [kg], at their origins, for the bodies that move and whose mass is unknown:
        0 for dummy links.

        Dynamics refuse such bodies by name rather than guess. A joint that then moves no mass at all has no
        acceleration.

        >>> from cayley.model.joint_kinds import Revolute
        >>> arm = Mechanism.of("arm", [Body("base"), Body("dummy"), Body("link", 2.0, (0.5, 0, 0))],
        ...                    [Joint("a", "base", "dummy", Revolute()),
        ...                     Joint("b", "dummy", "link", Revolute((0.0, 1.0, 0.0)))])
        >>> arm.with_missing_masses(0.0).inertia_matrix([0.0, 0.0])
        array([[0.5, 0. ],
               [0. , 0.5]])
        """
        from cayley.model.masses import with_missing_masses
        return Mechanism(with_missing_masses(self.tree, mass))

    def including(self, *terms: str) -> Mechanism:
        """The same mechanism with parts of its drives in all its dynamics, and no others:

        "armature"                the inertia of rotors behind their gears, of drives that are rigid
        "friction"                that of the joints
        "springs"                 those of the joints, with their motors held at zero
        "elastic drives"          motors that drive joints through springs: q is followed by the motors' angles, and
                                  rotors that are known as bodies have all their inertia forces
        "reduced elastic drives"  the same, with rotors whose energy is that of their own spin
        "geared drives"           rotors of rigid drives, known as bodies, that turn with their joints

        >>> arm = load("planar2r").with_drive("joint1", stiffness=1e3, gear=50.0, inertia=1e-3)
        >>> soft = arm.including("elastic drives")
        >>> soft.joint_names, soft.actuated_joints
        (('joint1', 'joint2', 'joint1 motor'), ('joint2', 'joint1 motor'))
        """
        return Mechanism(self.tree.including(*terms))

    def spanning_tree(self) -> Mechanism:
        """The same mechanism without its constraints: loops are open, mimic joints move on their own."""
        free = self.tree.spanning_tree()
        return self if free is self.tree else Mechanism(free)

    # Tables, files, what is known of it

    def dh_table(self, *, convention: Convention, frame: str | None = None) -> DHTable:
        """The Denavit-Hartenberg table of the chain to a frame ("tool", or the only end); see
        `model.denavit_hartenberg.dh_from_tree`.

        >>> print(load("planar2r").dh_table(convention="standard"))
          i joint         theta [rad]        d [m]        a [m]    alpha [rad]   standard
          1 revolute               q1            0          0.5              0
          2 revolute               q2            0          0.4              0
        """
        from cayley.model.denavit_hartenberg.conversion import dh_from_tree
        return dh_from_tree(self.tree, convention=convention, frame=frame).table

    def save(self, path: str | os.PathLike[str], *, leave_out: bool = False) -> None:
        """Write a .toml, .urdf or .xml (MJCF) file. What URDF or MJCF cannot hold is an error, or, with `leave_out`, a
        comment in the file. Files hold the mechanism with its drives as data; what is included is said of it again.

        >>> load("planar2r").save("arm.stl")
        Traceback (most recent call last):
        cayley.errors.UnsupportedError: a mechanism is written as .urdf, .xml, .mjcf or .toml, not as '.stl'
        """
        text = format_to_write(path).write(self.tree.without_motors(), leave_out=leave_out)
        Path(path).write_text(text, encoding="utf-8")

    def report(self) -> Report:
        """Bodies, joints, limits, masses, the mobility if there are constraints, and warnings about them.

        It prints as text; `cayley.studio.write_report` makes a page of HTML, with the robot in 3-D.
        """
        from cayley.model.report import report
        if not self.tree.is_constrained:
            return report(self.tree)
        try:
            return report(self.tree, self.mobility, str(self.actuation))
        except UnreachableError as why:
            return report(self.tree, str(why))

    @made_once
    def mobility(self) -> int:
        """The degrees of freedom that loops and mimic joints leave, at configurations that have nothing special about
        them.

        >>> load("panda_hand").nv, load("panda_hand").mobility
        (9, 8)
        """
        from cayley.kinematics.generic_mobility import mobility
        return mobility(self.tree)

    # Configurations

    def random_configuration(self, size: int | tuple[int, ...] = (), *,
                             seed: int | np.random.Generator | None = None) -> Array:
        """Configurations (*size, nq) within the limits; see `cayley.model.configurations`. Of a mechanism with loops,
        rods or couplings closed ones, of any assembly mode; see `cayley.kinematics.random_closed`.

        >>> load("ur5").random_configuration((2, 3), seed=0).shape
        (2, 3, 6)
        """
        if self.loops or self.constraints:
            from cayley.kinematics.random_closed import random_closed_configuration
            return random_closed_configuration(self.tree, size, seed=seed)
        return configurations.random_configuration(self.tree, size, seed=seed)

    def normalized(self, q: ArrayLike) -> Array:
        """The configurations with their quaternions brought to length one."""
        return configurations.normalized(self.tree, q)

    def with_mimic_joints(self, q: ArrayLike) -> Array:
        """The configurations with every joint that follows another (`mimic`) where that one takes it; in q they are
        independent.
        """
        return configurations.with_mimic_joints(self.tree, q)

    def check_configuration(self, q: ArrayLike, *, limits: bool = True) -> None:
        """Raise if `q` (..., nq) is no configuration of the joints of this mechanism, or, with `limits`, outside them.
        Whether its constraints are kept there, `constraint_residual` says."""
        configurations.check_configuration(self.tree, q, limits=limits)

    @made_once
    def integrate(self) -> Kernel:
        """`integrate(q, qd)`: where the constant velocity qd leads from q in unit time."""
        from cayley.kinematics.configuration_kernels import integrate_kernel
        return integrate_kernel(self.tree)

    @made_once
    def difference(self) -> Kernel:
        """`difference(start, end)`: the constant velocity that leads from one configuration to another in unit time."""
        from cayley.kinematics.configuration_kernels import difference_kernel
        return difference_kernel(self.tree)

    # Constraints: loops, rods, couplings and mimic joints

    def close(self, q: ArrayLike, t: ArrayLike | None = None, *, fixed: Sequence[str] | Mapping[str, ArrayLike] = (),
              limits: bool = False) -> Closure:
        """The configurations (..., nq) near `q` in which loops are closed and all other constraints are kept, at the
        time `t` if one of them depends on it, joints that are `fixed` staying where they are; see
        `cayley.kinematics.closing.close`. `status`, `configuration`, `residual`, `branch`, and how many velocities are
        `independent` there.

        >>> closed = load("panda_hand").close(np.full(9, 0.02))
        >>> closed.status, closed.independent
        ('closed', 8)
        """
        from cayley.kinematics.closing import close
        return close(self.tree, q, t, fixed=fixed, limits=limits)

    def follow_inputs(self, inputs: Mapping[str, ArrayLike], *, start: ArrayLike, limits: bool = False) -> InputPath:
        """The closed configurations (..., m, nq) as joints go through samples (..., m), by their names, on the branch
        of `start`, to its end; see `cayley.kinematics.following_inputs.follow_inputs`.

        >>> path = load("slider_crank").follow_inputs({"crank": np.linspace(0.0, 6.0, 100)}, start=np.zeros(3))
        >>> path.status, path.configuration.shape
        ('followed', (100, 3))
        """
        from cayley.kinematics.following_inputs import follow_inputs
        return follow_inputs(self.tree, inputs, start, limits=limits)

    def consistent_velocity(self, q: ArrayLike, qd: ArrayLike, t: float | None = None, *,
                            keep: Sequence[str] = ()) -> Array:
        """The velocities (..., nv) nearest to `qd` that the constraints allow at `q` (..., nq); those of the joints
        named in `keep` are exactly as given, and the others follow. See `cayley.kinematics.closed_states`.

        >>> load("four_bar").consistent_velocity(np.zeros(3), [2.0, 0.0, 0.0], keep=["crank"]).round(6)
        array([ 2.  , -2.  ,  1.25])
        """
        from cayley.kinematics.closed_states import consistent_velocity
        return consistent_velocity(self.tree, q, qd, t, keep=keep)

    def assemblies(self, inputs: Mapping[str, ArrayLike], *, frame: str | None = None, starts: int = 200,
                   limits: bool = False, seed: int = 0) -> AssemblyModes:
        """All closed configurations (m, nq) that searches from many starts find for one set of values of joints, by
        their names, told apart by the pose of a `frame` if one is named; see
        `cayley.kinematics.assembly_modes.assemblies`.

        >>> load("slider_crank").assemblies({"crank": 0.3}).count
        2
        """
        from cayley.kinematics.assembly_modes import assemblies
        return assemblies(self.tree, inputs, frame=frame, starts=starts, limits=limits, seed=seed)

    @made_once
    def constraint_residual(self) -> Kernel:
        """`constraint_residual(q)`: by how much the constraints are open (..., h) [m, rad]; `constraint_rows` names
        them. Where a constraint depends on time, the last argument of this and of all others is t [s].

        >>> load("panda_hand").constraint_residual(np.arange(9.0))
        array([1.])
        """
        from cayley.kinematics.constraints import residual_kernel
        return residual_kernel(self.tree)

    @made_once
    def constraint_rates(self) -> Kernel:
        """`constraint_rates(q, qd)`: the rates (..., h) of `constraint_residual` [m/s, rad/s]: A qd, and what
        prescribed motions add to it.

        >>> load("panda_hand").constraint_rates(np.zeros(9), np.arange(9.0))
        array([1.])
        """
        from cayley.kinematics.constraints import rates_kernel
        return rates_kernel(self.tree)

    @made_once
    def constraint_jacobian(self) -> Kernel:
        """`constraint_jacobian(q)`: A (..., h, nv), with A qd the rate of `constraint_residual`.

        >>> load("panda_hand").constraint_jacobian(np.zeros(9))[:, -2:]
        array([[-1.,  1.]])
        """
        from cayley.kinematics.constraints import jacobian_kernel
        return jacobian_kernel(self.tree)

    @made_once
    def constraint_drift(self) -> Kernel:
        """`constraint_drift(q, qd)`: the rate of `constraint_jacobian`, times qd (..., h): accelerations with A qdd +
        drift = 0 keep the constraints.
        """
        from cayley.kinematics.constraints import drift_kernel
        return drift_kernel(self.tree)

    @property
    def constraint_structure(self) -> ConstraintStructure:
        """Mobility and Gruebler's count, redundant rows by name, and velocities from which the others follow; see
        `cayley.kinematics.constraint_structure`.

        >>> load("panda_hand").constraint_structure.mobility
        8
        """
        from cayley.kinematics.constraint_structure import constraint_structure
        return constraint_structure(self.tree)

    @property
    def accessibility(self) -> Accessibility:
        """Where brackets of the motions that the constraints allow lead: everywhere that constraints on positions
        leave, or how many constraints on velocities are integrable; see `cayley.dynamics.nonholonomic.accessibility`.

        >>> load("four_bar").accessibility.growth
        (1,)
        """
        from cayley.dynamics.nonholonomic.accessibility import accessibility
        return accessibility(self.tree)

    def level_functions(self, *, degree: int = 2) -> LevelFunctions:
        """What every motion keeps: functions of the coordinates that the constraints integrate to, among sums of
        products of coordinates, their sines and cosines; see `cayley.dynamics.nonholonomic.level_functions`.

        >>> [str(h) for h in load("two_wheel_robot").level_functions(degree=1).functions]
        ['base.angle + 0.25*left - 0.25*right']
        """
        from cayley.dynamics.nonholonomic.integrable_part import level_functions_of
        return level_functions_of(self.tree, degree=degree)

    @property
    def actuation(self) -> Actuation:
        """Whether the actuated joints are as many as it takes: fully, redundantly or under-actuated, and what they do
        not drive; see `cayley.kinematics.actuation`.

        >>> print(load("slider_crank").actuation)
        fully actuated by crank
        """
        from cayley.kinematics.actuation import actuation
        return actuation(self.tree)

    def configuration_singularity(self, q: ArrayLike, t: float | None = None, *,
                                  tolerance: float = 1e-7) -> ConfigurationSingularity:
        """Whether closed configurations (..., nq) are dead centres, which joints are stopped there, or bifurcations;
        see `cayley.kinematics.constraint_structure`.

        >>> load("four_bar").configuration_singularity([0.0, 0.0, 0.0]).kind
        'regular'
        """
        from cayley.kinematics.constraint_structure import configuration_singularity
        return configuration_singularity(self.tree, q, t, tolerance=tolerance)

    def dead_centres(self, q: ArrayLike, *, held: Sequence[str] = ()) -> DeadCentres:
        """All dead centres that a mechanism of one degree of freedom, or with joints `held`, passes from a closed
        configuration (nq) on; see `cayley.kinematics.dead_centres`.

        >>> load("slider_crank").dead_centres([0.0, 0.0, 0.0]).stopped
        (('slider',), ('slider',))
        """
        from cayley.kinematics.dead_centres import dead_centres
        return dead_centres(self.tree, q, held=held)

    @made_once
    def constraint_forces(self) -> KernelWithMethods:
        """`constraint_forces(q, qd, tau)`: the forces (..., h) of the rows of the constraints [N, N m]; A^T forces is
        what they do to the joints. Of a loop they act on the second frame's body, and against them on the first's. NaN
        where redundant rows could do the same, so that the motion does not tell. `.using(formulation)`.
        """
        from cayley.dynamics.forward.constrained import constraint_forces_kernel
        return constraint_forces_kernel(self.tree)

    @made_once
    def needed_friction(self) -> Kernel:
        """`needed_friction(q, qd, tau)`: how much friction (..., contacts) it takes to roll, of each wheel, disc and
        ball, in the order of `constraints`: the force along the ground by that across it. Where it is more than the
        coefficient of friction the wheel would slip; infinite where it would have to pull; NaN where the motion does
        not tell, as of two wheels on one axle: see `slip_check`.
        """
        from cayley.dynamics.forward.needed_friction import needed_friction_kernel
        return needed_friction_kernel(self.tree)

    def slip_check(self, run: Trajectory, friction: float) -> SlipCheck:
        """Whether the wheels, discs and balls of a run could roll with a coefficient of friction, and when they first
        could not; see `cayley.mechanisms.slip_check`."""
        from cayley.mechanisms import slip_check
        return slip_check(self.tree, run.t, run.q, run.qd, np.zeros_like(run.qd) if run.tau is None else run.tau,
                          friction)

    @property
    def constraint_rows(self) -> tuple[RowName, ...]:
        """The rows of the constraints: the name of each one's loop, rod, coupling or mimic joint, and what it holds.

        >>> load("panda_hand").constraint_rows
        (RowName(constraint='mimic panda_finger_joint2', holds='coordinates'),)
        """
        from cayley.kinematics.constraints import row_names
        return row_names(self.tree)

    # From actuated joints to the motion of a frame, and back

    @family("q", given=["at"])
    def actuated_jacobian(self, frame: str, *, axes: str | None = None,
                          at: ArrayLike | FrameName | None = None) -> Kernel:
        """`actuated_jacobian(q, frame, axes=..., at=None)`: the twist of a frame by the velocities of the actuated
        joints, (..., 6, m), all constraints kept; see `cayley.kinematics.actuated_motion`.

        >>> load("four_bar").actuated_jacobian([0.0, 0.0, 0.0], "rocker", axes="world")[5].round(6)
        array([0.625])
        """
        from cayley.kinematics.actuated_motion import actuated_jacobian_kernel
        return actuated_jacobian_kernel(self.tree, frame, axes=axes, at=at)

    @made_once
    def actuated_motion(self) -> Kernel:
        """`actuated_motion(q, rates)`: the velocities (..., nv) of all joints that follow from those (..., m) of the
        actuated ones.

        >>> load("four_bar").actuated_motion([0.0, 0.0, 0.0], [1.6]).round(6)
        array([ 1.6, -1.6,  1. ])
        """
        from cayley.kinematics.actuated_motion import actuated_motion_kernel
        return actuated_motion_kernel(self.tree)

    @made_once
    def actuated_acceleration(self) -> Kernel:
        """`actuated_acceleration(q, rates, accelerations)`: the accelerations (..., nv) of all joints that follow from
        the velocities and accelerations (..., m) of the actuated ones.

        >>> load("four_bar").actuated_acceleration([0.0, 0.0, 0.0], [0.0], [1.6]).round(6)
        array([ 1.6, -1.6,  1. ])
        """
        from cayley.kinematics.actuated_motion import actuated_acceleration_kernel
        return actuated_acceleration_kernel(self.tree)

    def input_output(self, q: ArrayLike, frame: str, *, task: TaskRows, axes: str) -> InputOutput:
        """Jx and Jq of Jx xd = Jq qd_a between the motion of a frame and the actuated joints, with rates and forces
        both ways; see `cayley.kinematics.input_output`.

        >>> both = load("four_bar").input_output([0.0, 0.0, 0.0], "rocker", task=(0, 0, 0, 0, 0, 1), axes="world")
        >>> both.motion([1.6]).round(6), both.rates([1.0]).round(6), both.forces([1.6]).round(6)
        (array([1.]), array([1.6]), array([1.]))
        """
        from cayley.kinematics.input_output import input_output
        return input_output(self.tree, q, frame, task=task, axes=axes)

    def actuation_singularity(self, q: ArrayLike, frame: str, *, task: TaskRows, axes: str,
                              characteristic_length: float = 1.0, tolerance: float = 1e-7) -> ActuationSingularity:
        """Whether one closed configuration (nq) is an inverse, direct or constraint singularity, with the motions that
        a frame loses and gains; see `cayley.kinematics.actuation_singularity`.

        >>> load("four_bar").actuation_singularity([0.0, 0.0, 0.0], "tool", task="position", axes="world").kind
        'regular'
        """
        from cayley.kinematics.actuation_singularity import actuation_singularity
        return actuation_singularity(self.tree, q, frame, task=task, axes=axes,
                                     characteristic_length=characteristic_length, tolerance=tolerance)

    # Positions

    @family("q")
    def pose(self, frame: str, *, relative_to: str = "world") -> Kernel:
        """`pose(q, frame, relative_to="world")`: forward kinematics, the pose (..., 4, 4) of a frame in the root's
        frame, or in another.

        >>> load("planar2r").pose([0.0, np.pi / 2], "tool")[:3, 3].round(12)
        array([0.5, 0.4, 0. ])
        """
        return frame_kernel(self.tree, pose_matrix, "(q)->(4,4)", frame, relative_to=relative_to)

    @family("q", "point")
    def point(self, frame: str, *, relative_to: str = "world") -> Kernel:
        """`point(q, point, frame, relative_to="world")`: where a point (..., 3) of a frame is, seen from another [m].

        >>> load("planar2r").point([0.0, np.pi / 2], [0.1, 0.0, 0.0], "tool").round(12)
        array([0.5, 0.5, 0. ])
        """
        from cayley.kinematics.body_points import point_position
        return frame_kernel(self.tree, point_position, "(q),(3)->(3)", frame, relative_to=relative_to)

    @family("q")
    def coordinates(self, frame: str, *, orientation: str, relative_to: str = "world") -> Kernel:
        """`coordinates(q, frame, orientation="zyx moving")`: position and orientation (..., 6 or 7) of a frame; see
        `kinematics.orientation`.

        `SingularityError` where a vector-parameter is infinite, at half-turns; the kernel's `unchecked` does not look.

        >>> load("planar2r").coordinates([0.0, np.pi / 2], "tool", orientation="rotation vector").round(6)
        array([0.5 , 0.4 , 0. , 0. , 0. , 1.570796])
        """
        from cayley.kinematics import analytic
        from cayley.kinematics.orientation import orientation as orientation_named
        size = 3 + orientation_named(orientation).size
        infinite = orientation == "vector-parameter"  # the others have values everywhere
        check = analytic.check_orientation(self.tree, frame, orientation=orientation,
                                           relative_to=relative_to) if infinite else None
        return frame_kernel(self.tree, analytic.coordinates, f"(q)->({size})", frame, check=check,
                            orientation=orientation,
                            relative_to=relative_to)

    # Velocities and accelerations

    @family("q", "qd", given=["at"])
    def twist(self, frame: str, *, axes: str | None = None, at: ArrayLike | FrameName | None = None) -> Kernel:
        """`twist(q, qd, frame, axes=..., at=None)`: velocity of a point of the frame's body and its angular velocity,
        (..., 6).

        >>> load("planar2r").twist([0.0, 0.0], [1.0, 0.0], "tool", axes="world") + 0.0
        array([0. , 0.9, 0. , 0. , 0. , 1. ])
        """
        from cayley.kinematics import velocity
        return frame_kernel(self.tree, velocity.twist, "(q),(v)->(6)", frame, axes=axes, at=at)

    @family("q", "qd", "qdd", given=["at"])
    def acceleration(self, frame: str, *, axes: str | None = None, at: ArrayLike | FrameName | None = None) -> Kernel:
        """`acceleration(q, qd, qdd, frame, axes=..., at=None)`: true acceleration of a point and angular acceleration,
        (..., 6), no gravity.

        >>> load("planar2r").acceleration([0.0, 0.0], [1.0, 0.0], [0.0, 0.0], "tool", axes="world") + 0.0
        array([-0.9, 0. , 0. , 0. , 0. , 0. ])
        """
        from cayley.kinematics import velocity
        return frame_kernel(self.tree, velocity.acceleration, "(q),(v),(v)->(6)", frame, axes=axes, at=at)

    @family("q", "qd", "qdd")
    def link_motion(self, *, axes: str = "world", relative_to: str = "world") -> Kernel[LinkMotion]:
        """`link_motion(q, qd, qdd, axes="world", relative_to="world")`: of every body, in the order of `bodies`,
        `angular_velocity`, `angular_acceleration` (..., bodies, 3), their `tensor` (..., bodies, 3, 3), and `velocity`
        and `acceleration` (..., bodies, 3) of its origin; no gravity. `relative_to`: the "world", each one's "parent"
        or a frame, as an observer there sees it; see `cayley.kinematics.link_motion`.

        >>> load("planar2r").link_motion([0.0, 0.0], [1.0, 0.5], [0.0, 0.0]).acceleration[:, 0] + 0.0
        array([ 0. ,  0. , -0.5])
        """
        from cayley.kinematics.link_motion import link_motion_kernel
        return link_motion_kernel(self.tree, axes, relative_to)

    @family("q", "qd", "qdd", given=["at"])
    def point_motion(self, frame: str, *, axes: str | None = None, at: ArrayLike | FrameName | None = None,
                     relative_to: str = "world") -> Kernel[LinkMotion]:
        """`point_motion(q, qd, qdd, frame, axes=..., at=None, relative_to="world")`: the same of one frame's body and
        any point of it, (..., 3).

        >>> arm = load("planar2r")
        >>> arm.point_motion([0.0, 0.0], [1.0, 0.5], [0.0, 0.0], "tool", axes="world", relative_to="link1").velocity
        array([0. , 0.2, 0. ])
        """
        from cayley.kinematics.link_motion import point_motion_kernel
        return point_motion_kernel(self.tree, frame, axes, at, relative_to)

    # Jacobians

    @family("q", given=["at"])
    def jacobian(self, frame: str, *, axes: str | None = None, at: ArrayLike | FrameName | None = None,
                 relative_to: str = "world") -> Kernel:
        """`jacobian(q, frame, axes=..., at=None, relative_to="world")`: the geometric Jacobian, the twist by the
        velocities, (..., 6, nv).

        >>> load("planar2r").jacobian([0.0, 0.0], "tool", axes="world")[1]
        array([0.9, 0.4])
        """
        from cayley.kinematics import general_jacobian
        return frame_kernel(self.tree, general_jacobian.general_jacobian, "(q)->(6,v)", frame, axes=axes, at=at,
                            relative_to=relative_to)

    @family("q")
    def formed_jacobian(self, frame: str, *, formed_in: str, referred_to: str, by: By = "matrices") -> Kernel:
        """`formed_jacobian(q, frame, formed_in=..., referred_to=..., by="matrices")`: the Jacobian (..., 6, nv) formed
        at the origin of one frame and referred to the axes of another, "world", "body" (the frame itself) or a name;
        by rotation matrices, or by "vector-parameters". See `cayley.kinematics.formed_jacobian`.

        >>> arm = load("planar2r")
        >>> middle = arm.formed_jacobian([0.3, 0.7], "tool", formed_in="link2", referred_to="link2")
        >>> np.allclose(middle, arm.jacobian([0.3, 0.7], "tool", axes="link2", at="link2"))
        True
        """
        from cayley.kinematics.formed_jacobian import formed_jacobian
        return frame_kernel(self.tree, formed_jacobian, "(q)->(6,v)", frame, formed_in=formed_in,
                            referred_to=referred_to, by=by)

    @family("q", "qd", given=["at"])
    def jacobian_rate(self, frame: str, *, axes: str | None = None, at: ArrayLike | FrameName | None = None,
                      relative_to: str = "world") -> Kernel:
        """`jacobian_rate(q, qd, frame, axes=..., at=None, relative_to="world")`: the time derivative of `jacobian`,
        (..., 6, nv).

        >>> load("planar2r").jacobian_rate([0.0, 0.0], [1.0, 0.0], "tool", axes="world")[0]
        array([-0.9, -0.4])
        """
        from cayley.kinematics import general_jacobian
        return frame_kernel(self.tree, general_jacobian.jacobian_rate, "(q),(v)->(6,v)", frame, axes=axes, at=at,
                            relative_to=relative_to)

    @family("q", given=["at"])
    def hessian(self, frame: str, *, axes: str | None = None, at: ArrayLike | FrameName | None = None,
                relative_to: str = "world") -> Kernel:
        """`hessian(q, frame, axes=..., at=None, relative_to="world")`: changes of `jacobian` by unit velocities, (...,
        6, nv, nv).

        >>> load("planar2r").hessian([0.0, 0.0], "tool", axes="world")[0]
        array([[-0.9, -0.4],
               [-0.4, -0.4]])
        """
        from cayley.kinematics import general_jacobian
        return frame_kernel(self.tree, general_jacobian.hessian, "(q)->(6,v,v)", frame, axes=axes, at=at,
                            relative_to=relative_to)

    @family("q")
    def analytic_jacobian(self, frame: str, *, orientation: str, relative_to: str = "world") -> Kernel:
        """`analytic_jacobian(q, frame, orientation="zyx moving")`: the rates of `coordinates` by the velocities, (...,
        6 or 7, nv).

        `SingularityError` where the parameters of the orientation are singular; the kernel's `unchecked` does not look.

        >>> load("planar2r").analytic_jacobian([0.0, 0.0], "tool", orientation="quaternion")[6]
        array([0.5, 0.5])
        """
        from cayley.kinematics import analytic
        from cayley.kinematics.orientation import orientation as orientation_named
        check = analytic.check_orientation(self.tree, frame, orientation=orientation, relative_to=relative_to)
        return frame_kernel(self.tree, analytic.analytic_jacobian,
                            f"(q)->({3 + orientation_named(orientation).size},v)", frame,
                            check=check, orientation=orientation, relative_to=relative_to)

    # Statics

    @family("q", "wrench", given=["at"])
    def joint_forces_that_exert(self, frame: str, *, axes: str | None = None,
                                at: ArrayLike | FrameName | None = None) -> Kernel:
        """`joint_forces_that_exert(q, wrench, frame, axes=..., at=None)`: the torques J^T wrench (..., nv), at rest and
        without gravity.

        The wrench (..., 6) is what the frame's body exerts on its surroundings; of one that acts ON it, the sign is the
        other. Of a mechanism with loops they are the forces of its actuated joints, zero at the others.

        >>> load("planar2r").joint_forces_that_exert([0.0, 0.0], [0.0, 10.0, 0.0, 0.0, 0.0, 0.0], "tool", axes="world")
        array([9., 4.])
        """
        from cayley.kinematics import actuated_motion
        return frame_kernel(self.tree, actuated_motion.joint_forces_that_exert, "(q),(6)->(v)", frame, axes=axes,
                            at=at)

    @family("q", "wrench", given=["at"])
    def joint_forces_that_resist(self, frame: str, *, axes: str | None = None,
                                 at: ArrayLike | FrameName | None = None) -> Kernel:
        """`joint_forces_that_resist(q, wrench, frame, axes=..., at=None)`: -J^T wrench (..., nv), against a wrench ON
        the frame's body.

        >>> load("planar2r").joint_forces_that_resist([0.0, 0.0], [0.0, -10.0, 0.0, 0.0, 0.0, 0.0], "tool",
        ...                                           axes="world")
        array([9., 4.])
        """
        from cayley.kinematics import actuated_motion
        return frame_kernel(self.tree, actuated_motion.joint_forces_that_resist, "(q),(6)->(v)", frame, axes=axes,
                            at=at)

    # How good a configuration is. Tasks are "pose", "position", "orientation", or six truth values (x, y, z; x, y, z)
    # along the axes

    @family("q")
    def manipulability(self, frame: str, *, task: TaskRows, axes: str | None = None,
                       characteristic_length: float | None = None) -> Kernel:
        """`manipulability(q, frame, task=..., axes=...)`: sqrt(det(J J^T)) (...) of the task's Jacobian; see
        `kinematics.indices`.

        >>> plane = (True, True, False, False, False, False)
        >>> load("planar2r").manipulability([0.3, np.pi / 2], "tool", task=plane, axes="world").round(12)
        np.float64(0.2)
        """
        from cayley.kinematics.indices import manipulability
        self._task_shape(frame, task, characteristic_length)
        return frame_kernel(self.tree, manipulability, "(q)->()", frame, task=task, axes=axes,
                            characteristic_length=characteristic_length)

    @family("q")
    def task_jacobian(self, frame: str, *, task: TaskRows, axes: str | None = None,
                      characteristic_length: float | None = None) -> Kernel:
        """`task_jacobian(q, frame, task=..., axes=...)`: the rows (..., m, n) of a task, by the joints on the way, in
        one unit; by the actuated joints, if loops or mimic joints tie these together.

        Mixed units are refused, unless a characteristic length [m] says how many metres are worth a radian; see
        `kinematics.uniform_units`.

        >>> load("planar2r").task_jacobian([0.0, 0.0], "tool", task="position", axes="world").shape
        (3, 2)
        """
        from cayley.kinematics.uniform_units import uniform_jacobian
        rows, columns = self._task_shape(frame, task, characteristic_length)
        return frame_kernel(self.tree, uniform_jacobian, f"(q)->({rows},{columns})", frame, task=task, axes=axes,
                            characteristic_length=characteristic_length)

    def indices(self, q: ArrayLike, frame: str, *, task: TaskRows, axes: str,
                characteristic_length: float | None = None) -> Indices:
        """Condition number, manipulability, isotropy and the four subspaces (null space, lost directions) of the task's
        Jacobian.

        >>> plane = (True, True, False, False, False, False)
        >>> round(float(load("planar2r").indices([0.3, np.pi / 2], "tool", task=plane, axes="world").condition_number),
        ...       6)
        2.440197
        """
        from cayley.kinematics.indices import indices
        return indices(self.task_jacobian(q, frame, task=task, axes=axes, characteristic_length=characteristic_length))

    def singularity(self, q: ArrayLike, frame: str, *, task: TaskRows, axes: str, tolerance: float = 1e-10,
                    step: float = 1e-3, limits: bool = True,
                    reachable: Callable[[Array], bool] | None = None) -> Singularity:
        """Whether one configuration (nq) is singular for a task, what is lost, and the class; see
        `kinematics.singularities.singularity_at`.

        >>> plane = (True, True, False, False, False, False)
        >>> load("planar2r").singularity([0.3, 0.0], "tool", task=plane, axes="world").kind
        'boundary'
        """
        from cayley.kinematics.singularities import singularity_at
        return singularity_at(self.tree, q, frame, task=task, axes=axes, tolerance=tolerance, step=step, limits=limits,
                              reachable=reachable)

    def singular_locus(self, frame: str, *, limits: bool = True, held: Sequence[str] = (), samples: int = 200,
                       points: int = 181, seed: int = 0) -> SingularLocus:
        """The singular postures of a frame's origin as curves, their image, and of each place whether it is at the
        boundary of the workspace or interior; see `kinematics.singular_loci` and `cayley.drawing.draw_singular_locus`.

        >>> [round(curve.radius, 3) for curve in load("planar3r").singular_locus("tool").curves]
        [2.3, 1.3, 0.7, 0.3]
        """
        from cayley.kinematics.singular_loci import singular_locus
        return singular_locus(self.tree, frame, limits=limits, held=held, samples=samples, points=points, seed=seed)

    # Inverse kinematics

    def inverse_kinematics(self, target: ArrayLike, frame: str, *, start: ArrayLike | None = None,
                           tolerance: float = 1e-10, limits: bool = True, task: TaskRows = "pose", axes: str = "world",
                           restarts: int = 100, iterations: int = 200, seed: int = 0) -> InverseKinematicsResult:
        """Configurations (..., nq) that bring a frame to poses (..., 4, 4), by search from `start` (..., nq), then
        from random ones; see `kinematics.inverse.inverse_kinematics`.

        >>> arm = load("ur5")
        >>> found = arm.inverse_kinematics(arm.pose([0.1, -1.2, 1.0, 0.2, 0.7, 0.0], "tool"), "tool")
        >>> found.status, bool(found.residual < 1e-10)
        ('solved', True)
        """
        from cayley.kinematics.inverse import inverse_kinematics
        return inverse_kinematics(self.tree, target, frame, start=start, tolerance=tolerance, limits=limits, task=task,
                                  axes=axes, restarts=restarts, iterations=iterations, seed=seed)

    def all_inverse_kinematics(self, target: ArrayLike, frame: str, *,
                               reference: ArrayLike | None = None) -> AllSolutions:
        """All configurations (..., m, nq) that bring a frame to poses (..., 4, 4), in closed form; see `AllSolutions`.

        For planar arms of two and three joints, SCARA and Stanford arms, arms with a spherical wrist, and the UR
        family; `UnsupportedError` says why an arm is none of these. `reference` chooses among whole turns, and values
        for free joints.

        >>> arm = load("ur5")
        >>> found = arm.all_inverse_kinematics(arm.pose([0.1, -1.2, 1.0, 0.2, 0.7, 0.0], "tool"), "tool")
        >>> found.status, int(found.count), found.branches[0]
        ('solved', 8, 'shoulder left, wrist up, elbow up')
        """
        from cayley.kinematics.inverse.analytic import all_solutions
        return all_solutions(self.tree, target, frame, reference=reference)

    # Dynamics: functions of the state (q, qd). The drives' rotors and friction take part if `including` says so

    @made_once
    def inverse_dynamics(self) -> InverseDynamics:
        """`inverse_dynamics(q, qd, qdd)`: the joint torques and forces (..., nv) that give the accelerations `qdd`;
        RNEA, by default on base parameters. `.using(method)` is another method, `.with_inputs(...)` has external
        wrenches and a moving base.

        Of an open tree they are those of all joints, whichever are actuated.
        Of a mechanism with constraints they are those of the actuated joints, zero in the others: unique if it is
        fully actuated, of least norm (or `.with_weights(...)`) if redundantly, and if it is under-actuated those of
        motions that it can make. Other states are NaN, and so are dead centres of the drives; a call for one state
        raises `SingularityError` that says why. Accelerations that the constraints do not allow become the nearest
        that they do; see `cayley.dynamics.inverse.constrained`.

        >>> load("s1_f2").inverse_dynamics([0.3, -0.7], [1.1, -0.4], [0.5, 2.0])
        array([15.20009968,  2.87612016])
        """
        from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
        return inverse_dynamics_kernel(self.tree)

    @made_once
    def motor_motion(self) -> Kernel[MotorMotion]:
        """`motor_motion(q, qd, qdd, jerk, snap)`: of an arm with elastic drives, `q`, `qd`, `qdd` with its motors, and
        the forces `tau` of its drives, along a motion (..., n) of its joints that is known up to its fourth derivative;
        by derivatives of the reduced model, in which rotors only spin.

        >>> arm = load("planar2r").with_drive("joint1", stiffness=1e3, gear=50.0, inertia=1e-3)
        >>> needed = arm.including("elastic drives").motor_motion([0.3, -0.7], *np.zeros((4, 2)))
        >>> needed.q.round(4), needed.tau.round(4)
        (array([ 0.3   , -0.7   , 15.7213]), array([0.    , 2.7107, 0.2885]))
        """
        from cayley.dynamics.elastic_joints import motor_motion_kernel
        return motor_motion_kernel(self.tree)

    @made_once
    def forward_dynamics(self) -> ForwardDynamics:
        """`forward_dynamics(q, qd, tau)`: the accelerations (..., nv) that the joint torques and forces `tau` give; by
        way of the mass matrix or articulated bodies (ABA), whichever is cheaper. `.using(method)`, `.with_inputs(...)`.

        A state whose inertia matrix is singular, or not positive definite, has none: by every method they are NaN for
        all joints, and a call for one state raises `SingularityError` that says why. `inertia_regularity` says it of a
        batch.

        >>> load("s1_f2").forward_dynamics([0.3, -0.7], [1.1, -0.4], [15.2000996773, 2.87612015916]).round(9)
        array([0.5, 2. ])
        """
        from cayley.dynamics.forward.kernels import forward_dynamics_kernel
        return forward_dynamics_kernel(self.tree)

    @made_once
    def inertia_matrix(self) -> KernelWithMethods:
        """`inertia_matrix(q)`: the mass matrix M(q) (..., nv, nv); composite bodies (CRBA). `.using(method)`. Of a
        mechanism with constraints that of all coordinates of its tree, M qdd + bias = tau + A^T forces; so are the
        parts of tau below. `minimal_dynamics` has those of independent coordinates.

        >>> load("s1_f2").inertia_matrix([0.3, -0.7]).round(4)
        array([[0.8695, 0.2047],
               [0.2047, 0.09  ]])
        """
        from cayley.dynamics.inertia_matrix.kernels import inertia_matrix_kernel
        return inertia_matrix_kernel(self.tree)

    @made_once
    def inverse_inertia_matrix(self) -> Kernel:
        """`inverse_inertia_matrix(q)`: the inverse of the mass matrix, M^-1 (..., nv, nv). Under constraints what takes
        its place: the accelerations that unit forces add, N (N^T M N)^-1 N^T, of the rank of the mobility.

        >>> load("s1_f2").inverse_inertia_matrix([0.3, -0.7]).round(3)
        array([[ 2.477, -5.634],
               [-5.634, 23.927]])
        """
        from cayley.dynamics.forward.inverse_inertia_matrix import inverse_inertia_matrix_kernel
        return inverse_inertia_matrix_kernel(self.tree)

    def inertia_condition(self, q: ArrayLike) -> Array:
        """The condition number (...) of M, with the scale of each velocity taken out: 1e10 costs ten digits in forward
        dynamics; infinite where a joint moves no mass.

        >>> load("s1_f2").inertia_condition([0.3, -0.7]).round(3)
        np.float64(6.459)
        """
        from cayley.compiler.definite import scaled_condition
        return scaled_condition(self.inertia_matrix(q))

    def inertia_regularity(self, q: ArrayLike) -> InertiaRegularity:
        """Where accelerations follow from forces (...), and why not elsewhere: joints that move no mass, inertias that
        no body has.

        There `forward_dynamics`, by every method, `inverse_inertia_matrix` and `forward_derivatives` of a batch are NaN
        for all joints; for one state they raise `SingularityError` with the reason, unless they are `unchecked`.

        >>> load("s1_f2").inertia_regularity([[0.3, -0.7], [0.0, 0.0]]).regular
        array([ True,  True])
        """
        from cayley.dynamics.forward.singular_inertia import inertia_regularity
        return inertia_regularity(self.tree, q)

    # The parts of tau = M qdd + C qd + G

    @made_once
    def bias_forces(self) -> BiasForces:
        """`bias_forces(q, qd)`: the nonlinear effects C(q, qd) qd + G(q) (..., nv), and friction if it is included:
        what is left of `inverse_dynamics` without acceleration. `.with_inputs(base_motion=True)` for a moving base.

        >>> load("s1_f2").bias_forces([0.3, -0.7], [1.1, -0.4]).round(4)
        array([14.3559,  2.5938])
        """
        from cayley.dynamics.state_kernels import bias_forces_kernel
        return bias_forces_kernel(self.tree)

    @made_once
    def coriolis_matrix(self) -> Kernel:
        """`coriolis_matrix(q, qd)`: C (..., nv, nv) with Christoffel's coefficients: Mdot - 2 C is skew.

        >>> load("s1_f2").coriolis_matrix([0.3, -0.7], [1.1, -0.4]).round(4)
        array([[-0.0387,  0.0676],
               [-0.1063,  0.    ]])
        """
        from cayley.dynamics.state_kernels import coriolis_matrix_kernel
        return coriolis_matrix_kernel(self.tree)

    @made_once
    def gravity_forces(self) -> Kernel:
        """`gravity_forces(q)`: the gravity torques G(q) (..., nv), what holds the mechanism at rest: gravity
        compensation, without springs, which `bias_forces(q, 0)` has. By its actuated joints alone,
        `inverse_dynamics(q, 0, 0)` holds a mechanism with constraints.

        >>> load("s1_f2").gravity_forces([0.3, -0.7]).round(4)
        array([14.4255,  2.7107])
        """
        from cayley.dynamics.state_kernels import gravity_forces_kernel
        return gravity_forces_kernel(self.tree)

    @made_once
    def bias_parts(self) -> Kernel[BiasParts]:
        """`bias_parts(q, qd)`: the forces `centrifugal` (of squares of velocities), `coriolis` (of products of two) and
        `gravity` (..., nv), each by itself. Together they are `bias_forces` without friction and springs, of a
        mechanism with constraints those of all coordinates of its tree.

        >>> parts = load("s2_we19").bias_parts([0.3, 0.7], [0.5, -1.2])
        >>> parts.centrifugal.round(6), parts.coriolis.round(6) + 0.0
        (array([-0.556604,  0.096633]), array([0.463837, 0.      ]))
        """
        from cayley.dynamics.force_parts import bias_parts_kernel
        return bias_parts_kernel(self.tree)

    @made_once
    def bias_coefficients(self) -> Kernel[BiasCoefficients]:
        """`bias_coefficients(q)`: the matrices of these parts: `centrifugal` (..., nv, nv) times qd^2, `coriolis` (...,
        nv, pairs) times the products qd_j qd_k, j < k, row by row, `gravity` (..., nv, 3) times the free fall.

        >>> load("s2_we19").bias_coefficients([0.3, 0.7]).coriolis.round(6) + 0.0
        array([[-0.773061],
               [ 0.      ]])
        """
        from cayley.dynamics.force_parts import bias_coefficients_kernel
        return bias_coefficients_kernel(self.tree)

    @made_once
    def inertia_parts(self) -> Kernel[InertiaParts]:
        """`inertia_parts(q, qdd)`: the inertia forces (..., nv) of each joint by its `own` acceleration, and by
        those of the others, the acceleration `coupling` of the off-diagonal elements of the mass matrix.

        >>> load("s2_we19").inertia_parts([0.3, 0.7], [1.0, 2.0]).coupling.round(6)
        array([1.557811, 0.778905])
        """
        from cayley.dynamics.force_parts import inertia_parts_kernel
        return inertia_parts_kernel(self.tree)

    @made_once
    def augmented_links(self) -> AugmentedChain:
        """The augmented links of an open chain of revolute and prismatic joints, what Algorithm 5.7 computes off-line:
        `constants`, and the same with a load `attached` or `detached` by increments; see
        `cayley.dynamics.inverse.augmented_chain`.

        >>> load("s1_f2").augmented_links.attached("tool", 2.0).mass
        array([5.5, 3.5])
        """
        from cayley.dynamics.inverse.augmented_chain import augmented_chain
        return augmented_chain(self.tree)

    @made_once
    def generalized_links(self) -> Kernel[GeneralizedLinks]:
        """`generalized_links(q)`: `mass`, `first` moment and `inertia` tensor of all that each moving joint carries,
        frozen together (composite bodies): (..., joints), (..., joints, 3), (..., joints, 3, 3), about the origins and
        in the axes of the children.

        >>> load("s1_f2").generalized_links([0.3, -0.7]).mass
        array([3.5, 1.5])
        """
        from cayley.dynamics.inertia_matrix.unit_accelerations import generalized_links_kernel
        return generalized_links_kernel(self.tree)

    @made_once
    def composite_bodies(self) -> Kernel[CompositeBodies]:
        """`composite_bodies(q)`: the same bodies about their centres of mass: `mass`, `center` from the origins of the
        children, and central `inertia`.

        >>> load("s1_f2").composite_bodies([0.3, -0.7]).center.round(6)
        array([[ 0.422701, -0.055219,  0.      ],
               [ 0.2     ,  0.      ,  0.      ]])
        """
        from cayley.dynamics.inertia_matrix.unit_accelerations import composite_bodies_kernel
        return composite_bodies_kernel(self.tree)

    @made_once
    def inverse_dynamics_without_velocities(self) -> Kernel:
        """`inverse_dynamics_without_velocities(q, qdd)`: M qdd + G (..., nv), the historical approximation for slow
        motion: its error falls with the square of the velocity.

        >>> load("s2_we19").inverse_dynamics_without_velocities([0.3, 0.7], [0.0, 0.0]).round(6)
        array([26.609847,  3.180219])
        """
        from cayley.dynamics.approximate import inverse_dynamics_without_velocities_kernel
        return inverse_dynamics_without_velocities_kernel(self.tree)

    def dynamics_table(self, axes: Sequence[ArrayLike], *,
                       configuration: Callable[[Array], ArrayLike] | None = None) -> DynamicsTable:
        """The inertia matrix, velocity coefficients and gravity forces at the points of a grid, for inverse dynamics by
        look-up; `axes` are lists of coordinates, or of what `configuration` makes configurations of (the parameter of a
        path). See `cayley.dynamics.approximate`.

        >>> table = load("s2_we19").dynamics_table([np.linspace(-1, 1, 21)] * 2)
        >>> table.inverse_dynamics([0.3, 0.7], [0.5, -1.2], [1.0, 2.0]).round(6)
        array([31.479367,  4.695757])
        """
        from cayley.dynamics.approximate import table_of
        return table_of(self.tree, axes, configuration=configuration)

    @made_once
    def unit_acceleration_wrenches(self) -> Kernel:
        """`unit_acceleration_wrenches(q)`: for each velocity the wrenches (..., nv, joints, 6), (f; m), in the joints
        that its unit acceleration asks for, from rest and without gravity; at the origins and in the axes of the
        children. Along the joints' directions they are the mass matrix, without the armature of drives; of a mechanism
        with constraints, as that, of all coordinates of its tree.

        >>> load("s1_f2").unit_acceleration_wrenches([0.3, -0.7])[:, :, 5].round(4)
        array([[0.8695, 0.2047],
               [0.2047, 0.09  ]])
        """
        from cayley.dynamics.inertia_matrix.unit_accelerations import unit_acceleration_wrenches_kernel
        return unit_acceleration_wrenches_kernel(self.tree)

    @made_once
    def orthogonal_complement(self) -> Kernel[OrthogonalComplement]:
        """`orthogonal_complement(q)`: `K` (..., 6 N, 6 N), the kinematic constraints K t = 0 of the twists of all N
        links, and `T` (..., 6 N, nv), their natural orthogonal complement, t = T qd; `residual` of K T, and `rank` of
        K. See `cayley.dynamics.inertia_matrix.kinematic_constraints`.

        >>> found = load("puma560").orthogonal_complement(np.zeros(6))
        >>> found.K.shape, found.T.shape, int(found.rank)
        ((36, 36), (36, 6), 30)
        """
        from cayley.dynamics.inertia_matrix.kinematic_constraints import orthogonal_complement_kernel
        return orthogonal_complement_kernel(self.tree)

    def decoupled_dynamics(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *,
                           near: Array | None = None) -> DecoupledModel:
        """The equations at one state in the principal axes of the mass matrix, where it is diagonal: quasi-velocities
        and their rates, each with an inertia of its own; axes that follow those of `near` (nv, nv). See
        `cayley.dynamics.forward.decoupled_inertia`; a law in these axes is `control.decoupled`.

        >>> model = load("s1_f2").decoupled_dynamics([0.3, -0.7], [1.1, -0.4], [15.2000996773, 2.87612015916])
        >>> model.principal.inertias.round(6), model.qdd.round(6)
        (array([0.919953, 0.0395  ]), array([0.5, 2. ]))
        """
        from cayley.dynamics.forward.decoupled_inertia import decoupled_dynamics
        return decoupled_dynamics(self.tree, q, qd, tau, near=near)

    def minimal_dynamics(self, *independent: str) -> MinimalDynamics:
        """The equations in the coordinates of independent joints, which all others follow: mass matrix and bias (...,
        m), and the `motion` of all joints; see `cayley.dynamics.minimal_dynamics`. The actuated joints, if none are
        named and they are as many as it takes.

        >>> bar = load("four_bar").minimal_dynamics("crank")
        >>> bar.motion([0.0, 0.0, 0.0], [1.6], [0.0]).qd.round(6)
        array([ 1.6, -1.6,  1. ])
        """
        from cayley.dynamics.minimal_dynamics import minimal_dynamics
        return kept(self, ("minimal dynamics", independent), lambda: minimal_dynamics(self.tree, independent))

    @made_once
    def joint_reactions(self) -> Reactions:
        """`joint_reactions(q, qd, qdd)`: wrenches (..., joints, 6), (f; m), that parents give to children through the
        moving joints.

        At the origins and in the axes of the children; along a joint's directions they are its forces, less what
        friction, springs and rotors take. `.parts()` are those of the drives and those that the joints hold by their
        shape; `.with_inputs(...)` has external wrenches, a moving base, and the root's axes; `.using(method)`. Of
        a mechanism with constraints, those of loops and rods upon their second frames follow; what does not follow from
        the motion is NaN. `.rows` are the names, `.determined` says which components follow.

        >>> load("s1_f2").joint_reactions([0.3, -0.7], [1.1, -0.4], [0.5, 2.0])[:, 5]
        array([15.20009968,  2.87612016])
        """
        from cayley.dynamics.inverse.reactions import reactions_kernel
        return reactions_kernel(self.tree)

    @made_once
    def body_screws(self) -> BodyScrews:
        """`body_screws(q, qd, qdd)`: of every body of an open chain its `velocity` (v; w), its `momentum` (p; L) and
        the `force` (f; n) that its joint gives it, (..., joints, 6), at its origin, in its axes; and `tau` (..., nv).
        `.with_inputs(wrenches=["tool"])` has wrenches that act on it.

        >>> screws = load("s1_f2").body_screws([0.3, -0.7], [1.1, -0.4], [0.5, 2.0])
        >>> screws.velocity[1].round(6), screws.tau.round(6)
        (array([-0.35432 ,  0.420663,  0. , 0. , 0. , 0.7 ]), array([15.2001 ,  2.87612]))
        """
        from cayley.dynamics.inverse.body_screws import body_screws_kernel
        return body_screws_kernel(self.tree)

    # Energies and momentum: functions of the state, whatever ties the joints together

    @made_once
    def kinetic_energy(self) -> Kernel:
        """`kinetic_energy(q, qd)` (...) [J], of the links, and of the rotors if they are included.

        >>> load("s1_f2").kinetic_energy([0.3, -0.7], [1.1, -0.4]).round(6)
        np.float64(0.443139)
        """
        from cayley.dynamics.state_kernels import kinetic_energy_kernel
        return kinetic_energy_kernel(self.tree)

    @made_once
    def potential_energy(self) -> Kernel:
        """`potential_energy(q)` (...) [J], zero where every centre of mass would be at the root's origin; with that of
        springs, if they are included.

        >>> load("s1_f1").potential_energy([0.0]).round(6) + 0.0
        np.float64(0.0)
        """
        from cayley.dynamics.state_kernels import potential_energy_kernel
        return potential_energy_kernel(self.tree)

    @made_once
    def center_of_mass(self) -> Kernel:
        """`center_of_mass(q)`: of all that moves, (..., 3) in the root's frame [m].

        >>> load("s1_f1").center_of_mass([0.0]).shape
        (3,)
        """
        from cayley.dynamics.state_kernels import center_of_mass_kernel
        return center_of_mass_kernel(self.tree)

    @made_once
    def momentum(self) -> Kernel:
        """`momentum(q, qd)`: linear and angular momentum (..., 6) about the root's origin, in its axes;
        `momentum.jacobian("qd")` is the momentum matrix.

        >>> load("s1_f2").momentum([0.3, -0.7], [1.1, -0.4]).shape
        (6,)
        """
        from cayley.dynamics.state_kernels import momentum_kernel
        return momentum_kernel(self.tree)

    # Derivatives

    @made_once
    def linearize(self) -> Linearize:
        """`linearize(q, qd, qdd)`: the derivatives of inverse dynamics D = dtau/dqdd, V = dtau/dqd, P = dtau/dq (...,
        nv, nv). `.using(method)`.

        Of a mechanism with constraints they are (..., m, m), in the velocities of its independent joints
        (`constraint_structure`), for forces at these joints.

        >>> load("s1_f2").linearize([0.3, -0.7], [1.1, -0.4], [0.5, 2.0]).P.round(3)
        array([[-2.478,  1.519],
               [ 1.146,  1.333]])
        """
        from cayley.dynamics.linearised.kernels import linearize_kernel
        return linearize_kernel(self.tree)

    @made_once
    def forward_derivatives(self) -> KernelWithMethods[ForwardDerivatives]:
        """`forward_derivatives(q, qd, tau)`: the accelerations `qdd`, and their derivatives `by_q`, `by_qd`, `by_tau`
        (..., nv, nv). Of a mechanism with constraints also those of its `forces`: `forces_by_q`, `forces_by_qd`,
        `forces_by_tau`; see `cayley.dynamics.linearised.constrained`.

        >>> arm = load("s1_f2")
        >>> np.allclose(arm.forward_derivatives([0.3, -0.7], [1.1, -0.4], [0.5, 2.0]).by_tau,
        ...             arm.inverse_inertia_matrix([0.3, -0.7]))
        True
        """
        from cayley.dynamics.linearised.kernels import forward_derivatives_kernel
        return forward_derivatives_kernel(self.tree)

    def partial_derivatives(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> PartialDerivatives:
        """The derivatives by the coordinate, velocity and acceleration of any joint of what the equations of an open
        chain consist of, rotations, accelerations, first moments, forces and moments of any link; see
        `cayley.dynamics.linearised.partials`.

        >>> load("s1_g1").partial_derivatives([0.3, -0.7], [0.5, 1.2], [-0.4, 0.8]).force(0, 1).by_qdd.round(3)
        array([0.387, 0.459, 0.   ])
        """
        from cayley.dynamics.linearised.partials import derivative_library
        return derivative_library(self.tree, q, qd, qdd)

    def fit_linear_model(self, states: ArrayLike, forces: ArrayLike, next_states: ArrayLike,
                         dt: float) -> IdentifiedCoefficients:
        """D, V and P from samples of perturbations near a nominal motion, `dt` [s] apart: (k, 2 nv) of the state (q,
        qd), (k, nv) of the forces held from then on, (k, 2 nv) of the next state.

        >>> from cayley.dynamics.linearised.state_space import LinearisedMechanism
        >>> arm = load("planar2r")
        >>> step = LinearisedMechanism(arm.tree).at([0.3, 0.4]).discretised(0.01)
        >>> x, u = np.split(np.random.default_rng(0).normal(size=(20, 6)), [4], axis=1)
        >>> found = arm.fit_linear_model(x, u, x @ step.A.T + u @ step.B.T, 0.01)
        >>> bool(np.allclose(found.D, arm.inertia_matrix([0.3, 0.4])))
        True
        """
        from cayley.dynamics.linearised.identified_discrete_model import fit_coefficients
        return fit_coefficients(self.tree, states, forces, next_states, dt)

    # Equations and methods

    def equations(self, *, parameters: Literal["numbers", "symbols"] = "numbers",
                  simplify: Callable[[Any], Any] | None = None, shared: bool | None = None,
                  formulation: Formulation | None = None, independent: Sequence[str] | None = None
                  ) -> EquationsOfMotion:
        """M, C and G as formulas; prints as text and as LaTeX. `parameters="symbols"` has letters for masses and
        lengths; `simplify` and `shared` as in `cayley.dynamics.equations.equations_of_motion`. Of a mechanism with
        constraints in the `formulation` "augmented" (with multipliers), "projection" or "minimal" (in the coordinates
        of `independent` joints).

        >>> print(load("s1_f1").equations(parameters="symbols"))
        M qdd + V + G = tau, V = C qd
        M_11 = I_1 + m_1*c_1**2
        V_1 = 0
        G_1 = m_1*c_1*g*cos(q_1)
        """
        from cayley.dynamics.equations import equations_of_motion  # SymPy takes its time
        return equations_of_motion(self.tree, parameters=parameters, simplify=simplify, shared=shared,
                                   formulation=formulation, independent=independent)

    @made_once
    def euler_lagrange(self) -> Kernel[EulerLagrange]:
        """`euler_lagrange(q, qd, qdd)`: the operator of Euler and Lagrange on the Lagrangian of the mechanism, term by
        term (..., nv): `momentum_rate`, `kinetic_slope`, `potential_slope`, `dissipation`; `kinetic` is d/dt dK/dqd -
        dK/dq, and `tau` all of it. See `cayley.dynamics.euler_lagrange`.

        >>> load("s1_f2").euler_lagrange([0.3, -0.7], [1.1, -0.4], [0.5, 2.0]).tau
        array([15.20009968,  2.87612016])
        """
        from cayley.dynamics.euler_lagrange import euler_lagrange_kernel
        return euler_lagrange_kernel(self.tree)

    def kane_equations(self, speeds: Callable[[Array], Any] | ArrayLike | None = None) -> KaneEquations:
        """Kane's equations in the generalised speeds u = Y(q) qd: partial velocities, active and inertia forces, and
        what follows from F + F* = 0; see `cayley.dynamics.kane_equations`.

        >>> kane = load("s1_f2").kane_equations([[1.0, 0.0], [1.0, 1.0]])  # the angular velocities of the links
        >>> kane.joint_forces([0.3, -0.7], [1.1, 0.7], [0.5, 2.5])
        array([15.20009968,  2.87612016])
        """
        from cayley.dynamics.kane_equations import kane_equations
        return kane_equations(self.tree, speeds)

    def generated_model(self, *, form: Literal["recursion", "traces"] = "recursion",
                        coordinates: Literal["angles", "half-angle tangents"] = "angles",
                        parameters: Literal["numbers", "symbols"] = "numbers") -> GeneratedModel:
        """The terms of B qdd + C + G + E = U of an arm with elastic or rigid joints, its inverse and forward dynamics,
        as kernels, and as text in C, Fortran or Python; see `cayley.dynamics.generation.model.generate`.

        >>> model = load("planar2r").generated_model(parameters="symbols")
        >>> print(model.equations().outputs["B"][1, 1].expand())
        I_2yy + c_2x**2*m_2
        >>> list(model.texts("fortran", ["inverse_dynamics"]))
        ['planar2r_inverse_dynamics.f90']
        """
        from cayley.dynamics.generation.model import generate
        return generate(self.tree, form=form, coordinates=coordinates, parameters=parameters)

    def vector_parameter_model(self) -> VectorParameterModel:
        """An open chain in the pairs (c, t) of its joints: pose, Jacobian, inertia matrix, inverse and forward dynamics
        as rational functions of vectors; see `cayley.dynamics.vector_parameter_model`.

        >>> model = load("s3_w08").vector_parameter_model()   # R-T-R-R
        >>> model.inertia_matrix(model.coordinates([0.4, 0.15, -0.7, 1.1])).shape
        (12, 12)
        """
        from cayley.dynamics.vector_parameter_model import vector_parameter_model
        return kept(self, "vector-parameter model", lambda: vector_parameter_model(self.tree))

    def linear_model(self, *, joint_terms: Sequence[str] = ()) -> LinearModel:
        """The model that is linear in its inertial parameters: regressor, base parameters, identification. Of a
        mechanism with constraints that of the forces of its actuated joints.

        >>> load("puma560").linear_model().regressor(*np.ones((3, 6))).shape
        (6, 60)
        """
        from cayley.dynamics.identification import linear_model
        return linear_model(self.tree, joint_terms=joint_terms)

    def force_sensitivity(self, *parameters: str, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                          changes: ArrayLike | None = None, scale: ArrayLike | None = None) -> ForceSensitivity:
        """How much the forces of a motion depend on each number that is meant by words, as in `with_parameters`,
        ranked; see `cayley.dynamics.identification.force_sensitivity`.

        >>> q, qd, qdd = np.random.default_rng(0).normal(size=(3, 100, 2))
        >>> print(load("planar2r").force_sensitivity("mass", "length", q=q, qd=qd, qdd=qdd))
        Forces by parameters
                           change  of the forces
          link2.mass       0.015   1.2 %
          joint2.length.x  0.005   0.533 %
          link1.mass       0.02    0.344 %
          tool.length.x    0.004   0 %
        """
        from cayley.dynamics.identification.force_sensitivity import force_sensitivity
        return force_sensitivity(self.tree, parameters, q, qd, qdd, changes=changes, scale=scale)

    def reduction_error(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> ReductionError:
        """What the reduced model of elastic drives drops at states of joints and motors: coupling of inertias, and
        gyroscopic moments. Prints as a table; see `cayley.dynamics.elastic_drives.reduction_error`.

        >>> arm = load("planar2r").with_drive("joint2", stiffness=1e3, gear=50.0, mass=0.4,
        ...                                   tensor=np.diag([1e-4, 1e-4, 2e-4]))
        >>> arm.reduction_error([0.1, 0.2, 10.0], [1.0, 0.5, 25.0], [2.0, 1.0, 50.0]).dropped.round(6) + 0.0
        array([0.01  , 0.    , 0.0004])
        """
        from cayley.dynamics.elastic_drives import reduction_error
        return reduction_error(self.tree, q, qd, qdd)

    def compare_inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *,
                                 methods: Iterable[str] | None = None, progress: bool = False) -> Comparison:
        """Every published method on the same states: forces, spread, operations, time. Prints as a table.

        >>> load("s1_f2").compare_inverse_dynamics([0.3, -0.7], [1.1, -0.4], [0.5, 2.0],
        ...                                        methods=["kane", "waters"]).agrees
        True
        """
        from cayley.dynamics.inverse.compare import compare_inverse_dynamics
        return compare_inverse_dynamics(self.inverse_dynamics, q, qd, qdd, methods=methods, progress=progress)

    # Motion in time

    @property
    def control(self) -> ArmControl:
        """Laws, motors and error models of this arm, by their names.

        >>> load("planar2r").control.computed_torque(100.0, 20.0)
        <system computed torque: inputs q, qd, target, target_qd, target_qdd; outputs tau; parameters kp, kd>
        """
        from cayley.control.arm_control import ArmControl
        return ArmControl(self.tree)

    def system(self, *, wrenches: Sequence[str] = (), axes: str = "body", parameters: Sequence[str] = ()) -> System:
        """The mechanism as a system, with the state (`q`, `qd`), the input `tau` and, for each frame of `wrenches`, the
        input `wrench_<frame>` (6): to be connected with motors, controllers and whatever else is one. With words for
        `parameters`, as in `with_parameters`, it has the parameter `parameters` (p), which each trajectory of a rollout
        may have its own of.

        Of a mechanism with constraints it is brought back onto them after each step, and has the input `tau` alone.

        >>> load("planar2r").system()
        <system planar2r: state q, qd; inputs tau; outputs q, qd>
        """
        from cayley.simulation.fixed_steps import connectable_system
        return connectable_system(self.tree, tuple(wrenches), axes, tuple(parameters))

    def switched(self, sets: Mapping[str, Sequence[str]], switches: Sequence[Switch] = ()) -> System:
        """The mechanism as a system, of which one of several sets of its constraints holds at a time, by their names:
        a brake that is set, wheels that touch. See `cayley.dynamics.switched_constraints`."""
        from cayley.dynamics.switched_constraints import switched_system
        return switched_system(self.tree, sets, switches)

    def simulate(self, q: ArrayLike, qd: ArrayLike, *, tau: ArrayLike | None = None,
                 controller: Controller | None = None, until: float | None = None, times: ArrayLike | None = None,
                 start: float = 0.0, wrenches: Mapping[str, Wrench] | None = None, axes: str = "body",
                 base: BaseMotion | None = None, limits: str | float = "ignore", events: Event | Sequence[Event] = (),
                 method: str | type = "DOP853", rtol: float = 1e-9, atol: float = 1e-10, max_step: float = np.inf,
                 max_events: int = 1000, max_evaluations: int | None = None, control_period: float | None = None,
                 parameters: Mapping[str, Any] | None = None, progress: bool = True) -> Trajectory:
        """The motion from a state `until` a time [s] or at the given `times`, by an integrator with error control, with
        events and stops; see `cayley.simulation.simulate`.

        >>> load("planar2r").simulate([0.0, 0.0], [0.0, 0.0], until=0.5, progress=False).status
        'finished'
        """
        from cayley.simulation import simulate
        return simulate(self.tree, q, qd, tau=tau, controller=controller, until=until, times=times, start=start,
                        wrenches=wrenches, axes=axes, base=base, limits=limits, events=events, method=method, rtol=rtol,
                        atol=atol, max_step=max_step, max_events=max_events, max_evaluations=max_evaluations,
                        control_period=control_period, parameters=parameters, progress=progress)

    def track(self, reference: Reference, times: ArrayLike, *, weights: Weights | None = None,
              poles: Sequence[complex] | None = None, errors: ErrorSources | None = None, feedback: bool = True,
              control_period: float | None = None, tolerance: float = 1e-8) -> TrackingRun:
        """The run of a law that tracks a nominal motion `reference(t) -> (q, qd, qdd)`, designed on the linearised
        model at the `times`, on the mechanism with `errors` that the law does not know: friction, backlash, sensors,
        actuators, a payload; see `cayley.simulation.tracking_run`.

        >>> still = [0.3, 0.4], [0.0, 0.0], [0.0, 0.0]
        >>> load("planar2r").track(lambda t: still, [0.0, 0.2], poles=[-8, -9, -10, -11]).largest < 1e-9
        True
        """
        from cayley.simulation.tracking_run import track
        return track(self.tree, reference, times, weights=weights, poles=poles, errors=errors, feedback=feedback,
                     control_period=control_period, tolerance=tolerance)

    def rollout(self, *, method: str = "rk4", controller: Controller | None = None, control: str = "sampled",
                wrenches: Sequence[str] = (), axes: str = "body", inertias: Sequence[str] = (),
                base_motion: bool = False, changing: Sequence[str] = (), iterations: int | None = None) -> Rollout:
        """Compiled rollouts of fixed steps, for batches of states, made once for each choice; see
        `cayley.simulation.rollout`.

        >>> load("planar2r").rollout(method="rk4")(np.zeros((3, 2)), np.zeros(2), step=1e-3, steps=100,
        ...                                        every=50).q.shape
        (3, 3, 2)
        """
        from cayley.simulation import rollout
        key = ("rollout", method, controller, control, tuple(wrenches), axes, tuple(inertias), base_motion,
               tuple(changing), iterations)
        return kept(self, key, lambda: rollout(
            self.tree, method=method, controller=controller, control=control, wrenches=wrenches, axes=axes,
            inertias=inertias, base_motion=base_motion, changing=changing, iterations=iterations))

    def sweep(self, compute: str | Callable[..., Any], points: Points | Mapping[str, Any], *,
              into: str | os.PathLike[str] | None = None, chunk: int = 65536,
              reduce: Mapping[str, Sequence[Reduction]] | None = None, on: Workers = None,
              progress: bool = True) -> Swept:
        """A function of many states, parameters or gains, in tasks, here or on many machines; results kept in Zarr, or
        reduced. `compute` is the name of a kernel of this mechanism, or any function of the columns of the points; see
        `cayley.scale.sweeping`.

        >>> load("planar2r").sweep("gravity_forces", {"q": np.zeros((10, 2))}, chunk=4)["result"].shape
        (10, 2)
        """
        from cayley.scale.sweeping import kernel_named, sweep
        return sweep(kernel_named(self, compute), points, into=into, chunk=chunk, reduce=reduce, on=on,
                     progress=progress)

    # Pictures

    @property
    def shapes(self) -> Shapes:
        """What its bodies look like, read now from the file that it came from: boxes, cylinders, balls, capsules and
        meshes, and what of them is missing; see `cayley.shapes`.

        >>> load("planar2r").shapes
        <shapes: none>
        """
        from cayley.shapes import shapes_of
        return shapes_of(self.tree)

    def draw(self, q: ArrayLike | None = None, *, frames: str | Sequence[str] = "ends", labels: bool = True,
             ground: bool = True, trail: bool = True, shapes: str | None = "visual",
             ax: Axes | None = None) -> Axes:
        """The mechanism with frames, at one configuration (nq) or several (k, nq): in its shapes if it was read from a
        file that has any, otherwise as a stick figure; see `cayley.drawing.stick_figure`.

        >>> load("planar2r").draw([0.3, 0.6]).name
        'rectilinear'
        """
        from cayley.drawing import stick_figure
        return stick_figure(self.tree, q, frames=frames, labels=labels, ground=ground, trail=trail, shapes=shapes,
                            ax=ax)

    @overload
    def animate(self, motion: MotionLike, path: None = None, *, speed: float = 1.0) -> Player: ...

    @overload
    def animate(self, motion: MotionLike, path: str | os.PathLike[str], *, speed: float = 1.0,
                frames: str | Sequence[str] = "ends", trail: bool = True, ground: bool = True,
                size: tuple[float, float] | None = None) -> Path: ...

    def animate(self, motion: MotionLike, path: str | os.PathLike[str] | None = None, *, speed: float = 1.0,
                frames: str | Sequence[str] = "ends", trail: bool = True, ground: bool = True,
                size: tuple[float, float] | None = None) -> Path | Player:
        """Show a motion, the run of a simulation, a planned motion, or a pair (times, configurations): as a page that
        plays it in 3-D (.html), as a moving picture (.gif, or .mp4 where ffmpeg is installed), or without a path in a
        notebook; see `cayley.studio.animate`.
        """
        shown: Path | Player = maker("animate")(self.tree, motion, path, speed=speed, frames=frames, trail=trail,
                                                ground=ground, size=size)
        return shown

    def workspace(self, frame: str, *, samples: int | None = None, seed: int = 0, limits: JointLimits | None = None,
                  relative_to: str | None = None, center: ArrayLike = (0.0, 0.0, 0.0),
                  start: ArrayLike | None = None) -> Workspace:
        """What a frame can reach within the limits; draws itself. With loops, what its actuated joints reach on the
        branch of `start`. See `cayley.drawing.workspace`.

        >>> round(load("planar2r").workspace("tool", samples=2000).farthest, 6)
        0.9
        """
        from cayley.drawing import workspace
        return workspace(self.tree, frame, samples=samples, seed=seed, limits=limits, relative_to=relative_to,
                         center=center, start=start)

    def workspace_map(self, frame: str, *, start: ArrayLike, box: ArrayLike, plane: str | None = None,
                      task: TaskRows | None = None, characteristic_length: float | None = None,
                      resolution: int = 80) -> WorkspaceMap:
        """What a frame of a mechanism with loops reaches over a box ((left, bottom), (right, top)) of a plane, on the
        branch of a start (nq), and how well, with its singular curves; draws itself. See `cayley.drawing.closed_maps`.

        >>> found = load("five_bar").workspace_map("tool", start=np.zeros(4), box=((-0.1, 0.2), (0.1, 0.4)))
        >>> found.reachable.all()
        np.True_
        """
        from cayley.drawing.closed_maps import workspace_map_of
        return workspace_map_of(self.tree, frame, start=start, box=box, plane=plane, task=task,
                                characteristic_length=characteristic_length, resolution=resolution)

    def _task_shape(self, frame: str, task: TaskRows, characteristic_length: float | None) -> tuple[int, ...]:
        """Rows and columns of a task's Jacobian; an error if their units are mixed."""
        from cayley.kinematics.uniform_units import uniform_jacobian
        return np.shape(
            uniform_jacobian(self.tree, self.neutral, frame, task=task, axes="world",
                             characteristic_length=characteristic_length))

    def __getstate__(self) -> dict[str, Tree]:
        """What is pickled: the data. Kernels are made anew where it arrives, and their code comes from the cache."""
        return {"tree": self.tree}

    def __repr__(self) -> str:
        return repr(self.tree)

    def _repr_html_(self) -> str:
        from cayley.model.report import report
        tables = "".join(table._repr_html_() for table in report(self.tree).tables)
        return f"{super()._repr_html_()}<details><summary>parts</summary>{tables}</details>"

    if not TYPE_CHECKING:  # which would then take every name for one of a mechanism

        def __getattr__(self, name: str) -> NoReturn:
            """What only its tree has is asked by a function that was given a mechanism in place of a tree."""
            if hasattr(Tree, name):
                raise WantsTreeError(f"{name!r} is of the tree of a mechanism: give this function arm.tree, not arm")
            advice = "" if name.startswith("_") else did_you_mean(name, dir(type(self)))
            raise AttributeError(f"a mechanism has no {name!r}{advice}")
