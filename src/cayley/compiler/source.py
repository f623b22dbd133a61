"""The text of a function in a language, as `kernel.source("javascript")` gives it: its files, to print or to write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cayley.showing import html_text


@dataclass(frozen=True, repr=False)
class SourceFiles:
    """Texts by the names of their files."""

    language: str
    files: Mapping[str, str]

    def write(self, folder: str | Path) -> tuple[Path, ...]:
        """Write the files into the folder, which is made if need be; their paths."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        for name, text in self.files.items():
            (place / name).write_text(text, encoding="utf-8")
        return tuple(place / name for name in self.files)

    def __repr__(self) -> str:
        lines = sum(text.count("\n") for text in self.files.values())
        return f"<{self.language} of {' and '.join(self.files)}, {lines} lines: print it, or write(folder)>"

    def _repr_html_(self) -> str:
        return html_text(repr(self), str(self))

    def __str__(self) -> str:
        return "\n".join(self.files.values())
