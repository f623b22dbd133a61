"""Kernels on Dask's arrays: a call makes a task for each chunk of the batch, and computes nothing.

Dask knows generalized ufuncs, but asks them for their type on arrays of core dimensions 1, which a kernel of seven
joints does not have: a kernel knows its types and shapes without being asked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.arguments import check_batch
from cayley.compiler.precision import computed_in
from cayley.compiler.signature import spell
from cayley.compiler.typing import Array, DTypeLike, Scalar
from cayley.errors import SignatureError, UnsupportedError
from cayley.extras import optional_imports

if TYPE_CHECKING:
    from cayley.compiler.kernel import Kernel


def is_lazy(argument: object) -> bool:
    """True if this is an array of Dask, which need not be installed to be asked.

    >>> is_lazy(np.zeros(3))
    False
    """
    return hasattr(argument, "__dask_graph__") and hasattr(argument, "chunks")


@dataclass(frozen=True)
class OnChunks:
    """A kernel in one precision; what is sent to a worker."""

    kernel: Kernel[Any]
    dtype: str

    @property
    def __name__(self) -> str:
        """The name among the tasks, which has no hyphens."""
        return re.sub(r"\W+", "_", self.kernel.__name__)

    def __call__(self, *chunks: Array) -> Scalar:
        found = self.kernel(*chunks, dtype=self.dtype)
        return tuple(found) if isinstance(found, tuple) else found


def lazy_results(kernel: Kernel[Any], arguments: Sequence[Any], operands: Sequence[Any], dtype: DTypeLike | None,
                 options: Mapping[str, Any]) -> list[Any]:
    """The results as Dask's arrays, chunked as the arguments are; NumPy's arrays among these are cut to fit."""
    with optional_imports():
        import dask.array as da
    if options:
        raise UnsupportedError(f"{kernel.__name__} takes no {', '.join(options)} with arrays of Dask: bring the core "
                               "axes to the end with dask.array.moveaxis, and keep the result under a name of its own")
    precision = computed_in(kernel.__name__, kernel.inputs, arguments, operands, dtype)
    bound = kernel.signature.bind([a.shape for a in operands], kernel.inputs)
    for operand, core, label in zip(operands, kernel.signature.inputs, kernel.inputs, strict=True):
        _check_whole(kernel.__name__, operand, len(core), label)
    check_batch(operands, kernel.signature, kernel.inputs)
    shapes = [variable.shape for variable in kernel.traced(**bound).outputs]
    inputs = _one_by_one(kernel.signature.inputs, "in")
    outputs = _one_by_one(shapes, "out")
    sizes = {name: size for names, shape in zip(outputs, shapes, strict=True)
             for name, size in zip(names, shape, strict=True)}
    batches = [a if is_lazy(a) else da.from_array(np.asarray(a), chunks=-1) for a in operands]
    single = len(shapes) == 1
    empty = tuple(np.empty((0,) * len(shape), precision) for shape in shapes)
    found = da.apply_gufunc(OnChunks(kernel, precision),
                            f"{','.join(map(spell, inputs))}->{','.join(map(spell, outputs))}", *batches,
                            output_sizes=sizes, allow_rechunk=True, meta=empty[0] if single else empty)
    return [found] if single else list(found)


def _check_whole(kernel: str, operand: Scalar, core: int, label: str) -> None:
    """Core axes are of one state: they cannot be cut. Lengths that Dask does not know yet fit nothing."""
    if not is_lazy(operand):
        return
    if np.isnan(operand.shape).any():
        raise SignatureError(f"argument {label!r} of {kernel} has a length that is not known before it is computed, "
                             f"shape {operand.shape}: call {label}.compute_chunk_sizes() first")
    axes = range(operand.ndim - core, operand.ndim)
    cut = [axis for axis in axes if len(operand.chunks[axis]) > 1]
    if cut:
        whole = ", ".join(f"{axis}: -1" for axis in axes)
        raise SignatureError(f"argument {label!r} of {kernel} is cut along axis {cut[0]}, into chunks "
                             f"{operand.chunks[cut[0]]}; that axis belongs to one state: {label}.rechunk({{{whole}}}) "
                             "makes it whole")


def _one_by_one(cores: Sequence[Sequence[object]], side: str) -> list[list[str]]:
    """A name for every core axis: which of them are equal was looked at before."""
    return [[f"{side}{k}axis{axis}" for axis in range(len(core))] for k, core in enumerate(cores)]
