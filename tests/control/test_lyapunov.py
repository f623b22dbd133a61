"""Candidates for Lyapunov functions: what is proved, what is sampled, what fails and where; LaSalle's theorem; the
closed forms of pendulum, springs and Van der Pol, arms under their laws, steps, quaternions."""

import numpy as np
import pytest
import sympy as sp

import cayley as cy
from cayley import where
from cayley.control import lyapunov_matrix, lyapunov_stability, pd_with_gravity_lyapunov
from cayley.control.stability.signs import polynomial_sign
from cayley.errors import SignatureError
from systems.plants import driven_rods, free_body, rods

x, v, z = sp.symbols("x v z")
pytestmark = pytest.mark.spec("S3-49")


def outcome(verdict, claim):
    """The outcomes of a claim, by scope."""
    return {finding.scope: finding.outcome for finding in verdict.findings if finding.claim.startswith(claim)}


def test_a_strict_candidate_proves_everything():
    verdict = lyapunov_stability({x: -x + v, v: -x - v**3 - v}, x**2 + v**2)
    assert (verdict.nature, verdict.scope, verdict.basis) == ("asymptotically stable", "globally", "proved")
    assert not verdict.sampled and not verdict.counterexamples and verdict.suggested is None
    assert "V' = -2*v**4 - 2*v**2 - 2*x**2" in str(verdict)


def test_lasalle_for_polynomials_is_a_proof():
    damped = lyapunov_stability({x: v, v: -x - x**3 - v}, v**2 + x**2 + x**4 / 2)
    assert (damped.nature, damped.scope, damped.basis) == ("asymptotically stable", "globally", "proved")
    assert outcome(damped, "nothing but") == {"globally": "proved"} and "V' = 0 where v = 0" in str(damped)
    # the same with a coordinate that nothing damps and nothing moves
    free = lyapunov_stability({x: v, v: -x - v, z: 0 * z}, x**2 + v**2 + z**2)
    assert (free.nature, free.basis) == ("stable", "proved") and outcome(free, "nothing but")["globally"] == "refuted"
    stays, other = free.counterexamples
    assert other["x"] == pytest.approx(0.0, abs=1e-8) and abs(other["z"]) > 1e-3  # found by samples too
    assert stays["x"] == stays["v"] == 0 and stays["z"] != 0
    # an undamped mode beside a damped one, seen through no spring: it swings for ever
    y, w = sp.symbols("y w")
    apart = lyapunov_stability({x: v, v: -x - v, y: w, w: -y}, x**2 + v**2 + y**2 + w**2)
    assert (apart.nature, outcome(apart, "nothing but")["globally"]) == ("stable", "refuted")
    joined = lyapunov_stability({x: v, v: y - 2 * x - v, y: w, w: x - 2 * y},
                                2 * x**2 + v**2 + 2 * y**2 + w**2 - 2 * x * y)
    assert (joined.nature, joined.scope, joined.basis) == ("asymptotically stable", "globally", "proved")


def test_a_conserved_quantity_is_stability_and_no_more():
    verdict = lyapunov_stability({x: v, v: -x - x**3}, v**2 / 2 + x**2 / 2 + x**4 / 4)
    assert (verdict.nature, verdict.basis) == ("stable", "proved") and verdict.suggested is None
    assert "V' = 0 everywhere" in str(verdict) and outcome(verdict, "nothing but") == {"globally": "refuted"}


def test_the_damped_pendulum_is_local_and_says_so():
    energy = v**2 / 2 + 1 - sp.cos(x)
    verdict = lyapunov_stability({x: v, v: -sp.sin(x) - v / 2}, energy, region={"x": 3.0, "v": 2.0}, samples=20_000)
    assert (verdict.nature, verdict.scope, verdict.basis) == ("asymptotically stable", "locally", "proved")
    assert verdict.suggested == ("asymptotically stable", "in the region")
    assert outcome(verdict, "V > 0") == {"locally": "proved", "in the region": "sampled"}
    assert outcome(verdict, "V grows") == {"globally": "open"}  # it is bounded in the angle: nothing global
    assert outcome(verdict, "V' <= 0") == {"globally": "proved"}
    assert outcome(verdict, "nothing but") == {"in the region": "sampled"}
    level = float(next(f.claim for f in verdict.findings if f.claim.startswith("what starts")).split("<")[1].split()[0])
    assert level == pytest.approx(1 - np.cos(3.0), rel=1e-5)  # less than 2 at the other equilibrium
    assert all(finding.samples for finding in verdict.sampled)
    wide = lyapunov_stability({x: v, v: -sp.sin(x) - v / 2}, energy, region={"x": 3.5, "v": 2.0}, samples=20_000)
    upright, = wide.counterexamples
    assert abs(upright["x"]) == pytest.approx(np.pi, abs=1e-6) and wide.suggested is None


def test_counterexamples_are_states_at_which_the_claim_fails():
    oscillator = {x: -v, v: x + (x**2 - 1) * v}  # Van der Pol, backwards
    V = lyapunov_matrix([[0.0, -1.0], [1.0, -1.0]])
    inside = lyapunov_stability(oscillator, V, region={"x": 0.8, "v": 0.8}, samples=20_000)
    assert inside.suggested == ("asymptotically stable", "in the region") and not inside.counterexamples
    outside = lyapunov_stability(oscillator, V, region={"x": 3.0, "v": 3.0}, samples=20_000)
    found, = outside.counterexamples
    a, b = found["x"], found["v"]
    slope = 2 * V @ [a, b]
    assert slope[0] * -b + slope[1] * (a + (a**2 - 1) * b) > 0
    assert (outside.nature, outside.basis, outside.suggested) == ("asymptotically stable", "proved", None)  # by poles
    for V, claim in ((x**2 + v**2 + 1, "V is zero"), (x**2 - v**2, "V > 0"), (x * v, "V > 0"), (x + v**2, "V > 0")):
        wrong = lyapunov_stability({x: v, v: -x - v}, V, samples=1000)
        assert "refuted" in outcome(wrong, claim).values() and wrong.counterexamples, V
    nearly = lyapunov_stability({x: v, v: -x - v}, x**2 + v**2 / 2, samples=1000)  # V' = x v - v^2
    at, = nearly.counterexamples
    assert at["x"] * at["v"] - at["v"] ** 2 > 0 and outcome(nearly, "V' <= 0") == {"locally": "refuted"}
    cliff = lyapunov_stability({x: -x / sp.sqrt(1 - x)}, x**2, region={"x": 2.0}, samples=1000)  # NaN beyond 1
    assert cliff.counterexamples[0]["x"] > 1 and outcome(cliff, "V' <= 0") == {"in the region": "refuted"}


def test_a_wrong_candidate_proves_nothing_and_higher_orders_decide():
    assert lyapunov_stability({x: -(x**3)}, x**2).scope == "globally"
    assert lyapunov_stability({x: x**3}, x**2, samples=100).nature == "undecided"
    assert lyapunov_stability({x: v, v: x - v}, x**2 + v**2, samples=100).nature == "unstable"  # by its poles
    slow = lyapunov_stability({x: -x / (1 + x**2)}, x**2 / (1 + x**2), samples=2000)
    assert outcome(slow, "V grows") == {"globally": "open"} and slow.scope == "locally"
    sampled = lyapunov_stability({x: -sp.sin(x) ** 3}, 1 - sp.cos(x), region={"x": 3.0}, samples=2000)
    assert (sampled.nature, sampled.basis, sampled.scope) == ("asymptotically stable", "sampled", "in the region")
    assert "only sampled" in sampled.sentence


def test_an_equilibrium_elsewhere_is_shifted():
    wells = {x: v, v: x - x**3 - v}
    verdict = lyapunov_stability(wells, v**2 / 2 + (x**2 - 1) ** 2 / 4, {x: 1}, region={"x": (-0.9, 2.0), "v": 1.0},
                                 samples=20_000)
    assert verdict.nature == "asymptotically stable" and verdict.suggested == ("asymptotically stable", "in the region")
    both = lyapunov_stability(wells, v**2 / 2 + (x**2 - 1) ** 2 / 4, {x: 1}, region={"x": 2.5}, samples=20_000)
    assert any(abs(float(state["x"]) + 1) < 1e-3 or abs(float(state["x"])) < 1e-3 for state in both.counterexamples)


def test_steps():
    contracting = {x: x / 2 + v / 4, v: -x / 4 - v**3 / 8}
    verdict = lyapunov_stability(contracting, x**2 + v**2, discrete=True, region={"x": 1.0, "v": 1.0}, samples=5000)
    assert verdict.nature == "asymptotically stable" and verdict.suggested == ("asymptotically stable", "in the region")
    linear = lyapunov_stability({x: v / 2, v: x}, x**2 + v**2, discrete=True)  # V falls each other step
    assert (linear.nature, linear.scope, linear.basis) == ("asymptotically stable", "globally", "proved")
    assert outcome(linear, "nothing but") == {"globally": "proved"}
    turning = lyapunov_stability({x: v, v: -x}, x**2 + v**2, discrete=True)
    assert (turning.nature, turning.basis) == ("stable", "proved")
    A = np.array([[0.9, 0.3], [-0.2, 0.8]])
    P = lyapunov_matrix(A, discrete=True)
    stepped = lyapunov_stability(lambda s: A @ s, P, [0.0, 0.0], discrete=True, samples=1000)
    assert (stepped.nature, stepped.basis) == ("asymptotically stable", "proved")
    grown = lyapunov_stability(lambda s: 1.1 * s, [[1.0]], [0.0], discrete=True, samples=100)
    assert grown.nature == "unstable" and grown.counterexamples


def test_arms_under_gravity_compensation():
    """W3-13: V' is zero wherever the arm stands, and it can stand at the target alone."""
    arm = driven_rods().including("armature")
    kp, kd, target = np.array([20.0, 15.0]), np.array([1.0, 0.8]), np.array([0.8, -0.5])
    loop = cy.connect(arm, arm.control.motors(), arm.control.pd_with_gravity(kp, kd, output="voltage"))
    V = pd_with_gravity_lyapunov(driven_rods(), kp, kd, output="voltage")
    verdict = lyapunov_stability(loop, lambda s: V(s.q, s.qd, target).value, {"q": target, "qd": np.zeros(2)},
                                 inputs={"target": target}, region={"q": 2.0, "qd": 3.0}, samples=20_000)
    assert (verdict.nature, verdict.basis) == ("asymptotically stable", "proved")
    assert verdict.suggested == ("asymptotically stable", "in the region")
    assert "V' = 0 where qd[0], qd[1] = 0" in str(verdict)
    assert outcome(verdict, "nothing but") == {"in the region": "sampled"}


def test_without_compensation_the_energy_is_no_candidate_at_the_target():
    arm = rods([0.5], [1.0])
    loop = cy.connect(arm, arm.control.pd(100.0, 5.0))
    with pytest.raises(SignatureError, match="does not rest"):
        lyapunov_stability(loop, lambda s: s.q @ s.q, {"q": [0.5], "qd": [0.0]}, inputs={"target": [0.5]})


def test_an_orientation_is_shifted_in_its_tangent():
    """A body held by a spring to an orientation: V = 2 k (1 - w^2) + w^T J w / 2, all the way but to the half-turn."""
    J = np.array([1.0, 2.0, 3.5])
    spring = cy.System("spring", inputs={"R": 4, "w": 3}, outputs={"moment": (3, "N m")},
                       output=lambda t, x, u, p: -4.0 * u.R[1:] * u.R[0] - 2.0 * u.w)
    loop = cy.connect(free_body(J), spring)
    verdict = lyapunov_stability(
        loop, lambda s: 4.0 * (s.R[1:] @ s.R[1:]) + s.w @ (J * s.w) / 2,
        {"R": [1.0, 0.0, 0.0, 0.0], "w": np.zeros(3)}, region={"R": 1.5, "w": 2.0}, samples=5000)
    assert (verdict.nature, verdict.basis) == ("asymptotically stable", "proved")
    assert outcome(verdict, "V' <= 0") == {"in the region": "sampled"}
    assert verdict.suggested == ("asymptotically stable", "in the region")
    assert set(verdict.region) == {"R[0]", "R[1]", "R[2]", "w[0]", "w[1]", "w[2]"}


def test_signs_of_polynomials():
    a, b = sp.symbols("a b", real=True)
    words = {a**2 + a * b + b**2: "positive definite", -(a**4) - b**2: "negative definite",
             a**2 * b**2: "positive semidefinite", a**4 - a**2: "undecided", (a + b) ** 4: "positive semidefinite",
             a**3: "undecided", -(a**2) * (1 + b**2): "negative semidefinite", a * 0: "zero",
             a**2 - 2 * a * b + b**2: "positive semidefinite", sp.sin(a) ** 2: "undecided", a**2 + b: "undecided",
             a**2 + b**4: "positive definite", -(a - b) ** 2 * (1 + a**2 + b**4): "negative semidefinite"}
    for expression, word in words.items():
        assert polynomial_sign(expression, (a, b)).word == word, expression
        if word.endswith("definite"):
            sign = 1 if word.startswith("positive") else -1
            points = np.random.default_rng(0).normal(size=(200, 2))
            assert (sign * sp.lambdify((a, b), expression + 0 * a)(*points.T) >= -1e-12).all()


def test_what_cannot_be_asked():
    damped = {x: v, v: -x - v}
    for V, match in (([[1.0, 0.5], [0.0, 1.0]], "symmetric"), ([[1.0]], r"\(2, 2\)"), ("energy", "a candidate must "
                                                "be")):
        with pytest.raises(SignatureError, match=match):
            lyapunov_stability(damped, V)
    with pytest.raises(SignatureError, match="no entry 'y'"):
        lyapunov_stability(damped, x**2 + v**2, region={"y": 1.0})
    with pytest.raises(SignatureError, match="equilibrium, 0, inside"):
        lyapunov_stability(damped, x**2 + v**2, region={"x": (1.0, 2.0)})
    with pytest.raises(SignatureError, match="at least one sample"):
        lyapunov_stability(damped, x**2 + v**2, samples=0)
    with pytest.raises(SignatureError, match="an expression of symbols"):
        lyapunov_stability(lambda s: -s, x**2, [0.0])


@pytest.mark.parametrize("seed", [3, 8, 19])  # rounding alone makes the curvature of V' negative
def test_what_rounding_leaves_of_a_rate_that_is_zero_proves_nothing(seed):
    T = np.random.default_rng(seed).normal(size=(2, 2))
    inverse = np.linalg.inv(T)
    turning = T @ np.array([[0.0, 1.0], [-1.0, 0.0]]) @ inverse
    weight = inverse.T @ inverse

    def rate(x):
        faster = 1.0 + sum(0.01 * np.sin(0.1 * (k + 1) * x[0] * x[1]) for k in range(40))
        return turning @ x * faster

    verdict = lyapunov_stability(rate, (weight + weight.T) / 2, [0.0, 0.0], samples=500, progress=False)
    assert (verdict.nature, verdict.basis) == ("stable", "sampled")
    assert not outcome(verdict, "V' < 0")


def test_second_derivatives_of_one_side_prove_no_sign():
    V = lambda x: x[0] ** 2 + where(x[0] > 0, 0.0, 1e-3 * x[0] - x[0] ** 2)  # noqa: E731
    verdict = lyapunov_stability(lambda x: -x - x * abs(x), V, [0.0], region={"x[0]": (0.0, 1.0)}, samples=500,
                                 progress=False)
    assert not any(f.claim == "V > 0 elsewhere" and f.outcome == "proved" for f in verdict.findings)
