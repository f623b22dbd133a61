"""One thread in which a view does its work: what was asked for last of each thing, and what goes on at every tick.

Hands are faster than a robot is solved: of the positions of a slider that arrive while one is worked on, only the last
counts."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from threading import Condition, Thread, current_thread
from time import monotonic

import numpy as np

TICK = 1 / 40  # s
_LONGEST = 0.25  # s that a tick may count for: after a pause nothing jumps

Action = Callable[[], None]
Ticker = Callable[[float], None]


class Worker:
    """Runs actions one at a time; errors are passed to `complain`."""

    def __init__(self, complain: Callable[[Exception], None]) -> None:
        self._complain = complain
        self._orders: dict[Hashable, tuple[float, Action]] = {}
        self._tickers: dict[Hashable, Ticker] = {}
        self._changed = Condition()
        self._ended = False
        self._thread = Thread(target=self._run, name="cayley studio", daemon=True)
        self._thread.start()

    def post(self, key: Hashable, action: Action, delay: float = 0.0) -> None:
        """Run an action soon, or after a pause [s] without a new one; it replaces a waiting action of the same key."""
        with self._changed:
            self._orders.pop(key, None)
            self._orders[key] = monotonic() + delay, action
            self._changed.notify()

    def start(self, key: Hashable, ticker: Ticker) -> None:
        """Call a function at every tick, with the time since the last one [s]."""
        with self._changed:
            self._tickers[key] = ticker
            self._changed.notify()

    def finish(self, key: Hashable) -> None:
        """Stop calling the function of a key."""
        with self._changed:
            self._tickers.pop(key, None)

    def is_running(self, key: Hashable) -> bool:
        """True if a function with this key is called at every tick."""
        return key in self._tickers

    def stop(self) -> None:
        """End the thread."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        if current_thread() is not self._thread:
            self._thread.join(5.0)

    def _run(self) -> None:
        last = monotonic()
        while True:
            with self._changed:
                while not self._ended and (wait := self._wait(last)) > 0:
                    idle = not self._tickers
                    self._changed.wait(None if np.isinf(wait) else wait)
                    last = monotonic() if idle else last
                if self._ended:
                    return
                orders = self._due()
                tickers = list(self._tickers.values())
            for order in orders:
                self._do(order)
            now = monotonic()
            if tickers and now - last >= TICK:
                elapsed = min(now - last, _LONGEST)
                last = now
                for ticker in tickers:
                    self._do(partial(ticker, elapsed))

    def _wait(self, last: float) -> float:
        """Time until the next action [s]."""
        times = [due for due, _ in self._orders.values()] + ([last + TICK] if self._tickers else [])
        return min(times, default=np.inf) - monotonic()

    def _due(self) -> list[Action]:
        now = monotonic()
        due = [key for key, (time, _) in self._orders.items() if time <= now]
        return [self._orders.pop(key)[1] for key in due]

    def _do(self, action: Action) -> None:
        try:
            action()
        except Exception as error:
            self._complain(error)
