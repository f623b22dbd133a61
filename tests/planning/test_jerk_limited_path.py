"""Timing of paths under limits of jerk: dense samples, S-curves, limits that go to infinity."""

from __future__ import annotations

import numpy as np
import pytest

import cayley as cy
from cayley.errors import PlanningError
from cayley.planning.function_of_time import FunctionOfTime
from cayley.planning.motion import load_motion
from cayley.planning.profiles.two_points import point_to_point
from cayley.planning.timing.limits import MotionLimits
from cayley.planning.timing.path_timing import time_optimal


def reached(move, limits, count=60001):
    """The greatest velocity, acceleration and jerk in parts of their limits."""
    t = np.concatenate([np.linspace(move.start, move.end, count), move.breaks, np.nextafter(move.breaks[1:], 0.0)])
    _, qd, qdd, qddd = move.derivatives(t)
    return [float((np.abs(rate) / getattr(limits, kind)).max()) for kind, rate in
            (("velocity", qd), ("acceleration", qdd), ("jerk", qddd))]


def random_path(seed, n, count):
    rng = np.random.default_rng(seed)
    acceleration = 10 ** rng.uniform(0.3, 1.3, n)
    limits = MotionLimits(10 ** rng.uniform(-0.3, 0.5, n), acceleration, acceleration * 10 ** rng.uniform(0.5, 1.5, n))
    return rng.uniform(-2, 2, (count, n)), limits


@pytest.mark.parametrize(("n", "count", "stops"), [(2, 3, []), (3, 5, [2]), (7, 8, [])])
def test_no_limit_is_exceeded(n, count, stops, tmp_path):
    waypoints, limits = random_path(n, n, count)
    move = time_optimal(waypoints, limits, stops=stops, grid=100)
    parts = reached(move, limits)
    assert max(parts) <= 1.0 + 1e-9
    assert max(parts) > 1.0 - 1e-6
    assert move.continuity >= 2
    for t, q in ((move.start, waypoints[0]), (move.end, waypoints[-1])):
        state = move(t)
        assert np.abs(state.q - q).max() < 1e-9
        assert np.abs(state.qd).max() < 1e-9 and np.abs(state.qdd).max() < 1e-6
    nearest = [np.abs(move(move.breaks).q - waypoint).max(axis=1) for waypoint in waypoints[1:-1]]
    for number, distances in enumerate(nearest, 1):
        assert distances.min() < 1e-9
        assert (np.abs(move(move.breaks[distances.argmin()]).qd).max() < 1e-6) == (number in stops)
    without = time_optimal(waypoints, MotionLimits(limits.velocity, limits.acceleration), stops=stops)
    assert without.duration < move.duration
    again = load_motion(move.save(tmp_path / "move"))
    assert (again(move.duration / 3).q == move(move.duration / 3).q).all()


def test_a_straight_line_is_an_s_curve():
    for seed in range(3):
        waypoints, limits = random_path(seed, 4, 2)
        law = point_to_point(*waypoints, law="s-curve", limits=limits).duration
        assert time_optimal(waypoints, limits).duration == pytest.approx(law, rel=1e-12)
        if seed:
            continue
        between = waypoints[0] + 0.4 * (waypoints[1] - waypoints[0])  # the same line, not evenly in its parameter
        searched = time_optimal([waypoints[0], between, waypoints[1]], limits, grid=150).duration
        assert law * (1 - 1e-9) <= searched < 1.03 * law


def test_great_limits_of_jerk_cost_little():
    waypoints, limits = random_path(5, 2, 4)
    without = time_optimal(waypoints, MotionLimits(limits.velocity, limits.acceleration)).duration
    durations = [time_optimal(waypoints, MotionLimits(limits.velocity, limits.acceleration, jerk), grid=120).duration
                 for jerk in (30.0, 3000.0)]
    assert durations[0] > durations[1]
    assert without < durations[1] < 1.03 * without


def test_other_curves_and_efforts():
    wave = FunctionOfTime(lambda t: np.stack([np.sin(t), np.cos(2.0 * t)]), 0.0, 3.0)
    limits = MotionLimits([1.0, 2.0], [3.0, 2.0], [20.0, 30.0])
    assert max(reached(time_optimal(wave, limits, grid=60), limits)) <= 1.0 + 1e-9
    arm = cy.load("planar2r")
    limits = MotionLimits.of(arm, velocity=4.0, jerk=60.0, effort=[25.0, 6.0])
    move = time_optimal([[0.0, 0.0], [1.0, 1.0], [2.0, -0.5]], limits, grid=60)
    assert max(reached(move, limits)) <= 1.0 + 1e-9
    forces = np.abs(arm.inverse_dynamics(*move(np.linspace(0.0, move.end, 60001)))) / limits.effort
    assert forces.max() <= 1.0 + 1e-9


def test_what_cannot_be():
    with pytest.raises(PlanningError, match="joint number 1 moves, but its limit of jerk is 0"):
        time_optimal([[0.0], [1.0]], MotionLimits(1.0, 1.0, 0.0))
    held = time_optimal([[0.0, 1.0], [1.0, 1.0], [3.0, 1.0]], MotionLimits(1.0, 1.0, [5.0, 0.0]), grid=40)
    assert np.abs(held(np.linspace(0.0, held.end, 99)).q[:, 1] - 1.0).max() < 1e-12
