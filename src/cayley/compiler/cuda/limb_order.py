"""A program in an order in which one limb after another is done with: less is at hand at once.

The contact problem of a robot depends on all of its limbs, and so does most of what leads to it. But its sums have a
summand for each limb, and what comes from the states of one limb alone can be done with before the next one begins.
Summands are put together limb by limb, and operations in the order of the last limb that they come from; within it,
what sets most values free goes first. Sums whose last bit is seen stay as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush

import numpy as np

from cayley.compiler.native.schedule import schedule
from cayley.compiler.tracing.exact_values import visible
from cayley.compiler.tracing.graph import Graph, Node
from cayley.compiler.tracing.program import Program, build_unchanged

_SMALL = 0.02  # of all operations: what is too little for a limb
_LEFT_OUT = 30  # groups of states, at most
_SETS = 4000  # of states that are compared, at most
_SUMS = ("add", "subtract")

_Term = tuple[bool, Node]
"""A summand, and whether it is subtracted."""


def limb_by_limb(program: Program, states: Sequence[Node]) -> Program:
    """The same program, with its sums and operations in the order of the limbs that its states belong to."""
    given = _given(program.nodes, {node.index: 1 << k for k, node in enumerate(states)})
    limbs = _limbs(program.nodes, given)
    if len(limbs) < 2:
        return program
    program, met = _summed(program, {index: sum(1 << k for k, limb in enumerate(limbs) if limb & bits)
                                     for index, bits in given.items()})
    graph = Graph(strict=True)
    made: dict[int, Node] = {}
    for node in [*(n for n in program.nodes if not n.args), *_in_turn(program, met)]:
        made[node.index] = _made(node, graph, made)
    return _with(program, made)


def _given(nodes: Sequence[Node], states: dict[int, int]) -> dict[int, int]:
    """The states that a value comes from, as bits."""
    found: dict[int, int] = {}
    for node in nodes:
        bits = states.get(node.index, 0)
        for operand in node.args:
            bits |= found[operand.index]
        found[node.index] = bits
    return found


def _limbs(nodes: Sequence[Node], given: dict[int, int]) -> list[int]:
    """Sets of states that do not meet, of each of which enough is made alone. States that tie others together, as those
    of a base, belong to none: so many of them are left out that the most is made from one limb, without the largest."""
    costs = Counter(given[n.index] for n in nodes if n.args)
    ties = _ties(costs)
    left = sum(1 << k for k in range(len(ties)))
    best: list[int] = []
    most = 0
    for several in sorted(set(ties), reverse=True)[:_LEFT_OUT]:
        limbs = _apart(costs, left)
        alone = [sum(n for own, n in costs.items() if own & limb and not own & (sum(limbs) ^ limb)) for limb in limbs]
        if sum(alone) - max(alone, default=0) > most:
            best, most = limbs, sum(alone) - max(alone)
        left &= ~sum(1 << k for k, count in enumerate(ties) if count == several)
    return best


def _ties(costs: Counter[int]) -> list[int]:
    """For each state, how often it is in two sets of states of which neither lies within the other."""
    sets = [each for each, _ in costs.most_common(_SETS)]
    S = np.array([[each >> k & 1 for k in range(max(costs, default=0).bit_length())] for each in sets], np.float32)
    size = S.sum(axis=1)
    common = S @ S.T
    crossing = (common > 0) & (common < np.minimum(size[:, None], size))
    return ((crossing.astype(np.float32) @ S) * S).sum(axis=0).astype(int).tolist()


def _apart(costs: Counter[int], left: int) -> list[int]:
    """The parts that states fall into if what is made from several of them, of each of which enough is made alone, does
    not hold them together."""
    own: Counter[int] = Counter()
    for each, count in costs.items():
        own[each & left] += count
    enough = _SMALL * sum(costs.values())
    alone: dict[int, int] = {}  # how much is made from each part
    for each in sorted(own.keys() - {0}, key=lambda each: (each.bit_count(), each)):
        touched = [part for part in alone if part & each]
        if sum(alone[part] > enough for part in touched) < 2:
            merged, count = each, own[each]
            for part in touched:
                merged, count = merged | part, count + alone.pop(part)
            alone[merged] = count
    return sorted(part for part, count in alone.items() if count > enough)


def _summed(program: Program, masks: dict[int, int]) -> tuple[Program, dict[int, int]]:
    """The program whose sums have their summands limb by limb, and the limbs that its values come from."""
    uses, seen = program.uses(), visible(program)
    held = {node.index for node in program.results}
    users = {a.index: n for n in program.nodes for a in n.args}
    inner = {n.index for n in program.nodes if n.op in _SUMS and uses[n.index] == 1 and n.index not in held | seen
             and users[n.index].op in _SUMS and users[n.index].index not in seen}
    graph = Graph(strict=True)
    made: dict[int, Node] = {}
    found: dict[int, int] = {}

    def terms(node: Node, minus: bool) -> list[_Term]:
        pairs = [(minus ^ (place == 1 and node.op == "subtract"), a) for place, a in enumerate(node.args)]
        return [term for sign, a in pairs for term in (terms(a, sign) if a.index in inner else [(sign, a)])]

    def whole(parts: Sequence[_Term]) -> _Term:
        """The sum of some terms, subtracted as a whole if all of them are."""
        minus, total = parts[0]
        for sign, node in parts[1:]:
            own = found[total.index] | found[node.index]
            if minus and not sign:
                minus, total = False, graph.node("subtract", node, total)
            else:
                total = graph.node("add" if sign == minus else "subtract", total, node)
            found[total.index] = own
        return minus, total

    for node in program.nodes:
        if node.index in inner:
            continue
        if node.op in _SUMS and any(a.index in inner for a in node.args):
            groups: dict[int, list[_Term]] = {}
            for minus, a in terms(node, False):
                groups.setdefault(masks[a.index], []).append((minus, made[a.index]))
            minus, total = whole([whole(groups[own]) for own in sorted(groups, key=lambda own: (own.bit_count() > 1,
                                                                                                own))])
            made[node.index] = graph.node("negative", total) if minus else total
        else:
            made[node.index] = _made(node, graph, made)
        found[made[node.index].index] = masks[node.index]
    return _with(program, made), found


def _made(node: Node, graph: Graph, made: Mapping[int, Node]) -> Node:
    if node.op == "constant":
        return graph.constant(node.value)
    return build_unchanged(node, [made[a.index] for a in node.args]) if node.args else graph.input(str(node.index))


def _with(program: Program, made: Mapping[int, Node]) -> Program:
    inputs, outputs = (tuple(replace(v, nodes=tuple(made[n.index] for n in v.nodes)) for v in side)
                       for side in (program.inputs, program.outputs))
    return replace(program, inputs=inputs, outputs=outputs)


def _in_turn(program: Program, met: Mapping[int, int]) -> list[Node]:
    """The operations, operands first."""
    nodes = {n.index: n for n in program.nodes if n.args}
    operands = {index: {a.index for a in n.args if a.args} for index, n in nodes.items()}
    users: dict[int, set[int]] = {index: set() for index in nodes}
    for index, needed in operands.items():
        for each in needed:
            users[each].add(index)
    turns: dict[int, int] = {}
    for index in reversed(nodes):  # what comes from no limb has the turn of the first that needs it
        turns[index] = met[index].bit_length() or min((turns[user] for user in users[index]), default=0)
    place = {node.index: k for k, node in enumerate(schedule(program))}
    held = {node.index for node in program.results}
    left = {index: set(own) for index, own in users.items()}
    waits = {index: len(needed) for index, needed in operands.items()}

    def key(index: int) -> tuple[int, int, int, int]:
        freed = sum(left[each] == {index} and each not in held for each in operands[index])
        return turns[index], -freed, place[index], index

    ready = [key(index) for index in nodes if not waits[index]]
    heapify(ready)
    done: dict[int, Node] = {}
    while ready:
        index = heappop(ready)[-1]
        if index in done:  # it was there more than once, as its key became smaller
            continue
        done[index] = nodes[index]
        for each in operands[index]:
            left[each].discard(index)
            ready_last = [last for last in left[each] if len(left[each]) == 1 and not waits[last]]
            for last in ready_last:
                heappush(ready, key(last))
        for user in users[index]:
            waits[user] -= 1
            if not waits[user]:
                heappush(ready, key(user))
    return list(done.values())
