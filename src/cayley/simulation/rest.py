"""Joints at rest: held by dry friction, or against a stop, or by both, until the force that holds them is at its bound.

A segment of a simulation has a mode: the joints that are held, and the direction in which friction acts at each that
slides. In a mode all forces are smooth. It ends when a joint that slides comes to a standstill, or a reaction reaches a
bound; the next is found by solving for all joints at rest together (`dynamics.forward.dry_friction`), as one that is
let go changes what the others must bear.
    bounds of a reaction    -coulomb and coulomb; a stop that is touched pushes with any force, in one direction
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import Array
from cayley.dynamics.forward.dry_friction import corrected
from cayley.dynamics.inertia_matrix.kernels import inertia_matrix_kernel
from cayley.dynamics.rigid_links.drives import coulomb_frictions
from cayley.errors import ModelError
from cayley.model.coordinate_labels import velocity_labels
from cayley.model.tree import Tree
from cayley.simulation.stops import Stop, Stops
from cayley.systems.holding import Act, Blocks, Nothing

FRICTION_WORDS = ("stick", "slip")


def checked_coulomb(tree: Tree) -> Array:
    """The dry friction (nv) of a mechanism, if it is one that can be simulated."""
    coulomb = coulomb_frictions(tree)
    negative = [name for (name, _), c in zip(velocity_labels(tree), coulomb, strict=True) if c < 0]
    if negative:
        raise ModelError(f"joint {negative[0]!r} of {tree.name} has a negative dry friction: it would push, and "
                         "nothing says where to from rest; leave friction out, or correct it")
    return coulomb


@dataclass(frozen=True)
class Sliding:
    """A joint's velocity in the direction in which it slides: it is watched for a standstill."""

    column: int
    direction: float


@dataclass(frozen=True)
class Holding:
    """How far the reaction that holds a joint is from its bounds: it is watched until the joint is let go."""

    column: int


@dataclass
class Rest(Nothing):
    """The joints of a mechanism that can be held, and the mode they are in; `ends` are limits at which a simulation
    ends.
    """

    tree: Tree
    stops: Stops
    ends: list[Stop] = field(default_factory=list)
    coulomb: Array = field(init=False)
    sliding: Array = field(init=False)  # directions (nv) of friction, 0 where there is none
    held: Array = field(init=False)  # bool (nv)
    _inertia: Kernel = field(init=False)

    def __post_init__(self) -> None:
        self.coulomb, self._names = checked_coulomb(self.tree), [name for name, _ in velocity_labels(self.tree)]
        self.sliding, self.held = np.zeros(self.tree.nv), np.zeros(self.tree.nv, bool)
        self._lower, self._upper, self._at = np.zeros(self.tree.nv), np.zeros(self.tree.nv), dict[int, Stop]()
        self._inertia = inertia_matrix_kernel(self.tree.spanning_tree())

    words = FRICTION_WORDS

    @property
    def possible(self) -> bool:  # type: ignore[override]
        """Whether any joint can be held at all."""
        return bool(self.stops.all) or bool(self.coulomb.any())

    @property
    def reactions(self) -> int:  # type: ignore[override]
        return self.tree.nv if self.possible else 0

    def inputs(self, u: Mapping[str, Array]) -> Mapping[str, Array]:
        return {**u, "tau": u["tau"] - self.coulomb * self.sliding} if self.sliding.any() else u

    @property
    def watched(self) -> list[Stop | Sliding | Holding]:
        """What ends this mode."""
        resting = [*self._at.values()]
        return [*self.ends, *[stop for stop in self.stops.all if stop not in resting],
                *[Sliding(int(k), self.sliding[k]) for k in np.flatnonzero(self.sliding)],
                *[Holding(int(k)) for k in np.flatnonzero(self.held)]]

    def resolved(self, x: Blocks, slope: Array) -> tuple[Array, Array]:
        reaction = np.zeros(len(self.held))
        if not self.held.any():
            return slope, reaction
        moves = ~self.held
        M = self._inertia(x["q"])
        forces = M @ slope[self._velocities]
        found = np.zeros(len(self.held))
        found[moves] = np.linalg.solve(M[np.ix_(moves, moves)], forces[moves])
        reaction[self.held] = (M[self.held] @ found) - forces[self.held]
        slope = slope.copy()
        slope[self._velocities] = found
        return slope, reaction

    @property
    def _velocities(self) -> slice:
        return slice(self.tree.nq, self.tree.nq + self.tree.nv)

    def value(self, what: Stop | Sliding | Holding, x: Blocks, reaction: Callable[[], Array]) -> float:
        if isinstance(what, Stop):
            return what.gap(x["q"])
        if isinstance(what, Sliding):
            return what.direction * x["qd"][what.column]
        return self.slack(what.column, reaction())

    def act(self, what: Stop | Sliding | Holding, x: Blocks, reaction: Array) -> Act:
        if isinstance(what, Holding):
            return Act(released={what.column: self.direction(what.column, reaction)})
        if isinstance(what, Sliding):
            x["qd"][what.column] = 0.0
        elif what in self.ends:
            return Act(end=("limit", what.name, f"joint {what.name} was reached"))
        else:
            x["q"][what.coordinate] = what.limit  # to the last digit, so that it touches
        return Act(x)

    def cleaned(self, x: Blocks) -> Blocks:
        return {**x, "qd": np.where(self.held, 0.0, x["qd"])}

    def slack(self, column: int, reaction: Array) -> float:
        """How much the reaction of a held joint may still change; negative if it is beyond a bound."""
        return float(min(reaction[column] - self._lower[column], self._upper[column] - reaction[column]))

    def direction(self, column: int, reaction: Array) -> float:
        """Where a held joint goes when it is let go."""
        return 1.0 if reaction[column] - self._lower[column] < self._upper[column] - reaction[column] else -1.0

    def impacts(self, x: Blocks) -> tuple[Blocks, list[str]]:
        """The state after impacts at stops, and the stops that were struck."""
        v, struck = self._impacts(x["q"], x["qd"])
        return {**x, "qd": v}, [stop.name for stop in struck]

    def _impacts(self, q: Array, qd: Array) -> tuple[Array, list[Stop]]:
        if not any(stop.touches(q) and stop.n * qd[stop.column] < 0 for stop in self.stops.all):
            return qd, []
        return self.stops.hit(q, qd, self.compliance(q), self.held)

    def compliance(self, q: Array) -> Array:
        """What impulses (nv) do to velocities (nv)."""
        return np.linalg.inv(self._inertia(q))

    def settle(self, x: Blocks, slope: Callable[[Blocks], Array],
               released: Mapping[int, float]) -> list[tuple[str, str]]:
        """Decide the mode at a state: what has changed, by name and word. Joints that were `released` just now, in a
        direction, are not taken back.
        """
        q = x["q"]
        v = x["qd"]
        acceleration = partial(self._acceleration, x, slope)
        before = self.held
        at = self._at
        slid = self.sliding
        self.sliding = np.sign(v) * (self.coulomb > 0)
        self._at = {}
        still = v == 0
        self._lower, self._upper = np.where(still, -self.coulomb, 0.0), np.where(still, self.coulomb, 0.0)
        for stop in self.stops.all:
            if still[stop.column] and stop.touches(q) and released.get(stop.column) != stop.n:
                self._at[stop.column] = stop
                bound = self._upper if stop.n > 0 else self._lower
                bound[stop.column] = stop.n * np.inf
        going = self._going(q, acceleration, released) if (self._lower < self._upper).any() else np.ones(len(v))
        self.held = going == 0
        self.sliding = np.where(still & (self.coulomb > 0), going, self.sliding)
        self._at = {column: stop for column, stop in self._at.items() if self.held[column]}
        let_go = [(at[k].name, "release") if k in at else (self._names[k], "slip")
                  for k in np.flatnonzero(before & ~self.held).tolist()]
        stuck = [(self._names[k], "stick") for k in np.flatnonzero((slid != 0) & self.held).tolist()
                 if k not in self._at]
        return [*let_go, *stuck]

    def _acceleration(self, x: Blocks, slope: Callable[[Blocks], Array]) -> Array:
        """What all joints (nv) would do if none were held."""
        return slope(x)[self._velocities]

    def _going(self, q: Array, acceleration: Callable[[], Array], released: Mapping[int, float]) -> Array:
        """How all joints go: rounds of guesses, in the end one joint at a time, which cannot go round in circles."""
        M = self._inertia(q)
        lower = self._lower.copy()
        upper = self._upper.copy()
        forces = M @ acceleration()
        going = np.where(lower < upper, 0.0, 1.0)
        for column, direction in released.items():
            going[column] = direction
            lower[column] = upper[column] = lower[column] if direction > 0 else upper[column]
        for turn in range(2 ** min(len(going) + 4, 20)):
            _, better = corrected(M, forces, lower, upper, going)
            changes = np.flatnonzero(better != going)
            if not len(changes):
                break
            changes = changes if turn < len(going) + 4 else changes[:1]
            going[changes] = better[changes]
        return going
