"""Configurations that have names: "home", "ready", from SRDF and MJCF files, the catalogue, or the user.

They are kept by joint, so that they outlive what is done to a mechanism: joints that are locked or left out are left
out of them, joints that are added are at their zero, or in the middle of their range where that is outside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ModelError, did_you_mean, printable, shown
from cayley.model.configurations import check_configuration, with_mimic_joints
from cayley.model.parts import NamedConfiguration
from cayley.model.tree import Tree

CoordinatesByJoint = tuple[tuple[str, tuple[float, ...]], ...]


# of the poses in which robots are shown, the first that one has
_READY = ("ready", "standing", "half_sitting", "home", "homing_nominal")


class UnknownConfigurationError(ModelError, KeyError):
    """A mechanism has no configuration of this name."""

    def __str__(self) -> str:
        return printable(str(self.args[0]))  # without the quotation marks of a KeyError


class NamedConfigurations(Mapping[str, Array]):
    """Configurations (nq) of a mechanism by name.

    >>> arm = with_configuration(cy.load("planar2r").tree, "bent", {"joint2": 1.0})
    >>> NamedConfigurations(arm)
    <configurations of planar2r: ready, bent>
    >>> NamedConfigurations(arm)["bent"]
    array([0., 1.])
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._named = {each.name: each for each in tree.named}

    def __getitem__(self, name: str) -> Array:
        if name not in self._named:
            there = f"; it has {', '.join(self._named)}" if self._named else "; it has none: `with_configuration`"
            raise UnknownConfigurationError(f"{self._tree.name} has no configuration "
                                            f"{shown(name)}{did_you_mean(name, self._named, otherwise=there)}")
        return _filled(self._tree, self._named[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def __len__(self) -> int:
        return len(self._named)

    def __contains__(self, name: object) -> bool:
        return name in self._named

    def __repr__(self) -> str:
        return f"<configurations of {self._tree.name}: {', '.join(self) or 'none'}>"


def with_configuration(tree: Tree, name: str, q: ArrayLike | Mapping[str, ArrayLike]) -> Tree:
    """Mechanism with one more configuration that has a name, or with another of this name: all coordinates
    (nq), or those of some joints by their names."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"a configuration must have a name, not {shown(name)}")
    made = NamedConfiguration(name, coordinates_by_joint(tree, q))
    check_configuration(tree, _filled(tree, made), limits=False)
    return replace(tree, named=(*[each for each in tree.named if each.name != name], made))


def coordinates_by_joint(tree: Tree, q: ArrayLike | Mapping[str, ArrayLike]) -> CoordinatesByJoint:
    """The coordinates of joints by their names, from a whole configuration (nq) or from those of some."""
    if isinstance(q, Mapping):
        return tuple((name, _own(tree, name, values)) for name, values in q.items())
    whole = np.asarray(q, dtype=float)
    if whole.shape != (tree.nq,):
        raise ModelError(f"a configuration of {tree.name} must have the shape ({tree.nq},), not {whole.shape}; or "
                         f"give those "
                         f"of some joints by name, {{{tree.joint_names[0] if tree.joint_names else 'joint'!r}: ...}}")
    return tuple((joint.name, tuple(whole[place].tolist()))
                 for joint, place in zip(tree.joints, tree.q_slices, strict=True) if joint.motion.nq)


def _own(tree: Tree, name: str, values: ArrayLike) -> tuple[float, ...]:
    joint = tree.joints[tree.joint_number(name)]
    try:
        given = np.atleast_1d(np.asarray(values, dtype=float))
    except (TypeError, ValueError) as error:
        raise ModelError(f"the coordinates of joint {name!r} must be numbers, not {shown(values)}") from error
    if given.shape != (joint.motion.nq,) or not joint.motion.nq:
        raise ModelError(f"joint {name!r} of {tree.name} is {joint.motion.word} and has {joint.motion.nq} coordinates, "
                         f"not {shown(values)}")
    return tuple(given.tolist())


def _filled(tree: Tree, named: NamedConfiguration) -> Array:
    """Configuration with unnamed joints near zero, and mimic joints set by those that they follow."""
    q = near_zero(tree)
    numbers = {joint.name: k for k, joint in enumerate(tree.joints)}
    for name, values in named.coordinates:
        number = numbers.get(name)
        if number is not None and tree.joints[number].motion.nq == len(values):
            q[tree.q_slices[number]] = values
    return with_mimic_joints(tree, q)


def near_zero(tree: Tree) -> Array:
    """Every coordinate (nq) at its zero, or in the middle of its range where zero is outside.

    >>> near_zero(cy.load("panda").tree)[3].round(4)
    np.float64(-1.5708)
    """
    q = tree.neutral
    lower = tree.lower
    upper = tree.upper
    outside = (q < lower) | (q > upper)
    ends = np.where(np.isinf(lower), upper, lower), np.where(np.isinf(upper), lower, upper)
    return np.where(outside, 0.5 * (np.where(outside, ends[0], 0.0) + np.where(outside, ends[1], 0.0)), q)


def ready_pose(tree: Tree) -> Array:
    """The pose (nq) in which a robot is shown: "ready", or without one that in which it stands or is at home; near zero
    if it has none of them.

    >>> ready_pose(cy.load("planar2r").tree)
    array([0.5, 0.9])
    """
    named = NamedConfigurations(tree)
    return next((named[name] for name in _READY if name in named), near_zero(tree))
