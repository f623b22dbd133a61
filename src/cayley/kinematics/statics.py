"""Forces at rest: from a wrench (f; m) at a frame to the forces and torques of the joints, and back.

The point of the moment and the axes are named, as for Jacobians. The joint forces with which a mechanism EXERTS a
wrench on its surroundings are J^T (f; m), those with which it RESISTS one that acts on it -J^T (f; m). Source: Yamamoto
(2.1)-(2.7), corrected as in spec E3-11, E3-12."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, FrameName, Scalar
from cayley.errors import SignatureError
from cayley.kinematics.elementary import steps_to
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.jacobians.velocity import axes_in_root, point_in
from cayley.kinematics.subspaces import Subspaces, agreement, rank_tolerance, subspaces
from cayley.model.constraints import check_independent
from cayley.model.tree import Tree
from cayley.showing import brief


def joint_forces_that_exert(tree: Tree, q: Array, wrench: Array, frame: str, *, axes: str,
                            at: Array | FrameName | None = None) -> Array:
    """Joint forces [N] and torques [N m] (nv) with which a mechanism at rest, without gravity, exerts a wrench (6) with
    a frame's body.

    The moment of the wrench is about the frame's origin, or `at` a point: coordinates (3) in the frame, or the name of
    a frame. `axes`: "world" (the root's), "body" (the frame's own), or the name of a frame."""
    check_independent(tree, "statics", frame)
    f, m = _in_own_axes(tree, q, wrench, frame, axes, at)
    forces = list(np.zeros(tree.nv))
    for step in reversed(steps_to(tree, q, frame)):
        forces[step.columns] = step.subspace.T @ np.concatenate([f, m])
        f = step.pose.R @ f
        m = step.pose.R @ m + np.cross(step.pose.p, f)
    return np.stack(forces) if forces else np.zeros(0)


def joint_forces_that_resist(tree: Tree, q: Array, wrench: Array, frame: str, *, axes: str,
                             at: Array | FrameName | None = None) -> Array:
    """Joint forces (nv) that hold a mechanism at rest, without gravity, against a wrench (6) that acts on a frame's
    body."""
    return -joint_forces_that_exert(tree, q, wrench, frame, axes=axes, at=at)


def generalized_forces(tree: Tree, q: Array, tau: Array, wrench: Array, frame: str, *, axes: str,
                       at: Array | FrameName | None = None) -> Array:
    """Q (nv) = tau + J^T F: joint forces, and the wrench F = (f; m) (6) that the surroundings exert ON a frame.

    `axes`: "world" or "body", or the name of a frame; the moment is about the frame's origin, or `at` a point: both as
    for Jacobians. Source: Ruggiu (3.56), (3.57).

    >>> from cayley.model.catalogue import load_robot
    >>> weight = np.array([0.0, -10.0, 0.0, 0.0, 0.0, 0.0])
    >>> generalized_forces(load_robot("planar2r"), np.zeros(2), np.zeros(2), weight, "tool", axes="world")
    array([-9., -4.])
    """
    return tau + joint_forces_that_exert(tree, q, wrench, frame, axes=axes, at=at)


def moved_wrench(tree: Tree, q: Array, wrench: Array, frame: str, *, axes: str, at: Array | FrameName | None = None,
                 to_axes: str, to: str) -> Array:
    """The same load (6), with its moment about the origin of the frame `to` ("world": the root's), in other axes.

    Its old point and axes are given as in `joint_forces_that_exert`, and `to_axes` likewise, with "body" for the
    frame's own. Yamamoto (2.5), (2.6)."""
    f, m = _in_own_axes(tree, q, wrench, frame, axes, at)
    m = m - np.cross(point_in(tree, q, frame, to), f)
    own = frame_pose(tree, q, frame)
    turn = np.eye(3) if to_axes == "body" else axes_in_root(tree, q, to_axes, own).T @ own.R
    return np.concatenate([turn @ f, turn @ m])


@dataclass(frozen=True, eq=False)
class WrenchSolutions:
    """The wrenches (..., m) that joint forces exert, and what joint forces cannot tell about them."""

    wrench: Array
    residual: Scalar  # |J^T wrench - forces| (...): forces that no wrench balances
    balanced: Array  # whether there is none of that (...)
    unique: Array  # whether no other wrench has the same joint forces (...)
    decomposition: Subspaces  # of J

    __repr__ = brief

    @property
    def carried(self) -> Array:
        """A basis of the wrenches that need no joint forces: the structure carries them.

        Columns (m, m - rank), of one Jacobian."""
        return self.decomposition.lost


def wrench_from_joint_forces(J: ArrayLike, forces: ArrayLike, *, tolerance: float | None = None) -> WrenchSolutions:
    """The wrench (..., m) that joint forces (..., n) exert at rest: J^-T forces for a square regular Jacobian (..., m,
    n).

    Elsewhere the shortest wrench that comes nearest: at a singularity some wrenches need no joint forces, so they
    cannot be told from them, and with more joints than rows some joint forces are balanced by no wrench. Axes and point
    of the wrench are those of J.

    >>> wrench_from_joint_forces([[0.0, 2.0], [1.0, 0.0]], [3.0, 4.0]).wrench
    array([2., 3.])
    """
    met = agreement(tolerance, J, forces)
    tolerance = rank_tolerance(tolerance, np.shape(J)[-1], J, forces)
    J = np.asarray(J, dtype=np.float64)
    forces = np.asarray(forces, dtype=np.float64)
    if forces.shape[-1:] != J.shape[-1:]:
        raise SignatureError(f"a Jacobian of shape {J.shape} needs {J.shape[-1]} joint forces, not {forces.shape}")
    parts = subspaces(J, tolerance=tolerance)
    wrench = (np.swapaxes(parts.pseudo_inverse, -2, -1) @ forces[..., None])[..., 0]
    residual = np.linalg.norm((np.swapaxes(J, -2, -1) @ wrench[..., None])[..., 0] - forces, axis=-1)
    balanced = residual <= met * np.linalg.norm(forces, axis=-1)
    return WrenchSolutions(wrench, residual, balanced,
                           np.broadcast_to(parts.rank == J.shape[-2], np.shape(residual))[()], parts)


def _in_own_axes(tree: Tree, q: Array, wrench: Array, frame: str, axes: str,
                 at: Array | FrameName | None) -> tuple[Any, Any]:
    """Force, and moment about the frame's origin, in the frame's axes."""
    f = wrench[:3]
    m = wrench[3:]
    if axes != "body":
        own = frame_pose(tree, q, frame)
        turn = own.R.T @ axes_in_root(tree, q, axes, own)
        f = turn @ f
        m = turn @ m
    return f, m + np.cross(point_in(tree, q, frame, at), f)
