"""Errors in the tables of a TOML file: each table is read alone, at its old line, with bare neighbours."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cayley.model.formats.files import decoded, read_bytes
from cayley.model.formats.format import error_of
from cayley.model.formats.toml_format import load_toml
from cayley.model.formats.toml_section import document

NEIGHBOURS = {"bodies": (), "joints": ("parent", "child"), "frames": ("body",)}  # bodies that a table of TOML names

_TABLE = re.compile(r"\s*\[\[?\s*([\w-]+)\s*\]")
_NAME = re.compile(r"\s*(name|parent|child|body)\s*=")
_KIND = re.compile(r"\s*kind\s*=")


class Block(NamedTuple):
    """A table [[kind]] of a text, the number of its kind counted from 0, its first line and the line after its last."""

    kind: str
    number: int
    first: int
    last: int


def errors_of_parts(path: Path) -> Iterator[list[str]]:
    """Of what stands above the tables, of who names whom, and of the tables of bodies, joints and frames one by one.
    Joints that follow others, loops and tables [dh] and [[wheels]] are left to the reading of the whole."""
    data = document(path).data
    lines = decoded(str(path), read_bytes(path)).split("\n")
    blocks = list(_blocks(lines))
    parts = [block for block in blocks if block.kind in NEIGHBOURS]
    if not parts or data.keys() & {"dh", "wheels"} or blocks[0].first == 0 or not all(
            _is_table(data, block) for block in parts):
        return
    name = f"name = {json.dumps(str(data.get('name', 'mechanism')))}"
    above = _kept(lines, lambda k: k < blocks[0].first) + "\n" + _bare_joints(data.get("actuated"))
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
    """True if the block is a table, and not part of a text of several lines."""
    tables = data.get(block.kind)
    return isinstance(tables, list) and len(tables) > block.number and isinstance(tables[block.number], dict)


def _placed(path: Path, text: str) -> list[str]:
    return [error.replace("the TOML text", str(path), 1) for error in error_of(load_toml, text)]


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
    """Keys of a table that name it and its neighbours; all joints become fixed ones."""
    if _KIND.match(line):
        return 'kind = "fixed"'
    return line if _TABLE.match(line) or _NAME.match(line) else ""


def _bare_joints(actuated: object) -> str:
    """A root, and joints with the names of the actuated ones, so that each name exists."""
    names = [name for name in actuated if isinstance(name, str)] if isinstance(actuated, list) else []
    bodies = [f"body {k}" for k, _ in enumerate(dict.fromkeys(names))]
    joints = [f'[[joints]]\nname = {json.dumps(name)}\nkind = "revolute"\nparent = "root"\nchild = {json.dumps(body)}'
              for name, body in zip(dict.fromkeys(names), bodies, strict=True)]
    return "\n".join([_bare_bodies(["root", *bodies]), *joints])


def _bare_bodies(names: Sequence[str]) -> str:
    return "\n".join(f"[[bodies]]\nname = {json.dumps(name)}" for name in dict.fromkeys(names))
