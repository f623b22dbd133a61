"""File formats: the table of those that there are, and the one way from a path to the format of its file.

A format is a class (`format.Format`), in a file of its own, and a line in `FORMATS`; `load`, `save` and the command
line ask this table and nothing else.
"""

from __future__ import annotations

import os
from pathlib import Path

from cayley.errors import ModelError, UnsupportedError
from cayley.model.formats.as_mjcf import MJCF
from cayley.model.formats.as_sdf import SDF
from cayley.model.formats.as_toml import TOML
from cayley.model.formats.as_urdf import URDF
from cayley.model.formats.as_xacro import Xacro
from cayley.model.formats.format import Format

FORMATS: list[Format] = [URDF(), Xacro(), SDF(), MJCF(), TOML()]

_OTHERS = {
    **dict.fromkeys((".usd", ".usda", ".usdc", ".usdz"), "USD is not read: write the robot as URDF or MJCF"),
    ".zip": "archives are not read: unpack it, and give the {files} in it",
}


def endings() -> tuple[str, ...]:
    """The endings of all formats.

    >>> endings()
    ('.urdf', '.xacro', '.sdf', '.world', '.xml', '.mjcf', '.toml')
    """
    return tuple(ending for each in FORMATS for ending in each.endings)


def files_in_words() -> str:
    """For help and messages.

    >>> files_in_words()
    '.urdf, .xacro, .sdf, .xml (MJCF) or .toml file'
    """
    return f"{_listed([each.words for each in FORMATS])} file"


def format_of_ending(ending: str) -> Format | None:
    """The format whose files end so, in letters of any size."""
    return next((each for each in FORMATS if ending.lower() in each.endings), None)


def format_of(name_or_path: str | os.PathLike[str]) -> Format | None:
    """The format of a file by its ending, or None of a name for the catalogue; all else is refused.

    >>> format_of("Arm.URDF").name, format_of("panda")
    ('URDF', None)
    """
    if not isinstance(name_or_path, (str, os.PathLike)):
        raise ModelError(f"give the name of a robot or the path of a file, not {type(name_or_path).__name__}")
    if isinstance(name_or_path, str) and "<" in name_or_path:
        raise ModelError(f"{name_or_path.strip()[:40]!r}... is the text of a file, not its path: save it, or make "
                         "cy.Mechanism(load_urdf(text)), with `load_urdf` of cayley.model.formats.urdf")
    path = Path(name_or_path)
    found = format_of_ending(path.suffix)
    if found is not None:
        return found
    if path.suffix.lower() in _OTHERS:
        what_to_do = _OTHERS[path.suffix.lower()].format(files=files_in_words())
        raise ModelError(f"{path}: {what_to_do}")
    if path.suffix or len(path.parts) > 1:
        what = "is a folder" if path.is_dir() else f"ends in {path.suffix!r}" if path.suffix else "has no ending"
        raise ModelError(f"{path} {what}: mechanisms are read from files that end in {', '.join(endings())}")
    return None


def format_to_write(path: str | os.PathLike[str]) -> Format:
    """The format of a file that is to be written."""
    ending = Path(path).suffix
    found = format_of_ending(ending)
    if found is None or not found.is_written:
        written = [each for one in FORMATS if one.is_written for each in one.endings]
        raise UnsupportedError(f"a mechanism is written as {_listed(written)}, not as {ending.lower()!r}")
    return found


def _listed(words: list[str] | tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
