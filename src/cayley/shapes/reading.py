"""From a mechanism to its shapes: those of the file that it was read from, when they are looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from cayley.model.formats import format_of_ending
from cayley.model.formats.search import Search
from cayley.model.tree import Tree
from cayley.shapes.shape import Shape, Shapes

Arguments = tuple[tuple[str, str], ...]  # of the macros of a file, by name


def shapes_of(tree: Tree) -> Shapes:
    """The shapes of the bodies of a mechanism; none where it was not read from a file, or from one without any.

    What is wrong with the file or with its meshes is never raised, but told by `missing`.
    """
    path = Path(tree.source) if tree.source else None
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
    return Shapes(tuple(placed), found.missing, found.bare & names)


def _on_frame(tree: Tree, shape: Shape) -> Shape:
    """The shape of a body that has become a part of another, and a frame of it."""
    frame = tree.frame(shape.body)
    return replace(shape, body=frame.body, pose=np.asarray(frame.pose) @ shape.pose)


@lru_cache(maxsize=8)
def _read(kind: str, path: Path, arguments: Arguments, trusted: bool, _: int) -> Shapes:
    return READERS[kind](Search(path, trusted=trusted), arguments)


def _urdf(search: Search, _: Arguments) -> Shapes:
    from cayley.shapes.xml_shapes import urdf_shapes
    return urdf_shapes(search)


def _xacro(search: Search, arguments: Arguments) -> Shapes:
    from cayley.model.formats.xacro_text import expanded
    from cayley.shapes.xml_shapes import urdf_shapes
    return urdf_shapes(search, expanded(search.model, dict(arguments), trust=search.trusted))


def _sdf(search: Search, _: Arguments) -> Shapes:
    from cayley.shapes.xml_shapes import sdf_shapes
    return sdf_shapes(search)


def _mjcf(search: Search, _: Arguments) -> Shapes:
    from cayley.shapes.mjcf_shapes import mjcf_shapes
    return mjcf_shapes(search)


READERS: dict[str, Callable[[Search, Arguments], Shapes]] = {"URDF": _urdf, "xacro": _xacro, "SDF": _sdf, "MJCF": _mjcf}
