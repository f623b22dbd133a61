"""Velocities at rest in an adaptive simulation: held by dry friction, or against a stop, or by both, until the force
that holds them reaches its bound.

A segment of a simulation has a mode: the velocities that are held, and the direction in which friction acts at each
that slides. In a mode all forces are smooth. It ends when a velocity that slides comes to a standstill, or a reaction
reaches a bound; the next is found by solving for all velocities at rest together, as one that is let go changes what
the others must bear. States are vectors of the smooth coordinates; `columns` are the velocities among them.

    W = G^T G = N (N^T M N)^-1 N^T     what forces do to accelerations; N spans the velocities that constraints allow
    a = a_free + W r                   r the reactions of the velocities that are held, within their bounds
Which velocities go is found from the minimum of r.W r / 2 + a_free.r within the bounds. Where constraints tie
velocities together, the reactions are not unique, though the accelerations are. All are held as long as some reactions
within the bounds hold them: those that are farthest from the bounds say how long. Sources: Moreau 1966 (the
principle); Stark & Parker 1995 (bounded least squares)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.array_parts import block_diagonal
from cayley.compiler.kernel import Kernel
from cayley.compiler.made_once import kept_with_owner
from cayley.compiler.solving.rounding import least_singular, significant
from cayley.compiler.typing import Array
from cayley.systems.friction_and_stops import REST_SPEED, Stop
from cayley.systems.system import System
from cayley.systems.text_kernels import text_kernel

if TYPE_CHECKING:
    from cayley.systems.adaptive.moving_system import Look


FRICTION_WORDS = ("stick", "slip")  # these happen so often that they do not count as events
_STILL = 1e-11  # rad/s, m/s, and of the largest velocity: what the way back onto constraints leaves of zero
_ROUNDING = 1e-9  # of the largest acceleration: none
_FAR = 1e6  # N, N m: what is as far from its bounds is as good as anything farther

# At a time and a state: the inertia M (n, n), and the rows A (m, n) of the constraints
Matrices = Callable[[float, Array], tuple[Array, Array]]


class Standstill:
    """The velocities of a system that can be held, and the mode they are in."""

    def __init__(self, system: System, matrices: Matrices) -> None:
        self.matrices = matrices
        parts = system.holds
        places = system.layout.places
        offsets = np.cumsum([0, *[len(part.names) for part in parts]]).tolist()
        self.columns = np.concatenate([np.arange(places[part.velocity].start, places[part.velocity].stop)
                                       for part in parts])
        self.friction = np.concatenate([part.friction for part in parts])
        self.names = [name for part in parts for name in part.names]
        self.stops, self.ends = (
            [replace(s, coordinate=places[part.position].start + s.coordinate, column=offset + s.column)
             for part, offset in zip(parts, offsets, strict=False) for s in getattr(part, kind)]
            for kind in ("stops", "ends"))
        self._restitution = np.concatenate([np.full(len(part.names), part.restitution) for part in parts])
        self._bases = [part.basis for part in parts]
        self._offsets = offsets
        self.count = n = len(self.friction)  # of velocities that can be held, and so of reactions
        self.sliding, self.held = np.zeros(n), np.zeros(n, bool)  # directions of friction, 0 where there is none
        self._lower, self._upper, self._at = np.zeros(n), np.zeros(n), dict[int, Stop]()
        self.tied = any(part.tied for part in parts)

    @property
    def forces(self) -> Array:
        """The dry friction (n) of the velocities that slide."""
        return -self.friction * self.sliding

    @property
    def acts(self) -> bool:
        """True if anything is held."""
        return bool(self.held.any())

    @property
    def watched(self) -> list[Stop | int]:
        """The ends of this mode: stops and limits, velocities that slide, whose stop is zero, and held velocities."""
        resting = [*self._at.values()]
        return [*self.ends, *[stop for stop in self.stops if stop not in resting],
                *[Stop(self.names[k], int(self.columns[k]), k, 0.0, int(self.sliding[k]))
                  for k in np.flatnonzero(self.sliding).tolist()], *np.flatnonzero(self.held).tolist()]

    def value(self, what: Stop | int, look: Look) -> float:
        """The number that ends this mode when it becomes negative: a gap, or how far a reaction is from its bounds."""
        if isinstance(what, Stop):
            return float(what.gap(look.x))
        return min(self._slack(what, look))

    def direction(self, k: int, look: Look) -> float:
        """The direction in which a held velocity goes when it is let go."""
        below, above = self._slack(k, look)
        return 1.0 if below < above else -1.0

    def _slack(self, k: int, look: Look) -> tuple[float, float]:
        """The amount by which the reaction of a held velocity may still change; negative if it is beyond a bound."""
        return float(look.reaction[k] - self._lower[k]), float(self._upper[k] - look.reaction[k])

    def cleaned(self, t: float, x: Array) -> Array:
        """The state with what is held at rest to the last digit."""
        x[self.columns[self.held]] = 0.0
        return x

    def impacts(self, t: float, x: Array) -> tuple[Array, list[tuple[str, str]]]:
        """The state after impacts at stops, and the stops that were struck, by name and word.

        An impact is an impulse on the coordinates that hit: those leave with -e times the speed they came with, those
        that rest stay at rest, and no impulse pulls. What leaves slower than `REST_SPEED` rests: a ball that bounces
        ever faster comes to an end. Source: Newton's law of restitution."""
        v = x[self.columns]
        if self.tied:
            v[np.abs(v) <= _STILL * (1.0 + np.abs(v).max())] = 0.0
        touched = [stop for stop in self.stops if stop.gap(x) <= stop.tolerance]
        struck: list[Stop] = []
        for _ in range(2 * len(self.stops) + 1):
            now = [stop for stop in touched if stop.n * v[stop.column] < 0]
            if not now:
                break
            struck += now
            G = self._roots(t, x)
            v = self._hit(v, G.T @ G, now, [s for s in touched if self.held[s.column] and s not in now])
        x[self.columns] = v
        return x, [(stop.name, "impact") for stop in struck]

    def _hit(self, v: Array, W: Array, struck: list[Stop], resting: list[Stop]) -> Array:
        """The velocity (n) after an impact at `struck`; of those that rest, none is pulled, but where it would leave
        slowly. W: what impulses do to velocities (n, n)."""
        rebound = -self._restitution * v
        rebound[np.abs(rebound) <= REST_SPEED] = 0.0
        others = resting
        slow = list[Stop]()
        while True:
            columns = [s.column for s in (*struck, *others)]
            wanted = np.concatenate([rebound[columns[:len(struck)]], np.zeros(len(others))])
            impulse = _least(W[np.ix_(columns, columns)], wanted - v[columns], least_singular(len(v)) ** 2)
            pulling = [s for s, push in zip(others, impulse[len(struck):], strict=True)
                       if s.n * push < 0 and s not in slow]
            after = v + W[:, columns] @ impulse
            after[columns] = wanted
            leaving = [s for s in resting if s not in others and 0 < s.n * after[s.column] < REST_SPEED]
            if not pulling and not leaving:
                return after
            slow += [] if pulling else leaving
            others = [s for s in (others if pulling else [*others, *leaving]) if s not in pulling]

    def settle(self, t: float, x: Array, slope: Callable[[float, Array], Array],
               released: Mapping[int, float]) -> list[tuple[str, str]]:
        """Decide the mode at a state: what has changed, by name and word. `slope(t, x)` is that of the coordinates with
        nothing held. Velocities that were `released` just now, in a direction, are not taken back."""
        v = x[self.columns]
        before, at, slid = self.held, self._at, self.sliding
        self.sliding = np.sign(v) * (self.friction > 0)
        self._at = {}
        still = v == 0
        self._lower, self._upper = np.where(still, -self.friction, 0.0), np.where(still, self.friction, 0.0)
        for stop in self.stops:
            if still[stop.column] and stop.gap(x) <= stop.tolerance and released.get(stop.column) != stop.n:
                self._at[stop.column] = stop
                bound = self._upper if stop.n > 0 else self._lower
                bound[stop.column] = stop.n * np.inf
        for column, direction in released.items():
            self._lower[column] = self._upper[column] = (self._lower if direction > 0 else self._upper)[column]
        going = self._going(t, x, slope)
        going[[*released]] = [*released.values()]
        self.held = going == 0
        self.sliding = np.where(still & (self.friction > 0), going, self.sliding)
        self._at = {column: stop for column, stop in self._at.items() if self.held[column]}
        let_go = [(at[k].name, "release") if k in at else (self.names[k], "slip")
                  for k in np.flatnonzero(before & ~self.held).tolist()]
        stuck = [(self.names[k], "stick") for k in np.flatnonzero((slid != 0) & self.held).tolist()
                 if k not in self._at]
        return [*let_go, *stuck]

    def resolved(self, t: float, x: Array, slope: Array) -> tuple[Array, Array]:
        """The slope of the coordinates with what is held, and the reactions (n) that hold it."""
        reaction = np.zeros(self.count)
        slope = slope.copy()
        a = slope[self.columns]
        if self.tied:
            G = self._roots(t, x)
            g = _least(G[:, self.held].T, a[self.held], least_singular(self.count))
            wide = np.where(np.isfinite(self._upper - self._lower), self._upper - self._lower, 1.0)[self.held]
            reaction[self.held] = -wide * _least(G[:, self.held] * wide, g, least_singular(self.count))
            a = a + G.T @ (G @ reaction)
            a[self.held] = 0.0
        else:  # the same in half the time, and most simulations with friction spend theirs here
            M, _ = self.matrices(t, x)
            forces = M @ a
            moves = ~self.held
            a = np.zeros(self.count)
            a[moves] = np.linalg.solve(M[np.ix_(moves, moves)], forces[moves])
            reaction[self.held] = (M[self.held] @ a) - forces[self.held]
        slope[self.columns] = a
        return slope, reaction

    def _roots(self, t: float, x: Array) -> Array:
        """G (freedoms, n) with W = G^T G."""
        return self.roots_of(*self.matrices(t, x))

    def roots_of(self, M: Array, A: Array) -> Array:
        """G (freedoms, n) of an inertia M (n, n) and rows A (m, n) of constraints."""
        parts = []
        for basis, a, b in zip(self._bases, self._offsets[:-1], self._offsets[1:], strict=True):
            own = A[:, a:b][np.abs(A[:, a:b]).any(axis=1)]
            parts.append(np.eye(b - a) if basis is None else basis(own))
        N = block_diagonal(parts)
        return np.linalg.solve(np.linalg.cholesky(N.T @ M @ N), N.T)

    def central(self, t: float, x: Array, reaction: Array) -> Array:
        """The reactions (n), of those that do the same as the given ones, that are farthest from their bounds."""
        if not self.tied:
            return reaction
        G = self._roots(t, x)[:, self.held]
        _, values, V = np.linalg.svd(G, full_matrices=False)
        used = significant(values, self.count)
        n = G.shape[1]
        if used.sum() == n:
            return reaction
        from scipy.optimize import linprog
        lower, upper = (bound[self.held] for bound in (self._lower, self._upper))
        low, high = np.isfinite(lower), np.isfinite(upper)
        within = np.concatenate([np.column_stack([-np.eye(n)[low], np.ones(low.sum())]),
                                 np.column_stack([np.eye(n)[high], np.ones(high.sum())])])
        found = linprog([*np.zeros(n), -1.0], within, np.concatenate([-lower[low], upper[high]]),
                        np.column_stack([V[used], np.zeros(used.sum())]), V[used] @ reaction[self.held],
                        bounds=[*[(None, None)] * n, (None, _FAR)])
        central = reaction.copy()
        central[self.held] = found.x[:-1] if found.status == 0 else np.nan
        return central

    def _going(self, t: float, x: Array, slope: Callable[[float, Array], Array]) -> Array:
        """The directions of the velocities (n) at rest: 0 for those that are held."""
        going = np.ones(len(self.columns))
        can = self._lower < self._upper
        if not can.any():
            return going
        G = self._roots(t, x)
        a = slope(t, x)[self.columns]
        from scipy.optimize import lsq_linear
        a = a + G.T @ (G[:, ~can] @ self._lower[~can])
        g = _least(G[:, can].T, a[can], least_singular(self.count))
        reaction = lsq_linear(G[:, can], -g, (self._lower[can], self._upper[can]), method="bvls").x
        after = (a + G.T @ (G[:, can] @ reaction))[can]
        going[can] = np.where(np.abs(after) <= _ROUNDING * (1.0 + np.abs(a).max()), 0.0, np.sign(after))
        return going


def _least(A: Array, b: Array, rank: float) -> Array:
    """The smallest of the nearest solutions of A x = b; singular values up to `rank` of the largest are zero."""
    return np.linalg.lstsq(A, b, rcond=rank)[0]


@kept_with_owner
def matrices_kernel(system: System) -> Kernel:
    """M (n, n) of all velocities that may be held, and the rows A (m, n) of their constraints, if there are any."""
    def text(*given: Any) -> tuple[Any, ...]:  # noqa: ANN401 (t, x, u, p)
        M = block_diagonal([part.balance(*given)[0] for part in system.holds])
        rows = [np.zeros((0, len(part.names))) if part.rows is None else part.rows(*given) for part in system.holds]
        return (M, block_diagonal(rows)) if tied else (M,)

    n = sum(len(part.names) for part in system.holds)
    tied = sum(part.tied for part in system.holds)
    return text_kernel(system, text, [(n, n), *([(tied, n)] if tied else [])], "inertia")
