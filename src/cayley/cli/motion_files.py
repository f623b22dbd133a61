"""Motions that files give: a table of configurations (.csv), a planned motion or the run of a simulation (.npz)."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

from cayley.compiler.typing import Array
from cayley.errors import CayleyError, ModelError, did_you_mean
from cayley.model.formats.files import decoded, read_bytes

if TYPE_CHECKING:
    from cayley.drawing.played import MotionLike
    from cayley.mechanism import Mechanism

_TIME = ("t", "time", "times", "seconds")
_OTHERS = re.compile(  # columns beside the coordinates that tables of runs have
    r"(qdd?|tau|v|a|velocity|acceleration|effort|torque|force)s?[_ .:].*|(qdd?|tau)\d*|[a-z_]+[.:].*|"
    r"work|energy|kinetic|potential", re.IGNORECASE)


def read_motion(path: Path, arm: Mechanism) -> MotionLike:
    """The motion of a robot in a file.

    A table has a first row of names: `t` and those of the coordinates, as `cayley info` lists them, in any order, with
    or without `q_` or `q.` before or a unit behind, [deg] for degrees; velocities, forces and energies are not read:
    what `Trajectory.to_csv` writes is such a table. Without names its columns are the time and the coordinates in
    their order."""
    if not path.is_file():
        raise ModelError(f"there is no file {path}: give a motion, a table (.csv) or what `save` wrote (.npz)")
    if path.suffix.lower() == ".npz":
        return _saved(path, arm)
    if path.suffix.lower() not in (".csv", ".tsv", ".txt"):
        raise ModelError(f"{path}: a motion is a table (.csv, .tsv) or what `save` wrote (.npz)")
    lines = io.StringIO(decoded(str(path), read_bytes(path)).removeprefix("\ufeff"), newline="")
    try:
        rows = [row for row in csv.reader(lines, delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
                if row and not row[0].lstrip().startswith("#")]
    except csv.Error as error:
        raise ModelError(f"{path} is not a table: {error}") from error
    return _table(path, rows, arm)


def _saved(path: Path, arm: Mechanism) -> MotionLike:
    from cayley.planning import load_motion
    from cayley.simulation import Trajectory
    try:
        return load_motion(path)
    except CayleyError:
        return Trajectory.load(path, arm.tree)


def _table(path: Path, rows: list[list[str]], arm: Mechanism) -> tuple[Array, Array]:
    import numpy as np
    named = bool(rows) and not _is_number(rows[0][0])
    columns = _columns(path, [word.strip() for word in rows[0]], arm) if named else [
        (k, 1.0) for k in range(arm.nq + 1)]
    values = np.empty((len(rows) - named, len(columns)))
    for number, row in enumerate(rows[named:]):
        if not named and len(row) != arm.nq + 1:
            raise ModelError(f"{path}: a row without names is the time and {arm.nq} coordinates of {arm.name}; row "
                             f"{number + 1} has {len(row)} columns")
        for place, (column, factor) in enumerate(columns):
            if column >= len(row) or not _is_number(row[column]):
                word = row[column] if column < len(row) else ""
                raise ModelError(f"{path}: {word!r} in row {number + 1 + named}, column {column + 1}, is not a number")
            values[number, place] = factor * float(row[column])
    if len(values) < 2 or not np.isfinite(values).all() or not (np.diff(values[:, 0]) > 0).all():
        raise ModelError(f"{path}: a motion is two rows or more of finite numbers, each later than the one before it")
    return values[:, 0], values[:, 1:]


def _columns(path: Path, heads: list[str], arm: Mechanism) -> list[tuple[int, float]]:
    """The columns of the time and of the coordinates in their order, and what makes radians of them."""
    from math import pi

    from cayley.model.coordinate_labels import coordinate_labels
    names = [name for name, _ in coordinate_labels(arm.tree)]
    found: dict[str, tuple[int, float]] = {}
    for column, head in enumerate(heads):
        word, unit = re.fullmatch(r"(.*?)\s*(?:[\[(](.*)[\])])?", head).groups()  # type: ignore[union-attr]
        name = "t" if word.lower() in _TIME else _coordinate(word, names)
        if name is None:
            if _OTHERS.fullmatch(word):
                continue
            raise ModelError(f"{path}: {arm.name} has no coordinate {word!r}{did_you_mean(word, names)}")
        if name in found:
            raise ModelError(f"{path}: {head!r} is the second column of {name!r}")
        found[name] = column, pi / 180.0 if (unit or "").lower() in ("deg", "degrees", "°") else 1.0
    missing = [name for name in ("t", *names) if name not in found]
    if missing:
        raise ModelError(f"{path}: there is no column {', '.join(map(repr, missing))}")
    return [found[name] for name in ("t", *names)]


def _coordinate(word: str, names: list[str]) -> str | None:
    if word in names:
        return word
    bare = re.sub(r"^(q|position|pos)[_ .:]", "", word)
    if bare in names:
        return bare
    number = re.fullmatch(r"q_?(\d+)", word)
    return names[int(number[1]) - 1] if number and 1 <= int(number[1]) <= len(names) else None


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
