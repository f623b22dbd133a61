"""Comparisons, logic, the choice between two values, and what rounds or takes signs."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.operations.operation import Operation, chosen, greater, lesser
from cayley.compiler.typing import Scalar

if TYPE_CHECKING:
    from types import ModuleType

_SELECTION = "selections"


def _one(*_: object) -> float:
    return 1.0


def _zero(*_: object) -> float:
    return 0.0


def _first_unless(lanes: Any, beyond: Scalar, a: Scalar, b: Scalar) -> Scalar:  # noqa: ANN401 (of the backend)
    """The extremum as NumPy takes it: of 0.0 and -0.0 the second, of NaN and a number the NaN."""
    return lanes.select(beyond | ~a.equals(a), a, b)


COMPARISONS = (
    Operation("less", 2, _SELECTION, is_truth=True, jumps=True, is_flat=True, operator=operator.lt,
              sympy="StrictLessThan", casadi="lt", llvm=lambda lanes, a, b: a < b),
    Operation("less_equal", 2, _SELECTION, is_truth=True, jumps=True, is_flat=True, operator=operator.le,
              sympy="LessThan", casadi="le", llvm=lambda lanes, a, b: a <= b),
    Operation("equal", 2, _SELECTION, is_truth=True, jumps=True, is_flat=True, operator=operator.eq,
              sympy="Equality", casadi="eq", llvm=lambda lanes, a, b: a.equals(b)),
    Operation("and", 2, _SELECTION, is_truth=True, is_flat=True, operator=lambda a, b: a and b,
              numpy="numpy.logical_and", sympy="And", casadi="logic_and", llvm=lambda lanes, a, b: a & b),
    Operation("not", 1, _SELECTION, is_truth=True, is_flat=True, operator=operator.not_,
              numpy="numpy.logical_not", sympy="Not", casadi="logic_not", llvm=lambda lanes, a: ~a),
)

CHOICES = (
    Operation("where", 3, _SELECTION, branches=lambda c, a, b: (c, a, b), operator=chosen,
              sympy=lambda sympy, condition, a, b: sympy.Piecewise((a, condition), (b, True)), casadi="if_else",
              llvm=lambda lanes, condition, a, b: lanes.select(condition, a, b)),
    Operation("minimum", 2, _SELECTION, branches=lambda a, b: (a <= b, a, b), operator=lesser,
              c_helper="{real} {name}({real} a, {real} b) {{ return a < b || a != a ? a : b; }}",
              sympy="Min", casadi="fmin", llvm=lambda lanes, a, b: lanes.minimum(a, b),
              llvm_as_written=lambda lanes, a, b: _first_unless(lanes, a < b, a, b)),
    Operation("maximum", 2, _SELECTION, branches=lambda a, b: (b <= a, a, b), operator=greater,
              c_helper="{real} {name}({real} a, {real} b) {{ return a > b || a != a ? a : b; }}",
              sympy="Max", casadi="fmax", llvm=lambda lanes, a, b: lanes.maximum(a, b),
              llvm_as_written=lambda lanes, a, b: _first_unless(lanes, a > b, a, b)),
)


SIGNS = (
    Operation("absolute", 1, _SELECTION, operator=operator.abs, value=abs, is_even=True, least=0.0,
              slopes=(lambda n, a: a.sign(),), called="fabs", sympy="Abs", llvm=lambda lanes, a: lanes.absolute(a)),
    Operation("sign", 1, _SELECTION, jumps=True, is_flat=True, sympy="sign", casadi="sign", mpmath="sign",
              value=lambda x: x if x != x else float((x > 0) - (x < 0)), llvm="plane.sign",
              c_helper="{real} {name}({real} a) {{ return a > {zero} ? {one} : a < {zero} ? -{one} : "
              "a == {zero} ? {zero} : a; }}"),
    Operation("rounding", 1, "multiplications", lambda a: 2.0**-52 * np.abs(a), is_flat=True, is_even=True, least=0.0,
              jax=lambda jax, a: jax.finfo(a.dtype).eps * jax.abs(a), mpmath=lambda mpmath, a: mpmath.eps * abs(a)),
    Operation("copysign", 2, _SELECTION, lambda a, b: np.where(b < 0.0, -np.abs(a), np.abs(a)), jumps=True,
              value=math.copysign, slopes=(lambda n, a, b: a.sign() * n.graph.constant(1.0).copysign(b), _zero),
              c="copysign", casadi="copysign", llvm="plane.copysign"),
)


def _casadi_remainder(casadi: ModuleType, a: Scalar, b: Scalar) -> Scalar:
    """C's remainder, moved to the side of b."""
    rest = casadi.fmod(a, b)
    return rest + casadi.if_else(rest * b < 0, b, 0)


_REMAINDER_IN_C = """{real} {name}({real} a, {real} b)
{{
    const {real} rest = {fmod}(a, b);
    const {real} moved = (b < {zero}) != (rest < {zero}) ? rest + b : rest;
    return rest == {zero} ? {copysign}({zero}, b) : moved;
}}"""
_FLOOR_DIVIDE_IN_C = """{real} {name}({real} a, {real} b)
{{
    const {real} rest = {fmod}(a, b);
    const int across = rest != {zero} && (b < {zero}) != (rest < {zero});
    const {real} steps = across ? (a - rest)/b - {one} : (a - rest)/b;
    const {real} below = {floor}(steps);
    const {real} whole = steps - below > {half} ? below + {one} : below;
    return b == {zero} ? a/b : steps == {zero} ? {copysign}({zero}, a/b) : whole;
}}"""


def _nearest(x: Scalar) -> Scalar:
    """The nearest whole number, and the even one of two that are equally near."""
    below = np.floor(x)
    rest = x - below
    is_odd = below - 2.0 * np.floor(0.5 * below)
    return np.where(rest < 0.5, below, np.where(rest > 0.5, below + 1.0, below + is_odd))


ROUNDING = (
    Operation("floor", 1, _SELECTION, jumps=True, is_whole=True, is_flat=True, value=lambda x: float(math.floor(x)),
              called="floor", llvm=lambda lanes, a: lanes.floor(a)),
    Operation("rint", 1, _SELECTION, _nearest, jumps=True, is_whole=True, is_flat=True, is_odd=True,
              value=lambda x: float(round(x)), c="rint", mpmath="nint", llvm=lambda lanes, a: lanes.nearest(a)),
    Operation("fmod", 2, text=lambda a, b: a - b * np.trunc(a / b), jumps=True, is_whole=True, value=math.fmod,
              slopes=(_one, lambda n, a, b: -((a - n) / b)), c="fmod", casadi="fmod", llvm="division.fmod"),
    Operation("remainder", 2, jumps=True, is_whole=True, operator=operator.mod,
              slopes=(_one, lambda n, a, b: -(a // b)), c_helper=_REMAINDER_IN_C, casadi=_casadi_remainder,
              mpmath=lambda mpmath, a, b: a % b if b else mpmath.nan, llvm="division.remainder"),
    Operation("floor_divide", 2, jumps=True, is_whole=True, is_flat=True, operator=operator.floordiv,
              c_helper=_FLOOR_DIVIDE_IN_C,
              casadi=lambda casadi, a, b: casadi.floor((a - _casadi_remainder(casadi, a, b)) / b + 0.5),
              mpmath=lambda mpmath, a, b: mpmath.floor(a / b) if b else a * mpmath.inf, llvm="division.floor_divide"),
)
