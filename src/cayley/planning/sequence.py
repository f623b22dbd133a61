"""Motions made of others: in sequence with rounded corners, at the same time, along a path in another time, at rest."""

from __future__ import annotations

from collections.abc import Sequence as Listed
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, FieldArray, Scalar
from cayley.errors import PlanningError, UnsupportedError
from cayley.planning.motion import ROUNDING, Derivatives, Motion, held, its, positive_seconds
from cayley.planning.splines.polynomials import PolynomialPieces, moved, through_knots


@dataclass(frozen=True, eq=False, repr=False)
class Sequence(Motion):
    """Motions of the same joints, each beginning when and where the one before it ends. `in_sequence` makes one."""

    parts: tuple[Motion, ...]

    @property
    def start(self) -> float:
        return self.parts[0].start

    @property
    def end(self) -> float:
        return self.parts[-1].end

    @property
    def nq(self) -> int:
        return self.parts[0].nq

    @property
    def attitudes(self) -> tuple[int, ...]:
        return self.parts[0].attitudes

    @property
    def breaks(self) -> Array:
        return np.unique(np.concatenate([part.breaks for part in self.parts]))

    @cached_property
    def _joints(self) -> Array:
        return np.array([part.start for part in self.parts[1:]])

    def _text(self, t: Scalar) -> Derivatives:
        found = self.parts[0]._text(held(t, self.start, self.parts[0].end))
        for part in self.parts[1:]:
            later = part._text(held(t, part.start, part.end))
            found = tuple(where(t < part.start, a, b) for a, b in zip(found, later, strict=True))
        return found

    def _values(self, t: Array) -> Derivatives:
        places = np.searchsorted(self._joints, t, side="right")
        if t.ndim == 0:
            return self.parts[int(places)]._values(t)
        found = [np.full((*t.shape, size), np.nan) for size in (self.nq, self.nv, self.nv, self.nv)]
        for place in np.unique(places):
            chosen = places == place
            for whole, own in zip(found, self.parts[place]._values(t[chosen]), strict=True):
                whole[chosen] = own
        return tuple(found)  # type: ignore[return-value]


def in_sequence(motions: Listed[Motion]) -> Motion:
    """The motions one after another, from the start of the first; polynomials of a kind are put together as one."""
    parts = [motions[0]]
    for place, motion in enumerate(motions[1:], 1):
        parts[-1].check_follows(motion, place)
        parts.append(motion.shifted(parts[-1].end))
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, Sequence) else (part,))
            if part.duration]
    if len(flat) < 2:
        return flat[0] if flat else parts[0]
    same = [part for part in flat if isinstance(part, PolynomialPieces) and type(part) is type(flat[0])]
    return _joined(same) if len(same) == len(flat) else Sequence(tuple(flat))


def _joined(parts: Listed[PolynomialPieces]) -> Motion:
    """Curves of rotations have two ways to write each piece, with either sign: each goes on as the one before."""
    degree = max(part.degree for part in parts)
    c = [part.raised(degree).coefficients for part in parts]
    for k in range(1, len(c) if parts[0].attitudes else 0):
        last = moved(c[k - 1][-1:], np.diff(parts[k - 1].breaks)[-1:])[0, 0]
        c[k] = c[k] if last[:4] @ c[k][0, 0, :4] >= 0 else -c[k]
    breaks = np.concatenate([parts[0].breaks, *[part.breaks[1:] for part in parts[1:]]])
    return type(parts[0])(breaks, np.concatenate(c))


def blended(first: Motion, second: Motion, duration: float) -> Motion:
    """See `Motion.blended`."""
    first.check_follows(second)
    if first.attitudes:
        raise UnsupportedError("motions with orientations are not blended: give the poses to pass to `pose_spline`")
    duration = positive_seconds(duration)
    half = 0.5 * duration
    longest = 2.0 * min(first.duration, second.duration)
    if not duration < longest:
        raise PlanningError(f"half of the corner is of each motion, which take {first.duration:g} and "
                            f"{second.duration:g} s: give a duration > 0 and < {longest:g} s, not {duration:g}")
    before = first.during(first.start, first.end - half)
    after = second.during(second.start + half, second.end)
    ends = zip(before(before.end), after(after.start), strict=True)
    corner = through_knots(np.array([0.0, duration]), *[np.stack(pair) for pair in ends])
    return in_sequence([before, corner, after])


@dataclass(frozen=True, eq=False, repr=False)
class Standing(Motion):
    """The configuration `q` (n) from `start` to `end` [s], which may be the same: then `then` leaves it out.

    >>> from cayley.planning.splines.polynomials import line
    >>> Standing([1.0, 2.0]).duration, Standing([1.0]).then(line(0.0, 2.0, [1.0], [3.0])).duration
    (0.0, 2.0)
    """

    q: FieldArray
    start: float = 0.0
    end: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "q", np.array(self.q, dtype=float))

    @property
    def nq(self) -> int:
        return len(self.q)

    @property
    def breaks(self) -> Array:
        return np.array([self.start, self.end])

    @property
    def rests(self) -> tuple[bool, bool]:
        return True, True

    def _text(self, t: Scalar) -> Derivatives:
        none = np.zeros(self.nq)
        return np.asarray(self.q), none, none, none

    def _values(self, t: Array) -> Derivatives:
        none = np.zeros((*np.shape(t), self.nq))
        return none + self.q, none, none, none

    def shifted(self, start: float) -> Motion:
        return Standing(self.q, float(start), float(start) + self.duration)

    def scaled(self, *, duration: float) -> Motion:
        return Standing(self.q, self.start, self.start + positive_seconds(duration))

    def reversed(self) -> Motion:
        return self


@dataclass(frozen=True, eq=False, repr=False)
class Together(Motion):
    """The coordinates of the first motion, then those of the next, and so on; all have the same start and end.

    >>> from cayley.planning.splines.polynomials import line
    >>> Together((line(0.0, 2.0, [0.0], [1.0]), line(0.0, 2.0, [5.0], [3.0])))(1.0).q
    array([0.5, 4. ])
    """

    parts: tuple[Motion, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        for part in self.parts:
            if (part.start, part.end) != (self.start, self.end):
                raise PlanningError(f"motions at the same time are in the same interval; one is in [{self.start:g}, "
                                    f"{self.end:g}], another in [{part.start:g}, {part.end:g}]: use `shifted` and "
                                    "`scaled`")

    @property
    def start(self) -> float:
        return self.parts[0].start

    @property
    def end(self) -> float:
        return self.parts[0].end

    @property
    def nq(self) -> int:
        return sum(part.nq for part in self.parts)

    @property
    def attitudes(self) -> tuple[int, ...]:
        before = np.cumsum([0, *[part.nq for part in self.parts]])
        return tuple(int(first) + place for first, part in zip(before[:-1], self.parts, strict=True)
                     for place in part.attitudes)

    @property
    def breaks(self) -> Array:
        return np.unique(np.concatenate([part.breaks for part in self.parts]))

    def _text(self, t: Scalar) -> Derivatives:
        return _side_by_side([part._text(t) for part in self.parts])

    def _values(self, t: Array) -> Derivatives:
        return _side_by_side([part._values(t) for part in self.parts])


def _side_by_side(found: list[Derivatives]) -> Derivatives:
    return tuple(np.concatenate(same, axis=-1) for same in zip(*found, strict=True))  # type: ignore[return-value]


@kernel("(v),(v),(v),(),(),()->(v),(v),(v)", outputs=("qd", "qdd", "qddd"))
def chain_rule(first: Array, second: Array, third: Array, sd: Scalar, sdd: Scalar,
               sddd: Scalar) -> tuple[Array, Array, Array]:
    """Derivatives by the time of what is known by s, of which s', s'', s''' are given. Angular velocities in body axes
    follow the same rule."""
    return (first * sd, second * sd**2 + first * sdd, third * sd**3 + 3.0 * second * (sd * sdd) + first * sddd)


@dataclass(frozen=True, eq=False, repr=False)
class Composed(Motion):
    """The motion along a `path`, a motion whose time is the parameter s of the path, where `timing`, a motion of one
    coordinate, gives s at each time.

    >>> from cayley.planning.splines.polynomials import Polynomials, line
    >>> path = line(0.0, 1.0, [0.0, 0.0], [2.0, -1.0])
    >>> timing = Polynomials([0.0, 4.0], [[[0.0], [0.0], [3 / 16], [-1 / 32]]])
    >>> Composed(path, timing)([2.0, 4.0]).q
    array([[ 1. , -0.5],
           [ 2. , -1. ]])
    """

    path: Motion
    timing: Motion

    start = its("timing.start")
    end = its("timing.end")
    nq = its("path.nq")
    attitudes = its("path.attitudes")

    def __post_init__(self) -> None:
        if self.timing.nq != 1:
            raise PlanningError(f"the timing of a path has one coordinate, s; this has {self.timing.nq}")
        s = self.timing.position(np.unique([*self.timing.breaks, *np.linspace(self.start, self.end, 33)]))
        low, high = self.path.start, self.path.end
        slack = 1e3 * ROUNDING * max(abs(low), abs(high), high - low)
        if s.min() < low - slack or s.max() > high + slack:
            raise PlanningError(f"the timing leads from s = {s.min():g} to {s.max():g}; the path is from {low:g} to "
                                f"{high:g}")

    @property
    def breaks(self) -> Array:
        """The breaks of the timing, and the times at which breaks of the path are passed."""
        inner = self.path.breaks[1:-1]
        if not len(inner):
            return self.timing.breaks
        return np.unique(np.concatenate([self.timing.breaks, _passed(self.timing, inner)]))

    def _text(self, t: Scalar) -> Derivatives:
        s, *rates = (part[0] for part in self.timing._text(t))
        q, *along = self.path._text(held(s, self.path.start, self.path.end))
        return (q, *chain_rule(*along, *rates))

    def _values(self, t: Array) -> Derivatives:
        s, *rates = (part[..., 0] for part in self.timing._values(t))
        q, *along = self.path._values(np.clip(s, self.path.start, self.path.end))
        return (q, *chain_rule(*along, *rates))


def _passed(timing: Motion, places: Array) -> Array:
    """The times at which a monotonous timing passes these places, by halving; places that it does not pass are left
    out."""
    low = np.full(len(places), timing.start)
    high = np.full(len(places), timing.end)
    ends = timing._values(np.array([timing.start, timing.end]))[0][:, 0]
    sign = 1.0 if ends[1] >= ends[0] else -1.0
    is_passed = (places > ends.min()) & (places < ends.max())
    for _ in range(60):
        middle = 0.5 * (low + high)
        is_before = sign * (timing._values(middle)[0][:, 0] - places) < 0
        low = np.where(is_before, middle, low)
        high = np.where(is_before, high, middle)
    return high[is_passed]
