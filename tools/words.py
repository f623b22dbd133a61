"""Write the pages of words from their tables in src/cayley/words: `python tools/words.py`. `make check` fails where a
page is not what its table says (tests/test_words.py)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from cayley.words import LIBRARIES, calls, words

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = {
    "start/words.md": ["field"],
    "start/coming_from/pinocchio.md": ["pinocchio"],
    "start/coming_from/mujoco.md": ["mujoco"],
    "start/coming_from/robotics_toolbox.md": ["robotics_toolbox"],
    "start/coming_from/drake.md": ["drake"],
    "start/coming_from/jax_and_casadi.md": ["jax", "casadi"]}
BEGIN, END = "<!-- table: src/cayley/words/{}.tsv, written by tools/words.py -->\n", "<!-- end of table -->"


def written(page: str) -> str:
    """The text of a page with its tables as they are now."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for table in PAGES[page]:
        before, rest = text.split(BEGIN.format(table))
        _, after = rest.split(END, 1)
        text = before + BEGIN.format(table) + "\n" + "\n".join(_table(table)) + "\n" + END + after
    return text


def _table(name: str) -> Iterator[str]:
    if name == "field":
        for title, found in groupby(words(), key=lambda word: word.section):
            yield from (f"## {title}", "", "| the field | here |", "| --- | --- |")
            yield from (f"| {word.field} | {word.here} |" for word in found)
            yield ""
        return
    spoken = LIBRARIES[name].removeprefix("the ")
    for title, rows in groupby(calls(name), key=lambda call: call.section):
        yield from (f"### {title}", "", f"| {spoken} | Cayley | |", "| --- | --- | --- |")
        yield from (f"| {_code(row.theirs)} | `{row.here}` | {row.remark} |" for row in rows)
        yield ""


def _code(statements: str) -> str:
    return "<br>".join(f"`{statement}`" for statement in statements.split("; "))


if __name__ == "__main__":
    for page in PAGES:
        (DOCS / page).write_text(written(page), encoding="utf-8")
