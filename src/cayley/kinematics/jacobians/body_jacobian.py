"""Jacobians of a frame in its own axes at a point of its own: built from the frame inwards, without a pose in the
root's frame.

Column i is the twist that joint i gives to the frame, in the frame's axes. The frame moves relative to joint i's child
with what the joints beyond it give, P_i = sum over j > i of J_j v_j; with the bracket [(a; b), (c; d)] = (b x c + a x
d; b x d) of twists
    J_i' = [J_i, P_i]        J_i'' = [J_i', P_i] + [J_i, P_i']
    dJ_i by joint j: [J_i, J_j] if j lies beyond i, otherwise 0
These are a third to a half cheaper than the same matrices in the root's axes, turned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.geometry.pose import Pose
from cayley.geometry.tensors.cross import hat
from cayley.kinematics.elementary import Step, steps_to
from cayley.model.tree import Tree


class OwnColumns(NamedTuple):
    """The share of an elementary motion in a Jacobian: columns (6, m), and their first place in the velocity."""

    first: int
    matrix: Array


def own_columns(tree: Tree, q: Array, frame: str, point: Array) -> list[OwnColumns]:
    """The columns of the joints on the way, from the frame inwards."""
    return columns_of_steps(steps_to(tree, q, frame), point)


def columns_of_steps(steps: Sequence[Step], point: Array) -> list[OwnColumns]:
    """The same of the steps on a way."""
    # the frame after a step, seen from the frame's axes at the point
    R = np.eye(3)
    p = -point
    found = []
    for step in reversed(steps):
        if step.subspace.size:
            turns = R @ step.subspace[3:]
            found.append(OwnColumns(step.columns.start, np.concatenate([R @ step.subspace[:3] + hat(p) @ turns,
                                                                        turns])))
        R, p = _before(R, p, step.pose)
    return found


def own_jacobian(tree: Tree, q: Array, frame: str, point: Array) -> Array:
    """The Jacobian (6, nv) in the frame's axes at a point (3) of the frame."""
    return _assembled(tree, {c.first: c.matrix for c in own_columns(tree, q, frame, point)})


def own_jacobian_rate(tree: Tree, q: Array, qd: Array, frame: str, point: Array) -> Array:
    """The time derivative of the Jacobian (6, nv) at the velocity `qd`."""
    beyond = np.zeros(6)
    rates = {}
    for first, matrix in own_columns(tree, q, frame, point):
        rates[first] = _brackets(matrix, beyond)
        beyond = beyond + matrix @ qd[first:first + matrix.shape[1]]
    return _assembled(tree, rates)


def own_jacobian_second_rate(tree: Tree, q: Array, qd: Array, qdd: Array, frame: str, point: Array) -> Array:
    """The second time derivative of the Jacobian (6, nv) at the velocity `qd` and the acceleration `qdd`."""
    beyond = np.zeros(6)
    beyond_rate = np.zeros(6)
    found = {}
    for first, matrix in own_columns(tree, q, frame, point):
        own = slice(first, first + matrix.shape[1])
        rate = _brackets(matrix, beyond)
        found[first] = _brackets(rate, beyond) + _brackets(matrix, beyond_rate)
        beyond = beyond + matrix @ qd[own]
        beyond_rate = beyond_rate + rate @ qd[own] + matrix @ qdd[own]
    return _assembled(tree, found)


def own_hessian(tree: Tree, q: Array, frame: str, point: Array) -> Array:
    """The changes of the Jacobian (6, nv, nv) by unit velocities."""
    columns = own_columns(tree, q, frame, point)
    layers = [np.zeros((6, tree.nv)) for _ in range(tree.nv)]
    for k, (first, matrix) in enumerate(columns):
        for place in range(matrix.shape[1]):
            layers[first + place] = _assembled(
                tree, {c.first: _brackets(c.matrix, matrix[:, place])
                       for c in columns[k + 1:]})
    return np.stack(layers, axis=2) if layers else np.zeros((6, 0, 0))


def _before(R: Array, p: Array, pose: Pose) -> tuple[Any, Any]:
    before = R @ pose.R.T
    return before, p - before @ pose.p


def _brackets(matrix: Array, twist: Array) -> Array:
    """[column, twist] for each column."""
    linear = hat(twist[:3])
    angular = hat(twist[3:])
    return -np.concatenate([linear @ matrix[3:] + angular @ matrix[:3], angular @ matrix[3:]])


def _assembled(tree: Tree, parts: dict[int, Any]) -> Array:
    columns = [np.zeros(6)] * tree.nv
    for first, matrix in parts.items():
        columns[first:first + matrix.shape[1]] = list(matrix.T)
    return np.stack(columns, axis=1) if columns else np.zeros((6, 0))
