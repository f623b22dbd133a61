"""Regressor, base parameters, estimates and exciting trajectories, beside Pinocchio, SciPy and what is known from the
literature.
"""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from scipy.linalg import null_space
from scipy.spatial.transform import Rotation

import cayley as cy
from cayley.dynamics.identification import (
    JOINT_TERMS,
    MOMENTS_FROM_INERTIA,
    Measurements,
    base_parameters,
    condition_of,
    exciting_trajectory,
    inertia_vector_from_moments,
    least_squares,
    linear_model,
    measurements_from_positions,
    moments_from_inertia_vector,
    moved,
    physical_estimate,
    random_trajectory,
    simulate_measurements,
    structural_base_parameters,
    symbolic_base_parameters,
    vector_from_moments,
)
from cayley.dynamics.identification.exciting import MEASURES, ExcitationLimits, _Dullness, _Series
from cayley.dynamics.identification.physical import Divergence, pseudo_inertia_of
from cayley.dynamics.rigid_links.moments import MOMENT_NAMES, LinkMoments
from cayley.errors import GeometryError, ModelError, SignatureError, SingularityError, UnsupportedError
from cayley.model.joint_kinds import Helical, Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Friction, Joint
from cayley.model.tree import Tree
from compiler.parity import check_parity
from dynamics.robots import robot
from kinematics.pinocchio_trees import PinocchioTree, without_universal_joints
from model.random_trees import KINDS, random_configuration, random_parts

pytestmark = pytest.mark.filterwarnings("ignore::cayley.model.report.ModelWarning")
PLAIN = ["revolute", "prismatic", "helical", "spherical", "floating", "fixed", "continuous"]
ANYMAL = "anymal_b_simple_description/robots/anymal.urdf"


def pinocchio_of(tree):
    theirs = PinocchioTree.of(without_universal_joints(tree))
    theirs.model.gravity.linear = np.array(tree.gravity)
    return theirs


def pinocchio_forces(tree, q, v, vd):
    theirs = pinocchio_of(tree)
    data = theirs.model.createData()
    found = []
    for state in zip(np.atleast_2d(q), np.atleast_2d(v), np.atleast_2d(vd), strict=True):
        T = theirs.velocity_map(state[0])
        acceleration = T @ state[2] + theirs.velocity_map_rate(*state[:2]) @ state[1]
        there = pin.rnea(theirs.model, data, theirs.q(state[0]), T @ state[1], acceleration)
        found.append(T.T @ there)
    return np.array(found)


def random_tree(seed, kinds, *, square=False, gravity=(0.0, 0.0, -9.81)):
    """With `square` all axes and offsets are along the axes of frames, so that many are parallel to each other and to
    gravity.
    """
    random = np.random.default_rng(seed)
    bodies, joints, _ = random_parts(random, kinds)
    if square:
        joints = [
            replace(joint, placement=square_pose(random), motion=along_an_axis(random, joint.motion))
            for joint in joints]
    return Tree.of("random", bodies, joints, gravity=gravity)


def square_pose(random):
    pose = np.eye(4)
    pose[:3, :3] = Rotation.create_group("O").as_matrix()[random.integers(24)].round()
    pose[:3, 3] = random.normal(size=3) * random.integers(0, 2, size=3)
    return pose


def along_an_axis(random, motion):
    return replace(motion, axis=tuple(np.eye(3)[random.integers(3)])) if isinstance(motion,
                                                                                    (Revolute, Prismatic)) else motion


def random_states(model, count, seed=1):
    random = np.random.default_rng(seed)
    q = np.array([random_configuration(random, model.tree) for _ in range(count)])
    return q, *random.normal(size=(2, count, model.tree.nv))


@cache
def base_of(name, *terms):
    return base_parameters(linear_model(cy.load(name).tree, joint_terms=terms))


# Regressor


@pytest.mark.parametrize("seed", range(6))
def test_regressor_agrees_with_pinocchio(seed):
    """For (m, mc, I) in the frames of the bodies, which is what `computeJointTorqueRegressor` has."""
    random = np.random.default_rng(seed)
    tree = random_tree(seed, [PLAIN[k] for k in random.permutation(len(PLAIN))], gravity=tuple(random.normal(size=3)))
    model, theirs = linear_model(tree), pinocchio_of(tree)
    for q, v, vd in zip(*random_states(model, 3), strict=True):
        blocks = []
        for joint in tree.joints:
            number, pose = model.links.bodies[joint.child]
            if joint.motion.nv:
                place = 10 * model.movers.index(number)
                blocks.append(
                    model.text(q, v, vd)[:, place:place + 10] @ moved(pose[:3, :3], pose[:3, 3]) @ MOMENTS_FROM_INERTIA)
        there = pin.computeJointTorqueRegressor(theirs.model, theirs.model.createData(), theirs.q(q), v, vd)
        assert np.abs(np.hstack(blocks) - there).max() < 1e-12 * np.abs(there).max()


@pytest.mark.parametrize("seed", range(4))
def test_forces_are_linear_in_the_parameters_for_every_kind_of_joint(seed):
    tree = random_tree(seed, [KINDS[k] for k in np.random.default_rng(seed).permutation(len(KINDS))])
    model = linear_model(tree)
    q, v, vd = random_states(model, 3)
    theirs = pinocchio_forces(tree, q, v, vd)
    ours = np.array([model.text(*state) @ model.values for state in zip(q, v, vd, strict=True)])
    assert np.abs(ours - theirs).max() < 1e-12 * np.abs(theirs).max()


def test_terms_of_joints_and_compiled_regressor():
    arm = cy.load("puma560").tree
    arm = replace(arm, joints=tuple(replace(j, friction=Friction(0.3 + k, 0.2 * k)) for k, j in enumerate(arm.joints)))
    model = linear_model(arm, joint_terms=["coulomb", "rotor", "viscous", "offset"])
    q, v, vd = random_states(model, 50)
    viscous, coulomb = (np.array([getattr(j.friction, word) for j in arm.joints]) for word in ("viscous", "coulomb"))
    offset = np.arange(6.0)
    values = model.values + [offset[number] if word == "offset" else 0.0 for number, word in model.columns]
    rotors = np.array([j.rotor.reflected for j in arm.joints])
    theirs = pinocchio_forces(arm, q, v, vd) + viscous * v + coulomb * np.sign(v) + offset + rotors * vd
    assert np.abs(model.regressor(q, v, vd) @ values - theirs).max() < 1e-12 * np.abs(theirs).max()
    check_parity(linear_model(cy.load("planar2r").tree, joint_terms=JOINT_TERMS).regressor,
                 *[x[:3, :2] for x in (q, v, vd)])


def test_moments_and_inertia_vectors_are_the_same_body():
    random = np.random.default_rng(0)
    points, masses = random.normal(size=(20, 3)), random.uniform(size=20)
    first, second = masses @ points, np.einsum("n,ni,nj->ij", masses, points, points)
    moments = LinkMoments(masses.sum(), first, second)
    theirs = sum((pin.Inertia(m, p, np.zeros((3, 3))) for m, p in zip(masses, points, strict=True)), pin.Inertia.Zero())
    assert np.abs(inertia_vector_from_moments(moments) - theirs.toDynamicParameters()).max() < 1e-12
    assert np.abs(MOMENTS_FROM_INERTIA @ theirs.toDynamicParameters() - vector_from_moments(moments)).max() < 1e-12
    back = moments_from_inertia_vector(inertia_vector_from_moments(moments))
    assert np.abs(back.second - second).max() < 1e-12


# Base parameters


def revolute_chain(joints, *, upright):
    """A general chain of revolute joints, the first of them along gravity or not."""
    random = np.random.default_rng(joints)
    bodies, joints_, _ = random_parts(random, ["revolute"] * joints)
    parts = [replace(j, parent=bodies[k].name) for k, j in enumerate(joints_)]
    parts[0] = replace(parts[0], placement=np.eye(4), motion=Revolute() if upright else parts[0].motion)
    return Tree.of("chain", bodies, parts)


@pytest.mark.parametrize(("name", "count"), [("puma560", 36), ("panda", 43), ("ur5", 36), ("iiwa14", 43),
                                             ("stanford", 33), ("scara", 8), ("planar2r", 6), ("planar3r", 9)])
def test_numbers_of_base_parameters_of_known_arms(name, count):
    """36 for six revolute joints with the first upright (Khalil & Dombre), 43 for the Panda (Gaz and others), 3 for a
    planar link.
    """
    base = base_of(name)
    assert base.size == count == structural_base_parameters(base.model).size


@pytest.mark.parametrize("joints", [1, 2, 4, 7])
@pytest.mark.parametrize("upright", [True, False])
def test_general_chains_of_revolute_joints(joints, upright):
    """Seven for each link; the first one shows a moment of inertia, and two first moments unless gravity is along its
    axis.
    """
    tree = revolute_chain(joints, upright=upright)
    assert structural_base_parameters(linear_model(tree)).size == 7 * (joints - 1) + (1 if upright else 3)


def test_numbers_agree_with_the_rank_of_pinocchios_regressor():
    for name in ("puma560", "panda", "stanford"):
        arm = cy.load(name)
        theirs, random = pinocchio_of(arm), np.random.default_rng(0)
        data = theirs.model.createData()
        rows = np.concatenate([
            pin.computeJointTorqueRegressor(theirs.model, data, *random.normal(size=(3, arm.nv))) for _ in range(40)])
        assert np.linalg.matrix_rank(rows, tol=1e-9 * np.abs(rows).max()) == structural_base_parameters(
            linear_model(arm.tree)).size


def test_floating_quadruped():
    """Ten for the trunk, whose mass is all felt, and seven for each of the twelve links of the legs."""
    model = linear_model(robot(ANYMAL, True))
    assert structural_base_parameters(model).size == 10 + 7 * 12 == base_parameters(model).size


@pytest.mark.parametrize("terms", [(), ("rotor",), JOINT_TERMS])
@pytest.mark.parametrize("seed", range(7))
def test_structure_and_numbers_agree(seed, terms):
    """The same parameters kept, in the same combinations: trees of all joints, general and square, gravity in several
    directions.
    """
    random = np.random.default_rng((seed, 5))
    kinds = [KINDS[k] for k in random.integers(len(KINDS), size=3)] if seed % 2 else [
        "revolute" if x < 0.6 else "prismatic" for x in random.random(3)]
    gravity = [(0.0, 0.0, -9.81), (0.0, 0.0, 0.0), (1.0, 2.0, 3.0)][seed % 3]
    model = linear_model(random_tree(seed, ["revolute", *kinds], square=seed % 4 < 2, gravity=gravity),
                         joint_terms=terms)
    numbers, structure = base_parameters(model), structural_base_parameters(model)
    assert numbers.size == structure.size and (numbers.kept == structure.kept).all()
    assert np.abs(numbers.combinations - structure.combinations).max() < 1e-7


@pytest.mark.parametrize("name", ["puma560", "stanford", "scara", "planar3r", "ur5"])
def test_what_base_parameters_do_not_see_changes_no_force(name):
    """Masses moved about by the null space of the combinations: Pinocchio finds the same forces."""
    base = structural_base_parameters(linear_model(with_masses(cy.load(name).tree)))
    model, random = base.model, np.random.default_rng(2)
    hidden = null_space(base.combinations)
    other = model.tree_with(model.values + hidden @ random.normal(size=hidden.shape[1]) * 0.01)
    q, v, vd = random_states(model, 5)
    before, after = pinocchio_forces(model.tree, q, v, vd), pinocchio_forces(other, q, v, vd)
    assert np.abs(before - after).max() < 1e-11 * np.abs(before).max()
    assert max(abs(a.mass - b.mass) for a, b in zip(model.tree.bodies[1:], other.bodies[1:], strict=True)) > 1e-3


def with_masses(arm):
    return replace(arm, bodies=tuple(Body(b.name, 1.0, (0.1, 0.2, 0.3), np.diag([0.1, 0.2, 0.25])) for b in arm.bodies))


@pytest.mark.parametrize("name", ["puma560", "scara", "stanford", "ur5", "s1_f4"])
def test_symbolic_base_parameters_have_the_numbers_as_values(name):
    model = linear_model(cy.load(name).tree)
    symbolic, base = symbolic_base_parameters(model), structural_base_parameters(model)
    rows = []
    for expression in symbolic.expressions:
        value = expression.subs(symbolic.constants)
        rows.append([float(value.coeff(f"{word}_{number + 1}")) for number, word in model.columns])
    assert np.abs(np.array(rows) - base.combinations).max() < 1e-9


def test_textbook_combinations_of_puma():
    """Masses beyond the elbow act at its end; the axial mass of a wrist link is the forearm's."""
    text = str(symbolic_base_parameters(linear_model(cy.load("puma560").tree)))
    assert "a_3*m_3 + a_3*m_4 + a_3*m_5 + a_3*m_6 + ux_2" in text and "Jyy_4 + Jzz_5" in text and "uy_5 - uz_6" in text
    base = base_of("puma560")
    assert "ux(link2) + 0.4318 m(link3) + 0.4318 m(link4) + 0.4318 m(link5) + 0.4318 m(link6)" in base.expressions
    assert set(base.unfelt) == {f"{word}(link1)" for word in ("m", "ux", "uy", "uz", "Jxy", "Jxz", "Jyz", "Jzz")}


# Estimates


def measured(base, count, *, noise, seed=0, truth=None):
    return simulate_measurements(base.model, *random_states(base.model, count, seed + 10), noise=noise, seed=seed,
                                 parameters=truth)


@pytest.mark.parametrize("name", ["puma560", "panda"])
def test_exact_forces_of_pinocchio_give_exact_base_parameters(name):
    base = base_of(name)
    arm = base.model.tree
    states = random_states(base.model, 60)
    found = least_squares(base, Measurements(base.model, *states, pinocchio_forces(arm, *states)))
    assert np.abs(found.base_values - base.values(base.model.values)).max() < 1e-11
    others = random_states(base.model, 20, seed=9)
    assert np.abs(found.forces(*others) - pinocchio_forces(arm, *others)).max() < 1e-10


def test_deviations_are_those_of_many_repetitions():
    """The spread of 300 estimates, of which each knows only its own measurements."""
    base = base_of("planar2r")
    noise = np.array([0.1, 0.02])
    states = random_states(base.model, 40, 10)
    truth = base.model.regressor(*states) @ base.model.values
    random = np.random.default_rng(3)
    runs = [
        least_squares(base, Measurements(base.model, *states, truth + random.normal(size=truth.shape) * noise),
                      noise="residuals") for _ in range(300)]
    spread = np.std([run.base_values for run in runs], axis=0)
    claimed = np.mean([run.standard_deviations for run in runs], axis=0)
    assert np.abs(spread / claimed - 1).max() < 0.15
    assert np.abs(np.mean([run.noise for run in runs], axis=0) / noise - 1).max() < 0.05


def test_ordinary_least_squares_is_the_closed_form():
    base = base_of("puma560", "viscous", "coulomb")
    data = measured(base, 100, noise=0.2)
    found = least_squares(base, data)
    W = base.regressor(data.q, data.qd, data.qdd).reshape(-1, base.size)
    values, rest, _, sizes = np.linalg.lstsq(W, data.tau.ravel(), rcond=None)
    assert np.abs(found.base_values - values).max() < 1e-9
    covariance = np.linalg.inv(W.T @ W) * rest[0] / (len(W) - base.size)
    assert np.abs(found.covariance - covariance).max() < 1e-9 * np.abs(covariance).max()
    assert found.condition == pytest.approx(sizes[0] / sizes[-1], rel=1e-9)


def test_weights_help_where_joints_are_unequally_noisy():
    base = base_of("puma560")
    noise = np.array([3.0, 3.0, 1.0, 0.02, 0.02, 0.02])
    data, other = measured(base, 100, noise=noise), measured(base, 100, noise=0.0, seed=1)
    ordinary, weighted = (least_squares(base, data, noise=n).validate(other).error for n in (None, "residuals"))
    assert (weighted[3:] < 0.1 * ordinary[3:]).all() and np.linalg.norm(weighted) < np.linalg.norm(ordinary)


FRICTION = ("rotor", "offset", "viscous", "coulomb")


def friction_truth(model):
    terms = {"rotor": 0.4, "offset": -0.2, "viscous": 0.5, "coulomb": 0.3}
    return np.array([terms.get(word, value) for (_, word), value in zip(model.columns, model.values, strict=True)])


@pytest.mark.parametrize(("name", "terms"), [("panda", ()), ("ur5", FRICTION), ("puma560", ("viscous", "coulomb")),
                                             ("planar3r", ())])
def test_physical_estimates_are_bodies_and_fit_as_well(name, terms):
    """Puma's published third link is not physical, nor are several of Panda's; noise puts more of the ordinary estimate
    out of reach.
    """
    base = base_of(name, *terms)
    truth = friction_truth(base.model)
    data, other = measured(base, 300, noise=0.3, truth=truth), measured(base, 300, noise=0.0, seed=5, truth=truth)
    best, found = least_squares(base, data, noise="residuals"), physical_estimate(base, data)
    for number in base.model.movers:
        ten = [value for (n, _), value in zip(base.model.columns, found.parameters, strict=True) if n == number][:10]
        assert np.linalg.eigvalsh(pseudo_inertia_of(ten)).min() > 0
    for (_, word), value in zip(base.model.columns, found.parameters, strict=True):
        assert value > 0 or word not in ("m", "Jxx", "Jyy", "Jzz", "rotor", "viscous", "coulomb")
    assert (found.fit.error < 1.01 * best.fit.error).all()
    assert np.linalg.norm(found.validate(other).error) < 1.1 * np.linalg.norm(best.validate(other).error)
    assert np.abs(found.base_values - base.values(truth)).max() < 6 * best.standard_deviations.max()


def test_physical_estimate_minimises_what_it_says():
    """The cost, written again with determinants: no small change of any parameter makes it less."""
    base = base_of("planar3r")
    data = measured(base, 30, noise=1.0)
    deviations, pull = np.array([1.0, 1.0, 1.0]), 0.01
    prior = np.concatenate([[1.0, 0.2, 0.1, 0.0, 0.1, 0.0, 0.01, 0.08, 0.0, 0.05]] * 3)
    found = physical_estimate(base, data, prior=prior, pull=pull, noise=deviations)
    Y = base.model.regressor(data.q, data.qd, data.qdd)

    def cost(x):
        divergence = 0.0
        for k in range(3):
            P, P0 = pseudo_inertia_of(x[10 * k:10 * k + 10]), pseudo_inertia_of(prior[10 * k:10 * k + 10])
            sign, log = np.linalg.slogdet(P)
            divergence += np.trace(np.linalg.inv(P0) @ P) - log if sign > 0 else np.inf
        return np.sum((data.tau - Y @ x) ** 2) / 2 + pull * divergence

    here, random = cost(found.parameters), np.random.default_rng(0)
    for size in (1e-2, 1e-3, 1e-4):
        for _ in range(100):
            assert cost(found.parameters * (1 + size * random.normal(size=30))
                        + size**2 * random.normal(size=30)) >= here - 1e-7


def test_bodies_of_which_nothing_is_known_are_taken_as_balls():
    """A prior of zeros: the fit is as good, and what a planar arm cannot show stays as even as in a ball, 1 kg of some
    10 cm.
    """
    base = base_of("planar3r")
    data = measured(base, 100, noise=0.1)
    best, found = least_squares(base, data, noise="residuals"), physical_estimate(base, data,
                                                                                  prior=np.zeros(base.model.size))
    assert (found.fit.error < 1.01 * best.fit.error).all()
    for ten in found.parameters.reshape(3, 10):
        assert np.linalg.eigvalsh(pseudo_inertia_of(ten)).min() > 0
        values = dict(zip(MOMENT_NAMES, ten, strict=True))
        assert max(abs(values[word])
                   for word in ("uz", "Jxz", "Jyz")) < 1e-6 and values["Jzz"] == pytest.approx(0.01, rel=1e-3)


def test_few_noisy_samples_give_an_inertia_matrix_that_only_the_physical_estimate_keeps_positive():
    base = base_of("puma560")
    data = measured(base, 25, noise=4.0)
    q = random_states(base.model, 50, seed=4)[0]
    units = np.eye(6)

    def smallest(estimate):
        rest = estimate.forces(q, 0 * q, 0 * q)
        M = np.stack([estimate.forces(q, 0 * q, np.broadcast_to(unit, q.shape)) - rest for unit in units], axis=-1)
        return np.linalg.eigvalsh((M + np.swapaxes(M, 1, 2)) / 2).min()

    assert smallest(least_squares(base, data)) < 0 < smallest(physical_estimate(base, data))


def test_the_estimated_mechanism_is_the_estimate():
    """Pinocchio, given the estimated bodies, finds the forces that the estimate predicts; also where bodies are fixed
    to others.
    """
    arm = cy.load("panda_hand").variants.spanning_tree()
    model = linear_model(arm.tree, joint_terms=["viscous"])
    base = structural_base_parameters(model)
    data = measured(base, 200, noise=0.1)
    found = physical_estimate(base, data)
    mechanism = found.tree
    assert mechanism.included == {"friction"}
    q, v, vd = random_states(model, 5, seed=3)
    viscous = np.concatenate([np.full(j.motion.nv, j.friction.viscous) for j in mechanism.joints])
    theirs = pinocchio_forces(mechanism, q, v, vd) + viscous * v
    assert np.abs(theirs - found.forces(q, v, vd)).max() < 1e-10 * np.abs(theirs).max()
    again = linear_model(mechanism, joint_terms=["viscous"])
    assert np.abs(again.values - found.parameters).max() < 1e-12 * np.abs(found.parameters).max()


def test_friction_is_found():
    base = base_of("ur5", *FRICTION)
    truth = friction_truth(base.model)
    found = physical_estimate(base, measured(base, 1000, noise=0.1, truth=truth))
    wanted = [k for k, (_, word) in enumerate(base.model.columns) if word in ("viscous", "coulomb", "offset")]
    assert np.abs(found.parameters[wanted] - truth[wanted]).max() < 0.03
    assert found.tree.joints[2].friction.viscous == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("noise", [0.0, 1e-6])
def test_exact_forces_of_an_arm_without_friction_are_no_special_case(noise):
    """Frictions of zero are on the edge of what is allowed, and there is no noise to hide behind."""
    base = base_of("puma560", "viscous", "coulomb")
    found = physical_estimate(base, measured(base, 100, noise=noise))
    assert np.abs(found.base_values - base.values(base.model.values)).max() < 1e-9 + 2 * noise
    assert found.parameters[[word == "viscous" for _, word in base.model.columns]].min() > 0


def test_a_body_that_cannot_be_is_approached_as_far_as_bodies_go():
    base = base_of("ur5")
    truth = base.model.values.copy()
    truth[base.model.names.index("Jxx(wrist_3_link)")] = -0.05
    found = physical_estimate(base, measured(base, 100, noise=1e-6, truth=truth))
    assert 0.01 < found.fit.error.max() < 0.5
    last = found.tree.bodies[-1]
    assert np.linalg.eigvalsh(np.trace(last.inertia) / 2 * np.eye(3) - last.inertia).min() > 0


def test_report_names_what_was_found():
    base = base_of("planar2r")
    found = least_squares(base, measured(base, 50, noise=0.05))
    text = str(found.report(measured(base, 20, noise=0.05, seed=1)))
    assert "6 base parameters from 50 samples by ordinary least squares" in text
    assert re.search(r"ux\(link1\) \+ 0.5 m\(link2\) +1\.2\d", text) and "validation error" in text and "joint2" in text


def test_errors_are_relative_to_the_size_of_what_they_are_errors_of():
    """Forces twice as large, with errors twice as large, and masses that are too; a force that is exact has none; as
    the report says it.
    """
    base = base_of("planar2r")
    data = measured(base, 50, noise=np.array([0.3, 0.01]))
    found, half = least_squares(base, data), replace(data, tau=data.tau / 2)
    other = least_squares(base, half)
    left = data.tau - base.regressor(data.q, data.qd, data.qdd) @ found.base_values
    np.testing.assert_allclose(found.fit.relative,
                               np.linalg.norm(left, axis=0) / np.linalg.norm(data.tau, axis=0), rtol=1e-12)
    np.testing.assert_allclose(other.fit.error, found.fit.error / 2, rtol=1e-9)
    np.testing.assert_allclose(other.fit.relative, found.fit.relative, rtol=1e-9)
    np.testing.assert_allclose(
        found.validate(half).relative,
        np.linalg.norm(left - half.tau, axis=0) / np.linalg.norm(half.tau, axis=0))
    report = found.report()
    for row, value, deviation in zip(report.parameters.rows, found.base_values, found.standard_deviations, strict=True):
        assert float(row[3].removesuffix(" %")) == pytest.approx(100 * deviation / abs(value), rel=0.05)
    for row, again, share in zip(report.errors.rows, other.report().errors.rows, found.fit.relative, strict=True):
        assert float(row[3].removesuffix(" %")) == pytest.approx(100 * share, rel=0.05) and again[3] == row[3]


def test_bodies_end_where_the_distance_says():
    """Just before it every pseudo-inertia and friction is positive, just after it one is not; a body that only grows
    never ends.
    """
    model = linear_model(cy.load("puma560").tree, joint_terms=["viscous", "coulomb"])
    divergence, random = Divergence.of(model, friction_truth(model)), np.random.default_rng(0)
    x = divergence.prior
    for _ in range(20):
        step = x * random.normal(size=model.size)
        end = divergence.distance(x, step)
        smallest = []
        for t in (0.999 * end, 1.001 * end):
            there = x + t * step
            smallest.append(
                min([np.linalg.eigvalsh(pseudo_inertia_of(there[block])).min()
                     for block in divergence.blocks] + [there[divergence.positive].min()]))
        assert smallest[0] > 0 > smallest[1]
    assert divergence.distance(x, x) == np.inf


def test_positions_alone_are_enough_at_a_high_rate():
    base = base_of("planar2r")
    drive = exciting_trajectory(base, position=(-3.0, 3.0), velocity=3.0, acceleration=8.0, period=5.0, steps=5)
    times = np.arange(0.0, 10.0, 0.001)
    q, v, vd = drive.trajectory.at(times)
    tau = base.model.regressor(q, v, vd) @ base.model.values
    random = np.random.default_rng(0)
    data = measurements_from_positions(base.model, times, q + 1e-5 * random.normal(size=q.shape),
                                       tau + 0.05 * random.normal(size=q.shape), cutoff=10.0)
    found = least_squares(base, data)
    assert np.abs(found.base_values - base.values(base.model.values)).max() < 0.01
    assert np.abs(data.qd - v[100:-100]).max() < 0.02 and np.abs(data.qdd - vd[100:-100]).max() < 0.3


def test_slow_movements_go_through_a_low_cutoff():
    """Below one hertz too: what is slow passes, what is fast does not."""
    model, times = base_of("planar2r").model, np.arange(0.0, 60.0, 0.02)
    slow, fast = (np.sin(2 * np.pi * rate * times)[:, None] * np.array([1.0, -0.5]) for rate in (0.05, 5.0))
    data = measurements_from_positions(model, times, slow + 0.1 * fast, slow, cutoff=0.5)
    assert len(data.q) == len(times) - 2 * 100  # a period of the cutoff is left out at each end
    settled, inner = slice(200, -200), slice(300, -300)
    np.testing.assert_allclose(data.q[settled], slow[inner], rtol=0, atol=1e-3)
    np.testing.assert_allclose(data.qd[settled], np.gradient(slow, 0.02, axis=0)[inner], rtol=0, atol=1e-3)
    np.testing.assert_allclose(data.tau[settled], slow[inner], rtol=0, atol=1e-3)


# Exciting trajectories


@pytest.mark.parametrize(("name", "limits"), [("planar2r", {"position": (-3.0, 2.0), "velocity": 2.0}),
                                              ("puma560", {"velocity": 2.0})])
def test_exciting_trajectories_keep_limits_start_and_end_at_rest_and_excite(name, limits):
    base = base_of(name)
    found = exciting_trajectory(base, acceleration=5.0, steps=30, **limits)
    q, v, vd = found.trajectory.at(np.linspace(0.0, 10.0, 10_001))
    assert (q > found.limits.lower).all() and (q < found.limits.upper).all()
    assert (np.abs(v) < found.limits.velocity).all() and (np.abs(vd) < found.limits.acceleration).all()
    assert max(np.abs(v[[0, -1]]).max(), np.abs(vd[[0, -1]]).max()) < 1e-12 and np.abs(q[0] - q[-1]).max() < 1e-12
    others = [condition_of(base, random_trajectory(found.limits, seed=k)) for k in range(20)]
    assert found.condition < 0.75 * min(others) and found.condition < found.start_condition
    again, other = (exciting_trajectory(base, acceleration=5.0, steps=2, tries=3, seed=seed, **limits)
                    for seed in (0, 1))
    assert np.array_equal(again.trajectory.a,
                          exciting_trajectory(base, acceleration=5.0, steps=2, tries=3, **limits).trajectory.a)
    assert not np.array_equal(again.trajectory.a, other.trajectory.a)


@pytest.mark.parametrize(("limit", "binding"), [({"velocity": 0.3}, "velocity"), ({"velocity": 3.0}, "velocity"),
                                                ({"acceleration": 0.2}, "acceleration"), ({}, "position")])
def test_trajectories_fill_their_limits(limit, binding):
    """The one that binds is reached within the margin, whatever its size; the others are kept."""
    wide = {"lower": -2e3, "upper": 3e3, "velocity": 1e4, "acceleration": 2e4}
    limits = ExcitationLimits(*[np.full(2, value) for value in {**wide, **limit}.values()])
    q, v, vd = random_trajectory(limits, seed=3).at(np.linspace(0.0, 10.0, 4001))
    used = {
        "position": np.ptp(q, axis=0) / (limits.upper - limits.lower),
        "velocity": np.abs(v).max(axis=0) / limits.velocity,
        "acceleration": np.abs(vd).max(axis=0) / limits.acceleration}
    assert (used[binding] > 0.99).all() and max(share.max() for share in used.values()) < 1.0
    assert (q > limits.lower).all() and (q < limits.upper).all()


def test_trajectory_is_the_derivative_of_itself():
    base = base_of("puma560")
    drive = exciting_trajectory(base, acceleration=5.0, velocity=2.0, steps=0, tries=1).trajectory
    h, t = 1e-5, np.linspace(0.0, 10.0, 50)
    before, here, after = drive.at(t - h), drive.at(t), drive.at(t + h)
    assert np.abs((after[0] - before[0]) / (2 * h) - here[1]).max() < 1e-8
    assert np.abs((after[1] - before[1]) / (2 * h) - here[2]).max() < 1e-8


@pytest.mark.parametrize("measure", MEASURES)
def test_slope_of_the_measures(measure):
    base = base_of("puma560")
    limits = exciting_trajectory(base, acceleration=5.0, velocity=2.0, steps=0, tries=1).limits
    series = _Series(limits, 10.0, 4)
    dullness = _Dullness(base, series, 60, MEASURES[measure])
    random = np.random.default_rng(0)
    x, direction = random.normal(size=(2, series.size))
    slope = dullness(x)[1]
    change = (dullness(x + 1e-6 * direction)[0] - dullness(x - 1e-6 * direction)[0]) / 2e-6
    assert slope @ direction == pytest.approx(change, rel=1e-3)


def test_determinant_is_made_smaller_too():
    base = base_of("planar3r")
    found = exciting_trajectory(base, position=(-2.0, 2.0), velocity=2.0, acceleration=5.0, measure="determinant",
                                steps=30)
    log = [np.linalg.slogdet(W.T @ W)[1] for W in (base.regressor(*drive.sampled(100)).reshape(-1, base.size)
                                                   for drive in (found.start, found.trajectory))]
    assert log[1] > log[0] + 1


# What cannot be done


def test_unexciting_data_name_what_cannot_be_seen():
    base = base_of("planar2r")
    q = random_states(base.model, 100)[0]
    with pytest.raises(SingularityError,
                       match=r"excite 2 of the 6 .*cannot be seen in any force: Jxx\(link1\); Jxx\(link2\)\. Move"):
        least_squares(base, simulate_measurements(base.model, q, 0 * q, 0 * q))
    still = np.zeros((100, 2))
    with pytest.raises(SingularityError, match=r"Jxx\(link1\)"):
        physical_estimate(base, simulate_measurements(base.model, still, still, still))


def test_unseen_directions_are_right():
    """The named change of base parameters is in the null space of the movement: it moves no force."""
    base = base_of("puma560")
    q, v, vd = random_states(base.model, 100)
    for still in (0, 1, 2, 4):
        q[:, still], v[:, still], vd[:, still] = 0.3, 0.0, 0.0
    with pytest.raises(SingularityError) as caught:
        least_squares(base, simulate_measurements(base.model, q, v, vd))
    changes = re.search(r"in any force: (.*?)\. Move", str(caught.value)).group(1).split("; ")
    W = base.regressor(q, v, vd).reshape(-1, base.size)
    for change in [c for c in changes if not c.startswith("and ")]:
        vector = np.zeros(base.size)
        for sign, size, name in re.findall(r"(^-|^| - | \+ )([\d.e-]+ )?(\w+\(\w+\))", change):
            vector[base.names.index(name)] = (-1 if "-" in sign else 1) * float(size or 1)
        assert np.abs(W @ vector).max() < 5e-3 * np.abs(W).max() and np.abs(vector).max() > 0


def test_too_few_samples_and_wrong_shapes():
    base = base_of("puma560")
    with pytest.raises(SingularityError,
                       match="5 samples of 6 forces are too few for the 36 base parameters of puma560: at least 6"):
        least_squares(base, measured(base, 5, noise=0.0))
    zeros = np.zeros((10, 6))
    with pytest.raises(SignatureError, match="measured tau of puma560 must have the shape"):
        Measurements(base.model, zeros, zeros, zeros, zeros[:, :5])
    with pytest.raises(GeometryError, match="measured qd is not finite in sample 3"):
        Measurements(base.model, zeros, np.where(np.arange(10)[:, None] == 3, np.nan, zeros), zeros, zeros)
    with pytest.raises(SignatureError, match="noise must be"):
        least_squares(base, measured(base, 50, noise=0.1), noise="resduals")
    with pytest.raises(SignatureError, match="must be positive"):
        least_squares(base, measured(base, 50, noise=0.1), noise=np.zeros(6))
    with pytest.raises(UnsupportedError, match="physical_estimate"):
        least_squares(base, measured(base, 50, noise=0.1)).tree  # noqa: B018
    with pytest.raises(SignatureError, match="pull"):
        physical_estimate(base, measured(base, 50, noise=0.1), pull=0.0)
    with pytest.raises(ModelError, match="no term 'stiction'"):
        linear_model(cy.load("puma560").tree, joint_terms=["stiction"])
    with pytest.raises(SignatureError, match="cutoff"):
        measurements_from_positions(base.model, np.arange(10.0), zeros, zeros, cutoff=3.0)
    with pytest.raises(ModelError, match="mass of 'link1' would be -1"):
        base.model.tree_with(np.full(60, -1.0))


def test_missing_limits_are_named():
    base = base_of("puma560")
    with pytest.raises(ModelError, match=r"puma560 has no velocity limit for 'joint1', 'joint2'.*velocity="):
        exciting_trajectory(base)
    with pytest.raises(ModelError, match=r"no acceleration limit for 'joint1'.*acceleration="):
        exciting_trajectory(base, velocity=1.0)
    with pytest.raises(ModelError, match="planar2r has no lower position limit for 'joint1'"):
        exciting_trajectory(base_of("planar2r"), velocity=1.0, acceleration=1.0)
    with pytest.raises(ModelError, match="leave no room"):
        exciting_trajectory(base, velocity=1.0, acceleration=1.0, position=(0.0, 0.0))
    ball = Tree.of("ball", [Body("root"), Body("ball", 1.0)], [Joint("free", "root", "ball", Spherical())])
    with pytest.raises(UnsupportedError, match="joint 'free' of ball is spherical"):
        exciting_trajectory(base_parameters(linear_model(ball)), velocity=1.0, acceleration=1.0)


def test_nothing_that_moves():
    """A tree of fixed joints has no parameters, and that is not an error."""
    model = linear_model(random_tree(0, ["fixed", "fixed"]))
    assert model.size == base_parameters(model).size == structural_base_parameters(model).size == 0


@pytest.mark.parametrize("length", [1e-6, 1e-3, 1e3])
def test_base_parameters_do_not_depend_on_the_size_of_the_robot(length):
    """Of micrometres, of millimetres, or with numbers that are millimetres."""
    usual, other = (linear_model(resized(factor), joint_terms=["rotor", "viscous"]) for factor in (1.0, length))
    random = np.random.default_rng(3)
    q, v, vd = random_configuration(random, other.tree), *random.normal(size=(2, other.tree.nv))
    forces = other.text(q, v, vd) @ other.values
    for find in (base_parameters, structural_base_parameters):
        assert find(other).names == find(usual).names
        found = find(other)
        near = np.abs(other.text(q, v, vd)[:, found.kept] @ found.values(other.values) - forces) / np.abs(forces)
        assert near.max() < 1e-9


def resized(factor):
    bodies, joints, _ = random_parts(np.random.default_rng(7),
                                     ["revolute", "revolute", "prismatic", "helical", "revolute"])
    smaller = [replace(joint, placement=_with_offset(joint.placement, factor), motion=_with_pitch(joint.motion, factor))
               for joint in joints]
    moved = [
        replace(body, center=np.asarray(body.center) * factor, inertia=np.asarray(body.inertia) * factor**2)
        for body in bodies]
    return Tree.of("resized", moved, smaller)


def _with_offset(placement, factor):
    placement = np.array(placement)
    placement[:3, 3] *= factor
    return placement


def _with_pitch(motion, factor):
    return replace(motion, pitch=motion.pitch * factor) if isinstance(motion, Helical) else motion
