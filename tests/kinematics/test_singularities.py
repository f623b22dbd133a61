"""Singular configurations: rank, lost directions, self-motions, and whether the workspace ends there."""

from dataclasses import replace

import numpy as np
import pytest

from cayley.errors import GeometryError, SignatureError
from cayley.kinematics.jacobians.general_jacobian import general_jacobian
from cayley.kinematics.singular.singularities import singularity, singularity_at
from cayley.kinematics.subspaces import subspaces
from cayley.mechanism import Mechanism
from cayley.model.parts import Limits
from kinematics.arms import SIX, modified_arm, planar_arm, rotation, translation
from kinematics.motions import close, everything, random_state

PLANE, POINT = (True, True, False, False, False, True), (True, True, False, False, False, False)


def test_subspaces_of_random_matrices():
    """Against the definitions, for every shape and rank, and as a batch."""
    random = np.random.default_rng(0)
    for m, n, r in [(6, 6, 6), (6, 7, 6), (3, 7, 2), (6, 4, 3), (2, 3, 0), (4, 6, 4)]:
        J = random.normal(size=(m, r)) @ random.normal(size=(r, n))
        found = subspaces(J)
        assert (found.rank, found.redundancy, bool(found.singular)) == (r, n - r, r < min(m, n))
        assert found.range.shape[1] + found.null_space.shape[1] == n
        close(J @ found.null_space, np.zeros((m, n - r)), 1e-13)
        close(found.lost.T @ J, np.zeros((m - r, n)), 1e-13)
        close(found.pseudo_inverse, np.linalg.pinv(J, rcond=1e-10), 1e-11)
        close(found.null_projector, np.eye(n) - found.pseudo_inverse @ J, 1e-12)
    ranks = np.stack([random.normal(size=(3, r)) @ random.normal(size=(r, 5)) for r in (3, 1, 2)])
    batch = subspaces(ranks)
    assert batch.rank.tolist() == [3, 1, 2] and batch.singular.tolist() == [False, True, True]
    for k in range(3):
        close(batch.pseudo_inverse[k], subspaces(ranks[k]).pseudo_inverse, 1e-13)
    with pytest.raises(SignatureError, match="one Jacobian"):
        _ = batch.null_space
    with pytest.raises(GeometryError, match="Jacobian 1 of the batch is not finite"):
        subspaces([[[1.0]], [[np.nan]]])
    assert subspaces(np.zeros((6, 0))).lost.shape == (6, 6)


@pytest.mark.spec("S2-39")
def test_the_rank_test_of_a_batch_of_configurations():
    arm = planar_arm(1.0, 0.8, 0.5)
    q = np.random.default_rng(1).uniform(-3, 3, size=(100, 3))
    q[::2, 1] = 0.0
    J = arm.jacobian(q, "tool", axes="world")[:, [0, 1, 5]]
    close(np.linalg.det(J), 1.0 * 0.8 * np.sin(q[:, 1]), 1e-13)
    assert subspaces(J).singular.tolist() == [True, False] * 50


def reaches(*lengths):
    """Whether a planar arm can bring its tool to a pose: its last joint must be between two circles about the first."""
    a, b, c = lengths
    return lambda pose: abs(a - b) <= np.linalg.norm(pose[:2, 3] - c * pose[:2, 0]) <= a + b


@pytest.mark.spec("S2-39")
@pytest.mark.parametrize("reachable", [reaches(1.0, 0.8, 0.5), None], ids=["closed form", "search"])
def test_the_planar_arm(reachable):
    """det J = a1 a2 sin(th2); the third joint on the circles of radius a1 + a2 and |a1 - a2|; what is lost is along the
    arm.
    """
    arm = planar_arm(1.0, 0.8, 0.5)
    for th2, radius in ((0.0, 1.8), (np.pi, 0.2)):
        q = np.array([0.3, th2, 0.4])
        close(np.linalg.norm(arm.pose(q, "link3")[:2, 3]), radius, 1e-14)
        found = singularity_at(arm.tree, q, "tool", task=PLANE, axes="world", reachable=reachable)
        assert found.singular and found.kind == "boundary" and found.rank == 2 and abs(found.determinant) < 1e-15
        J = general_jacobian(arm.tree, q, "tool", axes="world")[[0, 1, 5]]
        close(J @ found.self_motions, np.zeros((3, 1)), 1e-14)
        close(found.lost.T @ J, np.zeros((1, 3)), 1e-14)
        along = np.array([np.cos(0.3), np.sin(0.3)])  # of the first two links: the third joint cannot leave its circle
        at_third = found.lost[:2, 0]
        close(abs(along @ at_third), np.linalg.norm(at_third), 1e-14)
    q = np.array([0.3, 0.7, 0.4])
    found = singularity_at(arm.tree, q, "tool", task=PLANE, axes="world", reachable=reachable)
    assert not found.singular and found.kind == "regular" and found.lost.shape == (
        3, 0) and found.self_motions.shape == (3, 0)
    close(found.determinant, 0.8 * np.sin(0.7), 1e-14)


@pytest.mark.spec("S2-39")
def test_one_posture_folds_where_another_goes_on():
    """The point task of the same arm: stretched it is at the boundary; folded it is singular inside, whatever one
    branch says.
    """
    arm = planar_arm(1.0, 0.8, 0.5)
    for angles, kind in (([0.3, 0.0, 0.0], "boundary"), ([0.3, np.pi, 0.0], "interior"), ([0.3, 0.0,
                                                                                           np.pi], "interior")):
        found = singularity_at(arm.tree, np.array(angles), "tool", task=POINT, axes="world")
        assert found.singular and found.kind == kind and found.determinant is None
        assert found.lost.shape == (2, 1) and found.self_motions.shape == (3, 2)
        close(np.abs(found.lost[:, 0]), [np.cos(0.3), np.sin(0.3)], 1e-13)
    inner = planar_arm(1.0, 0.4, 0.3)  # cannot reach its own centre: a hole of radius 0.3
    assert singularity_at(inner.tree, np.array([0.3, np.pi, 0.0]), "tool", task=POINT, axes="world").kind == "boundary"
    assert singularity_at(inner.tree, np.array([0.3, 0.0, np.pi]), "tool", task=POINT, axes="world").kind == "interior"


@pytest.mark.spec("S2-39")
def test_a_wrist_and_an_elbow():
    """W3-07 at q5 = 0: an axis of turning is lost, but another posture has it.

    Stretched, the arm is at its boundary.
    """
    arm = modified_arm(SIX)
    wrist = singularity_at(arm.tree, np.array([0.2, -0.5, 0.3, 0.6, 0.0, -0.4]), "link6", task="pose", axes="world")
    assert wrist.kind == "interior" and abs(wrist.determinant) < 1e-15 and wrist.rank == 5
    motion = wrist.self_motions[:, 0] * np.sign(wrist.self_motions[3, 0])
    close(motion, np.array([0, 0, 0, 1, 0, -1]) / np.sqrt(2), 1e-12)
    stretch = -np.arctan2(0.4318, 0.0203)  # forearm and its offset in line with the upper arm
    elbow = singularity_at(arm.tree, np.array([0.2, -0.5, stretch, 0.6, 0.7, -0.4]), "link6", task="position",
                           axes="world")
    assert elbow.kind == "boundary" and elbow.rank == 2


def test_limits_count_unless_they_are_left_out():
    """What only a posture beyond the limits could reach is a boundary; the rows of the task may be along any axes."""
    free = modified_arm([(0, 0, 0, 0), (1.0, 0, 0, 0), (0.8, 0, 0, 0)],
                        tool=translation(0.5, 0, 0) @ rotation("z", 0.4))
    ranges = (Limits(), Limits((np.pi - 0.5,), (np.pi + 0.5,)), Limits((-0.01,), (0.01,)))
    joints = [replace(joint, limits=limits) for joint, limits in zip(free.joints, ranges, strict=True)]
    arm, folded = Mechanism.of("limited", free.bodies, joints, frames=free.frames).tree, np.array([0.3, np.pi, 0.0])
    assert singularity_at(arm, folded, "tool", task=POINT, axes="body").kind == "boundary"
    assert singularity_at(arm, folded, "tool", task=POINT, axes="link1", limits=False).kind == "interior"
    assert singularity_at(free.tree, folded, "tool", task=POINT, axes="link1").kind == "interior"


def test_what_other_joints_do_is_no_singularity():
    """Joints that do not move the frame are no self-motions of it, and fewer joints than rows are no singularity."""
    tree = everything()
    q, _, _ = random_state(tree)
    found = singularity_at(tree.tree, q, "frame0", task="pose", axes="world")
    assert not found.singular and found.rank == 1 and found.lost.shape == (6, 5) and found.determinant is None
    assert found.self_motions.shape == (tree.nv, 0)


def test_of_a_matrix_alone():
    found = singularity(np.array([[1.0, 2.0], [2.0, 4.0]]))
    assert found.singular and found.kind is None and found.rank == 1
    close(np.abs(found.lost[:, 0]), np.array([2.0, 1.0]) / np.sqrt(5), 1e-14)
    assert singularity(np.diag([1.0, 1e-4]), tolerance=1e-3).singular and not singularity(np.diag([1.0, 1e-4])).singular
