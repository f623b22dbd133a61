"""Which capabilities of docs/capabilities.tsv are proved by a passing test. `make spec`.

Runs the tests marked `@pytest.mark.spec("S1-39", ...)` and no others. A capability is proved when at least one test
that claims it passed and none failed. Ends with status 1 when a claim failed or names an unknown capability.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
CAPABILITIES = ROOT / "docs" / "capabilities.tsv"
DOCUMENTS = {
    "S0": "Mladenova: vector-parameter, multibody systems",
    "S1": "Balafoutis and Patel: Cartesian tensors, dynamics",
    "S2": "Ruggiu: kinematics and dynamics of mechanisms",
    "S3": "Yamamoto: robot kinematics, dynamics, control",
    "S4": "Tokad: network model of multibody systems",
}


class Claims:
    """A pytest plugin that collects, for every claimed capability, the outcomes of the tests that claim it."""

    def __init__(self) -> None:
        self.outcomes: dict[str, Counter[str]] = defaultdict(Counter)

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":  # set-up and tear-down speak only when they go wrong
            for name, numbers in report.user_properties:
                for number in numbers if name == "spec" else ():
                    self.outcomes[number][report.outcome] += 1

    def proved(self, number: str) -> bool:
        outcomes = self.outcomes.get(number, Counter())
        return outcomes["passed"] > 0 and outcomes["failed"] == 0


def main() -> int:
    capabilities = [line.split("\t")[0] for line in CAPABILITIES.read_text().splitlines() if line.strip()]
    claims = Claims()
    marked = [str(ROOT / "tests"), "-m", "spec"]
    status = pytest.main([*marked, "-n", "2", "-q", "--continue-on-collection-errors"], plugins=[claims])

    console = Console()
    console.print(coverage(capabilities, claims))
    for document in DOCUMENTS:
        unproved = [c for c in of_document(document, capabilities) if not claims.proved(c)]
        if unproved:
            console.print(f"no passing test: {', '.join(ranges(unproved, capabilities))}", highlight=False)
    failed = sorted(number for number, outcomes in claims.outcomes.items() if outcomes["failed"])
    unknown = sorted(set(claims.outcomes) - set(capabilities))
    if failed:
        console.print(f"claimed by a failing test: {', '.join(failed)}", style="red", highlight=False)
    if unknown:
        console.print(f"not in {CAPABILITIES.relative_to(ROOT)}: {', '.join(unknown)}", style="red", highlight=False)
    ran = status in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    return 1 if failed or unknown or not ran else 0


def coverage(capabilities: list[str], claims: Claims) -> Table:
    table = Table("", "document", title="Capabilities proved by a passing test", title_justify="left", show_footer=True)
    columns = {"claimed": claims.outcomes.__contains__, "proved": claims.proved, "of": lambda _: True}
    for heading, holds in columns.items():
        table.add_column(heading, str(sum(map(holds, capabilities))), justify="right")
    for document, title in DOCUMENTS.items():
        members = of_document(document, capabilities)
        table.add_row(document, title, *[str(sum(map(holds, members))) for holds in columns.values()])
    return table


def of_document(document: str, capabilities: Iterable[str]) -> list[str]:
    return [c for c in capabilities if c.startswith(f"{document}-")]


def ranges(numbers: list[str], order: list[str]) -> list[str]:
    """Numbers that follow each other in `order`, written as one range."""
    runs: list[list[str]] = []
    for number in numbers:
        if runs and order.index(number) == order.index(runs[-1][-1]) + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return [run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]


if __name__ == "__main__":
    sys.exit(main())
