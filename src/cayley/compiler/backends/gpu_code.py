"""A kernel of CUDA, compiled by NVRTC for a device, a precision and a layout of operands when it is first called."""

from __future__ import annotations

import json
import struct
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.backends.gpu_arrays import Shape, in_turn, is_here, product, states, strides_of, view
from cayley.compiler.cuda.cuda_source import Strides
from cayley.compiler.native import cache
from cayley.compiler.precision import PRECISION
from cayley.compiler.typing import Scalar
from cayley.errors import SignatureError, UnsupportedError

if TYPE_CHECKING:
    from types import ModuleType

_WARP = 32
_RESERVED = 1024  # bytes of what a block shares, for the device itself
_WITH_ENGINE = 90  # compute capability, Hopper's
_KNOWS_ENGINE = 12000  # version of CUDA
_LAYOUTS = 256  # of operands, for which it is known how a kernel starts
RESIDENT = 6  # blocks that stay on a multiprocessor, at most: with more, memory is not read faster


@dataclass(frozen=True)
class Size:
    """Resources of a thread of a kernel: registers, and bytes of memory for values that are in none."""

    name: str
    registers: int
    local: int

    @property
    def needs(self) -> tuple[int, int]:
        """The local memory and the registers, in the order in which they are compared."""
        return self.local, self.registers

    def __str__(self) -> str:
        return f"{self.name}, {self.registers} registers and {self.local} bytes of local memory a thread"


@dataclass(frozen=True)
class Written:
    """The text of a kernel. Bytes of shared memory per block, states per tile (where blocks stay and take one tile
    after another), and states per thread."""

    text: str
    shared: int = 0
    tile: int = 0
    together: int = 1


@dataclass(frozen=True)
class Loaded:
    """A kernel on a device, with the bytes that threads share, the states of a tile, if blocks stay, and how many
    states a thread takes."""

    function: Any
    shared: int
    tile: int
    together: int


@dataclass(frozen=True)
class Launch:
    """The start of a kernel for operands of some layout that it reads and writes where they lie: `gaps` are the numbers
    that follow each of them."""

    loaded: Loaded
    blocks: int
    threads: int
    lengths: tuple[Any, ...]
    gaps: tuple[tuple[Any, ...], ...]

    def __call__(self, operands: Sequence[Any]) -> None:
        parameters = list(self.lengths)
        for array, gaps in zip(operands, self.gaps, strict=True):
            parameters += [array, *gaps]
        self.loaded.function((self.blocks,), (self.threads,), tuple(parameters), shared_mem=self.loaded.shared)


_largest: dict[int, Size] = {}
"""The largest kernel that fitted on each device."""


class GpuCode:
    """A kernel with its code for each device, precision and layout. Operands have axes of the batch, of a loop, and of
    the core. `threads` is the block size for each precision, reduced where it does not fit. Code is kept on disk under
    its `identity`."""

    def __init__(self, name: str, identity: Callable[[], list[Any]],
                 text: Callable[[str, Sequence[Strides]], Written], *, threads: Mapping[str, int],
                 strict: bool) -> None:
        self._name = name
        self._identity = identity
        self._text = text
        self._threads = threads
        self._options = ("--std=c++17", *(("--fmad=false",) if strict else ()))
        self._compiled: dict[tuple[Any, ...], Loaded] = {}
        self._launches: dict[tuple[Any, ...], Launch] = {}

    def __call__(self, cupy: ModuleType, dtype: str, batch: Shape, lengths: Sequence[int],
                 inputs: Sequence[tuple[Any, Shape, Shape]], outputs: Sequence[tuple[str, Shape, Shape]],
                 out: Sequence[Any] | None) -> list[Any]:
        """The results, for inputs given as (array, loop, core) and outputs as (name, loop, core)."""
        with in_turn(cupy):
            results = self._results(cupy, out, batch, dtype, outputs)
            operands = [*(a for a, _, _ in inputs), *results]
            layout = (cupy.cuda.Device().id, dtype, batch, *lengths,
                      *((a.dtype, a.shape, a.strides) for a in operands))
            if layout in self._launches:
                self._launches[layout](operands)
            else:
                self._first(cupy, dtype, batch, lengths, inputs, outputs, results, layout)
            for wanted, result in zip(out or (), results, strict=False):
                if is_here(wanted):
                    wanted[...] = cupy.asnumpy(result)
        return results

    def _first(self, cupy: ModuleType, dtype: str, batch: Shape, lengths: Sequence[int],
               inputs: Sequence[tuple[Any, Shape, Shape]], outputs: Sequence[tuple[str, Shape, Shape]],
               results: Sequence[Any], layout: tuple[Any, ...]) -> None:
        """The first call with operands of a layout. Where none had to be copied, the next has less to do."""
        if not product(batch):
            return
        given = [states(cupy, a.astype(dtype, copy=False), batch, loop, core) for a, loop, core in inputs]
        targets = [states(cupy, r, batch, loop, core) for r, (_, loop, core) in zip(results, outputs, strict=True)]
        launch = self._launch(cupy, dtype, [product(batch), *lengths], [*given, *targets])
        launch([*given, *targets])
        for result, target in zip(results, targets, strict=True):
            if not cupy.may_share_memory(result, target):
                result[...] = target.reshape(result.shape)
        before = [*(a for a, _, _ in inputs), *results]
        if all(_begins(a) == _begins(b) for a, b in zip(before, [*given, *targets], strict=True)):
            if len(self._launches) >= _LAYOUTS:
                self._launches.clear()
            self._launches[layout] = launch

    def _results(self, cupy: ModuleType, out: Sequence[Any] | None, batch: Shape, dtype: str,
                 outputs: Sequence[tuple[str, Shape, Shape]]) -> list[Any]:
        if out is None:
            return [cupy.empty(batch + loop + core, dtype=dtype) for _, loop, core in outputs]
        if len(out) != len(outputs):
            raise SignatureError(f"{self._name} has {len(outputs)} outputs; out= has {len(out)} arrays")
        results = [cupy.empty(given.shape, dtype=given.dtype) if is_here(given) else view(cupy, given, name)
                   for given, (name, _, _) in zip(out, outputs, strict=True)]
        for result, (name, loop, core) in zip(results, outputs, strict=True):
            if result.shape != batch + loop + core or result.dtype != dtype:
                raise SignatureError(f"out= for {name!r} is {result.dtype} of shape {result.shape}; "
                                     f"it must be {dtype} of shape {batch + loop + core}")
        return results

    def _launch(self, cupy: ModuleType, dtype: str, lengths: Sequence[int], operands: Sequence[Any]) -> Launch:
        strides = [strides_of(array) for array in operands]
        known = tuple(_known(array, own) for array, own in zip(operands, strides, strict=True))
        gaps = tuple(tuple(np.int64(stride) for stride, number in zip(own, fixed, strict=True) if number is None)
                     for own, fixed in zip(strides, known, strict=True))
        loaded = self._function(cupy, dtype, known)
        fit = loaded.function.max_threads_per_block // _WARP * _WARP
        threads = loaded.tile or min(self._threads[PRECISION[dtype]], fit)
        blocks = -(-lengths[0] // (threads * loaded.together))
        blocks = min(blocks, _staying(cupy, loaded)) if loaded.tile else blocks
        return Launch(loaded, blocks, threads, tuple(np.int64(each) for each in lengths), gaps)

    def _function(self, cupy: ModuleType, dtype: str, known: tuple[Strides, ...]) -> Loaded:
        key = cupy.cuda.Device().id, dtype, known
        if key not in self._compiled:
            try:
                code, shared, tile, together = self._code(cupy, PRECISION[dtype], known)
                function, size = _loaded(cupy, code, self._name)
                if shared:
                    function.max_dynamic_shared_size_bytes = shared
            except (cupy.cuda.compiler.CompileException, cupy.cuda.driver.CUDADriverError) as error:
                raise UnsupportedError(f"{self._name} does not fit on the GPU: {_first_line(error)}"
                                       f"{_advice(cupy)}") from error
            _check(cupy, size)
            self._compiled[key] = Loaded(function, shared, tile, together)
        return self._compiled[key]

    def _code(self, cupy: ModuleType, precision: str, known: tuple[Strides, ...]) -> tuple[bytes, int, int, int]:
        """The code for the present device, the bytes that threads share, the states of a tile, and how many a thread
        takes: from the cache, or compiled now. CuPy's own way would take the smallest numbers for zero."""
        key = json.dumps(["cuda", self._identity(), precision, known, str(cupy.cuda.Device().compute_capability),
                          cupy.cuda.runtime.runtimeGetVersion(), self._options, cache.compiler_text()])
        found = cache.load(key)
        if found is None:
            written = self._text(precision, known)
            found = [cupy.cuda.compiler.compile_using_nvrtc(written.text, self._options)[0],
                     struct.pack("<QQQ", written.shared, written.tile, written.together)]
            cache.store(key, found)
        return found[0], *struct.unpack("<QQQ", found[1])


def moves_tiles(cupy: ModuleType) -> bool:
    """True if the device has an engine that copies tiles, and the compiler knows of it."""
    return (int(cupy.cuda.Device().compute_capability) >= _WITH_ENGINE
            and cupy.cuda.runtime.runtimeGetVersion() >= _KNOWS_ENGINE)


def _staying(cupy: ModuleType, loaded: Loaded) -> int:
    """The blocks that stay: as many as are at work at once, of a thread for each state of a tile. An even number of two
    warps each gives the four schedulers of a multiprocessor as much to do."""
    about = cupy.cuda.Device().attributes
    registers = -(-loaded.function.num_regs // 8) * 8 * loaded.tile
    fit = min(about["MaxRegistersPerMultiprocessor"] // registers, about["MaxThreadsPerMultiProcessor"] // loaded.tile,
              about["MaxSharedMemoryPerMultiprocessor"] // (loaded.shared + _RESERVED))
    most = min(fit, RESIDENT)
    return about["MultiProcessorCount"] * (most - most % 2 or 1)


def _begins(array: Scalar) -> int:
    return array.__cuda_array_interface__["data"][0]


def _loaded(cupy: ModuleType, code: bytes, name: str) -> tuple[Any, Size]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.cubin"
        path.write_bytes(code)
        function = cupy.RawModule(path=str(path)).get_function(name)
        return function, Size(name, function.num_regs, function.local_size_bytes)


def _known(array: Scalar, strides: Sequence[int]) -> Strides:
    """The strides of an operand (states, ..., elements) that are written into the text: of rows, of columns and of what
    is the same for all. There are few of these, and so few texts."""
    state, *turns, element = strides
    return (state if state in (0, 1, array.shape[-1]) else None, *[None for _ in turns], 1 if element == 1 else None)


def _check(cupy: ModuleType, size: Size) -> None:
    """Refuse a kernel for which the memory of all threads that can be on the way does not suffice."""
    device = cupy.cuda.Device()
    about = device.attributes
    resident = about["MultiProcessorCount"] * about["MaxThreadsPerMultiProcessor"]
    free = cupy.cuda.runtime.memGetInfo()[0]
    if size.local * resident > free:
        raise UnsupportedError(
            f"{size} does not fit on the GPU: {resident} threads would take {size.local * resident / 2**30:.1f} GiB of "
            f"the {free / 2**30:.1f} GiB that are free{_advice(cupy)}")
    if device.id not in _largest or _largest[device.id].needs < size.needs:
        _largest[device.id] = size


def _advice(cupy: ModuleType) -> str:
    largest = _largest.get(cupy.cuda.Device().id)
    fitted = f"; the largest that has fitted so far is {largest}" if largest else ""
    return f"{fitted}. Take float32, a method of fewer stages, or the processor"


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
