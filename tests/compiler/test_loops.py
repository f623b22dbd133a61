"""Loops inside kernels: what they compute, in every language, for every batch, and their derivatives."""

from typing import NamedTuple

import numpy as np
import pytest

import cayley as cy
from cayley.errors import SignatureError
from compiler.parity import check_parity

RANDOM = np.random.default_rng(33)


class Pair(NamedTuple):
    position: np.ndarray
    speed: float


@cy.kernel("(),()->()")
def logistic(x, r):
    return cy.repeat(lambda x, r: r * x * (1.0 - x), x, 20, r)


@cy.kernel("(5),()->()")
def horner(coefficients, x):
    return cy.scan(lambda total, a: (total * x + a, None), 0.0, coefficients)[0]


@cy.kernel("(),()->()")
def root(a, x):
    return cy.repeat(lambda x, a: 0.5 * (x + a / x), x, 60, a, until=lambda x, a: np.abs(x * x - a) < 1e-10 * a)


@cy.kernel("(2),()->(2),(),(4,2),(4)")
def falling(position, speed):
    def step(state, push):
        moved = Pair(state.position + 0.1 * state.speed * np.stack([1.0, 0.0]), 0.9 * state.speed + push)
        return moved, (state.position, moved.speed)
    end, (positions, speeds) = cy.scan(step, Pair(position, speed), np.linspace(0.0, 1.0, 4), reverse=True)
    return end.position, end.speed, positions, speeds


CASES = [
    (logistic, RANDOM.uniform(0.1, 0.9, 3), RANDOM.uniform(1.0, 3.0, 3)),
    (horner, RANDOM.normal(size=(3, 5)), RANDOM.normal(size=3)),
    (root, RANDOM.uniform(0.5, 9.0, 3), RANDOM.uniform(1.0, 2.0, 3)),
    (falling, RANDOM.normal(size=(3, 2)), RANDOM.normal(size=3)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_every_language_gives_the_same(case):
    kernel, *arguments = case
    check_parity(kernel, *arguments, everywhere=True, jacobians=kernel is not root)


def test_a_polynomial_by_horners_rule():
    coefficients, x = RANDOM.normal(size=(100, 5)), RANDOM.normal(size=100)
    expected = [np.polyval(c, y) for c, y in zip(coefficients, x, strict=True)]
    np.testing.assert_allclose(horner(coefficients, x), expected, rtol=1e-12)


def test_states_that_arrive_stand_still_where_each_would_alone():
    a, x = 10.0 ** RANDOM.uniform(-8.0, 8.0, 301), np.ones(301)
    many = root(a, x)
    np.testing.assert_allclose(many, np.sqrt(a), rtol=1e-10)
    assert all(root(a[k], 1.0) == many[k] for k in range(301))


def test_no_turns_and_no_entries():
    still = cy.kernel("(2)->(2)")(lambda x: cy.repeat(lambda x: 2.0 * x, x, 0))
    np.testing.assert_array_equal(still([1.0, 2.0]), [1.0, 2.0])
    end, given = cy.scan(lambda x, a: (x + a, np.stack([x, a])), 3.0, np.zeros(0))
    assert end == 3.0 and given.shape == (0, 2)


@pytest.mark.parametrize("call, message", [
    (lambda x: cy.repeat(lambda x: x, x, -1), "times is 0 or more"),
    (lambda x: cy.repeat(lambda x: np.stack([x, x]), x, 3), r"it takes: arrays of the shapes \(\), not \(2,\)"),
    (lambda x: cy.repeat(lambda x: x, np.stack([x, x]), 3, until=lambda x: x > 0), "one truth value"),
    (lambda x: cy.scan(lambda x, a: x + a, x, np.ones(3))[0], "must return two things"),
    (lambda x: cy.scan(lambda x: (x, x), x)[0], "first axis of arrays"),
    (lambda x: cy.scan(lambda x, a, b: (x, x), x, np.ones(3), np.ones(4))[0], "equally long"),
])
def test_what_does_not_fit_is_said(call, message):
    with pytest.raises(SignatureError, match=message):
        call(1.0)
