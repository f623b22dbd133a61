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
struct Place { unsigned x; };
static Place threadIdx, blockIdx, blockDim;
static inline double __longlong_as_double(long long bits) { double x; memcpy(&x, &bits, sizeof x); return x; }
static inline float __int_as_float(int bits) { float x; memcpy(&x, &bits, sizeof x); return x; }
extern "C" void place(unsigned block, unsigned threads, unsigned thread) { blockIdx.x = block; blockDim.x = threads; threadIdx.x = thread; }
"""


class Array(np.ndarray):
    """An array on the GPU."""


class RawModule:
    """A kernel compiled for the processor, which runs a thread at a time."""

    made = 0

    def __init__(self, code):
        RawModule.made += 1
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder) / "code.cpp", Path(folder) / "code.so"
            source.write_text(STUBS + code)
            subprocess.run(["g++", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", str(source), "-o",
                            str(library)],
                           check=True)
            self.library = ctypes.CDLL(str(library))

    def get_function(self, name):
        def launch(blocks, threads, parameters):
            values = [ctypes.c_void_p(p.ctypes.data) if isinstance(p, Array) else ctypes.c_longlong(p)
                      for p in parameters]
            for block in range(*blocks):
                for thread in range(*threads):
                    self.library.place(block, *threads, thread)
                    self.library[name](*values)
        return launch


@pytest.fixture
def cupy(monkeypatch):
    """What is used of CuPy, on NumPy arrays and with kernels compiled for the processor."""
    RawModule.made = 0

    def made(function):
        return lambda *args, **options: np.asarray(function(*args, **options)).view(Array)

    runtime = types.SimpleNamespace(getDeviceCount=lambda: 1, CUDARuntimeError=RuntimeError)
    module = types.ModuleType("cupy")
    module.__dict__.update(ndarray=Array, RawModule=RawModule, asarray=made(np.asarray), empty=made(np.empty),
                           ascontiguousarray=made(np.ascontiguousarray),
                           broadcast_to=lambda array, shape: np.broadcast_to(array, shape, subok=True),
                           may_share_memory=np.may_share_memory, asnumpy=np.array,
                           cuda=types.SimpleNamespace(Device=lambda: types.SimpleNamespace(id=0),
                                                      runtime=runtime), from_dlpack=made(np.from_dlpack))
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module
