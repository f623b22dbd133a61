"""Versions of Python and of packages that Cayley needs: older ones fail without a helpful message.

With llvmlite before 0.48 LLVM ends the process when it compiles a vector of sines; NumPy before 2.3 cannot trace
products of whole numbers."""

from __future__ import annotations

import re
from types import ModuleType

from cayley.errors import VersionError

LEAST = {"Python": "3.11", "numpy": "2.3", "llvmlite": "0.48"}


def require(name: str, version: str) -> None:
    """Refuse a version that is too old."""
    if _numbers(version) < _numbers(LEAST[name]):
        how = "install a newer one" if name == "Python" else f"pip install --upgrade '{name}>={LEAST[name]}'"
        raise VersionError(f"Cayley needs {name} {LEAST[name]} or later; this is {version}: {how}")


def require_package(package: ModuleType) -> None:
    require(package.__name__, package.__version__)


def _numbers(version: str) -> tuple[int, ...]:
    """The first two numbers, which are all that the bounds have: "0.48.0rc1" is (0, 48)."""
    return tuple(int(digits) for digits in re.findall(r"\d+", version)[:2])
