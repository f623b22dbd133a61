"""Ordinary differential equations: closed forms, both directions, early ends, and what is said when it fails."""

import numpy as np
import pytest
from scipy.special import ellipj

from cayley.errors import SignatureError
from cayley.ordinary_equations import METHODS, IntegrationError, integrate

TIGHT = {"rtol": 1e-11, "atol": 1e-12}


@pytest.mark.parametrize("times", [np.linspace(0.0, 6.0, 13), np.linspace(1.0, -4.0, 6)])
def test_an_oscillator_goes_forwards_and_backwards(times):
    found = integrate(lambda t, x: [x[1], -x[0]], [np.sin(times[0]), np.cos(times[0])], times, **TIGHT)
    assert found.status == "finished" and (found.times == times).all() and found.end == times[-1]
    np.testing.assert_allclose(found.states, np.stack([np.sin(times), np.cos(times)], axis=1), atol=1e-9)
    between = np.linspace(times[0], times[-1], 50)
    np.testing.assert_allclose(found.dense(between)[:, 0], np.sin(between), atol=1e-8)
    np.testing.assert_allclose(found.end_state, found.states[-1], atol=1e-12)
    assert found.steps[0] == times[0] and found.steps[-1] == times[-1]


@pytest.mark.parametrize("method", METHODS)
def test_every_integrator_follows_the_free_top(method):
    """Euler's equations with moments 1, 2, 3: Jacobi's elliptic functions."""
    times = np.linspace(0.0, 3.0, 7)
    start = [0.5, 0.0, 1.0]
    found = integrate(lambda t, w: [-w[1] * w[2], w[0] * w[2], -w[0] * w[1] / 3], start, times, method=method,
                      rtol=1e-6, atol=1e-8)
    # w1 = a cn, w2 = a sn, w3 = c dn with the speed c and k^2 = a^2 / (3 c^2)
    sn, cn, dn, _ = ellipj(times, 0.25 / 3)
    np.testing.assert_allclose(found.states, np.stack([0.5 * cn, 0.5 * sn, dn], axis=1), atol=2e-4)


def test_a_sign_change_ends_it():
    found = integrate(lambda t, x: [x[1], -9.81], [0.0, 3.0], [0.0, 0.1, 0.2, 5.0], stop=lambda t, x: x[1], **TIGHT)
    assert found.status == "stopped" and found.end == pytest.approx(3.0 / 9.81, abs=1e-10)
    assert found.end_state == pytest.approx([9.0 / 2 / 9.81, 0.0], abs=1e-9)
    assert found.times.tolist() == [0.0, 0.1, 0.2] and len(found.states) == 3
    assert found.checked("the throw") is found


def test_what_was_found_before_a_failure_is_kept():
    with np.errstate(all="ignore"):
        found = integrate(lambda t, x: x**2, [1.0], [0.0, 0.5, 0.9, 2.0], **TIGHT)
    assert found.status == "failed" and found.end == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(found.states[:, 0], [1.0, 2.0, 10.0], rtol=1e-8)
    with pytest.raises(IntegrationError, match=r"the flow could not be integrated beyond t = 1: .*step size"):
        found.checked("the flow")


def test_a_rate_that_is_no_number_at_the_start_is_said_at_once():
    found = integrate(lambda t, x: x * np.nan, [1.0, 2.0], [3.0, 4.0], **TIGHT)
    assert found.status == "failed" and found.evaluations == 1 and found.states.tolist() == [[1.0, 2.0]]
    with pytest.raises(IntegrationError, match="beyond t = 3: the rate is not finite there"):
        found.checked("nothing")


def test_refusals():
    with pytest.raises(SignatureError, match="two or more instants"):
        integrate(lambda t, x: x, [1.0], [0.0], **TIGHT)
    with pytest.raises(SignatureError, match="two or more instants"):
        integrate(lambda t, x: x, [1.0], [0.0, 1.0, 0.5], **TIGHT)
    with pytest.raises(SignatureError, match=r"shape \(2,\), its rate \(1,\)"):
        integrate(lambda t, x: x[:1], [1.0, 2.0], [0.0, 1.0], **TIGHT)
    with pytest.raises(SignatureError, match="no integrator 'DOP835': did you mean 'DOP853'"):
        integrate(lambda t, x: x, [1.0], [0.0, 1.0], method="DOP835", **TIGHT)
