"""Convex programs whose rows and columns were brought to about one size, and their solutions in the units given.

Each pass divides rows and columns by the root of their largest entry (Ruiz, RAL-TR-2001-034); a cone is divided as a
whole, which it stays, and the costs by one number."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.interior_point import ConeProgram
from cayley.compiler.solving.linear import chosen, is_zero
from cayley.compiler.typing import Array, Scalar

_PASSES = 2


class Scales(NamedTuple):
    """The factors of a scaled program: unknowns (divided by `x`), equations, sides, cones and costs."""

    x: Array
    y: Array
    rows: Array
    cones: Sequence[Scalar]
    cost: Scalar


def scaled(given: ConeProgram) -> tuple[ConeProgram, Scales]:
    """The program with rows and columns of about one size, and the scales."""
    n = len(given.q)
    P, A, G, cones = given.P, given.A, given.G, [F for F, _ in given.cones]
    made = Scales(np.ones(n), np.ones(len(A)), np.ones(len(G)), [1.0] * len(cones), 1.0)
    for _ in range(_PASSES):
        columns = np.array([_root([*P[:, j], *A[:, j], *G[:, j], *[e for F in cones for e in F[:, j]]])
                            for j in range(n)], dtype=object)
        rows = [np.array([_root(row) for row in matrix], dtype=object) for matrix in (A, G)]
        whole = [_root(list(F.flat)) for F in cones]
        P = _times(P, columns, columns)
        A, G = [_times(matrix, own, columns) for matrix, own in zip((A, G), rows, strict=True)]
        cones = [_times(F, np.full(len(F), own), columns) for F, own in zip(cones, whole, strict=True)]
        made = Scales(made.x * columns, made.y * rows[0], made.rows * rows[1],
                      [a * b for a, b in zip(made.cones, whole, strict=True)], 1.0)
    largest = _largest(list(made.x * given.q) + list(P.flat))
    cost = 1.0 / chosen(largest > 0.0, largest, 1.0)
    made = made._replace(cost=cost)
    return given._replace(
        P=cost * P, q=cost * made.x * given.q, A=A, b=made.y * given.b, G=G,
        side=made.rows[list(given.rows)] * given.side if len(given.rows) else given.side,
        cones=[(F, own * g) for F, own, (_, g) in zip(cones, made.cones, given.cones, strict=True)]), made


def _times(matrix: Array, rows: Array, columns: Array) -> Array:
    return matrix * np.outer(rows, columns) if matrix.size else matrix


def _root(entries: Sequence[Any]) -> Scalar:
    """One over the root of the largest entry, 1 if there is none."""
    largest = _largest(entries)
    return 1.0 if is_zero(largest) else chosen(largest > 0.0, 1.0 / np.sqrt(chosen(largest > 0.0, largest, 1.0)), 1.0)


def _largest(entries: Sequence[Any]) -> Scalar:
    return reduce(np.maximum, [abs(e) for e in entries if not is_zero(e)], 0.0)
