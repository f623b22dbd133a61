"""`<visual>` and `<collision>` of SDF files, whose numbers stand in elements where those of URDF are attributes."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from cayley.errors import ModelError
from cayley.model.formats.sdf import links_of_sdf
from cayley.model.formats.sdf_frames import Frames, texts
from cayley.model.formats.search import Search
from cayley.model.formats.written_angles import WrittenAngles
from cayley.model.formats.xml_elements import Element
from cayley.shapes.kinds import KINDS
from cayley.shapes.shape import Role, Shape, Shapes
from cayley.shapes.urdf_shapes import MOST_SHAPES

_OTHER_NAMES = {"uri": "filename"}  # of a mesh


def sdf_shapes(search: Search) -> Shapes:
    """The shapes of a file; what is wrong with one is kept in words, with its line, and the others are read."""
    shapes: list[Shape] = []
    missing: list[str] = []
    bare: set[str] = set()
    for body, link in links_of_sdf(search).items():
        for role in get_args(Role):
            for element in link.all(role)[:max(MOST_SHAPES - len(shapes), 0)]:
                try:
                    shapes.append(_shape(body, role, element, search))
                except ModelError as why:
                    missing.append(str(why))
                    bare |= {body} if role == "visual" else set()
    return Shapes(tuple(shapes), tuple(missing), frozenset(bare))


def _shape(body: str, role: Role, element: Element, search: Search) -> Shape:
    geometry = element.required("geometry")
    inner = [child for child in geometry.children if child.tag in KINDS]
    if len(inner) != 1:
        raise geometry.error(f"there are {len(inner)} shapes in it that are drawn; those are {', '.join(KINDS)}")
    pose = element.only("pose")
    if pose is not None and pose.attributes.get("relative_to", "").strip():
        raise pose.error("a shape that is placed in another frame than its link's is not drawn")
    said = {_OTHER_NAMES.get(child.tag, child.tag): child.text.strip() for child in inner[0].children}
    try:
        kind = KINDS[inner[0].tag].from_urdf(replace(inner[0], attributes=said), search)
    except ModelError as why:
        raise why if str(why).startswith(f"{inner[0].file}, line") else inner[0].error(str(why)) from why
    return Shape(body, kind, Frames(WrittenAngles(exact=False)).pose(pose), (role,), _color(element))


def _color(element: Element) -> tuple[float, float, float] | None:
    material = element.only("material")
    diffuse = None if material is None else material.only("diffuse")
    if diffuse is None:
        return None
    red, green, blue = (float(each) for each in texts(diffuse, len(diffuse.text.split()))[:3])
    return red, green, blue
