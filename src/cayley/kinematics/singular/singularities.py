"""Singular configurations: whether, what is lost, which joints move in vain, and whether the workspace ends there.

A configuration is singular for a task if its Jacobian has less than full rank. The left null vectors are velocities
that cannot be produced, the null vectors motions of the joints that the task does not feel. Its class is found by
trying: from the pose x a small way along each lost direction u, to x + e u and to x - e u. If one of them has no
inverse solution in ANY posture, the configuration is at a boundary of the workspace; otherwise it is interior, since
one posture folds where another goes on. Source: Ruggiu 2.3.4, Fig. 2.9; spec S2-39, A-08."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.geometry.rotations.rotation_vector import matrix_from_rotation_vector
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.inverse.goal import Task
from cayley.kinematics.inverse.numeric import inverse_kinematics
from cayley.kinematics.jacobians.general_jacobian import general_jacobian
from cayley.kinematics.jacobians.velocity import axes_in_root
from cayley.kinematics.singular.indices import velocity_units
from cayley.kinematics.subspaces import Subspaces, rank_tolerance, subspaces
from cayley.model.constraints import check_independent
from cayley.model.tree import Tree

Class = Literal["regular", "boundary", "interior"]


@dataclass(frozen=True, eq=False, repr=False)
class Singularity:
    """The singularity of one configuration: rank, lost velocities, self-motions and class."""

    singular: bool
    rank: int
    determinant: float | None  # of a square Jacobian
    smallest_singular_value: float
    lost: Array  # velocities of the task that cannot be produced, as columns (m, m - rank)
    self_motions: Array  # joint velocities that the task does not feel, as columns (nv, n - rank)
    kind: Class | None  # None where it was not asked for
    decomposition: Subspaces

    def __repr__(self) -> str:
        if not self.singular:
            return (f"<regular configuration: rank {self.rank}, smallest singular value "
                    f"{self.smallest_singular_value:.4g}>")
        lost = "; ".join(
            np.array2string(direction + 0.0, precision=4, suppress_small=True) for direction in self.lost.T)
        kind = f"{self.kind} " if self.kind else ""
        return (f"<{kind}singularity: rank {self.rank} of {self.rank + self.lost.shape[1]}, lost velocities "
                f"{lost or 'none'}>")


def singularity(J: ArrayLike, *, tolerance: float | None = None) -> Singularity:
    """The rank test of one Jacobian (m, n); for batches, and for m and n that differ, see also `subspaces`.

    >>> found = singularity([[-1.5, -0.5], [0.0, 0.0]])
    >>> found.singular, found.determinant, np.abs(found.lost[:, 0])
    (True, 0.0, array([0., 1.]))
    """
    return _report(np.asarray(J, dtype=np.float64), subspaces(J, tolerance=tolerance), None)


def singularity_at(tree: Tree, q: ArrayLike, frame: str, *, task: str | Sequence[bool], axes: str,
                   tolerance: float | None = None, step: float = 1e-3, limits: bool = True,
                   reachable: Callable[[Array], bool] | None = None) -> Singularity:
    """The singularity of one configuration (nq) for a task of a frame, with its class.

    task        "pose", "position", "orientation", or six truth values for (x, y, z; x, y, z), linear first, along the
                axes
    step        how far to try along a lost direction [m, rad]
    reachable   whether any posture solves the task for a pose (4, 4) of the frame; by default a numeric search from
                many starts, within
                the joint limits unless `limits` is False. A search cannot prove that there is no solution: an analytic
                one can"""
    check_independent(tree, "`singularity` (`actuation_singularity` is for mechanisms with constraints)", frame)
    tolerance = rank_tolerance(tolerance, tree.nv, q)
    q = np.asarray(q, dtype=np.float64)
    chosen = [k for k, asked in enumerate(Task.of(tree, task, axes).rows) if asked]
    way = list(velocity_units(tree, frame))
    J = np.asarray(general_jacobian(tree, q, frame, axes=axes), dtype=np.float64)[chosen][:, way]
    parts = subspaces(J, tolerance=tolerance)
    found = _report(J, parts, "regular", np.eye(tree.nv)[:, way])
    if not found.singular:
        return found
    asked = reachable or (
        lambda pose: bool(inverse_kinematics(tree, pose, frame, task=task, axes=axes, limits=limits, start=q).solved))
    pose = frame_pose(tree, q, frame)
    turn = axes_in_root(tree, q, axes, pose)
    ends = not all(
        asked(_displaced(pose.matrix, turn, _twist(chosen, side * step * u))) for u in found.lost.T for side in (1, -1))
    return _report(J, parts, "boundary" if ends else "interior", np.eye(tree.nv)[:, way])


def _report(J: Array, parts: Subspaces, kind: Class | None, places: Array | None = None) -> Singularity:
    square = J.shape[-2] == J.shape[-1]
    places = np.eye(J.shape[-1]) if places is None else places
    smallest = float(parts.smallest) if min(J.shape) else 0.0
    return Singularity(bool(parts.singular), int(parts.rank),
                       float(np.linalg.det(J)) if square else None, smallest, parts.lost, places @ parts.null_space,
                       kind, parts)


def _twist(chosen: Sequence[int], values: Array) -> Array:
    twist = np.zeros(6)
    twist[list(chosen)] = values
    return twist


def _displaced(pose: Array, turn: Array, twist: Array) -> Array:
    """A pose moved by a small displacement (linear; angular) that is written in other axes."""
    moved = np.array(pose)
    moved[:3, :3] = matrix_from_rotation_vector(turn @ twist[3:]) @ pose[:3, :3]
    moved[:3, 3] = pose[:3, 3] + turn @ twist[:3]
    return moved
