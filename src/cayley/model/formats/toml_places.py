"""Line numbers of the keys of a TOML text, which the parser of the standard library does not keep."""

from __future__ import annotations

import re
from collections.abc import Iterator

Path = tuple[str | int, ...]

_TOKEN = re.compile(r'''
    """(?:\\.|[^\\])*?"{3,5}  |  \'\'\'.*?\'{3,5}     # texts of several lines, which may end in two quotes of their own
    | "(?:\\.|[^"\\\n])*"  |  \'[^\'\n]*\'            # texts
    | \#[^\n]*                                       # comments
    | [\[\]{}=,.\n]
    | [^\s\[\]{}=,.\#"\'\n]+                        # bare keys, numbers
    ''', re.DOTALL | re.VERBOSE)
_BETWEEN_KEYS = {"\n", "[", "]", "{", "}", "=", ","}


class Places:
    """The line of every key, table and array entry of a text that is known to be correct TOML."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Path, int] = {}
        self._tables: dict[Path, int] = {}
        self._text = text
        self._tokens: list[tuple[str, int]] = []
        self._at = 0

    def line(self, path: Path) -> int | None:
        """The line of a key, or of the nearest thing around it."""
        if not self._tokens:
            self._read()
        while path:
            if path in self.lines:
                return self.lines[path]
            path = path[:-1]
        return None

    def _read(self) -> None:
        self._tokens = list(_tokens(self._text))
        here: Path = ()
        try:
            while self._at < len(self._tokens):
                if self._peek() == "\n":
                    self._next()
                elif self._peek() == "[":
                    here = self._header()
                else:
                    self._assignment(here)
        except (IndexError, RecursionError):
            return  # an error message is better with the lines found so far than not at all

    def _peek(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else "\n"

    def _next(self) -> tuple[str, int]:
        self._at += 1
        return self._tokens[self._at - 1]

    def _skip(self, *words: str) -> None:
        while self._at < len(self._tokens) and self._peek() in words:
            self._next()

    def _key(self) -> list[str]:
        names = [_plain(self._next()[0])]
        while self._peek() == ".":
            self._next()
            names.append(_plain(self._next()[0]))
        return names

    def _header(self) -> Path:
        line = self._next()[1]
        double = self._peek() == "["
        self._skip("[")
        path: Path = ()
        names = self._key()
        for i, name in enumerate(names):
            path = (*path, name)
            last = i == len(names) - 1
            if last and double:
                self._tables[path] = self._tables.get(path, -1) + 1
            if path in self._tables:
                path = (*path, self._tables[path])
        self._skip("]")
        self.lines.setdefault(path, line)
        return path

    def _assignment(self, here: Path) -> None:
        line = self._tokens[self._at][1]
        path = here
        for name in self._key():
            path = (*path, name)
            self.lines.setdefault(path, line)
        self._next()  # the equals sign
        self._value(path)

    def _value(self, path: Path) -> None:
        opening = self._peek()
        if opening not in ("[", "{"):
            while self._peek() not in (",", "]", "}", "\n"):
                self._next()
            return
        self._next()
        entry = 0
        while True:
            self._skip("\n", ",")
            if self._peek() in ("]", "}"):
                self._next()
                return
            if opening == "{":
                self._assignment(path)
            else:
                self.lines[(*path, entry)] = self._tokens[self._at][1]
                self._value((*path, entry))
                entry += 1


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    line = 1
    seen = 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", seen, match.start())
        seen = match.start()
        if not match.group().startswith("#"):
            yield match.group(), line


def line_nested_deeper(text: str, deepest: int) -> int | None:
    """The first line in which lists and inline tables are nested, or a dotted key is longer, than `deepest`; None if
    there is none."""
    depth = 0
    dots = 0
    for token, line in _tokens(text):
        depth += (token in ("[", "{")) - (token in ("]", "}"))
        dots = dots + 1 if token == "." else 0 if token in _BETWEEN_KEYS else dots
        if max(depth, dots) > deepest:
            return line
    return None


def _plain(key: str) -> str:
    return key[1:-1] if key[:1] in ("'", '"') else key


def written(path: Path) -> str:
    """A path as it is written: joints[2].limits.lower"""
    text = ""
    for part in path:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if text else part
    return text
