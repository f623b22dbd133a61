"""CUDA text without a GPU: it is compiled as C++ for the processor, a thread at a time, and called through a stand-in
for CuPy.

Where CuPy and a GPU are present, the last test runs on them.
"""

import re
import sys

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.backends import backend_named
from cayley.compiler.cuda.cuda_source import cuda_source
from cayley.errors import SignatureError, UnsupportedError
from compiler import mechanisms
from compiler.mechanisms import inverse_dynamics, moved_points, pendulum_torque, program_of
from programs import needs

needs_compiler = needs("g++")
PENDULUM = program_of(pendulum_torque, "(n),(n)->(n)", n=2)
POINTS = program_of(moved_points, "(3,3),(3),(k,3)->(k,3),(3,3),()", k=2)

def test_the_text():
    text = cuda_source(program_of(inverse_dynamics, "(n),(n),(n)->(n)", n=7), "float")
    comment, _, text = text.partition(" */\n")
    assert comment.startswith("/*\n * inverse_dynamics\n *\n * Inputs\n *   q    vector of 7\n")
    own, _, text = text.partition('extern "C" ')
    assert own.startswith("static __device__ __forceinline__ void inverse_dynamics_sincos(float x, float *sine, ")
    assert text.startswith("__global__ void inverse_dynamics(\n    const long long count,\n    const float *q, ")
    assert len(re.findall(r"_sincos\(", text)) == 6 and not re.search(r"\b(sin|cos)f?\(", own + text)
    assert "double" not in own + text and max(map(len, text.splitlines())) < 120
    assert text.index("= q[") < text.index("_sincos(") < text.index("out[state")


def test_the_text_in_double():
    text = cuda_source(PENDULUM)
    assert "pendulum_torque_sincos(q_0, &" in text and "9.81f" not in text
    with pytest.raises(UnsupportedError, match="'half'"):
        cuda_source(PENDULUM, "half")


@needs_compiler
@pytest.mark.parametrize("name, signature, dimensions", [
    ("every_operation", "(3),(3)->(26)", {}), ("choices", "(n),(),()->(n),(n),()", {"n": 3}),
    ("moved_points", "(3,3),(3),(k,3)->(k,3),(3,3),()", {"k": 2}), ("inverse_dynamics", "(n),(n),(n)->(n)", {"n": 7}),
    ("solved_equations", "(3,3),(3)->(3),(3)", {})])
@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-13), (np.float32, 2e-5)])
def test_values(cupy, name, signature, dimensions, dtype, tolerance):
    function = getattr(mechanisms, name)
    program = program_of(function, signature, **dimensions)
    random = np.random.default_rng(1)
    arguments = [random.uniform(-0.9, 0.9, size=(5, *v.shape)).astype(dtype) for v in program.inputs]
    found = backend_named("cuda").function(program)(*arguments)
    found = found if isinstance(found, tuple) else (found,)
    runs = [function(*[a.astype(float) for a in state]) for state in zip(*arguments, strict=True)]
    runs = [list(run.values()) if isinstance(run, dict) else [run] for run in runs]
    for k, got in enumerate(found):
        right = np.stack([run[k] for run in runs])
        assert got.dtype == dtype and isinstance(got, cupy.ndarray)
        np.testing.assert_allclose(got, right, rtol=0, atol=tolerance * np.abs(right).max())


@needs_compiler
def test_nan_and_infinity(cupy):
    program = program_of(
        lambda x: np.stack([np.minimum(x, np.inf), x * 0.0 + np.nan,
                            np.maximum(x, -np.inf),
                            np.sign(x)]), "()->(4)", name="f", inputs=["x"])
    for dtype in (np.float64, np.float32):
        found = backend_named("cuda").function(program)(np.array([1.5, np.nan, -2.0], dtype))
        np.testing.assert_array_equal(found, [[1.5, np.nan, 1.5, 1], [np.nan] * 4, [-2, np.nan, -2, -1]])


@needs_compiler
def test_strides_are_read_where_they_are(cupy):
    f = backend_named("cuda").function(PENDULUM)
    random = np.random.default_rng(2)
    by_element = random.normal(size=(2, 300)).view(cupy.ndarray)
    wide = random.normal(size=(600, 6)).view(cupy.ndarray)[::2, ::3]
    np.testing.assert_allclose(f(by_element.T, wide), pendulum_torque(by_element.T, wide), rtol=1e-14)
    np.testing.assert_allclose(f(wide[:1], wide), pendulum_torque(wide[:1], wide), rtol=1e-14)
    np.testing.assert_allclose(f(wide[:5, None], wide[:4]), pendulum_torque(wide[:5, None], wide[:4]), rtol=1e-14)
    np.testing.assert_allclose(f(wide[0], [1, 2]), pendulum_torque(wide[0], np.array([1, 2])), rtol=1e-14)
    rotation = random.normal(size=(3, 3)).view(cupy.ndarray)
    np.testing.assert_allclose(
        backend_named("cuda").function(POINTS)(rotation.T, np.zeros(3), np.ones((2, 3)))[0],
        np.ones((2, 3)) @ rotation, rtol=1e-14)


@needs_compiler
def test_out(cupy):
    f = backend_named("cuda").function(PENDULUM)
    q = np.random.default_rng(3).normal(size=(7, 2)).view(cupy.ndarray)
    right = pendulum_torque(q, q)
    by_element = np.empty((2, 7)).view(cupy.ndarray)
    assert f(q, q, out=by_element.T).base is not None
    np.testing.assert_allclose(by_element.T, right)
    four = np.empty((2, 2, 7, 2)).view(cupy.ndarray).transpose(0, 2, 1, 3)  # cannot be seen as rows of states
    f(q[:, None], np.broadcast_to(q[:, None], (2, 7, 2, 2)), out=four)
    np.testing.assert_allclose(four[1, :, 1], right)
    np.testing.assert_allclose(f(q, q, out=q), right)
    with pytest.raises(SignatureError, match=r"out= for 'out' is float32 of shape \(7, 2\); it must be float64"):
        f(q, q, out=q.astype(np.float32))
    with pytest.raises(SignatureError, match="has 1 outputs; out= has 2"):
        f(q, q, out=(q, q))


@needs_compiler
def test_types_and_compilations(cupy):
    f = backend_named("cuda").function(PENDULUM)
    single, double = np.zeros((3, 2), np.float32), np.zeros((3, 2))
    assert f(single, single).dtype == np.float32 and f(single, double).dtype == np.float64
    assert f(single, np.zeros(
        (3, 2), int)).dtype == np.float64 and f(double, double, dtype=np.float32).dtype == np.float32
    assert cupy.RawModule.made == 2
    assert f(np.zeros((0, 2)), np.zeros(2)).shape == (0, 2)
    assert "float *q" in f.source(np.float32)
    with pytest.raises(UnsupportedError, match="float64 or float32, not in int64"):
        f(double, double, dtype=int)
    with pytest.raises(UnsupportedError, match="'q' is complex128"):
        f(double + 1j, double)


@needs_compiler
def test_the_next_call_with_the_same_layout(cupy):
    """It starts at once, on its own arrays; another layout, type or batch is seen as what it is."""
    kernel = cy.kernel("(2),()->(2)", name="scaled")(lambda x, y: x * y).on("cuda")
    rng = np.random.default_rng(0)
    for shape, factor in (((5, 2), (5,)), ((5, 2), (1,)), ((3, 5, 2), (5,)), ((0, 2), ())):
        for _ in range(3):
            x = cupy.asarray(rng.uniform(size=shape))
            y = cupy.asarray(rng.uniform(size=factor))
            columns = cupy.asarray(np.asfortranarray(x))
            for given in (x, columns, x[::-1], x.astype(np.float32)):
                np.testing.assert_allclose(kernel(given, y), given * y[..., None], rtol=1e-15)


@needs_compiler
def test_wrong_arguments(cupy):
    f = backend_named("cuda").function(PENDULUM)
    with pytest.raises(SignatureError, match=r"takes 2 arguments \(q, qdd\), not 1"):
        f(np.zeros(2))
    with pytest.raises(SignatureError, match=r"'qdd' has shape \(3,\); its last axes must be \(2,\)"):
        f(np.zeros(2), np.zeros(3))
    with pytest.raises(SignatureError, match="do not broadcast"):
        f(np.zeros((3, 2)), np.zeros((4, 2)))
    with pytest.raises(UnsupportedError, match="'q' is a object that is not on the GPU"):
        f(object(), np.zeros(2))


def test_no_cupy(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(UnsupportedError, match="pip install cupy"):
        backend_named("cuda").function(PENDULUM)(np.zeros(2), np.zeros(2))


def test_no_gpu(cupy):
    def fails():
        raise RuntimeError("no CUDA-capable device")
    cupy.cuda.runtime.getDeviceCount = fails
    with pytest.raises(UnsupportedError, match="finds no GPU: no CUDA-capable device"):
        backend_named("cuda").function(PENDULUM)(np.zeros(2), np.zeros(2))


def test_on_a_gpu():
    cupy = pytest.importorskip("cupy")
    program = program_of(inverse_dynamics, "(n),(n),(n)->(n)", n=7)
    f = backend_named("cuda").function(program)
    q, qd, qdd = np.random.default_rng(4).normal(size=(3, 1000, 7))
    right = np.stack([inverse_dynamics(*state) for state in zip(q, qd, qdd, strict=True)])
    for layout in (cupy.asarray, lambda x: cupy.asarray(np.ascontiguousarray(x.T)).T):
        for dtype, tolerance in ((np.float64, 1e-13), (np.float32, 2e-5)):
            found = f(*[layout(x.astype(dtype)) for x in (q, qd, qdd)])
            np.testing.assert_allclose(cupy.asnumpy(found), right, rtol=0, atol=tolerance * np.abs(right).max())


def test_a_kernel_of_the_stand_in_is_never_called_on_a_gpu(cupy):
    """A kernel stays loaded for its device; in the same process there may be a GPU, with CuPy's own arrays."""
    made = cy.kernel("(2)->(2)")(lambda x: 2.0 * x).on("cuda")
    for device, loaded in ((cupy.cuda.Device().id, 1), (0, 2), (0, 2)):
        cupy.cuda.Device().id = device
        np.testing.assert_array_equal(made(cupy.asarray(np.ones(2))), [2.0, 2.0])
        assert cupy.RawModule.made == loaded
