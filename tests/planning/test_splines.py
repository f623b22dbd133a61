"""Splines beside those of SciPy and the worked examples, and polynomials through conditions beside 50 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.interpolate import BSpline, CubicSpline, make_interp_spline

import cayley as cy
from cayley.planning import (
    At,
    b_spline,
    cubic_spline,
    motion_through_poses,
    polynomial_through,
    quintic_spline,
    rest_to_rest_spline,
    second_derivatives,
)

_X = [0.0, 1.0, 2.5, 3.0, 4.5]
_Y = [0.0, 0.5, 2.0, 1.5, 1.0]


def _random(knots: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.uniform(0.05, 2.0, knots)), rng.normal(size=(knots, 3))


@pytest.mark.spec("S2-86")
def test_the_worked_example():
    second = second_derivatives(_X, _Y)[:, 0]
    np.testing.assert_allclose(second, [0, 1.752688172043, -3.84229390681, 1.480286738351, 0], atol=1e-10)
    move = cubic_spline(_X, _Y)
    D, C, B, A = move.coefficients[:, :, 0].T
    np.testing.assert_allclose(A, [0.292114695341, -0.621664675428, 1.774193548387, -0.164476304261], atol=1e-10)
    np.testing.assert_allclose(C, [0.207885304659, 1.084229390681, -0.482974910394, -1.073476702509], atol=1e-10)
    np.testing.assert_array_equal(D, _Y[:-1])
    np.testing.assert_allclose(B, second[:-1] / 2, atol=1e-15)
    np.testing.assert_allclose(move([0.5, 2.0, 3.7]).q[:, 0], [0.140456989247, 1.838908801274, 1.054821186778],
                               atol=1e-10)
    np.testing.assert_allclose(move([0.0, 4.5]).qd[:, 0], [0.207885304659, 0.036738351254], atol=1e-10)
    h = np.diff(_X)  # the printed sign of s''_k in C_k misses the next point
    wrong = np.diff(_Y) / h - h / 6 * (second[1:] - 2 * second[:-1])
    assert wrong[1] == pytest.approx(2.837, abs=1e-3)
    with pytest.raises(cy.PlanningError, match="the times increase; 1 and 2 are 1 and 1"):
        cubic_spline([0.0, 1.0, 1.0, 2.0], np.zeros(4))


@pytest.mark.spec("S2-87")
def test_ends_of_the_worked_example():
    clamped = [0.702247191011, 1.595505617978, -3.786516853933, 1.505617977528, -0.086142322097]
    periodic = [1.582205029014, 1.326885880077, -3.477756286267, -0.158607350097, 1.582205029014]
    np.testing.assert_allclose(second_derivatives(_X, _Y, "clamped")[:, 0], clamped, atol=1e-10)
    np.testing.assert_allclose(second_derivatives(_X, [*_Y[:-1], 0.0], "periodic")[:, 0], periodic, atol=1e-10)
    assert cubic_spline(_X, _Y).rests == (False, False)  # a natural end is not at rest
    assert cubic_spline(_X, _Y, "clamped").rests == (True, True)
    around = cubic_spline(_X, [*_Y[:-1], 0.0], "periodic")
    for begin, end in zip(around.derivatives(0.0)[:3], around.derivatives(4.5)[:3], strict=True):
        np.testing.assert_allclose(begin, end, atol=1e-14)
    with pytest.raises(cy.PlanningError, match="comes back to its first point; coordinate 0 begins at 0 and ends at 1"):
        cubic_spline(_X, _Y, "periodic")


@pytest.mark.spec("S2-86", "S2-87")
@pytest.mark.parametrize("knots", [2, 3, 4, 5, 40])
@pytest.mark.parametrize("ends", ["natural", "clamped", "not-a-knot", "periodic"])
def test_cubic_splines_are_those_of_scipy(knots, ends):
    x, y = _random(knots)
    y[-1] = y[0] if ends == "periodic" else y[-1]
    t = np.linspace(x[0], x[-1], 57)
    theirs = CubicSpline(x, y, bc_type=ends)
    for order, values in enumerate(cubic_spline(x, y, ends).derivatives(t)[:3]):
        np.testing.assert_allclose(values, theirs(t, order), rtol=1e-10, atol=1e-11)


def test_each_end_has_a_word_and_velocities():
    x, y = _random(7)
    v = np.array([0.3, -1.0, 2.0])
    t = np.linspace(x[0], x[-1], 57)
    theirs = {"natural": (2, np.zeros(3)), "clamped": (1, v), "not-a-knot": "not-a-knot"}
    for ends in [("clamped", "natural"), ("not-a-knot", "clamped"), ("natural", "not-a-knot"), ("clamped", "clamped")]:
        known = CubicSpline(x, y, bc_type=tuple(theirs[end] for end in ends))
        np.testing.assert_allclose(cubic_spline(x, y, ends, velocities=(v, v))(t).qdd, known(t, 2), atol=1e-10)
    with pytest.raises(cy.ConventionError, match=r"a spline ends natural, clamped, not-a-knot, .* not 'free'"):
        cubic_spline(x, y, "free")
    with pytest.raises(cy.SignatureError, match=r"the velocities of ends are finite numbers \(3\), or one for all"):
        cubic_spline(x, y, "clamped", velocities=([1.0, 2.0], 0.0))
    with pytest.raises(cy.SignatureError, match="the accelerations of ends are finite"):
        quintic_spline(x, y, accelerations=(0.0, np.nan))
    with pytest.raises(cy.SignatureError, match=r"7 times take points of the shape \(7, n\)"):
        cubic_spline(x, y[:-1])
    y[3, 1] = np.nan
    with pytest.raises(cy.PlanningError, match="point 3 is not finite"):
        cubic_spline(x, y)


def test_ten_thousand_knots():
    x, y = _random(10_001)
    for ends in ("natural", "clamped", "not-a-knot"):
        np.testing.assert_allclose(cubic_spline(x, y, ends)(x).q, y, atol=1e-12)
    t = np.linspace(x[0], x[-1], 1000)
    np.testing.assert_allclose(rest_to_rest_spline(x, y)(x).q, y, atol=1e-12)
    np.testing.assert_allclose(cubic_spline(x, y)(t).qdd, CubicSpline(x, y, bc_type="natural")(t, 2), atol=1e-8)


@pytest.mark.spec("S2-97")
@pytest.mark.parametrize("knots", [2, 3, 9])
def test_rest_to_rest_by_two_extra_knots(knots):
    x, y = _random(knots)
    move = rest_to_rest_spline(x, y)
    assert len(move.breaks) == knots + 2 and move.degree == 3 and move.continuity == 2
    np.testing.assert_allclose(move(x).q, y, atol=1e-13)
    ends = move(x[[0, -1]])
    np.testing.assert_allclose([ends.qd, ends.qdd], 0.0, atol=1e-12)
    column = CubicSpline(move.breaks, move(move.breaks).q[:, 1], bc_type="natural")  # column by column a spline
    t = np.linspace(x[0], x[-1], 33)
    np.testing.assert_allclose(move(t).qdd[:, 1], column(t, 2), atol=1e-10)
    for ends_of in ("natural", "clamped", "not-a-knot"):
        alone = cubic_spline(x, y[:, 1], ends_of)(t)
        np.testing.assert_allclose(cubic_spline(x, y, ends_of)(t).qdd[:, 1:2], alone.qdd, atol=1e-12)
    with pytest.raises(cy.PlanningError, match="two times between"):
        rest_to_rest_spline(x, y, extra=(x[0], x[-1]))


@pytest.mark.parametrize("knots", [2, 3, 4, 6, 30])
def test_quintic_splines(knots):
    x, y = _random(knots, 1)
    v, a = np.array([1.0, -2.0, 0.5]), np.array([0.1, 0.2, -0.3])
    move = quintic_spline(x, y, velocities=(v, -v), accelerations=(a, 0.0))
    np.testing.assert_allclose(move(x).q, y, atol=1e-11)
    np.testing.assert_allclose(move(x[[0, -1]]).qd, [v, -v], atol=1e-9)
    np.testing.assert_allclose(move(x[[0, -1]]).qdd, [a, 0 * a], atol=1e-8)
    assert move.continuity == 3
    t = np.linspace(x[0], x[-1], 41)
    known = make_interp_spline(x, y, k=5, bc_type=([(1, v), (2, a)], [(1, -v), (2, 0 * a)]))
    np.testing.assert_allclose(move(t).qd, known(t, 1), rtol=1e-8, atol=1e-8)
    if knots >= 6:
        for ends in ("natural", "not-a-knot", "periodic"):
            y[-1] = y[0] if ends == "periodic" else y[-1]
            np.testing.assert_allclose(quintic_spline(x, y, ends)(x).q, y, atol=1e-10)
        natural = quintic_spline(x, y, "natural")
        np.testing.assert_allclose(natural.jerk(x[[0, -1]]), 0.0, atol=1e-6)
    else:
        with pytest.raises(cy.PlanningError, match="has 6 points or more"):
            quintic_spline(x, y, "not-a-knot")


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_b_splines(degree):
    rng = np.random.default_rng(degree)
    c = rng.normal(size=(9, 2))
    move = b_spline(c, degree=degree, start=1.0, end=4.0)
    np.testing.assert_allclose(move([1.0, 4.0]).q, c[[0, -1]], atol=1e-13)
    knots = np.sort(rng.permutation(np.repeat(np.arange(15.0), degree))[:9 + degree + 1])  # some coincide
    move = b_spline(c, degree=degree, knots=knots)
    t = np.linspace(move.start, move.end, 50)[:-1]
    known = BSpline(knots, c, degree)
    for order in range(min(degree, 4)):
        np.testing.assert_allclose(move.derivatives(t)[order], known(t, order), atol=1e-10)
    with pytest.raises(cy.PlanningError, match="finite knots that never decrease"):
        b_spline(c, degree=degree, knots=knots[::-1])
    with pytest.raises(cy.SignatureError, match=f"more than {degree} control points"):
        b_spline(c[:degree], degree=degree)


def _fifty_digits(conditions, t: float):
    """The polynomial of (time, order, value) and its first three derivatives at a time, by mpmath."""
    with mpmath.workdps(50):
        def row(at, order):
            return [mpmath.ff(j, order) * mpmath.mpf(at) ** max(j - order, 0) if j >= order else mpmath.mpf(0)
                    for j in range(len(conditions))]
        c = mpmath.lu_solve(mpmath.matrix([row(at, order) for at, order, _ in conditions]),
                            mpmath.matrix([value for _, _, value in conditions]))
        return [float(sum(x * y for x, y in zip(row(t, order), c, strict=True))) for order in range(4)]


@pytest.mark.parametrize("listed", [
    [(0.0, 0, 1.0), (2.0, 0, -1.0)],
    [(0.0, 0, 0.0), (0.0, 1, 0.0), (0.0, 2, 0.0), (0.1, 0, 0.02), (0.9, 0, 0.98), (1.0, 0, 1.0), (1.0, 1, 0.0),
     (1.0, 2, 0.0)],
    [(1.0, 0, 3.0), (1.0, 3, 1.0), (1.5, 1, -2.0), (4.0, 0, 0.5), (4.0, 2, 1.0)],
    [(k / 10, 0, (-1.0)**k) for k in range(12)],
])
def test_any_list_of_conditions_in_fifty_digits(listed):
    words = ("q", "qd", "qdd", "qddd")
    move = polynomial_through([At(t, **{words[order]: [value, -2 * value]}) for t, order, value in listed])
    assert move.degree == len(listed) - 1
    for t in np.linspace(move.start, move.end, 7):
        known = _fifty_digits(listed, t)
        for order, values in enumerate(move.derivatives(t)):
            np.testing.assert_allclose(values, [known[order], -2 * known[order]], rtol=1e-9,
                                       atol=1e-12 * 10.0 ** (2 * order))


def test_via_points_of_the_worked_example():
    def between(first, second):
        return polynomial_through([At(0.0, 0.0, 0.0, 0.0), At(*first), At(*second), At(1.0, 1.0, 0.0, 0.0)])

    known = {((0.1, 0.02), (0.9, 0.98)): [21590 / 729, -82435 / 729, 14786 / 81, -100100 / 729, 28600 / 729],
             ((0.2, -0.1), (0.8, 1.1)): [-6945 / 128, 39205 / 128, -73257 / 128, 57575 / 128, -8225 / 64]}
    for points, coefficients in known.items():
        np.testing.assert_allclose(between(*points).coefficients[0, :, 0], [0, 0, 0, *coefficients], atol=1e-9)
    normal = [10 * t**3 - 15 * t**4 + 6 * t**5 for t in (0.3, 0.6)]
    found = between((0.3, normal[0]), (0.6, normal[1])).coefficients[0, 3:, 0]
    np.testing.assert_allclose(found, [10, -15, 6, 0, 0], atol=1e-10)


@pytest.mark.parametrize("conditions, words", [
    ([At(0.0, q=0.0), At(0.0, q=1.0), At(1.0, q=1.0)], "two conditions are on q at t = 0"),
    ([At(0.0, qd=0.0), At(1.0, qd=1.0)], "do not determine a polynomial"),
    ([At(0.0, q=0.0, qdd=1.0)], "at two times or more"),
    ([At(0.0, q=0.0), At(1.0)], "at two times or more"),
    ([At(0.0, q=[0.0, 1.0]), At(1.0, q=[0.0, 1.0, 2.0])], "are \\(n\\), or a number"),
    ([At(0.0, q=np.inf), At(1.0, q=1.0)], "finite numbers"),
])
def test_conditions_that_are_none(conditions, words):
    with pytest.raises(cy.CayleyError, match=words):
        polynomial_through(conditions)


@pytest.mark.spec("S2-96")
def test_via_poses_are_met_with_rest_at_the_ends():
    arm = cy.load("puma560")
    rng = np.random.default_rng(3)
    q = np.array([0.1, -0.8, 0.5, 0.4, 0.7, 0.2]) + rng.uniform(-0.3, 0.3, (4, 6))
    q[3, 0] = q[0, 0]  # a joint that comes back where it began, by way of another value
    poses = arm.pose(q, "tool")
    times = np.array([0.0, 0.5, 1.2, 2.0])
    move = motion_through_poses(arm, poses, "tool", times, start=q[0])
    assert move.degree == 7
    np.testing.assert_allclose(arm.pose(move(times).q, "tool"), poses, atol=1e-12)
    np.testing.assert_allclose(move(times).q, q, atol=1e-9)  # on the posture of the start
    ends = move(times[[0, -1]])
    np.testing.assert_allclose([ends.qd, ends.qdd], 0.0, atol=1e-11)
    with pytest.raises(cy.UnreachableError, match="pose 1 is not reached by 'tool' of puma560"):
        motion_through_poses(arm, [poses[0], poses[1] + np.diag([0, 0, 0, 0]) + 9 * np.eye(4, k=3)], "tool", [0.0, 1.0])
    with pytest.raises(cy.PlanningError, match="the times increase"):
        motion_through_poses(arm, poses, "tool", [0.0, 0.5, 0.5, 1.0], start=q[0])
    machine = cy.load("four_bar")  # with a loop: the crank's polynomial, and the others follow
    closed = machine.loops.follow_inputs({"crank": np.array([0.2, 0.5, 0.9, 1.3])}, start=machine.neutral).configuration
    passed = machine.pose(closed, "coupler")
    swing = motion_through_poses(machine, passed, "coupler", times, start=closed[0])
    np.testing.assert_allclose(machine.pose(swing(times).q, "coupler"), passed, atol=1e-9)
    assert np.abs(machine.loops.residual(swing(np.linspace(times[0], times[-1], 50)).q)).max() < 1e-12
    assert np.abs(swing(times[[0, -1]]).qd).max() < 1e-9
