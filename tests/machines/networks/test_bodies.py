"""One rigid body as a component with ports: its forms, its ideal and its active part."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cayley.errors import ModelError
from cayley.geometry.spatial import spatial_inertia
from cayley.machines.networks import RigidBody
from cayley.machines.networks.hybrid_solve import PowerBalance, body_balance, is_passive
from cayley.machines.networks.rigid_body import ActivePart, Operator, port_matrix

W = np.array([0.5, -0.4, 0.8])
BODY = RigidBody("body", 2.0, np.diag([0.1, 0.2, 0.25]), {"B": [-0.3, 0.1, 0], "A": [0.2, -0.1, 0.05]})


def random_body(random, ports):
    J = random.normal(size=(3, 3))
    return RigidBody("body", random.uniform(0.5, 3), J @ J.T + 0.1 * np.eye(3),
                     {f"P{k}": random.normal(size=3) for k in range(ports)})


def turned(random):
    Q, R = np.linalg.qr(random.normal(size=(3, 3)))
    return Q * np.sign(np.diag(R)) * np.linalg.det(Q * np.sign(np.diag(R)))


def newton_euler(body, R, w, x_G, xd_G, g, wrenches):
    """What must act at the mass centre beside the wrenches at the ports: from the rates of momentum."""
    J = R @ body.inertia @ R.T
    force = body.mass * (xd_G[:3] - g)
    moment = J @ xd_G[3:] + np.cross(w, J @ w)
    for port, wrench in wrenches.items():
        force = force - wrench[:3]
        moment = moment - wrench[3:] - np.cross(R @ body.point(port), wrench[:3])
    return np.concatenate([force, moment])


@pytest.mark.spec("S4-02", "S4-06", "S4-07", "S4-08")
def test_one_body_in_three_forms():
    """W4-01: all forms say the same; the active part moved to either joint terminal."""
    at_B = BODY.terminal_equations(w=W, form="B")
    at_A = BODY.terminal_equations(w=W, form="A")
    assert np.allclose(at_B.W.P[3:, 3:], [[0.12, 0.06, 0], [0.06, 0.38, 0], [0, 0, 0.45]], atol=1e-15)
    assert np.allclose(at_A.W.P[3:, 3:], [[0.125, 0.04, -0.02], [0.04, 0.285, 0.01], [-0.02, 0.01, 0.35]], atol=1e-15)
    assert np.allclose(at_B.u, [0, 0, 19.62, -1.962, -5.886, 0]) and np.allclose(at_A.u, [0, 0, 19.62, 1.962, 3.924, 0])
    assert np.allclose(at_B.K("A")[3:, :3], [[0, -0.05, -0.2], [0.05, 0, -0.5], [0.2, 0.5, 0]], atol=1e-16)
    x_b = np.array([0.1, -0.2, 0.3, *W])
    xd_b = np.array([1, 0.5, -0.4, 0.2, 0.3, -0.1])
    y_b = at_B.through(x_b, xd_b, {})
    assert np.allclose(y_b, [1.54, 0.998, 18.904, -1.8864, -5.6712, 0.4084], atol=1e-12)
    for form in ("G", "A"):
        other = BODY.terminal_equations(w=W, form=form)
        arm = BODY.point(form) - BODY.point("B")
        rate = np.cross(W, arm)
        x = port_matrix(arm).T @ x_b
        xd = port_matrix(arm).T @ xd_b + np.concatenate([np.cross(W, rate), np.zeros(3)])
        assert np.abs(other.through(x, xd, {"B": y_b})).max() < 1e-14  # nothing is left for the form's own port
    there_and_back = at_B.in_form("A").in_form("G")
    about_centre = BODY.terminal_equations(w=W)
    for part in ("P", "Q"):
        assert np.abs(getattr(there_and_back.W, part) - getattr(about_centre.W, part)).max() < 1e-15
    J = spatial_inertia(2.0, -2.0 * BODY.point("B"), at_B.W.P[3:, 3:])  # the spatial inertia about B
    assert np.abs(at_B.W.P - J).max() < 1e-15


@pytest.mark.spec("S4-06", "S4-07")
def test_the_printed_operator_at_a_port_holds_on_the_body_s_own_motion():
    """E4-18: the matrix of the source differs from the exact one, but not on the angular velocity of the body."""
    for port in "AB":
        exact = BODY.terminal_equations(w=W, form=port).W.Q
        r = port_matrix(BODY.point(port))[3:, :3]
        turn = port_matrix(W)[3:, :3]
        J = BODY.inertia + 2.0 * r @ r.T
        printed = np.block([[np.zeros((3, 3)), 2.0 * turn @ r], [np.zeros((3, 3)), turn @ J]])
        own = np.array([0.3, -0.2, 0.9, *W])
        assert np.abs(printed - exact).max() > 0.1 and np.abs((printed - exact) @ own).max() < 1e-14


@pytest.mark.spec("S4-01", "S4-03", "S4-05", "S4-32")
@pytest.mark.parametrize("ports", [0, 1, 2, 3, 5])
def test_a_body_of_any_number_of_ports_is_newton_and_euler(ports, rng=7):
    """Branching bodies and end bodies; the power that is taken at all ports is the rate of the energy."""
    random = np.random.default_rng(rng + ports)
    body = random_body(random, ports)
    R = turned(random)
    g = random.normal(size=3)
    w = random.normal(size=3)
    x_G = np.concatenate([random.normal(size=3), w])
    xd_G = random.normal(size=6)
    wrenches = {port: random.normal(size=6) for port in body.ports}
    equations = body.terminal_equations(R, w, "G", g)
    y_G = equations.through(x_G, xd_G, wrenches)
    expected = newton_euler(body, R, w, x_G, xd_G, g, wrenches)
    assert np.abs(y_G - expected).max() < 1e-12 * max(np.abs(expected).max(), 1)
    J = R @ body.inertia @ R.T
    stored = (body.mass * x_G[:3] @ (xd_G[:3] - g) + w @ (J @ xd_G[3:]))
    balance = body_balance(equations, x_G, xd_G, wrenches)
    assert abs(balance.stored - stored) < 1e-12 * max(abs(stored), 1) and abs(balance.residual) < 1e-11
    for port in body.ports:
        arm = R @ body.point(port)
        assert np.allclose(equations.across(port, x_G), [*(x_G[:3] + np.cross(w, arm)), *w], atol=1e-14)
        moved = body.terminal_equations(R, w, port, g)
        others = {other: wrench for other, wrench in wrenches.items() if other != port} | {"G": y_G}
        x = moved.across("G", np.zeros(6)) + equations.across(port, x_G)
        xd = port_matrix(arm).T @ xd_G + np.concatenate([np.cross(w, np.cross(w, arm)), np.zeros(3)])
        assert np.abs(moved.through(x, xd, others) - wrenches[port]).max() < 1e-11
        assert abs(body_balance(moved, x, xd, others).residual) < 1e-10


@pytest.mark.spec("S4-02", "S4-32")
@pytest.mark.parametrize("form", ["G", "P0", "P1"])
def test_equations_refuse_a_motion_of_another_angular_velocity(form):
    random = np.random.default_rng(11)
    body, w = random_body(random, 2), random.normal(size=3)
    equations = body.terminal_equations(turned(random), w, form)
    for other in (0 * w, -w, w * (1 + 1e-6), w[[1, 2, 0]]):
        x = np.concatenate([random.normal(size=3), other])
        for call in (equations.through, lambda *motion: body_balance(equations, *motion)):
            with pytest.raises(ModelError, match=r"x turns with .*terminal_equations\(w=x\[3:\]\)"):
                call(x, np.zeros(6), {})
    x = np.concatenate([random.normal(size=3), w * (1 + 1e-15)])
    assert abs(body_balance(equations, x, random.normal(size=6), {}).residual) < 1e-9
    assert body.ideal().terminal_equations(form=form).through(x, np.ones(6), {}).shape == (6,)  # nothing that turns


@pytest.mark.spec("S4-32")
@pytest.mark.parametrize("form", ["G", "P0"])
@pytest.mark.parametrize("part", ["P", "Q", "u"])
def test_the_balance_notices_an_operator_that_is_wrong(form, part):
    """What is stored is the difference of energies along the motion: no matrix of the equations is asked for it."""
    random = np.random.default_rng(13)
    body, R, w = random_body(random, 1), turned(random), random.normal(size=3)
    equations = body.terminal_equations(R, w, form)
    x, xd = np.concatenate([random.normal(size=3), w]), random.normal(size=6)
    right = body_balance(equations, x, xd, {})
    step = 1e-5
    before, after = (_energy(body, form, R, x, xd, t) for t in (-step, step))
    assert abs(right.stored - (after - before) / (2 * step)) < 1e-6 * max(abs(right.stored), 1.0)
    assert abs(right.residual) < 1e-11
    P, Q = equations.W
    error = np.abs(random.normal(size=(6, 6)))
    false = ActivePart(Operator(P + error if part == "P" else P, Q + error if part == "Q" else Q),
                       equations.u + error[0] if part == "u" else equations.u)
    wrong = body_balance(replace(equations, active=false), x, xd, {})
    assert wrong.stored == right.stored and abs(wrong.residual) > 1e-2


def _energy(body, form, R, x, xd, t):
    """Kinetic and potential energy a moment later, to the second order in t."""
    w = x[3:] + xd[3:] * t
    mean = Rotation.from_rotvec((x[3:] + xd[3:] * t / 2) * t).as_matrix() @ R
    p, v = x[:3] * t + xd[:3] * t * t / 2, x[:3] + xd[:3] * t
    to_centre = -(mean @ body.point(form))
    v_G = v + np.cross(w, to_centre)
    return (body.mass * (v_G @ v_G / 2 + 9.81 * (p + to_centre)[2]) + w @ (mean @ body.inertia @ mean.T) @ w / 2)


@pytest.mark.spec("S4-04")
def test_an_ideal_body_takes_no_power_and_has_a_skew_hybrid_matrix():
    random = np.random.default_rng(3)
    body = random_body(random, 3).ideal()
    equations = body.terminal_equations(turned(random), random.normal(size=3), "P1")
    H = equations.hybrid_matrix
    assert np.array_equal(H, -H.T) and H.shape == (24, 24)
    x = random.normal(size=6)
    y = {port: random.normal(size=6) for port in equations.others}
    power = x @ equations.through(x, random.normal(size=6), y) + sum(
        equations.across(port, x) @ wrench for port, wrench in y.items())
    assert abs(power) < 1e-14
    assert np.array_equal(equations.W.P, np.zeros((6, 6))) and np.array_equal(equations.u, np.zeros(6))


@pytest.mark.spec("S4-05")
def test_the_derivative_stands_on_the_right_of_a_transformer():
    """T^T W T with a T that changes: P T' is left over, which an operator that ignored the order would lose."""
    random = np.random.default_rng(5)
    W_G = BODY.terminal_equations(w=W).W
    T = random.normal(size=(6, 4))
    Td = random.normal(size=(6, 4))
    z = random.normal(size=4)
    zd = random.normal(size=4)
    assert np.allclose(W_G.through(T, Td)(z, zd), T.T @ W_G(T @ z, T @ zd + Td @ z), atol=1e-13)
    assert not np.allclose(W_G.through(T, Td)(z, zd), W_G.through(T, 0 * Td)(z, zd))


@pytest.mark.spec("S4-02")
def test_coincident_ports_and_bodies_without_mass():
    same = RigidBody("pin", 1.0, np.eye(3), {"A": [0, 0, 0], "B": [0, 0, 0]})
    assert np.array_equal(same.terminal_equations().K("A"), np.eye(6))
    assert np.array_equal(RigidBody("alone", 1.0, np.eye(3)).terminal_equations().hybrid_matrix, np.zeros((6, 6)))
    frame = RigidBody("frame", 0.0, np.zeros((3, 3)), {"A": [1.0, 0, 0]})
    y = frame.terminal_equations().through(np.ones(6), np.ones(6), {"A": [0, 1.0, 0, 0, 0, 0]})
    assert np.array_equal(y, [0, -1, 0, 0, 0, -1])


def test_passivity_of_an_operator():
    random = np.random.default_rng(9)
    equations = BODY.terminal_equations(w=W)
    J = BODY.inertia
    turn = port_matrix(W)[3:, :3]
    rate = np.zeros((6, 6))
    rate[3:, 3:] = turn @ J - J @ turn
    assert is_passive(equations.W.P, equations.W.Q, rate)
    assert not is_passive(equations.W.P, equations.W.Q - np.eye(6), rate)
    assert not is_passive(-equations.W.P, equations.W.Q, rate)
    assert PowerBalance(1.0, 0.5) + PowerBalance(2.0, 1.5) == PowerBalance(3.0, 2.0)
    assert is_passive(equations.W.P, equations.W.Q + np.diag(random.uniform(0, 1, 6)), rate)  # damped


@pytest.mark.parametrize(("wrong", "words"), [
    (lambda: RigidBody("b", 1.0, np.eye(3), {"G": [0, 0, 0]}), "the port 'G' is its mass centre"),
    (lambda: RigidBody("b.c", 1.0, np.eye(3)), "a name has no dot"),
    (lambda: RigidBody("b", -1.0, np.eye(3)), "body 'b' has the mass -1"),
    (lambda: RigidBody("b", 1.0, np.eye(3), {"A": [0, 0]}), "port 'A' of body 'b', a point"),
    (lambda: BODY.terminal_equations(form="C"), "no port 'C'"),
    (lambda: BODY.point("a"), "body 'body' has no port 'a': did you mean 'A'"),
    (lambda: BODY.terminal_equations(w=np.ones(3)).through(np.ones(6), np.ones(6), {"G": np.ones(6)}),
     "port 'G' is no independent one in form 'G'"),
    (lambda: RigidBody("b", 1.0, [[1, 2, 0], [0, 1, 0], [0, 0, 1]]), "not symmetric")])
def test_wrong_bodies_are_named(wrong, words):
    with pytest.raises(ModelError, match=words):
        wrong()
