"""The rates of matrices, quaternions, spinors and vector-parameters in every back end."""

import pytest

from cayley.geometry.rates import matrix_rates, quaternion_rates, spinor_rates, vector_parameter_rates
from compiler.parity import check_parity
from geometry.motion_samples import has_small_jacobians, kernels_of, sample_arguments

KERNELS = kernels_of(matrix_rates, quaternion_rates, spinor_rates, vector_parameter_rates)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_every_back_end_agrees(kernel):
    check_parity(kernel.unchecked, *sample_arguments(kernel), jacobians=has_small_jacobians(kernel))
