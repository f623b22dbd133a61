"""Poses to pass, solved one by one on one posture, and one polynomial a joint through them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, FrameName
from cayley.errors import SignatureError, UnreachableError, UnsupportedError
from cayley.kinematics.inverse.bounds import bounds_of
from cayley.kinematics.inverse.numeric import inverse_kinematics
from cayley.model.tree import Tree
from cayley.planning.driven import coordinates, driven, driving_tree
from cayley.planning.motion import Motion
from cayley.planning.splines.conditions import At, polynomial_through
from cayley.planning.splines.pieces import checked_breaks

if TYPE_CHECKING:
    from typing import Protocol

    class WithTree(Protocol):
        """A `Mechanism`."""

        tree: Tree

_TURN = 2.0 * np.pi


def motion_through_poses(mechanism: WithTree | Tree, poses: ArrayLike, frame: FrameName, times: ArrayLike, *,
                         start: ArrayLike | None = None, tolerance: float = 1e-12) -> Motion:
    """The motion that brings a frame of a mechanism to poses (k, 4, 4) in the root's frame at times (k) [s], at rest at
    both ends: one polynomial of degree k + 3 for each joint, which for four poses is the seventh; of a machine with
    loops, for each actuated joint, and the others follow.

    Each pose is solved from the configuration of the one before it, the first from `start` (nq), so that the arm keeps
    its posture; turns go the shorter way where limits allow it. Between the poses the frame is where the joints bring
    it.

    >>> import cayley as cy
    >>> arm = cy.load("ur5")
    >>> q = [[0.1, -1.2, 1.0, 0.2, 0.7, 0.0], [0.2, -1.1, 1.0, 0.1, 0.7, 0.1], [0.3, -1.2, 1.1, 0.2, 0.8, 0.0]]
    >>> move = motion_through_poses(arm, arm.pose(q, "tool"), "tool", [0.0, 0.4, 1.0], start=q[0])
    >>> bool(abs(arm.pose(move(0.4).q, "tool") - arm.pose(q[1], "tool")).max() < 1e-12)
    True
    """
    tree = mechanism if isinstance(mechanism, Tree) else mechanism.tree
    if tree.nq != tree.nv and not tree.is_constrained:
        raise UnsupportedError(f"{tree.name} has joints with quaternions, which are no polynomials: plan their "
                               "rotations with `rotation_spline`")
    goals = np.asarray(poses, dtype=float)
    instants = np.asarray(times, dtype=float)
    if goals.ndim != 3 or goals.shape[1:] != (4, 4) or instants.shape != goals.shape[:1] or len(goals) < 2:
        raise SignatureError(f"two poses or more (k, 4, 4) have as many times (k); given were the shapes {goals.shape} "
                             f"and {instants.shape}")
    q = _configurations(tree, goals, frame, start, tolerance)
    at_rest = (0, len(goals) - 1)
    checked_breaks(instants)
    places = list(coordinates(driving_tree(tree))) if tree.is_constrained else list(range(tree.nq))
    found = polynomial_through([At(t, row, 0.0, 0.0) if k in at_rest else At(t, row)
                                for k, (t, row) in enumerate(zip(instants, q[:, places], strict=True))])
    return driven(tree, found, q[0]) if tree.is_constrained else found


def _configurations(tree: Tree, poses: Array, frame: FrameName, start: ArrayLike | None, tolerance: float) -> Array:
    """The configurations (k, nq) for the poses, each found from the one before it, by whole turns next to it."""
    bounds = bounds_of(tree, frame, limits=True)
    found: list[Array] = []
    for k, pose in enumerate(poses):
        before = found[-1] if found else start
        result = inverse_kinematics(tree, pose, frame, start=before, tolerance=tolerance)
        if not result.solved:
            raise UnreachableError(f"pose {k} is not reached by {frame!r} of {tree.name}: {result.reason}, "
                                   f"{result.residual:.2g} away; move it, or begin at another configuration")
        q = result.q
        if found:
            nearer = np.where(bounds.turns, q - _TURN * np.round((q - found[-1]) / _TURN), q)
            q = np.where((nearer >= bounds.lower) & (nearer <= bounds.upper), nearer, q)
        found.append(q)
    return np.array(found)
