"""Dry friction: joints that come to rest, stay, and break away, against closed forms and an enumeration of all modes.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from cayley.compiler.kernel import kernel
from cayley.dynamics.forward.kernels import forward_dynamics_kernel
from cayley.dynamics.inertia_matrix.kernels import inertia_matrix_kernel
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.errors import ConventionError, ModelError
from cayley.model.catalogue import load_robot
from cayley.model.joint_kinds import Prismatic
from cayley.model.parts import Body, Friction, Joint, Limits, Rotor
from cayley.model.tree import Tree
from cayley.simulation import rollout, simulate
from cayley.simulation.fixed_steps import METHODS as FIXED
from cayley.simulation.simulate import METHODS as ADAPTIVE
from cayley.systems import Block, System
from cayley.systems.friction_and_stops import FrictionAndStops
from simulation.mechanisms import GRAVITY

TIGHT = {"rtol": 1e-11, "atol": 1e-12}
COULOMB = 2.0


def block(slope=0.0, coulomb=COULOMB, lower=-np.inf, upper=np.inf, viscous=0.0):
    """One kilogram that slides down a slope with dry friction."""
    guide = Joint("slide", "base", "block", Prismatic((1.0, 0.0, 0.0)), limits=Limits((lower,), (upper,)),
                  friction=Friction(viscous, coulomb))
    gravity = GRAVITY * np.array([np.sin(slope), 0.0, -np.cos(slope)])
    return Tree.of("block", [Body("base"), Body("block", 1.0)], [guide], gravity=gravity).including("friction")


def rubbing(name, *coulomb, **more):
    arm = load_robot(name)
    joints = [replace(joint, friction=Friction(0.0, c)) for joint, c in zip(arm.joints, coulomb, strict=False)]
    return replace(arm, joints=(*joints, *arm.joints[len(coulomb):]), **more).including("friction")


# One joint


@pytest.mark.spec("S1-72")
@pytest.mark.parametrize("method", ADAPTIVE)
def test_a_sliding_block_stops_where_its_energy_is_spent_and_stays(method):
    longest = 0.1 if method == "gauss" else np.inf  # which makes steps of one length
    found = simulate(block(), [0.0], [1.0], until=2.0, method=method, max_step=longest)
    assert found.finished and [(o.name, o.action) for o in found.happened] == [("slide", "stick")]
    assert abs(found.happened[0].t - 0.5) < 1e-8 and abs(found.q[-1, 0] - 0.25) < 1e-8
    later = found.t > found.happened[0].t
    assert (found.qd[later] == 0).all() and (found.q[later] == found.q[-1]).all() and later.any()
    assert np.abs(found.energy_drift).max() < 1e-8 and abs(found.work[-1] + 0.5) < 1e-8
    assert found.facts["evaluations"] < 500


@pytest.mark.parametrize("slope", [0.1, 0.2, 0.3, 1.0])
def test_a_block_on_a_slope_rests_or_slides_as_its_friction_says(slope):
    pull = GRAVITY * np.sin(slope)
    found = simulate(block(slope), [0.0], [0.0], until=1.0, **TIGHT)
    assert abs(found.q[-1, 0] - max(0.0, pull - COULOMB) / 2) < 1e-11
    pushed = simulate(block(slope), [0.0], [-3.0], until=1.0, **TIGHT)  # uphill until it turns or stays
    turn = 3.0 / (pull + COULOMB)
    up, after = -4.5 / (pull + COULOMB), max(0.0, 1.0 - turn)
    expected = up + max(0.0, pull - COULOMB) * after**2 / 2 if turn < 1 else -3.0 + (pull + COULOMB) / 2
    assert abs(pushed.q[-1, 0] - expected) < 1e-10


def test_a_force_that_grows_breaks_the_block_away_when_it_is_the_friction():
    """q'' = 3 t - 2 from t = 2/3 on, and the same backwards."""
    for way in (1.0, -1.0):
        found = simulate(block(), [0.0], [0.0], controller=lambda t, q, qd, way=way: np.array([way * 3 * t]),
                         times=[0, 0.5, 1.0, 2.0], **TIGHT)
        assert [o.action for o in found.happened] == ["slip"] and abs(found.happened[0].t - 2 / 3) < 1e-12
        assert np.abs(found.q[:, 0] - way * np.maximum(0.0, found.t - 2 / 3) ** 3 / 2).max() < 1e-10


def test_no_break_away_is_missed_though_nothing_moves_before():
    """The force passes the friction for 94 ms of every 2.1 s: nothing moves before, but the steps are short enough."""
    found = simulate(block(), [0.0], [0.0], controller=lambda t, q, qd: np.array([1.0 + 1.01 * np.sin(3 * t)]),
                     until=20.0)
    slips = np.array([o.t for o in found.happened if o.action == "slip"])
    assert len(slips) == 10 and [o.action for o in found.happened] == ["slip", "stick"] * 10
    assert np.abs(slips - (np.arcsin(1 / 1.01) + 2 * np.pi * np.arange(10)) / 3).max() < 1e-10


def oscillation(start, stiffness):
    """Where a spring with dry friction rests, as each half cycle takes 2 coulomb / stiffness off; and their number."""
    x, halves = start, 0
    while abs(x) * stiffness > COULOMB:
        x, halves = -np.sign(x) * (abs(x) - 2 * COULOMB / stiffness), halves + 1
    return x, halves


@pytest.mark.parametrize("method", ["DOP853", "LSODA", "Radau"])
def test_an_oscillator_with_dry_friction_makes_its_half_cycles_and_rests(method):
    stiffness, tolerance = 40.0, 1e-9 if method == "DOP853" else 1e-6
    found = simulate(block(), [1.03], [0.0], controller=lambda t, q, qd: -stiffness * q, until=6.0, method=method,
                     rtol=tolerance, atol=tolerance / 10)
    end, halves = oscillation(1.03, stiffness)
    assert abs(found.q[-1, 0] - end) < 20 * tolerance and found.qd[-1, 0] == 0
    assert [o.action for o in found.happened] == ["stick"]
    assert abs(found.happened[0].t - halves * np.pi / np.sqrt(stiffness)) < 20 * tolerance
    assert found.facts["evaluations"] < 8000


def test_viscous_and_dry_friction_together_stop_where_the_closed_form_says():
    b, v0 = 0.7, 2.0
    found = simulate(block(viscous=b), [0.0], [v0], until=5.0, **TIGHT)
    stop = np.log(1 + b * v0 / COULOMB) / b
    assert abs(found.happened[0].t - stop) < 1e-10
    assert abs(found.q[-1, 0] - (v0 / b - COULOMB / b * stop)) < 1e-10


# With everything else that may act


def test_friction_and_a_stop_hold_together():
    """Pressed against its stop, a block is let go when the pull is more than the friction, not at zero."""
    found = simulate(block(lower=-1.0), [0.0], [-3.0], controller=lambda t, q, qd: np.array([2.0 * (t - 1.0)]),
                     until=3.0, limits="inelastic", **TIGHT)
    assert [o.name for o in found.happened] == ["slide, lower limit"] * 2
    assert [o.action for o in found.happened] == ["impact", "release"]
    assert abs(found.happened[1].t - 2.0) < 1e-10
    assert abs(found.q[-1, 0] - (-1.0 + 1.0 / 3.0)) < 1e-9  # (t - 2)^3 / 3
    still = simulate(block(lower=-1.0), [-1.0], [0.0], tau=[1.0], until=1.0, limits="inelastic")
    assert still.happened == () and still.q[-1, 0] == -1.0
    bouncing = simulate(block(lower=-1.0), [0.0], [-3.0], until=5.0, limits=0.8, **TIGHT)
    speed = 0.8 * np.sqrt(9.0 - 2 * COULOMB)
    assert abs(bouncing.q[-1, 0] - (-1.0 + speed**2 / (2 * COULOMB))) < 1e-10


@pytest.mark.parametrize("masses", [np.eye(3), np.diag([1.0, 2.0, 3.0])])
@pytest.mark.parametrize("sides", [(1.0, 1.0, 1.0), (1.0, -1.0, 1.0)])
def test_velocities_that_reach_their_bounds_at_the_same_instant_all_break_away(masses, sides):
    """Sliders of the same friction under the same force, 1.5 sin(w t + 1), each as if it were alone."""
    force, rubs, w = 1.5, 1.3, 3.7
    system = System(
        "sliders", state={"x": Block((3,), "m", velocity="v"), "v": (3, "m/s")}, inputs={"force": (3, "N")},
        derivative=lambda t, x, u, p: np.linalg.inv(masses) @ u.force,
        holds=[FrictionAndStops("v", "x", ("a", "b", "c"), np.full(3, rubs), lambda t, x, u, p: (masses, u.force))])
    found = system.simulate({"x": np.zeros(3), "v": np.zeros(3)}, until=0.25, **TIGHT, inputs={
        "force": lambda t, x, v: force * np.sin(w * t + 1) * np.array(sides)})
    assert found.finished and sorted((o.name, o.action) for o in found.happened) == [(n, "slip") for n in "abc"]
    begun = (np.arcsin(rubs / force) - 1) / w
    assert max(abs(o.t - begun) for o in found.happened) < 1e-13
    angle, angle_then, since = w * begun + 1, w * 0.25 + 1, 0.25 - begun
    impulse = force / w * (np.cos(angle) - np.cos(angle_then)) - rubs * since
    way = force / w * (np.cos(angle) * since - (np.sin(angle_then) - np.sin(angle)) / w) - rubs * since**2 / 2
    assert np.abs(found.end["v"] - impulse * np.array(sides) / np.diag(masses)).max() < 1e-10
    assert np.abs(found.end["x"] - way * np.array(sides) / np.diag(masses)).max() < 1e-10


def test_a_digital_controller_breaks_away_at_its_look():
    found = simulate(block(), [0.0], [0.0], controller=lambda t, q, qd: np.array([3.0 if t > 0.295 else 1.0]),
                     control_period=0.1, until=1.0)
    assert [o.action for o in found.happened] == ["slip"] and abs(found.happened[0].t - 0.3) < 1e-12
    assert abs(found.q[-1, 0] - 0.7**2 / 2) < 1e-10
    assert np.abs(found.t - 0.1 * np.arange(11)).max() < 1e-12
    assert (found.tau[:, 0] == np.where(found.t > 0.295, 3.0, 1.0)).all()


def test_a_wrench_breaks_away_too():
    push = {"block": lambda t, q, qd: np.array([5.0 * t, 0, 0, 0, 0, 0])}
    found = simulate(block(), [0.0], [0.0], wrenches=push, until=1.0, **TIGHT)
    assert abs(found.happened[0].t - 0.4) < 1e-11 and abs(found.q[-1, 0] - 5 * 0.6**3 / 6) < 1e-10


def test_what_cannot_be_is_refused():
    for make in (lambda: simulate(block(coulomb=-1.0), [0.0], [0.0], until=1.0), lambda: rollout(block(coulomb=-1.0))):
        with pytest.raises(ModelError, match="'slide' of block has a negative dry friction"):
            make()
    with pytest.raises(ConventionError, match="backwards"):
        rollout(block())([0.0], [0.0], step=-1e-3, steps=10)


# Several joints: all modes are tried


def consistent(M, forces, coulomb, v):
    """The accelerations by trying all modes: each joint at rest is held, goes forwards, or goes backwards."""
    still = np.flatnonzero((v == 0) & (coulomb > 0))
    found = []
    for modes in product((0, 1, -1), repeat=len(still)):
        going = np.sign(v)
        going[still] = modes
        free = np.ones(len(v), bool)
        free[still] = np.array(modes, dtype=int) != 0
        a = np.zeros(len(v))
        a[free] = np.linalg.solve(M[np.ix_(free, free)], (forces - coulomb * going)[free])
        reaction = forces - M @ a
        if all(abs(reaction[k]) <= coulomb[k] * (1 + 1e-12) if not g else g * a[k] > 0
               for k, g in zip(still, modes, strict=True)):
            found.append((a, going))
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("name", ["planar2r", "puma560"])
def test_forward_dynamics_at_rest_is_the_only_consistent_mode(name):
    rng = np.random.default_rng(3)
    arm = load_robot(name)
    coulomb = np.array([2.0, 1.5, 1.0, 0.0, 0.3, 0.2])[:arm.nv]
    tree = rubbing(name, *coulomb)
    q, tau = rng.uniform(-2, 2, (60, arm.nv)), rng.normal(size=(60, arm.nv))
    v = rng.normal(size=q.shape) * (rng.random(q.shape) < 0.3)
    tau = inverse_dynamics_kernel(arm)(q, v, 0 * v) + 1.5 * coulomb.clip(0.5) * tau
    found = forward_dynamics_kernel(tree)(q, v, tau)
    M, bias = inertia_matrix_kernel(arm)(q), inverse_dynamics_kernel(arm)(q, v, 0 * v)
    held = 0
    for k in range(len(q)):
        a, going = consistent(M[k], tau[k] - bias[k], coulomb, v[k])
        assert np.abs(found[k] - a).max() < 1e-9 * (1 + np.abs(a).max())
        assert (found[k][(going == 0) & (coulomb > 0)] == 0).all()
        held += ((going == 0) & (coulomb > 0)).sum()
    assert held > 20
    for method in ("articulated-bodies", "composite-bodies"):
        assert np.abs(forward_dynamics_kernel(tree).using(method)(q, v, tau) - found).max() < 1e-8
    back = inverse_dynamics_kernel(tree)(q, v, found)  # what begins to move needs what it was given
    moving = (v != 0) | (found != 0) | (coulomb == 0)
    assert np.abs(back - tau)[moving].max() < 1e-9
    assert (np.abs(back - tau) <= coulomb + 1e-9)[~moving].all()


@pytest.mark.spec("S1-46")
def test_static_friction_of_forward_dynamics_in_numbers():
    """1 N at a block with 2 N of friction moves nothing; 3 N move it with 1 N."""
    dynamics = forward_dynamics_kernel(block())
    assert dynamics([0.0], [0.0], [[1.0], [2.0], [3.0], [-3.0]]).tolist() == [[0.0], [0.0], [1.0], [-1.0]]
    assert dynamics([0.0], [[1.0], [-1.0]], [1.0]).tolist() == [[-1.0], [3.0]]
    pushed = dynamics.with_inputs(wrenches=["block"], axes="world")
    assert pushed([0.0], [0.0], [0.0], [[1.0, 0, 0, 0, 0, 0], [3.0, 0, 0, 0, 0, 0]]).tolist() == [[0.0], [1.0]]
    driven = replace(block(), joints=(replace(block().joints[0], rotor=Rotor(1.0, 1.0)),))
    driven = driven.including("armature", "friction")
    assert forward_dynamics_kernel(driven)([0.0], [0.0], [[1.0], [3.0]]).tolist() == [[0.0], [0.5]]


def reference(arm, coulomb, tau, q, v, end):
    """The motion of an arm by SciPy's solver, mode by mode, each found by trying all."""
    inertia, bias = inertia_matrix_kernel(arm), inverse_dynamics_kernel(arm)
    t, y, log = 0.0, np.concatenate([q, v]), []

    def pull(t, y):
        return inertia(y[:2].copy()), tau(t, y[:2], y[2:]) - bias(y[:2].copy(), y[2:].copy(), np.zeros(2))

    while t < end:
        _, going = consistent(*pull(t, y), coulomb, y[2:])

        def solved(t, y, going=going):
            M, forces = pull(t, y)
            free, a = going != 0, np.zeros(2)
            a[free] = np.linalg.solve(M[np.ix_(free, free)], (forces - coulomb * going)[free])
            return a, forces - M @ a

        watch = [lambda t, y, k=k, g=going[k], f=solved: g * y[2 + k] if g else coulomb[k] - abs(f(t, y)[1][k])
                 for k in range(2)]
        for function in watch:
            function.terminal, function.direction = True, -1
        went = solve_ivp(lambda t, y, f=solved: np.concatenate([y[2:], f(t, y)[0]]), (t, end), y, method="DOP853",
                         rtol=1e-11, atol=1e-12, events=watch, max_step=0.02)
        t, y = went.t[-1], went.y[:, -1].copy()
        for k in range(2):
            if going[k] and len(went.t_events[k]):
                y[2 + k] = 0.0
                log.append((t, k, "zero"))
            elif len(went.t_events[k]):
                y[2 + k] = 1e-13 * np.sign(solved(t, y)[1][k])  # so that it is let go
                log.append((t, k, "slip"))
    return y, log


ARM_START = np.array([0.3, 0.7]), np.array([1.6, -2.4])
ARM_COULOMB = np.array([18.0, 4.0])


def swaying(t, q, qd):
    return np.array([25.0 * np.sin(3.0 * t), 5.0 * np.sin(2.0 * t)])


def test_two_joints_stick_and_slip_in_turn_as_the_enumeration_of_modes_says():
    arm = load_robot("planar2r").with_gravity((0.0, -1.0, 0.0))
    tree = rubbing("planar2r", *ARM_COULOMB, gravity=np.array([0.0, -1.0, 0.0]))
    found = simulate(tree, *ARM_START, controller=swaying, until=4.0, **TIGHT)
    y, log = reference(arm, ARM_COULOMB, swaying, *ARM_START, 4.0)
    assert np.abs(np.concatenate([found.q[-1], found.qd[-1]]) - y).max() < 1e-6
    names = [joint.name for joint in tree.joints]
    slips = [(o.t, names.index(o.name)) for o in found.happened if o.action == "slip"]
    expected = [(t, k) for t, k, word in log if word == "slip"]
    assert len(expected) >= 3 and {k for _, k in expected} == {0, 1}
    assert all(any(abs(t - s) < 1e-6 and k == j for s, j in slips) for t, k in expected)
    assert np.abs(found.energy_drift).max() < 1e-7


@pytest.mark.parametrize("name", ["planar2r", "panda"])
def test_friction_never_gives_energy(name):
    arm = load_robot(name)
    tree = rubbing(name, *np.linspace(3.0, 0.4, arm.nv))
    q, v = np.full(arm.nv, 0.4), np.linspace(-2.0, 2.0, arm.nv)
    found = simulate(tree, q, v, until=2.0, rtol=1e-9, atol=1e-10)
    assert found.finished and np.diff(found.energy).max() < 1e-9 * found.energy[0] + 1e-9
    assert {o.action for o in found.happened} <= {"stick", "slip"} and len(found.happened) > 0
    rolled = rollout(tree)(q, v, step=1e-3, steps=2000)
    assert np.diff(rolled.energy).max() < 1e-7 and np.diff(rolled.work).max() < 1e-7


# Rollouts


@kernel("(1)->(1)")
def spring(q):
    return -40.0 * q


@pytest.mark.parametrize("method", FIXED)
def test_rollouts_stop_and_do_not_creep(method):
    for step in (1e-3, 3.1e-3):
        found = rollout(block(), method=method)([0.0], [1.0], step=step, steps=round(2 / step))
        stopped = found.t > 0.5 + 1.01 * step
        assert (found.qd[stopped] == 0).all() and np.ptp(found.q[stopped]) == 0
        assert abs(found.q[-1, 0] - 0.25) < (COULOMB * step**2 if method != "semi-implicit-euler" else 0.6 * step)
        assert found.finished and np.abs(found.energy_drift).max() < 1e-12
    slope = rollout(block(0.2), method=method)([0.5], [0.0], step=1e-2, steps=1000)  # at 97 per cent of its friction
    assert (slope.q == 0.5).all() and (slope.qd == 0).all()


@pytest.mark.parametrize("method", FIXED)
def test_rollouts_with_friction_converge_as_is_said(method):
    """The oscillator comes to rest where the closed form says, with a second order in the step."""
    roll, (end, _) = rollout(block(), method=method, controller=spring, control="continuous"), oscillation(1.03, 40.0)
    steps = np.array([4e-3, 2e-3, 1e-3, 5e-4])
    errors = [abs(roll([1.03], [0.0], step=h, steps=round(6 / h), every=round(6 / h)).q[-1, 0] - end) for h in steps]
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert slope > 1.9 and errors[-1] < 1e-5


@pytest.mark.parametrize("method", FIXED)
def test_rollouts_of_an_arm_that_sticks_in_turn_converge_to_the_simulation(method):
    tree = rubbing("planar2r", *ARM_COULOMB, gravity=np.array([0.0, -1.0, 0.0]))
    law = kernel("()->(2)", inputs=["t"])(lambda t: np.stack([25.0 * np.sin(3.0 * t), 5.0 * np.sin(2.0 * t)]))
    exact = simulate(tree, *ARM_START, controller=swaying, until=2.0, **TIGHT)
    assert sum(o.action == "stick" for o in exact.happened) >= 3
    roll = rollout(tree, method=method, controller=law, control="continuous")
    errors = []
    for h in (2e-3, 5e-4):
        found = roll(*ARM_START, step=h, steps=round(2 / h), every=round(2 / h))
        errors.append(np.abs(found.q[-1] - exact.q[-1]).max())
    gain, most = (3, 1e-2) if method == "semi-implicit-euler" else (8, 1e-4)
    assert errors[1] < errors[0] / gain and errors[1] < most


def test_a_batch_with_friction_gives_each_as_alone():
    tree = rubbing("planar2r", 3.0, 1.0)
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=(2, 9, 2))
    v[::3] = 0.0
    roll = rollout(tree)
    together = roll(q, v, step=1e-3, steps=400, every=100)
    assert all((together.q[k] == roll(q[k], v[k], step=1e-3, steps=400, every=100).q).all() for k in range(9))
    single = roll(q.astype("f4"), v.astype("f4"), np.zeros(2, "f4"), step=1e-3, steps=400, every=100)
    assert np.abs(single.q - together.q).max() < 1e-3
