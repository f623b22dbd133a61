"""`<visual>` and `<collision>` of URDF and SDF files; numbers that are attributes in URDF stand in elements in SDF."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import get_args

import numpy as np

from cayley.errors import ModelError
from cayley.model.formats.sdf import links_of_sdf
from cayley.model.formats.sdf_frames import Frames, texts
from cayley.model.formats.search import Search
from cayley.model.formats.urdf import pose_of_origin
from cayley.model.formats.written_angles import WrittenAngles
from cayley.model.formats.xml_elements import Element, read_xml
from cayley.shapes.kinds import KINDS, Kind
from cayley.shapes.shape import Role, Shape, Shapes

MOST_SHAPES = 2000

Color = tuple[float, float, float]

_AS_WRITTEN = WrittenAngles(exact=False)
_OTHER_NAMES = {"uri": "filename"}  # of a mesh in SDF


def urdf_shapes(search: Search, text: str | None = None) -> Shapes:
    """The shapes of a URDF file, or of the text that macros made of it."""
    path = search.model
    robot = read_xml(path) if text is None else read_xml(text, called=f"{path.name} (expanded)")
    shared = {element.attributes.get("name", ""): color for element in robot.all("material")
              if (color := _color(element, {})) is not None}

    def shape(body: str, role: Role, element: Element) -> Shape:
        kind = _kind(_inner(element), search)
        material = element.only("material")
        return Shape(body, kind, pose_of_origin(element, (1, 1), _AS_WRITTEN), (role,),
                     None if material is None else _color(material, shared))

    return _shapes(((link.attributes.get("name", "").strip(), link) for link in robot.all("link")), shape)


def sdf_shapes(search: Search) -> Shapes:
    """The shapes of an SDF file."""
    def shape(body: str, role: Role, element: Element) -> Shape:
        inner = _inner(element)
        pose = element.only("pose")
        if pose is not None and pose.attributes.get("relative_to", "").strip():
            raise pose.error("a shape that is placed in another frame than its link's is not drawn")
        said = {_OTHER_NAMES.get(child.tag, child.tag): child.text.strip() for child in inner.children}
        kind = _kind(replace(inner, attributes=said), search)
        return Shape(body, kind, Frames(_AS_WRITTEN).pose(pose), (role,), _diffuse(element))

    return _shapes(links_of_sdf(search).items(), shape)


def _shapes(links: Iterable[tuple[str, Element]], shape: Callable[[str, Role, Element], Shape]) -> Shapes:
    """The shapes of links; what is wrong with one is kept in words, with its line, and the others are read."""
    shapes: list[Shape] = []
    missing: list[str] = []
    bare: set[str] = set()
    found = [(body, role, element) for body, link in links for role in get_args(Role) for element in link.all(role)]
    for body, role, element in found:
        try:
            if len(shapes) == MOST_SHAPES:
                raise element.error(f"there are more than {MOST_SHAPES} shapes; this and those after it are left out")
            shapes.append(shape(body, role, element))
        except ModelError as why:
            missing.append(str(why))
            bare |= {body} if role == "visual" else set()
            if len(shapes) == MOST_SHAPES:
                break
    return Shapes(tuple(shapes), tuple(missing), frozenset(bare))


def _inner(element: Element) -> Element:
    geometry = element.required("geometry")
    inner = [child for child in geometry.children if child.tag in KINDS]
    if len(inner) != 1:
        raise geometry.error(f"there are {len(inner)} shapes in it; it has one: {', '.join(KINDS)}")
    return inner[0]


def _kind(inner: Element, search: Search) -> Kind:
    try:
        return KINDS[inner.tag].from_urdf(inner, search)
    except ModelError as why:
        raise why if str(why).startswith(f"{inner.file}, line") else inner.error(str(why)) from why


def _color(material: Element, shared: dict[str, Color]) -> Color | None:
    said = material.only("color")
    if said is None:
        return shared.get(material.attributes.get("name", ""))
    try:
        r, g, b, _ = np.clip(said.numbers("rgba", 4), 0.0, 1.0)
    except ModelError:
        return None  # a colour is no reason to leave a shape out
    return float(r), float(g), float(b)


def _diffuse(element: Element) -> Color | None:
    material = element.only("material")
    diffuse = None if material is None else material.only("diffuse")
    if diffuse is None:
        return None
    red, green, blue = (float(each) for each in texts(diffuse, len(diffuse.text.split()))[:3])
    return red, green, blue
