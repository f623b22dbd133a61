"""Laws of control on arms with dry friction and stops: against a reference with located events, and for every law."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cayley as cy
from cayley.control import Selection, digital
from cayley.errors import SignatureError
from cayley.model.parts import Limits
from cayley.systems import Block, System
from cayley.systems.friction_and_stops import FrictionAndStops, Stop

FRICTION = np.array([0.8, 0.4])
UPPER = 0.45  # of the second joint
START = np.array([0.3, 0.2])
TARGET = np.array([0.5, 0.9])


def smooth_arm(upper=UPPER):
    arm = cy.load("planar2r")
    limits = [Limits([-2.0], [2.0]), Limits([-1.0], [upper])]
    joints = tuple(replace(joint, limits=own) for joint, own in zip(arm.tree.joints, limits, strict=True))
    return cy.Mechanism(replace(arm.tree, joints=joints, gravity=np.zeros(3)))


def rough_arm(upper=UPPER):
    arm = smooth_arm(upper)
    for name, coulomb in zip(arm.joint_names, FRICTION, strict=True):
        arm = arm.with_friction(name, coulomb=coulomb)
    return arm.including("friction")


# A reference that knows nothing of this library but M(q) and the bias forces


class Reference:
    """A PID on an arm with dry friction and inelastic stops: modes by trying all of them, events located by SciPy."""

    def __init__(self, kp, ki, kd, stop=True):
        self.arm = smooth_arm()
        self.gains = kp, ki, kd
        self.limit = UPPER if stop else np.inf
        self.mode = np.zeros(2)  # direction of sliding, 0 held
        self.happened = []

    def forces(self, y):
        q, v, z = y[:2], y[2:4], y[4:6]
        kp, ki, kd = self.gains
        tau = kp * (TARGET - q) + ki * z - kd * v
        return self.arm.inertia_matrix(q), tau - self.arm.inverse_dynamics(q, v, np.zeros(2))

    def accelerations(self, y, mode):
        M, f = self.forces(y)
        f = f - FRICTION * mode
        a = np.zeros(2)
        free = mode != 0
        a[free] = np.linalg.solve(M[np.ix_(free, free)], f[free])
        return a, M @ a - f

    def bounds(self, y):
        lower, upper = -FRICTION.copy(), FRICTION.copy()
        if y[1] >= self.limit - 1e-12 and y[3] == 0:
            lower[1] = -np.inf
        return lower, upper

    def choose(self, y):
        """The mode at a state: the one of all whose accelerations and reactions agree with it."""
        lower, upper = self.bounds(y)
        for mode in product(*[[np.sign(v)] if v else [0.0, 1.0, -1.0] for v in y[2:4]]):
            mode = np.array(mode)
            a, reaction = self.accelerations(y, mode)
            starts = (mode != 0) & (y[2:4] == 0)
            blocked = (y[1] >= self.limit - 1e-12) and y[3] == 0 and mode[1] > 0
            if (a * mode)[starts].min(initial=1.0) > 0 and not blocked and (
                    (reaction >= lower) & (reaction <= upper))[mode == 0].all():
                return mode
        raise AssertionError("no mode agrees")

    def run(self, y, until):
        t = 0.0
        self.mode = self.choose(y)
        while t < until:
            mode = self.mode

            def slope(t, y, mode=mode):
                a, _ = self.accelerations(y, mode)
                return np.concatenate([np.where(mode != 0, y[2:4], 0.0), a, TARGET - y[:2]])

            watched = [self.watched(k, mode) for k in range(2)] + [
                lambda t, y, mode=mode: self.limit - y[1] + (mode[1] <= 0)]
            for each in watched:
                each.terminal, each.direction = True, -1
            found = solve_ivp(slope, (t, until), y, "DOP853", rtol=1e-12, atol=1e-13, events=watched)
            t, y = float(found.t[-1]), found.y[:, -1].copy()
            if found.status == 0:
                break
            which = next(k for k, times in enumerate(found.t_events) if len(times))
            if which == 2:
                y[1] = self.limit
                W = np.linalg.inv(self.arm.inertia_matrix(y[:2]))
                y[2:4] -= W[:, 1] * y[3] / W[1, 1]
                y[3] = 0.0
                self.happened.append((t, "impact"))
            elif mode[which]:
                y[2 + which] = 0.0
            before = mode
            if which < 2 and not mode[which]:  # its reaction is at a bound: it goes
                self.mode = mode.copy()
                self.mode[which] = -np.sign(self.accelerations(y, mode)[1][which])
            else:
                self.mode = self.choose(y)
            for k in range(2):
                if before[k] and not self.mode[k] and which == k:
                    self.happened.append((t, "stick"))
                if not before[k] and self.mode[k]:
                    self.happened.append((t, "slip"))
        return y

    def watched(self, k, mode):
        if mode[k]:
            return lambda t, y: mode[k] * y[2 + k]

        def slack(t, y):
            lower, upper = self.bounds(y)
            reaction = self.accelerations(y, mode)[1][k]
            return min(reaction - lower[k], upper[k] - reaction)
        return slack


GAINS = 3.0, 6.0, 0.3
UNTIL = 3.0


@pytest.fixture(scope="module")
def reference():
    of = Reference(*GAINS)
    end = of.run(np.concatenate([START, np.zeros(4)]), UNTIL)
    return of, end


def pid_loop(limits="inelastic"):
    return cy.connect(rough_arm().system(limits=limits), smooth_arm().control.pid(*GAINS))


def test_a_pid_with_stiction_and_end_stops_sticks_slips_and_strikes_when_the_reference_does(reference):
    of, end = reference
    found = pid_loop().simulate({"q": START, "qd": np.zeros(2)}, until=UNTIL, inputs={"target": TARGET}, rtol=1e-11,
                                atol=1e-12)
    actions = [o for o in found.happened if o.action in ("stick", "slip", "impact")]
    assert {"stick", "slip", "impact"} <= {o.action for o in actions}
    assert [o.action for o in actions] == [action for _, action in of.happened]
    assert np.abs(np.array([o.t for o in actions]) - [t for t, _ in of.happened]).max() < 1e-9
    assert np.abs(found.end["q"] - end[:2]).max() < 1e-9 and np.abs(found.end["qd"] - end[2:4]).max() < 1e-8
    assert np.abs(found.energy_drift).max() < 1e-8
    assert (found["q"][:, 1] <= UPPER).all()


@pytest.mark.parametrize(("method", "slope"), [("rk4", 0.2), ("gauss", 0.2), ("semi-implicit-euler", 1.5)])
def test_compiled_steps_of_that_loop_come_near_the_reference_as_the_step_shrinks(reference, method, slope):
    _, end = reference
    roll = pid_loop().rollout(method=method)
    for steps in (500, 2100, 9300):
        found = roll({"q": START, "qd": np.zeros(2)}, step=UNTIL / steps, steps=steps, inputs={"target": TARGET})
        assert found.finished and (found["q"][:, 1] <= UPPER + 1e-12).all()
        assert np.abs(found.end["q"] - end[:2]).max() < slope * UNTIL / steps


def test_ten_thousand_pids_with_stiction_and_end_stops_take_four_lines(reference):
    plant = rough_arm().system(limits="inelastic")
    law = smooth_arm().control.pid(*GAINS)
    loop = cy.connect(plant, law)
    found = loop.rollout()({"q": np.tile(START, (10_000, 1)), "qd": np.zeros(2)}, step=1e-3, steps=3000, every=3000,
                           inputs={"target": TARGET + np.linspace(0.0, 0.2, 10_000)[:, None] * [1.0, 0.0]})
    assert found.finished and found["q"].shape == (10_000, 2, 2)
    assert np.abs(found.end["q"][0] - reference[1][:2]).max() < 1e-3
    assert (found["q"][..., 1] <= UPPER + 1e-12).all() and len(np.unique(found.end["q"][:, 0])) > 9_000


# Every law


BENT = np.array([0.3, 0.7])  # far from where the arm is stretched
BENT_TARGET = np.array([0.5, 1.4])
BENT_UPPER = 0.95

PLANE = [True, True, False, False, False, False]
ALONG = [True, False, False, False, False, False]
LAWS = {
    "pd": (30.0, 4.0), "pid": (30.0, 20.0, 4.0), "pd_with_gravity": (30.0, 4.0), "computed_torque": (60.0, 14.0),
    "decoupled": (60.0, 14.0), "workspace_pd": ("tool", 20.0, 5.0), "resolved_acceleration": ("tool", 60.0, 14.0),
    "operational_space": ("tool", 60.0, 14.0), "force": ("tool", "y", 0.1, 10.0),
    "hybrid": ("tool", Selection(position="x", force="y"), 60.0, 14.0, 0.1),
    "impedance": ("tool", 60.0, 10.0), "admittance": ("tool", 20.0, 8.0, 1.0), "null_space": ("tool", 60.0, 10.0),
    "passivity_based": (30.0, 6.0), "adaptive": (10.0, 3.0, 2.0, 0.2), "sliding_mode": (4.0, 6.0, 3.0, 0.3),
    "disturbance_rejection": (60.0, 14.0, 10.0), "lqr": ([0.3, 0.2],)}


def test_all_laws_are_tried():
    assert set(LAWS) == set(smooth_arm(BENT_UPPER).control.laws)


def law_of(name):
    arm = smooth_arm(BENT_UPPER)
    rows = {"task": ALONG if name == "null_space" else PLANE} if "task" in arm.control.laws[name].arguments else {}
    return arm.control.law(name)(*LAWS[name], **rows)


def loop_of(name, late):
    law = law_of(name)
    parts = [law if late is None else digital(law, 0.01, late=late)]
    if name == "admittance":
        parts.append(smooth_arm(BENT_UPPER).control.operational_space("tool", 60.0, 14.0, task=PLANE))
    loop = cy.connect(rough_arm(BENT_UPPER).system(limits=0.3 if late is None else "inelastic"), *parts)
    place = np.asarray(smooth_arm(BENT_UPPER).pose(BENT_TARGET, "tool"))[:3, 3]
    wanted = {"target": BENT_TARGET, "nominal": place, "wrench_tool": np.zeros(6), "target_force": [30.0],
              "task_tau": [1.5, 2.5], "posture": BENT_TARGET}
    wanted |= {"target": place} if loop.inputs.get("target") and loop.ports["target"].shape == (3,) else {}
    return loop, {n: wanted[n] for n in loop.inputs if n in wanted}


@pytest.mark.parametrize("late", [None, 1])
@pytest.mark.parametrize("name", LAWS)
def test_every_law_drives_an_arm_with_dry_friction_and_stops(name, late):
    """In `simulate` and in batches: the one is the limit of the other, energies balance, and no joint passes its stop.
    """
    loop, inputs = loop_of(name, late)
    start = {"q": BENT, "qd": np.array([0.0, 2.5])}
    exact = loop.simulate(start, until=0.15, inputs=inputs, max_step=0.02)
    assert exact.finished, exact.message
    assert np.abs(exact.energy_drift).max() < 1e-6 * (1 + np.abs(exact.energy).max())
    assert (exact["q"][:, 1] <= BENT_UPPER).all()
    roll = loop.rollout(method="semi-implicit-euler" if late is None else "rk4")
    batch = {"q": np.stack([BENT, BENT - 0.1]), "qd": start["qd"]}
    found = roll(batch, step=2.5e-4, steps=600, inputs=inputs)
    assert found.finished and (found["q"][..., 1] <= BENT_UPPER + 1e-12).all()
    assert np.abs(found.end["q"][0] - exact.end["q"]).max() < 1e-3


# Systems of one's own, loops and elastic drives


def sliding_block(restitution=0.0):
    """One kilogram with 2 N of dry friction between two walls."""
    held = FrictionAndStops("v", "x", ("block",), [2.0], lambda t, x, u, p: (np.eye(1), np.stack([u.force])),
                            stops=(Stop("block", 0, 0, -1.0, 1), Stop("block", 0, 0, 1.0, -1)), restitution=restitution)
    return System("block", state={"x": Block((), "m", velocity="v"), "v": "m/s"}, inputs={"force": "N"},
                  derivative=lambda t, x, u, p: u.force, power=lambda t, x, u, p: u.force * x.v,
                  energy=lambda t, x, u, p: x.v**2 / 2, holds=[held])


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_block_between_walls_bounces_and_stops_as_its_closed_form(restitution):
    """From the middle with 3 m/s: it arrives with sqrt(9 - 4) m/s, leaves with e times that, and slides v^2 / 4 m."""
    left = restitution**2 * 5.0 / 4
    block = sliding_block(restitution)
    found = block.simulate({"x": 0.0, "v": 3.0}, until=3.0, inputs={"force": 0.0})
    impact = (3.0 - np.sqrt(5.0)) / 2
    assert abs(found.happened[0].t - impact) < 1e-9 and found.happened[0].name == "block, upper limit"
    assert abs(found.end["x"] - (1.0 - left)) < 1e-8 and found.end["v"] == 0
    assert np.abs(found.energy_drift).max() < 1e-9
    for method in ("rk4", "implicit-midpoint", "semi-implicit-euler"):
        rolled = block.rollout(method=method)({"x": 0.0, "v": 3.0}, step=1e-3, steps=3000, inputs={"force": 0.0})
        assert abs(rolled.end["x"] - (1.0 - left)) < 5e-3 and rolled.end["v"] == 0
        assert rolled["x"].max() <= 1.0


@pytest.mark.parametrize("kind", ["loop", "elastic drives"])
def test_a_law_drives_a_linkage_and_elastic_drives_with_dry_friction_and_stops(kind):
    """The end of compiled steps comes near that of `simulate`, whose energies balance."""
    if kind == "loop":
        arm = cy.load("four_bar")
        law = System(
            "law", inputs={"q": arm.nq, "qd": arm.nv}, outputs={"tau": arm.nv},
            output=lambda t, x, u, p: np.stack([3.0 * (0.6 - u.q[0]) - 0.2 * u.qd[0], 0.0, 0.0]))
        rough = arm.with_friction("crank", coulomb=0.3).with_friction("rocker", coulomb=0.2).including("friction")
        q = arm.loops.close(np.full(arm.nq, 0.4)).configuration
    else:
        arm = cy.load("planar2r").with_gravity([0.0, 0.0, 0.0])
        for name in ("joint1", "joint2"):
            arm = arm.with_drive(name, inertia=0.1, stiffness=200.0)
        rough = arm.with_friction(["joint1", "joint2"], coulomb=0.3).including("friction", "elastic drives")
        arm = arm.including("elastic drives")
        q = np.zeros(arm.nq)
        law = System("law", inputs={"q": arm.nq, "qd": arm.nv}, outputs={"tau": arm.nv}, output=lambda t, x, u, p: (
            np.concatenate([np.zeros(2), 5.0 * (np.array([0.4, 0.2]) - u.q[2:]) - 0.5 * u.qd[2:]])))
    loop = cy.connect(rough.system(limits="inelastic"), law)
    exact = loop.simulate({"q": q, "qd": np.zeros(arm.nv)}, until=0.5)
    assert exact.finished and np.abs(exact.energy_drift).max() < 1e-7
    for steps, allowed in ((500, 8e-3), (4000, 1e-3)):
        found = loop.rollout(method="semi-implicit-euler")({"q": q, "qd": np.zeros(arm.nv)}, step=0.5 / steps,
                                                           steps=steps)
        assert found.finished and np.abs(found.end["q"] - exact.end["q"]).max() < allowed


@pytest.mark.parametrize("period", [None, 0.02])
def test_a_law_is_a_controller_of_a_simulation_as_a_function_is(period):
    """A system with a memory, with its inputs as parameters; its forces are in the trajectory, and events see the arm.
    """
    law = smooth_arm().control.pid(*GAINS)
    passing = cy.simulation.Event("half way", lambda t, q, qd: q[1] - 0.4, action="record")
    found = rough_arm().simulate(START, np.zeros(2), controller=law, parameters={"target": TARGET}, until=0.5,
                                 limits="inelastic", control_period=period, events=passing)
    loop = cy.connect(rough_arm().system(limits="inelastic"), law if period is None else digital(
        law, period, at_once=True))
    expected = loop.simulate({"q": START, "qd": np.zeros(2)}, times=found.t, inputs={"target": TARGET})
    assert np.abs(found.q - expected["q"]).max() < 1e-7 and np.abs(found.tau - expected["tau"]).max() < 1e-6
    assert [o.action for o in found.happened if o.name == "half way"] == ["recorded"]
    assert np.abs(found.energy_drift).max() < 1e-8
    memoryless = smooth_arm().control.pd(*GAINS[::2])
    by_function = rough_arm().simulate(START, np.zeros(2), until=0.5, limits="inelastic", control_period=period,
                                       controller=lambda t, q, qd: memoryless.step(q, qd, TARGET, np.zeros(2)))
    by_system = rough_arm().simulate(START, np.zeros(2), until=0.5, limits="inelastic", control_period=period,
                                     controller=memoryless, parameters={"target": TARGET})
    assert [(o.name, o.action) for o in by_function.happened] == [
        (o.name, o.action) for o in by_system.happened if o.action != "transition" and (period is None or o.t > 0)]
    assert np.abs(by_function.q[-1] - by_system.q[-1]).max() < 1e-8
    assert period is None or np.abs(by_function.tau - by_system.tau)[:-1].max() < 1e-6


def test_rollouts_take_the_inputs_of_a_controller_by_name_or_as_parameters_as_simulations_do():
    roll = smooth_arm().rollout(controller=smooth_arm().control.pid(*GAINS))
    run = {"step": 1e-2, "steps": 20}
    by_name = roll(START, np.zeros(2), target=TARGET, **run)
    as_parameters = roll(START, np.zeros(2), parameters={"target": TARGET}, **run)
    np.testing.assert_array_equal(by_name.q, as_parameters.q)
    with pytest.raises(SignatureError, match=r"kp is fixed in it; `cy.connect\(.*rollout\(parameters=\['kp'\]\)`"):
        roll(START, np.zeros(2), parameters={"target": TARGET, "kp": [1.0, 1.0]}, **run)
    with pytest.raises(SignatureError, match="takes no input 'targt'"):
        roll(START, np.zeros(2), parameters={"target": TARGET, "targt": TARGET}, **run)
