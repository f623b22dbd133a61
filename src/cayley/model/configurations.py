"""Configurations of a mechanism: random ones, checks, and quaternions brought back to length one."""

from __future__ import annotations

from collections.abc import Iterator
from operator import index

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError, ModelError, SignatureError, shown
from cayley.geometry.batch import first_failure, numbers, place
from cayley.model.constraints import check_independent
from cayley.model.parts import Joint
from cayley.model.tree import Tree

_HALF_RANGES = {"m": 1.0, "rad": np.pi, "": 1.0}  # what is taken where there are no limits: 1 m, half a turn


def random_configuration(tree: Tree, size: int | tuple[int, ...] = (), *,
                         seed: int | np.random.Generator | None = None) -> Array:
    """Configurations (*size, nq), evenly distributed between the limits of the joints and over all rotations.

    Angles without limits are between -pi and pi, lengths between -1 and 1 m. With one limit a coordinate is up to a
    turn or 2 m from it. A joint that follows another does so. As in NumPy, `seed` is a number, a generator, which goes
    on, or None, and then every call returns other configurations.

    >>> arm = cy.load("puma560").tree
    >>> q = random_configuration(arm, 1000, seed=0)
    >>> q.shape, bool((q >= arm.lower).all()), bool((q <= arm.upper).all())
    ((1000, 6), True, True)
    """
    check_independent(tree, "random configurations", mimics_kept=True)
    shape = _shape(size)
    random = np.random.default_rng(seed)
    low, high = _ranges(tree)
    q = random.uniform(low, high, size=(*shape, tree.nq))
    for _, turn in quaternion_places(tree):
        attitude = random.normal(size=(*shape, 4))
        q[..., turn] = attitude / np.linalg.norm(attitude, axis=-1, keepdims=True)
    return with_mimic_joints(tree, q)


def _shape(size: int | tuple[int, ...]) -> tuple[int, ...]:
    try:
        shape = tuple(map(index, size)) if isinstance(size, (tuple, list)) else (index(size),)
    except TypeError:
        shape = (-1,)
    if min(shape, default=0) < 0:
        raise SignatureError(f"the size of random configurations must be a number or a tuple of numbers, not "
                             f"{shown(size)}: "
                             "the seed, or the generator, is given by name, `random_configuration(1000, seed=0)`")
    return shape


def _check_shape(tree: Tree, q: Array) -> Array:
    if q.shape[-1:] != (tree.nq,):
        raise SignatureError(f"a configuration of {tree.name} must have the shape (..., {tree.nq}), not {q.shape}")
    return q


def with_mimic_joints(tree: Tree, q: ArrayLike) -> Array:
    """The configurations (..., nq) with every joint that follows another (`mimic`) where that one takes it, along
    chains too.

    Joints that follow keep a coordinate of their own in q, which nothing else ties to the other.

    >>> hand = cy.load("panda_hand").tree
    >>> with_mimic_joints(hand, [0.0] * 7 + [0.02, 0.0])[7:]
    array([0.02, 0.02])
    """
    found = _check_shape(tree, np.array(q, dtype=np.float64))
    for number, (leader, multiplier, offset) in tree.mimic_joints.items():
        found[..., tree.q_slices[number]] = multiplier * found[..., tree.q_slices[leader]] + offset
    return found


def check_configuration(tree: Tree, q: ArrayLike, *, limits: bool = True, tolerance: float = 1e-8) -> None:
    """Raise if `q` (..., nq) is no configuration: wrong shape, not finite, quaternions not of length one, or, with
    `limits`, outside them.

    >>> check_configuration(cy.load("puma560").tree, [0.0, 0.0, 9.0, 0.0, 0.0, 0.0])
    Traceback (most recent call last):
    cayley.errors.ModelError: joint 'joint3' of puma560 is at 9 in the configuration: beyond its limits, from ... to ...
    """
    q = _check_shape(tree, numbers(q, f"the coordinates of {tree.name}"))
    bad = first_failure(np.isfinite(q).all(axis=-1))
    if bad is not None:
        raise GeometryError(f"configuration{place(bad)} of {tree.name} is not finite: {q[bad].tolist()}")
    for joint, turn in quaternion_places(tree):
        length = np.linalg.norm(q[..., turn], axis=-1)
        bad = first_failure(np.abs(length - 1) <= tolerance)
        if bad is not None:
            raise GeometryError(
                f"the quaternion of joint {joint.name!r} of {tree.name} has the length {np.asarray(length)[bad]:.9g} "
                f"in configuration{place(bad)}: `normalized` makes it one")
    for joint, own in zip(tree.joints, tree.q_slices, strict=True) if limits else ():
        for k, low, high in zip(range(own.start, own.stop), joint.limits.lower, joint.limits.upper, strict=True):
            bad = first_failure((q[..., k] >= low - tolerance) & (q[..., k] <= high + tolerance))
            if bad is not None:
                raise ModelError(
                    f"joint {joint.name!r} of {tree.name} is at {q[bad][k]:.6g} in the configuration{place(bad)}: "
                    f"beyond its limits, from {low:.6g} to {high:.6g}{_if_degrees(joint, q[bad][k], low, high)}")


def _if_degrees(joint: Joint, angle: float, low: float, high: float) -> str:
    """Hint for a revolute angle of more than a turn that would be within the limits if it were in degrees."""
    meant = np.deg2rad(angle)
    if joint.motion.word != "revolute" or abs(angle) <= 2 * np.pi or not low <= meant <= high:
        return ""
    return f"; angles are in radians: np.deg2rad({angle:.6g}) is {meant:.6g}"


def normalized(tree: Tree, q: ArrayLike) -> Array:
    """The configurations (..., nq) with their quaternions brought to length one; what else there is in them is not
    touched."""
    q = _check_shape(tree, np.array(q, dtype=np.float64))
    for joint, turn in quaternion_places(tree):
        largest = np.abs(q[..., turn]).max(axis=-1, keepdims=True)
        if not ((largest > 0) & (largest < np.inf)).all():
            raise GeometryError(f"a quaternion of joint {joint.name!r} of {tree.name} is zero or not finite: it has no "
                                "direction to keep")
        scaled = np.ldexp(q[..., turn], -np.frexp(largest)[1])  # squares of all sizes neither overflow nor vanish
        q[..., turn] = scaled / np.linalg.norm(scaled, axis=-1, keepdims=True)
    return q


def quaternion_places(tree: Tree) -> Iterator[tuple[Joint, slice]]:
    """The joints whose attitude is a quaternion, and where it is in the configuration."""
    for joint, own in zip(tree.joints, tree.q_slices, strict=True):
        if joint.motion.attitude is not None:
            place = joint.motion.attitude.q
            yield joint, slice(own.start + place.start, own.start + place.stop)


def _ranges(tree: Tree) -> tuple[Array, Array]:
    half = np.array([_HALF_RANGES[unit] for joint in tree.joints for unit in joint.motion.coordinate_units])
    low = tree.lower
    high = tree.upper
    center = np.where(np.isfinite(low), low + half, np.where(np.isfinite(high), high - half, 0.0))
    return np.where(np.isfinite(low), low, center - half), np.where(np.isfinite(high), high, center + half)
