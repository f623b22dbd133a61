"""Ways of the joints without times: curves q(s) through waypoints, smooth where they are passed, and the grids on which
they are timed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import PlanningError, SignatureError
from cayley.geometry.batch import numbers
from cayley.planning.motion import Motion
from cayley.planning.sequence import Composed
from cayley.planning.splines.polynomials import Polynomials
from cayley.planning.splines.splines import cubic_spline

_CORNER = 1e-9
_GAP = 1e-7
_HALVINGS = 8
_PARABOLA = 1e-3
_EXPANDED = 5  # degree of a path up to which its timing is multiplied out


class Path(NamedTuple):
    """A curve q(s), a motion whose time is s, and the places s (k) at which it rests, the ends among them."""

    curve: Motion
    rests: Array


def path_through(waypoints: ArrayLike, stops: Sequence[int] = ()) -> Path:
    """The path through waypoints (k, n), with a stop at those of the numbers `stops`, from 0. Between stops it is a
    natural cubic spline, whose parameter grows with the square root of the distance of waypoints (centripetal: no loops
    where they are close); between two stops next to each other it is a straight line."""
    points = numbers(waypoints, "waypoints")
    if points.ndim != 2 or len(points) < 2 or points.shape[1] == 0:
        raise SignatureError(f"waypoints are (k, n), two or more; given was the shape {points.shape}")
    if not np.isfinite(points).all():
        raise PlanningError(f"waypoint {int((~np.isfinite(points)).any(axis=1).argmax())} is not of finite numbers")
    distances = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if not distances.all():
        first = int((distances == 0.0).argmax())
        raise PlanningError(f"waypoints {first} and {first + 1} are the same: leave one of them out (to stop there, "
                            "name it among the stops)")
    at_rest = _checked_stops(stops, len(points))
    knots = np.concatenate([[0.0], np.cumsum(np.sqrt(distances))])
    sections = [cubic_spline(knots[a:b + 1], points[a:b + 1]) for a, b in pairwise(at_rest)]
    curve = sections[0] if len(sections) == 1 else Polynomials(
        knots, np.concatenate([section.raised(3).coefficients for section in sections]))
    return Path(curve, knots[at_rest])


def _checked_stops(stops: Sequence[int], count: int) -> Array:
    found = numbers(stops if len(stops) else [0], "stops")
    if found.ndim != 1 or (found != np.round(found)).any() or (np.abs(found) >= count).any():
        raise PlanningError(f"stops are numbers of waypoints, 0 to {count - 1}; given was {list(stops)}")
    return np.unique(np.concatenate([found.astype(int) % count, [0, count - 1]]))


def path_of(curve: Motion, stops: Sequence[float] = ()) -> Path:
    """The path of a motion, whose own times are of no importance, with stops at these of its times and wherever it has
    a corner: at a corner that is not rounded nothing else is possible."""
    places = numbers(stops, "stops").reshape(-1)
    if not ((places >= curve.start) & (places <= curve.end)).all():
        raise PlanningError(f"stops are between {curve.start:g} and {curve.end:g}, the ends of the path; given was "
                            f"{list(stops)}")
    corners = kept(curve, "corners", lambda: _corners(curve))
    return Path(curve, np.unique(np.concatenate([places, corners, [curve.start, curve.end]])))


def _corners(curve: Motion) -> Array:
    inner = np.asarray(curve.breaks)[1:-1]
    if not len(inner):
        return inner
    (here, before, *_), (there, after, *_) = curve.beside(inner)
    gap = np.abs(there - here).max(axis=1)
    if gap.max() > _GAP * (1.0 + np.abs(here).max()):
        raise PlanningError(f"the path jumps by {gap.max():g} at s = {inner[int(gap.argmax())]:g}: no motion follows "
                            "it; put a motion between")
    jump = np.abs(after - before).max(axis=1)
    return inner[jump > _CORNER * (np.abs(before).max() + 1e-300)]


def grid_of(path: Path, count: int) -> Array:
    """At least `count` intervals in proportion to the pieces of a path, with every break and every stop on a point, and
    no piece without a point inside."""
    breaks = np.asarray(path.curve.breaks)
    if len(path.rests) > 2:
        breaks = np.unique(np.concatenate([breaks, path.rests]))
    lengths = np.diff(breaks)
    intervals = np.maximum(np.ceil(lengths * (count / (breaks[-1] - breaks[0])) - 1e-9), 2.0)
    ends = np.concatenate([[0.0], np.cumsum(intervals)])
    return np.interp(np.arange(int(ends[-1]) + 1), ends, breaks)


def resolved(curve: Motion, s: Array) -> Array:
    """A grid with more points where the slopes of the curve are no parabolas between those of the grid: there samples
    would not see its waves."""
    place = s[0]
    for _ in range(_HALVINGS):
        steps = np.diff(s)[:, None]
        slopes = curve._values(s[:-1, None] + steps * np.array([1e-9, 0.25, 0.5, 0.75, 1.0 - 1e-9]))[1]
        first, early, middle, late, last = np.moveaxis(slopes, 1, 0)
        gaps = np.maximum(np.abs(early - (3.0 * first + 6.0 * middle - last) / 8.0),
                          np.abs(late - (3.0 * last + 6.0 * middle - first) / 8.0))
        rough = (gaps > _PARABOLA * np.abs(slopes).max(axis=(0, 1))).any(axis=1)
        if not rough.any():
            return s
        place = s[int(rough.argmax())]
        s = np.sort(np.concatenate([s, 0.5 * (s[:-1] + s[1:])[rough]]))
    raise PlanningError(f"the path turns too sharply near s = {place:g}: if it has a corner there, round it, or make "
                        "it of two motions with `then`, between which it stops; otherwise ask for a finer grid")


def along(curve: Motion, timing: Polynomials) -> Motion:
    """The motion along a path. If that is of polynomials, those of time, each of one piece of the path: at its breaks,
    where the third derivative jumps, no rounding decides which piece it is."""
    if not isinstance(curve, Polynomials) or curve.degree > _EXPANDED:
        return Composed(curve, timing)
    middles = timing.derivatives(0.5 * (timing.breaks[1:] + timing.breaks[:-1]))[0][:, 0]
    pieces = np.clip(np.searchsorted(curve.breaks, middles) - 1, 0, len(curve.coefficients) - 1)
    way = timing.coefficients[..., 0].copy()
    way[:, 0] -= curve.breaks[pieces]
    size = curve.degree * timing.degree + 1
    power = np.zeros((len(way), size))
    power[:, 0] = 1.0
    found = np.zeros((len(way), size, curve.nq))
    for c in np.moveaxis(curve.coefficients[pieces], 1, 0):
        found += power[..., None] * c[:, None]
        before, power = power, np.zeros_like(power)
        for k in range(timing.degree + 1):
            power[:, k:] += way[:, k:k + 1] * before[:, :size - k]
    return Polynomials(timing.breaks, found)
