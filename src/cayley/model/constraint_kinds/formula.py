"""Formulas as data: "0.3 + 10*t + 0.2*sin(3*t)" as a function of the names in it, on floats and on symbols."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.errors import ModelError, did_you_mean, shown

LONGEST = 400  # characters
_LARGEST = 1e300
_LARGEST_POWER = 1024  # which the compiler writes as products
_TRIED = 1001  # values of each name

_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "abs": np.abs}
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b, ast.Pow: lambda a, b: a**b}
_SIGNS: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.UAdd: lambda a: a, ast.USub: lambda a: -a}


def as_formula(given: str | float) -> str:
    """A formula, or a number as one.

    >>> as_formula("2*t"), as_formula(0.5)
    ('2*t', '0.5')
    """
    is_number = isinstance(given, Real) and not isinstance(given, bool)
    return repr(float(given)) if is_number else given  # type: ignore[return-value]  # which is checked later


def formula(text: str, names: Sequence[str], whose: str) -> Callable[..., Scalar]:
    """The function of values for `names`, in their order, that a formula is: numbers, pi, the names, + - * / **, and
    functions such as sin and sqrt. `whose` it is, for errors.

    >>> float(formula("2*t + sin(pi*t)**2", ["t"], "an example")(0.5))
    2.0
    >>> formula("2*T", ["t"], "the motion of 'crank'")
    Traceback (most recent call last):
    cayley.errors.ModelError: the motion of 'crank' is '2*T', where T is unknown: did you mean 't'?
    """
    if not isinstance(text, str) or len(text) > LONGEST:
        raise ModelError(f"{whose} must be a formula of at most {LONGEST} characters, not {shown(text)}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ModelError(f"{whose} is {shown(text)}, which is not a formula such as 2*t + sin(pi*t)") from None
    try:
        _check_numbers(tree, names)
    except _FaultError as fault:
        raise ModelError(f"{whose} is {shown(text)}, where {fault}") from None
    return lambda *values: _value(tree, dict(zip(names, values, strict=True)))


def _check_numbers(tree: ast.expr, names: Sequence[str]) -> None:
    """Raise for a part of a formula that is not allowed, or not a real number."""
    tried = np.random.default_rng(0).normal(size=(len(names), _TRIED)) * np.geomspace(1e-6, 1e6, _TRIED)
    alike = np.broadcast_to(np.linspace(-10.0, 10.0, _TRIED), tried.shape)
    is_finite = _is_finite(tree, dict(zip(names, np.concatenate([tried, alike], axis=1), strict=True)))
    parts = [node for node in ast.walk(tree) if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Call)]
    for part in parts:
        if _is_constant(part) and not _is_finite(part, {}):
            raise _FaultError(f"{ast.unparse(part)!r} is no number")
    for part in parts:
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Pow) and not _is_constant(part.left) and (
                _is_constant(part.right) and not _is_power(float(_value(part.right, {})))):
            raise _FaultError(f"the exponent {ast.unparse(part.right)!r} is neither a whole number nor half of one, up "
                              f"to {_LARGEST_POWER}: write x**y as exp(y*log(x))")
    if not is_finite:
        raise _FaultError("there is no number, whatever its names stand for")


def _is_constant(node: ast.expr) -> bool:
    functions = {part.func for part in ast.walk(node) if isinstance(part, ast.Call)}
    return all(part.id == "pi" or part in functions for part in ast.walk(node) if isinstance(part, ast.Name))


def _is_power(value: float) -> bool:
    return 2.0 * value == round(2.0 * value) and abs(value) <= _LARGEST_POWER


def _is_finite(node: ast.expr, values: Mapping[str, Array]) -> bool:
    """True if the value is a finite real number at one or more of the sampled points."""
    try:
        with np.errstate(all="ignore"):
            found = np.asarray(_value(node, values))
    except ArithmeticError:
        return False
    return bool(found.dtype.kind != "c" and np.isfinite(found).any())


class _FaultError(Exception):
    """The fault of a formula."""


def _value(node: ast.expr, values: Mapping[str, Scalar]) -> Scalar:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool) and abs(number) < _LARGEST:
            return float(number)
        case ast.Constant(value=int() | float()):
            raise _FaultError(f"{shown(node.value)} is not a finite number")
        case ast.Name():
            if node.id not in values and node.id != "pi":
                raise _FaultError(f"{node.id} is unknown{did_you_mean(node.id, [*values, 'pi'])}")
            return values.get(node.id, np.pi)
        case ast.BinOp(left=ast.expr() as base, op=ast.Pow(), right=ast.Constant(value=int() as power) as constant):
            _value(constant, values)  # which must fit
            return _value(base, values)**power
        case ast.BinOp(left=ast.expr() as base, op=ast.Pow(), right=ast.expr() as power) if not _is_constant(power):
            return np.exp(_value(power, values) * np.log(_value(base, values)))
        case ast.BinOp() if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](_value(node.left, values), _value(node.right, values))
        case ast.UnaryOp() if type(node.op) in _SIGNS:
            return _SIGNS[type(node.op)](_value(node.operand, values))
        case ast.Call(func=ast.Name() as function, args=[argument], keywords=[]):
            if function.id not in _FUNCTIONS:
                raise _FaultError(f"{function.id} is not a function that formulas can use"
                                  f"{did_you_mean(function.id, _FUNCTIONS)}")
            return _FUNCTIONS[function.id](_value(argument, values))
    raise _FaultError(f"{ast.unparse(node)!r} is neither a number, a name, + - * / ** nor a function of one argument")
