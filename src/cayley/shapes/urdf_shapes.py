"""`<visual>` and `<collision>` of URDF files."""

from __future__ import annotations

from typing import get_args

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ModelError
from cayley.geometry.rotations.euler import matrix_from_roll_pitch_yaw
from cayley.geometry.rotations.quaternion import matrix_from_quaternion
from cayley.model.formats.search import Search
from cayley.model.formats.xml_elements import Element, read_xml
from cayley.shapes.kinds import KINDS
from cayley.shapes.shape import Role, Shape, Shapes

MOST_SHAPES = 2000

Color = tuple[float, float, float]


def urdf_shapes(search: Search, text: str | None = None) -> Shapes:
    """The shapes of a file, or of the text that macros made of it; what is wrong with one is kept in words, with its
    line, and the others are read."""
    path = search.model
    robot = read_xml(path) if text is None else read_xml(text, called=f"{path.name} (expanded)")
    shared = {element.attributes.get("name", ""): color for element in robot.all("material")
              if (color := _color(element, {})) is not None}
    shapes: list[Shape] = []
    missing: list[str] = []
    bare: set[str] = set()
    for link in robot.all("link"):
        body = link.attributes.get("name", "").strip()
        for role in get_args(Role):
            for element in link.all(role):
                try:
                    if len(shapes) == MOST_SHAPES:
                        raise element.error(f"there are more than {MOST_SHAPES} shapes; this and those after it are "
                                            "left out")
                    shapes.append(_shape(body, role, element, search, shared))
                except ModelError as why:
                    missing.append(str(why))
                    bare |= {body} if role == "visual" else set()
                    if len(shapes) == MOST_SHAPES:
                        return Shapes(tuple(shapes), tuple(missing), frozenset(bare))
    return Shapes(tuple(shapes), tuple(missing), frozenset(bare))


def _shape(body: str, role: Role, element: Element, search: Search, shared: dict[str, Color]) -> Shape:
    geometry = element.required("geometry")
    inner = [child for child in geometry.children if child.tag in KINDS]
    if len(inner) != 1:
        raise geometry.error(f"there are {len(inner)} shapes in it; it has one: {', '.join(KINDS)}")
    try:
        kind = KINDS[inner[0].tag].from_urdf(inner[0], search)
    except ModelError as why:
        raise why if str(why).startswith(f"{inner[0].file}, line") else inner[0].error(str(why)) from why
    material = element.only("material")
    return Shape(body, kind, _pose(element), (role,), None if material is None else _color(material, shared))


def _pose(owner: Element) -> Array:
    origin = owner.only("origin")
    pose = np.eye(4)
    if origin is not None:
        pose[:3, 3] = origin.numbers("xyz", 3, np.zeros(3))
        if "quat_xyzw" in origin.attributes:
            x, y, z, w = origin.numbers("quat_xyzw", 4)
            size = float(np.linalg.norm([w, x, y, z]))
            if not abs(size - 1) < 1e-3:
                raise origin.error(f"quat_xyzw has the length {size:.6g}; a quaternion of a rotation has length 1")
            pose[:3, :3] = matrix_from_quaternion.unchecked(np.array([w, x, y, z]) / size)
        else:
            pose[:3, :3] = matrix_from_roll_pitch_yaw(origin.numbers("rpy", 3, np.zeros(3)))
    return pose


def _color(material: Element, shared: dict[str, Color]) -> Color | None:
    said = material.only("color")
    if said is None:
        return shared.get(material.attributes.get("name", ""))
    try:
        r, g, b, _ = np.clip(said.numbers("rgba", 4), 0.0, 1.0)
    except ModelError:
        return None  # a colour is no reason to leave a shape out
    return float(r), float(g), float(b)
