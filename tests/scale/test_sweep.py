"""Sweeps: every point once, whoever computes it and however often the work is interrupted."""

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import cloudpickle
import numpy as np
import pytest
import zarr

import cayley as cy
from cayley.errors import ConventionError, SignatureError
from cayley.scale import Drawn, Extremes, Grid, Histogram, Moments, Table, sweep
from cayley.scale.store import Store

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers do not have the tests
ARM = cy.load("planar2r")


def states(random, count):
    q, qd, qdd = random.normal(size=(3, count, 2))
    return {"q": q, "qd": qd, "qdd": qdd}


def test_kept_rows_are_those_of_one_call():
    points = Drawn(10_000, states, seed=3)
    found = ARM.sweep("inverse_dynamics", points, chunk=999)
    assert found["tau"].shape == (10_000, 2)
    np.testing.assert_array_equal(found["tau"][:], ARM.inverse_dynamics(**found.columns(0, 10_000)))
    assert repr(found) == "<sweep of 10000 points in 11 chunks, 11 of them computed now: tau>"


def test_reductions_are_those_of_numpy():
    points = Drawn(10_000, states)
    found = ARM.sweep("inverse_dynamics", points, chunk=999,
                      reduce={"tau": [Extremes(), Moments(), Histogram(-20, 10, 30)]})
    tau = ARM.inverse_dynamics(**points.cut(0, 10_000)())
    extreme, moment, histogram = found.reduced["tau"]
    np.testing.assert_array_equal([extreme.least, extreme.greatest], [tau.min(0), tau.max(0)])
    np.testing.assert_array_equal([extreme.least_row, extreme.greatest_row], [tau.argmin(0), tau.argmax(0)])
    np.testing.assert_allclose(moment.mean, tau.mean(0), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(moment.deviation, tau.std(0), rtol=1e-12)
    for k in range(2):
        np.testing.assert_array_equal(histogram.counts[k], np.histogram(tau[:, k], 30, (-20, 10))[0])
    np.testing.assert_array_equal(histogram.below, (tau < -20).sum(0))
    np.testing.assert_array_equal(histogram.above, (tau > 10).sum(0))
    with pytest.raises(SignatureError, match="has tau reduced"):
        found["tau"]


def test_values_that_are_no_numbers_are_counted_and_left_out():
    x = np.array([[1.0, np.nan], [np.inf, np.nan], [3.0, np.nan], [2.0, np.nan]])
    found = sweep(lambda x: x, {"x": x}, chunk=2, reduce={"result": [Extremes(), Moments(), Histogram(0, 4, 2)]})
    extreme, moment, histogram = found.reduced["result"]
    assert (extreme.least[0], extreme.greatest[0], extreme.greatest_row.tolist()) == (1.0, 3.0, [2, -1])
    assert moment.mean[0] == 2.0 and np.isnan(moment.mean[1]) and moment.finite.tolist() == [3, 0]
    assert histogram.counts.tolist() == [[1, 2], [0, 0]]
    for each in found.reduced["result"]:
        assert each.not_finite.tolist() == [1, 4]


def test_gains_on_a_grid_by_rollouts():
    @cy.kernel("(2),(2),(),()->(2)")
    def spring(q, qd, kp, kd):
        return -kp * q - kd * qd

    roll = ARM.rollout(method="semi-implicit-euler", controller=spring)
    start = np.array([0.3, 0.2])
    run = partial(roll, step=1e-3, steps=50, every=50, qd=np.zeros(2), progress=False)
    found = ARM.sweep(partial(run, q=start), Grid(kp=[1.0, 10.0, 100.0], kd=[0.1, 1.0]), chunk=4)
    kp, kd = (a.ravel() for a in np.meshgrid([1.0, 10.0, 100.0], [0.1, 1.0], indexing="ij"))
    np.testing.assert_array_equal(found["q"][:], run(start, kp=kp, kd=kd).q)
    assert found["q"].shape == (6, 2, 2) and len(np.unique(found["q"][:, -1, 0])) == 6


def test_different_arms():
    masses = np.random.default_rng(0).uniform(1.0, 3.0, size=(20, 2))
    kernel = ARM.gravity_forces.with_parameters("mass")
    q = np.random.default_rng(1).normal(size=(20, 2))
    found = sweep(kernel, {"q": q, "parameters": masses}, chunk=7)
    np.testing.assert_array_equal(found["result"][:], kernel(q, masses))


def test_drawn_points_do_not_depend_on_how_they_are_cut():
    points = Drawn(20_000, states, seed=5)
    whole = points.cut(0, 20_000)()["qd"]
    pieces = [points.cut(a, b)()["qd"] for a, b in ((0, 1), (1, 4096), (4096, 4097), (4097, 19_999), (19_999, 20_000))]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)
    assert not np.array_equal(whole, Drawn(20_000, states, seed=6).cut(0, 20_000)()["qd"])
    np.testing.assert_array_equal(Drawn(10, states, seed=5).cut(0, 10)()["qd"], whole[:10])


def test_threads_of_an_executor_and_tables_in_files(tmp_path):
    q = np.random.default_rng(1).normal(size=(1000, 2)).astype(np.float32)
    stored = zarr.open_group(tmp_path / "log").create_array("q", data=q, chunks=(300, 2))
    with ThreadPoolExecutor(2) as pool:
        found = ARM.sweep("gravity_forces", {"q": stored}, chunk=64, on=pool)
    assert found["result"].dtype == np.float32
    np.testing.assert_array_equal(found["result"][:], ARM.gravity_forces(q))


def noted(notes, fail_at, q):
    """Gravity forces; each call leaves a note, and one of them fails as long as no `mended` file is there."""
    number = len(list(Path(notes).glob("call*")))
    (Path(notes) / f"call{number}").touch()
    if number == fail_at and not (Path(notes) / "mended").exists():
        raise ArithmeticError("as a test")
    return ARM.gravity_forces(q)


def test_started_again_it_goes_on_where_it_was(tmp_path):
    (tmp_path / "notes").mkdir()
    q = np.random.default_rng(1).normal(size=(100, 2))
    run = partial(sweep, partial(noted, tmp_path / "notes", 5), {"q": q}, into=tmp_path / "store", chunk=10)
    with pytest.raises(ArithmeticError) as error:
        run()
    assert error.value.__notes__ == ["in chunk 4 of a sweep, points 40 to 49"]  # the first call is of one point
    (tmp_path / "notes" / "mended").touch()
    found = run()
    assert found.computed == 6
    np.testing.assert_array_equal(found["result"][:], ARM.gravity_forces(q))
    assert run().computed == 0


def test_a_chunk_without_its_mark_is_made_anew(tmp_path):
    q = np.random.default_rng(1).normal(size=(100, 2))
    run = partial(ARM.sweep, "gravity_forces", {"q": q}, into=tmp_path / "store", chunk=10)
    run()
    (tmp_path / "store/marks/c/3").unlink()
    (tmp_path / "store/rows/result/c/3/0").write_bytes(b"half")
    found = run()
    assert found.computed == 1
    np.testing.assert_array_equal(found["result"][:], ARM.gravity_forces(q))


def test_another_sweep_in_the_same_place_is_refused(tmp_path):
    q = np.random.default_rng(1).normal(size=(100, 2))
    into = tmp_path / "store"
    ARM.sweep("gravity_forces", {"q": q}, into=into, chunk=10)
    with pytest.raises(ConventionError, match="another sweep: chunk is 10 there, and 20 here"):
        ARM.sweep("gravity_forces", {"q": q}, into=into, chunk=20)
    with pytest.raises(ConventionError, match="result of its chunk 0 is not what this function gives"):
        ARM.with_gravity([3.0, 1.0, 0.0]).sweep("gravity_forces", {"q": q}, into=into, chunk=10)
    zarr.open_group(tmp_path / "other").create_array("q", data=q)
    with pytest.raises(ConventionError, match="holds q, and no sweep"):
        ARM.sweep("gravity_forces", {"q": q}, into=tmp_path / "other")


def moved(q, place, by):
    other = q.copy()
    other.flat[place] += by
    return other


@pytest.mark.parametrize("seed", range(6))
def test_one_other_point_is_refused_and_named(tmp_path, seed):
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(95, 2))
    run = partial(ARM.sweep, "gravity_forces", into=tmp_path / "store", chunk=int(rng.integers(5, 40)),
                  **({"reduce": {"result": [Moments()]}} if seed % 2 else {}))
    points = Table if seed % 3 else lambda columns: Table({"q": zarr.array(columns["q"])})
    run(points=points({"q": q}))
    assert run(points=points({"q": q})).computed == 0
    place = int(rng.integers(q.size))
    first = place // 2 // run.keywords["chunk"] * run.keywords["chunk"]
    with pytest.raises(ConventionError, match=f"store holds a sweep of other points: some of those from {first} to"):
        run(points=points({"q": moved(q, place, 10.0**-rng.integers(0, 12))}))
    assert run(points=points({"q": q})).computed == 0  # what was there is still there


def test_other_axes_and_seeds_are_refused(tmp_path):
    grid = partial(sweep, lambda x, y: np.hypot(x, y), into=tmp_path / "grid", chunk=7)
    grid(Grid(x=[1.0, 2.0, 3.0], y=np.arange(9.0)))
    with pytest.raises(ConventionError, match="sweep of other points"):
        grid(Grid(x=[1.0, 2.0, 3.0], y=np.append(np.arange(8.0), 8.5)))
    drawn = partial(ARM.sweep, "inverse_dynamics", into=tmp_path / "drawn", chunk=7)
    drawn(Drawn(30, states, seed=1))
    with pytest.raises(ConventionError, match="sweep of other points"):
        drawn(Drawn(30, states, seed=2))


DAMAGES = {"cut short": lambda data: data[:len(data) // 2], "emptied": lambda data: b"",
           "changed": lambda data: bytes([data[0] ^ 255]) + data[1:], "lost": None}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["rows/a/c/2/0", "rows/zero/c/2/0", "summaries/c/2/0", "digests/c/2/0", "marks/c/2",
                                  "zarr.json", "marks/zarr.json", "rows/a/zarr.json", "digests/zarr.json"])
def test_what_is_damaged_is_made_anew_or_refused(tmp_path, name, damage):
    q = np.random.default_rng(1).normal(size=(50, 2))

    def compute(q):
        return {"a": ARM.gravity_forces(q), "b": q, "zero": np.zeros_like(q), "minus": -np.zeros_like(q)}

    run = partial(sweep, compute, {"q": q}, into=tmp_path / "store", chunk=10, reduce={"b": [Extremes()]})
    whole = run()
    place = tmp_path / "store" / name
    if place.exists():  # a chunk of zeros is none
        place.unlink() if DAMAGES[damage] is None else place.write_bytes(DAMAGES[damage](place.read_bytes()))
    else:
        assert "zero" in name
    try:
        found = run()
    except ConventionError as error:
        assert "another place" in str(error) and (name.endswith("zarr.json") or name[:7] == "digests")
        return
    assert found.computed == (0 if "zero" in name else 5 if name == "zarr.json" else 1)
    np.testing.assert_array_equal(found["a"][:], ARM.gravity_forces(q))
    np.testing.assert_array_equal(found.reduced["b"][0].greatest, whole.reduced["b"][0].greatest)
    assert run().computed == 0


def test_places_that_cannot_hold_a_sweep_are_said(tmp_path):
    (tmp_path / "file").touch()
    for into in ("/dev/null/x", tmp_path / "file", tmp_path / "file" / "x", "/dev/null", "a\0b", "/proc/x"):
        with pytest.raises(ConventionError):
            ARM.sweep("gravity_forces", {"q": np.zeros((3, 2))}, into=into)


def test_what_cannot_be_swept_is_said(client):
    q = np.zeros((10, 2))
    with pytest.raises(SignatureError, match="did you mean 'gravity_forces'"):
        ARM.sweep("gravity_force", {"q": q})
    with pytest.raises(SignatureError, match=r"row for each point: q \(10, 2\), kp \(9,\)"):
        Table({"q": q, "kp": np.zeros(9)})
    with pytest.raises(SignatureError, match=r"the shape \(2,\); it needs a row"):
        sweep(lambda q: q.sum(axis=0), {"q": q})
    with pytest.raises(SignatureError, match="no result 'forces' to reduce: there are result"):
        ARM.sweep("gravity_forces", {"q": q}, reduce={"forces": [Extremes()]})
    with pytest.raises(ConventionError, match="no points"):
        ARM.sweep("gravity_forces", {"q": q[:0]})
    for chunk in (0, 2.5, "all", None, np.nan):
        with pytest.raises(ConventionError, match="rows of a chunk must be a whole number, 1 or more"):
            ARM.sweep("gravity_forces", {"q": q}, chunk=chunk)
    with pytest.raises(ConventionError, match=r"a client of Dask or an executor of concurrent\.futures, not on 'tcp://"):
        ARM.sweep("gravity_forces", {"q": q}, on="tcp://scheduler:8786")
    for ways in (Extremes(), [Extremes], "extremes"):
        with pytest.raises(SignatureError, match="'result' is reduced by a list of reductions"):
            ARM.sweep("gravity_forces", {"q": q}, reduce={"result": ways})
    with pytest.raises(SignatureError, match="real numbers, not complex128"):
        sweep(lambda q: 1j * q, {"q": q}, reduce={"result": [Moments()]})
    with pytest.raises(ConventionError, match=r"into=\.\.\."):
        ARM.sweep("gravity_forces", {"q": q}, on=client)
    with pytest.raises(SignatureError, match="to_zarr"):
        import dask.array as da
        ARM.sweep("gravity_forces", {"q": da.from_array(q)})


def test_points_that_cannot_be_are_said(tmp_path):
    with pytest.raises(ConventionError, match="100000 x 100000 x 100000 x 100000 has more points than can be numbered"):
        Grid(a=np.zeros(10**5), b=np.zeros(10**5), c=np.zeros(10**5), d=np.zeros(10**5))
    assert Grid(a=np.zeros(10**5), b=np.zeros(10**5), c=np.zeros(10**5)).count == 10**15
    for count in ("many", np.inf, np.nan, -1, 1.5):
        with pytest.raises(ConventionError, match="the number of points must be a whole number"):
            Drawn(count, lambda random, count: {})
    for seed in (-1, None, 0.5):
        with pytest.raises(ConventionError, match="the seed must be a whole number"):
            Drawn(10, lambda random, count: {}, seed=seed)
    with pytest.raises(SignatureError, match="a dictionary of columns, not ndarray"):
        sweep(lambda q: q, Drawn(10, lambda random, count: random.normal(size=(count, 2))))
    with pytest.raises(ConventionError, match="the number of bins must be a whole number"):
        Histogram(0.0, 1.0, 2.5)
    (tmp_path / "file").write_text("")
    with pytest.raises(ConventionError, match="is a file: a sweep takes a folder"):
        sweep(lambda q: q, {"q": np.zeros(3)}, into=tmp_path / "file")


@pytest.mark.parametrize(("compute", "said"), [
    (lambda q: {"a": q} if q[0] < 2 else {"b": q}, r"gave a of \(\) float64, and these points give no a"),
    (lambda q: {"a": q} if q[0] < 2 else {"a": q, "b": q}, r"gave no b, and these points give b of \(\) float64"),
    (lambda q: q[:, None] if q[0] < 2 else np.stack([q, q], axis=1), r"of \(1,\) float64, .* of \(2,\) float64"),
    (lambda q: np.stack([q, q], axis=1) if q[0] < 2 else q[:, None], r"of \(2,\) float64, .* of \(1,\) float64"),
    (lambda q: q.astype(int) if q[0] < 2 else q + 0.5, r"of \(\) int64, .* of \(\) float64")])
def test_points_that_give_something_else_than_the_first_are_said(compute, said):
    """Rather than spread, rounded, or left at zero."""
    with pytest.raises(SignatureError, match=said) as error:
        sweep(compute, {"q": np.arange(4.0)}, chunk=1)
    assert error.value.__notes__ == ["in chunk 2 of a sweep, points 2 to 2"]


def dying(notes, q, qd, qdd):
    """Inverse dynamics; each call leaves a note of its process, and one after the fifth ends its process in the middle
    of writing, when some of the results are written."""
    number = len(list(Path(notes).glob("call*")))
    (Path(notes) / f"call{number} {os.getpid()} {q[0, 0].hex()}").touch()
    if number >= 5 and not (Path(notes) / "died").exists():
        (Path(notes) / "died").touch()

        def half(store, place, rows, summary, known):
            store.rows("tau")[place * 100:place * 100 + 50] = rows["tau"][:50]
            os.kill(os.getpid(), signal.SIGKILL)
        Store.write = half
    tau = ARM.inverse_dynamics(q, qd, qdd)
    return {"tau": tau, "power": (tau * qd).sum(axis=-1)}


def test_a_worker_that_dies_costs_only_its_tasks(client, tmp_path):
    (tmp_path / "notes").mkdir()
    points = Drawn(2000, states)
    reduce = {"power": [Moments(), Extremes()]}
    found = sweep(partial(dying, tmp_path / "notes"), points, into=tmp_path / "store", chunk=100, on=client,
                  reduce=reduce)
    calls = [note.name.split() for note in (tmp_path / "notes").glob("call*")]
    workers = {process for _, process, _ in calls} - {str(os.getpid())}
    done = [first for _, process, first in calls if process in workers]
    assert len(workers) >= 2 and len(set(done)) == 20 and 21 <= len(done) <= 24  # what it had not handed over

    def plain(q, qd, qdd):
        tau = ARM.inverse_dynamics(q, qd, qdd)
        return {"tau": tau, "power": (tau * qd).sum(axis=-1)}

    here = sweep(plain, points, chunk=100, reduce=reduce)
    np.testing.assert_array_equal(found["tau"][:], here["tau"][:])
    for there, expected in zip(found.reduced["power"], here.reduced["power"], strict=True):
        for one, other in zip(there, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def peak():
    """The most memory that this process has had [MiB]."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak of memory from /proc")
def test_memory_does_not_grow_with_the_number_of_points(client, tmp_path):
    peaks = []
    for count in (100_000, 2_000_000):  # 128 bytes a point: 244 MiB of points and results in all
        ARM.sweep("linearize", Drawn(count, states), into=tmp_path / str(count), chunk=16384, on=client,
                  reduce={name: [Moments()] for name in ("D", "V", "P")})
        peaks.append(max(client.run(peak).values()))
    assert peaks[1] - peaks[0] < 40
