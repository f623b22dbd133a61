"""Less usual changes of a mechanism, which give a new one: `arm.variants`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cayley.compiler.typing import ArrayLike
from cayley.mechanism.room import Room
from cayley.model.constraint_kinds import Constraint
from cayley.model.parts import Joint

if TYPE_CHECKING:
    from cayley.mechanism import Mechanism



class Variants(Room):
    """Mechanisms that differ from this one in their parts; `arm.with_payload` and other usual changes are on `arm`."""

    def with_body(self, body: str, *, mass: float | None = None, center: ArrayLike | None = None,
                  inertia: ArrayLike | None = None) -> Mechanism:
        """The same mechanism with another mass [kg], centre of mass (3) [m] or inertia about it (3, 3) [kg m^2] of one
        body, in its axes; what is not given stays. What no body can have is refused.

        >>> cy.load("planar2r").variants.with_body("link2", mass=3.0).bodies[2].mass
        3.0
        """
        from cayley.model.changed_parts import with_body
        return type(self.arm)(with_body(self.tree, body, mass=mass, center=center, inertia=inertia))

    def with_joints(self, *joints: Joint) -> Mechanism:
        """The same mechanism with these parts in the places of the joints of their names; `with_joint` changes some of
        what is said of one."""
        return type(self.arm)(self.tree.with_joints(*joints))

    def with_armature(self, joint: str | Sequence[str], inertia: ArrayLike) -> Mechanism:
        """The same mechanism with another armature in one joint [kg m^2; kg], or in several, the same in all or one for
        each: the inertia of the rotor that the joint feels, behind the gear. Dynamics have it `including("armature")`.

        >>> arm = cy.load("planar2r").variants.with_armature("joint2", 0.5).including("armature")
        >>> arm.inertia_matrix([0.0, 0.0])[1, 1] - cy.load("planar2r").inertia_matrix([0.0, 0.0])[1, 1]
        np.float64(0.5)
        """
        from cayley.model.changed_parts import with_armature
        return type(self.arm)(with_armature(self.tree, joint, inertia))

    def with_missing_masses(self, mass: float) -> Mechanism:
        """The same mechanism with this mass [kg], at their origins, for the bodies that move and whose mass is unknown:
        0 for dummy links.

        Dynamics refuse such bodies by name rather than guess. A joint that then moves no mass at all has no
        acceleration.

        >>> from cayley.model.joint_kinds import Revolute
        >>> from cayley.model.parts import Body, Joint
        >>> bodies = [Body("base"), Body("dummy"), Body("link", 2.0, (0.5, 0, 0))]
        >>> joints = [Joint("a", "base", "dummy", Revolute()), Joint("b", "dummy", "link", Revolute((0.0, 1.0, 0.0)))]
        >>> arm = cy.Mechanism.of("arm", bodies, joints)
        >>> arm.variants.with_missing_masses(0.0).inertia_matrix([0.0, 0.0])
        array([[0.5, 0. ],
               [0. , 0.5]])
        """
        from cayley.model.masses import with_missing_masses
        return type(self.arm)(with_missing_masses(self.tree, mass))

    def without_payload(self, name: str | None = None) -> Mechanism:
        """The same mechanism without a load that was put down, or a tool that was taken off: the only payload, or the
        body of this name, which must be fixed to another and carry nothing."""
        from cayley.model.changed_parts import without_payload
        return type(self.arm)(without_payload(self.tree, name))

    def with_actuated(self, *joints: str) -> Mechanism:
        """The same mechanism with drives in these joints, and in no others."""
        return type(self.arm)(self.tree.with_actuated(*joints))

    def with_configuration(self, name: str, q: ArrayLike | Mapping[str, ArrayLike]) -> Mechanism:
        """The same mechanism with one more configuration that has a name, or another of this name: all coordinates
        (nq), or those of some joints by their names, with the others near zero.

        >>> cy.load("planar2r").variants.with_configuration("bent", {"joint2": 1.0}).configurations["bent"]
        array([0., 1.])
        """
        from cayley.model.named_configurations import with_configuration
        return type(self.arm)(with_configuration(self.tree, name, q))

    # Constraints

    def with_constraints(self, *constraints: Constraint) -> Mechanism:
        """The same mechanism with these constraints besides its own, or in the places of those of their names."""
        return type(self.arm)(self.tree.with_more_constraints(*constraints))

    def without_constraints(self, *names: str) -> Mechanism:
        """The same mechanism without the constraints and loops of these names: a brake that is let go, a wheel in the
        air."""
        return type(self.arm)(self.tree.without_constraints(*names))

    def spanning_tree(self) -> Mechanism:
        """The same mechanism without its constraints: loops are open, mimic joints move on their own."""
        free = self.tree.spanning_tree()
        return self.arm if free is self.tree else type(self.arm)(free)

    # Parts of a mechanism

    def freed(self, joints: str | Sequence[str]) -> Mechanism:
        """The same mechanism with joints that were `locked` as they were before."""
        from cayley.model.locking import freed
        return type(self.arm)(freed(self.tree, joints))

    def reduced(self) -> Mechanism:
        """The same mechanism with bodies that fixed and locked joints hold together made one, the others frames of
        their names: what moves, and how, is the same. After `locked` this is Pinocchio's `buildReducedModel`.

        >>> cy.load("panda").locked("panda_joint7").variants.reduced()
        <panda: 7 bodies, 6 joints, nq = 6, nv = 6>
        """
        from cayley.model.reducing import reduced
        return type(self.arm)(reduced(self.tree))

    def subtree(self, body: str, q: ArrayLike | None = None) -> Mechanism:
        """The part that a body carries, with that body as its root: a hand, a leg. Gravity is as the body feels it in
        its axes when the joints before it are as in `q` (nq), at their zeros if none is given. What ties the part to
        the rest, loops and mimic joints, is an error that names it.

        >>> cy.load("panda_hand").variants.subtree("panda_hand").joint_names
        ('panda_finger_joint1', 'panda_finger_joint2')
        """
        from cayley.model.reducing import subtree
        return type(self.arm)(subtree(self.tree, body, q))
