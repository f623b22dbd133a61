"""Mesh files read by trimesh, each checked before: plain files of bounded size that expand to no more than they say.

A mesh is simplified to several levels of detail (`levels.LEVELS`): more is not seen in a picture, and a page of it
would be slow. They are kept in the cache of compiled code, by the digest of the file, so that a robot opens at once
the second time.

Lengths are metres; those of a DAE file are in its `<unit>`. Axes are those of the file (`<up_axis>` turns nothing, as
in RViz). Colours of mesh files are not read.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ModelError
from cayley.model.formats.files import read_bytes
from cayley.model.formats.xml_elements import Element, read_xml
from cayley.shapes.levels import Levels, kept_levels, levels_of
from cayley.shapes.surface import Surface

MOST_BYTES = 64 * 2**20
MOST_READ = 4_000_000  # triangles in a file
_FARTHEST = 1e5  # [m], or in the unit of the file


def read_mesh(path: Path) -> Levels:
    """The surface of a file, at levels of detail; a `ModelError` says what is wrong with it."""
    try:
        return _read(path, path.stat().st_mtime_ns)
    except OSError as error:
        raise ModelError(f"{str(path)!r} cannot be read: {error.strerror or error}") from error


@lru_cache(maxsize=256)
def _read(path: Path, _: int) -> Levels:
    ending = path.suffix.lower()
    if ending not in READERS:
        raise ModelError(f"{path.name!r} ends in {ending!r}: meshes are read from {', '.join(READERS)}")
    data = read_bytes(path, most=MOST_BYTES)
    if ending == ".gltf":  # which has its numbers in other files
        return levels_of(_parsed(path, ending, data))
    return kept_levels(f"{ending}|{sha256(data).hexdigest()}", lambda: _parsed(path, ending, data))


def _parsed(path: Path, ending: str, data: bytes) -> Surface:
    scale = READERS[ending](path, data)
    data = _without_materials(data) if ending == ".dae" else data
    try:
        import trimesh
    except ImportError as error:
        raise ModelError("meshes are read by the package trimesh, which is not installed: pip install trimesh"
                         ) from error
    try:
        scene = trimesh.load_scene(io.BytesIO(data), file_type=ending[1:], resolver=_Beside(path.parent),
                                   process=False, skip_materials=True)
        made = scene.to_mesh()
        points = np.asarray(made.vertices, dtype=float) * scale
        triangles = np.asarray(made.faces, dtype=np.int64)
    except ModelError:
        raise
    except Exception as error:  # whatever a library makes of a file that is none
        raise ModelError(f"{path.name!r} is no mesh that can be read: {type(error).__name__}: "
                         f"{' '.join(str(error).split())[:200]}") from error
    return _checked(path, points, triangles)


def _checked(path: Path, points: Array, triangles: Array) -> Surface:
    if not len(triangles):
        raise ModelError(f"{path.name!r} has no triangles in it")
    if len(triangles) > MOST_READ:
        raise ModelError(f"{path.name!r} has {len(triangles)} triangles; at most {MOST_READ} are read: simplify it")
    if not np.isfinite(points).all() or np.abs(points).max(initial=0.0) > _FARTHEST:
        raise ModelError(f"{path.name!r} has points that are not finite, or absurdly far")
    if triangles.min() < 0 or triangles.max() >= len(points):
        raise ModelError(f"{path.name!r} has triangles of points that it has not")
    made = Surface.of(points.astype(np.float32).astype(float), triangles)
    if not len(made.triangles):
        raise ModelError(f"{path.name!r} has no triangle with an area in it")
    return made


class _Beside(dict[str, bytes]):
    """Files that a mesh file names, for trimesh: those in its own folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder.resolve()

    def get(self, name: str, default: Any = None) -> bytes:  # noqa: ANN401 (of dict)
        path = (self.folder / name).resolve()
        if not path.is_relative_to(self.folder):
            raise ModelError(f"it names {name!r}, which lies outside of its folder")
        return read_bytes(path, most=MOST_BYTES)

    def __getitem__(self, name: str) -> bytes:
        return self.get(name)

    def __contains__(self, name: object) -> bool:
        return True


# Before trimesh reads a file: its unit [m], or an error


def _plain(path: Path, data: bytes) -> float:
    return 1.0


def _binary_stl(path: Path, data: bytes) -> float:
    """Of what is not text the number of triangles must be that of the bytes."""
    if len(data) >= 84 and data.lstrip()[:5] != b"solid":
        (count,) = struct.unpack_from("<I", data, 80)
        if len(data) < 84 + 50 * count:
            raise ModelError(f"{path.name!r} says that it has {count} triangles, but is too short for them")
    return 1.0


def _collada(path: Path, data: bytes) -> float:
    root = read_xml(path)
    if root.tag != "COLLADA":
        raise root.error("a DAE file has <COLLADA> as its root")
    _check_instances(root)
    units = [unit for asset in root.all("asset") for unit in asset.all("unit")]
    meter = units[0].number("meter", 1.0) if units else 1.0
    if not meter > 0:
        raise units[0].error(f"the unit is {meter:g} m long")
    return meter


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


def _check_instances(root: Element) -> None:
    """That nodes which are used again and again do not stand for more than a mesh may have."""
    nodes = {element.attributes["id"]: element for element in root.walk()
             if element.tag == "node" and "id" in element.attributes}
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()

    def size(element: Element, depth: int) -> int:
        number = id(element)
        if number in sizes:
            return sizes[number]
        if number in open_nodes or depth > 200:
            raise element.error("nodes hold each other in a ring, or too deep")
        open_nodes.add(number)
        found = 1
        for child in element.children:
            if child.tag == "instance_node":
                used = nodes.get(child.attributes.get("url", "").removeprefix("#"))
                found += size(used, depth + 1) if used is not None else 0
            elif child.tag == "node":
                found += size(child, depth + 1)
        open_nodes.discard(number)
        sizes[number] = found
        if found > _MOST_NODES:
            raise element.error(f"it stands for more than {_MOST_NODES} nodes, counting those that are used again")
        return found

    for library in root.children:
        for scene in [library, *library.children]:
            if scene.tag in ("node", "visual_scene"):
                size(scene, 0)


_MOST_NODES = 20_000


def _gltf(path: Path, data: bytes) -> float:
    """The JSON of a glTF file: no numbers out of nothing, and every node within one other at most."""
    text = data
    if path.suffix.lower() == ".glb":
        if len(data) < 20 or data[:4] != b"glTF":
            raise ModelError(f"{path.name!r} is not binary glTF")
        (length,) = struct.unpack_from("<I", data, 12)
        text = data[20:20 + length]
    try:
        said = json.loads(text)
        counts = [int(each["count"]) for each in said.get("accessors", [])]
        children = [int(child) for node in said.get("nodes", []) for child in node.get("children", [])]
        instances = len(said.get("nodes", []))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ModelError(f"{path.name!r} is not glTF: {type(error).__name__}: {error}") from error
    if sum(counts) > 3 * MOST_READ or any(count < 0 for count in counts) or instances > _MOST_NODES:
        raise ModelError(f"{path.name!r} asks for more points or nodes than a mesh has")
    if len(set(children)) < len(children):
        raise ModelError(f"{path.name!r} has a node that is in two others; the format has trees of nodes")
    return 1.0


READERS: dict[str, Callable[[Path, bytes], float]] = {
    ".stl": _binary_stl, ".obj": _plain, ".dae": _collada, ".gltf": _gltf, ".glb": _gltf, ".ply": _plain}

