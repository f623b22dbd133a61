"""Logs larger than memory, summed for identification in tasks: each reads its rows and returns a few triangles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from cayley.compiler.algebras.lazy_arrays import is_lazy
from cayley.compiler.typing import Array
from cayley.dynamics.identification.base_parameters import BaseParameters
from cayley.dynamics.identification.measurements import Measurements, SummedMeasurements, summed_measurements
from cayley.errors import SignatureError
from cayley.extras import optional_imports
from cayley.scale.points import Columns, Table, whole_number
from cayley.scale.tasks import Workers, done, in_order, tasks_of

_COLUMNS = ("q", "qd", "qdd", "tau")
_JOINED_AT_ONCE = 8


def summed_log(base: BaseParameters, log: Mapping[str, Any], *, rows: int = 65536,
               on: Workers = None) -> SummedMeasurements:
    """The columns q, qd, qdd and tau of a log, a row for each sample, summed for `least_squares` or
    `physical_estimate`.

    Columns of NumPy, Zarr or HDF5 are read in tasks of `rows` rows, here or `on` the workers of a client of Dask or an
    executor; those of Dask in the chunks that q has, by the scheduler that Dask is set to. The triangles are joined in
    the order of the rows.

    >>> from cayley.dynamics.identification import base_parameters, least_squares, simulate_measurements
    >>> model = cy.load("planar2r").identification.linear_model()
    >>> base = base_parameters(model)
    >>> m = simulate_measurements(model, *np.random.default_rng(0).normal(size=(3, 1000, 2)), noise=0.1)
    >>> found = least_squares(base, summed_log(base, {"q": m.q, "qd": m.qd, "qdd": m.qdd, "tau": m.tau}, rows=300))
    >>> bool(np.allclose(found.base_values, least_squares(base, m).base_values, rtol=1e-12))
    True
    """
    if sorted(log) != sorted(_COLUMNS):
        raise SignatureError(f"a log for identification must have the columns {', '.join(_COLUMNS)}, not "
                             f"{', '.join(log)}")
    if any(is_lazy(column) for column in log.values()):
        return _by_graph(base, log)
    table = Table(log)
    rows = whole_number(rows, "the number of rows of a task")
    task = tasks_of(_numbered, base, workers=on)
    bounds = enumerate(pairwise([*range(0, table.count, rows), table.count]))
    total = summed_measurements(base, [])
    for part in in_order(done(on, (task(k, first, table.cut(first, last)) for k, (first, last) in bounds))):
        total = total.joined(part)
    return total


def _numbered(base: BaseParameters, number: int, first: int,
              cut: Callable[[], Columns]) -> tuple[int, SummedMeasurements]:
    columns = cut()
    return number, _summed(base, first, *[columns[name] for name in _COLUMNS])


def _summed(base: BaseParameters, first: int, *columns: Array) -> SummedMeasurements:
    try:
        return summed_measurements(base, Measurements(base.model, *columns))
    except Exception as error:
        error.add_note(f"in the part of the log that begins with row {first}")
        raise


def _joined(parts: Sequence[SummedMeasurements]) -> SummedMeasurements:
    total = parts[0]
    for part in parts[1:]:
        total = total.joined(part)
    return total


def _by_graph(base: BaseParameters, log: Mapping[str, Any]) -> SummedMeasurements:
    """A task for each chunk, and a tree of tasks that join them."""
    with optional_imports():
        import dask.array as da
        from dask.delayed import delayed
    q, *others = [da.asarray(log[name]) for name in _COLUMNS]
    for name, column in zip(_COLUMNS[1:], others, strict=True):
        if column.shape[:1] != q.shape[:1]:
            raise SignatureError(f"the columns of a log have a row for each sample: q {q.shape}, {name} {column.shape}")
    ends = [0, *np.cumsum(q.chunks[0]).tolist()]
    shared = delayed(base, traverse=False)
    level = [delayed(_summed)(shared, first, *[column[first:last] for column in (q, *others)])
             for first, last in pairwise(ends)]
    while len(level) > 1:
        level = [delayed(_joined)(level[k:k + _JOINED_AT_ONCE]) for k in range(0, len(level), _JOINED_AT_ONCE)]
    return level[0].compute()
