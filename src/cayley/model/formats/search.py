"""Where the files that a model names are looked for, meshes and what xacro includes, and where they may lie.

`package://NAME/rest` is looked for in this order:

1. in a folder called NAME that holds the model's file, however deep;
2. beside the model's file, and beside the folders that hold it, in a folder NAME that has a `package.xml`
   or a `model.config`;
3. in the folders of `ROS_PACKAGE_PATH`, `GZ_SIM_RESOURCE_PATH` and `GAZEBO_MODEL_PATH`, then in `share` of those of
   `AMENT_PREFIX_PATH`.

Other names are paths beside the model's file, with or without `file://`. A file must lie, links followed, in the
folder of the model, in the package that holds it (the nearest folder above with a `package.xml`; without one the
folder above `urdf`, `robots`, `mjcf` or `xacro`), or in the package that was named: a model that was sent by a stranger
shows nothing of the rest of the disk.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from cayley.errors import ModelError
from cayley.wording import shortened

_INNER = ("urdf", "robots", "robot", "mjcf", "xacro")  # folders of descriptions within a package
_DESCRIPTIONS = ("package.xml", "model.config")
_FOLDERS = ("ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH")
_LONGEST = 4096


class Search:
    """Finds the files that a model names."""

    def __init__(self, model: Path) -> None:
        self.model = model.absolute()
        self.folder = self.model.parent
        self.above = [self.folder, *self.folder.parents]

    def found(self, name: str) -> Path:
        """The file of a name; a `ModelError` says where it was looked for, or why it is refused."""
        if len(name) > _LONGEST or "\0" in name:
            raise ModelError(f"{shortened(name)!r} is no name of a file")
        for scheme in ("package://", "model://"):
            if name.startswith(scheme):
                return self._in_package(name, name.removeprefix(scheme).lstrip("/"))
        if "://" in name and not name.startswith("file://"):
            raise ModelError(f"{shortened(name)!r} is not on this disk: nothing is fetched; save it beside the model")
        path = self.folder / (unquote(name.removeprefix("file://")) if name.startswith("file://") else name)
        return _checked(name, path, [self.folder, *self._home()])

    def _in_package(self, name: str, inner: str) -> Path:
        package, _, rest = inner.partition("/")
        places = self._places(package, name)
        for place in places:
            if _is_file(place / rest):
                return _checked(name, place / rest, [place])
        looked = ", ".join(f"'{place}'" for place in places)
        where = f"looked in {looked}" if places else self._nowhere(package)
        raise ModelError(f"{shortened(name)!r} is not there: {where}")

    def included_model(self, uri: str) -> Path:
        """The file of a model that another includes: `model://NAME` is `model.sdf` in the folder of that name, which is
        looked for as packages are."""
        if uri.startswith("model://") and "/" not in uri.removeprefix("model://").strip("/"):
            return self.found(f"model://{uri.removeprefix('model://').strip('/')}/model.sdf")
        path = self.found(uri) if not (self.folder / uri).is_dir() else self.found(f"{uri.rstrip('/')}/model.sdf")
        return path

    def package(self, name: str) -> Path:
        """The folder of a package, as `$(find NAME)` asks for it."""
        places = self._places(name, name)
        if not places:
            raise ModelError(f"the package {shortened(name)!r} is not there: {self._nowhere(name)}")
        return places[0]

    def _places(self, package: str, name: str) -> list[Path]:
        if package in ("", ".", "..") or "/" in package or "\0" in package:
            raise ModelError(f"{shortened(name)!r} names no package")
        return list(dict.fromkeys(self._packages(package)))

    def _nowhere(self, package: str) -> str:
        return (f"no folder called {package!r} is above {str(self.folder)!r}, nor one with a package.xml beside it; "
                "set ROS_PACKAGE_PATH to the folder that holds it")

    def _packages(self, package: str) -> Iterator[Path]:
        yield from (folder for folder in self.above if folder.name == package)
        yield from (folder / package for folder in self.above
                    if any(_is_file(folder / package / said) for said in _DESCRIPTIONS))
        for variable in _FOLDERS:
            for place in _listed(variable):
                yield from ([place] if place.name == package else [])
                yield from ([place / package] if (place / package).is_dir() else [])
        for place in _listed("AMENT_PREFIX_PATH"):
            yield from ([place / "share" / package] if (place / "share" / package).is_dir() else [])

    def _home(self) -> list[Path]:
        """The package that holds the model, if any does."""
        for folder in self.above[:-1]:
            if _is_file(folder / "package.xml"):
                return [folder]
        return [self.folder.parent] if self.folder.name in _INNER else []


def _listed(variable: str) -> list[Path]:
    return [Path(place) for place in os.environ.get(variable, "").split(os.pathsep) if place]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _checked(name: str, path: Path, allowed: list[Path]) -> Path:
    try:
        true = path.resolve()
        within = any(true.is_relative_to(folder.resolve()) for folder in allowed)
    except (OSError, RuntimeError, ValueError) as error:  # a ring of links, for one
        raise ModelError(f"{shortened(name)!r} cannot be followed: {error}") from error
    if not within:
        raise ModelError(f"{shortened(name)!r} lies outside of '{allowed[-1]}' and is not read; put it there, or name "
                         "it as package://, with its folder in ROS_PACKAGE_PATH")
    if not _is_file(true):
        raise ModelError(f"{shortened(name)!r} is not there: looked for '{path}'")
    return true
