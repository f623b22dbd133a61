"""What any number of samples say of base parameters, in a triangle for each force.

    R_j^T R_j = [W_j tau_j]^T [W_j tau_j]         the rows of force j, one for each sample
The triangles of two sets of samples, one below the other, give that of both: a log that is larger than memory is gone
through once, in any number of pieces, side by side if there are workers. Estimates with any weights, covariances,
condition numbers, leverages and residuals follow from them. No normal equations are formed, whose condition would be
squared. Source: Demmel, Grigori, Hoemmen & Langou 2012 (TSQR).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.identification.base_parameters import BaseParameters
from cayley.dynamics.identification.elimination import triangular
from cayley.dynamics.identification.measurements import Measurements
from cayley.dynamics.identification.regressor import LinearModel
from cayley.errors import SignatureError
from cayley.showing import brief

_ROWS = 4096  # samples whose regressor is in memory at once


@dataclass(frozen=True, eq=False)
class SummedMeasurements:
    """Triangles (forces, b + 1, b + 1) of the regressor's columns and the force, of so many `samples`; the largest
    force among them."""

    base: BaseParameters
    triangles: Array
    samples: int
    largest: float

    __repr__ = brief

    def __len__(self) -> int:
        return self.samples

    def joined(self, other: SummedMeasurements) -> SummedMeasurements:
        """Of the samples of both, which were summed for the same base parameters."""
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


def logged_measurements(model: LinearModel, q: Any, qd: Any, qdd: Any, tau: Any, *,  # noqa: ANN401 (arrays of files)
                        rows: int = 65536) -> Iterator[Measurements]:
    """A log that is larger than memory, in parts of so many `rows`: anything that has rows to be taken out, as the
    arrays of Zarr, HDF5, Dask and NumPy's files have."""
    if any(array.shape[:1] != q.shape[:1] for array in (qd, qdd, tau)):
        raise SignatureError(f"the columns of a log of {model.tree.name} have a row for each sample: q {q.shape}, "
                             f"qd {qd.shape}, qdd {qdd.shape}, tau {tau.shape}")
    for first in range(0, q.shape[0], rows):
        yield Measurements(model, *[np.asarray(array[first:first + rows]) for array in (q, qd, qdd, tau)])
