"""A GPU, through CuPy: arrays in, arrays out.

The text that is compiled is made in `cuda_source` and `cuda_iteration`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cayley.compiler.backends.gpu_arrays import as_given, batch_of, empty, is_on_gpu, loaded_cupy, on_gpu
from cayley.compiler.backends.gpu_code import GpuCode, Written, moves_tiles
from cayley.compiler.backends.protocol import Backend
from cayley.compiler.cuda.cuda_iteration import (
    cuda_iteration,
    iteration_name,
    limbed_program,
    memory_of_block,
    together_in,
)
from cayley.compiler.cuda.cuda_limbs import threads_of
from cayley.compiler.cuda.cuda_rows import TILE, cuda_rows, memory_of_tiles, pays
from cayley.compiler.cuda.cuda_source import Strides, cuda_source, kernel_name
from cayley.compiler.iteration import CHANGING, CYCLING, Iteration, Turns
from cayley.compiler.operations import OPERATIONS, OWN
from cayley.compiler.precision import PRECISION, computed_in, dtype_name
from cayley.compiler.tracing.program import Program
from cayley.compiler.typing import Array, ArrayLike, DTypeLike
from cayley.errors import SignatureError, UnsupportedError

_THREADS = {"float": 64, "double": 32}
"""Of a block that computes states, which reads and writes more than it computes. On an H200, in double precision,
inverse dynamics of Panda runs at 98.0 % of a copy of the same bytes with 32, and at 93.9 % with 64."""


class Cuda(Backend):
    """One kernel of CUDA: a thread a state, or a thread a trajectory."""

    title = "CUDA"
    operations = frozenset(OWN)

    def spells(self, op: str) -> bool:
        return bool(OPERATIONS[op].c_function or OPERATIONS[op].c_helper) or super().spells(op)

    def files(self, program: Program, precision: str) -> dict[str, str]:
        return {f"{kernel_name(program)}.cu": cuda_source(program, precision)}

    def function(self, program: Program) -> OnCuda:
        return OnCuda(program)

    def iteration_files(self, iteration: Iteration, name: str, precision: str) -> dict[str, str]:
        return {f"{name}.cu": cuda_iteration(iteration, precision, name)}

    def iterated(self, iteration: Iteration) -> IteratedOnCuda:
        return IteratedOnCuda(iteration)

    def array(self, argument: ArrayLike, label: str) -> Array:
        return on_gpu(loaded_cupy(), argument, label)

    def empty(self, batch: tuple[int, ...], core: tuple[int, ...], dtype: str) -> Array:
        return empty(loaded_cupy(), batch, core, dtype)

    def here(self, array: Array) -> Array:
        return loaded_cupy().asnumpy(array)

    def as_given(self, array: Array, example: object) -> Array:
        return as_given(array, example)


class OnCuda:
    """A program that runs on the GPU: `f(*arguments, out=None, dtype=None)`.

    Arguments are CuPy arrays, or arrays of torch, JAX or others that lie on the GPU and speak DLPack or CUDA's array
    interface; NumPy arrays and numbers are copied there. Leading axes are the batch and broadcast. It computes in
    float32 if every argument is float32 (or `dtype` says so), otherwise in float64, and returns arrays of the library
    of the first argument that lies on the GPU, of CuPy if none does, or what was given as `out` (one array or a tuple),
    which may be one of the arguments but must not overlap one in another way; into arrays of NumPy results are copied.
    It runs on CuPy's current stream, in turn with torch's."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._code = GpuCode(kernel_name(program), lambda: ["kernel", program.key], self._written, threads=_THREADS,
                          strict=program.is_strict)

    def _written(self, precision: str, strides: Sequence[Strides]) -> Written:
        """The copies by tiles, where the device has an engine that copies them and rows are moved faster so."""
        if moves_tiles(loaded_cupy()) and pays(self.program, precision, strides):
            return Written(cuda_rows(self.program, precision, strides), tile=TILE,
                           shared=memory_of_tiles(self.program, precision, strides))
        return Written(cuda_source(self.program, precision, strides))

    def __repr__(self) -> str:
        return f"<{self.program.name} on CUDA>"

    def __reduce__(self) -> tuple[type[OnCuda], tuple[Program]]:
        return OnCuda, (self.program,)

    def source(self, dtype: DTypeLike = np.float64) -> str:
        """The CUDA text that is compiled, for operands of any strides."""
        return cuda_source(self.program, PRECISION[dtype_name(dtype)])

    def __call__(self, *arguments: ArrayLike, out: Array | Sequence[Array] | None = None,
                 dtype: DTypeLike | None = None) -> Array | tuple[Array, ...]:
        cupy = loaded_cupy()
        inputs = self.program.inputs
        names = [v.name for v in inputs]
        if len(arguments) != len(inputs):
            raise SignatureError(
                f"{self.program.name} takes {len(inputs)} arguments ({', '.join(names)}), not {len(arguments)}")
        arrays = [on_gpu(cupy, a, name) for name, a in zip(names, arguments, strict=True)]
        precision = computed_in(self.program.name, names, arguments, arrays, dtype)
        batch = batch_of(names, [v.shape for v in inputs], arrays)
        given: list[Any] | None = None if out is None else [*out] if isinstance(out, (tuple, list)) else [out]
        results = self._code(cupy, precision, batch, [],
                             [(a, (), v.shape) for v, a in zip(inputs, arrays, strict=True)],
                             [(v.name, (), v.shape) for v in self.program.outputs], given)
        example = next((a for a in arguments if isinstance(a, cupy.ndarray) or is_on_gpu(a)), None)
        returned = [as_given(r, example) for r in results] if given is None else given
        return returned[0] if len(returned) == 1 else tuple(returned)


class IteratedOnCuda:
    """An iteration that runs on the GPU, from its first to its last step inside one kernel."""

    def __init__(self, iteration: Iteration) -> None:
        self.iteration = iteration
        threads = threads_of(iteration.traced)
        self._code = GpuCode(iteration_name(iteration.traced), self._identity, self._written,
                             threads={"float": threads, "double": threads}, strict=iteration.traced.is_strict)

    def _identity(self) -> list[Any]:
        plan = self.iteration.plan
        return ["iterated", self.iteration.traced.key, plan.moves, plan.feeds, plan.kept, plan.repeats]

    def _written(self, precision: str, strides: Sequence[Strides]) -> Written:
        """Limb by limb where a thread would have more values at hand than it has registers for."""
        limbed = limbed_program(self.iteration, precision)
        room = loaded_cupy().cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]
        shared = memory_of_block(limbed, self.iteration, precision) if limbed else 0
        limbed = limbed if shared <= room else None
        text = cuda_iteration(self.iteration, precision, strides=strides, limbed=limbed)
        return Written(text, shared=shared, together=together_in(limbed, precision)) if limbed else Written(text)

    def __call__(self, arrays: Sequence[Array], turns: Turns, dtype: str, *, out: Sequence[Array] | None,
                 threads: int) -> tuple[Array, ...]:
        if threads != 1:
            raise UnsupportedError("a GPU has its own threads, one a trajectory: leave `threads` out")
        program = self.iteration.traced
        plan = self.iteration.plan
        lengths = {CHANGING: (turns.steps,), CYCLING: (turns.cycle,)}
        loops = [lengths.get(moves, ()) for moves in plan.moves]
        batch = batch_of([v.name for v in program.inputs],
                         [loop + v.shape for loop, v in zip(loops, program.inputs, strict=True)], arrays)
        inputs = [(a, loop, v.shape) for a, loop, v in zip(arrays, loops, program.inputs, strict=True)]
        outputs = [(program.outputs[k].name, (turns.samples,), program.outputs[k].shape) for k in plan.kept]
        results = self._code(loaded_cupy(), dtype, batch, [turns.samples, turns.every, turns.cycle], inputs, outputs,
                             None if out is None else list(out))
        return tuple(results if out is None else out)


BACKEND = Cuda()
