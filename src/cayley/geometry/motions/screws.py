"""Finite screws: every displacement is a rotation about a line and a slide along it (Chasles); exponential and
logarithm of poses.

With the unit direction e, the point x0 of the axis nearest to the origin, angle phi and distance s: p = (1 - R) x0 + s
e, x0 = (p_across + cot(phi/2) e x p)/2. A half-turn, a rotation alone (s = 0) and a screw are all the same case; the
axis of a translation is at infinity, so that it has the direction of p and no place. Twists are (linear; angular): the
exponential of (v; l) is the pose reached in unit time with the constant spatial twist (v; l). Sources: Mladenova (141),
corrected as in spec E-31, E-32; Balafoutis & Patel, theorems 2.1 (Euler) and 2.2 (Chasles).

The motion of a point of a displaced body: the vector-parameter is in homogeneous form h = [w : v] of any norm (a
half-turn is w = 0), or finite, c = v / w. Source: Mladenova (75)-(78), (146)-(147), spec R-18."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import GeometryError
from cayley.geometry.batch import digits_of
from cayley.geometry.motions.homogeneous import check_pose, pose_from_matrix, turn_about_line
from cayley.geometry.rates.charts import chart, world_velocity_map, world_velocity_map_inverse
from cayley.geometry.rates.points import acceleration_of_body_point, velocity_of_body_point
from cayley.geometry.rotations.axis_angle import check_unit_axis
from cayley.geometry.rotations.homogeneous import homogeneous_from_matrix, normalize_homogeneous, rotate_by_homogeneous
from cayley.geometry.rotations.quaternion import check_nonzero_quaternion
from cayley.geometry.rotations.rotation_vector import matrix_from_rotation_vector, rotation_vector_from_matrix
from cayley.geometry.scaling import direction


class FiniteScrew(NamedTuple):
    """`direction` e, unit vector; `point` x0 of the axis nearest to the origin [m]; `moment` = x0 x e; `angle` [rad]
    from 0 to pi; `distance` along e [m], signed; `pitch` = distance / angle [m/rad], infinite for a translation, zero
    for no motion at all."""

    direction: Array
    point: Array
    moment: Array
    angle: Scalar
    distance: Scalar
    pitch: Scalar


_SCREW = "(3),(3),(3),(),(),()"


@kernel(f"(4),(3)->{_SCREW}", check=check_nonzero_quaternion)
def screw_from_displacement(h: Array, p: Array) -> FiniteScrew:
    """The screw of the displacement r -> R r + p with R as [w : v] of any norm; see `FiniteScrew`. Mladenova (141).

    A translation has angle 0, the direction of p, point and moment zero. No motion at all has direction z.

    >>> screw = screw_from_displacement([0.0, 0.0, 0.0, 1.0], [2.0, 0.0, 5.0])   # a half-turn
    >>> screw.point, float(screw.distance)
    (array([1., 0., 0.]), 5.0)
    """
    q = normalize_homogeneous.unchecked(h)
    q = where(q[0] < 0, -1.0, 1.0) * q
    axis, sine = direction(q[1:])
    along, length = direction(p)
    turning = sine != 0  # NaN turns too, so that it is seen
    e, distance = where(turning, axis, along), where(turning, axis @ p, length)
    cotangent = q[0] / where(turning, sine, 1.0)
    beside = np.cross(axis, p)
    across = np.cross(beside, axis)
    point = where(turning, 0.5 * (across + cotangent * beside), 0.0)
    moment = where(turning, 0.5 * (cotangent * across - beside), 0.0)
    angle = 2 * np.arctan2(sine, q[0])
    resting = (sine == 0) & (length == 0)
    return FiniteScrew(e, point, moment, angle, distance, distance / where(resting, 1.0, angle))


@kernel(f"(4,4)->{_SCREW}", check=check_pose)
def screw_from_pose(T: Array) -> FiniteScrew:
    """The screw of a pose; see `FiniteScrew`.

    >>> screw_from_pose([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 3.0], [0.0, 0.0, 1.0, 4.0],
    ...                  [0.0, 0.0, 0.0, 1.0]]).direction
    array([0. , 0.6, 0.8])
    """
    return screw_from_displacement.unchecked(homogeneous_from_matrix.unchecked(T[:3, :3]), T[:3, 3])


def _check_screw(direction: Array, *_: object) -> None:
    check_unit_axis(direction)


@kernel("(3),(3),(),()->(4,4)", check=_check_screw)
def pose_from_screw(direction: Array, point: Array, angle: Scalar, distance: Scalar) -> Array:
    """The pose of a turn `angle` [rad] about, and slide `distance` [m] along, a line through `point` along `direction`.

    The point may be any of the line. A translation is the angle zero.

    >>> pose_from_screw([0.0, 0.0, 1.0], [1.0, 3.0, 0.0], np.pi, 5.0)[:3, 3]
    array([2., 6., 5.])
    """
    T = turn_about_line.unchecked(point, direction, angle)
    return pose_from_matrix.unchecked(T[:3, :3], T[:3, 3] + distance * direction)


@kernel("(6)->(4,4)")
def pose_from_twist(twist: Array) -> Array:
    """The exponential: the pose reached in one second with the constant spatial twist (v; l) [m, rad].

    v is the velocity of the body point at the origin. Translation = world_velocity_map(l) v. Exact at l = 0, at
    half-turns and beyond.

    >>> pose_from_twist([0.0, 0.0, 2.0, 0.0, 0.0, np.pi])[:3, 3]
    array([0., 0., 2.])
    """
    v, l = twist[:3], twist[3:]
    return pose_from_matrix.unchecked(matrix_from_rotation_vector(l), world_velocity_map(l) @ v)


@kernel("(4,4)->(6)", check=check_pose)
def twist_from_pose(T: Array) -> Array:
    """The logarithm: the twist (v; l) [m, rad] with the smallest angle, from 0 to pi, whose exponential is the pose.

    At a half-turn l and -l are both right; the one of `rotation_vector_from_matrix` is given.

    >>> twist_from_pose(np.diag([-1.0, -1.0, 1.0, 1.0]))
    array([0.        , 0.        , 0.        , 0.        , 0.        , 3.14159265])
    """
    l = rotation_vector_from_matrix.unchecked(T[:3, :3])
    return np.concatenate([world_velocity_map_inverse.unchecked(l) @ T[:3, 3], l])


@kernel("(4,4),()->(4,4)", check=check_pose)
def fraction_of_pose(T: Array, fraction: Scalar) -> Array:
    """A part of a screw motion: angle and distance multiplied by `fraction`; 0 is the identity, 1 the pose.

    >>> fraction_of_pose(np.diag([-1.0, -1.0, 1.0, 1.0]), 0.5).round(12)[0]
    array([ 0., -1.,  0.,  0.])
    """
    return pose_from_twist(fraction * twist_from_pose.unchecked(T))


@dataclass(frozen=True)
class FixedPoints:
    """The points that a displacement leaves in place: `all`, a `line` through `point` along `direction`, or `none`."""

    kind: Literal["all", "line", "none"]
    point: Array | None
    direction: Array | None


def fixed_points(T: ArrayLike, *, tolerance: float | None = None) -> FixedPoints:
    """The fixed points of one pose: all (identity), none (translation, screw), a line (rotation; Euler's theorem).

    An angle [rad] or a distance [m] up to `tolerance` (times the translation, for the distance) counts as none: 1e-12,
    and 5e-4 for float32, if it is not given.

    >>> fixed_points([[-1.0, 0.0, 0.0, 2.0], [0.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    FixedPoints(kind='line', point=array([1., 0., 0.]), direction=array([0., 0., 1.]))
    """
    if np.shape(T) != (4, 4):
        raise GeometryError(
            f"fixed_points takes one pose (4, 4), not {np.shape(T)}: poses of a batch have different kinds of them")
    tolerance = digits_of(T, tolerance)
    screw = screw_from_pose(T)
    size = float(np.linalg.norm(np.asarray(T)[:3, 3]))
    if screw.angle <= tolerance:
        return FixedPoints("all" if size <= tolerance else "none", None, None)
    if abs(screw.distance) > tolerance * max(1.0, size):
        return FixedPoints("none", None, None)
    return FixedPoints("line", screw.point, screw.direction)


class PointMotion(NamedTuple):
    position: Array
    velocity: Array
    acceleration: Array


@kernel("(4),(4),(4),(3),(3),(3),(3)->(3),(3),(3)", check=check_nonzero_quaternion)
def motion_of_point(h: Array, dh: Array, ddh: Array, p: Array, dp: Array, ddp: Array, point: Array) -> PointMotion:
    """`position`, `velocity`, `acceleration` of the point r_d from ([w : v], p) and rates. Mladenova (77)-(78).

    dr = w x (r - p) + dp; ddr = (hat(dw) + hat(w)^2)(r - p) + ddp. Spec E-23: the two parts of ddr that the text calls
    tangential and normal are so only while the axis keeps its direction.

    >>> rest = [0.0, 0.0, 0.0]
    >>> motion_of_point([1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], np.zeros(4), rest, rest, rest,
    ...                 [1.0, 0.0, 0.0]).acceleration
    array([-4.,  0.,  0.])
    """
    arm = rotate_by_homogeneous.unchecked(h, point)
    w = chart("homogeneous").velocity.unchecked(h, dh).world
    dw = chart("homogeneous").acceleration.unchecked(h, dh, ddh).world
    return PointMotion(arm + p, velocity_of_body_point(dp, w, arm), acceleration_of_body_point(ddp, w, dw, arm))
