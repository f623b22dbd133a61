"""Calibration: the numbers of a mechanism that explain what was measured, from logs of any size.

    minimise  sum over the samples of  |y(q, pi) - y_measured|^2
Levenberg and Marquardt's steps, one pass over the log for each: the rows [J, residual] of each part are reduced to a
triangle, and the triangles joined, as `cayley.dynamics.identification.measurements` does with forces, which are linear.
The cost of new numbers and the next step follow from the triangle of a pass alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from cayley.compiler.solving.rounding import least_singular
from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.identification.structure import independent_columns, triangular
from cayley.errors import GeometryError, SignatureError, SingularityError
from cayley.kinematics.mechanism_kernel import KernelWithParameters
from cayley.model.parameters import Parameters
from cayley.model.tree import Tree
from cayley.scale.points import Columns, Table, whole_number
from cayley.scale.tasks import Workers, done, in_order, tasks_of

_MEASURED = "measured"
_MOST_PASSES = 50
_SETTLED = 1e-10  # of the length of the parameters, or of the cost: what a last step may change
_SMALL = 1e-3  # [m, rad, ..]: parameters shorter than this are compared with it


@dataclass(frozen=True, eq=False)
class Calibration:
    """Values (p) of the parameters with their covariance, the root mean square residual of the measured entries, the
    number of samples and of passes through them, and "settled" or the reason why not."""

    parameters: Parameters
    values: Array
    covariance: Array
    error: float
    samples: int
    passes: int
    status: str

    def __repr__(self) -> str:
        return (f"<calibration of {len(self.values)} parameters from {self.samples} samples in {self.passes} passes, "
                f"error {self.error:.3g}, {self.status}>")

    @property
    def standard_deviations(self) -> Array:
        return np.sqrt(np.diagonal(self.covariance))

    @cached_property
    def tree(self) -> Tree:
        """The mechanism with these values."""
        return self.parameters.tree_with(self.values)


def calibrate(kernel: KernelWithParameters[Any], log: Mapping[str, Any], *,
              entries: Any = ...,  # noqa: ANN401 (an index)
              start: ArrayLike | None = None, rows: int = 65536, on: Workers = None) -> Calibration:
    """The parameters of a kernel `with_parameters(...)` with which it gives what was measured.

    `log`: the kernel's other inputs by name, and what it should have given as `measured`, a row for each sample, of
    NumPy, Zarr or HDF5. `entries`: which of the kernel's results were measured, as an index, if not all:
    `np.s_[:3, 3]` is the position in a pose; all of them weigh alike. `start`: first values (p),
    those of the model if not given. `rows`, `on`: as in `summed_log`. `SingularityError` if some
    parameters cannot be told from others: it names them.

    >>> arm = cy.load("planar2r")
    >>> pose = arm.pose.of("tool").with_parameters("length")
    >>> q = np.random.default_rng(0).uniform(-2, 2, size=(500, 2))
    >>> seen = pose(q, [0.51, 0.43])[:, :3, 3]
    >>> found = calibrate(pose, {"q": q, "measured": seen}, entries=np.s_[:3, 3])
    >>> found.values.round(6), found.status
    (array([0.51, 0.43]), 'settled')
    """
    wanted = {*kernel.inputs[:-1], _MEASURED}
    if set(log) != wanted:
        raise SignatureError(f"a log for {kernel.__name__} must have the columns {', '.join(sorted(wanted))}, not "
                             f"{', '.join(log)}")
    table = Table(log)
    values = np.array(kernel.parameters.nominal if start is None else start, dtype=float)
    if values.shape != (len(kernel.parameters),):
        raise SignatureError(f"the start has the shape {values.shape}; there are {len(kernel.parameters)} parameters")
    if not np.isfinite(values).all():
        raise GeometryError(f"the start must be finite numbers, not {values}")
    rows = whole_number(rows, "the number of rows of a task")

    task = tasks_of(_triangle, kernel, entries, workers=on)

    def passed(at: Array) -> Array:
        bounds = enumerate(pairwise([*range(0, table.count, rows), table.count]))
        total = np.zeros((1, len(at) + 1))
        for part in in_order(done(on, (task(at, k, first, table.cut(first, last)) for k, (first, last) in bounds))):
            total = triangular(np.concatenate([total, part]))
        return np.concatenate([total, np.zeros((max(len(at) + 1 - len(total), 0), len(at) + 1))])[:len(at) + 1]

    values, R, passes, status = _descended(values, passed)
    _check_seen(R[:, :-1], kernel.parameters)
    count = table.count * int(np.prod(np.shape(log[_MEASURED])[1:]))
    left = float(np.sum(R[:, -1] ** 2))
    inverse = np.linalg.inv(R[:-1, :-1])
    return Calibration(kernel.parameters, values, inverse @ inverse.T * (left / max(count - len(values), 1)),
                       float(np.sqrt(left / max(count, 1))), table.count, passes, status)


def _triangle(kernel: KernelWithParameters[Any], entries: Any, values: Array, number: int, first: int,  # noqa: ANN401 (an index)
              cut: Callable[[], Columns]) -> tuple[int, Array]:
    columns = cut()
    measured = columns.pop(_MEASURED)
    index = (slice(None), *(entries if isinstance(entries, tuple) else (entries,)))
    given = [columns[name] for name in kernel.inputs[:-1]]
    predicted = kernel(*given, values)[index]
    if predicted.shape != measured.shape:
        raise SignatureError(f"{kernel.__name__} gives {predicted.shape[1:]} for a sample, and {measured.shape[1:]} "
                             "was measured: say with entries=... which of its results that is")
    slopes = kernel.jacobian("parameters")(*given, values)[index]
    table = np.concatenate([slopes.reshape(-1, len(values)), (measured - predicted).reshape(-1, 1)], axis=1)
    wrong = ~np.isfinite(table).all(axis=1)
    if wrong.any():
        row = first + int(np.argmax(wrong)) // max(predicted[0].size, 1)
        raise GeometryError(f"sample {row} of the log is not finite: leave such samples out")
    return number, triangular(table)


def _descended(values: Array, passed: Callable[[Array], Array]) -> tuple[Array, Array, int, str]:
    """The values at the end, their triangle, the passes, and how it ended."""
    R = passed(values)
    damping = 0.0
    for passes in range(2, _MOST_PASSES + 1):
        scale = np.linalg.norm(R[:, :-1], axis=0)
        rows = np.concatenate([R[:, :-1], np.sqrt(damping) * np.diag(np.where(scale > 0, scale, 1.0))])
        step = np.linalg.lstsq(rows, np.append(R[:, -1], np.zeros(len(values))), rcond=least_singular(rows.shape[1]))[0]
        there = passed(values + step)
        before, after = np.linalg.norm(R[:, -1]), np.linalg.norm(there[:, -1])
        if not after <= before * (1 + _SETTLED):
            damping = max(10 * damping, 1e-4)
            continue
        values = values + step
        R = there
        damping = damping / 10 if damping > 1e-8 else 0.0
        if damping == 0 and np.linalg.norm(step) <= _SETTLED * max(float(np.linalg.norm(values)), _SMALL):
            return values, R, passes, "settled"
    return values, R, _MOST_PASSES, f"not settled in {_MOST_PASSES} passes"


def _check_seen(J: Array, parameters: Parameters) -> None:
    scale = np.linalg.norm(J, axis=0)
    seen = independent_columns(J / np.where(scale > 0, scale, 1.0))
    if not seen.all():
        hidden = [name for name, told in zip(parameters.names, seen, strict=True) if not told]
        raise SingularityError(f"the log does not determine {', '.join(hidden)}: the measurements do not depend on "
                               f"them, or only together with the parameters before; leave them out, or measure in "
                               f"more postures")
