"""The documentation site: `python tools/docs.py [FOLDER]` builds it with MkDocs, offline, and fails at the first
warning.

This file is also the hook of MkDocs that mkdocs.yml names: which pages there are and how formulas are set. The pages of
the reference are written by reference.py. Formulas, $...$ and $$...$$ in the pages, become MathML, which browsers draw
themselves, with a font that comes with the site. A formula with \\tag{K-3} is numbered, and the target of links to
#eq-k-3. The pages use nothing from elsewhere, and their search works from the disk.
"""

from __future__ import annotations

import doctest
import gc
import html
import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from latex2mathml.converter import convert
from mkdocs.__main__ import cli
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import CombinedEvent, event_priority, get_plugin_logger
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from reference import pages, place

ROOT = Path(__file__).resolve().parents[1]
MATH_FONT = Path(
    find_spec("ziamath").origin).parent / "fonts" / "STIXTwoMath-Regular.ttf"  # type: ignore[union-attr, arg-type]

MATHML = "http://www.w3.org/1998/Math/MathML"
FETCHED = "https://unpkg.com/iframe-worker/shim"
SESSION = re.compile(r'<div class="highlight">(<pre><span></span><code><span class="gp">.*?</pre>)</div>', re.DOTALL)
DISPLAYED = re.compile(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', re.DOTALL)
INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
UNLINKED = re.compile(r"(<pre.*?</pre>|<a\b.*?</a>|<h\d.*?</h\d>)", re.DOTALL)
CODE = re.compile(r"<code>([a-zA-Z]\w*(?:\.\w+)+)(?:\([^<]*\))?</code>")
LONG = re.compile(
    r'(<td><a [^>]*><code>|<span class="md-ellipsis">\s*)((?:\w+[._])+\w+)(?=</code></a></td>|\s*</span>)')
COLOUR = re.compile(r"</?span\b[^>]*>")
LISTED = re.compile(r"^- \[([^\]]*)\]\((\S+\.md)\)", re.MULTILINE)

SEARCHED = {"start/words.md": 4.0, "reference/Mechanism": 3.0, "reference/cayley.": 3.0, "reference/arm.": 1.0,
            "reference/": 0.3, "": 1.0}  # what a search finds first
LOG = get_plugin_logger("reference")


# Pages


def on_config(config: MkDocsConfig) -> None:
    """The navigation, read from the lists in docs/README.md: a tab for each section, and one for the reference."""
    text = (Path(config.docs_dir) / "README.md").read_text(encoding="utf-8")
    sections = {part.split("\n")[0]: LISTED.findall(part) for part in text.split("\n## ")[1:]}
    reference = [{section: [{page.title.removeprefix("cayley."): page.path} for page in group]}
                 for section, group in groupby(pages(), lambda page: page.section)]
    config.nav = [{"Home": "README.md"},
                  *[{title: [{name: page} for name, page in listed]} for title, listed in sections.items() if listed],
                  {"Reference": reference}]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """What exists only in the site: the pages of the reference, and the font of the formulas."""
    for page in pages():
        files.append(File.generated(config, page.path, content=page.text))
    files.append(File.generated(config, "assets/STIXTwoMath-Regular.ttf", abs_src_path=str(MATH_FONT)))
    return files


# Markdown


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Examples with prompts are sessions, not programs. Who searches finds pages and what users call before the inside
    of packages, and nothing twice."""
    path = page.file.src_uri
    page.meta["search"] = {"boost": next(boost for begin, boost in SEARCHED.items() if path.startswith(begin))}
    return re.sub(r"^```python\n(?=>>>)", "```pycon\n", markdown, flags=re.MULTILINE)


def on_page_content(text: str, page: Page, **_: Any) -> str:
    """Formulas as MathML, numbered where they have a tag, and names of the reference as links."""
    text = SESSION.sub(
        lambda found: f'<div class="highlight" data-copy="{html.escape(pasted(found[1]))}">{found[1]}</div>', text)
    text = DISPLAYED.sub(lambda found: display(html.unescape(found[1]), page), text)
    text = INLINE.sub(lambda found: mathml(html.unescape(found[1])), text)
    parts = UNLINKED.split(text)
    text = "".join(part if k % 2 else CODE.sub(lambda found: link(found, page), part) for k, part in enumerate(parts))
    return f'<div class="reference">{text}</div>' if page.file.src_uri.startswith("reference/") else text


def link(found: re.Match[str], page: Page) -> str:
    """A name of the reference in a text, as a link to where it is described."""
    where = place(found[1])
    if where is None:
        LOG.warning("%s: `%s` does not exist", page.file.src_uri, found[1])
    if not where:
        return found[0]
    path, _, anchor = where.partition("#")
    target = get_relative_url(path.removesuffix(".md") + ".html", page.url) + (f"#{anchor}" if anchor else "")
    return f'<a class="name" href="{target}">{found[0]}</a>'


def pasted(session: str) -> str:
    """What the copy button copies of a session: the statements without their prompts, and no results. A function or a
    loop is followed by an empty line, which the interpreter waits for."""
    text = html.unescape(re.sub("<[^>]*>", "", session))
    statements = [example.source for example in doctest.DocTestParser().get_examples(text)]
    return "".join(f"{one}\n" if re.search(r"\n[ \t]+.*\n$", one) and one.rstrip()[-1] not in ")]}" else one
                   for one in statements)


def display(latex: str, page: Page) -> str:
    tag = re.search(r"\\tag\{([^}]*)\}", latex)
    untagged = re.sub(r"\\tag\{[^}]*\}", "", latex)
    formula = f'<span class="formula">{"<wbr>".join(pieces(mathml(untagged, display="block")))}</span>'
    if tag is None:
        return f'<div class="equation">{formula}</div>'
    name = f"eq-{tag[1].lower()}"
    if page.present_anchor_ids is not None:
        page.present_anchor_ids.add(name)
    return f'<div class="equation" id="{name}">{formula}<a class="number" href="#{name}">({tag[1]})</a></div>'


def pieces(formula: str) -> Iterator[str]:
    """The formula cut before its signs, so that a narrow screen can break it there."""
    ElementTree.register_namespace("", MATHML)
    whole = ElementTree.fromstring(formula)
    groups: list[list[ElementTree.Element]] = [[]]
    depth = 0
    for part in whole[0]:
        sign = (part.text or "").strip() if part.tag == f"{{{MATHML}}}mo" else ""
        if sign and sign in "=+-−≡≤" and not depth and groups[-1] and not groups[-1][-1].tag.endswith("}mo"):
            part.set("form", "infix")
            groups.append([])
        depth += (sign in ("(", "[", "{")) - (sign in (")", "]", "}"))
        groups[-1].append(part)
        if part.tag.endswith("}mspace"):
            groups.append([])
    for group in filter(None, groups):
        piece = ElementTree.Element(f"{{{MATHML}}}math", {"displaystyle": "true"})
        ElementTree.SubElement(piece, f"{{{MATHML}}}mrow").extend(group)
        yield ElementTree.tostring(piece, encoding="unicode").replace(f' xmlns="{MATHML}"', "")


def mathml(latex: str, *, display: str = "inline") -> str:
    """The formula, with dots and tildes as accents, not as superscripts above."""
    return convert(latex.strip(), display=display).replace("<mover>", '<mover accent="true">')


@event_priority(100)
def _without_colours(context: Any, page: Page, **_: Any) -> Any:
    """Searching reads the page faster without the colours of its examples."""
    page.meta["content"], page.content = page.content, COLOUR.sub("", page.content or "")
    return context


@event_priority(-100)
def _with_colours(context: Any, page: Page, **_: Any) -> Any:
    page.content = page.meta.pop("content")
    return context


on_page_context = CombinedEvent(_without_colours, _with_colours)


def on_post_page(text: str, page: Page, **_: Any) -> str:
    """The theme would fetch what lets its search work from the disk; the site has its own. Long names in indices and in
    the navigation are broken between their words."""
    text = LONG.sub(lambda found: found[1] + re.sub(r"([._])(?=\w)", r"\1<wbr>", found[2]), text)
    return text.replace(FETCHED, get_relative_url("assets/worker_in_frame.js", page.url))


def on_post_template(text: str, **_: Any) -> str:
    return text.replace(FETCHED, "/assets/worker_in_frame.js")


if __name__ == "__main__":
    folder = sys.argv[1:] or [str(ROOT / "build" / "site")]
    gc.disable()  # all modules and pages live until the end
    cli(["build", "--strict", "--config-file", str(ROOT / "mkdocs.yml"), "--site-dir", *folder])
