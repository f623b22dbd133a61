"""Forces by their causes: closed forms, values of the catalogue, differences of the mass matrix in many digits and
Pinocchio as oracles.
"""

import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.model.joint_kinds import Floating, Revolute, Spherical
from cayley.model.parts import Body, Joint
from dynamics.chains import random_body
from kinematics.pinocchio_trees import PinocchioTree


def state(arm, seed):
    random = np.random.default_rng(seed)
    return arm.random_configuration(seed=seed), random.normal(size=arm.nv), random.normal(size=arm.nv)


@pytest.mark.spec("S2-99", "S0-78")
def test_the_worked_example():
    """WE-19, and the closed form of the planar arm with two joints at many states."""
    arm = cy.load("s2_we19")
    parts = arm.formulations.bias_parts([0.3, 0.7], [0.5, -1.2])
    np.testing.assert_allclose(parts.centrifugal, [-0.5566040818, 0.0966326531], atol=1e-10)
    np.testing.assert_allclose(parts.coriolis, [0.4638367348, 0.0], atol=1e-10)
    np.testing.assert_allclose(parts.gravity, [26.6098467681, 3.1802193723], atol=1e-9)
    inertia = arm.formulations.inertia_parts([0.3, 0.7], [1.0, 2.0])
    np.testing.assert_allclose(inertia.own, [3.4044772914, 0.64], atol=1e-9)
    np.testing.assert_allclose(inertia.coupling, [2 * 0.7789053124, 0.7789053124], atol=1e-9)
    np.testing.assert_allclose(sum(parts) + sum(inertia), [31.4793673373, 4.6957573378], atol=1e-9)
    q, qd = np.random.default_rng(0).normal(size=(2, 50, 2))
    h = 1.5 * 1.0 * 0.4 * np.sin(q[:, 1])  # m2 a1 c2 sin q2
    found = arm.formulations.bias_parts(q, qd)
    np.testing.assert_allclose(found.centrifugal, np.stack([-h * qd[:, 1] ** 2, h * qd[:, 0] ** 2], axis=1), atol=1e-14)
    np.testing.assert_allclose(found.coriolis, np.stack([-2 * h * qd[:, 0] * qd[:, 1], 0 * h], axis=1), atol=1e-14)
    g = 9.81
    second = 1.5 * g * 0.4 * np.cos(q.sum(axis=1))
    first = (2 * 0.5 + 1.5) * g * np.cos(q[:, 0]) + second
    np.testing.assert_allclose(found.gravity, np.stack([first, second], axis=1), atol=1e-13)


@pytest.mark.spec("S0-78", "S2-99")
@pytest.mark.parametrize("name", ["s2_we20", "puma560"])
def test_parts_and_coefficients_are_those_of_the_mass_matrix(name):
    """Christoffel's symbols by differences of Pinocchio's mass matrix; gravity by its own recursion; the sum."""
    arm = cy.load(name)
    q, qd, qdd = state(arm, 1)
    n = arm.nv
    here = PinocchioTree.of(arm.tree)
    data = here.model.createData()

    def mass(q):
        full = pin.crba(here.model, data, here.q(q))
        return np.triu(full) + np.triu(full, 1).T

    step = 1e-3
    dM = np.stack([(8 * (mass(q + step * e) - mass(q - step * e)) - (mass(q + 2 * step * e) - mass(q - 2 * step * e)))
                   / (12 * step) for e in np.eye(n)], axis=2)
    symbols = (dM + np.swapaxes(dM, 1, 2) - np.moveaxis(dM, 2, 0)) / 2  # of V_i = symbols_ijk qd_j qd_k
    first, second = np.triu_indices(n, 1)
    squares = np.einsum("ijj->ij", symbols)
    products = symbols[:, first, second] + symbols[:, second, first]
    found, coefficients = arm.formulations.bias_parts.reference(q, qd), arm.formulations.bias_coefficients.reference(q)
    np.testing.assert_allclose(coefficients.centrifugal, squares, atol=1e-9)
    np.testing.assert_allclose(coefficients.coriolis, products, atol=1e-9)
    np.testing.assert_allclose(found.centrifugal, squares @ qd**2, atol=1e-9)
    np.testing.assert_allclose(found.coriolis, products @ (qd[first] * qd[second]), atol=1e-9)
    np.testing.assert_allclose(coefficients.centrifugal @ qd**2, found.centrifugal, atol=1e-13)
    np.testing.assert_allclose(coefficients.coriolis @ (qd[first] * qd[second]), found.coriolis, atol=1e-13)
    here.model.gravity.linear = np.array(arm.gravity)
    np.testing.assert_allclose(found.gravity, pin.computeGeneralizedGravity(here.model, data, here.q(q)), atol=1e-12)
    for fall in ([0.0, 0.0, -9.81], [3.0, -2.0, 1.0]):  # one matrix for every direction of free fall
        here.model.gravity.linear = np.array(fall)
        np.testing.assert_allclose(coefficients.gravity @ fall,
                                   pin.computeGeneralizedGravity(here.model, data, here.q(q)), atol=1e-12)
    np.testing.assert_allclose(sum(found), arm.bias_forces.reference(q, qd), atol=1e-12)
    inertia = arm.formulations.inertia_parts.reference(q, qdd)
    np.testing.assert_allclose(inertia.own, np.diag(mass(q)) * qdd, atol=1e-12)
    np.testing.assert_allclose(sum(inertia), mass(q) @ qdd, atol=1e-12)
    np.testing.assert_allclose(sum(found) + sum(inertia), arm.inverse_dynamics.reference(q, qd, qdd), atol=1e-12)


@pytest.mark.spec("S0-78", "S2-99")
def test_joints_of_other_kinds_and_armature():
    """A floating base with a ball and an armature: quadratic in the velocities too, centrifugal in each by itself."""
    random = np.random.default_rng(2)
    bodies = [Body("world"), *[random_body(name, random) for name in ("trunk", "ball", "arm")]]
    free = cy.Mechanism.of("free", bodies, [Joint("base", "world", "trunk", Floating()),
                                            Joint("neck", "trunk", "ball", Spherical()),
                                            Joint("elbow", "ball", "arm", Revolute((0.0, 0.6, 0.8)))])
    free = free.with_drive("base", inertia=0.7).with_drive("elbow", inertia=0.2).including("armature")
    q, qd, _ = state(free, 3)
    parts, coefficients = free.formulations.bias_parts.reference(q,
                                                                 qd), free.formulations.bias_coefficients.reference(q)
    first, second = np.triu_indices(free.nv, 1)
    rest = free.gravity_forces.reference(q)
    for k, rate in enumerate(qd):
        alone = np.zeros(free.nv)
        alone[k] = rate
        needed = free.bias_forces.reference(q, alone) - rest
        np.testing.assert_allclose(coefficients.centrifugal[:, k] * rate**2, needed, atol=1e-11)
        np.testing.assert_allclose(free.formulations.bias_parts.reference(q, alone).coriolis, 0.0, atol=1e-12)
    np.testing.assert_allclose(coefficients.coriolis @ (qd[first] * qd[second]), parts.coriolis, atol=1e-11)
    np.testing.assert_allclose(sum(parts), free.bias_forces.reference(q, qd), atol=1e-11)


def test_constraints_batches_and_friction():
    """Of a closed mechanism they are those of the coordinates of its tree; friction is none of them."""
    bar = cy.load("four_bar")
    q, qd = np.array([0.3, -0.2, 0.5]), np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(sum(bar.formulations.bias_parts(q, qd)), bar.bias_forces(q, qd), atol=1e-13)
    arm = cy.load("planar2r").with_friction("joint1", viscous=3.0).including("friction")
    difference = arm.bias_forces([0.1, 0.2], [1.0, 1.0]) - sum(arm.formulations.bias_parts([0.1, 0.2], [1.0, 1.0]))
    np.testing.assert_allclose(difference, [3.0, 0.0], atol=1e-13)
    one = cy.load("s1_f1")
    assert one.formulations.bias_coefficients([0.2]).coriolis.shape == (1, 0)
    np.testing.assert_array_equal(one.formulations.bias_parts([0.2], [3.0]).coriolis, [0.0])
    assert arm.formulations.bias_parts(np.zeros((0, 2)), np.zeros(2)).coriolis.shape == (0, 2)
    assert arm.formulations.bias_parts(np.zeros((3, 1, 2)), np.zeros((4, 2)), dtype=np.float32).gravity.shape == (3, 4,
                                                                                                                  2)
    rock = cy.Mechanism.of("rock", [Body("rock", 2.0)], [])
    assert rock.formulations.bias_parts(np.zeros(0), np.zeros(0)).gravity.shape == (0,)
