"""Former names of the parts of `cayley.geometry`: they work for one more version, and say so."""

import numpy as np
import pytest

from cayley.compiler.kernel import Kernel
from cayley.geometry import former_names, inertia, motions, tensors


def test_a_former_name_works_and_warns():
    T, v = np.arange(9.0).reshape(3, 3), np.ones(3)
    with pytest.warns(DeprecationWarning, match=r"cayley.geometry.tensors.right_dot.* goes with the next version"):
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
    kernels = {name: value for name, value in vars(former_names).items() if isinstance(value, Kernel)}
    assert all(value.__name__ == name for name, value in kernels.items()) and len(kernels) > 60
