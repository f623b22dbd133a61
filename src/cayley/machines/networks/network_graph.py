"""The system graph of a network of any shape, with a driver at each connection, mass centre and open terminal.

Every terminal of a body is an edge to the reference, its inertia and weight another one beside its mass centre; a
connection is an edge from its second terminal to the first, and so is a spring. Whether all six components of the
motion of a connection are given or its wrench is, the graph tells what can be solved for: `formulation` finds the tree,
`circuit_matrix` of the graph the circuits and cut-sets. Source: Tokad 4.
"""

from __future__ import annotations

from collections.abc import Collection

from cayley.machines.networks.formulation_tree import check_drivers
from cayley.machines.networks.network import Network
from cayley.machines.networks.system_graph import REFERENCE, Edge, EdgeKind, SystemGraph


def network_graph(network: Network, across: Collection[str] = ()) -> SystemGraph:
    """The graph of a network. Drivers are called as the connections, and "at body.port" at mass centres and open
    terminals; those named `across` give motions, the others wrenches."""
    terminals = [Edge(f"{body.name}.{port}", f"{body.name}.{port}", REFERENCE, EdgeKind.TERMINAL, body.name)
                 for body in network.bodies for port in body.terminals]
    active = [Edge(f"inertia of {body.name}", f"{body.name}.G", REFERENCE, EdgeKind.ACTIVE, body.name)
              for body in network.bodies]
    ends = {each.name: (each.second, each.first) for each in network.connections}
    ends |= {f"at {end}": (end, REFERENCE) for end in [*network.open, *[f"{body.name}.G" for body in network.bodies]]}
    check_drivers(across, list(ends))
    drivers = [Edge(name, _node(tail), _node(head), EdgeKind.ACROSS if name in across else EdgeKind.THROUGH)
               for name, (tail, head) in ends.items()]
    springs = [Edge(f"spring {each.name}", _node(each.second), _node(each.first), EdgeKind.THROUGH)
               for each in network.springs if _node(each.first) != _node(each.second)]
    return SystemGraph((*terminals, *active, *drivers, *springs))


def _node(end: str) -> str:
    """All ports of the reference are one node: none of them moves."""
    return REFERENCE if end.startswith(f"{REFERENCE}.") else end
