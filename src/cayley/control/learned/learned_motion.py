"""What an arm has learned of a motion by repeating it: its trials, the errors that shrink, and a law with what is known
now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.solving.lookup import interval, lookup
from cayley.compiler.typing import Array, Scalar
from cayley.showing import Pictured, brief
from cayley.systems.connect import connect
from cayley.systems.system import System

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cayley.control.learned.iterative_learning import IterativeLearning


class Trial(NamedTuple):
    """One trial, or a batch: the forces (..., N, nv) that went ahead, and the errors and their rates (..., N, nv) at
    the ends of the N periods."""

    forces: Array
    error: Array
    rate: Array

    def __repr__(self) -> str:
        return brief(self)


@dataclass(frozen=True, eq=False)
class LearnedMotion(Pictured):
    """Trial after trial, the first without anything learned; made by `IterativeLearning.run`."""

    learning: IterativeLearning
    trials: tuple[Trial, ...]

    def __repr__(self) -> str:
        first, last = self.errors[[0, -1]]
        return (f"<a motion of {self.learning.tree.name} after {len(self.trials)} trials: errors from {first:.3g} to "
                f"{last:.3g}>")

    @property
    def errors(self) -> Array:
        """The root mean square (trials) of the errors of each trial [rad, m]."""
        return np.array([np.sqrt(np.mean(trial.error**2)) for trial in self.trials])

    @property
    def best(self) -> Trial:
        return self.trials[int(np.nanargmin(self.errors))]

    @property
    def forces(self) -> Array:
        """What has been learned (N, nv) [N m, N]: the forces of the best trial."""
        return self.best.forces

    @property
    def law(self) -> System:
        """The law with what has been learned as a function of the time: to be connected, rolled out, written as C."""
        learning = self.learning
        tables = [lookup(column) for column in self.forces.T]
        breaks = learning.move.start + learning.period * np.arange(len(self.forces) + 1)

        def ahead(t: Scalar) -> Array:
            place = interval(breaks, t)
            return np.stack([table(place) for table in tables])

        known = System("learned forces", outputs={"feedforward": len(tables)}, timed=True,
                       output=lambda t, x, u, p: ahead(t))
        return connect(learning.driven_law, known, name=f"{learning.law.name} with what was learned")

    def plot(self) -> Figure:
        """Errors by trials; errors and forces of the first and the best trial in time."""
        from cayley.control.learned.learning_plot import plot
        return plot(self)
