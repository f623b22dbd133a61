"""Whether what is put into a network at its ports is what it stores: the balance of power.

    sum y.x over the ports = d/dt (T + V),   T' = m v.v' + w.J w',   V' = -m g.v        at the mass centre
What is stored comes from the masses and the motion alone, not from the operators that the audit is to try.
Source: Tokad (1), (3), (20).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.machines.networks.rigid_body import TerminalEquations, TurningMass
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


def power_stored(body: TurningMass, x: Array, xd: Array) -> Scalar:
    """The rate of the energy of a body, kinetic and potential, from the motion of its mass centre."""
    return body.mass * (x[:3] @ (xd[:3] - body.gravity)) + x[3:] @ (body.J @ xd[3:])


def body_balance(body: TerminalEquations, x: Array, xd: Array, y: dict[str, Array]) -> PowerBalance:
    """Of one body, from the across variable of its form's port and the wrenches at the others."""
    x, xd = np.asarray(x), np.asarray(xd)
    own = body.through(x, xd, y)
    received = power_received([x, *[body.across(port, x) for port in y]], [own, *y.values()])
    w, r = x[3:], body.arms["G"]
    v = x[:3] + np.cross(w, r)
    a = xd[:3] + np.cross(xd[3:], r) + np.cross(w, np.cross(w, r))
    stored = power_stored(body.mass, np.concatenate([v, w]), np.concatenate([a, xd[3:]]))
    return PowerBalance(received, stored)


def is_passive(P: Array, Q: Array, P_rate: Array, *, tolerance: float = 1e-12) -> bool:
    """Whether an operator P d/dt + Q stores no more power than it takes, x.W x >= d/dt (x.P x)/2: P is positive
    semidefinite and Q + Q^T - P' has no negative part (it is zero for bodies)."""
    size = max(float(np.abs(P).max()), float(np.abs(P_rate).max()), 1e-300)
    least = np.linalg.eigvalsh((P + P.T) / 2).min()
    lost = np.linalg.eigvalsh(Q + Q.T - P_rate).min()
    return bool(least >= -tolerance * size and lost >= -tolerance * size and np.abs(P - P.T).max() <= tolerance * size)
