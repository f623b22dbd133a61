"""The Lie algebra that a control system x' = f(x) + g1(x) u1 + ... generates, and how far it reaches from states.

    L1 = {f, g1, ...},   L(k+1) = Lk + [L1, Lk]
A bracket is kept unless it is a combination, with constant coefficients, of those kept before: at special states, where
f is zero or fields are parallel, brackets tell what fields do not, and those of a finite algebra come to an end. With
the rank n a system is accessible: what it reaches has an inside. Without f itself the rank says whether it has one at
each time. Source: Mladenova 7.5, spec R-56.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, Text
from cayley.errors import SignatureError
from cayley.geometry.vector_fields.brackets import checked_inputs
from cayley.geometry.vector_fields.fields import TOLERANCE, Bracket, Columns, Fields, joined, states

_SPREAD = 0.7  # of states that have nothing special about them, about those given


@dataclass(frozen=True, eq=False)
class ControllabilityAlgebra:
    """What brackets of the drift, field 0, and of the inputs span at each state (...)."""

    n: int
    brackets: tuple[Bracket, ...]
    """Those kept, of two fields by their places; the first has the place after the last input."""
    growth: Array
    """The ranks (depths, ...) of the fields, of these with their brackets, and so on."""
    strong_ranks: Array
    """The ranks (...) without the drift itself."""
    dimension: int | None
    """How many fields, combined with constant coefficients, the algebra consists of; None if it did not end."""

    @property
    def ranks(self) -> Array:
        """The ranks (...) of all brackets found."""
        return self.growth[-1]

    @property
    def is_accessible(self) -> bool:
        """Whether the rank is n at all states."""
        return bool((self.ranks == self.n).all())

    @property
    def is_strongly_accessible(self) -> bool:
        """Whether it is n without the drift as well."""
        return bool((self.strong_ranks == self.n).all())


def controllability_algebra(f: Text, inputs: Sequence[Text], at: ArrayLike, *, parameters: ArrayLike | None = None,
                            tolerance: float = TOLERANCE, depth: int | None = None) -> ControllabilityAlgebra:
    """The algebra of a drift and the fields of inputs, at states (..., n) or at SymPy's symbols (n): to brackets of
    `depth` fields, unless the algebra ends before; of at most n, and until the rank is n, if nothing is said.

    >>> import numpy as np
    >>> car = controllability_algebra(lambda x: [0.0, 0.0, 0.0], [lambda x: [np.cos(x[2]), np.sin(x[2]), 0.0],
    ...                                                           lambda x: [0.0, 0.0, 1.0]], np.zeros(3))
    >>> car.growth, car.is_accessible
    (array([2, 3]), True)
    """
    where = states(at)
    n = where.shape[-1]
    if depth is not None and depth < 1:
        raise SignatureError(f"brackets are of 1 field or more, not of {depth}")
    fields = joined([f, *checked_inputs(inputs)], n, parameters)
    search = _Search(fields, where, () if parameters is None else (parameters,), tolerance)
    kept = list(range(fields.count))  # places of fields and brackets that are independent
    newest = search.independent([], kept)
    brackets: list[Bracket] = []
    growth = [search.ranks(brackets)]
    while newest and len(growth) < (depth or n) and (depth is not None or (growth[-1] < n).any()):
        tried = [(x, z) for x in range(fields.count) for z in newest if z > x]
        first = fields.count + len(brackets)
        new = search.independent([*brackets, *tried], range(first, first + len(tried)))
        brackets += [tried[place - first] for place in new]
        newest = list(range(first, first + len(new)))
        growth.append(search.ranks(brackets))
    if len(growth) > 1 and not newest:
        growth.pop()
    alone = search.ranks(brackets, range(1, fields.count + len(brackets)))
    ended = None if newest else len(search.independent([], kept)) + len(brackets)
    return ControllabilityAlgebra(n, tuple(brackets), np.asarray(growth), alone, ended)


@dataclass(frozen=True, eq=False)
class _Search:
    """Where brackets are looked at, and what counts as new there."""

    fields: Fields
    at: Array
    parameters: tuple[ArrayLike, ...]
    tolerance: float

    def columns(self, brackets: Sequence[Bracket]) -> Columns:
        return self.fields.columns(brackets, self.at, *self.parameters)

    def ranks(self, brackets: Sequence[Bracket], chosen: Sequence[int] | None = None) -> Array:
        return self.columns(brackets).ranks(self.tolerance, chosen)

    def independent(self, brackets: Sequence[Bracket], tried: Sequence[int]) -> list[int]:
        """Those of the last places that are no combinations of the ones before them: with constant coefficients, or,
        of symbols, with functions as coefficients."""
        if self.at.dtype == object:
            return self._by_rank(brackets, tried)
        values = self._everywhere(brackets)
        kept: list[int] = []
        basis: list[Array] = []
        for place in range(values.shape[1]):
            column = values[:, place]
            size = float(np.linalg.norm(column))
            for _ in range(2):  # once more takes away what rounding left
                for direction in basis:
                    column = column - direction * (direction @ column)
            rest = np.linalg.norm(column)
            if rest > self.tolerance * max(size, self._floor(values)):
                basis.append(column / rest)
                kept.append(place)
        return [place for place in kept if place in tried]

    def _by_rank(self, brackets: Sequence[Bracket], tried: Sequence[int]) -> list[int]:
        columns = self.columns(brackets)
        kept: list[int] = []
        for place in range(self.fields.count + len(brackets)):
            if columns.ranks(self.tolerance, [*kept, place]) > len(kept):
                kept.append(place)
        return [place for place in kept if place in tried]

    def _everywhere(self, brackets: Sequence[Bracket]) -> Array:
        """The fields as long columns (states n, m): at the states given, and at others near them."""
        given = self.at.reshape(-1, self.at.shape[-1])
        count = 4 + 2 * (self.fields.count + len(brackets)) // self.fields.nv
        around = np.repeat(given, -(-count // max(len(given), 1)), axis=0)
        spread = _SPREAD * np.maximum(1.0, np.abs(around))
        others = around + spread * np.random.default_rng(0).normal(size=around.shape)
        values = self.fields.columns(brackets, np.concatenate([given, others]), *self.parameters).values
        return np.concatenate(values[np.isfinite(values).all(axis=(-2, -1))])

    def _floor(self, values: Array) -> float:
        sizes = np.linalg.norm(values[:, :self.fields.count], axis=0)
        return float(min(sizes[sizes > 0], default=0.0))
