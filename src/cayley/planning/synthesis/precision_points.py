"""Four-bars for a function y = f(x) on a range: where to choose the precision points.

    x_j = (x0 + x1)/2 - (x1 - x0)/2 cos((2 j - 1) pi / (2 n))      Chebyshev's points
    ds/dk = -(1, cos(phi), -cos(psi))/(sin(phi - psi) - k2 sin(phi))
The best choice makes the structural error s(psi) swing between equal extremes, one more than there are parameters. It
is found by linear programs: the least t with |s + (ds/dk) dk| <= t on the range, for small dk. The angles at which the
dials begin may be free too, which makes five parameters. Sources: Chebyshev 1854; Freudenstein 1955."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.optimize import brentq, linprog

from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError, UnreachableError
from cayley.planning.synthesis.design import FourBarDesign
from cayley.planning.synthesis.freudenstein import check_ground, output_angles, synthesis_equations
from cayley.planning.synthesis.function_generation import exact_parameters, function_generator
from cayley.showing import brief

_SAMPLES = 241
_PROGRAMS = 200
_TURNS = 36
_POINTS = 11
_LONGEST = 5.0
_STARTS = 4
_STILL = 1e-11


def chebyshev_points(low: float, high: float, count: int = 3) -> Array:
    """Precision points (count) between two values, by Chebyshev's spacing, rising.

    >>> chebyshev_points(0.0, 2.0).round(6)
    array([0.133975, 1.      , 1.866025])
    """
    if not (np.isfinite(low) and np.isfinite(high) and low != high) or count < 1:
        raise SignatureError(f"precision points must be one or more between two numbers, not {count} in {low} to "
                             f"{high}")
    j = np.arange(1, count + 1)
    return (low + high) / 2 - (high - low) / 2 * np.cos((2 * j - 1) * np.pi / (2 * count))


@dataclass(frozen=True)
class Dials:
    """The dials that show x and y: x from `x[0]` to `x[1]` on the input from `psi[0]` to `psi[1]` [rad], y
    alike on the output."""

    function: Callable[[Array], Array]
    x: tuple[float, float]
    psi: tuple[float, float]
    phi: tuple[float, float]

    def __post_init__(self) -> None:
        for name in ("x", "psi", "phi"):
            ends = getattr(self, name)
            if len(ends) != 2 or not np.isfinite(ends).all() or ends[0] == ends[1]:
                raise SignatureError(f"{name} must be a range of two different numbers, not {ends}")
        y = self._values(np.linspace(*self.x, _SAMPLES))
        if not np.isfinite(y).all():
            raise SignatureError(f"the function is not finite everywhere from {self.x[0]:.6g} to {self.x[1]:.6g}")
        if np.ptp(y) == 0:
            raise SignatureError("the function is constant: the output would not turn")

    def inputs(self, x: ArrayLike) -> Array:
        """psi (...) for x (...)."""
        share = (np.asarray(x, dtype=float) - self.x[0]) / (self.x[1] - self.x[0])
        return self.psi[0] + share * (self.psi[1] - self.psi[0])

    def outputs(self, x: ArrayLike) -> Array:
        """phi (...) for x (...): the smallest and largest y are the ends of the output's range."""
        low, high = self._range
        return self.phi[0] + (self._values(x) - low) / (high - low) * (self.phi[1] - self.phi[0])

    def _values(self, x: ArrayLike) -> Array:
        places = np.asarray(x, dtype=float)
        return np.broadcast_to(np.asarray(self.function(places), dtype=float), places.shape)

    @cached_property
    def _range(self) -> tuple[float, float]:
        y = self._values(np.linspace(*self.x, _SAMPLES))
        ends = (float(y.min()), float(y.max()))
        return ends[::-1] if y[0] > y[-1] else ends


@dataclass(frozen=True, eq=False)
class FunctionFit(HoldsFunctions):
    """A four-bar that shows a function, the places (n) of x at which it is exact, and its largest error [rad] on the
    range, NaN if it cannot be assembled everywhere on it. Its dials are those that were asked for, unless their
    beginnings were free."""

    design: FourBarDesign
    dials: Dials
    precision_points: Array
    largest_error: float

    __repr__ = brief

    def error(self, x: ArrayLike) -> Array:
        """The structural error (...) [rad] at x (...), in one assembly mode."""
        return _error(self.design.parameters, self.dials.inputs(x), self.dials.outputs(x), self._mode)

    @cached_property
    def _mode(self) -> int:
        places = np.linspace(*self.dials.x, _SAMPLES)
        return _mode(self.design.parameters, self.dials.inputs(places), self.dials.outputs(places))


def chebyshev_generator(function: Callable[[Array], Array], x: tuple[float, float], *, psi: tuple[float, float],
                        phi: tuple[float, float], ground: float = 1.0) -> FunctionFit:
    """The four-bar that is exact at the three Chebyshev points of y = function(x), x from x[0] to x[1] on the dials
    psi and phi [rad]."""
    dials = Dials(function, x, psi, phi)
    places = chebyshev_points(*x)
    return _fit(function_generator(dials.inputs(places), dials.outputs(places)).parameters, dials, ground)


def best_generator(function: Callable[[Array], Array], x: tuple[float, float], *, psi: tuple[float, float],
                   phi: tuple[float, float], free_dials: bool = False, longest: float | None = None,
                   ground: float = 1.0) -> FunctionFit:
    """The four-bar with the least largest error over y = function(x), x from x[0] to x[1], on the dials psi and phi
    [rad]; with `free_dials` both dials keep their lengths and may begin anywhere. Input and output link are at most
    `longest` times as long as the ground link, and it as they: by default five times with free dials, otherwise any.

    >>> asked = {"psi": (np.radians(45.0), np.radians(105.0)), "phi": (np.radians(135.0), np.radians(225.0))}
    >>> for fit in (chebyshev_generator(np.log10, (1.0, 2.0), **asked), best_generator(np.log10, (1.0, 2.0), **asked),
    ...             best_generator(np.log10, (1.0, 2.0), **asked, free_dials=True)):
    ...     print(f"{np.degrees(fit.largest_error):.4f} degrees")
    0.1686 degrees
    0.0905 degrees
    0.0163 degrees
    """
    dials = Dials(function, x, psi, phi)
    places = np.linspace(*x, _SAMPLES)
    if longest is not None and not longest > 1:
        raise SignatureError(f"`longest`, the greatest ratio of a link to the ground link, must be more than 1, not "
                             f"{longest}")
    bounds = _Bounds((_LONGEST if free_dials else np.inf) if longest is None else float(longest))
    found = []
    for start in _beginnings(dials, bounds) if free_dials else _triples(dials, bounds):
        values = _least_largest(start, dials.inputs(places), dials.outputs(places), bounds)
        shift = values[3:] if free_dials else np.zeros(2)
        turned = Dials(function, x, (psi[0] + shift[0], psi[1] + shift[0]), (phi[0] + shift[1], phi[1] + shift[1]))
        found.append(_fit(values[:3], turned, ground))
    whole = [fit for fit in found if np.isfinite(fit.largest_error)]
    if not whole:
        raise UnreachableError("the best four-bar found cannot be assembled at some inputs of the range: let the dials "
                               "begin elsewhere (free_dials), or shorten them")
    return min(whole, key=lambda fit: (not _moves_through(fit), fit.largest_error))


def _moves_through(fit: FunctionFit) -> bool:
    """The defects that keep one motion of the input from leading over the whole range."""
    x = np.linspace(*fit.dials.x, 9)
    design = fit.design
    if not design.feasible or design.kind == "PRRP":
        return False
    return replace(design, inputs=fit.dials.inputs(x), outputs=fit.dials.outputs(x)).defects().none


@dataclass(frozen=True)
class _Bounds:
    """k2 and k3 keep their signs, and stay between 1/longest and longest; if that is infinite, they are free."""

    longest: float

    def hold(self, k: Array) -> Array:
        """True where they do (...), for k (..., 3)."""
        sizes = np.abs(k[..., 1:])
        return np.all((sizes >= 1 / self.longest) & (sizes <= self.longest), axis=-1)

    def steps(self, values: Array, room: float) -> list[tuple[float, float]]:
        """From where to where each parameter may change."""
        found = [(-room, room)] * len(values)
        for row in (1, 2) if np.isfinite(self.longest) else ():
            ends = np.sort(np.sign(values[row]) * np.array([1 / self.longest, self.longest])) - values[row]
            found[row] = (max(-room, min(ends[0], 0.0)), min(room, max(ends[1], 0.0)))
        return found


def _beginnings(dials: Dials, bounds: _Bounds) -> list[Array]:
    """Parameters and turns of both dials (5), of a grid of turns, for the best linkage of Chebyshev's points."""
    turns = np.stack(np.meshgrid(*[np.linspace(-np.pi, np.pi, _TURNS, endpoint=False)] * 2), axis=-1).reshape(-1, 1, 2)
    precise = chebyshev_points(*dials.x)
    k, largest = _judged(dials, dials.inputs(precise) + turns[..., 0], dials.outputs(precise) + turns[..., 1], turns,
                         bounds)
    best = int(np.argmin(largest))
    return [np.concatenate([k[best], turns[best, 0]])]


def _triples(dials: Dials, bounds: _Bounds) -> list[Array]:
    """Parameters (3) of the best linkages that are exact at three of some points, and of that of Chebyshev's."""
    spread = np.linspace(*dials.x, _POINTS)
    triples = np.stack([chebyshev_points(*dials.x), *map(np.array, combinations(spread, 3))])
    k, largest = _judged(dials, dials.inputs(triples), dials.outputs(triples), np.zeros((len(triples), 1, 2)), bounds)
    best = np.argsort(largest)[:_STARTS]
    return [k[n] for n in dict.fromkeys([0, *map(int, best)]) if np.isfinite(largest[n])]


def _judged(dials: Dials, psi: Array, phi: Array, turns: Array, bounds: _Bounds) -> tuple[Array, Array]:
    """The parameters (n, 3) and the largest errors (n) of triples of pairs (n, 3), on dials that are turned."""
    with np.errstate(all="ignore"):
        k = exact_parameters.unchecked(psi, phi)
        places = np.linspace(*dials.x, _SAMPLES)
        off = (output_angles.unchecked(k[:, None], dials.inputs(places) + turns[..., 0])
               - (dials.outputs(places) + turns[..., 1])[..., None])
    largest = np.abs(np.arctan2(np.sin(off), np.cos(off))).max(axis=1).min(axis=-1)
    largest = np.where(np.isfinite(largest) & bounds.hold(k), largest, np.inf)
    if not np.isfinite(largest).any():
        raise UnreachableError("no four-bar was found that can be assembled on the whole range: let the dials begin "
                               "elsewhere (free_dials), shorten them, or allow longer links")
    return k, largest


def _least_largest(values: Array, psi: Array, phi: Array, bounds: _Bounds) -> Array:
    """Parameters (3 or 5) with the least largest error on a grid, from others that can be assembled on all of it."""
    error, slopes = _error_and_slopes(values, psi, phi)
    room = 0.1
    for _ in range(_PROGRAMS):
        step, promised = _program(error, slopes, bounds.steps(values, room))
        tried, tried_slopes = _error_and_slopes(values + step, psi, phi)
        before = np.abs(error).max()
        gain = before - np.abs(tried).max()
        if np.isfinite(gain) and gain > 0:
            room *= 2.0 if gain > 0.75 * (before - promised) else 0.5 if gain < 0.25 * (before - promised) else 1.0
            values = values + step
            error = tried
            slopes = tried_slopes
            if gain <= _STILL * before:
                break
        else:
            room = min(room, float(np.abs(step).max())) / 4
            if room < _STILL:
                break
    return values


def _program(error: Array, slopes: Array, bounds: list[tuple[float, float]]) -> tuple[Array, float]:
    scale = max(float(np.abs(error).max()), 1e-300)
    ones = np.ones((len(error), 1))
    left = np.concatenate([np.hstack([slopes / scale, -ones]), np.hstack([-slopes / scale, -ones])])
    right = np.concatenate([-error, error]) / scale
    found = linprog([0.0] * slopes.shape[1] + [1.0], A_ub=left, b_ub=right, bounds=[*bounds, (0.0, None)],
                    method="highs")
    return (found.x[:-1], float(found.x[-1] * scale)) if found.success else (np.zeros(slopes.shape[1]), scale)


def _error_and_slopes(values: Array, psi: Array, phi: Array) -> tuple[Array, Array]:
    """s (m) and its derivatives (m, 3 or 5) by k and the beginnings of the dials."""
    k = values[:3]
    begin = values[3:] if len(values) == 5 else np.zeros(2)
    inputs = psi + begin[0]
    wanted = phi + begin[1]
    error = _error(k, inputs, wanted, _mode(k, inputs, wanted))
    out = wanted + error
    turn = np.sin(out - inputs) - k[1] * np.sin(out)  # the change of the equation with the output
    turn = np.where(np.abs(turn) > _STILL, turn, _STILL)  # where the modes meet the slope has no bound
    by_k = -np.stack([np.ones_like(out), np.cos(out), -np.cos(inputs)], axis=1) / turn[:, None]
    if len(values) == 3:
        return error, by_k
    by_psi = -(k[2] * np.sin(inputs) - np.sin(out - inputs)) / turn
    return error, np.column_stack([by_k, by_psi, -np.ones_like(out)])


def _error(k: Array, psi: Array, phi: Array, mode: int) -> Array:
    off = output_angles.unchecked(k, psi)[..., mode] - np.asarray(phi)
    return np.arctan2(np.sin(off), np.cos(off))


def _mode(k: Array, psi: Array, phi: Array) -> int:
    return int(np.argmin([np.nansum(np.abs(_error(k, psi, phi, mode))) for mode in range(2)]))


def _fit(k: Array, dials: Dials, ground: float) -> FunctionFit:
    places = np.linspace(*dials.x, 4 * _SAMPLES)
    mode = _mode(k, dials.inputs(places), dials.outputs(places))
    error = _error(k, dials.inputs(places), dials.outputs(places), mode)

    def at(x: float) -> float:
        return float(_error(k, dials.inputs(x), dials.outputs(x), mode))

    crossings = np.flatnonzero((error[:-1] * error[1:] < 0) & (np.abs(np.diff(error)) < 1.0))
    exact = {float(brentq(at, places[i], places[i + 1], xtol=1e-14)) for i in crossings}
    exact |= {float(x) for x in places[error == 0]}
    precise = np.array(sorted(exact))
    pairs = precise if len(precise) else np.asarray(dials.x)
    inputs = dials.inputs(pairs)
    outputs = dials.outputs(pairs)
    condition = float(np.linalg.cond(synthesis_equations(inputs, outputs).matrix))
    design = FourBarDesign(k, check_ground(ground), inputs, outputs, condition)
    return FunctionFit(design, dials, precise, float(np.abs(error).max()))
