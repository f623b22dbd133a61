"""The adaptive simulation: events, stops, forces, controllers, and every way in which it can end."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.dynamics.forward.kernels import forward_dynamics_kernel
from cayley.errors import ConventionError, GeometryError, ModelError, SignatureError, SingularityError, UnsupportedError
from cayley.model.catalogue import load_robot
from cayley.model.joint_kinds import Prismatic, Revolute
from cayley.model.parts import Body, Friction, Joint, Limits, Rotor
from cayley.model.tree import Tree
from cayley.simulation import Event, rollout, simulate
from cayley.systems import System
from simulation.mechanisms import GRAVITY, floating_arm, pendulum, random_state, slider

TIGHT = {"rtol": 1e-11, "atol": 1e-12}


@pytest.mark.spec("S1-72")
def test_a_tight_run_keeps_the_energy_of_an_arm():
    for name, q, qd in (("puma560", np.zeros(6), np.full(6, 0.5)), ("planar2r", [0.3, 0.7], [0.6, -0.8])):
        found = simulate(load_robot(name), q, qd, until=1.0, rtol=1e-11, atol=1e-12)
        assert found.finished and found.t[-1] == 1.0
        assert np.abs(found.energy_drift).max() < 2.5e-12 * np.abs(found.kinetic).max()


@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"])
def test_every_method_of_scipy_follows_the_same_motion(method):
    arm, tau = load_robot("planar2r"), np.array([3.0, -1.0])
    found = simulate(arm, [0.3, 0.7], [0.6, -0.8], tau=tau, times=np.linspace(0, 0.5, 6), method=method, rtol=1e-7,
                     atol=1e-9)
    dynamics = forward_dynamics_kernel(arm)
    exact = solve_ivp(lambda t, y: np.concatenate([y[2:], dynamics(y[:2].copy(), y[2:].copy(), tau)]), (0, 0.5),
                      [0.3, 0.7, 0.6, -0.8], method="DOP853", rtol=1e-12, atol=1e-13, t_eval=found.t)
    assert np.abs(np.hstack([found.q, found.qd]) - exact.y.T).max() < 2e-4
    assert found.facts["method"] == method


@pytest.mark.spec("S1-72")
def test_a_stiff_servo_is_followed_by_an_implicit_method_with_few_evaluations():
    arm = load_robot("planar2r")

    def servo(t, q, qd):
        return 200 * (np.array([0.5, -0.3]) - q) - 200 * qd

    implicit = simulate(arm, [0.3, 0.7], [0.0, 0.0], controller=servo, until=0.5, method="Radau", rtol=1e-6, atol=1e-8)
    explicit = simulate(arm, [0.3, 0.7], [0.0, 0.0], controller=servo, until=0.5, method="RK45", rtol=1e-6, atol=1e-8)
    assert np.abs(implicit.q[-1] - explicit.q[-1]).max() < 1e-5
    assert implicit.facts["evaluations"] < explicit.facts["evaluations"] / 5


def test_floating_momentum_and_unit_attitudes():
    tree = floating_arm((0.0, 0.0, -9.81))
    q, qd = random_state(tree, 3)
    found = simulate(tree, q, qd, tau=[0] * 6 + [0.1, 0.2, -0.3, 0.5], until=2.0, **TIGHT)
    assert np.abs(found.momentum_drift).max() < 1e-8 * np.abs(found.momentum).max()
    assert np.abs(np.linalg.norm(found.q[:, 3:7], axis=1) - 1).max() < 1e-15 * 4


def test_wrenches_are_numbers_or_functions_and_their_work_is_booked():
    arm = load_robot("planar2r")
    push = np.array([1.0, -2.0, 0.5, 0.1, 0.0, 0.2])
    found = simulate(arm, [0.3, 0.7], [0.6, -0.8], wrenches={"tool": push}, axes="world", until=1.0, **TIGHT)
    same = simulate(arm, [0.3, 0.7], [0.6, -0.8], wrenches={"tool": lambda t, q, qd: push}, axes="world", until=1.0,
                    **TIGHT)
    assert np.abs(found.q[-1] - same.q[-1]).max() < 1e-12
    assert np.abs(found.work).max() > 0.1
    assert np.abs(found.energy_drift).max() < 1e-8
    without = simulate(arm, [0.3, 0.7], [0.6, -0.8], until=1.0, **TIGHT)
    assert np.abs(found.q[-1] - without.q[-1]).max() > 0.01


def test_rotors_carry_energy_and_the_balance_knows():
    tree = pendulum(length=0.7, mass=1.3, rotor=Rotor(0.01, 5.0)).including("armature")
    found = simulate(tree, [1.0], [0.0], until=2.0, **TIGHT)
    assert np.abs(found.kinetic - (1.3 * 0.7**2 + 0.01 * 5.0**2) * found.qd[:, 0] ** 2 / 2).max() < 1e-13
    assert np.abs(found.energy_drift).max() < 1e-9 and found.kinetic.max() > 1


def test_friction_takes_energy_and_the_balance_knows():
    tree = pendulum(friction=Friction(viscous=0.2)).including("friction")
    found = simulate(tree, [1.0], [0.0], until=5.0, **TIGHT)
    assert found.energy[-1] < found.energy[0] - 1 and found.work[-1] < -1
    assert np.abs(found.energy_drift).max() < 1e-8


# Controllers


@kernel("(),(2),(2),(2),()->(2)")
def servo(t, q, qd, target, gain):
    return gain * (target - q) - 0.4 * gain * qd + 0.1 * np.sin(t)


def test_a_kernel_and_a_function_control_alike():
    arm = load_robot("planar2r")
    parameters = {"target": [0.5, -0.2], "gain": 60.0}
    one = simulate(arm, [0.0, 0.0], [0.0, 0.0], controller=servo, parameters=parameters, until=1.0, **TIGHT)
    other = simulate(arm, [0.0, 0.0], [0.0, 0.0], until=1.0, **TIGHT,
                     controller=lambda t, q, qd: 60 * (np.array([0.5, -0.2]) - q) - 24 * qd + 0.1 * np.sin(t))
    assert np.abs(one.q[-1] - other.q[-1]).max() < 1e-10
    assert np.abs(one.tau[0] - servo(0.0, [0, 0], [0, 0], [0.5, -0.2], 60.0)).max() < 1e-14
    with pytest.raises(SignatureError, match="takes the parameters target, gain"):
        simulate(arm, [0.0, 0.0], [0.0, 0.0], controller=servo, parameters={"target": [0, 0]}, until=1.0)


def test_a_digital_controller_holds_its_forces_between_its_looks():
    arm, looks = load_robot("planar2r"), []

    def law(t, q, qd):
        looks.append((t, q.copy()))
        return 10 * (np.array([0.5, -0.2]) - q) - qd

    found = simulate(arm, [0.0, 0.0], [0.0, 0.0], controller=law, control_period=0.01, until=0.3, **TIGHT)
    assert np.abs([t for t, _ in looks] - 0.01 * np.arange(len(looks))).max() < 1e-12 and len(looks) == 30
    q, qd, dynamics = np.zeros(2), np.zeros(2), forward_dynamics_kernel(arm)
    for _ in range(30):
        tau = 10 * (np.array([0.5, -0.2]) - q) - qd
        y = solve_ivp(lambda t, y, tau=tau: np.concatenate([y[2:], dynamics(y[:2].copy(), y[2:].copy(), tau)]),
                      (0, 0.01), np.concatenate([q, qd]), rtol=1e-12, atol=1e-13).y[:, -1]
        q, qd = y[:2], y[2:]
    assert np.abs(found.q[-1] - q).max() < 1e-9
    system = System("law", inputs={"q": 2, "qd": 2}, outputs={"tau": 2},
                    output=lambda t, x, u, p: 10 * (np.array([0.5, -0.2]) - u.q) - u.qd)
    same = simulate(arm, [0.0, 0.0], [0.0, 0.0], controller=system, control_period=0.01, until=0.3, **TIGHT)
    assert np.abs(same.q[-1] - q).max() < 1e-9 and np.abs(same.tau[0] - [5.0, -2.0]).max() == 0.0
    assert np.abs(same.q - found.q).max() < 1e-9 and np.abs(same.tau[:-1] - found.tau[:-1]).max() < 1e-8


# Events


@pytest.mark.spec("S1-72")
def test_events_end_record_and_change_the_state():
    seen = [Event("apex", lambda t, q, qd: qd[0], direction="falling", action="record"),
            Event("back", lambda t, q, qd: q[0], direction="falling")]
    thrown = simulate(slider(), [0.0], [5.0], until=9.0, events=seen, **TIGHT)
    assert [(o.name, o.action) for o in thrown.happened] == [("apex", "recorded"), ("back", "end")]
    assert abs(thrown.happened[0].t - 5.0 / GRAVITY) < 1e-12
    assert abs(thrown.happened[1].t - 10.0 / GRAVITY) < 1e-12 and thrown.t[-1] == thrown.happened[1].t
    assert thrown.status == "event" and "back" in thrown.message
    kicked = simulate(slider(), [1.0], [0.0], until=2.0, **TIGHT,
                      events=[Event("floor", lambda t, q, qd: q[0], "falling", "record", lambda t, q, qd: (q, -qd))])
    fall = np.sqrt(2 / GRAVITY)
    assert np.abs([o.t for o in kicked.happened] - fall * np.array([1, 3])).max() < 1e-11
    assert np.abs(kicked.energy_drift).max() < 1e-9


def test_an_effect_may_leave_limits_that_are_ignored():
    lowered = Event("lower", lambda t, q, qd: q[0] - 0.5, "falling", "record", lambda t, q, qd: (q - 3.0, 0 * qd))
    found = simulate(slider(lower=-1.0), [1.0], [0.0], until=np.sqrt(1 / GRAVITY) + 0.1, events=lowered, **TIGHT)
    assert found.finished and abs(found.q[-1, 0] - (-2.5 - GRAVITY * 0.1**2 / 2)) < 1e-10


def test_times_are_kept_as_they_are_asked_for_until_an_event():
    floor = Event("floor", lambda t, q, qd: q[0], "falling")
    found = simulate(slider(), [1.0], [0.0], times=np.linspace(0, 2, 201), events=[floor], **TIGHT)
    assert (found.t[:-1] == np.linspace(0, 2, 201)[:len(found) - 1]).all()
    assert abs(found.t[-1] - np.sqrt(2 / GRAVITY)) < 1e-12 and abs(found.q[-1, 0]) < 1e-11


# Stops


@pytest.mark.spec("S1-72")
def test_limits_are_ignored_or_end_the_simulation():
    through = simulate(slider(lower=-1.0), [0.0], [0.0], until=1.0)
    assert through.finished and through.q[-1, 0] < -4
    ended = simulate(slider(lower=-1.0), [0.0], [0.0], until=1.0, limits="end")
    assert ended.status == "limit" and "guide, lower limit" in ended.message
    assert abs(ended.q[-1, 0] + 1) < 1e-11 and abs(ended.t[-1] - np.sqrt(2 / GRAVITY)) < 1e-11


def test_a_bouncing_mass_bounces_as_newton_says_and_comes_to_rest():
    e, fall = 0.6, np.sqrt(2 / GRAVITY)
    found = simulate(slider(lower=-1.0), [0.0], [0.0], until=5.0, limits=e, **TIGHT)
    impacts = [o.t for o in found.happened if o.action == "impact"]
    expected = fall * (1 + 2 * np.cumsum(e ** np.arange(1, len(impacts))))
    assert len(impacts) > 10
    assert np.abs(np.array(impacts[1:]) - expected).max() < 1e-9
    assert found.finished and found.q[-1, 0] == -1.0 and found.qd[-1, 0] == 0.0
    assert np.abs(found.energy_drift).max() < 1e-8
    assert abs(found.work[-1] + 2.0 * GRAVITY) < 1e-8  # all of the fall's energy went into the stop


def test_an_elastic_stop_keeps_the_energy():
    found = simulate(slider(lower=-1.0), [0.0], [0.0], until=5.0, limits="elastic", **TIGHT)
    fall = np.sqrt(2 / GRAVITY)
    assert np.abs(np.array([o.t for o in found.happened])
                  - fall * np.array([1, 3, 5, 7, 9, 11])[:len(found.happened)]).max() < 1e-9
    assert np.abs(found.energy - found.energy[0]).max() < 1e-8
    assert found.q.min() > -1 - 1e-9


def test_a_joint_rests_against_its_stop_until_it_is_pulled_away():
    tree = slider(lower=0.0)
    lift = 2.0 * GRAVITY

    def force(t, q, qd):  # less than the weight until t = 1, then more
        return np.array([lift * t])

    found = simulate(tree, [0.0], [0.0], controller=force, times=np.linspace(0, 2, 21), limits="inelastic", **TIGHT)
    assert [o.action for o in found.happened] == ["release"]
    assert abs(found.happened[0].t - 1.0) < 1e-9
    later = found.t[found.t >= 1]
    assert np.abs(found.q[found.t <= 1, 0]).max() < 1e-14
    assert np.abs(found.q[found.t >= 1, 0] - GRAVITY * (later - 1) ** 3 / 6).max() < 1e-9


def test_an_impact_at_one_joint_changes_the_speed_of_all():
    """A two-link arm whose elbow hits: momentum about the shoulder is kept, as nothing but the elbow's stop acts."""
    arm = load_robot("planar2r").with_gravity((0.0, 0.0, 0.0))
    stop = Joint(arm.joints[1].name, arm.joints[1].parent, arm.joints[1].child, arm.joints[1].motion,
                 arm.joints[1].placement, Limits((-2.0,), (0.5,)))
    arm = Tree.of("stopped", arm.bodies, [arm.joints[0], stop, *arm.joints[2:]], frames=arm.frames,
                  gravity=(0.0, 0.0, 0.0))
    from cayley.dynamics.rigid_links.energies import momentum
    from cayley.dynamics.rigid_links.links import links_of
    for e in (0.0, 0.5, 1.0):
        found = simulate(arm, [0.0, 0.0], [0.2, 1.0], until=1.2, limits=e, **TIGHT)
        impact = found.happened[0].t
        spins = np.array([momentum(links_of(arm), *state)[5] for state in zip(found.q, found.qd, strict=True)])
        assert np.abs(spins - spins[0]).max() < 1e-9
        before, after = found.at(np.array([impact - 1e-9, min(impact + 1e-9, 1.2)]))[1]
        assert abs(after[1] + e * before[1]) < 1e-6
        assert abs(after[0] - before[0]) > 0.1 * (1 + e)
        assert np.abs(found.energy_drift).max() < 1e-9
    assert np.abs(found.energy - found.energy[0]).max() < 1e-9


# How it can end, and wrong starts


def test_an_event_storm_is_stopped_and_what_was_found_is_kept():
    found = simulate(slider(lower=-1.0), [0.0], [0.0], until=1000.0, limits="elastic", max_events=20)
    assert found.status == "event storm" and len(found.happened) == 21 and len(found) > 20
    fast = Event("fast", lambda t, q, qd: np.sin(1e6 * t), action="record")
    assert simulate(slider(), [0.0], [0.0], until=1.0, events=[fast], max_events=5,
                    max_step=1e-6).status == "event storm"


@pytest.mark.spec("S1-72")
def test_a_budget_is_kept():
    found = simulate(load_robot("puma560"), np.zeros(6), np.ones(6), until=100.0, max_evaluations=500)
    assert found.status == "budget" and 500 < found.facts["evaluations"] < 700 and 0 < found.t[-1] < 100


def test_forces_that_leave_the_numbers_stop_the_simulation():
    def broken(t, q, qd):
        return np.array([np.nan if t > 1 else 0.0])

    found = simulate(pendulum(), [0.5], [0.0], until=2.0, controller=broken)
    assert found.status == "not finite" and 0.9 < found.t[-1] <= 1.0 and np.isfinite(found.q).all()
    implicit = simulate(pendulum(), [0.5], [0.0], until=2.0, method="Radau", controller=broken)
    assert implicit.status == "not finite" and implicit.t[-1] <= 1.0


def test_a_motion_that_escapes_in_finite_time_ends_with_a_reason():
    found = simulate(slider(), [1.0], [0.0], until=10.0, controller=lambda t, q, qd: 50 * q**3)
    assert found.status in ("step too small", "not finite") and found.t[-1] < 10 and np.isfinite(
        found.q).all() and len(found) > 5
    rolled = rollout(slider(), controller=lambda t, q, qd: 50 * q**3)([[1.0], [0.0]], [0.0], step=0.01, steps=1000)
    assert (rolled.status == "not finite" and "trajectories left the numbers" in rolled.message
            and "step is too large" in rolled.message)
    assert 5 < rolled.good[0] < 1000


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_singular_inertia_is_an_error_of_the_start_and_a_stop_of_a_rollout():
    massless = Tree.of(
        "massless",
        [Body("base"), Body("arm", 1.0, [0.5, 0, 0]), Body("tip", 0.0)],
        [Joint("first", "base", "arm", Revolute()),
         Joint("second", "arm", "tip", Revolute((0.0, 1.0, 0.0)))])
    with pytest.raises(SingularityError, match="joint 'second' moves no mass"):
        simulate(massless, [0.0, 0.0], [0.0, 0.0], until=1.0)
    rolled = rollout(massless)([0.0, 0.0], [0.0, 0.0], step=0.01, steps=10)
    assert rolled.status == "not finite" and "'second' moves no mass" in rolled.message and rolled.good == 1
    # a point mass on a turning rod, on the axis: there its moment of inertia is zero
    swing = Tree.of(
        "swing", [Body("base"), Body("rod", 0.0), Body("bead", 1.0)],
        [Joint("turn", "base", "rod", Revolute()),
         Joint("slide", "rod", "bead", Prismatic((1.0, 0.0, 0.0)))], gravity=(0.0, 0.0, 0.0))
    with pytest.raises(SingularityError, match="'turn'"):
        simulate(swing, [0.0, 0.0], [0.0, 0.0], until=1.0)


def test_wrong_starts_and_options_are_named():
    arm = load_robot("planar2r")
    with pytest.raises(GeometryError, match="not finite"):
        simulate(arm, [0.0, np.nan], [0.0, 0.0], until=1.0)
    with pytest.raises(GeometryError, match="velocity of planar2r is not finite"):
        simulate(arm, [0.0, 0.0], [0.0, np.inf], until=1.0)
    with pytest.raises(SignatureError, match="one state"):
        simulate(arm, np.zeros((3, 2)), np.zeros((3, 2)), until=1.0)
    with pytest.raises(ConventionError, match="how long"):
        simulate(arm, [0.0, 0.0], [0.0, 0.0])
    with pytest.raises(ConventionError, match="Euler"):
        simulate(arm, [0.0, 0.0], [0.0, 0.0], until=1.0, method="Euler")
    with pytest.raises(ConventionError, match="restitution"):
        simulate(arm, [0.0, 0.0], [0.0, 0.0], until=1.0, limits=1.5)
    with pytest.raises(ConventionError, match="increase"):
        simulate(arm, [0.0, 0.0], [0.0, 0.0], times=[0.0, 1.0, 0.5])
    with pytest.raises(ModelError, match="beyond its limits"):
        simulate(slider(lower=-1.0), [-2.0], [0.0], until=1.0, limits="inelastic")
    with pytest.raises(ConventionError, match="direction"):
        Event("odd", lambda t, q, qd: 0.0, direction="up")
    with pytest.raises(SignatureError, match=r"shape \(3,\)"):
        simulate(arm, [0.0, 0.0], [0.0, 0.0], controller=lambda t, q, qd: np.zeros(3), until=1.0)


def test_where_is_a_branch_a_controller_may_have():
    law = kernel("(1),(1)->(1)")(lambda q, qd: where(q > 0, -5.0 * q, -1.0 * q))
    found = simulate(slider().with_gravity((0, 0, 0)), [1.0], [0.0], controller=law, until=3.0, **TIGHT)
    assert found.finished and np.abs(found.energy_drift).max() < 1e-8


def test_an_arm_that_falls_into_its_stops_comes_to_rest_there():
    arm = load_robot("panda")
    found = simulate(arm, [0.0, -0.5, 0.0, -1.5, 0.0, 1.2, 0.1], np.zeros(7), controller=lambda t, q, qd: -2 * qd,
                     until=8.0, limits=0.3)
    assert found.finished, found.message
    assert {"impact", "release"} <= {o.action for o in found.happened}
    assert (found.q > arm.lower - 1e-9).all() and (found.q < arm.upper + 1e-9).all()
    assert np.abs(found.energy_drift).max() < 1e-5
    assert np.abs(found.qd[-1]).max() < 0.05 and found.energy[-1] < found.energy[0] - 20


def test_tolerances_that_nothing_can_meet_are_refused():
    for wrong in ({"rtol": 0.0}, {"atol": 0.0}, {"rtol": np.nan}, {"max_step": 0.0}, {"atol": -1.0}):
        with pytest.raises(ConventionError, match="positive"):
            simulate(slider(), [0.0], [0.0], until=1.0, **wrong)


def test_a_mechanism_that_becomes_singular_on_the_way_stops_there():
    swing = Tree.of(
        "swing", [Body("base"), Body("rod", 0.0), Body("bead", 1.0)],
        [Joint("turn", "base", "rod", Revolute()),
         Joint("slide", "rod", "bead", Prismatic((1.0, 0.0, 0.0)))], gravity=(0.0, 0.0, 0.0))
    latch = Event("latch", lambda t, q, qd: q[1] - 0.5, "falling", "record", lambda t, q, qd: ([q[0], 0.0], qd))
    found = simulate(swing, [0.0, 1.0], [0.0, -1.0], until=2.0, events=[latch])
    assert found.status == "singular" and "joint 'turn' moves no mass" in found.message
    assert abs(found.t[-1] - 0.5) < 1e-12 and len(found) > 2 and np.isfinite(found.q).all()
    rolled = rollout(swing)([0.0, -1.0], [0.0, 1.0], step=0.125, steps=16)  # a stage meets the axis exactly, at t = 1
    assert rolled.status == "not finite" and "singular" in rolled.message and rolled.good == 8


@pytest.mark.parametrize("place", [lambda q: 0 * q, lambda q: q], ids=["exactly at zero", "as found"])
def test_a_ball_that_bounces_ever_faster_on_a_floor_of_the_user_is_a_storm_and_never_falls_through(place):
    floor = Event("floor", lambda t, q, qd: q[0], "falling", "record", lambda t, q, qd: (place(q), -0.5 * qd))
    found = simulate(slider(), [1.0], [0.0], until=5.0, events=[floor], **TIGHT)
    fall = np.sqrt(2 / GRAVITY)
    assert found.status == "event storm" and abs(found.t[-1] - 3 * fall) < 1e-6
    assert found.q.min() > -1e-9 and len(
        found.happened) > 15 and "event 'floor' has its effect ever faster" in found.message
    expected = fall * (1 + 2 * np.cumsum(0.5 ** np.arange(1, 15)))
    assert np.abs([o.t for o in found.happened[1:15]] - expected).max() < 1e-9


def test_an_event_that_starts_at_zero_happens_only_when_it_comes_back():
    level = Event("level", lambda t, q, qd: q[0], action="record")
    assert simulate(slider(), [0.0], [0.0], until=1.0, events=[level]).happened == ()
    thrown = simulate(slider(), [0.0], [5.0], until=2.0, events=level, **TIGHT)
    assert len(thrown.happened) == 1 and abs(thrown.happened[0].t - 10 / GRAVITY) < 1e-12


@pytest.mark.filterwarnings("ignore:invalid value")
def test_events_that_are_no_numbers_are_named():
    broken = simulate(slider(), [1.0], [0.0], until=1.0,
                      events=[Event("root", lambda t, q, qd: np.sqrt(q[0] - 0.5) + 1)])
    assert broken.status == "not finite" and "event 'root'" in broken.message and np.isfinite(broken.q).all()
    fine = [Event(f"{k}", lambda t, q, qd: q[0] + 99, action="record") for k in range(3)]
    late = Event("late", lambda t, q, qd: np.sqrt(q[0] - 0.5) + 1)  # a number at some of the looks of a step
    for place in range(4):
        several = simulate(slider(lower=-5.0), [1.0], [0.0], until=1.0, limits="elastic",
                           events=[*fine[:place], late, *fine[place:]])
        assert several.status == "not finite" and "event 'late'" in several.message
    with pytest.raises(SignatureError, match="event 'wide' must be a number"):
        simulate(load_robot("planar2r"), [0.0, 0.0], [0.0, 0.0], until=1.0, events=[Event("wide", lambda t, q, qd: q)])
    for effect in (lambda t, q, qd: None, lambda t, q, qd: (q, np.zeros(3)), lambda t, q, qd: (q, np.zeros((2, 1)))):
        with pytest.raises(SignatureError, match="effect of event 'floor'"):
            simulate(slider(), [1.0], [0.0], until=1.0,
                     events=[Event("floor", lambda t, q, qd: q[0], "falling", "record", effect)])


def test_what_cannot_move_and_wrong_inputs_are_named():
    with pytest.raises(UnsupportedError, match="no joint that moves"):
        simulate(Tree.of("block", [Body("base", 1.0)], []), [], [], until=1.0)
    with pytest.raises(SignatureError, match=r"^tau has the shape \(3,\)"):
        simulate(load_robot("planar2r"), [0.0, 0.0], [0.0, 0.0], tau=[1.0, 2.0, 3.0], until=1.0)
    with pytest.raises(ConventionError, match="limits are"):
        simulate(slider(), [0.0], [0.0], until=1.0, limits=None)
