"""Reader of TOML tables with errors that name the file, the line and the key; unknown keys raise an error."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from typing import Any, NoReturn

from cayley.compiler.typing import Scalar
from cayley.errors import CayleyError, ModelError, did_you_mean, shown
from cayley.model.angle_texts import ANGLES, angle_of
from cayley.model.formats.files import decoded, read_bytes
from cayley.model.formats.toml_places import Path, Places, line_nested_deeper, written
from cayley.model.parts import LARGEST

MOST_BYTES = 4 * 2**20  # the parser is slow: twelve thousand joints are enough
DEEPEST = 20  # tables and lists in each other


def document(path_or_text: str | PathLike[str]) -> Section:
    """The whole document: of a file, if a path is given (a `Path`, or a string of one line that ends in .toml), or of a
    text."""
    is_path = isinstance(path_or_text, PathLike) or (isinstance(path_or_text, str) and "\n" not in path_or_text
                                                     and path_or_text.strip().lower().endswith(".toml"))
    if not is_path and not isinstance(path_or_text, str):
        raise ModelError(f"a TOML description must be a path or a text, not {type(path_or_text).__name__}")
    name = fspath(path_or_text) if is_path else "the TOML text"
    text = decoded(name, read_bytes(path_or_text, most=MOST_BYTES)) if is_path else str(path_or_text)
    if len(text) > MOST_BYTES:
        raise ModelError(f"{name} is longer than {MOST_BYTES // 2**20} MiB: that is not the description of a robot")
    return Section(_parsed(name, text), (), name, Places(text), name if is_path else "")


def _parsed(name: str, text: str) -> dict[str, Any]:
    """The data of a text.

    The parser takes lists, tables and dotted keys of any depth, with a recursion and in quadratic time."""
    deep = line_nested_deeper(text, DEEPEST)
    if deep is not None:
        raise ModelError(f"{name}, line {deep}: lists, tables or dotted keys are nested more than {DEEPEST} deep")
    try:
        return tomllib.loads(text)
    # a ValueError of the parser, or of Python where an integer has thousands of digits
    except (RecursionError, ValueError) as error:
        place = re.search(r"line (\d+)", str(error))
        raise ModelError(f"{name}{', line ' + place.group(1) if place else ''}: not TOML: {error}") from error


class Section:
    """One table of the document. Values are read by key and kind, and `finish` raises an error for keys that were not
    read."""

    def __init__(self, data: dict[str, Any], path: Path, name: str, places: Places, file: str = "") -> None:
        self.data = data
        self.path = path
        self.name = name
        self.places = places
        self.file = file
        self._asked: list[str] = []

    def fail(self, message: str, *key: str | int) -> NoReturn:
        path = (*self.path, *key)
        line = self.places.line(path)
        where = f"{self.name}{f', line {line}' if line else ''}{f', {written(path)}' if path else ''}"
        raise ModelError(f"{where}: {message}")

    @contextmanager
    def placed(self, *key: str | int) -> Iterator[None]:
        """Errors of the parts made here get their place in the document."""
        try:
            yield
        except CayleyError as error:
            try:
                self.fail(str(error), *key)
            except ModelError as placed:
                raise placed from error

    def finish(self) -> None:
        for key in self.data:
            if key not in self._asked:
                advice = did_you_mean(key, self._asked, otherwise=f": known are {', '.join(self._asked)}")
                self.fail(f"unknown key {shown(key)}{advice}", key)

    def get(self, key: str) -> Scalar:
        if key not in self._asked:
            self._asked.append(key)
        return self.data.get(key)

    def has(self, key: str) -> bool:
        return self.get(key) is not None

    def need(self, key: str) -> Scalar:
        value = self.get(key)
        if value is None:
            self.fail(f"{key} is missing")
        return value

    # Kinds of values

    def word(self, key: str, default: str | None = None) -> str:
        value = self.need(key) if default is None else self.data.get(key, default)
        self.get(key)
        if not isinstance(value, str):
            self.fail(f"{key} must be a text, not {shown(value)}", key)
        return value

    def formulas(self, key: str, given: Scalar) -> tuple[str | float, ...]:
        """A list of formulas, each a text or a number."""
        self.get(key)
        if not isinstance(given, list) or any(isinstance(entry, bool) or not isinstance(entry, str | int | float)
                                              for entry in given):
            self.fail(f"{key} must be formulas, texts or numbers, not {shown(given)}", key)
        return tuple(given)

    def words(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        value = self.need(key)
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            self.fail(f"{key} must be a list of texts, not {shown(value)}", key)
        return tuple(value)

    def choice(self, key: str, choices: Sequence[str], default: str | None = None) -> str:
        value = self.word(key, default)
        if value not in choices:
            self.fail(f"{key} is one of {', '.join(choices)}, not {shown(value)}{did_you_mean(value, choices)}", key)
        return value

    def number(self, key: str, default: float | None = None, *, angle: bool = False) -> float:
        if not self.has(key):
            return self.need(key) if default is None else default
        return self._number(self.data[key], key, angle=angle)

    def numbers(self, key: str, size: int, default: Sequence[float] | None = None, *,
                angle: bool = False) -> list[float]:
        if not self.has(key):
            return self.need(key) if default is None else list(default)
        value = self.data[key]
        if not isinstance(value, list) or len(value) != size:
            self.fail(f"{key} must be a list of {size} numbers, not {shown(value)}", key)
        return [self._number(entry, key, i, angle=angle) for i, entry in enumerate(value)]

    def limits(self, key: str, *, angle: bool = False) -> tuple[float, ...]:
        """A number, or a list of them, of any size; none if the key is not there."""
        if not self.has(key):
            return ()
        value = self.data[key]
        if not isinstance(value, list):
            return (self._number(value, key, angle=angle, largest=math.inf),)
        return tuple(self._number(entry, key, i, angle=angle, largest=math.inf) for i, entry in enumerate(value))

    def rows(self, key: str) -> list[list[float]]:
        """Three rows of three numbers."""
        value = self.need(key)
        if not isinstance(value, list) or len(value) != 3 or not all(
                isinstance(row, list) and len(row) == 3 for row in value):
            self.fail(f"{key} must be three rows of three numbers, not {shown(value)}", key)
        return [[self._number(entry, key, i, k) for k, entry in enumerate(row)] for i, row in enumerate(value)]

    def _number(self, value: float | str, *key: str | int, angle: bool = False, largest: float = LARGEST) -> float:
        if isinstance(value, str) and angle:
            value = self._angle(value, *key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fail(f"must be a number{', or ' + ANGLES if angle else ''}, not {shown(value)}", *key)
        try:
            number = float(value)
        except OverflowError:
            self.fail(f"is {shown(value)}, which is too large for a number", *key)
        if math.isnan(number) or (math.isinf(number) and largest < math.inf):
            self.fail(f"must be a finite number, not {number}", *key)
        if abs(number) > largest:
            self.fail(f"is {number:g}, which is absurdly large; the units are SI", *key)
        return number

    def _angle(self, text: str, *key: str | int) -> float:
        try:
            return angle_of(text)
        except ValueError:
            self.fail(f"{shown(text)} is not an angle: write a number of radians, or {ANGLES}", *key)

    # Tables

    def section(self, key: str) -> Section | None:
        if not self.has(key):
            return None
        value = self.data[key]
        if not isinstance(value, dict):
            self.fail(f"{key} must be a table, not {shown(value)}", key)
        return Section(value, (*self.path, key), self.name, self.places)

    def sections(self, key: str) -> list[Section]:
        value = self.get(key)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
            self.fail(f"{key} must be a list of tables, each begun with [[{written((*self.path, key))}]]", key)
        return [Section(entry, (*self.path, key, i), self.name, self.places) for i, entry in enumerate(value)]
