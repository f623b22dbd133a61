"""Changes of a mechanism, each of which returns a new one: payloads, frames, drives, locked joints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Self

from cayley.compiler.typing import ArrayLike
from cayley.geometry.contact_shapes import ContactShape
from cayley.mechanism import functions
from cayley.mechanism.data import Data
from cayley.model.contact_pairs import Ground, PerPair, Shapes
from cayley.model.joint_kinds import JointKind
from cayley.model.parts import Body, Friction
from cayley.model.spring_kinds import SpringKind
from cayley.model.winding import Winding


class Changes(Data):
    """Common changes of a mechanism, each of which returns a new one. `arm.variants` has the others."""

    def with_gravity(self, gravity: ArrayLike) -> Self:
        """The same mechanism with another acceleration of free fall (3), in the axes of the root [m/s^2]."""
        return type(self)(self.tree.with_gravity(gravity))

    def with_frame(self, name: str, body: str, pose: ArrayLike | None = None) -> Self:
        """The same mechanism with one more named frame."""
        return type(self)(self.tree.with_frame(name, body, pose))

    def with_payload(self, frame: str, mass: float, *, center: ArrayLike = (0.0, 0.0, 0.0),
                     inertia: ArrayLike | None = None, name: str | None = None) -> Self:
        """The same mechanism with a body of `mass` [kg] fixed to a frame, a load or a tool. `center` and the `inertia`
        about it (zero by default) are in the frame's axes. The default `name` is "payload1" and so on. Physically
        impossible values raise an error.

        >>> cy.load("planar2r").with_payload("tool", 2.0).variants.without_payload()
        <planar2r: 3 bodies, 2 joints, nq = 2, nv = 2>
        """
        return type(self)(self.tree.with_payload(frame, mass, center=center, inertia=inertia, name=name))

    def with_joint(self, joint: str, *, motion: JointKind | None = None, placement: ArrayLike | None = None,
                   lower: ArrayLike | None = None, upper: ArrayLike | None = None, velocity: ArrayLike | None = None,
                   effort: ArrayLike | None = None) -> Self:
        """The same mechanism with another kind, placement (4, 4) in the parent or limits of one joint; the rest is
        unchanged. `cayley.model.joint_kinds` has the kinds; limits are numbers, or arrays with one entry per
        coordinate.

        >>> cy.load("planar2r").with_joint("joint2", lower=-1.0, upper=1.0).upper
        array([inf,  1.])
        """
        return type(self)(functions.with_joint(self.tree, joint, motion=motion, placement=placement, lower=lower,
                                               upper=upper, velocity=velocity, effort=effort))

    def with_friction(self, joint: str | Sequence[str], *, viscous: ArrayLike = 0.0, coulomb: ArrayLike = 0.0) -> Self:
        """The same mechanism with another friction in one joint [N m s/rad, N m; N s/m, N], or in several, with one
        value for all or one for each. Dynamics ignore it without `including("friction")`.

        >>> arm = cy.load("planar2r")
        >>> arm.with_friction(arm.joint_names, viscous=[0.2, 0.1]).joints[1].friction
        Friction(viscous=0.1, coulomb=0.0)
        """
        return type(self)(functions.with_friction(self.tree, joint, viscous=viscous, coulomb=coulomb))

    def with_drive(self, joint: str, *, stiffness: float | None = None, damping: float = 0.0, gear: float = 1.0,
                   inertia: float = 0.0, mass: float | None = None, center: ArrayLike = (0.0, 0.0, 0.0),
                   tensor: ArrayLike | None = None, carrier: str | None = None, place: ArrayLike | None = None,
                   spring: SpringKind | None = None, friction: Friction | None = None,
                   winding: Winding | None = None) -> Self:
        """The same mechanism with another drive of one joint, elastic if it has a `stiffness` [N m/rad, N/m] (and a
        `damping`), or a `spring` of any kind in `cayley.model.spring_kinds`; the rest describes the rotor, see
        `cayley.model.rotor.Rotor`. Dynamics ignore it without `including("elastic drives")`."""
        return type(self)(self.tree.with_drive(joint, stiffness=stiffness, damping=damping, gear=gear, inertia=inertia,
                                              mass=mass, center=center, tensor=tensor, carrier=carrier, place=place,
                                              spring=spring, friction=friction, winding=winding))

    def including(self, *terms: str) -> Self:
        """The same mechanism with these parts of its drives, and no others, in all its dynamics:

        "armature"                reflected inertia of the rotors of rigid drives
        "friction"                friction of the joints
        "springs"                 springs of the joints, with the motors held at zero
        "elastic drives"          motors that drive joints through springs: q is followed by the motors' angles, and
                                  rotors that are known as bodies have all their inertia forces
        "reduced elastic drives"  the same, neglecting all energy of the rotors except that of their spin
        "geared drives"           rotors of rigid drives, known as bodies, that turn with their joints

        >>> arm = cy.load("planar2r").with_drive("joint1", stiffness=1e3, gear=50.0, inertia=1e-3)
        >>> soft = arm.including("elastic drives")
        >>> soft.joint_names, soft.actuated_joints
        (('joint1', 'joint2', 'joint1 motor'), ('joint2', 'joint1 motor'))
        """
        return type(self)(self.tree.including(*terms))

    def locked(self, joints: str | Sequence[str] | Mapping[str, ArrayLike], q: ArrayLike | None = None) -> Self:
        """The same mechanism with joints fixed at their values in a configuration `q` (nq), by default at zero, or at
        given values, {joint: value}. Loops and constraints between frames stay; mimic joints are locked with the joint
        that they follow. `variants.freed` unlocks them.

        >>> arm = cy.load("panda").locked(["panda_joint5", "panda_joint6"])
        >>> arm.nq, arm.variants.freed("panda_joint5").nq
        (5, 6)
        """
        return type(self)(functions.locked(self.tree, joints, q))

    def attached(self, other: Data | Body, at: str, *, pose: ArrayLike | None = None, motion: JointKind | None = None,
                 prefix: str = "") -> Self:
        """The same mechanism carrying another, or a body, at a frame or body: a gripper on an arm, an arm on a cart. It
        is fixed there, at a `pose` (4, 4) in the frame, or moves by a joint of the kind `motion`. A `prefix` keeps its
        names distinct. Its loops, mimic joints, drives and named configurations are kept; gravity is taken from the
        carrying mechanism.

        >>> cy.load("two_wheel_robot").attached(cy.load("scara"), at="chassis").nq
        11
        >>> both = cy.load("planar2r").attached(cy.load("planar2r"), at="tool", prefix="second ")
        >>> both.joint_names
        ('joint1', 'joint2', 'second joint1', 'second joint2')
        """
        carried = other.tree if isinstance(other, Data) else other
        return type(self)(functions.attached(self.tree, carried, at, pose=pose, motion=motion, prefix=prefix))

    def with_contacts(self, ground: Ground = "plane", *, points: Mapping[str, float] | None = None,
                      shapes: Mapping[str, Shapes] | None = None, bodies: Iterable[str] | None = None,
                      obstacles: Mapping[str, ContactShape] | None = None, self_contact: bool = False,
                      exclude: Iterable[tuple[str, str]] = (), friction: PerPair = 0.7, restitution: PerPair = 0.0,
                      compliance: PerPair = 0.0) -> Self:
        """The same mechanism with contacts in the place of those it had: what may touch what. Free bodies and robots on
        bases of their own that are attached to it touch each other, too.

        ground        "plane" (z = 0 of the root), a pose (4, 4) whose z points out of the ground, a `HalfSpace` or
                      `HeightField` of `cayley.geometry.contact_shapes`, or None
        points        spheres of a radius [m] at frames: `{"LF_FOOT": 0.02}`
        shapes        shapes in bodies or frames, one or several: `{"crate": Box([0.2, 0.2, 0.1])}`
        bodies        those that touch with the collision geometry of the model's file; all where neither points nor
                      shapes are given. Meshes are used as their convex hulls, with a note in the report; pairs that
                      SRDF or MJCF exclude do not touch
        obstacles     shapes that are fixed to the root, by names of their own
        self_contact  whether links of one tree touch each other, but neighbours
        exclude       pairs of names, of bodies, frames, obstacles or "ground", that do not touch
        friction      coefficient of Coulomb friction, of all pairs or by names: `{("LF_FOOT", "ground"): 0.4}`, with
                      0.7 for the others; so are `restitution` (0 to 1) and `compliance` [m/N], 0 for the others

        >>> dog = cy.load("planar2r").with_contacts(points={"tool": 0.05}, friction=0.5)
        >>> dog.tree.contacts
        (<contact tool on ground: friction 0.5>,)
        """
        return type(self)(functions.with_contacts(
            self.tree, ground, points=points, shapes=shapes, bodies=bodies, obstacles=obstacles,
            self_contact=self_contact, exclude=exclude, friction=friction, restitution=restitution,
            compliance=compliance))
