"""The linearised model of a mechanism in Cartesian space: dtau = D^ dx'' + V^ dx' + P^ dx.

    D^ = D J^-1         V^ = (V - D^ M) J^-1         P^ = (P - V^ N - D^ N') J^-1
with the perturbations of the joints' motion as those of a frame's:

    dx = J dq         dx' = N dq + J dqd         dx'' = N' dq + M dqd + J dqdd
analytic     N = J', M = 2 J', N' = J'': dx is the perturbation of coordinates and the others are its rates
geometric    N = J' - S J, M = N + J', N' = J'' - S' J - S J', S = diag(0, w~): dx = (dp; dphi) is a small displacement,
             and dx', dx'' are the true perturbations of (v; w) and of (v'; w'), because dw = (dphi)' + dphi x w
The formulas of the source hold for coordinates; for (v; w) they leave S out, which is wrong by several times the size
of the result. J must be square and regular. State space, for z = (dx, dx'):  z' = [[S, 1], [-D^^-1 P^, -D^^-1 V^]] z +
[[0], [D^^-1]] dtau, S zero for coordinates. Source: Balafoutis & Patel (7.4.8)-(7.4.18), corrected as in spec E-27,
R9.3, R9.4."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.cartesian.model import CartesianCoordinates, check_regular
from cayley.dynamics.forward.singular_inertia import check_definite
from cayley.dynamics.linearised.by_differentiation import over, solved, times
from cayley.dynamics.linearised.kernels import Linearize, linearize_kernel
from cayley.dynamics.linearised.state_space import StateSpace
from cayley.errors import SignatureError, UnsupportedError
from cayley.geometry.tensors.cross import hat
from cayley.model.constraints import check_independent
from cayley.showing import brief, shown_briefly


@shown_briefly
class Perturbation(NamedTuple):
    """Perturbations of coordinates, velocities and accelerations, each (..., n)."""

    position: Array
    velocity: Array
    acceleration: Array


@shown_briefly
class PerturbationMap(NamedTuple):
    """J, N, M and N' (..., m, nv) at a state."""

    J: Array
    N: Array
    M: Array
    dN: Array

    def to_cartesian(self, dq: ArrayLike, dqd: ArrayLike, dqdd: ArrayLike) -> Perturbation:
        """(dx, dx', dx'') from (dq, dqd, dqdd)."""
        return Perturbation(times(self.J, dq), times(self.N, dq) + times(self.J, dqd),
                            times(self.dN, dq) + times(self.M, dqd) + times(self.J, dqdd))  # (7.4.8) (7.4.9) (7.4.10)

    def to_joints(self, dx: ArrayLike, dxd: ArrayLike, dxdd: ArrayLike) -> Perturbation:
        """(dq, dqd, dqdd) from (dx, dx', dx''). `SingularityError` where J is singular."""
        check_invertible(self.J)
        dq = solved(self.J, np.asarray(dx, dtype=float))  # (7.4.11)
        dqd = solved(self.J, dxd - times(self.N, dq))  # (7.4.12)
        return Perturbation(dq, dqd, solved(self.J, dxdd - times(self.M, dqd) - times(self.dN, dq)))  # (7.4.13)


def perturbation_map(coordinates: CartesianCoordinates, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> PerturbationMap:
    """The map at states (..., nq) and accelerations, for mechanisms whose velocities are rates of coordinates.

    >>> from cayley.model.catalogue import load_robot
    >>> arm = CartesianCoordinates(load_robot("planar2r"), "tool", task=(True, True, False, False, False, False))
    >>> there = perturbation_map(arm, [0.3, 1.2], [0.4, -0.2], [1.0, 0.5])
    >>> back = there.to_joints(*there.to_cartesian([1e-3, 0.0], [0.0, 2e-3], [3e-3, 0.0]))
    >>> back.velocity.round(12) + 0.0
    array([0. , 0.002])
    """
    check_coordinates(coordinates)
    J, dJ, ddJ = coordinates.jacobians(q, qd, qdd)
    if not coordinates.is_geometric:
        return PerturbationMap(J, dJ, 2 * dJ, ddJ)
    turning = CartesianCoordinates(coordinates.tree, coordinates.frame, task="orientation").jacobians(q, qd, qdd)
    S = _spin(coordinates, times(turning.J, qd))
    dS = _spin(coordinates, times(turning.J, qdd) + times(turning.dJ, qd))
    N = dJ - S @ turning.J
    return PerturbationMap(J, N, N + dJ, ddJ - dS @ turning.J - S @ turning.dJ)


def _spin(coordinates: CartesianCoordinates, w: Array) -> Array:
    """The rows (..., m, 3) of diag(0, w~) that a task asks for, by the three columns of turning."""
    tensors = hat(w)
    rows = np.concatenate([np.zeros_like(tensors), tensors], axis=-2)
    return rows[..., list(coordinates.rows), :]


def check_coordinates(coordinates: CartesianCoordinates) -> None:
    """Raise for joints whose velocities are no rates of coordinates."""
    for joint in coordinates.tree.joints:
        if joint.motion.nq != joint.motion.nv:
            raise UnsupportedError(
                f"Cartesian perturbations are for joints whose velocities are rates of coordinates, and joint "
                f"{joint.name!r} is {joint.motion.word}")


def check_invertible(J: Array) -> None:
    if J.shape[-2] != J.shape[-1]:
        raise SignatureError(
            f"a Jacobian (..., {J.shape[-2]}, {J.shape[-1]}) has no inverse: ask for as many rows (task=) as there are "
            "velocities")
    check_regular(J, "the frame")


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
        """The state-space model. With (dx)' = dx' + S dx; N = J' - S J and M = N + J' give S J = M - 2 N."""
        one = np.broadcast_to(np.eye(D.shape[-1]), D.shape)
        solved = np.linalg.solve(D, np.concatenate([-P, -V, one], axis=-1))
        upper = np.concatenate([over(maps.M - 2 * maps.N, maps.J), one, 0 * one], axis=-1)
        both = np.concatenate([upper, solved], axis=-2)
        n = D.shape[-1]
        return StateSpace(both[..., :2 * n], both[..., 2 * n:])
