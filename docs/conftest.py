"""Pictures of a page of the documentation are drawn when its test has made what they show: its lines run once."""

import dis
import re
import sys
from doctest import Example
from pathlib import Path

import pytest

DOCS = Path(__file__).parent


def pictures_of_pages():
    """For each page the pictures that are drawn of its names, and the name that is made last for them."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((DOCS / "pictures" / "drawings").glob("*.py"))]
    found = {}
    for text in "\n\n\n".join(texts).split("\n\n\n"):
        drawing = re.match(r"def (\w+)\(\) -> Any:", text)
        for page, until in re.findall(r'\bmade_by_page\("([^"]+)", "(\w+)"\)', text) if drawing else ():
            found.setdefault(DOCS / page, []).append((drawing[1], until))
    return found


def makes(example, name):
    code = compile(example.source, "page", "exec")
    return any(each.opname == "STORE_NAME" and each.argval == name for each in dis.get_instructions(code))


def pytest_collection_modifyitems(items):
    pictures = pictures_of_pages()
    for item in items:
        if isinstance(item, pytest.DoctestItem):
            page, examples = item.path, item.dtest.examples
            for picture, until in pictures.get(page, ()):
                place, = [k for k, example in enumerate(examples) if makes(example, until)][:1]
                named = page.relative_to(DOCS).as_posix(), picture
                examples.insert(place + 1, Example(f'getfixture("drawn_again")(*{named}, globals())\n', "",
                                                   lineno=examples[place].lineno))


@pytest.fixture
def drawn_again(tmp_path, monkeypatch):
    """A function that draws a picture of the names of a page."""
    monkeypatch.setattr(sys, "path", [str(DOCS / "pictures"), *sys.path])

    def draw(page, name, names):
        from drawings.pages import running
        from pictures import beside_kept
        with running(page, names):
            drawn, kept = beside_kept(name, tmp_path)
        assert drawn.shape == kept.shape and drawn.std() > 0.05, name

    return draw
