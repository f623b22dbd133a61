"""Attitudes integrated through half-turns, in both charts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from cayley.errors import ConventionError, GeometryError, SignatureError
from cayley.geometry import rates as cr
from cayley.geometry.motions import pose_from_dual_quaternion
from cayley.machines import integrate_attitude
from cayley.machines.centred_charts import attitude_chart, orthogonal_chart, pose_chart
from geometry.strategies import matrix_of, unit_quaternions, vectors

CHARTS = ["vector-parameter", "homogeneous"]


def cross_matrix(w):
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def rotation(c):
    """O(c) by the Cayley formula."""
    return (np.eye(3) + cross_matrix(c)) @ np.linalg.inv(np.eye(3) - cross_matrix(c))


@pytest.mark.spec("S0-20")
@pytest.mark.parametrize("frame", ["world", "body"])
@pytest.mark.parametrize("chart", CHARTS)
@pytest.mark.parametrize("w, c0", [((0, 0, 1), (0, 0, 0)), ((1 / 3, 2 / 3, -2 / 3), (0.3, 0, 0.1))])
def test_constant_rate(w, c0, chart, frame):
    """Spec WE-04: through t = pi to t = 6 without failure, 1e-9 allowed; far beyond it too."""
    times = np.array([0.0, 1.0, np.pi, 6.0, 40.0])
    path = integrate_attitude(lambda t: w, rotation(np.array(c0)), times, frame=frame, chart=chart)
    for t, R in zip(times, path.matrices, strict=True):
        turn = expm(t * cross_matrix(w))
        exact = turn @ rotation(np.array(c0)) if frame == "world" else rotation(np.array(c0)) @ turn
        np.testing.assert_allclose(R, exact, rtol=0, atol=2e-10)
    if c0 == (0, 0, 0):
        np.testing.assert_allclose(path.half_turns, np.arange(1, 13, 2) * np.pi, atol=1e-9)
        c = path.homogeneous[3]
        np.testing.assert_allclose(c[1:] / c[0], [0, 0, np.tan(3.0)], atol=1e-9)


@pytest.mark.spec("S0-20")
@pytest.mark.parametrize("chart", CHARTS)
@pytest.mark.parametrize("sense", [1.0, -1.0])
def test_half_turns_that_are_touched_or_nearly_so(chart, sense):
    """Swings about z by the angle reach sin(t): touched at the quarter periods for reach = pi, crossed twice for more,
    missed for less.
    """
    def found(reach, end=8.0):
        path = integrate_attitude(lambda t: [0.0, 0.0, reach * np.cos(t)], np.eye(3), [0.0, sense * end],
                                     frame="world", chart=chart)
        return sense * path.half_turns

    np.testing.assert_allclose(found(np.pi), np.pi * np.array([0.5, 1.5, 2.5]), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found(np.pi, 3.0), [np.pi / 2], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found(np.pi, np.pi / 2), [np.pi / 2], rtol=0, atol=1e-6)  # at the very end
    assert found(np.pi * (1 - 1e-7)).size == 0
    first = np.arcsin(1 / 1.001)
    np.testing.assert_allclose(found(np.pi * 1.001, 4.0), [first, np.pi - first], rtol=0, atol=1e-8)


def test_a_body_that_stays_half_a_turn_away_is_one_half_turn():
    # w = 0 all the way
    path = integrate_attitude(lambda t: [0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0], [0.0, 2.0], frame="body")
    assert len(path.half_turns) == 1


@pytest.mark.spec("S0-20")
@pytest.mark.parametrize("chart", CHARTS)
def test_torque_free_body(chart):
    """Spec WE-05: the attitude of a tumbling body from its body rates; one half-turn, at t = 2.9034749037."""
    J = np.array([1.0, 2.0, 3.0])
    rates = solve_ivp(lambda t, w: -np.cross(w, J * w) / J, (0, 10), [0.4, 1.0, -0.3], method="DOP853", rtol=1e-13,
                      atol=1e-14, dense_output=True)
    path = integrate_attitude(lambda t: rates.sol(t), np.eye(3), [0.0, 1.0, 2.0, 3.0, 10.0], frame="body",
                                 chart=chart)
    np.testing.assert_allclose(path.half_turns, [2.9034749037], rtol=0, atol=1e-9)
    c = path.homogeneous[:, 1:] / path.homogeneous[:, :1]
    np.testing.assert_allclose(c[1], [0.305674727197, 0.508843969782, -0.233691524249], rtol=0, atol=1e-9)
    np.testing.assert_allclose(c[2], [1.153620661255, 1.338493830170, -1.221364866728], rtol=0, atol=1e-9)
    np.testing.assert_allclose(c[3], [-10.46595152, -9.54970298, 22.38880028], rtol=0, atol=1e-6)
    for t, R in zip(path.times, path.matrices, strict=True):
        np.testing.assert_allclose(R @ (J * rates.sol(t)), [0.4, 2.0, -0.9], rtol=0, atol=1e-9)


@pytest.mark.spec("S0-20", "S0-06")
def test_what_the_path_reports():
    """Charts and re-centrings in one chart, the drift of the norm in the other; results are unit, continuous, and known
    in between.
    """
    def w(t):
        return [np.sin(t), 2.0, np.cos(3 * t)]

    times = np.linspace(0, 12, 200)
    centred = integrate_attitude(w, np.eye(3), times, frame="world")
    assert len(centred.spans) == len(centred.recentrings) + 1 > 10
    assert centred.norm_drift == 0
    ends = [s.end for s in centred.spans]
    np.testing.assert_array_equal(ends[:-1], [s.start for s in centred.spans[1:]])
    np.testing.assert_array_equal(centred.recentrings, ends[:-1])
    for span in centred.spans[:-1]:
        c = span.form(np.array([span.end]))[0]
        quarter = angle_between(span.reference, c)
        assert abs(quarter - np.pi / 2) < 1e-9
    free = integrate_attitude(w, np.eye(3), times, frame="world", chart="homogeneous", rtol=1e-6, atol=1e-8)
    assert 1e-12 < free.norm_drift < 1e-3 and len(free.spans) == 1 and len(free.recentrings) == 0
    for path in (centred, free):
        np.testing.assert_allclose(np.linalg.norm(path.homogeneous, axis=1), 1, rtol=0, atol=4e-16)
        assert np.max(np.linalg.norm(np.diff(path.homogeneous, axis=0), axis=1)) < 0.2
        np.testing.assert_allclose(path.at(times), path.homogeneous, rtol=0, atol=1e-15)
        assert path.evaluations > 100
    for t in centred.half_turns:
        assert abs(centred.at(t)[0]) < 1e-12
    crossings = np.sum(np.diff(np.sign(centred.homogeneous[:, 0])) != 0)
    assert len(centred.half_turns) == crossings > 1
    np.testing.assert_allclose(centred.matrices,
                               integrate_attitude(w, np.eye(3), times, frame="world", chart="homogeneous").matrices,
                               rtol=0, atol=1e-9)


def angle_between(a, b):
    """The angle between two homogeneous forms."""
    return 2 * np.arccos(min(1.0, abs(a @ b) / np.linalg.norm(a) / np.linalg.norm(b)))


@pytest.mark.spec("S0-20")
@settings(max_examples=15)
@given(unit_quaternions(), vectors(3), st.sampled_from(CHARTS), st.sampled_from(["world", "body"]),
       st.sampled_from([1.0, -1.0]))
def test_any_start_forwards_and_backwards(q, w, chart, frame, sense):
    """Starts at half-turns, and times that run backwards, are nothing special."""
    path = integrate_attitude(lambda t: w, q, sense * np.array([0.0, 0.7, 2.0]), frame=frame, chart=chart)
    turn = expm(sense * 2.0 * cross_matrix(w))
    exact = turn @ matrix_of(q) if frame == "world" else matrix_of(q) @ turn
    np.testing.assert_allclose(path.matrices[-1], exact, rtol=0, atol=1e-9)


@pytest.mark.spec("S0-20", "S0-73", "S1-105")
@pytest.mark.parametrize("frame", ["world", "body"])
def test_charts_are_systems_that_roll_in_batches(frame):
    """Many turns in compiled steps, with their recentrings: exponentials of constant velocities."""
    turns = np.random.default_rng(3).normal(size=(5, 3))
    many = {"step": 5e-3, "steps": 1600, "every": 1600}
    run = attitude_chart(frame).rollout()({"reference": [1.0, 0.0, 0.0, 0.0]}, inputs={"velocity": turns}, **many)
    slides = np.concatenate([turns[::-1], turns], axis=1)
    start = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    moved = pose_chart(frame).rollout()({"reference": start}, inputs={"velocity": slides}, **many)
    skew = np.zeros((5, 4, 4))
    skew[:, :3, :3] = [cross_matrix(w) for w in turns]
    skew[:, 3, :3], skew[:, :3, 3] = turns, -turns
    tensors = orthogonal_chart(4, frame).rollout()({"reference": np.eye(4)}, inputs={"velocity": skew}, **many)
    assert (run.log.count > 2).all() and (tensors.log.count > 2).all()
    for k, w in enumerate(turns):
        np.testing.assert_allclose(matrix_of(run.outputs["place"][k, -1]), expm(8.0 * cross_matrix(w)), atol=2e-7)
        twist = np.zeros((4, 4))
        twist[:3, :3], twist[:3, 3] = cross_matrix(w), slides[k, :3]
        pose = pose_from_dual_quaternion(moved.outputs["place"][k, -1])
        np.testing.assert_allclose(pose, expm(8.0 * twist), atol=2e-7)
        np.testing.assert_allclose(tensors.outputs["place"][k, -1], expm(8.0 * skew[k]), atol=2e-7)


def test_a_body_that_starts_and_ends_in_half_turns():
    path = integrate_attitude(lambda t: [0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 5.0], [0.0, 2 * np.pi], frame="body")
    assert path.half_turns[0] == 0.0
    np.testing.assert_allclose(path.matrices[-1], np.diag([-1, -1, 1]), atol=1e-9)


def test_refusals():
    def w(t):
        return [0.0, 0.0, 1.0]
    with pytest.raises(ConventionError, match="'world' or in the 'body'"):
        integrate_attitude(w, np.eye(3), [0, 1], frame="spatial")
    with pytest.raises(ConventionError, match="chart"):
        integrate_attitude(w, np.eye(3), [0, 1], frame="world", chart="euler")
    for times in ([0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 0.5]):
        with pytest.raises(SignatureError, match="times"):
            integrate_attitude(w, np.eye(3), times, frame="world")
    with pytest.raises(GeometryError, match="not a rotation"):
        integrate_attitude(w, 2 * np.eye(3), [0, 1], frame="world")
    with pytest.raises(GeometryError, match="shape"):
        integrate_attitude(w, np.zeros(3), [0, 1], frame="world")
    with pytest.raises(GeometryError, match="three finite numbers"):
        integrate_attitude(lambda t: [0.0, 0.0, np.nan], np.eye(3), [0, 1], frame="world")
    with pytest.raises(GeometryError, match="not known outside"):
        integrate_attitude(w, np.eye(3), [0, 1], frame="world").at(1.5)
    for chart in CHARTS:
        with pytest.raises(cr.IntegrationError, match="beyond t = 1"), np.errstate(all="ignore"):
            integrate_attitude(lambda t: [0, 0, 1e200], np.eye(3), [1, 2], frame="world", chart=chart)
