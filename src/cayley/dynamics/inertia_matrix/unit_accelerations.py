"""The wrenches that unit accelerations ask of every joint of a tree: Newton and Euler for generalized links.

Generalized link j is all that joint j carries, frozen together. About its origin, in its axes:

    m, U, E   its mass, first moment and inertia tensor
    a, e      acceleration of the origin and angular acceleration, that a unit acceleration of joint i gives it
    f, eta    force and moment of its joint: f = m a + e x U, eta = E e + U x a
For joint i itself e or a is the joint's axis; the joints before it feel the same wrench, about their own origins.
Nothing is divided, so that links without mass are links like any others. Source: Balafoutis & Patel (6.3.9)-(6.3.27),
with the moment of a prismatic joint as in spec E-1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import asked_by, composite_bodies, felt_inwards
from cayley.dynamics.rigid_links.links import Links, at_child, links_of
from cayley.dynamics.rigid_links.moments import LinkMoments
from cayley.kinematics.frame_kernels import sized_kernel
from cayley.kinematics.mechanism_kernel import MechanismKernel, of_a_mechanism, of_the_tree
from cayley.model.tree import Tree
from cayley.showing import shown_briefly


@shown_briefly
class GeneralizedLinks(NamedTuple):
    """The bodies that each moving joint carries, frozen together: mass (..., joints) [kg], first moment (..., joints,
    3) [kg m] and inertia tensor (..., joints, 3, 3) [kg m^2], about the origin and in the axes of the joint's child."""

    mass: Array
    first: Array
    inertia: Array


@shown_briefly
class CompositeBodies(NamedTuple):
    """The same about their centres of mass: mass (..., joints) [kg], centre of mass (..., joints, 3) [m] from the
    origin and in the axes of the joint's child, zero for what has no mass, and inertia tensor (..., joints, 3, 3) [kg
    m^2] about it."""

    mass: Array
    center: Array
    inertia: Array


def unit_acceleration_wrenches(links: Links, q: Array) -> list[list[Any]]:
    """The wrenches (6), (f; eta), in the joints of all links for a unit acceleration of one velocity after the other,
    from rest and without gravity. They act on the links, about their origins and in their axes."""
    bodies = composite_bodies(links, q)
    found: list[list[Any]] = [[np.zeros(6) for _ in links.links] for _ in range(links.nv)]
    for number, link in enumerate(links.links):
        for place, column in enumerate(range(link.columns.start, link.columns.stop)):
            moved = {number: link.subspace(q)[:, place]}
            for later in range(number, len(bodies)):
                if later != number and links.links[later].parent in moved:
                    moved[later] = _carried(links, later, moved[links.links[later].parent], q)
                if later in moved:
                    found[column][later] = np.concatenate(asked_by(bodies[later], moved[later]))
            for before, f, n in felt_inwards(links, q, number, *np.split(found[column][number], 2)):
                found[column][before] = np.concatenate([f, n])
    return found


def _carried(links: Links, number: int, parent: Array, q: Array) -> Array:
    """The acceleration (6) of a link's origin, and its angular acceleration, from those of its parent."""
    link = links.links[number]
    a, e = np.split(parent, 2)
    return np.concatenate([link.outwards(a + np.cross(e, link.offset(q)), q), link.outwards(e, q)])


@of_a_mechanism
def unit_acceleration_wrenches_kernel(tree: Tree) -> MechanismKernel:
    """`unit_acceleration_wrenches(q)` (..., nv, joints, 6)."""
    free = tree.spanning_tree()
    links = links_of(free)
    places = links.places_of_children(free)

    def text(q: Array) -> Array:
        found = unit_acceleration_wrenches(links, q)
        rows = [[at_child(own[number], pose) for number, pose in places] for own in found]
        return np.array(rows).reshape(tree.nv, len(places), 6) if rows else np.zeros((0, 0, 6))

    return sized_kernel(tree, f"(q)->(v,{len(places)},6)", text, "unit_acceleration_wrenches", unit="N; N m",
                        sentence="Wrenches (f; m) in the joints that unit accelerations ask for, from rest and without "
                        f"gravity, at the origins and in the axes of the children. {of_the_tree(tree)}".rstrip())


@of_a_mechanism
def generalized_links_kernel(tree: Tree) -> MechanismKernel[GeneralizedLinks]:
    """`generalized_links(q)`: `GeneralizedLinks`."""
    made = _carried_kernel(tree, lambda seen: GeneralizedLinks(*_stacked([(m.mass, m.first, m.inertia) for m in seen])),
                           "generalized_links", "Mass, first moment and inertia tensor of all that each joint carries, "
                           "frozen together, at the origins and in the axes of the children.")
    return cast("MechanismKernel[GeneralizedLinks]", made)


@of_a_mechanism
def composite_bodies_kernel(tree: Tree) -> MechanismKernel[CompositeBodies]:
    """`composite_bodies(q)`: `CompositeBodies`, Balafoutis & Patel (6.2.8)."""
    made = _carried_kernel(
        tree, lambda seen: CompositeBodies(*_stacked([(m.mass, m.center, m.inertia_about_center) for m in seen])),
        "composite_bodies", "Mass, centre of mass and inertia tensor about it of all that each joint carries, frozen "
        "together, from the origins and in the axes of the children.")
    return cast("MechanismKernel[CompositeBodies]", made)


def _carried_kernel(tree: Tree, told: Callable[[list[LinkMoments]], Any], name: str, sentence: str) -> MechanismKernel:
    """The moments of all that each moving joint carries, about the origins of the children."""
    free = tree.spanning_tree()
    links = links_of(free)
    places = links.places_of_children(free)

    def text(q: Array) -> Any:  # noqa: ANN401 (a named tuple of one of the kinds above)
        bodies = composite_bodies(links, q)
        return told([bodies[number].seen_from(*pose.inverse) for number, pose in places])

    n = len(places)
    return sized_kernel(tree, f"(q)->({n}),({n},3),({n},3,3)", text, name,
                        sentence=f"{sentence} {of_the_tree(tree)}".rstrip())


def _stacked(moments: list[tuple[Scalar, Array, Array]]) -> tuple[Array, Array, Array]:
    return (np.array([own[0] for own in moments]), np.array([own[1] for own in moments]).reshape(-1, 3),
            np.array([own[2] for own in moments]).reshape(-1, 3, 3))
