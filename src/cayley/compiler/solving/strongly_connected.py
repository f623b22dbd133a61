"""Places that need each other: which of them can only be found together, and in which order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

Place = TypeVar("Place", bound=Hashable)


def strongly_connected(needs: Mapping[Place, Iterable[Place]]) -> list[list[Place]]:
    """Groups of places that need each other, all the way round, each after those that it needs (Tarjan 1972).

    >>> strongly_connected({"a": ["b"], "b": ["c"], "c": ["b"], "d": []})
    [['b', 'c'], ['a'], ['d']]
    """
    number: dict[Place, int] = {}
    oldest: dict[Place, int] = {}
    waiting: list[Place] = []
    groups: list[list[Place]] = []

    def visit(place: Place) -> None:
        number[place] = oldest[place] = len(number)
        waiting.append(place)
        for other in needs[place]:
            if other not in number:
                visit(other)
            if other in waiting:
                oldest[place] = min(oldest[place], oldest[other])
        if oldest[place] == number[place]:
            start = waiting.index(place)
            groups.append(waiting[start:])
            del waiting[start:]

    for place in needs:
        if place not in number:
            visit(place)
    return groups
