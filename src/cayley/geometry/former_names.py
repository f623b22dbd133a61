"""Formulas that were public names of `cayley.geometry` and go with version 0.4.0: a table of one expression each.

Each follows from NumPy or from other functions of the package in one line: `T @ v` says what `right_dot(T, v)` said."""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable
from functools import cache
from importlib import import_module
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar, Text
from cayley.errors import SingularityError, UnsupportedError
from cayley.geometry import motions as mo
from cayley.geometry import rotations as ro
from cayley.geometry import tensors as te
from cayley.geometry.inertia.gyroscope import nodal_axes
from cayley.geometry.inertia.tensors import MassMoments
from cayley.geometry.motions.dual import Dual, dual_norm, dual_tan
from cayley.geometry.motions.dual_quaternion import check_real_part
from cayley.geometry.motions.dual_vector_parameter import dual_ratio
from cayley.geometry.motions.homogeneous import MotionParts
from cayley.geometry.pose import Pose
from cayley.geometry.rates.charts import chart, euler_chart
from cayley.geometry.rates.points import instantaneous_screw
from cayley.geometry.rotations.matrix import check_rotation_matrices
from cayley.geometry.rotations.spinor import adjoint, matrix_product, product
from cayley.geometry.rotations.vector_parameter import (
    check_composition,
    check_vector_parameter,
    check_vector_parameters,
)
from cayley.geometry.scaling import divisible, nearly_unit
from cayley.geometry.spatial import force_transform
from cayley.geometry.tensors.checks import check_orthogonal, check_skew, refuse_where, unit_vectors
from cayley.geometry.tensors.cross import skew
from cayley.geometry.tensors.projections import check_direction

_RATES = {  # of a chart: what the former names were, and the kernel of the chart that they are
    r"angular_velocity_from_(\w+)_rates?": "velocity",
    r"angular_acceleration_from_(\w+)_rates": "acceleration",
    r"(\w+)_second_rates?_from_(world|body)_acceleration": "accelerations_from_",
    r"(\w+)_rates?_from_(world|body)_velocity": "rates_from_",
}
_CHARTS = ("matrix", "quaternion", "homogeneous", "spinor", "rotation_vector", "vector_parameter", "euler")
_RUN = ".simulate(start, times=times, inputs=...) of cayley.machines, which gives a `Trajectory`"
_SYSTEMS = {"attitude": f"rotating_body(inertia){_RUN}; start has `orientation` and `angular_velocity`",
            "body": f"rigid_body(body){_RUN}; start has `position`, `velocity`, `orientation` and `angular_velocity`",
            "gyroscope": f"gyroscope(I0, I, axes=...){_RUN}; start has `angles` and `rates`"}
_RENAMED: dict[str, Any] = {"Moments": MassMoments, "euler_rate_kernels": euler_chart}
_MOVED = ("AttitudePath", "ChartSpan", "IntegratedPoses", "OrthogonalPath", "TensorState", "TensorTrajectory",
          "integrate_attitude", "integrate_orthogonal", "integrate_pose", "simulate_by_tensors")


def former(name: str) -> tuple[Any, str]:
    """The object of a former name, None if it is none, and what to write instead of it."""
    for pattern, field in _RATES.items():
        found = re.fullmatch(pattern, name)
        if found and found[1] in _CHARTS:
            field += found[2] if len(found.groups()) > 1 else ""
            if found[1] == "euler":
                return _of_euler(field), f"write euler_chart(sequence, axes=...).{field}"
            return getattr(chart(found[1]), field), f'write chart("{found[1]}").{field}'
    simulated = re.fullmatch(r"simulate_([a-z]+)|(Attitude|Body|Gyroscope)(State|Trajectory)", name)
    instead = _SYSTEMS.get((simulated[1] or simulated[2]).lower()) if simulated else None
    if instead:
        raise UnsupportedError(f"{name} is gone, because one body is a system like any other: write {instead}")
    if name in _RENAMED:
        return _RENAMED[name], f"write {_RENAMED[name].__name__}"
    name = "IntegratedPoses" if name == "PosePath" else name
    if name in _MOVED:
        return getattr(import_module("cayley.machines"), name), f"it is `cayley.machines.{name}` now"
    return (_of_table(name) if name in TABLE else OTHERS.get(name),
            "its formula in cayley/geometry/former_names.py is short enough to be written where it is needed")


def _of_euler(field: str) -> Callable[..., Any]:
    return lambda *arguments, sequence, axes: getattr(euler_chart(sequence, axes=axes), field)(*arguments)


@cache
def _of_table(name: str) -> Any:  # noqa: ANN401 (a kernel of one value or of several)
    signature, check, formula = TABLE[name]
    return kernel(signature, name=name, check=check)(formula)


PrincipalInvariants = namedtuple("PrincipalInvariants", "first second third")
PowerTraces = namedtuple("PowerTraces", "first second third")
AngularAcceleration = namedtuple("AngularAcceleration", "turning centripetal")
Displacement = namedtuple("Displacement", "rotation translation")
TranslationFirst = namedtuple("TranslationFirst", "translation rotation")
Moving = namedtuple("Moving", "attitude velocity")
Changing = namedtuple("Changing", "attitude rate")
TangentPair = namedtuple("TangentPair", "point tangent")


def check_dual_matrix(*matrices: ArrayLike) -> None:
    for O in (np.asarray(given) for given in matrices if np.ndim(given) >= 3):
        ro.check_rotation_matrix(O[..., 0, :, :])
        check_skew(O[..., 1, :, :] @ np.swapaxes(O[..., 0, :, :], -2, -1))


def check_finite_point(x: ArrayLike) -> None:
    scale = np.asarray(x)[..., 3]
    refuse_where(scale == 0, "homogeneous coordinates{element} have the scale 0: a direction, not a point", scale,
                 SingularityError)


def check_tangent_pair(*pairs: ArrayLike) -> None:
    for x, y in zip(pairs[::2], pairs[1::2], strict=True):
        ro.check_rotation_matrix(np.stack([x, y, np.cross(x, y)], axis=-1))


def _finite_dual(q: ArrayLike) -> None:
    mo.check_unit_dual_quaternion(q)
    ro.check_not_half_turn(np.asarray(q)[..., 0, :])


def isotropic_defect(T: Array) -> float:
    T = np.asarray(T, dtype=float)
    part = te.isotropic_part(T) if T.ndim == 2 else np.sum(T * te.LEVI_CIVITA) / 6 * te.LEVI_CIVITA
    return float(np.abs(T - part).max())


def _symmetrised(n: int, pairs: Callable[..., Any], sign: int) -> Array:
    dyads = [np.outer(np.eye(n)[i], np.eye(n)[j]) for i, j in pairs(range(n), 2)]
    return np.array([dyad + sign * dyad.T for dyad in dyads]).reshape(-1, n, n)


OTHERS: dict[str, Any] = {
    "PrincipalInvariants": PrincipalInvariants, "PowerTraces": PowerTraces, "AngularAcceleration": AngularAcceleration,
    "check_dual_matrix": check_dual_matrix, "check_finite_point": check_finite_point,
    "check_tangent_pair": check_tangent_pair, "isotropic_defect": isotropic_defect,
    "dyad_basis": lambda frame=None: np.einsum("ki,lj->ijkl", unit_vectors(frame), unit_vectors(frame)),
    "symmetric_basis": lambda n=3: _symmetrised(n, combinations_with_replacement, 1),
    "skew_basis": lambda n=3: _symmetrised(n, combinations, -1),
}


def _less_transpose(T: Array) -> Array:
    return T - T.T


def _with_zero_row(dR: Array, dp: Array) -> Array:
    return np.concatenate([np.concatenate([dR, np.stack([dp], axis=1)], axis=1), np.zeros((1, 4))])


def _first(check: Callable[..., None]) -> Callable[..., None]:
    """The check of the first argument alone."""
    return lambda first, *_: check(first)


def _alternate(check: Callable[..., None]) -> Callable[..., None]:
    """The check of the attitudes in (attitude, rate, attitude, rate)."""
    return lambda first, _, second, __: check(first, second)


def _with_rates(c1: Array, dc1: Array, c2: Array, dc2: Array) -> Changing:
    scale = 1 - c1 @ c2
    both = (c1 + c2 + np.cross(c1, c2)) / scale
    rate = dc1 + dc2 + np.cross(dc1, c2) + np.cross(c1, dc2)
    return Changing(both, (rate + (dc1 @ c2 + c1 @ dc2) * both) / scale)


def _moved_line(q: Array, line: Array) -> Array:
    pure = np.stack([np.concatenate([[0.0], line[:3]]), np.concatenate([[0.0], line[3:]])])
    moved = mo.dual_quaternion_product(mo.dual_quaternion_product(q, pure), mo.dual_quaternion_conjugate(q))
    return np.concatenate([moved[0, 1:], moved[1, 1:]])


def _dual_defect(O: Array) -> Scalar:
    square = Dual(O[0], O[1]) @ Dual(O[0], O[1]).T
    return np.maximum(np.max(np.abs(square.real - np.eye(3))), np.max(np.abs(square.dual)))


def _of_pair(x: Array, y: Array) -> Array:
    x = nearly_unit(x)
    y = nearly_unit(y - (x @ y) * x)
    return np.stack([x, y, np.cross(x, y)], axis=1)


def _pair_form(x: Array, y: Array) -> Array:
    return ro.homogeneous_from_matrix.unchecked(_of_pair(x, y))


def _one_plus_trace(a: Array, cosine_sign: Scalar) -> Scalar:
    rest = 4 - a @ a
    root = np.sqrt(where(rest > 0, rest, 0.0))
    return where(cosine_sign > 0, 2 + root, (a @ a) / (2 + root))


_turned = ro.rotate_by_homogeneous.unchecked
_undone = ro.inverse_homogeneous
_matrix, _pose, _form = ro.check_rotation_matrix, mo.check_pose, ro.check_nonzero_quaternion
_dual_quaternion = mo.check_unit_dual_quaternion

TABLE: dict[str, tuple[str, Callable[..., None] | None, Text]] = {  # signature, check, formula
    # tensors
    "principal_invariants": ("(3,3)->(),(),()", None, lambda T: PrincipalInvariants(*te.scalar_invariants(T)[:3])),
    "principal_from_eigenvalues": ("(3)->(),(),()", None, lambda values: PrincipalInvariants(
        np.sum(values), values[0] * values[1] + values[1] * values[2] + values[2] * values[0], np.prod(values))),
    "power_traces": ("(3,3)->(),(),()", None, lambda T: PowerTraces(
        np.trace(T), np.trace(T @ T), np.trace(T @ T @ T))),
    "principal_from_power_traces": ("(),(),()->(),(),()", None, lambda first, second, third: PrincipalInvariants(
        first, (first * first - second) / 2, (2 * third + first * first * first - 3 * first * second) / 6)),
    "symmetric_square": ("(),()->()", None, lambda first, second: first * first - 2 * second),
    "right_dot": ("(n,n),(n)->(n)", None, lambda T, v: T @ v),
    "left_dot": ("(n),(n,n)->(n)", None, lambda v, T: v @ T),
    "tensor_product": ("(n,n),(n,n)->(n,n,n,n)", None, lambda T, S: np.einsum("ij,kl->ijkl", T, S)),
    "inner_product": ("(n,n),(n,n)->()", None, lambda T, S: np.sum(T * S)),
    "scalar_triple_product": ("(3),(3),(3)->()", None, lambda a, b, c: a @ np.cross(b, c)),
    "vector_triple_product": ("(3),(3),(3)->(3)", None, lambda a, b, c: (c @ a) * b - (a @ b) * c),
    "axis_projection": ("(n)->(n,n)", check_direction, lambda e: np.outer(e, e)),
    "parallel_part": ("(n),(n)->(n)", check_direction, lambda e, v: e * (e @ v)),
    "angular_acceleration_tensor": ("(n,n),(n,n)->(n,n)", _first(check_orthogonal), lambda Q, Qdd: Qdd @ Q.T),
    "angular_acceleration_from_tensors": ("(n,n),(n,n)->(n,n)", _first(check_skew), lambda Phi, Phid: Phid + Phi @ Phi),
    "split_angular_acceleration": ("(n,n)->(n,n),(n,n)", None, lambda Psi: AngularAcceleration(
        (Psi - Psi.T) / 2, (Psi + Psi.T) / 2)),
    "point_velocity_by_tensor": ("(n),(n,n),(n)->(n)", None, lambda sd, Phi, r: sd + Phi @ r),
    "point_acceleration_by_tensor": ("(n),(n,n),(n)->(n)", None, lambda sdd, Psi, r: sdd + Psi @ r),
    # inertia
    "angular_momentum_from_euler_tensor": ("(3,3),(3)->(3)", None, lambda J, w: np.trace(J) * w - J @ w),
    "angular_momentum_about_point": ("(),(3),(3),(3)->(3)", None, lambda mass, r, velocity, momentum:
        momentum + mass * np.cross(r, velocity)),
    "angular_momentum_of_moving_body": ("(),(3),(3),(3),(3,3),(3)->(3)", None, lambda mass, s, sd, r, I, w:
        mass * (np.cross(s, sd + np.cross(w, r)) + np.cross(r, sd)) + I @ w),
    "angular_momentum_tensor": ("(3,3),(3)->(3,3)", None, lambda J, w: _less_transpose(J @ skew(w))),
    "angular_momentum_tensor_from_inertia": ("(3,3),(3)->(3,3)", None, lambda I, w:
        np.trace(I) * skew(w) - _less_transpose(skew(w) @ I)),
    "euler_torque_principal": ("(3),(3),(3)->(3)", None, lambda moments, w, wd:
        moments * wd + np.cross(w, moments * w)),
    "euler_torque_from_euler_tensor": ("(3,3),(3),(3)->(3)", None, lambda J, w, wd:
        -(J @ wd + np.cross(w, J @ w)) + np.trace(J) * wd),
    "torque_tensor": ("(3,3),(3,3)->(3,3)", None, lambda J, Omega: _less_transpose(Omega @ J)),
    "torque_tensor_from_inertia": ("(3,3),(3,3),(3)->(3,3)", None, lambda I, Omega, wd:
        np.trace(I) * skew(wd) - _less_transpose(Omega @ I)),
    "moment_about_point": ("(3),(3),(3)->(3)", None, lambda moment, r, force: moment + np.cross(r, force)),
    "force_in_body_axes": ("(),(3),(3),(3)->(3)", None, lambda mass, w, velocity, rate:
        mass * (rate + np.cross(w, velocity))),
    "fixed_from_nodal": ("(3),(3)->(3)", None, lambda angles, vector: nodal_axes(angles) @ vector),
    "steady_precession_moment": ("(),(),(),(),()->()", None, lambda I0, I, theta, precession, spin:
        precession * np.sin(theta) * (I * (precession * np.cos(theta) + spin) - I0 * precession * np.cos(theta))),
    "inertia_moved": ("(),(3),(3),(3,3)->(3,3)", None, lambda mass, r_a, r_b, inertia:
        inertia + mass * (te.vector_triple_matrix(r_b, r_b) - te.vector_triple_matrix(r_a, r_a))),
    "euler_tensor_about_point": ("(),(3),(3,3)->(3,3)", None, lambda mass, r, euler: euler + mass * np.outer(r, r)),
    "moments_about_point": ("(),(3),(6)->(6)", None, lambda mass, r, moments: moments + mass * np.stack(
        [r[1] * r[1] + r[2] * r[2], r[0] * r[0] + r[2] * r[2], r[0] * r[0] + r[1] * r[1],
         -r[0] * r[1], -r[0] * r[2], -r[1] * r[2]])),
    # displacements and dual numbers
    "displacement_from_pose": ("(4,4)->(4),(3)", _pose, lambda T: Displacement(
        ro.homogeneous_from_matrix.unchecked(T[:3, :3]), T[:3, 3])),
    "displace_point": ("(4),(3),(3)->(3)", _form, lambda h, p, point: _turned(h, point) + p),
    "compose_displacements": ("(4),(3),(4),(3)->(4),(3)", _alternate(ro.check_homogeneous), lambda h1, p1, h2, p2:
        Displacement(ro.compose_homogeneous(h1, h2), _turned(h1, p2) + p1)),
    "inverse_displacement": ("(4),(3)->(4),(3)", _form, lambda h, p: Displacement(_undone(h), -_turned(_undone(h), p))),
    "motion_of_point_from_vector_parameter": (
        "(3),(3),(3),(3),(3),(3),(3)->(3),(3),(3)", check_vector_parameter, lambda c, dc, ddc, p, dp, ddp, point:
        mo.motion_of_point.unchecked(*(np.concatenate([[w], v]) for w, v in ((1.0, c), (0.0, dc), (0.0, ddc))), p, dp,
                                     ddp, point)),
    "dual_matrix_from_pose": ("(4,4)->(2,3,3)", _pose, lambda T: np.stack([T[:3, :3], skew(T[:3, 3]) @ T[:3, :3]])),
    "dual_orthogonality_defect": ("(2,3,3)->()", None, _dual_defect),
    "pose_from_dual_matrix": ("(2,3,3)->(4,4)", check_dual_matrix, lambda O: Pose(O[0], te.vee(O[1] @ O[0].T)).matrix),
    "compose_dual_matrices": ("(2,3,3),(2,3,3)->(2,3,3)", check_dual_matrix, lambda A, B:
        (Dual(A[0], A[1]) @ Dual(B[0], B[1])).stacked()),
    "transform_dual_vector": ("(2,3,3),(2,3)->(2,3)", _first(check_dual_matrix), lambda O, line:
        (Dual(O[0], O[1]) @ Dual(line[0], line[1])).stacked()),
    "dual_quaternion_norm": ("(2,4)->(2)", None, lambda q: dual_norm(Dual(q[0], q[1])).stacked()),
    "dual_quaternion_inverse": ("(2,4)->(2,4)", check_real_part, lambda q:
        (Dual(*mo.dual_quaternion_conjugate(q)) / (Dual(q[0], q[1]) @ Dual(q[0], q[1]))).stacked()),
    "displace_by_dual_quaternion": ("(2,4),(3)->(3)", _dual_quaternion, lambda q, point:
        ro.rotate_by_quaternion.unchecked(q[0], point) + mo.pose_from_dual_quaternion.unchecked(q)[:3, 3]),
    "displace_line_by_dual_quaternion": ("(2,4),(6)->(6)", _dual_quaternion, _moved_line),
    "dual_vector_parameter_from_dual_quaternion": ("(2,4)->(2,3)", _finite_dual, dual_ratio),
    "dual_vector_parameter_from_screw": (
        "(6),(),()->(2,3)", lambda line, *_: ro.check_unit_axis(np.asarray(line)[..., :3]), lambda line, angle,
        distance: (dual_tan(Dual(0.5 * angle, 0.5 * distance)) * Dual(line[:3], line[3:])).stacked()),
    "dual_vector_parameter_of_chain": (
        "(n,4)->(2,3)", lambda table: ro.check_not_half_turn(mo.dual_quaternion_of_chain(table)[..., 0, :]),
        lambda table: dual_ratio(mo.dual_quaternion_of_chain(table))),
    "chain_closure": ("(n,4)->(6)", None, lambda table: mo.twist_from_pose.unchecked(mo.pose_of_chain(table))),
    # poses, lines and planes
    "rotation_pose": ("(3,3)->(4,4)", _matrix, lambda R: Pose(R, np.zeros(3)).matrix),
    "transform_homogeneous": ("(4,4),(4)->(4)", _pose, lambda T_ab, x_b: T_ab @ x_b),
    "homogeneous_from_point": ("(3),()->(4)", None, lambda point, scale: scale * np.concatenate([point, [1.0]])),
    "point_from_homogeneous": ("(4)->(3)", check_finite_point, lambda x:
        divisible(np.abs(x[3])) * x[:3] / (divisible(np.abs(x[3])) * x[3])),
    "parts_of_pose": ("(4,4)->(3,3),(3)", _pose, lambda T: MotionParts(T[:3, :3], T[:3, 3])),
    "split_translation_first": ("(4,4)->(4,4),(4,4)", _pose, lambda T: TranslationFirst(
        Pose(np.eye(3), T[:3, 3]).matrix, Pose(T[:3, :3], np.zeros(3)).matrix)),
    "split_rotation_first": ("(4,4)->(4,4),(4,4)", _pose, lambda T: MotionParts(
        Pose(T[:3, :3], np.zeros(3)).matrix, Pose(np.eye(3), T[:3, :3].T @ T[:3, 3]).matrix)),
    "klein_defect": ("(6)->()", None, lambda line: (line[:3] @ line[3:]) / (line[:3] @ line[:3])),
    "line_transform": ("(4,4)->(6,6)", _pose, lambda T_ab: force_transform(T_ab[:3, :3], T_ab[:3, 3])),
    "plane_reflection": ("(3)->(3,3)", ro.check_unit_axis, lambda n: np.eye(3) - 2 * np.outer(n, n)),
    "project_on_plane": ("(3),(3)->(3)", ro.check_unit_axis, lambda n, point: point - (n @ point) * n),
    "reflect_in_plane": ("(3),(3)->(3)", ro.check_unit_axis, lambda n, point: point - 2 * (n @ point) * n),
    "screw_from_vector_parameter": ("(3),(3)->(3),(3),(3),(),(),()", None, lambda c, p:
        mo.screw_from_displacement.unchecked(ro.homogeneous_from_vector_parameter(c), p)),
    "twist_at": ("(6),(3)->(6)", None, lambda twist, shift:
        np.concatenate([twist[:3] + np.cross(twist[3:], shift), twist[3:]])),
    "pose_rate_from_world_twist": ("(4,4),(6)->(4,4)", _pose, lambda T, twist:
        _with_zero_row(skew(twist[3:]) @ T[:3, :3], np.cross(twist[3:], T[:3, 3]) + twist[:3])),
    "pose_rate_from_body_twist": ("(4,4),(6)->(4,4)", _pose, lambda T, twist:
        _with_zero_row(T[:3, :3] @ skew(twist[3:]), T[:3, :3] @ twist[:3])),
    # rates
    "angular_velocity_about_axis": ("(3),()->(3)", ro.check_unit_axis, lambda axis, speed: speed * axis),
    "velocity_of_moving_point": ("(3,3),(3),(3),(3),(3)->(3)", _matrix, lambda R, origin_velocity, w, point, point_rate:
        origin_velocity + np.cross(w, R @ point) + R @ point_rate),
    "rate_from_rotating_frame": ("(3),(3),(3)->(3)", None, lambda w, vector, relative_rate:
        np.cross(w, vector) + relative_rate),
    "instantaneous_screw_from_vector_parameter": (
        "(3),(3),(3),(3)->(3),(3),(3),(),(),()", check_vector_parameter, lambda c, dc, p, dp:
        instantaneous_screw(chart("vector_parameter").velocity(c, dc).world, dp, p)),
    "instantaneous_screw_from_homogeneous": ("(4),(4),(3),(3)->(3),(3),(3),(),(),()", _form, lambda h, dh, p, dp:
        instantaneous_screw(chart("homogeneous").velocity.unchecked(h, dh).world, dp, p)),
    "compose_moving_vector_parameters": (
        "(3),(3),(3),(3)->(3),(3)", _alternate(check_composition), lambda c1, w1, c2, w2: Moving(
            ro.compose_vector_parameters.unchecked(c1, c2), w1 + ro.rotate_by_vector_parameter(c1, w2))),
    "compose_moving_homogeneous": ("(4),(3),(4),(3)->(4),(3)", _alternate(ro.check_homogeneous), lambda h1, w1, h2, w2:
        Moving(ro.compose_homogeneous(h1, h2), w1 + _turned(h1, w2))),
    "inverse_of_moving_vector_parameter": ("(3),(3)->(3),(3)", check_vector_parameter, lambda c, w: Moving(
        -c, -ro.rotate_by_vector_parameter(-c, w))),
    "inverse_of_moving_homogeneous": ("(4),(3)->(4),(3)", _first(ro.check_homogeneous), lambda h, w: Moving(
        _undone(h), -_turned(_undone(h), w))),
    "compose_changing_vector_parameters": ("(3),(3),(3),(3)->(3),(3)", _alternate(check_composition), _with_rates),
    "compose_changing_homogeneous": (
        "(4),(4),(4),(4)->(4),(4)", _alternate(ro.check_homogeneous), lambda h1, dh1, h2, dh2: Changing(
            ro.compose_homogeneous(h1, h2), ro.compose_homogeneous(dh1, h2) + ro.compose_homogeneous(h1, dh2))),
    "matrix_from_tangent_pair": ("(3),(3)->(3,3)", check_tangent_pair, _of_pair),
    "tangent_pair_from_matrix": ("(3,3)->(3),(3)", _matrix, lambda R: TangentPair(R[:, 0], R[:, 1])),
    "homogeneous_from_tangent_pair": ("(3),(3)->(4)", check_tangent_pair, _pair_form),
    "vector_parameter_from_tangent_pair": ("(3),(3)->(3)", check_tangent_pair, lambda x, y:
        _pair_form(x, y)[1:] / _pair_form(x, y)[0]),
    "skew_vector_from_matrix": ("(3,3)->(3)", _matrix, lambda R: 2 * te.vee(R)),
    "homogeneous_from_skew_vector": ("(3),()->(4)", None, lambda a, cosine_sign:
        np.concatenate([[_one_plus_trace(a, cosine_sign)], a])),
    "compose_tangent_pairs": ("(3),(3),(3),(3)->(3),(3)", check_tangent_pair, lambda x1, y1, x2, y2: TangentPair(
        _of_pair(x1, y1) @ x2, _of_pair(x1, y1) @ y2)),
    "compose_skew_vectors": ("(3),(),(3),()->(4)", None, lambda a1, trace1, a2, trace2: np.concatenate(
        [[(1 + trace1) * (1 + trace2) - a1 @ a2], (1 + trace2) * a1 + (1 + trace1) * a2 + np.cross(a1, a2)])),
    # rotations
    "direction_cosines": ("(3,3),(3,3)->(3,3)", check_rotation_matrices, lambda axes_a, axes_b: axes_a.T @ axes_b),
    "components_along_axes": ("(3,3),(3)->(3)", _matrix, lambda axes, vector: axes.T @ vector),
    "conjugate_homogeneous": ("(4),(4)->(4)", ro.check_homogeneous, lambda a, b:
        np.concatenate([[b[0]], _turned(a, b[1:])])),
    "inverse_rotation": ("(3,3)->(3,3)", _matrix, lambda R_ab: R_ab.T),
    "spinor_with_phase": ("(2,2),()->(2,2)", None, lambda psi, phase:
        product(psi, np.stack([np.cos(phase), np.sin(phase)]))),
    "turn_spinor": ("(2,2,2),(2,2)->(2,2)", ro.check_unitary, lambda U, psi: matrix_product(U, psi)),
    "turn_hermitian": ("(2,2,2),(2,2,2)->(2,2,2)", ro.check_unitary, lambda U, X:
        matrix_product(matrix_product(U, X), adjoint(U))),
    "inverse_vector_parameter": ("(3)->(3)", None, lambda c: -c),
    "conjugate_vector_parameter": ("(3),(3)->(3)", check_vector_parameters, lambda a, c:
        ro.rotate_by_vector_parameter(a, c)),
}
