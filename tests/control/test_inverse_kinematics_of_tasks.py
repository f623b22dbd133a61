"""Configurations that do several tasks at once: against frames of Pinocchio, closed forms, and properties."""

import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.control import CenterOfMassTask, DampingTask, PointContact, PoseTask, PositionTask, PostureTask
from cayley.errors import CayleyError
from cayley.planning import MotionLimits
from model.tripod import FEET, STANDING, states, tripod

FREE = MotionLimits()


def test_feet_and_centre_of_mass_are_where_pinocchio_has_them(tmp_path):
    """Three feet at given points, the centre of mass over their middle, the body as level as can be."""
    robot, model = tripod(tmp_path)
    tasks = [*[PositionTask(foot) for foot in FEET], CenterOfMassTask(axes="xy"), PostureTask(priority=1)]
    law = robot.tasks(tasks, limits=FREE)
    rng = np.random.default_rng(0)
    q, _ = states(40)
    places = [np.asarray(robot.pose(STANDING, foot))[:3, 3] + rng.uniform(-0.04, 0.04, (40, 3)) for foot in FEET]
    middle = np.mean(places, axis=0)
    found = law.inverse_kinematics(q, *places, middle, np.tile(STANDING, (40, 1)))
    assert (found.status == "solved").all() and found.iterations.max() < 30
    assert set(found.missing) == {*FEET, "center_of_mass", "posture"}
    data = model.createData()
    for k in range(40):
        there = np.concatenate([found.q[k, :3], found.q[k, 4:7], found.q[k, 3:4], found.q[k, 7:]])
        pin.framesForwardKinematics(model, data, there)
        for foot, place in zip(FEET, places, strict=True):
            assert np.abs(data.oMf[model.getFrameId(foot)].translation - place[k]).max() < 1e-8
        assert np.abs(pin.centerOfMass(model, data, there)[:2] - middle[k, :2]).max() < 1e-8


def test_limits_hold_and_every_status_is_true():
    arm = cy.load("panda")
    law = arm.tasks([PoseTask("tool")], limits=FREE)
    rng = np.random.default_rng(1)
    q = np.asarray(arm.random_configuration(200, seed=2))
    start = np.clip(q + rng.uniform(-0.4, 0.4, q.shape), arm.lower, arm.upper)
    target = np.asarray(arm.pose(q, "tool"))
    found = law.inverse_kinematics(start, target)
    solved = found.status == "solved"
    apart = np.abs(np.asarray(arm.pose(found.q, "tool")) - target).max(axis=(1, 2))
    assert solved.mean() > 0.95 and apart[solved].max() < 1e-7 and (apart[~solved] > 1e-7).all()
    assert (found.q >= arm.lower - 1e-9).all() and (found.q <= arm.upper + 1e-9).all()


def test_a_point_out_of_reach_is_approached_as_near_as_can_be():
    """Closed form: the arm stretches towards it."""
    arm = cy.load("planar2r")
    law = arm.tasks([PositionTask("tool", axes="xy"), DampingTask(weight=1e-2)], limits=FREE)
    reach = np.linalg.norm(np.asarray(arm.pose([0.0, 0.0], "tool"))[:2, 3])
    found = law.inverse_kinematics([0.3, 0.7], [2.0, 2.0, 0.0])
    assert found.status == "not reached" and "reach" in found.reason
    assert np.allclose(np.asarray(arm.pose(found.q, "tool"))[:2, 3], reach / np.sqrt(2), atol=1e-3)
    lost = law.inverse_kinematics([np.nan, 0.7], [2.0, 2.0, 0.0])
    assert lost.status == "not a number"


@pytest.mark.parametrize("name", ["four_bar", "panda_hand", "delta"])
def test_constraints_are_closed(name):
    """From open configurations, too: the steps close loops, and couplings of mimic joints."""
    arm = cy.load(name)
    wanted = np.asarray(arm.random_configuration(5, seed=2))
    found = arm.tasks([PostureTask()], limits=FREE).inverse_kinematics(wanted + 0.02, wanted)
    assert (found.status == "solved").all() and np.abs(arm.loops.residual(found.q)).max() < 1e-8


def test_what_does_not_fit_is_said():
    arm = cy.load("panda")
    with pytest.raises(CayleyError, match="takes q, target_tool"):
        arm.tasks([PoseTask("tool")], limits=FREE).inverse_kinematics(arm.configurations["ready"])
    with pytest.raises(CayleyError, match="give the feet a PoseTask"):
        arm.tasks([PoseTask("tool")], limits=FREE, contacts=[PointContact("panda_link3")]).inverse_kinematics(
            arm.configurations["ready"], np.eye(4))
