"""Reading of mechanisms by name or path: the catalogue, the formats, and options of loading."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cayley.compiler.typing import ArrayLike
from cayley.errors import UnsupportedError
from cayley.model.catalogue import load_robot
from cayley.model.catalogue.packaged import packaged_file
from cayley.model.floating_base import on_floating_base
from cayley.model.formats import format_of
from cayley.model.masses import with_missing_masses
from cayley.model.named_configurations import ready_pose, with_configuration
from cayley.model.physical_bodies import warn_of_impossible
from cayley.model.source import Source
from cayley.model.tree import Tree


def read_mechanism(name_or_path: str | os.PathLike[str], *, floating_base: bool = False,
                   missing_mass: float | None = None, gravity: ArrayLike | None = None, exact_angles: bool = True,
                   arguments: Mapping[str, object] | None = None, trust: bool = False) -> Tree:
    """The mechanism of a name or of a file; see `cayley.load`.

    >>> read_mechanism("planar2r", arguments={"prefix": "left_"})
    Traceback (most recent call last):
    cayley.errors.UnsupportedError: planar2r: arguments are those of xacro files
    """
    packaged = packaged_file(name_or_path) if isinstance(name_or_path, str) else None
    name_or_path = packaged or name_or_path
    file = format_of(name_or_path)
    if floating_base and file is not None and file.floats_by:
        raise UnsupportedError(f"{os.fspath(name_or_path)}: {file.floats_by}")
    takes = frozenset[str]() if file is None else file.takes
    if arguments and "arguments" not in takes:
        raise UnsupportedError(f"{os.fspath(name_or_path)}: arguments are those of xacro files")
    said: dict[str, Any] = {"exact_angles": exact_angles, "arguments": arguments, "trust": trust}
    chosen = {key: value for key, value in said.items() if key in takes}
    tree = load_robot(os.fspath(name_or_path)) if file is None else file.read(Path(name_or_path), **chosen)
    if trust and isinstance(tree.source, Source):
        tree = replace(tree, source=Source(tree.source, tree.source.file, tree.source.sha256, trusted=True))
    if packaged is not None:
        tree = with_configuration(tree, "ready", ready_pose(tree))
    elif file is not None:
        warn_of_impossible(tree.bodies, Path(name_or_path).name)
    if floating_base:
        tree = on_floating_base(tree)
    if missing_mass is not None:  # of the root, too, where it moves
        tree = with_missing_masses(tree, missing_mass)
    return tree if gravity is None else tree.with_gravity(gravity)
