"""The planar biped: numbers of the specification, Lagrange's equations of SymPy in 50 digits, the same biped as a
mechanism, and its steps in time."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp

import cayley as cy
from cayley.errors import GeometryError, ModelError, SingularityError
from cayley.machines import PlanarBiped

BIPED = PlanarBiped()
UNEQUAL = PlanarBiped(3.0, 31.0, 6.0, 3.5, 0.2, 0.24, 0.28, 4.0, 0.31, 0.26, 9.7)
LEGS = np.array([0.30, 0.10, -0.20, -0.45])
SWINGING = np.array([-0.8, -0.5, 0.9, 1.1])


def program(t):
    return LEGS + SWINGING * t


def standing(biped, angles, rates, foot=0):
    """q and qd of given angles and rates (5), with one foot at rest in the origin."""
    rows = slice(2 * foot, 2 * foot + 2)
    q = np.concatenate([[0.0, 0.0], angles])
    q[:2] -= biped.feet(q)[rows]
    qd = np.concatenate([[0.0, 0.0], rates])
    qd[:2] -= (biped.feet_jacobian(q) @ qd)[rows]
    return q, qd


def random_states(seed, count):
    random = np.random.default_rng(seed)
    return random.normal(size=(count, 7)), random.normal(size=(count, 7)), random.normal(size=(count, 7))


@pytest.fixture(scope="module")
def lagrange():
    """H, bias and the feet's Jacobian and drift of UNEQUAL from its energies, as functions of 50 digits."""
    b = UNEQUAL
    q, v = sympy.symbols("q:7"), sympy.symbols("v:7")
    x, z, th, *legs = q

    def below(leg, thigh, shank):
        al, be = legs[2 * leg:2 * leg + 2]
        return [x - thigh * sympy.sin(al) - shank * sympy.sin(be), z - thigh * sympy.cos(al) - shank * sympy.cos(be)]

    exact = {name: sympy.Rational(str(getattr(b, name))) for name in b.__dataclass_fields__}
    a, s, rho = exact["half_thigh"], exact["half_shank"], exact["trunk_center"]
    parts = [(exact["hip_mass"], 0, [x, z], th),
             (exact["trunk_mass"], exact["trunk_inertia"] - exact["trunk_mass"] * rho**2,
              [x + rho * sympy.sin(th), z + rho * sympy.cos(th)], th)]
    for leg in range(2):
        parts += [(exact["thigh_mass"], exact["thigh_inertia"] - exact["thigh_mass"] * a**2, below(leg, a, 0),
                   legs[2 * leg]),
                  (exact["shank_mass"], exact["shank_inertia"] - exact["shank_mass"] * s**2, below(leg, 2 * a, s),
                   legs[2 * leg + 1])]

    def rate(f):
        return sum(sympy.diff(f, p) * w for p, w in zip(q, v, strict=True))

    T = sum(m * (rate(p[0])**2 + rate(p[1])**2) / 2 + I * rate(turn)**2 / 2 for m, I, p, turn in parts)
    V = sum(m * exact["gravity"] * p[1] for m, _, p, _ in parts)
    momentum = [sympy.diff(T, w) for w in v]
    H = sympy.Matrix([[sympy.diff(p, w) for w in v] for p in momentum])
    bias = sympy.Matrix([rate(p) - sympy.diff(T - V, c) for p, c in zip(momentum, q, strict=True)])
    feet = below(0, 2 * a, 2 * s) + below(1, 2 * a, 2 * s)
    J = sympy.Matrix([[sympy.diff(f, p) for p in q] for f in feet])
    drift = sympy.Matrix([rate(rate(f)) for f in feet])
    f = sympy.lambdify([q, v], [H, bias, J, drift], "mpmath")
    return lambda q, qd: f(*[[mpmath.mpf(float(e)) for e in values] for values in (q, qd)])


def doubles(matrix):
    return np.array(matrix.tolist(), dtype=float).squeeze()


@pytest.mark.spec("S0-66")
def test_the_equations_are_those_of_the_specification_and_of_sympy(lagrange):
    np.testing.assert_allclose([BIPED.mass, *BIPED.moments[:3], BIPED.coupling], [69.0, 12.0, -3.52, -0.88, 0.3872])
    assert round(BIPED.own_inertias[1], 12) == 1.2616
    for q, qd, qdd in zip(*random_states(0, 3), strict=True):
        H, bias, J, _ = map(doubles, lagrange(q, qd))
        found = UNEQUAL.inertia_matrix(q)
        assert (found == found.T).all() and np.linalg.eigvalsh(found).min() > 0
        np.testing.assert_allclose(found, H, atol=1e-13)
        np.testing.assert_allclose(UNEQUAL.inverse_dynamics(q, qd, qdd), H @ qdd + bias, rtol=1e-12, atol=1e-11)
        np.testing.assert_allclose(UNEQUAL.feet_jacobian(q), J, atol=1e-14)
        tau, R = np.arange(4.0), np.array([3.0, 50.0, -2.0, 40.0])
        acceleration = UNEQUAL.forward_dynamics(q, qd, tau, R)
        np.testing.assert_allclose(UNEQUAL.inverse_dynamics(q, qd, acceleration), UNEQUAL.forces(q, tau, R), atol=1e-10)


@pytest.mark.spec("S0-66")
def test_half_angle_tangents_say_the_same_without_a_sine():
    q, qd, qdd = random_states(1, 20)
    y = UNEQUAL.tangents(q)
    c = y[:, 2:]
    yd = np.concatenate([qd[:, :2], (1 + c**2) / 2 * qd[:, 2:]], axis=1)
    ydd = np.concatenate([qdd[:, :2], (1 + c**2) / 2 * (qdd[:, 2:] + c * qd[:, 2:]**2)], axis=1)
    np.testing.assert_allclose(UNEQUAL.inverse_dynamics_in_tangents(y, yd, ydd), UNEQUAL.inverse_dynamics(q, qd, qdd),
                               rtol=1e-10, atol=1e-10)
    tau, R = np.arange(4.0), np.array([3.0, 50.0, -2.0, 40.0])
    found = UNEQUAL.forward_dynamics_in_tangents(y, yd, tau, R)
    acceleration = UNEQUAL.forward_dynamics(q, qd, tau, R)
    expected = (1 + c**2) / 2 * (acceleration[:, 2:] + c * qd[:, 2:]**2)
    np.testing.assert_allclose(found[:, 2:], expected, rtol=1e-10, atol=1e-9)
    counted = UNEQUAL.inverse_dynamics_in_tangents.operations()
    assert not any(word in str(counted) for word in ("sin", "cos", "sqrt"))


@pytest.mark.spec("S0-66")
@pytest.mark.parametrize("angle", [np.pi, -np.pi])
def test_a_half_turn_has_no_tangent_and_is_said(angle, lagrange):
    for j, name in enumerate(["theta", "alpha1", "beta1", "alpha2", "beta2"]):
        q, qd, qdd = (each[0] for each in random_states(2, 1))
        q[2 + j] = angle
        with pytest.raises(SingularityError, match=f"the angle {name} of the biped is a half-turn"):
            UNEQUAL.tangents([np.zeros(7), q])
        H, bias, *_ = map(doubles, lagrange(q, qd))
        np.testing.assert_allclose(UNEQUAL.inverse_dynamics(q, qd, qdd), H @ qdd + bias, rtol=1e-12, atol=1e-11)


@pytest.mark.spec("S0-66")
def test_general_tools_give_the_same_with_and_without_feet_on_the_ground(lagrange):
    T = UNEQUAL.joint_map
    arm = cy.Mechanism(UNEQUAL.tree())
    q, qd, qdd = random_states(3, 4)
    np.testing.assert_allclose(arm.inverse_dynamics(q @ T.T, qd @ T.T, qdd @ T.T) @ T,
                               UNEQUAL.inverse_dynamics(q, qd, qdd), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose([arm.pose(each @ T.T, "foot2")[[0, 2], 3] for each in q], UNEQUAL.feet(q)[:, 2:],
                               atol=1e-14)
    q, qd = standing(UNEQUAL, np.array([0.1, *LEGS]), np.array([0.4, *SWINGING]))
    tau = np.array([20.0, -3.0, -15.0, 7.0])
    forces = np.linalg.inv(T).T @ UNEQUAL.forces(q, tau, np.zeros(4))
    found = np.linalg.inv(T) @ cy.Mechanism(UNEQUAL.tree({1: 0.0})).forward_dynamics(T @ q, T @ qd, forces)
    with mpmath.workdps(50):
        H, bias, J, drift = lagrange(q, qd)
        drives = mpmath.matrix(UNEQUAL.forces(q, tau, np.zeros(4)).tolist())
        left = mpmath.zeros(9)
        for i in range(7):
            for j in range(7):
                left[i, j] = H[i, j]
            for k in range(2):
                left[i, 7 + k] = -J[k, i]
                left[7 + k, i] = J[k, i]
        right = mpmath.matrix([*(drives - bias), *[-drift[k] for k in range(2)]])
        exact = doubles(mpmath.lu_solve(left, right))
    np.testing.assert_allclose(found, exact[:7], rtol=1e-10, atol=1e-10)
    with pytest.raises(ModelError, match="not on 3"):
        UNEQUAL.tree({3: 0.0})


# Legs that move by a program


def tangents_on_the_first_foot(biped, q, qd):
    """theta(0.4) by the equations in half-angle tangents, with the first foot in the origin and legs by the program."""
    drives = np.array([biped.forces(q, row, np.zeros(4)) for row in np.eye(4)]).T

    def slope(t, state):
        legs = program(t)
        c, cd = np.concatenate([state[:1], np.tan(legs / 2)]), np.concatenate([state[1:], (1 + np.tan(legs / 2)**2) / 2
                                                                              * SWINGING])
        y = np.concatenate([[0.0, 0.0], c])
        now = np.concatenate([np.zeros(3), legs])
        J = biped.feet_jacobian(now)
        hip_rate = -J[:2, 3:] @ SWINGING
        pulls = np.array([biped.half_thigh, biped.half_shank]) * SWINGING[:2]**2
        hip_acceleration = -2 * np.array([pulls @ np.sin(legs[:2]), pulls @ np.cos(legs[:2])])
        curved = 2 * c * cd**2 / (1 + c**2)  # cdd of angles that turn steadily
        yd = np.concatenate([hip_rate, cd])
        ydd = np.concatenate([hip_acceleration, [0.0], curved[1:]])
        known = biped.inverse_dynamics_in_tangents(y, yd, ydd)
        by_trunk = biped.inverse_dynamics_in_tangents(y, yd, ydd + np.eye(7)[2]) - known
        left = np.concatenate([by_trunk[:, None], -drives, -J[:2].T], axis=1)
        return [state[1], np.linalg.solve(left, -known)[0]]

    start = [np.tan(q[2] / 2), (1 + np.tan(q[2] / 2)**2) / 2 * qd[2]]
    return 2 * np.arctan(solve_ivp(slope, (0.0, 0.4), start, rtol=1e-11, atol=1e-12).y[0, -1])


@pytest.mark.spec("S0-67")
def test_single_support_of_the_specification():
    q, qd = standing(BIPED, np.array([0.1, *LEGS]), np.array([0.0, *SWINGING]))
    qdd, torques, reactions = BIPED.first_support(q, qd, np.zeros(4))
    np.testing.assert_allclose([qdd[2], *torques, *reactions],
                               [8.44277468, 13.58895101, -3.61305260, -20.86663376, -9.76778391, 93.96545424,
                                646.78514062, 0, 0], atol=1e-8)
    assert abs(BIPED.energy(q, qd) - 627.84278) < 1e-5
    np.testing.assert_allclose(BIPED.inverse_dynamics(q, qd, qdd), BIPED.forces(q, torques, reactions), atol=1e-11)
    run = BIPED.gait(program).simulate({"body": q[:3], "rates": qd[:3], "phase": "first support"},
                                       times=[0.0, 0.2, 0.4], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose([run["q"][-1, 2], run["qd"][-1, 2], *run["reactions"][-1, :2]],
                               [0.56743968, 1.99655832, 9.75577274, 594.28999034], atol=1e-7)
    assert np.abs(run["feet"][:, :2]).max() < 1e-12
    knees = run["qd"][:, [4, 6]] - run["qd"][:, [3, 5]]
    hips = run["qd"][:, [3, 5]] - run["qd"][:, [2]]
    power = (run["torques"] * np.concatenate([knees, hips], axis=1)).sum(-1)
    assert abs(power[1] + 6.666586) < 1e-5
    assert np.abs(run.energy_drift).max() < 1e-8
    in_tangents = tangents_on_the_first_foot(BIPED, q, qd)
    np.testing.assert_allclose(in_tangents, 0.56743968, atol=1e-7)
    mirrored = BIPED.second_support(q[[0, 1, 2, 5, 6, 3, 4]], qd[[0, 1, 2, 5, 6, 3, 4]], np.zeros(4))
    np.testing.assert_allclose(mirrored[2], reactions[[2, 3, 0, 1]], atol=1e-11)


@pytest.mark.spec("S0-67")
def test_momenta_in_flight():
    q = np.array([0.0, 1.0, 0.1, *LEGS])
    qd = np.array([0.5, 1.0, 0.3, *SWINGING])
    run = BIPED.gait(program).simulate({"body": q[:3], "rates": qd[:3]}, times=np.linspace(0, 0.3, 7), rtol=3e-14,
                                       atol=1e-15)
    np.testing.assert_allclose(run.end["body"], [0.15042277, 0.85513339, 0.18868788], atol=1e-8)
    momentum = np.einsum("tij,tj->ti", BIPED.inertia_matrix(run["q"]), run["qd"])
    np.testing.assert_allclose(momentum[:, 0], 37.2335606674, atol=1e-9)
    np.testing.assert_allclose(momentum[:, 1] + BIPED.mass * 9.81 * run.t, 66.7140570178, atol=1e-9)
    angles = run["q"][:, 2:]
    center = (np.array(BIPED.moments) * np.sin(angles)).sum(1), (np.array(BIPED.moments) * np.cos(angles)).sum(1)
    spin = momentum[:, 2:].sum(1) - (center[1] * momentum[:, 0] - center[0] * momentum[:, 1]) / BIPED.mass
    np.testing.assert_allclose(spin, 1.8901023043, atol=1e-9)
    assert np.ptp(momentum[:, 0]) < 1e-14 * 69 and np.ptp(spin) < 1e-13


@pytest.mark.spec("S0-67")
def test_momenta_do_not_change_at_all_in_the_equations_of_flight():
    for q, qd, legs in zip(*random_states(5, 5), strict=True):
        qdd, torques, reactions = UNEQUAL.flight(q, qd, legs[:4])
        Q = UNEQUAL.inverse_dynamics(q, qd, qdd)
        assert np.abs(Q[:2]).max() < 1e-12 and abs(Q[2:].sum()) < 1e-12 and (reactions == 0).all()
        np.testing.assert_allclose(Q, UNEQUAL.forces(q, torques, reactions), atol=1e-11)


@pytest.mark.spec("S0-67")
def test_double_support_needs_two_relations():
    q, qd = standing(BIPED, np.array([0.1, 0.3, 0.1, -0.3, -0.35]), np.zeros(5))
    legs = np.array([0.5, -0.4, 0.3, -0.2])
    J = BIPED.feet_jacobian(q)
    legs[2:] += np.linalg.solve(J[2:, 5:], J[:2, 3:5] @ legs[:2] - J[2:, 5:] @ legs[2:])  # both feet at rest
    np.testing.assert_allclose(BIPED.opening_rates(q, qd, legs), 0, atol=1e-14)
    with pytest.raises(GeometryError, match="moves the feet apart"):
        BIPED.double_support_with_least_torques(q, qd, legs + np.array([0, 0, 0, 1e-3]))
    share = np.zeros((2, 9))
    share[0, [6, 8]] = 0.4, -0.6  # R1z : R2z = 0.6 : 0.4
    share[1, 7] = 1.0  # R2x = -20 N
    qdd, torques, reactions = BIPED.double_support(q, qd, legs, share, [0.0, -20.0])
    np.testing.assert_allclose(BIPED.inverse_dynamics(q, qd, qdd), BIPED.forces(q, torques, reactions), atol=1e-10)
    np.testing.assert_allclose(J @ qdd, 0, atol=1e-12)
    assert abs(reactions[2] + 20) < 1e-11 and abs(0.4 * reactions[1] - 0.6 * reactions[3]) < 1e-10
    drives = np.array([BIPED.forces(q, row, np.zeros(4)) for row in np.eye(4)]).T
    equations = np.concatenate([BIPED.inertia_matrix(q)[:, [2]], -drives, -J.T], axis=1)
    assert equations.shape == (7, 9) and np.linalg.matrix_rank(equations) == 7
    free = np.linalg.svd(equations)[2][7:].T
    qdd, torques, reactions = BIPED.double_support_with_least_torques(q, qd, legs)
    np.testing.assert_allclose(BIPED.inverse_dynamics(q, qd, qdd), BIPED.forces(q, torques, reactions), atol=1e-10)
    np.testing.assert_allclose(torques @ free[1:5], 0, atol=1e-10)  # no way to share the load lowers them


@pytest.mark.spec("S0-67")
def test_a_foot_takes_off_where_its_normal_force_ends():
    """Legs that pull up ever faster lift the foot; from there on the momentum is that of a flight."""
    def crouch(t):
        bend = 2 * np.arctan(0.2 + 6.0 * t**2)  # a half-angle tangent that is a polynomial
        return np.stack([-bend, bend, -bend, bend])

    gait = BIPED.gait(crouch)
    angles = np.array([0.0, *np.array([-1, 1, -1, 1]) * 2 * np.arctan(0.2)])
    q, qd = standing(BIPED, angles, np.zeros(5))
    start = {"body": q[:3], "rates": qd[:3], "phase": "first support"}
    run = gait.simulate(start, until=0.3, rtol=1e-10, atol=1e-11)
    assert [each.name for each in run.happened] == ["take-off of foot1"]
    instant = run.happened[0].t
    assert (run["reactions"][run.t < instant, 1] > 0).all() and (run["reactions"][run.t > instant] == 0).all()
    momentum = np.einsum("tij,tj->ti", BIPED.inertia_matrix(run["q"]), run["qd"])[run.t > instant, 1]
    np.testing.assert_allclose(np.diff(momentum), -BIPED.mass * 9.81 * np.diff(run.t[run.t > instant]), atol=1e-6)
    with pytest.raises(GeometryError, match="ground that would have to pull"):
        BIPED.gait(lambda t: crouch(2 * t)).simulate(start, until=0.1)
    rolled = gait.rollout()(start, step=1e-3, steps=300)
    assert abs(rolled.happened[0].t - instant) < 1e-7
    np.testing.assert_allclose(rolled.end["body"], run.end["body"], atol=1e-7)


@pytest.mark.spec("S0-85")
def test_massless_legs_are_the_limit():
    """The body alone gives the reactions, statics of the leg the torques."""
    bare = replace(BIPED, thigh_mass=0.0, shank_mass=0.0, thigh_inertia=0.0, shank_inertia=0.0)
    q, qd = standing(bare, np.array([0.1, *LEGS]), np.array([0.2, *SWINGING]))
    qdd, torques, R = bare.first_support(q, qd, np.array([1.0, -2.0, 3.0, 0.5]))
    body = bare.mass * qdd[:2] + 12.0 * (qdd[2] * np.array([np.cos(0.1), -np.sin(0.1)])
                                         - qd[2]**2 * np.array([np.sin(0.1), np.cos(0.1)]))
    np.testing.assert_allclose(R[:2], body + np.array([0, bare.mass * 9.81]), atol=1e-10)
    a, b = 2 * bare.half_thigh, 2 * bare.half_shank
    knee = b * (R[0] * np.cos(q[4]) - R[1] * np.sin(q[4]))
    hip = knee + a * (R[0] * np.cos(q[3]) - R[1] * np.sin(q[3]))
    np.testing.assert_allclose(torques, [knee, 0, hip, 0], atol=1e-10)
    with pytest.raises(SingularityError, match="links of the biped have no inertia"):
        bare.forward_dynamics(q, qd, torques, R)
    with pytest.raises(ModelError, match="thigh_inertia"):
        PlanarBiped(thigh_inertia=0.1)
    with pytest.raises(ModelError, match="trunk_mass"):
        PlanarBiped(trunk_mass=-1.0)


def test_light_legs_have_accelerations_and_massless_ones_none():
    """It is beside its own links that an inertia is nothing: legs of a microgram follow the forces on them."""
    for legs in (1e-9, 1e-13):
        light = replace(BIPED, **{name: legs * getattr(BIPED, name) for name in (
            "thigh_mass", "shank_mass", "thigh_inertia", "shank_inertia")})
        q, qd = standing(light, np.array([0.1, *LEGS]), np.array([0.2, *SWINGING]))
        qdd, torques, R = light.first_support(q, qd, np.array([1.0, -2.0, 3.0, 0.5]))
        there = light.forward_dynamics(q, qd, torques, R)
        np.testing.assert_allclose(light.inverse_dynamics(q, qd, there), light.inverse_dynamics(q, qd, qdd), atol=1e-9)


# Feet that meet the ground


def test_an_impact_keeps_the_balance_of_momenta_and_loses_what_the_closed_form_says():
    for q, qd, _ in zip(*random_states(6, 5), strict=True):
        for on in ([1.0, 0.0], [0.0, 1.0], [1.0, 1.0]):
            after, impulse = UNEQUAL.impact(q, qd, on)
            rows = np.repeat(np.array(on) == 1, 2)
            H, J = UNEQUAL.inertia_matrix(q), UNEQUAL.feet_jacobian(q)
            np.testing.assert_allclose(H @ (after - qd), J.T @ impulse, atol=1e-10)
            assert np.abs(J[rows] @ after).max() < 1e-11 and (impulse[~rows] == 0).all()
            slip = J[rows] @ qd
            lost = slip @ np.linalg.solve(J[rows] @ np.linalg.solve(H, J[rows].T), slip) / 2
            assert abs(UNEQUAL.energy(q, qd) - UNEQUAL.energy(q, after) - lost) < 1e-9
    upright = np.array([0.0, 0.88, 0.0, 0.0, 0.0, 0.0, 0.0])
    fall = np.array([0.0, -2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    after, impulse = BIPED.impact(upright, fall, [1.0, 0.0])  # everything is above the foot: all energy is lost
    np.testing.assert_allclose(after, 0, atol=1e-13)
    np.testing.assert_allclose(impulse, [0, 138.0, 0, 0], atol=1e-11)


# Contacts that come and go


@pytest.fixture(scope="module")
def walker():
    return UNEQUAL.system()


@pytest.fixture(scope="module")
def on_both_feet():
    """A start at rest on both feet, and the torques that share the load there."""
    q, qd = standing(UNEQUAL, np.array([0.0, -0.3, 0.1, 0.2, 0.4]), np.zeros(5))
    q[6] = np.arccos((q[1] - 0.4 * np.cos(q[5])) / 0.48)
    feet = UNEQUAL.feet(q)
    assert np.abs(feet[[1, 3]]).max() < 1e-14
    torques = UNEQUAL.double_support_with_least_torques(q, qd, np.zeros(4))[1]
    return {"q": q, "qd": qd, "places": feet, "foot1": "ground", "foot2": "ground"}, torques


def test_steps_in_time_and_in_compiled_batches(walker):
    q = np.array([[0.0, 0.95, 0.05, 0.2, 0.1, -0.2, -0.3], [0.0, 0.93, 0.0, 0.3, 0.0, -0.4, -0.5]])
    qd = np.array([[0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.3, 0.1, 0.0, -0.5, 0.0, 0.5, 0.0]])
    start = {"q": q, "qd": qd, "places": np.zeros(4), "foot1": "air", "foot2": "air"}
    rolled = walker.rollout()(start, step=1e-3, steps=300)
    assert rolled.finished and np.abs(rolled.energy_drift).max() < 1e-5
    for k in range(2):
        one = {**start, "q": q[k], "qd": qd[k]}
        run = walker.simulate(one, until=0.3)
        assert np.abs(run.energy_drift).max() < 1e-6  # what an impact takes is booked as work
        assert [each.name for each in rolled[k].happened] == [each.name for each in run.happened]
        assert len(run.happened) >= 2 and any("touch-down" in each.name for each in run.happened)
        np.testing.assert_allclose([each.t for each in rolled[k].happened], [each.t for each in run.happened],
                                   atol=1e-6)
        np.testing.assert_allclose(rolled[k].end["q"], run.end["q"], atol=1e-6)
        trace = rolled[k]
        feet_qd = np.einsum("tij,tj->ti", UNEQUAL.feet_jacobian(trace["q"]), trace["qd"])
        for foot in range(2):
            on = np.asarray(trace[f"foot{foot + 1}"]) == 1
            rows = slice(2 * foot, 2 * foot + 2)
            assert on.any() and np.abs(trace["feet"][on, 2 * foot + 1]).max() < 1e-12
            assert np.abs(feet_qd[on, rows]).max() < 1e-12
            assert (trace["reactions"][on, 2 * foot + 1] > -1e-9).all()
            assert (trace["feet"][~on, 2 * foot + 1] > -1e-9).all()


@pytest.mark.parametrize("standing_feet", [("ground", "air"), ("air", "ground"), ("ground", "ground")])
def test_reactions_are_the_multipliers_of_lagrange(walker, lagrange, on_both_feet, standing_feet):
    start, torques = on_both_feet
    q, qd = start["q"], start["qd"]
    begun = walker.simulate({**start, "foot1": standing_feet[0], "foot2": standing_feet[1]}, times=[0.0, 1e-4],
                            inputs={"tau": torques})
    rows = [row for row in range(4) if standing_feet[row // 2] == "ground"]
    with mpmath.workdps(50):
        H, bias, J, drift = lagrange(q, qd)
        size = 7 + len(rows)
        left = mpmath.zeros(size)
        left[:7, :7] = H
        for k, row in enumerate(rows):
            for i in range(7):
                left[i, 7 + k] = -J[row, i]
                left[7 + k, i] = J[row, i]
        Q = mpmath.matrix(UNEQUAL.forces(q, torques, np.zeros(4)).tolist())
        exact = doubles(mpmath.lu_solve(left, mpmath.matrix([*(Q - bias), *[-drift[row] for row in rows]])))
    np.testing.assert_allclose(begun["reactions"][0, rows], exact[7:], rtol=1e-10, atol=1e-9)


def test_legs_that_push_take_off_and_fly(walker, on_both_feet):
    start, torques = on_both_feet
    ramp = np.array([568.0, 290.0, 337.0, 466.0])
    run = walker.simulate(start, until=0.2, inputs={"tau": lambda t, *x: torques + ramp * t}, rtol=1e-10, atol=1e-11)
    assert run.finished
    assert [each.name for each in run.happened] == ["take-off of foot1", "take-off of foot2"]
    assert run["feet"][:, [1, 3]].min() > -1e-12
    flies = run.t > run.happened[1].t + 1e-9
    assert (run["reactions"][~flies][:, [1, 3]] > -1e-8).all() and (run["reactions"][flies] == 0).all()
    momentum = np.einsum("tij,tj->ti", UNEQUAL.inertia_matrix(run["q"]), run["qd"])[flies]
    np.testing.assert_allclose(momentum[:, 0], momentum[0, 0], atol=1e-7)
    np.testing.assert_allclose(np.diff(momentum[:, 1]), -UNEQUAL.mass * 9.7 * np.diff(run.t[flies]), atol=1e-7)


def test_what_would_slide_or_be_pulled_is_said(walker, on_both_feet):
    start, torques = on_both_feet
    ramp = np.array([50.0, -53.0, 256.0, 42.0])
    run = walker.simulate(start, until=0.2, inputs={"tau": lambda t, *x: torques + ramp * t})
    assert run.status == "singular" and "foot2 would have to slide" in run.message
    with pytest.raises(GeometryError, match="ground that would have to pull"):
        walker.simulate(start, until=0.1, inputs={"tau": [0.0, 900.0, 0.0, 0.0]})
    with pytest.raises(GeometryError, match="feet that stand"):
        walker.simulate({**start, "places": start["places"] + 0.1}, until=0.1)


def test_feet_do_not_start_below_the_ground(walker):
    """They were lifted onto it, and the biped with them."""
    low = {"q": [0.0, 0.2, 0.0, 0.0, 0.0, 0.1, 0.1], "qd": np.zeros(7)}
    with pytest.raises(GeometryError, match=r"'foot that is below the ground' is 0\.9"):
        walker.simulate(low, until=0.1)
    with pytest.raises(GeometryError, match=r"'foot that is below the ground' is 0\.9"):
        walker.rollout()(low, step=1e-3, steps=10)
    flies = {"body": [0.0, 0.2, 0.0], "rates": np.zeros(3), "phase": "flight"}

    def legs(t):
        return 0.2 * t, 0.2 * t, -0.2 * t, -0.2 * t

    with pytest.raises(GeometryError, match="'foot that is below the ground'"):
        BIPED.gait(legs, ground=0.0).simulate(flies, until=0.1)
    assert BIPED.gait(legs, ground=-2.0).simulate(flies, until=0.1).status == "finished"


def held_posture(q, torques):
    """A law that keeps the relative angles of knees and hips, and sways."""
    relative = np.eye(7)[[4, 6, 3, 5]] - np.eye(7)[[3, 5, 2, 2]]

    def output(t, x, u, p):
        return (torques - 600.0 * (relative @ (u.q - q)) - 40.0 * (relative @ u.qd)
                + np.array([0.0, 0.0, 1.0, 1.0]) * p.sway * np.sin(3.0 * t))

    return cy.System("posture", inputs={"q": 7, "qd": 7}, outputs={"tau": (4, "N m")}, output=output,
                     parameters={"sway": 4.0})


def test_feet_stay_where_they_stand_and_friction_that_ends_is_named(on_both_feet):
    """A walker under a law that sways it: a hundred thousand steps; swaying ever more, until a foot would slide."""
    start, torques = on_both_feet
    firm = UNEQUAL.system(friction=0.6)
    loop = cy.connect(firm, held_posture(start["q"], torques))
    roll = loop.rollout(parameters=["sway"])
    swaying = roll(start, step=1e-4, steps=100_000, every=200, parameters={"sway": [2.0, 4.0, 8.0]})
    assert swaying.finished and np.ptp(swaying["q"], axis=-2).max() > 0.03
    assert np.abs(swaying["feet"] - start["places"]).max() < 1e-12
    speeds = np.einsum("...ij,...j->...i", UNEQUAL.feet_jacobian(swaying["q"]), swaying["qd"])
    assert np.abs(speeds).max() < 1e-12 and np.abs(swaying.energy_drift).max() < 1e-9
    wild = {"sway": 150.0}
    run = loop.simulate(start, until=2.0, parameters=wild)
    assert run.status == "singular" and "would have to slide" in run.message
    foot = int(run.happened[-1].name.split("foot")[1][0]) - 1
    last = run["reactions"][-1, 2 * foot:2 * foot + 2]
    assert "by friction" in run.happened[-1].name and abs(abs(last[0]) - 0.6 * last[1]) < 1e-4
    rolled = roll(start, step=1e-3, steps=2000, parameters=wild)
    assert rolled.happened[-1].name == run.happened[-1].name and "would have to slide" in rolled.message
    assert abs(rolled.happened[-1].t - run.happened[-1].t) < 1e-7
    with pytest.raises(GeometryError, match=r"'force \[N\] by which friction does not hold foot[12]' is \d"):
        UNEQUAL.system(friction=0.01).simulate(start, until=0.1, inputs={"tau": torques})
    with pytest.raises(ModelError, match="coefficient of friction"):
        UNEQUAL.system(friction=np.nan)


def test_a_foot_that_comes_down_askew_slides(walker):
    """What is a touch-down on rough ground is a slip where friction does not hold the impulse."""
    start = {"q": [0.0, 0.95, 0.05, 0.2, 0.1, -0.2, -0.3], "qd": [1.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]}
    rough = walker.simulate(start, until=0.2)
    assert rough.happened[0].name == "touch-down of foot1"
    met = rough.at(rough.happened[0].t - 1e-10)
    impulses = UNEQUAL.impact(met.q, met.qd, [1.0, 0.0])[1]
    needed = abs(impulses[0]) / impulses[1]
    slips = UNEQUAL.system(friction=0.99 * needed).simulate(start, until=0.2)
    assert [each.name for each in slips.happened] == ["slip of foot1"] and slips.status == "singular"
    assert abs(slips.happened[0].t - rough.happened[0].t) < 1e-9


# In the catalogue, drawn, and as a file


def test_the_biped_of_the_catalogue_is_the_same_walker(tmp_path):
    robot = cy.load("biped")
    T = BIPED.joint_map
    for q, qd, qdd in zip(*random_states(9, 3), strict=True):
        lowered = q - 0.88 * np.eye(7)[1]  # upright with both feet on the ground at zero
        np.testing.assert_allclose(robot.inverse_dynamics(T @ lowered, T @ qd, T @ qdd) @ T,
                                   BIPED.inverse_dynamics(q, qd, qdd), rtol=1e-11, atol=1e-10)
        np.testing.assert_allclose([robot.pose(T @ lowered, f"foot{k}")[[0, 2], 3] for k in (1, 2)],
                                   BIPED.feet(q).reshape(2, 2), atol=1e-14)
    np.testing.assert_allclose(robot.pose(np.zeros(7), "foot1")[:3, 3], 0, atol=1e-15)
    assert robot.tree.actuated == ("hip1", "knee1", "hip2", "knee2")
    ours = cy.Mechanism(UNEQUAL.tree({1: 0.1}))
    ours.save(str(tmp_path / "walker.toml"))
    again = cy.load(str(tmp_path / "walker.toml"))
    q, qd = standing(UNEQUAL, np.array([0.1, *LEGS]), np.array([0.4, *SWINGING]))
    q[0] += 0.1
    assert again.loops.mobility == 5
    np.testing.assert_array_equal(again.forward_dynamics(T @ q, T @ qd, np.zeros(7)),
                                  ours.forward_dynamics(T @ q, T @ qd, np.zeros(7)))


def test_the_biped_is_drawn_with_its_trunk_on_the_ground_and_played(tmp_path):
    robot = cy.Mechanism(BIPED.tree())
    q, _ = standing(BIPED, np.array([0.1, *LEGS]), np.zeros(5))
    steps = np.stack([q + 0.1 * k * np.eye(7)[0] for k in range(3)]) @ BIPED.joint_map.T
    ax = robot.draw(steps)
    lines = {line.get_label(): line.get_xydata() for line in ax.lines}
    trunk = lines["_trunk"]
    head = q[:2] + 0.2 * np.eye(2)[0] + 0.6 * np.array([np.sin(0.1), np.cos(0.1)])
    assert min(np.abs(trunk - head).max(axis=1)) < 1e-9
    assert np.abs(lines["_ground"][:, 1]).max() == 0 and np.ptp(lines["_ground"][:, 0]) > 0.5
    assert robot.animate((np.array([0.0, 0.1, 0.2]), steps), tmp_path / "steps.gif").stat().st_size > 1000
