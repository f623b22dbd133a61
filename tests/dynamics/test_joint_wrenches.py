"""Wrenches in the joints by every recursion, split into what drives give and what joints hold: beside the multipliers
of free bodies, and by the work that they do."""

import numpy as np
import pytest

import cayley as cy
from cayley.dynamics.forward.maximal_coordinates import solution
from cayley.dynamics.inverse.reactions import CHAIN_METHODS
from cayley.errors import ConventionError, UnsupportedError
from cayley.kinematics.forward import body_poses
from cayley.mechanism import Mechanism
from cayley.model.floating_base import on_floating_base
from cayley.model.joint_kinds import Curvilinear, Helical, Revolute, Universal
from cayley.model.parts import Body, Joint
from dynamics.chains import random_body, random_chain, random_state
from dynamics.mechanisms import random_mechanism

CHAINS = [("R", {}), ("P", {}), ("PRPR", {}), ("RPRR", {"frames": "any"}), ("RRPRRR", {})]


def near(found, wanted, tolerance=1e-12):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * max(1.0, np.abs(wanted).max()))


def multipliers(tree, q, qd, tau, wrench):
    """The wrenches in the joints in the root's axes, from Newton's and Euler's laws for all bodies cut free; one acts
    on the frame "tool", in the root's axes."""
    body = tree.body_number(tree.frame("tool").body)
    pose = body_poses(tree, q)[body]
    arm = pose.R @ tree.frame("tool").pose[:3, 3]
    moved = np.concatenate([wrench[:3], wrench[3:] + np.cross(arm, wrench[:3])])
    return solution(tree, q, qd, tau, wrenches=[(body, moved)]).joint_wrenches


@pytest.mark.spec("S1-103")
@pytest.mark.parametrize(("pattern", "made"), CHAINS)
def test_every_recursion_gives_the_multipliers_of_free_bodies(pattern, made):
    tree = random_chain(pattern, 1, **made)
    arm = Mechanism(tree)
    state = random_state(tree, 2)
    wrench = np.random.default_rng(3).normal(size=6)
    loads = {"wrenches": ["tool"], "axes": "world"}
    tau = arm.inverse_dynamics.with_inputs(**loads).reference(*state, wrench)
    wanted = multipliers(tree, *state[:2], tau, wrench)
    turns = [pose.R for pose in body_poses(tree, state[0])[1:]]
    directions = [joint.motion.subspace(None) for joint in tree.joints]
    for method in arm.joint_reactions.methods:
        found = arm.joint_reactions.with_inputs(**loads, result_axes="world", method=method).reference(*state, wrench)
        near(found, wanted, 1e-11)
        own = arm.joint_reactions.with_inputs(**loads, method=method).reference(*state, wrench)
        near(own, [np.concatenate([R.T @ w[:3], R.T @ w[3:]]) for R, w in zip(turns, wanted, strict=True)], 1e-11)
        parts = arm.joint_reactions.parts(**loads, method=method).reference(*state, wrench)
        near(parts.actuated + parts.constraint, own)
        near(arm.joint_reactions.with_inputs(**loads, method=method).parts().reference(*state, wrench), parts)
        near([S.T @ held for S, held in zip(directions, parts.constraint, strict=True)], np.zeros((len(pattern), 1)))
        without = arm.joint_reactions.using(method).reference(*state)
        near(without, arm.joint_reactions.reference(*state), 1e-12)
    assert set(CHAIN_METHODS) < set(arm.joint_reactions.methods)


@pytest.mark.spec("S1-103")
@pytest.mark.parametrize(("pattern", "made"), CHAINS)
def test_a_base_that_moves_is_a_floating_one_with_that_motion(pattern, made):
    tree = random_chain(pattern, 4, **made)
    arm = Mechanism(tree)
    heavy = random_body("link0", np.random.default_rng(5))
    afloat = on_floating_base(tree.with_parts([heavy, *tree.bodies[1:]], tree.joints))
    q, qd, qdd = random_state(tree, 5)
    spin, acceleration, twist = np.random.default_rng(6).normal(size=(3, 6))
    twist[3:] = spin[3:]
    # in the base's axes the rates of the components of its velocity are its accelerations less w x v
    rates = np.concatenate([acceleration[:3] - np.cross(twist[3:], twist[:3]), acceleration[3:]])
    state = (np.concatenate([afloat.neutral[:7], q]), np.concatenate([twist, qd]), np.concatenate([rates, qdd]))
    tau = Mechanism(afloat).inverse_dynamics.reference(*state)
    wanted = solution(afloat, *state[:2], tau)
    near(wanted.qdd, state[2], 1e-9)
    for method in arm.joint_reactions.methods:
        moved = arm.joint_reactions.with_inputs(base_motion=True, result_axes="world", method=method)
        near(moved.reference(q, qd, qdd, twist[3:], acceleration), wanted.joint_wrenches[1:], 1e-10)


@pytest.mark.spec("S1-103")
@pytest.mark.parametrize("seed", [0, 1])
def test_parts_of_every_kind_of_joint(seed):
    """The constraint part does no work on any velocity that a joint allows; the actuated part does that of the force;
    what turns is driven by a moment, what slides by a force."""
    arm, _, (q, qd, qdd), _ = random_mechanism(seed)
    whole = arm.joint_reactions.reference(q, qd, qdd)
    parts = arm.joint_reactions.parts().reference(q, qd, qdd)
    tau = arm.inverse_dynamics.reference(q, qd, qdd)
    near(parts.actuated + parts.constraint, whole)
    moving = [k for k, joint in enumerate(arm.joints) if joint.motion.nv]
    rates = np.random.default_rng(seed).normal(size=arm.nv)
    for k, actuated, constraint in zip(moving, parts.actuated, parts.constraint, strict=True):
        motion, columns = arm.joints[k].motion, arm.tree.v_slices[k]
        S = np.asarray(motion.subspace(q[arm.tree.q_slices[k]]), dtype=float)
        near(S.T @ constraint, np.zeros(motion.nv), 1e-12 * np.abs(whole).max())
        near(S.T @ actuated, tau[columns], 1e-11)
        near(constraint @ S @ rates[columns], 0.0, 1e-11 * np.abs(whole).max())
        if not motion.slides or motion.word == "helical":
            near(actuated[:3], np.zeros(3), 1e-12)
        if not motion.turns:
            near(actuated[3:], np.zeros(3), 1e-12)
    turned = arm.joint_reactions.parts(result_axes="world").reference(q, qd, qdd)
    near(turned.actuated + turned.constraint,
         arm.joint_reactions.with_inputs(result_axes="world").reference(q, qd, qdd))
    near(np.linalg.norm(turned.constraint[:, :3], axis=1), np.linalg.norm(parts.constraint[:, :3], axis=1))


@pytest.mark.spec("S1-103")
def test_parts_of_a_revolute_a_prismatic_and_a_helical_joint():
    """Known from the axes alone."""
    for pattern in ("RP", "PR"):
        tree = random_chain(pattern, 7)
        found = Mechanism(tree).joint_reactions.parts().reference(*random_state(tree, 8))
        tau = Mechanism(tree).inverse_dynamics.reference(*random_state(tree, 8))
        for letter, force, actuated in zip(pattern, tau, found.actuated, strict=True):
            near(actuated, force * np.eye(6)[5 if letter == "R" else 2])
    screw = cy.Mechanism.of("screw", [Body("base"), Body("nut", 2.0)],
                            [Joint("turn", "base", "nut", Helical(pitch=0.1))])
    found = screw.joint_reactions.parts().reference([0.0], [0.0], [0.0])
    near(found.actuated[0], [0, 0, 0, 0, 0, 0.1 * 2.0 * 9.81])
    near(found.constraint[0], [0, 0, 2.0 * 9.81, 0, 0, -0.1 * 2.0 * 9.81])


@pytest.mark.spec("S1-103")
def test_parts_of_joints_whose_directions_change():
    """On a curved rail the drive pushes along the tangent, whatever its coordinate measures; a cardan joint is driven
    in the plane of its two axes."""
    body = Body("cart", 2.0, (0.1, 0.0, 0.0), 0.01 * np.eye(3))
    rail = cy.Mechanism.of("rail", [Body("base"), body], [
        Joint("rail", "base", "cart", Curvilinear(x=(0.0, 1.0), z=(0.0, 0.0, 0.5)))])
    found = rail.joint_reactions.parts()([0.7], [0.3], [0.2])
    tangent = np.array([1.0, 0.0, 0.7])
    near(np.cross(found.actuated[0, :3], tangent), np.zeros(3))
    near(found.actuated[0, :3] @ tangent, rail.inverse_dynamics([0.7], [0.3], [0.2])[0])
    near(found.constraint[0, :3] @ tangent, 0.0)
    assert not found.actuated[0, 3:].any()
    cardan = cy.Mechanism.of("cardan", [Body("base"), body], [Joint("cross", "base", "cart", Universal())])
    q = np.array([0.4, 0.6])
    found = cardan.joint_reactions.parts()(q, [0.3, -0.2], [0.1, 0.5])
    S = np.asarray(Universal().subspace(q), dtype=float)[3:]
    near(np.cross(*S.T) @ found.actuated[0, 3:], 0.0)
    near(S.T @ found.constraint[0, 3:], np.zeros(2))


@pytest.mark.spec("S1-103")
def test_parts_of_a_closed_mechanism():
    """Joints without drives give nothing but what they hold; on any velocity that the loop allows, the constraint parts
    of all joints and of the loop do no work together; what does not follow from the motion is NaN and nothing else."""
    bar = cy.load("four_bar")
    q = bar.loops.close([0.5, 0.0, 0.0]).configuration
    qd = bar.loops.consistent_velocity(q, [1.0, 0.0, 0.0], keep=["crank"])
    whole, parts = bar.joint_reactions(q, qd, np.zeros(3)), bar.joint_reactions.parts()(q, qd, np.zeros(3))
    near(parts.actuated[:, 5], [*bar.inverse_dynamics(q, qd, np.zeros(3)), *[0.0] * (len(whole) - 3)], 1e-11)
    assert not parts.actuated[3:].any() and not np.isnan(parts.actuated).any()
    np.testing.assert_array_equal(np.isnan(parts.constraint), ~bar.joint_reactions.determined)
    near(np.nan_to_num(parts.actuated + parts.constraint), np.nan_to_num(whole))
    first, second = bar.loops[0].frames
    apart = bar.jacobian(q, second, axes="body", relative_to=first)  # what the loop holds works on no rate it allows
    near(np.nan_to_num(parts.constraint[3]) @ apart @ qd, 0.0, 1e-10)
    assert abs(np.nan_to_num(parts.constraint[3]) @ apart @ [1.0, 0.0, 0.0]) > 1e-3
    near(parts.constraint[:3, 5], np.zeros(3), 1e-12)
    turned = bar.joint_reactions.parts(result_axes="world")(q, qd, np.zeros(3))
    near(turned.actuated[:, 5], parts.actuated[:, 5])
    near(np.linalg.norm(turned.constraint[:, :2], axis=1), np.linalg.norm(parts.constraint[:, :2], axis=1))
    np.testing.assert_array_equal(np.isnan(turned.constraint), np.isnan(parts.constraint))  # in and across the plane


def test_batches_precisions_and_refusals():
    arm = cy.load("s1_f6")
    states = np.random.default_rng(9).normal(size=(3, 5, 2, 4))
    parts = arm.joint_reactions.parts(wrenches=["tool"])
    found = parts(*states, np.ones(6))
    assert found.actuated.shape == (5, 2, 4, 6)
    near(found.constraint[2, 1], parts.reference(*states[:, 2, 1], np.ones(6)).constraint)
    assert parts(*np.zeros((3, 0, 4)), np.ones(6)).actuated.shape == (0, 4, 6)
    assert arm.joint_reactions.parts()(*states.astype(np.float32)).actuated.dtype == np.float32
    weighed = arm.joint_reactions.parts().with_parameters("mass")
    near(weighed(*states[:, 0, 0], weighed.parameters.nominal).constraint,
         arm.joint_reactions.parts()(*states[:, 0, 0]).constraint)
    with pytest.raises(ConventionError, match="joint_reactions has no method 'kane'"):
        arm.joint_reactions.using("kane")
    with pytest.raises(ConventionError, match="axes"):
        arm.joint_reactions.parts(result_axes="tool")
    with pytest.raises(UnsupportedError, match=r"rodriguez takes wrenches on the last link.*'joint2'"):
        arm.joint_reactions.with_inputs(wrenches=["link2"], method="rodriguez")(*states[:, 0, 0], np.ones(6))
    with pytest.raises(UnsupportedError, match="loop"):
        cy.load("four_bar").joint_reactions.using("augmented-links")
    branched = cy.Mechanism.of("tree", [Body("base"), Body("a", 1.0), Body("b", 1.0)],
                               [Joint("one", "base", "a", Revolute()), Joint("two", "base", "b", Revolute())])
    with pytest.raises(UnsupportedError, match="open chains"):
        branched.joint_reactions.using("featherstone")
