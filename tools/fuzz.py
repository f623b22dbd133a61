"""Random functions, calls, files and mechanisms for as long as one likes, from a seed that is printed. `make fuzz`.

    python tools/fuzz.py                        # one minute, a fresh seed
    python tools/fuzz.py --minutes 60 --seed 7  # an hour, from seed 7 on
    python tools/fuzz.py random_mechanisms      # one kind alone

Each kind is a module of tests/fuzz with a function `check(seed)`; a failure is told with the seed that repeats it.
"""

from __future__ import annotations

import argparse
import importlib
import secrets
import sys
import time
import traceback
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

TESTS = Path(__file__).parents[1] / "tests"
KINDS = sorted(path.stem for path in (TESTS / "fuzz").glob("*.py") if not path.stem.startswith(("test_", "__")))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"some of {', '.join(KINDS)}; all if none is named")
    parser.add_argument("--seed", type=int, default=None, help="the first seed; a fresh one if none is given")
    parser.add_argument("--minutes", type=float, default=1.0)
    chosen = parser.parse_args()
    unknown = set(chosen.kinds) - set(KINDS)
    if unknown:
        parser.error(f"there is no kind {', '.join(sorted(unknown))}: there are {', '.join(KINDS)}")
    sys.path[0] = str(TESTS)  # in the place of this folder, in which `fuzz` is this file
    checks = {kind: importlib.import_module(f"fuzz.{kind}").check for kind in chosen.kinds or KINDS}
    first = secrets.randbelow(10**9) if chosen.seed is None else chosen.seed
    return run(checks, first, 60 * chosen.minutes)


def run(checks, first: int, seconds: float) -> int:
    console = Console()
    console.print(f"{', '.join(checks)}: seeds from {first} on, for {seconds / 60:.3g} minutes")
    failed = {kind: 0 for kind in checks}
    tried = dict.fromkeys(checks, 0)
    spent = dict.fromkeys(checks, 0.0)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as shown:
        task = shown.add_task("")
        while sum(spent.values()) < seconds:
            kind = min(spent, key=spent.__getitem__)  # each has its share of the time
            seed = first + tried[kind]
            shown.update(task, description=f"{kind} {seed}")
            start = time.perf_counter()
            try:
                checks[kind](seed)
            except Exception:
                failed[kind] += 1
                console.print(f"[red]{kind}.check({seed}) failed[/]")
                console.print(traceback.format_exc(limit=-3), markup=False, highlight=False)
            spent[kind] += time.perf_counter() - start
            tried[kind] += 1
    for kind in checks:
        console.print(f"{kind}: {tried[kind]} seeds from {first} on, {failed[kind]} failed")
    return 1 if any(failed.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
