"""The mechanism in a system, by the block of its state that is a configuration, and how it has moved."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.open_tree import Configurations
from cayley.errors import UnsupportedError
from cayley.model.tree import Tree
from cayley.systems.trajectory import SystemTrajectory


def moving_part(trajectory: SystemTrajectory) -> tuple[Tree, tuple[Array, Array]]:
    """The mechanism of a system, and its times and configurations along one trajectory."""
    name = trajectory.system.name
    trees = {block: part.manifold.tree for block, part in trajectory.system.blocks.items()
             if isinstance(part.manifold, Configurations)}
    if len(trees) != 1:
        what = ("no block of its state is the configuration of a mechanism" if not trees
                else f"its blocks {', '.join(trees)} are configurations of several mechanisms")
        raise UnsupportedError(f"{name} is not drawn as it moves: {what}. A mechanism that goes by its states is drawn "
                               "by `machine.animate((run.t, configurations), path)`")
    if trajectory.batch:
        raise UnsupportedError(f"this is a batch of {trajectory.batch} trajectories of {name}: take one out of it by "
                               "its index")
    (block, tree), = trees.items()
    return tree, (np.asarray(trajectory.t), np.asarray(trajectory[block]))
