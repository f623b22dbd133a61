"""Kernels and rollouts on a GPU: states and steps a second beside the copy of the same bytes, JAX and mujoco_warp.

Needs a CUDA GPU with CuPy; JAX and mujoco_warp are compared if they are there. ANYmal and Talos come from
example-robot-data, or from the folder CAYLEY_ROBOTS, as `python benchmarks/robots.py FOLDER` writes them elsewhere.
Run `python benchmarks/gpu.py`; `--only NAMES` takes some of the parts, `--sweep` tries other blocks of threads, rows by
tiles and not, and fewer registers, `--division cuda` CUDA's own quotients. Talos has 32 joints (`talos_reduced`), and
44 with its hands (`talos`).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import numpy as np

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import cayley as cy
from arm import ARM, arm_torques, inverse_dynamics, random_states
from cayley.compiler.backends import gpu_code
from cayley.compiler.cuda import cuda_functions, cuda_rows
from cayley.geometry.convex_shapes import Box
from robots import PANDA_TARGET, panda_loop, panda_starts, robot
from robots import random_states as robot_states

STATES = 1 << 24
STEP = 1e-3
BOTH = (np.float32, np.float64)
ROLLOUTS = (  # robot, method, trajectories, steps, and what is required in float32 and float64 [billion steps/s]
    ("panda", "semi-implicit-euler", 1 << 20, 1000, (27.0, 14.0)), ("panda", "rk4", 1 << 20, 200, (5.5, 3.0)),
    ("anymal", "semi-implicit-euler", 1 << 19, 200, (8.0, 2.0)), ("anymal", "rk4", 1 << 18, 50, None),
    ("talos_reduced", "semi-implicit-euler", 1 << 18, 50, (0.6, 0.25)),
    ("talos", "semi-implicit-euler", 1 << 18, 50, None),
    ("panda", "implicit-midpoint", 1 << 18, 20, None), ("panda", "lie-midpoint", 1 << 18, 20, None))
REGISTERS = {"panda": (0, 64, 80, 96, 128, 168)}
SWEPT = (32, 64, 128, 256)  # threads of a block


def main() -> None:
    import cupy

    chosen = _arguments()
    if chosen.division == "cuda":
        cuda_functions.OWN_DIVISION = False
        os.environ["CAYLEY_CACHE"] = "off"  # where code with our own division lies
    print(f"{cupy.cuda.runtime.getDeviceProperties(0)['name'].decode()}, CuPy {cupy.__version__}, CUDA "
          f"{cupy.cuda.runtime.runtimeGetVersion()}\n", flush=True)
    parts = {"functions": functions, "kernels": partial(kernels, chosen.sweep),
             "rollouts": partial(rollouts, chosen.sweep, chosen.robots.split(","), chosen.methods),
             "contacts": contacts, "humanoid": humanoid, "control": closed_loops,
             "whole_body": hands_within_limits, "arrays": arrays, "start": start_up, "peers": mujoco_warp_steps}
    for name in chosen.only.split(",") if chosen.only else parts:
        parts[name]()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="",
                        help="functions,kernels,rollouts,contacts,humanoid,control,whole_body,arrays,start,peers")
    parser.add_argument("--robots", default="panda,anymal,talos_reduced,talos")
    parser.add_argument("--methods", default="", help="of rollouts; all if none are named")
    parser.add_argument("--division", choices=("own", "cuda"), default="own")
    parser.add_argument("--sweep", action="store_true")
    return parser.parse_args()


# Elementary functions


def functions() -> None:
    """The largest error on the GPU, in units in the last place, beside 64 binary digits of this processor."""
    import cupy

    rng = np.random.default_rng(0)
    names = ("sin", "cos", "tan", "arcsin", "arctan", "exp", "log", "tanh", "sinh", "cbrt")
    kernel = cy.kernel(f"()->({len(names)})", name="functions")(lambda x: np.stack([getattr(np, n)(x) for n in names]))
    print("| function | float32 | float64 | [ulp] |\n| --- | --- | --- | --- |")
    worst = {}
    for dtype in BOTH:
        for low, high in ((-1.0, 1.0), (-10.0, 10.0), (-1e5, 1e5)):
            x = rng.uniform(low, high, 1 << 20).astype(dtype)
            found = cupy.asnumpy(kernel.on("cuda")(cupy.asarray(x)))
            with np.errstate(all="ignore"):
                for k, name in enumerate(names):
                    right = getattr(np, name)(x.astype(np.longdouble))
                    error = np.abs(found[:, k] - right) / np.spacing(np.abs(right.astype(dtype)))
                    worst[name, dtype] = max(worst.get((name, dtype), 0.0), float(np.nanmax(np.where(
                        np.isfinite(found[:, k]), error, np.nan), initial=0.0)))
    for name in names:
        print(f"| {name} | {worst[name, np.float32]:.2f} | {worst[name, np.float64]:.2f} | |", flush=True)
    print()


# Inverse dynamics beside a copy


def kernels(sweep: bool) -> None:
    import cupy

    arm = cy.load("panda")
    general = cy.kernel("(7),(7),(7)->(7)", name="arm_torques")(arm_torques)
    host = random_states(16)
    rng = cupy.random.default_rng(0)
    print("| inverse dynamics | precision | layout | billion states/s | TB/s | of copy | error |")
    print("| --- " * 7 + "|")
    for dtype in BOTH:
        rows = [rng.uniform(-1.0, 1.0, (STATES, 7)).astype(dtype) for _ in host]
        for array, known in zip(rows, host, strict=True):
            array[:16] = cupy.asarray(known.astype(dtype))
        columns = [cupy.ascontiguousarray(a.T).T for a in rows]
        copied = copy_rate(cupy, dtype)
        for label, kernel, reference in (("Panda", arm.inverse_dynamics, arm.inverse_dynamics.reference),
                                         ("general 7R", general, arm_torques)):
            on_gpu = kernel.on("cuda")
            right = np.stack([reference(*state) for state in zip(*host, strict=True)])
            for layout, states in (("rows", rows), ("columns", columns)):
                out = None if layout == "rows" else cupy.empty_like(states[0])
                error = np.abs(cupy.asnumpy(on_gpu(*states, out=out)[:16]) - right).max() / np.abs(right).max()
                took = seconds(cupy, partial(on_gpu, *states, out=out), each=20)
                rate = 28 * np.dtype(dtype).itemsize * STATES / took
                print(f"| {label} | {np.dtype(dtype).name} | {layout} | "
                      f"{rate / 28 / np.dtype(dtype).itemsize / 1e9:.1f} | {rate / 1e12:.2f} | "
                      f"{rate / copied:.1%} | {error:.0e} |", flush=True)
                if sweep:
                    sweep_tiles(cupy, on_gpu, states, out, copied)
            few = [a[:100] for a in rows]
            on_gpu(*few)
            cupy.cuda.Device().synchronize()
            start = time.perf_counter()
            for _ in range(100):
                on_gpu(*few)
            print(f"  a call takes {1e4 * (time.perf_counter() - start):.0f} us here", flush=True)
        compare_jax(cupy, dtype, rows, copied)
        print(f"| copy | {np.dtype(dtype).name} | | | {copied / 1e12:.2f} | 100 % | |", flush=True)
    print()


def sweep_tiles(cupy: Any, kernel: Any, states: list[Any], out: Any, copied: float) -> None:
    """Each thread its own state, with more and fewer threads a block; and tiles, with more and fewer blocks at work."""
    os.environ["CAYLEY_CACHE"] = "off"  # where code of other choices lies
    kept = dict(cuda_rows.WORTH), gpu_code.RESIDENT, kernel._code._threads
    moved = sum(a.nbytes for a in (*states, kernel(*states, out=out)))
    for way, most, choices in (("threads, each its state", 0, (32, 64, 128)),
                               ("blocks of tiles", 1 << 30, (4, 6, 8, 10))):
        cuda_rows.WORTH.update(float=(0, most), double=(0, most))
        forget(kernel._code)
        found = []
        for each in choices:
            kernel._code._threads = kept[2] if most else {"float": each, "double": each}
            gpu_code.RESIDENT = each
            kernel._code._launches.clear()
            found.append(f"{each}: {moved / seconds(cupy, partial(kernel, *states, out=out), 5, each=10) / copied:.1%}")
        print(f"  {way} {', '.join(found)}", flush=True)
    cuda_rows.WORTH.update(kept[0])
    gpu_code.RESIDENT = kept[1]
    kernel._code._threads = kept[2]
    forget(kernel._code)


@cache
def copy_rate(cupy: Any, dtype: type) -> float:
    """Bytes a second, read and written, of a copy of as many bytes as the kernels move."""
    source = cupy.random.default_rng(0).uniform(-1.0, 1.0, STATES * 14).astype(dtype)
    target = cupy.empty_like(source)
    return 2 * source.nbytes / seconds(cupy, lambda: cupy.copyto(target, source), each=20)


def compare_jax(cupy: Any, dtype: type, rows: list[Any], copied: float) -> None:
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        print("JAX is not installed")
        return
    jax.config.update("jax_enable_x64", True)
    states = [jnp.from_dlpack(a[:STATES // 4]) for a in rows]
    mapped = jax.jit(jax.vmap(lambda q, qd, qdd: inverse_dynamics(ARM, q, qd, qdd, jnp)))
    mapped(*states).block_until_ready()
    rate = 7 * STATES * np.dtype(dtype).itemsize / seconds(cupy, lambda: mapped(*states).block_until_ready())
    print(f"| JAX, general 7R | {np.dtype(dtype).name} | rows | {rate / 28 / np.dtype(dtype).itemsize / 1e9:.2f} | "
          f"{rate / 1e12:.2f} | {rate / copied:.1%} | |", flush=True)


# Rollouts


def rollouts(sweep: bool, names: list[str], methods: str) -> None:
    import cupy

    print("| rollout | precision | billion steps/s | required | registers | local bytes | error |")
    print("| --- " * 7 + "|")
    for name, method, trajectories, steps, required in ROLLOUTS:
        if name not in names or (methods and method not in methods.split(",")):
            continue
        arm = robot(name)
        here = arm.rollout(method=method)
        there = here.on("cuda")
        q, qd, _ = robot_states(arm, 4096)
        for dtype, least in zip(BOTH, required or (0.0, 0.0), strict=True):
            given = [cupy.asarray(np.ascontiguousarray(np.tile(a, (trajectories // 4096, 1)).T.astype(dtype))).T
                     for a in (q, 0.1 * qd)]
            call = partial(there, *given, step=STEP, steps=steps, every=steps)
            check = there(*[a[:2] for a in given], step=STEP, steps=5, every=5)
            error = np.abs(cupy.asnumpy(check.q[:, -1]) - by_numpy(arm, method, q[:2], 0.1 * qd[:2], 5)).max()
            rate = trajectories * steps / seconds(cupy, call, 5) / 1e9
            code = _code(there)
            print(f"| {name}, {arm.nv} velocities, {method} | {np.dtype(dtype).name} | {rate:.3g} | {least or ''} | "
                  f"{_sizes(code)} | {error:.0e} |", flush=True)
            swept = [(threads, most) for most in REGISTERS.get(name, (0, 128, 168)) for threads in SWEPT]
            for threads, registers in swept if sweep and required else ():
                with tried(code, threads, registers):
                    again = trajectories * steps / seconds(cupy, call, 3) / 1e9
                    print(f"  {threads} threads, at most {registers or 255} registers: {again:.3g} ({_sizes(code)})",
                          flush=True)
    print()


def contacts() -> None:
    """ANYmal on four feet, with springs and dampers towards targets near its pose or farther away."""
    import cupy

    pose = np.array([0.0, 0.4, -0.8] * 2 + [0.0, -0.4, 0.8] * 2)
    feet = dict.fromkeys(("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"), 0.03)
    dog = robot("anymal").with_contacts(points=feet, friction=0.7)

    @cy.kernel("(19),(18),(12)->(18)", inputs=("q", "qd", "target"))
    def springs(q: np.ndarray, qd: np.ndarray, target: np.ndarray) -> np.ndarray:
        return np.concatenate([np.zeros(6), 80.0 * (target - q[7:]) - 2.0 * qd[6:]])

    print("| ANYmal, four feet | targets | precision | billion steps/s | lanes in which a step was left unsolved |")
    print("| --- " * 5 + "|")
    for sweeps in (None, 10, 5):
        there = dog.rollout(controller=springs, iterations=sweeps).on("cuda")
        for spread, dtype in ((s, d) for s in (0.05, 0.3) for d in BOTH):
            r, lanes, steps = np.random.default_rng(0), 1 << 18, 100
            q = np.tile(dog.neutral, (lanes, 1))
            q[:, 2], q[:, 7:] = 0.6, pose + 0.05 * r.normal(size=(lanes, 12))
            target = cupy.asarray((pose + spread * r.normal(size=(lanes, 12))).astype(dtype))
            begun = there(*[cupy.asarray(a.astype(dtype)) for a in (q, np.zeros((lanes, 18)))], target=target,
                          step=2 * STEP, steps=400, every=400).points[:, -1]
            state = begun[:, :19].copy(), begun[:, 19:37].copy()
            call = partial(there, *state, contact_forces=begun[:, 37:49].reshape(lanes, 4, 3).copy(), target=target,
                           step=2 * STEP, steps=steps, every=steps)
            unsolved = float((call().points[:, -1, -1] > 0).mean())
            rate = lanes * steps / seconds(cupy, call, 3) / 1e9
            print(f"| {sweeps or 'to rounding'} | {spread} rad | {np.dtype(dtype).name} | {rate:.3g} | {unsolved:.1e} "
                  "|", flush=True)
    print()


def humanoid() -> None:
    """Talos of 32 joints on the corners of its soles, with springs and dampers towards targets near a stance."""
    import cupy

    bare = robot("talos_reduced")
    man = bare.with_contacts(shapes={f"{side}_sole_link": Box((0.21, 0.13, 0.02)) for side in ("left", "right")},
                             friction=0.7)
    bent = {"3": -0.4, "4": 0.8, "5": -0.4}
    legs = {name: name.split("_")[2] for name in bare.joint_names if name.startswith("leg")}
    joints = [joint.name for joint in bare.tree.joints if joint.motion.nq == 1]
    pose = np.array([bent.get(legs.get(name, ""), 0.0) for name in joints])
    q = bare.neutral.copy()
    q[7:] = pose
    q[2] = 0.01 - man.pose(q, "left_sole_link")[2, 3]
    inertia = np.diag(bare.inertia_matrix(q))[6:].copy()
    is_ankle = np.array([legs.get(name) in ("5", "6") for name in joints])
    is_leg = np.array([name in legs for name in joints])
    stiffness = np.where(is_ankle, 700.0, np.where(is_leg, 2000.0, 625.0 * inertia))
    damping = np.where(is_ankle, 3.0, np.where(is_leg, 40.0, 50.0 * inertia))

    @cy.kernel(f"({bare.nq}),({bare.nv}),({len(pose)})->({bare.nv})", inputs=("q", "qd", "target"))
    def springs(q: np.ndarray, qd: np.ndarray, target: np.ndarray) -> np.ndarray:
        return np.concatenate([np.zeros(6), stiffness * (target - q[7:]) - damping * qd[6:]])

    print("| Talos, 8 points | precision | billion steps/s | unsolved in a step | height | made in |")
    print("| --- " * 6 + "|")
    lanes, steps = 1 << 17, 50
    target = pose + 0.02 * np.random.default_rng(0).normal(size=(lanes, len(pose)))
    for sweeps, dtype in ((20, np.float32), (20, np.float64)):
        there = man.rollout(controller=springs, iterations=sweeps).on("cuda")
        start = [cupy.asarray(a.astype(dtype)) for a in (np.tile(q, (lanes, 1)), np.zeros((lanes, bare.nv)))]
        own, began = cupy.asarray(target.astype(dtype)), time.perf_counter()
        there(*start, target=own, step=STEP, steps=1, every=1)
        made = time.perf_counter() - began
        end = there(*start, target=own, step=STEP, steps=400, every=400).points[:, -1]
        first, second = bare.nq, bare.nq + bare.nv
        call = partial(there, end[:, :first].copy(), end[:, first:second].copy(), target=own, step=STEP, steps=steps,
                       contact_forces=end[:, second:second + 24].reshape(lanes, 8, 3).copy(), every=steps)
        found = call().points[:, -1]
        rate = lanes * steps / seconds(cupy, call, 2) / 1e9
        unsolved = float((found[:, -1] > 0).mean())
        print(f"| {sweeps} sweeps at most | {np.dtype(dtype).name} | {rate:.3g} | {unsolved:.1e} | "
              f"{float(found[:, 2].mean()):.3f} m | {made:.1f} s |", flush=True)
    print()


def by_numpy(arm: Any, method: str, q: np.ndarray, qd: np.ndarray, steps: int) -> np.ndarray:
    """The same without anything compiled: the program of a stage, node by node."""
    from cayley.compiler.algebras.interpret import NUMPY, interpret
    made = arm.rollout(method=method)
    iteration = made._iterated.iteration()
    program, plan = iteration.program, iteration.plan
    found = []
    for state in zip(q, qd, strict=True):
        x = np.concatenate([*state, [0.0, 0.0]])
        now = {"x": x, "carried": made.fixed_step.carried(x, made.system.layout), "h": STEP, "t": 0.0,
               "u.tau": np.zeros(arm.nv)}
        for _ in range(steps):
            for row in made.fixed_step.table.numbers:
                now["row"] = row
                results = interpret(program, NUMPY, *[now[v.name] for v in program.inputs])
                for after, before in plan.feeds:
                    now[program.inputs[before].name] = results[after]
        found.append(now["x"][:arm.nq])
    return np.array(found)


def _code(rollout: Any) -> Any:
    return next(iter(rollout._iterated._functions.values()))._code


def _sizes(code: Any) -> str:
    function = list(code._compiled.values())[-1].function
    return f"{function.num_regs} | {function.local_size_bytes}"


@contextmanager
def tried(code: Any, threads: int, registers: int) -> Iterator[None]:
    """With other blocks, and no more registers than so many."""
    kept = code._threads, code._options
    forget(code)
    code._threads = {"float": threads, "double": threads}
    code._options = (*kept[1], *([f"--maxrregcount={registers}"] if registers else []))
    yield
    code._threads, code._options = kept
    forget(code)


def forget(code: Any) -> None:
    """So that it is made again, of what is chosen now."""
    code._compiled.clear()
    code._launches.clear()


def closed_loops() -> None:
    """A million rollouts of 1000 steps of the Panda under computed torque, the law within the step."""
    import cupy

    trajectories, steps = 1 << 20, 1000
    here = panda_loop(100.0, 20.0)
    there = here.on("cuda")
    start = panda_starts(4096)
    right = here({name: a[:16] for name, a in start.items()}, step=STEP, steps=steps, every=steps,
                 inputs={"target": PANDA_TARGET}).end["q"]
    print(f"| {trajectories} closed-loop rollouts of {steps} steps | precision | s | billion steps/s | error |")
    print("| --- " * 5 + "|")
    for dtype in BOTH:
        given = {name: cupy.asarray(np.ascontiguousarray(np.tile(a, (trajectories // 4096, 1)).T.astype(dtype))).T
                 for name, a in start.items()}
        inputs = {"target": cupy.asarray(PANDA_TARGET.astype(dtype)), **{
            name: cupy.zeros(7, dtype) for name in ("target_qd", "target_qdd")}}
        call = partial(there, given, step=STEP, steps=steps, every=steps, inputs=inputs)
        error = np.abs(cupy.asnumpy(call()["q"][:16, -1]) - right).max()
        took = seconds(cupy, call, 3)
        print(f"| Panda, computed torque, semi-implicit Euler | {np.dtype(dtype).name} | {took:.3g} | "
              f"{trajectories * steps / took / 1e9:.3g} | {error:.0e} rad |", flush=True)
    print()


def hands_within_limits() -> None:
    """The velocities of a million Pandas, each with its hand on the way to a pose, within limits of positions and
    velocities: a quadratic program for each."""
    import cupy

    from whole_body import Hand

    many, count = 1 << 20, 4096
    hand = Hand(count)
    right = hand.law.step(hand.q, hand.targets, np.zeros(6))
    place = hand.law.step.outputs.index("qd")
    there = hand.law.step.on("cuda")
    print("| hand of a Panda at a pose within limits | precision | million states/s | error | solved |")
    print("| --- " * 5 + "|")
    for dtype in BOTH:
        def laid(a: np.ndarray, dtype: type = dtype) -> Any:
            """States side by side, and the numbers of one far apart."""
            side_by_side = np.ascontiguousarray(np.moveaxis(np.concatenate([a] * (many // count)), 0, -1), dtype)
            return cupy.moveaxis(cupy.asarray(side_by_side), -1, 0)

        given = laid(hand.q), laid(hand.targets), cupy.zeros(6, dtype)
        found = there(*given)
        error = np.abs(cupy.asnumpy(found[place][:count]) - right[place]).max()
        solved = float((found[hand.law.step.outputs.index("status")] == 0).mean())
        took = seconds(cupy, partial(there, *given), 5)
        print(f"| in {many} states | {np.dtype(dtype).name} | {many / took / 1e6:.3g} | {error:.0e} rad/s | "
              f"{solved:.6f} |", flush=True)
    print()


def arrays() -> None:
    """A rollout on tensors of torch on a stream of their own, and on arrays of JAX, beside the same on CuPy's."""
    import cupy

    roll = cy.load("panda").rollout(method="rk4").on("cuda")
    q, qd, _ = robot_states(cy.load("panda"), 4096)
    right = cupy.asnumpy(roll(cupy.asarray(q), cupy.asarray(qd), step=STEP, steps=10).q)
    for library in ("torch", "jax"):
        try:
            module = __import__(library)
        except ImportError:
            print(f"{library} is not installed")
            continue
        if library == "torch":
            with module.cuda.stream(module.cuda.Stream()):
                late = module.zeros(1 << 28, device="cuda", dtype=module.float64).cumsum(0)[-1]
                found = roll(module.as_tensor(q, device="cuda") + late, module.as_tensor(qd, device="cuda"), step=STEP,
                             steps=10)
                doubled = (2.0 * found.q).cpu().numpy()
        else:
            module.config.update("jax_enable_x64", True)
            found = roll(module.numpy.asarray(q), module.numpy.asarray(qd), step=STEP, steps=10)
            doubled = np.asarray(2.0 * found.q)
        print(f"{library}: {type(found.q).__name__} in and out, largest difference "
              f"{np.abs(doubled - 2.0 * right).max():.1e}", flush=True)
    print()


# Start-up, and others


FIRST = """
import time; start = time.perf_counter()
import cayley as cy, cupy, numpy as np
q = cupy.asarray(np.random.default_rng(0).uniform(-1, 1, (1000, 7)))
print(float(cy.load("panda").rollout(method="semi-implicit-euler").on("cuda")(q, q, step=1e-3, steps=10).q.sum())
      and time.perf_counter() - start)
"""


def start_up() -> None:
    """Seconds from the first import to the first result of a rollout, with empty caches and with full ones."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "CUPY_CACHE_DIR": f"{folder}/cupy", "CAYLEY_CACHE": f"{folder}/cayley",
               "CUDA_CACHE_PATH": f"{folder}/cuda"}
        found = [float(subprocess.run([sys.executable, "-c", FIRST], env=env, capture_output=True, text=True,
                                      check=True).stdout) for _ in range(3)]
    print(f"start-up from import to the first result: {found[0]:.2f} s cold (5 required), {min(found[1:]):.2f} s warm "
          "(2 required)\n", flush=True)


def mujoco_warp_steps() -> None:
    try:
        import mujoco
        import mujoco_warp
        import warp
    except ImportError:
        print("mujoco_warp is not installed")
        return
    from robots import mujoco_text
    before = time.perf_counter()
    model = mujoco.MjModel.from_xml_string(mujoco_text(cy.load("panda")))
    model.opt.timestep = STEP
    model.opt.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    on_gpu = mujoco_warp.put_model(model)
    data = mujoco_warp.make_data(model, nworld=1 << 16)
    mujoco_warp.step(on_gpu, data)
    warp.synchronize()
    ready = time.perf_counter() - before
    with warp.ScopedCapture() as capture:
        mujoco_warp.step(on_gpu, data)
    start = time.perf_counter()
    for _ in range(100):
        warp.capture_launch(capture.graph)
    warp.synchronize()
    rate = 100 * (1 << 16) / (time.perf_counter() - start) / 1e9
    print(f"mujoco_warp {mujoco_warp.__version__}, Panda, float32: {rate:.3f} billion steps/s, {ready:.0f} s of "
          "start-up")


def seconds(cupy: Any, work: Callable[[], object], repeats: int = 9, each: int = 1) -> float:
    """The median of some runs, each of one or more calls that follow one another, after one that does not count."""
    work()
    times = []
    for _ in range(repeats):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        cupy.cuda.Device().synchronize()
        start.record()
        for _ in range(each):
            work()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(start, end) / 1e3 / each)
    return float(np.median(times))


if __name__ == "__main__":
    main()
