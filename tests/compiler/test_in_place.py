"""A traced function may write into its arguments: the answer is NumPy's, and the caller's arrays stay as they are."""

import functools

import numpy as np
import pytest

import cayley as cy
from cayley.errors import TraceError


def swap_by_items(x, y):
    x[0], x[1] = x[1], x[0]
    return x


def swap_by_places(x, y):
    x[[0, 1]] = x[[1, 0]]
    return x


def reverse(x, y):
    x[:] = x[::-1]
    return x


def reverse_a_copy(x, y):
    x[:] = x[::-1].copy()
    return x


def repeat_an_item(x, y):
    x[1] = x[0]
    return x


def add_a_number(x, y):
    x += 1.0
    return x


def multiply(x, y):
    x *= 2.0
    return x


def subtract_and_divide(x, y):
    x -= y
    x /= y
    return x


def add_to_an_item(x, y):
    x[0] += x[1]
    return x


def through_another_name(x, y):
    z = x
    z += y
    return x


def through_a_view(x, y):
    tail = x[1:]
    tail *= 3.0
    return x


def through_a_shape(x, y):
    x.reshape(3, 1)[1] = y[0]
    return x


def through_its_transpose(x, y):
    x.T[0] = y[2]
    return x


def out_by_name(x, y):
    np.positive(x, out=y)
    return y


def out_by_place(x, y):
    np.negative(x, x)
    return x


def out_of_two(x, y):
    np.add(x, y, x)
    return x * y


def clip_into(x, y):
    np.clip(x, -0.5, 0.5, out=x)
    return x


def clip_into_by_place(x, y):
    np.clip(x, -0.5, 0.5, y)
    return y


def swap_arguments(x, y):
    kept = x.copy()
    x[:] = y
    y[:] = kept
    return x - 2.0 * y


def mean_into(x, y):
    np.mean(np.stack([x, y]), axis=0, out=x)
    return x


def sum_into(x, y):
    np.sum(np.stack([x, y]), axis=0, out=x)
    return x


def maximum_into(x, y):
    np.max(np.stack([x, y]), axis=0, out=x)
    return x


def at_places(x, y):
    np.add.at(x, [0, 0, 2], y)
    return x


def accumulate_into(x, y):
    np.add.accumulate(x, out=x)
    return x


def copy_to(x, y):
    np.copyto(x, y, where=[True, False, True])
    return x


def put(x, y):
    np.put(x, [2, 0], y[:2])
    return x


def fill(x, y):
    x.fill(y[0])
    return x


def product_into(x, y):
    np.matmul(np.outer(x, y), x, out=x)
    return x


def only_the_other(x, y):
    y[:] = 0.0
    return x + y


def read_and_write_again(x, y):
    total = x.sum()
    x[0] = total
    x[1] = x[0] * y[1]
    return x


FORMS = (swap_by_items, swap_by_places, reverse, reverse_a_copy, repeat_an_item, add_a_number, multiply,
         subtract_and_divide, add_to_an_item, through_another_name, through_a_view, through_a_shape,
         through_its_transpose, out_by_name, out_by_place, out_of_two, clip_into, clip_into_by_place, swap_arguments,
         mean_into, sum_into, maximum_into, at_places, accumulate_into, copy_to, put, fill, product_into,
         only_the_other, read_and_write_again)


@pytest.mark.parametrize("function", FORMS, ids=lambda f: f.__name__)
def test_the_answer_is_that_of_numpy(function):
    x, y = np.array([[0.3, -0.7, 1.6], [1.0, 2.0, 3.0]]), np.array([[0.5, 0.2, -0.4], [-1.0, 0.3, 8.0]])
    expected = np.array([function(a.copy(), b.copy()) for a, b in zip(x, y, strict=True)])
    law = cy.kernel("(3),(3)->(3)")(function)
    given = x.copy(), y.copy()
    np.testing.assert_allclose(law(*given), expected, rtol=1e-14)
    np.testing.assert_allclose(law(given[0][1], given[1][1]), expected[1], rtol=1e-14)
    np.testing.assert_allclose(law.reference(given[0][1], given[1][1]), expected[1], rtol=1e-14)
    assert (given[0] == x).all() and (given[1] == y).all()
    by_x = law.jacobian("x")(x[1], y[1])
    steps = [(law(x[1] + 1e-6 * d, y[1]) - law(x[1] - 1e-6 * d, y[1])) / 2e-6 for d in np.eye(3)]
    np.testing.assert_allclose(by_x, np.transpose(steps), atol=1e-7)


def test_one_array_for_two_arguments():
    """The arguments of a kernel are values: what is written into one is not seen through the other."""
    law = cy.kernel("(3),(3)->(3)")(swap_arguments)
    x = np.array([1.0, 2.0, 3.0])
    assert (law(x, x) == -x).all() and (law(x, x, out=x) == [-1.0, -2.0, -3.0]).all()


def test_the_same_function_is_traced_twice():
    law = cy.kernel("(n),(n)->(n)")(lambda x, y: add_a_number(x, y))
    assert law([1.0], [0.0]).tolist() == [2.0] and law([1.0, 2.0], [0.0, 0.0]).tolist() == [2.0, 3.0]


@pytest.mark.parametrize("function",
                         [lambda x: x.sort(), lambda x: np.random.default_rng(0).shuffle(x), lambda x: x.partition(1)])
def test_orders_are_refused(function):
    with pytest.raises(TraceError):
        cy.kernel("(3)->(3)")(lambda x: (function(x), x)[1])([3.0, 1.0, 2.0])


@functools.cache
def remembered(x):
    return 2.0 * x


@pytest.mark.parametrize("function", [
    lambda x: {1.0: 5.0}.get(x, 7.0),
    lambda x: 1.0 if x in {1.0, 2.0} else 0.0,
    lambda x: {x: 1.0},
    lambda x: remembered(x),
    lambda x: {x, 1.0},
    lambda x: 1.0 if x in (1.0, 2.0) else 0.0,
    lambda x: {1.0: 5.0}[x], ])
def test_symbols_are_not_looked_up(function):
    with pytest.raises(TraceError):
        cy.kernel("()->()")(function)(1.0)


def test_constants_are_looked_up_as_numbers():
    assert cy.kernel("()->()")(lambda x: {0.0: 5.0}.get(x - x, 7.0))(1.0) == 5.0


TRUTHS = {
    "sum": lambda x, y: np.sum(x > y),
    "mean": lambda x, y: np.mean(x > y),
    "product": lambda x, y: np.prod(x < 9.0),
    "times": lambda x, y: np.sum((x > y) * (x > 0.0)),
    "sum of Python": lambda x, y: sum(x > y),
    "max": lambda x, y: np.max(x > y),
    "by a number": lambda x, y: np.sum(2.0 * (x > y) - 1.0),
    "weighted": lambda x, y: (x > y) @ y,
    "all": lambda x, y: np.all(x),
    "any of one": lambda x, y: np.any(x[0]),
    "and": lambda x, y: np.sum((x > y) & True),
    "where": lambda x, y: np.sum(np.where(x > y, x > 0.0, y > 0.0) & (x < 9.0)), }


def written_into_truth_values(x, y):
    chosen = x > y
    chosen[0] = y[0] > 0.0
    chosen[1:] = [True, False]
    return np.sum(chosen)


TRUTHS["written"] = written_into_truth_values


@pytest.mark.parametrize("function", TRUTHS.values(), ids=TRUTHS)
def test_truth_values_are_counted_as_numpy_does(function):
    law = cy.kernel("(3),(3)->()")(function)
    for x in ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [-4.0, 0.0, 6.0], [0.0, 0.0, 0.0]):
        assert law(x, [3.0, 1.0, 2.0]) == function(np.array(x), np.array([3.0, 1.0, 2.0]))


@pytest.mark.parametrize("function", [
    lambda x, y: (x > y) + (x > 0.0),
    lambda x, y: (x > y) - (x > 0.0),
    lambda x, y: np.dot(x > y, x > 0.0),
    lambda x, y: np.diff(x > y),
    lambda x, y: x & y,
    lambda x, y: (x > y) | y,
    lambda x, y: ~x,
    lambda x, y: np.bitwise_and(x, y),
    lambda x, y: (x > y) % (y > x),
    lambda x, y: (x > y).__setitem__(0, y[0]),
    lambda x, y: np.add(x, y, out=x > y),
    lambda x, y: (x > y).__setitem__(0, 2.0), ])
def test_what_numpy_does_otherwise_with_truth_values_is_refused(function):
    with pytest.raises(TraceError):
        cy.kernel("(3),(3)->(k)")(lambda x, y: np.atleast_1d(1.0 * function(x, y)))([1.0, 2.0, 3.0], [3.0, 2.0, 1.0])
