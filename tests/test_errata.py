"""Proofs of docs/developers/errata.md, both of what is wrong in print and of what is right, where no other test has
them."""

import numpy as np
import pytest
import sympy as sp

import cayley as cy
from cayley.geometry.tensors import hat
from cayley.machines import TranslationalDelta
from cayley.model.denavit_hartenberg.table import DHRow
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Joint


def test_e0_78_another_start_has_the_same_degrees():
    """c = (x, y, 0) for (x, 0, z): the elimination of b12 and b13 leaves (1 + x^2)^3, a cubic squared, a quartic."""
    x, y, z = sp.symbols("x y z")
    A = sp.Matrix([[2, 3, -1], [3, 5, 7], [-1, 7, -4]])
    for c, other in ((sp.Matrix([x, 0, z]), z), (sp.Matrix([x, y, 0]), y)):
        turn = (1 - c.dot(c)) * sp.eye(3) + 2 * c * c.T + 2 * sp.Matrix(3, 3, lambda i, j, c=c: -sum(
            sp.LeviCivita(i, j, k) * c[k] for k in range(3)))
        B = (turn.T * A * turn).applyfunc(sp.expand)
        _, factors = sp.factor_list(sp.resultant(B[0, 1], B[0, 2], other), x)
        assert sorted((sp.degree(factor, x), power) for factor, power in factors) == [(2, 3), (3, 2), (4, 1)]


def test_e0_80_input_of_an_elastic_joint():
    """J_m q2'' - K (q1 - q2) = u with q2 = -qm / Gamma: u is -Gamma times the torque on the shaft."""
    gamma, inertia, stiffness, torque = 50.0, 4e-4, 800.0, 0.3
    arm = cy.Mechanism.of("arm", [Body("base"), Body("link", 2.0, (0.3, 0, 0), 0.05 * np.eye(3))],
                          [Joint("turn", "base", "link", Revolute())])
    soft = arm.with_drive("turn", stiffness=stiffness, gear=-gamma, inertia=inertia).including("elastic drives")
    q1, qm = 0.2, -11.0
    qdd = soft.forward_dynamics([q1, qm], [0.4, -3.0], [0.0, torque])
    q2, q2dd = -qm / gamma, -qdd[1] / gamma
    u = inertia * gamma**2 * q2dd - stiffness * (q1 - q2)
    assert u == pytest.approx(-gamma * torque, rel=1e-12) and abs(u - torque) > 15


def test_e1_33_when_tensors_are_orthogonal():
    """tr(T S) = 0 would make a dyad orthogonal to itself; tr(T^T S) is the inner product of the angle."""
    T = np.outer([1.0, 0, 0], [0, 1.0, 0])
    assert np.trace(T @ T) == 0 and np.trace(T.T @ T) == 1


def test_e1_37_and_38_handedness():
    """E changes its sign under reflections, Q u~ Q^T is det(Q) dual(Q u)."""
    E = np.zeros((3, 3, 3))
    E[[0, 1, 2], [1, 2, 0], [2, 0, 1]], E[[2, 1, 0], [1, 0, 2], [0, 2, 1]] = 1.0, -1.0
    rng = np.random.default_rng(0)
    u = rng.normal(size=3)
    for handed in (1.0, -1.0):
        Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        Q = Q * handed * np.linalg.det(Q)
        np.testing.assert_allclose(np.einsum("ai,bj,ck,ijk->abc", Q, Q, Q, E), handed * E, atol=1e-14)
        np.testing.assert_allclose(Q @ hat(u) @ Q.T, handed * hat(Q @ u), atol=1e-14)
    assert np.abs(Q @ hat(u) @ Q.T - hat(Q @ u)).max() > 0.1


def test_e2_41_and_42_a_link_of_denavit_and_hartenberg():
    """d' z is the velocity of the point of link i at O_(i-1), not of its origin; and d belongs to the geometry."""
    th, d, a, thd, dd = 0.7, 0.3, 0.4, 1.9, 0.5
    place = np.array([a * np.cos(th), a * np.sin(th), d])
    origin = np.array([-a * np.sin(th) * thd, a * np.cos(th) * thd, dd])
    at_the_one_before = origin - np.cross([0, 0, thd], place)
    np.testing.assert_allclose(at_the_one_before, [0, 0, dd], atol=1e-15)
    assert np.linalg.norm(origin - [0, 0, dd]) == pytest.approx(a * thd)  # 0.76
    tips = [cy.Mechanism.from_dh([DHRow(a=0.5, d=height), DHRow(a=0.4, alpha=1.0)], convention="standard").pose(
        [0.2, 0.3], "tool")[2, 3] for height in (0.0, 0.1)]
    assert tips[1] - tips[0] == pytest.approx(0.1)  # the same alpha and a


def test_e2_43_what_can_be_differentiated_need_not_be_holonomic():
    """Rolling, differentiated, has no function of the coordinates: cos(t) y' - sin(t) x' = 0 in (x, y, t)."""
    x, y, t = sp.symbols("x y t")
    row = sp.Matrix([-sp.sin(t), sp.cos(t), 0])
    D = row.jacobian([x, y, t])
    curl = sp.Matrix([D[2, 1] - D[1, 2], D[0, 2] - D[2, 0], D[1, 0] - D[0, 1]])
    assert sp.simplify(row.dot(curl)) != 0  # Frobenius: not integrable, with any factor


def test_e2_44_one_collinear_parallelogram_suffices():
    """A rod along the axis of its crank, the others not: this crank turns and the platform does not."""
    machine, angle = TranslationalDelta(crank=0.3, rod=0.4, base=0.25, platform=0.1), -3.0
    place = np.array([0.15 + 0.3 * np.cos(angle), 0.4, 0.3 * np.sin(angle)])  # of leg 1, along x
    others = machine.inverse_position(place - [0, 1e-13, 0])[0, 1:]
    theta = np.array([angle, *others])
    assert np.abs(np.sin(machine.leg_angles(place, theta)[1:, 2])).min() > 0.5
    Jq = machine.jacobians(place, theta).Jq
    assert abs(Jq[0]) < 1e-12 and np.abs(Jq[1:]).min() > 0.1
    assert machine.singularity(place, theta).kind == "inverse"


def test_e3_46_computed_torque_as_a_voltage():
    """A motor with gear n, armature resistance R and constant K on one link: tau = n K (v - K n q') / R. The torque of
    (6.41), taken for the voltage, gives another acceleration; divided by the gain, with the back-EMF as damping, the
    one that is asked for."""
    n, R, K, M, g, D = 20.0, 1.2, 0.05, 0.8, 6.0, 0.3
    qd, asked = 1.5, 2.0

    def acceleration(v):
        return (n * K * (v - K * n * qd) / R - g - D * qd) / M

    printed = M * asked + g + D * qd
    gain = n * K / R
    right = (M * asked + g + (D + n**2 * K**2 / R) * qd) / gain
    assert acceleration(right) == pytest.approx(asked, rel=1e-13)
    assert acceleration(printed) == pytest.approx(-1.24, abs=0.01)
