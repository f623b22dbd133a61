"""Curves in a plane on which a function is zero: found on a grid, brought to rounding by Newton's method, and followed
to where the function ends.

    p <- p - f g / |g|^2        g the gradient of f at p, which is not a number beyond the end
A curve that ends inside the grid, because the function is none beyond, is followed by steps along its tangent, which
are halved until they reach the end.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from contourpy import contour_generator

from cayley.compiler.typing import Array
from cayley.kinematics.continuation import corrected, follow

Field = Callable[[Array], Array]
"""Values (...) and gradients (..., 2) at points (..., 2), as (..., 3)."""

_NEWTON = 12
_SHORTEST = 1e-7  # of a cell
_STILL = 1e-12
_ARRIVED = 1e-11  # of the largest value on the grid
_STEPS = 40


def zero_curves(field: Field, horizontal: Array, vertical: Array, *, inside: Callable[[Array], Array] | None = None
                ) -> list[Array]:
    """The curves (n, 2) on which a field is zero, on the grid of places `horizontal` (l) and `vertical` (k); of each
    only the parts where `inside` holds, to their ends."""
    grid = np.stack(np.meshgrid(horizontal, vertical), axis=-1)
    values = np.ma.masked_invalid(field(grid)[..., 0])
    lines = contour_generator(horizontal, vertical, values).lines(0.0)
    scale = max(float(np.abs(values).max()), 1e-300) if values.count() else 1.0
    cell = float(min(horizontal[1] - horizontal[0], vertical[1] - vertical[0]))

    def measured(points: Array) -> Array:
        return field(points) / scale

    found = []
    for line in lines:
        for part in _parts(_onto(measured, np.asarray(line), cell), inside):
            ends = [_followed(measured, part[::-1], cell, inside)[::-1], part, _followed(measured, part, cell, inside)]
            whole = np.concatenate(ends) if np.any(part[0] != part[-1]) else part
            if len(whole) > 1:
                found.append(whole)
    return found


def _onto(field: Field, points: Array, farthest: float) -> Array:
    """Points (n, 2) moved onto the curve; those that Newton's method takes farther than that, or nowhere, are left
    out."""
    def equations(at: Array) -> tuple[Array, Array]:
        values = field(at)
        return values[:, None, 1:], -values[:, :1]

    found = corrected(equations, np.add, points, iterations=_NEWTON, tolerance=_STILL * farthest)
    near = np.linalg.norm(found.points - points, axis=-1) <= farthest
    return found.points[near & found.is_known & (found.missing <= _ARRIVED)]


def _parts(line: Array, inside: Callable[[Array], Array] | None) -> list[Array]:
    """The pieces of a line that are inside."""
    if not len(line):
        return []
    if inside is None:
        return [line]
    held = inside(line)
    if held.all():
        return [line]
    if np.all(line[0] == line[-1]):  # begins where it is outside
        first = int(np.argmin(held))
        line = np.concatenate([line[first:-1], line[:first + 1]])
        held = inside(line)
    changes = np.flatnonzero(np.diff(held.astype(int))) + 1
    return [piece for piece, on in zip(np.split(line, changes), np.split(held, changes), strict=True)
            if on.all() and len(piece) > 1]


def _followed(field: Field, line: Array, cell: float, inside: Callable[[Array], Array] | None) -> Array:
    """What comes after the last point of a line, to where the field or the inside ends."""
    def advance(at: Array, along: Array, h: float) -> tuple[Array, Array] | None:
        trial = _onto(field, (at + h * along)[None], h)
        if not len(trial) or not (trial[0] - at) @ along > 0 or (inside is not None and not inside(trial)[0]):
            return None
        return trial[0], _tangent(field, trial[0], trial[0] - at)

    found = follow(line[-1], _tangent(field, line[-1], line[-1] - line[-2]), advance, longest=cell / 2,
                   shortest=_SHORTEST * cell, growth=1.0, most=_STEPS)
    return found.points[1:].reshape(-1, 2)


def _tangent(field: Field, at: Array, ahead: Array) -> Array:
    slope = field(at)[1:]
    along = np.array([-slope[1], slope[0]]) / np.linalg.norm(slope)
    return along * np.sign(along @ ahead)
