"""Rollouts made by other backends are those of this processor: on a GPU, and as C."""

import ctypes
import pickle

import numpy as np
import pytest

import cayley as cy
from compiler.parity import compiled_c
from programs import needs
from simulation.test_closed_motions import four_bar
from systems.plants import ball

needs_cpp = needs("g++")
needs_c = needs("cc")


def states(arm, batch, seed=3):
    return np.random.default_rng(seed).uniform(-0.8, 0.8, size=(2, batch, arm.nv))


@needs_cpp
@pytest.mark.parametrize("method", ["semi-implicit-euler", "rk4"])
def test_on_a_stand_in_for_a_gpu(cupy, method):
    arm = cy.load("planar2r")
    q, qd = states(arm, 3)
    tau = np.random.default_rng(4).normal(size=(3, 20, 2))
    here = arm.rollout(method=method, changing=["tau"])
    there = here.on("cuda")
    one, other = (roll(q, qd, tau, step=1e-2, steps=20, every=5, progress=False) for roll in (here, there))
    assert cupy.RawModule.made == (2 if method == "rk4" else 1) and one.status == other.status == "finished"
    np.testing.assert_allclose(other.q, one.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(other.qd, one.qd, rtol=0, atol=1e-12)


@needs_cpp
def test_a_control_law_is_in_the_loop_on_a_gpu_too(cupy):
    arm = cy.load("planar2r")

    @cy.kernel("(2),(2),(2)->(2)", outputs=("tau",))
    def pd(q, qd, target):
        return 40.0 * (target - q) - 12.0 * qd
    q, qd = states(arm, 2)
    here = arm.rollout(method="rk4", controller=pd)
    given = {"step": 5e-3, "steps": 10, "every": 10, "target": np.array([0.3, -0.2]), "progress": False}
    np.testing.assert_allclose(here.on("cuda")(q, qd, **given).q, here(q, qd, **given).q, rtol=0, atol=1e-12)


@needs_cpp
def test_transitions_are_found_on_a_gpu_too(cupy):
    """Every thread searches for its own instants, for as long as it needs."""
    here = ball().rollout(parameters=["e"])
    given = {"step": 0.02, "steps": 80, "every": 10, "parameters": {"e": np.array([0.8, 0.95])}, "progress": False}
    start = {"height": np.array([1.0, 0.3]), "speed": 0.0}
    one, other = (roll(start, **given) for roll in (here, here.on("cuda")))
    assert one.log.count.tolist() == other.log.count.tolist() and one.log.count.min() > 1
    np.testing.assert_allclose(other.vectors, one.vectors, rtol=0, atol=1e-12)
    np.testing.assert_allclose(other.log.times, one.log.times, rtol=0, atol=1e-13)


def test_a_rollout_elsewhere_is_pickled_with_its_place():
    here = cy.load("planar2r").rollout(method="rk4").on("cuda")
    again = pickle.loads(pickle.dumps(here))
    assert again._iterated.backend == "cuda"


@needs_c
def test_in_c():
    arm = cy.load("planar2r")
    roll = arm.rollout(method="semi-implicit-euler")
    function = compiled_c(roll.c_source("fall"))
    function.restype = None
    q, qd = states(arm, 1)
    x = np.concatenate([q[0], qd[0], [0.0, 0.0]])
    tau, kept, row = np.array([0.5, -0.2]), np.empty((4, 6)), roll.fixed_step.table.numbers.astype(float)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (x, row, tau, kept)]
    function(ctypes.c_long(4), ctypes.c_long(5), ctypes.c_long(len(row)), pointers[0], ctypes.c_double(1e-2),
             *pointers[1:])
    right = roll(q[0], qd[0], tau, step=1e-2, steps=20, every=5, progress=False)
    np.testing.assert_allclose(kept[:, :2], right.q[1:], rtol=0, atol=1e-12)
    np.testing.assert_allclose(kept[:, 2:4], right.qd[1:], rtol=0, atol=1e-12)


def folded():
    """A parallelogram that lies flat, where its constraints depend on each other, and moves out of there."""
    return four_bar(0.2, 0.5, 0.2, 0.5), np.zeros(3), np.array([3.0, -3.0, 3.0])


@needs_c
def test_a_closed_mechanism_in_c():
    arm, q, qd = folded()
    roll = arm.rollout(method="semi-implicit-euler")
    function = compiled_c(roll.c_source("folded"))
    function.restype = None
    x = np.concatenate([q, qd, [0.0, 0.0]])
    tau, kept, row = np.zeros(3), np.empty((4, 8)), roll.fixed_step.table.numbers.astype(float)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (x, row, tau, kept)]
    function(ctypes.c_long(4), ctypes.c_long(5), ctypes.c_long(len(row)), pointers[0], ctypes.c_double(1e-2),
             *pointers[1:])
    right = roll(q, qd, tau, step=1e-2, steps=20, every=5, progress=False)
    assert right.finished
    np.testing.assert_allclose(kept[:, :3], right.q[1:], rtol=0, atol=1e-10)


@needs_cpp
def test_a_closed_mechanism_on_a_stand_in_for_a_gpu(cupy):
    arm, q, qd = folded()
    here = arm.rollout(method="semi-implicit-euler")
    one, other = (roll(q, [qd, 2 * qd], step=1e-2, steps=20, every=5, progress=False)
                  for roll in (here, here.on("cuda")))
    assert other.finished
    np.testing.assert_allclose(other.q, one.q, rtol=0, atol=1e-10)


def test_on_a_gpu():
    cupy = pytest.importorskip("cupy")
    arm = cy.load("panda")
    q, qd = states(arm, 2000)
    for method in ("semi-implicit-euler", "rk4"):
        here = arm.rollout(method=method)
        for dtype, tolerance in ((np.float64, 1e-10), (np.float32, 1e-3)):
            given = q.astype(dtype), qd.astype(dtype), np.zeros(arm.nv, dtype)
            one, other = (roll(*given, step=1e-3, steps=100, every=50, progress=False)
                          for roll in (here, here.on("cuda")))
            assert other.q.dtype == dtype and cupy.cuda.runtime.getDeviceCount() >= 1
            np.testing.assert_allclose(other.q, one.q, rtol=0, atol=tolerance)
