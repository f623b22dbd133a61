"""The statements of an iteration as CUDA, limb by limb: one thread a trajectory, which computes again what it would
have to keep.

A stretch is what a part of a program (see `shares`) does in one phase. Between stretches only that is kept which one
part hands to another; what a part needs of its own earlier phases it makes once more from its state. The state lies in
shared memory, and each stretch reads it anew: a compiler that could see that nothing has changed would keep everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cayley.compiler.c_expressions import WHOLE, Dialect, Text
from cayley.compiler.c_loops import Loops, Place
from cayley.compiler.cuda_shares import SharedProgram, computed
from cayley.compiler.graph import Node
from cayley.compiler.iteration import Plan
from cayley.compiler.names import free_prefix

THREADS = 128  # of a block, at most


@dataclass(frozen=True)
class Stretch:
    """What is computed together: values that are new, and with them those that were forgotten, operands first."""

    nodes: tuple[Node, ...]
    new: frozenset[int]

    @property
    def inputs(self) -> list[int]:
        return sorted({a.index for n in self.nodes for a in n.args if not a.args and a.op != "constant"})


def stretches(stage: SharedProgram) -> list[Stretch]:
    """In an order in which each comes as late as those allow that need it: little is kept for long."""
    shares = stage.shares
    nodes = [n for n in stage.program.nodes if n.args]
    turn = {n.index: (shares.phase[n.index], shares.part[n.index]) for n in nodes}
    needs: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for n in nodes:
        needs.setdefault(turn[n.index], set()).update(turn[a.index] for a in n.args if a.args)
    order: dict[tuple[int, int], int] = {}

    def visit(each: tuple[int, int]) -> None:
        for other in sorted(needs[each] - {each}):
            if other not in order:
                visit(other)
        order.setdefault(each, len(order))

    for each in sorted(needs, reverse=True):
        visit(each)
    kept = handed_over(stage)
    found = []
    for each in order:
        wanted = {n.index for n in nodes if turn[n.index] == each}
        new = frozenset(wanted)
        for n in reversed(nodes):
            if n.index in wanted:
                wanted.update(a.index for a in n.args
                              if a.args and not (a.index in kept and order[turn[a.index]] < order[each]))
        found.append(Stretch(tuple(n for n in nodes if n.index in wanted), new))
    return found


def handed_over(stage: SharedProgram) -> set[int]:
    """The values that are not forgotten."""
    return {value for _, value in stage.loads} | {n.index for n in stage.program.results}


def limb_memory(stage: SharedProgram, plan: Plan, precision: str) -> int:
    """In bytes, for the states of a block."""
    held = sum(len(stage.whole.inputs[before].nodes) for _, before in plan.feeds)
    return held * THREADS * (8 if precision == "double" else 4)


def limb_statements(stage: SharedProgram, plan: Plan, dialect: Dialect, inputs: Sequence[Place],
                    outputs: Sequence[Place], *, taken: set[str], helper: str) -> list[str]:
    """All that a thread does once it knows its trajectory."""
    return [f"extern __shared__ volatile {dialect.real} handed[];",
            *_LimbByLimb(stage, plan, dialect, inputs, outputs, taken, helper).lines]


class _LimbByLimb(Loops):
    """The loops with states in shared memory."""

    def __init__(self, stage: SharedProgram, plan: Plan, dialect: Dialect, inputs: Sequence[Place],
                 outputs: Sequence[Place], taken: set[str], helper: str) -> None:
        self._shared = stage
        super().__init__(stage.whole, plan, dialect, inputs, outputs, taken, helper, "long long")

    def _variables_of_outputs(self, outputs: Sequence[Place]) -> dict[int, list[str]]:
        first = 0
        for _, before in self.plan.feeds:
            count = len(self.program.inputs[before].nodes)
            self._locals[before] = [f"handed[{(first + k) * THREADS} + threadIdx.x]" for k in range(count)]
            first += count
        return super()._variables_of_outputs(outputs)

    def _read(self, moves: tuple[int, ...]) -> list[str]:
        """The states. All else is read where it is needed."""
        return [f"{name} = {self.inputs[place].at(k)};" for place in self.plan.fed if self.plan.moves[place] == moves
                for k, name in enumerate(self._locals[place]) if self._is_read(place, k)]

    def _stage(self) -> list[str]:
        """A state changes once it is not read again."""
        kept = handed_over(self._shared)
        parts = stretches(self._shared)
        last = {value: number for number, part in enumerate(parts) for value in part.inputs}
        prefix = free_prefix(self._taken)
        texts: dict[int, Text] = {}
        results = list(zip(self._shared.elements, self._shared.program.results, strict=True))
        lines, late = self._without_operations(results, prefix)
        for number, part in enumerate(parts):
            for value in part.inputs:
                texts[value] = Text(f"{prefix}{number}_{value}", WHOLE)
                lines.append(f"const {self.dialect.real} {texts[value].code} = {self._anew(value)};")
            made, named = computed(part.nodes, [n for n in part.nodes if n.index in part.new & kept], texts,
                                   self.dialect, f"{prefix}{number}_t", self._helper)
            lines += made
            texts.update(named)
            for element, node in results:
                if node.index in part.new:
                    read_later = any(last.get(state, -1) > number for state in self._states_of(*element))
                    (late if read_later else lines).extend(self._changes(*element, texts[node.index]))
        return lines + late

    def _without_operations(self, results: Sequence[tuple[tuple[int, int], Node]], prefix: str) -> tuple[
            list[str], list[str]]:
        """For results that are states or numbers, what is read before all else and what changes after all else."""
        first = []
        late = []
        for element, node in results:
            if node.op == "constant":
                late += self._changes(*element, Text(self.dialect.number(node.value), WHOLE))
            elif not node.args:
                value = Text(f"{prefix}_{element[0]}_{element[1]}", WHOLE)
                first.append(f"const {self.dialect.real} {value.code} = {self._anew(node.index)};")
                late += self._changes(*element, value)
        return first, late

    def _states_of(self, place: int, element: int) -> list[int]:
        return [self.program.inputs[before].nodes[element].index for after, before in self.plan.feeds if after == place]

    def _anew(self, value: int) -> str:
        """An input in memory, in a way that no compiler takes for what it has read before."""
        place, k = next((place, k) for place, v in enumerate(self.program.inputs) for k, n in enumerate(v.nodes)
                        if n.index == value)
        if place in self.plan.fed:
            return self._locals[place][k]
        return f"*(const volatile {self.dialect.real} *)&{self.inputs[place].at(k)}"
