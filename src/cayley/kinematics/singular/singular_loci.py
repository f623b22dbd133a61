"""The singular locus of a point of an arm: the postures in which it loses a direction, where they bring the point, and
whether the workspace ends there.

    J(q)^T u = 0,   u.u = 1        J (d, n) of a point's velocity, u the direction that is lost
A place of a curve is at the boundary if the point can go there and not a little way on along the lost direction, to one
of both sides, in ANY posture; otherwise it is interior. Planar arms of revolute joints are singular where all links are
on one line, each forth or back: circles of the radius |+-a1 +- a2 ... +- an|, the largest the outer boundary, the inner
one that by which the longest link exceeds all others together. Other arms are sampled; in space, where singular
postures are curves once the first joint is held, these are followed until they close or a joint comes to its limit.
Source: Ruggiu 2.3.4, Fig. 2.9; spec S2-101. `cayley.drawing.draw_singular_locus` draws it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.solving.rounding import least_singular, significant
from cayley.compiler.typing import Array
from cayley.errors import ModelError, SignatureError, UnsupportedError
from cayley.kinematics.continuation import corrected, whole_curve
from cayley.kinematics.forward import body_poses, frame_pose
from cayley.kinematics.inverse.bounds import Bounds, bounds_of
from cayley.kinematics.inverse.numeric import Solver, solver_of
from cayley.kinematics.jacobians.general_jacobian import general_jacobian, hessian
from cayley.model.constraints import check_independent
from cayley.model.tree import Tree

Kind = Literal["boundary", "interior"]
_STEP = 1e-3  # of the size: how far to try along the lost direction
_STARTS = 16
_CLOUD = 20_000
_STILL = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class SingularCurve:
    """One curve of the locus and its image."""

    configurations: Array  # (k, nq)
    points: Array  # (k, 3), in the root's axes [m]
    lost: Array  # (k, 3): the direction, of length one, in which the point cannot move
    kind: Array  # (k): "boundary" or "interior"
    radius: float | None = None  # of the circle about the first axis [m], of planar arms of revolute joints

    def __repr__(self) -> str:
        kinds = " and ".join(sorted(set(self.kind.tolist())))
        about = "" if self.radius is None else f", radius {self.radius:.6g} m"
        return f"<singular curve: {kinds}, {len(self.points)} points{about}>"


@dataclass(frozen=True, eq=False, repr=False)
class SingularLocus:
    """The singular curves of a point. The first joint of an arm in space is held: all of it turns or slides with it."""

    tree: Tree
    frame: str
    curves: tuple[SingularCurve, ...]
    rows: Array  # (2, 3): the axes of a planar arm's plane; or (3, 3)
    first: int  # the number of the first joint that moves the point

    @property
    def planar(self) -> bool:
        return len(self.rows) == 2

    def pieces(self, kind: Kind) -> list[Array]:
        """The parts (k, 3) of the images that are at the boundary, or interior; a single place is no part."""
        found = []
        for curve in self.curves:
            marks = curve.kind == kind
            ends = np.flatnonzero(np.diff(np.concatenate([[False], marks, [False]])))
            found += [curve.points[a:b] for a, b in ends.reshape(-1, 2) if b - a > 1]
        return found

    def section(self, points: Array) -> Array:
        """Coordinates (..., 2) of points (..., 3): in the plane of a planar arm, else the distance from the first axis
        and the height along it from the root's origin, or, if the first joint slides, across its direction."""
        if self.planar:
            return points @ self.rows.T
        screw = self.tree.joints[self.first].motion.screw
        pose = body_poses(self.tree, self.tree.neutral)[self.first + 1]
        if screw is None or (screw.turn and screw.slide):
            raise UnsupportedError(f"the first joint of {self.tree.name}, {self.tree.joints[self.first].name!r}, is "
                                   "neither a turn nor a slide: what it moves has no section")
        axis = pose.R @ np.asarray(screw.axis)
        if not screw.turn:
            return points @ _across(axis).T
        distance = np.linalg.norm(np.cross(points - pose.p, axis), axis=-1)
        return np.stack([distance, points @ axis], axis=-1)

    def __repr__(self) -> str:
        words = [f"{len(self.pieces(kind))} {kind}" for kind in ("boundary", "interior")]
        return f"<singular locus of {self.frame!r}: {len(self.curves)} curves, {' and '.join(words)} pieces>"


def singular_locus(tree: Tree, frame: str, *, limits: bool = True, held: Collection[str] = (), samples: int = 200,
                   points: int = 181, seed: int = 0) -> SingularLocus:
    """The singular locus of a frame's origin.

    limits    postures beyond the limits of the joints are left out, and do not help to reach a place
    held      joints that stay at rest along the curves of an arm in space whose singular postures fill more than
              curves; to reach a place they move
    samples   from how many random postures singular ones are searched for, if there is no closed form. Curves that
              none of them leads to are missed
    points    of a curve that the first joint of a planar arm sweeps

    >>> from cayley.model.catalogue import load_robot
    >>> found = singular_locus(load_robot("planar3r"), "tool")
    >>> [(round(curve.radius, 6), str(curve.kind[0])) for curve in found.curves]
    [(2.3, 'boundary'), (1.3, 'interior'), (0.7, 'interior'), (0.3, 'interior')]
    """
    check_independent(tree, "`singular_locus`", frame)
    if samples < 1 or points < 2:
        raise SignatureError(f"samples must be 1 or more and points 2 or more, not {samples} and {points}")
    for name in held:
        tree.joint_number(name)
    bounds = bounds_of(tree, frame, limits=limits)
    _check_joints(tree, frame, bounds)
    some = bounds.scattered(40, seed, tree.neutral)
    J = np.stack([np.asarray(general_jacobian(tree, q, frame, axes="world"), dtype=float)[:3] for q in some[:12]])
    joints, rows = _moving(tree, frame, J, bounds)
    label = _Label(tree, frame, limits, seed)
    folds = planar_folds(tree, frame, joints) if len(rows) == 2 else None
    if folds is not None:
        swept = [(_swept(tree, bounds, joints, q, points), radius, on_boundary) for q, radius, on_boundary
                 in zip(folds.configurations, folds.radii, folds.on_boundary, strict=True)]
        limited = bounds.blocks[[tree.q_slices[k].start for k in joints]].any()
        curves = [_curve(tree, frame, rows, joints, q, label, radius=float(radius),
                         known=None if limited else bool(on_boundary))
                  for q, radius, on_boundary in swept if q is not None]
        return SingularLocus(tree, frame, tuple(curves), rows, joints[0])
    folding = Folding.of(tree, frame, bounds, rows, joints, held)
    lines = folding.postures(bounds.kept(bounds.scattered(samples, seed + 1, tree.neutral)))
    if len(rows) == 2:
        every = [_swept(tree, bounds, joints, q[0], points) for q, _ in lines]
        curves = [_curve(tree, frame, rows, joints, q, label) for q in every if q is not None]
    else:
        curves = [_curve(tree, frame, rows, joints, q, label, lost=u) for q, u in lines]
    return SingularLocus(tree, frame, tuple(curves), rows, joints[0])


def _check_joints(tree: Tree, frame: str, bounds: Bounds) -> None:
    for number in tree.path(tree.body_number(tree.frame(frame).body)):
        joint = tree.joints[number]
        place = tree.q_slices[number]
        if joint.motion.nv > 1:
            raise UnsupportedError(f"joint {joint.name!r} of {tree.name} is {joint.motion.word}: a singular locus is "
                                   "of joints of one coordinate each")
        if joint.motion.nv and bounds.lengths[place].any() and not np.isfinite(
                [bounds.lower[place], bounds.upper[place]]).all():
            raise ModelError(f"joint {joint.name!r} of {tree.name} slides without an end: give it limits "
                             "(`with_joints`), and keep them (limits=True), for a locus that ends")


def _moving(tree: Tree, frame: str, J: Array, bounds: Bounds) -> tuple[list[int], Array]:
    """The joints that move the point, by number, and the directions (d, 3) in which it can move, from Jacobians (s, 3,
    nv) at a few postures."""
    way = [k for k in tree.path(tree.body_number(tree.frame(frame).body)) if tree.joints[k].motion.nv]
    size = np.array([np.abs(J[:, :, tree.v_slices[k]]).max() for k in way])
    joints = [k for k, largest in zip(way, size, strict=True) if largest > _STILL * bounds.size]
    U, values, _ = np.linalg.svd(np.concatenate(list(J), axis=1))
    dimension = int(np.sum(significant(values, tree.nv)))
    if len(joints) < max(dimension, 2):
        raise UnsupportedError(
            f"{len(joints)} of the joints of {tree.name} move {frame!r}: it stays on a "
            f"{'surface' if len(joints) == 2 else 'curve'}, which has no singular curves. Ask for a frame that three "
            "joints move, or two in a plane")
    return joints, _across(U[:, 2]) if dimension == 2 else np.eye(3)


def _across(normal: Array) -> Array:
    """Two axes (2, 3) across a direction, as near to those of the root as they can be, in their order."""
    kept = np.sort(np.argsort(np.abs(normal), kind="stable")[:2])
    right, up = np.eye(3)[kept] - np.outer(normal[kept], normal)
    right = right / np.linalg.norm(right)
    up = up - (up @ right) * right
    return np.stack([right, up / np.linalg.norm(up)]) + 0.0


def _swept(tree: Tree, bounds: Bounds, joints: list[int], q: Array, points: int) -> Array | None:
    """A posture (nq) at all values (points, nq) of the first joint; None if it is beyond a limit."""
    places = [tree.q_slices[k].start for k in joints]
    low, high = bounds.lower, bounds.upper
    turned = q.copy()
    for k in places[1:]:
        middle = (low[k] + high[k]) / 2 if np.isfinite([low[k], high[k]]).all() else np.clip(0.0, low[k], high[k])
        if bounds.turns[k]:
            turned[k] = q[k] - 2 * np.pi * np.round((q[k] - middle) / (2 * np.pi))
        if not low[k] - 1e-9 <= turned[k] <= high[k] + 1e-9:
            return None
    first = places[0]
    start = low[first] if np.isfinite(low[first]) else min(-np.pi, high[first] - 2 * np.pi)
    end = high[first] if np.isfinite(high[first]) else start + 2 * np.pi
    line = np.repeat(turned[None], points, axis=0)
    line[:, first] = np.linspace(start, end, points)
    return line


def _curve(tree: Tree, frame: str, rows: Array, joints: list[int], q: Array, label: _Label, *,
           lost: Array | None = None, radius: float | None = None, known: bool | None = None) -> SingularCurve:
    columns = [tree.v_slices[k].start for k in joints]
    found = point_and_jacobian(tree, frame)(q)
    if lost is None:
        lost = np.linalg.svd(np.einsum("rc,kcj->krj", rows, found[:, :, 1:][:, :, columns]))[0][:, :, -1] @ rows
    points = found[:, :, 0]
    ends = label.ends(points, lost) if known is None else np.full(len(q), known)
    return SingularCurve(q, points, lost, np.where(ends, "boundary", "interior"), radius)


@dataclass(frozen=True, eq=False)
class _Label:
    """A test of whether a point can be reached in any posture, searched for from those that come near it."""

    tree: Tree
    frame: str
    limits: bool
    seed: int

    @cached_property
    def _solver(self) -> Solver:
        return solver_of(self.tree, self.frame, "position", "world", self.limits)

    @cached_property
    def _postures(self) -> tuple[Array, cKDTree]:
        q = self._solver.bounds.scattered(_CLOUD, self.seed, self.tree.neutral)
        return q, cKDTree(point_and_jacobian(self.tree, self.frame)(q)[:, :, 0])

    def ends(self, points: Array, lost: Array) -> Array:
        """A mask of the places (k, 3) that cannot be passed along the lost directions (k, 3), to one of both sides."""
        step = _STEP * self._solver.bounds.size
        return ~(self._reached(points + step * lost) & self._reached(points - step * lost))

    def _reached(self, points: Array) -> Array:
        targets = np.tile(np.eye(4), (len(points), _STARTS, 1, 1))
        targets[..., :3, 3] = points[:, None]
        configurations, places = self._postures
        starts = configurations[places.query(points, k=_STARTS)[1]]
        found = self._solver.solve(targets, starts, 1e-3 * _STEP * self._solver.bounds.size, 0, 100, 0)
        return np.any(found.solved, axis=1)


_PARALLEL = 1e-5  # files give right angles as 1.5708
_SHORT = 1e-9  # of all links together: a link of no length
_MOST_LINKS = 12


class Folds(NamedTuple):
    """Singular postures (k, nq) with the first angle at rest, the radii (k) of their circles, and the lengths (n) of
    the links."""

    configurations: Array
    radii: Array
    lengths: Array

    @property
    def on_boundary(self) -> Array:
        """A mask of the circles (k) that bound the reach of the point, if no joint has limits."""
        total = self.lengths.sum()
        hole = 2 * self.lengths.max() - total
        near = 1e-9 * total
        return (self.radii > total - near) | ((hole > near) & (np.abs(self.radii - hole) < near))


def planar_folds(tree: Tree, frame: str, joints: list[int]) -> Folds | None:
    """The folds of an arm with these joints on the way to a frame; None if they are not all turns about one direction.
    A joint between which and the next there is no distance stays at rest: it turns with the next."""
    poses = body_poses(tree, tree.neutral)
    screws = [tree.joints[k].motion.screw for k in joints]
    if any(screw is None or not screw.turn or screw.slide for screw in screws):
        return None
    axes = np.stack([poses[k + 1].R @ np.asarray(screw.axis) for k, screw in zip(joints, screws, strict=True) if screw])
    normal = axes[0] / np.linalg.norm(axes[0])
    if np.linalg.norm(np.cross(normal, axes), axis=1).max() > _PARALLEL:
        return None
    places = np.stack([*[poses[k + 1].p for k in joints], frame_pose(tree, tree.neutral, frame).p])
    links = np.diff(places, axis=0)
    links = links - np.outer(links @ normal, normal)
    lengths = np.linalg.norm(links, axis=1)
    long = np.flatnonzero(lengths > _SHORT * lengths.sum())
    if len(long) > _MOST_LINKS:
        raise UnsupportedError(f"{tree.name} has {len(long)} links on the way to {frame!r}: the singular postures of "
                               f"more than {_MOST_LINKS} are 2^n too many")
    first = links[long[0]]
    angles = np.arctan2(np.cross(first, links) @ normal, links @ first)  # from the first link, in the plane
    senses = np.sign(axes @ normal)
    postures = []
    radii = []
    for back in product((0, 1), repeat=len(long) - 1):
        turned = np.zeros(len(joints))  # of each link beyond where it stands at rest
        for k in range(len(joints)):
            turned[k] = turned[k - 1] if k else 0.0
            if k in long[1:]:
                turned[k] = np.pi * back[int(np.flatnonzero(long == k)[0]) - 1] - angles[k]
            if k == long[0]:
                turned[k] = 0.0
        q = tree.neutral.copy()
        for k, turn in zip(joints, senses * np.diff(turned, prepend=0.0), strict=True):
            q[tree.q_slices[k]] += turn
        postures.append(q)
        radii.append(abs(lengths[long] @ [1.0, *np.where(np.array(back) == 1, -1.0, 1.0)]))
    return Folds(np.array(postures), np.array(radii), lengths[long])


_NEWTON = 40
_CONVERGED = 1e-11
_PACE = 0.04
_SHORTEST = 1e-5
_MOST_STEPS = 6000
_TRIED = 8  # samples without a new curve after which there is none


def point_and_jacobian(tree: Tree, frame: str) -> Kernel:
    """The origin of a frame and the Jacobian of its velocity, (..., 3, 1 + nv), in the root's axes."""
    return kept(tree, ("point and jacobian", frame), lambda: kernel(
        f"({tree.nq})->(3,{tree.nv + 1})", name="point_and_jacobian")(lambda q: np.concatenate(
            [frame_pose(tree, q, frame).p[:, None], general_jacobian(tree, q, frame, axes="world")[:3]], axis=1)))


@dataclass(frozen=True, eq=False)
class Folding:
    """The equations of the singular postures of a point, in lengths of the arm."""

    tree: Tree
    bounds: Bounds
    rows: Array  # (d, 3): what can move
    coordinates: Array  # (n) of the joints that move the point
    velocities: Array  # (n)
    free: Array  # which of these (n) move along the curves: not the first
    scale: Array  # (n): a radian, or the size of the arm
    point: Kernel
    hessian: Kernel

    @staticmethod
    def of(tree: Tree, frame: str, bounds: Bounds, rows: Array, joints: list[int], held: Collection[str]) -> Folding:
        coordinates = np.array([tree.q_slices[k].start for k in joints])
        velocities = np.array([tree.v_slices[k].start for k in joints])
        free = np.array([k > 0 and tree.joints[number].name not in held for k, number in enumerate(joints)])
        scale = np.where(bounds.lengths[coordinates], bounds.size, 1.0)
        second = kernel(f"({tree.nq})->(3,{tree.nv},{tree.nv})", name="hessian_of_point")(
            lambda q: hessian(tree, q, frame, axes="world")[:3])
        return Folding(tree, bounds, rows, coordinates, velocities, free, scale, point_and_jacobian(tree, frame),
                       second)

    def postures(self, starts: Array) -> list[tuple[Array, Array]]:
        """The singular postures of starts (s, nq): the single singular postures (1, nq) of a plane, or the curves (k,
        nq) of space, with the directions (k, d) that are lost."""
        starts = starts.copy()
        still = self.coordinates[~self.free]
        starts[:, still] = self.bounds.kept(self.tree.neutral)[still]
        q, u, tangent, converged = self.onto(starts, self._least(starts))
        inside = converged & self._inside(q)
        q, u, tangent = q[inside], u[inside], tangent[inside]
        lines: list[tuple[Array, Array]] = []
        known = self._marks(q[:0], u[:0])
        idle = 0
        for one, lost, along in zip(q, u, tangent, strict=True):
            distance = np.linalg.norm(known - self._marks(one[None], lost[None]), axis=1).min(initial=np.inf)
            if distance > (2 * _PACE if len(self.rows) == 3 else 1e-6):
                idle = 0
                lines.append((one[None], lost[None]) if len(self.rows) == 2 else self._curve(one, lost, along))
                known = np.concatenate([known, self._marks(*lines[-1])])
            else:
                idle += 1
            if idle >= _TRIED * (1 + len(lines)):
                break
        return lines

    def equations(self, q: Array, u: Array) -> tuple[Array, Array]:
        """The residuals (s, n + 1) of the equations at configurations (s, nq) and directions (s, d), and their
        derivative by the free coordinates, and by u, (s, n + 1, m + d)."""
        J = self._jacobian(q)
        by = self.scale[self.free]
        H = self.hessian(q)[:, :, self.velocities][..., self.velocities[self.free]] * self.scale[:, None] * by
        H = np.einsum("rc,scij->srij", self.rows, H) / self.bounds.size
        left = np.concatenate([np.einsum("sdi,sd->si", J, u), (np.sum(u * u, axis=1, keepdims=True) - 1) / 2], axis=1)
        upper = np.concatenate([np.einsum("sdij,sd->sij", H, u), np.swapaxes(J, 1, 2)], axis=2)
        lower = np.concatenate([np.zeros((len(q), 1, len(by))), u[:, None]], axis=2)
        return left, np.concatenate([upper, lower], axis=1)

    def onto(self, q: Array, u: Array, most: int = _NEWTON) -> tuple[Array, Array, Array, Array]:
        """Configurations and directions brought to the locus by Newton's method, the tangents there, and which came."""
        n = self.tree.nq

        def equations(x: Array) -> tuple[Array, Array]:
            left, M = self.equations(x[:, :n], x[:, n:])
            return M, -left

        found = corrected(equations, self._moved, np.concatenate([q, u], axis=1), iterations=most,
                          tolerance=_CONVERGED, longest=0.25, least=least_singular(n))
        converged = found.missing < 1e3 * _CONVERGED
        rank = found.tangent.shape[-1] - (len(self.rows) == 3)
        if converged.sum() > 2 and np.mean(found.singular_values[converged, rank - 1] < least_singular(n)) > 0.5:
            raise UnsupportedError(
                f"the singular postures of {self.tree.name} fill more than curves: some joints, as those of a "
                "spherical shoulder, move one on to others that are reached as well by the rest. Name one of these "
                "joints in held=, and it stays at rest")
        return found.points[:, :n], found.points[:, n:], found.tangent, converged

    def _curve(self, q: Array, u: Array, tangent: Array) -> tuple[Array, Array]:
        """The curve (k, nq) through a posture, in both directions unless it closes, and the directions lost."""
        n = self.tree.nq
        begin = self._marks(q[None], u[None])[0]

        def advance(x: Array, t: Array, h: float) -> tuple[Array, Array] | None:
            guess = self._moved(x[None], h * t[None])
            trial, lost, along, converged = self.onto(guess[:, :n], guess[:, n:], most=9)
            if not converged[0] or not self._inside(trial)[0]:
                return None
            return np.concatenate([trial[0], lost[0]]), along[0] * np.sign(along[0] @ t)

        line, _ = whole_curve(np.concatenate([q, u]), tangent, advance, longest=_PACE, shortest=_SHORTEST, straight=0.8,
                              most=_MOST_STEPS, back=lambda x, _: float(np.linalg.norm(
                                  self._marks(x[None, :n], x[None, n:])[0] - begin)))
        return self.bounds.kept(self.bounds.unwound(line[:, :n])), line[:, n:]

    def _least(self, q: Array) -> Array:
        """The directions (s, d) in which the point moves least."""
        return np.linalg.svd(self._jacobian(q))[0][:, :, -1]

    def _jacobian(self, q: Array) -> Array:
        J = self.point(q)[:, :, 1:][:, :, self.velocities] * self.scale / self.bounds.size
        return np.einsum("rc,scj->srj", self.rows, J)

    def _moved(self, x: Array, step: Array) -> Array:
        """Postures and directions (s, nq + d) after a step of the free coordinates and the directions."""
        moved = x.copy()
        n = int(self.free.sum())
        moved[:, self.coordinates[self.free]] += step[:, :n] * self.scale[self.free]
        moved[:, self.tree.nq:] += step[:, n:]
        return moved

    def _inside(self, q: Array) -> Array:
        x = self.bounds.unwound(q)
        inside = (x >= self.bounds.lower - 1e-9) & (x <= self.bounds.upper + 1e-9)
        return np.all((inside | ~self.bounds.blocks)[:, self.coordinates], axis=1)

    def _marks(self, q: Array, u: Array) -> Array:
        """Numbers (s, k) that tell postures and what they lose apart, the first joint, whole turns and the sign of u
        left out."""
        x = q[:, self.coordinates[self.free]] / self.scale[self.free]
        turns = self.bounds.turns[self.coordinates[self.free]]
        return np.concatenate([np.cos(x[:, turns]), np.sin(x[:, turns]), x[:, ~turns],
                               (u[:, :, None] * u[:, None]).reshape(len(u), u.shape[1] ** 2)], axis=1)
