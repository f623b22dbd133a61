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

Field = Callable[[Array], Array]
"""Values (...) and gradients (..., 2) at points (..., 2), as (..., 3)."""

_NEWTON = 6
_SHORTEST = 1e-7  # of a cell
_STILL = 1e-12
_STEPS = 40


def zero_curves(field: Field, horizontal: Array, vertical: Array, *, inside: Callable[[Array], Array] | None = None
                ) -> list[Array]:
    """The curves (n, 2) on which a field is zero, on the grid of places `horizontal` (l) and `vertical` (k); of each
    only the parts where `inside` holds, to their ends."""
    grid = np.stack(np.meshgrid(horizontal, vertical), axis=-1)
    lines = contour_generator(horizontal, vertical, np.ma.masked_invalid(field(grid)[..., 0])).lines(0.0)
    cell = float(min(horizontal[1] - horizontal[0], vertical[1] - vertical[0]))
    found = []
    for line in lines:
        for part in _parts(onto(field, np.asarray(line), cell), inside):
            ends = [_followed(field, part[::-1], cell, inside)[::-1], part, _followed(field, part, cell, inside)]
            whole = np.concatenate(ends) if np.any(part[0] != part[-1]) else part
            if len(whole) > 1:
                found.append(whole)
    return found


def onto(field: Field, points: Array, farthest: float) -> Array:
    """Points (n, 2) moved onto the curve; those that Newton's method takes farther than that, or to nothing, are left
    out."""
    moved = points.copy()
    for _ in range(_NEWTON):
        values = field(moved)
        slope = values[..., 1:]
        with np.errstate(all="ignore"):
            step = values[..., :1] * slope / (slope * slope).sum(axis=-1, keepdims=True)
        step = np.where(np.isfinite(step), step, 0.0)
        moved = moved - step
        if np.abs(step).max(initial=0.0) <= _STILL * farthest:
            break
    near = np.linalg.norm(moved - points, axis=-1) <= farthest
    return moved[near & np.isfinite(field(moved)).all(axis=-1)]


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
    at = line[-1]
    ahead = line[-1] - line[-2]
    found = []
    size = cell / 2
    for _ in range(_STEPS):
        slope = field(at)[1:]
        along = np.array([-slope[1], slope[0]]) / np.linalg.norm(slope)
        along = along * np.sign(along @ ahead)
        trial = onto(field, (at + size * along)[None], size)
        if len(trial) and (inside is None or inside(trial)[0]) and (trial[0] - at) @ along > 0:
            ahead = trial[0] - at
            at = trial[0]
            found.append(at)
            if np.linalg.norm(ahead) > 0.9 * cell:
                break
        else:
            size /= 2
            if size < _SHORTEST * cell:
                break
    return np.array(found).reshape(-1, 2)
