"""The Lie algebra that a control system x' = f(x) + g1(x) u1 + ... generates, and how far it reaches from states.

    L1 = {f, g1, ...},   L(k+1) = Lk + [L1, Lk]
A bracket is kept unless it is a combination, with constant coefficients, of those kept before: at special states, where
f is zero or fields are parallel, brackets tell what fields do not, and those of a finite algebra come to an end. With
the rank n a system is accessible: what it reaches has an inside. Without f itself the rank says whether it has one at
each time. Source: Mladenova 7.5, spec R-56."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, Text
from cayley.errors import SignatureError
from cayley.geometry.vector_fields.brackets import checked_inputs
from cayley.geometry.vector_fields.fields import TOLERANCE, Bracket, Columns, Fields, joined, nearby, states

_NEAR = 4  # states at which it is looked beside those given


@dataclass(frozen=True, eq=False)
class ControllabilityAlgebra:
    """The span of brackets of the drift, field 0, and of the inputs at each state (...)."""

    n: int
    brackets: tuple[Bracket, ...]
    """Those kept, of two fields by their places; the first has the place after the last input."""
    growth: Array
    """The ranks (depths, ...) of the fields, of these with their brackets, and so on."""
    strong_ranks: Array
    """The ranks (...) without the drift itself."""
    dimension: int | None
    """How many fields, combined with constant coefficients, the algebra consists of; None if it did not end."""
    near: tuple[int, int]
    """The largest ranks that brackets of any depth have near the states, with and without the drift: no state has a
    larger one."""

    @property
    def ranks(self) -> Array:
        """The ranks (...) of all brackets found."""
        return self.growth[-1]

    @property
    def is_accessible(self) -> bool | None:
        """True if the rank is n at all states; None where that is not known: at a singular state, which has not all of
        the rank that states near it have, and at which deeper brackets may bring the rest (`depth`)."""
        return self._is_full(self.ranks, self.near[0])

    @property
    def is_strongly_accessible(self) -> bool | None:
        """True if the rank is n without the drift as well; None where that is not known."""
        return self._is_full(self.strong_ranks, self.near[1])

    def _is_full(self, ranks: Array, near: int) -> bool | None:
        if (ranks == self.n).all():
            return True
        return False if self.dimension is not None or near < self.n else None


def controllability_algebra(f: Text, inputs: Sequence[Text], at: ArrayLike, *, parameters: ArrayLike | None = None,
                            tolerance: float = TOLERANCE, depth: int | None = None) -> ControllabilityAlgebra:
    """The algebra of a drift and the fields of inputs, at states (..., n) or at SymPy's symbols (n): to brackets of
    `depth` fields, unless the algebra ends before. By default until the rank is n, with and without the drift, or
    cannot be: with brackets of at most n fields, or 2 n + 2 at singular states, which have a larger rank nearby.

    >>> import numpy as np
    >>> car = controllability_algebra(lambda x: [0.0, 0.0, 0.0], [lambda x: [np.cos(x[2]), np.sin(x[2]), 0.0],
    ...                                                           lambda x: [0.0, 0.0, 1.0]], np.zeros(3))
    >>> car.growth, car.is_accessible
    (array([2, 3]), True)
    """
    where = states(at)
    if depth is not None and depth < 1:
        raise SignatureError(f"brackets are of 1 field or more, not of {depth}")
    fields = joined([f, *checked_inputs(inputs)], where.shape[-1], parameters)
    return generated_algebra(fields, where, () if parameters is None else (parameters,), tolerance, depth)


def generated_algebra(fields: Fields, where: Array, parameters: tuple[ArrayLike, ...], tolerance: float,
                      depth: int | None) -> ControllabilityAlgebra:
    """The same of fields, the first of which is the drift."""
    n = fields.nv
    search = _Search(fields, where, parameters, tolerance)
    newest = search.independent([], range(fields.count))
    brackets: list[Bracket] = []
    growth = [search.ranks(brackets)]
    strong = search.ranks(brackets, range(1, fields.count))

    def goes_on() -> bool:
        if depth is not None:
            return len(growth) < depth
        short, strongly_short = bool((growth[-1] < n).any()), bool((strong < n).any())
        may_grow = short and (len(growth) < n or search.near[0] == n)
        return len(growth) < 2 * n + 2 and (may_grow or (strongly_short and search.near[1] == n))

    while newest and goes_on():
        tried = [(x, z) for x in range(fields.count) for z in newest if z > x]
        first = fields.count + len(brackets)
        new = search.independent([*brackets, *tried], range(first, first + len(tried)))
        brackets += [tried[place - first] for place in new]
        newest = list(range(first, first + len(new)))
        growth.append(search.ranks(brackets))
        strong = search.ranks(brackets, range(1, fields.count + len(brackets)))
    if len(growth) > 1 and not newest:
        growth.pop()
    ended = None if newest else len(search.independent(brackets, range(fields.count + len(brackets)), besides=()))
    full = bool((growth[-1] == n).all() and (strong == n).all())
    return ControllabilityAlgebra(n, tuple(brackets), np.asarray(growth), strong, ended,
                                  (n, n) if full else search.near)


@dataclass(frozen=True, eq=False)
class _Search:
    """The states at which brackets are looked at, and what counts as new there."""

    fields: Fields
    at: Array
    parameters: tuple[ArrayLike, ...]
    tolerance: float

    def columns(self, brackets: Sequence[Bracket]) -> Columns:
        return self.fields.columns(brackets, self.at, *self.parameters)

    def ranks(self, brackets: Sequence[Bracket], chosen: Sequence[int] | None = None) -> Array:
        return self.columns(brackets).ranks(self.tolerance, chosen)

    def independent(self, brackets: Sequence[Bracket], tried: Sequence[int], besides: Sequence[int] = (0,)
                    ) -> list[int]:
        """The last places that are no combinations of the ones before them, `besides` the drift, which is no
        part of the algebra without it: with constant coefficients, or, of symbols, with functions as coefficients."""
        if self.at.dtype == object:
            return self._by_rank(brackets, tried, besides)
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
                basis += [] if place in besides else [column / rest]
                kept.append(place)
        return [place for place in kept if place in tried]

    def _by_rank(self, brackets: Sequence[Bracket], tried: Sequence[int], besides: Sequence[int]) -> list[int]:
        columns = self.columns(brackets)
        kept: list[int] = []
        basis: list[int] = []
        for place in range(self.fields.count + len(brackets)):
            if columns.ranks(self.tolerance, [*basis, place]) > len(basis):
                basis += [] if place in besides else [place]
                kept.append(place)
        return [place for place in kept if place in tried]

    @cached_property
    def near(self) -> tuple[int, int]:
        """The ranks at ordinary states, with and without the drift; of symbols n, as their brackets come to an end."""
        if self.at.dtype == object:
            return self.fields.nv, self.fields.nv
        return self._closed(range(self.fields.count)), self._closed(range(1, self.fields.count))

    def _closed(self, first: Sequence[int]) -> int:
        """The rank near the states of the smallest distribution with the first fields and their brackets with all."""
        around = nearby(self.at, _NEAR)
        brackets: list[Bracket] = []
        kept: list[int] = []
        rank, newest = 0, list(first)
        while newest and rank < self.fields.nv:
            columns = self.fields.columns(brackets, around, *self.parameters).finite()
            if not len(columns.values):
                return self.fields.nv  # not known
            new = []
            for place in newest:
                found = int(columns.ranks(self.tolerance, [*kept, place]).max(initial=0))
                if found > rank:
                    rank = found
                    kept.append(place)
                    new.append(place)
            start = self.fields.count + len(brackets)
            brackets += [(x, z) for x in range(self.fields.count) for z in new if x != z]
            newest = list(range(start, self.fields.count + len(brackets)))
        return rank

    def _everywhere(self, brackets: Sequence[Bracket]) -> Array:
        """The fields as long columns (states n, m): at the states given, and at others near them."""
        given = self.at.reshape(-1, self.at.shape[-1])
        count = 4 + 2 * (self.fields.count + len(brackets)) // self.fields.nv
        together = np.concatenate([given, nearby(given, count)])
        return np.concatenate(self.fields.columns(brackets, together, *self.parameters).finite().values)

    def _floor(self, values: Array) -> float:
        sizes = np.linalg.norm(values[:, :self.fields.count], axis=0)
        return float(min(sizes[sizes > 0], default=0.0))
