"""Checks of an MJCF file before MuJoCo reads it.

What is not XML, no finite number, no plain file, or in all of a size that no robot has is refused with its line. MuJoCo
would take hours for `<replicate count="1000000">`, all the memory for 100,000 x 100,000 heights, or for a thousand
textures, and forever for a pipe. The files that are named, and those that they include, lie where `search` says, unless
the file is trusted; included ones pass this gate too."""

from __future__ import annotations

import os
from collections import Counter
from math import inf, prod
from pathlib import Path

from cayley.errors import ModelError, shortened
from cayley.model.budget import MOST
from cayley.model.formats.files import check_file
from cayley.model.formats.search import FileSearch
from cayley.model.formats.xml_elements import XmlElement, located, read_xml, source_of

MOST_ASSET_BYTES = 256 * 2**20
MOST_PLACES = 20_000  # at which files are looked for

Models = dict[str, tuple[XmlElement, Path]]  # by the names that one document gives them: their roots and folders

_ENTRIES = {"hfield": ("nrow", "ncol"), "texture": ("width", "height"), "user": ("dim",), "numeric": ("size",)}
_FACES = 6  # of a texture that says its width alone
_ROUND = ("wedge", "plate")  # of builtin meshes: the first two parameters are numbers of points, of others the first
_TRIANGLES = 16  # for a point of such a mesh, of which MuJoCo makes the hull
_BYTES = 25  # of a mesh for a triangle
_REPLICATED = 4  # for which MuJoCo takes longer
_FLEXIBLE = 2  # bodies for a point
_BODIES = ("body", "composite", "flexcomp")  # the last two: of every point one
_FOR_EACH = ("nkey", "nuser_")  # of <size>: as many entries for every object
_FOLDERS = ("meshdir", "texturedir", "assetdir")
_STEPS = {"inttotal": 10.0, "timestep": 0.01}  # of <lengthrange>, with the defaults of the format
_NUMBERS_OF_A_KEY = 100  # for each object
_STEPS_OF_AN_ENTRY = 10  # of a simulation of one object


def checked_mjcf(path_or_text: str | os.PathLike[str], *, trust: bool = False) -> XmlElement:
    """The root element of a file, or of a text, that MuJoCo can be given.

    >>> checked_mjcf('<mujoco><worldbody><replicate count="1000000"><geom size="1"/></replicate></worldbody></mujoco>')
    Traceback (most recent call last):
    cayley.errors.ModelError: text, line 1, <geom>: the model needs more than 20000 objects...
    """
    search = FileSearch(source_of(path_or_text) or Path("model.xml"), trusted=trust)
    root = read_xml(path_or_text, budget=search.budget)
    if root.tag != "mujoco":
        raise root.error("this is URDF, not MJCF: load_urdf reads it" if root.tag == "robot" else
                         "an MJCF file has <mujoco> as its root")
    gate = _Gate(search)
    gate.walk(root)
    gate.check_assets()
    return root


class _Gate:
    """One pass over all elements, those of included files and attached models among them."""

    def __init__(self, search: FileSearch) -> None:
        self.search = search
        self.budget = search.budget
        self.folder = search.folder
        self.counts: Counter[str] = Counter()
        self.for_each = 0.0
        self.steps = _steps({})
        self.read: dict[Path, XmlElement] = {}
        self.assets: list[tuple[str, XmlElement]] = []
        self.folders: dict[Path, None] = {self.folder: None}
        self.asset_folders: dict[str, None] = {"": None}

    def walk(self, root: XmlElement) -> None:
        pending = [(root, 1.0, self.folder, {})]  # type: list[tuple[XmlElement, float, Path, Models]]
        while pending:
            element, times, folder, models = pending.pop()
            with located(element):
                self._spend(element, times)
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

    def _spend(self, element: XmlElement, times: float) -> None:
        for key, value in element.attributes.items():
            if key != "name" and any(word.lower().strip("+-") in ("nan", "inf", "infinity") for word in value.split()):
                raise ModelError(f"{key} is {shortened(value)!r}, which is not a finite number")
        self.budget.spend("objects", times * _grid(element) * (_REPLICATED if times > 1 else 1))
        self.budget.spend("bodies", times * _grid(element) if element.tag in _BODIES else 0.0)
        self.budget.spend("numbers", times * _entries(element))
        self.budget.spend("triangles", _TRIANGLES * _points(element))
        self._spend_products(element, times)
        if element.tag == "compiler":
            named = [element.attributes[key] for key in _FOLDERS if key in element.attributes]
            self.asset_folders |= dict.fromkeys(named)
        if element.tag not in ("include", "model"):
            self.assets += [(value, element) for key, value in element.attributes.items() if key.startswith("file")]

    def _spend_products(self, element: XmlElement, times: float) -> None:
        """Count what grows with the number of objects: entries of each, configurations, and the ranges of muscles."""
        self.counts[element.tag] += int(min(times, self.budget.spent["objects"]))
        if element.tag == "size":
            sizes = [_number(element, key, 0.0) for key in element.attributes if key.startswith(_FOR_EACH)]
            self.for_each = max([self.for_each, *sizes])
        if element.tag == "lengthrange":
            self.steps = max(self.steps, _steps(element.attributes))
        for_each = (self.for_each, _NUMBERS_OF_A_KEY * self.counts["key"],
                    self.counts["muscle"] * self.steps / _STEPS_OF_AN_ENTRY)
        if max(for_each) * self.budget.spent["objects"] > MOST["numbers"]:
            raise ModelError(f"with this there are more than {MOST['numbers']} numbers, for every object its own")

    def _file(self, element: XmlElement, folder: Path) -> tuple[XmlElement, Path]:
        """Included file, searched for as by MuJoCo: beside the main file, then beside the including one."""
        name = element.word("file")
        beside = next((place for place in (self.folder, folder) if _is_there(place / name)), self.folder)
        path = beside / name
        with located(element):
            if path not in self.read:
                self.search.found(name, beside=beside, missing=True)
                self.read[path] = read_xml(path, budget=self.budget)
                self.folders[path.parent] = None
        return self.read[path], path.parent

    def check_assets(self) -> None:
        """Check that meshes, pictures and height fields are plain files of the model, wherever MuJoCo may look for
        them."""
        named = Counter(name for name, _ in self.assets)
        if len(named) * len(self.folders) * len(self.asset_folders) > MOST_PLACES:
            raise ModelError(f"the files that it names are looked for at more than {MOST_PLACES} places: that is no "
                             "robot")
        for name, element in dict(self.assets).items():
            places = dict.fromkeys(folder / below for folder in self.folders for below in self.asset_folders)
            with located(element):
                for place in places:
                    if _is_there(place / name):
                        self._check_asset(name, place, named[name])

    def _check_asset(self, name: str, beside: Path, times: int) -> None:
        check_file(beside / name, most=MOST_ASSET_BYTES)
        path = self.search.found(name, beside=beside)
        size = path.stat().st_size
        self.budget.spend("triangles", (times - (path not in self.search.weighed)) * size / _BYTES)
        self.search.weigh(path)
        try:
            self.budget.spend("numbers", times * _pixels(path))
        except ModelError as error:
            raise ModelError(f"{name!r} is a picture of more than it may have: {error}") from error


def _is_there(path: Path) -> bool:
    return os.path.lexists(path)


def _grid(element: XmlElement) -> float:
    """Number of objects that an element stands for."""
    return _FLEXIBLE * _product(element, ("count",)) if element.tag in ("composite", "flexcomp") else 1.0


def _points(element: XmlElement) -> float:
    """Number of points of a mesh that MuJoCo generates."""
    if element.tag != "mesh" or "builtin" not in element.attributes:
        return 0.0
    first, second, *_ = [*[max(_as_number(word), 1.0) for word in element.attributes.get("params", "").split()], 1, 1]
    return first * (second if element.attributes["builtin"] in _ROUND else first)


def _steps(attributes: dict[str, str]) -> float:
    """Number of simulation steps for the range of a muscle."""
    total, step = (_as_number(attributes[key]) if key in attributes else default for key, default in _STEPS.items())
    return total / step if step > 0 else inf


def _entries(element: XmlElement) -> float:
    """Number of entries, or of simulation steps, that an element needs."""
    if element.tag == "lengthrange":
        return 100 * _steps(element.attributes)
    if element.tag not in _ENTRIES:
        asked = 0.0
    elif element.tag == "texture" and "height" not in element.attributes:
        asked = _FACES * _product(element, ("width", "width"))
    else:
        asked = _product(element, _ENTRIES[element.tag])
    reserving = element.tag == "size"
    alone = [key for key in element.attributes if key in ("actdim", "nsample") or (reserving and key.startswith("n"))]
    return max([asked, *(_number(element, key, 0.0) for key in alone)])


def _product(element: XmlElement, keys: tuple[str, ...]) -> float:
    return prod(max(_as_number(word), 1.0) for key in keys for word in element.attributes.get(key, "").split())


def _number(element: XmlElement, key: str, default: float) -> float:
    words = element.attributes.get(key, "").split()
    return _as_number(words[0]) if words else default


def _as_number(word: str) -> float:
    """Number in a word, or 0 where MuJoCo itself will raise an error."""
    try:
        return float(word)
    except ValueError:
        return 0.0


def _pixels(path: Path) -> int:
    """Number of pixels of a PNG file: a picture of a few bytes may be as large as memory."""
    if path.suffix.lower() != ".png" or not path.is_file():
        return 0
    with open(path, "rb") as file:
        head = file.read(24)
    return int.from_bytes(head[16:20], "big") * int.from_bytes(head[20:24], "big")
