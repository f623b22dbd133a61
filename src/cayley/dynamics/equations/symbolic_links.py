"""The links of a mechanism with other scalars for their masses, centres, inertias and lengths: letters, exact numbers,
graph nodes.

Every text that runs on links runs on these as well. What is zero in the model stays zero, and right angles stay exact.
Link i has

    m_i                       mass
    r_i                       centre of mass
    I_i                       inertia about it
    l_i                       where the next link is; along that one's axis, as d of a Denavit-Hartenberg row
    beta_i, alpha_i, gamma_i  oblique turns
with x, y, z after the number; l_i_j, if link i carries several links. Equal moments of inertia of a link are one.
Gravity is g. An oblique turn about the joint's own axis, gamma_i, is not a turn of its own: q_i stands for q_i +
gamma_i."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.dynamics.rigid_links.links import ROOT, JointPlacement, Link, Links
from cayley.dynamics.rigid_links.moments import LinkMoments
from cayley.dynamics.rigid_links.planar_rotations import NO_TURN, PlanarRotation, zxz

_ROUNDING = 1e-14  # of a number, beside the others of its kind


class ModelNumber(NamedTuple):
    """A number of the model: what it is, of which link, along which axes."""

    kind: str
    place: str
    axes: str
    value: float

    @property
    def name(self) -> str:
        return "_".join(part for part in (self.kind, self.place + self.axes) if part)


class Scalars:
    """Base of the scalars in the place of the numbers of the model."""

    def number(self, parameter: ModelNumber) -> Scalar:
        raise NotImplementedError

    def turn(self, parameter: ModelNumber) -> PlanarRotation:
        angle = self.number(parameter)
        return PlanarRotation(np.cos(angle), np.sin(angle))

    def shift(self, parameter: ModelNumber) -> Scalar:
        """The shift of a joint's coordinate, or None if the scalar that stands for the coordinate has it already."""
        return self.number(parameter)


class Numbers(Scalars):
    """The numbers themselves; keeps a list of what was asked for."""

    def __init__(self) -> None:
        self.asked: dict[str, ModelNumber] = {}

    def number(self, parameter: ModelNumber) -> float:
        self.asked[parameter.name] = parameter
        return parameter.value


class GivenValues(Scalars):
    """Values by the names of the parameters."""

    def __init__(self, values: Mapping[str, Scalar]) -> None:
        self.values = values

    def number(self, parameter: ModelNumber) -> Scalar:
        return self.values[parameter.name]


def parameters_of(links: Links) -> dict[str, ModelNumber]:
    """All numbers of the links that are not zero, by name."""
    numbers = Numbers()
    symbolic_links(links, numbers)
    return numbers.asked


def symbolic_links(links: Links, scalars: Scalars) -> Links:
    """The same links with other scalars."""
    size = max([np.abs(link.placement[:3, 3]).max() for link in links.links], default=0.0)
    made = tuple(_symbolic(links, number, scalars, float(size)) for number in range(len(links.links)))
    return replace(links, links=made, gravity=_gravity(scalars, links.gravity))


def _symbolic(links: Links, number: int, scalars: Scalars, size: float) -> Link:
    link = links.links[number]
    place = str(number + 1)
    beta, alpha, gamma = zxz(link.placement[:3, :3])
    shift = None
    if link.turns_about_axis and not _is_quarter(gamma):
        angle = float(np.arctan2(gamma.s, gamma.c))
        gamma, shift = NO_TURN, scalars.shift(ModelNumber("gamma", place, "", angle))
    turns = (_turn(scalars, "beta", place, beta), _turn(scalars, "alpha", place, alpha),
             _turn(scalars, "gamma", place, gamma))
    origin = _vector(scalars, "l", _carrier(links, number), link.placement[:3, 3], size, _senses(link.placement))
    return replace(link, moments=_moments(scalars, place, link.moments), place=JointPlacement(turns, origin, shift))


def _carrier(links: Links, number: int) -> str:
    """The number of the link before, followed by the link's own if there are others beside it."""
    parent = links.links[number].parent
    beside = sum(link.parent == parent for link in links.links)
    return f"{parent + 1}" if beside == 1 else f"{parent + 1}_{number + 1}"


def _moments(scalars: Scalars, place: str, moments: LinkMoments) -> LinkMoments:
    mass = scalars.number(ModelNumber("m", place, "", float(moments.mass))) if moments.mass else 0.0
    second = float(np.abs(moments.second).max())
    center = _vector(scalars, "r", place, moments.center,
                     float(np.sqrt(second / moments.mass)) if moments.mass else 0.0)
    I = _inertia(scalars, place, moments.inertia_about_center, second)
    own = np.trace(I) * (np.eye(3) / 2) - I
    return LinkMoments(mass, mass * center, own + mass * np.outer(center, center))


def _inertia(scalars: Scalars, place: str, I: Array, size: float) -> Array:
    """The tensor (3, 3), with one scalar for moments that are equal, and for products on both sides of the diagonal."""
    def entry(i: int, j: int) -> Scalar:
        if i == j:
            i = j = next(k for k in range(3) if abs(I[k, k] - I[i, i]) <= _ROUNDING * size)
        i, j = sorted((i, j))
        return _scalar(scalars, ModelNumber("I", place, "xyz"[i] + "xyz"[j], float(I[i, j])), size)

    return np.array([[entry(i, j) for j in range(3)] for i in range(3)])


def _gravity(scalars: Scalars, values: Array) -> Array:
    """Along one axis g is its size, as in books; otherwise its components have letters."""
    size = float(np.abs(values).max())
    if np.count_nonzero(np.abs(values) > _ROUNDING * size) != 1:
        return _vector(scalars, "g", "", values, size)
    return np.where(np.abs(values) == size, np.sign(values), 0.0) * scalars.number(ModelNumber("g", "", "", size))


def _senses(placement: Array) -> Array:
    """The signs (3) of offsets with letters: along the joint's axis in its direction, as d of a DH row."""
    axis = placement[:3, 2]
    return np.where(np.abs(axis) > 1 - _ROUNDING, np.sign(axis), 1.0)


def _vector(scalars: Scalars, kind: str, place: str, values: Array, size: float,
            senses: ArrayLike = (1.0, 1.0, 1.0)) -> Array:
    return np.array([
        sense * _scalar(scalars, ModelNumber(kind, place, axis, float(sense * value)), size)
        for axis, value, sense in zip("xyz", values, np.asarray(senses), strict=True)])


def _scalar(scalars: Scalars, parameter: ModelNumber, size: float) -> Scalar:
    return scalars.number(parameter) if abs(parameter.value) > _ROUNDING * size else 0.0


def _turn(scalars: Scalars, kind: str, place: str, turn: PlanarRotation) -> PlanarRotation:
    angle = float(np.arctan2(turn.s, turn.c))
    return turn if _is_quarter(turn) else scalars.turn(ModelNumber(kind, place, "", angle))


def _is_quarter(turn: PlanarRotation) -> bool:
    return 0.0 in turn


def bundles_of(links: Links) -> list[list[int]]:
    """The numbers of the links, in bundles of those whose turning axes are parallel whatever the mechanism does."""
    bundles: list[list[int]] = []
    # the bundle before, and the turn since then
    leaders: dict[int, tuple[list[int], np.ndarray]] = {ROOT: ([], np.eye(3))}
    for number, link in enumerate(links.links):
        bundle, since = leaders[link.parent]
        turned = since @ link.placement[:3, :3]
        if link.is_prismatic:
            leaders[number] = bundle, turned
            continue
        if not bundle or np.hypot(turned[0, 2], turned[1, 2]) > _ROUNDING:
            bundle = []
            bundles.append(bundle)
        bundle.append(number)
        leaders[number] = bundle, np.eye(3)
    return bundles


def way_to_root(links: Links, number: int) -> list[int]:
    """The links from one inwards to the root."""
    found = [number]
    while number != ROOT:
        number = links.links[number].parent
        found.append(number)
    return found
