"""The fastest motion along a given path of the joints under limits of velocity, acceleration and effort.
`phase_plane.py` has the method. For a path of cubic polynomials no limit of velocity or acceleration is exceeded at any
time; forces and the accelerations of other curves are looked at between the samples afterwards: where they exceed, the
timing is made again with tighter bounds, and what is left, some millionths, makes all of it slower or faster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import PlanningError
from cayley.geometry.batch import numbers
from cayley.planning.driven import check_keeps_constraints, checked_waypoints, coordinates, driven_motion, driving_tree
from cayley.planning.motion import Motion
from cayley.planning.sequence import Standing
from cayley.planning.splines.joint_paths import Path, along, grid_of, path_of, path_through, resolved
from cayley.planning.splines.polynomials import Polynomials
from cayley.planning.timing.jerk_limited_path import jerk_limited_timing
from cayley.planning.timing.limits import (
    EffortParts,
    MotionLimits,
    allowed_speed,
    check_undriven,
    effort_parts,
    forces_along,
    speeds_at,
)
from cayley.planning.timing.phase_plane import Limited, compiled, fastest_squares, greatest_excess, velocity_caps

_ROUNDS = 5
_KINDS = ("velocity", "acceleration", "effort")
_TOLERANCE = 1e-13
_FLAT = 1e-12


def time_optimal(path: ArrayLike | Motion, limits: MotionLimits, *, stops: Sequence[float] = (),
                 grid: int = 200) -> Motion:
    """The fastest motion from rest to rest along a path: through waypoints (k, n), or along a motion whose times are of
    no importance. `stops` are the numbers of waypoints at which it comes to rest (of a motion, its times); all others
    are passed. Velocities, accelerations and efforts stay within the `limits`; with limits of jerk, it is within about
    a hundredth of the fastest, and takes a second to be found. There are at least `grid` intervals along the path: more
    of them are faster by less and less.

    >>> limits = MotionLimits(velocity=1.0, acceleration=[2.0, 3.0])
    >>> move = time_optimal([[0.0, 0.0], [1.0, 0.5], [1.0, 1.5]], limits)
    >>> stopping = time_optimal([[0.0, 0.0], [1.0, 0.5], [1.0, 1.5]], limits, stops=[1])
    >>> round(move.duration, 2), round(stopping.duration, 2)
    (2.47, 2.83)
    """
    if grid < 1:
        raise PlanningError(f"a path is timed on 1 interval or more, not on {grid}")
    stays = _stays(path)
    if stays is not None:
        return stays
    way = _way(path, limits, stops)
    limits = limits.resized(way.curve.nv)
    if np.isfinite(limits.jerk).any():
        check_limits(way.curve, limits)
        _grid(way, grid)  # raises where it turns too sharply
        return jerk_limited_timing(way, limits, grid)
    return fastest_timing(way, limits, grid)


def _stays(path: ArrayLike | Motion) -> Standing | None:
    """No motion at all, in no time, of a path without a length: waypoints that are all the same."""
    if isinstance(path, Motion):
        return Standing(path.q) if isinstance(path, Standing) else None
    points = numbers(path, "waypoints")
    is_one = points.ndim == 2 and len(points) > 1 and points.size and (points == points[0]).all()
    return Standing(points[0]) if is_one else None


def _way(path: ArrayLike | Motion, limits: MotionLimits, stops: Sequence[float]) -> Path:
    """The path of all joints. Through waypoints of a mechanism with constraints, the actuated joints go on splines, and
    the others follow."""
    machine = limits.machine
    if isinstance(path, Motion):
        if machine is not None:
            check_keeps_constraints(machine.tree, path)
        elif path.attitudes:
            raise PlanningError("a path with orientations among its coordinates has no joints whose limits could be "
                                "kept: time it by the joints of the machine that follows it, MotionLimits.of(machine)")
        return path_of(path, stops)
    if machine is None or not machine.tree.is_constrained:
        return path_through(path, stops)  # type: ignore[arg-type]
    points = checked_waypoints(machine, path)
    drives = path_through(points[:, list(coordinates(driving_tree(machine.tree)))], stops)  # type: ignore[arg-type]
    return drives._replace(curve=driven_motion(machine, drives.curve, points[0]))


def fastest_timing(way: Path, limits: MotionLimits, count: int) -> Motion:
    """The motion along a path on a grid of intervals, without limits of jerk."""
    s = _grid(way, count)
    steps = np.diff(s)
    samples = s[:-1, None] + steps[:, None] * np.array([0.0, 0.5, 1.0])
    samples[:, 2] = np.nextafter(s[1:], s[0])
    if not _is_cubic(way.curve):
        samples[:, ::2] += [way.curve.aside, -way.curve.aside]  # at a corner itself the slope may be of neither side
    at = way.curve._values(samples)
    _check_goes_on(s, at[1])
    _check_moves(at[1], limits)
    joints = _of_joints(at, limits, steps)
    if _is_cubic(way.curve) and not limits.has_efforts:
        x = _solved(way, s, joints, limits)
        return _motion(way.curve, s, x * ((1.0 - _TOLERANCE) / max(1.0, greatest_excess(joints, x))), at)
    x = _looked_at(way, s, at, joints, limits)
    motion = _motion(way.curve, s, x, at)
    worst = allowed_speed(motion, limits, _KINDS)
    return motion.scaled(duration=motion.duration / worst.speed * (1.0 + _TOLERANCE))


def _grid(way: Path, count: int) -> Array:
    s = grid_of(way, count)
    return s if _is_cubic(way.curve) else resolved(way.curve, s)


def _is_cubic(curve: Motion) -> bool:
    return isinstance(curve, Polynomials) and curve.degree <= 3


def _looked_at(way: Path, s: Array, at: Sequence[Array], joints: Limited, limits: MotionLimits) -> Array:
    """The x of a timing whose excesses between the samples are small, by as many rounds as it takes."""
    stops = np.isin(np.arange(1, len(s)), _stops(way, s))
    forces = _Forces.of(at, limits, stops) if limits.has_efforts else None

    def limited(x: Array | None) -> Limited:
        return joints if forces is None else forces.beside(joints, limits, x)

    x = _solved(way, s, limited(None), limits)
    for _ in range(_ROUNDS if forces is not None and forces.parts.viscous.any() else 0):
        x = _solved(way, s, limited(x), limits)
    tighter = np.ones(len(joints.steps))
    for _ in range(_ROUNDS):
        allowed = _allowed(_motion(way.curve, s, x, at), limits, s, x)
        if allowed.min() > 1.0 - 1e-6:
            break
        tighter /= np.clip(allowed, 0.3, 1.0) ** 2
        x = _solved(way, s, _tightened(limited(x), tighter), limits)
    return x


def _check_goes_on(s: Array, slopes: Array) -> None:
    """Raise an error for a path that pauses: its waiting time is undefined, and so is the fastest motion."""
    stands = (slopes.reshape(len(slopes), -1) == 0.0).all(axis=1)
    if stands.any():
        first = int(stands.argmax())
        last = first + int((~np.append(stands[first:], False)).argmax())
        raise PlanningError(f"the path does not move from s = {s[first]:g} to {s[last]:g}: leave that part out, with "
                            "`during` and `then`, and wait where it is to wait")


def check_limits(curve: Motion, limits: MotionLimits) -> None:
    """The path goes on, every joint that moves is able to, and something limits the acceleration everywhere."""
    s = np.linspace(curve.start, curve.end, 401)
    slopes = curve.derivatives(s)[1]
    _check_goes_on(s, np.stack([slopes[:-1], slopes[1:]], axis=1))
    _check_moves(slopes, limits)


def _check_moves(slopes: Array, limits: MotionLimits) -> None:
    if limits.lets_all_move:
        return
    moves = slopes.reshape(-1, slopes.shape[-1]) != 0.0
    limits.check_can_move(moves.any(axis=0))
    bounded = np.isfinite(limits.acceleration) | np.isfinite(limits.jerk)
    if limits.has_efforts or bounded.all():
        return
    free = ~(moves & bounded).any(axis=1) & moves.any(axis=1)
    if free.any():
        joint = int(moves[int(free.argmax())].argmax())
        raise PlanningError(f"joint {limits.name(joint)} has no limit of acceleration or effort, and no other joint "
                            "that moves with it has one: it would jump to its velocity; give one of them")


def _of_joints(at: Sequence[Array], limits: MotionLimits, steps: Array) -> Limited:
    """Accelerations and velocities, divided by their limits; a joint whose limit is zero does not move."""
    _, first, second = at[:3]
    m = first * limits.inverse("acceleration")
    velocity = first * limits.inverse("velocity")
    return Limited(m, second * limits.inverse("acceleration"), np.zeros(m.shape[1:]), velocity, steps)


class _Forces(NamedTuple):
    """The forces of a path at its samples: by u, and what they consist of at ds/dt = 1; dry friction where it comes to
    rest, which at that instant may be on either side."""

    drive: Array
    parts: EffortParts
    either: Array

    @staticmethod
    def of(at: Sequence[Array], limits: MotionLimits, stops: Array) -> _Forces:
        """`stops` says which intervals end at rest."""
        q, first, second = at[:3]
        parts = effort_parts(limits, q, first, second)
        for part in parts:
            check_undriven(limits, np.zeros(part[..., 0].size), part.reshape(-1, part.shape[-1]))
        _check_rest(parts.resting, limits)
        none = np.zeros_like(first)
        either = np.where(stops[:, None, None], parts.resting - limits.forces(q, none, none), 0.0)
        return _Forces(forces_along(limits, q, first), parts, either)

    def beside(self, joints: Limited, limits: MotionLimits, x: Array | None) -> Limited:
        """The limited quantities, these forces among them; viscous friction, which grows with the root of x, by its
        tangent at an x that is near."""
        bounds = np.where(limits.effort > 0.0, limits.effort, np.inf)
        square, resting = self.parts.inertial, self.parts.resting - self.either
        if x is not None:
            root = _speeds(x)[..., None]
            square = square + self.parts.viscous * (0.5 / root)
            resting = resting + self.parts.viscous * (0.5 * root)
        room = bounds * np.maximum(1.0 - np.abs(self.either) / bounds, 0.1)
        own = joints.m, joints.c, np.zeros_like(joints.m)
        m, c, g = (np.concatenate([joint, force / room], axis=2)
                   for joint, force in zip(own, (self.drive, square, resting), strict=True))
        return Limited(m, c, g, joints.velocity, joints.steps)


def _speeds(x: Array) -> Array:
    ends = np.stack([x[:-1], 0.5 * (x[:-1] + x[1:]), x[1:]], axis=1)
    return np.sqrt(np.maximum(ends, 1e-6 * x.max()))


def _check_rest(resting: Array, limits: MotionLimits) -> None:
    beyond = np.abs(resting).max(axis=(0, 1)) - limits.effort
    if ((beyond >= 0.0) & (limits.effort > 0.0) | (beyond > 0.0)).any():
        joint = int(beyond.argmax())
        raise PlanningError(
            f"joint {limits.name(joint)!r} needs {np.abs(resting[..., joint]).max():.6g} at rest somewhere on the "
            f"path, and its limit of effort is {limits.effort[joint]:g}: change the path, the load or the drive")


def _stops(way: Path, s: Array) -> Array:
    return np.searchsorted(s, way.rests - 1e-12 * (s[-1] - s[0]))


def _solved(way: Path, s: Array, limited: Limited, limits: MotionLimits) -> Array:
    caps = velocity_caps(limited)
    at_rest = _stops(way, s)
    sides = np.concatenate([limited.m[np.minimum(at_rest, len(s) - 2), 0], limited.m[np.maximum(at_rest, 1) - 1, 2]])
    slopes = np.abs(sides).max(axis=1).reshape(2, -1).max(axis=0)
    caps[at_rest[slopes > _FLAT * np.abs(limited.m[:, 1]).max()]] = 0.0  # elsewhere the joints are at rest at any ds/dt
    x = fastest_squares(limited, caps)
    stuck = x[1:] + x[:-1] <= 0.0
    if stuck.any():
        place = int(stuck.argmax())
        joint = int(np.abs(limited.g[place]).max(axis=0).argmax()) if limited.g.ndim == 3 else 0
        raise PlanningError(f"the limits leave no acceleration between s = {s[place]:g} and {s[place + 1]:g} of the "
                            f"path; joint {limits.name(joint % len(limits.effort))} has least room")
    return x


def _allowed(motion: Motion, limits: MotionLimits, s: Array, x: Array) -> Array:
    t = motion.breaks if len(motion.breaks) == len(s) else _times(s, x)
    inside = t[:-1, None] + np.diff(t)[:, None] * np.linspace(1e-9, 1.0 - 1e-9, 7)
    return speeds_at(motion, limits, _KINDS, inside).min(axis=(1, 2))


def _tightened(limited: Limited, tighter: Array) -> Limited:
    """Limits with the terms that depend on speed enlarged by a factor (intervals) where they came out too great."""
    factor = tighter[:, None, None]
    return Limited(limited.m * factor, limited.c * factor, limited.g, limited.velocity * np.sqrt(factor), limited.steps)


def _times(s: Array, x: Array) -> Array:
    """The times at which the points of the grid are passed: between them ds/dt grows evenly."""
    speeds = np.sqrt(x)
    t = np.zeros(len(s))
    np.cumsum(2.0 * np.diff(s) / (speeds[:-1] + speeds[1:]), out=t[1:])
    return t


@kernel("(n),(n),(n),(n),(),()->(7,n)", outputs=("coefficients",))
def along_cubic(q: Array, first: Array, second: Array, third: Array, v: Scalar, u: Scalar) -> Array:
    """A cubic polynomial of s with these derivatives at s = 0, in powers of the time, for s = v t + u t^2 / 2."""
    return np.stack([q, first * v, first * (u / 2.0) + second * (v * v / 2.0),
                     second * (v * u / 2.0) + third * (v * v * v / 6.0), second * (u * u / 8.0) + third * (v * v * u /
                     4.0), third * (v * u * u / 8.0), third * (u * u * u / 48.0)])


def _motion(curve: Motion, s: Array, x: Array, at: Sequence[Array]) -> Motion:
    t = _times(s, x)
    v = np.sqrt(x[:-1])
    u = np.diff(x) / (2.0 * np.diff(s))
    if _is_cubic(curve):
        return Polynomials(t, compiled(along_cubic, curve.nq)(*[part[:, 0] for part in at], v, u))
    return along(curve, Polynomials(t, np.stack([s[:-1], v, 0.5 * u], axis=1)[..., None]))
