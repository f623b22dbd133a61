"""Twists and accelerations against Pinocchio and 50-digit differences, the two sums of the source, and twist matrices.
"""

import numpy as np
import pytest

from cayley.compiler.kernel import kernel
from cayley.errors import ConventionError
from cayley.geometry.pose import Pose
from cayley.geometry.tensors.cross import hat, vee
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.jacobians.analytic import pose_rate, relative_pose, similar_twist_matrix, twist_matrix
from cayley.kinematics.jacobians.velocity import (
    JointRate,
    acceleration,
    jacobian,
    joint_rates,
    twist,
    velocity_by_running,
    velocity_by_sum,
)
from cayley.kinematics.link_motion import point_acceleration, point_position, point_velocity
from compiler.parity import check_parity
from kinematics.arms import STANFORD_LIKE, rotation, standard_arm, standard_link, translation
from kinematics.exact_motion import derivatives
from kinematics.motions import KINDS_AND_MORE, around, close, everything, frames_of, of_q, random_state, random_tree
from kinematics.pinocchio_trees import PinocchioTree

METHODS = ("link", "running", "sum")
TREES = [pytest.param(lambda kind=kind: around(kind), id=kind)
         for kind in KINDS_AND_MORE] + [pytest.param(everything, id="everything")]


@pytest.mark.parametrize("make", TREES)
@pytest.mark.parametrize("axes", ["world", "body"])
def test_twists_and_accelerations_are_those_of_pinocchio(make, axes):
    tree = make()
    peer = PinocchioTree.of(tree)
    q, v, vd = random_state(tree)
    for frame in frames_of(tree):
        for method in METHODS:
            close(twist(tree.tree, q, v, frame, axes=axes, method=method), peer.twist(q, v, frame, axes))
            close(acceleration(tree.tree, q, v, vd, frame, axes=axes, method=method),
                  peer.acceleration(q, v, vd, frame, axes))


def test_points_move_as_their_positions_change():
    """Velocity and acceleration of a point of a moving body against 50-digit differences of its position."""
    tree = everything()
    q, v, vd = random_state(tree)
    point = np.array([0.3, -0.7, 0.5])
    _, rate, second = derivatives(
        of_q(tree, lambda q: point_position(tree.tree, q, point, "frame9", relative_to="world"), (3,)), tree, q, v, vd)
    close(point_velocity(tree.tree, q, v, point, "frame9", axes="world"), rate)
    close(point_acceleration(tree.tree, q, v, vd, point, "frame9", axes="world"), second)
    R = frame_pose(tree.tree, q, "frame3").R
    close(point_acceleration(tree.tree, q, v, vd, point, "frame9", axes="frame3"), R.T @ second)
    close(point_velocity(tree.tree, q, v, point, "frame9", axes="body"), frame_pose(tree.tree, q, "frame9").R.T @ rate)


@pytest.mark.parametrize("method", METHODS)
def test_the_point_of_the_body_that_is_where_another_frame_is(method):
    tree = everything()
    q, v, vd = random_state(tree)
    p, own = frame_pose(tree.tree, q, "frame3").p, frame_pose(tree.tree, q, "frame9")
    there = own.R.T @ (p - own.p)
    for name, point in (("frame3", there), ("world", -own.R.T @ own.p)):
        close(twist(tree.tree, q, v, "frame9", axes="world", at=name, method=method),
              twist(tree.tree, q, v, "frame9", axes="world", at=point))
        close(acceleration(tree.tree, q, v, vd, "frame9", axes="body", at=name, method=method),
              acceleration(tree.tree, q, v, vd, "frame9", axes="body", at=point))


def test_every_back_end_gives_the_same():
    tree = around("universal")
    states = [np.stack(column) for column in zip(*[random_state(tree, seed) for seed in range(3)], strict=True)]
    sizes = f"({tree.nq}),({tree.nv}),({tree.nv})"
    check_parity(
        kernel(f"{sizes}->(6)")(lambda q, v, vd: acceleration(tree.tree, q, v, vd, "frame4", axes="world")), *states)


@pytest.mark.parametrize("n", [1, 3, 6])
@pytest.mark.spec("S2-36")
def test_the_two_sums_are_equal_and_cost_the_same(n):
    """9n multiplications and 12n - 6 additions each, spec section 6; with slides as well they still agree to rounding.
    """
    def kernel_of(text):
        return kernel(f"({n},3),({n + 1},3),({n})->(3),(3)")(
            lambda z, p, rates: text([JointRate(rates[k] * z[k], np.zeros(3), p[k]) for k in range(n)], p[n]))
    for text in (velocity_by_sum, velocity_by_running):
        counted = kernel_of(text).operations()
        assert (counted.multiplications, counted.additions) == (9 * n, 12 * n - 6)
    random = np.random.default_rng(n)
    joints = [JointRate(*random.normal(size=(3, 3))) for _ in range(n)]
    point = random.normal(size=3)
    for found, expected in zip(velocity_by_running(joints, point), velocity_by_sum(joints, point), strict=True):
        close(found, expected, 1e-14)


@pytest.mark.spec("S2-35")
def test_the_worked_example_with_a_slide():
    """WE-13, v_n = v_O + w x p_n, and that a prismatic joint adds no angular velocity."""
    arm = standard_arm(STANFORD_LIKE, "RRPRRR")
    q, v = np.array([0.3, -0.5, 0.6, 0.2, 0.7, -0.9]), np.array([0.1, -0.2, 0.3, 0.4, -0.5, 0.6])
    p = frame_pose(arm.tree, q, "frame6").p
    close(p, [-0.3351564638, -0.1162914383, 1.1312159903], 1e-9)
    for method in METHODS:
        found = twist(arm.tree, q, v, "frame6", axes="world", method=method)
        close(found, [-0.2961685641, -0.0114547021, 0.2889722821, -0.5394356122, -0.8767324739, 0.6556417905], 1e-9)
        at_base = twist(arm.tree, q, v, "frame6", axes="world", at="world", method=method)
        close(at_base[:3], [0.6193597, -0.4019303, 0.5200831], 1e-7)
        close(at_base[:3] + np.cross(found[3:], p), found[:3], 1e-14)
        close(at_base[3:], found[3:], 1e-15)
    assert np.all(joint_rates(arm.tree, q, v, "frame6")[2].turn == 0)
    close(np.linalg.det(jacobian(arm.tree, q, "frame6", axes="world")), -0.1111875882, 1e-9)


@pytest.mark.spec("S2-34")
def test_matrices_of_links_and_their_rates():
    """Inverse and rate of a Denavit-Hartenberg matrix, relative and absolute twist matrices, Ruggiu (2.46)-(2.54),
    WE-13.
    """
    arm = standard_arm(STANFORD_LIKE, "RRPRRR")
    q, v = np.array([0.3, -0.5, 0.6, 0.2, 0.7, -0.9]), np.array([0.1, -0.2, 0.3, 0.4, -0.5, 0.6])
    total = np.zeros((4, 4))
    for k, ((a, alpha, d, theta), kind) in enumerate(zip(STANFORD_LIKE, "RRPRRR", strict=True)):
        before, after, slides = f"frame{k}", f"frame{k + 1}", kind == "P"
        A = standard_link(a, alpha, d + q[k] * slides, theta + q[k] * (not slides))
        close(frame_pose(arm.tree, q, after, before).inverse.matrix, np.linalg.inv(A), 1e-14)
        dA_dq = np.diag([0.0, 0, 0, 0])
        if slides:
            dA_dq[2, 3] = 1.0
        else:
            spun = rotation("z", theta + q[k] + np.pi / 2) - np.diag([0.0, 0, 1, 1])  # d(Rz)/d(theta)
            dA_dq = spun @ translation(0, 0, d) @ translation(a, 0, 0) @ rotation("x", alpha)
        close(pose_rate(arm.tree, q, v, after, relative_to=before), v[k] * dA_dq, 1e-14)
        expected = np.zeros((4, 4))
        expected[:3, :3], expected[:3, 3] = (0, [0, 0, v[k]]) if slides else (hat([0.0, 0.0, v[k]]), 0)
        relative = twist_matrix(arm.tree, q, v, after, relative_to=before)
        close(relative, expected, 1e-14)
        W = frame_pose(arm.tree, q, before)
        moved = similar_twist_matrix(W, relative)
        close(moved, W.matrix @ relative @ W.inverse.matrix, 1e-14)
        total = total + moved
        close(twist_matrix(arm.tree, q, v, after, relative_to="world"), total, 1e-14)
    found = twist_matrix(arm.tree, q, v, "frame6", relative_to="world")
    close(vee(found[:3, :3]), [-0.5394356122, -0.8767324739, 0.6556417905], 1e-9)
    close(found[:3, 3], [0.6193597, -0.4019303, 0.5200831], 1e-7)
    c, s, ca, sa = np.cos(0.7), np.sin(0.7), np.cos(0.4), np.sin(0.4)
    R = Pose.of(rotation("z", 0.7) @ rotation("x", 0.4))
    close(similar_twist_matrix(R, _spin([0.0, 0, 1]))[:3, :3], hat([sa * s, -sa * c, ca]), 1e-15)  # (2.54)


def _spin(w):
    matrix = np.zeros((4, 4))
    matrix[:3, :3] = hat(np.array(w))
    return matrix


@pytest.mark.parametrize("kind", KINDS_AND_MORE)
def test_rates_of_poses_seen_from_moving_frames(kind):
    tree = around(kind)
    q, v, vd = random_state(tree)
    for frame, other in (("frame4", "world"), ("frame4", "frame2"), ("frame0", "frame3")):
        pose = of_q(tree, lambda q, f=frame, o=other: relative_pose(tree.tree, q, f, o).matrix, (4, 4))
        now, rate, _ = derivatives(pose, tree, q, v, vd)
        close(pose_rate(tree.tree, q, v, frame, relative_to=other), rate)
        close(twist_matrix(tree.tree, q, v, frame, relative_to=other), rate @ np.linalg.inv(now))


def test_what_does_not_move_does_not():
    tree = random_tree(0, "fixed", "revolute")
    q, v, vd = random_state(tree)
    for frame in ("root", "frame0"):
        assert np.all(twist(tree.tree, q, v, frame, axes="world") == 0)
        assert np.all(acceleration(tree.tree, q, v, vd, frame, axes="body") == 0)
    with pytest.raises(ConventionError, match="methods are"):
        twist(tree.tree, q, v, "frame1", axes="world", method="backwards")


def test_the_text_that_is_taken_is_the_cheapest():
    """Of a general six-joint arm; also without a method named the numbers are the same."""
    arm = standard_arm([(0.1, 0.3, 0.2, 0.0)] * 6)
    q, v, vd = random_state(arm)
    for axes in ("world", "body"):
        def kernel_of(method, axes=axes):
            return kernel("(6),(6)->(6)")(lambda q, v: twist(arm.tree, q, v, "frame6", axes=axes, method=method))
        costs = {method: kernel_of(method).operations().total for method in (None, *METHODS)}
        assert costs[None] == min(costs.values()) and costs["sum"] >= costs["running"]
        close(twist(arm.tree, q, v, "frame6", axes=axes), twist(arm.tree, q, v, "frame6", axes=axes, method="sum"))
        close(acceleration(arm.tree, q, v, vd, "frame6", axes=axes),
              acceleration(arm.tree, q, v, vd, "frame6", axes=axes, method="sum"))
