"""The page of the benchmarks, its summary and the program that runs them all; the figures are those of `make bench`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
BROKEN = "raise ValueError('the peer is not at home')\n"
FINE = """
import page
from tables import Requirement, Table, required
from timing import agree

agree("A peer, in C++", 3e-13, 1e-10)
page.write(__file__, [required([Requirement("one", 2.0, 3, "times", 4.0)]),
                      Table("A batch", ["", "ns"], [["Cayley, batch", "20.0"], ["Peer", "1,000 (50)"]])],
           rounds=2, others=0.0, missing=["Other: not to be had"])
"""
SUMMARY = """
SECTIONS = {"broken": "Broken", "fine": "Fine"}
import summary as of_the_page
of_the_page.LINES = (of_the_page.Line("Arm", "batch", "fine", "A batch", "Cayley, batch", "Peer", contacts="no"),)
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The benchmarks in a folder of their own."""
    return Path(shutil.copytree(BENCHMARKS, tmp_path / "benchmarks", ignore=shutil.ignore_patterns("__pycache__")))


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "CAYLEY_BENCHMARKS_PAGE"}
    return subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, env=environment)


def test_the_page_has_a_section_for_each_script_and_the_summary_of_its_own_figures(copy):
    told = run(copy, "-c", "import page; print(*page.SECTIONS); page.summarise()")
    assert told.returncode == 0, told.stderr
    sections = told.stdout.split()
    writing = {path.stem for path in BENCHMARKS.glob("*.py") if "page.write(" in path.read_text()}
    assert writing == set(sections)
    page = (BENCHMARKS / "README.md").read_text()
    assert [name for name in re.findall(r"<!-- (\w+): begin", page) if name in writing] == sections
    assert (copy / "README.md").read_text() == page
    assert page.count("| Panda |") > 10 and "| Stewart platform |" in page


def test_a_script_that_fails_does_not_stop_the_others_and_is_named_on_the_page(copy):
    (copy / "broken.py").write_text(BROKEN)
    (copy / "fine.py").write_text(FINE)
    program = copy / "page.py"
    program.write_text(program.read_text().replace("PAGE = ", f"{SUMMARY}PAGE = ", 1))
    done = run(copy, "run.py")
    assert done.returncode and "ValueError: the peer is not at home" in done.stderr
    page = (copy / "README.md").read_text()
    assert "- Broken, whose figures are of an earlier run: ValueError: the peer is not at home" in page
    assert "| Arm | batch | 20 ns | Peer | 1000 ns | 50 | 50 | no |" in page
    section = page.partition("## Fine")[2].partition("<!-- fine: end")[0]
    assert "| one | 2.0 to 4.0 times | at least 3 times | NOT MET |" in section
    assert "- skipped: Other: not to be had" in section
    assert "A peer to 3e-13 (1e-10 allowed)" in section
    assert "`python benchmarks/fine.py`" in section and "medians of 2" in section


def test_a_peer_that_disagrees_is_not_timed(copy):
    done = run(copy, "-c", "from timing import agree; agree('Peer', float('nan'), 1e-10)")
    assert "Disagreement: Peer: differs by nan, 1e-10 is allowed, and was not timed" in done.stderr


def test_chains_of_any_length_can_be_made(copy):
    made = "import dynamics; print([dynamics.chain(n).nv for n in (1, 2, 5, 10, 20, 50)])"
    done = run(copy, "-c", made)
    assert done.stdout.split("\n")[0] == "[1, 2, 5, 10, 20, 50]", done.stderr
