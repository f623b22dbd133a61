"""Newton's method and fixed points inside kernels: where they arrive, what stands still, derivatives of every order."""

import pickle

import mpmath
import numpy as np
import pytest

import cayley as cy
from cayley.compiler.tracing.implied_values import is_marked, plain
from cayley.compiler.tracing.simplify import simplify
from cayley.errors import SignatureError, TraceError
from compiler.parity import check_parity

RANDOM = np.random.default_rng(11)


def kepler(e, M):
    """The eccentric anomaly E of E - e sin E = M."""
    return cy.newton(lambda E, e, M: E - e * np.sin(E) - M, M, e, M, tolerance=1e-14).x


anomaly = cy.kernel("(),()->()")(kepler)


def of_steps(n, tolerance=1e-12):
    def law(e, M):
        return cy.newton(lambda E: E - e * np.sin(E) - M, M, iterations=n, tolerance=tolerance).x
    return cy.kernel("(),()->()")(law)


def exact_anomaly(e, M):
    return mpmath.findroot(lambda E: E - e * mpmath.sin(E) - M, M)


def test_keplers_equation_and_its_derivatives_of_three_orders():
    first = anomaly.jacobian("e")
    second = first.jacobian("M")
    third = second.jacobian("e")
    by_order = {(0, 0): anomaly, (1, 0): first, (0, 1): anomaly.jacobian("M"), (2, 0): first.jacobian("e"),
                (1, 1): second, (2, 1): third}
    for e, M in ((0.3, 1.0), (0.6, 2.5), (0.01, -0.4)):
        with mpmath.workdps(50):
            for order, made in by_order.items():
                expected = float(mpmath.diff(exact_anomaly, (mpmath.mpf(e), mpmath.mpf(M)), order))
                assert made(e, M) == pytest.approx(expected, rel=1e-13, abs=1e-13)


def test_derivatives_are_exact_where_the_number_is():
    with mpmath.workdps(50):
        many = of_steps(9, 0.0)
        e, M = mpmath.mpf("0.4"), mpmath.mpf("1.3")
        for order, made in (((0, 0), many), ((1, 0), many.jacobian("e")), ((2, 0), many.jacobian("e").jacobian("e"))):
            assert abs(made.evaluate(cy.MPMATH, e, M) - mpmath.diff(exact_anomaly, (e, M), order)) < 1e-20
        assert abs(many.evaluate(cy.MPMATH, e, M) - exact_anomaly(e, M)) < 1e-48


def test_no_derivative_goes_through_the_steps():
    cost = [made.jacobian("e").operations().total - made.operations().total for made in (of_steps(4), of_steps(8))]
    assert cost[0] == cost[1] <= 12


def test_what_has_arrived_stands_still():
    counted = cy.kernel("(),()->(),(),()")(
        lambda x, a: tuple(cy.newton(lambda x: x * x - a, x, iterations=3, tolerance=1e-3)))
    x, residual, converged = counted([1.0, 2.0, 2.0001, 1e6], [2.0, 4.0, 4.0, 2.0])
    assert x[1] == 2.0 and x[2] == 2.0001, "these were good enough before the first step"
    np.testing.assert_allclose(x[0], np.sqrt(2.0), rtol=1e-3)
    np.testing.assert_array_equal(converged, [1.0, 1.0, 1.0, 0.0])
    np.testing.assert_allclose(residual, x * x - [2.0, 4.0, 4.0, 2.0], rtol=1e-9, atol=1e-12)


def test_a_state_without_solution_spoils_no_other():
    root = cy.kernel("(),()->(),(),()")(lambda x, a: tuple(cy.newton(lambda x: x * x - a, x)))
    x, _, converged = root([1.0, 0.0, np.nan, 1.0, 3.0], [2.0, 2.0, 2.0, -1.0, 9.0])
    np.testing.assert_array_equal(converged, [1.0, 0.0, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(x[[0, 4]], [np.sqrt(2.0), 3.0], rtol=1e-14)
    assert not np.isfinite(x[1:3]).any()
    for k in range(5):
        np.testing.assert_array_equal(root([1.0, 0.0, np.nan, 1.0, 3.0][k], [2.0, 2.0, 2.0, -1.0, 9.0][k])[0], x[k])


# A four-bar linkage

LENGTHS = np.array([0.3, 0.8, 0.6, 0.9])  # crank, coupler, rocker, base


def closure(x, crank, lengths):
    """How far the coupler's end is from the rocker's."""
    (coupler, rocker), (a, b, c, d) = x, lengths
    return np.stack([a * np.cos(crank) + b * np.cos(coupler) - d - c * np.cos(rocker),
                     a * np.sin(crank) + b * np.sin(coupler) - c * np.sin(rocker)])


@cy.kernel("(),(4)->(2)")
def four_bar(crank, lengths):
    return cy.newton(closure, [0.5, 1.5], crank, lengths).x


def exact_four_bar(crank, lengths):
    """By the law of cosines."""
    a, b, c, d = lengths
    x, y = d - a * mpmath.cos(crank), -a * mpmath.sin(crank)
    f = mpmath.hypot(x, y)
    coupler = mpmath.atan2(y, x) + mpmath.acos((b**2 + f**2 - c**2) / (2 * b * f))
    end = [a * f(crank) + b * f(coupler) for f in (mpmath.cos, mpmath.sin)]
    return coupler, mpmath.atan2(end[1], end[0] - d)


def test_a_four_bar_closes_all_around():
    crank = np.linspace(0.0, 2.0 * np.pi, 50)
    angles = four_bar(crank, LENGTHS)
    expected = np.array([[float(x) for x in exact_four_bar(q, LENGTHS)] for q in crank])
    np.testing.assert_allclose(angles, expected, atol=1e-12)
    assert np.abs(closure(angles.T, crank, LENGTHS)).max() < 1e-12


def test_derivatives_of_a_four_bar_by_the_crank_and_by_its_lengths():
    crank, lengths = 0.7, [mpmath.mpf(x) for x in LENGTHS]
    rate, jerk = four_bar.jacobian("crank"), four_bar.jacobian("crank").jacobian("crank")
    mixed = four_bar.jacobian("lengths").jacobian("crank")
    with mpmath.workdps(50):
        for k in range(2):
            def of_coupler(length, q, k=k):
                return exact_four_bar(q, [lengths[0], length, *lengths[2:]])[k]

            def exact(*order, of=of_coupler):
                return pytest.approx(float(mpmath.diff(of, (lengths[1], mpmath.mpf(crank)), order)), rel=1e-11)
            assert rate(crank, LENGTHS)[k] == exact(0, 1)
            assert jerk(crank, LENGTHS)[k] == exact(0, 2)
            assert mixed(crank, LENGTHS)[k, 1] == exact(1, 1)


def test_every_back_end_closes_the_same_four_bar():
    """Two steps from a guess nearby: SymPy, which writes every branch out, could not do many."""
    closed = cy.kernel("(),(4)->(2)", name="closed")(
        lambda crank, lengths: cy.newton(closure, [0.5, 1.6], crank, lengths, iterations=2, tolerance=1e-30).x)
    crank, lengths = np.array([0.8, 0.9, 1.1]), np.tile(LENGTHS, (3, 1))
    check_parity(closed, crank, lengths, tolerance=1e-12, single=1e-3, jacobians=False, everywhere=True)


def test_an_inverse_kinematics_step_and_its_derivative():
    arm = cy.load("planar3r")
    q0 = np.array([0.1, 0.3, -0.7])

    @cy.kernel("(3),(2)->(3)")
    def reached(q0, target):
        """The nearest joint angles, along the pseudo-inverse at q0, that bring the tool's origin to the target."""
        J = arm.jacobian(q0, "tool", axes="world")[:2]
        return q0 + J.T @ cy.newton(lambda w: arm.pose(q0 + J.T @ w, "tool")[:2, 3] - target, np.zeros(2)).x

    target = arm.pose(q0, "tool")[:2, 3] + [-0.02, -0.03]
    q = reached(q0, target)
    np.testing.assert_allclose(arm.pose(q, "tool")[:2, 3], target, atol=1e-12)
    slope = arm.jacobian(q, "tool", axes="world")[:2] @ reached.jacobian("target")(q0, target)
    np.testing.assert_allclose(slope, np.eye(2), atol=1e-11)


# What else may happen

def test_fixed_points_have_the_derivatives_of_their_equation():
    settled = cy.kernel("()->(),(),()")(
        lambda a: tuple(cy.fixed_point(lambda x: np.cos(a * x), 1.0, iterations=120, tolerance=1e-15)))
    with mpmath.workdps(40):
        def exact(a):
            return mpmath.findroot(lambda x: mpmath.cos(a * x) - x, 0.7)
        assert settled(0.9)[0] == pytest.approx(float(exact(mpmath.mpf(0.9))), rel=1e-14)
        assert settled(0.9)[2] == 1.0
        for made, order in ((settled.jacobian("a", of=0), 1), (settled.jacobian("a", of=0).jacobian("a"), 2)):
            assert made(0.9) == pytest.approx(float(mpmath.diff(exact, mpmath.mpf(0.9), order)), rel=1e-12)
    assert abs(settled.jacobian("a", of=1)(0.9)) < 1e-15, "the residual stays zero"


def test_a_problem_within_a_problem():
    """y(a) solves y^3 + y = a; x solves x + y(x + p) = 1: so x = 1 - s with s^3 + s = x + p."""
    def inner(a):
        return cy.newton(lambda y: y**3 + y - a, 0.5, iterations=9).x

    outer = cy.kernel("()->()")(lambda p: cy.newton(lambda x: x + inner(x + p) - 1.0, 0.3, iterations=7).x)
    with mpmath.workdps(40):
        def exact(p):
            return 1 - mpmath.findroot(lambda s: s**3 + 2 * s - 1 - p, 0.5)
        for made, order in ((outer, 0), (outer.jacobian("p"), 1), (outer.jacobian("p").jacobian("p"), 2)):
            assert made(0.25) == pytest.approx(float(mpmath.diff(exact, mpmath.mpf(0.25), order)), rel=1e-12)


def test_kernels_that_solve_can_be_called_by_kernels_twice_and_pickled():
    twice = cy.kernel("(),()->()")(lambda e, M: anomaly(e, anomaly(e, M)))
    with mpmath.workdps(40):
        expected = float(mpmath.diff(lambda e: exact_anomaly(e, exact_anomaly(e, 1.0)), mpmath.mpf(0.3), 2))
    assert twice.jacobian("e").jacobian("e")(0.3, 1.0) == pytest.approx(expected, rel=1e-12)
    again = pickle.loads(pickle.dumps(cy.kernel("(),()->()", name="unnamed")(kepler)))
    assert again(0.3, 1.0) == anomaly(0.3, 1.0)
    assert again.jacobian("e")(0.3, 1.0) == anomaly.jacobian("e")(0.3, 1.0)


def test_equal_guesses_are_different_unknowns():
    def law(g, a):
        return cy.newton(lambda x: np.stack([x[0] + x[1] - a, x[0] - 2.0 * x[1]]), np.stack([g, g])).x

    pair = cy.kernel("(),()->(2)")(law)
    np.testing.assert_allclose(pair(0.3, 3.0), [2.0, 1.0], rtol=1e-15)
    np.testing.assert_allclose(pair.jacobian("a")(0.3, 3.0), [2.0 / 3.0, 1.0 / 3.0], rtol=1e-15)
    np.testing.assert_array_equal(pair.jacobian("g")(0.3, 3.0), [0.0, 0.0])


def test_matrices_can_be_unknowns():
    root = cy.kernel("(2,2)->(2,2)")(lambda A: cy.newton(lambda X: X @ X - A, np.eye(2), iterations=10).x)
    A = np.array([[4.0, 1.0], [0.5, 3.0]])
    np.testing.assert_allclose(root(A) @ root(A), A, rtol=1e-13)


def test_programs_that_are_evaluated_have_no_marks():
    traced = anomaly._trace(())
    assert is_marked(traced)
    assert not any(is_marked(program) for program in (plain(traced), simplify(traced), anomaly.program()))
    strict = cy.kernel("()->()", strict=True)(lambda a: cy.newton(lambda x: x * x - a, a).x)
    assert strict(2.0) == pytest.approx(np.sqrt(2.0), rel=1e-15)
    assert strict.jacobian("a")(2.0) == pytest.approx(0.5 / np.sqrt(2.0), rel=1e-15)


def test_on_numbers_it_is_solved_at_once():
    found = cy.newton(closure, [0.5, 1.5], 0.7, LENGTHS)
    np.testing.assert_allclose(found.x, four_bar(0.7, LENGTHS), rtol=1e-14)
    assert found.converged is np.True_ and np.abs(found.residual).max() < 1e-12
    assert four_bar.reference(0.7, LENGTHS) == pytest.approx(four_bar(0.7, LENGTHS), rel=1e-14)


@pytest.mark.parametrize("asked, said", [
    (lambda a: cy.newton(lambda x: x[:1] - a, np.zeros(2)).x[0], "as many equations as unknowns"),
    (lambda a: cy.newton(lambda x: x - a, 0.0, iterations=0).x, "at least one iteration"),
    (lambda a: cy.newton(lambda x: x - a, 0.0, tolerance=-1.0).x, "a tolerance of at least 0"),
    (lambda a: cy.fixed_point(lambda x: np.stack([x, x]), a).x, "as many equations as unknowns"),
    (lambda a: cy.newton(lambda x: a + 0.0 * x, 0.0).x, "singular whatever the values"),
])
def test_what_cannot_be_solved_is_refused_by_name(asked, said):
    with pytest.raises((TraceError, SignatureError), match=said):
        cy.kernel("()->()")(asked)(1.0)
