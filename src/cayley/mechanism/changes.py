"""What is changed gives a new mechanism: payloads, frames, drives, constraints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from cayley.compiler.typing import ArrayLike
from cayley.mechanism.data import Data
from cayley.model.constraint_kinds import Constraint
from cayley.model.parts import Friction, Joint
from cayley.model.spring_kinds import Spring
from cayley.model.winding import Winding


class Changes(Data):
    """What is changed gives a new mechanism: payloads, frames, drives, constraints."""

    # Changes give a new mechanism

    def with_gravity(self, gravity: ArrayLike) -> Self:
        """The same mechanism with another acceleration of free fall (3), in the axes of the root [m/s^2]."""
        return type(self)(self.tree.with_gravity(gravity))

    def with_frame(self, name: str, body: str, pose: ArrayLike | None = None) -> Self:
        """The same mechanism with one more named frame."""
        return type(self)(self.tree.with_frame(name, body, pose))

    def with_payload(self, frame: str, mass: float, *, center: ArrayLike = (0.0, 0.0, 0.0),
                     inertia: ArrayLike | None = None, name: str | None = None) -> Self:
        """The same mechanism with a body of `mass` [kg] fixed to a frame, a load or a tool; `center` and `inertia`
        (about it; none of a point load) are in the frame's axes. Its `name`: "payload1" and so on, if none is given.

        >>> cy.load("planar2r").with_payload("tool", 2.0).without_payload()
        <planar2r: 3 bodies, 2 joints, nq = 2, nv = 2>
        """
        return type(self)(self.tree.with_payload(frame, mass, center=center, inertia=inertia, name=name))

    def without_payload(self, name: str | None = None) -> Self:
        """The same mechanism without a load that was put down, or a tool that was taken off: the only payload, or the
        body of this name, which must be fixed to another and carry nothing."""
        from cayley.model.payloads import without_payload
        return type(self)(without_payload(self.tree, name))

    def with_joints(self, *joints: Joint) -> Self:
        """The same mechanism with these joints in the places of those of their names: other limits, friction, armature,
        another kind.
        """
        return type(self)(self.tree.with_joints(*joints))

    def with_mounted(self, other: Data, on: str, pose: ArrayLike | None = None) -> Self:
        """The same mechanism carrying another, whose root is fixed to the frame or body `on`, at a pose (4, 4) in it:
        an arm on a cart, as one mechanism.

        >>> cy.load("two_wheel_robot").with_mounted(cy.load("scara"), "chassis").nq
        11
        """
        from cayley.model.mounting import mounted
        return type(self)(mounted(self.tree, other.tree, on, pose))

    def with_configuration(self, name: str, q: ArrayLike | Mapping[str, ArrayLike]) -> Self:
        """The same mechanism with one more configuration that has a name, or another of this name: all coordinates
        (nq), or those of some joints by their names, with the others near zero.

        >>> cy.load("planar2r").with_configuration("bent", {"joint2": 1.0}).configurations["bent"]
        array([0., 1.])
        """
        from cayley.model.named_configurations import with_configuration
        return type(self)(with_configuration(self.tree, name, q))

    def with_constraints(self, *constraints: Constraint) -> Self:
        """The same mechanism with these constraints besides its own, or in the places of those of their names."""
        return type(self)(self.tree.with_more_constraints(*constraints))

    def without_constraints(self, *names: str) -> Self:
        """The same mechanism without the constraints and loops of these names: a brake that is let go, a wheel in the
        air."""
        return type(self)(self.tree.without_constraints(*names))

    def with_actuated(self, *joints: str) -> Self:
        """The same mechanism with drives in these joints, and in no others."""
        return type(self)(self.tree.with_actuated(*joints))

    def with_friction(self, joint: str, *, viscous: float = 0.0, coulomb: float = 0.0) -> Self:
        """The same mechanism with another friction in one joint [N m s/rad, N m; N s/m, N]; dynamics have it
        `including("friction")`.
        """
        return type(self)(self.tree.with_friction(joint, viscous=viscous, coulomb=coulomb))

    def with_drive(self, joint: str, *, stiffness: float | None = None, damping: float = 0.0, gear: float = 1.0,
                   inertia: float = 0.0, mass: float | None = None, center: ArrayLike = (0.0, 0.0, 0.0),
                   tensor: ArrayLike | None = None, carrier: str | None = None, place: ArrayLike | None = None,
                   spring: Spring | None = None, friction: Friction | None = None,
                   winding: Winding | None = None) -> Self:
        """The same mechanism with another drive of one joint, elastic if it has a `stiffness` [N m/rad, N/m] (and a
        `damping`), or a `spring` of any kind in `cayley.model.spring_kinds`; the rest says what the rotor is, see
        `cayley.model.rotor.Rotor`. Dynamics have it `including("elastic drives")`.
        """
        return type(self)(self.tree.with_drive(joint, stiffness=stiffness, damping=damping, gear=gear, inertia=inertia,
                                              mass=mass, center=center, tensor=tensor, carrier=carrier, place=place,
                                              spring=spring, friction=friction, winding=winding))

    def with_missing_masses(self, mass: float) -> Self:
        """The same mechanism with this mass [kg], at their origins, for the bodies that move and whose mass is unknown:
        0 for dummy links.

        Dynamics refuse such bodies by name rather than guess. A joint that then moves no mass at all has no
        acceleration.

        >>> from cayley.model.joint_kinds import Revolute
        >>> from cayley.model.parts import Body, Joint
        >>> bodies = [Body("base"), Body("dummy"), Body("link", 2.0, (0.5, 0, 0))]
        >>> joints = [Joint("a", "base", "dummy", Revolute()), Joint("b", "dummy", "link", Revolute((0.0, 1.0, 0.0)))]
        >>> arm = cy.Mechanism.of("arm", bodies, joints)
        >>> arm.with_missing_masses(0.0).inertia_matrix([0.0, 0.0])
        array([[0.5, 0. ],
               [0. , 0.5]])
        """
        from cayley.model.masses import with_missing_masses
        return type(self)(with_missing_masses(self.tree, mass))

    def including(self, *terms: str) -> Self:
        """The same mechanism with parts of its drives in all its dynamics, and no others:

        "armature"                the inertia of rotors behind their gears, of drives that are rigid
        "friction"                that of the joints
        "springs"                 those of the joints, with their motors held at zero
        "elastic drives"          motors that drive joints through springs: q is followed by the motors' angles, and
                                  rotors that are known as bodies have all their inertia forces
        "reduced elastic drives"  the same, with rotors whose energy is that of their own spin
        "geared drives"           rotors of rigid drives, known as bodies, that turn with their joints

        >>> arm = cy.load("planar2r").with_drive("joint1", stiffness=1e3, gear=50.0, inertia=1e-3)
        >>> soft = arm.including("elastic drives")
        >>> soft.joint_names, soft.actuated_joints
        (('joint1', 'joint2', 'joint1 motor'), ('joint2', 'joint1 motor'))
        """
        return type(self)(self.tree.including(*terms))

    def spanning_tree(self) -> Self:
        """The same mechanism without its constraints: loops are open, mimic joints move on their own."""
        free = self.tree.spanning_tree()
        return self if free is self.tree else type(self)(free)
