"""A motion by what is known of it at knots: position, velocity and acceleration, and polynomials of degree five between
them."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array
from cayley.planning.splines.polynomials import Polynomials


def through_knots(t: Array, q: Array, qd: Array, qdd: Array) -> Polynomials:
    """The motion with positions, velocities and accelerations (k, n) at times (k), all of them continuous.

    >>> move = through_knots(np.array([0.0, 2.0]), np.array([[0.0], [1.0]]), np.zeros((2, 1)), np.zeros((2, 1)))
    >>> move(1.0).q
    array([0.5])
    """
    h = np.diff(t)[:, None]
    start = q[:-1] + h * qd[:-1] + h**2 / 2 * qdd[:-1]
    d = q[1:] - start
    dv = h * (qd[1:] - qd[:-1] - h * qdd[:-1])
    da = h**2 * (qdd[1:] - qdd[:-1])
    rows = [q[:-1], qd[:-1], qdd[:-1] / 2, (10 * d - 4 * dv + da / 2) / h**3, (-15 * d + 7 * dv - da) / h**4,
            (6 * d - 3 * dv + da / 2) / h**5]
    return Polynomials(t, np.stack(rows, axis=1))
