"""Time-optimal timing of paths: limits at dense samples, a linear program, toppra, closed forms, what cannot be."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linprog

import cayley as cy
from cayley.errors import PlanningError, SignatureError
from cayley.planning.function_of_time import FunctionOfTime
from cayley.planning.profiles.two_points import point_to_point
from cayley.planning.sequence import Composed, Together
from cayley.planning.splines.joint_paths import grid_of, path_of, path_through
from cayley.planning.splines.polynomials import line
from cayley.planning.splines.splines import cubic_spline, quintic_spline
from cayley.planning.timing.limits import MotionLimits
from cayley.planning.timing.path_timing import time_optimal


@pytest.fixture(scope="module")
def panda():
    return cy.load("panda")


def excess(move, limits, count=60001):
    """By how much velocity, acceleration and effort exceed their limits at most, in parts of them."""
    t = np.concatenate([np.linspace(move.start, move.end, count), move.breaks, np.nextafter(move.breaks[1:], 0.0)])
    q, qd, qdd = move(t)
    limits = limits.resized(move.nv)
    found = [np.abs(qd) / limits.velocity, np.abs(qdd) / limits.acceleration]
    found += [np.abs(limits.forces(q, qd, qdd)) / limits.effort] if limits.has_efforts else []
    return max(each.max() for each in found) - 1.0


def random_path(seed, n=7, count=10):
    rng = np.random.default_rng(seed)
    return rng.uniform(-2, 2, (count, n)), MotionLimits(10 ** rng.uniform(-0.3, 0.5, n), 10 ** rng.uniform(0.3, 1.3, n))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [1, 2, 7, 15])
def test_no_limit_is_exceeded_and_waypoints_are_passed(seed, n):
    waypoints, limits = random_path(seed, n)
    stops = [3, 6] if seed % 2 else []
    move = time_optimal(waypoints, limits, stops=stops)
    assert -1e-2 < excess(move, limits) < 1e-9
    for t, q in ((move.start, waypoints[0]), (move.end, waypoints[-1])):
        assert np.abs(move(t).q - q).max() < 1e-9
        assert np.abs(move(t).qd).max() < 1e-9
    q, qd, _ = move(move.breaks)
    for number, waypoint in enumerate(waypoints[1:-1], 1):
        distance = np.abs(q - waypoint).max(axis=1)
        assert distance.min() < 1e-12  # at a break
        assert (np.abs(qd[distance.argmin()]).max() < 1e-6) == (number in stops)
    assert move.continuity >= 1
    h = 1e-6 * move.duration
    at = np.linspace(0.1, 0.9, 23) * move.duration
    assert np.abs((move(at + h).q - move(at - h).q) / (2 * h) - move(at).qd).max() < 1e-4 * np.abs(move(at).qd).max()


def test_at_every_instant_one_limit_is_reached():
    """Time-optimal: in the middle of all but a few intervals a joint has its greatest velocity or acceleration."""
    waypoints, limits = random_path(5)
    move = time_optimal(waypoints, limits, grid=800)
    t = np.concatenate([move.breaks[:-1] + f * np.diff(move.breaks) for f in (1e-6, 0.5, 1 - 1e-6)])
    _, qd, qdd = move(t)
    reached = np.maximum((np.abs(qd) / limits.velocity).max(axis=1), (np.abs(qdd) / limits.acceleration).max(axis=1))
    reached = reached.reshape(3, -1).max(axis=0)
    assert np.mean(reached > 0.99) > 0.95


def test_the_timing_is_that_of_a_linear_program():
    """The sum of all x is greatest, under the same limits at both ends and in the middle of each interval."""
    waypoints, limits = random_path(6, n=3, count=5)
    curve = cubic_spline(np.arange(5.0), waypoints)
    s = grid_of(path_of(curve), 40)
    steps = np.diff(s)
    count = len(steps)
    rows, bounds = [], []
    for k, step in enumerate(steps):
        parabola = []
        for f in (0.0, 0.5, 1.0 - 1e-12):
            _, first, second, _ = curve.derivatives(s[k] + f * step)
            row = np.zeros((3, count + 1))  # q' (x1 - x0) / (2 step) + q'' (x0 + f (x1 - x0))
            row[:, k] = -first / (2 * step) + second * (1 - f)
            row[:, k + 1] = first / (2 * step) + second * f
            parabola.append(row)
        for row in (parabola[0], 2 * parabola[1] - 0.5 * (parabola[0] + parabola[2]), parabola[2]):
            rows += [row, -row]
            bounds += [limits.acceleration, limits.acceleration]
    slopes = np.abs(curve.derivatives(s)[1])
    caps = ((limits.velocity / slopes) ** 2).min(axis=1)
    caps[[0, -1]] = 0.0
    best = linprog(-np.ones(count + 1), np.concatenate(rows), np.concatenate(bounds),
                   bounds=[(0.0, cap) for cap in caps], method="highs")
    assert best.status == 0
    speeds = np.sqrt(np.maximum(best.x, 0.0))
    seconds = (2 * steps / (speeds[1:] + speeds[:-1])).sum()
    move = time_optimal(curve, limits, grid=40)
    assert move.duration == pytest.approx(seconds, rel=0.03)  # velocities are kept between the points as well
    free = time_optimal(curve, MotionLimits(acceleration=limits.acceleration), grid=40)
    best = linprog(-np.ones(count + 1), np.concatenate(rows), np.concatenate(bounds),
                   bounds=[(0.0, 0.0), *[(0.0, None)] * (count - 1), (0.0, 0.0)], method="highs")
    speeds = np.sqrt(np.maximum(best.x, 0.0))
    seconds = (2 * steps / (speeds[1:] + speeds[:-1])).sum()  # a little less: where a joint turns, being slower may pay
    assert seconds * (1 - 1e-6) < free.duration < seconds * 1.005


def test_beside_toppra():
    toppra = pytest.importorskip("toppra")
    toppra.setup_logging("ERROR")
    from toppra import algorithm, constraint
    for seed in range(2):
        waypoints, limits = random_path(seed)
        knots = np.linspace(0.0, 1.0, 10)
        problem = algorithm.TOPPRA(
            [constraint.JointVelocityConstraint(np.c_[-limits.velocity, limits.velocity]),
             constraint.JointAccelerationConstraint(np.c_[-limits.acceleration, limits.acceleration])],
            toppra.SplineInterpolator(knots, waypoints), gridpoints=np.linspace(0.0, 1.0, 801))
        theirs = problem.compute_trajectory().duration
        ours = time_optimal(cubic_spline(knots, waypoints, "not-a-knot"), limits, grid=800).duration
        assert ours == pytest.approx(theirs, rel=2e-3)


def test_a_straight_line_is_the_trapezoidal_law():
    rng = np.random.default_rng(7)
    for _ in range(10):
        a, b = rng.normal(size=(2, 3))
        limits = MotionLimits(*10 ** rng.uniform(-0.5, 1.0, (2, 3)))
        law = point_to_point(a, b, law="trapezoidal", limits=limits)
        assert time_optimal([a, b], limits).duration == pytest.approx(law.duration, rel=2e-4)


def test_stops_at_all_waypoints_are_straight_lines_one_after_the_other():
    waypoints, limits = random_path(8, n=3, count=4)
    move = time_optimal(waypoints, limits, stops=[1, 2])
    each = [time_optimal(pair, limits).duration for pair in pairwise(waypoints)]
    assert move.duration == pytest.approx(sum(each), rel=1e-3)


def test_efforts(panda):
    waypoints = 0.6 * np.array([panda.random_configuration(seed=k) for k in range(5)]) - [0, 0, 0, 0.5, 0, 0, 0]
    durations = []
    for limits in (MotionLimits.of(panda, velocity=np.inf), MotionLimits.of(panda),
                   MotionLimits.of(panda, acceleration=8.0), MotionLimits.of(panda, acceleration=8.0, effort=np.inf)):
        move = time_optimal(waypoints, limits)
        assert excess(move, limits) < 1e-9
        durations.append(move.duration)
    assert durations[0] < durations[1] < durations[2]
    assert durations[2] == pytest.approx(durations[3], rel=1e-6)  # these drives can do more than 8 rad/s^2
    with pytest.raises(PlanningError, match=r"joint 'panda_joint2' needs .* at rest somewhere on the path"):
        time_optimal(waypoints, MotionLimits.of(panda, effort=[87, 20, 87, 87, 12, 12, 12]))


def test_a_joint_without_a_drive():
    arm = cy.load("planar2r").with_gravity([0.0, 0.0, 0.0])
    for plan in (lambda limits: time_optimal([[0.0, 0.0], [1.0, 1.0]], limits),
                 lambda limits: point_to_point([0.0, 0.0], [1.0, 1.0], limits=limits)):
        with pytest.raises(PlanningError, match="joint 'joint2' needs a force however slow it is"):
            plan(MotionLimits.of(arm, effort=[100.0, 0.0]))


def test_efforts_with_friction():
    arm = cy.load("planar2r").with_friction("joint1", viscous=2.0, coulomb=1.0).with_friction(
        "joint2", viscous=0.5, coulomb=0.3).including("friction")
    limits = MotionLimits.of(arm, effort=[40.0, 12.0])
    move = time_optimal([[0.0, 0.0], [1.0, 1.0], [2.0, -0.5]], limits)
    assert -0.05 < excess(move, limits) < 1e-9


@pytest.mark.parametrize("wave", [20.0, 60.0, 150.0])
def test_waves_between_the_points_of_the_grid_are_seen(wave):
    limits = MotionLimits(1.0, 3.0)
    path = FunctionOfTime(lambda t: np.stack([t, 0.01 * np.sin(wave * t)]), 0.0, 6.0)
    fine = time_optimal(path, limits, grid=6000)
    for grid in (20, 200):
        move = time_optimal(path, limits, grid=grid)
        assert excess(move, limits) < 1e-9
        assert move.duration < 1.04 * fine.duration


def with_corner(rng, order):
    """A function whose derivative of this order jumps at a random time, smooth if that is -1."""
    at, size, a, b = rng.uniform([-0.9, 0.3, 0.5, 0.5], [1.9, 2.0, 3.0, 3.0])

    def kinked(t):
        piece = np.where(t > at, size * (t - at) ** order, 0.0) if order >= 0 else 0.0
        return np.stack([np.sin(a * t) + 3.0 * t, np.cos(b * t) + piece])

    return at, size, kinked


def inside_others(curve):
    """The curve itself, together with another, later and slower, and backwards."""
    yield curve, lambda at: at
    yield Together((line(-1.0, 2.0, [0.0], [4.0]), curve)), lambda at: at
    yield Composed(curve, line(5.0, 11.0, -1.0, 2.0)), lambda at: 5.0 + 2.0 * (at + 1.0)
    yield curve.reversed(), lambda at: 1.0 - at


@pytest.mark.parametrize("order", [-1, 0, 1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_corners_and_steps_of_functions_are_found_anywhere(order, seed):
    at, _, function = with_corner(np.random.default_rng([seed, order + 1]), order)
    for curve, moved in inside_others(FunctionOfTime(function, -1.0, 2.0)):
        assert curve.continuity == (order - 1 if order >= 0 else 3)
        assert np.abs(curve.breaks[1:-1] - moved(at)).max(initial=0.0) < 1e-14 * 11
        assert len(curve.breaks) == (2 if order < 0 else 3)


@pytest.mark.parametrize("place", [0.0, 0.0131, 0.3, -0.5, 2.0 / 3.0])
@pytest.mark.parametrize("grid", [100, 201])
def test_a_corner_of_a_function_is_a_stop(place, grid):
    """Least time by hand: from rest to rest on both sides, v = 1, a = 2."""
    limits = MotionLimits(1.0, 2.0)
    path = FunctionOfTime(lambda t: np.stack([t, abs(t - place)]), -1.0, 1.0)
    lengths = 1.0 + place, 1.0 - place
    least = sum(x + 0.5 if x > 0.5 else 2.0 * np.sqrt(x / 2.0) for x in lengths)
    move = time_optimal(path, limits, grid=grid)
    assert move.duration == pytest.approx(least, rel=2e-3)
    assert excess(move, limits) < 1e-9
    t = np.linspace(0.0, move.end, 200_001)
    assert np.abs(np.diff(move(t).qd, axis=0)).max() < 2.0 * t[1] * (1.0 + 1e-6)


@pytest.mark.parametrize("order", [-1, 1, 2])
def test_random_functions_with_corners_keep_their_limits(order):
    rng = np.random.default_rng(order + 30)
    limits = MotionLimits(1.0, 2.0)
    for curve, _ in inside_others(FunctionOfTime(with_corner(rng, order)[2], -1.0, 2.0)):
        move = time_optimal(curve, limits)
        t = np.linspace(0.0, move.end, 100_001)
        assert np.abs(np.diff(move(t).qd, axis=0)).max() < 2.0 * t[1] * (1.0 + 1e-6)
        assert excess(move, limits) < 1e-9


def test_corners_under_limits_of_jerk_and_steps():
    limits = MotionLimits(1.0, 3.0, 20.0)
    move = time_optimal(FunctionOfTime(lambda t: np.stack([t, abs(t - 2.3)]), 0.0, 6.0), limits, grid=60)
    t = np.linspace(0.0, move.end, 100_001)
    assert np.abs(np.diff(move(t).qd, axis=0)).max() < 3.0 * t[1] * (1.0 + 1e-6)
    assert np.abs(np.diff(move(t).qdd, axis=0)).max() < 20.0 * t[1] * (1.0 + 1e-6)
    step = FunctionOfTime(lambda t: np.stack([t, np.where(t > 0.7, 1.0, 0.0)]))
    with pytest.raises(PlanningError, match=r"the path jumps by 1 at s = 0\.7"):
        time_optimal(step, limits)


@pytest.mark.parametrize("function", [
    lambda t: np.sin(150.0 * t), lambda t: np.tanh(1000.0 * (t - 0.5)), lambda t: 1.0 / (1e-4 + (t - 0.5) ** 2),
    lambda t: np.exp(-3.0 * t) * np.cos(40.0 * t * t), lambda t: t**3 - 1e6, lambda t: np.sqrt(t), lambda t: 0.0 * t,
    lambda t: np.sqrt((t - 0.31) ** 2 + 1e-8)])
def test_smooth_functions_have_no_corners(function):
    curve = FunctionOfTime(lambda t: np.stack([function(t)]))
    assert (len(curve.breaks), curve.continuity) == (2, 3)


def test_close_corners_are_told_apart():
    curve = FunctionOfTime(lambda t: np.stack([abs(t - 0.1) + abs(t - 0.1001), np.maximum(0.0, t - 0.77)]))
    assert curve.breaks == pytest.approx([0.0, 0.1, 0.1001, 0.77, 1.0], abs=1e-15)
    assert curve.continuity == 0


def test_dry_friction_takes_no_more_time_than_its_force_does():
    way = [[-1.2, 0.5], [0.0, 0.4], [0.9, -0.7]]
    smooth = cy.load("planar2r")
    rough = smooth.with_friction("joint1", coulomb=3.0).with_friction("joint2", coulomb=1.0).including("friction")
    for jerk in (np.inf, 300.0):
        times = [time_optimal(way, MotionLimits.of(arm, acceleration=6.0, jerk=jerk, effort=500.0), grid=50).duration
                 for arm in (smooth, rough)]
        assert times[1] == pytest.approx(times[0], rel=1e-9)  # the efforts are not near their limits
    limits = MotionLimits.of(rough, effort=[60.0, 15.0])
    move = time_optimal(way, limits, grid=800)
    assert -1e-9 < excess(move, limits) < 1e-9
    t = np.linspace(0.0, move.duration, 2001)[1:-1]
    use = (np.abs(rough.inverse_dynamics(*move(t))) / limits.effort).max(axis=1)
    assert np.mean(use > 0.99) > 0.95  # the fastest motion is at one limit or another all the time


def test_paths_that_are_motions():
    limits = MotionLimits([1.0, 2.0, 1.0], [3.0, 2.0, 5.0])
    wave = FunctionOfTime(lambda t: np.stack([np.sin(t), np.cos(2.0 * t), 0.1 * t * t]), 0.0, 3.0)
    move = time_optimal(wave, limits)
    assert isinstance(move, Composed)
    assert -1e-3 < excess(move, limits) < 1e-9
    assert np.abs(move(move.end).q - wave(3.0).q).max() < 1e-9
    waypoints, limits = random_path(9, n=3, count=6)
    spline = quintic_spline(np.arange(6.0), waypoints)
    assert -1e-2 < excess(time_optimal(spline, limits), limits) < 1e-9
    again = time_optimal(point_to_point(waypoints[0], waypoints[1], duration=3.0), limits)  # at rest in s as well
    assert excess(again, limits) < 1e-9
    assert again.duration == pytest.approx(time_optimal(waypoints[:2], limits).duration, rel=0.05)


def test_corners_are_stops():
    limits = MotionLimits(1.0, 2.0)
    corner = line(0.0, 1.0, [0.0, 0.0], [1.0, 0.0]).then(line(0.0, 1.0, [1.0, 0.0], [1.0, 1.0]))
    move = time_optimal(corner, limits)
    assert move.duration == pytest.approx(2 * (1.0 / 1.0 + 1.0 / 2.0), rel=1e-3)
    assert np.abs(move(move.duration / 2).qd).max() < 1e-6
    assert excess(move, limits) < 1e-9


def test_what_cannot_be():
    limits = MotionLimits(1.0, 1.0)
    with pytest.raises(PlanningError, match="waypoints 1 and 2 are the same"):
        time_optimal([[0.0], [1.0], [1.0], [2.0]], limits)
    with pytest.raises(SignatureError, match="two or more"):
        time_optimal([[0.0, 1.0]], limits)
    with pytest.raises(PlanningError, match="waypoint 1 is not of finite numbers"):
        time_optimal([[0.0], [np.nan]], limits)
    with pytest.raises(PlanningError, match="stops are numbers of waypoints, 0 to 2"):
        time_optimal([[0.0], [1.0], [2.0]], limits, stops=[3])
    with pytest.raises(PlanningError, match="joint number 1 has no limit of acceleration or effort"):
        time_optimal([[0.0], [1.0]], MotionLimits(1.0))
    with pytest.raises(PlanningError, match="joint number 2 moves, but its limit of acceleration is 0"):
        time_optimal([[0.0, 0.0], [1.0, 1.0]], MotionLimits(1.0, [1.0, 0.0]))
    still = time_optimal([[0.0, 5.0], [1.0, 5.0], [3.0, 5.0]], MotionLimits([1.0, 0.0], [1.0, 0.0]))
    assert np.abs(still(np.linspace(0, still.end, 99)).q[:, 1] - 5.0).max() < 1e-12
    with pytest.raises(PlanningError, match="stops are between 0 and 1"):
        time_optimal(line(0.0, 1.0, [0.0], [1.0]), limits, stops=[1.5])
    stays = point_to_point([1.0, 1.0], [1.0, 1.0], duration=1.0)
    pause = point_to_point([0.0, 0.0], [1.0, 1.0], duration=1.0).then(stays, point_to_point([1.0, 1.0], [2.0, 1.0],
                                                                                          duration=1.0))
    for jerk in (np.inf, 50.0):
        with pytest.raises(PlanningError, match=r"the path does not move from s = 1(\.005)? to (2|1\.995)"):
            time_optimal(pause, MotionLimits(1.0, 1.0, jerk))
        with pytest.raises(PlanningError, match="the path does not move from s = 0 to 1"):
            time_optimal(stays, MotionLimits(1.0, 1.0, jerk))
    with pytest.raises(PlanningError, match="1 interval or more"):
        time_optimal([[0.0], [1.0]], limits, grid=0)
    assert path_through([[0.0], [1.0], [2.0]], [-2]).rests == pytest.approx([0.0, 1.0, 2.0])


def test_a_motion_that_turns_back_and_waypoints_close_together():
    limits = MotionLimits([1.0, 1.0], [2.0, 2.0])
    for waypoints in ([[0.0, 0.0], [1.0, 1e-7], [0.0, 0.0]], [[0.0, 0.0], [1e-9, 0.0], [1.0, 1.0], [1.0, 1.0 + 1e-9]],
                      [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 1e-3]]):
        move = time_optimal(waypoints, limits)
        assert excess(move, limits) < 1e-9
        assert np.isfinite(move.duration)
