"""Machines on wheels beside the lambdified equations of SymPy and beside MuJoCo's contacts, in one run. `make bench`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

import page
import rolling_machines
from tables import Requirement, Table, required
from timing import Contestant, OtherPrograms, check, race

STEP = 1e-3
TRAJECTORIES = 256
LOOP_STATES = 50
MACHINES = {"sleigh": (rolling_machines.sleigh, rolling_machines.kane_sleigh),
            "five-body robot": (rolling_machines.rolling_robot, rolling_machines.kane_rolling_robot)}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=15, help="times that every contestant is measured")
    options.add_argument("--states", type=int, default=10_000, help="states of a batch")
    options.add_argument("--steps", type=int, default=250, help="steps of each trajectory")
    chosen = options.parse_args()
    console, others, missing = Console(), OtherPrograms(), set()
    rows, requirements = [], []
    for name, (make, kane) in MACHINES.items():
        contestants = line_up(make(), kane(), chosen.states, chosen.steps)
        if name != "sleigh":
            try:
                contestants += mujoco(chosen.steps)
            except ImportError as error:
                missing.add(f"mujoco: {error}")
        ns: dict[str, float] = {}
        for medians in track(race(contestants, chosen.rounds), name, total=chosen.rounds, console=console,
                             transient=True):
            ns = medians
        rows += [[name, c.title, f"{ns[c.key]:.0f}" if ns[c.key] >= 100 else f"{ns[c.key]:.1f}"] for c in contestants]
        requirements.append(Requirement(f"{name}, accelerations of a batch, beside SymPy's", ns["SymPy"] / ns["batch"],
                                        100, "times"))
    tables = [required(requirements),
              Table("All", ["", "", "ns a state or step"], rows)]
    page.write(__file__, tables, rounds=chosen.rounds, others=others.cores(), missing=missing)


def line_up(arm: Any, kane: Callable[..., np.ndarray], count: int, steps: int) -> list[Contestant]:
    rng = np.random.default_rng(2026)
    q = rng.uniform(-1, 1, (count, arm.nq))
    qd = rng.normal(size=(count, arm.nv))
    A = arm.loops.jacobian(q)
    qd -= np.einsum("kij,kj->ki", np.linalg.pinv(A, 1e-9) @ A, qd)
    tau = rng.normal(size=(count, arm.nv)) * [joint != "base" or arm.nv == 3 for joint in velocities(arm)]
    tau[:, [k for k, joint in enumerate(velocities(arm)) if joint == "pivot"]] = 0.0
    forward = arm.forward_dynamics
    names = {"forward": forward, "q": q, "qd": qd, "tau": tau, "out": np.empty_like(qd)}
    one = {"forward": forward, "kane": kane, "q": q[0], "qd": qd[0], "tau": tau[0]}
    rolled = {"roll": arm.system().rollout(method="semi-implicit-euler"),
              "x": {"q": q[:TRAJECTORIES], "qd": qd[:TRAJECTORIES]}, "steps": steps, "h": STEP}

    def ours() -> np.ndarray:
        return forward(q[:LOOP_STATES], qd[:LOOP_STATES], tau[:LOOP_STATES])

    def theirs() -> np.ndarray:
        return np.stack([kane(*state) for state in zip(q[:LOOP_STATES], qd[:LOOP_STATES], tau[:LOOP_STATES],
                                                       strict=True)])

    scale = np.abs(ours()).max()
    found = [Contestant("batch", "Cayley, accelerations of a batch", "forward(q, qd, tau, out=out)", names, count,
                        ours),
             Contestant("call", "Cayley, one call", "forward(q, qd, tau)", one, 1, ours),
             Contestant("step", "Cayley, steps on the constraints, semi-implicit Euler", "roll(x, step=h, steps=steps)",
                        rolled, TRAJECTORIES * steps, ours),
             Contestant("SymPy", "SymPy, Kane's method, lambdified, one call", "kane(q, qd, tau)", one, 1, theirs,
                        1e-9 * scale)]
    some = Contestant("SymPy", found[-1].title, "", {}, LOOP_STATES, theirs, 1e-9 * scale)
    check(some, np.arange(LOOP_STATES), ours())
    return found


def velocities(arm: Any) -> list[str]:
    return [joint.name for joint in arm.joints for _ in range(joint.motion.nv)]


def mujoco(steps: int) -> list[Contestant]:
    import mujoco as mj
    from mujoco import rollout as mj_rollout

    model = mj.MjModel.from_xml_string(rolling_machines.MUJOCO)
    state = np.zeros((TRAJECTORIES, mj.mj_stateSize(model, mj.mjtState.mjSTATE_FULLPHYSICS)))
    state[:, 1:1 + model.nq] = model.qpos0
    names = {"rollout": mj_rollout.rollout, "model": model, "rolled": mj.MjData(model), "state": state, "steps": steps}
    return [Contestant("MuJoCo, step", "MuJoCo, the same wheels with contacts and a ball for a castor, `rollout`",
                       "rollout(model, rolled, state, nstep=steps, skip_checks=False)", names, TRAJECTORIES * steps,
                       lambda: np.zeros(0))]


if __name__ == "__main__":
    main()
