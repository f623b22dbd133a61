"""Elementary functions. A text is one that loses no digits, as `elementary` compiles it bit by bit as it is written."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.operations.operation import Operation, real
from cayley.compiler.typing import Scalar

if TYPE_CHECKING:
    from types import ModuleType

_LN_2 = math.log(2.0)
_LARGE = 2.0**28  # whose square and the square plus one are the same number


def _other_leg(a: Scalar) -> Scalar:
    """The other leg of a right triangle with hypotenuse 1; as a product, because 1 - a a loses its digits near a = 1.
    """
    return ((1.0 - a) * (1.0 + a)).sqrt()


ROOTS = (
    Operation("sqrt", 1, "square_roots", value=math.sqrt, least=0.0, slopes=(lambda n, a: 0.5 / n,), called="sqrt",
              mpmath=real("sqrt"), llvm=lambda lanes, a: lanes.sqrt(a)),
    Operation("hypot", 2, value=math.hypot, least=0.0, slopes=(lambda n, a, b: a / n, lambda n, a, b: b / n),
              called="hypot", sympy=lambda sympy, a, b: sympy.sqrt(a**2 + b**2), llvm="plane.hypot"),
)

TRIGONOMETRIC = (
    Operation("sin", 1, "trigonometric", value=math.sin, is_odd=True, slopes=(lambda n, a: a.cos(),), called="sin",
              llvm="trigonometric.sin"),
    Operation("cos", 1, "trigonometric", value=math.cos, is_even=True, slopes=(lambda n, a: -a.sin(),), called="cos",
              llvm="trigonometric.cos"),
    Operation("tan", 1, "trigonometric", value=math.tan, is_odd=True, slopes=(lambda n, a: 1.0 + n * n,), called="tan",
              llvm="trigonometric.tan"),
    Operation("arcsin", value=math.asin, is_odd=True, slopes=(lambda n, a: 1.0 / _other_leg(a),), called="asin",
              mpmath=real("asin"), llvm="inverse.arcsin"),
    Operation("arccos", value=math.acos, slopes=(lambda n, a: -1.0 / _other_leg(a),), called="acos",
              mpmath=real("acos"), llvm="inverse.arccos"),
    Operation("arctan", value=math.atan, is_odd=True, slopes=(lambda n, a: 1.0 / (1.0 + a * a),), called="atan",
              llvm="inverse.arctan"),
    Operation("arctan2", 2, value=math.atan2, called="atan2", llvm="inverse.arctan2",
              slopes=(lambda n, a, b: b / (a * a + b * b), lambda n, a, b: -(a / (a * a + b * b)))),
)


def _log1p(x: Scalar) -> Scalar:
    """log(1 + x), with the rounding error of 1 + x added again (W. Kahan)."""
    one_and_x = 1.0 + x
    lost = (x - (one_and_x - 1.0)) / one_and_x
    is_ordinary = np.logical_and(one_and_x > 0.0, one_and_x < np.inf)
    return np.where(np.abs(x) < 2.0**-54, x, np.log(one_and_x) + np.where(is_ordinary, lost, 0.0))


def _cbrt(x: Scalar) -> Scalar:
    """A Newton step makes good what the logarithm has lost; numbers near the ends of the range come from its middle."""
    size = np.abs(x)
    scale = np.where(size < 2.0**-600, 2.0**600, np.where(size > 2.0**600, 2.0**-600, 1.0))
    scaled = size * scale
    root = np.exp(np.log(scaled) / 3.0)
    root = root - (root * root * root - scaled) / (3.0 * root * root)
    root = root * np.where(size < 2.0**-600, 2.0**-200, np.where(size > 2.0**600, 2.0**200, 1.0))
    return np.copysign(np.where(np.logical_or(size == 0.0, size == np.inf), size, root), x)


EXPONENTIAL = (
    Operation("exp", value=math.exp, least=0.0, slopes=(lambda n, a: n,), called="exp", llvm="exponential.exp"),
    Operation("exp2", value=lambda x: 2.0**x, least=0.0, slopes=(lambda n, a: _LN_2 * n,), c="exp2",
              sympy=lambda sympy, x: 2**x, casadi=lambda casadi, x: casadi.power(2, x),
              mpmath=lambda mpmath, x: mpmath.mpf(2)**x, llvm="exponential.exp2"),
    Operation("expm1", value=math.expm1, least=-1.0, slopes=(lambda n, a: a.exp(),), called="expm1",
              sympy=lambda sympy, x: sympy.exp(x) - 1, llvm="exponential.expm1"),
    Operation("log", value=math.log, slopes=(lambda n, a: 1.0 / a,), called="log", mpmath=real("log"),
              llvm="exponential.log"),
    Operation("log2", value=math.log2, slopes=(lambda n, a: 1.0 / (_LN_2 * a),), c="log2", llvm="exponential.log2",
              sympy=lambda sympy, x: sympy.log(x, 2), casadi=lambda casadi, x: casadi.log(x) / _LN_2,
              mpmath=lambda mpmath, x: real("log")(mpmath, x, 2) if x else -mpmath.inf),
    Operation("log10", value=math.log10, slopes=(lambda n, a: 1.0 / (math.log(10.0) * a),), called="log10",
              sympy=lambda sympy, x: sympy.log(x, 10), mpmath=real("log10"), llvm="exponential.log10"),
    Operation("log1p", 1, text=_log1p, value=math.log1p, slopes=(lambda n, a: 1.0 / (1.0 + a),), called="log1p",
              sympy=lambda sympy, x: sympy.log(1 + x), mpmath=lambda mpmath, x: _log1p_of(mpmath, x)),
    Operation("cbrt", 1, text=_cbrt, is_odd=True, slopes=(lambda n, a: 1.0 / (3.0 * n * n),), c="cbrt",
              sympy=lambda sympy, x: sympy.sign(x) * sympy.cbrt(sympy.Abs(x)),
              casadi=lambda casadi, x: casadi.copysign(casadi.power(casadi.fabs(x), 1.0 / 3.0), x),
              mpmath=lambda mpmath, x: mpmath.sign(x) * mpmath.cbrt(abs(x))),
)


def _log1p_of(mpmath: ModuleType, x: Scalar) -> Scalar:
    return -mpmath.inf if x == -1 else real("log1p")(mpmath, x)


def _sinh(x: Scalar) -> Scalar:
    size = np.abs(x)
    grown = np.expm1(np.minimum(size, 40.0))
    root = np.exp(0.5 * size)
    return np.copysign(np.where(size < 40.0, 0.5 * (grown + grown / (grown + 1.0)), 0.5 * root * root), x)


def _cosh(x: Scalar) -> Scalar:
    size = np.abs(x)
    grown = np.exp(np.minimum(size, 40.0))
    root = np.exp(0.5 * size)
    return np.where(size < 40.0, 0.5 * grown + 0.5 / grown, 0.5 * root * root)


def _tanh(x: Scalar) -> Scalar:
    left = np.expm1(-2.0 * np.abs(x))
    return np.copysign(left / (left + 2.0), x)


def _arcsinh(x: Scalar) -> Scalar:
    size = np.abs(x)
    near = np.minimum(size, _LARGE)
    inside = np.log1p(near + near * near / (1.0 + np.sqrt(1.0 + near * near)))
    return np.copysign(np.where(size < _LARGE, inside, np.log(size) + _LN_2), x)


def _arccosh(x: Scalar) -> Scalar:
    beyond = np.minimum(x, _LARGE) - 1.0
    return np.where(x >= _LARGE, np.log(x) + _LN_2, np.log1p(beyond + np.sqrt(beyond) * np.sqrt(beyond + 2.0)))


def _arctanh(x: Scalar) -> Scalar:
    size = np.abs(x)
    return np.copysign(0.5 * np.log1p(2.0 * size / (1.0 - size)), x)


HYPERBOLIC = (
    Operation("sinh", 1, text=_sinh, value=math.sinh, is_odd=True, slopes=(lambda n, a: a.cosh(),), called="sinh"),
    Operation("cosh", 1, text=_cosh, value=math.cosh, is_even=True, least=1.0, slopes=(lambda n, a: a.sinh(),),
              called="cosh"),
    Operation("tanh", 1, text=_tanh, value=math.tanh, is_odd=True, slopes=(lambda n, a: 1.0 - n * n,), called="tanh"),
    Operation("arcsinh", 1, text=_arcsinh, value=math.asinh, is_odd=True, called="asinh",
              slopes=(lambda n, a: 1.0 / (1.0 + a * a).sqrt(),)),
    Operation("arccosh", 1, text=_arccosh, value=math.acosh, least=0.0, called="acosh", mpmath=real("acosh"),
              slopes=(lambda n, a: 1.0 / ((a - 1.0) * (a + 1.0)).sqrt(),)),
    Operation("arctanh", 1, text=_arctanh, value=math.atanh, is_odd=True, called="atanh", mpmath=real("atanh"),
              slopes=(lambda n, a: 1.0 / ((1.0 - a) * (1.0 + a)),)),
)
