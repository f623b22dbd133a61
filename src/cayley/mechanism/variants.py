"""Less usual changes of a mechanism, which give a new one: `arm.variants`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cayley.compiler.typing import ArrayLike
from cayley.mechanism import functions
from cayley.mechanism.room import Room, changed
from cayley.model.tree import Tree

if TYPE_CHECKING:
    from cayley.mechanism import Mechanism



class Variants(Room):
    """Variants of a mechanism with other parts. Common changes such as `arm.with_payload` are methods of `arm`."""

    with_body = changed(lambda: functions.with_body)
    with_joints = changed(lambda: Tree.with_joints)
    with_armature = changed(lambda: functions.with_armature)

    def with_missing_masses(self, mass: float) -> Mechanism:
        """The same mechanism with this mass [kg], at their origins, for the bodies that move and whose mass is unknown:
        0 for dummy links.

        Without it, dynamics raise an error that names such bodies. A joint that then moves no mass at all has no
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
        return type(self.arm)(functions.with_missing_masses(self.tree, mass))

    without_payload = changed(lambda: functions.without_payload)
    with_actuated = changed(lambda: Tree.with_actuated)

    def with_configuration(self, name: str, q: ArrayLike | Mapping[str, ArrayLike]) -> Mechanism:
        """The same mechanism with one more configuration that has a name, or another of this name: all coordinates
        (nq), or those of some joints by their names, with the others near zero.

        >>> cy.load("planar2r").variants.with_configuration("bent", {"joint2": 1.0}).configurations["bent"]
        array([0., 1.])
        """
        return type(self.arm)(functions.with_configuration(self.tree, name, q))

    # Constraints

    with_constraints = changed(lambda: Tree.with_more_constraints)
    without_constraints = changed(lambda: Tree.without_constraints)

    def spanning_tree(self) -> Mechanism:
        """The same mechanism without its constraints: loops are open, mimic joints move on their own."""
        free = self.tree.spanning_tree()
        return self.arm if free is self.tree else type(self.arm)(free)

    # Parts of a mechanism

    freed = changed(lambda: functions.freed)
    reduced = changed(lambda: functions.reduced)
    subtree = changed(lambda: functions.subtree)
