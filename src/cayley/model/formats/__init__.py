"""File formats: the table of those that there are, and the one way from a path to the format of its file.

A format is a class (`format.Format`), whose readers and writers are imported when they are called, and a line in
`FORMATS`; `load`, `save` and the command line ask this table and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cayley.errors import ModelError, UnsupportedError
from cayley.model.formats.format import Format

if TYPE_CHECKING:
    from cayley.model.tree import Tree


class URDF(Format):
    """The description of robots in ROS."""

    name = "URDF"
    endings = (".urdf",)
    takes = frozenset({"exact_angles"})
    check_words = "Links and joints of URDF are read one by one, so that one mistake does not hide another."

    def read(self, path: Path, *, exact_angles: bool = True) -> Tree:
        from cayley.model.formats.urdf import load_urdf, with_srdf
        return with_srdf(load_urdf(path, exact_angles=exact_angles), path)

    def write(self, tree: Tree, *, leave_out: bool) -> str:
        from cayley.model.formats.urdf_text import dump_urdf
        return dump_urdf(tree, leave_out=leave_out)

    def parts(self, path: Path) -> Iterator[list[str]]:
        from cayley.model.formats.urdf import errors_of_parts
        return errors_of_parts(path)


class Xacro(Format):
    """URDF with macros, expanded by the Python tool of that name (the extra `xacro`)."""

    name = "xacro"
    endings = (".xacro",)
    check_words = "Errors in a xacro file are reported with the lines of the URDF that it expands to."
    takes = frozenset({"exact_angles", "arguments", "trust"})

    def read(self, path: Path, *, exact_angles: bool = True, arguments: Mapping[str, object] | None = None,
             trust: bool = False) -> Tree:
        from cayley.model.formats.urdf import load_urdf, with_srdf
        from cayley.model.formats.xacro_text import expanded, said
        from cayley.model.formats.xml_elements import source_words
        given = said(arguments or {})
        made = load_urdf(expanded(path, given, trust=trust), exact_angles=exact_angles, source=source_words(path),
                         called=f"{path.name} (expanded)", arguments=given)
        return with_srdf(made, path)


class SDF(Format):
    """The description of models in Gazebo."""

    name = "SDF"
    endings = (".sdf", ".world")
    takes = frozenset({"exact_angles", "trust"})

    def read(self, path: Path, *, exact_angles: bool = True, trust: bool = False) -> Tree:
        from cayley.model.formats.sdf import load_sdf
        return load_sdf(path, exact_angles=exact_angles, trust=trust)


class MJCF(Format):
    """MuJoCo's format."""

    name = "MJCF"
    endings = (".xml", ".mjcf")
    check_words = "MuJoCo, which reads MJCF, stops at the first mistake."
    floats_by = "MJCF says itself what floats; leave floating_base out, and give the body a <freejoint/>"
    takes = frozenset({"trust"})

    def read(self, path: Path, *, trust: bool = False) -> Tree:
        from cayley.model.formats.mjcf import load_mjcf
        return load_mjcf(path, trust=trust)

    def write(self, tree: Tree, *, leave_out: bool) -> str:
        from cayley.model.formats.mjcf_text import dump_mjcf
        return dump_mjcf(tree, leave_out=leave_out)


class TOML(Format):
    """Cayley's own format, that of the catalogue, which holds everything."""

    name = "TOML"
    endings = (".toml",)
    check_words = "Tables of TOML are read one by one, too."

    def read(self, path: Path) -> Tree:
        from cayley.model.formats.toml_format import load_toml
        return load_toml(path)

    def write(self, tree: Tree, *, leave_out: bool) -> str:
        from cayley.model.formats.toml_text import dump_toml
        return dump_toml(tree)

    def parts(self, path: Path) -> Iterator[list[str]]:
        from cayley.model.formats.toml_format import errors_of_parts
        return errors_of_parts(path)


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
