"""SymPy expressions as presentation MathML, which browsers typeset by themselves.

A sum is one formula for each term, so that long equations break into lines where a line is full, as text does."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from cayley.compiler.typing import Text
from cayley.extras import optional_imports

with optional_imports():
    import sympy
    from sympy.printing.mathml import MathMLPresentationPrinter
    from sympy.printing.precedence import PRECEDENCE

if TYPE_CHECKING:
    from xml.dom.minidom import Element, Text

    from sympy import Expr

_DIGITS = 6
_DOTS = {"qd": ("q", "˙"), "qdd": ("q", "¨"), "omegad": ("omega", "˙")}
_GREEK = {"Psi": "Ψ", "alpha": "α", "beta": "β", "gamma": "γ", "kappa": "κ", "lambda": "λ", "omega": "ω", "tau": "τ"}
_OPERATORS = frozenset("+=−,×Σ()←…")
_TIMES = "\u2062"  # invisible
_WAVE = re.compile(r"([cs])((?:m?\d|m?[a-z]{4,5}\d)\w*)")  # short names of cosines and sines


class _Printer(MathMLPresentationPrinter):
    def __init__(self, order: str | None) -> None:
        super().__init__({"order": order})

    def _print_Symbol(self, expr: Expr, style: str = "plain") -> Element:
        return self._named(expr.name)

    def _print_Float(self, expr: Expr) -> Element:
        mantissa, _, power = f"{float(expr):.{_DIGITS}g}".partition("e")
        if not power:
            return self._leaf("mn", mantissa)
        raised = self._node("msup", self._leaf("mn", "10"), self._leaf("mn", str(int(power)).replace("-", "−")))
        return self._node("mrow", self._leaf("mn", mantissa), self._leaf("mo", "·"), raised)

    def _print_cos(self, expr: Expr) -> Element:
        return self._wave("cos", expr)

    def _print_sin(self, expr: Expr) -> Element:
        return self._wave("sin", expr)

    def _wave(self, word: str, expr: Expr) -> Element:
        """Functions of one angle stand without brackets, as in books."""
        angle = self._print(expr.args[0])
        if not expr.args[0].is_Symbol:
            angle = self._node("mrow", self._leaf("mo", "("), angle, self._leaf("mo", ")"))
        return self._node("mrow", self._leaf("mi", word), self._leaf("mo", "\u2061"), self._gap(), angle)

    def _gap(self) -> Element:
        node = self._node("mspace")
        node.setAttribute("width", "0.17em")
        return node

    def _print_Mul(self, expr: Expr) -> Element:
        """Factors in the order in which they were written down, if there is one; numbers and fractions first."""
        factors = expr.args if self.order == "none" else expr.as_ordered_factors()
        number = sympy.Mul(*[factor for factor in factors if factor.is_Number])
        divisors = [factor for factor in factors if factor.is_Pow and factor.exp.is_negative]
        below = [1 / factor for factor in divisors]
        above = [factor for factor in factors if not factor.is_Number and factor not in divisors]
        parts = [self._leaf("mo", "−")] if number.is_negative else []
        size = abs(number)
        if below or (size.is_Rational and not size.is_Integer and not above):
            top = self._row([size.p if size.is_Rational else size], above)
            parts.append(self._node("mfrac", top, self._row([size.q if size.is_Rational else sympy.S.One], below)))
        else:
            parts.append(self._row([size], above))
        return self._node("mrow", *parts)

    def _print_Add(self, expr: Expr, order: str | None = None) -> Element:
        parts: list[Element] = []
        for k, term in enumerate(self._as_ordered_terms(expr)):
            parts += self._signed(term, k > 0)
        return self._node("mrow", *parts)

    def _signed(self, term: Expr, between: bool) -> list[Element]:
        """A term of a sum after its sign, if it has one to show."""
        negative = bool(term.could_extract_minus_sign())
        sign = [self._sign("−" if negative else "+", between)] if negative or between else []
        return [*sign, self._print(_negated(term) if negative else term)]

    def _row(self, numbers: list[Any], factors: list[Any]) -> Element:
        """A product of numbers, but for those that are 1, and of factors; 1, if there are none."""
        kept = [*[sympy.sympify(number) for number in numbers if number != 1], *factors]
        parts: list[Element] = []
        for before, factor in zip([None, *kept], kept, strict=False):
            if before is not None:
                apart = before.is_Float or isinstance(factor, (sympy.cos, sympy.sin))
                parts += [self._leaf("mo", _TIMES), *([self._gap()] if apart else [])]
            parts.append(self._print(factor) if factor.is_Number else self.parenthesize(factor, PRECEDENCE["Mul"]))
        return self._node("mrow", *(parts or [self._leaf("mn", "1")]))

    def _named(self, name: str) -> Element:
        """qd_1 is the rate of q_1, c2m3 the cosine of q_2 - q_3, upright; what follows an underscore is below."""
        if wave := _WAVE.fullmatch(name):
            upright = self._leaf("mi", wave[1])
            upright.setAttribute("mathvariant", "normal")
            return self._node("msub", upright, self._leaf("mn", self._below(re.sub("_?m(?!m)", "−", wave[2]))))
        letter, _, below = name.partition("_")
        base, dots = _DOTS.get(letter, (letter, ""))
        head = self._leaf("mi", _GREEK.get(base, base))
        if dots:
            head = self._node("mover", head, self._leaf("mo", dots))
        return self._node("msub", head, self._leaf("mn", self._below(below))) if below else head

    def _raised(self, word: str) -> Element:
        """A name, which may be transposed."""
        name = self._named(word.removesuffix("ᵀ"))
        return self._node("msup", name, self._leaf("mo", "⊤")) if word.endswith("ᵀ") else name

    @staticmethod
    def _below(text: str) -> str:
        return re.sub("|".join(_GREEK), lambda found: _GREEK[found[0]], text.replace("_", ","))

    def _leaf(self, tag: str, text: str) -> Element:
        return self._node(tag, self.dom.createTextNode(text))

    def _node(self, tag: str, *children: Element | Text) -> Element:
        node = self.dom.createElement(tag)
        for child in children:
            node.appendChild(child)
        return node

    def _sign(self, sign: str, between: bool) -> Element:
        node = self._leaf("mo", sign)
        node.setAttribute("form", "infix" if between else "prefix")
        return node

    def formula(self, *parts: Element | str) -> str:
        """Parts, each a node or the text of an operator, as one <math>."""
        node = self._node("math", *[self._leaf("mo", part) if isinstance(part, str) else part for part in parts])
        return node.toxml().replace("&InvisibleTimes;", _TIMES)

    def terms(self, expression: Expr) -> list[str]:
        """A formula for each term of a sum."""
        found = []
        for k, term in enumerate(self._as_ordered_terms(expression) if expression.is_Add else [expression]):
            found.append(self.formula(*self._signed(term, k > 0)))
        return found

    def left(self, name: str) -> str:
        parts: list[Any] = []
        for word in name.split(" = "):
            parts += [self._named(word), "="]
        return self.formula(*parts)


def _negated(term: Expr) -> Expr:
    """The term with the other sign, its factors in their order."""
    if not (term.is_Mul and term.args[0].is_Number):
        return -term
    rest = term.args[1:]
    return rest[0] if term.args[0] == -1 and len(rest) == 1 else sympy.Mul(
        *([] if term.args[0] == -1 else [-term.args[0]]), *rest, evaluate=False)


def formula(text: str) -> str:
    """A formula of names and operators between blanks, as `M qdd + V + G = tau`.

    >>> formula("V = C qd")
    '<math><mi>V</mi><mo>=</mo><mi>C</mi><mo>\u2062</mo><mover><mi>q</mi><mo>˙</mo></mover></math>'
    """
    printer = _Printer(None)
    parts = list[Any]()
    for word in text.split():
        operator = word in _OPERATORS
        if parts and not operator and not isinstance(parts[-1], str):
            parts.append(_TIMES)
        parts.append(word if operator else printer._raised(word))
    return printer.formula(*parts)


def equations(lines: Iterable[tuple[Any, Any]], *, order: str | None = None) -> str:
    """Lines of a name (or symbol) and its expression, each in a box that breaks where it is full."""
    printer = _Printer(order)
    rows = []
    for left, right in lines:
        name = left if isinstance(left, str) else left.name
        rows.append(
            f'<div class="equation"><span>{printer.left(name)}</span> '
            f'<span>{" ".join(printer.terms(right))}</span></div>'
        )
    return "\n".join(rows)
