"""The URDF that xacro makes of a file with macros.

`$(find NAME)` is the folder in which `package://NAME` is looked for, see `search`; no installation of ROS is asked.
Arguments, `<xacro:arg>`, are given by name; an unknown one raises an error. What stands in `${...}` is evaluated by
`xacro_expressions`, which runs nothing; files that are included, and those of `load_yaml`, lie where meshes may lie;
what is expanded is counted. With `trust` the package xacro does as it likes: it evaluates `${...}` as Python, and reads
any file and the environment."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from glob import escape, glob, has_magic
from io import StringIO
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any
from xml.dom import minidom

from cayley.errors import ModelError, did_you_mean, printable, shown, warn_user
from cayley.extras import optional_imports
from cayley.model.budget import Budget
from cayley.model.formats.files import decoded, read_bytes
from cayley.model.formats.search import FileSearch
from cayley.model.formats.xacro_expressions import LARGEST, Known, Names, evaluate, known, weight
from cayley.model.formats.xml_elements import XmlElement, read_xml

_KNOWN = re.compile(r"<xacro:arg\b[^>]{0,1000}?\bname\s*=\s*[\"']([^\"']+)[\"']|\$\(\s*arg\s+([^\s)]+)|"
                    r"xacro\.arg\(\s*[\"']([^\"']+)")
_PIECES = re.compile(r"(?P<escaped>\$\$+[{(])|\$\{(?P<expression>[^}]*)\}|\$\((?P<extension>[^)]*)\)|"
                     r"(?P<text>[^$]+|\$[^{($]+|\$\Z)")
_YAML_BYTES = 128 * 2**10  # its reader takes seconds for a megabyte
_UNITS = {"!radians": 1.0, "!degrees": 0.017453292519943295, "!meters": 1.0, "!millimeters": 0.001, "!foot": 0.3048,
          "!inches": 0.0254}
_STEPS_OF_A_FILE = 100  # that is looked for
_LETTERS = 8  # letters that are joined in a step
_DOCUMENT: Any = minidom.Document
_ELEMENT: Any = minidom.Element
_COST = 2  # of an element: those of the standard library are large
_SIBLINGS = 0.02  # steps of looking at one of the elements beside another
_ONE_AT_A_TIME = Lock()  # xacro keeps its state in its module


def said(arguments: Mapping[str, object]) -> dict[str, str]:
    """Arguments as xacro takes them, which are texts.

    >>> said({"prefix": "left_", "with_gripper": True, "reach": 0.5})
    {'prefix': 'left_', 'with_gripper': 'true', 'reach': '0.5'}
    """
    if not isinstance(arguments, Mapping) or not all(isinstance(key, str) for key in arguments):
        raise ModelError(f'arguments are given by name, arguments={{"prefix": "left_"}}, not as {shown(arguments)}')
    return {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in arguments.items()}


def expanded(path: Path, arguments: Mapping[str, str], *, trust: bool = False) -> str:
    """The text of a file with its macros expanded; `ModelError` says which file xacro was at. Only with `trust` is what
    stands in it run as Python."""
    xacro = _xacro()
    read_xml(path)  # names the line of what is not XML, and refuses what is no plain file or declares entities
    search = FileSearch(path, trusted=trust)
    said_by_xacro = StringIO()
    with (_ONE_AT_A_TIME, _packages_of(search) if trust else _Expansion(xacro, search).in_place(),
          redirect_stderr(said_by_xacro)):
        xacro.all_includes.clear()
        try:
            document = xacro.process_file(str(path), mappings=dict(arguments))
            text = str(document.toprettyxml(indent="  "))
        except Exception as error:  # it lets through whatever the expressions of a file raise
            raise ModelError(f"{path.name}: xacro cannot expand it: {_why(error, path, xacro)}") from error
        _check_known(path, arguments, [path, *map(Path, xacro.all_includes)])
    if said_by_xacro.getvalue().strip():
        warn_user(printable(f"{path.name}: xacro says: {' '.join(said_by_xacro.getvalue().split())[:2000]}"))
    return text


def _xacro() -> ModuleType:
    try:
        import xacro
    except ImportError as error:
        raise ModelError("xacro files are expanded by the package xacro, which is not installed: pip install "
                         "'cayley[xacro]'") from error
    return xacro


@contextmanager
def _packages_of(search: FileSearch) -> Iterator[None]:
    """Patch of xacro that finds packages by our search, instead of by an installation of ROS."""
    from xacro import substitution_args
    own: Any = substitution_args
    before = own._eval_find
    own._eval_find = own._eval_dict["find"] = lambda name: str(search.package(name))
    try:
        yield
    finally:
        own._eval_find = own._eval_dict["find"] = before


class _Expansion:
    """Replacements for xacro's own functions while it expands an untrusted file."""

    def __init__(self, xacro: ModuleType, search: FileSearch) -> None:
        self.xacro = xacro
        self.search = search
        self.budget = search.budget
        self.yaml: dict[Path, object] = {}
        self.symbols = known()
        own = {"load_yaml": Known(self.load_yaml), "dotify": Known(lambda value: value),
               "abs_filename": Known(lambda name: str(xacro.abs_filename_spec(name)))}
        told = {name: Known(getattr(self, name), named=True) for name in ("message", "warning", "error", "fatal")}
        inner = self.symbols["xacro"]
        assert isinstance(inner, Names)
        inner |= {**own, **told, "arg": Known(self.argument), "print_location": Known(lambda: "")}
        self.symbols |= own

    @contextmanager
    def in_place(self) -> Iterator[None]:
        own = {"eval_text": self.text, "eval_extension": self.extension, "parse": self.parsed,
               "load_yaml": self.load_yaml, "get_include_files": self.included, "_global_symbols": self.symbols,
               "safe_eval": lambda text, names, _=None: evaluate(text, names, self.budget)}
        before = {name: getattr(self.xacro, name) for name in own}
        try:
            for name, value in own.items():
                setattr(self.xacro, name, value)
            yield
        finally:
            for name, value in before.items():
                setattr(self.xacro, name, value)

    # Texts

    def text(self, text: str, symbols: Mapping[str, object]) -> object:
        """A text with what stands in `${...}` and `$(...)` evaluated; one that is nothing else keeps its type."""
        if "$" not in text:
            return text
        found: list[object] = []
        place = 0
        while place < len(text):
            piece = _PIECES.match(text, place)
            if piece is None:
                raise self.xacro.XacroException(f"invalid expression: {text[place:]}")
            place = piece.end()
            found.append(self._piece(piece, symbols))
        if len(found) == 1:
            return found[0]
        words = [str(each) for each in found]
        self.budget.spend("steps", sum(map(len, words)) / _LETTERS)
        return "".join(words)

    def _piece(self, piece: re.Match[str], symbols: Mapping[str, object]) -> object:
        kind = piece.lastgroup
        inner = piece[str(kind)]
        if kind == "extension":
            return self.extension(f"$({self.text(inner, symbols)})")
        if kind != "expression":
            return inner[1:] if kind == "escaped" else inner
        try:
            return evaluate(str(self.text(inner, symbols)), symbols, self.budget)
        except Exception as error:
            raise self.xacro.XacroException(exc=error, suffix=f" when evaluating expression '{inner}'") from error

    def extension(self, text: str) -> str:
        """Value of `$(...)`."""
        command, _, rest = text[2:-1].strip().partition(" ")
        rest = rest.strip()
        if command == "eval":
            given = {name: _number_or_word(value) for name, value in self._arguments().items()}
            names = {**given, **self.symbols, "true": True, "false": False,
                     "arg": Known(lambda name: _number_or_word(self.argument(name))), "find": Known(self.package)}
            return str(evaluate(rest, names, self.budget))
        if command == "arg":
            return self.argument(rest)
        if command == "find":
            return self.package(rest)
        raise ModelError(f"{text} is not read from a file that nobody vouches for: give the value as an argument, or "
                         "cy.load(path, trust=True), or cayley --trust, if you trust its author")

    def _arguments(self) -> dict[str, str]:
        return self.xacro.substitution_args_context["arg"]

    def argument(self, name: str) -> str:
        """The value of an argument."""
        if name not in self._arguments():
            raise self.xacro.XacroException(f"Undefined substitution argument {name}")
        return self._arguments()[name]

    def package(self, name: str) -> str:
        """The folder of a package."""
        return str(self.search.package(name))

    def message(self, *words: object, **_: object) -> str:
        """Print a message of the file."""
        self.budget.spend("steps", sum(map(weight, words)))
        self.xacro.message(*words)
        return ""

    def warning(self, *words: object, **_: object) -> str:
        """Print a warning of the file."""
        return self.message("warning:", *words)

    def error(self, *words: object, **_: object) -> str:
        """Print an error of the file and go on."""
        return self.message("error:", *words)

    def fatal(self, *words: object, **_: object) -> str:
        """Print an error of the file and stop."""
        raise self.xacro.XacroException(" ".join(map(str, words)))

    # Files

    def included(self, name: str, symbols: Mapping[str, object]) -> Iterator[str]:
        """The files that a name, or a pattern of names in one folder, includes."""
        name = str(self.text(name, symbols))
        for each in self._matching(name) if has_magic(name) else [name]:
            path = self._found(each, missing=True)
            self.xacro.all_includes.append(str(path))
            yield str(path)

    def _found(self, name: str, *, missing: bool = False) -> Path:
        self.budget.spend("steps", _STEPS_OF_A_FILE)
        return self.search.found(name, beside=Path(self.xacro.filestack[-1]).parent, missing=missing)

    def _matching(self, pattern: str) -> list[str]:
        folder, _, last = pattern.rpartition("/")
        if has_magic(folder):
            raise ModelError(f"{pattern!r}: a pattern of names is one of files in a folder, not of folders")
        place = self._found(folder or ".", missing=True)
        found = sorted(glob(f"{escape(str(place))}/{last}"))
        if not found:
            self.warning(self.xacro.include_no_matches_msg.format(pattern))
        return found

    def parsed(self, _: None, file: str) -> Document:
        """The document of a file."""
        path = Path(file)
        if not path.is_file() and not path.exists():  # which `optional` forgives
            self.xacro.filestack.pop()
            raise self.xacro.XacroException(exc=FileNotFoundError(f"No such file or directory: {file!r}"))
        return Document(read_xml(path, budget=self.budget), self.budget)

    def load_yaml(self, name: str) -> object:
        """Data in a YAML file."""
        path = self._found(name)
        if path not in self.yaml:
            data = read_bytes(path, most=_YAML_BYTES)
            self.budget.spend("steps", len(data))
            self.yaml[path] = _yaml(decoded(path.name, data), self._quantity)
        self.xacro.all_includes.append(str(path))
        return self.yaml[path]

    def _quantity(self, text: str) -> float:
        return float(evaluate(text, self.symbols, self.budget))  # type: ignore[arg-type]  # or it raises


# Documents, in which every element is counted when it is made


class Document(_DOCUMENT):
    """A document whose elements and texts, those of every copy too, are spent from a budget."""

    def __init__(self, root: XmlElement, budget: Budget) -> None:
        super().__init__()
        self.budget = budget
        self.appendChild(self._made_of(root))

    def _made_of(self, root: XmlElement) -> CountedElement:
        """An element with all that is in it; texts stand before the elements beside them."""
        top = self.createElement(root.tag)
        pending = [(root, top)]
        while pending:
            read, made = pending.pop()
            for name, value in read.attributes.items():
                made.setAttribute(name, value)
            if read.text.strip():
                made.appendChild(self.createTextNode(read.text))
            for child in read.children:
                inner = self.createElement(child.tag)
                made.appendChild(inner)
                pending.append((child, inner))
        return top

    def createElement(self, tag: str) -> CountedElement:
        self.budget.spend("elements", _COST)
        made = CountedElement(tag)
        made.ownerDocument = self
        return made

    def createTextNode(self, data: str) -> minidom.Text:
        self.budget.spend("bytes", len(data))
        return super().createTextNode(data)


class CountedElement(_ELEMENT):
    """An element that counts its attributes, its copies, and the search among its children."""

    def setAttribute(self, name: str, value: object) -> None:
        if not self.hasAttribute(name):
            self.ownerDocument.budget.spend("elements", 1)
        prefix, _, last = name.rpartition(":")
        if prefix and last:  # `xacro:name` is another attribute than `name`
            self.setAttributeNS(prefix, name, str(value))
        else:
            super().setAttribute(name, str(value))

    def cloneNode(self, deep: bool) -> CountedElement:
        made: CountedElement = self.ownerDocument.createElement(self.tagName)
        for name, value in self.attributes.items():
            made.setAttribute(name, value)
        for child in self.childNodes if deep else ():
            made.appendChild(child.cloneNode(deep))
        return made

    def insertBefore(self, node: minidom.Node, before: minidom.Node | None) -> minidom.Node:
        self._look()
        return super().insertBefore(node, before)

    def removeChild(self, node: minidom.Node) -> minidom.Node:
        self._look()
        return super().removeChild(node)

    def _look(self) -> None:
        self.ownerDocument.budget.spend("steps", _SIBLINGS * len(self.childNodes))


def _number_or_word(text: str) -> object:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)


def _yaml(text: str, quantity: Callable[[str], float]) -> object:
    """Data in a YAML text; their size is checked before repeated parts are built."""
    with optional_imports():
        import yaml

    class Loader(yaml.SafeLoader):
        pass

    for unit, factor in _UNITS.items():
        Loader.add_constructor(
            unit, lambda loader, node, factor=factor: factor * quantity(loader.construct_scalar(node)))
    loader = Loader(text)
    try:
        node = loader.get_single_node()
        pending = [] if node is None else [node]
        for _ in range(LARGEST):
            if not pending:
                break
            inner = pending.pop().value
            for each in inner if isinstance(inner, list) else ():
                pending += each if isinstance(each, tuple) else [each]
        if pending:
            raise ModelError(f"a YAML file has more than {LARGEST} entries")
        return None if node is None else loader.construct_document(node)
    finally:
        loader.dispose()


def _why(error: Exception, path: Path, xacro: ModuleType) -> str:
    at = [Path(each).name for each in getattr(xacro, "filestack", None) or () if each]
    where = f"in {at[-1]}: " if at and at[-1] != path.name else ""
    words = " ".join(str(error).split()) or type(error).__name__
    missing = re.search(r"Undefined substitution argument (\w+)", words)
    cure = f'; give it, cy.load(path, arguments={{"{missing.group(1)}": ...}})' if missing else ""
    return f"{where}{words}{cure}"


def _check_known(path: Path, arguments: Mapping[str, str], files: list[Path]) -> None:
    if not arguments:
        return
    texts = [read_bytes(file).decode("utf-8", errors="replace") for file in dict.fromkeys(files) if file.is_file()]
    known = {name for text in texts for found in _KNOWN.findall(text) for name in found if name}
    for name in arguments:
        if name not in known:
            there = f"; it has {', '.join(sorted(known))}" if known else "; it has none"
            raise ModelError(f"{path.name} has no argument {name!r}{did_you_mean(name, known, otherwise=there)}")
