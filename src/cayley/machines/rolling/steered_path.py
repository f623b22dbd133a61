"""Paths of a cart that holds its steering fixed piece by piece, segments and arcs, and programs that drive along them.

    L, phi       wheelbase, and the angle of the steered wheel;   v   speed of the middle of the fixed axle
    thetad = v tan(phi) / L                               so that the radius is L / tan(phi)
    (x, y) = (x0, y0) + s sinc(k s / 2) (cos, sin)(theta0 + k s / 2),   theta = theta0 + k s,   k = tan(phi) / L
The last line is of segments and arcs alike: a segment is an arc with k = 0.
Source: Mladenova, completed as in spec R-65."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, is_finite_number
from cayley.errors import ModelError, SingularityError, shown
from cayley.showing import brief

_FASTEST = 15 / 8  # the largest rate of a quintic from rest to rest, in means of its rate
_ROUNDING = 1e-12  # a distance may be beyond the end by this part of the length


@dataclass(frozen=True)
class SteeredPath:
    """A path by its pieces, `(length [m], steering [rad])` each, and by where it starts, `(x, y, heading)`; a length
    below zero is driven backwards. Of the cart it is the middle of the fixed axle.

    >>> path = SteeredPath(wheelbase=0.5, pieces=[(1.0, 0.0), (np.pi / 2, np.arctan(0.5))])
    >>> path.end.round(6)  # a metre ahead, then a quarter of a circle of 1 m
    array([2.      , 1.      , 1.570796])
    """

    wheelbase: float
    pieces: Sequence[tuple[float, float]]
    start: ArrayLike = (0.0, 0.0, 0.0)

    __repr__ = brief

    def __post_init__(self) -> None:
        if not (is_finite_number(self.wheelbase) and self.wheelbase > 0):
            raise ModelError(f"the wheelbase of a steered path must be positive, not {shown(self.wheelbase)}")
        pieces = _numbers(self.pieces)
        if pieces.ndim != 2 or pieces.shape[1] != 2 or len(pieces) == 0:
            raise ModelError(f"a steered path must have pieces (length, steering), not {shown(self.pieces)}")
        for place, (length, steering) in enumerate(pieces):
            if not np.isfinite(length) or length == 0.0:
                raise ModelError(f"piece {place} of a steered path must have a finite length that is not 0, not "
                                 f"{length}")
            if not abs(steering) < np.pi / 2:
                raise ModelError(f"piece {place} of a steered path is steered by less than a right angle, "
                                 f"not by {steering} rad")
        start = _numbers(self.start)
        if start.shape != (3,) or not np.isfinite(start).all():
            raise ModelError(f"a steered path starts at three finite numbers x, y, heading, not {shown(self.start)}")
        object.__setattr__(self, "pieces", tuple((float(length), float(steering)) for length, steering in pieces))
        object.__setattr__(self, "start", tuple(start.tolist()))

    @cached_property
    def curvatures(self) -> Array:
        """The curvature of each piece [1/m], positive to the left."""
        return np.tan(self._steerings) / self.wheelbase

    @property
    def length(self) -> float:
        """The distance that is driven in all [m]."""
        return float(self._ends[-1])

    @property
    def end(self) -> Array:
        """The pose x, y, heading at the end, where an arm takes over."""
        return self.corners[-1]

    def pose(self, distance: ArrayLike) -> Array:
        """x, y and heading (..., 3) after a distance driven [m]."""
        distance, piece = self._located(distance)
        within = np.sign(self._lengths[piece]) * (distance - self._starts[piece])
        return arc_pose(self.corners[piece], self.curvatures[piece], within)

    def steering(self, distance: ArrayLike) -> Array:
        """The angle of the steered wheel (...) after a distance driven; at a joint that of the piece before it."""
        return self._steerings[self._located(distance)[1]]

    def vector_parameter(self, distance: ArrayLike) -> Array:
        """The heading as a vector-parameter (0, 0, tan(theta / 2)) (..., 3); `SingularityError` at a half-turn."""
        heading = self.pose(distance)[..., 2]
        if np.any(np.abs(np.cos(heading / 2)) < _ROUNDING):
            raise SingularityError("the heading of a steered path is a half-turn, which has no vector-parameter")
        zero = np.zeros_like(heading)
        return np.stack([zero, zero, np.tan(heading / 2)], axis=-1)

    def program(self, speed: float, steering_rate: float) -> SteeredProgram:
        """The path in time: every piece from rest to rest, at most at `speed` [m/s], and between two pieces the wheel
        turned while the cart stands, at most at `steering_rate` [rad/s]."""
        for word, value in (("speed", speed), ("steering_rate", steering_rate)):
            if not (is_finite_number(value) and value > 0):
                raise ModelError(f"{word} of a program must be positive, not {shown(value)}")
        return SteeredProgram(self, speed, steering_rate)

    @cached_property
    def _lengths(self) -> Array:
        return np.array([length for length, _ in self.pieces])

    @cached_property
    def _steerings(self) -> Array:
        return np.array([steering for _, steering in self.pieces])

    @cached_property
    def _ends(self) -> Array:
        return np.cumsum(np.abs(self._lengths))

    @cached_property
    def _starts(self) -> Array:
        return np.concatenate([[0.0], self._ends[:-1]])

    @cached_property
    def corners(self) -> Array:
        """The poses at the start, between pieces and at the end."""
        poses = [np.asarray(self.start)]
        for length, curvature in zip(self._lengths, self.curvatures, strict=True):
            poses.append(arc_pose(poses[-1], curvature, length))
        return np.array(poses)

    def _located(self, distance: ArrayLike) -> tuple[Array, Array]:
        """Distances as numbers, and the piece that each is on."""
        found = np.asarray(distance, dtype=float)
        if not ((found >= 0) & (found <= self.length * (1 + _ROUNDING))).all():
            raise ModelError(f"a steered path goes from 0 to {self.length} m, and not to {shown(distance)}")
        return found, np.minimum(np.searchsorted(self._ends, found), len(self._ends) - 1)


class Drive(NamedTuple):
    """Commands for the drives at times (...): the distance that the cart has rolled ahead and its steering, each with
    two rates."""

    roll: Array
    roll_rate: Array
    roll_acceleration: Array
    steering: Array
    steering_rate: Array
    steering_acceleration: Array


@dataclass(frozen=True)
class SteeredProgram:
    """A steered path in time, of phases that either roll or steer, each a quintic from rest to rest.

    >>> program = SteeredPath(0.5, [(1.0, 0.0), (1.0, 0.4)]).program(speed=0.5, steering_rate=1.0)
    >>> program(0.0).roll, program(program.duration).roll
    (np.float64(0.0), np.float64(2.0))
    """

    path: SteeredPath
    speed: float
    steering_rate: float

    @property
    def duration(self) -> float:
        """The time at which the cart has arrived [s]."""
        return float(self._times[-1])

    def __call__(self, t: ArrayLike) -> Drive:
        """At times [s]; before 0 and after its end the cart stands."""
        phase, share, rate, acceleration = self._progress(t)
        values = []
        for way in (self._roll, self._steering):
            step = way[phase + 1] - way[phase]
            values += [way[phase] + step * share, step * rate, step * acceleration]
        return Drive(*values)

    def pose(self, t: ArrayLike) -> Array:
        """x, y and heading (..., 3) at times [s]."""
        phase, share, _, _ = self._progress(t)
        step = self._distance[phase + 1] - self._distance[phase]
        return self.path.pose(self._distance[phase] + step * share)

    @property
    def phase_times(self) -> Array:
        """The times of the start, of the ends of the phases, each the beginning of the next, and of the arrival (phases
        + 1) [s]."""
        return self._times

    def piece_at(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """The piece of the path at times, 1 if it is driven ahead and -1 if backwards, and how far along it the cart is
        to be [m]. While the wheel is turned for a piece the cart is at its start."""
        phase, share, _, _ = self._progress(t)
        rolls = np.diff(self._roll) != 0
        piece = np.minimum(np.cumsum(rolls) - rolls, len(self.path.pieces) - 1)[phase]
        length = np.array([length for length, _ in self.path.pieces])[piece]
        return piece, np.sign(length), np.where(rolls[phase], share, 0.0) * np.abs(length)

    @cached_property
    def _marks(self) -> Array:
        """Roll, steering and distance (phases + 1, 3) where a phase ends and the next begins."""
        roll = distance = 0.0
        marks = [(roll, self.path.pieces[0][1], distance)]
        for length, steering in self.path.pieces:
            if steering != marks[-1][1]:
                marks.append((roll, steering, distance))
            roll += length
            distance += abs(length)
            marks.append((roll, steering, distance))
        return np.array(marks)

    @property
    def _roll(self) -> Array:
        return self._marks[:, 0]

    @property
    def _steering(self) -> Array:
        return self._marks[:, 1]

    @property
    def _distance(self) -> Array:
        return self._marks[:, 2]

    @cached_property
    def _times(self) -> Array:
        """The times at which phases end and begin (phases + 1)."""
        rolled, steered, _ = np.abs(np.diff(self._marks, axis=0)).T
        durations = _FASTEST * np.maximum(rolled / self.speed, steered / self.steering_rate)
        return np.concatenate([[0.0], np.cumsum(durations)])

    def _progress(self, t: ArrayLike) -> tuple[Array, Array, Array, Array]:
        """The phase at times, and what part of it is done, with two rates."""
        time = _numbers(t)
        if np.isnan(time).any():
            raise ModelError(f"the time of a program must be a number and not NaN, not {shown(t)}")
        phase = np.clip(np.searchsorted(self._times, time) - 1, 0, len(self._times) - 2)
        duration = np.diff(self._times)[phase]
        x = np.clip((time - self._times[phase]) / duration, 0.0, 1.0)
        return (phase, x**3 * (10 - 15 * x + 6 * x**2), 30 * x**2 * (1 - x)**2 / duration,
                60 * x * (1 - x) * (1 - 2 * x) / duration**2)


def _numbers(given: ArrayLike) -> Array:
    """Numbers as an array; NaN for what are no numbers."""
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        return np.array(np.nan)


def arc_pose(pose: Array, curvature: Array, s: Array) -> Array:
    """The pose after an arc of length s that starts at a pose."""
    half = curvature * s / 2
    chord = s * np.sinc(half / np.pi)
    heading = pose[..., 2] + half
    return np.stack([pose[..., 0] + chord * np.cos(heading), pose[..., 1] + chord * np.sin(heading),
                     pose[..., 2] + 2 * half], axis=-1)
