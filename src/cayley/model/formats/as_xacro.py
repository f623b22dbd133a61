"""xacro among the formats: URDF with macros, expanded by the Python tool of that name (the extra `xacro`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cayley.model.formats.format import Format

if TYPE_CHECKING:
    from cayley.model.tree import Tree


class Xacro(Format):
    """URDF with macros; see `xacro_text`, which is loaded when it is needed."""

    name = "xacro"
    endings = (".xacro",)
    check_words = "What is wrong in the URDF that xacro makes of a file is told with the lines of that."
    takes = frozenset({"exact_angles", "arguments", "trust"})

    def read(self, path: Path, *, exact_angles: bool = True, arguments: Mapping[str, object] | None = None,
             trust: bool = False) -> Tree:
        from cayley.model.formats.srdf import with_srdf
        from cayley.model.formats.urdf import load_urdf
        from cayley.model.formats.xacro_text import expanded, said
        from cayley.model.formats.xml_elements import source_words
        given = said(arguments or {})
        made = load_urdf(expanded(path, given, trust=trust), exact_angles=exact_angles, source=source_words(path),
                         called=f"{path.name} (expanded)", arguments=given)
        return with_srdf(made, path)
