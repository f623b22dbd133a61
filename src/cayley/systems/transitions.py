"""Transitions of a system: when a guard goes through zero, the state jumps and modes change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.typing import Text
from cayley.errors import ConventionError, SignatureError
from cayley.explained_calls import with_explained_calls

if TYPE_CHECKING:
    from cayley.systems.layout import Layout

DIRECTIONS = {"rising": 1, "falling": -1, "both": 0}


@with_explained_calls
@dataclass(frozen=True)
class Transition(HoldsFunctions):
    """`guard(t, x, u, p)` goes through zero, "falling", "rising" or "both", while the modes are as `during` says; then
    `jump(t, x, u, p)` gives new values of some blocks, and `to` says which modes change.

        Transition("impact", lambda t, x, u, p: x.height, jump=lambda t, x, u, p: {"speed": -p.e * x.speed})
        Transition("too hot", lambda t, x, u, p: x.T - p.high, "rising", during={"heater": "on"}, to={"heater": "off"})
    A guard is on the one side of zero or on the other. Where a motion starts at zero and leaves it "falling" or
    "rising", as asked, the transition happens at once; of "both", where it came from is not known. After its own jump
    it is on the side to which it moves: a ball that leaves the floor is above it, and one that does not falls through,
    unless a mode lets it rest. What moves a guard elsewhere by a jump is no crossing. Several transitions at one
    instant all happen, in their order, as far as the modes then allow. Those of a clock are not `counted` among the
    events of which a simulation may have too many."""

    name: str
    guard: Text
    direction: str = "falling"
    during: Mapping[str, str] = field(default_factory=dict)
    jump: Text | None = None
    to: Mapping[str, str] = field(default_factory=dict)
    counted: bool = True

    def __post_init__(self) -> None:
        if self.direction not in DIRECTIONS:
            raise ConventionError(f"the direction of transition {self.name!r} is one of {', '.join(DIRECTIONS)}, not "
                                  f"{self.direction!r}")

    @property
    def sign(self) -> int:
        return DIRECTIONS[self.direction]

    def check(self, layout: Layout) -> None:
        """Raise an error unless the modes that the transition names exist."""
        for modes in (self.during, self.to):
            for mode, word in modes.items():
                if mode not in layout.modes or word not in layout.modes[mode]:
                    known = ", ".join(f"{name} ({', '.join(words)})" for name, words in layout.modes.items())
                    raise SignatureError(f"transition {self.name!r} of {layout.whose} names the mode {mode} = "
                                         f"{word}; there are {known or 'none'}")
