"""The protocol of backends, which make text, functions of arrays, or both, of programs and of iterations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from cayley.compiler.iteration import Iteration, Turns
from cayley.compiler.operations import ARITHMETIC, CALLS, MARKS, OPERATIONS
from cayley.compiler.tracing.composed import program_of
from cayley.compiler.tracing.program import Program
from cayley.compiler.typing import Array, ArrayLike, Text
from cayley.errors import UnsupportedError


class IteratedFunction(Protocol):
    """The kept outputs of an iteration, each (..., samples, *core).

    `arrays` are the backend's own, one an input of the program: states and constants (..., *core), changing ones (...,
    steps, *core), cycling ones (..., cycle, *core). Their cores and turns have been checked; their leading axes
    broadcast. `dtype` is "float64" or "float32"."""

    def __call__(self, arrays: Sequence[Array], turns: Turns, dtype: str, *, out: Sequence[Array] | None,
                 threads: int) -> tuple[Array, ...]:
        ...


def _computed(program: Program) -> set[str]:
    """The operations of a program and of those that it calls."""
    found = {node.op for node in program.nodes}
    called = [_computed(node.value.simplified) for node in program.nodes if node.op == "call"]
    return found.union(*called) - {"input", "constant"} - CALLS - MARKS


class Backend:
    """A backend overrides what it can; the rest is refused by its name. To be reached, it is one line in `BACKENDS`.
    `operations` says what it spells; a program with another operation is refused before it is asked for text.

    A program has its names, shapes and units; `program.nodes` are its operations, operands first, each one of
    `OPERATIONS`. Precisions are "double" and "float". An operation that a language lacks has a text, of which
    `composed.program_of` makes a program. A program may call others; `calls.expanded` makes one that does not."""

    title = ""
    operations: frozenset[str] = frozenset(operation.name for operation in ARITHMETIC)
    """Those that it spells itself, by their names."""

    def spells(self, op: str) -> bool:
        """True if it has a spelling of an operation, or of all those that the operation's text is made of."""
        if op in self.operations:
            return True
        return OPERATIONS[op].text is not None and all(map(self.spells, _computed(program_of(OPERATIONS[op]))))

    def check(self, program: Program) -> None:
        """Raise `UnsupportedError` that names an operation of a program which it does not spell."""
        for op in _computed(program):
            if not self.spells(op):
                raise UnsupportedError(
                    f"{self.title} has no spelling of the operation {op!r}, which {program.name} needs: write it "
                    "without, or export another language")

    def files(self, program: Program, precision: str) -> dict[str, str]:
        """The texts that compute the program, by the names of their files."""
        raise UnsupportedError(f"{self.title} has no text of functions")

    def function(self, program: Program) -> Text:
        """The program as a function of arrays: `f(*arguments, out=None, dtype=None)`."""
        raise UnsupportedError(f"{self.title} is text only, to be compiled elsewhere: nothing to call")

    def iteration_files(self, iteration: Iteration, name: str, precision: str) -> dict[str, str]:
        """The texts of the whole loop, by the names of their files."""
        raise UnsupportedError(f"{self.title} has no text of iterations")

    def iterated(self, iteration: Iteration) -> IteratedFunction:
        """The whole loop as a function of arrays."""
        raise UnsupportedError(f"{self.title} runs no iterations")

    def array(self, argument: ArrayLike, label: str) -> Array:
        """An argument as an array that `iterated` takes."""
        raise UnsupportedError(f"{self.title} is text only, to be compiled elsewhere: nothing to call")

    def empty(self, batch: tuple[int, ...], core: tuple[int, ...], dtype: str) -> Array:
        """An array (*batch, *core) for results, laid out as `iterated` writes them fastest."""
        return np.empty((*batch, *core), dtype)

    def here(self, array: Array) -> Array:
        """An array of the backend as one of NumPy."""
        return array

    def as_given(self, array: Array, example: object) -> Array:
        """An array of the backend as one of the library of the example, on the same memory."""
        return array
