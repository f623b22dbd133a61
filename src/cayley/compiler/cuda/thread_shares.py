"""A program shared among threads: which thread computes what, and in which turn.

In the step of a mechanism of several limbs, most of what is computed belongs to one limb: it comes from the state of
that limb alone, or is for it alone. The rest is the trunk's. Limbs are found in the graph, not in the mechanism: the
results that a value reaches are those of a body and all that hang on it, and such sets lie within one another as the
bodies hang together. Threads hand values over between phases, at the end of which each waits for all others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cayley.compiler.tracing.graph import Node

Limbs = dict[int, int]
"""Sets of results, as bits, that lie within one another or do not meet, and the part that each is."""

Kind = tuple[int, int]
"""The states that a value comes from and the results that need it."""

TRUNK = 0
_UPDATE = 10  # more operations than are needed to make a step of a joint from its acceleration
_COST = {"sin": 12, "cos": 12, "sqrt": 8, "divide": 8}


class Grain(NamedTuple):
    """The grain of a division of a program: less than how many limbs, and what is too small for a part, or to be looked
    at, as a share of all."""

    most: int
    small: float
    twig: float


COARSE = Grain(5, 0.05, 0.03)  # where what is handed over goes through memory
FINE = Grain(16, 0.02, 0.01)  # where it stays in registers


@dataclass(frozen=True)
class Shares:
    """The part that a value belongs to and the phase in which it is computed, by the index of its node."""

    part: Mapping[int, int]
    phase: Mapping[int, int]
    owners: tuple[int, ...]  # of the results
    parts: int
    phases: int


def shared(nodes: Sequence[Node], results: Sequence[Node], states: Mapping[int, int],
           grain: Grain = FINE) -> Shares:
    """Shares of a program of these nodes, operands first. `states` gives the result that feeds an input, by index."""
    reached = _reached(nodes, results)
    given = _given(nodes, states)
    family = _nested({reached[n.index] for n in nodes if n.args})
    whole = max(family, key=int.bit_count, default=0)
    kinds = {n.index: (given[n.index], reached[n.index] & whole) for n in nodes}
    limbs = _limbs(nodes, kinds, family, grain)
    part = {n.index: _part(limbs, *kinds[n.index]) for n in nodes if n.args or n.index in states}
    owners = tuple(part[r.index] if r.args else _part(limbs, 1 << k, 1 << k) for k, r in enumerate(results))
    part.update((node, owners[k]) for node, k in states.items())
    phase = _phases(nodes, part)
    late = max((phase[r.index] + (part[r.index] != owner) for r, owner in zip(results, owners, strict=True)
                if r.index in part), default=0)
    return Shares(part, phase, owners, 1 + max(limbs.values(), default=0), 1 + max([late, *phase.values()]))


def _reached(nodes: Sequence[Node], results: Sequence[Node]) -> dict[int, int]:
    """The results that need a value, as bits."""
    found = {n.index: 0 for n in nodes}
    for k, node in enumerate(results):
        found[node.index] |= 1 << k
    for node in reversed(nodes):
        for operand in node.args:
            found[operand.index] |= found[node.index]
    return found


def _given(nodes: Sequence[Node], states: Mapping[int, int]) -> dict[int, int]:
    """The states that a value comes from, as bits of the results that feed them."""
    found: dict[int, int] = {}
    for node in nodes:
        bits = 1 << states[node.index] if node.index in states else 0
        for operand in node.args:
            bits |= found[operand.index]
        found[node.index] = bits
    return found


def _part(limbs: Limbs, given: int, reached: int) -> int:
    """The part of the limb that a value is made from, together with those that it depends on, or else is for; of two,
    the smaller. What is made from several that hang on one is that one's."""
    touched = [limb for limb in limbs if limb & given]
    ends = [limb for limb in touched if not any(other != limb and other & limb == other for other in touched)]
    from_states = ends[0] if len(ends) == 1 else _around(limbs, _union(ends))
    for_results = _around(limbs, reached)
    smaller = min((limb for limb in (from_states, for_results) if limb), key=int.bit_count, default=0)
    return limbs.get(smaller, TRUNK)


def _around(limbs: Limbs, results: int) -> int:
    """The smallest limb that holds them all; 0 if none does."""
    return min((limb for limb in limbs if results and not results & ~limb), key=int.bit_count, default=0)


def _union(sets: Iterable[int]) -> int:
    found = 0
    for each in sets:
        found |= each
    return found


def _limbs(nodes: Sequence[Node], kinds: Mapping[int, Kind], family: set[int], grain: Grain) -> Limbs:
    """A limb, at first the whole, is cut from those that hang on it as long as no share becomes larger by that than
    the largest."""
    costs: dict[Kind, int] = {}
    for node in (n for n in nodes if n.args):
        costs[kinds[node.index]] = costs.get(kinds[node.index], 0) + _COST.get(node.op, 1)
    whole = max(family, key=int.bit_count, default=0)
    total = sum(cost for (_, reached), cost in costs.items() if reached != whole)
    limbs: Limbs = {}
    uncut = [whole]
    while uncut:
        cut = uncut.pop(0)
        tried = _without_stumps(costs, {**limbs, **_cut(costs, cut, family, total, limbs, grain)}, grain)
        if max(tried.values(), default=0) < grain.most and max(_shares(costs, tried)) <= max(_shares(costs, limbs)):
            uncut += [limb for limb in tried if limb not in limbs]
            limbs = tried
    return limbs


def _cut(costs: Mapping[Kind, int], limb: int, family: Iterable[int], total: int, limbs: Limbs,
         grain: Grain) -> Limbs:
    """The operations that depend on a limb, cut into as few parts as are no larger than the limb without them."""
    branches = _branches(costs, limb, family, grain.twig * total)
    first = 1 + max(limbs.values(), default=0)
    shares = _shares(costs, limbs | {branch: number for number, branch in enumerate(branches, first)})
    room = max([shares[limbs.get(limb, TRUNK)], *shares[first:]])
    bundles: list[tuple[int, list[int]]] = []
    for size, branch in sorted(zip(shares[first:], branches, strict=True), reverse=True):
        place = next((k for k, (held, _) in enumerate(bundles) if held + size <= room), None)
        if place is None:
            bundles.append((size, [branch]))
        else:
            bundles[place] = bundles[place][0] + size, [*bundles[place][1], branch]
    worth = [bundle for held, bundle in bundles if held > grain.small * sum(shares)]
    return {branch: number for number, bundle in enumerate(worth, first) for branch in bundle}


def _without_stumps(costs: Mapping[Kind, int], limbs: Limbs, grain: Grain) -> Limbs:
    """Parts of which little is left are given to what they hang on; the others are numbered anew."""
    shares = _shares(costs, limbs)
    kept = sorted({number for number in limbs.values() if shares[number] > grain.small * sum(shares)})
    return {limb: 1 + kept.index(number) for limb, number in limbs.items() if number in kept}


def _shares(costs: Mapping[Kind, int], limbs: Limbs) -> list[int]:
    found = [0] * (1 + max(limbs.values(), default=0))
    for kind, cost in costs.items():
        found[_part(limbs, *kind)] += cost
    return found


def _alone(costs: Mapping[Kind, int], limb: int) -> int:
    """The cost of what is for the results of a limb alone."""
    return sum(cost for (_, reached), cost in costs.items() if reached & limb and not reached & ~limb)


def _branches(costs: Mapping[Kind, int], limb: int, family: Iterable[int], twig: float) -> list[int]:
    """The largest sets within one that do not meet, where there is more than one for the first time that counts."""
    within = limb
    while True:
        found: list[int] = []
        for each in sorted((s for s in family if s & within == s and s != within), key=int.bit_count, reverse=True):
            if not any(each & other for other in found):
                found.append(each)
        found = [each for each in found if _alone(costs, each) > max(_UPDATE, twig)]
        if len(found) != 1:
            return found
        within = found[0]


def _nested(sets: set[int]) -> set[int]:
    """The sets without the results, such as the work of all joints, that are in two of which neither lies within the
    other."""
    while True:
        crossing: dict[int, int] = {}
        every = sorted(sets, key=int.bit_count)
        for place, small in enumerate(every):
            for large in every[place + 1:]:
                both = small & large
                if both and both != small:
                    for bit in _bits(both):
                        crossing[bit] = crossing.get(bit, 0) + 1
        if not crossing:
            return sets
        worst = max(crossing, key=crossing.__getitem__)
        sets = {s & ~(1 << worst) for s in sets} - {0}


def _bits(mask: int) -> list[int]:
    return [k for k in range(mask.bit_length()) if mask >> k & 1]


def _phases(nodes: Sequence[Node], part: Mapping[int, int]) -> dict[int, int]:
    """The phases, as early as values that are handed over allow, and then as late as those allow that need them: little
    is kept for long."""
    early: dict[int, int] = {}
    late: dict[int, int] = {}
    for node in nodes:
        if node.index in part:
            early[node.index] = max((early[a.index] + (part[a.index] != part[node.index]) for a in node.args
                                     if a.index in part), default=0)
    for node in reversed(nodes):
        if node.index in part:
            own = late.get(node.index, early[node.index]) if node.args else early[node.index]
            late[node.index] = own
            for a in node.args:
                if a.index in part:
                    limit = own - (part[a.index] != part[node.index])
                    late[a.index] = min(late.get(a.index, limit), limit)
    return late
