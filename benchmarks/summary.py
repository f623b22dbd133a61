"""The summary at the top of the page: one line of `LINES` for each row, whose figures are read from the sections."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tables import Table

HEADINGS = ["machine", "task", "Cayley", "fastest peer", "its time", "times faster", "all peers, times", "contacts"]
Read = Callable[[str], dict[str, Table]]


@dataclass(frozen=True)
class Line:
    """A row of the summary: Cayley's row of a table and those of its peers, by patterns that whole titles match."""

    machine: str
    task: str
    script: str
    table: str  # a pattern that the title of the table begins with
    own: str
    peers: str
    column: str = ""  # the heading; else the first column with figures
    case: str = ""  # of a table whose first column says the case and whose second the contestant
    across: bool = False  # the contestants are the headings of the case's row
    unit: str = "ns"
    contacts: str = "-"

    def row(self, read: Read) -> list[str] | None:
        """The cells, or nothing where the page has no such figures yet."""
        table = next((t for title, t in read(self.script).items() if re.match(self.table, title)), None)
        if table is None:
            return None
        figures = {title: float(found[0]) for title, cell in self.cells(table)
                   if (found := re.match(r"[\d.]+", cell.replace(",", "")))}
        own = next((value for title, value in figures.items() if re.fullmatch(self.own, title)), None)
        peers = {title: value for title, value in figures.items() if re.fullmatch(self.peers, title)}
        if own is None:
            return None
        if not peers:
            return [self.machine, self.task, f"{own:g} {self.unit}", "", "", "", "", self.contacts]
        fastest = min(peers, key=lambda title: peers[title])
        ratios = sorted(value / own for value in peers.values())
        span = times(ratios[0]) if len(ratios) == 1 else f"{times(ratios[0])} to {times(ratios[-1])}"
        return [self.machine, self.task, f"{own:g} {self.unit}", fastest, f"{peers[fastest]:g} {self.unit}",
                times(ratios[0]), span, self.contacts]

    def cells(self, table: Table) -> Iterator[tuple[str, str]]:
        """The titles of contestants and what stands beside them."""
        if self.across:
            for row in table.rows:
                if row[0] == self.case:
                    yield from zip(table.headings[1:], row[1:], strict=True)
            return
        name = 1 if self.case else 0
        place = list(table.headings).index(self.column) if self.column else name + 1
        for row in table.rows:
            if not self.case or row[0] == self.case:
                yield row[name], row[place]


def times(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"


ANY = r"(?!Cayley).*(?<!one call)"
CALLED = r"(?!Cayley).*one call"
FUNCTIONS = {
    "inverse dynamics": "inverse dynamics", "forward dynamics": "forward dynamics", "mass matrix": "inertia matrix",
    "derivatives of inverse dynamics": "derivatives of inverse dynamics",
    "derivatives of forward dynamics": "derivatives of forward dynamics"}
FLOATING = {"quadruped (ANYmal)": "ANYmal", "humanoid (Talos, 44 joints)": "Talos"}
LINES = (
    *(Line("Panda", f"{task}, a batch", "dynamics", "Panda", "Cayley, batch", ANY, column)
      for task, column in FUNCTIONS.items()),
    Line("Panda", "pose of the tool, a batch", "kinematics", "A batch", "Cayley, poses.*", "(?!Cayley).*pose.*"),
    Line("Panda", "Jacobian, a batch", "kinematics", "A batch", "Cayley, Jacobians.*", "(?!Cayley).*[Jj]acobian.*"),
    Line("Panda", "inverse kinematics to 1e-10, a batch", "inverse_kinematics", "Microseconds", "Cayley, as a batch",
         "`ik_LM`, to 1e-10", case="Panda", across=True, unit="us"),
    Line("Panda", "inverse kinematics to 1e-10, one pose", "inverse_kinematics", "Beside mink", "Cayley, one pose",
         "mink.*to 1e-10.*", unit="us"),
    Line("Panda", "a knot of optimal control, a batch", "optimal_control", "A knot", "Cayley, batch", ANY),
    Line("Panda", "a step of a rollout, RK4", "simulation", "All", "Cayley, rk4", "MuJoCo.*RK4.*", case="panda",
         contacts="no"),
    Line("Panda", "a step under computed torque", "control", "All", "Cayley, .*", "MuJoCo.*",
         case="closed loop, a step", contacts="no"),
    Line("Panda", "a hand within limits, one call", "whole_body", "All", "Cayley, one call from Python",
         "mink, one call", case="a hand within limits", unit="us"),
    *(Line("Panda", f"{task}, one call", "dynamics", "Panda", "Cayley, one call", CALLED, column)
      for task, column in FUNCTIONS.items()),
    *(Line("PUMA 560", f"{task}, a batch", "dynamics", "PUMA", "Cayley, batch", ANY, task)
      for task in ("inverse dynamics", "forward dynamics")),
    *(Line(machine, f"{task}, a batch", "dynamics", name, "Cayley, batch", ANY, task)
      for machine, name in FLOATING.items() for task in ("inverse dynamics", "forward dynamics")),
    Line("quadruped (Solo)", "a step of a rollout, Euler", "simulation", "All", "Cayley, semi-implicit-euler",
         "(?!Cayley).*Euler.*", case="solo12", contacts="no"),
    *(Line(machine.split(",")[0], "accelerations, a batch", "closed_loops", "All", "Cayley, accelerations of a batch",
           ".*(Python loop|alone, of).*", case=machine) for machine in ("four-bar", "Stewart platform")),
    Line("Stewart platform", "accelerations, one call", "closed_loops", "All", "Cayley, one call",
         "(?!Cayley).*one call.*", case="Stewart platform"),
    Line("7R, general inertias", "inverse dynamics, a batch", "inverse_dynamics", "A batch", "Cayley, one thread",
         "(?!Cayley).*"),
    Line("7R, general inertias", "compilation, to the first torques", "inverse_dynamics", "A fresh process",
         r"compiled \(empty cache\), after all imports", "(CasADi|JAX).*", unit="ms"),
)


def summary(read: Read) -> Table:
    """The rows whose figures the page has."""
    return Table("Summary", HEADINGS, [row for line in LINES if (row := line.row(read))], left=2)
