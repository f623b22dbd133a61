"""The moments of a link's mass that can be felt, from the structure alone, in the mechanism's own units.

Energies are linear in the moments of each link. Moments of link i that leave the kinetic and the potential energy
independent of the joint's own coordinate and velocity, whatever the parent does, might as well be the parent's. A tree
loses its outermost link with its joint, then the next, so these moments, link by link, are all that cannot be told
apart, for every kind of joint and floating bases. For a revolute joint about z in general position they are the mass on
its axis (m, uz, Jzz), for a prismatic one the second moments, for a spherical one m, for a floating one none.

    V     the twists (6) that a link can have, as a space
    F     rows (10 + 1): what multiplies the moments, and a constant, in the energies that a link can have, as a space
    B(q)  (10, 10): moments of the link as moments of its parent
Poses of a joint enter as trigonometric polynomials of degree two, or the like, so a few positions of it stand for all
of them. Source: Wensing, Niemeyer & Slotine, Observability in inertial parameter identification; Gautier & Khalil 1990.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from cayley.compiler.solving.null_space import null_basis, row_space
from cayley.compiler.solving.rounding import least_singular
from cayley.compiler.typing import Array
from cayley.dynamics.identification.regressor import JOINT_TERMS, RegressorModel
from cayley.dynamics.rigid_links.links import ROOT, Link, Links
from cayley.dynamics.rigid_links.moments import MOMENT_NAMES, moved
from cayley.model.joint_kinds import JointKind

_MOMENTS = np.arange(14) < 10
_FRICTION = np.eye(14)[12:]  # what turns energy into heat hides in no energy


@dataclass(frozen=True, eq=False)
class LinkMotions:
    """The motions of a link: twists V (6, k) and rows F (k, 11) of its energies, both orthonormal bases."""

    twists: Array
    energies: Array


@dataclass(frozen=True, eq=False)
class Hidden:
    """The moments of a link that its parent can take over: directions (k, 10 + terms of the joint) in echelon form, and
    the links on the way there. `way` ends before the first link that carries bodies, `parent`, or before the ROOT: the
    middle of a universal joint keeps nothing."""

    number: int
    parent: int
    way: tuple[int, ...]
    directions: Array

    @property
    def pivots(self) -> Array:
        """The entry of each direction that is handed over entirely."""
        return np.array([np.flatnonzero(row)[-1] for row in self.directions], dtype=int)

    def in_units(self, units: Array) -> Hidden:
        """The same, if these were the units (10 + terms) of the entries."""
        return replace(self, directions=self.directions * (units / units[self.pivots][:, None]))


def hidden_moments(model: RegressorModel) -> list[Hidden]:
    """For each link that carries bodies, parents first, what is hidden of it among the terms of the model."""
    units = Units.of(model.links)
    links = units.links(model.links)
    root = LinkMotions(np.zeros((6, 0)), _span(np.array([[0.0, *links.gravity, *[0.0] * 6, 1.0]])))
    reaches: list[LinkMotions] = []
    bases: list[np.ndarray] = []
    for link in links.links:
        basis, reach = _look(link, root if link.parent == ROOT else reaches[link.parent])
        reaches.append(reach)
        bases.append(basis)
    found = [_handed_on(replace(model, links=links), number, bases) for number in model.movers]
    return [
        hidden.in_units(
            np.array([units.parameter(links.links[hidden.number].motion, word) for word in model.words(hidden.number)]))
        for hidden in found]


def _handed_on(model: RegressorModel, number: int, bases: list[Array]) -> Hidden:
    """The hidden moments of a link, and of every link without bodies that it must pass."""
    links = model.links.links
    way = [number]
    basis = bases[number]
    while (above := links[way[-1]].parent) != ROOT and above not in model.movers:
        handed = np.eye(10)
        for passed in way:
            handed = moved_in(links[passed]) @ handed
        outside = _null_space(_restricted(bases[above], _MOMENTS)).T
        basis = basis @ _null_space(outside @ handed @ basis[:10])
        way.append(above)
    terms = [word in model.words(number) for word in JOINT_TERMS]
    hidden = _restricted(basis, np.concatenate([_MOMENTS[:10], terms]))
    never = len(model.words(number)) - hidden.shape[1]  # numbers of springs
    return Hidden(number, above, tuple(way), np.hstack([hidden, np.zeros((len(hidden), never))]))


def moved_in(link: Link) -> Array:
    """(10, 10): the moments of a link as its parent's, at the joint's zero."""
    return moved(link.placement[:3, :3], link.placement[:3, 3])


def _look(link: Link, parent: LinkMotions) -> tuple[Array, LinkMotions]:
    """A basis (14, k) of what is hidden among the ten moments and the terms of the joint; and the link's reach."""
    places = link.motion.samples
    poses = [(link.placement[:3, :3] @ R, link.placement[:3, 3] + link.placement[:3, :3] @ p)
             for R, p in (link.motion.pose(q) for q in places)]
    moves = [block_diag(moved(R, p), 1.0) for R, p in poses]
    seen = [_twists_seen(R, p) @ parent.twists for R, p in poses]
    before = _span(np.concatenate(seen, axis=1).T).T
    pairs = [(link.motion.subspace(np.zeros(link.motion.nq)), before)] if link.motion.constant_subspace else [
        (np.asarray(link.motion.subspace(q)), twists) for q, twists in zip(places, seen, strict=True)]
    own = np.concatenate([directions for directions, _ in pairs], axis=1)
    crossed = np.array([energy_row(x, s) for directions, twists in pairs for s in directions.T
                        for x in twists.T]).reshape(-1, 11)
    squares = np.array([energy_row(s, t) for directions, _ in pairs for s in directions.T for t in directions.T])
    changes = np.concatenate([
        _change(parent.energies, move, moves[0], q - places[0]) for move, q in zip(moves, places, strict=True)])
    conditions = np.concatenate([
        _with_terms(crossed),
        _with_terms(squares, rotor=float(link.motion.nv == 1)), changes, _FRICTION])
    energies = _span(np.concatenate([crossed, squares, *[parent.energies @ move for move in moves]]))
    return _null_space(conditions), LinkMotions(_span(np.hstack([before, own]).T).T, energies)


def _change(energies: Array, move: Array, first: Array, q: Array) -> Array:
    """Rows (k, 14): how the parent's share of the energies changes with the joint; an offset does work."""
    rows = _with_terms(energies @ (move - first))
    rows[:, 11] = -energies[:, 10] * q[0] if len(q) == 1 else 0.0
    return rows


def _with_terms(rows: Array, *, rotor: float = 0.0) -> Array:
    """Rows (k, 11) of energies as conditions (k, 14) on moments, rotor, offset and the two frictions."""
    return np.hstack([rows[:, :10], np.full((len(rows), 1), rotor), np.zeros((len(rows), 3))])


def energy_row(x: Array, y: Array) -> Array:
    """The row (11) that multiplies the moments in the kinetic energy between two twists (v; w) of a link."""
    X, Y = (np.column_stack([np.cross(np.eye(3), -t[3:]).T, t[:3]]) for t in (x, y))
    K = (X.T @ Y + Y.T @ X) / 2
    return np.array([K[3, 3], *(2 * K[:3, 3]), K[0, 0], 2 * K[0, 1], 2 * K[0, 2], K[1, 1], 2 * K[1, 2], K[2, 2], 0.0])


def _twists_seen(R: Array, p: Array) -> Array:
    """(6, 6): a twist of the parent at its origin as one at the link's origin `p` and in its axes `R`."""
    return np.block([[R.T, R.T @ np.cross(np.eye(3), p)], [np.zeros((3, 3)), R.T]])


def _span(rows: Array) -> Array:
    return row_space(triangular(rows)) if rows.size else np.zeros((0, rows.shape[1]))


def _null_space(rows: Array) -> Array:
    """An orthonormal basis (n, k) of what the rows annul; sizes are compared with 1: rows may be rounding."""
    return null_basis(triangular(rows))


def _restricted(basis: Array, kept: Array) -> Array:
    """The directions (k, kept) in echelon form that are zero in the entries that are not kept."""
    inside = basis @ _null_space(basis[~kept]) if basis.shape[1] and not kept.all() else basis
    return echelon(inside[kept].T)


class Units(NamedTuple):
    """The units of length [m] and of time [s]; that of mass is the kilogram, in which the model is linear."""

    length: float
    time: float

    @staticmethod
    def of(links: Links) -> Units:
        offsets = [float(np.linalg.norm(link.placement[:3, 3])) for link in links.links if link.parent != ROOT]
        length = max([*offsets, *[link.motion.length for link in links.links]], default=0.0) or 1.0
        gravity = float(np.linalg.norm(links.gravity))
        return Units(length, np.sqrt(length / gravity) if gravity else 1.0)

    def links(self, links: Links) -> Links:
        """The same links, their lengths and gravity in these units."""
        return replace(links, links=tuple(map(self._link, links.links)), gravity=links.gravity *
                       (self.time**2 / self.length))

    def _link(self, link: Link) -> Link:
        placement = link.placement.copy()
        placement[:3, 3] /= self.length
        return replace(link, placement=placement, motion=link.motion.in_units(self.length))

    def parameters(self, model: RegressorModel) -> Array:
        """The unit (size) of each parameter of a linear model."""
        return np.array([self.parameter(model.links.links[number].motion, word) for number, word in model.columns])

    def parameter(self, motion: JointKind, word: str) -> float:
        if word in MOMENT_NAMES:
            return self.length ** {"m": 0, "u": 1, "J": 2}[word[0]]
        slides = motion.velocity_units == ("m",)
        force = self.length ** (1 if slides else 2) / self.time**2
        inertia = 1.0 if slides else self.length**2
        own = self.length if slides else 1.0
        return {"rotor": inertia, "viscous": inertia / self.time, "damping": inertia / self.time,
                "stiffness": force / own, "cubic": force / own**3}.get(word, force)

    def coordinates(self, links: Links) -> Array:
        """The unit (nq) of each coordinate."""
        return self._lengths([link.motion.coordinate_units for link in links.links])

    def velocities(self, links: Links) -> Array:
        """The unit (nv) of each velocity, but for the time: a length, or 1 for those that turn."""
        return self._lengths([link.motion.velocity_units for link in links.links])

    def _lengths(self, units: list[tuple[str, ...]]) -> Array:
        return np.array([self.length if unit == "m" else 1.0 for each in units for unit in each])


_INTEGER = 1e-8  # entries of combinations that are nearer to integers are these


def triangular(rows: Array) -> Array:
    """The triangle R of Q R: as many columns, few rows, the same sums of squares."""
    return np.asarray(np.linalg.qr(rows, mode="r"))


def independent_columns(Y: Array, *, tolerance: float | None = None) -> Array:
    """Flags of the columns that are not, to a relative `tolerance` (that of all ranks if not given), combinations of
    earlier ones: Gram and Schmidt, twice for rounding.

    >>> independent_columns(np.array([[1.0, 2.0, 0.0], [1.0, 2.0, 1.0]]))
    array([ True, False,  True])
    """
    kept = np.zeros(Y.shape[1], dtype=bool)
    basis = np.zeros((len(Y), 0))
    sizes = np.linalg.norm(Y, axis=0)
    least = least_singular(Y.shape[1]) if tolerance is None else tolerance
    for k, column in enumerate(Y.T):
        rest = column - basis @ (basis.T @ column)
        rest = rest - basis @ (basis.T @ rest)
        size = np.linalg.norm(rest)
        if size > least * sizes.max() and size > least * sizes[k]:
            kept[k] = True
            basis = np.column_stack([basis, rest / size])
    return kept


def echelon(rows: Array, *, tolerance: float | None = None) -> Array:
    """The rows' space in reduced form: each row has a 1 in its last place, where the other rows have 0; nearest
    integers made exact.

    >>> echelon(np.array([[1.0, 2.0, 2.0], [1.0, 2.0, 4.0]]))
    array([[0.5, 1. , 0. ],
           [0. , 0. , 1. ]])
    """
    pivots = independent_columns(rows[:, ::-1], tolerance=tolerance)[::-1]
    return tidy(np.linalg.lstsq(rows[:, pivots], rows, rcond=None)[0])


def tidy(matrix: Array, *, tolerance: float = _INTEGER) -> Array:
    """Entries that only rounding keeps from integers made exact."""
    near = np.round(matrix)
    return np.where(np.abs(matrix - near) < tolerance, near + 0.0, matrix)


def words(coefficients: Array, names: tuple[str, ...], *, digits: int = 6) -> str:
    """A linear combination as text.

    >>> words(np.array([1.0, 0.0, -0.5]), ("a", "b", "c"))
    'a - 0.5 c'
    """
    text = ""
    for value, name in zip(coefficients, names, strict=True):
        if value:
            size = "" if abs(abs(value) - 1) < 1e-9 else f"{abs(value):.{digits}g} "
            sign = (" - " if value < 0 else " + ") if text else ("-" if value < 0 else "")
            text += f"{sign}{size}{name}"
    return text or "0"
