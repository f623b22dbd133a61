"""Forces of constraints as wrenches on bodies, at the frames that loops, rods and the like join.

The rate of a row is linear in the velocities u, w of its two frames. A force of the row does the power force * rate, so
it acts on each frame with the force d rate / du and the moment d rate / dw, at its origin.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.geometry.pose import HERE
from cayley.kinematics.constraints.rows import coordinates_at_rest
from cayley.kinematics.elementary import steps_of, ways_between
from cayley.model.constraint_kinds import Constraint
from cayley.model.constraints import constraints_of
from cayley.model.joint_kinds import FrameMotion
from cayley.model.tree import Tree

_REST = np.zeros(3)


def joining(tree: Tree) -> list[tuple[Constraint, slice]]:
    """The constraints that join two frames, with the places of their rows."""
    found = []
    first = 0
    for each in constraints_of(tree):
        rows = slice(first, first + len(each.row_names))
        first = rows.stop
        if each.frames:
            found.append((each, rows))
    return found


def wrenches_of(tree: Tree, constraint: Constraint, q: Array, forces: Array, *t: Scalar) -> list[Array]:
    """For each of its two frames the wrench (6), (f; m), on its body at the frame's origin and in the frame's axes, by
    the `forces` of its rows; at the time `t` if it depends on it.

    >>> from cayley.model.catalogue import load_robot
    >>> engine = load_robot("slider_crank")
    >>> pin = engine.loops[0]
    >>> _, on_slider = wrenches_of(engine, pin, np.zeros(3), np.array([1.0, 2.0, 0.0, 0.0, 0.0]))
    >>> on_slider.round(12) + 0.0
    array([1., 2., 0., 0., 0., 0.])
    """
    poses = []
    for way in ways_between(tree, *constraint.frames):
        pose = HERE
        for step in steps_of(*way, q):
            pose = pose.then(step.pose)
        poses.append(pose)
    at_rest = [FrameMotion(pose.R, pose.p, _REST, _REST, _REST, _REST) for pose in poses]
    still = coordinates_at_rest(tree, constraint, q, *t)
    found = []
    for side, own in enumerate(at_rest):
        moved = [own._replace(u=unit[:3], w=unit[3:]) for unit in np.eye(6)]
        ends = [[motion if k == side else other for k, other in enumerate(at_rest)] for motion in moved]
        felt = np.array([sum(force * row.rate for force, row in zip(forces, constraint.rows(end, still), strict=True))
                         for end in ends])
        R = own.R
        found.append(np.concatenate([R.T @ felt[:3], R.T @ felt[3:]]))
    return found
