"""The terminal equations of an open network, assembled from bodies in other forms than that about the mass centre.

    x = K_f x_f,   W_f x_f = K_f^T y + K_f'^T y_e - u_f        x_f the across variables of the ports of the forms
In form B of all bodies the diagonal of K_f is the identity, and in every mix the equations that are left when x_f is
eliminated are (20). Source: Tokad (5)-(7), 2.

Whether what is put into a network at its ports is what it stores: the balance of power.

    sum y.x over the ports = d/dt (T + V),   T' = m v.v' + w.J w',   V' = -m g.v        at the mass centre
What is stored comes from the masses and the motion alone, not from the operators that the audit is to try.
Source: Tokad (1), (3), (20).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.errors import ModelError
from cayley.machines.networks.given_arrays import Operator
from cayley.machines.networks.hybrid_solve import OpenEquations
from cayley.machines.networks.instant import Arm, Instant
from cayley.machines.networks.rigid_body import TerminalEquations, TurningMass, port_matrix, port_matrix_rate
from cayley.showing import shown_briefly

_ZERO = np.zeros((6, 6))


def equations_in_forms(network: Instant, forms: Sequence[str]) -> OpenEquations:
    """The terminal equations of a network whose body j is written in `forms[j]`: "G" about its mass centre, "B" about
    its inner terminal, "A" about the outer one that carries the next body, or is open."""
    if len(forms) != network.size:
        raise ModelError(f"{network.size} bodies need as many forms, not {len(forms)}")
    bodies = [_in_form(network, j, form) for j, form in enumerate(forms)]
    S, Sd = _inverse(network, bodies)
    P, Q = (_diagonal([getattr(body.W, part) for body in bodies]) for part in ("P", "Q"))
    tip = [_port(bodies[terminal.body], f"T{e}")[0] @ S[6 * terminal.body:6 * terminal.body + 6]
           for e, terminal in enumerate(network.open)]
    u = np.concatenate([body.u for body in bodies])
    to_centres = _diagonal([body.K("G").T for body in bodies])
    return OpenEquations(Operator(P, Q).through(S, Sd), to_centres @ S,
                         np.concatenate(tip) if tip else np.zeros((0, 6 * network.size)), S.T @ u)


def _in_form(network: Instant, j: int, form: str) -> TerminalEquations:
    """The terminal equations of one body, with its ports by the names that the network has for them."""
    outer = [(f"A{k}", arm) for k, arm in enumerate(network.carrying) if network.parents[k] == j]
    outer += [(f"T{e}", terminal.arm) for e, terminal in enumerate(network.open) if terminal.body == j]
    arms = {"B": network.inner[j], "G": Arm(np.zeros(3), np.zeros(3)), **dict(outer)}
    about_centre = TerminalEquations("G", {port: arm.r for port, arm in arms.items()},
                                     {port: arm.rate for port, arm in arms.items()},
                                     network.mass(j).active, network.mass(j))
    if form == "A" and not outer:
        raise ModelError(f"body {j + 1} has no outer terminal: it can be written in the forms G and B")
    if form not in ("A", "B", "G"):
        raise ModelError(f"the form of body {j + 1} is {form!r}: the forms are G, B and A")
    return about_centre.in_form(outer[0][0] if form == "A" else form)


def _inverse(network: Instant, bodies: Sequence[TerminalEquations]) -> tuple[Array, Array]:
    """S_f (6m, 6m), from x to x_f, and its rate: from body to body, x_b = x_a + x_j."""
    size = 6 * network.size
    rows: list[Array] = []
    rates: list[Array] = []
    for j, parent in enumerate(network.parents):
        own = np.zeros((6, size))
        own[:, 6 * j:6 * j + 6] = np.eye(6)
        own_rate = np.zeros((6, size))
        if parent >= 0:
            T, Td = _port(bodies[parent], f"A{j}")
            own = own + T @ rows[parent]
            own_rate = Td @ rows[parent] + T @ rates[parent]
        T, Td = _back(bodies[j], "B")
        rows.append(T @ own)
        rates.append(Td @ own + T @ own_rate)
    return np.concatenate(rows), np.concatenate(rates)


def _port(body: TerminalEquations, port: str) -> tuple[Array, Array]:
    """From the across variable of the form to that of a port, and the rate of this matrix."""
    return port_matrix(body.arms[port]).T, port_matrix_rate(body.rates[port]).T


def _back(body: TerminalEquations, port: str) -> tuple[Array, Array]:
    """From the across variable of a port to that of the form, and the rate of this matrix."""
    return port_matrix(-body.arms[port]).T, port_matrix_rate(-body.rates[port]).T


def _diagonal(blocks: Sequence[Array]) -> Array:
    return np.block([[own if j == k else _ZERO for k in range(len(blocks))] for j, own in enumerate(blocks)])


@shown_briefly
class PowerBalance(NamedTuple):
    """The powers [W] received at the ports and stored, and their difference."""

    received: Scalar
    stored: Scalar

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
    """True if an operator P d/dt + Q stores no more power than it takes, x.W x >= d/dt (x.P x)/2: P is positive
    semidefinite and Q + Q^T - P' has no negative part (it is zero for bodies)."""
    size = max(float(np.abs(P).max()), float(np.abs(P_rate).max()), 1e-300)
    least = np.linalg.eigvalsh((P + P.T) / 2).min()
    lost = np.linalg.eigvalsh(Q + Q.T - P_rate).min()
    return bool(least >= -tolerance * size and lost >= -tolerance * size and np.abs(P - P.T).max() <= tolerance * size)
