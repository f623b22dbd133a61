"""Environment steps a second of ANYmal with random actions: 4 physics steps, observation, reward, end and reset.

    python benchmarks/environments.py [lanes ...]           # on this processor
    GPU=1 python benchmarks/environments.py [lanes ...]     # on a GPU

Prints the physics of the same steps alone, as a rollout computes it, and whether a second run is the same bit for bit.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from quadruped import quadruped
from robots import robot

GPU = bool(os.environ.get("GPU"))
if GPU:
    import cupy as xp
else:
    xp = np
STEPS, KINDS = (200, 8) if GPU else (10, 8)
SWEEPS = (5, 2, 10)


def here(array: Any) -> np.ndarray:
    return xp.asnumpy(array) if GPU else array


def seconds(call: Callable[[], object], times: int = 3) -> float:
    """The shortest time of a call, waited for."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        if GPU:
            xp.cuda.Device().synchronize()
        found.append(time.perf_counter() - began)
    return min(found)


def measured(lanes: int, sweeps: int) -> str:
    began = time.perf_counter()
    env = quadruped(robot("anymal"), lanes, "cuda" if GPU else None, sweeps, horizon=200)
    rng = np.random.default_rng(0)
    # neighbours in the batch are neighbours in memory, as the kernel writes and reads fastest
    actions = [xp.asarray(rng.normal(size=(12, lanes)).astype(np.float32)).T for _ in range(KINDS)]

    def run(steps: int) -> None:
        for k in range(steps):
            env.step(actions[k % KINDS])

    def again() -> list[np.ndarray]:
        env.reset(seed=0)
        run(40)
        return [here(array).copy() for array in env.arrays.values()]

    env.reset(seed=0)
    run(2)
    here(env.seen)
    made = time.perf_counter() - began
    same = all(map(np.array_equal, again(), again()))
    run(300)  # until lanes are in all phases of an episode
    whole = seconds(lambda: run(STEPS)) / STEPS
    found = env.step(actions[0])
    ended, broken = (float(here(part).mean()) for part in (found.failed | found.late, found.broken))
    trials = env.trials
    state = trials.system.layout.state(env.arrays["x"])
    x = {name: xp.ascontiguousarray(state[name]) for name in trials.system.blocks}
    own = {name: env.arrays[f"p.{name}"] for name in trials.own}
    physics = seconds(lambda: trials._rollout(x, step=np.float32(0.005), steps=40, every=40, parameters=own,
                                              inputs={"action": actions[0]}, progress=False)) / 10
    return (f"sweeps {sweeps:2d}  lanes {lanes:7d}  {lanes / whole / 1e6:8.3f} million environment steps/s ("
            f"{1e3 * whole:.3f} ms)  physics alone {lanes / physics / 1e6:8.3f} million  ended {ended:.4f}  not finite "
            f"{broken:.5f}  compiled in {made:.1f} s  again bit for bit {same}")


if __name__ == "__main__":
    for count in SWEEPS:
        for number in [int(word) for word in sys.argv[1:]] or ([1 << 15, 1 << 17, 1 << 18] if GPU else [1024]):
            print(measured(number, count), flush=True)
