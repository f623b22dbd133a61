"""Jerk-limited motions between states that are not at rest."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import cayley as cy
from cayley.errors import PlanningError, UnsupportedError
from cayley.planning.motion import MotionState
from cayley.planning.profiles.jerk_limits import jerk_limited, jerk_limited_between
from cayley.planning.timing.limits import MotionLimits

LIMITS = MotionLimits([1.0, 2.0, 1.5], [4.0, 3.0, 5.0], [30.0, 40.0, 20.0])


def test_states_are_met_and_limits_kept():
    pytest.importorskip("ruckig")
    rng = np.random.default_rng(0)
    for _ in range(60):
        first, last = (MotionState(rng.normal(size=3), 0.5 * rng.uniform(-1, 1, 3) * LIMITS.velocity,
                                0.3 * rng.uniform(-1, 1, 3) * LIMITS.acceleration) for _ in range(2))
        try:
            move = jerk_limited_between(first, last, LIMITS)
        except PlanningError as error:
            assert "exceeds a limit" in str(error)
            continue
        for t, state in ((0.0, first), (move.end, last)):
            for found, wanted in zip(move(t), state, strict=True):
                assert np.abs(found - wanted).max() < 1e-7
        t = np.linspace(0.0, move.end, 4001)
        for kind, rate in zip(("velocity", "acceleration", "jerk"), move.derivatives(t)[1:], strict=True):
            assert (np.abs(rate) <= getattr(LIMITS, kind) * (1 + 1e-9) + 1e-9).all()
        assert move.continuity == 2


def test_from_rest_to_rest_it_takes_the_time_of_our_own():
    pytest.importorskip("ruckig")
    none = np.zeros(3)
    ours = jerk_limited([0.0, 0.0, 0.0], [1.0, -2.0, 0.3], LIMITS)
    last = MotionState(np.array([1.0, -2.0, 0.3]), none, none)
    theirs = jerk_limited_between(MotionState(none, none, none), last, LIMITS)
    assert ours.duration == pytest.approx(theirs.duration, rel=1e-10)


def test_what_cannot_be(monkeypatch):
    rest = MotionState(np.zeros(3), np.zeros(3), np.zeros(3))
    with pytest.raises(PlanningError, match="velocity of joint number 2 at the last state is 3, beyond its limit"):
        jerk_limited_between(rest, MotionState(np.ones(3), np.array([0.0, 3.0, 0.0]), np.zeros(3)), LIMITS)
    with pytest.raises(PlanningError, match="that of jerk of joint number 1 is inf"):
        jerk_limited_between(rest, rest, MotionLimits(1.0, 1.0))
    arm = cy.load("planar2r")
    weak = MotionLimits.of(arm, velocity=5.0, acceleration=30.0, jerk=500.0, effort=[25.0, 6.0])
    still = MotionState(np.zeros(2), np.zeros(2), np.zeros(2))
    pytest.importorskip("ruckig")
    with pytest.raises(PlanningError, match="needs more than its limit of effort"):
        jerk_limited_between(still, MotionState(np.ones(2), np.ones(2), np.zeros(2)), weak)
    monkeypatch.setitem(sys.modules, "ruckig", None)
    with pytest.raises(UnsupportedError, match="pip install ruckig"):
        jerk_limited_between(rest, MotionState(np.ones(3), np.zeros(3), np.zeros(3)), LIMITS)
