"""Elementary functions as straight-line vector arithmetic, in double and in single precision.

Every function takes the `Lanes` under construction and its arguments, and returns a value of the precision of its first
argument. Infinities, NaN and signed zeros follow C99 and NumPy. The result of a lane never depends on the other lanes
or on the width.
"""

from __future__ import annotations

from collections.abc import Callable

from cayley.compiler.elementary.division import floor_divide, remainder
from cayley.compiler.elementary.exponential import exp, log
from cayley.compiler.elementary.inverse import arccos, arcsin, arctan, arctan2
from cayley.compiler.elementary.plane import hypot, sign
from cayley.compiler.elementary.trigonometric import cos, sin, sincos, tan
from cayley.compiler.vector_assembly import Value

FUNCTIONS: dict[str, Callable[..., Value]] = {
    "sin": sin, "cos": cos, "tan": tan, "arcsin": arcsin, "arccos": arccos, "arctan": arctan, "arctan2": arctan2,
    "exp": exp, "log": log, "hypot": hypot, "sign": sign,
    "remainder": remainder, "floor_divide": floor_divide,
}
"""By the names of NumPy."""

__all__ = [
    "FUNCTIONS", "arccos", "arcsin", "arctan", "arctan2", "cos", "exp", "floor_divide", "hypot", "log", "remainder",
    "sign", "sin", "sincos", "tan"]
