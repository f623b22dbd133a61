"""Configurations that a mechanism with constraints can take within its limits: one near zero, and random ones.

Random configurations of the spanning tree are closed by small steps, and those within the limits are kept. Their
distribution is uniform in no measure, and they may be of any assembly mode. Where few are found, guesses are drawn
towards one that is closed.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array
from cayley.errors import UnreachableError
from cayley.kinematics.constraints.actuated_motion import check_untimed
from cayley.kinematics.constraints.inputs import Inputs
from cayley.kinematics.constraints.rows import hold_positions
from cayley.kinematics.frame_kernels import difference_kernel, integrate_kernel
from cayley.kinematics.loops.closing import close, is_within_limits
from cayley.kinematics.loops.closing_search import closed_nearby
from cayley.model.configurations import check_configuration, random_configuration, with_mimic_joints
from cayley.model.named_configurations import near_zero
from cayley.model.tree import Tree

_ROUNDS = 50
_FAR_AND_WIDE = 5  # rounds before guesses are drawn near
_LEAST = 64  # guesses of a round: more are as cheap


def random_closed_configuration(tree: Tree, size: int | tuple[int, ...] = (), *,
                                seed: int | np.random.Generator | None = None) -> Array:
    """Closed configurations (*size, nq) within the limits; `UnreachableError` if not so many were found.

    >>> from cayley.model.catalogue import load_robot
    >>> random_closed_configuration(load_robot("four_bar"), 4, seed=0).shape
    (4, 3)
    """
    check_untimed(tree)
    random = np.random.default_rng(seed)
    free = tree.spanning_tree()
    wanted = random_configuration(free, size, seed=random)
    if not hold_positions(tree).any():
        return wanted
    count = int(np.prod(wanted.shape[:-1]))
    found = np.zeros((0, tree.nq))
    for k in range(_ROUNDS):
        if len(found) >= count:
            return found[:count].reshape(wanted.shape)
        guesses = random_configuration(free, max(2 * (count - len(found)), _LEAST), seed=random)
        if k >= _FAR_AND_WIDE:
            guesses = _drawn_near(tree, guesses, random)
        nearby = closed_nearby(tree, Inputs.of(tree, ()), guesses, np.zeros(len(guesses)))
        good = nearby.closed & is_within_limits(tree, nearby.q)
        found = np.concatenate([found, nearby.q[good]])
    raise UnreachableError(
        f"of {tree.name} {len(found)} closed configurations within its limits were found, and {count} were asked for: "
        "`close(q, limits=True)` looks for one near a guess")


def _drawn_near(tree: Tree, guesses: Array, random: np.random.Generator) -> Array:
    """Somewhere on the ways from a configuration that is closed to the guesses (n, nq)."""
    anchor = kept(tree, "closed anchor", lambda: close(tree, tree.neutral, limits=True))
    if anchor.status != "closed":
        return guesses
    away = kept(tree, "difference", lambda: difference_kernel(tree))(anchor.configuration, guesses)
    return kept(tree, "integrate", lambda: integrate_kernel(tree))(anchor.configuration,
                                                                    away * random.uniform(size=(len(guesses), 1)))


def neutral_within_limits(tree: Tree) -> Array:
    """The configuration (nq) with every joint at its zero, or in the middle of its range where zero is outside; of a
    mechanism with loops and other constraints a closed one near that, at the time 0 if motions are prescribed. Raises
    `UnreachableError` if there is none within the limits.

    >>> from cayley.model.catalogue import load_robot
    >>> neutral_within_limits(load_robot("panda")).round(4)
    array([ 0.    ,  0.    ,  0.    , -1.5708,  0.    ,  0.    ,  0.    ])
    """
    rest = near_zero(tree)
    if not (tree.loops or tree.constraints):
        q = with_mimic_joints(tree, rest)
        check_configuration(tree, q)
        return q
    found = close(tree, rest, 0.0 if tree.is_timed else None, limits=True)
    if found.status != "closed":
        raise UnreachableError(f"no configuration within the limits of {tree.name} was found that keeps its "
                               f"constraints: {found.status}")
    return found.configuration
