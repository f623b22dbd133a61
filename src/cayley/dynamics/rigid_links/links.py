"""A mechanism as dynamics sees it: links, each moved by one elementary motion, with the moments of all that is fixed to
it.

Fixed joints are merged into the links before them; joints that are sequences of elementary motions (universal, planar)
become links without mass in between. A revolute or prismatic joint has its axis as the z axis of its link. The pose of
link i in its parent is

    A = Rz(beta) Rx(alpha) Rz(gamma) (motion)         s = offset + what the motion slides
so that vectors are turned by planar rotations, 4 multiplications and 2 additions each, none for angles that are zero.
In modified Denavit-Hartenberg frames beta is zero. Source: Balafoutis & Patel (2.3.1)-(2.3.4), and section 5.3.2 for
the two-stage turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cayley.compiler.tracing.nominal_values import is_symbolic
from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.rigid_links.moments import NOTHING, LinkMoments
from cayley.dynamics.rigid_links.planar_rotations import PlanarRotation, turn_about_z, turns_of
from cayley.errors import UnsupportedError
from cayley.geometry.pose import HERE, Pose, frame_with_z
from cayley.model.constraints import check_independent
from cayley.model.elementary_motions import ROOT as ROOT
from cayley.model.elementary_motions import elementary_motions
from cayley.model.joint_kinds import JointKind
from cayley.model.masses import check_has_masses
from cayley.model.tree import Tree
from cayley.showing import brief

if TYPE_CHECKING:
    from cayley.dynamics.rigid_links.planar_rotations import AroundZ


class JointPlacement(NamedTuple):
    """The place of a joint in its parent, in scalars of any kind: three turns, the origin (3), and what is added to the
    joint's angle, if that is not part of the last turn."""

    turns: tuple[Any, PlanarRotation, PlanarRotation]  # the first may be any that has the methods of `GeneralTurn`
    origin: Array
    shift: Scalar = None


@dataclass(frozen=True, eq=False)
class Link:
    """A rigid body and the elementary motion by which it moves in its parent.

    Its numbers are scalars of any kind: floats, symbols of a trace, letters. For scalars that cannot be taken apart
    into turns, as letters, `place` has these, and `placement` is the structure: what is zero, which axes are parallel.
    """

    name: str  # of its joint
    parent: int  # ROOT, or the number of the link before it
    motion: JointKind
    coordinates: slice  # in q
    columns: slice  # in the velocity
    placement: Array  # of the joint's frame in the parent's, (4, 4)
    moments: LinkMoments = NOTHING
    place: JointPlacement | None = None
    turns_unseen: bool = False  # a last link, symmetric about its axis: its axes need not turn with it

    __repr__ = brief

    @property
    def is_revolute(self) -> bool:
        screw = self.motion.screw
        return screw is not None and screw.turn != 0 and screw.slide == 0

    @property
    def is_prismatic(self) -> bool:
        screw = self.motion.screw
        return screw is not None and screw.turn == 0

    @property
    def turns_about_axis(self) -> bool:
        """True if its joint is revolute or helical."""
        screw = self.motion.screw
        return screw is not None and screw.turn != 0

    def subspace(self, q: Array) -> Array:
        """The directions (6, nv) of the twist (v; w) that the joint gives to the link, in the link's axes: constants
        for most kinds."""
        return self._directions if self.motion.constant_subspace else self.motion.subspace(q[self.coordinates])

    def twist(self, q: Array, qd: Array) -> Array:
        """The twist (6) of the link in its parent, in the link's axes, at the joint's velocity (nv)."""
        return self.subspace(q) @ qd

    def twist_rate(self, q: Array, qd: Array, qdd: Array) -> Array:
        """The rate (6) of the components of that twist, with the joint's acceleration `qdd` (nv)."""
        given = self.subspace(q) @ qdd
        return given if self.motion.constant_subspace else given + self.motion.bias(q[self.coordinates], qd)

    def subspace_rate(self, q: Array, qd: Array) -> Array:
        """The rates of the directions (6, nv) in the link's axes at the joint's velocity (nv)."""
        return self.motion.subspace_rate(q[self.coordinates], qd)

    @cached_property
    def _directions(self) -> Array:
        return self.motion.subspace(np.zeros(self.motion.nq))

    @cached_property
    def _turns(self) -> tuple[Any, PlanarRotation, PlanarRotation]:
        return turns_of(self.placement[:3, :3]) if self.place is None else self.place.turns

    def offset(self, q: Array) -> Array:
        """The origin (3) of the link in its parent, at the mechanism's configuration `q`."""
        origin = self.placement[:3, 3] if self.place is None else self.place.origin
        if self.is_revolute:
            return origin
        slid = self.motion.pose(q[self.coordinates])[1]
        return origin + (self.placement[:3, :3] @ slid if self.place is None else self.inwards(slid, q))

    def inwards(self, x: Array, q: Array) -> Array:
        """A x: components (3) in the link's axes into components in the parent's."""
        beta, alpha, gamma = self._turns
        return beta.about_z(alpha.about_x(self._moved(gamma, q).forth(x)))

    def outwards(self, x: Array, q: Array) -> Array:
        """A^T x: components (3) in the parent's axes into components in the link's."""
        beta, alpha, gamma = self._turns
        return self._moved(gamma, q).back(alpha.back_about_x(beta.back_about_z(x)))

    def inwards_both(self, T: Array, q: Array) -> Array:
        """A T A^T of a symmetric tensor (3, 3)."""
        beta, alpha, gamma = self._turns
        return beta.tensor_about_z(alpha.tensor_about_x(self._moved(gamma, q).tensor_forth(T)))

    def rotation(self, q: Array) -> Array:
        """A (3, 3)."""
        return np.stack([self.inwards(e, q) for e in np.eye(3)], axis=1)

    def _moved(self, gamma: PlanarRotation, q: Array) -> AroundZ | PlanarRotation:
        if self.turns_unseen or self.is_prismatic:
            return gamma
        if self.turns_about_axis:
            angle = q[self.coordinates][0]
            shift = None if self.place is None else self.place.shift
            return turn_about_z(gamma, angle if shift is None else angle + shift)
        return gamma.then(self.motion.pose(q[self.coordinates])[0])


@dataclass(frozen=True, eq=False)
class Links:
    """The links of a mechanism, parents first, gravity in the root's frame, and the places of the bodies: (link or
    ROOT, pose in it)."""

    name: str
    links: tuple[Link, ...]
    gravity: Array
    bodies: dict[str, tuple[int, Array]]
    nq: int
    nv: int

    __repr__ = brief

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """For each link the numbers of the links that it carries."""
        found: list[list[int]] = [[] for _ in self.links]
        for number, link in enumerate(self.links):
            if link.parent != ROOT:
                found[link.parent].append(number)
        return tuple(map(tuple, found))

    @cached_property
    def has_symbols(self) -> bool:
        """True if numbers of the links are inputs."""
        numbers = [number for link in self.links for number in (link.placement, *link.moments)]
        return any(map(is_symbolic, [self.gravity, *numbers]))

    def place(self, tree: Tree, frame: str) -> tuple[int, Array]:
        """The link (or ROOT) that carries a named frame, and the frame's pose (4, 4) in it."""
        wanted = tree.frame(frame)
        number, pose = self.bodies[wanted.body]
        return number, pose @ wanted.pose

    def places_of_children(self, tree: Tree) -> list[tuple[int, Pose]]:
        """For each moving joint the link of its child, and the pose of the child's frame in it."""
        places = [self.bodies[joint.child] for joint in tree.joints if joint.motion.nv]
        return [(number, Pose.of(pose)) for number, pose in places]

    def reframed(self, changes: Sequence[Array], root: Array | None = None) -> Links:
        """The same links in other frames: `changes[i]` is the pose (4, 4) of the new frame of link i in its old one.

        The axis of a joint must stay what it was: a revolute joint's frame may be moved along its axis and turned, so
        that the axis becomes z, a prismatic joint's frame may be any, other joints' frames must stay."""
        start = np.eye(4) if root is None else root
        links = tuple(_reframed(link, changes[i], start if link.parent == ROOT else changes[link.parent])
                      for i, link in enumerate(self.links))
        bodies = {
            name: (i, Pose.of(start if i == ROOT else changes[i]).inverse.matrix @ pose)
            for name, (i, pose) in self.bodies.items()}
        return replace(self, links=links, bodies=bodies, gravity=start[:3, :3].T @ self.gravity)

    def with_moments(self, moments: Sequence[LinkMoments]) -> Links:
        return replace(self, links=tuple(replace(link, moments=m) for link, m in zip(self.links, moments, strict=True)))

    def placed(self, placements: Sequence[Array]) -> Links:
        return replace(self,
                       links=tuple(replace(link, placement=p) for link, p in zip(self.links, placements, strict=True)))


def links_of(tree: Tree) -> Links:
    """The links of a mechanism in the frames of its bodies, turned only where a joint's axis is not the z axis already.

    A moving body without a known mass is an error that names it, and so are joints that are tied together."""
    plain = joint_links(tree)
    return plain.reframed([_axis_to_z(link.motion) for link in plain.links])


def joint_links(tree: Tree) -> Links:
    """The same in the frames of the bodies as they are."""
    check_independent(tree, "the dynamics")
    check_has_masses(tree)
    motions, bodies = elementary_motions(tree)
    links = tuple(Link(moved.joint, moved.parent, moved.motion, moved.coordinates, moved.columns,
                       moved.placement.matrix)
                  for moved in motions)
    carried = [NOTHING] * len(links)
    for body in tree.bodies:
        number, pose = bodies[body.name]
        if number != ROOT:
            carried[number] = carried[number].plus(LinkMoments.of(body).seen_from(*pose))
    places = {name: (number, pose.matrix) for name, (number, pose) in bodies.items()}
    return Links(tree.name, links, np.asarray(tree.gravity), places, tree.nq, tree.nv).with_moments(carried)


def _axis_to_z(motion: JointKind) -> Array:
    return np.eye(4) if motion.screw is None else Pose(frame_with_z(motion.screw.axis), np.zeros(3)).matrix


def _reframed(link: Link, change: Array, parent_change: Array) -> Link:
    return replace(link, motion=link.motion.turned(change[:3, :3]),
                   placement=Pose.of(parent_change).inverse.matrix @ link.placement @ change,
                   moments=link.moments.seen_from(*Pose.of(change).inverse))


def serial_chain(tree: Tree, *, prismatic: bool = True) -> Links:
    """The links of an open chain of revolute and, unless said otherwise, prismatic joints, for methods that are
    published for such chains alone; other mechanisms are refused by the joint's name."""
    chain = links_of(tree)
    for number, link in enumerate(chain.links):
        if link.parent != number - 1:
            raise UnsupportedError(
                f"this method is for open chains, and {tree.name} branches at joint {link.name!r}: use the default "
                "method, which is for trees")
        if not (link.is_revolute or (prismatic and link.is_prismatic)):
            words = "revolute and prismatic" if prismatic else "revolute"
            raise UnsupportedError(
                f"this method is for {words} joints, and joint {link.name!r} of {tree.name} is {link.motion.word}: use "
                "the default method, which is for joints of every kind")
    return chain


def at_child(wrench: Array, pose: Pose) -> Array:
    """A wrench (6) at a link's origin and in its axes, as one at the origin and in the axes of a frame on it."""
    f, n = wrench[:3], wrench[3:]
    return np.concatenate([pose.R.T @ f, pose.R.T @ (n - np.cross(pose.p, f))])


def joined_moments(tree: Tree, group: tuple[int, ...]) -> LinkMoments:
    """The moments of a group of bodies that fixed joints hold together, in the frame of its first body: constants."""
    places = {group[0]: HERE}
    total = NOTHING
    for body in group:
        if body not in places:
            placement = Pose.of(tree.joints[body - 1].placement)
            places[body] = places[tree.parents[body - 1]].then(placement)
        total = total.plus(LinkMoments.of(tree.bodies[body]).seen_from(*places[body]))
    return total
