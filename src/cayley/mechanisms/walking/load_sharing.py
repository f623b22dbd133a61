"""How two feet share a load: relations that a walker in double support needs besides its equations.

Each is a function of the time and of q and qd that gives a row (9) over (thetadd, u1, u2, q1, q2, R1x, R1z, R2x, R2z)
and its value. The angular acceleration of the trunk and the share of the vertical load are tied by the moments: one of
them may be given, and a horizontal force besides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.errors import ModelError

Relation: TypeAlias = Callable[[Scalar, Array, Array], tuple[Array, Scalar]]
UNKNOWNS = ("thetadd", "u1", "u2", "q1", "q2", "R1x", "R1z", "R2x", "R2z")


def upright_trunk(angle: float = 0.0, stiffness: float = 400.0, damping: float = 40.0) -> Relation:
    """The trunk is led back to an angle [rad]: thetadd = stiffness (angle - theta) - damping thetad."""
    if not np.isfinite([angle, stiffness, damping]).all() or stiffness < 0 or damping < 0:
        raise ModelError(f"a trunk is led to a finite angle by a stiffness and a damping that are not negative, not by "
                         f"{stiffness} and {damping} to {angle}")
    return lambda t, q, qd: (_row(thetadd=1.0), stiffness * (angle - q[2]) - damping * qd[2])


def shared_load(share: Callable[[Scalar], Scalar] | float) -> Relation:
    """The first foot bears this share of the vertical load, which may be a function of the time."""
    def relation(t: Scalar, q: Array, qd: Array) -> tuple[Array, Scalar]:
        part = share(t) if callable(share) else share
        return _row(R1z=1.0 - part, R2z=-part), 0.0

    return relation


def shared_thrust(share: Callable[[Scalar], Scalar] | float) -> Relation:
    """The first foot bears this share of the horizontal force, which may be a function of the time."""
    def relation(t: Scalar, q: Array, qd: Array) -> tuple[Array, Scalar]:
        part = share(t) if callable(share) else share
        return _row(R1x=1.0 - part, R2x=-part), 0.0

    return relation


def _row(**entries: Scalar) -> Array:
    return np.stack([entries.get(name, 0.0) for name in UNKNOWNS])
