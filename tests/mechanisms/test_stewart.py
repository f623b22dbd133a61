"""The Stewart-Gough platform: lengths by definition, rates against differences, poses found again, singular postures.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cayley.errors import ModelError
from cayley.mechanisms.parallel import StewartPlatform

ANGLES = np.radians([0, 60, 120, 180, 240, 300])


def ring(radius, angles):
    return radius * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)


MACHINE = StewartPlatform(ring(0.8, ANGLES), ring(0.4, ANGLES + np.radians([25, -25, 25, -25, 25, -25])))


def pose_of(rotation, place):
    made = np.eye(4)
    made[:3, :3] = rotation.as_matrix()
    made[:3, 3] = place
    return made


def some_poses(count, seed=0):
    rng = np.random.default_rng(seed)
    return np.array([pose_of(Rotation.from_rotvec(0.4 * rng.normal(size=3)), [0, 0, 0.9] + 0.15 * rng.normal(size=3))
                     for _ in range(count)])


def test_lengths_are_distances_of_the_joints():
    poses = some_poses(50)
    joints = np.einsum("kij,lj->kli", poses[:, :3, :3], MACHINE.platform) + poses[:, None, :3, 3]
    np.testing.assert_allclose(MACHINE.leg_lengths(poses), np.linalg.norm(joints - MACHINE.base, axis=-1), rtol=1e-14)


def test_rates_of_the_lengths_against_differences():
    twist = np.array([0.2, -0.1, 0.3, 0.5, -0.4, 0.6])
    step = 1e-6
    for pose in some_poses(5):
        ends = [
            MACHINE.leg_lengths(
                pose_of(
                    Rotation.from_rotvec(s * step * twist[3:]) * Rotation.from_matrix(pose[:3, :3]),
                    pose[:3, 3] + s * step * twist[:3])) for s in (-1, 1)]
        np.testing.assert_allclose(MACHINE.jacobian(pose) @ twist, (ends[1] - ends[0]) / (2 * step), atol=1e-8)


def test_a_batch_of_poses_is_found_again_from_guesses_nearby():
    poses = some_poses(200)
    guesses = poses.copy()
    guesses[:, :3, 3] += 0.01
    found = MACHINE.direct_position(MACHINE.leg_lengths(poses), guess=guesses)
    assert found.status == "assembled" and found.iterations < 10
    np.testing.assert_allclose(found.pose, poses, atol=1e-9)


def test_all_poses_close_the_legs_and_a_planar_machine_has_mirror_images():
    pose = some_poses(1, seed=4)[0]
    lengths = MACHINE.leg_lengths(pose)
    found = MACHINE.direct_positions(lengths)
    assert len(found) % 2 == 0 and len(found) >= 4
    np.testing.assert_allclose(MACHINE.leg_lengths(found), np.broadcast_to(lengths, (len(found), 6)), atol=1e-9)
    assert min(np.abs(found - pose).max(axis=(1, 2))) < 1e-9
    np.testing.assert_allclose(sorted(found[:, 2, 3]), -np.array(sorted(found[:, 2, 3]))[::-1], atol=1e-7)
    np.testing.assert_allclose(np.linalg.det(found[:, :3, :3]), 1.0, atol=1e-12)


def test_legs_that_cannot_meet_are_said():
    found = MACHINE.direct_position([0.1, 5.0, 0.1, 5.0, 0.1, 5.0], guess=some_poses(1)[0])
    assert found.status == "not found" and found.residual > 0.1
    assert MACHINE.direct_positions([0.1, 5.0, 0.1, 5.0, 0.1, 5.0], starts=20).shape == (0, 4, 4)
    with pytest.raises(ModelError, match=r"joints on the base of a Stewart platform are .* of the shape \(6, 3\)"):
        StewartPlatform(np.zeros((5, 3)), np.zeros((6, 3)))


def test_a_platform_like_its_base_turned_by_a_quarter_is_singular():
    similar = StewartPlatform(ring(0.8, ANGLES), ring(0.4, ANGLES))
    quarter = pose_of(Rotation.from_rotvec([0, 0, np.pi / 2]), [0, 0, 0.9])  # Fichter 1986
    found = similar.singularity(quarter)
    assert found.kind == "direct" and len(found.gained) >= 1
    np.testing.assert_allclose(similar.jacobian(quarter) @ found.gained.T, 0.0, atol=1e-9)
    assert MACHINE.singularity(some_poses(1)[0]).kind == "regular"
