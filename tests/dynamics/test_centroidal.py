"""Momentum about the centre of mass, its matrix and its bias, the Jacobian of the centre of mass, what the velocity
gives a frame, and the energies by their parameters: beside Pinocchio."""

import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.dynamics import centroidal
from cayley.dynamics.identification import MOMENTS_FROM_INERTIA, moved
from cayley.dynamics.rigid_links.links import links_of
from cayley.kinematics.jacobians.velocity import frame_bias
from dynamics.mechanisms import near, random_mechanism
from kinematics.pinocchio_trees import PinocchioTree
from model.random_trees import random_configuration, random_parts

CHAINS = [("floating", "prismatic", "revolute"), ("prismatic", "spherical"), ("floating",)]


def small_mechanism(kinds, seed):
    """A tree without planar and universal joints, whose velocities are the same here and in Pinocchio."""
    rng = np.random.default_rng(seed)
    bodies, joints, frames = random_parts(rng, kinds)
    arm = cy.Mechanism.of("random", bodies, joints, frames=frames, gravity=rng.normal(size=3))
    there = PinocchioTree.of(arm.tree)
    there.model.gravity.linear = np.array(arm.gravity)
    return arm, there, random_configuration(rng, arm), rng.normal(size=arm.nv), rng.normal(size=arm.nv)


@pytest.fixture(scope="module", params=range(len(CHAINS)), ids=["-".join(kinds) for kinds in CHAINS])
def case(request):
    return small_mechanism(CHAINS[request.param], request.param)


@pytest.mark.parametrize("seed", range(4))
def test_of_every_kind_of_joint(seed):
    """The texts, on trees with planar and universal joints."""
    arm, links, (q, v, _), there = random_mechanism(seed)
    T, rate = there.velocity_map(q), there.velocity_map_rate(q, v)
    data = there.model.createData()
    A = centroidal.centroidal_momentum_matrix(links, q)
    near(A, pin.ccrba(there.model, data, there.q(q), T @ v) @ T, 1e-11)
    near(A @ v, data.hg.vector, 1e-11)
    near(centroidal.center_of_mass_jacobian(links, q), pin.jacobianCenterOfMass(there.model, data, there.q(q)) @ T,
         1e-11)
    there_bias = pin.computeCentroidalMomentumTimeVariation(there.model, data, there.q(q), T @ v, rate @ v)
    near(centroidal.centroidal_bias(links, q, v), there_bias.vector, 1e-10)
    for axes in ("world", "body"):
        near(frame_bias(arm.tree, q, v, "frame4", axes=axes), there.acceleration(q, v, 0 * v, "frame4", axes), 1e-10)


def test_kernels_of_momentum(case):
    arm, there, q, v, vd = case
    model, data = there.model, there.model.createData()
    matrix = pin.ccrba(model, data, there.q(q), v).reshape(6, -1)
    near(arm.centroidal.momentum_matrix(q), matrix, 1e-11)
    near(arm.centroidal.momentum(q, v), data.hg.vector, 1e-11)
    rate = pin.computeCentroidalMomentumTimeVariation(model, data, there.q(q), v, vd).vector
    near(arm.centroidal.momentum_matrix(q) @ vd + arm.centroidal.bias(q, v), rate, 1e-10)
    near(arm.centroidal.center_of_mass_jacobian(q), pin.jacobianCenterOfMass(model, data, there.q(q)).reshape(3, -1),
         1e-11)
    pin.centerOfMass(model, data, there.q(q), v, vd)
    mass = pin.computeTotalMass(model)
    near(arm.centroidal.center_of_mass_jacobian(q) @ vd + arm.centroidal.bias(q, v)[:3] / mass, data.acom[0], 1e-10)
    batch = np.stack([q, q])
    near(arm.centroidal.momentum_matrix(batch)[1], matrix, 1e-11)
    assert arm.centroidal.momentum_matrix(batch[:0]).shape == (0, 6, arm.nv)
    assert np.allclose(arm.centroidal.center_of_mass_jacobian(q, dtype=np.float32),
                       arm.centroidal.center_of_mass_jacobian(q), atol=1e-4)


@pytest.mark.parametrize("axes", ["world", "body"])
def test_bias_of_a_frame(case, axes):
    arm, there, q, v, vd = case
    frame = arm.frames[-1].name
    bias = arm.frame_bias(q, v, frame, axes=axes)
    near(arm.jacobian(q, frame, axes=axes) @ vd + bias, there.acceleration(q, v, vd, frame, axes), 1e-10)
    point = [0.1, -0.2, 0.3]
    near(arm.frame_bias(q, v, frame, axes=axes, at=point),
         arm.acceleration(q, v, 0 * v, frame, axes=axes, at=point), 1e-12)
    if axes == "world":
        np.testing.assert_allclose(arm.jacobian_rate(q, v, frame, axes="world") @ v, bias, rtol=1e-10, atol=1e-11)


def test_energies_by_their_parameters(case):
    arm, there, q, v, _ = case
    model, data = there.model, there.model.createData()
    linear = arm.identification.linear_model()
    near(arm.identification.kinetic_energy_regressor(q, v) @ linear.values, arm.kinetic_energy(q, v), 1e-11)
    near(arm.identification.potential_energy_regressor(q) @ linear.values, arm.potential_energy(q), 1e-11)
    blocks = []  # for (m, mc, I) in the frames of the bodies, which is what Pinocchio has
    for joint in arm.joints:
        number, pose = linear.links.bodies[joint.child]
        own = moved(pose[:3, :3], pose[:3, 3]) @ MOMENTS_FROM_INERTIA
        blocks.append((slice(10 * linear.movers.index(number), 10 * linear.movers.index(number) + 10), own))
    kinetic = np.concatenate([arm.identification.kinetic_energy_regressor(q, v)[place] @ own for place, own in blocks])
    near(kinetic, pin.computeKineticEnergyRegressor(model, data, there.q(q), v), 1e-11)
    potential = np.concatenate([arm.identification.potential_energy_regressor(q)[place] @ own for place, own in blocks])
    near(potential, pin.computePotentialEnergyRegressor(model, data, there.q(q)), 1e-11)


def test_energies_of_drives_by_their_parameters():
    arm = cy.load("planar2r").with_drive("joint1", stiffness=80.0, gear=50.0, inertia=1e-3)
    q, qd = np.array([0.3, -0.7]), np.array([1.1, -0.4])
    heavy = arm.including("armature")
    values = arm.identification.linear_model(joint_terms=["rotor"]).values
    assert heavy.identification.kinetic_energy_regressor(q, qd) @ values == pytest.approx(heavy.kinetic_energy(q, qd),
                                                                                          rel=1e-13)
    assert heavy.kinetic_energy(q, qd) > arm.kinetic_energy(q, qd) + 1.0
    soft = arm.including("elastic drives")
    q, qd = np.array([0.3, -0.7, 4.0]), np.array([1.1, -0.4, 2.0])
    linear = soft.identification.linear_model()
    assert soft.identification.potential_energy_regressor(q) @ linear.values == pytest.approx(soft.potential_energy(q),
                                                                                              rel=1e-13)
    energy = soft.identification.kinetic_energy_regressor(q, qd) @ linear.values
    assert energy == pytest.approx(soft.kinetic_energy(q, qd), rel=1e-13)


@pytest.mark.parametrize("name", ["panda_hand", "four_bar"])
def test_of_mechanisms_with_constraints_they_are_those_of_the_state(name):
    """Mimic joints and loops tie coordinates; momentum and energy are functions of all of them."""
    arm = cy.load(name)
    free = arm.variants.spanning_tree()
    there = PinocchioTree.of(free.tree)
    there.model.gravity.linear = np.array(arm.gravity)
    q = arm.random_configuration(seed=1)
    qd = arm.loops.consistent_velocity(q, np.random.default_rng(2).normal(size=arm.nv))
    data = there.model.createData()
    near(arm.centroidal.momentum_matrix(q), pin.ccrba(there.model, data, there.q(q), qd), 1e-10)
    near(arm.centroidal.center_of_mass_jacobian(q), pin.jacobianCenterOfMass(there.model, data, there.q(q)), 1e-10)
    near(arm.centroidal.momentum(q, qd), data.hg.vector, 1e-10)
    near(arm.frame_bias(q, qd, arm.bodies[-1].name, axes="world"),
         there.acceleration(q, qd, 0 * qd, arm.bodies[-1].name, "world"), 1e-10)
    values = arm.identification.linear_model().values
    near(arm.identification.kinetic_energy_regressor(q, qd) @ values, arm.kinetic_energy(q, qd), 1e-11)
    near(arm.identification.potential_energy_regressor(q) @ values, arm.potential_energy(q), 1e-11)


def test_parameters_and_operation_counts():
    """The matrix costs less than the derivative of the momentum; masses may be inputs."""
    arm = cy.load("panda")
    ours = arm.centroidal.momentum_matrix.operations()
    derived = arm.centroidal.momentum.jacobian("qd").operations()
    assert ours.multiplications < derived.multiplications
    heavy = arm.centroidal.momentum_matrix.with_parameters("mass")
    q = np.full(7, 0.3)
    near(heavy(q, heavy.parameters.nominal), arm.centroidal.momentum_matrix(q), 1e-12)


def test_a_tree_without_links_has_no_columns():
    still = cy.Mechanism.of("still", [cy.load("planar2r").bodies[0]], [])
    assert still.centroidal.momentum_matrix(np.zeros(0)).shape == (6, 0)
    assert links_of(still.tree).nv == 0
