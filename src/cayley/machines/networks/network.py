"""Bodies connected in any way, branches and loops: data, of which a mechanism and the equations of it are made.

A connection joins a terminal of one body to a terminal of another, or of the reference "O", by a joint of any kind.
Those on the ways from the reference to the bodies are the joints of a tree; every other one closes a loop. Only the
circuit and cut-set equations know of the difference. Source: Tokad 4.

The system graph of a network of any shape, with a driver at each connection, mass centre and open terminal.

Every terminal of a body is an edge to the reference, its inertia and weight another one beside its mass centre; a
connection is an edge from its second terminal to the first, and so is a spring. Whether all six components of the
motion of a connection are given or its wrench is, the graph tells what can be solved for: `formulation` finds the tree,
`circuit_matrix` of the graph the circuits and cut-sets. Source: Tokad 4."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, FieldArray
from cayley.errors import ModelError, did_you_mean, shown
from cayley.machines.networks.formulation_tree import REFERENCE, Edge, EdgeKind, SystemGraph, check_drivers
from cayley.machines.networks.instant import Attachment, NetworkJoint
from cayley.machines.networks.open_network import OpenNetwork
from cayley.machines.networks.rigid_body import GRAVITY, RigidBody, given_array, given_rotation
from cayley.model.constraint_kinds import Constraint, Loop
from cayley.model.joint_kinds import JointKind, check_motion
from cayley.model.joint_kinds.motion import plane_across
from cayley.model.parts import Frame
from cayley.model.tree import Tree
from cayley.systems.system import System

if TYPE_CHECKING:
    from cayley.machines.networks.circuit import Circuit


_ONES = np.eye(3)


@dataclass(frozen=True)
class LineSpring:
    """A spring and a damper between two terminals, "body.port" or "O.port", along the line through both: `stiffness`
    [N/m], `length` at rest [m], `damping` [N s/m]. Without a length it pulls the two together, and damps, in every
    direction alike: terminals may then meet."""

    name: str
    first: str
    second: str
    stiffness: float = 0.0
    length: float = 0.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        for word in ("stiffness", "length", "damping"):
            value = getattr(self, word)
            if not (isinstance(value, Real) and np.isfinite(float(value)) and float(value) >= 0):
                raise ModelError(f"the {word} of spring {self.name!r} is {shown(value)}: it is a number, not negative")
        if self.first == self.second:
            raise ModelError(f"both ends of spring {self.name!r} are {self.first!r}")


@dataclass(frozen=True, eq=False)
class Connection:
    """A joint of some kind that moves the terminal `second`, "body.port", in the terminal `first`, "body.port" or
    "O.port"; `first_axes` and `second_axes` (3, 3) are the axes of its two frames in those of the bodies."""

    name: str
    first: str
    second: str
    motion: JointKind
    first_axes: FieldArray = field(default_factory=lambda: _ONES)
    second_axes: FieldArray = field(default_factory=lambda: _ONES)

    def __post_init__(self) -> None:
        check_motion(self.motion, f"connection {self.name!r}")
        for word in ("first_axes", "second_axes"):
            axes = given_rotation(getattr(self, word), f"the {word.replace('_', ' ')} of connection {self.name!r}")
            object.__setattr__(self, word, axes)

    def turned_round(self) -> Connection:
        """The same joint with its ends exchanged: what turns the one way turns the other way seen from the other
        end."""
        screw = self.motion.screw
        if screw is None and self.motion.nv:
            raise ModelError(f"connection {self.name!r} leads from {self.second!r}, which is nearer to the reference, "
                             f"to {self.first!r}: exchange the two, a {self.motion.word} joint cannot be turned round")
        across = _ONES[0] if screw is None else plane_across(screw.axis)[0]
        motion = self.motion if screw is None else self.motion.turned(2 * np.outer(across, across) - _ONES)
        return Connection(self.name, self.second, self.first, motion, self.second_axes, self.first_axes)


class Terminal(NamedTuple):
    """A terminal by the names of its body and port."""

    body: str
    port: str


@dataclass(frozen=True, eq=False)
class Network:
    """Bodies, what connects them, where the ports of the reference are (3) [m], and the terminals open to the outside.

    >>> from cayley.model.joint_kinds import Revolute
    >>> rods = [RigidBody(name, 1.0, np.diag([0, 0.01, 0.01]), {"B": [-l / 2, 0, 0], "A": [l / 2, 0, 0]})
    ...         for name, l in (("crank", 0.3), ("coupler", 0.6), ("rocker", 0.5))]
    >>> ends = [("O.left", "crank.B"), ("crank.A", "coupler.B"), ("coupler.A", "rocker.B"), ("O.right", "rocker.A")]
    >>> pins = [Connection(f"pin{k}", *two, Revolute()) for k, two in enumerate(ends, start=1)]
    >>> net = Network("four-bar", rods, pins, reference={"left": [0, 0, 0], "right": [0.7, 0, 0]})
    >>> net
    <network four-bar: 3 bodies, 4 connections, 1 of which closes a loop>
    """

    name: str
    bodies: Sequence[RigidBody]
    connections: Sequence[Connection]
    reference: Mapping[str, ArrayLike] = field(default_factory=dict)
    open: Sequence[str] = ()
    gravity: ArrayLike = GRAVITY
    springs: Sequence[LineSpring] = ()
    ties: Sequence[Constraint] = ()  # rods, couplings and wheels, on the connections of the tree and on `frames`
    frames: Sequence[Frame] = ()  # on bodies, from their inner terminals
    ground: str = "reference"  # what the reference is called as a body of the mechanism

    def __post_init__(self) -> None:
        for word, parts in (("bodies", self.bodies), ("connections", self.connections), ("springs", self.springs)):
            names = [part.name for part in parts]
            twice = [name for name in names if names.count(name) > 1]
            if twice:
                raise ModelError(f"the network {self.name} has two {word} named {twice[0]!r}")
        if not self.bodies:
            raise ModelError(f"the network {self.name} has no bodies")
        if any(body.name == REFERENCE for body in self.bodies):
            raise ModelError(f"a body of {self.name} is called {REFERENCE!r}, as the reference is: call it otherwise")
        given_array(self.gravity, (3,), f"gravity of the network {self.name}")
        points = {port: given_array(point, (3,), f"port {port!r} of the reference of {self.name}")
                  for port, point in self.reference.items()}
        object.__setattr__(self, "reference", points)
        for connection in self.connections:
            ends = [self.terminal(end, connection.name) for end in (connection.first, connection.second)]
            if ends[0].body == ends[1].body:
                raise ModelError(f"connection {connection.name!r} of {self.name} joins {connection.first!r} to "
                                 f"{connection.second!r}, of the same body")
        for spring in self.springs:
            for end in (spring.first, spring.second):
                self.terminal(end, spring.name)
        if isinstance(self.open, str) or len(set(self.open)) < len(self.open):
            raise ModelError(f"the open terminals of {self.name} must be a list without repetitions, not {self.open!r}")
        for end in self.open:
            if self.terminal(end, "open").body == REFERENCE:
                raise ModelError(f"{end!r} is on the reference itself: it is no open terminal of {self.name}")
        _ = self.layout
        for tie in self.ties:
            if tie.timed:
                raise ModelError(f"the {tie.word} {tie.name!r} of {self.name} depends on time: a network does not")

    def __repr__(self) -> str:
        loops = len(self.layout.loops)
        closing = f", {loops} of which {'closes a loop' if loops == 1 else 'close loops'}" if loops else ""
        return f"<network {self.name}: {len(self.bodies)} bodies, {len(self.connections)} connections{closing}>"

    def body(self, name: str) -> RigidBody:
        found = [body for body in self.bodies if body.name == name]
        if not found:
            names = [each.name for each in self.bodies]
            raise ModelError(f"{self.name} has no body {name!r}{did_you_mean(name, names)}")
        return found[0]

    def terminal(self, end: str, of: str) -> Terminal:
        """A terminal from its text, "body.port"; `of` is what names it."""
        body, dot, port = end.partition(".")
        if not dot:
            raise ModelError(f"{of!r} of {self.name} names the terminal {end!r}: write it as body.port, or O.port")
        if body == REFERENCE:
            if port not in self.reference:
                raise ModelError(f"{of!r} of {self.name} names {end!r}, but the reference has no port {port!r}"
                                 f"{did_you_mean(port, self.reference)}")
        else:
            self.body(body).point(port)
        return Terminal(body, port)

    def point(self, end: Terminal) -> Array:
        """The place of a terminal in the axes of its body, from its mass centre, or on the reference (3)."""
        return np.asarray(self.reference[end.port], dtype=float) if end.body == REFERENCE else self.body(
            end.body).point(end.port)

    @cached_property
    def layout(self) -> NetworkLayout:
        """The connections that are joints of the tree, from the reference outwards, and those that close loops."""
        reached: dict[str, Connection | None] = {REFERENCE: None}
        left = list(self.connections)
        while (found := next((each for each in left if self._reaches(each, reached)), None)) is not None:
            left.remove(found)
            first, second = (self.terminal(end, found.name).body for end in (found.first, found.second))
            outward = found if first in reached else found.turned_round()
            reached[second if first in reached else first] = outward
        missing = [body.name for body in self.bodies if body.name not in reached]
        if missing:
            raise ModelError(f"nothing connects body {missing[0]!r} of {self.name} to the reference")
        joints = {body: joint for body, joint in reached.items() if joint is not None}
        carried: dict[str, list[str]] = {}
        for body, joint in joints.items():
            carried.setdefault(self.terminal(joint.first, joint.name).body, []).append(body)
        order = []  # a branch to its end before the next one, as a mechanism has it
        waiting = carried[REFERENCE][::-1]
        while waiting:
            order.append(waiting.pop())
            waiting.extend(reversed(carried.get(order[-1], ())))
        names = {joint.name for joint in joints.values()}
        return NetworkLayout(tuple(joints[body] for body in order),
                      tuple(each for each in self.connections if each.name not in names))

    def _reaches(self, connection: Connection, reached: Mapping[str, Connection | None]) -> bool:
        ends = {self.terminal(end, connection.name).body for end in (connection.first, connection.second)}
        return len(ends & reached.keys()) == 1

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The names of the bodies, from the reference outwards."""
        return tuple(self.terminal(joint.second, joint.name).body for joint in self.layout.joints)

    @cached_property
    def spanning_tree(self) -> OpenNetwork:
        """The network with its loops open. The axes of a body are there those of the joint that moves it."""
        joints = self.layout.joints
        axes = {body: np.asarray(joint.second_axes) for body, joint in zip(self.order, joints, strict=True)}
        bodies = tuple(self._placed(body, axes[body]) for body in self.order)
        attachments = []
        kinds = []
        grounded = {}
        for joint in joints:
            first = self.terminal(joint.first, joint.name)
            attachments.append(Attachment(self.number(first.body), first.port))
            kinds.append(NetworkJoint(joint.motion, axes.get(first.body, _ONES).T @ np.asarray(joint.first_axes),
                                      self.terminal(joint.second, joint.name).port))
            if first.body == REFERENCE:
                grounded[first.port] = self.point(first)
        ends = {end: self.terminal(end, "open") for end in self.open}
        tips = {end: Attachment(self.number(terminal.body), terminal.port) for end, terminal in ends.items()}
        return OpenNetwork(self.name, bodies, tuple(kinds), tuple(attachments), tips, np.asarray(self.gravity),
                           reference=grounded)

    def number(self, body: str) -> int:
        """The place of a body in `order`, -1 for the reference."""
        return -1 if body == REFERENCE else self.order.index(body)

    def _placed(self, name: str, axes: Array) -> RigidBody:
        """A body in the axes of the joint that moves it."""
        body = self.body(name)
        ports = {port: axes.T @ body.point(port) for port in body.ports}
        return replace(body, inertia=axes.T @ body.inertia @ axes, ports=ports)

    def tree(self) -> Tree:
        """The network as a mechanism with loops, whose joints have the names of the connections."""
        from cayley.machines.networks.bridge import tree_of
        frames = []
        loops = []
        for loop in self.layout.loops:
            ends = []
            for end, axes in ((loop.first, loop.first_axes), (loop.second, loop.second_axes)):
                frames.append(self._frame(f"{loop.name} at {end}", self.terminal(end, loop.name), np.asarray(axes)))
                ends.append(frames[-1].name)
            loops.append(Loop(loop.name, ends[0], ends[1], loop.motion))
        names = [joint.name for joint in self.layout.joints]
        return tree_of(self.spanning_tree, names, [*self.frames, *frames], loops, self.ties, self.ground)

    @staticmethod
    def of(tree: Tree, open_at: Sequence[str] = ()) -> Network:
        """A mechanism as a network, with its loops and all else that ties its joints; see
        `cayley.machines.networks.bridge`."""
        from cayley.machines.networks.bridge import closed_network_of
        return closed_network_of(tree, open_at)

    def _frame(self, name: str, terminal: Terminal, axes: Array) -> Frame:
        """A frame at a terminal, in the axes and from the inner terminal of its body as the tree has it."""
        pose = np.eye(4)
        pose[:3, :3] = axes
        pose[:3, 3] = self.point(terminal)
        if terminal.body == REFERENCE:
            return Frame(name, self.ground, pose)
        joint = self.layout.joints[self.number(terminal.body)]
        own = np.asarray(joint.second_axes)
        inner = self.point(self.terminal(joint.second, joint.name))
        pose[:3, :3] = own.T @ axes
        pose[:3, 3] = own.T @ (self.point(terminal) - inner)
        return Frame(name, terminal.body, pose)

    def system(self, circuit: Circuit | None = None) -> System:
        """The network in time, with the circuit that drives some of its connections; see
        `cayley.machines.networks.instant`."""
        from cayley.machines.networks.circuits_in_time import network_system
        return network_system(self, circuit)

    def graph(self, across: Collection[str] = ()) -> SystemGraph:
        """The system graph, with motions given by the drivers that are named; see
        `cayley.machines.networks.network`."""
        return network_graph(self, across)

    def arm(self, end: Terminal) -> Array:
        """The place of a terminal from the mass centre of its body, in the axes that the spanning tree has for it, or
        on the reference (3)."""
        if end.body == REFERENCE:
            return self.point(end)
        return np.asarray(self.layout.joints[self.number(end.body)].second_axes).T @ self.point(end)


class NetworkLayout(NamedTuple):
    """Joints of a tree, from the reference outwards, one a body, and connections that close loops."""

    joints: tuple[Connection, ...]
    loops: tuple[Connection, ...]


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
