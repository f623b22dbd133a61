"""The tour runs, and what it shows is true."""

import subprocess
import sys

import numpy as np

from cayley.tour import example


def test_the_tour_runs_as_a_process():
    done = subprocess.run([sys.executable, "-m", "cayley.tour"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stderr == ""
    for part in ("one state", "multiplications", "tau_1 =", "#include <math.h>", "ns"):
        assert part in done.stdout


def test_the_arm_of_the_tour_keeps_the_balance_of_power():
    """The power of the torques is the rate of the energy of two particles, by complex differentiation along the motion."""
    kernel = example()
    q, qd, qdd = np.random.default_rng(3).normal(size=(3, 2))
    step = 1e-30
    moved, speeds = q + 1j * step * qd, qd + 1j * step * qdd
    angle, rate = np.cumsum(moved), np.cumsum(speeds)
    elbow_x, tip_x = np.cumsum(-0.5 * np.sin(angle) * rate)
    elbow_y, tip_y = np.cumsum(0.5 * np.cos(angle) * rate)
    kinetic = 0.5 * (elbow_x**2 + elbow_y**2 + tip_x**2 + tip_y**2)
    height = np.cumsum(0.5 * np.sin(angle))
    energy = kinetic + 9.81 * np.sum(height)
    np.testing.assert_allclose(kernel(q, qd, qdd) @ qd, energy.imag / step, rtol=1e-13)
