"""A network in time: its mechanism, its springs, and the circuit that drives it, as one system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.errors import ModelError
from cayley.machines.networks.circuit import Circuit
from cayley.machines.networks.circuits_in_time import driven
from cayley.machines.networks.instant import Instant
from cayley.machines.networks.line_spring import spring_wrenches, stretched
from cayley.machines.networks.network import Network
from cayley.machines.networks.open_equations import inverse_matrix
from cayley.machines.networks.recursion import outward
from cayley.systems.system import System


def network_system(network: Network, circuit: Circuit | None = None) -> System:
    """State q, qd and what the circuit stores; inputs `applied` (nv), forces of the connections of the tree, wrenches
    `wrench_<terminal>` (6) at the open terminals, and the sources of the circuit, whose joints are connections of the
    network by their names."""
    springs = NetworkSprings(network) if network.springs else None
    circuit = circuit or Circuit("nothing", ())
    closing = [loop.name for loop in network.layout.loops if loop.name in circuit.joints]
    if closing:
        raise ModelError(f"{circuit.name} cannot drive it: {closing[0]!r} of {network.name} closes a loop; list it "
                         "before the others of its loop, and it is a joint")
    return driven(circuit, network.tree(), springs, network.open)


@dataclass(frozen=True)
class NetworkSprings:
    """The springs of a network as forces of its joints, with their energy."""

    network: Network

    def forces(self, q: Array, qd: Array) -> Array:
        """N^T S^T y_G (nv): what wrenches at mass centres do at the joints."""
        instant, x_G = self._state(q, qd)
        N = self.network.spanning_tree.joint_map(q, qd).N
        return N.T @ (inverse_matrix(instant).T @ np.concatenate(spring_wrenches(self.network, instant, x_G)))

    def energy(self, q: Array, qd: Array) -> Scalar:
        return sum((each.energy for each in stretched(self.network, *self._state(q, qd))), 0.0)

    def power(self, q: Array, qd: Array) -> Scalar:
        """The rate of this energy."""
        return sum((each.power for each in stretched(self.network, *self._state(q, qd))), 0.0)

    def _state(self, q: Array, qd: Array) -> tuple[Instant, Sequence[Array]]:
        instant = self.network.spanning_tree.instant(q, qd)
        x = self.network.spanning_tree.joint_map(q, qd).N @ qd
        return instant, outward(instant, list(np.reshape(x, (-1, 6))), [np.zeros(6)] * instant.size).x
