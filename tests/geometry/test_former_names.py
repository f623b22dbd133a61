"""Former names of the parts of `cayley.geometry`: they work for one more version, and say so."""

import numpy as np
import pytest

from cayley.compiler.kernel import Kernel
from cayley.errors import SingularityError, UnsupportedError
from cayley.geometry import former_names, inertia, motions, rates, tensors


def test_a_former_name_works_and_warns():
    T, v = np.arange(9.0).reshape(3, 3), np.ones(3)
    with pytest.warns(DeprecationWarning, match=r"cayley.geometry.tensors.right_dot.* goes with version 0.4.0"):
        former = tensors.right_dot
    np.testing.assert_array_equal(former([T, 2 * T], v), [T @ v, 2 * T @ v])
    with pytest.warns(DeprecationWarning):
        from cayley.geometry.inertia import moment_about_point
    np.testing.assert_array_equal(moment_about_point([0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]), [0, 0, 3])


def test_a_name_that_never_was_is_refused():
    for package in (inertia, motions, tensors):
        with pytest.raises(AttributeError, match="no_such_name"):
            _ = package.no_such_name
        with pytest.raises(AttributeError):
            _ = package._check_two


def test_every_former_kernel_has_its_own_name():
    kernels = {name: former_names.former(name)[0] for name in former_names.TABLE}
    assert all(isinstance(value, Kernel) and value.__name__ == name for name, value in kernels.items())
    assert len(kernels) > 60


def test_former_kernels_of_several_values_name_them():
    with pytest.warns(DeprecationWarning):
        found = motions.split_translation_first(np.eye(4))
    np.testing.assert_array_equal(found.translation, np.eye(4))
    with pytest.warns(DeprecationWarning), pytest.raises(SingularityError, match="a direction, not a point"):
        motions.point_from_homogeneous([1.0, 2.0, 3.0, 0.0])


@pytest.mark.parametrize("name, arguments, expected", [
    ("angular_velocity_from_quaternion_rate", ([1.0, 0.0, 0.0, 0.0], [0.0, 0.5, 1.0, 1.5]), [1.0, 2.0, 3.0]),
    ("angular_acceleration_from_rotation_vector_rates", ([0.0] * 3, [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]), [0.0, 0.0, 2.0]),
    ("vector_parameter_rate_from_body_velocity", ([0.0, 0.0, 1.0], [1.0, -1.0, 0.0]), [1.0, 0.0, 0.0]),
    ("homogeneous_second_rate_from_world_acceleration", ([0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [0.0, 0.0, 1.0]),
     [-0.5, 0.0, 0.0, -1.0]),
])
def test_the_rates_of_a_chart_have_had_names_of_their_own(name, arguments, expected):
    with pytest.warns(DeprecationWarning, match="write chart"):
        found = getattr(rates, name)(*arguments)
    np.testing.assert_allclose(getattr(found, "world", found), expected, atol=1e-15)


def test_euler_rates_have_had_names_of_their_own():
    with pytest.warns(DeprecationWarning, match="write euler_chart"):
        found = rates.euler_rates_from_body_velocity([0.0, 0.0, 0.0], [1.0, 2.0, 3.0], sequence="zyx", axes="moving")
    np.testing.assert_allclose(found, [3.0, 2.0, 1.0], atol=1e-15)
    with pytest.raises(AttributeError):
        _ = rates.angular_velocity_from_nothing_rate


@pytest.mark.parametrize("name, system", [("simulate_attitude", "rotating_body"), ("BodyState", "rigid_body"),
                                          ("GyroscopeTrajectory", "gyroscope")])
def test_simulators_of_one_body_say_which_system_replaces_them(name, system):
    with pytest.raises(UnsupportedError, match=rf"{name} is gone.*write {system}\(.*simulate\(start, times=times"):
        getattr(inertia, name)
