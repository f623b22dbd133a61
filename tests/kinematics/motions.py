"""Random trees and states for the tests of kinematics: every kind of joint, in chains and in branches."""

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.mechanism import Mechanism
from cayley.model.joint_kinds import Planar
from cayley.model.parts import Joint
from model.random_trees import KINDS, random_configuration, random_parts, unit

KINDS_AND_MORE = (*KINDS, "tilted planar")


def random_tree(seed, *kinds):
    """A tree with joints of the given kinds; a "tilted planar" joint is planar across an axis that is none of the
    frame's.
    """
    random = np.random.default_rng(seed)
    bodies, joints, frames = random_parts(random, ["planar" if kind == "tilted planar" else kind for kind in kinds])
    for k, kind in enumerate(kinds):
        if kind == "tilted planar":
            joints[k] = Joint(joints[k].name, joints[k].parent, joints[k].child, Planar(tuple(unit(random))),
                              joints[k].placement)
    return Mechanism.of("random", bodies, joints, frames=frames)


def around(kind):
    """A tree in which a kind of joint has revolute and prismatic joints on both sides, and a second branch."""
    return random_tree(len(kind), "revolute", kind, "revolute", "prismatic", kind)


def everything(seed=0):
    return random_tree(seed, *KINDS_AND_MORE)


def random_state(tree, seed=1):
    random = np.random.default_rng(seed)
    return random_configuration(random, tree), random.normal(size=tree.nv), random.normal(size=tree.nv)


def frames_of(tree):
    return [tree.bodies[0].name, *[f.name for f in tree.frames]]


def of_q(tree, text, shape):
    """A kernel of the configuration alone."""
    return kernel(f"({tree.nq})->({','.join(map(str, shape))})", name="text")(text)


def close(found, expected, tolerance=1e-12):
    """Equal to a part of the largest number that occurs, or of one."""
    found, expected = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    assert found.shape == expected.shape
    size = max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * size)
