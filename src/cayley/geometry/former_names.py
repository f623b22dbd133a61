"""Formulas that were public names of `cayley.geometry` and go with the next version, each in a line or two.

Each follows from NumPy or from other functions of the package in one line: `T @ v` says what `right_dot(T, v)` said.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from itertools import combinations, combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import GeometryError, SingularityError
from cayley.geometry.batch import first_failure, place, tolerance_of
from cayley.geometry.inertia.gyroscope import nodal_axes
from cayley.geometry.motions.dual import Dual, dual_norm, dual_tan
from cayley.geometry.motions.dual_quaternion import (
    check_real_part,
    check_unit_dual_quaternion,
    dual_quaternion_conjugate,
    dual_quaternion_product,
    pose_from_dual_quaternion,
)
from cayley.geometry.motions.dual_vector_parameter import dual_quaternion_of_chain, dual_ratio, pose_of_chain
from cayley.geometry.motions.homogeneous import (
    Parts,
    check_pose,
    pose_from_matrix,
)
from cayley.geometry.motions.pose_integration import IntegratedPoses
from cayley.geometry.motions.screws import (
    PointMotion,
    motion_of_point,
    screw_from_displacement,
    twist_from_pose,
)
from cayley.geometry.pose import Pose
from cayley.geometry.rates.charts import chart, euler_chart
from cayley.geometry.rates.points import InstantaneousScrew, instantaneous_screw
from cayley.geometry.rotations.axis_angle import check_unit_axis
from cayley.geometry.rotations.homogeneous import (
    check_homogeneous,
    compose_homogeneous,
    homogeneous_from_matrix,
    inverse_homogeneous,
    rotate_by_homogeneous,
)
from cayley.geometry.rotations.matrix import check_rotation_matrices, check_rotation_matrix
from cayley.geometry.rotations.quaternion import (
    check_nonzero_quaternion,
    rotate_by_quaternion,
)
from cayley.geometry.rotations.spinor import (
    adjoint,
    matrix_product,
    product,
)
from cayley.geometry.rotations.unitary import check_unitary
from cayley.geometry.rotations.vector_parameter import (
    check_composition,
    check_not_half_turn,
    check_vector_parameter,
    check_vector_parameters,
    compose_vector_parameters,
    homogeneous_from_vector_parameter,
    rotate_by_vector_parameter,
)
from cayley.geometry.scaling import divisible, nearly_unit
from cayley.geometry.spatial import force_transform
from cayley.geometry.tensors.checks import (
    check_orthogonal,
    check_skew,
    unit_vectors,
)
from cayley.geometry.tensors.cross import hat, vee
from cayley.geometry.tensors.products import LEVI_CIVITA, isotropic_part, scalar_invariants, vector_triple_matrix
from cayley.geometry.tensors.projections import check_direction, perpendicular_part

_RATES = {  # of a chart: what the former names were, and the kernel of the chart that they are
    r"angular_velocity_from_(\w+)_rates?": "velocity",
    r"angular_acceleration_from_(\w+)_rates": "acceleration",
    r"(\w+)_second_rates?_from_(world|body)_acceleration": "accelerations_from_",
    r"(\w+)_rates?_from_(world|body)_velocity": "rates_from_",
}
_SIMULATIONS = ("AttitudeState", "AttitudeTrajectory", "BodyState", "BodyTrajectory", "GyroscopeTrajectory",
                "simulate_attitude", "simulate_body", "simulate_gyroscope")
_MOVED = ("OrthogonalPath", "TensorState", "TensorTrajectory", "integrate_orthogonal", "simulate_by_tensors")


def former(name: str) -> tuple[Any, str]:
    """The object of a former name, None if it is none, and what to write instead of it."""
    for pattern, field in _RATES.items():
        found = re.fullmatch(pattern, name)
        if found and found[1] in ("matrix", "quaternion", "homogeneous", "spinor", "rotation_vector",
                                  "vector_parameter", "euler"):
            field += found[2] if len(found.groups()) > 1 else ""
            if found[1] == "euler":
                return _of_euler(field), f"write euler_chart(sequence, axes=...).{field}"
            return getattr(chart(found[1]), field), f'write chart("{found[1]}").{field}'
    if name in _SIMULATIONS:
        return (getattr(import_module("cayley.machines.former_simulations"), name),
                "`rigid_body`, `rotating_body` and `gyroscope` of cayley.machines are systems, with `simulate`")
    if name == "PosePath":
        return IntegratedPoses, "write IntegratedPoses"
    if name in _MOVED:
        return getattr(import_module("cayley.machines"), name), f"it is `cayley.machines.{name}` now"
    if name == "euler_rate_kernels":
        return euler_chart, "write euler_chart"
    known = not name.startswith("_") and getattr(globals().get(name), "__module__", None) == __name__
    return (globals()[name] if known else None,
            "its formula in cayley/geometry/former_names.py is short enough to be written where it is needed")


def _of_euler(field: str) -> Callable[..., Any]:
    return lambda *arguments, sequence, axes: getattr(euler_chart(sequence, axes=axes), field)(*arguments)


def dyad_basis(frame: Array | None = None) -> Array:
    e = unit_vectors(frame)
    return np.einsum("ki,lj->ijkl", e, e)


def symmetric_basis(n: int = 3) -> Array:
    e = np.eye(n)
    pairs = combinations_with_replacement(range(n), 2)
    return np.array([np.outer(e[i], e[j]) + np.outer(e[j], e[i]) for i, j in pairs]).reshape(-1, n, n)


def skew_basis(n: int = 3) -> Array:
    e = np.eye(n)
    pairs = combinations(range(n), 2)
    return np.array([np.outer(e[i], e[j]) - np.outer(e[j], e[i]) for i, j in pairs]).reshape(-1, n, n)


def isotropic_defect(T: Array) -> float:
    T = np.asarray(T, dtype=float)
    if T.shape == (3, 3):
        return float(np.abs(T - isotropic_part(T)).max())
    if T.shape == (3, 3, 3):
        return float(np.abs(T - np.sum(T * LEVI_CIVITA) / 6 * LEVI_CIVITA).max())
    raise GeometryError(f"isotropy is told of tensors of order two or three in space, not of shape {T.shape}")


class PrincipalInvariants(NamedTuple):
    first: float
    second: float
    third: float


class PowerTraces(NamedTuple):
    first: float
    second: float
    third: float


principal_invariants = kernel("(3,3)->(),(),()", name="principal_invariants")(
    lambda T: PrincipalInvariants(*scalar_invariants(T)[:3]))


@kernel("(3)->(),(),()")
def principal_from_eigenvalues(values: Array) -> PrincipalInvariants:
    a, b, c = values
    return PrincipalInvariants(a + b + c, a * b + b * c + c * a, a * b * c)


@kernel("(3,3)->(),(),()")
def power_traces(T: Array) -> PowerTraces:
    square = T @ T
    return PowerTraces(np.trace(T), np.trace(square), np.sum(square * T.T))


@kernel("(),(),()->(),(),()")
def principal_from_power_traces(first: Scalar, second: Scalar, third: Scalar) -> PrincipalInvariants:
    return PrincipalInvariants(first, (first * first - second) / 2,
                               (2 * third + first * first * first - 3 * first * second) / 6)


symmetric_square = kernel("(),()->()", name="symmetric_square")(lambda first, second: first * first - 2 * second)
right_dot = kernel("(n,n),(n)->(n)", name="right_dot")(lambda T, v: T @ v)
left_dot = kernel("(n),(n,n)->(n)", name="left_dot")(lambda v, T: v @ T)
tensor_product = kernel("(n,n),(n,n)->(n,n,n,n)", name="tensor_product")(lambda T, S: np.einsum("ij,kl->ijkl", T, S))
inner_product = kernel("(n,n),(n,n)->()", name="inner_product")(lambda T, S: np.sum(T * S))
scalar_triple_product = kernel("(3),(3),(3)->()", name="scalar_triple_product")(lambda a, b, c: a @ np.cross(b, c))
vector_triple_product = kernel("(3),(3),(3)->(3)", name="vector_triple_product")(
    lambda a, b, c: (c @ a) * b - (a @ b) * c)
axis_projection = kernel("(n)->(n,n)", name="axis_projection", check=check_direction)(lambda e: np.outer(e, e))
parallel_part = kernel("(n),(n)->(n)", name="parallel_part", check=check_direction)(lambda e, v: e * (e @ v))


def _check_second_rate(Q: Array, Qdd: Array) -> None:
    check_orthogonal(Q)


@kernel("(n,n),(n,n)->(n,n)", check=_check_second_rate)
def angular_acceleration_tensor(Q: Array, Qdd: Array) -> Array:
    return Qdd @ Q.T


def _check_both_skew(Phi: Array, Phid: Array) -> None:
    check_skew(Phi)
    check_skew(Phid)


@kernel("(n,n),(n,n)->(n,n)", check=_check_both_skew)
def angular_acceleration_from_tensors(Phi: Array, Phid: Array) -> Array:
    return Phid + Phi @ Phi


class AngularAcceleration(NamedTuple):
    """The two parts of an angular acceleration tensor: Phid, skew, and Phi Phi, symmetric."""

    turning: Array
    centripetal: Array


split_angular_acceleration = kernel("(n,n)->(n,n),(n,n)", name="split_angular_acceleration")(
    lambda Psi: AngularAcceleration((Psi - Psi.T) / 2, (Psi + Psi.T) / 2))
point_velocity_by_tensor = kernel("(n),(n,n),(n)->(n)", name="point_velocity_by_tensor")(
    lambda sd, Phi, r: sd + Phi @ r)
point_acceleration_by_tensor = kernel("(n),(n,n),(n)->(n)", name="point_acceleration_by_tensor")(
    lambda sdd, Psi, r: sdd + Psi @ r)
angular_momentum_from_euler_tensor = kernel("(3,3),(3)->(3)", name="angular_momentum_from_euler_tensor")(
    lambda J, w: np.trace(J) * w - J @ w)
angular_momentum_about_point = kernel("(),(3),(3),(3)->(3)", name="angular_momentum_about_point")(
    lambda mass, r, velocity, momentum: momentum + mass * np.cross(r, velocity))
angular_momentum_of_moving_body = kernel("(),(3),(3),(3),(3,3),(3)->(3)", name="angular_momentum_of_moving_body")(
    lambda mass, s, sd, r, I, w: mass * (np.cross(s, sd + np.cross(w, r)) + np.cross(r, sd)) + I @ w)


@kernel("(3,3),(3)->(3,3)")
def angular_momentum_tensor(J: Array, w: Array) -> Array:
    product = J @ hat(w)
    return product - product.T


@kernel("(3,3),(3)->(3,3)")
def angular_momentum_tensor_from_inertia(I: Array, w: Array) -> Array:
    product = hat(w) @ I
    return product.T - product + np.trace(I) * hat(w)


@kernel("(3),(3),(3)->(3)")
def euler_torque_principal(moments: Array, w: Array, wd: Array) -> Array:
    x, y, z = moments
    return moments * wd - np.stack([w[1] * w[2] * (y - z), w[2] * w[0] * (z - x), w[0] * w[1] * (x - y)])


euler_torque_from_euler_tensor = kernel("(3,3),(3),(3)->(3)", name="euler_torque_from_euler_tensor")(
    lambda J, w, wd: -(J @ wd + np.cross(w, J @ w)) + np.trace(J) * wd)


@kernel("(3,3),(3,3)->(3,3)")
def torque_tensor(J: Array, Omega: Array) -> Array:
    product = Omega @ J
    return product - product.T


@kernel("(3,3),(3,3),(3)->(3,3)")
def torque_tensor_from_inertia(I: Array, Omega: Array, wd: Array) -> Array:
    product = Omega @ I
    return product.T - product + np.trace(I) * hat(wd)


moment_about_point = kernel("(3),(3),(3)->(3)", name="moment_about_point")(
    lambda moment, r, force: moment + np.cross(r, force))
force_in_body_axes = kernel("(),(3),(3),(3)->(3)", name="force_in_body_axes")(
    lambda mass, w, velocity, rate: mass * (rate + np.cross(w, velocity)))
fixed_from_nodal = kernel("(3),(3)->(3)", name="fixed_from_nodal")(lambda angles, vector: nodal_axes(angles) @ vector)


@kernel("(),(),(),(),()->()")
def steady_precession_moment(I0: Scalar, I: Scalar, theta: Scalar, precession: Scalar, spin: Scalar) -> Scalar:
    cos = np.cos(theta)
    return precession * np.sin(theta) * (I * (precession * cos + spin) - I0 * precession * cos)


inertia_moved = kernel("(),(3),(3),(3,3)->(3,3)", name="inertia_moved")(
    lambda mass, r_a, r_b, inertia: inertia + mass * (vector_triple_matrix(r_b, r_b) - vector_triple_matrix(r_a, r_a)))
euler_tensor_about_point = kernel("(),(3),(3,3)->(3,3)", name="euler_tensor_about_point")(
    lambda mass, r, euler: euler + mass * np.outer(r, r))


@kernel("(),(3),(6)->(6)")
def moments_about_point(mass: Scalar, r: Array, moments: Array) -> Array:
    x, y, z = r
    return moments + mass * np.stack([y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z])


class Displacement(NamedTuple):
    rotation: Array
    translation: Array


def _check_two(h1: Array, _1: Array, h2: Array, _2: Array) -> None:
    check_homogeneous(h1, h2)


displacement_from_pose = kernel("(4,4)->(4),(3)", name="displacement_from_pose", check=check_pose)(
    lambda T: Displacement(homogeneous_from_matrix.unchecked(T[:3, :3]), T[:3, 3]))
displace_point = kernel("(4),(3),(3)->(3)", name="displace_point", check=check_nonzero_quaternion)(
    lambda h, p, point: rotate_by_homogeneous.unchecked(h, point) + p)
compose_displacements = kernel("(4),(3),(4),(3)->(4),(3)", name="compose_displacements", check=_check_two)(
    lambda h1, p1, h2, p2: Displacement(compose_homogeneous(h1, h2), rotate_by_homogeneous.unchecked(h1, p2) + p1))


@kernel("(4),(3)->(4),(3)", check=check_nonzero_quaternion)
def inverse_displacement(h: Array, p: Array) -> Displacement:
    back = inverse_homogeneous(h)
    return Displacement(back, -rotate_by_homogeneous.unchecked(back, p))


@kernel("(3),(3),(3),(3),(3),(3),(3)->(3),(3),(3)", check=check_vector_parameter)
def motion_of_point_from_vector_parameter(c: Array, dc: Array, ddc: Array, p: Array, dp: Array, ddp: Array,
                                          point: Array) -> PointMotion:
    dh, ddh = (np.concatenate([np.zeros(1), rate]) for rate in (dc, ddc))
    return motion_of_point.unchecked(homogeneous_from_vector_parameter(c), dh, ddh, p, dp, ddp, point)


@kernel("(4,4)->(2,3,3)", check=check_pose)
def dual_matrix_from_pose(T: Array) -> Array:
    R = T[:3, :3]
    return np.stack([R, hat(T[:3, 3]) @ R])


@kernel("(2,3,3)->()")
def dual_orthogonality_defect(O: Array) -> Scalar:
    product = Dual(O[0], O[1]) @ Dual(O[0], O[1]).T
    return np.maximum(np.max(np.abs(product.real - np.eye(3))), np.max(np.abs(product.dual)))


def check_dual_matrix(O: ArrayLike, *_: object, tolerance: float | None = None) -> None:
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


pose_from_dual_matrix = kernel("(2,3,3)->(4,4)", name="pose_from_dual_matrix", check=check_dual_matrix)(
    lambda O: pose_from_matrix.unchecked(O[0], vee(O[1] @ O[0].T)))


def _check_both(A: Array, B: Array) -> None:
    check_dual_matrix(A)
    check_dual_matrix(B)


compose_dual_matrices = kernel("(2,3,3),(2,3,3)->(2,3,3)", name="compose_dual_matrices", check=_check_both)(
    lambda A, B: (Dual(A[0], A[1]) @ Dual(B[0], B[1])).stacked())
transform_dual_vector = kernel("(2,3,3),(2,3)->(2,3)", name="transform_dual_vector", check=check_dual_matrix)(
    lambda O, line: (Dual(O[0], O[1]) @ Dual(line[0], line[1])).stacked())
dual_quaternion_norm = kernel("(2,4)->(2)", name="dual_quaternion_norm")(
    lambda q: dual_norm(Dual(q[0], q[1])).stacked())


@kernel("(2,4)->(2,4)", check=check_real_part)
def dual_quaternion_inverse(q: Array) -> Array:
    form = Dual(q[0], q[1])
    back = dual_quaternion_conjugate(q)
    return (Dual(back[0], back[1]) / (form @ form)).stacked()


@kernel("(2,4),(3)->(3)", check=check_unit_dual_quaternion)
def displace_by_dual_quaternion(q: Array, point: Array) -> Array:
    return rotate_by_quaternion.unchecked(q[0], point) + pose_from_dual_quaternion.unchecked(q)[:3, 3]


@kernel("(2,4),(6)->(6)", check=check_unit_dual_quaternion)
def displace_line_by_dual_quaternion(q: Array, line: Array) -> Array:
    pure = np.stack([np.concatenate([[0.0], line[:3]]), np.concatenate([[0.0], line[3:]])])
    moved = dual_quaternion_product(dual_quaternion_product(q, pure), dual_quaternion_conjugate(q))
    return np.concatenate([moved[0, 1:], moved[1, 1:]])


def _check_finite_quaternion(q: ArrayLike) -> None:
    check_unit_dual_quaternion(q)
    check_not_half_turn(np.asarray(q)[..., 0, :])


@kernel("(2,4)->(2,3)", check=_check_finite_quaternion)
def dual_vector_parameter_from_dual_quaternion(q: Array) -> Array:
    return dual_ratio(q)


def _check_axis(line: ArrayLike, *_: object) -> None:
    check_unit_axis(np.asarray(line)[..., :3])


@kernel("(6),(),()->(2,3)", check=_check_axis)
def dual_vector_parameter_from_screw(line: Array, angle: Scalar, distance: Scalar) -> Array:
    return (dual_tan(Dual(0.5 * angle, 0.5 * distance)) * Dual(line[:3], line[3:])).stacked()


@kernel("(n,4)->(2,3)", check=lambda table: check_not_half_turn(dual_quaternion_of_chain(table)[..., 0, :]))
def dual_vector_parameter_of_chain(table: Array) -> Array:
    return dual_ratio(dual_quaternion_of_chain(table))


chain_closure = kernel("(n,4)->(6)", name="chain_closure")(
    lambda table: twist_from_pose.unchecked(pose_of_chain(table)))


class TranslationFirst(NamedTuple):
    translation: Array
    rotation: Array


rotation_pose = kernel("(3,3)->(4,4)", name="rotation_pose", check=check_rotation_matrix)(
    lambda R: Pose(R, np.zeros(3)).matrix)
transform_homogeneous = kernel("(4,4),(4)->(4)", name="transform_homogeneous", check=check_pose)(
    lambda T_ab, x_b: np.concatenate([T_ab[:3, :3] @ x_b[:3] + x_b[3] * T_ab[:3, 3], x_b[3:]]))
homogeneous_from_point = kernel("(3),()->(4)", name="homogeneous_from_point")(
    lambda point, scale: np.concatenate([scale * point, np.stack([scale])]))


def check_finite_point(x: ArrayLike) -> None:
    x = np.asarray(x)
    if x.ndim < 1 or x.shape[-1] != 4:
        raise GeometryError(f"homogeneous coordinates have shape (..., 4), not {x.shape}")
    bad = first_failure(x[..., 3] != 0)
    if bad is not None:
        raise SingularityError(
            f"the homogeneous coordinates {x[bad].tolist()}{place(bad)} have the scale 0: a direction, not a point")


@kernel("(4)->(3)", check=check_finite_point)
def point_from_homogeneous(x: Array) -> Array:
    scale = divisible(np.abs(x[3]))
    return scale * x[:3] / (scale * x[3])


parts_of_pose = kernel("(4,4)->(3,3),(3)", name="parts_of_pose", check=check_pose)(lambda T: Parts(T[:3, :3], T[:3, 3]))
split_translation_first = kernel("(4,4)->(4,4),(4,4)", name="split_translation_first", check=check_pose)(
    lambda T: TranslationFirst(Pose(np.eye(3), T[:3, 3]).matrix, Pose(T[:3, :3], np.zeros(3)).matrix))
split_rotation_first = kernel("(4,4)->(4,4),(4,4)", name="split_rotation_first", check=check_pose)(
    lambda T: Parts(Pose(T[:3, :3], np.zeros(3)).matrix, Pose(np.eye(3), T[:3, :3].T @ T[:3, 3]).matrix))
klein_defect = kernel("(6)->()", name="klein_defect")(lambda line: (line[:3] @ line[3:]) / (line[:3] @ line[:3]))
line_transform = kernel("(4,4)->(6,6)", name="line_transform", check=check_pose)(
    lambda T_ab: force_transform(T_ab[:3, :3], T_ab[:3, 3]))
plane_reflection = kernel("(3)->(3,3)", name="plane_reflection", check=check_unit_axis)(
    lambda n: np.eye(3) - 2 * np.outer(n, n))
project_on_plane = kernel("(3),(3)->(3)", name="project_on_plane", check=check_unit_axis)(
    lambda n, point: perpendicular_part.unchecked(n, point))
reflect_in_plane = kernel("(3),(3)->(3)", name="reflect_in_plane", check=check_unit_axis)(
    lambda n, point: point - 2 * (n @ point) * n)
screw_from_vector_parameter = kernel("(3),(3)->(3),(3),(3),(),(),()", name="screw_from_vector_parameter")(
    lambda c, p: screw_from_displacement.unchecked(homogeneous_from_vector_parameter(c), p))
twist_at = kernel("(6),(3)->(6)", name="twist_at")(
    lambda twist, shift: np.concatenate([twist[:3] + np.cross(twist[3:], shift), twist[3:]]))
pose_rate_from_world_twist = kernel("(4,4),(6)->(4,4)", name="pose_rate_from_world_twist", check=check_pose)(
    lambda T, twist: _rate(hat(twist[3:]) @ T[:3, :3], np.cross(twist[3:], T[:3, 3]) + twist[:3]))
pose_rate_from_body_twist = kernel("(4,4),(6)->(4,4)", name="pose_rate_from_body_twist", check=check_pose)(
    lambda T, twist: _rate(T[:3, :3] @ hat(twist[3:]), T[:3, :3] @ twist[:3]))


def _rate(dR: Array, dp: Array) -> Array:
    return np.concatenate([np.concatenate([dR, np.stack([dp], axis=1)], axis=1), np.zeros((1, 4))])


angular_velocity_about_axis = kernel("(3),()->(3)", name="angular_velocity_about_axis", check=check_unit_axis)(
    lambda axis, speed: speed * axis)


@kernel("(3,3),(3),(3),(3),(3)->(3)", check=check_rotation_matrix)
def velocity_of_moving_point(R: Array, origin_velocity: Array, w: Array, point: Array, point_rate: Array) -> Array:
    return origin_velocity + np.cross(w, R @ point) + R @ point_rate


rate_from_rotating_frame = kernel("(3),(3),(3)->(3)", name="rate_from_rotating_frame")(
    lambda w, vector, relative_rate: np.cross(w, vector) + relative_rate)


@kernel("(3),(3),(3),(3)->(3),(3),(3),(),(),()", check=check_vector_parameter)
def instantaneous_screw_from_vector_parameter(c: Array, dc: Array, p: Array, dp: Array) -> InstantaneousScrew:
    return instantaneous_screw(chart("vector_parameter").velocity(c, dc).world, dp, p)


@kernel("(4),(4),(3),(3)->(3),(3),(3),(),(),()", check=check_nonzero_quaternion)
def instantaneous_screw_from_homogeneous(h: Array, dh: Array, p: Array, dp: Array) -> InstantaneousScrew:
    return instantaneous_screw(chart("homogeneous").velocity.unchecked(h, dh).world, dp, p)


class Moving(NamedTuple):
    attitude: Array
    velocity: Array


class Changing(NamedTuple):
    attitude: Array
    rate: Array


def _check_parameters(c1: Array, _1: Array, c2: Array, _2: Array) -> None:
    check_composition(c1, c2)


def _check_forms(h1: Array, _1: Array, h2: Array, _2: Array) -> None:
    check_homogeneous(h1, h2)


@kernel("(3),(3),(3),(3)->(3),(3)", check=_check_parameters)
def compose_moving_vector_parameters(c1: Array, w1: Array, c2: Array, w2: Array) -> Moving:
    return Moving(compose_vector_parameters.unchecked(c1, c2), w1 + rotate_by_vector_parameter(c1, w2))


compose_moving_homogeneous = kernel("(4),(3),(4),(3)->(4),(3)", name="compose_moving_homogeneous", check=_check_forms)(
    lambda h1, w1, h2, w2: Moving(compose_homogeneous(h1, h2), w1 + rotate_by_homogeneous.unchecked(h1, w2)))


@kernel("(3),(3)->(3),(3)", check=check_vector_parameter)
def inverse_of_moving_vector_parameter(c: Array, w: Array) -> Moving:
    return Moving(-c, -rotate_by_vector_parameter(-c, w))


@kernel("(4),(3)->(4),(3)", check=lambda h, _: check_homogeneous(h))
def inverse_of_moving_homogeneous(h: Array, w: Array) -> Moving:
    inverse = inverse_homogeneous(h)
    return Moving(inverse, -rotate_by_homogeneous.unchecked(inverse, w))


@kernel("(3),(3),(3),(3)->(3),(3)", check=_check_parameters)
def compose_changing_vector_parameters(c1: Array, dc1: Array, c2: Array, dc2: Array) -> Changing:
    across = c1 + c2 + np.cross(c1, c2)
    scale = 1 - c1 @ c2
    across_rate = dc1 + dc2 + np.cross(dc1, c2) + np.cross(c1, dc2)
    product = across / scale
    return Changing(product, (across_rate + (dc1 @ c2 + c1 @ dc2) * product) / scale)


@kernel("(4),(4),(4),(4)->(4),(4)", check=_check_forms)
def compose_changing_homogeneous(h1: Array, dh1: Array, h2: Array, dh2: Array) -> Changing:
    return Changing(compose_homogeneous(h1, h2), compose_homogeneous(dh1, h2) + compose_homogeneous(h1, dh2))


class TangentPair(NamedTuple):
    point: Array
    tangent: Array


def check_tangent_pair(x: ArrayLike, y: ArrayLike, *others: Array) -> None:
    x = np.asarray(x)
    y = np.asarray(y)
    allowed = max(tolerance_of(x), tolerance_of(y))
    products = {
        "|x| - 1": np.linalg.norm(x, axis=-1) - 1, "|y| - 1": np.linalg.norm(y, axis=-1) - 1,
        "x.y": np.sum(x * y, axis=-1)}
    for name, defect in products.items():
        bad = first_failure(np.abs(defect) <= allowed)
        if bad is not None:
            wrong = "are not at right angles" if name == "x.y" else "are not of length one"
            raise GeometryError(
                f"the vectors of the pair{place(bad)} {wrong}: {name} is {defect[bad]:.3g}, {allowed:.0e} is allowed")
    if others:
        check_tangent_pair(*others)


@kernel("(3),(3)->(3,3)", check=check_tangent_pair)
def matrix_from_tangent_pair(x: Array, y: Array) -> Array:
    x = nearly_unit(x)
    y = nearly_unit(y - (x @ y) * x)
    return np.stack([x, y, np.cross(x, y)], axis=1)


tangent_pair_from_matrix = kernel("(3,3)->(3),(3)", name="tangent_pair_from_matrix", check=check_rotation_matrix)(
    lambda R: TangentPair(R[:, 0], R[:, 1]))
homogeneous_from_tangent_pair = kernel("(3),(3)->(4)", name="homogeneous_from_tangent_pair", check=check_tangent_pair)(
    lambda x, y: homogeneous_from_matrix.unchecked(matrix_from_tangent_pair.unchecked(x, y)))


def _check_finite(x: Array, y: Array) -> None:
    check_tangent_pair(x, y)
    check_not_half_turn(homogeneous_from_tangent_pair.unchecked(x, y))


@kernel("(3),(3)->(3)", check=_check_finite)
def vector_parameter_from_tangent_pair(x: Array, y: Array) -> Array:
    h = homogeneous_from_tangent_pair.unchecked(x, y)
    return h[1:] / h[0]


skew_vector_from_matrix = kernel("(3,3)->(3)", name="skew_vector_from_matrix", check=check_rotation_matrix)(
    lambda R: 2 * vee(R))


def _check_skew_vector(a: Array, cosine_sign: Array) -> None:
    length = np.linalg.norm(np.asarray(a), axis=-1)
    bad = first_failure(length <= 2 * (1 + tolerance_of(a)))
    if bad is not None:
        raise GeometryError(
            f"a{place(bad)} = 2 sin(angle) axis has the length {length[bad]:.10g}, which is more than 2")
    if not np.all(np.abs(np.asarray(cosine_sign)) == 1):
        raise GeometryError(f"the sign of the cosine is 1 or -1, not {cosine_sign}")


homogeneous_from_skew_vector = kernel("(3),()->(4)", name="homogeneous_from_skew_vector", check=_check_skew_vector)(
    lambda a, cosine_sign: np.concatenate([[_one_plus_trace(a, cosine_sign)], a]))


def _one_plus_trace(a: Array, cosine_sign: Scalar) -> Scalar:
    rest = 4 - a @ a
    root = np.sqrt(where(rest > 0, rest, 0.0))
    return where(cosine_sign > 0, 2 + root, (a @ a) / (2 + root))


@kernel("(3),(3),(3),(3)->(3),(3)", check=check_tangent_pair)
def compose_tangent_pairs(x1: Array, y1: Array, x2: Array, y2: Array) -> TangentPair:
    R = matrix_from_tangent_pair.unchecked(x1, y1)
    return TangentPair(R @ x2, R @ y2)


@kernel("(3),(),(3),()->(4)")
def compose_skew_vectors(a1: Array, trace1: Scalar, a2: Array, trace2: Scalar) -> Array:
    n1 = 1 + trace1
    n2 = 1 + trace2
    return np.concatenate([[n1 * n2 - a1 @ a2], n2 * a1 + n1 * a2 + np.cross(a1, a2)])


direction_cosines = kernel("(3,3),(3,3)->(3,3)", name="direction_cosines", check=check_rotation_matrices)(
    lambda axes_a, axes_b: axes_a.T @ axes_b)
components_along_axes = kernel("(3,3),(3)->(3)", name="components_along_axes", check=check_rotation_matrix)(
    lambda axes, vector: axes.T @ vector)
conjugate_homogeneous = kernel("(4),(4)->(4)", name="conjugate_homogeneous", check=check_homogeneous)(
    lambda a, b: np.concatenate([[b[0]], rotate_by_homogeneous.unchecked(a, b[1:])]))
inverse_rotation = kernel("(3,3)->(3,3)", name="inverse_rotation", check=check_rotation_matrix)(lambda R_ab: R_ab.T)
spinor_with_phase = kernel("(2,2),()->(2,2)", name="spinor_with_phase")(
    lambda psi, phase: product(psi, np.stack([np.cos(phase), np.sin(phase)])))
turn_spinor = kernel("(2,2,2),(2,2)->(2,2)", name="turn_spinor", check=check_unitary)(
    lambda U, psi: matrix_product(U, psi))
turn_hermitian = kernel("(2,2,2),(2,2,2)->(2,2,2)", name="turn_hermitian", check=check_unitary)(
    lambda U, X: matrix_product(matrix_product(U, X), adjoint(U)))
inverse_vector_parameter = kernel("(3)->(3)", name="inverse_vector_parameter")(lambda c: -c)
conjugate_vector_parameter = kernel("(3),(3)->(3)", name="conjugate_vector_parameter", check=check_vector_parameters)(
    lambda a, c: rotate_by_vector_parameter(a, c))
