"""Findings: remarks about a mechanism or the file that it was read from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_FORMS = re.compile(r"\[([^|\]]*)\|([^\]]*)\]")
_MOST_NAMED = 8

@dataclass(frozen=True)
class Remark:
    """Remark about a mechanism: its subject, the names concerned, a sentence, and whether it is a warning or only a
    note."""

    about: str
    names: tuple[str, ...]
    text: str
    doubtful: bool = True

    def __str__(self) -> str:
        return self.text


def in_number(sentence: str, count: int) -> str:
    """A sentence with forms for one and for many.

    >>> in_number("2 joint[|s] [has|have] no limits", 2)
    '2 joints have no limits'
    """
    return _FORMS.sub(lambda form: form[1 if count == 1 else 2], sentence)


def grouped(about: str, names: Sequence[str], sentence: str) -> Iterator[Remark]:
    """One finding about all that are named, if there are any; @ in the sentence stands for the names."""
    if names:
        said = in_number(sentence, len(names)).replace("@", ", ".join(map(repr, names)))
        yield Remark(about, tuple(names), said)


def counted(about: str, names: Sequence[str], sentence: str, *, doubtful: bool = True,
            made: re.Pattern[str] = re.compile("")) -> Iterator[Remark]:
    """One finding that begins with the number of things, if there are any, and ends with their names but those that the
    reader has `made`."""
    if names:
        given = [name for name in names if not made.fullmatch(name)]
        more = f" and {len(given) - _MOST_NAMED} more" if len(given) > _MOST_NAMED else ""
        listed = f": {', '.join(map(repr, given[:_MOST_NAMED]))}{more}" if given else ""
        yield Remark(about, tuple(names), f"{len(names)} {in_number(sentence, len(names))}{listed}", doubtful)
