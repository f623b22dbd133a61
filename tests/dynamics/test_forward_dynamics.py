"""The default forward dynamics and inertia matrix beside Pinocchio, for robots from files and random trees of every
joint kind.
"""

import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.dynamics.forward import articulated_bodies, composite_bodies
from cayley.dynamics.forward.kernels import forward_dynamics_kernel
from cayley.dynamics.forward.methods import DEEP, default_method
from cayley.dynamics.forward.singular_inertia import inverse_inertia_matrix_kernel
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inertia_matrix.kernels import inertia_matrix_kernel
from cayley.dynamics.inverse.external_loads import load_at_link
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.rigid_links.links import links_of
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from compiler.parity import check_parity
from dynamics.chains import random_chain, random_state
from dynamics.robots import ACCEPTED, pinocchio_model, places, robot, state_here, state_there
from dynamics.test_inverse_dynamics import random_tree

pytestmark = pytest.mark.filterwarnings("ignore::cayley.model.report.ModelWarning")


def relative(ours, theirs):
    return np.abs(ours - theirs).max(initial=0.0) / max(1.0, np.abs(theirs).max(initial=0.0))


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", ACCEPTED)
def test_robots_agree_with_pinocchio(name, floating):
    """The inertia matrix; and forward dynamics undo inverse dynamics, wherever the matrix is not singular."""
    tree, model = robot(name, floating), pinocchio_model(name, floating)
    links, own = minimal_links(tree), places(tree, model)
    q, v, a = (x[0] for x in state_here(tree, 3))
    data = model.createData()
    theirs = pin.crba(model, data, *state_there(tree, model, q), pin.Convention.WORLD)
    theirs = (np.triu(theirs) + np.triu(theirs, 1).T)[np.ix_(own, own)]
    M = inertia_matrix(links, q)
    assert relative(M, theirs) < 1e-12
    scale = np.sqrt(np.diag(theirs))
    if tree.nv and (scale > 0).all():
        condition = np.linalg.cond(theirs / np.outer(scale, scale))
        tau = inverse_dynamics(links, q, v, a)
        lost = max(1e-10, 1e-14 * condition)  # the forces are rounded; the matrix makes that more
        pinocchio = pin.aba(model, data, *state_there(tree, model, q, v, tau))[own]
        for method in (composite_bodies, articulated_bodies):
            ours = method.forward_dynamics(links, q, v, tau)
            assert relative(ours, a) < lost
            assert relative(ours, pinocchio) < 10 * lost


@pytest.mark.parametrize("seed", range(8))
def test_random_trees_of_every_joint_kind(seed):
    """Inverse dynamics, which Pinocchio has checked, are undone; the matrix is their derivative."""
    tree = random_tree(seed)
    q, v, a = (x[0] for x in state_here(tree, seed))
    for links in (links_of(tree), minimal_links(tree)):
        rest = inverse_dynamics(links, q, v, 0 * a)
        columns = np.stack([inverse_dynamics(links, q, v, e) - rest for e in np.eye(tree.nv)], axis=1)
        assert relative(inertia_matrix(links, q), columns) < 1e-12
        tau = inverse_dynamics(links, q, v, a)
        for method in (composite_bodies, articulated_bodies):
            assert relative(method.forward_dynamics(links, q, v, tau), a) < 1e-10


@pytest.mark.spec("S1-60", "S1-70")
def test_kernels_undo_inverse_dynamics():
    for name in ("puma560", "panda"):
        for arm in (cy.load(name), cy.load(name).including("armature", "friction")):
            q, v, a = np.random.default_rng(0).normal(size=(3, 20, arm.nv))
            forward, tau = forward_dynamics_kernel(arm.tree), inverse_dynamics_kernel(arm.tree)(q, v, a)
            np.testing.assert_allclose(forward(q, v, tau), a, rtol=0, atol=1e-9)
            np.testing.assert_allclose(forward.using("articulated-bodies")(q, v, tau), a, rtol=0, atol=1e-9)
            M, inverse = inertia_matrix_kernel(arm.tree)(q), inverse_inertia_matrix_kernel(arm.tree)(q)
            np.testing.assert_allclose(M @ inverse, np.broadcast_to(np.eye(arm.nv), M.shape), rtol=0, atol=1e-9)


def test_wrenches_and_base_motion():
    arm = cy.load("panda").tree
    rng = np.random.default_rng(1)
    q, v, a = rng.normal(size=(3, 5, 7))
    wrench, turning, acceleration = rng.normal(size=(5, 6)), rng.normal(size=(5, 3)), rng.normal(size=(5, 6))
    taken = {"wrenches": ["tool"], "axes": "world", "base_motion": True}
    tau = inverse_dynamics_kernel(arm).with_inputs(**taken)(q, v, a, wrench, turning, acceleration)
    np.testing.assert_allclose(
        forward_dynamics_kernel(arm).with_inputs(**taken)(q, v, tau, wrench, turning, acceleration), a, atol=1e-9)


def test_wrenches_on_a_chain_so_deep_that_articulated_bodies_are_the_default():
    tree = random_chain("RP" + "P" * (DEEP - 1), 2)
    q, v, a = random_state(tree, 2)
    wrench, links = np.random.default_rng(2).normal(size=6), links_of(tree)
    assert default_method(tree) == "articulated-bodies"
    tau = inverse_dynamics(links, q, v, a, loads=[load_at_link(links, tree, q, "tool", wrench, "body")])
    assert relative(forward_dynamics_kernel(tree).with_inputs(wrenches=["tool"])(q, v, tau, wrench), a) < 1e-9


def test_dry_friction_at_rest_holds_a_joint_as_long_as_it_can():
    """What inverse dynamics without friction lacks is the friction's: all of it against a joint that begins to move, at
    most that on one that stays. There is one such acceleration; with a wrench on the tool too."""
    tree = random_chain("RPR", 6, friction=True).including("friction")
    coulomb = np.array([joint.friction.coulomb for joint in tree.joints])
    links, rng, rest = links_of(tree), np.random.default_rng(6), np.zeros(3)
    q, wrench = rng.uniform(-3, 3, size=(40, 3)), rng.normal(size=(40, 6))
    compute = {False: forward_dynamics_kernel(tree), True: forward_dynamics_kernel(tree).with_inputs(wrenches=["tool"])}
    stayed = set()
    for pushed in (False, True):
        acting = [[load_at_link(links, tree, q[k], "tool", wrench[k], "body")] if pushed else [] for k in range(40)]
        balance = np.stack([inverse_dynamics(links, q[k], rest, rest, loads=acting[k]) for k in range(40)])
        tau = balance + 1.5 * coulomb * rng.normal(size=(40, 3))
        qdd = compute[pushed](q, rest, tau, *[wrench] * pushed)
        friction = np.stack([inverse_dynamics(links, q[k], rest, qdd[k], loads=acting[k]) for k in range(40)]) - tau
        moves = qdd != 0
        np.testing.assert_allclose(friction[moves], (-coulomb * np.sign(qdd))[moves], rtol=0, atol=1e-12)
        assert (np.abs(friction) <= coulomb + 1e-12)[~moves].all()
        stayed |= set(map(tuple, (~moves).tolist()))
    assert len(stayed) == 8  # every choice of joints that are held


def test_the_default_is_the_cheaper():
    for joints in (7, 20):
        tree = random_chain("R" * joints, 0)
        kernel = forward_dynamics_kernel(tree)
        other = {"composite-bodies": "articulated-bodies",
                 "articulated-bodies": "composite-bodies"}[default_method(tree)]
        assert kernel.operations().multiplications < kernel.using(other).operations().multiplications


def test_articulated_bodies_grow_with_the_number_of_joints():
    counts = [
        forward_dynamics_kernel(random_chain("R" * n, 0)).using("articulated-bodies").operations()
        for n in (20, 40, 60)]
    steps = np.diff([c.multiplications + c.additions for c in counts])
    assert steps[0] == pytest.approx(steps[1], rel=0.02)


def test_a_hundred_joints():
    tree = random_chain("R" * 100, 4)
    q, v, a = random_state(tree, 4)
    links = minimal_links(tree)
    tau = inverse_dynamics(links, q, v, a)
    again = inverse_dynamics(links, q, v, articulated_bodies.forward_dynamics(links, q, v, tau))
    assert relative(again, tau) < 1e-10


def test_parity():
    arm = cy.load("planar3r").tree
    q, v, tau = np.random.default_rng(5).normal(size=(3, 4, 3))
    check_parity(forward_dynamics_kernel(arm), q, v, tau, everywhere=True)
