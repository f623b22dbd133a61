"""Scenes with contacts, beside closed forms and SciPy: stacks, rods, boxes that tip, loops, wheels, stops."""

import ctypes

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cayley as cy
from cayley.geometry.convex_shapes import Box
from cayley.geometry.rotations import matrix_from_quaternion
from cayley.model.joint_kinds import Floating, Prismatic
from cayley.model.parts import Body, Friction, Joint
from compiler.parity import compiled_c
from programs import needs
from simulation.test_contacts import STEP, G, at, ball, block, box_inertia


def stack(boxes, size=(0.3, 0.25, 0.2)):
    names = [f"box{k}" for k in range(boxes)]
    made = cy.Mechanism.of("stack", [Body("ground"), *[Body(n, 1.0, (0, 0, 0), box_inertia(1.0, size)) for n in names]],
                           [Joint(f"free {n}", "ground", n, Floating()) for n in names])
    apart = [(one, other) for k, one in enumerate(names) for other in names[k + 2:]]
    return made.with_contacts(shapes={n: Box(size) for n in names}, friction=0.6,
                              exclude=[*apart, *[("ground", n) for n in names[1:]]])


def test_five_boxes_stand_for_a_minute():
    tower = stack(5)
    q = tower.neutral.copy().reshape(5, 7)
    q[:, 0], q[:, 1], q[:, 2] = [0.0, 0.01, 0.0, 0.01, 0.0], 0.005 * np.arange(5), 0.1 + 0.2 * np.arange(5)
    run = tower.rollout()(q.ravel(), np.zeros(30), step=STEP, steps=60_000, every=10_000)
    assert run.status == "finished"
    assert np.abs(run.q - run.q[0]).max() < 1e-11
    carried = run.end["contact_forces"].reshape(5, 4, 3)[:, :, 2].sum(1)
    assert carried == pytest.approx(G * np.arange(5, 0, -1), rel=1e-9)


def rod(friction, length=1.0, mass=0.8):
    """A rod with a ball of no size at both ends, along its z."""
    inertia = mass * length**2 / 12
    made = cy.Mechanism.of("rod", [Body("ground"), Body("rod", mass, (0, 0, 0), np.diag([inertia, inertia, 1e-4]))],
                           [Joint("free", "ground", "rod", Floating())])
    ends = [np.eye(4), np.eye(4)]
    ends[0][2, 3], ends[1][2, 3] = -length / 2, length / 2
    return made.with_frame("foot", "rod", ends[0]).with_frame("head", "rod", ends[1]).with_contacts(
        points={"foot": 1e-6, "head": 1e-6}, friction=friction)


def leaning(angle, length=1.0):
    """The configuration of a rod that stands on its foot and leans towards x."""
    return np.array([np.sin(angle) * length / 2, 0.0, np.cos(angle) * length / 2 + 1e-6,
                     np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0])


def angle_of(q):
    return 2 * np.arctan2(q[..., 5], q[..., 3])


def test_a_rod_on_ice_falls_with_its_middle_straight_down():
    def fall(t, x):  # m/12 l^2 + m l^2/4 sin^2, by the energy
        angle, speed = x
        s, c = np.sin(angle), np.cos(angle)
        return [speed, (0.5 * G * s - 0.25 * s * c * speed**2) / (1 / 12 + 0.25 * s * s)]

    exact = solve_ivp(fall, (0, 0.4), [0.3, 0.0], rtol=1e-10, atol=1e-12).y[0, -1]
    falling = rod(0.0)
    ends = []
    for step in (2e-4, 1e-4):
        run = falling.rollout()(leaning(0.3), np.zeros(6), step=step, steps=round(0.4 / step))
        assert np.abs(run.q[:, 0] - run.q[0, 0]).max() < 1e-9
        ends.append(angle_of(run.q[-1]))
    assert 2 * ends[1] - ends[0] == pytest.approx(exact, abs=2e-6)  # order 1, extrapolated


def test_a_rod_tips_about_its_foot_and_slides_where_friction_ends():
    mu, start = 0.25, 0.05
    angles = np.linspace(start, 1.0, 100_000)
    turning, speed2 = 1.5 * G * np.sin(angles), 3 * G * (np.cos(start) - np.cos(angles))  # about the foot
    along = 0.5 * (turning * np.cos(angles) - speed2 * np.sin(angles))
    upwards = G - 0.5 * (turning * np.sin(angles) + speed2 * np.cos(angles))
    slips = angles[np.argmax(along > mu * upwards)]
    run = rod(mu).rollout()(leaning(start), np.zeros(6), step=1e-4, steps=12_000)
    angle, force = angle_of(run.q), run["contact_forces"][:, 0]
    share = np.hypot(force[1:, 0], force[1:, 1]) / force[1:, 2]
    slip = int(np.argmax(share > mu * (1 - 1e-9)))
    assert angle[slip] == pytest.approx(slips, abs=1e-3)
    stands = (angle[1:slip] > 0.1)
    assert np.abs(share[:slip - 1] - np.interp(angle[1:slip], angles, along / upwards))[stands].max() < 2e-3
    speed = np.diff(run.q[:, 0] - 0.5 * np.sin(angle)) / 1e-4
    assert np.abs(speed[:slip]).max() < 1e-3
    assert speed[slip + 1000] < -1e-2  # backwards: the rod pushes its foot


@pytest.mark.parametrize("side", [-1, 1])
def test_a_box_tips_over_where_its_weight_leaves_its_base(side):
    width, height = 0.2, 0.5
    slope = np.arctan(width / height) + side * 0.01
    box = block(2.0, slope, size=(width, 0.3, height))
    run = box.rollout()(at(height / 2, box), np.zeros(6), step=STEP, steps=2000, every=100)
    tilt = np.abs(2 * np.arcsin(np.linalg.norm(run.q[-1, 4:6])))
    assert tilt > 0.3 if side > 0 else tilt < 1e-10


@pytest.mark.parametrize("force, tips, slides", [(7.7, False, False), (8.0, True, False), (6.1, False, True)])
def test_a_push_tips_a_box_or_slides_it(force, tips, slides):
    width, height, mass = 0.2, 0.5, 2.0  # tips at m g w / h = 7.848 N
    mu = 0.3 if slides else 0.9
    box = block(mu, 0.0, size=(width, 0.3, height), mass=mass)
    run = box.rollout()(at(height / 2, box), np.zeros(6), [force, 0, 0, 0, 0, 0], step=STEP, steps=300)
    tilt = np.abs(2 * np.arcsin(np.linalg.norm(run.q[-1, 4:6])))
    assert (tilt > 1e-3) == tips
    expected = (force / mass - mu * G) * 0.3 if slides else 0.0
    if not tips:
        assert run.qd[-1, 0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("speed", [1.0, -1.0])
def test_painleves_rod_is_solved_or_flagged(speed):
    """At tan(angle) = 2 and with more friction than 4/3 no finite force keeps a rod that slides one way on the ground.
    The step has an impulse instead (an impact without collision), after which the foot does not slide."""
    lean = np.arctan(0.5)  # from the vertical
    q = leaning(lean)
    way = np.array([np.cos(lean), 0.0, np.sin(lean)]) * speed  # along x, in the axes of the rod
    run = rod(2.5).rollout()(q, [*way, 0, 0, 0], step=STEP, steps=300)
    assert run.status == "finished" or (run.status == "not converged" and "contact" in run.message)
    assert (run.q[:, 2] - 0.5 * np.cos(angle_of(run.q))).min() > -1e-5
    assert np.diff(run.kinetic + run.potential).max() < 1e-4
    foot = np.diff(run.q[:, 0] - 0.5 * np.sin(angle_of(run.q))) / STEP
    if speed < 0:  # ahead of the foot: it jams in the first step
        assert abs(foot[0]) < 1e-3
        assert run.kinetic[1] < 0.9 * run.kinetic[0]


def test_a_four_bar_pushes_a_block_until_it_hits_a_stop():
    """A loop, a stop, a pair of moving bodies and the ground in one problem: afterwards the block slides by itself."""
    mu, size = 0.3, np.array([0.6, 0.3, 0.3])
    level = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])  # y points upwards
    made = cy.load("four_bar").with_joint("rocker", lower=-0.25).attached(
        Body("block", 1.0, (0, 0, 0), box_inertia(1.0, size)), at="base", motion=Floating()).with_contacts(
        level, points={"end of rocker": 0.02}, shapes={"block": Box(size)}, friction=mu,
        exclude=[("ground", "end of rocker")])
    q = made.neutral.copy()
    q[3:6] = 0.4 + 0.02 + 0.3 + 0.01, 0.15, 0.0
    tau = np.zeros(made.nv)
    tau[0] = -3.0
    run = made.rollout(limits="inelastic")(q, np.zeros(made.nv), tau, step=STEP, steps=600)
    assert run.status == "finished"
    assert np.abs(run.q[-1, 2] + 0.25) < 1e-4
    assert np.abs(run.qd[-1, :3]).max() < 1e-8  # held by the stop
    assert run.q[:, 2].min() > -0.25 - 1e-4
    assert np.abs(made.loops.residual(run.q)).max() < 1e-6
    tip = made.pose(run.q, "end of rocker")[:, 0, 3]
    assert (run.q[:, 3] - 0.3 - tip - 0.02).min() > -1e-5  # never in the block
    hit = int(np.argmin(run.q[:, 2])) + 2
    speed = run.qd[hit, 3]
    assert speed > 0.5
    after = run.qd[hit:, 3]
    sliding = np.maximum(speed - mu * G * STEP * np.arange(len(after)), 0.0)
    np.testing.assert_allclose(after, sliding, rtol=0, atol=1e-9)


def test_a_joint_with_dry_friction_slides_on_the_ground_with_friction():
    mass, dry, mu, push = 2.0, 3.0, 0.4, 15.0
    made = cy.Mechanism.of(
        "sledge", [Body("ground"), Body("rail", 0.5, (0, 0, 0), np.eye(3)), Body("foot", mass, (0, 0, 0), np.eye(3))],
        [Joint("x", "ground", "rail", Prismatic((1, 0, 0)), friction=Friction(coulomb=dry)),
         Joint("z", "rail", "foot", Prismatic((0, 0, 1)))]).with_contacts(points={"foot": 0.05}, friction=mu)
    roll = made.including("friction").rollout()
    run = roll([0.0, 0.05], [0.0, 0.0], [push, 0.0], step=STEP, steps=1000)
    assert run.qd[-1, 0] == pytest.approx((push - dry - mu * mass * G) / (mass + 0.5), rel=1e-9)
    held = roll([0.0, 0.05], [0.0, 0.0], [dry + mu * mass * G - 0.01, 0.0], step=STEP, steps=1000)
    assert np.abs(held.qd[-1]).max() < 1e-12
    assert abs(held.end["contact_forces"][0, 0]) <= mu * mass * G * (1 + 1e-9)


def test_a_robot_on_wheels_drives_against_a_wall():
    made = cy.load("two_wheel_robot")
    wall = np.eye(4)
    wall[:3, 3] = 0.8, 0.0, 0.1
    made = made.with_contacts(None, points={"chassis": 0.2}, obstacles={"wall": Box((0.2, 4.0, 1.0), wall)})
    torque = np.zeros(7)
    torque[[made.tree.v_slices[k].start for k in (1, 2)]] = 0.6
    run = made.rollout()(made.neutral, np.zeros(7), torque, step=STEP, steps=4000)
    assert run.status == "finished"
    assert run.q[-1, 0] == pytest.approx(0.5, abs=1e-5)  # its front is on the wall
    assert run.q[:, 0].max() < 0.5 + 1e-5
    assert np.linalg.norm(run.end["contact_forces"][0]) == pytest.approx(2 * 0.6 / 0.1, rel=1e-6)
    assert np.abs(run.qd[-1]).max() < 1e-8


def test_penetration_does_not_grow_in_a_hundred_thousand_steps():
    """A box is shaken and turned: it slides, tips and falls back."""
    @cy.kernel("(),(7),(6)->(6)", outputs=("tau",))
    def shaken(t, q, qd):
        R = matrix_from_quaternion(q[3:])
        push = np.stack([12.0 * np.sin(3.1 * t) - 8.0 * q[0], 12.0 * np.cos(2.3 * t) - 8.0 * q[1], np.sin(7.0 * t)])
        turn = 4.0 * np.stack([np.sin(6.9 * t), np.cos(5.3 * t), 0.2 * np.sin(t)])
        return np.concatenate([R.T @ push - 0.5 * qd[:3], R.T @ turn - 0.6 * qd[3:]])

    size = np.array([0.4, 0.3, 0.2])
    box = block(0.5, 0.0, size=size)
    run = box.rollout(controller=shaken)(at(0.1, box), np.zeros(6), step=STEP, steps=100_000, every=10)
    corners = np.stack(np.meshgrid(*([-0.5, 0.5],) * 3), -1).reshape(-1, 3) * size
    upwards = box.pose(run.q, "body")[:, 2, :3]
    depth = -(run.q[:, None, 2] + np.einsum("bj,kj->bk", upwards, corners)).min(1)
    assert (np.diff(np.argmax(np.abs(upwards), axis=1)) != 0).sum() > 50  # it tumbles
    assert depth.max() < 1e-5


def state_of(run, roll):
    """The state of the start as one array: its blocks, its work and its defect."""
    return np.concatenate([run.q[0], run.qd[0], np.zeros(roll.system.layout.smooth - run.q.shape[1] - run.qd.shape[1]),
                           [0.0, 0.0]])


@needs("cc")
def test_in_c():
    rolling = ball(friction=0.3)
    roll = rolling.rollout()
    function = compiled_c(roll.c_source("ball"))
    function.restype = None
    q, qd, tau = at(0.1, rolling), np.array([1.0, 0.2, 0, 0, 0, 0]), np.array([0.1, 0, 0, 0, 0.02, 0])
    right = roll(q, qd, tau, step=STEP, steps=200, every=50)
    size = roll.system.layout.smooth + 2
    x, kept, row = state_of(right, roll), np.empty((4, size)), roll.fixed_step.table.numbers.astype(float)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (x, row, tau, kept)]
    function(ctypes.c_long(4), ctypes.c_long(50), ctypes.c_long(len(row)), pointers[0], ctypes.c_double(STEP),
             *pointers[1:])
    np.testing.assert_allclose(kept[:, :7], right.q[1:], rtol=0, atol=1e-12)
    np.testing.assert_allclose(kept[:, 7:13], right.qd[1:], rtol=0, atol=1e-12)


RUN = {"step": STEP, "steps": 60, "every": 60}


class TestLayers:
    """A ball that slides at first and then rolls, pushed and turned: gradients of its place beside differences."""

    @pytest.fixture
    def given(self):
        rolling = ball(friction=0.3)
        return rolling.rollout(), at(0.1, rolling), np.array([2.0, 0.3, 0, 0, 0, 0]), np.array(
            [0.4, 0.2, -1.0, 0.01, 0.0, 0.02])

    def differences(self, roll, q, qd, tau):
        def loss(tau):
            return (roll(q, qd, tau, **RUN).q[-1, :3] ** 2).sum()

        e = 1e-5
        return np.array([(loss(tau + e * unit) - loss(tau - e * unit)) / (2 * e) for unit in np.eye(6)])

    def test_in_jax(self, given):
        jax = pytest.importorskip("jax")
        roll, q, qd, tau = given
        with jax.enable_x64(True):
            layer = roll.for_jax(**RUN)
            found = jax.jit(jax.grad(lambda tau: (layer(q, qd, tau=tau)[0][-1, :3] ** 2).sum()))(tau)
        np.testing.assert_allclose(found, self.differences(roll, q, qd, tau), rtol=1e-6, atol=1e-10)

    def test_in_torch(self, given):
        torch = pytest.importorskip("torch")
        roll, q, qd, tau = given
        tensor = torch.tensor(tau, requires_grad=True)
        out = roll.for_torch(**RUN)(torch.tensor(q), torch.tensor(qd), tensor)
        (out[0][-1, :3] ** 2).sum().backward()
        np.testing.assert_allclose(tensor.grad, self.differences(roll, q, qd, tau), rtol=1e-6, atol=1e-10)
