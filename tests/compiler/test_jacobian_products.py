"""Products with Jacobians, as kernels, beside the Jacobians themselves and complex steps."""

import pickle

import numpy as np
import pytest

import cayley as cy
from cayley.errors import SignatureError


@cy.kernel("(n),(),(n,n)->(n),()", outputs=("bent", "sum"))
def bend(q, k, A):
    return k * np.sin(A @ q), np.exp(-k) * q @ q


@cy.kernel("(2,2),(2)->(2)")
def solved(A, b):
    return np.linalg.solve(A, b)


def arguments(n=3):
    rng = np.random.default_rng(n)
    return rng.normal(size=n), 0.7, rng.normal(size=(n, n))


def complex_step(function, given, tangents, e=1e-30):
    moved = [np.asarray(a) + 1j * e * t for a, t in zip(given, tangents, strict=True)]
    return [np.asarray(r).imag / e for r in function(*moved)]


def test_forward_is_a_complex_step():
    given = arguments()
    rng = np.random.default_rng(0)
    tangents = [rng.normal(size=np.shape(a)) for a in given]
    for found, right in zip(bend.jvp()(*given, *tangents), complex_step(bend.__wrapped__, given, tangents),
                            strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-13)


def test_reverse_is_the_transpose_of_forward():
    given = arguments()
    rng = np.random.default_rng(1)
    tangents = [rng.normal(size=np.shape(a)) for a in given]
    weights = [rng.normal(size=3), rng.normal()]
    along = bend.jvp()(*given, *tangents)
    back = bend.vjp()(*given, *weights)
    left = sum(np.sum(w * a) for w, a in zip(weights, along, strict=True))
    assert left == pytest.approx(sum(np.sum(t * b) for t, b in zip(tangents, back, strict=True)), rel=1e-13)


def test_some_variables_in_batches_and_in_single_precision():
    q, k, A = arguments()
    many = np.stack([q, 2 * q]).astype(np.float32)
    one = np.float32(1.0)
    found = bend.vjp("k")(many, np.float32(k), A.astype(np.float32), np.ones(3, np.float32), one)
    assert found.shape == (2,) and found.dtype == np.float32
    right = [bend.jacobian("k", "bent")(x, k, A).sum() + bend.jacobian("k", "sum")(x, k, A) for x in (q, 2 * q)]
    np.testing.assert_allclose(found, right, rtol=1e-5)


def test_through_equations_that_are_solved():
    """By what they say, not by the way they were solved: with a row that must be exchanged."""
    A = np.array([[0.0, 2.0], [1.0, 1.0]])
    b = np.array([1.0, 3.0])
    w = np.array([1.0, -2.0])
    by_A, by_b = solved.vjp()(A, b, w)
    adjoint = np.linalg.solve(A.T, w)
    np.testing.assert_allclose(by_b, adjoint, rtol=1e-14)
    np.testing.assert_allclose(by_A, -np.outer(adjoint, np.linalg.solve(A, b)), rtol=1e-14)


def test_names_and_pickles():
    assert bend.vjp("q").inputs == ("q", "k", "A", "bent_weight", "sum_weight")
    assert bend.jvp("q", "k").inputs == ("q", "k", "A", "q_dot", "k_dot") and bend.vjp("q") is bend.vjp("q")
    again = pickle.loads(pickle.dumps(bend.vjp("k")))
    given = [*arguments(), np.ones(3), 1.0]
    assert again(*given) == bend.vjp("k")(*given)
    with pytest.raises(SignatureError, match="no input 'p'; it has q, k, A"):
        bend.vjp("p")
    with pytest.raises(SignatureError, match="'q' of bend is named twice"):
        bend.jvp("q", "q")
