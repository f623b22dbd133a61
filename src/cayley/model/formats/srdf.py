"""The named configurations of a robot from the SRDF file beside its URDF file: `<group_state>`.

Looked for are `NAME.srdf` beside NAME.urdf and in the folder `srdf` beside that of NAME.urdf, then the first file of
these folders whose robot has the same name. A joint with seven numbers floats: a position, and a quaternion (x, y, z,
w), which is (w, x, y, z) here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from cayley.errors import ModelError
from cayley.model.findings import Finding
from cayley.model.formats.xml_elements import Element, read_xml
from cayley.model.parts import NamedConfiguration
from cayley.model.tree import Tree

_POSE = 7


def with_srdf(tree: Tree, urdf: Path) -> Tree:
    """The mechanism of a URDF file with the configurations that the SRDF file beside it names. What is wrong with that
    file is said in the report: the robot is that of the URDF file."""
    path = _beside(urdf, tree.name)
    if path is None:
        return tree
    try:
        states = list(_states(read_xml(path)))
    except ModelError as error:
        return replace(tree, notes=(*tree.notes, Finding("SRDF", (), f"its configurations are not read: {error}")))
    named = {state.name: state for state in states}
    return replace(tree, named=tuple(named.values()), notes=(*tree.notes, *_unknown(tree, path, states)))


def _beside(urdf: Path, robot: str) -> Path | None:
    folders = [urdf.parent, urdf.parent.parent / "srdf"]
    stem = urdf.name.split(".")[0]
    for folder in folders:
        if (folder / f"{stem}.srdf").is_file():
            return folder / f"{stem}.srdf"
    for path in (path for folder in folders for path in sorted(folder.glob("*.srdf"))):
        try:
            if read_xml(path).attributes.get("name", "").strip() == robot:
                return path
        except ModelError:
            continue
    return None


def _states(robot: Element) -> Iterator[NamedConfiguration]:
    for state in robot.all("group_state"):
        yield NamedConfiguration(state.word("name"), tuple((joint.word("name"), _values(joint))
                                                           for joint in state.all("joint")))


def _values(joint: Element) -> tuple[float, ...]:
    values = joint.numbers("value", len(joint.word("value").split())).tolist()
    if len(values) == _POSE:
        *position, x, y, z, w = values
        return (*position, w, x, y, z)
    return tuple(values)


def _unknown(tree: Tree, path: Path, states: list[NamedConfiguration]) -> Iterator[Finding]:
    """Joints that the robot has not; one with a pose may be that of its base, which floats or not."""
    known = {joint.name for joint in tree.joints}
    names = tuple(dict.fromkeys(name for state in states for name, values in state.coordinates
                                if name not in known and len(values) != _POSE))
    if names:
        yield Finding("configurations", names, f"{path.name} has configurations of joints that are not there: "
                      f"{', '.join(map(repr, names))}")
