"""Jerk-limited motions from rest to rest, beside ruckig, an integration of the jerk, and dense samples."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import cayley as cy
from cayley.errors import PlanningError
from cayley.planning.profiles.jerk_limits import jerk_limited, least_duration, rest_to_rest, rest_to_rest_state
from cayley.planning.profiles.two_points import point_to_point
from cayley.planning.timing.limits import MotionLimits
from cayley.planning.timing.path_timing import time_optimal


def random_cases(count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.integers(1, 9))
        a = rng.uniform(-2, 2, n)
        yield a, a + rng.normal(size=n) * 10 ** rng.uniform(-5, 1, n), MotionLimits(*10 ** rng.uniform(-1, 3, (3, n)))


def check_limits(move, limits):
    t = np.concatenate([np.linspace(0.0, move.duration, 3001), move.breaks, np.nextafter(move.breaks[1:], 0.0)])
    _, qd, qdd = move(t)
    for kind, reached in (("velocity", qd), ("acceleration", qdd), ("jerk", move.jerk(t))):
        assert (np.abs(reached) <= getattr(limits, kind) * (1 + 1e-9)).all(), kind


def test_durations_are_those_of_ruckig():
    ruckig = pytest.importorskip("ruckig")
    for a, b, limits in random_cases(150, 0):
        peer = ruckig.InputParameter(len(a))
        peer.current_position, peer.target_position = a, b
        peer.max_velocity, peer.max_acceleration, peer.max_jerk = limits.velocity, limits.acceleration, limits.jerk
        found = ruckig.Trajectory(len(a))
        assert ruckig.Ruckig(len(a)).calculate(peer, found) == ruckig.Result.Working
        assert least_duration(a, b, limits).seconds == pytest.approx(found.duration, rel=1e-10)


def test_motions_keep_their_limits_and_arrive():
    for a, b, limits in random_cases(40, 1):
        move = jerk_limited(a, b, limits)
        check_limits(move, limits)
        assert move.continuity >= 2
        scale = 1.0 + np.abs(b - a).max()
        for t, q in ((0.0, a), (move.duration, b)):
            assert np.abs(move(t).q - q).max() < 1e-12 * scale
            assert np.abs(move(t).qd).max() < 1e-11 * scale / move.duration


def test_one_of_the_limits_is_reached_all_along():
    """Time-optimal: at every instant the slowest joint has its greatest velocity, acceleration or jerk."""
    for a, b, limits in random_cases(60, 2):
        slowest = least_duration(a, b, limits).joint
        joint = int(slowest.split()[-1]) - 1
        move = jerk_limited(a, b, limits)
        t = 0.5 * (move.breaks[1:] + move.breaks[:-1])
        reached = np.stack([move(t).qd / limits.velocity, move(t).qdd / limits.acceleration,
                            move.jerk(t) / limits.jerk])[..., joint]
        assert np.abs(reached).max(axis=0) == pytest.approx(1.0, rel=1e-8)


def test_the_limit_that_is_named_is_the_one_that_helps():
    for a, b, limits in random_cases(40, 3):
        found = least_duration(a, b, limits)
        better = {kind: getattr(limits, kind) * (1.01 if kind == found.limit else 1.0)
                  for kind in ("velocity", "acceleration", "jerk")}
        assert least_duration(a, b, MotionLimits(**better)).seconds < found.seconds


def test_batches_are_the_single_motions_and_the_state_is_that_of_the_motion():
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(2, 50, 7))
    limits = MotionLimits(2.0, 10.0, 100.0).resized(7)
    plans = rest_to_rest(a, b, limits.velocity, limits.acceleration, limits.jerk)
    for k in (0, 17, 49):
        move = jerk_limited(a[k], b[k], limits)
        assert move.duration == plans.duration[k]
        t = np.linspace(-0.1, move.duration + 0.1, 201)
        q, qd, qdd, jerk = rest_to_rest_state(a[k], b[k], *[part[k] for part in plans], t)
        assert np.abs(move(t).q - q).max() < 1e-13
        assert np.abs(move(t).qd - qd).max() < 1e-12
        assert np.abs(move(t).qdd - qdd).max() < 1e-10
        inside = (t > 0) & (t < move.duration)
        assert np.abs(move.jerk(t) - jerk)[inside].max() < 1e-8
    assert rest_to_rest(a[:0], b[:0], limits.velocity, limits.acceleration, limits.jerk).duration.shape == (0,)


@pytest.mark.parametrize(("limits", "seconds"), [
    (MotionLimits(np.inf, np.inf, 2.0), 4 * np.cbrt(1.0 / 4.0)),
    (MotionLimits(np.inf, 4.0, np.inf), 2 * np.sqrt(1.0 / 4.0)),
    (MotionLimits(0.5, 4.0, np.inf), 1.0 / 0.5 + 0.5 / 4.0),
    (MotionLimits(0.5, np.inf, 8.0), 1.0 / 0.5 + 2 * np.sqrt(0.5 / 8.0)),
    (MotionLimits(np.inf, 1.0, 1e5), 1e-5 + 2 * np.sqrt(1.0 + 0.25e-10)),
])
def test_limits_that_are_infinite(limits, seconds):
    assert least_duration([0.0], [1.0], limits).seconds == pytest.approx(seconds, rel=1e-8)
    check_limits(jerk_limited([0.0], [1.0], limits), limits.resized(1))


def test_efforts_make_it_slower():
    arm = cy.load("planar2r")
    limits = MotionLimits.of(arm, velocity=5.0, acceleration=30.0, jerk=500.0, effort=[25.0, 6.0])
    move = jerk_limited([0.0, 0.0], [1.0, -1.0], limits)
    reached = np.abs(arm.inverse_dynamics(*move(np.linspace(0.0, move.end, 100001)))) / limits.effort
    assert 1.0 - 1e-6 < reached.max() <= 1.0 + 1e-12
    found = least_duration([0.0, 0.0], [1.0, -1.0], limits)
    assert found.limit == "effort" and found.seconds == pytest.approx(move.duration, rel=1e-12)
    check_limits(move, limits)


def test_what_cannot_be():
    with pytest.raises(PlanningError, match="joint number 2 has no limit of acceleration or jerk"):
        jerk_limited([0.0, 0.0], [1.0, 1.0], MotionLimits(1.0, [1.0, np.inf]))
    with pytest.raises(PlanningError, match="its limit of jerk is 0"):
        jerk_limited([0.0], [1.0], MotionLimits(1.0, 1.0, 0.0))
    held = jerk_limited([0.0, 3.0], [1.0, 3.0], MotionLimits(1.0, 1.0, [1.0, 0.0]))
    assert (held(np.linspace(0, held.duration, 50)).q[:, 1] == 3.0).all()


@pytest.mark.parametrize("which", range(3))
def test_negative_limits_in_a_batch_are_no_numbers(which):
    limits = np.ones((3, 4, 2))
    limits[which, 2, 1] = -1.0
    found = rest_to_rest([0.0, 0.0], [1.0, 0.5], *limits)
    for part in found:
        assert np.isnan(part[2]).all() and np.isfinite(np.delete(part, 2, axis=0)).all()
    assert rest_to_rest([1.0, 2.0], [1.0, 2.0], *np.ones((3, 2))).duration == 0.0


@pytest.mark.parametrize("effort", [[60.0, np.inf], [np.inf, 20.0]])
def test_one_joint_without_a_limit_of_effort_warns_of_nothing(effort):
    arm = cy.load("planar2r")
    limits = MotionLimits.of(arm, effort=effort, acceleration=20.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        move = point_to_point([0.0, 0.0], [1.0, 1.0], limits=limits)
        time_optimal([[0.0, 0.0], [1.0, 1.0]], limits)
    t = np.linspace(0.0, move.end, 2001)
    assert (np.abs(arm.inverse_dynamics(*move(t))) / effort).max() < 1.0 + 1e-9
