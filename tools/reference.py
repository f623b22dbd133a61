"""The reference of the site, as Markdown: a page for `cayley`, pages for the methods of a mechanism and for each of its
groups (`arm.loops`), and pages for each package, none of them longer than about 12 000 pixels.

Docstrings are read from the source, without importing it. A paragraph of two columns, names and their meanings with at
least two spaces between, becomes a table; the types and defaults are those of the signature:

    target       poses (..., 4, 4) in the root's frame
    tolerance    of the residual [m, rad], a second line of which
                 begins in the same column
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import griffe

from cayley.words import also_called

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "cayley"
FIRST = ("load", "catalogue", "kernel", "Kernel", "jacobian", "independent", "where", "Operations")
PARTS = {"Kinematics": "kinematics", "Dynamics": "dynamics", "MotionMethods": "simulation and control",
         "Output": "reports, pictures, files", "Changes": "changes", "Data": "data of the model"}
ELSEWHERE = ("__main__", "arm_control")  # modules that have pages of their own, or none
LONGEST = 8500  # pixels of a page, as `height` estimates them
WIDTH = 84  # letters of a signature
CITED = re.compile(r"\(([A-Z]-\d+)\)(-\([A-Z]-\d+\))?\s+of\s+docs/(developers/theory/\w+)\.md")
ENTRY = re.compile(r"(\S+(?: \S+)*) {2,}(?=\S)")
NAMES = re.compile(r"(?:[\w.\"'~^|+-]+(?:[ ,/]+[\w.\"'~^|+-]+)*)?")
MADE = re.compile(r"(forwarded|changed|Law|OfArm)\(")


# What there is


@cache
def package() -> griffe.Module:
    loaded = griffe.load("cayley", search_paths=[str(SOURCE.parent)], allow_inspection=False)
    assert isinstance(loaded, griffe.Module)
    return loaded


class Argument(NamedTuple):
    name: str
    type: str
    default: str
    kind: str

    def __str__(self) -> str:
        stars = {"variadic positional": "*", "variadic keyword": "**"}.get(self.kind, "")
        named = f"{stars}{self.name}" + (f": {self.type}" if self.type else "")
        return named + (f"{' = ' if self.type else '='}{self.default}" if self.default else "")


@dataclass
class Call:
    """How something is called."""

    name: str
    arguments: Sequence[Argument]
    returns: str = ""

    def __str__(self) -> str:
        parts: list[str] = []
        for before, argument in zip(["", *[one.kind for one in self.arguments]], self.arguments, strict=False):
            if before == "positional-only" != argument.kind:
                parts.append("/")
            if argument.kind == "keyword-only" and before not in ("keyword-only", "variadic positional"):
                parts.append("*")
            parts.append(str(argument))
        end = ")" + (f" -> {self.returns}" if self.returns else "")
        lines = [f"{self.name}("]
        for k, part in enumerate(parts):
            piece = part + (end if k == len(parts) - 1 else ", ")
            if len(lines[-1] + piece.rstrip()) > WIDTH and lines[-1].strip():
                lines.append(" " * min(len(self.name) + 1, 24))
            lines[-1] += piece
        return "\n".join(line.rstrip() for line in lines) + ("" if parts else end)


def call_of(function: griffe.Function, name: str) -> Call:
    """`@family("q") def pose(self, frame)` makes a kernel; what is called is pose(q, frame). So does
    `@one_kernel("q") def inertia_matrix(self)`; what is called is inertia_matrix(q)."""
    arguments = [Argument(one.name, str(one.annotation or ""), str(one.default or "") if one.kind not in
                          (griffe.ParameterKind.var_positional, griffe.ParameterKind.var_keyword) else "",
                          one.kind.value if one.kind else "") for one in function.parameters]
    if isinstance(function.parent, griffe.Class) and "staticmethod" not in function.labels:
        arguments = arguments[1:]
    made = [decorator.value for decorator in function.decorators
            if str(decorator.value).startswith(("family(", "one_kernel("))]
    if not made:
        return Call(name, arguments, str(function.returns or ""))
    assert isinstance(made[0], griffe.ExprCall)
    arrays = [str(one).strip("'\"") for one in made[0].arguments if not isinstance(one, griffe.ExprKeyword)]
    result = re.search(r"\[(\w+)\]$|returns='(\w+)'", f"{made[0]} {function.returns}".replace('"', "'"))
    given = [Argument(array, "ArrayLike", "", "positional or keyword") for array in arrays]
    return Call(name, [*given, *arguments], (result[1] or result[2]) if result else "np.ndarray")


def function_behind(attribute: griffe.Attribute) -> griffe.Function | None:
    """`close = forwarded(lambda: functions.close)` and `pd = Law(joint_pd)` are functions whose first argument is the
    tree."""
    made = MADE.match(str(attribute.value))
    if made is None:
        return None
    name = str(attribute.value)[made.end():-1].removeprefix("lambda: ")
    found = package()[f"mechanism.{name}"] if name.startswith("functions.") else attribute.module[name]
    target = found.final_target if found.is_alias else found
    assert isinstance(target, griffe.Function), attribute.path
    return target


def members(thing: griffe.Object, *, inherited: bool = False) -> Iterator[griffe.Object]:
    """The documented public members, as they stand in the source; re-exported names are shown where they are made."""
    for name, member in (thing.all_members if inherited else thing.members).items():
        if not name.startswith("_") and not isinstance(member, griffe.Module) and (inherited or not member.is_alias):
            whole = member.final_target if isinstance(member, griffe.Alias) else member
            if whole.docstring is not None or MADE.match(str(getattr(whole, "value", ""))):
                yield whole


# Text


def first_sentence(docstring: str) -> str:
    paragraph = " ".join(docstring.strip().split("\n\n")[0].split())
    paragraph = re.sub(r"^`[^`]*\)`: (\w)", lambda one: one[1].upper(), paragraph)  # how it is called stands below
    found = re.match(r".*?[.:](?= [A-Z`]|$)", paragraph)
    return (found[0] if found else paragraph).rstrip(":")


def cell(text: str) -> str:
    """A text in which signs of tables, tags and attributes are letters; between backquotes they are that already."""
    parts = text.split("`")
    for k in range(0, len(parts), 2):
        parts[k] = parts[k].replace("|", "&#124;").replace("<", "&lt;").replace("{", "&#123;")
    return "`".join(parts)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown, without the columns that have nothing in them."""
    listed = [[cell(entry) for entry in row] for row in rows]
    kept = [k for k in range(len(head)) if any(row[k] for row in listed)]
    lines = [[head[k] for k in kept], ["---"] * len(kept), *[[row[k] for k in kept] for row in listed]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def entries(paragraph: str) -> list[tuple[str, str]]:
    """The names and meanings of a paragraph of two columns, indented or not; nothing of any other."""
    lines = dedent(paragraph).strip("\n").split("\n")
    found = ENTRY.match(lines[0])
    if found is None or lines[0].startswith((">>>", "...", "- ", "|", "#", "```")):
        return []
    column = found.end()
    if any(line[column - 2:column].strip() or line[column:column + 1].strip() == "" for line in lines):
        return []
    if paragraph.startswith(" ") and (len(lines) < 2 or any(
            re.search(r"\S {3,}\S", line[column:]) or not NAMES.fullmatch(line[:column].strip()) for line in lines)):
        return []  # a formula, or several columns
    items: list[tuple[str, str]] = []
    for line in lines:
        name, meaning = line[:column].strip(), line[column:].strip()
        items = [*items, (name, meaning)] if name else [*items[:-1], (items[-1][0], f"{items[-1][1]} {meaning}")]
    return items


def tabulated(paragraph: str, known: dict[str, Argument]) -> str:
    """A paragraph of two columns as a table, with the types and defaults of the arguments that it names."""
    found = entries(paragraph)
    names = [re.split(r",\s*", name) for name, _ in found]
    if not found or (len(found) == 1 and not all(name in known for name in names[0])):
        return paragraph
    rows = []
    for several, (name, meaning) in zip(names, found, strict=True):
        own = [known[one] for one in several if one in known]
        code = name if "`" in name or " = " in name else ", ".join(f"`{one}`" for one in several)
        types, defaults = (", ".join(f"`{one}`" for one in dict.fromkeys(filter(None, column)))
                           for column in ([one.type for one in own], [one.default for one in own]))
        rows.append((code, types, defaults, meaning))
    return table(("Name", "Type", "Default", "Meaning"), rows)


def parted(paragraph: str) -> list[str]:
    """A paragraph cut where indented lines begin and end, unless all of it is in two columns."""
    if entries(paragraph) or ">>>" in paragraph or "```" in paragraph:
        return [paragraph]
    return ["\n".join(lines) for _, lines in groupby(paragraph.split("\n"), lambda line: line[:4] == "    ")]


def markdown(docstring: str, arguments: Iterable[Argument] = ()) -> str:
    """A docstring with doctests between fences, columns as tables, indented formulas with the empty lines around them
    that Markdown asks for, and numbers of equations as links."""
    known = {argument.name: argument for argument in arguments}
    paragraphs = [piece for paragraph in docstring.split("\n\n") for piece in parted(paragraph)]
    docstring = "\n\n".join(tabulated(paragraph, known) for paragraph in paragraphs)
    lines: list[str] = []
    inside = indented = False
    for line in docstring.split("\n"):
        if not inside and line.lstrip().startswith(">>>"):
            lines, inside = [*lines, "", "```pycon"], True
        elif inside and not line.strip():
            lines, inside = [*lines, "```"], False
        if not inside and line.startswith("    ") != indented and line.strip():
            lines, indented = [*lines, ""], not indented
        lines.append(line if inside or indented or line.startswith("|") else _without_tags(line))
    text = "\n".join([*lines, "```"] if inside else lines)
    return CITED.sub(lambda one: f"[({one[1]}){one[2] or ''}](../{one[3]}.md#eq-{one[1].lower()})", text)


def _without_tags(line: str) -> str:
    """The names of tags are words here, not tags; between backquotes Markdown knows that itself."""
    return "`".join(part if k % 2 else part.replace("<", "&lt;") for k, part in enumerate(line.split("`")))


def height(text: str) -> int:
    """About how many pixels a text of Markdown is high on a page 1400 pixels wide."""
    total, fenced = 0, False
    for line in text.split("\n"):
        if line.startswith("```"):
            fenced = not fenced
            total += 22
        elif fenced or line.startswith("    "):
            total += 19
        elif line.startswith("#"):
            total += 68
        elif line.startswith("|"):
            total += 18 + 18 * max(1, len(line) // 95)
        elif line.strip():
            total += 25 * (1 + len(line) // 150)
        else:
            total += 9
    return total


# Pieces of pages


@dataclass
class Piece:
    """A part of a page that is not divided: its name and anchor, its first sentence, its text, and what is in it."""

    name: str
    anchor: str
    about: str
    text: str
    inner: list[Piece] = field(default_factory=list)

    def everything(self) -> Iterator[Piece]:
        yield self
        for one in self.inner:
            yield from one.everything()

    @property
    def whole(self) -> str:
        return "\n\n".join([self.text, *[one.whole for one in self.inner]])


def heading(level: int, name: str, anchor: str) -> str:
    return f"{'#' * level} `{name}` {{#{anchor} .doc-heading}}"


def piece(thing: griffe.Object, level: int, *, name: str = "", anchor: str = "", room: str = "") -> Piece:
    """The piece of a function, a class with its methods, or an attribute."""
    anchor, shown = anchor or thing.path, name or thing.name
    docstring = thing.docstring.value if thing.docstring else ""
    arguments: Sequence[Argument] = ()
    inner: list[Piece] = []
    signature = ""
    if isinstance(thing, griffe.Function):
        call = call_of(thing, thing.name)
        overloads = [call_of(one, thing.name) for one in thing.overloads or ()]
        arguments, signature = call.arguments, "\n".join(map(str, overloads or [call]))
    elif isinstance(thing, griffe.Class):
        arguments, signature, docstring = of_class(thing, docstring)
        fields = [one for one in members(thing) if not is_shown(one)]
        if fields:
            rows = [(f"`{one.name}`", f"`{one.annotation}`" if one.annotation else "",
                     " ".join(one.docstring.value.split()))
                    for one in fields if isinstance(one, griffe.Attribute) and one.docstring]
            docstring += "\n\n" + table(("Attribute", "Type", "Meaning"), rows)
        inner = [piece(one, level + 1) for one in members(thing) if is_shown(one)]
    elif isinstance(thing, griffe.Attribute):
        function = function_behind(thing)
        if function:
            call = call_of(function, thing.name)
            arguments = call.arguments = call.arguments[1:]
            signature, docstring = str(call), function.docstring.value if function.docstring else ""
        else:
            of_type = f": {thing.annotation}" if thing.annotation else ""
            value = f" = {thing.value}" if thing.value is not None and len(str(thing.value)) < 60 else ""
            signature = f"{thing.name}{of_type}{value}"
    others = (also_called(thing.name) or also_called(f"{room}.{thing.name}")) if room else ()
    body = markdown(docstring, arguments) + (f"\n\nAlso called: {', '.join(others)}." if others else "")
    code = f"``` {{.python .signature}}\n{signature}\n```\n\n" if signature else ""
    text = f"{heading(level, shown, anchor)}\n\n{code}{body}"
    if len(inner) > 4:
        text += "\n\n" + index(inner)
    return Piece(shown, anchor, first_sentence(docstring), text, inner)


def is_shown(member: griffe.Object) -> bool:
    """Whether a member of a class has a heading of its own; fields stand in a table."""
    return (not isinstance(member, griffe.Attribute) or "property" in member.labels
            or MADE.match(str(member.value)) is not None)


def of_class(thing: griffe.Class, docstring: str) -> tuple[Sequence[Argument], str, str]:
    """The arguments and the signature of a class; of a named tuple, its fields."""
    bases = [str(base) for base in thing.bases]
    own = [Argument(one.name, str(one.annotation or ""), str(one.default or ""), one.kind.value if one.kind else "")
           for one in thing.parameters if one.name != "self"]
    if "NamedTuple" in bases:
        own = [Argument(one.name, str(one.annotation), str(one.value or ""), "positional or keyword")
               for one in thing.members.values() if isinstance(one, griffe.Attribute) and one.annotation
               and "property" not in one.labels]
    ancestors = [base for base in bases if not re.match(r"NamedTuple|Protocol|Generic|object|ABC", base)]
    above = f"\n\nA kind of {', '.join(f'`{base}`' for base in ancestors)}." if ancestors else ""
    return own, str(Call(thing.name, own)), docstring + above


def module_piece(module: griffe.Module, level: int = 2) -> Piece:
    docstring = module.docstring.value if module.docstring else ""
    inner = [piece(one, level + 1) for one in members(module)]
    text = f"{heading(level, module.path, module.path)}\n\n{markdown(docstring)}"
    return Piece(module.path, module.path, first_sentence(docstring), text, inner)


def index(pieces: Iterable[Piece], pages: dict[str, str] | None = None) -> str:
    """A table of names, linked, with their first sentences."""
    return table(("Name", "Meaning"), ((f"[`{one.name}`]({(pages or {}).get(one.anchor, '')}#{one.anchor})", one.about)
                                       for one in pieces))


# Pages


@dataclass
class ReferencePage:
    """A page: its file, its title, its text, and the names that it shows with their anchors."""

    path: str
    title: str
    text: str
    section: str
    places: dict[str, str]


def divided(pieces: Sequence[Piece], first: int) -> list[list[Piece]]:
    """The pieces on as many pages as they need, of which the first has room for so much less."""
    pages: list[list[Piece]] = [[]]
    left = LONGEST - first
    for one in pieces:
        tall = height(one.whole)
        if tall > left and (pages[-1] or len(pages) == 1):
            pages.append([])
            left = LONGEST
        pages[-1].append(one)
        left -= tall
    return pages


def numbered(stem: str, title: str, about: str, pieces: Sequence[Piece], section: str) -> Iterator[ReferencePage]:
    """A page, or as many as are needed; the first begins with an index."""
    pages = divided(pieces, height(about) + 40 * len(pieces) + 120)
    paths = [f"{stem}.md" if k == 0 else f"{stem}.{part[0].name.rpartition('.')[2]}.md" for k, part in enumerate(pages)]
    of = {one.anchor: path for path, part in zip(paths, pages, strict=True) for one in part}
    for k, (path, part) in enumerate(zip(paths, pages, strict=True)):
        names = [one.name.rpartition(".")[2] for one in part]
        shown = title if k == 0 else f"{title}: {names[0]}" + (f" to {names[-1]}" if len(names) > 1 else "")
        listed = pieces if k == 0 else part
        begin = f"{about}\n\n" if k == 0 else f"A part of [{title}]({paths[0]}).\n\n"
        table_of = index(listed, {a: p for a, p in of.items() if p != path}) if len(listed) > 1 else ""
        text = f"# {shown}\n\n{begin}{table_of}\n\n" + "\n\n".join(one.whole for one in part)
        places = {one.anchor: f"reference/{path}#{one.anchor}" for top in part for one in top.everything()}
        yield ReferencePage(f"reference/{path}", shown, text, section, places)


def public_names() -> Iterator[ReferencePage]:
    """The names of `cayley`, each once and the most used first."""
    public = [str(name) for name in package().exports or ()]
    names = [*FIRST, *sorted(name for name in public if name not in (*FIRST, "Mechanism", "__version__"))]
    pieces = []
    for name in names:
        member = package()[name]
        whole = member.final_target if member.is_alias else member
        if not isinstance(whole, griffe.Module) and whole.docstring:
            pieces.append(piece(whole, 2, name=f"cy.{name}", anchor=f"cayley.{name}"))
    about = markdown(package().docstring.value if package().docstring else "")
    about += ("\n\nRobots are [`Mechanism`](Mechanism.md) objects: that page lists their methods, with a page for each "
              "subject.")
    yield from numbered("cayley", "cayley", about, pieces, "cayley")


def mechanism_pages() -> Iterator[ReferencePage]:
    """The class, with a page of its methods for each subject, and one for each group."""
    mechanism = package()["mechanism.Mechanism"]
    parts: list[tuple[str, str, griffe.Class]] = [
        (f"Mechanism_{words.split(',')[0].replace(' ', '_')}", f"Mechanism: {words}", one)
        for name, words in PARTS.items() for one in mechanism.mro() if one.name == name]
    lists, pages = [], []
    own = [piece(one, 2, name=f"arm.{one.name}" if one.name not in ("of", "from_dh") else f"cy.Mechanism.{one.name}",
                 anchor=f"cayley.Mechanism.{one.name}", room="arm") for one in members(mechanism)]
    for stem, title, base in parts:
        pieces = [piece(one, 2, name=f"arm.{one.name}", anchor=f"cayley.Mechanism.{one.name}", room="arm")
                  for one in members(base)]
        found = list(numbered(stem, title, "", pieces, "Mechanism"))
        of = {anchor: place.split("#")[0].removeprefix("reference/") for page in found for anchor, place in
              page.places.items()}
        lists.append(f"## {title.removeprefix('Mechanism: ').capitalize()}\n\n{index(pieces, of)}")
        pages += found
    for room in ("control", *_rooms()):
        found = list(room_pages(room))
        pages += found
    head = f"# Mechanism: all methods\n\n<a id=\"cayley.Mechanism\"></a>\n\n{markdown(mechanism.docstring.value)}\n\n"
    groups = "\n".join(f"- [`arm.{room}`](arm.{room}.md)" for room in ("control", *_rooms()))
    text = head + "\n\n".join([f"## Construction\n\n{index(own)}", *lists, f"## Groups\n\n{groups}",
                               *[one.whole for one in own]])
    places = {"cayley.Mechanism": "reference/Mechanism.md", **{
        one.anchor: f"reference/Mechanism.md#{one.anchor}" for one in own}}
    yield ReferencePage("reference/Mechanism.md", "Mechanism: all methods", text, "Mechanism", places)
    yield from pages


def _rooms() -> list[str]:
    return [one.name for one in members(package()["mechanism.rooms.Rooms"])]


def room_pages(room: str) -> Iterator[ReferencePage]:
    where = "control.arm_control.ArmControl" if room == "control" else f"mechanism.{room}.{room.capitalize()}"
    thing = package()[where]
    pieces = [piece(one, 2, name=f"arm.{room}.{one.name}", anchor=f"arm.{room}.{one.name}", room=room)
              for one in members(thing) if is_shown(one)]
    for page in numbered(f"arm.{room}", f"arm.{room}", markdown(thing.docstring.value), pieces, "Mechanism"):
        page.places.update({thing.path: page.path, f"arm.{room}": f"reference/arm.{room}.md"})
        yield page


def package_pages() -> Iterator[ReferencePage]:
    """Every package but those of the mechanism, whose methods have pages of their own."""
    for folder in sorted(path for path in SOURCE.rglob("*") if (path / "__init__.py").exists()):
        names = folder.relative_to(SOURCE.parent).parts
        if names[1] in ("mechanism", "mechanisms"):
            continue
        thing = package()[".".join(names[1:])]
        modules = [one for name, one in sorted(thing.members.items())
                   if isinstance(one, griffe.Module) and one.docstring and name not in ELSEWHERE
                   and not one.is_init_module]
        name, pieces = ".".join(names), [module_piece(one) for one in modules]
        pieces = [one for one in pieces if one.about]
        about = markdown(thing.docstring.value) if thing.docstring else ""
        own = [piece(one, 2) for one in members(thing)]
        if about or pieces or own:
            for page in numbered("_".join(names), name, about, [*own, *pieces], ".".join(names[:2])):
                page.places.setdefault(name, f"reference/{'_'.join(names)}.md")
                yield page


def top_modules() -> Iterator[ReferencePage]:
    """Modules of `cayley` itself: errors, words and so on."""
    modules = [one for name, one in sorted(package().members.items()) if isinstance(one, griffe.Module)
               and one.docstring and not name.startswith("_") and not one.is_init_module]
    yield from numbered("cayley_modules", "cayley: other modules", "", [module_piece(one) for one in modules], "cayley")


@cache
def pages() -> list[ReferencePage]:
    found = [*public_names(), *top_modules(), *mechanism_pages(), *package_pages()]
    assert len({page.path for page in found}) == len(found)
    return found


@cache
def places() -> dict[str, str]:
    """Where each name is: `reference/page.md#anchor`."""
    return {name: place for page in reversed(pages()) for name, place in page.places.items()}


@cache
def place(name: str) -> str | None:
    """Where a dotted name is described, or what it is a part of; None if it begins with `cayley.` and does not exist,
    "" if another is none of ours. Names begin with cayley, cy, arm or Mechanism, or with a package."""
    if name == "cayley":
        return "reference/cayley.md"
    if name == "arm.tree":
        return places()["cayley.model.tree.Tree"]
    for begin, whole in (("cy.", "cayley."), ("arm.", "cayley.Mechanism."), ("Mechanism.", "cayley.Mechanism.")):
        if name.startswith(begin):
            return places().get(name) or places().get(name.replace(begin, whole, 1), "")
    if name.partition(".")[0] in package().members:
        return place(f"cayley.{name}") or ""
    if not name.startswith("cayley."):
        return ""
    if name in places():
        return places()[name]
    try:
        found = package()[name.removeprefix("cayley.")]
    except KeyError:
        return None
    real = found.final_target.path if found.is_alias else found.path
    return places().get(real) or place(real.rpartition(".")[0])  # a field has the place of its class
