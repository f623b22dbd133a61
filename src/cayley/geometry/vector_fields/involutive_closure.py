"""The smallest distribution that holds given fields and all their brackets, and how it grows.

    D1 = the fields,   D(k+1) = Dk + [D1, Dk]
Ranks are those at states that have nothing special about them: where the columns are independent as functions, one
bracket of each kind is enough. With the rank n every state near can be reached (Chow's theorem); otherwise there are
n less that rank functions that no motion along the fields changes (Frobenius' theorem).
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array
from cayley.geometry.vector_fields.fields import Bracket, Fields, sampled_rank


def growth(fields: Fields, samples: Array, most: int, tolerance: float, *p: Array) -> tuple[int, ...]:
    """The ranks of D1, D2, ..., until nothing is new or the rank is `most`, at the best of the samples (k, nq)."""
    basis: list[Bracket] = []  # what is kept of brackets, after the fields themselves
    newest = range(fields.count)
    ranks = [fields.count]
    while newest and ranks[-1] < most:
        tried = [(x, z) for x in range(fields.count) for z in newest if z > x]
        new = _new(fields, basis, tried, samples, tolerance, *p)
        newest = range(fields.count + len(basis), fields.count + len(basis) + len(new))
        basis += new
        if new:
            ranks.append(fields.count + len(basis))
    return tuple(ranks)


def _new(fields: Fields, basis: list[Bracket], tried: list[Bracket], samples: Array, tolerance: float,
         *p: Array) -> list[Bracket]:
    """Those of the tried brackets that add to the rank, where it is largest."""
    if not tried:
        return []
    seen = fields.columns([*basis, *tried], samples, *p).finite()
    ranks = seen.ranks(tolerance)
    known = fields.count + len(basis)
    if not len(ranks) or max(ranks) == known:
        return []
    at = int(np.argmax(ranks))
    chosen = list(range(known))
    for k in range(known, seen.values.shape[-1]):
        if sampled_rank(seen.values[at][:, [*chosen, k]], seen.scales[at][[*chosen, k]], tolerance) > len(chosen):
            chosen.append(k)
    return [tried[k - known] for k in chosen[known:]]
