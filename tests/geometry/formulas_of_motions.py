"""Formulas of displacements, dual matrices and chains that compose functions of `cayley.geometry.motions`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import GeometryError, SingularityError
from cayley.geometry.batch import first_failure, place, tolerance_of
from cayley.geometry.motions.dual import Dual, dual_norm, dual_tan
from cayley.geometry.motions.dual_quaternion import (
    check_real_part,
    check_unit_dual_quaternion,
    dual_quaternion_conjugate,
    dual_quaternion_product,
    pose_from_dual_quaternion,
)
from cayley.geometry.motions.dual_vector_parameter import dual_quaternion_of_chain, dual_ratio, pose_of_chain
from cayley.geometry.motions.homogeneous import MotionParts, check_pose, pose_from_matrix
from cayley.geometry.motions.screws import (
    FiniteScrew,
    PointMotion,
    motion_of_point,
    screw_from_displacement,
    twist_from_pose,
)
from cayley.geometry.pose import Pose
from cayley.geometry.rotations.axis_angle import check_unit_axis
from cayley.geometry.rotations.homogeneous import (
    check_homogeneous,
    compose_homogeneous,
    homogeneous_from_matrix,
    inverse_homogeneous,
    rotate_by_homogeneous,
)
from cayley.geometry.rotations.matrix import check_rotation_matrix
from cayley.geometry.rotations.quaternion import (
    check_nonzero_quaternion,
    rotate_by_quaternion,
)
from cayley.geometry.rotations.vector_parameter import (
    check_not_half_turn,
    check_vector_parameter,
    homogeneous_from_vector_parameter,
)
from cayley.geometry.scaling import divisible
from cayley.geometry.spatial import force_transform
from cayley.geometry.tensors.cross import hat, vee
from cayley.geometry.tensors.projections import perpendicular_part


class Displacement(NamedTuple):
    rotation: Array
    translation: Array


def _check_two(h1: Array, _1: Array, h2: Array, _2: Array) -> None:
    check_homogeneous(h1, h2)


@kernel("(4,4)->(4),(3)", check=check_pose)
def displacement_from_pose(T: Array) -> Displacement:
    """The `rotation` as [w : v] of norm one, w >= 0, and the `translation` [m] of a pose."""
    return Displacement(homogeneous_from_matrix.unchecked(T[:3, :3]), T[:3, 3])


@kernel("(4),(3),(3)->(3)", check=check_nonzero_quaternion)
def displace_point(h: Array, p: Array, point: Array) -> Array:
    """R r_d + p [m]. Mladenova (75)."""
    return rotate_by_homogeneous.unchecked(h, point) + p


@kernel("(4),(3),(4),(3)->(4),(3)", check=_check_two)
def compose_displacements(h1: Array, p1: Array, h2: Array, p2: Array) -> Displacement:
    """(h1 h2, R1 p2 + p1): the second displacement, then the first. Mladenova (76)."""
    return Displacement(compose_homogeneous(h1, h2), rotate_by_homogeneous.unchecked(h1, p2) + p1)


@kernel("(4),(3)->(4),(3)", check=check_nonzero_quaternion)
def inverse_displacement(h: Array, p: Array) -> Displacement:
    """([w : -v], -R^T p)."""
    back = inverse_homogeneous(h)
    return Displacement(back, -rotate_by_homogeneous.unchecked(back, p))


@kernel("(3),(3),(3),(3),(3),(3),(3)->(3),(3),(3)", check=check_vector_parameter)
def motion_of_point_from_vector_parameter(c: Array, dc: Array, ddc: Array, p: Array, dp: Array, ddp: Array,
                                          point: Array) -> PointMotion:
    """`motion_of_point` for a finite vector-parameter `c` and its rates."""
    dh, ddh = (np.concatenate([np.zeros(1), rate]) for rate in (dc, ddc))
    return motion_of_point.unchecked(homogeneous_from_vector_parameter(c), dh, ddh, p, dp, ddp, point)


@kernel("(4,4)->(2,3,3)", check=check_pose)
def dual_matrix_from_pose(T: Array) -> Array:
    """R + mu hat(p) R, as an array (real, dual). Mladenova (152)."""
    R = T[:3, :3]
    return np.stack([R, hat(T[:3, 3]) @ R])


@kernel("(2,3,3)->()")
def dual_orthogonality_defect(O: Array) -> Scalar:
    """The largest element of |O O^T - 1| over dual numbers: of R R^T - 1, and of the symmetric part of D R^T, twice."""
    product = Dual(O[0], O[1]) @ Dual(O[0], O[1]).T
    return np.maximum(np.max(np.abs(product.real - np.eye(3))), np.max(np.abs(product.dual)))


def check_dual_matrix(O: ArrayLike, *_: object, tolerance: float | None = None) -> None:
    """Raise `GeometryError` unless the real part is a rotation and O O^T = 1 over dual numbers (relative to the size of
    the dual part).
    """
    O = np.asarray(O)
    if O.ndim < 3 or O.shape[-3:] != (2, 3, 3):
        raise GeometryError(f"a dual matrix has shape (..., 2, 3, 3), (real, dual), not {O.shape}")
    check_rotation_matrix(O[..., 0, :, :], tolerance=tolerance)
    product = O[..., 1, :, :] @ np.swapaxes(O[..., 0, :, :], -2, -1)
    defect = np.max(np.abs(product + np.swapaxes(product, -2, -1)), axis=(-2, -1))
    # hat(p) R R^T is as far from skew as R may be from a rotation, three products and its own
    allowed = 4 * tolerance_of(O, tolerance)
    bad = first_failure(defect <= allowed * np.maximum(1, np.max(np.abs(product), axis=(-2, -1))))
    if bad is not None:
        raise GeometryError(
            f"dual matrix{place(bad)} is not orthogonal: the dual part of O O^T reaches {defect[bad]:.3g}")


@kernel("(2,3,3)->(4,4)", check=check_dual_matrix)
def pose_from_dual_matrix(O: Array) -> Array:
    """The pose of R + mu hat(p) R."""
    return pose_from_matrix.unchecked(O[0], vee(O[1] @ O[0].T))


def _check_both(A: Array, B: Array) -> None:
    check_dual_matrix(A)
    check_dual_matrix(B)


@kernel("(2,3,3),(2,3,3)->(2,3,3)", check=_check_both)
def compose_dual_matrices(A: Array, B: Array) -> Array:
    """The product over dual numbers: the pose B, then A."""
    return (Dual(A[0], A[1]) @ Dual(B[0], B[1])).stacked()


@kernel("(2,3,3),(2,3)->(2,3)", check=check_dual_matrix)
def transform_dual_vector(O: Array, line: Array) -> Array:
    """The dual vector O e^: a line (direction, moment) moved by the pose, as `transform_line` does with six numbers."""
    return (Dual(O[0], O[1]) @ Dual(line[0], line[1])).stacked()


@kernel("(2,4)->(2)")
def dual_quaternion_norm(q: Array) -> Array:
    """The dual number |q^| = |r| + mu r.d / |r|, as (real, dual); multiplicative."""
    return dual_norm(Dual(q[0], q[1])).stacked()


@kernel("(2,4)->(2,4)", check=check_real_part)
def dual_quaternion_inverse(q: Array) -> Array:
    """conj(q^) / |q^|^2, for any norm. `SingularityError` where the real part is zero."""
    form = Dual(q[0], q[1])
    back = dual_quaternion_conjugate(q)
    return (Dual(back[0], back[1]) / (form @ form)).stacked()


@kernel("(2,4),(3)->(3)", check=check_unit_dual_quaternion)
def displace_by_dual_quaternion(q: Array, point: Array) -> Array:
    """The point [m] moved by the pose of a unit dual quaternion."""
    return rotate_by_quaternion.unchecked(q[0], point) + pose_from_dual_quaternion.unchecked(q)[:3, 3]


@kernel("(2,4),(6)->(6)", check=check_unit_dual_quaternion)
def displace_line_by_dual_quaternion(q: Array, line: Array) -> Array:
    """The line (e; m) moved by the pose of a unit dual quaternion: the vector part of q^ (e + mu m) conj(q^)."""
    pure = np.stack([np.concatenate([[0.0], line[:3]]), np.concatenate([[0.0], line[3:]])])
    moved = dual_quaternion_product(dual_quaternion_product(q, pure), dual_quaternion_conjugate(q))
    return np.concatenate([moved[0, 1:], moved[1, 1:]])


def _check_finite_quaternion(q: ArrayLike) -> None:
    check_unit_dual_quaternion(q)
    check_not_half_turn(np.asarray(q)[..., 0, :])


@kernel("(2,4)->(2,3)", check=_check_finite_quaternion)
def dual_vector_parameter_from_dual_quaternion(q: Array) -> Array:
    """v^ / w^ over dual numbers. `SingularityError` at a half-turn."""
    return dual_ratio(q)


def _check_axis(line: ArrayLike, *_: object) -> None:
    check_unit_axis(np.asarray(line)[..., :3])


@kernel("(6),(),()->(2,3)", check=_check_axis)
def dual_vector_parameter_from_screw(line: Array, angle: Scalar, distance: Scalar) -> Array:
    """tan(phi^/2) e^ for the line (e; m), e a unit vector, and the dual angle phi^ = angle + mu distance [rad, m].
    Mladenova (153).
    """
    return (dual_tan(Dual(0.5 * angle, 0.5 * distance)) * Dual(line[:3], line[3:])).stacked()


@kernel("(n,4)->(2,3)", check=lambda table: check_not_half_turn(dual_quaternion_of_chain(table)[..., 0, :]))
def dual_vector_parameter_of_chain(table: Array) -> Array:
    """c^' = <c^_1, ..., c^_n> of a chain of joints (rows theta, d, alpha, a). Mladenova (155)-(156).

    Joints and partial products may be half-turns; `SingularityError` only where the last frame is one, and c^'
    infinite.
    """
    return dual_ratio(dual_quaternion_of_chain(table))


@kernel("(n,4)->(6)")
def chain_closure(table: Array) -> Array:
    """The twist (linear; angular) [m, rad] that would bring the first frame onto the last: zero if and only if the
    chain closes.
    """
    return twist_from_pose.unchecked(pose_of_chain(table))


class TranslationFirst(NamedTuple):
    translation: Array
    rotation: Array


@kernel("(3,3)->(4,4)", check=check_rotation_matrix)
def rotation_pose(R: Array) -> Array:
    """A pure rotation about the origin. Rotations do not commute. Ruggiu, after (1.56); Yamamoto (1.14)."""
    return Pose(R, np.zeros(3)).matrix


@kernel("(4,4),(4)->(4)", check=check_pose)
def transform_homogeneous(T_ab: Array, x_b: Array) -> Array:
    """Homogeneous coordinates (4) in a of those in b; the scale, one for points or zero for vectors or any other, is
    kept. (2.2.9).
    """
    return np.concatenate([T_ab[:3, :3] @ x_b[:3] + x_b[3] * T_ab[:3, 3], x_b[3:]])


@kernel("(3),()->(4)")
def homogeneous_from_point(point: Array, scale: Scalar) -> Array:
    """(scale x, scale y, scale z, scale) of a point; the usual scale is 1. Balafoutis & Patel (2.2.6), Ruggiu (1.53).
    """
    return np.concatenate([scale * point, np.stack([scale])])


def check_finite_point(x: ArrayLike) -> None:
    """Raise `SingularityError` where homogeneous coordinates have the scale zero: a direction, a point at infinity."""
    x = np.asarray(x)
    if x.ndim < 1 or x.shape[-1] != 4:
        raise GeometryError(f"homogeneous coordinates have shape (..., 4), not {x.shape}")
    bad = first_failure(x[..., 3] != 0)
    if bad is not None:
        raise SingularityError(
            f"the homogeneous coordinates {x[bad].tolist()}{place(bad)} have the scale 0: a direction, not a point")


@kernel("(4)->(3)", check=check_finite_point)
def point_from_homogeneous(x: Array) -> Array:
    """The point of homogeneous coordinates with any scale but zero: they are divided by it. Balafoutis & Patel (2.2.7),
    Ruggiu (1.54).
    """
    scale = divisible(np.abs(x[3]))
    return scale * x[:3] / (scale * x[3])


@kernel("(4,4)->(3,3),(3)", check=check_pose)
def parts_of_pose(T: Array) -> MotionParts:
    """The `rotation` matrix (3, 3) and the `translation` (3) of a pose."""
    return MotionParts(T[:3, :3], T[:3, 3])


@kernel("(4,4)->(4,4),(4,4)", check=check_pose)
def split_translation_first(T: Array) -> TranslationFirst:
    """T = `translation` @ `rotation`, 4x4 each, in this order: they are exactly p and R. Balafoutis & Patel 2.2.2;
    Yamamoto (1.16).
    """
    return TranslationFirst(Pose(np.eye(3), T[:3, 3]).matrix, Pose(T[:3, :3], np.zeros(3)).matrix)


@kernel("(4,4)->(4,4),(4,4)", check=check_pose)
def split_rotation_first(T: Array) -> MotionParts:
    """T = `rotation` @ `translation`, both 4x4: in this order the translation is R^T p, another one."""
    return MotionParts(Pose(T[:3, :3], np.zeros(3)).matrix, Pose(np.eye(3), T[:3, :3].T @ T[:3, 3]).matrix)


@kernel("(6)->()")
def klein_defect(line: Array) -> Scalar:
    """e.m / e.e [m]: zero for a line. Six numbers with another value are a screw, and this is its pitch."""
    return (line[:3] @ line[3:]) / (line[:3] @ line[:3])


@kernel("(4,4)->(6,6)", check=check_pose)
def line_transform(T_ab: Array) -> Array:
    """The 6x6 matrix that turns Pluecker coordinates in b into those in a: [[R, 0], [hat(p) R, R]]. Mladenova
    (148)-(150).
    """
    return force_transform(T_ab[:3, :3], T_ab[:3, 3])


@kernel("(3)->(3,3)", check=check_unit_axis)
def plane_reflection(n: Array) -> Array:
    """T = 1 - 2 n n^T. Ruggiu (1.52)."""
    return np.eye(3) - 2 * np.outer(n, n)


@kernel("(3),(3)->(3)", check=check_unit_axis)
def project_on_plane(n: Array, point: Array) -> Array:
    """P p = p - (n.p) n. Ruggiu (1.50)-(1.51)."""
    return perpendicular_part.unchecked(n, point)


@kernel("(3),(3)->(3)", check=check_unit_axis)
def reflect_in_plane(n: Array, point: Array) -> Array:
    """T p = p - 2 (n.p) n. Ruggiu (1.52)."""
    return point - 2 * (n @ point) * n


@kernel("(3),(3)->(3),(3),(3),(),(),()")
def screw_from_vector_parameter(c: Array, p: Array) -> FiniteScrew:
    """The screw of the displacement (c, p). Mladenova's L = 2c and L' = x0 x L are 2 tan(angle/2) times `direction` and
    `moment`.
    """
    return screw_from_displacement.unchecked(homogeneous_from_vector_parameter(c), p)


@kernel("(6),(3)->(6)")
def twist_at(twist: Array, shift: Array) -> Array:
    """The same motion at a reference point moved by `shift` [m], in the same axes: (v + w x shift; w)."""
    return np.concatenate([twist[:3] + np.cross(twist[3:], shift), twist[3:]])


@kernel("(4,4),(6)->(4,4)", check=check_pose)
def pose_rate_from_world_twist(T: Array, twist: Array) -> Array:
    """dT of a pose with a twist in world axes at the world origin: [[hat(w), v], [0, 0]] T."""
    return _rate(hat(twist[3:]) @ T[:3, :3], np.cross(twist[3:], T[:3, 3]) + twist[:3])


@kernel("(4,4),(6)->(4,4)", check=check_pose)
def pose_rate_from_body_twist(T: Array, twist: Array) -> Array:
    """dT of a pose with a twist in body axes at the body origin: T [[hat(w), v], [0, 0]]."""
    return _rate(T[:3, :3] @ hat(twist[3:]), T[:3, :3] @ twist[:3])


def _rate(dR: Array, dp: Array) -> Array:
    return np.concatenate([np.concatenate([dR, np.stack([dp], axis=1)], axis=1), np.zeros((1, 4))])
