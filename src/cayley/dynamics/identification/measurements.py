"""Measured movements and forces, recorded, simulated with noise, or filtered from positions alone, and their sums: what
any number of samples say of base parameters, in a triangle for each force.

    R_j^T R_j = [W_j tau_j]^T [W_j tau_j]         the rows of force j, one for each sample
The triangles of two sets of samples, one below the other, give that of both: a log that is larger than memory is gone
through once. Estimates with any weights, covariances and residuals follow, without normal equations, whose condition
would be squared. Source: Demmel, Grigori, Hoemmen & Langou 2012 (TSQR)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.signal import butter, sosfiltfilt

from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.identification.base_parameters import BaseParameters
from cayley.dynamics.identification.regressor import RegressorModel
from cayley.dynamics.identification.structure import triangular
from cayley.errors import GeometryError, SignatureError, UnsupportedError
from cayley.showing import brief


@dataclass(frozen=True, eq=False)
class Measurements:
    """Configurations (N, nq), velocities, accelerations and generalised forces (N, nv) at N instants."""

    model: RegressorModel
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


def simulate_measurements(model: RegressorModel, q: Array, qd: Array, qdd: Array, *, noise: float = 0.0,
                          parameters: ArrayLike | None = None, seed: int = 0) -> Measurements:
    """Forces along a movement, with normal noise of standard deviation `noise` (nv or one number) [N m or N]; that of
    joints without a drive is known to be zero. `parameters` (size) are the truth; those of the mechanism itself, if not
    given."""
    truth = model.values if parameters is None else np.asarray(parameters, dtype=float)
    tau = np.asarray(model.regressor(q, qd, qdd)) @ truth
    errors = np.random.default_rng((seed, 1)).normal(size=tau.shape) * noise
    return Measurements(model, q, qd, qdd, tau + np.where(model.measured, errors, 0.0))


def measurements_from_positions(model: RegressorModel, times: ArrayLike, q: Array, tau: Array, *,
                                cutoff: float) -> Measurements:
    """Velocities and accelerations from positions (N, n) at evenly spaced `times` (N) [s], after a low pass of `cutoff`
    [Hz]. Positions and forces go through the same filter of order four, forth and back, which delays neither;
    differences are central. The ends, one period of the cutoff long, are left out: there the filter has not settled."""
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


_ROWS = 4096  # samples whose regressor is in memory at once


@dataclass(frozen=True, eq=False)
class SummedMeasurements:
    """Triangles (forces, b + 1, b + 1) of regressor and force, the number of `samples`, and the largest force."""

    base: BaseParameters
    triangles: Array
    samples: int
    largest: float

    __repr__ = brief

    def __len__(self) -> int:
        return self.samples

    def joined(self, other: SummedMeasurements) -> SummedMeasurements:
        """The samples of both, which were summed for the same base parameters."""
        if self.triangles.shape != other.triangles.shape:
            raise SignatureError("measurements that were summed for other base parameters cannot be joined: "
                                 f"{self.base.size} and {other.base.size} of them")
        both = triangular(np.concatenate([self.triangles, other.triangles], axis=1))
        return SummedMeasurements(self.base, both, self.samples + other.samples, max(self.largest, other.largest))

    @property
    def regressors(self) -> Array:
        """(forces, b + 1, b): in place of those of all samples."""
        return self.triangles[..., :-1]

    def squares_left(self, values: Array) -> Array:
        """The sum of squares (forces) of what base values leave unexplained."""
        return np.sum((self.triangles @ np.append(values, -1.0)) ** 2, axis=-1)

    @property
    def squares(self) -> Array:
        """The sum of squares (forces) of the forces themselves."""
        return np.sum(self.triangles[..., -1] ** 2, axis=-1)


def summed_measurements(base: BaseParameters, measured: Measurements | Iterable[Measurements]) -> SummedMeasurements:
    """Measurements, or any number of them one after the other, as an iterator gives them, summed for an estimate.

    >>> from cayley.dynamics.identification import base_parameters, least_squares, linear_model, simulate_measurements
    >>> model = linear_model(cy.load("planar2r").tree)
    >>> base = base_parameters(model)
    >>> states = (np.random.default_rng(k).normal(size=(3, 1000, 2)) for k in range(100))  # one in memory at a time
    >>> log = summed_measurements(base, (simulate_measurements(model, *x, noise=0.1) for x in states))
    >>> len(log), least_squares(base, log).base_values.round(2) + 0.0
    (100000, array([1.25, 0.  , 0.55, 0.3 , 0.  , 0.09]))
    """
    total = SummedMeasurements(base, np.zeros((base.model.links.nv, base.size + 1, base.size + 1)), 0, 0.0)
    for part in [measured] if isinstance(measured, Measurements) else measured:
        for first in range(0, len(part), _ROWS):
            total = total.joined(_summed(base, part, slice(first, first + _ROWS)))
    return total


def _summed(base: BaseParameters, part: Measurements, rows: slice) -> SummedMeasurements:
    W = base.regressor(part.q[rows], part.qd[rows], part.qdd[rows])
    tau = np.asarray(base.model.felt(part.q[rows], part.tau[rows]))
    columns = np.concatenate([W, tau[..., None]], axis=-1).swapaxes(0, 1)
    missing = max(base.size + 1 - len(tau), 0)
    padded = np.concatenate([columns, np.zeros((len(columns), missing, base.size + 1))], axis=1)
    return SummedMeasurements(base, triangular(padded), len(tau), float(np.abs(tau).max(initial=0.0)))


def logged_measurements(model: RegressorModel, q: Any, qd: Any, qdd: Any, tau: Any, *,  # noqa: ANN401 (arrays of files)
                        rows: int = 65536) -> Iterator[Measurements]:
    """A log that is larger than memory, read in parts of `rows` rows from any sliceable arrays: Zarr, HDF5, Dask or
    NumPy files."""
    if any(array.shape[:1] != q.shape[:1] for array in (qd, qdd, tau)):
        raise SignatureError(f"the columns of a log of {model.tree.name} have a row for each sample: q {q.shape}, "
                             f"qd {qd.shape}, qdd {qdd.shape}, tau {tau.shape}")
    for first in range(0, q.shape[0], rows):
        yield Measurements(model, *[np.asarray(array[first:first + rows]) for array in (q, qd, qdd, tau)])
