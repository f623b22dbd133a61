"""The constraint space of a mechanism at a state: what its constraints leave free, and what follows from what.

    A qd = 0,   A qdd + drift = 0      A (r, nv) the rows that are used
    qd = N y                           N (nv, nv - rank) a basis of the free motions
    qd = N qd_c,  qdd = N qdd_c - G drift      all velocities by those of `chosen` joints, which the others follow
One rule decides what is singular, for all functions. Rows are measured in their sizes at ordinary configurations and
velocities in the size of the machine [m] or a radian:

    dependent constraints    the least singular value of A is not more than e = least_singular(nv): 8 sqrt(nv eps)
    joints do not follow     that of the columns of A of the joints that are not chosen is not more than e
    under-actuated           the rows of N of the actuated velocities have a lower rank than the mobility (Ruggiu 4.1)
Where singular, batches have NaN and a call for one state raises `SingularityError` with the reason. Kernels find the
singular value by inverse iteration with the factors that they have anyway, to a few per cent; numbers by an SVD."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.solving.definite import is_regular, only_where, others_follow
from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.solving.null_space import NullSpace, null_basis, null_space
from cayley.compiler.solving.rounding import Scale, least_singular, rank_of
from cayley.compiler.tracing.symbols import wrapped
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import SingularityError
from cayley.kinematics.constraints.rows import constraint_jacobian, jacobian, lost_directions
from cayley.kinematics.constraints.structure import (
    ConstraintStructure,
    constraint_structure,
    dependent_constraints,
    generic_configurations,
)
from cayley.kinematics.constraints.turned_loops import turned_loops
from cayley.model.tree import Tree


class Followers(NamedTuple):
    """The velocities of all joints as they follow those of chosen ones: N (nv, m) and G (nv, r), qdd = N qdd_c - G
    drift."""

    N: Array
    G: Array


@dataclass(frozen=True, eq=False)
class ConstraintSpace:
    """The rows A (r, nv) of the constraints at one state, of symbols or numbers; `rows` are their places among all."""

    structure: ConstraintStructure
    A: Array
    rows: Sequence[int]

    @classmethod
    def of(cls, tree: Tree, q: Array, *t: Scalar, turned: bool = False,
           structure: ConstraintStructure | None = None) -> ConstraintSpace:
        """The rows that are used at a configuration (nq), and at the time `t` if a constraint depends on it; along axes
        of legs if `turned`, which costs less where right-hand sides are none. The `structure` is that of the tree, or
        of another one with the same joints and constraints."""
        structure = structure or constraint_structure(tree)
        A = jacobian(tree, q, *t)
        for loop in turned_loops(tree, structure.used, q, np.zeros(tree.nv), by_legs=True) if turned else ():
            A[loop.rows] = loop.held.A
        return cls(structure, wrapped(A[list(structure.used)]), structure.used)

    @cached_property
    def scale(self) -> Scale:
        """Units of rows and velocities."""
        return self.structure.scale(self.rows)

    @cached_property
    def factors(self) -> NullSpace:
        """The free motions `basis`, the `shortest` correction, and whether the rows have their rank."""
        return null_space(self.A, self.structure.rank, self.scale)

    def followers(self, chosen: Sequence[int]) -> Followers:
        """N and G for the joints at the places `chosen`; NaN where the others do not follow them. Of more joints than
        the mobility they are those of least squares: velocities of the chosen joints that agree give their motion."""
        if not self._is_direct(chosen):
            return self._followers_by_basis(list(chosen))
        m = len(chosen)
        unit = np.eye(len(self.structure.velocities))[:, list(chosen)]
        both = self._across(chosen, np.concatenate([-self.A[:, list(chosen)], np.eye(len(self.A))], axis=1))
        return Followers(unit + both[:, :m], both[:, m:])

    def followed(self, chosen: Sequence[int], given: Array, right: Array) -> Array:
        """x (nv) with A x = right (r), of the chosen joints as `given` (m)."""
        if not self._is_direct(chosen):
            N, G = self.followers(chosen)
            return N @ given + G @ right
        own = np.eye(len(self.structure.velocities))[:, list(chosen)] @ given
        return own + self._across(chosen, (right - self.A[:, list(chosen)] @ given)[:, None])[:, 0]

    def _is_direct(self, chosen: Sequence[int]) -> bool:
        """True if the columns of the other joints are a square matrix."""
        return self.structure.by_structure and len(chosen) == self.structure.mobility

    def _across(self, chosen: Sequence[int], sides: Array) -> Array:
        """x (nv, k) with A x = sides (r, k), and zeros at the chosen joints."""
        n = len(self.structure.velocities)
        others = [k for k in range(n) if k not in chosen]
        own = wrapped(self.A[:, others])
        try:
            found = np.linalg.solve(own, sides) if others else np.zeros(sides.shape)
        except (np.linalg.LinAlgError, SingularityError):  # if elimination meets nothing but zeros
            found = np.full(sides.shape, np.nan)
        found = only_where(is_regular(own, Scale(self.scale.sizes, self.scale.lengths[others]), n), found)
        return np.concatenate([np.zeros((len(chosen), sides.shape[1])), found])[np.argsort([*chosen, *others])]

    def _followers_by_basis(self, chosen: list[int]) -> Followers:
        """The same by the free motions: of more joints, and of rows whose redundancy changes with the configuration."""
        basis = self.factors.basis
        own = basis[chosen]
        there = self.factors.is_full & others_follow(self.A, chosen, self.scale)
        N = np.linalg.solve(own.T, basis.T).T if len(own) == own.shape[1] else basis @ ldl_solve(own.T @ own, own.T)
        across = self.factors.pseudo_inverse
        return Followers(only_where(there, N), only_where(there, across - N @ across[chosen]))


def allowed_velocities(tree: Tree, q: ArrayLike, tolerance: float | None = None) -> Array:
    """Free motions N (..., nv, d) at configurations (..., nq), in the units of the mechanism, orthonormal without
    units. d is the largest number of them; a configuration with fewer has columns of zeros."""
    structure = constraint_structure(tree)
    A = structure.scaled(constraint_jacobian(tree, q))
    return np.array(structure.lengths)[:, None] * null_basis(A, tolerance=tolerance)


def held_velocities(tree: Tree, A: Array, tolerance: float | None = None) -> Array:
    """Free motions (..., nv, d) with the actuated joints fixed, by all rows A (..., h, nv) of a state."""
    structure = constraint_structure(tree)
    others = [k for k in range(tree.nv) if k not in tree.actuated_velocities]
    least = least_singular(tree.nv) if tolerance is None else tolerance
    unit = np.diag(structure.lengths)[:, others]
    return unit @ null_basis(structure.scaled(A)[..., others], tolerance=least)


def determines(structure: ConstraintStructure, A: Array, chosen: Sequence[int]) -> bool:
    """True if all velocities follow those at the places `chosen`, by all rows A (h, nv) of one state, of numbers."""
    others = [k for k in range(A.shape[-1]) if k not in chosen]
    return int(rank_of(structure.scaled(A)[:, others], least_singular(A.shape[-1]))) == len(others)


def free_with_held(tree: Tree, structure: ConstraintStructure, A: Array) -> tuple[int, tuple[str, ...]]:
    """The number of motions that the drives command at one state with the rows A (h, nv), and the velocities that can
    move while all drives are fixed."""
    held = held_velocities(tree, A) / np.array(structure.lengths)[:, None]
    sizes = np.abs(held).max(axis=1, initial=0.0)
    moving = sizes > least_singular(tree.nv) * sizes.max(initial=0.0)
    return structure.mobility - held.shape[1], tuple(np.array(structure.velocities)[moving].tolist())


def check_rank(tree: Tree, structure: ConstraintStructure, q: ArrayLike, A: Array, consequence: str) -> None:
    """Raise `SingularityError` if constraints have no directions, or depend on each other, by the rows A (h, nv) of one
    configuration (nq)."""
    lost = dict.fromkeys(row.constraint for row, entries in zip(structure.rows, A, strict=True)
                         if not np.isfinite(entries).all())
    if lost:
        reason = lost_directions(tree, np.asarray(q, dtype=float))
        raise SingularityError(reason or f"the constraints {', '.join(map(repr, lost))} of {tree.name} have no "
                               "directions at this configuration")
    scaled = structure.scaled(A)
    if rank_of(scaled) >= structure.rank:
        return
    names = dependent_constraints(structure, scaled)
    raise SingularityError(
        f"the constraints {', '.join(map(repr, names))} of {tree.name} depend on each other at this configuration (a "
        f"dead centre): {consequence}")


_LISTED = 6  # more joints than these are counted in the words


@dataclass(frozen=True)
class Actuation:
    """The actuation of a mechanism: how many of its free motions the drives command."""

    kind: Literal["fully actuated", "redundantly actuated", "under-actuated"]
    joints: tuple[str, ...]  # the actuated joints
    actuators: int  # how many velocities they have
    mobility: int
    rank: int  # how many motions the drives command: the mobility, unless it is under-actuated
    undriven: tuple[str, ...]  # the velocities that are left some motion while all drives stand still

    @property
    def surplus(self) -> int:
        """The number of forces of the drives that are free to choose: they do nothing to the motion."""
        return self.actuators - self.rank

    def __str__(self) -> str:
        spare = f", {self.surplus} of {self.actuators} forces free to choose" if self.surplus else ""
        left = f", not driven: {', '.join(self.undriven)}" if self.undriven else ""
        drives = ", ".join(self.joints) or "no joint" if len(self.joints) <= _LISTED else f"{len(self.joints)} joints"
        return f"{self.kind} by {drives}{spare}{left}"


def actuation(tree: Tree) -> Actuation:
    """The actuation, found once for a mechanism; `UnreachableError` if its constraints can not be kept.

    >>> from cayley.model.catalogue import load_robot
    >>> print(actuation(load_robot("four_bar").with_actuated("crank", "rocker")))
    redundantly actuated by crank, rocker, 1 of 2 forces free to choose
    """
    return kept(tree, "actuation", lambda: _actuation(tree))


def _actuation(tree: Tree) -> Actuation:
    structure = constraint_structure(tree)
    places = tree.actuated_velocities
    rank, undriven = max((free_with_held(tree, structure, each.A) for each in generic_configurations(tree)),
                         key=lambda found: found[0])
    kind: Literal["fully actuated", "redundantly actuated", "under-actuated"] = (
        "under-actuated" if rank < structure.mobility else
        "redundantly actuated" if rank < len(places) else "fully actuated")
    return Actuation(kind, tree.actuated_joints, len(places), structure.mobility, rank, undriven)
