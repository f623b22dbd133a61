"""Rows that a copying engine moves: the loop of tiles runs on the processor, with a stand-in for the engine that brings
as early and takes away as late as it may. Where CuPy and a GPU are present, the last tests run on them.
"""

import subprocess

import numpy as np
import pytest

from cayley.compiler.backends import backend_named, gpu_code
from cayley.compiler.cuda import cuda_rows
from cayley.compiler.cuda.cuda_rows import TILE, pays
from compiler.mechanisms import inverse_dynamics, moved_points, pendulum_torque, program_of
from programs import needs

needs_compiler = needs("g++")
needs_nvcc = needs("nvcc")
ARM = program_of(inverse_dynamics, "(n),(n),(n)->(n)", n=5)
ROWS = ((5, 1),) * 4
BATCHES = (0, 1, 31, TILE, TILE + 1, 4 * TILE + 33)


def scaled(x, factor, unread):
    """Two outputs of different lengths, an input that is the same for all states, and one that is not read."""
    return {"product": 0.1 * x * factor, "sums": np.stack([x[0] + x[1], x[1] - np.pi, x[2] * x[3], x[4]])}


SCALED = program_of(scaled, "(5),(),(3)->(5),(4)")


@pytest.fixture
def hopper(cupy, monkeypatch):
    """A device that has the engine, with two blocks at work."""
    cupy.cuda.Device().compute_capability = "90"
    cupy.cuda.runtime.runtimeGetVersion = lambda: 12000
    monkeypatch.setattr(gpu_code, "RESIDENT", 1)
    monkeypatch.setitem(cuda_rows.WORTH, "double", (0, 1000))
    return cupy


def by_rows(kernel):
    return [loaded.tile for loaded in kernel._code._compiled.values()]


@needs_compiler
@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-13), (np.float32, 2e-5)])
def test_values_of_every_batch(hopper, dtype, tolerance):
    kernel = backend_named("cuda").function(ARM)
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, max(BATCHES), 5))
    right = np.stack([inverse_dynamics(*state) for state in zip(q, qd, qdd, strict=True)])
    for count in BATCHES:
        found = kernel(*[hopper.asarray(a[:count].astype(dtype)) for a in (q, qd, qdd)])
        assert found.shape == (count, 5)
        np.testing.assert_allclose(found, right[:count], rtol=0, atol=tolerance * np.abs(right).max())
    assert by_rows(kernel) == [TILE]


@needs_compiler
def test_operands_that_begin_anywhere(hopper):
    """Also where no multiple of 16 bytes begins, and where results go into an argument."""
    kernel = backend_named("cuda").function(ARM)
    store = np.random.default_rng(1).normal(size=3 * 1000).astype(np.float32).view(hopper.ndarray)
    for first in (0, 1, 2):
        states = [store[k * 1000 + first:][:5 * 70].reshape(70, 5) for k in range(3)]
        right = np.stack([inverse_dynamics(*state) for state in zip(*[a.astype(float) for a in states], strict=True)])
        np.testing.assert_allclose(kernel(*states), right, rtol=0, atol=2e-5 * np.abs(right).max())
        kept = [a.copy() for a in states]
        kernel(*states, out=states[first % 3])
        np.testing.assert_allclose(states[first % 3], right, rtol=0, atol=2e-5 * np.abs(right).max())
        for k in {0, 1, 2} - {first % 3}:
            np.testing.assert_array_equal(states[k], kept[k])
    assert by_rows(kernel) == [TILE]


@needs_compiler
@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-15), (np.float32, 1e-6)])
def test_several_outputs_and_what_is_the_same_for_all(hopper, dtype, tolerance):
    kernel = backend_named("cuda").function(SCALED)
    rng = np.random.default_rng(2)
    for count in (1, 2 * TILE + 1):
        x = rng.normal(size=(count, 5)).astype(dtype)
        for factor in (np.array(1.5, dtype), rng.normal(size=count).astype(dtype)):
            found = kernel(x, factor, np.zeros((count, 3), dtype))
            right = [scaled(*state, None) for state in zip(x.astype(float), np.broadcast_to(factor, count),
                                                           strict=True)]
            for got, name in zip(found, ("product", "sums"), strict=True):
                np.testing.assert_allclose(got, np.stack([each[name] for each in right]), rtol=0, atol=5 * tolerance)
    assert by_rows(kernel) == [TILE, TILE]


@needs_compiler
@pytest.mark.parametrize("count", [TILE, 3 * TILE + 33])
def test_columns_are_read_where_they_are(hopper, count):
    kernel = backend_named("cuda").function(ARM)
    q, qd = np.random.default_rng(3).normal(size=(2, 5, count)).view(hopper.ndarray)
    qdd = np.random.default_rng(4).normal(size=(count, 5)).view(hopper.ndarray)
    right = np.stack([inverse_dynamics(*state) for state in zip(q.T, qd.T, qdd, strict=True)])
    close = {"rtol": 0, "atol": 1e-13 * np.abs(right).max()}
    out = np.full((5, count), np.nan).view(hopper.ndarray)
    np.testing.assert_allclose(kernel(q.T, qd.T, qdd), right, **close)
    kernel(q.T, qd.T, qdd, out=out.T)
    np.testing.assert_allclose(out.T, right, **close)
    assert set(by_rows(kernel)) == {0}


@needs_compiler
def test_other_layouts_are_read_where_they_are(hopper):
    kernel = backend_named("cuda").function(ARM)
    q, qd, qdd = np.random.default_rng(3).normal(size=(3, 100, 10)).view(hopper.ndarray)[..., ::2]
    right = np.stack([inverse_dynamics(*state) for state in zip(q, qd, qdd, strict=True)])
    np.testing.assert_allclose(kernel(q, qd, qdd), right, rtol=0, atol=1e-13 * np.abs(right).max())
    assert by_rows(kernel) == [0]


def test_when_it_pays():
    few = program_of(pendulum_torque, "(n),(n)->(n)", n=2)
    assert pays(ARM, "float", ROWS)
    assert not pays(few, "float", ((2, 1),) * 3)  # neighbours read neighbouring words
    assert not pays(ARM, "float", ((1, None), *ROWS[1:])) and not pays(ARM, "float", (*ROWS[:3], (None, 1)))
    assert not pays(ARM, "float", ((6, 1), *ROWS[1:]))
    assert not pays(ARM, "float", ((0, 1), *ROWS[1:]))  # which computes long for what it moves
    assert pays(SCALED, "float", ((5, 1), (0, 1), (3, 1), (5, 1), (4, 1)))
    assert not pays(SCALED, "double", ((5, 1), (0, 1), (3, 1), (5, 1), (4, 1)))  # which only moves
    turned = program_of(moved_points, "(3,3),(3),(k,3)->(k,3),(3,3),()", k=5)  # long rows
    assert pays(turned, "double", ((9, 1), (3, 1), (15, 1), (15, 1), (9, 1), (1, 1)))
    many = program_of(moved_points, "(3,3),(3),(k,3)->(k,3),(3,3),()", k=60)  # more than a block has room for
    assert not pays(many, "float", ((9, 1), (3, 1), (180, 1), (180, 1), (9, 1), (1, 1)))


@needs_compiler
def test_devices_without_the_engine(cupy):
    for capability, version in (("89", 12000), ("90", 11080)):
        cupy.cuda.Device().compute_capability = capability
        cupy.cuda.runtime.runtimeGetVersion = lambda version=version: version
        kernel = backend_named("cuda").function(SCALED)
        kernel(np.zeros((3, 5), np.float32), np.float32(1), np.zeros((3, 3), np.float32))
        assert by_rows(kernel) == [0]


@needs_nvcc
def test_nvidias_compiler_takes_the_text(tmp_path):
    file = tmp_path / "rows.cu"
    for precision in ("float", "double"):
        file.write_text(cuda_rows.cuda_rows(ARM, precision, ROWS))
        done = subprocess.run(["nvcc", "-arch=sm_90", "-Werror", "all-warnings", "-ptx", "-o", str(tmp_path / "p.ptx"),
                               str(file)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        made = (tmp_path / "p.ptx").read_text()
        assert "cp.async.bulk.shared::cluster" in made and "cp.async.bulk.global" in made and ".local" not in made


@pytest.fixture
def gpu():
    cupy = pytest.importorskip("cupy")
    if not gpu_code.moves_tiles(cupy):
        pytest.skip("a device without the engine")
    return cupy


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-13), (np.float32, 2e-5)])
def test_every_batch_on_a_gpu(gpu, monkeypatch, dtype, tolerance):
    monkeypatch.setitem(cuda_rows.WORTH, "double", (0, 1000))
    monkeypatch.setenv("CAYLEY_CACHE", "off")  # where code without tiles may lie
    kernel = backend_named("cuda").function(ARM)
    known = np.random.default_rng(4).normal(size=(3, 500, 5))
    right = np.stack([inverse_dynamics(*state) for state in zip(*known, strict=True)])
    for count in (*BATCHES, 1000 * TILE + 17, 1 << 20):
        states = [np.resize(a, (count + 1, 5)).astype(dtype) for a in known]
        for first in (0, 1):  # rows of five that do and that do not begin at a multiple of 16 bytes
            given = [gpu.asarray(a)[first:first + count] for a in states]
            wanted = np.resize(right, (count + 1, 5))[first:first + count]
            np.testing.assert_allclose(gpu.asnumpy(kernel(*given)), wanted, rtol=0,
                                       atol=tolerance * np.abs(right).max())
            kernel(*given, out=given[1])
            np.testing.assert_allclose(gpu.asnumpy(given[1]), wanted, rtol=0, atol=tolerance * np.abs(right).max())
    assert set(by_rows(kernel)) == {TILE}
