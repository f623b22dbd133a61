"""The documentation site: `python tools/docs.py [FOLDER]` builds it with MkDocs, offline, and fails at the first
warning.

This file is also what MkDocs asks (mkdocs.yml names it): which pages there are, how formulas are set, and how
docstrings become pages. Formulas, $...$ and $$...$$ in the pages, become MathML, which browsers draw themselves, with a
font that comes with the site. A formula with \\tag{K-3} is numbered, and the target of links to #eq-k-3. The pages use
nothing from elsewhere, and their search works from the disk.
"""

from __future__ import annotations

import doctest
import gc
import html
import inspect
import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import griffe
from latex2mathml.converter import convert
from mkdocs.__main__ import cli
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from cayley.mechanism import functions
from cayley.words import also_called

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "cayley"
MATH_FONT = Path(
    find_spec("ziamath").origin).parent / "fonts" / "STIXTwoMath-Regular.ttf"  # type: ignore[union-attr, arg-type]

MATHML = "http://www.w3.org/1998/Math/MathML"
FETCHED = "https://unpkg.com/iframe-worker/shim"
SESSION = re.compile(r'<div class="highlight">(<pre><span></span><code><span class="gp">.*?</pre>)</div>', re.DOTALL)
DISPLAYED = re.compile(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', re.DOTALL)
INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
CITED = re.compile(r"\(([A-Z]-\d+)\)(-\([A-Z]-\d+\))?\s+of\s+docs/(developers/theory/\w+)\.md")
LISTED = re.compile(r"^- \[([^\]]*)\]\((\S+\.md)\)", re.MULTILINE)

UNSEARCHED = ("reference/cayley_mechanism.md", "reference/cayley_words.md")
SEARCHED = {"start/words.md": 4.0, "reference/cayley.md": 3.0, "reference/": 0.3, "": 1.0}  # what a search finds first
FIRST = ("load", "catalogue", "Mechanism", "kernel", "Kernel", "jacobian", "independent", "where", "Operations"
         )  # in the reference


# Pages


def on_config(config: MkDocsConfig) -> None:
    """The navigation, read from the lists in docs/README.md: a tab for each section."""
    text = (Path(config.docs_dir) / "README.md").read_text(encoding="utf-8")
    sections = {part.split("\n")[0]: LISTED.findall(part) for part in text.split("\n## ")[1:]}
    config.nav = [{"Home": "README.md"},
                  *[{title: [{name: page} for name, page in pages]} for title, pages in sections.items() if pages],
                  {"Reference": [page.path for page in reference_pages()]}]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """What exists only in the site: the pages of the reference, and the font of the formulas."""
    for page in reference_pages():
        files.append(File.generated(config, page.path, content=page.text))
    files.append(File.generated(config, "assets/STIXTwoMath-Regular.ttf", abs_src_path=str(MATH_FONT)))
    return files


class ReferencePage:
    """A package, with all of its modules on one page; of the whole package, what users import from it."""

    def __init__(self, folder: Path):
        relative = folder.relative_to(SOURCE.parent)
        self.name = ".".join(relative.parts)
        self.path = f"reference/{'_'.join(relative.parts)}.md"
        modules = [
            module for module in sorted(folder.glob("*.py")) if module.stem != "__main__" and _documented(module)]
        self.modules = len(modules)
        blocks = _public_names() if folder == SOURCE else [f"::: {self._dotted(module)}\n" for module in modules]
        self.text = f"# {self.name}\n\n" + "\n".join(blocks)

    def _dotted(self, module: Path) -> str:
        return self.name if module.stem == "__init__" else f"{self.name}.{module.stem}"


def _public_names() -> Iterator[str]:
    """The names of `cayley`, each once and the most used first; `Mechanism` with all that it inherits."""
    public = griffe.load("cayley", search_paths=[str(SOURCE.parent)], submodules=False).exports or []
    names = [name for name in map(str, public) if name not in FIRST]
    yield "::: cayley\n    options: {members: false}\n"
    for name in (*FIRST, *names):
        inherited = "\n    options: {inherited_members: true}\n" if name == "Mechanism" else "\n"
        yield f"::: cayley.{name}{inherited}"


def _documented(module: Path) -> bool:
    return module.read_text(encoding="utf-8").lstrip().startswith(('"""', 'r"""'))


def reference_pages() -> Iterator[ReferencePage]:
    for folder in [SOURCE, *sorted(path for path in SOURCE.rglob("*") if path.is_dir())]:
        if (folder / "__init__.py").exists():
            page = ReferencePage(folder)
            if page.modules:
                yield page


# Markdown


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Examples with prompts are sessions, not programs. Who searches finds pages and what users call before the inside
    of packages, and nothing twice."""
    place = page.file.src_uri
    page.meta["search"] = {"exclude": True} if place in UNSEARCHED else {
        "boost": next(boost for folder, boost in SEARCHED.items() if place.startswith(folder))}
    return re.sub(r"^```python\n(?=>>>)", "```pycon\n", markdown, flags=re.MULTILINE)


def on_page_content(text: str, page: Page, **_: Any) -> str:
    """Formulas as MathML, numbered where they have a tag."""
    text = SESSION.sub(
        lambda found: f'<div class="highlight" data-copy="{html.escape(pasted(found[1]))}">{found[1]}</div>', text)
    text = DISPLAYED.sub(lambda found: display(html.unescape(found[1]), page), text)
    return INLINE.sub(lambda found: mathml(html.unescape(found[1])), text)


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


def on_post_page(text: str, page: Page, **_: Any) -> str:
    """The theme would fetch what lets its search work from the disk; the site has its own."""
    return text.replace(FETCHED, get_relative_url("assets/worker_in_frame.js", page.url))


def on_post_template(text: str, **_: Any) -> str:
    return text.replace(FETCHED, "/assets/worker_in_frame.js")


# Docstrings


class Sessions(griffe.Extension):
    """Doctests in docstrings, which stand there as they are, fenced for Markdown, and the equations they cite as links;
    functions of frames with the arrays that they are called with."""

    def on_function_instance(self, *, func: griffe.Function, **_: Any) -> None:
        """`@family("q") def pose(self, frame)` makes a kernel; what is called is pose(q, frame). So does
        `@one_kernel("q") def inertia_matrix(self)`; what is called is inertia_matrix(q)."""
        made = [decorator.value for decorator in func.decorators
                if str(decorator.value).startswith(("family(", "one_kernel("))]
        if made:
            arrays = [str(name).strip("'\"") for name in made[0].arguments if not isinstance(name, griffe.ExprKeyword)]
            own, *choices = func.parameters
            parameters = [griffe.Parameter(name, annotation="ArrayLike", kind=own.kind) for name in arrays]
            func.parameters = griffe.Parameters(own, *parameters, *choices)
            result = re.search(r"\[(\w+)\]$|returns='(\w+)'", f"{made[0]} {func.returns}".replace('"', "'"))
            func.returns = (result[1] or result[2]) if result else "np.ndarray"

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """`close = forwarded(lambda: functions.close)` is the function of a tree, with its signature and docstring."""
        made = re.match(r"(?:forwarded|changed)\(lambda: functions\.(\w+)\)", str(attr.value))
        if made:
            function = getattr(functions, made[1])
            _, *own = inspect.signature(function).parameters.values()
            called = f"`{attr.name}{inspect.Signature(own)}`"
            attr.docstring = griffe.Docstring(f"{called}\n\n{inspect.getdoc(function)}", parent=attr)
            self.on_instance(obj=attr)  # griffe has called it before there was a docstring

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            room = obj.path.split(".")[2] if obj.path.startswith("cayley.mechanism.") else ""
            names = (also_called(obj.name) or also_called(f"{room}.{obj.name}")) if room else ()
            also = f"\n\nAlso called: {', '.join(names)}." if names else ""
            obj.docstring.value = linked(fenced(obj.docstring.value)) + also


def linked(docstring: str) -> str:
    """Numbers of equations with the page that has them become links."""
    return CITED.sub(lambda found: f"[({found[1]}){found[2] or ''}](../{found[3]}.md#eq-{found[1].lower()})", docstring)


def listed(paragraph: str) -> str:
    """A paragraph of two columns, names and their meanings, as a list of Markdown; any other as it is."""
    lines = paragraph.strip("\n").split("\n")
    found = re.match(r"(\S+(?: \S+)*) {2,}(?=\S)", lines[0])
    if found is None or lines[0].startswith((">>>", "...", "- ")) or len(lines) < 2:
        return paragraph
    column = found.end()
    if any(line[column - 2:column].strip() or line[column:column + 1].strip() == "" for line in lines):
        return paragraph
    items: list[str] = []
    for line in lines:
        name, meaning = line[:column].strip(), _without_tags(line[column:])
        if name:
            items.append(f"- {name if '`' in name else f'`{name}`'}: {meaning}")
        else:
            items[-1] += f" {meaning}"
    return "\n".join(items)


def fenced(docstring: str) -> str:
    """Doctests between fences, columns of arguments as lists, and indented formulas with the empty lines around them
    that Markdown asks for."""
    docstring = "\n\n".join(map(listed, docstring.split("\n\n")))
    lines: list[str] = []
    inside = indented = False
    for line in docstring.split("\n"):
        if not inside and line.lstrip().startswith(">>>"):
            lines, inside = [*lines, "", "```pycon"], True
        elif inside and not line.strip():
            lines, inside = [*lines, "```"], False
        if not inside and line.startswith("    ") != indented and line.strip():
            lines, indented = [*lines, ""], not indented
        lines.append(line if inside or indented else _without_tags(line))
    return "\n".join([*lines, "```"] if inside else lines)


def _without_tags(line: str) -> str:
    """The names of tags are words here, not tags; between backquotes Markdown knows that itself."""
    return "`".join(part if k % 2 else part.replace("<", "&lt;") for k, part in enumerate(line.split("`")))


if __name__ == "__main__":
    folder = sys.argv[1:] or [str(ROOT / "build" / "site")]
    gc.disable()  # all modules and pages live until the end
    cli(["build", "--strict", "--config-file", str(ROOT / "mkdocs.yml"), "--site-dir", *folder])
