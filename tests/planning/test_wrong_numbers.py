"""What is no number, is not finite, or makes no motion is refused by name, wherever motions are made."""

from __future__ import annotations

import numpy as np
import pytest

from cayley.errors import CayleyError, ConventionError, PlanningError, SignatureError
from cayley.planning import (
    At,
    MotionLimits,
    b_spline,
    between_states,
    cubic_spline,
    jerk_limited_between,
    point_to_point,
    polynomial_through,
    quintic_spline,
    rest_to_rest_spline,
    rotation_spline,
    screw_motion,
    through_two_points,
    time_optimal,
)

LIMITS = MotionLimits(1.0, 2.0, 10.0)


@pytest.mark.parametrize("make", [
    lambda x: point_to_point([x], [1.0], limits=LIMITS),
    lambda x: point_to_point([0.0], [1.0], duration=x),
    lambda x: MotionLimits(velocity=x),
    lambda x: MotionLimits(velocity=[1.0, x]),
    lambda x: cubic_spline([0.0, 1.0], [[x], [1.0]]),
    lambda x: quintic_spline([0.0, x], [[0.0], [1.0]]),
    lambda x: rest_to_rest_spline([0.0, x], [[0.0], [1.0]]),
    lambda x: cubic_spline([0.0, 1.0], [[0.0], [1.0]], "clamped", velocities=(x, 0.0)),
    lambda x: b_spline([[0.0], [x]], degree=1),
    lambda x: b_spline([[0.0], [1.0]], degree=1, knots=[0.0, 0.0, 1.0, x]),
    lambda x: polynomial_through([At(0.0, q=x), At(1.0, q=1.0)]),
    lambda x: polynomial_through([At(x, q=0.0), At(1.0, q=1.0)]),
    lambda x: rotation_spline([0.0, 1.0], [[1.0, 0.0, 0.0, 0.0], [x, 0.0, 0.0, 1.0]]),
    lambda x: screw_motion([0.0, 1.0], [np.eye(4), [[x, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]]),
    lambda x: through_two_points([0.0], [1.0], [[x], [0.5]], [0.3, 0.6], 1.0),
    lambda x: through_two_points([0.0], [1.0], [[0.2], [0.5]], [0.3, x], 1.0),
    lambda x: through_two_points([0.0], [1.0], [[0.2], [0.5]], [0.3, 0.6], x),
    lambda x: between_states(([0.0], [0.0], [0.0]), ([1.0], [x], [0.0]), 1.0),
    lambda x: time_optimal([[0.0], [x]], LIMITS),
    lambda x: cubic_spline([0.0, 1.0], [[0.0], [1.0]]).scaled(duration=x),
])
@pytest.mark.parametrize("wrong", ["fast", np.nan, 1j, [1.0, [2.0, 3.0]]], ids=["text", "nan", "complex", "ragged"])
def test_what_is_no_number_is_refused(make, wrong):
    with pytest.raises(CayleyError):
        make(wrong)


def test_messages_say_what_was_given():
    with pytest.raises(SignatureError, match="limits of velocity must be real numbers, not 'fast'"):
        MotionLimits(velocity="fast")
    with pytest.raises(PlanningError, match="via point 1 is not of finite numbers"):
        through_two_points([0.0], [1.0], [[0.2], [np.nan]], [0.3, 0.6], 1.0)
    with pytest.raises(SignatureError, match="the velocity of the last state is"):
        between_states(([0.0, 0.0],) * 3, ([1.0, 1.0], [0.0], [0.0, 0.0]), 1.0)
    with pytest.raises(ConventionError, match="a spline ends natural"):
        cubic_spline([0.0, 1.0], [[0.0], [1.0]], 3)
    with pytest.raises(PlanningError, match="the first and the last state are the same"):
        jerk_limited_between(([0.0],) * 3, ([0.0],) * 3, LIMITS)


def test_knots_at_which_a_motion_would_jump_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(PlanningError, match="the knot 1 is there more than 3 times"):
        b_spline(rng.normal(size=(8, 2)), degree=3, knots=[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
    corner = b_spline(rng.normal(size=(7, 2)), degree=3, knots=[0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2])
    assert corner.continuity == 0
    before, after = corner([np.nextafter(1.0, 0.0), 1.0]).q
    assert np.abs(after - before).max() < 1e-12
