"""A progress bar that appears only when the work has taken a while, and work in pieces of a fraction of a second."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any

_PATIENCE = 2.0  # seconds
_TURN = 0.25  # seconds of work between two looks at the clock, and at Ctrl-C
_LITTLE = 2_000_000  # operations: a small piece of work


class PatientBar:
    """`with PatientBar("title", total) as bar: ... bar.reached(amount)`; with `shown` False it never appears."""

    def __init__(self, title: str, total: float, *, shown: bool = True) -> None:
        self._title = title
        self._total = total
        self._shown = shown
        self._started = time.monotonic()
        self._bar: Any = None

    def __enter__(self) -> PatientBar:
        return self

    def reached(self, amount: float) -> None:
        if self._bar is None and self._shown and amount < self._total and time.monotonic() - self._started > _PATIENCE:
            from rich.console import Console
            from rich.markup import escape
            from rich.progress import Progress
            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(escape(self._title), total=self._total)
        if self._bar is not None:
            self._bar.update(self._task, completed=amount)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()


def pieces(samples: int, largest: int, bar: PatientBar) -> Iterator[tuple[int, int]]:
    """Samples in pieces of a fraction of a second, so that Python may look up in between. The first is small, to see
    how long it takes; `largest` is the number of operations of a sample."""
    first = 0
    size = max(1, _LITTLE // largest)
    while first < samples:
        last = min(samples, first + size)
        before = time.monotonic()
        yield first, last
        first = last
        bar.reached(last)
        if time.monotonic() - before < _TURN / 2:
            size *= 2
