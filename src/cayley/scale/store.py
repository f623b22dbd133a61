"""The store of the results of a sweep: a group of Zarr, in which each chunk is written by one task and then marked.

    rows/<name>   (points, *shape)   results that are kept, in the chunks of the sweep
    summaries     (chunks, size)     what is kept of the others, a row for each chunk
    digests       (chunks, 2)        of the points of each chunk, and of its results
    marks         (chunks,)          1 where a chunk is complete
A mark is written after all that it stands for, and is an object of its own: a task that ends in the middle leaves a
chunk without a mark, which is made anew. To write a chunk twice changes nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import CayleyError, ConventionError
from cayley.extras import optional_imports
from cayley.scale.points import digest

if TYPE_CHECKING:
    import zarr
    from zarr.abc.store import Store as Files

_TITLE = "cayley sweep"


@dataclass(frozen=True)
class StorePlan:
    """The plan of a store: rows and chunks, and what each result (*shape) that is kept is; how long a summary is."""

    count: int
    chunk: int
    kept: dict[str, tuple[tuple[int, ...], str]]
    reduced: list[str]
    size: int

    @property
    def chunks(self) -> int:
        return -(-self.count // self.chunk)

    def bounds(self, number: int) -> tuple[int, int]:
        return number * self.chunk, min((number + 1) * self.chunk, self.count)

    @property
    def facts(self) -> dict[str, Any]:
        """The facts, as they stand in the store."""
        kept = {name: [list(shape), dtype] for name, (shape, dtype) in self.kept.items()}
        return {"format": 2, "points": self.count, "chunk": self.chunk, "kept": kept, "reduced": self.reduced,
                "size": self.size}


@dataclass(frozen=True)
class Store:
    """A group that holds a sweep; it can be sent to other processes if they see the same files."""

    group: zarr.Group
    plan: StorePlan

    def write(self, number: int, rows: Mapping[str, Array], summary: Array, points: int) -> None:
        first, last = self.plan.bounds(number)
        for name, values in rows.items():
            self.rows(name)[first:last] = values
        if self.plan.size:
            self.group["summaries"][number] = summary  # type: ignore[index]
        known = points, _digest(rows, summary)
        self.group["digests"][number] = np.array(known, dtype=np.uint64)  # type: ignore[index]
        self.group["marks"][number] = 1  # type: ignore[index]

    def rows(self, name: str) -> Any:  # noqa: ANN401 (an array of Zarr)
        return self.group[f"rows/{name}"]

    def summaries(self, first: int, last: int) -> Array:
        return np.asarray(self.group["summaries"][first:last])  # type: ignore[index]

    def complete(self) -> Array:
        """Truth values of the chunks that are complete; a mark that cannot be read counts as none."""
        try:
            return np.asarray(self.group["marks"][:]) == 1  # type: ignore[index]
        except Exception:  # whatever Zarr, its codecs and the file system raise for what is damaged
            return np.array([self._is_marked(number) for number in range(self.plan.chunks)])

    def _is_marked(self, number: int) -> bool:
        try:
            return bool(self.group["marks"][number] == 1)  # type: ignore[index]
        except Exception:
            return False

    def points_of(self, number: int) -> int | None:
        """The digest of the points of a complete chunk, or None if its data have changed since they were written."""
        first, last = self.plan.bounds(number)
        try:
            results = {name: np.asarray(self.rows(name)[first:last]) for name in self.plan.kept}
            summary = self.summaries(number, number + 1)[0] if self.plan.size else np.zeros(0)
            points, there = np.asarray(self.group["digests"][number]).tolist()  # type: ignore[index]
        except Exception:
            return None
        return points if there == _digest(results, summary) else None


def _digest(rows: Mapping[str, Array], summary: Array) -> int:
    """A digest of results; Zarr does not keep the sign of zeros."""
    return digest({name: values + 0.0 if values.dtype.kind in "fc" else values
                   for name, values in {**rows, "": summary}.items()})


def opened(into: str | os.PathLike[str] | Files | None, plan: StorePlan) -> Store:
    """The stored sweep if it is this one, or a new one if nothing is stored; in memory if no path is given."""
    with optional_imports():
        import zarr
    place = zarr.storage.MemoryStore() if into is None else str(Path(into).absolute()) if isinstance(
        into, (str, os.PathLike)) and "://" not in str(into) else into
    if isinstance(place, str) and Path(place).is_file():
        raise ConventionError(f"{into} is a file: a sweep takes a folder, or a place where nothing is yet")
    try:
        return Store(_group(zarr.open_group(place, mode="a"), into, plan), plan)
    except CayleyError:
        raise
    except OSError as error:
        raise ConventionError(f"{into} cannot hold a sweep: {error.strerror or error}") from error
    except Exception as error:  # whatever Zarr raises for a description that is damaged
        raise ConventionError(f"what {into} holds cannot be read as a sweep, or is damaged ({type(error).__name__}, "
                              f"{error}): take another place, or delete it to compute all of it again") from error


def _group(group: zarr.Group, into: object, plan: StorePlan) -> zarr.Group:
    if _TITLE in group.attrs:
        _check_same(into, group.attrs[_TITLE], plan)
        for name in _arrays(plan):
            group[name]
    elif list(group.keys()):
        raise ConventionError(f"{into} holds {', '.join(sorted(group.keys())[:3])}, and no sweep: take another place")
    else:
        _make(group, plan)
    return group


def _arrays(plan: StorePlan) -> list[str]:
    return [*[f"rows/{name}" for name in plan.kept], *(["summaries"] if plan.size else []), "digests", "marks"]


def _make(group: zarr.Group, plan: StorePlan) -> None:
    """Arrays first, their description last: what was begun and not finished is no sweep, and is made over."""
    for name, (shape, dtype) in plan.kept.items():
        group.create_array(f"rows/{name}", shape=(plan.count, *shape), chunks=(plan.chunk, *[max(n, 1) for n in shape]),
                           dtype=dtype, overwrite=True)
    if plan.size:
        group.create_array("summaries", shape=(plan.chunks, plan.size), chunks=(1, plan.size), dtype="float64",
                           overwrite=True)
    group.create_array("digests", shape=(plan.chunks, 2), chunks=(1, 2), dtype="uint64", compressors=None,
                       overwrite=True)
    group.create_array("marks", shape=(plan.chunks,), chunks=(1,), dtype="uint8", compressors=None, overwrite=True)
    group.attrs[_TITLE] = plan.facts


def _check_same(into: object, there: Any, plan: StorePlan) -> None:  # noqa: ANN401 (as it was read)
    for word, value in plan.facts.items():
        if there.get(word) != value:
            raise ConventionError(f"{into} holds another sweep: {word} is {there.get(word)} there, and {value} here; "
                                  "take another place, or the same sweep")
