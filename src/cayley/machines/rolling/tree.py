"""The rolling robot as a tree whose wheels roll on the floor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array
from cayley.model.constraint_kinds import Wheel
from cayley.model.joint_kinds import Planar, Revolute
from cayley.model.parts import Body, Joint
from cayley.model.tree import Tree

if TYPE_CHECKING:
    from cayley.machines.rolling.rolling_robot import RollingRobot

_BACK = (-1.0, 0.0, 0.0)  # about which the driven wheels turn where they roll ahead
_AXLE = (0.0, 1.0, 0.0)


def rolling_robot_tree(robot: RollingRobot) -> Tree:
    """Its planar base is at C, with x to the right and y ahead."""
    r = robot.radius
    m = robot.masses

    def disc(name: str, mass: float, axis: tuple[float, float, float]) -> Body:
        return Body(name, mass, inertia=mass * r * r / 4 * (np.eye(3) + np.diag(np.abs(axis))))

    bodies = [Body("floor"), Body("chassis", m.chassis, inertia=np.diag([0.0, 0.0, m.chassis_inertia])),
              disc("right wheel", m.wheel, _BACK), disc("left wheel", m.wheel, _BACK),
              Body("bracket", m.bracket, [-robot.trail / 2, 0.0, 0.0], np.diag([0.0, 0.0, m.bracket_inertia])),
              disc("castor wheel", m.castor, _AXLE)]
    joints = [Joint("base", "floor", "chassis", Planar(), _at(0.0, 0.0, r)),
              Joint("right", "chassis", "right wheel", Revolute(_BACK), _at(robot.track / 2, robot.axle)),
              Joint("left", "chassis", "left wheel", Revolute(_BACK), _at(-robot.track / 2, robot.axle)),
              Joint("pivot", "chassis", "bracket", Revolute(), _at(0.0, -robot.pivot)),
              Joint("castor", "bracket", "castor wheel", Revolute(_AXLE), _at(-robot.trail, 0.0))]
    rolls = [Wheel("right tyre", "floor", "right wheel", r, _BACK), Wheel("left tyre", "floor", "left wheel", r, _BACK),
             Wheel("castor tyre", "floor", "castor wheel", r, _AXLE)]
    return Tree.of("rolling_robot", bodies, joints, constraints=rolls, actuated=["right", "left"])


def _at(x: float, y: float, z: float = 0.0) -> Array:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose
