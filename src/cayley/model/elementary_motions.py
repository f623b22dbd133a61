"""Joints as sequences of elementary motions: a universal joint is two turns, a planar joint two slides and a turn; most
other kinds are elementary already.

What is fixed is part of the placement after it. This is the one walk over a tree from which kinematics and dynamics
take their links."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from cayley.geometry.pose import HERE, Pose
from cayley.model.joint_kinds import JointKind
from cayley.model.tree import Tree

ROOT = -1


class ElementaryMotion(NamedTuple):
    """One elementary motion of a tree, as data."""

    joint: str  # the name of its joint
    parent: int  # the number of the motion before it, or ROOT
    placement: Pose  # of its frame in the frame after the motion before it
    motion: JointKind
    coordinates: slice  # in q
    columns: slice  # in the velocity


class ElementaryMotions(NamedTuple):
    """The motions, parents first, and for each body by its name the last motion before it (or ROOT) and its pose there.
    """

    motions: list[ElementaryMotion]
    bodies: dict[str, tuple[int, Pose]]


def elementary_motions(tree: Tree, joints: Iterable[int] | None = None) -> ElementaryMotions:
    """The elementary motions of all joints of a tree, or of those of the given numbers, which must be a way from the
    root outwards.

    >>> found = elementary_motions(cy.load("s1_f3").tree)
    >>> [(motion.joint, motion.parent, motion.motion.word) for motion in found.motions]
    [('joint1', -1, 'revolute'), ('joint2', 0, 'prismatic')]
    """
    motions: list[ElementaryMotion] = []
    bodies: dict[str, tuple[int, Pose]] = {tree.bodies[0].name: (ROOT, HERE)}
    for number in range(len(tree.joints)) if joints is None else joints:
        joint = tree.joints[number]
        parent, pose = bodies[joint.parent]
        pose = pose.then(Pose.of(joint.placement))
        q = tree.q_slices[number].start
        v = tree.v_slices[number].start
        for motion in joint.motion.elementary:
            if motion.nv:
                own = (slice(q, q + motion.nq), slice(v, v + motion.nv))
                motions.append(ElementaryMotion(joint.name, parent, pose, motion, *own))
                parent = len(motions) - 1
                pose = HERE
            q = q + motion.nq
            v = v + motion.nv
        bodies[joint.child] = (parent, pose)
    return ElementaryMotions(motions, bodies)
