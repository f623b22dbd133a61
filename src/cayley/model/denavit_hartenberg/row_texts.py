"""Rows of a table as a book prints them: ("q1", 0.3, 0, "pi/2"), ("pi/2", "q2", 0, 0), (0, "q3 + 0.1", 0, 0)."""

from __future__ import annotations

import re

from cayley.errors import ModelError
from cayley.model.angle_texts import ANGLES, angle_of
from cayley.wording import shown

_MOVING = re.compile(r"\s*(?:(?P<before>[^q]+?)\s*\+\s*)?[qθ]_?(?P<number>\d*)\*?\s*"
                     r"(?:(?P<sign>[+-])\s*(?P<after>[^q]+))?")
_COLUMNS = ("theta", "d", "a", "alpha")


def numbers_of_row(values: dict[str, float | str], place: int) -> dict[str, float | str]:
    """A row of numbers and texts, by column, as numbers and its kind; the coordinate of its joint, q1 in row 1, stands
    in theta or in d.

    >>> numbers_of_row({"theta": "pi", "d": "q2 + 0.1", "a": 0.5, "alpha": "0 deg"}, 2)
    {'theta': 3.141592653589793, 'd': 0.1, 'a': 0.5, 'alpha': 0.0, 'kind': 'prismatic'}
    """
    moving = [key for key in ("theta", "d") if _is_moving(values.get(key))]
    if any(_is_moving(values.get(key)) for key in ("a", "alpha")) or len(moving) > 1:
        raise ModelError(
            f"row {place} of the table: the coordinate stands in theta (revolute) or in d (prismatic), once")
    kind = values.get("kind", "prismatic" if moving == ["d"] else "revolute")
    if moving and moving != [{"revolute": "theta", "prismatic": "d"}.get(str(kind))]:
        raise ModelError(f"row {place} of the table is {kind}, and its coordinate stands in {moving[0]}")
    return {key: _number(values[key], key, place) for key in _COLUMNS if key in values} | {"kind": kind}


def _is_moving(value: float | str | None) -> bool:
    return isinstance(value, str) and ("q" in value or "θ" in value)


def _number(value: float | str, key: str, place: int) -> float:
    """A number of a row; of the coordinate its offset."""
    if not isinstance(value, str):
        return value
    if not _is_moving(value):
        return _constant(value, key, place)
    match = _MOVING.fullmatch(value)
    if match is None or (match["before"] and match["after"]):
        raise ModelError(
            f"row {place} of the table: {key} is {shown(value)}; write \"q{place}\" or \"q{place} + pi/2\"")
    if match["number"] and int(match["number"]) != place:
        raise ModelError(f"row {place} of the table has {shown(value)}: the rows are in the order of the joints, and "
                         f"its coordinate is q{place}")
    offset = match["before"] or match["after"]
    sign = -1.0 if match["sign"] == "-" else 1.0
    return sign * _constant(offset, key, place) if offset else 0.0


def _constant(text: str, key: str, place: int) -> float:
    try:
        return angle_of(text) if key in ("theta", "alpha") and ("pi" in text or "deg" in text) else float(text)
    except ValueError:
        angle = f", or {ANGLES}" if key in ("theta", "alpha") else ""
        raise ModelError(f"row {place} of the table: {key} is {shown(text)}, which is no number{angle}; rows have "
                         'numbers, and letters come with `equations(parameters="symbols")`') from None
