"""One function of a library: its C, and the test vectors of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cayley.compiler.c.c_source import CSource
from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import ArrayLike, DTypeLike
from cayley.errors import SignatureError
from cayley.exports.vectors import Vectors, vectors_of_kernel, vectors_of_system
from cayley.model.tree import Tree
from cayley.systems.system import System
from cayley.wording import shown


@dataclass(frozen=True)
class Part:
    """The C of a function, and numbers to check it with."""

    source: CSource
    vectors: Vectors
    has_batch: bool = False


def made_part(name: str, what: Kernel | System, rows: int, dtype: DTypeLike, *, batch: bool = False,
              tree: Tree | None = None, states: Mapping[str, ArrayLike] | None = None) -> Part:
    """The part that a kernel or a system becomes."""
    if isinstance(what, System):
        vectors = (vectors_of_system(what, rows, dtype, tree=tree) if what.blocks else
                   vectors_of_kernel(what.step, rows, dtype, tree=tree, states=states))
        return Part(what.c_source(name, dtype=dtype), vectors)
    if not isinstance(what, Kernel):
        raise SignatureError(f"{name!r} is {shown(what)}: what is exported is a kernel, `arm.gravity_forces` or "
                             "`arm.pose.of(\"tool\")`, or a system, `arm.control.pd(...)`")
    if what.signature.names:
        raise SignatureError(f"the kernel {name!r} is of any {', '.join(what.signature.names)}: C needs numbers in its "
                             f"signature {what.signature}")
    return Part(what.c_source(name, dtype=dtype, batch=batch),
                vectors_of_kernel(what, rows, dtype, tree=tree, states=states), batch)
