"""Constant and joint turns as planar rotations: the cheapest way to change axes.

A turn by 0 or a multiple of 90 degrees costs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.tracing.nominal_values import is_symbolic, nominal, samples
from cayley.compiler.typing import Array, Scalar

_ROUNDING = 4e-15  # sines this small are the rounding of constants


class PlanarRotation(NamedTuple):
    """A planar rotation by its cosine and sine."""

    c: Scalar
    s: Scalar

    def about_z(self, v: Array) -> Array:
        return np.array([self.c * v[0] - self.s * v[1], self.s * v[0] + self.c * v[1], v[2]])

    def back_about_z(self, v: Array) -> Array:
        return np.array([self.c * v[0] + self.s * v[1], self.c * v[1] - self.s * v[0], v[2]])

    def about_x(self, v: Array) -> Array:
        return np.array([v[0], self.c * v[1] - self.s * v[2], self.s * v[1] + self.c * v[2]])

    def back_about_x(self, v: Array) -> Array:
        return np.array([v[0], self.c * v[1] + self.s * v[2], self.c * v[2] - self.s * v[1]])

    def tensor_about_z(self, T: Array) -> Array:
        """Rz T Rz^T of a symmetric tensor, with 7 multiplications and 7 additions."""
        turned, spread = self._mixed(T[0, 0], T[1, 1], T[0, 1])
        xz = self.c * T[0, 2] - self.s * T[1, 2]
        yz = self.s * T[0, 2] + self.c * T[1, 2]
        return np.array([[T[0, 0] - spread, turned, xz], [turned, T[1, 1] + spread, yz], [xz, yz, T[2, 2]]])

    def tensor_about_x(self, T: Array) -> Array:
        turned, spread = self._mixed(T[1, 1], T[2, 2], T[1, 2])
        xy = self.c * T[0, 1] - self.s * T[0, 2]
        xz = self.s * T[0, 1] + self.c * T[0, 2]
        return np.array([[T[0, 0], xy, xz], [xy, T[1, 1] - spread, turned], [xz, turned, T[2, 2] + spread]])

    def _mixed(self, a: Scalar, b: Scalar, ab: Scalar) -> tuple[Any, Any]:
        """The product of inertia of [[a, ab], [ab, b]] after the turn, and what the first moment gives the second."""
        c = self.c
        s = self.s
        d = a - b
        along = s * d + 2 * c * ab  # of the turned tensor: ab' = c along - ab, and s along is what a gives to b
        return c * along - ab, s * along

    def then(self, R: Array) -> AroundZ:
        """The turn about z, followed by a rotation matrix (3, 3)."""
        return AroundZ(self, R)

    def forth(self, v: Array) -> Array:
        return self.about_z(v)

    def back(self, v: Array) -> Array:
        return self.back_about_z(v)

    def tensor_forth(self, T: Array) -> Array:
        return self.tensor_about_z(T)


class AroundZ(NamedTuple):
    """A turn about z and then a rotation matrix."""

    turn: PlanarRotation
    R: Array

    def forth(self, v: Array) -> Array:
        return self.turn.about_z(self.R @ v)

    def back(self, v: Array) -> Array:
        return self.R.T @ self.turn.back_about_z(v)

    def tensor_forth(self, T: Array) -> Array:
        return self.turn.tensor_about_z(self.R @ T @ self.R.T)


class GeneralTurn(NamedTuple):
    """A rotation matrix (3, 3) in the place of a turn about z."""

    R: Array

    def about_z(self, v: Array) -> Array:
        return self.R @ v

    def back_about_z(self, v: Array) -> Array:
        return self.R.T @ v

    def tensor_about_z(self, T: Array) -> Array:
        return self.R @ T @ self.R.T


NO_TURN = PlanarRotation(1.0, 0.0)


def turn_about_z(constant: PlanarRotation, angle: Scalar) -> PlanarRotation:
    """The turn by a joint's angle after a constant one."""
    c = np.cos(angle)
    s = np.sin(angle)
    quarters: dict[tuple[Scalar, ...], tuple[Scalar, Scalar]] = {
        (1.0, 0.0): (c, s), (0.0, 1.0): (-s, c), (-1.0, 0.0): (-c, -s), (0.0, -1.0): (s, -c)}
    if not is_symbolic(np.array(constant)) and constant in quarters:
        return PlanarRotation(*quarters[constant])
    shifted = angle + np.arctan2(constant.s, constant.c)
    return PlanarRotation(np.cos(shifted), np.sin(shifted))


def turns_of(R: Array) -> tuple[PlanarRotation | GeneralTurn, PlanarRotation, PlanarRotation]:
    """The turns of `zxz`; of a rotation that depends on inputs, where these turns might have no values, itself."""
    return (GeneralTurn(R), NO_TURN, NO_TURN) if is_symbolic(R) and not _vanishes(R[0, 2]) else zxz(R)


def zxz(R: Array) -> tuple[PlanarRotation, PlanarRotation, PlanarRotation]:
    """Rz(beta) Rx(alpha) Rz(gamma) of a constant rotation (3, 3), with beta zero wherever that is possible."""
    sine = np.hypot(R[0, 2], R[1, 2])
    beta = NO_TURN if _vanishes(R[0, 2]) else exact(-R[1, 2] / sine, R[0, 2] / sine)
    # what is left of R is used for the others, so that they make good what beta lacks where the axes are nearly
    # parallel
    first = beta.c * R[0] + beta.s * R[1]
    second = beta.c * R[1] - beta.s * R[0]
    return beta, exact(R[2, 2], -second[2]), exact(first[0], -first[1])


def exact(c: Scalar, s: Scalar) -> PlanarRotation:
    """A turn whose cosine and sine are 0 and 1 where only rounding keeps them from it."""
    if _vanishes(c):
        return PlanarRotation(0.0, float(np.sign(nominal(s))))
    if _vanishes(s):
        return PlanarRotation(float(np.sign(nominal(c))), 0.0)
    return PlanarRotation(c, s) if is_symbolic(c) or is_symbolic(s) else PlanarRotation(float(c), float(s))


def _vanishes(x: Scalar) -> bool:
    return bool((np.abs(samples(x)) < _ROUNDING).all())


@dataclass(frozen=True)
class RationalAngle:
    """An angle by its cosine and sine: NumPy calls these methods, so that every text for links runs on such angles.

    Of t = tan(q/2), cos q = (1 - t^2)/(1 + t^2) and sin q = 2 t/(1 + t^2): equations of motion are rational in t. A
    half-turn has no t. Source: Mladenova 1.2; spec R-52, R-62, E-49."""

    cosine: Scalar
    sine: Scalar

    @staticmethod
    def of_tangent(t: Scalar) -> RationalAngle:
        """The angle whose half has the tangent t."""
        share = 1 / (1 + t * t)
        return RationalAngle((1 - t * t) * share, 2 * t * share)

    def cos(self) -> Scalar:
        return self.cosine

    def sin(self) -> Scalar:
        return self.sine

    def __add__(self, angle: float) -> RationalAngle:
        c = np.cos(angle)
        s = np.sin(angle)
        return RationalAngle(c * self.cosine - s * self.sine, s * self.cosine + c * self.sine)
