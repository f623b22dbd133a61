"""A curve in the plane as a path of arcs and segments, within a tolerance.

From point to point with its tangents goes a pair of arcs that meet smoothly (a biarc, with equal tangent lengths d):
    v = p1 - p0,   a = v.(t0 + t1),   d = v.v / (a + sqrt(a^2 + 2 (1 - t0.t1) v.v)),   m = (p0 + p1 + d (t0 - t1)) / 2
Each pair goes as far along the curve as the tolerance lets it. At a cusp the cart stops and drives on backwards; a
corner is rounded within the tolerance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import brentq

from cayley.compiler.derivatives.derivative import jacobian
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, Scalar, is_finite_number
from cayley.errors import ModelError, UnreachableError, shown
from cayley.machines.rolling.steered_path import SteeredPath, arc_pose

_SAMPLES = 64  # of a curve beside one pair of arcs
_SCANNED = 2001  # of a curve, in search of cusps
_SHORTEST = 1e-6  # part of a curve that a pair of arcs may be made for
_REFINED = 8  # halvings in search of the longest pair
_ROUNDABOUT = 1.2  # arcs longer than the curve by this go elsewhere
_SMALL = 1e-9  # turns and differences of curvature below this are rounding


@dataclass(frozen=True)
class FittedPath:
    """A path, and how far the curve is from it at most [m]."""

    path: SteeredPath
    deviation: float


def fitted_path(curve: Callable[[Scalar], Array], wheelbase: float, tolerance: float, *,
                steering_limit: float = np.pi / 2) -> FittedPath:
    """The path of a cart along a curve, `curve(u)` (2) for u from 0 to 1 in Python, which is traced and differentiated.
    It starts ahead. `UnreachableError` where the curve jumps or has zero speed, or where its arcs need more steering
    than the limit [rad].

    >>> half = fitted_path(lambda u: np.stack([np.cos(np.pi * u), np.sin(np.pi * u)]), wheelbase=0.5, tolerance=1e-6)
    >>> np.round(half.path.pieces, 6)
    array([[3.141593, 0.463648]])
    """
    if not (is_finite_number(tolerance) and tolerance > 0):
        raise ModelError(f"the tolerance of a path must be positive, not {shown(tolerance)}")
    if not (is_finite_number(steering_limit) and 0 < steering_limit <= np.pi / 2):
        raise ModelError(f"the steering limit of a path must be above 0 and at most pi / 2, not "
                         f"{shown(steering_limit)}")
    if not (is_finite_number(wheelbase) and wheelbase > 0):
        raise ModelError(f"the wheelbase of a path must be positive, not {shown(wheelbase)}")
    return _Fit(_Curve(curve), wheelbase, tolerance, steering_limit).fitted()


class _Curve:
    """A curve with its directions."""

    def __init__(self, curve: Callable[[Scalar], Array]) -> None:
        def text(u: Scalar) -> tuple[Array, Array, Array]:
            point = np.stack(list(curve(u)))
            rate = jacobian(point, u)
            return point, rate, jacobian(rate, u)

        self._motion: Kernel[tuple[Array, Array, Array]] = kernel("()->(2),(2),(2)", name="curve", inputs=("u",))(text)
        u = np.linspace(0.0, 1.0, _SCANNED)
        points, rates, seconds = self._motion(u)
        if not (np.isfinite(points).all() and np.isfinite(rates).all() and np.isfinite(seconds).all()):
            raise ModelError("a curve and its two derivatives are finite for u from 0 to 1")
        self._fast = float(np.linalg.norm(rates, axis=1).max())
        steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
        far = int(steps.argmax())
        if steps[far] * (_SCANNED - 1) > 2 * self._fast:
            raise UnreachableError(f"the curve jumps between u = {u[far]:.6g} and {u[far + 1]:.6g}")
        turned = np.sum(rates[1:] * rates[:-1], axis=1)
        ends = [0.0, *[cusp for k in np.flatnonzero(turned < 0) for cusp in self._cusps(u[k], u[k + 1])],
                *[u[k] for k in range(1, _SCANNED - 1) if not self._moves(rates[k])], 1.0]
        self.ends = np.unique(ends)
        """Where it starts, where its cusps are, and where it ends."""

    def points(self, u: Array) -> Array:
        return self._motion(u)[0]

    def direction(self, u: float, ahead: bool) -> Array:
        """The direction of the curve after u, or before it, which at a cusp are opposite."""
        _, rate, second = self._motion(u)
        if not self._moves(rate):
            rate = second if ahead else -second
        if not self._moves(rate):
            raise UnreachableError(f"the curve has zero speed at u = {u:.6g}, and so no direction")
        return rate / np.linalg.norm(rate)

    def _moves(self, rate: Array) -> bool:
        return float(np.linalg.norm(rate)) > _SMALL * self._fast

    def _cusps(self, low: float, high: float) -> list[float]:
        """The places where a curve turns back between two samples; none if it has a corner there."""
        along = self._motion(high)[1] - self._motion(low)[1]
        found = float(brentq(lambda u: float(self._motion(u)[1] @ along), low, high, xtol=1e-15, rtol=1e-14))
        return [] if self._moves(self._motion(found)[1]) else [found]


@dataclass
class _Fit:
    curve: _Curve
    wheelbase: float
    tolerance: float
    steering_limit: float
    pieces: list[tuple[float, float]] = field(default_factory=list)  # signed length, curvature of the cart
    deviation: float = 0.0

    def fitted(self) -> FittedPath:
        ends = self.curve.ends
        way = 1.0
        for k in range(len(ends) - 1):
            if k and self.curve.direction(ends[k], True) @ self.curve.direction(ends[k], False) < 0:
                way = -way
            self._span(ends[k], ends[k + 1], way)
        first = self.curve.direction(0.0, True)
        start = (*self.curve.points(np.array(0.0)), np.arctan2(first[1], first[0]))
        steered = [(length, float(np.arctan(self.wheelbase * curvature))) for length, curvature in self.pieces]
        return FittedPath(SteeredPath(self.wheelbase, steered, start), self.deviation)

    def _span(self, u: float, end: float, way: float) -> None:
        """Pairs of arcs between two cusps."""
        while u < end:
            reached = self._longest(u, end)
            arcs, off = self._pair(u, reached)
            self.deviation = max(self.deviation, off)
            for length, curvature in arcs:
                if np.arctan(self.wheelbase * abs(curvature)) > self.steering_limit:
                    raise UnreachableError(
                        f"from u = {u:.6g} to {reached:.6g} the curve needs a radius of {1 / abs(curvature):.4g} m, "
                        f"below the {self.wheelbase / np.tan(self.steering_limit):.4g} m of the steering limit")
                self._append(way * length, way * curvature)
            u = reached

    def _longest(self, u: float, end: float) -> float:
        step = end - u
        while self._pair(u, u + step)[1] > self.tolerance:
            step /= 2
            if step < _SHORTEST:
                raise UnreachableError(f"no arcs follow the curve within {self.tolerance} m at u = {u:.6g}")
        if u + step >= end or step == end - u:
            return end
        good, bad = step, min(2 * step, end - u)
        for _ in range(_REFINED):
            middle = (good + bad) / 2
            if self._pair(u, u + middle)[1] > self.tolerance:
                bad = middle
            else:
                good = middle
        return u + good

    def _pair(self, low: float, high: float) -> tuple[list[tuple[float, float]], float]:
        """Lengths and curvatures of two arcs, and how far the curve is from them."""
        points = self.curve.points(np.linspace(low, high, _SAMPLES))
        t0 = self.curve.direction(low, True)
        t1 = self.curve.direction(high, False)
        v = points[-1] - points[0]
        along = v @ (t0 + t1)
        spread = along + np.sqrt(along**2 + 2 * (1 - t0 @ t1) * (v @ v))
        if not spread > 0:
            return [], np.inf
        d = v @ v / spread
        middle = (points[0] + points[-1] + d * (t0 - t1)) / 2
        pose = np.array([*points[0], np.arctan2(t0[1], t0[0])])
        arcs, distances = [], []
        for goal in (middle, points[-1]):
            length, curvature = _arc(pose, goal)
            if not np.isfinite(length):
                return [], np.inf
            distances.append(_distances(pose, curvature, length, points))
            arcs.append((length, curvature))
            pose = arc_pose(pose, np.asarray(curvature), np.asarray(length))
        if sum(length for length, _ in arcs) > _ROUNDABOUT * np.linalg.norm(np.diff(points, axis=0), axis=1).sum():
            return [], np.inf  # near the curve everywhere, but elsewhere as well
        return arcs, float(np.min(distances, axis=0).max())

    def _append(self, length: float, curvature: float) -> None:
        if abs(curvature * length) < _SMALL:
            curvature = 0.0
        if self.pieces:
            before, bent = self.pieces[-1]
            if before * length > 0 and abs(curvature - bent) * abs(before + length) < _SMALL:
                self.pieces[-1] = before + length, bent
                return
        self.pieces.append((length, curvature))


def _arc(pose: Array, goal: Array) -> tuple[float, float]:
    """Length and curvature of the arc from a pose to a point; infinite if there is none."""
    chord = goal - pose[:2]
    size = float(np.linalg.norm(chord))
    c, s = np.cos(pose[2]), np.sin(pose[2])
    angle = float(np.arctan2(c * chord[1] - s * chord[0], c * chord[0] + s * chord[1]))
    if size == 0.0 or abs(angle) > 0.9 * np.pi:
        return np.inf, 0.0
    return size / float(np.sinc(angle / np.pi)), 2 * np.sin(angle) / size


def _distances(pose: Array, curvature: float, length: float, points: Array) -> Array:
    """From points (k, 2) to an arc."""
    c, s = np.cos(pose[2]), np.sin(pose[2])
    x, y = (points - pose[:2]).T
    along = c * x + s * y
    across = c * y - s * x
    nearest = along if curvature == 0.0 else np.arctan2(curvature * along, 1 - curvature * across) / curvature
    on_arc = arc_pose(pose, np.asarray(curvature), np.clip(nearest, 0.0, length))
    return np.linalg.norm(points - on_arc[:, :2], axis=1)
