"""Whether accelerations follow from forces: only where the inertia matrix is positive definite, and not by rounding
alone.

Eliminated from the tips inwards, the matrix has one pivot for each velocity: the inertia that it feels when all that it
carries gives way. Every pivot must be positive. What rounding leaves of one that is zero is found by a step of inverse
iteration: of a probe f, the motion y = M^-1 f is nearly all along the motion that moves the least mass, so that its
energy y.f tells the least eigenvalue,

    y.f  against  (sum of |y_k| sqrt(M_kk))^2        in the arithmetic that computes, float64 or float32; false for NaN as well
Most mechanisms need no test. If a link has, by itself, an inertia along its own joint (or its rotor has), its pivot is
never less, whatever the configuration is: the first joint that moves moves that link. Only mechanisms with a link for
which this is not so (links without mass, particles on an axis, inertias that no body can have) pay for a test at run
time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from cayley.compiler.linear import ldl, ldl_solve
from cayley.compiler.symbols import where
from cayley.dynamics.forward.articulated_bodies import forward_dynamics, joint_inertias
from cayley.dynamics.forward.free_bodies import joined_moments
from cayley.dynamics.forward.methods import default_method
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import diagonal, inertia_matrix
from cayley.dynamics.rigid_links.drives import rotor_inertias
from cayley.dynamics.rigid_links.links import Links
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.dynamics.rigid_links.moments import Moments
from cayley.errors import SingularityError
from cayley.model.report import rigid_groups
from cayley.model.tree import Tree

_UNITS = 64.0  # of rounding, for each velocity: no more than this is left of an eigenvalue that is zero
_GOLDEN = (np.sqrt(5) - 1) / 2
_CERTAIN = 2**10 * np.finfo(
    float).eps  # of the largest inertia that a joint can feel, for each velocity: far above rounding
_FAR = 1e3  # [m]: how far a prismatic joint may carry


def guarded(tree: Tree, compute: Callable[..., Any], shapes: Sequence[tuple[int, ...]]) -> Callable[..., Any]:
    """A text `(q, ...)` of results of the given shapes, all of them NaN where the inertia matrix of the mechanism is
    singular.

    Of a mechanism that is regular everywhere it is the text itself, and costs no more.
    """
    if always_regular(tree):
        return compute
    is_regular = regular_text(tree)

    def text(q: Any, *others: Any) -> Any:
        regular = is_regular(q)
        try:
            found = compute(q, *others)
        except SingularityError:  # at all configurations, as a method saw by itself
            return np.full(shapes[0], np.nan) if len(shapes) == 1 else tuple(np.full(shape, np.nan) for shape in shapes)
        return only_where(regular, found) if len(shapes) == 1 else tuple(only_where(regular, value) for value in found)

    text.__doc__ = compute.__doc__
    text.__module__ = compute.__module__
    return text


def regular_text(tree: Tree) -> Callable[[Any], Any]:
    """The text `(q) -> truth value`, in the terms of the default method of forward dynamics, which has most of them
    already.
    """
    links = minimal_links(tree)
    rotors = rotor_inertias(tree)
    return partial(_short_is_regular if default_method(tree) == "composite-bodies" else _deep_is_regular, links, rotors)


def is_definite(M: Any) -> Any:
    """Whether a symmetric matrix (n, n) is positive definite beyond rounding, by L D L^T as `ldl_solve`; for numbers
    and for symbols.
    """
    return _is_regular(ldl(M)[1], [M[k][k] for k in range(len(M))], partial(ldl_solve, M))


def are_definite(M: np.ndarray) -> np.ndarray:
    """The same (...) of numbers (..., n, n), by eigenvalues, each row and column scaled to a diagonal of ones."""
    own = np.diagonal(M, axis1=-2, axis2=-1)
    possible = np.isfinite(M).all(axis=(-2, -1)) & (own > 0).all(axis=-1)
    scale = 1 / np.sqrt(np.where(possible[..., None], own, 1.0))
    scaled = np.where(possible[..., None, None], M, 0.0) * scale[..., :, None] * scale[..., None, :]
    return possible & (np.linalg.eigvalsh(scaled).min(axis=-1, initial=1.0)
                       > _UNITS * M.shape[-1] * np.finfo(M.dtype).eps / 2)


def only_where(regular: Any, values: Any) -> Any:
    """The values where a condition holds, NaN elsewhere; and so their derivatives."""
    return values * where(regular, 1.0, np.nan) + where(regular, 0.0, np.nan)


@lru_cache(maxsize=16)
def always_regular(tree: Tree) -> bool:
    """Whether every joint moves, with its own link or its rotor, an inertia that makes the matrix regular at all
    configurations.
    """
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


def _short_is_regular(links: Links, rotors: np.ndarray, q: Any) -> Any:
    return is_definite((inertia_matrix(links, q) + np.diag(rotors))[::-1, ::-1])


def _deep_is_regular(links: Links, rotors: np.ndarray, q: Any) -> Any:
    pivots = [pivot for D in joint_inertias(links, q, rotors=rotors) for pivot in ldl(D[::-1, ::-1])[1]]
    at_rest = partial(forward_dynamics, replace(links, gravity=np.zeros(3)), q, np.zeros(links.nv), rotors=rotors)
    return _is_regular(pivots, diagonal(links, q) + rotors, at_rest)


def _is_regular(pivots: Sequence[Any], own: Any, solve: Callable[[Any], Any]) -> Any:
    """By the pivots, the diagonal (n) and what solves the equations."""
    found: Any = True
    for pivot in pivots:
        found = found & (pivot > 0)
    if len(pivots) < 2:
        return found
    sizes = np.array([np.sqrt(entry) for entry in own])
    # of no pattern, so that no motion is at right angles to it
    probe = sizes * (0.5 + np.arange(len(pivots)) * _GOLDEN % 1)
    motion = solve(probe)
    most = (np.abs(motion) @ sizes) ** 2
    return found & (most + motion @ probe / (_UNITS * len(pivots)) > most)


# The inertia that a joint moves at least, and at most


def _is_physical(body: Moments) -> bool:
    """Whether no motion of a body has a negative energy, but for rounding."""
    least = np.linalg.eigvalsh(body.inertia_about_center).min()
    return bool(body.mass >= 0 and least >= -16 * np.finfo(float).eps * np.abs(body.second).max()
                and (body.mass or not body.first.any()))


def _least_pivots(motion: Any, body: Moments, rotors: np.ndarray) -> np.ndarray:
    """For each velocity of a joint the inertia (nv) that is left of its link's own when its other velocities give way.
    """
    S = motion.subspace(motion.neutral)
    I = _spatial(body)
    # S turns with q, S^T S does not: at least the least eigenvalue of I, in one unit, for each
    if len(motion.elementary) > 1:
        length = np.sqrt(max(np.abs(I[3:, 3:]).max(), 1e-300) / max(body.mass, 1e-300))
        unit = np.repeat([1.0, length], 3)
        I = max(np.linalg.eigvalsh(I / np.outer(unit, unit)).min(), 0.0) * np.diag(unit**2)
    own = S.T @ I @ S + np.diag(rotors)
    with np.errstate(all="ignore"):
        pivots = np.array(ldl(own[::-1, ::-1])[1][::-1])
    return np.where(pivots > 2**6 * np.finfo(float).eps * np.diag(own), pivots, 0.0)


def _spatial(body: Moments) -> np.ndarray:
    x, y, z = body.first
    hat = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.block([[body.mass * np.eye(3), -hat], [hat, body.inertia]])


def _largest_inertias(tree: Tree) -> np.ndarray:
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
