"""A program on a GPU, through CuPy: arrays in, arrays out. The text that is compiled is made in `cuda_source.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cayley.compiler.cuda_source import cuda_source, kernel_name
from cayley.compiler.program import Program, Variable
from cayley.errors import SignatureError, UnsupportedError

__all__ = ["OnCuda", "cuda_source", "on_cuda"]

_THREADS = 128
_PRECISION = {"float64": "double", "float32": "float"}


def on_cuda(program: Program) -> OnCuda:
    """The program as a function of arrays on the GPU."""
    return OnCuda(program)


class OnCuda:
    """A program that runs on the GPU: `f(*arguments, out=None, dtype=None)`.

    Arguments are CuPy arrays, or arrays of torch, JAX or others that lie on the GPU and speak DLPack or CUDA's array
    interface; NumPy arrays and numbers are copied there. Leading axes are the batch and broadcast. It computes in
    float32 if every argument is float32 (or `dtype` says so), otherwise in float64, and returns CuPy arrays, or what
    was given as `out` (one array or a tuple), which may be one of the arguments but must not overlap one in another
    way.
    """

    def __init__(self, program: Program):
        self.program = program
        self._compiled: dict[tuple[int, str], Any] = {}

    def __repr__(self) -> str:
        return f"<{self.program.name} on CUDA>"

    def source(self, dtype: Any = np.float64) -> str:
        """The CUDA text that is compiled."""
        return cuda_source(self.program, _PRECISION[_supported(np.dtype(dtype).name)])

    def __call__(self, *arguments: Any, out: Any = None, dtype: Any = None) -> Any:
        cupy = _cupy()
        inputs = self.program.inputs
        if len(arguments) != len(inputs):
            raise SignatureError(
                f"{self.program.name} takes {len(inputs)} arguments ({', '.join(v.name for v in inputs)}), "
                f"not {len(arguments)}")
        arrays = [_on_gpu(cupy, a, v.name) for v, a in zip(inputs, arguments, strict=True)]
        name = _common_dtype(arrays, arguments) if dtype is None else _supported(np.dtype(dtype).name)
        batch = _batch(inputs, arrays)
        states = [_states(cupy, a.astype(name, copy=False), v, batch) for v, a in zip(inputs, arrays, strict=True)]
        results = self._results(cupy, out, batch, name)
        targets = [_states(cupy, r, v, batch) for v, r in zip(self.program.outputs, results, strict=True)]
        self._launch(cupy, name, int(np.prod(batch, dtype=np.int64)), [*states, *targets])
        for result, target in zip(results, targets, strict=True):
            if not cupy.may_share_memory(result, target):
                result[...] = target.reshape(result.shape)
        given = results if out is None else out if isinstance(out, (tuple, list)) else [out]
        return given[0] if len(given) == 1 else tuple(given)

    def _results(self, cupy: Any, out: Any, batch: tuple[int, ...], name: str) -> list:
        outputs = self.program.outputs
        if out is None:
            return [cupy.empty(batch + v.shape, dtype=name) for v in outputs]
        given = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(given) != len(outputs):
            raise SignatureError(f"{self.program.name} has {len(outputs)} outputs; out= has {len(given)} arrays")
        results = [_view(cupy, g, v.name) for g, v in zip(given, outputs, strict=True)]
        for variable, result in zip(outputs, results, strict=True):
            if result.shape != batch + variable.shape or result.dtype != name:
                raise SignatureError(f"out= for {variable.name!r} is {result.dtype} of shape {result.shape}; "
                                     f"it must be {name} of shape {batch + variable.shape}")
        return results

    def _launch(self, cupy: Any, name: str, count: int, operands: Sequence[Any]) -> None:
        if not count:
            return
        parameters: list[Any] = [np.int64(count)]
        for array in operands:
            parameters += [array, *(np.int64(stride // array.itemsize) for stride in array.strides)]
        self._function(cupy, name)((-(-count // _THREADS),), (_THREADS,), tuple(parameters))

    def _function(self, cupy: Any, name: str) -> Any:
        key = cupy.cuda.Device().id, name
        if key not in self._compiled:
            module = cupy.RawModule(code=cuda_source(self.program, _PRECISION[name]))
            self._compiled[key] = module.get_function(kernel_name(self.program))
        return self._compiled[key]

    def __reduce__(self):
        return OnCuda, (self.program,)


def _cupy() -> Any:
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


def _on_gpu(cupy: Any, argument: Any, name: str) -> Any:
    if isinstance(argument, (int, float, list, tuple, np.ndarray, np.generic)):
        argument = np.asarray(argument)
        if argument.dtype.kind not in "fiub":
            raise UnsupportedError(f"argument {name!r} holds {argument.dtype}: kernels take real numbers")
        return cupy.asarray(argument)
    return _view(cupy, argument, name)


def _view(cupy: Any, argument: Any, name: str) -> Any:
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


def _supported(name: str) -> str:
    if name not in _PRECISION:
        raise UnsupportedError(f"kernels compute in float64 or float32, not in {name}")
    return name


def _common_dtype(arrays: Sequence[Any], arguments: Sequence[Any]) -> str:
    """float32 if every array is float32 or float16 (Python's own numbers adapt), float64 otherwise."""
    for array in arrays:
        if array.dtype.kind not in "fiub":
            raise UnsupportedError(f"kernels take real numbers, not {array.dtype}")
    fixed = [
        array.dtype for array, argument in zip(arrays, arguments, strict=True)
        if not isinstance(argument, (int, float))]
    return "float32" if fixed and all(d.kind == "f" and d.itemsize <= 4 for d in fixed) else "float64"


def _batch(variables: Sequence[Variable], arrays: Sequence[Any]) -> tuple[int, ...]:
    for variable, array in zip(variables, arrays, strict=True):
        if array.shape[max(0, array.ndim - len(variable.shape)):] != variable.shape:
            raise SignatureError(
                f"argument {variable.name!r} has shape {array.shape}; its last axes must be {variable.shape}")
    shapes = [array.shape[:array.ndim - len(variable.shape)] for variable, array in zip(variables, arrays, strict=True)]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        named = ", ".join(f"{v.name} {shape}" for v, shape in zip(variables, shapes, strict=True))
        raise SignatureError(f"the leading axes of the arguments do not broadcast: {named}") from None


def _states(cupy: Any, array: Any, variable: Variable, batch: tuple[int, ...]) -> Any:
    """The array as (states, elements), a view where the strides allow it."""
    flat = cupy.broadcast_to(array, batch + variable.shape).reshape(int(np.prod(batch, dtype=np.int64)),
                                                                    len(variable.nodes))
    return flat if all(stride % flat.itemsize == 0 for stride in flat.strides) else cupy.ascontiguousarray(flat)
