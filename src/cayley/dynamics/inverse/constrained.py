"""Inverse dynamics of mechanisms with constraints: loops, rods, couplings and mimic joints.

Drives and constraints share what the joints of the spanning tree would need for a motion; passive joints give nothing.
For accelerations that the constraints do not allow, the forces are those of the nearest allowed accelerations in the
metric of the mass matrix (Gauss), for forces of constraints do nothing to N^T (M qdd + bias).

    tau + A^T lam = b        b (n) what the motion needs without constraints,   tau = 0 where there is no drive
Motions that the constraints allow, qd = N y with A N = 0, feel of this N_a^T tau_a = N^T b alone, N_a being the rows of
N of the velocities with a drive.

    fully actuated          A_p, the columns of A without drives, is square:  A_p^T lam = b_p,  tau_a = b_a - A_a^T lam
    redundantly actuated    the tau_a for which the sum of weights tau_a^2 is smallest
    under-actuated          the same, where b is such that there is one: NaN elsewhere
NaN as well where the drives do not command all that they do elsewhere (a singularity of the drives), or the constraints
depend on each other. Source: Nakamura & Ghodoussi, Dynamics computation of closed-link robot mechanisms with
nonredundant and redundant actuators, 1989."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.solving.definite import is_regular, only_where, others_follow
from cayley.compiler.solving.null_space import null_space
from cayley.compiler.solving.rounding import Scale
from cayley.compiler.tracing.symbols import wrapped
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ConventionError, SingularityError
from cayley.kinematics.constraints import rows as constraints
from cayley.kinematics.constraints.closure_checks import check_closed_alone, is_closed_alone
from cayley.kinematics.constraints.space import Actuation, ConstraintSpace, actuation, check_rank, free_with_held
from cayley.kinematics.constraints.structure import ConstraintStructure, constraint_structure
from cayley.model.tree import Tree


@dataclass(frozen=True, eq=False)
class Drives:
    """The drives of a mechanism, and of others of its structure: they share a motion's forces with its constraints."""

    structure: ConstraintStructure
    actuation: Actuation
    weights: tuple[float, ...] | None = None

    @property
    def rows(self) -> list[int]:
        """The rows of the constraints that say all."""
        return list(self.structure.used)

    def forces(self, tree: Tree, q: Array, needed: Array, *t: Scalar, turned: bool = True) -> DrivingForces:
        """The forces of the drives (nv) and of the constraints (their `rows`) that do what the spanning tree would need
        (nv), at the time `t` if one depends on it; the latter along axes of legs if `turned`, which costs less."""
        space = ConstraintSpace.of(tree, q, *t, turned=turned, structure=self.structure)
        places = tree.actuated_velocities
        if self.structure.by_structure and self.actuation.kind == "fully actuated":
            return of_as_many_drives(needed, space.A, places, space.scale)
        return of_any_drives(needed, space.A, places, rank=self.structure.rank, commanded=self.actuation.rank,
                             weights=self.weights, scale=space.scale)

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
    """The drives of a mechanism with constraints, found once."""
    return kept(tree, "drives", lambda: Drives(constraint_structure(tree), actuation(tree)))


def explanation_of_drives(tree: Tree, drives: Drives) -> Callable[..., None]:
    """A function of a state without an answer that raises `SingularityError` with the reason."""
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
                f"{tree.name} is under-actuated by {names_of_drives}: nothing drives {names}, and they do not follow "
                f"this motion freely. Name more joints with `with_actuated(...)`, or take accelerations from "
                "`forward_dynamics`")

    return explain


_LOOSE = 2.0**22  # units of rounding: forces that differ by no more are the same


class DrivingForces(NamedTuple):
    """Forces `tau` (n), zero where there is no drive, and of the constraints `lam` (h)."""

    tau: Array
    lam: Array


def of_as_many_drives(b: Array, A: Array, actuated: Sequence[int], scale: Scale | None = None) -> DrivingForces:
    """For A (h, n) of h independent rows, and n - h drives, by their places. The `scale` is what rows and velocities
    are measured in.

    >>> of_as_many_drives(np.array([3.0, 4.0]), np.array([[1.0, -1.0]]), [0])
    DrivingForces(tau=array([7., 0.]), lam=array([-4.]))
    """
    passive = [k for k in range(len(b)) if k not in actuated]
    sizes, lengths = scale or Scale(np.ones(len(A)), np.ones(len(b)))
    own = wrapped(wrapped(A)[:, passive].T)
    there = is_regular(own, Scale(1 / lengths[passive], 1 / sizes), len(b))
    try:
        lam = np.linalg.solve(own, b[passive]) if passive else np.zeros(0)
    except (np.linalg.LinAlgError, SingularityError):  # of numbers, if elimination meets nothing but zeros
        lam = np.full(len(passive), np.nan)
    driven = b - A.T @ lam
    tau = [driven[k] if k in actuated else 0.0 for k in range(len(b))]
    return DrivingForces(only_where(there, np.array(tau)), only_where(there, lam))


def of_any_drives(b: Array, A: Array, actuated: Sequence[int], *, rank: int, commanded: int,
                  weights: Sequence[float] | None = None, scale: Scale | None = None) -> DrivingForces:
    """For A (h, n) of a known rank, drives that command a number of the n - rank motions, and `weights` of the drives.

    >>> of_any_drives(np.array([3.0, 4.0]), np.array([[1.0, -1.0]]), [0, 1], rank=1, commanded=1)
    DrivingForces(tau=array([3.5, 3.5]), lam=array([-0.5]))
    """
    factors = null_space(wrapped(A), rank, scale)
    N = factors.basis
    easy = np.ones(len(actuated)) if weights is None else 1 / np.sqrt(np.asarray(weights, dtype=float))
    commands = wrapped(N)[list(actuated)].T * easy
    drives = null_space(commands, commanded)
    wanted = N.T @ b
    given = drives.shortest(wanted)
    there = factors.is_full & others_follow(A, actuated, scale, free=N.shape[1] - commanded)
    if commanded < N.shape[1]:
        size = np.sum(np.abs(wanted)) + np.sum(np.abs(b))
        missing = np.sum(np.abs(wanted - commands @ given))
        there = there & ~(size + missing / _LOOSE > size)
    places = dict(zip(actuated, easy * given, strict=True))
    tau = [places.get(k, 0.0) for k in range(len(b))]
    found = only_where(there, np.array(tau))
    return DrivingForces(found, only_where(there, factors.coefficients(b - found)))
