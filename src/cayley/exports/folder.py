"""A folder with a library of C: functions, headers, test vectors, and what builds and checks them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cayley.compiler.kernel import Kernel
from cayley.compiler.precision import PRECISION, dtype_name
from cayley.compiler.tracing.names import FOR_FUNCTIONS, identifier
from cayley.compiler.typing import ArrayLike, DTypeLike
from cayley.errors import SignatureError, UnsupportedError, did_you_mean, shown
from cayley.exports.layouts import LAYOUTS, FolderLayout, Library
from cayley.exports.vectors import made_part
from cayley.model.tree import Tree
from cayley.systems.system import System

_OF_CMAKE = ("test", "all", "install", "clean", "help", "package", "edit_cache", "rebuild_cache", "check", "m", "c")
_ENDINGS = ("", "_init", "_step", "_state", "_batch", "_check", "_vectors", "_report", "_compare", "_turn")
_LONGEST = 60  # characters of a name: of a file, with its ending, and of what linkers tell apart


@dataclass(frozen=True)
class ExportedFolder:
    """A folder that was written: the `folder`, its `files`, and the `commands` that build and check it, to be typed
    there."""

    folder: Path
    files: tuple[Path, ...]
    commands: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([*map(str, self.files), "", f"in {self.folder}:", *[f"  {line}" for line in self.commands]])

    def __repr__(self) -> str:
        return f"<{len(self.files)} files in {self.folder}: print it for what to type there>"


def export_folder(folder: str | os.PathLike[str], functions: Mapping[str, Kernel | System], *, layout: str = "cmake",
                  name: str = "robot", about: str = "Functions of a robot.", dtype: DTypeLike | None = None,
                  batch: bool = False, tree: Tree | None = None,
                  states: Mapping[str, ArrayLike] | None = None) -> ExportedFolder:
    """Write kernels and systems, by their names, as a library of C that `layout` lays out: "cmake" or "arduino".

    `dtype` is "float64" or "float32"; by default what is usual there. With `batch` each kernel has its `_batch` beside
    it. The test vectors are at random states, those of `q` and `target` at configurations of the `tree`; or at the
    `states` that are given, rows by the names of inputs. Names become identifiers of C; files that are there are
    replaced.

    >>> import tempfile
    >>> arm = cy.load("planar2r")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = export_folder(folder, {"hold": arm.gravity_forces}, name="my arm")
    ...     print(*[path.relative_to(folder).as_posix() for path in made.files])
    CMakeLists.txt README.md include/my_arm.h include/hold.h src/hold.c tests/my_arm_vectors.h tests/my_arm_check.h ...
    """
    chosen = _layout(layout)
    if not functions:
        raise SignatureError("no function is named that the folder is to have")
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise UnsupportedError(f"{place} is a file, not a folder")
    precision = dtype_name(chosen.real if dtype is None else dtype)
    called = _short(name, [*FOR_FUNCTIONS, *_OF_CMAKE])
    names = _names(functions, called)
    parts = [made_part(names[key], what, chosen.rows, precision, batch=batch, tree=tree, states=states)
             for key, what in functions.items()]
    library = Library(called, about, parts, PRECISION[precision])
    texts = chosen.files(library)
    for path, text in texts.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text, encoding="utf-8", newline="\n")
    return ExportedFolder(place, tuple(place / path for path in texts), chosen.commands(library))


def _layout(name: str) -> FolderLayout:
    if name not in LAYOUTS:
        advice = did_you_mean(name, tuple(LAYOUTS), otherwise=f"; there are {', '.join(LAYOUTS)}")
        raise UnsupportedError(f"there is no layout {shown(name)}{advice}")
    return LAYOUTS[name]


def _names(functions: Iterable[str], library: str) -> dict[str, str]:
    """Identifiers that differ in more than the size of letters, with what is added to them too."""
    taken = [f"{library}{ending}" for ending in _ENDINGS]
    found = {}
    for key in functions:
        found[key] = _short(key, [*FOR_FUNCTIONS, *taken])
        taken += [f"{found[key]}{ending}" for ending in _ENDINGS]
    return found


def _short(name: str, taken: Sequence[str]) -> str:
    lower = {word.lower() for word in taken}
    made = identifier(name, ())[:_LONGEST].rstrip("_") or "v"
    found = made
    k = 1
    while found.lower() in lower or found in FOR_FUNCTIONS:
        k += 1
        found = f"{made}_{k}"
    return found
