"""Loads and tools that are taken up and put down: beside a locked extra link, constants made anew, and particles."""

import numpy as np
import pytest

import cayley as cy
from cayley.dynamics.inverse import augmented_links
from cayley.dynamics.inverse.augmented_bodies import LinkPayload, augmented_chain, augmented_constants
from cayley.dynamics.rigid_links.links import serial_chain
from cayley.errors import ModelError, UnsupportedError
from cayley.mechanism import Mechanism
from cayley.model.floating_base import on_floating_base
from cayley.model.joint_kinds import Prismatic, Revolute
from cayley.model.masses import with_missing_masses
from cayley.model.parts import Body, Joint
from dynamics.chains import random_chain, random_state
from dynamics.particles import particle_forces

CHAINS = [("R", {}), ("P", {}), ("PRPR", {}), ("RPRR", {"frames": "any"}), ("RRPRRR", {})]
LOADS = {
    "point": {"center": (0.1, -0.2, 0.3)},
    "body": {"center": (0.1, -0.2, 0.3),
             "inertia": [[0.05, 0.01, -0.004], [0.01, 0.06, 0.002], [-0.004, 0.002, 0.04]]}}


def near(found, wanted, tolerance=1e-13):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * max(1.0, np.abs(wanted).max()))


def same_constants(found, wanted, tolerance=1e-14):
    for one, other in zip(found, wanted, strict=True):
        near(one.mass, other.mass, tolerance)
        for a, b in zip((*one.first, *one.second), (*other.first, *other.second), strict=True):
            near(a, b, tolerance)


@pytest.mark.spec("S1-110")
@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize(("pattern", "made"), CHAINS)
def test_increments_are_the_constants_made_anew(pattern, made, load):
    tree = random_chain(pattern, 1, **made)
    chain = Mechanism(tree).formulations.augmented_links
    loaded = chain.attached("tool", 1.7, **LOADS[load])
    same_constants(loaded.constants, augmented_constants(serial_chain(tree.with_payload("tool", 1.7, **LOADS[load]))))
    same_constants(loaded.detached("tool", 1.7, **LOADS[load]).constants, chain.constants)
    near(loaded.mass - chain.mass, np.full(len(pattern), 1.7))
    q = random_state(tree, 2)[0]
    slides = [*q[1:], None]
    for i in range(len(pattern) - 1):  # dm = m_p, du = m_p s, dK = -m_p s~ s~
        s = chain.links.links[i + 1].offset(q)
        before, after = (all_of.constants[i].moments(slides[i]) for all_of in (chain, loaded))
        near(after.first - before.first, 1.7 * s)
        near(after.inertia - before.inertia, 1.7 * (s @ s * np.eye(3) - np.outer(s, s)))
    first = tree.bodies[1].name  # on a link before the last: those after it do not feel it
    held = chain.attached(first, 0.4, **LOADS[load])
    same_constants(held.constants, augmented_constants(serial_chain(tree.with_payload(first, 0.4, **LOADS[load]))))
    assert chain.attached(tree.bodies[0].name, 5.0) is chain


@pytest.mark.spec("S1-110")
@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize(("pattern", "made"), CHAINS)
def test_a_payload_is_an_extra_link_that_is_locked(pattern, made, load):
    """By every recursion for chains; the extra joint turns, or slides, and stands still where the frame is."""
    tree = random_chain(pattern, 3, **made)
    state = random_state(tree, 4)
    loaded = tree.with_payload("tool", 1.7, **LOADS[load])
    body = Body("load", 1.7, **LOADS[load])
    for motion in (Revolute((0.0, 0.6, 0.8)), Prismatic((0.6, 0.8, 0.0))):
        joint = Joint("lock", tree.frame("tool").body, "load", motion, tree.frame("tool").pose)
        longer = tree.with_parts([*tree.bodies, body], [*tree.joints, joint])
        locked = Mechanism(longer).inverse_dynamics.reference(*[np.append(x, 0.0) for x in state])
        for method in ("newton-euler", "luh-walker-paul", "augmented-links"):
            near(Mechanism(loaded).inverse_dynamics.using(method).reference(*state), locked[:-1], 1e-12)
    if len(pattern) < 5:  # in 60 digits
        near(Mechanism(loaded).inverse_dynamics.reference(*state), particle_forces(loaded, *state), 1e-12)
    R = serial_chain(tree).place(tree, "tool")[1]
    given = LinkPayload(1.7, R[:3, :3] @ body.center + R[:3, 3], R[:3, :3] @ body.inertia @ R[:3, :3].T)
    near(augmented_links.inverse_dynamics(serial_chain(tree), *state, payload=given),
         Mechanism(loaded).inverse_dynamics.reference(*state), 1e-12)


@pytest.mark.spec("S1-110")
def test_taken_up_and_put_down():
    tree = random_chain("RPR", 5)
    arm, state = Mechanism(tree), random_state(tree, 6)
    bare = arm.inverse_dynamics.reference(*state)
    one = arm.with_payload("tool", 1.0)
    two = one.with_payload("link2", 2.0, inertia=np.eye(3)).with_payload("tool", 0.5, name="gripper")
    assert {body.name for body in two.bodies[4:]} == {"payload1", "payload2", "gripper"}
    near(one.variants.without_payload().inverse_dynamics.reference(*state), bare, 0.0)
    near(two.variants.without_payload("payload2").variants.without_payload("gripper").inverse_dynamics.reference(*state),
         one.inverse_dynamics.reference(*state), 1e-13)
    again = two.variants.without_payload("payload1").with_payload("tool", 3.0)
    assert again.bodies[again.tree.body_number("payload1")].mass == 3.0
    near(two.pose.of("payload1").reference(state[0]), arm.pose.of("tool").reference(state[0]))
    runtime = one.inverse_dynamics.with_parameters("payload1.mass")
    near(runtime.reference(*state, [0.0]), bare, 1e-12)
    near(runtime.reference(*state, [1.0]), one.inverse_dynamics.reference(*state), 1e-12)


@pytest.mark.spec("S1-110")
def test_payloads_on_trees_floating_bases_and_loops():
    afloat = Mechanism(on_floating_base(random_chain("RR", 7).with_parts(
        [Body("link0", 1.0, inertia=np.eye(3)), *random_chain("RR", 7).bodies[1:]], random_chain("RR", 7).joints)))
    random = np.random.default_rng(8)
    q, qd, qdd = afloat.random_configuration(seed=9), random.normal(size=8), random.normal(size=8)
    loaded = afloat.with_payload("tool", 1.5, **LOADS["body"])
    body = Body("load", 1.5, **LOADS["body"])
    locked = Mechanism(afloat.tree.with_parts([*afloat.bodies, body], [*afloat.joints, Joint(
        "lock", afloat.tree.frame("tool").body, "load", Revolute(), afloat.tree.frame("tool").pose)]))
    near(loaded.inverse_dynamics.reference(q, qd, qdd), locked.inverse_dynamics.reference(
        np.append(q, 0), np.append(qd, 0), np.append(qdd, 0))[:-1], 1e-12)
    bar = cy.load("four_bar")
    q = bar.loops.close([0.5, 0.0, 0.0]).configuration
    rest = np.zeros(3)
    heavy = bar.with_payload("rocker", 3.0, center=(0.1, 0.0, 0.0))
    height = bar.point.of("rocker")
    slope = bar.loops.actuated_motion(q, [1.0]) @ height.jacobian("q")(q, [0.1, 0.0, 0.0]).T @ -bar.gravity
    more = heavy.inverse_dynamics(q, rest, rest)[0] - bar.inverse_dynamics(q, rest, rest)[0]
    near(more, 3.0 * slope, 1e-10)  # virtual work of its weight
    near(heavy.variants.without_payload().inverse_dynamics(q, rest, rest), bar.inverse_dynamics(q, rest, rest), 1e-12)


def test_what_is_no_payload_is_told():
    arm = cy.load("planar2r")
    with pytest.raises(ModelError, match="planar2r carries no payload"):
        arm.variants.without_payload()
    with pytest.raises(ModelError, match="carries payload1, payload2: name"):
        arm.with_payload("tool", 1.0).with_payload("tool", 1.0).variants.without_payload()
    with pytest.raises(ModelError, match="no payload 'gripper'"):
        arm.variants.without_payload("gripper")
    with pytest.raises(ModelError, match="'link2' of planar2r is not a payload: joint 'joint2' moves it"):
        arm.variants.without_payload("link2")
    held = arm.with_payload("tool", 1.0, name="hand").with_frame("finger", "hand")
    with pytest.raises(ModelError, match="not a payload: it carries 'finger'"):
        held.variants.without_payload("hand")
    with pytest.raises(ModelError, match="mass"):
        arm.with_payload("tool", -1.0)
    with pytest.raises(ModelError):
        arm.with_payload("tool", 1.0, name="link1")
    with pytest.raises(ModelError, match="mass"):
        arm.formulations.augmented_links.attached("tool", float("nan"))
    with pytest.raises(ModelError, match=r"planar2r cannot put down 9.0 kg at 'tool': with all that follows.* 1.5 kg"):
        arm.formulations.augmented_links.detached("tool", 9.0)
    with pytest.raises(UnsupportedError, match="this method is for revolute and prismatic joints"):
        augmented_chain(with_missing_masses(on_floating_base(arm.tree), 0.0))
