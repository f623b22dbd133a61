"""Whole-body controllers as systems: closed loops, wheeled platforms, and C that a compiler of C makes."""

import ctypes

import numpy as np
import pytest

import cayley as cy
from cayley.control import PoseTask, PositionTask, PostureTask
from cayley.planning import MotionLimits
from compiler.parity import compiled_c
from programs import needs

FREE = MotionLimits()


def test_a_closed_loop_decays_as_its_gain_says():
    """Closed form: from rest e'' + 2 g e' + g^2 e = 0, so that e = (1 + g t) exp(-g t) e0 along a straight line."""
    arm, gain = cy.load("planar2r"), 6.0
    law = arm.tasks([PositionTask("tool", axes="xy", gain=gain)], level="acceleration", limits=FREE)
    starts = np.array([[0.3, 0.9], [-0.4, 1.3], [0.1, -1.1]])
    target = np.array([0.45, 0.35, 0.0])
    run = cy.connect(arm, law).rollout()({"q": starts, "qd": np.zeros((3, 2))}, step=2e-3, steps=400,
                                         inputs={"target_tool": target})
    t = np.arange(401) * 2e-3
    missing = target[:2] - np.asarray(arm.pose(run["q"], "tool"))[..., :2, 3]
    expected = missing[:, :1] * ((1 + gain * t) * np.exp(-gain * t))[:, None]
    assert np.abs(missing[:, 0]).max() > 0.2 and np.abs(missing - expected).max() < 1e-5


@pytest.fixture(scope="module")
def platform():
    """Two driven wheels, a castor, and an arm of two joints on the chassis."""
    stand = np.eye(4)
    stand[:3, 3] = 0.1, 0.0, 0.3
    return cy.load("two_wheel_robot").attached(cy.load("planar2r"), at="chassis", pose=stand)


def test_wheels_and_arm_share_a_task_in_the_least_squares(platform):
    """Against the least squares over a null space, by SVD, of the rows that keep the wheels from slipping."""
    frame = "link2"
    law = platform.tasks([PositionTask(frame, axes="xy", gain=2.0), PostureTask(gain=1.0, weight=1e-2)], limits=FREE)
    q = np.asarray(platform.random_configuration(10, seed=4))
    goal = np.asarray(platform.pose(q, frame))[:, :3, 3] + np.random.default_rng(0).uniform(-1.0, 1.0, (10, 3))
    wanted = np.asarray(platform.random_configuration(10, seed=5))
    found = law.at(q, goal, target_posture=wanted)
    assert (found.outputs["status"] == 0).all()
    driven = list(platform.tree.actuated_velocities)
    for k in range(10):
        rows = np.asarray(platform.loops.jacobian(q[k]))
        _, sizes, V = np.linalg.svd(rows)
        N = V[np.count_nonzero(sizes > 1e-9):].T
        J = np.asarray(platform.jacobian(q[k], frame, axes="world"))[:2]
        missing = (goal[k] - np.asarray(platform.pose(q[k], frame))[:3, 3])[:2]
        apart = np.asarray(platform.difference(q[k], wanted[k]))[driven]
        A = np.vstack([J, 0.1 * np.eye(platform.nv)[driven]]) @ N
        best = N @ np.linalg.lstsq(A, np.concatenate([2.0 * missing, 0.1 * apart]), rcond=None)[0]
        assert np.abs(best).max() > 0.05 and np.abs(found.qd[k] - best).max() < 1e-6 * np.abs(best).max()


def test_a_platform_drives_where_its_arm_does_not_reach(platform):
    """A point 1.2 m ahead and 0.3 m aside: at first the small castor is at its limit, and no wheel ever slips."""
    frame = "link2"
    limits = MotionLimits.of(platform, velocity=10.0)
    law = platform.tasks([PositionTask(frame, axes="xy", gain=2.0), PostureTask(gain=0.0, weight=1e-4)], limits=limits)
    q = np.zeros(platform.nq)
    q[-2:] = 0.4, 0.8
    goal = np.asarray(platform.pose(q, frame))[:3, 3] + [1.2, 0.3, 0.0]
    held = 0
    for _ in range(400):
        found = law.at(q, goal, target_posture=np.zeros(platform.nq))
        assert found.status == "solved" and np.abs(found.qd[3:]).max() < 10.0 + 1e-6
        assert np.abs(platform.loops.jacobian(q) @ found.qd).max() < 1e-8
        held += "velocity of castor (upper)" in found.active_limits
        q = np.asarray(platform.integrate(q, 0.02 * found.qd))
    assert 100 < held < 200 and np.abs(np.asarray(platform.pose(q, frame))[:2, 3] - goal[:2]).max() < 1e-3


@needs("cc")
@pytest.mark.parametrize("level", ["velocity", "acceleration"])
def test_exported_c_gives_the_same_numbers(level):
    """Of the arm's own limits some are active; statuses, active limits and steps of the solver are the same too."""
    arm = cy.load("panda")
    law = arm.tasks([PoseTask("tool", gain=8.0), PostureTask(weight=1e-2)], level=level)
    assert "malloc" not in law.c_source("whole_body").source
    function = compiled_c(law.c_source("whole_body"))
    function.restype = None
    rng = np.random.default_rng(3)
    q = np.asarray(arm.random_configuration(20, seed=6))
    given = {"q": q, "qd": rng.normal(size=(20, 7)), "target_posture": q,
             "target_tool": np.asarray(arm.pose(np.asarray(arm.random_configuration(20, seed=7)), "tool"))}
    states = [np.ascontiguousarray(given.get(name, np.full((20, *port.shape), port.default or 0.0)))
              for name, port in law.ports.items()]
    ours = law.step(*states)
    assert np.abs(dict(zip(law.outputs, ours, strict=True))["active"]).sum() > 5
    for k in range(20):
        inputs = [each[k] for each in states]
        out = [np.full(np.shape(each)[1:], np.nan) for each in ours]
        pointers = [ctypes.c_void_p(a.ctypes.data) if a.ndim else ctypes.c_double(a) for a in inputs]
        function(*pointers, *[ctypes.c_void_p(a.ctypes.data) for a in out])
        for name, mine, theirs in zip(law.outputs, ours, out, strict=True):
            assert np.allclose(mine[k], theirs, rtol=1e-7, atol=1e-7), (name, k)


@needs("g++")
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-9), (np.float32, 1e-3)])
def test_a_thread_of_a_gpu_gives_the_same_numbers(cupy, dtype, tolerance):
    arm = cy.load("panda")
    law = arm.tasks([PoseTask("tool", gain=8.0), PostureTask(weight=1e-2)])
    q = np.asarray(arm.random_configuration(16, seed=6))
    given = {"q": q, "target_tool": np.asarray(arm.pose(0.9 * q, "tool")), "target_posture": 0.8 * q}
    states = [given.get(name, np.zeros((16, *port.shape))).astype(dtype) for name, port in law.ports.items()]
    ours, theirs = law.step(*states), law.step.on("cuda")(*states)
    results = {name: (mine, each) for name, mine, each in zip(law.outputs, ours, theirs, strict=True)}
    assert (results["active"][0] != 0).any() and (results["status"][1] == 0).all()
    mine, each = results["qd"]
    assert np.abs(mine - each).max() < tolerance * np.abs(mine).max()
