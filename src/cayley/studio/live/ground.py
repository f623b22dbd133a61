"""The floor under all robots, and from where they are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array
from cayley.drawing.canvas import round_number
from cayley.drawing.skeleton import stands_on_legs
from cayley.drawing.views import view_of

if TYPE_CHECKING:
    from cayley.studio.live.robot import Robot
    from cayley.studio.live.server import StudioServer

_FOV = 0.7  # [rad]
_CELLS = 4  # of the floor, in the size of the robots
_SLANT = np.array([0.8, -1.0, 0.55])  # towards the eye
_FARTHER = 0.92


class Ground:
    """A grid, and the camera that a page begins with."""

    def __init__(self, server: StudioServer) -> None:
        self._server = server
        self.height = 0.0

    def fit(self, robots: Sequence[Robot]) -> None:
        """Make room for robots, and for where they get to."""
        lowest = float(np.concatenate([robot.outline() for robot in robots])[:, 2].min())
        points = np.concatenate([robot.room() for robot in robots])
        low = points.min(axis=0)
        high = points.max(axis=0)
        size = float((high - low).max()) or 1.0
        rests = [robot.placement[2, 3] for robot in robots if not stands_on_legs(robot.arm.tree)]
        self.height = min([lowest, *rests])
        cell = round_number(size / _CELLS)
        middle = cell * np.round(0.5 * (low + high)[:2] / cell)
        extent = 2 * _CELLS * cell + 2 * cell * round(float((high - low)[:2].max()) / cell / 2)
        self._server.scene.add_grid(
            "/floor", width=extent, height=extent, plane="xy", cell_size=cell, section_size=4 * cell,
            cell_color=(225, 229, 234), section_color=(200, 207, 215), position=(*middle, self.height),
            infinite_grid=False)
        self._look(robots, 0.5 * (low + high), max(float(np.linalg.norm(high - low)), 1e-3))

    def _look(self, robots: Sequence[Robot], center: Array, size: float) -> None:
        towards = _SLANT / np.linalg.norm(_SLANT)
        seen = view_of(robots[0].arm.tree)
        if len(robots) == 1 and seen.flat:  # along the normal of its plane, from a little aside
            normal = robots[0].placement[:3, :3] @ seen.normal
            aside = np.array([0.0, -0.35, 0.0]) if abs(normal[2]) > 0.9 else np.array([0.0, 0.0, 0.2])
            towards = (normal + aside) / np.linalg.norm(normal + aside)
        camera = self._server.initial_camera
        camera.fov = _FOV
        camera.look_at = center
        camera.position = center + towards * (_FARTHER * size / (2 * np.tan(_FOV / 2)) + 0.15 * size)
        camera.near = 0.002 * size
        camera.far = 200.0 * size
