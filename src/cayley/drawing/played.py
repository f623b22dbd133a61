"""Motions as what is played: configurations at evenly spaced times, whatever a motion was given as."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.drawing.skeleton import configurations
from cayley.errors import ModelError, SignatureError
from cayley.model.configuration_space import configuration_difference, configuration_step
from cayley.model.tree import Tree
from cayley.wording import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST = 20_000  # pictures


@runtime_checkable
class Run(Protocol):
    """A motion that has taken place: times (k), and configurations (k, nq) as `q`."""

    @property
    def t(self) -> Array: ...


@runtime_checkable
class Plan(Protocol):
    """A motion that is planned: at times, the configuration first, and how long it takes [s]."""

    @property
    def duration(self) -> float: ...

    def __call__(self, t: ArrayLike, /) -> Sequence[Array]: ...


MotionLike = Run | Plan | tuple[ArrayLike, ArrayLike]


class Played(NamedTuple):
    """Times (k) [s], evenly spaced, and configurations (k, nq) at them."""

    t: Array
    q: Array


def played(tree: Tree, motion: MotionLike, step: float) -> Played:
    """A motion of a mechanism at times that are `step` apart, or a little less: the run of a simulation, a planned
    motion, or a pair (times, configurations). Between configurations of a run it goes the shortest way.

    >>> from cayley.model.catalogue import load_robot
    >>> played(load_robot("planar2r"), ([0.0, 1.0], [[0.0, 0.0], [1.0, 2.0]]), 0.5).q.tolist()
    [[0.0, 0.0], [0.5, 1.0], [1.0, 2.0]]
    """
    if not (np.isfinite(step) and step > 0):
        raise ModelError(f"the time between two pictures is positive, not {shown(step)}")
    if isinstance(motion, Plan) and not isinstance(motion, Run):
        times = _even(float(getattr(motion, "start", 0.0)), float(motion.duration), step)
        return Played(times, configurations(tree, motion(times)[0]))
    given = (motion.t, getattr(motion, "q", None)) if isinstance(motion, Run) else motion
    if not (isinstance(given, tuple | list) and len(given) == 2) or given[1] is None:
        raise SignatureError("a motion to be played is the run of a simulation, a planned motion, or a pair (times, "
                             f"configurations), not {shown(motion)}")
    t = np.asarray(given[0], dtype=float)
    if t.ndim != 1 or len(t) < 2 or not np.isfinite(t).all() or not (np.diff(t) >= 0).all() or t[0] == t[-1]:
        raise ModelError("a motion is played in one order: its times are two or more finite numbers (k), none before "
                         f"another, not {shown(given[0])}")
    q = configurations(tree, given[1])
    if len(q) != len(t):
        raise SignatureError(f"a motion of {len(t)} times has as many configurations, not {len(q)}")
    times = _even(t[0], t[-1] - t[0], step)
    return Played(times, np.stack([_between(tree, t, q, time) for time in times]))


def _even(start: float, duration: float, step: float) -> Array:
    count = int(np.ceil(duration / step - 1e-9)) + 1
    if count > _MOST:
        raise ModelError(f"a motion of {duration:.6g} s in steps of {step:.6g} s has {count} pictures, and {_MOST} are "
                         "the most: play it faster, or a part of it")
    return start + np.linspace(0.0, duration, max(count, 2))


def _between(tree: Tree, t: Array, q: Array, time: float) -> Array:
    k = int(np.clip(np.searchsorted(t, time, side="right") - 1, 0, len(t) - 2))
    if t[k + 1] == t[k]:
        return q[k + 1]
    way = np.asarray(configuration_difference(tree, q[k], q[k + 1]), dtype=float)
    return np.asarray(configuration_step(tree, q[k], (time - t[k]) / (t[k + 1] - t[k]) * way), dtype=float)
