"""Motions that are known in closed form: free fall, the pendulum and the free body by elliptic functions."""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

from cayley.geometry.rotations import matrix_from_quaternion
from cayley.simulation import rollout, simulate
from simulation.mechanisms import GRAVITY, free_body, pendulum, slider

LENGTH = 0.7


def swinging(amplitude, t):
    """A pendulum released at rest: the angle and its rate at the times t."""
    k, w = np.sin(amplitude / 2), np.sqrt(GRAVITY / LENGTH)
    u = ellipk(k**2) - w * t
    sn, cn, dn, _ = ellipj(u, k**2)
    return 2 * np.arcsin(k * sn), -2 * k * w * cn * dn / np.sqrt(1 - (k * sn) ** 2)


def turning_over(rate, t):
    """A pendulum that starts from below, fast enough to turn over and over."""
    k = 2 * np.sqrt(GRAVITY / LENGTH) / rate
    _, _, dn, am = ellipj(rate * t / 2, k**2)
    return 2 * am, rate * dn


@pytest.mark.parametrize("amplitude", [0.1, 1.5, 2.6])
@pytest.mark.parametrize("method", ["DOP853", "RK45", "LSODA", "Radau"])
def test_a_pendulum_swings_as_elliptic_functions_say(method, amplitude):
    times = np.linspace(0, 4, 41)
    found = simulate(pendulum(LENGTH), [amplitude], [0.0], times=times, method=method, rtol=1e-9, atol=1e-11)
    angle, rate = swinging(amplitude, times)
    assert found.finished
    assert np.abs(found.q[:, 0] - angle).max() < 2e-6
    assert np.abs(found.qd[:, 0] - rate).max() < 2e-5


def test_a_tight_tolerance_gives_twelve_digits():
    times = np.linspace(0, 4, 41)
    found = simulate(pendulum(LENGTH), [1.5], [0.0], times=times, rtol=1e-13, atol=1e-14)
    angle, rate = swinging(1.5, times)
    assert np.abs(found.q[:, 0] - angle).max() < 2e-12
    assert np.abs(found.qd[:, 0] - rate).max() < 2e-11


def test_a_pendulum_turns_over_and_over():
    found = rollout(pendulum(LENGTH))([0.0], [9.0], step=1e-3, steps=3000, every=100)
    angle, rate = turning_over(9.0, found.t)
    assert np.abs(found.q[:, 0] - angle).max() < 1e-9
    assert np.abs(found.qd[:, 0] - rate).max() < 1e-8
    assert found.q[-1, 0] > 2 * np.pi


def test_free_fall_is_a_parabola():
    height, speed = 3.0, 2.5
    found = simulate(slider(), [height], [speed], times=np.linspace(0, 1.5, 7))
    assert np.abs(found.q[:, 0] - (height + speed * found.t - GRAVITY * found.t**2 / 2)).max() < 1e-12
    rolled = rollout(slider())([height], [speed], step=0.05, steps=30)
    assert np.abs(rolled.q[:, 0] - (height + speed * rolled.t - GRAVITY * rolled.t**2 / 2)).max() < 1e-12


def free_rotation(inertia, w0, t):
    """Euler's free body, I1 < I2 < I3, that starts with w2 = 0 and more than the energy of the separatrix about axis 3
    (L^2 > 2 K I2).
    """
    I1, I2, I3 = inertia
    K2, L2 = np.dot(inertia, w0**2), np.dot(np.square(inertia), w0**2)
    assert L2 > K2 * I2 and w0[1] == 0
    p = np.sqrt((K2 * I3 - L2) / (I1 * (I3 - I1)))
    q = np.sqrt((K2 * I3 - L2) / (I2 * (I3 - I2)))
    r = np.sqrt((L2 - K2 * I1) / (I3 * (I3 - I1)))
    n = np.sqrt((I3 - I2) * (L2 - K2 * I1) / (I1 * I2 * I3))
    m = (I2 - I1) * (K2 * I3 - L2) / ((I3 - I2) * (L2 - K2 * I1))
    sn, cn, dn, _ = ellipj(n * t, m)
    return np.stack([p * cn, q * sn, r * dn], axis=-1)


INERTIA = np.array([0.4, 0.7, 1.0])
SPIN = np.array([0.9, 0.0, 2.0])


def start_of_free_body():
    return np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]), np.concatenate([[0.3, -0.2, 0.1], SPIN])


@pytest.mark.parametrize("how", ["simulate", "rk4", "lie-midpoint"])
def test_a_free_body_turns_as_elliptic_functions_say(how):
    body, (q, qd) = free_body(INERTIA), start_of_free_body()
    if how == "simulate":
        found, allowed = simulate(body, q, qd, times=np.linspace(0, 10, 101), rtol=1e-12, atol=1e-13), 1e-10
    else:
        found = rollout(body, method=how)(q, qd, step=1e-3, steps=10000, every=100)
        allowed = 1e-10 if how == "rk4" else 2e-5
    spin = free_rotation(INERTIA, SPIN, found.t)
    assert np.abs(found.qd[:, 3:] - spin).max() < allowed
    assert abs(
        free_rotation(INERTIA, SPIN, 1e-6)[1] / 1e-6
        - (INERTIA[2] - INERTIA[0]) * SPIN[2] * SPIN[0] / INERTIA[1]) < 1e-5
    turned = matrix_from_quaternion(found.q[:, 3:])
    momentum = np.einsum("nij,nj->ni", turned, found.qd[:, 3:] * INERTIA)
    assert np.abs(momentum - momentum[0]).max() < allowed * 5
    velocity = np.einsum("nij,nj->ni", turned, found.qd[:, :3])
    assert np.abs(velocity - velocity[0]).max() < allowed * 5
    straight = np.outer(found.t, velocity[0])
    assert np.abs(found.q[:, :3] - straight).max() < allowed * 50


def test_the_period_of_a_pendulum_is_found_by_its_event():
    from cayley.simulation import Event
    passing = Event("passes below", lambda t, q, qd: q[0], direction="falling", action="record")
    found = simulate(pendulum(LENGTH), [2.0], [0.0], until=10.0, events=[passing], rtol=1e-12, atol=1e-13)
    period = 4 * ellipk(np.sin(1.0) ** 2) / np.sqrt(GRAVITY / LENGTH)
    passes = np.array([o.t for o in found.happened])
    assert np.abs(passes - (period / 4 + period * np.arange(len(passes)))).max() < 1e-10
    assert len(passes) == int((10.0 - period / 4) / period) + 1
