"""Six coordinates of a pose: there and back, both branches, the singular case, and no arithmetic."""

import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from cayley.errors import ConventionError, GeometryError
from cayley.geometry.rotations.configuration import (
    Configuration,
    configuration_from_coordinates,
    configuration_from_pose,
)
from cayley.geometry.rotations.euler import SEQUENCES, matrix_from_euler, matrix_from_roll_pitch_yaw

CHI = np.array([0.1, -0.2, 0.3, 0.5, -0.6, 0.7])
angle = st.floats(-3, 3)


@pytest.mark.spec("S1-04")
@pytest.mark.parametrize(("sequence", "axes", "scipy_name"), [("zyx", "moving", "ZYX"), ("xyz", "fixed", "xyz"),
                                                              ("zyz", "moving", "ZYZ")])
def test_a_configuration_is_the_pose_of_its_coordinates(sequence, axes, scipy_name):
    pose = configuration_from_coordinates(CHI, sequence=sequence, axes=axes).pose()
    np.testing.assert_allclose(pose[:3, :3], Rotation.from_euler(scipy_name, CHI[3:]).as_matrix(), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(pose[:3, 3], CHI[:3])
    np.testing.assert_array_equal(pose[3], [0, 0, 0, 1])


@pytest.mark.spec("S1-04")
@given(st.sampled_from(SEQUENCES), st.sampled_from(["moving", "fixed"]), st.tuples(angle, angle, angle),
       st.tuples(angle, angle, angle))
def test_there_and_back_away_from_the_singularity(sequence, axes, position, angles):
    pose = Configuration(position, angles, sequence, axes).pose()
    found = configuration_from_pose(pose, sequence=sequence, axes=axes)
    for configuration in (found.configuration, found.other):
        np.testing.assert_allclose(configuration.pose(), pose, rtol=0, atol=4e-15)
    if found.orientation.margin > 1e-3:
        both = [c.coordinates - [*position, *angles] for c in (found.configuration, found.other)]
        both = [np.concatenate([d[:3], np.angle(np.exp(1j * d[3:]))]) for d in both]
        assert min(np.abs(d).max() for d in both) <= 1e-12


@pytest.mark.spec("S1-04")
@pytest.mark.parametrize("beta", [np.pi / 2, -np.pi / 2])
def test_the_singularity_of_the_representation_is_reported(beta):
    pose = configuration_from_coordinates([1, 2, 3, 0.4, beta, 1.3], sequence="zyx", axes="moving").pose()
    found = configuration_from_pose(pose, sequence="zyx", axes="moving")
    assert found.orientation.singular
    np.testing.assert_allclose(found.configuration.pose(), pose, rtol=0, atol=1e-15)
    np.testing.assert_allclose(found.configuration.angles, [0.4 - np.sign(beta) * 1.3, beta, 0.0], rtol=0, atol=1e-15)
    family = found.orientation.family(third=1.3)
    np.testing.assert_allclose(family, [0.4, beta, 1.3], rtol=0, atol=1e-15)


@pytest.mark.spec("S1-04")
@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.mul, operator.truediv, operator.matmul])
def test_configurations_are_not_vectors(operation):
    chi = configuration_from_coordinates(CHI, sequence="zyx", axes="moving")
    for left, right in ((chi, chi), (chi, 2.0), (2.0, chi), (chi, CHI), (CHI, chi)):
        with pytest.raises(TypeError):
            operation(left, right)
    with pytest.raises(TypeError):
        np.add(chi, chi)


@pytest.mark.spec("S1-04")
def test_the_angles_of_a_product_are_not_the_sum_of_the_angles():
    a, b = np.array([0.5, -0.6, 0.7]), np.array([-0.2, 0.9, 0.4])
    product = matrix_from_roll_pitch_yaw(a) @ matrix_from_roll_pitch_yaw(b)
    assert np.abs(product - matrix_from_roll_pitch_yaw(a + b)).max() > 0.3
    assert np.abs(product - matrix_from_roll_pitch_yaw(b) @ matrix_from_roll_pitch_yaw(a)).max() > 0.3


def test_batches_broadcast():
    many = Configuration(np.zeros((5, 1, 3)), np.linspace(0, 1, 12).reshape(4, 3), "zyx", "moving")
    assert many.coordinates.shape == (5, 4, 6)
    assert many.pose().shape == (5, 4, 4, 4)
    np.testing.assert_array_equal(many.pose()[2, 1, :3, :3],
                                  matrix_from_euler(many.angles[1], sequence="zyx", axes="moving"))
    found = configuration_from_pose(many.pose(), sequence="zyx", axes="moving")
    np.testing.assert_allclose(found.configuration.coordinates, many.coordinates, rtol=0, atol=1e-14)


def test_what_is_not_a_configuration_or_a_pose_is_refused():
    with pytest.raises(GeometryError, match="six coordinates"):
        configuration_from_coordinates(CHI[:5], sequence="zyx", axes="moving")
    with pytest.raises(GeometryError, match="angles of a configuration"):
        Configuration(CHI[:3], CHI[:2], "zyx", "moving")
    with pytest.raises(ConventionError):
        configuration_from_coordinates(CHI, sequence="zzy", axes="moving")
    scaled = np.diag([1.0, 1.0, 1.0, 2.0])
    with pytest.raises(GeometryError, match="last row"):
        configuration_from_pose([np.eye(4), scaled], sequence="zyx", axes="moving")
    with pytest.raises(GeometryError, match="reflection"):
        configuration_from_pose(np.diag([1.0, 1.0, -1.0, 1.0]), sequence="zyx", axes="moving")
    with pytest.raises(GeometryError, match="shape"):
        configuration_from_pose(np.eye(3), sequence="zyx", axes="moving")
