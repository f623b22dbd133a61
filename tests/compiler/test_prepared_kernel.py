"""What depends on some inputs alone is computed once for each of their values; texts decide by samples of inputs."""

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.kernel import kernel
from cayley.compiler.prepared_kernel import PreparedKernel, hoisted
from cayley.compiler.tracing.graph import Graph
from cayley.compiler.tracing.inline import with_own_variables
from cayley.compiler.tracing.nominal_values import (
    in_general_position,
    is_present,
    is_symbolic,
    nominal,
    samples,
    suppose,
)
from cayley.compiler.tracing.symbols import input_symbols
from cayley.errors import SignatureError, TraceError


@kernel("(3),(2)->(3)", kind=PreparedKernel)
def waves(x, p):
    return np.sin(x) * np.sqrt(p[0] * p[1]) + np.cos(p[0]) + np.where(p[1] > 1.0, x, 0.0)


def expected(x, p):
    return (np.sin(x) * np.sqrt(p[..., :1] * p[..., 1:]) + np.cos(p[..., :1]) + np.where(p[..., 1:] > 1.0, x, 0.0))


@pytest.mark.parametrize(("states", "sets"), [((), ()), ((9,), ()), ((9,), (1,)), ((9,), (9,)), ((), (9,)),
                                              ((2, 9), (9,)), ((2, 9), (2, 1)), ((1, 9), (2, 1)), ((0,), ())])
def test_any_batches(states, sets):
    rng = np.random.default_rng(1)
    x, p = rng.normal(size=(*states, 3)), rng.uniform(0.5, 1.5, size=(*sets, 2))
    found = waves(x, p)
    assert found.shape == expected(x, p).shape
    np.testing.assert_allclose(found, expected(x, p), rtol=1e-14, atol=1e-15)


def test_a_batch_that_is_not_a_whole_number_of_blocks_and_an_input_that_is_the_same_for_all():
    """The loop keeps what comes first and is the same for all states, and must gather what lies behind others."""
    rng = np.random.default_rng(2)
    n = 7

    @kernel("(55),(7),(5),(7)->(7)")
    def long(a, x, c, y):  # too long to be part of its loop
        for k in range(60):
            x = x * np.cos(y) + a[k % 55] * y + c[k % 5]
        return x

    for count in (1, 4, 5, 8, 37):
        a, c = rng.normal(size=55), rng.normal(size=5)
        x, y = rng.normal(size=(2, count, n)) / 10
        wanted = np.stack([long.reference(a, x[k], c, y[k]) for k in range(count)])
        every = [np.broadcast_to(v, (count, len(v))).copy() for v in (a, c)]
        for first, third in ((a, c), (every[0], c), (a, every[1]), (a[None], c[None])):
            np.testing.assert_allclose(long(first, x, third, y), wanted, rtol=1e-12, atol=1e-12)


def test_the_rest_has_nothing_left_of_the_preparation():
    assert waves.preparation.operations().square_roots == 1
    assert waves.prepared.operations().square_roots == 0
    assert waves.prepared.operations().trigonometric == 3
    once, each = hoisted(waves.program(), ["p"])
    assert [v.name for v in once.inputs] == ["p"] and [v.name for v in each.inputs] == ["prepared", "x"]


def test_derivatives_are_prepared_too():
    x, p = np.random.default_rng(3).normal(size=(5, 3)), np.array([0.7, 1.2])
    found = waves.jacobian("p")
    assert isinstance(found, PreparedKernel) and found.prepared.operations().square_roots == 0
    step = 1e-6 * np.eye(2)
    quotient = np.stack([(expected(x, p + h) - expected(x, p - h)) / 2e-6 for h in step], axis=-1)
    np.testing.assert_allclose(found(x, p), quotient, atol=1e-8)


def test_float32_names_and_wrong_shapes():
    x, p = np.ones((4, 3), np.float32), np.array([0.7, 1.2], np.float32)
    assert waves(x, p).dtype == np.float32 and waves(x, p.astype(float)).dtype == np.float64
    assert waves(x, p=p).shape == waves(x=x, p=p).shape == (4, 3)
    with pytest.raises(SignatureError, match="'p'"):
        waves(x, np.ones(3))
    with pytest.raises(SignatureError, match="'x'"):
        waves(np.ones((4, 2)), np.ones(2))


def test_samples_say_what_is_zero_whatever_the_values_are():
    graph = Graph()
    p = input_symbols(graph, "p", (3,))
    suppose(p, in_general_position(np.array([1.0, 1.0, 0.0])))
    assert nominal(p).tolist() == [1.0, 1.0, 0.0] and samples(np.zeros(2)).shape == (1, 2)
    same = (p[0] + p[1]) ** 2 - p[0] ** 2 - 2 * p[0] * p[1] - p[1] ** 2
    assert is_symbolic(p) and np.abs(samples(same)).max() < 1e-14
    by_chance = np.stack([p[0] - p[1], p[2], 0.0 * p[0]])
    assert is_present(by_chance).tolist() == [True, True, False]
    q = input_symbols(graph, "q", (1,))
    with pytest.raises(TraceError, match=r"input q\[0\]"):
        samples(q * p[:1])


def test_own_variables_inside_a_trace():
    """The derivative of a text that holds symbols, at values that are equal to one another and to constants."""
    @cy.kernel("(2),()->(1,4)")
    def slopes(x, a):
        def text(u, v):
            return cy.jacobian(np.stack([a * u[0] * v[1] + u[1] ** 2]), np.concatenate([u, v]))
        return with_own_variables(text, [x, np.zeros(2) + x[0]])

    np.testing.assert_allclose(slopes([2.0, 3.0], 5.0), [[10.0, 6.0, 0.0, 10.0]])
