"""A large batch on several threads. Compiled loops release Python's lock, so plain threads are enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np


class Parallel:
    """A kernel that cuts its batch along the longest axis and computes the pieces side by side."""

    def __init__(self, compute: Callable, cores_in: Sequence[int], prepare: Callable, threads: int):
        self._compute, self._cores, self._prepare, self._threads = compute, cores_in, prepare, threads
        self._pool = ThreadPoolExecutor(max(threads - 1, 1), thread_name_prefix="cayley")

    def __call__(self, *arguments: Any, out: Any = None, dtype: Any = None) -> Any:
        arrays = [np.asarray(a) for a in arguments]
        batch = np.broadcast_shapes(*[a.shape[:a.ndim - core] for a, core in zip(arrays, self._cores, strict=True)])
        if not batch or max(batch) < 2:
            return self._compute(*arguments, out=out, dtype=dtype)
        ufunc, results, wrap = self._prepare(arrays, batch, out, dtype)
        length = max(batch)
        axis, count = batch.index(length), min(self._threads, length)
        bounds = [length * k // count for k in range(count + 1)]
        from_end = len(batch) - axis

        def piece(low: int, high: int) -> None:
            parts = [_cut(a, a.ndim - core - from_end, low, high) for a, core in zip(arrays, self._cores, strict=True)]
            targets = tuple(r[(slice(None),) * axis + (slice(low, high),)] for r in results)
            with np.errstate(all="ignore"):
                ufunc(*parts, out=targets, **({} if dtype is None else {"dtype": dtype}))

        others = [self._pool.submit(piece, low, high) for low, high in pairwise(bounds[1:])]
        piece(*bounds[:2])  # the calling thread works too, instead of waiting
        for other in others:
            other.result()
        return wrap(results)


def _cut(array: np.ndarray, axis: int, low: int, high: int) -> np.ndarray:
    """The slice of one operand; axes that it lacks or broadcasts over stay whole."""
    if axis < 0 or array.shape[axis] == 1:
        return array
    return array[(slice(None),) * axis + (slice(low, high),)]
