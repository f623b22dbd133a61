"""Inverse dynamics of the measured arm on a GPU: states a second, beside the copy of the same bytes and JAX's vmap.

Needs a CUDA GPU with CuPy; JAX is compared if it is there. Run `python benchmarks/gpu.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np

import cayley as cy
from arm import ARM, arm_torques, inverse_dynamics, random_states

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
STATES = 1 << 24
OPERANDS = 4 * len(ARM)


def main() -> None:
    import cupy

    torques = cy.kernel("(7),(7),(7)->(7)", name="arm_torques")(arm_torques)
    on_gpu = torques.on("cuda")
    host = random_states(4096)
    right = np.stack([arm_torques(*state) for state in zip(*[a[:64] for a in host], strict=True)])
    for dtype in (np.float32, np.float64):
        rows = [cupy.asarray(np.tile(a, (STATES // 4096, 1)).astype(dtype)) for a in host]
        columns = [cupy.ascontiguousarray(a.T).T for a in rows]
        for layout, states in (("rows (B, n)", rows), ("columns (n, B).T", columns)):
            out = cupy.empty_like(states[0])
            assert on_gpu(*states, out=out) is out
            error = np.abs(cupy.asnumpy(out[:64]) - right).max() / np.abs(right).max()
            report(cupy, f"Cayley {layout}", dtype, lambda states=states, out=out: on_gpu(*states, out=out), error)
        source, target = cupy.zeros(STATES * OPERANDS // 2, dtype), cupy.empty(STATES * OPERANDS // 2, dtype)
        report(cupy, "copy of as many bytes", dtype, lambda s=source, t=target: cupy.copyto(t, s), 0.0)
        compare_jax(cupy, dtype, rows, right)


def compare_jax(cupy, dtype, rows, right) -> None:
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        print("JAX is not installed")
        return
    jax.config.update("jax_enable_x64", True)
    states = [jnp.from_dlpack(a[: STATES // 4]) for a in rows]
    mapped = jax.jit(jax.vmap(lambda q, qd, qdd: inverse_dynamics(ARM, q, qd, qdd, jnp)))
    found = np.asarray(mapped(*states)[:64])
    error = np.abs(found - right).max() / np.abs(right).max()
    report(cupy, "jax.jit(jax.vmap(...))", dtype, lambda: mapped(*states).block_until_ready(), error, STATES // 4)


def report(cupy, label: str, dtype: type, work: Callable[[], object], error: float, states: int = STATES) -> None:
    seconds = median_seconds(cupy, work)
    moved = states * OPERANDS * np.dtype(dtype).itemsize
    print(
        f"{np.dtype(dtype).name}  {label:24s} {states / seconds / 1e9:8.3f} billion states/s  "
        f"{moved / seconds / 1e12:6.2f} TB/s  "
        f"largest relative error {error:.1e}", flush=True)


def median_seconds(cupy, work: Callable[[], object], repeats: int = 20) -> float:
    work()
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
