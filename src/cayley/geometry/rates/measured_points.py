"""Angular velocity and acceleration of a body from the measured motion of its points.

Points are rows (n, 3) of positions, velocities, accelerations, in any order but the same. P is what is left of them
after the centroid is taken away, transposed: P, dP, ddP are 3 x n, and for a rigid body dP = Omega P, ddP = (dOmega +
Omega^2) P.

    trace form    (three points)  w = D^-1 vee(dP), D = (tr(P) 1 - P)/2; singular for sets that are not at all
                  degenerate, spec E-27
    robust form   (three or more) w of least squares, J w = 2 vee(dP P^T), J = tr(P P^T) 1 - P P^T; singular only for
                  points on a line

The robust form is solved by orthonormal columns of the equations w x P = dP themselves: J has the square of their
condition, and would lose twice the digits for points that are nearly on a line.

Source: Ruggiu (2.22)-(2.37), spec 3.5.

>>> points, rates = [[1, 0, 0], [0, 2, 0], [0, 0, 3]], [[.1, 3.2, 2.3], [-5.9, .2, 2.3], [-5.9, -2.8, .3]]
>>> angular_velocity_from_points_by_trace(points, rates), angular_velocity_from_points(points, rates).round(12)
(array([ 1., -2.,  3.]), array([ 1., -2.,  3.]))
>>> angular_acceleration_from_points(points, [0.0, 0.0, 0.0], [[0, 3, -2], [-6, 0, 2], [6, -3, 0]]).round(12)
array([1., 2., 3.])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError, SingularityError
from cayley.geometry.batch import first_failure, place, refuse
from cayley.geometry.formula import formula
from cayley.geometry.scaling import largest_component, scaling
from cayley.geometry.tensors.cross import hat, vee

THINNEST = 1e-8
"""A set whose second extent is below this part of its first is a line (float32: 3e-4): half of the digits would be
lost. Smaller than the tolerance of ranks, because points are given, and the solution loses their digits once only."""


def _thinnest(points: ArrayLike) -> float:
    return 3e-4 if np.asarray(points).dtype in (np.float32, np.float16) else THINNEST


class Compatibility(NamedTuple):
    """`matrix` (n, n): zero for rigid data; `pairs` (n, n): the same by distances, three of three points."""

    matrix: Array
    pairs: Array


@dataclass(frozen=True)
class RigidRates:
    """The motion of a body as its measured points tell it.

    `angular_velocity`, `angular_acceleration` (None without accelerations) are spatial [rad/s, rad/s^2]; `centroid`,
    `centroid_velocity`, `centroid_acceleration` are of the points. `velocity_residual`, `acceleration_residual` (n, 3)
    are what the rigid motion leaves unexplained of each point; `compatibility_of_velocities`, `..._of_accelerations`
    are the conditions on the data alone."""

    angular_velocity: Array
    angular_acceleration: Array | None
    centroid: Array
    centroid_velocity: Array
    centroid_acceleration: Array | None
    velocity_residual: Array
    acceleration_residual: Array | None
    compatibility_of_velocities: Compatibility
    compatibility_of_accelerations: Compatibility | None


def rigid_rates_from_points(points: ArrayLike, velocities: ArrayLike,
                            accelerations: ArrayLike | None = None) -> RigidRates:
    """The motion of a body from n >= 3 points (..., n, 3), by the robust form, and whether the data are rigid.

    `SingularityError` names the points when they lie on a line. Nothing is discarded: a large residual is for the
    caller to judge.

    >>> found = rigid_rates_from_points([[1, 0, 0], [0, 2, 0], [0, 0, 3]],
    ...                                 [[.1, 3.2, 2.3], [-5.9, .2, 2.3], [-5.9, -2.8, .3]])
    >>> found.angular_velocity.round(12), float(np.max(np.abs(found.velocity_residual)).round(12))   # spec WE-08
    (array([ 1., -2.,  3.]), 0.0)
    """
    p = np.asarray(points, dtype=np.float64)
    v = np.asarray(velocities, dtype=np.float64)
    for name, rows in (("velocities", velocities), ("accelerations", accelerations)):
        if rows is not None and np.shape(rows)[-2:] != p.shape[-2:]:
            raise GeometryError(f"the {name} belong to points of shape {p.shape}, and have the shape {np.shape(rows)}")
    w = np.asarray(angular_velocity_from_points(p, v))
    centre = np.mean(p, axis=-2)
    centre_v = np.mean(v, axis=-2)
    arms = p - centre[..., None, :]
    left_v = v - centre_v[..., None, :] - np.cross(w[..., None, :], arms)
    if accelerations is None:
        return RigidRates(w, None, centre, centre_v, None, left_v, None, velocity_compatibility(p, v), None)
    a = np.asarray(accelerations, dtype=np.float64)
    dw = np.asarray(angular_acceleration_from_points(p, w, a))
    centre_a = np.mean(a, axis=-2)
    w_rows = w[..., None, :]
    rigid = np.cross(dw[..., None, :], arms) + np.cross(w_rows, np.cross(w_rows, arms))
    return RigidRates(w, dw, centre, centre_v, centre_a, left_v, a - centre_a[..., None, :] - rigid,
                      velocity_compatibility(p, v), acceleration_compatibility(p, v, a))


def check_spread(points: ArrayLike, *_: object) -> None:
    """Raise `SingularityError` where points coincide or lie on a line: the turn about that line cannot be seen.

    >>> check_spread([[0, 0, 0], [1, 1, 1], [2, 2, 2]])
    Traceback (most recent call last):
    cayley.errors.SingularityError: the 3 points lie on a line along [0.57735 0.57735 0.57735]: the turn about it ...
    """
    p = np.asarray(points, dtype=np.float64)
    thinnest = _thinnest(points)
    if p.ndim < 2 or p.shape[-1] != 3:
        raise GeometryError(f"points must be rows of coordinates, of shape (..., n, 3), not {p.shape}")
    if p.shape[-2] < 3:
        raise GeometryError(f"{p.shape[-2]} points do not determine an angular velocity: measure three or more")
    arms = p - np.mean(p, axis=-2, keepdims=True)
    refuse(np.all(np.isfinite(p), axis=(-2, -1)), lambda bad:
           f"the set of points{place(bad)} has coordinates that are NaN or infinite")
    extents = np.linalg.svd(arms, compute_uv=False)
    refuse(extents[..., 1] > thinnest * extents[..., 0], lambda bad:
           _why_degenerate(p[bad], arms[bad], extents[bad], place(bad)), SingularityError)


def _why_degenerate(p: Array, arms: Array, extents: Array, where: str) -> str:
    n = len(p)
    if extents[0] == 0:
        return f"the {n} points{where} all coincide at {p[0]}: nothing of the rotation can be seen"
    along = np.linalg.svd(arms)[2][0]
    along = along * np.sign(along[np.argmax(np.abs(along))])
    same = [(i, j) for i in range(n) for j in range(i + 1, n) if np.abs(p[i] - p[j]).max() <= THINNEST * extents[0]]
    reason = f" (points {same[0][0]} and {same[0][1]} coincide)" if same else ""
    return (
        f"the {n} points{where} lie on a line along {along.round(5)}{reason}: the turn about it cannot be seen; "
        f"measure a point beside it (extents {extents[0]:.3g} and {extents[1]:.1e})")


def check_trace_form(points: ArrayLike, *_: object) -> None:
    """Raise `SingularityError` where the trace form has no answer, and say which of its three reasons holds. Spec E-27.

    >>> check_trace_form([[1, 0, 0], [0, 1, 1], [-1, -1, -1]])
    Traceback (most recent call last):
    cayley.errors.SingularityError: the trace form is singular for these points: c2(P) = 0 ... the robust form, ...
    """
    check_spread(points)
    p = np.asarray(points, dtype=np.float64)
    if p.shape[-2] != 3:
        raise GeometryError(
            f"the trace form takes three points, not {p.shape[-2]}: angular_velocity_from_points takes more")
    P = np.swapaxes(p - np.mean(p, axis=-2, keepdims=True), -2, -1)
    P = P / np.abs(P).max(axis=(-2, -1), keepdims=True)
    trace = np.trace(P, axis1=-2, axis2=-1)
    second = (trace**2 - np.trace(P @ P, axis1=-2, axis2=-1)) / 2
    size = np.linalg.norm(P, axis=(-2, -1))
    bad = first_failure((np.abs(trace) > THINNEST * size) & (np.abs(second) > THINNEST * size**2))
    if bad is not None:
        no_trace = abs(trace[bad]) <= THINNEST * size[bad]
        reason = f"tr(P) = {trace[bad]:.2g}" if no_trace else f"c2(P) = {second[bad]:.2g} (tr(P) = {trace[bad]:.3g})"
        raise SingularityError(
            f"the trace form is singular for these points{place(bad)}: {reason} vanishes, although they are not on a "
            "line; the robust form, angular_velocity_from_points, has the answer")


def _by_trace(P: Array, dP: Array) -> Array:
    """D^-1 vee(dP) by cross products of the columns of D."""
    x, y, z = (0.5 * (np.trace(P) * np.eye(3) - P)).T
    yz, b = np.cross(y, z), vee(dP)
    return np.stack([yz @ b, np.cross(z, x) @ b, np.cross(x, y) @ b]) / (x @ yz)


def _velocity(form: Callable[[Array, Array], Array], points: Array, velocities: Array) -> Array:
    return form(*_scaled(_centred(points), _centred(velocities)))


def _acceleration(form: Callable[[Array, Array], Array], points: Array, w: Array, accelerations: Array) -> Array:
    P, ddP = _scaled(_centred(points), _centred(accelerations))
    spin = hat(w)
    return form(P, ddP - spin @ (spin @ P))


angular_velocity_from_points_by_trace = formula(
    "angular_velocity_from_points_by_trace", "(3,3),(3,3)->(3)", lambda points, velocities: _velocity(
        _by_trace, points, velocities),
    "Spatial angular velocity [rad/s] from three points and their velocities (rows), by the trace form. Ruggiu (2.26).",
    check_trace_form)
angular_acceleration_from_points_by_trace = formula(
    "angular_acceleration_from_points_by_trace", "(3,3),(3),(3,3)->(3)", lambda points, w, accelerations: _acceleration(
        _by_trace, points, w, accelerations),
    "Spatial angular acceleration [rad/s^2] from three points (rows), `w` and accelerations. Ruggiu (2.33).",
    check_trace_form)
angular_velocity_from_points = formula(
    "angular_velocity_from_points", "(n,3),(n,3)->(3)", lambda points, velocities: _velocity(
        _by_least_squares, points, velocities),
    "Spatial angular velocity [rad/s] from n >= 3 points and velocities (rows), the robust form. Ruggiu (2.29). For "
    "data that are not quite rigid it is the least-squares answer.", check_spread)
angular_acceleration_from_points = formula(
    "angular_acceleration_from_points", "(n,3),(3),(n,3)->(3)", lambda points, w, accelerations: _acceleration(
        _by_least_squares, points, w, accelerations),
    "Spatial angular acceleration [rad/s^2] from n >= 3 points (rows), `w` and accelerations. Ruggiu (2.36).",
    check_spread)


@kernel("(n,3),(n,3)->(n,n),(n,n)")
def velocity_compatibility(points: Array, velocities: Array) -> Compatibility:
    """The distance of velocities from those of a rigid body: dP^T P + P^T dP, and the rates of half the squared
    distances, `pairs`.

    Both vanish for rigid data [m^2/s]. Of the six different elements of `matrix` for three points only three are
    independent, because the columns of P sum to zero: they say what the three distances in `pairs` say. Ruggiu (2.31),
    spec E-28.

    >>> velocity_compatibility([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 0, 0], [0.5, 0, 0], [0, 0, 0]]).pairs
    array([[0. , 0.5, 0. ],
           [0.5, 0. , 0.5],
           [0. , 0.5, 0. ]])
    """
    P, dP = _centred(points), _centred(velocities)
    return Compatibility(dP.T @ P + P.T @ dP, _pairwise(points, velocities))


@kernel("(n,3),(n,3),(n,3)->(n,n),(n,n)")
def acceleration_compatibility(points: Array, velocities: Array, accelerations: Array) -> Compatibility:
    """The distance of accelerations from those of a rigid body: ddP^T P + 2 dP^T dP + P^T ddP, and the same by
    distances, `pairs`.

    Both vanish for rigid data [m^2/s^2]; three of three points are independent. Ruggiu, end of 2.1.4, spec S2-28.

    >>> acceleration_compatibility([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.zeros((3, 3)),
    ...                            [[0, 0, 0], [0.5, 0, 0], [0, 0, 0]]).pairs[0]
    array([0. , 0.5, 0. ])
    """
    P, dP, ddP = _centred(points), _centred(velocities), _centred(accelerations)
    return Compatibility(ddP.T @ P + 2 * dP.T @ dP + P.T @ ddP,
                         _pairwise(points, accelerations) + _pairwise(velocities, velocities))


def _centred(rows: Array) -> Array:
    """P of the module's text: 3 x n."""
    return (rows - np.sum(rows, axis=0) * (1 / len(rows))).T


def _pairwise(p: Array, v: Array) -> Array:
    """(p_i - p_j).(v_i - v_j) for all pairs."""
    n = len(p)
    return np.stack([np.stack([(p[i] - p[j]) @ (v[i] - v[j]) for j in range(n)]) for i in range(n)])


def _scaled(P: Array, rates: Array) -> tuple[Array, Array]:
    """P and rates multiplied so that P has the size 1: cubes of lengths are numbers."""
    scale = scaling(largest_component(P.ravel()))
    size = largest_component((scale * P).ravel())
    return scale * P / size, scale * rates / size


def _by_least_squares(P: Array, dP: Array) -> Array:
    """w with w x P nearest to dP: modified Gram-Schmidt on the columns e_k x P and on the right side."""
    columns = [np.cross(np.eye(3)[k], P.T).T.ravel() for k in range(3)]
    rest = dP.ravel()
    known = []
    R: list[list[Any]] = [[0.0] * 3 for _ in range(3)]
    for k in range(3):
        R[k][k] = np.linalg.norm(columns[k])
        unit = columns[k] / R[k][k]
        for j in range(k + 1, 3):
            R[k][j] = unit @ columns[j]
            columns[j] = columns[j] - R[k][j] * unit
        known.append(unit @ rest)
        rest = rest - known[k] * unit
    z = known[2] / R[2][2]
    y = (known[1] - R[1][2] * z) / R[1][1]
    return np.stack([(known[0] - R[0][1] * y - R[0][2] * z) / R[0][0], y, z])
