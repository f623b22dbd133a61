"""The structure of the constraints of a mechanism at closed configurations that have nothing special about them: their
generic rank, rows that are redundant, and velocities from which all others follow.

Gruebler's count is velocities less rows; the mobility is what is left indeed (of a planar four-bar in space -2 and 1).
Rows that are redundant at all configurations are left out everywhere; those of Bennett's linkage can not be. Pieces of
the space of closed configurations may differ in their mobility: - A piece on which links lie upon each other (a scissor
lift, Sarrus's plates), whose joint axes coincide as they do not
  on another piece that moves, does not count.
- Of the others, that of the neutral configuration decides, if that is closed, has nothing special and can move. - If
not, it is that of the pieces where it is just what all rows leave that say something where nothing is closed,
  unless links stand still there (a parallelogram, crossed). Where no piece is of that kind it is the largest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.solving.null_space import null_basis
from cayley.compiler.solving.rounding import Scale, least_singular, rank_of
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ConventionError
from cayley.kinematics.constraints.closure import ClosedSample, closed_samples, left_by_rows
from cayley.kinematics.constraints.rows import (
    CLOSED,
    RowName,
    check_closed,
    constraint_jacobian,
    hold_positions,
    length_unit,
    lengths,
    row_names,
    row_sizes,
    scaled,
    scaled_jacobian,
)
from cayley.model.coordinate_labels import velocity_labels
from cayley.model.tree import Tree
from cayley.showing import brief


@dataclass(frozen=True, eq=False)
class ConstraintStructure:
    """The constraints of a mechanism where it is not singular."""

    rows: tuple[RowName, ...]  # what the rows of the constraint Jacobian hold
    velocities: tuple[str, ...]
    rank: int
    leading: tuple[int, ...]  # the places of rows that say all that the others do
    determined: tuple[bool, ...]
    """Of each row, whether its force follows from the motion; it does not if other rows could do the same."""
    by_structure: bool  # whether the same rows are redundant everywhere, so that they can be left out
    used: tuple[int, ...]
    """The places of the rows that equations use: the leading ones, or all that say something, where what is redundant
    changes with the configuration."""
    independent: tuple[int, ...]
    """The places of velocities from which the others follow: those of actuated joints, as far as they can be chosen,
    and the first of the others."""
    moving: tuple[bool, ...]  # of each velocity, whether the constraints leave it any motion
    sizes: tuple[float, ...]
    """How long each row is at ordinary configurations, by velocities in their `lengths`; those of a point are as long
    along all axes."""
    lengths: tuple[float, ...]
    """Units of the velocities: about the size of the machine for slides, a radian for turns."""

    __repr__ = brief

    @property
    def mobility(self) -> int:
        return len(self.velocities) - self.rank

    @property
    def gruebler(self) -> int:
        """The count of Gruebler and Kutzbach: velocities of the tree less rows of its constraints."""
        return len(self.velocities) - len(self.rows)

    @property
    def redundant(self) -> tuple[RowName, ...]:
        """The rows that can be left out."""
        return tuple(row for k, row in enumerate(self.rows) if k not in self.leading)

    def scaled(self, A: Array) -> Array:
        """Constraint Jacobians (..., h, nv) without units, their rows one long at ordinary configurations."""
        return self.scale(range(len(self.rows))).of(A)

    def scale(self, rows: Sequence[int]) -> Scale:
        """Units of some rows, and of the velocities."""
        return Scale(np.array([self.sizes[k] for k in rows]), np.array(self.lengths))

    def __str__(self) -> str:
        count = f"mobility {self.mobility}, {len(self.velocities)} velocities less {len(self.rows)} rows"
        spare = f"; redundant: {', '.join(map(str, self.redundant))}" if self.redundant else ""
        return f"{count}{spare}; independent: {', '.join(self.velocities[k] for k in self.independent)}"


def constraint_structure(tree: Tree) -> ConstraintStructure:
    """The structure, found once for a mechanism; `UnreachableError` if its constraints can not be kept.

    >>> from cayley.model.catalogue import load_robot
    >>> print(constraint_structure(load_robot("panda_hand")))
    mobility 8, 9 velocities less 1 rows; independent: panda_joint1, ..., panda_finger_joint1
    """
    return kept(tree, "constraint structure", lambda: _structure(tree))


@dataclass(frozen=True)
class ConfigurationSingularity:
    """The singularity of a closed configuration, if it has one; of a batch (...), arrays."""

    kind: Literal["regular", "dead centre", "bifurcation"] | Array
    mobility: int | Array  # how many velocities are independent here: more than elsewhere at a bifurcation
    stopped: tuple[str, ...] | Array
    """Velocities that are zero in every motion from here, and not elsewhere: those at their dead centre."""
    dependent: tuple[str, ...] | Array  # constraints of which rows depend on each other here, and not elsewhere

    __repr__ = brief


def configuration_singularity(tree: Tree, q: ArrayLike, t: float | None = None, *,
                              tolerance: float | None = None) -> ConfigurationSingularity:
    """The kind of configurations (..., nq): dead centres, where some joints cannot be moved, or bifurcations, where the
    constraints depend on each other and allow more motions than elsewhere; at the time `t` if one of them depends on
    it. `tolerance` is the part of an ordinary row, and of the largest velocity, that counts as zero: without it that of
    all functions, about 1e-7, below which nothing is left of a row in the equations of motion.

    >>> from cayley.model.catalogue import load_robot
    >>> engine = load_robot("slider_crank")  # crank and rod in a row
    >>> print(configuration_singularity(engine, [-np.pi / 2, np.arctan2(0.09, 0.4) + np.pi / 2, 0.1]))
    ConfigurationSingularity(kind='dead centre', mobility=1, stopped=('slider',), dependent=())
    """
    structure = constraint_structure(tree)
    at = np.asarray(q, dtype=float)
    if at.shape[-1:] != (tree.nq,):
        raise ConventionError(f"a configuration of {tree.name} must be (..., {tree.nq}), not {at.shape}")
    time = () if t is None else (t,)
    check_closed(tree, at, time, tolerance or CLOSED)
    A = structure.scaled(constraint_jacobian(tree, at, *time))
    if at.ndim == 1:
        return _special(tree, structure, A, tolerance)
    rows = A.reshape(int(np.prod(at.shape[:-1])), *A.shape[-2:])
    found = [_special(tree, structure, each, tolerance) for each in rows]
    fields = []
    for name, kind in (("kind", "U11"), ("mobility", int), ("stopped", object), ("dependent", object)):
        values = np.empty(len(found), dtype=kind)
        values[:] = [getattr(each, name) for each in found]
        fields.append(values.reshape(at.shape[:-1]))
    return ConfigurationSingularity(*fields)


def _special(tree: Tree, structure: ConstraintStructure, A: Array,
             tolerance: float | None) -> ConfigurationSingularity:
    rank = int(rank_of(A, tolerance))
    moving = moving_velocities(A, tolerance)
    stopped = tuple(name for name, here, there in zip(structure.velocities, moving, structure.moving, strict=True)
                    if there and not here)
    if rank < structure.rank:
        return ConfigurationSingularity("bifurcation", tree.nv - rank, stopped,
                                        dependent_constraints(structure, A, tolerance))
    return ConfigurationSingularity("dead centre" if stopped else "regular", tree.nv - rank, stopped, ())


def dependent_rows(A: Array, tolerance: float | None = None) -> Array:
    """Flags (h) of the rows of a matrix (h, n), about one long, that take part in a dependence among them."""
    left = null_basis(A.T, int(rank_of(A, tolerance)))
    return np.abs(left).max(axis=1, initial=0.0) > least_singular(A.shape[1])


def dependent_constraints(structure: ConstraintStructure, A: Array, tolerance: float | None = None) -> tuple[str, ...]:
    """The constraints that take part in a dependence of the rows A (h, nv) without units."""
    leading = list(structure.leading)
    taking = dependent_rows(A[leading], tolerance)
    return tuple(dict.fromkeys(structure.rows[k].constraint for k, part in zip(leading, taking, strict=True) if part))


def _structure(tree: Tree) -> ConstraintStructure:
    names = tuple(name for name, _ in velocity_labels(tree))
    if not tree.is_constrained:
        return ConstraintStructure((), names, 0, (), (), by_structure=True, used=(), independent=tuple(range(tree.nv)),
                                   moving=(True,) * tree.nv, sizes=(), lengths=(1.0,) * tree.nv)
    everywhere = [scaled_jacobian(tree, closure.configuration, *sample.time) for sample in closed_samples(tree)
                  for closure in sample.closures]
    found = generic_configurations(tree)
    rank = found[0].rank
    generic = [scaled(tree, each.A) for each in found]
    # one and its neighbours: where one is at a dead centre they are not, and joints may stand still on another piece
    piece = [A for A, each in zip(generic, found, strict=True) if each.piece == found[0].piece]
    by_structure = rank_of(np.concatenate(everywhere, axis=1)) == rank
    side_by_side = np.concatenate(generic, axis=1)
    leading = _chosen(side_by_side if by_structure else generic[0], rank, hold_positions(tree))
    dependent = np.any([dependent_rows(A) for A in generic], axis=0)
    followers = _followers(tree, generic[0][list(leading)], rank)
    independent = tuple(k for k in range(tree.nv) if k not in followers)
    return ConstraintStructure(row_names(tree), names, rank, leading, tuple((~dependent).tolist()), by_structure,
                               leading if by_structure else _telling(generic), independent,
                               tuple(np.any([moving_velocities(A) for A in piece], axis=0).tolist()),
                               _sizes(tree, generic), tuple(lengths(tree, length_unit(tree)).tolist()))


def _sizes(tree: Tree, generic: Sequence[Array]) -> tuple[float, ...]:
    """The lengths of rows at some configurations; of one that says nothing there, what it is measured in."""
    groups = [(row.constraint, "point" if row.holds in "xyz" else row.holds) for row in row_names(tree)]
    own = np.sqrt(np.mean([(A * A).sum(axis=-1) for A in generic], axis=0))
    longest = [max(own[[k for k, other in enumerate(groups) if other == group]]) for group in groups]
    return tuple((row_sizes(tree) * np.where(np.array(longest) > least_singular(tree.nv), longest, 1.0)).tolist())


def _telling(generic: Sequence[Array]) -> tuple[int, ...]:
    largest = np.max([np.abs(A).max(axis=1) for A in generic], axis=0)
    return tuple(np.flatnonzero(largest > least_singular(generic[0].shape[1])).tolist())


class GenericConfiguration(NamedTuple):
    """A closed configuration that has nothing special about it, the constraint Jacobian (h, nv) there and its rank."""

    q: Array
    A: Array
    rank: int
    time: tuple[float, ...]  # the time, if a constraint depends on it
    piece: int  # which of those it is a neighbour of


def generic_configurations(tree: Tree) -> list[GenericConfiguration]:
    """Some closed configurations that have nothing special about them."""
    if not tree.is_constrained:
        return [GenericConfiguration(tree.neutral, np.zeros((0, tree.nv)), 0, (), 0)]
    samples = closed_samples(tree)
    rank = tree.nv - mobility(tree)
    found = [GenericConfiguration(closure.configuration,
                                  constraint_jacobian(tree, closure.configuration, *sample.time), rank, sample.time,
                                  piece)
             for piece, sample in enumerate(samples) if tree.nv - sample.mobility == rank
             for closure in sample.closures]
    return [each for each in found if rank_of(scaled(tree, each.A)) == rank]


def _chosen(A: Array, rank: int, first: Array) -> tuple[int, ...]:
    """The places of rows that span all, the ones that are farthest from each other, in their order; among rows of which
    one is enough, those that come `first` (h) are taken."""
    enough = rank if first.all() else int(rank_of(A[first]))
    order, Q = _farthest(A[first], enough)
    left = A[~first] - A[~first] @ Q @ Q.T  # what the others say besides
    after, _ = _farthest(left, rank - enough)
    return tuple(sorted([*np.flatnonzero(first)[order].tolist(), *np.flatnonzero(~first)[after].tolist()]))


def _farthest(A: Array, count: int) -> tuple[Array, Array]:
    """The places of some rows (count), the ones that are farthest from each other, and a basis (n, count) of them."""
    from scipy.linalg import qr  # with pivots
    if not count:
        return np.zeros(0, dtype=int), np.zeros((A.shape[1], 0))
    Q, _, order = qr(A.T, pivoting=True)
    return order[:count], Q[:, :count]


def _followers(tree: Tree, A: Array, rank: int) -> Sequence[int]:
    """The last columns that span all, those of joints that are not actuated before any of actuated ones."""
    found: list[int] = []
    driven = set(tree.actuated_velocities)
    least = least_singular(A.shape[1])  # a column of rounding errors is none
    for column in sorted(reversed(range(A.shape[1])), key=driven.__contains__):
        if len(found) < rank and rank_of(A[:, [*found, column]], least) > len(found):
            found.append(column)
    return found


def mobility(tree: Tree) -> int:
    """The mobility; `UnreachableError` if no configuration was found in which the constraints are kept.

    >>> from cayley.model.catalogue import load_robot
    >>> mobility(load_robot("panda_hand"))
    8
    """
    if not tree.loops and not tree.constraints:
        return tree.nv - len(tree.mimic_joints)
    return kept(tree, "mobility", lambda: _mobility(tree))


def _mobility(tree: Tree) -> int:
    every = closed_samples(tree)
    samples = [sample for sample in every if not _is_folded(sample, every)]
    largest = max(sample.mobility for sample in samples)
    if all(sample.mobility == largest for sample in samples):
        return largest
    if _is_reference(tree, samples[0]):
        return samples[0].mobility
    left = left_by_rows(tree, samples)
    moved = _moved(tree, [sample for sample in samples if sample.mobility == largest])
    usual = _moved(tree, [sample for sample in samples if sample.mobility == left])
    stands_still = (usual <= moved).all() and (usual < moved).any()
    return left if 0 < left < largest and usual.any() and not stands_still else largest


def _is_folded(sample: ClosedSample, every: Sequence[ClosedSample]) -> bool:
    """True if axes of joints coincide that do not on another piece, which moves less freely."""
    return any(other.coincident < sample.coincident and 0 < other.mobility < sample.mobility for other in every)


def _is_reference(tree: Tree, sample: ClosedSample) -> bool:
    """True if a sample is the neutral configuration itself, where it can move and has nothing special."""
    closure = sample.closures[0]
    return bool(np.array_equal(closure.configuration, tree.neutral)) and closure.independent == sample.mobility > 0


def _moved(tree: Tree, samples: list[ClosedSample]) -> Array:
    """Flags (nv) of the velocities that some motion from one of the samples has, where it is not special."""
    found = [(scaled_jacobian(tree, closure.configuration, *sample.time), tree.nv - sample.mobility)
             for sample in samples for closure in sample.closures]
    usual = [moving_velocities(A) for A, rank in found if rank_of(A) == rank]
    return np.any([np.zeros(tree.nv, dtype=bool), *usual], axis=0)


def moving_velocities(A: Array, tolerance: float | None = None) -> Array:
    """Flags (n) of the velocities in motions with A qd = 0, of a matrix (h, n) whose rows are about one long."""
    sizes = np.abs(null_basis(A, tolerance=tolerance)).max(axis=1, initial=0.0)
    return sizes > (least_singular(A.shape[1]) if tolerance is None else tolerance) * sizes.max(initial=0.0)
