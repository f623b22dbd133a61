"""`EquationsOfMotion`: what `equations_of_motion` finds, as SymPy matrices, as text and as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

from cayley.compiler.typing import Scalar
from cayley.extras import optional_imports

with optional_imports():
    import sympy
    from sympy import Mul, cos, sin
    from sympy.printing.latex import LatexPrinter
    from sympy.printing.precedence import PRECEDENCE
    from sympy.printing.str import StrPrinter

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
    """The number of characters that are seen, about."""
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


Velocities = Literal["forces", "matrix"]
_EVERY_ENTRY = 3  # joints up to which zeros are printed as well
DIGITS = 6
_WORDS = {"qd": r"\dot{q}", "qdd": r"\ddot{q}", "pd": r"\dot{p}", "pdd": r"\ddot{p}", "lambda": r"\lambda",
          "Psi": r"\Psi", "tau": r"\tau", "tau_p": r"\tau_{p}", "^T": "^{T}"}
_WORD = re.compile(r"\^T|\b(?:qdd?|pdd?|lambda|Psi|tau_p|tau)\b")


class Entries(cached_property[Scalar]):
    """A SymPy matrix of equations, made of the entries that are written under its name. `rows` and `columns` are
    letters of `EquationsOfMotion.sizes`."""

    def __init__(self, rows: str, columns: str = "1") -> None:
        super().__init__(lambda found: found.matrix(str(self.attrname), found.sizes[rows], found.sizes[columns]))
        self.columns = columns


class Group(NamedTuple):
    """Intermediate values of one kind: what they are, how one follows from another, and the lines."""

    title: str
    formulas: tuple[str, ...] = ()
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, eq=False)
class EquationsOfMotion:
    """M qdd + C qd + G (+ F) = tau, in terms of the symbols `q`, `qd`, `qdd`, of the `parameters` (with their values)
    and of the `intermediates`; `substituted()` has none of these. SymPy matrices: `M` inertia matrix, `C` matrix of
    Christoffel's symbols, `V` = C qd, `G` gravity forces, `F` friction and springs, if included."""

    name: str
    q: tuple[Any, ...]
    qd: tuple[Any, ...]
    qdd: tuple[Any, ...]
    parameters: Mapping[Any, float]
    # entries of M, C (by rows), V, G, F in the order in which they are printed
    written: Mapping[str, list[Any]] = field(repr=False)
    lines: tuple[Line, ...] = field(repr=False, default=())
    order: str | None = field(repr=False,
                              default=None)  # SymPy's name of the order of terms: None is its own, "none" as written
    groups: tuple[Group, ...] = field(repr=False, default=())  # of the lines of a recursion

    M = Entries("n", "n")
    C = Entries("n", "n")
    V = Entries("n")
    G = Entries("n")
    F = Entries("n")

    @cached_property
    def tau(self) -> Scalar:
        """The generalised forces (nv, 1)."""
        return self.M * sympy.Matrix(self.qdd) + self.V + self.G + self.F if self.qd else self.G

    @cached_property
    def intermediates(self) -> tuple[Line, ...]:
        """Symbols and what they stand for, each in terms of those before it."""
        return tuple((symbol, expression.doit()) for symbol, expression in self.lines)

    def substituted(self) -> EquationsOfMotion:
        """The same without intermediates; very long for a mechanism whose equations are lines of a recursion."""
        known: dict[Any, Any] = {}
        for symbol, expression in self.intermediates:
            known[symbol] = expression.xreplace(known)
        written = {name: [entry.doit().xreplace(known) for entry in entries] for name, entries in self.written.items()}
        return replace(self, written=written, lines=(), order=None)

    def text(self, *, velocity: Velocities = "forces", digits: int = DIGITS) -> str:
        """Lines to read, with numbers rounded to `digits`. `velocity`: the "forces" V = C qd, or the "matrix" C."""
        lines = self._printed(velocity)
        if not self.groups:
            return f"{self._head(velocity)}\n{text_of(lines, digits=digits, order=self.order)}"
        parts = [f"{title}\n{text_of(part, digits=digits, order=self.order)}" for title, part in self.grouped(lines)]
        return "\n".join([self._head(velocity), *parts])

    def latex(self, *, velocity: Velocities = "forces", digits: int = DIGITS) -> str:
        """The same as an `aligned` environment, for a displayed formula."""
        first, *rest = [_WORD.sub(lambda word: _WORDS[word[0]], part) for part in self._head(velocity).split(", ")]
        head = r", \quad ".join([first.replace(" = ", " &= ", 1), *rest, *self._chosen()])
        return latex_of(head, self._printed(velocity), digits=digits, order=self.order)

    def _head(self, velocity: Velocities) -> str:
        by_matrix = f"M qdd + C qd + G{self._friction} = tau"
        return f"M qdd + V + G{self._friction} = tau, V = C qd" if velocity == "forces" else by_matrix

    def _chosen(self) -> list[str]:
        return []

    @property
    def _friction(self) -> str:
        return " + F" if any(self.written["F"]) else ""

    def _of_tree(self, velocity: Velocities) -> list[str]:
        return ["M", "V" if velocity == "forces" else "C", "G", *(["F"] if self._friction else [])]

    def grouped(self, lines: Sequence[Line]) -> list[tuple[str, list[Line]]]:
        """Lines under the titles of their groups; what belongs to none comes last."""
        rest = list(lines)
        found = []
        for group in self.groups:
            own = {symbol for symbol, _ in group.lines}
            found.append((f"{group.title}:", [line for line in rest if line[0] in own]))
            rest = [line for line in rest if line[0] not in own]
        return [(title, part) for title, part in [*found, ("Equations of motion:", rest)] if part]

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<equations of motion of {self.name}: nv = {len(self.qd)}, intermediate symbols: {len(self.lines)}>"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    @property
    def sizes(self) -> dict[str, int]:
        return {"1": 1, "n": len(self.qd)}

    def matrix(self, name: str, rows: int, columns: int) -> Scalar:
        """The entries that are written under a name, as a SymPy matrix."""
        return sympy.ImmutableMatrix(rows, columns, [entry.doit() for entry in self.written[name]])

    def _printed(self, velocity: Velocities) -> list[Line]:
        """The intermediates that are needed, and the entries; those that are zero only of small mechanisms."""
        kept = [entry for name in self._of_tree(velocity) for entry in self._entries(name)
                if entry[1] != 0 or len(self.qd) <= _EVERY_ENTRY]
        return [*needed_lines(self.lines, kept), *kept]

    def _entries(self, name: str) -> Iterator[Line]:
        """The entries of a matrix with their names; of a symmetric one those below the diagonal are not repeated."""
        columns = self.sizes[getattr(type(self), name).columns]
        apart = "_" if columns > 9 else ""
        for place, entry in enumerate(self.written[name]):
            i, j = divmod(place, columns)
            numbers = f"{i + 1}{apart}{j + 1}" if columns > 1 or name in "MC" else f"{i + 1}"
            if name.endswith("_p") and len(self.written[name]) == 1:
                yield name, entry
            elif name == "M" and i < j:
                yield f"M_{numbers} = M_{j + 1}{apart}{i + 1}", entry
            elif i <= j or not name.startswith("M"):
                yield f"{name}_{numbers}", entry


def needed_lines(lines: Sequence[Line], kept: Sequence[Line]) -> list[Line]:
    """The intermediates on which some entries depend, in their order."""
    needed = set().union(*[expression.free_symbols for _, expression in kept])
    found: list[Line] = []
    for symbol, expression in reversed(lines):
        if symbol in needed:
            needed |= expression.free_symbols
            found.append((symbol, expression))
    return found[::-1]
