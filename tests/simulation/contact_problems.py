"""Contact problems of robots and random trees at random postures that touch, computed by NumPy from kernels."""

from functools import cache

import numpy as np

import cayley as cy
from cayley.compiler.solving.contact_impulses import contact_impulses
from cayley.compiler.solving.contact_law import ContactRows
from cayley.geometry.convex_shapes import Box, Capsule, Sphere
from cayley.kinematics.contacts.contact_jacobian import contact_jacobian
from cayley.kinematics.contacts.contact_points import contact_layout, contact_points
from cayley.model.joint_kinds import Floating
from cayley.model.parts import Joint
from model.random_trees import random_parts
from model.test_urdf import ROBOTS

STEP = 1e-3
KINDS = ("revolute", "prismatic", "universal", "spherical", "helical", "planar")


def quadruped():
    """ANYmal on four feet."""
    dog = cy.load(ROBOTS["anymal_b_simple_description/robots/anymal.urdf"], floating_base=True)
    return dog.with_contacts(points={foot: 0.03 for foot in ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")})


def humanoid():
    """Talos on the corners of both soles: eight points."""
    talos = cy.load(ROBOTS["talos_data/robots/talos_reduced.urdf"], floating_base=True)
    return talos.with_contacts(shapes={f"{side}_sole_link": Box((0.21, 0.13, 0.02))
                                       for side in ("left", "right")})


def hand(parts=("tips",)):
    """Allegro's fingers, whose tips touch each other, and with the "links" below them, too."""
    made = cy.load(ROBOTS["allegro_hand_description/urdf/allegro_left_hand.urdf"])
    shapes = {f"link_{k}.0": Sphere(0.014, (0.0, 0.0, 0.025)) for k in (3, 7, 11, 15)}
    if "links" in parts:
        shapes |= {f"link_{k}.0": Capsule(0.011, (0.0, 0.0, 0.0), (0.0, 0.0, 0.035)) for k in (2, 6, 10, 14)}
    return made.with_contacts(None, shapes=shapes, self_contact=True)


def branched(seed):
    """A random tree that floats, with balls on all its bodies."""
    rng = np.random.default_rng(seed)
    bodies, joints, _ = random_parts(rng, ("floating", *rng.choice(KINDS, size=5)))
    joints[0] = Joint("base", "root", "body0", Floating())
    made = cy.Mechanism.of("branched", bodies, joints)
    return made.with_contacts(points={body.name: 0.1 for body in bodies[1:]})


@cache
def compiled(mechanism):
    """Kernels of a mechanism: the gaps and rows of its contacts, and the solution of its contact problem."""
    tree = mechanism.tree
    c = len(contact_layout(tree))

    @cy.kernel(f"({tree.nq})->({c}),({3 * c},{tree.nv})", outputs=("gaps", "rows"))
    def touching(q):
        found = contact_points(tree, q)
        return found.gap, np.concatenate(list(contact_jacobian(tree, q, found)))

    @cy.kernel(f"({3 * c},{3 * c}),({3 * c}),({c}),({3 * c})->({3 * c}),()", outputs=("r", "residual"))
    def solved(W, free, friction, start):
        found = contact_impulses(ContactRows(W, free, friction, np.zeros(0), np.zeros(0)), start)
        return found.r, found.residual

    return touching, solved


def postures(mechanism, count, seed, uneven=0.5):
    """Random configurations (count, nq) that touch, their gaps (count, c) and rows (count, 3 c, nv): what floats is
    lowered, what does not is moved from its neutral configuration. A share of the other points touches, too, as on
    steps of the ground."""
    rng = np.random.default_rng(seed)
    tree = mechanism.tree
    touching = compiled(mechanism)[0]
    lower, upper = np.maximum(tree.lower, -2.0), np.minimum(tree.upper, 2.0)
    floats = isinstance(tree.joints[0].motion, Floating)
    q = rng.uniform(lower, upper, size=(count if floats else 40 * count, tree.nq)) * (0.5 if floats else 1.0)
    for joint, own in zip(tree.joints, tree.q_slices, strict=True):
        if joint.motion.nq in (4, 7):
            turned = np.concatenate([np.ones((len(q), 1)), 0.15 * rng.normal(size=(len(q), 3))], axis=1)
            q[:, own.stop - 4:own.stop] = turned / np.linalg.norm(turned, axis=1, keepdims=True)
    gaps, rows = touching(q)
    if floats:
        q[:, 2] -= gaps.min(1)
    else:
        q = q[gaps.min(1) < 0][:count]
        apart, together = np.zeros(len(q)), np.ones(len(q))
        for _ in range(30):
            middle = 0.5 * (apart + together)
            meets = touching(middle[:, None] * q).gaps.min(1) < 0
            apart, together = np.where(meets, apart, middle), np.where(meets, middle, together)
        q = together[:, None] * q
    gaps, rows = touching(q)
    if floats:
        gaps = np.where(rng.random(gaps.shape) < uneven, np.minimum(gaps, 0.0), gaps)
    return q, gaps, rows


def problems(mechanism, count, seed, **options):
    """W (count, m, m), the free velocities (count, m) and the friction (count, c) of random states."""
    rng = np.random.default_rng(seed + 1)
    q, gaps, rows = postures(mechanism, count, seed, **options)
    speeds = 10 ** rng.uniform(-3, 0, size=(len(q), 1))
    qd, tau = speeds * rng.normal(size=(len(q), mechanism.nv)), rng.normal(size=(len(q), mechanism.nv))
    M = mechanism.inertia_matrix(q)
    v = qd + STEP * np.linalg.solve(M, (tau - mechanism.bias_forces(q, qd))[..., None])[..., 0]
    W = rows @ np.linalg.solve(M, np.swapaxes(rows, 1, 2))
    free = np.einsum("bij,bj->bi", rows, v)
    free[:, 2::3] += np.where(gaps > 0, gaps / STEP, np.maximum(0.2 * gaps / STEP, -0.1))
    friction = np.repeat(rng.uniform(0.1, 1.0, size=(len(q), 1)), gaps.shape[1], axis=1)
    return (W + np.swapaxes(W, 1, 2)) / 2, free, friction
