"""Diagonal form of the inertia matrix for any number of joints, and control in it: Pinocchio, LAPACK, differences along
true motions, the closed form for three, and computed torque as oracles.
"""

import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.control import decoupled_control
from cayley.dynamics.forward.decoupled_inertia import decoupled_model, principal_axes_of
from cayley.errors import CayleyError, SingularityError
from cayley.geometry.principal_axes.diagonalization import diagonalizing_rotations
from cayley.model.joint_kinds import Prismatic, Revolute
from cayley.model.parts import Body, Joint
from dynamics.chains import random_chain, random_state
from kinematics.pinocchio_trees import PinocchioTree

pytestmark = pytest.mark.spec("S0-86")


def close(found, expected, tolerance=1e-11):
    assert np.abs(found - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


def gantry():
    """Slides along x, y, z that carry one mass, which turns about z away from its centre: two principal inertias are
    the whole mass, wherever it is."""
    bodies = [Body("ground"), Body("x", 0.0), Body("y", 0.0), Body("z", 0.0),
              Body("wrist", 3.0, (0.4, 0.0, 0.1), np.diag([0.02, 0.03, 0.05]))]
    joints = [Joint(f"to {b.name}", a.name, b.name, Prismatic(tuple(axis)))
              for a, b, axis in zip(bodies[:3], bodies[1:4], np.eye(3), strict=True)]
    return cy.Mechanism.of("gantry", bodies, [*joints, Joint("to wrist", "z", "wrist", Revolute((0.0, 0.0, 1.0)))])


def eta_rate(arm, q, qd, qdd, O):
    """The rate of O^T qd along the true motion, with axes that follow O, by differences."""
    h, first = 1e-3, np.array([-1, 9, -45, 0, 45, -9, 1]) / 60
    rates = []
    for t in h * np.arange(-3, 4):
        M = arm.inertia_matrix(q + qd * t + qdd * t * t / 2)
        rates.append(principal_axes_of(M, 0 * M, near=O, carried=True).axes.T @ (qd + qdd * t))
    return np.tensordot(first, rates, 1) / h


@pytest.fixture(scope="module")
def machine():
    return gantry()


@pytest.mark.parametrize("pattern", ["RPRP", "RRRRR"])
def test_diagonal_equations_of_more_than_three_joints(pattern):
    """O^T H O is diagonal, O a rotation with LAPACK's inertias; accelerations are Pinocchio's; the rates of the
    quasi-velocities are those along the motion."""
    tree = random_chain(pattern, 2)
    arm, (q, qd, tau), n = cy.Mechanism(tree), random_state(tree, 3), len(pattern)
    model = arm.formulations.decoupled_dynamics(q, qd, tau)
    O, H = model.principal.axes, arm.inertia_matrix(q)
    close(O.T @ O, np.eye(n), 1e-13)
    assert np.linalg.det(O) > 0
    close(O.T @ H @ O, np.diag(model.principal.inertias), 1e-13)
    close(np.sort(model.principal.inertias), np.linalg.eigvalsh(H), 1e-13)
    here = PinocchioTree.of(tree)
    here.model.gravity.linear = np.array(tree.gravity)
    close(model.qdd, pin.aba(here.model, here.model.createData(), here.q(q), qd, tau), 1e-9)
    close(model.principal.spin, -model.principal.spin.T, 1e-12)
    close(model.accelerations, eta_rate(arm, q, qd, model.qdd, O), 1e-6)
    wished = np.linspace(-1.0, 2.0, n)  # each quasi-velocity is driven by itself
    forces = model.forces_for(wished)
    driven = arm.formulations.decoupled_dynamics(q, qd, forces, near=O)
    close(driven.accelerations, wished, 1e-9)
    close(eta_rate(arm, q, qd, driven.qdd, O), wished, 1e-5)


def test_three_joints_are_the_closed_form():
    """S0-41: the axes of the vector-parameters, and the same equations."""
    tree = random_chain("RPR", 4)
    q, qd, tau = random_state(tree, 5)
    arm = cy.Mechanism(tree)
    model, every = arm.formulations.decoupled_dynamics(q, qd, tau), diagonalizing_rotations(arm.inertia_matrix(q))
    nearest = every.matrix[int(np.argmax(np.trace(every.matrix, axis1=1, axis2=2)))]
    close(model.principal.axes, nearest, 1e-12)
    C = arm.coriolis_matrix(q, qd)
    same = decoupled_model(arm.inertia_matrix(q), C + C.T, arm.bias_forces(q, qd), tau, qd)
    close(same.accelerations, model.accelerations, 1e-12)


def test_repeated_inertias_are_carried(machine):
    """Two principal inertias of the gantry are its mass at every posture, and their plane turns: the equations hold,
    axes of the plane follow their predecessors and do not turn in it."""
    q, qd = np.array([0.2, -0.1, 0.3, 0.5]), np.array([0.4, 0.3, -0.2, 1.5])
    tau = np.array([3.0, -2.0, 40.0, 0.7])
    H = machine.inertia_matrix(q)
    values = np.linalg.eigvalsh(H)
    repeated = np.flatnonzero(np.diff(values) < 1e-12 * values[-1])
    assert len(repeated) == 1
    model = machine.formulations.decoupled_dynamics(q, qd, tau)
    close(model.qdd, machine.forward_dynamics(q, qd, tau), 1e-11)
    O = model.principal.axes
    close(O.T @ H @ O, np.diag(model.principal.inertias), 1e-12)
    close(model.accelerations, eta_rate(machine, q, qd, model.qdd, O), 1e-6)
    equal = np.flatnonzero(np.abs(model.principal.inertias - values[repeated[0]]) < 1e-10)
    assert len(equal) == 2 and model.principal.spin[equal[0], equal[1]] == 0.0
    wished = np.array([1.0, -1.0, 0.5, 0.2])
    driven = machine.formulations.decoupled_dynamics(q, qd, model.forces_for(wished), near=O)
    close(eta_rate(machine, q, qd, driven.qdd, O), wished, 1e-5)
    other = machine.formulations.decoupled_dynamics(q, qd, tau, near=O[:, [1, 0, 3, 2]])  # axes follow what is given
    close(other.principal.axes[:, :2], O[:, [1, 0]], 1e-12)
    close(other.qdd, model.qdd, 1e-12)


def test_all_inertias_alike_and_crossings():
    """A ball of inertia has every axis; where inertias cross, coordinates are refused, and quasi-velocities are not."""
    alike = principal_axes_of(2.0 * np.eye(5), np.ones((5, 5)), carried=True)
    np.testing.assert_allclose(alike.axes, np.eye(5), atol=1e-15)
    assert not alike.spin.any()
    with pytest.raises(SingularityError, match="coincide"):
        principal_axes_of(2.0 * np.eye(5), np.zeros((5, 5)))
    turned = np.linalg.qr(np.random.default_rng(6).normal(size=(4, 4)))[0]
    H, dH = turned @ np.diag([1.0, 2.0, 2.0, 3.0]) @ turned.T, turned @ np.diag([0.0, 1.0, -1.0, 0.5]) @ turned.T
    model = decoupled_model(H, dH, np.ones(4), np.arange(4.0), np.ones(4), carried=True)
    close(model.qdd, np.linalg.solve(H, np.arange(4.0) - 1.0), 1e-12)
    with pytest.raises(SingularityError, match="no mass moves"):
        decoupled_model(np.diag([1.0, 0.0]), np.zeros((2, 2)), np.zeros(2), np.zeros(2), np.zeros(2))
    one = decoupled_model([[2.0]], [[0.1]], [1.0], [5.0], [3.0])
    assert one.qdd == [2.0] and one.accelerations == [2.0]


def test_control_in_decoupled_coordinates(machine):
    """Along each principal axis the error obeys its own equation, on a machine with repeated inertias; equal gains are
    computed torque; the motion arrives."""
    kp, kd = np.array([100.0, 150.0, 200.0, 300.0]), np.array([20.0, 25.0, 28.0, 35.0])
    target = np.array([0.3, -0.2, 0.1, 0.8])

    def reference(t):
        return target + 0.1 * np.sin(t), np.full(4, 0.1 * np.cos(t)), np.full(4, -0.1 * np.sin(t))

    law = machine.control.decoupled(kp, kd)
    q, qd = np.array([0.1, 0.2, -0.1, 0.3]), np.array([0.2, -0.3, 0.1, 0.5])
    tau = law.step.reference(q, qd, *reference(0.4))
    qdd = machine.forward_dynamics(q, qd, tau)
    values, V = np.linalg.eigh(machine.inertia_matrix(q))  # from the smallest to the largest
    p, d = kp.copy(), kd.copy()
    (k,) = np.flatnonzero(np.diff(values) < 1e-12 * values[-1])
    p[k:k + 2], d[k:k + 2] = p[k:k + 2].mean(), d[k:k + 2].mean()  # those that coincide share the mean of their gains
    e, de, dde = (a - b for a, b in zip(reference(0.4), (q, qd, qdd), strict=True))
    close(V.T @ dde + d * (V.T @ de) + p * (V.T @ e), np.zeros(4), 1e-9)
    arm = cy.load("planar2r")  # equal gains are computed torque; others arrive, too
    state = [[0.1, 0.2], [0.3, -0.4], [0.5, 0.6], [0.0, 0.1], [1.0, 2.0]]
    close(arm.control.decoupled(100.0, 20.0).step(*state), arm.control.computed_torque(100.0, 20.0).step(*state), 1e-12)
    loop = cy.connect(arm, arm.control.decoupled([400.0, 100.0], [40.0, 20.0]))
    run = loop.simulate({"q": state[0], "qd": state[1]}, until=1.5, inputs={"target": state[2]}, rtol=1e-6, atol=1e-8)
    assert np.abs(run.end["q"] - state[2]).max() < 1e-3


def test_what_is_refused_by_name():
    for name in ("four_bar", "panda_hand"):
        arm = cy.load(name)
        with pytest.raises(CayleyError, match=name):
            arm.formulations.decoupled_dynamics(np.zeros(arm.nq), np.zeros(arm.nv), np.zeros(arm.nv))
    for near in (np.eye(3), np.full((2, 2), np.nan)):
        with pytest.raises(CayleyError, match=r"axes to follow are finite numbers \(2, 2\)"):
            cy.load("s1_f2").formulations.decoupled_dynamics(np.zeros(2), np.zeros(2), np.zeros(2), near=near)
    rough = cy.load("s1_f2").with_friction("joint2", coulomb=0.5).including("friction")
    sliding = rough.formulations.decoupled_dynamics([0.1, 0.2], [0.0, 0.3], [1.0, 2.0])
    close(sliding.qdd, rough.forward_dynamics([0.1, 0.2], [0.0, 0.3], [1.0, 2.0]), 1e-11)
    with pytest.raises(CayleyError, match="s1_f2 includes dry friction, and a joint that has it is at rest"):
        rough.formulations.decoupled_dynamics([0.1, 0.2], [0.3, 0.0], [1.0, 2.0])
    with pytest.raises(CayleyError, match="one state"):
        cy.load("s1_f2").formulations.decoupled_dynamics(np.zeros((3, 2)), np.zeros(2), np.zeros(2))
    soft = cy.load("planar2r").with_drive("joint1", stiffness=1e3, gear=50.0, inertia=1e-3).including("elastic drives")
    with pytest.raises(CayleyError, match="springs"):
        decoupled_control(soft, 1.0, 1.0)
