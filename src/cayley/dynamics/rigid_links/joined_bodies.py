"""Bodies that fixed joints hold together are one rigid body: its moments."""

from __future__ import annotations

from cayley.dynamics.rigid_links.moments import NOTHING, Moments
from cayley.geometry.pose import HERE, Pose
from cayley.model.tree import Tree


def joined_moments(tree: Tree, group: tuple[int, ...]) -> Moments:
    """The moments of the bodies of a group that fixed joints hold together, in the frame of its first body: constants.
    """
    places = {group[0]: HERE}
    total = NOTHING
    for body in group:
        if body not in places:
            placement = Pose.of(tree.joints[body - 1].placement)
            places[body] = places[tree.parents[body - 1]].then(placement)
        total = total.plus(Moments.of(tree.bodies[body]).seen_from(*places[body]))
    return total
