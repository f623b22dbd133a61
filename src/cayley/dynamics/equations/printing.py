"""Equations of motion as text and as LaTeX, in the order in which they were written down."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from sympy import Mul, cos, sin
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from cayley.compiler.typing import Scalar

Line = tuple[Any, Any]  # a symbol, or a name, and what it is

_SHORT_LINES = 4  # sines and cosines in a row
_WIDTH = 100  # characters of a row of LaTeX

class _Text(StrPrinter):
    def __init__(self, digits: int, order: str | None) -> None:
        super().__init__({"order": order})
        self.digits = digits

    def _print_Float(self, expr: Scalar) -> str:
        return f"{float(expr):.{self.digits}g}"


class _Latex(LatexPrinter):
    """Functions of one angle without brackets, as in books."""

    def __init__(self, digits: int, order: str | None) -> None:
        super().__init__({"order": order})
        self.digits = digits

    def _print_Symbol(self, expr: Scalar, style: str = "plain") -> str:
        return latex_name(expr.name)

    def _print_Mul(self, expr: Scalar) -> str:
        """Fractions of numbers stand before the product."""
        number, *factors = expr.args
        if not number.is_Rational or number.is_Integer:
            return super()._print_Mul(expr)
        rest = super()._print_Mul(Mul(*factors, evaluate=False)) if len(factors) > 1 else self.parenthesize(
            factors[0], PRECEDENCE["Mul"])
        return rf"{'- ' if number < 0 else ''}\frac{{{abs(number.p)}}}{{{number.q}}} {rest}"

    def _print_Float(self, expr: Scalar) -> str:
        mantissa, _, power = f"{float(expr):.{self.digits}g}".partition("e")
        return rf"{mantissa} \cdot 10^{{{int(power)}}}" if power else mantissa

    def _print_cos(self, expr: Scalar, exp: str | None = None) -> str:
        return self._wave(r"\cos", expr.args[0], exp)

    def _print_sin(self, expr: Scalar, exp: str | None = None) -> str:
        return self._wave(r"\sin", expr.args[0], exp)

    def _wave(self, word: str, angle: Scalar, exp: str | None) -> str:
        raised = f"{word}^{{{exp}}}" if exp else word
        written = self.doprint(angle)
        return f"{raised} {written}" if angle.is_Symbol else rf"{raised}\left({written}\right)"


def text_of(lines: Iterable[Line], *, digits: int, order: str | None) -> str:
    """A row for each line; sines and cosines several in a row."""
    printer = _Text(digits, order)
    return "\n".join(", ".join(f"{_name(left)} = {printer.doprint(right)}" for left, right in row)
                     for row in _rows(lines))


def latex_of(head: str, lines: Iterable[Line], *, digits: int, order: str | None) -> str:
    """An `aligned` environment: a first row, and the rows of the lines, long sums broken between their terms."""
    printer = _Latex(digits, order)
    rows = [head]
    for (left, right), *more in _rows(lines):
        first, *rest = _broken(printer, right)
        rows += [f"{_left(left)} &= {first}", *[rf"&\quad {part}" for part in rest]]
        rows[-1] += "".join(rf", \quad {_left(symbol)} = {printer.doprint(value)}" for symbol, value in more)
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


def _broken(printer: _Latex, expression: Scalar) -> list[str]:
    """An expression in pieces of a page's width."""
    if not expression.is_Add:
        return [printer.doprint(expression)]
    pieces: list[str] = []
    for term in printer._as_ordered_terms(expression):
        written = printer.doprint(term)
        signed = written if not pieces or written.startswith("-") else f"+ {written}"
        if pieces and _width(pieces[-1]) + _width(signed) <= _WIDTH:
            pieces[-1] += f" {signed}"
        else:
            pieces.append(signed)
    return pieces


def _width(written: str) -> int:
    """How many characters are seen, about."""
    plain = re.sub(r"\\(left|right|frac|quad|d*ot|mathrm)\b|[{}_^ ]", "", written)
    return len(re.sub(r"\\(?!cos|sin)[a-z]+", "a", plain))


def _rows(lines: Iterable[Line]) -> Iterator[list[Line]]:
    row: list[Line] = []
    for line in lines:
        is_short = isinstance(line[1], (cos, sin)) and not isinstance(line[0], str)
        if row and not (is_short and len(row) < _SHORT_LINES and isinstance(row[-1][1], (cos, sin))):
            yield row
            row = []
        row.append(line)
    if row:
        yield row


def _name(left: Scalar | str) -> str:
    return left if isinstance(left, str) else left.name


def _left(left: Scalar | str) -> str:
    return " = ".join(map(latex_name, left.split(" = "))) if isinstance(left, str) else latex_name(left.name)


def latex_name(name: str) -> str:
    """qd_1 is the rate of q_1, c2m3 the cosine of q_2 - q_3, alpha is Greek; what follows an underscore is below."""
    if wave := re.fullmatch(r"([cs])((?:m?\d|m?[a-z]{4,5}\d)\w*)", name):
        return rf"\mathrm{{{wave[1]}}}_{{{_below(re.sub('_?m(?!m)', '-', wave[2]))}}}"
    letter, _, below = name.partition("_")
    head = {"qd": r"\dot{q}", "qdd": r"\ddot{q}", "omegad": r"\dot{\omega}"}.get(letter) or _greek(letter)
    return f"{head}_{{{_below(below)}}}" if below else head


def _below(text: str) -> str:
    return _greek(text.replace("_", ","))


def _greek(text: str) -> str:
    return re.sub(r"(alpha|beta|gamma|kappa|lambda|omega|tau|Psi)(.?)",
                  lambda m: rf"\{m[1]} {m[2]}" if m[2] else rf"\{m[1]}", text)
