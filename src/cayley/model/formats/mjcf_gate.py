"""What an MJCF file asks for, looked at before MuJoCo reads it.

What is not XML, no finite number, no plain file, or of a size that no robot has is refused with its line. MuJoCo would
take hours for `<replicate count="1000000">`, all the memory for 100,000 x 100,000 heights, and forever for a pipe.
The files that are named may lie anywhere, also behind `../`, as the format allows; included ones pass this gate too.
"""

from __future__ import annotations

import os
from itertools import product
from math import inf, prod
from pathlib import Path

from cayley.errors import ModelError
from cayley.model.formats.files import check_file
from cayley.model.formats.xml_elements import Element, read_xml, source_of
from cayley.wording import shortened

MOST_OBJECTS = 20_000  # elements, each as often as it is replicated; MuJoCo's time grows with the square
MOST_ENTRIES = 2 * 10**7  # numbers that one element asks for: heights, pixels, steps
MOST_ASSET_BYTES = 256 * 2**20
MOST_FOLDERS = 100

Models = dict[str, tuple[Element, Path]]  # by the names that one document gives them: their roots and folders

_ENTRIES = {"hfield": ("nrow", "ncol"), "texture": ("width", "height"), "mesh": ("params",), "user": ("dim",),
            "numeric": ("size",)}
_FOR_EACH = ("nkey", "nuser_")  # of <size>: as many entries for every object
_FOLDERS = ("meshdir", "texturedir", "assetdir")
_STEPS = {"inttotal": 10.0, "timestep": 0.01}  # of <lengthrange>, with the defaults of the format


def checked_mjcf(path_or_text: str | os.PathLike[str]) -> Element:
    """The root element of a file, or of a text, that MuJoCo can be given.

    >>> checked_mjcf('<mujoco><worldbody><replicate count="1000000"><geom size="1"/></replicate></worldbody></mujoco>')
    Traceback (most recent call last):
    cayley.errors.ModelError: text, line 1, <geom>: with this there are more than 20000 objects...
    """
    root = read_xml(path_or_text)
    if root.tag != "mujoco":
        raise root.error("this is URDF, not MJCF: load_urdf reads it" if root.tag == "robot" else
                         "an MJCF file has <mujoco> as its root")
    path = source_of(path_or_text)
    gate = _Gate(path.parent if path else Path())
    gate.walk(root)
    gate.check_assets()
    return root


class _Gate:
    """One pass over all elements, those of included files and attached models among them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.objects = 0
        self.for_each = 0.0
        self.read: dict[Path, Element] = {}
        self.assets: dict[str, Element] = {}
        self.folders: dict[Path, None] = {folder: None}
        self.asset_folders: dict[str, None] = {"": None}

    def walk(self, root: Element) -> None:
        pending = [(root, 1.0, self.folder, {})]  # type: list[tuple[Element, float, Path, Models]]
        while pending:
            element, times, folder, models = pending.pop()
            self._check(element, times)
            times *= _number(element, "count", 1.0) if element.tag == "replicate" else 1.0
            ordered = sorted(element.children, key=lambda child: child.tag != "asset")
            inner = [(child, folder, models) for child in ordered]
            if element.tag == "include":
                included, beside = self._file(element, folder)
                inner += [(child, beside, models) for child in included.children]
            elif element.tag == "model" and "file" in element.attributes:
                models[element.attributes.get("name", "")] = self._file(element, folder)
            elif element.tag == "attach" and element.attributes.get("model") in models:
                inner.append((*models[element.attributes["model"]], {}))
            pending += [(child, times, beside, named) for child, beside, named in reversed(inner)]

    def _check(self, element: Element, times: float) -> None:
        for key, value in element.attributes.items():
            if key != "name" and any(word.lower().strip("+-") in ("nan", "inf", "infinity") for word in value.split()):
                raise element.error(f"{key} is {shortened(value)!r}, which is not a finite number")
        self.objects += int(min(times * _grid(element), MOST_OBJECTS + 1.0))
        if self.objects > MOST_OBJECTS:
            raise element.error(f"with this there are more than {MOST_OBJECTS} objects, counting what is replicated: "
                                "that is no robot")
        if element.tag == "size":
            sizes = [_number(element, key, 0.0) for key in element.attributes if key.startswith(_FOR_EACH)]
            self.for_each = max([self.for_each, *sizes])
        if max(times * _entries(element), self.for_each * self.objects) > MOST_ENTRIES:
            raise element.error(f"this asks for more than {MOST_ENTRIES} numbers: that is no robot")
        if element.tag == "compiler":
            named = [element.attributes[key] for key in _FOLDERS if key in element.attributes]
            self.asset_folders |= dict.fromkeys(named)
        if element.tag not in ("include", "model"):
            self.assets |= {value: element for key, value in element.attributes.items() if key.startswith("file")}

    def _file(self, element: Element, folder: Path) -> tuple[Element, Path]:
        """What an element includes, looked for as by MuJoCo: beside the main file, then beside its own."""
        name = element.word("file")
        places = (self.folder / name, folder / name)
        path = next((place for place in places if os.path.lexists(place)), places[0])
        if path not in self.read:
            try:
                self.read[path] = read_xml(path)
            except ModelError as error:
                raise element.error(str(error)) from error
            self.folders[path.parent] = None
        return self.read[path], path.parent

    def check_assets(self) -> None:
        """That meshes, pictures and height fields are plain files, wherever MuJoCo may look for them."""
        if max(len(self.folders), len(self.asset_folders)) > MOST_FOLDERS:
            raise ModelError(f"the files that it names are in more than {MOST_FOLDERS} folders: that is no robot")
        for (name, element), folder, below in product(self.assets.items(), self.folders, self.asset_folders):
            path = folder / below / name
            try:
                check_file(path, most=MOST_ASSET_BYTES)
                if _pixels(path) > MOST_ENTRIES:
                    raise ModelError(f"{str(path)!r} is a picture of more than {MOST_ENTRIES} pixels")
            except ModelError as error:
                raise element.error(str(error)) from error


def _grid(element: Element) -> float:
    """How many objects an element stands for."""
    return _product(element, ("count",)) if element.tag in ("composite", "flexcomp") else 1.0


def _entries(element: Element) -> float:
    """How many numbers, or steps of a simulation, an element asks for."""
    if element.tag == "lengthrange":
        total, step = (_number(element, key, default) for key, default in _STEPS.items())
        return 100 * total / step if step > 0 else inf
    square = element.tag == "texture" and "height" not in element.attributes
    asked = _product(element, ("width", "width") if square else _ENTRIES.get(element.tag, ()))
    reserving = element.tag == "size"
    alone = [key for key in element.attributes if key in ("actdim", "nsample") or (reserving and key.startswith("n"))]
    return max([asked, *(_number(element, key, 0.0) for key in alone)])


def _product(element: Element, keys: tuple[str, ...]) -> float:
    return prod(max(_as_number(word), 1.0) for key in keys for word in element.attributes.get(key, "").split())


def _number(element: Element, key: str, default: float) -> float:
    words = element.attributes.get(key, "").split()
    return _as_number(words[0]) if words else default


def _as_number(word: str) -> float:
    """What MuJoCo will refuse itself counts as nothing."""
    try:
        return float(word)
    except ValueError:
        return 0.0


def _pixels(path: Path) -> int:
    """Of a PNG file: a picture of a few bytes may be as large as memory."""
    if path.suffix.lower() != ".png" or not path.is_file():
        return 0
    with open(path, "rb") as file:
        head = file.read(24)
    return int.from_bytes(head[16:20], "big") * int.from_bytes(head[20:24], "big")
