"""Everything that is wrong with the description of a mechanism, not only what stops its reader first.

If a file cannot be read, its format reads its parts alone, where it can.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from cayley.cli.arguments import trusted
from cayley.errors import CayleyError, ModelError, ModelWarning
from cayley.model.formats import endings, format_of, format_of_ending

MOST_PARTS = 300  # read alone: a file with thousands is not read thousands of times

_LINE = re.compile(r"line (\d+)")


@dataclass(frozen=True)
class Problems:
    """What forbids the use of a file, what is doubtful, in a line what was read, and what is worth knowing of that;
    `all_found` unless a reader stopped early.
    """

    errors: list[str]
    warnings: list[str]
    summary: str = ""
    all_found: bool = True
    facts: tuple[str, ...] = ()


def examine(path: Path) -> Problems:
    """Read a file as a mechanism, and list what is wrong and what is doubtful about it."""
    import cayley as cy
    try:
        if format_of(path) is None:
            raise ModelError(f"{path} is no file: give one that ends in {', '.join(endings())}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)  # the report has them too
            made = cy.load(path, trust=trusted())
    except CayleyError as error:
        return _all_errors(path, str(error))
    report = made.summary()
    sizes = report.heading.rpartition(": ")[2].partition(", total mass")[0]
    return Problems([], [str(finding) for finding in report.warnings], f"{made.name}: {sizes}",
                    facts=tuple(map(str, report.facts)))


def _all_errors(path: Path, first: str) -> Problems:
    known = format_of_ending(path.suffix)
    parts = known.parts(path) if known else iter(())
    found: list[str] = []
    more = False
    try:
        for errors in islice(parts, MOST_PARTS):
            found += errors
        more = next(parts, None) is not None
    except CayleyError:  # its parts cannot be told apart
        found = []
    every = dict.fromkeys([*found, first])
    all_found = not more and (first in found or not path.is_file() or known is None)
    return Problems(sorted(every, key=_line), [], all_found=all_found)


def _line(error: str) -> int:
    found = _LINE.search(error)
    return int(found.group(1)) if found else 0
