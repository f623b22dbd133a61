"""The statements of an iteration that several threads share, as CUDA: a warp for each part, for 32 trajectories.

A trajectory has the same place in each warp. Values go from part to part through shared memory, between phases at whose
ends all parts wait for each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from cayley.compiler.c_expressions import WHOLE, Body, Dialect, Text
from cayley.compiler.c_loops import Loops, Place, computing, needed
from cayley.compiler.graph import Graph, Node
from cayley.compiler.iteration import Plan
from cayley.compiler.names import free_prefix
from cayley.compiler.operations import CALLS
from cayley.compiler.program import Program, Variable
from cayley.compiler.shares import COARSE, Grain, Shares, shared

NAMES = ("lane", "place", "handed")
LANES = 32


@dataclass(frozen=True, eq=False)
class SharedProgram:
    """The whole program of a stage, what of it is needed, and which part does what of that."""

    whole: Program
    program: Program
    elements: tuple[tuple[int, int], ...]  # of outputs: place, element
    shares: Shares

    @staticmethod
    def of(program: Program, plan: Plan, grain: Grain = COARSE) -> SharedProgram | None:
        """If there are parts, and all trajectories take the same turns."""
        if plan.repeats is not None or any(node.op in CALLS for node in program.nodes):
            return None
        found = needed(program, plan)
        elements = tuple(sorted(found))
        wanted = computing(program, found)
        at = {element: k for k, element in enumerate(elements)}
        states = {node.index: at[after, k] for after, before in plan.feeds
                  for k, node in enumerate(program.inputs[before].nodes) if (after, k) in at}
        shares = shared(wanted.nodes, wanted.results, states, grain)
        return SharedProgram(program, wanted, elements, shares) if shares.parts > 1 else None

    @cached_property
    def loads(self) -> dict[tuple[int, int], int]:
        """The phase in which a part takes over a value of another, by part and index."""
        part = self.shares.part
        phase = self.shares.phase
        taken = [(part[n.index], a.index, phase[n.index]) for n in self.program.nodes if n.index in part
                 for a in n.args]
        taken += [(owner, node.index, self.shares.phases - 1)
                  for owner, node in zip(self.shares.owners, self.program.results, strict=True)]
        found: dict[tuple[int, int], int] = {}
        for reader, value, when in taken:
            if part.get(value, reader) != reader:
                found[reader, value] = min(when, found.get((reader, value), when))
        return found

    @cached_property
    def slots(self) -> dict[int, int]:
        """Where a value is handed over, by index. A place is used again once all have taken what was in it."""
        last: dict[int, int] = {}
        for (_, value), when in self.loads.items():
            last[value] = max(when, last.get(value, when))
        free_from: list[int] = []
        found = {}
        for value in sorted(last, key=lambda value: self.shares.phase[value]):
            made = self.shares.phase[value]
            slot = next((k for k, free in enumerate(free_from) if free <= made), len(free_from))
            free_from[slot:slot + 1] = [last[value] + 1]
            found[value] = slot
        return found

    def memory(self, precision: str) -> int:
        """In bytes, for what a block hands over."""
        return (1 + max(self.slots.values(), default=0)) * LANES * (8 if precision == "double" else 4)


def shared_statements(stage: SharedProgram, plan: Plan, dialect: Dialect, inputs: Sequence[Place],
                      outputs: Sequence[Place], *, taken: set[str], helper: str) -> list[str]:
    """All that a block does."""
    unused = [f"(void){name};" for place in (*inputs, *outputs) for name in (place.name, *place.strides)]
    lines = [*unused, f"extern __shared__ {dialect.real} handed[];",
             f"const int lane = threadIdx.x % {LANES};",
             f"const long long place = (long long)blockIdx.x*{LANES} + lane;",
             "const long long state = place < count ? place : count - 1;"]
    for part in range(stage.shares.parts):
        own = _Part(stage, part, plan, dialect, inputs, outputs, set(taken), helper)
        head = f"if (threadIdx.x/{LANES} == {part}) {{"
        lines += [head if part == 0 else f"else {head}", *[f"    {line}" for line in own.lines], "}"]
    return lines


class _Part(Loops):
    """The loops of one part."""

    def __init__(self, stage: SharedProgram, part: int, plan: Plan, dialect: Dialect, inputs: Sequence[Place],
                 outputs: Sequence[Place], taken: set[str], helper: str) -> None:
        self._shared = stage
        self._part = part
        shares = stage.shares
        self._own = {element for element, owner in zip(stage.elements, shares.owners, strict=True) if owner == part}
        own = [n for n in stage.program.nodes if shares.part.get(n.index) == part]
        self._nodes = [n for n in own if n.args]
        self._held = {n.index for n in own if not n.args}
        self._held |= {a.index for n in self._nodes for a in n.args if a.index not in shares.part}
        self._held |= {node.index for node, owner in zip(stage.program.results, shares.owners, strict=True)
                       if owner == part and node.index not in shares.part}
        super().__init__(stage.whole, plan, dialect, inputs, outputs, taken, helper, "long long")

    def _unused(self, outputs: Sequence[Place]) -> list[str]:
        return []

    def _is_read(self, place: int, element: int) -> bool:
        return self.program.inputs[place].nodes[element].index in self._held

    def _is_own(self, place: int, element: int) -> bool:
        return (place, element) in self._own

    def _stage(self) -> list[str]:
        shares = self._shared.shares
        loads = self._shared.loads
        slots = self._shared.slots
        texts = dict(self._texts)
        prefix = free_prefix(self._taken)
        handing = {value for _, value in loads}
        results = {node.index for node, owner in zip(self._shared.program.results, shares.owners, strict=True)
                   if owner == self._part}
        lines = []
        for phase in range(shares.phases):
            for value in sorted(v for (part, v), when in loads.items() if (part, when) == (self._part, phase)):
                name = f"{prefix}{phase}_{value}"
                lines.append(f"const {self.dialect.real} {name} = {_handed(slots[value])};")
                texts[value] = Text(name, WHOLE)
            nodes = [n for n in self._nodes if shares.phase[n.index] == phase]
            later = {a.index for n in self._nodes if shares.phase[n.index] > phase for a in n.args}
            kept = [n for n in nodes if n.index in handing or n.index in later or n.index in results]
            made, texts_of_kept = computed(nodes, kept, texts, self.dialect, f"{prefix}{phase}_t", self._helper)
            lines += made
            texts.update(texts_of_kept)
            held = [v for v in handing & self._held if phase == 0] + [n.index for n in kept if n.index in handing]
            lines += [f"{_handed(slots[value])} = {texts[value].code};" for value in held]
            lines.append("__syncthreads();")
        owned = [(element, node) for element, node, owner in zip(self._shared.elements, self._shared.program.results,
                                                                 shares.owners, strict=True) if owner == self._part]
        return lines + self._all_changes(owned, texts, prefix)

    def _all_changes(self, owned: Sequence[tuple[tuple[int, int], Node]], texts: Mapping[int, Text],
                     prefix: str) -> list[str]:
        """Every state that goes to another is read before the first changes."""
        lines = []
        changes = []
        for element, node in owned:
            if node.op == "constant":
                value = Text(self.dialect.number(node.value), WHOLE)
            elif node.args:
                value = texts[node.index]
            else:
                value = Text(f"{prefix}_{element[0]}_{element[1]}", WHOLE)
                lines.append(f"const {self.dialect.real} {value.code} = {texts[node.index].code};")
            changes += self._changes(*element, value)
        return lines + changes


def computed(nodes: Sequence[Node], kept: Sequence[Node], texts: Mapping[int, Text], dialect: Dialect, prefix: str,
             helper: str) -> tuple[list[str], dict[int, Text]]:
    """The statements of some nodes, and the names of those that are kept."""
    if not kept:
        return [], {}
    graph = Graph(strict=True)
    made: dict[int, Node] = {}
    outside: dict[int, Text] = {}

    def operand(node: Node) -> Node:
        if node.index not in made:
            made[node.index] = (graph.constant(node.value) if node.op == "constant"
                                else graph.input(str(node.index)))
            if node.op != "constant":
                outside[made[node.index].index] = texts[node.index]
        return made[node.index]

    for node in nodes:
        made[node.index] = graph.node(node.op, *[operand(a) for a in node.args])
    results = tuple(made[n.index] for n in kept)
    body = Body(Program("part", (), (Variable("kept", (len(results),), results),)), dialect, outside,
                temporary=prefix, helper=helper)
    for node in results:
        body.keep(node)
    return body.lines, {n.index: body.text(made[n.index]) for n in kept}


def _handed(slot: int) -> str:
    return f"handed[{slot * LANES} + lane]"
