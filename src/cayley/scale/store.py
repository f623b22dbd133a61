"""Where the results of a sweep lie: a group of Zarr, in which each chunk is written by one task and then marked.

    rows/<name>   (points, *shape)   results that are kept, in the chunks of the sweep
    summaries     (chunks, size)     what is kept of the others, a row for each chunk
    marks         (chunks,)          1 where a chunk is complete
A mark is written after all that it stands for, and is an object of its own: a task that ends in the middle leaves a
chunk without a mark, which is made anew. To write a chunk twice changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ConventionError

if TYPE_CHECKING:
    import zarr
    from zarr.abc.store import Store as Files

_TITLE = "cayley sweep"


@dataclass(frozen=True)
class Plan:
    """What is written: rows and chunks, and what each result (*shape) that is kept is; how long a summary is."""

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
        """As they stand in the store."""
        kept = {name: [list(shape), dtype] for name, (shape, dtype) in self.kept.items()}
        return {"points": self.count, "chunk": self.chunk, "kept": kept, "reduced": self.reduced, "size": self.size}


@dataclass(frozen=True)
class Store:
    """A group that holds a sweep; it can be sent to other processes if they see the same files."""

    group: zarr.Group
    plan: Plan

    def write(self, number: int, rows: Mapping[str, Array], summary: Array) -> None:
        first, last = self.plan.bounds(number)
        for name, values in rows.items():
            self.rows(name)[first:last] = values
        if self.plan.size:
            self.group["summaries"][number] = summary  # type: ignore[index]
        self.group["marks"][number] = 1  # type: ignore[index]

    def rows(self, name: str) -> Any:  # noqa: ANN401 (an array of Zarr)
        return self.group[f"rows/{name}"]

    def summaries(self, first: int, last: int) -> Array:
        return np.asarray(self.group["summaries"][first:last])  # type: ignore[index]

    def complete(self) -> Array:
        """Which chunks are (bool)."""
        return np.asarray(self.group["marks"][:]) == 1  # type: ignore[index]


def opened(into: str | os.PathLike[str] | Files | None, plan: Plan) -> Store:
    """The sweep that lies there, if it is this one; or a new one, where nothing lies; without a place, in memory."""
    import zarr
    place = zarr.storage.MemoryStore() if into is None else str(Path(into).absolute()) if isinstance(
        into, (str, os.PathLike)) and "://" not in str(into) else into
    if isinstance(place, str) and Path(place).is_file():
        raise ConventionError(f"{into} is a file: a sweep takes a folder, or a place where nothing is yet")
    group = zarr.open_group(place, mode="a")
    if _TITLE in group.attrs:
        _check_same(into, group.attrs[_TITLE], plan)
    elif list(group.keys()):
        raise ConventionError(f"{into} holds {', '.join(sorted(group.keys())[:3])}, and no sweep: take another place")
    else:
        _make(group, plan)
    return Store(group, plan)


def _make(group: zarr.Group, plan: Plan) -> None:
    """Arrays first, their description last: what was begun and not finished is no sweep, and is made over."""
    for name, (shape, dtype) in plan.kept.items():
        group.create_array(f"rows/{name}", shape=(plan.count, *shape), chunks=(plan.chunk, *[max(n, 1) for n in shape]),
                           dtype=dtype, overwrite=True)
    if plan.size:
        group.create_array("summaries", shape=(plan.chunks, plan.size), chunks=(1, plan.size), dtype="float64",
                           overwrite=True)
    group.create_array("marks", shape=(plan.chunks,), chunks=(1,), dtype="uint8", compressors=None, overwrite=True)
    group.attrs[_TITLE] = plan.facts


def _check_same(into: object, there: Any, plan: Plan) -> None:  # noqa: ANN401 (as it was read)
    for word, value in plan.facts.items():
        if there.get(word) != value:
            raise ConventionError(f"{into} holds another sweep: {word} is {there.get(word)} there, and {value} here; "
                                  "take another place, or the same sweep")
