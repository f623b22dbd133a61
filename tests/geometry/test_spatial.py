"""Spatial vectors beside Pinocchio's, which has the same order, and by their laws."""

import numpy as np
import pinocchio as pin
import pytest
import sympy

from cayley.geometry.spatial import (
    cross_with_force,
    force_cross,
    force_transform,
    motion_cross,
    motion_transform,
    spatial_inertia,
    swapped,
)
from cayley.geometry.tensors.cross import hat, skew

SEEDS = range(5)


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-13 * max(1.0, np.abs(b).max()))


def frame(random):
    placed = pin.SE3.Random()
    return placed.rotation, random.normal(size=3)


def body(random):
    points, masses = random.normal(size=(7, 3)), random.uniform(0.1, 2.0, 7)
    I = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, points, strict=True))
    return points, masses, spatial_inertia(masses.sum(), masses @ points, I)


@pytest.mark.parametrize("seed", SEEDS)
def test_as_pinocchio_has_them(seed):
    random = np.random.default_rng(seed)
    pin.seed(seed)
    R, p = frame(random)
    V, X, F = random.normal(size=(3, 6))
    there = pin.SE3(R, p)
    close(motion_transform(R, p), there.toActionMatrix())
    close(force_transform(R, p), there.toDualActionMatrix())
    close(motion_cross(V) @ X, pin.Motion(V).cross(pin.Motion(X)).vector)
    close(force_cross(V) @ F, pin.Motion(V).cross(pin.Force(F)).vector)
    mass, c, I = 1.3, random.normal(size=3), np.diag([0.3, 0.4, 0.5])
    about_origin = I + mass * (c @ c * np.eye(3) - np.outer(c, c))
    close(spatial_inertia(mass, mass * c, about_origin), pin.Inertia(mass, c, I).matrix())


@pytest.mark.parametrize("seed", SEEDS)
def test_transforms_keep_the_power_and_compose(seed):
    random = np.random.default_rng(seed)
    pin.seed(seed)
    (R, p), (S, s) = frame(random), frame(random)
    V, F = random.normal(size=(2, 6))
    assert (force_transform(R, p) @ F) @ (motion_transform(R, p) @ V) == pytest.approx(F @ V, abs=1e-12)
    for transform in (motion_transform, force_transform):
        close(transform(R, p) @ transform(S, s), transform(R @ S, R @ s + p))
        close(transform(R, p) @ transform(R.T, -R.T @ p), np.eye(6))
    close(force_transform(R, p), np.linalg.inv(motion_transform(R, p)).T)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_products_are_a_lie_algebra_and_its_dual(seed):
    random = np.random.default_rng(seed)
    pin.seed(seed)
    A, B, C, F = random.normal(size=(4, 6))
    close(motion_cross(A) @ B, -motion_cross(B) @ A)
    close(motion_cross(A) @ motion_cross(B) @ C - motion_cross(B) @ motion_cross(A) @ C,  # Jacobi
          motion_cross(motion_cross(A) @ B) @ C)
    close(force_cross(A), -motion_cross(A).T)
    assert F @ (motion_cross(A) @ B) == pytest.approx(-B @ (force_cross(A) @ F), abs=1e-12)
    close(cross_with_force(F) @ A, force_cross(A) @ F)
    close(cross_with_force(F), -cross_with_force(F).T)
    R, p = frame(random)
    X = motion_transform(R, p)
    close(motion_cross(X @ A) @ X @ B, X @ motion_cross(A) @ B)
    close(force_cross(X @ A) @ force_transform(R, p) @ F, force_transform(R, p) @ force_cross(A) @ F)


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_and_momentum_are_those_of_the_particles(seed):
    random = np.random.default_rng(seed)
    pin.seed(seed)
    points, masses, I = body(random)
    V = random.normal(size=6)
    velocities = V[:3] + np.cross(V[3:], points)
    assert pytest.approx(masses @ (velocities**2).sum(axis=1), rel=1e-13) == V @ I @ V
    momentum = np.concatenate([masses @ velocities, masses @ np.cross(points, velocities)])
    close(I @ V, momentum)
    R, p = frame(random)
    X = force_transform(R, p)
    turned = points @ R.T + p
    there = X @ I @ X.T
    close(there[3:, 3:], sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, turned, strict=True)))
    close(there[:3, 3:], -skew(masses @ turned))


def test_symbols_and_other_orders():
    V = np.array(sympy.symbols("v1:4 w1:4"))
    assert all(sympy.expand(x) == 0 for x in motion_cross(V) @ V)
    assert (swapped(V) == [*V[3:], *V[:3]]).all() and (swapped(swapped(V)) == V).all()
    stack = np.random.default_rng(0).normal(size=(4, 2, 3))
    one_by_one = np.array([[skew(v) for v in row] for row in stack])
    assert (hat(stack) == one_by_one).all()
    np.testing.assert_allclose(hat(stack) @ stack[..., None], 0, atol=1e-15)
