"""Planned motions as targets of laws that ask for the jerk and the snap besides, and what the motors of an arm with
elastic drives do along them.

The snap is the derivative of the jerk by the time, on the graph of the motion's text. Where the jerk itself jumps, at
breaks of a motion of too low an order, there is none, and the motor's force would have to be an impulse: smooth motions
are for elastic drives.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.derivatives.derivative import independent, slope_along
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.tracing.symbols import symbols
from cayley.compiler.typing import Array, Scalar
from cayley.control.arms import HasTree, tree_of
from cayley.dynamics.elastic_joints.motor_motion import MotorMotion, motor_motion_kernel
from cayley.errors import SignatureError, UnsupportedError
from cayley.model.tree import Tree
from cayley.planning.motion import Motion
from cayley.systems.system import System

_RATES = ("", "_qd", "_qdd", "_jerk", "_snap")


def up_to_snap(move: Motion, t: Scalar) -> list[Array]:
    """Position, velocity, acceleration, jerk and snap (nq) at a time, which is a symbol of a traced function."""
    if move.attitudes:
        raise UnsupportedError("the snap is that of coordinates that are vectors; this motion has unit quaternions")
    at = independent(t)
    found = [symbols(x) for x in move.derivatives(at)]
    return [*found, slope_along(found[3], np.array([at], dtype=object), np.ones(1))]


def motion_target(move: Motion, name: str = "target") -> System:
    """A system whose outputs are a motion and its first four derivatives: `target`, `target_qd`, `target_qdd`,
    `target_jerk` and `target_snap`, to be connected with a law. Another name renames them all.

    >>> from cayley.planning import FunctionOfTime
    >>> motion_target(FunctionOfTime(lambda t: np.stack([np.sin(t)])))
    <system target: outputs target, target_qd, target_qdd, target_jerk, target_snap>
    """
    names = [name + rate for rate in _RATES]
    return System(name, outputs=dict.fromkeys(names, move.nq), timed=True,
                  output=lambda t, x, u, p: dict(zip(names, up_to_snap(move, t), strict=True)))


def motor_motion_along(arm: Tree | HasTree, move: Motion) -> Kernel[MotorMotion]:
    """`motor_motion(t)`: configuration, velocity, acceleration and forces of an arm with elastic drives, its motors
    among them, along a motion of its joints."""
    tree = tree_of(arm)
    motors = motor_motion_kernel(tree)
    if move.nq != motors.signature.inputs[0][0]:
        raise SignatureError(f"a motion of {move.nq} coordinates does not fit {tree.name}, which has "
                             f"{motors.signature.inputs[0][0]} joints besides its motors")

    def motor_motion(t: Scalar) -> MotorMotion:
        return motors(*up_to_snap(move, t))

    size = tree.nv
    return kernel(f"()->({size}),({size}),({size}),({size})", outputs=MotorMotion._fields)(motor_motion)
