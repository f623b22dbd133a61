"""States of a Pinocchio model as states of a mechanism, and back: joints by their names, quaternions by their order.

Children of one body are in the order of the file here, and sorted by name there; limbs that are exchanged give
plausible wrong torques. Pinocchio itself is not imported: a model is whatever has the names of its joints and their
places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ModelError, SignatureError, UnsupportedError, did_you_mean
from cayley.geometry.batch import numbers
from cayley.model.tree import Tree

_SCALAR_FIRST = (3, 0, 1, 2)  # of (x, y, z, w)
_SCALAR_LAST = (1, 2, 3, 0)  # of (w, x, y, z)


class PinocchioModel(Protocol):
    """The names of joints, the first of which is the universe, and where each has its coordinates and velocities."""

    @property
    def names(self) -> Iterable[str]: ...

    @property
    def nqs(self) -> Iterable[int]: ...

    @property
    def nvs(self) -> Iterable[int]: ...

    @property
    def idx_qs(self) -> Iterable[int]: ...

    @property
    def idx_vs(self) -> Iterable[int]: ...

    @property
    def nq(self) -> int: ...

    @property
    def nv(self) -> int: ...


class _Place(NamedTuple):
    """The number of a joint of ours, and where it is there; a mimic joint may have no place of its own there."""

    number: int
    q: slice
    v: slice


def q_from_pinocchio(tree: Tree, model: PinocchioModel, q: ArrayLike) -> Array:
    """Configurations (..., nq) of the mechanism from those (..., model.nq) of a Pinocchio model of the same robot.

    Joints are found by their names. Quaternions, (x, y, z, w) there, are (w, x, y, z); continuous joints, (cos, sin)
    there, are an angle between -pi and pi; mimic joints that Pinocchio has removed are where their leaders take them.
    """
    given = _checked(q, model.nq, "q")
    found = np.zeros((*given.shape[:-1], tree.nq))
    places = _places(tree, model)
    for place in places:
        found[..., tree.q_slices[place.number]] = _coordinates(tree, place, given[..., place.q])
    for number, leader, multiplier, offset in _removed(tree, places):
        found[..., tree.q_slices[number]] = multiplier * found[..., tree.q_slices[leader]] + offset
    return found


def q_to_pinocchio(tree: Tree, model: PinocchioModel, q: ArrayLike) -> Array:
    """Configurations (..., model.nq) of a Pinocchio model of the same robot from those (..., nq) of the mechanism."""
    given = _checked(q, tree.nq, "q")
    found = np.zeros((*given.shape[:-1], model.nq))
    for place in _places(tree, model):
        found[..., place.q] = _their_coordinates(tree, place, given[..., tree.q_slices[place.number]])
    return found


def v_from_pinocchio(tree: Tree, model: PinocchioModel, v: ArrayLike) -> Array:
    """Velocities (..., nv) of the mechanism from those (..., model.nv) of a Pinocchio model of the same robot.

    Accelerations go the same way, and so do forces and the columns of Jacobians where Pinocchio has removed no mimic
    joint. The twist of a floating base is (v; w) in the axes of the base in both."""
    given = _checked(v, model.nv, "v")
    found = np.zeros((*given.shape[:-1], tree.nv))
    places = _places(tree, model)
    for place in places:
        found[..., tree.v_slices[place.number]] = given[..., place.v]
    for number, leader, multiplier, _ in _removed(tree, places):
        found[..., tree.v_slices[number]] = multiplier * found[..., tree.v_slices[leader]]
    return found


def v_to_pinocchio(tree: Tree, model: PinocchioModel, v: ArrayLike) -> Array:
    """Velocities (..., model.nv) of a Pinocchio model of the same robot from those (..., nv) of the mechanism."""
    given = _checked(v, tree.nv, "v")
    found = np.zeros((*given.shape[:-1], model.nv))
    for place in _places(tree, model):
        found[..., place.v] = given[..., tree.v_slices[place.number]]
    return found


def _coordinates(tree: Tree, place: _Place, theirs: Array) -> Array:
    motion = tree.joints[place.number].motion
    if theirs.shape[-1] != motion.nq:  # a continuous joint: (cos, sin)
        return np.arctan2(theirs[..., 1:], theirs[..., :1])
    return _turned(theirs, motion.attitude.q, _SCALAR_FIRST) if motion.attitude else theirs


def _their_coordinates(tree: Tree, place: _Place, ours: Array) -> Array:
    motion = tree.joints[place.number].motion
    if place.q.stop - place.q.start != motion.nq:
        return np.concatenate([np.cos(ours), np.sin(ours)], axis=-1)
    return _turned(ours, motion.attitude.q, _SCALAR_LAST) if motion.attitude else ours


def _turned(q: Array, quaternion: slice, order: Sequence[int]) -> Array:
    """The coordinates of a joint with its quaternion in another order."""
    found = q.copy()
    found[..., quaternion] = q[..., quaternion][..., order]
    return found


def _removed(tree: Tree, places: Iterable[_Place]) -> Iterator[tuple[int, int, float, float]]:
    """Joints that follow others and have no coordinate there: their numbers, and how they follow."""
    have = {place.number for place in places}
    return ((number, *follower) for number, follower in tree.mimic_joints.items() if number not in have)


def _places(tree: Tree, model: PinocchioModel) -> list[_Place]:
    """The joints that both have, in the order there; an error names one that only one of them has."""
    rows = list(zip(model.names, model.idx_qs, model.nqs, model.idx_vs, model.nvs, strict=True))[1:]  # not the universe
    known = {joint.name: number for number, joint in enumerate(tree.joints) if joint.motion.nv}
    base = _base(tree, known, [name for name, _, nq, *_ in rows if nq == 7])
    found = []
    for name, at_q, nq, at_v, nv in rows:
        number = known.get(name, base)
        if number is None:
            raise ModelError(f"the Pinocchio model has a joint {name!r} that {tree.name} does not have"
                             f"{_why_not(name, nq, known)}")
        if nv:
            _check_same_kind(tree, number, nq, nv)
            found.append(_Place(number, slice(at_q, at_q + nq), slice(at_v, at_v + nv)))
    lacking = known.keys() - {tree.joints[place.number].name for place in found} - {
        tree.joints[number].name for number in tree.mimic_joints}
    if lacking:
        first = min(lacking, key=lambda name: known[name])
        free = tree.joints[known[first]].motion.free
        advice = "; build it with pin.JointModelFreeFlyer()" if free else ""
        raise ModelError(f"{tree.name} has a joint {first!r} that the Pinocchio model does not have{advice}")
    return found


def _base(tree: Tree, known: dict[str, int], free: Sequence[str]) -> int | None:
    """The number of the floating base, if there is one in both and its names differ."""
    ours = [number for name, number in known.items() if tree.joints[number].motion.free and name not in free]
    theirs = [name for name in free if name not in known]
    return ours[0] if len(ours) == len(theirs) == 1 else None


def _why_not(name: str, nq: int, known: Iterable[str]) -> str:
    return "; load it with floating_base=True" if nq == 7 else did_you_mean(name, known)


def _check_same_kind(tree: Tree, number: int, nq: int, nv: int) -> None:
    """Raise unless a joint is one whose coordinates mean the same in both, or become so by their order."""
    joint = tree.joints[number]
    motion = joint.motion
    single = motion.nq == motion.nv == nv == 1 and nq in (1, 2)
    if not single and not (motion.attitude and (motion.nq, motion.nv) == (nq, nv)):
        raise UnsupportedError(f"joint {joint.name!r} of {tree.name} is {motion.word}, and in the Pinocchio model it "
                               f"has {nq} coordinates and {nv} velocities: joints of one axis, balls and floating "
                               "bases are converted")


def _checked(given: ArrayLike, size: int, name: str) -> Array:
    found = numbers(given, name)
    if found.shape[-1:] != (size,):
        raise SignatureError(f"{name} must have the shape (..., {size}), not {found.shape}; Pinocchio's batches, "
                             "(size, states), are given transposed")
    return found
