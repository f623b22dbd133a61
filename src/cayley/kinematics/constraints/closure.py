"""Configurations in which the constraints of a mechanism are kept, its loops closed, and the mobility there.

    (A^T A + lambda 1) dq = -A^T phi      the step of Levenberg and Marquardt, lambda = |phi|^2, far away |phi|.|A|
Overconstrained loops are closed as well. Lengths are measured in the size of the machine, or in another measure of it
where that does not lead there. The mobility is the number of independent velocities with A qd = 0, at configurations
that have nothing special about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.solving.rounding import rank_of
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import UnreachableError
from cayley.kinematics.constraints.rows import (
    CLOSED,
    constraint_jacobian,
    hold_positions,
    least_sense,
    length_unit,
    lengths,
    residual_kernel,
    residual_of,
    row_sizes,
    scaled_jacobian,
)
from cayley.kinematics.forward import body_poses, frame_pose
from cayley.kinematics.frame_kernels import integrate_kernel
from cayley.kinematics.mechanism_kernel import MechanismKernel
from cayley.model.configurations import random_configuration
from cayley.model.constraint_kinds import Constraint
from cayley.model.constraints import constraints_of
from cayley.model.tree import Tree, slices

_TIMES = (0.0, 0.1, 0.37, 1.0, 2.3, 10.7)  # s: motions that differ do not agree at all of them
_CLOSED = 1e-12  # what may be left open, in the size of the mechanism and radians
_STARTS = 8
_MOST_STARTS = 64  # while links that lie upon each other are all that was found
_NEIGHBOURS = 2
_BESIDE = 0.05  # how far neighbours of a closed configuration are looked for [rad, m or sizes of the machine]
_UPON = 1e-6  # of the size of the machine: axes that are nearer lie upon each other
_MOVED = 1e-6  # a neighbour that is nearer is the configuration itself: it cannot move
_CHANCES = (0.1, 0.3, 1.0, 1.0)  # sizes of steps [rad, sizes of the machine] away from a guess that leads nowhere
_STEPS = 100


class Careful(NamedTuple):
    """The result of a careful search: a configuration (nq), what is left open [m, rad], its steps, how many velocities
    the constraints leave there, and whether chance steps led there."""

    closed: bool
    configuration: Array
    residual: float
    iterations: int
    independent: int
    by_chance: bool


def closed_carefully(tree: Tree, guess: Array, moving: Array, t: float | None = None) -> Careful:
    """The closed configuration near one guess (nq), or the nearest to one that was found, by those velocities (nv) that
    are `moving`, at the time `t` if a constraint depends on it. A guess from which no small step closes anything (links
    in a row) is left by some chance steps, the same each time."""
    time = () if t is None else (t,)
    found: list[Careful] = []
    for search in _Search.each(tree):
        found.append(search.closed_from(guess, time, moving))
        if found[-1].closed:
            return found[-1]
    chance = np.random.default_rng(0)
    search, _ = _Search.each(tree)
    for size in _CHANCES:
        step = size * search.lengths * chance.normal(size=tree.nv) * moving
        found.append(search.closed_from(search.moved(guess, step), time, moving)._replace(by_chance=True))
        if found[-1].closed:
            return found[-1]
    return min(found, key=lambda closure: closure.residual)


@dataclass(frozen=True, eq=False)
class ClosedSample:
    """A closed configuration, others beside it, and the mobility there: that of the neighbours, which are not special
    if the configuration happens to be."""

    closures: tuple[Careful, ...]
    mobility: int
    time: tuple[float, ...] = ()  # the time, of constraints that depend on it
    coincident: frozenset[tuple[int, int]] = frozenset()
    """Pairs of joints whose axes, or centres, are one at all of these configurations: links lie upon each other."""


def closed_samples(tree: Tree) -> list[ClosedSample]:
    """Some configurations in which all constraints are kept, from the neutral one and from random ones: pieces of the
    space of all of them may differ in what they allow (a parallelogram with two rockers moves, crossed it is stiff)."""
    return kept(tree, "closed samples", lambda: _closed_samples(tree))


def _closed_samples(tree: Tree) -> list[ClosedSample]:
    _check_motions_agree(tree)
    found: list[tuple[Careful, tuple[float, ...]]] = []
    for search in _Search.each(tree):
        further = _guesses(tree, search.measures)
        found += [(search.closed_from(*each), each[1]) for each in islice(further, 1 + _STARTS)]
        closed = [(closure, time) for closure, time in found if closure.closed]
        if closed:
            break
    else:
        nearest, when = min(found, key=lambda each: each[0].residual)
        names = ", ".join(constraint.name for constraint in constraints_of(tree))
        left = _said_open(tree, nearest.configuration, *when)
        raise UnreachableError(
            f"no configuration of {tree.name} was found in which its constraints ({names}) are kept, its loops closed: "
            f"the nearest leaves {nearest.residual:.3g} open ({left}). Look at the frames that they join, and at the "
            "lengths between them")
    random = np.random.default_rng(1)
    samples = [_sampled(search, closure, time, random) for closure, time in closed]
    open_one = _away(tree, samples[0])
    always = _coincident(tree, open_one, search.size, 0) | _coincident(tree, open_one, search.size, 1)
    for guess, time in further:
        many = 0 < left_by_rows(tree, samples) < min(sample.mobility for sample in samples)
        if not many and any(sample.coincident <= always for sample in samples):
            break
        closure = search.closed_from(guess, time)
        samples += [_sampled(search, closure, time, random)] if closure.closed else []
    return samples


def _check_motions_agree(tree: Tree) -> None:
    """Raise if two constraints tell one joint different things in time, also if they agree at some instant."""
    told: dict[tuple[type, str], Constraint] = {}
    for each in tree.constraints:
        if not each.timed or each.frames or len(each.coordinates) != 1:
            continue
        joint = each.coordinates[0]
        first = told.setdefault((type(each), joint), each)
        for t in _TIMES if first is not each else ():
            one, other = (np.asarray(residual_of(tree, k, tree.neutral, t), dtype=float) for k in (first, each))
            if np.any(np.abs(one - other) > CLOSED * (1.0 + np.abs(one))):
                raise UnreachableError(
                    f"the constraints {first.name}, {each.name} of {tree.name} cannot both be kept: at t = {t:g} they "
                    f"ask different things of joint {joint!r}. Leave one out, or put them into different sets of "
                    "`switched`")


def left_by_rows(tree: Tree, samples: Sequence[ClosedSample]) -> int:
    """The number of velocities left by all rows that say something where nothing is closed, away from the samples; less
    than none if there are many rows."""
    found = [scaled_jacobian(tree, _away(tree, sample), *sample.time) for sample in samples]
    return tree.nv - max(int(rank_of(A)) for A in found)


def _away(tree: Tree, sample: ClosedSample) -> Array:
    """A configuration near a closed one that is not closed."""
    away = np.random.default_rng(0).normal(size=tree.nv)
    return kept(tree, "integrate", lambda: integrate_kernel(tree))(sample.closures[0].configuration, away)


def _coincident(tree: Tree, q: Array, size: float, end: int = 0) -> frozenset[tuple[int, int]]:
    """Pairs of joints, those that close loops after those of the tree, whose axes are the same line at a configuration
    (nq), or whose centres are the same point if they turn about more than one axis."""
    poses = [*body_poses(tree, q)[1:], *[frame_pose(tree, q, loop.frames[end]) for loop in tree.loops]]
    motions = [*[joint.motion for joint in tree.joints], *[loop.motion for loop in tree.loops]]
    turns = kept(tree, "joints that only turn",
                 lambda: [k for k, motion in enumerate(motions) if set(motion.velocity_units) == {"rad"}])
    p = np.array([poses[k].p for k in turns], dtype=float).reshape(-1, 3)
    across = p[:, None] - p
    screws = [motions[k].screw for k in turns]
    axes = np.array([poses[k].R @ (np.zeros(3) if screw is None else np.asarray(screw.axis))  # none about a point
                     for k, screw in zip(turns, screws, strict=True)], dtype=float).reshape(-1, 3)
    lines = np.asarray(axes.any(axis=1))
    apart = np.where(lines[:, None], np.linalg.norm(np.cross(axes[:, None], across), axis=-1),
                     np.linalg.norm(across, axis=-1))
    askew = np.linalg.norm(np.cross(axes[:, None], axes), axis=-1)
    pairs = np.argwhere(np.triu((lines[:, None] == lines) & (apart <= _UPON * size) & (askew <= _UPON), 1))
    return frozenset((turns[i], turns[j]) for i, j in pairs)


def openings(tree: Tree, q: Array, *time: ArrayLike) -> dict[str, Array]:
    """The openings (...) of the constraints, by name, at configurations (..., nq) [m, rad], and at a time if one of
    them depends on it."""
    left = kept(tree, "constraint residual", lambda: residual_kernel(tree))(q, *time)
    sizes = slices([len(constraint.row_names) for constraint in constraints_of(tree)])
    return {constraint.name: np.linalg.norm(left[..., rows], axis=-1)
            for constraint, rows in zip(constraints_of(tree), sizes, strict=True)}


def _said_open(tree: Tree, q: Array, *time: float) -> str:
    found = {name: left for name, left in openings(tree, q, *time).items() if not left <= _CLOSED * length_unit(tree)}
    at = f" at t = {time[0]:.3g}" if time else ""
    return ", ".join(f"{name!r} {left:.3g}{at}" for name, left in found.items())


def _sampled(search: _Search, closure: Careful, time: tuple[float, ...], random: np.random.Generator) -> ClosedSample:
    q = closure.configuration
    steps = _BESIDE * search.lengths * random.normal(size=(_NEIGHBOURS, search.tree.nv))
    found = [search.closed_from(search.moved(q, step), time) for step in steps]
    beside = [each for each in found if each.closed]
    moves = [np.abs((each.configuration - q) / search.measures).max(initial=0.0) > _MOVED for each in beside]
    if beside and not any(moves):
        return ClosedSample((closure,), 0, time)
    near = (closure, *beside)
    upon = frozenset.intersection(*[_coincident(search.tree, each.configuration, search.size) for each in near])
    return ClosedSample(near, min(int(each.independent) for each in near), time, upon)


def _guesses(tree: Tree, measures: Array) -> Iterator[tuple[Array, tuple[float, ...]]]:
    """Configurations, those coordinates that have no limits in the `measures` (nq) of the machine, and times of
    constraints that depend on it: the first is 0."""
    times = [0.0, *np.random.default_rng(2).uniform(size=_MOST_STARTS)]
    random = random_configuration(tree.spanning_tree(), _MOST_STARTS, seed=0)
    bounded = np.isfinite(tree.lower) & np.isfinite(tree.upper)
    guesses = [tree.neutral, *np.where(bounded, random, random * measures)]
    yield from zip(guesses, [(t,) if tree.is_timed else () for t in times], strict=True)


@dataclass(frozen=True, eq=False)
class _Search:
    """Steps towards closed configurations, with lengths measured in a `size`: how many metres are worth a radian."""

    tree: Tree
    size: float

    @staticmethod
    def each(tree: Tree) -> Iterator[_Search]:
        """Lengths in the size of the machine, then in the median distance of joints and frames from their bodies."""
        yield _Search(tree, length_unit(tree))
        poses = [*[joint.placement for joint in tree.joints], *[frame.pose for frame in tree.frames]]
        away = [float(np.linalg.norm(pose[:3, 3])) for pose in poses]
        yield _Search(tree, float(np.median([distance for distance in away if distance > 0.0] or [1.0])))

    @cached_property
    def lengths(self) -> Array:
        """The unit of each velocity."""
        return lengths(self.tree, self.size)

    @cached_property
    def measures(self) -> Array:
        """The unit of each coordinate."""
        units = [unit for joint in self.tree.joints for unit in joint.motion.coordinate_units]
        return np.where(np.array(units) == "m", self.size, 1.0)

    @cached_property
    def _weights(self) -> Array:
        units = [unit for each in constraints_of(self.tree) for unit in each.row_units]
        return np.where(np.array(units) == "m", 1.0 / self.size, 1.0 / row_sizes(self.tree))

    def closed_from(self, q: Array, time: tuple[float, ...], moving: Array | bool = True) -> Careful:
        """The closed configuration to which small steps lead with the velocities that are moving, or the last."""
        q, iterations = self._searched(q, time, np.ones(self.tree.nv) * moving)
        e, A = self._opening(q, time)
        if not (np.isfinite(e).all() and np.isfinite(A).all()):
            return Careful(False, q, np.inf, iterations, self.tree.nv, by_chance=False)
        is_closed = self._is_closed(e, q) and float(least_sense(self.tree, q, constraints_of(self.tree))) > 0
        left = float(np.linalg.norm(e))
        return Careful(is_closed, q, left if is_closed or left > _CLOSED * self.size else np.inf, iterations,
                       self.tree.nv - int(rank_of(A * self._weights[:, None] * self.lengths)), by_chance=False)

    def _is_closed(self, e: Array, q: Array) -> bool:
        frames = [frame for constraint in constraints_of(self.tree) for frame in constraint.frames[:1]]
        across = max([float(np.linalg.norm(frame_pose(self.tree, q, frame).p)) for frame in frames], default=0.0)
        return bool(np.linalg.norm(e * self._weights) <= _CLOSED * (1.0 + across / length_unit(self.tree)))

    def _searched(self, q: Array, time: tuple[float, ...], moving: Array) -> tuple[Array, int]:
        """Steps with some of the velocities until nothing more is closed, and their number."""
        rows = hold_positions(self.tree)  # closing may move wheels where they would not roll
        for iterations in range(_STEPS):
            e, A = self._opening(q, time)
            if not (np.isfinite(e).all() and np.isfinite(A).all()) or self._is_closed(e, q):
                return q, iterations
            e = (e * self._weights)[rows]
            A = (A * self._weights[:, None] * self.lengths)[rows]
            bend = float(np.abs(e) @ np.linalg.norm(A, axis=1))
            damping = np.sqrt(min(float(e @ e), bend)) * np.eye(self.tree.nv)
            found = np.linalg.lstsq(np.concatenate([A * moving, damping]),
                                    np.concatenate([e, np.zeros(self.tree.nv)]), rcond=None)[0]
            shorter = self._shortened(q, time, -self.lengths * found, float(e @ e))
            if shorter is None:
                return q, iterations
            q = shorter
        return q, _STEPS

    def _shortened(self, q: Array, time: tuple[float, ...], step: Array, square: float) -> Array | None:
        """The step, halved until it closes something that is worth it; None if nothing does."""
        for part in (1.0, 0.5, 0.25, 0.125, 0.0625):
            moved = self.moved(q, part * step)
            opening = self._residual(moved, *time) * self._weights
            if opening @ opening < (1 - 1e-4 * part) * square:
                return moved
        return None

    def moved(self, q: Array, step: Array) -> Array:
        return kept(self.tree, "integrate", lambda: integrate_kernel(self.tree))(q, step)

    def _opening(self, q: Array, time: tuple[float, ...]) -> tuple[Array, Array]:
        return self._residual(q, *time), constraint_jacobian(self.tree, q, *time)

    @cached_property
    def _residual(self) -> MechanismKernel:
        return kept(self.tree, "constraint residual", lambda: residual_kernel(self.tree))
