"""Rotations in motion, in 60 digits: a curve through a given attitude with known angular velocity and acceleration.

q(t) = q0 exp(t u + t^2 a / 2) has at t = 0 exactly the body angular velocity u and the body angular acceleration a. The
values and rates of any parameterisation along it come from differences of step 1e-15, right to 30 digits. Nothing of
the product is used here.
"""

from collections.abc import Callable
from typing import NamedTuple

import mpmath
import numpy as np

from geometry.exact_rotations import MP, Attitude, matrix_of, product

STEP = MP.mpf(10) ** -15
VELOCITY = (MP.mpf("0.7"), MP.mpf("-1.3"), MP.mpf("0.4"))
ACCELERATION = (MP.mpf("-0.9"), MP.mpf("0.6"), MP.mpf("2.1"))


class Curve(NamedTuple):
    """A moving attitude; `at(t)` is its exact unit quaternion."""

    start: Attitude
    at: Callable

    @property
    def body(self) -> tuple[np.ndarray, np.ndarray]:
        return floats(VELOCITY), floats(ACCELERATION)

    @property
    def world(self) -> tuple[np.ndarray, np.ndarray]:
        R = MP.matrix(matrix_of(self.at(MP.mpf(0))))
        return floats(R * MP.matrix(VELOCITY)), floats(R * MP.matrix(ACCELERATION))


def curve(start: Attitude) -> Curve:
    def at(t):
        l = [t * u + t * t * a / 2 for u, a in zip(VELOCITY, ACCELERATION, strict=True)]
        angle = MP.sqrt(sum(x * x for x in l))
        ratio = MP.sin(angle / 2) / angle if angle else MP.mpf(1) / 2
        return product(start.quaternion, [MP.cos(angle / 2), *[ratio * x for x in l]])
    return Curve(start, at)


def rates(function: Callable) -> list[np.ndarray]:
    """Value, first and second derivative at t = 0 of a function of time that gives lists of exact numbers, rounded to
    doubles.
    """
    before, now, after = (np.array(function(k * STEP), dtype=object) for k in (-1, 0, 1))
    return [floats(now), floats((after - before) / (2 * STEP)), floats((after - 2 * now + before) / STEP**2)]


def floats(values) -> np.ndarray:
    array = np.array(values.tolist() if isinstance(values, mpmath.matrix) else values, dtype=object)
    return (array[:, 0] if isinstance(values, mpmath.matrix) and array.shape[1] == 1 else array).astype(np.float64)


# Parameterisations of an exact quaternion


def homogeneous(q, scale=1):
    return [scale * x for x in q]


def spinor(q):
    return [[q[3], q[0]], [q[1], q[2]]]


def vector_parameter(q):
    return [x / q[0] for x in q[1:]]


def rotation_vector(q):
    """Beyond a half-turn the angle is more than pi: so the curve is smooth."""
    size = MP.sqrt(sum(x * x for x in q[1:]))
    ratio = 2 * MP.atan2(size, q[0]) / size if size else 2 / q[0]
    return [ratio * x for x in q[1:]]


def elementary(axis: str, angle):
    s, c, o, i = MP.sin(angle), MP.cos(angle), MP.mpf(0), MP.mpf(1)
    return MP.matrix({"x": [[i, o, o], [o, c, -s], [o, s, c]], "y": [[c, o, s], [o, i, o], [-s, o, c]],
                      "z": [[c, -s, o], [s, c, o], [o, o, i]]}[axis])
