"""Ellipsoids of velocities and of forces at the end effector, and its manipulability."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import Array
from cayley.drawing.canvas import round_number
from cayley.drawing.views import view_of
from cayley.errors import ConventionError
from cayley.geometry.rotations.quaternion import quaternion_from_matrix
from cayley.kinematics.singular.indices import force_ellipsoid, velocity_ellipsoid
from cayley.shapes.kinds import SphereShape
from cayley.studio.live.panels.panel import Panel

if TYPE_CHECKING:
    from viser import GuiCheckboxHandle, MeshHandle

    from cayley.studio.live.robot import Robot

_LONGEST = 0.2  # semi-axis at rest, as a part of the robot's size
_ENDLESS = 0.6  # where what has no end is cut off
_THINNEST = 0.004


class _Kind(NamedTuple):
    word: str
    hint: str
    color: tuple[int, int, int]


_ELLIPSOIDS = {"velocity": velocity_ellipsoid, "force": force_ellipsoid}
_KINDS = {
    "velocity": _Kind("Velocity ellipsoid", "Velocities of the end effector for joint velocities of length one: the "
                                            "manipulability ellipsoid", (27, 108, 168)),
    "force": _Kind("Force ellipsoid", "Forces that joint torques of length one exert; without end where the robot is "
                                      "singular", (209, 73, 91))}


class Ellipsoids(Panel):
    """Ellipsoids of position at the end effector, each on a fixed scale."""

    folder = "Show"
    without_motion = "No ellipsoids: no joint moves."

    def build(self) -> None:
        self._controls: dict[str, tuple[GuiCheckboxHandle, MeshHandle]] = {}
        ball = SphereShape(1.0).surface()
        for kind, (word, hint, color) in _KINDS.items():
            control = self.gui.add_checkbox(word, False, hint=hint)
            node = self.scene.add_mesh_simple(
                self.robot.node(f"{kind} ellipsoid"), ball.points, ball.triangles, color=color, opacity=0.35,
                visible=False, side="double")
            self._controls[kind] = control, node
            self.on(control, self._choose)
        self._words = self.gui.add_text("Manipulability", "", disabled=True, visible=False)
        self._frame = ""
        self._rows = view_of(self.robot.arm.tree).rows  # of a planar robot in its plane

    def moved(self) -> None:
        if not any(control.value for control, _ in self._controls.values()):
            return
        if self._frame != self.robot.frame:
            self._jacobian, self._note = _jacobian(self.robot)
            self._frame = self.robot.frame
            self._scales = {kind: self._scale(kind) for kind in _KINDS}
        J = self._rows @ self._jacobian(self.robot.q)
        for kind, (control, node) in self._controls.items():
            if control.value:
                self._show(node, J, kind)
        value = float(np.sqrt(max(np.linalg.det(J @ J.T), 0.0)))
        self.put(self._words, f"{value:.4g}{self._note}")

    def _choose(self) -> None:
        for control, node in self._controls.values():
            node.visible = control.value
        self._words.visible = any(control.value for control, _ in self._controls.values())
        self.moved()

    def _show(self, node: MeshHandle, J: Array, kind: str) -> None:
        found = _ELLIPSOIDS[kind](J)
        size = self.robot.size
        count = len(found.lengths)
        lengths = np.zeros(3)
        lengths[:count] = self._scales[kind] * found.lengths
        node.wxyz = quaternion_from_matrix.unchecked(_completed(self._rows.T @ found.axes))
        node.position = self.robot.pose()[:3, 3]
        x, y, z = (float(x) for x in np.clip(lengths, _THINNEST * size, _ENDLESS * size))
        node.scale = (x, y, z)

    def _scale(self, kind: str) -> float:
        """Metres of the scene for a unit."""
        found = _ELLIPSOIDS[kind](self._rows @ self._jacobian(self.robot.q))
        finite = found.lengths[np.isfinite(found.lengths)]
        longest = float(finite.max()) if len(finite) and finite.max() > 0 else 1.0
        return round_number(_LONGEST * self.robot.size / longest, (1, 1.5, 2, 3, 4, 5, 6, 8))


def _jacobian(robot: Robot) -> tuple[Kernel, str]:
    """Jacobian of the end effector's position in one unit, with a note on the length of a radian if units mix."""
    family = robot.arm.dexterity.task_jacobian
    try:
        made = family.of(robot.frame, task="position", axes="world")
        note = ""
    except ConventionError:
        length = round_number(robot.size)
        made = family.of(robot.frame, task="position", axes="world", characteristic_length=length)
        note = f" (1 rad counts as {length:.3g} m)"
    return made, note


def _completed(axes: Array) -> Array:
    """Unit axes as columns (3, k), made into a rotation."""
    count = axes.shape[1]
    if count == 2:
        return np.concatenate([axes, np.cross(axes[:, 0], axes[:, 1])[:, None]], axis=1)
    return axes * np.array([1.0, 1.0, np.sign(np.linalg.det(axes))])
