"""Findings: remarks about a mechanism or the file that it was read from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """Remark about a mechanism: its subject, the names concerned, a sentence, and whether it is a warning or only a
    note."""

    about: str
    names: tuple[str, ...]
    text: str
    doubtful: bool = True

    def __str__(self) -> str:
        return self.text
