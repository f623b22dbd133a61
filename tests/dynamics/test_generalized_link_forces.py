"""Forces and moments of generalized links, and the tensor of kinematic constraints: beside the form about the centre of
mass, Algorithms 6.1 and 6.2, Pinocchio, and null spaces."""

import numpy as np
import pytest
import scipy.linalg

import cayley as cy
from cayley.dynamics.inertia_matrix import generalized_links, walker_orin_3
from cayley.dynamics.inverse.augmented_bodies import augmented_links
from cayley.dynamics.rigid_links.links import serial_chain
from cayley.errors import GeometryError, UnsupportedError
from cayley.geometry.inertia import newton_euler_by_moments, newton_euler_by_vectors
from cayley.mechanism import Mechanism
from cayley.model.joint_kinds import Prismatic, Revolute
from cayley.model.parts import Body, Joint
from dynamics.chains import random_chain, random_state
from dynamics.mechanisms import random_mechanism
from dynamics.test_inertia_matrix_methods import summed
from kinematics.pinocchio_trees import PinocchioTree

CHAINS = [("R", {}), ("P", {}), ("PRPR", {}), ("RPRR", {"frames": "any"}), ("RRPRRR", {})]


def near(found, wanted, tolerance=1e-12):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * max(1.0, np.abs(wanted).max()))


def inertia_of(m, r, I_c):
    return I_c + m * (r @ r * np.eye(3) - np.outer(r, r))


@pytest.mark.spec("S1-106")
@pytest.mark.parametrize(("pattern", "made"), CHAINS)
def test_moments_about_the_origin_give_what_those_about_the_centre_give(pattern, made):
    """For any velocity and acceleration, of every generalized link of a chain: (6.3.11)-(6.3.14), (6.3.22)."""
    tree = random_chain(pattern, 1, **made)
    q = random_state(tree, 2)[0]
    found = Mechanism(tree).formulations.generalized_links.reference(q)
    random = np.random.default_rng(3)
    for i, (m, U, E) in enumerate(zip(*found, strict=True)):
        mass, center, I_c, pose = summed(tree, q, i)
        r = pose.R.T @ (center - pose.p)
        near(m, mass)
        near(U, mass * r)
        near(E, inertia_of(mass, r, pose.R.T @ I_c @ pose.R))
        w, wd, a = random.normal(size=(3, 3))
        whole = newton_euler_by_moments.reference(m, U, E, w, wd, a)
        force, moment = newton_euler_by_vectors.reference(mass, pose.R.T @ I_c @ pose.R, r, w, wd, a)
        near(whole.force, force)
        near(whole.moment_about_center, moment)
        near(whole.moment_about_origin, moment + np.cross(r, force))


@pytest.mark.spec("S1-106")
def test_a_body_that_loses_its_mass_where_it_is():
    r, I_c = np.array([0.3, -0.2, 0.5]), np.diag([0.02, 0.03, 0.04])
    w, wd, a = np.random.default_rng(4).normal(size=(3, 3))
    for m in (1.0, 1e-8, 1e-200, 1e-308, 0.0):
        found = newton_euler_by_moments(m, m * r, inertia_of(m, r, I_c), w, wd, a)
        near(found.moment_about_center, I_c @ wd + np.cross(w, I_c @ w), 1e-14)
        near(found.force, m * (a + np.cross(wd, r) + np.cross(w, np.cross(w, r))), 1e-14)
        near(found.moment_about_origin, found.moment_about_center + np.cross(r, found.force), 1e-14)
    many = newton_euler_by_moments([2.0, 0.0], [2 * r, 0 * r], [inertia_of(2.0, r, I_c), I_c], w, wd, a)
    near(many.moment_about_center[0], many.moment_about_center[1], 1e-14)
    with pytest.raises(GeometryError, match=r"without mass has a first moment.*element"):
        newton_euler_by_moments([1.0, 0.0], r, I_c, w, wd, a)


@pytest.mark.spec("S1-106")
@pytest.mark.parametrize(("pattern", "made"), CHAINS)
def test_unit_accelerations_are_those_of_algorithms_6_1_and_6_2(pattern, made):
    """f_ji and eta_ji of every pair of joints, (6.3.19)-(6.3.27), in the axes of the bodies; along the axes they are
    the mass matrix; and the generalized link alone gives those of its own joint."""
    tree = random_chain(pattern, 5, **made)
    arm, chain, q = Mechanism(tree), serial_chain(tree), random_state(tree, 6)[0]
    found = arm.formulations.unit_acceleration_wrenches.reference(q)
    augmented, s = augmented_links(chain, q), generalized_links.origins(chain, q)
    six_1 = [list(walker_orin_3.unit_wrenches(chain, q, i, body))
             for i, body in enumerate(walker_orin_3.composites(chain, q))]
    six_2 = [list(generalized_links.unit_wrenches(augmented, s, q, i, body))
             for i, body in enumerate(generalized_links.generalized(augmented, s, q))]
    turns = [chain.bodies[body.name][1][:3, :3] for body in tree.bodies[1:]]
    for i, columns in enumerate(zip(six_1, six_2, strict=True)):
        for column in columns:
            assert [j for j, _, _ in column] == list(range(i, -1, -1))
            for j, f, eta in column:
                near(found[i, j], np.concatenate([turns[j].T @ f, turns[j].T @ eta]))
    along = [np.asarray(joint.motion.subspace(None), dtype=float)[:, 0] for joint in tree.joints]
    near(np.einsum("ijk,jk->ij", found, along), arm.inertia_matrix.reference(q))
    for i, (m, U, E) in enumerate(zip(*arm.formulations.generalized_links.reference(q), strict=True)):
        own = newton_euler_by_moments.reference(m, U, E, np.zeros(3), along[i][3:], along[i][:3])
        near(found[i, i], np.concatenate([own.force, own.moment_about_origin]))


@pytest.mark.spec("S1-106")
def test_unit_accelerations_of_trees_with_every_kind_of_joint():
    """The derivatives of the wrenches in the joints by the accelerations, beyond the accelerated joint too."""
    arm, _, (q, _, _), _ = random_mechanism(2)
    rest = np.zeros(arm.nv)
    still = arm.with_gravity((0.0, 0.0, 0.0)).joint_reactions
    near(arm.formulations.unit_acceleration_wrenches.reference(q),
         [still.reference(q, rest, e) for e in np.eye(arm.nv)])
    dummy = cy.Mechanism.of("dummy", [Body("base"), Body("none", 0.0), Body("link", 2.0, (0.5, 0, 0))],
                            [Joint("a", "base", "none", Revolute()),
                             Joint("b", "none", "link", Prismatic((1.0, 0.0, 0.0)))])
    wrenches = dummy.formulations.unit_acceleration_wrenches([0.0, 0.5])
    near(wrenches[0, :, 5], [2.0, 1.0])
    assert np.isfinite(wrenches).all()
    assert dummy.formulations.unit_acceleration_wrenches(np.zeros((0, 2))).shape == (0, 2, 2, 6)
    bar = cy.load("four_bar")  # as the mass matrix, that of all coordinates of its tree
    near(bar.formulations.unit_acceleration_wrenches(np.zeros(3))[:, :, 5], bar.inertia_matrix(np.zeros(3)))


# Kinematic constraints


def spans_null_space(found, nv):
    """That T has rank nv and its columns are all of the null space of K."""
    free = scipy.linalg.null_space(found.K)
    assert free.shape[1] == nv == np.linalg.matrix_rank(found.T)
    left = found.T - free @ (free.T @ found.T)
    return np.abs(left).max() <= 1e-12 * max(1.0, np.abs(found.T).max())


@pytest.mark.spec("S1-107")
@pytest.mark.parametrize(("pattern", "made"), CHAINS)
def test_constraints_of_chains_have_rank_5n_and_the_complement_is_their_null_space(pattern, made):
    tree = random_chain(pattern, 7, **made)
    q, qd, _ = random_state(tree, 8)
    found = Mechanism(tree).formulations.orthogonal_complement.reference(q)
    n = tree.nv
    assert found.K.shape == (6 * n, 6 * n) and found.rank == 5 * n and found.residual < 1e-13
    assert spans_null_space(found, n)
    there = PinocchioTree.of(tree)
    twists = []
    for body in tree.bodies[1:]:
        v, w = np.split(there.twist(q, qd, body.name, "world"), 2)
        R = there.pose(q, body.name)[:3, :3]
        twists.append(np.concatenate([w, v + np.cross(w, R @ body.center)]))
    t = np.concatenate(twists)
    near(found.T @ qd, t)
    near(found.K @ t, np.zeros(6 * n))
    for k in range(6 * n):  # what no joint allows is seen
        assert np.abs(found.K @ np.eye(6 * n)[k]).max() > 1e-3


@pytest.mark.spec("S1-107")
@pytest.mark.parametrize("seed", [3, 4])
def test_constraints_of_trees_with_every_kind_of_joint(seed):
    arm, links, (q, _, _), _ = random_mechanism(seed)
    found = arm.formulations.orthogonal_complement.reference(q)
    assert found.rank == 6 * len(links.links) - arm.nv and found.residual < 1e-12
    assert spans_null_space(found, arm.nv)


@pytest.mark.spec("S1-107")
def test_constraint_forces_do_no_work_and_loops_are_refused():
    """K^T lambda is orthogonal to all twists that T allows: batches, single precision, and by name."""
    arm = cy.load("s1_f6")
    q = np.random.default_rng(9).normal(size=(4, 3, arm.nq))
    found = arm.formulations.orthogonal_complement(q)
    n = arm.nv
    assert found.K.shape == (4, 3, 6 * n, 6 * n) and found.rank.shape == (4, 3) and (found.rank == 5 * n).all()
    assert (found.residual < 1e-13).all()
    near(found.T[2, 1].T @ (found.K[2, 1].T @ np.ones(6 * n)), np.zeros(n))
    assert arm.formulations.orthogonal_complement(q.astype(np.float32)).T.dtype == np.float32
    assert arm.formulations.orthogonal_complement(np.zeros((0, n))).rank.shape == (0,)
    with pytest.raises(UnsupportedError, match="four_bar"):
        cy.load("four_bar").formulations.orthogonal_complement(np.zeros(3))
    with pytest.raises(UnsupportedError, match="panda_finger_joint2"):
        cy.load("panda_hand").formulations.orthogonal_complement(np.zeros(9))
