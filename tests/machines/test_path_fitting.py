"""Curves as arcs and segments: the path stays within the tolerance of the curve, measured point by point, through
inflections, cusps and corners; what cannot be followed is named."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from cayley.errors import ModelError, UnreachableError
from cayley.machines import SteeredPath, fitted_path

pytestmark = pytest.mark.spec("S0-81")


def wave(u):
    return np.stack([3 * u, 0.4 * np.sin(2 * np.pi * u)])


def spiral(u):
    return np.stack([(1 + u) * np.cos(9 * u), (1 + u) * np.sin(9 * u)])


def cusp(u):  # semicubical, at u = 0.4
    return np.stack([-(u - 0.4)**2, 2 * (u - 0.4)**3])


def cycloid(u):
    return np.stack([4 * np.pi * u - np.sin(4 * np.pi * u), 1 - np.cos(4 * np.pi * u)])


def farthest(curve, path):
    """By samples alone, both ways: the largest distance from one to the other, and back."""
    on_curve = curve(np.linspace(0.0, 1.0, 100_001)).T
    on_path = path.pose(np.linspace(0.0, path.length, 100_001))[:, :2]
    return max(cKDTree(on_path).query(on_curve)[0].max(), cKDTree(on_curve).query(on_path)[0].max())


@pytest.mark.parametrize("curve", [wave, spiral, cusp, cycloid])
@pytest.mark.parametrize("tolerance", [3e-2, 1e-3])
def test_the_path_is_within_the_tolerance(curve, tolerance):
    found = fitted_path(curve, 0.5, tolerance)
    assert found.deviation <= tolerance
    step = found.path.length / 100_000
    assert farthest(curve, found.path) <= 1.05 * tolerance + step
    np.testing.assert_allclose(found.path.pose([0.0, found.path.length])[:, :2], [curve(0.0), curve(1.0)], atol=1e-6)


def test_a_finer_tolerance_takes_more_arcs_as_its_cube_root():
    """Pairs of arcs are off by the third power of their length."""
    counts = [len(fitted_path(spiral, 0.5, tolerance).path.pieces) for tolerance in (1e-3, 1e-6)]
    assert 5 < counts[1] / counts[0] < 15


def test_at_cusps_the_cart_turns_back():
    ways = np.sign([length for length, _ in fitted_path(cusp, 0.5, 1e-4).path.pieces])
    assert ways[0] == 1 and ways[-1] == -1 and np.count_nonzero(np.diff(ways)) == 1
    path = fitted_path(cycloid, 0.5, 1e-3).path  # starts in a cusp, and has one at u = 0.5
    ways = np.sign([length for length, _ in path.pieces])
    assert np.count_nonzero(np.diff(ways)) == 1
    s = np.linspace(0.0, path.length, 5001)
    assert np.abs(np.diff(path.pose(s)[:, 2])).max() < 0.2  # its heading never jumps


def test_lines_and_circles_are_one_piece():
    line = fitted_path(lambda u: np.stack([1 + 3 * u, 2 - 4 * u]), 0.5, 1e-6).path
    np.testing.assert_allclose(line.pieces, [(5.0, 0.0)], atol=1e-12)
    circle = fitted_path(lambda u: np.stack([2 * np.cos(2 * np.pi * u), -2 * np.sin(2 * np.pi * u)]), 0.5, 1e-6).path
    assert isinstance(circle, SteeredPath)
    np.testing.assert_allclose(circle.pieces, [(4 * np.pi, -np.arctan(0.25))], atol=1e-8)


@pytest.mark.parametrize(("curve", "error", "said"), [
    (lambda u: np.stack([u, np.where(u < 0.3, 0.0, 1.0)]), UnreachableError, r"jumps between u = 0\.(3|299)"),
    (lambda u: np.stack([0.0 * u, 0.0 * u]), UnreachableError, "zero speed at u = 0"),
    (lambda u: np.stack([u, 1 / (u - 0.5)]), ModelError, "finite")])
def test_what_no_cart_follows_is_named(curve, error, said):
    with pytest.raises(error, match=said):
        fitted_path(curve, 0.5, 1e-3)


@pytest.mark.parametrize("tolerance", [0.0, -1.0, np.nan])
def test_the_tolerance_is_positive(tolerance):
    with pytest.raises(ModelError, match="tolerance"):
        fitted_path(wave, 0.5, tolerance)


@pytest.mark.parametrize("steep", [0.2, 1.0, 5.0])
def test_corners_are_rounded_unless_the_steering_is_limited(steep):
    def corner(u):
        return np.stack([u, steep * np.abs(u - 0.31234)])

    found = fitted_path(corner, 0.5, 1e-3)
    assert farthest(corner, found.path) <= 1.1e-3
    assert all(length > 0 for length, _ in found.path.pieces)
    with pytest.raises(UnreachableError, match="steering limit"):
        fitted_path(corner, 0.5, 1e-3, steering_limit=0.6)


@pytest.mark.parametrize(("wheelbase", "limit", "said"), [(0.0, 1.0, "wheelbase"), (0.5, 2.0, "steering limit"),
                                                         (0.5, np.nan, "steering limit")])
def test_what_is_no_cart_is_named(wheelbase, limit, said):
    with pytest.raises(ModelError, match=said):
        fitted_path(wave, wheelbase, 1e-3, steering_limit=limit)
