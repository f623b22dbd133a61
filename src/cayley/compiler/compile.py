"""From a program to something that can be called: assembly, object code, cache, ufunc and native function."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from cayley.compiler import cache, numpy_api
from cayley.compiler.llvm import Core
from cayley.compiler.loop import batch_loop, is_inlined, rows
from cayley.compiler.machine import Code, assemble, host
from cayley.compiler.native_call import native_call, native_function
from cayley.compiler.program import Program
from cayley.compiler.signature import spell
from cayley.compiler.vector_assembly import Assembly

_PATIENCE = 2.0
_LARGEST_NATIVE = 40_000  # operations; beyond, compiling them twice is not worth the quicker call


class Compiled:
    """A program with machine code for each precision, made when it is first needed.

    Code is looked up by the program as it was `traced`; `simplified` is called only if it must be compiled.
    """

    def __init__(self, traced: Program, simplified: Callable[[], Program], general: Callable,
                 make_result: Callable | None, *, explains_nan: bool = False):
        self.traced = traced
        self._simplified = simplified
        self._general = general
        self._make_result = make_result
        self._explains_nan = explains_nan
        self._ufuncs: dict[str, np.ufunc] = {}

    def ufunc(self, dtype: str) -> np.ufunc:
        """The generalized ufunc for "float64" or "float32"."""
        if dtype not in self._ufuncs:
            self._ufuncs[dtype] = self._make_ufunc(dtype)
        return self._ufuncs[dtype]

    def _make_ufunc(self, dtype: str) -> np.ufunc:
        program = self.traced
        code = self._double if dtype == "float64" else self._code("float", None)
        sides = [",".join(core_shape(v.shape) for v in side) for side in (program.inputs, program.outputs)]
        return numpy_api.ufunc_from_loop(code.address("loop"),
                                         np.dtype(dtype).num, len(program.inputs), len(program.outputs),
                                         "->".join(sides), program.name, program.description, code)

    @property
    def _has_native(self) -> bool:
        return len(self.traced.nodes) <= _LARGEST_NATIVE

    @cached_property
    def _double(self) -> Code:
        return self._code("double", self._make_result is not None if self._has_native else None)

    def _code(self, precision: str, named: bool | None) -> Code:
        """Loaded code. `named` adds the native call, with that kind of result."""
        what = [self.traced.key, precision, named, *(["explains NaN"] if self._explains_nan else [])]
        own = object_code(what, lambda: _assemblies(self._simplified(), precision, named, self._explains_nan),
                          self.traced.name)
        return loaded(own, precision)

    @cached_property
    def native(self) -> Callable:
        """The quick way in for one state in float64; anything else it hands to the general call."""
        if not self._has_native:
            return self._general
        return native_function(self._double.address("call"), self.traced.name, self._general, self._make_result,
                               self._double)


def core_shape(shape: Sequence[int | str]) -> str:
    """A core shape for NumPy, which wants a name where the length is zero."""
    return spell([length or "zero" for length in shape])


def loaded(own: list[bytes], precision: str) -> Code:
    """Object code in this process, with the functions that it calls."""
    return Code([*_row_objects(precision), *own], host())


@lru_cache
def _row_objects(precision: str) -> tuple[bytes, ...]:
    """What every program of this precision shares."""
    return tuple(object_code(["rows", precision], lambda: [lambda: rows(precision, host().width(precision))], "rows"))


@lru_cache
def _compiler_text() -> str:
    """A fingerprint of the compiler itself: code made by another version of it is not this one's."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def object_code(what: list, jobs: Callable[[], list[Callable[[], Assembly]]], title: str) -> list[bytes]:
    """Object code, from the cache or compiled now and stored there."""
    key = json.dumps([what, host().identity, numpy_api.abi, _compiler_text()])
    objects = cache.load(key)
    if objects is None:
        objects = [assemble(job().text(), host()) for job in _with_progress(jobs(), f"compiling {title}")]
        cache.store(key, objects)
    return objects


def _assemblies(program: Program, precision: str, named: bool | None,
                explains_nan: bool) -> list[Callable[[], Assembly]]:
    """What there is to compile, piece by piece."""
    machine = host()
    core = Core(program, machine.width(precision), precision, fused=machine.fused)
    jobs = [lambda: batch_loop(core), *core_parts(core)]
    if named is not None:
        single = Core(program, 1, precision, fused=machine.fused)
        jobs += [*[lambda k=k: single.part(k) for k in range(len(single.parts))],
                 lambda: native_call(single, named=named, explains_nan=explains_nan)]
    return jobs


def core_parts(core: Core) -> list[Callable[[], Assembly]]:
    """The functions of a core that is too large to be part of its loop."""
    return [] if is_inlined(core) else [lambda k=k: core.part(k) for k in range(len(core.parts))]  # type: ignore[misc]


def _with_progress(jobs: list[Callable[[], Assembly]], title: str) -> Iterator[Callable[[], Assembly]]:
    """The jobs one after the other, with a progress bar once the work has taken a while."""
    started = time.monotonic()
    waiting = iter(jobs)
    for done, job in enumerate(waiting, 1):
        yield job
        if time.monotonic() - started > _PATIENCE and done < len(jobs):
            yield from _shown(waiting, title, done, len(jobs))


def _shown(waiting: Iterable[Callable[[], Assembly]], title: str, done: int,
           total: int) -> Iterator[Callable[[], Assembly]]:
    from rich.console import Console
    from rich.progress import Progress
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total, completed=done)
        for job in waiting:
            yield job
            bar.advance(task)
