"""What the kinds of joints are by themselves."""

import numpy as np
import pytest
from scipy.linalg import expm

from cayley.model.joint_kinds import Floating, Helical, Planar, Prismatic, Revolute, Spherical, Universal

AXES = [
    *np.eye(3), *-np.eye(3), *np.random.default_rng(0).normal(size=(20, 3)), (1.0, 1.0, 1.0), (1e-3, 0.0, 1.0),
    (0.0, 1.0, 1e-9), (0.43, 0.0, 0.9), (0.44, 0.0, 0.9)]


@pytest.mark.parametrize("axis", AXES, ids=str)
def test_a_planar_joint_slides_along_a_right_handed_frame_with_its_axis(axis):
    axis = tuple(np.asarray(axis) / np.linalg.norm(axis))
    joint = Planar(axis)
    frame = np.stack([joint.pose(np.array([1.0, 0.0, 0.0]))[1], joint.pose(np.array([0.0, 1.0, 0.0]))[1], axis])
    np.testing.assert_allclose(frame @ frame.T, np.eye(3), rtol=0, atol=1e-15)
    assert np.linalg.det(frame) > 0


def test_a_planar_joint_about_z_slides_along_x_and_y():
    np.testing.assert_array_equal(Planar().pose(np.array([0.3, -0.4, 0.0]))[1], [0.3, -0.4, 0.0])


def pose(motion, q):
    made = np.eye(4)
    made[:3, :3], made[:3, 3] = motion.pose(q)
    return made


@pytest.mark.parametrize("motion", [Floating(), Spherical()], ids=lambda motion: motion.word)
def test_a_step_is_the_exponential_of_the_twist(motion):
    """The velocity is constant in the axes of the body that moves."""
    random = np.random.default_rng(1)
    for size in (1e-9, 0.3, 2.0):
        q = motion.neutral + random.normal(size=motion.nq)
        q[-4:] /= np.linalg.norm(q[-4:])
        v = size * random.normal(size=motion.nv)
        vx, vy, vz, wx, wy, wz = np.concatenate([np.zeros(6 - motion.nv), v])
        moved = expm(np.array([[0, -wz, wy, vx], [wz, 0, -wx, vy], [-wy, wx, 0, vz], [0, 0, 0, 0]]))
        np.testing.assert_allclose(pose(motion, motion.step(q, v)), pose(motion, q) @ moved, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    "motion",
    [Revolute(),
     Prismatic(),
     Helical(pitch=0.2),
     Universal(),
     Planar((0.6, 0.0, 0.8)),
     Spherical(),
     Floating()], ids=lambda motion: motion.word)
def test_differences_undo_steps_of_less_than_half_a_turn_and_rates_are_their_slopes(motion):
    random = np.random.default_rng(2)
    q, v = motion.step(motion.neutral, random.normal(size=motion.nv)), random.uniform(-1.5, 1.5, size=motion.nv)
    np.testing.assert_allclose(motion.difference(q, motion.step(q, v)), v, rtol=0, atol=1e-14)
    slope = (motion.step(q, 1e-6 * v) - motion.step(q, -1e-6 * v)) / 2e-6
    np.testing.assert_allclose(motion.rate(q, v), slope, rtol=0, atol=1e-9)
