"""Names that pages of the documentation make, by their own lines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from doctest import DocTestParser
from pathlib import Path
from typing import Any

_running: dict[str, dict[str, Any]] = {}


@contextmanager
def running(page: str, names: dict[str, Any]) -> Iterator[None]:
    """A page whose lines somebody else runs, as its test does: pictures are drawn of these names."""
    _running[page] = names
    try:
        yield
    finally:
        del _running[page]


def made_by_page(page: str, until: str) -> dict[str, Any]:
    """The names that a page has made, by its own lines, when it has come to one of them."""
    if page in _running:
        return _running[page]
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for example in DocTestParser().get_examples(text):
        if until not in names and example.exc_msg is None:
            exec(example.source, names)
    return names
