"""The fastest motion under limits of jerk between states that are not at rest, planned by ruckig, if it is installed.

From rest to rest `jerk_limits.py` is this package's own, in compiled batches. Other states have a hundred cases, which
ruckig (Berscheid & Kröger 2021, "Jerk-limited real-time trajectory generation with arbitrary target states") has
solved; what it finds is taken as a `Motion`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import PlanningError, UnsupportedError
from cayley.planning.profiles.jerk_limits import distinct_times
from cayley.planning.splines.polynomials import Polynomials
from cayley.planning.timing.limits import MotionLimits, checked_configuration
from cayley.planning.timing.speed_limits import allowed_speed
from cayley.planning.tool_motions.two_poses import EndState

if TYPE_CHECKING:
    from ruckig import Profile, Trajectory


def jerk_limited_between(first: EndState, last: EndState, limits: MotionLimits) -> Polynomials:
    """The fastest motion from one state, (q, qd, qdd) of (n) each, to another under limits of velocity, acceleration
    and jerk, all of them finite, all joints arriving together. It needs the package ruckig: `pip install ruckig`."""
    ends = [[checked_configuration(part, f"{word} of the {place} state", np.size(first[0]))
             for part, word in zip(state, ("position", "velocity", "acceleration"), strict=True)]
            for state, place in ((first, "first"), (last, "last"))]
    limits = limits.resized(len(ends[0][0]))
    _check(ends, limits)
    if (np.array(ends[0]) == np.array(ends[1])).all():
        raise PlanningError("the first and the last state are the same: there is no motion, and none takes 0 s")
    found = _planned(ends, limits)
    profiles = found.profiles[0]
    late = [profile.brake.duration > 0.0 for profile in profiles]
    if any(late):
        raise PlanningError(f"joint {limits.name(late.index(True))} is so fast at the first state that it exceeds a "
                            "limit whatever it does: raise the limit, or begin slower")
    motion = _polynomials(profiles, found.duration)
    if limits.has_efforts and (worst := allowed_speed(motion, limits, ["effort"])).speed < 1.0:
        raise PlanningError(f"joint {worst.joint} needs more than its limit of effort at t = {worst.time:.6g} s, and a "
                            "motion between states that move is not made slower as a whole: lower its limits of "
                            "acceleration and jerk")
    return motion


def _check(ends: list[list[Array]], limits: MotionLimits) -> None:
    for kind, order in (("velocity", 1), ("acceleration", 2), ("jerk", None)):
        bounds = getattr(limits, kind)
        if not (np.isfinite(bounds) & (bounds > 0.0)).all():
            joint = int((~(np.isfinite(bounds) & (bounds > 0.0))).argmax())
            raise PlanningError(f"between states that move, every limit is positive and finite; that of {kind} of "
                                f"joint {limits.name(joint)} is {bounds[joint]:g}")
        for state, place in zip(ends, ("first", "last"), strict=True):
            if order is not None and (np.abs(state[order]) > bounds).any():
                joint = int((np.abs(state[order]) > bounds).argmax())
                raise PlanningError(f"the {kind} of joint {limits.name(joint)} at the {place} state is "
                                    f"{state[order][joint]:g}, beyond its limit of {bounds[joint]:g}")


def _planned(ends: list[list[Array]], limits: MotionLimits) -> Trajectory:
    try:
        import ruckig
    except ImportError:
        raise UnsupportedError("jerk-limited motions between states that are not at rest are planned by ruckig, which "
                               "is not installed: pip install ruckig") from None
    n = len(ends[0][0])
    asked = ruckig.InputParameter(n)
    asked.current_position, asked.current_velocity, asked.current_acceleration = ends[0]
    asked.target_position, asked.target_velocity, asked.target_acceleration = ends[1]
    asked.max_velocity, asked.max_acceleration, asked.max_jerk = limits.velocity, limits.acceleration, limits.jerk
    found = ruckig.Trajectory(n)
    try:
        result = ruckig.Ruckig(n).calculate(asked, found)
    except Exception as error:  # its own class, which it does not show
        raise PlanningError(f"ruckig refuses these states: {error}") from error
    if result != ruckig.Result.Working:
        raise PlanningError(f"ruckig finds no motion between these states: {result}")
    return found


def _polynomials(profiles: list[Profile], duration: float) -> Polynomials:
    """Cubic polynomials between the times at which the jerk of a joint changes."""
    changes = [np.concatenate([[0.0], np.cumsum(profile.t)]) for profile in profiles]
    breaks = distinct_times(np.concatenate([*changes, [duration]]), duration)
    middles = 0.5 * (breaks[1:] + breaks[:-1])
    columns = []
    for profile, times in zip(profiles, changes, strict=True):
        piece = np.clip(np.searchsorted(times, middles) - 1, 0, 6)
        p, v, a, j = (np.asarray(part)[piece] for part in (profile.p, profile.v, profile.a, profile.j))
        tau = breaks[:-1] - times[piece]
        columns.append(np.stack([p + tau * (v + tau * (a / 2.0 + tau * j / 6.0)), v + tau * (a + tau * j / 2.0),
                                 (a + tau * j) / 2.0, j / 6.0], axis=1))
    return Polynomials(breaks, np.stack(columns, axis=2))
