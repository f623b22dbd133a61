"""The collision model of a mechanism, fitted to the collision geometry of its file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ModelError
from cayley.kinematics.frame_kernels import body_pose_kernel
from cayley.kinematics.loops.closing import random_closed_configuration
from cayley.model.configurations import random_configuration
from cayley.model.masses import rigid_groups
from cayley.model.tree import Tree
from cayley.planning.collision.balls import union_volume
from cayley.planning.collision.sphere_model import CollisionModel, LinkSpheres
from cayley.shapes.reading import shapes_of
from cayley.shapes.shape import Shape
from cayley.shapes.sphere_fitting import fitted_spheres
from cayley.shapes.surface import Surface

PER_LINK = 7
_SAMPLES = 1000
_NEVER = 0.05
"""Links whose spheres never come nearer [m] in random configurations are not looked at."""


def collision_model(tree: Tree, *, spheres: int | None = None, samples: int = _SAMPLES,
                    exclude: Iterable[tuple[str, str]] = ()) -> CollisionModel:
    """Spheres that contain the collision geometry of the links, and the pairs of links that may meet.

    `spheres` is how many there are at most, 7 for each link if not given. Surfaces of meshes and of other shapes are in
    the spheres with all their points. Pairs that may meet are all but those of one rigid part, of neighbours, those
    that the SRDF file beside a URDF file or MJCF excludes, those of `exclude`, those whose spheres touch in every one
    of `samples` random configurations, and those whose spheres are at least 5 cm apart in all of them."""
    surfaces = surfaces_of(tree)
    corners = [np.concatenate([each.points[each.triangles] for each in own]) for own in surfaces.values()]
    fitted = fitted_spheres(corners, PER_LINK * len(corners) if spheres is None else spheres)
    links = [_measured(body, own, balls) for (body, own), balls in zip(surfaces.items(), fitted, strict=True)]
    model = CollisionModel(tree.name, links)
    apart = {frozenset(pair) for pair in (*shapes_of(tree).apart, *exclude)}
    pairs = [pair for pair in combinations(surfaces, 2)
             if frozenset(pair) not in apart and not _neighbours(tree, *pair)]
    return model.with_pairs(*_meeting(tree, model, pairs, samples))


def surfaces_of(tree: Tree) -> dict[str, list[Surface]]:
    """Surfaces that contain the shapes of each body, in its frame; an error names shapes that cannot be had."""
    found = shapes_of(tree)
    shapes = found.of("collision") if len(found.of("collision")) else found.seen
    if found.missing:
        raise ModelError(f"shapes of {tree.name} are missing, and what hits them would be missed: {found.missing[0]}")
    if not len(shapes):
        raise ModelError(f"{tree.name} has no shapes in the file of its model: give spheres, CollisionModel("
                         f"{tree.name!r}, [LinkSpheres(body, [[x, y, z, radius]])])")
    made: dict[str, list[Surface]] = {}
    for name in tree.body_names:
        made |= {name: own} if (own := [_around(shape) for shape in shapes if shape.body == name]) else {}
    return made


def sticking_out(tree: Tree, model: CollisionModel, samples: int = 2000) -> dict[str, float]:
    """The greatest distance [m] of a vertex, or of some of many points on the surfaces of each body, outside of its
    spheres; zero where they contain all of them."""
    rng = np.random.default_rng(0)
    spheres = {link.body: link.spheres for link in model.links}
    out = {}
    for body, surfaces in surfaces_of(tree).items():
        points = np.concatenate([np.concatenate([each.points, _on(each, samples, rng)]) for each in surfaces])
        balls = spheres.get(body, np.zeros((0, 4)))
        outside = [np.linalg.norm(points - ball[:3], axis=1) - ball[3] for ball in balls]
        out[body] = float(np.maximum(np.min(outside, axis=0), 0.0).max()) if outside else np.inf
    return out


def _on(surface: Surface, samples: int, rng: np.random.Generator) -> Array:
    """Random points (n, 3) on a surface."""
    a, b, c = np.moveaxis(surface.points[surface.triangles], 1, 0)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) + 1e-300
    chosen = rng.choice(len(areas), samples, p=areas / areas.sum())
    u, v = np.sort(rng.uniform(size=(2, samples, 1)), axis=0)
    return a[chosen] + u * (b - a)[chosen] + (1 - v) * (c - a)[chosen]


def _around(shape: Shape) -> Surface:
    try:
        return shape.kind.around().moved(shape.pose)
    except ModelError as error:
        raise ModelError(f"a {shape.kind.word} of {shape.body!r} cannot be had, and what hits it would be missed: "
                         f"{error}") from error


def _measured(body: str, surfaces: Sequence[Surface], balls: Array) -> LinkSpheres:
    volume = max(each.volume for each in surfaces)
    return LinkSpheres(body, balls, volume, union_volume(balls) - volume)


def _neighbours(tree: Tree, one: str, other: str) -> bool:
    """True if two bodies are parts of one rigid body, or joined by a joint."""
    groups = rigid_groups(tree)
    a, b = (next(k for k, group in enumerate(groups) if tree.body_number(name) in group) for name in (one, other))
    above = [tree.parents[groups[k][0] - 1] if k else -1 for k in (a, b)]
    return a == b or above[0] in groups[b] or above[1] in groups[a]


def _meeting(tree: Tree, model: CollisionModel, pairs: Sequence[tuple[str, str]],
             samples: int) -> list[tuple[str, str]]:
    """The pairs whose spheres touch in some of random configurations, or nearly, and not in all of them."""
    draw = random_closed_configuration if tree.loops or tree.constraints else random_configuration
    poses = body_pose_kernel(tree)(draw(tree, samples, seed=0))
    placed = {}
    for link in model.links:
        pose = poses[:, tree.body_number(link.body)]
        placed[link.body] = link.spheres[:, :3] @ np.swapaxes(pose[:, :3, :3], 1, 2) + pose[:, None, :3, 3]
    radii = {link.body: link.spheres[:, 3] for link in model.links}
    met = []
    for one, other in pairs:
        ways = placed[one][:, :, None] - placed[other][:, None]
        apart = (np.sqrt((ways * ways).sum(axis=-1)) - radii[one][:, None] - radii[other]).min(axis=(1, 2))
        if apart.max() > 0.0 and apart.min() < _NEVER:
            met.append((one, other))
    return met
