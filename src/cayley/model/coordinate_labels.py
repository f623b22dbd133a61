"""Names and units of the columns of q, qd and tau."""

from __future__ import annotations

from collections.abc import Sequence

from cayley.model.tree import Tree


def coordinate_labels(tree: Tree) -> list[tuple[str, str]]:
    """Name and unit of each coordinate.

    >>> coordinate_labels(cy.load("scara").tree)[2]
    ('joint3', 'm')
    """
    return [label for joint in tree.joints
            for label in _of_joint(joint.name, joint.motion.coordinate_names, joint.motion.coordinate_units)]


def velocity_labels(tree: Tree) -> list[tuple[str, str]]:
    """Name of each velocity, and the unit of what it is the rate of: rad (its force is N m) or m (N)."""
    return [label for joint in tree.joints
            for label in _of_joint(joint.name, joint.motion.velocity_names, joint.motion.velocity_units)]


def _of_joint(joint: str, names: Sequence[str], units: Sequence[str]) -> list[tuple[str, str]]:
    return [(f"{joint}.{name}" if name else joint, unit) for name, unit in zip(names, units, strict=True)]
