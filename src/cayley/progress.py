"""Progress bars on the terminal, drawn by Rich, and work in pieces of a fraction of a second. Without Rich there are no
bars, and the work is done all the same."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn, TaskID

Item = TypeVar("Item")
_PATIENCE = 2.0  # seconds
_TURN = 0.25  # seconds of work between two looks at the clock, and at Ctrl-C
_LATEST: list[Progress] = []  # the bar that was made last: while it is shown, those within its work are not
_LITTLE = 2_000_000  # operations: a small piece of work


def new_bar(*columns: str | ProgressColumn) -> Progress | None:
    """Bar of Rich that leaves nothing behind and shows on terminals alone, one at a time; None if Rich is not
    installed."""
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        return None
    screen = Console(stderr=True)
    hidden = not screen.is_terminal or any(bar.live.is_started for bar in _LATEST)
    made = Progress(*columns, console=screen, transient=True, disable=hidden)
    if not hidden:
        _LATEST[:] = [made]
    return made


def escaped(title: str) -> str:
    """Title of a bar, whose brackets are no markup of Rich."""
    return title.replace("[", r"\[")


@contextmanager
def counted(title: str, total: int, *, done: int = 0, shown: bool = True) -> Iterator[Callable[[], None]]:
    """Context with a bar; the function that it gives is called after each of `total` steps.

    >>> with counted("steps", 3, shown=False) as advance:
    ...     advance()
    """
    bar = new_bar() if shown else None
    if bar is None:
        yield lambda: None
        return
    with bar:
        task = bar.add_task(escaped(title), total=total, completed=done)
        yield lambda: bar.advance(task)


def tracked(items: Sequence[Item], title: str, *, shown: bool = True) -> Iterator[Item]:
    """The items one after the other, with a bar."""
    with counted(title, len(items), shown=shown) as advance:
        for item in items:
            yield item
            advance()


@contextmanager
def working(*, shown: bool = True) -> Iterator[Callable[[str], None]]:
    """Context with a turning sign; the function that it gives says what is being done."""
    bar = new_bar("{task.description}") if shown else None
    if bar is None:
        yield lambda what: None
        return
    with bar:
        task = bar.add_task("", total=None)
        yield lambda what: bar.update(task, description=escaped(what))


class PatientBar:
    """`with PatientBar("title", total) as bar: ... bar.reached(amount)`: a bar that appears only when the work has
    taken a while; with `shown` False it never appears."""

    def __init__(self, title: str, total: float, *, shown: bool = True) -> None:
        self._title = title
        self._total = total
        self._most = 0.0
        self._shown = shown
        self._started = time.monotonic()
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> PatientBar:
        return self

    def reached(self, amount: float) -> None:
        if self._task is None and self._shown and amount < self._total and time.monotonic() - self._started > _PATIENCE:
            self._bar = new_bar()
            self._shown = self._bar is not None
            if self._bar is not None:
                self._bar.start()
                self._task = self._bar.add_task(escaped(self._title), total=self._total)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=amount)

    def left(self, amount: float) -> None:
        """Progress told by what is still to be done, as `reached`; where that becomes more again, the bar waits."""
        self._most = max(self._most, self._total - amount)
        self.reached(self._most)

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
