"""Machines with loops beside Pinocchio's and MuJoCo's constraint dynamics, in one run: accelerations, steps, closing.
`make bench`.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

import closed_machines
import page
import robots
from simulation import in_world
from tables import Requirement, Table, required
from timing import Contestant, OtherPrograms, agree, race

STEP = 1e-3
TRAJECTORIES = 256
LOOP_STATES = 200
OPEN = 0.03  # what the guesses of configurations are off in each coordinate
SOFT = 0.02  # of the largest acceleration: what MuJoCo's constraints give way
MACHINES = {"four-bar": (closed_machines.four_bar, 100), "Stewart platform": (closed_machines.stewart, 35)}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=15, help="times that every contestant is measured")
    options.add_argument("--states", type=int, default=10_000, help="states of a batch")
    options.add_argument("--steps", type=int, default=250, help="steps of each trajectory")
    options.add_argument("--only", default="", help="part of the name of the machine; nothing is written then")
    chosen = options.parse_args()
    console, others, missing = Console(), OtherPrograms(), set()
    rows, requirements = [], []
    for name, (make, bound) in MACHINES.items():
        if chosen.only not in name:
            continue
        contestants, absent = line_up(make(), chosen.states, chosen.steps)
        missing |= absent
        ns: dict[str, float] = {}
        rounds = race(contestants, chosen.rounds, time.process_time)
        for medians in track(rounds, name, total=chosen.rounds, console=console, transient=True):
            ns = medians
        rows += [[name, c.title, figure(ns[c.key]), beside(c.key, ns)] for c in contestants]
        requirements += bounds(name, bound, ns)
    tables = [required(requirements),
              Table("All", ["", "", "ns a state or step", "times Cayley"], rows)]
    page.write(__file__, tables, rounds=chosen.rounds, others=others.cores(), missing=missing, whole=not chosen.only)


def bounds(name: str, bound: float, ns: dict[str, float]) -> list[Requirement]:
    def ratio(theirs: str, own: str) -> float | None:
        return ns[theirs] / ns[own] if theirs in ns else None

    if "Pinocchio, acceleration" in ns:
        ns = {**ns, "Pinocchio without its call, acceleration": ns["Pinocchio, acceleration"] - ns["Pinocchio, alone"]}
    found = [Requirement(f"{name}, accelerations of a batch, beside {peer}", ratio(f"{peer}, acceleration", "batch"),
                         bound, "times") for peer in ("Pinocchio without its call", "MuJoCo")]
    found += [Requirement(f"{name}, one call, beside {peer}", ratio(f"{peer}, call", "call"), 3, "times")
              for peer in ("Pinocchio", "MuJoCo")]
    found.append(Requirement(f"{name}, steps of a rollout, beside MuJoCo", ratio("MuJoCo, step", "step"), 35, "times"))
    if "closing" in ns:
        found.append(Requirement(f"{name}, closing from a near guess, a batch", ns["closing"] / 1000, 5, "us"))
    return found


def beside(key: str, ns: dict[str, float]) -> str:
    own = {"acceleration": "batch", "call": "call", "step": "step"}.get(key.split(", ")[-1])
    return f"{ns[key] / ns[own]:.1f}" if own else ""


def figure(ns: float) -> str:
    return f"{ns:.0f}" if ns >= 100 else f"{ns:.1f}"


def line_up(arm: Any, count: int, steps: int) -> tuple[list[Contestant], set[str]]:
    states = closed_machines.closed_states(arm, count)
    found, missing = ours(arm, states, steps), set()
    expected = found[0].torques()
    for peer in (pinocchio, mujoco):
        try:
            theirs = peer(arm, states, steps)
        except ImportError as error:
            missing.add(f"{peer.__name__}: {error}")
            continue
        for c in theirs:
            check(arm, c, expected)
        found += theirs
    return found, missing


def check(arm: Any, contestant: Contestant, expected: np.ndarray) -> None:
    """The accelerations of some states; a rollout of MuJoCo is checked by those that it starts with."""
    found = contestant.torques()
    rows = min(len(found), len(expected))
    error = np.abs(found[:rows] - expected[:rows]).max() / np.abs(expected[:rows]).max()
    agree(contestant.title, float(error), contestant.tolerance)


def ours(arm: Any, states: tuple[np.ndarray, ...], steps: int) -> list[Contestant]:
    q, qd, tau = states
    forward = arm.forward_dynamics
    names = {"forward": forward, "q": q, "qd": qd, "tau": tau, "out": np.empty_like(qd)}
    one = {"forward": forward, "q": q[0], "qd": qd[0], "tau": tau[0]}
    rolled = {"roll": arm.system().rollout(method="semi-implicit-euler"),
              "x": {"q": q[:TRAJECTORIES], "qd": qd[:TRAJECTORIES]}, "steps": steps, "h": STEP}

    near = arm.integrate(q, np.random.default_rng(1).uniform(-OPEN, OPEN, qd.shape))
    if not (np.abs(arm.loops.residual(arm.loops.close(near).configuration)) < 1e-12).all():
        raise SystemExit(f"{arm.name} is not closed from every guess; nothing was timed")

    def some() -> np.ndarray:
        return forward(*[x[:LOOP_STATES] for x in states])

    return [
        Contestant("batch", "Cayley, accelerations of a batch", "forward(q, qd, tau, out=out)", names, len(q), some),
        Contestant("call", "Cayley, one call", "forward(q, qd, tau)", one, 1, some),
        Contestant("step", "Cayley, steps on the constraints, semi-implicit Euler", "roll(x, step=h, steps=steps)",
                   rolled, TRAJECTORIES * steps, some),
        Contestant("closing", f"Cayley, closing a batch from guesses that are {OPEN:g} m or rad off", "close(q)",
                   {"close": arm.loops.close, "q": near}, len(near), some)]


def pinocchio(arm: Any, states: tuple[np.ndarray, ...], steps: int) -> list[Contestant]:
    """Called from Python; what such a call costs by itself is that of a function that does next to nothing."""
    import pinocchio as pin

    loops = closed_machines.PinocchioLoops(arm)
    theirs = (robots.pinocchio_configurations(arm.variants.spanning_tree(), states[0]), *states[1:])
    some = [tuple(x[k].copy() for x in theirs) for k in range(LOOP_STATES)]
    names = {"f": pin.constraintDynamics, "m": loops.model, "d": loops.data, "c": loops.constraints,
             "found": loops.found, "s": loops.settings, "some": some, "x": some[0]}

    def results() -> np.ndarray:
        return np.stack([pin.constraintDynamics(loops.model, loops.data, *x, loops.constraints, loops.found,
                                                loops.settings).copy() for x in some])

    title = "Pinocchio, `constraintDynamics`"
    one = pin.Model()
    one.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "joint")
    nothing = {"f": pin.rnea, "m": one, "d": one.createData(), "x": (np.zeros(1),) * 3}
    return [
        Contestant("Pinocchio, call", f"{title}, one call", "f(m, d, *x, c, found, s)", names, 1, results, 1e-6),
        Contestant("Pinocchio, acceleration", f"{title}, a Python loop over {LOOP_STATES} states",
                   "for x in some: f(m, d, *x, c, found, s)", names, len(some), results, 1e-6),
        Contestant("Pinocchio, alone", "Pinocchio, a call by itself: `rnea` of one joint", "f(m, d, *x)", nothing, 1,
                   results, 1e-6)]


def mujoco(arm: Any, states: tuple[np.ndarray, ...], steps: int) -> list[Contestant]:
    import mujoco as mj
    from mujoco import rollout as mj_rollout

    model = closed_machines.mujoco_model(arm)
    model.opt.timestep = STEP
    model.opt.disableflags |= mj.mjtDisableBit.mjDSBL_CONTACT | mj.mjtDisableBit.mjDSBL_EULERDAMP
    data = mj.MjData(model)
    own = arm.forward_dynamics(*[x[:LOOP_STATES] for x in states])
    q, qd, tau = states
    qd, tau = in_world(arm.variants.spanning_tree(), q, qd), in_world(arm.variants.spanning_tree(), q, tau)
    alike = np.concatenate([np.full(joint.motion.nv, joint.motion.nq < 7) for joint in arm.joints])

    def each(k: int) -> np.ndarray:
        data.qpos, data.qvel, data.qfrc_applied = q[k], qd[k], tau[k]
        mj.mj_forward(model, data)
        return data.qacc.copy()

    def results() -> np.ndarray:
        """Those of the plate are along other axes: its own accelerations stand in for them."""
        return np.where(alike, [each(k) for k in range(LOOP_STATES)], own)

    state = np.zeros((TRAJECTORIES, mj.mj_stateSize(model, mj.mjtState.mjSTATE_FULLPHYSICS)))
    state[:, 1:1 + arm.nq], state[:, 1 + arm.nq:1 + arm.nq + arm.nv] = q[:TRAJECTORIES], qd[:TRAJECTORIES]
    held = mj.MjData(model)
    held.qpos, held.qvel, held.qfrc_applied = q[0], qd[0], tau[0]
    names = {"forward": mj.mj_forward, "model": model, "data": held, "each": each, "rollout": mj_rollout.rollout,
             "state": state, "rolled": mj.MjData(model), "steps": steps}
    return [
        Contestant("MuJoCo, call", "MuJoCo, one call: state written, `mj_forward`, accelerations read", "each(0)",
                   names, 1, results, SOFT),
        Contestant("MuJoCo, acceleration", "MuJoCo, `mj_forward` alone, of one state again and again",
                   "forward(model, data)", names, 1, results, SOFT),
        Contestant("MuJoCo, step", "MuJoCo, `rollout`, Euler, one thread",
                   "rollout(model, rolled, state, nstep=steps, skip_checks=False)", names, TRAJECTORIES * steps,
                   results, SOFT)]


if __name__ == "__main__":
    main()
