"""C99: text for a controller, to be compiled there."""

from __future__ import annotations

from cayley.compiler.backends.protocol import Backend
from cayley.compiler.c.c_iteration import c_iteration
from cayley.compiler.c.c_source import CSource, c_source
from cayley.compiler.iteration import Iteration
from cayley.compiler.operations import OPERATIONS, OWN
from cayley.compiler.tracing.program import Program


class C(Backend):
    """One .c and one .h that need nothing but math.h."""

    title = "C99"
    operations = frozenset(OWN)

    def spells(self, op: str) -> bool:
        return bool(OPERATIONS[op].c_function or OPERATIONS[op].c_helper) or super().spells(op)

    def files(self, program: Program, precision: str) -> dict[str, str]:
        return _both(c_source(program, precision=precision))

    def iteration_files(self, iteration: Iteration, name: str, precision: str) -> dict[str, str]:
        return _both(c_iteration(iteration, name=name, precision=precision))


def _both(made: CSource) -> dict[str, str]:
    return {f"{made.name}.h": made.header, f"{made.name}.c": made.source}


BACKEND = C()
