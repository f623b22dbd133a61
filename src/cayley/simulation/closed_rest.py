"""Joints at rest in a mechanism with constraints: held by dry friction, or against a stop, or by both.

    W = N (N^T M N)^-1 N^T     what forces do to accelerations; N spans the velocities that the constraints allow
    a = a_free + W r           r the reactions of the joints that are held, within their bounds
Joints that the constraints tie together share what holds them: their reactions are not unique, though the accelerations
are. All are held as long as some reactions within the bounds hold them: those that are farthest from the bounds say how
long. Which joints go is found from the minimum of r.W r / 2 + a_free.r within the bounds.
Sources: Moreau 1966 (the principle); Stark & Parker 1995 (bounded least squares).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array
from cayley.dynamics.mechanics.constrained import null_space_basis
from cayley.kinematics.constraints.rows import jacobian_kernel
from cayley.simulation.rest import Holding, Rest, Sliding
from cayley.simulation.stops import Stop
from cayley.systems.holding import Act, Blocks

_STILL = 1e-11  # rad/s, m/s, and of the largest velocity: what the way back onto constraints leaves of zero
_DEPENDENT = 1e-10  # of the largest singular value
_ROUNDING = 1e-9  # of the largest acceleration: none
_FAR = 1e6  # N, N m: what is as far from its bounds is as good as anything farther


@dataclass
class ClosedRest(Rest):
    """As for independent joints, with the constraints."""

    def _roots(self, q: Array) -> Array:
        """G (mobility, nv) with W = G^T G."""
        A = kept(self.tree, "constraint Jacobian", lambda: jacobian_kernel(self.tree))(q)
        N = null_space_basis(np.asarray(A), "svd")
        return np.linalg.solve(np.linalg.cholesky(N.T @ self._inertia(q) @ N), N.T)

    def compliance(self, q: Array) -> Array:
        G = self._roots(q)
        return G.T @ G

    def impacts(self, x: Blocks) -> tuple[Blocks, list[str]]:
        v = x["qd"]
        x["qd"][np.abs(v) <= _STILL * (1.0 + np.abs(v).max())] = 0.0
        return super().impacts(x)

    def resolved(self, x: Blocks, slope: Array) -> tuple[Array, Array]:
        reaction = np.zeros(len(self.held))
        if not self.held.any():
            return slope, reaction
        G = self._roots(x["q"])
        g = np.linalg.lstsq(G[:, self.held].T, slope[self._velocities][self.held], rcond=_DEPENDENT)[0]
        wide = np.where(np.isfinite(self._upper - self._lower), self._upper - self._lower, 1.0)[self.held]
        reaction[self.held] = -wide * np.linalg.lstsq(G[:, self.held] * wide, g, rcond=_DEPENDENT)[0]
        slope = slope.copy()
        slope[self._velocities] += G.T @ (G @ reaction)
        slope[self._velocities][self.held] = 0.0
        return slope, reaction

    def value(self, what: Stop | Sliding | Holding, x: Blocks, reaction: Callable[[], Array]) -> float:
        if not isinstance(what, Holding):
            return super().value(what, x, reaction)
        return self.slack(what.column, self._central(x["q"], reaction()))

    def act(self, what: Stop | Sliding | Holding, x: Blocks, reaction: Array) -> Act:
        return super().act(what, x, self._central(x["q"], reaction) if isinstance(what, Holding) else reaction)

    def _central(self, q: Array, reaction: Array) -> Array:
        """Of the reactions (nv) that do the same as those given, the ones that are farthest from their bounds."""
        G = self._roots(q)[:, self.held]
        _, values, V = np.linalg.svd(G, full_matrices=False)
        used = values > _DEPENDENT * values.max()
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

    def _going(self, q: Array, acceleration: Callable[[], Array], released: Mapping[int, float]) -> Array:
        G = self._roots(q)
        a = acceleration()
        lower = self._lower.copy()
        upper = self._upper.copy()
        going = np.ones(len(a))
        for column, direction in released.items():
            going[column] = direction
            lower[column] = upper[column] = lower[column] if direction > 0 else upper[column]
            a = a + G.T @ (G[:, column] * lower[column])
        from scipy.optimize import lsq_linear
        can = lower < upper
        g = np.linalg.lstsq(G[:, can].T, a[can], rcond=_DEPENDENT)[0]
        reaction = lsq_linear(G[:, can], -g, (lower[can], upper[can]), method="bvls").x
        after = (a + G.T @ (G[:, can] @ reaction))[can]
        going[can] = np.where(np.abs(after) <= _ROUNDING * (1.0 + np.abs(a).max()), 0.0, np.sign(after))
        return going
