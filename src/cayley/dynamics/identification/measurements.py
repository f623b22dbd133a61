"""Measured movements and forces: what identification starts from.

Recorded, simulated with noise, or filtered from positions alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.signal import butter, sosfiltfilt

from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.identification.regressor import LinearModel
from cayley.errors import GeometryError, SignatureError, UnsupportedError
from cayley.showing import brief


@dataclass(frozen=True, eq=False)
class Measurements:
    """Configurations (N, nq), velocities, accelerations and generalised forces (N, nv) at N instants."""

    model: LinearModel
    q: Array
    qd: Array
    qdd: Array
    tau: Array

    __repr__ = brief

    def __post_init__(self) -> None:
        sizes = {
            "q": self.model.links.nq, "qd": self.model.links.nv, "qdd": self.model.links.nv, "tau": self.model.links.nv}
        for name, size in sizes.items():
            array = np.asarray(getattr(self, name), dtype=float)
            if array.shape != (len(self.q), size):
                raise SignatureError(
                    f"measured {name} of {self.model.tree.name} must have the shape ({len(self.q)}, {size}), as many "
                    f"rows as q, not {array.shape}")
            if not np.isfinite(array).all():
                row = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
                raise GeometryError(
                    f"measured {name} is not finite in sample {row}: {array[row].tolist()}; leave such samples out")
            object.__setattr__(self, name, array)

    def __len__(self) -> int:
        return len(self.q)


def simulate_measurements(model: LinearModel, q: Array, qd: Array, qdd: Array, *, noise: float = 0.0,
                          parameters: ArrayLike | None = None, seed: int = 0) -> Measurements:
    """Forces along a movement, with normal noise of standard deviation `noise` (nv or one number) [N m or N]; that of
    joints without a drive is known to be zero.

    `parameters` (size) are the truth; those of the mechanism itself, if not given.
    """
    truth = model.values if parameters is None else np.asarray(parameters, dtype=float)
    tau = np.asarray(model.regressor(q, qd, qdd)) @ truth
    errors = np.random.default_rng((seed, 1)).normal(size=tau.shape) * noise
    return Measurements(model, q, qd, qdd, tau + np.where(model.measured, errors, 0.0))


def measurements_from_positions(model: LinearModel, times: ArrayLike, q: Array, tau: Array, *,
                                cutoff: float) -> Measurements:
    """Velocities and accelerations from positions (N, n) at evenly spaced `times` (N) [s], after a low pass of `cutoff`
    [Hz].

    Positions and forces go through the same filter of order four, forth and back, which delays neither; differences are
    central. The ends, one period of the cutoff long, are left out: there the filter has not settled.
    """
    times, q, tau = (np.asarray(x, dtype=float) for x in (times, q, tau))
    if model.links.nq != model.links.nv:
        raise UnsupportedError(
            f"{model.tree.name} has joints whose velocities are not rates of coordinates: give qd and qdd as well")
    steps = np.diff(times)
    if times.shape != (len(q), ) or len(times) < 5 or not np.allclose(steps, steps.mean(), rtol=1e-3,
                                                                      atol=0.0) or steps.mean() <= 0:
        raise SignatureError(
            f"times must be evenly spaced and rising, one for each of the {len(q)} samples, and at least 5")
    step = float(steps.mean())
    if not 0 < cutoff < 0.5 / step:
        raise SignatureError(
            f"the cutoff of {cutoff:.6g} Hz must be between 0 and half the sampling rate, {0.5 / step:.6g} Hz")
    low_pass = butter(4, cutoff, fs=1 / step, output="sos")
    smooth = sosfiltfilt(low_pass, q, axis=0)
    force = sosfiltfilt(low_pass, tau, axis=0)
    qd = np.gradient(smooth, step, axis=0)
    qdd = np.gradient(qd, step, axis=0)
    ends = max(2, int(np.ceil(1 / (cutoff * step))))
    inner = slice(ends, len(q) - ends)
    return Measurements(model, smooth[inner], qd[inner], qdd[inner], force[inner])
