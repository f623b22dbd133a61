"""The contact points of a mechanism, in the order of its pairs of shapes, and what each of them is between.

Every pair has a fixed number of points, of which those that touch have gaps that are not positive. A kind of pairs is a
text in a module of its own and a line in `TEXTS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array
from cayley.errors import UnsupportedError
from cayley.geometry.contact_shapes import ConvexHull, Cylinder, HalfSpace, HeightField
from cayley.geometry.convex_shapes import Box, Capsule, Sphere
from cayley.geometry.pose import Pose
from cayley.kinematics.contacts.ball_and_box import box_and_capsule, box_and_sphere
from cayley.kinematics.contacts.boxes import boxes
from cayley.kinematics.contacts.convex import box_and_corners, convex_shapes
from cayley.kinematics.contacts.grounds import on_half_space, on_height_field
from cayley.kinematics.contacts.lowest_points import LOWEST
from cayley.kinematics.contacts.round_shapes import round_shapes
from cayley.kinematics.contacts.spot import Spot
from cayley.kinematics.forward import body_poses
from cayley.kinematics.frame_kernels import sized_kernel
from cayley.kinematics.mechanism_kernel import MechanismKernel, of_a_mechanism
from cayley.model.contacts import ContactPair
from cayley.model.masses import rigid_groups
from cayley.model.tree import Tree
from cayley.showing import shown_briefly


class PairText(NamedTuple):
    """The `size` of a kind of pairs, how many contact points it has, and its text `spots(first, second, pose, other)`,
    of both shapes and the poses of their bodies in the root."""

    size: int
    spots: Callable[[Any, Any, Pose, Pose], list[Spot]]


TEXTS: dict[tuple[type, type], PairText] = {
    **{(HalfSpace, kind): PairText(lowest.size, on_half_space) for kind, lowest in LOWEST.items()},
    **{(HeightField, kind): PairText(lowest.size, on_height_field) for kind, lowest in LOWEST.items()},
    (Box, Sphere): PairText(1, box_and_sphere),
    (Box, Capsule): PairText(3, box_and_capsule),
    (Box, Box): PairText(4, boxes),
    **{(kind, other): PairText(1, round_shapes) for kind in (Sphere, Capsule) for other in (Sphere, Capsule)},
    (Capsule, Capsule): PairText(2, round_shapes),
    (Box, Cylinder): PairText(5, box_and_corners),
    (Box, ConvexHull): PairText(6, box_and_corners),
    **{(kind, rounded): PairText(1, convex_shapes) for rounded in (Cylinder, ConvexHull)
       for kind in (Sphere, Capsule, Cylinder, ConvexHull)},
}


@shown_briefly
class ContactPoints(NamedTuple):
    """Contact points (..., c): the gap [m], a signed distance that is negative where shapes overlap; the position
    (..., c, 3) midway between the two surfaces; and the axes (..., c, 3, 3), whose rows are two tangents and the normal
    from the first shape to the second, all in the root's axes."""

    gap: Array
    position: Array
    axes: Array


class ContactSpot(NamedTuple):
    """Place of a contact point in the model: the number of its pair in `tree.contacts`, the numbers of both bodies, and
    its name, such as "LF_FOOT on ground"."""

    pair: int
    first: int
    second: int
    name: str


def contact_layout(tree: Tree) -> tuple[ContactSpot, ...]:
    """Pair, bodies and name of each contact point of a mechanism, in the order of `contact_points`. Pairs of
    bodies that do not move against each other, because joints are locked, have none.

    >>> box = cy.load("planar2r").with_contacts(points={"tool": 0.1})
    >>> contact_layout(box.tree)
    (ContactSpot(pair=0, first=0, second=2, name='tool on ground'),)
    """
    return kept(tree, "contact layout", lambda: tuple(
        ContactSpot(pair, tree.body_number(each.first.body), tree.body_number(each.second.body),
                    each.name if count == 1 else f"{each.name} {k}")
        for pair, each in _moving_pairs(tree) for count in [_text(each)[0].size] for k in range(1, count + 1)))


def contact_points(tree: Tree, q: Array) -> ContactPoints:
    """The contact points of a mechanism: their gaps, positions and axes."""
    poses = body_poses(tree, q)
    spots: list[Spot] = []
    for _, pair in _moving_pairs(tree):
        text, is_turned = _text(pair)
        sides = [(side.shape, poses[tree.body_number(side.body)]) for side in (pair.first, pair.second)]
        (first, pose), (second, other) = reversed(sides) if is_turned else sides
        found = text.spots(first, second, pose, other)
        spots += [spot.turned() for spot in found] if is_turned else found
    if not spots:
        return ContactPoints(np.zeros(0), np.zeros((0, 3)), np.zeros((0, 3, 3)))
    return ContactPoints(*map(np.stack, zip(*spots, strict=True)))


@of_a_mechanism
def contact_points_kernel(tree: Tree) -> MechanismKernel[ContactPoints]:
    """`contact_points(q)`: the kernel for one configuration or many."""
    c = len(contact_layout(tree))
    if not c:
        raise UnsupportedError(f"{tree.name} has nothing that may touch: `with_contacts` says what may")

    def text(q: Array) -> ContactPoints:
        return contact_points(tree, q)

    made = sized_kernel(tree, f"(q)->({c}),({c},3),({c},3,3)", text, "contact_points",
                        sentence="Gaps, positions and axes of the contact points: rows of two tangents and the normal.")
    return cast("MechanismKernel[ContactPoints]", made)


def _moving_pairs(tree: Tree) -> tuple[tuple[int, ContactPair], ...]:
    """The pairs, with their numbers, of bodies that move against each other."""
    group_of = {tree.bodies[k].name: number for number, group in enumerate(rigid_groups(tree)) for k in group}
    return tuple((number, pair) for number, pair in enumerate(tree.contacts)
                 if group_of[pair.first.body] != group_of[pair.second.body])


def _text(pair: ContactPair) -> tuple[PairText, bool]:
    """The text of a pair, and whether it is one of the second shape with the first."""
    kinds = type(pair.first.shape), type(pair.second.shape)
    for found, is_turned in ((TEXTS.get(kinds), False), (TEXTS.get(kinds[::-1]), True)):
        if found is not None:
            return found, is_turned
    one, other = (kind.__name__ for kind in kinds)
    raise UnsupportedError(f"the contact {pair.name} is one of {one} and {other}, which has no text: give one of them "
                           f"another shape, `with_contacts(shapes=...)`, or exclude the pair, "
                           f"exclude=[({pair.first.name!r}, {pair.second.name!r})]")
