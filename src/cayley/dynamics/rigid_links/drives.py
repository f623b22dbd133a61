"""The terms that drives of joints add to the links: rotors, friction and springs, as far as they are included.

    tau = M qdd + ... - P at the joint,  + P / gear at its motor      P = spring.torque(q, qd, qm / gear, qmd / gear)
With "springs" included the motors are held at zero, and springs act upon the joints alone. Source: spec S0-49 with
errata E-45, from virtual work: P (dqm / gear - dq) is what the motor gives up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.made_once import kept_with_owner
from cayley.compiler.tracing.nominal_values import is_present, is_symbolic, samples
from cayley.compiler.tracing.symbols import symbols, where
from cayley.compiler.typing import Array, Scalar
from cayley.model.joint_kinds import JointKind
from cayley.model.motors import ELASTIC, GEARED, REDUCED
from cayley.model.spring_kinds import SpringKind
from cayley.model.spring_kinds.spring import SpringState
from cayley.model.tree import Tree


def drive_forces(tree: Tree, q: Array, qd: Array, qdd: Array) -> Array:
    """Forces (nv) that the included drives need by themselves at the state (`q`, `qd`) and the acceleration `qdd`.

    In a joint at rest that is to accelerate, dry friction acts against the motion that begins. A joint that stays at
    rest needs no force, though any force up to its dry friction would leave it there."""
    coulomb = coulomb_frictions(tree)
    beginning = where(rubbing(coulomb), coulomb * where(qd == 0, np.sign(qdd), 0.0), 0.0)
    return rotor_inertias(tree) * qdd + rotor_velocity_forces(tree, qd) + passive_forces(tree, q, qd) + beginning


def rotor_inertias(tree: Tree) -> Array:
    """The inertia (nv) that each velocity feels of its rotor, zero if rotors are not included."""
    return _by_velocity(tree, _reflected(tree))


def rotor_coriolis_matrix(tree: Tree, qd: Array) -> Array:
    """C (nv, nv), skew, of the rotors: an armature on a floating joint is a mass that flies straight, though its
    velocity is given in axes that turn, as in MuJoCo. On every other joint it is zero."""
    found: list[list[Any]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    for own, inertia, motion in _turning_rotors(tree):
        for (i, k), entry in np.ndenumerate(motion.turning(qd[own])):
            found[own.start + i][own.start + k] = inertia * entry
    return np.array(found).reshape(tree.nv, tree.nv)


def rotor_velocity_forces(tree: Tree, qd: Array) -> Array:
    """The forces (nv) that the rotors need at the velocity `qd` without acceleration: C qd."""
    return rotor_coriolis_matrix(tree, qd) @ qd if _turning_rotors(tree) else np.zeros(tree.nv)


def rotor_velocity_slopes(tree: Tree, qd: Array) -> Array:
    """The derivative (nv, nv) of these forces by `qd`."""
    C = rotor_coriolis_matrix(tree, qd)
    if not _turning_rotors(tree):
        return C
    return C + np.stack([rotor_coriolis_matrix(tree, unit) @ qd for unit in np.eye(tree.nv)], axis=1)


def passive_forces(tree: Tree, q: Array, qd: Array) -> Array:
    """The forces (nv) that overcome friction and hold springs, as far as they are included."""
    return friction_forces(tree, qd) + spring_forces(tree, q, qd)


def friction_forces(tree: Tree, qd: Array) -> Array:
    """The forces (nv) that overcome friction, zero if it is not included: viscous qd + coulomb sign(qd)."""
    if "friction" not in tree.included:
        return np.zeros(tree.nv)
    return viscous_frictions(tree) * qd + coulomb_frictions(tree) * np.sign(qd)


def viscous_frictions(tree: Tree) -> Array:
    """The viscous friction (nv) of each velocity, zero if friction is not included."""
    included = "friction" in tree.included
    return _by_velocity(tree, [joint.friction.viscous if included else 0.0 for joint in tree.joints])


def coulomb_frictions(tree: Tree) -> Array:
    """The dry friction (nv) of each velocity, zero if friction is not included."""
    included = "friction" in tree.included
    return _by_velocity(tree, [joint.friction.coulomb if included else 0.0 for joint in tree.joints])


def rubbing(coulomb: Array) -> Array:
    """At which velocities (nv) there is dry friction, whatever its size is where that is an input."""
    return np.asarray((samples(coulomb) > 0).any(axis=0))


@kept_with_owner
def without_dry_friction(tree: Tree) -> Tree:
    """The mechanism with all of its friction but the dry one; made once, so that what is compiled for it lasts."""
    if not coulomb_frictions(tree).any():
        return tree
    joints = tuple(replace(joint, friction=replace(joint.friction, coulomb=0.0)) for joint in tree.joints)
    return replace(tree, joints=joints)


def _reflected(tree: Tree) -> list[Scalar]:
    """The inertia that each joint feels of its rotor: of a motor that of its spin, if it is not a body's; of others
    that behind their gears, if rotors are included and are not parts of the mechanism."""
    motors = set(tree.motors.values())
    rigid = "armature" in tree.included or GEARED in tree.included
    return [joint.rotor.reflected if number in motors or (rigid and number not in tree.motors) else 0.0
            for number, joint in enumerate(tree.joints)]


def _turning_rotors(tree: Tree) -> list[tuple[slice, float, JointKind]]:
    """The places, inertias and kinds of joints with rotors whose velocities are given in axes that turn."""
    every = zip(tree.v_slices, _reflected(tree), [joint.motion for joint in tree.joints], strict=True)
    return [(own, inertia, motion) for own, inertia, motion in every
            if is_present(inertia) and motion.turning(np.ones(motion.nv)).any()]


def _by_velocity(tree: Tree, values: Sequence[Scalar]) -> Array:
    found = [value for joint, value in zip(tree.joints, values, strict=True) for _ in range(joint.motion.nv)]
    return symbols(found) if any(map(is_symbolic, found)) else np.array(found, dtype=float)


class DriveSpring(NamedTuple):
    """A spring of a mechanism: the places of its joint in q and qd, those of its motor, and the gear before it."""

    spring: SpringKind
    q: int
    qd: int
    qm: int | None  # None where the motor is held
    qmd: int | None
    gear: Scalar

    def state(self, q: Array, qd: Array) -> SpringState:
        """The state of the spring at a state of the mechanism."""
        theta = 0.0 if self.qm is None else q[self.qm] / self.gear
        thetad = 0.0 if self.qmd is None else qd[self.qmd] / self.gear
        return SpringState(q[self.q], qd[self.qd], theta, thetad)


def ties(tree: Tree) -> Iterator[DriveSpring]:
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
            yield DriveSpring(joint.spring, q, qd, None, None, 1.0)
            continue
        motor = tree.motors[number]
        yield DriveSpring(joint.spring, q, qd, tree.q_slices[motor].start, tree.v_slices[motor].start, joint.rotor.gear)


def spring_forces(tree: Tree, q: Array, qd: Array, springs: Iterable[DriveSpring] | None = None) -> Array:
    """The forces (nv) that hold the included springs, or those that are given, at a state: what they need alone."""
    return _needed(tree.nv, ties(tree) if springs is None else springs, lambda tie: tie.spring.torque(tie.state(q, qd)))


def stored_spring_forces(tree: Tree, q: Array) -> Array:
    """The part (nv) of them that comes from stored energy: its derivative by q."""
    still = np.zeros(tree.nv)
    return _needed(tree.nv, ties(tree), lambda tie: tie.spring.stored_torque(tie.state(q, still)))


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


def tied_column(tie: DriveSpring, number: str, q: Array, qd: Array) -> Array:
    """The derivative (nv, 1) of `spring_forces` by one of the numbers in which a spring is linear."""
    return _needed(len(qd), [tie], lambda tie: tie.spring.torque_by(number, tie.state(q, qd)))[:, None]


def stored_by(tie: DriveSpring, number: str, q: Array, qd: Array) -> Scalar:
    """The derivative of `spring_energy` by one of the numbers in which a spring is linear."""
    return tie.spring.energy_by(number, tie.state(q, qd))


def _needed(size: int, springs: Iterable[DriveSpring], torque: Callable[[DriveSpring], Scalar]) -> Array:
    found: list[Scalar] = [0.0] * size
    for tie in springs:
        P = torque(tie)
        found[tie.qd] = found[tie.qd] - P
        if tie.qmd is not None:
            found[tie.qmd] = found[tie.qmd] + P / tie.gear
    return np.array(found)
