"""Screw form of Newton and Euler's equations against moving particles in 60 digits, for one body and for chains."""

import mpmath
import numpy as np
import pytest

from cayley.compiler.kernel import kernel
from cayley.dynamics.inverse import newton_euler, screws, vector_parameter_newton_euler
from cayley.dynamics.inverse.screws import screw_cross, screw_inertia
from cayley.dynamics.rigid_links.links import serial_chain
from cayley.dynamics.rigid_links.moments import LinkMoments
from cayley.model.catalogue import load_robot
from compiler.parity import check_parity
from dynamics.chains import EVERY_SHORT_PATTERN, LONG_PATTERNS, random_body, random_chain, random_state
from dynamics.particles import DIGITS, STEP, exact, particle_forces, particles_of

pytestmark = pytest.mark.spec("S0-36")


def screw_force(phi, V, dV):
    """The force screw (6) of a body of inertia `phi` that moves with V and dV, Mladenova (166)."""
    return phi @ dV + screw_cross(V) @ (phi @ V)


def close(found, expected, tolerance):
    assert np.abs(found - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


def turned(axis, angle):
    """The rotation by an angle, in many digits."""
    x, y, z = axis
    K = np.array([[0 * x, -z, y], [z, 0 * x, -x], [-y, x, 0 * x]], dtype=object)
    return exact(np.eye(3)) + mpmath.sin(angle) * K + (1 - mpmath.cos(angle)) * (K @ K)


def moving_body(seed):
    """The moments of a body about a point that is not its centre, V and dV of a motion, and force and moment of its
    particles.
    """
    random = np.random.default_rng(seed)
    body = random_body("body", random)
    axes, rates = [exact(x / np.linalg.norm(x)) for x in random.normal(size=(2, 3))], exact(random.normal(size=(2, 2)))
    path = exact(random.normal(size=(3, 3)))
    masses, places = particles_of(body)

    def pose(t):
        R = turned(axes[0], rates[0, 0] * t + rates[0, 1] * t * t) @ turned(axes[1],
                                                                            1 + rates[1, 0] * t + rates[1, 1] * t * t)
        return R, path[0] + path[1] * t + path[2] * t * t

    def velocity(t):
        (R, _), (Ra, pa), (Rb, pb) = pose(t), pose(t + STEP), pose(t - STEP)
        W = R.T @ ((Ra - Rb) / (2 * STEP))
        return np.concatenate([R.T @ ((pa - pb) / (2 * STEP)), [W[2, 1], W[0, 2], W[1, 0]]])

    def points(t):
        R, p = pose(t)
        return R @ places[:3] + p[:, None]

    with mpmath.workdps(DIGITS):
        zero = mpmath.mpf(0)
        wide = mpmath.mpf(10) ** -8
        V, dV = velocity(zero), (velocity(wide) - velocity(-wide)) / (2 * wide)
        R, p = pose(zero)
        pushes = masses * ((points(STEP) - 2 * points(zero) + points(-STEP)) / STEP**2)
        arms = points(zero) - p[:, None]
        moment = sum(np.cross(arms[:, k], pushes[:, k]) for k in range(len(masses)))
        f = np.concatenate([R.T @ pushes.sum(axis=1), R.T @ moment])
    return LinkMoments.of(body), *[np.asarray(x, dtype=float) for x in (V, dV, f)]


@pytest.mark.parametrize("seed", range(5))
def test_force_screw_is_that_of_the_particles(seed):
    moments, V, dV, expected = moving_body(seed)
    assert np.abs(moments.first).max() > 1e-3  # the reference point is not the centre
    close(screw_force(screw_inertia(moments), V, dV), expected, 1e-13)


def test_momentum_energy_and_power():
    moments, V, dV, f = moving_body(11)
    phi = screw_inertia(moments)
    close(phi, phi.T, 1e-15)
    assert np.linalg.eigvalsh(phi)[0] > 0
    assert abs(V @ screw_cross(V) @ (phi @ V)) < 1e-14  # carrying the momentum along does no work
    assert abs(V @ f - V @ phi @ dV) < 1e-12
    v, w = V[:3], V[3:]
    momentum = moments.mass * v + np.cross(w, moments.first)
    close((phi @ V)[:3], momentum, 1e-14)
    close((phi @ V)[3:], moments.inertia @ w + np.cross(moments.first, v), 1e-14)


def test_a_point_mass_at_the_reference_point_feels_no_moment():
    phi = screw_inertia(LinkMoments(2.0, np.zeros(3), np.zeros((3, 3))))
    f = screw_force(phi, np.array([1.0, 2, 3, 4, 5, 6]), np.array([6.0, 5, 4, 3, 2, 1]))
    assert np.abs(f[3:]).max() == 0.0
    close(f[:3], 2 * (np.array([6.0, 5, 4]) + np.cross([4.0, 5, 6], [1.0, 2, 3])), 1e-15)


@pytest.mark.parametrize("pattern", [*EVERY_SHORT_PATTERN, *LONG_PATTERNS])
def test_chains_agree_with_the_reference(pattern):
    for seed, frames in ((1, "modified"), (2, "any")):
        tree = random_chain(pattern, seed, frames=frames)
        chain, state = serial_chain(tree), random_state(tree, seed)
        found = screws.inverse_dynamics(chain, *state)
        close(found, newton_euler.inverse_dynamics(chain, *state), 1e-12)
        close(found, vector_parameter_newton_euler.inverse_dynamics(chain, *state), 1e-12)


@pytest.mark.parametrize("pattern", ["P", "RR", "PRP", "RRPRRR"])
def test_chains_agree_with_particles(pattern):
    tree = random_chain(pattern, 3, frames="any")
    state = random_state(tree, 4)
    close(screws.inverse_dynamics(serial_chain(tree), *state), particle_forces(tree, *state), 1e-13)


def test_the_catalogues_arm():
    q, qd, qdd = np.array([[0.2, -0.5, 0.6, 0.3, 0.7, -0.4], [0.4, 0.3, -0.25, 0.9, -0.6, 0.5],
                           [-0.7, 0.8, 0.35, 0.2, 0.1, -1]])
    expected = [-1.15873657538, 9.0330746653, 57.4150551297, 0.610236172696, -1.03949994505, -0.000330741356347]
    assert np.abs(screws.inverse_dynamics(serial_chain(load_robot("s1_f5")), q, qd, qdd) - expected).max() < 1e-10


def test_the_text_compiles():
    tree = random_chain("RPR", 6)
    chain = serial_chain(tree)
    made = kernel("(3),(3),(3)->(3)", name="forces")(lambda q, qd, qdd: screws.inverse_dynamics(chain, q, qd, qdd))
    states = [np.stack(parts) for parts in zip(*[random_state(tree, seed) for seed in range(4)], strict=True)]
    check_parity(made, *states, tolerance=1e-12, single=1e-3, jacobians=False)
