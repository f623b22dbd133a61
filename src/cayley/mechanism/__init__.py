"""`Mechanism`: the user's view of a robot. Its data are in its tree, its algorithms in the layers below.

A function of a named frame is a family of kernels: `arm.jacobian(q, "tool", axes="world")` broadcasts over the leading
axes of its arrays, and `arm.jacobian.of("tool", axes="world")` is the kernel itself, with its operation counts,
equations, derivatives and C code.

Methods import their modules at the first call, so that loading a robot stays fast."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import TraceError, did_you_mean
from cayley.explained_calls import explained, with_explained_calls
from cayley.lazy_names import with_former_names
from cayley.mechanism.changes import Changes
from cayley.mechanism.dynamics import Dynamics
from cayley.mechanism.kinematics import Kinematics
from cayley.mechanism.motion import MotionMethods
from cayley.mechanism.output import Output
from cayley.mechanism.rooms import FORMER
from cayley.model.carried_wheels import CarriedWheel
from cayley.model.catalogue import catalogue_names
from cayley.model.catalogue.packaged import PACKAGED
from cayley.model.constraint_kinds import Constraint
from cayley.model.parts import Body, Frame, Joint, Loop
from cayley.model.physical_bodies import check_possible, warn_of_impossible
from cayley.model.tree import GRAVITY, Tree
from cayley.words import what_it_is_here, with_other_names

if TYPE_CHECKING:
    from cayley.model.denavit_hartenberg.conversion import About
    from cayley.model.denavit_hartenberg.table import Convention, DHRow


@explained
def load(name_or_path: str | os.PathLike[str], *, floating_base: bool = False, missing_mass: float | None = None,
         gravity: ArrayLike | None = None, exact_angles: bool = True,
         arguments: Mapping[str, object] | None = None, trust: bool = False) -> Mechanism:
    """A robot of the catalogue by its name, or a mechanism from a .urdf, .xacro, .sdf, .xml (MJCF) or .toml file.

    floating_base  the root moves freely in a body `world`: q begins with position and quaternion (w, x, y, z), qd with
                   the twist (v; w) in the root's axes. In MJCF, `<freejoint/>` does the same
    missing_mass   the mass [kg] of moving bodies for which the file has none: 0.0 for dummy links. Without it, dynamics
                   raise an error that names them
    gravity        the acceleration of free fall (3) in the axes of the root [m/s^2], instead of the file's
    exact_angles   reads 1.5708 in URDF and SDF as pi/2; with False, angles are used as written
    arguments      the arguments of a xacro file: `{"prefix": "left_"}`
    trust          whether you trust the author of the file: then a xacro file may run Python and read the environment,
                   and every file may name others that lie anywhere. Without it, it may not, and says where it would

    >>> arm = cy.load("puma560", gravity=[0.0, 0.0, -1.62])
    >>> arm.nq, arm.gravity
    (6, array([ 0.  ,  0.  , -1.62]))
    >>> cy.load("puma560", floating_base=True).nq
    13
    """
    from cayley.model.reading import read_mechanism
    return Mechanism(read_mechanism(name_or_path, floating_base=floating_base, missing_mass=missing_mass,
                                    gravity=gravity, exact_angles=exact_angles, arguments=arguments, trust=trust))


@explained
def catalogue() -> tuple[str, ...]:
    """The names of the robot models that `load` knows: arms, machines with loops (closed at q = 0), and robots with
    meshes, whose files come with `pip install 'cayley[robots]'`.

    >>> "panda" in cy.catalogue(), "stewart" in cy.catalogue(), "anymal_c" in cy.catalogue()
    (True, True, True)
    """
    return tuple(sorted([*catalogue_names(), *PACKAGED]))


class WantsTreeError(TraceError, AttributeError):
    """A function that takes a tree was given a mechanism."""


@with_former_names(FORMER)
@with_explained_calls
@with_other_names
class Mechanism(Kinematics, Dynamics, MotionMethods, Output, Changes):
    """A mechanism: an immutable tree of bodies and joints, with its kinematics and dynamics as compiled kernels.

    Create one with `load`, `Mechanism.from_dh` or `Mechanism.of`. The names of bodies are also names of frames, and the
    end effector of the robots in the catalogue is the frame "tool". Functions of the packages (`cayley.kinematics`,
    `cayley.simulation`, `cayley.drawing` and so on) take the mechanism's `tree`.

    Functions of a frame take its name: `arm.pose(q, "tool")`. The kernel behind it, with its operation counts,
    equations, derivatives and C code, is `arm.pose.of("tool")`. Functions without a frame are kernels themselves:
    `arm.gravity_forces.c_source()`.

    `q` (..., nq) is the configuration, `qd` (..., nv) the velocity, `qdd` (..., nv) the acceleration. Twists are (v;
    w), wrenches (f; m). `axes` must be given: "world" (the root's), "body" (the frame's own), or the name of a frame.
    The reference point is the frame's origin unless `at` gives another: coordinates (..., 3) in the frame, or the name
    of a frame whose origin is meant.

    Less common functions are grouped by subject:

    arm.control          controllers, motors and error models
    arm.loops            loops and other constraints: closing, mobility, assembly modes, dead centres, actuation
    arm.configurations   named configurations ("ready", "home"), and checks of configurations
    arm.dexterity        manipulability, singularities, loads, payload
    arm.centroidal       momentum about the centre of mass
    arm.collision        collisions and clearance among obstacles
    arm.identification   regressors, base parameters, fits to measurements
    arm.formulations     published formulations, terms of the equations, operation counts
    arm.pictures         workspaces, payload charts, maps
    arm.variants         reduced models, subtrees, and mechanisms with other bodies, joints or constraints
    arm.tree             the model: bodies, joints, frames, constraints and their numbers

    >>> arm = cy.load("planar2r")
    >>> arm.pose([0.0, 0.0], "tool").shape, arm.jacobian(np.zeros((10, 2)), "tool", axes="world").shape
    ((4, 4), (10, 6, 2))
    """

    @staticmethod
    def of(name: str, bodies: Iterable[Body], joints: Iterable[Joint], *, frames: Iterable[Frame] = (),
           gravity: ArrayLike = GRAVITY, loops: Iterable[Loop] = (), constraints: Iterable[Constraint] = (),
           wheels: Iterable[CarriedWheel] = (), actuated: Iterable[str] | None = None, source: str = "",
           notes: Iterable[str] = ()) -> Mechanism:
        """A checked mechanism from its parts, in any order; see `cayley.model.tree.Tree.of`. `wheels` bring bodies,
        joints and constraints of their own. A `ModelWarning` names bodies with inertias that no body can have.

        >>> from cayley.model.joint_kinds import Prismatic
        >>> from cayley.model.parts import Body, Joint
        >>> slide = Joint("slide", "ground", "cart", Prismatic())
        >>> cy.Mechanism.of("rail", [Body("ground"), Body("cart", 2.0)], [slide])
        <rail: 2 bodies, 1 joint, nq = 1, nv = 1>
        """
        made = Tree.of(name, bodies, joints, frames=frames, gravity=gravity, loops=loops, constraints=constraints,
                       wheels=wheels, actuated=actuated, source=source, notes=notes)
        warn_of_impossible(made.bodies, made.name)
        return Mechanism(made)

    @staticmethod
    def from_dh(rows: Iterable[DHRow | Sequence[float | str]] | Array, *, convention: Convention, name: str = "arm",
                base: ArrayLike | None = None, tool: ArrayLike | None = None,
                masses: Sequence[float | None] | None = None, centers: ArrayLike | None = None,
                inertias: ArrayLike | None = None, inertia_about: About = "center", gravity: ArrayLike | None = None,
                base_body: Body | str = "base", frames: Iterable[Frame] = (), source: str = "") -> Mechanism:
        """A serial chain from a Denavit-Hartenberg table; the convention, "standard" or "modified", must be named.

        Rows are `DHRow`, or (theta, d, a, alpha) [rad, m, m, rad]: numbers, or texts as a book has them, ("q1 + pi/2",
        0.3, 0, "pi/2"), with the coordinate in theta of a revolute joint, in d of a prismatic one. `base` and `tool`
        (4, 4) are the poses of frame 0 in the root and of the tool in frame n. `masses` (n) [kg], `centers` (n, 3) [m]
        and `inertias` (n, 3, 3) [kg m^2] belong to the links, in their frames. `gravity` (3) is (0, 0, -9.81) by
        default. A `ModelWarning` says what was perhaps not meant, as angles of more than a turn; see
        `model.denavit_hartenberg.conversion.tree_from_dh`.

        >>> cy.Mechanism.from_dh([(0, 0, 1, 0), (0, 0, 1, 0)], convention="standard", name="two links")
        <two links: 3 bodies, 2 joints, nq = 2, nv = 2>
        """
        from cayley.model.denavit_hartenberg.conversion import tree_from_dh
        from cayley.model.denavit_hartenberg.table import DHRow, rows_from_numbers
        listed = list(rows)
        named = [row for row in listed if isinstance(row, DHRow)]
        table = named if len(named) == len(listed) else rows_from_numbers(listed)
        made = tree_from_dh(table, convention=convention, name=name, base=base, tool=tool, masses=masses,
                            centers=centers, inertias=inertias, inertia_about=inertia_about, gravity=gravity,
                            base_body=base_body, frames=frames, source=source)
        check_possible(*made.bodies)
        return Mechanism(made)

    if not TYPE_CHECKING:  # which would then take every name for one of a mechanism

        def __getattr__(self, name: str) -> NoReturn:
            """The error of a missing name; functions that were given a mechanism for a tree ask for names of trees."""
            if hasattr(Tree, name):
                raise WantsTreeError(f"{name!r} is of the tree of a mechanism: give this function arm.tree, not arm")
            public = [each for each in dir(type(self)) if not each.startswith("_")]
            advice = "" if name.startswith("_") else what_it_is_here(name) or did_you_mean(name, public)
            raise AttributeError(f"a mechanism has no {name!r}{advice}")
