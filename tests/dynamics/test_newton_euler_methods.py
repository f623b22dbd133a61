"""The recursive methods for open chains against particles in 60 digits, against Pinocchio, each other and the
catalogue's values.
"""

from dataclasses import replace

import mpmath
import numpy as np
import pinocchio as pin
import pytest

from cayley.compiler.kernel import kernel
from cayley.dynamics.accounting.counted_run import GENERAL, count_operations, generic_arm
from cayley.dynamics.inverse import (
    augmented_links,
    base_frame_newton_euler,
    distal_newton_euler,
    featherstone,
    kane,
    luh_walker_paul,
    rodriguez,
    tensor_newton_euler,
)
from cayley.dynamics.inverse.augmented_bodies import LinkPayload
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.dynamics.inverse.passes import Base, EndLoad
from cayley.dynamics.rigid_links.drives import friction_forces
from cayley.dynamics.rigid_links.links import serial_chain
from cayley.errors import UnsupportedError
from cayley.geometry.spatial import swapped
from cayley.model.catalogue import load_robot
from cayley.model.denavit_hartenberg.conversion import tree_from_dh
from cayley.model.denavit_hartenberg.table import DHRow
from compiler.parity import check_parity
from dynamics.chains import EVERY_SHORT_PATTERN, LONG_PATTERNS, random_body, random_chain, random_state
from dynamics.particles import along, body_poses, derivatives, exact, particle_forces
from kinematics.pinocchio_trees import PinocchioTree
from model.random_trees import unit

METHODS = {
    module.__name__.rpartition(".")[2]: module
    for module in (luh_walker_paul, featherstone, rodriguez, kane, tensor_newton_euler, augmented_links,
                   base_frame_newton_euler, distal_newton_euler)}
IN_LINK_AXES = (luh_walker_paul, featherstone, rodriguez, tensor_newton_euler, augmented_links)
EVERY_METHOD = pytest.mark.spec("S1-33", "S1-34", "S1-35", "S1-36", "S1-37", "S1-39", "S3-34", "S3-35")


def close(found, expected, tolerance=1e-13):
    """To the tolerance, beside the greatest of the expected values and 1."""
    error = np.abs(np.asarray(found, dtype=float) - expected).max() / max(1.0, np.abs(expected).max())
    assert error <= tolerance, error


def check_all(chain, state, expected, tolerance=1e-13, methods=METHODS, **ends):
    for name in methods:
        found = METHODS[name].inverse_dynamics(chain, *state, **ends)
        assert found.shape == expected.shape
        close(found, expected, tolerance)


def carrying(chain, payload):
    """The chain whose last link has the payload in it."""
    moments = [link.moments for link in chain.links]
    return chain.with_moments([*moments[:-1], moments[-1].plus(payload.moments)])


def standard_frames(chain, tree):
    """The poses (4, 4) of the standard convention's frames 0 to n, in the base and in the links, for a chain made of a
    table in it: their z axes are those of the joints."""
    poses = [chain.place(tree, f"frame{i}")[1] for i in range(len(chain.links) + 1)]
    for pose, link in zip(poses, chain.links, strict=False):
        to_joint = np.linalg.inv(pose) @ link.placement
        assert np.allclose(to_joint[:3, 2], [0, 0, 1]) and (link.is_prismatic or np.allclose(to_joint[:2, 3], 0))
    return poses


# All methods, all chains


def check_against_particles(tree, seed):
    state = random_state(tree, seed)
    check_all(serial_chain(tree), state, particle_forces(tree, *state))


@EVERY_METHOD
@pytest.mark.parametrize("pattern", ["R", "P", "RP", "PR", "PRP", "RPRR", *LONG_PATTERNS])
def test_forces_are_those_of_particles(pattern):
    check_against_particles(random_chain(pattern, 1), 2)


@EVERY_METHOD
@pytest.mark.parametrize("pattern", ["R", "P", "PRPR", "RRPRRR"])
@pytest.mark.parametrize("made", [{"frames": "any"}, {"twists": "special"}], ids=["any frames", "right angles"])
def test_forces_are_those_of_particles_in_other_frames(pattern, made):
    check_against_particles(random_chain(pattern, 3, **made), 4)


@EVERY_METHOD
@pytest.mark.parametrize("pattern", [*EVERY_SHORT_PATTERN, *LONG_PATTERNS])
def test_methods_agree_on_every_pattern(pattern):
    tree = random_chain(pattern, 5)
    chain, state = serial_chain(tree), random_state(tree, 6)
    check_all(chain, state, luh_walker_paul.inverse_dynamics(chain, *state), 1e-12)


@EVERY_METHOD
@pytest.mark.parametrize("name", ["planar2r", "panda", "ur5", "stanford", "puma560"])
def test_robots_of_the_catalogue_as_in_pinocchio(name):
    tree = load_robot(name)
    theirs, state = PinocchioTree.of(tree), random_state(tree, 4)
    theirs.model.gravity.linear = np.array(tree.gravity)
    check_all(serial_chain(tree), state, pin.rnea(theirs.model, theirs.model.createData(), *state), 1e-12)


@pytest.mark.parametrize("name", METHODS)
def test_compiled_text_gives_the_same(name):
    chain = serial_chain(random_chain("RPRR", 3))
    text = kernel("(n),(n),(n)->(n)", name=name)(lambda q, qd, qdd: METHODS[name].inverse_dynamics(chain, q, qd, qdd))
    states = np.array([random_state(random_chain("RPRR", 3), seed) for seed in range(5)]).transpose(1, 0, 2)
    expected = [luh_walker_paul.inverse_dynamics(chain, *[x[k] for x in states]) for k in range(5)]
    close(text(*states), np.array(expected), 1e-13)


def test_augmented_links_on_every_back_end():
    chain = serial_chain(random_chain("RPR", 3))
    text = kernel("(n),(n),(n)->(n)",
                  name="augmented")(lambda q, qd, qdd: augmented_links.inverse_dynamics(chain, q, qd, qdd))
    check_parity(text,
                 *np.array([random_state(random_chain("RPR", 3), seed) for seed in range(3)]).transpose(1, 0, 2),
                 jacobians=False)


def test_chain_without_joints_and_trees():
    still = serial_chain(random_chain("R", 1))
    empty = replace(still, links=(), nq=0, nv=0)
    for module in METHODS.values():
        assert module.inverse_dynamics(empty, *np.zeros((3, 0))).shape == (0,)
    branched = load_robot("panda_hand").spanning_tree()
    with pytest.raises(UnsupportedError, match="open chains"):
        serial_chain(branched)


# The catalogue's values

F4 = (0.1, -0.6, 0.9, 0.4, -0.8, 1.2), (0.5, -0.3, 0.7, -1.1, 0.9, 0.2), (1, 0.4, -0.5, 0.6, -0.2, 0.8)
F5 = (0.2, -0.5, 0.6, 0.3, 0.7, -0.4), (0.4, 0.3, -0.25, 0.9, -0.6, 0.5), (-0.7, 0.8, 0.35, 0.2, 0.1, -1)
F6 = (0.6, 0.35, -1.1, 0.8), (0.9, -0.5, 1.3, -0.7), (-0.4, 1.1, 0.6, 2)
PLANAR = (0.3, -0.7), (1.1, -0.4), (0.5, 2)
POLAR = (0.3, 0.8), (1.1, -0.4), (0.5, 2)
W8 = (0.4, 0.15, -0.7, 1.1), (0.5, -0.3, 0.8, -1.2), (1.0, 0.4, -0.6, 0.9)
WE19 = (0.3, 0.7), (0.5, -1.2), (1, 2)
WE20 = (0.4, 0.9, 0.5), (0.7, -0.6, 0.3), (0.2, 0.5, -0.4)
GOLDEN = [
    ("s1_f2", PLANAR, "whole", (15.2000996773, 2.87612015916), 1e-10),
    ("s1_f3", POLAR, "whole", (2.36805322735, -12.5097764375), 1e-10),
    ("s1_f4", F4, "whole", (1.73738309068, -30.790852254, 0.258326770294, -0.00678462650312, -0.0135210901962,
                            -2.2339118969e-05), 1e-10),
    ("s1_f4", F4, "rest", (0, -30.9409999747, 0.280270473559, -0.00674631346191, -0.0140043016384, 0), 1e-10),
    ("s1_f4", F4, "steady", (-0.174196283859, -31.130637582, 0.289477530304, -0.00545560150709, -0.013686890445,
                             -3.77435653601e-05), 1e-10),
    ("s1_f5", F5, "whole", (-1.15873657538, 9.0330746653, 57.4150551297, 0.610236172696, -1.03949994505,
                            -0.000330741356347), 1e-10),
    ("s1_f5", F5, "rest", (0, 6.32411438929, 55.700779511, 0.56852805717, -0.903790098577, 0), 1e-10),
    ("s1_f5", F5, "steady", (-0.374256382164, 6.12007379643, 55.4876310345, 0.507305355351, -0.998629360124,
                             0.000231196657672), 1e-10),
    ("s1_f6", F6, "whole", (6.06276326781, 44.784590242, 0.825464119896, 0.1876313288), 1e-10),
    ("s1_f6", F6, "rest", (5.28380466764, 39.3742842264, 0.531346097479, 0.136969476483), 1e-10),
    ("s3_w08", W8, "whole", (0.5322560903, -0.6038819870, 2.1908408705, 0.2702896202), 1e-9),
    ("s3_w08", W8, "rest", (0, 0, 2.0993180904, 0.2354657861), 1e-9),
    ("s2_we19", WE19, "whole", (31.4793673373, 4.6957573378), 1e-9),
    ("s2_we20", WE20, "whole", (0.1802736353, -3.4430557194, 6.5677935838), 1e-9), ]


def state_of(values, motion):
    q, qd, qdd = map(np.array, values)
    return {"whole": (q, qd, qdd), "rest": (q, 0 * qd, 0 * qdd), "steady": (q, qd, 0 * qdd)}[motion]


@pytest.mark.parametrize(("name", "values", "motion", "expected", "tolerance"), GOLDEN,
                         ids=[f"{g[0]} {g[2]}" for g in GOLDEN])
def test_worked_examples(name, values, motion, expected, tolerance):
    chain = serial_chain(load_robot(name))
    for module in METHODS.values():
        found = module.inverse_dynamics(chain, *state_of(values, motion))
        assert np.abs(found - expected).max() <= tolerance, module.__name__


def test_pendulum_in_closed_form():
    tree = load_robot("s1_f1")
    body, q, qd, qdd = tree.bodies[1], 0.7, -1.3, 2.1
    g, c, m = -tree.gravity[1], body.center[0], body.mass
    assert np.count_nonzero(tree.gravity) == 1 and np.count_nonzero(body.center) <= 1
    expected = np.array([(body.inertia[2, 2] + m * c * c) * qdd + m * g * c * np.cos(q)])
    check_all(serial_chain(tree), np.array([[q], [qd], [qdd]]), expected)


def test_polar_arm_in_closed_form():
    (angle, d), (rate, slide), (turn, push) = POLAR
    direction, across = np.array([np.sin(angle), -np.cos(angle)]), np.array([np.cos(angle), np.sin(angle)])
    g = np.array([0, -9.81])
    first = 0.1 * np.array([-np.sin(angle), np.cos(angle)])
    moment = 2 * (first[0] * g[1] - first[1] * g[0]) + 1.5 * d * (across @ g)
    tau = [(0.05 + 0.02 + 0.02 + 1.5 * d * d) * turn + 3 * d * slide * rate - moment, 1.5 *
           (push - d * rate**2) - 1.5 * g @ direction]
    check_all(serial_chain(load_robot("s1_f3")), state_of(POLAR, "whole"), np.array(tau))


# What joints bear


@pytest.mark.spec("S3-34", "S3-35")
@pytest.mark.parametrize("pattern", ["R", "P", "RRPRRR", "PRPRP"])
def test_reactions_are_those_of_pinocchio(pattern):
    tree = random_chain(pattern, 7)
    chain, state, theirs = serial_chain(tree), random_state(tree, 8), PinocchioTree.of(tree)
    theirs.model.gravity.linear = np.array(tree.gravity)
    data = theirs.model.createData()
    pin.rnea(theirs.model, data, *state)
    pin.forwardKinematics(theirs.model, data, state[0])
    expected = np.array([force.vector for force in list(data.f)[1:]])
    for module in IN_LINK_AXES:
        close(module.reactions(chain, *state), expected, 1e-12)
    turned = [np.kron(np.eye(2), pose.rotation) for pose in list(data.oMi)[1:]]
    close(base_frame_newton_euler.reactions(chain, *state),
          np.array([R @ f for R, f in zip(turned, expected, strict=True)]), 1e-12)
    in_frames_before = np.array([
        _from_link(link, load, state[0]) for link, load in zip(chain.links, expected, strict=True)])
    close(distal_newton_euler.reactions(chain, *state), in_frames_before, 1e-12)


def _from_link(link, load, q):
    """A wrench about a link's origin in the frame of its joint, which does not move with it."""
    R = link.placement[:3, :3].T @ link.rotation(q)
    shift = link.placement[:3, :3].T @ (link.offset(q) - link.placement[:3, 3])
    return np.concatenate([R @ load[:3], R @ load[3:] + np.cross(shift, R @ load[:3])])


@pytest.mark.spec("S3-35")
def test_velocities_in_base_axes():
    """Spec E3-21: the axis of a prismatic joint is that of its own frame."""
    chain = serial_chain(load_robot("s3_w08"))
    states = base_frame_newton_euler.movements(chain, *map(np.array, W8))
    assert np.abs(states[1].v - (0.02489, 0.39052, 0)).max() < 1e-5
    tree = random_chain("RPRPR", 9)
    values = random_state(tree, 10)
    found = base_frame_newton_euler.movements(replace(serial_chain(tree), gravity=np.zeros(3)), *values)
    p, v, vd = derivatives(
        lambda t: np.array([pose[:3, 3] for pose in body_poses(tree, along(*values, t), exact(np.eye(4)))[1:]]))
    close([state.p for state in found], p)
    close([state.v for state in found], v)
    close([state.vd for state in found], vd)


# Distal frames


def standard_arm(pattern, seed):
    random = np.random.default_rng(seed)
    rows = [
        DHRow(kind="revolute" if letter == "R" else "prismatic", theta=random.uniform(-3, 3), d=random.uniform(-1, 1),
              a=random.uniform(-1, 1), alpha=random.uniform(-3, 3)) for letter in pattern]
    bodies = [random_body("body", random) for _ in pattern]
    return tree_from_dh(rows, convention="standard", masses=[b.mass for b in bodies],
                        centers=[b.center for b in bodies], inertias=[b.inertia for b in bodies],
                        gravity=9.81 * unit(random)), bodies


@pytest.mark.spec("S2-51")
@pytest.mark.parametrize("pattern", ["R", "P", "RRP", "PRPR", "RRPRRR"])
def test_outward_pass_in_distal_frames_is_that_of_the_poses(pattern):
    tree, bodies = standard_arm(pattern, 11)
    chain, values = serial_chain(tree), random_state(tree, 12)
    frames = standard_frames(chain, tree)
    found = distal_newton_euler.movements(chain, *values, Base(), frames)
    named = [tree.frame(f"frame{k + 1}") for k in range(len(pattern))]

    def poses(t):
        moved = body_poses(tree, along(*values, t), exact(np.eye(4)))
        return np.array([moved[tree.body_number(frame.body)] @ exact(frame.pose) for frame in named])

    T, Td, Tdd = derivatives(poses)
    for k, state in enumerate(found):
        R = T[k, :3, :3]
        spin = R.T @ Td[k, :3, :3]
        tensor = R.T @ Tdd[k, :3, :3]
        close(state.w, [spin[2, 1], spin[0, 2], spin[1, 0]])
        close(state.wd,
              np.array([tensor[2, 1] - tensor[1, 2], tensor[0, 2] - tensor[2, 0], tensor[1, 0] - tensor[0, 1]]) / 2)
        close(state.v, R.T @ Td[k, :3, 3])
        close(state.vd, R.T @ Tdd[k, :3, 3])
        close(state.vd_c, R.T @ (Tdd[k, :3, 3] + Tdd[k, :3, :3] @ bodies[k].center))
        close(state.g, R.T @ tree.gravity)


@pytest.mark.spec("S2-52")
@pytest.mark.parametrize("pattern", ["R", "P", "RRP", "PRPR", "RRPRRR"])
def test_inward_pass_in_distal_frames(pattern):
    tree, _ = standard_arm(pattern, 13)
    chain, values = serial_chain(tree), random_state(tree, 14)
    frames = standard_frames(chain, tree)
    close(distal_newton_euler.inverse_dynamics(chain, *values, frames=frames), particle_forces(tree, *values))
    f, n = np.split(distal_newton_euler.reactions(chain, *values, frames=frames)[0], 2)
    below = base_frame_newton_euler.reactions(chain, *values)[0]
    origin = base_frame_newton_euler.movements(chain, *values)[0].p
    close(f, below[:3])
    close(n, below[3:] + np.cross(origin, below[:3]))


@pytest.mark.spec("S2-52")
def test_spatial_arm_of_the_catalogue():
    tree = load_robot("s2_we20")
    chain, values = serial_chain(tree), tuple(map(np.array, WE20))
    frames = standard_frames(chain, tree)
    base = distal_newton_euler.reactions(chain, *values, frames=frames)[0]
    expected = (-0.8449337266, -0.3251186785, 60.602962216, 5.6136220024, -1.7567082151, 0.1802736353)
    assert np.abs(base - expected).max() < 1e-8
    tool = EndLoad(np.array([1.0, -2.0, 3.0]), np.array([0.1, 0.2, -0.3]))
    expected = np.array([-1.3136075604, -2.7430557194, 9.5677935838])
    assert np.abs(distal_newton_euler.inverse_dynamics(chain, *values, frames=frames, tip=tool) - expected).max() < 1e-8
    check_all(chain, values, expected, 1e-9, tip=tool)


def test_frames_of_a_modified_table_are_not_distal():
    tree = load_robot("s1_f6")
    with pytest.raises(AssertionError):
        standard_frames(serial_chain(tree), tree)


# The ends of the chain


@pytest.mark.spec("S1-39", "S1-46", "S3-34", "S3-35")
@pytest.mark.parametrize("pattern", ["R", "P", "RRPRRR", "PRPP", "RRR"])
def test_what_the_tip_exerts_adds_the_transposed_jacobian(pattern):
    tree = random_chain(pattern, 15)
    chain, state = serial_chain(tree), random_state(tree, 16)
    f, m = np.random.default_rng(17).normal(size=(2, 3))
    pose = chain.place(tree, "tool")[1]
    tip = EndLoad(pose[:3, :3] @ f, pose[:3, :3] @ m, pose[:3, 3])
    # what acts on the robot is the opposite
    added = PinocchioTree.of(tree).joint_forces(state[0], -np.concatenate([f, m]), "tool")
    check_all(chain, state, luh_walker_paul.inverse_dynamics(chain, *state) + added, 1e-12, tip=tip)
    for module in IN_LINK_AXES:
        close(module.reactions(chain, *state, tip=tip), luh_walker_paul.reactions(chain, *state, tip=tip), 1e-12)


@pytest.mark.spec("S1-39", "S1-46")
def test_tip_and_payload_of_the_catalogue():
    chain, state = serial_chain(load_robot("s1_f4")), tuple(map(np.array, F4))
    at = np.array([0, 0, 0.1])
    tip = EndLoad(np.array([1.0, -2.0, 3.0]), np.array([0.1, 0.2, -0.3]), at)
    expected = (1.09699975226, -31.1869874289, -1.39128108252, -0.0931973274023, -0.401840142329, -0.300022339119)
    for module in METHODS.values():
        assert np.abs(module.inverse_dynamics(chain, *state, tip=tip) - expected).max() <= 1e-10
    expected = (1.72610083554, -36.3181389689, 1.92360279631, 0.199310046612, -0.941432455567, -2.2339118969e-05)
    assert np.abs(augmented_links.inverse_dynamics(chain, *state,
                                                   payload=LinkPayload(2.0, at)) - expected).max() <= 1e-10
    for module in METHODS.values():
        assert np.abs(module.inverse_dynamics(carrying(chain, LinkPayload(2.0, at)), *state) - expected).max() <= 1e-10
    wrench = EndLoad(np.array([1.0, -2.0, 3.0]), np.array([0.1, 0.2, -0.3]))
    chain, q = serial_chain(load_robot("s3_w08").with_gravity((0, 0, 0))), np.array(W8[0])
    expected = (-1.3979874915, 3.4257938702, -0.3806828958, -0.3)
    for module in METHODS.values():
        assert np.abs(module.inverse_dynamics(chain, q, 0 * q, 0 * q, tip=wrench) - expected).max() <= 1e-9


@pytest.mark.spec("S1-39", "S1-46")
@pytest.mark.parametrize("pattern", ["R", "P", "RRPRRR", "PRPP", "RRR"])
def test_payload_is_a_particle(pattern):
    tree = random_chain(pattern, 18)
    chain, state = serial_chain(tree), random_state(tree, 19)
    at = np.array([0.3, -0.2, 0.5])
    expected = particle_forces(tree, *state, payload=(1.7, tree.bodies[-1].name, at))
    close(augmented_links.inverse_dynamics(chain, *state, payload=LinkPayload(1.7, at)), expected)
    check_all(carrying(chain, LinkPayload(1.7, at)), state, expected)


def turning_root(t):
    """A base that turns and moves."""
    a, b = 0.3 + 0.7 * t - 0.4 * t * t, -0.5 + 1.1 * t + 0.6 * t * t
    ca, sa, cb, sb = mpmath.cos(a), mpmath.sin(a), mpmath.cos(b), mpmath.sin(b)
    moved = np.array([[1, 0, 0, 0.5 * t], [0, ca, -sa, 0.3 - 0.8 * t * t], [0, sa, ca, t - 2 * t * t], [0, 0, 0, 1]],
                     dtype=object)
    return moved @ np.array([[cb, 0, sb, 0], [0, 1, 0, 0], [-sb, 0, cb, 0], [0, 0, 0, 1]], dtype=object)


@pytest.mark.spec("S1-39", "S1-46")
@pytest.mark.parametrize("pattern", ["R", "P", "RRPRRR", "PRPP"])
def test_base_that_moves(pattern):
    tree = random_chain(pattern, 20)
    state = random_state(tree, 21)
    T, Td, Tdd = derivatives(turning_root)
    R = T[:3, :3]
    spin, tensor = R.T @ Td[:3, :3], R.T @ Tdd[:3, :3]
    base = Base(np.array([spin[2, 1], spin[0, 2], spin[1, 0]]),
                np.array([tensor[2, 1] - tensor[1, 2], tensor[0, 2] - tensor[2, 0], tensor[1, 0] - tensor[0, 1]]) / 2,
                R.T @ Tdd[:3, 3])
    chain = replace(serial_chain(tree), gravity=R.T @ tree.gravity)
    check_all(chain, state, particle_forces(tree, *state, root=turning_root), base=base)


@pytest.mark.spec("S1-45")
@pytest.mark.parametrize("pattern", ["R", "P", "RRPRRR"])
def test_gravity_is_a_base_that_accelerates_upwards(pattern):
    tree = random_chain(pattern, 22)
    chain, state = serial_chain(tree), random_state(tree, 23)
    afloat = replace(chain, gravity=np.zeros(3))
    check_all(afloat, state, particle_forces(tree, *state), base=Base(a=-chain.gravity))
    check_all(afloat, state, particle_forces(tree.with_gravity((0, 0, 0)), *state))


@pytest.mark.spec("S1-46")
def test_friction_is_added():
    tree = random_chain("RPR", 24, friction=True)
    qd = np.array([1.5, -0.7, 0.0])
    rubbing = friction_forces(tree.including("friction"), qd)
    viscous, coulomb = np.array([(joint.friction.viscous, joint.friction.coulomb) for joint in tree.joints]).T
    assert np.array_equal(rubbing, viscous * qd + coulomb * [1, -1, 0])
    assert rubbing @ qd > 0 and rubbing[1] < 0
    assert not friction_forces(tree, qd).any()
    q, _, qdd = random_state(tree, 25)
    beginning = np.array([0.0, 0.0, coulomb[2] * np.sign(qdd[2])])  # at rest, against the motion that begins
    inverse = inverse_dynamics_kernel(tree.including("friction"))
    close(inverse(q, qd, qdd), particle_forces(tree, q, qd, qdd) + rubbing + beginning, 1e-12)
    qdd[2] = 0.0  # or against none
    close(inverse(q, qd, qdd), particle_forces(tree, q, qd, qdd) + rubbing, 1e-12)


@pytest.mark.spec("S1-35")
def test_transition_operators_form_a_group():
    """(5.2.33), with one set of axes."""
    o = np.random.default_rng(25).normal(size=(3, 3))

    def phi(i, j):
        return rodriguez.transition(np.eye(3), o[j] - o[i])

    close(phi(0, 1) @ phi(1, 2), phi(0, 2))
    close(phi(1, 1), np.eye(6))
    close(np.linalg.inv(phi(0, 2)), phi(2, 0))


@pytest.mark.spec("S1-34")
def test_spatial_transforms_and_products():
    chain = serial_chain(random_chain("RP", 26))
    q = np.array([0.4, -0.3])
    random = np.random.default_rng(27)
    for link in chain.links:
        X, back = featherstone.inward_transform(link, q), featherstone.outward_transform(link, q)
        motion, force = random.normal(size=(2, 6))
        close(X @ back, np.eye(6))
        close(swapped(X @ motion) @ (X @ force), swapped(motion) @ force)
        close(featherstone.spatial_cross(motion) @ motion, np.zeros(6))


# What a cycle costs


@pytest.mark.parametrize(("name", "expected"), [
    ("luh_walker_paul", {
        "5.2.23a": (8, 5), "5.2.23b": (10, 7), "5.2.23c": (26, 19), "5.2.23d": (18, 15), "5.2.23e": (3, 0),
        "5.2.23f": (24, 18), "5.2.24a": (8, 7), "5.2.24b": (20, 19)}),
    ("tensor_newton_euler", {
        "5.3.7a": (8, 5), "5.3.7b": (10, 7), "5.3.7c": (6, 9), "5.3.7d": (17, 13), "5.3.7e": (9, 9), "5.3.7f": (3, 0),
        "5.3.7g": (15, 15), "5.3.8a": (8, 7), "5.3.8b": (20, 19)}),
    ("augmented_links", {
        "5.3.45a": (8, 5), "5.3.45b": (10, 7), "5.3.45c": (6, 9), "5.3.45e": (17, 13), "5.3.45f": (15, 15),
        "5.3.46a": (17, 13), "5.3.46b": (20, 19)})])
def test_a_generic_cycle_costs_what_the_catalogue_says(name, expected):
    """Multiplications and additions that one more turning link adds: spec 4.5."""
    shorter, longer = (count_operations(METHODS[name].inverse_dynamics, serial_chain(generic_arm([GENERAL] * n))).needed
                       for n in (5, 6))
    assert {equation: longer[equation].minus(shorter[equation])[:2] for equation in longer} == expected
