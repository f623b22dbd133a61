"""The kernels of Euler rates in every back end, for a proper sequence about moving and a Tait-Bryan one about fixed
axes.
"""

import numpy as np
import pytest

from cayley.geometry.rates import euler_chart
from compiler.parity import check_parity

KERNELS = [*euler_chart("zyz", axes="moving").kernels, *euler_chart("zxy", axes="fixed").kernels]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_every_back_end_agrees(kernel):
    states = np.random.default_rng(2).uniform(0.3, 1.2, size=(len(kernel.inputs), 2, 3))
    check_parity(kernel.unchecked, *states, jacobians="zyz" in kernel.__name__)
