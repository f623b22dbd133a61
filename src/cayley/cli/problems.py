"""Everything that is wrong with the description of a mechanism, not only what stops its reader first.

If a file cannot be read, its parts are read alone: each in a document of its own, at its old line, with bare neighbours
to hold on to.
"""

from __future__ import annotations

import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

from cayley.errors import CayleyError, ModelError
from cayley.model.formats.endings import ENDINGS, ending_of
from cayley.model.formats.files import decoded, read_bytes
from cayley.model.formats.toml_format import load_toml
from cayley.model.formats.toml_section import document
from cayley.model.formats.urdf import load_urdf
from cayley.model.formats.xml_elements import Element, read_xml
from cayley.model.report import ModelWarning

MOST_PARTS = 300  # read alone: a file with thousands is not read thousands of times
NEIGHBOURS = {"bodies": (), "joints": ("parent", "child"), "frames": ("body",)}  # bodies that a table of TOML names

_TABLE = re.compile(r"\s*\[\[?\s*([\w-]+)\s*\]")
_NAME = re.compile(r"\s*(name|parent|child|body)\s*=")
_KIND = re.compile(r"\s*kind\s*=")
_LINE = re.compile(r"line (\d+)")


@dataclass(frozen=True)
class Problems:
    """What forbids the use of a file, what is doubtful, and in a line what was read; `all_found` unless a reader
    stopped early.
    """

    errors: list[str]
    warnings: list[str]
    summary: str = ""
    all_found: bool = True


def examine(path: Path) -> Problems:
    """Read a file as a mechanism, and list what is wrong and what is doubtful about it."""
    import cayley as cy
    try:
        if not ending_of(path):
            raise ModelError(f"{path} is no file: give one that ends in {', '.join(ENDINGS)}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)  # the report has them too
            made = cy.load(path)
    except CayleyError as error:
        return _all_errors(path, str(error))
    report = made.report()
    sizes = report.heading.rpartition(": ")[2].partition(", total mass")[0]
    return Problems([], [str(finding) for finding in report.warnings], f"{made.name}: {sizes}")


def _all_errors(path: Path, first: str) -> Problems:
    ending = path.suffix.lower()
    parts = _urdf_errors(path) if ending == ".urdf" else _toml_errors(path) if ending == ".toml" else iter(())
    found: list[str] = []
    more = False
    try:
        for errors in islice(parts, MOST_PARTS):
            found += errors
        more = next(parts, None) is not None
    except CayleyError:  # not even XML or TOML
        found = []
    every = dict.fromkeys([*found, first])
    all_found = not more and (first in found or not path.is_file() or ending not in ENDINGS)
    return Problems(sorted(every, key=_line), [], all_found=all_found)


def _line(error: str) -> int:
    found = _LINE.search(error)
    return int(found.group(1)) if found else 0


def _error(read: Callable[[Any], Any], text: str) -> list[str]:
    """What a reader says of a text, if anything."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        try:
            read(text)
        except CayleyError as error:
            return [str(error)]
    return []


# URDF


def _urdf_errors(path: Path) -> Iterator[list[str]]:
    """Of who names whom, and of the links and joints one by one."""
    robot = read_xml(path)
    links = robot.all("link")
    joints = robot.all("joint")
    named = [*map(_bare, links), *map(_only_ends, joints)]
    for parts in chain([named], ([link] for link in links), ([*_ends(joint), joint] for joint in joints)):
        errors = _error(load_urdf, _document(robot, parts))
        yield [error.replace("text, line", f"{robot.file}, line", 1) for error in errors]


def _bare(link: Element) -> Element:
    return replace(link, attributes={key: link.attributes[key]
                                     for key in link.attributes if key == "name"}, children=[])


def _only_ends(joint: Element) -> Element:
    ends = [child for child in joint.children if child.tag in ("parent", "child")]
    return replace(joint, attributes={**joint.attributes, "type": "fixed"}, children=ends)


def _ends(joint: Element) -> list[Element]:
    names = dict.fromkeys(end.attributes.get("link", "") for end in joint.children if end.tag in ("parent", "child"))
    return [replace(joint, tag="link", attributes={"name": name}, children=[]) for name in names if name.strip()]


def _document(robot: Element, parts: Sequence[Element]) -> str:
    """The text of a robot of these parts, each in its own line."""
    lines: list[str] = []
    pending: list[Element | str] = [replace(robot, children=sorted(parts, key=lambda part: part.line))]
    while pending:
        element = pending.pop()
        if isinstance(element, str):
            lines[-1] += element
            continue
        lines += [""] * (element.line - len(lines))
        attributes = "".join(f" {key}={quoteattr(value)}" for key, value in element.attributes.items())
        lines[-1] += f"<{element.tag}{attributes}>"
        pending += [f"</{element.tag}>", *reversed(element.children)]
    return "\n".join(lines)


# TOML


class Block(NamedTuple):
    """A table [[kind]] of a text, the number of its kind counted from 0, its first line and the line after its last."""

    kind: str
    number: int
    first: int
    last: int


def _toml_errors(path: Path) -> Iterator[list[str]]:
    """Of what stands above the tables, of who names whom, and of the tables of bodies, joints and frames one by one.
    Joints that follow others, loops and tables [dh] are left to the reading of the whole."""
    data = document(path).data
    lines = decoded(str(path), read_bytes(path)).split("\n")
    blocks = list(_blocks(lines))
    parts = [block for block in blocks if block.kind in NEIGHBOURS]
    if not parts or "dh" in data or blocks[0].first == 0 or not all(_is_table(data, block) for block in parts):
        return
    name = f"name = {json.dumps(str(data.get('name', 'mechanism')))}"
    above = _kept(lines, lambda k: k < blocks[0].first) + "\n" + _bare_bodies(["root"])
    yield _placed(path, above)
    inside = {k for block in parts for k in range(block.first, block.last)}
    yield _placed(path, name + _kept(lines, lambda k: k in inside, _naming))
    for block in parts:
        table = data[block.kind][block.number]
        if "mimic" not in table:
            names = [table[key] for key in NEIGHBOURS[block.kind] if isinstance(table.get(key), str)]
            alone = "\n" * block.first + "\n".join(lines[block.first:block.last])
            errors = _placed(path, f"{name}{alone}\n{_bare_bodies(names)}")
            yield [error.replace(f"{block.kind}[1]", f"{block.kind}[{block.number + 1}]", 1) for error in errors]


def _is_table(data: dict[str, Any], block: Block) -> bool:
    """Whether what looks like a table in the text is one: it may stand in a text of several lines."""
    tables = data.get(block.kind)
    return isinstance(tables, list) and len(tables) > block.number and isinstance(tables[block.number], dict)


def _placed(path: Path, text: str) -> list[str]:
    return [error.replace("the TOML text", str(path), 1) for error in _error(load_toml, text)]


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    """The tables of a text; what belongs to a table of a list, as [joints.limits], is one block with it."""
    starts = [(match.group(1), k) for k, line in enumerate(lines) if (match := _TABLE.match(line))]
    ends = [k for _, k in starts[1:]] + [len(lines)] * bool(starts)
    seen: Counter[str] = Counter()
    for (kind, first), last in zip(starts, ends, strict=True):
        yield Block(kind, seen[kind], first, last)
        seen[kind] += 1


def _kept(lines: Sequence[str], wanted: Callable[[int], bool], change: Callable[[str], str] = str) -> str:
    """The text with all other lines empty; the numbers of the lines are as they were."""
    return "\n".join(change(line) if wanted(k) else "" for k, line in enumerate(lines))


def _naming(line: str) -> str:
    """Of a table, what names it and its neighbours; all joints are fixed ones."""
    if _KIND.match(line):
        return 'kind = "fixed"'
    return line if _TABLE.match(line) or _NAME.match(line) else ""


def _bare_bodies(names: Sequence[str]) -> str:
    return "\n".join(f"[[bodies]]\nname = {json.dumps(name)}" for name in dict.fromkeys(names))
