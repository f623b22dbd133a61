"""Inverse dynamics of a 7R arm with general inertias: Cayley beside its peers, in one run. `make bench`.

Prints the figures and writes them into benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import peers
from arm import arm_torques, random_states
from startup import startup_times
from timing import Contestant, OtherPrograms, check, race

REPORT = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- figures: begin (written by make bench) -->", "<!-- figures: end -->"
CHECKED_STATES = 500


@dataclass(frozen=True)
class Requirement:
    """A figure beside the bound that it must keep. `value` is None where a peer is missing."""

    title: str
    value: float | None
    bound: float
    unit: str  # "times" is a ratio, at least `bound`; a time must stay under it

    @property
    def is_ratio(self) -> bool:
        return self.unit == "times"

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "not measured"
        met = self.value >= self.bound if self.is_ratio else self.value < self.bound
        return "met" if met else "NOT MET"

    def row(self) -> list[str]:
        found = "-" if self.value is None else f"{self.value:.1f} {self.unit}"
        bound = f"at least {self.bound:g} times" if self.is_ratio else f"under {self.bound:g} {self.unit}"
        return [self.title, found, bound, self.verdict]


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
    for title, headings, rows in tables:
        console.print(terminal_table(title, headings, rows))
    command = " ".join(["python benchmarks/inverse_dynamics.py", *sys.argv[1:]])
    closing = circumstances(command, chosen.rounds, disturbance)
    write_report(REPORT, [*(markdown_table(*table) for table in tables), *missing_lines(missing), closing])
    if disturbance is not None and disturbance > 0.1:
        warning = (f"Other programs used {disturbance:.1f} cores meanwhile: do not judge two threads, nor JAX, by "
                   f"this run.")
        console.print(warning, style="yellow")
    console.print(f"written: {REPORT.relative_to(REPORT.parent.parent)}")


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
            count: int) -> list[tuple]:
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
        ("Required", ["figure", "measured", "required", ""], [r.row() for r in requirements]),
        (f"A batch of {count} states", ["", "ns a state", "times Cayley"], times("batch", single=False)),
        ("One call from Python", ["", "ns a call", "times Cayley"], times("call", single=True)),
        (
            "A fresh process, from the kernel object to the first torques",
            ["", "ms"],
            [
                ["compiled (empty cache), after all imports", f"{startup['cold']:.1f}"],
                ["loaded from the cache, after all imports", f"{startup['cached']:.1f}"],
                [
                    "loaded from the cache, with the imports that the first call makes",
                    f"{startup['cached with imports']:.1f}"],
                ["in none of these: import and initialisation of llvmlite", f"{startup['llvm']:.1f}"], ],
        ), ]


def terminal_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(title=title, title_justify="left")
    for position, heading in enumerate(headings):
        table.add_column(heading, justify="left" if position == 0 else "right")
    colours = {"met": "green", "NOT MET": "bold red", "not measured": "yellow"}
    for row in rows:
        table.add_row(*[cell.replace("`", "") for cell in row], style=colours.get(row[-1]))
    return table


def markdown_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---", *["---:"] * (len(headings) - 1)]
    return "\n".join([f"### {title}", "", *("| " + " | ".join(cells) + " |" for cells in (headings, rule, *rows))])


def missing_lines(missing: Sequence[str]) -> list[str]:
    return ["\n".join(f"- skipped: {reason}" for reason in missing)] if missing else []


def circumstances(command: str, rounds: int, disturbance: float | None) -> str:
    packages = ["cayley", "numpy", "llvmlite", "pin", "casadi", "jax"]
    versions = [f"Python {platform.python_version()}", *(f"{p} {v}" for p in packages if (v := _version(p))), *_gcc()]
    return (
        f"Measured {datetime.date.today().isoformat()} with `{command}` (`make bench`) on {_cpu_name()}, "
        f"{os.cpu_count()} cores, "
        f"{platform.system()} {platform.machine()}; {', '.join(versions)}. Medians of {rounds} interleaved rounds; "
        f"other programs used {'an unknown number of' if disturbance is None else f'{disturbance:.1f}'} cores "
        "meanwhile."
    )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _gcc() -> list[str]:
    try:
        found = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return [f"gcc {found.stdout.strip()} {' '.join(peers.COMPILER_FLAGS)}"]


def _cpu_name() -> str:
    information = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*:\s*(.+)$", information.read_text(),
                      re.MULTILINE) if information.exists() else None
    return found[1] if found else platform.processor() or platform.machine()


def write_report(path: Path, parts: Sequence[str], markers: tuple[str, str] = (BEGIN, END)) -> None:
    """Replace what stands between the two markers of the file."""
    before, begin, rest = path.read_text().partition(markers[0])
    _, end, after = rest.partition(markers[1])
    if not (begin and end):
        raise SystemExit(f"{path.name} has lost its markers {markers[0]!r} and {markers[1]!r}; nothing was written")
    path.write_text("\n\n".join([before + begin, *parts, end + after]))


if __name__ == "__main__":
    main()
