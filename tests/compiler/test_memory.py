"""Memory: what a call takes it gives back, on every way out, and where there is none the answer is MemoryError."""

import os
import subprocess
import sys

import pytest

LARGE = """
import gc, resource, sys
import numpy as np, cayley as cy
from cayley.compiler.iterate import iterate

def large(x):
    return np.stack([x[0] + x[-1], x[1] * 2.0])

one = cy.kernel("(n)->(2)")(large)
two = cy.kernel("(n)->(2),()", outputs=("pair", "alone"))(lambda x: (large(x), x[2]))
plain = cy.kernel("(n)->(2),()")(lambda x: (large(x), x[2]))
x, batch, result = np.arange(20000.0), np.ones((3, 20000)), np.empty(2)
run = iterate(cy.kernel("(2),(n)->(2)", outputs=("after",))(lambda x, u: x * 0.5 + large(u)), {"x": "after"})
many = cy.kernel(",".join(["(32)"] * 40) + "->(32)", inputs=[f"x{k}" for k in range(40)])(lambda *x: x[0] + x[-1])
rows = [np.ones((64, 32))] * 40

def refused(*arguments, **options):
    try:
        one(*arguments, **options)
    except Exception:
        return
    raise AssertionError("it was accepted")

threads = one.parallel(2)
calls = {
    "one state": lambda: one(x),
    "out": lambda: one(x, out=result),
    "positional out": lambda: refused(x, result),
    "two results": lambda: two(x),
    "a tuple": lambda: plain(x),
    "a list": lambda: one(list(x)),
    "strides": lambda: one(x[::-1]),
    "float32": lambda: one(x.astype("f4")),
    "a batch": lambda: one(batch),
    "a batch into out": lambda: one(batch, out=np.empty((3, 2))),
    "threads": lambda: threads(batch),
    "wrong type": lambda: refused(x.astype(complex)),
    "wrong out": lambda: refused(x, out=np.empty(3)),
    "wrong word": lambda: refused(x, or_=1),
    "too many": lambda: refused(x, result, result),
    "iterated": lambda: run(result, x, steps=1),
    "many operands": lambda: many(*rows),
}
for call in calls.values():
    for _ in range(3):
        call()
"""
GROWTH = LARGE + """
def size():
    gc.collect()
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1024 if sys.platform == "linux" else 1 << 20)  # MiB

for name, call in calls.items():
    before = size()
    for _ in range(100):
        call()
    if size() - before > 4.0:
        print(name, "grew by", size() - before, "MiB")
"""
EXHAUSTED = LARGE + """
for name in ("one state", "out", "two results", "a batch", "threads", "iterated", "many operands"):
    call, hoard, amount = calls[name], [], 1 << 24
    call()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used, hard))
    while amount > 1 << 14:
        try:
            hoard.append(bytes(amount))
        except MemoryError:
            amount //= 2
    try:
        call()
        answer = "an answer"
    except MemoryError:
        answer = "MemoryError"
    hoard.clear()
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    if answer != "MemoryError":
        print(name, "gave", answer)
    call()
"""
MODULES = """
import resource, sys
import numpy as np, cayley as cy
from cayley.compiler.native import compile

def size():
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1 if sys.platform == "linux" else 1024)  # KiB

def make(k):
    return cy.kernel("(3)->(3)", name=f"kernel{k}")(lambda x: x * (k + 1.5))(np.ones(3))

made, assemble = [], compile.assemble
compile.assemble = lambda *a: made.append(1) or assemble(*a)
for k in range(15):
    make(k)
before, modules = size(), len(made)
for k in range(100, 125):
    make(k)
print((size() - before) / (len(made) - modules))
"""


def output(script, **variables):
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                          env=os.environ | variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no getrusage")
def test_calls_with_large_buffers_do_not_grow():
    assert output(GROWTH) == ""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the address space")
def test_memory_that_is_not_there_is_a_memory_error():
    assert output(EXHAUSTED) == ""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no getrusage")
def test_kernels_made_and_dropped_leave_little():
    """LLVM itself leaves about 1.5 KiB a module; with the pass managers it would be 44."""
    assert float(output(MODULES, CAYLEY_CACHE="off")) < 8.0
