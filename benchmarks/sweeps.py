"""What a sweep costs: processor time of a point and memory by the number of workers, and what a task costs by itself.

Times are processor times of the processes concerned, which other programs on the machine change less than the clock.

    python benchmarks/sweeps.py --picture docs/pictures/scale.png    the table and the picture of docs/robots/scale.md
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

CHUNKS = (4096, 65536, 262144)
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


def used(client: distributed.Client | None) -> float:
    """Processor time of all workers [s]."""
    return sum(client.run(time.process_time).values()) if client else time.process_time()


def run(client: distributed.Client | None, points: int, chunk: int, robot: str = "puma560") -> tuple[float, ...]:
    """Processor seconds of the workers, seconds by the clock, and the most memory of a worker [MiB]."""
    with tempfile.TemporaryDirectory() as folder:
        arm = cy.load(robot)
        before = used(client)
        begun = time.perf_counter()
        found = arm.sweep("inverse_dynamics", Drawn(points, partial(states, arm.nv)), into=folder, chunk=chunk,
                          reduce=REDUCE, on=client)
        seconds = time.perf_counter() - begun
        work = used(client) - before
    counts = found.reduced["tau"][2]
    assert (counts.counts.sum(-1) + counts.below + counts.above == points).all()  # each point once
    return work, seconds, max(client.run(peak).values()) if client else peak()


def alone(tasks: int = 500) -> float:
    """Processor seconds that a task with nothing to do takes, with its mark and its row in the store."""
    with tempfile.TemporaryDirectory() as folder:
        begun = time.process_time()
        sweep(nothing, {"x": np.zeros(tasks)}, into=folder, chunk=1)
        return (time.process_time() - begun) / tasks


def scheduled(client: distributed.Client, tasks: int = 2000) -> float:
    """Processor seconds of the scheduler and the client, which are in this process, for a task: no number of workers
    makes them less."""
    begun = time.process_time()
    for _ in distributed.as_completed(client.map(abs, range(tasks), pure=False)):
        pass
    return (time.process_time() - begun) / tasks


def cluster(workers: int) -> distributed.LocalCluster:
    return distributed.LocalCluster(n_workers=workers, threads_per_worker=1, memory_limit="4GiB",
                                    dashboard_address=":0")


def table() -> tuple[dict[tuple[int, int], float], float, float]:
    """Seconds of a point by workers and chunk; of a task that is alone; and of the scheduler for a task."""
    shown = RichTable("workers", "chunk", "µs a point", "peak of a worker [MiB]",
                      title="Inverse dynamics of the PUMA 560 at drawn states, with extremes, moments and histograms")
    costs = {}
    schedule = 0.0
    here = alone()
    for workers in (0, 1, 2):
        with cluster(workers) if workers else tempfile.TemporaryDirectory() as place:
            client = distributed.Client(place) if workers else None
            run(client, 2 * 16384 * max(workers, 1), 16384)
            for chunk in CHUNKS:
                points = max(300_000, 4 * chunk)
                work, _, memory = run(client, points, chunk)
                costs[workers, chunk] = work / points
                shown.add_row(str(workers) if workers else "here", str(chunk), f"{1e6 * work / points:.2f}",
                              f"{memory:.0f}")
            if client:
                schedule = scheduled(client)
                client.close()
    Console().print(shown)
    print(f"a task alone, with its files: {1e3 * here:.1f} ms here; the scheduler's part: {1e3 * schedule:.2f} ms")
    return costs, here, schedule


def picture(path: str, costs: dict[tuple[int, int], float], here: float, schedule: float) -> None:
    """Measured points, and what they and the two overheads say of more workers."""
    import matplotlib.pyplot as plt
    point = costs[0, 65536] - here / 65536
    workers = np.geomspace(1, 1000, 200)
    figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for chunk, color in zip((4096, 65536, 1048576), ("C1", "C0", "C2"), strict=True):
        speed = np.minimum(workers / (point + here / chunk), chunk / schedule)
        ax.loglog(workers, speed, color, label=f"chunks of {chunk}")
        for count in (1, 2):
            if (count, chunk) in costs:
                ax.plot(count, count / costs[count, chunk], "o", color=color)
    ax.loglog(workers, workers / point, "k:", lw=1, label="no overhead")
    ax.set(xlabel="workers of one thread", ylabel="points a second", xlim=(0.9, 1100),
           title=f"Model (lines) from {1e6 * point:.2f} µs a point, {1e3 * here:.1f} ms a task on its worker,\n"
                 f"{1e3 * schedule:.2f} ms a task on the scheduler; measured on two cores (dots)")
    ax.grid(which="both", alpha=0.2)
    ax.legend()
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=float, default=0)
    parser.add_argument("--chunk", type=int, default=262144)
    parser.add_argument("--robot", default="puma560")
    parser.add_argument("--picture", default="")
    given = parser.parse_args()
    if given.points:
        with cluster(2) as place, distributed.Client(place) as client:
            _, seconds, memory = run(client, int(given.points), given.chunk, given.robot)
        print(f"{int(given.points)} points of {given.robot} in chunks of {given.chunk}: {seconds:.0f} s on two "
              f"workers, {memory:.0f} MiB at most in a worker, {peak():.0f} MiB here")
    else:
        found = table()
        if given.picture:
            picture(given.picture, *found)
