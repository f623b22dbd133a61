"""Quasidefinite systems, eliminated in the order of fewest neighbours, beside NumPy."""

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.solving.saddle import fewest_neighbours_first, saddle


def star(legs, random):
    """A body of 6 with legs of 3, each tied to it by three rows: M (n, n) and A (h, n), with zeros elsewhere."""
    n = 6 + 3 * legs
    M = np.zeros((n, n))
    A = np.zeros((3 * legs, n))
    for place in [slice(0, 6), *[slice(6 + 3 * k, 9 + 3 * k) for k in range(legs)]]:
        size = place.stop - place.start
        spread = random.normal(size=(size, size))
        M[place, place] = spread @ spread.T + np.eye(size)
    for k in range(legs):
        A[3 * k:3 * k + 3, :6] = random.normal(size=(3, 6))
        A[3 * k:3 * k + 3, 6 + 3 * k:9 + 3 * k] = random.normal(size=(3, 3))
    return M, A


def solved(M, A, f, r):
    h = len(A)
    return np.linalg.solve(np.block([[M, A.T], [A, np.zeros((h, h))]]), np.concatenate([f, r]))[:len(M)]


@pytest.mark.parametrize("is_singular", [False, True], ids=["regular legs", "a leg that is stretched"])
def test_motions_under_constraints_are_those_of_the_whole_system(is_singular):
    random = np.random.default_rng(7)
    M, A = star(5, random)
    if is_singular:
        A[2, 6:9] = A[0, 6:9] + A[1, 6:9]  # what eliminates this leg by itself divides by nothing
    f, r = random.normal(size=len(M)), random.normal(size=len(A))
    found = saddle(M, A, [1e-7] * len(A)).solve_undamped(f, r)
    np.testing.assert_allclose(found, solved(M, A, f, r), rtol=1e-8, atol=1e-8 if is_singular else 1e-11)


def test_the_least_change_is_that_of_the_pseudo_inverse():
    random = np.random.default_rng(8)
    _, A = star(4, random)
    r = random.normal(size=len(A))
    found = saddle(np.eye(A.shape[1]), A, [1e-10] * len(A)).least_change(r)
    np.testing.assert_allclose(found, np.linalg.pinv(A) @ r, rtol=1e-6, atol=1e-8)


def test_rows_that_say_the_same_share_what_they_ask_for():
    A = np.array([[1.0, 0.0, 2.0], [1.0, 0.0, 2.0]])
    found = saddle(np.eye(3), A, [1e-8, 1e-8]).least_change([5.0, 5.0])
    np.testing.assert_allclose(found, [1.0, 0.0, 2.0], rtol=1e-7)


def test_few_entries_stay_few():
    random = np.random.default_rng(9)
    _, A = star(6, random)
    places = np.argwhere(A)

    @cy.kernel(f"({len(places)}),({len(A)})->({A.shape[1]})")
    def sparse(entries, r):
        held = np.zeros(A.shape, dtype=object)
        for (i, j), entry in zip(places, entries, strict=True):
            held[i, j] = entry
        return saddle(np.eye(A.shape[1]), held, [1e-9] * len(A)).least_change(r)

    entries, r = A[tuple(places.T)], random.normal(size=len(A))
    np.testing.assert_allclose(sparse(entries, r), np.linalg.pinv(A) @ r, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(sparse(entries.astype("float32"), r.astype("float32")), np.linalg.pinv(A) @ r, rtol=1e-2,
                               atol=1e-3)
    assert sparse.operations().multiplications < 1600  # 2300 by A A^T


def test_the_order_takes_leaves_first():
    chain = [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3]]
    assert fewest_neighbours_first(chain) == [0, 1, 2, 3]
    assert fewest_neighbours_first([]) == []
