"""The planar 3-RRR: a platform, an equilateral triangle, on three legs of a driven crank and a rod.

    O_i, theta_i, a_i   pivots of the base, angles and lengths of the cranks         b_i   lengths of the rods
    x, y, phi           place of the platform's centre P and its orientation         h     side of the triangle
    A_i                 vertices: P + h/sqrt3 (cos, sin) of phi + 210, 330, 90 degrees
Inverse: each leg has two postures, so there are 8 working modes. Direct: the vertices 1 are on three circles about
D_i - (A_i - A_1), D_i being the ends of the cranks; that they meet in a point is a condition F(phi) = 0, of degree six
in exp(i phi), so that there are at most 6 assembly modes, and phi = pi is nothing special. Where the centres of the
circles are in line they meet in two points, and both are taken.
    b_i . (xd + phid e_i') = (a_i x b_i) thetad_i,     e_i from P to the vertex, e_i' = e_i turned by 90 degrees
Source: Ruggiu (4.1)-(4.14), corrected as in spec E-06."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.solving.rounding import least_singular
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import SingularityError, UnreachableError
from cayley.geometry.batch import first_failure, place
from cayley.machines.arguments import (
    DOWN,
    Masses,
    batch_of,
    check_masses,
    compiled,
    crank_legs,
    data,
    mass_of,
    names_of,
)
from cayley.machines.arguments import place as placed
from cayley.machines.parallel.legs import (
    Assemblies,
    LegJacobians,
    ParallelSingularity,
    actuator_rates,
    arranged,
    check_lengths,
    crank_angles,
    held_solution,
    parallel_singularity,
    wrapped,
)
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Frame, Joint, Loop
from cayley.model.tree import Tree

if TYPE_CHECKING:
    from cayley.machines.workspace_maps import WorkspaceMap

_CORNERS = np.radians([210.0, 330.0, 90.0])
_SAMPLES = 16  # of F, which has no more than four harmonics
_ON_CIRCLE = 1e-3  # how far from 1 |z| may be before the root is improved; double roots are uncertain
_STEPS = 8  # of Newton: two for a root, the others where two roots meet
_NEAR = 1e-3  # of the size of the machine: what may be wrong before roots are improved
_APART = 1e-7  # poses nearer than this are one
_UPON = 1e-9  # of the size of the machine: circles that are nearer are one
_CLOSES = 1e-12  # of the size of the machine: a double root is uncertain by 1e-8, and its rods by the square of that
_MODES = np.array([[(mode >> leg) & 1 for leg in (2, 1, 0)] for mode in range(8)])


class Planar3RRR:
    """A planar 3-RRR by the pivots (3, 2) of its base, the lengths (3) of cranks and rods, and the platform's side [m].
    `cy.Mechanism(machine.tree(masses={...}))` is a mechanism of it, with loops and all functions.

    >>> machine = Planar3RRR([(0.0, 0.0), (2.4, 0.0), (1.2, 2.0785)], cranks=[0.8] * 3, rods=[0.9] * 3, side=0.7)
    >>> modes = machine.inverse_position([1.25, 0.62, 0.2])
    >>> np.degrees(modes[0]).round(6)
    array([  78.643231, -149.568467,  -35.987472])
    >>> machine.direct_position(modes[0])
    <assembled: 2 assembly modes>
      [ 1.286366957  0.664366586 -1.425342343]
      [1.25 0.62 0.2 ]
    """

    def __init__(self, pivots: ArrayLike, cranks: ArrayLike, rods: ArrayLike, side: float) -> None:
        self.pivots = data("pivots of a planar 3-RRR", pivots, (3, 2))
        self.cranks = data("cranks of a planar 3-RRR", cranks, (3,))
        self.rods = data("rods of a planar 3-RRR", rods, (3,))
        self.side = float(side)
        check_lengths("planar 3-RRR", crank=self.cranks, rod=self.rods, side=np.array(self.side))

    @compiled("(3)->(8,3)", outputs=("theta",), explain="_explain_unreachable")
    def inverse_position(self, pose: Array) -> Array:
        """`inverse_position(pose)`: crank angles (..., 8, 3) of all working modes at poses (..., 3) of x, y, phi.

        The first mode has every rod turn to the right after its crank. NaN in a leg that does not reach."""
        corners = self.vertices(pose) - self.pivots
        both = [crank_angles(x, y, a, b) for (x, y), a, b in zip(corners, self.cranks, self.rods, strict=True)]
        return np.array([[both[leg][mode[leg]] for leg in range(3)] for mode in _MODES])

    def direct_position(self, theta: ArrayLike) -> Assemblies:
        """All poses (..., 6, 3) of the platform for crank angles (..., 3), sorted by orientation; `SingularityError` if
        they are a continuum: equal rods from crank ends that are as far apart as the platform's corners stay parallel.
        """
        theta = batch_of("crank angles", theta, (3,))
        ends = self.crank_ends(theta)
        self._check_determined(ends)
        z = self._condition_roots(ends)
        phi = np.where(np.abs(np.abs(z) - 1) <= _ON_CIRCLE, np.angle(z), np.nan)  # of real roots alone
        centers = ends[..., None, :, :] - self._sides(phi)
        corners = np.stack(_common_points(centers, self.rods), axis=-2)  # (..., 6, 2, 2)
        P = corners - _corner(phi, self.side)[..., None, :]
        poses = np.concatenate([P, np.broadcast_to(phi[..., None, None], (*P.shape[:-1], 1))], axis=-1)
        poses = self._improved(poses.reshape(*poses.shape[:-3], 12, 3), theta[..., None, :])
        gaps = np.abs(self.rod_lengths(poses, theta[..., None, :]) - self.rods).max(axis=-1)
        found = arranged(poses, gaps, tolerance=_CLOSES * self._size, apart=_APART * self._size)
        return Assemblies(found.poses[..., :6, :], found.residual[..., :6])

    @compiled("(3),(3)->(3,3),(3)")
    def jacobians(self, pose: Array, theta: Array) -> LegJacobians:
        """`jacobians(pose, theta)`: Jx (..., 3, 3) and the diagonal Jq (..., 3), with Jx (xd, yd, phid) = Jq thetad."""
        cranks = self.crank_ends(theta) - self.pivots
        rods = self.vertices(pose) - self.crank_ends(theta)
        arms = self.vertices(pose) - pose[:2]
        Jx = np.array([[b[0], b[1], e[0] * b[1] - e[1] * b[0]] for b, e in zip(rods, arms, strict=True)])
        return LegJacobians(Jx, np.array([a[0] * b[1] - a[1] * b[0] for a, b in zip(cranks, rods, strict=True)]))

    def crank_rates(self, pose: ArrayLike, theta: ArrayLike, pose_rate: ArrayLike) -> Array:
        """Rates (..., 3) of the cranks for rates (..., 3) of x, y, phi; a leg that is straight or folded has none: NaN,
        and `SingularityError` for one posture."""
        Jx, Jq = self.jacobians(pose, theta)
        return actuator_rates(Jx, Jq, batch_of("rates of the platform", pose_rate, (3,)), "3-RRR", worth=self.cranks,
                              lengths=self._worth)

    def pose_rate(self, pose: ArrayLike, theta: ArrayLike, crank_rates: ArrayLike) -> Array:
        """Rates (..., 3) of x, y, phi for rates (..., 3) of the cranks; where none follow, as `singularity` says, NaN,
        and `SingularityError` for one posture."""
        Jx, Jq = self.jacobians(pose, theta)
        return held_solution(Jx, Jq * batch_of("rates of the cranks", crank_rates, (3,)), "3-RRR", lengths=self._worth)

    @compiled("(3),(3)->(3)")
    def rod_angles(self, pose: Array, theta: Array) -> Array:
        """`rod_angles(pose, theta)`: the passive angles (..., 3) between the cranks and their rods."""
        rods = self.vertices(pose) - self.crank_ends(theta)
        return np.array([wrapped(np.arctan2(b[1], b[0]) - angle) for b, angle in zip(rods, theta, strict=True)])

    def rod_rates(self, pose: ArrayLike, theta: ArrayLike, pose_rate: ArrayLike) -> Array:
        """Rates (..., 3) of the passive angles while the platform moves."""
        return self._passive_rates(pose, theta, pose_rate, self.crank_rates(pose, theta, pose_rate))

    @compiled("(3),(3),(3),(3)->(3)")
    def _passive_rates(self, pose: Array, theta: Array, pose_rate: Array, crank_rates: Array) -> Array:
        by_pose, by_theta = (self.rod_angles.jacobian(name)(pose, theta) for name in ("pose", "theta"))
        return by_pose @ pose_rate + by_theta @ crank_rates

    def singularity(self, pose: ArrayLike, theta: ArrayLike, *, tolerance: float | None = None) -> ParallelSingularity:
        """The class of one posture, with the motions (xd, yd, phid) that it loses and gains."""
        Jx, Jq = self.jacobians(pose, theta)
        return parallel_singularity(Jx, Jq / self.cranks, lengths=self._worth, tolerance=tolerance)

    def workspace(self, *, phi: float = 0.0, mode: int = 0, crank_limits: ArrayLike | None = None,
                  box: ArrayLike | None = None, resolution: int = 200) -> WorkspaceMap:
        """The workspace of the platform's centre at one orientation [rad] in one working mode (a place in
        `inverse_position`), with its singular curves; `plot()` draws it.

        `crank_limits`: (low, high) [rad] of all cranks, or a pair for each. `box`: ((left, bottom), (right, top)) [m].
        """
        from cayley.machines.workspace_maps import planar_3rrr_map
        return planar_3rrr_map(self, phi, mode, crank_limits, box, resolution)

    def tree(self, *, masses: Masses | None = None, gravity: ArrayLike = DOWN) -> Tree:
        """The machine as a tree with loops, `cy.Mechanism(machine.tree(...))`, with the frame "tool" at the platform's
        centre; masses [kg] of "crank1", "rod1", ..., or "crank" and "rod" for all, and "platform", a thin plate. The
        joints are "crank1" (theta), "rod1" (relative to it), "platform" (relative to rod 1), "crank2", "rod2", ..."""
        bodies, joints = crank_legs(self.pivots, self.cranks, self.rods, masses)
        mass = mass_of("platform", masses)
        corners = self.vertices([0.0, 0.0, 0.0])
        center = (*-corners[0], 0.0)
        plate = (mass or 0.0) * self.side**2 / 24 * np.diag([1, 1, 2.0])
        bodies.append(Body("platform") if mass is None else Body("platform", mass, center, plate))
        check_masses(masses, names_of(bodies))
        joints.insert(2, Joint("platform", "rod1", "platform", Revolute(), placed(self.rods[0])))
        frames = [Frame(f"end of rod{leg}", f"rod{leg}", placed(b)) for leg, b in enumerate(self.rods, start=1)]
        frames += [Frame(f"vertex{leg}", "platform", placed(*corners[leg - 1] - corners[0])) for leg in (2, 3)]
        frames.append(Frame("tool", "platform", placed(*center)))
        loops = [Loop(f"pin{leg}", f"end of rod{leg}", f"vertex{leg}", Revolute()) for leg in (2, 3)]
        return Tree.of("planar 3-RRR", bodies, joints, frames=frames, gravity=gravity, loops=loops,
                       actuated=["crank1", "crank2", "crank3"])

    def configuration(self, pose: ArrayLike, theta: ArrayLike) -> Array:
        """The coordinates (..., 7) of `tree` for poses (..., 3) and crank angles (..., 3)."""
        angles = batch_of("crank angles", theta, (3,))
        rods = self.vertices(pose) - self.crank_ends(angles)
        first, second, third = np.moveaxis(np.arctan2(rods[..., 1], rods[..., 0]) - angles, -1, 0)
        phi = batch_of("poses", pose, (3,))[..., 2]
        columns = [angles[..., 0], first, phi - angles[..., 0] - first, angles[..., 1], second, angles[..., 2], third]
        return np.stack(np.broadcast_arrays(*columns), axis=-1)

    def feet(self, phi: Scalar) -> Array:
        """The places of the platform's centre, at an orientation, with a corner on the pivot of its leg, (3, 2)."""
        return np.array([pivot - _corner(phi, self.side, corner) for corner, pivot in enumerate(self.pivots)])

    @compiled("(3)->(3,2)")
    def crank_ends(self, theta: Array) -> Array:
        """`crank_ends(theta)`: where the cranks end, (..., 3, 2)."""
        return self.pivots + self.cranks[:, None] * np.stack([np.cos(theta), np.sin(theta)], axis=1)

    @compiled("(3)->(3,2)")
    def vertices(self, pose: Array) -> Array:
        """`vertices(pose)`: the corners (..., 3, 2) of the platform."""
        angles = pose[2] + _CORNERS
        return pose[:2] + self.side / np.sqrt(3) * np.stack([np.cos(angles), np.sin(angles)], axis=1)

    def rod_lengths(self, pose: ArrayLike, theta: ArrayLike) -> Array:
        """The distances of the vertices from the ends of the cranks, (..., 3): the rods' lengths, if the machine is
        closed.
        """
        return np.linalg.norm(self.vertices(pose) - self.crank_ends(theta), axis=-1)

    @property
    def _worth(self) -> Array:
        """The metres that a unit of x, y, phi is worth (3): a radian the platform's radius."""
        return np.array([1.0, 1.0, self.side / np.sqrt(3)])

    @cached_property
    def _size(self) -> float:
        return float(np.max(self.cranks) + np.max(self.rods) + self.side)

    def _explain_unreachable(self, pose: ArrayLike) -> None:
        distances = np.linalg.norm(self.vertices(pose) - self.pivots, axis=-1)
        for leg, (d, a, b) in enumerate(zip(distances, self.cranks, self.rods, strict=True), start=1):
            if not abs(a - b) <= d <= a + b:
                raise UnreachableError(
                    f"leg {leg} of the planar 3-RRR reaches from {abs(a - b):.6g} m to {a + b:.6g} m; its "
                    f"corner of the platform is {d:.6g} m from its pivot")

    def _check_determined(self, ends: Array) -> None:
        """Refuse ends of cranks (..., 3, 2) upon which the platform fits, with equal rods between: the three circles
        about the ends are then one."""
        near = _UPON * self._size
        side = ends[..., 1, :] - ends[..., 0, :]
        own = self._sides(np.zeros(()))[1]
        phi = np.arctan2(side[..., 1], side[..., 0]) - np.arctan2(own[1], own[0])
        off = np.abs(ends - ends[..., :1, :] - self._sides(phi)).max(axis=(-2, -1))
        bad = first_failure((off > near) | ~np.isfinite(off) | (np.ptp(self.rods) > near))
        if bad is not None:
            raise SingularityError(
                f"the crank ends of the planar 3-RRR{place(bad)} are as far apart as the platform's corners, and its "
                f"rods are equal: at {np.degrees(phi[bad]):.6g} degrees the platform goes round a circle, a continuum "
                "of assembly modes. Turn one of the cranks")

    def _improved(self, poses: Array, theta: Array) -> Array:
        """Newton's steps towards the rods' lengths, by least squares where the posture is singular."""
        near = np.abs(self.rod_lengths(poses, theta) - self.rods).max(axis=-1) <= _NEAR * self._size
        x = np.where(near[..., None], poses, 0.0)
        theta = np.nan_to_num(theta)
        for _ in range(_STEPS):
            Jx, _ = self.jacobians(x, theta)
            off = (self.rod_lengths(x, theta)**2 - self.rods**2) / 2
            x = x - np.einsum("...ij,...j->...i", np.linalg.pinv(Jx, rcond=least_singular(3)), off)
        x[..., 2] = np.angle(np.exp(1j * x[..., 2]))
        return np.where(near[..., None], x, np.nan)

    # The condition F(phi) = 0

    def _sides(self, phi: Array) -> Array:
        """From the first corner to each (..., 3, 2)."""
        ends = [_corner(phi, self.side, corner) - _corner(phi, self.side) for corner in range(3)]
        return np.stack(ends, axis=-2)

    def _condition(self, ends: Array, phi: Array) -> Array:
        """F (..., s) at the angles (s): zero where the three circles meet in a point."""
        centers = ends[..., None, :, :] - self._sides(phi)
        first = centers[..., 0, :]
        rows = 2 * (first[..., None, :] - centers[..., 1:, :])
        powers = (centers**2).sum(axis=-1) - self.rods**2
        sums = powers[..., :1] - powers[..., 1:]
        # rows . A = sums; times the determinant, so that nothing is divided
        delta = rows[..., 0, 0] * rows[..., 1, 1] - rows[..., 0, 1] * rows[..., 1, 0]
        x = sums[..., 0] * rows[..., 1, 1] - sums[..., 1] * rows[..., 0, 1]
        y = rows[..., 0, 0] * sums[..., 1] - rows[..., 1, 0] * sums[..., 0]
        return (x - delta * first[..., 0])**2 + (y - delta * first[..., 1])**2 - (delta * self.rods[0])**2

    def _condition_roots(self, ends: Array) -> Array:
        """z = exp(i phi) (..., 6) with z^3 F = 0."""
        phi = 2 * np.pi * np.arange(_SAMPLES) / _SAMPLES
        harmonics = np.fft.fft(self._condition(ends, phi), axis=-1) / _SAMPLES
        polynomial = np.concatenate([harmonics[..., -3:], harmonics[..., :4]], axis=-1)  # of z^0 to z^6
        return _roots(polynomial)


def _corner(phi: Scalar, side: float, corner: int = 0) -> Array:
    angle = phi + _CORNERS[corner]
    return side / np.sqrt(3) * np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def _roots(polynomial: Array) -> Array:
    """The roots (..., n) of polynomials (..., n + 1), the constant first, as eigenvalues of companion matrices.

    With a leading coefficient next to nothing some roots are infinite, and of no use here."""
    n = polynomial.shape[-1] - 1
    companion = np.zeros((*polynomial.shape[:-1], n, n), dtype=complex)
    companion[..., np.arange(1, n), np.arange(n - 1)] = 1.0
    with np.errstate(all="ignore"):
        companion[..., -1] = -polynomial[..., :-1] / polynomial[..., -1:]
    fine = np.isfinite(companion).all(axis=(-2, -1))
    found = np.full(companion.shape[:-1], np.nan + 0j)
    found[fine] = np.linalg.eigvals(companion[fine])
    return found


def _common_points(centers: Array, radii: Array) -> Sequence[Array]:
    """Two candidates (..., 2) for the point that three circles share: where the two that are farthest apart meet."""
    pairs = np.array([(0, 1), (0, 2), (1, 2)])
    gaps = np.linalg.norm(centers[..., pairs[:, 0], :] - centers[..., pairs[:, 1], :], axis=-1)
    widest = pairs[np.argmax(np.nan_to_num(gaps), axis=-1)]
    one = np.take_along_axis(centers, widest[..., :1, None], -2)[..., 0, :]
    other = np.take_along_axis(centers, widest[..., 1:, None], -2)[..., 0, :]
    r, s = radii[widest[..., 0]], radii[widest[..., 1]]
    with np.errstate(all="ignore"):
        d = np.linalg.norm(other - one, axis=-1)
        along = (other - one) / d[..., None]
        t = (d**2 + r**2 - s**2) / (2 * d)
        height = np.sqrt(np.maximum(r**2 - t**2, 0.0))
    foot = one + t[..., None] * along
    across = np.stack([-along[..., 1], along[..., 0]], axis=-1)
    return foot + height[..., None] * across, foot - height[..., None] * across
