"""The paper: its figures are drawn again, its length is that of JOSS, what it cites is in its list, and its counts are
those of the compiled code."""

import importlib.util
import re
from pathlib import Path

import matplotlib.image
import pytest
import yaml

import cayley as cy
from cayley.dynamics.accounting import GENERAL, generic_arm

FOLDER = Path(__file__).parents[1] / "paper"
_, HEADER, TEXT = (FOLDER / "paper.md").read_text(encoding="utf-8").split("---\n", 2)


@pytest.fixture
def figures(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER.parent / "tools")
    spec = importlib.util.spec_from_file_location("figures_of_the_paper", FOLDER / "figures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_its_figures_are_drawn_again_and_shown(figures, tmp_path):
    for path in figures.draw(tmp_path):
        drawn, kept = (matplotlib.image.imread(folder / path.name)[..., :3] for folder in (tmp_path, FOLDER))
        assert drawn.shape == kept.shape and drawn.std() > 0.05
        assert f"({path.name})" in TEXT and f"\\autoref{{fig:{path.stem}}}" in TEXT


def test_its_figures_are_of_measured_times(figures):
    shown = {bar.get_width() for bar in figures.times().axes[0].patches}
    measured = figures.in_a_batch("Panda", "inverse dynamics")
    assert {measured["Cayley"], measured["Pinocchio"]} <= shown <= set(measured.values())


def test_it_has_the_form_of_joss():
    header = yaml.safe_load(HEADER)
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= header.keys()
    cited = yaml.safe_load((FOLDER.parent / "CITATION.cff").read_text(encoding="utf-8"))
    assert header["title"] == cited["title"]
    assert [author["name"] for author in header["authors"]] == [author["name"] for author in cited["authors"]]
    sections = re.findall(r"^# (.+)$", TEXT, re.MULTILINE)
    assert {"Summary", "Statement of need", "State of the field", "Software design", "Acknowledgements",
            "References"} <= set(sections)
    assert 750 <= len(TEXT.split()) <= 1750


def test_what_it_cites_is_in_its_list_and_the_reverse():
    listed = re.findall(r"^@\w+\{(\w+),$", (FOLDER / "paper.bib").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(listed) == len(set(listed)) and set(re.findall(r"@(\w+\d{4})\b", TEXT)) == set(listed)


def test_its_counts_are_those_of_the_compiled_code():
    general = cy.Mechanism(generic_arm(6 * [GENERAL])).inverse_dynamics.operations()
    puma = cy.load("puma560").inverse_dynamics.operations()
    said = " ".join(TEXT.split())
    assert f"takes {general.multiplications} and {general.additions}." in said
    assert f"it takes {puma.multiplications} and {puma.additions} " in said
