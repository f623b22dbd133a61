"""The inertia matrix by every published method: against Pinocchio, a 60-digit particle model, the worked values, and
each other.
"""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cayley.compiler.kernel import kernel
from cayley.dynamics.accounting.counting_scalar import Tape
from cayley.dynamics.accounting.forward_tables import dh_arm
from cayley.dynamics.inertia_matrix import (
    counted_products,
    generalized_links,
    kinetic_energy_tensor,
    lagrange_elements,
    operator_factors,
    orthogonal_complement,
    spatial_composites,
    walker_orin,
    walker_orin_3,
    walker_orin_symmetric,
)
from cayley.dynamics.inertia_matrix.methods import METHODS
from cayley.dynamics.inverse.augmented_bodies import augmented_links
from cayley.dynamics.rigid_links.links import links_of, serial_chain
from cayley.dynamics.rigid_links.spatial_operators import operators
from cayley.errors import ModelError, SignatureError, UnsupportedError
from cayley.kinematics.forward import body_poses
from cayley.mechanism import Mechanism
from cayley.model.catalogue import load_robot
from cayley.model.parts import Body
from cayley.model.tree import Tree
from compiler.parity import check_parity
from dynamics.chains import EVERY_SHORT_PATTERN, LONG_PATTERNS, random_chain, random_state
from dynamics.particles import particle_forces
from dynamics.robots import ACCEPTED, pinocchio_model, places, robot, state_here, state_there
from kinematics.pinocchio_trees import PinocchioTree, without_universal_joints
from model.random_trees import KINDS, random_configuration, random_parts

pytestmark = pytest.mark.filterwarnings("ignore::cayley.model.report.ModelWarning")

CHAIN_METHODS = (walker_orin, walker_orin_symmetric, walker_orin_3, spatial_composites, orthogonal_complement,
                 operator_factors, generalized_links, lagrange_elements, kinetic_energy_tensor)
TREE_METHODS = (spatial_composites, orthogonal_complement)
PATTERNS = (*EVERY_SHORT_PATTERN, *LONG_PATTERNS)


def name_of(module):
    return module.__name__.rsplit(".", 1)[-1]


def near(found, expected, tolerance=1e-12):
    return np.abs(np.asarray(found, dtype=float)
                  - expected).max(initial=0.0) <= tolerance * np.abs(expected).max(initial=0.0)


def skew(v):
    return np.cross(np.eye(3), v)


def crba(tree, q):
    """Pinocchio's inertia matrix in the velocities of a tree here."""
    there = PinocchioTree.of(without_universal_joints(tree))
    T = there.velocity_map(q)
    M = pin.crba(there.model, there.model.createData(), there.q(q))
    M = np.triu(M) + np.triu(M, 1).T
    return T.T @ M @ T


# Every method


@pytest.mark.parametrize("module", CHAIN_METHODS, ids=name_of)
def test_every_pattern_of_joints_gives_pinocchios_matrix(module):
    for number, pattern in enumerate(PATTERNS):
        tree = random_chain(pattern, 7, frames=("modified", "any")[number % 2])
        q, _, _ = random_state(tree, 11)
        assert near(module.inertia_matrix(serial_chain(tree), q), crba(tree, q)), pattern


@pytest.mark.parametrize("module", CHAIN_METHODS, ids=name_of)
@pytest.mark.parametrize("pattern", ["RPR", "PRRP"])
def test_particles_agree(module, pattern):
    tree = random_chain(pattern, 3)
    weightless, q = tree.with_gravity(np.zeros(3)), random_state(tree, 4)[0]
    columns = [particle_forces(weightless, q, np.zeros(tree.nv), unit) for unit in np.eye(tree.nv)]
    assert near(module.inertia_matrix(serial_chain(tree), q), np.stack(columns, axis=1), 1e-13)


@pytest.mark.parametrize("module", TREE_METHODS, ids=name_of)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_trees_with_every_kind_of_joint(module, seed):
    random = np.random.default_rng(seed)
    bodies, joints, _ = random_parts(random, random.permutation(KINDS))
    tree = Tree.of("random", bodies, joints)
    q = random_configuration(random, tree)
    assert near(module.inertia_matrix(links_of(tree), q), crba(tree, q))


@pytest.mark.parametrize("name", ACCEPTED)
def test_robots_of_example_robot_data(name):
    """All of them by the methods for trees, the open chains by all methods."""
    tree, model = robot(name), pinocchio_model(name)
    (q,), _, _ = state_here(tree, 5)
    own = places(tree, model)
    M = pin.crba(model, model.createData(), *state_there(tree, model, q))
    M = (np.triu(M) + np.triu(M, 1).T)[np.ix_(own, own)]
    try:
        links, methods = serial_chain(tree), CHAIN_METHODS
    except UnsupportedError:
        links, methods = links_of(tree), TREE_METHODS
    for module in methods:
        if module is operator_factors and not np.linalg.eigvalsh(M).min(initial=1.0) > 1e-9:
            continue  # a gripper without mass: the factors are infinite, as the next tests say
        assert near(module.inertia_matrix(links, q), M, 1e-11), name_of(module)


WORKED = {
    "s1_g1": [[3.3078106247, 0.7489053124], [0.7489053124, 0.29]],
    "s1_g2": [[1.5578660344, -1.6383747851, -0.1456862192], [-1.6383747851, 4.1666666667, 0.2557186530],
              [-0.1456862192, 0.2557186530, 0.1208333333]],
}
SUMS = {"s1_g3": (18.1228516970, 17.0565756700, 25.3820873817, -0.1370575908),
        "s1_g4": (17.7331544738, 9.3152522378, 23.4702469179, -0.1824870403)}


@pytest.mark.parametrize("module", CHAIN_METHODS, ids=name_of)
def test_worked_values(module):
    for name, expected in WORKED.items():
        n = len(expected)
        q = np.array([0.3, -0.7]) if name == "s1_g1" else 0.2 * np.arange(1, n + 1) - 0.5
        assert np.abs(module.inertia_matrix(serial_chain(load_robot(name)), q) - expected).max() < 1e-10
    for name, (norm, total, trace, corner) in SUMS.items():
        D = module.inertia_matrix(serial_chain(load_robot(name)), 0.2 * np.arange(1, 7) - 0.5)
        assert np.abs(np.array([np.linalg.norm(D), D.sum(), np.trace(D), D[0, 5]])
                      - [norm, total, trace, corner]).max() < 1e-9


def test_methods_by_name_are_these_modules():
    named = {method.module.rsplit(".", 1)[-1] for method in METHODS.values()}
    assert {name_of(module) for module in CHAIN_METHODS} <= named
    tree = random_chain("RPR", 1)
    q = random_state(tree, 1)[0]
    for method in METHODS.values():
        assert near(method.text(tree, "inertia_matrix")(q), crba(tree, q))


@pytest.mark.parametrize("module", CHAIN_METHODS, ids=name_of)
def test_texts_are_agnostic_of_the_scalar(module):
    """Compiled, in C, as SymPy, CasADi, JAX and mpmath: the same text."""
    chain = serial_chain(random_chain("RP", 2))
    text = kernel("(2)->(2,2)", name="inertia_matrix")(lambda q: module.inertia_matrix(chain, q))
    check_parity(text,
                 np.random.default_rng(3).normal(size=(2, 2)), jacobians=False,
                 without=() if module is generalized_links else ("C", ))


# Edges


@pytest.mark.parametrize("module", CHAIN_METHODS, ids=name_of)
def test_massless_links(module):
    """A last link without mass makes D singular; in the middle and with inertia alone it does not."""
    tree = random_chain("RPRR", 8)
    q = random_state(tree, 9)[0]
    inert = [replace(body, mass=0.0, inertia=np.zeros((3, 3)), center=np.zeros(3)) for body in tree.bodies]
    rotor = replace(inert[4], inertia=np.diag([0.2, 0.3, 0.4]))
    for bodies in ([*tree.bodies[:2], inert[2], *tree.bodies[3:]], [*tree.bodies[:4],
                                                                    rotor], [*tree.bodies[:3], inert[3], rotor]):
        changed = replace(tree, bodies=tuple(bodies))
        D = module.inertia_matrix(serial_chain(changed), q)
        assert np.isfinite(D).all() and near(D, crba(changed, q))
    changed = replace(tree, bodies=(*tree.bodies[:4], inert[4]))
    D = module.inertia_matrix(serial_chain(changed), q)
    assert near(D, crba(changed, q)) and not D[3].any()


@pytest.mark.parametrize("module", CHAIN_METHODS, ids=name_of)
def test_chain_without_joints(module):
    assert module.inertia_matrix(serial_chain(Tree.of("rock", [Body("rock", 2.0)], [])), np.zeros(0)).shape == (0, 0)


# Walker & Orin


@pytest.mark.spec("S1-52")
def test_columns_by_unit_accelerations():
    """Symmetric though nothing makes it so; velocities, gravity and outside forces play no part."""
    for pattern in LONG_PATTERNS:
        tree = random_chain(pattern, 21)
        q, chain = random_state(tree, 22)[0], serial_chain(tree)
        D = walker_orin.inertia_matrix(chain, q)
        assert near(D, D.T, 1e-13) and near(D, crba(tree, q))
        assert near(D, walker_orin.inertia_matrix(serial_chain(tree.with_gravity([3.0, -1.0, 2.0])), q), 1e-15)


@pytest.mark.spec("S1-53")
def test_one_triangle_by_unit_accelerations():
    """The same entries for fewer operations: the links below a joint are at rest."""
    for pattern in LONG_PATTERNS:
        tree = random_chain(pattern, 23)
        q, chain = random_state(tree, 24)[0], serial_chain(tree)
        D = walker_orin_symmetric.inertia_matrix(chain, q)
        assert near(D, walker_orin.inertia_matrix(chain, q), 1e-13) and (D.T == D).all()
    counts = []
    for module in (walker_orin, walker_orin_symmetric):
        tape = Tape()
        module.inertia_matrix(serial_chain(random_chain("R" * 6, 1)), tape.inputs(np.linspace(0.1, 0.9, 6)))
        counts.append(sum(cost.multiplications for cost in tape.costs().values()))
    assert counts[1] < 0.8 * counts[0]


# Composite bodies


@pytest.mark.spec("S1-54", "S1-55")
def test_composite_bodies_by_definition():
    """Mass, centre and central inertia of links i to n, summed in the root's axes; and (6.3.7), (6.3.8)."""
    for pattern in ("R", "P", "RP", "RPRR", "PRPRP", "RRRRRR"):
        tree = random_chain(pattern, 31)
        q, chain = random_state(tree, 32)[0], serial_chain(tree)
        found, generalized = walker_orin_3.composites(chain, q), generalized_moments(chain, q)
        for i, (mb, R, Ec) in enumerate(found):
            mass, center, inertia, pose = summed(tree, q, i)
            assert abs(mb - mass) < 1e-13 * mass and near(pose.p + pose.R @ R, center) and near(
                pose.R @ Ec @ pose.R.T, inertia)
            U, E = generalized[i]
            assert near(U, mb * R, 1e-13) and near(E, Ec + mb * (R @ R * np.eye(3) - np.outer(R, R)), 1e-13)
        last = tree.bodies[-1]
        assert found[-1].mb == last.mass and near(found[-1].R, last.center, 1e-14) and near(
            found[-1].Ec, last.inertia, 1e-13)
        assert near(walker_orin_3.inertia_matrix(chain, q), crba(tree, q))


def summed(tree, q, i):
    """Mass, centre and central inertia of bodies i + 1 and beyond in the root's axes, from the bodies alone; and the
    pose of link i.
    """
    poses = body_poses(tree, q)
    parts = [(body.mass, pose.p + pose.R @ body.center, pose.R @ body.inertia @ pose.R.T)
             for body, pose in list(zip(tree.bodies, poses, strict=True))[i + 1:]]
    mass = sum(m for m, _, _ in parts)
    center = sum(m * c for m, c, _ in parts) / mass
    inertia = sum(I + m * ((c - center) @ (c - center) * np.eye(3) - np.outer(c - center, c - center))
                  for m, c, I in parts)
    return mass, center, inertia, poses[i + 1]


@pytest.mark.spec("S1-64", "S1-65")
def test_moments_of_augmented_and_generalized_links_by_definition():
    """(6.3.1)-(6.3.4) and Lemma 6.1.

    A joint that slides makes the moments of the augmented link before it depend on q.
    """
    for pattern in ("RR", "RP", "PPR", "RPRPRP", "RRRRRR"):
        tree = random_chain(pattern, 41)
        q, chain = random_state(tree, 42)[0], serial_chain(tree)
        augmented, generalized = augmented_links(chain, q).links, generalized_moments(chain, q)
        for i, link in enumerate(augmented):
            mass, center, inertia, pose = summed(tree, q, i)
            arm = pose.R.T @ (center - pose.p)
            assert near(generalized[i].U, mass * arm)
            assert near(generalized[i].E, pose.R.T @ inertia @ pose.R + mass *
                        (arm @ arm * np.eye(3) - np.outer(arm, arm)))
            own, beyond = tree.bodies[i + 1], mass - tree.bodies[i + 1].mass
            s = chain.links[i + 1].offset(q) if i + 1 < len(augmented) else np.zeros(3)
            r = own.center
            assert abs(link.moments.mass - mass) < 1e-13 * mass and near(link.moments.first, own.mass * r + beyond * s)
            assert near(link.moments.inertia, own.inertia + own.mass * (r @ r * np.eye(3) - np.outer(r, r))
                        + beyond * (s @ s * np.eye(3) - np.outer(s, s)))
        moved = augmented_links(chain, q + 0.1).links
        for i, link in enumerate(augmented[:-1]):
            assert (link.moments.first == moved[i].moments.first).all() == chain.links[i + 1].is_revolute


@pytest.mark.spec("S1-54", "S1-64", "S1-65")
def test_composite_and_augmented_links_of_a_mechanism():
    """From a mechanism, in batches, about the origins and in the axes of its bodies; a body without mass has its centre
    at its origin."""
    tree = random_chain("RPRR", 31)
    arm, q = Mechanism(tree), np.stack([random_state(tree, seed)[0] for seed in (32, 33)])
    composite, generalized = arm.formulations.composite_bodies(q), arm.formulations.generalized_links(q)
    for k in range(2):
        for i in range(4):
            mass, center, inertia, pose = summed(tree, q[k], i)
            assert abs(composite.mass[k, i] - mass) < 1e-13 * mass
            assert near(pose.p + pose.R @ composite.center[k, i], center)
            assert near(pose.R @ composite.inertia[k, i] @ pose.R.T, inertia)
            assert near(generalized.first[k, i], mass * composite.center[k, i])
        chain = serial_chain(tree)
        expected = [link.moments for link in augmented_links(chain, q[k]).links]
        augmented = arm.formulations.augmented_links.moments(q)
        assert near(augmented.mass[k], np.array([own.mass for own in expected]))
        assert near(augmented.first[k], np.stack([own.first for own in expected]))
        assert near(augmented.inertia[k], np.stack([own.inertia for own in expected]))
    assert (augmented.first[0, 0] != augmented.first[1, 0]).any()  # the next joint slides
    assert (augmented.first[0, 1:] == augmented.first[1, 1:]).all()
    with pytest.raises(SignatureError, match=r"\(\.\.\., 4\), not \(3,\)"):
        arm.formulations.augmented_links.moments(q[0, :3])
    bare = Mechanism(replace(tree, bodies=(*tree.bodies[:-1], Body(tree.bodies[-1].name, 0.0))))
    composite = bare.formulations.composite_bodies(q[0])
    assert not composite.center[-1].any() and composite.mass[-1] == 0
    assert arm.formulations.composite_bodies(np.zeros((0, 4))).center.shape == (0, 4, 3)


@pytest.mark.spec("S1-57")
def test_spatial_composites_are_blocks_of_the_composite_bodies():
    tree = random_chain("RPRRP", 51)
    q, chain = random_state(tree, 52)[0], serial_chain(tree)
    found = spatial_composites.composites([operators(link, q) for link in chain.links], range(5)[::-1])
    for spatial, (mb, R, Ec) in zip(found, walker_orin_3.composites(chain, q), strict=True):
        expected = np.block([[Ec + mb * (R @ R * np.eye(3) - np.outer(R, R)), mb * skew(R)],
                             [-mb * skew(R), mb * np.eye(3)]])
        assert near(spatial, spatial.T, 1e-14) and near(spatial, expected)
    assert near(spatial_composites.inertia_matrix(chain, q), crba(tree, q))


# Natural orthogonal complement


@pytest.mark.spec("S1-58")
def test_natural_orthogonal_complement():
    """T v stacks the twists, P is lower block triangular, P^T P = T^T M T = D."""
    for pattern in ("R", "P", "RPRPR", "RRRRRR"):
        tree = random_chain(pattern, 61)
        (q, qd, _), chain = random_state(tree, 62), serial_chain(tree)
        there = PinocchioTree.of(tree)
        T, P = orthogonal_complement.twist_map(chain, q), orthogonal_complement.square_root(chain, q)
        for k, (body, pose) in enumerate(zip(tree.bodies[1:], body_poses(tree, q)[1:], strict=True)):
            v, w = np.split(there.twist(q, qd, body.name, "world"), 2)
            assert near(T[6 * k:6 * k + 6] @ qd, np.concatenate([w, v + np.cross(w, pose.R @ body.center)]))
            assert not P[6 * k:6 * k + 6, k + 1:].any() and P[6 * k:6 * k + 6, k].any()
        M, N = orthogonal_complement.extended_masses(chain, q), orthogonal_complement.mass_roots(chain, q)
        assert all(near(n.T @ n, m) for m, n in zip(M, N, strict=True))
        assert near(P.T @ P, crba(tree, q))


def test_roots_of_rods_and_particles_and_of_what_has_none():
    tree = random_chain("RRR", 63)
    q = random_state(tree, 64)[0]
    rod, particle = replace(tree.bodies[2], inertia=np.diag([0.3, 0.3,
                                                             0.0])), replace(tree.bodies[3], inertia=np.zeros((3, 3)))
    thin = replace(tree, bodies=(*tree.bodies[:2], rod, particle))
    P = orthogonal_complement.square_root(serial_chain(thin), q)
    assert near(P.T @ P, crba(thin, q))
    wrong = replace(tree, bodies=(*tree.bodies[:3], replace(tree.bodies[3], inertia=np.diag([1.0, 1.0, -0.5]))))
    with pytest.raises(ModelError, match=r"joint3.*negative"):
        orthogonal_complement.square_root(serial_chain(wrong), q)


# Factors


@pytest.mark.spec("S1-61")
def test_operator_factors():
    """F is unit upper triangular, F Dh F^T = D, 1 - H Phi L its inverse, D^-1 D = 1; and the forward dynamics made from
    it.
    """
    forward = [
        import_module(f"cayley.dynamics.forward.{name}").forward_dynamics
        for name in ("operator_factors", "filter_and_smoother")]
    for pattern in PATTERNS:
        tree = random_chain(pattern, 71)
        (q, qd, tau), chain = random_state(tree, 72), serial_chain(tree)
        found = operator_factors.kalman_filter(chain, q)
        giving_way = [phi @ (np.eye(6) - np.outer(G, h)) for phi, G, h in zip(found.phi, found.G, found.h, strict=True)]
        F, inverse, D = operator_factors.factor(found), inverse_factor(found, giving_way), crba(tree, q)
        assert (np.tril(F) == np.eye(len(F))).all() and (np.tril(inverse) == np.eye(len(F))).all()
        assert near(F @ inverse, np.eye(len(F)), 1e-11) and near(F @ np.diag(found.Dh) @ F.T, D)
        assert near(inverse.T / np.array(found.Dh) @ inverse @ D, np.eye(len(F)), 1e-11)  # (6.2.19)
        expected = aba(tree, q, qd, tau)
        assert all(near(text(chain, q, qd, tau), expected, 1e-11) for text in forward)


def generalized_moments(chain, q):
    return generalized_links.generalized(augmented_links(chain, q), generalized_links.origins(chain, q), q)


def inverse_factor(found, giving_way):
    """1 - H Phi L: from transitions that let the joints give way."""
    inverse = np.eye(len(found.h))
    for k in range(1, len(found.h)):
        carried = found.phi[k] @ found.G[k]
        for i in reversed(range(k)):
            inverse[i, k] = -(found.h[i] @ carried)
            carried = giving_way[i] @ carried
    return inverse


def aba(tree, q, qd, tau):
    there = PinocchioTree.of(tree)
    there.model.gravity.linear = np.array(tree.gravity)
    return pin.aba(there.model, there.model.createData(), there.q(q), qd, tau)


# Algorithm 6.2 and closed forms


@pytest.mark.spec("S1-66")
def test_algorithm_62_has_the_moment_of_a_sliding_joint():
    """As printed it gives d_12 = -0.7012258207 for G2, symmetric and positive definite: spec E-1."""
    D = generalized_links.inertia_matrix(serial_chain(load_robot("s1_g2")), np.array([-0.3, -0.1, 0.1]))
    assert abs(D[0, 1] + 1.6383747851) < 1e-10 and abs(D[0, 1] + 0.7012258207) > 0.9
    for pattern in PATTERNS:
        tree = random_chain(pattern, 81, twists="special")
        q = random_state(tree, 82)[0]
        assert near(generalized_links.inertia_matrix(serial_chain(tree), q),
                    walker_orin.inertia_matrix(serial_chain(tree), q))


@pytest.mark.spec("S1-67")
def test_single_entries_in_closed_form():
    for pattern in ("RR", "RP", "PR", "PP", "RPRP", "PRRPR", "RRRRRR"):
        tree = random_chain(pattern, 91)
        q, chain = random_state(tree, 92)[0], serial_chain(tree)
        D = crba(tree, q)
        found = [[lagrange_elements.entry(chain, q, j, i) for i in range(tree.nv)] for j in range(tree.nv)]
        assert near(found, D) and (np.array(found) == np.array(found).T).all()


def kinetic_energy(chain, q, qd):
    """Of each link, half of m r'.r' and of w.I w."""
    total = 0.0
    for link, row in zip(chain.links, kinetic_energy_tensor.unit_velocities(chain, q), strict=True):
        w, v = (sum(unit[k] * rate for unit, rate in zip(row, qd, strict=False)) for k in (0, 1))  # (6.3.39), (6.3.38)
        total += (link.moments.mass * (v @ v) + w @ link.moments.inertia_about_center @ w) / 2  # (6.3.37)
    return total


@pytest.mark.spec("S1-68")
def test_kinetic_energy_and_its_tensor():
    for pattern in ("R", "P", "RPRP", "PRRPR", "RRRRRR"):
        tree = random_chain(pattern, 95)
        (q, qd, _), chain = random_state(tree, 96), serial_chain(tree)
        there = PinocchioTree.of(tree)
        expected = pin.computeKineticEnergy(there.model, there.model.createData(), there.q(q), qd)
        H = kinetic_energy_tensor.inertia_matrix(chain, q)
        assert near(kinetic_energy(chain, q, qd), expected) and near(qd @ H @ qd / 2, expected)
        assert kinetic_energy(chain, q, 0 * qd) == 0.0 and near(H, crba(tree, q))


# Fast kernels


def cost_of(text, *values):
    tape = Tape()
    result = text(*[tape.inputs(x) for x in values])
    counted = [cost for cost in tape.costs(np.asarray(result, dtype=object).reshape(-1)).values()]
    return sum(c.multiplications for c in counted), sum(c.additions for c in counted)


@pytest.mark.spec("S1-69")
def test_fast_kernels_and_what_they_cost():
    random = np.random.default_rng(1)
    a, b, X = random.normal(size=3), random.normal(size=3), random.normal(size=(3, 3))
    X = X + X.T

    def symmetric(x):
        return np.array([[x[0], x[1], x[2]], [x[1], x[3], x[4]], [x[2], x[4], x[5]]])

    for twist, vector, tensor in ((0.7, (8, 4), (18, 19)), (-1.1, (8, 4), (18, 19)), (0.0, (4, 2), (10, 11)),
                                  (np.pi / 2, (4, 2), (10, 11)), (-np.pi / 2, (4, 2), (10, 11))):
        tree = dh_arm(2, twist)
        q = random_state(tree, 6)[0]
        for link in serial_chain(tree).links:
            A = link.rotation(q)
            assert near(link.inwards(a, q), A @ a, 1e-14) and near(link.outwards(a, q), A.T @ a, 1e-14)
            assert near(counted_products.similarity(link, X, q), A @ X @ A.T, 1e-14) and near(
                link.inwards_both(X, q), A @ X @ A.T, 1e-14)
            assert near(counted_products.origin_in_own_axes(link, q), A.T @ link.offset(q), 1e-14)
            assert cost_of(link.inwards, a, q) == vector == cost_of(link.outwards, a, q)
            assert cost_of(lambda x, q, link=link: counted_products.similarity(link, symmetric(x), q), np.arange(6.0),
                           q) == tensor
            assert cost_of(lambda q, link=link: counted_products.origin_in_own_axes(link, q), q) == (2, 0)
    assert near(np.cross(a, b), skew(a) @ b, 1e-15) and cost_of(np.cross, a, b) == (6, 3)
    assert near(counted_products.skew_products(a, b), skew(a) @ skew(b) + (skew(a) @ skew(b)).T, 1e-14)
    assert cost_of(counted_products.skew_products, a, b) == (9, 9)


def test_fast_kernels_of_sliding_links_and_of_any_frames():
    for frames in ("modified", "any"):
        tree = random_chain("PRPRP", 6, frames=frames)
        q, X = random_state(tree, 7)[0], np.diag([1.0, 2.0, 3.0]) + 0.3
        for link in serial_chain(tree).links:
            A = link.rotation(q)
            assert near(counted_products.similarity(link, X, q), A @ X @ A.T, 1e-14)
            assert near(counted_products.origin_in_own_axes(link, q), A.T @ link.offset(q), 1e-14)


# Many states


@pytest.mark.spec("S1-63")
def test_batches_are_loops_and_columns_are_independent():
    """Lee & Chang and others: columns of D, and states, side by side. A batch gives what a loop gives."""
    tree = random_chain("RPRR", 99)
    chain = serial_chain(tree)
    matrix = kernel("(4)->(4,4)", name="inertia_matrix")(lambda q: generalized_links.inertia_matrix(chain, q))
    solve = import_module("cayley.dynamics.forward.generalized_links").forward_dynamics
    forward = kernel("(4),(4),(4)->(4)", name="forward_dynamics")(lambda q, qd, tau: solve(chain, q, qd, tau))
    random = np.random.default_rng(3)
    q, qd, tau = random.normal(size=(3, 5, 7, 4))
    D, qdd = matrix(q), forward(q, qd, tau)
    assert D.shape == (5, 7, 4, 4) and qdd.shape == (5, 7, 4)
    for place in np.ndindex(5, 7):
        assert near(D[place], matrix(q[place]), 1e-14) and near(qdd[place], forward(q[place], qd[place], tau[place]),
                                                                1e-13)
        assert near(D[place], generalized_links.inertia_matrix(chain, q[place]), 1e-13)
        assert near(qdd[place], solve(chain, q[place], qd[place], tau[place]), 1e-11)
    assert near(forward(q, qd[0, 0], tau[0]), np.stack([forward(row, qd[0, 0], tau[0]) for row in q]), 1e-13)
    assert matrix(q[:0]).shape == (0, 7, 4, 4) and forward(q[:0], qd[:0], tau[:0]).shape == (0, 7, 4)
    assert matrix(q.astype(np.float32)).dtype == np.float32 and near(matrix(q.astype(np.float32)), D, 2e-5)
    assert forward(q.astype(np.float32), qd, np.ones(4, dtype=int)).dtype == np.float64
    columns = [walker_orin.column(chain, q[0, 0], i) for i in (2, 0, 3, 1)]
    assert near(np.stack([columns[k] for k in (1, 3, 0, 2)], axis=1), D[0, 0], 1e-13)
