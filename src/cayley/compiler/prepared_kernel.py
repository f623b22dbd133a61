"""Kernels whose last input is often the same for a whole batch: what depends on it alone is computed once for each of
its values, not for each state.
"""

from __future__ import annotations

from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from cayley.compiler.arguments import placed
from cayley.compiler.kernel import Kernel
from cayley.compiler.signature import Signature
from cayley.compiler.tracing.hoist import PREPARED, hoisted
from cayley.compiler.tracing.program import Program
from cayley.compiler.typing import Array, DTypeLike, Result, Scalar


class PreparedKernel(Kernel[Result]):
    """A kernel in two: `preparation` computes an array of the last input, `prepared` takes that array, before its other
    inputs.

    A call uses both, if the last input has fewer values than there are states, and otherwise the kernel in one piece.
    Its C is one function that does both; the two kernels have theirs, for a controller that prepares when a parameter
    changes.
    """

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
        """Whether there are more states than values of the last input. Symbols are left to the kernel in one piece."""
        arrays = [a if hasattr(a, "size") and hasattr(a, "dtype") else np.asarray(a) for a in arguments]
        last = arrays[-1]
        if type(last) is not np.ndarray or last.shape[-1:] != self.signature.inputs[-1]:
            return False
        states = max(a.size // size for a, size in zip(arrays, self._core_sizes, strict=True))
        return last.size // self._core_sizes[-1] < states and not any(a.dtype.hasobject for a in arrays)

    @cached_property
    def _core_sizes(self) -> list[int]:
        return [max(prod(shape), 1) for shape in self.signature.input_shapes({})]
