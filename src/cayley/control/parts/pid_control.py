"""Proportional, integral and derivative control with filtered derivatives, as a system with a memory."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import ArrayLike
from cayley.errors import SignatureError
from cayley.systems.system import System


def pid(kp: ArrayLike, ki: ArrayLike = 0.0, kd: ArrayLike = 0.0, *, bandwidth: ArrayLike = 1000.0,
        name: str = "pid") -> System:
    """Inputs `q` and `target`, output `tau`, states `integral` and `filtered`, each (n).

        e = target - q        dz/dt = e        df/dt = w (e - f)        tau = kp e + ki z + kd w (e - f)
    with the gains (n), or a number for all, and the bandwidth w [rad/s] of the filter of the derivative; all are
    parameters of the system, so that a batch can have a gain for each trajectory. Coordinates just subtract: it is for
    joints without quaternions.

    >>> pid([100.0, 50.0], 10.0)
    <system pid: state integral, filtered; inputs q, target; outputs tau; parameters kp, ki, kd, bandwidth>
    """
    gains = np.broadcast_arrays(*[np.atleast_1d(np.asarray(value, dtype=float)) for value in (kp, ki, kd, bandwidth)])
    if gains[0].ndim != 1 or not np.isfinite(gains).all() or not (gains[3] > 0).all():
        listed = ", ".join(str(gain.tolist()) for gain in gains)
        raise SignatureError("the gains of a PID controller are finite numbers, (n) or one for all, and the bandwidth "
                             f"of its filter is positive; given were kp, ki, kd, bandwidth = {listed}")
    n = len(gains[0])
    return System(
        name, state={"integral": n, "filtered": n}, inputs={"q": n, "target": n}, outputs={"tau": n},
        parameters=dict(zip(("kp", "ki", "kd", "bandwidth"), map(np.array, gains), strict=True)),
        derivative=lambda t, x, u, p: {"integral": u.target - u.q,
                                       "filtered": p.bandwidth * (u.target - u.q - x.filtered)},
        output=lambda t, x, u, p: p.kp * (u.target - u.q) + p.ki * x.integral + p.kd * p.bandwidth * (
            u.target - u.q - x.filtered))
