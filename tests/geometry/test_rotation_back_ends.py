"""The kernels that only combine others, in every back end. (Those with a formula of their own are run through in their
own tests.)
"""

import pytest

from cayley.geometry.rotations import conversions, half_sine, homogeneous
from compiler.parity import check_parity
from geometry.rotation_samples import kernels_of, sample_arguments


@pytest.mark.parametrize("kernel", kernels_of(conversions, half_sine, homogeneous),
                         ids=lambda k: k.__name__)
def test_every_back_end_agrees(kernel):
    check_parity(kernel.unchecked, *sample_arguments(kernel))
