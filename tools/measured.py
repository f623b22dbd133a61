"""Figures of benchmarks/README.md, for the front page, its picture and the paper."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PEERS = {  # what a contestant in a batch is called on the front page, and how its title in the report begins
    "Pinocchio + CppADCodeGen": "Pinocchio, C of CppADCodeGen", "CasADi, generated C": "CasADi",
    "Pinocchio in C++": r"Pinocchio in C\+\+", "Pinocchio": "Pinocchio, (?!C of)", "Drake": "Drake",
    "frax (JAX)": "frax", "adam (JAX)": "adam", "MuJoCo": "MuJoCo"}


def nanoseconds(robot: str) -> dict[str, dict[str, float]]:
    """Nanoseconds a state: of each function of a robot ("Panda") and each contestant, by their titles."""
    page = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    found: dict[str, dict[str, float]] = {}
    for table in re.findall(rf"^### {robot}\b.*\n\n((?:\|.*\n)+)", page, re.MULTILINE):
        (_, *functions), _, *rows = ([cell.strip() for cell in row[1:-1].split("|")] for row in table.splitlines())
        for title, *cells in rows:
            for function, cell in zip(functions, cells, strict=True):
                if cell[:1].isdigit():
                    found.setdefault(function, {})[title] = float(cell.split()[0])
    return found


def in_a_batch(robot: str, function: str) -> dict[str, float]:
    """Nanoseconds a state of Cayley and of the peers that have the function, by their names on the front page."""
    times = nanoseconds(robot)[function]
    found = {"Cayley": times["Cayley, batch"]}
    for name, begins in PEERS.items():
        theirs = [ns for title, ns in times.items() if re.match(begins, title) and "one call" not in title]
        if theirs:
            found[name] = min(theirs)
    return found


def one_call(robot: str, function: str) -> dict[str, float]:
    """Nanoseconds of one call from Python, of Cayley and of Pinocchio."""
    called = {title.split(",")[0]: ns for title, ns in nanoseconds(robot)[function].items() if "one call" in title}
    return {name: called[name] for name in ("Cayley", "Pinocchio")}
