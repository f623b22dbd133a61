"""Whether a change of state and feedback make a system x' = f(x) + g1(x) u1 + ... linear.

    Gk = span {L_f^j gi, j <= k};   linear, if G(n-1) has the rank n, and each Gk before is involutive, of constant rank
With one input this is Theorem 7 of Mladenova 7.5 (spec R-56): {g, ..., L_f^(n-1) g} independent, {g, ..., L_f^(n-2) g}
involutive, f(0) = 0. By how much each level adds to the rank the chains of integrators are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, Text
from cayley.geometry.vector_fields.brackets import checked_inputs
from cayley.geometry.vector_fields.fields import TOLERANCE, Bracket, Fields, joined, states


@dataclass(frozen=True, eq=False)
class Linearisability:
    """The verdict at each state (...); of symbols, at all states but special ones."""

    n: int
    ranks: Array
    """(levels, ...): of G0, G1, ..., to the first whose rank is n everywhere, or to G(n-1)."""
    involutive: Array
    """(levels, ...): whether brackets of each stay in it."""
    rests: bool
    """Whether f is zero at the equilibrium."""

    @property
    def is_controllable(self) -> Array:
        """(...): whether the last level has the rank n."""
        return self.ranks[-1] == self.n

    @property
    def holds(self) -> Array:
        """(...): whether the state has a neighbourhood in which the system can be made linear, as far as ranks at the
        states given tell."""
        constant = self.ranks == self.ranks.reshape(len(self.ranks), -1).max(axis=1).reshape(
            -1, *[1] * (self.ranks.ndim - 1))
        return self.is_controllable & (self.involutive & constant).all(axis=0)

    @property
    def is_linearisable(self) -> bool:
        """Whether it holds at all states, and f is zero at the equilibrium."""
        return bool(self.holds.all()) and self.rests

    @property
    def chains(self) -> tuple[int, ...]:
        """How many integrators follow one another in each chain, the longest first."""
        steps = np.diff(self.ranks.reshape(len(self.ranks), -1).max(axis=1), prepend=0)
        return tuple(int(np.count_nonzero(steps > k)) for k in range(int(steps[0])))

    def __str__(self) -> str:
        reached = self.ranks[-1].min()
        if reached < self.n:
            return f"not linear by feedback: brackets with the drift reach {reached} of {self.n} dimensions"
        if not self.holds.all():
            level = int(np.argmin(self.involutive.reshape(len(self.involutive), -1).all(axis=1)))
            return f"not linear by feedback: level {level} is not involutive, or of changing rank"
        rest = "" if self.rests else ", once the inputs hold it at the equilibrium, where f is not zero"
        return f"linear by feedback{rest}: chains of {', '.join(map(str, self.chains))} integrators"


def linearisability(f: Text, inputs: Sequence[Text], at: ArrayLike, *, parameters: ArrayLike | None = None,
                    equilibrium: ArrayLike | None = None, tolerance: float = TOLERANCE) -> Linearisability:
    """Whether feedback makes x' = f(x) + sum gi(x) ui linear near states (..., n), or at SymPy's symbols (n). The
    equilibrium (n) is 0, if nothing is said.

    >>> import numpy as np
    >>> print(linearisability(lambda x: [x[1], -np.sin(x[0])], [lambda x: [0.0, 1.0]], [0.3, 0.0]))
    linear by feedback: chains of 2 integrators
    """
    where = states(at)
    n = where.shape[-1]
    p = () if parameters is None else (parameters,)
    fields = joined([f, *checked_inputs(inputs)], n, parameters)
    rest = np.zeros(n) if equilibrium is None else np.asarray(equilibrium)
    chain: list[Bracket] = []
    level = list(range(1, fields.count))
    newest = level
    ranks = [fields.columns([], where, *p).ranks(tolerance, level)]
    involutive = [_stays(fields, chain, level, where, p, tolerance, ranks[-1])]
    while len(ranks) < n and (ranks[-1] < n).any():
        first = fields.count + len(chain)
        chain = [*chain, *[(0, place) for place in newest]]
        newest = list(range(first, first + len(newest)))
        level = [*level, *newest]
        ranks.append(fields.columns(chain, where, *p).ranks(tolerance, level))
        involutive.append(_stays(fields, chain, level, where, p, tolerance, ranks[-1]))
    return Linearisability(n, np.asarray(ranks), np.asarray(involutive), _rests(fields, where, rest, p, tolerance))


def _stays(fields: Fields, chain: Sequence[Bracket], level: Sequence[int], where: Array, p: tuple[ArrayLike, ...],
           tolerance: float, ranks: Array) -> Array:
    """Whether the brackets of a level stay in it, at each state; those of the full rank do, whatever they are."""
    if (ranks == fields.nv).all():
        return np.asarray(ranks == fields.nv)
    pairs = list(combinations(level, 2))
    columns = fields.columns([*chain, *pairs], where, *p)
    first = fields.count + len(chain)
    new = columns.ranks(tolerance, [*level, *range(first, first + len(pairs))])
    return np.asarray(new == ranks)


def _rests(fields: Fields, where: Array, equilibrium: Array, p: tuple[ArrayLike, ...], tolerance: float) -> bool:
    there = fields.columns([], equilibrium, *p).values[:, 0]
    if not isinstance(there, np.ndarray):
        return bool(there.applyfunc(lambda entry: entry.simplify()).is_zero_matrix)
    usual = 1.0 if where.dtype == object else np.abs(fields.columns([], where, *p).values[..., 0]).max(initial=1.0)
    return bool((np.abs(there) <= tolerance * usual).all())
