"""A kernel whose outputs feed its inputs, iterated inside one compiled loop: x[k + 1] = f(x[k], u[k], p).

Three loops are nested around the straight-line code of the kernel, for `width` states at once, which stay in its
buffers throughout:

    for sample ...            the states that are kept
        for step ... every        `changing` inputs are read anew
            while again ... at most   (only if `repeating`) for as long as a state of the block asks for it
                for stage ... cycle       `cycling` inputs are read anew: they are the same in each step
                    compute; outputs feed inputs
        keep
The whole is a generalized ufunc: the lengths of the loops are dimensions of its operands. Blocks that are not full
repeat their last state, so a trajectory is computed alike wherever in a batch it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from math import prod
from typing import Any

import numpy as np

from cayley.compiler import numpy_api
from cayley.compiler.arguments import called
from cayley.compiler.compile import core_parts, core_shape, loaded, object_code
from cayley.compiler.kernel import Kernel
from cayley.compiler.llvm import Core, element_size
from cayley.compiler.loop import BatchLoop, Buffers, Operand, call_core, is_dense
from cayley.compiler.machine import host
from cayley.compiler.parallel import Parallel, Prepared
from cayley.compiler.precision import PRECISION
from cayley.compiler.program import Program
from cayley.compiler.vector_assembly import Assembly
from cayley.errors import SignatureError

LOOPS = ("samples", "every", "cycle")
_CLOCK = 1  # operands before those of the program: one without content, whose shape is the lengths of the loops
_CONSTANT: tuple[int, ...] = ()
_CHANGING = (0, 1)
_CYCLING = (2,)
_KEPT = (0,)


@dataclass(frozen=True)
class Plan:
    """What the loops do with the variables of a program: by place, which loops each input moves along, which output
    feeds it, which outputs are kept, and which one asks for the stages of a step again, at most how often in all."""

    moves: tuple[tuple[int, ...], ...]
    feeds: tuple[tuple[int, int], ...]  # output, input
    kept: tuple[int, ...]
    repeats: tuple[int, int] | None = None


class Iterated:
    """`iterated(*arguments, steps=..., every=1)`; `iterate` makes one."""

    def __init__(self, kernel: Kernel, feeding: Mapping[str, str], changing: Sequence[str], cycling: Sequence[str],
                 keeping: Sequence[str] | None, repeating: tuple[str, int] | None = None):
        self.kernel = kernel
        self._repeating = repeating
        self._feeding = dict(feeding)
        self._keeping = keeping
        unknown = [name for name in (*feeding, *changing, *cycling) if name not in kernel.inputs]
        if unknown:
            raise SignatureError(f"{kernel.__name__} has no input {unknown[0]!r}; it has {', '.join(kernel.inputs)}")
        self._moves = tuple(_CHANGING if name in changing else _CYCLING if name in cycling else _CONSTANT
                            for name in kernel.inputs)
        self._made: dict[tuple, _Specialised] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Machine code stays; the cache has it for whoever unpickles."""
        return vars(self) | {"_made": {}}

    def __repr__(self) -> str:
        return f"<iterated {self.kernel!r}>"

    def __call__(self, *arguments: Any, steps: int, every: int = 1, out: Sequence[np.ndarray] | None = None,
                 dtype: Any = None, threads: int = 1) -> tuple[np.ndarray, ...]:
        """The kept outputs, each (..., steps / every, *core): after `every` steps, after twice as many, and so on.

        Arguments are those of the kernel: states at the start (..., *core), changing ones (..., steps, *core), cycling
        ones (..., cycle, *core). `threads` share the batch; `out` are arrays for the results.
        """
        samples = _samples(steps, every)
        if len(arguments) != len(self.kernel.inputs):
            raise SignatureError(
                f"{self.kernel.__name__} takes {len(self.kernel.inputs)} arguments ({', '.join(self.kernel.inputs)}), "
                f"not {len(arguments)}")
        arrays = [np.asarray(a) for a in arguments]
        found = self._specialised(arrays)
        precision = self.kernel._dtype_of(arguments, arrays, dtype)
        operands = [self._looped(k, a, samples, every, found.program) for k, a in enumerate(arrays)]
        cycle = next((a.shape[-1 - len(core)] for a, moves, core in zip(arrays, self._moves, found.cores, strict=True)
                      if moves == _CYCLING), 1)
        clock = np.broadcast_to(np.zeros((), precision), (samples, every, cycle))
        compute = found.ufunc(precision)
        axes = [len(LOOPS), *[len(moves) + len(core) for moves, core in zip(self._moves, found.cores, strict=True)]]

        def prepare(*_: Any) -> Prepared:
            return Prepared(compute, precision, [(samples, *found.program.outputs[k].shape) for k in found.plan.kept],
                            tuple)

        def together(*given: Any, out: Any, dtype: Any) -> Any:
            results = called(compute, given, {"dtype": precision} | ({} if out is None else {"out": out}))
            return results if isinstance(results, tuple) else (results,)

        call = together if threads == 1 else Parallel(together, axes, prepare, threads)
        return call(clock, *operands, out=None if out is None else tuple(out), dtype=precision)

    def _specialised(self, arrays: Sequence[np.ndarray]) -> _Specialised:
        shapes = []
        for name, a, moves in zip(self.kernel.inputs, arrays, self._moves, strict=True):
            core = len(self.kernel.signature.inputs[self.kernel.inputs.index(name)])
            if a.ndim < core + (len(moves) > 0):
                axis = {_CHANGING: "steps", _CYCLING: "stages"}.get(moves, "")
                before = f" and one of {axis} before them" if axis else ""
                raise SignatureError(f"argument {name!r} has the shape {a.shape}: it needs {core} axes{before}")
            shapes.append(a.shape[a.ndim - core:])
        dimensions = self.kernel.signature.bind(shapes, self.kernel.inputs)
        key = tuple(dimensions.items())
        if key not in self._made:
            self._made[key] = _Specialised(self.kernel, dimensions, lambda program: self._plan(program))
        return self._made[key]

    def _plan(self, program: Program) -> Plan:
        names_in = [v.name for v in program.inputs]
        names_out = [v.name for v in program.outputs]
        asking = [self._repeating[0]] if self._repeating else []
        missing = [name for name in (*self._feeding.values(), *(self._keeping or ()), *asking) if name not in names_out]
        if missing:
            raise SignatureError(f"{program.name} has no output {missing[0]!r}; it has {', '.join(names_out)}")
        feeds = tuple((names_out.index(after), names_in.index(before)) for before, after in self._feeding.items())
        for after, before in feeds:
            if program.outputs[after].shape != program.inputs[before].shape:
                raise SignatureError(
                    f"output {names_out[after]!r} of {program.name} has the shape {program.outputs[after].shape}; it "
                    f"cannot feed {names_in[before]!r}, which has {program.inputs[before].shape}")
        repeats = (names_out.index(self._repeating[0]), self._repeating[1]) if self._repeating else None
        return Plan(self._moves, feeds, tuple(names_out.index(name) for name in self._keeping or names_out), repeats)

    def _looped(self, place: int, array: np.ndarray, samples: int, every: int, program: Program) -> np.ndarray:
        """An argument with an axis for each of its loops."""
        core = len(program.inputs[place].shape)
        if self._moves[place] != _CHANGING:
            return array
        steps = array.shape[array.ndim - core - 1]
        if steps != samples * every:
            raise SignatureError(f"argument {self.kernel.inputs[place]!r} has {steps} steps, shape {array.shape}; "
                                 f"there are {samples * every} steps to make")
        return array.reshape(*array.shape[:array.ndim - core - 1], samples, every, *array.shape[array.ndim - core:])


def iterate(kernel: Kernel, feeding: Mapping[str, str], *, changing: Sequence[str] = (), cycling: Sequence[str] = (),
            keeping: Sequence[str] | None = None, repeating: tuple[str, int] | None = None) -> Iterated:
    """The kernel iterated: after each step the output `feeding[x]` becomes the input `x`, for all steps inside one
    compiled loop.

    Inputs that are fed are states; `changing` ones have a value for each step; `cycling` ones take each step in stages,
    with a value for each; all others are constant. `keeping` are the outputs that are kept (all). `repeating` names an
    output, a number: while it is not zero the stages are made again, at most so many times in all; neighbours in a block
    are then computed again too, and it is for the kernel to let those stand still that did not ask.

    >>> @cy.kernel("(),(),()->()", outputs=("after",))
    ... def drop(level, inflow, loss):
    ...     return level + inflow - loss * level
    >>> fill = iterate(drop, {"level": "after"}, changing=["inflow"])
    >>> levels, = fill(0.0, np.ones(6), [0.0, 0.5], steps=6, every=2)
    >>> levels
    array([[2.     , 4.     , 6.     ],
           [1.5    , 1.875  , 1.96875]])
    """
    return Iterated(kernel, feeding, changing, cycling, keeping, repeating)


def _samples(steps: int, every: int) -> int:
    if steps < 0 or every < 1 or steps % every:
        raise SignatureError(
            f"{steps} steps with every {every}th kept: the steps must be a multiple of it, and neither negative")
    return steps // every


class _Specialised:
    """The kernel for given dimensions, with code for each precision."""

    def __init__(self, kernel: Kernel, dimensions: dict[str, int], plan: Callable[[Program], Plan]):
        self._kernel = kernel
        self._dimensions = dimensions
        self._traced = kernel._trace(tuple(dimensions.values()))
        self.plan = plan(self._traced)
        self._ufuncs: dict[str, np.ufunc] = {}

    @property
    def program(self) -> Program:
        return self._traced

    @cached_property
    def cores(self) -> list[tuple[int, ...]]:
        return [v.shape for v in self._traced.inputs]

    def ufunc(self, dtype: str) -> np.ufunc:
        if dtype not in self._ufuncs:
            program = self._traced
            plan = self.plan
            precision = PRECISION[dtype]
            identity = [program.key, precision, "iterated", plan.moves, plan.feeds, plan.kept, plan.repeats]
            own = object_code(identity, lambda: self._jobs(precision), program.name)
            code = loaded(own, precision)
            self._ufuncs[dtype] = numpy_api.ufunc_from_loop(code.address("loop"),
                                                            np.dtype(dtype).num, _CLOCK + len(program.inputs),
                                                            len(plan.kept), self._signature(), program.name,
                                                            program.description, code)
        return self._ufuncs[dtype]

    def _signature(self) -> str:
        program = self._traced
        plan = self.plan
        inputs = [core_shape(LOOPS), *[core_shape((*[LOOPS[a] for a in moves], *v.shape))
                                       for v, moves in zip(program.inputs, plan.moves, strict=True)]]
        outputs = [core_shape((LOOPS[0], *program.outputs[k].shape)) for k in plan.kept]
        return f"{','.join(inputs)}->{','.join(outputs)}"

    def _jobs(self, precision: str) -> list[Callable[[], Assembly]]:
        machine = host()
        program = self._kernel.program(**self._dimensions)
        core = Core(program, machine.width(precision), precision, fused=machine.fused)
        return [lambda: _IteratedLoop(core, self.plan).assembly, *core_parts(core)]


@dataclass(frozen=True)
class _Looped(Operand):
    """An operand that moves along loops: their numbers, and its bytes from one turn to the next."""

    loops: tuple[tuple[int, str], ...] = ()


class _IteratedLoop(BatchLoop):
    """The loop over a batch with the loops over samples, steps and stages inside each block."""

    def __init__(self, core: Core, plan: Plan):
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
        moves = [*plan.moves, *[_KEPT for _ in plan.kept]]
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
            if depth == _CYCLING[0] and self._plan.repeats is not None:
                output, most = self._plan.repeats
                text.repeat_while(most, lambda: stages(depth, turns), lambda: self._asks(output))
            else:
                stages(depth, turns)

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
    def _moving(operands: Sequence[Operand]) -> list[_Looped]:
        return [operand for operand in operands if isinstance(operand, _Looped)]

    def _turned(self, operand: _Looped, memory: str, turns: list[str]) -> str:
        return self.text.offset(memory, *[(turns[number], stride) for number, stride in operand.loops])

    def _gather(self, operand: _Looped, memory: str, place: str, valid: str) -> None:
        """By way of another buffer, because a gathered block may be longer than the operand, and what follows is in
        use.
        """
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
        """Whether an output is not zero for any state of the block."""
        text = self.text
        width = self.core.width
        kind = f"<{width} x {self.core.precision}>"
        start = Buffers(self.core).outputs[output] * width
        place = text.let(f"getelementptr {self.core.precision}, ptr {self.space.output}, i64 {start}")
        values = text.let(f"load {kind}, ptr {place}, align {width * element_size(self.core.precision)}")
        asked = text.let(f"fcmp une {kind} {values}, zeroinitializer")
        mask = text.let(f"bitcast <{width} x i1> {asked} to i{width}")
        return text.let(f"icmp ne i{width} {mask}, 0")

    def _copy(self, target: str, source: str, elements: int) -> None:
        size = elements * self.core.width * element_size(self.core.precision)
        aligned = f"ptr align {self.core.width * element_size(self.core.precision)}"
        self.text.do(f"call void @llvm.memcpy.p0.p0.i64({aligned} {target}, {aligned} {source}, i64 {size}, i1 false)")
