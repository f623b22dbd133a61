"""The rank of a distribution, whether it is involutive, and what Frobenius' theorem then says.

    involutive:  rank [X1 .. Xm] = rank [X1 .. Xm, [Xi, Xj]] for all pairs, here and near
An involutive distribution of constant rank r is tangent to surfaces of dimension r through every state, the level
surfaces of n - r functions. Where the rank is less than near, a singular state, it says nothing.
Source: Mladenova 7.5, appendix, spec R-56.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, Text
from cayley.geometry.vector_fields.fields import TOLERANCE, joined, nearby, states

_NEAR = 6  # states at which it is looked beside those given


@dataclass(frozen=True, eq=False)
class Involutivity:
    """What brackets add to fields at each state (...); of symbols, at all states but special ones."""

    n: int
    ranks: Array
    with_brackets: Array
    leaving: tuple[tuple[int, int], ...]
    """The pairs of fields, by their places, whose bracket leaves the distribution at some state, or near one."""
    near: int
    """The rank at states near those looked at, which have nothing special about them."""

    @property
    def is_involutive(self) -> bool:
        """Whether no bracket is new at any state, nor near."""
        return not self.leaving

    @property
    def has_constant_rank(self) -> bool:
        """Whether the rank is the same at all states looked at, and near them."""
        return bool((self.ranks == self.near).all())

    @property
    def is_integrable(self) -> bool:
        """Frobenius: whether there are surfaces that the fields are tangent to, of the dimension of their rank."""
        return self.is_involutive and self.has_constant_rank

    @property
    def functions(self) -> int:
        """How many independent functions there are that do not change along the fields, if it is integrable."""
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
    """Whether the brackets of fields lead out of what they span, at states (..., n) or at SymPy's symbols (n).

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
