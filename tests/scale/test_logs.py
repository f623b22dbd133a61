"""Identification from logs in pieces: the same estimate as from all samples at once."""

from itertools import pairwise

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.linalg
import zarr

import cayley as cy
from cayley.dynamics.identification import (
    Measurements,
    base_parameters,
    least_squares,
    logged_measurements,
    physical_estimate,
    simulate_measurements,
    summed_measurements,
)
from cayley.errors import ConventionError, GeometryError, SignatureError, SingularityError
from cayley.scale import summed_log

COLUMNS = ("q", "qd", "qdd", "tau")


@pytest.fixture(scope="module")
def base():
    return base_parameters(cy.load("planar2r").identification.linear_model(joint_terms=["viscous", "coulomb"]))


@pytest.fixture(scope="module")
def measured(base):
    states = np.random.default_rng(0).normal(size=(3, 10_000, 2))
    return simulate_measurements(base.model, *states, noise=np.array([0.1, 0.4]), seed=1)


@pytest.fixture(scope="module")
def log(measured, tmp_path_factory):
    group = zarr.open_group(tmp_path_factory.mktemp("log"))
    return {name: group.create_array(name, data=getattr(measured, name), chunks=(1024, 2)) for name in COLUMNS}


def assert_same(one, other, way="", rtol=1e-10):
    assert (one.samples, one.method) == (other.samples, other.method)
    for name in ("base_values", "covariance", "noise", "condition"):
        a, b = np.asarray(getattr(one, name)), np.asarray(getattr(other, name))
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max(), err_msg=f"{name} {way}")
    np.testing.assert_allclose(one.fit.error, other.fit.error, rtol=rtol)
    np.testing.assert_allclose(one.fit.relative, other.fit.relative, rtol=rtol)


def test_the_estimate_is_that_of_scipy_on_all_rows(base, measured, log):
    """SciPy's least squares, weighted; noise and covariance as the books have them."""
    W = base.regressor(measured.q, measured.qd, measured.qdd)
    deviations = np.array([0.1, 0.4])
    rows = (W / deviations[:, None]).reshape(-1, base.size)
    values = scipy.linalg.lstsq(rows, (measured.tau / deviations).ravel())[0]
    found = least_squares(base, logged_measurements(base.model, *[log[name] for name in COLUMNS], rows=999),
                          noise=deviations)
    np.testing.assert_allclose(found.base_values, values, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.covariance, np.linalg.inv(rows.T @ rows), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.fit.error, np.sqrt(np.mean((W @ values - measured.tau) ** 2, axis=0)), rtol=1e-10)
    np.testing.assert_allclose(found.condition, np.linalg.cond(W.reshape(-1, base.size)), rtol=1e-10)


@pytest.mark.parametrize("noise", [None, "residuals"])
def test_every_way_in_gives_the_same(base, measured, log, client, noise):
    expected = least_squares(base, measured, noise=noise)
    ways = {"iterator": logged_measurements(base.model, *[log[name] for name in COLUMNS], rows=700),
            "here": summed_log(base, log, rows=3000), "workers": summed_log(base, log, rows=3000, on=client)}
    with dask.config.set(scheduler="synchronous"):
        ways["graph"] = summed_log(base, {name: da.from_zarr(array) for name, array in log.items()})
    for way, given in ways.items():
        assert_same(least_squares(base, given, noise=noise), expected, way)


def test_bodies_from_a_log(base, measured, log):
    found = physical_estimate(base, summed_log(base, log, rows=2500))
    expected = physical_estimate(base, measured)
    np.testing.assert_allclose(found.parameters, expected.parameters, rtol=1e-7, atol=1e-9)


def test_a_regressor_of_bad_condition_loses_nothing(base):
    """The second joint hardly moves: normal equations, whose condition is squared, would lose half of the digits."""
    q, qd, qdd = np.random.default_rng(3).normal(size=(3, 4000, 2)) * np.array([1.0, 1e-5])
    truth = simulate_measurements(base.model, q, qd, qdd)
    parts = (Measurements(base.model, q[k:k + 7], qd[k:k + 7], qdd[k:k + 7], truth.tau[k:k + 7])
             for k in range(0, 4000, 7))
    found = least_squares(base, parts)
    W = base.regressor(q, qd, qdd).reshape(-1, base.size)
    assert found.condition > 1e5
    ours, best = (np.linalg.norm(W @ x - truth.tau.ravel())
                  for x in (found.base_values, scipy.linalg.lstsq(W, truth.tau.ravel())[0]))
    assert ours < 10 * best + 1e-12


def test_parts_of_few_samples_and_of_none(base, measured):
    pieces = [0, 0, 1, 2, 40, 40, len(measured)]
    parts = [Measurements(base.model, *[getattr(measured, name)[a:b] for name in COLUMNS])
             for a, b in pairwise(pieces)]
    assert_same(least_squares(base, parts), least_squares(base, measured))
    with pytest.raises(SingularityError, match="0 samples"):
        least_squares(base, [])


def test_what_is_wrong_is_named_with_its_place(base, log, measured):
    with pytest.raises(SignatureError, match="q, qd, qdd, tau, not q, tau"):
        summed_log(base, {"q": log["q"], "tau": log["tau"]})
    with pytest.raises(SignatureError, match=r"a row for each sample: q \(10000, 2\), qd \(10, 2\)"):
        next(logged_measurements(base.model, log["q"], log["qd"][:10], log["qdd"], log["tau"]))
    for rows in (0, -5, 1.5):
        with pytest.raises(ConventionError, match="rows of a task must be a whole number, 1 or more"):
            summed_log(base, log, rows=rows)
    broken = {name: getattr(measured, name).copy() for name in COLUMNS}
    broken["qd"][5000] = np.nan
    with pytest.raises(GeometryError, match="qd is not finite in sample 1000") as error:
        summed_log(base, broken, rows=4000)
    assert error.value.__notes__ == ["in the part of the log that begins with row 4000"]
    other = base_parameters(cy.load("planar3r").identification.linear_model())
    with pytest.raises(SignatureError, match="summed for 10 base parameters of planar2r"):
        least_squares(other, summed_measurements(base, measured))
