"""Small mechanisms whose motion is known: pendulums, free bodies, tops, sliding masses."""

import numpy as np

from cayley.model.joint_kinds import Floating, Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Joint, Limits
from cayley.model.tree import Tree

GRAVITY = 9.81


def pendulum(length=0.7, mass=1.3, **joint):
    """A point mass on a rod, turning about y: q = 0 hangs down."""
    bob = Body("bob", mass, [0.0, 0.0, -length], np.zeros((3, 3)))
    return Tree.of("pendulum", [Body("base"), bob], [Joint("hinge", "base", "bob", Revolute((0.0, 1.0, 0.0)), **joint)])


def slider(lower=-np.inf, upper=np.inf, mass=2.0):
    """A mass that falls along a vertical guide."""
    limits = Limits((lower,), (upper,))
    guide = Joint("guide", "base", "mass", Prismatic((0.0, 0.0, 1.0)), limits=limits)
    return Tree.of("slider", [Body("base"), Body("mass", mass)], [guide])


def free_body(inertia=(0.4, 0.7, 1.0), mass=1.5, gravity=(0.0, 0.0, 0.0), center=(0.0, 0.0, 0.0)):
    body = Body("body", mass, center, np.diag(inertia))
    return Tree.of("free body", [Body("world"), body], [Joint("free", "world", "body", Floating())], gravity=gravity)


def top(inertia=(0.02, 0.02, 0.01), mass=0.8, height=0.15):
    """A heavy top on a ball joint."""
    body = Body("top", mass, [0.0, 0.0, height], np.diag(inertia))
    return Tree.of("top", [Body("base"), body], [Joint("ball", "base", "top", Spherical())])


def floating_arm(gravity=(0.0, 0.0, 0.0), hand=Prismatic):
    """A floating trunk with a ball-jointed arm and a prismatic or revolute hand: nothing but joints inside acts."""
    rng = np.random.default_rng(5)
    bodies = [Body("world"), Body("trunk", 3.0, [0.1, -0.05, 0.2], np.diag([0.2, 0.25, 0.3])),
              Body("arm", 1.2, [0.2, 0.1, 0.0], np.diag([0.05, 0.06, 0.04])),
              Body("hand", 0.5, [0.05, 0.0, 0.1], np.diag([0.01, 0.012, 0.009]))]
    place = np.eye(4)
    place[:3, 3] = [0.3, 0.2, 0.1]
    axis = rng.normal(size=3)
    joints = [Joint("free", "world", "trunk", Floating()), Joint("shoulder", "trunk", "arm", Spherical(), place),
              Joint("slide", "arm", "hand", hand(tuple(axis / np.linalg.norm(axis))), place)]
    return Tree.of("floating arm", bodies, joints, gravity=gravity)


def random_state(tree, seed):
    rng = np.random.default_rng(seed)
    q = np.array(tree.neutral)
    for joint, own in zip(tree.joints, tree.q_slices, strict=True):
        q[own] += rng.normal(size=joint.motion.nq) * 0.5
        if joint.motion.nq in (4, 7):
            q[own.stop - 4:own.stop] /= np.linalg.norm(q[own.stop - 4:own.stop])
    return q, rng.normal(size=tree.nv)
