"""What is worth saying of a mechanism or of the file that it was read from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """What it is about, the names concerned, and a sentence; doubtful, or a mere fact."""

    about: str
    names: tuple[str, ...]
    text: str
    doubtful: bool = True

    def __str__(self) -> str:
        return self.text
