"""Moving rotations as a group, and the tangent bundle, in every back end."""

import pytest

from compiler.parity import check_parity
from geometry import formulas_of_rates
from geometry.motion_samples import has_small_jacobians, kernels_of, sample_arguments

KERNELS = kernels_of(formulas_of_rates)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_every_back_end_agrees(kernel):
    check_parity(kernel.unchecked, *sample_arguments(kernel), jacobians=has_small_jacobians(kernel))
