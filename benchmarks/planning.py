"""Motions in time beside SciPy's splines, ruckig and toppra, in one run. `make bench`.

Prints the figures and writes them into benchmarks/README.md, section "Motions". A job is a `Job` in the list that a
function of `JOBS` gives; a function whose peer is not installed raises ImportError, and is said to be missing.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

import page
from tables import Requirement, Table, required
from timing import Contestant, OtherPrograms, agree, race


@dataclass(frozen=True)
class Job:
    """One job, done by a peer and by Cayley: statements in terms of `names`, each for `count` things. `error` says by
    how much the results differ; above `tolerance` nothing is timed. `required`: how many times as fast it must be.
    """

    title: str
    peer: str
    theirs: str
    ours: str
    names: dict[str, Any] = field(repr=False)
    error: Callable[[], float] = field(repr=False)
    tolerance: float
    count: int = 1
    required: float | None = None


def rotation_splines() -> list[Job]:
    """Ten rotations, and a thousand times."""
    from scipy.spatial.transform import Rotation, RotationSpline

    from cayley.planning import rotation_spline

    rng = np.random.default_rng(0)
    turns = Rotation.from_rotvec(np.cumsum(0.5 * rng.normal(size=(10, 3)), axis=0))
    knots = np.cumsum(rng.uniform(0.5, 1.5, 10))
    q = turns.as_quat()[:, [3, 0, 1, 2]]
    theirs = RotationSpline(knots, turns)
    ours = rotation_spline(knots, q)
    t = np.linspace(knots[0], knots[-1], 1000)
    names = {"RotationSpline": RotationSpline, "rotation_spline": rotation_spline, "knots": knots, "turns": turns,
             "q": q, "theirs": theirs, "ours": ours, "t": t, "now": float(t[333])}

    def error() -> float:
        """At the knots both must be; between them they are curves of their own."""
        found = Rotation.from_quat(ours(knots).q[:, [1, 2, 3, 0]])
        return float((found.inv() * theirs(knots)).magnitude().max())

    job = {"peer": "SciPy RotationSpline", "names": names, "error": error, "tolerance": 1e-7}
    return [
        Job("rotation spline of 10 knots, built", theirs="RotationSpline(knots, turns)",
            ours="rotation_spline(knots, q)", required=20, **job),
        Job("its rotation at 1000 times", theirs="theirs(t)", ours="ours.position(t)", count=1000, required=20, **job),
        Job("its rotation, angular velocity and acceleration at 1000 times",
            theirs="theirs(t), theirs(t, 1), theirs(t, 2)", ours="ours(t)", count=1000, required=20, **job),
        Job("all three at one time", theirs="theirs(now), theirs(now, 1), theirs(now, 2)", ours="ours(now)",
            required=20, **job)]


def joint_splines() -> list[Job]:
    """Seven joints, ten thousand knots."""
    from scipy.interpolate import CubicSpline

    from cayley.planning import cubic_spline

    rng = np.random.default_rng(0)
    knots = np.cumsum(rng.uniform(0.5, 1.5, 10_001))
    points = rng.normal(size=(10_001, 7))
    theirs = CubicSpline(knots, points, bc_type="natural")
    ours = cubic_spline(knots, points)
    t = rng.uniform(knots[0], knots[-1], 10_000)
    names = {"CubicSpline": CubicSpline, "cubic_spline": cubic_spline, "knots": knots, "points": points,
             "theirs": theirs, "ours": ours, "t": t, "now": float(t[0])}
    job = {"peer": "SciPy CubicSpline", "names": names, "tolerance": 1e-9,
           "error": lambda: float(np.abs(ours(t).qdd - theirs(t, 2)).max())}
    return [
        Job("cubic spline of 7 joints, 10 000 pieces, built", theirs="CubicSpline(knots, points, bc_type='natural')",
            ours="cubic_spline(knots, points)", **job),
        Job("its position to jerk at 10 000 times", theirs="[theirs(t, k) for k in range(4)]",
            ours="ours.derivatives(t)", count=10_000, **job),
        Job("its position to acceleration at one time", theirs="[theirs(now, k) for k in range(3)]",
            ours="ours(now)", **job)]


def jerk_limited_motions() -> list[Job]:
    """A thousand motions of seven joints from rest to rest, with the limits of a Panda."""
    import ruckig

    from cayley.planning import rest_to_rest

    rng = np.random.default_rng(0)
    first, last = rng.uniform(-2.0, 2.0, (2, 1000, 7))
    limits = [np.array(each) for each in ([2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61],
                                          [15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0],
                                          [7500.0, 3750.0, 5000.0, 6250.0, 7500.0, 10000.0, 10000.0])]
    inputs = []
    for a, b in zip(first, last, strict=True):
        asked = ruckig.InputParameter(7)
        asked.current_position, asked.target_position = a, b
        asked.max_velocity, asked.max_acceleration, asked.max_jerk = limits
        inputs.append(asked)
    found, planner = ruckig.Trajectory(7), ruckig.Ruckig(7)
    names = {"inputs": inputs, "planner": planner, "found": found, "rest_to_rest": rest_to_rest, "first": first,
             "last": last, "limits": limits}

    def error() -> float:
        durations = []
        for asked in inputs:
            planner.calculate(asked, found)
            durations.append(found.duration)
        return float(np.abs(rest_to_rest(first, last, *limits).duration - durations).max())

    job = {"peer": f"ruckig {version('ruckig')}", "names": names, "error": error, "tolerance": 1e-9}
    return [
        Job("jerk-limited motion of 7 joints from rest to rest, planned, in a batch of 1000",
            theirs="for asked in inputs: planner.calculate(asked, found)",
            ours="rest_to_rest(first, last, *limits)", count=1000, required=3, **job)]


def path_timing() -> list[Job]:
    """A path of seven joints through ten waypoints on a grid of 200 intervals."""
    import toppra
    from toppra import algorithm, constraint

    from cayley.planning import MotionLimits, cubic_spline, time_optimal

    toppra.setup_logging("ERROR")
    waypoints = np.random.default_rng(0).uniform(-2.0, 2.0, (10, 7))
    velocity = np.array([2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61])
    acceleration = np.array([15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0])
    knots, grid = np.linspace(0.0, 1.0, 10), np.linspace(0.0, 1.0, 201)
    path = toppra.SplineInterpolator(knots, waypoints)

    def theirs() -> Any:
        limits = [constraint.JointVelocityConstraint(np.c_[-velocity, velocity]),
                  constraint.JointAccelerationConstraint(np.c_[-acceleration, acceleration])]
        return algorithm.TOPPRA(limits, path, gridpoints=grid).compute_trajectory()

    curve = cubic_spline(knots, waypoints, "not-a-knot")
    names = {"theirs": theirs, "time_optimal": time_optimal, "curve": curve, "waypoints": waypoints,
             "limits": MotionLimits(velocity, acceleration)}

    def error() -> float:
        """The durations; Cayley's is a little longer, as it keeps the limits between the points of the grid as well."""
        return abs(time_optimal(curve, names["limits"]).duration / theirs().duration - 1.0)

    job = {"peer": f"toppra {version('toppra')}", "names": names, "error": error, "tolerance": 0.01,
           "theirs": "theirs()"}
    return [Job("time-optimal timing of a path of 7 joints, 10 waypoints, 200 intervals",
                ours="time_optimal(curve, limits)", required=10, **job),
            Job("the same, path through the waypoints included (ours only)", ours="time_optimal(waypoints, limits)",
                **job)]


JOBS: tuple[Callable[[], list[Job]], ...] = (rotation_splines, joint_splines, jerk_limited_motions, path_timing)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=15, help="times that every contestant is measured")
    chosen = options.parse_args()
    console, others = Console(), OtherPrograms()
    jobs, missing = entered()
    rows, requirements = [], []
    for job in track(jobs, "jobs", console=console, transient=True):
        theirs, ours = measured(job, chosen.rounds)
        ratio = theirs / ours
        times = f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"
        rows.append([job.title, job.peer, _shown(theirs), _shown(ours), times])
        if job.required is not None:
            requirements.append(Requirement(f"{job.title}, beside {job.peer}", ratio, job.required, "times"))
    tables = [required(requirements),
              Table("All", ["", "peer", "peer, us", "Cayley, us", "times faster"], rows)]
    page.write(__file__, tables, rounds=chosen.rounds, others=others.cores(), missing=missing)


def entered() -> tuple[list[Job], Sequence[str]]:
    """The jobs whose peers are there and agree, and why the others are missing."""
    jobs, missing = [], []
    for make in JOBS:
        try:
            jobs += make()
        except ImportError as error:
            missing.append(str(error))
    for job in jobs:
        agree(job.peer, job.error(), job.tolerance)
    return jobs, missing


def measured(job: Job, rounds: int) -> tuple[float, float]:
    """Microseconds a thing, of the peer and of Cayley."""
    contestants = [Contestant(key, job.title, statement, job.names, job.count, lambda: np.zeros(0))
                   for key, statement in (("theirs", job.theirs), ("ours", job.ours))]
    ns: dict[str, float] = {}
    for medians in race(contestants, rounds):
        ns = medians
    return ns["theirs"] / 1e3, ns["ours"] / 1e3


def _shown(us: float) -> str:
    return f"{us:.0f}" if us >= 100 else f"{us:.3g}"


if __name__ == "__main__":
    main()
