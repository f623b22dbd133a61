"""Paths, efforts, timing and inspection of machines with loops, mimic joints, wheels and floating bases, by the calls
that an arm has. Oracles: inverse kinematics in closed form, Lagrange's equations of the platform by differences,
multipliers solved densely, power."""

import numpy as np
import pytest

import cayley as cy
from cayley import planning
from cayley.control.law_trial import ordinary_step, try_law
from cayley.control.targets import JointAim
from cayley.errors import PlanningError, SignatureError
from cayley.machines import FourBar, Planar3RRR, TranslationalDelta
from cayley.planning import MotionLimits
from cayley.planning.driven import coordinates

G = 9.81
H = 1e-4


def circle(here, radius, axis=1):
    """A whole turn from a pose, in the plane of x and another axis."""
    right, opposite, left = (here.copy() for _ in range(3))
    opposite[0, 3] -= 2 * radius
    for pose, side in ((right, radius), (left, -radius)):
        pose[0, 3] -= radius
        pose[axis, 3] += side
    return planning.circular_arc(here, right[:3, 3], opposite).then(
        planning.circular_arc(opposite, left[:3, 3], here))


def angle_of(t, duration):
    """How far round the 3-4-5 law is, and its first two derivatives."""
    x = t / duration
    return [2 * np.pi * each for each in (10 * x**3 - 15 * x**4 + 6 * x**5,
                                          (30 * x**2 - 60 * x**3 + 30 * x**4) / duration,
                                          (60 * x - 180 * x**2 + 120 * x**3) / duration**2)]


def by_differences(function, x):
    return np.stack([(function(x + step) - function(x - step)) / (2 * H) for step in H * np.eye(len(x))], axis=-1)


def lagrange_torques(parts, drives, x, xd, xdd):
    """Forces of the drives from Lagrange's equations in the platform's coordinates x alone: `parts(x)` are masses,
    inertias, centres (k, d) and angles (k), `drives(x)` the angles of the drives; all derivatives by differences."""
    masses, inertias, _, _ = parts(x)

    def mass_matrix(at):
        Jc = by_differences(lambda y: parts(y)[2], at)
        Ja = by_differences(lambda y: parts(y)[3], at)
        return np.einsum("k,kdi,kdj->ij", masses, Jc, Jc) + np.einsum("k,ki,kj->ij", inertias, Ja, Ja)

    def energy(at):
        return 0.5 * xd @ mass_matrix(at) @ xd

    def potential(at):
        return G * masses @ parts(at)[2][:, -1]

    M_rate = (mass_matrix(x + H * xd) - mass_matrix(x - H * xd)) / (2 * H)
    force = mass_matrix(x) @ xdd + M_rate @ xd - by_differences(energy, x) + by_differences(potential, x)
    return np.linalg.solve(by_differences(drives, x).T, force)


@pytest.fixture(scope="module")
def three_rrr():
    """With gravity along -y, whose legs are in their first working mode."""
    shape = Planar3RRR([(0.0, 0.0), (2.4, 0.0), (1.2, 2.0785)], cranks=[0.8] * 3, rods=[0.9] * 3, side=0.7)
    machine = cy.Mechanism(shape.tree(masses={"crank": 1.2, "rod": 0.7, "platform": 2.0}))
    x = np.array([1.25, 0.62, 0.2])
    return shape, machine, x, shape.configuration(x, shape.inverse_position(x)[0])


def test_torques_of_a_three_rrr_along_a_circle_are_those_of_lagrange(three_rrr):
    shape, machine, x0, start = three_rrr
    radius, duration = 0.06, 1.5
    led = planning.follow(machine, circle(machine.pose(start, "tool"), radius), "tool", start, tolerance=1e-9)
    assert led.status == "followed" and not led.complaints
    move = led.timed(duration)
    profile = planning.effort_profile(machine, move)
    at = list(machine.tree.actuated_velocities)
    assert not np.delete(profile.tau, at, axis=1).any() and profile.feasible

    def parts(x):
        theta = shape.inverse_position(x)[0]
        ends = shape.crank_ends(theta)
        corners = shape.vertices(x)
        rods = np.arctan2(*(corners - ends).T[::-1])
        centres = [*(shape.pivots + ends) / 2, *(ends + corners) / 2, x[:2]]
        inertias = [*(1.2 * shape.cranks**2 / 12), *(0.7 * shape.rods**2 / 12), 2.0 * shape.side**2 / 12]
        return np.array([1.2] * 3 + [0.7] * 3 + [2.0]), np.array(inertias), np.array(centres), np.array(
            [*theta, *rods, x[2]])

    for k in range(40, 400, 45):
        phi, rate, second = angle_of(profile.t[k], duration)
        way = np.array([np.cos(phi) - 1, np.sin(phi), 0.0])
        tangent = np.array([-np.sin(phi), np.cos(phi), 0.0])
        normal = np.array([-np.cos(phi), -np.sin(phi), 0.0])
        x = x0 + radius * way
        np.testing.assert_allclose(move(profile.t[k]).q[at], shape.inverse_position(x)[0], atol=1e-8)
        expected = lagrange_torques(parts, lambda y: shape.inverse_position(y)[0], x, radius * rate * tangent,
                                    radius * (second * tangent + rate**2 * normal))
        np.testing.assert_allclose(profile.tau[k, at], expected, atol=1e-3 * np.abs(profile.tau).max())


def test_torques_of_a_delta_along_a_circle_are_those_of_lagrange():
    shape = TranslationalDelta(crank=0.3, rod=0.6, base=0.25, platform=0.08)
    machine = cy.Mechanism(shape.tree(masses={"crank": 0.8, "platform": 1.5}, gravity=[0.0, 0.0, -G]))
    x0, radius, duration = np.array([0.05, -0.04, 0.55]), 0.05, 0.8
    start = machine.loops.close(shape.configuration(x0, shape.inverse_position(x0)[-1])).configuration
    led = planning.follow(machine, circle(machine.pose(start, "platform"), radius), "platform", start,
                          task="position", tolerance=1e-9)
    move = led.timed(duration)
    profile = planning.effort_profile(machine, move, effort=40.0)
    at = list(machine.tree.actuated_velocities)

    def parts(x):
        theta = shape.inverse_position(x)[-1]
        phi = np.array(shape.directions)
        out = shape.base + 0.15 * np.cos(theta)
        cranks = np.stack([out * np.cos(phi), out * np.sin(phi), 0.15 * np.sin(theta)], axis=1)
        return (np.array([0.8] * 3 + [1.5]), np.array([0.8 * 0.3**2 / 12] * 3 + [0.0]), np.concatenate([cranks, [x]]),
                np.append(theta, 0.0))

    for k in range(40, 400, 45):
        phi, rate, second = angle_of(profile.t[k], duration)
        x = x0 + radius * np.array([np.cos(phi) - 1, np.sin(phi), 0.0])
        tangent, normal = np.array([-np.sin(phi), np.cos(phi), 0.0]), np.array([-np.cos(phi), -np.sin(phi), 0.0])
        np.testing.assert_allclose(move(profile.t[k]).q[at], shape.inverse_position(x)[-1], atol=1e-8)
        expected = lagrange_torques(parts, lambda y: shape.inverse_position(y)[-1], x, radius * rate * tangent,
                                    radius * (second * tangent + rate**2 * normal))
        np.testing.assert_allclose(profile.tau[k, at], expected, atol=1e-3 * np.abs(profile.tau).max())
    assert profile.worst.joint in machine.actuated_joints and profile.fastest().duration < duration


@pytest.mark.parametrize("name", ["four_bar", "three_rrr", "delta", "stewart", "panda_hand", "gripper", "five_bar"])
def test_driven_motions_keep_constraints_and_their_forces_those_of_dense_multipliers(name):
    """M qdd + bias = S^T tau + A^T forces, solved by least squares; the power of the drives is the rate of energy."""
    machine = cy.load(name)
    start = machine.loops.close(machine.neutral).configuration
    at = list(machine.tree.actuated_velocities)
    places = list(coordinates(machine.tree))
    rng = np.random.default_rng(5)
    away = start[places] + 0.05 * rng.normal(size=len(places)) * (1.0 if name != "stewart" else 0.5)
    move = planning.driven_motion(machine, planning.point_to_point(start[places], away, duration=1.0), start)
    t = np.linspace(0.0, 1.0, 41)
    q, qd, qdd, qddd = move.derivatives(t)
    assert np.abs(machine.loops.residual(q)).max() < 1e-12
    assert np.abs(machine.loops.rates(q, qd)).max() < 1e-11
    A = machine.loops.jacobian(q)
    assert np.abs(np.einsum("khn,kn->kh", A, qdd) + machine.loops.drift(q, qd)).max() < 1e-10
    step = 1e-5
    before, after = (move.derivatives(t[1:-1] + side * step) for side in (-1, 1))
    for order, exact in ((1, qdd), (2, qddd)):
        np.testing.assert_allclose((after[order] - before[order]) / (2 * step), exact[1:-1],
                                   atol=1e-6 * (1 + np.abs(exact).max()))
    profile = planning.effort_profile(machine, move, samples=41)
    S = np.eye(machine.nv)[at]
    for k in range(0, 41, 8):
        needed = machine.inertia_matrix(q[k]) @ qdd[k] + machine.bias_forces(q[k], qd[k])
        both = np.linalg.lstsq(np.concatenate([S, A[k]]).T, needed, rcond=1e-10)[0]
        np.testing.assert_allclose(profile.tau[k, at], both[:len(at)], atol=1e-8 * (1 + np.abs(needed).max()))
    energy = [machine.kinetic_energy(*state[:2]) + machine.potential_energy(state[0]) for state in (before, after)]
    power = np.einsum("kn,kn->k", profile.tau, qd)[1:-1]
    np.testing.assert_allclose((energy[1] - energy[0]) / (2 * step), power, atol=2e-5 * (1 + np.abs(power).max()))


def test_the_fastest_crank_of_a_four_bar_always_works_at_its_limit():
    """With one degree of freedom a motion is the fastest that a torque allows if the torque is nowhere less."""
    machine = cy.load("four_bar")
    drives = planning.Polynomials([0.0, 1.0], [[[0.2], [2.2]]])
    start = machine.loops.close(machine.neutral, fixed={"crank": 0.2}).configuration
    path = planning.driven_motion(machine, drives, start)
    resting = np.abs(planning.effort_profile(machine, path.scaled(duration=1e3)).tau).max()
    limits = MotionLimits.of(machine, velocity=np.inf, effort=3.0 * resting)
    quick = planning.time_optimal(path, limits, grid=400)
    tau = np.abs(planning.effort_profile(machine, quick, samples=2001).tau[:, 0]) / (3.0 * resting)
    assert tau.max() < 1 + 1e-9 and np.mean(tau > 0.99) > 0.95
    through = planning.time_optimal(path([0.0, 1.0]).q, limits, grid=400)
    assert through.duration == pytest.approx(quick.duration, rel=1e-3)
    use = planning.limit_use(quick, limits)
    assert use.parts["effort"][0] == pytest.approx(1.0, abs=1e-6) and not use.parts["effort"][1:].any()


def test_limits_of_passive_joints_and_jerks_are_kept():
    machine = cy.load("four_bar")
    first = machine.loops.close(machine.neutral, fixed={"crank": 0.2}).configuration
    last = machine.loops.follow_inputs({"crank": np.linspace(0.2, 2.0, 50)}, start=first).end
    free = planning.point_to_point(first, last, limits=MotionLimits.of(machine, velocity=2.0, acceleration=20.0))
    rocker = np.abs(free(np.linspace(0, free.duration, 400)).qd[:, 2]).max()
    slow = MotionLimits.of(machine, velocity=[2.0, np.inf, 0.4 * rocker], acceleration=20.0, jerk=400.0)
    for move in (planning.point_to_point(first, last, limits=slow), planning.jerk_limited(first, last, slow),
                 planning.time_optimal([first, last], slow)):
        use = planning.limit_use(move, slow)
        assert max(part.max() for part in use.parts.values()) <= 1 + 1e-6
        assert use.parts["velocity"][2] > 0.9
        np.testing.assert_allclose(move.position(move.end), last, atol=1e-8)
    with pytest.raises(PlanningError, match="rocker needs"):
        planning.point_to_point(first, last, duration=free.duration, limits=slow)


def test_wheels_roll_along_a_driven_motion():
    robot = cy.load("two_wheel_robot")
    turns = planning.cubic_spline([0.0, 1.0, 2.0], [[0.0, 0.0], [3.0, 1.0], [4.0, 4.0]], "clamped")
    move = planning.driven_motion(robot, turns, robot.neutral)
    t = np.linspace(0.0, 2.0, 101)
    q, qd, _ = move(t)
    assert np.abs(robot.loops.rates(q, qd)).max() < 1e-11
    for column in range(robot.nv):
        np.testing.assert_allclose(np.gradient(move(np.linspace(0.9, 1.1, 2001)).q[:, column], 1e-4)[1:-1],
                                   move(np.linspace(0.9, 1.1, 2001)).qd[1:-1, column], atol=1e-6)
    run = robot.variants.with_actuated("left", "right")
    profile = planning.effort_profile(run, move, samples=101)
    assert not np.delete(profile.tau, list(run.tree.actuated_velocities), axis=1).any()
    power = np.einsum("kn,kn->k", profile.tau, qd)
    energy = robot.kinetic_energy(q, qd)
    assert np.trapezoid(power, t) == pytest.approx(energy[-1] - energy[0], abs=2e-3 * np.abs(power).max())


def test_a_floating_base_without_a_hold_is_named_and_one_that_falls_is_free():
    arm = cy.load("planar2r", floating_base=True).variants.with_missing_masses(1.0)
    stands = planning.Together((planning.pose_spline([0.0, 1.0], np.tile(np.eye(4), (2, 1, 1))),
                                planning.point_to_point([0.2, 0.4], [0.8, -0.3], duration=1.0)))
    with pytest.raises(PlanningError, match=r"root_joint.*no drive.*floating_base=False"):
        planning.effort_profile(arm, stands)
    with pytest.raises(PlanningError, match="no drive"):
        planning.time_optimal(stands, MotionLimits.of(arm, acceleration=5.0, effort=50.0))
    t = np.linspace(0.0, 1.0, 6)
    poses = np.tile(np.eye(4), (6, 1, 1))
    poses[:, :3, 3] = 0.5 * t[:, None] ** 2 * arm.gravity
    fall = planning.Together((planning.pose_spline(t, poses, "not-a-knot"),
                              planning.cubic_spline(t, np.tile([0.2, 0.4], (6, 1)))))
    assert np.abs(planning.effort_profile(arm, fall).tau).max() < 1e-9


def test_a_tool_on_a_floating_base_is_led_along_a_line():
    arm = cy.load("panda", floating_base=True)
    q = np.array([0.1, 0.2, 0.3, 1, 0, 0, 0, 0.1, 0.2, 0.3, -1.5, 0.2, 1.6, 0.4])
    here = arm.pose(q, "tool")
    there = here.copy()
    there[:3, 3] += [0.05, -0.1, 0.08]
    led = planning.follow(arm, planning.straight_line(here, there), "tool", q)
    assert led.status == "followed" and led.joints.attitudes == (3,)
    s = np.linspace(0.0, led.path.length, 37)
    np.testing.assert_allclose(arm.pose(led.joints.position(s), "tool"), led.path(s), atol=2e-6)


def test_singular_values_along_a_motion_are_those_by_the_drives(three_rrr):
    shape, machine, x0, start = three_rrr
    led = planning.follow(machine, circle(machine.pose(start, "tool"), 0.05), "tool", start)
    plane = (True, True, False, False, False, True)
    seen = planning.inspect_motion(machine, led.timed(1.0), frame="tool", task=plane, step=0.1)
    assert not seen.complaints
    for k, t in enumerate(seen.times):
        phi = angle_of(t, 1.0)[0]
        x = x0 + 0.05 * np.array([np.cos(phi) - 1, np.sin(phi), 0.0])
        Jx, Jq = shape.jacobians(x, shape.inverse_position(x)[0])
        values = np.linalg.svd(np.linalg.solve(Jx, np.diag(Jq)), compute_uv=False)
        assert seen.singular_values[k] == pytest.approx(values[-1], rel=1e-5)


def test_motions_that_open_a_loop_or_have_too_few_coordinates_are_named():
    machine = cy.Mechanism(FourBar(crank=0.12, coupler=0.41, rocker=0.29, ground=0.37).tree())
    straight = planning.point_to_point([0.0, 1.0, 1.0], [1.0, 0.0, 2.0], duration=1.0)
    for call in (planning.effort_profile, planning.inspect_motion):
        with pytest.raises(PlanningError, match=r"does not keep the constraints.*pin.*driven_motion"):
            call(machine, straight)
        with pytest.raises(SignatureError, match=r"driven_motion\(machine, motion, start\)"):
            call(machine, planning.point_to_point([0.0], [1.0], duration=1.0))
    start = machine.loops.close([0.0, 1.0, 1.0], fixed=["crank"]).configuration
    stuck = machine.variants.with_actuated("rocker")
    with pytest.raises(PlanningError, match=r"does not follow its drives.*dead centre of 'pin'"):
        planning.driven_motion(stuck, planning.point_to_point([start[2]], [start[2] + 6.0], duration=1.0), start)
    with pytest.raises(SignatureError, match="2 coordinates"):
        planning.driven_motion(machine, planning.point_to_point([0.0, 0.0], [1.0, 1.0], duration=1.0), start)


def test_a_machine_with_more_drives_than_freedoms_has_forces_of_least_norm(three_rrr):
    """The motion follows from as many joints as there are freedoms, and the forces are those of all drives."""
    machine = cy.load("four_bar").variants.with_actuated("crank", "rocker")
    start = machine.loops.close(machine.neutral).configuration
    move = planning.driven_motion(machine, planning.point_to_point([start[0]], [start[0] + 1.0], duration=1.0), start)
    single = planning.effort_profile(cy.load("four_bar"), move)
    both = planning.effort_profile(machine, move)
    qd = move(both.t).qd
    np.testing.assert_allclose((both.tau * qd).sum(1), (single.tau * qd).sum(1), atol=1e-9)
    assert (np.linalg.norm(both.tau, axis=1) <= np.linalg.norm(single.tau, axis=1) + 1e-12).all()


def test_a_law_is_tried_on_a_machine_with_a_loop():
    """Critically damped: what is left of the crank's step is (1 + 10 t) exp(-10 t) while the others follow; computed
    torque keeps a motion that the loop allows to rounding."""
    machine = cy.load("four_bar")
    law = machine.control.computed_torque(100.0, 20.0)
    start = machine.loops.close(machine.neutral).configuration
    target = ordinary_step(machine.tree, start)
    assert np.abs(machine.loops.residual(target)).max() < 1e-10 and target[0] == pytest.approx(start[0] + 0.3)
    trial = try_law(machine, law, JointAim(machine.tree), start=start, target=target)
    assert trial.verdict.nature == "asymptotically stable" and trial.finished
    assert np.abs(trial.tracking_error).max() < 1e-9
    t = trial.step.t
    np.testing.assert_allclose(trial.step_error[:, 0], 0.3 * (1 + 10 * t) * np.exp(-10 * t), atol=0.01)
    move = planning.driven_motion(machine, planning.point_to_point([start[0]], [1.5], duration=1.0), start)
    along = try_law(machine, law, JointAim(machine.tree), move=move)
    assert along.is_given and np.abs(along.tracking_error).max() < 1e-9
