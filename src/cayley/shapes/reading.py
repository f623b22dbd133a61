"""From a mechanism to its shapes: those of the file that it was read from, when they are looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import numpy as np

from cayley.errors import ModelError
from cayley.geometry.motions.homogeneous import pose_from_quaternion
from cayley.model.catalogue.packaged import packaged_shapes
from cayley.model.formats import format_of_ending
from cayley.model.formats.mjcf import compiled_mjcf, names_of
from cayley.model.formats.sdf import links_of_sdf
from cayley.model.formats.sdf_frames import SdfFrames, texts
from cayley.model.formats.search import FileSearch
from cayley.model.formats.urdf import pose_of_origin, srdf_beside
from cayley.model.formats.written_angles import WrittenAngles
from cayley.model.formats.xacro_text import expanded
from cayley.model.formats.xml_elements import XmlElement, read_xml
from cayley.model.tree import Tree
from cayley.shapes.kinds import KINDS, Kind, Triangles
from cayley.shapes.shape import Role, Shape, Shapes

if TYPE_CHECKING:
    from mujoco import MjModel

Arguments = tuple[tuple[str, str], ...]  # of the macros of a file, by name
MOST_SHAPES = 2000
Color = tuple[float, float, float]
_OTHER_NAMES = {"uri": "filename"}  # of a mesh in SDF
_PLANE = 0
_SHOWN_GROUPS = 3  # MuJoCo's own viewer shows the first three
_WORDS = {1: "height field", 8: "signed distance field"}


def shapes_of(tree: Tree) -> Shapes:
    """The shapes of the bodies of a mechanism; none where it was not read from a file, or from one without any.

    What is wrong with the file or with its meshes is never raised, but told by `missing`."""
    path = packaged_shapes(tree.source) or (Path(tree.source) if tree.source else None)
    kind = format_of_ending(path.suffix) if path is not None else None
    if path is None or kind is None or kind.name not in READERS:
        return Shapes()
    try:
        trusted = getattr(tree.source, "trusted", False)
        found = _read(kind.name, path, tree.arguments, trusted, path.stat().st_mtime_ns)
    except (OSError, ValueError) as why:  # a ModelError among them
        return Shapes(missing=(f"the shapes of {tree.name} cannot be read again: {why}",))
    names = {body.name for body in tree.bodies}
    frames = set(tree.frame_names)
    placed = [shape if shape.body in names else _on_frame(tree, shape) for shape in found if shape.body in frames]
    apart = tuple(frozenset(tree.frame(name).body for name in pair) for pair in found.apart if pair <= frames)
    return Shapes(tuple(placed), found.missing, found.bare & names, apart)


def _on_frame(tree: Tree, shape: Shape) -> Shape:
    """The shape of a body that has become a part of another, and a frame of it."""
    frame = tree.frame(shape.body)
    return replace(shape, body=frame.body, pose=np.asarray(frame.pose) @ shape.pose)


@lru_cache(maxsize=8)
def _read(kind: str, path: Path, arguments: Arguments, trusted: bool, _: int) -> Shapes:
    return READERS[kind](FileSearch(path, trusted=trusted), arguments)


# URDF and SDF: numbers that are attributes in URDF stand in elements in SDF


def urdf_shapes(search: FileSearch, text: str | None = None) -> Shapes:
    """The shapes of a URDF file, or of the text that macros made of it."""
    path = search.model
    robot = read_xml(path) if text is None else read_xml(text, called=f"{path.name} (expanded)")
    shared = {element.attributes.get("name", ""): color for element in robot.all("material")
              if (color := _color(element, {})) is not None}

    def shape(body: str, role: Role, element: XmlElement) -> Shape:
        kind = _kind(_inner(element), search)
        material = element.only("material")
        return Shape(body, kind, pose_of_origin(element, (1, 1), WrittenAngles(exact=False)), (role,),
                     None if material is None else _color(material, shared))

    found = _shapes(((link.attributes.get("name", "").strip(), link) for link in robot.all("link")), shape)
    return replace(found, apart=_disabled(path, robot))


def _disabled(urdf: Path, robot: XmlElement) -> tuple[frozenset[str], ...]:
    """The pairs of links of `<disable_collisions>` in the SRDF file beside a URDF file."""
    srdf = srdf_beside(urdf, robot.attributes.get("name", "").strip())
    try:
        pairs = [] if srdf is None else read_xml(srdf).all("disable_collisions")
        return tuple(frozenset((pair.word("link1"), pair.word("link2"))) for pair in pairs)
    except ModelError:
        return ()  # the report of the mechanism says what is wrong with this file


def sdf_shapes(search: FileSearch) -> Shapes:
    """The shapes of an SDF file."""
    def shape(body: str, role: Role, element: XmlElement) -> Shape:
        inner = _inner(element)
        pose = element.only("pose")
        if pose is not None and pose.attributes.get("relative_to", "").strip():
            raise pose.error("a shape that is placed in another frame than its link's is not drawn")
        said = {_OTHER_NAMES.get(child.tag, child.tag): child.text.strip() for child in inner.children}
        kind = _kind(replace(inner, attributes=said), search)
        return Shape(body, kind, SdfFrames(WrittenAngles(exact=False)).pose(pose), (role,), _diffuse(element))

    return _shapes(links_of_sdf(search).items(), shape)


def _shapes(links: Iterable[tuple[str, XmlElement]], shape: Callable[[str, Role, XmlElement], Shape]) -> Shapes:
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


def _inner(element: XmlElement) -> XmlElement:
    geometry = element.required("geometry")
    inner = [child for child in geometry.children if child.tag in KINDS]
    if len(inner) != 1:
        raise geometry.error(f"there are {len(inner)} shapes in it; it has one: {', '.join(KINDS)}")
    return inner[0]


def _kind(inner: XmlElement, search: FileSearch) -> Kind:
    try:
        return KINDS[inner.tag].from_urdf(inner, search)
    except ModelError as why:
        raise why if str(why).startswith(f"{inner.file}, line") else inner.error(str(why)) from why


def _color(material: XmlElement, shared: dict[str, Color]) -> Color | None:
    said = material.only("color")
    if said is None:
        return shared.get(material.attributes.get("name", ""))
    try:
        r, g, b, _ = np.clip(said.numbers("rgba", 4), 0.0, 1.0)
    except ModelError:
        return None  # a colour is no reason to leave a shape out
    return float(r), float(g), float(b)


def _diffuse(element: XmlElement) -> Color | None:
    material = element.only("material")
    diffuse = None if material is None else material.only("diffuse")
    if diffuse is None:
        return None
    red, green, blue = (float(each) for each in texts(diffuse, len(diffuse.text.split()))[:3])
    return red, green, blue


# MJCF, as MuJoCo compiles it


def mjcf_shapes(search: FileSearch) -> Shapes:
    """The shapes of a file: visual are those of the groups that MuJoCo's viewer shows, collision those that can touch.
    Planes have no end and are not shown."""
    model, _, _ = compiled_mjcf(search.model, trust=search.trusted)
    bodies = names_of(model, "body", model.nbody)
    kinds = {kind.mujoco: kind for kind in KINDS.values() if kind.mujoco is not None}
    meshes: dict[int, Triangles] = {}
    shapes: list[Shape] = []
    missing: list[str] = []
    for k in range(model.ngeom):
        number = int(model.geom_type[k])
        if number == _PLANE:
            continue
        body = bodies[model.geom_bodyid[k]]
        if number not in kinds:
            missing.append(f"{body}: a {_WORDS.get(number, 'shape of an unknown kind')} is not drawn")
            continue
        if len(shapes) == MOST_SHAPES:
            missing.append(f"{body}: there are more than {MOST_SHAPES} shapes; this and those after it are left out")
            break
        mesh = int(model.geom_dataid[k])
        kind: Kind = (meshes.setdefault(mesh, _mesh(model, mesh)) if kinds[number] is Triangles
                      else kinds[number].from_mujoco(model.geom_size[k]))
        pose = np.array(pose_from_quaternion.unchecked(np.array(model.geom_quat[k]), np.array(model.geom_pos[k])))
        shapes.append(Shape(body, kind, pose, _roles(model, k), _geom_color(model, k),
                            (int(model.geom_contype[k]), int(model.geom_conaffinity[k]))))
    pairs = [divmod(int(pair), 1 << 16) for pair in model.exclude_signature]
    return Shapes(tuple(shapes), tuple(missing), apart=tuple(frozenset((bodies[a], bodies[b])) for a, b in pairs))


def _mesh(model: MjModel, mesh: int) -> Triangles:
    first = model.mesh_vertadr[mesh]
    start = model.mesh_faceadr[mesh]
    return Triangles(np.array(model.mesh_vert[first:first + model.mesh_vertnum[mesh]], dtype=float),
                     np.array(model.mesh_face[start:start + model.mesh_facenum[mesh]]))


def _roles(model: MjModel, geom: int) -> tuple[Role, ...]:
    found: list[Role] = []
    if model.geom_group[geom] < _SHOWN_GROUPS:
        found.append("visual")
    if model.geom_contype[geom] or model.geom_conaffinity[geom]:
        found.append("collision")
    return tuple(found)


def _geom_color(model: MjModel, geom: int) -> tuple[float, float, float]:
    material = model.geom_matid[geom]
    r, g, b = (model.geom_rgba[geom] if material < 0 else model.mat_rgba[material])[:3]
    return float(r), float(g), float(b)


READERS: dict[str, Callable[[FileSearch, Arguments], Shapes]] = {
    "URDF": lambda search, _: urdf_shapes(search),
    "xacro": lambda search, given: urdf_shapes(search, expanded(search.model, dict(given), trust=search.trusted)),
    "SDF": lambda search, _: sdf_shapes(search),
    "MJCF": lambda search, _: mjcf_shapes(search)}
