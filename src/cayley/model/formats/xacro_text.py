"""The URDF that xacro makes of a file with macros.

`$(find NAME)` is the folder in which `package://NAME` is looked for, see `search`; no installation of ROS is asked.
Arguments, `<xacro:arg>`, are given by name; one that the files do not know is refused. xacro evaluates what stands in
`${...}` as Python: read files of those whom you trust.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from io import StringIO
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any

from cayley.errors import ModelError, ModelWarning
from cayley.model.formats.search import Search
from cayley.model.formats.xml_elements import read_xml
from cayley.wording import did_you_mean, shown

_KNOWN = re.compile(r"<xacro:arg\b[^>]*?\bname\s*=\s*[\"']([^\"']+)[\"']|\$\(\s*arg\s+([^\s)]+)|"
                    r"xacro\.arg\(\s*[\"']([^\"']+)")
_ONE_AT_A_TIME = Lock()  # xacro keeps its state in its module


def said(arguments: Mapping[str, object]) -> dict[str, str]:
    """Arguments as xacro takes them, which are texts.

    >>> said({"prefix": "left_", "with_gripper": True, "reach": 0.5})
    {'prefix': 'left_', 'with_gripper': 'true', 'reach': '0.5'}
    """
    if not isinstance(arguments, Mapping) or not all(isinstance(key, str) for key in arguments):
        raise ModelError(f'arguments are given by name, arguments={{"prefix": "left_"}}, not as {shown(arguments)}')
    return {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in arguments.items()}


def expanded(path: Path, arguments: Mapping[str, str]) -> str:
    """The text of a file with its macros expanded; `ModelError` says which file xacro was at."""
    xacro = _xacro()
    read_xml(path)  # names the line of what is not XML, and refuses what is no plain file or declares entities
    said_by_xacro = StringIO()
    with _ONE_AT_A_TIME, _packages_of(xacro, Search(path)), redirect_stderr(said_by_xacro):
        xacro.all_includes.clear()
        try:
            document = xacro.process_file(str(path), mappings=dict(arguments))
        except Exception as error:  # it lets through whatever the expressions of a file raise
            raise ModelError(f"{path.name}: xacro cannot expand it: {_why(error, path, xacro)}") from error
        _check_known(path, arguments, [path, *map(Path, xacro.all_includes)])
    if said_by_xacro.getvalue().strip():
        warnings.warn(f"{path.name}: xacro says: {' '.join(said_by_xacro.getvalue().split())}", ModelWarning,
                      stacklevel=2)
    return str(document.toprettyxml(indent="  "))


def _xacro() -> ModuleType:
    try:
        import xacro
    except ImportError as error:
        raise ModelError(
            "xacro files are expanded by the package xacro, which is not installed: pip install 'cayley[xacro]'"
        ) from error
    return xacro


@contextmanager
def _packages_of(xacro: ModuleType, search: Search) -> Iterator[None]:
    """`$(find NAME)` answered by the search for packages; xacro itself asks an installation of ROS."""
    from xacro import substitution_args
    own: Any = substitution_args
    before = own._eval_find
    own._eval_find = own._eval_dict["find"] = lambda name: str(search.package(name))
    try:
        yield
    finally:
        own._eval_find = own._eval_dict["find"] = before


def _why(error: Exception, path: Path, xacro: ModuleType) -> str:
    at = [Path(each).name for each in getattr(xacro, "filestack", None) or () if each]
    where = f"in {at[-1]}: " if at and at[-1] != path.name else ""
    words = " ".join(str(error).split()) or type(error).__name__
    missing = re.search(r"Undefined substitution argument (\w+)", words)
    cure = f'; give it, cy.load(path, arguments={{"{missing.group(1)}": ...}})' if missing else ""
    return f"{where}{words}{cure}"


def _check_known(path: Path, arguments: Mapping[str, str], files: list[Path]) -> None:
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in files if file.is_file()]
    known = {name for text in texts for found in _KNOWN.findall(text) for name in found if name}
    for name in arguments:
        if name not in known:
            there = f"; it has {', '.join(sorted(known))}" if known else "; it has none"
            raise ModelError(f"{path.name} has no argument {name!r}{did_you_mean(name, known, otherwise=there)}")
