"""Attitudes by named parameters f(R), and how fast these change: f' = B(R) w, with w in the axes that R turns into.

    "zyx moving", "zyz fixed", ...   Euler angles, every sequence; singular where the middle angle ends
    "rotation vector"                angle from 0 to pi; it jumps at a half-turn, B does not fail there
    "vector-parameter"               tan(angle/2) e; infinite at a half-turn
    "quaternion"                     (w, x, y, z), w >= 0; it jumps at a half-turn, B does not fail there
B of Euler angles needs no angles: with the first axis u (constant), the last axis u' (fixed to the body) and n = u x
u', whose length is the margin m of the middle angle, the rates are (u' x n).w/m^2, +-n.w/m, (n x u).w/m^2."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.derivatives.derivative import forward
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.tracing.symbols import Symbols
from cayley.compiler.typing import Array, ArrayLike, Scalar, Text
from cayley.errors import ConventionError
from cayley.geometry.rates.charts import world_velocity_map_inverse
from cayley.geometry.rotations.euler import SEQUENCES, euler_kernels
from cayley.geometry.rotations.quaternion import quaternion_from_matrix
from cayley.geometry.rotations.rotation_vector import rotation_vector_from_quaternion
from cayley.geometry.tensors.cross import hat

ROUNDING = 1e-12
"""A margin below this is no margin: the rates are then known to no digit that matters."""


class OrientationParameters(NamedTuple):
    """The kernels of one parameterisation of rotations, of k parameters."""

    size: int
    parameters: Kernel  # R -> f (k)
    rate_map: Kernel  # R -> B (k, 3)
    rate_map_rate: Kernel  # R, w -> B' (k, 3)
    rate_map_second_rate: Kernel  # R, w, dw -> B'' (k, 3)
    margin: Kernel  # R -> 0 where B is infinite, 1 at most


@cache
def orientation(name: str) -> OrientationParameters:
    """The kernels of a named parameterisation.

    >>> orientation("zyx moving").rate_map(np.eye(3)) + 0.0
    array([[0., 0., 1.],
           [0., 1., 0.],
           [1., 0., 0.]])
    """
    if name in _NAMED:
        return _kernels(name, *_NAMED[name])
    sequence, _, axes = name.partition(" ")
    if sequence not in SEQUENCES or axes not in ("moving", "fixed"):
        raise ConventionError(
            f'there is no orientation {name!r}: say three axes and whether they move, as in "zyx moving" or "xyz '
            f'fixed", '
            f"or one of {', '.join(map(repr, _NAMED))}")
    return _kernels(name, 3, lambda R: euler_kernels(sequence, axes=axes).euler_from_matrix.unchecked(R).angles,
                    lambda R: _euler_rate_map(R, sequence, axes), lambda R: np.linalg.norm(_normal(R, sequence, axes)))


def _kernels(name: str, size: int, parameters: Text, rate_map: Text, margin: Text) -> OrientationParameters:
    label = "".join(c if c.isalnum() else "_" for c in name)

    def made(signature: str, text: Text, word: str) -> Kernel:
        return kernel(signature, name=f"{word}_of_{label}")(text)

    def rate(R: Array, w: Array) -> Array:
        return changing(rate_map(R), [R], [hat(w) @ R])

    def second_rate(R: Array, w: Array, dw: Array) -> Array:
        return changing(rate(R, w), [R, w], [hat(w) @ R, dw])

    return OrientationParameters(size, made(f"(3,3)->({size})", parameters, "parameters"),
                    made(f"(3,3)->({size},3)", rate_map, "rate_map"),
                    made(f"(3,3),(3)->({size},3)", rate, "rate_map_rate"),
                    made(f"(3,3),(3),(3)->({size},3)", second_rate, "rate_map_second_rate"),
                    made("(3,3)->()", margin, "margin"))


def changing(values: ArrayLike, variables: list[Any], rates: list[Any]) -> Array:
    """The rate of values that were computed from inputs of a traced function, when these change at the given rates."""
    nodes = [x for variable in variables for x in variable.flat]
    tangents = [x for rate in rates for x in rate.flat]
    lifted = [nodes[0].graph.lift(x) for x in np.asarray(values, dtype=object).flat]
    return np.array(forward(lifted, nodes, tangents), dtype=object).view(Symbols).reshape(np.shape(values))


def _normal(R: Array, sequence: str, axes: str) -> Array:
    first, last = _outer_axes(R, sequence, axes)
    return np.cross(first, last)


def _outer_axes(R: Array, sequence: str, axes: str) -> tuple[Any, Any]:
    moving = sequence if axes == "moving" else sequence[::-1]
    return np.eye(3)["xyz".index(moving[0])], R[:, "xyz".index(moving[2])]


def _euler_rate_map(R: Array, sequence: str, axes: str) -> Array:
    first, last = _outer_axes(R, sequence, axes)
    n = np.cross(first, last)
    m2 = n @ n
    moving = sequence if axes == "moving" else sequence[::-1]
    side = -1.0 if moving in ("xyz", "yzx", "zxy") else 1.0  # the middle axis is along -n or n
    rows = [np.cross(last, n) / m2, side * n / np.sqrt(m2), np.cross(n, first) / m2]
    return np.stack(rows if axes == "moving" else rows[::-1])


def _vector_parameter(R: Array) -> Array:
    h = quaternion_from_matrix.unchecked(R)
    return h[1:] / h[0]


def _vector_parameter_rate_map(R: Array) -> Array:
    c = _vector_parameter(R)
    return 0.5 * (np.eye(3) + np.outer(c, c) - hat(c))


def _quaternion_rate_map(R: Array) -> Array:
    h = quaternion_from_matrix.unchecked(R)
    return 0.5 * np.concatenate([-np.stack([h[1:]]), h[0] * np.eye(3) - hat(h[1:])])


def _rotation_vector(R: Array) -> Array:
    return rotation_vector_from_quaternion.unchecked(quaternion_from_matrix.unchecked(R))


def _everywhere(R: Array) -> Scalar:
    return 1.0 + 0.0 * R[0, 0]


_NAMED: dict[str, tuple[int, Callable[..., Any], Callable[..., Any], Callable[..., Any]]] = {
    "rotation vector": (3, _rotation_vector, lambda R: world_velocity_map_inverse.unchecked(_rotation_vector(R)),
                        _everywhere),
    "vector-parameter": (3, _vector_parameter, _vector_parameter_rate_map,
                         lambda R: quaternion_from_matrix.unchecked(R)[0]),
    "quaternion": (4, quaternion_from_matrix.unchecked, _quaternion_rate_map, _everywhere), }
