"""Calibration from logs in pieces: the numbers that explain what was measured, as SciPy finds them from all at once."""

import numpy as np
import pytest
import zarr
from scipy.optimize import least_squares

import cayley as cy
from cayley.errors import ConventionError, GeometryError, SignatureError, SingularityError
from cayley.scale import calibrate

POSITION = np.s_[:3, 3]


@pytest.fixture(scope="module")
def pose():
    return cy.load("planar3r").pose.of("tool").with_parameters("joint2.length", "joint3.length", "tool.length")


@pytest.fixture(scope="module")
def log(pose):
    random = np.random.default_rng(0)
    q = random.uniform(-2, 2, size=(5000, 3))
    truth = pose.parameters.nominal * (1 + 0.05 * random.normal(size=len(pose.parameters)))
    return {"q": q, "measured": pose(q, truth)[:, :3, 3] + 1e-3 * random.normal(size=(5000, 3))}


def test_the_values_are_those_of_scipy(pose, log):
    def left(values):
        return (pose(log["q"], values)[:, :3, 3] - log["measured"]).ravel()

    expected = least_squares(left, pose.parameters.nominal, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    found = calibrate(pose, log, entries=POSITION, rows=700)
    assert found.status == "settled"
    np.testing.assert_allclose(found.values, expected.x, rtol=1e-10)
    np.testing.assert_allclose(found.error, np.sqrt(np.mean(expected.fun**2)), rtol=1e-10)
    spread = np.linalg.inv(expected.jac.T @ expected.jac) * 2 * expected.cost / (15_000 - len(found.values))
    np.testing.assert_allclose(found.covariance, spread, rtol=1e-5, atol=1e-5 * spread.max())


def test_pieces_files_and_workers_give_the_same(pose, log, client, tmp_path):
    whole = calibrate(pose, log, entries=POSITION)
    group = zarr.open_group(tmp_path / "log")
    stored = {name: group.create_array(name, data=column, chunks=(1000, 3)) for name, column in log.items()}
    for found in (calibrate(pose, stored, entries=POSITION, rows=900),
                  calibrate(pose, stored, entries=POSITION, rows=2000, on=client)):
        np.testing.assert_allclose(found.values, whole.values, rtol=1e-10)
        np.testing.assert_allclose(found.covariance, whole.covariance, rtol=1e-8, atol=1e-8 * whole.covariance.max())


def test_nonlinear_numbers_from_far_away(log):
    arm = cy.load("puma560")
    pose = arm.pose.of("tool").with_parameters("joint2.turn.x", "joint3.turn.x", "joint3.turn.y", "joint3.length")
    random = np.random.default_rng(1)
    q = arm.random_configuration(400, seed=2)
    truth = pose.parameters.nominal + random.uniform(-0.3, 0.3, size=len(pose.parameters))
    found = calibrate(pose, {"q": q, "measured": pose(q, truth)}, rows=100)
    assert found.status == "settled"
    np.testing.assert_allclose(found.values, truth, atol=1e-9)
    np.testing.assert_allclose(cy.Mechanism(found.tree).pose(q[0], "tool"), pose(q[0], truth), atol=1e-9)


def test_what_cannot_be_told_apart_is_named(log):
    arm = cy.load("planar3r")
    still = {"q": np.zeros((50, 3)), "measured": np.zeros((50, 3))}
    with pytest.raises(SingularityError, match=r"does not determine joint3.length.x, tool.length.x: "):
        calibrate(arm.pose.of("tool").with_parameters("joint2.length", "joint3.length", "tool.length"), still,
                  entries=POSITION)


def test_what_is_wrong_is_said(pose, log):
    with pytest.raises(SignatureError, match="the columns measured, q, not q"):
        calibrate(pose, {"q": log["q"]})
    with pytest.raises(SignatureError, match=r"gives \(4, 4\) for a sample, and \(3,\) was measured"):
        calibrate(pose, log)
    with pytest.raises(GeometryError, match="sample 1234 of the log is not finite"):
        broken = log["measured"].copy()
        broken[1234] = np.nan
        calibrate(pose, {"q": log["q"], "measured": broken}, entries=POSITION, rows=1000)
    with pytest.raises(ConventionError, match="rows of a task must be a whole number, 1 or more"):
        calibrate(pose, log, entries=POSITION, rows=-5)
    with pytest.raises(GeometryError, match="the start must be finite"):
        calibrate(pose, log, start=[np.nan] * len(pose.parameters), entries=POSITION)
    with pytest.raises(SignatureError, match="the start has the shape"):
        calibrate(pose, log, start=[1.0], entries=POSITION)
