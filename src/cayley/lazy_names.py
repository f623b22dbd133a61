"""Packages whose names are imported when they are first asked for (PEP 562), and former names of packages and classes.

The names of a package stand in its stub, `__init__.pyi`, as ordinary imports, which editors and type checkers read too.
Functions and classes that users reach through their package explain how they are called when a call does not fit.
A name that has been changed works until the next minor version, with a DeprecationWarning that says the new one."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from cayley.errors import did_you_mean
from cayley.explained_calls import explained, may_not_fit, with_explained_calls

Kind = TypeVar("Kind", bound=type)
GOES = "goes with version 0.4.0"  # what is deprecated in this version (docs/start/versions.md)


def lazy_names(package: str, file: str,
               former: Mapping[str, str] | None = None) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for the package of a name and the file of its `__init__`.

    The package's modules are there too, without an import of their own. `former` gives the new names of former ones:
    {"old": "new"} in the same package, {"old": "planning.new"} in another package of Cayley.

    A name that is also a module of the package is an `ImportError`: which of the two it gave would depend on what was
    imported before."""
    stub = Path(file).with_suffix(".pyi")
    folder = stub.parent

    explaining: dict[str, Any] = {}

    @cache
    def homes() -> dict[str, str]:
        lines = ast.parse(stub.read_text(encoding="utf-8")).body
        imports = [line for line in lines if isinstance(line, ast.ImportFrom)]
        found = {alias.name: str(node.module) for node in imports for alias in node.names}
        for name in filter(is_module, found):
            raise ImportError(f"{stub} imports {name!r} from {found[name]}, and {package} has a module {name!r}: "
                              "rename one of them", name=package, path=file)
        return found

    def is_module(name: str) -> bool:
        return (folder / f"{name}.py").is_file() or (folder / name).is_dir()

    def get(name: str) -> Any:  # noqa: ANN401 (whatever the name stands for)
        if name in explaining:
            return explaining[name]
        if name == "__all__":
            return sorted(homes())
        if not name.startswith("_") and is_module(name):
            homes()
            return import_module(f"{package}.{name}")
        if former and name in former:
            return _renamed(package, name, former[name])
        if name.startswith("_") or name not in homes():
            advice = "" if name.startswith("_") else did_you_mean(name, homes())
            raise AttributeError(f"module {package!r} has no attribute {name!r}{advice}")
        found = getattr(import_module(homes()[name]), name)
        if may_not_fit(found):
            # not put into the package, where doctest would find its examples a second time
            return explaining.setdefault(name, _of_package(package, explained(found)))
        if isinstance(found, type):
            with_explained_calls(found)
        if package in sys.modules:
            setattr(sys.modules[package], name, found)  # from now on as any other name
        return found

    return get, lambda: sorted(homes())


def _of_package(package: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with the package as its home, where pickle finds it."""
    function.__module__ = package
    return function


def former_names(package: str, former: Mapping[str, str]) -> Callable[[str], Any]:
    """`__getattr__` for a package with former names: {"old": "new"}, or {"old": "planning.new"} in another package."""
    def get(name: str) -> Any:  # noqa: ANN401 (whatever the name stands for)
        if name not in former:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return _renamed(package, name, former[name])

    return get


def with_former_names(former: Mapping[str, str]) -> Callable[[Kind], Kind]:
    """A decorator of a class: objects of it answer to former names, {"old": "new"} or {"old": "room.new"}.

    >>> @with_former_names({"width": "size.real"})
    ... class Box:
    ...     size = complex(3.0, 2.0)
    >>> with warnings.catch_warnings(record=True, action="always") as said:
    ...     Box().width, str(said[0].message)
    (3.0, '`Box.width` is now called `size.real`; the former name goes with version 0.4.0')
    """
    def decorated(kind: Kind) -> Kind:
        otherwise: Callable[[object, str], Any] | None = getattr(kind, "__getattr__", None)

        def get(self: object, name: str) -> Any:  # noqa: ANN401 (whatever the name stands for)
            if name in former:
                _say_new_name(f"{kind.__name__}.{name}", former[name])
                return attrgetter(former[name])(self)
            if otherwise is not None:
                return otherwise(self, name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

        kind.__getattr__ = get  # type: ignore[attr-defined]
        return kind

    return decorated


def _renamed(package: str, old: str, name: str) -> Any:  # noqa: ANN401 (whatever the name stands for)
    home, _, new = name.rpartition(".")
    other = f"cayley.{home}" if home else package
    _say_new_name(f"{package}.{old}", f"{other}.{new}", stacklevel=4)
    return getattr(import_module(other), new)


def _say_new_name(old: str, new: str, stacklevel: int = 3) -> None:
    """Warn of a former name, at the line that uses it."""
    warnings.warn(f"`{old}` is now called `{new}`; the former name {GOES}", DeprecationWarning, stacklevel=stacklevel)
