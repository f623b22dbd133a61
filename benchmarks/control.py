"""Panda under computed torque and in operational space, closed loops, batches and calls, beside MuJoCo and Pinocchio.
`make bench`.

Prints the figures and writes them into benchmarks/README.md, section "Computed torque". `python benchmarks/gpu.py
--only control` has the million rollouts on a GPU.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np
from rich.console import Console
from rich.progress import track

import cayley as cy
import page
import robots
from cayley.control import computed_torque_kernel
from tables import Requirement, Table, required
from timing import Contestant, OtherPrograms, check, race

STEP = 1e-3
STEPS = 100
LOOPED = 4  # trajectories of the Python loop
KP, KD = 100.0, 20.0
HAND = "panda_link8"
TARGET = robots.PANDA_TARGET


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=15, help="times that every contestant is measured")
    options.add_argument("--states", type=int, default=1024, help="trajectories of a batch")
    options.add_argument("--rollouts", type=int, default=1 << 16, help="of the million that are really made")
    chosen = options.parse_args()
    console, others, missing = Console(), OtherPrograms(), set()
    arm = cy.load("panda")
    rng = np.random.default_rng(0)
    q = TARGET + rng.uniform(-0.3, 0.3, size=(chosen.states, 7))
    qd = rng.uniform(-0.3, 0.3, size=(chosen.states, 7))
    rows, requirements = [], []
    for title, ours, peer, bound in (
            ("closed loop, a step", our_loop(arm, q, qd), mujoco_loop, 30.0),
            ("one call of the law", our_call(arm, q, qd), pinocchio_call, 5.0),
            ("one call of the system, which gives no NaN", our_system(arm, q, qd), pinocchio_call, 5.0),
            ("operational space, a batch", our_operational_space(arm, q, qd), pinocchio_operational_space, 10.0),
            ("operational space, one call", our_operational_space(arm, q[:1], qd[:1]), pinocchio_operational_space,
             10.0)):
        contestants = [ours]
        try:
            contestants.append(peer(arm, q, qd))
        except ImportError as error:
            missing.add(str(error))
        expected = np.asarray(ours.torques())
        for contestant in contestants:
            check(contestant, np.arange(min(LOOPED, contestant.states)), expected)
        ns: dict[str, float] = {}
        for medians in track(race(contestants, chosen.rounds), title, total=chosen.rounds, console=console,
                             transient=True):
            ns = medians
        rows += [[title, c.title, f"{ns[c.key]:.0f}"] for c in contestants]
        ratio = ns[contestants[1].key] / ns[ours.key] if len(contestants) > 1 else None
        requirements.append(Requirement(f"{title}, beside {contestants[-1].key}", ratio, bound, "times"))
    rows += million_rollouts(chosen.rollouts, console)
    tables = [required(requirements),
              Table("All", ["", "", "ns"], rows)]
    page.write(__file__, tables, rounds=chosen.rounds, others=others.cores(), missing=missing)


def million_rollouts(count: int, console: Console) -> list[list[str]]:
    """The time of 2^20 rollouts of 1000 steps on all cores, in each precision, from `count` of them."""
    roll, rows = robots.panda_loop(KP, KD), []
    threads = os.cpu_count() or 1
    for dtype in (np.float64, np.float32):
        start = {name: a.astype(dtype) for name, a in robots.panda_starts(count).items()}
        inputs = {"target": TARGET.astype(dtype), "target_qd": np.zeros(7, dtype), "target_qdd": np.zeros(7, dtype)}
        roll({name: a[:64] for name, a in start.items()}, step=STEP, steps=10, every=10, inputs=inputs)
        with console.status(f"{count} closed loops in {np.dtype(dtype).name}"):
            begin = time.perf_counter()
            end = roll(start, step=STEP, steps=1000, every=1000, inputs=inputs, threads=threads, progress=False).end
            took = time.perf_counter() - begin
        if not np.abs(end["q"] - TARGET).max() < 0.01:
            raise SystemExit(f"the loops in {np.dtype(dtype).name} did not come to their target; nothing was timed")
        whole = took * (1 << 20) / count
        share = "" if count == 1 << 20 else f", from {count} of them"
        rows.append(["1,048,576 closed-loop rollouts of 1000 steps",
                     f"Cayley, {np.dtype(dtype).name}, {threads} threads: {whole:.3g} s{share}",
                     f"{1e9 * took / count / 1000:.1f}"])
    return rows


def our_loop(arm: cy.Mechanism, q: np.ndarray, qd: np.ndarray) -> Contestant:
    loop = cy.connect(arm, arm.control.computed_torque(KP, KD))
    names = {"roll": loop.rollout(method="semi-implicit-euler"), "start": {"q": q, "qd": qd}, "h": STEP,
             "steps": STEPS, "inputs": {"target": TARGET}}
    call = "roll(start, step=h, steps=steps, every=steps, inputs=inputs)"
    return Contestant("Cayley", "Cayley, a rollout of the connected system, semi-implicit Euler, one thread", call,
                      names, len(q) * STEPS, lambda: eval(call, names).end["q"], 1e-9)


def mujoco_loop(arm: cy.Mechanism, q: np.ndarray, qd: np.ndarray) -> Contestant:
    """MuJoCo's step with torques of Pinocchio, in a Python loop, as such loops are written."""
    import mujoco as mj
    import pinocchio as pin

    model = robots.mujoco_model(arm)
    model.opt.timestep, model.opt.integrator = STEP, mj.mjtIntegrator.mjINT_EULER
    model.opt.disableflags |= mj.mjtDisableBit.mjDSBL_CONTACT | mj.mjtDisableBit.mjDSBL_EULERDAMP
    data, theirs = mj.MjData(model), robots.pinocchio_model(arm)
    memory = theirs.createData()

    def loop() -> np.ndarray:
        ends = []
        for x, v in zip(q[:LOOPED], qd, strict=False):
            mj.mj_resetData(model, data)
            data.qpos[:], data.qvel[:] = x, v
            for _ in range(STEPS):
                wanted = KP * (TARGET - data.qpos) - KD * data.qvel
                data.qfrc_applied[:] = pin.rnea(theirs, memory, data.qpos, data.qvel, wanted)
                mj.mj_step(model, data)
            ends.append(data.qpos.copy())
        return np.array(ends)

    return Contestant("MuJoCo and Pinocchio", "MuJoCo, `mj_step` with torques of Pinocchio's `rnea`, a Python loop",
                      "loop()", {"loop": loop}, LOOPED * STEPS, lambda: np.resize(loop(), (LOOPED * STEPS, 7)), 1e-9)


def our_call(arm: cy.Mechanism, q: np.ndarray, qd: np.ndarray) -> Contestant:
    law = computed_torque_kernel(arm.tree)
    zero, kp, kd = np.zeros(7), np.full(7, KP), np.full(7, KD)
    names = {"law": law, "q": q[0].copy(), "qd": qd[0].copy(), "target": TARGET, "zero": zero, "kp": kp, "kd": kd}
    call = "law(q, qd, target, zero, zero, kp, kd)"
    return Contestant("Cayley, call", "Cayley, `computed_torque(q, qd, ...)`, one call from Python", call, names, 1,
                      lambda: np.atleast_2d(eval(call, names)))


def our_system(arm: cy.Mechanism, q: np.ndarray, qd: np.ndarray) -> Contestant:
    """The step of the law as a controller makes it, with the guard against what is not finite."""
    zero = np.zeros(7)
    names = {"step": arm.control.computed_torque(KP, KD).step, "q": q[0].copy(), "qd": qd[0].copy(), "target": TARGET,
             "zero": zero}
    call = "step(q, qd, target, zero, zero)"
    return Contestant("Cayley, system", "Cayley, `law.step(q, qd, ...)`, one call from Python", call, names, 1,
                      lambda: np.atleast_2d(eval(call, names)))


def pinocchio_call(arm: cy.Mechanism, q: np.ndarray, qd: np.ndarray) -> Contestant:
    import pinocchio as pin

    model = robots.pinocchio_model(arm)
    names = {"rnea": pin.rnea, "model": model, "data": model.createData(), "q": q[0].copy(), "qd": qd[0].copy(),
             "target": TARGET, "kp": np.full(7, KP), "kd": np.full(7, KD)}
    call = "rnea(model, data, q, qd, kp * (target - q) - kd * qd)"
    return Contestant("Pinocchio", "Pinocchio, `rnea` of the wanted accelerations, one call", call, names, 1,
                      lambda: np.atleast_2d(eval(call, names)))


def our_operational_space(arm: cy.Mechanism, q: np.ndarray, qd: np.ndarray) -> Contestant:
    one = len(q) == 1
    step = arm.control.operational_space(HAND, KP, KD).step
    names = {"step": step, "q": q[0].copy() if one else q, "qd": qd[0].copy() if one else qd,
             "target": arm.pose(TARGET, HAND), "zero": np.zeros(6), "none": np.zeros(7)}
    call = "step(q, qd, target, zero, zero, none)"
    which = "one call from Python" if one else f"a batch of {len(q)}"
    return Contestant("Cayley, operational space", f"Cayley, `operational_space(...).step(q, qd, ...)`, {which}", call,
                      names, len(q), lambda: np.atleast_2d(eval(call, names)))


def pinocchio_operational_space(arm: cy.Mechanism, q: np.ndarray, qd: np.ndarray) -> Contestant:
    """The same law as it is written with Pinocchio: its terms, and NumPy for Lambda and the projection."""
    import pinocchio as pin

    model = robots.pinocchio_model(arm)
    data = model.createData()
    place = arm.pose(TARGET, HAND)
    pin.framesForwardKinematics(model, data, TARGET)
    hand = model.addFrame(pin.Frame(HAND, 7, data.oMi[7].actInv(pin.SE3(place)), pin.FrameType.OP_FRAME))
    data = model.createData()
    damping = 10.0
    aligned = pin.LOCAL_WORLD_ALIGNED
    none = np.zeros(7)
    lower = np.tril_indices(7, -1)

    def law(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        pin.computeAllTerms(model, data, q, qd)
        pin.forwardKinematics(model, data, q, qd, none)
        M, h = data.M, data.nle
        M[lower] = M.T[lower]
        J = pin.getFrameJacobian(model, data, hand, aligned)
        here = pin.updateFramePlacement(model, data, hand)
        drift = pin.getFrameClassicalAcceleration(model, data, hand, aligned).vector
        error = np.concatenate([place[:3, 3] - here.translation, pin.log3(place[:3, :3] @ here.rotation.T)])
        onward = np.linalg.solve(M, J.T)
        besides = -damping * (M @ qd)
        pull = np.linalg.solve(J @ onward, KP * error - KD * (J @ qd) - drift - onward.T @ besides)
        return h + besides + J.T @ pull

    names = {"law": law, "q": q[0].copy(), "qd": qd[0].copy()}
    call = "law(q, qd)"
    return Contestant("Pinocchio in Python", "Pinocchio's terms and NumPy, one call", call, names, 1,
                      lambda: np.atleast_2d(law(q[0].copy(), qd[0].copy())), 1e-8)


if __name__ == "__main__":
    main()
