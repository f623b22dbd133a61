"""An arm with elastic drives as two sets of equations, that of its links and that of its motors.

    links    M(q) qdd + h(q, qd) = P        of elastic joints P = f(d), d = qm / gear - q + rest
    motors   Jm qmdd + b qmd + P / gear = tau
q are the n coordinates of the joints, qm those of the m motors behind springs, which come after them in the
configuration of the mechanism. Of a joint without a spring P is the force of its drive. Gravity, viscous friction and
the armature of rigid drives are in h and M. Along a motion of the links that is known up to its fourth derivative, the
snap, the motors are at qm = gear (q + d(P) - rest); qm' and qm'' are derivatives along the motion, on the graph of the
text. Sources: Spong 1987, spec R-51, R-54; De Luca and Book, Springer Handbook of Robotics, 11.1."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cayley.compiler.derivatives.derivative import independent, slope_along
from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.nominal_values import is_present
from cayley.compiler.tracing.symbols import symbols
from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.rigid_links.drives import DriveSpring, coulomb_frictions, rotor_inertias, ties, viscous_frictions
from cayley.dynamics.rigid_links.links import Links
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.errors import CayleyError, UnsupportedError
from cayley.kinematics.mechanism_kernel import MechanismKernel, described, of_a_mechanism
from cayley.model.constraints import check_independent
from cayley.model.motors import ELASTIC, REDUCED
from cayley.model.spring_kinds.spring import SpringState
from cayley.model.tree import Tree
from cayley.showing import shown_briefly

_WHAT = "dynamics from the side of the links"


@dataclass(frozen=True, eq=False)
class ElasticArm:
    """The equations of a mechanism whose `tree` includes "reduced elastic drives"; made by `elastic_arm`."""

    tree: Tree

    @property
    def n(self) -> int:
        """The number of joints, motors not counted."""
        return self.tree.nv - self.m

    @property
    def m(self) -> int:
        """The number of joints that are elastic, and have a motor."""
        return len(self.springs)

    @cached_property
    def springs(self) -> tuple[DriveSpring, ...]:
        """The springs, in the order of their motors."""
        return tuple(sorted(ties(self.tree), key=lambda tie: tie.qmd or 0))

    @cached_property
    def elastic(self) -> list[int]:
        """The places of elastic joints among all n, in the order of their motors."""
        return [tie.qd for tie in self.springs]

    @cached_property
    def rigid(self) -> list[int]:
        """The places of joints without a spring."""
        return [k for k in range(self.n) if k not in self.elastic]

    @cached_property
    def gears(self) -> Array:
        """(m)."""
        return np.array([tie.gear for tie in self.springs])

    @cached_property
    def rotors(self) -> Array:
        """Jm (m)."""
        return rotor_inertias(self.tree)[self.n:]

    @cached_property
    def _links(self) -> Links:
        return minimal_links(self.tree)

    def forces(self, q: Array, qd: Array, qdd: Array) -> Array:
        """P (n) that a motion of the links needs."""
        tree = self.tree
        still = np.zeros(self.m)
        moved = [np.concatenate([x, still]) for x in (q, qd, qdd)]
        own = rotor_inertias(tree)[:self.n] * qdd + viscous_frictions(tree)[:self.n] * qd
        return inverse_dynamics(self._links, *moved)[:self.n] + own

    def inertia(self, q: Array) -> Array:
        """M (n, n)."""
        whole = inertia_matrix(self._links, np.concatenate([q, np.zeros(self.m)]))
        return whole[:self.n, :self.n] + np.diag(rotor_inertias(self.tree)[:self.n])

    def pulls(self, q: Array, qm: Array) -> Array:
        """P (m) of the springs."""
        return _stack(tie.spring.stored_torque(self._deflected(tie, q, qm)) for tie in self.springs)

    def pull_slopes(self, q: Array, qm: Array) -> Array:
        """The stiffness of the springs there (m)."""
        return _stack(tie.spring.slopes(self._deflected(tie, q, qm)).by_theta for tie in self.springs)

    def motors(self, q: Array, pulls: Array) -> Array:
        """qm (m) at which springs pull with P (m) at the joints q (n)."""
        return _stack(tie.gear * tie.spring.theta_that_pulls(q[tie.q], P)
                      for tie, P in zip(self.springs, pulls, strict=True))

    def motor_forces(self, qmd: Array, qmdd: Array, pulls: Array) -> Array:
        """tau (m) that motors need for a motion of their own against the springs."""
        return self.rotors * qmdd + viscous_frictions(self.tree)[self.n:] * qmd + pulls / self.gears

    def _deflected(self, tie: DriveSpring, q: Array, qm: Array) -> SpringState:
        assert tie.qm is not None
        return SpringState(q[tie.q], 0.0, qm[tie.qm - self.n] / tie.gear, 0.0)


def elastic_arm(tree: Tree, what: str = _WHAT, *, inverted: bool = True) -> ElasticArm:
    """The equations of an arm with elastic drives, full or reduced, for what is called `what`. `UnsupportedError` names
    what in it has none: no springs, dry friction, joints without a drive, of several coordinates, or tied together; and
    springs with dampers or play and rotors without inertia, unless what is asked does not take the deflections of
    springs from their torques (`inverted`).

    >>> from cayley.model.catalogue import load_robot
    >>> soft = load_robot("planar2r").with_drive("joint2", stiffness=1e3, inertia=0.1).including("elastic drives")
    >>> elastic_arm(soft).elastic
    [1]
    """
    if not any(tree.joints[number].spring is not None for number in tree.motors):
        raise UnsupportedError(f"{what} is for elastic drives, and {tree.name} includes none: give its joints springs "
                               "by `with_drive`, then call `including(\"elastic drives\")`")
    check_independent(tree, what)
    arm = ElasticArm(tree if REDUCED in tree.included else tree.including(*(tree.included - {ELASTIC} | {REDUCED})))
    _check_coordinates(arm, what)
    _check_drives(arm, what)
    if inverted:
        _check_springs(arm, what)
    return arm


def _check_coordinates(arm: ElasticArm, what: str) -> None:
    for joint in arm.tree.joints:
        if joint.motion.nv and (joint.motion.nv, joint.motion.nq) != (1, 1):
            raise UnsupportedError(f"{what} is for joints of one coordinate each; joint {joint.name!r} of "
                                   f"{arm.tree.name} is {joint.motion.word}, with {joint.motion.nv} velocities")


def _check_drives(arm: ElasticArm, what: str) -> None:
    tree = arm.tree
    names = [joint.name for joint in tree.joints if joint.motion.nv]  # in the order of velocities
    driven = set(tree.actuated_velocities)
    rubbing = coulomb_frictions(tree)
    for k in (*arm.rigid, *range(arm.n, tree.nv)):
        if k not in driven:
            raise UnsupportedError(f"{what} moves every joint, and {names[k]!r} of {tree.name} has no drive")
    for k, name in enumerate(names):
        if is_present(rubbing[k]):
            raise UnsupportedError(f"{what} needs forces that have rates, and {name!r} of {tree.name} includes dry "
                                   "friction, which jumps: leave it out of the controller's model")


def _check_springs(arm: ElasticArm, what: str) -> None:
    tree = arm.tree
    names = [joint.name for joint in tree.joints if joint.motion.nv]
    for tie in arm.springs:
        if not is_present(arm.rotors[(tie.qmd or 0) - arm.n]):
            raise UnsupportedError(
                f"{what} is for rotors that have inertia, and that of {names[tie.qd]!r} of {tree.name} has none: its "
                "spring passes the motor's force on at once, so the joint is one without a spring")
        try:
            tie.spring.theta_that_pulls(0.0, 1.0)
        except CayleyError as error:
            raise UnsupportedError(f"{what} of {tree.name}: joint {names[tie.qd]!r}: {error}") from error


def _stack(entries: Iterable[Scalar]) -> Array:
    return np.stack(list(entries))


_MOTORS = "the motion of motors"
_SENTENCE = ("Inverse dynamics along a motion of the links: configuration, velocity and acceleration of the mechanism "
             "with its motors, and the forces of the drives.")


@shown_briefly
class MotorMotion(NamedTuple):
    """Configuration (nq), velocity, acceleration and forces (nv) of the whole mechanism, motors behind joints; the
    forces of elastic joints are zero, as it is their motors that drive."""

    q: Array
    qd: Array
    qdd: Array
    tau: Array


class ForceRates(NamedTuple):
    """The motion of motors, and for the law of a mixed arm the second rates (r) of the forces of rigid joints."""

    motion: MotorMotion
    rigid: Array


def motor_motion_text(arm: ElasticArm, q: Array, qd: Array, qdd: Array, jerk: Array, snap: Array) -> ForceRates:
    """Along a motion of the links (n), of symbols."""
    moving = [independent(symbols(x)) for x in (q, qd, qdd, jerk)]
    forces = arm.forces(*moving[:3])
    pulls = forces[arm.elastic]
    followed = np.concatenate([arm.motors(moving[0], pulls), forces[arm.rigid]])
    first = slope_along(followed, np.concatenate(moving[:3]), np.concatenate(moving[1:]))
    second = slope_along(first, np.concatenate(moving), np.concatenate([*moving[1:], snap]))
    m = arm.m
    tau = arm.motor_forces(first[:m], second[:m], pulls)
    joints = np.array([forces[k] if k in arm.rigid else 0.0 for k in range(arm.n)], dtype=object)
    return ForceRates(
        MotorMotion(np.concatenate([q, followed[:m]]), np.concatenate([qd, first[:m]]),
                    np.concatenate([qdd, second[:m]]), np.concatenate([joints, tau])), second[m:])


def motor_motion_kernel(tree: Tree) -> MechanismKernel[MotorMotion]:
    """`motor_motion(q, qd, qdd, jerk, snap)`: what the motors of an arm with elastic drives do, and with which forces,
    along a motion (..., n) of its n joints. See `elastic_arm` for what is refused.

    >>> from cayley.model.catalogue import load_robot
    >>> soft = load_robot("planar2r").with_drive("joint1", stiffness=1e3, inertia=1e-3, gear=50.0).including(
    ...     "elastic drives")
    >>> found = motor_motion_kernel(soft)([0.3, -0.7], *np.zeros((4, 2)))
    >>> found.q.round(6), found.tau.round(6)
    (array([ 0.3 , -0.7 , 15.721275]), array([0. , 2.710683, 0.28851 ]))
    """
    return _motor_motion_kernel(elastic_arm(tree, _MOTORS).tree)


@of_a_mechanism
def _motor_motion_kernel(tree: Tree) -> MechanismKernel[MotorMotion]:
    arm = elastic_arm(tree, _MOTORS)
    n, size = arm.n, tree.nv

    def motor_motion(q: Array, qd: Array, qdd: Array, jerk: Array, snap: Array) -> MotorMotion:
        return motor_motion_text(arm, q, qd, qdd, jerk, snap).motion

    described(tree, motor_motion, _SENTENCE)
    return kernel(f"({n}),({n}),({n}),({n}),({n})->({size}),({size}),({size}),({size})", outputs=MotorMotion._fields,
                  kind=MechanismKernel)(motor_motion)
