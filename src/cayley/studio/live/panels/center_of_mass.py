"""The centre of mass, and where it is above the floor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cayley.model.masses import unknown_masses
from cayley.shapes.kinds import CylinderShape
from cayley.studio.live.panels.panel import Panel

if TYPE_CHECKING:
    from cayley.studio.live.robot import Robot

_SIZE = 0.016  # of the robot's
_COLOR = (224, 139, 62)


class CenterOfMass(Panel):
    """A ball, and a disc below it on the floor."""

    folder = "Show"

    @classmethod
    def refusal(cls, robot: Robot) -> str:
        unknown = unknown_masses(robot.arm.tree)
        return f"No centre of mass: the mass of {robot.arm.bodies[unknown[0]].name} is unknown." if unknown else ""

    def build(self) -> None:
        size = _SIZE * self.robot.size
        disc = CylinderShape(1.4 * size, 0.12 * size).surface()
        self._shown = self.gui.add_checkbox("Centre of mass", False, hint="Of all moving bodies, and its projection")
        self._ball = self.scene.add_icosphere(self.robot.node("centre of mass"), radius=size, color=_COLOR,
                                              visible=False)
        self._foot = self.scene.add_mesh_simple(self.robot.node("foot of the centre of mass"), disc.points,
                                                disc.triangles, color=_COLOR, visible=False)
        self._place = self.gui.add_text("at [m]", "", disabled=True, visible=False)
        self.on(self._shown, self._choose)

    def moved(self) -> None:
        if not self._shown.value:
            return
        center = self.robot.arm.center_of_mass(self.robot.q)
        placement = self.robot.placement
        on_floor = placement[:3, :3] @ center + placement[:3, 3]
        on_floor[2] = self.robot.view.floor
        self._ball.position = center
        self._foot.position = placement[:3, :3].T @ (on_floor - placement[:3, 3])
        self.put(self._place, ", ".join(f"{x:.3f}" for x in np.asarray(center) + 0.0))

    def _choose(self) -> None:
        self._ball.visible = self._shown.value
        self._foot.visible = self._shown.value
        self._place.visible = self._shown.value
        self.moved()
