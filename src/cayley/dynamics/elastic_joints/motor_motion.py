"""Inverse dynamics of an arm with elastic drives: the motion of its motors, and their forces, along a motion of its
links that is known up to its fourth derivative, the snap.

    P(q, q', q'')                      forces of the links
    qm = gear (q + d(P) - rest)        the motors ahead of the joints, by what the springs give way
    tau = Jm qm'' + b qm' + P / gear
qm' and qm'' are derivatives along the motion, on the graph of the text, and so as exact as it is: of P they need the
jerk and the snap. Source: spec R-51, R-54; De Luca and Book, Springer Handbook of Robotics, 11.1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.derivatives.derivative import independent, slope_along
from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import symbols
from cayley.compiler.typing import Array
from cayley.dynamics.elastic_joints.elastic_arm import ElasticArm, elastic_arm
from cayley.kinematics.kernel_words import described
from cayley.kinematics.mechanism_kernel import MechanismKernel, of_a_mechanism
from cayley.model.tree import Tree
from cayley.showing import brief

_WHAT = "the motion of motors"
_SENTENCE = ("Inverse dynamics along a motion of the links: configuration, velocity and acceleration of the mechanism "
             "with its motors, and the forces of the drives.")


class MotorMotion(NamedTuple):
    """Configuration (nq), velocity, acceleration and forces (nv) of the whole mechanism, motors behind joints; the
    forces of elastic joints are zero, as it is their motors that drive."""

    q: Array
    qd: Array
    qdd: Array
    tau: Array

    def __repr__(self) -> str:
        return brief(self)


class ForceRates(NamedTuple):
    """What the law of a mixed arm needs besides: the second rates (r) of the forces of rigid joints."""

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
    return _motor_motion_kernel(elastic_arm(tree, _WHAT).tree)


@of_a_mechanism
def _motor_motion_kernel(tree: Tree) -> MechanismKernel[MotorMotion]:
    arm = elastic_arm(tree, _WHAT)
    n, size = arm.n, tree.nv

    def motor_motion(q: Array, qd: Array, qdd: Array, jerk: Array, snap: Array) -> MotorMotion:
        return motor_motion_text(arm, q, qd, qdd, jerk, snap).motion

    described(tree, motor_motion, _SENTENCE)
    return kernel(f"({n}),({n}),({n}),({n}),({n})->({size}),({size}),({size}),({size})", outputs=MotorMotion._fields,
                  kind=MechanismKernel)(motor_motion)
