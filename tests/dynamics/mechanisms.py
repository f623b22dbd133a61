"""Random mechanisms with every kind of joint, here and in Pinocchio."""

import numpy as np

from cayley.dynamics.rigid_links.links import links_of
from cayley.mechanism import Mechanism
from kinematics.pinocchio_trees import PinocchioTree, without_universal_joints
from model.random_trees import KINDS, random_configuration, random_parts


def random_mechanism(seed):
    """Every kind of joint once, in random order, with branches; a state of it; and the same in Pinocchio."""
    rng = np.random.default_rng(seed)
    bodies, joints, frames = random_parts(rng, list(rng.permutation(KINDS)))
    tree = Mechanism.of("random", bodies, joints, frames=frames, gravity=9.81 * rng.normal(size=3))
    q, v, vd = random_configuration(rng, tree), rng.normal(size=tree.nv), rng.normal(size=tree.nv)
    there = PinocchioTree.of(without_universal_joints(tree))
    there.model.gravity.linear = np.array(tree.gravity)
    return tree, links_of(tree.tree), (q, v, vd), there


def near(found, wanted, tolerance=1e-12):
    assert np.abs(found - wanted).max() <= tolerance * max(1e-300, np.abs(wanted).max())
