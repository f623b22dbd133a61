"""A mechanism as an open network of bodies, and back.

The inner terminal of a body is at the origin of its frame; there is an outer one for every joint that it carries, and
one for every frame that is to be open. The zero of a joint is where its two frames coincide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ModelError, UnsupportedError
from cayley.machines.networks.formulation_tree import REFERENCE
from cayley.machines.networks.instant import Attachment, Convention, NetworkJoint
from cayley.machines.networks.network import Connection, Network
from cayley.machines.networks.open_network import OpenNetwork
from cayley.machines.networks.rigid_body import RigidBody
from cayley.model.constraint_kinds import Constraint
from cayley.model.constraints import check_independent, constraints_of
from cayley.model.masses import check_has_masses
from cayley.model.parts import Body, Frame, Joint, Loop
from cayley.model.tree import Tree


def network_of(tree: Tree, open_at: Sequence[str] = (), convention: Convention = "relative") -> OpenNetwork:
    """A mechanism as a network, open at named frames; without a name, at its frame `tool`, if it has one.

    >>> from cayley.model.catalogue import load_robot
    >>> network_of(load_robot("puma560"))
    <network puma560: 6 bodies, open at tool>
    """
    check_independent(tree, "an open network")
    check_has_masses(tree)
    _check_nothing_included(tree)
    if not tree.joints:
        raise ModelError(f"{tree.name} has no joints: nothing of it is a component")
    names = tuple(open_at) or tuple(frame.name for frame in tree.frames if frame.name == "tool")
    frames = [tree.frame(name) for name in names]
    tips = {frame.name: Attachment(tree.body_number(frame.body) - 1, f"T {frame.name}") for frame in frames}
    grounded = [name for name, tip in tips.items() if tip.body < 0]
    if grounded:
        raise ModelError(f"frame {grounded[0]!r} of {tree.name} is on the reference itself: it is no port")
    bodies = tuple(_rigid_body(tree, number, frames) for number in range(1, len(tree.bodies)))
    joints = tuple(NetworkJoint(joint.motion, np.asarray(joint.placement)[:3, :3]) for joint in tree.joints)
    attachments = tuple(Attachment(parent - 1, f"A {joint.name}")
                        for joint, parent in zip(tree.joints, tree.parents, strict=True))
    grounded_at = {attached.port: np.asarray(joint.placement)[:3, 3]
                   for joint, attached in zip(tree.joints, attachments, strict=True) if attached.body < 0}
    return OpenNetwork(tree.name, bodies, joints, attachments, tips, tree.gravity, convention, grounded_at)


def _rigid_body(tree: Tree, number: int, frames: Sequence[Frame]) -> RigidBody:
    body = tree.bodies[number]
    center = np.asarray(body.center)
    ports = {"B": -center}
    ports |= {f"A {joint.name}": np.asarray(joint.placement)[:3, 3] - center
              for joint, parent in zip(tree.joints, tree.parents, strict=True) if parent == number}
    ports |= {f"T {frame.name}": np.asarray(frame.pose)[:3, 3] - center for frame in frames if frame.body == body.name}
    return RigidBody(_plain(body.name), 0.0 if body.mass is None else body.mass, body.inertia, ports)


def tree_of(network: OpenNetwork, joint_names: Sequence[str] = (), frames: Sequence[Frame] = (),
            loops: Sequence[Loop] = (), ties: Sequence[Constraint] = (), ground: str = "reference") -> Tree:
    """A network as a mechanism: the frame of a body is at its inner terminal, in its axes; open terminals are frames.
    Joints may have names, and there may be more frames, loops between them, other constraints, and
    another name for the reference.

    >>> from cayley.model.catalogue import load_robot
    >>> tree_of(network_of(load_robot("puma560")))
    <puma560: 7 bodies, 6 joints, nq = 6, nv = 6>
    """
    names = [ground, *[body.name for body in network.bodies]]
    moving = [Body(body.name, body.mass, -_inner(network, j), body.inertia) for j, body in enumerate(network.bodies)]
    joints = []
    for j, (joint, attached) in enumerate(zip(network.joints, network.attachments, strict=True)):
        placement = np.eye(4)
        placement[:3, :3] = joint.axes
        placement[:3, 3] = _carrying_point(network, attached)
        own = joint_names[j] if joint_names else f"joint{j + 1}"
        joints.append(Joint(own, names[attached.body + 1], names[j + 1], joint.motion, placement))
    tips = []
    for name, tip in network.open.items():
        pose = np.eye(4)
        pose[:3, 3] = network.bodies[tip.body].point(tip.port) - _inner(network, tip.body)
        tips.append(Frame(name, names[tip.body + 1], pose))
    return Tree.of(network.name, [Body(ground), *moving], joints, frames=[*tips, *frames], gravity=network.gravity,
                   loops=loops, constraints=ties)


def closed_network_of(tree: Tree, open_at: Sequence[str] = ()) -> Network:
    """A mechanism of any kind as a network: its joints and loops are connections, and what else ties its joints stays
    as it is; open at named frames.

    >>> from cayley.model.catalogue import load_robot
    >>> closed_network_of(load_robot("three_rrr"))
    <network three_rrr: 7 bodies, 9 connections, 2 of which close loops>
    """
    check_has_masses(tree)
    _check_nothing_included(tree)
    root = tree.bodies[0].name
    frames = {name: tree.frame(name) for name in [*open_at, *[end for loop in tree.loops for end in loop.frames]]}
    bodies = [_rigid_body(tree, number, list(frames.values())) for number in range(1, len(tree.bodies))]
    grounded = {f"A {joint.name}": np.asarray(joint.placement)[:3, 3] for joint in tree.joints if joint.parent == root}
    grounded |= {f"T {name}": np.asarray(frame.pose)[:3, 3] for name, frame in frames.items() if frame.body == root}

    def terminal(body: str, port: str) -> str:
        return f"{REFERENCE if body == root else _plain(body)}.{port}"

    joints = [Connection(joint.name, terminal(joint.parent, f"A {joint.name}"), terminal(joint.child, "B"),
                         joint.motion, np.asarray(joint.placement)[:3, :3]) for joint in tree.joints]
    loops = [Connection(loop.name, terminal(first.body, f"T {first.name}"), terminal(second.body, f"T {second.name}"),
                        loop.motion, np.asarray(first.pose)[:3, :3], np.asarray(second.pose)[:3, :3])
             for loop, first, second in [(loop, frames[loop.first], frames[loop.second]) for loop in tree.loops]]
    kept = [replace(frame, body=_plain(frame.body)) for frame in tree.frames]
    ties = [each for each in constraints_of(tree) if each.name not in {loop.name for loop in tree.loops}]
    return Network(tree.name, bodies, [*joints, *loops], grounded,
                   [terminal(frames[name].body, f"T {name}") for name in open_at], tree.gravity, ties=ties, frames=kept,
                   ground=_plain(root))


def _check_nothing_included(tree: Tree) -> None:
    if tree.included:
        raise UnsupportedError(
            f"the network of {tree.name} has no {' or '.join(sorted(tree.included))}, which its dynamics include: take "
            "the mechanism without it")


def _plain(name: str) -> str:
    """The name of a body without dots, which stand between bodies and ports."""
    return name.replace(".", "_")


def _carrying_point(network: OpenNetwork, attached: Attachment) -> Array:
    """The place of a joint on the body that carries it, from its inner terminal or on the reference (3)."""
    if attached.body < 0:
        return np.asarray(network.reference.get(attached.port, np.zeros(3)))
    return network.bodies[attached.body].point(attached.port) - _inner(network, attached.body)


def _inner(network: OpenNetwork, j: int) -> Array:
    """The inner terminal of a body, from its mass centre (3)."""
    return network.bodies[j].point(network.joints[j].inner)
