"""Static equilibria of a potential and their nature.

Where the gradient of U(q) vanishes, the system can rest: stable if all eigenvalues of the Hessian are positive,
unstable if one is negative. A zero eigenvalue decides nothing (spec E-33): then the slope of U is looked at along the
flat directions, all others at their best, in growing steps until it stands out of rounding, and in tiny steps with many
digits, where the lowest power of U is all that counts:

    stable        U rises in every direction           unstable   U falls in some direction
    indifferent   U neither falls nor rises along a flat direction, over the whole reach
    undecided     the slope changes its sign from one step to the next; or U rises so much less in some flat directions
                  than in others that a direction in which it falls may have been missed
Source: Ruggiu (3.51), (3.52), (3.55), corrected as in spec E-33."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy.optimize import minimize, root
from scipy.stats import qmc

from cayley.compiler.algebras.packages import MPMATH
from cayley.compiler.algebras.protocol import package
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.solving.rounding import least_singular
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import CayleyError, SignatureError
from cayley.showing import brief

Nature = Literal["stable", "unstable", "indifferent", "undecided"]
_FLAT = 1e-6  # eigenvalues this small, against the curvature of U around, decide nothing: higher powers do
_STEPS = 0.2 * 2.0 ** -np.arange(21.0)[::-1]  # how far flat directions are followed
_NOISE = 64 * np.finfo(float).eps
_LEFT = 8.0  # times the gradient at the equilibrium: so much of a slope may come from its place, which is not exact
_DIGITS = 320
_TINY = range(-24, -7)  # powers of ten: steps with as many digits
_EVEN = 1e-3  # of the steepest rise around: where it is everywhere more, it is positive everywhere


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A configuration of rest."""

    q: Array
    potential: float
    nature: Nature
    curvatures: Array  # eigenvalues of the Hessian, the smallest first
    directions: Array  # its eigenvectors, as columns
    flat: Array  # which of the curvatures are zero, as far as can be told
    residual: float  # the length of the gradient

    __repr__ = brief


@dataclass(frozen=True, eq=False)
class EquilibriumSearch:
    """Different equilibria, sorted by their potential, and how many of the starts found none."""

    found: tuple[Equilibrium, ...]
    starts: int
    failed: int

    __repr__ = brief

    def of_nature(self, nature: Nature) -> tuple[Equilibrium, ...]:
        return tuple(e for e in self.found if e.nature == nature)


@dataclass(frozen=True, eq=False)
class Potential(HoldsFunctions):
    """A potential energy U(q) [J], written for one configuration q (n) with NumPy's functions, with its derivatives.

    >>> spring = Potential(lambda q: np.cos(q[0]) + 0.25 * q[0] ** 2)
    >>> [(e.nature, float(e.q[0].round(6))) for e in spring.equilibria([(-2.5, 2.5)]).found]
    [('stable', -1.895494), ('stable', 1.895494), ('unstable', 0.0)]
    """

    function: Callable[[Any], Any]

    @cached_property
    def value(self) -> Kernel:
        """`(q)` -> U (...)."""
        return kernel("(n)->()", name="potential", inputs=["q"])(self.function)

    @cached_property
    def gradient(self) -> Kernel:
        """`(q)` -> dU/dq (..., n)."""
        return self.value.jacobian("q")

    @cached_property
    def hessian(self) -> Kernel:
        """`(q)` -> d2U/dq2 (..., n, n)."""
        return self.gradient.jacobian("q")

    def at(self, q: ArrayLike) -> Equilibrium:
        """The nature of the equilibrium at `q` (n), which must be one.

        >>> Potential(lambda q: np.cos(q[0]) + 0.5 * q[0] ** 2).at([0.0]).nature  # U'' = 0, U'''' = 1
        'stable'
        """
        q = np.asarray(q, dtype=float)
        curvatures, directions = np.linalg.eigh(self.hessian(q))
        scale = self._curvature_around(q)
        slope = float(np.linalg.norm(self.gradient(q)))
        if slope > 1e-6 * max(scale, 1e-300):
            raise SignatureError(
                f"the potential is not at rest at {q}: its slope there is {slope:.3g}; `equilibria` finds where it is")
        flat = np.abs(curvatures) <= _FLAT * scale
        nature: Nature = "stable"
        if (curvatures[~flat] < 0).any():
            nature = "unstable"
        elif flat.any():
            nature = self._nature_along(q, directions[:, flat], directions[:, ~flat])
        return Equilibrium(q, float(self.value(q)), nature, curvatures, directions, flat, slope)

    def equilibria(self, bounds: Sequence[tuple[float, float]], *, starts: int = 128,
                   seed: int = 0) -> EquilibriumSearch:
        """The equilibria within bounds (n pairs), from many starts. Those that differ only along flat directions are
        named once. A search by starts may miss equilibria with a small basin; more starts find more."""
        low, high = np.asarray(bounds, dtype=float).T
        tried = low + qmc.Halton(len(low), seed=seed).random(starts) * (high - low)
        solved = [root(self.gradient, start, jac=self.hessian, tol=1e-14) for start in tried]
        rests = [q for q in map(self._polished, (s.x for s in solved)) if q is not None]
        inside = [q for q in rests if (q >= low - 1e-9).all() and (q <= high + 1e-9).all()]
        return EquilibriumSearch(tuple(sorted(_different(map(self.at, inside)), key=_order)), starts,
                                 starts - len(rests))

    def _polished(self, q: Array) -> Array | None:
        scale = self._curvature_around(q)
        for _ in range(40):
            slope = self.gradient(q)
            H = self.hessian(q)
            if np.linalg.norm(slope) <= 1e-15 * scale or not np.isfinite(H).all():
                break
            q = q - np.linalg.lstsq(H, slope, rcond=least_singular(len(q)))[0]
        return q if np.linalg.norm(self.gradient(q)) <= 1e-9 * self._curvature_around(q) else None

    def _curvature_around(self, q: Array) -> float:
        """The greatest curvature within reach: what zero is measured against."""
        nearby = q + np.concatenate([np.zeros((1, len(q))), *(s * np.eye(len(q)) for s in (0.5, -0.5, 0.13, -0.13))])
        curvatures = np.abs(self.hessian(nearby))
        return float(curvatures[np.isfinite(curvatures)].max(initial=0.0))

    def _nature_along(self, q: Array, flat: Array, others: Array) -> Nature:
        """The nature when all curvatures but the flat ones are positive."""
        around = self._nature_around(q, flat, others)
        line = flat.shape[1] == 1
        if around == "indifferent" or not (line or around == "stable"):
            return around
        ways = _ways(flat.shape[1])[:2 * flat.shape[1] + 16] @ flat.T
        exact = [self._lowest_sign(q, way, others) for way in ways]
        if -1 in exact and (not line or None not in exact):
            return "unstable"
        return "stable" if line and None not in exact else around

    def _lowest_sign(self, q: Array, way: Array, others: Array) -> int | None:
        """The sign of the lowest power of U along a way whose coefficient is more than rounding, exactly: 1 if U rises
        by it, -1 if it falls; None if what is left of the gradient hides it, or U is not written for such numbers."""
        least = _NOISE * self._curvature_around(q)
        mpmath = package("mpmath")
        with mpmath.workdps(_DIGITS):
            try:
                left = abs(self._exact_slope(q, mpmath.mpf(0), way, others))
                slopes = [self._exact_slope(q, mpmath.mpf(10) ** k, way, others) for k in _TINY]
            except (CayleyError, TypeError, ValueError, ZeroDivisionError):
                return None
            for k, slope, next_slope in zip(_TINY, slopes, slopes[1:], strict=False):
                if slope * next_slope <= 0 or abs(slope) <= _LEFT * left:
                    continue
                power = mpmath.log10(next_slope / slope)
                if abs(power - mpmath.nint(power)) < 0.01 and abs(slope) > least * mpmath.mpf(10) ** (k * power):
                    return int(mpmath.sign(slope))
        return None

    def _exact_slope(self, q: Array, step: Scalar, way: Array, others: Array) -> Scalar:
        """The slope of `_slope`, with many digits."""
        mpmath = package("mpmath")
        inverse = np.linalg.inv(others.T @ self.hessian(q) @ others)
        x = np.array([mpmath.mpf(float(a)) + step * mpmath.mpf(float(b)) for a, b in zip(q, way, strict=True)])
        slope = self.gradient.evaluate(MPMATH, x)
        for _ in range(100):
            off = others.T @ slope
            if not any(abs(each) > mpmath.mpf(10) ** (30 - _DIGITS) for each in off):
                break
            x = x - others @ (inverse @ off)
            slope = self.gradient.evaluate(MPMATH, x)
        return way @ slope

    def _nature_around(self, q: Array, flat: Array, others: Array) -> Nature:
        """The same with several flat directions: by the least slope on small spheres, searched from many directions."""
        noise = self._noise(q)
        ways = _ways(flat.shape[1]) @ flat.T
        verdicts: list[Nature] = []
        lowest = ways[:1]
        for step, small in zip(_STEPS, noise, strict=True):
            slopes = np.array([self._slope(q, step, way, others) for way in ways])
            if np.abs(slopes).max() <= small:
                continue
            least, lowest = self._least_slope(q, step, flat, others,
                                              np.concatenate([lowest[:1], ways[np.argsort(slopes)[:3]]]))
            if abs(least) > small:
                verdicts.append("unstable" if least < 0 else "stable" if least > _EVEN * slopes.max() else "undecided")
            if len(verdicts) == 2:
                return verdicts[0] if verdicts[0] == verdicts[1] else "undecided"
        level = [
            abs(self._slope(q, step, lowest[0], others)) <= small for step, small in zip(_STEPS, noise, strict=True)]
        return "indifferent" if all(level) else "undecided"

    def _least_slope(self, q: Array, step: float, flat: Array, others: Array, starts: Array) -> tuple[float, Array]:
        """The least slope at a distance from `q`, and its direction (1, n)."""
        size = max(abs(self._slope(q, step, way, others)) for way in starts) or 1.0

        def slope(x: Array) -> float:
            return self._slope(q, step, flat @ (x / np.linalg.norm(x)), others) / size

        found = [flat @ (x / np.linalg.norm(x)) for x in (minimize(slope, flat.T @ way, tol=1e-12).x for way in starts)]
        return min(((self._slope(q, step, way, others), way[None]) for way in [*starts, *found]),
                   key=lambda pair: pair[0])

    def _slope(self, q: Array, step: float, way: Array, others: Array) -> float:
        """The rise of U at a distance along a way, the directions that are not flat at their best."""
        return float(way @ self.gradient(self._relaxed(q + step * way, others)))

    def _noise(self, q: Array) -> Array:
        """The slopes, one for each step, that may be rounding, or come from the place of the equilibrium."""
        rounding = _NOISE * self._curvature_around(q) * (_STEPS + np.abs(q).max(initial=0.0))
        return rounding + _LEFT * float(np.linalg.norm(self.gradient(q)))

    def _relaxed(self, q: Array, others: Array) -> Array:
        for _ in range(6 if others.shape[1] else 0):
            q = q - others @ np.linalg.solve(others.T @ self.hessian(q) @ others, others.T @ self.gradient(q))
        return q


def _different(equilibria: Iterable[Equilibrium]) -> list[Equilibrium]:
    kept: list[Equilibrium] = []
    for e in equilibria:
        if not any(_same(e, other) for other in kept):
            kept.append(e)
    return kept


def _same(a: Equilibrium, b: Equilibrium) -> bool:
    apart = b.directions.T @ (a.q - b.q)
    along = b.flat & (a.nature == b.nature == "indifferent") & bool(
        abs(a.potential - b.potential) < 1e-9 * (1 + abs(b.potential)))
    return bool(np.linalg.norm(apart[~along]) < (1e-3 if b.flat.any() else 1e-6))


def _order(e: Equilibrium) -> tuple[float, ...]:
    return (round(e.potential, 9), *e.q.round(6).tolist())


def _ways(dimension: int) -> Array:
    """Unit vectors in all directions: both, on a line; many, evenly, otherwise."""
    if dimension == 1:
        return np.array([[1.0], [-1.0]])
    normal = qmc.MultivariateNormalQMC(np.zeros(dimension), seed=0).random(128)
    return np.concatenate([
        np.eye(dimension), -np.eye(dimension), normal / np.linalg.norm(normal, axis=1, keepdims=True)])
