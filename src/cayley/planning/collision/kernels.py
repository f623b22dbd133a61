"""Kernels of a robot among obstacles: whether they collide, and how far they are apart.

A loop goes over the obstacles of a kind, for one link after the other. In each turn the one sphere about the link is
looked at first; code leaves the turn where it is clear in all states of a block."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.solving.loops import scan
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.geometry.pose import Pose
from cayley.kinematics.forward import body_poses
from cayley.kinematics.jacobians.general_jacobian import general_jacobian
from cayley.model.masses import rigid_groups
from cayley.model.tree import Tree
from cayley.planning.collision.distances import OBSTACLES, sphere_direction, sphere_gap
from cayley.planning.collision.scene import width_of
from cayley.planning.collision.sphere_model import CollisionModel, LinkSpheres

Rows = tuple[tuple[str, int], ...]
"""The kinds of obstacles of a scene, and the number of rows of each."""
NOTHING = 1e18
"""The distance where there is nothing [m]."""


def is_fixed(tree: Tree, body: str) -> bool:
    """True for the root and what is fixed to it, which no configuration moves."""
    return tree.body_number(body) in rigid_groups(tree)[0]


def collision_kernel(tree: Tree, model: CollisionModel, rows: Rows) -> Kernel:
    """`collides(q, margins, *inputs of a scene)`: one where a sphere of a link that moves comes nearer than the first
    margin [m] to an obstacle, or than the second to a link that it may meet, otherwise zero. What is not a number is in
    collision."""
    def collides(q: Array, margins: Array, *scene: Array) -> Scalar:
        poses = body_poses(tree, q)
        found: Scalar = 0.0
        for link in reversed(model.links):  # the end moves most
            if not is_fixed(tree, link.body):
                placed = _placed(poses[tree.body_number(link.body)], link)
                for (kind, _), obstacles in zip(rows, scene, strict=True):
                    found, _none = scan(_among(OBSTACLES[kind].gap, placed, link, margins[0]), found, obstacles)
        links = {link.body: link for link in model.links}
        for one, other in model.pairs:
            found = _self(poses, tree, links[one], links[other], margins[1], found)
        return found

    return _kernel(tree, rows, collides, ",(2)", "->()")


class NumberedPair(NamedTuple):
    """The signed distance of the nearest pair, its gradient by the velocity, the number of the sphere, and that of the
    obstacle, or of the other sphere behind all rows of obstacles."""

    distance: Scalar
    gradient: Array
    sphere: Scalar
    other: Scalar


def clearance_kernel(tree: Tree, model: CollisionModel, rows: Rows) -> Kernel:
    """`clearance(q, *inputs of a scene)`: the nearest `NumberedPair` of a sphere and an obstacle or another sphere."""
    def clearance(q: Array, *scene: Array) -> NumberedPair:
        poses = body_poses(tree, q)
        placed = np.concatenate([_placed(poses[tree.body_number(link.body)], link)[:-1] for link in model.links])
        radii = np.concatenate([link.spheres[:, 3] for link in model.links])
        best: tuple[Scalar, Scalar, Scalar] = (NOTHING, 0.0, 0.0)
        first = 0
        for (kind, count), obstacles in zip(rows, scene, strict=True):
            numbers = np.arange(first, first + count, dtype=float)
            best, _ = scan(_nearer(OBSTACLES[kind].distance, placed, radii), best, obstacles, numbers)
            first += count
        best = _nearest_of_pairs(model, placed, radii, best, first)
        along = _direction(best, placed, radii, rows, scene, first)
        return NumberedPair(best[0], _gradient(tree, model, q, poses, placed, best, along, first), best[1], best[2])

    return _kernel(tree, rows, clearance, "", f"->(),({tree.nv}),(),()", outputs=NumberedPair._fields)


def _kernel(tree: Tree, rows: Rows, text: Callable[..., Any], more: str, result: str,
            outputs: tuple[str, ...] | None = None) -> Kernel:
    """The kernel of a text that takes a configuration, perhaps more, and the arrays of a scene."""
    names = ["q", *(["margins"] if more else []), *[kind for kind, _ in rows]]
    shapes = "".join(f",({count},{width_of(kind)})" for kind, count in rows)
    text.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])
    return kernel(f"({tree.nq}){more}{shapes}{result}", outputs=outputs)(text)


def _placed(pose: Pose, link: LinkSpheres) -> Array:
    """The centers of the spheres of a link in the root's frame, and last that of the one about them (n + 1, 3)."""
    return np.stack([pose.R @ center + pose.p for center in (*link.spheres[:, :3], link.coarse[:3])])


def _among(gap: Callable[[Array, Array, Scalar], Scalar], placed: Array, link: LinkSpheres,
           margin: Scalar) -> Callable[..., Any]:
    """The turn of a loop over obstacles, which asks whether the spheres of a link touch one."""
    def turn(found: Scalar, obstacle: Array) -> tuple[Scalar, None]:
        clear = (gap(placed[-1], obstacle, link.coarse[3] + margin) > 0.0) | (found > 0.0)
        least = _least([gap(center, obstacle, radius + margin)
                        for center, radius in zip(placed, link.spheres[:, 3], strict=False)])
        return where(clear, found, where(least > 0.0, found, 1.0)), None

    return turn


def _self(poses: Sequence[Pose], tree: Tree, one: LinkSpheres, other: LinkSpheres, margin: Scalar,
          found: Scalar) -> Scalar:
    """Truth of two links that touch: a loop over the spheres of one of them."""
    a, b = (_placed(poses[tree.body_number(link.body)], link) for link in (one, other))
    rows = np.concatenate([a[:-1], one.spheres[:, 3:]], axis=1)
    about = np.concatenate([a[-1], one.coarse[3:]])
    apart = sphere_gap(b[-1], about, other.coarse[3] + margin) > 0.0
    around = [np.concatenate([center, radius]) for center, radius in zip(b, other.spheres[:, 3:], strict=False)]

    def turn(found: Scalar, row: Array) -> tuple[Scalar, None]:
        clear = apart | (found > 0.0) | (sphere_gap(b[-1], row, other.coarse[3] + margin) > 0.0)
        least = _least([sphere_gap(row[:3], each, row[3] + margin) for each in around])
        return where(clear, found, where(least > 0.0, found, 1.0)), None

    return scan(turn, found, rows)[0]


def _least(values: Sequence[Scalar]) -> Scalar:
    least = values[0]
    for value in values[1:]:
        least = np.minimum(least, value)
    return least


def _nearer(distance: Callable[[Array, Array], Scalar], placed: Array, radii: Array) -> Callable[..., Any]:
    """The turn of a loop over obstacles, which keeps the nearest pair."""
    def turn(best: tuple[Scalar, Scalar, Scalar], obstacle: Array, number: Scalar) -> tuple[Any, None]:
        for k, (center, radius) in enumerate(zip(placed, radii, strict=True)):
            best = _better(best, distance(center, obstacle) - radius, float(k), number)
        return best, None

    return turn


def _better(best: tuple[Scalar, Scalar, Scalar], apart: Scalar, sphere: Scalar,
            other: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    nearer = apart < best[0]
    return np.minimum(best[0], apart), where(nearer, sphere, best[1]), where(nearer, other, best[2])


def _nearest_of_pairs(model: CollisionModel, placed: Array, radii: Array, best: tuple[Scalar, Scalar, Scalar],
                      first: int) -> tuple[Scalar, Scalar, Scalar]:
    """The nearest pair with the spheres of links that may meet, which are numbered behind the obstacles."""
    own = {link.body: [k for k, body in enumerate(model.bodies) if body == link.body] for link in model.links}
    for one, other in model.pairs:
        rows = np.stack([np.concatenate([placed[k], np.array([radii[k], float(k)])]) for k in own[one]])
        spheres = own[other]

        def turn(best: tuple[Scalar, Scalar, Scalar], row: Array,
                 spheres: Sequence[int] = spheres) -> tuple[Any, None]:
            for k in spheres:
                v = row[:3] - placed[k]
                best = _better(best, np.sqrt(v @ v) - row[3] - radii[k], row[4], float(first + k))
            return best, None

        best, _ = scan(turn, best, rows)
    return best


def _chosen(number: Scalar, values: Array, first: int = 0) -> Array:
    """The row whose number it is."""
    found = values[0]
    for k in range(1, len(values)):
        found = where(number == float(first + k), values[k], found)
    return found


def _direction(best: tuple[Scalar, Scalar, Scalar], placed: Array, radii: Array, rows: Rows, scene: Sequence[Array],
               pairs: int) -> Array:
    """The direction (3) in which the center of the sphere moves away from what is nearest."""
    center = _chosen(best[1], placed)
    other = np.concatenate([_chosen(best[2], placed, pairs), np.zeros(1)])
    along = sphere_direction(center, other)
    first = pairs
    for (kind, count), obstacles in reversed(list(zip(rows, scene, strict=True))):
        along = where(best[2] < float(first), OBSTACLES[kind].direction(center, _chosen(best[2], obstacles,
                                                                                        first - count)), along)
        first -= count
    return along


def _gradient(tree: Tree, model: CollisionModel, q: Array, poses: Sequence[Pose], placed: Array,
              best: tuple[Scalar, Scalar, Scalar], along: Array, pairs: int) -> Array:
    """The gradient of the distance by the velocity: the direction, by the Jacobians of both centers."""
    gradient = np.zeros(tree.nv)
    numbers = {link.body: [k for k, body in enumerate(model.bodies) if body == link.body] for link in model.links}
    met = {body for pair in model.pairs for body in pair}
    for body, own in numbers.items():
        jacobian = general_jacobian(tree, q, body, axes="world")
        origin = poses[tree.body_number(body)].p
        for number, sign, first in ((best[1], 1.0, 0), *([(best[2], -1.0, pairs)] if body in met else [])):
            is_here = (number >= float(first + own[0])) & (number <= float(first + own[-1]))
            arm = _chosen(number, placed[own[0]:own[-1] + 1], first + own[0]) - origin
            force = where(is_here, sign * along, np.zeros(3))
            gradient = gradient + jacobian[:3].T @ force + jacobian[3:].T @ np.cross(arm, force)
    return gradient
