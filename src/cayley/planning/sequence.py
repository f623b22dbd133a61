"""One motion after another, and the rounding of the corners between them."""

from __future__ import annotations

from collections.abc import Sequence as Listed
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.errors import PlanningError, UnsupportedError
from cayley.planning.checked_numbers import positive_seconds
from cayley.planning.motion import Derivatives, Motion, held
from cayley.planning.splines.knots import through_knots
from cayley.planning.splines.polynomials import PolynomialPieces, moved


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

