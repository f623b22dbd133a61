"""Where events are found: all changes of sign of a step, those that only just happen, those that happen together."""

import numpy as np
import pytest

from cayley.sign_changes import happenings, instant, loss
from cayley.simulation import Event, simulate
from simulation.mechanisms import GRAVITY, pendulum, slider

TIGHT = {"rtol": 1e-11, "atol": 1e-12}


def looked_at(function, start, stop, looks=7):
    times = np.linspace(start, stop, looks)
    return times, np.array([function(t) for t in times])


@pytest.mark.parametrize(("sign", "expected"), [(0, [1, 2, 3, 4]), (1, [2, 4]), (-1, [1, 3])])
def test_all_changes_of_sign_between_looks_are_found_to_the_last_digit(sign, expected):
    found = happenings(np.sin, *looked_at(np.sin, 0.5, 4.2 * np.pi, 12), sign)
    assert np.abs(np.array(found) - np.pi * np.array(expected)).max() < 1e-14


@pytest.mark.parametrize("depth", [1e-9, 1e-4, 0.03])
def test_a_function_that_goes_through_zero_and_back_between_two_looks_is_found(depth):
    """(t - 0.37)^2 - depth is positive at every look."""
    def function(t):
        return (t - 0.37) ** 2 - depth

    looks = looked_at(function, -1.5, 2.0, 4)
    assert (looks[1] > 0).all()
    width = np.sqrt(depth)
    falls, rises = happenings(function, *looks, 0)
    assert max(abs(falls - (0.37 - width)), abs(rises - (0.37 + width))) < 1e-9 * max(1, 1e-4 / width)
    assert happenings(function, *looks, -1) == [falls] and happenings(function, *looks, 1) == [rises]
    assert happenings(lambda t: -function(t), looks[0], -looks[1], 1) == [falls]
    assert loss(function, *looks, 0.0) == falls and loss(function, *looks, 2 * depth) is None
    assert happenings(lambda t: (t - 0.37) ** 2 + depth, looks[0], looks[1] + 2 * depth, 0) == []


def test_one_that_starts_from_zero_happens_when_it_comes_back():
    def ball(t):  # up, and back at t = 0.2
        return t * (0.2 - t)

    assert happenings(ball, *looked_at(ball, 0.0, 0.1), 0) == []
    back, = happenings(ball, *looked_at(ball, 0.0, 1.0, 3), 0)  # within the first look
    assert abs(back - 0.2) < 1e-15
    assert happenings(ball, *looked_at(ball, 0.0, 1.0, 3), 1) == []
    assert happenings(ball, *looked_at(ball, 0.0, 1.0, 3), -1) == [back]
    assert happenings(lambda t: 0.0, np.linspace(0, 1, 5), np.zeros(5), 0) == []
    assert happenings(lambda t: t - 1.0, *looked_at(lambda t: t - 1.0, 0.0, 1.0), 0) == [1.0]  # at the very end
    assert happenings(lambda t: t - 1.0, *looked_at(lambda t: t - 1.0, 1.0, 2.0), 0) == []  # and not again from there


def test_what_must_not_be_negative_is_lost_where_it_crosses_or_at_the_start():
    times = np.linspace(0.0, 1.0, 5)
    assert abs(loss(lambda t: 0.3 - t, times, 0.3 - times, 1e-12) - 0.3) < 1e-15
    assert loss(lambda t: -t, times, -times, 1e-12) == 0.0
    assert loss(lambda t: -1e-13 * t, times, -1e-13 * times, 1e-12) is None
    dips = 4 * (times - 0.25) * (times - 0.8)  # positive, negative, positive: the first loss counts
    assert abs(loss(lambda t: 4 * (t - 0.25) * (t - 0.8), times, dips, 1e-12) - 0.25) < 1e-12


def test_an_instant_is_exact_at_both_ends_and_far_from_zero():
    assert instant(lambda t: t - 2.0, 1.0, 2.0) == 2.0
    assert abs(instant(lambda t: t - 1e6 - 1 / 3, 1e6, 1e6 + 1) - (1e6 + 1 / 3)) <= 2 * np.spacing(1e6)
    assert instant(lambda t: t, 0.0, 1.0, from_zero=True) == 0.0


# In simulations


@pytest.mark.parametrize("below", [1e-6, 1e-3, 0.1])
@pytest.mark.parametrize("method", ["DOP853", "RK45", "LSODA"])
def test_a_stop_just_below_the_height_of_a_throw_is_hit(method, below):
    """The parabola is one step of the integrator: it would pass the stop and come back within it."""
    apex = 5.0**2 / (2 * GRAVITY)
    found = simulate(slider(upper=apex - below), [0.0], [5.0], until=1.0, limits="elastic", method=method, **TIGHT)
    rise = (5.0 - np.sqrt(2 * GRAVITY * below)) / GRAVITY
    assert [o.action for o in found.happened] == ["impact"] and abs(found.happened[0].t - rise) < 1e-7
    back = 1.0 - 2 * rise  # after it is thrown back it falls as it rose, and goes on
    assert abs(found.q[-1, 0] - (-5.0 * back - GRAVITY * back**2 / 2)) < 1e-6
    assert found.q.max() <= apex - below + 1e-9


def test_both_crossings_of_one_step_are_recorded_in_their_order():
    for level in (0.5, 1.2, 1.27):
        seen = Event("level", lambda t, q, qd, level=level: q[0] - level, action="record")
        up = Event("up", lambda t, q, qd, level=level: q[0] - level, "rising", "record")
        found = simulate(slider(), [0.0], [5.0], until=1.1, events=[seen, up], **TIGHT)
        root = np.sqrt(25.0 - 2 * GRAVITY * level)
        assert [o.name for o in found.happened] == ["level", "up", "level"]
        assert np.abs([o.t for o in found.happened] - (5.0 + root * np.array([-1, -1, 1])) / GRAVITY).max() < 1e-10


def test_events_at_one_instant_all_happen_and_only_once():
    def height(t, q, qd):
        return q[0]

    events = [Event("seen", height, "falling", "record"),
              Event("thrown", height, "falling", "record", lambda t, q, qd: (q, -qd)),
              Event("seen too", lambda t, q, qd: 3.0 * q[0], "falling", "record"),
              Event("never", height, "rising", "record")]
    found = simulate(slider(), [1.0], [0.0], until=1.5, events=events, **TIGHT)
    fall = np.sqrt(2 / GRAVITY)
    assert sorted(o.name for o in found.happened) == sorted(["seen", "thrown", "seen too"] * 2)
    assert np.abs(np.sort([o.t for o in found.happened]) - fall * np.array([1, 1, 1, 3, 3, 3])).max() < 1e-11
    ending = [events[0], Event("end", height, "falling"), events[2]]
    ended = simulate(slider(), [1.0], [0.0], until=1.5, events=ending)
    assert sorted(o.name for o in ended.happened) == ["end", "seen", "seen too"] and ended.status == "event"


def test_events_before_the_one_that_acts_are_recorded_and_those_after_are_not():
    marks = [Event(f"{level}", lambda t, q, qd, level=level: q[0] - level, "falling", "record")
             for level in (0.9, 0.5, 0.1)]
    half = Event("half", lambda t, q, qd: q[0] - 0.4)
    found = simulate(slider(), [1.0], [0.0], start=7.0, until=9.0, events=[*marks, half], **TIGHT)
    assert [o.name for o in found.happened] == ["0.9", "0.5", "half"]
    falls = 7.0 + np.sqrt(2 * np.array([0.1, 0.5, 0.6]) / GRAVITY)
    assert np.abs([o.t for o in found.happened] - falls).max() < 1e-11
    assert abs(found.q[-1, 0] - 0.4) < 1e-11 and found.t[-1] == found.happened[-1].t


def test_a_limit_that_is_left_from_the_start_ends_there_and_one_that_is_touched_does_not():
    assert simulate(slider(lower=0.0), [0.0], [-1.0], until=1.0, limits="end").t.tolist() == [0.0]
    thrown = simulate(slider(lower=0.0), [0.0], [2.0], until=1.0, limits="end", **TIGHT)
    assert thrown.status == "limit" and abs(thrown.t[-1] - 4.0 / GRAVITY) < 1e-11


@pytest.mark.parametrize("limit", [1e-3, 1.0, -40.0, 1e6])
def test_what_lies_on_a_stop_to_the_last_digit_rests_there(limit):
    """Coordinates far from zero are coarser: one rounding above a stop is on it, a thousandth of a millimetre is not.
    """
    above = np.nextafter(limit, np.inf)
    rests = simulate(slider(lower=limit), [above], [0.0], until=0.1, limits="inelastic")
    assert rests.finished and rests.happened == () and (rests.q == above).all() and (rests.qd == 0).all()
    falls = simulate(slider(lower=limit), [limit + 1e-6 * max(1.0, abs(limit))], [0.0], until=0.1, limits="inelastic")
    assert falls.q[-1, 0] < falls.q[0, 0]


def test_two_joints_that_knock_each_other_off_their_stops_come_to_rest():
    """Inelastic stops of an arm that falls: each impact throws the other joint off its stop, ever more slowly."""
    from cayley.model.catalogue import load_robot
    arm = load_robot("puma560")
    q = np.array([0.0, -0.5, 0.6, 0.0, 0.3, 0.0])
    found = simulate(arm, q, np.zeros(6), until=3.0, limits="inelastic", rtol=1e-8)
    assert found.finished, found.message
    assert (found.q >= arm.lower - 1e-9).all() and (found.q <= arm.upper + 1e-9).all()
    assert np.diff(found.energy).max() < 1e-6


def test_a_period_is_measured_by_every_pass_and_none_is_counted_twice():
    passing = Event("passes", lambda t, q, qd: q[0], action="record")
    found = simulate(pendulum(0.7), [0.01], [0.0], until=20.0, events=passing, **TIGHT)
    half = np.pi * np.sqrt(0.7 / GRAVITY) * (1 + 0.01**2 / 16)
    times = np.array([o.t for o in found.happened])
    assert np.abs(times - half * (np.arange(len(times)) + 0.5)).max() < 1e-6 and len(times) == int(20 / half + 0.5)


def test_short_events_are_found_wherever_they_fall_in_a_step():
    """Forty that last 0.2 ms each, in steps of 0.1 s."""
    when = np.random.default_rng(0).uniform(0.2, 1.9, 40)
    short = [Event(f"{k}", lambda t, q, qd, at=at: (t - at) ** 2 - 1e-8, "falling", "record")
             for k, at in enumerate(when)]
    found = simulate(slider(), [0.0], [0.0], until=2.0, events=short, max_step=0.1)
    times = {o.name: o.t for o in found.happened}
    assert len(found.happened) == len(times) == 40
    assert max(abs(times[f"{k}"] - (at - 1e-4)) for k, at in enumerate(when)) < 1e-9


def test_events_at_the_ends_of_steps_are_found_once():
    """Each lasts a little more than a thousandth of a step, and lies just before, across or just after one of its ends.
    """
    free = {"until": 1.0, "max_step": 0.1, **TIGHT}
    ends = simulate(slider(), [0.0], [0.0], **free).t[-6:]
    step, around = ends[2] - ends[1], np.array([-20, -12, -8, -4, -2, 0, 2, 4, 8, 12, 20]) * 1e-4
    when = (ends[1:-1, None] + around * step).ravel()
    short = [
        Event(f"{k}", lambda t, q, qd, at=at: (t - at)**2 - (6e-4 * step)**2, "both", "record")
        for k, at in enumerate(when)]
    found = simulate(slider(), [0.0], [0.0], events=short, **free)
    for k, at in enumerate(when):
        times = [o.t for o in found.happened if o.name == f"{k}"]
        assert len(times) == 2 and np.abs(np.array(times) - at - 6e-4 * step * np.array([-1, 1])).max() < 1e-9


def test_samples_follow_each_other_in_time_and_work_is_counted():
    """No instant is kept twice, neither where events act nor at the end; evaluations are those of the forces, which are
    asked once more for each sample, steps those kept.
    """
    calls = []

    def wind(t, q, qd):
        calls.append(t)
        return np.zeros(6)

    plain = simulate(slider(), [1.0], [0.0], until=1.0, wrenches={"mass": wind})
    assert (plain["wrench_mass"] == 0).all() and plain["wrench_mass"].shape == (len(plain), 6)
    assert plain.facts["evaluations"] == len(calls) - len(plain) and plain.facts["steps"] == len(plain) - 1
    bounce = Event("bounce", lambda t, q, qd: q[0], "falling", "record", lambda t, q, qd: (q, -qd))
    ground = Event("ground", lambda t, q, qd: q[0] + 1e-3 * (t - 2), "falling")
    for more in ({"events": bounce}, {"events": ground}, {"limits": 0.5}, {"limits": "end"}):
        found = simulate(slider(lower=0.0), [1.0], [0.0], until=2.0, **more)
        assert (np.diff(found.t) > 0).all() and len(found) > 3


def test_at_an_impact_the_state_after_it_is_kept_and_asked_times_stay_as_they_are():
    fall = np.sqrt(2 / GRAVITY)
    stop = Event("stop", lambda t, q, qd: q[0], "falling", "record", lambda t, q, qd: (0 * q, -0.5 * qd))
    for tree, more in ((slider(lower=0.0), {"limits": 0.5}), (slider(), {"events": stop})):
        found = simulate(tree, [1.0], [0.0], until=1.5 * fall, **more, **TIGHT)
        after = int(np.argmin(np.abs(found.t - fall)))
        assert abs(found.t[after] - fall) < 1e-11 and abs(found.qd[after, 0] - 0.5 * GRAVITY * fall) < 1e-9
        asked = fall * np.array([0.0, 0.4, 0.9, 1.1, 1.5])
        at_times = simulate(tree, [1.0], [0.0], times=asked, **more, **TIGHT)
        rise = 0.5 * GRAVITY * fall * (asked - fall) - GRAVITY * (asked - fall) ** 2 / 2
        assert (at_times.t == asked).all()
        assert np.abs(at_times.q[:, 0] - np.where(asked < fall, 1 - GRAVITY * asked**2 / 2, rise)).max() < 1e-10
