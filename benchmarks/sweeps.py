"""What a sweep costs: points a second and memory by the number of workers, and what a task costs by itself.

    python benchmarks/sweeps.py                       the table of docs/scale.md
    python benchmarks/sweeps.py --points 1e9 --robot planar2r    so many states on two workers, and their memory
"""

from __future__ import annotations

import argparse
import tempfile
import time
from functools import partial
from pathlib import Path

import distributed
import numpy as np
from rich.console import Console
from rich.table import Table as RichTable

import cayley as cy
from cayley.scale import Drawn, Extremes, Histogram, Moments, sweep

REDUCE = {"tau": [Extremes(), Moments(), Histogram(-200, 200, 100)]}


def states(joints: int, random: np.random.Generator, count: int) -> dict[str, np.ndarray]:
    q = random.uniform(-np.pi, np.pi, size=(count, joints))
    qd, qdd = random.uniform(-2, 2, size=(2, count, joints))
    return {"q": q, "qd": qd, "qdd": qdd}


def nothing(x: np.ndarray) -> np.ndarray:
    return x


def peak() -> float:
    """The most memory that this process has had [MiB]."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024


def run(client: distributed.Client | None, points: int, chunk: int, robot: str = "puma560") -> tuple[float, float]:
    """Seconds, and the most memory of a worker [MiB]."""
    with tempfile.TemporaryDirectory() as folder:
        arm = cy.load(robot)
        begun = time.perf_counter()
        found = arm.sweep("inverse_dynamics", Drawn(points, partial(states, arm.nv)), into=folder, chunk=chunk,
                          reduce=REDUCE, on=client)
        seconds = time.perf_counter() - begun
    counts = found.reduced["tau"][2]
    assert (counts.counts.sum(-1) + counts.below + counts.above == points).all()  # each point once
    return seconds, max(client.run(peak).values()) if client else peak()


def overhead(client: distributed.Client | None, tasks: int = 1000) -> float:
    """Seconds that a task with nothing to do takes, with its mark and its row in the store."""
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        sweep(nothing, {"x": np.zeros(tasks)}, into=folder, chunk=1, on=client)
        return (time.perf_counter() - begun) / tasks


def cluster(workers: int) -> distributed.LocalCluster:
    return distributed.LocalCluster(n_workers=workers, threads_per_worker=1, memory_limit="4GiB",
                                    dashboard_address=":0")


def table() -> None:
    shown = RichTable("workers", "chunk", "million points a second", "peak of a worker [MiB]", "a task alone [ms]",
                      title="Inverse dynamics of the PUMA 560 at drawn states, with extremes, moments and histograms")
    for workers in (0, 1, 2):
        with cluster(workers) if workers else tempfile.TemporaryDirectory() as place:
            client = distributed.Client(place) if workers else None
            run(client, 2 * 16384 * max(workers, 1), 16384)
            alone = overhead(client)
            for chunk in (4096, 16384, 65536, 262144):
                seconds, memory = run(client, max(1_000_000, 8 * chunk), chunk)
                shown.add_row(str(workers) if workers else "here", str(chunk),
                              f"{max(1_000_000, 8 * chunk) / seconds / 1e6:.2f}", f"{memory:.0f}", f"{1e3 * alone:.2f}")
            if client:
                client.close()
    Console().print(shown)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=float, default=0)
    parser.add_argument("--chunk", type=int, default=262144)
    parser.add_argument("--robot", default="puma560")
    given = parser.parse_args()
    if given.points:
        with cluster(2) as place, distributed.Client(place) as client:
            seconds, memory = run(client, int(given.points), given.chunk, given.robot)
        print(f"{int(given.points)} points of {given.robot} in chunks of {given.chunk}: {seconds:.0f} s on two "
              f"workers, {memory:.0f} MiB at most in a worker, {peak():.0f} MiB here")
    else:
        table()
