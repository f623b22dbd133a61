"""A GPU, through CuPy: arrays in, arrays out.

The text that is compiled is made in `cuda_source` and `cuda_iteration`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.backends.protocol import Backend
from cayley.compiler.cuda_iteration import cuda_iteration, iteration_name
from cayley.compiler.cuda_source import cuda_source, kernel_name
from cayley.compiler.iteration import CHANGING, CYCLING, Iteration, Turns
from cayley.compiler.precision import PRECISION, computed_in, dtype_name
from cayley.compiler.program import Program
from cayley.compiler.signature import joined_batch
from cayley.compiler.typing import Array, ArrayLike, DTypeLike, Scalar
from cayley.errors import SignatureError, UnsupportedError

if TYPE_CHECKING:
    from types import ModuleType

_THREADS = 128
Shape = tuple[int, ...]


class Cuda(Backend):
    """One kernel of CUDA: a thread a state, or a thread a trajectory."""

    title = "CUDA"

    def files(self, program: Program, precision: str) -> dict[str, str]:
        return {f"{kernel_name(program)}.cu": cuda_source(program, precision)}

    def function(self, program: Program) -> OnCuda:
        return OnCuda(program)

    def iteration_files(self, iteration: Iteration, name: str, precision: str) -> dict[str, str]:
        return {f"{name}.cu": cuda_iteration(iteration, precision, name)}

    def iterated(self, iteration: Iteration) -> IteratedOnCuda:
        return IteratedOnCuda(iteration)

    def array(self, argument: ArrayLike, label: str) -> Array:
        return _on_gpu(_cupy(), argument, label)


class OnCuda:
    """A program that runs on the GPU: `f(*arguments, out=None, dtype=None)`.

    Arguments are CuPy arrays, or arrays of torch, JAX or others that lie on the GPU and speak DLPack or CUDA's array
    interface; NumPy arrays and numbers are copied there. Leading axes are the batch and broadcast. It computes in
    float32 if every argument is float32 (or `dtype` says so), otherwise in float64, and returns CuPy arrays, or what
    was given as `out` (one array or a tuple), which may be one of the arguments but must not overlap one in another
    way; into arrays of NumPy results are copied.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._code = _Code(kernel_name(program), lambda precision: cuda_source(program, precision))

    def __repr__(self) -> str:
        return f"<{self.program.name} on CUDA>"

    def __reduce__(self) -> tuple[type[OnCuda], tuple[Program]]:
        return OnCuda, (self.program,)

    def source(self, dtype: DTypeLike = np.float64) -> str:
        """The CUDA text that is compiled."""
        return cuda_source(self.program, PRECISION[dtype_name(dtype)])

    def __call__(self, *arguments: ArrayLike, out: Array | Sequence[Array] | None = None,
                 dtype: DTypeLike | None = None) -> Array | tuple[Array, ...]:
        cupy = _cupy()
        inputs = self.program.inputs
        names = [v.name for v in inputs]
        if len(arguments) != len(inputs):
            raise SignatureError(
                f"{self.program.name} takes {len(inputs)} arguments ({', '.join(names)}), not {len(arguments)}")
        arrays = [_on_gpu(cupy, a, name) for name, a in zip(names, arguments, strict=True)]
        precision = computed_in(self.program.name, names, arguments, arrays, dtype)
        batch = _batch(names, [v.shape for v in inputs], arrays)
        given: list[Any] | None = None if out is None else [*out] if isinstance(out, (tuple, list)) else [out]
        results = self._code(cupy, precision, batch, [],
                             [(a, (), v.shape) for v, a in zip(inputs, arrays, strict=True)],
                             [(v.name, (), v.shape) for v in self.program.outputs], given)
        returned = results if given is None else given
        return returned[0] if len(returned) == 1 else tuple(returned)


class IteratedOnCuda:
    """An iteration that runs on the GPU, from its first to its last step inside one kernel."""

    def __init__(self, iteration: Iteration) -> None:
        self.iteration = iteration
        self._code = _Code(iteration_name(iteration), lambda precision: cuda_iteration(iteration, precision))

    def __call__(self, arrays: Sequence[Array], turns: Turns, dtype: str, *, out: Sequence[Array] | None,
                 threads: int) -> tuple[Array, ...]:
        if threads != 1:
            raise UnsupportedError("a GPU has its own threads, one a trajectory: leave `threads` out")
        program = self.iteration.traced
        plan = self.iteration.plan
        lengths = {CHANGING: (turns.steps,), CYCLING: (turns.cycle,)}
        loops = [lengths.get(moves, ()) for moves in plan.moves]
        batch = _batch([v.name for v in program.inputs],
                       [loop + v.shape for loop, v in zip(loops, program.inputs, strict=True)], arrays)
        inputs = [(a, loop, v.shape) for a, loop, v in zip(arrays, loops, program.inputs, strict=True)]
        outputs = [(program.outputs[k].name, (turns.samples,), program.outputs[k].shape) for k in plan.kept]
        results = self._code(_cupy(), dtype, batch, [turns.samples, turns.every, turns.cycle], inputs, outputs,
                             None if out is None else list(out))
        return tuple(results if out is None else out)


class _Code:
    """A kernel of CUDA with its code for each device and precision. Operands have axes of the batch, of a loop, and of
    the core."""

    def __init__(self, name: str, text: Callable[[str], str]) -> None:
        self._name = name
        self._text = text
        self._compiled: dict[tuple[int, str], Any] = {}

    def __call__(self, cupy: ModuleType, dtype: str, batch: Shape, lengths: Sequence[int],
                 inputs: Sequence[tuple[Any, Shape, Shape]], outputs: Sequence[tuple[str, Shape, Shape]],
                 out: Sequence[Any] | None) -> list[Any]:
        """The results, for inputs given as (array, loop, core) and outputs as (name, loop, core)."""
        states = [_states(cupy, a.astype(dtype, copy=False), batch, loop, core) for a, loop, core in inputs]
        results = self._results(cupy, out, batch, dtype, outputs)
        targets = [_states(cupy, r, batch, loop, core) for r, (_, loop, core) in zip(results, outputs, strict=True)]
        self._launch(cupy, dtype, [_product(batch), *lengths], [*states, *targets])
        for result, target in zip(results, targets, strict=True):
            if not cupy.may_share_memory(result, target):
                result[...] = target.reshape(result.shape)
        for given, result in zip(out or (), results, strict=False):
            if _is_here(given):
                given[...] = cupy.asnumpy(result)
        return results

    def _results(self, cupy: ModuleType, out: Sequence[Any] | None, batch: Shape, dtype: str,
                 outputs: Sequence[tuple[str, Shape, Shape]]) -> list[Any]:
        if out is None:
            return [cupy.empty(batch + loop + core, dtype=dtype) for _, loop, core in outputs]
        if len(out) != len(outputs):
            raise SignatureError(f"{self._name} has {len(outputs)} outputs; out= has {len(out)} arrays")
        results = [cupy.empty(given.shape, dtype=given.dtype) if _is_here(given) else _view(cupy, given, name)
                   for given, (name, _, _) in zip(out, outputs, strict=True)]
        for result, (name, loop, core) in zip(results, outputs, strict=True):
            if result.shape != batch + loop + core or result.dtype != dtype:
                raise SignatureError(f"out= for {name!r} is {result.dtype} of shape {result.shape}; "
                                     f"it must be {dtype} of shape {batch + loop + core}")
        return results

    def _launch(self, cupy: ModuleType, dtype: str, lengths: Sequence[int], operands: Sequence[Any]) -> None:
        if not lengths[0]:
            return
        parameters: list[Any] = [np.int64(length) for length in lengths]
        for array in operands:
            parameters += [array, *(np.int64(stride // array.itemsize) for stride in array.strides)]
        self._function(cupy, dtype)((-(-lengths[0] // _THREADS),), (_THREADS,), tuple(parameters))

    def _function(self, cupy: ModuleType, dtype: str) -> Scalar:
        key = cupy.cuda.Device().id, dtype
        if key not in self._compiled:
            self._compiled[key] = cupy.RawModule(code=self._text(PRECISION[dtype])).get_function(self._name)
        return self._compiled[key]


def _cupy() -> Scalar:
    try:
        import cupy
    except ImportError as error:
        raise UnsupportedError(
            "kernels on a GPU need CuPy: pip install cupy-cuda12x (or cupy-cuda13x, as your driver is)") from error
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise UnsupportedError(f"CuPy finds no GPU: {error}") from error
    return cupy


def _is_here(given: Scalar) -> bool:
    """Whether this is an array of NumPy, which is not on the GPU."""
    return type(given) is np.ndarray


def _on_gpu(cupy: ModuleType, argument: ArrayLike, name: str) -> Scalar:
    if isinstance(argument, (int, float, list, tuple, np.ndarray, np.generic)):
        argument = np.asarray(argument)
        if argument.dtype.kind not in "fiub":
            raise UnsupportedError(f"argument {name!r} is {argument.dtype}: kernels take real numbers")
        return cupy.asarray(argument)
    return _view(cupy, argument, name)


def _view(cupy: ModuleType, argument: Scalar, name: str) -> Scalar:
    """An array of any library as a CuPy array on the same memory.

    DLPack goes first, since it orders the streams of both.
    """
    if isinstance(argument, cupy.ndarray):
        return argument
    try:
        if hasattr(argument, "__dlpack__") and argument.__dlpack_device__()[0] != 1:  # 1 is the CPU
            return cupy.from_dlpack(argument)
    except (BufferError, RuntimeError, TypeError, ValueError):
        pass
    if hasattr(argument, "__cuda_array_interface__"):
        return cupy.asarray(argument)
    raise UnsupportedError(
        f"argument {name!r} is a {type(argument).__name__} that is not on the GPU: move it there first")


def _batch(names: Sequence[str], cores: Sequence[Shape], arrays: Sequence[Any]) -> Shape:
    for name, core, array in zip(names, cores, arrays, strict=True):
        if array.shape[max(0, array.ndim - len(core)):] != core:
            raise SignatureError(f"argument {name!r} has shape {array.shape}; its last axes must be {core}")
    return joined_batch([a.shape[:a.ndim - len(core)] for a, core in zip(arrays, cores, strict=True)], names)


def _states(cupy: ModuleType, array: Scalar, batch: Shape, loop: Shape, core: Shape) -> Scalar:
    """The array as (states, *loop, elements), a view where the strides allow it."""
    flat = cupy.broadcast_to(array, batch + loop + core).reshape(_product(batch), *loop, _product(core))
    return flat if all(stride % flat.itemsize == 0 for stride in flat.strides) else cupy.ascontiguousarray(flat)


def _product(shape: Shape) -> int:
    return int(np.prod(shape, dtype=np.int64))


BACKEND = Cuda()
