"""What the constraints of a mechanism say of its motion: loops, rods, couplings and mimic joints.

    phi(q)          the residual (h), zero while all constraints are kept
    A(q)            the constraint Jacobian (h, nv): the rate of phi is A qd
    drift(q, qd)    the rate of A, times qd (h): A qdd + drift = 0 keeps the rates zero
Each constraint sees its two frames from the body from which both hang: only the joints of the loop take part, however
the mechanism as a whole moves. Rows are in the order of `constraints_of(tree)`; `row_names` says what each holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.geometry.pose import Pose
from cayley.kinematics.elementary import Step, steps_of, ways_between
from cayley.kinematics.frame_kernels import sized_kernel
from cayley.kinematics.mechanism_kernel import MechanismKernel, of_a_mechanism
from cayley.kinematics.velocity import Moving, moving
from cayley.model.constraint_kinds import Constraint
from cayley.model.constraints import constraints_of
from cayley.model.joint_kinds import FrameMotion, Row
from cayley.model.tree import Tree

_REST = np.zeros(3)


class RowName(NamedTuple):
    """A row: the constraint that it belongs to, and what of it the row holds."""

    constraint: str
    holds: str

    def __str__(self) -> str:
        return f"{self.constraint}: {self.holds}"


def row_names(tree: Tree) -> tuple[RowName, ...]:
    """The rows of all constraints, in their order.

    >>> from cayley.model.catalogue import load_robot
    >>> [str(row) for row in row_names(load_robot("panda_hand"))]
    ['mimic panda_finger_joint2: coordinates']
    """
    return tuple(RowName(each.name, holds) for each in constraints_of(tree) for holds in each.row_names)


def residual(tree: Tree, q: Array) -> Array:
    """phi (h)."""
    found = [residual_of(tree, each, q) for each in constraints_of(tree)]
    return np.concatenate(found) if found else np.zeros(0)


def drift(tree: Tree, q: Array, qd: Array) -> Array:
    """The rate of A, times qd (h)."""
    return _stacked([row.second for each in constraints_of(tree) for row in _rows(tree, each, q, qd)])


def jacobian(tree: Tree, q: Array) -> Array:
    """A (h, nv)."""
    found = [jacobian_of(tree, each, q) for each in constraints_of(tree)]
    return np.concatenate(found) if found else np.zeros((0, tree.nv))


@of_a_mechanism
def residual_kernel(tree: Tree) -> MechanismKernel:
    """`constraint_residual(q)` (..., h)."""
    return sized_kernel(tree, f"(q)->({len(row_names(tree))})", lambda q: residual(tree, q), "constraint_residual",
                        sentence="By how much the constraints are open.", unit="m or rad")


@of_a_mechanism
def jacobian_kernel(tree: Tree) -> MechanismKernel:
    """`constraint_jacobian(q)` (..., h, nv)."""
    return sized_kernel(tree, f"(q)->({len(row_names(tree))},v)", lambda q: jacobian(tree, q), "constraint_jacobian",
                        sentence="The constraint Jacobian A: A qd is the rate of the residual.")


@of_a_mechanism
def drift_kernel(tree: Tree) -> MechanismKernel:
    """`constraint_drift(q, qd)` (..., h)."""
    return sized_kernel(tree, f"(q),(v)->({len(row_names(tree))})", lambda q, qd: drift(tree, q, qd),
                        "constraint_drift", sentence="The rate of the constraint Jacobian, times qd.",
                        unit="m/s^2 or rad/s^2")


def residual_of(tree: Tree, constraint: Constraint, q: Array) -> Array:
    """The residual of one constraint (rows)."""
    return _stacked([row.value for row in _rows(tree, constraint, q, np.zeros(tree.nv))])


def _rows(tree: Tree, constraint: Constraint, q: Array, qd: Array) -> list[Row]:
    """The rows of one constraint, their second rates those without accelerations."""
    ends = [_end(steps, qd) for steps in _ways(tree, constraint, q)]
    places = [(tree.q_slices[k].start, tree.v_slices[k].start) for k in _named(tree, constraint)]
    return constraint.rows(ends, [Row(q[a], qd[b], 0.0) for a, b in places])


def jacobian_of(tree: Tree, constraint: Constraint, q: Array) -> Array:
    """The Jacobian of one constraint (rows, nv): the rates of its rows by unit velocities. Only the joints that take
    part are looked at.
    """
    columns: dict[int, list[Any]] = {}
    ways = _ways(tree, constraint, q)
    motions = [moving(steps, np.zeros(tree.nv), np.zeros(tree.nv)) for steps in ways]
    at_rest = [_seen(end[-1].pose) for end in motions]
    for side, (steps, found) in enumerate(zip(ways, motions, strict=True)):
        for place, end in _columns(steps, found):
            ends = [end if k == side else other for k, other in enumerate(at_rest)]
            columns[place] = [row.rate for row in constraint.rows(ends, [])]
    named = [tree.v_slices[k].start for k in _named(tree, constraint)]
    for place in named:
        unit = [Row(0.0, float(place == other), 0.0) for other in named]
        columns[place] = [row.rate for row in constraint.rows(at_rest, unit)]
    still = [0.0] * len(constraint.row_names)
    return np.stack([_stacked(columns.get(k, still)) for k in range(tree.nv)], axis=1)


def _named(tree: Tree, constraint: Constraint) -> list[int]:
    return [tree.joint_number(name) for name in constraint.coordinates]


def _ways(tree: Tree, constraint: Constraint, q: Array) -> list[list[Step]]:
    """The elementary motions to the frames of a constraint, from the body from which both hang."""
    return [steps_of(*way, q) for way in ways_between(tree, *constraint.frames)] if constraint.frames else []


def _end(steps: list[Step], qd: Array) -> FrameMotion:
    end = moving(steps, qd, np.zeros(len(qd)))[-1]
    return FrameMotion(end.pose.R, end.pose.p, end.u, end.w, end.du, end.dw)


def _seen(pose: Pose) -> FrameMotion:
    return FrameMotion(pose.R, pose.p, _REST, _REST, _REST, _REST)


def _columns(steps: list[Step], motions: list[Moving]) -> Iterator[tuple[int, FrameMotion]]:
    """The motion of the last frame by unit velocities, with their places."""
    end = motions[-1].pose
    for step, moved in zip(steps, motions, strict=True):
        R, p = moved.pose
        for k, place in enumerate(range(step.columns.start, step.columns.stop)):
            turn = R @ step.subspace[3:, k]
            yield place, _seen(end)._replace(u=R @ step.subspace[:3, k] + np.cross(turn, end.p - p), w=turn)


def _stacked(entries: list[Any]) -> Array:
    return np.stack(entries) if entries else np.zeros(0)
