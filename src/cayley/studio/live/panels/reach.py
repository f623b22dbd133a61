"""The workspace of the end effector as a cloud of points."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from cayley.drawing.workspaces import Workspace
from cayley.studio.live.panels.panel import Panel
from cayley.studio.sliders import keeps_closed

if TYPE_CHECKING:
    from viser import PointCloudHandle


_SAMPLES = 12_000
_SIZE = 0.006  # of a point, beside the robot's


class Reach(Panel):
    """Points that the frame reaches within the limits, by chance configurations; those farther out are darker."""

    folder = "Show"
    without_motion = "No workspace: no joint moves."

    def build(self) -> None:
        self._shown = self.gui.add_checkbox("Workspace", False, hint="Points that the end effector can reach")
        self._words = self.gui.add_text("Workspace of", "", disabled=True, visible=False)
        self._clouds: dict[str, PointCloudHandle] = {}
        self.on(self._shown, self._choose)

    def moved(self) -> None:
        if self._shown.value and self._words.value and not self._words.value.startswith(self.robot.frame):
            self._choose()

    def _choose(self) -> None:
        frame = self.robot.frame
        self._words.visible = self._shown.value
        for name, cloud in self._clouds.items():
            cloud.visible = self._shown.value and name == frame
        if self._shown.value and frame not in self._clouds:
            self.put(self._words, f"{frame}: being sampled")
            self.robot.view.aside(lambda: self._sampled(frame))

    def _sampled(self, frame: str) -> Callable[[], None]:
        tree = self.robot.arm.tree
        found = self.robot.arm.pictures.workspace(frame, samples=None if keeps_closed(tree) else _SAMPLES)
        return lambda: self._add(frame, found)

    def _add(self, frame: str, found: Workspace) -> None:
        far = np.linalg.norm(found.points - found.points.mean(axis=0), axis=1)
        share = (far / (far.max() or 1.0))[:, None]
        colors = ((1 - share) * np.array([190, 219, 240]) + share * np.array([27, 108, 168])).astype(np.uint8)
        self._clouds[frame] = self.scene.add_point_cloud(
            self.robot.node(f"workspace {len(self._clouds)}"), found.points.astype(np.float32), colors,
            point_size=_SIZE * self.robot.size, point_shape="circle", visible=self._shown.value)
        self.put(self._words, f"{frame}: {found.nearest:.3g} to {found.farthest:.3g} m away")
