"""Each law of the table drives machines with loops, with wheels and with elastic drives."""

import numpy as np
import pytest
from scipy.linalg import expm

import cayley as cy
from cayley.control import (
    Selection,
    momentum_observer,
    passivity_based_lyapunov,
    pd_with_gravity_lyapunov,
    through_springs,
    workspace_pd_lyapunov,
)
from cayley.errors import ConventionError, SignatureError, UnsupportedError

PLANE = [True, True, False, False, False, False]
OF_JOINTS = {
    "pd": ((400.0, 40.0), {}), "pid": ((400.0, 40.0, 40.0), {}), "pd_with_gravity": ((80.0, 12.0), {}),
    "computed_torque": ((100.0, 20.0), {}), "decoupled": ((100.0, 20.0), {}), "passivity_based": ((0.0, 5.0, 5.0), {}),
    "adaptive": ((0.0, 5.0, 5.0, 0.1), {"payload": "tool", "parameters": ["m"]}),
    "sliding_mode": ((5.0, 5.0, 0.1, 0.1), {}), "disturbance_rejection": ((100.0, 20.0, 20.0), {})}
OF_FRAMES = {
    "workspace_pd": ((400.0, 4.0), {}), "resolved_acceleration": ((100.0, 20.0), {}),
    "operational_space": ((100.0, 20.0), {}), "impedance": ((400.0, 60.0), {})}


@pytest.fixture(scope="module")
def five_bar():
    arm = cy.load("five_bar")
    start = arm.loops.close(arm.neutral).configuration
    drives = list(arm.tree.actuated_velocities)
    goal = arm.loops.close(start + 0.2 * np.isin(np.arange(arm.nv), drives)).configuration
    return arm, start, goal, drives


def consistent(arm, q, seed=0):
    """A velocity that the constraints allow."""
    rates = np.random.default_rng(seed).normal(size=arm.nv)
    A = arm.loops.jacobian(q)
    return rates - np.linalg.pinv(A) @ (A @ rates)


@pytest.mark.parametrize("name", OF_JOINTS)
def test_a_law_of_joints_drives_a_five_bar_to_its_target(five_bar, name):
    arm, start, goal, drives = five_bar
    gains, choice = OF_JOINTS[name]
    law = arm.control.law(name)(*gains, **choice)
    run = cy.connect(arm, law).rollout()({"q": start, "qd": np.zeros(arm.nv)}, step=1e-3, steps=3000,
                                         inputs={"target": goal})
    near = {"pd": 0.05, "pid": 0.05, "adaptive": 1e-2, "sliding_mode": 1e-2}.get(name, 1e-5)
    assert abs(run.end["q"] - goal).max() < near
    idle = [k for k in range(arm.nv) if k not in drives]
    np.testing.assert_array_equal(run["tau"][:, idle], 0.0)


@pytest.mark.parametrize(("machine", "kp"), [("delta", 3.0), ("stewart", 2000.0)])
def test_a_pd_holds_drives_of_a_machine_whose_passive_joints_turn_like_balls(machine, kp):
    """At rest kp e is the force that inverse dynamics says the drives need there."""
    arm = cy.load(machine)
    drives = list(arm.tree.actuated_velocities)
    loop = cy.connect(arm, arm.control.pd(kp, 0.1 * kp))
    run = loop.rollout()({"q": arm.neutral, "qd": np.zeros(arm.nv)}, step=1e-3, steps=8000, every=8000,
                         inputs={"target": arm.neutral})
    q, still = run.end["q"], np.zeros(arm.nv)
    assert abs(run.end["qd"]).max() < 1e-6
    np.testing.assert_allclose(kp * arm.difference(q, arm.neutral)[drives],
                               arm.inverse_dynamics(q, still, still)[drives], rtol=1e-5)


@pytest.mark.parametrize("name", OF_FRAMES)
def test_a_law_of_a_frame_drives_a_five_bar_to_its_target(five_bar, name):
    arm, start, goal, _ = five_bar
    gains, choice = OF_FRAMES[name]
    target = arm.pose(goal, "tool")[:3, 3]
    law = arm.control.law(name)("tool", *gains, task=PLANE, **choice)
    run = cy.connect(arm, law).rollout()({"q": start, "qd": np.zeros(arm.nv)}, step=1e-3, steps=4000,
                                         inputs={"target": target})
    np.testing.assert_allclose(arm.pose(run.end["q"], "tool")[:3, 3], target, atol=1e-4)


def test_errors_of_a_frame_of_a_closed_machine_obey_the_linear_equation(five_bar):
    arm, start, goal, _ = five_bar
    target = arm.pose(goal, "tool")[:3, 3]
    error = (target - arm.pose(start, "tool")[:3, 3])[:2]
    expected = expm(0.3 * np.array([[0.0, 1.0], [-100.0, -20.0]]))[0, 0] * error
    for name in ("resolved_acceleration", "operational_space"):
        loop = cy.connect(arm, arm.control.law(name)("tool", 100.0, 20.0, task=PLANE))
        run = loop.simulate({"q": start, "qd": np.zeros(arm.nv)}, until=0.3, inputs={"target": target})
        np.testing.assert_allclose((target - arm.pose(run.end["q"], "tool")[:3, 3])[:2], expected, atol=1e-6)


def test_a_closed_machine_presses_with_the_wanted_force(five_bar):
    arm, start, _, _ = five_bar
    here = arm.pose(start, "tool")[:3, 3]
    floor = arm.control.wall("tool", here - [0.0, 0.01, 0.0], [0.0, 1.0, 0.0], 1e4)
    law = arm.control.hybrid("tool", Selection(position=["x"], force=["y"]), kp=400.0, kd=40.0, kf=0.1, ki=0.5,
                             wind_up=5.0)
    loop = cy.connect(arm.system(wrenches=["tool"]), floor, law)
    run = loop.rollout()({"q": start, "qd": np.zeros(arm.nv)}, step=1e-3, steps=4000,
                         inputs={"target": here, "target_force": [-20.0]})
    assert run["depth"][-1] == pytest.approx(20.0 / 1e4, rel=1e-3)
    assert arm.pose(run.end["q"], "tool")[0, 3] == pytest.approx(here[0], abs=1e-5)


def test_energies_of_closed_loops_fall_as_the_laws_say(five_bar):
    """The rate of V beside differences of V along the accelerations of the loop."""
    arm, start, goal, _ = five_bar
    qd = 0.5 * consistent(arm, start)
    still = np.zeros(arm.nv)
    place = arm.pose(goal, "tool")[:3, 3]
    for law, V, given in (
            (arm.control.pd_with_gravity(30.0, 2.0), pd_with_gravity_lyapunov(arm, 30.0, 2.0), [goal]),
            (arm.control.workspace_pd("tool", 50.0, 2.0, task=PLANE),
             workspace_pd_lyapunov(arm, "tool", 50.0, 2.0, task=PLANE), [place]),
            (arm.control.passivity_based(20.0, 2.0, 3.0), passivity_based_lyapunov(arm, 20.0, 2.0, 3.0),
             [goal, still])):
        tau = law.step(start, qd, *given, *([still] if len(given) > 1 else []))
        qdd = arm.forward_dynamics(start, qd, tau)
        h = 1e-6
        ahead, behind = (V(start + k * qd + k * k / 2 * qdd, qd + k * qdd, *given).value for k in (h, -h))
        assert (ahead - behind) / (2 * h) == pytest.approx(V(start, qd, *given).rate, rel=1e-6), law.name


def test_a_push_on_a_closed_machine_is_seen_at_its_drives(five_bar):
    """At rest it is the forces of drives that hold the push: virtual work with the velocities of the constraints."""
    arm, start, _, drives = five_bar
    seen = momentum_observer(arm, 30.0)
    loop = cy.connect(arm.system(wrenches=["tool"], axes="world"), arm.control.pd_with_gravity(200.0, 20.0), seen)
    push = np.array([3.0, 5.0, 0.0, 0.0, 0.0, 0.0])
    run = loop.simulate({"q": start, "qd": np.zeros(arm.nv)}, until=3.0, inputs={"target": start, "wrench_tool": push})
    q = run.end["q"]
    _, _, right = np.linalg.svd(arm.loops.jacobian(q))
    free = right[-len(drives):].T
    N = free @ np.linalg.inv(free[drives])
    work = N.T @ arm.jacobian(q, "tool", axes="world").T @ push
    np.testing.assert_allclose(run["disturbance"][-1][drives], work, atol=1e-3)


def test_laws_drive_a_robot_on_two_wheels():
    """Wheels turn to their targets, and the front of the robot goes to a point of the floor."""
    robot = cy.load("two_wheel_robot")
    start = robot.neutral
    drives = list(robot.tree.actuated_velocities)
    goal = start + 0.8 * np.isin(np.arange(robot.nv), drives)
    for name in ("pd", "pd_with_gravity", "computed_torque", "decoupled", "passivity_based", "sliding_mode",
                 "disturbance_rejection"):
        gains, choice = OF_JOINTS[name]
        loop = cy.connect(robot, robot.control.law(name)(*gains, **choice))
        run = loop.rollout()({"q": start, "qd": np.zeros(robot.nv)}, step=1e-3, steps=4000, inputs={"target": goal})
        assert abs(run.end["q"] - goal)[drives].max() < 2e-2, name
    place = robot.pose(start, "tool")[:3, 3] + [0.5, 0.2, 0.0]
    for name in ("resolved_acceleration", "operational_space"):
        law = robot.control.law(name)("tool", 25.0, 10.0, task=PLANE)
        run = cy.connect(robot, law).rollout()({"q": start, "qd": np.zeros(robot.nv)}, step=1e-3, steps=4000,
                                               inputs={"target": place})
        np.testing.assert_allclose(robot.pose(run.end["q"], "tool")[:2, 3], place[:2], atol=1e-4)


def test_motions_without_a_drive_are_named():
    lame = cy.load("five_bar").variants.with_actuated(cy.load("five_bar").tree.actuated_joints[0])
    for name in ("pd_with_gravity", "passivity_based", "sliding_mode", "disturbance_rejection"):
        with pytest.raises(UnsupportedError, match=r"no drive leads '.*': `with_actuated` names"):
            gains, choice = OF_JOINTS[name]
            lame.control.law(name)(*gains, **choice)
    with pytest.raises(UnsupportedError, match="no drive leads"):
        lame.control.operational_space("tool", 1.0, 1.0, task=PLANE)


@pytest.mark.parametrize("name", [*OF_JOINTS, *OF_FRAMES])
def test_every_law_drives_elastic_joints(name):
    arm = cy.load("planar2r").with_gravity([0.0, -9.81, 0.0])
    for joint in arm.joint_names:
        arm = arm.with_drive(joint, inertia=1e-5, gear=100.0, stiffness=2e4)
    soft, rigid = arm.including("elastic drives"), arm.including("armature")
    goal = np.array([0.5, 0.9])
    gains, choice = {**OF_JOINTS, **OF_FRAMES}[name]
    of_frame = name in OF_FRAMES
    law = rigid.control.law(name)(*(("tool",) if of_frame else ()), *gains, **choice, **({"task": PLANE} if of_frame
                                                                                        else {}))
    target = arm.pose(goal, "tool")[:3, 3] if of_frame else goal
    start = {"q": [0.3, 1.1, 30.0, 110.0], "qd": np.zeros(4)}
    run = cy.connect(soft, through_springs(soft, law)).rollout()(start, step=2e-4, steps=20_000,
                                                                  inputs={"target": target})
    end = arm.pose(run.end["q"][:2], "tool")[:3, 3] - target if of_frame else run.end["q"][:2] - target
    assert abs(end).max() < (0.06 if name in ("pd", "pid", "sliding_mode", "adaptive") else 3e-3)


def test_laws_that_do_not_fit_springs_are_named():
    arm = cy.load("planar2r")
    law = arm.control.pd(10.0, 1.0)
    with pytest.raises(UnsupportedError, match="includes no elastic drives"):
        through_springs(arm, law)
    soft = arm.with_drive("joint2", stiffness=1e3, inertia=0.1).including("elastic drives")
    with pytest.raises(ConventionError, match="measured at the"):
        through_springs(soft, law, measured="links")
    with pytest.raises(SignatureError, match="including"):
        through_springs(soft, cy.load("planar3r").control.pd(10.0, 1.0))
    with pytest.raises(UnsupportedError, match="through_springs"):
        soft.control.computed_torque(10.0, 1.0)
