"""The rates of matrices, quaternions, spinors and vector-parameters in every back end."""

import pytest

from cayley.geometry.rates import chart, charts
from compiler.parity import check_parity
from geometry.motion_samples import has_small_jacobians, kernels_of, sample_arguments

NAMES = ("matrix", "quaternion", "homogeneous", "spinor", "rotation_vector", "vector_parameter")
KERNELS = [*kernels_of(charts), *(k for name in NAMES for k in chart(name).kernels)]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_every_back_end_agrees(kernel):
    check_parity(kernel.unchecked, *sample_arguments(kernel), jacobians=has_small_jacobians(kernel))
