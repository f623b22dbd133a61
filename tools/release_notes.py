"""The notes of a release: `python tools/release_notes.py 0.2.0` prints its section of CHANGELOG.md.

The number must be that of the package and of CITATION.cff, so that a tag that is too early stops here.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def notes(version: str) -> str:
    """What CHANGELOG.md says of a version."""
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", changes, flags=re.MULTILINE)
    found = [section for section in sections if section.startswith(f"[{version}] - ")]
    if not found:
        raise SystemExit(f"CHANGELOG.md has no section '## [{version}] - DATE'")
    return found[0].split("\n", 1)[1].strip()


def versions() -> dict[str, str]:
    """The version as each file says it."""
    said = {"src/cayley/__init__.py": r'^__version__ = "(.+)"$', "CITATION.cff": r"^version: (.+)$"}
    found = {file: re.search(line, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
             for file, line in said.items()}
    return {file: match[1] if match else "none" for file, match in found.items()}


if __name__ == "__main__":
    for file, said in versions().items():
        if said != sys.argv[1]:
            raise SystemExit(f"{file} says version {said}, not {sys.argv[1]}")
    print(notes(sys.argv[1]))
