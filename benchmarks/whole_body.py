"""Whole-body control: a hand at a pose within limits, and a quadruped on four feet, beside mink and PlaCo.
`make bench`.

All have one thread, and times are those of the processor, not of the clock on the wall.

Prints the figures and writes them into benchmarks/README.md, section "Whole-body control". `python benchmarks/gpu.py
--only whole_body` has the hand on a GPU.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

import cayley as cy
import elsewhere
import page
import robots
from cayley.control import PointContact, PoseTask, PostureTask
from cayley.errors import ModelWarning
from cayley.planning import MotionLimits
from peers import MissingPeer
from tables import Requirement, Table, required
from timing import Contestant, Disagreement, OtherPrograms, agree, check, race

FEET = ("LF_FOOT", "LH_FOOT", "RF_FOOT", "RH_FOOT")
FRICTION = 0.7
HAND, DOG = "a hand within limits", "a quadruped on four feet"
AGREED = 200  # states of the check
SLOWEST = 200  # states of the worst case that are measured again


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=15, help="times that every contestant is measured")
    options.add_argument("--states", type=int, default=4096, help="of a batch")
    options.add_argument("--worst", type=int, default=100_000, help="states of which the slowest is searched")
    chosen = options.parse_args()
    console, others, missing = Console(), OtherPrograms(), set()
    rows, requirements = [], []
    hand, dog = Hand(chosen.states), Quadruped(chosen.states)
    agree("Cayley, the quadruped", dog.error(), 1e-6)
    beside: list[Contestant] = []
    for peer in ("mink", "PlaCo"):
        try:
            found = elsewhere.process(peer).contestants("pose_task", hand.arrays, 1e-4, own_time=True, **hand.given)
            for each in found:
                check(each, np.arange(AGREED), hand.agreed)
            beside += found
        except (MissingPeer, Disagreement) as error:
            missing.add(str(error))
    for title, contestants, bounds in ((HAND, [*hand.contestants(), *beside], {"one call": 5.0}),
                                       (DOG, dog.contestants(), {"one call": 20.0, "a batch": 6.0})):
        ns: dict[str, float] = {}
        rounds = race(contestants, chosen.rounds, time.process_time)
        for medians in track(rounds, title, total=chosen.rounds, console=console, transient=True):
            ns = medians
        rows += [[title, c.title, f"{ns[c.key] / 1e3:.2f}"] for c in contestants]
        requirements += [Requirement(f"{title}, {what}", ns[what] / 1e3, bound, "us")
                         for what, bound in bounds.items()]
        if (theirs := ns.get("mink mink, one call")) is not None:
            requirements.append(Requirement(f"{title}, one call, beside mink", theirs / ns["one call"], 15.0, "times"))
    title = f"the slowest of {chosen.worst} states, one call"
    worst = slowest(Quadruped(chosen.worst))
    rows.append([DOG, f"Cayley, {title}", f"{worst:.2f}"])
    requirements.append(Requirement(f"{DOG}, {title}", worst, 20.0, "us"))
    page.write(__file__, [required(requirements), Table("All", ["", "", "us"], rows, left=2)], rounds=chosen.rounds,
               others=others.cores(), missing=missing)


class Hand:
    """A Panda whose hand is to go to a pose; velocities of a second, so that peers with a period have the same limits.
    """

    def __init__(self, count: int) -> None:
        arm = cy.load("panda")
        limits = MotionLimits.of(arm)
        self.law = arm.tasks([PoseTask("tool", gain=1.0)], approach=1.0, limits=limits)
        rng = np.random.default_rng(2026)
        middle, half = (arm.upper + arm.lower) / 2, (arm.upper - arm.lower) / 2
        self.q = middle + rng.uniform(-0.8, 0.8, (count, 7)) * half
        self.q[:AGREED] = arm.configurations["ready"] + rng.uniform(-0.2, 0.2, (min(AGREED, count), 7))
        far = rng.uniform(-0.5, 0.5, self.q.shape)
        far[:AGREED] *= 2e-3  # near poses, of which peers with other errors of orientation have the same velocity
        self.targets = np.asarray(arm.pose(np.clip(self.q + far, arm.lower, arm.upper), "tool"))
        self.agreed = np.asarray(self.law.at(self.q[:AGREED], self.targets[:AGREED]).qd)
        self.arm, tool = arm, arm.tree.frame("tool")
        self.arrays = {"q": self.q[:AGREED], "limits": np.stack([arm.lower, arm.upper], axis=1),
                       "speeds": np.array(limits.velocity), "targets": self.targets[:AGREED]}
        self.offset = np.linalg.inv(tool.pose)
        self.arrays["targets_of_body"] = self.arrays["targets"] @ self.offset

    @property
    def given(self) -> dict[str, Any]:
        """The same arm for peers."""
        tool = self.arm.tree.frame("tool")
        return {"mjcf": robots.mujoco_text(self.arm), "body": tool.body, **robots.urdf_file(self.arm, tool=True)}

    def contestants(self) -> list[Contestant]:
        return two_ways(self.law, {"q": self.q, "target_tool": self.targets})


class Quadruped:
    """ANYmal with all feet standing, near a posture, its body moving: torque limits and cones hold it in most states.
    """

    def __init__(self, count: int) -> None:
        dog = robots.robot("anymal")
        for joint in dog.tree.joints:
            if joint.motion.nv == 1:
                dog = dog.with_joint(joint.name, lower=-np.inf, upper=np.inf)
        home = np.zeros(19)
        home[3], home[7:] = 1.0, [0.0, 0.7, -1.2] * 2 + [0.0, -0.7, 1.2] * 2  # front legs, hind legs
        home[2] = -np.mean([dog.pose(home, foot)[2, 3] for foot in FEET])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            self.law = dog.tasks(
                [PoseTask("base", gain=8.0), PostureTask(gain=5.0, weight=1e-2)],
                level="acceleration", limits=MotionLimits.of(dog, velocity=np.inf),
                contacts=[PointContact(foot, friction=FRICTION) for foot in FEET])
        self.strength = MotionLimits.of(dog).effort
        rng = np.random.default_rng(2026)
        q = np.tile(home, (count, 1))
        q[:, 7:] += rng.normal(scale=0.15, size=(count, 12))
        q[:, 4:7] = rng.normal(scale=0.07, size=(count, 3))
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
        q[:, :2] += rng.normal(scale=0.05, size=(count, 2))
        q[:, 2] -= np.mean([dog.pose(q, foot)[:, 2, 3] for foot in FEET], axis=0)
        qd = np.zeros((count, 18))
        qd[:, :6] = rng.normal(scale=0.3, size=(count, 6))
        J = np.concatenate([dog.jacobian(q, foot, axes="world")[:, :3] for foot in FEET], axis=1)
        follow = np.linalg.solve(J[:, :, 6:], (J[:, :, :6] @ qd[:, :6, None]))
        qd[:, 6:] = -follow[..., 0]  # feet stand still
        target = np.eye(4)
        target[:3, 3] = home[:3]
        self.states = {"q": q, "qd": qd, "target_base": np.tile(target, (count, 1, 1)),
                       "target_posture": np.tile(home, (count, 1))}

        self.dog = dog

    def error(self) -> float:
        """The largest error of the equations of motion, beside forces of 1000 N, and excess of friction and torques
        over their limits, after which nothing is timed."""
        q, qd = (self.states[name][:AGREED] for name in ("q", "qd"))
        found = self.law.at(**{name: values[:AGREED] for name, values in self.states.items()})
        tau, slip = np.asarray(self.dog.inverse_dynamics(q, qd, found.qdd)), 0.0
        for foot in FEET:
            force = np.asarray(found.outputs[f"force_{foot}"])
            J = np.asarray(self.dog.jacobian(q, foot, axes="world"))[:, :3]
            tau = tau - np.einsum("kij,ki->kj", J, force)
            slip = max(slip, float((np.hypot(force[:, 0], force[:, 1]) - FRICTION * force[:, 2]).max()))
        if not (np.asarray(found.outputs["status"]) == 0.0).all():
            return np.inf
        beyond = np.abs(found.tau)[:, 6:] - np.asarray(self.strength)[6:]
        return max(float(np.abs(tau - found.tau).max()), slip, float(beyond.max())) / 1e3

    def contestants(self) -> list[Contestant]:
        return two_ways(self.law, self.states)


def inputs_of(law: Any, states: dict[str, np.ndarray]) -> list[np.ndarray]:
    return [states.get(name, np.full(port.shape, port.default)) for name, port in law.ports.items()]


def two_ways(law: Any, states: dict[str, np.ndarray]) -> list[Contestant]:
    """One call for one state, and one for all."""
    every = inputs_of(law, states)
    one = inputs_of(law, {name: values[-1] for name, values in states.items()})
    count = len(states["q"])
    return [Contestant("one call", "Cayley, one call from Python", "step(*x)", {"step": law.step, "x": one}, 1,
                       lambda: np.atleast_2d(law.step(*one)[0])),
            Contestant("a batch", f"Cayley, a batch of {count}", "step(*x)", {"step": law.step, "x": every}, count,
                       lambda: np.asarray(law.step(*every)[0]))]


def slowest(dog: Quadruped) -> float:
    """Microseconds of the slowest state: every one once, then the slowest of these often."""
    step, count = dog.law.step, len(dog.states["q"])
    calls = [inputs_of(dog.law, {name: values[k] for name, values in dog.states.items()}) for k in range(count)]

    def took(call: list[np.ndarray]) -> float:
        begin = time.thread_time()
        step(*call)
        return time.thread_time() - begin

    took(calls[0])
    once = np.array([min(took(call), took(call)) for call in calls])
    return 1e6 * max(float(np.median([took(calls[k]) for _ in range(50)])) for k in np.argsort(once)[-SLOWEST:])


if __name__ == "__main__":
    main()
