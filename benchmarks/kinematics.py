"""Poses and Jacobians of the Panda beside Pinocchio called from Python, in one run. `make bench`."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin
from rich.console import Console
from rich.progress import track

import cayley as cy
import elsewhere
import page
import robots
from peers import MissingPeer
from tables import Requirement, Table, required
from timing import Contestant, Disagreement, OtherPrograms, agree, race

LOOP_STATES = 1000
CPP = {"pose": 313.0,
       "jacobian": 400.0}  # ns a state of Pinocchio in C++, one thread; measured once, on a machine of this kind
TOLERANCE = 1e-13


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=15, help="times that every contestant is measured")
    options.add_argument("--states", type=int, default=10_000, help="states of a batch")
    chosen = options.parse_args()
    console = Console()
    contestants, missing = line_up(chosen.states)
    nanoseconds: dict[str, float] = {}
    others = OtherPrograms()
    for medians in track(race(contestants, chosen.rounds), total=chosen.rounds, description="rounds", console=console,
                         transient=True):
        nanoseconds = medians
    tables = figures(contestants, nanoseconds, chosen.states)
    page.write(__file__, tables, rounds=chosen.rounds, others=others.cores(), missing=missing,
               versions=elsewhere.versions())


def line_up(count: int) -> tuple[list[Contestant], list[str]]:
    """All on the same arm and states; their results are compared before anything is timed."""
    arm = cy.load("panda")
    model, number = pinocchio_arm(arm)
    states = arm.random_configuration(count, seed=2026)
    q, some = states[0].copy(), list(states[:LOOP_STATES])
    own = {"arm": arm, "q": q}
    theirs = {
        "model": model, "data": model.createData(), "number": number, "q": q, "some": some,
        "poses": pin.framesForwardKinematics, "jacobian": pin.computeFrameJacobian,
        "axes": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED}
    pose, jacobian = arm.pose.of("tool"), arm.jacobian.of("tool", axes="world")
    batches = {
        "pose": pose, "jacobian": jacobian, "q": states, "T": np.zeros((count, 4, 4)), "J": np.zeros(
            (count, 6, arm.nv))}
    of_pose = "poses(model, data, q); data.oMf[number].homogeneous"
    of_jacobian = "jacobian(model, data, q, number, axes)"
    contestants = [
        contestant("pose", "Cayley, `arm.pose(q, \"tool\")`", 'arm.pose(q, "tool")', own, 1),
        contestant("jacobian", "Cayley, `arm.jacobian(q, \"tool\", axes=\"world\")`",
                   'arm.jacobian(q, "tool", axes="world")', own, 1),
        contestant("pinocchio pose", "Pinocchio, `framesForwardKinematics`, pose read", of_pose, theirs, 1),
        contestant("pinocchio jacobian", "Pinocchio, `computeFrameJacobian`", of_jacobian, theirs, 1),
        contestant("poses", "Cayley, poses, one thread", "pose(q, out=T)", batches, count),
        contestant("jacobians", "Cayley, Jacobians, one thread", "jacobian(q, out=J)", batches, count),
        contestant("pinocchio poses unread", "Pinocchio, a loop over `framesForwardKinematics`, poses not read",
                   "for q in some: poses(model, data, q)", theirs, len(some)),
        contestant("pinocchio poses", "Pinocchio, a loop over `framesForwardKinematics`, poses read",
                   f"for q in some: {of_pose}", theirs, len(some)),
        contestant("pinocchio jacobians", "Pinocchio, a loop over `computeFrameJacobian`",
                   f"for q in some: {of_jacobian}", theirs, len(some)), ]
    check(arm, states, theirs, batches)
    missing = []
    for peer in ("frax", "adam", "Drake"):
        try:
            contestants += in_another_process(peer, arm, states, {"pose": batches["T"], "jacobian": batches["J"]})
        except (MissingPeer, Disagreement) as reason:
            missing.append(str(reason))
    return contestants, missing


def in_another_process(peer: str, arm: Any, states: np.ndarray, expected: dict[str, np.ndarray]) -> list[Contestant]:
    """Poses and Jacobians of a peer with an environment of its own."""
    given = {"q": states, "offset": np.asarray(arm.tree.frame("tool").pose)}
    found = []
    for job, right in expected.items():
        for c in elsewhere.process(peer).contestants(job, given, 1e-12, **robots.urdf_file(arm, tool=True)):
            rows = c.torques()
            agree(peer, float(np.abs(rows - right.reshape(len(right), -1)[:len(rows)]).max()), c.tolerance)
            name, how = c.title.split(", ", 1)
            what = job if c.states == 1 else f"{job}s"
            found.append(replace(c, key=f"{c.key} {job}", title=f"{name}, {what}, {how}"))
    return found


def contestant(key: str, title: str, statement: str, names: dict[str, Any], states: int) -> Contestant:
    return Contestant(key, title, statement, dict(names), states, torques=lambda: np.zeros(0))


def check(arm: Any, states: np.ndarray, theirs: dict[str, Any], batches: dict[str, Any]) -> None:
    """Refuse to time anything that does not agree."""
    poses, jacobians = batches["pose"](states, out=batches["T"]), batches["jacobian"](states, out=batches["J"])
    model, data, number = (theirs[key] for key in ("model", "data", "number"))
    for k in range(min(LOOP_STATES, len(states))):
        J = pin.computeFrameJacobian(model, data, states[k], number, theirs["axes"])
        pin.framesForwardKinematics(model, data, states[k])
        error = max(np.abs(J - jacobians[k]).max(), np.abs(data.oMf[number].homogeneous - poses[k]).max(),
                    np.abs(arm.pose(states[k], "tool") - poses[k]).max())
        agree("Pinocchio", error, TOLERANCE)


def pinocchio_arm(arm: Any) -> tuple[Any, int]:
    """The same arm as a `pinocchio.Model` with nothing but its seven joints and the frame of the tool, and the number
    of that frame.
    """
    model, joint = pin.Model(), 0
    for part in arm.joints:
        if part.motion.axis != (0.0, 0.0, 1.0):
            raise SystemExit(f"joint {part.name} of {arm.name} does not turn about its z axis")
        joint = model.addJoint(joint, pin.JointModelRZ(), pin.SE3(np.asarray(part.placement)), part.name)
    tool = arm.tree.frame("tool")
    return model, model.addFrame(pin.Frame("tool", joint, 0, pin.SE3(np.asarray(tool.pose)), pin.FrameType.OP_FRAME))


def figures(contestants: list[Contestant], ns: dict[str, float], count: int) -> list[Table]:
    """The tables of the report: (title, headings, rows)."""
    def rows(single: bool) -> list[list[str]]:
        return [[c.title, f"{ns[c.key]:.{0 if ns[c.key] >= 100 else 1}f}"] for c in contestants
                if (c.states == 1) == single]

    requirements = [
        Requirement("batch of poses, beside the loop over `framesForwardKinematics`, poses read",
                    ns["pinocchio poses"] / ns["poses"], 25, "times"),
        Requirement("the same, poses not read", ns["pinocchio poses unread"] / ns["poses"], 25, "times"),
        Requirement("batch of Jacobians, beside the loop over `computeFrameJacobian`",
                    ns["pinocchio jacobians"] / ns["jacobians"], 25, "times"),
        *[
            Requirement(f"batch of {key}s, beside Pinocchio in C++ ({known:g} ns)", known / ns[f"{key}s"], 12, "times")
            for key, known in CPP.items()],
        Requirement("one pose, beside Pinocchio's with its reading", ns["pinocchio pose"] / ns["pose"], 1, "times"),
        Requirement("one Jacobian, beside Pinocchio's", ns["pinocchio jacobian"] / ns["jacobian"], 1, "times"), ]
    return [required(requirements),
            Table(f"A batch of {count} states", ["", "ns a state"], rows(single=False)),
            Table("One call from Python", ["", "ns a call"], rows(single=True))]


if __name__ == "__main__":
    main()
