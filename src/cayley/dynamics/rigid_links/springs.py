"""The springs of elastic drives in the equations of motion: what each takes of the joint and of the motor that it ties.

    tau = M qdd + ... - P at the joint,  + P / gear at its motor      P = spring.torque(q, qd, qm / gear, qmd / gear)
Source: spec S0-49 with errata E-45, from virtual work: P (dqm / gear - dq) is what the motor gives up.
With "springs" included the motors are held at zero, and springs act upon the joints alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.model.motors import ELASTIC, REDUCED
from cayley.model.spring_kinds import Spring
from cayley.model.spring_kinds.spring import SpringState
from cayley.model.tree import Tree


class Tie(NamedTuple):
    """A spring of a mechanism: the places of its joint in q and qd, those of its motor, and the gear before it."""

    spring: Spring
    q: int
    qd: int
    qm: int | None  # None where the motor is held
    qmd: int | None
    gear: Scalar

    def state(self, q: Array, qd: Array) -> SpringState:
        """What the spring feels at a state."""
        theta = 0.0 if self.qm is None else q[self.qm] / self.gear
        thetad = 0.0 if self.qmd is None else qd[self.qmd] / self.gear
        return SpringState(q[self.q], qd[self.qd], theta, thetad)


def ties(tree: Tree) -> Iterator[Tie]:
    """The springs that take part in the dynamics of a mechanism, in the order of its joints."""
    moving = bool({ELASTIC, REDUCED} & tree.included)
    if not moving and "springs" not in tree.included:
        return
    for number, joint in enumerate(tree.joints):
        if joint.spring is None:
            continue
        q = tree.q_slices[number].start
        qd = tree.v_slices[number].start
        if not moving:
            yield Tie(joint.spring, q, qd, None, None, 1.0)
            continue
        motor = tree.motors[number]
        yield Tie(joint.spring, q, qd, tree.q_slices[motor].start, tree.v_slices[motor].start, joint.rotor.gear)


def spring_forces(tree: Tree, q: Array, qd: Array) -> Array:
    """The forces (nv) that hold the included springs at a state: what they need by themselves."""
    return _needed(tree, lambda tie: tie.spring.torque(tie.state(q, qd)))


def stored_spring_forces(tree: Tree, q: Array) -> Array:
    """The part (nv) of them that comes from stored energy: its derivative by q."""
    still = np.zeros(tree.nv)
    return _needed(tree, lambda tie: tie.spring.stored_torque(tie.state(q, still)))


def spring_energy(tree: Tree, q: Array) -> Scalar:
    """The energy [J] that the included springs store."""
    still = np.zeros(tree.nv)
    return sum((tie.spring.energy(tie.state(q, still)) for tie in ties(tree)), 0.0)


class SpringMatrices(NamedTuple):
    """The derivatives (nv, nv) of `spring_forces` by coordinates, along the velocities, and by velocities."""

    stiffness: Array
    damping: Array


def spring_matrices(tree: Tree, q: Array, qd: Array) -> SpringMatrices:
    """The stiffness and the damping of the included springs at a state."""
    stiffness: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    damping: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    for tie in ties(tree):
        slopes = tie.spring.slopes(tie.state(q, qd))
        for found, (by_joint, by_motor) in ((stiffness, slopes[::2]), (damping, slopes[1::2])):
            found[tie.qd][tie.qd] = found[tie.qd][tie.qd] - by_joint
            if tie.qmd is not None:
                found[tie.qd][tie.qmd] = -by_motor / tie.gear
                found[tie.qmd][tie.qd] = by_joint / tie.gear
                found[tie.qmd][tie.qmd] = by_motor / tie.gear**2
    return SpringMatrices(np.array(stiffness), np.array(damping))


def tied_column(tie: Tie, number: str, q: Array, qd: Array) -> Array:
    """The derivative (nv, 1) of `spring_forces` by one of the numbers in which a spring is linear."""
    P = tie.spring.torque_by(number, tie.state(q, qd))
    found: list[Scalar] = [0.0] * len(qd)
    found[tie.qd] = -P
    if tie.qmd is not None:
        found[tie.qmd] = P / tie.gear
    return np.array(found)[:, None]


def stored_by(tie: Tie, number: str, q: Array, qd: Array) -> Scalar:
    """The derivative of `spring_energy` by one of the numbers in which a spring is linear."""
    return tie.spring.energy_by(number, tie.state(q, qd))


def _needed(tree: Tree, torque: Callable[[Tie], Scalar]) -> Array:
    found: list[Scalar] = [0.0] * tree.nv
    for tie in ties(tree):
        P = torque(tie)
        found[tie.qd] = found[tie.qd] - P
        if tie.qmd is not None:
            found[tie.qmd] = found[tie.qmd] + P / tie.gear
    return np.array(found)

