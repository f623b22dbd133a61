"""Dual quantities and chains in every back end."""

import pytest

from cayley.geometry.motions import dual, dual_jacobian, dual_quaternion, dual_vector_parameter
from compiler.parity import check_parity
from geometry.motion_samples import has_small_jacobians, kernels_of, sample_arguments


@pytest.mark.parametrize("kernel", kernels_of(dual, dual_jacobian, dual_quaternion, dual_vector_parameter),
                         ids=lambda k: k.__name__)
def test_every_back_end_agrees(kernel):
    check_parity(kernel.unchecked, *sample_arguments(kernel), jacobians=has_small_jacobians(kernel))
