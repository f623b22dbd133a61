"""A stand-in for CuPy, where there is no GPU."""

import ctypes
import re
import subprocess
import sys
import tempfile
import threading
import types
from pathlib import Path

import numpy as np
import pytest

from cayley.compiler.backends import gpu_code
from programs import missing

STUBS = """
#include <math.h>
#include <pthread.h>
#include <string.h>
#define __global__
#define __shared__
#define __launch_bounds__(...)
#define __device__
#define __constant__
#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ inline
struct Place { unsigned x; };
static thread_local Place threadIdx, blockIdx, blockDim, gridDim;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static unsigned present, arrived, turn;
static inline void turn_if_all_are_there() { if (arrived == present) { arrived = 0; turn++; pthread_cond_broadcast(&turned); } }
static inline void __syncthreads()
{ pthread_mutex_lock(&lock); const unsigned mine = turn; arrived++; turn_if_all_are_there();
  while (turn == mine) pthread_cond_wait(&turned, &lock);
  pthread_mutex_unlock(&lock); }
static inline unsigned __activemask() { return 1u; }
static inline int __all_sync(unsigned, int said) { return said; }
static inline double __longlong_as_double(long long bits) { double x; memcpy(&x, &bits, sizeof x); return x; }
static inline float __int_as_float(int bits) { float x; memcpy(&x, &bits, sizeof x); return x; }
static inline long long __double_as_longlong(double x) { long long bits; memcpy(&bits, &x, sizeof x); return bits; }
static inline int __float_as_int(float x) { int bits; memcpy(&bits, &x, sizeof x); return bits; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
extern "C" void block(unsigned threads) { present = threads; arrived = 0; }
extern "C" void leave() { pthread_mutex_lock(&lock); present--; turn_if_all_are_there(); pthread_mutex_unlock(&lock); }
extern "C" void place(unsigned block, unsigned blocks, unsigned threads, unsigned thread)
{ blockIdx.x = block; gridDim.x = blocks; blockDim.x = threads; threadIdx.x = thread; }
"""

# The engine that copies: what it fetches comes as early as it may, what it puts goes as late as it may.
ENGINE = """
#include <atomic>
#include <cstdlib>
#include <sched.h>
struct Barrier { std::atomic<int> missing; std::atomic<unsigned> phase; };
struct Copy { void *target; const void *source; unsigned bytes; };
static thread_local Copy copies[64];
static thread_local int waiting = 0, committed = 0;
static inline void check(bool right) { if (!right) abort(); }
static inline bool straight(const void *p) { return (unsigned long long)p % 16 == 0; }
static inline Barrier *of(unsigned long long *barrier) { return (Barrier *)barrier; }
static inline void put_all() { for (int k = 0; k < committed; k++) memcpy(copies[k].target, copies[k].source, copies[k].bytes);
    check(waiting == committed); waiting = committed = 0; }
"""
ENGINES = {
    "mbarrier.init": "of(barrier)->missing = 0; of(barrier)->phase = 0;",
    "mbarrier.arrive.expect_tx": "check(of(barrier)->missing == 0); of(barrier)->missing = bytes;",
    r"{\n.reg .pred p": "while (of(barrier)->phase % 2 == parity) sched_yield();",
    "cp.async.bulk.shared": "check(straight(target) && straight(source) && bytes % 16 == 0); "
                            "memcpy(target, source, bytes); of(barrier)->missing -= bytes; "
                            "if (of(barrier)->missing == 0) of(barrier)->phase++;",
    "cp.async.bulk.global": "check(straight(target) && straight(source) && bytes % 16 == 0 && waiting < 64); "
                            "copies[waiting].target = target; copies[waiting].source = source; "
                            "copies[waiting].bytes = bytes; waiting++;",
    "cp.async.bulk.commit_group": "committed = waiting;", "cp.async.bulk.wait_group": "put_all();",
    "fence.proxy.async": ""}


SHARED = 227 * 1024  # bytes that a block may have
NO_GPU = -1
"""The number of the device: kernels are kept for each device, and none of the stand-in may be called on a GPU."""


class Array(np.ndarray):
    """An array on the GPU."""

    @property
    def __cuda_array_interface__(self):
        return self.__array_interface__


class Function:
    """A kernel, which runs a thread at a time, or a block at a time where its threads share memory."""

    num_regs = 40
    local_size_bytes = 0
    max_threads_per_block = 1024
    max_dynamic_shared_size_bytes = 48 * 1024

    def __init__(self, library, name):
        self.library = library
        self.name = name

    def __call__(self, blocks, threads, parameters, shared_mem=0):
        values = [ctypes.c_void_p(p.ctypes.data) if isinstance(p, Array) else ctypes.c_longlong(p) for p in parameters]
        assert shared_mem <= self.max_dynamic_shared_size_bytes and shared_mem <= SHARED

        def run(block, thread):
            self.library.place(block, *blocks, *threads, thread)
            self.library[self.name](*values)
            self.library.leave()  # threads that have ended are waited for by none
        for block in range(*blocks):
            self.library.block(*threads)
            if shared_mem:
                together = [threading.Thread(target=run, args=(block, thread)) for thread in range(*threads)]
                for each in together:
                    each.start()
                for each in together:
                    each.join()
            else:
                for thread in range(*threads):
                    run(block, thread)


def compiled(code, options=()):
    """A text as a library for the processor; a test that asks for it needs a C++ compiler."""
    if why := missing("g++"):
        pytest.skip(why)
    RawModule.made += 1
    RawModule.options = options
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "code.cpp", Path(folder) / "code.so"
        shared = re.search(r"extern __shared__ ((?:__align__\(\d+\) )?(?:(?:volatile|unsigned) )?\w+) (\w+)\[\];", code)
        place = f"{shared[1]} {shared[2]}[{SHARED} / sizeof({shared[1].split()[-1]})];" if shared else ""
        source.write_text(STUBS + (ENGINE if "cp.async" in code else "") + place + in_c(code))
        subprocess.run(["g++", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-ffp-contract=off",
                        "-shared", "-fPIC",
                        str(source), "-o", str(library)], check=True)
        return library.read_bytes(), None


def in_c(code):
    """Assembly as statements of C."""
    for instruction, statement in ENGINES.items():
        code = re.sub(rf'asm volatile\("{re.escape(instruction)}.*;', lambda _, made=statement: made, code)
    return re.sub(r'asm\("rcp.*;', "r = 1/b;", code)


class RawModule:
    """Kernels compiled for the processor."""

    made = 0
    options = ()

    def __init__(self, path):
        self.library = ctypes.CDLL(path)

    def get_function(self, name):
        return Function(self.library, name)


@pytest.fixture
def cupy(monkeypatch):
    """What is used of CuPy, on NumPy arrays and with kernels compiled for the processor."""
    RawModule.made = 0
    monkeypatch.setattr(gpu_code.cache, "load", lambda key: None)
    monkeypatch.setattr(gpu_code.cache, "store", lambda key, code: None)

    def made(function):
        return lambda *args, **options: np.asarray(function(*args, **options)).view(Array)

    class Trouble(Exception):
        """What a compiler or a driver may say."""

    device = types.SimpleNamespace(id=NO_GPU, compute_capability="00", attributes={
        "MultiProcessorCount": 2, "MaxThreadsPerMultiProcessor": 1024, "MaxSharedMemoryPerBlockOptin": SHARED,
        "MaxRegistersPerMultiprocessor": 1 << 16, "MaxSharedMemoryPerMultiprocessor": SHARED + 1024})
    runtime = types.SimpleNamespace(getDeviceCount=lambda: 1, CUDARuntimeError=RuntimeError,
                                    memGetInfo=lambda: (2**30, 2**31), runtimeGetVersion=lambda: 0)
    cuda = types.SimpleNamespace(Device=lambda: device, runtime=runtime,
                                 compiler=types.SimpleNamespace(CompileException=Trouble, compile_using_nvrtc=compiled),
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
