"""A frame moved step by step, about and along axes that stay fixed or that move with it; it may start anywhere.

A move about fixed axes multiplies on the left, one about moving axes on the right. The start may be displaced from the
fixed frame: then a rotation about a fixed axis also carries the origin of the frame around. Source: Ruggiu 1.5.1,
(1.60), spec 3.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ConventionError
from cayley.geometry.motions.homogeneous import check_pose, compose_poses, pose_from_matrix
from cayley.geometry.rotations.axis_angle import check_unit_axis, matrix_from_axis_angle


class Move(NamedTuple):
    """One displacement of a moving frame, about axes of the fixed frame or about its own."""

    pose: Array
    """The 4x4 pose of the displacement, in the components of the frame that it is about."""
    about: Literal["fixed", "moving"]


def sequence_of_moves(moves: Iterable[Move | tuple[Any, str]], *, start: ArrayLike | None = None) -> Array:
    """T_ab of a frame b after moves in the given order; a is fixed, and b starts on it, or at the pose `start`. Batches
    broadcast.

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
    """The pose of a rotation by `angle` [rad] about the line through `point` [m] along the unit vector `axis`: points
    of it do not move.

    >>> turn_about_line([1.0, 3.0, 0.0], [0.0, 0.0, 1.0], np.pi)[:2, 3]
    array([2., 6.])
    """
    half = np.sin(0.5 * angle)
    across = np.cross(axis, point)
    moved = 2 * half * np.cos(0.5 * angle) * across + 2 * half * half * np.cross(axis, across)
    return pose_from_matrix.unchecked(matrix_from_axis_angle.unchecked(axis, angle), -moved)
