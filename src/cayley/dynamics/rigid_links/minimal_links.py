"""The links of a mechanism in the frames and with the moments that cost the fewest operations. The motion and the
forces are the same.

Frames. The origin of link i is the foot, on its own axis, of the common normal with its parent's axis, and the parent's
x axis is along that normal: then A = Rx(alpha) Rz(q) and the offset is (a, 0, d), one number less than in
Denavit-Hartenberg frames. A prismatic joint's link takes the axes of its parent and the origin of the link that it
carries: its A is 1. The root's frame is that of the first link.

Moments. The mass distribution m, uz, Jzz of a link along the axis of a revolute joint moves with the parent as well,
and is given to it; so is the whole second moment of a sliding link, and the mass of a ball-jointed one. What is left is
what the joint can feel: the base parameters (Gautier & Khalil 1990).

Numbers of the model may be inputs (symbols, with samples of their values): entries are zero that are zero for all
samples, frames are moved along axes by the inputs, and turned about them by the nominal values. Source: equations
(D-9)-(D-10) of docs/developers/theory/inverse_dynamics.md."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cayley.compiler.tracing.nominal_values import cleared, is_present, is_symbolic, nominal, samples
from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.rigid_links.links import ROOT, Link, Links, links_of
from cayley.dynamics.rigid_links.moments import LinkMoments
from cayley.geometry.pose import Pose, frame_with_z
from cayley.model.joint_kinds import JointKind
from cayley.model.tree import Tree

_PARALLEL = 1e-12  # sine below which axes are parallel
_NEARLY_PARALLEL = 0.03  # feet of common normals are far away: the square of the distance is lost in digits
_ROUNDING = 1e-14  # of a moment, beside what it was summed from


def minimal_links(tree: Tree, *, loaded: Iterable[str] = ()) -> Links:
    """The links of a mechanism, ready for the recursions that are compiled. `loaded` are frames at which wrenches act.

    >>> from cayley.model.catalogue import load_robot
    >>> [link.moments.mass for link in minimal_links(load_robot("puma560")).links]
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    links = grouped(in_minimal_frames(links_of(tree)))
    return without_unseen_turns(links, {links.place(tree, frame)[0] for frame in loaded})


# Frames


class Normal(NamedTuple):
    """The common normal of a parent's axis and its child's, in the parent's frame, whose axis is z: the direction from
    the parent, and how far along the child's axis its foot is from the child's origin."""

    direction: Array | None
    slide: Scalar


def in_minimal_frames(links: Links) -> Links:
    """The same links in the frames described above."""
    changes: list[Array] = []
    for number, link in enumerate(links.links):
        if link.turns_about_axis:
            changes.append(_turning_frame(links, number, changes))
        elif link.is_prismatic:
            changes.append(_sliding_frame(links, number, changes))
        else:
            changes.append(np.eye(4))
    root = _root_frame(links, changes)
    found = _exact(links.reframed(changes, root),
                   [_reach(links, number, changes, root) for number in range(len(changes))])
    return found.with_moments([_without_rounding(after.moments, _sum(_size(before.moments), _size(after.moments)))
                               for before, after in zip(links.links, found.links, strict=True)])


def _turning_frame(links: Links, number: int, changes: list[Array]) -> Array:
    """Along the axis to the foot of the normal with the parent's axis; about it so that x is the normal with the
    child's."""
    link = links.links[number]
    onward = _onward(links, number)
    if link.parent != ROOT and links.links[link.parent].turns_about_axis:
        slide = _normal(link, changes[link.parent][2, 3]).slide
    else:
        slide = _distance_to_child(onward)
    direction = _x_direction(links, number)
    x = _own_direction(link.moments) if direction is None else direction
    return Pose(frame_with_z((0.0, 0.0, 1.0), x), np.array([0.0, 0.0, slide])).matrix


def _sliding_frame(links: Links, number: int, changes: list[Array]) -> Array:
    """Parallel to the parent's frame; the origin where the link carries the next, or at its centre of mass."""
    link = links.links[number]
    onward = _onward(links, number)
    parent = np.eye(3) if link.parent == ROOT else changes[link.parent][:3, :3]
    turned = nominal(link.placement[:3, :3].T @ parent)
    if onward is None:
        return Pose(turned, _nominal(link.moments).center).matrix
    slide = _distance_to_child(_onward(links, links.links.index(onward))) if onward.turns_about_axis else 0.0
    return Pose(turned, onward.placement[:3, 3] + slide * onward.placement[:3, 2]).matrix


def _root_frame(links: Links, changes: list[Array]) -> Array:
    """The frame of the first link, where it is a turning one."""
    for number, link in enumerate(links.links):
        if link.parent == ROOT and link.turns_about_axis:
            return link.placement @ changes[number]
    return np.eye(4)


def _onward(links: Links, number: int) -> Link | None:
    """The link whose frame this one's is fitted to: the first that turns, or the first."""
    carried = [links.links[k] for k in links.children[number]]
    return next((link for link in carried if link.turns_about_axis), carried[0] if carried else None)


def _distance_to_child(child: Link | None) -> Scalar:
    """Along z to the foot of the normal with the child's axis."""
    if child is None or not child.turns_about_axis:
        return 0.0
    normal = _normal(child)
    foot = child.placement[:3, 3] + normal.slide * child.placement[:3, 2]
    return foot[2]


def _x_direction(links: Links, number: int) -> Array | None:
    """The normal with the next axis that has one; prismatic joints turn nothing, so the axis behind them is as good."""
    child = _onward(links, number)
    turned = np.eye(3)
    while child is not None:
        placed = nominal(child.placement[:3, :3])
        axis = turned @ placed @ _axis(child.motion)
        if child.turns_about_axis and np.array_equal(turned, np.eye(3)):
            return _normal(child).direction
        across = np.cross([0.0, 0.0, 1.0], axis)
        if np.linalg.norm(across) > _PARALLEL:
            return across
        if not child.is_prismatic:
            return None
        turned = turned @ placed
        child = _onward(links, links.links.index(child))
    return None


def _axis(motion: JointKind) -> Array:
    return np.array([0.0, 0.0, 1.0]) if motion.screw is None else np.asarray(motion.screw.axis)


def _normal(child: Link, height: Scalar = 0.0) -> Normal:
    """The common normal of the parent's z axis and the axis of a turning child; at a height on the z axis, if they are
    parallel."""
    point = child.placement[:3, 3]
    axis = child.placement[:3, 2]
    across = np.cross([0.0, 0.0, 1.0], axis)
    sines = np.linalg.norm(samples(across), axis=-1)
    if (sines < _PARALLEL).all():
        return Normal(_beside(point), (height - point[2]) / axis[2])
    if (sines < _NEARLY_PARALLEL).any():
        return Normal(nominal(across) if sines[0] > _PARALLEL else _beside(point), 0.0)
    # the foot on the child's axis: there the way from the z axis is along `across`
    beside = np.cross(across, [0.0, 0.0, 1.0])
    return Normal(nominal(across), -(point @ beside) / (axis @ beside))


def _beside(point: Array) -> Array | None:
    """The direction from the z axis to a point, if it is not on the axis."""
    x, y, _ = nominal(point)
    return np.array([x, y, 0.0]) if np.hypot(x, y) > 1e-12 else None


def _own_direction(moments: LinkMoments) -> Array:
    """For a last link: x towards its centre of mass, or along a principal axis of what is seen along z."""
    mass, first, second = _nominal(moments)
    across = np.array([*first[:2], 0.0])
    if np.linalg.norm(across) > 1e-12 * max(abs(mass), 1e-300):
        return across
    (a, b), (_, c) = second[:2, :2]
    angle = 0.5 * np.arctan2(2 * b, a - c) if abs(b) > _ROUNDING * (abs(a) + abs(c)) else 0.0
    return np.array([np.cos(angle), np.sin(angle), 0.0])


def _nominal(moments: LinkMoments) -> LinkMoments:
    mass, first, second = map(nominal, moments)
    return LinkMoments(float(mass), first, second)


def _reach(links: Links, number: int, changes: list[Array], root: Array) -> Array:
    """The lengths (k), for each sample, from which the offset of a link in its new frames is summed."""
    link = links.links[number]
    poses = (link.placement, changes[number], root if link.parent == ROOT else changes[link.parent])
    return sum((np.linalg.norm(samples(pose)[:, :3, 3], axis=-1) for pose in poses), start=np.zeros(1))


def _exact(links: Links, reach: Sequence[Array]) -> Links:
    """Lengths and cosines that only rounding keeps from zero, made zero."""
    return links.placed([_clean(link.placement, size) for link, size in zip(links.links, reach, strict=True)])


def _clean(placement: Array, size: Array) -> Array:
    R = placement[:3, :3]
    rounded = np.sign(nominal(R))
    whole = (np.abs(np.abs(samples(R)) - 1) < _ROUNDING).all(axis=0)
    return Pose(np.where(whole, rounded, cleared(R, np.array([_ROUNDING]))),
                cleared(placement[:3, 3], _ROUNDING * size)).matrix


# Moments


def grouped(links: Links) -> Links:
    """The same links with moments given to the parents wherever the joints cannot tell the difference."""
    moments = [link.moments for link in links.links]
    sizes = [_size(m) for m in moments]
    for number in reversed(range(len(moments))):
        link = links.links[number]
        shared = _shared(link.motion, moments[number])
        moments[number] = _without_rounding(moments[number].minus(shared), sizes[number])
        if link.parent != ROOT:
            given = shared.seen_from(link.placement[:3, :3], link.placement[:3, 3])
            moments[link.parent] = moments[link.parent].plus(given)
            sizes[link.parent] = _sum(sizes[link.parent], _size(given))
    return links.with_moments(moments)


def without_unseen_turns(links: Links, seen: Container[int] = ()) -> Links:
    """Last links that are symmetric about their joint's axis look the same whatever its angle is: their axes stay with
    the parent's.

    Except those that are `seen` by something else."""
    unseen = [link.is_revolute and not carried and number not in seen and _is_symmetric(link.moments)
              for number, (link, carried) in enumerate(zip(links.links, links.children, strict=True))]
    return replace(links,
                   links=tuple(replace(link, turns_unseen=u) for link, u in zip(links.links, unseen, strict=True)))


def _is_symmetric(moments: LinkMoments) -> bool:
    second = samples(moments.second)
    size = _ROUNDING * np.abs(second.reshape(len(second), 9)).max(axis=1)
    across = [moments.first[0], moments.first[1], moments.second[0, 2], moments.second[1, 2]]
    even = (np.abs(second[:, 0, 1]) <= size) & (np.abs(second[:, 0, 0] - second[:, 1, 1]) <= size)
    return bool(even.all()) and not any(is_present(moment) for moment in across)


def _shared(motion: JointKind, moments: LinkMoments) -> LinkMoments:
    mass, first, second = motion.shared_moments
    return LinkMoments(moments.mass * mass, moments.first * first, moments.second * second)


def _size(moments: LinkMoments) -> tuple[Array, ...]:
    """The largest (k) that each kind of moment could have been in each sample, to know what is rounding."""
    return tuple(np.abs(samples(m)).reshape(len(samples(m)), -1).max(axis=-1) for m in moments)


def _sum(sizes: tuple[Array, ...], others: tuple[Array, ...]) -> tuple[Array, ...]:
    return tuple(a + b for a, b in zip(sizes, others, strict=True))


def _without_rounding(moments: LinkMoments, sizes: tuple[Array, ...]) -> LinkMoments:
    mass, first, second = (
        cleared(np.stack([m]), _ROUNDING * size)[0] for m, size in zip(moments, sizes, strict=True))
    return LinkMoments(mass if is_symbolic(mass) else float(mass), first, second)
