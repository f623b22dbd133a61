"""Lines, twists and wrenches, planes, universal joints in every back end."""

import pytest

from cayley.geometry.motions import lines, universal_joint, wrenches_and_twists
from compiler.parity import check_parity
from geometry import formulas_of_motions
from geometry.motion_samples import has_small_jacobians, kernels_of, sample_arguments


@pytest.mark.parametrize("kernel", kernels_of(formulas_of_motions, lines, universal_joint, wrenches_and_twists),
                         ids=lambda k: k.__name__)
def test_every_back_end_agrees(kernel):
    check_parity(kernel.unchecked, *sample_arguments(kernel), jacobians=has_small_jacobians(kernel))
