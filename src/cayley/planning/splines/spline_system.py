"""The tridiagonal system of the second derivatives s'' of a cubic spline, for every way to end.

Between the knots x_k, x_{k+1}, h_k apart, the spline is A_k u^3 + B_k u^2 + C_k u + D_k with u = x - x_k and
    A_k = (s''_{k+1} - s''_k)/(6 h_k)    B_k = s''_k/2    C_k = ds_k/h_k - h_k (s''_{k+1} + 2 s''_k)/6    D_k = s_k
and its slope is continuous if
    h_{k-1} s''_{k-1} + 2 (h_{k-1} + h_k) s''_k + h_k s''_{k+1} = 6 (ds_k/h_k - ds_{k-1}/h_{k-1}).
Source: Ruggiu 5.5 (5.7)-(5.13), C_k corrected as in spec E-24.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, TypeAlias

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.linalg import solve_banded
from scipy.linalg.lapack import dgtsv

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ConventionError, PlanningError
from cayley.planning.splines.conditions import coefficients_of
from cayley.planning.splines.pieces import checked_vector

End: TypeAlias = Literal["natural", "clamped", "not-a-knot"]
Ends: TypeAlias = End | Literal["periodic"] | tuple[End, End]
_ENDS = ("natural", "clamped", "not-a-knot")
_CLOSED = 1e-9  # relative: how well a periodic spline must come back


def cubic_pieces(x: Array, y: Array, ends: Ends, velocities: tuple[ArrayLike, ArrayLike]) -> Array:
    """The coefficients (k - 1, 4, n) of the spline through checked points."""
    return _pieces(x, y, spline_bends(x, y, ends, velocities))


def spline_bends(x: Array, y: Array, ends: Ends, velocities: tuple[ArrayLike, ArrayLike]) -> Array:
    """The second derivatives (k, n) at the knots."""
    if ends == "periodic":
        check_closed(y)
        return CubicSpline(x, np.concatenate([y[:-1], y[:1]]), bc_type="periodic")(x, 2)
    kinds = tuple(ends) if isinstance(ends, (tuple, list)) else (ends, ends)
    if len(kinds) != 2 or any(kind not in _ENDS for kind in kinds):
        raise ConventionError(f"a spline ends {', '.join(_ENDS)}, one word or one for each end, or is periodic; not "
                              f"{ends!r}")
    if "not-a-knot" in kinds and len(x) < 4:
        return _few(x, y, kinds, velocities)
    h = x[1:] - x[:-1]
    slopes = (y[1:] - y[:-1]) / h[:, None]
    bands = np.zeros((5, len(x)))  # row 2 is the diagonal, rows above it to its right
    right = np.zeros(y.shape)
    bands[1, 2:] = h[1:]
    bands[2, 1:-1] = 2.0 * (x[2:] - x[:-2])
    bands[3, :-2] = h[:-1]
    right[1:-1] = 6.0 * (slopes[1:] - slopes[:-1])
    if kinds == ("natural", "natural"):
        bands[2, [0, -1]] = 1.0
    else:
        first, last = (checked_vector(velocity, y.shape[1], "the velocities of ends") for velocity in velocities)
        _first_row(bands, right, kinds[0], h, slopes, first)
        _first_row(bands[::-1, ::-1], right[::-1], kinds[1], h[::-1], -slopes[::-1], -last)
    if "not-a-knot" in kinds:
        return solve_banded((2, 2), bands, right)
    return dgtsv(bands[3, :-1], bands[2], bands[1, 1:], right)[3]  # LAPACK's own for three diagonals


def _pieces(x: Array, y: Array, second: Array) -> Array:
    return _of_all(y.shape[1])(x[1:] - x[:-1], y[:-1], y[1:], second[:-1], second[1:])


@cache
def _of_all(n: int) -> np.ufunc:
    return _piece.ufunc(n=n)


@kernel("(),(n),(n),(n),(n)->(4,n)")
def _piece(h: Scalar, s: Array, following: Array, second: Array, next_second: Array) -> Array:
    """D, C, B, A of a piece."""
    C = (following - s) / h - h * (next_second + 2.0 * second) / 6.0
    return np.stack([s, C, second / 2.0, (next_second - second) / (6.0 * h)])


def check_closed(y: Array) -> None:
    """Raise unless the last point is the first."""
    apart = np.abs(y[-1] - y[0])
    if apart.max(initial=0.0) > _CLOSED * (1.0 + np.abs(y).max(initial=0.0)):
        worst = int(apart.argmax())
        raise PlanningError(f"a periodic spline comes back to its first point; coordinate {worst} begins at "
                            f"{y[0, worst]:g} and ends at {y[-1, worst]:g}")


def _first_row(bands: Array, right: Array, kind: str, h: Array, slopes: Array, velocity: Array) -> None:
    """The row of the first knot; of the last one, for everything seen from there."""
    if kind == "natural":
        bands[2, 0] = 1.0
    elif kind == "clamped":
        bands[2, 0] = 2.0 * h[0]
        bands[1, 1] = h[0]
        right[0] = 6.0 * (slopes[0] - velocity)
    else:
        bands[2, 0] = -h[1]
        bands[1, 1] = h[0] + h[1]
        bands[0, 2] = -h[0]


def _few(x: Array, y: Array, kinds: tuple[str, ...], velocities: tuple[ArrayLike, ArrayLike]) -> Array:
    """With a single inner knot that is none there is one polynomial: of the least degree that the ends allow."""
    conditions = [(x[k], 0, y[k]) for k in range(len(x))]
    for place, kind in zip((0, -1), kinds, strict=True):
        if kind != "not-a-knot":
            asked = 0.0 if kind == "natural" else velocities[place]
            value = checked_vector(asked, y.shape[1], "the velocities of ends")
            conditions.append((x[place], 2 if kind == "natural" else 1, value))
    c = np.zeros((4, y.shape[1]))
    found = coefficients_of(conditions, x[:1])[0]
    c[:len(found)] = found
    return 2.0 * c[2] + 6.0 * c[3] * (x - x[0])[:, None]
