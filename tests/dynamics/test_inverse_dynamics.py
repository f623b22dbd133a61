"""The default inverse dynamics beside Pinocchio and MuJoCo, for robots from files and random trees of every joint kind.
"""

import pickle
from dataclasses import replace

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.rigid_links.links import links_of
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.errors import ConventionError, ModelError, UnsupportedError
from cayley.model.formats.mjcf import load_mjcf
from cayley.model.joint_kinds import Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Joint
from cayley.model.tree import Tree
from compiler.parity import check_parity
from dynamics.chains import random_chain, random_state
from dynamics.robots import ACCEPTED, forces_there, pinocchio_model, robot, state_here
from kinematics.pinocchio_trees import PinocchioTree, without_universal_joints
from model.random_trees import random_configuration, random_parts
from model.test_mjcf import MODELS, model_text

pytestmark = pytest.mark.filterwarnings("ignore::cayley.model.report.ModelWarning")
KINDS = ["revolute", "prismatic", "helical", "universal", "spherical", "planar", "floating", "fixed"]


def relative(ours, theirs):
    return np.abs(ours - theirs).max(initial=0.0) / max(1.0, np.abs(theirs).max(initial=0.0))


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", ACCEPTED)
def test_robots_agree_with_pinocchio(name, floating):
    tree, model = robot(name, floating), pinocchio_model(name, floating)
    links = minimal_links(tree)
    for q, v, a in zip(*state_here(tree, 1, states=2), strict=True):
        theirs = forces_there(tree, model, q, v, a)
        assert relative(inverse_dynamics(links, q, v, a), theirs) < 1e-12


@pytest.mark.parametrize("name",
                         ["panda_description/urdf/panda.urdf", "anymal_b_simple_description/robots/anymal.urdf"])
def test_compiled_robots_agree_with_pinocchio(name):
    tree, model = robot(name, True), pinocchio_model(name, True)
    q, v, a = state_here(tree, 2, states=20)
    ours = inverse_dynamics_kernel(tree)(q, v, a)
    for k in range(20):
        assert relative(ours[k], forces_there(tree, model, q[k], v[k], a[k])) < 1e-12


def random_tree(seed, kinds=KINDS):
    random = np.random.default_rng(seed)
    bodies, joints, frames = random_parts(random, [kinds[k] for k in random.permutation(len(kinds))])
    return Tree.of("random", bodies, joints, frames=frames, gravity=random.normal(size=3) * 5)


@pytest.mark.parametrize("seed", range(12))
def test_random_trees_of_every_joint_kind_agree_with_pinocchio(seed):
    tree = random_tree(seed)
    theirs = PinocchioTree.of(without_universal_joints(tree))
    theirs.model.gravity.linear = np.array(tree.gravity)
    q, v, a = (x[0] for x in state_here(tree, seed))
    T = theirs.velocity_map(q)
    data = theirs.model.createData()
    tau = T.T @ pin.rnea(theirs.model, data, theirs.q(q), T @ v, T @ a + theirs.velocity_map_rate(q, v) @ v)
    for links in (links_of(tree), minimal_links(tree)):
        assert relative(inverse_dynamics(links, q, v, a), tau) < 1e-12


@pytest.mark.parametrize("name", sorted(MODELS))
def test_agrees_with_mujoco(name):
    text = model_text(MODELS[name])
    model, tree = mujoco.MjModel.from_xml_string(text), load_mjcf(text).including("armature", "friction")
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    rng = np.random.default_rng(0)
    q = random_configuration(rng, tree)
    v, a = rng.normal(size=(2, tree.nv))
    data = mujoco.MjData(model)
    data.qpos, data.qvel, data.qacc = q, *_mujoco_motion(tree, q, v, a)
    mujoco.mj_inverse(model, data)
    tau = _from_mujoco(tree, q, data.qfrc_inverse)
    assert relative(inverse_dynamics_kernel(tree)(q, v, a), tau) < 1e-10


def _mujoco_motion(tree, q, v, a):
    """There the velocity of a free body's origin is in the axes of the world."""
    v, a = v.copy(), a.copy()
    for R, place in _free_bodies(tree, q):
        linear, turning = v[place][:3].copy(), v[place][3:]
        a[place][:3] = R @ (a[place][:3] + np.cross(turning, linear))
        v[place][:3] = R @ linear
    return v, a


def _from_mujoco(tree, q, forces):
    forces = forces.copy()
    for R, place in _free_bodies(tree, q):
        forces[place][:3] = R.T @ forces[place][:3]
    return forces


def _free_bodies(tree, q):
    for joint, own, place in zip(tree.joints, tree.q_slices, tree.v_slices, strict=True):
        if joint.motion.nv == 6:
            yield joint.motion.pose(q[own])[0], place


@pytest.mark.spec("S1-44")
def test_compiled_counts_are_below_the_published():
    """Below every entry of Table 5.3 for a general 6R, and below what was seen for PUMA and Panda."""
    counts = {name: inverse_dynamics_kernel(tree).operations() for name, tree in
              {"general": random_chain("RRRRRR", 5), "puma": cy.load("puma560").tree,
               "panda": cy.load("panda").tree}.items()}
    bounds = {"general": (447, 383), "puma": (181, 151), "panda": (314, 299)}
    for name, (multiplications, additions) in bounds.items():
        assert counts[name].multiplications < multiplications
        assert counts[name].additions < additions


@pytest.mark.parametrize("pattern", ["PRR", "RRR", "RPRR"])
def test_counts_do_not_depend_on_where_along_their_axes_the_frames_lie(pattern):
    """The same mechanism, the frame of one link moved along its axis: the same forces by as many operations."""
    plain = random_chain(pattern, 3)
    shift = np.eye(4)
    shift[2, 3] = 0.4
    before, moved, after = plain.joints[-3:]
    joints = (*plain.joints[:-3], before, replace(moved, placement=moved.placement @ shift),
              replace(after, placement=np.linalg.inv(shift) @ after.placement))
    body = plain.bodies[-2]
    other = replace(plain, joints=joints,
                    bodies=(*plain.bodies[:-2], replace(body, center=body.center - shift[:3, 3]), plain.bodies[-1]))
    state = random_state(plain, 3)
    ours, again = (inverse_dynamics_kernel(tree) for tree in (plain, other))
    np.testing.assert_allclose(again.reference(*state), ours.reference(*state), rtol=0, atol=1e-12)
    assert again.operations() == ours.operations()


def test_parity_of_the_default():
    tree = cy.load("puma560").tree
    q, v, a = np.random.default_rng(3).normal(size=(3, 4, 6))
    check_parity(inverse_dynamics_kernel(tree), q, v, a, everywhere=True)


@pytest.mark.parametrize("axes", ["body", "world"])
def test_wrenches_agree_with_the_jacobian(axes):
    tree = random_tree(4)
    arm = cy.Mechanism.of(tree.name, tree.bodies, tree.joints, frames=tree.frames, gravity=tree.gravity)
    q, v, a = state_here(tree, 4, states=3)
    wrenches = np.random.default_rng(5).normal(size=(2, 3, 6))
    compute = inverse_dynamics_kernel(tree)
    expected = compute(q, v, a)
    for frame, wrench in zip(["frame3", "frame7"], wrenches, strict=True):
        expected = expected - np.einsum("bij,bi->bj", arm.jacobian(q, frame, axes=axes), wrench)
    pushed = compute.with_inputs(wrenches=["frame3", "frame7"], axes=axes)(q, v, a, *wrenches)
    np.testing.assert_allclose(pushed, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_moving_base_is_a_floating_one():
    name = "panda_description/urdf/panda.urdf"
    fixed, free = robot(name), robot(name, True)
    q, v, a = state_here(free, 6, states=4)
    base_turning = v[:, 3:6]
    acceleration = a[:, :6].copy()
    acceleration[:, :3] += np.cross(v[:, 3:6], v[:, :3])  # true acceleration of the origin, in its own axes
    full = inverse_dynamics_kernel(free)(q, v, a)[:, 6:]
    for k in range(4):
        R = free.joints[0].motion.pose(q[k, :7])[0]
        turned = fixed.with_gravity(R.T @ np.asarray(free.gravity))
        on_moving_base = inverse_dynamics_kernel(turned).with_inputs(base_motion=True)
        ours = on_moving_base(q[k, 7:], v[k, 6:], a[k, 6:], base_turning[k], acceleration[k])
        np.testing.assert_allclose(ours, full[k], rtol=0, atol=1e-11)


def test_payload_is_a_body():
    arm = cy.load("panda")
    held = arm.with_payload("tool", 2.0, center=(0.0, 0.0, 0.1))
    q, v, a = np.random.default_rng(7).normal(size=(3, 7))
    there = held.with_frame("load", "payload1", None)
    point = there.acceleration(q, v, a, "payload1", axes="world", at=(0.0, 0.0, 0.1))[:3] - np.asarray(arm.gravity)
    J = there.jacobian(q, "payload1", axes="world", at=(0.0, 0.0, 0.1))[:3]
    expected = inverse_dynamics_kernel(arm.tree)(q, v, a) + 2.0 * J.T @ point
    np.testing.assert_allclose(inverse_dynamics_kernel(held.tree)(q, v, a), expected, rtol=0, atol=1e-12)


def test_drives_are_included_on_request():
    arm = cy.load("puma560").tree
    q, v, a = np.random.default_rng(8).normal(size=(3, 6))
    extra = inverse_dynamics_kernel(arm.including("armature"))(q, v, a) - inverse_dynamics_kernel(arm)(q, v, a)
    np.testing.assert_allclose(extra, [joint.rotor.reflected * x for joint, x in zip(arm.joints, a, strict=False)][:6],
                               atol=1e-12)
    with pytest.raises(ModelError, match=r"'armature' .*'friction' .*, not 'stiction'"):
        arm.including("stiction")


def test_wrong_names_are_told():
    compute = inverse_dynamics_kernel(cy.load("planar2r").tree)
    with pytest.raises(ConventionError, match="no method 'newton_euler': did you mean 'newton-euler'"):
        compute.using("newton_euler")
    with pytest.raises(ModelError, match="no frame or body 'tol'"):
        compute.with_inputs(wrenches=["tol"])
    with pytest.raises(ConventionError, match="axes"):
        compute.with_inputs(wrenches=["tool"], axes="link")
    with pytest.raises(UnsupportedError, match="branches at joint"):
        inverse_dynamics_kernel(random_tree(0, ["revolute"] * 6)).using("luh-walker-paul")
    with pytest.raises(ModelError, match="need the mass of"):
        inverse_dynamics_kernel(cy.load("scara").tree)


@pytest.mark.parametrize("pattern", ["R", "P", "RP", "PR", "RRPR", "RRRRRR", "PRRPRR", "RRRRRRRRR"])
def test_time_scaling(pattern):
    """With velocities c times and accelerations c^2 times, all but gravity is c^2 times."""
    tree = random_chain(pattern, 1)
    q, v, a = random_state(tree, 1)
    links = minimal_links(tree)
    gravity = inverse_dynamics(links, q, 0 * v, 0 * a)
    once = inverse_dynamics(links, q, v, a) - gravity
    thrice = inverse_dynamics(links, q, 3 * v, 9 * a) - gravity
    np.testing.assert_allclose(thrice, 9 * once, rtol=0, atol=1e-12 * max(1.0, np.abs(thrice).max()))


def test_nearly_parallel_axes_keep_their_digits():
    """The feet of their common normal are far away."""
    for tilt in (1e-3, 1e-6, 1e-9, 1e-12, 1e-15):
        rows = [(0.0, 0.1, 0.3, tilt), (0.0, 0.2, 0.4, -tilt), (0.0, 0.0, 0.2, 0.5)]
        tree = cy.Mechanism.from_dh(rows, convention="standard", masses=[1.0, 2.0, 3.0], centers=np.full((3, 3), 0.1),
                                    inertias=[np.diag([0.1, 0.2, 0.25])] * 3).tree
        q, v, a = np.random.default_rng(9).normal(size=(3, 3))
        plain = inverse_dynamics(links_of(tree), q, v, a)
        assert relative(inverse_dynamics(minimal_links(tree), q, v, a), plain) < 1e-12


def chain_of(motions, placements):
    bodies = [
        Body("root"),
        *[Body(f"body{k}", 1.0, (0.1, 0.2, 0.03), np.diag([0.01, 0.02, 0.025])) for k in range(len(motions))]]
    joints = [Joint(f"joint{k}", bodies[k].name, f"body{k}", motion, placement)
              for k, (motion, placement) in enumerate(zip(motions, placements, strict=True))]
    return Tree.of("chain", bodies, joints)


@pytest.mark.parametrize("tilt", [1.1e-3, 3e-3, 0.01, 0.029, 0.031])
def test_feet_far_from_the_bodies_keep_the_digits(tilt):
    """Unlike those of a Denavit-Hartenberg table, these frames are not at the feet of the common normal."""
    c, s = np.cos(tilt), np.sin(tilt)
    placement = np.array([[1.0, 0.0, 0.0, 0.3], [0.0, 1.0, 0.0, 0.4], [0.0, 0.0, 1.0, 0.1], [0.0, 0.0, 0.0, 1.0]])
    tilted = placement @ np.array([[1.0, 0.0, 0.0, 0.0], [0.0, c, -s, 0.0], [0.0, s, c, 0.0], [0.0, 0.0, 0.0, 1.0]])
    tree = chain_of([Spherical(), Revolute(), Revolute()], [placement, placement, tilted])
    q, v, a = (x[0] for x in state_here(tree, 3))
    plain = inverse_dynamics(links_of(tree), q, v, a)
    assert relative(inverse_dynamics(minimal_links(tree), q, v, a), plain) < 5e-14


def test_a_far_away_base_does_not_round_the_links():
    """A gantry in map coordinates that carries an arm with an offset of a nanometre."""
    placements = np.tile(np.eye(4), (5, 1, 1))
    placements[:, :3, 3] = 0.3, 1e-9, 0.1
    placements[0, :3, 3] = 5e6, 2e6, 1.0
    tree = chain_of(
        [Prismatic((1.0, 0.0, 0.0)),
         Prismatic((0.0, 1.0, 0.0)),
         Revolute(), *[Revolute((0.0, 1.0, 0.0))] * 2], placements)
    q, v, a = (x[0] for x in state_here(tree, 4))
    plain = inverse_dynamics(links_of(tree), q, v, a)
    assert relative(inverse_dynamics(minimal_links(tree), q, v, a), plain) < 1e-14


def test_a_pickled_kernel_keeps_its_methods():
    arm = cy.load("planar2r")
    q, v, a = np.random.default_rng(1).normal(size=(3, 2))
    copied = pickle.loads(pickle.dumps(arm.inverse_dynamics))
    np.testing.assert_array_equal(copied(q, v, a), arm.inverse_dynamics(q, v, a))
    np.testing.assert_allclose(copied.using("kane")(q, v, a), copied(q, v, a), rtol=1e-12)
    assert copied.with_inputs(wrenches=["tool"])(q, v, a, np.zeros(6)) == pytest.approx(copied(q, v, a))


def test_a_hundred_joints():
    tree = random_chain("R" * 100, 2)
    q, v, a = random_state(tree, 2)
    plain = inverse_dynamics(links_of(tree), q, v, a)
    assert relative(inverse_dynamics(minimal_links(tree), q, v, a), plain) < 1e-12
