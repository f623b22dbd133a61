"""Results as tables for other programs: dictionaries of plain numbers, frames of pandas, files of comma-separated
values."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.errors import ModelError, UnsupportedError

if TYPE_CHECKING:
    from pandas import DataFrame


class Tabulated:
    """Base of results with rows and columns, which a class gives by `to_columns`."""

    __slots__ = ()

    def to_columns(self) -> dict[str, np.ndarray]:
        """The columns of the table, all of one length, by their names with units in brackets."""
        raise NotImplementedError

    def to_dataframe(self) -> DataFrame:
        """The table as a `pandas.DataFrame`."""
        try:
            import pandas
        except ImportError as error:
            raise UnsupportedError("a DataFrame is of pandas, which is not installed: pip install 'cayley[tables]'; "
                                   "`to_csv` and `to_columns` do without it") from error
        return pandas.DataFrame(self.to_columns())

    def to_csv(self, path: str | os.PathLike[str]) -> Path:
        """Write the table as a .csv file: a line of names, then a line a row, numbers to their last digit."""
        place = Path(path)
        if place.suffix.lower() != ".csv":
            raise UnsupportedError(f"comma-separated values need a .csv file, not {place.name!r}")
        if not place.absolute().parent.is_dir():
            raise ModelError(f"the folder {place.parent} does not exist: create it, or write the file elsewhere")
        table = self.to_columns()
        with place.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(table)
            writer.writerows(zip(*[plain(column) for column in table.values()], strict=True))
        return place


def plain(value: Any) -> Any:  # noqa: ANN401 (whatever a result holds)
    """Numbers, words, lists and dictionaries of Python alone, as JSON takes them.

    >>> plain({"t": np.arange(2.0), "n": np.int64(3), "why": ("none",)})
    {'t': [0.0, 1.0], 'n': 3, 'why': ['none']}
    """
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if is_dataclass(value) and not isinstance(value, type):
        return {part.name: plain(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(one) for one in value]
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)


def flattened(name: str, values: np.ndarray, unit: str, rows: int, labels: Sequence[str] | None = None) -> dict[
        str, np.ndarray]:
    """An array (rows, *shape) as columns: one, or one an element, by their labels or their places.

    >>> list(flattened("v", np.zeros((4, 2)), "m/s", 4))
    ['v[0] [m/s]', 'v[1] [m/s]']
    """
    end = f" [{unit}]" if unit else ""
    if values.ndim == 1:
        return {f"{name}{end}": values}
    places = labels or [f"{name}[{','.join(map(str, place))}]" for place in np.ndindex(values.shape[1:])]
    return {f"{place}{end}": column for place, column in zip(places, values.reshape(rows, -1).T, strict=True)}


def batch_columns(batch: tuple[int, ...], samples: int) -> dict[str, np.ndarray]:
    """Columns that number the trajectories of a batch; none for one trajectory."""
    if not batch:
        return {}
    places = np.indices((*batch, samples))[:-1].reshape(len(batch), -1)
    names = ["trajectory"] if len(batch) == 1 else [f"trajectory axis {k}" for k in range(len(batch))]
    return dict(zip(names, places, strict=True))
