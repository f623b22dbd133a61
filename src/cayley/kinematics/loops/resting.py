"""A configuration that a mechanism can take, near the zero of its coordinates."""

from __future__ import annotations

from cayley.compiler.typing import Array
from cayley.errors import UnreachableError
from cayley.kinematics.loops.closing import close
from cayley.model.configurations import check_configuration, with_mimic_joints
from cayley.model.named_configurations import near_zero
from cayley.model.tree import Tree


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
