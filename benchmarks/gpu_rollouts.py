"""Rollouts of the Panda on a GPU: steps a second with states in registers, checked against NumPy.

Needs a CUDA GPU with CuPy, and nothing else that the processor would compile with. Run `python
benchmarks/gpu_rollouts.py`.
"""

from __future__ import annotations

from functools import partial

import numpy as np

import cayley as cy
from cayley.compiler.iterate import iterate

TRAJECTORIES = 1 << 20
STEPS = 100
STEP = 1e-3
arm = cy.load("panda")


@cy.kernel("(7),(7),(7),()->(7),(7)", outputs=("q_after", "qd_after"))
def semi_implicit_euler(q, qd, tau, h):
    faster = qd + h * arm.forward_dynamics(q, qd, tau)
    return q + h * faster, faster


@cy.kernel("(7),(7),(7),()->(7),(7)", outputs=("q_after", "qd_after"))
def rk4(q, qd, tau, h):
    def rates(at, speed):
        return speed, arm.forward_dynamics(at, speed, tau)
    a = rates(q, qd)
    b = rates(q + h / 2 * a[0], qd + h / 2 * a[1])
    c = rates(q + h / 2 * b[0], qd + h / 2 * b[1])
    d = rates(q + h * c[0], qd + h * c[1])
    return tuple(x + h / 6 * (p + 2 * (r + s) + t) for x, p, r, s, t in zip((q, qd), a, b, c, d, strict=True))


def main() -> None:
    import cupy

    states = np.random.default_rng(0).uniform(-1.0, 1.0, size=(2, TRAJECTORIES, 7))
    for step in (semi_implicit_euler, rk4):
        roll = iterate(step, {"q": "q_after", "qd": "qd_after"}).on("cuda")
        right = by_numpy(step, *states[:, :3])
        for dtype in (np.float32, np.float64):
            q, qd = (cupy.asarray(np.ascontiguousarray(a.T.astype(dtype))).T for a in states)
            given = q, qd, cupy.zeros(7, dtype), dtype(STEP)
            out = [cupy.empty((7, 1, TRAJECTORIES), dtype).transpose(2, 1, 0) for _ in range(2)]
            roll(*given, steps=STEPS, every=STEPS, out=out)
            error = np.abs(cupy.asnumpy(out[0][:3, 0]) - right).max()
            seconds = median_seconds(cupy, partial(roll, *given, steps=STEPS, every=STEPS, out=out))
            print(f"{step.__name__:20s} {np.dtype(dtype).name}  {TRAJECTORIES * STEPS / seconds / 1e9:6.2f} billion "
                  f"steps/s, "
                  f"largest error {error:.1e} rad", flush=True)


def by_numpy(step, q, qd) -> np.ndarray:
    found = []
    for state in zip(q, qd, strict=True):
        for _ in range(STEPS):
            state = step.evaluate(cy.NUMPY, *state, np.zeros(7), STEP)
        found.append(state[0])
    return np.array(found)


def median_seconds(cupy, work, repeats: int = 6) -> float:
    times = []
    for _ in range(repeats):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        cupy.cuda.Device().synchronize()
        start.record()
        work()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(start, end) / 1e3)
    return float(np.median(times))


if __name__ == "__main__":
    main()
