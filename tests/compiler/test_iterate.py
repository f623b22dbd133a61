"""Iterated kernels beside Python loops: states, inputs that change, inputs that cycle, batches in every layout."""

import copy
import dataclasses
import pickle
import subprocess
import sys

import numpy as np
import pytest

from cayley.compiler.backends import llvm as iterate_module
from cayley.compiler.iterate import iterate
from cayley.compiler.kernel import kernel
from cayley.compiler.native import compile
from cayley.compiler.native.machine import host
from cayley.errors import SignatureError


@kernel("(3),(3,3),(5),()->(3),(3)", outputs=("after", "seen"))
def wander(x, A, u, c):
    return np.sin(A @ x) + u[:3] + c, u[2:] * c


def looped(x, A, u, c, every):
    states, seen = [], []
    for step, now in enumerate(u, 1):
        for stage in c:
            x, look = wander.reference(x, A, now, stage)
        if step % every == 0:
            states.append(x)
            seen.append(look)
    return np.array(states), np.array(seen)


def material(batch, steps, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(batch,
                            3)), rng.normal(size=(batch, 3, 3)) / 3, rng.normal(size=(batch, steps,
                                                                                      5)), np.array([1.0, -0.5, 0.2])


@pytest.mark.parametrize("every", [1, 2, 12])
@pytest.mark.parametrize("batch", [1, 3, 4, 9])
def test_it_is_the_loop(batch, every):
    x, A, u, c = material(batch, 12)
    states, seen = iterate(wander, {"x": "after"}, changing=["u"], cycling=["c"])(x, A, u, c, steps=12, every=every)
    for k in range(batch):
        expected = looped(x[k], A[k], u[k], c, every)
        assert np.abs(states[k] - expected[0]).max() < 1e-12 and np.abs(seen[k] - expected[1]).max() < 1e-13


def test_layout_threads_and_neighbours_do_not_matter():
    x, A, u, c = material(9, 6)
    run = iterate(wander, {"x": "after"}, changing=["u"], cycling=["c"])
    states, seen = run(x, A, u, c, steps=6, every=2)
    alone = [run(x[k], A[k], u[k], c, steps=6, every=2)[0] for k in range(9)]
    assert (np.array(alone) == states).all()
    strided = [
        np.asfortranarray(x), A[:, ::-1][:, ::-1],
        np.moveaxis(np.ascontiguousarray(np.moveaxis(u, 1, 0)), 0, 1), c[::-1][::-1]]
    assert (run(*strided, steps=6, every=2)[0] == states).all()
    assert (run(x, A, u, c, steps=6, every=2, threads=3)[0] == states).all()
    wide = np.full((9, 5, 3), 7.0)
    run(x, A, u, c, steps=6, every=2, out=[wide[:, 1:4], np.empty((9, 3, 3))])
    assert (wide[:, 1:4] == states).all() and (wide[:, [0, 4]] == 7.0).all()
    shared = run(x, A[0], u[0], c, steps=6, every=2)[0]
    assert (shared[3] == run(x[3], A[0], u[0], c, steps=6, every=2)[0]).all()
    grid = run(x.reshape(3, 3, 3), A.reshape(3, 3, 3, 3), u.reshape(3, 3, 6, 5), c, steps=6, every=2)[1]
    assert (grid.reshape(seen.shape) == seen).all()


def test_keeping_precision_and_no_steps():
    x, A, u, c = material(4, 6)
    only, = iterate(wander, {"x": "after"}, changing=["u"], cycling=["c"], keeping=["after"])(x, A, u, c, steps=6)
    both = iterate(wander, {"x": "after"}, changing=["u"], cycling=["c"])(x, A, u, c, steps=6)
    assert (only == both[0]).all()
    small = [a.astype(np.float32) for a in (x, A, u, c)]
    found, _ = iterate(wander, {"x": "after"}, changing=["u"], cycling=["c"])(*small, steps=6)
    assert found.dtype == np.float32 and np.abs(found - both[0]).max() < 1e-4
    assert iterate(wander, {"x": "after"}, changing=["u"], cycling=["c"])(x, A, u[:, :0], c,
                                                                          steps=0)[0].shape == (4, 0, 3)


def test_a_core_in_several_functions_and_free_dimensions():
    @kernel("(n),(n,n)->(n)", outputs=("after",))
    def turn(x, A):
        for _ in range(3):
            x = np.sin(A @ x) + np.cos(x)
        return x

    rng = np.random.default_rng(1)
    x, A = rng.normal(size=(5, 30)), rng.normal(size=(30, 30)) / 10
    found, = iterate(turn, {"x": "after"})(x, A, steps=4, every=4)
    for k in range(5):
        y = x[k]
        for _ in range(4):
            y = turn.reference(y, A)
        assert np.abs(found[k, 0] - y).max() < 1e-12
    assert iterate(turn, {"x": "after"})(x[:, :4], A[:4, :4], steps=2)[0].shape == (5, 2, 4)


def test_wrong_plans_and_calls_are_named():
    x, A, u, c = material(2, 6)
    with pytest.raises(SignatureError, match="no input 'y'"):
        iterate(wander, {"y": "after"})
    with pytest.raises(SignatureError, match="no output 'later'"):
        iterate(wander, {"x": "later"})(x, A, u[:, 0], 1.0, steps=1)
    with pytest.raises(SignatureError, match="cannot feed"):
        iterate(wander, {"A": "after"})(x, A, u[:, 0], 1.0, steps=1)
    run = iterate(wander, {"x": "after"}, changing=["u"], cycling=["c"])
    with pytest.raises(SignatureError, match="6 steps"):
        run(x, A, u, c, steps=5)
    with pytest.raises(SignatureError, match="multiple"):
        run(x, A, u, c, steps=6, every=4)
    with pytest.raises(SignatureError, match="one of stages before"):
        run(x, A, u, 1.0, steps=6)
    with pytest.raises(SignatureError, match="takes 4 arguments"):
        run(x, A, u, steps=6)


@pytest.mark.parametrize("vector_bytes", [8, 16, 32, 64])
def test_the_width_of_vectors_does_not_change_a_bit(vector_bytes, monkeypatch):
    x, A, u, c = material(9, 6)
    here = iterate(wander, {"x": "after"}, changing=["u"], cycling=["c"])(x, A, u, c, steps=6, every=2)
    narrow = dataclasses.replace(host(), vector_bytes=vector_bytes)
    monkeypatch.setenv("CAYLEY_CACHE", "off")
    for module in (compile, iterate_module):
        monkeypatch.setattr(module, "host", lambda: narrow)
    compile._row_objects.cache_clear()
    there = iterate(wander, {"x": "after"}, changing=["u"], cycling=["c"])(x, A, u, c, steps=6, every=2)
    compile._row_objects.cache_clear()
    assert all((a == b).all() for a, b in zip(here, there, strict=True))


def test_it_can_be_pickled(tmp_path):
    """For another process, before its first call and after it; the kernel is one that has no name to be found by."""
    local = kernel("(3),(3)->(3)", outputs=("after",))(lambda x, u: np.cos(x) * u)
    run = iterate(local, {"x": "after"}, changing=["u"])
    x, _, u, _ = material(4, 6)
    expected, = run(x, u[..., :3], steps=6, every=2)
    for again in (pickle.loads(pickle.dumps(run)), copy.deepcopy(run)):
        assert (again(x, u[..., :3], steps=6, every=2)[0] == expected).all()
    (tmp_path / "run").write_bytes(pickle.dumps((run, x, u[..., :3])))
    script = ("import pickle, sys; run, x, u = pickle.load(open(sys.argv[1], 'rb')); print(run(x, u, steps=6, "
              "every=2)[0].tolist())")
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "run")], capture_output=True, text=True,
                          check=True)
    assert done.stdout.strip() == str(expected.tolist())
    fresh = iterate(kernel("(2)->(2)", outputs=("after",))(lambda x: x * 0.5), {"x": "after"})
    assert (pickle.loads(pickle.dumps(fresh))([8.0, 4.0], steps=2)[0][-1] == [2.0, 1.0]).all()


@kernel("(),(),(),()->(),(),()", outputs=("after", "done", "again"))
def halved_until_small(x, done, bound, turn):
    """Halves x until it is not larger than a bound, then rests until the next step, whose turn is another."""
    rests = done == turn
    after = np.where(rests | (x <= bound), x, x / 2)
    return after, np.where(after <= bound, turn, done), np.where(after <= bound, 0.0, 1.0)


def test_each_state_repeats_its_stages_as_often_as_it_needs():
    x = np.array([1.0, 8.0, 1000.0, 3.0, 0.5, 64.0, 2.0])
    bounds = np.array([1.0, 0.1])
    run = iterate(halved_until_small, {"x": "after", "done": "done"}, changing=["bound", "turn"], keeping=["after"],
                  repeating=("again", 50))
    found, = run(x, -1.0, bounds, [0.0, 1.0], steps=2)
    expected = []
    for value in x:
        states = []
        for bound in bounds:
            while value > bound:
                value /= 2
            states.append(value)
        expected.append(states)
    assert (found == expected).all()
    alone = [run(value, -1.0, bounds, [0.0, 1.0], steps=2)[0] for value in x]
    assert (np.array(alone) == found).all()
    few, = iterate(halved_until_small, {"x": "after", "done": "done"}, changing=["bound", "turn"], keeping=["after"],
                   repeating=("again", 3))(x, -1.0, bounds, [0.0, 1.0], steps=2)
    assert few[2].tolist() == [125.0, 1000 / 64]
    single, = run(x.astype(np.float32), np.float32(-1.0), bounds.astype(np.float32), np.array([0, 1], np.float32),
                  steps=2)
    assert single.dtype == np.float32 and (single == found).all()
    with pytest.raises(SignatureError, match="no output 'more'"):
        iterate(halved_until_small, {"x": "after"}, repeating=("more", 3))(x, -1.0, 1.0, 0.0, steps=1)
