"""The order in which a matrix with zeros is block upper triangular, with the smallest blocks that there are.

Each row is matched with a column of its own, in which it has an entry; unknowns that need each other then form a block.
A triangular matrix has blocks of one, whatever its rows and columns were permuted by. Source: Duff & Reid, An
implementation of Tarjan's algorithm for the block triangularization of a matrix, ACM TOMS 4 (1978).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

Pattern = Sequence[Sequence[int]]  # for each row, the columns in which it has entries


def block_order(pattern: Pattern) -> tuple[list[int], list[int]] | None:
    """Rows and columns in an order that makes the matrix block upper triangular with entries on its diagonal, if any.

    >>> block_order([[0], [0, 1], [0, 1, 2]])
    ([2, 1, 0], [2, 1, 0])
    """
    row_of = _matched(pattern)
    if row_of is None:
        return None
    columns = [column for block in reversed(_blocks([pattern[row] for row in row_of])) for column in sorted(block)]
    return [row_of[column] for column in columns], columns


def _matched(pattern: Pattern) -> list[int] | None:
    """For each column the row that it is matched with: its own, where possible."""
    row_of: dict[int, int] = {row: row for row, columns in enumerate(pattern) if row in columns}

    def find(row: int, tried: set[int]) -> bool:
        for column in pattern[row]:
            if column not in tried:
                tried.add(column)
                if column not in row_of or find(row_of[column], tried):
                    row_of[column] = row
                    return True
        return False

    for row in range(len(pattern)):
        if row not in row_of.values() and not find(row, set()):
            return None
    return [row_of[column] for column in range(len(pattern))]


def _blocks(needs: Pattern) -> list[list[int]]:
    """The sets of places that need each other, those that need no other set first."""
    number: dict[int, int] = {}
    oldest: dict[int, int] = {}
    waiting: list[int] = []
    found: list[list[int]] = []
    clock = count()

    def visit(place: int) -> None:
        number[place] = oldest[place] = next(clock)
        waiting.append(place)
        for other in needs[place]:
            if other not in number:
                visit(other)
            if other in waiting:
                oldest[place] = min(oldest[place], oldest[other])
        if oldest[place] == number[place]:
            start = waiting.index(place)
            found.append(waiting[start:])
            del waiting[start:]

    for place in range(len(needs)):
        if place not in number:
            visit(place)
    return found


def parity(order: Sequence[int]) -> int:
    """1 for an even permutation, -1 for an odd one."""
    left = list(order)
    sign = 1
    for k in range(len(left)):
        while left[k] != k:
            j = left[k]
            left[k], left[j] = left[j], left[k]
            sign = -sign
    return sign
