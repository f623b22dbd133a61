"""From a program to something that can be called: assembly, object code, cache, ufunc and native function."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from cayley.compiler.native import cache, numpy_api
from cayley.compiler.native.llvm import Core
from cayley.compiler.native.loop import batch_loop, is_inlined, rows
from cayley.compiler.native.machine import ObjectCode, Processor, assemble, host
from cayley.compiler.native.native_call import native_call, native_function
from cayley.compiler.native.vector_assembly import Assembly
from cayley.compiler.precision import PRECISION
from cayley.compiler.signature import spell
from cayley.compiler.tracing.program import Program, without_collection
from cayley.progress import counted

_PATIENCE = 2.0


Jobs = list[Callable[[], Assembly]]


class Compiled:
    """A program with machine code for batches in each precision and for single states, each made when it is first
    needed.

    Code is looked up by the program as it was `traced`; `simplified` is called only if it must be compiled."""

    def __init__(self, traced: Program, simplified: Callable[[], Program], general: Callable[..., Any],
                 make_result: Callable[..., Any] | None, *, explains_nan: bool = False,
                 unknown: tuple[int, ...] = ()) -> None:
        self.traced = traced
        self._simplified = simplified
        self._general = general
        self._make_result = make_result
        self._explains_nan = explains_nan
        self._unknown = unknown
        self._ufuncs: dict[str, np.ufunc] = {}

    def ufunc(self, dtype: str) -> np.ufunc:
        """The generalized ufunc for "float64" or "float32"."""
        if dtype not in self._ufuncs:
            self._ufuncs[dtype] = self._make_ufunc(dtype)
        return self._ufuncs[dtype]

    def _make_ufunc(self, dtype: str) -> np.ufunc:
        program = self.traced
        precision = PRECISION[dtype]
        code = loaded(self._objects([precision], lambda: _batch_jobs(self._simplified(), precision)), precision)
        sides = [",".join(core_shape(v.shape) for v in side) for side in (program.inputs, program.outputs)]
        return numpy_api.ufunc_from_loop(code.address("loop"),
                                         np.dtype(dtype).num, len(program.inputs), len(program.outputs),
                                         "->".join(sides), program.name, program.description, code)

    @cached_property
    def native(self) -> Callable[..., Any]:
        """The quick way in for one state in float64; anything else it hands to the general call."""
        named = self._make_result is not None
        what = ["call", named, self._explains_nan, *self._unknown]
        code = ObjectCode(self._objects(what, self._call_jobs), host())
        return native_function(code.address("call"), self.traced.name, self._general, self._make_result, code)

    def _call_jobs(self) -> Jobs:
        """Pieces to compile for single states."""
        core = Core(self._simplified(), 1, "double", fused=host().fused)
        return [*_all_parts(core), lambda: native_call(core, named=self._make_result is not None,
                                                       explains_nan=self._explains_nan, unknown=self._unknown)]

    def _objects(self, what: list[Any], jobs: Callable[[], Jobs]) -> list[bytes]:
        with without_collection():
            return object_code([self.traced.key, *what], jobs, self.traced.name)


def core_shape(shape: Sequence[int | str]) -> str:
    """A core shape for NumPy, which wants a name where the length is zero."""
    return spell([length or "zero" for length in shape])


def loaded(own: list[bytes], precision: str) -> ObjectCode:
    """Object code in this process, with the functions that it calls."""
    return ObjectCode([*_row_objects(precision, host()), *own], host())


@lru_cache
def _row_objects(precision: str, machine: Processor) -> tuple[bytes, ...]:
    """Object code that every program of this precision shares."""
    return tuple(object_code(["rows", precision], lambda: [lambda: rows(precision, machine.width(precision))], "rows"))


def object_code(what: list[Any], jobs: Callable[[], Jobs], title: str) -> list[bytes]:
    """Object code, from the cache or compiled now and stored there."""
    key = json.dumps([what, host().identity, numpy_api.abi, cache.compiler_text()])
    objects = cache.load(key)
    if objects is None:
        with without_collection():
            objects = [_assembled(job()) for job in _with_progress(jobs(), f"compiling {title}")]
        cache.store(key, objects)
    return objects


def _assembled(assembly: Assembly) -> bytes:
    return assemble(assembly.text(), host(), assembly.is_plain)


def _batch_jobs(program: Program, precision: str) -> Jobs:
    """Pieces to compile for batches."""
    core = Core(program, host().width(precision), precision, fused=host().fused)
    return [lambda: batch_loop(core), *core_parts(core)]


def core_parts(core: Core) -> Jobs:
    """The functions of a core that is too large to be part of its loop."""
    return [] if is_inlined(core) else _all_parts(core)


def _all_parts(core: Core) -> Jobs:
    return [lambda c=c, k=k: c.part(k) for c in (core, *core.callees.values())  # type: ignore[misc]
            for k in range(len(c.parts))]


def _with_progress(jobs: Jobs, title: str) -> Iterator[Callable[[], Assembly]]:
    """The jobs one after the other, with a progress bar once the work has taken a while."""
    started = time.monotonic()
    waiting = iter(jobs)
    for done, job in enumerate(waiting, 1):
        yield job
        if time.monotonic() - started > _PATIENCE and done < len(jobs):
            yield from _shown(waiting, title, done, len(jobs))


def _shown(waiting: Iterable[Callable[[], Assembly]], title: str, done: int,
           total: int) -> Iterator[Callable[[], Assembly]]:
    with counted(title, total, done=done) as advance:
        for job in waiting:
            yield job
            advance()
