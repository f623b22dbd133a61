"""Walking by plan: strides with double support, against Newton and Euler link by link, momentum theorems, closed forms
and MuJoCo."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import cayley as cy
from cayley.errors import (
    ConventionError,
    GeometryError,
    ModelError,
    SignatureError,
    SingularityError,
    UnreachableError,
    UnsupportedError,
)
from cayley.machines import PlanarBiped, led_trunk, shared_load, shared_thrust
from cayley.planning import Polynomials, Together, cubic_spline, rotation_spline
from machines.newton_euler_of_bipeds import energy_rate, moment, momenta, reactions_and_torques

BIPED = PlanarBiped()
UNEQUAL = PlanarBiped(3.0, 31.0, 6.0, 3.5, 0.2, 0.24, 0.28, 4.0, 0.31, 0.26, 9.7)
SWING, BOTH, STEP = 0.45, 0.12, 0.4
STRIDE = SWING + BOTH
PHASES = [("first support", SWING), ("double support", BOTH)]
UNKNOWNS = ("thetadd", "u1", "u2", "q1", "q2", "R1x", "R1z", "R2x", "R2z")


def walking_legs(biped, height=0.8, lift=0.06):
    """The hip moves on at one speed and height; the second foot swings from a step behind the first to a step ahead."""
    def legs(s):
        r = np.minimum(s / SWING, 1.0)
        hip = np.stack([STEP * (s / STRIDE - 0.5), height + 0.0 * s])
        swing = np.stack([-STEP + 2 * STEP * r**3 * (10 - 15 * r + 6 * r**2), 64 * lift * r**3 * (1 - r)**3])
        return biped.leg_angles(hip, np.concatenate([np.zeros(2), swing]))

    return legs


LEAN = led_trunk(lambda s: 0.164 + 0.5 * (s - STRIDE), stiffness=70.0, damping=17.0)


@pytest.fixture(scope="module")
def stride():
    return BIPED.stride(walking_legs(BIPED), PHASES, relations=[LEAN], friction=0.6)


@pytest.fixture(scope="module")
def repeating(stride):
    return stride.repeating(0.16, 0.5)


@pytest.fixture(scope="module")
def walk(stride, repeating):
    """Two strides, at instants of Gauss' quadrature within each phase."""
    nodes, _ = np.polynomial.legendre.leggauss(40)
    ends = np.cumsum([0.0, SWING, BOTH, SWING, BOTH])
    times = np.concatenate([a + (b - a) * (1 + nodes) / 2 for a, b in pairwise(ends)])
    run = stride.system.simulate(repeating.start, times=np.concatenate([[0.0], times]), rtol=1e-12, atol=1e-13)
    return run, ends


# Each instant


def one_state(seed, biped, feet=(True, False)):
    """q and qd with feet at rest, and the accelerations of the legs."""
    random = np.random.default_rng(seed)
    q = np.array([0.3, 0.0, *random.uniform(-0.5, 0.5, 5)])
    qd = np.array([0.0, 0.0, *random.normal(size=5)])
    legs = random.normal(size=4)
    if all(feet):
        q[1:] = 0.75, 0.2, *biped.leg_angles([0.3, 0.75], [0.1, 0.0, 0.5, 0.0])
        J = biped.feet_jacobian(q)
        qd[5:] = np.linalg.solve(J[2:, 5:], J[:2, 3:5] @ qd[3:5])
        drift = -biped.opening_rates(q, qd, np.zeros(4))[2:]
        legs[2:] = np.linalg.solve(J[2:, 5:], J[:2, 3:5] @ legs[:2] + drift)
    if any(feet):
        rows = slice(0, 2) if feet[0] else slice(2, 4)
        qd[:2] -= (biped.feet_jacobian(q) @ qd)[rows]
    return q, qd, legs


@pytest.mark.spec("S0-67", "S0-80")
@pytest.mark.parametrize("phase", ["flight", "first_support", "second_support", "double"])
def test_body_torques_and_reactions_are_those_of_newton_and_euler(phase):
    feet = {"flight": (False, False), "first_support": (True, False), "second_support": (False, True),
            "double": (True, True)}[phase]
    for seed in range(4):
        q, qd, legs = one_state(seed, UNEQUAL, feet)
        if phase == "double":
            relations = ((np.zeros((0, 9)), []), ([np.eye(9)[0]], [0.7]), (np.eye(9)[[5, 8]], [9.0, 99.0]))
            ways = [UNEQUAL.double_support(q, qd, legs, rows, values) for rows, values in relations]
            least = UNEQUAL.double_support_with_least_torques(q, qd, legs)
            np.testing.assert_allclose(ways[0][1], least[1], atol=1e-11)
            assert abs(ways[1][0][2] - 0.7) < 1e-12 and abs(ways[2][2][0] - 9) < 1e-10 > abs(ways[2][2][3] - 99)
        else:
            ways = [getattr(UNEQUAL, phase)(q, qd, legs)]
        for qdd, torques, reactions in ways:
            force, turning, expected = reactions_and_torques(UNEQUAL, q, qd, qdd, reactions)
            at = UNEQUAL.feet(q).reshape(2, 2)
            np.testing.assert_allclose(reactions[:2] + reactions[2:], force, atol=1e-10)
            np.testing.assert_allclose(moment(at, reactions.reshape(2, 2)).sum(), turning, atol=1e-10)
            np.testing.assert_allclose(torques, expected, atol=1e-10)
            np.testing.assert_array_equal(reactions[np.repeat(feet, 2) == 0], 0.0)
            power = torques @ [qd[4] - qd[3], qd[6] - qd[5], qd[3] - qd[2], qd[5] - qd[2]]
            assert abs(energy_rate(UNEQUAL, q, qd, qdd) - power) < 1e-12 * (1 + np.abs(torques).max() * 10)


@pytest.mark.spec("S0-67")
def test_three_phases_have_as_many_unknowns_as_the_source_counts():
    q, qd, legs = one_state(0, UNEQUAL, (True, True))
    drives = np.array([UNEQUAL.forces(q, row, np.zeros(4)) for row in np.eye(4)]).T
    H, J = UNEQUAL.inertia_matrix(q), UNEQUAL.feet_jacobian(q)
    for columns in ([H[:, :3], -drives], [H[:, [2]], -drives, -J[:2].T], [H[:, [2]], -drives, -J.T]):
        equations = np.concatenate(columns, axis=1)
        assert equations.shape[1] in (7, 9) and np.linalg.matrix_rank(equations) == 7
    with pytest.raises(SignatureError, match="two relations"):
        UNEQUAL.double_support(q, qd, legs, np.eye(9)[:3], np.zeros(3))
    assert not np.isfinite(UNEQUAL.double_support(q, 0 * qd, np.zeros(4), np.eye(9)[[0, 0]], np.zeros(2))[1]).any()
    for rows in (np.eye(9)[[6, 6]], np.outer([1.0, 0.3], np.arange(1.0, 10.0))):  # the same, but for rounding
        for values in ([1.0, 2.0], [1.0, 0.3]):
            assert np.isnan(UNEQUAL.double_support(q, 0 * qd, np.zeros(4), rows, values)[2]).any()


@pytest.mark.spec("S0-85")
@pytest.mark.parametrize("phase", ["flight", "first_support", "double_support_with_least_torques"])
def test_massless_legs_are_the_limit_of_light_ones(phase):
    """The body alone gives the reactions, statics of the legs the torques; light legs come to it as their mass."""
    bare = replace(UNEQUAL, thigh_mass=0.0, shank_mass=0.0, thigh_inertia=0.0, shank_inertia=0.0)
    feet = {"flight": (False, False), "first_support": (True, False)}.get(phase, (True, True))
    q, qd, legs = one_state(5, bare, feet)
    qdd, torques, R = getattr(bare, phase)(q, qd, legs)
    upper = bare.hip_mass + bare.trunk_mass
    static = bare.trunk_mass * bare.trunk_center
    s, c = np.sin(q[2]), np.cos(q[2])
    body = upper * qdd[:2] + static * (qdd[2] * np.array([c, -s]) - qd[2]**2 * np.array([s, c]))
    np.testing.assert_allclose(R[:2] + R[2:], body + np.array([0, upper * bare.gravity]), atol=1e-10)
    arms = [(q[:2] - UNEQUAL.feet(q)[2 * leg:2 * leg + 2]) for leg in range(2)]
    knees = [2 * bare.half_shank * np.array([np.sin(q[4 + 2 * leg]), np.cos(q[4 + 2 * leg])]) for leg in range(2)]
    expected = [moment(arm[leg], R[2 * leg:2 * leg + 2]) for arm in (knees, arms) for leg in range(2)]
    np.testing.assert_allclose(torques, expected, atol=1e-10)
    off = []
    for light in (1e-3, 1e-6):
        near = replace(UNEQUAL, thigh_mass=light, shank_mass=light, thigh_inertia=light * UNEQUAL.half_thigh**2 * 1.3,
                       shank_inertia=light * UNEQUAL.half_shank**2 * 1.3)
        off.append(max(np.abs(a - b).max() for a, b in zip(getattr(near, phase)(q, qd, legs), (qdd, torques, R),
                                                          strict=True)))
    assert 1e-8 < off[1] < 2e-3 * off[0] < 1e-2
    with pytest.raises(SingularityError, match="no inertia"):
        bare.system()


# Programs of legs


@pytest.mark.spec("S0-67")
def test_legs_follow_from_hip_and_feet():
    random = np.random.default_rng(3)
    hip = np.stack([random.normal(size=50), random.uniform(0.6, 0.75, 50)], axis=1)
    feet = np.concatenate([hip + random.uniform(-0.3, 0.3, (50, 2)) - [0, 0.45] for _ in range(2)], axis=1)
    for knees, sign in (("forward", 1), ("backward", -1)):
        angles = UNEQUAL.leg_angles(hip, feet, knees=knees)
        q = np.concatenate([hip, np.zeros((50, 1)), angles], axis=1)
        np.testing.assert_allclose(UNEQUAL.feet(q), feet, atol=1e-13)
        assert (sign * np.sin(angles[:, 1::2] - angles[:, ::2]) > 0).all()
    with pytest.raises(UnreachableError, match=r"foot2 would be 1.2 m from the hip: its leg reaches from 0.08 m to"):
        UNEQUAL.leg_angles([0.0, 1.2], [0.0, 0.5, 0.0, 0.0])
    with pytest.raises(UnreachableError, match="foot1 would be 0 m"):
        BIPED.leg_angles([0.0, 1.2], [0.0, 1.2, 0.0, 0.6])
    with pytest.raises(ConventionError, match="forward or backward"):
        UNEQUAL.leg_angles([0.0, 1.2], [0.0, 0.5, 0.0, 0.6], knees="inwards")


@pytest.mark.spec("S0-67")
def test_a_planned_motion_is_a_program_as_a_function_is():
    """Polynomials in pieces, with rates and accelerations of their own; a kink of the third derivative between them."""
    def program(t):
        late = np.maximum(t - 0.2, 0.0)
        return np.array([0.3, 0.1, -0.2, -0.45]) + np.array([-0.8, -0.5, 0.9, 1.1]) * t + late**3

    first = np.stack([program(0.0), [-0.8, -0.5, 0.9, 1.1], np.zeros(4), np.zeros(4)])
    then = np.stack([program(0.2), [-0.8, -0.5, 0.9, 1.1], np.zeros(4), np.ones(4)])
    move = Polynomials(np.array([0.0, 0.2, 0.5]), np.stack([first, then]))
    np.testing.assert_allclose(move(0.4).q, program(0.4), atol=1e-15)
    start = BIPED.stance(move, theta=0.1)
    assert all(np.array_equal(start[name], BIPED.stance(program, theta=0.1)[name]) for name in start)
    run = BIPED.gait(move).simulate(start, until=0.4, rtol=1e-11, atol=1e-12)
    second = np.outer(6 * np.maximum(run.t - 0.2, 0.0), np.ones(4))
    _, torques, reactions = BIPED.first_support(run["q"], run["qd"], second)
    np.testing.assert_allclose(run["q"][:, 3:], np.array([program(t) for t in run.t]), atol=1e-14)
    np.testing.assert_allclose(run["torques"], torques, atol=1e-9)
    np.testing.assert_allclose(run["reactions"], reactions, atol=1e-9)
    assert np.abs(run.energy_drift).max() < 1e-8
    with pytest.raises(SignatureError, match=r"four angles.* not values of the shapes \(\), \(\)"):
        BIPED.gait(lambda t: (t, t))
    with pytest.raises(ModelError, match="foot 1 or 2"):
        BIPED.stance(program, theta=0.0, foot=3)


@pytest.mark.spec("S0-67")
def test_splines_of_rotations_are_programs():
    """Each link's orientation is a curve through rotations about y; in flight, momentum is kept along it."""
    t = np.array([0.0, 0.1, 0.25, 0.4])
    angles = np.array([[0.3, 0.1, -0.2, -0.45], [0.22, 0.05, -0.1, -0.34], [0.1, -0.03, 0.0, -0.2],
                       [0.0, -0.1, 0.16, 0.0]])
    curves = [rotation_spline(t, np.stack([np.cos(each / 2), 0 * t, np.sin(each / 2), 0 * t], axis=1))
              for each in angles.T]
    gait = UNEQUAL.gait(Together(curves))
    run = gait.simulate({"body": [0.0, 1.0, 0.1], "rates": [0.5, 1.0, 0.3]}, times=t, rtol=3e-14, atol=1e-15)
    np.testing.assert_allclose(run["q"][:, 3:], angles, atol=1e-14)
    kept = [momenta(UNEQUAL, q, qd) for q, qd in zip(run["q"], run["qd"], strict=True)]
    linear, angular = np.array([p for p, _ in kept]), np.array([L for _, L in kept])
    moments = np.array(UNEQUAL.moments)
    ways = np.stack([np.sin(run["q"][:, 2:]) @ moments, np.cos(run["q"][:, 2:]) @ moments], axis=1)
    spin = angular - moment(run["q"][:, :2] + ways / UNEQUAL.mass, linear)
    falling = linear + UNEQUAL.mass * 9.7 * t[:, None] * [0.0, 1.0]
    assert np.ptp(falling, axis=0).max() < 1e-12 and np.ptp(spin) < 1e-12
    tilted = rotation_spline(t, np.stack([np.cos(t), np.sin(t), 0 * t, 0 * t], axis=1))
    assert np.isnan(UNEQUAL.stance(Together([tilted, *curves[1:]]), theta=0.0, t=0.3)["body"]).any()


@pytest.fixture(scope="module")
def exchange():
    """A stride on one foot at a time: legs by a spline; the hip arrives slower than it leaves, so that there is an
    impulse where the feet change."""
    length, height, lift, period = 0.36, 0.8, 0.09, 0.4
    places = [(-length / 2, [0.0, 0.0, -length, 0.0]), (0.0, [0.0, 0.0, 0.0, lift])]
    first, middle = (BIPED.leg_angles([x, height], feet) for x, feet in places)
    q = np.concatenate([[-length / 2, height, 0.0], first])
    J = BIPED.feet_jacobian(q)
    leaving = np.array([0.95, 0.05])
    rates = np.concatenate([np.linalg.solve(J[:2, 3:5], -leaving), np.linalg.solve(J[2:, 5:], [0.1, 0.5] - leaving)])
    other = [2, 3, 0, 1]
    legs = cubic_spline([0.0, period / 2, period], np.stack([first, middle, first[other]]), "clamped",
                        velocities=(rates, rates[other]))
    return BIPED.stride(legs, [("first support", period)])


@pytest.mark.spec("S0-67", "S0-80")
def test_feet_change_with_an_impulse(exchange):
    found = exchange.repeating(0.0, 0.0)
    assert found.residual < 1e-10 and found.status == "repeats"
    run = exchange.held_system.simulate(found.start, until=2.5 * exchange.duration, rtol=1e-12, atol=1e-13)
    assert [each.name for each in run.happened] == ["stride of leg2", "stride of leg1"]
    instant = run.happened[0].t
    before, after = run.at(instant - 1e-10), run.at(instant + 1e-10)
    motion = exchange.legs(exchange.duration)
    q, qd = np.concatenate([before.body, motion.q]), np.concatenate([before.rates, motion.qd])
    changed, _, impulses = BIPED.programmed_touch_down(q, qd)
    np.testing.assert_allclose(after.rates, changed[1, :3], atol=1e-7)
    linear, angular = (b - a for a, b in zip(momenta(BIPED, q, qd), momenta(BIPED, q, changed[1]), strict=True))
    np.testing.assert_allclose(linear, impulses[1, 2:], atol=1e-10)
    assert abs(angular - moment(BIPED.feet(q)[2:], impulses[1, 2:])) < 1e-10 and np.abs(impulses[1]).max() > 1.0
    np.testing.assert_allclose(after.rates, found.start["rates"], atol=1e-7)
    np.testing.assert_allclose(run.at(instant + 0.1).body, run.at(0.1).body + 0.36 * np.eye(3)[0], atol=1e-9)
    assert np.abs(run.energy_drift).max() < 1e-8


# Feet that meet the ground while the legs follow a program


def drop(t):
    return np.array([-0.3, 0.3, -0.25, 0.4]) + np.array([0.2, -0.3, -0.3, 0.35]) * t


@pytest.mark.spec("S0-67")
def test_a_programmed_foot_touches_down_with_its_impulse():
    gait = UNEQUAL.gait(drop, ground=0.0)
    start = {"body": [0.0, 0.95, 0.05], "rates": [0.1, -0.5, 0.0]}
    run = gait.simulate(start, until=0.4, rtol=1e-11, atol=1e-12)
    names = [each.name for each in run.happened]
    assert names[0] == "touch-down of foot1" and run.finished
    instant = run.happened[0].t
    before, after = run.at(instant - 1e-9), run.at(instant + 1e-9)
    q = np.concatenate([before.body, drop(instant)])
    qd = np.concatenate([before.rates, [0.2, -0.3, -0.3, 0.35]])
    changed, torques, impulses = UNEQUAL.programmed_touch_down(q, qd)
    np.testing.assert_allclose(after.rates, changed[0, :3], atol=1e-6)
    linear, angular = (b - a for a, b in zip(momenta(UNEQUAL, q, qd), momenta(UNEQUAL, q, changed[0]), strict=True))
    np.testing.assert_allclose(linear, impulses[0, :2], atol=1e-10)
    assert abs(angular - moment(UNEQUAL.feet(q)[:2], impulses[0, :2])) < 1e-10 and impulses[0, 1] > 0
    np.testing.assert_array_equal(changed[:, 3:], np.broadcast_to(qd[3:], (2, 4)))
    H, J = UNEQUAL.inertia_matrix(q), UNEQUAL.feet_jacobian(q)
    np.testing.assert_allclose(H @ (changed[0] - qd), UNEQUAL.forces(q, torques[0], impulses[0]), atol=1e-11)
    assert np.abs(J[:2] @ changed[0]).max() < 1e-13
    assert np.abs(run.energy_drift).max() < 1e-7  # what the impulses take or give is booked as work
    rolled = gait.rollout()(start, step=1e-3, steps=400)
    assert [each.name for each in rolled.happened] == names
    np.testing.assert_allclose([each.t for each in rolled.happened], [each.t for each in run.happened], atol=1e-9)
    np.testing.assert_allclose(rolled.end["body"], run.end["body"], atol=1e-9)
    on = rolled["reactions"][:, 1] > 0
    assert np.abs((rolled["feet"] - rolled["places"])[on, :2]).max() < 1e-12


@pytest.mark.spec("S0-67")
def test_one_foot_takes_the_place_of_the_other():
    """The swinging leg comes down while the other stands: support changes with an impulse, and the other foot rises."""
    gait = BIPED.gait(lambda t: (0.3 - 1.5 * t, 0.25 - 0.3 * t, -0.3 + 0.1 * t, -0.1 + 0.1 * t), ground=0.0)
    start = BIPED.stance(lambda t: (0.3 - 1.5 * t, 0.25 - 0.3 * t, -0.3 + 0.1 * t, -0.1 + 0.1 * t), theta=0.1, foot=2)
    assert BIPED.feet(np.concatenate([start["body"], [0.3, 0.25, -0.3, -0.1]]))[1] > 0
    run = gait.simulate(start, until=0.5)
    assert run.happened[0].name == "touch-down of foot1 in place of foot2"
    after = run.t > run.happened[0].t + 1e-9
    assert (run["feet"][after, 3] > 0).all() and np.abs(run["feet"][after, 1]).max() < 1e-12
    assert (run["phase"][after] == 1).all()


@pytest.mark.spec("S0-67")
def test_friction_that_does_not_hold_is_named():
    legs = lambda t: np.array([0.30, 0.10, -0.20, -0.45]) + np.array([-0.8, -0.5, 0.9, 1.1]) * t  # noqa: E731
    start = BIPED.stance(legs, theta=0.1)
    firm = BIPED.gait(legs).simulate(start, until=0.6, rtol=1e-10, atol=1e-11)
    needed = np.abs(firm["reactions"][:, 0]) / firm["reactions"][:, 1]
    with pytest.raises(GeometryError, match=r"'force \[N\] by which friction does not hold foot1' is \d"):
        BIPED.gait(legs, friction=0.9 * needed[0]).simulate(start, until=0.6)
    hurried = lambda t: legs(t) + 3.0 * t**3 * np.array([1.0, 1.0, 0.0, 0.0])  # noqa: E731
    gait = BIPED.gait(hurried, friction=0.3)
    run = gait.simulate(start, until=1.0)
    assert run.happened[-1].name == "slip of foot1 by friction" and run.status == "singular"
    assert "foot1 would have to slide" in run.message
    last = run["reactions"][-1]
    assert abs(abs(last[0]) - 0.3 * last[1]) < 1e-5
    rolled = gait.rollout()(start, step=1e-3, steps=1000)
    assert "foot1 would have to slide" in rolled.message
    assert abs(rolled.happened[-1].t - run.happened[-1].t) < 1e-9
    with pytest.raises(ModelError, match="coefficient of friction"):
        BIPED.gait(legs, friction=-0.1)


# Plans


@pytest.mark.spec("S0-80")
def test_a_stride_repeats_with_legs_exchanged(stride, repeating, walk):
    assert stride.closure().residual < 1e-12 and repeating.status == "repeats" and repeating.residual < 1e-11
    assert repeating.is_stable and abs(np.prod(repeating.multipliers)) < 0.5
    run, _ = walk
    assert [each.name for each in run.happened] == ["double support", "stride of leg2", "double support"]
    np.testing.assert_allclose([each.t for each in run.happened], [SWING, STRIDE, STRIDE + SWING], atol=1e-12)
    first, second = slice(1, 81), slice(81, 161)
    exchange = {"q": [0, 1, 2, 5, 6, 3, 4], "qd": [0, 1, 2, 5, 6, 3, 4], "torques": [1, 0, 3, 2],
                "reactions": [2, 3, 0, 1], "feet": [2, 3, 0, 1]}
    shift = {"q": np.eye(7)[0] * STEP, "feet": np.array([STEP, 0.0, STEP, 0.0])}
    for name, order in exchange.items():
        np.testing.assert_allclose(run[name][second][:, order], run[name][first] + shift.get(name, 0.0), atol=1e-7)
    standing = run["reactions"][:, 1::2] > 0
    off = np.abs(run["feet"] - run["places"]).reshape(-1, 2, 2).max(-1)
    assert off[standing].max() < 1e-12 and (run["feet"][:, 1::2] > -1e-12).all()


@pytest.mark.spec("S0-80", "S0-67")
def test_momentum_changes_by_what_the_ground_gives(walk):
    run, ends = walk
    parts = [momenta(BIPED, q, qd) for q, qd in zip(run["q"], run["qd"], strict=True)]
    linear, angular = np.array([p for p, _ in parts]), np.array([L for _, L in parts])
    R = run["reactions"]
    up = np.array([0.0, -BIPED.mass * BIPED.gravity])
    force = R[:, :2] + R[:, 2:] + up
    moments = np.array(BIPED.moments)
    angles = run["q"][:, 2:]
    center = run["q"][:, :2] + np.stack([np.sin(angles) @ moments, np.cos(angles) @ moments], axis=1) / BIPED.mass
    turning = moment(run["feet"][:, :2], R[:, :2]) + moment(run["feet"][:, 2:], R[:, 2:]) + moment(center, up)
    for k in range(4):  # from the first instant of a phase to the last, by polynomials through them
        here = slice(1 + 40 * k, 41 + 40 * k)
        s = 2 * (run.t[here] - ends[k]) / (ends[k + 1] - ends[k]) - 1
        for rate, value in ((force[:, 0], linear[:, 0]), (force[:, 1], linear[:, 1]), (turning, angular)):
            fit = np.polynomial.Legendre.fit(s, rate[here], 39, domain=[-1, 1])
            grown = fit.integ()(s) * (ends[k + 1] - ends[k]) / 2
            np.testing.assert_allclose(value[here] - value[here][0], grown - grown[0], atol=2e-7)


@pytest.mark.spec("S0-80")
def test_compiled_steps_walk_the_same_way_and_stay_on_their_feet(stride, repeating):
    """A hundred thousand steps, 40 strides, of two walkers at once."""
    roll = stride.system.rollout(remembered=100)
    other = stride.start(repeating.theta + 0.005, repeating.rate)
    both = {name: np.stack([repeating.start[name], other[name]]) for name in other}
    rolled = roll(both, step=40 * STRIDE / 1e5, steps=100_000, every=50)
    assert rolled.finished and (rolled.log.count == 80).all()
    assert np.abs(rolled.energy_drift).max() < 1e-8
    standing = rolled["reactions"][..., 1::2] > 0
    off = np.abs(rolled["feet"] - rolled["places"]).reshape(*standing.shape, 2).max(-1)
    speed = np.einsum("...ij,...j->...i", BIPED.feet_jacobian(rolled["q"]), rolled["qd"]).reshape(*standing.shape, 2)
    assert off[standing].max() < 1e-12 and np.abs(speed[standing]).max() < 1e-12
    np.testing.assert_allclose(rolled.end["body"][:, 0], 40 * STEP - STEP / 2, atol=1e-9)
    np.testing.assert_allclose(rolled.end["body"][1, 2], repeating.theta, atol=1e-8)  # it has come back
    run = stride.system.simulate(other, until=3 * STRIDE - 0.01, rtol=1e-11, atol=1e-12)
    short = roll(other, step=(3 * STRIDE - 0.01) / 2000, steps=2000)
    np.testing.assert_allclose(short.end["body"], run.end["body"], atol=1e-9)
    assert [each.name for each in short.happened] == [each.name for each in run.happened]


@pytest.mark.spec("S0-80")
def test_feet_share_the_load_as_they_are_told():
    """A squat on both feet: shares of the vertical and of the horizontal force."""
    def squat(s):
        hip = np.stack([0.02 * np.sin(3 * s), 0.8 - 0.05 * (1 - np.cos(4 * s))])
        return BIPED.leg_angles(hip, np.array([-0.2, 0.0, 0.2, 0.0]))

    told = BIPED.stride(squat, [("double support", 0.3)], repeats=False,
                        relations=[shared_load(lambda s: 0.6 - 0.5 * s), shared_thrust(0.3)])
    assert told.closure().residual < 1e-12 and told.closure().t.shape == (65,)
    run = told.system.simulate(told.start(0.0, at=-0.2), until=0.4, rtol=1e-10, atol=1e-11)  # the last phase goes on
    R = run["reactions"]
    np.testing.assert_allclose(R[:, 1], (0.6 - 0.5 * run.t) * (R[:, 1] + R[:, 3]), atol=1e-9)
    np.testing.assert_allclose(R[:, 0], 0.3 * (R[:, 0] + R[:, 2]), atol=1e-9)
    assert run.finished and np.abs(run["feet"] - [-0.2, 0, 0.2, 0]).max() < 1e-12


@pytest.mark.spec("S0-80")
def test_plans_that_cannot_be_are_refused_and_named():
    good = walking_legs(BIPED)

    def made(legs=good, phases=PHASES, **given):
        return BIPED.stride(legs, phases, **given)

    opened = lambda s: good(s) + np.eye(4)[3] * 1e-3 * np.maximum(s - 0.5, 0.0)**3 / 0.07**3  # noqa: E731
    with pytest.raises(GeometryError, match=r"does not close: in double support, at t = 0.57 s of the stride, the feet "
                                            r"are off their places by 0.00044"):
        made(opened)
    with pytest.raises(GeometryError, match=r"at t = 0.45 s of the stride, the feet part by 1.1e-05 m/s"):
        made(lambda s: good(s) + np.eye(4)[3] * 1e-11 * np.sin(2.5e6 * (s - SWING)))
    with pytest.raises(GeometryError, match="does not repeat with legs exchanged: the angle of beta1"):
        made(lambda s: good(0.9 * s), phases=[("first support", STRIDE)])
    with pytest.raises(GeometryError, match=r"below the ground at t = 0.\d+ s"):
        made(walking_legs(BIPED, lift=-0.02))
    with pytest.raises(GeometryError, match=r"no finite angles.* at t = 0.\d+ s of the stride: a leg may be"):
        made(walking_legs(BIPED, height=0.84))
    with pytest.raises(ModelError, match="no phase 'single support'"):
        made(phases=[("single support", 0.4)])
    with pytest.raises(ModelError, match="'flight' must be a number of seconds above zero, not 0"):
        made(phases=[("flight", 0.0)])
    with pytest.raises(ModelError, match="at least one phase"):
        made(phases=[])
    with pytest.raises(SignatureError, match="a contact and its duration, not 'first support'"):
        made(phases=["first support"])
    with pytest.raises(SignatureError, match="a relation of loads must be a function"):
        made(relations=[3.0])
    with pytest.raises(SignatureError, match="a row"):
        made(relations=[lambda t, q, qd: 1.0]).system.simulate(made().start(0.1), until=0.1)
    with pytest.raises(SignatureError, match="a function of the time or a motion"):
        made(np.zeros(4))
    with pytest.raises(SignatureError, match="four angles"):
        made(lambda s: s)
    with pytest.raises(ModelError, match="two relations"):
        made(relations=[LEAN] * 3)
    with pytest.raises(ModelError, match="finite stiffness"):
        led_trunk(0.0, stiffness=-1.0)


@pytest.mark.spec("S0-80")
def test_a_load_that_vanishes_and_a_foot_that_slides_end_a_walk_by_name(stride):
    run = stride.system.simulate(stride.start(-0.2), until=2.0)
    assert run.status == "singular" and run.message.startswith("the load of foot2 vanishes while it is to stand")
    assert run.happened[-1].name == "foot2 is unloaded" and abs(run.t[-1] - SWING) < 1e-9
    rolled = stride.system.rollout()(stride.start(-0.2), step=1e-3, steps=800)
    assert not rolled.finished and "the load of foot2 vanishes" in rolled.message
    lost = replace(stride, friction=0.2).repeating(0.17, 0.5)
    assert lost.status == "not held" and "slide" in lost.message and lost.residual < 1e-11


def test_flight_by_plan_lands_where_it_is_told_or_says_that_it_does_not():
    """A hop: push, flight, landing on the same foot."""
    def hop(s):
        hip = np.stack([0.0 * s, 0.78 + 0.6 * s - 4.0 * s**2])
        return BIPED.leg_angles(hip, np.stack([0.0 * s, 0.0 * s, 0.1 + 0.0 * s, 0.05 + 0.0 * s]))

    missed = BIPED.stride(hop, [("first support", 0.05), ("flight", 0.1), ("first support", 0.1)], repeats=False)
    assert missed.words == ("first support", "flight", "first support 2")
    run = missed.system.simulate(missed.start(0.0), until=0.3)
    assert run.status == "singular" and ("foot1 meets the ground while it is to fly" in run.message
                                         or "foot1 is not on the ground" in run.message)


@pytest.mark.spec("S0-67")
def test_a_planned_landing_is_that_of_the_event():
    """Where a foot meets the ground by itself, the plan lets it: the same impulse, the same motion afterwards."""
    start = {"body": [0.0, 0.95, 0.05], "rates": [0.1, -0.5, 0.0]}
    met = UNEQUAL.gait(drop, ground=0.0).simulate(start, until=0.13, rtol=1e-12, atol=1e-13)
    instant = met.happened[0].t
    plan = UNEQUAL.stride(drop, [("flight", instant), ("first support", 0.02)], repeats=False)
    run = plan.system.simulate(start, until=instant + 0.01, rtol=1e-12, atol=1e-13)
    assert [each.name for each in run.happened] == ["first support"] and run.finished
    there = met.at(instant + 0.01)
    np.testing.assert_allclose(run.end["body"], there.body, atol=1e-9)
    np.testing.assert_allclose(run.end["rates"], there.rates, atol=1e-8)
    with pytest.raises(UnsupportedError, match="begins in flight"):
        plan.start(0.0)
    with pytest.raises(UnsupportedError, match="repeats, and begins with a foot on the ground"):
        plan.repeating()
    early = UNEQUAL.stride(drop, [("flight", instant - 0.01), ("first support", 0.02)], repeats=False)
    missed = early.system.simulate(start, until=instant)
    assert missed.status == "singular" and "foot1 is not on the ground where it is to stand" in missed.message


def test_flight_and_support_are_those_of_mujoco(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    arm = cy.Mechanism(UNEQUAL.tree())
    arm.save(str(tmp_path / "biped.xml"))
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "biped.xml"))
    data = mujoco.MjData(model)
    random = np.random.default_rng(8)
    T = UNEQUAL.joint_map
    back = np.linalg.inv(T)
    for _ in range(5):
        q, qd, tau = random.normal(size=7), random.normal(size=7), random.normal(size=4) * 20
        data.qpos[:] = T @ q
        data.qvel[:] = T @ qd
        data.qfrc_applied[:] = back.T @ UNEQUAL.forces(q, tau, np.zeros(4))
        mujoco.mj_forward(model, data)
        np.testing.assert_allclose(back @ data.qacc, UNEQUAL.forward_dynamics(q, qd, tau, np.zeros(4)), rtol=1e-8,
                                   atol=1e-8)


@pytest.mark.parametrize("second", [LEAN, shared_load(0.3)])
def test_relations_that_do_not_share_the_load_are_blamed(second):
    plan = BIPED.stride(walking_legs(BIPED), PHASES, relations=[shared_load(0.5), second])
    run = plan.held_system.simulate(plan.start(theta=0.16, rate=0.5), until=STRIDE)
    assert run.status == "singular" and "two relations do not say how the feet share the load" in run.message
