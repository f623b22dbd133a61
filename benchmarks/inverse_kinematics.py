"""Inverse kinematics of four arms beside the compiled `ik_LM` of roboticstoolbox, in one run. `make bench`."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from scipy.optimize import minimize

import elsewhere
import page
import robots
from cayley.mechanism import load
from peers import MissingPeer
from summary import times
from tables import Table
from timing import Contestant, Disagreement, OtherPrograms, agree, race

MINK_POSES = 100
ARMS = {"PUMA 560": "puma560", "Panda": "panda", "UR5": "ur5", "iiwa 14": "iiwa14"}
TOLERANCE = 1e-10
# the toolbox bounds half the square of the residual; its default, 1e-6, is a residual of 1.4e-3
EQUAL = 0.5 * TOLERANCE**2
SOLVED, ONE, BATCH = 0.999, 1.0, 10.0  # required: share, and times faster


@dataclass(frozen=True)
class Figures:
    """What one arm gives: shares of solved poses, false successes, and microseconds a pose."""

    solved: float
    false: int
    worst: float  # residual among the solved
    one: float
    batch: float
    toolbox: float
    toolbox_equal: float
    toolbox_mean: float
    toolbox_solved: float


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--poses", type=int, default=10_000,
                         help="random reachable poses of each arm, solved as one batch")
    options.add_argument("--singles", type=int, default=1000, help="of these, solved one by one")
    options.add_argument("--unreachable", type=int, default=1000, help="unreachable poses of each arm")
    options.add_argument("--rounds", type=int, default=5, help="times that the batch is measured")
    chosen = options.parse_args()
    console = Console()
    others, found = OtherPrograms(), {}
    for title, name in track(ARMS.items(), description="arms", console=console, transient=True):
        found[title] = figures(load(name), chosen.poses, chosen.singles, chosen.unreachable,
                               chosen.rounds)
    missing = []
    try:
        found_beside = [beside_mink(load("panda"), chosen.rounds)]
    except (MissingPeer, Disagreement) as reason:
        found_beside, missing = [], [str(reason)]
    page.write(__file__, [*report(found, chosen), *found_beside], rounds=chosen.rounds, others=others.cores(),
               missing=missing, versions=elsewhere.versions())


def beside_mink(arm: Any, rounds: int) -> Table:
    """The Panda's poses beside the steps of mink, whose solutions must be poses, too."""
    random = np.random.default_rng(2026)
    targets = arm.pose(random.uniform(arm.lower, arm.upper, size=(MINK_POSES, arm.nq)), "tool")
    tool = arm.tree.frame("tool")
    given = {"targets": targets @ np.linalg.inv(tool.pose), "limits": np.stack([arm.lower, arm.upper], axis=1)}
    contestants = elsewhere.process("mink").contestants(
        "inverse_kinematics", given, 1e-9, mjcf=robots.mujoco_text(arm), body=tool.body, residual=TOLERANCE)
    q = contestants[0].torques()
    solved = np.isfinite(q).all(axis=1)
    agree("mink", float(recomputed(arm, q[solved], targets[solved]).max()), contestants[0].tolerance)
    names = {"solve": arm.inverse_kinematics, "T": targets, "one": targets[0]}
    ours = [
        Contestant("one", "Cayley, one pose", 'solve(one, "tool")', names, 1, lambda: q),
        Contestant("all", f"Cayley, a batch of {len(q)}", 'solve(T, "tool")', names, len(q), lambda: q)]
    ns: dict[str, float] = {}
    for medians in race([*ours, *contestants], rounds):
        ns = medians
    rows = [[c.title, f"{ns[c.key] / 1e3:.2f}", times(ns[c.key] / ns["one"])] for c in (*ours, *contestants)]
    return Table("Beside mink: the Panda, microseconds a pose", ["", "us", "times one pose of Cayley"], rows)


def figures(arm: Any, poses: int, singles: int, unreachable: int, rounds: int) -> Figures:
    random = np.random.default_rng(2026)
    targets = arm.pose(random.uniform(arm.lower, arm.upper, size=(poses, arm.nq)), "tool")
    chain = toolbox_chain(arm)
    agreement = np.abs(chain.eval(np.full(arm.nq, 0.3)) - arm.pose(np.full(arm.nq, 0.3), "tool")).max()
    agree("Robotics Toolbox", agreement, 1e-12)
    together = arm.inverse_kinematics(targets, "tool")
    far = arm.inverse_kinematics(unreachable_poses(arm, unreachable, random), "tool")
    worst = recomputed(arm, together.q, targets)[together.solved].max()
    if not np.allclose(recomputed(arm, together.q, targets), together.residual, rtol=1e-6, atol=1e-14):
        raise SystemExit(f"{arm.name}: reported residuals are not those of the configurations")
    ways: dict[str, Callable[[np.ndarray], Any]] = {
        "one": lambda T: arm.inverse_kinematics(T, "tool"),
        "toolbox": chain.ik_LM,
        "equal": lambda T: chain.ik_LM(T, tol=EQUAL),
    }
    times, answers = one_by_one(ways, targets[:singles])
    medians = {key: statistics.median(each) for key, each in times.items()}
    return Figures(float(together.solved.mean()), int(far.solved.sum()), float(worst), medians["one"],
                   batch_time(lambda: arm.inverse_kinematics(targets, "tool"), rounds) / poses, medians["toolbox"],
                   medians["equal"], statistics.mean(times["equal"]),
                   statistics.mean(bool(a.success) for a in answers["equal"]))


def one_by_one(ways: dict[str, Callable[[np.ndarray], Any]],
               targets: np.ndarray) -> tuple[dict[str, list[float]], dict[str, list[Any]]]:
    """Microseconds and answers of every way for every pose; the ways take turns, pose by pose."""
    times: dict[str, list[float]] = {key: [] for key in ways}
    answers: dict[str, list[Any]] = {key: [] for key in ways}
    for number, target in enumerate(targets):
        order = list(ways)
        for key in order[number % 3:] + order[:number % 3]:
            ways[key](targets[number - 1])  # untimed: what the other ways have pushed out of the caches comes back
            begin = time.perf_counter()
            answer = ways[key](target)
            times[key].append(1e6 * (time.perf_counter() - begin))
            answers[key].append(answer)
    return times, answers


def batch_time(call: Callable[[], Any], rounds: int) -> float:
    """The median time of a call, in microseconds."""
    samples = []
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        samples.append(1e6 * (time.perf_counter() - begin))
    return statistics.median(samples)


def unreachable_poses(arm: Any, count: int, random: np.random.Generator) -> np.ndarray:
    """Poses from 1 mm to 0.5 m farther away from the first joint than the arm can take its tool at all, in random
    directions.
    """
    origin = np.asarray(arm.joints[0].placement)[:3, 3]
    bounds = list(zip(arm.lower, arm.upper, strict=True))

    def distance(q: np.ndarray) -> float:
        return float(np.linalg.norm(arm.pose(q, "tool")[:3, 3] - origin))

    tries = random.uniform(arm.lower, arm.upper, size=(200_000, arm.nq))
    best = np.argsort(-np.linalg.norm(arm.pose(tries, "tool")[:, :3, 3] - origin, axis=-1))[:10]
    reach = max(-minimize(lambda q: -distance(q), tries[k], bounds=bounds, options={"ftol": 1e-14}).fun for k in best)
    poses = arm.pose(random.uniform(arm.lower, arm.upper, size=(count, arm.nq)), "tool")
    away = random.normal(size=(count, 3))
    away /= np.linalg.norm(away, axis=-1, keepdims=True)
    poses[:, :3, 3] = origin + away * (reach + 10 ** random.uniform(-3, np.log10(0.5), size=(count, 1)))
    return poses


def recomputed(arm: Any, q: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The residuals by SciPy."""
    from scipy.spatial.transform import Rotation
    found = arm.pose(q, "tool")
    angle = Rotation.from_matrix(np.swapaxes(found[:, :3, :3], 1, 2) @ targets[:, :3, :3]).magnitude()
    return np.hypot(np.linalg.norm(found[:, :3, 3] - targets[:, :3, 3], axis=-1), angle)


def toolbox_chain(arm: Any) -> Any:
    """The same chain as the toolbox's elementary transforms, with as few constants between the joints as possible."""
    import roboticstoolbox as rtb
    from spatialmath import SE3

    def constant(pose: np.ndarray) -> Any:
        return rtb.ET.SE3(SE3(pose, check=False))

    tool = arm.tree.frame("tool")
    chain, pending = rtb.ETS(), np.eye(4)
    for number in arm.tree.path(arm.tree.body_number(tool.body)):
        joint = arm.joints[number]
        pending = pending @ np.asarray(joint.placement)
        if joint.motion.nq == 0:
            continue
        axis = "xyz"[int(np.argmax(np.abs(joint.motion.axis)))]
        if not np.array_equal(joint.motion.axis, np.eye(3)["xyz".index(axis)]):
            raise SystemExit(f"joint {joint.name} of {arm.name} is not along a positive axis of its frame")
        if not np.array_equal(pending, np.eye(4)):
            chain = chain * constant(pending)
        chain = chain * getattr(rtb.ET, f"R{axis}")(qlim=[joint.limits.lower[0], joint.limits.upper[0]])
        pending = np.eye(4)
    pending = pending @ np.asarray(tool.pose)
    return chain if np.array_equal(pending, np.eye(4)) else chain * constant(pending)


def report(found: dict[str, Figures], chosen: argparse.Namespace) -> list[Table]:
    """The tables: (title, headings, rows)."""
    required = []
    for title, f in found.items():
        met = f.solved >= SOLVED and f.false == 0 and f.toolbox / f.one >= ONE and f.toolbox / f.batch >= BATCH
        required.append([
            title, f"{100 * f.solved:.2f} %", f"{f.false} of {chosen.unreachable}", f"{f.toolbox / f.one:.2f} times",
            f"{f.toolbox / f.batch:.0f} times", "met" if met else "NOT MET"])
    headings = [f"{chosen.poses} reachable, {chosen.unreachable} unreachable poses", "solved to 1e-10, at least 99.9 %",
                "false successes, none", "one pose beside `ik_LM`, at least 1", "batch beside `ik_LM`, at least 10", ""]
    times = [[
        title, f"{f.one:.1f}", f"{f.batch:.2f}", f"{f.toolbox:.1f}", f"{f.toolbox_equal:.1f}", f"{f.toolbox_mean:.1f}",
        f"{100 * f.toolbox_solved:.1f} %", f"{f.worst:.0e}"] for title, f in found.items()]
    labels = [
        "", "Cayley, one pose", "Cayley, as a batch", "`ik_LM(T)`, to 1.4e-3", "`ik_LM`, to 1e-10", "the same, mean",
        "solved by it", "largest residual of ours"]
    return [Table("Required", headings, required), Table("Microseconds a pose; medians of the poses", labels, times)]


if __name__ == "__main__":
    main()
