"""What can be held: parts of a state that stand still for a while, by dry friction or against a stop.

A system that has none uses `Nothing`. The joints of mechanisms have dry friction and stops: `simulation.rest`.
States are blocks by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from cayley.compiler.typing import Array

Blocks: TypeAlias = dict[str, np.ndarray]


class Act(NamedTuple):
    """What is done when something that is watched becomes negative: the state changes to `x`, columns are `released` in
    a direction, or the simulation ends, for the reason (status, name, sentence).
    """

    x: Blocks | None = None
    released: Mapping[int, float] = {}
    end: tuple[str, str, str] | None = None


class Nothing:
    """Nothing is ever held."""

    possible = False
    reactions = 0  # how many numbers they are
    words: tuple[str, ...] = ()  # of what happens so often that it does not count as an event

    @property
    def watched(self) -> Sequence[Any]:
        """What ends the present mode when it becomes negative."""
        return ()

    def inputs(self, u: Mapping[str, Array]) -> Mapping[str, Array]:
        """The inputs with the friction of what slides."""
        return u

    def impacts(self, x: Blocks) -> tuple[Blocks, list[str]]:
        """The state after impacts, and the names of what was struck."""
        return x, []

    def settle(self, x: Blocks, slope: Callable[[Blocks], Array],
               released: Mapping[int, float]) -> list[tuple[str, str]]:
        """Decide what is held from now on: what has changed, by name and word. `slope(x)` is that of the coordinates if
        nothing is held.
        """
        return []

    def resolved(self, x: Blocks, slope: Array) -> tuple[Array, Array]:
        """The slope of the coordinates with what is held, and the reactions that hold it."""
        return slope, np.zeros(0)

    def value(self, what: Any, x: Blocks, reaction: Callable[[], Array]) -> float:  # noqa: ANN401 (an event or a transition of either kind)
        """Of something that is watched."""
        raise NotImplementedError

    def act(self, what: Any, x: Blocks, reaction: Array) -> Act:  # noqa: ANN401 (an event or a transition of either kind)
        raise NotImplementedError

    def cleaned(self, x: Blocks) -> Blocks:
        """The state with what is held at rest to the last digit."""
        return x
