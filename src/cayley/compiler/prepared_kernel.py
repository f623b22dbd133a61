"""Kernels whose last input is often the same for a whole batch: what depends on it alone is computed once for each of
its values, not for each state."""

from __future__ import annotations

from collections.abc import Container
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from cayley.compiler.arguments import placed
from cayley.compiler.kernel import Kernel
from cayley.compiler.operations import BOOLEAN
from cayley.compiler.signature import Signature
from cayley.compiler.tracing.graph import Graph, Node
from cayley.compiler.tracing.implied_values import plain
from cayley.compiler.tracing.program import Program, Variable, built
from cayley.compiler.typing import Array, DTypeLike, Result, Scalar
from cayley.explained_calls import with_explained_calls


@with_explained_calls
class PreparedKernel(Kernel[Result]):
    """A kernel in two: `preparation` computes an array of the last input, `prepared` takes that array, before its other
    inputs.

    A call uses both, if the last input has fewer values than there are states, and otherwise the kernel in one piece.
    Its C is one function that does both; the two kernels have theirs, for a controller that prepares when a parameter
    changes."""

    @cached_property
    def preparation(self) -> Kernel:
        """The kernel `(last) -> values` of what depends on the last input alone."""
        program = self._halves[0]
        size, = program.outputs[0].shape
        return Kernel(Signature((self.signature.inputs[-1],), ((size,),)), lambda bound: program, name=program.name,
                      inputs=self.inputs[-1:], doc=program.description, results=(PREPARED,))

    @cached_property
    def prepared(self) -> Kernel[Result]:
        """The kernel `(values, *others)` of the rest."""
        program = self._halves[1]
        signature = Signature((program.inputs[0].shape, *self.signature.inputs[:-1]), self.signature.outputs)
        return Kernel(signature, lambda bound: program, name=program.name, inputs=(PREPARED, *self.inputs[:-1]),
                      results=self.outputs, doc=self.__doc__)

    @cached_property
    def _halves(self) -> tuple[Program, Program]:
        return hoisted(self._trace(()), self.inputs[-1:])

    @property
    def _own_kind(self) -> type[Kernel]:
        return PreparedKernel

    def _general(self, *arguments: Scalar, out: Array | None = None, dtype: DTypeLike | None = None,
                 **options: Any) -> Scalar:  # noqa: ANN401 (handed on)
        if options or len(arguments) != len(self.inputs):
            arguments, options = placed(arguments, options, self.inputs, self.__name__)
        if options or not self._is_shared(arguments):
            return super()._general(*arguments, out=out, dtype=dtype, **options)
        *others, last = arguments
        given = np.asarray(last)
        values = self.preparation(given.astype(np.float64, copy=False))  # as good as constants would be
        small = given.dtype.kind == "f" and given.dtype.itemsize <= 4
        return self.prepared(values.astype(np.float32) if small else values, *others, out=out, dtype=dtype)

    def _is_shared(self, arguments: tuple[Any, ...]) -> bool:
        """True if there are more states than values of the last input. Symbols are left to the kernel in one piece."""
        arrays = [a if hasattr(a, "size") and hasattr(a, "dtype") else np.asarray(a) for a in arguments]
        last = arrays[-1]
        if type(last) is not np.ndarray or last.shape[-1:] != self.signature.inputs[-1]:
            return False
        states = max(a.size // size for a, size in zip(arrays, self._core_sizes, strict=True))
        return last.size // self._core_sizes[-1] < states and not any(a.dtype.hasobject for a in arrays)

    @cached_property
    def _core_sizes(self) -> list[int]:
        return [max(prod(shape), 1) for shape in self.signature.input_shapes({})]


PREPARED = "prepared"


def hoisted(program: Program, names: Container[str]) -> tuple[Program, Program]:
    """The program that prepares values (k) from the inputs of these names, and the one that takes these values, first,
    and the other inputs. Loops keep what comes first and is the same for all states."""
    program = plain(program)
    early = _early(program, names)
    crossing = _crossing(program, early)
    first = Program(f"{program.name}_preparation", tuple(v for v in program.inputs if v.name in names),
                    (Variable(PREPARED, (len(crossing),), tuple(crossing)),),
                    f"What {program.name} needs of its parameters.")
    return first, _rest(program, names, crossing)


def _early(program: Program, names: Container[str]) -> set[int]:
    """The nodes that depend on the named inputs, and on no other. A truth value is no number, and is not handed on."""
    early = {node.index for v in program.inputs if v.name in names for node in v.nodes}
    for node in program.nodes:
        inside = [a.index in early for a in node.args]
        if any(inside) and node.op not in BOOLEAN and all(
                own or a.op == "constant" for a, own in zip(node.args, inside, strict=True)):
            early.add(node.index)
    return early


def _crossing(program: Program, early: set[int]) -> list[Node]:
    """The early values that the rest uses."""
    late = [node for node in program.nodes if node.index not in early]
    used = [a for node in late for a in node.args] + program.results
    return list({a.index: a for a in used if a.index in early}.values())


def _rest(program: Program, names: Container[str], crossing: list[Node]) -> Program:
    graph = Graph(strict=program.is_strict)
    inputs = [v for v in program.inputs if v.name not in names]
    made: dict[int, Node] = {
        node.index: graph.input(f"{v.name}[{k}]") for v in inputs for k, node in enumerate(v.nodes)}
    prepared = tuple(graph.input(f"{PREPARED}[{k}]") for k in range(len(crossing)))
    made.update((node.index, new) for node, new in zip(crossing, prepared, strict=True))
    results = iter(built(program.results, made, graph))
    taken = tuple(Variable(v.name, v.shape, tuple(made[n.index] for n in v.nodes), v.unit) for v in inputs)
    given = tuple(Variable(v.name, v.shape, tuple(next(results) for _ in v.nodes), v.unit) for v in program.outputs)
    return Program(program.name, (Variable(PREPARED, (len(crossing),), prepared), *taken), given, program.description,
                   program.kind)
