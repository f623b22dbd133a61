"""Ends of a motion that are said of a frame, not of the joints: the joint velocities and accelerations that give the
frame its own, and the polynomials of degree five between two such ends. Source: spec S2-109.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError, SingularityError
from cayley.geometry.batch import numbers
from cayley.planning.checked_numbers import positive_seconds
from cayley.planning.splines.polynomials import Polynomials
from cayley.planning.timing.limits import Machine, checked_configuration

_SMALLEST = 1e-9  # singular value beside the greatest


class EndState(NamedTuple):
    """Where the joints are (n), how fast, and how that changes."""

    q: Array
    qd: Array
    qdd: Array


def joint_end_state(machine: Machine, q: ArrayLike, frame: str, *, velocity: ArrayLike = (0.0,) * 6,
                    acceleration: ArrayLike = (0.0,) * 6) -> EndState:
    """The state at q (n) in which the frame has the twist (v; w) `velocity` and its rate (v'; w') `acceleration`, (6)
    each, in the root's axes at the origin of the frame. With fewer joints than six they must be possible; with more,
    the joints move as little as they can.
    """
    at = checked_configuration(q, "the configuration", machine.tree.nq)
    V = _six(velocity, "the velocity")
    A = _six(acceleration, "the acceleration")
    J = machine.jacobian(at, frame, axes="world")
    qd = _solved(machine, J, V, frame, "velocity")
    rate = machine.jacobian_rate(at, qd, frame, axes="world")
    return EndState(at, qd, _solved(machine, J, A - rate @ qd, frame, "acceleration"))


def between_states(first: EndState, last: EndState, duration: float) -> Polynomials:
    """The polynomial of degree five for each joint with these positions, velocities and accelerations at its ends."""
    T = positive_seconds(duration)
    (a, va, aa), (b, vb, ab) = [
        [checked_configuration(part, f"the {word} of the {place} state", np.size(first[0]))
         for part, word in zip(end, ("position", "velocity", "acceleration"), strict=True)]
        for end, place in ((first, "first"), (last, "last"))]
    left = b - (a + va * T + 0.5 * aa * T**2)
    rates = (vb - (va + aa * T)) * T
    bends = (ab - aa) * T**2
    c = [a, va, aa / 2.0, (10.0 * left - 4.0 * rates + 0.5 * bends) / T**3,
         (-15.0 * left + 7.0 * rates - bends) / T**4, (6.0 * left - 3.0 * rates + 0.5 * bends) / T**5]
    return Polynomials([0.0, T], np.stack(c)[None])


def _six(values: ArrayLike, what: str) -> Array:
    found = numbers(values, what)
    if found.shape != (6,) or not np.isfinite(found).all():
        raise SignatureError(f"{what} of a frame is (v; w), six finite numbers; given was the shape {found.shape}")
    return found


def _solved(machine: Machine, J: Array, wanted: Array, frame: str, what: str) -> Array:
    found, _, _, values = np.linalg.lstsq(J, wanted, rcond=_SMALLEST)
    missed = np.abs(J @ found - wanted).max()
    if missed > 1e-9 * max(1.0, np.abs(wanted).max()):
        why = "the posture is singular" if values[-1] <= _SMALLEST * values[0] else "it has too few joints"
        raise SingularityError(f"no joint {what} of {machine.tree.name} gives {frame!r} the asked one, the nearest "
                               f"misses it by {missed:.3g}: {why}")
    return found
