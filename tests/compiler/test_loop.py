"""The loop over a batch: which memory it takes and which way the numbers go changes no bit, and little of it is stack.
"""

import re
import subprocess
import sys

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.native import llvm, loop
from cayley.compiler.native.machine import host

WIDTH = host().width("double")
COUNTS = (0, 1, WIDTH - 1, WIDTH, 2 * WIDTH + 3)
LIMITS = {"as it is": {}, "on the heap": {"STACK_BYTES": 0}, "with no operand written out": {"_UNROLLED": 0},
          "with the core called": {"_INLINED": 0}, "all of it": {"STACK_BYTES": 0, "_UNROLLED": 0, "_INLINED": 0}}


def text(x, c, a):
    return a @ x[:2] * c + np.sin(x[2]), np.stack([x[0] - c, x[1] * x[2], c, x[3] + a[0, 1]])


def states(count, dtype):
    random = np.random.default_rng(count)
    return [random.normal(size=(count, *shape)).astype(dtype) for shape in ((4,), (), (2, 2))]


def lying(x, c, a):
    """The same numbers in other places: one after the other, by columns, backwards, with gaps, and one for all."""
    count = len(c)
    yield x, c, a
    yield np.asfortranarray(x), c, np.asfortranarray(a)
    yield x[::-1].copy()[::-1], np.repeat(c, 2)[::2], np.ascontiguousarray(a.swapaxes(1, 2)).swapaxes(1, 2)
    yield np.repeat(x, 3, axis=1)[:, ::3], c, np.repeat(a, 2, axis=0)[::2]
    yield np.broadcast_to(x[:1], x.shape), np.broadcast_to(c[:1], count), a


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS.keys())
@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-14), (np.float32, 1e-5)])
def test_every_way_through_the_loop(limits, dtype, tolerance, monkeypatch):
    monkeypatch.setenv("CAYLEY_CACHE", "off")
    for name, value in limits.items():
        monkeypatch.setattr(loop, name, value)
    kernel = cy.kernel("(4),(),(2,2)->(2),(4)", name="ways")(text)
    for count in COUNTS:
        for arguments in lying(*states(count, dtype)):
            found, alone = kernel(*arguments), [kernel(*state) for state in zip(*arguments, strict=True)]
            into = [np.full((count, 2 * n), 7.0, dtype) for n in (2, 4)]
            kernel(*arguments, out=tuple(result[:, ::2] for result in into))
            expected = [text(*state) for state in zip(*arguments, strict=True)]
            for k, result in enumerate(found):
                assert result.shape == (count, (2, 4)[k]) and result.dtype == dtype
                assert (into[k][:, ::2] == result).all() and (into[k][:, 1::2] == 7.0).all()
                for row, state, right in zip(result, alone, expected, strict=True):
                    assert (row == state[k]).all()
                    np.testing.assert_allclose(row, right[k], rtol=tolerance, atol=tolerance)


SMALL_STACK = """
import threading
import numpy as np, cayley as cy
ends = cy.kernel("(n)->()", name="ends")(lambda x: x[0] + x[-1])
x, answers = np.ones((20, 20000)), []
assert (ends(x) == 2.0).all()
threading.stack_size(1 << 18)
thread = threading.Thread(target=lambda: answers.extend([ends(x), ends(x[:, ::-1]), ends(x[0])]))
thread.start()
thread.join()
assert len(answers) == 3 and all((answer == 2.0).all() for answer in answers)
"""


def test_large_operands_do_not_need_a_large_stack():
    """20000 numbers of two states or more at a time are more than the whole stack of this thread."""
    subprocess.run([sys.executable, "-c", SMALL_STACK], check=True)


def assembly(function, signature, **dimensions):
    program = cy.kernel(signature, name="f", inputs=["x"])(function).program(**dimensions)
    return loop.batch_loop(llvm.Core(program, WIDTH, "double", fused=True)).text()


@pytest.mark.parametrize("steps, longest, inside", [(10, 4000, True), (1000, 4000, False), (10, 7, False)])
def test_a_small_core_is_part_of_the_loop_and_others_are_called(steps, longest, inside, monkeypatch):
    def text(x):
        for _ in range(steps):
            x = np.sqrt(x * x + 0.3)
        return x
    monkeypatch.setattr(llvm, "LONGEST_FUNCTION", longest)
    monkeypatch.setattr(llvm, "LONGEST_PART", longest)
    made = assembly(text, "()->()")
    assert ("alwaysinline" in made) is inside and ("declare void @core" in made) is not inside


def test_the_heap_is_asked_for_what_the_buffers_need():
    """The numbers of a block of states, a block of each operand beyond them, and places to begin at a line of memory.
    """
    made = assembly(lambda x: x[0] + x[-1], "(n)->()", n=20000)
    [asked] = [int(size) for size in re.findall(r"@malloc\(i64 (\d+)\)", made)]
    needed = (20000 + 1) * WIDTH * 8
    assert needed <= asked <= needed + 2 * WIDTH * WIDTH * 8 + 5 * 64
    assert "@malloc" not in assembly(lambda x: x[0] + x[-1], "(n)->()", n=20)
