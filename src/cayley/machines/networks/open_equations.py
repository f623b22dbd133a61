"""The terminal equations of an open network of m bodies as one component: a port a joint, and the open terminals; with
the mass centres kept, m ports more.

    x (6m) across the joints, x_e (6 each) of the open terminals;   y (6m) wrenches on the bodies at inner terminals
    x = K x_G,   x_e = K' x_G,   W_G x_G = K^T y + K'^T y_e + y_G - u_G                                  (17), (18)
    y = S^T W_G S x - (K' S)^T y_e + S^T u_G - S^T y_G,   x_e = K' S x,   x_G = S x                      (20), (21)
    S = K^-1:  S_pq = [E  X; 0  E],  X = [vector from B_q to G_p x]^T,  q on the way to p                (19), (27)
    W = P d/dt + Q = S^T W_G S,   P = S^T P_G S,   Q = S^T (Q_G S + P_G S');   P' = Q + Q^T              (22)-(24)
y_e acts on the network at its open terminals, y_G at the mass centres.
Source: Tokad (10)-(24), for chains, corrected as in spec E4-03 to E4-06, E4-09, E4-21.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.machines.networks.given_arrays import Operator
from cayley.machines.networks.instant import Arm, Instant
from cayley.machines.networks.rigid_body import port_matrix, port_matrix_rate

_ZERO = np.zeros((6, 6))


class OpenEquations(NamedTuple):
    """y = W x - tip^T y_e + u - S^T y_G,  x_e = tip x,  x_G = S x, with S (6m, 6m), tip = K' S (6e, 6m), u (6m)."""

    W: Operator
    S: Array
    tip: Array
    u: Array

    def wrenches(self, x: Array, xd: Array, loads: Array, loads_at_centres: Array | None = None) -> Array:
        """y (6m), of the motion of the joints, the wrenches y_e (6e) and those at the mass centres (6m)."""
        y = self.W(x, xd) - self.tip.T @ loads + self.u
        return y if loads_at_centres is None else y - self.S.T @ loads_at_centres


def open_equations(network: Instant) -> OpenEquations:
    """The terminal equations in closed form."""
    S = inverse_matrix(network)
    W = centre_operator(network).through(S, inverse_matrix_rate(network))
    return OpenEquations(W, S, tip_matrix(network) @ S, S.T @ weights(network))


def joint_matrix(network: Instant) -> Array:
    """K (6m, 6m): x = K x_G; of two diagonals for a chain. (10)-(14)."""
    blocks = [[_ZERO] * network.size for _ in range(network.size)]
    for j, parent in enumerate(network.parents):
        blocks[j][j] = port_matrix(network.inner[j].r).T
        if parent >= 0:
            blocks[j][parent] = -port_matrix(network.carrying[j].r).T
    return np.block(blocks)


def tip_matrix(network: Instant) -> Array:
    """K' (6e, 6m): x_e = K' x_G. (16)."""
    blocks = [[_ZERO] * network.size for _ in network.open]
    for row, terminal in zip(blocks, network.open, strict=True):
        row[terminal.body] = port_matrix(terminal.arm.r).T
    return np.block(blocks) if blocks else np.zeros((0, 6 * network.size))


def inverse_matrix(network: Instant) -> Array:
    """S = K^-1 (6m, 6m), lower triangular in blocks. (19), (27)."""
    return _on_the_way(network, lambda arm: port_matrix(arm.r).T)


def inverse_matrix_rate(network: Instant) -> Array:
    """S' (6m, 6m)."""
    return _on_the_way(network, lambda arm: port_matrix_rate(arm.rate).T)


def centre_operator(network: Instant) -> Operator:
    """W_G of all bodies (6m, 6m)."""
    each = [network.W(j) for j in range(network.size)]
    return Operator(_diagonal([W.P for W in each]), _diagonal([W.Q for W in each]))


def weights(network: Instant) -> Array:
    """u_G (6m)."""
    return np.concatenate([network.u(j) for j in range(network.size)])


def _on_the_way(network: Instant, block: Callable[[Arm], Array]) -> Array:
    blocks = [[_ZERO] * network.size for _ in range(network.size)]
    for p in range(network.size):
        for q in network.path(p):
            blocks[p][q] = block(network.arm(q, p))
    return np.block(blocks)


def _diagonal(blocks: list[Array]) -> Array:
    return np.block([[own if j == k else _ZERO for k in range(len(blocks))] for j, own in enumerate(blocks)])
