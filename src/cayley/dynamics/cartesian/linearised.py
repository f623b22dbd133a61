"""The linearised model of a mechanism in Cartesian space: dtau = D^ dx'' + V^ dx' + P^ dx.

    D^ = D J^-1         V^ = (V - D^ M) J^-1         P^ = (P - V^ N - D^ N') J^-1
with J, N, M, N' of `perturbations`: analytic coordinates, for which this is the form of the source, or true
perturbations of the twist (v; w), for which it is the corrected one. J must be square and regular. State space, for z =
(dx, dx'):  z' = [[S, 1], [-D^^-1 P^, -D^^-1 V^]] z + [[0], [D^^-1]] dtau, with S = diag(0, w~) for the twist, because
(dphi)' = dw + w x dphi, and zero for coordinates. Source: Balafoutis & Patel (7.4.14)-(7.4.18), corrected as in spec
E-27, R9.3, R9.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.cartesian.coordinates import CartesianCoordinates
from cayley.dynamics.cartesian.perturbations import PerturbationMap, check_invertible, perturbation_map
from cayley.dynamics.forward.singular_inertia import check_definite
from cayley.dynamics.linearised.batched_matrices import over, times
from cayley.dynamics.linearised.kernels import Linearize, linearize_kernel
from cayley.dynamics.linearised.state_space import StateSpace
from cayley.model.constraints import check_independent
from cayley.showing import brief


@dataclass(frozen=True, eq=False)
class CartesianLinearisation:
    """D^, V^ and P^ (..., nv, nv) at states, and the map of perturbations behind them."""

    D: Array
    V: Array
    P: Array
    map: PerturbationMap
    state_space: StateSpace

    __repr__ = brief

    def force_change(self, dx: ArrayLike, dxd: ArrayLike, dxdd: ArrayLike) -> Array:
        """dtau (..., nv) for perturbations of the frame's motion (..., nv)."""
        return times(self.D, dxdd) + times(self.V, dxd) + times(self.P, dx)


@dataclass(frozen=True, eq=False)
class CartesianLinearised:
    """`CartesianLinearised(coordinates).at(q, qd, qdd)`; the kernels are compiled at first use.

    >>> from cayley.model.catalogue import load_robot
    >>> plane = CartesianCoordinates(load_robot("planar2r"), "tool", task=(True, True, False, False, False, False))
    >>> CartesianLinearised(plane).at([0.3, 1.2], [0.4, -0.2], [1.0, 0.5]).D.shape
    (2, 2)
    """

    coordinates: CartesianCoordinates

    @cached_property
    def sensitivities(self) -> Linearize:
        check_independent(self.coordinates.tree, "a linear model of a frame's motion")
        return linearize_kernel(self.coordinates.tree)

    def at(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> CartesianLinearisation:
        """The model at states (..., nq) and accelerations. `SingularityError` where J or D is singular."""
        q, qd, qdd = (np.asarray(x, dtype=float) for x in (q, qd, qdd))
        maps = perturbation_map(self.coordinates, q, qd, qdd)
        check_invertible(maps.J)
        D, V, P = self.sensitivities(q, qd, qdd)
        check_definite(self.coordinates.tree, D)
        D_hat = over(D, maps.J)  # (7.4.15)
        V_hat = over(V - D_hat @ maps.M, maps.J)  # (7.4.16)
        P_hat = over(P - V_hat @ maps.N - D_hat @ maps.dN, maps.J)  # (7.4.17)
        return CartesianLinearisation(D_hat, V_hat, P_hat, maps, self._state_space(maps, D_hat, V_hat, P_hat))

    def _state_space(self, maps: PerturbationMap, D: Array, V: Array, P: Array) -> StateSpace:
        """With (dx)' = dx' + S dx; N = J' - S J and M = N + J' give S J = M - 2 N."""
        one = np.broadcast_to(np.eye(D.shape[-1]), D.shape)
        solved = np.linalg.solve(D, np.concatenate([-P, -V, one], axis=-1))
        upper = np.concatenate([over(maps.M - 2 * maps.N, maps.J), one, 0 * one], axis=-1)
        both = np.concatenate([upper, solved], axis=-2)
        n = D.shape[-1]
        return StateSpace(both[..., :2 * n], both[..., 2 * n:])
