"""The linear model along a motion: what becomes of small perturbations of the start and of the forces.

    dx' = A(t) dx + B(t) dtau        dx(t) = Phi(t, s) dx(s) + integral Phi(t, r) B(r) dtau(r) dr        x = (q, qd)
A and B are those of the linearised arm at the states of the nominal motion. Perturbations are along the velocities,
where coordinates are more than these. Errors are of second order. Source: Balafoutis & Patel (1.1.3), spec S1-109.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.control.arms import HasTree, tree_of
from cayley.control.tracking import Reference, followed
from cayley.dynamics.linearised.state_space import LinearisedMechanism, StateSpace
from cayley.errors import SignatureError
from cayley.model.constraints import check_independent
from cayley.model.tree import Tree
from cayley.wording import shown


@dataclass(frozen=True, eq=False)
class LinearMotion:
    """The model along a `reference(t) -> (q, qd, qdd)`; made by `linear_along`."""

    model: LinearisedMechanism
    reference: Reference

    def at(self, t: float) -> StateSpace:
        """A (2 nv, 2 nv) and B (2 nv, nv) at a time."""
        return self.model.at(*[np.asarray(x, dtype=float) for x in self.reference(t)])

    def transition(self, times: ArrayLike, *, tolerance: float = 1e-10) -> Array:
        """Phi(t, times[0]) (k, 2 nv, 2 nv) at the times (k), which rise."""
        size = 2 * self.model.tree.nv

        def slope(t: float, x: Array) -> Array:
            return (self.at(t).A @ x.reshape(size, size)).ravel()

        _, rows = followed(f"perturbations of {self.model.tree.name}", slope, np.eye(size).ravel(), _rising(times),
                           tolerance)
        return rows.reshape(-1, size, size)

    def perturbations(self, dx: ArrayLike, times: ArrayLike, *, forces: Callable[[float], ArrayLike] | None = None,
                      tolerance: float = 1e-10) -> Array:
        """dx (k, 2 nv) at the times (k) from a perturbation (2 nv) at the first and, if there are any, perturbations
        `forces(t)` (nv) of the nominal ones."""
        size = 2 * self.model.tree.nv
        start = np.asarray(dx, dtype=float)
        if start.shape != (size,):
            raise SignatureError(f"a perturbation of {self.model.tree.name} has the shape ({size},), not {start.shape}")

        def slope(t: float, x: Array) -> Array:
            here = self.at(t)
            pushed = 0.0 if forces is None else here.B @ np.asarray(forces(t), dtype=float)
            return here.A @ x + pushed

        return followed(f"perturbations of {self.model.tree.name}", slope, start, _rising(times), tolerance)[1]


def linear_along(arm: Tree | HasTree, reference: Reference) -> LinearMotion:
    """The linear time-varying model of an arm along a nominal motion, under the forces that this needs.

    >>> import cayley as cy
    >>> along = linear_along(cy.load("planar2r"), lambda t: (np.sin([t, 2 * t]), np.cos([t, 2 * t]) * [1, 2],
    ...                                                      -np.sin([t, 2 * t]) * [1, 4]))
    >>> along.transition([0.0, 0.5, 1.0]).shape
    (3, 4, 4)
    """
    tree = tree_of(arm)
    check_independent(tree, "a linear model along a motion")
    return LinearMotion(LinearisedMechanism(tree), reference)


def _rising(times: ArrayLike) -> Array:
    given = np.atleast_1d(np.asarray(times, dtype=float))
    if given.ndim != 1 or not len(given) or not np.isfinite(given).all() or not (np.diff(given) > 0).all():
        raise SignatureError(f"times are finite numbers that rise, not {shown(times)}")
    return given
