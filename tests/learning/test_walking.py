"""The quadruped that `benchmarks/walking.py` trains."""

import sys
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def benchmarks(monkeypatch):
    try:
        files("example-robot-data")
    except PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield
    for name in ("quadruped", "robots", "walking"):
        sys.modules.pop(name, None)


def test_it_stands_on_four_feet_and_falls_where_its_legs_are_folded(benchmarks):
    from quadruped import COMMAND, quadruped
    from robots import robot
    dogs = quadruped(robot("anymal"), 16)
    seen = dogs.reset(seed=0)
    assert seen.dtype == np.float32 and np.ptp(seen[:, COMMAND], axis=0).min() > 0.2
    falls = 0
    for _ in range(60):
        found = dogs.step(np.zeros((16, 12), np.float32))
        falls += found.failed.sum()
    assert falls == 0 and (found.seen[:, -4:] == 1.0).mean() > 0.9
    forces = dogs.arrays["x"][:, 37:49].reshape(16, 4, 3)[..., 2].sum(1)
    weights = 9.81 * 30.475 * np.ones(16)
    assert np.abs(forces / weights - 1).max() < 0.25  # masses differ by 10 %, and they sway
    folded = np.tile(np.array([0.0, 3.0, -3.0] * 2 + [0.0, -3.0, 3.0] * 2, np.float32), (16, 1))
    assert sum(dogs.step(folded).failed.sum() for _ in range(60)) > 0


def test_its_learner_runs(benchmarks):
    torch = pytest.importorskip("torch")
    from quadruped import quadruped
    from robots import robot
    from walking import learn
    device = torch.device("cpu")
    nets = learn(quadruped(robot("anymal"), 16, device), 2, device)
    assert all(torch.isfinite(part).all() for part in nets.parameters())
