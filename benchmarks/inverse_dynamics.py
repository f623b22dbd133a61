"""Inverse dynamics of a 7R arm with general inertias: Cayley beside its peers, in one run. `make bench`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.progress import track

import page
import peers
from arm import arm_torques, random_states
from startup import startup_times
from tables import Requirement, Table, required
from timing import Contestant, OtherPrograms, check, race

CHECKED_STATES = 500


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=15, help="times that every contestant is measured")
    options.add_argument("--states", type=int, default=100_000, help="states of a batch")
    chosen = options.parse_args()
    console = Console()

    contestants, missing = line_up(chosen.states)
    for reason in missing:
        console.print(f"skipped: {reason}", style="yellow")
    console.print(f"{len(contestants)} contestants agree on the torques. Timing:")
    startup = {phase: 1e3 * seconds for phase, seconds in startup_times(rounds=5).items()}  # ms
    nanoseconds: dict[str, float] = {}
    others = OtherPrograms()
    for medians in track(race(contestants, chosen.rounds), total=chosen.rounds, description="rounds", console=console,
                         transient=True):
        nanoseconds = medians
    disturbance = others.cores()

    tables = figures(contestants, nanoseconds, startup, chosen.states)
    page.write(__file__, tables, rounds=chosen.rounds, others=disturbance, missing=missing)


def line_up(count: int) -> tuple[list[Contestant], list[str]]:
    """Every contestant that can run here, checked against the plain Python text; and why the others cannot."""
    states = random_states(count)
    rows = np.linspace(0, count - 1, min(count, CHECKED_STATES)).astype(int)
    expected = np.full((count, states[0].shape[1]), np.nan)
    for row in {*rows, *(rows % peers.PYTHON_LOOP_STATES), 0}:
        expected[row] = arm_torques(*[x[row] for x in states])
    contestants: list[Contestant] = []
    missing: list[str] = []
    for enter in (peers.cayley, peers.pinocchio, peers.casadi, peers.jax):
        try:
            entered = enter(*states)
        except peers.MissingPeer as reason:
            missing.append(str(reason))
            continue
        for contestant in entered:
            check(contestant, rows, expected)
        contestants += entered
    return contestants, missing


def figures(contestants: Sequence[Contestant], ns: dict[str, float], startup: dict[str, float],
            count: int) -> list[Table]:
    """The tables of the report: (title, headings, rows)."""

    def ratio(slower: str, faster: str) -> float | None:
        return ns[slower] / ns[faster] if slower in ns and faster in ns else None

    def times(reference: str, single: bool) -> list[list[str]]:
        entered = [c for c in contestants if (c.states == 1) == single]
        return [[c.title, f"{ns[c.key]:.{0 if ns[c.key] >= 100 else 1}f}", f"{ns[c.key] / ns[reference]:.2f}"]
                for c in entered]

    requirements = [
        Requirement("batch, beside `rneaInParallel` on one thread", ratio("pinocchio batch", "batch"), 25, "times"),
        Requirement("batch, beside CasADi's mapped C", ratio("casadi batch", "batch"), 6, "times"),
        Requirement("one call, beside `pinocchio.rnea`", ratio("pinocchio call", "call"), 3, "times"),
        Requirement("one call into `out`, beside `pinocchio.rnea`", ratio("pinocchio call", "call into out"), 4,
                    "times"),
        Requirement("two threads, beside one", ratio("batch", "batch of two threads"), 1.7, "times"),
        Requirement("compilation, empty cache, after imports", startup["cold"], 500, "ms"),
        Requirement("load from the cache, after imports", startup["cached"], 30, "ms"), ]
    return [
        required(requirements),
        Table(f"A batch of {count} states", ["", "ns a state", "times Cayley"], times("batch", single=False)),
        Table("One call from Python", ["", "ns a call", "times Cayley"], times("call", single=True)),
        Table(
            "A fresh process, from the kernel object to the first torques",
            ["", "ms"],
            [
                ["compiled (empty cache), after all imports", f"{startup['cold']:.1f}"],
                ["loaded from the cache, after all imports", f"{startup['cached']:.1f}"],
                [
                    "loaded from the cache, with the imports that the first call makes",
                    f"{startup['cached with imports']:.1f}"],
                ["in none of these: import and initialisation of llvmlite", f"{startup['llvm']:.1f}"],
                *[[f"{title}, after all imports", f"{1e3 * seconds:.1f}"]
                  for title, seconds in peers.PREPARATION.items()], ],
        ), ]


if __name__ == "__main__":
    main()
