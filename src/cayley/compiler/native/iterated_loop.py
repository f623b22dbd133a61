"""The loops of an iteration around the loop over a batch, in LLVM assembly.

The states of `width` trajectories stay in the buffers of the straight-line code throughout. The whole is a generalized
ufunc: the lengths of the loops are dimensions of its operands. Blocks that are not full repeat their last state, so a
trajectory is computed alike wherever in a batch it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from math import prod
from typing import Any

from cayley.compiler.iteration import CYCLING, KEPT, LOOPS, Plan
from cayley.compiler.native.llvm import Core, element_size
from cayley.compiler.native.loop import BatchLoop, Buffers, LoopOperand, call_core, is_dense

_CLOCK = 1
"""Operands before those of the program: one without content, whose shape is the lengths of the loops."""


@dataclass(frozen=True)
class _Looped(LoopOperand):
    """An operand that moves along loops: their numbers, and its bytes from one turn to the next."""

    loops: tuple[tuple[int, str], ...] = ()


class IteratedLoop(BatchLoop):
    """The loop over a batch with the loops over samples, steps and stages inside each block."""

    def __init__(self, core: Core, plan: Plan) -> None:
        self._plan = plan
        super().__init__(core)

    def _operands(self) -> tuple[list[Any], list[Any]]:
        text = self.text
        program = self.core.program
        places = Buffers(self.core)
        plan = self._plan
        self._lengths = [
            text.let(f"load i64, ptr {text.let(f'getelementptr i64, ptr %dimensions, i64 {1 + k}')}") for k in range(3)]
        self.assembly.declarations["memcpy"] = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
        variables = [*program.inputs, *[program.outputs[k] for k in plan.kept]]
        starts = [*places.inputs, *[places.outputs[k] for k in plan.kept]]
        moves = [*plan.moves, *[KEPT for _ in plan.kept]]
        steps = (text.let(f"load i64, ptr {text.let(f'getelementptr i64, ptr %steps, i64 {k}')}") for k in count())
        outer = [next(steps) for _ in range(_CLOCK + len(variables))][_CLOCK:]
        for _ in LOOPS:
            next(steps)
        operands = []
        for k, (v, start, turns) in enumerate(zip(variables, starts, moves, strict=True)):
            pointer = text.let(f"load ptr, ptr {text.let(f'getelementptr ptr, ptr %args, i64 {_CLOCK + k}')}")
            loops = tuple((number, next(steps)) for number in turns)
            strides = [next(steps) for _ in v.shape]
            operands.append(
                _Looped(v.shape, start, pointer, outer[k], strides, is_dense(text, v.shape, strides, self._size),
                        loops))
        return operands[:len(program.inputs)], operands[len(program.inputs):]

    @property
    def _scratch_elements(self) -> int:  # type: ignore[override]
        return max((prod(v.shape) for v in self.core.program.inputs), default=0) + self.core.width

    def _quick_blocks(self) -> str:
        return "0"

    def _block(self, first: str) -> None:
        text = self.text
        left = text.let(f"sub i64 {self.total}, {first}")
        valid = text.let(f"call i64 @llvm.smin.i64(i64 {left}, i64 {self.core.width})")

        def gather(depth: int, turns: list[str]) -> None:
            for operand in self._moving(self.inputs):
                if max((number + 1 for number, _ in operand.loops), default=0) == depth:
                    memory, place = self._places(operand, first, self.space.input)
                    self._gather(operand, self._turned(operand, memory, turns), place, valid)

        def nested(depth: int, turns: list[str]) -> None:
            gather(depth, turns)
            if depth == len(LOOPS):
                call_core(text, self.core, self.space)
                self._feed()
                return
            if depth == CYCLING[0] and self._plan.repeats is not None:
                output, most = self._plan.repeats
                text.repeat_until("0", str(most), 1, lambda _, end: again(depth, turns, output, end))
            else:
                stages(depth, turns)

        def again(depth: int, turns: list[str], output: int, end: str) -> None:
            stages(depth, turns)
            text.require(self._asks(output), end)

        def stages(depth: int, turns: list[str]) -> None:
            text.repeat("0", self._lengths[depth], 1, lambda turn: body(depth, [*turns, turn]))

        def body(depth: int, turns: list[str]) -> None:
            nested(depth + 1, turns)
            if depth == 0:
                for operand in self._moving(self.outputs):
                    memory, place = self._places(operand, first, self.space.output)
                    self._move("scatter", operand, self._turned(operand, memory, turns), place, valid)

        nested(0, [])

    @staticmethod
    def _moving(operands: Sequence[LoopOperand]) -> list[_Looped]:
        return [operand for operand in operands if isinstance(operand, _Looped)]

    def _turned(self, operand: _Looped, memory: str, turns: list[str]) -> str:
        return self.text.offset(memory, *[(turns[number], stride) for number, stride in operand.loops])

    def _gather(self, operand: _Looped, memory: str, place: str, valid: str) -> None:
        """A copy by way of another buffer, because a gathered block may be longer than the operand, and memory after it
        is in use."""
        self._move("gather", operand, memory, self.space.scratch, valid)
        self._copy(place, self.space.scratch, prod(operand.shape))

    def _feed(self) -> None:
        places = Buffers(self.core)
        program = self.core.program
        for after, before in self._plan.feeds:
            source, target = (
                self.text.let(f"getelementptr {self.core.precision}, ptr {buffer}, i64 {start * self.core.width}")
                for buffer, start in ((self.space.output, places.outputs[after]), (self.space.input,
                                                                                   places.inputs[before])))
            self._copy(target, source, prod(program.inputs[before].shape))

    def _asks(self, output: int) -> str:
        """True if an output is not zero for any state of the block."""
        core = self.core
        start = Buffers(core).outputs[output] * core.width
        place = self.text.let(f"getelementptr {core.precision}, ptr {self.space.output}, i64 {start}")
        return self.text.any_lane(core.width, core.precision, place, "une")

    def _copy(self, target: str, source: str, elements: int) -> None:
        size = elements * self.core.width * element_size(self.core.precision)
        aligned = f"ptr align {self.core.width * element_size(self.core.precision)}"
        self.text.do(f"call void @llvm.memcpy.p0.p0.i64({aligned} {target}, {aligned} {source}, i64 {size}, i1 false)")
