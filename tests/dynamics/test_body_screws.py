"""Screws of the bodies of open chains: Pinocchio's recursion, other methods, energy and momentum as oracles."""

import pickle

import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.errors import CayleyError, UnsupportedError
from dynamics.chains import random_chain, random_state
from kinematics.pinocchio_trees import PinocchioTree

pytestmark = pytest.mark.spec("S0-72")


def close(found, expected, tolerance=1e-11):
    assert np.abs(found - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


def pushed(tree, here, q, wrench):
    """Pinocchio's forces on its joints for a wrench that acts at the frame "tip", in its axes."""
    forces = pin.StdVec_Force()
    for _ in range(here.model.njoints):
        forces.append(pin.Force.Zero())
    place = here.model.frames[here.frames["tip"]]
    forces[place.parentJoint] = place.placement.act(pin.Force(wrench[:3], wrench[3:]))
    return forces


@pytest.mark.parametrize("pattern", ["P", "RPR", "RRPRRR"])
def test_screws_are_those_of_pinocchio(pattern):
    """Velocity, momentum and transmitted force of every body, and joint forces, with a wrench at the tip; against
    the recursions of links and rotors and of Luh, Walker and Paul."""
    tree = random_chain(pattern, 5, frames="any")
    pose = np.eye(4)
    pose[:3, 3] = [0.2, -0.1, 0.3]
    tree = tree.with_frame("tip", tree.bodies[-1].name, pose)
    arm = cy.Mechanism(tree)
    (q, qd, qdd), wrench = random_state(tree, 6), np.array([3.0, -2.0, 5.0, 0.4, 0.7, -1.1])
    here = PinocchioTree.of(tree)
    here.model.gravity.linear = np.array(tree.gravity)
    data = here.model.createData()
    tau = pin.rnea(here.model, data, here.q(q), qd, qdd, pushed(tree, here, q, wrench))
    found = arm.formulations.body_screws.with_inputs(wrenches=["tip"]).reference(q, qd, qdd, wrench)
    close(found.tau, tau)
    for k in range(len(pattern)):
        close(found.velocity[k], data.v[k + 1].vector)
        close(found.momentum[k], (here.model.inertias[k + 1] * data.v[k + 1]).vector)
        close(found.force[k], data.f[k + 1].vector)
    close(found.tau, arm.inverse_dynamics.with_inputs(wrenches=["tip"]).reference(q, qd, qdd, wrench))
    close(found.force, arm.joint_reactions.with_inputs(wrenches=["tip"]).reference(q, qd, qdd, wrench))
    free = arm.formulations.body_screws.reference(q, qd, qdd)
    for method in ("links-and-rotors", "luh-walker-paul"):  # S0-49 without motors, S1-33
        close(free.tau, arm.inverse_dynamics.using(method).reference(q, qd, qdd))


def test_momentum_energy_and_power_of_a_chain():
    """Momenta of all bodies are that of the arm, V.F/2 its kinetic energy; the power of the joints is that of the
    energies."""
    arm = cy.load("s3_w08")
    q, qd, qdd = np.array([[0.4, 0.15, -0.7, 1.1], [0.5, -0.3, 0.8, -1.2], [1.0, 0.4, -0.6, 0.9]])
    screws = arm.formulations.body_screws.reference(q, qd, qdd)
    close(screws.tau, np.array([0.5322560903, -0.6038819870, 2.1908408705, 0.2702896202]), 1e-9)  # W3-08
    close(np.sum(screws.velocity * screws.momentum) / 2, arm.kinetic_energy.reference(q, qd))
    total = np.zeros(6)
    for joint, own in zip(arm.joints, screws.momentum, strict=True):
        T = arm.pose.of(joint.child).reference(q)
        p, L = T[:3, :3] @ own[:3], T[:3, :3] @ own[3:]
        total += np.concatenate([p, L + np.cross(T[:3, 3], p)])
    close(total, arm.momentum.reference(q, qd))
    step = 1e-5
    ahead, behind = [sum((arm.kinetic_energy.reference(q + s * qd + s * s / 2 * qdd, qd + s * qdd),
                          arm.potential_energy.reference(q + s * qd + s * s / 2 * qdd))) for s in (step, -step)]
    assert abs((ahead - behind) / (2 * step) - screws.tau @ qd) < 1e-7
    for k, joint in enumerate(arm.joints):
        close(screws.velocity[k], arm.twist.of(joint.child, axes="body").reference(q, qd))


def test_batches_and_world_axes():
    arm = cy.load("s3_w08")
    frame = arm.joints[-1].child
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 3, 4))
    force = np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3])
    found = arm.formulations.body_screws.with_inputs(wrenches=[frame], axes="world")(q, qd, qdd, force)
    assert found.force.shape == (3, 4, 6)
    expected = arm.inverse_dynamics(q, qd, qdd) - np.einsum("kij,i->kj", arm.jacobian(q, frame, axes="world"), force)
    close(found.tau, expected)
    sent = pickle.loads(pickle.dumps(arm.formulations.body_screws))
    close(sent.with_inputs(wrenches=[frame], axes="world")(q, qd, qdd, force).momentum, found.momentum)


def test_what_is_no_open_chain_is_refused_by_name():
    with pytest.raises(UnsupportedError, match="branches"):
        _ = cy.load("biped").formulations.body_screws
    with pytest.raises(CayleyError, match="four_bar"):
        _ = cy.load("four_bar").formulations.body_screws
    with pytest.raises(CayleyError, match="panda_hand"):
        _ = cy.load("panda_hand").formulations.body_screws
    with pytest.raises(UnsupportedError, match="revolute and prismatic"):
        _ = cy.load("s1_f2", floating_base=True).variants.with_missing_masses(1.0).formulations.body_screws
    with pytest.raises(CayleyError, match="nowhere"):
        cy.load("s1_f2").formulations.body_screws.with_inputs(wrenches=["nowhere"])
