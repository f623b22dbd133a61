"""Poses and Jacobians of every kind of joint against Pinocchio, points of links, and the worked examples."""

import numpy as np
import pytest

from cayley.compiler.kernel import kernel
from cayley.errors import ConventionError, ModelError
from cayley.geometry.rotations import configuration_from_coordinates
from cayley.kinematics.forward import body_poses, frame_pose
from cayley.kinematics.jacobians.analytic import coordinates
from cayley.kinematics.jacobians.velocity import jacobian
from cayley.kinematics.link_motion import point_position
from compiler.parity import check_parity
from kinematics.arms import (
    ELBOW,
    MIXED,
    STANFORD_LIKE,
    modified_arm,
    modified_link,
    planar_arm,
    standard_arm,
    standard_link,
    translation,
)
from kinematics.motions import KINDS_AND_MORE, around, close, everything, frames_of, random_state
from kinematics.pinocchio_trees import PinocchioTree

TREES = [pytest.param(lambda kind=kind: around(kind), id=kind)
         for kind in KINDS_AND_MORE] + [pytest.param(everything, id="everything")]


@pytest.mark.parametrize("make", TREES)
def test_poses_are_those_of_pinocchio(make):
    tree = make()
    peer = PinocchioTree.of(tree)
    for seed in range(5):
        q, _, _ = random_state(tree, seed)
        for frame in frames_of(tree):
            close(frame_pose(tree.tree, q, frame).matrix, peer.pose(q, frame))


@pytest.mark.parametrize("make", TREES)
@pytest.mark.parametrize("axes", ["world", "body"])
def test_jacobians_are_those_of_pinocchio(make, axes):
    tree = make()
    peer = PinocchioTree.of(tree)
    q, _, _ = random_state(tree)
    for frame in frames_of(tree):
        found = jacobian(tree.tree, q, frame, axes=axes)
        assert found.dtype == np.float64
        close(found, peer.jacobian(q, frame, axes))


def test_the_compiled_kernels_give_the_same_for_a_batch():
    tree = everything()
    peer = PinocchioTree.of(tree)
    states = np.stack([random_state(tree, seed)[0] for seed in range(9)])
    poses, jacobians = tree.pose(states, "frame9"), tree.jacobian(states, "frame9", axes="body")
    for k, q in enumerate(states):
        close(poses[k], peer.pose(q, "frame9"))
        close(jacobians[k], peer.jacobian(q, "frame9", "body"))


def test_every_back_end_gives_the_same():
    tree = around("universal")
    states = np.stack([random_state(tree, seed)[0] for seed in range(3)])
    check_parity(kernel(f"({tree.nq})->(4,4)")(lambda q: frame_pose(tree.tree, q, "frame4", "frame2").matrix), states)


def test_axes_of_a_third_frame():
    tree = everything()
    q, _, _ = random_state(tree)
    R = frame_pose(tree.tree, q, "frame2").R
    world = jacobian(tree.tree, q, "frame9", axes="world")
    close(jacobian(tree.tree, q, "frame9", axes="frame2"), np.concatenate([R.T @ world[:3], R.T @ world[3:]]))


@pytest.mark.spec("S1-08")
def test_relative_poses_and_the_two_descriptions():
    """W_i = W_i-1 A_i, iWj = W_i^-1 W_j, i = j, and chi of the tool's pose in Cartesian space."""
    arm = modified_arm(MIXED, "RPRR", tool=translation(0.1, 0.2, 0.3))
    q = np.array([0.4, 0.15, -0.7, 1.1])
    W, links = np.eye(4), []
    for k, (row, kind) in enumerate(zip(MIXED, "RPRR", strict=True)):
        a, alpha, d, theta = row
        A = modified_link(a, alpha, d + q[k] * (kind == "P"), theta + q[k] * (kind == "R"))
        W = W @ A
        links.append(W)
        close(frame_pose(arm.tree, q, f"link{k + 1}").matrix, W, 1e-13)
        close(frame_pose(arm.tree, q, f"link{k + 1}", f"link{k}" if k else "base").matrix, A, 1e-13)
    for i in range(4):
        for j in range(4):
            close(frame_pose(arm.tree, q, f"link{j + 1}", f"link{i + 1}").matrix, np.linalg.solve(links[i], links[j]),
                  1e-13)
    close(arm.pose(q, "link3", relative_to="link3"), np.eye(4), 1e-15)
    close([p.matrix for p in body_poses(arm.tree, q)], [np.eye(4), *links], 1e-13)
    for orientation in ("zyx moving", "xyz fixed", "zyz moving"):
        chi = coordinates(arm.tree, q, "tool", orientation=orientation, relative_to="world")
        sequence, axes = orientation.split()
        close(
            configuration_from_coordinates(chi, sequence=sequence, axes=axes).pose(),
            links[-1] @ translation(0.1, 0.2, 0.3), 1e-13)


@pytest.mark.spec("S3-13")
def test_the_hand():
    """W3-06, W3-08 and the closed forms of the planar arm and of the elbow arm, with a hand beyond the last frame."""
    arm = modified_arm(MIXED, "RPRR")
    close(arm.pose([0.4, 0.15, -0.7, 1.1], "link4"),
          [[0.2220757890, -0.9532717520, -0.2048299557, 0.7143301231],
           [-0.5912080560, 0.0354012939, -0.8057417595, -0.3284703691],
           [0.7753421042, 0.3000328569, -0.5557201690, 0.4540273259], [0, 0, 0, 1]], 1e-10)
    elbow = modified_arm(ELBOW, tool=translation(0.3, 0, 0))
    q = np.random.default_rng(0).uniform(-3, 3, size=(20, 3))
    rho = 0.5 * np.cos(q[:, 1]) + 0.3 * np.cos(q[:, 1] + q[:, 2])
    height = 0.4 + 0.5 * np.sin(q[:, 1]) + 0.3 * np.sin(q[:, 1] + q[:, 2])
    close(
        elbow.pose(q, "tool")[:, :3, 3], np.stack([rho * np.cos(q[:, 0]), rho * np.sin(q[:, 0]), height], axis=1),
        1e-13)
    planar, total = planar_arm(0.5, 0.4), q[:, 0] + q[:, 1]
    tool = planar.pose(q[:, :2], "tool")
    close(tool[:, 0, 3], 0.5 * np.cos(q[:, 0]) + 0.4 * np.cos(total), 1e-13)
    close(tool[:, :2, 0], np.stack([np.cos(total), np.sin(total)], axis=1), 1e-13)
    standard = standard_arm(STANFORD_LIKE, "RRPRRR")
    close(
        standard.pose([0.3, -0.5, 0.6, 0.2, 0.7, -0.9], "frame6")[:3, 3], [-0.3351564638, -0.1162914383, 1.1312159903],
        1e-9)
    rows = [
        (a, alpha, d + 0.6 * (k == 2), theta + 0.3 * (k != 2)) for k, (a, alpha, d, theta) in enumerate(STANFORD_LIKE)]
    close(standard.pose([0.3, 0.3, 0.6, 0.3, 0.3, 0.3], "frame6"),
          np.linalg.multi_dot([standard_link(*row) for row in rows]), 1e-13)


@pytest.mark.spec("S3-14")
def test_points_of_links_and_of_what_the_hand_holds():
    """W3-06; a point of an object has its coordinates in the hand (E3-08)."""
    q = np.array([0.5, 0.6, -0.9])
    arm = modified_arm(ELBOW)
    expected = [0.6136660648, 0.3352472991, 0.5936651747]
    close(point_position(arm.tree, q, np.array([0.3, 0, 0]), "link3", relative_to="world"), expected, 1e-9)
    tree = everything()
    q, _, _ = random_state(tree)
    point = np.array([0.3, -0.4, 0.7, 1.0])
    for frame in ("body4", "frame7"):
        for other in ("world", "frame3"):
            pose = tree.pose(q, frame) if other == "world" else tree.pose(q, frame, relative_to=other)
            close(point_position(tree.tree, q, point[:3], frame, relative_to=other), (pose @ point)[:3])
    grasp = np.eye(4)
    grasp[:3, :3], grasp[:3, 3] = frame_pose(tree.tree, q, "frame1").R, [0.1, 0.2, 0.3]
    holding = tree.with_frame("cup", "body7", grasp)
    close(point_position(holding.tree, q, point[:3], "cup", relative_to="world"),
          (tree.pose(q, "body7") @ grasp @ point)[:3])
    many = kernel(f"({tree.nq}),(3)->(3)")(
        lambda q, point: point_position(tree.tree, q, point, "frame7", relative_to="world"))
    points = np.random.default_rng(2).normal(size=(50, 3))
    close(many(q, points), points @ tree.pose(q, "frame7")[:3, :3].T + tree.pose(q, "frame7")[:3, 3])


def test_names_that_are_not_there():
    tree = around("revolute")
    with pytest.raises(ModelError, match="did you mean 'frame0'"):
        frame_pose(tree.tree, tree.neutral, "frame_0")
    with pytest.raises(ConventionError, match="axes"):
        tree.jacobian(tree.neutral, "frame0")
    with pytest.raises(ModelError, match="no frame"):
        jacobian(tree.tree, tree.neutral, "frame0", axes="wrold")
