"""Inverse dynamics of mechanisms with constraints: loops, rods, couplings and mimic joints.

What the joints of the spanning tree would need for a motion is shared by the drives and the constraints
(`cayley.dynamics.mechanics.driving_forces`): passive joints give nothing. The forces are unique if the mechanism is
fully actuated, and those of least norm if it is redundantly actuated. Accelerations that the constraints do not allow
are not reached: the forces are then those of the allowed accelerations that are nearest, in the metric of the mass
matrix (Gauss), for forces of constraints do nothing to N^T (M qdd + bias).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.tracing.symbols import wrapped
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.dynamics.mechanics.driving_forces import DrivingForces, of_any_drives, of_as_many_drives
from cayley.errors import ConventionError, SingularityError
from cayley.kinematics.constraints import rows as constraints
from cayley.kinematics.constraints.actuation import Actuation, actuation
from cayley.kinematics.constraints.closed_states import check_closed_alone, is_closed_alone
from cayley.kinematics.constraints.space import check_rank, free_with_held
from cayley.kinematics.constraints.structure import ConstraintStructure, constraint_structure
from cayley.kinematics.constraints.turned_loops import turned_loops
from cayley.model.tree import Tree


@dataclass(frozen=True, eq=False)
class Drives:
    """How the drives of a mechanism, and of others of its structure, share what a motion needs with its constraints."""

    structure: ConstraintStructure
    actuation: Actuation
    weights: tuple[float, ...] | None = None

    @property
    def rows(self) -> list[int]:
        """The rows of the constraints that say all."""
        return list(self.structure.used)

    def forces(self, tree: Tree, q: Array, needed: Array, *t: Scalar, turned: bool = True) -> DrivingForces:
        """Of what the spanning tree would need (nv), what the drives give (nv), and the constraints (their `rows`), at
        the time `t` if one depends on it; the latter along axes of shared bodies if `turned`, which costs less."""
        A = constraints.jacobian(tree, q, *t)
        for loop in turned_loops(tree, self.rows, q, np.zeros(tree.nv)) if turned else ():
            A[loop.rows] = loop.held.A
        places = tree.actuated_velocities
        if self.structure.by_structure and self.actuation.kind == "fully actuated":
            return of_as_many_drives(needed, wrapped(A)[self.rows], places, self.structure.scale(self.rows))
        return of_any_drives(needed, wrapped(A)[self.rows], places, rank=self.structure.rank,
                             commanded=self.actuation.rank, weights=self.weights,
                             scale=self.structure.scale(self.rows))

    @staticmethod
    def alone(tree: Tree) -> Callable[..., Scalar]:
        """The condition on a single state: that it is closed."""
        return is_closed_alone(tree)

    def weighted(self, tree: Tree, weights: dict[str, float]) -> Drives:
        """The same with weights of some of the joints; those of the others are one."""
        for name, weight in weights.items():
            if name not in tree.actuated_joints:
                raise ConventionError(f"joint {name!r} of {tree.name} is not actuated: its force has no weight")
            if not 0 < weight < np.inf:
                raise ConventionError(f"the weight of joint {name!r} is {weight}: it must be positive and finite")
        places = zip(tree.joints, tree.v_slices, strict=True)
        of_velocity = {k: weights.get(joint.name, 1.0) for joint, own in places for k in range(own.start, own.stop)}
        return replace(self, weights=tuple(of_velocity[k] for k in tree.actuated_velocities))


def drives_of(tree: Tree) -> Drives:
    """Those of a mechanism with constraints, found once."""
    return kept(tree, "drives", lambda: Drives(constraint_structure(tree), actuation(tree)))


def explanation_of_drives(tree: Tree, drives: Drives) -> Callable[..., None]:
    """What raises `SingularityError` with the reason, called with the arguments of a state that has no answer."""
    structure = drives.structure

    def explain(q: ArrayLike, qd: ArrayLike, *others: Array) -> None:
        check_closed_alone(tree, q, *others)
        time = others[-1:] if tree.is_timed else ()
        A = np.asarray(constraints.jacobian(tree, np.asarray(q, dtype=float), *time), dtype=float)
        if not all(np.isfinite(given).all() for given in (q, qd, *others)):
            return
        check_rank(tree, structure, q, A, "forces of the drives do not follow from a motion there")
        commanded, moving = free_with_held(tree, structure, A)
        names = ", ".join(moving)
        names_of_drives = ", ".join(tree.actuated_joints) or "no joint"
        if commanded < drives.actuation.rank:
            raise SingularityError(
                f"the drives of {tree.name} ({names_of_drives}) do not command {names} at this configuration (a dead "
                "centre of the drives): their forces do not follow from a motion there")
        if commanded < structure.mobility:
            raise SingularityError(
                f"{tree.name} is under-actuated by {names_of_drives}: nothing drives {names}, and this motion is none "
                "that they take by themselves. Name more joints with `with_actuated(...)`, or take accelerations from "
                "`forward_dynamics`")

    return explain
