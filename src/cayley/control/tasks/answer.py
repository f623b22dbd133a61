"""The answer of a whole-body controller: outputs by name, and a status in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import check_known

SOLVED, CONTRADICTION, NOT_CONVERGED, NO_NUMBER = 0.0, 1.0, 2.0, 3.0
_STATUS = np.array(["solved", "limits contradict", "not converged", "not finite"])
_REASONS = np.array([
    "the best answer within all limits",
    "the limits contradict each other here: the answer exceeds those that may give by the least common share",
    "the solver has not converged: the answer is the last it had",
    "an input is not a number, or the constraints of the mechanism are singular here: the answer is zero"])


@dataclass(frozen=True, eq=False)
class TaskAnswer:
    """The outputs of a controller for one state or a batch of states, as attributes: `answer.tau`, `answer.excess`."""

    outputs: dict[str, Array] = field(repr=False)
    limit_names: tuple[str, ...] = field(repr=False)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (an array, and the error of a name that is none)
        if name.startswith("_") or name in ("outputs", "limit_names"):
            raise AttributeError(name)
        if name not in self.outputs:
            check_known([name], self.outputs, "the answer has no", "it has")
        return self.outputs[name]

    @property
    def status(self) -> str | Array:
        """"solved", "limits contradict", "not converged" or "not finite"."""
        return self._words(_STATUS)

    @property
    def reason(self) -> str | Array:
        """The same in a sentence."""
        return self._words(_REASONS)

    @property
    def active_limits(self) -> tuple[str, ...]:
        """The limits of one answer that hold it, in words."""
        marks = self.outputs.get("active", np.zeros(0))
        return tuple(f"{name} ({'lower' if mark < 0 else 'upper'})"
                     for name, mark in zip(self.limit_names, marks, strict=True) if mark)

    def _words(self, words: Array) -> str | Array:
        found = words[np.asarray(self.outputs["status"], dtype=int)]
        return str(found) if np.ndim(found) == 0 else found

    def __repr__(self) -> str:
        if np.ndim(self.outputs["status"]):
            solved = np.asarray(self.outputs["status"]) == SOLVED
            return f"<answers of tasks: {np.count_nonzero(solved)} of {solved.size} solved>"
        return f"<answer of tasks: {self.status}, {', '.join(self.active_limits) or 'no limit'} active>"
