"""Functions of one mechanism as a folder of C: `arm.export`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import ArrayLike, DTypeLike
from cayley.errors import SignatureError
from cayley.exports.folder import ExportedFolder, export_folder
from cayley.exports.named_kernels import Robot, kernel_named
from cayley.systems.system import System
from cayley.wording import shown


def export_mechanism(arm: Robot, folder: str | os.PathLike[str], functions: Sequence[str | Kernel | System], *,
                     layout: str, dtype: DTypeLike | None, batch: bool, name: str | None,
                     states: Mapping[str, ArrayLike] | None) -> ExportedFolder:
    """See `Mechanism.export`."""
    named: dict[str, Kernel | System] = {}
    for given in functions:
        key, what = kernel_named(arm, given) if isinstance(given, str) else _own(arm, given)
        if key in named:
            raise SignatureError(f"{key} is asked for twice")
        named[key] = what
    return export_folder(folder, named, layout=layout, name=name or arm.name, about=f"Functions of {arm.name}.",
                         dtype=dtype, batch=batch, tree=arm.tree, states=states)


def _own(arm: Robot, given: Kernel | System) -> tuple[str, Kernel | System]:
    if isinstance(given, System):
        return f"{arm.name}_{given.name}", given
    if isinstance(given, Kernel):
        return f"{arm.name}_{given.__name__}", given
    raise SignatureError(f"what is exported is a function by name (\"inverse-dynamics\", \"pose:tool\"), a kernel or a "
                         f"system, not {shown(given)}")
