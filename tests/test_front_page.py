"""The front page: figures of README.md are those of benchmarks/README.md, its pictures and links are there."""

import importlib
import re
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def tools(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    return {name: importlib.import_module(name) for name in ("measured", "front_page")}


def test_its_figures_are_those_of_the_benchmarks(tools):
    assert tools["front_page"].with_figures(README) == README, "run `python tools/front_page.py`"


def test_figures_of_other_benchmarks_change_it(tools, monkeypatch, tmp_path):
    page = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    (tmp_path / "benchmarks").mkdir()
    slower = re.sub(r"(### Panda\b[^#]*?\| Cayley, batch \| )[\d.]+", r"\g<1>44.8", page)
    (tmp_path / "benchmarks" / "README.md").write_text(slower, encoding="utf-8")
    monkeypatch.setattr(tools["measured"], "ROOT", tmp_path)
    changed = tools["front_page"].with_figures(README)
    assert "# 100 000 states: 4.5 ms" in changed and "| inverse dynamics | 44.8 |" in changed
    assert tools["front_page"].with_figures(changed) == changed


@pytest.mark.parametrize("page", ["README.md", "docs/start/researcher.md"])
def test_every_figure_of_a_gpu_says_that_there_are_no_contacts(page):
    paragraphs = re.split(r"\n\s*\n", (ROOT / page).read_text(encoding="utf-8"))
    of_a_gpu = [text for text in paragraphs if re.search(r"\bH200\b", text)]
    assert of_a_gpu and all("without contacts" in text for text in of_a_gpu)


def test_figures_of_a_gpu_on_other_pages_say_whether_contacts_are_included():
    found = {}
    for page in (ROOT / "docs").rglob("*.md"):
        for paragraph in page.read_text(encoding="utf-8").split("\n\n"):
            if re.search(r"\bH200\b", paragraph) and page.name != "researcher.md":
                found[page.name] = re.search(r"\b(without|with) contacts\b", paragraph)
    assert found.keys() == {"contacts.md", "hopping.md", "reaching.md"}
    assert all(found.values())


def test_its_first_screen_has_one_command_to_install_and_says_what_is_not_there():
    first = README.partition("## ")[0]
    assert len(re.findall(r"^pip install ", first, re.MULTILINE)) == 1
    assert "no planning around obstacles" in first and "array([" in first and "100 000 states" in first


def test_its_links_lead_somewhere():
    for link in re.findall(r"\]\(([^)#]+)", README):
        assert link.startswith("https://") or (ROOT / link).exists(), link


def test_its_picture_moves_and_is_small(tools):
    path = ROOT / "docs" / "pictures" / "front.webp"
    assert path.stat().st_size < 1_500_000
    with Image.open(path) as moving, Image.open(path.with_suffix(".png")) as still:
        assert moving.n_frames >= 20 and moving.size == still.size
