"""The backend of this processor: generalized ufuncs of NumPy, compiled by LLVM."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayley.compiler.arguments import as_operand, called
from cayley.compiler.backends.protocol import Backend
from cayley.compiler.iteration import CHANGING, LOOPS, Iteration, Turns
from cayley.compiler.native import numpy_api
from cayley.compiler.native.compile import Compiled, Jobs, core_parts, core_shape, loaded, object_code
from cayley.compiler.native.iterated_loop import IteratedLoop
from cayley.compiler.native.llvm import Core
from cayley.compiler.native.machine import host
from cayley.compiler.native.parallel import Parallel, Prepared
from cayley.compiler.operations import OPERATIONS, OWN
from cayley.compiler.precision import PRECISION, computed_in
from cayley.compiler.tracing.program import Program
from cayley.compiler.typing import Array, ArrayLike, DTypeLike, Scalar
from cayley.errors import SignatureError


class Llvm(Backend):
    """Machine code in this process."""

    title = "LLVM"
    operations = frozenset(OWN)

    def spells(self, op: str) -> bool:
        return bool(OPERATIONS[op].llvm) or super().spells(op)

    def files(self, program: Program, precision: str) -> dict[str, str]:
        core = Core(program, host().width(precision), precision, fused=host().fused)
        return {f"{program.name}.ll": "\n".join(core.part(k).text() for k in range(len(core.parts)))}

    def function(self, program: Program) -> OnProcessor:
        return OnProcessor(program)

    def iterated(self, iteration: Iteration) -> IteratedUfunc:
        return IteratedUfunc(iteration)

    def array(self, argument: ArrayLike, label: str) -> Array:
        return np.asarray(argument)


class OnProcessor:
    """A program as a generalized ufunc: `f(*arguments, out=None, dtype=None)`."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._compiled = Compiled(program, lambda: program, self, None)

    def __call__(self, *arguments: ArrayLike, out: Array | tuple[Array, ...] | None = None,
                 dtype: DTypeLike | None = None) -> Array | tuple[Array, ...]:
        names = [v.name for v in self.program.inputs]
        if len(arguments) != len(names):
            raise SignatureError(
                f"{self.program.name} takes {len(names)} arguments ({', '.join(names)}), not {len(arguments)}")
        arrays = [as_operand(a, name, self.program.name) for a, name in zip(arguments, names, strict=True)]
        precision = computed_in(self.program.name, names, arguments, arrays, dtype)
        options = {"dtype": precision} | ({} if out is None else {"out": out})
        return called(self._compiled.ufunc(precision), arrays, options)


class IteratedUfunc:
    """The loops of an iteration as one generalized ufunc for each precision."""

    def __init__(self, iteration: Iteration) -> None:
        self._iteration = iteration
        self._ufuncs: dict[str, np.ufunc] = {}

    def __call__(self, arrays: Sequence[Array], turns: Turns, dtype: str, *, out: Sequence[Array] | None,
                 threads: int) -> tuple[Array, ...]:
        program = self._iteration.traced
        plan = self._iteration.plan
        clock = np.broadcast_to(np.zeros((), dtype), (turns.samples, turns.every, turns.cycle))
        operands = [_in_samples(a, len(v.shape), turns) if moves == CHANGING else a
                    for a, v, moves in zip(arrays, program.inputs, plan.moves, strict=True)]
        compute = self.ufunc(dtype)
        axes = [len(LOOPS), *[len(moves) + len(v.shape)
                              for moves, v in zip(plan.moves, program.inputs, strict=True)]]

        def prepare(*_: object) -> Prepared:
            return Prepared(compute, dtype, [(turns.samples, *program.outputs[k].shape) for k in plan.kept], tuple)

        def together(*given: Scalar, out: Scalar, dtype: DTypeLike) -> Scalar:
            results = called(compute, given, {"dtype": dtype} | ({} if out is None else {"out": out}))
            return results if isinstance(results, tuple) else (results,)

        call = together if threads == 1 else Parallel(together, axes, prepare, threads)
        return call(clock, *operands, out=None if out is None else tuple(out), dtype=dtype)

    def ufunc(self, dtype: str) -> np.ufunc:
        if dtype not in self._ufuncs:
            self._ufuncs[dtype] = self._made(dtype)
        return self._ufuncs[dtype]

    def _made(self, dtype: str) -> np.ufunc:
        program = self._iteration.traced
        plan = self._iteration.plan
        precision = PRECISION[dtype]
        identity = [program.key, precision, "iterated", plan.moves, plan.feeds, plan.kept, plan.repeats]
        code = loaded(object_code(identity, lambda: self._jobs(precision), program.name), precision)
        return numpy_api.ufunc_from_loop(code.address("loop"),
                                         np.dtype(dtype).num, 1 + len(program.inputs), len(plan.kept),
                                         self._signature(), program.name, program.description, code)

    def _signature(self) -> str:
        program = self._iteration.traced
        plan = self._iteration.plan
        inputs = [core_shape(LOOPS), *[core_shape((*[LOOPS[a] for a in moves], *v.shape))
                                       for v, moves in zip(program.inputs, plan.moves, strict=True)]]
        outputs = [core_shape((LOOPS[0], *program.outputs[k].shape)) for k in plan.kept]
        return f"{','.join(inputs)}->{','.join(outputs)}"

    def _jobs(self, precision: str) -> Jobs:
        core = Core(self._iteration.program, host().width(precision), precision, fused=host().fused)
        return [lambda: IteratedLoop(core, self._iteration.plan).assembly, *core_parts(core)]


def _in_samples(array: Array, core: int, turns: Turns) -> Array:
    """The axis of steps as one of samples and one of the steps between them."""
    axis = array.ndim - core - 1
    return array.reshape(*array.shape[:axis], turns.samples, turns.every, *array.shape[axis + 1:])


BACKEND = Llvm()
