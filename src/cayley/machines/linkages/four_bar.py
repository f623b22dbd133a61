"""The planar four-bar: a crank and a rocker on the ground, joined by a coupler.

    a, b, c, d     lengths of crank, coupler, rocker and ground; the rocker's pivot is at (d, 0), the crank's at (0, 0)
    theta, psi, phi     angles of crank, coupler and rocker to the ground
    a e(theta) + b e(psi) = (d, 0) + c e(phi)
The end of the crank is a point that the rocker reaches with the coupler as its rod: two assembly modes. They meet where
coupler and rocker are in line, the ends of the crank's range (dead centres of the crank); where crank and coupler are
in line the rocker turns back (dead centres of the rocker). Source: Ruggiu 4.6; Grashof 1883."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import UnreachableError
from cayley.machines.arguments import DOWN, Masses, check_masses, compiled, names_of, place, rod
from cayley.machines.parallel.legs import check_lengths, crank_angles, wrapped
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Frame, Joint, Loop
from cayley.model.tree import Tree
from cayley.showing import shown_briefly

_SAME = 1e-12  # of the lengths: sums that differ by less are equal


class CouplerRates(NamedTuple):
    """Rates of coupler and rocker (2) for a unit rate of the crank; infinite at the crank's dead centres."""

    coupler: Scalar
    rocker: Scalar


@shown_briefly
class CrankDeadCentres(NamedTuple):
    """Angles (k) of the crank at the dead centres of crank and rocker [rad]."""

    crank: Array
    rocker: Array


@dataclass(frozen=True)
class FourBar:
    """A four-bar by its lengths [m].

    >>> linkage = FourBar(crank=0.12, coupler=0.41, rocker=0.29, ground=0.37)
    >>> linkage.kind, linkage.grashof
    ('crank-rocker', True)
    >>> np.degrees(linkage.position(0.7)).round(6)
    array([[ -60.545176, -105.317108],
           [  29.488128,   74.26006 ]])
    """

    crank: float
    coupler: float
    rocker: float
    ground: float

    def __post_init__(self) -> None:
        lengths = {name: np.array(getattr(self, name)) for name in ("crank", "coupler", "rocker", "ground")}
        check_lengths("four-bar", **lengths)
        total = sum(float(length) for length in lengths.values())
        for name, length in lengths.items():
            if 2 * length > total * (1 + _SAME):
                raise UnreachableError(
                    f"the four-bar cannot be assembled: its {name} of {length:.6g} m is longer than the "
                    "others together")

    @compiled("()->(2,2)", explain="_explain_unreachable")
    def position(self, theta: Scalar) -> Array:
        """`position(theta)`: angles (..., 2, 2) of coupler and rocker in both assembly modes, by the crank's angle.

        NaN, and for one angle an error, where the crank cannot stand."""
        x = self.crank * np.cos(theta)
        y = self.crank * np.sin(theta)
        found = []
        for phi in crank_angles(x - self.ground, y, self.rocker, self.coupler):
            along = self.ground + self.rocker * np.cos(phi) - x
            found.append([np.arctan2(self.rocker * np.sin(phi) - y, along), phi])
        return np.array(found)

    @compiled("(),(2)->(),()")
    def rates(self, theta: Scalar, angles: Array) -> CouplerRates:
        """`rates(theta, angles)`: how fast coupler and rocker turn for a unit rate of the crank, at `angles` (..., 2).
        """
        psi, phi = angles
        bend = np.sin(phi - psi)
        return CouplerRates(self.crank * np.sin(theta - phi) / (self.coupler * bend),
                            self.crank * np.sin(theta - psi) / (self.rocker * bend))

    @compiled("(),(2)->(2,2)", explain="_explain_unreachable")
    def coupler_point(self, theta: Scalar, point: Array) -> Array:
        """`coupler_point(theta, point)`: where a point (..., 2) of the coupler, along it from the crank's end and
        across it, is in both assembly modes, (..., 2, 2); over a turn of the crank the coupler curves."""
        end = self.crank * np.array([np.cos(theta), np.sin(theta)])
        psi = self.position(theta)[:, 0]
        along = np.stack([np.cos(psi), np.sin(psi)], axis=1)
        return end + along * point[0] + np.stack([-np.sin(psi), np.cos(psi)], axis=1) * point[1]

    def dead_centres(self) -> CrankDeadCentres:
        """The crank angles [rad] at which the crank stops (coupler and rocker in line, the ends of its range), and
        those at which the rocker turns back (crank and coupler in line), each in (-pi, pi] and sorted. Some linkages
        have none."""
        ends = [self._dead_centre(reach) for reach in (abs(self.coupler - self.rocker), self.coupler + self.rocker)]
        crank = [sign * angle for angle in ends if not np.isnan(angle) for sign in (-1, 1)]
        rocker = []
        for reach in (self.coupler + self.crank, self.coupler - self.crank):  # signed: folded, the crank points back
            cosine = (self.ground**2 + reach**2 - self.rocker**2) / (2 * self.ground * reach) if reach else np.inf
            if abs(cosine) < 1:
                straight = reach == self.coupler + self.crank
                rocker += [float(wrapped(sign * np.arccos(cosine) + (0.0 if straight else np.pi))) for sign in (-1, 1)]
        return CrankDeadCentres(np.array(sorted(crank)), np.array(sorted(rocker)))

    def transmission_angle(self, angles: ArrayLike) -> Array:
        """The angle (...) between coupler and rocker, in [0, pi], at `angles` (..., 2); poor near 0 and pi."""
        psi, phi = np.moveaxis(np.asarray(angles, dtype=float), -1, 0)
        return np.abs(np.arctan2(np.sin(phi - psi), np.cos(phi - psi)))

    def tree(self, *, masses: Masses | None = None, gravity: ArrayLike = DOWN, base: Array | None = None,
             tool: Array | None = None) -> Tree:
        """The linkage as a tree with a loop, `cy.Mechanism(linkage.tree(...))`, with the joints "crank" (theta),
        "coupler" (psi - theta) and "rocker" (phi); masses [kg] of "crank", "coupler", "rocker". The ground link lies
        along the x axis of the pose `base`, and `tool` is the pose of that frame on the coupler."""
        bodies = [Body("base"), *[rod(name, getattr(self, name), masses) for name in ("crank", "coupler", "rocker")]]
        check_masses(masses, names_of(bodies))
        foot = place() if base is None else base
        joints = [Joint("crank", "base", "crank", Revolute(), foot),
                  Joint("coupler", "crank", "coupler", Revolute(), place(self.crank)),
                  Joint("rocker", "base", "rocker", Revolute(), foot @ place(self.ground))]
        frames = [Frame("end of coupler", "coupler", place(self.coupler)),
                  Frame("end of rocker", "rocker", place(self.rocker)),
                  *([] if tool is None else [Frame("tool", "coupler", tool)])]
        return Tree.of("four-bar", bodies, joints, frames=frames, gravity=gravity,
                       loops=[Loop("pin", "end of coupler", "end of rocker", Revolute())], actuated=["crank"])

    def configuration(self, theta: ArrayLike, angles: ArrayLike) -> Array:
        """The coordinates (..., 3) of `tree` for a crank angle (...) and `angles` (..., 2) of coupler and rocker."""
        crank = np.asarray(theta, dtype=float)
        psi, phi = np.moveaxis(np.asarray(angles, dtype=float), -1, 0)
        return np.stack(np.broadcast_arrays(crank, psi - crank, phi), axis=-1)

    @property
    def grashof(self) -> bool:
        """True if some link turns all the way round: shortest and longest together are no longer than the others."""
        lengths = sorted((self.crank, self.coupler, self.rocker, self.ground))
        return lengths[0] + lengths[3] <= (lengths[1] + lengths[2]) * (1 + _SAME)

    @property
    def kind(self) -> str:
        """The links that turn all the way round: "crank-rocker", "double crank", "rocker-crank", "double rocker",
        "change point" (the links can lie in a line, and the modes meet), or "triple rocker" if nothing does."""
        lengths = sorted((self.crank, self.coupler, self.rocker, self.ground))
        excess = lengths[0] + lengths[3] - lengths[1] - lengths[2]
        if abs(excess) <= _SAME * sum(lengths):
            return "change point"
        if excess > 0:
            return "triple rocker"
        words = {self.crank: "crank-rocker", self.rocker: "rocker-crank", self.coupler: "double rocker"}
        return "double crank" if self.ground == lengths[0] else words[lengths[0]]

    def crank_limits(self) -> Array:
        """The angles (2), +- of one value, between which the crank can stand in one piece; (-pi, pi) if it turns round.

        If it cannot point at the rocker's pivot, the piece goes the other way: from the first through pi to the second.
        """
        low, high = (self._dead_centre(reach)
                     for reach in (abs(self.coupler - self.rocker), self.coupler + self.rocker))
        if np.isnan(low):
            return np.array([-np.pi, np.pi]) if np.isnan(high) else np.array([-high, high])
        return np.array([low, 2 * np.pi - low]) if np.isnan(high) else np.array([low, high])

    def _dead_centre(self, reach: float) -> float:
        """The angle of the crank at which its end is `reach` from the rocker's pivot; NaN if it never is."""
        cosine = (self.crank**2 + self.ground**2 - reach**2) / (2 * self.crank * self.ground)
        return float(np.arccos(cosine)) if abs(cosine) < 1 else np.nan

    def _explain_unreachable(self, theta: ArrayLike, *_: ArrayLike) -> None:
        end = np.hypot(self.crank * np.cos(theta) - self.ground, self.crank * np.sin(theta))
        raise UnreachableError(
            f"the crank of the four-bar cannot stand at {float(np.asarray(theta)):.6g} rad: its end is {end:.6g} m "
            f"from the rocker's pivot, and coupler and rocker reach from "
            f"{abs(self.coupler - self.rocker):.6g} m to {self.coupler + self.rocker:.6g} m")
