"""Closed configurations of a mechanism with loops, within the limits, on the branch of one of them: its actuated joints
go to random places, and the others follow.

A place that the straight way of the actuated joints does not reach, because the branch ends on it, is tried again from
the nearest places that were reached, a few times: pieces behind narrow passages may be missed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.drawing.sampling import JointLimits, ranges
from cayley.drawing.skeleton import resting
from cayley.errors import ConventionError, UnreachableError, UnsupportedError
from cayley.kinematics.constraints.actuation import actuation
from cayley.kinematics.constraints.structure import generic_configurations
from cayley.kinematics.loops.closing import close, is_within_limits
from cayley.kinematics.loops.following_inputs import follow_inputs
from cayley.model.tree import Tree

_STATIONS = 8  # on the way to a place
_ROUNDS = 5
_FEW = 0.05  # of those that are tried: then no more rounds
_TRIALS = 64
_SEARCHES = 60
_SMALLEST = 1e-8  # of the ranges: smaller trials are not made
_DEPENDENT = 1e-8


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
        limited = _limited(tree, limits)
        guess = resting(limited) if start is None else np.asarray(start, dtype=float)
        if guess.shape != (tree.nq,):
            raise ConventionError(f"a workspace starts at one configuration ({tree.nq}), not {guess.shape}")
        begun = close(limited, guess, limits=True)
        if begun.status == "open" or not is_within_limits(limited, begun.configuration):
            raise UnreachableError(
                f"no closed configuration of {tree.name} within its limits was found to start from: give one as start")
        inputs = drives(limited)
        numbers = [limited.joint_number(name) for name in inputs]
        low, high = ranges(limited, numbers, None)
        places = np.array([limited.q_slices[number].start for number in numbers])
        return Branch(limited, begun.configuration, inputs, places, low[places], high[places])

    def sample(self, count: int, seed: int) -> Array:
        """Configurations (n, nq), at most so many, whose actuated joints are anywhere in their ranges, alike."""
        targets = self.low + (self.high - self.low) * np.random.default_rng(seed).random((count, len(self.places)))
        starts = self.start
        found = [self.start[None]]
        for _ in range(_ROUNDS):
            reached, q = self.led(starts, targets)
            found.append(q[reached])
            targets = targets[~reached]
            if reached.mean() < _FEW or not len(targets):
                break
            known = np.concatenate(found)
            starts = known[cKDTree(known[:, self.places]).query(targets)[1]]
        return np.concatenate(found)

    def led(self, starts: Array, targets: Array) -> tuple[Array, Array]:
        """Which of the targets (n, k) of the actuated joints are reached from starts (nq) or (n, nq) on a straight way,
        and the configurations there (n, nq)."""
        begun = np.broadcast_to(starts, (len(targets), self.tree.nq))
        ways = np.linspace(begun[:, self.places], targets, _STATIONS + 1, axis=1)[:, 1:]
        path = follow_inputs(self.tree, {name: ways[..., k] for k, name in enumerate(self.inputs)}, begun, limits=True)
        return np.asarray(path.status) == "followed", path.configuration[:, -1]

    def extreme(self, place: Kernel, center: Array, q: Array, sign: float) -> float:
        """The least distance of a frame from a point (sign 1) or the largest (-1), by trials around the best of some
        configurations."""
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


def _limited(tree: Tree, limits: JointLimits | None) -> Tree:
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
    A = generic_configurations(tree)[0].A
    N = np.linalg.svd(A)[2][tree.nv - found.mobility:].T
    chosen: list[int] = []
    for name in found.joints:
        number = tree.joint_number(name)
        if tree.joints[number].motion.nq != 1:
            raise UnsupportedError(
                f"the actuated joint {name!r} of {tree.name} is {tree.joints[number].motion.word}: a workspace is over "
                "actuated joints of one coordinate each")
        rows = [tree.v_slices[k].start for k in (*chosen, number)]
        if np.linalg.svd(N[rows], compute_uv=False)[-1] > _DEPENDENT and len(chosen) < found.mobility:
            chosen.append(number)
    return tuple(tree.joints[number].name for number in chosen)
