"""Which files are read as mechanisms, and what to do about those that are not."""

from __future__ import annotations

import os
from pathlib import Path

from cayley.errors import ModelError

ENDINGS = (".urdf", ".xml", ".mjcf", ".toml")

_OTHERS = {
    ".xacro": "this is xacro, not URDF: expand it first, `xacro {name} > {stem}.urdf`",
    ".sdf": "SDF is not read: write the model as URDF or MJCF",
    ".world": "SDF is not read: write the model as URDF or MJCF",
    **dict.fromkeys((".usd", ".usda", ".usdc", ".usdz"), "USD is not read: write the robot as URDF or MJCF"),
    ".zip": "archives are not read: unpack it, and give the .urdf, .xml (MJCF) or .toml file in it",
}


def ending_of(name_or_path: str | os.PathLike[str]) -> str:
    """The ending of a file that can be read, in small letters, or "" of a name for the catalogue; all else is refused.

    >>> ending_of("Arm.URDF"), ending_of("panda")
    ('.urdf', '')
    """
    if not isinstance(name_or_path, (str, os.PathLike)):
        raise ModelError(f"give the name of a robot or the path of a file, not {type(name_or_path).__name__}")
    path = Path(name_or_path)
    ending = path.suffix.lower()
    if ending in ENDINGS:
        return ending
    if ending in _OTHERS:
        stem = path.with_suffix("").name.removesuffix(".urdf")
        raise ModelError(f"{path}: {_OTHERS[ending].format(name=path.name, stem=stem)}")
    if path.suffix or len(path.parts) > 1:
        what = "is a folder" if path.is_dir() else f"ends in {path.suffix!r}" if path.suffix else "has no ending"
        raise ModelError(f"{path} {what}: mechanisms are read from files that end in {', '.join(ENDINGS)}")
    return ""
