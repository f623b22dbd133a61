"""Distances of spheres, capsules and boxes: closed forms, and minima that SciPy finds otherwise."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from cayley.errors import GeometryError, SignatureError
from cayley.geometry.convex_shapes import Box, Capsule, Sphere, distance, least_apart


def pose(rng):
    made = np.eye(4)
    made[:3, :3] = Rotation.random(random_state=int(rng.integers(1 << 30))).as_matrix()
    made[:3, 3] = rng.normal(size=3)
    return made


def shape(kind, rng):
    if kind == "sphere":
        return Sphere(rng.uniform(0.05, 0.3), rng.normal(size=3) * 0.2)
    if kind == "capsule":
        return Capsule(rng.uniform(0.05, 0.2), rng.normal(size=3) * 0.5, rng.normal(size=3) * 0.5)
    return Box(rng.uniform(0.1, 0.8, 3), pose(rng))


def inside(one, other, a, b):
    """The least distance of two points of the cores, by a general optimiser."""
    def apart(w):
        k = one.generators.shape[1]
        x = a[:3, :3] @ (one.center + one.generators @ w[:k]) + a[:3, 3]
        y = b[:3, :3] @ (other.center + other.generators @ w[k:]) + b[:3, 3]
        return (x - y) @ (x - y)

    n = one.generators.shape[1] + other.generators.shape[1]
    if not n:
        return np.sqrt(apart(np.zeros(0)))
    exactly = {"ftol": 1e-15, "gtol": 1e-12}
    return np.sqrt(min(minimize(apart, start, bounds=[(-1, 1)] * n, method="L-BFGS-B", options=exactly).fun
                       for start in (np.zeros(n), 0.5 * np.ones(n))))


@pytest.mark.parametrize("kinds", [(a, b) for a in ("sphere", "capsule", "box") for b in ("sphere", "capsule", "box")])
def test_distances_are_minima(kinds):
    rng = np.random.default_rng(1)
    for _ in range(12):
        one, other = shape(kinds[0], rng), shape(kinds[1], rng)
        a, b = pose(rng), pose(rng)
        b[:3, 3] *= 2.0
        found = float(distance(one, other, a, b))
        assert found == pytest.approx(inside(one, other, a, b) - one.radius - other.radius, abs=2e-6)
        assert found >= least_apart(one, other, a, b) - 1e-12
        assert found == pytest.approx(float(distance(other, one, b, a)), abs=1e-9)


def test_closed_forms_batches_and_special_places():
    ball = Sphere(0.1)
    np.testing.assert_allclose(distance(ball, Sphere(0.2, [1.0, 2.0, 2.0])), 2.7, atol=1e-15)
    rod = Capsule(0.2, [1.0, -1.0, 0.0], [1.0, 1.0, 0.0])
    np.testing.assert_allclose(distance(ball, rod), 0.7, atol=1e-15)
    np.testing.assert_allclose(distance(Sphere(0.1, [1.0, 2.0, 0.0]), rod), 0.7, atol=1e-14)  # beyond its end
    cross = Capsule(0.1, [-1.0, 0.0, 0.5], [1.0, 0.0, 0.5])
    np.testing.assert_allclose(distance(cross, Capsule(0.1, [0.0, -1.0, 0.0], [0.0, 1.0, 0.0])), 0.3, atol=1e-14)
    parallel = Capsule(0.1, [0.0, -0.5, 0.4], [0.0, 0.5, 0.4])
    np.testing.assert_allclose(distance(parallel, Capsule(0.1, [0.0, 0.2, 0.0], [0.0, 3.0, 0.0])), 0.2, atol=1e-12)
    apart = Capsule(0.1, [0.0, 1.5, 0.0], [0.0, 3.0, 0.0])  # along the same line
    np.testing.assert_allclose(distance(Capsule(0.1, [0.0, -1.0, 0.0], [0.0, 0.5, 0.0]), apart), 0.8, atol=1e-14)
    point = Capsule(0.1, [0.3, 0.0, 0.0], [0.3, 0.0, 0.0])  # a capsule without a length is a sphere
    np.testing.assert_allclose(distance(point, ball), 0.1, atol=1e-14)
    box = Box([2.0, 1.0, 0.5])
    for place, expected in (([1.5, 0.0, 0.0], 0.4), ([1.3, 0.9, 0.0], 0.4), ([1.0, 0.5, 0.55], 0.2)):
        np.testing.assert_allclose(distance(Sphere(0.1, place), box), expected, atol=1e-13)
    corner = np.eye(4)
    corner[:3, 3] = [2.3, 1.4, 0.0]
    np.testing.assert_allclose(distance(box, Box([2.0, 1.0, 0.5], corner)), 0.5, atol=1e-12)
    turned = np.eye(4)
    turned[:3, :3] = Rotation.from_rotvec([0, 0, np.pi / 4]).as_matrix()
    turned[0, 3] = 3.0
    np.testing.assert_allclose(distance(box, Box([1.0, 1.0, 1.0], turned)), 2.0 - np.sqrt(0.5), atol=1e-12)
    assert distance(Sphere(0.3), Sphere(0.3, [0.1, 0.0, 0.0])) == pytest.approx(-0.5)  # they overlap
    assert distance(Sphere(0.1, [0.2, 0.1, 0.0]), box) == pytest.approx(-0.1)
    many = np.tile(np.eye(4), (3, 2, 1, 1))
    many[..., 0, 3] = np.arange(6).reshape(3, 2)
    np.testing.assert_allclose(distance(ball, rod, many)[0], [0.7, -0.3], atol=1e-14)
    assert distance(ball, rod, many).shape == (3, 2) and distance(ball, rod, np.zeros((0, 4, 4))).shape == (0,)


def test_shapes_that_are_none_are_refused():
    for make in (lambda: Sphere(0.0), lambda: Capsule(-1.0, [0, 0, 0], [1, 0, 0])):
        with pytest.raises(GeometryError, match="positive radius"):
            make()
    with pytest.raises(GeometryError, match="three positive sizes"):
        Box([1.0, 0.0, 1.0])
    with pytest.raises(GeometryError, match="three finite numbers"):
        Sphere(0.1, [0.0, np.nan, 0.0])
    with pytest.raises(GeometryError, match="a pose"):
        Box([1.0, 1.0, 1.0], 2 * np.eye(4))
    with pytest.raises(SignatureError, match=r"\(\.\.\., 4, 4\)"):
        distance(Sphere(0.1), Sphere(0.1), np.zeros(3))
