"""Joint forces of wrenches, and back, with the point and the axes of the wrench named."""

import numpy as np
import pytest

from cayley.compiler.kernel import kernel
from cayley.errors import SignatureError
from cayley.geometry.motions.wrenches_and_twists import transform_wrench
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.jacobians.general_jacobian import general_jacobian
from cayley.kinematics.jacobians.velocity import twist
from cayley.kinematics.statics import (
    joint_forces_that_exert,
    joint_forces_that_resist,
    moved_wrench,
    wrench_from_joint_forces,
)
from compiler.parity import check_parity
from kinematics.arms import ELBOW, MIXED, SIX, modified_arm, planar_arm, translation
from kinematics.motions import KINDS_AND_MORE, around, close, everything, frames_of, random_state
from kinematics.pinocchio_trees import PinocchioTree

TREES = [pytest.param(lambda kind=kind: around(kind), id=kind)
         for kind in KINDS_AND_MORE] + [pytest.param(everything, id="everything")]
WRENCH = np.array([1.0, -2.0, 3.0, 0.1, 0.2, -0.3])
HAND = np.array([0.4, 0.15, -0.7, 1.1])


@pytest.mark.parametrize("make", TREES)
def test_joint_forces_are_those_of_a_recursion_at_rest(make):
    """Newton-Euler of Pinocchio, without gravity and motion, with the wrench as an external force; and virtual work."""
    tree = make()
    peer = PinocchioTree.of(tree)
    q, v, _ = random_state(tree)
    for frame in frames_of(tree):
        found = joint_forces_that_resist(tree.tree, q, WRENCH, frame, axes="body")
        close(found, peer.joint_forces(q, WRENCH, frame))
        for axes in ("world", "body", "frame2"):
            for at in (None, np.array([0.3, -0.1, 0.2]), "frame1", "world"):
                forces = joint_forces_that_exert(tree.tree, q, WRENCH, frame, axes=axes, at=at)
                close(forces @ v, WRENCH @ twist(tree.tree, q, v, frame, axes=axes, at=at))
    close(joint_forces_that_exert(tree.tree, q, WRENCH, "frame4", axes="world"),
          general_jacobian(tree.tree, q, "frame4", axes="world").T @ WRENCH)


@pytest.mark.spec("S3-23")
def test_the_worked_examples_both_ways():
    """W3-06, W3-08; the inverse of a square regular Jacobian; a singular one carries wrenches that need no torque."""
    elbow = modified_arm(ELBOW, tool=translation(0.3, 0, 0))
    q, force = np.array([0.5, 0.6, -0.9]), np.array([10.0, -5, 20, 0, 0, 0])
    torques = joint_forces_that_exert(elbow.tree, q, force, "tool", axes="world")
    close(torques, [-6.4208033148, 12.7500434357, 6.2975291735], 1e-9)
    back = wrench_from_joint_forces(general_jacobian(elbow.tree, q, "tool", axes="world")[:3], torques)
    close(back.wrench, force[:3], 1e-13)
    assert back.balanced and back.unique and back.carried.shape == (3, 0)
    mixed = modified_arm(MIXED, "RPRR")
    close(joint_forces_that_exert(mixed.tree, HAND, WRENCH, "link4", axes="body"),
          [-1.3979874915, 3.4257938702, -0.3806828958, -0.3], 1e-9)
    close(joint_forces_that_resist(mixed.tree, HAND, WRENCH, "link4", axes="body"),
          [1.3979874915, -3.4257938702, 0.3806828958, 0.3], 1e-9)
    arm, straight = modified_arm(SIX), np.array([0.2, -0.5, 0.3, 0.6, 0.0, -0.4])
    J = general_jacobian(arm.tree, straight, "link6", axes="world")
    found = wrench_from_joint_forces(J, J.T @ WRENCH)
    assert found.balanced and not found.unique and found.carried.shape == (6, 1)
    close(J.T @ found.carried, np.zeros((6, 1)), 1e-13)
    close(J.T @ found.wrench, J.T @ WRENCH, 1e-13)
    close(joint_forces_that_exert(arm.tree, straight, found.wrench + 7 * found.carried[:, 0], "link6", axes="world"),
          J.T @ WRENCH, 1e-13)
    # joints 4 and 6 have one axis: no wrench tells them apart
    lost = wrench_from_joint_forces(J, np.array([0.0, 0, 0, 1, 0, 0]))
    assert not lost.balanced
    close(lost.residual, np.sqrt(0.5), 1e-12)
    regular = general_jacobian(arm.tree, np.array([0.2, -0.5, 0.3, 0.6, 0.9, -0.4]), "link6", axes="body")
    close(wrench_from_joint_forces(regular, regular.T @ WRENCH).wrench, WRENCH, 1e-12)
    close(
        wrench_from_joint_forces(np.stack([regular, J]), np.stack([regular.T @ WRENCH, J.T @ WRENCH])).wrench[0],
        WRENCH, 1e-12)
    few = wrench_from_joint_forces(general_jacobian(planar_arm(1.0, 1.0).tree, np.array([0.3, 0.7]), "tool",
                                                    axes="world"),
                                   [1.0, 2.0])
    assert few.balanced and not few.unique and few.carried.shape == (6, 4)  # two torques cannot tell six components
    with pytest.raises(SignatureError, match="needs 6 joint forces"):
        wrench_from_joint_forces(regular, np.zeros(5))


@pytest.mark.spec("S3-24")
def test_wrenches_moved_between_frames():
    """W3-08: in hand axes and, moved to the base origin, with the Jacobian there; the mixed form of (2.7) is wrong
    (E3-11).
    """
    arm = modified_arm(MIXED, "RPRR")
    expected = np.array([-1.3979874915, 3.4257938702, -0.3806828958, -0.3])
    moved = {"turned": moved_wrench(arm.tree, HAND, WRENCH, "link4", axes="body", to="link4", to_axes="world"),
             "at the base": moved_wrench(arm.tree, HAND, WRENCH, "link4", axes="body", to="world", to_axes="world")}
    R, p = frame_pose(arm.tree, HAND, "link4")
    close(moved["turned"], np.concatenate([R @ WRENCH[:3], R @ WRENCH[3:]]), 1e-14)
    close(moved["at the base"], transform_wrench(frame_pose(arm.tree, HAND, "link4").matrix, WRENCH), 1e-14)
    close(moved["at the base"][3:], R @ WRENCH[3:] + np.cross(p, R @ WRENCH[:3]), 1e-14)
    for at, name in ((None, "turned"), ("world", "at the base")):
        close(joint_forces_that_exert(arm.tree, HAND, moved[name], "link4", axes="world", at=at), expected, 1e-9)
        close(general_jacobian(arm.tree, HAND, "link4", axes="world", at=at).T @ moved[name], expected, 1e-9)
    printed = general_jacobian(arm.tree, HAND, "link4", axes="world").T @ moved["at the base"]
    close(printed, [-3.100, 3.426, -2.849, -1.153], 1e-3)  # the reference points differ, and so does the answer
    tree = everything()
    q, _, _ = random_state(tree)
    T = frame_pose(tree.tree, q, "frame9", "frame3").matrix
    close(moved_wrench(tree.tree, q, WRENCH, "frame9", axes="body", to="frame3", to_axes="frame3"),
          transform_wrench(T, WRENCH))
    there = moved_wrench(tree.tree, q, WRENCH, "frame9", axes="frame2", at="frame5", to="frame3", to_axes="body")
    close(joint_forces_that_exert(tree.tree, q, there, "frame9", axes="body", at="frame3"),
          joint_forces_that_exert(tree.tree, q, WRENCH, "frame9", axes="frame2", at="frame5"))


def test_every_back_end_gives_the_same():
    tree = around("helical")
    states = [np.stack(column) for column in zip(*[random_state(tree, seed) for seed in range(3)], strict=True)]
    wrenches = np.random.default_rng(0).normal(size=(3, 6))
    check_parity(
        kernel(f"({tree.nq}),(6)->({tree.nv})")(
            lambda q, w: joint_forces_that_exert(tree.tree, q, w, "frame4", axes="world")), states[0], wrenches)


def test_the_recursion_is_cheaper_than_the_jacobian():
    arm = modified_arm(SIX)
    own, by_jacobian = (kernel("(6),(6)->(6)")(text).operations().total for text in (
        lambda q, w: joint_forces_that_exert(arm.tree, q, w, "link6", axes="body"),
        lambda q, w: general_jacobian(arm.tree, q, "link6", axes="body").T @ w))
    assert own < 0.7 * by_jacobian
