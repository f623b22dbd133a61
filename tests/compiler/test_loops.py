"""Loops inside kernels: what they compute, in every language, for every batch, and their derivatives."""

import pickle
import time
from random import Random
from typing import NamedTuple

import numpy as np
import pytest
from scipy.linalg import solve_discrete_are

import cayley as cy
from cayley.compiler.derivatives import loop_derivatives
from cayley.compiler.tracing import loop
from cayley.compiler.tracing.loop_body import idle
from cayley.errors import SignatureError, TraceError
from compiler.parity import check_parity, in_c, numeric_jacobians
from fuzz.random_functions import SMOOTH as SMOOTH_OPERATIONS
from fuzz.random_functions import RandomFunction
from programs import needs

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


@cy.kernel("(3,3),(3)->(3)")
def gauss_seidel(A, b):
    def sweep(x, A, b):
        for k in range(3):
            x = np.stack([x[j] if j != k else (b[k] - sum(A[k, i] * x[i] for i in range(3) if i != k)) / A[k, k]
                          for j in range(3)])
        return x
    return cy.repeat(sweep, np.zeros(3), 60, A, b)


@cy.kernel("(),(4),(3)->(),(4)")
def nested(x, a, b):
    """A scan inside a repeat inside a scan."""
    def outer(x, a):
        def middle(y, a):
            def inner(z, b):
                return np.tanh(z + a * b), z
            end, before = cy.scan(inner, y, b)
            return 0.5 * (end + before[1])
        moved = cy.repeat(middle, x, 5, a, until=lambda y, a: np.abs(y) < 0.05)
        return moved, moved * a
    return cy.scan(outer, x, a)


@cy.kernel("(2),(2)->(2),(2)")
def solves_within(x, a):
    """Newton's method in every turn of a loop, on a number that an enclosing kernel computes."""
    scale = np.sin(a[0])

    def step(x):
        solved = cy.newton(lambda y: y + 0.2 * np.sin(y) * scale - x, x, iterations=12, tolerance=1e-15).x
        return 0.9 * solved + 0.1 * a
    end = cy.repeat(step, x, 7)
    return end, cy.repeat(lambda x, a: 0.3 * horner(np.stack([x[0], a, 1.0, x[1], 0.5]), np.tanh(x)), end, 3, a[1])


@pytest.fixture
def always_loops(monkeypatch):
    """Short loops are loops, as long ones are."""
    monkeypatch.setattr(loop, "FEWEST_TURNS", 1)
    monkeypatch.setattr(loop, "SMALLEST_LOOP", 0)


@pytest.fixture
def never_loops(monkeypatch):
    monkeypatch.setattr(loop, "SMALLEST_LOOP", 10**9)


def again(kernel):
    """The same kernel, traced anew."""
    return cy.kernel(str(kernel.signature), name=kernel.__name__, inputs=kernel.inputs)(kernel.__wrapped__)


def results_of(found):
    return found if isinstance(found, tuple) else (found,)


def loops_of(kernel):
    calls = (node.value for node in kernel.program().nodes if node.op == "call")
    return [called for called in calls if isinstance(called, loop.ProgramLoop)]


CASES = [
    (gauss_seidel, 4.0 * np.eye(3) + RANDOM.uniform(-1.0, 1.0, (3, 3, 3)), RANDOM.normal(size=(3, 3))),
    (nested, RANDOM.normal(size=3), RANDOM.normal(size=(3, 4)), RANDOM.normal(size=(3, 3))),
    (solves_within, RANDOM.normal(size=(3, 2)), RANDOM.normal(size=(3, 2))),
    (logistic, RANDOM.uniform(0.1, 0.9, 3), RANDOM.uniform(1.0, 3.0, 3)),
    (horner, RANDOM.normal(size=(3, 5)), RANDOM.normal(size=3)),
    (root, RANDOM.uniform(0.5, 9.0, 3), RANDOM.uniform(1.0, 2.0, 3)),
    (falling, RANDOM.normal(size=(3, 2)), RANDOM.normal(size=3)),
]


SMOOTH = [case for case in CASES if case[0] not in (root, nested)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_every_language_gives_the_same(case, always_loops):
    made, *arguments = again(case[0]), *case[1:]
    assert loops_of(made)
    check_parity(made, *arguments, tolerance=1e-12, everywhere=True, jacobians=False)


@needs("g++")
@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-12), (np.float32, 1e-5)])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_a_thread_of_a_gpu_makes_the_loop(case, dtype, tolerance, always_loops, cupy):
    made, *arguments = again(case[0]), *[a.astype(dtype) for a in case[1:]]
    found, want = made.on("cuda")(*arguments), made(*arguments)
    for got, right in zip(results_of(found), results_of(want), strict=True):
        np.testing.assert_allclose(got, right, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("case", SMOOTH, ids=lambda case: case[0].__name__)
def test_derivatives_go_through_the_loop(case, always_loops):
    """Forward, and twice, beside differences in fifty digits; backward beside forward."""
    made, *arguments = again(case[0]), *case[1:]
    program = made.program()
    for name in made.inputs:
        expected = numeric_jacobians(program, arguments, name)
        for place, right in enumerate(expected):
            jacobian = made.jacobian(name, of=place)
            found = jacobian(*arguments)[:2]
            np.testing.assert_allclose(found, right, rtol=1e-10, atol=1e-10 * np.abs(right).max())
            for other in made.inputs[:1]:
                second = jacobian.jacobian(other)(*arguments)[:2]
                twice, = numeric_jacobians(jacobian.program(), arguments, other)
                np.testing.assert_allclose(second, twice, rtol=1e-9, atol=1e-9 * np.abs(twice).max())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
@pytest.mark.parametrize("kept", [4096, 1])
def test_backward_is_forward(case, kept, always_loops, monkeypatch):
    """Also where few states are kept, and the loop is made again in parts."""
    monkeypatch.setattr(loop_derivatives, "MOST_KEPT", kept)
    made, *arguments = again(case[0]), *[a[0] for a in case[1:]]
    weights = [RANDOM.normal(size=np.shape(r)) for r in results_of(made(*arguments))]
    slopes = made.vjp()(*arguments, *weights)
    for k, (name, slope) in enumerate(zip(made.inputs, slopes, strict=True)):
        assert np.shape(slope) == np.shape(arguments[k])
        want = sum(np.tensordot(w, made.jacobian(name, of=place)(*arguments), np.ndim(w))
                   for place, w in enumerate(weights))
        np.testing.assert_allclose(slope, want, rtol=1e-9, atol=1e-11 * max(1.0, np.abs(want).max()))
    if kept == 1 and made.__name__ in ("logistic", "gauss_seidel", "root"):
        assert any(node.op == "call" for each in loops_of(made.vjp()) for node in each.body.nodes), "a loop of loops"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_a_loop_is_what_its_turns_are_when_written_out(case, never_loops):
    written, looped = again(case[0]), case[0]
    assert not loops_of(written)
    for got, right in zip(results_of(looped(*case[1:])), results_of(written(*case[1:])), strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-12, atol=1e-12)


def test_on_a_gpu():
    cupy = pytest.importorskip("cupy")
    for kernel, *arguments in CASES:
        for dtype, tolerance in ((np.float64, 1e-11), (np.float32, 1e-4)):
            given = [a.astype(dtype) for a in arguments]
            found = results_of(kernel.on("cuda")(*map(cupy.asarray, given)))
            for got, right in zip(found, results_of(kernel(*given)), strict=True):
                np.testing.assert_allclose(cupy.asnumpy(got), right, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("seed", range(5))
def test_random_steps(seed, always_loops):
    """Beside Python's own loop on floats, compiled and in C; backward beside forward."""
    function = RandomFunction(Random(seed), SMOOTH_OPERATIONS, 9, 3)

    def moved(x, push):
        after = function(x) + push
        return after / (1.0 + np.abs(after)), after[0]

    made = cy.kernel("(3),(6,3)->(3),(6)", name="moved")(
        lambda x, pushes: cy.scan(moved, x, pushes, reverse=bool(seed % 2)))
    assert loops_of(made)
    x, pushes = np.random.default_rng(seed).uniform(0.2, 1.0, (4, 3)), np.full((4, 6, 3), 0.3)
    check_parity(made, x, pushes, tolerance=1e-9, single=1e-3, jacobians=False, everywhere=True,
                 without={"SymPy", "CasADi", "JAX"})
    weights = np.ones(3), np.zeros(6)
    want = made.jacobian("x", of=0)(x[0], pushes[0]).sum(axis=0)
    np.testing.assert_allclose(made.vjp("x")(x[0], pushes[0], *weights), want, rtol=1e-8,
                               atol=1e-10 * np.abs(want).max())


def test_gauss_seidel_solves():
    _, A, b = CASES[0]
    np.testing.assert_allclose(gauss_seidel(A, b), np.linalg.solve(A, b[..., None])[..., 0], rtol=1e-12)


def test_a_riccati_recursion_is_a_scan():
    """Block-sparse: zeros of the state that stay zero are no part of the loop."""
    A = np.array([[1.0, 0.1, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.2], [0.0, 0.0, 0.0, 0.9]])
    B = np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.0], [0.0, 0.3]])

    def riccati(Q, R):
        def back(P, _):
            gain = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
            return Q + A.T @ P @ (A - B @ gain), gain
        return cy.scan(back, Q, np.arange(400.0), reverse=True)

    made = cy.kernel("(4),(2)->(4,4),(400,2,4)")(lambda q, r: riccati(np.diag(q), np.diag(r)))
    q, r = np.array([1.0, 2.0, 3.0, 0.5]), np.array([0.1, 0.4])
    P, gains = made(q, r)
    np.testing.assert_allclose(P, solve_discrete_are(A, B, np.diag(q), np.diag(r)), rtol=1e-10, atol=1e-13)
    assert (gains[:, 0, 2:] == 0.0).all() and (P[:2, 2:] == 0.0).all()
    turn, = loops_of(made)
    assert len(turn.state) == 8, "two blocks of 2 x 2; the other eight entries are zero"
    np.testing.assert_allclose(made.vjp()(q, r, np.eye(4), np.zeros((400, 2, 4)))[0],
                               np.einsum("iik->k", made.jacobian("q", of=0)(q, r)), rtol=1e-9)


def polynomial(turns):
    def step(x, a):
        for _ in range(20):
            x = np.sin(x) + a * x * x - 0.3
        return x
    return cy.kernel("(2),()->(2)", name="wave")(lambda x, a: cy.repeat(step, x, turns, a))


def test_text_and_time_do_not_grow_with_the_turns():
    def seconds(turns):
        start = time.process_time()
        made = polynomial(turns)
        made(np.full((5, 2), 0.1), 0.3)
        return time.process_time() - start, made

    seconds(2)
    (_, few), (_, many) = seconds(2), seconds(1000)
    short, long = (min(seconds(turns + k)[0] for k in range(1, 4)) for turns in (2, 1000))  # of which none is kept
    assert long < 2.0 * short + 0.2
    for language in ("c", "cuda", "javascript"):
        texts = [str(made.source(language)) for made in (polynomial(50), many)]
        assert "for (" in texts[1] and abs(len(texts[0]) - len(texts[1])) < 20
    assert len(many.c_source().source) < 1.5 * len(few.c_source().source)
    assert many.operations().multiplications == 1000 * polynomial(50).operations().multiplications / 50
    assert "for (" in many.jacobian("x").c_source().source and "for (" in many.vjp().c_source().source


def test_what_is_the_same_in_all_turns_is_computed_once():
    made = cy.kernel("(),()->()")(lambda x, a: cy.repeat(lambda x: x * np.sin(a) + np.exp(np.cos(a)), x, 300))
    assert made.operations().trigonometric == 1 and made.operations().other_functions == 1


def test_a_loop_is_pickled_with_its_kernel():
    for kernel, *arguments in CASES:
        program = pickle.loads(pickle.dumps(kernel.program()))
        assert program.key == kernel.program().key
        found = in_c(program, arguments)[0]
        np.testing.assert_allclose(found, results_of(kernel(*arguments))[0], rtol=1e-11)


def test_a_loop_in_an_iterated_kernel():
    once = cy.kernel("(),()->()", outputs=("after",), inputs=("x", "r"))(lambda x, r: logistic(x, r))
    from cayley.compiler.iterate import iterate
    levels, = iterate(once, {"x": "after"})(np.array([0.2, 0.3]), 2.5, steps=4, every=2)
    np.testing.assert_allclose(levels[:, -1], [logistic(logistic(logistic(logistic(x, 2.5), 2.5), 2.5), 2.5)
                                               for x in (0.2, 0.3)], rtol=1e-13)


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


def newton_by_hand(x):
    """Its derivative is by the state, which starts at zero and leaves it."""
    rest = x[0] * x[0] + 3.0 * x[0] - x[1]
    return np.stack([x[0] - rest / cy.jacobian(rest, x[0]), x[1]])


def inverse_once_it_moves(x):
    """A matrix that is singular as long as the state is at its start."""
    inverse = np.linalg.inv(np.stack([np.stack([x[0], 0.0]), np.stack([0.0, x[1]])]))
    return np.stack([np.where(x[0] > 0.0, 0.5 * (x[0] + x[1] * inverse[0, 0]), 1.0), x[1]])


@pytest.mark.parametrize("step, expected", [(newton_by_hand, lambda a: np.sqrt(2.25 + a) - 1.5),
                                            (inverse_once_it_moves, np.sqrt)])
def test_a_step_that_cannot_have_zeros_in_its_state(step, expected, always_loops):
    made = cy.kernel("()->()")(lambda a: cy.repeat(step, np.stack([0.0 * a, a]), 30)[0])
    assert loops_of(made)
    a = np.array([0.5, 2.0, 9.0])
    np.testing.assert_allclose(made(a), expected(a), rtol=1e-13)


def test_a_wrong_step_is_traced_once():
    traced = []

    def wrong(x):
        traced.append(x)
        return x.nothing
    with pytest.raises(TraceError, match="nothing"):
        cy.kernel("(2)->(2)")(lambda x: cy.repeat(wrong, 0.0 * x, 9)).program()
    assert len(traced) == 1


def test_a_turn_that_may_not_be_taken_is_a_branch(monkeypatch):
    """One turn with `until`: nothing of it is computed before, though it takes nothing from the state."""
    monkeypatch.setattr(loop, "SMALLEST_LOOP", 0)

    def text(x, a):
        def slow(now):
            total = cy.repeat(lambda y: np.sin(y) + a, a, 50)
            return total, 1.0
        return cy.repeat(slow, (x, np.where(x > 0.0, 1.0, 0.0)), 1, until=lambda now: now[1] != 0.0)[0]

    made = cy.kernel("(),()->()", name="branch")(text)
    assert [found.turns for found in loops_of(made)] == [1]  # the other loop is within it
    x, a = np.array([1.0, -1.0, 2.0, -3.0]), np.array([0.1, 0.2, 0.3, 0.4])
    expected = [each if each > 0 else text(each, by) for each, by in zip(x, a, strict=True)]
    assert made(x, a) == pytest.approx(expected, abs=1e-14)
    assert in_c(made.program(), [x, a])[0] == pytest.approx(expected, abs=1e-12)


def test_a_turn_in_which_all_stand_still_is_left(always_loops):
    """A walk that changes nothing where an entry is small: in all lanes of a block, in some, and in none."""
    def text(x, bars, cost):
        def turn(state, bar):
            total, count = state
            slow = total
            for k in range(20):
                slow = np.sin(slow + cost + 0.1 * k) + bar
            still = bar < x
            return (np.where(still, total, slow), np.where(still, count, count + 1.0)), None
        total, count = cy.scan(turn, (x, 0.0), bars)[0]
        return total + 10.0 * count

    made = cy.kernel("(),(40),()->()", name="walk")(text)
    assert [idle(found.simplified) is not None for found in loops_of(made)] == [True]
    bars = RANDOM.uniform(size=40)
    for x in (np.linspace(0.0, 1.1, 21), np.full(21, 0.5), np.full(21, 2.0), np.full(21, -1.0)):
        expected = [text(each, bars, 0.3) for each in x]
        assert made(x, bars, 0.3) == pytest.approx(expected, abs=1e-12)
        assert [made(each, bars, 0.3) for each in x] == pytest.approx(expected, abs=1e-12)
    kept = cy.kernel("(),(40)->(40)")(lambda x, bars: cy.scan(
        lambda t, bar: (np.where(bar < x, t, sum(np.sin(t + k) for k in range(40))), bar * t), x, bars)[1])
    assert [idle(found.simplified) for found in loops_of(kept)] == [None]
