"""The screw motion from one pose to another: one line, one pitch, at constant speed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.geometry.batch import numbers
from cayley.geometry.motions.homogeneous import relative_pose
from cayley.geometry.motions.screws import pose_from_twist, twist_from_pose
from cayley.geometry.rotations.quaternion import matrix_from_quaternion, quaternion_product
from cayley.geometry.rotations.rotation_vector import quaternion_from_rotation_vector
from cayley.planning.motion import Derivatives
from cayley.planning.poses.rotation_splines import aligned, checked_poses
from cayley.planning.splines.pieces import InPieces, checked_breaks


@kernel("(),(7),(6)->(7),(6),(6),(6)", outputs=("q", "qd", "qdd", "qddd"))
def _screw(tau: Scalar, first: Array, twist: Array) -> Derivatives:
    moved = pose_from_twist.unchecked(tau * twist)[:3, 3]
    turned = quaternion_from_rotation_vector.unchecked(tau * twist[3:])
    position = first[:3] + matrix_from_quaternion.unchecked(first[3:]) @ moved
    still = 0.0 * twist
    return np.concatenate([position, quaternion_product(first[3:], turned)]), twist + still, still, still


@dataclass(frozen=True, eq=False, repr=False)
class Screws(InPieces):
    """Poses in time, as a motion of a floating base, with a constant twist between `breaks` (p + 1): from the
    configurations `first` (p, 7), position and unit quaternion, with the `twists` (v; w) (p, 6) in body axes.
    """

    breaks: Array
    first: Array
    twists: Array

    nq = 7
    attitudes = (3,)

    @property
    def _piece(self) -> Kernel[Derivatives]:
        return _screw

    @property
    def _tables(self) -> tuple[Array, ...]:
        return self.first, self.twists


def screw_motion(times: ArrayLike, poses: ArrayLike) -> Screws:
    """From each of the poses (k, 4, 4) to the next, at times (k), by a turn about one line together with a shift along
    it, at constant speed. `Composed` has it done in other times, as from rest to rest:

    >>> from cayley.planning import At, Composed, polynomial_through
    >>> turned = np.array([[0.0, -1.0, 0.0, 2.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]])
    >>> path = screw_motion([0.0, 1.0], [np.eye(4), turned])
    >>> move = Composed(path, polynomial_through([At(0.0, 0.0, 0.0), At(2.0, 1.0, 0.0)]))
    >>> move(1.0).q[:3].round(6), move(1.0).qd.round(3)
    (array([ 1.      , -0.414214,  0.5     ]), array([ 1.178, -1.178,  0.75 ,  0.   ,  0.   ,  1.178]))
    """
    t = checked_breaks(times)
    quaternions = aligned(checked_poses(poses, len(t)), np.zeros(3))[:, :4]
    goals = numbers(poses, "poses")
    gaps = twist_from_pose(relative_pose(goals[:-1], goals[1:]))
    first = np.concatenate([goals[:-1, :3, 3], quaternions[:-1]], axis=-1)
    return Screws(t, first, gaps / np.diff(t)[:, None])
