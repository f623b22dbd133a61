"""An arm of seven joints with elastic drives beside the same arm with rigid ones, and beside Pinocchio, in one run.
`make bench`.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

import cayley as cy
import page
from tables import Requirement, Table, required
from timing import Contestant, OtherPrograms, check, race

CHECKED = 50
ROUND = np.diag([1e-4, 1e-4, 2e-4])
ODD = np.array([[1.5e-4, 2e-5, 1e-5], [2e-5, 1e-4, 3e-5], [1e-5, 3e-5, 2e-4]])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=15, help="times that every contestant is measured")
    options.add_argument("--states", type=int, default=10_000, help="states of a batch")
    chosen = options.parse_args()
    console, others, missing = Console(), OtherPrograms(), []
    contestants = line_up(chosen.states)
    try:
        contestants += pinocchio(chosen.states)
    except ImportError as error:
        missing.append(f"pinocchio: {error}")
    ns: dict[str, float] = {}
    for medians in track(race(contestants, chosen.rounds, time.process_time), "rounds", total=chosen.rounds,
                         console=console, transient=True):
        ns = medians
    requirements = [
        Requirement("forward dynamics of a batch, reduced model", ns["reduced"] / ns["rigid"], 1.4, "times the rigid"),
        Requirement("forward dynamics of a batch, full model", ns["full"] / ns["rigid"], 3, "times the rigid"),
        Requirement("the same, rotors that are neither round nor on their axes", ns["odd"] / ns["rigid"], 3,
                    "times the rigid")]
    rows = [[c.title, f"{ns[c.key]:.0f}" if ns[c.key] >= 100 else f"{ns[c.key]:.1f}", f"{ns[c.key] / ns['rigid']:.2f}"]
            for c in contestants]
    tables = [required(requirements),
              Table("Forward dynamics", ["", "ns a state", "times the rigid arm, in a batch"], rows)]
    page.write(__file__, tables, rounds=chosen.rounds, others=others.cores(), missing=missing)


def driven(tensor: np.ndarray, center: tuple[float, ...] = (0.0, 0.0, 0.0)) -> Any:
    arm = cy.load("panda")
    for joint in arm.joint_names:
        arm = arm.with_drive(joint, stiffness=1e4, damping=2.0, gear=100.0, mass=0.3, tensor=tensor, center=center)
    return arm


def states(arm: Any, count: int) -> tuple[np.ndarray, ...]:
    q, qd, tau = np.random.default_rng(2026).normal(size=(3, count, arm.nv))
    q[:, 7:] += 100.0 * q[:, :arm.nv - 7]  # motors, before their gears, near to their joints
    return q, qd, tau


def line_up(count: int) -> list[Contestant]:
    rounded = driven(ROUND)
    odd = driven(ODD, (0.01, 0.005, 0.0))
    arms = {"rigid": ("Cayley, rigid arm, a batch", cy.load("panda")),
            "reduced": ("Cayley, reduced model, a batch", rounded.including("reduced elastic drives")),
            "full": ("Cayley, full model, a batch", rounded.including("elastic drives")),
            "odd": ("Cayley, full model, rotors of any shape, a batch", odd.including("elastic drives"))}
    found = []
    for key, (title, arm) in arms.items():
        q, qd, tau = states(arm, count)
        forward = arm.forward_dynamics
        names = {"forward": forward, "q": q, "qd": qd, "tau": tau, "out": np.empty_like(qd)}
        found.append(Contestant(key, title, "forward(q, qd, tau, out=out)", names, count,
                                lambda forward=forward, q=q, qd=qd, tau=tau: forward(q, qd, tau)))
    soft = arms["full"][1]
    q, qd, tau = states(soft, 1)
    found.append(Contestant("call", "Cayley, full model, one call", "forward(q, qd, tau)",
                            {"forward": soft.forward_dynamics, "q": q[0], "qd": qd[0], "tau": tau[0]}, 1,
                            lambda: soft.forward_dynamics(q, qd, tau)))
    return found


def pinocchio(count: int) -> list[Contestant]:
    """The same links and rotors; the torques of the springs, which it does not have, are added before."""
    import pinocchio as pin

    arm = driven(ROUND)
    soft = arm.including("elastic drives")
    model = pin.Model()
    ids = {arm.bodies[0].name: 0}
    place = {}
    for k, joint in enumerate(arm.joints):
        body = arm.bodies[k + 1]
        home = pin.SE3(np.array(joint.placement))
        parent = ids[joint.parent]
        if joint.motion.nv:
            rotor = joint.rotor
            number = model.addJoint(parent, pin.JointModelRZ(), home, f"{joint.name} motor")
            model.appendBodyToJoint(number, pin.Inertia(rotor.mass, np.zeros(3), np.array(rotor.tensor)),
                                    pin.SE3.Identity())
            place[f"{joint.name} motor"] = number
            ids[body.name] = place[joint.name] = model.addJoint(parent, pin.JointModelRZ(), home, joint.name)
        if body.mass:
            held = pin.SE3.Identity() if joint.motion.nv else home
            ids.setdefault(body.name, parent)
            model.appendBodyToJoint(ids[body.name],
                                    pin.Inertia(body.mass, np.array(body.center), np.array(body.inertia)), held)
    data = model.createData()
    order = [model.joints[place[name]].idx_v for name in soft.joint_names]
    q, qd, tau = states(soft, count)
    deflection, rate = q[:, 7:] / 100 - q[:, :7], qd[:, 7:] / 100 - qd[:, :7]
    P = 1e4 * deflection + 2.0 * rate
    forces = tau + np.concatenate([P, -P / 100], axis=1)
    theirs = [np.empty_like(x) for x in (q, qd, forces)]
    for ours, other in zip((q, qd, forces), theirs, strict=True):
        other[:, order] = ours

    def some() -> np.ndarray:
        return np.stack([pin.aba(model, data, *[x[k] for x in theirs])[order] for k in range(CHECKED)])

    expected = soft.forward_dynamics(q[:CHECKED], qd[:CHECKED], tau[:CHECKED])
    contestant = Contestant("pinocchio", "Pinocchio, `aba` of links and rotors without springs, one call",
                            "aba(model, data, q, qd, tau)",
                            {"aba": pin.aba, "model": model, "data": data, "q": theirs[0][0], "qd": theirs[1][0],
                             "tau": theirs[2][0]}, 1, some, 1e-9 * np.abs(expected).max())
    check(Contestant("pinocchio", contestant.title, "", {}, CHECKED, some, contestant.tolerance), np.arange(CHECKED),
          expected)
    return [contestant]


if __name__ == "__main__":
    main()
