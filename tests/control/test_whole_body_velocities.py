"""Velocities of several tasks within limits: against DAQP with Jacobians of Pinocchio, closed forms, and properties."""

from pathlib import Path

import daqp
import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.control import (
    CenterOfMassTask,
    DampingTask,
    GazeTask,
    MomentumTask,
    OrientationTask,
    PointContact,
    PoseTask,
    PositionTask,
    PostureTask,
    RelativePoseTask,
)
from cayley.control.tasks.kinds import TASKS
from cayley.errors import CayleyError, ModelWarning
from cayley.planning import MotionLimits
from model.tripod import FEET, states, tripod

PANDA = cy.load("panda")
FREE = MotionLimits()
UR5 = Path(pin.__file__).parents[4] / "share/example-robot-data/robots/ur_description/urdf/ur5_robot.urdf"


def test_the_best_velocities_of_an_arm_are_those_of_daqp():
    """The same costs and limits with matrices of Pinocchio and its own solver."""
    model = pin.buildModelFromUrdf(str(UR5))
    arm = cy.load(UR5)
    hand = arm.tasks([PoseTask("ee_link", gain=6.0), PostureTask(gain=1.0, weight=1e-2),
                      DampingTask(weight=1e-3)], approach=5.0)
    q = arm.random_configuration(60, seed=1)
    target = arm.pose(arm.random_configuration(60, seed=2), "ee_link")
    home = arm.random_configuration(60, seed=3)
    found = hand.at(q, target, np.zeros((60, 6)), home)
    assert (found.outputs["status"] == 0).all()
    data = model.createData()
    speed = model.velocityLimit
    for k in range(60):
        pin.computeJointJacobians(model, data, q[k])
        pin.updateFramePlacements(model, data)
        frame = model.getFrameId("ee_link")
        J = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        here = data.oMf[frame]
        e = np.concatenate([target[k, :3, 3] - here.translation, pin.log3(target[k, :3, :3] @ here.rotation.T)])
        P = J.T @ J + (1e-2 + 1e-3) * np.eye(6)
        c = -J.T @ (6.0 * e) - 1e-2 * (home[k] - q[k])
        P += 1e-8 / model.nv * np.trace(P) * np.eye(model.nv)
        low = np.maximum(-speed, 5.0 * (model.lowerPositionLimit - q[k]))
        high = np.minimum(speed, 5.0 * (model.upperPositionLimit - q[k]))
        x, _, flag, _ = daqp.solve(P, c, np.eye(model.nv), high, low, np.zeros(model.nv, dtype=np.int32))
        assert flag == 1
        assert np.abs(found.qd[k] - x).max() < 1e-8 * max(1.0, np.abs(x).max())


def rows_of(task, arm, q, qd, step=1e-6):
    """J qd, its rate, and the rate of the error, by differences."""
    target = task.checked_target(arm.tree)
    target = np.zeros(0) if target is None else target
    kernels = {name: cy.kernel(f"({arm.nq}),({arm.nv})->({len(task.rows(arm.tree))})", name=name)(text)
               for name, text in {
                   "rate": lambda q, qd: task.jacobian(arm.tree, q, target) @ qd,
                   "drift": lambda q, qd: task.drift(arm.tree, q, qd, target),
                   "error": lambda q, qd: task.error(arm.tree, q, target)}.items()}
    ahead, behind = (arm.integrate(q, s * step * qd) for s in (1, -1))
    return (kernels["rate"](q, qd), (kernels["error"](behind, qd) - kernels["error"](ahead, qd)) / (2 * step),
            kernels["drift"](q, qd), (kernels["rate"](ahead, qd) - kernels["rate"](behind, qd)) / (2 * step))


def tasks_near(arm, q, frame, other):
    """A task of each kind with a target that is nearly met."""
    T = np.asarray(arm.pose(q, frame))
    relative = np.asarray(arm.pose(q, frame, relative_to=other))
    return [PositionTask(frame, target=T[:3, 3]), OrientationTask(frame, target=T[:3, :3]),
            PoseTask(frame, target=T), GazeTask(frame, target=T[:3, 3] + 0.7 * T[:3, 2]),
            PostureTask(target=q), CenterOfMassTask(target=arm.center_of_mass(q)), MomentumTask(target=np.zeros(6)),
            RelativePoseTask(frame, other, target=relative), DampingTask()]


@pytest.mark.parametrize("number", range(len(TASKS)))
@pytest.mark.parametrize(("name", "frame", "other"), [("panda", "tool", "panda_link3"), ("stanford", "tool", "link1")])
def test_rows_of_every_kind_are_rates_of_its_error(name, frame, other, number):
    """J qd is the rate at which the error falls, where it is zero, and the drift the rate of J qd, by differences."""
    arm = cy.load(name)
    other = other if other in [each.name for each in arm.tree.bodies] else arm.tree.bodies[2].name
    q = arm.random_configuration(seed=4)
    qd = np.random.default_rng(5).uniform(-1, 1, arm.nv)
    task = tasks_near(arm, q, frame, other)[number]
    assert list(TASKS.values())[number] is type(task)
    rate, falling, drift, changing = rows_of(task, arm, q, qd)
    scale = 1 + np.abs(rate).max()
    if type(task) not in (DampingTask, MomentumTask):
        assert np.abs(rate - falling).max() < 1e-6 * scale
    assert np.abs(drift - changing).max() < 1e-6 * (scale + np.abs(drift).max())


def test_one_slide_does_what_is_asked_until_its_limit():
    """Closed form: v = clip(gain (target - q)) between its limits."""
    from cayley.model.joint_kinds import Prismatic
    from cayley.model.parts import Body, Frame, Joint, Limits
    limits = Limits(lower=(-1.0,), upper=(1.0,), velocity=(2.0,), effort=(10.0,))
    rail = cy.Mechanism.of("rail", [Body("ground"), Body("cart", 2.0)],
                           [Joint("slide", "ground", "cart", Prismatic(), limits=limits)],
                           frames=[Frame("tip", "cart")])
    axis = rail.jacobian([0.0], "tip", axes="world")[:3, 0]
    law = rail.tasks([PositionTask("tip", gain=4.0)], approach=5.0)
    q = np.array([[0.0], [0.0], [0.9], [-0.99]])
    places = np.array([0.2, 3.0, 3.0, -3.0])
    found = law.at(q, places[:, None] * axis)
    assert np.allclose(found.qd[:, 0], [0.8, 2.0, 0.5, -0.05], atol=1e-7)
    assert found.active.ravel().tolist() == [0.0, 1.0, 1.0, -1.0]
    assert law.limit_names == ("velocity of slide",)


@pytest.mark.parametrize("name", ["panda", "stanford"])
def test_limits_hold_in_random_batches(name):
    """Positions after a step of a period that is shorter than 1 / approach, and velocities, stay within the limits."""
    arm = cy.load(name)
    limits = MotionLimits(velocity=1.5)
    law = arm.tasks([PoseTask("tool", gain=50.0), DampingTask(weight=1e-3)], limits=limits, approach=20.0)
    q = arm.random_configuration(2000, seed=7)
    found = law.at(q, arm.pose(arm.random_configuration(2000, seed=8), "tool"))
    assert (found.outputs["status"] == 0).all() and np.isfinite(found.qd).all()
    assert np.abs(found.qd).max() <= 1.5 + 1e-7
    after = q + found.qd / 20.0
    assert (after <= arm.tree.upper + 1e-8).all() and (after >= arm.tree.lower - 1e-8).all()
    assert (np.abs(found.active).sum(axis=1) > 0).mean() > 0.5  # the limits matter


def test_a_joint_beyond_its_limit_comes_back():
    q = PANDA.tree.upper + 0.1
    found = PANDA.tasks([DampingTask()], approach=10.0).at(q)
    assert (found.qd <= -1.0 + 1e-7).all() and found.status == "solved"


def test_a_lower_priority_does_not_disturb_a_higher_one():
    """The error above stays as it was, to the last digits that the solver gives, and what is below is done as well as
    can be: as the null space leaves it."""
    q = PANDA.configurations["ready"]
    target = PANDA.pose(q + 0.2, "tool")
    one = PANDA.tasks([PoseTask("tool")], limits=FREE)
    two = PANDA.tasks([PoseTask("tool"), PostureTask(priority=1)], limits=FREE)
    alone, both = one.at(q, target), two.at(q, target, target_posture=np.zeros(7))
    assert np.abs(both.residual_tool - alone.residual_tool).max() < 1e-6
    J = PANDA.jacobian(q, "tool", axes="world")
    free = np.linalg.svd(J)[2][6:]
    assert np.abs(free @ both.residual_posture).max() < 1e-6
    assert np.abs(free @ (both.qd - alone.qd)).max() > 0.1


@pytest.mark.parametrize("name", ["four_bar", "three_rrr", "delta", "panda_hand"])
def test_loops_and_mimic_joints_stay_closed(name):
    """Velocities keep the rates of all constraints zero."""
    arm = cy.load(name)
    law = arm.tasks([PostureTask(gain=2.0)], limits=FREE)
    q = np.asarray(arm.random_configuration(20, seed=1))
    found = law.at(q, np.asarray(arm.random_configuration(20, seed=2)))
    rates = np.einsum("...ij,...j->...i", arm.loops.jacobian(q), found.qd)
    assert (found.outputs["status"] == 0).all()
    assert np.abs(found.qd).max() > 0.1 and np.abs(rates).max() < 1e-8 * np.abs(found.qd).max()


def test_feet_on_the_ground_do_not_move(tmp_path):
    dog, _ = tripod(tmp_path)
    law = dog.tasks([PositionTask("body", gain=3.0), PostureTask(weight=1e-3)],
                    contacts=[PointContact(foot) for foot in FEET])
    q, _ = states(20)
    found = law.at(q, q[:, :3] + [0.02, 0.01, -0.03], target_posture=q)
    assert (found.outputs["status"] == 0).all()
    for foot in FEET:
        moved = np.einsum("kij,kj->ki", dog.jacobian(q, foot, axes="world")[:, :3], found.qd)
        assert np.abs(moved).max() < 1e-7
    lifted = law.at(q, q[:, :3], target_posture=q + 0.1, contact_foot1=np.zeros(20))
    assert np.abs(np.einsum("kij,kj->ki", dog.jacobian(q, "foot1", axes="world")[:, :3], lifted.qd)).max() > 1e-3


def test_a_singular_posture_and_a_target_out_of_reach_give_finite_velocities():
    arm = cy.load("planar2r")
    law = arm.tasks([PositionTask("tool", axes="xy"), DampingTask(weight=1e-4)],
                            limits=MotionLimits(velocity=2.0))
    found = law.at([0.0, 0.0], [5.0, 0.0, 0.0])
    assert found.status == "solved" and np.isfinite(found.qd).all() and np.linalg.norm(found.residual_tool) > 1.0
    unknown = law.at([np.nan, 0.0], [0.3, 0.0, 0.0])
    assert unknown.status == "not finite" and (unknown.qd == 0.0).all() and "not a number" in unknown.reason


def test_limits_of_acceleration_take_the_velocity_before():
    law = PANDA.tasks([PostureTask(gain=50.0)], limits=MotionLimits(acceleration=3.0), period=0.01)
    found = law.at(PANDA.configurations["ready"], np.full(7, 0.2), target_posture=np.zeros(7))
    assert np.abs(found.next_qd - 0.2).max() <= 0.03 + 1e-7 and np.abs(found.active).sum() > 3
    with pytest.raises(CayleyError, match="period"):
        PANDA.tasks([PostureTask()], limits=MotionLimits(acceleration=3.0))


@pytest.mark.parametrize(("tasks", "words"), [
    ([], "a task at least"), ([PoseTask("tol")], "tool"), ([PoseTask("tool"), PositionTask("tool")], "`name`"),
    ([PositionTask("tool", axes="yx")], "letters"), ([PoseTask("tool", weight=-1.0)], "weight"),
    ([PoseTask("tool", priority=-1)], "priority"), ([PoseTask("tool", target=np.eye(3))], "shape"),
    ([PostureTask(joints=["elbow"])], "elbow"), (["pose"], "PoseTask")])
def test_wrong_tasks_are_named(tasks, words):
    with pytest.raises(CayleyError, match=words):
        PANDA.tasks(tasks)


def test_what_the_model_does_not_limit_is_said():
    with pytest.warns(ModelWarning, match="no limit of velocity for 'joint1'"):
        cy.load("planar2r").tasks([DampingTask()])


@pytest.mark.parametrize("tasks", [[PoseTask("tool")], [PositionTask("tool"), PostureTask(weight=1e-2)]],
                         ids=["pose alone", "position and posture"])
def test_derivatives_agree_with_differences(tasks):
    """By targets and configuration, also in the direction in which nothing but its least cost holds the motion, with
    limits that are active."""
    law = PANDA.tasks(tasks, limits=MotionLimits(velocity=1.0))
    q = np.asarray(PANDA.random_configuration(30, seed=11))
    target = np.asarray(PANDA.pose(np.clip(q + 0.3, PANDA.lower, PANDA.upper), "tool"))
    point = target if isinstance(tasks[0], PoseTask) else target[:, :3, 3]
    given = {"q": q, "target_tool": point, "target_posture": 0.9 * q}
    values = [np.broadcast_to(given.get(name, np.zeros(port.shape)), (30, *port.shape)).copy()
              for name, port in law.ports.items()]
    step, h = law.step, 1e-6
    found = step(*values)
    active = dict(zip(law.outputs, found, strict=True))["active"]
    J = step.jacobian("q", of="qd")(*values)
    compared = 0
    for k in range(7):
        sides = []
        for sign in (1.0, -1.0):
            moved = [values[0] + sign * h * np.eye(7)[k], *values[1:]]
            sides.append(dict(zip(law.outputs, step(*moved), strict=True)))
        still = (sides[0]["active"] == active).all(axis=1) & (sides[1]["active"] == active).all(axis=1)
        differences = (sides[0]["qd"] - sides[1]["qd"]) / (2 * h)
        apart = np.abs(differences - J[..., k]).max(axis=1) / (1.0 + np.abs(J).max(axis=(1, 2)))
        assert apart[still].max() < 1e-6
        compared += np.count_nonzero(still)
    assert compared > 180 and (active != 0).any(axis=1).mean() > 0.3
