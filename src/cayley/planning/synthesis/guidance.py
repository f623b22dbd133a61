"""Linkages that guide a body through poses in the plane, or a point along a path with the crank at given angles.

    | P - A - R(beta) w | = constant
Two links of `dyads` carry the body as the coupler of a four-bar; a link and a slider, as the rod of a slider-crank. A
path is the same problem twice: with the crank at the angles beta the point P lets the crank take the poses (P, beta) if
the above holds, and the direction from the crank's end to P is how the coupler turns. What meets the poses may still
have to be taken apart between them: `defects` says so. Sources: Burmester 1888; Erdman and Sandor 1984 for the path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError, UnreachableError
from cayley.machines.arguments import DOWN, Masses, place
from cayley.machines.linkages.four_bar import FourBar
from cayley.machines.linkages.slider_crank import SliderCrank
from cayley.model.tree import Tree
from cayley.planning.synthesis.design import Defects, assembly_mode, defects_of
from cayley.planning.synthesis.dyads import Dyad, body_points, check_poses, dyads
from cayley.showing import brief

_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class GuidingLinkage:
    """A four-bar or slider-crank that carries a body through `poses` (n, 3).

    base            (4, 4) the crank's pivot, x along the ground link or along the slider's way
    tool            (4, 4) the body in the axes of the coupler or rod, whose x points from the crank to the other end
    configurations  (n, 3) at the poses, of the coordinates of `tree`; the first is the crank's angle"""

    linkage: FourBar | SliderCrank
    base: Array
    tool: Array
    poses: Array
    configurations: Array
    links: tuple[Dyad, Dyad]

    __repr__ = brief

    @property
    def crank_angles(self) -> Array:
        """(n) of the crank at the poses, to the x axis of the base."""
        return self.configurations[:, 0]

    @cached_property
    def modes(self) -> Array:
        """The assembly modes (n) at the poses, as `position` of the linkage counts them."""
        rod = self.configurations[:, 0] + self.configurations[:, 1]
        if isinstance(self.linkage, FourBar):
            return assembly_mode(rod, self.configurations[:, 2])
        return np.where(np.cos(rod) > 0, 0, 1)

    @cached_property
    def defects(self) -> Defects:
        """The defects that keep one motion of the crank from leading through the poses, in their order."""
        if isinstance(self.linkage, FourBar):
            return defects_of(self.linkage, self.crank_angles, self.modes)
        other = tuple(map(int, np.flatnonzero(self.modes != self.modes[0])))
        turned = np.unwrap(self.crank_angles)
        heights = self.linkage.crank * np.sin(np.linspace(turned.min(), turned.max(), 361)) - self.linkage.offset
        passes = bool((np.abs(heights) <= self.linkage.rod).all())
        forth = np.mod(np.diff(self.crank_angles), 2 * np.pi).sum()
        back = np.mod(-np.diff(self.crank_angles), 2 * np.pi).sum()
        return Defects((), other, () if passes else tuple(range(1, len(self.poses))),
                       bool(min(forth, back) <= 2 * np.pi + _SAME))

    @property
    def worst_transmission(self) -> float:
        """The smallest angle [rad] between the lines of coupler and rocker, or of rod and the slider's normal, at the
        poses; at most pi/2."""
        rod = self.configurations[:, 0] + self.configurations[:, 1]
        if isinstance(self.linkage, FourBar):
            return float(np.arcsin(np.abs(np.sin(rod - self.configurations[:, 2]))).min())
        return float(np.arcsin(np.abs(np.cos(rod))).min())

    def tree(self, *, masses: Masses | None = None, gravity: ArrayLike = DOWN) -> Tree:
        """The linkage where it stands, with the frame "tool" for the body, for `cy.Mechanism`."""
        return self.linkage.tree(masses=masses, gravity=gravity, base=self.base, tool=self.tool)

    def configuration(self, theta: ArrayLike, mode: int | None = None) -> Array:
        """The coordinates (..., 3) of `tree` at angles (...) of the crank, in the assembly mode of the first pose or in
        that given."""
        chosen = int(self.modes[0]) if mode is None else mode
        return self.linkage.configuration(theta, self.linkage.position(theta)[..., chosen, :])

    def body_poses(self, q: ArrayLike) -> Array:
        """The poses of the body, x, y and angle (..., 3), at configurations (..., 3)."""
        q = np.asarray(q, dtype=float)
        turn = np.arctan2(self.base[1, 0], self.base[0, 0])
        crank = turn + q[..., 0]
        rod = crank + q[..., 1]
        x, y = self.tool[:2, 3]
        length = self.linkage.crank
        return np.stack([self.base[0, 3] + length * np.cos(crank) + np.cos(rod) * x - np.sin(rod) * y,
                         self.base[1, 3] + length * np.sin(crank) + np.sin(rod) * x + np.cos(rod) * y,
                         rod + np.arctan2(self.tool[1, 0], self.tool[0, 0])], axis=-1)


def body_guidance(poses: ArrayLike, links: Sequence[Dyad] | None = None) -> tuple[GuidingLinkage, ...]:
    """Linkages that carry a body through poses (n, 3), x, y and angle [m, rad]: those of every two links, either as the
    crank; without defects first, then by the transmission angle. Without `links`, five poses have those of `dyads`; for
    fewer, give links that `dyads` and `slider_dyads` find with lines for their pivots.

    >>> linkage = FourBar(crank=0.12, coupler=0.41, rocker=0.29, ground=0.37)
    >>> theta = np.linspace(0.3, 1.9, 5)
    >>> known = np.column_stack([linkage.coupler_point(theta, [0.2, 0.1])[:, 1], linkage.position(theta)[:, 1, 0]])
    >>> found = body_guidance(known)
    >>> sorted(str(each.defects) for each in found)[-1], bool(np.abs(found[0].body_poses(found[0].configurations)
    ...                                                             - known)[:, :2].max() < 1e-9)
    ('position...', True)
    """
    given = check_poses(poses, 2)
    if links is None and len(given) != 5:
        raise SignatureError(f"{len(given)} poses leave a choice of links: choose two, with lines for their pivots, by "
                             "dyads(poses, fixed_on=..., moving_on=...)")
    chosen = dyads(given) if links is None else tuple(links)
    if len(chosen) < 2:
        raise UnreachableError(f"{len(chosen)} link{'' if len(chosen) == 1 else 's'} can carry the body through the "
                               "poses: a linkage needs two; change a pose")
    for number, link in enumerate(chosen, start=1):
        if np.abs(link.misses(given)).max() > 1e-6 * max(1.0, float(np.abs(given).max())):
            raise SignatureError(f"link {number} does not let the body take the poses")
    made = [guiding_linkage(given, one, other) for one, other in permutations(chosen, 2) if not one.slides]
    found = [each for each in made if each is not None]
    if not found:
        raise UnreachableError("no two of the links are a four-bar or a slider-crank: change a pose")
    return tuple(sorted(found, key=lambda each: (not each.defects.none, -each.worst_transmission)))


def guiding_linkage(poses: Array, crank: Dyad, other: Dyad) -> GuidingLinkage | None:
    """The linkage of two links; nothing if two of its pivots coincide."""
    if crank.fixed is None:
        raise SignatureError("the crank turns about a fixed pivot: a slider can only be the other link")
    ends = body_points(poses, crank.moving)
    apart = other.moving - crank.moving
    coupler = float(np.hypot(*apart))
    if other.fixed is not None:
        ground = other.fixed - crank.fixed
    else:
        assert other.direction is not None and other.point is not None
        ground = other.direction * (1.0 if other.direction @ (body_points(poses, other.moving)[0] - ends[0]) >= 0
                                    else -1.0)
    if min(coupler, float(np.hypot(*ground))) < _SAME:
        return None
    turn = float(np.arctan2(ground[1], ground[0]))
    tilt = float(np.arctan2(apart[1], apart[0]))
    theta = np.arctan2(ends[:, 1] - crank.fixed[1], ends[:, 0] - crank.fixed[0]) - turn
    theta = np.arctan2(np.sin(theta), np.cos(theta))
    rods = poses[:, 2] + tilt - turn
    others = body_points(poses, other.moving)
    if other.fixed is not None:
        machine: FourBar | SliderCrank = FourBar(crank=crank.length, coupler=coupler, rocker=other.length,
                                                 ground=float(np.hypot(*ground)))
        last = np.arctan2(others[:, 1] - other.fixed[1], others[:, 0] - other.fixed[0]) - turn
        last = np.arctan2(np.sin(last), np.cos(last))
    else:
        away = other.point - crank.fixed
        machine = SliderCrank(crank=crank.length, rod=coupler, offset=float(ground[0] * away[1] - ground[1] * away[0]))
        last = (others - crank.fixed) @ ground
    bend = rods - theta
    q = np.stack([theta, np.arctan2(np.sin(bend), np.cos(bend)), last], axis=-1)
    x, y = crank.moving
    tool = place(-np.cos(tilt) * x - np.sin(tilt) * y, np.sin(tilt) * x - np.cos(tilt) * y, turn=-tilt)
    return GuidingLinkage(machine, place(*crank.fixed, turn=turn), tool, poses, q, (crank, other))


def path_generator(points: ArrayLike, crank_angles: ArrayLike, *, crank_pivot_on: Sequence[ArrayLike] = (),
                   rocker_pivot_on: Sequence[ArrayLike] = ()) -> tuple[GuidingLinkage, ...]:
    """Four-bars whose coupler brings a point to `points` (n, 2) [m] while the crank turns by `crank_angles` (n) [rad],
    from any beginning: for five points all; for fewer, with lines (a, b, c), a x + b y = c, for each fixed pivot, five
    conditions in all.

    >>> linkage = FourBar(crank=0.12, coupler=0.41, rocker=0.29, ground=0.37)
    >>> theta = np.linspace(0.3, 3.9, 5)
    >>> found = path_generator(linkage.coupler_point(theta, [0.2, 0.1])[:, 1], theta)
    >>> any(np.allclose([each.linkage.crank, each.linkage.ground], [0.12, 0.37], atol=1e-9) for each in found)
    True
    """
    places = np.asarray(points, dtype=float)
    turns = np.asarray(crank_angles, dtype=float)
    if places.ndim != 2 or places.shape[1] != 2 or turns.shape != places.shape[:1]:
        raise SignatureError(f"a path must be points (n, 2) with as many angles (n) of the crank, not {places.shape} "
                             f"and {turns.shape}")
    found = []
    for first in dyads(np.column_stack([places, turns]), fixed_on=crank_pivot_on):
        if first.fixed is None:
            continue
        rods = body_points(np.column_stack([places, turns]), first.moving) - first.fixed  # from the crank's end to P
        poses = np.column_stack([places, np.arctan2(rods[:, 1], rods[:, 0])])
        crank = Dyad(np.array([-first.length, 0.0]), first.fixed, float(np.hypot(*first.moving)))
        if crank.length < _SAME * first.length:
            continue
        for other in dyads(poses, fixed_on=rocker_pivot_on):
            if other.slides or np.abs(other.moving - crank.moving).max() > _SAME * max(1.0, first.length):
                made = guiding_linkage(poses, crank, other)
                found += [made] if made is not None else []
    if not found:
        raise UnreachableError("no four-bar leads a point of its coupler through these points with the crank at these "
                               "angles: change a point or an angle")
    return tuple(sorted(found, key=lambda each: (not each.defects.none, -each.worst_transmission)))
