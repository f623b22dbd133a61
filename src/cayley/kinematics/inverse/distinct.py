"""Which of many things that a search found are the same."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array


def first_of_each(places: Array, apart: float) -> tuple[Array, Array]:
    """Of points (n, k), in their order, those that are `apart` from all before them in some entry, by their numbers
    (m); and how many points each of them stands for (m), itself among them.

    >>> first_of_each(np.array([[0.0, 1.0], [2.0, 1.0], [0.0, 1.0]]), 1e-6)
    (array([0, 1]), array([2, 1]))
    """
    first: list[int] = []
    counts: list[int] = []
    left = np.arange(len(places))
    while left.size:
        same = np.abs(places[left] - places[left[0]]).max(axis=-1, initial=0.0) <= apart
        first.append(int(left[0]))
        counts.append(int(np.count_nonzero(same)))
        left = left[~same]
    return np.array(first, dtype=int), np.array(counts, dtype=int)
