"""Angles that a file writes in decimals and means as fractions of pi: 1.5708 is pi/2, as far as its digits go.

Taken as written, 1.5708 tilts every axis behind it by 3.7e-6 rad, and no product with it vanishes from compiled code.
A number is taken for a multiple of pi/2, pi/4 or pi/12 if it is that multiple rounded or cut off to its own digits, and
has at least 2, 3 or 4 of them behind the point, with the zeros at its end or without. Whoever means 1.5708 says
`exact_angles=False`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from math import pi

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.model.findings import Remark
from cayley.model.formats.xml_elements import XmlElement

_DIGITS = {2: 2, 4: 3, 12: 4}  # parts of pi, and the least digits behind the point that tell them
_MOST_TURNS = 4
_PI = Decimal("3.14159265358979323846264338327950288419716939937510")
_ROUNDED = 0.01  # [rad], of numbers with two or three figures
_MOST_PLACES = 3  # named for each fraction


def fraction_of_pi(text: str) -> Fraction | None:
    """The fraction of pi that a number in decimals stands for, if it does for one.

    >>> [str(fraction_of_pi(text)) for text in ("1.5708", "-1.57079", "3.1416", "0.785398", "1.57", "1.5709", "0.5")]
    ['1/2', '-1/2', '1', '1/4', '1/2', 'None', 'None']
    """
    if not 0.0 < abs(float(text)) <= 2 * _MOST_TURNS * pi:
        return None
    value = Decimal(text)
    for digits in {_digits(value), _digits(value.normalize())}:
        for parts, least in _DIGITS.items():
            count = round(value * parts / _PI)
            if count and digits >= least and _is_written_so(_PI * count / parts, value, Decimal(1).scaleb(-digits)):
                return Fraction(count, parts)
    return None


def _digits(value: Decimal) -> int:
    """Number of digits after the decimal point."""
    return -int(value.as_tuple().exponent)


def _is_written_so(meant: Decimal, written: Decimal, unit: Decimal) -> bool:
    """True if one number is the other, rounded or cut off to a unit of its last digit."""
    off = abs(meant) - abs(written)
    return abs(off) <= unit / 2 or 0 < off < unit


@dataclass
class WrittenAngles:
    """Reads the angles of a file, exactly or as they are written, and knows which it took for fractions of pi."""

    exact: bool = True
    found: dict[tuple[str, Fraction], list[int]] = field(default_factory=dict)  # as written, meant: the lines
    wide: dict[str, list[int]] = field(default_factory=dict)  # of more than a turn: the lines

    def of(self, element: XmlElement, key: str, count: int, default: ArrayLike) -> Array:
        """An attribute of an element that is angles in radians."""
        angles = element.numbers(key, count, default)
        if key not in element.attributes:
            return angles
        return np.array([self.one(word, element.line) for word in element.word(key).split()])

    def one(self, text: str, line: int) -> float:
        """An angle in radians, by its digits."""
        if abs(float(text)) > 2 * pi + _ROUNDED:
            self.wide.setdefault(text, []).append(line)
        fraction = fraction_of_pi(text) if self.exact else None
        if fraction is None:
            return float(text)
        exact = float(fraction.numerator) * pi / fraction.denominator
        if abs(exact - float(text)) > abs(exact) * np.finfo(float).eps:
            self.found.setdefault((text, fraction), []).append(line)
        return exact

    @property
    def findings(self) -> Iterator[Remark]:
        """Findings on numbers read as fractions of pi, and on those that seem to be in degrees."""
        if self.wide:
            words = ", ".join(f"{text} ({_places(lines)})" for text, lines in self.wide.items())
            yield Remark("angles in degrees", tuple(self.wide),
                          f"angles are more than a turn: {words}; if these are degrees, write radians")
        if self.found:
            words = ", ".join(f"{text} as {_in_words(fraction)} ({_places(lines)})"
                              for (text, fraction), lines in self.found.items())
            yield Remark("exact angles", tuple(text for text, _ in self.found),
                          f"angles are taken for the fractions of pi that their digits stand for: {words}; "
                          "cy.load(path, exact_angles=False) takes them as they are written", doubtful=False)


def _in_words(fraction: Fraction) -> str:
    """-3pi/4 of -3/4."""
    above = {1: "pi", -1: "-pi"}.get(fraction.numerator, f"{fraction.numerator}pi")
    return above if fraction.denominator == 1 else f"{above}/{fraction.denominator}"


def _places(lines: list[int]) -> str:
    each = list(dict.fromkeys(lines))
    named = ", ".join(map(str, each[:_MOST_PLACES]))
    more = f" and {len(each) - _MOST_PLACES} more" if len(each) > _MOST_PLACES else ""
    return f"line{'s' if len(each) > 1 else ''} {named}{more}"
