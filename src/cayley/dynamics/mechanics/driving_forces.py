"""The forces of drives that give a motion under constraints.

    tau + A^T lam = b        b (n) what the motion needs without constraints,   tau = 0 where there is no drive
Motions that the constraints allow, qd = N y with A N = 0, feel of this N_a^T tau_a = N^T b alone, N_a being the rows of
N of the velocities with a drive.

    fully actuated          A_p, the columns of A without drives, is square:  A_p^T lam = b_p,  tau_a = b_a - A_a^T lam
    redundantly actuated    the tau_a for which the sum of weights tau_a^2 is smallest
    under-actuated          the same, where b is such that there is one: NaN elsewhere
NaN as well where the drives do not command all that they do elsewhere (a singularity of the drives), or the constraints
depend on each other. Source: Nakamura & Ghodoussi, Dynamics computation of closed-link robot mechanisms with
nonredundant and redundant actuators, 1989.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cayley.compiler.solving.definite import is_regular, only_where
from cayley.compiler.solving.null_space import null_space
from cayley.compiler.solving.rounding import Scale
from cayley.compiler.tracing.symbols import wrapped
from cayley.compiler.typing import Array
from cayley.errors import SingularityError

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
    there = is_regular(own, 1 / lengths[passive], 1 / sizes, len(b))
    try:
        lam = np.linalg.solve(own, b[passive]) if passive else np.zeros(0)
    except (np.linalg.LinAlgError, SingularityError):  # of numbers, if elimination meets nothing but zeros
        lam = np.full(len(passive), np.nan)
    driven = b - A.T @ lam
    tau = [driven[k] if k in actuated else 0.0 for k in range(len(b))]
    return DrivingForces(only_where(there, np.array(tau)), only_where(there, lam))


def of_any_drives(b: Array, A: Array, actuated: Sequence[int], *, rank: int, commanded: int,
                  weights: Sequence[float] | None = None, scale: Scale | None = None) -> DrivingForces:
    """For A (h, n) of a known rank, and drives that command so many of the n - rank motions; `weights` of the drives.

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
    own = commands if scale is None else commands / (easy * scale.lengths[list(actuated)])
    there = factors.is_full & null_space(own, commanded, size=1.0, columns=len(b)).is_full
    if commanded < N.shape[1]:
        size = np.sum(np.abs(wanted)) + np.sum(np.abs(b))
        missing = np.sum(np.abs(wanted - commands @ given))
        there = there & ~(size + missing / _LOOSE > size)
    places = dict(zip(actuated, easy * given, strict=True))
    tau = [places.get(k, 0.0) for k in range(len(b))]
    found = only_where(there, np.array(tau))
    return DrivingForces(found, only_where(there, factors.coefficients(b - found)))
