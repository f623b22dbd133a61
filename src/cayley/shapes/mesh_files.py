"""Mesh files read by trimesh, each checked before: plain files of bounded size that expand to no more than they say.

A mesh is simplified to several levels of detail (`levels.LEVELS`): more is not seen in a picture, and a page of it
would be slow. They are kept in the cache of compiled code, by the digest of the file, so that a robot opens at once
the second time.

Lengths are metres; those of a DAE file are in its `<unit>`. Axes are those of the file (`<up_axis>` turns nothing, as
in RViz). Colours of mesh files are not read."""

from __future__ import annotations

import io
import json
import re
import struct
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ModelError
from cayley.model.budget import Budget
from cayley.model.formats.files import read_bytes
from cayley.model.formats.xml_elements import XmlElement, located, read_xml
from cayley.shapes.surface import Levels, Surface, kept_levels, levels_of

MOST_BYTES = 64 * 2**20
_FARTHEST = 1e5  # [m], or in the unit of the file


def read_mesh(path: Path, *, whole: bool = False) -> Levels:
    """The surface of a file, at levels of detail, or as a `whole`; a `ModelError` says what is wrong with it."""
    try:
        return _read(path, path.stat().st_mtime_ns, whole)
    except OSError as error:
        raise ModelError(f"{str(path)!r} cannot be read: {error.strerror or error}") from error


@lru_cache(maxsize=256)
def _read(path: Path, _: int, whole: bool) -> Levels:
    ending = path.suffix.lower()
    if ending not in READERS:
        raise ModelError(f"{path.name!r} ends in {ending!r}: meshes are read from {', '.join(READERS)}")
    data = read_bytes(path, most=MOST_BYTES)
    try:
        if whole:
            return (_parsed(path, ending, data),)
        if ending == ".gltf":  # which has its numbers in other files
            return levels_of(_parsed(path, ending, data))
        return kept_levels(f"{ending}|{sha256(data).hexdigest()}", lambda: _parsed(path, ending, data))
    except ModelError as error:
        raise error if path.name in str(error) else ModelError(f"{path.name!r}: {error}") from error
    except Exception as error:  # whatever a library makes of a file that is none
        raise ModelError(f"{path.name!r} is no mesh that can be read: {type(error).__name__}: "
                         f"{' '.join(str(error).split())[:200]}") from error


def _parsed(path: Path, ending: str, data: bytes) -> Surface:
    budget = Budget()
    scale, data = READERS[ending](path, data, budget)
    try:
        import trimesh
    except ImportError as error:
        raise ModelError("meshes are read by the package trimesh, which is not installed: pip install "
                         "'cayley[meshes]'") from error
    scene = trimesh.load_scene(io.BytesIO(data), file_type=ending[1:], resolver=_Beside(path.parent, budget),
                               process=False, skip_materials=True)
    points, triangles = _placed(scene)
    return _checked(path, points * scale, triangles)


def _placed(scene: Any) -> tuple[Array, Array]:  # noqa: ANN401 (of a library without types)
    """The points (n, 3) of all meshes of a scene, each where its nodes put it, and the triangles (m, 3) of them."""
    forest = scene.graph.transforms
    poses = {scene.graph.base_frame: np.eye(4)}
    points = [np.zeros((0, 3))]
    triangles = [np.zeros((0, 3), dtype=np.int64)]
    count = 0
    for node in scene.graph.nodes_geometry:
        mesh = scene.geometry[forest.node_data[node]["geometry"]]
        if not hasattr(mesh, "faces"):
            continue
        chain = []
        while node not in poses:
            chain.append(node)
            node = forest.parents[node]
        for each in reversed(chain):
            poses[each] = poses[forest.parents[each]] @ forest.edge_data[forest.parents[each], each].get("matrix",
                                                                                                       np.eye(4))
        pose = poses[chain[0] if chain else node]
        points.append(np.asarray(mesh.vertices, dtype=float) @ pose[:3, :3].T + pose[:3, 3])
        triangles.append(np.asarray(mesh.faces, dtype=np.int64) + count)
        count += len(mesh.vertices)
    return np.concatenate(points), np.concatenate(triangles)


def _checked(path: Path, points: Array, triangles: Array) -> Surface:
    if not len(triangles):
        raise ModelError(f"{path.name!r} has no triangles in it")
    if not np.isfinite(points).all() or np.abs(points).max(initial=0.0) > _FARTHEST:
        raise ModelError(f"{path.name!r} has points that are not finite, or absurdly far")
    if triangles.min() < 0 or triangles.max() >= len(points):
        raise ModelError(f"{path.name!r} has triangles of missing points")
    made = Surface.of(points.astype(np.float32).astype(float), triangles)
    if not len(made.triangles):
        raise ModelError(f"{path.name!r} has no triangle with an area in it")
    return made


class _Beside(dict[str, bytes]):
    """Files that a mesh file names, for trimesh: those in its own folder."""

    def __init__(self, folder: Path, budget: Budget) -> None:
        super().__init__()
        self.folder = folder.resolve()
        self.budget = budget

    def get(self, name: str, default: Any = None) -> bytes:  # noqa: ANN401 (of dict)
        path = (self.folder / name).resolve()
        if not path.is_relative_to(self.folder):
            raise ModelError(f"it names {name!r}, which lies outside of its folder")
        data = read_bytes(path, most=MOST_BYTES)
        self.budget.spend("bytes", len(data) * _BUFFERS)
        return data

    def __getitem__(self, name: str) -> bytes:
        return self.get(name)

    def __contains__(self, name: object) -> bool:
        return True


# Before trimesh reads a file: what it asks for is counted. Its unit [m], and what of it trimesh is to read


def _obj(path: Path, data: bytes, budget: Budget) -> tuple[float, bytes]:
    """An OBJ file without its groups and materials: they say nothing of the shape, and trimesh takes long for them."""
    return 1.0, _GROUPS.sub(b"", data)


_GROUPS = re.compile(rb"(?m)^[ \t]*(?:usemtl|mtllib|[gos])[ \t][^\n]*$")


def _ply(path: Path, data: bytes, budget: Budget) -> tuple[float, bytes]:
    """Check that a PLY file has as many entries as its head says: each has a byte at least for every property."""
    head, found, _ = data[:2**16].partition(b"end_header")
    least = 0
    count = 0
    for line in head.split(b"\n") if found else ():
        words = line.split()
        if len(words) == 3 and words[0] == b"element":
            count = int(words[2])
            least += count if count < 0 else 0
        elif words and words[0] == b"property":
            least += count
        if count < 0 or least > len(data):
            raise ModelError(f"{path.name!r} says that it has {count} entries, but is too short for them")
    return 1.0, data


def _stl(path: Path, data: bytes, budget: Budget) -> tuple[float, bytes]:
    """The triangles of an STL file; of one that is not text their number must be that of the bytes."""
    if len(data) >= 84 and data.lstrip()[:5] != b"solid":
        (count,) = struct.unpack_from("<I", data, 80)
        if len(data) < 84 + 50 * count:
            raise ModelError(f"{path.name!r} says that it has {count} triangles, but is too short for them")
    else:
        budget.spend("parts", data.count(b"endsolid"))
    return 1.0, data


def _collada(path: Path, data: bytes, budget: Budget) -> tuple[float, bytes]:
    root = read_xml(path, budget=budget)
    if root.tag != "COLLADA":
        raise root.error("a DAE file has <COLLADA> as its root")
    instances = _Instances(root)
    for library in root.children:
        for scene in [library, *library.children]:
            if scene.tag in ("node", "visual_scene"):
                parts, triangles = instances.size(scene)
                alone = Budget()  # only one of them is shown
                with located(scene):
                    alone.spend("parts", parts)
                    alone.spend("triangles", triangles)
    units = [unit for asset in root.all("asset") for unit in asset.all("unit")]
    meter = units[0].number("meter", 1.0) if units else 1.0
    if not meter > 0:
        raise units[0].error(f"the unit is {meter:g} m long")
    return meter, _without_materials(data)


def _without_materials(data: bytes) -> bytes:
    """A DAE file without what binds materials: a reader that misses one of them would leave out what is made of it."""
    kept = []
    place = 0
    while (start := data.find(b"<bind_material>", place)) >= 0:
        end = data.find(b"</bind_material>", start)
        if end < 0:
            break
        kept.append(data[place:start])
        place = end + len(b"</bind_material>")
    return b"".join([*kept, data[place:]])


class _Instances:
    """The nodes of a DAE file, which may use each other and their geometries again and again."""

    def __init__(self, root: XmlElement) -> None:
        self.by_id = {element.attributes["id"]: element for element in root.walk() if "id" in element.attributes}
        self.sizes: dict[int, tuple[int, int]] = {}
        self.open: set[int] = set()

    def size(self, element: XmlElement, depth: int = 0) -> tuple[int, int]:
        """The number of parts and triangles that a node, or what it uses, stands for."""
        number = id(element)
        if number in self.sizes:
            return self.sizes[number]
        if number in self.open or depth > _DEEPEST:
            raise element.error("nodes hold each other in a ring, or too deep")
        self.open.add(number)
        parts, triangles = 1, 0
        for child in element.children:
            if child.tag in _PRIMITIVES:
                more = 1, _corners(child) // (3 if child.tag == "triangles" else 1)
            else:
                used = self._used(child)
                more = self.size(used, depth + 1) if used is not None else (0, 0)
            parts, triangles = parts + more[0], triangles + more[1]
        self.open.discard(number)
        self.sizes[number] = parts, triangles
        return parts, triangles

    def _used(self, child: XmlElement) -> XmlElement | None:
        if child.tag in ("node", "mesh"):
            return child
        key = "source" if child.tag == "skin" else "url" if child.tag.startswith("instance_") else ""
        return self.by_id.get(child.attributes.get(key, "").strip().removeprefix("#")) if key else None


_DEEPEST = 200
_PRIMITIVES = ("triangles", "polylist", "polygons", "tristrips", "trifans")


def _corners(primitive: XmlElement) -> int:
    """The number of corners of the triangles or polygons of a primitive, by the numbers that stand in it."""
    offsets = [each.attributes.get("offset", "0").strip() for each in primitive.all("input")]
    stride = 1 + max((int(each) for each in offsets if each.isascii() and each.isdigit() and len(each) < 4), default=0)
    letters = np.frombuffer(" ".join(each.text for each in primitive.walk() if each.tag == "p").encode(), np.uint8)
    return int(np.count_nonzero(np.diff(letters > ord(" "), prepend=False, append=False))) // 2 // stride


def _gltf(path: Path, data: bytes, budget: Budget) -> tuple[float, bytes]:
    """The JSON of a glTF file: no numbers out of nothing, and every node within one other at most."""
    text = data
    if path.suffix.lower() == ".glb":
        if len(data) < 20 or data[:4] != b"glTF":
            raise ModelError(f"{path.name!r} is not binary glTF")
        (length,) = struct.unpack_from("<I", data, 12)
        text = data[20:20 + length]
    try:
        said = json.loads(text)
        nodes = said.get("nodes", [])
        children = [int(child) for node in nodes for child in node.get("children", [])]
        counts = [_count(each) for each in said.get("accessors", [])]
        budget.spend("numbers", sum(count * _COMPONENTS.get(each.get("type"), 16)
                                    for count, each in zip(counts, said.get("accessors", []), strict=True)))
        meshes = [_mesh_size(each, counts) for each in said.get("meshes", [])]
        placed = [meshes[node["mesh"]] for node in nodes if "mesh" in node]
    except (ArithmeticError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{path.name!r} is not glTF: {type(error).__name__}: {error}") from error
    budget.spend("elements", len(nodes))
    budget.spend("parts", sum(parts for parts, _ in placed))
    budget.spend("triangles", sum(triangles for _, triangles in placed))
    if len(set(children)) < len(children):
        raise ModelError(f"{path.name!r} has a node that is in two others; the format has trees of nodes")
    return 1.0, data


def _count(accessor: dict[str, Any]) -> int:
    count = int(accessor["count"])
    if count < 0:
        raise ValueError("the count of an accessor is negative")
    return count


def _mesh_size(mesh: dict[str, Any], counts: list[int]) -> tuple[int, int]:
    """Parts and triangles, of which there are no fewer than a third of the points."""
    read = [(each.get("attributes", {}).get("POSITION"), each.get("indices")) for each in mesh["primitives"]]
    points = [max((counts[each] for each in used if each is not None), default=0) for used in read]
    return len(read), sum(points) // 3


READERS: dict[str, Callable[[Path, bytes, Budget], tuple[float, bytes]]] = {
    ".stl": _stl, ".obj": _obj, ".dae": _collada, ".gltf": _gltf, ".glb": _gltf, ".ply": _ply}

_COMPONENTS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
_BUFFERS = 4  # times their bytes are made of what glTF files name
