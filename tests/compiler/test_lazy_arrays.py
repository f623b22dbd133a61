"""Kernels on Dask's arrays: lazy, of the right types, shapes and chunks, the same numbers bit for bit; what cannot be
is refused by name.
"""

import pickle

import dask.array as da
import numpy as np
import pytest

import cayley as cy
from cayley.errors import SignatureError, UnsupportedError


@pytest.fixture(scope="module")
def arm():
    return cy.load("planar2r")


@pytest.fixture(scope="module")
def states():
    return np.random.default_rng(1).normal(size=(3, 10, 2))


def lazily(arrays, rows=4):
    return [da.from_array(a, chunks=(rows, *a.shape[1:])) for a in arrays]


def test_nothing_is_computed_before_it_is_asked_for(arm, states):
    asked = []
    q = da.map_blocks(lambda x: asked.append(len(x)) or x, lazily(states)[0], dtype=float, meta=np.empty((0, 0)))
    tau = arm.inverse_dynamics(q, *lazily(states[1:]))
    assert not asked
    assert (tau.shape, tau.chunks, tau.dtype) == ((10, 2), ((4, 4, 2), (2,)), np.float64)
    np.testing.assert_array_equal(tau.compute(scheduler="synchronous"), arm.inverse_dynamics(*states))
    assert sorted(asked) == [2, 4, 4]


def test_after_a_call_on_one_state_the_compiled_code_still_hands_lazy_arrays_on(arm, states):
    for _ in range(2):
        arm.inverse_dynamics(*states[:, 0])
    np.testing.assert_array_equal(arm.inverse_dynamics(*lazily(states)), arm.inverse_dynamics(*states))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_types_are_those_of_numpy(arm, states, dtype):
    given = states.astype(dtype)
    tau = arm.inverse_dynamics(*lazily(given))
    assert tau.dtype == dtype == tau.compute().dtype
    np.testing.assert_array_equal(tau, arm.inverse_dynamics(*given))
    single = arm.inverse_dynamics(*lazily(states), dtype=np.float32)
    assert single.dtype == np.float32 == single.compute().dtype


def test_arrays_of_numpy_and_other_chunks_beside_them(arm, states):
    q, qd, qdd = states
    tau = arm.inverse_dynamics(lazily([q])[0], lazily([qd], 3)[0], qdd)
    np.testing.assert_array_equal(tau, arm.inverse_dynamics(q, qd, qdd))
    np.testing.assert_array_equal(arm.inverse_dynamics(lazily([q])[0], qd[0], [0.0, 1.0]),
                                  arm.inverse_dynamics(q, qd[0], [0.0, 1.0]))
    grid = arm.inverse_dynamics(da.from_array(q[:, None], chunks=(4, 1, 2)), da.from_array(qd, chunks=(5, 2)), qdd[0])
    assert grid.shape == (10, 10, 2) and grid.chunks[:2] == ((4, 4, 2), (5, 5))
    np.testing.assert_array_equal(grid, arm.inverse_dynamics(q[:, None], qd, qdd[0]))


def test_one_state_and_none(arm, states):
    q, qd, qdd = (da.from_array(a) for a in states)
    np.testing.assert_allclose(arm.inverse_dynamics(q[0], qd[0], qdd[0]), arm.inverse_dynamics(*states[:, 0]),
                               rtol=1e-14)
    assert arm.inverse_dynamics(q[:0], qd[:0], qdd[:0]).compute().shape == (0, 2)


def test_results_of_other_shapes_and_several_of_them(arm, states):
    q = lazily(states)[0]
    pose = arm.pose(q, "tool")
    assert pose.shape == (10, 4, 4) and pose.chunks == ((4, 4, 2), (4,), (4,))
    np.testing.assert_array_equal(pose, arm.pose(states[0], "tool"))
    found, expected = arm.linearize(*lazily(states)), arm.linearize(*states)
    assert type(found).__name__ == type(expected).__name__
    for lazy, plain in zip(found, expected, strict=True):
        np.testing.assert_array_equal(lazy, plain)


def test_matrices_in_and_numbers_out():
    @cy.kernel("(3,3),(n)->(),(n,3)", outputs=("trace", "table"))
    def pair(R, x):
        return R[0, 0] + R[1, 1] + R[2, 2], x[:, None] * R[0]

    R = np.random.default_rng(0).normal(size=(7, 3, 3))
    found = pair(da.from_array(R, chunks=(3, 3, 3)), np.arange(2.0))
    assert found.trace.chunks == ((3, 3, 1),) and found.table.shape == (7, 2, 3)
    np.testing.assert_allclose(found.trace, np.trace(R, axis1=1, axis2=2), rtol=1e-15)
    np.testing.assert_allclose(found.table, np.arange(2.0)[:, None] * R[:, 0][:, None], rtol=1e-15)


def test_different_arms_in_a_batch(arm, states):
    masses = np.random.default_rng(2).uniform(1.0, 2.0, size=(10, 2))
    kernel = arm.inverse_dynamics.with_parameters("mass")
    np.testing.assert_array_equal(kernel(*lazily(states), lazily([masses])[0]), kernel(*states, masses))
    shared = pickle.loads(pickle.dumps(kernel(*lazily(states), masses[0])))
    np.testing.assert_array_equal(shared, kernel(*states, masses[0]))


def test_the_graph_travels(arm, states):
    tau = pickle.loads(pickle.dumps(arm.inverse_dynamics(*lazily(states))))
    np.testing.assert_array_equal(tau, arm.inverse_dynamics(*states))


def test_an_axis_of_one_state_that_is_cut_is_named(arm, states):
    q, qd, qdd = lazily(states)
    with pytest.raises(SignatureError, match=r"'qd' of inverse_dynamics is cut along axis 1, into chunks \(1, 1\).*"
                                             r"qd\.rechunk\(\{1: -1\}\)"):
        arm.inverse_dynamics(q, qd.rechunk((4, 1)), qdd)


def test_what_does_not_fit_is_said_before_anything_runs(arm, states):
    q, qd, qdd = lazily(states)
    with pytest.raises(SignatureError, match="do not broadcast"):
        arm.inverse_dynamics(q[:3], qd, qdd)
    with pytest.raises(SignatureError, match=r"compute_chunk_sizes"):
        arm.inverse_dynamics(q[q[:, 0] > 0], qd, qdd)
    with pytest.raises(SignatureError, match="does not fit"):
        arm.inverse_dynamics(q[:, :1], qd, qdd)
    with pytest.raises(UnsupportedError, match="out with arrays of Dask"):
        arm.inverse_dynamics(q, qd, qdd, out=np.empty((10, 2)))
    with pytest.raises(UnsupportedError, match="complex"):
        arm.inverse_dynamics(q.astype(complex), qd, qdd)


def test_nan_stays_nan(arm, states):
    q = states[0].copy()
    q[3] = np.nan
    tau = arm.inverse_dynamics(lazily([q])[0], *lazily(states[1:])).compute()
    assert np.isnan(tau[3]).any() and np.isfinite(np.delete(tau, 3, axis=0)).all()
