"""Points, measured points and the screw axis in every back end."""

import pytest

from cayley.geometry.rates import measured_points, points
from compiler.parity import check_parity
from geometry.motion_samples import has_small_jacobians, kernels_of, sample_arguments

KERNELS = kernels_of(measured_points, points)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_every_back_end_agrees(kernel):
    check_parity(kernel.unchecked, *sample_arguments(kernel), jacobians=has_small_jacobians(kernel))
