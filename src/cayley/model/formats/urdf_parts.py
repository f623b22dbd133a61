"""Errors in the links and joints of a URDF file: each element is read alone, at its old line, with bare neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from cayley.model.formats.format import error_of
from cayley.model.formats.urdf import load_urdf
from cayley.model.formats.xml_elements import Element, quoted, read_xml


def errors_of_parts(path: Path) -> Iterator[list[str]]:
    """Errors in the references between links and joints, and in each link and joint alone."""
    robot = read_xml(path)
    links = robot.all("link")
    joints = robot.all("joint")
    named = [*map(_bare, links), *map(_only_ends, joints)]
    for parts in chain([named], ([link] for link in links), ([*_ends(joint), joint] for joint in joints)):
        errors = error_of(load_urdf, _document(robot, parts))
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
        attributes = "".join(f" {key}={quoted(value)}" for key, value in element.attributes.items())
        lines[-1] += f"<{element.tag}{attributes}>"
        pending += [f"</{element.tag}>", *reversed(element.children)]
    return "\n".join(lines)
