"""Frames on the robot, with their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cayley.geometry.rotations.quaternion import quaternion_from_matrix
from cayley.model.parts import Frame
from cayley.studio.live.panels.panel import Panel
from cayley.studio.live.robot import node_name

if TYPE_CHECKING:
    from viser import FrameHandle, LabelHandle

_SIZE = 0.09  # of the robot's


class Frames(Panel):
    """The end effector's, or all: x red, y green, z blue."""

    folder = "Show"

    def build(self) -> None:
        self._which = self.gui.add_dropdown("Frames", ("none", "end effector", "all"), initial_value="none",
                                            hint="x is red, y is green, z is blue")
        self._named = self.gui.add_checkbox("Names of frames", True)
        self._nodes: dict[str, tuple[FrameHandle, LabelHandle]] = {}
        self.on(self._which, self.choose)
        self.on(self._named, self.choose)

    def choose(self, which: str | None = None) -> None:
        """Show no frames ("none"), that of the "end effector", or "all"; those that were chosen, if none are named."""
        with self.robot.view.update():
            if which is not None:
                self.put(self._which, which)
            self._show()

    def _show(self) -> None:
        arm = self.robot.arm
        every = [arm.tree.frame(name) for name in arm.frame_names]
        wanted = {"none": [], "end effector": [arm.tree.frame(self.robot.frame)], "all": every}[self._which.value]
        for frame in wanted:
            if frame.name not in self._nodes:
                self._nodes[frame.name] = self._made(frame)
        names = {frame.name for frame in wanted}
        for name, (axes, label) in self._nodes.items():
            axes.visible = name in names
            label.visible = name in names and self._named.value

    def _made(self, frame: Frame) -> tuple[FrameHandle, LabelHandle]:
        number = self.robot.arm.tree.body_number(frame.body)
        size = _SIZE * self.robot.size
        name = f"{self.robot.body_node(number)}/{node_name(len(self._nodes), frame.name)} axes"
        axes = self.scene.add_frame(name, axes_length=size, axes_radius=0.035 * size, origin_radius=0.08 * size,
                                    wxyz=quaternion_from_matrix.unchecked(frame.pose[:3, :3]),
                                    position=frame.pose[:3, 3])
        return axes, self.scene.add_label(f"{name}/name", frame.name, font_size_mode="screen", font_screen_scale=0.8,
                                          depth_test=False, anchor="bottom-left")
