"""How a library of C lies in a folder, for the tools that build it. One module each, one line here."""

from cayley.exports.layouts.arduino import Arduino
from cayley.exports.layouts.cmake import CMake
from cayley.exports.layouts.layout import Layout, Library

LAYOUTS: dict[str, Layout] = {"cmake": CMake(), "arduino": Arduino()}

__all__ = ["LAYOUTS", "Layout", "Library"]
