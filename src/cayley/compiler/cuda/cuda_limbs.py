"""The statements of an iteration as CUDA, limb by limb: a thread computes again what it would have to keep.

Each stretch reads the state anew: a compiler that could see that nothing has changed would keep everything. A thread
may take several trajectories through a stretch before the next one begins. The text of a large robot is longer than
what the GPU keeps of it at hand, and is so fetched once for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from cayley.compiler.c.c_expressions import WHOLE, CExpression, Dialect
from cayley.compiler.c.c_loops import CLoops, MemoryPlace
from cayley.compiler.cuda.cuda_source import THIS_THREAD
from cayley.compiler.cuda.cuda_stretches import LimbedProgram, Stretch, computed, slots, stretches
from cayley.compiler.iteration import Plan
from cayley.compiler.operations import CALLS
from cayley.compiler.tracing.graph import Node
from cayley.compiler.tracing.names import free_prefix
from cayley.compiler.tracing.program import Program

NAMES = ("handed", "held", "kept", "own", "owned")
THREADS = 128  # of a block, at most
IN_STEP = 256  # of a block with loops
_SYNC = "__syncthreads();"

_Result = tuple[tuple[int, int], Node]


def threads_of(program: Program) -> int:
    """The threads of a block. Where loops take different times, threads would fetch the text each for itself: one block
    on a multiprocessor waits for all of its threads before each stretch."""
    return IN_STEP if any(node.op in CALLS for node in program.nodes) else THREADS


def limb_memory(stage: LimbedProgram, plan: Plan, precision: str) -> int:
    """The memory [bytes] for the states of a block of which each thread takes one."""
    held = sum(len(stage.whole.inputs[before].nodes) for _, before in plan.feeds)
    return held * threads_of(stage.whole) * (8 if precision == "double" else 4)


def limb_statements(stage: LimbedProgram, plan: Plan, dialect: Dialect, inputs: Sequence[MemoryPlace],
                    outputs: Sequence[MemoryPlace], *, together: int, taken: set[str], helper: str) -> list[str]:
    """The statements of a thread, for as many trajectories together."""
    made = _LimbByLimb if together == 1 else _Together
    return made(stage, plan, dialect, inputs, outputs, taken, helper, together).statements


class _LimbByLimb(CLoops):
    """The loops of one trajectory, with its state in shared memory."""

    def __init__(self, stage: LimbedProgram, plan: Plan, dialect: Dialect, inputs: Sequence[MemoryPlace],
                 outputs: Sequence[MemoryPlace], taken: set[str], helper: str, together: int) -> None:
        self._limbed = stage
        self._together = together
        self._length = 0  # of the states
        self._threads = threads_of(stage.whole)
        self._slots: dict[int, int] = {}
        super().__init__(stage.whole, plan, dialect, inputs, outputs, taken, helper, "long long")

    @property
    def statements(self) -> list[str]:
        return [*THIS_THREAD, f"extern __shared__ volatile {self.dialect.real} handed[];", self._room, *self.lines]

    @property
    def _room(self) -> str:
        """For what goes from stretch to stretch."""
        return f"{self.dialect.real} kept[{self._together * (1 + max(self._slots.values(), default=0))}];"

    def _held_at(self, place: int) -> str:
        return f"handed[{place * self._threads} + threadIdx.x]"

    def _kept_at(self, value: int) -> str:
        return f"kept[{self._slots[value]}]"

    def _in_turn(self, lines: list[str]) -> list[str]:
        """Something that is done for each trajectory of a thread."""
        return lines

    def _held(self, length: int) -> list[str]:
        """Places for a number of elements of a state."""
        self._length += length
        return [self._held_at(self._length - length + k) for k in range(length)]

    def _variables_of_outputs(self, outputs: Sequence[MemoryPlace]) -> dict[int, list[str]]:
        for _, before in self.plan.feeds:
            self._locals[before] = self._held(len(self.program.inputs[before].nodes))
        return super()._variables_of_outputs(outputs)

    def _read(self, moves: tuple[int, ...]) -> list[str]:
        """The states. All else is read where it is needed."""
        return self._in_turn([f"{name} = {self.inputs[place].at(k)};" for place in self.plan.fed
                              if self.plan.moves[place] == moves for k, name in enumerate(self._locals[place])
                              if self._is_read(place, k)])

    def _kept(self, outputs: Sequence[MemoryPlace]) -> list[str]:
        return self._in_turn(super()._kept(outputs))

    def _stage(self) -> list[str]:
        """A state changes once it is not read again."""
        parts = stretches(self._limbed)
        results = list(zip(self._limbed.elements, self._limbed.program.results, strict=True))
        late = self._late(parts, results)
        self._slots = slots(parts, [node.index for _, node in late if node.op != "constant"])
        prefix = free_prefix(self._taken)
        copied = sorted({node.index for _, node in late if not node.args and node.op != "constant"})
        lines = self._in_turn([f"{self._kept_at(value)} = {self._anew(value)};" for value in copied])
        for number, part in enumerate(parts):
            soon = [each for each in results if each[1].index in part.new and each not in late]
            lines += [_SYNC] if self._threads == IN_STEP else []
            lines += self._in_turn(self._stretch(part, soon, f"{prefix}{number}_"))
        return lines + self._in_turn([
            change for element, node in late for change in self._changes(*element, CExpression(
                self.dialect.number(node.value) if node.op == "constant" else self._kept_at(node.index), WHOLE))])

    def _late(self, parts: Sequence[Stretch], results: Sequence[_Result]) -> list[_Result]:
        """The results that wait for the end of the stage: those of no operation, and those whose state is read later
        than they are made."""
        last = {value: number for number, part in enumerate(parts) for value in part.inputs}
        made = {value: number for number, part in enumerate(parts) for value in part.new}
        return [(element, node) for element, node in results if not node.args
                or any(last.get(state, -1) > made[node.index] for state in self._states_of(*element))]

    def _stretch(self, part: Stretch, soon: Sequence[_Result], prefix: str) -> list[str]:
        texts = {value: CExpression(f"{prefix}{value}", WHOLE) for value in (*part.inputs, *part.taken)}
        taken = [f"const {self.dialect.real} {texts[value].code} = {source(value)};" for values, source
                 in ((part.inputs, self._anew), (part.taken, self._kept_at)) for value in values]
        kept = part.new & self._slots.keys()
        wanted = kept | {node.index for _, node in soon}
        made, named = computed(part.nodes, [n for n in part.nodes if n.index in wanted], texts, self.dialect,
                               f"{prefix}t", self._helper)
        return [*taken, *made, *[f"{self._kept_at(value)} = {named[value].code};" for value in sorted(kept)],
                *[change for element, node in soon for change in self._changes(*element, named[node.index])]]

    def _states_of(self, place: int, element: int) -> list[int]:
        return [self.program.inputs[before].nodes[element].index for after, before in self.plan.feeds if after == place]

    def _anew(self, value: int) -> str:
        """An input in memory, in a way that no compiler takes for what it has read before."""
        place, k = next((place, k) for place, v in enumerate(self.program.inputs) for k, n in enumerate(v.nodes)
                        if n.index == value)
        if place in self.plan.fed:
            return self._locals[place][k]
        return f"*(const volatile {self.dialect.real} *)&{self.inputs[place].at(k)}"


class _Together(_LimbByLimb):
    """Several trajectories, with their states in memory of the thread."""

    @property
    def statements(self) -> list[str]:
        return [f"volatile {self.dialect.real} held[{self._together * self._length}];", self._room, "int owned = 0;",
                f"while (owned < {self._together} && {self._number('owned')} < count) owned++;", *self.lines]

    def _number(self, own: str) -> str:
        """The number of a trajectory among all."""
        return f"((long long)blockIdx.x*{self._together} + {own})*blockDim.x + threadIdx.x"

    def _held_at(self, place: int) -> str:
        return f"held[{place * self._together} + own]"

    def _kept_at(self, value: int) -> str:
        return f"kept[{self._slots[value] * self._together} + own]"

    def _in_turn(self, lines: list[str]) -> list[str]:
        body = [f"const long long state = {self._number('own')};", "(void)state;", *lines]
        return ["#pragma unroll 1", "for (int own = 0; own < owned; own++) {", *[f"    {line}" for line in body],
                "}"] if lines else []

    def _variables_of_outputs(self, outputs: Sequence[MemoryPlace]) -> dict[int, list[str]]:
        """Arrays that are not states are stored like states."""
        fed = {after for after, _ in self.plan.feeds}
        return {place: names if place in fed else self._held(len(names))
                for place, names in super()._variables_of_outputs(outputs).items()}

    def _declared(self) -> list[str]:
        return []
