"""Tables 7.1 and 7.2: what is printed adds up, and what the published text costs is of the same form."""

import numpy as np
import pytest

from cayley.dynamics.accounting.counted_run import GENERAL, generic_arm
from cayley.dynamics.accounting.counting_scalar import Tape, values
from cayley.dynamics.accounting.linear_tables import (
    ALGORITHM_71,
    RIGHT_ANGLE,
    STEP_1,
    STEP_2,
    counted_figures,
    counted_operations,
    method_table,
    table_71,
    table_72,
)
from cayley.dynamics.accounting.operation_table import summed
from cayley.dynamics.linearised.algorithm_7_1 import sensitivities
from cayley.dynamics.linearised.kernels import linearize_kernel
from cayley.dynamics.rigid_links.links import serial_chain


@pytest.mark.spec("S1-93")
def test_printed_rows_add_up():
    one, two = table_71(6), table_72(6)
    assert one.figures("total", "general, published")(6) == (871, 922)
    assert one.figures("total", "0 or 90, published")(6) == (691, 812)
    assert two.figures("total", "general, published")(6) == (1185, 840)
    assert two.figures("total", "0 or 90, published")(6) == (825, 660)
    for place in range(2):
        both = summed({equation: entry[place] for equation, entry in {**STEP_1, **STEP_2}.items()})
        assert [both(n) for n in range(1, 9)] == [ALGORITHM_71[place](n) for n in range(1, 9)]
    assert [figures(6) for figures in ALGORITHM_71] == [(2056, 1762), (1516, 1472)]


def test_counted_rows_have_the_printed_leading_terms():
    """Each pair of joints costs what is printed, but for row l, which spec E-29 puts right."""
    general, special = counted_figures(GENERAL), counted_figures(RIGHT_ANGLE)
    for equation, printed in STEP_2.items():
        for figures, counted in zip(printed, (general, special), strict=True):
            if figures.multiplications.coefficients and equation != "7.3.19l":
                assert counted[equation].multiplications.coefficients[-1] == figures.multiplications.coefficients[-1]
                assert counted[equation].additions.coefficients[-1] == figures.additions.coefficients[-1]
    assert general["7.3.19l"].multiplications.coefficients[-1] == general["7.3.19l"].additions.coefficients[-1] == 3.5
    total = summed(general)
    assert total(6)[0] < 2056 and total(6)[1] < 1762


def test_a_counted_run_gives_the_matrices():
    tape, chain = Tape(), serial_chain(generic_arm([GENERAL] * 3, "RPR"))
    state = np.random.default_rng(0).normal(size=(3, 3))
    counted = sensitivities(chain, *[tape.inputs(x) for x in state])
    for ours, plain in zip(counted, sensitivities(chain, *state), strict=True):
        np.testing.assert_allclose(values(ours), plain, rtol=1e-13, atol=1e-13)
    assert counted_operations(1, GENERAL)


def test_compiled_is_cheapest():
    table = method_table(4)
    compiled = {name: sum(row["compiled"](4)) for name, row in table.rows.items() if "compiled" in row}
    assert min(compiled, key=compiled.get) == "algorithm-7.1"
    found = linearize_kernel(generic_arm([GENERAL] * 6)).operations()
    assert found.multiplications < 2056 and found.additions < 1762
