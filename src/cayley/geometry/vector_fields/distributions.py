"""The rank of a distribution, whether it is involutive, and what Frobenius' theorem then says.

    involutive:  rank [X1 .. Xm] = rank [X1 .. Xm, [Xi, Xj]] for all pairs, here and near
An involutive distribution of constant rank r is tangent to surfaces of dimension r through every state, the level
surfaces of n - r functions. Where the rank is less than near, a singular state, it says nothing.
Source: Mladenova 7.5, appendix, spec R-56.

    D1 = the fields,   D(k+1) = Dk + [D1, Dk]
Ranks are those at states that have nothing special about them: where the columns are independent as functions, one
bracket of each kind is enough. With the rank n every state near can be reached (Chow's theorem); otherwise there are
n less that rank functions that no motion along the fields changes (Frobenius' theorem)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, Text
from cayley.geometry.vector_fields.fields import TOLERANCE, Bracket, Fields, joined, nearby, sampled_rank, states

_NEAR = 6  # states at which it is looked beside those given


@dataclass(frozen=True, eq=False)
class Involutivity:
    """The directions that brackets add to fields at each state (...); of symbols, at all states but special ones."""

    n: int
    ranks: Array
    with_brackets: Array
    leaving: tuple[tuple[int, int], ...]
    """The pairs of fields, by their places, whose bracket leaves the distribution at some state, or near one."""
    near: int
    """The rank at states near those looked at, which have nothing special about them."""

    @property
    def is_involutive(self) -> bool:
        """True if no bracket is new at any state, nor near."""
        return not self.leaving

    @property
    def has_constant_rank(self) -> bool:
        """True if the rank is the same at all states looked at, and near them."""
        return bool((self.ranks == self.near).all())

    @property
    def is_integrable(self) -> bool:
        """Frobenius: whether there are surfaces that the fields are tangent to, of the dimension of their rank."""
        return self.is_involutive and self.has_constant_rank

    @property
    def functions(self) -> int:
        """The number of independent functions that do not change along the fields, if it is integrable."""
        return int(self.n - self.ranks.max(initial=0)) if self.is_integrable else 0

    def __str__(self) -> str:
        if self.is_integrable:
            return f"involutive, of rank {self.ranks.max(initial=0)}: {self.functions} functions do not change"
        if self.is_involutive:
            return f"involutive, but singular: of rank {self.ranks.min()} here, and {self.near} near"
        pairs = ", ".join(f"[X{i + 1}, X{j + 1}]" for i, j in self.leaving)
        if self.with_brackets.max() == self.ranks.max():
            return f"not involutive: {pairs} are new near this singular state"
        return f"not involutive: {pairs} are new, rank {self.with_brackets.max()} instead of {self.ranks.max()}"


def rank(fields: Sequence[Text], at: ArrayLike, *, parameters: ArrayLike | None = None,
         tolerance: float = TOLERANCE) -> Array:
    """The rank of fields at states (..., n), by singular values with a tolerance, or at SymPy's symbols (n), exactly.

    >>> fields = [lambda x: [1.0, 0.0], lambda x: [0.0, x[0]]]
    >>> rank(fields, [[0.0, 0.0], [0.5, 0.0]])
    array([1, 2])
    >>> import sympy
    >>> int(rank(fields, sympy.symbols("a b")))
    2
    """
    where = states(at)
    p = () if parameters is None else (parameters,)
    return joined(fields, where.shape[-1], parameters).columns([], where, *p).ranks(tolerance)


def involutivity(fields: Sequence[Text], at: ArrayLike, *, parameters: ArrayLike | None = None,
                 tolerance: float = TOLERANCE) -> Involutivity:
    """Involutivity of fields: tell if their brackets leave their span, at states (..., n) or at SymPy's symbols (n).

    >>> import numpy as np
    >>> print(involutivity([lambda x: [np.cos(x[2]), np.sin(x[2]), 0.0], lambda x: [0.0, 0.0, 1.0]], [0.1, 0.2, 0.3]))
    not involutive: [X1, X2] are new, rank 3 instead of 2
    >>> print(involutivity([lambda x: [-x[1], x[0], 0.0], lambda x: [0.0, -x[2], x[1]]], [0.1, 0.2, 0.3]))
    involutive, of rank 2: 1 functions do not change
    """
    where = states(at)
    p = () if parameters is None else (parameters,)
    m = len(fields)
    pairs = list(combinations(range(m), 2))
    together = joined(fields, where.shape[-1], parameters)
    here = together.columns(pairs, where, *p)
    looked = [here] if here.scales is None else [here, together.columns(pairs, nearby(where, _NEAR), *p).finite()]
    ranks = [columns.ranks(tolerance, range(m)) for columns in looked]
    leaving = tuple(pair for k, pair in enumerate(pairs)
                    if any((columns.ranks(tolerance, [*range(m), m + k]) > own).any()
                           for columns, own in zip(looked, ranks, strict=True)))
    return Involutivity(where.shape[-1], ranks[0], np.asarray(here.ranks(tolerance)), leaving,
                        int(max(own.max(initial=0) for own in ranks)))


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
    """The tried brackets that add to the rank, where it is largest."""
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
