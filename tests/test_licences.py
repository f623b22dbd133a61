"""Every file of the package that is no code of Python is listed in LICENSES.md, with its origin and licence."""

import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "cayley"
FILES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*")
               if path.is_file() and path.suffix not in (".py", ".pyi") and "__pycache__" not in path.parts)
ROWS = [(pattern, origin, licence)
        for files, origin, licence in re.findall(r"^\| (`.+) \| (.+) \| (.+) \|$",
                                                 (ROOT / "LICENSES.md").read_text(encoding="utf-8"), re.MULTILINE)
        for pattern in re.findall(r"`([^`]+)`", files)]


@pytest.mark.parametrize("file", FILES)
def test_every_data_file_has_an_origin_and_a_licence(file):
    found = [row for row in ROWS if fnmatch(file, row[0])]
    assert len(found) == 1, f"LICENSES.md must list {file} in one row, with its origin and licence; it is in {found}"


def test_every_row_is_about_a_file():
    assert not [pattern for pattern, *_ in ROWS if not any(fnmatch(file, pattern) for file in FILES)]


@pytest.mark.parametrize(("file", "origin", "licence"), [row for row in ROWS if row[0].endswith(".toml")])
def test_the_file_of_a_robot_says_the_same(file, origin, licence):
    """A licence that its `source` names is that of the list; own designs are those of the list."""
    if "*" in file:
        return
    source = tomllib.loads((PACKAGE / file).read_text(encoding="utf-8"))["source"]
    named = re.search(r"\(([^)]*(?:BSD|Apache)[^)]*)\)", source)
    assert named is None or named[1] == licence
    assert (origin == "Cayley's own") == source.startswith(("own design", "made for teaching"))
