"""Tables of words as HTML, each in a box of its own that scrolls when it is wider than the page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from cayley.model.denavit_hartenberg.table import DHTable, length_in_words, moving_number
from cayley.model.report import Table

_NUMBER = set("0123456789+-.e()n^/∞°− ")
_LONG = 30  # rows that are shown at once
_MANY = 8  # columns that are set closely
_WIDE = 32  # characters of a column that may be broken into lines


def html_table(table: Table, *, bars: int | None = None, title: str | None = None) -> str:
    """The table with its title; `bars`: a column of numbers that is drawn as bars as well.

    >>> html_table(Table("Sizes", ("part", "mm"), (("rod", "12"),)))
    '<figure class="table"><figcaption>Sizes</figcaption>...<td>rod</td><td
    class="number">12</td></tr></tbody></table></div></figure>'
    """
    longest = max([_value(row[bars]) for row in table.rows], default=0.0) if bars is not None else 0.0
    numeric = [all(_is_number(row[k]) for row in table.rows) for k in range(len(table.columns))]
    wide = [
        not numeric[k] and max([len(row[k]) for row in table.rows], default=0) > _WIDE
        for k in range(len(table.columns))]
    head = "".join(f"<th{_class(numeric[k])}>{_words(column)}</th>" for k, column in enumerate(table.columns))
    body = "".join(
        "<tr>" + "".join(_cell(row[k], numeric[k], wide[k], longest if k == bars else 0.0) for k in range(len(row)))
        + "</tr>" for row in table.rows)
    box = "scroll long" if len(table.rows) > _LONG else "scroll"
    if len(table.columns) > _MANY:
        box += " dense"
    caption = escape(table.title if title is None else title)
    return (
        f'<figure class="table"><figcaption>{caption}</figcaption><div '
        f'class="{box}"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div></figure>")


def dh_words(table: DHTable, end: str) -> Table:
    """A Denavit-Hartenberg table of the joints up to a frame in words, angles in degrees."""
    rows: list[tuple[str, ...]] = []
    for i, row in enumerate(table.rows, 1):
        theta = _degrees(row.theta)
        d = length_in_words(row.d)
        a = length_in_words(row.a)
        alpha = _degrees(row.alpha)
        if row.kind == "revolute":
            theta = moving_number(i, row.theta, _degrees)
        else:
            d = moving_number(i, row.d, length_in_words)
        rows.append((str(i), row.kind, theta, d, a, alpha))
    ends = "".join(f"; {name} at {words}" for name, words in table.ends.items())
    title = f"Denavit-Hartenberg, {table.convention} convention, the joints from the root to {end}{ends}"
    return Table(title, ("i", "joint", "θ", "d [m]", "a [m]", "α"), tuple(rows))


def _degrees(angle: float) -> str:
    return f"{angle * 57.29577951308232 + 0.0:.6g}°"


def _cell(word: str, numeric: bool, wide: bool, longest: float) -> str:
    bar = f'<i style="width:{100 * _value(word) / longest:.1f}%"></i>' if longest else ""
    return f"<td{_class(numeric, wide)}>{bar}{_words(word)}</td>"


def _words(text: str) -> str:
    return escape({"inf": "∞", "-inf": "−∞"}.get(text, text).replace("->", "→"))


def _class(numeric: bool, wide: bool = False) -> str:
    return ' class="number"' if numeric else ' class="wide"' if wide else ""


def _value(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return 0.0


def _is_number(word: str) -> bool:
    """One number, or a formula with its value, or nothing."""
    return set(word.replace("inf", "")) <= _NUMBER and (" " not in word or "(" in word)


def listed(sentences: Sequence[str]) -> str:
    """Sentences as a list."""
    return f"<ul>{''.join(f'<li>{escape(sentence)}</li>' for sentence in sentences)}</ul>" if sentences else ""
