"""Linear equations with few entries in each row: elimination that never meets the zeros, for numbers and for symbols.

There is no pivoting: whoever puts the equations up knows an order in which an entry of the diagonal becomes zero only if the equations
are singular.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cayley.errors import SingularityError

Row = dict[int, Any]  # the entries of a row by column


def solve_rows(rows: Sequence[Row], right: Sequence[Any], *, named: Callable[[int], str] = str) -> list[Any]:
    """The unknowns of the equations `rows` x = `right`, square and in an order that needs no pivoting.

    `named` says what an unknown is, for the `SingularityError` that is raised where nothing determines it.

    >>> solve_rows([{0: 2.0, 1: 1.0}, {0: 2.0, 1: 3.0, 2: 1.0}, {2: 4.0}], [3.0, 6.0, 4.0])
    [1.0, 1.0, 1.0]
    """
    rows, right = [dict(row) for row in rows], list(right)
    for k, pivot in enumerate(rows):
        if isinstance(pivot.get(k, 0.0), float) and pivot.get(k, 0.0) == 0.0:
            raise SingularityError(f"nothing determines {named(k)}")
        for i in range(k + 1, len(rows)):
            if k in rows[i]:
                factor = rows[i].pop(k) / pivot[k]
                right[i] = right[i] - factor * right[k]
                for j in pivot:
                    if j > k:
                        rows[i][j] = rows[i][j] - factor * pivot[j] if j in rows[i] else -factor * pivot[j]
    found: list[Any] = [None] * len(rows)
    for k in reversed(range(len(rows))):
        rest = right[k]
        for j, entry in rows[k].items():
            if j > k:
                rest = rest - entry * found[j]
        found[k] = rest / rows[k][k]
    return found
