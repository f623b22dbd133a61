"""Motions of every kind against SciPy, finite differences and themselves: values, times outside, kernels, files."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import cayley as cy
from cayley.control import simulate_law, tracking_control
from cayley.model.constraint_kinds import PrescribedMotion
from cayley.planning import (
    Composed,
    FunctionOfTime,
    Motion,
    Polynomials,
    Sequence,
    Together,
    cubic_spline,
    load_motion,
)
from cayley.planning.splines.polynomials import line

_rng = np.random.default_rng(18)
_TIMES = np.cumsum(_rng.uniform(0.2, 1.0, 8))
_SPLINE = CubicSpline(_TIMES, _rng.normal(size=(8, 3)), bc_type="clamped")


def _spline() -> Polynomials:
    return Polynomials.of_scipy(_SPLINE)


def _swing() -> FunctionOfTime:
    return FunctionOfTime(lambda t: np.stack([np.sin(t), t**4, np.exp(-t)]), 0.5, 2.0)


def _kinds() -> dict[str, Motion]:
    cubic = Polynomials([0.0, 4.0], [[[0.0], [0.0], [3 / 16], [-1 / 32]]])
    path = _spline()
    along = line(0.0, 1.0, path.start, path.end)
    return {"polynomials": path, "function": _swing(), "composed": Composed(path, Composed(along, cubic)),
            "sequence": _swing().then(_swing().reversed()), "together": Together((_swing(), _swing().reversed())),
            "scaled": _swing().scaled(duration=0.7), "cut": _swing().during(0.9, 1.3),
            "blended": _swing().blended(_swing().reversed(), 0.4)}


@pytest.fixture(scope="module", params=_kinds())
def motion(request: pytest.FixtureRequest) -> Motion:
    return _kinds()[request.param]


def test_each_derivative_is_that_of_the_one_before(motion):
    h = 1e-5 * motion.duration
    t = np.linspace(motion.start, motion.end, 41)[1:-1] + 0.0123 * h
    t = t[np.abs(t[:, None] - motion.breaks).min(axis=1) > 2 * h]
    for k in range(3):
        slope = (motion.derivatives(t + h)[k] - motion.derivatives(t - h)[k]) / (2 * h)
        exact = motion.derivatives(t)[k + 1]
        np.testing.assert_allclose(slope, exact, rtol=1e-6, atol=1e-6 * (1 + np.abs(exact).max()))


def test_one_time_a_batch_and_a_kernel_agree(motion):
    t = np.linspace(motion.start, motion.end, 20).reshape(4, 5)
    whole = motion.derivatives(t)
    n, v = motion.nq, motion.nv
    traced = cy.kernel(f"()->({n}),({v}),({v}),({v})", name="traced")(lambda t: tuple(motion.derivatives(t)))
    for values, alone, inside in zip(whole, motion.derivatives(float(t[2, 3])), traced(t), strict=True):
        assert values.shape[:2] == (4, 5)
        np.testing.assert_allclose(alone, values[2, 3], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(inside, values, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(motion.position(t), whole[0], rtol=1e-13, atol=1e-13)
    assert motion(t[:0]).q.shape == motion.position(t[:0]).shape == (0, 5, n)
    assert np.isnan(motion.position(np.array([np.nan, t[0, 0]]))).any(axis=-1).tolist() == [True, False]


def test_the_compiler_differentiates_it_too(motion):
    n = motion.nq
    traced = cy.kernel(f"()->({n})", name="traced")(lambda t: motion(t).q).jacobian("t")
    t = np.array([motion.start, 0.3 * motion.start + 0.7 * motion.end, motion.end])
    np.testing.assert_allclose(traced(t), motion(t).qd, rtol=1e-9, atol=1e-10)


def test_polynomials_are_those_of_scipy():
    t = _rng.uniform(_TIMES[0], _TIMES[-1], 200)
    for k, values in enumerate(_spline().derivatives(t)):
        np.testing.assert_allclose(values, _SPLINE(t, k), rtol=1e-12, atol=1e-11)


def test_a_motion_at_rest_stays_where_it_is():
    move = _spline()
    before, after = move(_TIMES[0] - 3.0), move(_TIMES[-1] + 3.0)
    np.testing.assert_allclose([before.q, after.q], _SPLINE(_TIMES[[0, -1]]), atol=1e-13)
    assert not np.any([before.qd, before.qdd, after.qd, after.qdd, move.jerk([-9.0])[0]])
    held = cy.kernel("()->(3),(3),(3)", name="held")(lambda t: move(t))
    np.testing.assert_allclose(held(_TIMES[-1] + 1.0), [after.q, after.qd, after.qdd], atol=1e-13)


def test_a_motion_that_does_not_rest_has_no_value_outside():
    move = _swing()
    with pytest.raises(cy.PlanningError, match=r"t = 2.1 is not of this motion, which is in \[0.5, 2\]"):
        move([1.0, 2.1])
    traced = cy.kernel("()->(3)", name="traced")(lambda t: move(t).q)
    assert np.isnan(traced([0.4, 2.1])).all() and np.isfinite(traced([0.5, 2.0])).all()
    for late in (np.nextafter(2.0, 3.0), sum([0.1] * 15) + 0.5):  # rounding of a sum of times
        np.testing.assert_array_equal(move(late).q, move(min(late, 2.0)).q)
        np.testing.assert_allclose(traced(late), move(2.0).q, atol=1e-12)
    epoch = move.shifted(1.8e9)
    with pytest.raises(cy.PlanningError, match="is not of this motion"):
        epoch(epoch.end + 1e-4)


def test_other_times_other_direction():
    move = _swing()
    t = np.linspace(0.5, 2.0, 17)
    np.testing.assert_allclose(move.shifted(7.0)(t + 6.5).qdd, move(t).qdd, rtol=1e-13)
    slow = move.scaled(duration=3.0)
    assert (slow.start, slow.end) == (0.5, 3.5)
    np.testing.assert_allclose(slow.jerk(2 * t - 0.5), move.jerk(t) / 8, rtol=1e-12)
    back = _spline().reversed()
    u = np.linspace(_TIMES[0], _TIMES[-1], 30)[1:-1]
    assert isinstance(back, Polynomials)
    np.testing.assert_allclose(back(u).q, _spline()(_TIMES[0] + _TIMES[-1] - u).q, atol=1e-12)
    np.testing.assert_allclose(back(u).qd, -_spline()(_TIMES[0] + _TIMES[-1] - u).qd, atol=1e-11)


def test_no_time_no_distance_and_samples():
    move = _swing()
    for duration in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(cy.PlanningError, match="a motion must take a time > 0"):
            move.scaled(duration=duration)
    for part in ((0.5, 0.5), (1.0, 0.9), (0.4, 1.0), (1.0, 2.1)):
        with pytest.raises(cy.PlanningError, match="is not within the motion"):
            move.during(*part)
    with pytest.raises(cy.PlanningError, match="ends after its start"):
        FunctionOfTime(lambda t: t, 1.0, 1.0)
    t, state = move.sampled(0.1)
    np.testing.assert_allclose(t, np.linspace(0.5, 2.0, 16))
    np.testing.assert_array_equal(state.qd, move(t).qd)
    assert len(move.sampled(99.0)[0]) == 2
    with pytest.raises(cy.PlanningError, match="a time > 0 apart"):
        move.sampled(0.0)
    still = line(0.0, 1.0, [2.0], [2.0])
    assert still.rests == (True, True) and still.then(still.reversed()).continuity == 3
    assert not still([-1.0, 0.5, 9.0]).qd.any()


def test_sequences_are_checked_and_polynomials_stay_polynomials():
    there_and_back = _spline().then(_spline().reversed(), line(0.0, 1.0, _SPLINE(_TIMES[0]), [0.0, 0.0, 0.0]))
    assert isinstance(there_and_back, Polynomials) and there_and_back.degree == 3
    assert there_and_back.duration == pytest.approx(2 * (_TIMES[-1] - _TIMES[0]) + 1.0)
    assert isinstance(_swing().then(_swing().reversed(), _swing()), Sequence)
    with pytest.raises(cy.PlanningError, match=r"motion 1 begins at .* where the one before it ends at"):
        _swing().then(_swing())
    with pytest.raises(cy.SignatureError, match="of the same joints"):
        _swing().then(line(0.0, 1.0, [0.0], [1.0]))


def test_corners_are_rounded():
    right = line(0.0, 1.0, [0.0, 0.0], [1.0, 0.0])
    up = line(0.0, 1.0, [1.0, 0.0], [1.0, 1.0])
    assert right.then(up).continuity == 0
    rounded = right.blended(up, 0.5)
    assert rounded.continuity == 2 and rounded.duration == 2.0
    np.testing.assert_allclose(rounded(1.0).q, [1 - 3 / 64, 3 / 64], atol=1e-14)  # integral of 3 u^2 - 2 u^3
    with pytest.raises(cy.PlanningError, match="give a duration > 0 and < 2 s, not 2"):
        right.blended(up, 2.0)


def test_files(tmp_path, motion):
    if not isinstance(motion.path if isinstance(motion, Composed) else motion, Polynomials):
        with pytest.raises(cy.UnsupportedError, match="FunctionOfTime is not data"):
            motion.save(tmp_path / "move")
        return
    found = load_motion(motion.save(tmp_path / "move"))
    t = np.linspace(motion.start, motion.end, 9)
    for a, b in zip(found.derivatives(t), motion.derivatives(t), strict=True):
        np.testing.assert_array_equal(a, b)
    (tmp_path / "bad.npz").write_bytes(b"no")
    with pytest.raises(cy.PlanningError, match="not a motion file"):
        load_motion(tmp_path / "bad.npz")


@pytest.mark.parametrize("breaks, coefficients, words", [
    ([0.0, 1.0, 1.0], np.zeros((2, 1, 1)), "1 and 2 are 1 and 1: leave one"),
    ([0.0, np.nan], np.zeros((1, 1, 1)), r"\[1\] is not"),
    ([0.0], np.zeros((0, 1, 1)), "two numbers or more"),
    ([0.0, 1.0], np.zeros((1, 1)), r"\(1, degree \+ 1, n\)"),
    ([0.0, 1.0], np.full((1, 1, 1), np.inf), "piece 0 are not finite"),
])
def test_what_is_no_motion_is_named(breaks, coefficients, words):
    with pytest.raises(cy.CayleyError, match=words):
        Polynomials(breaks, coefficients)


def test_it_says_what_it_is_and_travels(motion):
    assert repr(motion).startswith(f"<motion of {motion.nq} coordinates from {motion.start:g} to {motion.end:g} s: ")
    assert repr(_spline()).endswith("Polynomials in 7 pieces>")
    if isinstance(motion, Polynomials):
        motion(motion.start)
        there = pickle.loads(pickle.dumps(motion))
        np.testing.assert_array_equal(there(motion.breaks).qdd, motion(motion.breaks).qdd)


def test_very_many_times():
    move = _spline()
    t = np.random.default_rng(0).uniform(_TIMES[0], _TIMES[-1], (70_000, 2))
    found = move(t)
    assert found.q.shape == (70_000, 2, 3)
    np.testing.assert_array_equal(found.qdd[69_999], move(t[69_999]).qdd)
    np.testing.assert_array_equal(found.q[0], move(t[0]).q)


def test_ten_thousand_pieces_are_a_table():
    knots = np.cumsum(_rng.uniform(0.5, 1.5, 10_001))
    spline = CubicSpline(knots, _rng.normal(size=(10_001, 2)))
    move = Polynomials.of_scipy(spline)
    t = _rng.uniform(knots[0], knots[-1], 1000)
    traced = cy.kernel("()->(2),(2),(2)", name="traced")(lambda t: move(t))
    assert traced.operations().total < 200
    for k, values in enumerate(traced(t)):
        np.testing.assert_allclose(values, spline(t, k), atol=1e-9)


def test_a_controller_takes_it():
    arm = cy.load("planar3r")
    move = Polynomials([0.0, 1.0], [[[0.1, 0.2, 0.3], [0.0] * 3, [0.0] * 3, [2.0, -1.0, 1.0], [-1.0, 0.5, -0.5]]])
    law = cy.kernel("(),(3),(3)->(3)", name="law")(lambda t, q, qd: arm.inverse_dynamics(*move(t)))
    end = arm.simulate(move(0.0).q, move(0.0).qd, until=1.0, controller=law)
    np.testing.assert_allclose(end.q[-1], move(1.0).q, atol=1e-6)
    ideal = cy.System("follower", state={"q": 3}, inputs={"target": 3, "target_qd": 3},
                      derivative=lambda t, x, u, p: u.target_qd + 10.0 * (u.target - x.q))
    loop = cy.connect(ideal, move.system())
    rolled = loop.rollout()({"q": move(0.0).q}, step=1e-3, steps=1000)
    np.testing.assert_allclose(rolled.end["q"], move(1.0).q, atol=1e-9)
    led = ideal.simulate({"q": move(0.0).q}, until=1.0, inputs={"target": move.position, "target_qd": move.velocity})
    np.testing.assert_allclose(led.end["q"], move(1.0).q, atol=1e-6)


def test_a_joint_is_moved_by_it():
    move = cubic_spline([0.0, 1.0, 2.0, 3.0], [0.2, 0.9, -0.4, 0.3], "clamped")
    led = cy.Mechanism(cy.load("planar2r").tree.with_constraints([], [PrescribedMotion("crank", "joint1", move)]))
    run = led.simulate([0.2, 0.3], [0.0, 0.0], until=3.0, progress=False)
    np.testing.assert_allclose(run.q[:, 0], move(run.t).q[:, 0], atol=1e-9)
    twice = FunctionOfTime(lambda t: 2.0 * move(t).q, 0.0, 3.0)  # differentiated by the compiler
    for a, b in zip(twice.derivatives(run.t), move.derivatives(run.t), strict=True):
        np.testing.assert_allclose(a, 2.0 * b, atol=1e-12)


def test_a_tracking_law_takes_it():
    arm = cy.load("s1_f2")
    move = Polynomials([0.0, 1.0], [[[0.1, 0.2], [0.0] * 2, [0.0] * 2, [2.0, -1.0], [-1.0, 0.5]]])
    law = tracking_control(arm.tree, move, [0.0, 0.5, 1.0], poles=[-8.0, -9.0, -10.0, -11.0])
    run = simulate_law(arm.tree, law, move(0.0).q + 0.01, move(0.0).qd, [0.0, 0.9])
    assert np.abs(run.q[-1] - move(0.9).q).max() < 2e-4
