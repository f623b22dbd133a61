"""What the kinds of joints are by themselves."""

import numpy as np
import pytest

from cayley.model.joint_kinds import Planar

AXES = [*np.eye(3), *-np.eye(3), *np.random.default_rng(0).normal(size=(20, 3)), (1.0, 1.0, 1.0), (1e-3, 0.0, 1.0), (0.0, 1.0, 1e-9),
        (0.43, 0.0, 0.9), (0.44, 0.0, 0.9)]


@pytest.mark.parametrize("axis", AXES, ids=str)
def test_a_planar_joint_slides_along_a_right_handed_frame_with_its_axis(axis):
    axis = tuple(np.asarray(axis) / np.linalg.norm(axis))
    joint = Planar(axis)
    frame = np.stack([joint.pose(np.array([1.0, 0.0, 0.0]))[1], joint.pose(np.array([0.0, 1.0, 0.0]))[1], axis])
    np.testing.assert_allclose(frame @ frame.T, np.eye(3), rtol=0, atol=1e-15)
    assert np.linalg.det(frame) > 0


def test_a_planar_joint_about_z_slides_along_x_and_y():
    np.testing.assert_array_equal(Planar().pose(np.array([0.3, -0.4, 0.0]))[1], [0.3, -0.4, 0.0])
