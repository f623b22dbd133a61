"""A sweep: one function of many points, in chunks that are tasks; results kept in Zarr, or reduced.

Each chunk is a pure function of its number, its result is written once and then marked (`cayley.scale.store`). The
chunks of a worker that dies are computed again by another. A restarted sweep continues with the chunks that are not
marked as done. Totals are joined in the order of the chunks. So the result does not depend on who worked and how often.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import Array
from cayley.errors import ConventionError, SignatureError, did_you_mean, shown
from cayley.progress import PatientBar
from cayley.scale.points import Columns, Points, digest, points_of, whole_number
from cayley.scale.reductions import Reduction
from cayley.scale.store import Store, StorePlan, opened
from cayley.scale.tasks import Workers, check_workers, done, is_elsewhere, tasks_of
from cayley.systems.trajectory import Trajectory

if TYPE_CHECKING:
    from zarr.abc.store import Store as Files

Compute = Callable[..., Any]
Reduce = Mapping[str, Sequence[Reduction]]
_AGREE = 1e-6  # of the largest value: another machine may round otherwise
_JOINED = 256  # summaries that are read at once


@dataclass(frozen=True)
class Job:
    """The computation of a chunk, wherever it runs."""

    compute: Compute
    reduce: Mapping[str, tuple[Reduction, ...]]

    def results(self, columns: Columns) -> Columns:
        rows = len(next(iter(columns.values())))
        found = _named(self.compute, self.compute(**columns))
        for name, values in found.items():
            if values.shape[:1] != (rows,):
                raise SignatureError(f"{name!r} of a sweep has the shape {values.shape}; it needs a row for each of "
                                     f"the {rows} points it was computed of")
        return found

    def summary(self, results: Columns, first: int) -> Array:
        parts = [reduction.summary(results[name], first) for name in self.reduce for reduction in self.reduce[name]]
        return np.concatenate(parts) if parts else np.zeros(0)

    def kept(self, results: Columns) -> Columns:
        return {name: values for name, values in results.items() if name not in self.reduce}


@dataclass(frozen=True, eq=False, repr=False)
class Swept:
    """The results of a sweep: `swept["tau"]` is a Zarr array with a row for each point, and `reduced["tau"]` the
    results of its reductions. `computed` is the number of chunks computed now; the others were there already."""

    points: Points
    computed: int
    reduced: dict[str, tuple[NamedTuple, ...]]
    _store: Store

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 (an array of Zarr)
        if name not in self._store.plan.kept:
            raise SignatureError(f"this sweep keeps {', '.join(self._store.plan.kept) or 'no rows'}"
                                 f"{f', and has {name} reduced' if name in self.reduced else f'; there is no {name}'}")
        return self._store.rows(name)

    def columns(self, first: int, last: int) -> Columns:
        """The points themselves, from the row `first` to before `last`."""
        return self.points.cut(first, last)()

    def __repr__(self) -> str:
        plan = self._store.plan
        has = [*plan.kept, *[f"{name} (reduced)" for name in self.reduced]]
        return (f"<sweep of {plan.count} points in {plan.chunks} chunks, {self.computed} of them computed now: "
                f"{', '.join(has)}>")


def sweep(compute: Compute, points: Points | Mapping[str, Any], *, into: str | os.PathLike[str] | Files | None = None,
          chunk: int = 65536, reduce: Reduce | None = None, on: Workers = None, progress: bool = True) -> Swept:
    """Compute a function of every point, in chunks of rows; results are kept or reduced, by their names.

    `compute`: a kernel, or any function that takes the columns of the points by name, a row for each point, and returns
    arrays with as many rows: one (called as the kernel calls it, or "result"), several, by name, or the trajectories of
    a rollout. `points`: columns by name (NumPy,
    Zarr, HDF5), a `Grid`, or what is `Drawn`. `into`: a folder, or a store of Zarr; in memory, if left out. If it holds
    this sweep already, what is complete is not computed again, unless it is damaged; other points and another function
    are refused. `reduce`: for the
    results that are not to be kept row by row, how they are summed up. `on`: a client of Dask, or an executor of
    concurrent.futures; otherwise all is done here. `progress`: a bar, if it takes long.

    >>> from cayley.scale import Drawn, Extremes
    >>> arm = cy.load("planar2r")
    >>> def draw(random, count):
    ...     return {"q": arm.random_configuration(count, seed=random), "qd": random.normal(size=(count, 2)),
    ...             "qdd": np.zeros((count, 2))}
    >>> found = sweep(arm.inverse_dynamics, Drawn(10_000, draw), chunk=4096, reduce={"tau": [Extremes()]})
    >>> found, bool((found.reduced["tau"][0].greatest < 40).all())
    (<sweep of 10000 points in 3 chunks, 3 of them computed now: tau (reduced)>, True)
    """
    points = points_of(points)
    rows = whole_number(chunk, "the number of rows of a chunk")
    check_workers(on)
    if points.count == 0:
        raise ConventionError("there are no points to sweep over")
    if into is None and is_elsewhere(on):
        raise ConventionError("tasks in other processes write their results into shared files: give a path, into=...")
    job = Job(compute, {name: _ways(name, ways) for name, ways in (reduce or {}).items()})
    plan = _planned(job, points, min(rows, points.count))
    store = opened(into, plan)
    known_by = getattr(points, "known_by", None)
    complete = _sound(points, known_by, store, on, into)
    _check_chunk(job, points, store, complete, into)
    missing = np.flatnonzero(~complete)
    task = tasks_of(_do, job, store, known_by, workers=on)
    tasks = (task(int(k), points.cut(*plan.bounds(int(k)))) for k in missing)
    with PatientBar("sweep", plan.chunks, shown=progress) as bar:
        for already, _ in enumerate(done(on, tasks), plan.chunks - len(missing) + 1):
            bar.reached(already)
    return Swept(points, len(missing), _totals(job, points, store), store)


def _ways(name: str, ways: Sequence[Reduction]) -> tuple[Reduction, ...]:
    if not isinstance(ways, Sequence) or any(isinstance(way, type) or not hasattr(way, "summary") for way in ways):
        raise SignatureError(f"{name!r} is reduced by a list of reductions, as [Extremes(), Moments()], not by "
                             f"{shown(ways)}")
    return tuple(ways)


def kernel_named(mechanism: object, compute: str | Compute) -> Compute:
    """The kernel that a mechanism has under a name; a function is taken as it is."""
    if not isinstance(compute, str):
        return compute
    room, _, name = compute.rpartition(".")  # "gravity_forces", or "loops.forces" of a room
    owner = getattr(mechanism, room) if room and hasattr(type(mechanism), room) else mechanism
    kernels = [each for each in dir(type(owner)) if not each.startswith("_")]
    if name not in kernels or not callable(getattr(owner, name)):
        others = [each for each in kernels if each != name]
        advice = did_you_mean(compute, others, otherwise=": give the function itself")
        raise SignatureError(f"a mechanism has no kernel {compute!r} that could be swept{advice}")
    return getattr(owner, name)


def _planned(job: Job, points: Points, chunk: int) -> StorePlan:
    """The names, shapes and types of results, from those of one point."""
    results = job.results(points.cut(0, 1)())
    unknown = [name for name in job.reduce if name not in results]
    if unknown:
        raise SignatureError(f"there is no result {unknown[0]!r} to reduce: there are {', '.join(results)}")
    kept = {name: (values.shape[1:], values.dtype.str) for name, values in job.kept(results).items()}
    ways = [f"{name}: {way}" for name in job.reduce for way in job.reduce[name]]
    return StorePlan(points.count, chunk, kept, ways, len(job.summary(results, 0)))


def _do(job: Job, store: Store, known_by: int | None, number: int, cut: Callable[[], Columns]) -> int:
    first, last = store.plan.bounds(number)
    try:
        columns = cut()
        known = digest(columns) if known_by is None else known_by  # before the function, which may write into them
        results = job.results(columns)
        _check_results(job.kept(results), store.plan)
        store.write(number, job.kept(results), job.summary(results, first), known)
    except Exception as error:
        error.add_note(f"in chunk {number} of a sweep, points {first} to {last - 1}")
        raise
    return number


def _check_results(kept: Columns, plan: StorePlan) -> None:
    """Check that results have the names, shapes and types of those of the first point."""
    found = {name: (values.shape[1:], values.dtype.str) for name, values in kept.items()}
    for name in {**plan.kept, **found}:
        one, other = (f"{name} of {each[name][0]} {np.dtype(each[name][1])}" if name in each else f"no {name}"
                      for each in (plan.kept, found))
        if one != other:
            raise SignatureError(f"the first point of this sweep gave {one}, and these points give {other}: all must "
                                 "give the same")


def _sound(points: Points, known_by: int | None, store: Store, on: Workers, into: object) -> Array:
    """The chunks that are complete, can be read, and were computed of these points; other points raise an error."""
    complete = store.complete()
    task = tasks_of(_found, store, known_by, workers=on)
    numbers = [int(k) for k in np.flatnonzero(complete)]
    for number, said in done(on, (task(k, points.cut(*store.plan.bounds(k))) for k in numbers)):
        if said == "other":
            first, last = store.plan.bounds(number)
            raise ConventionError(f"{into} holds a sweep of other points: some of those from {first} to {last - 1} "
                                  "were others when they were computed; take another place, or the same points")
        complete[number] = said == "sound"
    return complete


def _found(store: Store, known_by: int | None, number: int, cut: Callable[[], Columns]) -> tuple[int, str]:
    there = store.points_of(number)
    if there is None:
        return number, "damaged"
    return number, "sound" if there == (digest(cut()) if known_by is None else known_by) else "other"


def _check_chunk(job: Job, points: Points, store: Store, complete: Array, into: object) -> None:
    """Check that stored results were computed by the same function of the same points: of one chunk, by computing
    it."""
    if not complete.any():
        return
    number = int(np.argmax(complete))
    first, last = store.plan.bounds(number)
    results = job.results(points.cut(first, last)())
    pairs = {name: (values, store.rows(name)[first:last]) for name, values in job.kept(results).items()}
    if store.plan.size:
        pairs["summaries"] = job.summary(results, first), store.summaries(number, number + 1)[0]
    for name, (here, there) in pairs.items():
        size = np.abs(here[np.isfinite(here)]).max(initial=0.0)
        if not np.allclose(here, there, rtol=_AGREE, atol=_AGREE * size, equal_nan=True):
            raise ConventionError(f"{into} holds another sweep: {name} of its chunk {number} is not what this function "
                                  "gives of these points; take another place, or the same sweep")


def _totals(job: Job, points: Points, store: Store) -> dict[str, tuple[NamedTuple, ...]]:
    if not job.reduce:
        return {}
    results = job.results(points.cut(0, 1)())
    ways = [(name, way) for name in job.reduce for way in job.reduce[name]]
    ends = np.cumsum([len(way.summary(results[name], 0)) for name, way in ways])
    total: list[Array] | None = None
    for first in range(0, store.plan.chunks, _JOINED):
        for row in store.summaries(first, min(first + _JOINED, store.plan.chunks)):
            parts = np.split(row, ends[:-1])
            total = parts if total is None else [
                way.joined(one, other) for (_, way), one, other in zip(ways, total, parts, strict=True)]
    found: dict[str, tuple[NamedTuple, ...]] = {}
    for (name, way), summary in zip(ways, total or [], strict=True):
        found[name] = (*found.get(name, ()), way.total(summary, results[name].shape[1:]))
    return found


def _named(compute: Compute, found: Any) -> Columns:  # noqa: ANN401 (whatever a function returns)
    """Results by name."""
    if isinstance(found, Trajectory):
        return {name: np.asarray(found[name]) for name in found.system.layout.columns}
    if isinstance(found, Mapping):
        return {name: np.asarray(values) for name, values in found.items()}
    if isinstance(found, tuple):
        names = getattr(found, "_fields", tuple(f"out{k + 1}" for k in range(len(found))))
        return {name: np.asarray(values) for name, values in zip(names, found, strict=True)}
    given = compute.outputs if isinstance(compute, Kernel) else None
    return {given[0] if given else "result": np.asarray(found)}
