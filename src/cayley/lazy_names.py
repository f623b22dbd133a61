"""Packages whose names are imported when they are first asked for (PEP 562): nobody waits for what is not used.

The names stand in the package's stub, `__init__.pyi`, as ordinary imports: editors and type checkers read it, and so
does this.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from cayley.wording import did_you_mean


def lazy_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for the package of a name and the file of its `__init__`.

    Its modules are there too, without an import of their own.
    """
    stub = Path(file).with_suffix(".pyi")
    folder = stub.parent

    @cache
    def homes() -> dict[str, str]:
        lines = ast.parse(stub.read_text(encoding="utf-8")).body
        imports = [line for line in lines if isinstance(line, ast.ImportFrom)]
        return {alias.name: str(node.module) for node in imports for alias in node.names}

    def get(name: str) -> Any:  # noqa: ANN401 (whatever the name stands for)
        if name == "__all__":
            return sorted(homes())
        if not name.startswith("_") and ((folder / f"{name}.py").is_file() or (folder / name).is_dir()):
            return import_module(f"{package}.{name}")
        if name.startswith("_") or name not in homes():
            advice = "" if name.startswith("_") else did_you_mean(name, homes())
            raise AttributeError(f"module {package!r} has no attribute {name!r}{advice}")
        found = getattr(import_module(homes()[name]), name)
        if package in sys.modules:
            setattr(sys.modules[package], name, found)  # from now on as any other name
        return found

    return get, lambda: sorted(homes())
