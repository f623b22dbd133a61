"""The processor of this machine: the width of its vectors, and how assembly becomes code that can be called."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import llvmlite
from llvmlite import binding

from cayley.compiler.typing import Scalar
from cayley.compiler.versions import require_package

require_package(llvmlite)
VECTOR_BYTES = {"avx512f": 64, "avx": 32, "neon": 16, "sse2": 16}


@dataclass(frozen=True)
class Processor:
    """A processor as LLVM sees it."""

    triple: str
    cpu: str
    features: str
    vector_bytes: int
    fused: bool
    optimising: bool = True

    def width(self, precision: str) -> int:
        """States computed at once."""
        return self.vector_bytes // (8 if precision == "double" else 4)

    @property
    def identity(self) -> str:
        """The facts that machine code depends on besides the program."""
        return "|".join((self.triple, self.cpu, self.features, llvmlite.__version__, str(binding.llvm_version_info),
                         "" if self.optimising else "quick"))


def host() -> Processor:
    """The machine that this process runs on. With CAYLEY_COMPILE=quick code for it is not optimised."""
    return _host(os.environ.get("CAYLEY_COMPILE") != "quick")


@lru_cache
def _host(optimising: bool) -> Processor:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    features = binding.get_host_cpu_features()
    arm = platform.machine().lower() in ("arm64", "aarch64")
    has = {name for name, present in features.items() if present} | ({"neon", "fma"} if arm else {"sse2"})
    vector_bytes = next(size for name, size in VECTOR_BYTES.items() if name in has)
    return Processor(binding.get_process_triple(), binding.get_host_cpu_name(), features.flatten(), vector_bytes,
                   fused="fma" in has, optimising=optimising)


def _target_machine(machine: Processor) -> Scalar:
    target = binding.Target.from_triple(machine.triple)
    return target.create_target_machine(cpu=machine.cpu, features=machine.features,
                                        opt=2 if machine.optimising else 0, jit=True)


def assemble(text: str, machine: Processor, is_plain: bool = False) -> bytes:
    """Object code of a module of LLVM assembly. What is plain needs no optimisation."""
    module = binding.parse_assembly(text)
    target_machine = _target_machine(machine)
    if not is_plain:
        module.verify()
        if machine.optimising:
            _optimise(module, target_machine)
    return target_machine.emit_object(module)


def _optimise(module: Any, target_machine: Any) -> None:  # noqa: ANN401 (llvmlite has no types)
    options = binding.create_pipeline_tuning_options(speed_level=1)
    options.slp_vectorization = options.loop_vectorization = options.loop_unrolling = False
    passes = binding.create_pass_builder(target_machine, options)
    manager = passes.getModulePassManager()
    try:
        manager.run(module, passes)
    finally:
        _dispose(manager)


def _dispose(manager: Any) -> None:  # noqa: ANN401 (llvmlite has no types)
    """Free a pass manager. llvmlite's own `close` does not: of two inherited `_dispose` it takes the one that does
    nothing."""
    for kind in type(manager).__mro__:
        if "_dispose" in vars(kind) and kind is not binding.ffi.ObjectRef:
            kind._dispose(manager)  # type: ignore[attr-defined]
            break
    manager.detach()


class ObjectCode:
    """Object code loaded into this process; it lives as long as this object."""

    def __init__(self, objects: list[bytes], machine: Processor) -> None:
        self._engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _target_machine(machine))
        for data in objects:
            self._engine.add_object_file(binding.ObjectFileRef.from_data(data))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        return self._engine.get_function_address(name)
