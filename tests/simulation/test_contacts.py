"""Motions with contacts, beside closed forms: blocks stick and slide, balls bounce and roll, boxes rest."""

import numpy as np
import pytest

import cayley as cy
from cayley.geometry.convex_shapes import Box, Sphere
from cayley.model.joint_kinds import Floating, Prismatic, Revolute
from cayley.model.parts import Body, Joint

G = 9.81
STEP = 1e-3


def free_body(shape, mass, inertia, *, slope=0.0, **contacts):
    gravity = G * np.array([np.sin(slope), 0.0, -np.cos(slope)])
    made = cy.Mechanism.of("toy", [Body("ground"), Body("body", mass, (0, 0, 0), inertia)],
                           [Joint("free", "ground", "body", Floating())], gravity=gravity)
    return made.with_contacts(shapes={"body": shape}, **contacts)


def box_inertia(mass, size):
    x, y, z = np.square(size)
    return mass / 12 * np.diag([y + z, x + z, x + y])


def block(friction, slope, size=(0.4, 0.3, 0.2), mass=2.0):
    return free_body(Box(size), mass, box_inertia(mass, size), slope=slope, friction=friction)


def ball(radius=0.1, mass=0.5, **contacts):
    return free_body(Sphere(radius), mass, 0.4 * mass * radius**2 * np.eye(3), **contacts)


def at(height, mechanism, x=0.0):
    q = mechanism.neutral.copy()
    q[:3] = x, 0.0, height
    return q


def test_a_block_below_the_angle_of_friction_does_not_creep():
    slope = np.deg2rad(20.0)
    stuck = block(0.5, slope)
    run = stuck.rollout()(at(0.1, stuck), np.zeros(6), step=STEP, steps=60_000, every=10_000)
    assert run.status == "finished"
    assert np.abs(run.q[-1] - run.q[0]).max() < 1e-11
    forces = run.end["contact_forces"]
    assert forces[:, 2].sum() == pytest.approx(2.0 * G * np.cos(slope), rel=1e-8)
    assert forces[:, 0].sum() == pytest.approx(-2.0 * G * np.sin(slope), rel=1e-8)
    assert (np.hypot(forces[:, 0], forces[:, 1]) <= 0.5 * forces[:, 2] + 1e-9).all()


@pytest.mark.parametrize("friction", [0.0, 0.2, 0.35])
def test_a_block_above_the_angle_of_friction_slides_at_the_right_acceleration(friction):
    slope = np.deg2rad(20.0)
    sliding = block(friction, slope)
    run = sliding.rollout()(at(0.1, sliding), np.zeros(6), step=STEP, steps=1000)
    acceleration = G * (np.sin(slope) - friction * np.cos(slope))
    assert run.qd[-1, 0] == pytest.approx(acceleration, rel=1e-8)
    assert np.abs(run.q[:, 2] - 0.1).max() < 1e-9


def test_a_ball_goes_from_sliding_to_rolling():
    rolling = ball(friction=0.2)
    v0 = 3.0
    run = rolling.rollout()(at(0.1, rolling), [v0, 0, 0, 0, 0, 0], step=1e-4, steps=6000)
    until = 2 * v0 / (7 * 0.2 * G)  # slides until v = 5/7 v0, where mu g t = 2/7 v0
    start = np.searchsorted(run.t, until + 2e-4)
    speed = np.diff(run.q[:, 0]) / 1e-4  # qd is in the axes of the ball, which turn
    assert np.allclose(speed[start:], 5 / 7 * v0, rtol=1e-4)
    before = run.t[1:] < until - 2e-4
    assert np.allclose(speed[before], v0 - 0.2 * G * run.t[1:][before], atol=1e-6)
    assert np.linalg.norm(run.qd[-1, 3:]) == pytest.approx(5 / 7 * v0 / 0.1, rel=1e-4)


@pytest.mark.parametrize("restitution", [0.3, 0.7, 1.0])
def test_a_ball_bounces_with_its_restitution(restitution):
    bouncing = ball(restitution=restitution)
    run = bouncing.rollout()(at(0.6, bouncing), np.zeros(6), step=1e-4, steps=8000)
    speed = run.qd[:, 2]
    impact = int(np.argmax(np.diff(speed) > 1.0))
    assert speed[impact + 1] == pytest.approx(-restitution * speed[impact], rel=1e-3)
    assert speed[impact] == pytest.approx(-np.sqrt(2 * G * 0.5), rel=1e-3)


def test_a_box_that_falls_on_four_corners_rests_and_shares_its_weight():
    fallen = block(0.6, 0.0)
    q = at(0.3, fallen)
    run = fallen.rollout()(q, np.zeros(6), step=STEP, steps=3000)
    assert abs(run.q[-1, 2] - 0.1) < 1e-7
    assert np.abs(run.qd[-1]).max() < 1e-9
    forces = run.end["contact_forces"][:, 2]
    assert forces.sum() == pytest.approx(2.0 * G, rel=1e-8)
    assert (forces >= 0).all()


def test_the_work_of_friction_is_the_energy_that_is_lost():
    slope = np.deg2rad(25.0)
    sliding = block(0.3, slope)
    run = sliding.rollout()(at(0.1, sliding), [1.0, 0.2, 0, 0, 0, 0], step=1e-4, steps=5000)
    assert run.work[-1] < -0.5
    assert np.abs(run.energy_drift).max() < 2e-3  # order 1


def test_penetration_does_not_grow():
    fallen = block(0.5, np.deg2rad(10.0))
    run = fallen.rollout()(at(0.12, fallen), [0.5, 0.3, 0, 0, 0, 0.5], step=STEP, steps=20_000, every=20)
    assert run.q[:, 2].min() > 0.1 - 1e-5


def test_a_finger_pushes_a_joint_against_the_ground():
    # a slide with a point that presses on the ground with its drive: force = drive + weight, no motion
    slide = cy.Mechanism.of("press", [Body("base"), Body("foot", 1.5, (0, 0, 0), 1e-3 * np.eye(3))],
                            [Joint("z", "base", "foot", Prismatic((0, 0, 1)))]).with_contacts(points={"foot": 0.05})
    run = slide.rollout()([0.05], [0.0], [-20.0], step=STEP, steps=50)
    assert run.end["contact_forces"][0] == pytest.approx([0.0, 0.0, 20.0 + 1.5 * G], rel=1e-9, abs=1e-9)
    assert abs(run.q[-1, 0] - 0.05) < 1e-12


def test_a_driven_wheel_spins_up_while_it_slips():
    radius, mass, mu, torque = 0.2, 3.0, 0.4, 4.0  # friction carries 2.35 N m
    spin = 0.06
    wheel = cy.Mechanism.of(
        "wheel", [Body("ground"), Body("rail", 0.0), Body("hub", 1e-9, (0, 0, 0), 1e-12 * np.eye(3)),
                  Body("rim", mass, (0, 0, 0), np.diag([0.05, spin, 0.05]))],
        [Joint("x", "ground", "rail", Prismatic((1, 0, 0))), Joint("z", "rail", "hub", Prismatic((0, 0, 1))),
         Joint("axle", "hub", "rim", Revolute((0, 1, 0)))]).with_contacts(points={"rim": radius}, friction=mu)
    run = wheel.rollout()([0.0, radius, 0.0], np.zeros(3), [0.0, 0.0, torque], step=STEP, steps=500)
    assert run.qd[-1, 0] == pytest.approx(mu * G * 0.5, rel=1e-6)
    assert run.qd[-1, 2] == pytest.approx((torque - mu * mass * G * radius) / spin * 0.5, rel=1e-6)
    gentle = wheel.rollout()([0.0, radius, 0.0], np.zeros(3), [0.0, 0.0, 1.0], step=STEP, steps=500)
    rolls = 1.0 * radius / (spin + mass * radius**2)
    assert gentle.qd[-1, 0] == pytest.approx(rolls * 0.5, rel=1e-6)
    assert gentle.qd[-1, 2] * radius == pytest.approx(gentle.qd[-1, 0], rel=1e-8)


def test_a_compliant_contact_gives_way_by_its_force():
    soft = ball(compliance=1e-4)
    run = soft.rollout()(at(0.1, soft), np.zeros(6), step=STEP, steps=5000)
    assert run.q[-1, 2] == pytest.approx(0.1 - 1e-4 * 0.5 * G, abs=1e-8)


def test_batches_float32_and_c_agree_with_one_state():
    sliding = block(0.3, np.deg2rad(25.0))
    roll = sliding.rollout()
    one = roll(at(0.1, sliding), np.zeros(6), step=STEP, steps=200)
    many = roll(np.tile(at(0.1, sliding), (17, 1)), np.zeros(6), step=STEP, steps=200)
    assert np.array_equal(many.q, np.broadcast_to(one.q, many.q.shape))
    single = roll(at(0.1, sliding).astype(np.float32), np.zeros(6, np.float32), step=np.float32(STEP), steps=200)
    assert single.q.dtype == np.float32
    assert np.abs(single.q[-1] - one.q[-1]).max() < 1e-4
    assert roll(np.zeros((0, 7)) + at(0.1, sliding), np.zeros(6), step=STEP, steps=3).q.shape == (0, 4, 7)


def test_other_methods_are_refused():
    with pytest.raises(cy.errors.UnsupportedError, match=r"contacts.*semi-implicit-euler"):
        block(0.5, 0.1).rollout(method="rk4")


def test_gradients_are_those_of_differences_while_contacts_slide_or_stick():
    rolling = ball(friction=0.3)
    roll = rolling.rollout()
    q, qd, tau = at(0.1, rolling), np.array([2.0, 0.3, 0, 0, 0, 0]), np.array([0.4, 0.2, -1.0, 0.01, 0.0, 0.02])
    options = {"step": STEP, "steps": 60, "every": 60}  # slides all the time; later steps roll

    def end(forces, **more):
        return roll(q, qd, forces, **options | more).q[-1]

    for steps in (60, 600):
        found = roll.sensitivities(q, qd, tau, by="tau", **options | {"steps": steps, "every": steps})["q"]["tau"][-1]
        e = 1e-5
        differences = np.stack([(end(tau + e * unit, steps=steps, every=steps) - end(tau - e * unit, steps=steps,
                                every=steps)) / (2 * e) for unit in np.eye(6)], axis=-1)
        assert np.abs(found - differences).max() < 1e-5 * max(1.0, np.abs(differences).max())
        weights = {"q": np.concatenate([np.zeros((1, 7)), np.ones((1, 7))])}
        backward = roll.vjp(q, qd, tau, weights=weights, by=["tau"],
                            **options | {"steps": steps, "every": steps})["tau"]
        assert np.allclose(backward, found.sum(0), rtol=1e-8, atol=1e-12)


def test_a_point_that_nothing_moves_along_its_normal_has_no_force():
    bar = cy.load("four_bar")  # in the plane z = 0, on which its tool lies
    q, qd = bar.configurations["ready"], np.zeros(bar.nv)
    with pytest.warns(cy.errors.ModelWarning, match=r"tool on ground overlaps by 0.01 m"):
        beside = bar.with_contacts(points={"tool": 0.01}).rollout()(q, qd, step=STEP, steps=20)
    assert beside.status == "finished"
    assert np.abs(beside.end["contact_forces"]).max() == 0.0
    assert np.allclose(beside.q, bar.rollout(method="semi-implicit-euler")(q, qd, step=STEP, steps=20).q, atol=1e-9)


@pytest.mark.parametrize("iterations", [0, -1, 2.5, "many"])
def test_sweeps_are_a_number_of_one_or_more(iterations):
    with pytest.raises(cy.errors.ConventionError, match="iterations are the sweeps"):
        block(0.5, 0.1).rollout(iterations=iterations)
