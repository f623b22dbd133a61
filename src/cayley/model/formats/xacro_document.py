"""Documents as the package xacro takes them, in which every element is counted when it is made."""

from __future__ import annotations

from typing import Any
from xml.dom import minidom

from cayley.model.budget import Budget
from cayley.model.formats.xml_elements import Element

_DOCUMENT: Any = minidom.Document
_ELEMENT: Any = minidom.Element
_COST = 2  # of an element: those of the standard library are large
_SIBLINGS = 0.02  # steps of looking at one of the elements beside another


class Document(_DOCUMENT):
    """A document whose elements and texts, those of every copy too, are spent from a budget."""

    def __init__(self, root: Element, budget: Budget) -> None:
        super().__init__()
        self.budget = budget
        self.appendChild(self._made_of(root))

    def _made_of(self, root: Element) -> CountedElement:
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
        made: minidom.Text = super().createTextNode(data)
        return made


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
        made: minidom.Node = super().insertBefore(node, before)
        return made

    def removeChild(self, node: minidom.Node) -> minidom.Node:
        self._look()
        made: minidom.Node = super().removeChild(node)
        return made

    def _look(self) -> None:
        self.ownerDocument.budget.spend("steps", _SIBLINGS * len(self.childNodes))
