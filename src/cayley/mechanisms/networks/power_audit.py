"""Whether what is put into a network at its ports is what it stores: the balance of power.

    sum y.x over the ports = d/dt (T + V),   T' = x_G.(P_G x_G' + Q_G x_G),   V' = u_G.x_G
The identity P_G' = Q_G + Q_G^T makes T' what it is: the operator itself tells how much an active part takes.
Source: Tokad (1), (3), (20).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.mechanisms.networks.rigid_body import ActivePart, TerminalEquations
from cayley.showing import brief


class PowerBalance(NamedTuple):
    """What is received at the ports and what is stored, both in W, and by how much they differ."""

    received: Scalar
    stored: Scalar

    def __repr__(self) -> str:
        return brief(self)

    @property
    def residual(self) -> Scalar:
        return self.received - self.stored

    def __add__(self, other: object) -> PowerBalance:
        if not isinstance(other, PowerBalance):
            return NotImplemented
        return PowerBalance(self.received + other.received, self.stored + other.stored)


def power_received(across: Iterable[Array], through: Iterable[Array]) -> Scalar:
    """The sum of x.y over ports."""
    return sum((x @ y for x, y in zip(across, through, strict=True)), 0.0)


def power_stored(active: ActivePart, x: Array, xd: Array) -> Scalar:
    """The rate of the energy of an active part, kinetic and potential."""
    return x @ (active.W(x, xd) + active.u)


def body_balance(body: TerminalEquations, x: Array, xd: Array, y: dict[str, Array]) -> PowerBalance:
    """Of one body, from the across variable of its form's port and the wrenches at the others."""
    own = body.through(x, xd, y)
    received = power_received([x, *[body.across(port, x) for port in y]], [own, *y.values()])
    return PowerBalance(received, power_stored(body.active, x, xd))


def is_passive(P: Array, Q: Array, P_rate: Array, *, tolerance: float = 1e-12) -> bool:
    """Whether an operator P d/dt + Q stores no more power than it takes, x.W x >= d/dt (x.P x)/2: P is positive
    semidefinite and Q + Q^T - P' has no negative part (it is zero for bodies)."""
    size = max(float(np.abs(P).max()), float(np.abs(P_rate).max()), 1e-300)
    least = np.linalg.eigvalsh((P + P.T) / 2).min()
    lost = np.linalg.eigvalsh(Q + Q.T - P_rate).min()
    return bool(least >= -tolerance * size and lost >= -tolerance * size and np.abs(P - P.T).max() <= tolerance * size)
