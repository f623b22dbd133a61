"""Constraints on velocities: knife edges, wheels, discs, balls and rows that are written down, beside closed forms,
the equations of a rolling disc that SymPy's documentation derives by Kane's method, and the rolling robot of the
specification."""

from functools import cache

import numpy as np
import pytest

import cayley as cy
from cayley.errors import ModelError, SingularityError, UnsupportedError
from cayley.model.constraint_kinds import (
    Ball,
    Disc,
    KnifeEdge,
    Pfaffian,
    PrescribedMotion,
    RollerWheel,
    SteeredAxle,
    Wheel,
)
from cayley.model.joint_kinds import Floating, Planar, Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Frame, Joint

X, Y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
FORMULATIONS = ("multipliers", "augmented", "projection", "null space")


def shift(x=0.0, y=0.0, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def turned(angle):
    pose = np.eye(4)
    pose[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return pose


def allowed(arm, q, qd, *t):
    """The nearest velocity that the constraints allow."""
    return qd - np.linalg.pinv(arm.loops.jacobian(q, *t), 1e-9) @ arm.loops.rates(q, qd, *t)


MASS, INERTIA, BEHIND = 2.0, 0.3, 0.4


def sleigh(*constraints):
    """Chaplygin's: a body in a plane whose blade is behind its centre of mass."""
    return cy.Mechanism.of("sleigh", [Body("ground"), Body("sleigh", MASS, [BEHIND, 0, 0], np.diag([0, 0, INERTIA]))],
                           [Joint("base", "ground", "sleigh", Planar())], constraints=constraints)


BLADE = KnifeEdge("blade", "ground", "sleigh")
WRITTEN = Pfaffian("blade", ("base.x", "base.y", "base.angle"), ("-sin(base_angle)", "cos(base_angle)", 0))


@pytest.mark.parametrize("constraint", [BLADE, WRITTEN])
def test_the_accelerations_of_chaplygins_sleigh(constraint):
    arm = sleigh(constraint)
    assert arm.loops.mobility == 2
    angle, v, w = 0.7, 1.3, -0.6
    q = [0.1, 0.2, angle]
    qd = [v * np.cos(angle), v * np.sin(angle), w]
    np.testing.assert_allclose(arm.loops.rates(q, qd), 0.0, atol=1e-15)
    ahead, turn = BEHIND * w * w, -MASS * BEHIND * v * w / (INERTIA + MASS * BEHIND**2)
    expected = [ahead * np.cos(angle) - v * w * np.sin(angle), ahead * np.sin(angle) + v * w * np.cos(angle), turn]
    for formulation in FORMULATIONS:
        np.testing.assert_allclose(arm.forward_dynamics.using(formulation)(q, qd, np.zeros(3)), expected, rtol=1e-12)
    push = MASS * (v * w + BEHIND * turn)  # across, at the centre of mass
    np.testing.assert_allclose(arm.loops.forces(q, qd, np.zeros(3)), [push], rtol=1e-12)


def test_a_sleigh_slides_for_a_hundred_thousand_steps_as_its_closed_form_says():
    arm = sleigh(BLADE)
    v, w, end = -0.9, 0.8, 10.0
    run = arm.system().rollout(method="rk4")({"q": np.zeros(3), "qd": [v, 0.0, w]}, step=1e-4, steps=100_000,
                                             every=10_000)
    square = (INERTIA + MASS * BEHIND**2) / MASS
    speed = np.sqrt(v * v + square * w * w)
    ahead = speed * np.tanh(BEHIND * speed / square * end + np.arctanh(v / speed))
    q, qd = run["q"], run["qd"]
    np.testing.assert_allclose(np.hypot(*qd[-1, :2]), abs(ahead), rtol=1e-11)
    np.testing.assert_allclose(abs(qd[-1, 2]), np.sqrt((speed**2 - ahead**2) / square), rtol=1e-6)
    assert np.abs(arm.loops.rates(q, qd)).max() < 1e-14
    assert np.abs(run.energy_drift).max() < 1e-12


RADIUS = 0.35


@cache
def coin(mass=1.7):
    inertia = mass * RADIUS**2 / 4 * np.diag([1.0, 2.0, 1.0])
    return cy.Mechanism.of("coin", [Body("ground"), Body("coin", mass, inertia=inertia)],
                           [Joint("free", "ground", "coin", Floating())],
                           constraints=[Disc("edge", "ground", "coin", RADIUS)])


def leaning(yaw, lean):
    """A disc in contact, turned about z and then about its own x."""
    z, x = np.array([np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)]), np.array([np.cos(lean / 2), np.sin(lean / 2), 0, 0])
    turn = [z[0] * x[0], z[0] * x[1], z[3] * x[1], z[3] * x[0]]
    return np.array([0.3, -0.2, RADIUS * np.cos(lean), *turn])


@pytest.mark.parametrize("lean", [0.0, 0.4, -1.1])
def test_a_disc_rolls_by_the_equations_that_kanes_method_gives(lean):
    arm = coin()
    q = leaning(0.6, lean)
    np.testing.assert_allclose(arm.loops.residual(q), 0.0, atol=1e-15)
    u = np.array([0.7, -1.9, 0.5])  # angular velocity in the axes of the disc; the centre is above what touches
    qd = np.concatenate([np.cross(u, [0.0, 0.0, RADIUS]), u])
    np.testing.assert_allclose(arm.loops.rates(q, qd), 0.0, atol=1e-15)
    g, tangent = 9.81, np.tan(lean)
    rates = np.array([(4 * g * np.sin(lean) + 6 * RADIUS * u[1] * u[2] - RADIUS * u[2]**2 * tangent) / (5 * RADIUS),
                      -2 * u[0] * u[2] / 3, u[0] * (-2 * u[1] + u[2] * tangent)])
    turning = np.array([u[0], u[2] * tangent, u[2]])  # of the axes that lean and do not roll
    for formulation in FORMULATIONS:
        qdd = arm.forward_dynamics.using(formulation)(q, qd, np.zeros(6))
        np.testing.assert_allclose(qdd[3:], rates + np.cross(turning, u), rtol=1e-11, atol=1e-12)


def test_a_disc_keeps_its_contact_and_its_energy():
    arm = coin()
    q = leaning(0.0, 0.15)
    u = np.array([0.0, 9.0, 0.8])
    run = arm.system().rollout(method="rk4")({"q": q, "qd": [*np.cross(u, [0.0, 0.0, RADIUS]), *u]}, step=1e-3,
                                             steps=3000, every=500)
    assert np.abs(arm.loops.residual(run["q"])).max() < 1e-14
    assert np.abs(arm.loops.rates(run["q"], run["qd"])).max() < 1e-12
    assert np.abs(run.energy_drift).max() < 1e-8


def test_a_disc_that_lies_flat_is_named():
    flat = np.array([0.0, 0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0])
    with pytest.raises(SingularityError, match="'edge'"):
        coin().forward_dynamics(flat, np.zeros(6), np.zeros(6))


def test_a_disc_that_falls_flat_ends_the_motion_by_its_name():
    arm = coin()
    start = {"q": leaning(0.0, 0.3), "qd": np.zeros(6)}
    for run in (arm.simulate(*start.values(), until=2.0, progress=False), arm.system().simulate(start, until=2.0)):
        assert run.status == "singular" and "disc 'edge' lies flat" in run.message
        fallen = run.q[-1]
        assert 0.0 < fallen[2] < 1.1e-3 * RADIUS and np.abs(run.energy_drift).max() < 1e-6
    many = {"q": np.array([leaning(0.0, lean) for lean in np.linspace(0.25, 0.35, 40)]), "qd": np.zeros((40, 6))}
    for method, step in (("rk4", 1e-3), ("semi-implicit-euler", 1e-3), ("rk4", 1e-2)):
        end = arm.system().rollout(method=method)(many, step=step, steps=round(1 / step)).end
        assert np.isnan(end["q"]).any(axis=-1).all()  # none goes on at its other side
    spinning = np.array([0.0, 0.0, 30.0])  # almost flat, and quick: it does not fall
    q = leaning(0.0, 1.3)
    qd = arm.loops.consistent_velocity(q, [0.0, 0.0, 0.0, *spinning])
    run = arm.system().rollout(method="rk4")({"q": q, "qd": qd}, step=2e-4, steps=2000)
    assert np.isfinite(run.end["q"]).all() and np.abs(run.energy_drift).max() < 1e-6


def test_a_disc_that_lies_flat_has_no_velocities_and_is_named_where_it_starts():
    flat = np.array([0.0, 0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0])
    for ask in (lambda: coin().loops.consistent_velocity(flat, np.ones(6)),
                lambda: coin().simulate(flat, np.zeros(6), until=1.0),
                lambda: coin().loops.forces(flat, np.zeros(6), np.zeros(6))):
        with pytest.raises(SingularityError, match="'edge' lies flat"):
            ask()
    batch = np.stack([leaning(0.2, 0.4), flat])
    found = coin().forward_dynamics(batch, np.zeros(6), np.zeros(6))
    assert np.isfinite(found[0]).all() and np.isnan(found[1]).all()
    np.testing.assert_allclose(coin().loops.residual(flat), 0.0, atol=1e-15)


@cache
def rolling_robot(trail=0.08):
    """The rolling robot of the specification, WE-28: x to the right and y ahead, two driven wheels and a castor."""
    r, l, a, b = 0.1, 0.5, 0.12, 0.3
    m1, m3, m4, m5, bracket, chassis = 1.5, 0.8, 0.4, 20.0, 0.003, 1.1

    def wheel(name, mass):
        return Body(name, mass, inertia=mass * r * r / 4 * np.diag([2.0, 1.0, 1.0]))

    bodies = [Body("floor"), Body("chassis", m5, inertia=np.diag([0, 0, chassis])), wheel("right", m1),
              wheel("left", m1), Body("bracket", m4, [-trail / 2, 0, 0], np.diag([0, 0, bracket])), wheel("small", m3)]
    back = (-1.0, 0.0, 0.0)  # the wheels turn about - x where they roll ahead
    joints = [Joint("base", "floor", "chassis", Planar(), shift(z=r)),
              Joint("right", "chassis", "right", Revolute(back), shift(l / 2, a)),
              Joint("left", "chassis", "left", Revolute(back), shift(-l / 2, a)),
              Joint("pivot", "chassis", "bracket", Revolute(), shift(0, -b)),
              Joint("small", "bracket", "small", Revolute(X), shift(-trail) @ turned(np.pi / 2))]
    rolls = [Wheel("right tyre", "floor", "right", r, back), Wheel("left tyre", "floor", "left", r, back),
             Wheel("small tyre", "floor", "small", r, X)]
    return cy.Mechanism.of("robot", bodies, joints, constraints=rolls)


def robot_state(u1=8.0, u2=5.0, psi=0.7):
    arm = rolling_robot()
    q = np.array([0.2, -0.4, 0.9, 0.0, 0.0, psi, 0.0])
    A = arm.loops.jacobian(q)
    others = [0, 1, 2, 5, 6]
    qd = np.zeros(7)
    qd[[3, 4]] = u1, u2
    qd[others] = -np.linalg.lstsq(A[:, others], A @ qd, rcond=None)[0]
    assert np.abs(A @ qd).max() < 1e-13
    return q, qd


@pytest.mark.spec("S2-75")
def test_the_rolling_robot_has_the_rates_and_accelerations_of_the_specification():
    arm = rolling_robot()
    assert arm.loops.mobility == 2
    assert [str(row) for row in arm.loops.structure.redundant] in (["right tyre: side slip"],
                                                                        ["left tyre: side slip"])
    q, qd = robot_state()
    np.testing.assert_allclose(qd[[2, 5]], [0.6, 3.5850570569], rtol=1e-9)
    np.testing.assert_allclose(abs(qd[6]), 6.114817279, rtol=1e-9)
    tau = np.zeros(7)
    tau[[3, 4]] = 2.0, -1.0
    for formulation in ("multipliers", "null space"):
        qdd = arm.forward_dynamics.using(formulation)(q, qd, tau)
        np.testing.assert_allclose(qdd[[3, 4]], [13.1449151947, -6.4608288248], rtol=1e-9)
    assert np.isnan(arm.loops.forces(q, qd, tau)).sum() == 2


def test_the_rolling_robot_keeps_its_energy():
    q, qd = robot_state()
    np.testing.assert_allclose(rolling_robot().kinetic_energy(q, qd), 5.8259593841, rtol=1e-9)
    run = rolling_robot().system().rollout(method="rk4")({"q": q, "qd": qd}, step=1e-3, steps=2000)
    assert np.abs(run.energy_drift).max() < 1e-9
    assert np.abs(rolling_robot().loops.rates(run.end["q"], run.end["qd"])).max() < 1e-13


def test_a_castor_without_trail_is_a_wheel_that_must_point_where_it_goes():
    arm = rolling_robot(0.0)
    assert arm.loops.mobility == 2  # the wheel's direction is free now, and the robot goes only along it
    random = np.random.default_rng(7)
    for psi in (0.7, np.pi / 2, -1.2):
        q = np.array([0.2, -0.4, 0.9, 0.0, 0.0, psi, 0.0])
        qd, tau = allowed(arm, q, random.normal(size=7)), random.normal(size=7)
        A, M = arm.loops.jacobian(q), arm.variants.spanning_tree().inertia_matrix(q)
        bias = arm.variants.spanning_tree().bias_forces(q, qd)
        full = np.block([[M, A.T], [A, np.zeros((6, 6))]])
        right = np.concatenate([tau - bias, -arm.loops.drift(q, qd)])
        expected = np.linalg.lstsq(full, right, rcond=1e-12)[0][:7]
        np.testing.assert_allclose(arm.forward_dynamics(q, qd, tau), expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(qd[2] * 0.42 * np.sin(psi), (0.1 / 2) * (qd[3] + qd[4]) * np.cos(psi), atol=1e-12)
    run = arm.system().rollout(method="rk4")({"q": q, "qd": qd}, step=1e-3, steps=500)
    assert np.abs(run.energy_drift).max() < 1e-9
    with pytest.raises(UnsupportedError, match="not driven: pivot"):  # two motors do not say where the castor points
        arm.variants.with_actuated("right", "left").loops.actuated_motion(q, [1.0, 1.0])


def test_a_ball_on_a_turntable_goes_round_with_two_sevenths_of_its_speed():
    spin, r, mass = 1.3, 0.05, 0.2
    arm = cy.Mechanism.of(
        "turntable", [Body("base"), Body("table", 3.0, inertia=np.eye(3)),
                      Body("ball", mass, inertia=0.4 * mass * r**2 * np.eye(3))],
        [Joint("axle", "base", "table", Revolute()), Joint("free", "base", "ball", Floating())],
        constraints=[PrescribedMotion("drive", "axle", f"{spin}*t"), Ball("rolls", "table", "ball", r)])
    assert arm.loops.mobility == 3
    q = np.array([0.0, 0.4, 0.1, r, 1.0, 0.0, 0.0, 0.0])
    qd = allowed(arm, q, np.array([spin, 0.3, -0.2, 0.0, 1.0, 2.0, 0.7]), 0.0)
    end = 2.0
    run = arm.system().rollout(method="rk4")({"q": q, "qd": qd}, step=5e-4, steps=4000)
    turn = 2 / 7 * spin
    v = qd[1:3]
    center = q[1:3] + np.array([-v[1], v[0]]) / turn
    c, s = np.cos(turn * end), np.sin(turn * end)
    expected = center + np.array([[c, -s], [s, c]]) @ (q[1:3] - center)
    np.testing.assert_allclose(run.end["q"][1:3], expected, rtol=1e-8)
    assert np.abs(arm.loops.rates(run.end["q"], run.end["qd"], end)).max() < 1e-13


def rolling_ball(surface, radius=0.1, hollow=0.4):
    return cy.Mechanism.of("ball", [Body("ground"), Body("ball", 0.7, inertia=hollow * 0.7 * radius**2 * np.eye(3))],
                           [Joint("free", "ground", "ball", Floating())],
                           constraints=[Ball("rolls", "ground", "ball", radius, surface)])


def test_a_hollow_ball_rolls_in_a_bowl_as_a_pendulum_does():
    big, r, angle, hollow = 1.1, 0.1, 0.5, 2 / 3
    arm = rolling_ball(f"{big} - sqrt(x*x + y*y + z*z)", r, hollow)
    q = np.array([(big - r) * np.sin(angle), 0.0, -(big - r) * np.cos(angle), 1.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(arm.loops.residual(q), 0.0, atol=1e-15)
    qdd = arm.forward_dynamics(q, np.zeros(6), np.zeros(6))
    down = -9.81 * np.sin(angle) / (1 + hollow)
    np.testing.assert_allclose(qdd[:3], [down * np.cos(angle), 0.0, down * np.sin(angle)], rtol=1e-12, atol=1e-13)
    random = np.random.default_rng(4)
    moving = allowed(arm, q, random.normal(size=6))
    run = arm.system().rollout(method="rk4")({"q": q, "qd": moving}, step=1e-3, steps=2000)
    assert np.abs(run.energy_drift).max() < 1e-9
    assert np.abs(arm.loops.residual(run.end["q"])).max() < 1e-13


@pytest.mark.parametrize("arm, q", [
    (coin(), leaning(0.4, 0.7)), (rolling_robot(), [0.2, -0.4, 0.9, 0.3, 0.1, 0.7, 0.2]),
    (rolling_ball("sqrt(y*y + z*z) - 0.3"), [0.2, 0.3, 0.264575131106, 0.5, 0.5, -0.5, 0.5])])
def test_drifts_are_the_rates_of_the_jacobians(arm, q):
    q = np.asarray(q, dtype=float)
    random = np.random.default_rng(3)
    qd, step = random.normal(size=arm.nv), 1e-5
    later, sooner = (arm.loops.jacobian(arm.integrate(q, way * step * qd)) for way in (1, -1))
    np.testing.assert_allclose(arm.loops.drift(q, qd), (later - sooner) @ qd / (2 * step), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(arm.loops.rates(q, qd), arm.loops.jacobian(q) @ qd, atol=1e-14)


def test_mecanum_wheels_go_where_their_rates_say():
    r, half, wide = 0.05, 0.2, 0.15
    corners = {"front left": (half, wide, -np.pi / 4), "front right": (half, -wide, np.pi / 4),
               "rear left": (-half, wide, np.pi / 4), "rear right": (-half, -wide, -np.pi / 4)}
    bodies = [Body("floor"), Body("platform", 8.0, inertia=np.eye(3)),
              *[Body(name, 0.3, inertia=1e-3 * np.eye(3)) for name in corners]]
    joints = [Joint("base", "floor", "platform", Planar(), shift(z=r)),
              *[Joint(name, "platform", name, Revolute(Y), shift(x, y)) for name, (x, y, _) in corners.items()]]
    arm = cy.Mechanism.of("mecanum", bodies, joints, constraints=[
        RollerWheel(f"{name} rollers", "floor", name, r, Y, angle) for name, (_, _, angle) in corners.items()])
    assert arm.loops.mobility == 3
    heading, vx, vy, w = 0.4, 0.5, -0.3, 0.8
    c, s = np.cos(heading), np.sin(heading)
    rates = np.array([vx - vy - (half + wide) * w, vx + vy + (half + wide) * w, vx + vy - (half + wide) * w,
                      vx - vy + (half + wide) * w]) / r
    q = np.array([0.0, 0.0, heading, 0.1, 0.2, 0.3, 0.4])
    names = [joint.name for joint in arm.joints[1:]]
    qd = [c * vx - s * vy, s * vx + c * vy, w, *[rates[list(corners).index(name)] for name in names]]
    np.testing.assert_allclose(arm.loops.rates(q, qd), 0.0, atol=1e-15)


def test_a_steered_axle_turns_as_a_bicycle_does():
    base = 2.5
    arm = cy.Mechanism.of(
        "car", [Body("road"), Body("car", 900.0, [1.2, 0, 0], np.diag([0, 0, 1200.0])), Body("wheel", 1.0,
                                                                                        inertia=np.eye(3))],
        [Joint("base", "road", "car", Planar()), Joint("steering", "car", "wheel", Revolute())],
        frames=[Frame("front", "car", shift(base))],
        constraints=[KnifeEdge("rear", "road", "car"), SteeredAxle("front axle", "road", "front", "steering")])
    assert arm.loops.mobility == 2
    heading, v, delta = 0.3, 4.0, 0.35
    q = [0.0, 0.0, heading, delta]
    qd = np.array([v * np.cos(heading), v * np.sin(heading), v * np.tan(delta) / base, 0.6])
    np.testing.assert_allclose(arm.loops.rates(q, qd), 0.0, atol=1e-14)
    step = 1e-5
    later, sooner = (arm.loops.jacobian(q + way * step * qd) for way in (1, -1))
    np.testing.assert_allclose(arm.loops.drift(q, qd), (later - sooner) @ qd / (2 * step), rtol=1e-7, atol=1e-8)


def test_rows_that_are_written_down_may_move_with_time():
    arm = cy.Mechanism.of("cart", [Body("base"), Body("beam", 0.5), Body("cart", 2.0)],
                          [Joint("x", "base", "beam", Prismatic(X)), Joint("y", "beam", "cart", Prismatic(Y))],
                          constraints=[Pfaffian("belt", ("x", "y"), ("1", "x*t"), "-2*t")])
    q, qd, t = np.array([0.4, 0.1]), np.array([1.0, 0.5]), 0.7
    np.testing.assert_allclose(arm.loops.rates(q, qd, t), [1.0 + 0.4 * 0.7 * 0.5 - 1.4], rtol=1e-14)
    np.testing.assert_allclose(arm.loops.drift(q, qd, t), [1.0 * 0.7 * 0.5 + 0.4 * 0.5 - 2.0], rtol=1e-14)
    np.testing.assert_allclose(arm.loops.jacobian(q, t), [[1.0, 0.28]], rtol=1e-14)


def test_files_hold_all_kinds(tmp_path):
    arm = cy.Mechanism.of("all", [Body("ground"), Body("a", 1.0, inertia=np.eye(3))],
                          [Joint("base", "ground", "a", Planar())], constraints=[
        KnifeEdge("one", "ground", "a", X), Wheel("two", "ground", "a", 0.1), Disc("three", "ground", "a", 0.2, X),
        RollerWheel("four", "ground", "a", 0.3, Y, 0.7), Ball("five", "ground", "a", 0.4, "z + 0.1"),
        SteeredAxle("six", "ground", "a", "base.angle"),
        Pfaffian("seven", ("base.x", "base.y"), ("base_y", "2"), "sin(t)")])
    arm.save(tmp_path / "all.toml")
    assert cy.load(tmp_path / "all.toml").tree.constraints == arm.tree.constraints


@pytest.mark.parametrize("made, said", [
    (lambda: Wheel("w", "ground", "a", 0.0), "radius 0.0"), (lambda: Wheel("w", "ground", "a", np.nan), "radius nan"),
    (lambda: KnifeEdge("k", "ground", "a", (1.0, 1.0, 0.0)), "across of the knife edge 'k'.*unit vector"),
    (lambda: Ball("b", "ground", "a", -1.0), "radius -1"), (lambda: Ball("b", "ground", "a", 1.0, "2*z"), "length 1"),
    (lambda: Ball("b", "ground", "a", 1.0, "height"), "height is unknown"),
    (lambda: RollerWheel("r", "ground", "a", 1.0, Y, np.inf), "angle inf"),
    (lambda: Pfaffian("p", ("x", "y"), ("1", )), "one coefficient for each"),
    (lambda: Pfaffian("p", ("x", "y"), ("1", "z")), "a coefficient of 'p'.*z is unknown"),
    (lambda: sleigh(Pfaffian("p", ("base", ), ("1", ))), "'p'.*base.x, base.y, base.angle"),
    (lambda: sleigh(Pfaffian("p", ("base.z", ), ("1", ))), "no coordinate 'base.z'"),
    (lambda: sleigh(KnifeEdge("k", "ground", "slay")), "no frame or body 'slay'")])
def test_what_makes_no_sense_is_refused_by_name(made, said):
    with pytest.raises(ModelError, match=said):
        made()


def test_what_takes_coordinates_to_follow_as_velocities_do_refuses_by_name():
    arm = sleigh(BLADE)
    with pytest.raises(UnsupportedError, match="knife edge 'blade' lets 'sleigh' not slip sideways"):
        arm.linearize(np.zeros(3), np.zeros(3), np.zeros(3))
    q, tau, step = np.array([0.1, 0.2, 0.7]), np.array([0.3, -0.2, 0.5]), 1e-6
    qd = arm.loops.consistent_velocity(q, [0.4, 0.3, -0.8])
    by_q = [(arm.forward_dynamics(q + way, qd, tau) - arm.forward_dynamics(q - way, qd, tau)) / (2 * step)
            for way in step * np.eye(3)]
    np.testing.assert_allclose(arm.forward_derivatives(q, qd, tau).by_q, np.transpose(by_q), atol=1e-8)


def cart_in_space():
    """Two discs on an axle and a ball under a chassis that floats."""
    bodies = [Body("floor"), Body("chassis", 10.0, [-0.05, 0, 0.1], np.diag([0.3, 0.4, 0.5])),
              *[Body(name, 1.0, inertia=np.diag([0.0025, 0.005, 0.0025])) for name in ("left", "right")],
              Body("ball", 0.5, inertia=0.4 * 0.5 * 0.05**2 * np.eye(3))]
    joints = [Joint("free", "floor", "chassis", Floating()),
              Joint("left", "chassis", "left", Revolute(Y), shift(0, 0.2)),
              Joint("right", "chassis", "right", Revolute(Y), shift(0, -0.2)),
              Joint("ball", "chassis", "ball", Spherical(), shift(-0.3, 0, -0.05))]
    return cy.Mechanism.of("cart", bodies, joints, actuated=["left", "right"], constraints=[
        Disc("left tyre", "floor", "left", 0.1), Disc("right tyre", "floor", "right", 0.1),
        Ball("castor", "floor", "ball", 0.05)])


def test_a_cart_in_space_stands_on_its_wheels_and_drives():
    arm = cart_in_space()
    structure = arm.loops.structure
    assert (structure.mobility, len(structure.independent)) == (3, 3)  # the ball may spin
    q = arm.neutral.copy()
    q[2] = 0.1
    still = np.zeros(arm.nv)
    loads = dict(zip(map(str, structure.rows), arm.loops.forces(q, still, still), strict=True))
    behind = (10 * 0.05 + 0.5 * 0.3) / 0.3 * 9.81
    np.testing.assert_allclose([loads[f"{name}: contact"] for name in ("left tyre", "right tyre", "castor")],
                               [(12.5 * 9.81 - behind) / 2, (12.5 * 9.81 - behind) / 2, behind], rtol=1e-12)
    qd = arm.loops.consistent_velocity(q, 3.0 * np.eye(arm.nv)[6] + 2.0 * np.eye(arm.nv)[7])
    qdd = arm.forward_dynamics(q, qd, np.ones(arm.nv))
    np.testing.assert_allclose(arm.forward_dynamics.using("projection")(q, qd, np.ones(arm.nv)), qdd, atol=1e-9)
    np.testing.assert_allclose(arm.loops.jacobian(q) @ qdd + arm.loops.drift(q, qd), 0.0, atol=1e-10)


def test_a_ball_rolls_down_a_slope_and_a_wheel_on_a_belt_that_speeds_up():
    angle, r = 0.3, 0.1
    slope = np.eye(4)
    slope[:3, :3] = [[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]]
    ball = cy.Mechanism.of("ball", [Body("world"), Body("ball", 1.0, inertia=0.4 * r * r * np.eye(3))],
                           [Joint("free", "world", "ball", Floating())], frames=[Frame("slope", "world", slope)],
                           constraints=[Ball("rolls", "slope", "ball", r)])
    q = np.array([*(r * slope[:3, 2]), 1.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(ball.forward_dynamics(q, np.zeros(6), np.zeros(6))[:3],
                               5 / 7 * 9.81 * np.sin(angle) * slope[:3, 0], atol=1e-13)
    still = np.zeros(6)
    np.testing.assert_allclose(ball.loops.needed_friction(q, still, still), [2 / 7 * np.tan(angle)], rtol=1e-12)
    lifted = ball.loops.needed_friction(q, still, np.array([0.0, 0.0, 20.0, 0.0, 0.0, 0.0]))
    assert np.isinf(lifted).all()  # it would leave the ground
    mass, inertia = 2.0, 0.02
    belt = cy.Mechanism.of(
        "belt", [Body("world"), Body("belt", 1.0), Body("fork", 0.0), Body("wheel", mass, inertia=inertia * np.eye(3))],
        [Joint("belt", "world", "belt", Prismatic(X)), Joint("slide", "world", "fork", Prismatic(X), shift(z=r)),
         Joint("axle", "fork", "wheel", Revolute(Y))],
        constraints=[PrescribedMotion("drive", "belt", "0.5*t*t"), Wheel("tyre", "belt", "wheel", r)])
    pull = 1 / (1 / mass + r * r / inertia)
    np.testing.assert_allclose(belt.forward_dynamics(np.zeros(3), np.zeros(3), np.zeros(3), 0.0),
                               [1.0, pull / mass, -r * pull / inertia], rtol=1e-12)
    with pytest.raises(UnsupportedError, match="belt has no disc, no ball and no wheel"):
        belt.loops.needed_friction(np.zeros(3), np.zeros(3), np.zeros(3), 0.0)


@pytest.mark.parametrize("arm, q", [
    (rolling_robot(), [0.2, -0.4, 0.9, 0.3, 0.1, 0.7, 0.2]), (coin(), leaning(0.3, 0.4)),
    (rolling_ball("sqrt(y*y + z*z) - 0.3"), [0.2, 0.3, 0.264575131106, 0.5, 0.5, -0.5, 0.5])])
def test_constraints_are_kept_for_a_hundred_thousand_steps_as_they_come(arm, q):
    q = arm.loops.close(np.asarray(q, dtype=float)).configuration
    qd = arm.loops.consistent_velocity(q, 0.4 * np.random.default_rng(8).normal(size=arm.nv))
    if arm.name == "coin":
        qd = arm.loops.consistent_velocity(q, [0.0, 0.0, 0.0, 0.0, 14.0, 2.5])  # it rolls in a ring
    run = arm.with_gravity([0, 0, 0] if arm.name == "ball" else arm.gravity).system().rollout(
        method="semi-implicit-euler")({"q": q, "qd": qd}, step=1e-4, steps=100_000, every=5_000)
    assert np.isfinite(run.end["q"]).all()
    assert np.abs(arm.loops.residual(run["q"])).max() < 1e-12
    assert np.abs(arm.loops.rates(run["q"], run["qd"])).max() < 1e-12


@pytest.mark.parametrize("arm, q", [
    (rolling_robot(), [0.2, -0.4, 0.9, 0.3, 0.1, 0.7, 0.2]), (coin(), leaning(0.4, 0.7)),
    (sleigh(BLADE), [0.1, 0.2, 0.7]),
    (rolling_ball("sqrt(y*y + z*z) - 0.3"), [0.2, 0.3, 0.264575131106, 0.5, 0.5, -0.5, 0.5])])
def test_the_power_of_what_acts_is_the_rate_of_the_energy_and_constraints_have_none(arm, q):
    q = np.asarray(q, dtype=float)
    random = np.random.default_rng(6)
    qd, tau = allowed(arm, q, random.normal(size=arm.nv)), random.normal(size=arm.nv)
    qdd = arm.forward_dynamics(q, qd, tau)
    free = arm.variants.spanning_tree()
    held = free.inertia_matrix(q) @ qdd + free.bias_forces(q, qd) - tau  # what the constraints do
    scale = np.abs(held * qd).sum() + np.abs(tau * qd).sum()
    assert abs(held @ qd) < 1e-12 * scale
    gravity = free.gravity_forces(q)
    coriolis = free.coriolis_matrix(q, qd)
    kinetic_rate = qd @ (free.inertia_matrix(q) @ qdd + coriolis @ qd)  # as M' - 2 C is skew
    assert abs(kinetic_rate + gravity @ qd - tau @ qd) < 1e-12 * scale


def test_a_ball_where_the_normal_points_down_is_named_and_a_turned_frame_helps():
    arm = rolling_ball("1.1 - sqrt(x*x + y*y + z*z)")
    at_the_top = np.array([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0])  # inside a sphere
    with pytest.raises(SingularityError, match="ball 'rolls' is where the normal of its surface points against z"):
        arm.forward_dynamics(at_the_top, np.zeros(6), np.zeros(6))
    over = np.eye(4)
    over[:3, :3] = np.diag([1.0, -1.0, -1.0])
    turned_frame = cy.Mechanism.of(
        "ball", [Body("ground"), Body("ball", 0.7, inertia=0.4 * 0.7 * 0.01 * np.eye(3))],
        [Joint("free", "ground", "ball", Floating())], frames=[Frame("over", "ground", over)],
        constraints=[Ball("rolls", "over", "ball", 0.1, "1.1 - sqrt(x*x + y*y + z*z)")])
    found = turned_frame.forward_dynamics(at_the_top, np.zeros(6), np.zeros(6))
    np.testing.assert_allclose(found, 0.0, atol=1e-12)  # it would hang there, if the ground pulled
    assert np.isinf(turned_frame.loops.needed_friction(at_the_top, np.zeros(6), np.zeros(6))).all()
