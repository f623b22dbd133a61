"""A mechanism whose root moves freely: a robot that walks, flies or swims, from the description of one that stands."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain, count

from cayley.errors import ModelError
from cayley.model.joint_kinds import Floating
from cayley.model.parts import Body, Joint
from cayley.model.tree import Tree


def on_floating_base(tree: Tree) -> Tree:
    """The mechanism with its root in a floating joint, `root_joint`, on a new root, `world` (`universe`, if there is a
    `world`).

    At zero the old root is where the new one is, so gravity keeps its direction.

    >>> [joint.name for joint in on_floating_base(cy.load("planar2r").tree).joints]
    ['root_joint', 'joint1', 'joint2']
    """
    root = tree.bodies[0]
    carried = [joint for joint, parent in zip(tree.joints, tree.parents, strict=True) if parent == 0]
    if carried and not root.mass and all(joint.motion.free for joint in carried):
        raise ModelError(f"{tree.name} has a floating base already: joint {carried[0].name!r} on {root.name!r}; leave "
                         "floating_base out")
    world = _untaken(("world", "universe", "ground beneath"), tree.frame_names)
    free = _untaken(("root_joint", "floating_base", "free_joint"), [joint.name for joint in tree.joints])
    return tree.with_parts([Body(world, 0.0), *tree.bodies], [Joint(free, world, root.name, Floating()), *tree.joints])


def _untaken(names: Sequence[str], taken: Collection[str]) -> str:
    """The first of the names that is not taken, or the first of them with a number."""
    return next(name for name in chain(names, (f"{names[0]}_{k}" for k in count(2))) if name not in taken)
