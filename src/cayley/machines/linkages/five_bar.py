"""The planar five-bar: two cranks on the ground whose rods share a point, which has two degrees of freedom.

    O_i, a_i, b_i    pivots, lengths of cranks and rods         theta_i   angles of the cranks         P   the point
Inverse: each leg has two postures, so there are 4 working modes. Direct: two circles about the ends of the cranks meet
in two points. b_i . Pd = (a_i x b_i) thetad_i for the vectors of cranks and rods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ModelError, UnreachableError
from cayley.machines.arguments import DOWN, Masses, check_masses, compiled, crank_legs, names_of, place
from cayley.machines.parallel.legs import (
    LegJacobians,
    ParallelSingularity,
    check_lengths,
    crank_angles,
    parallel_singularity,
    root_of_reach,
)
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Frame, Loop
from cayley.model.tree import Tree

if TYPE_CHECKING:
    from cayley.machines.workspace_maps import WorkspaceMap


class FiveBar:
    """A five-bar by the pivots (2, 2) and the lengths (2) of cranks and rods [m].

    >>> linkage = FiveBar([(0.0, 0.0), (0.5, 0.0)], cranks=[0.3, 0.3], rods=[0.4, 0.4])
    >>> linkage.direct_position(linkage.inverse_position([0.25, 0.5])[1])[0].round(12)
    array([0.25, 0.5 ])
    """

    def __init__(self, pivots: ArrayLike, cranks: ArrayLike, rods: ArrayLike) -> None:
        self.pivots = np.array(pivots, dtype=float)
        self.cranks = np.array(cranks, dtype=float)
        self.rods = np.array(rods, dtype=float)
        if self.pivots.shape != (2, 2) or self.cranks.shape != (2,) or self.rods.shape != (2,):
            raise ModelError(
                f"a five-bar has two pivots (2, 2), two cranks and two rods; these are {self.pivots.shape}, "
                f"{self.cranks.shape} and {self.rods.shape}")
        check_lengths("five-bar", crank=self.cranks, rod=self.rods)

    @compiled("(2)->(4,2)", outputs=("theta",), explain="_explain_unreachable")
    def inverse_position(self, P: Array) -> Array:
        """`inverse_position(P)`: crank angles (..., 4, 2) of all working modes for points (..., 2).

        In the first mode both rods turn to the right after their cranks. NaN in a leg that does not reach."""
        left, right = (crank_angles(P[0] - O[0], P[1] - O[1], a, b)
                       for O, a, b in zip(self.pivots, self.cranks, self.rods, strict=True))
        return np.array([[first, second] for first in left for second in right])

    @compiled("(2)->(2,2)", outputs=("P",), explain="_explain_unassembled")
    def direct_position(self, theta: Array) -> Array:
        """`direct_position(theta)`: both points (..., 2, 2) for crank angles (..., 2), the one to the left of the way
        from the first crank's end to the second's first; NaN if the rods do not meet."""
        first, second = self._ends(theta)
        way = second - first
        dd = way @ way
        t = (dd + self.rods[0]**2 - self.rods[1]**2) / (2 * dd)
        height = root_of_reach(self.rods[0]**2 / dd - t**2, self.rods[0]**2 / dd)
        across = np.array([-way[1], way[0]])
        return np.array([first + t * way + height * across, first + t * way - height * across])

    @compiled("(2),(2)->(2,2),(2)")
    def jacobians(self, P: Array, theta: Array) -> LegJacobians:
        """`jacobians(P, theta)`: Jx (..., 2, 2) and the diagonal Jq (..., 2), with Jx Pd = Jq thetad."""
        rods = [P - end for end in self._ends(theta)]
        cranks = [end - pivot for end, pivot in zip(self._ends(theta), self.pivots, strict=True)]
        return LegJacobians(np.array(rods),
                              np.array([a[0] * b[1] - a[1] * b[0] for a, b in zip(cranks, rods, strict=True)]))

    def singularity(self, P: ArrayLike, theta: ArrayLike, *, tolerance: float | None = None) -> ParallelSingularity:
        """The class of one posture, with the velocities of the point that it loses and gains."""
        Jx, Jq = self.jacobians(P, theta)
        return parallel_singularity(Jx, Jq / self.cranks, tolerance=tolerance)

    def workspace(self, *, mode: int = 0, crank_limits: ArrayLike | None = None, box: ArrayLike | None = None,
                  resolution: int = 200) -> WorkspaceMap:
        """The workspace of the point in one working mode (a place in `inverse_position`), with its singular curves;
        `plot()` draws it.

        `crank_limits`: (low, high) [rad] of both cranks, or a pair for each. `box`: ((left, bottom), (right, top)) [m].

        >>> linkage = FiveBar([(0.0, 0.0), (0.5, 0.0)], cranks=[0.3, 0.3], rods=[0.4, 0.4])
        >>> linkage.workspace(mode=1, resolution=60)
        <five-bar, working mode 1: area 0.79... m^2, ...>
        """
        from cayley.machines.workspace_maps import five_bar_map
        return five_bar_map(self, mode, crank_limits, box, resolution)

    def crank_ends(self, theta: ArrayLike) -> Array:
        """The ends of the cranks, (..., 2, 2)."""
        angles = np.asarray(theta, dtype=float)
        return self.pivots + self.cranks[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=-1)

    def tree(self, *, masses: Masses | None = None, gravity: ArrayLike = DOWN) -> Tree:
        """The linkage as a tree with a loop, `cy.Mechanism(linkage.tree(...))`; masses [kg] of "crank1", "rod1",
        "crank2", "rod2", or of "crank" and "rod" for both; the frame "point" is at the end of the first rod."""
        bodies, joints = crank_legs(self.pivots, self.cranks, self.rods, masses)
        check_masses(masses, names_of(bodies))
        frames = [Frame("point", "rod1", place(self.rods[0])), Frame("end of rod2", "rod2", place(self.rods[1]))]
        return Tree.of("five-bar", bodies, joints, frames=frames, gravity=gravity,
                       loops=[Loop("pin", "point", "end of rod2", Revolute())], actuated=["crank1", "crank2"])

    def configuration(self, P: ArrayLike, theta: ArrayLike) -> Array:
        """The coordinates (..., 4) of `tree` for points (..., 2) and crank angles (..., 2)."""
        angles = np.asarray(theta, dtype=float)
        rods = np.asarray(P, dtype=float)[..., None, :] - self.crank_ends(angles)
        turned = np.arctan2(rods[..., 1], rods[..., 0]) - angles
        return np.stack(np.broadcast_arrays(angles[..., 0], turned[..., 0], angles[..., 1], turned[..., 1]), axis=-1)

    def _ends(self, theta: Array) -> list[Array]:
        return [pivot + crank * np.array([np.cos(angle), np.sin(angle)])
                for pivot, crank, angle in zip(self.pivots, self.cranks, theta, strict=True)]

    def _explain_unreachable(self, P: ArrayLike) -> None:
        distances = np.linalg.norm(np.asarray(P, dtype=float) - self.pivots, axis=1)
        for leg, (d, a, b) in enumerate(zip(distances, self.cranks, self.rods, strict=True), start=1):
            if not abs(a - b) <= d <= a + b:
                raise UnreachableError(
                    f"leg {leg} of the five-bar reaches from {abs(a - b):.6g} m to {a + b:.6g} m; the point is "
                    f"{d:.6g} m from its pivot")

    def _explain_unassembled(self, theta: ArrayLike) -> None:
        first, second = self._ends(np.asarray(theta, dtype=float))
        raise UnreachableError(
            f"the ends of the cranks are {np.linalg.norm(second - first):.6g} m apart, and the rods of "
            f"{self.rods[0]:.6g} m and {self.rods[1]:.6g} m do not meet there")
