"""A large batch on several threads. Compiled loops release Python's lock, so plain threads are enough.

Only the plain case is cut into pieces: arrays, results new or into arrays of exactly the right shapes. Every other
call, and every wrong one, is the call on one thread, so that both answer alike."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.arguments import called
from cayley.compiler.typing import Array, ArrayLike, DTypeLike, Scalar
from cayley.errors import SignatureError, shown

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor


@dataclass(frozen=True)
class Prepared:
    """A call in pieces: the function that computes one, the results, and the function that joins them."""

    ufunc: np.ufunc
    dtype: str
    cores: Sequence[tuple[int, ...]]
    wrap: Callable[[list[np.ndarray]], Any]


class Parallel:
    """A kernel that cuts its batch along the longest axis and computes the pieces side by side.

    `compute` is the call on one thread, `axes` are the numbers of core axes of its arguments, and `prepare(arguments,
    arrays, dtype)` checks them."""

    def __init__(self, compute: Callable[..., Any], axes: Sequence[int], prepare: Callable[..., Prepared],
                 threads: int) -> None:
        if not isinstance(threads, int) or threads < 1:
            raise SignatureError(f"the number of threads must be a whole number, 1 or more, not {shown(threads)}")
        self._compute = compute
        self._axes = tuple(axes)
        self._prepare = prepare
        self._threads = threads

    def __repr__(self) -> str:
        return f"<{self._compute!r} on {self._threads} threads>"

    def __call__(self, *arguments: ArrayLike, out: Array | tuple[Array, ...] | None = None,
                 dtype: DTypeLike | None = None, **options: Any) -> Scalar:  # noqa: ANN401 (handed on)
        given = None if out is None else out if isinstance(out, tuple) else (out,)
        arrays = None if options or len(arguments) != len(self._axes) else self._arrays(arguments)
        batch = None if arrays is None else self._batch(arrays)
        if arrays is None or batch is None:
            return self._compute(*arguments, out=out, dtype=dtype, **options)
        prepared = self._prepare(arguments, arrays, dtype)
        shapes = [batch + core for core in prepared.cores]
        if given is not None and not _fit(given, shapes):
            return self._compute(*arguments, out=out, dtype=dtype)
        targets: list[np.ndarray | None] = [None] * len(shapes) if given is None else list(given)
        others = [[*arrays, *[t for t in targets if t is not None and t is not target]] for target in targets]
        results = [np.empty(shape, prepared.dtype) if target is None else
                   np.empty(shape, target.dtype) if _is_shared(target, rest) else target
                   for target, rest, shape in zip(targets, others, shapes, strict=True)]
        self._in_pieces(prepared.ufunc, arrays, batch, results, prepared.dtype)
        for k, target in enumerate(targets):
            if target is not None and target is not results[k]:
                target[...] = results[k]
                results[k] = target
        return prepared.wrap(results)

    def _arrays(self, arguments: Sequence[Any]) -> list[Array] | None:
        """The arguments as arrays, unless one of them has its own idea of how it is computed with, or is too short."""
        if any(
                hasattr(a, "__array_ufunc__") and type(a) not in _PLAIN and not isinstance(a, np.generic)
                for a in arguments):
            return None
        try:
            arrays = [np.asarray(a) for a in arguments]
        except (TypeError, ValueError, RuntimeError):
            return None
        fine = all(a.dtype != object and a.ndim >= axes for a, axes in zip(arrays, self._axes, strict=True))
        return arrays if fine else None

    def _batch(self, arrays: Sequence[Array]) -> tuple[int, ...] | None:
        """The shape of the batch, if it can be cut."""
        try:
            batch = np.broadcast_shapes(*[a.shape[:a.ndim - axes] for a, axes in zip(arrays, self._axes, strict=True)])
        except ValueError:
            return None
        return batch if batch and min(batch) > 0 and max(batch) > 1 else None

    def _in_pieces(self, ufunc: np.ufunc, arrays: Sequence[Array], batch: tuple[int, ...], results: Sequence[Array],
                   dtype: str) -> None:
        length = max(batch)
        axis = batch.index(length)
        count = min(self._threads, length)
        bounds = [length * k // count for k in range(count + 1)]
        from_end = len(batch) - axis

        def piece(low: int, high: int) -> None:
            parts = [_cut(a, a.ndim - axes - from_end, low, high) for a, axes in zip(arrays, self._axes, strict=True)]
            targets = tuple(r[(slice(None),) * axis + (slice(low, high),)] for r in results)
            called(ufunc, parts, {"out": targets, "dtype": dtype})

        from concurrent.futures import wait
        others = [_pool(self._threads - 1).submit(piece, low, high) for low, high in pairwise(bounds[1:])]
        try:
            piece(*bounds[:2])  # the calling thread works too, instead of waiting
        finally:
            wait(others)  # nothing may be written any more when an error leaves
        for other in others:
            other.result()


_PLAIN = (np.ndarray, np.memmap)


@lru_cache(maxsize=4)
def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads that all kernels share. A forked child has none of them, and makes its own."""
    from concurrent.futures import ThreadPoolExecutor  # brings logging, which only those with threads should wait for
    return ThreadPoolExecutor(threads, thread_name_prefix="cayley")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


def _fit(out: tuple[Any, ...], shapes: Sequence[tuple[int, ...]]) -> bool:
    """True if these are arrays that can be written in pieces, or None where a new one is wanted."""
    return len(out) == len(shapes) and all(o is None or (type(o) in _PLAIN and o.shape == shape and o.flags.writeable)
                                           for o, shape in zip(out, shapes, strict=True))


def _is_shared(target: Array, arrays: Sequence[Array]) -> bool:
    """True if writing a piece of the target could change what another piece reads or writes."""
    return any(np.may_share_memory(target, a) for a in arrays) or _may_overlap_itself(target)


def _may_overlap_itself(array: Array) -> bool:
    reach = array.itemsize
    for stride, length in sorted((abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1):
        if stride < reach:
            return True
        reach += stride * (length - 1)
    return False


def _cut(array: Array, axis: int, low: int, high: int) -> Array:
    """The slice of one operand; axes that it lacks or broadcasts over stay whole."""
    if axis < 0 or array.shape[axis] == 1:
        return array
    return array[(slice(None),) * axis + (slice(low, high),)]
