"""Arrays on a GPU, of CuPy, torch, JAX or others: seen as CuPy arrays on the same memory, each in its turn."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.signature import joined_batch
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import SignatureError, UnsupportedError

if TYPE_CHECKING:
    from types import ModuleType

Shape = tuple[int, ...]


def loaded_cupy() -> Scalar:
    """CuPy, if it is there and finds a GPU."""
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


def is_on_gpu(value: object) -> bool:
    """True if this is an array of any library that lies on a GPU."""
    return hasattr(value, "__cuda_array_interface__")


def is_here(given: Scalar) -> bool:
    """True if this is an array of NumPy, which is not on the GPU."""
    return type(given) is np.ndarray


def on_gpu(cupy: ModuleType, argument: ArrayLike, name: str) -> Scalar:
    """An argument as a CuPy array: copied if it is here, else where it lies."""
    if is_here(argument) or isinstance(argument, (int, float, list, tuple, np.generic)):
        argument = np.asarray(argument)
        if argument.dtype.kind not in "fiub":
            raise UnsupportedError(f"argument {name!r} is {argument.dtype}: kernels take real numbers")
        return cupy.asarray(argument)
    return view(cupy, argument, name)


def view(cupy: ModuleType, argument: Scalar, name: str) -> Scalar:
    """An array of any library as a CuPy array on the same memory.

    DLPack goes first, since it orders the streams of both."""
    if isinstance(argument, cupy.ndarray):
        return argument
    argument = argument.detach() if _library(argument) == "torch" else argument
    try:
        if hasattr(argument, "__dlpack__") and argument.__dlpack_device__()[0] != 1:  # 1 is the CPU
            return cupy.from_dlpack(argument)
    except (BufferError, RuntimeError, TypeError, ValueError):
        pass
    if is_on_gpu(argument):
        return cupy.asarray(argument)
    raise UnsupportedError(
        f"argument {name!r} is a {type(argument).__name__} that is not on the GPU: move it there first")


def as_given(array: Scalar, example: object) -> Scalar:
    """A CuPy array as one of the library of the example, on the same memory."""
    library = _library(example)
    if library == "torch":
        return sys.modules["torch"].from_dlpack(array)
    if library in ("jax", "jaxlib"):
        return sys.modules["jax"].numpy.from_dlpack(array)
    return array


def _library(example: object) -> str:
    return type(example).__module__.partition(".")[0]


@contextmanager
def in_turn(cupy: ModuleType) -> Iterator[None]:
    """Between what torch's current stream has been given so far and what it will be given next.

    CuPy's stream takes the kernel. Where torch is on another, each waits for the other, on the GPU, not here."""
    torch: Any = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "cuda") or not torch.cuda.is_initialized():
        yield
        return
    ours = cupy.cuda.get_current_stream()
    theirs = _stream(cupy, torch.cuda.current_stream())
    if ours.ptr == theirs.ptr:
        yield
        return
    ours.wait_event(theirs.record())
    yield
    theirs.wait_event(ours.record())


def _stream(cupy: ModuleType, theirs: Scalar) -> Scalar:
    """A stream of torch as CuPy's. Before CuPy 14, or if the stream does not tell its address itself, the older way."""
    if hasattr(cupy.cuda.Stream, "from_external") and hasattr(theirs, "__cuda_stream__"):
        return cupy.cuda.Stream.from_external(theirs)
    return cupy.cuda.ExternalStream(theirs.cuda_stream)


def batch_of(names: Sequence[str], cores: Sequence[Shape], arrays: Sequence[Any]) -> Shape:
    """The leading axes of all arrays together."""
    for name, core, array in zip(names, cores, arrays, strict=True):
        if array.shape[max(0, array.ndim - len(core)):] != core:
            raise SignatureError(f"argument {name!r} has shape {array.shape}; its last axes must be {core}")
    return joined_batch([a.shape[:a.ndim - len(core)] for a, core in zip(arrays, cores, strict=True)], names)


def states(cupy: ModuleType, array: Scalar, batch: Shape, loop: Shape, core: Shape) -> Scalar:
    """The array as (states, *loop, elements), a view where the strides allow it."""
    flat = cupy.broadcast_to(array, batch + loop + core).reshape(product(batch), *loop, product(core))
    return flat if all(stride % flat.itemsize == 0 for stride in flat.strides) else cupy.ascontiguousarray(flat)


def strides_of(array: Scalar) -> list[int]:
    """The strides of an array in elements; along an axis of one element, which may have any, those of an array in a
    row."""
    found = [stride // array.itemsize for stride in array.strides]
    if array.shape[-1] <= 1:
        found[-1] = 1
    if array.shape[0] <= 1:
        found[0] = array.shape[-1]
    return found


def empty(cupy: ModuleType, batch: Shape, core: Shape, dtype: str) -> Array:
    """An array (*batch, *core) in which neighbours in the batch are neighbours in memory, as a GPU writes fastest."""
    made = cupy.empty((*core[::-1], *batch), dtype)
    last = tuple(reversed(range(len(core))))
    return made.transpose(*range(len(core), len(core) + len(batch)), *last)


def product(shape: Shape) -> int:
    return math.prod(shape)
