"""One plan of loops, many backends: what LLVM, C and CUDA make of it beside Python loops over the plan itself."""

import ctypes

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.algebras.interpret import NUMPY, interpret
from cayley.compiler.backends import backend_named
from cayley.compiler.iterate import iterate
from cayley.compiler.iteration import CHANGING, CONSTANT, CYCLING
from cayley.compiler.kernel import kernel
from cayley.errors import SignatureError, UnsupportedError
from compiler.mechanisms import inverse_dynamics
from compiler.parity import compiled_c
from programs import needs

needs_c = needs("cc")
needs_cpp = needs("g++")
STEPS, EVERY = 6, 2


@kernel("(3),(3,3),(5),(),(),(2)->(3),(3),(),(2)", outputs=("after", "seen", "halved", "idle_after"))
def wander(x, A, u, c, h, idle):
    """A state that is fed, one that swaps with itself, what is kept but not fed, and a state that nothing needs."""
    y = np.sin(A @ x) + u[:3] + c
    return np.stack([y[1], y[0], x[0]]), u[2:] * c + h, 0.5 * h, np.cos(idle[::-1]) + x[:2]


@kernel("(),()->(),()", outputs=("after", "again"))
def halved_until_small(x, bound):
    """What is small enough stands still while its neighbours go on."""
    after = cy.where(np.abs(x) > bound, 0.5 * x, x)
    return after, cy.where(np.abs(after) > bound, 1.0, 0.0)


WANDER = iterate(wander, {"x": "after", "h": "halved", "idle": "idle_after"}, changing=["u"], cycling=["c"],
                 keeping=["after", "seen", "halved"])
HALVED = iterate(halved_until_small, {"x": "after"}, changing=["bound"], repeating=("again", 4), keeping=["after"])
torques = kernel("(7),(7),(7)->(7)", shared=True)(inverse_dynamics)


@kernel("(7),(7)->(7),(7)", outputs=("q_after", "qd_after"))
def driven(q, qd):
    """A program that is called twice in each stage."""
    first = torques(q, qd, 0.1 * qd)
    return q + 0.01 * qd, 0.9 * qd - 1e-4 * (first + torques(q + 0.1, qd, first * 0.01))


DRIVEN = iterate(driven, {"q": "q_after", "qd": "qd_after"})
CASES = {"stages": WANDER, "repeated": HALVED, "calls": DRIVEN}


def material(iterated, batch, seed=1):
    rng = np.random.default_rng(seed)
    if iterated is HALVED:
        return [rng.uniform(0.5, 900.0, batch), rng.uniform(0.3, 20.0, (batch, STEPS))]
    if iterated is DRIVEN:
        return list(rng.uniform(-0.9, 0.9, size=(2, batch, 7)))
    return [rng.normal(size=(batch, 3)), rng.normal(size=(batch, 3, 3)) / 3, rng.normal(size=(batch, STEPS, 5)),
            np.broadcast_to([1.0, -0.5, 0.2], (batch, 3)), rng.normal(size=batch), rng.normal(size=(batch, 2))]


def in_numpy(iteration, arguments, steps, every):
    """The plan, loop by loop, for one trajectory."""
    program, plan = iteration.traced, iteration.plan
    now = list(arguments)
    cycle = next((len(a) for a, moves in zip(arguments, plan.moves, strict=True) if moves == CYCLING), 1)
    kept = [[] for _ in plan.kept]
    for step in range(steps):
        for _ in range(plan.repeats[1] if plan.repeats else 1):
            for stage in range(cycle):
                at = {CONSTANT: (), CHANGING: (step,), CYCLING: (stage,)}
                given = [now[k] if k in plan.fed else arguments[k][at[moves]] if moves else arguments[k]
                         for k, moves in enumerate(plan.moves)]
                results = interpret(program, NUMPY, *given)
                for after, before in plan.feeds:
                    now[before] = results[after]
            if plan.repeats and not results[plan.repeats[0]]:
                break
        if (step + 1) % every == 0:
            for place, column in zip(plan.kept, kept, strict=True):
                column.append(results[place])
    return [np.array(column) for column in kept]


def expected(iterated, arguments):
    iteration = iterated.iteration()
    runs = [in_numpy(iteration, state, STEPS, EVERY) for state in zip(*arguments, strict=True)]
    return [np.stack(column) for column in zip(*runs, strict=True)]


@pytest.mark.parametrize("iterated", CASES.values(), ids=CASES)
def test_on_this_processor(iterated):
    arguments = material(iterated, 9)
    for found, right in zip(iterated(*arguments, steps=STEPS, every=EVERY), expected(iterated, arguments), strict=True):
        np.testing.assert_allclose(found, right, rtol=0, atol=1e-12)


@needs_cpp
@pytest.mark.parametrize("iterated", CASES.values(), ids=CASES)
def test_in_cuda(cupy, iterated):
    arguments = material(iterated, 5)
    run = iterated.on("cuda")
    found = run(*arguments, steps=STEPS, every=EVERY)
    for got, right in zip(found, expected(iterated, arguments), strict=True):
        assert isinstance(got, cupy.ndarray) and got.dtype == np.float64
        np.testing.assert_allclose(got, right, rtol=0, atol=1e-12)
    small = [a.astype(np.float32) for a in arguments]
    assert run(*small, steps=STEPS, every=EVERY)[0].dtype == np.float32
    targets = [np.zeros((5, 7, *got.shape[2:])).view(cupy.ndarray)[:, 1:4] for got in found]
    run(*arguments, steps=STEPS, every=EVERY, out=targets)
    assert all((target == got).all() for target, got in zip(targets, found, strict=True))
    here = [np.zeros((5, 7, *got.shape[2:]))[:, 1:4] for got in found]
    assert run(*arguments, steps=STEPS, every=EVERY, out=here)[0] is here[0]
    assert all((target == got).all() for target, got in zip(here, found, strict=True))


@needs_cpp
def test_in_cuda_everything_broadcasts_in_any_layout(cupy):
    x, A, u, c, h, idle = material(WANDER, 6)
    run = WANDER.on("cuda")
    right, _, _ = WANDER(x.reshape(2, 3, 3), A[0], u[0], c[0], h[:3], idle[0], steps=STEPS, every=EVERY)
    by_element = np.ascontiguousarray(x.T).view(cupy.ndarray).T.reshape(2, 3, 3)
    found, _, _ = run(by_element, A[0], u[0], c[0], h[:3], idle[0], steps=STEPS, every=EVERY)
    np.testing.assert_allclose(found, right, rtol=0, atol=1e-13)
    later = np.ascontiguousarray(np.moveaxis(u, 1, 0)).view(cupy.ndarray)
    found, _, _ = run(x, A, np.moveaxis(later, 0, 1), c, 1.0, idle, steps=STEPS, every=EVERY)
    np.testing.assert_allclose(found, WANDER(x, A, u, c, 1.0, idle, steps=STEPS, every=EVERY)[0], rtol=0, atol=1e-13)


@needs_cpp
def test_wrong_calls_are_named_on_a_gpu_too(cupy):
    x, A, u, c, h, idle = material(WANDER, 2)
    run = WANDER.on("cuda")
    assert WANDER.on("cuda") is run
    with pytest.raises(SignatureError, match="6 steps"):
        run(x, A, u, c, h, idle, steps=5)
    with pytest.raises(SignatureError, match="one of stages before"):
        run(x, A, u, 1.0, h, idle, steps=6)
    with pytest.raises(SignatureError, match="do not broadcast"):
        run(x, A, u, c[:1].repeat(3, axis=0), h, idle, steps=6)
    with pytest.raises(UnsupportedError, match="its own threads"):
        run(x, A, u, c, h, idle, steps=6, threads=2)
    with pytest.raises(UnsupportedError, match="C99 is text only"):
        WANDER.on("c")(x, A, u, c, h, idle, steps=6)


@needs_c
@pytest.mark.parametrize("dtype, number, tolerance", [("float64", ctypes.c_double, 1e-12),
                                                      ("float32", ctypes.c_float, 2e-5)])
@pytest.mark.parametrize("name", CASES)
def test_in_c(name, dtype, number, tolerance):
    iterated = CASES[name]
    made = iterated.c_source(f"{name}_rollout", dtype=dtype)
    function = compiled_c(made)
    function.restype = None
    arguments = material(iterated, 3)
    program, plan = iterated.iteration().program, iterated.iteration().plan
    right = expected(iterated, arguments)
    for row, state in enumerate(zip(*arguments, strict=True)):
        given = [np.ascontiguousarray(a, dtype) for a in state]
        kept = [np.full((STEPS // EVERY, *program.outputs[k].shape), np.nan, dtype) for k in plan.kept]
        lengths = [STEPS // EVERY, EVERY, *([3] if plan.has_stages else [])]
        values = [ctypes.c_void_p(a.ctypes.data) if moves or v.shape else number(a.item())
                  for a, v, moves in zip(given, program.inputs, plan.moves, strict=True)]
        function(*map(ctypes.c_long, lengths), *values, *[ctypes.c_void_p(k.ctypes.data) for k in kept])
        for got, wanted in zip(kept, right, strict=True):
            np.testing.assert_allclose(got, wanted[row], rtol=0, atol=tolerance * max(1.0, np.abs(wanted).max()))


def test_what_is_called_twice_is_written_once():
    assert "call" in {node.op for node in DRIVEN.iteration().program.nodes}
    assert DRIVEN.c_source("roll").source.count("static void roll_") == 1


def test_the_text_in_c():
    made = WANDER.c_source()
    assert made.name == "wander_rollout"
    start = made.source.index("void wander_rollout(")
    assert made.source[start:].startswith(
        "void wander_rollout(\n    long samples,\n    long every,\n    long cycle,\n    const double x[3],\n")
    assert "const double u_0 = u[(sample*every + step)*5 + 0];" in made.source
    assert "u     vector of 5 for each step" in made.header and "after   vector of 3 for each sample" in made.header
    assert max(map(len, made.source.splitlines())) < 130


def test_files_of_a_loop():
    files = backend_named("cuda").iteration_files(WANDER.iteration(), "roll", "float")
    assert list(files) == ["roll.cu"] and "void roll(" in files["roll.cu"] and "double" not in files["roll.cu"]
    assert list(backend_named("c").iteration_files(WANDER.iteration(), "roll", "double")) == ["roll.h", "roll.c"]
    with pytest.raises(UnsupportedError, match="LaTeX has no text of iterations"):
        backend_named("latex").iteration_files(WANDER.iteration(), "roll", "double")


def test_on_a_gpu():
    cupy = pytest.importorskip("cupy")
    for iterated in CASES.values():
        arguments = material(iterated, 1000)
        for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 2e-3)):
            given = [np.asarray(a, dtype) for a in arguments]
            here = iterated(*given, steps=STEPS, every=EVERY)
            there = iterated.on("cuda")(*[cupy.asarray(a) for a in given], steps=STEPS, every=EVERY)
            for a, b in zip(here, there, strict=True):
                np.testing.assert_allclose(cupy.asnumpy(b), a, rtol=0, atol=tolerance)
