"""Linear equations inside kernels: NumPy's results with every order of pivots, derivatives, and no work for zeros."""

from functools import partial
from itertools import permutations

import mpmath
import numpy as np
import pytest

import cayley as cy
from cayley.compiler.derivatives import derivative
from cayley.compiler.solving.linear import block_order, cholesky, determinant, eliminated, ldl_solve, parity, solve_rows
from cayley.errors import SingularityError, TraceError
from compiler.parity import check_parity

RANDOM = np.random.default_rng(5)
SIZES = range(1, 9)


def kernel(signature, function):
    return cy.kernel(signature, name="law")(function)


def matrices(n, count=60, scale=1.0):
    """Random ones, permutations, some with a zero as the first pivot, some with rows of very different size."""
    kept = RANDOM.normal(size=(count, n, n)) + np.eye(n)
    kept[::4] = [np.eye(n)[RANDOM.permutation(n)] for _ in kept[::4]]
    if n > 1:
        kept[1::4, 0, 0] = 0.0
        kept[2::4] *= 10.0 ** RANDOM.integers(-12, 12, size=(len(kept[2::4]), n, 1))
    return scale * kept


def assert_solves(A, x, b):
    """As small a residual as the elimination of LAPACK leaves, some roundings more or less."""
    size = np.abs(A).sum(-1) * np.abs(x).max(-1)[..., None] + np.abs(b)
    assert (np.abs(np.einsum("...ij,...j->...i", A, x) - b) <= 1e-14 * size).all()


solved = kernel("(n,n),(n)->(n)", lambda A, b: np.linalg.solve(A, b))


@pytest.mark.parametrize("n", SIZES)
def test_solve_pivots_as_numpy_does(n):
    A, b = matrices(n), RANDOM.normal(size=(60, n))
    expected = np.linalg.solve(A, b[..., None])[..., 0]
    condition = np.linalg.cond(A, np.inf)[:, None]
    assert_solves(A, solved(A, b), b)
    error = np.abs(solved(A, b) - expected) / np.abs(expected).max(-1, keepdims=True)
    assert (error <= 1e-15 * n * condition).all()
    permuted = np.array([np.eye(n)[RANDOM.permutation(n)] for _ in range(60)])
    np.testing.assert_array_equal(solved(permuted, b), np.linalg.solve(permuted, b[..., None])[..., 0])


def test_pivots_keep_the_digits_that_elimination_in_order_loses():
    A, b = np.array([[1e-20, 1.0], [1.0, 1.0]]), np.array([1.0, 2.0])
    np.testing.assert_allclose(solved(A, b), [1.0, 1.0], rtol=1e-15)


def test_a_singular_state_spoils_no_other():
    A, b = matrices(4), RANDOM.normal(size=(60, 4))
    alone = solved(A, b)
    A[7] = 0.0
    A[8, 1] = A[8, 0]
    A[9] = np.nan
    found = solved(A, b)
    assert not np.isfinite(found[7:10]).any(axis=1).all() and not np.isfinite(found[[7, 9]]).any()
    np.testing.assert_array_equal(np.delete(found, [7, 8, 9], 0), np.delete(alone, [7, 8, 9], 0))
    np.testing.assert_array_equal(found[3], solved(A[3], b[3]))


STACKED = {
    "solve of a vector": (lambda A, B: np.linalg.solve(A, B[0, :, 0]), "A,B->(k,n)"),
    "solve of matrices": (lambda A, B: np.linalg.solve(A, B), "A,B->(k,n,m)"),
    "solve, broadcast": (lambda A, B: np.linalg.solve(A[0], B), "A,B->(k,n,m)"),
    "numbers by symbols": (lambda A, B: np.linalg.solve([[0.0, 2, 1], [1, 1, 0], [3, 0, 0]], B), "A,B->(k,n,m)"),
    "inv": (lambda A, B: np.linalg.inv(A), "A,B->(k,n,n)"),
    "det": (lambda A, B: np.linalg.det(A), "A,B->(k)"),
    "slogdet": (lambda A, B: np.stack(np.linalg.slogdet(A)), "A,B->(2,k)"),
    "cholesky": (lambda A, B: np.linalg.cholesky(A @ np.swapaxes(A, 1, 2)), "A,B->(k,n,n)"),
    "cholesky of the upper": (lambda A, B: np.linalg.cholesky(A @ np.swapaxes(A, 1, 2), upper=True), "A,B->(k,n,n)"),
    "pinv": (lambda A, B: np.linalg.pinv(B), "A,B->(k,m,n)"),
    "pinv of a symmetric": (lambda A, B: np.linalg.pinv(A + np.swapaxes(A, 1, 2), hermitian=True), "A,B->(k,n,n)"),
    "lstsq": (lambda A, B: np.linalg.lstsq(B[0], A[0])[0], "A,B->(m,n)"),
    "lstsq of a vector": (lambda A, B: np.linalg.lstsq(B[0], A[0, 0])[0], "A,B->(m)"),
    "residuals": (lambda A, B: np.linalg.lstsq(B[0], A[0])[1], "A,B->(n)"),
    "residual": (lambda A, B: np.linalg.lstsq(B[0], A[0, 0])[1], "A,B->(1)"),
    "rank": (lambda A, B: np.linalg.lstsq(B[0], A[0])[2], "A,B->()"),
    **{f"power {p}": (lambda A, B, p=p: np.linalg.matrix_power(A, p), "A,B->(k,n,n)") for p in (-3, -1, 0, 1, 2, 5)},
}


@pytest.mark.parametrize("case", STACKED)
def test_stacks_of_matrices_in_every_back_end(case):
    function, signature = STACKED[case]
    signature = signature.replace("A,B", "(k,n,n),(k,n,m)")
    few = case in ("solve of matrices", "slogdet", "pinv")  # the others are made of the same pieces
    A, B = RANDOM.normal(size=(3, 2, 3, 3)) + 2.0 * np.eye(3), RANDOM.normal(size=(3, 2, 3, 2))
    made = kernel(signature, function)
    if few:
        check_parity(made, A, B, tolerance=1e-12, single=1e-3, jacobians=case == "solve of matrices",
                     everywhere=True)
    expected = np.stack([made.reference(a, b) for a, b in zip(A, B, strict=True)])
    np.testing.assert_allclose(made.evaluate(cy.NUMPY, A, B), expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("n", SIZES)
def test_determinants_and_inverses_of_every_size(n):
    A = matrices(n, 20, scale=0.7)
    found = kernel("(n,n)->(n,n),(),(),()", lambda A: (np.linalg.inv(A), np.linalg.det(A), *np.linalg.slogdet(A)))(A)
    sign, logarithm = np.linalg.slogdet(A)
    size = np.prod(np.linalg.norm(A, axis=-1), axis=-1)
    np.testing.assert_allclose(found[1] / size, np.linalg.det(A) / size, rtol=0, atol=1e-14 * n)
    np.testing.assert_array_equal(found[2], sign)
    np.testing.assert_allclose(found[3], logarithm, rtol=1e-11, atol=1e-11)
    assert (np.abs(found[0] @ A - np.eye(n)).max((1, 2)) <= 1e-14 * n * np.linalg.cond(A)).all()


def test_the_determinant_of_a_singular_matrix_is_zero():
    A = np.add.outer(np.arange(6.0), np.arange(6.0))
    assert abs(kernel("(6,6)->()", lambda A: np.linalg.det(A))(A)) <= 1e-12
    assert kernel("(2)->()", lambda x: np.linalg.det(np.outer(np.ones(6), np.zeros(6)) * x[0]))([1.0, 2.0]) == 0.0
    logarithm = kernel("(3)->(2)", lambda x: np.stack(np.linalg.slogdet(np.stack([x, 0.0 * x, x]))))
    np.testing.assert_array_equal(logarithm([1.0, 2.0, 3.0]), [0.0, -np.inf])


# Zeros

def operations(signature, function):
    return kernel(signature, function).operations()


def lower(x, n):
    """A lower triangular matrix of symbols."""
    made = np.zeros((n, n), dtype=object)
    made[np.tril_indices(n)] = x
    return made


def test_triangular_matrices_are_solved_by_substitution_whatever_the_order_of_their_rows():
    order, columns = [2, 0, 3, 1], [1, 3, 0, 2]
    for turned in (lambda L: L, lambda L: L.T, lambda L: L[order], lambda L: L[:, order].T,
                   lambda L: L[order][:, columns]):
        found = operations("(10),(4)->(4)", lambda x, b, turned=turned: np.linalg.solve(turned(lower(x, 4)), b))
        assert (found.multiplications, found.additions, found.divisions, found.selections) == (6, 6, 4, 0)
    x, b = RANDOM.normal(size=(5, 10)), RANDOM.normal(size=(5, 4))
    found = kernel("(10),(4)->(4)", lambda x, b: np.linalg.solve(lower(x, 4)[order][:, columns], b))(x, b)
    expected = [np.linalg.solve(lower(a, 4).astype(float)[order][:, columns], c) for a, c in zip(x, b, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_blocks_are_solved_apart():
    def separate(A, B, b):
        return np.concatenate([np.linalg.solve(A, b[:3]), np.linalg.solve(B, b[3:])])

    def together(A, B, b):
        whole = np.block([[A, np.zeros((3, 2))], [np.zeros((2, 3)), B]])
        order = [3, 0, 4, 2, 1]
        return np.linalg.solve(whole[order], b[order])

    signature = "(3,3),(2,2),(5)->(5)"
    assert operations(signature, together).multiplications == operations(signature, separate).multiplications
    assert operations(signature, together).divisions == operations(signature, separate).divisions


def test_a_diagonal_matrix_costs_its_divisions():
    assert str(operations("(6),(6)->(6)", lambda d, b: np.linalg.solve(np.diag(d), b))) == "6 divisions"
    assert str(operations("(6)->()", lambda d: np.linalg.det(np.diag(d)))) == "5 multiplications"


def test_structurally_singular_matrices_are_refused_by_name():
    for zeros in (lambda x: np.stack([x, 0.0 * x, x]), lambda x: np.diag(x)[:, [0, 0, 1]]):
        with pytest.raises(TraceError, match="singular whatever the values"):
            kernel("(3)->(3)", lambda x, zeros=zeros: np.linalg.solve(zeros(x), x))([1.0, 2.0, 3.0])


def test_block_orders():
    for n in range(1, 7):
        for _ in range(30):
            dense = RANDOM.random((n, n)) < 0.4
            found = block_order([list(np.flatnonzero(row)) for row in dense])
            assert (found is not None) == (perfect_matching(dense))
            if found:
                rows, columns = found
                assert sorted(rows) == sorted(columns) == list(range(n)) and dense[rows, columns].all()
    assert [parity(p) for p in ([], [0, 1], [1, 0], [1, 2, 0], [3, 2, 1, 0])] == [1, 1, -1, 1, 1]


def perfect_matching(dense):
    return any(dense[range(len(dense)), list(p)].all() for p in permutations(range(len(dense))))


# Other scalars

def test_texts_work_in_fifty_digits():
    with mpmath.workdps(50):
        A = [[mpmath.mpf(entry) for entry in row] for row in ((0, 2, 1), (1, mpmath.mpf(1) / 3, 0), (3, 1, 5))]
        x = eliminated(A).solve([1, 2, 3])
        assert mpmath.norm(mpmath.matrix(A) * mpmath.matrix(x) - mpmath.matrix([1, 2, 3])) < 1e-45
        assert abs(determinant(A) - mpmath.det(mpmath.matrix(A))) < 1e-45
    M = np.array([[4.0, 2.0, 0.0], [2.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
    np.testing.assert_allclose(np.array(cholesky(M), dtype=float), np.linalg.cholesky(M), rtol=1e-15)
    np.testing.assert_allclose(ldl_solve(M, np.eye(3)), np.linalg.inv(M), rtol=1e-14)


def test_rows_in_order_need_every_pivot():
    with pytest.raises(SingularityError, match="nothing determines third"):
        solve_rows([{0: 1.0}, {1: 1.0}, {0: 2.0}], [1.0, 2.0, 3.0], named=lambda k: ("first", "second", "third")[k])


# Derivatives

def test_derivatives_of_a_solution_are_those_of_its_equations():
    n = 3
    A, b = matrices(n, 8), RANDOM.normal(size=(8, n))
    A[::4] = RANDOM.normal(size=(2, n, n))
    inverse, x = np.linalg.inv(A), np.linalg.solve(A, b[..., None])[..., 0]
    np.testing.assert_allclose(solved.jacobian("b")(A, b), inverse, rtol=1e-9, atol=1e-12)
    by_A = solved.jacobian("A")
    expected = -np.einsum("zij,zk->zijk", inverse, x)
    np.testing.assert_allclose(by_A(A, b) / np.abs(expected).max((1, 2, 3), keepdims=True),
                               expected / np.abs(expected).max((1, 2, 3), keepdims=True), rtol=0, atol=1e-8)
    A = RANDOM.normal(size=(n, n))
    inverse, x = np.linalg.inv(A), np.linalg.solve(A, b[0])
    twice = np.einsum("il,mj,k->ijklm", inverse, inverse, x) + np.einsum("ij,kl,m->ijklm", inverse, inverse, x)
    np.testing.assert_allclose(by_A.jacobian("A")(A, b[0]), twice, rtol=0, atol=1e-12 * np.abs(twice).max())


def test_forward_and_backward_through_a_solution():
    """d(w x) along (D, d) is w A^-1 (d - D x), whichever way it is computed; so is what is differentiated again."""
    def directional(A, b, D, d, w):
        x = np.linalg.solve(A, b)
        places, along = [*A.flat, *b.flat], [*D.flat, *d.flat]
        ahead = np.stack(derivative.forward(list(x), places, along)) @ w
        back = sum(slope * t for slope, t in zip(derivative.reverse(list(x), places, list(w)), along, strict=True))
        again = derivative.reverse([ahead], list(A.flat), [1.0])
        return np.stack([ahead, back, sum(slope * t for slope, t in zip(again, D.flat, strict=True))])

    made = kernel("(3,3),(3),(3,3),(3),(3)->(3)", directional)
    A, D, (b, d, w) = matrices(3, 8), RANDOM.normal(size=(3, 3)), RANDOM.normal(size=(3, 3))
    for a in A:
        x = np.linalg.solve(a, b)
        change = np.linalg.solve(a, d - D @ x)
        twice = -2.0 * np.linalg.solve(a, D @ change) + np.linalg.solve(a, D @ np.linalg.solve(a, d))
        expected = np.array([w @ change, w @ change, w @ twice])
        np.testing.assert_allclose(made(a, b, D, d, w), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_a_derivative_shares_the_elimination_and_takes_one_substitution_more():
    n = 6
    once = solved.operations(n=n)
    push = kernel("(n,n),(n,n),(n)->(n)", lambda A, D, b: np.linalg.solve(A, D @ np.linalg.solve(A, b))).operations(n=n)
    line = kernel("(n,n),(n,n),(n),()->(n)", lambda A, D, b, t: np.linalg.solve(A + t * D, b))
    along = line.jacobian("t").operations(n=n)
    assert once.divisions == push.divisions == along.divisions == n
    assert along.multiplications <= push.multiplications + n * n


DIFFERENTIATED = {
    "solve": lambda A: np.linalg.solve(A, A[0]), "inv": lambda A: np.linalg.inv(A)[1],
    "cholesky": lambda A: np.linalg.cholesky(A @ A.T)[2], "slogdet": lambda A: np.linalg.slogdet(A)[1] * A[0],
    "det": lambda A: np.linalg.det(np.block([[A, A @ A], [A @ A.T, A.T]])) * A[0],
    "pinv": lambda A: np.linalg.pinv(A[:, :2])[1], "pinv of a wide": lambda A: np.linalg.pinv(A[:2])[:, 1],
    "full rank": lambda A: np.linalg.pinv(A[:, :2], rcond=0)[1],
    "full rank of a wide": lambda A: np.linalg.pinv(A[:2], rcond=0)[:, 1],
    "rank one": lambda A: np.linalg.pinv(np.outer(A[0], A[1]))[1],
    "lstsq": lambda A: np.linalg.lstsq(A[:, :2], A[2])[0][0] * A[1],
    "power": lambda A: np.linalg.matrix_power(A, -2)[2],
}


@pytest.mark.parametrize("case", DIFFERENTIATED)
def test_derivatives_against_differences_of_numpy(case):
    """First derivatives in a direction, and second derivatives, by central differences of NumPy's own function."""
    function = DIFFERENTIATED[case]
    A, D = RANDOM.normal(size=(3, 3)) + 2.0 * np.diag([1.0, -1.0, 1.0])[[1, 0, 2]], RANDOM.normal(size=(3, 3))
    line = kernel("(3,3),(3,3),()->(3)", lambda A, D, t: function(A + t * D))
    first = line.jacobian("t")
    along = partial(first.evaluate, cy.NUMPY, A, D)

    def differences(f, h):
        return (8.0 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12.0 * h)

    expected = differences(lambda h: function(A + h * D), 1e-3)
    np.testing.assert_allclose(along(0.0), expected, rtol=0, atol=1e-8 * (1.0 + np.abs(expected).max()))
    expected = differences(along, 1e-3)
    second = first.jacobian("t").evaluate(cy.NUMPY, A, D, 0.0)
    np.testing.assert_allclose(second, expected, rtol=0, atol=1e-7 * (1.0 + np.abs(expected).max()))


# Least squares

pseudo_inverse = kernel("(m,n)->(n,m)", lambda A: np.linalg.pinv(A))


@pytest.mark.parametrize("m, n", [(1, 1), (1, 4), (4, 1), (3, 3), (5, 3), (3, 5), (6, 7)])
def test_pseudo_inverses_of_every_rank(m, n):
    for rank in range(min(m, n) + 1):
        A = RANDOM.normal(size=(25, m, rank)) @ RANDOM.normal(size=(25, rank, n))
        expected = np.linalg.pinv(A)
        size = np.abs(expected).max((1, 2), keepdims=True) + (rank == 0)
        condition = size * np.linalg.norm(A, axis=(1, 2), keepdims=True)
        assert (np.abs(pseudo_inverse(A) - expected) <= 2e-15 * n * size * (1.0 + condition)).all()


def test_a_rank_that_falls_is_decided_for_each_state():
    A = RANDOM.normal(size=(3, 4, 3))
    A[1, :, 2] = A[1, :, 0] - A[1, :, 1]
    least = kernel("(m,n),(m)->(n),(k),()", lambda A, b: np.linalg.lstsq(A, b)[:3])
    b = RANDOM.normal(size=4)
    for a in A:
        x, residuals, rank, _ = np.linalg.lstsq(a, b)
        found = least(a, b)
        np.testing.assert_allclose(found[0], x, rtol=1e-12, atol=1e-13)
        assert found[2] == rank
        if residuals.size:
            np.testing.assert_allclose(found[1], residuals, rtol=1e-11)
        else:
            assert np.isnan(found[1])
    np.testing.assert_array_equal(least(A, b)[2], [3, 2, 3])


def test_what_is_left_has_the_shape_that_numpy_gives_it():
    for m, n in ((4, 2), (3, 3), (2, 4)):
        A, b = RANDOM.normal(size=(m, n)), RANDOM.normal(size=(m, 2))
        for right in (b, b[:, 0]):
            x, residuals, rank, _ = np.linalg.lstsq(A, right)
            tail = ",2" if right.ndim == 2 else ""
            signature = f"(m,n),(m{tail})->(n{tail}),({len(residuals)}),()"
            found = kernel(signature, lambda A, b: np.linalg.lstsq(A, b)[:3]).evaluate(cy.NUMPY, A, right)
            np.testing.assert_allclose(found[0], x, rtol=1e-12, atol=1e-13)
            np.testing.assert_allclose(found[1], residuals, rtol=1e-10, atol=1e-13)
            assert found[2] == rank


def test_numbers_need_no_selection():
    A = RANDOM.normal(size=(4, 3))
    A[:, 2] = A[:, 0]
    made = kernel("(4)->(3)", lambda b: np.linalg.lstsq(A, b)[0])
    b = RANDOM.normal(size=4)
    np.testing.assert_allclose(made(b), np.linalg.lstsq(A, b)[0], rtol=1e-13, atol=1e-14)
    assert made.operations().selections == made.operations().divisions == 0


def test_full_rank_can_be_promised_and_costs_less():
    promised = kernel("(m,n)->(n,m)", lambda A: np.linalg.pinv(A, rcond=0))
    for shape in ((6, 3), (3, 6), (5, 5)):
        A = RANDOM.normal(size=(20, *shape))
        np.testing.assert_allclose(promised(A), np.linalg.pinv(A), rtol=0, atol=1e-11 * np.abs(np.linalg.pinv(A)).max())
    assert promised.operations(m=6, n=6).total < 0.6 * pseudo_inverse.operations(m=6, n=6).total
    assert promised.operations(m=3, n=6).selections == 6  # the signs of three reflections
    assert not np.isfinite(promised(np.ones((3, 2)))).all()


def test_solving_in_single_precision():
    A, b = RANDOM.normal(size=(30, 5, 5)).astype(np.float32), RANDOM.normal(size=(30, 5)).astype(np.float32)
    found = solved(A, b)
    assert found.dtype == np.float32
    expected = np.linalg.solve(A.astype(float), b.astype(float)[..., None])[..., 0]
    assert (np.abs(found - expected).max(1) <= 5e-6 * np.linalg.cond(A) * np.abs(expected).max(1)).all()
