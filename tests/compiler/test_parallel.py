"""Kernels on threads: whatever the call, the answer or the error is that of the call on one thread."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.iterate import iterate
from cayley.errors import SignatureError


@cy.kernel("(3),()->(3)")
def turn(x, c):
    return np.stack([np.sin(x[1]) * c, x[2] - x[0], x[0] * x[1]])


@cy.kernel("(3),()->(3),()", outputs=("turned", "norm"))
def both(x, c):
    return turn(x, c), np.sqrt(x @ x) + c


def material(shape=(1000, 3), seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def answer(call):
    """What a call gives: its values, or its error."""
    try:
        found = call()
    except Exception as error:
        return type(error), str(error)
    found = found if isinstance(found, tuple) else (found,)
    return [type(found).__name__, *[(type(a), a.dtype, a.shape, np.asarray(a).tobytes()) for a in found]]


def view(shape, strides, offset=0):
    buffer = material((5000,))
    return np.lib.stride_tricks.as_strided(buffer[offset:], shape, [8 * s for s in strides])


OVERLAPS = {
    "in place": lambda a: (a[:1000], a[:1000]),
    "backwards": lambda a: (a, a[::-1]),
    "one further": lambda a: (a[:-1], a[1:]),
    "one back": lambda a: (a[1:], a[:-1]),
    "columns": lambda a: (a, a[:, ::-1]),
    "half": lambda a: (a[:600], a[400:1000]), }


@pytest.mark.parametrize("threads", [1, 2, 4, 7])
@pytest.mark.parametrize("name", OVERLAPS)
def test_out_may_overlap_an_argument(name, threads):
    for seed in range(5):
        (x, out), (same, other) = OVERLAPS[name](material(seed=seed)), OVERLAPS[name](material(seed=seed))
        expected = turn(x.copy(), 2.0)
        assert turn.parallel(threads)(x, 2.0, out=out) is out and (out == expected).all()
        assert (turn(same, 2.0, out=other) == expected).all()


def test_results_may_lie_in_an_argument_or_in_each_other():
    x = material()
    expected = both(x.copy(), 2.0)
    result = both.parallel(4)(x, 2.0, out=(x, x[::-1, 0].copy()))
    assert result.turned is x and (x == expected.turned).all() and (result.norm == expected.norm).all()
    wide = np.zeros((1000, 4))
    result = both.parallel(4)(material(), 2.0, out=(wide[:, :3], wide[:, 3]))
    assert (wide[:, :3] == expected.turned).all() and (wide[:, 3] == expected.norm).all()
    loops = view((1000, 3), (0, 1)), view((1000, 3), (0, 1))
    turn.parallel(4)(material(), 2.0, out=loops[0])
    turn(material(), 2.0, out=loops[1])
    assert (loops[0] == loops[1]).all()


X, NARROW = material(), material((1000, 2))
CALLS = {
    "new": lambda f: f(X, 2.0),
    "a list": lambda f: f(X.tolist(), [2.0]),
    "float32 and a number": lambda f: f(X.astype("f4"), 2.0),
    "float32 and a scalar": lambda f: f(X.astype("f4"), np.float64(2.0)),
    "whole numbers": lambda f: f(np.ones((9, 3), int), 2),
    "dtype": lambda f: f(X, 2.0, dtype="f4"),
    "half": lambda f: f(X.astype("f2"), np.float16(1.0)),
    "int8": lambda f: f(X, 1, dtype="i1"),
    "broadcast": lambda f: f(X[:, None], material((1, 7))),
    "no batch": lambda f: f(X[0], 1.0),
    "batch of one": lambda f: f(X[:1], 1.0),
    "batch of none": lambda f: f(X[:0], 1.0),
    "none of five": lambda f: f(np.ones((5, 0, 3)), 1.0),
    "none and five": lambda f: f(np.ones((0, 3)), np.ones((5, 1))),
    "batches that do not fit": lambda f: f(X, np.ones(7)),
    "wrong core": lambda f: f(NARROW, 1.0),
    "too few axes": lambda f: f(1.0, 1.0),
    "complex": lambda f: f(X + 1j, 1.0),
    "text": lambda f: f("abc", 1.0),
    "ragged": lambda f: f([[1.0, 2.0, 3.0], [1.0]], 1.0),
    "objects": lambda f: f(X.astype(object), 1.0),
    "too few": lambda f: f(X),
    "none at all": lambda f: f(),
    "order": lambda f: f(X, 2.0, order="F"),
    "axes": lambda f: f(X.T, 2.0, axes=[(0,), (), (0,)]),
    "casting": lambda f: f(X, 2.0, casting="no"),
    "unknown word": lambda f: f(X, 2.0, colour="red"),
    "masked": lambda f: f(np.ma.masked_array(X, X > 2.0), 2.0), }
OUTS = {
    "right": lambda: np.empty((1000, 3)),
    "a tuple": lambda: (np.empty((1000, 3)), ),
    "nothing": lambda: (None,),
    "none": lambda: None,
    "longer": lambda: np.empty((2000, 3)),
    "shorter": lambda: np.empty((500, 3)),
    "one axis more": lambda: np.empty((2, 1000, 3)),
    "one axis less": lambda: np.empty(3),
    "wrong core": lambda: np.empty((1000, 2)),
    "a list": lambda: [np.empty((1000, 3))],
    "two": lambda: (np.empty((1000, 3)), None),
    "empty": lambda: (),
    "float32": lambda: np.empty((1000, 3), "f4"),
    "whole numbers": lambda: np.empty((1000, 3), int),
    "complex": lambda: np.empty((1000, 3), complex),
    "a number": lambda: 3.0,
    "columns": lambda: np.empty((3, 1000)).T,
    "strides": lambda: np.empty((2000, 6))[::2, ::2],
    "read only": lambda: frozen((1000, 3)),
    "masked": lambda: np.ma.masked_array(np.empty((1000, 3))), }


def frozen(shape):
    array = np.zeros(shape)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("kernel", [turn, both], ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("name", CALLS)
def test_any_call_is_answered_as_on_one_thread(kernel, name):
    assert answer(lambda: CALLS[name](kernel.parallel(3))) == answer(lambda: CALLS[name](kernel))


@pytest.mark.parametrize("name", OUTS)
@pytest.mark.parametrize("form", ["word", "position"])
def test_any_out_is_answered_as_on_one_thread(name, form):
    def called(kernel):
        out = OUTS[name]()
        return kernel(X, 2.0, out=out) if form == "word" else kernel(X, 2.0,
                                                                     *(out if isinstance(out, tuple) else (out,)))

    assert answer(lambda: called(turn.parallel(3))) == answer(lambda: called(turn))


@pytest.mark.parametrize("make", [
    lambda: (np.empty((1000, 3)), None), lambda: (None, np.empty(1000)), lambda: (None, None), lambda: (np.empty(
        (1000, 3)), np.empty(999)), lambda: np.empty((1000, 3))])
def test_some_of_several_results_are_new(make):
    assert answer(lambda: both.parallel(3)(X, 2.0, out=make())) == answer(lambda: both(X, 2.0, out=make()))


def test_iterated_kernels_into_out():
    run = iterate(
        cy.kernel("(3),(3)->(3)", outputs=("after", ))(lambda x, u: np.sin(x) + u[::-1]), {"x": "after"},
        changing=["u"])
    x, u = material(), material((1000, 4, 3), 1)
    expected, = run(x, u, steps=4)
    kept = u.copy()
    result, = run(x, kept, steps=4, out=[kept], threads=3)
    assert result is kept and (kept == expected).all()
    for out in ([np.empty((1000, 5, 3))], [np.empty((999, 4, 3))], [None], []):
        assert answer(lambda out=out: run(x, u, steps=4, out=out, threads=3)) == answer(
            lambda out=out: run(x, u, steps=4, out=out))
    with pytest.raises(SignatureError, match="threads"):
        run(x, u, steps=4, threads=0)


@pytest.mark.parametrize("threads", [0, -1, 2.0, "2"])
def test_a_number_of_threads_that_is_none_is_refused(threads):
    with pytest.raises(SignatureError, match="threads"):
        turn.parallel(threads)


def test_it_can_be_pickled():
    local = cy.kernel("(3)->(3)", name="local")(lambda x: np.cos(x) * x[0])
    expected = local(X)
    assert (pickle.loads(pickle.dumps(local.parallel(3)))(X) == expected).all()


PROCESSES = """
import multiprocessing, os, signal, sys
import numpy as np, cayley as cy

kernel = cy.kernel("(3)->(3)", name="local")(lambda x: np.cos(x) * x[0])
x = np.random.default_rng(0).normal(size=(1000, 3))
together, expected = kernel.parallel(3), kernel(x)
assert (together(x) == expected).all()
if sys.argv[1] == "bare":
    if (child := os.fork()) == 0:
        signal.alarm(20)
        os._exit(0 if (together(x) == expected).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
else:
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        for found in pool.map_async(together, [x, x, x]).get(timeout=60):
            assert (found == expected).all()
assert (together(x) == expected).all()
"""


@pytest.mark.parametrize("start", [
    pytest.param(start, marks=pytest.mark.skipif(sys.platform == "win32" and start != "spawn",
                                                 reason="Windows has no fork"))
    for start in ("bare", "fork", "forkserver", "spawn")])
def test_other_processes_have_threads_of_their_own(start):
    done = subprocess.run([sys.executable, "-c", PROCESSES, start], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "given", [lambda c: c, lambda c: [c, 2.0 * c, 1.0, c], lambda c: np.array([c, 2.0 * c, 1.0, c], dtype=object)],
    ids=["one", "a list", "an array of objects"])
def test_symbols_are_traced_and_not_cut(given):
    def law(kernel):
        return cy.kernel("()->(4,3)", name="law", inputs=["c"])(lambda c: kernel(material((4, 3)), given(c)))
    assert (law(turn.parallel(2))(0.7) == law(turn)(0.7)).all()
