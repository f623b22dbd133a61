"""Motions as what is played: configurations at evenly spaced times, whatever a motion was given as."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.drawing.skeleton import configurations
from cayley.dynamics.open_tree import TreeConfigurations
from cayley.errors import ModelError, SignatureError, UnsupportedError, shown
from cayley.model.configuration_space import configuration_difference, configuration_step
from cayley.model.tree import Tree
from cayley.simulation.mechanism_motion import MechanismMotion
from cayley.systems.trajectory import Trajectory

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST = 20_000  # pictures
_ROUNDING = 1e-9  # of times


@runtime_checkable
class RecordedMotion(Protocol):
    """A motion that has taken place: times (k), and configurations (k, nq) as `q`."""

    @property
    def t(self) -> Array: ...


@runtime_checkable
class PlannedMotion(Protocol):
    """A motion that is planned: at times, the configuration first, and how long it takes [s]."""

    @property
    def duration(self) -> float: ...

    def __call__(self, t: ArrayLike, /) -> Sequence[Array]: ...


MotionLike = RecordedMotion | PlannedMotion | tuple[ArrayLike, ArrayLike]


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
        raise ModelError(f"the time between two pictures must be positive, not {shown(step)}")
    start, end, at = _known(tree, motion)
    times = _even(start, end - start, step)
    return Played(times, at(times))


def chosen(tree: Tree, motion: MotionLike, times: int | ArrayLike) -> Played:
    """A motion of a mechanism at given times, or at a number of evenly spaced ones.

    >>> from cayley.model.catalogue import load_robot
    >>> chosen(load_robot("planar2r"), ([0.0, 1.0], [[0.0, 0.0], [1.0, 2.0]]), [0.25]).q.tolist()
    [[0.25, 0.5]]
    """
    start, end, at = _known(tree, motion)
    if isinstance(times, int) and not isinstance(times, bool):
        if times < 2:
            raise ModelError(f"instants of a motion are two or more, its ends among them, or given as times: not "
                             f"{times}")
        wanted = np.linspace(start, end, times)
    else:
        wanted = np.atleast_1d(np.asarray(times, dtype=float))
    slack = _ROUNDING * max(abs(start), abs(end), end - start)
    if wanted.ndim != 1 or not wanted.size or not ((wanted >= start - slack) & (wanted <= end + slack)).all():
        raise ModelError(f"the motion is from t = {start:.6g} to {end:.6g} s, and must contain the instants, not "
                         f"{shown(times)}")
    wanted = np.clip(wanted, start, end)
    return Played(wanted, at(wanted))


def _known(tree: Tree, motion: MotionLike) -> tuple[float, float, Callable[[Array], Array]]:
    """The start and the end of a motion, and its configurations at times between."""
    if isinstance(motion, PlannedMotion) and not isinstance(motion, RecordedMotion):
        start = float(getattr(motion, "start", 0.0))
        return start, start + float(motion.duration), lambda times: configurations(tree, motion(times)[0])
    given = (motion.t, getattr(motion, "q", None)) if isinstance(motion, RecordedMotion) else motion
    if not (isinstance(given, tuple | list) and len(given) == 2) or given[1] is None:
        raise SignatureError("a motion to be played must be the run of a simulation, a planned motion, or a pair "
                             f"(times, configurations), not {shown(motion)}")
    t = np.asarray(given[0], dtype=float)
    if t.ndim != 1 or len(t) < 2 or not np.isfinite(t).all() or not (np.diff(t) >= 0).all() or t[0] == t[-1]:
        raise ModelError("a motion is played in one order: its times are two or more finite numbers (k), none before "
                         f"another, not {shown(given[0])}")
    if isinstance(motion, RecordedMotion) and np.ndim(given[1]) > 2:
        raise SignatureError(f"this is a batch of {np.shape(given[1])[:-2]} motions: take one out of it by its index")
    q = configurations(tree, given[1])
    if len(q) != len(t):
        raise SignatureError(f"a motion of {len(t)} times has as many configurations, not {len(q)}")
    return float(t[0]), float(t[-1]), lambda times: np.stack([_between(tree, t, q, time) for time in times])


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


class MovingPart(NamedTuple):
    """Times (k) [s], configurations (k, nq), and the forces (k, c, 3) of contacts, None where there are none."""

    t: Array
    q: Array
    forces: Array | None


def forces_at(motion: MotionLike, times: Array) -> Array | None:
    """The forces (n, c, 3) of contacts in the steps of a run that end at times, or next after them."""
    if isinstance(motion, Trajectory):
        motion = moving_part(motion)[1]
    if not isinstance(motion, MovingPart) or motion.forces is None:
        return None
    return motion.forces[np.minimum(np.searchsorted(motion.t, times - _ROUNDING), len(motion.t) - 1)]


def moving_part(trajectory: Trajectory) -> tuple[Tree, MovingPart]:
    """The mechanism of a system, and its times, configurations and contact forces along one trajectory."""
    name = trajectory.name
    own = trajectory.mechanism
    if own is not None and not isinstance(own, MechanismMotion):
        raise UnsupportedError("a picture needs the mechanism: load the file with `Trajectory.load(path, tree)`")
    trees = {block: part.manifold.tree for block, part in trajectory.system.blocks.items()
             if isinstance(part.manifold, TreeConfigurations)} if own is None else {"q": own.tree}
    if len(trees) != 1:
        what = ("no block of its state is the configuration of a mechanism" if not trees
                else f"its blocks {', '.join(trees)} are configurations of several mechanisms")
        raise UnsupportedError(f"{name} is not drawn as it moves: {what}. A mechanism that goes by its states is drawn "
                               "by `machine.animate((run.t, configurations), path)`")
    if trajectory.batch:
        raise SignatureError(f"this is a batch of {trajectory.batch} trajectories of {name}: take one out of it by its "
                             "index")
    (block, tree), = trees.items()
    forces = [np.asarray(trajectory[part.contacts.forces]) for part in trajectory.system.holds
              if part.contacts is not None and part.position == block]
    return tree, MovingPart(np.asarray(trajectory.t), np.asarray(trajectory[block]), forces[0] if forces else None)
