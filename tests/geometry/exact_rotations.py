"""Rotations in 60 digits: the oracle of every conversion. Nothing of the product is used here.

An `Attitude` is the exact unit quaternion of a rotation. `encoded` rounds it to doubles in a parameterisation;
`attitude_error` says by how much a value of a parameterisation, taken as exact, misses the attitude: the size of the
matrix of the difference, which is the angle between the two [rad] and, for matrices, the defect of the value as well.
"""

from typing import NamedTuple

import mpmath
import numpy as np

MP = mpmath.MPContext()
MP.dps = 60

TINY = [2e-311, 1e-300, 1e-100, 1e-30, 1e-16, 1e-15, 1e-14, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3]
AXES = [(1, 0, 0), (0, -1, 0), (0, 0, 1), (1, 1, 0), (0, 1, -1), (1, 1, 1), (-1, 1, -1), (1, 2, 2), (1, 1e-9, 0),
        (1e-20, 1, 1e-20), (3e-5, -1e-8, -1), (0.3, -0.5, 0.7), (-0.9, 0.2, 0.4)]


class Attitude(NamedTuple):
    """An exact rotation: cosine and sine of half its angle, and its axis."""

    cosine: MP.mpf
    sine: MP.mpf
    axis: tuple

    @property
    def quaternion(self):
        return [self.cosine, *[self.sine * e for e in self.axis]]

    @property
    def angle(self):
        return 2 * MP.atan2(self.sine, self.cosine)


def attitude(axis, angle=0.0, *, short_of_half_turn=None) -> Attitude:
    """The rotation about an axis of any length by an angle, or by `short_of_half_turn` less than pi."""
    size = MP.sqrt(sum(MP.mpf(e) ** 2 for e in axis))
    unit = tuple(MP.mpf(e) / size for e in axis)
    if short_of_half_turn is not None:
        return Attitude(MP.sin(MP.mpf(short_of_half_turn) / 2), MP.cos(MP.mpf(short_of_half_turn) / 2), unit)
    return Attitude(MP.cos(MP.mpf(angle) / 2), MP.sin(MP.mpf(angle) / 2), unit)


def whole_group() -> list[Attitude]:
    """Attitudes all over the group, with the hard ones: tiny angles, angles short of a half-turn by as little, and
    half-turns.
    """
    angles = [0.0, *TINY, 0.01, 0.1, 0.5, 1.0, 1.5, float(MP.pi / 2), 2.0, 2.5, 3.0]
    return [*[attitude(axis, angle) for axis in AXES for angle in angles],
            *[attitude(axis, short_of_half_turn=short) for axis in AXES for short in [*TINY, 0.01, 0.1]], *half_turns()]


def half_turns() -> list[Attitude]:
    return [Attitude(MP.mpf(0), MP.mpf(1), attitude(axis).axis) for axis in AXES]


def product(p, q):
    """The Hamilton product of two lists of four."""
    a, b, c, d = p
    w, x, y, z = q
    return [
        a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y, a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w]


def matrix_of(q):
    """The rotation matrix of the line through q, as nested lists."""
    w, x, y, z = q
    n = w * w + x * x + y * y + z * z
    return [[(w * w + x * x - y * y - z * z) / n, 2 * (x * y - w * z) / n, 2 * (x * z + w * y) / n],
            [2 * (x * y + w * z) / n, (w * w - x * x + y * y - z * z) / n, 2 * (y * z - w * x) / n],
            [2 * (x * z - w * y) / n, 2 * (y * z + w * x) / n, (w * w - x * x - y * y + z * z) / n]]


def encoded(name: str, exact: Attitude) -> tuple[np.ndarray, ...]:
    """The arguments, in doubles, that stand for the attitude in a parameterisation."""
    w, *v = exact.quaternion
    if name == "matrix":
        return (np.array(matrix_of([w, *v]), dtype=np.float64),)
    if name in ("quaternion", "homogeneous"):
        return (np.array([w, *v], dtype=np.float64),)
    if name == "axis_angle":
        return np.array(exact.axis, dtype=np.float64), np.float64(exact.angle)
    if name == "rotation_vector":
        return (np.array([exact.angle * e for e in exact.axis], dtype=np.float64),)
    if name == "vector_parameter":
        return (np.array([e / w for e in v], dtype=np.float64),)
    assert name == "half_sine"
    return (np.array(v, dtype=np.float64),)


def decoded(name: str, *value):
    """The exact quaternion, of any length, of a value in a parameterisation other than the matrix."""
    if name in ("quaternion", "homogeneous"):
        return [MP.mpf(float(e)) for e in value[0]]
    if name == "vector_parameter":
        return [MP.mpf(1), *[MP.mpf(float(e)) for e in value[0]]]
    if name == "half_sine":
        d = [MP.mpf(float(e)) for e in value[0]]
        return [MP.sqrt(max(MP.mpf(0), 1 - sum(e * e for e in d))), *d]
    if name == "rotation_vector":
        r = [MP.mpf(float(e)) for e in value[0]]
        angle = MP.sqrt(sum(e * e for e in r))
        return [MP.cos(angle / 2), *[MP.sin(angle / 2) * e / angle if angle else MP.mpf(0) for e in r]]
    assert name == "axis_angle"
    axis, angle = [MP.mpf(float(e)) for e in value[0]], MP.mpf(float(value[1]))
    size = MP.sqrt(sum(e * e for e in axis))
    return [MP.cos(angle / 2), *[MP.sin(angle / 2) * e / size for e in axis]]


def attitude_error(name: str, value: tuple, exact) -> float:
    """How far the value is from the attitude (an `Attitude` or an exact quaternion) [rad]."""
    true = matrix_of(exact.quaternion if isinstance(exact, Attitude) else exact)
    found = np.asarray(value[0]) if name == "matrix" else np.array(matrix_of(decoded(name, *value)))
    if not all(MP.isfinite(e) for e in found.flat):
        return float("nan")
    squares = sum((MP.mpf(found[i, j]) - true[i][j]) ** 2 for i in range(3) for j in range(3))
    return float(MP.sqrt(squares / 2))


def largest_error(name: str, values: tuple, attitudes) -> float:
    """The worst attitude error of a batch; NaN if one is NaN."""
    return float(np.max([attitude_error(name, tuple(v[k] for v in values), exact)
                         for k, exact in enumerate(attitudes)]))
