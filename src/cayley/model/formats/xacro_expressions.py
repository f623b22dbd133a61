"""Evaluation of `${...}` in xacro files from the syntax tree: numbers, texts, lists, and the functions named here. No
attribute of a Python object is looked up, nothing is compiled or run, and the size of a value is bounded."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from cayley.errors import ModelError, shortened
from cayley.model.budget import Budget

LONGEST = 10_000  # characters of an expression
LARGEST = 100_000  # characters and entries of a value, those within it counted too

_MOST_BITS = 2048
_STEPS_OF_A_CALL = 8
_PLAIN_FORMAT = re.compile(r"(?:[^%]|%%|%[-+ 0]?\d{0,2}(?:\.\d{1,2})?[sdifeEgGr])*")

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Not: operator.not_}
_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b}
_METHODS: dict[type, tuple[str, ...]] = {
    str: ("capitalize", "count", "endswith", "find", "index", "isdigit", "join", "lower", "lstrip", "replace",
          "rfind", "rsplit", "rstrip", "split", "startswith", "strip", "title", "upper"),
    list: ("count", "index"), tuple: ("count", "index"), dict: ("get", "items", "keys", "values")}


class Known:
    """A function that expressions may call."""

    def __init__(self, call: Callable[..., object], *, named: bool = False) -> None:
        self.call = call
        self.named = named  # whether it takes arguments by name


class Names(dict[str, object]):
    """Names behind a dot: `math.pi`."""


def evaluate(text: str, names: Mapping[str, object], budget: Budget) -> object:
    """The value of an expression.

    >>> evaluate("2*reach if tall else [reach, max(1, 2)][1]", {**known(), "reach": 0.5, "tall": False}, Budget())
    2
    >>> evaluate("().__class__", known(), Budget())
    Traceback (most recent call last):
    cayley.errors.ModelError: '().__class__' is more than a formula: () has no '__class__' here; cy.load(path, trust...
    """
    found = _Evaluation(budget).value(_parsed(text), names)
    weight(found)
    return found


@lru_cache(maxsize=4096)
def _parsed(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise ModelError(f"an expression is longer than {LONGEST} characters: {shortened(text)!r}")
    return ast.parse(text.strip(), mode="eval").body


def weight(value: object, most: int = LARGEST) -> int:
    """The number of characters and entries of a value, those of all that is in it counted as often as they are in it.
    """
    total = 0
    pending = [value]
    while pending:
        each = pending.pop()
        total += 1
        if isinstance(each, str):
            total += len(each)
        elif isinstance(each, int):
            if each.bit_length() > _MOST_BITS:
                raise ModelError("an expression has a number of very many digits")
        elif isinstance(each, list | tuple):
            pending.extend(each)
        elif type(each) is dict:
            pending += [*each, *each.values()]
        elif not (each is None or isinstance(each, float)):
            raise ModelError(f"a {type(each).__name__.lower()} is no value that xacro files can use")
        if total + len(pending) > most:
            raise ModelError(f"an expression has a value of more than {most} characters or entries")
    return total


class _Evaluation:
    def __init__(self, budget: Budget) -> None:
        self.budget = budget

    def value(self, node: ast.expr, names: Mapping[str, object]) -> Any:  # noqa: ANN401 (whatever it is)
        self.budget.spend("steps", 1)
        match node:
            case ast.Constant() if node.value is None or isinstance(node.value, int | float | str):
                return node.value
            case ast.Name():
                return _named(node.id, names)
            case ast.BinOp():
                return self._made(_joined(node, self.value(node.left, names), self.value(node.right, names)))
            case ast.UnaryOp() if type(node.op) in _UNARY:
                return _UNARY[type(node.op)](self.value(node.operand, names))
            case ast.BoolOp():
                return self._either(node, names)
            case ast.Compare():
                return self._compared(node, names)
            case ast.IfExp():
                return self.value(node.body if self.value(node.test, names) else node.orelse, names)
            case ast.List() | ast.Tuple():
                return self._made([self.value(each, names) for each in node.elts])
            case ast.Dict() if None not in node.keys:
                return self._made({self.value(key, names): self.value(value, names)
                                   for key, value in zip(node.keys, node.values, strict=True) if key is not None})
            case ast.Subscript():
                return self.value(node.value, names)[self._index(node.slice, names)]
            case ast.Attribute():
                return _inner(node, self.value(node.value, names))
            case ast.ListComp() | ast.GeneratorExp():
                return self._made(self._each(node.elt, node.generators, names))
            case ast.Call():
                return self._called(node, names)
        raise _unsafe(node, f"{type(node).__name__} is not evaluated")

    def _made(self, found: object) -> object:
        self.budget.spend("steps", weight(found) / _STEPS_OF_A_CALL)
        return found

    def _either(self, node: ast.BoolOp, names: Mapping[str, object]) -> object:
        found: object = None
        for each in node.values:
            found = self.value(each, names)
            if bool(found) is isinstance(node.op, ast.Or):
                return found
        return found

    def _compared(self, node: ast.Compare, names: Mapping[str, object]) -> bool:
        left = self.value(node.left, names)
        for compare, other in zip(node.ops, node.comparators, strict=True):
            right = self.value(other, names)
            if not _COMPARED[type(compare)](left, right):
                return False
            left = right
        return True

    def _index(self, node: ast.expr, names: Mapping[str, object]) -> object:
        if not isinstance(node, ast.Slice):
            return self.value(node, names)
        return slice(*(None if each is None else self.value(each, names) for each in (node.lower, node.upper,
                                                                                    node.step)))

    def _each(self, element: ast.expr, loops: Sequence[ast.comprehension], names: Mapping[str, object]) -> list[object]:
        if not loops:
            return [self.value(element, names)]
        first, *others = loops
        found: list[object] = []
        for item in list(self.value(first.iter, names)):
            inner = ChainMap(_unpacked(first.target, item), names)  # type: ignore[arg-type]  # it is only read
            if all(self.value(test, inner) for test in first.ifs):
                found += self._each(element, others, inner)
        return found

    def _called(self, node: ast.Call, names: Mapping[str, object]) -> object:
        if any(isinstance(each, ast.Starred) for each in node.args) or any(each.arg is None for each in node.keywords):
            raise _unsafe(node, "arguments with * are not evaluated")
        given = [self.value(each, names) for each in node.args]
        by_name = {str(each.arg): self.value(each.value, names) for each in node.keywords}
        owner = self.value(node.func.value, names) if isinstance(node.func, ast.Attribute) else None
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS.get(type(owner), ()):
            self.budget.spend("steps", weight(owner) * (1 + sum(map(weight, given))) / LARGEST)
            if weight(owner) * (1 + sum(map(weight, given))) > _STEPS_OF_A_CALL * LARGEST:
                raise _unsafe(node, "its result may be very long")
            found = getattr(type(owner), node.func.attr)(owner, *given, **by_name)
            return self._made(list(found) if isinstance(owner, dict) and node.func.attr != "get" else found)
        function = _inner(node.func, owner) if isinstance(node.func, ast.Attribute) else self.value(node.func, names)
        if not isinstance(function, Known) or (by_name and not function.named):
            raise _unsafe(node, f"{ast.unparse(node.func)} is no function that is called here")
        return self._made(function.call(*given, **by_name))


def _named(name: str, names: Mapping[str, object]) -> object:
    try:
        return names[name]
    except KeyError:
        raise NameError(f"name {name!r} is not defined") from None


def _inner(node: ast.Attribute, owner: object) -> object:
    """Entry of a namespace or a dictionary by its name, never an attribute of a Python object."""
    if isinstance(owner, dict) and node.attr in owner:
        return owner[node.attr]
    if isinstance(owner, Names) or (isinstance(owner, dict) and not node.attr.startswith("_")):
        raise NameError(f"{ast.unparse(node.value)} has no {node.attr!r}")
    raise _unsafe(node, f"{ast.unparse(node.value)} has no {node.attr!r} here")


def _unpacked(target: ast.expr, item: Any) -> dict[str, object]:  # noqa: ANN401 (whatever it is)
    if isinstance(target, ast.Name):
        return {target.id: item}
    if isinstance(target, ast.Tuple):
        return {key: value for each, part in zip(target.elts, item, strict=True)
                for key, value in _unpacked(each, part).items()}
    raise _unsafe(target, "it cannot be counted through")


def _joined(node: ast.BinOp, left: Any, right: Any) -> object:  # noqa: ANN401 (whatever they are)
    kind = type(node.op)
    if kind is ast.Mult:
        for row, count in ((left, right), (right, left)):
            if isinstance(row, str | list | tuple) and isinstance(count, int) and weight(row) * count > LARGEST:
                raise ModelError(f"an expression has a value of more than {LARGEST} characters or entries")
        return left * right
    if kind is ast.Pow:
        if isinstance(left, int) and isinstance(right, int) and right * left.bit_length() > _MOST_BITS:
            raise ModelError("an expression has a number of very many digits")
        return left**right
    if kind is ast.Mod:
        if isinstance(left, str) and not _PLAIN_FORMAT.fullmatch(left):
            raise _unsafe(node, "it has a format that is not plain")
        return left % (tuple(right) if isinstance(left, str) and isinstance(right, list) else right)
    if kind in _BINARY:
        return _BINARY[kind](left, right)
    raise _unsafe(node, f"{kind.__name__} is not evaluated")


def _unsafe(node: ast.AST, why: str) -> ModelError:
    return ModelError(f"{shortened(ast.unparse(node))!r} is more than a formula: {why}; cy.load(path, trust=True), "
                      "or cayley --trust, runs code from the file: use it only if you trust its author")


# Functions


def _range(*ends: int) -> list[int]:
    found = range(*ends)
    if len(found) > LARGEST:
        raise ModelError(f"an expression has a value of more than {LARGEST} characters or entries")
    return list(found)


def _round(number: float, digits: int | None = None) -> float:
    if digits is not None and abs(digits) > 400:
        raise ModelError("an expression rounds to very many digits")
    return round(number, digits)


def _sum(numbers: Iterable[float]) -> float:
    found = 0.0 if not isinstance(numbers, Sequence) else 0
    for each in numbers:
        if not isinstance(each, int | float):
            raise TypeError("only numbers are added up")
        found += each
    return found


def _is_instance(value: object, *kinds: object) -> bool:
    flat = [each for kind in kinds for each in (kind if isinstance(kind, list | tuple) else [kind])]
    return any(isinstance(each, Known) and isinstance(each.call, type) and isinstance(value, each.call)
               for each in flat)


def _mapped(function: object, *rows: Iterable[object]) -> list[object]:
    if not isinstance(function, Known):
        raise TypeError("the first argument of map is a function that expressions know")
    found: list[object] = []
    room = LARGEST
    for each in zip(*rows, strict=False):
        found.append(function.call(*each))
        room -= weight(found[-1], room)
    return found


def _tokens(text: str, sep: str = ",; ", skip_empty: bool = True) -> list[str]:
    found = re.split(f"[{re.escape(sep)}]", text)
    return [each for each in found if each] if skip_empty else found


_MATH = ("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos", "cosh", "degrees",
         "dist", "e", "exp", "expm1", "fabs", "floor", "fmod", "fsum", "gcd", "hypot", "inf", "isclose", "isfinite",
         "isinf", "isnan", "isqrt", "ldexp", "log", "log10", "log1p", "log2", "modf", "nan", "pi", "pow", "radians",
         "remainder", "sin", "sinh", "sqrt", "tan", "tanh", "tau", "trunc")
_FUNCTIONS: dict[str, Callable[..., object]] = {
    "list": list, "len": len, "str": str, "float": float, "int": int, "bool": bool, "min": min, "max": max,
    "round": _round, "map": _mapped, "range": _range, "sorted": sorted}
_OTHERS: dict[str, Callable[..., object]] = {
    "abs": abs, "all": all, "any": any, "divmod": divmod, "enumerate": lambda row: [*enumerate(row)],
    "isinstance": _is_instance, "ord": ord, "repr": repr, "reversed": lambda row: [*row][::-1],
    "set": lambda row: [*dict.fromkeys(row)], "frozenset": lambda row: [*dict.fromkeys(row)], "sum": _sum,
    "tuple": tuple, "zip": lambda *rows: [*zip(*rows, strict=False)]}


def known() -> dict[str, object]:
    """The names of xacro that expressions may use, without those that read files."""
    plain: dict[str, object] = {name: Known(call) for name, call in _FUNCTIONS.items()}
    plain |= {"dict": Known(dict, named=True), "True": True, "False": False}
    mathematics = {name: Known(each) if callable(each := getattr(math, name)) else each for name in _MATH}
    python = Names({**plain, **{name: Known(call) for name, call in _OTHERS.items()}})
    return {**mathematics, **plain, "math": Names(mathematics), "python": python,
            "xacro": Names({"tokenize": Known(_tokens, named=True)})}
