"""Inspection of a planned motion before it is run: where every link is, how near the links come to obstacles and to
being singular, and when. It is looked at in even steps; each smallest value is then sought between the samples beside
it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.solving.rounding import least_singular
from cayley.compiler.typing import Array
from cayley.errors import ModelError, did_you_mean
from cayley.geometry.convex_shapes import ConvexShape, distance, least_apart
from cayley.kinematics.constraints.actuated_motion import actuated_jacobian
from cayley.kinematics.frame_kernels import body_pose_kernel
from cayley.kinematics.inverse.bounds import limits_crossed
from cayley.kinematics.inverse.goal import Task
from cayley.kinematics.jacobians.general_jacobian import general_jacobian
from cayley.model.constraints import is_tied
from cayley.model.tree import Tree
from cayley.planning.driven import check_keeps_constraints, driving_tree
from cayley.planning.motion import Motion
from cayley.planning.timing.limits import DrivenMechanism, least_near
from cayley.showing import brief

_SINGULAR = 1e-3  # of the largest that the smallest singular value has
_SAMPLES = 200
_CHUNK = 32


class Clearance(NamedTuple):
    """Clearance of a body from an obstacle: the smallest distance [m], zero or negative where they touch, and its time
    [s]."""

    body: str
    obstacle: str
    distance: float
    time: float


class SmallestSingularValue(NamedTuple):
    """A minimum of the smallest singular value of the task's Jacobian, and when [s]."""

    value: float
    time: float


@dataclass(frozen=True, eq=False)
class Inspection:
    """Findings about a planned motion; made by `inspect_motion`.

    times            (k) [s] at which it was looked at
    poses            (k, 4, 4) of every body, by name, in the root's frame
    clearances       of every body with shapes to every obstacle, the nearest first
    singular_values  (k) the smallest of the task's Jacobian, by the actuated joints if constraints tie others to them;
                     none without a frame
    minima           its minima in time, the smallest first; none within the times in which it is zero
    beyond_limits    joint coordinates that leave their limits: (name, when first [s], by how much at most)"""

    times: Array
    poses: Mapping[str, Array]
    clearances: tuple[Clearance, ...]
    singular_values: Array
    minima: tuple[SmallestSingularValue, ...]
    beyond_limits: tuple[tuple[str, float, float], ...]
    _largest: float = field(default=np.nan, repr=False)
    _whiles: tuple[tuple[float, float], ...] = field(default=(), repr=False)  # in which the posture is singular [s]

    __repr__ = brief

    @property
    def collides(self) -> bool:
        """True if some body touches an obstacle."""
        return bool(self.clearances) and self.clearances[0].distance <= 0

    @property
    def singular_instants(self) -> tuple[float, ...]:
        """The instants [s] at which the posture is singular, or almost, in time; of a while in which it is, the
        beginning."""
        found = [each.time for each in self.minima if each.value <= _SINGULAR * self._largest]
        return tuple(sorted([*found, *[begin for begin, _ in self._whiles]]))

    @property
    def complaints(self) -> tuple[str, ...]:
        """The reasons against this motion, in sentences; none if all is well."""
        said = [f"{each.body} touches {each.obstacle} at t = {each.time:.6g} s" for each in self.clearances
                if each.distance <= 0]
        ends = dict(self._whiles)
        said += [f"the posture is singular from t = {time:.6g} to {ends[time]:.6g} s" if time in ends else
                 f"the posture is singular at t = {time:.6g} s" for time in self.singular_instants]
        said += [f"{name} leaves its limits from t = {time:.6g} s on, by {most:.3g} at most"
                 for name, time, most in self.beyond_limits]
        return tuple(said)


def inspect_motion(machine: DrivenMechanism, motion: Motion, *,
                   shapes: Mapping[str, ConvexShape | Sequence[ConvexShape]] | None = None,
                   obstacles: Mapping[str, ConvexShape | Sequence[ConvexShape]] | None = None, frame: str | None = None,
                   task: str | Sequence[bool] = "pose", step: float | None = None) -> Inspection:
    """Check a planned motion of a mechanism for clearance and singularities: `shapes` (spheres, capsules, boxes) have
    the names of the bodies that they are fixed to, and `obstacles` names of their own, in the root's frame. Singular
    values are those of a `frame` and a task. The default time step [s] gives two hundred steps.
    `machine.animate(motion, "move.gif")` shows it.

    >>> import cayley as cy
    >>> from cayley.geometry.convex_shapes import Capsule, Sphere
    >>> from cayley.planning import point_to_point
    >>> arm = cy.load("planar2r")
    >>> move = point_to_point([0.2, 1.0], [1.2, -1.0], duration=2.0)
    >>> seen = inspect_motion(arm, move, shapes={"link2": Capsule(0.05, [0.0, 0.0, 0.0], [0.4, 0.0, 0.0])},
    ...                       obstacles={"post": Sphere(0.1, [0.8, 0.75, 0.0])}, frame="tool",
    ...                       task=(True, True, False, False, False, False))
    >>> [round(t, 6) for t in seen.singular_instants], seen.complaints
    ([1.0], ('the posture is singular at t = 1 s',))
    >>> nearest = seen.clearances[0]
    >>> nearest.obstacle, round(nearest.distance, 3), round(nearest.time, 2)
    ('post', 0.053, 1.03)
    """
    tree = machine.tree
    check_keeps_constraints(tree, motion)
    pause = motion.duration / _SAMPLES if step is None else float(step)
    times, states = motion.sampled(pause)
    look = body_pose_kernel(tree)
    poses = look(states.q)
    clearances = _clearances(tree, motion, times, poses, look, shapes or {}, obstacles or {})
    values, minima, whiles = _singular_values(tree, motion, times, states.q, frame, task)
    beyond = tuple((name, float(times[first]), most) for name, first, most in limits_crossed(tree, states.q))
    return Inspection(times, {body.name: poses[:, k] for k, body in enumerate(tree.bodies)}, clearances, values, minima,
                      beyond, float(values.max(initial=0.0)), whiles)


def _clearances(tree: Tree, motion: Motion, times: Array, poses: Array, look: Kernel,
                shapes: Mapping[str, ConvexShape | Sequence[ConvexShape]],
                obstacles: Mapping[str, ConvexShape | Sequence[ConvexShape]]) -> tuple[Clearance, ...]:
    names = [body.name for body in tree.bodies]
    found = []
    for body, own in shapes.items():
        if body not in names:
            raise ModelError(f"there is no body {body!r} of {tree.name}{did_you_mean(body, names)}; it has "
                             f"{', '.join(names)}")
        number = names.index(body)
        for obstacle, others in obstacles.items():
            pairs = [(a, b) for a in _listed(own) for b in _listed(others)]
            nearest = [_nearest(motion, times, poses[:, number], look, number, a, b) for a, b in pairs]
            found += [Clearance(body, obstacle, *min(nearest))] if nearest else []
    return tuple(sorted(found, key=lambda each: each.distance))


def _listed(shapes: ConvexShape | Sequence[ConvexShape]) -> Sequence[ConvexShape]:
    return [shapes] if isinstance(shapes, ConvexShape) else shapes


def _nearest(motion: Motion, times: Array, poses: Array, look: Kernel, number: int, own: ConvexShape, other: ConvexShape
             ) -> tuple[float, float]:
    """The smallest distance and its time: of the samples those first that could be nearest, then between them."""
    bound = least_apart(own, other, poses)
    order = np.argsort(bound)
    best = np.inf
    at = 0
    for start in range(0, len(order), _CHUNK):
        chunk = order[start:start + _CHUNK]
        if bound[chunk[0]] >= best:
            break
        here = distance(own, other, poses[chunk])
        if here.min() < best:
            best = float(here.min())
            at = int(chunk[np.argmin(here)])
    return least_near(lambda t: distance(own, other, look(motion.position(t))[:, number]), times, at)


def _singular_values(tree: Tree, motion: Motion, times: Array, q: Array, frame: str | None,
                     task: str | Sequence[bool]
                     ) -> tuple[Array, tuple[SmallestSingularValue, ...], tuple[tuple[float, float], ...]]:
    """The smallest singular values, their minima, and from when to when they are zero to rounding."""
    if frame is None:
        return np.zeros(0), (), ()
    rows = [k for k, asked in enumerate(Task.of(tree, task, "world").rows) if asked]
    own = driving_tree(tree)
    tied = is_tied(tree, frame)
    by, size = (actuated_jacobian, len(own.actuated_velocities)) if tied else (general_jacobian, tree.nv)
    J = kept(tree, ("rows of the task", frame, tuple(rows)), lambda: kernel(
        f"({tree.nq})->({len(rows)},{size})", name="task_rows")(lambda q: by(own, q, frame, axes="world")[rows]))

    def smallest(configuration: Array) -> Array:
        return np.linalg.svd(J(configuration), compute_uv=False)[..., -1]

    every = np.linalg.svd(J(q), compute_uv=False)
    values = every[..., -1]
    is_zero = values <= least_singular(size, exact=True) * every.max(initial=0.0)
    within = is_zero & (np.append(is_zero[1:], False) | np.append(False, is_zero[:-1]))  # with a neighbour
    changes = np.flatnonzero(np.diff(np.concatenate([[False], within, [False]]).astype(int)))
    whiles = tuple((float(times[a]), float(times[b - 1])) for a, b in changes.reshape(-1, 2))
    edges = np.concatenate([[np.inf], values, [np.inf]])
    lowest = np.flatnonzero((values <= edges[:-2]) & (values <= edges[2:]) & ~within)
    minima = [SmallestSingularValue(*least_near(lambda t: smallest(motion.position(t)), times, int(k))) for k in lowest]
    return values, tuple(sorted(minima)), whiles
