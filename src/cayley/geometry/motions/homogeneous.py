"""Poses as 4x4 homogeneous matrices: made, checked, applied to points, vectors and planes, composed, inverted, split.

T_ab = [[R, p], [0, 1]] turns homogeneous coordinates in frame b into those in frame a: a point (x, y, z, 1), or any
multiple of it, to R x + p; a vector (x, y, z, 0), a point at infinity, to R x. A pose is an affine map, not an
orthogonal one: its inverse is [[R^T, -R^T p], [0, 1]], not its transpose. A plane (n; d) is the set n.x + d = 0.
Sources: Balafoutis & Patel (2.2.1)-(2.2.11); Ruggiu (1.53)-(1.59); Yamamoto (1.11)-(1.16).

A frame is moved step by step: a move about fixed axes multiplies on the left, one about moving axes on the right. The
start may be displaced from the fixed frame: then a rotation about a fixed axis also carries the origin of the frame
around. Source: Ruggiu 1.5.1, (1.60), spec 3.3.

>>> pose_from_quaternion([0.0, 0.0, 0.0, 1.0], [1.0, 2.0, 3.0])[1]
array([ 0., -1.,  0.,  2.])
>>> relative_pose(translation_pose([1.0, 2.0, 3.0]), translation_pose([1.0, 5.0, 3.0]))[:3, 3]
array([0., 3., 0.])

>>> float(pose_defect(np.diag([1.0, 1.0, -1.0, 1.0])))   # a reflection
2.0
>>> pose_from_homogeneous([0.0, 0.0, 0.0, 7.0], [1.0, 2.0, 3.0])[1]
array([ 0., -1.,  0.,  2.])
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ConventionError, GeometryError
from cayley.geometry.batch import first_failure, place, refuse, shaped, tolerance_of
from cayley.geometry.formula import formula
from cayley.geometry.pose import Pose
from cayley.geometry.rotations.axis_angle import check_unit_axis, matrix_from_axis_angle
from cayley.geometry.rotations.homogeneous import matrix_from_homogeneous
from cayley.geometry.rotations.matrix import check_rotation_matrix, rotation_defect
from cayley.geometry.rotations.quaternion import check_nonzero_quaternion, check_unit_quaternion, matrix_from_quaternion
from cayley.geometry.rotations.vector_parameter import check_vector_parameter, matrix_from_vector_parameter

_LAST_ROW = np.array([0.0, 0.0, 0.0, 1.0])


class MotionParts(NamedTuple):
    rotation: Array
    translation: Array


pose_defect = formula(
    "pose_defect", "(4,4)->()", lambda T: np.maximum(rotation_defect(T[:3, :3]), np.max(np.abs(T[3] - _LAST_ROW))),
    "How far a matrix is from a pose: `rotation_defect` of its rotation, or what is wrong in its last row.")


def check_pose(T: ArrayLike, *_: object, tolerance: float | None = None) -> None:
    """Raise `GeometryError` unless every matrix is a pose: last row (0, 0, 0, 1), a rotation, finite numbers.

    Each defect may be 1e-8, for float32 1e-4, or `tolerance`. Reflections are refused. Arguments after the first are
    ignored.

    >>> check_pose(np.diag([1.0, 1.0, -1.0, 1.0]))
    Traceback (most recent call last):
    cayley.errors.GeometryError: matrix is not a rotation: it is a reflection...; defect 2e+00...
    """
    T = shaped(T, (4, 4), "a pose")
    _check_last_row(T, tolerance_of(T, tolerance))
    check_rotation_matrix(T[..., :3, :3], tolerance=tolerance)


def _check_both(T_1: Array, T_2: Array) -> None:
    check_pose(T_1)
    check_pose(T_2)


def _check_last_row(T: Array, allowed: float) -> None:
    bad = first_failure(np.max(np.abs(T[..., 3, :] - _LAST_ROW), axis=-1) <= allowed)
    if bad is not None:
        scaled = abs(T[bad][3, 3]) > allowed and np.max(np.abs(T[bad][3, :3])) <= allowed * abs(T[bad][3, 3])
        advice = ": divide the matrix by its last element" if scaled else ""
        raise GeometryError(
            f"matrix{place(bad)} is not a pose: its last row is {T[bad][3].tolist()}, not (0, 0, 0, 1){advice}")
    refuse(np.all(np.isfinite(T[..., :3, 3]), axis=-1), lambda bad:
           f"matrix{place(bad)} is not a pose: its translation is {T[bad][:3, 3].tolist()}")


# Making


def _pose(R: Array, p: Array) -> Array:
    return Pose(R, p).matrix


@kernel("(3,3),(3)->(4,4)", check=check_rotation_matrix)
def pose_from_matrix(R: Array, p: Array) -> Array:
    """The pose of a rotation matrix and translation [m]. Balafoutis & Patel (2.2.8), Ruggiu (1.55), Yamamoto (1.12).

    >>> pose_from_matrix([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [1.0, 2.0, 3.0])[0]
    array([ 0., -1.,  0.,  1.])
    """
    return _pose(R, p)


pose_from_quaternion = formula(
    "pose_from_quaternion", "(4),(3)->(4,4)", lambda q, p: _pose(matrix_from_quaternion.unchecked(q), p),
    "The pose with the unit quaternion `q` (w, x, y, z) and translation `p` [m].", check_unit_quaternion)


pose_from_homogeneous = formula(
    "pose_from_homogeneous", "(4),(3)->(4,4)", lambda h, p: _pose(matrix_from_homogeneous.unchecked(h), p),
    "The pose of `h` = [w : v] of any norm, half-turns included, and translation `p` [m].", check_nonzero_quaternion)

pose_from_vector_parameter = formula(
    "pose_from_vector_parameter", "(3),(3)->(4,4)", lambda c, p: _pose(matrix_from_vector_parameter(c), p),
    "The pose (c, p) of Mladenova 2.6: rotation by the vector-parameter `c`, translation `p` [m].",
    check_vector_parameter)
translation_pose = formula(
    "translation_pose", "(3)->(4,4)", lambda p: _pose(np.eye(3), p),
    "A pure translation by `p` [m]. Translations commute. Ruggiu, after (1.56); Yamamoto (1.15).")

# Applying


transform_point = formula(
    "transform_point", "(4,4),(3)->(3)", lambda T_ab, point_b: T_ab[:3, :3] @ point_b + T_ab[:3, 3],
    "The coordinates in a of a point given in b: R x + p. Balafoutis & Patel (2.2.5), Yamamoto (1.11).", check_pose)
transform_vector = formula(
    "transform_vector", "(4,4),(3)->(3)", lambda T_ab, vector_b: T_ab[:3, :3] @ vector_b,
    "The components in a of a vector (a difference of points) given in b: R x; the translation has no part.",
    check_pose)


@kernel("(4,4),(4)->(4)", check=check_pose)
def transform_plane(T_ab: Array, plane_b: Array) -> Array:
    """The plane (n; d), n.x + d = 0, in a of one given in b: (R n; d - (R n).p), the inverse transpose of the pose.

    >>> transform_plane(translation_pose([1.0, 2.0, 3.0]), [0.0, 0.0, 1.0, -5.0])   # z = 5 becomes z = 8
    array([ 0.,  0.,  1., -8.])
    """
    normal = T_ab[:3, :3] @ plane_b[:3]
    return np.concatenate([normal, np.stack([plane_b[3] - normal @ T_ab[:3, 3]])])


# The group


@kernel("(4,4),(4,4)->(4,4)", check=_check_both)
def compose_poses(T_ab: Array, T_bc: Array) -> Array:
    """T_ac = T_ab T_bc: (R1 R2, R1 p2 + p1). Balafoutis & Patel (2.2.10), Ruggiu (1.60), Yamamoto (1.13).

    >>> compose_poses(translation_pose([1.0, 2.0, 3.0]), translation_pose([1.0, 1.0, 1.0]))[:3, 3]
    array([2., 3., 4.])
    """
    R = T_ab[:3, :3]
    return _pose(R @ T_bc[:3, :3], R @ T_bc[:3, 3] + T_ab[:3, 3])


@kernel("(n,4,4)->(4,4)", check=check_pose)
def compose_all_poses(poses: Array) -> Array:
    """T_0 T_1 ... of n poses, the last applied first; the identity for none.

    >>> compose_all_poses([translation_pose([1.0, 0.0, 0.0]), translation_pose([0.0, 2.0, 0.0])])[:3, 3]
    array([1., 2., 0.])
    """
    total = np.eye(4)
    for T in poses:
        total = compose_poses.unchecked(total, T)
    return _pose(total[:3, :3], total[:3, 3])


inverse_pose = formula("inverse_pose", "(4,4)->(4,4)", lambda T_ab: Pose.of(T_ab).inverse.matrix,
                       "T_ba = [[R^T, -R^T p], [0, 1]]. Balafoutis & Patel (2.2.11), Ruggiu (1.57), Yamamoto (1.16).",
                       check_pose)
relative_pose = formula("relative_pose", "(4,4),(4,4)->(4,4)",
                        lambda T_ab, T_ac: compose_poses.unchecked(inverse_pose.unchecked(T_ab), T_ac),
                        "T_bc: the pose of frame c seen from b, when both are known in a.", _check_both)

# Splitting


class Move(NamedTuple):
    """One displacement of a moving frame, about axes of the fixed frame or about its own."""

    pose: Array
    """The 4x4 pose of the displacement, in the components of the frame that it is about."""
    about: Literal["fixed", "moving"]


def sequence_of_moves(moves: Iterable[Move | tuple[Any, str]], *, start: ArrayLike | None = None) -> Array:
    """T_ab of a frame b after moves in order; a is fixed, and b starts on it or at `start`. Batches broadcast.

    >>> from cayley.geometry.motions import translation_pose
    >>> quarter = turn_about_line([0.0, 0.0, 0.0], [0.0, 0.0, 1.0], np.pi / 2)
    >>> sequence_of_moves([(translation_pose([1.0, 0.0, 0.0]), "fixed"), (quarter, "fixed")])[:3, 3].round(12)
    array([0., 1., 0.])
    >>> sequence_of_moves([(translation_pose([1.0, 0.0, 0.0]), "fixed"), (quarter, "moving")])[:3, 3].round(12)
    array([1., 0., 0.])
    """
    total = np.eye(4) if start is None else np.asarray(start)
    check_pose(total)
    for number, (pose, about) in enumerate(moves):
        if about not in ("fixed", "moving"):
            raise ConventionError(f"move {number} is about {about!r}: say 'fixed' or 'moving'")
        total = compose_poses(pose, total) if about == "fixed" else compose_poses(total, pose)
    return total


def _check_line(point: Array, axis: Array, angle: Array) -> None:
    check_unit_axis(axis)


@kernel("(3),(3),()->(4,4)", check=_check_line)
def turn_about_line(point: Array, axis: Array, angle: Scalar) -> Array:
    """The pose of a turn by `angle` [rad] about the fixed line through `point` [m] along the unit vector `axis`.

    >>> turn_about_line([1.0, 3.0, 0.0], [0.0, 0.0, 1.0], np.pi)[:2, 3]
    array([2., 6.])
    """
    half = np.sin(0.5 * angle)
    across = np.cross(axis, point)
    moved = 2 * half * np.cos(0.5 * angle) * across + 2 * half * half * np.cross(axis, across)
    return pose_from_matrix.unchecked(matrix_from_axis_angle.unchecked(axis, angle), -moved)
