"""XML read safely and with line numbers: no entities, nothing fetched, bounded size; every error names file, line and
element.

Built on the standard library's expat, which knows the line of each element; document type declarations are refused, and
with them entity expansion and external entities."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ModelError, misspelt, shortened
from cayley.geometry.rotations.quaternion import matrix_from_quaternion
from cayley.model.budget import Budget
from cayley.model.formats.files import MOST_BYTES, read_bytes
from cayley.model.parts import LARGEST
from cayley.model.source import source_file

_ATTRIBUTES = 16  # more of them count as another element
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
THIS_IS_XACRO = "this is xacro: call the file robot.urdf.xacro, or expand it first, `xacro in.xacro > robot.urdf`"

_REQUIRED: Any = object()
_LATE_DECLARATION = expat.errors.codes[expat.errors.XML_ERROR_MISPLACED_XML_PI]


@dataclass(eq=False, slots=True)
class XmlElement:
    """One element, with where it stands."""

    tag: str
    attributes: dict[str, str]
    file: str
    line: int
    within: XmlElement | None = None
    children: list[XmlElement] = field(default_factory=list)
    text: str = ""  # what stands in it beside its children

    def error(self, problem: str) -> ModelError:
        """The error to raise about this element."""
        return ModelError(f"{self.file}, line {self.line}, {self}: {problem}")

    def __str__(self) -> str:
        name = self.attributes.get("name")
        if name is not None:
            return f'<{self.tag} name="{name}">'
        owner = self.within
        while owner is not None and "name" not in owner.attributes:
            owner = owner.within
        return f"<{self.tag}>" if owner is None or owner.within is None else f"<{self.tag}> of {owner}"

    # Children

    def all(self, tag: str) -> list[XmlElement]:
        return [child for child in self.children if child.tag == tag]

    def walk(self) -> Iterator[XmlElement]:
        """Iterate over the element and all elements within it, in the order of the document."""
        pending = [self]
        while pending:
            element = pending.pop()
            yield element
            pending.extend(reversed(element.children))

    def only(self, tag: str) -> XmlElement | None:
        """The child of this tag, if there is one; two are an error."""
        found = self.all(tag)
        if len(found) > 1:
            raise found[1].error(f"{self} has a <{tag}> already, in line {found[0].line}; there may be only one")
        return found[0] if found else None

    def required(self, tag: str) -> XmlElement:
        found = self.only(tag)
        if found is None:
            raise self.error(f"there is no <{tag}> in it")
        return found

    def check_children(self, known: Iterable[str]) -> None:
        """Raise an error for misspelt children, which would be ignored; children that resemble nothing known are
        extensions."""
        known = tuple(known)
        for child in self.children:
            if child.tag not in known and (meant := misspelt(child.tag, known)):
                raise child.error(f"there is no element of this name in {self}: did you mean <{meant}>?")

    # Attributes

    def word(self, key: str, default: Any = _REQUIRED) -> str:  # noqa: ANN401 (it is given back as it is)
        """An attribute that is not empty."""
        value = self.attributes.get(key, "").strip()
        if value:
            return value
        if key in self.attributes:
            raise self.error(f"the attribute {key} is empty")
        meant = misspelt(key, self.attributes)
        if default is _REQUIRED or meant:
            raise self.error(f"the attribute {key} is missing"
                             + (f"; is it the one written {meant!r}?" if meant else ""))
        return default

    def number(self, key: str, default: Any = _REQUIRED, *, largest: float = LARGEST) -> float:  # noqa: ANN401 (it is given back as it is)
        """An attribute that is one finite number."""
        text = self.word(key, None if default is not _REQUIRED else _REQUIRED)
        return default if text is None else self._one(key, text, largest)

    def numbers(self, key: str, count: int, default: Any = _REQUIRED) -> Array:  # noqa: ANN401 (it is given back as it is)
        """An attribute that is `count` finite numbers."""
        text = self.word(key, None if default is not _REQUIRED else _REQUIRED)
        if text is None:
            return np.array(default, dtype=float)
        words = text.split()
        if len(words) != count:
            raise self.error(
                f'{key}="{shortened(text)}" has {len(words)} entries; it needs {count} numbers, with spaces between '
                f'them'
                f"{_xacro_hint(text)}")
        return np.array([self._one(key, word, LARGEST) for word in words])

    def _one(self, key: str, text: str, largest: float) -> float:
        if not _NUMBER.fullmatch(text):
            raise self.error(f"{key} is {shortened(text)!r}, which is not a finite number{_xacro_hint(text)}")
        value = float(text)
        if not abs(value) <= largest:
            raise self.error(f"{key} is {shortened(text)}, which is absurdly large; the units are SI")
        return value


@contextmanager
def located(element: XmlElement) -> Iterator[None]:
    """Errors of the parts made here get the place of the element. The element's own errors belong outside."""
    try:
        yield
    except ModelError as error:
        raise element.error(str(error)) from error


def rotation_of_xyzw(element: XmlElement, what: str, xyzw: Iterable[float]) -> Array:
    """The rotation (3, 3) of a quaternion (x, y, z, w) that an element has, which must be of length one."""
    x, y, z, w = xyzw
    size = float(np.linalg.norm([w, x, y, z]))
    if not abs(size - 1) <= 1e-3:
        raise element.error(f"{what} has the length {size:.6g}; a quaternion of a rotation has length 1")
    return matrix_from_quaternion.unchecked(np.array([w, x, y, z]) / size)


def version_of(element: XmlElement, text: str, known: str) -> tuple[int, int]:
    """Major and minor number of a version such as 1.9; `known` ends the error message about any other text."""
    numbers = text.split(".")
    if len(numbers) != 2 or not all(each.isascii() and each.isdigit() and len(each) < 4 for each in numbers):
        raise element.error(known)
    return int(numbers[0]), int(numbers[1])


def source_of(path_or_text: str | os.PathLike[str]) -> Path | None:
    """The path, or None if the string is the document itself: it has a `<` in it, which the paths given as strings may
    not have."""
    if isinstance(path_or_text, os.PathLike):
        return Path(path_or_text)
    if not isinstance(path_or_text, str):
        raise ModelError(f"give a path or the text of the file, not {type(path_or_text).__name__}")
    if "<" in path_or_text or "\n" in path_or_text or not path_or_text.strip():
        return None
    return Path(path_or_text)


def source_words(path_or_text: str | os.PathLike[str]) -> str:
    """The source of a model in words, with the digest of its file; nothing, if the string is the document itself."""
    path = source_of(path_or_text)
    return "" if path is None else source_file(path, read_bytes(path))


def read_xml(path_or_text: str | os.PathLike[str], *, called: str = "text", budget: Budget | None = None) -> XmlElement:
    """The root element of a file or of a text, which messages call `called`; what is in it is spent from a budget.

    >>> read_xml("<robot name='arm'>\\n <link nam='base'/></robot>").children[0].word("name")
    Traceback (most recent call last):
    cayley.errors.ModelError: text, line 2, <link>: the attribute name is missing; is it the one written 'nam'?
    """
    path = source_of(path_or_text)
    budget = budget or Budget()
    if path is None:
        return _parsed(called, _encoded(str(path_or_text)), "utf-8", budget)
    return _parsed(path.name, read_bytes(path), None, budget)


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeError as error:
        line = text.count("\n", 0, getattr(error, "start", 0)) + 1
        raise ModelError(f"text, line {line}: there is a character that is not one of Unicode") from error


def _parsed(file: str, data: bytes, encoding: str | None, budget: Budget) -> XmlElement:
    if len(data) > MOST_BYTES:
        raise ModelError(f"{file} is larger than {MOST_BYTES // 2**20} MiB: that is not the description of a robot")
    budget.spend("bytes", len(data))
    builder = _Builder(file, encoding, budget)
    try:
        builder.parser.Parse(data, True)
    except expat.ExpatError as error:
        late = "; nothing may stand before <?xml, no comment and no blank" if error.code == _LATE_DECLARATION else ""
        raise ModelError(f"{file}, line {error.lineno}, column {error.offset + 1}: this is not XML: "
                         f"{expat.ErrorString(error.code)}{builder.open_element()}{late}") from error
    except (LookupError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(
            f"{file}, line {builder.parser.CurrentLineNumber}: the encoding is not usable: {error}") from error
    assert builder.root is not None  # expat refuses a document without an element
    return builder.root


class _Builder:
    """Makes elements from the events of expat."""

    def __init__(self, file: str, encoding: str | None, budget: Budget) -> None:
        self.file = file
        self.budget = budget
        self.root: XmlElement | None = None
        self.open: list[XmlElement] = []
        self.texts: list[list[str]] = []  # of the open elements
        self.parser = expat.ParserCreate(encoding)
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.write
        self.parser.StartDoctypeDeclHandler = self.refuse_declarations

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        try:
            self.budget.spend("elements", 1 + len(attributes) // _ATTRIBUTES)
        except ModelError as error:
            raise ModelError(f"{self.file}, line {self.parser.CurrentLineNumber}: {error}") from None
        parent = self.open[-1] if self.open else None
        element = XmlElement(tag, attributes, self.file, self.parser.CurrentLineNumber, parent)
        if parent is None:
            self.root = element
        else:
            parent.children.append(element)
        self.open.append(element)
        self.texts.append([])

    def write(self, text: str) -> None:
        self.texts[-1].append(text)

    def end(self, _: str) -> None:
        self.open.pop().text = "".join(self.texts.pop())

    def refuse_declarations(self, *_: object) -> None:
        raise ModelError(f"{self.file}, line {self.parser.CurrentLineNumber}, <!DOCTYPE>: document type declarations "
                         f"and entities are not supported; remove the declaration and write the values themselves")

    def open_element(self) -> str:
        return f", in {self.open[-1]} of line {self.open[-1].line}" if self.open else ""


def _xacro_hint(text: str) -> str:
    return f"; {THIS_IS_XACRO}" if "$" in text else ""


def quoted(value: str) -> str:
    """A value between quotes, as an attribute has it.

    >>> print(quoted('a "b" & <c>'))
    "a &quot;b&quot; &amp; &lt;c&gt;"
    """
    for letter, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("\n", "&#10;"),
                         ("\r", "&#13;"), ("\t", "&#9;")):
        value = value.replace(letter, name)
    return f'"{value}"'


def words(values: Iterable[float]) -> str:
    """Numbers to their last digit, as an attribute has them."""
    return " ".join(repr(float(value) + 0.0) for value in values)


def indented(lines: Iterable[str], depth: int) -> list[str]:
    """Lines indented by the depth of their elements."""
    return ["  " * depth + line for line in lines]


def left_out_comments(kind: str, parts: Iterable[str]) -> list[str]:
    """Comments that name the parts of a mechanism that a format cannot hold."""
    return [f"  <!-- not in {kind}: {part.replace('--', '- -')} -->" for part in parts]
