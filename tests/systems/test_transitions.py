"""Transitions in compiled batches and in simulations, beside closed forms and SciPy's events."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cayley as cy
from cayley.errors import ConventionError, SignatureError
from cayley.systems import Block, System, Transition
from systems.plants import G, ball

METHODS = ["rk4", "semi-implicit-euler", "lie-midpoint", "gauss"]


def impacts(height, e, until):
    """When a ball that falls from a height meets the floor, and how high it is at the end."""
    t = np.sqrt(2 * height / G)
    v = G * t
    found = []
    while t <= until:
        found.append(t)
        v = e * v
        last, t = t, t + 2 * v / G
    since = until - last
    return found, v * since - G * since**2 / 2


def test_every_ball_of_a_batch_has_its_own_impacts():
    """A ball falls on parabolas, which a method of order two or more follows exactly: what is left is the location."""
    heights = np.array([1.0, 2.0, 0.5, 0.04, 1.7, 0.9, 0.25])
    e = np.array([0.8, 0.7, 0.9, 0.98, 0.6, 0.85, 0.95])
    found = ball().rollout(method="rk4", parameters=["e"])({"height": heights, "speed": 0.0}, step=0.01, steps=100,
                                                           parameters={"e": e})
    assert found.finished
    assert found.log.count.tolist() == [len(impacts(h, k, 1.0)[0]) for h, k in zip(heights, e, strict=True)]
    for k in range(len(heights)):
        times, height = impacts(heights[k], e[k], 1.0)
        assert np.abs(found.log.times[k, :len(times)] - times).max() < 1e-13
        assert np.isnan(found.log.times[k, len(times):]).all() and abs(found.end.height[k] - height) < 1e-12
        assert [o.name for o in found[k].happened] == ["impact"] * len(times)
    assert np.abs(found.energy_drift).max() < 1e-12  # what an impact takes is booked as work
    assert (found["height"] > -1e-12).all()
    alone = ball().rollout(parameters=["e"])({"height": heights[3], "speed": 0.0}, step=0.01, steps=100,
                                             parameters={"e": e[3]})
    assert (alone.vectors == found.vectors[3]).all() and (alone.log.count == found.log.count[3]).all()


def test_simulate_has_the_same_impacts():
    found = ball(0.7).simulate({"height": 2.0, "speed": 0.0}, until=2.0)
    times, height = impacts(2.0, 0.7, 2.0)
    assert np.abs(np.array([o.t for o in found.happened]) - times).max() < 1e-12
    assert abs(found.end.height - height) < 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_impacts_keep_the_order_of_a_method(method):
    """Where a method makes errors, an instant found to its accuracy adds none of a lower order."""
    drag = System("drag", state={"height": Block((), "m", velocity="speed"), "speed": "m/s"},
                  derivative=lambda t, x, u, p: -G - 0.5 * x.speed,
                  transitions=[Transition("impact", lambda t, x, u, p: x.height,
                                          jump=lambda t, x, u, p: {"speed": -0.8 * x.speed})])
    exact = drag.simulate({"height": 1.0, "speed": 0.0}, until=1.3, rtol=1e-12, atol=1e-13)
    errors = []
    for steps in (65, 130, 260):
        end = drag.rollout(method=method)({"height": 1.0, "speed": 0.0}, step=1.3 / steps, steps=steps, every=steps)
        assert end.log.count == len(exact.happened) == 2
        errors.append(max(abs(end.end.height - exact.end.height), np.abs(end.log.times[:2] - [
            o.t for o in exact.happened]).max()))
    order = {"rk4": 4, "semi-implicit-euler": 1, "lie-midpoint": 2, "gauss": 4}[method]
    assert np.log2(errors[0] / errors[2]) / 2 > order - 0.3


def test_many_impacts_in_one_step_and_storms_are_said():
    e = np.array([0.5, 0.9])
    roll = ball().rollout(parameters=["e"], events_in_a_step=20)
    whole = roll({"height": 1.0, "speed": 0.0}, step=1.3, steps=1, parameters={"e": e})  # all in one step
    for k in range(2):
        times, height = impacts(1.0, e[k], 1.3)
        assert whole.log.count[k] == len(times) > 1 and abs(whole.end.height[k] - height) < 1e-12
    stormy = roll({"height": 1.0, "speed": 0.0}, step=0.01, steps=200, parameters={"e": e})
    rest = np.sqrt(2 / G) * (1 + 2 * 0.5 / (1 - 0.5))  # where infinitely many impacts of the first are over
    assert stormy.status == "event storm"
    assert "1 of 2 trajectories" in stormy.message and "20 transitions" in stormy.message
    assert abs(stormy.t[stormy.good[0]] - rest) < 0.011 and stormy.good[1] == 201
    assert ball(0.5).simulate({"height": 1.0, "speed": 0.0}, until=3.0).status == "event storm"


def test_a_mode_puts_an_end_to_ever_faster_impacts():
    resting = System(
        "ball", state={"height": Block((), "m", velocity="speed"), "speed": "m/s"},
        modes={"contact": ("flying", "resting")},
        derivative=lambda t, x, u, p: cy.where(x.is_in("contact", "resting"), 0.0, -G),
        transitions=[
            Transition("rest", lambda t, x, u, p: cy.where(x.speed > -0.05, x.height, 1.0),
                       during={"contact": "flying"}, jump=lambda t, x, u, p: {"height": 0.0, "speed": 0.0},
                       to={"contact": "resting"}),
            Transition("impact", lambda t, x, u, p: x.height, during={"contact": "flying"},
                       jump=lambda t, x, u, p: {"speed": -0.5 * x.speed})])
    found = resting.rollout()({"height": [1.0, 0.3], "speed": 0.0}, step=0.005, steps=400)
    assert found.finished and (found.end.contact == 1).all()
    assert (found.end.height == 0).all() and (found.end.speed == 0).all()
    simulated = resting.simulate({"height": 1.0, "speed": 0.0}, until=2.0)
    assert simulated.finished and simulated.end.contact == 1
    count = found.log.count[0]
    assert len(simulated.happened) == count and simulated.happened[-1].name == "rest"
    assert np.abs(np.array([o.t for o in simulated.happened]) - found.log.times[0, :count]).max() < 1e-10


def test_a_pendulum_with_a_stop_is_that_of_simulate_with_limits():
    """The limit of a joint with restitution, written as a transition of the system of the arm."""
    from cayley.model.joint_kinds import Revolute
    from cayley.model.parts import Body, Joint, Limits
    rod = Body("rod", 1.5, [0.4, 0.0, 0.0], np.diag([0.01, 0.3, 0.3]))
    arm = cy.Mechanism.of("pendulum", [Body("base"), rod],
                          [Joint("hinge", "base", "rod", Revolute((0.0, 1.0, 0.0)), limits=Limits([-10.0], [1.9]))])
    free = arm.system()
    stop = System("pendulum", state=free.state, inputs=free.inputs, derivative=free.derivative, energy=free.energy,
                  power=free.power, transitions=[Transition("stop", lambda t, x, u, p: 1.9 - x.q[0],
                                                            jump=lambda t, x, u, p: {"qd": -0.6 * x.qd})])
    exact = arm.simulate([0.3], [0.0], until=5.0, limits=0.6, rtol=1e-11, atol=1e-12)
    impacts = np.array([o.t for o in exact.happened])
    start = {"q": [0.3], "qd": [0.0]}
    found = stop.rollout()(start, step=1e-3, steps=5000, every=100)
    simulated = stop.simulate(start, until=5.0, rtol=1e-11, atol=1e-12)
    assert found.finished and len(impacts) >= 3 and found.log.count == len(impacts)
    assert np.abs(found.log.times[:len(impacts)] - impacts).max() < 1e-8
    assert np.abs([o.t for o in simulated.happened] - impacts).max() < 1e-9
    assert np.abs(found.end.q - exact.q[-1]).max() < 1e-7 and np.abs(found.energy_drift).max() < 1e-8


def thermostat():
    """A room that warms towards 40 degrees with the heater and cools towards 10 without, between 19 and 21 degrees."""
    return System(
        "room", state={"T": "°C"}, modes={"heater": ("on", "off")}, parameters={"low": 19.0, "high": 21.0},
        derivative=lambda t, x, u, p: cy.where(x.is_in("heater", "on"), 40.0, 10.0) - x.T,
        transitions=[
            Transition("too hot", lambda t, x, u, p: x.T - p.high, "rising",
                       during={"heater": "on"}, to={"heater": "off"}),
            Transition("too cold", lambda t, x, u, p: x.T - p.low, "falling",
                       during={"heater": "off"}, to={"heater": "on"})])


def test_a_thermostat_switches_when_the_exponentials_say():
    warm = np.log((40 - 19) / (40 - 21))
    cool = np.log((21 - 10) / (19 - 10))
    first = np.log((40 - 15) / (40 - 21))
    expected = first + np.cumsum([0.0, cool, warm, cool, warm, cool])
    room = thermostat()
    found = room.rollout()({"T": [15.0, 25.0], "heater": ["on", "off"]}, step=0.02, steps=60)
    assert np.abs(found.log.times[0, :6] - expected[:6]).max() < 1e-8
    assert found.log.numbers[0, :6].tolist() == [0, 1, 0, 1, 0, 1]
    late = np.log((25 - 10) / (19 - 10)) + np.cumsum([0.0, warm, cool, warm])
    assert np.abs(found.log.times[1, :4] - late).max() < 1e-8 and found.log.numbers[1, 0] == 1
    simulated = room.simulate({"T": 15.0}, until=1.2, rtol=1e-11, atol=1e-12)
    assert np.abs(np.array([o.t for o in simulated.happened])[:6] - expected[:6]).max() < 1e-9
    assert set(np.unique(found["heater"])) == {0.0, 1.0} and simulated.happened[0].name == "too hot"
    with pytest.raises(SignatureError, match="one of on, off, not 'warm'"):
        room.simulate({"T": 15.0, "heater": "warm"}, until=1.0)


def test_a_controller_with_a_mode_is_connected_to_a_plant():
    plant = System("plant", state={"T": "°C"}, inputs={"heat": "W"}, derivative=lambda t, x, u, p: u.heat + 10.0 - x.T)
    switch = System(
        "switch", inputs={"T": "°C"}, outputs={"heat": "W"}, modes={"heater": ("on", "off")},
        output=lambda t, x, u, p: cy.where(x.is_in("heater", "on"), 30.0, 0.0),
        transitions=[
            Transition("hot", lambda t, x, u, p: u.T - 21.0, "rising",
                       during={"heater": "on"}, to={"heater": "off"}),
            Transition("cold", lambda t, x, u, p: u.T - 19.0, "falling",
                       during={"heater": "off"}, to={"heater": "on"})])
    loop = cy.connect(plant, switch)
    whole = thermostat().rollout()({"T": [15.0, 18.0]}, step=0.02, steps=100)
    parts = loop.rollout()({"T": [15.0, 18.0]}, step=0.02, steps=100)
    assert np.abs(whole["T"] - parts["T"]).max() < 1e-12 and (whole.log.count == parts.log.count).all()


def belt(mu=4.0, k=25.0, belt_speed=1.0):
    """A mass on a belt, held by a spring: it sticks until the spring is stronger than friction, then slips back."""
    return System(
        "belt", state={"x": Block((), "m", velocity="v"), "v": "m/s"}, modes={"contact": ("stick", "slip")},
        derivative=lambda t, x, u, p: cy.where(x.is_in("contact", "stick"), 0.0, 0.7 * mu - k * x.x),
        transitions=[
            Transition("slip", lambda t, x, u, p: mu - k * x.x, during={"contact": "stick"}, to={"contact": "slip"}),
            Transition("stick", lambda t, x, u, p: x.v - belt_speed, "rising", during={"contact": "slip"},
                       jump=lambda t, x, u, p: {"v": belt_speed}, to={"contact": "stick"})])


def test_stick_slip_goes_round_its_cycle():
    """Against SciPy's events, mode by mode."""
    mu, k = 4.0, 25.0
    t, y, mode, expected = 0.0, [0.0, 1.0], "stick", []
    while t < 4.0:
        def slope(t, y, mode=mode):
            return [y[1], 0.0 if mode == "stick" else 0.7 * mu - k * y[0]]

        def leaves(t, y, mode=mode):
            return mu - k * y[0] if mode == "stick" else y[1] - 1.0

        leaves.terminal, leaves.direction = True, -1 if mode == "stick" else 1
        found = solve_ivp(slope, (t, 4.0), y, events=leaves, rtol=1e-11, atol=1e-12, first_step=1e-4)
        t, y = found.t[-1], found.y[:, -1]
        if t < 4.0:
            expected.append(t)
            mode = "slip" if mode == "stick" else "stick"
    rolled = belt().rollout()({"x": [0.0, 0.1], "v": 1.0}, step=2e-3, steps=2000, every=50)
    simulated = belt().simulate({"x": 0.0, "v": 1.0}, until=4.0, rtol=1e-11, atol=1e-12)
    assert len(expected) >= 4 and rolled.log.count[0] == len(expected)
    assert np.abs(rolled.log.times[0, :len(expected)] - expected).max() < 1e-8
    assert np.abs(np.array([o.t for o in simulated.happened]) - expected).max() < 1e-8
    assert np.abs(np.array([rolled.end.x[0], rolled.end.v[0]]) - y).max() < 1e-7


def test_a_guard_that_is_passed_is_passed_once():
    """An escapement: each time the pendulum goes through the middle to the right, it gets a push, and goes on."""
    clock = System("clock", state={"a": Block((), "rad", velocity="w"), "w": "rad/s"},
                   derivative=lambda t, x, u, p: -x.a - 0.1 * x.w,
                   transitions=[Transition("push", lambda t, x, u, p: x.a, "rising",
                                           jump=lambda t, x, u, p: {"w": x.w + 0.2})])
    simulated = clock.simulate({"a": -0.5, "w": 0.0}, until=40.0)
    found = clock.rollout(remembered=8)({"a": -0.5, "w": 0.0}, step=0.02, steps=2000, every=100)
    expected = np.array([o.t for o in simulated.happened])
    assert found.finished and found.log.count == len(expected) == 7
    assert np.abs(found.log.times[:7] - expected).max() < 1e-6
    period = np.diff(expected)[-1]
    assert abs(period - 2 * np.pi / np.sqrt(1 - 0.05**2)) < 1e-6


def test_a_jump_that_does_not_turn_a_guard_round_lets_it_pass():
    """A ball without restitution has no velocity after its impact, and nothing to rest in: it falls on, once and for
    all, in both ways of following it.
    """
    for found in (ball(0.0).rollout()({"height": 1.0, "speed": 0.0}, step=0.01, steps=100),
                  ball(0.0).simulate({"height": 1.0, "speed": 0.0}, until=1.0)):
        since = 1.0 - np.sqrt(2 / G)
        assert found.finished and len(found.happened) == 1 and abs(found.end.height + G * since**2 / 2) < 1e-9


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("start", [0.0, 3.7])
def test_a_motion_that_starts_on_a_guard_goes_through_it(method, start):
    """Down from the floor itself is an impact now; up is none until it comes back; in closed form, for both ends."""
    speeds = np.array([-1.0, -2.5, 1.5, -0.4])
    e, until = 0.8, 0.05
    found = ball(e).rollout(method=method)({"height": 0.0, "speed": speeds}, step=0.01, steps=5, start=start)
    v = np.where(speeds < 0, -e * speeds, speeds)
    assert found.log.count.tolist() == [1, 1, 0, 1]
    assert np.abs(found.log.times[[0, 1, 3], 0] - start).max() < 1e-13
    order = 1e-2 if method == "semi-implicit-euler" else 1e-12
    assert np.abs(found.end.height - (v * until - G * until**2 / 2)).max() < order
    for k, speed in enumerate(speeds):
        one = ball(e).simulate({"height": 0.0, "speed": speed}, start=start, until=start + until)
        assert [o.t for o in one.happened] == [start] * int(speed < 0) and one.finished
        assert abs(one.end.height - (v[k] * until - G * until**2 / 2)) < 1e-9


def test_only_what_moves_in_its_direction_in_its_mode_happens_at_the_start():
    def switch(direction, rate):
        return System("switch", state={"x": ""}, modes={"gear": ("a", "b", "c")}, derivative=lambda t, x, u, p: rate,
                      transitions=[Transition("first", lambda t, x, u, p: 2.0 * x.x, direction, during={"gear": "a"},
                                              to={"gear": "b"}),
                                   Transition("other", lambda t, x, u, p: x.x, direction, during={"gear": "c"})])
    for direction in ("falling", "rising", "both"):
        for rate in (-2.0, 0.0, 1.0):
            happens = rate and direction == ("falling" if rate < 0 else "rising")
            system = switch(direction, rate)
            for found in (system.rollout()({"x": 0.0}, step=0.1, steps=3), system.simulate({"x": 0.0}, until=0.3)):
                assert [o.name for o in found.happened] == ["first"] * bool(happens)
                assert abs(found.end.x - 0.3 * rate) < 1e-12


def test_a_jump_that_leads_elsewhere_and_one_at_a_time():
    """Integrate and fire: the threshold is reached, and the potential is set back; and a switch by the clock alone."""
    fire = System("neuron", state={"v": "V", "count": ""}, inputs={"i": "A"},
                  derivative=lambda t, x, u, p: {"v": u.i, "count": 0.0},
                  transitions=[Transition("fire", lambda t, x, u, p: x.v - 1.0, "rising",
                                          jump=lambda t, x, u, p: {"v": 0.0, "count": x.count + 1})])
    rates = np.array([0.7, 3.3, 11.5])
    found = fire.rollout(remembered=4)({"v": 0.0, "count": 0.0}, step=0.05, steps=20, inputs={"i": rates})
    assert found["count"][:, -1].tolist() == [0.0, 3.0, 11.0] == found.log.count.tolist()
    assert np.abs(found.log.times[2] - np.arange(1, 5) / 11.5).max() < 1e-13
    assert "the times of the first 4 are kept" in found.message
    switch = System("switch", state={"x": "m"}, modes={"gear": ("slow", "fast")}, parameters={"when": 0.333},
                    derivative=lambda t, x, u, p: cy.where(x.is_in("gear", "slow"), 1.0, 5.0),
                    transitions=[Transition("shift", lambda t, x, u, p: t - p.when, "rising", to={"gear": "fast"})])
    when = np.array([0.1234, 0.5, 0.987654])
    shifted = switch.rollout(parameters=["when"])({"x": 0.0}, step=0.1, steps=10, parameters={"when": when})
    assert np.abs(shifted.end.x - (when + 5 * (1 - when))).max() < 1e-13
    assert np.abs(shifted.log.times[:, 0] - when).max() < 1e-14
    assert abs(switch.simulate({"x": 0.0}, until=1.0).end.x - (0.333 + 5 * 0.667)) < 1e-9


def test_transitions_at_one_instant_happen_in_their_order():
    both = System(
        "both", state={"x": "m", "a": "", "b": ""}, derivative=lambda t, x, u, p: {"x": -1.0, "a": 0.0, "b": 0.0},
        transitions=[
            Transition("first", lambda t, x, u, p: x.x - 0.505, jump=lambda t, x, u, p: {"a": x.a + 1.0}),
            Transition("second", lambda t, x, u, p: 2 * (x.x - 0.505), jump=lambda t, x, u, p: {"b": 10 * x.a})])
    start = {"x": 1.0, "a": 0.0, "b": 0.0}
    for found in (both.rollout()(start, step=0.01, steps=100), both.simulate(start, until=1.0)):
        assert (found.end.a, found.end.b) == (1.0, 10.0) and [o.name for o in found.happened] == ["first", "second"]


def test_an_input_that_changes_sets_off_a_transition_where_it_changes():
    relay = System("relay", state={"x": "m"}, inputs={"command": "V"}, modes={"side": ("up", "down")},
                   derivative=lambda t, x, u, p: cy.where(x.is_in("side", "up"), 1.0, -1.0),
                   transitions=[Transition("down", lambda t, x, u, p: u.command, "falling", during={"side": "up"},
                                           to={"side": "down"}),
                                Transition("up", lambda t, x, u, p: u.command, "rising", during={"side": "down"},
                                           to={"side": "up"})])
    command = np.where(np.array([0.05, 0.15, 0.25, 0.35, 0.45, 0.55]) % 0.4 < 0.2, 1.0, -2.0)
    found = relay.rollout(changing=["command"])({"x": 0.0}, step=0.1, steps=6, inputs={"command": command})
    assert [o.name for o in found.happened] == ["down", "up"]
    assert np.abs(found.log.times[:2] - [0.2, 0.4]).max() < 1e-12
    assert np.abs(found["x"] - [0, 0.1, 0.2, 0.1, 0.0, 0.1, 0.2]).max() < 1e-12


def test_both_directions_and_several_guards_in_one_step():
    wave = System("wave", state={"x": Block((), velocity="v"), "v": ""}, derivative=lambda t, x, u, p: -x.x,
                  transitions=[Transition("middle", lambda t, x, u, p: x.x, "both"),
                               Transition("high", lambda t, x, u, p: x.x - 0.5, "rising"),
                               Transition("low", lambda t, x, u, p: x.x + 0.5, "falling")])
    found = wave.rollout()({"x": 0.0, "v": 1.0}, step=0.7, steps=9)
    expected = [("high", np.pi / 6), ("middle", np.pi), ("low", 7 * np.pi / 6), ("middle", 2 * np.pi)]
    assert [o.name for o in found.happened] == [name for name, _ in expected]
    assert np.abs(np.array([o.t for o in found.happened]) - [t for _, t in expected]).max() < 3e-2  # rk4 with h = 0.7
    fine = wave.rollout()({"x": 0.0, "v": 1.0}, step=0.01, steps=630)
    assert np.abs(np.array([o.t for o in fine.happened]) - [t for _, t in expected]).max() < 1e-9


def test_float32_and_threads_find_the_same_impacts():
    roll = ball().rollout(parameters=["e"])
    heights = np.linspace(0.2, 1.0, 9)
    kept = {"step": 0.01, "steps": 100}
    one = roll({"height": heights, "speed": 0.0}, parameters={"e": 0.8}, **kept)
    two = roll({"height": heights, "speed": 0.0}, parameters={"e": 0.8}, threads=2, **kept)
    assert (one.vectors == two.vectors).all() and (one.log.count == two.log.count).all()
    single = roll({"height": heights.astype(np.float32), "speed": np.float32(0)},
                  parameters={"e": np.float32(0.8)}, **kept)
    assert single.vectors.dtype == np.float32 and (single.log.count == one.log.count).all()
    assert np.nanmax(np.abs(single.log.times - one.log.times)) < 1e-5


def test_what_is_wrong_with_transitions_is_named():
    with pytest.raises(ConventionError, match="one of rising, falling, both, not 'up'"):
        Transition("odd", lambda t, x, u, p: x.x, "up")
    with pytest.raises(SignatureError, match="names the mode heater = warm; there are heater \\(on, off\\)"):
        System("room", state={"T": ""}, modes={"heater": ("on", "off")}, derivative=lambda t, x, u, p: 0.0,
               transitions=[Transition("odd", lambda t, x, u, p: x.T, to={"heater": "warm"})])
    with pytest.raises(SignatureError, match="gives 'hight', which is no block of its state: did you mean 'height'"):
        System("ball", state={"height": ""}, derivative=lambda t, x, u, p: -1.0, transitions=[
            Transition("impact", lambda t, x, u, p: x.height, jump=lambda t, x, u, p: {"hight": 0.0})]).rollout()(
                {"height": 1.0}, step=0.1, steps=1)
    with pytest.raises(ConventionError, match="cannot be run backwards"):
        ball().rollout()({"height": 1.0, "speed": 0.0}, step=-0.1, steps=1)
    with pytest.raises(ConventionError, match="take a trajectory out of it"):
        print(ball().rollout()({"height": [1.0, 2.0], "speed": 0.0}, step=0.1, steps=1).happened)


def test_pictures_show_blocks_modes_and_outputs():
    room = thermostat()
    figure = room.rollout()({"T": [15.0, 18.0]}, step=0.02, steps=50).plot()
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["T [°C]", "heater"]
    assert [len(ax.lines) for ax in figure.axes] == [2, 2]
    assert [label.get_text() for label in figure.axes[1].get_yticklabels()] == ["on", "off"]
    alone = room.simulate({"T": 15.0}, until=1.0)
    assert len(alone.plot(["T"]).axes[0].lines) == 1 + len(alone.happened)
    with pytest.raises(SignatureError, match="no state or output 'temperature'; it has T, heater"):
        alone.plot(["temperature"])
