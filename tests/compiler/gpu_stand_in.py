"""A stand-in for CuPy, where there is no GPU."""

import ctypes
import subprocess
import sys
import tempfile
import types
from pathlib import Path

import numpy as np
import pytest

STUBS = """
#include <math.h>
#include <string.h>
#define __global__
#define __device__
#define __forceinline__ inline
struct Place { unsigned x; };
static Place threadIdx, blockIdx, blockDim;
static inline double __longlong_as_double(long long bits) { double x; memcpy(&x, &bits, sizeof x); return x; }
static inline float __int_as_float(int bits) { float x; memcpy(&x, &bits, sizeof x); return x; }
static inline long long __double_as_longlong(double x) { long long bits; memcpy(&bits, &x, sizeof x); return bits; }
static inline int __float_as_int(float x) { int bits; memcpy(&bits, &x, sizeof x); return bits; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
extern "C" void place(unsigned block, unsigned threads, unsigned thread) { blockIdx.x = block; blockDim.x = threads; threadIdx.x = thread; }
"""


class Array(np.ndarray):
    """An array on the GPU."""

    @property
    def __cuda_array_interface__(self):
        return self.__array_interface__


class Function:
    """A kernel, which runs a thread at a time."""

    num_regs = 40
    local_size_bytes = 0
    max_threads_per_block = 1024

    def __init__(self, library, name):
        self.library = library
        self.name = name

    def __call__(self, blocks, threads, parameters):
        values = [ctypes.c_void_p(p.ctypes.data) if isinstance(p, Array) else ctypes.c_longlong(p) for p in parameters]
        for block in range(*blocks):
            for thread in range(*threads):
                self.library.place(block, *threads, thread)
                self.library[self.name](*values)


class RawModule:
    """Kernels compiled for the processor."""

    made = 0
    options = ()

    def __init__(self, code, options=()):
        RawModule.made += 1
        RawModule.options = options
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder) / "code.cpp", Path(folder) / "code.so"
            source.write_text(STUBS + code)
            subprocess.run(["g++", "-O1", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-shared", "-fPIC",
                            str(source), "-o", str(library)], check=True)
            self.library = ctypes.CDLL(str(library))

    def get_function(self, name):
        return Function(self.library, name)


@pytest.fixture
def cupy(monkeypatch):
    """What is used of CuPy, on NumPy arrays and with kernels compiled for the processor."""
    RawModule.made = 0

    def made(function):
        return lambda *args, **options: np.asarray(function(*args, **options)).view(Array)

    class Trouble(Exception):
        """What a compiler or a driver may say."""

    device = types.SimpleNamespace(id=0, attributes={"MultiProcessorCount": 2, "MaxThreadsPerMultiProcessor": 1024})
    runtime = types.SimpleNamespace(getDeviceCount=lambda: 1, CUDARuntimeError=RuntimeError,
                                    memGetInfo=lambda: (2**30, 2**31))
    cuda = types.SimpleNamespace(Device=lambda: device, runtime=runtime,
                                 compiler=types.SimpleNamespace(CompileException=Trouble),
                                 driver=types.SimpleNamespace(CUDADriverError=Trouble))
    module = types.ModuleType("cupy")
    module.__dict__.update(ndarray=Array, RawModule=RawModule, asarray=made(np.asarray), empty=made(np.empty),
                           ascontiguousarray=made(np.ascontiguousarray),
                           broadcast_to=lambda array, shape: np.broadcast_to(array, shape, subok=True),
                           may_share_memory=np.may_share_memory, asnumpy=np.array, cuda=cuda,
                           from_dlpack=made(np.from_dlpack))
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.setitem(sys.modules, "torch", None)
    return module
