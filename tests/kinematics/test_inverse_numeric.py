"""Numeric inverse kinematics: true residuals, limits, partial tasks, every kind of joint, batches, paths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import cayley as cy
from cayley.compiler.solving.linear import ldl_solve
from cayley.errors import ConventionError, GeometryError, ModelError, SignatureError, SingularityError, UnsupportedError
from cayley.geometry.rotations import compose_vector_parameters, vector_parameter_from_matrix
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.inverse import (
    damped_inverse,
    damping_from_singular_value,
    distinct_solutions,
    follow_path,
    inverse_kinematics,
    newton_iteration,
    resolved_rates,
)
from cayley.kinematics.inverse.bounds import bounds_of
from cayley.kinematics.inverse.goal import Goal, Task, task_error, task_jacobian
from cayley.kinematics.inverse.search import FRESH, RUNNING, STALLED, search_step
from cayley.mechanism import Mechanism
from cayley.model.joint_kinds import Helical, Planar, Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Frame, Joint, Limits, Mimic
from compiler.parity import agree, check_parity, check_program_parity, states_of
from kinematics.inverse_arms import IIWA, INDUSTRY, PANDA, PLANAR_2R, PUMA_560, SIX_JOINTS, UR5, random_configurations
from model.random_trees import random_configuration, random_parts

TOLERANCE = 1e-10


def true_errors(arm, q, targets, frame="tool"):
    """Position and angle between the frame and the targets, by SciPy."""
    found = arm.pose(q, frame)
    turn = Rotation.from_matrix(
        np.swapaxes(found[..., :3, :3], -1, -2).reshape(-1, 3, 3) @ targets[..., :3, :3].reshape(-1, 3, 3))
    shape = np.broadcast_shapes(found.shape[:-2], targets.shape[:-2])
    return np.linalg.norm(found[..., :3, 3] - targets[..., :3, 3], axis=-1), turn.magnitude().reshape(shape)


# Arms of industry


@pytest.mark.spec("S0-27")
@pytest.mark.parametrize("name", INDUSTRY)
def test_random_reachable_poses_are_reached_within_the_limits(name):
    arm = INDUSTRY[name]
    targets = arm.pose(random_configurations(np.random.default_rng(3), arm, 1500), "tool")
    found = inverse_kinematics(arm.tree, targets, "tool")
    assert np.mean(found.solved) >= 0.999
    position, angle = true_errors(arm, found.q, targets)
    np.testing.assert_allclose(found.position_error, position, atol=1e-14)
    np.testing.assert_allclose(found.angle_error, angle, atol=1e-14)
    np.testing.assert_allclose(found.residual, np.hypot(position, angle), atol=1e-14)
    np.testing.assert_array_equal(found.solved, found.residual <= TOLERANCE)
    np.testing.assert_array_equal(found.status == "solved", found.solved)
    assert ((found.q >= arm.lower) & (found.q <= arm.upper)).all()
    np.testing.assert_array_equal(found.limits_hit, np.minimum(found.q - arm.lower, arm.upper - found.q) <= 1e-9)


@pytest.mark.parametrize("name", INDUSTRY)
def test_unreachable_poses_are_never_solved(name):
    arm, random = INDUSTRY[name], np.random.default_rng(4)
    targets = arm.pose(random_configurations(random, arm, 60), "tool")
    shoulder = np.asarray(arm.joints[0].placement)[:3, 3]
    away = random.normal(size=(60, 3))
    targets[:, :3, 3] = shoulder + away / np.linalg.norm(away, axis=-1, keepdims=True) * random.uniform(
        2.0, 4.0, size=(60, 1))
    found = inverse_kinematics(arm.tree, targets, "tool")
    assert not found.solved.any()
    assert set(found.status) == {"unreachable"} and set(found.reason) == {"beyond the reach of the chain"}
    position, angle = true_errors(arm, found.q, targets)
    np.testing.assert_allclose(found.residual, np.hypot(position, angle), rtol=1e-12)


def test_poses_that_only_the_search_can_refuse_are_refused():
    """The wrist of the PUMA is at most 0.878 m from its first joint; the sum of its links is 1.119 m."""
    arm, random = PUMA_560, np.random.default_rng(5)
    reach = np.hypot(0.4318 + np.hypot(0.4331, 0.0203), 0.2435 - 0.0934)
    targets = arm.pose(random_configurations(random, arm, 40), "tool")
    away = random.normal(size=(40, 3))
    targets[:, :3,
            3] = away * random.uniform(reach + 0.001, 1.1, size=(40, 1)) / np.linalg.norm(away, axis=-1, keepdims=True)
    found = inverse_kinematics(arm.tree, targets, "tool", restarts=30)
    assert not found.solved.any()
    assert set(found.status) == {"not found"} and set(found.reason) <= {"local minimum", "iteration limit"}


@pytest.mark.parametrize(("motion", "limits", "reach"), [
    (Prismatic((1.0, 0.0, 0.0)), (0.2, 1.0), 1.5), (Prismatic((1.0, 0.0, 0.0)), (-1.3, 1.0), 1.8),
    (Helical((1.0, 0.0, 0.0), 0.2), (-1.0, 3.0), 1.1), (Helical((1.0, 0.0, 0.0), -0.2), (-4.0, 3.0), 1.3)])
def test_slides_and_screws_reach_as_far_as_their_limits_let_them(motion, limits, reach):
    """A turning base, half a metre of link, and what slides: `reach` is their sum."""
    joints = [Joint("base", "root", "arm", Spherical()),
              Joint("slide", "arm", "hand", motion, _shift(0.5, 0, 0), limits=Limits((limits[0],), (limits[1],)))]
    arm = Mechanism.of("slide", [Body("root"), Body("arm"), Body("hand")], joints).tree
    direction = np.array([2.0, -1.0, 2.0]) / 3
    reasons = [inverse_kinematics(arm, _shift(*(direction * distance)), "hand", task="position", restarts=3).reason
               for distance in (0.999 * reach, 1.001 * reach)]
    assert (reasons[0] != "beyond the reach of the chain") and reasons[1] == "beyond the reach of the chain"


def test_progress_is_progress_however_long_it_was_waited_for():
    """Searches that have met a smaller error have the same patience left, and those that have met none less and less of
    it.
    """
    target = np.eye(4)
    # beyond a stretched arm, which is as near as it can be: after one step nothing gets better
    target[:3, 3] = [3.0, 0.0, 0.0]
    step = search_step(Goal(PLANAR_2R.tree, "tool", Task.of(PLANAR_2R.tree, "position", "world")),
                       bounds_of(PLANAR_2R.tree, "tool", limits=True))
    fresh, waiting = (step(np.zeros(2), FRESH + np.array([0.0, waited, 0.0, 0.0]), target, 1e-20)
                      for waited in (0.0, 3.0))
    np.testing.assert_array_equal(fresh.memory, waiting.memory)
    assert fresh.memory[3] == RUNNING
    stuck = [step(np.zeros(2), [fresh.memory[0], waited, 0.0, RUNNING], target, 1e-20).memory for waited in (0.0, 2.0)]
    assert all(memory[3] == STALLED for memory in stuck) and stuck[0][2] == stuck[1][2] + 2


def test_the_best_of_a_failed_search_is_as_near_as_the_arm_can_come():
    target = np.eye(4)
    target[:3, 3] = [1.2, 1.6, 0.0]  # 2 m from a base whose links are 1 m and 0.8 m long
    found = inverse_kinematics(PLANAR_2R.tree, target, "tool", task="position")
    assert not found.solved and found.status == "unreachable"
    assert found.residual == pytest.approx(0.2, abs=1e-6)


@pytest.mark.parametrize("name", INDUSTRY)
def test_singular_targets_and_targets_at_the_limits_are_reached(name):
    arm, random = INDUSTRY[name], np.random.default_rng(6)
    q = random_configurations(random, arm, 60)
    q[:20, 4] = 0.0  # wrist of the six-axis arms, an elbow roll of the others
    q[20:40, 2:] = np.clip(0.0, arm.lower, arm.upper)[2:]  # stretched as far as the limits allow
    one = random.integers(arm.nq, size=20)
    q[np.arange(40, 60), one] = np.where(random.random(20) < 0.5, arm.lower[one], arm.upper[one])
    found = inverse_kinematics(arm.tree, arm.pose(q, "tool"), "tool")
    assert found.solved.all()


@pytest.mark.spec("S0-27")
def test_the_smallest_singular_value_tells_a_singular_solution():
    q = np.array([0.3, 0.4, 0.5, 0.2, 0.0, 0.1])
    found = inverse_kinematics(PUMA_560.tree, PUMA_560.pose(q, "tool"), "tool", start=q + 0.01)
    assert found.solved and found.smallest_singular_value < 1e-6
    other = inverse_kinematics(PUMA_560.tree, PUMA_560.pose(q + 0.8 * (np.arange(6) == 4), "tool"), "tool")
    J = PUMA_560.jacobian(other.q, "tool", axes="world")
    J[:3] /= other.length
    np.testing.assert_allclose(other.singular_values, np.linalg.svd(J, compute_uv=False), rtol=1e-12)
    assert other.branch == np.sign(np.linalg.det(J))


# Starts, restarts, batches


def test_a_pose_alone_and_in_a_batch_has_the_same_answer():
    targets = PANDA.pose(random_configurations(np.random.default_rng(7), PANDA, 200), "tool")
    together = inverse_kinematics(PANDA.tree, targets, "tool")
    for k in range(0, 200, 9):
        alone = inverse_kinematics(PANDA.tree, targets[k], "tool")
        np.testing.assert_array_equal(alone.q, together.q[k])
        assert (alone.restarts, alone.iterations, alone.status) == (together.restarts[k], together.iterations[k],
                                                                    together.status[k])
        few = inverse_kinematics(PANDA.tree, targets[k:k + 3], "tool")
        np.testing.assert_array_equal(few.q, together.q[k:k + 3])


def test_leading_axes_are_kept_and_broadcast():
    targets = UR5.pose(random_configurations(np.random.default_rng(8), UR5, 6), "tool").reshape(3, 2, 4, 4)
    found = inverse_kinematics(UR5.tree, targets, "tool", start=np.full((2, 6), 0.5))
    assert found.q.shape == (3, 2, 6) and found.limits_hit.shape == (3, 2, 6)
    for field in ("solved", "residual", "iterations", "restarts", "status", "smallest_singular_value", "branch"):
        assert getattr(found, field).shape == (3, 2)
    one = found[1, 0]
    assert one.status == "solved" and one.q.shape == (
        6,) and one.smallest_singular_value == found.smallest_singular_value[1, 0]
    starts = inverse_kinematics(UR5.tree, targets[0, 0], "tool", start=np.zeros((5, 6)) + np.linspace(0, 1, 5)[:, None])
    assert starts.q.shape == (5, 6) and starts.solved.all()
    none = inverse_kinematics(UR5.tree, np.zeros((0, 4, 4)), "tool")
    assert none.q.shape == (0, 6) and none.solved.shape == (0,)


def test_the_search_from_a_start_ends_in_its_neighbourhood():
    q = random_configurations(np.random.default_rng(9), IIWA, 100) * 0.9
    found = inverse_kinematics(IIWA.tree, IIWA.pose(q, "tool"), "tool", start=q + 0.02)
    near = found.restarts == 0
    assert near.mean() > 0.9
    assert np.median(np.abs(found.q - q).max(axis=-1)[near]) < 0.1
    exact = inverse_kinematics(IIWA.tree, IIWA.pose(q, "tool"), "tool", start=q)
    np.testing.assert_array_equal(exact.q, q)
    assert (exact.iterations == 0).all()


def test_the_seed_and_the_number_of_restarts_decide():
    targets = PUMA_560.pose(random_configurations(np.random.default_rng(10), PUMA_560, 400), "tool")
    few, many = inverse_kinematics(PUMA_560.tree, targets, "tool",
                                   restarts=0), inverse_kinematics(PUMA_560.tree, targets, "tool", restarts=60)
    assert few.solved.sum() < many.solved.sum()
    assert (few.restarts == 0).all() and many.restarts.max() <= 60
    np.testing.assert_array_equal(many.q[many.restarts == 0], few.q[many.restarts == 0])
    again = inverse_kinematics(PUMA_560.tree, targets, "tool", restarts=60)
    np.testing.assert_array_equal(again.q, many.q)
    other = inverse_kinematics(PUMA_560.tree, targets, "tool", restarts=60, seed=1)
    assert not np.array_equal(other.q, many.q)


def test_a_start_beyond_its_limits_is_brought_to_them():
    q = PANDA.upper + 0.3
    found = inverse_kinematics(PANDA.tree, PANDA.pose(q, "tool"), "tool", start=q)
    assert ((found.q >= PANDA.lower) & (found.q <= PANDA.upper)).all()
    free = inverse_kinematics(PANDA.tree, PANDA.pose(q, "tool"), "tool", start=q, limits=False)
    assert free.solved and free.iterations == 0 and not free.limits_hit.any()


def test_without_limits_turns_are_returned_between_half_turns():
    q = random_configurations(np.random.default_rng(11), SIX_JOINTS, 200)
    found = inverse_kinematics(SIX_JOINTS.tree, SIX_JOINTS.pose(q, "tool"), "tool", start=q + 4 * np.pi + 0.1)
    assert found.solved.all() and (np.abs(found.q) <= np.pi).all()


def test_a_pose_at_a_limit_is_reported_as_such():
    q = np.array([0.2, -0.3, 0.4, PANDA.upper[3], 0.1, 1.0, 0.2])
    found = inverse_kinematics(PANDA.tree, PANDA.pose(q, "tool"), "tool", start=q)
    assert found.solved and found.limits_hit.tolist() == [False, False, False, True, False, False, False]


def test_distinct_solutions_are_the_branches_of_the_arm():
    found = distinct_solutions(PUMA_560.tree, PUMA_560.pose(np.array([0.3, 0.8, -0.5, 0.4, 0.6, 0.2]), "tool"), "tool",
                               limits=False)
    assert found.q.shape == (8, 6) and found.solved.all()
    assert sorted(found.branch) == [-1.0] * 4 + [1.0] * 4
    elbows = distinct_solutions(PLANAR_2R.tree, PLANAR_2R.pose(np.array([0.3, 0.9]), "tool"), "tool", task="position")
    np.testing.assert_allclose(np.sort(elbows.q[:, 1]), [-0.9, 0.9], atol=1e-9)
    nothing = distinct_solutions(PLANAR_2R.tree, UR5.pose(np.ones(6), "tool"), "tool", starts=20)
    assert nothing.q.shape == (0, 2)
    with pytest.raises(SignatureError, match="one pose"):
        distinct_solutions(PLANAR_2R.tree, np.stack([np.eye(4)] * 2), "tool")


# Tasks


@pytest.mark.parametrize("axes", ["world", "target", "body", "frame3"])
@pytest.mark.parametrize("rows", [(1, 1, 1, 0, 0, 0), (1, 0, 1, 0, 1, 0), (0, 1, 0, 1, 1, 0), (0, 0, 0, 1, 1, 1),
                                  (1, 1, 1, 1, 0, 1)])
def test_the_rows_of_a_task_are_the_derivative_of_its_error(rows, axes):
    tree, random = SIX_JOINTS, np.random.default_rng(12)
    task, step = Task.of(tree.tree, rows, axes), 1e-6
    q = random_configurations(random, tree, 1)[0]
    target = np.asarray(tree.pose(q + random.normal(size=6) * (1e-5 if all(rows[3:]) else 0.7), "tool"))

    def error(q):
        return np.concatenate(task_error(tree.tree, q, "tool", target, task)).astype(float)

    numeric = -np.stack([(error(q + step * e) - error(q - step * e)) / (2 * step) for e in np.eye(6)], axis=1)
    tolerance = 2e-5 if all(rows[3:]) else 1e-8  # of all three angular rows the derivative is that of small errors
    np.testing.assert_allclose(task_jacobian(tree.tree, q, "tool", target, task).astype(float), numeric, atol=tolerance)


def test_a_position_leaves_the_orientation_free():
    targets = PANDA.pose(random_configurations(np.random.default_rng(13), PANDA, 300), "tool")
    targets[:, :3, :3] = np.eye(3)
    found = inverse_kinematics(PANDA.tree, targets, "tool", task="position")
    assert found.solved.all() and (found.angle_error == 0).all()
    np.testing.assert_allclose(true_errors(PANDA, found.q, targets)[0], found.residual, atol=1e-15)
    assert found.singular_values.shape == (300, 3)


def test_an_orientation_leaves_the_position_free():
    targets = UR5.pose(random_configurations(np.random.default_rng(14), UR5, 100), "tool")
    targets[:, :3, 3] = 100.0
    found = inverse_kinematics(UR5.tree, targets, "tool", task="orientation")
    assert found.solved.all() and true_errors(UR5, found.q, targets)[1].max() <= TOLERANCE


def test_a_tool_that_may_turn_about_its_axis():
    """A drill: position, and the direction of the tool's z axis."""
    targets = PUMA_560.pose(random_configurations(np.random.default_rng(15), PUMA_560, 300), "tool")
    targets[:, :3, :3] = targets[:, :3, :3] @ Rotation.from_rotvec([0, 0, 3.0]).as_matrix()
    found = inverse_kinematics(PUMA_560.tree, targets, "tool", task=(1, 1, 1, 1, 1, 0), axes="target")
    poses = PUMA_560.pose(found.q, "tool")
    assert found.solved.all()
    np.testing.assert_allclose(poses[:, :3, 2], targets[:, :3, 2], atol=2 * TOLERANCE)
    np.testing.assert_allclose(poses[:, :3, 3], targets[:, :3, 3], atol=2 * TOLERANCE)
    body = inverse_kinematics(PUMA_560.tree, targets, "tool", task=(1, 1, 1, 1, 1, 0), axes="body")
    np.testing.assert_allclose(PUMA_560.pose(body.q, "tool")[:, :3, 2], targets[:, :3, 2], atol=2 * TOLERANCE)
    assert body.solved.all()


def test_rows_in_the_axes_of_a_moving_frame():
    """The tool at the asked distance along the x axis of the third link, wherever that points."""
    targets = SIX_JOINTS.pose(random_configurations(np.random.default_rng(16), SIX_JOINTS, 50), "tool")
    found = inverse_kinematics(SIX_JOINTS.tree, targets, "tool", task=(1, 0, 0, 0, 0, 0), axes="frame3")
    along = SIX_JOINTS.pose(found.q, "frame3")[:, :3, 0]
    missing = targets[:, :3, 3] - SIX_JOINTS.pose(found.q, "tool")[:, :3, 3]
    assert found.solved.all() and np.abs(np.sum(along * missing, axis=-1)).max() <= TOLERANCE


def test_tasks_are_refused_that_make_no_sense():
    for task in ("posture", (0,) * 6, (1, 1, 1)):
        with pytest.raises(ConventionError, match="a task is"):
            inverse_kinematics(UR5.tree, np.eye(4), "tool", task=task)
    with pytest.raises(ModelError, match="no frame or body 'tol'"):
        inverse_kinematics(UR5.tree, np.eye(4), "tol")
    with pytest.raises(ModelError, match="no frame or body 'wrld'"):
        inverse_kinematics(UR5.tree, np.eye(4), "tool", task=(1, 1, 0, 0, 0, 0), axes="wrld")


# Trees


@pytest.mark.parametrize("kinds", [
    ("revolute", "universal", "prismatic", "revolute", "revolute"),
    ("spherical", "prismatic", "spherical"),
    ("floating", "revolute"),
    ("planar", "helical", "fixed", "spherical"),
    ("continuous", "spherical", "universal", "fixed"),
    ("prismatic", "prismatic"), ])
def test_every_kind_of_joint_is_moved(kinds):
    random = np.random.default_rng(len(kinds) + len(kinds[0]))
    bodies, joints, frames = random_parts(random, kinds)
    joints = [Joint(j.name, bodies[k].name, j.child, j.motion, j.placement) for k, j in enumerate(joints)]
    tree = Mechanism.of("chain", bodies, joints, frames=frames)
    q = np.stack([random_configuration(random, tree) for _ in range(40)])
    last = frames[-1].name
    targets = tree.pose(q, last)
    found = inverse_kinematics(tree.tree, targets, last)
    assert found.solved.all()
    assert np.hypot(*true_errors(tree, found.q, targets, last)).max() <= TOLERANCE
    for joint, place in zip(tree.joints, tree.tree.q_slices, strict=True):
        if joint.motion.nq != joint.motion.nv:
            np.testing.assert_allclose(np.linalg.norm(found.q[:, place][:, -4:], axis=-1), 1.0, atol=1e-14)


def test_joints_off_the_way_stay_where_they_are():
    joints = [Joint("left", "root", "a", Revolute()), Joint("right", "root", "b", Revolute(), _shift(0, 0, 1)),
              Joint("slide", "b", "c", Prismatic((1.0, 0.0, 0.0)), limits=Limits((0.0,), (2.0,)))]
    tree = Mechanism.of("two arms", [Body("root"), Body("a"), Body("b"), Body("c")], joints)
    q = np.array([0.7, -2.0, 1.5])
    found = inverse_kinematics(tree.tree, tree.pose(q, "c"), "c", start=np.array([0.33, 3.0, 0.1]), task="position")
    order = [tree.tree.q_slices[tree.tree.joint_number(name)].start for name in ("left", "right", "slide")]
    np.testing.assert_allclose(found.q[order], [0.33, q[order[1]], q[order[2]]], atol=1e-9)


def _shift(x, y, z):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def test_what_inverse_kinematics_cannot_do_is_said():
    with pytest.raises(ModelError, match="no joint moves it"):
        inverse_kinematics(UR5.tree, np.eye(4), "base")
    follower = [
        Joint("a", "root", "first", Revolute()),
        Joint("b", "first", "second", Revolute(), _shift(1, 0, 0), mimic=Mimic("a"))]
    tree = Mechanism.of("finger", [Body("root"), Body("first"), Body("second")], follower).tree
    with pytest.raises(UnsupportedError, match="'b' mimics 'a'"):
        follow_path(tree, np.eye(4)[None], "second", np.zeros(2), time_step=0.1)
    assert inverse_kinematics(tree, np.eye(4), "first").solved
    ball = Joint("ball", "root", "hand", Spherical(), limits=Limits((-1.0,) * 4, (1.0,) * 4))
    limited = Mechanism.of("ball", [Body("root"), Body("hand")], [ball]).tree
    with pytest.raises(UnsupportedError, match="pass limits=False"):
        inverse_kinematics(limited, np.eye(4), "hand")
    assert inverse_kinematics(limited, np.eye(4), "hand", limits=False).solved


def test_bad_targets_and_starts_are_refused():
    bad = np.stack([np.eye(4)] * 3)
    bad[1, 0, 0] = 1.01
    with pytest.raises(GeometryError, match="1 of the batch"):
        inverse_kinematics(UR5.tree, bad, "tool")
    for nowhere in (np.nan, np.inf, -np.inf):
        for axis in range(3):
            far = np.eye(4)
            far[axis, 3] = nowhere
            with pytest.raises(GeometryError, match="translation"):
                inverse_kinematics(UR5.tree, far, "tool")
    with pytest.raises(GeometryError, match="shape"):
        inverse_kinematics(UR5.tree, np.eye(3), "tool")
    with pytest.raises(SignatureError, match="6 finite numbers"):
        inverse_kinematics(UR5.tree, np.eye(4), "tool", start=np.zeros(5))
    with pytest.raises(SignatureError, match="restarts"):
        inverse_kinematics(UR5.tree, np.eye(4), "tool", restarts=-1)
    ball = Mechanism.of("ball", [Body("root"), Body("hand")], [Joint("ball", "root", "hand", Spherical())]).tree
    with pytest.raises(GeometryError):
        inverse_kinematics(ball, np.eye(4), "hand", start=[1.0, 1.0, 0.0, 0.0])


def test_a_tolerance_below_rounding_is_not_reached():
    target = UR5.pose(np.array([0.3, -0.8, 1.1, 0.4, 0.9, 0.2]), "tool")
    found = inverse_kinematics(UR5.tree, target, "tool", tolerance=1e-18, restarts=3)
    assert not found.solved and found.status == "not found" and found.residual < 1e-14
    assert "not found" in repr(found)


def test_the_scale_of_a_robot_does_not_matter():
    """The same arm in millimetres, with slides: the same configurations."""
    def arm(scale):
        joints = [
            Joint("turn", "root", "a", Revolute(), _shift(0, 0, 0.3 * scale)),
            Joint("slide", "a", "b", Prismatic((1.0, 0.0, 0.0)), _shift(0.4 * scale, 0, 0),
                  Limits((-0.2 * scale,), (0.5 * scale,))),
            Joint("last", "b", "c", Revolute((0.0, 1.0, 0.0)), _shift(0.1 * scale, 0, 0))]
        tool = Frame("tool", "c", _shift(0.2 * scale, 0, 0))
        return Mechanism.of("arm", [Body(x) for x in ("root", "a", "b", "c")], joints, frames=[tool])

    metres, millimetres = arm(1.0), arm(1000.0)
    q = np.random.default_rng(17).uniform([-3, -0.2, -3], [3, 0.5, 3], size=(50, 3))
    units = np.array([1.0, 1000.0, 1.0])
    small = inverse_kinematics(metres.tree, metres.pose(q, "tool"), "tool")
    large = inverse_kinematics(millimetres.tree, millimetres.pose(q * units, "tool"), "tool", tolerance=1e-7)
    assert small.solved.all() and large.solved.all()
    np.testing.assert_allclose(large.q / units, small.q, atol=1e-6)


def test_slides_reach_targets_that_are_far_away():
    """A base on wheels with an arm on it, and a gantry with a wrist at the end of its ways."""
    random = np.random.default_rng(20)
    places = [("base", Planar(), (0, 0, 0)), ("a1", Revolute(), (0, 0, 0.3)),
              ("a2", Revolute((0.0, 1.0, 0.0)), (0.1, 0, 0.3)), ("a3", Revolute((0.0, 1.0, 0.0)), (0.4, 0, 0)),
              ("a4", Revolute((1.0, 0.0, 0.0)), (0.4, 0, 0)), ("a5", Revolute((0.0, 1.0, 0.0)), (0.1, 0, 0))]
    names = ["root", *[name for name, _, _ in places]]
    joints = [Joint(name, names[k], name, motion, _shift(*place)) for k, (name, motion, place) in enumerate(places)]
    mobile = Mechanism.of("mobile", [Body(name) for name in names], joints)
    q = random.uniform(-3, 3, size=(100, 8)) * np.array([100.0, 100.0, 1, 1, 1, 1, 1, 1])
    assert inverse_kinematics(mobile.tree, mobile.pose(q, "a5"), "a5").solved.all()
    ways = [("x", (1.0, 0.0, 0.0), 30.0), ("y", (0.0, 1.0, 0.0), 10.0), ("z", (0.0, 0.0, 1.0), 5.0)]
    joints = [Joint(name, parent, name, Prismatic(axis), limits=Limits((0.0,), (end,)))
              for parent, (name, axis, end) in zip(("root", "x", "y"), ways, strict=True)]
    joints.append(Joint("wrist", "z", "hand", Spherical()))
    gantry = Mechanism.of("gantry", [Body(name) for name in ("root", "x", "y", "z", "hand")], joints)
    q = np.concatenate([random.uniform(0, [30, 10, 5], size=(100, 3)), random.normal(size=(100, 4))], axis=-1)
    q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=-1, keepdims=True)
    q[:, 0] = 30.0
    found = inverse_kinematics(gantry.tree, gantry.pose(q, "hand"), "hand")
    assert found.solved.all()
    assert found.limits_hit[:, 0].all() and not found.limits_hit[:, 1:].any()


# The parts


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 7), st.integers(0, 2**32 - 1), st.sampled_from([(), (3,)]))
def test_ldl_solve_solves_positive_definite_equations(n, seed, columns):
    random = np.random.default_rng(seed)
    root = random.normal(size=(n, n))
    A, x = root @ root.T + np.eye(n), random.normal(size=(n, *columns))
    np.testing.assert_allclose(ldl_solve(np.tril(A), A @ x), x, atol=1e-11)


def test_kernels_have_parity(monkeypatch):
    monkeypatch.setattr("cayley.kinematics.inverse.search.UNROLLED", 1)
    random = np.random.default_rng(18)
    check_parity(damped_inverse, random.normal(size=(3, 2, 3)), np.array([0.0, 0.1, 2.0]), tolerance=1e-12, single=1e-3)
    check_parity(damping_from_singular_value, [0.0, 0.02, 0.3], [0.05, 0.05, 0.05], [0.1, 0.1, 0.1])
    q = random.uniform(-2, 2, size=(3, 2))
    targets = PLANAR_2R.pose(q, "tool")
    check_parity(Goal(PLANAR_2R.tree, "tool", Task()).errors(), q + 0.3, targets, jacobians=False)
    bounds = bounds_of(PLANAR_2R.tree, "tool", limits=True)
    step = search_step(Goal(PLANAR_2R.tree, "tool", Task.of(PLANAR_2R.tree, "position", "world")), bounds)
    memory = np.tile([9.0, *FRESH[1:]], (3, 1))

    def plain(*state):
        return [np.asarray(x, dtype=float) for x in step.reference(*state)]

    states = q + 0.3, memory, targets, np.full(3, 1e-20)
    check_program_parity(step.program(), plain, *states, tolerance=1e-11, single=1e-3, jacobians=False,
                         everywhere=True)
    agree("compiled", step(*states), states_of(plain, states), 1e-11)


# Newton's iteration (S3-16)


@cy.kernel("(6)->(6)")
def position_and_zyz(q):
    """Position and Euler angles z-y-z of the arm of W3-07."""
    pose = frame_pose(SIX_JOINTS.tree, q, "tool")
    (_, _, xz), (_, _, yz), (zx, zy, zz) = pose.R
    return np.concatenate([pose.p, [np.arctan2(yz, xz), np.arctan2(np.hypot(xz, yz), zz), np.arctan2(zy, -zx)]])


W3_07 = np.array([0.2, -0.5, 0.3, 0.6, 0.9, -0.4])
OFF = np.array([0.1, -0.1, 0.1, -0.1, 0.1, 0.1])


@pytest.mark.spec("S3-16")
def test_newton_reproduces_the_worked_example():
    r = position_and_zyz(W3_07)
    np.testing.assert_allclose(r,
                               [0.4451504323, 0.2433383036, -0.2121438133, 2.6272884618, 2.4003948815, -0.5669200870],
                               atol=1e-10)
    found = newton_iteration(position_and_zyz, r, W3_07 + OFF, tolerance=1e-14, angles=(3, 4, 5))
    np.testing.assert_allclose(found.residuals[:4], [2.94e-1, 5.76e-3, 7.28e-5, 2.32e-9], rtol=3e-3)
    assert found.solved and found.iterations == 4 and found.residual < 1e-15
    assert found.status == "solved" and found.reason == "within tolerance"
    np.testing.assert_allclose(found.q, W3_07, atol=1e-13)


@pytest.mark.spec("S3-16")
@pytest.mark.parametrize("gain", [0.5, 0.1])
def test_with_a_gain_the_residual_falls_by_a_constant_factor(gain):
    r = position_and_zyz(W3_07)
    found = newton_iteration(position_and_zyz, r, W3_07 + OFF, gain=gain, tolerance=1e-9, iterations=400,
                             angles=(3, 4, 5))
    assert found.solved
    assert found.residuals[-1] / found.residuals[-2] == pytest.approx(1 - gain, abs=1e-4)


@pytest.mark.spec("S3-16")
def test_newton_wraps_angles_and_says_how_it_failed():
    r = position_and_zyz(W3_07) + 2 * np.pi * np.array([0, 0, 0, 1, -1, 2])
    assert newton_iteration(position_and_zyz, r, W3_07 + OFF, angles=(3, 4, 5)).solved
    assert newton_iteration(position_and_zyz, r, W3_07 + OFF, angles=(), iterations=30).reason != "within tolerance"
    limited = newton_iteration(position_and_zyz, position_and_zyz(W3_07), W3_07 + OFF, iterations=2, angles=(3, 4, 5))
    assert limited.status == "not found" and limited.reason == "iteration limit" and limited.iterations == 2
    point = cy.kernel("(2)->(2)")(lambda q: frame_pose(PLANAR_2R.tree, q, "tool").p[:2])
    stretched = newton_iteration(point, [0.5, 0.5], [0.3, 0.0])
    assert not stretched.solved and stretched.reason == "singular Jacobian" and stretched.iterations == 0
    outside = newton_iteration(point, [2.0, 1.0], [0.3, 0.5], iterations=50)
    assert not outside.solved and outside.residual > 0.4
    # wide: outside the text, the shortest step
    redundant = cy.kernel("(2)->(1)")(lambda q: frame_pose(PLANAR_2R.tree, q, "tool").p[:1])
    assert newton_iteration(redundant, [0.7], [0.3, 0.5]).solved
    with pytest.raises(SignatureError, match="gain"):
        newton_iteration(point, [0.5, 0.5], [0.3, 0.5], gain=1.5)


@pytest.mark.spec("S3-16")
def test_newton_and_the_damped_search_agree():
    target = SIX_JOINTS.pose(W3_07, "tool")
    searched = inverse_kinematics(SIX_JOINTS.tree, target, "tool", start=W3_07 + OFF)
    stepped = newton_iteration(position_and_zyz, position_and_zyz(W3_07), W3_07 + OFF, angles=(3, 4, 5))
    np.testing.assert_allclose(searched.q, stepped.q, atol=1e-9)


@pytest.mark.spec("S0-27")
def test_the_step_of_the_recipe_converges_from_a_neighbour():
    """R-27: a six-joint arm started about 0.4 rad away in every joint, in about nine iterations."""
    random = np.random.default_rng(19)
    q = random_configurations(random, SIX_JOINTS, 200)
    start = q + 0.4 * random.choice([-1, 1], size=q.shape)
    found = inverse_kinematics(SIX_JOINTS.tree, SIX_JOINTS.pose(q, "tool"), "tool", start=start, tolerance=1e-12)
    assert found.solved.all() and np.median(found.iterations[found.restarts == 0]) <= 9
    assert (found.restarts == 0).mean() > 0.8


@pytest.mark.spec("S0-27")
def test_the_angular_error_is_that_of_the_vector_parameters_to_first_order():
    """R-27: e = 2 <c_t, -c'> for the vector-parameters of target and hand."""
    q = random_configurations(np.random.default_rng(21), SIX_JOINTS, 1)[0]
    for size in (1e-2, 1e-3):
        target = SIX_JOINTS.pose(q + size, "tool")
        error = 2 * compose_vector_parameters(vector_parameter_from_matrix(target[:3, :3]),
                                              -vector_parameter_from_matrix(SIX_JOINTS.pose(q, "tool")[:3, :3]))
        np.testing.assert_allclose(
            task_error(SIX_JOINTS.tree, q, "tool", target, Task())[1].astype(float), error, atol=10 * size**3)


# Rates and paths (S2-88 to S2-90)


def planar_jacobian(q):
    return PLANAR_2R.jacobian(np.asarray(q), "tool", axes="world")[:2]


@pytest.mark.spec("S2-90")
def test_damped_least_squares_reproduces_the_worked_example():
    J = planar_jacobian([0.3, 0.0])
    np.testing.assert_allclose(np.linalg.svd(J, compute_uv=False), [1.9697715604, 0.0], atol=1e-9)
    np.testing.assert_allclose(damped_inverse(J, 0.1), [[-0.1367445686, 0.4420580155], [-0.0607753638, 0.1964702291]],
                               atol=1e-9)
    near = planar_jacobian([0.3, 0.001])
    np.testing.assert_allclose(resolved_rates(near, [0.1, 0.0]).velocity, [95.504, -214.921], rtol=1e-5)
    np.testing.assert_allclose(
        resolved_rates(near, [0.1, 0.0], damping=0.1).velocity, [-0.0121226293, -0.0096330004], atol=1e-9)
    np.testing.assert_allclose(damped_inverse(near, 0.1) @ [0.1, 0.0], [-0.0121226293, -0.0096330004], atol=1e-9)


@pytest.mark.spec("S2-90", "S0-27")
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([(2, 3), (3, 2), (3, 3), (6, 7)]), st.floats(1e-3, 10.0),
       st.booleans())
def test_damped_inverses_are_equal_and_bounded(seed, shape, k, singular):
    J = np.random.default_rng(seed).normal(size=shape)
    if singular:
        J[:, 0] = 0.0
        J[0] = 0.0
    m, n = shape
    tall, wide = np.linalg.solve(J.T @ J + k * k * np.eye(n), J.T), J.T @ np.linalg.inv(J @ J.T + k * k * np.eye(m))
    size = np.linalg.norm(tall, 2) / k
    np.testing.assert_allclose(damped_inverse(J, k), tall, atol=1e-12 * (1 + size / k))
    np.testing.assert_allclose(tall, wide, atol=1e-12 * (1 + size / k))
    assert np.linalg.norm(damped_inverse(J, k), 2) <= 1 / (2 * k) * (1 + 1e-9)
    twist = np.random.default_rng(seed + 1).normal(size=m)
    np.testing.assert_allclose(resolved_rates(J, twist, damping=k).velocity, tall @ twist, atol=1e-11 * (1 + size / k))


@pytest.mark.spec("S2-90")
def test_no_damping_at_a_singular_configuration_is_refused():
    J = planar_jacobian([0.3, 0.0])
    with pytest.raises(SingularityError, match="1 of the batch"):
        damped_inverse(np.stack([planar_jacobian([0.3, 0.5]), J]), 0.0)
    with pytest.raises(SignatureError, match="negative"):
        damped_inverse(J, -0.1)
    plain = resolved_rates(J, [1.0, 0.0])
    assert not plain.regular and np.isnan(plain.velocity).all()
    np.testing.assert_allclose(damped_inverse(planar_jacobian([0.3, 0.5]), 0.0),
                               np.linalg.inv(planar_jacobian([0.3, 0.5])), atol=1e-13)
    chosen = resolved_rates(J, [1.0, 0.0], damping=(0.05, 0.1))
    assert chosen.regular and chosen.damping == pytest.approx(0.1)
    assert resolved_rates(planar_jacobian([0.3, 0.5]), [1.0, 0.0], damping=(0.05, 0.1)).damping == 0.0


def circle(step):
    """WE-38: poses and twists of a circle with centre (1, 0.4) and radius 0.2, once in 2 s; and the first
    configuration, elbow positive.
    """
    angle = np.pi * np.arange(0.0, 2.0 + step / 2, step)
    path, twists = np.tile(np.eye(4), (len(angle), 1, 1)), np.zeros((len(angle), 6))
    path[:, 0, 3], path[:, 1, 3] = 1.0 + 0.2 * np.cos(angle), 0.4 + 0.2 * np.sin(angle)
    twists[:, 0], twists[:, 1] = -0.2 * np.pi * np.sin(angle), 0.2 * np.pi * np.cos(angle)
    elbow = np.arccos((1.2**2 + 0.4**2 - 1.0 - 0.64) / 1.6)
    start = np.array([np.arctan2(0.4, 1.2) - np.arctan2(0.8 * np.sin(elbow), 1.0 + 0.8 * np.cos(elbow)), elbow])
    return path, twists, start


PLANE = (True, True, False, False, False, False)


@pytest.mark.spec("S2-88", "S2-89")
@pytest.mark.parametrize(("step", "expected"), [(0.01, (5.6e-3, 1.2e-3, 1.3e-4)), (0.001, (5.6e-4, 1.2e-4, 1.3e-5))])
def test_tracking_reproduces_the_worked_example(step, expected):
    path, twists, start = circle(step)
    for gain, error in zip((0.0, 10.0, 100.0), expected, strict=True):
        found = follow_path(PLANAR_2R.tree, path, "tool", start, time_step=step, gain=gain, velocity=twists, task=PLANE)
        assert found.status == "followed"
        assert found.residual.max() == pytest.approx(error, rel=0.2)
        missing = np.linalg.norm(PLANAR_2R.pose(found.q, "tool")[:, :2, 3] - path[:, :2, 3], axis=-1)
        np.testing.assert_allclose(found.residual, missing, atol=1e-14)


@pytest.mark.spec("S2-89")
@pytest.mark.parametrize(("share", "converges"), [(0.5, True), (1.0, True), (1.9, True), (2.1, False)])
def test_a_set_point_is_reached_while_gain_and_step_allow(share, converges):
    target = PLANAR_2R.pose(np.array([0.4, 0.9]), "tool")
    found = follow_path(PLANAR_2R.tree, np.tile(target, (120, 1, 1)), "tool", [0.41, 0.9], time_step=0.01,
                        gain=100 * share,
                        task=PLANE)
    assert (found.residual[-1] < 0.01 * found.residual[0]) == converges
    assert found.status == ("followed" if converges else "unstable")
    if share == 1.0:  # nothing of the error is left but what is of second order
        assert found.residual[1] < found.residual[0] ** 2 and found.residual[4] < 1e-15


@pytest.mark.spec("S2-88", "S2-89", "S2-90")
def test_a_singular_jacobian_ends_the_motion_unless_it_is_damped():
    path = np.tile(np.eye(4), (400, 1, 1))
    path[:, 0, 3] = np.linspace(1.7, 2.0, 400)  # out of the workspace, whose radius is 1.8
    elbow = np.arccos((1.7**2 - 1.64) / 1.6)
    start = [-np.arctan2(0.8 * np.sin(elbow), 1.0 + 0.8 * np.cos(elbow)), elbow]
    for damping in (0.1, (0.2, 0.1)):
        damped = follow_path(PLANAR_2R.tree, path, "tool", start, time_step=0.01, gain=10.0, damping=damping,
                             task=PLANE)
        assert damped.status == "off the path" and np.abs(damped.velocity).max() <= 0.5 * (0.08 + 10.0 * 0.3) / 0.1
        assert damped.residual[-1] == pytest.approx(0.2, abs=0.02)
    stopped = follow_path(PLANAR_2R.tree, path, "tool", [[0.0, 0.0], start], time_step=0.01, task=PLANE)
    assert stopped.status.tolist()[0] == "singular" and not stopped.followed[0].any()
    assert np.isnan(stopped.velocity[0]).all() and (stopped.q[0] == 0).all()
    assert np.isfinite(stopped.q).all()


@pytest.mark.spec("S2-88", "S2-89")
def test_a_redundant_arm_follows_poses_in_space():
    """Position and orientation together; the twists are taken from the path."""
    start = np.array([0.1, 0.2, 0.3, -1.5, 0.2, 1.6, 0.4])
    first = PANDA.pose(start, "tool")
    time = np.linspace(0.0, 1.0, 201)
    path = np.tile(first, (201, 1, 1))
    path[:, :3, :3] = Rotation.from_rotvec(np.outer(time, [0.3, -0.4, 0.5])).as_matrix() @ first[:3, :3]
    path[:, :3, 3] += np.outer(time, [0.1, 0.1, -0.05])
    open_loop = follow_path(PANDA.tree, path, "tool", start, time_step=0.005)
    closed = follow_path(PANDA.tree, np.stack([path, path]), "tool", start, time_step=0.005, gain=100.0)
    assert closed.q.shape == (2, 201, 7) and set(closed.status) == {"followed"}
    position, angle = true_errors(PANDA, closed.q[0], path)
    np.testing.assert_allclose(closed.residual[0], np.hypot(position, angle), atol=1e-14)
    assert closed.residual.max() < 0.1 * open_loop.residual.max() < 1e-3
    partial = follow_path(PANDA.tree, path, "tool", start, time_step=0.005, gain=100.0, task=(1, 1, 1, 0, 0, 1))
    assert partial.residual.max() < 1e-4


def test_without_twists_a_path_is_taken_from_each_pose_to_the_next():
    """At the last pose the motion goes on as it came, so that the velocities there can be used."""
    q = np.linspace([0.3, 0.9], [0.5, 0.6], 9) + 0.1 * np.linspace(0, 1, 9)[:, None] ** 3
    path, step = PLANAR_2R.pose(q, "tool"), 0.02
    turns = (Rotation.from_matrix(path[1:, :3, :3]) * Rotation.from_matrix(path[:-1, :3, :3]).inv()).as_rotvec()
    between = np.hstack([path[1:, :3, 3] - path[:-1, :3, 3], turns]) / step
    given = np.vstack([between, between[-1]])
    own, told = (follow_path(PLANAR_2R.tree, path, "tool", q[0], time_step=step, gain=10.0, velocity=velocity,
                             task=PLANE)
                 for velocity in (None, given))
    np.testing.assert_allclose(own.velocity, told.velocity, atol=1e-12)
    np.testing.assert_allclose(own.q, told.q, atol=1e-14)
    assert np.abs(own.velocity[-1]).max() > 0.1


def test_paths_are_checked():
    with pytest.raises(SignatureError, match="time step is positive"):
        follow_path(PLANAR_2R.tree, np.eye(4)[None], "tool", [0.0, 0.0], time_step=0.0)
    with pytest.raises(SignatureError, match="a path must be poses"):
        follow_path(PLANAR_2R.tree, np.eye(4), "tool", [0.0, 0.0], time_step=0.1)
    single = follow_path(PLANAR_2R.tree, PLANAR_2R.pose(np.array([[0.3, 0.4]]), "tool"), "tool", [0.3, 0.4],
                         time_step=0.1,
                         task=PLANE)
    assert single.q.shape == (1, 2) and single.residual[0] < 1e-15


def test_rates_of_what_is_no_jacobian_are_refused_by_name():
    broken = np.stack([np.eye(2), [[1.0, np.nan], [0.0, 1.0]]])
    for solve in (lambda: resolved_rates(broken, [1.0, 0.0]), lambda: damped_inverse(broken, 0.1)):
        with pytest.raises(GeometryError, match="Jacobian 1 of the batch is not finite"):
            solve()
    with pytest.raises(SignatureError, match="needs a twist"):
        resolved_rates(np.eye(2), [1.0, 0.0, 0.0])
    with pytest.raises(SignatureError, match="must not be negative"):
        resolved_rates(np.eye(2), [1.0, 0.0], damping=-0.1)
