"""The translational machine of three legs (Delta): a platform that only moves along, on cranks and parallelograms.

    phi_i, r, h        directions of the legs, radius of the base and of the platform
    theta_i            angles of the cranks
    a, b               lengths of the cranks and of the parallelograms         p   place of the platform
    c = Rz(phi)^T p + (h - r, 0, 0) = (a c1 + b s3 c12, b c3, a s1 + b s3 s12)     in the axes of a leg
    C_i                centres of the spheres on which p is: ((a c1 + r - h) cos phi, (a c1 + r - h) sin phi, a s1)
Inverse: in its own plane a leg is a crank and a rod of length b s3 = sqrt(b^2 - c_y^2), so it has two postures, and the
machine 8 working modes. Direct: three spheres of radius b about C_i meet in two points, on the axis of the circle
through C_1, C_2, C_3; cranks at equal angles are nothing special.
    j_i . pd = a s2 s3 theta1d,     j_i = (p - C_i) / b
Source: Ruggiu (4.32)-(4.41), corrected as in spec E-12, E-38."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.tracing.symbols import rounding, where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ModelError, SingularityError, UnreachableError
from cayley.geometry.batch import rounding_of
from cayley.machines.arguments import Masses, batch_of, check_masses, compiled, mass_of, place, rod
from cayley.machines.parallel.legs import (
    LegJacobians,
    ParallelSingularity,
    actuator_rates,
    check_lengths,
    crank_angles,
    held_solution,
    parallel_singularity,
    root_of_reach,
    wrapped,
)
from cayley.model.constraint_kinds import Rod
from cayley.model.joint_kinds import Prismatic, Revolute
from cayley.model.parts import Body, Frame, Joint
from cayley.model.tree import Tree

if TYPE_CHECKING:
    from cayley.machines.workspace_maps import WorkspaceMap

_MODES = np.array([[(mode >> leg) & 1 for leg in (2, 1, 0)] for mode in range(8)])
_IN_LINE = 64  # roundings of the size of the machine: how far a point may be from the line of others, or from them
_THIRDS = tuple(np.radians([0.0, 120.0, 240.0]))


@dataclass(frozen=True, eq=False)
class TranslationalDelta:
    """A Delta by its lengths [m] and the directions (3) of its legs [rad]. Its base is at the origin and its platform
    above it; `cy.Mechanism(machine.tree(masses={...}))` is a mechanism of it, with loops and all functions.

    >>> machine = TranslationalDelta(crank=0.3, rod=0.6, base=0.25, platform=0.08)
    >>> modes = machine.inverse_position([0.05, -0.04, 0.55])
    >>> np.degrees(modes[-1]).round(6)
    array([20.563753, 36.540518, 26.683536])
    >>> machine.direct_position(modes[-1])[0].round(9)
    array([ 0.05, -0.04,  0.55])
    >>> cy.Mechanism(machine.tree()).loops.mobility
    3
    """

    crank: float
    rod: float
    base: float
    platform: float
    directions: tuple[float, float, float] = _THIRDS

    def __post_init__(self) -> None:
        check_lengths("Delta", crank=np.array(self.crank), rod=np.array(self.rod))
        if len(self.directions) != 3:
            raise ModelError(f"a Delta must have three legs, not {len(self.directions)}")

    @compiled("(3)->(8,3)", outputs=("theta",), explain="_explain_unreachable")
    def inverse_position(self, p: Array) -> Array:
        """`inverse_position(p)`: crank angles (..., 8, 3) of all working modes at places (..., 3) of the platform.

        In the first mode every parallelogram turns to the right after its crank. NaN in a leg that does not reach."""
        both = [self._leg_angles(p, leg) for leg in range(3)]
        return np.array([[both[leg][mode[leg]] for leg in range(3)] for mode in _MODES])

    @compiled("(3)->(2,3)", outputs=("p",), explain="_explain_unassembled")
    def direct_position(self, theta: Array) -> Array:
        """`direct_position(theta)`: both places (..., 2, 3) of the platform for crank angles (..., 3), the one towards
        the cranks' turn (positive z for cranks that all stand alike) first; NaN if the machine cannot be assembled."""
        C1, C2, C3 = self._centers(theta)
        u = C2 - C1
        w = C3 - C1
        n = np.cross(u, w)
        near = u @ u + w @ w
        off = _IN_LINE * rounding(self._size + 0.0 * near)
        nn = where(n @ n <= off**2 * near, np.nan, n @ n)
        middle = np.cross(n, u) * (w @ w) + np.cross(w, n) * (u @ u)  # to the centre of the circle, times 2 n.n
        across = middle / (2 * nn)
        height = root_of_reach(self.rod**2 - across @ across, self.rod**2) / np.sqrt(nn)
        return np.array([C1 + across + height * n, C1 + across - height * n])

    @property
    def _size(self) -> float:
        return self.crank + self.rod + abs(self.base) + abs(self.platform)

    @compiled("(3),(3)->(3,3)")
    def leg_angles(self, p: Array, theta: Array) -> Array:
        """`leg_angles(p, theta)`: theta1, theta2, theta3 (..., 3, 3) of every leg, theta3 in [0, pi].

        theta2 is of the parallelogram after the crank; where theta3 is 0 or pi any will do, and it is what rounding
        gives."""
        found = []
        for leg in range(3):
            c = self._seen_from(p, leg)
            along = [c[0] - self.crank * np.cos(theta[leg]), c[2] - self.crank * np.sin(theta[leg])]
            theta2 = wrapped(np.arctan2(along[1], along[0]) - theta[leg])
            found.append([theta[leg], theta2, np.arctan2(np.sqrt(along[0]**2 + along[1]**2), c[1])])
        return np.array(found)

    @compiled("(3),(3),(3),(3)->(3,3)")
    def leg_rates(self, p: Array, theta: Array, pd: Array, thetad: Array) -> Array:
        """`leg_rates(p, theta, pd, thetad)`: rates (..., 3, 3) of `leg_angles`."""
        return self.leg_angles.jacobian("p")(p, theta) @ pd + self.leg_angles.jacobian("theta")(p, theta) @ thetad

    @compiled("(3),(3)->(3,3),(3)")
    def jacobians(self, p: Array, theta: Array) -> LegJacobians:
        """`jacobians(p, theta)`: Jx (..., 3, 3), unit vectors along the parallelograms, and the diagonal Jq (..., 3)
        [m], with Jx pd = Jq thetad."""
        rods = (p - self._centers(theta)) / self.rod
        return LegJacobians(rods, np.array([j @ d for j, d in zip(rods, self._center_rates(theta), strict=True)]))

    def crank_rates(self, p: ArrayLike, theta: ArrayLike, velocity: ArrayLike) -> Array:
        """Rates (..., 3) of the cranks for velocities (..., 3) of the platform; where a leg is singular it has none:
        NaN, and `SingularityError` for one posture."""
        Jx, Jq = self.jacobians(p, theta)
        return actuator_rates(Jx, Jq, batch_of("velocities of the platform", velocity, (3,)), "delta", worth=self.crank)

    def velocity(self, p: ArrayLike, theta: ArrayLike, crank_rates: ArrayLike) -> Array:
        """Velocities (..., 3) of the platform for rates (..., 3) of the cranks; where none follow, as `singularity`
        says, NaN, and `SingularityError` for one posture."""
        Jx, Jq = self.jacobians(p, theta)
        return held_solution(Jx, Jq * batch_of("rates of the cranks", crank_rates, (3,)), "delta")

    def singularity(self, p: ArrayLike, theta: ArrayLike, *, tolerance: float | None = None) -> ParallelSingularity:
        """The class of one posture, with the velocities of the platform that it loses and gains."""
        Jx, Jq = self.jacobians(p, theta)
        return parallel_singularity(Jx, Jq / self.crank, tolerance=tolerance)

    def rod_lengths(self, p: ArrayLike, theta: ArrayLike) -> Array:
        """The distances of the platform from the centres of its spheres, (..., 3): the rods' length, if it is closed.
        """
        centers = self._centers(batch_of("crank angles", theta, (3,)))
        return np.linalg.norm(batch_of("places", p, (3,))[..., None, :] - centers, axis=-1)

    def workspace(self, *, height: float, mode: int = 0, crank_limits: ArrayLike | None = None,
                  box: ArrayLike | None = None, resolution: int = 200) -> WorkspaceMap:
        """The workspace of the platform at one height z [m] in one working mode (a place in `inverse_position`), with
        its singular curves; `plot()` draws it.

        `crank_limits`: (low, high) [rad] of all cranks, or a pair for each. `box`: ((left, bottom), (right, top)) [m].
        """
        from cayley.machines.workspace_maps import delta_map
        return delta_map(self, height, mode, crank_limits, box, resolution)

    def tree(self, *, masses: Masses | None = None, gravity: ArrayLike = (0.0, 0.0, -9.81)) -> Tree:
        """The machine as a tree with rods, `cy.Mechanism(machine.tree(...))`, with the joints "x", "y", "z" of the
        platform, "crank1" to "crank3", and the frame "tool" at the platform's centre; masses [kg] of "crank" and "rod"
        (or of "crank1", ...) and "platform", a rod being a whole parallelogram with half of its mass at either end, as
        Ruggiu 4.4.5 has it."""
        legs = (1, 2, 3)
        check_masses(masses, ["platform", *[f"{part}{leg}" for part in ("crank", "rod") for leg in legs]])
        bars = [mass_of(f"rod{leg}", masses) or 0.0 for leg in legs]
        platform = mass_of("platform", masses)
        bodies = [Body("base"), Body("x slide", 0.0), Body("y slide", 0.0),
                  Body("platform", platform if platform is None else platform + sum(bars) / 2)]
        joints = [Joint(name, parent.name, child.name, Prismatic(tuple(axis)))
                  for name, (parent, child), axis in zip("xyz", pairwise(bodies), np.eye(3), strict=True)]
        frames = [Frame("tool", "platform", np.eye(4))]
        rods = []
        for leg, phi, bar in zip(legs, self.directions, bars, strict=True):
            out = np.array([np.cos(phi), np.sin(phi)])
            bodies.append(_with_point(rod(f"crank{leg}", self.crank, masses), bar / 2, self.crank))
            joints.append(Joint(f"crank{leg}", "base", f"crank{leg}", Revolute((0.0, -1.0, 0.0)),
                                place(*self.base * out, turn=float(phi))))
            frames += [Frame(f"end of crank{leg}", f"crank{leg}", place(self.crank)),
                       Frame(f"corner{leg}", "platform", place(*self.platform * out))]
            rods.append(Rod(f"rod{leg}", f"end of crank{leg}", f"corner{leg}", self.rod))
        return Tree.of("Delta", bodies, joints, frames=frames, gravity=gravity, constraints=rods,
                       actuated=[f"crank{leg}" for leg in legs])

    def configuration(self, p: ArrayLike, theta: ArrayLike) -> Array:
        """The coordinates (..., 6) of `tree` for places (..., 3) and crank angles (..., 3)."""
        at, angles = np.broadcast_arrays(batch_of("places", p, (3,)), batch_of("crank angles", theta, (3,)))
        return np.concatenate([at, angles], axis=-1)

    # The text

    def _centers(self, theta: Array) -> Array:
        out = self.crank * np.cos(theta) + self.base - self.platform
        return np.stack([out * np.cos(self.directions), out * np.sin(self.directions), self.crank * np.sin(theta)],
                        axis=-1)

    def _center_rates(self, theta: Array) -> Array:
        inwards = -self.crank * np.sin(theta)
        return np.stack(
            [inwards * np.cos(self.directions), inwards * np.sin(self.directions), self.crank * np.cos(theta)], axis=1)

    def _seen_from(self, p: Array, leg: int) -> list[Scalar]:
        """The place of the platform in the axes of a leg, from the crank's pivot."""
        cos, sin = np.cos(self.directions[leg]), np.sin(self.directions[leg])
        return [cos * p[0] + sin * p[1] + self.platform - self.base, cos * p[1] - sin * p[0], p[2]]

    def _leg_angles(self, p: Array, leg: int) -> Array:
        x, across, z = self._seen_from(p, leg)
        return crank_angles(x, z, self.crank, root_of_reach((self.rod - across) * (self.rod + across), self.rod**2))

    def _explain_unreachable(self, p: ArrayLike) -> None:
        for leg in range(3):
            x, across, z = self._seen_from(np.asarray(p, dtype=float), leg)
            if abs(across) > self.rod:
                raise UnreachableError(
                    f"leg {leg + 1} of the Delta: the platform is {abs(across):.6g} m beside its plane, and "
                    f"the parallelogram is {self.rod:.6g} m long")
            rod = np.sqrt(self.rod**2 - across**2)
            if not abs(self.crank - rod) <= np.hypot(x, z) <= self.crank + rod:
                raise UnreachableError(
                    f"leg {leg + 1} of the Delta reaches from {abs(self.crank - rod):.6g} m to "
                    f"{self.crank + rod:.6g} m in its plane; the platform is at {np.hypot(x, z):.6g} m")

    def _explain_unassembled(self, theta: ArrayLike) -> None:
        C1, C2, C3 = self._centers(np.asarray(theta, dtype=float))
        u = C2 - C1
        w = C3 - C1
        off = _IN_LINE * rounding_of(theta) * self._size
        if u @ u + w @ w <= off**2:
            raise SingularityError(
                f"the centres of the three spheres are one point: the platform may be anywhere at {self.rod:.6g} m "
                "from it, a continuum. Turn one of the cranks")
        if np.linalg.norm(np.cross(u, w)) <= off * np.sqrt(u @ u + w @ w):
            raise SingularityError(
                "the centres of the three spheres are in line: the platform is not determined by the "
                "cranks, or cannot be reached")
        raise UnreachableError(f"with these cranks the three parallelograms of {self.rod:.6g} m do not meet in a point")


def _with_point(body: Body, mass: float, at: float) -> Body:
    """A rod along x with a point mass on it."""
    if body.mass is None or not mass:
        return body
    total = body.mass + mass
    center = (body.mass * body.center[0] + mass * at) / total
    across = body.inertia[1, 1] + body.mass * (body.center[0] - center)**2 + mass * (at - center)**2
    return Body(body.name, total, (center, 0.0, 0.0), across * np.diag([0.0, 1.0, 1.0]))
