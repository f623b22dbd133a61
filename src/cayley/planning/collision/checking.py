"""Collisions and clearance of a robot among obstacles, for arrays of configurations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError
from cayley.kinematics.forward import body_poses
from cayley.model.tree import Tree
from cayley.planning.collision.distances import OBSTACLES
from cayley.planning.collision.kernels import NOTHING, Rows, clearance_kernel, collision_kernel, is_fixed
from cayley.planning.collision.scene import WORDS, Scene
from cayley.planning.collision.sphere_model import CollisionModel
from cayley.showing import brief

_SINGLE = float(np.finfo(np.float32).eps)


@dataclass(frozen=True, eq=False)
class NearestPair:
    """Nearest pair of a robot and the obstacles, or of two of its links.

    distance  (...) of the nearest pair, a sphere of a link and an obstacle or another sphere [m]; negative if they
              overlap, then by how deep; inf if there is nothing to be near to
    gradient  (..., nv): its change by unit velocities; one of several where two pairs are equally near
    link      (...) the name of the body of the sphere
    other     (...) the name of the obstacle ("box 2"), or of the other body
    """

    distance: Array
    gradient: Array
    link: Array
    other: Array

    __repr__ = brief


def collides(tree: Tree, model: CollisionModel, q: ArrayLike, scene: Scene, *, margin: float = 0.0) -> Array:
    """True (...) where a robot at configurations (..., nq) touches an obstacle or itself, by the spheres of its model.

    Computed in single precision, with spheres larger by a bound on its rounding, some micrometres: no collision of the
    spheres is missed. What comes nearer than a `margin` [m] counts as touching, as does a configuration that is not a
    number."""
    return touches(tree, model, configurations_of(tree, q), scene, margin, 0.0)


def touches(tree: Tree, model: CollisionModel, given: Array, scene: Scene, margin: float, step: float) -> Array:
    """`collides` where centers of spheres on links that move may be as far as a step [m] from where they are given."""
    if not (np.isfinite(margin) and margin >= 0.0):
        raise SignatureError(f"the margin is a distance that is not negative, not {margin}")
    if kept(scene, ("fixed", model, tree, margin), lambda: _fixed_touch(tree, model, scene, margin)):
        return np.ones(given.shape[:-1], dtype=bool)[()]
    inputs = kept(scene, "single", lambda: tuple(each.astype(np.float32) for each in scene.inputs))
    margins = (margin + np.array([step, 2 * step]) + _rounding(tree, model, given, scene)).astype(np.float32)
    found = kernel_for(tree, model, scene.rows)(given.astype(np.float32), margins, *inputs)
    return np.asarray(found) != 0.0


def clearance(tree: Tree, model: CollisionModel, q: ArrayLike, scene: Scene) -> NearestPair:
    """The nearest pair at configurations (..., nq): its distance with a sign, the gradient, and what it is of."""
    rows = scene.rows
    made = kept(tree, ("clearance", model, rows), lambda: clearance_kernel(tree, model, rows))
    distance, gradient, sphere, other = made(configurations_of(tree, q), *scene.inputs)
    nothing = distance > NOTHING / 2
    names = [name for kind, count in rows for name in _names(scene, kind, count)]
    bodies = np.array([*model.bodies, ""])
    others = np.array([*names, *model.bodies, ""])
    return NearestPair(np.where(nothing, np.inf, distance)[()], gradient,
                     bodies[np.where(nothing, -1, sphere).astype(int)],
                     others[np.where(nothing, -1, other).astype(int)])


def kernel_for(tree: Tree, model: CollisionModel, rows: Rows) -> Kernel:
    """The kernel of collisions for scenes with so many rows of each kind, made once."""
    return kept(tree, ("collides", model, rows), lambda: collision_kernel(tree, model, rows))


def _names(scene: Scene, kind: str, count: int) -> list[str]:
    there = len(getattr(scene, kind))
    return [f"{WORDS[kind]} {k}" if k < there else "" for k in range(count)]


def configurations_of(tree: Tree, q: ArrayLike) -> Array:
    """Configurations (..., nq) as an array, or an error."""
    given = np.asarray(q, dtype=float)
    if given.ndim == 0 or given.shape[-1] != tree.nq:
        raise SignatureError(f"configurations of {tree.name} are (..., {tree.nq}), not {given.shape}")
    return given


def _rounding(tree: Tree, model: CollisionModel, q: Array, scene: Scene) -> float:
    """A bound on what single precision changes of the distance of a sphere from an obstacle near it [m]."""
    largest = float(np.abs(q).max(initial=0.0, where=np.isfinite(q)))
    lengths = sum(float(np.linalg.norm(joint.placement[:3, 3])) for joint in tree.joints)
    reach = lengths + largest + max(float(np.abs(link.coarse).max()) for link in model.links)
    return _SINGLE * (16.0 * (reach + scene.reach) + tree.nq * (largest + 4.0) * reach)


def _fixed_touch(tree: Tree, model: CollisionModel, scene: Scene, margin: float) -> bool:
    """True if a link that does not move touches an obstacle: then all configurations do."""
    poses = body_poses(tree, tree.neutral)
    for link in model.links:
        pose = poses[tree.body_number(link.body)]
        for center, radius in [(pose.R @ s[:3] + pose.p, s[3]) for s in link.spheres if is_fixed(tree, link.body)]:
            for (kind, _), obstacles in zip(scene.rows, scene.inputs, strict=True):
                if any(not OBSTACLES[kind].gap(center, row, radius + margin) > 0.0 for row in obstacles):
                    return True
    return False
