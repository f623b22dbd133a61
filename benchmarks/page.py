"""The page of the benchmarks, benchmarks/README.md: a section for each script, and the summary that is made from them.

A new benchmark is a script that ends in `write(...)` and one line in `SECTIONS`; its heading and markers are entered at
its first run, below the section before it. A row of the summary is one line of `summary.LINES`.
"""

from __future__ import annotations

import datetime
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.console import Console

import timing
from summary import summary
from tables import COMPILER_FLAGS, Table

SECTIONS = {  # scripts in the order of the page and of `make bench`, and their headings
    "dynamics": "Dynamics",
    "kinematics": "Kinematics",
    "inverse_kinematics": "Inverse kinematics",
    "inverse_dynamics": "Inverse dynamics of a general arm",
    "optimal_control": "Optimal control",
    "simulation": "Simulation",
    "contacts": "Contacts",
    "gradients": "Gradients through rollouts",
    "control": "Computed torque",
    "whole_body": "Whole-body control",
    "closed_loops": "Closed loops",
    "rolling": "Wheels",
    "networks": "Networks",
    "planning": "Motions",
    "rotations": "Rotations",
    "elastic": "Elastic drives",
    "elastic_control": "Feedback linearisation of elastic arms",
    "stiff_springs": "Stiff springs",
}
PAGE = Path(os.environ.get("CAYLEY_BENCHMARKS_PAGE") or Path(__file__).with_name("README.md"))
PEERS = ("casadi", "daqp", "jax", "mink", "mujoco", "pinocchio", "piqp", "placo", "proxsuite", "roboticstoolbox",
         "ruckig", "scipy", "sympy", "toppra", "tsid")
PACKAGES = {"pinocchio": "pin", "roboticstoolbox": "roboticstoolbox-python"}  # where a module has another name
BEGUN = time.perf_counter()

def summarise() -> None:
    """Renew the summary at the top from what the sections say."""
    replace("summary", [summary(tables_of).rows_in_markdown()])


def write(script: str, tables: Sequence[Table], *, rounds: int, others: float | None, missing: Iterable[str] = (),
          versions: Iterable[str] = (), whole: bool = True) -> None:
    """Print the tables of a script (its `__file__`); if the `whole` was measured, write its section and the summary.

    `others` are the cores that other programs used meanwhile, `missing` says why peers are not there, and `versions`
    names packages besides those that this process has imported.
    """
    name, console = Path(script).stem, Console()
    for table in tables:
        console.print(table.in_terminal())
    closing = circumstances(name, rounds, others, versions)
    console.print(closing, soft_wrap=True, highlight=False)
    if not whole:
        console.print("Only a part was measured: nothing was written.", style="yellow")
        return
    parts = [*(table.markdown() for table in tables)]
    absent = sorted(set(missing))
    if absent:
        parts.append("\n".join(f"- skipped: {' '.join(reason.split())}" for reason in absent))
    replace(name, [*parts, closing])
    summarise()
    console.print(f"written: {PAGE.name}")


def circumstances(name: str, rounds: int, others: float | None, more: Iterable[str] = ()) -> str:
    """The last lines of a section: what agreed, and the command, machine, date, commit and versions."""
    command = " ".join([f"python benchmarks/{name}.py", *sys.argv[1:]])
    packages = ["cayley", "numpy", "llvmlite", *(PACKAGES.get(p, p) for p in PEERS if p in sys.modules)]
    found = [f"Python {platform.python_version()}", *(f"{p} {v}" for p in packages if (v := _version(p))), *more,
             *_gcc()]
    cores = "an unknown number of" if others is None else f"{others:.1f}"
    took = time.perf_counter() - BEGUN
    said = (f"`{command}`, {datetime.date.today().isoformat()}, commit {commit()}, {took:.0f} s, on {cpu_name()}, "
            f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}; medians of {rounds} interleaved "
            f"rounds, other programs used {cores} cores meanwhile; {', '.join(dict.fromkeys(found))}.")
    agreed = timing.agreements()
    return f"Agreed before anything was timed: {agreed}.\n\n{said}" if agreed else said


def commit() -> str:
    """The commit of the tree, with a `+` where its sources have been changed."""
    def git(*words: str) -> str:
        return subprocess.run(["git", *words], capture_output=True, text=True, cwd=Path(__file__).parent).stdout.strip()

    changed = "+" if git("status", "--porcelain", "../src") else ""
    return (git("rev-parse", "--short=8", "HEAD") or "unknown") + changed


def cpu_name() -> str:
    information = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*:\s*(.+)$", information.read_text(),
                      re.MULTILINE) if information.exists() else None
    return found[1] if found else platform.processor() or platform.machine()


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
    return [f"gcc {found.stdout.strip()} {' '.join(COMPILER_FLAGS)}"]


# The file


def markers(name: str) -> tuple[str, str]:
    return f"<!-- {name}: begin (written by make bench) -->", f"<!-- {name}: end -->"


def section(name: str) -> str:
    """What stands between the markers of a section; nothing where it has none."""
    begin, end = markers(name)
    _, _, rest = PAGE.read_text().partition(begin)
    return rest.partition(end)[0].strip()


def replace(name: str, parts: Sequence[str]) -> None:
    """Replace what stands between the markers of a section, which is entered below its neighbour if it is new."""
    text = PAGE.read_text()
    begin, end = markers(name)
    if begin not in text:
        before = list(SECTIONS)[:list(SECTIONS).index(name)]
        neighbour = next((markers(other)[1] for other in reversed(before) if markers(other)[1] in text), None)
        place = text.index(neighbour) + len(neighbour) if neighbour else len(text.rstrip())
        text = f"{text[:place]}\n\n## {SECTIONS[name]}\n\n{begin}\n{end}\n{text[place:]}"
    above, _, rest = text.partition(begin)
    _, found, below = rest.partition(end)
    if not found:
        raise SystemExit(f"{PAGE.name} has lost the marker {end!r}; nothing was written")
    PAGE.write_text("\n\n".join([above + begin, *parts, end + below]))


def tables_of(name: str) -> dict[str, Table]:
    """The tables of a section by their titles, read from the page."""
    found = {}
    for part in re.split(r"^### ", section(name), flags=re.MULTILINE)[1:]:
        title, _, rest = part.partition("\n")
        rows = [[cell.strip() for cell in line.strip().strip("|").split(" | ")] if line.count("|") > 2 else [line]
                for line in rest.splitlines() if line.startswith("|")]
        if rows:
            found[title.strip()] = Table(title.strip(), rows[0], rows[2:])
    return found
