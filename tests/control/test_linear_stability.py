"""Equilibria, and verdicts by linear models: closed forms, SciPy, Routh's limit from both sides, poles on the boundary,
systems that have no verdict and say so."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from scipy.linalg import block_diag, solve_continuous_lyapunov, solve_discrete_lyapunov
from scipy.optimize import brentq

import cayley as cy
from cayley import where
from cayley.control import (
    definiteness,
    error_dynamics,
    find_equilibrium,
    joint_control,
    joint_error_model,
    linear_stability,
    lyapunov_matrix,
    motors_of,
    sample_and_hold,
)
from cayley.dynamics.linearised.state_space import LinearisedMechanism, StateSpace
from cayley.errors import SignatureError, SingularityError, UnreachableError, UnsupportedError
from systems.plants import driven_rod, free_body, pendulum, rods


def test_an_arm_under_pd_rests_where_its_springs_hold_its_weight():
    arm = rods([0.5], [1.0])
    loop = cy.connect(arm, arm.control.pd(100.0, 5.0))
    rest = find_equilibrium(loop, {"q": [0.5], "qd": [0.0]}, inputs={"target": [0.5]})
    root = brentq(lambda q: 100 * (0.5 - q) - 2.4525 * np.cos(q), 0.0, 1.0, xtol=1e-14)
    assert rest.state["q"][0] == pytest.approx(root, abs=1e-12) and abs(rest.state["qd"][0]) < 1e-12
    assert rest.residual < 1e-10
    verdict = linear_stability(loop, rest.state, inputs={"target": [0.5]})
    stiffness = 100 - 2.4525 * np.sin(root)
    inertia = 1.0 * 0.25 / 3
    assert np.allclose(sorted(verdict.poles.real), sorted(np.roots([inertia, 5.0, stiffness]).real), rtol=1e-9)
    assert (verdict.nature, verdict.basis, verdict.scope) == ("asymptotically stable", "proved", "locally")
    with pytest.raises(SignatureError, match=r"does not rest at this state: qd\[0\] changes by .*find_equilibrium"):
        linear_stability(loop, {"q": [0.5], "qd": [0.0]}, inputs={"target": [0.5]})
    with pytest.raises(UnreachableError, match="no equilibrium of falling was found"):
        find_equilibrium(cy.System("falling", state={"v": "m/s"}, derivative=lambda t, x, u, p: -9.81 + 0 * x.v),
                         {"v": 0.0})


def test_routh_limit_from_both_sides():
    """W3-12: with inertia of motor and link the limit is where damping times stiffness is inertia times ki."""
    arm = driven_rod()
    model = joint_error_model(arm, 20.0, 1.0, target=[0.5], links=True)
    limit = (model.damping[0, 0] * model.stiffness[0, 0] / model.inertia[0, 0] / 5)
    found = {}
    for factor in (0.999, 1.001):
        loop = cy.connect(arm, motors_of(arm), joint_control(1, 20.0, 1.0, factor * limit, output="voltage"))
        start = {"q": [0.5], "qd": [0.0], "integral": [0.0]}
        rest = find_equilibrium(loop, start, inputs={"target": [0.5]})
        assert rest.state["q"][0] == pytest.approx(0.5, abs=1e-10)  # no offset
        found[factor] = linear_stability(loop, rest.state, inputs={"target": [0.5]})
    assert found[0.999].nature == "asymptotically stable" and found[1.001].nature == "unstable"
    assert found[0.999].is_stable is True and found[1.001].is_stable is False
    assert "2 of 3 poles" in str(found[1.001]) and found[1.001].basis == "proved"


def test_what_the_linear_model_cannot_say():
    undamped = linear_stability(pendulum(), {"angle": 0.0, "speed": 0.0}, inputs={"torque": 0.0})
    assert undamped.nature == "undecided" and undamped.basis == "nothing" and undamped.is_stable is None
    assert "higher orders decide" in str(undamped)
    up = linear_stability(pendulum(), {"angle": np.pi, "speed": 0.0}, inputs={"torque": 0.0})
    assert up.nature == "unstable" and up.poles[0] == pytest.approx(np.sqrt(9.81))
    x = sp.Symbol("x")
    for sign in (1, -1):
        assert linear_stability({x: sign * x**3}).nature == "undecided"


@pytest.mark.parametrize(("A", "discrete", "nature"), [
    ([[0, 1], [-4, 0]], False, "stable"),
    ([[0, 1], [0, 0]], False, "unstable"),  # a double pole at the origin, in one block
    ([[0, 0], [0, 0]], False, "stable"),  # in two
    ([[-3, 1, 0], [0, -3, 1], [0, 0, -3]], False, "asymptotically stable"),  # repeated
    (np.diag([0.0, -2.0]), False, "stable"),
    (np.diag([0.0, -2.0, 1e-3]), False, "unstable"),
    (block_diag([[0, 1], [-1, 0]], [[0, 1], [-1, 0]]), False, "stable"),
    ([[0, 1, 1, 0], [-1, 0, 0, 1], [0, 0, 0, 1], [0, 0, -1, 0]], False, "unstable"),
    ([[0, 1], [2, 0]], False, "unstable"),  # poles that are opposite
    ([[0.9, 1], [0, 0.9]], True, "asymptotically stable"),
    ([[1, 1], [0, 1]], True, "unstable"),
    ([[-1, 0], [0, 1]], True, "stable"),
    ([[-1, 1], [0, -1]], True, "unstable"),
    ([[0, 1], [-1, 0]], True, "stable"),
    ([[1.2, 0], [0, 0.1]], True, "unstable"),
    ([[0.0, 1.0], [0.0, 0.0]], True, "asymptotically stable"),  # at rest after two steps
])
def test_matrices_with_poles_everywhere(A, discrete, nature):
    verdict = linear_stability(A, discrete=discrete)
    assert (verdict.nature, verdict.basis) == (nature, "proved")
    assert verdict.nature == "unstable" or verdict.scope == "globally"


def test_random_matrices_and_what_a_margin_promises():
    rng = np.random.default_rng(3)
    for n in (1, 2, 5, 12, 30):
        for shift in (-2.0, 0.0, 2.0):
            A = rng.normal(size=(n, n)) + shift * np.sqrt(n) * np.eye(n)
            worst = np.linalg.eigvals(A).real.max()
            verdict = linear_stability(StateSpace(A, np.zeros((n, 0))))
            assert verdict.is_stable is bool(worst < 0)
            step = StateSpace(A, np.zeros((n, 0))).discretised(0.1)
            assert linear_stability(step).nature == verdict.nature


def test_systems_that_have_no_verdict():
    body = free_body([1.0, 2.0, 3.5])
    rest = {"R": [1.0, 0.0, 0.0, 0.0], "w": np.zeros(3)}
    spring = cy.System("spring", inputs={"R": 4, "w": 3}, outputs={"moment": (3, "N m")},
                       output=lambda t, x, u, p: -4.0 * u.R[1:] * u.R[0] - 2.0 * u.w)
    held = linear_stability(cy.connect(body.renamed({}, "body"), spring), rest)
    assert held.nature == "asymptotically stable" and len(held.poles) == 6  # in the tangent, without the seventh
    known = np.concatenate([np.roots([J, 2.0, 2.0]) for J in (1.0, 2.0, 3.5)])
    assert np.allclose(np.sort_complex(held.poles), np.sort_complex(known))
    with pytest.raises(UnsupportedError, match="depends on the time"):
        linear_stability(cy.System("clock", state={"x": ""}, derivative=lambda t, x, u, p: t - x.x), {"x": 0.0})
    with pytest.raises(UnsupportedError, match="modes or transitions"):
        linear_stability(sample_and_hold("tau", 1, 1e-3), {}, inputs={"wanted_tau": [0.0]})
    with pytest.raises(SignatureError, match="has no state"):
        linear_stability(cy.System("gain", inputs={"e": ""}, outputs={"u": ""}, output=lambda t, x, u, p: 2 * u.e), {},
                         inputs={"e": 0.0})
    with pytest.raises(SignatureError, match="no finite rates of x"):
        linear_stability(cy.System("log", state={"x": ""}, derivative=lambda t, x, u, p: np.log(x.x)), {"x": 0.0})
    with pytest.raises(SignatureError, match="finite numbers"):
        linear_stability([[np.nan, 1.0], [0.0, 1.0]])
    with pytest.raises(UnsupportedError, match="continuous time"):
        linear_stability(pendulum(), {"angle": 0.0, "speed": 0.0}, inputs={"torque": 0.0}, discrete=True)


def test_a_mechanism_with_loops_has_the_poles_of_its_independent_joints():
    bar = cy.load("four_bar")
    up = {"q": np.zeros(3), "qd": np.zeros(3)}
    drag = cy.System("drag", inputs={"qd": 3}, outputs={"tau": 3}, output=lambda t, x, u, p: -0.2 * u.qd)
    falling = linear_stability(bar, up, inputs={"tau": np.zeros(3)})
    assert falling.nature == "unstable" and len(falling.poles) == 2  # not the six of all joints
    assert np.allclose(falling.poles, LinearisedMechanism(bar.tree).at(np.zeros(3)).poles)
    hanging = bar.loops.close(np.array([3.1, 2.7, -3.1])).configuration
    rest = find_equilibrium(cy.connect(bar, drag), {"q": hanging, "qd": np.zeros(3)})
    assert linear_stability(cy.connect(bar, drag), rest.state).nature == "asymptotically stable"
    free = linear_stability(bar, rest.state, inputs={"tau": np.zeros(3)})
    assert free.nature == "undecided" and np.abs(free.poles.real).max() < 1e-9
    with pytest.raises(UnsupportedError, match="has constraints: `linear_stability` has a verdict"):
        error_dynamics(bar, up, inputs={"tau": np.zeros(3)})
    with pytest.raises(SignatureError, match=r"does not (rest|keep)"):
        linear_stability(bar, {"q": [0.3, 0.0, 0.0], "qd": np.zeros(3)}, inputs={"tau": np.zeros(3)})


def test_equilibria_elsewhere_and_functions_and_steps():
    x, v = sp.symbols("x v")
    equations = {x: v, v: x - x**3 - v / 2}  # two wells
    natures = [linear_stability(equations, {x: place}).nature for place in (-1, 0, 1)]
    assert natures == ["asymptotically stable", "unstable", "asymptotically stable"]
    rest = find_equilibrium(lambda s: np.stack([s[1], s[0] - s[0] ** 3 - s[1] / 2]), [0.8, 0.1])
    assert rest.state["x"] == pytest.approx([1.0, 0.0], abs=1e-10)
    logistic = {x: sp.Rational(14, 5) * x * (1 - x)}  # x_next: its fixed point has the factor 2 - r
    about = error_dynamics(logistic, {x: sp.Rational(9, 14)}, discrete=True)
    assert about.A[0, 0] == pytest.approx(-0.8) and about.rate([0.0]) == pytest.approx(0.0, abs=1e-15)
    assert linear_stability(logistic, {x: sp.Rational(9, 14)}, discrete=True).nature == "asymptotically stable"
    assert linear_stability(logistic, discrete=True).nature == "unstable"
    fixed = find_equilibrium(lambda s: 2.8 * s * (1 - s), [0.6], discrete=True)
    assert fixed.state["x"] == pytest.approx([9 / 14], abs=1e-12)
    with pytest.raises(SignatureError, match="not coordinates: k"):
        error_dynamics({x: -sp.Symbol("k") * x})


def test_the_matrix_equation_of_lyapunov():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 6)) - 4 * np.eye(6)
    root = rng.normal(size=(6, 6))
    Q = root @ root.T
    P = lyapunov_matrix(A, Q)
    assert np.allclose(A.T @ P + P @ A, -Q, atol=1e-12) and (np.linalg.eigvalsh(P) > 0).all()
    assert np.allclose(P, solve_continuous_lyapunov(A.T, -Q))
    F = 0.2 * rng.normal(size=(6, 6))
    assert np.allclose(lyapunov_matrix(F, Q, discrete=True), solve_discrete_lyapunov(F.T, Q))
    c, k = 0.3, 2.0  # of a mass on a damped spring, by hand
    closed = np.array([[c / (2 * k) + (1 + k) / (2 * c), 1 / (2 * k)], [1 / (2 * k), (1 + k) / (2 * k * c)]])
    assert np.allclose(lyapunov_matrix([[0, 1], [-k, -c]]), closed)
    for A, discrete, pole in (([[0, 1], [2, 1]], False, "2"), ([[0, 1], [0, -1]], False, "0"),
                              ([[0, 1], [-1, 0]], False, r"(0\+1j|-0\+1j|0-1j|-0-1j)"), ([[1.5]], True, "1.5")):
        with pytest.raises(SingularityError, match=f"the pole {pole},"):
            lyapunov_matrix(A, discrete=discrete)
    with pytest.raises(SignatureError, match="Q must be symmetric and not negative"):
        lyapunov_matrix(-np.eye(2), np.diag([1.0, -1.0]))
    with pytest.raises(SignatureError, match="finite numbers"):
        lyapunov_matrix([[np.nan]])


def test_definiteness_is_exact_where_numbers_are():
    third = Fraction(1, 3)
    assert definiteness([[third, third], [third, third]]).word == "positive semidefinite"
    barely = definiteness([[third, third], [third, third + Fraction(1, 10**40)]])
    assert barely.word == "positive definite" and barely.exact
    assert definiteness([[0, 0], [0, -1]]).word == "negative semidefinite"  # though leading minors are zero
    assert definiteness(np.zeros((2, 2))).word == "zero" and definiteness([[1, 2], [2, 1]]).word == "indefinite"
    assert definiteness([[0, 1], [1, 0]]).word == "indefinite"
    assert definiteness(sp.Matrix([[-2, 1], [1, -2]])).word == "negative definite"
    k, c = sp.symbols("k c", positive=True)
    assert definiteness([[k + c, c], [c, c]]).word == "positive definite"
    assert definiteness([[sp.Symbol("a")]]).word == "undecided"
    floats = definiteness(np.array([[1 / 3, 1 / 3], [1 / 3, 1 / 3]]))
    assert floats.word == "positive semidefinite" and not floats.exact and "eigenvalues" in floats.how
    hilbert = [[Fraction(1, i + j + 1) for j in range(12)] for i in range(12)]  # floats cannot tell
    assert definiteness(hilbert).word == "positive definite" and definiteness(hilbert).exact
    with pytest.raises(SignatureError, match="symmetric"):
        definiteness([[1.0, 2.0], [0.0, 1.0]])
    with pytest.raises(SignatureError, match="finite"):
        definiteness([[np.inf]])


# Kinks and jumps: the derivatives of one side prove nothing


@pytest.mark.parametrize("rate", [
    lambda x: -x + np.sign(x), lambda x: -x + 2 * abs(x), lambda x: where(x >= 0, -x, x), lambda x: where(x > 0, x, -x),
    lambda x: -x + np.maximum(2 * x, 0.0), lambda x: -x + np.floor(x) * (1 - x)])
def test_what_repels_on_one_side_of_a_kink_is_not_proved_to_be_stable(rate):
    verdict = linear_stability(rate, [0.0])
    assert (verdict.nature, verdict.basis) == ("undecided", "nothing")
    assert "kink" in str(verdict)
    away = 0.1 * np.array([[1.0], [-1.0]])
    assert (away * np.array([rate(x) for x in away]) > 0).any()  # it does repel


@pytest.mark.parametrize("rate", [
    lambda x: -x - x * abs(x), lambda x: where(x > 0, -x - x**2, -x + x**3), lambda x: -np.clip(x, -1.0, 1.0),
    lambda x: 0.5 - np.remainder(x + 0.5, 1.0)])
def test_pieces_with_the_same_derivative_are_as_good_as_one(rate):
    verdict = linear_stability(rate, [0.0])
    assert (verdict.nature, verdict.basis, verdict.scope) == ("asymptotically stable", "proved", "locally")


def test_a_derivative_that_is_the_same_everywhere_makes_nothing_linear_that_jumps():
    verdict = linear_stability(lambda x: -x + np.floor(x + 0.5), [0.0])  # it rests at every whole number
    assert (verdict.nature, verdict.scope) == ("asymptotically stable", "locally")


def test_a_drive_at_its_limit_has_no_linear_model():
    x, v = sp.symbols("x v", real=True)
    loop = {x: v, v: sp.Min(sp.Max(-4 * (x + 0.25) - 2 * v, -1), 1) + 1}  # rests where it asks for all that there is
    assert linear_stability(loop).nature == "undecided"


def test_what_rounding_leaves_of_a_stiffness_that_is_zero_proves_nothing():
    """A spring of a third power is stable; 0.1 + 0.2 - 0.3 is rounding."""
    verdict = linear_stability(lambda x: np.stack([x[1], (0.1 + 0.2) * np.sin(x[0]) - 0.3 * x[0] - x[0] ** 3]),
                               [0.0, 0.0])
    assert verdict.poles.real.max() > 1e-9
    assert (verdict.nature, verdict.basis) == ("undecided", "nothing")
