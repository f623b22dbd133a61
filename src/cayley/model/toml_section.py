"""Reading a TOML document with errors that name the file, the line and the key; keys that nobody asked for are refused."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path as FilePath
from typing import Any, NoReturn

import numpy as np

from cayley.errors import CayleyError, ModelError
from cayley.model.toml_places import Path, Places, shown

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_ANGLE = re.compile(r"""\s* (?P<sign>[+-]?) \s*
    (?: (?P<degrees>[\d.eE+-]+) \s* deg
      | (?: (?P<times>[\d.eE+-]+) \s* \*? \s* )? pi (?: \s* / \s* (?P<over>[\d.eE+-]+) )? ) \s*""", re.VERBOSE)
_ANGLES = 'a text like "-pi/2", "2*pi/3" or "30 deg"'


def document(path_or_text: Any) -> Section:
    """The whole document: of a file, if a path is given (a `Path`, or a string of one line that ends in .toml), or of a text."""
    is_path = isinstance(path_or_text, FilePath) or (isinstance(path_or_text, str) and "\n" not in path_or_text
                                                    and path_or_text.strip().lower().endswith(".toml"))
    if not is_path and not isinstance(path_or_text, str):
        raise ModelError(f"a TOML description is a path or a text, not {type(path_or_text).__name__}")
    name = str(path_or_text) if is_path else "the TOML text"
    try:
        text = FilePath(path_or_text).read_text(encoding="utf-8") if is_path else path_or_text
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"{name} cannot be read: {error}") from error
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"line (\d+)", str(error))
        raise ModelError(f"{name}{', line ' + place.group(1) if place else ''}: not TOML: {error}") from error
    return Section(data, (), name, Places(text), name if is_path else "")


class Section:
    """One table of the document. Values are asked for by key and kind; `finish` refuses what was not asked for."""

    def __init__(self, data: dict[str, Any], path: Path, name: str, places: Places, file: str = "") -> None:
        self.data, self.path, self.name, self.places, self.file = data, path, name, places, file
        self._asked: list[str] = []

    def fail(self, message: str, *key: str | int) -> NoReturn:
        path = (*self.path, *key)
        line = self.places.line(path)
        where = f"{self.name}{f', line {line}' if line else ''}{f', {shown(path)}' if path else ''}"
        raise ModelError(f"{where}: {message}")

    def refuse(self, error: CayleyError, *key: str | int) -> NoReturn:
        """An error of the parts of the mechanism, with its place in the document."""
        try:
            self.fail(str(error), *key)
        except ModelError as placed:
            raise placed from error

    def finish(self) -> None:
        for key in self.data:
            if key not in self._asked:
                close = get_close_matches(key, self._asked, n=1, cutoff=0.5)
                advice = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(self._asked)}"
                self.fail(f"unknown key {key!r}: {advice}", key)

    def get(self, key: str) -> Any:
        if key not in self._asked:
            self._asked.append(key)
        return self.data.get(key)

    def has(self, key: str) -> bool:
        return self.get(key) is not None

    def need(self, key: str) -> Any:
        value = self.get(key)
        if value is None:
            self.fail(f"{key} is missing")
        return value

    # Kinds of values

    def word(self, key: str, default: str | None = None) -> str:
        value = self.need(key) if default is None else self.data.get(key, default)
        self.get(key)
        if not isinstance(value, str):
            self.fail(f"{key} must be a text, not {value!r}", key)
        return value

    def choice(self, key: str, choices: Sequence[str], default: str | None = None) -> str:
        value = self.word(key, default)
        if value not in choices:
            close = get_close_matches(value, choices, n=1, cutoff=0.5)
            self.fail(f"{key} is one of {', '.join(choices)}, not {value!r}{f': did you mean {close[0]!r}?' if close else ''}", key)
        return value

    def number(self, key: str, default: float | None = None, *, angle: bool = False) -> float:
        if not self.has(key):
            return self.need(key) if default is None else default
        return self._number(self.data[key], key, angle=angle)

    def numbers(self, key: str, size: int, default: Sequence[float] | None = None, *, angle: bool = False) -> list[float]:
        if not self.has(key):
            return self.need(key) if default is None else list(default)
        value = self.data[key]
        if not isinstance(value, list) or len(value) != size:
            self.fail(f"{key} must be a list of {size} numbers, not {value!r}", key)
        return [self._number(entry, key, i, angle=angle) for i, entry in enumerate(value)]

    def one_or_more(self, key: str, *, angle: bool = False) -> tuple[float, ...]:
        """A number, or a list of them; none if the key is not there."""
        if not self.has(key):
            return ()
        value = self.data[key]
        if not isinstance(value, list):
            return (self._number(value, key, angle=angle),)
        return tuple(self._number(entry, key, i, angle=angle) for i, entry in enumerate(value))

    def _number(self, value: Any, *key: str | int, angle: bool) -> float:
        if isinstance(value, str) and angle:
            return self._angle(value, *key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fail(f"must be a number{', or ' + _ANGLES if angle else ''}, not {value!r}", *key)
        if np.isnan(value):
            self.fail("must be a number, not nan", *key)
        return float(value)

    def _angle(self, text: str, *key: str | int) -> float:
        match = _ANGLE.fullmatch(text)
        try:
            if match is None:
                raise ValueError
            sign = -1.0 if match["sign"] == "-" else 1.0
            if match["degrees"]:
                return sign * float(np.deg2rad(float(match["degrees"])))
            return sign * float(match["times"] or 1) * float(np.pi) / float(match["over"] or 1)
        except (ValueError, ZeroDivisionError):
            self.fail(f"{text!r} is not an angle: write a number of radians, or {_ANGLES}", *key)

    # Tables

    def section(self, key: str) -> Section | None:
        if not self.has(key):
            return None
        value = self.data[key]
        if not isinstance(value, dict):
            self.fail(f"{key} must be a table, not {value!r}", key)
        return Section(value, (*self.path, key), self.name, self.places)

    def sections(self, key: str) -> list[Section]:
        value = self.get(key)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
            self.fail(f"{key} must be a list of tables, each begun with [[{shown((*self.path, key))}]]", key)
        return [Section(entry, (*self.path, key, i), self.name, self.places) for i, entry in enumerate(value)]
