"""Configurations in which the loops of a mechanism are closed and its other constraints are kept, and the mobility
there.

    q, s    coordinates of the tree's joints, and of the joints that close the loops
    X(q)    the pose of a loop's second frame in its first; P(s) the pose that its joint allows
    e       the twist log(P^-1 X) that is left open, and the residuals of the other constraints
To first order e changes by J = [J_relative, -S(s)], S the directions of the joint in the loop. The steps are those of
Levenberg and Marquardt with a damping of |e|^2, far away of |e|.|J|, which closes overconstrained loops as well.
Lengths are measured in the size of the machine, or in another measure of it where that does not lead there. The
mobility is the number of independent velocities with J (qd, sd) = 0, at configurations that have nothing special about
them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.solving.rounding import rank_of
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import UnreachableError
from cayley.geometry.motions.screws import twist_from_pose
from cayley.geometry.pose import Pose
from cayley.kinematics.constraints.rows import jacobian_of, residual_kernel, residual_of
from cayley.kinematics.constraints.scale import CLOSED, length_unit, row_sizes, scaled_jacobian
from cayley.kinematics.forward import body_poses, frame_pose
from cayley.kinematics.frame_kernels import integrate_kernel
from cayley.kinematics.jacobians.general_jacobian import general_jacobian
from cayley.model.configurations import random_configuration
from cayley.model.constraint_kinds import Constraint
from cayley.model.constraints import constraints_of
from cayley.model.joint_kinds import Motion
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
    found: list[Careful] = []
    for loops in _Loops.each(tree):
        start = loops.start(guess, t)
        free = np.concatenate([moving, np.ones(loops.velocities - tree.nv, dtype=bool)])
        found.append(loops.closed_from(start, free))
        if found[-1].closed:
            return found[-1]
    chance = np.random.default_rng(0)
    loops, _ = _Loops.each(tree)
    for size in _CHANCES:
        step = size * loops.lengths * chance.normal(size=loops.velocities) * free
        found.append(loops.closed_from(loops.moved(start, step), free)._replace(by_chance=True))
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


def _is_known(e: Array, J: Array) -> bool:
    return bool(np.isfinite(e).all() and np.isfinite(J).all())


def closed_samples(tree: Tree) -> list[ClosedSample]:
    """Some configurations in which all constraints are kept, from the neutral one and from random ones: pieces of the
    space of all of them may differ in what they allow (a parallelogram with two rockers moves, crossed it is stiff)."""
    return kept(tree, "closed samples", lambda: _closed_samples(tree))


def _closed_samples(tree: Tree) -> list[ClosedSample]:
    _check_motions_agree(tree)
    found: list[tuple[Careful, float | None]] = []
    for loops in _Loops.each(tree):
        further = _guesses(tree, loops.measures)
        found += [(loops.closed_from(loops.start(guess, t)), t) for guess, t in islice(further, 1 + _STARTS)]
        closed = [(closure, t) for closure, t in found if closure.closed]
        if closed:
            break
    else:
        nearest, when = min(found, key=lambda each: each[0].residual)
        names = ", ".join(constraint.name for constraint in constraints_of(tree))
        left = _said_open(tree, nearest.configuration, *([] if when is None else [when]))
        raise UnreachableError(
            f"no configuration of {tree.name} was found in which its constraints ({names}) are kept, its loops closed: "
            f"the nearest leaves {nearest.residual:.3g} open ({left}). Look at the frames that they join, and at the "
            "lengths between them")
    random = np.random.default_rng(1)
    samples = [_sampled(loops, closure, t, random) for closure, t in closed]
    open_one = _away(tree, samples[0])
    always = _coincident(tree, open_one, loops.size, 0) | _coincident(tree, open_one, loops.size, 1)
    for guess, t in further:
        many = 0 < left_by_rows(tree, samples) < min(sample.mobility for sample in samples)
        if not many and any(sample.coincident <= always for sample in samples):
            break
        closure = loops.closed_from(loops.start(guess, t))
        samples += [_sampled(loops, closure, t, random)] if closure.closed else []
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
    """How many velocities are left by all rows that say something where nothing is closed, away from the samples; less
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
    """By the names of the constraints, by how much (...) each is open at configurations (..., nq) [m, rad], and at a
    time if one of them depends on it."""
    left = kept(tree, "constraint residual", lambda: residual_kernel(tree))(q, *time)
    sizes = slices([len(constraint.row_names) for constraint in constraints_of(tree)])
    return {constraint.name: np.linalg.norm(left[..., rows], axis=-1)
            for constraint, rows in zip(constraints_of(tree), sizes, strict=True)}


def _said_open(tree: Tree, q: Array, *time: float) -> str:
    found = {name: left for name, left in openings(tree, q, *time).items() if not left <= _CLOSED * length_unit(tree)}
    at = f" at t = {time[0]:.3g}" if time else ""
    return ", ".join(f"{name!r} {left:.3g}{at}" for name, left in found.items())


def _sampled(loops: _Loops, closure: Careful, t: float | None, random: np.random.Generator) -> ClosedSample:
    start = loops.start(closure.configuration, t)
    time = () if t is None else (t,)
    steps = _BESIDE * loops.lengths * random.normal(size=(_NEIGHBOURS, loops.velocities))
    found = [loops.closed_from(loops.moved(start, step)) for step in steps]
    beside = [each for each in found if each.closed]
    moves = [np.abs((each.configuration - closure.configuration) / loops.measures).max(initial=0.0) > _MOVED
             for each in beside]
    if beside and not any(moves):
        return ClosedSample((closure,), 0, time)
    near = (closure, *beside)
    upon = frozenset.intersection(*[_coincident(loops.tree, each.configuration, loops.size) for each in near])
    return ClosedSample(near, min(int(each.independent) for each in near), time, upon)


def _guesses(tree: Tree, measures: Array) -> Iterator[tuple[Array, float | None]]:
    """Configurations, those coordinates that have no limits in the `measures` (nq) of the machine, and times of
    constraints that depend on it: the first is 0."""
    times = [0.0, *np.random.default_rng(2).uniform(size=_MOST_STARTS)]
    random = random_configuration(tree.spanning_tree(), _MOST_STARTS, seed=0)
    bounded = np.isfinite(tree.lower) & np.isfinite(tree.upper)
    guesses = [tree.neutral, *np.where(bounded, random, random * measures)]
    yield from zip(guesses, times if tree.is_timed else [None] * len(times), strict=True)


@dataclass(frozen=True, eq=False)
class _Loops:
    """The loops of a tree, with the coordinates and velocities of their own joints after those of the tree: x = (q, s),
    and the time after them if a constraint depends on it."""

    tree: Tree
    size: float  # how many metres are worth a radian

    @staticmethod
    def each(tree: Tree) -> Iterator[_Loops]:
        """Lengths in the size of the machine, and then in the median distance of joints and frames from their
        bodies."""
        yield kept(tree, "closing of loops", lambda: _Loops(tree, length_unit(tree)))
        poses = [*[joint.placement for joint in tree.joints], *[frame.pose for frame in tree.frames]]
        away = [float(np.linalg.norm(pose[:3, 3])) for pose in poses]
        size = float(np.median([distance for distance in away if distance > 0.0] or [1.0]))
        yield kept(tree, "closing of loops in its size", lambda: _Loops(tree, size))

    def start(self, guess: Array, t: float | None) -> Array:
        """x at a configuration, with the joints that close loops at their zero."""
        own = [loop.motion.neutral for loop in self.tree.loops]
        return np.concatenate([guess, *own, *([] if t is None else [[t]])])

    @cached_property
    def motions(self) -> list[tuple[Motion, slice, slice]]:
        """The joints of the tree and those that close its loops, with their places."""
        motions = [*[joint.motion for joint in self.tree.joints], *[loop.motion for loop in self.tree.loops]]
        return list(zip(motions, slices([m.nq for m in motions]), slices([m.nv for m in motions]), strict=True))

    @cached_property
    def velocities(self) -> int:
        return self.motions[-1][2].stop

    @cached_property
    def lengths(self) -> Array:
        """The unit of each velocity: the size of the machine for slides, a radian for turns."""
        return self._measured(unit for motion, _, _ in self.motions for unit in motion.velocity_units)

    @cached_property
    def measures(self) -> Array:
        """The same of each coordinate of the tree."""
        return self._measured(unit for joint in self.tree.joints for unit in joint.motion.coordinate_units)

    def _measured(self, units: Iterable[str]) -> Array:
        return np.where(np.array(list(units)) == "m", self.size, 1.0)

    @cached_property
    def _weights(self) -> Array:
        across = 1.0 / self.size
        units = [unit for each in self._others for unit in each.row_units]
        known = 1.0 / row_sizes(self.tree)[len(row_sizes(self.tree)) - len(units):]
        others = [across if unit == "m" else own for unit, own in zip(units, known, strict=True)]
        return np.array([*[across, across, across, 1.0, 1.0, 1.0] * len(self.tree.loops), *others])

    def closed_from(self, x: Array, moving: Array | bool = True) -> Careful:
        """First the joints of the loops take up what they can, then all velocities that are moving."""
        own = np.arange(self.velocities) >= self.tree.nv
        x, _ = self._searched(x, own)
        x, iterations = self._searched(x, np.ones_like(own) & moving)
        e, J, reach = self._opening(x)
        if not _is_known(e, J):
            return Careful(False, x[:self.tree.nq], np.inf, iterations, self.velocities, by_chance=False)
        rank = int(rank_of(J * self._weights[:, None] * self.lengths))
        return Careful(self._is_closed(e, reach), x[:self.tree.nq], float(np.linalg.norm(e)), iterations,
                       self.velocities - rank, by_chance=False)

    def _is_closed(self, e: Array, reach: Array) -> bool:
        across = float(np.max(reach, initial=0.0)) / length_unit(self.tree)
        return bool(np.linalg.norm(e * self._weights) <= _CLOSED * (1.0 + across))

    def _searched(self, x: Array, moving: Array) -> tuple[Array, int]:
        """Steps with some of the velocities until nothing more is closed, and their number."""
        for iterations in range(_STEPS):
            e, J, reach = self._opening(x)
            if self._is_closed(e, reach) or not _is_known(e, J):  # where a constraint has no normal, or no value
                return x, iterations
            e = (e * self._weights)[self._positions]
            J = (J * self._weights[:, None] * self.lengths)[self._positions]
            bend = float(np.abs(e) @ np.linalg.norm(J, axis=1))
            damping = np.sqrt(min(float(e @ e), bend)) * np.eye(self.velocities)
            rows = np.concatenate([J * moving, damping])
            found = np.linalg.lstsq(rows, np.concatenate([e, np.zeros(self.velocities)]), rcond=None)[0]
            step = -self.lengths * found
            shorter = self._shortened(x, step, float(e @ e))
            if shorter is None:
                return x, iterations
            x = shorter
        return x, _STEPS

    def _shortened(self, x: Array, step: Array, square: float) -> Array | None:
        """The step, halved until it closes something that is worth it; None if nothing does."""
        for part in (1.0, 0.5, 0.25, 0.125, 0.0625):
            moved = self.moved(x, part * step)
            opening = self._opening(moved)[0] * self._weights
            if opening @ opening < (1 - 1e-4 * part) * square:
                return moved
        return None

    def moved(self, x: Array, step: Array) -> Array:
        moved = [motion.step(x[q], step[v]) for motion, q, v in self.motions if motion.nq]
        return np.concatenate([*moved, x[self.motions[-1][1].stop:]])

    @cached_property
    def _opening(self) -> Kernel[tuple[Array, Array, Array]]:
        """e, J, and how far from the root the first frames of the constraints are, by x."""
        rows = 6 * len(self.tree.loops) + sum(len(constraint.row_names) for constraint in self._others)
        size = self.motions[-1][1].stop + self.tree.is_timed
        signature = f"({size})->({rows}),({rows},{self.velocities}),({len(self._frames)})"
        return kept(self.tree, "opening of loops", lambda: kernel(
            signature, name="opening_of_loops", outputs=("e", "J", "reach"))(self._opening_text))

    @cached_property
    def _positions(self) -> Array:
        """The rows that hold positions; closing may move wheels where they would not roll."""
        loops = [True] * (6 * len(self.tree.loops))
        return np.array([*loops, *[k < each.positions for each in self._others for k in range(len(each.row_names))]])

    @cached_property
    def _frames(self) -> list[str]:
        return [frame for constraint in constraints_of(self.tree) for frame in constraint.frames[:1]]

    def _opening_text(self, x: Array) -> tuple[Any, Any, Any]:
        nothing = (np.zeros(0), np.zeros((0, self.velocities)))  # of an open tree
        parts = [nothing, *self._loop_openings(x), *self._other_openings(x)]
        places = [frame_pose(self.tree, x, frame).p for frame in self._frames]
        reach = np.stack([np.sqrt(p @ p) for p in places]) if places else np.zeros(0)
        return np.concatenate([e for e, _ in parts]), np.concatenate([J for _, J in parts]), reach

    def _loop_openings(self, x: Array) -> Iterator[tuple[Any, Any]]:
        tree = self.tree
        for loop, (motion, q, v) in zip(tree.loops, self.motions[len(tree.joints):], strict=True):
            between = frame_pose(tree, x, loop.second, loop.first)
            allowed = Pose(*motion.pose(x[q]))
            relative = general_jacobian(tree, x, loop.second, axes="body", relative_to=loop.first)
            columns = [
                relative,
                np.zeros((6, v.start - tree.nv)), -motion.subspace(x[q]),
                np.zeros((6, self.velocities - v.stop))]
            yield twist_from_pose.unchecked(allowed.inverse.then(between).matrix), np.concatenate(columns, axis=1)

    @cached_property
    def _others(self) -> tuple[Constraint, ...]:
        return constraints_of(self.tree)[len(self.tree.loops):]

    def _other_openings(self, x: Array) -> Iterator[tuple[Any, Any]]:
        own = self.velocities - self.tree.nv
        t = x[-1] if self.tree.is_timed else None
        for constraint in self._others:
            rows = jacobian_of(self.tree, constraint, x, t)
            yield residual_of(self.tree, constraint, x, t), np.concatenate([rows, np.zeros((len(rows), own))], axis=1)
