"""States that have no accelerations: NaN by every method, a reason for one state, and answers kept wherever there are
some.
"""

import pickle
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.compiler.solving.definite import are_definite
from cayley.dynamics.cartesian.linearised import CartesianLinearised
from cayley.dynamics.cartesian.model import CartesianCoordinates, CartesianMechanism, operational_space_kernel
from cayley.dynamics.forward.methods import METHODS
from cayley.dynamics.forward.singular_inertia import _deep_is_regular, _short_is_regular, why_singular
from cayley.dynamics.inertia_matrix.always_regular import always_regular
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.linearised.state_space import LinearisedMechanism
from cayley.dynamics.rigid_links.links import links_of
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.errors import CayleyError, ModelError, SingularityError
from cayley.mechanism import Mechanism
from cayley.model.joint_kinds import Floating, Planar, Prismatic, Revolute, Spherical, Universal
from cayley.model.parts import Body, Joint, Rotor
from cayley.model.tree import Tree
from dynamics.chains import random_chain, random_state
from kinematics.pinocchio_trees import PinocchioTree, without_universal_joints
from model.random_trees import KINDS, random_configuration, random_parts

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
ROUND = np.diag([0.1, 0.1, 0.1])


def at(*p):
    pose = np.eye(4)
    pose[:3, 3] = p
    return pose


def chain(name, *links):
    """Links (motion, place, mass, centre, inertia), one on the other."""
    bodies = [Body("link0"), *[Body(f"link{k}", *mass) for k, (_, _, *mass) in enumerate(links, 1)]]
    joints = [
        Joint(f"joint{k}", f"link{k - 1}", f"link{k}", motion, place) for k, (motion, place, *_) in enumerate(links, 1)]
    return Mechanism(Tree.of(name, bodies, joints))  # also of bodies that Mechanism.of would refuse


def branching():
    bodies = [Body("base"), Body("trunk", 2.0, X, ROUND), Body("left", 1.0, Y, ROUND), Body("right", 0.0)]
    joints = [Joint("a", "base", "trunk", Revolute(Y)), Joint("b", "trunk", "left", Revolute(X)),
              Joint("c", "trunk", "right", Prismatic(X))]
    return Mechanism.of("branching", bodies, joints)


SINGULAR = {
    "floating particle": (chain("particle", (Floating(), None, 1.0, (0.1, 0.2, 0.3))), r"joint1"),
    "particle on a ball": (chain("ball", (Spherical(), None, 1.73, (0.1, 0.2, 0.3))), r"joint1"),
    "coincident axes": (chain("coincident", (Revolute(X), None, 1.0, (0.1, 0.2, 0.3), ROUND),
                              (Revolute(), at(0.1, 0.2, 0.3), 0.0),
                              (Revolute(), at(0, 0, 0.2), 1.0, (0.3, 0.1, 0.0), ROUND)), r"joints 'joint2', 'joint3'"),
    "parallel slides": (chain("slides", (Prismatic(Y), None, 0.0), (Prismatic(Y), None, 0.0),
                              (Prismatic(X), None, 1.0)), r"'joint1', 'joint2'"),
    "massless tip": (chain("tip", (Revolute(), None, 1.0, (0.2, 0.0, 0.0), ROUND),
                           (Revolute(), at(0.5, 0, 0), 0.0)), r"joint 'joint2'"),
    "massless sliding tip": (chain("tip", (Revolute(), None, 1.0, X, ROUND),
                                   (Prismatic(), None, 0.0)), r"joint 'joint2'"),
    "massless branch": (branching(), r"joint 'c'"),
    "negative inertia": (chain("negative",
                               (Revolute(), None, 1.0, (0, 0, 0), np.diag([1.0, 1.0, -1.0]))), r"body 'link1'.*-1"),
    "negative far out": (chain("negative", (Revolute(), None, 1.0, X, ROUND),
                               (Revolute(X), None, 1.0, (0, 0, 0), np.diag([-2.0, 1.0, 1.0]))), r"body 'link2'.*-2"),
    "particle in a plane": (chain("plane", (Planar(), None, 1.0)), r"joint1"),
    "nothing on a cross": (chain("cross", (Revolute(), None, 1.0, X, ROUND),
                                 (Universal(), None, 0.0)), r"joint 'joint2'"), }


@pytest.mark.spec("S1-70", "S1-50")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", SINGULAR)
def test_a_state_without_an_answer_is_reported_by_every_method(name):
    """NaN for all joints in a batch, an error that names what is to blame for one state; the same in float32, and no
    stray warnings.
    """
    arm, blamed = SINGULAR[name]
    q, rest = np.tile(arm.neutral, (3, 1)), np.linspace(0.3, 0.7, arm.nv)
    if not any(joint.motion.nq > joint.motion.nv for joint in arm.joints):
        q = q + np.random.default_rng(0).normal(size=q.shape)
    texts = [arm.forward_dynamics.using(method) for method in METHODS if accepts(arm, method)]
    assert len(texts) >= 5
    for text in [*texts, arm.forward_derivatives, arm.inverse_inertia_matrix]:
        for found in parts(text.reference(*(q[0], rest, rest)[:len(text.inputs)])):
            assert np.isnan(found).all()
    for precision in (np.float64, np.float32):
        batch, force = q.astype(precision), rest.astype(precision)
        found = arm.forward_dynamics(batch, force, force)
        assert found.dtype == precision and np.isnan(found).all()
        assert np.isnan(arm.forward_dynamics.unchecked(batch[0], force, force)).all()
        with pytest.raises(SingularityError, match=blamed):
            arm.forward_dynamics(batch[0], force, force)
    seen = arm.formulations.inertia_regularity(q)
    assert not seen.regular.any() and all("inertia" in reason for reason in seen.reasons)
    assert not arm.formulations.inertia_condition(q[0]) < 1e13


def parts(found):
    return found if isinstance(found, tuple) else (found,)


def accepts(arm, method):
    """Whether a method takes this mechanism; those for chains, and one that takes roots of inertias, refuse others by
    name.
    """
    try:
        arm.forward_dynamics.using(method).program()
    except CayleyError as refusal:
        assert any(word in str(refusal)
                   for word in ("open chains", "revolute and prismatic", "negative mass or moment"))
        return False
    return True


@pytest.mark.spec("S1-70")
@pytest.mark.parametrize("name", ["floating particle", "coincident axes", "massless branch", "negative inertia"])
def test_models_that_divide_by_the_inertia_matrix_refuse_it(name):
    arm, blamed = SINGULAR[name]
    frame, rest = arm.bodies[-1].name, np.zeros(arm.nv)
    with pytest.raises(SingularityError, match=blamed):
        LinearisedMechanism(arm.tree).at(arm.neutral)
    with pytest.raises(SingularityError, match=blamed):
        CartesianMechanism(arm.tree, frame, damping=0.1).at(arm.neutral, rest)
    law = operational_space_kernel(arm.tree, frame)
    assert all(np.isnan(found).all() for found in law(np.tile(arm.neutral, (2, 1)), rest, 0.1))
    with pytest.raises(SingularityError, match=blamed):
        law(arm.neutral, rest, 0.1)
    with pytest.raises(SingularityError, match=blamed):
        arm.simulate(arm.neutral, rest, until=0.1, progress=False)
    rolled = arm.rollout(method="semi-implicit-euler")(arm.neutral, rest, step=1e-3, steps=3)
    assert rolled.status == "not finite" and np.isnan(rolled.qd[-1]).all() and "inertia matrix" in rolled.message


def test_more_functions_of_a_batch_and_of_one_state():
    arm, blamed = SINGULAR["coincident axes"]
    q, rest = np.ones((2, 3)), np.zeros(3)
    wrenched = arm.forward_dynamics.with_inputs(wrenches=["link3"], base_motion=True)
    for function, more in ((arm.inverse_inertia_matrix, ()), (arm.forward_derivatives, (rest, rest)),
                           (wrenched, (rest, rest, np.ones(6), np.ones(3), np.ones(6)))):
        assert all(np.isnan(found).all() for found in parts(function(q, *more)))
        with pytest.raises(SingularityError, match=blamed):
            function(q[0], *more)
    with pytest.raises(SingularityError, match=r"state 1 of the batch"):
        LinearisedMechanism(gimbal().tree).at([[0.1, 0.3, 0.2], [0.1, 0.0, 0.2]])
    assert np.isnan(LinearisedMechanism(gimbal().tree).at([0.1, np.nan, 0.2]).A[3:]).any()


def test_the_linear_model_of_a_square_task_refuses_it():
    arm = chain("plane", (Revolute(), None, 1.0, X, ROUND),
                (Revolute(), at(1, 0, 0), 0.0)).with_frame("tool", "link2", at(1, 0, 0))
    plane = CartesianCoordinates(arm.tree, "tool", task=(True, True, False, False, False, False))
    with pytest.raises(SingularityError, match="joint 'joint2' moves no mass"):
        CartesianLinearised(plane).at([0.3, 1.2], [0.4, -0.2], [1.0, 0.5])


def gimbal():
    """Three turns without mass in between: at the second of them the first and the last are one."""
    return chain("gimbal", (Revolute(), None, 0.0), (Revolute(X), None, 0.0),
                 (Revolute(), None, 2.0, (0.1, 0.2, 0.0), np.diag([0.3, 0.4, 0.5])))


def test_only_the_singular_states_of_a_batch_are_nan():
    """A gimbal locks at its second angle zero.

    Near by, Pinocchio agrees; and so close that nothing but rounding is left, there is none.
    """
    arm = gimbal()
    q = np.array([[0.3, angle, -0.4] for angle in (0.0, 1e-12, 1e-5, 1e-3, 0.7, np.pi)])
    state = (np.zeros((6, 3)), np.full((6, 3), 0.1))
    there = PinocchioTree.of(arm)
    there.model.gravity.linear = np.array(arm.gravity)
    seen = arm.formulations.inertia_regularity(q)
    assert seen.regular.tolist() == [False, False, True, True, True, False]
    assert [bool(reason) for reason in seen.reasons] == [True, True, False, False, False, True]
    assert "the joints 'joint1', 'joint3'" in seen.reasons[0]
    for method in METHODS:
        found = arm.forward_dynamics.using(method)(q, *state)
        assert (np.isnan(found).all(axis=1) == ~seen.regular).all() and (np.isnan(found).any(axis=1)
                                                                         == ~seen.regular).all(), method
        for k in np.flatnonzero(seen.regular):
            expected = pin.aba(there.model, there.model.createData(), there.q(q[k]), *[x[k] for x in state])
            allowed = 1e-12 * arm.formulations.inertia_condition(q[k]) * np.abs(expected).max()
            assert np.abs(found[k] - expected).max() < allowed, method


def test_one_call_takes_the_quick_way_until_there_is_no_answer():
    """The error does not depend on how often the kernel was called, nor on the form of the call; NaN of the caller's
    stays NaN.
    """
    arm = gimbal()
    forward, good, locked, rest = arm.forward_dynamics, np.array([0.3, 0.7, 0.1]), np.array([0.3, 0.0,
                                                                                             0.1]), np.zeros(3)
    for _ in range(3):
        first = forward(good, rest, rest)
        with pytest.raises(SingularityError, match="moves no mass"):
            forward(locked, rest, rest)
        assert (forward(good, rest, rest) == first).all()
    assert np.isnan(forward(locked, np.array([np.nan, 0, 0]), rest)).all()
    assert np.isnan(forward(np.array([0.3, np.nan, 0.1]), rest, rest)).all()
    assert np.isnan(forward.unchecked(locked, rest, rest)).all()
    with pytest.raises(SingularityError):
        forward(locked.tolist(), rest, rest)
    into = np.full(3, 5.0)
    with pytest.raises(SingularityError):
        forward(locked, rest, rest, out=into)
    again = pickle.loads(pickle.dumps(arm)).forward_dynamics
    with pytest.raises(SingularityError):
        again(locked, rest, rest)
    assert np.isnan(forward.jacobian("tau")(locked, rest, rest)).all() and np.isnan(
        forward.jacobian("q")(locked, rest, rest)[:, 1]).all()
    assert np.isfinite(forward.jacobian("q")(good, rest, rest)).all()


def test_rotors_make_regular_what_links_do_not():
    arm, _ = SINGULAR["massless tip"]
    geared = arm.variants.with_joints(*[replace(joint, rotor=Rotor(0.2, 3.0)) for joint in arm.joints])
    driven = geared.including("armature")
    assert always_regular(driven.tree) and not always_regular(arm.tree)
    state = np.array([0.1, 0.2]), np.array([0.3, 0.4]), np.array([1.0, 2.0])
    tau = driven.inverse_dynamics(*state)
    for method in METHODS:
        np.testing.assert_allclose(
            driven.forward_dynamics.using(method).reference(*state[:2], tau), state[2], rtol=0, atol=1e-12)


def test_mechanisms_that_are_regular_everywhere_pay_nothing():
    """The compiled program of an ordinary arm has no comparison; published counts are those of the text."""
    for name in ("panda", "puma560", "ur5", "iiwa14"):
        arm = cy.load(name)
        assert always_regular(arm.tree)
        for function in (arm.forward_dynamics, arm.inverse_inertia_matrix,
                         arm.forward_dynamics.using("articulated-bodies")):
            assert not {node.op for node in function.program().nodes} & {"less", "less_equal", "where", "and"}
            assert function._explain is None


@pytest.mark.spec("S1-50")
@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_three_tests_agree_and_no_answer_is_lost(seed, far):
    """Trees with massless links, particles, masses from 1e-4 to 1e2 and links 3 km away, against the eigenvalues of
    Pinocchio's matrix.
    """
    random = np.random.default_rng([seed, far])
    for _ in range(6):
        bodies, joints, _ = random_parts(random, list(random.permutation(KINDS))[:random.integers(2, 6)])
        changed = [body if k == 0 else odd(body, random, far) for k, body in enumerate(bodies)]
        tree = Mechanism.of("odd", changed, joints)
        q = random_configuration(random, tree)
        there = PinocchioTree.of(without_universal_joints(tree))
        M = pin.crba(there.model, there.model.createData(), there.q(q), pin.Convention.WORLD)
        regular = bool(are_definite(np.triu(M) + np.triu(M, 1).T))
        lean, none = minimal_links(tree.tree), np.zeros(tree.nv)
        with np.errstate(all="ignore"):
            assert bool(_short_is_regular(lean, none, q)) is bool(_deep_is_regular(lean, none, q)) is regular
        assert (why_singular(tree.tree, q) is None) is regular
        assert regular or not always_regular(tree.tree)


def odd(body, random, far):
    choice, factor = random.random(), 10 ** random.uniform(-4, 2)
    if choice < 0.25:
        return Body(body.name, 0.0)
    center = body.center + (3000 * random.normal(size=3) if far and choice < 0.6 else 0.0)
    return Body(body.name, body.mass * factor, center, np.zeros((3, 3)) if choice < 0.5 else body.inertia * factor)


def test_ill_conditioned_arms_keep_their_answers():
    """Masses from 1e-5 to 1e3 kg, a link 3 km out: within 1e-12 of the condition number."""
    for seed in range(10):
        random = np.random.default_rng(seed)
        tree = random_chain("RRPRR", seed)
        bodies = [tree.bodies[0], *[replace(b, mass=b.mass * f, inertia=np.asarray(b.inertia) * f)
                                    for b, f in zip(tree.bodies[1:], 10 ** random.uniform(-5, 3, 5), strict=True)]]
        bodies[3] = replace(bodies[3], center=[3000.0, 0.0, 0.0])
        arm = Mechanism.of("wide", bodies, tree.joints)
        q, qd, qdd = random_state(arm.tree, seed)
        there = PinocchioTree.of(arm)
        there.model.gravity.linear = np.array(arm.gravity)
        tau = pin.rnea(there.model, there.model.createData(), there.q(q), qd, qdd)
        M = inertia_matrix(links_of(arm.tree), q)
        scale = np.sqrt(np.diag(M))
        condition = np.linalg.cond(M / np.outer(scale, scale))
        found = arm.forward_dynamics.reference(q, qd, tau)
        assert (scale * np.abs(found - qdd)).max() < 1e-12 * condition * np.abs(scale * qdd).max()


def test_systems_by_their_energies():
    """M = d2L/dqd2 singular, or constraints that depend on one another."""
    from cayley.dynamics.mechanics.lagrange import lagrange_system

    idle = lagrange_system(lambda q, qd: (qd[0] + qd[1]) ** 2 / 2, name="idle")
    twice = lagrange_system(lambda q, qd: qd @ qd / 2, constraints=lambda q: [q[0] + q[1], 2 * q[0] + 2 * q[1]],
                            name="twice")
    for system in (idle, twice):
        assert np.isnan(system.accelerations(np.ones((2, 2)), np.ones(2), np.ones(2))).all()
        with pytest.raises(SingularityError, match=system.name):
            system.accelerations(np.ones(2), np.ones(2), np.ones(2))


def test_inertias_that_are_inputs_of_a_rollout_are_judged_as_they_come():
    from cayley.simulation import inertia_parameters

    arm = chain("two", (Revolute(), None, 1.0, X, ROUND), (Revolute(), at(1, 0, 0), 1.0, X, ROUND))
    own = inertia_parameters(arm.tree, "link2")
    negative = own * [1, 1, 1, 1, 1, 1, 1, 1, 1, -3.0]
    for method in ("semi-implicit-euler", "variational"):
        rolled = arm.rollout(method=method, inertias=["link2"])(np.zeros(2), np.ones(2), step=1e-3, steps=2,
                                                               inertia_link2=np.stack([own, 0 * own, negative]))
        assert np.isfinite(rolled.qd[0]).all() and np.isnan(rolled.qd[1:, -1]).all() and rolled.status == "not finite"


# Mechanisms at the edge


@pytest.mark.spec("S1-50")
@pytest.mark.parametrize("pattern", ["", "R", "P", "PPP", "PPPPP"])
def test_no_joint_one_joint_and_slides_alone(pattern):
    """All methods agree; inverse dynamics is undone; wrenches left out are none."""
    arm = Mechanism.of("rock", [Body("rock", 2.0)], []) if not pattern else random_chain(pattern, 3)
    arm = Mechanism.of(arm.name, arm.bodies, arm.joints, frames=arm.frames, gravity=arm.gravity)
    q, qd, qdd = random_state(arm.tree, 5)
    tau = arm.inverse_dynamics(q, qd, qdd)
    for method in METHODS:
        found = arm.forward_dynamics.using(method).reference(q, qd, tau)
        np.testing.assert_allclose(found, qdd, rtol=0, atol=1e-9, err_msg=method)
    np.testing.assert_allclose(arm.forward_dynamics(*[np.tile(x, (4, 1)) for x in (q, qd, tau)]), np.tile(qdd, (4, 1)),
                               rtol=0, atol=1e-9)
    if pattern:
        pushed = arm.forward_dynamics.with_inputs(wrenches=["tool"])
        np.testing.assert_allclose(pushed.reference(q, qd, tau, np.zeros(6)), qdd, rtol=0, atol=1e-9)


@pytest.mark.parametrize("idle", [(2,), (1, 3), (4,)])
def test_massless_links_in_between(idle):
    tree = random_chain("RRPRRR", 11)
    bodies = [Body(b.name, 0.0) if k in idle else b for k, b in enumerate(tree.bodies)]
    arm = Mechanism.of("hollow", bodies, tree.joints, gravity=tree.gravity)
    q, qd, qdd = random_state(arm.tree, 12)
    tau = arm.inverse_dynamics(q, qd, qdd)
    for method in METHODS:
        found = arm.forward_dynamics.using(method).reference(q, qd, tau)
        assert np.abs(found - qdd).max() < 1e-13 * arm.formulations.inertia_condition(q) * np.abs(qdd).max(), method


@pytest.mark.filterwarnings("error")
def test_a_hundred_joints_with_a_link_without_mass():
    """Work that grows with the joints tests for singularity too."""
    tree = random_chain("R" * 100, 4)
    q = random_state(tree, 4)[0]
    hollow = replace(tree, bodies=tuple(Body(b.name, 0.0) if k == 50 else b for k, b in enumerate(tree.bodies)))
    bare = replace(tree, bodies=(*tree.bodies[:-1], Body(tree.bodies[-1].name, 0.0)))
    for arm, answered in ((hollow, True), (bare, False)):
        lean = minimal_links(arm)
        with np.errstate(all="ignore"):
            assert bool(_deep_is_regular(lean, np.zeros(100), q)) is answered
        assert (why_singular(arm, q) is None) is answered
    assert "joint 'joint100'" in why_singular(bare, q)


# Particles and roots


@pytest.mark.spec("S1-59")
def test_particles_have_roots_and_rank_loss_is_singular():
    """The central inertia of a particle is a difference that rounding leaves below zero: no reason to refuse it."""
    for seed in range(30):
        random = np.random.default_rng(seed)
        arm = chain("particle", (Revolute(), None, random.uniform(0.1, 3), random.normal(size=3)))
        state = random.normal(size=(3, 1))
        found = arm.forward_dynamics.using("orthogonal-complement").reference(*state)
        np.testing.assert_allclose(found, arm.forward_dynamics.reference(*state), rtol=1e-12)
    two = chain("two", (Revolute(), None, 1.0, (0.3, 0.1, 0.2)), (Revolute(X), at(0.4, 0, 0), 2.0, (0.1, 0.3, -0.2)))
    state = random.normal(size=(3, 2))
    np.testing.assert_allclose(
        two.forward_dynamics.using("orthogonal-complement")(*state), two.forward_dynamics(*state), rtol=1e-11)
    on_axis = chain("on axis", (Revolute(), None, 1.0, (0.0, 0.0, 0.4)))
    with pytest.raises(SingularityError, match="joint1"):
        on_axis.forward_dynamics.using("orthogonal-complement")([0.1], [0.2], [0.3])
    with pytest.raises(ModelError, match="negative"):
        SINGULAR["negative inertia"][0].forward_dynamics.using("orthogonal-complement")([0.1], [0.2], [0.3])


@pytest.mark.spec("S1-61")
@pytest.mark.parametrize("pattern", ["RR", "RPRR", "PRP"])
def test_operator_factors_of_a_massless_last_link(pattern):
    """D = F Dh F^T holds with Dh zero; F stays unit upper triangular; what divides by Dh has no answer."""
    from cayley.dynamics.inertia_matrix import operator_factors
    from cayley.dynamics.rigid_links.links import serial_chain

    tree = random_chain(pattern, 6)
    arm = Mechanism.of("bare", (*tree.bodies[:-1], Body(tree.bodies[-1].name, 0.0)), tree.joints)
    q = random_state(arm.tree, 7)[0]
    filtered = operator_factors.kalman_filter(serial_chain(arm.tree), q, regular=False)
    F = operator_factors.factor(filtered)
    M = inertia_matrix(links_of(arm.tree), q)
    assert filtered.Dh[-1] == 0 and (np.tril(F) == np.eye(arm.nv)).all()
    np.testing.assert_allclose(F @ np.diag(filtered.Dh) @ F.T, M, rtol=0, atol=1e-12 * np.abs(M).max())
    np.testing.assert_allclose(arm.inertia_matrix.using("operator-factors")(q), M, rtol=0, atol=1e-12 * np.abs(M).max())
    for method in ("operator-factors", "filter-and-smoother"):
        assert np.isnan(arm.forward_dynamics.using(method)(np.stack([q, q]), 0 * q, q)).all()
