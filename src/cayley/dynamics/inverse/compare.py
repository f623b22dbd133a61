"""Every method of inverse dynamics beside every other: forces, spread, operations and time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.algebras.counts import Operations
from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.inverse.kernels import InverseDynamics
from cayley.dynamics.inverse.methods import DEFAULT
from cayley.errors import UnsupportedError
from cayley.model.report import TextTable
from cayley.progress import tracked
from cayley.tabulated import Tabulated, plain

if TYPE_CHECKING:
    from rich.table import Table as RichTable

_NAMES = ("method", "multiplications", "additions", "ns per state", "distance", "source", "refused")
AGREED = 1e-12  # beside the largest force, of these states or of random ones


@dataclass(frozen=True)
class MethodRow:
    """The result of one method: forces (..., nv), their distance from the default's relative to the largest force (at
    least that of random states: at rest there may be none), the operations of its compiled text, and the time of a
    state in a batch [s]; or why it could not be used."""

    method: str
    source: str
    forces: Array | None = None
    distance: float | None = None
    operations: Operations | None = None
    seconds: float | None = None
    refused: str = ""


@dataclass(frozen=True, repr=False)
class Comparison(Tabulated):
    """The rows of all methods. Prints as a table."""

    mechanism: str
    rows: tuple[MethodRow, ...]

    @property
    def spread(self) -> float:
        """The largest distance of a method from the default."""
        return max([row.distance for row in self.rows if row.distance is not None], default=0.0)

    @property
    def agrees(self) -> bool:
        return self.spread <= AGREED

    @property
    def table(self) -> TextTable:
        columns = ("method", "multiplications", "additions", "ns per state", "distance", "source")
        return TextTable(f"Inverse dynamics of {self.mechanism}", columns, tuple(map(_words, self.rows)))

    def to_columns(self) -> dict[str, Array]:
        """A row a method: operations, time, distance from the default; what is not known is NaN."""
        rows = self.to_dict()["rows"]
        kinds = {"multiplications": float, "additions": float, "ns per state": float, "distance": float}
        return {name: np.array([np.nan if row[name] is None else row[name] for row in rows], dtype=kinds.get(name))
                if name in kinds else np.array([row[name] for row in rows], dtype=object) for name in _NAMES}

    def to_dict(self) -> dict[str, Any]:
        """The rows, and whether they agree, as plain numbers and words."""
        values = [(row.method, row.operations and row.operations.multiplications,
                   row.operations and row.operations.additions, row.seconds and 1e9 * row.seconds, row.distance,
                   row.source, row.refused) for row in self.rows]
        return plain({"mechanism": self.mechanism, "agrees": self.agrees, "spread": self.spread,
                      "rows": [dict(zip(_NAMES, row, strict=True)) for row in values]})

    @property
    def verdict(self) -> str:
        """A sentence that tells if the methods agree."""
        said = "agree" if self.agrees else "DO NOT AGREE"
        return f"The methods {said}: the largest distance is {self.spread:.2g}."

    def __str__(self) -> str:
        return f"{self.table}\n{self.verdict}"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"{self.table._repr_html_()}<p>{self.verdict}</p>"

    def __rich__(self) -> RichTable:
        return self.table.__rich__()


def _words(row: MethodRow) -> tuple[str, ...]:
    if row.operations is None:
        return row.method, "", "", "", "", row.refused
    return (row.method, str(row.operations.multiplications), str(row.operations.additions),
            f"{1e9 * (row.seconds or 0):.0f}", f"{row.distance:.1g}", row.source)


def compare_inverse_dynamics(compute: InverseDynamics, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *,
                             methods: Iterable[str] | None = None, progress: bool = True,
                             states: int = 2048) -> Comparison:
    """All methods, or some, on one state or a batch of states (..., nq), (..., nv), (..., nv).

    Times are medians on batches of `states` random states, all on this machine now."""
    names = list(compute.methods) if methods is None else [methods] if isinstance(methods, str) else list(methods)
    for name in names:
        compute.check_method(name)
    reference = compute(q, qd, qdd)
    samples = np.random.default_rng(0).normal(size=(3, states, compute.tree.nv))
    batch = (np.resize(np.broadcast_to(q, (*np.shape(reference)[:-1], compute.tree.nq)),
                       (states, compute.tree.nq)), *samples[1:])
    size = max(float(np.abs(reference).max(initial=0.0)), _usual_force(compute, batch))
    rows = [_row(compute, name, (q, qd, qdd), reference, size, batch)
            for name in tracked(names, "methods", shown=progress)]
    return Comparison(compute.tree.name, tuple(rows))


def _usual_force(compute: InverseDynamics, batch: tuple[Any, ...]) -> float:
    """The median of the largest forces."""
    return float(np.median(np.abs(compute(*batch)).max(axis=-1, initial=0.0))) or 1.0


def _row(compute: InverseDynamics, name: str, state: tuple[Any, ...], reference: Array, size: float,
         batch: tuple[Any, ...]) -> MethodRow:
    source = compute.methods[name].source
    try:
        method = compute if name == DEFAULT else compute.using(name)
    except UnsupportedError as error:
        return MethodRow(name, source, refused=str(error))
    forces = method(*state)
    return MethodRow(name, source, forces,
                     float(np.abs(forces - reference).max(initial=0.0)) / size, method.operations(),
                     _median_seconds(method, batch) / len(batch[0]))


def _median_seconds(method: Kernel, batch: tuple[Any, ...]) -> float:
    method(*batch)
    times = []
    for _ in range(5):
        start = perf_counter()
        method(*batch)
        times.append(perf_counter() - start)
    return float(np.median(times))
