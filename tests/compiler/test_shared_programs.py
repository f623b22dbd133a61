"""A program that is used often is compiled once: calls give what the written-out program gives, in every language."""

import pickle

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.c.c_source import c_source
from cayley.compiler.cuda.cuda_source import cuda_source
from cayley.compiler.native.compile import _batch_jobs
from cayley.compiler.solving import columns
from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.tracing import calls
from compiler.parity import check_parity
from programs import needs


@pytest.fixture
def always_called(monkeypatch):
    """Small programs are called as large ones are."""
    monkeypatch.setattr(calls, "SMALLEST_CALLED", 1)
    monkeypatch.setattr(columns, "MANY_PRODUCTS", 1)


def pair(shared):
    """A kernel, and one that calls it four times: with inputs, with results, with zeros and numbers."""
    @cy.kernel("(3),(3)->(3),()", shared=shared)
    def turned(axis, x):
        y = np.cross(axis, x) * np.sin(axis[0]) + x
        return y, y @ axis

    @cy.kernel("(3),(3)->(3),(2,3)")
    def both(a, b):
        y, power = turned(a, b)
        z, other = turned(b, y)
        first, _ = turned(np.stack([power, 0.0 * power, 1.0 + 0.0 * power]), z)
        second, _ = turned(np.stack([other - power, 0.0 * power, 1.0 + 0.0 * power]), y)
        return first - second, np.stack([z, second])

    return turned, both


def called(program):
    return [node.value for node in program.nodes if node.op == "call"]


def test_every_language_gives_the_same(always_called):
    _, both = pair(True)
    assert len(called(both.program())) == 4 and len({callee.key for callee in called(both.program())}) == 2
    random = np.random.default_rng(3)
    check_parity(both, *random.uniform(-0.9, 0.9, (2, 3, 3)), everywhere=True)


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-13), (np.float32, 1e-5)])
def test_batches_of_any_length(always_called, dtype, tolerance):
    _, both = pair(True)
    _, written = pair(False)
    a, b = np.random.default_rng(4).uniform(-0.9, 0.9, (2, 1000, 3)).astype(dtype)
    for count in (0, 1, 7, 1000):
        for found, want in zip(both(a[:count], b[:count]), written(a[:count], b[:count]), strict=True):
            assert found.dtype == dtype and found.shape == want.shape
            np.testing.assert_allclose(found, want, rtol=tolerance, atol=tolerance)
    if dtype == np.float64:
        assert all((one == many[5]).all() for one, many in zip(both(a[5], b[5]), both(a, b), strict=True))


@needs("g++")
@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-13), (np.float32, 1e-5)])
def test_a_thread_of_a_gpu_calls(always_called, cupy, dtype, tolerance):
    _, both = pair(True)
    a, b = np.random.default_rng(9).uniform(-0.9, 0.9, (2, 7, 3)).astype(dtype)
    for found, want in zip(both.on("cuda")(a, b), both(a, b), strict=True):
        np.testing.assert_allclose(found, want, rtol=tolerance, atol=tolerance)
    mask, values = sparse(np.random.default_rng(10), 4)
    kernel = product_and_solution(mask)
    a, b = values[:2, None].astype(dtype)
    for found, want in zip(kernel.on("cuda")(a, b), kernel(a, b), strict=True):
        np.testing.assert_allclose(found, want, rtol=tolerance, atol=tolerance)


def test_it_is_compiled_and_counted_once_for_each_set_of_zeros(always_called):
    turned, both = pair(True)
    source = c_source(both.program()).source
    assert source.count("static void both_") == 2 and source.count("both_") - source.count("both_out") >= 6
    assert cuda_source(both.program()).count("static __device__ void both_") == 2
    jobs = _batch_jobs(both.program(), "double")
    cores = [name for job in jobs for name in job().functions if name.startswith("core")]
    assert len(cores) == 3 and len(set(cores)) == 3
    full = turned.operations()
    _, written = pair(False)
    assert both.operations().multiplications >= 2 * full.multiplications
    assert both.operations().trigonometric == 4
    assert both.operations().total >= written.operations().total


def test_what_is_small_or_called_once_or_rounded_as_written_is_written_out(monkeypatch):
    _, both = pair(True)
    assert not called(both.program())
    _, written = pair(False)
    assert both.program().key == written.program().key
    monkeypatch.setattr(calls, "SMALLEST_CALLED", 1)

    @cy.kernel("()->()", shared=True)
    def cubic(x):
        return x * x * x + 0.1 * x

    once = cy.kernel("()->()")(lambda x: cubic(x + 1.0))
    assert not called(once.program())
    seen = cy.kernel("(),()->()")(lambda x, y: np.floor(cubic(x)) + np.floor(cubic(y)))
    assert not called(seen.program())
    strict = cy.kernel("(),()->()", strict=True)(lambda x, y: cubic(x) + cubic(y))
    assert not called(strict.program()) and strict(1.0, 2.0) == (1.0 + 0.1) + (8.0 + 0.2)
    twice = cy.kernel("(),()->()")(lambda x, y: cubic(x) + cubic(y))
    assert len(called(twice.program())) == 2 and twice(1.0, 2.0) == pytest.approx(9.3, rel=1e-15)


def test_calls_within_calls_and_conditions_as_arguments(always_called):
    @cy.kernel("(),()->()", shared=True)
    def inner(x, is_high):
        return x * np.exp(-x) + 2.0 * is_high

    @cy.kernel("(2)->()", shared=True)
    def outer(x):
        return inner(x[0], x[0] > x[1]) * inner(x[1], x[0] * x[1])

    @cy.kernel("(2),(2)->()")
    def whole(x, y):
        return outer(x) - outer(y) + outer(x + y)

    assert len(called(whole.program())) == 3
    random = np.random.default_rng(5)
    check_parity(whole, *random.uniform(-0.9, 0.9, (2, 3, 2)), everywhere=True)
    again = pickle.loads(pickle.dumps(whole.program()))
    assert again.key == whole.program().key and len(called(again)) == 3


def test_derivatives_of_calls_are_calls(always_called):
    _, both = pair(True)
    program = both.jacobian("a", 1).program()
    assert called(program)
    assert max(len(callee.program.nodes) for callee in called(program)) < 80
    second = both.jacobian("a", 1).jacobian("b")
    a, b = np.random.default_rng(6).uniform(-0.9, 0.9, (2, 3))
    step = 1e-6
    slopes = np.stack([(both.jacobian("a", 1)(a, b + e) - both.jacobian("a", 1)(a, b - e)) / (2.0 * step)
                       for e in step * np.eye(3)], axis=-1)
    np.testing.assert_allclose(second(a, b), slopes, rtol=0, atol=1e-8)


def test_a_branch_not_taken_does_not_leak_through_a_call(always_called):
    @cy.kernel("()->(2)", shared=True)
    def roots(x):
        return np.stack([np.sqrt(x), np.log(x) * np.sqrt(x)])

    @cy.kernel("(2)->()")
    def guarded(x):
        first = roots(x[0])
        second = roots(x[1])
        return cy.where(x[0] > 0.0, first[0] + first[1], x[0]) + cy.where(x[1] > 0.0, second[0] * second[1], 0.0)

    assert len(called(guarded.program())) == 2
    np.testing.assert_array_equal(guarded.jacobian("x")(np.array([[-1.0, -2.0]])), [[1.0, 0.0]])
    x = np.array([0.4, 0.7])
    slope = 1.0 / (2.0 * np.sqrt(0.4)) + (np.log(0.4) / 2.0 + 1.0) / np.sqrt(0.4)
    np.testing.assert_allclose(guarded.jacobian("x")(x), [slope, np.log(0.7) + 1.0], rtol=1e-14)


def test_a_step_may_call(always_called):
    @cy.kernel("(2),()->(2)", shared=True)
    def rate(x, damping):
        return np.stack([x[1], -np.sin(x[0]) - damping * x[1]])

    def heun(x, damping):
        first = rate(x, damping)
        return x + 0.005 * (first + rate(x + 0.01 * first, damping))

    def written(x, damping):
        def slopes(x):
            return np.stack([x[1], -np.sin(x[0]) - damping * x[1]])
        return x + 0.005 * (slopes(x) + slopes(x + 0.01 * slopes(x)))

    step = cy.kernel("(2),()->(2)")(heun)
    assert len(called(step.program())) == 2
    x = np.array([[0.3, 0.1], [1.2, -0.4], [-2.0, 0.0]])
    np.testing.assert_allclose(step(x, 0.2), np.stack([written(state, 0.2) for state in x]), rtol=1e-14)


# Large products and solves

def sparse(random, n):
    """A symmetric positive definite matrix with two branches that meet in its first rows, and an (n, n) beside it."""
    mask = np.ones((n, n))
    mask[2:2 + (n - 2) // 2, 2 + (n - 2) // 2:] = 0.0
    mask = np.minimum(mask, mask.T)
    return mask, random.uniform(-1.0, 1.0, (4, n, n))


def product_and_solution(mask):
    n = len(mask)

    @cy.kernel(f"({n},{n}),({n},{n})->({n},{n}),({n},{n}),({n},{n})")
    def text(a, b):
        A = np.where(mask != 0, a, 0.0)
        M = np.where(mask != 0, a + a.T, 0.0) + 4.0 * n * np.eye(n)
        B = np.where(mask != 0, b, 0.0)
        found = ldl_solve(M[::-1, ::-1], np.concatenate([B, np.eye(n)], axis=1)[::-1])[::-1]
        return A @ B, found[:, :n], found[:, n:]

    return text


def test_products_and_solves_by_columns_in_every_language(always_called):
    mask, (a, b, *_) = sparse(np.random.default_rng(7), 4)
    kernel = product_and_solution(mask)
    assert {callee.program.name for callee in called(kernel.program())} == {"multiplied", "substituted"}
    check_parity(kernel, a[None], b[None], everywhere=True)


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-14), (np.float32, 1e-5)])
def test_large_products_and_solves(dtype, tolerance):
    n = 30
    mask, values = sparse(np.random.default_rng(8), n)
    kernel = product_and_solution(mask)
    assert len(called(kernel.program())) == 3 * n and len({c.key for c in called(kernel.program())}) == 6
    a, b = values[:2, None].astype(dtype) * np.linspace(0.5, 1.0, 9, dtype=dtype)[:, None, None]
    product, solution, inverse = kernel(a, b)
    A, M, B = (a * mask), (a + np.swapaxes(a, 1, 2)) * mask + 4.0 * n * np.eye(n), b * mask
    np.testing.assert_allclose(product, A @ B, rtol=0, atol=n * tolerance)
    np.testing.assert_allclose(solution, np.linalg.solve(M.astype(float), B), rtol=0, atol=tolerance)
    np.testing.assert_allclose(inverse, np.linalg.inv(M.astype(float)), rtol=0, atol=tolerance)
    if dtype == np.float64:
        assert (kernel(a[4], b[4])[1] == solution[4]).all()


def test_a_product_that_is_simpler_than_its_columns_is_written_out():
    symmetric = cy.kernel("(24,24)->(24,24)")(lambda a: a @ a.T)
    assert not called(symmetric.program()) and symmetric.operations().multiplications == 24 * 24 * 25 // 2
    scaled = cy.kernel("(24,24)->(24,24)")(lambda a: np.diag(np.arange(24.0)) @ a)
    assert not called(scaled.program()) and scaled.operations().multiplications == 22 * 24
