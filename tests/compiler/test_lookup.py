"""Tables in kernels: every way to evaluate them gives the same, places that are not there give NaN, code is kept."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.cuda.cuda_source import cuda_source
from cayley.compiler.operations import OPERATIONS
from cayley.compiler.solving.lookup import interval, lookup
from compiler.parity import check_parity

_BREAKS = np.cumsum(np.random.default_rng(0).uniform(0.1, 1.0, 12))
_HEIGHTS = np.random.default_rng(1).normal(size=11)


def _steps():
    heights = lookup(_HEIGHTS)
    return cy.kernel("()->()", name="steps")(lambda t: heights(interval(_BREAKS, t)) * t)


def test_a_table_works_in_every_way():
    t = np.array([_BREAKS[0] - 1.0, *(_BREAKS[:-1] + 0.05), _BREAKS[-1] + 1.0])
    places = np.clip(np.searchsorted(_BREAKS, t, side="right") - 1, 0, 10)
    np.testing.assert_allclose(_steps()(t), _HEIGHTS[places] * t, rtol=1e-15)
    check_parity(_steps(), t[1:-1], everywhere=True)
    assert "__device__" in cuda_source(_steps().program())


@pytest.mark.parametrize("count", [2, 3, 4, 5, 9, 1000])
def test_intervals_are_those_of_numpy(count):
    breaks = np.sort(np.random.default_rng(count).uniform(size=count))
    t = np.concatenate([breaks, np.random.default_rng(9).uniform(-0.1, 1.1, 200)])
    found = cy.kernel("()->()", name="where")(lambda t: interval(breaks, t))(t)
    np.testing.assert_array_equal(found, np.clip(np.searchsorted(breaks, t, side="right") - 1, 0, count - 2))


def test_a_place_that_is_not_there_has_no_value():
    three = lookup([1.0, 2.0, 3.0])
    found = cy.kernel("()->()", name="three")(lambda k: three(k))
    places = [-1.0, 0.0, 2.0, 3.0, 1e300, np.nan]
    np.testing.assert_array_equal(found(places), [np.nan, 1.0, 3.0, np.nan, np.nan, np.nan])
    assert np.isnan(three(-1.0)) and three(2.0) == 3.0
    np.testing.assert_array_equal(three(np.array([0.0, 5.0])), [1.0, np.nan])


def test_a_kernel_with_a_table_travels():
    made = _steps()
    t = float(_BREAKS[3])
    expected = made(t)
    words = pickle.dumps(made)
    del OPERATIONS[lookup(_HEIGHTS).name]  # as where it has never been
    np.testing.assert_array_equal(pickle.loads(words)(t), expected)


def test_equal_tables_are_one_operation_and_others_are_not():
    assert lookup(_HEIGHTS) is lookup(list(_HEIGHTS))
    assert lookup(_HEIGHTS) is not lookup(-_HEIGHTS)
    assert OPERATIONS[lookup(_HEIGHTS).name] is lookup(_HEIGHTS)
    with pytest.raises(cy.SignatureError, match="finite numbers, one or more"):
        lookup([])
    with pytest.raises(cy.SignatureError, match="finite numbers, one or more"):
        lookup([1.0, np.inf])
