"""Rollouts beside MuJoCo's and Pinocchio's, in one run: whole trajectories of an arm and of a floating quadruped. `make
bench`.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

import page
import robots
from tables import Requirement, Table, required
from timing import Contestant, OtherPrograms, agree, race

STEP = 1e-3
AGREEMENT = {"panda": 1e-8, "solo12": 2e-3}
METHODS = {"rk4": "RK4", "semi-implicit-euler": "Euler"}
LOOPED = 4  # trajectories of a Python loop


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=9, help="times that every contestant is measured")
    options.add_argument("--batch", type=int, default=256, help="trajectories")
    options.add_argument("--steps", type=int, default=100, help="steps of each")
    chosen = options.parse_args()
    console, others, missing = Console(), OtherPrograms(), []
    rows, requirements = [], []
    for name in AGREEMENT:
        contestants, absent = line_up(name, chosen.batch, chosen.steps)
        missing += absent
        check(name, contestants)
        ns: dict[str, float] = {}
        for medians in track(race(contestants, chosen.rounds), name, total=chosen.rounds, console=console,
                             transient=True):
            ns = medians
        for c in contestants:
            own = ns["rk4"] if "rk4" in c.key else ns["semi-implicit-euler"]
            rows.append([name, c.title, f"{ns[c.key]:.0f}", f"{1e9 / ns[c.key]:,.0f}", f"{ns[c.key] / own:.1f}", "no"])
        for method in METHODS:
            for key in [k for k in ns if k.endswith(method) and k != method]:
                requirements.append(
                    Requirement(f"{name}, {method}, beside {key.split(',')[0]}", ns[key] / ns[method], 1, "times"))
    tables = [required(requirements),
              Table("All", ["", "", "ns a step", "steps a second", "times Cayley", "contacts"], rows)]
    page.write(__file__, tables, rounds=chosen.rounds, others=others.cores(), missing=missing)


def line_up(name: str, batch: int, steps: int) -> tuple[list[Contestant], list[str]]:
    tree = robots.robot(name)
    q, qd, _ = robots.random_states(tree, batch)
    found, missing = ours(tree, q, qd, steps), []
    for peer in (mujoco, pinocchio):
        try:
            found += peer(tree, q, qd, steps)
        except ImportError as error:
            missing.append(f"{peer.__name__}: {error}")
    return found, missing


def check(name: str, contestants: list[Contestant]) -> None:
    """The configurations after all steps, those of the same method."""
    for method in METHODS:
        own, *peers = [c for c in contestants if c.key.endswith(method)]
        expected = own.torques()
        for c in peers:
            theirs = c.torques()
            error = np.abs(theirs - expected[:len(theirs)]).max()
            agree(c.title, error, AGREEMENT[name])


def ours(tree: Any, q: np.ndarray, qd: np.ndarray, steps: int) -> list[Contestant]:
    made = []
    for method in (*METHODS, "lie-midpoint", "variational"):
        names = {"roll": tree.rollout(method=method), "q": q, "qd": qd, "steps": steps, "h": STEP}
        call = "roll(q, qd, step=h, steps=steps)"
        made.append(Contestant(method, f"Cayley, {method}", call, names, len(q) * steps,
                               lambda names=names, call=call: eval(call, names).q[:, -1]))
    return made


def mujoco(tree: Any, q: np.ndarray, qd: np.ndarray, steps: int) -> list[Contestant]:
    import mujoco as mj
    from mujoco import rollout as mj_rollout

    made = []
    for method, integrator in METHODS.items():
        model = robots.mujoco_model(tree)
        model.opt.timestep, model.opt.integrator = STEP, getattr(mj.mjtIntegrator, f"mjINT_{integrator.upper()}")
        model.opt.disableflags |= mj.mjtDisableBit.mjDSBL_CONTACT | mj.mjtDisableBit.mjDSBL_EULERDAMP
        state = np.zeros((len(q), mj.mj_stateSize(model, mj.mjtState.mjSTATE_FULLPHYSICS)))
        state[:, 1:1 + tree.nq], state[:, 1 + tree.nq:1 + tree.nq + tree.nv] = q, in_world(tree, q, qd)
        names = {
            "rollout": mj_rollout.rollout, "model": model, "data": mj.MjData(model), "state": state, "steps": steps}
        call = "rollout(model, data, state, nstep=steps, skip_checks=False)"
        made.append(
            Contestant(f"MuJoCo, {method}", f"MuJoCo, `rollout`, {integrator}, one thread", call, names,
                       len(q) * steps, lambda names=names, call=call: eval(call, names)[0][:, -1, 1:1 + tree.nq]))
    return made


def in_world(tree: Any, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """MuJoCo's velocity of a floating body is along the axes of the world."""
    from cayley.geometry.rotations import matrix_from_quaternion

    turned = qd.copy()
    for joint, a, b in zip(tree.joints, tree.tree.q_slices, tree.tree.v_slices, strict=True):
        if joint.motion.nq == 7:
            R = matrix_from_quaternion(q[:, a][:, 3:])
            turned[:, b.start:b.start + 3] = np.einsum("nij,nj->ni", R, qd[:, b.start:b.start + 3])
    return turned


def pinocchio(tree: Any, q: np.ndarray, qd: np.ndarray, steps: int) -> list[Contestant]:
    import pinocchio as pin

    model = robots.pinocchio_model(tree)
    data, tau = model.createData(), np.zeros(tree.nv)
    theirs, back = robots.pinocchio_configurations(tree, q), robots.pinocchio_configurations

    def loop() -> np.ndarray:
        ends = []
        for x, v in zip(theirs[:LOOPED], qd, strict=False):
            for _ in range(steps):
                v = v + STEP * pin.aba(model, data, x, v, tau)
                x = pin.integrate(model, x, STEP * v)
            ends.append(x)
        return ours_of(tree, np.array(ends))

    pool, zero = pin.ModelPool(model, 1), np.zeros((tree.nv, len(q)), order="F")

    def batch() -> np.ndarray:
        x, v, a = q, qd, np.zeros((tree.nv, len(q)), order="F")
        for _ in range(steps):
            pin.abaInParallel(1, pool, np.asfortranarray(back(tree, x).T), np.asfortranarray(v.T), zero, a)
            v = v + STEP * a.T
            x = tree.integrate(x, STEP * v)
        return x

    return [
        Contestant("Pinocchio loop, semi-implicit-euler", "Pinocchio, a Python loop over `aba` and `integrate`, Euler",
                   "loop()", {"loop": loop}, LOOPED * steps, loop),
        Contestant("Pinocchio batch, semi-implicit-euler",
                   "Pinocchio, `abaInParallel` on one thread, step by step, Euler", "batch()", {"batch": batch},
                   len(q) * steps, batch)]


def ours_of(tree: Any, q: np.ndarray) -> np.ndarray:
    """From Pinocchio's order of a quaternion to ours."""
    mine = q.copy()
    for joint, place in zip(tree.joints, tree.tree.q_slices, strict=True):
        if joint.motion.nq == 7:
            mine[:, place] = q[:, place][:, [0, 1, 2, 6, 3, 4, 5]]
    return mine


if __name__ == "__main__":
    main()
