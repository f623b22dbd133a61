"""The singular postures of planar arms of revolute joints, in closed form: all links on one line, each forth or back.

The point of such an arm is at a distance |+-a1 +- a2 ... +- an| from the first axis, whatever the first angle is: the
image of the locus is circles. The largest of them is the outer boundary; the inner one has the radius by which the
longest link exceeds all others together, if it does; the others are inside. Source: Ruggiu 2.3.4, Fig. 2.9.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import UnsupportedError
from cayley.kinematics.forward import body_poses, frame_pose
from cayley.model.tree import Tree

_PARALLEL = 1e-5  # files give right angles as 1.5708
_SHORT = 1e-9  # of all links together: a link of no length
_MOST_LINKS = 12


class Folds(NamedTuple):
    """Singular postures (k, nq) with the first angle at rest, the radii (k) of their circles, and the lengths (n) of
    the links."""

    configurations: Array
    radii: Array
    lengths: Array

    @property
    def on_boundary(self) -> Array:
        """Which of the circles (k) bound what the point reaches, if no joint has limits."""
        total = self.lengths.sum()
        hole = 2 * self.lengths.max() - total
        near = 1e-9 * total
        return (self.radii > total - near) | ((hole > near) & (np.abs(self.radii - hole) < near))


def planar_folds(tree: Tree, frame: str, joints: list[int]) -> Folds | None:
    """The folds of an arm with these joints on the way to a frame; None if they are not all turns about one direction.

    A joint between which and the next there is no distance stays at rest: it turns with the next.
    """
    poses = body_poses(tree, tree.neutral)
    screws = [tree.joints[k].motion.screw for k in joints]
    if any(screw is None or not screw.turn or screw.slide for screw in screws):
        return None
    axes = np.stack([poses[k + 1].R @ np.asarray(screw.axis) for k, screw in zip(joints, screws, strict=True) if screw])
    normal = axes[0] / np.linalg.norm(axes[0])
    if np.linalg.norm(np.cross(normal, axes), axis=1).max() > _PARALLEL:
        return None
    places = np.stack([*[poses[k + 1].p for k in joints], frame_pose(tree, tree.neutral, frame).p])
    links = np.diff(places, axis=0)
    links = links - np.outer(links @ normal, normal)
    lengths = np.linalg.norm(links, axis=1)
    long = np.flatnonzero(lengths > _SHORT * lengths.sum())
    if len(long) > _MOST_LINKS:
        raise UnsupportedError(f"{tree.name} has {len(long)} links on the way to {frame!r}: the singular postures of "
                               f"more than {_MOST_LINKS} are 2^n too many")
    first = links[long[0]]
    angles = np.arctan2(np.cross(first, links) @ normal, links @ first)  # from the first link, in the plane
    senses = np.sign(axes @ normal)
    postures = []
    radii = []
    for back in product((0, 1), repeat=len(long) - 1):
        turned = np.zeros(len(joints))  # of each link beyond where it stands at rest
        for k in range(len(joints)):
            turned[k] = turned[k - 1] if k else 0.0
            if k in long[1:]:
                turned[k] = np.pi * back[int(np.flatnonzero(long == k)[0]) - 1] - angles[k]
            if k == long[0]:
                turned[k] = 0.0
        q = tree.neutral.copy()
        for k, turn in zip(joints, senses * np.diff(turned, prepend=0.0), strict=True):
            q[tree.q_slices[k]] += turn
        postures.append(q)
        radii.append(abs(lengths[long] @ [1.0, *np.where(np.array(back) == 1, -1.0, 1.0)]))
    return Folds(np.array(postures), np.array(radii), lengths[long])
