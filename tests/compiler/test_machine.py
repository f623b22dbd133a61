"""The same kernel for other processors than this one."""

import dataclasses
import platform

import numpy as np
import pytest
from llvmlite import binding

import cayley as cy
from cayley.compiler.native import compile, llvm
from cayley.compiler.native.loop import batch_loop, rows
from cayley.compiler.native.machine import Processor, _host, assemble, host
from cayley.compiler.native.native_call import native_call

X86 = host().triple.startswith("x86_64")


def text(q, qd):
    return np.sin(q) * qd + np.cos(q + qd) * np.sqrt(np.abs(qd)) - 3.0 * np.arctan2(q, qd)


def on(machine, monkeypatch, q, qd):
    """The results of the kernel, compiled as if this were `machine`."""
    monkeypatch.setenv("CAYLEY_CACHE", "off")
    monkeypatch.setattr(compile, "host", lambda: machine)
    compile._row_objects.cache_clear()
    kernel = cy.kernel("(n),(n)->(n)")(text)
    answers = kernel(q, qd), kernel(q[0], qd[0]), kernel(q.astype(np.float32), qd.astype(np.float32))
    compile._row_objects.cache_clear()
    return answers


@pytest.mark.skipif(not X86, reason="runs the code of other x86 processors")
@pytest.mark.parametrize("cpu, features, vector_bytes, fused", [("x86-64", "", 16, False),
                                                                ("nehalem", "+sse4.2", 16, False),
                                                                ("sandybridge", "+avx", 32, False)])
def test_older_processors_of_the_same_kind(cpu, features, vector_bytes, fused, monkeypatch):
    q, qd = np.random.default_rng(0).normal(scale=3.0, size=(2, 21, 5))
    older = dataclasses.replace(host(), cpu=cpu, features=features, vector_bytes=vector_bytes, fused=fused)
    many, one, single = on(older, monkeypatch, q, qd)
    np.testing.assert_allclose(many, text(q, qd), rtol=1e-14, atol=1e-14)
    assert (one == many[0]).all() and single.dtype == np.float32
    np.testing.assert_allclose(single, many, rtol=1e-4, atol=1e-5)


def test_the_width_of_vectors_does_not_change_a_bit(monkeypatch):
    q, qd = np.random.default_rng(0).normal(scale=3.0, size=(2, 21, 5))
    here = on(host(), monkeypatch, q, qd)
    for vector_bytes in {8, 16, 32, 64} - {host().vector_bytes}:
        other = dataclasses.replace(host(), vector_bytes=vector_bytes)
        for a, b in zip(here, on(other, monkeypatch, q, qd), strict=True):
            assert (a == b).all(), vector_bytes


@pytest.mark.parametrize("kind, present, vector_bytes, fused",
                         [("x86_64", ("sse2", "avx", "avx2", "fma", "avx512f"), 64, True),
                          ("AMD64", ("sse2", "avx", "avx2", "fma"), 32, True), ("x86_64", ("sse2", "avx"), 32, False),
                          ("x86_64", (), 16, False), ("arm64", (), 16, True), ("aarch64", ("neon", ), 16, True)])
def test_the_widest_vectors_that_the_processor_has(kind, present, vector_bytes, fused, monkeypatch):
    features = binding.get_host_cpu_features()
    features.update(dict.fromkeys(features, False) | dict.fromkeys(present, True))
    monkeypatch.setattr(binding, "get_host_cpu_features", lambda: features)
    monkeypatch.setattr(platform, "machine", lambda: kind)
    machine = _host.__wrapped__(True)
    assert (machine.vector_bytes, machine.fused) == (vector_bytes, fused)
    assert 8 * machine.width("double") == 4 * machine.width("float") == vector_bytes


def test_code_for_arm_is_made():
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    arm = Processor("aarch64-unknown-linux-gnu", "cortex-a72", "+neon", 16, True)
    program = cy.kernel("(n),(n)->(n)")(text).program(n=3)
    core, single = (llvm.Core(program, width, "double", fused=True) for width in (arm.width("double"), 1))
    for assembly in (core.part(0), batch_loop(core), rows("double",
                                                          2), single.part(0), native_call(single, named=False)):
        assert assemble(assembly.text(), arm).startswith(b"\x7fELF")
