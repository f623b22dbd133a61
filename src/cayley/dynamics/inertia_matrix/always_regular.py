"""Mechanisms whose inertia matrix is positive definite at all configurations, found from their bodies alone.

If a link has, by itself, an inertia along its own joint (or its rotor has), the pivot of that joint is never less,
whatever the configuration is: the first joint that moves moves that link. This is so for most mechanisms. Links without
mass, particles on an axis and inertias that no body can have are the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.made_once import kept_with_owner
from cayley.compiler.solving.linear import ldl
from cayley.compiler.typing import Array
from cayley.dynamics.rigid_links.drives import rotor_inertias
from cayley.dynamics.rigid_links.links import joined_moments
from cayley.dynamics.rigid_links.moments import LinkMoments
from cayley.geometry.spatial import spatial_inertia
from cayley.model.masses import rigid_groups
from cayley.model.parameters import has_symbols
from cayley.model.tree import Tree

if TYPE_CHECKING:
    from cayley.model.joint_kinds import JointKind

_CERTAIN = 2**10 * np.finfo(float).eps  # of the largest inertia that a joint can feel, for each velocity: no rounding
_FAR = 1e3  # [m]: how far a prismatic joint may carry


@kept_with_owner
def always_regular(tree: Tree) -> bool:
    """True if every joint moves, with its own link or its rotor, an inertia that makes the matrix regular at all
    configurations. Numbers that are inputs may be any."""
    if has_symbols(tree):
        return False
    groups = rigid_groups(tree)[1:]
    bodies = [joined_moments(tree, group) for group in groups]
    elementary = [motion for joint in tree.joints for motion in joint.motion.elementary]
    if not all(map(_is_physical, bodies)) or not all(motion.constant_subspace for motion in elementary):
        return False
    largest = _largest_inertias(tree)
    rotors = rotor_inertias(tree)
    for group, body in zip(groups, bodies, strict=True):
        joint = tree.joints[group[0] - 1]
        columns = tree.v_slices[group[0] - 1]
        least = _least_pivots(joint.motion, body, rotors[columns])
        if not (least > _CERTAIN * tree.nv * (largest[columns] + rotors[columns])).all():
            return False
    return True


def _is_physical(body: LinkMoments) -> bool:
    least = np.linalg.eigvalsh(body.inertia_about_center).min()
    return bool(body.mass >= 0 and least >= -16 * np.finfo(float).eps * np.abs(body.second).max()
                and (body.mass or not body.first.any()))


def _least_pivots(motion: JointKind, body: LinkMoments, rotors: Array) -> Array:
    """The inertia (nv) that is left to each velocity of a joint by its own link when its other velocities give way."""
    S = motion.subspace(motion.neutral)
    I = spatial_inertia(body.mass, body.first, body.inertia)
    # S turns with q, S^T S does not: at least the least eigenvalue of I, in one unit, for each
    if len(motion.elementary) > 1:
        length = np.sqrt(max(np.abs(I[3:, 3:]).max(), 1e-300) / max(body.mass, 1e-300))
        unit = np.repeat([1.0, length], 3)
        I = max(np.linalg.eigvalsh(I / np.outer(unit, unit)).min(), 0.0) * np.diag(unit**2)
    own = S.T @ I @ S + np.diag(rotors)
    with np.errstate(all="ignore"):
        pivots = np.array(ldl(own[::-1, ::-1])[1][::-1])
    return np.where(pivots > 2**6 * np.finfo(float).eps * np.diag(own), pivots, 0.0)


def _largest_inertias(tree: Tree) -> Array:
    """An upper bound (nv) of what each velocity feels of all that it moves, wherever that is."""
    found = np.zeros(tree.nv)
    for number, body in enumerate(tree.bodies):
        turning = float(np.abs(body.inertia).sum())
        for joint, reach in _way_in(tree, number):
            directions = tree.joints[joint].motion.subspace(tree.joints[joint].motion.neutral)
            slides, turns = (np.linalg.norm(part, axis=0) for part in (directions[:3], directions[3:]))
            found[tree.v_slices[joint]] += (body.mass or 0.0) * (slides + turns * reach) ** 2 + turns**2 * turning
    return found


def _way_in(tree: Tree, number: int) -> Iterator[tuple[int, float]]:
    """The joints that move a body, the last first, and how far from their origins its centre of mass can be."""
    reach = float(np.linalg.norm(tree.bodies[number].center))
    for joint in reversed(tree.path(number)):
        yield joint, reach
        motion = tree.joints[joint].motion
        reach += float(np.linalg.norm(np.asarray(tree.joints[joint].placement)[:3, 3]))
        reach += _FAR * motion.slides
