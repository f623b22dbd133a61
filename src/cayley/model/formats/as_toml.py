"""The format TOML: Cayley's own, which holds everything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cayley.model.formats.format import Format

if TYPE_CHECKING:
    from cayley.model.tree import Tree


class TOML(Format):
    """The format of the catalogue; see `toml_format` and `toml_text`, which are loaded when they are needed."""

    name = "TOML"
    endings = (".toml",)
    check_words = "So are the tables of TOML."

    def read(self, path: Path) -> Tree:
        from cayley.model.formats.toml_format import load_toml
        return load_toml(path)

    def write(self, tree: Tree, *, leave_out: bool) -> str:
        from cayley.model.formats.toml_text import dump_toml
        return dump_toml(tree)

    def parts(self, path: Path) -> Iterator[list[str]]:
        from cayley.model.formats.toml_parts import errors_of_parts
        return errors_of_parts(path)
