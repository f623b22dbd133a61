"""Random configurations within the limits of the joints: every joint on the way to a frame anywhere in its range.

A turn without limits is drawn from one turn, one with a single limit from the turn beside it; a ball joint from all
rotations. A slide without an end raises an error; the limits of a floating joint are those of its position. Of loops, a
place that the straight way of the actuated joints does not reach is tried again from the nearest places that were
reached, a few times: pieces behind narrow passages may be missed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from cayley.compiler.kernel import Kernel
from cayley.compiler.solving.null_space import null_basis
from cayley.compiler.solving.rounding import rank_of
from cayley.compiler.typing import Array, ArrayLike
from cayley.drawing.skeleton import resting
from cayley.errors import ConventionError, ModelError, UnreachableError, UnsupportedError
from cayley.kinematics.constraints.space import actuation
from cayley.kinematics.constraints.structure import constraint_structure, generic_configurations
from cayley.kinematics.loops.closing import close, is_within_limits
from cayley.kinematics.loops.following_inputs import follow_inputs
from cayley.model.configurations import quaternion_places, with_mimic_joints
from cayley.model.constraints import ties
from cayley.model.tree import Tree
from cayley.progress import PatientBar

JointLimits = Mapping[str, tuple[float, float]]


def joints_between(tree: Tree, frame: str, relative_to: str | None) -> list[int]:
    """The moving joints on which the pose of a frame in another (or in the root) depends, by number."""
    ways = [
        set(tree.path(tree.body_number(tree.frame(name).body))) for name in (frame, relative_to) if name is not None]
    between = ways[0] if relative_to is None else ways[0] ^ ways[1]
    moving = sorted(number for number in between if tree.joints[number].motion.nv)
    if not moving:
        raise ModelError(f"no joint of {tree.name} moves {frame!r}"
                         + (f" relative to {relative_to!r}" if relative_to else ""))
    return moving


def is_tied_between(tree: Tree, frame: str, relative_to: str | None) -> bool:
    """True if constraints other than mimic joints tie joints between a frame and another (or the root)."""
    between = joints_between(tree, frame, relative_to)
    return any(not tie.joints.isdisjoint(between) for tie in ties(tree))


def ranges(tree: Tree, joints: Sequence[int], limits: JointLimits | None) -> tuple[Array, Array]:
    """The ranges from which the coordinates (nq) of the joints are drawn; the others have an empty range at rest."""
    low, high = (resting(tree).copy() for _ in range(2))
    for name in limits or {}:
        tree.joint_number(name)
    for number in joints:
        joint = tree.joints[number]
        place = tree.q_slices[number]
        lower = np.array(joint.limits.lower)
        upper = np.array(joint.limits.upper)
        if limits and joint.name in limits:
            lower, upper = (np.full(joint.motion.nq, float(end)) for end in limits[joint.name])
        turns = np.array(joint.motion.wraps, dtype=bool)
        attitude = joint.motion.attitude
        if attitude is not None:
            if np.isfinite([*joint.limits.lower[attitude.q], *joint.limits.upper[attitude.q]]).any():
                raise UnsupportedError(
                    f"joint {joint.name!r} of {tree.name} is {joint.motion.word} and has limits: rotations within "
                    "limits of a quaternion are not drawn")
            kept = attitude.position or slice(0, 0)
            place = slice(place.start + kept.start, place.start + kept.stop)
            lower = lower[kept]
            upper = upper[kept]
            turns = turns[kept]
        lower[turns], upper[turns] = _one_turn(lower[turns], upper[turns])
        if not np.isfinite([*lower, *upper]).all():
            raise ModelError(
                f"joint {joint.name!r} of {tree.name} is {joint.motion.word} and has no end: its reach is infinite. "
                f"Give limits={{{joint.name!r}: (lower, upper)}}"
                + (", or the frame that it carries as relative_to" if joint.motion.nv > 1 else ""))
        if not (lower <= upper).all():
            raise ModelError(f"the limits of joint {joint.name!r} are crossed: lower {lower}, upper {upper}")
        low[place] = lower
        high[place] = upper
    return low, high


def random_configurations(tree: Tree, joints: Sequence[int], count: int, seed: int,
                          limits: JointLimits | None = None) -> Array:
    """Configurations (count, nq); joints not named are at rest."""
    drawn = leaders(tree, joints)
    low, high = ranges(tree, drawn, limits)
    rng = np.random.default_rng(seed)
    q = low + (high - low) * rng.random((count, tree.nq))
    for joint, place in quaternion_places(tree):
        if tree.joint_number(joint.name) in drawn:
            turn = rng.normal(size=(count, 4))
            q[:, place] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    return with_mimic_joints(tree, q)


def leaders(tree: Tree, joints: Sequence[int]) -> list[int]:
    """The joints that follow none and on which the given ones depend."""
    return sorted({tree.mimic_joints[number].leader if number in tree.mimic_joints else number for number in joints})


def coordinates_of(tree: Tree, joints: Sequence[int]) -> Array:
    """The places (k) in q of the coordinates of joints, without those of quaternions."""
    turned = [k for _, place in quaternion_places(tree) for k in range(place.start, place.stop)]
    return np.setdiff1d(np.concatenate([np.r_[tree.q_slices[k]] for k in joints]).astype(int), turned)


def free_directions(tree: Tree, joints: Sequence[int], limits: JointLimits | None) -> Array:
    """The velocities (nv, k) with which the joints move within their limits, those that follow others with them."""
    drawn = leaders(tree, joints)
    low, high = ranges(tree, drawn, limits)
    columns = []
    for number in drawn:
        q = tree.q_slices[number]
        v = tree.v_slices[number]
        # by a quaternion: never held
        attitude = tree.joints[number].motion.attitude
        held = np.zeros(v.stop - v.start, dtype=bool)
        if attitude is None:
            held[:] = low[q] == high[q]
        elif attitude.position is not None:
            held[attitude.position] = (low[q] == high[q])[attitude.position]
        columns += [_followed_unit(tree, number, v.start + k) for k, fast in enumerate(held) if not fast]
    return np.stack(columns, axis=1) if columns else np.zeros((tree.nv, 0))


def _followed_unit(tree: Tree, leader: int, place: int) -> Array:
    """The velocity (nv) whose entry at a place of the leader is one, with what follows it."""
    unit = np.zeros(tree.nv)
    unit[place] = 1.0
    for number, follower in tree.mimic_joints.items():
        if follower.leader == leader:
            unit[tree.v_slices[number]] = follower.multiplier
    return unit


def _one_turn(lower: Array, upper: Array) -> tuple[Array, Array]:
    """Finite ranges of angles."""
    free = np.isinf(lower) & np.isinf(upper)
    low = np.where(free, -np.pi, np.where(np.isinf(lower), upper - 2 * np.pi, lower))
    return low, np.where(free, np.pi, np.where(np.isinf(upper), low + 2 * np.pi, upper))


_STATIONS = 8  # on the way to a place
_ROUNDS = 5
_PIECE = 1000  # targets between two looks at the clock
_FEW = 0.05  # of those that are tried: then no more rounds
_TRIALS = 64
_SEARCHES = 60
_SMALLEST = 1e-8  # of the ranges: smaller trials are not made


@dataclass(frozen=True, eq=False)
class Branch:
    """The branch of a closed configuration (nq), with the joints that drive it and their ranges (k)."""

    tree: Tree
    start: Array
    inputs: tuple[str, ...]
    places: Array
    low: Array
    high: Array

    @staticmethod
    def of(tree: Tree, start: ArrayLike | None, limits: JointLimits | None) -> Branch:
        """The branch of a start, or of the closed configuration near rest; with other limits if they are given."""
        bounded = limited(tree, limits)
        guess = resting(bounded) if start is None else np.asarray(start, dtype=float)
        if guess.shape != (tree.nq,):
            raise ConventionError(f"a workspace starts at one configuration ({tree.nq}), not {guess.shape}")
        begun = close(bounded, guess, limits=True)
        if begun.status == "open" or not is_within_limits(bounded, begun.configuration):
            raise UnreachableError(
                f"no closed configuration of {tree.name} within its limits was found to start from: give one as start")
        inputs = drives(bounded)
        numbers = [bounded.joint_number(name) for name in inputs]
        low, high = ranges(bounded, numbers, None)
        places = np.array([bounded.q_slices[number].start for number in numbers])
        return Branch(bounded, begun.configuration, inputs, places, low[places], high[places])

    def sample(self, count: int, seed: int) -> Array:
        """Up to n configurations (n, nq) with actuated joints uniformly distributed over their ranges."""
        targets = self.low + (self.high - self.low) * np.random.default_rng(seed).random((count, len(self.places)))
        starts = np.broadcast_to(self.start, (count, self.tree.nq))
        found = [self.start[None]]
        with PatientBar(f"workspace of {self.tree.name}", count) as bar:
            for _ in range(_ROUNDS):
                reached, q = self._led_in_pieces(starts, targets, bar)
                found.append(q[reached])
                targets = targets[~reached]
                if reached.mean() < _FEW or not len(targets):
                    break
                known = np.concatenate(found)
                starts = known[cKDTree(known[:, self.places]).query(targets)[1]]
        return np.concatenate(found)

    def _led_in_pieces(self, starts: Array, targets: Array, bar: PatientBar) -> tuple[Array, Array]:
        """The configurations of `led`, with a bar of those that are tried."""
        parts = []
        for first in range(0, len(targets), _PIECE):
            piece = slice(first, first + _PIECE)
            parts.append(self.led(starts[piece], targets[piece]))
            bar.reached(min(len(targets), first + _PIECE))
        reached, q = zip(*parts, strict=True)
        return np.concatenate(reached), np.concatenate(q)

    def led(self, starts: Array, targets: Array) -> tuple[Array, Array]:
        """Truth values (n) of the targets (n, k) of the actuated joints that are reached from starts (nq) or (n, nq) on
        a straight way, and the configurations there (n, nq)."""
        begun = np.broadcast_to(starts, (len(targets), self.tree.nq))
        ways = np.linspace(begun[:, self.places], targets, _STATIONS + 1, axis=1)[:, 1:]
        path = follow_inputs(self.tree, {name: ways[..., k] for k, name in enumerate(self.inputs)}, begun, limits=True)
        return np.asarray(path.status) == "followed", path.configuration[:, -1]

    def extreme(self, place: Kernel, center: Array, q: Array, sign: float) -> float:
        """The least distance of a frame from a point (sign 1) or the largest (-1), by trials around the best."""
        distances = sign * np.linalg.norm(place(q) - center, axis=-1)
        best = q[np.argmin(distances)]
        least = float(distances.min())
        size = 0.1 * (self.high - self.low)
        random = np.random.default_rng(0)
        for _ in range(_SEARCHES):
            if (size <= _SMALLEST * (self.high - self.low)).all():
                break
            steps = size * random.normal(size=(_TRIALS, len(self.places)))
            reached, trials = self.led(best, np.clip(best[self.places] + steps, self.low, self.high))
            values = np.where(reached, sign * np.linalg.norm(place(trials) - center, axis=-1), np.inf)
            if values.min() < least:
                least = float(values.min())
                best = trials[np.argmin(values)]
            else:
                size = size / 2
        return sign * least


def limited(tree: Tree, limits: JointLimits | None) -> Tree:
    """The mechanism with other limits of some joints."""
    joints = []
    for name, (lower, upper) in (limits or {}).items():
        joint = tree.joints[tree.joint_number(name)]
        ends = {"lower": (float(lower),) * joint.motion.nq, "upper": (float(upper),) * joint.motion.nq}
        joints.append(replace(joint, limits=replace(joint.limits, **ends)))
    return tree.with_joints(*joints) if joints else tree


def drives(tree: Tree) -> tuple[str, ...]:
    """Actuated joints of one coordinate, as many as there are degrees of freedom, the first that are independent."""
    found = actuation(tree)
    if found.kind == "under-actuated":
        raise UnsupportedError(
            f"the configurations of {tree.name} do not follow from its actuated joints: it is {found}. "
            "`with_actuated(...)` names others")
    if not found.mobility:
        raise UnsupportedError(f"the constraints of {tree.name} leave it no motion: there is no workspace")
    generic = generic_configurations(tree)[0]
    N = null_basis(constraint_structure(tree).scaled(generic.A), generic.rank)
    chosen: list[int] = []
    for name in found.joints:
        number = tree.joint_number(name)
        if tree.joints[number].motion.nq != 1:
            raise UnsupportedError(
                f"the actuated joint {name!r} of {tree.name} is {tree.joints[number].motion.word}: a workspace is over "
                "actuated joints of one coordinate each")
        rows = [tree.v_slices[k].start for k in (*chosen, number)]
        if rank_of(N[rows]) == len(rows) and len(chosen) < found.mobility:
            chosen.append(number)
    return tuple(tree.joints[number].name for number in chosen)
