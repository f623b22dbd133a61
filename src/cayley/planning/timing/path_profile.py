"""Where a motion is on its path in time: place, speed and acceleration at times, and polynomials between them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.planning.motion import Motion
from cayley.planning.splines.polynomials import Polynomials

SAMPLES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])


class Profile(NamedTuple):
    """The place s on a path, its speed and its acceleration at times t, (k) each, and which of these are breaks of the
    path."""

    t: Array
    s: Array
    speed: Array
    acceleration: Array
    marks: Array

    def timing(self) -> Polynomials:
        """Polynomials of degree five between the times."""
        T = np.diff(self.t)
        s, v, a = self.s, self.speed, self.acceleration
        left = s[1:] - (s[:-1] + v[:-1] * T + 0.5 * a[:-1] * T**2)
        rates = (v[1:] - v[:-1] - a[:-1] * T) * T
        bends = np.diff(a) * T**2
        c = [s[:-1], v[:-1], a[:-1] / 2.0, (10.0 * left - 4.0 * rates + 0.5 * bends) / T**3,
             (-15.0 * left + 7.0 * rates - bends) / T**4, (6.0 * left - 3.0 * rates + 0.5 * bends) / T**5]
        return Polynomials(self.t, np.stack(c, axis=1)[..., None])

    def times(self, parts: Array) -> Array:
        """Times (intervals, parts), the last of each interval before what follows begins."""
        t = self.t[:-1, None] + np.diff(self.t)[:, None] * parts
        t[:, -1] = np.nextafter(self.t[1:], 0.0)
        return t

    def goes_on(self) -> bool:
        """Whether the place never goes back between the times."""
        return bool((self.timing().derivatives(self.times(SAMPLES))[1][:, 1:-1] > 0.0).all())

    def slower(self, factor: float) -> Profile:
        """The same way in a time that is so many times longer."""
        return Profile(self.t * factor, self.s, self.speed / factor, self.acceleration / factor**2, self.marks)

    def resampled(self, count: int) -> Profile:
        """Evenly in time between the breaks of the path, with a few more points if it would go back between fewer."""
        tried = (self._sampled(round(more * count)) for more in (1.0, 1.3, 1.7))
        return next((profile for profile in tried if profile.goes_on()), self)

    def _sampled(self, count: int) -> Profile:
        marks = self.t[self.marks]
        parts = np.diff(marks) / marks[-1]
        ends = np.concatenate([[0], np.cumsum(np.maximum(np.round(count * parts), 4.0))]).astype(int)
        t = np.interp(np.arange(ends[-1] + 1), ends, marks)
        s, v, a = (part[:, 0].copy() for part in self.timing().derivatives(t)[:3])
        s[ends] = self.s[self.marks]
        return Profile(t, s, v, a, ends)


def begin(curve: Motion, first: float, last: float, count: int) -> Profile:
    """The 3-4-5 polynomial, whose jerk at the ends is finite and not zero, in one second."""
    breaks = np.asarray(curve.breaks)
    places = np.concatenate([[first], breaks[(breaks > first) & (breaks < last)], [last]])
    x = np.linspace(0.0, 1.0, 4 * count + 1)
    law = 10.0 * x**3 - 15.0 * x**4 + 6.0 * x**5
    marks = np.interp((places - first) / (last - first), law, x)
    parts = np.maximum(np.round(count * np.diff(marks)), 4.0)
    ends = np.concatenate([[0], np.cumsum(parts)]).astype(int)
    t = np.interp(np.arange(ends[-1] + 1), ends, marks)
    way = last - first
    s = first + way * (10.0 * t**3 - 15.0 * t**4 + 6.0 * t**5)
    s[ends] = places
    return Profile(t, s, way * (30.0 * t**2 - 60.0 * t**3 + 30.0 * t**4),
                   way * (60.0 * t - 180.0 * t**2 + 120.0 * t**3), ends)
