"""Work in many tasks: here one after the other, on an executor of Python's, or on the workers of Dask.

No more tasks are under way than keep the workers busy, so that neither their arguments nor their records add up."""

from __future__ import annotations

import os
import queue
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from functools import lru_cache, partial
from typing import Any, Protocol, TypeVar

from cayley.errors import ConventionError
from cayley.extras import optional_imports

Found = TypeVar("Found")
_AHEAD = 4  # tasks for each thread of a worker: one that runs, others that wait for it
_LOOK = 1.0  # seconds between two looks at how many workers there are


class Client(Protocol):
    """The part of `distributed.Client` that is needed."""

    def get_executor(self, *, pure: bool) -> Executor: ...

    def nthreads(self) -> dict[str, int]: ...


Workers = Client | Executor | None


def is_elsewhere(workers: Workers) -> bool:
    """True if tasks run in other processes, and must be sent there."""
    from concurrent.futures import ThreadPoolExecutor
    return not (workers is None or isinstance(workers, ThreadPoolExecutor))


def tasks_of(function: Callable[..., Found], *shared: object, workers: Workers) -> Callable[..., Callable[[], Found]]:
    """`tasks_of(f, a, b)(c)` is the task of f(a, b, c). What all tasks share is unpacked once in each process: kernels
    are loaded once."""
    if not is_elsewhere(workers):
        return lambda *own: partial(function, *shared, *own)
    with optional_imports():
        import cloudpickle
    packed = cloudpickle.dumps((function, shared))
    return lambda *own: partial(_unpacked_and_done, packed, cloudpickle.dumps(own))


def _unpacked_and_done(packed: bytes, own: bytes) -> Any:  # noqa: ANN401 (what the function returns)
    with optional_imports():
        import cloudpickle
    function, shared = _unpacked(packed)
    return function(*shared, *cloudpickle.loads(own))


@lru_cache(maxsize=2)
def _unpacked(packed: bytes) -> tuple[Callable[..., Any], tuple[object, ...]]:
    with optional_imports():
        import cloudpickle
    return cloudpickle.loads(packed)


def check_workers(workers: Workers) -> None:
    """Check that workers are of a kind that tasks can run on."""
    if not (workers is None or isinstance(workers, Executor) or
            (hasattr(workers, "get_executor") and hasattr(workers, "nthreads"))):
        raise ConventionError(f"tasks run on a client of Dask or an executor of concurrent.futures, not on {workers!r}")


def done(workers: Workers, tasks: Iterable[Callable[[], Found]]) -> Iterator[Found]:
    """The results, in the order in which they come. An error of one stops all: those that wait are not begun."""
    check_workers(workers)
    if workers is None:
        for task in tasks:
            yield task()
    elif isinstance(workers, Executor):
        yield from _finished(workers, tasks, lambda: getattr(workers, "_max_workers", None) or os.cpu_count() or 1)
    else:
        yield from _finished(workers.get_executor(pure=False), tasks, lambda: sum(workers.nthreads().values()))


def in_order(numbered: Iterable[tuple[int, Found]]) -> Iterator[Found]:
    """Results with their numbers, 0, 1, 2, .., in the order of these; those that come early wait."""
    early: dict[int, Found] = {}
    expected = 0
    for number, found in numbered:
        early[number] = found
        while expected in early:
            yield early.pop(expected)
            expected += 1


def _finished(executor: Executor, tasks: Iterable[Callable[[], Found]], threads: Callable[[], int]) -> Iterator[Found]:
    waiting = iter(tasks)
    finished: queue.SimpleQueue[Future[Found]] = queue.SimpleQueue()
    running: set[Future[Found]] = set()
    looked = -_LOOK
    most = 1
    try:
        while True:
            if time.monotonic() - looked > _LOOK:
                most = _AHEAD * max(threads(), 1)
                looked = time.monotonic()
            while len(running) < most and (task := next(waiting, None)) is not None:
                future = executor.submit(task)
                running.add(future)
                future.add_done_callback(finished.put)
            if not running:
                return
            future = finished.get()
            running.discard(future)
            yield future.result()
    finally:
        for future in running:
            future.cancel()
