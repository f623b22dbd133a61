"""Angular velocity and acceleration of every parameterisation of rotations, and back: one table of charts.

A chart is written with two first-order texts: the angular velocity of parameters x that change by dx, and the rate dx
that an angular velocity w causes, in world axes (`hand` = 1) or in body axes (-1). The compiler differentiates them:
    acceleration(x, dx, ddx) = d velocity(x, dx) along (dx, ddx)
    second rate(x, w, dw)    = d rate(x, w) along (rate(x, w), dw)
Spatial (world) velocity w: dR R^T = hat(w). Body velocity w_b: R^T dR = hat(w_b), w_b = R^T w, and dw_b = R^T dw.
[rad/s, rad/s^2]

    matrix            dR = hat(w) R, or R hat(w_b)                   Mladenova (13)-(20), (77); Ruggiu (2.1)-(2.5)
    quaternion        dq = (0; w) q / 2, or q (0; w_b) / 2           Mladenova 2.2, after (26), spec E-04
    homogeneous       the same for [w : v] of any norm, c = v / w    Mladenova 2.4, second chart, spec R-13
    spinor            dpsi = -(i/2) (w . sigma) psi                  Mladenova 2.3 (57)-(63), spec E-11
    rotation_vector   w = a dl + b l x dl + k (l.dl) l; body: -b     singular at full turns (2 pi, 4 pi, ...) only
    vector_parameter  dc = (w + c (c.w) -+ c x w) / 2                Mladenova (79)-(81); infinite at half-turns
    Euler angles      w = u1 da1 + u2 da2 + u3 da3                   Yamamoto (1.30)-(1.35); singular where u1 || u3

>>> tangent_matrix_rate(np.eye(3), [[0.25, -2.0, 3.0], [2.0, 0.0, -1.0], [-3.0, 1.0, 0.0]])[0]
array([ 0., -2.,  3.])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ConventionError, SingularityError
from cayley.geometry.batch import first_failure, float_array, place, refuse, rounding_of, tolerance_of
from cayley.geometry.formula import formula
from cayley.geometry.rotations.euler import Axes, euler_kernels
from cayley.geometry.rotations.even_functions import cubic_ratio, sine_ratio, versine_ratio
from cayley.geometry.rotations.matrix import check_rotation_matrix, rotation_x, rotation_y, rotation_z
from cayley.geometry.rotations.quaternion import check_nonzero_quaternion, check_unit_quaternion
from cayley.geometry.rotations.spinor import check_unit_spinor, quaternion_from_spinor, spinor_from_quaternion
from cayley.geometry.rotations.vector_parameter import check_vector_parameter, doubled_share
from cayley.geometry.scaling import largest_component, scaling
from cayley.geometry.tensors.cross import hat, vee


class Rate(NamedTuple):
    """An angular velocity or acceleration in the axes of the `world` and in those of the `body`."""

    world: Array
    body: Array


class StretchedRate(NamedTuple):
    """`stretch` [1/s] is the relative rate of the norm of the parameters, which has no part in the rotation."""

    world: Array
    body: Array
    stretch: Scalar


class MeasuredRate(NamedTuple):
    """`defect` is the largest element of the symmetric part of dR R^T, which no angular velocity explains."""

    world: Array
    body: Array
    defect: Scalar


Velocity = Callable[[Array, Array], Rate | StretchedRate | MeasuredRate]
Inverse = Callable[[Array, Array, int], Array]


@dataclass(frozen=True)
class Chart:
    """The kernels of one parameterisation.

    `velocity(x, dx)` and `acceleration(x, dx, ddx)` have the fields `world` and `body`; `rates_from_world(x, w)`,
    `rates_from_body(x, w)`, `accelerations_from_world(x, w, dw)` and `accelerations_from_body(x, w, dw)` are the rates
    and second rates of the parameters."""

    velocity: Kernel[Any]
    acceleration: Kernel[Any]
    rates_from_world: Kernel[Array]
    rates_from_body: Kernel[Array]
    accelerations_from_world: Kernel[Array]
    accelerations_from_body: Kernel[Array]
    velocity_map: Kernel[Array] | None = None

    @property
    def kernels(self) -> tuple[Kernel[Any], ...]:
        """All of them."""
        return tuple(k for k in vars(self).values() if k is not None)


class _Names(NamedTuple):
    """The names of the kernels of a chart, and of their inputs."""

    chart: str
    inputs: tuple[str, str, str]
    plural: bool = False

    def of(self, order: int, frame: str) -> str:
        """The name of the rate (order 1) or second rate (2) from a velocity or acceleration in the axes of a frame."""
        kind = ("second_" if order == 2 else "") + ("rates" if self.plural else "rate")
        return f"{self.chart}_{kind}_from_{frame}_{'velocity' if order == 1 else 'acceleration'}"


def _chart(names: _Names, core: str, velocity: Velocity, rate: Inverse, *, extra: str = "",
           check: Callable[..., None] | None = None, check_rate: Callable[..., None] | None = None,
           acceleration: Callable[..., MeasuredRate] | None = None, velocity_map: Kernel[Array] | None = None) -> Chart:
    """The chart of two first-order texts; `extra` is the signature of what the velocity has besides world and body."""
    x, dx, _ = names.inputs
    called = "" if names.plural else "_rate"
    first = kernel(f"{core},{core}->(3),(3){extra}", name=f"angular_velocity_from_{names.chart}{called}",
                   inputs=(x, dx), check=check)(velocity)

    def differentiated(x_: Array, dx_: Array, ddx_: Array) -> Rate:
        """The angular acceleration `world` and `body` [rad/s^2] of parameters with two rates."""
        return Rate(*first.unchecked.jvp(x, dx)(x_, dx_, dx_, ddx_)[:2])

    second = kernel(f"{core},{core},{core}->(3),(3){extra if acceleration else ''}", inputs=names.inputs, check=check,
                    name=f"angular_acceleration_from_{names.chart}{called and '_rates'}")(
                        acceleration or differentiated)
    rates = {hand: kernel(f"{core},(3)->{core}", name=names.of(1, frame), inputs=(x, "w"), check=check_rate)(
        _first(rate, hand)) for hand, frame in ((1, "world"), (-1, "body"))}
    seconds = {hand: kernel(f"{core},(3),(3)->{core}", name=names.of(2, frame), inputs=(x, "w", "dw"),
                            check=check_rate)(_second(rates[hand].unchecked, x))
               for hand, frame in ((1, "world"), (-1, "body"))}
    return Chart(first, second, rates[1], rates[-1], seconds[1], seconds[-1], velocity_map)


def _first(rate: Inverse, hand: int) -> Callable[[Array, Array], Array]:
    def found(x: Array, w: Array) -> Array:
        """The rate of parameters under an angular velocity [rad/s]."""
        return rate(x, w, hand)

    return found


def _second(rate: Kernel[Array], x: str) -> Callable[[Array, Array, Array], Array]:
    def found(x_: Array, w: Array, dw: Array) -> Array:
        """The second rate of parameters from angular velocity and acceleration [rad/s, rad/s^2]."""
        return rate.jvp(x, "w")(x_, w, rate(x_, w), dw)

    return found


# Matrices


def _matrix_velocity(R: Array, dR: Array) -> MeasuredRate:
    world = dR @ R.T
    return MeasuredRate(vee(world), vee(R.T @ dR), np.max(np.abs(world + world.T)) / 2)


def _matrix_acceleration(R: Array, dR: Array, ddR: Array) -> MeasuredRate:
    """`defect` is that of ddR R^T + dR dR^T, zero for a true rotation. Mladenova (77)."""
    world = ddR @ R.T
    return MeasuredRate(vee(world), vee(R.T @ ddR), np.max(np.abs(world + world.T + 2 * (dR @ dR.T))) / 2)


def _matrix_rate(R: Array, w: Array, hand: int) -> Array:
    return hat(w) @ R if hand > 0 else R @ hat(w)


@kernel("(3),(3)->(3,3)")
def acceleration_matrix(w: Array, dw: Array) -> Array:
    """W = hat(dw) + hat(w)^2 [1/s^2]: W r is the relative acceleration of the body point at r. Ruggiu (2.20).

    Its skew part is hat(dw): `vee` of it is the angular acceleration again; its symmetric part is hat(w)^2.

    >>> acceleration_matrix([1.0, 3.0, 2.0], [0.5, 0.0, 1.0])[0]
    array([-13.,   2.,   2.])
    """
    spin = hat(w)
    return hat(dw) + spin @ spin


tangent_matrix_rate = formula(
    "tangent_matrix_rate", "(3,3),(3,3)->(3,3)", lambda R, dR: hat(vee(dR @ R.T)) @ R,
    "The part of a measured rate that is tangent to the rotations at `R`: the nearest rate of a true rotation.",
    check_rotation_matrix)


def check_matrix_rate(R: ArrayLike, dR: ArrayLike, *_: object, tolerance: float | None = None) -> None:
    """Raise `GeometryError` where `dR` is not tangent to the rotations at `R`.

    The symmetric part of dR R^T may be 1e-8 (float32: 1e-4), or `tolerance`, times the largest element of dR (or of
    1/s, if that is more).

    >>> check_matrix_rate(np.eye(3), 0.25 * np.eye(3))
    Traceback (most recent call last):
    cayley.errors.GeometryError: dR is not the rate of a rotation: the symmetric part of dR R^T is 0.25, 1e-08 is ...
    """
    defect = np.asarray(chart("matrix").velocity(R, dR).defect)
    allowed = np.broadcast_to(
        tolerance_of(dR, tolerance) * np.maximum(1.0, np.max(np.abs(np.asarray(dR)), axis=(-2, -1))), defect.shape)
    refuse(defect <= allowed, lambda bad:
           f"dR{place(bad)} is not the rate of a rotation: the symmetric part of dR R^T is {defect[bad]:.3g}, "
           f"{allowed[bad]:.0e} is allowed. tangent_matrix_rate(R, dR) drops that part")


# Quaternions, homogeneous vector-parameters [w : v] and spinors


def _form_velocity(h: Array, dh: Array) -> StretchedRate:
    """The vector parts of 2 dh h^-1 and 2 h^-1 dh, for any norm that can be squared."""
    along = h[0] * dh[1:] - dh[0] * h[1:]
    across = np.cross(h[1:], dh[1:])
    square = h @ h  # a divisor, so that its derivative is one too: the square of it may not be a number
    return StretchedRate(2 * (along + across) / square, 2 * (along - across) / square, h @ dh / square)


def _homogeneous_velocity(h: Array, dh: Array) -> StretchedRate:
    scale = scaling(largest_component(h))
    return _form_velocity(scale * h, scale * dh)


def _spinor_velocity(psi: Array, dpsi: Array) -> StretchedRate:
    return _form_velocity(quaternion_from_spinor(psi), quaternion_from_spinor(dpsi))


def _form_rate(h: Array, w: Array, hand: int) -> Array:
    """(0; w) h / 2, or h (0; w) / 2 in body axes; the norm does not change."""
    return 0.5 * np.concatenate([np.stack([-(w @ h[1:])]), h[0] * w + np.cross(w, h[1:]) * hand])


def _spinor_rate(psi: Array, w: Array, hand: int) -> Array:
    return spinor_from_quaternion(_form_rate(quaternion_from_spinor(psi), w, hand))


# Rotation vectors


def check_below_full_turn(l: ArrayLike, *_: object) -> None:
    """Raise `SingularityError` where a rotation vector is so near 2 pi, 4 pi, ... that its rate is not determined.

    >>> check_below_full_turn([0.0, 0.0, 2 * np.pi])
    Traceback (most recent call last):
    cayley.errors.SingularityError: the rotation vector is a full turn: its angle is 6.28319 rad...
    """
    angle = np.linalg.norm(np.asarray(l, dtype=np.float64), axis=-1)
    away = (angle < np.pi) | (np.abs(np.sin(angle / 2)) > max(1e-8, 8 * rounding_of(l))) | np.isnan(angle)
    refuse(away, lambda bad: f"the rotation vector{place(bad)} is a full turn: its angle is {angle[bad]:.6g} rad. "
           "Every axis gives this attitude, so its rate is not determined; take the vector of the same attitude with "
           "an angle below pi", SingularityError)


@kernel("(3)->(3,3)")
def world_velocity_map(l: Array) -> Array:
    """The matrix from the rate of the rotation vector to the spatial angular velocity; transposed, to the body's.

    It is the mean of the rotations exp(t hat(l)) for t from 0 to 1: 1 + b hat(l) + k hat(l)^2 with
    b = (1 - cos(phi))/phi^2 and k = (phi - sin(phi))/phi^3.

    >>> world_velocity_map([0.0, 0.0, 0.0])
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    t2 = l @ l
    return sine_ratio(t2) * np.eye(3) + versine_ratio(t2) * hat(l) + cubic_ratio(t2) * np.outer(l, l)


@kernel("(3)->(3,3)", check=check_below_full_turn)
def world_velocity_map_inverse(l: Array) -> Array:
    """The matrix from the spatial angular velocity to the rate of the rotation vector; transposed, from the body's.

    1 - hat(l)/2 + m hat(l)^2 with m = (1 - (phi/2) cot(phi/2))/phi^2: regular at zero and at half-turns, singular at
    full turns.

    >>> world_velocity_map_inverse([0.0, 0.0, np.pi])[2]
    array([0., 0., 1.])
    """
    t2 = l @ l
    spin = hat(l)
    return np.eye(3) - 0.5 * spin + cotangent_ratio(t2) * (spin @ spin)


_COTANGENT = (1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000, 1 / 74724249600,
              3617 / 10670622842880000, 43867 / 5109094217170944000, 174611 / 802857662698291200000)


def cotangent_ratio(t2: Scalar) -> Scalar:
    """(1 - (t/2) cot(t/2))/t^2 of t^2; 1/12 at zero."""
    small = t2 < 1.0
    series = 0.0
    for coefficient in reversed(_COTANGENT):
        series = coefficient + t2 * series
    safe = where(small, 1.0, t2)
    half = 0.5 * np.sqrt(safe)
    return where(small, series, (1 - half * np.cos(half) / np.sin(half)) / safe)


def _rotation_vector_velocity(l: Array, dl: Array) -> Rate:
    t2 = l @ l
    along = sine_ratio(t2) * dl + (cubic_ratio(t2) * (l @ dl)) * l
    across = versine_ratio(t2) * np.cross(l, dl)
    return Rate(along + across, along - across)


def _rotation_vector_rate(l: Array, w: Array, hand: int) -> Array:
    inverse = world_velocity_map_inverse.unchecked(l)
    return (inverse if hand > 0 else inverse.T) @ w


# Vector-parameters


def _vector_parameter_velocity(c: Array, dc: Array) -> Rate:
    per, turn = doubled_share(c)
    along = per * dc
    across = np.cross(turn, dc)
    return Rate(along + across, along - across)


def _vector_parameter_rate(c: Array, w: Array, hand: int) -> Array:
    return 0.5 * (w + (c @ w) * c - np.cross(c, w) * hand)


# Euler angles


def world_velocity_map_of_euler(angles: ArrayLike, *, sequence: str, axes: Axes) -> Array:
    """The matrix (..., 3, 3) from Euler rates to the spatial angular velocity: the axes of the turns as columns.

    Its determinant is, up to its sign, the sine (proper sequences) or the cosine (Tait-Bryan) of the middle angle.
    Yamamoto (1.32).

    >>> world_velocity_map_of_euler([0.5, 0.7, 0.3], sequence="zyz", axes="moving")
    array([[ 0.        , -0.47942554,  0.56535421],
           [ 0.        ,  0.87758256,  0.30885441],
           [ 1.        ,  0.        ,  0.76484219]])
    """
    found = euler_chart(sequence, axes=axes).velocity_map
    assert found is not None
    return found(angles)


@cache
def euler_chart(sequence: str, *, axes: Axes) -> Chart:
    """The chart of the Euler angles of one of the twelve sequences, about moving or about fixed axes.

    The angular velocity is the sum of the three turns about their present axes. The middle axis is perpendicular to the
    two outer ones; where these are parallel (sin of the middle angle zero for a proper sequence, cos for a Tait-Bryan
    one) no rates give an angular velocity across them, and a `SingularityError` says which.

    >>> zyz = euler_chart("zyz", axes="moving")
    >>> zyz.velocity([0.3, 0.7, -1.1], [0.4, -0.9, 1.3]).world   # spec W3-04
    array([ 1.06604625, -0.61230969,  1.39429484])
    >>> zyz.rates_from_world([0.3, 0.0, 0.0], [0.0, 0.0, 1.0])
    Traceback (most recent call last):
    cayley.errors.SingularityError: zyz angles about moving axes are singular: the outer axes are parallel (margin ...
    """
    matrix = euler_kernels(sequence, axes=axes).matrix_from_euler  # also refuses what is not a sequence
    moving, ordered = (sequence, slice(None)) if axes == "moving" else (sequence[::-1], slice(None, None, -1))
    name = f"{sequence}_{axes}"
    elementary = {"x": rotation_x, "y": rotation_y, "z": rotation_z}

    def turn_axes(angles: Array) -> tuple[Array, ...]:
        """u1, u2, u3 in the order of moving axes."""
        unit = dict(zip("xyz", np.eye(3), strict=True))
        i, j, k = tuple(moving)
        first = elementary[i](angles[ordered][0])
        middle = elementary[j](angles[ordered][1])
        return unit[i], first @ unit[j], first @ (middle @ unit[k])

    @kernel("(3)->(3,3)", name=f"world_velocity_map_of_{name}")
    def velocity_map(angles: Array) -> Array:
        return np.stack(turn_axes(angles)[ordered], axis=1)

    def velocity(angles: Array, rates: Array) -> Rate:
        world = velocity_map(angles) @ rates
        return Rate(world, matrix(angles).T @ world)

    def rate(angles: Array, w: Array, hand: int) -> Array:
        u1, u2, u3 = turn_axes(angles)
        rows = np.stack([np.cross(u2, u3), np.cross(u3, u1), np.cross(u1, u2)])
        return (rows @ (w if hand > 0 else matrix(angles) @ w) / (u1 @ rows[0]))[ordered]

    def check(angles: ArrayLike, *_: object) -> None:
        _check_regular(float_array(angles), sequence, axes)

    return _chart(_Names(name, ("angles", "rates", "second_rates"), plural=True), "(3)", velocity, rate,
                  check_rate=check, velocity_map=velocity_map)


def _check_regular(angles: Array, sequence: str, axes: Axes) -> None:
    margin = np.abs((np.sin if sequence[0] == sequence[2] else np.cos)(angles[..., 1]))
    bad = first_failure(~(margin <= 4 * rounding_of(angles)))  # which is rounding
    if bad is not None:
        columns = np.asarray(world_velocity_map_of_euler(angles[bad], sequence=sequence, axes=axes))
        lost = np.linalg.svd(columns)[0][:, 2]
        raise SingularityError(
            f"{sequence} angles{place(bad)} about {axes} axes are singular: the outer axes are parallel (margin "
            f"{margin[bad]:.0e}), and no rates give an angular velocity along {np.round(lost, 6).tolist()}; "
            "integrate with another sequence, or with integrate_attitude")


# The table


def _named(chart: str, symbol: str) -> _Names:
    return _Names(chart, (symbol, f"d{symbol}", f"dd{symbol}"))


_CHARTS = {
    "matrix": _chart(_named("matrix", "R"), "(3,3)", _matrix_velocity, _matrix_rate, extra=",()",
                     check=check_rotation_matrix, check_rate=check_rotation_matrix,
                     acceleration=_matrix_acceleration),
    "quaternion": _chart(_named("quaternion", "q"), "(4)", _form_velocity, _form_rate, extra=",()",
                         check=check_unit_quaternion, check_rate=check_unit_quaternion),
    "homogeneous": _chart(_named("homogeneous", "h"), "(4)", _homogeneous_velocity, _form_rate, extra=",()",
                          check=check_nonzero_quaternion, check_rate=check_nonzero_quaternion),
    "spinor": _chart(_named("spinor", "psi"), "(2,2)", _spinor_velocity, _spinor_rate, extra=",()",
                     check=check_unit_spinor, check_rate=check_unit_spinor),
    "rotation_vector": _chart(_named("rotation_vector", "l"), "(3)", _rotation_vector_velocity, _rotation_vector_rate,
                              check_rate=check_below_full_turn),
    "vector_parameter": _chart(_named("vector_parameter", "c"), "(3)", _vector_parameter_velocity,
                               _vector_parameter_rate, check=check_vector_parameter),
}


def chart(name: str) -> Chart:
    """The chart "matrix", "quaternion", "homogeneous", "spinor", "rotation_vector" or "vector_parameter".

    >>> chart("quaternion").velocity([1.0, 0.0, 0.0, 0.0], [0.0, 0.5, 1.0, 1.5]).world
    array([1., 2., 3.])
    >>> chart("homogeneous").velocity([2.0, 0.0, 0.0, 0.0], [0.5, 1.0, 2.0, 3.0])
    StretchedRate(world=array([1., 2., 3.]), body=array([1., 2., 3.]), stretch=np.float64(0.25))
    >>> chart("vector_parameter").rates_from_body([0.0, 0.0, 1.0], [1.0, -1.0, 0.0])
    array([1., 0., 0.])
    >>> chart("rotation_vector").accelerations_from_world([0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0])
    array([0., 0., 2.])
    """
    if name not in _CHARTS:
        raise ConventionError(f"no chart of rotations is called {name!r}: there are {', '.join(_CHARTS)}, and "
                              "`euler_chart(sequence, axes=...)`")
    return _CHARTS[name]
