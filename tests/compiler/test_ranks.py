"""What decides ranks, on random matrices whose singular values are given: zero is what is below 8 sqrt(n eps)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cayley as cy
from cayley.compiler.solving.definite import are_definite, is_definite, is_regular, others_follow, rows_are_independent
from cayley.compiler.solving.null_space import null_basis, null_space, row_space
from cayley.compiler.solving.rounding import Scale, least_singular, pseudo_inverse, rank_of, relative_rank
from cayley.compiler.tracing.symbols import where

EPS = 2.0**-53


def tolerance(n):
    """What the rule says, in numbers that are written here."""
    return np.sqrt(64 * n * EPS)


def matrix(random, h, n, values):
    """A random matrix (h, n) with these singular values."""
    U, V = (np.linalg.qr(random.normal(size=(k, k)))[0][:, :len(values)] for k in (h, n))
    return U * values @ V.T


def with_one(random, count, value):
    """Ordinary singular values, and a last one."""
    return np.array([*random.uniform(0.5, 1.5, count - 1), value])


def units(random, h, n, decades):
    return Scale(10**random.uniform(-decades, decades, h), 10**random.uniform(-decades, decades, n))


@pytest.mark.parametrize(("part", "is_more"), [(1.1, True), (0.9, False)])
def test_numbers_are_zero_below_the_tolerance(part, is_more):
    random = np.random.default_rng(3)
    value = part * tolerance(7)
    A = matrix(random, 4, 7, with_one(random, 4, value))
    assert rank_of(A) == 3 + is_more
    assert null_basis(A).shape == (7, 4 - is_more)
    assert (np.linalg.norm(pseudo_inverse(A), 2) > 1e6) == is_more
    assert least_singular(7) == pytest.approx(tolerance(7), rel=1e-12)
    assert least_singular(7, np.float32) == pytest.approx(np.sqrt(64 * 7 * 2.0**-24), rel=1e-6)
    beside = matrix(random, 4, 7, np.array([1e4, 3e3, 2e3, 1e4 * value]))
    assert relative_rank(beside) == len(row_space(beside)) == 3 + is_more
    exact = matrix(random, 4, 7, np.array([1e4, 3e3, 2e3, 1e4 * part * 64 * 7 * EPS]))
    assert relative_rank(exact, exact=True) == 3 + is_more


@given(n=st.integers(3, 10), data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_texts_switch_beside_the_tolerance_whatever_the_units(n, data, seed):
    h = data.draw(st.integers(1, n - 1))
    decades = data.draw(st.sampled_from([0.0, 3.0]))
    for part in (2.0, 0.4):
        random = np.random.default_rng(seed)
        scale = units(random, h, n, decades)
        A = matrix(random, h, n, with_one(random, h, part * tolerance(n)))
        A *= scale.sizes[:, None] / scale.lengths
        square = Scale(scale.sizes, scale.lengths[:h])
        own = matrix(random, h, h, with_one(random, h, part * tolerance(n)))
        with np.errstate(all="ignore"):
            assert bool(null_space(A, scale=scale).is_full) is (part > 1)
            assert bool(is_regular(own * square.sizes[:, None] / square.lengths, square, n)) is (part > 1)
            if not decades:
                assert bool(rows_are_independent(A, scale)) is (part > 1)


@given(n=st.integers(3, 10), data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_entries_follow_from_chosen_ones_where_the_columns_of_the_others_have_their_rank(n, data, seed):
    m = data.draw(st.integers(1, n - 1))
    free = data.draw(st.integers(0, min(2, n - m - 1)))
    h = n - m - free + data.draw(st.integers(0, 3))
    decades = data.draw(st.sampled_from([0.0, 3.0]))
    for part in (3.0, 0.4):
        random = np.random.default_rng(seed)
        scale = units(random, h, n, decades)
        others = np.sort(random.permutation(n)[m:])
        A = random.normal(size=(h, n))
        A[:, others] = matrix(random, h, n - m, with_one(random, n - m - free, part * tolerance(n)))
        A *= scale.sizes[:, None] / scale.lengths
        with np.errstate(all="ignore"):
            found = others_follow(A, [k for k in range(n) if k not in others], scale, free)
        assert bool(found) is (part > 1)


@pytest.mark.parametrize(("dtype", "eps"), [(np.float64, EPS), (np.float32, 2.0**-24)])
def test_kernels_switch_where_numbers_do_in_the_precision_that_computes(dtype, eps):
    kernel = cy.kernel("(3,5)->()")(lambda A: where(others_follow(A, [0, 2]), 1.0, 0.0))
    random = np.random.default_rng(1)
    A = random.normal(size=(2, 3, 5))
    for each, part in zip(A, (2.0, 0.4), strict=True):
        each[:, [1, 3, 4]] = matrix(random, 3, 3, with_one(random, 3, part * np.sqrt(64 * 5 * eps)))
    np.testing.assert_array_equal(kernel(A.astype(dtype)), [1.0, 0.0])


@pytest.mark.parametrize(("part", "expected"), [(8.0, True), (0.3, False)])
def test_definite_is_what_has_no_eigenvalue_of_rounding(part, expected):
    random = np.random.default_rng(2)
    Q = np.linalg.qr(random.normal(size=(5, 5)))[0]
    for probe in range(20):
        values = np.array([*random.uniform(0.8, 1.2, 4), 0.0])
        M = Q * values @ Q.T
        scaled = M / np.sqrt(np.outer(np.diag(M), np.diag(M)))
        scaled += part * 64 * 5 * EPS * np.eye(5) * (1 + probe / 100)
        assert bool(are_definite(scaled)) is expected
        assert bool(is_definite(scaled)) is expected


@pytest.mark.parametrize("shape", [(3, 4, 2, 5), (3, 4, 5, 2), (2, 3), (0, 2, 3)])
def test_pseudo_inverses_of_batches_are_those_of_numpy(shape):
    A = np.random.default_rng(3).normal(size=shape)
    A[..., -1, :] = A[..., 0, :]  # two rows that are the same
    np.testing.assert_allclose(pseudo_inverse(A), np.linalg.pinv(A, rcond=1e-7), atol=1e-13)


def test_the_tolerance_of_a_pseudo_inverse_is_that_of_its_columns():
    """A row as short as the tolerance of four columns is none among five, in a batch of matrices of two rows, too."""
    A = np.zeros((3, 2, 5))
    A[:, 0, 0], A[:, 1, 1] = 1.0, 8 * np.sqrt(4 * 2.0**-53)
    assert (pseudo_inverse(A)[..., 1] == 0.0).all() and (pseudo_inverse(A[..., :3])[..., 1] != 0.0).any()


@pytest.mark.parametrize(("sizes", "lengths", "is_even"), [
    ([0.1, 0.19], [1.0, 1.0], True), ([0.1, 0.21], [1.0, 1.0], False), ([30.0, 40.0], [1.0, 1.0], True),
    ([1.0, 1.0], [1.0, 1.1], False)])
def test_units_are_even_where_rows_differ_by_less_than_a_factor_of_two(sizes, lengths, is_even):
    assert Scale(np.array(sizes), np.array(lengths)).is_even is is_even
