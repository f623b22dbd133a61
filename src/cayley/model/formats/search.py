"""Search for the files that a model names, meshes and included files, within the folders that are allowed.

`package://NAME/rest` is looked for in this order:

1. in the package that holds the model's file: a folder above it called NAME that has a `package.xml` or a
   `model.config`; without one, its own folder, or the folder above `urdf`, `robots`, `mjcf` or `xacro`, if it is
   called NAME;
2. beside the model's file and beside its package, in a folder NAME that has a `package.xml` or a `model.config`;
3. in the folders of `ROS_PACKAGE_PATH`, `GZ_SIM_RESOURCE_PATH` and `GAZEBO_MODEL_PATH`, then in `share` of those of
   `AMENT_PREFIX_PATH`.

Other names are paths beside the model's file, with or without `file://`. A file must lie, links followed, in the
folder of the model, in the package that holds it (the nearest folder above with a `package.xml`; without one the
folder above `urdf`, `robots`, `mjcf` or `xacro`), in a package that was named, or in one of the folders of 3: a model
that was sent by a stranger shows nothing of the rest of the disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from cayley.errors import ModelError, shortened
from cayley.model.budget import Budget

_INNER = ("urdf", "robots", "robot", "mjcf", "xacro")  # folders of descriptions within a package
_DESCRIPTIONS = ("package.xml", "model.config")
_FOLDERS = ("ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH")
_PREFIXES = "AMENT_PREFIX_PATH"
_LONGEST = 4096


class FileSearch:
    """Finds the files that a model names and counts how much of them is read. A `trusted` model may name any file."""

    def __init__(self, model: Path, *, trusted: bool = False) -> None:
        self.model = model.absolute()
        self.folder = self.model.parent
        self.above = [self.folder, *self.folder.parents]
        self.trusted = trusted
        self.budget = Budget()
        self.named: list[Path] = []  # packages
        self.weighed: set[Path] = set()

    def found(self, name: str, *, beside: Path | None = None, missing: bool = False) -> Path:
        """The file of a name, which may be said `beside` another folder than the model's; a `ModelError` says where it
        was looked for, or why it is refused. One that is missing is found too, if it may be."""
        if len(name) > _LONGEST or "\0" in name:
            raise ModelError(f"{shortened(name)!r} is not the name of a file")
        for scheme in ("package://", "model://"):
            if name.startswith(scheme):
                return self._in_package(name, name.removeprefix(scheme).lstrip("/"))
        if "://" in name and not name.startswith("file://"):
            raise ModelError(f"{shortened(name)!r} is not on this disk: nothing is fetched; save it beside the model")
        path = (beside or self.folder) / (unquote(name.removeprefix("file://")) if name.startswith("file://") else name)
        return self._checked(name, path, [*self.named, *_search_folders(), self.folder, *self._home()], missing=missing)

    def _in_package(self, name: str, inner: str) -> Path:
        package, _, rest = inner.partition("/")
        places = self._places(package, name)
        for place in places:
            if _is_file(place / rest):
                return self._checked(name, place / rest, [place])
        looked = ", ".join(f"'{place}'" for place in places)
        where = f"looked in {looked}" if places else self._nowhere(package)
        raise ModelError(f"{shortened(name)!r} is not there: {where}")

    def included_model(self, uri: str) -> Path:
        """The file of a model that another includes: `model://NAME` is `model.sdf` in the folder of that name, which is
        looked for as packages are."""
        if uri.startswith("model://") and "/" not in uri.removeprefix("model://").strip("/"):
            return self.found(f"model://{uri.removeprefix('model://').strip('/')}/model.sdf")
        path = self.found(uri, missing=True)
        return path if not _is_folder(path) else self.found(f"{uri.rstrip('/')}/model.sdf")

    def weigh(self, path: Path) -> None:
        """Count the bytes of a file that is going to be read when it is looked at, once."""
        if path not in self.weighed:
            self.weighed.add(path)
            self.budget.spend("bytes", path.stat().st_size)

    def package(self, name: str) -> Path:
        """Folder of a package, for `$(find NAME)`."""
        places = self._places(name, name)
        if not places:
            raise ModelError(f"the package {shortened(name)!r} is not there: {self._nowhere(name)}")
        self.named.append(places[0])
        return places[0]

    def _places(self, package: str, name: str) -> list[Path]:
        if package in ("", ".", "..") or "/" in package or "\0" in package:
            raise ModelError(f"{shortened(name)!r} names no package")
        return list(dict.fromkeys(self._packages(package)))

    def _nowhere(self, package: str) -> str:
        return (f"no folder called {package!r} with a package.xml holds {str(self.folder)!r}, nor is one beside it; "
                "set ROS_PACKAGE_PATH to the folder that holds it")

    def _packages(self, package: str) -> Iterator[Path]:
        own = [self.folder, *self._home()]
        yield from (folder for folder in self.above
                    if folder.name == package and (folder in own or _is_package(folder)))
        yield from (beside / package for beside in [self.folder, *(each.parent for each in own)]
                    if _is_package(beside / package))
        for place in _search_folders():
            yield from ([place] if place.name == package else [])
            yield from ([place / package] if _is_folder(place / package) else [])

    def _home(self) -> list[Path]:
        """The package that holds the model, if any does."""
        for folder in self.above[:-1]:
            if _is_file(folder / "package.xml"):
                return [folder]
        return [self.folder.parent] if self.folder.name in _INNER else []

    def _checked(self, name: str, path: Path, allowed: list[Path], *, missing: bool = False) -> Path:
        try:
            true = path.resolve()
            within = self.trusted or any(true.is_relative_to(folder.resolve()) for folder in allowed)
            there = missing or true.is_file()
        except (OSError, RuntimeError, ValueError) as error:  # a ring of links, or a name that is too long
            raise ModelError(f"{shortened(name)!r} cannot be followed: {error}") from error
        if not within:
            raise ModelError(f"{shortened(name)!r} lies outside of '{allowed[-1]}' and is not read; put it there, name "
                             "its folder in ROS_PACKAGE_PATH, or load the model with trust=True")
        if not there:
            raise ModelError(f"{shortened(name)!r} is not there: looked for '{path}'")
        return true


def _search_folders() -> list[Path]:
    """The folders that the environment names."""
    listed = [(variable, Path(place)) for variable in (*_FOLDERS, _PREFIXES)
              for place in os.environ.get(variable, "").split(os.pathsep) if place]
    return [place / "share" if variable == _PREFIXES else place for variable, place in listed]


def _is_package(folder: Path) -> bool:
    return any(_is_file(folder / said) for said in _DESCRIPTIONS)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
