"""Laws of motion from rest to rest: s(x) from 0 to 1 while x = t / T does, and the greatest values of its derivatives.

    q = first + (last - first) s(t / T)
Source: Ruggiu, chapter 5 (3-4-5 polynomial 5.2, cycloid 5.3); WE-34 has values. A law is one entry of `LAWS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import PlanningError
from cayley.planning.motion import Motion
from cayley.planning.rest_to_rest.cycloid import Cycloid
from cayley.planning.rest_to_rest.jerk_limits import Phases, phases_of, polynomials_of
from cayley.planning.splines.polynomials import Polynomials
from cayley.wording import did_you_mean

Fitted = Callable[[float, float, float], "Law"]


@dataclass(frozen=True)
class Law:
    """The greatest |s'|, |s''| and |s'''|, and what makes the motion from one configuration (n) to another in a time.
    Of a law whose shape may be `fitted`, to limits of s', s'' and s''' in time, this is the shape without them."""

    velocity: float
    acceleration: float
    jerk: float
    motion: Callable[[Array, Array, float], Motion]
    fitted: Fitted | None = None


def polynomial_law(*coefficients: float) -> Callable[[Array, Array, float], Motion]:
    """The motion with s = sum over k of coefficients[k] x^k."""
    def motion(first: Array, last: Array, duration: float) -> Motion:
        powers = np.array(coefficients, dtype=float) / duration ** np.arange(len(coefficients))
        c = powers[:, None] * (last - first)
        c[0] += first
        return Polynomials([0.0, duration], c[None])
    return motion


def phased_law(jerk: float, rise: float) -> Law:
    """The law with acceleration in straight lines: for a part `jerk` of the time it grows, after `rise` the velocity is
    the greatest. Without jerk it is the trapezoidal law."""
    cruise = 1.0 - 2.0 * rise
    top = 1.0 / (rise + cruise)
    most = top / (rise - jerk)

    def motion(first: Array, last: Array, duration: float) -> Motion:
        ramp, up, along = (np.full(len(first), part * duration) for part in (jerk, rise, cruise))
        return polynomials_of(first, last, Phases(ramp, up, along, duration))
    return Law(top, most, most / jerk if jerk else np.inf, motion)


def fitted_law(velocity: float, acceleration: float, jerk: float) -> Law:
    """The fastest law with these limits of s', s'' and s''' in time."""
    if not np.isfinite(acceleration) and not np.isfinite(jerk):
        return phased_law(1.0 / 6.0, 1.0 / 3.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        ramp, rise, cruise = (float(part) for part in phases_of(1.0, velocity, acceleration, jerk))
    duration = 2.0 * rise + cruise
    return phased_law(ramp / duration, min(rise / duration, 0.5))


def fitted_trapezium(velocity: float, acceleration: float, jerk: float) -> Law:
    """The fastest trapezoidal law; its jerk is without bounds."""
    return fitted_law(velocity, acceleration, np.inf) if np.isfinite(acceleration) else phased_law(0.0, 1.0 / 3.0)


LAWS: dict[str, Law] = {
    "3-4-5": Law(15 / 8, 10 / np.sqrt(3.0), 60.0, polynomial_law(0, 0, 0, 10, -15, 6)),
    "4-5-6-7": Law(35 / 16, 84 / (5 * np.sqrt(5.0)), 52.5, polynomial_law(0, 0, 0, 0, 35, -84, 70, -20)),
    "cycloidal": Law(2.0, 2 * np.pi, 4 * np.pi**2, Cycloid),
    "trapezoidal": replace(phased_law(0.0, 1 / 3), fitted=fitted_trapezium),
    "s-curve": replace(phased_law(1 / 6, 1 / 3), fitted=fitted_law),
}


def law_named(name: str) -> Law:
    """One of `LAWS`."""
    if name not in LAWS:
        raise PlanningError(f"there is no law {name!r}{did_you_mean(name, LAWS)}; there are {', '.join(LAWS)}")
    return LAWS[name]
