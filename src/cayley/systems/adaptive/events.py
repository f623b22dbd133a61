"""Events: functions of time and state that are watched for changes of sign."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.typing import Array
from cayley.errors import ConventionError, SignatureError
from cayley.explained_calls import with_explained_calls
from cayley.systems.transitions import DIRECTIONS


@with_explained_calls
@dataclass(frozen=True)
class Event(HoldsFunctions):
    """An event of a simulation: `function(t, *blocks)` changes its sign, `function(t, q, qd)` for mechanisms.

    `direction`: "rising", "falling" or "both". `action`: "end" the simulation or "record" it and go on. `effect(t,
    *blocks)`, if given, returns other blocks, (q, qd), there and then; effects that follow each other ever faster are
    an event storm, and end the simulation. An event that starts from zero happens when it comes back. Of events at the
    same instant all happen, in the order in which they were given."""

    name: str
    function: Callable[..., float]
    direction: str = "both"
    action: str = "end"
    effect: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        if self.direction not in DIRECTIONS:
            raise ConventionError(
                f"the direction of event {self.name!r} is {self.direction!r}: it is one of {', '.join(DIRECTIONS)}")
        if self.action not in ("end", "record"):
            raise ConventionError(f'the action of event {self.name!r} is {self.action!r}: it is "end" or "record"')

    def value(self, t: float, *blocks: Array) -> float:
        found = np.asarray(self.function(t, *blocks), dtype=float)
        if found.size != 1:
            raise SignatureError(f"event {self.name!r} must be a number; its function returned the shape {found.shape}")
        return float(found.reshape(()))

    @property
    def sign(self) -> int:
        return DIRECTIONS[self.direction]

    @property
    def only_recorded(self) -> bool:
        return self.action == "record" and self.effect is None
