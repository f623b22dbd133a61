"""Poses, displacements and screws in every back end."""

import pytest

from cayley.geometry.motions import homogeneous, screws
from compiler.parity import check_parity
from geometry.motion_samples import has_small_jacobians, kernels_of, sample_arguments


@pytest.mark.parametrize("kernel", kernels_of(homogeneous, screws),
                         ids=lambda k: k.__name__)
def test_every_back_end_agrees(kernel):
    check_parity(kernel.unchecked, *sample_arguments(kernel), jacobians=has_small_jacobians(kernel))
