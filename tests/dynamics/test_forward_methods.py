"""Forward dynamics by every published method: against the maximal-coordinate solve, Pinocchio, the worked values, and
each other.
"""

from dataclasses import replace

import mpmath
import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cayley as cy
from cayley.compiler.algebras.interpret import MPMATH, interpret
from cayley.compiler.kernel import kernel
from cayley.dynamics.closed_form import coriolis_matrix
from cayley.dynamics.forward import (
    articulated_bodies,
    composite_bodies,
    conjugate_gradients,
    decoupled_inertia,
    filter_and_smoother,
    generalized_links,
    maximal_coordinates,
    operator_factors,
    orthogonal_complement,
)
from cayley.dynamics.forward.methods import METHODS
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inverse import augmented_links
from cayley.dynamics.inverse.augmented_bodies import LinkPayload
from cayley.dynamics.inverse.external_loads import base_movement, load_at_link
from cayley.dynamics.inverse.newton_euler import JointLoad, inverse_dynamics
from cayley.dynamics.rigid_links.links import links_of, serial_chain
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.dynamics.state_kernels import bias_forces, bias_parts
from cayley.errors import SignatureError, SingularityError, UnsupportedError
from cayley.kinematics.forward import body_poses
from cayley.mechanism import Mechanism
from cayley.model.catalogue import load_robot
from cayley.model.parts import Body, Friction, Rotor
from cayley.model.tree import Tree
from compiler.parity import check_parity
from dynamics.chains import EVERY_SHORT_PATTERN, LONG_PATTERNS, random_chain, random_state
from dynamics.mechanisms import random_mechanism
from dynamics.robots import ACCEPTED, pinocchio_model, places, robot, state_here, state_there
from kinematics.pinocchio_trees import PinocchioTree

pytestmark = pytest.mark.filterwarnings("ignore::cayley.model.report.ModelWarning")

CHAIN_METHODS = (conjugate_gradients, orthogonal_complement, operator_factors, filter_and_smoother, generalized_links)
TREE_METHODS = (conjugate_gradients, orthogonal_complement)
PATTERNS = (*EVERY_SHORT_PATTERN, *LONG_PATTERNS)


def name_of(module):
    return module.__name__.rsplit(".", 1)[-1]


def error(found, expected):
    return np.abs(found - expected).max(initial=0.0) / max(np.abs(expected).max(initial=0.0), 1e-300)


def aba(there, q, v, tau):
    """Pinocchio's accelerations in the velocities of the tree here."""
    T, rate = there.velocity_map(q), there.velocity_map_rate(q, v)
    found = pin.aba(there.model, there.model.createData(), there.q(q), T @ v, np.linalg.solve(T.T, tau))
    return np.linalg.solve(T, found - rate @ v)


def in_pinocchio(tree):
    there = PinocchioTree.of(tree)
    there.model.gravity.linear = np.array(tree.gravity)
    return there


def solved_densely(tree, q, v, tau):
    """The equations of the free bodies, solved by LAPACK with pivoting."""
    bodies = maximal_coordinates.free_bodies(tree.tree, q, v)
    system = maximal_coordinates.equations(tree.tree, bodies, q, tau, np.zeros(tree.nv))
    dense = np.array([[row.get(k, 0.0) for k in range(len(system.rows))] for row in system.rows])
    x = np.linalg.solve(dense, np.array(system.right, dtype=float))
    vd = np.zeros(tree.nv)
    for body, (*_, start) in zip(bodies, system.places, strict=True):
        vd[body.columns] = x[start:start + body.columns.stop - body.columns.start]
    return vd


# The maximal-coordinate solve


@pytest.mark.spec("S1-62")
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_free_bodies_with_every_kind_of_joint(seed):
    """Elimination in order, LAPACK with pivots, and Pinocchio's articulated bodies agree."""
    tree, _, (q, v, tau), there = random_mechanism(seed)
    expected = aba(there, q, v, tau)
    condition = np.linalg.cond(inertia_matrix(links_of(tree.tree), q))
    lost = max(1e-12, 1e-15 * condition)
    assert error(maximal_coordinates.forward_dynamics(tree.tree, q, v, tau), expected) < lost
    assert error(solved_densely(tree, q, v, tau), expected) < lost


@pytest.mark.parametrize("pattern", ["R", "P", "RPRRPR", "RRRRRR"])
def test_multipliers_are_the_wrenches_in_the_joints(pattern):
    """The joints' wrenches are those of inverse dynamics for the accelerations that were found; the bodies accelerate
    with them.
    """
    tree = random_chain(pattern, 4)
    q, qd, tau = random_state(tree, 5)
    found = maximal_coordinates.solution(tree, q, qd, tau)
    expected = augmented_links.reactions(serial_chain(tree), q, qd, found.qdd)
    poses = body_poses(tree, q)[1:]
    turned = np.stack([
        np.concatenate([pose.R @ f, pose.R @ n])
        for pose, (f, n) in zip(poses, expected.reshape(-1, 2, 3), strict=True)])
    assert error(found.joint_wrenches, turned) < 1e-12
    there = in_pinocchio(tree)
    for body, pose, (a, e) in zip(tree.bodies[1:], poses, found.accelerations.reshape(-1, 2, 3), strict=True):
        theirs = there.acceleration(q, qd, found.qdd, body.name, "world")
        w, r = there.twist(q, qd, body.name, "world")[3:], pose.R @ body.center
        assert error(e, theirs[3:]) < 1e-11 or np.abs(theirs[3:]).max() < 1e-12
        assert error(a, theirs[:3] + np.cross(theirs[3:], r) + np.cross(w, np.cross(w, r))) < 1e-11


def test_wrenches_and_rotors():
    tree, links, (q, v, tau), there = random_mechanism(8)
    random = np.random.default_rng(1)
    rotors, number = random.uniform(0.1, 1.0, tree.nv), len(tree.bodies) - 1
    wrench = random.normal(size=6)
    found = maximal_coordinates.forward_dynamics(tree.tree, q, v, tau, wrenches=[(number, wrench)])
    J = there.jacobian(q, tree.bodies[number].name, "world")
    assert error(found, aba(there, q, v, tau + J.T @ wrench)) < 1e-11
    M, b = inertia_matrix(links, q), inverse_dynamics(links, q, v, 0 * v)
    expected = np.linalg.solve(M + np.diag(rotors), tau - b)
    assert error(maximal_coordinates.forward_dynamics(tree.tree, q, v, tau, rotors=rotors), expected) < 1e-11
    for module in TREE_METHODS:
        assert error(module.forward_dynamics(links, q, v, tau, rotors=rotors), expected) < 1e-11
    chain = random_chain("RPRR", 5)
    q, v, tau = random_state(chain, 6)
    expected = maximal_coordinates.forward_dynamics(chain, q, v, tau, rotors=rotors[:4])
    for module in CHAIN_METHODS:
        assert error(module.forward_dynamics(serial_chain(chain), q, v, tau, rotors=rotors[:4]), expected) < 1e-11


@pytest.mark.parametrize("axes", ["body", "world"])
@pytest.mark.parametrize("method", [composite_bodies, articulated_bodies], ids=name_of)
def test_a_wrench_on_a_link_is_joint_forces_along_its_jacobian(method, axes):
    """Pinocchio's accelerations for the forces tau + J^T w, of trees with every kind of joint; then with a root that
    moves, undone by inverse dynamics."""
    for seed in range(3):
        tree, links, (q, v, tau), there = random_mechanism(seed)
        rng = np.random.default_rng(seed)
        wrenches = dict(
            zip((tree.bodies[-1].name, tree.bodies[len(tree.bodies) // 2].name), rng.normal(size=(2, 6)), strict=True))
        felt = tau + sum(there.jacobian(q, name, axes).T @ wrench for name, wrench in wrenches.items())
        for found_on in (links, minimal_links(tree.tree, loaded=tuple(wrenches))):
            loads = [load_at_link(found_on, tree.tree, q, name, wrench, axes) for name, wrench in wrenches.items()]
            condition = np.linalg.cond(inertia_matrix(found_on, q))
            ours = method.forward_dynamics(found_on, q, v, tau, loads=loads)
            assert error(ours, aba(there, q, v, felt)) < max(1e-11, 1e-14 * condition)
            base = base_movement(found_on, tree.tree, rng.normal(size=3), rng.normal(size=6))
            moved = method.forward_dynamics(found_on, q, v, tau, loads=loads, base=base)
            assert error(inverse_dynamics(found_on, q, v, moved, loads=loads, base=base),
                         tau) < max(1e-11, 1e-14 * condition)


def test_a_joint_that_moves_nothing_is_named():
    tree = random_chain("RPR", 3)
    empty = replace(tree, bodies=(*tree.bodies[:3], Body("link3", 0.0)))
    q, qd, tau = random_state(tree, 1)
    with pytest.raises(SingularityError, match="joint3"):
        maximal_coordinates.forward_dynamics(empty, q, qd, tau)
    with np.errstate(divide="ignore", invalid="ignore"):
        for module in CHAIN_METHODS:
            assert not np.isfinite(module.forward_dynamics(serial_chain(empty), q, qd, tau)).all(), name_of(module)
    between = replace(tree, bodies=(*tree.bodies[:2], Body("link2", 0.0), tree.bodies[3]))
    assert error(maximal_coordinates.forward_dynamics(between, q, qd, tau), aba(in_pinocchio(between), q, qd,
                                                                                tau)) < 1e-11


# Every method


@pytest.mark.parametrize("module", CHAIN_METHODS, ids=name_of)
def test_every_pattern_of_joints(module):
    """The maximal-coordinate solve, Pinocchio and the way back by inverse dynamics."""
    for number, pattern in enumerate(PATTERNS):
        tree = random_chain(pattern, 17, frames=("any", "modified")[number % 2])
        (q, qd, tau), chain = random_state(tree, 18), serial_chain(tree)
        found = module.forward_dynamics(chain, q, qd, tau)
        assert error(found, maximal_coordinates.forward_dynamics(tree, q, qd, tau)) < 1e-11, pattern
        assert error(found, aba(in_pinocchio(tree), q, qd, tau)) < 1e-11, pattern
        assert error(inverse_dynamics(chain, q, qd, found), tau) < 1e-10, pattern


@pytest.mark.parametrize("module", TREE_METHODS, ids=name_of)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_trees_with_every_kind_of_joint(module, seed):
    _, links, (q, v, tau), there = random_mechanism(seed)
    lost = max(1e-11, 1e-15 * np.linalg.cond(inertia_matrix(links, q)))
    assert error(module.forward_dynamics(links, q, v, tau), aba(there, q, v, tau)) < lost


@pytest.mark.parametrize("name", ACCEPTED)
def test_robots_of_example_robot_data(name):
    """Free bodies, and for open chains every method, against Pinocchio; robots whose grippers have no mass have no
    accelerations.
    """
    tree, model = robot(name), pinocchio_model(name)
    q, v, tau = (x[0] for x in state_here(tree, 6))
    own = places(tree, model)
    links = links_of(tree)
    M = inertia_matrix(links, q)
    if tree.nv and not np.diag(M).min() > 0:
        with pytest.raises(SingularityError, match="moves no inertia"):
            maximal_coordinates.forward_dynamics(tree, q, v, tau)
        return
    theirs = pin.aba(model, model.createData(), *state_there(tree, model, q, v, tau))[own]
    lost = max(1e-11, 1e-14 * np.linalg.cond(M)) if tree.nv else 0.0  # M of some robots is conditioned like 1e8
    assert error(maximal_coordinates.forward_dynamics(tree, q, v, tau), theirs) <= lost
    try:
        chain = serial_chain(tree)
    except UnsupportedError:
        return
    for module in CHAIN_METHODS:
        assert error(module.forward_dynamics(chain, q, v, tau), theirs) <= lost, name_of(module)
    found = conjugate_gradients.solve(chain, q, v, tau)
    assert found.converged and error(found.qdd, theirs) <= 1e2 * lost


WORKED = {  # of each arm: b, and the accelerations without joint forces
    "s1_g1": ([29.8714332231, 5.3247323576], [-11.7342517206, 11.9417623885]),
    "s1_g2": ([13.0318992193, -4.2640000398, 0.8147831531], [-13.2146218064, -3.1962351736, -15.9114578395]),
    "s1_g3": ([38.0203547500, 47.0005356358, 4.8500765096, -18.8633756044, 2.9329479846, 1.5005075054],
              [-2.2257458534, -12.0744749729, -0.4524962036, -15.6065804005, -4.3117274298, -4.9412125735]),
    "s1_g4": ([31.2733379839, 42.2480581580, -44.1349844458, -19.4760976009, 1.3899393576, 1.8412796512],
              [0.9999224667, -3.3808397982, 8.3545168327, -2.8766570615, -0.2403394540, -1.5454774938]),
}


def worked_state(name, n):
    i = np.arange(1, n + 1)
    return (np.array([0.3, -0.7]), np.array([0.5, 1.2])) if name == "s1_g1" else (0.2 * i - 0.5, 0.3 - 0.1 * i)


@pytest.mark.parametrize("module", [*CHAIN_METHODS, maximal_coordinates], ids=name_of)
def test_worked_values(module):
    for name, (bias, expected) in WORKED.items():
        tree = load_robot(name)
        q, qd = worked_state(name, tree.nv)
        links = tree if module is maximal_coordinates else serial_chain(tree)
        assert np.abs(module.forward_dynamics(links, q, qd, np.zeros(tree.nv)) - expected).max() < 1e-9
        assert np.abs(bias_forces(serial_chain(tree), q, qd) - bias).max() < 1e-9


def test_methods_by_name_are_these_modules():
    named = {method.module.rsplit(".", 1)[-1] for method in METHODS.values()}
    assert {name_of(module) for module in (*CHAIN_METHODS, maximal_coordinates)} <= named
    tree = random_chain("RPR", 1)
    q, qd, tau = random_state(tree, 1)
    for method in METHODS.values():
        assert error(method.text(tree, "forward_dynamics")(q, qd, tau), aba(in_pinocchio(tree), q, qd, tau)) < 1e-11


@pytest.mark.parametrize("module", [*CHAIN_METHODS, maximal_coordinates], ids=name_of)
def test_texts_are_agnostic_of_the_scalar(module):
    """Compiled, as SymPy, CasADi, JAX and mpmath: the same text."""
    tree = random_chain("RP", 2)
    links = tree if module is maximal_coordinates else serial_chain(tree)
    text = kernel("(2),(2),(2)->(2)",
                  name="forward_dynamics")(lambda q, qd, tau: module.forward_dynamics(links, q, qd, tau))
    check_parity(text,
                 *np.random.default_rng(3).normal(size=(3, 2, 2)), jacobians=False, without=("C", ), tolerance=1e-12)


@pytest.mark.parametrize("decades", [6, -6])
def test_arm_with_masses_over_six_decades(decades):
    """Heavy to light it is badly conditioned, light to heavy it is stiff: every method closes with inverse dynamics."""
    plain = random_chain("RRRRRR", 1)
    sizes = 10.0 ** np.linspace(0.0, -decades, 6)
    bodies = [
        replace(body, mass=k * body.mass, inertia=k * body.inertia)
        for body, k in zip(plain.bodies[1:], sizes, strict=True)]
    tree = replace(plain, bodies=(plain.bodies[0], *bodies))
    (q, qd, _), chain = random_state(tree, 5), serial_chain(tree)
    M = inertia_matrix(chain, q)
    tau = M @ np.ones(6)
    assert np.linalg.cond(M) > (1e6 if decades > 0 else 1e2)
    expected = maximal_coordinates.forward_dynamics(tree, q, qd, tau)
    for module in (*CHAIN_METHODS, composite_bodies, articulated_bodies):
        found = module.forward_dynamics(chain, q, qd, tau)
        assert error(found, expected) < 1e-11, name_of(module)
        assert error(inverse_dynamics(chain, q, qd, found), tau) < 1e-10, name_of(module)


# Bias forces


@pytest.mark.spec("S1-51")
def test_bias_forces_and_their_parts():
    """b = C + G + J^T f; C is quadratic in the velocities; no velocity leaves G, no gravity leaves C."""
    for seed in range(4):
        _, links, (q, v, _), there = random_mechanism(seed)
        random = np.random.default_rng(seed)
        number = len(links.links) - 1
        push = JointLoad(*random.normal(size=(2, 3)))
        parts = bias_parts(links, q, v, loads=[(number, push)])
        whole = bias_forces(links, q, v, loads=[(number, push)])
        assert error(parts.total, whole) < 1e-13 and error(
            whole, inverse_dynamics(links, q, v, 0 * v, loads=[(number, push)])) == 0.0
        twice = bias_parts(links, q, 2 * v)
        assert error(twice.velocity,
                     4 * parts.velocity) < 1e-13 and (twice.gravity == parts.gravity).all() and not twice.external.any()
        assert error(bias_forces(links, q, 0 * v), parts.gravity) < 1e-13
        assert error(bias_forces(replace(links, gravity=np.zeros(3)), q, v), parts.velocity) < 1e-13
        T = there.velocity_map(q)
        gravity = pin.computeGeneralizedGravity(there.model, there.model.createData(), there.q(q))
        assert error(parts.gravity, T.T @ gravity) < 1e-12


def test_sign_of_outside_forces():
    """A wrench that the last link exerts adds J^T f; the same wrench acting on the robot takes it away: spec E-17."""
    tree = random_chain("RPRR", 6)
    (q, qd, _), chain = random_state(tree, 7), serial_chain(tree)
    f = np.random.default_rng(2).normal(size=6)
    J = in_pinocchio(tree).jacobian(q, "link4", "body")
    acting = bias_parts(chain, q, qd, loads=[(3, JointLoad(f[:3], f[3:]))]).external
    assert error(acting, -J.T @ f) < 1e-12


# Conjugate gradients


@pytest.mark.spec("S1-56")
def test_conjugate_gradients():
    """The residual is below the tolerance after about n steps, fewer from a good guess; D is never formed; too few
    steps are reported.
    """
    for pattern in PATTERNS:
        tree = random_chain(pattern, 27)
        (q, qd, tau), chain, n = random_state(tree, 28), serial_chain(tree), len(pattern)
        expected = aba(in_pinocchio(tree), q, qd, tau)
        found = conjugate_gradients.solve(chain, q, qd, tau)
        assert found.converged and found.iterations <= 2 * n and found.residual < 1e-11, (pattern, found)
        assert error(found.qdd, expected) < 1e-11
        again = conjugate_gradients.solve(chain, q, qd, tau, guess=expected)
        assert again.converged and again.iterations <= 1
        assert conjugate_gradients.solve(chain, q, qd, bias_forces(chain, q, qd)).iterations == 0
    cut = conjugate_gradients.solve(chain, q, qd, tau, most_iterations=2)
    assert not cut.converged and cut.iterations == 2 and cut.residual > 1e-6 and "not enough" in cut.reason
    nothing = conjugate_gradients.forward_dynamics(chain, q, qd, bias_forces(chain, q, qd))
    assert not nothing.any()


@pytest.mark.spec("S1-56")
@pytest.mark.parametrize("pattern", ["RRPR" * 8, "RRRP" * 12], ids=len)
def test_conjugate_gradients_of_many_joints(pattern):
    """Condition numbers of 1e4 to 1e5: n steps and three more agree with Pinocchio to 1e-11, and so does `solve` within
    3 n steps from any guess; the published recursion is far off after 2 n."""
    n = len(pattern)
    for seed in (1, 2, 3):
        tree = random_chain(pattern, seed)
        (q, qd, tau), chain = random_state(tree, seed + 10), serial_chain(tree)
        expected = aba(in_pinocchio(tree), q, qd, tau)
        assert error(conjugate_gradients.forward_dynamics(chain, q, qd, tau), expected) < 1e-11
        assert error(conjugate_gradients.forward_dynamics(chain, q, qd, tau, steps=2 * n), expected) > 1e-11
        for guess in (None, np.ones(n), expected + 1e-3):
            found = conjugate_gradients.solve(chain, q, qd, tau, guess=guess)
            assert found.converged and found.iterations <= 1.5 * n and error(found.qdd, expected) < 1e-11, found


@pytest.mark.spec("S1-56")
def test_conjugate_gradients_from_a_guess_that_is_far_off():
    for pattern in PATTERNS:
        tree = random_chain(pattern, 31)
        (q, qd, tau), chain = random_state(tree, 32), serial_chain(tree)
        for guess in (np.ones(len(pattern)), np.full(len(pattern), -1e4)):
            found = conjugate_gradients.solve(chain, q, qd, tau, guess=guess)
            assert found.converged and error(found.qdd, aba(in_pinocchio(tree), q, qd, tau)) < 1e-10, found
        rest = conjugate_gradients.solve(chain, q, qd, bias_forces(chain, q, qd), guess=np.ones(len(pattern)))
        assert np.abs(rest.qdd).max() < 1e-10


@pytest.mark.spec("S1-56")
@pytest.mark.parametrize("name", ["puma560", "panda", "s1_g3"])
def test_conjugate_gradients_in_float32(name):
    """As near as the default method is in that precision, at every state, compiled by LLVM."""
    arm = cy.load(name)
    q, qd, tau = np.random.default_rng(56).uniform(-2.0, 2.0, (3, 200, arm.tree.nv))
    exact = arm.forward_dynamics(q, qd, tau)
    single = [x.astype(np.float32) for x in (q, qd, tau)]
    off, usual = (np.abs(f(*single) - exact).max(axis=1) / np.abs(exact).max(axis=1)
                  for f in (arm.forward_dynamics.using("conjugate-gradients"), arm.forward_dynamics))
    assert off.max() < 20 * usual.max() < 1e-3
    assert "1.1920929e-07f" in arm.forward_dynamics.using("conjugate-gradients").c_source(dtype=np.float32).source


@pytest.mark.spec("S1-56")
@pytest.mark.parametrize("scale", [1e-280, 1e-200, 1e-150, 1e-20, 1e6])
def test_conjugate_gradients_of_masses_of_every_size(scale):
    tree = random_chain("RPRR", 27)
    q, qd, tau = random_state(tree, 28)
    expected = aba(in_pinocchio(tree), q, qd, tau)
    bodies = tuple(replace(body, mass=scale * (body.mass or 0.0), inertia=scale * body.inertia) for body in tree.bodies)
    chain = serial_chain(replace(tree, bodies=bodies))
    assert error(conjugate_gradients.forward_dynamics(chain, q, qd, scale * tau), expected) < 1e-12
    found = conjugate_gradients.solve(chain, q, qd, scale * tau, guess=np.ones(4))
    assert found.converged and error(found.qdd, expected) < 1e-11, found


@pytest.mark.spec("S1-56")
def test_conjugate_gradients_of_a_mechanism():
    """From a guess, with count and residual, for one state; with rotors and viscous friction; what has no answer is
    refused.
    """
    tree = random_chain("RPRR", 27)
    joints = [replace(j, rotor=Rotor(0.1, 2.0), friction=Friction(0.3)) for j in tree.joints]
    arm = Mechanism.of("driven", tree.bodies, joints, gravity=tree.gravity).including("armature", "friction")
    q, qd, tau = random_state(arm.tree, 28)
    expected = arm.forward_dynamics(q, qd, tau)
    found = arm.forward_dynamics.by_conjugate_gradients(q, qd, tau)
    assert found.converged and 1 <= found.iterations <= 8 and found.residual < 1e-11 and error(found.qdd,
                                                                                               expected) < 1e-11
    again = arm.forward_dynamics.by_conjugate_gradients(q, qd, tau, guess=expected)
    assert again.converged and again.iterations <= 1 and error(again.qdd, expected) < 1e-11
    cut = arm.forward_dynamics.by_conjugate_gradients(q, qd, tau, most_iterations=1)
    assert not cut.converged and cut.iterations == 1 and "not enough" in cut.reason
    with pytest.raises(SignatureError, match="one state"):
        arm.forward_dynamics.by_conjugate_gradients(np.stack([q, q]), qd, tau)
    bare = Mechanism(replace(arm.tree, bodies=(*arm.bodies[:-1], Body(arm.bodies[-1].name, 0.0)), included=frozenset()))
    with pytest.raises(SingularityError, match="joint4"):
        bare.forward_dynamics.by_conjugate_gradients(q, qd, tau)
    dry = arm.with_friction("joint1", coulomb=1.0)
    with pytest.raises(UnsupportedError, match="dry friction"):
        dry.forward_dynamics.by_conjugate_gradients(q, qd, tau)


def test_conjugate_gradients_need_n_steps_in_exact_arithmetic():
    """Sixty digits, of an arm whose constants have sixteen: n steps leave nothing of the forces, n - 1 do."""
    tree = random_chain("RPRR", 29)
    state, chain = random_state(tree, 30), serial_chain(tree)
    left = []
    for steps in (3, 4):
        def residual(q, qd, tau, steps=steps):
            return tau - inverse_dynamics(chain, q, qd,
                                          conjugate_gradients.forward_dynamics(chain, q, qd, tau, steps=steps))

        program = kernel("(4),(4),(4)->(4)", name="residual")(residual).program()
        with mpmath.workdps(60):
            left.append(max(map(abs, interpret(program, MPMATH, *state)[0])))
    assert left[0] > 1e-3 and left[1] < 1e-12


# Angeles & Ma


@pytest.mark.spec("S1-59")
def test_least_norm_and_least_squares():
    """Q is orthogonal, R the factor of Cholesky, x of least norm, qdd of least squares: by LAPACK."""
    from cayley.dynamics.inertia_matrix.orthogonal_complement import square_root

    for pattern in ("R", "P", "RPRPR", "RRRRRR"):
        tree = random_chain(pattern, 33)
        (q, qd, tau), chain = random_state(tree, 34), serial_chain(tree)
        P = square_root(chain, q)
        columns, upper = orthogonal_complement.orthogonal_factors(P)
        Q, R = np.stack(columns, axis=1), np.zeros((len(pattern), len(pattern)))
        for k, column in enumerate(upper):
            R[:k + 1, k] = column
        assert error(Q.T @ Q, np.eye(len(pattern))) < 1e-14 and error(Q @ R, P) < 1e-14
        assert error(R, np.linalg.cholesky(P.T @ P).T) < 1e-12
        x = np.linalg.lstsq(P.T, tau - bias_forces(chain, q, qd))[0]
        expected = np.linalg.lstsq(P, x)[0]
        assert error(orthogonal_complement.forward_dynamics(chain, q, qd, tau), expected) < 1e-11


@pytest.mark.spec("S1-71")
def test_pipeline_of_the_book():
    """Its parts are Algorithms 6.2 and 5.7; a payload on the last link is a link like any other."""
    for pattern in PATTERNS:
        tree = random_chain(pattern, 37, twists="special")
        (q, qd, tau), chain = random_state(tree, 38), serial_chain(tree)
        found = generalized_links.forward_dynamics(chain, q, qd, tau)
        assert error(found, articulated_bodies.forward_dynamics(chain, q, qd, tau)) < 1e-11
        assert error(augmented_links.inverse_dynamics(chain, q, qd, found), tau) < 1e-10
    loaded = tree.with_payload("tool", 1.5)
    payload = LinkPayload(1.5, tree.frame("tool").pose[:3, 3])
    found = generalized_links.forward_dynamics(serial_chain(loaded), q, qd, tau)
    assert error(augmented_links.inverse_dynamics(chain, q, qd, found, payload=payload), tau) < 1e-10


def test_chain_without_joints():
    rock = Tree.of("rock", [Body("rock", 2.0)], [])
    for module in CHAIN_METHODS:
        assert module.forward_dynamics(serial_chain(rock), *np.zeros((3, 0))).shape == (0,)
    assert maximal_coordinates.forward_dynamics(rock, *np.zeros((3, 0))).shape == (0,)


# Decoupled inertia


@pytest.mark.spec("S0-41")
def test_inertia_decoupled_equations():
    """The turned equations give the accelerations; O turns with s; the coordinates O^T q satisfy (212) along any path.
    """
    for pattern in ("RRR", "RPR", "PRP"):
        tree = random_chain(pattern, 43)
        (q, qd, tau), chain = random_state(tree, 44), serial_chain(tree)
        model = decoupled_inertia.decoupled_dynamics(tree, q, qd, tau)
        O, H = model.principal.axes, inertia_matrix(chain, q)
        assert error(O.T @ O, np.eye(3)) < 1e-14 and np.linalg.det(O) > 0
        assert error(O.T @ H @ O, np.diag(model.principal.inertias)) < 1e-13
        assert error(model.qdd, aba(in_pinocchio(tree), q, qd, tau)) < 1e-11
        eta, inertias = model.velocities, model.principal.inertias
        assert error(O @ eta, qd) < 1e-13
        assert error(inertias * (model.accelerations + model.principal.spin @ eta) + model.bias, model.forces) < 1e-12
        check_along_a_path(chain, q, qd, model.qdd, O)


def check_along_a_path(chain, q, qd, qdd, O):
    """q + qd t + qdd t^2 / 2: the principal axes by themselves at several times, and their differences."""
    h = 1e-3
    times = h * np.arange(-3, 4)

    def at(t):
        return q + qd * t + qdd * t * t / 2, qd + qdd * t

    def rate(t):
        C = coriolis_matrix(chain, *at(t))
        return C + C.T

    axes = [decoupled_inertia.principal_axes_of(inertia_matrix(chain, at(t)[0]), rate(t), near=O).axes for t in times]
    first, second = np.array([-1, 9, -45, 0, 45, -9, 1]) / (60 * h), np.array([2, -27, 270, -490, 270, -27, 2
                                                                               ]) / (180 * h * h)
    dO, ddO = np.tensordot(first, axes, 1), np.tensordot(second, axes, 1)
    ddH = np.tensordot(first, [rate(t) for t in times], 1)
    principal = decoupled_inertia.principal_axes_of(inertia_matrix(chain, q), rate(0.0), ddH, near=O)
    assert error(principal.spin, O.T @ dO) < 1e-7 and error(principal.second_rate, O.T @ ddO) < 1e-6
    places = [a.T @ at(t)[0] for a, t in zip(axes, times, strict=True)]
    qb, dqb, ddqb = places[3], np.tensordot(first, places, 1), np.tensordot(second, places, 1)
    bias = bias_forces(chain, q, qd)
    forces = inverse_dynamics(chain, q, qd, qdd)
    turned = ddqb + 2 * principal.spin @ dqb + principal.second_rate @ qb  # (212)
    assert error(principal.inertias * turned + principal.axes.T @ bias, O.T @ forces) < 1e-6


def test_axes_follow_their_predecessors_and_crossings_are_named():
    tree = random_chain("RRR", 45)
    q, qd, tau = random_state(tree, 46)
    other = decoupled_inertia.decoupled_dynamics(tree, q, qd, tau, near=np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0],
                                                                                   [1.0, 0.0, 0.0]]))
    plain = decoupled_inertia.decoupled_dynamics(tree, q, qd, tau)
    assert error(other.qdd, plain.qdd) < 1e-13 and error(other.principal.axes, plain.principal.axes) > 0.1
    with pytest.raises(SingularityError, match="coincide"):
        decoupled_inertia.decoupled_model(np.diag([1.0, 2.0, 2.0]), np.zeros((3, 3)), np.zeros(3), np.ones(3),
                                          np.zeros(3))
    with pytest.raises(SignatureError, match="one state"):
        decoupled_inertia.decoupled_dynamics(tree, *np.zeros((3, 2)))
    with pytest.raises(UnsupportedError, match="second derivative"):
        _ = plain.principal.second_rate
